//! Probability laws of query answers, as Python builds them.

use crate::convert;
use crate::errors;
use pyo3::prelude::*;
use statpriv_core::answer::{Law as Kernel, Noise, Relabelling, Sampling};
use statpriv_core::error::Error;
use std::collections::BTreeMap;

/// The law of an integer-valued answer, stored as a recipe. The kernel evaluates it when a curve needs it.
///
/// Probabilities and weights are exact numbers. Sizes and answers are integers.
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
    /// The law with probability `masses[i]` at `first + i`. The masses sum to one.
    #[staticmethod]
    fn table(py: Python<'_>, first: i64, masses: Vec<Bound<'_, PyAny>>) -> PyResult<Self> {
        made(py, Kernel::table(first, all(&masses, "masses")?))
    }

    /// The number of successes in independent trials.
    #[staticmethod]
    fn binomial(py: Python<'_>, trials: u64, p: &Bound<'_, PyAny>) -> PyResult<Self> {
        made(py, Kernel::binomial(trials, &convert::rational(p, "p")?))
    }

    /// The sum of independent variables with these laws.
    #[staticmethod]
    fn sum(py: Python<'_>, parts: Vec<PyRef<'_, Self>>) -> PyResult<Self> {
        made(py, Kernel::sum(parts.iter().map(|part| part.0.clone()).collect()))
    }

    /// The mixture of several laws. The weights sum to one.
    #[staticmethod]
    fn mixture(py: Python<'_>, weights: Vec<Bound<'_, PyAny>>, laws: Vec<PyRef<'_, Self>>) -> PyResult<Self> {
        if weights.len() != laws.len() {
            return Err(errors::argument(py, "as many weights as laws are required"));
        }
        let weights = all(&weights, "weight")?;
        made(py, Kernel::mixture(weights.into_iter().zip(laws.iter().map(|law| law.0.clone())).collect()))
    }

    /// The `rank`-th smallest of several numbers on 0, 1, …. `counts[x]` is the law of how many of them are
    /// at most `x`. If it is the same law for `x` and `x − 1`, both entries are the same object.
    #[staticmethod]
    fn order_statistic(py: Python<'_>, counts: Vec<PyRef<'_, Self>>, rank: u64) -> PyResult<Self> {
        made(py, Kernel::order_statistic(counts.iter().map(|count| count.0.clone()).collect(), rank))
    }

    /// The sum of `count` independent variables with this law.
    fn repeated(&self, py: Python<'_>, count: u64) -> PyResult<Self> {
        made(py, self.0.repeated(count))
    }

    /// The law after adding a constant.
    fn shifted(&self, py: Python<'_>, by: i64) -> PyResult<Self> {
        made(py, self.0.shifted(by))
    }

    /// The law after multiplication by a constant other than zero.
    fn scaled(&self, py: Python<'_>, by: i64) -> PyResult<Self> {
        made(py, self.0.scaled(by))
    }

    /// The number of marked entries in a sample of `size` of `population` entries, drawn without replacement.
    /// This law is that of the number of marked entries in the population.
    fn sampled_without_replacement(&self, py: Python<'_>, population: u64, size: u64) -> PyResult<Self> {
        made(py, self.0.sampled(Sampling::WithoutReplacement { population, size }))
    }

    /// The number of marked entries in `size` draws from `population` entries, with replacement.
    fn sampled_with_replacement(&self, py: Python<'_>, population: u64, size: u64) -> PyResult<Self> {
        made(py, self.0.sampled(Sampling::WithReplacement { population, size }))
    }

    /// The number of marked entries in a Poisson sample, which holds each entry with probability `rate`.
    fn sampled_by_rate(&self, py: Python<'_>, rate: &Bound<'_, PyAny>) -> PyResult<Self> {
        let rate = convert::rational(rate, "rate")?;
        made(py, self.0.sampled(Sampling::Poisson { rate }))
    }

    /// The numbers of marked entries in several samples without replacement, jointly encoded as one integer.
    fn sampled_several_times(&self, py: Python<'_>, population: u64, sizes: Vec<u64>) -> PyResult<Self> {
        made(py, self.0.sampled(Sampling::Overlapping { population, sizes }))
    }

    /// Suppression: all answers up to `most` are merged into the answer `most`.
    fn suppressed(&self, py: Python<'_>, most: i64) -> PyResult<Self> {
        made(py, self.0.relabelled(Relabelling::AtMost(most)))
    }

    /// The law of `⌊(answer·factor + offset)/divisor⌋`.
    fn divided(&self, py: Python<'_>, factor: i64, offset: i64, divisor: i64) -> PyResult<Self> {
        made(py, self.0.relabelled(Relabelling::Quotient { factor, offset, divisor }))
    }

    /// Clamping: answers below `least` become `least`, and answers above `most` become `most`.
    #[pyo3(signature = (least, most))]
    fn clamped(&self, py: Python<'_>, least: Option<i64>, most: Option<i64>) -> PyResult<Self> {
        made(py, self.0.relabelled(Relabelling::Clamped(least, most)))
    }

    /// Answers that are keys of `labels` are replaced by their values; all others stay.
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

    /// This noise, conditioned on `[least, most]`.
    fn truncated(&self, py: Python<'_>, least: i64, most: i64) -> PyResult<Self> {
        made(py, self.0.truncated(least, most))
    }

    /// The least and the greatest possible answer. None stands for an unbounded side.
    #[getter]
    fn support(&self) -> (Option<i64>, Option<i64>) {
        self.0.support()
    }
}
