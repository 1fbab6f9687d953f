//! Curves and laws to a requested number of digits.

use crate::convert;
use crate::curve::Curve;
use crate::digits_enclosure::wrapped;
use crate::door;
use crate::errors;
use crate::laws::{Quantity, draws_from, signed};
use pyo3::prelude::*;
use statpriv_core::digits::{self, DigitsEnclosure, Dyadic, MAX_DIGITS};
use statpriv_core::error::Error;
use statpriv_core::interrupt::Interrupt;
use statpriv_core::numbers::rational::Rational;

type Result<'py> = PyResult<Bound<'py, PyAny>>;

/// Reads and checks the requested number of digits.
pub(crate) fn count(value: &Bound<'_, PyAny>) -> PyResult<u32> {
    let wanted = convert::rational(value, "digits")?.to_i64().and_then(|digits| u32::try_from(digits).ok());
    wanted.filter(|digits| (1..=MAX_DIGITS).contains(digits)).ok_or_else(|| {
        errors::argument(
            value.py(),
            format!("digits = {}; an integer from 1 to {MAX_DIGITS} is required", convert::shown(value)),
        )
    })
}

/// Runs the work without the interpreter lock: even the quickest takes some ten microseconds.
fn run(
    py: Python<'_>,
    work: impl FnOnce(&dyn Interrupt) -> std::result::Result<DigitsEnclosure, Error> + Send,
) -> Result<'_> {
    wrapped(py, door::run(py, f64::INFINITY, work)?)
}

/// δ(ε) of a curve to `digits` digits.
#[pyfunction]
pub fn delta_digits<'py>(
    curve: &Curve,
    epsilon: &Bound<'py, PyAny>,
    digits: &Bound<'py, PyAny>,
) -> Result<'py> {
    let (exact, digits) = (convert::not_negative(epsilon, "epsilon")?, count(digits)?);
    run(epsilon.py(), |interrupt| statpriv_core::curve::digits::delta(&curve.0, &exact, digits, interrupt))
}

/// ln δ(ε) of a curve to `digits` digits.
#[pyfunction]
pub fn log_delta_digits<'py>(
    curve: &Curve,
    epsilon: &Bound<'py, PyAny>,
    digits: &Bound<'py, PyAny>,
) -> Result<'py> {
    let (exact, digits) = (convert::not_negative(epsilon, "epsilon")?, count(digits)?);
    run(epsilon.py(), |interrupt| {
        statpriv_core::curve::digits::log_delta(&curve.0, &exact, digits, interrupt)
    })
}

/// ε(δ) of a curve to `digits` digits.
#[pyfunction]
pub fn epsilon_digits<'py>(
    curve: &Curve,
    delta: &Bound<'py, PyAny>,
    digits: &Bound<'py, PyAny>,
) -> Result<'py> {
    let (exact, digits) = (convert::not_negative(delta, "delta")?, count(digits)?);
    run(delta.py(), |interrupt| statpriv_core::curve::digits::epsilon(&curve.0, &exact, digits, interrupt))
}

/// The limit of δ(ε) for ε → ∞, to `digits` digits.
#[pyfunction]
pub fn mass_at_infinity_digits<'py>(curve: &Curve, digits: &Bound<'py, PyAny>) -> Result<'py> {
    let wanted = count(digits)?;
    run(digits.py(), |interrupt| statpriv_core::curve::digits::infinity_mass(&curve.0, wanted, interrupt))
}

/// The value of a quantity at a negative `k`.
fn below(quantity: Quantity) -> DigitsEnclosure {
    DigitsEnclosure::point(match quantity {
        Quantity::LogPmf => Dyadic::MinusInfinity,
        Quantity::Pmf | Quantity::LowerTail => Dyadic::new(0.into(), 0),
        Quantity::UpperTail => Dyadic::new(1.into(), 0),
    })
}

fn probability(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Rational> {
    let exact = convert::rational(value, name)?;
    if exact.is_negative() || exact > Rational::from(1i64) {
        let message = format!("{name} = {}; a probability from 0 to 1 is required", convert::shown(value));
        return Err(errors::argument(value.py(), message));
    }
    Ok(exact)
}

/// A quantity of Bin(n, p) to `digits` digits.
#[pyfunction]
#[pyo3(signature = (quantity, digits, *, k, n, p))]
pub fn binomial_digits<'py>(
    quantity: &str,
    digits: &Bound<'py, PyAny>,
    k: &Bound<'py, PyAny>,
    n: &Bound<'py, PyAny>,
    p: &Bound<'py, PyAny>,
) -> Result<'py> {
    let py = k.py();
    let (quantity, digits) = (Quantity::named(py, quantity)?, count(digits)?);
    let (k, n, p) = (signed(k, "k")?, convert::count(n, "n", 0)?, probability(p, "p")?);
    let Ok(k) = u64::try_from(k) else { return wrapped(py, below(quantity)) };
    run(py, |interrupt| match quantity {
        Quantity::Pmf => digits::binomial_pmf(k, n, &p, digits, interrupt),
        Quantity::LogPmf => digits::binomial_log_pmf(k, n, &p, digits, interrupt),
        Quantity::UpperTail => digits::binomial_upper_tail(k, n, &p, digits, interrupt),
        Quantity::LowerTail => digits::binomial_lower_tail(k, n, &p, digits, interrupt),
    })
}

/// A quantity of a hypergeometric law to `digits` digits.
#[pyfunction]
#[pyo3(signature = (quantity, digits, *, k, population, marked, draws))]
pub fn hypergeometric_digits<'py>(
    quantity: &str,
    digits: &Bound<'py, PyAny>,
    k: &Bound<'py, PyAny>,
    population: &Bound<'py, PyAny>,
    marked: &Bound<'py, PyAny>,
    draws: &Bound<'py, PyAny>,
) -> Result<'py> {
    let py = k.py();
    let (quantity, digits) = (Quantity::named(py, quantity)?, count(digits)?);
    let (k, law) = (signed(k, "k")?, draws_from(population, marked, draws)?);
    let Ok(k) = u64::try_from(k) else { return wrapped(py, below(quantity)) };
    run(py, |interrupt| match quantity {
        Quantity::Pmf => digits::hypergeometric_pmf(k, &law, digits, interrupt),
        Quantity::LogPmf => digits::hypergeometric_log_pmf(k, &law, digits, interrupt),
        Quantity::UpperTail => digits::hypergeometric_upper_tail(k, &law, digits, interrupt),
        Quantity::LowerTail => digits::hypergeometric_lower_tail(k, &law, digits, interrupt),
    })
}

/// The probabilities of the number of successes in independent trials, to `digits` digits. Trial `i` has
/// success probability `p[i]`.
#[pyfunction]
pub fn poisson_binomial_digits<'py>(
    p: Vec<Bound<'py, PyAny>>,
    digits: &Bound<'py, PyAny>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let py = digits.py();
    let wanted = count(digits)?;
    let read = |(i, p)| probability(p, &format!("p[{i}]"));
    let exact = p.iter().enumerate().map(read).collect::<PyResult<Vec<_>>>()?;
    let law =
        door::run(py, f64::INFINITY, |interrupt| digits::poisson_binomial_pmf(&exact, wanted, interrupt))?;
    law.into_iter().map(|value| wrapped(py, value)).collect()
}
