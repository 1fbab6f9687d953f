//! The hockey-stick divergence of two laws given by their probabilities.

use crate::convert;
use crate::digits;
use crate::digits_enclosure::wrapped;
use crate::door;
use crate::enclosure::Enclosure;
use crate::errors;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};
use statpriv_core::error::Error;
use statpriv_core::forms::enclosed::Enclosed;
use statpriv_core::forms::finite::{ExpEpsilon, Finite, FiniteInDoubles, Probabilities};
use statpriv_core::numbers::ball::Ball;
use statpriv_core::numbers::enclosure::Enclosure as Kernel;
use statpriv_core::numbers::rational::Rational;
use std::borrow::Cow;

/// The result of `hockey_stick` for float probabilities that do not sum to exactly one. The probabilities
/// were divided by their sums.
///
/// In every other respect it is an `Enclosure`. Arithmetic on it gives a plain `Enclosure`.
///
/// Parameters
/// ----------
/// lower, upper : float
///     The ends of the enclosure.
/// sums : (Fraction, Fraction)
///     The exact sums of `P` and of `Q` before the division.
#[pyclass(frozen, extends = Enclosure, module = "statpriv", name = "NormalisedEnclosure")]
pub struct NormalisedEnclosure {
    sums: (Rational, Rational),
}

#[pymethods]
impl NormalisedEnclosure {
    #[new]
    fn new(
        lower: &Bound<'_, PyAny>,
        upper: &Bound<'_, PyAny>,
        sums: (Bound<'_, PyAny>, Bound<'_, PyAny>),
    ) -> PyResult<PyClassInitializer<Self>> {
        let sums = (convert::rational(&sums.0, "sums[0]")?, convert::rational(&sums.1, "sums[1]")?);
        Ok(PyClassInitializer::from(Enclosure::new(lower, Some(upper))?).add_subclass(Self { sums }))
    }

    /// The exact sums of `P` and of `Q` before the division.
    #[getter]
    fn sums<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        Ok((convert::to_fraction(py, &self.sums.0)?, convert::to_fraction(py, &self.sums.1)?))
    }

    fn __reduce__(this: PyRef<'_, Self>) -> PyResult<(Bound<'_, PyType>, Bound<'_, PyTuple>)> {
        let (py, ends) = (this.py(), this.as_super().0);
        let arguments = (ends.lower(), ends.upper(), this.sums(py)?);
        Ok((py.get_type::<Self>(), arguments.into_pyobject(py)?))
    }

    fn __repr__(this: PyRef<'_, Self>) -> PyResult<String> {
        let ends = this.as_super().__repr__();
        let sums = this.sums(this.py())?;
        Ok(format!(
            "Normalised{}, sums=({}, {}))",
            ends.trim_end_matches(')'),
            sums.0.repr()?,
            sums.1.repr()?
        ))
    }
}

/// The result for Python: a plain enclosure if both sums are one, otherwise a normalised one.
fn enclose(py: Python<'_>, value: Ball, sums: (Rational, Rational)) -> PyResult<Bound<'_, PyAny>> {
    let enclosure = Enclosure(value.to_enclosure().clamp(0.0, 1.0));
    let one = Rational::from(1i64);
    if sums.0 == one && sums.1 == one {
        return Ok(enclosure.into_pyobject(py)?.into_any());
    }
    let labelled = PyClassInitializer::from(enclosure).add_subclass(NormalisedEnclosure { sums });
    Ok(Bound::new(py, labelled)?.into_any())
}

fn exp_epsilon(value: &Bound<'_, PyAny>) -> PyResult<Rational> {
    let x = convert::rational(value, "exp_epsilon")?;
    if x.is_negative() || x.is_zero() {
        return Err(errors::argument(
            value.py(),
            format!("exp_epsilon = {}; a number above 0 is required", convert::shown(value)),
        ));
    }
    Ok(x)
}

/// The factor `e^ε`, from `exp_epsilon` if it is given and from `epsilon` otherwise.
fn factor(epsilon: &Bound<'_, PyAny>, exponential: &Bound<'_, PyAny>) -> PyResult<ExpEpsilon> {
    if exponential.is_none() {
        return Ok(ExpEpsilon::of(convert::rational(epsilon, "epsilon")?));
    }
    ExpEpsilon::exactly(exp_epsilon(exponential)?).map_err(|error| errors::from_kernel(epsilon.py(), &error))
}

/// The law with these probabilities. `rounded` says that some are floats, so their sum need not be exactly
/// one.
fn pmf(py: Python<'_>, name: &str, masses: &[Bound<'_, PyAny>], rounded: bool) -> PyResult<Probabilities> {
    let exact = |(answer, mass)| convert::rational(mass, &format!("{name}[{answer}]"));
    let exact: Vec<Rational> = masses.iter().enumerate().map(exact).collect::<PyResult<_>>()?;
    let pmf = if rounded { Probabilities::rounded(name, exact) } else { Probabilities::exact(name, exact) };
    pmf.map_err(|error| errors::from_kernel(py, &error))
}

/// Two laws on the same finite set of answers. They are read once and can be compared at many ε.
#[pyclass(frozen, module = "statpriv._native")]
pub struct FinitePair(Laws);

enum Laws {
    Numbers(Finite),
    Doubles(FiniteInDoubles),
}

impl Laws {
    fn totals(&self) -> (Rational, Rational) {
        let (p, q) = match self {
            Self::Numbers(laws) => laws.totals(),
            Self::Doubles(laws) => laws.totals(),
        };
        (p.clone(), q.clone())
    }

    fn in_numbers(&self) -> Result<Cow<'_, Finite>, Error> {
        match self {
            Self::Numbers(laws) => Ok(Cow::Borrowed(laws)),
            Self::Doubles(laws) => laws.exact().map(Cow::Owned),
        }
    }
}

#[pymethods]
impl FinitePair {
    /// Two laws of doubles, given as bytes.
    #[staticmethod]
    fn of_doubles(py: Python<'_>, p: &[u8], q: &[u8]) -> PyResult<Self> {
        let (p, q) = (convert::doubles(p), convert::doubles(q));
        let laws = door::run(py, f64::INFINITY, |_| FiniteInDoubles::new(p, q))?;
        Ok(Self(Laws::Doubles(laws)))
    }

    /// Two laws of numbers of any kind. `rounded` says for each law that it has floats, so its sum need not
    /// be exactly one.
    #[staticmethod]
    #[pyo3(signature = (p, q, *, rounded))]
    fn of_numbers(
        py: Python<'_>,
        p: Vec<Bound<'_, PyAny>>,
        q: Vec<Bound<'_, PyAny>>,
        rounded: (bool, bool),
    ) -> PyResult<Self> {
        let (p, q) = (pmf(py, "P", &p, rounded.0)?, pmf(py, "Q", &q, rounded.1)?);
        let laws = Finite::new(p, q).map_err(|error| errors::from_kernel(py, &error))?;
        Ok(Self(Laws::Numbers(laws)))
    }

    /// The exact sums of `P` and of `Q`, by which the probabilities are divided.
    #[getter]
    fn sums<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let (p, q) = self.0.totals();
        Ok((convert::to_fraction(py, &p)?, convert::to_fraction(py, &q)?))
    }

    /// The hockey stick in doubles.
    #[pyo3(signature = (*, epsilon, exp_epsilon))]
    fn hockey_stick<'py>(
        &self,
        py: Python<'py>,
        epsilon: &Bound<'py, PyAny>,
        exp_epsilon: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let at = factor(epsilon, exp_epsilon)?;
        let value = door::run(py, f64::INFINITY, |interrupt| match &self.0 {
            Laws::Numbers(laws) => laws.hockey_stick(&at, interrupt),
            Laws::Doubles(laws) => laws.hockey_stick(&at, interrupt),
        })?;
        enclose(py, value, self.0.totals())
    }

    /// The hockey stick at a rational `e^ε`, as a Fraction.
    fn exact<'py>(&self, py: Python<'py>, exp_epsilon: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let x = self::exp_epsilon(exp_epsilon)?;
        let value = door::run(py, f64::INFINITY, |interrupt| self.0.in_numbers()?.exact(&x, interrupt))?;
        convert::to_fraction(py, &value)
    }

    /// The hockey stick to `digits` digits.
    #[pyo3(signature = (digits, *, epsilon, exp_epsilon))]
    fn digits<'py>(
        &self,
        py: Python<'py>,
        digits: &Bound<'py, PyAny>,
        epsilon: &Bound<'py, PyAny>,
        exp_epsilon: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (at, wanted) = (factor(epsilon, exp_epsilon)?, digits::count(digits)?);
        let value = door::run(py, f64::INFINITY, |interrupt| {
            statpriv_core::curve::digits::hockey_stick(&*self.0.in_numbers()?, &at, wanted, interrupt)
        })?;
        wrapped(py, value)
    }
}

/// Two laws given by enclosures of their probabilities. They are read once and can be compared at many ε.
#[pyclass(frozen, module = "statpriv._native")]
pub struct EnclosedPair(Enclosed);

#[pymethods]
impl EnclosedPair {
    /// `p` and `q` are the lower and the upper ends, as bytes of doubles. `missing` is an upper bound on the
    /// probability that `P` gives to answers that are not listed. With None, it is bounded by what the listed
    /// answers leave to one.
    #[new]
    #[pyo3(signature = (p, q, *, missing))]
    fn new(py: Python<'_>, p: (&[u8], &[u8]), q: (&[u8], &[u8]), missing: Option<f64>) -> PyResult<Self> {
        let ends = |(lower, upper): (&[u8], &[u8])| {
            let pairs = convert::doubles(lower).into_iter().zip(convert::doubles(upper));
            pairs.map(|(lower, upper)| Kernel::new(lower, upper)).collect::<Result<Vec<_>, Error>>()
        };
        let laws = ends(p).and_then(|p| Enclosed::new(p, ends(q)?, missing));
        laws.map(Self).map_err(|error| errors::from_kernel(py, &error))
    }

    /// The hockey stick in doubles.
    #[pyo3(signature = (*, epsilon, exp_epsilon))]
    fn hockey_stick(
        &self,
        py: Python<'_>,
        epsilon: &Bound<'_, PyAny>,
        exp_epsilon: &Bound<'_, PyAny>,
    ) -> PyResult<Enclosure> {
        let at = factor(epsilon, exp_epsilon)?;
        door::run(py, f64::INFINITY, |interrupt| self.0.hockey_stick(&at, interrupt)).map(Enclosure)
    }
}
