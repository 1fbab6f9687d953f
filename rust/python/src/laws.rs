//! Single probabilities.

use crate::convert;
use crate::door;
use crate::enclosure::Enclosure;
use crate::errors;
use pyo3::prelude::*;
use statpriv_core::ball::Ball;
use statpriv_core::error::Error;
use statpriv_core::laws::{self, Hypergeometric, Probability};
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

/// A binomial law and a value, read from Python.
enum Binomial {
    /// The law is certain: whether at this value, and whether below it.
    Certain {
        hit: bool,
        below: bool,
    },
    /// The value is negative.
    Negative,
    Random {
        k: u64,
        n: u64,
        at: Probability,
    },
}

impl Binomial {
    fn read(k: &Bound<'_, PyAny>, n: &Bound<'_, PyAny>, p: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = k.py();
        let (k, n, exact) = (signed(k, "k")?, convert::count(n, "n", 0)?, convert::rational(p, "p")?);
        let one = Rational::from(1i64);
        if exact.is_negative() || exact > one {
            return Err(errors::argument(
                py,
                format!("p = {}; a probability from 0 to 1 is required", convert::shown(p)),
            ));
        }
        let Ok(k) = u64::try_from(k) else { return Ok(Self::Negative) };
        if exact.is_zero() || exact == one {
            let sure = if exact.is_zero() { 0 } else { n };
            return Ok(Self::Certain { hit: k == sure, below: sure < k });
        }
        let at = Probability::new(&exact).map_err(|error| errors::from_kernel(py, &error))?;
        Ok(Self::Random { k, n, at })
    }
}

fn point(x: f64) -> Enclosure {
    Enclosure(statpriv_core::enclosure::Enclosure::point(x))
}

/// ln P[Bin(n, p) = k]; -inf outside the support.
#[pyfunction]
#[pyo3(signature = (k, *, n, p))]
pub fn binomial_log_pmf(
    k: &Bound<'_, PyAny>,
    n: &Bound<'_, PyAny>,
    p: &Bound<'_, PyAny>,
) -> PyResult<Enclosure> {
    Ok(match Binomial::read(k, n, p)? {
        Binomial::Certain { hit: true, .. } => point(0.0),
        Binomial::Certain { .. } | Binomial::Negative => point(f64::NEG_INFINITY),
        Binomial::Random { k, n, at } => Enclosure(laws::binomial_log_pmf(k, n, &at)),
    })
}

/// P[Bin(n, p) = k]; 0 outside the support.
#[pyfunction]
#[pyo3(signature = (k, *, n, p))]
pub fn binomial_pmf(k: &Bound<'_, PyAny>, n: &Bound<'_, PyAny>, p: &Bound<'_, PyAny>) -> PyResult<Enclosure> {
    Ok(match Binomial::read(k, n, p)? {
        Binomial::Certain { hit, .. } => point(f64::from(u8::from(hit))),
        Binomial::Negative => point(0.0),
        Binomial::Random { k, n, at } => Enclosure(laws::binomial_pmf(k, n, &at)),
    })
}

/// P[Bin(n, p) >= k].
#[pyfunction]
#[pyo3(signature = (k, *, n, p))]
pub fn binomial_upper_tail(
    k: &Bound<'_, PyAny>,
    n: &Bound<'_, PyAny>,
    p: &Bound<'_, PyAny>,
) -> PyResult<Enclosure> {
    let py = k.py();
    match Binomial::read(k, n, p)? {
        Binomial::Certain { below, .. } => Ok(point(f64::from(u8::from(!below)))),
        Binomial::Negative => Ok(point(1.0)),
        Binomial::Random { k, n, at } => {
            let terms = laws::binomial_tail_terms(k, n, &at);
            door::run(py, terms, |interrupt| laws::binomial_upper_tail(k, n, &at, interrupt)).map(Enclosure)
        }
    }
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

/// ln P[X = k] for the number X of marked ones among `draws` from `population`; -inf outside the support.
#[pyfunction]
#[pyo3(signature = (k, *, population, marked, draws))]
pub fn hypergeometric_log_pmf(
    k: &Bound<'_, PyAny>,
    population: &Bound<'_, PyAny>,
    marked: &Bound<'_, PyAny>,
    draws: &Bound<'_, PyAny>,
) -> PyResult<Enclosure> {
    let (k, law) = (signed(k, "k")?, hypergeometric(population, marked, draws)?);
    Ok(u64::try_from(k).map_or_else(|_| point(f64::NEG_INFINITY), |k| Enclosure(law.log_pmf(k))))
}

/// P[X = k] for the number X of marked ones among `draws` from `population`; 0 outside the support.
#[pyfunction]
#[pyo3(signature = (k, *, population, marked, draws))]
pub fn hypergeometric_pmf(
    k: &Bound<'_, PyAny>,
    population: &Bound<'_, PyAny>,
    marked: &Bound<'_, PyAny>,
    draws: &Bound<'_, PyAny>,
) -> PyResult<Enclosure> {
    let (k, law) = (signed(k, "k")?, hypergeometric(population, marked, draws)?);
    Ok(u64::try_from(k).map_or_else(|_| point(0.0), |k| Enclosure(law.pmf(k))))
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
    let Ok(k) = u64::try_from(k) else { return Ok(point(1.0)) };
    door::run(py, law.terms(), |interrupt| laws::hypergeometric_upper_tail(k, &law, interrupt)).map(Enclosure)
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
