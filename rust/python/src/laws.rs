//! Single probabilities.

use crate::convert;
use crate::door;
use crate::enclosure::Enclosure;
use crate::errors;
use pyo3::prelude::*;
use statpriv_core::ball::Ball;
use statpriv_core::error::Error;
use statpriv_core::laws::{Hypergeometric, Probability, binomial_probability};
use statpriv_core::pair::{self, Epsilon};
use statpriv_core::rational::Rational;

fn enclose(ball: Ball) -> Enclosure {
    Enclosure(ball.to_enclosure().clamp(0.0, 1.0))
}

/// An integer of size up to 2^53, possibly negative.
fn signed(value: &Bound<'_, PyAny>, name: &str) -> PyResult<i64> {
    match convert::rational(value, name)?.to_i64() {
        Some(integer) if integer.abs() <= 1 << 53 => Ok(integer),
        _ => Err(errors::argument(
            value.py(),
            format!("{name} = {}; an integer of size up to 2^53 is required", convert::shown(value)),
        )),
    }
}

/// P[Bin(n, p) = k].
#[pyfunction]
#[pyo3(signature = (k, *, n, p))]
pub fn binomial_pmf(k: &Bound<'_, PyAny>, n: &Bound<'_, PyAny>, p: &Bound<'_, PyAny>) -> PyResult<Enclosure> {
    let py = k.py();
    let (k, n, exact) = (signed(k, "k")?, convert::count(n, "n", 0)?, convert::rational(p, "p")?);
    let one = Rational::from(1i64);
    if exact.is_negative() || exact > one {
        return Err(errors::argument(
            py,
            format!("p = {}; a probability from 0 to 1 is required", convert::shown(p)),
        ));
    }
    let Ok(k) = u64::try_from(k) else { return Ok(enclose(Ball::ZERO)) };
    if exact.is_zero() || exact == one {
        let sure = if exact.is_zero() { 0 } else { n };
        return Ok(enclose(if k == sure { Ball::ONE } else { Ball::ZERO }));
    }
    let at = Probability::new(&exact).map_err(|error| errors::from_kernel(py, &error))?;
    Ok(enclose(binomial_probability(k, n, &at)))
}

fn hypergeometric(
    population: &Bound<'_, PyAny>,
    marked: &Bound<'_, PyAny>,
    draws: &Bound<'_, PyAny>,
) -> PyResult<Hypergeometric> {
    let sizes = (
        convert::count(population, "population", 0)?,
        convert::count(marked, "marked", 0)?,
        convert::count(draws, "draws", 0)?,
    );
    Hypergeometric::new(sizes.0, sizes.1, sizes.2)
        .map_err(|error| errors::from_kernel(population.py(), &error))
}

/// P[X = k] for the number X of marked ones among `draws` from `population`.
#[pyfunction]
#[pyo3(signature = (k, *, population, marked, draws))]
pub fn hypergeometric_pmf(
    k: &Bound<'_, PyAny>,
    population: &Bound<'_, PyAny>,
    marked: &Bound<'_, PyAny>,
    draws: &Bound<'_, PyAny>,
) -> PyResult<Enclosure> {
    let (k, law) = (signed(k, "k")?, hypergeometric(population, marked, draws)?);
    Ok(enclose(u64::try_from(k).map_or(Ball::ZERO, |k| law.probability(k))))
}

/// P[X >= k] for the number X of marked ones among `draws` from `population`.
#[pyfunction]
#[pyo3(signature = (k, *, population, marked, draws))]
pub fn hypergeometric_upper_tail(
    k: &Bound<'_, PyAny>,
    population: &Bound<'_, PyAny>,
    marked: &Bound<'_, PyAny>,
    draws: &Bound<'_, PyAny>,
) -> PyResult<Enclosure> {
    let py = k.py();
    let (k, law) = (signed(k, "k")?, hypergeometric(population, marked, draws)?);
    let Ok(k) = u64::try_from(k) else { return Ok(enclose(Ball::ONE)) };
    door::run(py, law.terms(), |interrupt| statpriv_core::laws::hypergeometric_upper_tail(k, &law, interrupt))
        .map(enclose)
}

/// δ(ε) of two normal laws of variance 1 at distance `mu`.
#[pyfunction]
#[pyo3(signature = (epsilon, *, mu))]
pub fn gaussian_delta(epsilon: &Bound<'_, PyAny>, mu: &Bound<'_, PyAny>) -> PyResult<Enclosure> {
    let py = epsilon.py();
    let (exact, distance) = (convert::rational(epsilon, "epsilon")?, convert::rational(mu, "mu")?);
    if distance.is_negative() || distance.is_zero() {
        return Err(errors::argument(
            py,
            format!("mu = {}; a number above 0 is required", convert::shown(mu)),
        ));
    }
    if exact.is_negative() {
        return Err(errors::argument(
            py,
            format!("epsilon = {}; a number of at least 0 is required", convert::shown(epsilon)),
        ));
    }
    door::run(py, 0.0, |_| {
        let delta = enclose(pair::gaussian_delta(Ball::from_rational(&distance), &Epsilon::new(&exact)));
        if delta.0.width() > 1e-6 {
            return Err(Error::precision(
                "the normal tails at this epsilon and mu are beyond the kernel's range",
            ));
        }
        Ok(delta)
    })
}
