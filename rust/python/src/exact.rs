//! Further values of a curve besides δ(ε) in doubles: exact rationals, logarithms, and the trade-off function
//! between the type I and type II errors of a test.

use crate::convert;
use crate::curve::Curve;
use crate::door;
use crate::enclosure::Enclosure;
use crate::errors;
use pyo3::prelude::*;
use statpriv_core::curve::Curve as Kernel;
use statpriv_core::curve::exact;
use statpriv_core::error::Error;
use statpriv_core::interrupt::Interrupt;
use statpriv_core::numbers::rational::Rational;
use statpriv_core::trade_off;

/// Work estimate of exact numbers. It is infinite, so that they are computed without the interpreter lock.
const LONG: f64 = f64::INFINITY;
/// Approximate number of curve evaluations for one value of its trade-off function.
const EVALUATIONS: f64 = 32.0;

/// The exact value, if it is a number from `least` to `most`. Without `most`, there is no upper limit.
fn within(value: &Bound<'_, PyAny>, name: &str, least: i64, most: Option<i64>) -> PyResult<Rational> {
    let exact = convert::rational(value, name)?;
    if exact >= Rational::from(least) && most.is_none_or(|most| exact <= Rational::from(most)) {
        return Ok(exact);
    }
    let allowed = most.map_or(format!("of at least {least}"), |most| format!("from {least} to {most}"));
    let message = format!("{name} = {}; a number {allowed} is required", convert::shown(value));
    Err(errors::argument(value.py(), message))
}

/// `(A, B)` with `δ = A − e^ε B`.
#[pyfunction]
pub fn exact_terms<'py>(
    curve: &Bound<'py, Curve>,
    epsilon: &Bound<'py, PyAny>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let (py, kernel) = (curve.py(), &curve.get().0);
    let epsilon = within(epsilon, "epsilon", 0, None)?;
    let (first, second) = door::run(py, LONG, |interrupt| exact::exact_terms(kernel, &epsilon, interrupt))?;
    Ok((convert::to_fraction(py, &first)?, convert::to_fraction(py, &second)?))
}

/// δ at a rational `e^ε`.
#[pyfunction]
pub fn exact_delta<'py>(
    curve: &Bound<'py, Curve>,
    exp_epsilon: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, kernel) = (curve.py(), &curve.get().0);
    let ratio = within(exp_epsilon, "exp_epsilon", 1, None)?;
    let delta = door::run(py, LONG, |interrupt| exact::exact_delta(kernel, &ratio, interrupt))?;
    convert::to_fraction(py, &delta)
}

/// `ln δ(ε)`.
#[pyfunction]
pub fn log_delta(curve: &Bound<'_, Curve>, epsilon: &Bound<'_, PyAny>) -> PyResult<Enclosure> {
    let kernel = &curve.get().0;
    let epsilon = within(epsilon, "epsilon", 0, None)?;
    door::run(curve.py(), kernel.terms(), |interrupt| kernel.log_delta(&epsilon, interrupt)).map(Enclosure)
}

type TradeOff =
    fn(&Kernel, &Rational, &dyn Interrupt) -> Result<statpriv_core::numbers::enclosure::Enclosure, Error>;

fn error(curve: &Bound<'_, Curve>, other: &Rational, trade_off: TradeOff) -> PyResult<Enclosure> {
    let kernel = &curve.get().0;
    let terms = EVALUATIONS * kernel.terms();
    door::run(curve.py(), terms, |interrupt| trade_off(kernel, other, interrupt)).map(Enclosure)
}

/// The least type II error at type I error `alpha`.
#[pyfunction]
pub fn beta(curve: &Bound<'_, Curve>, alpha: &Bound<'_, PyAny>) -> PyResult<Enclosure> {
    error(curve, &within(alpha, "alpha", 0, Some(1))?, trade_off::beta)
}

/// The least type I error at type II error `beta`.
#[pyfunction]
pub fn alpha(curve: &Bound<'_, Curve>, beta: &Bound<'_, PyAny>) -> PyResult<Enclosure> {
    error(curve, &within(beta, "beta", 0, Some(1))?, trade_off::alpha)
}
