//! The hockey stick of two laws given by their probabilities.

use crate::convert;
use crate::door;
use crate::enclosure::Enclosure;
use crate::errors;
use pyo3::prelude::*;
use statpriv_core::ball::Ball;
use statpriv_core::pair::finite::{ExpEpsilon, Finite, FiniteInDoubles, Pmf};
use statpriv_core::rational::Rational;

/// The result, and the sums by which `P` and `Q` were divided.
type Normalised<'py> = (Enclosure, Bound<'py, PyAny>, Bound<'py, PyAny>);

fn enclose(ball: Ball) -> Enclosure {
    Enclosure(ball.to_enclosure().clamp(0.0, 1.0))
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

/// The hockey stick of doubles, given as their bytes; with the sums by which they were divided.
#[pyfunction]
#[pyo3(signature = (p, q, *, epsilon, exp_epsilon))]
pub fn hockey_stick_in_doubles<'py>(
    py: Python<'py>,
    p: &[u8],
    q: &[u8],
    epsilon: &Bound<'py, PyAny>,
    exp_epsilon: &Bound<'py, PyAny>,
) -> PyResult<Normalised<'py>> {
    let at = factor(epsilon, exp_epsilon)?;
    let (p, q) = (convert::doubles(p), convert::doubles(q));
    let (value, totals) = door::run(py, f64::INFINITY, |interrupt| {
        let laws = FiniteInDoubles::new(&p, &q)?;
        let totals = (laws.totals().0.clone(), laws.totals().1.clone());
        Ok((laws.hockey_stick(&at, interrupt)?, totals))
    })?;
    Ok((enclose(value), convert::to_fraction(py, &totals.0)?, convert::to_fraction(py, &totals.1)?))
}

/// The hockey stick of numbers of any kind, with the sums by which they were divided.
#[pyfunction]
#[pyo3(signature = (p, q, *, rounded, epsilon, exp_epsilon))]
pub fn hockey_stick<'py>(
    py: Python<'py>,
    p: Vec<Bound<'py, PyAny>>,
    q: Vec<Bound<'py, PyAny>>,
    rounded: (bool, bool),
    epsilon: &Bound<'py, PyAny>,
    exp_epsilon: &Bound<'py, PyAny>,
) -> PyResult<Normalised<'py>> {
    let at = factor(epsilon, exp_epsilon)?;
    let (p, q) = (pmf(py, "P", &p, rounded.0)?, pmf(py, "Q", &q, rounded.1)?);
    let totals = (convert::to_fraction(py, p.total())?, convert::to_fraction(py, q.total())?);
    let value = door::run(py, f64::INFINITY, |interrupt| Finite::new(p, q)?.hockey_stick(&at, interrupt))?;
    Ok((enclose(value), totals.0, totals.1))
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
