//! Laws of answers, as Python builds them.

use crate::convert;
use crate::errors;
use pyo3::prelude::*;
use statpriv_core::answer::{Law as Kernel, Noise, Relabelling, Sampling};
use statpriv_core::error::Error;
use std::collections::BTreeMap;

/// The law of an answer on the integers, as a recipe that the kernel evaluates when a curve needs it.
///
/// Probabilities and weights are exact numbers, sizes and answers integers.
#[pyclass(frozen, module = "statpriv._native", name = "Law")]
pub struct Law(pub(crate) Kernel);

fn made(py: Python<'_>, law: Result<Kernel, Error>) -> PyResult<Law> {
    law.map(Law).map_err(|error| errors::from_kernel(py, &error))
}

fn all(values: &[Bound<'_, PyAny>], name: &str) -> PyResult<Vec<statpriv_core::numbers::rational::Rational>> {
    values.iter().map(|value| convert::rational(value, name)).collect()
}

#[pymethods]
impl Law {
    /// Probabilities of `first`, `first + 1`, …, which sum to one.
    #[staticmethod]
    fn table(py: Python<'_>, first: i64, masses: Vec<Bound<'_, PyAny>>) -> PyResult<Self> {
        made(py, Kernel::table(first, all(&masses, "masses")?))
    }

    /// The number of hits in independent trials.
    #[staticmethod]
    fn binomial(py: Python<'_>, trials: u64, p: &Bound<'_, PyAny>) -> PyResult<Self> {
        made(py, Kernel::binomial(trials, &convert::rational(p, "p")?))
    }

    /// The sum of independent numbers.
    #[staticmethod]
    fn sum(py: Python<'_>, parts: Vec<PyRef<'_, Self>>) -> PyResult<Self> {
        made(py, Kernel::sum(parts.iter().map(|part| part.0.clone()).collect()))
    }

    /// One of several laws, drawn with these probabilities, which sum to one.
    #[staticmethod]
    fn mixture(py: Python<'_>, weights: Vec<Bound<'_, PyAny>>, laws: Vec<PyRef<'_, Self>>) -> PyResult<Self> {
        if weights.len() != laws.len() {
            return Err(errors::argument(py, "as many weights as laws are required"));
        }
        let weights = all(&weights, "weight")?;
        made(py, Kernel::mixture(weights.into_iter().zip(laws.iter().map(|law| law.0.clone())).collect()))
    }

    /// The `rank`-th smallest of numbers on 0, 1, …, of which `counts[x]` is the law of how many are at most `x`: the same
    /// object again where nothing changes.
    #[staticmethod]
    fn order_statistic(py: Python<'_>, counts: Vec<PyRef<'_, Self>>, rank: u64) -> PyResult<Self> {
        made(py, Kernel::order_statistic(counts.iter().map(|count| count.0.clone()).collect(), rank))
    }

    /// The sum of `count` independent numbers of this law.
    fn repeated(&self, py: Python<'_>, count: u64) -> PyResult<Self> {
        made(py, self.0.repeated(count))
    }

    /// A constant is added.
    fn shifted(&self, py: Python<'_>, by: i64) -> PyResult<Self> {
        made(py, self.0.shifted(by))
    }

    /// A constant other than zero is multiplied.
    fn scaled(&self, py: Python<'_>, by: i64) -> PyResult<Self> {
        made(py, self.0.scaled(by))
    }

    /// The number of marked ones in a sample of `size` of `population` entries, each drawn at most once.
    fn sampled_without_replacement(&self, py: Python<'_>, population: u64, size: u64) -> PyResult<Self> {
        made(py, self.0.sampled(Sampling::WithoutReplacement { population, size }))
    }

    /// The number of marked ones in `size` draws from `population` entries.
    fn sampled_with_replacement(&self, py: Python<'_>, population: u64, size: u64) -> PyResult<Self> {
        made(py, self.0.sampled(Sampling::WithReplacement { population, size }))
    }

    /// The number of marked ones in a sample that holds each entry with probability `rate`.
    fn sampled_by_rate(&self, py: Python<'_>, rate: &Bound<'_, PyAny>) -> PyResult<Self> {
        let rate = convert::rational(rate, "rate")?;
        made(py, self.0.sampled(Sampling::Poisson { rate }))
    }

    /// The numbers of marked ones in several samples without replacement, as one label.
    fn sampled_several_times(&self, py: Python<'_>, population: u64, sizes: Vec<u64>) -> PyResult<Self> {
        made(py, self.0.sampled(Sampling::Overlapping { population, sizes }))
    }

    /// Answers of at most `most` become one.
    fn suppressed(&self, py: Python<'_>, most: i64) -> PyResult<Self> {
        made(py, self.0.relabelled(Relabelling::AtMost(most)))
    }

    /// `⌊(answer·factor + offset)/divisor⌋`.
    fn divided(&self, py: Python<'_>, factor: i64, offset: i64, divisor: i64) -> PyResult<Self> {
        made(py, self.0.relabelled(Relabelling::Quotient { factor, offset, divisor }))
    }

    /// Answers below `least` become it, those above `most` that one.
    #[pyo3(signature = (least, most))]
    fn clamped(&self, py: Python<'_>, least: Option<i64>, most: Option<i64>) -> PyResult<Self> {
        made(py, self.0.relabelled(Relabelling::Clamped(least, most)))
    }

    /// Single answers are published as others.
    fn relabelled(&self, py: Python<'_>, labels: BTreeMap<i64, i64>) -> PyResult<Self> {
        made(py, self.0.relabelled(Relabelling::Table(labels)))
    }

    /// Discrete Laplace noise, `P[k] ∝ alpha^|k|`.
    #[staticmethod]
    fn geometric_noise(py: Python<'_>, alpha: &Bound<'_, PyAny>) -> PyResult<Self> {
        made(py, Kernel::noise(Noise::Geometric { alpha: convert::rational(alpha, "alpha")? }))
    }

    /// Discrete Laplace noise, `P[k] ∝ e^(−|k|/scale)`.
    #[staticmethod]
    fn laplace_noise(py: Python<'_>, scale: &Bound<'_, PyAny>) -> PyResult<Self> {
        made(py, Kernel::noise(Noise::Laplace { scale: convert::rational(scale, "scale")? }))
    }

    /// Discrete Gaussian noise, `P[k] ∝ e^(−k²/(2 variance))`.
    #[staticmethod]
    fn gaussian_noise(py: Python<'_>, variance: &Bound<'_, PyAny>) -> PyResult<Self> {
        made(py, Kernel::noise(Noise::Gaussian { variance: convert::rational(variance, "variance")? }))
    }

    /// Laplace noise, rounded to integers.
    #[staticmethod]
    fn rounded_laplace_noise(py: Python<'_>, scale: &Bound<'_, PyAny>) -> PyResult<Self> {
        made(py, Kernel::noise(Noise::RoundedLaplace { scale: convert::rational(scale, "scale")? }))
    }

    /// Gaussian noise, rounded to integers.
    #[staticmethod]
    fn rounded_gaussian_noise(py: Python<'_>, sigma: &Bound<'_, PyAny>) -> PyResult<Self> {
        made(py, Kernel::noise(Noise::RoundedGaussian { sigma: convert::rational(sigma, "sigma")? }))
    }

    /// This noise, given that it lies in `[least, most]`.
    fn truncated(&self, py: Python<'_>, least: i64, most: i64) -> PyResult<Self> {
        made(py, self.0.truncated(least, most))
    }

    /// The least and the greatest answer; None where there is none.
    #[getter]
    fn support(&self) -> (Option<i64>, Option<i64>) {
        self.0.support()
    }
}
