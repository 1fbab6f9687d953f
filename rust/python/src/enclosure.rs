//! The class `statpriv.Enclosure`.

use crate::convert;
use crate::errors;
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyArithmeticError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyNotImplemented, PyTuple, PyType};
use statpriv_core::numbers::enclosure::Enclosure as Kernel;
use statpriv_core::numbers::rational::Rational;
use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A closed interval of doubles that contains the true value.
///
/// Parameters
/// ----------
/// lower : float, int, Fraction, Decimal or str
///     Lower end, rounded down to a double. Infinity is allowed.
/// upper : float, int, Fraction, Decimal or str, optional
///     Upper end, rounded up to a double. Without it, `lower` is enclosed as narrowly as doubles allow.
///
/// Notes
/// -----
/// Arithmetic is rounded outwards. `<`, `<=`, `>`, `>=` are True or False only when that is certain.
/// Otherwise they raise `UndecidedError`. `==` compares the ends. There is no `float(e)`: which end is safe
/// depends on the question (δ: upper; rows left: lower).
///
/// Examples
/// --------
/// >>> from fractions import Fraction
/// >>> import statpriv as sp
/// >>> tenth = sp.Enclosure("0.1")
/// >>> Fraction(1, 10) in tenth, 0.1 in tenth, tenth < 0.2
/// (True, True, True)
/// >>> tenth.width > 0
/// True
#[pyclass(frozen, subclass, module = "statpriv", name = "Enclosure")]
#[derive(Clone, Copy)]
pub struct Enclosure(pub Kernel);

/// An operand of a comparison or of arithmetic with an enclosure.
pub enum Operand {
    Interval(Kernel),
    Exact(Rational),
}

impl Operand {
    /// None if the value is neither an enclosure nor a number.
    pub fn read(value: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        if let Ok(enclosure) = value.cast::<Enclosure>() {
            return Ok(Some(Self::Interval(enclosure.get().0)));
        }
        if let Ok(float) = value.cast::<PyFloat>()
            && float.value().is_infinite()
        {
            return Ok(Some(Self::Interval(Kernel::point(float.value()))));
        }
        if !(value.hasattr("as_integer_ratio")? || value.hasattr("_mpf_")? || convert::is_integer(value)?) {
            return Ok(None);
        }
        for infinite in [f64::INFINITY, f64::NEG_INFINITY] {
            // A signalling NaN raises an error even on `==`. The conversion below refuses it with a proper
            // message.
            let is_infinite = value.eq(infinite).or_else(|error| {
                if error.is_instance_of::<PyArithmeticError>(value.py()) { Ok(false) } else { Err(error) }
            });
            if is_infinite? {
                return Ok(Some(Self::Interval(Kernel::point(infinite))));
            }
        }
        Ok(Some(Self::Exact(convert::rational(value, "operand")?)))
    }

    fn interval(self) -> Kernel {
        match self {
            Self::Interval(interval) => interval,
            Self::Exact(x) => Kernel::from(&x),
        }
    }
}

/// Exact order of a double (infinities included) and a rational.
fn order(end: f64, x: &Rational) -> Ordering {
    Rational::from_f64(end)
        .map_or(if end > 0.0 { Ordering::Greater } else { Ordering::Less }, |end| end.cmp(x))
}

/// The error for using an enclosure as a single number.
pub fn single_number(py: Python<'_>, wanted: &str) -> PyErr {
    errors::raise(
        py,
        "NotASingleNumberError",
        format!(
            "an Enclosure has no {wanted}: use .upper where too small would be unsafe (delta, epsilon), .lower where \
             too large would be (rows left, type II error), .midpoint for plots"
        ),
    )
}

/// The error for a comparison that the ends do not decide.
pub fn undecided(own: &str, other: &Bound<'_, PyAny>) -> PyResult<PyErr> {
    let shown = other.repr()?;
    let message = format!(
        "{own} cannot be told from {shown}: more digits are needed to decide (digits= where it is offered)"
    );
    Ok(errors::raise(other.py(), "UndecidedError", message))
}

#[pymethods]
impl Enclosure {
    #[new]
    #[pyo3(signature = (lower, upper=None))]
    pub fn new(lower: &Bound<'_, PyAny>, upper: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let end = |value: &Bound<'_, PyAny>, name: &str| match value.cast::<PyFloat>() {
            Ok(float) if float.value().is_infinite() => Ok(Kernel::point(float.value())),
            _ => Ok::<_, PyErr>(Kernel::from(&convert::rational(value, name)?)),
        };
        let low = end(lower, "lower")?;
        let high = upper.map_or(Ok(low), |value| end(value, "upper"))?;
        Kernel::new(low.lower(), high.upper())
            .map(Self)
            .map_err(|error| errors::from_kernel(lower.py(), &error))
    }

    /// Refuses subclasses. Only the kernel defines kinds of enclosures.
    #[classmethod]
    #[pyo3(signature = (**_keywords))]
    fn __init_subclass__(_class: &Bound<'_, PyType>, _keywords: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        Err(PyTypeError::new_err("type 'statpriv.Enclosure' is not an acceptable base type"))
    }

    /// Lower end.
    #[getter]
    fn lower(&self) -> f64 {
        self.0.lower()
    }

    /// Upper end.
    #[getter]
    fn upper(&self) -> f64 {
        self.0.upper()
    }

    /// `upper - lower`, rounded up; 0 for `[inf, inf]`.
    #[getter]
    fn width(&self) -> f64 {
        self.0.width()
    }

    /// A double in the interval, close to its centre. An error if an end is infinite.
    #[getter]
    fn midpoint(&self, py: Python<'_>) -> PyResult<f64> {
        self.0.midpoint().ok_or_else(|| {
            errors::argument(py, format!("{} has no midpoint: an end is infinite", self.__str__()))
        })
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
            let wanted = matches!(op, CompareOp::Eq);
            return other
                .cast::<Self>()
                .map_or_else(|_| unknown(), |x| answer((self.0 == x.get().0) == wanted));
        }
        let Some(operand) = Operand::read(other)? else { return unknown() };
        // Order of the own lower end and the other's upper end; order of the own upper end and the other's
        // lower end.
        let (low, high) = match &operand {
            Operand::Interval(x) => {
                (self.0.lower().total_cmp(&x.upper()), self.0.upper().total_cmp(&x.lower()))
            }
            Operand::Exact(x) => (order(self.0.lower(), x), order(self.0.upper(), x)),
        };
        let (always, never) = match op {
            CompareOp::Lt => (high.is_lt(), low.is_ge()),
            CompareOp::Le => (high.is_le(), low.is_gt()),
            CompareOp::Gt => (low.is_gt(), high.is_le()),
            _ => (low.is_ge(), high.is_lt()),
        };
        if always || never {
            return answer(always);
        }
        Err(undecided(&self.__str__(), other)?)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.0.lower().to_bits(), self.0.upper().to_bits()).hash(&mut hasher);
        hasher.finish()
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        Err(single_number(py, "truth value"))
    }

    fn __float__(&self, py: Python<'_>) -> PyResult<f64> {
        Err(single_number(py, "float value"))
    }

    fn __neg__(&self) -> Self {
        Self(-self.0)
    }

    fn __pos__(&self) -> Self {
        *self
    }

    fn __add__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        combine(other, |x| self.0 + x)
    }

    fn __radd__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        combine(other, |x| x + self.0)
    }

    fn __sub__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        combine(other, |x| self.0 - x)
    }

    fn __rsub__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        combine(other, |x| x - self.0)
    }

    fn __mul__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        combine(other, |x| self.0 * x)
    }

    fn __rmul__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        combine(other, |x| x * self.0)
    }

    fn __truediv__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        combine(other, |x| self.0 * x.reciprocal())
    }

    fn __rtruediv__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        combine(other, |x| x * self.0.reciprocal())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
        Ok((py.get_type::<Self>(), PyTuple::new(py, [self.0.lower(), self.0.upper()])?))
    }

    pub fn __repr__(&self) -> String {
        format!("Enclosure({}, {})", show(self.0.lower(), true), show(self.0.upper(), true))
    }

    fn __str__(&self) -> String {
        format!("[{}, {}]", show(self.0.lower(), false), show(self.0.upper(), false))
    }

    /// Both ends, each formatted by the specification and rounded outward.
    fn __format__<'py>(slf: &Bound<'py, Self>, specification: &str) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("statpriv.numeric.formatting")?.getattr("formatted")?.call1((slf, specification))
    }

    /// Opts out of numpy's ufuncs, so that numpy does not broadcast an enclosure silently.
    #[classattr]
    #[pyo3(name = "__array_ufunc__")]
    fn array_ufunc() -> Option<()> {
        None
    }
}

/// The shortest decimal that reads back as the same double. With `quoted`, an infinity is written as Python
/// code.
fn show(end: f64, quoted: bool) -> String {
    match (end.is_infinite(), quoted) {
        (true, true) => format!("float('{end}')"),
        (true, false) => format!("{end}"),
        _ => format!("{end:?}"),
    }
}

fn combine<'py>(other: &Bound<'py, PyAny>, result: impl Fn(Kernel) -> Kernel) -> PyResult<Bound<'py, PyAny>> {
    let py = other.py();
    match Operand::read(other)? {
        Some(operand) => Ok(Enclosure(result(operand.interval())).into_pyobject(py)?.into_any()),
        None => Ok(PyNotImplemented::get(py).to_owned().into_any()),
    }
}
