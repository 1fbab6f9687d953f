//! Single probabilities of the binomial and the hypergeometric law, and the hockey stick of two normal laws.

use crate::convert;
use crate::door;
use crate::enclosure::Enclosure;
use crate::errors;
use pyo3::prelude::*;
use pyo3::types::PyFloat;
use statpriv_core::error::Error;
use statpriv_core::forms::{self, Epsilon};
use statpriv_core::interrupt::Interrupt;
use statpriv_core::laws::{self, Hypergeometric, Probability};
use statpriv_core::numbers::ball::Ball;
use statpriv_core::numbers::enclosure::Enclosure as Kernel;
use statpriv_core::numbers::rational::Rational;

/// The quantity of a law that is asked for at a number k.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// `ln P[X = k]`, −∞ outside the support.
    LogPmf,
    /// `P[X = k]`.
    Pmf,
    /// `P[X ≥ k]`.
    UpperTail,
    /// `P[X ≤ k]`.
    LowerTail,
}

impl Quantity {
    /// The quantity with this name in Python.
    pub fn named(py: Python<'_>, name: &str) -> PyResult<Self> {
        match name {
            "log_pmf" => Ok(Self::LogPmf),
            "pmf" => Ok(Self::Pmf),
            "upper_tail" => Ok(Self::UpperTail),
            "lower_tail" => Ok(Self::LowerTail),
            _ => Err(errors::argument(
                py,
                format!("quantity = {name:?}; log_pmf, pmf, upper_tail or lower_tail is required"),
            )),
        }
    }

    /// The value at a k outside the support: below it or, if not `below`, above it.
    fn outside(self, below: bool) -> Kernel {
        Kernel::point(match self {
            Self::LogPmf => f64::NEG_INFINITY,
            Self::Pmf => 0.0,
            Self::UpperTail => f64::from(u8::from(below)),
            Self::LowerTail => f64::from(u8::from(!below)),
        })
    }

    /// The value at k for the law that is concentrated at `value`.
    fn certain(self, k: i64, value: u64) -> Kernel {
        match u64::try_from(k) {
            Ok(k) if k == value => Kernel::point(if self == Self::LogPmf { 0.0 } else { 1.0 }),
            Ok(k) if k > value => self.outside(false),
            _ => self.outside(true),
        }
    }
}

/// A probability from 0 to 1, prepared for repeated evaluation.
#[derive(Clone, Copy)]
pub enum Chance {
    Never,
    Always,
    Between(Probability),
}

impl Chance {
    /// The probability that a caller passed. None for a number outside `[0, 1]`.
    fn written(p: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        match p.cast_exact::<PyFloat>() {
            Ok(double) if double.value().is_finite() => Ok(Self::from_f64(double.value())),
            _ => convert::rational(p, "p").map(|exact| Self::new(&exact)),
        }
    }

    /// The rational that a double stores. None for a number outside `[0, 1]`.
    pub fn from_f64(p: f64) -> Option<Self> {
        match p {
            0.0 => Some(Self::Never),
            1.0 => Some(Self::Always),
            _ => Probability::from_f64(p).ok().map(Self::Between),
        }
    }

    /// The probability with this exact value. None for a number outside `[0, 1]`.
    pub fn new(p: &Rational) -> Option<Self> {
        if p.is_zero() {
            Some(Self::Never)
        } else if *p == Rational::from(1i64) {
            Some(Self::Always)
        } else {
            Probability::new(p).ok().map(Self::Between)
        }
    }
}

/// A quantity of Bin(n, p).
pub fn binomial(
    quantity: Quantity,
    k: i64,
    n: u64,
    p: &Chance,
    interrupt: &dyn Interrupt,
) -> Result<Kernel, Error> {
    let at = match p {
        Chance::Never => return Ok(quantity.certain(k, 0)),
        Chance::Always => return Ok(quantity.certain(k, n)),
        Chance::Between(at) => at,
    };
    let k = match u64::try_from(k) {
        Ok(k) if k <= n => k,
        outside => return Ok(quantity.outside(outside.is_err())),
    };
    Ok(match quantity {
        Quantity::LogPmf => laws::binomial_log_pmf(k, n, at),
        Quantity::Pmf => laws::binomial_pmf(k, n, at),
        Quantity::UpperTail => laws::binomial_upper_tail(k, n, at, interrupt)?,
        Quantity::LowerTail => laws::binomial_lower_tail(k, n, at, interrupt)?,
    })
}

/// A quantity of a hypergeometric law.
pub fn hypergeometric(
    quantity: Quantity,
    k: i64,
    law: &Hypergeometric,
    interrupt: &dyn Interrupt,
) -> Result<Kernel, Error> {
    let Ok(k) = u64::try_from(k) else { return Ok(quantity.outside(true)) };
    Ok(match quantity {
        Quantity::LogPmf => law.log_pmf(k),
        Quantity::Pmf => law.pmf(k),
        Quantity::UpperTail => laws::hypergeometric_upper_tail(k, law, interrupt)?,
        Quantity::LowerTail => laws::hypergeometric_lower_tail(k, law, interrupt)?,
    })
}

/// Approximate cost of a quantity, in terms of a sum. It does not depend on the size of the law.
pub fn terms(quantity: Quantity) -> f64 {
    match quantity {
        Quantity::LogPmf | Quantity::Pmf => 10.0,
        Quantity::UpperTail | Quantity::LowerTail => 60.0,
    }
}

/// An integer of absolute value up to 2^53.
pub fn signed(value: &Bound<'_, PyAny>, name: &str) -> PyResult<i64> {
    match convert::machine_integer(value, name)? {
        Some(integer) if integer.unsigned_abs() <= 1 << 53 => Ok(integer),
        _ => Err(errors::argument(
            value.py(),
            format!("{name} = {}; an integer of size up to 2^53 is required", convert::shown(value)),
        )),
    }
}

/// A quantity of Bin(n, p), from the caller's Python numbers.
fn of_binomial(
    quantity: Quantity,
    k: &Bound<'_, PyAny>,
    n: &Bound<'_, PyAny>,
    p: &Bound<'_, PyAny>,
) -> PyResult<Enclosure> {
    let (k, n) = (signed(k, "k")?, convert::count(n, "n", 0)?);
    let chance = chance(p)?;
    door::run(p.py(), terms(quantity), |interrupt| binomial(quantity, k, n, &chance, interrupt))
        .map(Enclosure)
}

/// The probability that a caller passed; an error for any other number.
pub fn chance(p: &Bound<'_, PyAny>) -> PyResult<Chance> {
    Chance::written(p)?.ok_or_else(|| {
        let shown = convert::shown(p);
        errors::argument(p.py(), format!("p = {shown}; a probability from 0 to 1 is required"))
    })
}

/// ln P[Bin(n, p) = k].
#[pyfunction]
#[pyo3(signature = (k, *, n, p))]
pub fn binomial_log_pmf(
    k: &Bound<'_, PyAny>,
    n: &Bound<'_, PyAny>,
    p: &Bound<'_, PyAny>,
) -> PyResult<Enclosure> {
    of_binomial(Quantity::LogPmf, k, n, p)
}

/// P[Bin(n, p) = k].
#[pyfunction]
#[pyo3(signature = (k, *, n, p))]
pub fn binomial_pmf(k: &Bound<'_, PyAny>, n: &Bound<'_, PyAny>, p: &Bound<'_, PyAny>) -> PyResult<Enclosure> {
    of_binomial(Quantity::Pmf, k, n, p)
}

/// P[Bin(n, p) >= k].
#[pyfunction]
#[pyo3(signature = (k, *, n, p))]
pub fn binomial_upper_tail(
    k: &Bound<'_, PyAny>,
    n: &Bound<'_, PyAny>,
    p: &Bound<'_, PyAny>,
) -> PyResult<Enclosure> {
    of_binomial(Quantity::UpperTail, k, n, p)
}

/// P[Bin(n, p) <= k].
#[pyfunction]
#[pyo3(signature = (k, *, n, p))]
pub fn binomial_lower_tail(
    k: &Bound<'_, PyAny>,
    n: &Bound<'_, PyAny>,
    p: &Bound<'_, PyAny>,
) -> PyResult<Enclosure> {
    of_binomial(Quantity::LowerTail, k, n, p)
}

/// A hypergeometric law, from the caller's Python numbers.
pub fn draws_from(
    population: &Bound<'_, PyAny>,
    marked: &Bound<'_, PyAny>,
    draws: &Bound<'_, PyAny>,
) -> PyResult<Hypergeometric> {
    Hypergeometric::new(
        convert::count(population, "population", 0)?,
        convert::count(marked, "marked", 0)?,
        convert::count(draws, "draws", 0)?,
    )
    .map_err(|error| errors::from_kernel(population.py(), &error))
}

/// A quantity of a hypergeometric law, from the caller's Python numbers.
fn of_hypergeometric(
    quantity: Quantity,
    k: &Bound<'_, PyAny>,
    sizes: [&Bound<'_, PyAny>; 3],
) -> PyResult<Enclosure> {
    let (py, k) = (k.py(), signed(k, "k")?);
    let [population, marked, draws] = sizes;
    let law = draws_from(population, marked, draws)?;
    door::run(py, terms(quantity), |interrupt| hypergeometric(quantity, k, &law, interrupt)).map(Enclosure)
}

/// ln P[X = k] for the number X of marked items among `draws` from `population`.
#[pyfunction]
#[pyo3(signature = (k, *, population, marked, draws))]
pub fn hypergeometric_log_pmf(
    k: &Bound<'_, PyAny>,
    population: &Bound<'_, PyAny>,
    marked: &Bound<'_, PyAny>,
    draws: &Bound<'_, PyAny>,
) -> PyResult<Enclosure> {
    of_hypergeometric(Quantity::LogPmf, k, [population, marked, draws])
}

/// P[X = k] for the number X of marked items among `draws` from `population`.
#[pyfunction]
#[pyo3(signature = (k, *, population, marked, draws))]
pub fn hypergeometric_pmf(
    k: &Bound<'_, PyAny>,
    population: &Bound<'_, PyAny>,
    marked: &Bound<'_, PyAny>,
    draws: &Bound<'_, PyAny>,
) -> PyResult<Enclosure> {
    of_hypergeometric(Quantity::Pmf, k, [population, marked, draws])
}

/// P[X >= k] for the number X of marked items among `draws` from `population`.
#[pyfunction]
#[pyo3(signature = (k, *, population, marked, draws))]
pub fn hypergeometric_upper_tail(
    k: &Bound<'_, PyAny>,
    population: &Bound<'_, PyAny>,
    marked: &Bound<'_, PyAny>,
    draws: &Bound<'_, PyAny>,
) -> PyResult<Enclosure> {
    of_hypergeometric(Quantity::UpperTail, k, [population, marked, draws])
}

/// P[X <= k] for the number X of marked items among `draws` from `population`.
#[pyfunction]
#[pyo3(signature = (k, *, population, marked, draws))]
pub fn hypergeometric_lower_tail(
    k: &Bound<'_, PyAny>,
    population: &Bound<'_, PyAny>,
    marked: &Bound<'_, PyAny>,
    draws: &Bound<'_, PyAny>,
) -> PyResult<Enclosure> {
    of_hypergeometric(Quantity::LowerTail, k, [population, marked, draws])
}

/// δ(ε) of two normal laws with variance 1 whose means differ by `mu`.
#[pyfunction]
#[pyo3(signature = (epsilon, *, mu))]
pub fn gaussian_delta(epsilon: &Bound<'_, PyAny>, mu: &Bound<'_, PyAny>) -> PyResult<Enclosure> {
    let py = epsilon.py();
    let (exact, distance) = (convert::not_negative(epsilon, "epsilon")?, convert::rational(mu, "mu")?);
    if distance.is_negative() || distance.is_zero() {
        return Err(errors::argument(
            py,
            format!("mu = {}; a number above 0 is required", convert::shown(mu)),
        ));
    }
    door::run(py, 0.0, |_| {
        let ball = forms::gaussian_delta(Ball::from_rational(&distance), &Epsilon::new(&exact));
        let delta = ball.to_enclosure().clamp(0.0, 1.0);
        if delta.width() > 1e-6 {
            return Err(Error::precision(
                "the normal tails at this epsilon and mu are beyond the kernel's range",
            ));
        }
        Ok(delta)
    })
    .map(Enclosure)
}
