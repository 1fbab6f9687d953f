//! The hockey stick of two laws given by their probabilities.

use crate::convert;
use crate::door;
use crate::enclosure::Enclosure;
use crate::errors;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};
use statpriv_core::ball::Ball;
use statpriv_core::pair::finite::{ExpEpsilon, Finite, FiniteInDoubles, Pmf};
use statpriv_core::rational::Rational;

/// What `hockey_stick` returns for probabilities in floats that do not add up to exactly one: they were divided by
/// their sums.
///
/// An `Enclosure` in every other respect; what is computed from it is a plain one.
///
/// Parameters
/// ----------
/// lower, upper : float
///     The ends.
/// sums : (Fraction, Fraction)
///     The exact sums of `P` and of `Q` before the division.
#[pyclass(frozen, extends = Enclosure, module = "statpriv.divergence", name = "NormalisedEnclosure")]
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

    /// The exact sums of `P` and of `Q`, by which they were divided.
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

/// A plain enclosure where the probabilities were divided by one.
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

/// From ε, or from `e^ε` where that is given.
fn factor(epsilon: &Bound<'_, PyAny>, exponential: &Bound<'_, PyAny>) -> PyResult<ExpEpsilon> {
    if exponential.is_none() {
        return Ok(ExpEpsilon::of(convert::rational(epsilon, "epsilon")?));
    }
    ExpEpsilon::exactly(exp_epsilon(exponential)?).map_err(|error| errors::from_kernel(epsilon.py(), &error))
}

/// `rounded`: whether floats are among the probabilities, so that their sum need not be exactly one.
fn pmf(py: Python<'_>, name: &str, masses: &[Bound<'_, PyAny>], rounded: bool) -> PyResult<Pmf> {
    let exact = |(answer, mass)| convert::rational(mass, &format!("{name}[{answer}]"));
    let exact: Vec<Rational> = masses.iter().enumerate().map(exact).collect::<PyResult<_>>()?;
    let pmf = if rounded { Pmf::rounded(name, exact) } else { Pmf::exact(name, exact) };
    pmf.map_err(|error| errors::from_kernel(py, &error))
}

/// The hockey stick of doubles, given as their bytes.
#[pyfunction]
#[pyo3(signature = (p, q, *, epsilon, exp_epsilon))]
pub fn hockey_stick_in_doubles<'py>(
    py: Python<'py>,
    p: &[u8],
    q: &[u8],
    epsilon: &Bound<'py, PyAny>,
    exp_epsilon: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let at = factor(epsilon, exp_epsilon)?;
    let (p, q) = (convert::doubles(p), convert::doubles(q));
    let (value, sums) = door::run(py, f64::INFINITY, |interrupt| {
        let laws = FiniteInDoubles::new(&p, &q)?;
        let sums = (laws.totals().0.clone(), laws.totals().1.clone());
        Ok((laws.hockey_stick(&at, interrupt)?, sums))
    })?;
    enclose(py, value, sums)
}

/// The hockey stick of numbers of any kind.
#[pyfunction]
#[pyo3(signature = (p, q, *, rounded, epsilon, exp_epsilon))]
pub fn hockey_stick<'py>(
    py: Python<'py>,
    p: Vec<Bound<'py, PyAny>>,
    q: Vec<Bound<'py, PyAny>>,
    rounded: (bool, bool),
    epsilon: &Bound<'py, PyAny>,
    exp_epsilon: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let at = factor(epsilon, exp_epsilon)?;
    let (p, q) = (pmf(py, "P", &p, rounded.0)?, pmf(py, "Q", &q, rounded.1)?);
    let sums = (p.total().clone(), q.total().clone());
    let value = door::run(py, f64::INFINITY, |interrupt| Finite::new(p, q)?.hockey_stick(&at, interrupt))?;
    enclose(py, value, sums)
}

/// The hockey stick of exact numbers at a rational `e^ε`, as a Fraction.
#[pyfunction]
#[pyo3(name = "exact_hockey_stick", signature = (p, q, *, exp_epsilon))]
pub fn exact_hockey_stick<'py>(
    py: Python<'py>,
    p: Vec<Bound<'py, PyAny>>,
    q: Vec<Bound<'py, PyAny>>,
    exp_epsilon: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let x = self::exp_epsilon(exp_epsilon)?;
    let (p, q) = (pmf(py, "P", &p, false)?, pmf(py, "Q", &q, false)?);
    let value = door::run(py, f64::INFINITY, |interrupt| Finite::new(p, q)?.exact(&x, interrupt))?;
    convert::to_fraction(py, &value)
}
