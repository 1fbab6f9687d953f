//! The kernel's curve expressions, as Python builds them.

use crate::answer::Law;
use crate::convert;
use crate::door;
use crate::enclosure::Enclosure;
use crate::errors;
use pyo3::prelude::*;
use pyo3::types::PyFloat;
use statpriv_core::adaptive::{Adaptive, Asked, Next};
use statpriv_core::composition::{Attributes, Cell, Composed, Composition, Part as KernelPart};
use statpriv_core::curve::{
    self, CountFamily, Curve as Kernel, InTurn, Kind, Loosened, MeanOverSizes, Weight,
};
use statpriv_core::error::Error;
use statpriv_core::forms::{
    Answers, BinomialPeaks, ContinuousNoise, Directed, Direction, DrawnGroups, EachInRange, End,
    GatedSupremum, GroupedCount, KnownInSample, Smoothed, VariedCount,
};
use statpriv_core::inverse;
use statpriv_core::numbers::rational::Rational;
use std::sync::Arc;

/// A query of an adaptive composition, as Python passes it; see [`Curve::adaptive`].
type AskedQuery<'py> =
    (Bound<'py, PyAny>, PyRef<'py, Law>, PyRef<'py, Law>, PyRef<'py, Law>, Vec<(i64, i64, usize)>);

/// A curve expression in the kernel's normal forms. A rule lowers a situation to it.
///
/// Sizes are integers. Probabilities and weights are exact numbers. `pair` is `(1, 0)`, `(0, 1)` or None for
/// the maximum of both.
#[pyclass(frozen, module = "statpriv._native", name = "Curve")]
pub struct Curve(pub(crate) Kernel);

/// A part of a partition, together with the pair of values `(v, w)` that is compared on it.
#[pyclass(frozen, module = "statpriv._native", name = "Part")]
pub struct Part(KernelPart);

#[pymethods]
impl Part {
    /// Cell counts of `count` independent entries. Each cell is a triple `(mass, first, second)`. `mass` is
    /// its probability. `first` and `second` are `mass` times what an entry in the cell adds to the
    /// likelihood ratios `w_k P_{k,v}/R_k` and `w_k P_{k,w}/R_k` (see `Cell` in the kernel).
    #[staticmethod]
    #[pyo3(signature = (*, count, cells))]
    fn entries(
        py: Python<'_>,
        count: u64,
        cells: Vec<(Bound<'_, PyAny>, Bound<'_, PyAny>, Bound<'_, PyAny>)>,
    ) -> PyResult<Self> {
        if count == 0 {
            return Err(errors::argument(py, "count = 0; a part has at least one entry"));
        }
        let cell = |(mass, first, second): &(Bound<'_, PyAny>, Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            Ok(Cell {
                mass: convert::rational(mass, "mass")?,
                first: convert::rational(first, "first")?,
                second: convert::rational(second, "second")?,
            })
        };
        let cells = cells.iter().map(cell).collect::<PyResult<_>>()?;
        Ok(Self(KernelPart::Entries { count, cells }))
    }

    /// The count of a property among `count` entries, with a probability in `[lower, upper]`, for both pairs
    /// of values. `share` is one over the size of the population. A composition with such a part is an upper
    /// bound.
    #[staticmethod]
    #[pyo3(signature = (*, count, share, lower, upper))]
    fn range(
        count: u64,
        share: &Bound<'_, PyAny>,
        lower: &Bound<'_, PyAny>,
        upper: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        Ok(Self(KernelPart::Range {
            count,
            share: convert::rational(share, "share")?,
            lower: convert::rational(lower, "lower")?,
            upper: convert::rational(upper, "upper")?,
        }))
    }

    /// The count of a property among `count` entries, published only from `least` to `most`, for every
    /// probability and both pairs of values. `share` is one over the size of the population. A composition
    /// with such a part is an upper bound.
    #[staticmethod]
    #[pyo3(signature = (*, count, share, least, most))]
    fn gated(count: u64, share: &Bound<'_, PyAny>, least: u64, most: u64) -> PyResult<Self> {
        Ok(Self(KernelPart::Gated { count, share: convert::rational(share, "share")?, least, most }))
    }

    /// Any answer. `weight` is the probability that the part holds the critical entry. `first` and `second`
    /// are the laws of the answer if it does, with the first or the second value. `reference` is the law if
    /// it does not.
    #[staticmethod]
    #[pyo3(signature = (*, weight, first, second, reference))]
    fn answer(
        weight: &Bound<'_, PyAny>,
        first: PyRef<'_, Law>,
        second: PyRef<'_, Law>,
        reference: PyRef<'_, Law>,
    ) -> PyResult<Self> {
        Ok(Self(KernelPart::Answer {
            weight: convert::rational(weight, "weight")?,
            first: first.0.clone(),
            second: second.0.clone(),
            reference: reference.0.clone(),
        }))
    }

    /// A real-valued answer with a monotone likelihood ratio, given by its laws rounded to integers. The
    /// arguments are those of `answer`.
    #[staticmethod]
    #[pyo3(signature = (*, weight, first, second, reference))]
    fn rounded(
        weight: &Bound<'_, PyAny>,
        first: PyRef<'_, Law>,
        second: PyRef<'_, Law>,
        reference: PyRef<'_, Law>,
    ) -> PyResult<Self> {
        Ok(Self(KernelPart::Rounded {
            weight: convert::rational(weight, "weight")?,
            first: first.0.clone(),
            second: second.0.clone(),
            reference: reference.0.clone(),
        }))
    }
}

fn direction(py: Python<'_>, pair: Option<(i64, i64)>) -> PyResult<Option<Direction>> {
    match pair {
        None => Ok(None),
        Some((1, 0)) => Ok(Some(Direction::OneAgainstZero)),
        Some((0, 1)) => Ok(Some(Direction::ZeroAgainstOne)),
        Some((v, w)) => Err(errors::argument(
            py,
            format!("pair = ({v}, {w}); (1, 0), (0, 1) or None is required for a property"),
        )),
    }
}

fn kernel<T>(py: Python<'_>, result: Result<T, Error>) -> PyResult<T> {
    result.map_err(|error| errors::from_kernel(py, &error))
}

/// The family of counts of a property with a probability in `[lower, upper]`.
pub fn family(
    lower: &Bound<'_, PyAny>,
    upper: &Bound<'_, PyAny>,
    pair: Option<(i64, i64)>,
) -> PyResult<CountFamily> {
    let py = lower.py();
    let ends = (convert::rational(lower, "lower")?, convert::rational(upper, "upper")?);
    kernel(py, CountFamily::new(&ends.0, &ends.1, direction(py, pair)?))
}

fn probabilities(cells: &[Bound<'_, PyAny>]) -> PyResult<Vec<Rational>> {
    cells.iter().enumerate().map(|(i, cell)| convert::rational(cell, &format!("cells[{i}]"))).collect()
}

fn indices(py: Python<'_>, pair: Option<(i64, i64)>) -> PyResult<Option<(usize, usize)>> {
    let Some((v, w)) = pair else { return Ok(None) };
    match (usize::try_from(v), usize::try_from(w)) {
        (Ok(v), Ok(w)) => Ok(Some((v, w))),
        _ => Err(errors::argument(py, format!("pair = ({v}, {w}); two cells, counted from 0, are required"))),
    }
}

impl Curve {
    fn with_thresholds(mean: MeanOverSizes, thresholds: Option<u64>) -> Self {
        Self(Kernel::from(match thresholds {
            Some(thresholds) => mean.with_thresholds(thresholds),
            None => mean,
        }))
    }
}

impl Curve {
    /// The curve in the given direction, or the maximum over both if none is given.
    fn in_directions(direction: Option<Direction>, curve: impl Fn(Direction) -> Kernel) -> Self {
        Self(match direction {
            Some(direction) => curve(direction),
            None => Kernel::Max(Direction::BOTH.map(curve).into()),
        })
    }
}

#[pymethods]
impl Curve {
    /// The count of a property among `size` entries that include the critical one. Its probability is in
    /// `[lower, upper]`.
    #[staticmethod]
    #[pyo3(signature = (*, size, lower, upper, pair=None))]
    fn count(
        size: &Bound<'_, PyAny>,
        lower: &Bound<'_, PyAny>,
        upper: &Bound<'_, PyAny>,
        pair: Option<(i64, i64)>,
    ) -> PyResult<Self> {
        let entries = convert::count(size, "size", 1)?;
        kernel(size.py(), family(lower, upper, pair)?.of_size(entries)).map(Self)
    }

    /// Peak heights of tests of a count of `size` entries. The test "answer ≥ j+1" distinguishes best at its
    /// peak probability `p_j`. Among the tests with j in `tests` and `p_j` in `[lower, upper]`, the curve is
    /// the larger height of the first and the last; see `BinomialPeaks` in the kernel.
    #[staticmethod]
    #[pyo3(signature = (*, size, tests, lower, upper, pair=None))]
    fn peaks(
        size: &Bound<'_, PyAny>,
        tests: Vec<u64>,
        lower: &Bound<'_, PyAny>,
        upper: &Bound<'_, PyAny>,
        pair: Option<(i64, i64)>,
    ) -> PyResult<Self> {
        let py = size.py();
        let entries = convert::count(size, "size", 1)?;
        let ends = (convert::rational(lower, "lower")?, convert::rational(upper, "upper")?);
        let tests = kernel(py, BinomialPeaks::new(entries, tests, &ends.0, &ends.1))?;
        Ok(Self::in_directions(direction(py, pair)?, |direction| {
            Kernel::from(Directed(tests.clone(), direction))
        }))
    }

    /// Several mechanisms one after the other, `copies` of them bounded by `curve`, for each `(curve, copies)`.
    #[staticmethod]
    #[pyo3(signature = (stages))]
    fn stages(py: Python<'_>, stages: Vec<(Bound<'_, Self>, u32)>) -> PyResult<Self> {
        let each = stages.into_iter().map(|(curve, copies)| (curve.get().0.clone(), copies)).collect();
        kernel(py, curve::Stages::new(each)).map(|stages| Self(stages.into()))
    }

    /// Supremum over all probabilities and all numbers of entries of a count that is published only if at
    /// least `first` entries have the property and `second` have not; `known` other entries are known.
    #[staticmethod]
    #[pyo3(signature = (*, first, second, known, pair=None))]
    fn gated_supremum(
        py: Python<'_>,
        first: u64,
        second: u64,
        known: u64,
        pair: Option<(i64, i64)>,
    ) -> PyResult<Self> {
        let form = kernel(py, GatedSupremum::new(first, second, known))?;
        Ok(Self::in_directions(direction(py, pair)?, |direction| Kernel::from(Directed(form, direction))))
    }

    /// Upper bound, over all probabilities, for the count of a sample of `size` entries that is published
    /// only from `least` to `most`. The adversary knows `known` of the other entries of `population`. The
    /// bound takes the worst values of the known entries in the sample, and the mean over their number.
    #[staticmethod]
    #[pyo3(signature = (*, population, known, size, least, most, pair=None))]
    fn gated_count(
        population: &Bound<'_, PyAny>,
        known: &Bound<'_, PyAny>,
        size: &Bound<'_, PyAny>,
        least: u64,
        most: u64,
        pair: Option<(i64, i64)>,
    ) -> PyResult<Self> {
        let py = size.py();
        let entries = convert::count(population, "population", 1)?;
        let (known, sample) = (convert::count(known, "known", 0)?, convert::count(size, "size", 1)?);
        let family = kernel(py, CountFamily::gated(sample, least, most, direction(py, pair)?))?;
        if known == 0 {
            return kernel(py, family.of_size(sample)).map(Self);
        }
        kernel(py, MeanOverSizes::known_entries(entries, known, sample, family)).map(|mean| Self(mean.into()))
    }

    /// The count of a hidden sample of `size` entries. The sample holds the critical entry with probability
    /// `inclusion`.
    #[staticmethod]
    #[pyo3(signature = (*, size, p, inclusion, pair=None))]
    fn sampled_count(
        size: &Bound<'_, PyAny>,
        p: &Bound<'_, PyAny>,
        inclusion: &Bound<'_, PyAny>,
        pair: Option<(i64, i64)>,
    ) -> PyResult<Self> {
        let entries = convert::count(size, "size", 1)?;
        let inclusion = convert::rational(inclusion, "inclusion")?;
        kernel(size.py(), family(p, p, pair)?.sampled(entries, &inclusion)).map(Self)
    }

    /// Definition 3.3 for Example 1: the mean over the number of known entries in a sample of `size`. With
    /// `thresholds`, the upper bound with that many thresholds.
    #[staticmethod]
    #[pyo3(signature = (*, population, known, size, lower, upper, pair=None, thresholds=None))]
    fn known_entries(
        population: &Bound<'_, PyAny>,
        known: &Bound<'_, PyAny>,
        size: &Bound<'_, PyAny>,
        lower: &Bound<'_, PyAny>,
        upper: &Bound<'_, PyAny>,
        pair: Option<(i64, i64)>,
        thresholds: Option<u64>,
    ) -> PyResult<Self> {
        let entries = convert::count(population, "population", 1)?;
        let (known, sample) = (convert::count(known, "known", 0)?, convert::count(size, "size", 1)?);
        let family = family(lower, upper, pair)?;
        let mean = kernel(size.py(), MeanOverSizes::known_entries(entries, known, sample, family))?;
        Ok(Self::with_thresholds(mean, thresholds))
    }

    /// The mean over the number of irrelevant entries. Of the `size` entries, `others` besides the critical
    /// one are independently irrelevant with probability `irrelevant`. With `thresholds`, the upper bound
    /// with that many thresholds.
    #[staticmethod]
    #[pyo3(signature = (*, size, others, irrelevant, lower, upper, pair=None, thresholds=None))]
    fn irrelevant_entries(
        size: &Bound<'_, PyAny>,
        others: &Bound<'_, PyAny>,
        irrelevant: &Bound<'_, PyAny>,
        lower: &Bound<'_, PyAny>,
        upper: &Bound<'_, PyAny>,
        pair: Option<(i64, i64)>,
        thresholds: Option<u64>,
    ) -> PyResult<Self> {
        let (entries, others) = (convert::count(size, "size", 1)?, convert::count(others, "others", 0)?);
        let (share, family) = (convert::rational(irrelevant, "irrelevant")?, family(lower, upper, pair)?);
        let mean = kernel(size.py(), MeanOverSizes::irrelevant_entries(entries, others, &share, family))?;
        Ok(Self::with_thresholds(mean, thresholds))
    }

    /// The histogram of `size` entries. `pair` is a pair of cells, counted from 0, or None for the maximum
    /// over all ordered pairs.
    #[staticmethod]
    #[pyo3(signature = (*, size, cells, pair=None))]
    fn histogram(
        size: &Bound<'_, PyAny>,
        cells: Vec<Bound<'_, PyAny>>,
        pair: Option<(i64, i64)>,
    ) -> PyResult<Self> {
        let py = size.py();
        let (entries, cells) = (convert::count(size, "size", 1)?, probabilities(&cells)?);
        kernel(py, curve::histogram(entries, &cells, indices(py, pair)?)).map(Self)
    }

    /// The histogram of a hidden sample of `size` of `population` entries, drawn without replacement. `pair`
    /// is as in `histogram`.
    #[staticmethod]
    #[pyo3(signature = (*, population, size, cells, pair=None))]
    fn sampled_histogram(
        population: &Bound<'_, PyAny>,
        size: &Bound<'_, PyAny>,
        cells: Vec<Bound<'_, PyAny>>,
        pair: Option<(i64, i64)>,
    ) -> PyResult<Self> {
        let py = size.py();
        let entries = convert::count(population, "population", 1)?;
        let (sample, cells) = (convert::count(size, "size", 1)?, probabilities(&cells)?);
        kernel(py, curve::sampled_histogram(entries, sample, &cells, indices(py, pair)?)).map(Self)
    }

    /// The count of a hidden Poisson sample with published size. The sample takes each of `population`
    /// entries with probability `rate`.
    #[staticmethod]
    #[pyo3(signature = (*, population, rate, p, pair=None))]
    fn poisson_published(
        population: &Bound<'_, PyAny>,
        rate: &Bound<'_, PyAny>,
        p: &Bound<'_, PyAny>,
        pair: Option<(i64, i64)>,
    ) -> PyResult<Self> {
        let py = population.py();
        let entries = convert::count(population, "population", 1)?;
        let (rate, p) = (convert::rational(rate, "rate")?, convert::rational(p, "p")?);
        kernel(py, curve::poisson_published(entries, &rate, &p, direction(py, pair)?)).map(Self)
    }

    /// The count of a property among the critical entry and groups of others. Group `i` has `others[i]`
    /// entries with probability `probabilities[i]`.
    #[staticmethod]
    #[pyo3(signature = (*, others, probabilities, pair=None))]
    fn grouped_count(
        py: Python<'_>,
        others: Vec<u64>,
        probabilities: Vec<Bound<'_, PyAny>>,
        pair: Option<(i64, i64)>,
    ) -> PyResult<Self> {
        let p = probabilities.iter().map(|p| convert::rational(p, "p")).collect::<PyResult<Vec<_>>>()?;
        let laws = kernel(py, GroupedCount::new(others.into_iter().zip(p).collect()))?;
        Ok(Self::in_directions(direction(py, pair)?, |direction| {
            Kernel::from(Directed(laws.clone(), direction))
        }))
    }

    /// The count of a property among the critical entry and `draws` others, which are drawn without
    /// replacement from groups and from `irrelevant` entries. Group `i` has `others[i]` entries with
    /// probability `probabilities[i]`. The mean over the numbers that are drawn of each group.
    #[staticmethod]
    #[pyo3(signature = (*, others, probabilities, irrelevant, draws, pair=None))]
    fn drawn_groups(
        py: Python<'_>,
        others: Vec<u64>,
        probabilities: Vec<Bound<'_, PyAny>>,
        irrelevant: u64,
        draws: u64,
        pair: Option<(i64, i64)>,
    ) -> PyResult<Self> {
        let p = probabilities.iter().map(|p| convert::rational(p, "p")).collect::<PyResult<Vec<_>>>()?;
        let groups: Vec<_> = others.into_iter().zip(p).collect();
        let mean = DrawnGroups::new(&groups, irrelevant, draws, direction(py, pair)?);
        Ok(Self(Kernel::from(kernel(py, mean)?)))
    }

    /// The count of a property among groups of entries. Group `i` has `counts[i]` entries with probability
    /// `probabilities[i]`. The critical entry is the worst of all entries.
    #[staticmethod]
    #[pyo3(signature = (*, counts, probabilities, pair=None))]
    fn varied_count(
        py: Python<'_>,
        counts: Vec<u64>,
        probabilities: Vec<Bound<'_, PyAny>>,
        pair: Option<(i64, i64)>,
    ) -> PyResult<Self> {
        let p = probabilities.iter().map(|p| convert::rational(p, "p")).collect::<PyResult<Vec<_>>>()?;
        let laws = kernel(py, VariedCount::new(counts.into_iter().zip(p).collect()))?;
        Ok(Self::in_directions(direction(py, pair)?, |direction| {
            Kernel::from(Directed(laws.clone(), direction))
        }))
    }

    /// The count of a property that each of `others` other entries has with a probability of its own in
    /// `[lower, upper]`, against the same count `gap` higher: the supremum over all their probabilities. With `rough`, of
    /// many entries brackets of about two per cent.
    #[staticmethod]
    #[pyo3(signature = (*, others, lower, upper, gap=1, pair=None, rough=false))]
    fn each_in_range(
        py: Python<'_>,
        others: u64,
        lower: &Bound<'_, PyAny>,
        upper: &Bound<'_, PyAny>,
        gap: u64,
        pair: Option<(i64, i64)>,
        rough: bool,
    ) -> PyResult<Self> {
        let ends = (convert::rational(lower, "lower")?, convert::rational(upper, "upper")?);
        let laws = kernel(py, EachInRange::new(others, gap, &ends.0, &ends.1))?;
        let laws = if rough { laws.roughly() } else { laws };
        // With the zeros counted instead of the ones, the range is its mirror image: if that is the same, so are both directions.
        let mirrored = ends.0.add(&ends.1) == Rational::from(1i64);
        let directions = direction(py, pair)?.or(mirrored.then_some(Direction::OneAgainstZero));
        Ok(Self::in_directions(directions, |direction| Kernel::from(Directed(laws.clone(), direction))))
    }

    /// The count of a hidden sample of `size` of `population` entries, drawn without replacement. The
    /// adversary knows `known` entries, and their values are the worst possible.
    #[staticmethod]
    #[pyo3(signature = (*, population, known, size, p, pair=None))]
    fn known_in_sample(
        population: &Bound<'_, PyAny>,
        known: &Bound<'_, PyAny>,
        size: &Bound<'_, PyAny>,
        p: &Bound<'_, PyAny>,
        pair: Option<(i64, i64)>,
    ) -> PyResult<Self> {
        let py = size.py();
        let entries = convert::count(population, "population", 1)?;
        let (known, sample) = (convert::count(known, "known", 0)?, convert::count(size, "size", 1)?);
        let laws = kernel(py, KnownInSample::new(entries, known, sample, &convert::rational(p, "p")?))?;
        Ok(Self::in_directions(direction(py, pair)?, |direction| {
            Kernel::from(Directed(laws.clone(), direction))
        }))
    }

    /// `Δ_{v,w}` of the laws `P_v` and `P_w` of an answer.
    #[staticmethod]
    fn answers(first: PyRef<'_, Law>, second: PyRef<'_, Law>) -> Self {
        Self(Kernel::from(Answers::new(first.0.clone(), second.0.clone())))
    }

    /// `Δ_{v,w}` of an answer plus continuous noise. Exactly one of the two noise parameters is given, in
    /// units of the integer answers.
    #[staticmethod]
    #[pyo3(signature = (first, second, *, laplace_scale=None, gaussian_sigma=None))]
    fn smoothed(
        py: Python<'_>,
        first: PyRef<'_, Law>,
        second: PyRef<'_, Law>,
        laplace_scale: Option<Bound<'_, PyAny>>,
        gaussian_sigma: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let noise = match (laplace_scale, gaussian_sigma) {
            (Some(scale), None) => {
                ContinuousNoise::Laplace { scale: convert::rational(&scale, "laplace_scale")? }
            }
            (None, Some(sigma)) => {
                ContinuousNoise::Gaussian { sigma: convert::rational(&sigma, "gaussian_sigma")? }
            }
            _ => return Err(errors::argument(py, "either laplace_scale or gaussian_sigma is required")),
        };
        let answers = Answers::new(first.0.clone(), second.0.clone());
        kernel(py, Smoothed::new(answers, noise)).map(|laws| Self(Kernel::from(laws)))
    }

    /// An adaptive composition over a secret partition. A node is a list of the queries that may be asked
    /// there.
    ///
    /// A query is `(weight, first, second, reference, next)`. `weight` is the probability that its part holds
    /// the critical entry. `first` and `second` are the laws of the answer if it does, under `v` and under
    /// `w`, and `reference` is the law if it does not. `next` lists `(first, last, node)`: after an answer
    /// from `first` to `last`, the analyst goes on at the node with that index.
    #[staticmethod]
    fn adaptive(py: Python<'_>, nodes: Vec<Vec<AskedQuery<'_>>>) -> PyResult<Self> {
        let asked = |(weight, first, second, reference, next): AskedQuery<'_>| {
            Ok(Asked {
                weight: convert::rational(&weight, "weight")?,
                laws: [first.0.clone(), second.0.clone()],
                reference: reference.0.clone(),
                next: next.into_iter().map(|(first, last, node)| Next { first, last, node }).collect(),
            })
        };
        let node =
            |queries: Vec<AskedQuery<'_>>| queries.into_iter().map(asked).collect::<PyResult<Vec<_>>>();
        let nodes = nodes.into_iter().map(node).collect::<PyResult<_>>()?;
        kernel(py, Adaptive::new(nodes)).map(|strategy| Self(Kernel::from(strategy)))
    }

    /// Amplification by sampling: `rate · Δ(ln(1 + (e^ε − 1)/rate))`. The sample holds the critical entry
    /// with probability `rate`, and `Δ` is `curve`, the curve of the answer given that it does.
    #[staticmethod]
    fn amplified(rate: &Bound<'_, PyAny>, curve: PyRef<'_, Self>) -> PyResult<Self> {
        let exact = convert::rational(rate, "rate")?;
        kernel(rate.py(), Kernel::amplified(exact, curve.0.clone())).map(Self)
    }

    /// A bound for entries that differ in several attributes, which are changed one after the other. `curves`
    /// bound the change of one attribute each, in both directions, and `counts` says how many attributes have
    /// that curve. `guides` are curves of about the same size that cost less: the search for the best split
    /// of ε looks at them.
    #[staticmethod]
    #[pyo3(signature = (*, curves, guides, counts))]
    fn in_turn(
        py: Python<'_>,
        curves: Vec<PyRef<'_, Self>>,
        guides: Vec<PyRef<'_, Self>>,
        counts: Vec<u64>,
    ) -> PyResult<Self> {
        if curves.len() != guides.len() || curves.len() != counts.len() {
            return Err(errors::argument(py, "as many guides and counts as curves are required"));
        }
        let kind = |((curve, guide), count): ((&PyRef<'_, Self>, &PyRef<'_, Self>), u64)| Kind {
            curve: curve.0.clone(),
            guide: guide.0.clone(),
            count,
        };
        let kinds = curves.iter().zip(&guides).zip(counts).map(kind).collect();
        kernel(py, InTurn::new(kinds)).map(|attributes| Self(Kernel::from(attributes)))
    }

    /// `curve(ε) + slope (e^ε − 1)` up to the ε `until`, and the value there beyond it.
    #[staticmethod]
    #[pyo3(signature = (curve, *, slope, until))]
    fn loosened(
        py: Python<'_>,
        curve: PyRef<'_, Self>,
        slope: &Bound<'_, PyAny>,
        until: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let (slope, until) = (convert::rational(slope, "slope")?, convert::rational(until, "until")?);
        kernel(py, Loosened::new(curve.0.clone(), &slope, &until)).map(|bound| Self(Kernel::from(bound)))
    }

    /// `Σ weight · curve`. The weights are at least 0 and sum to at most 1.
    #[staticmethod]
    fn mean(py: Python<'_>, weights: Vec<Bound<'_, PyAny>>, curves: Vec<PyRef<'_, Self>>) -> PyResult<Self> {
        if weights.len() != curves.len() {
            return Err(errors::argument(py, "as many weights as curves are required"));
        }
        let parts = weights
            .iter()
            .zip(&curves)
            .map(|(weight, curve)| Ok((Weight::from(convert::rational(weight, "weight")?), curve.0.clone())));
        Ok(Self(Kernel::Mean(parts.collect::<PyResult<_>>()?)))
    }

    /// The composition of answers on the parts of a secret partition. With probability `unused`, no part
    /// holds the critical entry. `attributes` holds, for each kind of attribute, the number of such
    /// attributes and the parts for each pair of values. With `bound`, the curve is only the upper bound over
    /// all patterns, in convex order.
    #[staticmethod]
    #[pyo3(signature = (*, unused, attributes, bound=false))]
    fn composed(
        py: Python<'_>,
        unused: &Bound<'_, PyAny>,
        attributes: Vec<(u64, Vec<Vec<PyRef<'_, Part>>>)>,
        bound: bool,
    ) -> PyResult<Self> {
        let parts = |choice: &Vec<PyRef<'_, Part>>| choice.iter().map(|part| part.0.clone()).collect();
        let attributes = attributes.iter().map(|(count, choices)| Attributes {
            count: *count,
            choices: choices.iter().map(parts).collect(),
        });
        let composition = Composition::new(convert::rational(unused, "unused")?, attributes.collect());
        kernel(py, composition).map(|parts| {
            let end = (bound || parts.has_ranges()).then_some(End::Dominating);
            Self(Kernel::from(Composed::new(Arc::new(parts), end)))
        })
    }

    /// Whether the enclosures of δ are brackets: an attained value and an upper bound, which need not be
    /// close.
    #[getter]
    fn is_bracket(&self) -> bool {
        self.0.is_bracket()
    }

    /// The worst pattern of a composition at ε, or the worst one found. For each kind of attribute, it gives
    /// the number of attributes with each pair of values. None for other curves.
    fn pattern(&self, py: Python<'_>, epsilon: &Bound<'_, PyAny>) -> PyResult<Option<Vec<Vec<u64>>>> {
        let epsilon = convert::rational(epsilon, "epsilon")?;
        door::run(py, self.0.terms(), |run| self.0.worst_pairs(&epsilon, run))
    }

    /// The pointwise maximum.
    #[staticmethod]
    fn maximum(curves: Vec<PyRef<'_, Self>>) -> Self {
        Self(Kernel::Max(curves.iter().map(|curve| curve.0.clone()).collect()))
    }

    /// The pointwise minimum.
    #[staticmethod]
    fn minimum(curves: Vec<PyRef<'_, Self>>) -> Self {
        Self(Kernel::Min(curves.iter().map(|curve| curve.0.clone()).collect()))
    }

    /// δ(ε).
    fn delta(&self, py: Python<'_>, epsilon: &Bound<'_, PyAny>) -> PyResult<Enclosure> {
        if let Ok(double) = epsilon.cast_exact::<PyFloat>()
            && double.value() >= 0.0
            && double.value().is_finite()
        {
            let epsilon = double.value();
            return door::run(py, self.0.terms(), |run| self.0.delta_at(epsilon, run)).map(Enclosure);
        }
        let exact = convert::not_negative(epsilon, "epsilon")?;
        door::run(py, self.0.terms(), |interrupt| self.0.delta(&exact, interrupt)).map(Enclosure)
    }

    /// ε(δ): the least ε ≥ 0 with δ(ε) ≤ δ, or infinity if there is none.
    fn epsilon(&self, py: Python<'_>, delta: &Bound<'_, PyAny>) -> PyResult<Enclosure> {
        let exact = convert::not_negative(delta, "delta")?;
        let terms = 50.0 * self.0.terms();
        door::run(py, terms, |interrupt| inverse::epsilon(&self.0, &exact, interrupt)).map(Enclosure)
    }

    /// About how many terms of a sum one δ costs, of which a million take some ten milliseconds.
    #[getter]
    fn terms(&self) -> f64 {
        self.0.terms()
    }

    /// The limit of δ(ε) for ε → ∞.
    fn mass_at_infinity(&self, py: Python<'_>) -> PyResult<Enclosure> {
        door::run(py, self.0.terms(), |interrupt| self.0.infinity_mass(interrupt)).map(Enclosure)
    }
}
