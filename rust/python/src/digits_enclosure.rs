//! Enclosures with a requested number of digits. In Python, they are `Enclosure` objects whose ends are
//! mpmath numbers.

use crate::convert;
use crate::enclosure::{Enclosure, single_number, undecided};
use crate::errors;
use dashu_int::ops::{BitTest, PowerOfTwo};
use dashu_int::{IBig, UBig};
use pyo3::basic::CompareOp;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyNotImplemented, PyTuple, PyType};
use statpriv_core::digits::{DigitsEnclosure as Kernel, Dyadic};
use statpriv_core::numbers::enclosure::Enclosure as Doubles;
use statpriv_core::numbers::rational::Rational;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Bits of a double: the minimum precision for operands that must be rounded.
const DOUBLE: usize = 53;

/// The result of a function called with `digits=`: an `Enclosure` whose ends are `mpmath.mpf`.
///
/// Sums, differences and products are exact. Quotients, and operands that are not binary fractions, are
/// rounded outwards at the precision of the operands. Nothing depends on mpmath's own precision.
#[pyclass(frozen, extends = Enclosure, module = "statpriv._native", name = "DigitsEnclosure")]
pub struct DigitsEnclosure(Kernel);

/// An operand of a comparison or of arithmetic.
enum Operand {
    Interval(Kernel),
    Exact(Rational),
}

impl Operand {
    /// None if the value is neither an enclosure nor a number.
    fn read(value: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        if let Ok(enclosure) = value.cast::<DigitsEnclosure>() {
            return Ok(Some(Self::Interval(enclosure.get().0.clone())));
        }
        let operand = crate::enclosure::Operand::read(value)?;
        Ok(operand.map(|operand| match operand {
            crate::enclosure::Operand::Interval(doubles) => Self::Interval(of_doubles(doubles)),
            crate::enclosure::Operand::Exact(x) => Self::Exact(x),
        }))
    }

    /// The operand as an interval. A number that is not a binary fraction is rounded outwards to `bits` bits.
    fn interval(self, bits: usize) -> Kernel {
        match self {
            Self::Interval(interval) => interval,
            Self::Exact(x) => {
                let exact = x.denominator().is_power_of_two();
                let bits = if exact { x.numerator().bit_len() } else { bits };
                Kernel::rounded(&x, bits.max(DOUBLE))
            }
        }
    }
}

/// The double as a dyadic number.
fn of_double(x: f64) -> Dyadic {
    Rational::from_f64(x).map_or(if x > 0.0 { Dyadic::Infinity } else { Dyadic::MinusInfinity }, |exact| {
        Dyadic::rounded(&exact, DOUBLE, false)
    })
}

fn of_doubles(interval: Doubles) -> Kernel {
    let (lower, upper) = (of_double(interval.lower()), of_double(interval.upper()));
    // The ends of an enclosure are in order, so the fallback is never used.
    Kernel::new(lower, upper).unwrap_or_else(|_| Kernel::everything())
}

/// The narrowest interval of doubles that contains the interval.
fn to_doubles(interval: &Kernel) -> Doubles {
    let end = |end: &Dyadic| match (end.to_rational(), end) {
        (Some(exact), _) => Doubles::from(&exact),
        (None, Dyadic::Infinity) => Doubles::point(f64::INFINITY),
        (None, Dyadic::MinusInfinity) => Doubles::point(f64::NEG_INFINITY),
        // Too large or too small to be expanded, so outside the range of the doubles. ±2^2000 or ±2^-2000
        // stands for it.
        (None, Dyadic::Finite { mantissa, exponent }) => {
            let sign = IBig::from(if *mantissa < IBig::ZERO { -1 } else { 1 });
            let beyond = if *exponent < 0 {
                Rational::new(sign, UBig::ONE << 2000)
            } else {
                Ok(Rational::from(sign << 2000))
            };
            beyond.map_or(Doubles::point(f64::NAN), |beyond| Doubles::from(&beyond))
        }
    };
    let (lower, upper) = (end(interval.lower()).lower(), end(interval.upper()).upper());
    Doubles::new(lower, upper).unwrap_or_else(|_| Doubles::point(f64::NAN))
}

/// An end as an `mpmath.mpf`, exactly.
fn mpf<'py>(py: Python<'py>, end: &Dyadic) -> PyResult<Bound<'py, PyAny>> {
    let mpmath = py.import("mpmath")?;
    match end {
        Dyadic::Infinity => mpmath.getattr("inf"),
        Dyadic::MinusInfinity => mpmath.getattr("ninf"),
        Dyadic::Finite { mantissa, exponent } => {
            let parts = (convert::integer_to(py, mantissa)?, *exponent);
            let raw = mpmath.getattr("libmp")?.getattr("from_man_exp")?.call1(parts)?;
            mpmath.getattr("mp")?.getattr("make_mpf")?.call1((raw,))
        }
    }
}

/// The pickled form of an end: a pair (mantissa, exponent) of integers, or an infinite float.
fn pickled<'py>(py: Python<'py>, end: &Dyadic) -> PyResult<Bound<'py, PyAny>> {
    match end {
        Dyadic::Infinity => Ok(f64::INFINITY.into_pyobject(py)?.into_any()),
        Dyadic::MinusInfinity => Ok(f64::NEG_INFINITY.into_pyobject(py)?.into_any()),
        Dyadic::Finite { mantissa, exponent } => {
            Ok((convert::integer_to(py, mantissa)?, *exponent).into_pyobject(py)?.into_any())
        }
    }
}

fn unpickled(end: &Bound<'_, PyAny>, name: &str) -> PyResult<Dyadic> {
    if let Ok(float) = end.cast::<PyFloat>()
        && float.value().is_infinite()
    {
        return Ok(of_double(float.value()));
    }
    let parts: (Bound<'_, PyAny>, i128) = end.extract().map_err(|_| {
        errors::argument(
            end.py(),
            format!("{name} = {}; a pair (mantissa, exponent) of integers is required", convert::shown(end)),
        )
    })?;
    Ok(Dyadic::new(convert::integer_from(&parts.0)?, parts.1))
}

/// The Python object for an enclosure.
pub fn wrapped(py: Python<'_>, value: Kernel) -> PyResult<Bound<'_, PyAny>> {
    let doubles = to_doubles(&value);
    let labelled = PyClassInitializer::from(Enclosure(doubles)).add_subclass(DigitsEnclosure(value));
    Ok(Bound::new(py, labelled)?.into_any())
}

impl DigitsEnclosure {
    fn combined<'py>(
        &self,
        other: &Bound<'py, PyAny>,
        result: impl Fn(&Kernel, &Kernel) -> Kernel,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = other.py();
        match Operand::read(other)? {
            Some(operand) => wrapped(py, result(&self.0, &operand.interval(self.0.bits() + 2))),
            None => Ok(PyNotImplemented::get(py).to_owned().into_any()),
        }
    }
}

/// The precision, in bits, to which the quotient of two enclosures is rounded.
fn precision(a: &Kernel, b: &Kernel) -> usize {
    a.bits().max(b.bits()).max(DOUBLE) + 2
}

#[pymethods]
impl DigitsEnclosure {
    #[new]
    fn new(lower: &Bound<'_, PyAny>, upper: &Bound<'_, PyAny>) -> PyResult<PyClassInitializer<Self>> {
        let value = Kernel::new(unpickled(lower, "lower")?, unpickled(upper, "upper")?)
            .map_err(|error| errors::from_kernel(lower.py(), &error))?;
        Ok(PyClassInitializer::from(Enclosure(to_doubles(&value))).add_subclass(Self(value)))
    }

    /// Lower end.
    #[getter]
    fn lower<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        mpf(py, self.0.lower())
    }

    /// Upper end.
    #[getter]
    fn upper<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        mpf(py, self.0.upper())
    }

    /// `upper - lower`, exactly; 0 for `[inf, inf]`.
    #[getter]
    fn width<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        mpf(py, &self.0.width())
    }

    /// The exact midpoint. An error if an end is infinite.
    #[getter]
    fn midpoint<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let Some(centre) = self.0.midpoint() else {
            return Err(errors::argument(
                py,
                format!("{} has no midpoint: an end is infinite", self.__str__()),
            ));
        };
        mpf(py, &centre)
    }

    fn __contains__(&self, x: &Bound<'_, PyAny>) -> PyResult<bool> {
        match Operand::read(x)? {
            Some(Operand::Interval(other)) => {
                Ok(self.0.lower() <= other.lower() && other.upper() <= self.0.upper())
            }
            Some(Operand::Exact(x)) => Ok(self.0.contains(&x)),
            None => Ok(self.0.contains(&convert::rational(x, "x")?)),
        }
    }

    fn __richcmp__<'py>(&self, other: &Bound<'py, PyAny>, op: CompareOp) -> PyResult<Bound<'py, PyAny>> {
        let py = other.py();
        let answer = |truth: bool| Ok(truth.into_pyobject(py)?.to_owned().into_any());
        let unknown = || Ok(PyNotImplemented::get(py).to_owned().into_any());
        if let CompareOp::Eq | CompareOp::Ne = op {
            if other.cast::<Enclosure>().is_err() {
                return unknown();
            }
            let same = other.cast::<Self>().is_ok_and(|other| other.get().0 == self.0);
            return answer(same == matches!(op, CompareOp::Eq));
        }
        let Some(operand) = Operand::read(other)? else { return unknown() };
        // Order of the own lower end and the other's upper end; order of the own upper end and the other's
        // lower end.
        let (low, high) = match &operand {
            Operand::Interval(x) => (self.0.lower().cmp(x.upper()), self.0.upper().cmp(x.lower())),
            Operand::Exact(x) => (self.0.lower().order(x), self.0.upper().order(x)),
        };
        let (always, never) = match op {
            CompareOp::Lt => (high.is_lt(), low.is_ge()),
            CompareOp::Le => (high.is_le(), low.is_gt()),
            CompareOp::Gt => (low.is_gt(), high.is_le()),
            _ => (low.is_ge(), high.is_lt()),
        };
        if always || never { answer(always) } else { Err(undecided(&self.__str__(), other)?) }
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.0.hash(&mut hasher);
        hasher.finish()
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        Err(single_number(py, "truth value"))
    }

    fn __float__(&self, py: Python<'_>) -> PyResult<f64> {
        Err(single_number(py, "float value"))
    }

    fn __neg__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        wrapped(py, -&self.0)
    }

    fn __pos__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        wrapped(py, self.0.clone())
    }

    fn __add__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.combined(other, |own, x| own + x)
    }

    fn __radd__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.combined(other, |own, x| x + own)
    }

    fn __sub__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.combined(other, |own, x| own + &-x)
    }

    fn __rsub__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.combined(other, |own, x| x + &-own)
    }

    fn __mul__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.combined(other, |own, x| own * x)
    }

    fn __rmul__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.combined(other, |own, x| x * own)
    }

    fn __truediv__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.combined(other, |own, x| (own * &x.reciprocal(precision(own, x))).outward(precision(own, x)))
    }

    fn __rtruediv__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.combined(other, |own, x| (x * &own.reciprocal(precision(own, x))).outward(precision(own, x)))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
        let ends = [pickled(py, self.0.lower())?, pickled(py, self.0.upper())?];
        Ok((py.get_type::<Self>(), PyTuple::new(py, ends)?))
    }

    /// The ends in decimal, rounded outwards. Evaluating the text gives an enclosure that contains this one.
    fn __repr__(&self) -> String {
        let [lower, upper] = self.decimals();
        let quoted =
            |end: String| if end.ends_with("inf") { format!("float('{end}')") } else { format!("'{end}'") };
        format!("Enclosure({}, {})", quoted(lower), quoted(upper))
    }

    fn __str__(&self) -> String {
        let [lower, upper] = self.decimals();
        format!("[{lower}, {upper}]")
    }

    /// The two ends as decimal strings, rounded outwards. They show a few digits more than the ends have in
    /// common.
    fn decimals(&self) -> [String; 2] {
        let digits = self.0.digits();
        [self.0.lower().decimal(digits, false), self.0.upper().decimal(digits, true)]
    }
}
