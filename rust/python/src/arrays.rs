//! Array functions: they take arrays of doubles and return the ends of the enclosures as one array.
//! No Python object is made per entry.

use crate::convert;
use crate::curve::{Curve, family};
use crate::door::{self, Pieces};
use crate::errors;
use crate::laws::{self, Chance, Quantity};
use numpy::{Element, PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use statpriv_core::error::Error;
use statpriv_core::forms::Epsilon;
use statpriv_core::interrupt::Interrupt;
use statpriv_core::inverse;
use statpriv_core::laws::{self as kernel, Hypergeometric};
use statpriv_core::numbers::enclosure::Enclosure;
use statpriv_core::numbers::rational::Rational;

/// An array whose last axis holds the lower and the upper end.
type Ends<'py> = Bound<'py, PyArrayDyn<f64>>;

const LARGEST_INTEGER: f64 = (1u64 << 53) as f64;
/// Most neighbouring ε that are evaluated together, because they share work.
const SHARED_EPSILONS: usize = 256;
/// Work of more terms than this (about 1 ms) is no longer evaluated together: another processor gains more than a
/// neighbour does.
const HEAVY: f64 = 1e5;
/// Entries between two polls of the cancellation hook. Long work at a single entry polls by itself.
const PLACES_PER_CHECK: usize = 64;
/// Approximate cost of one operation on two enclosures, in terms.
const LIGHT: f64 = 1.0;

/// One of several array arguments that are broadcast together.
struct Argument<'a, T = f64> {
    name: &'static str,
    /// In C order.
    values: &'a [T],
    shape: &'a [usize],
}

impl<'a, T: Element> Argument<'a, T> {
    fn new(name: &'static str, array: &'a PyReadonlyArrayDyn<'_, T>) -> PyResult<Self> {
        let values = array.as_slice().map_err(|_| {
            errors::argument(array.py(), format!("{name} is no contiguous array; one in C order is required"))
        })?;
        Ok(Self { name, values, shape: array.shape() })
    }

    /// The name of an entry in error messages, such as `p[2, 5]`.
    fn entry(&self, place: usize) -> String {
        format!("{}{}", self.name, index(place, self.shape))
    }

    /// Refuses an array that does not broadcast to the shape of the result.
    fn check_shape(&self, py: Python<'_>, result: &[usize]) -> PyResult<()> {
        let fits = |(&own, &all): (&usize, &usize)| own == all || own == 1;
        if self.shape.len() <= result.len() && self.shape.iter().rev().zip(result.iter().rev()).all(fits) {
            return Ok(());
        }
        let message =
            format!("{} has the shape {:?}, which is not broadcast to {result:?}", self.name, self.shape);
        Err(errors::argument(py, message))
    }
}

/// The number of entries of an array of this shape. The product saturates, so a count too large for an
/// integer becomes one too large for any memory.
fn size(shape: &[usize]) -> usize {
    if shape.contains(&0) {
        0
    } else {
        shape.iter().fold(1, |size: usize, &length| size.saturating_mul(length))
    }
}

/// The index of the entry found at `place` of the result after numpy's broadcast of shape `own` to shape
/// `result`. Indices are flat, in C order.
fn source(mut place: usize, own: &[usize], result: &[usize]) -> usize {
    if own == result {
        return place;
    }
    let (mut entry, mut step) = (0, 1);
    for (&here, &length) in own.iter().rev().zip(result.iter().rev()) {
        if here != 1 {
            entry += place % length * step;
        }
        place /= length;
        step *= here;
    }
    entry
}

impl Argument<'_> {
    /// Refuses an array with an entry that is not `allowed`. The message names the first such entry by its
    /// index.
    fn check(&self, py: Python<'_>, allowed: impl Fn(f64) -> bool, required: &str) -> PyResult<()> {
        let Some(place) = self.values.iter().position(|&x| !allowed(x)) else { return Ok(()) };
        let (entry, value) = (self.entry(place), shown(self.values[place]));
        Err(errors::argument(py, format!("{entry} = {value}; {required} is required")))
    }

    fn check_count(&self, py: Python<'_>, result: &[usize]) -> PyResult<()> {
        self.check_shape(py, result)?;
        let allowed = |x: f64| x.fract() == 0.0 && (0.0..=LARGEST_INTEGER).contains(&x);
        self.check(py, allowed, "an integer from 0 to 2^53")
    }

    fn check_signed(&self, py: Python<'_>, result: &[usize]) -> PyResult<()> {
        self.check_shape(py, result)?;
        let allowed = |x: f64| x.fract() == 0.0 && x.abs() <= LARGEST_INTEGER;
        self.check(py, allowed, "an integer of size up to 2^53")
    }

    fn at(&self, place: usize, result: &[usize]) -> f64 {
        self.values[source(place, self.shape, result)]
    }
}

/// The index of a place as text, such as `[2, 5]`. Empty for a single number.
fn index(mut place: usize, shape: &[usize]) -> String {
    if shape.is_empty() {
        return String::new();
    }
    let mut index: Vec<String> = Vec::with_capacity(shape.len());
    for &length in shape.iter().rev() {
        index.push((place % length).to_string());
        place /= length;
    }
    index.reverse();
    format!("[{}]", index.join(", "))
}

/// A double in Python's notation, with integers written without a decimal point.
fn shown(x: f64) -> String {
    match x {
        _ if x.is_nan() => "nan".to_owned(),
        _ if x.fract() == 0.0 && x.abs() < 1e16 => format!("{x:.0}"),
        _ => format!("{x:?}"),
    }
}

fn ends<'py>(py: Python<'py>, values: Vec<[f64; 2]>, shape: &[usize]) -> PyResult<Ends<'py>> {
    let shape: Vec<usize> = shape.iter().copied().chain([2]).collect();
    PyArray1::from_vec(py, values.into_flattened()).reshape(shape)
}

fn both(value: Enclosure) -> [f64; 2] {
    [value.lower(), value.upper()]
}

/// The error with the index at which it arose added to its message.
fn located(error: Error, place: usize, shape: &[usize]) -> Error {
    match error {
        Error::Argument(why) => Error::Argument(format!("at {}: {why}", index(place, shape))),
        Error::Precision(why) => Error::Precision(format!("at {}: {why}", index(place, shape))),
        Error::Interrupted => Error::Interrupted,
    }
}

/// Evaluates `one` at every place of the result.
fn each<'py>(
    py: Python<'py>,
    shape: &[usize],
    pieces: &Pieces,
    on_done: Option<Py<PyAny>>,
    one: impl Fn(usize, &dyn Interrupt) -> Result<Enclosure, Error> + Sync + Send,
) -> PyResult<Ends<'py>> {
    let values = door::spread(py, pieces, [0.0; 2], on_done, |start, run, interrupt| {
        for (place, value) in (start..).zip(run) {
            if place.is_multiple_of(PLACES_PER_CHECK) {
                interrupt.check()?;
            }
            *value = both(one(place, interrupt).map_err(|error| located(error, place, shape))?);
        }
        Ok(())
    })?;
    ends(py, values, shape)
}

/// δ(ε) for each ε of an array. `on_done` is told now and then how many are found, and of how many.
#[pyfunction]
#[pyo3(signature = (curve, epsilon, on_done=None))]
pub fn delta_array<'py>(
    curve: &Curve,
    epsilon: PyReadonlyArrayDyn<'py, f64>,
    on_done: Option<Py<PyAny>>,
) -> PyResult<Ends<'py>> {
    let py = epsilon.py();
    let epsilons = Argument::new("epsilon", &epsilon)?;
    epsilons.check(py, |x| x >= 0.0 && x.is_finite(), "a finite number of at least 0")?;
    let terms = curve.0.terms();
    let together = ((HEAVY / terms) as usize).clamp(1, SHARED_EPSILONS);
    let pieces = Pieces { count: epsilons.values.len(), terms, together };
    let values = door::spread(py, &pieces, [0.0; 2], on_done, |start, run, interrupt| {
        let deltas = curve.0.deltas(&epsilons.values[start..start + run.len()], interrupt)?;
        for (value, delta) in run.iter_mut().zip(deltas) {
            *value = both(delta);
        }
        Ok(())
    })?;
    ends(py, values, epsilons.shape)
}

/// δ(ε) for each ε of an array, to about the relative width `width` where that takes less work than full
/// accuracy.
#[pyfunction]
#[pyo3(signature = (curve, epsilon, width, on_done=None))]
pub fn rough_delta_array<'py>(
    curve: &Curve,
    epsilon: PyReadonlyArrayDyn<'py, f64>,
    width: f64,
    on_done: Option<Py<PyAny>>,
) -> PyResult<Ends<'py>> {
    if !curve.0.has_rough_values() {
        return delta_array(curve, epsilon, on_done);
    }
    let py = epsilon.py();
    let epsilons = Argument::new("epsilon", &epsilon)?;
    let required = "a finite number of at least 0";
    epsilons.check(py, |x| x >= 0.0 && x.is_finite(), required)?;
    let pieces = Pieces { count: epsilons.values.len(), terms: curve.0.terms(), together: 1 };
    each(py, epsilons.shape, &pieces, on_done, |place, interrupt| {
        let epsilon = Epsilon::from_f64(epsilons.values[place]).ok_or_else(|| Error::argument(required))?;
        Ok(curve.0.within(width, &epsilon, interrupt)?.to_enclosure().clamp(0.0, 1.0))
    })
}

/// ε(δ) for each δ of an array. `on_done` is as for `delta_array`.
#[pyfunction]
#[pyo3(signature = (curve, delta, on_done=None))]
pub fn epsilon_array<'py>(
    curve: &Curve,
    delta: PyReadonlyArrayDyn<'py, f64>,
    on_done: Option<Py<PyAny>>,
) -> PyResult<Ends<'py>> {
    let py = delta.py();
    let deltas = Argument::new("delta", &delta)?;
    deltas.check(py, |x| x >= 0.0 && x.is_finite(), "a finite number of at least 0")?;
    let pieces = Pieces { count: deltas.values.len(), terms: 50.0 * curve.0.terms(), together: 1 };
    each(py, deltas.shape, &pieces, on_done, |place, interrupt| {
        inverse::epsilon(&curve.0, &Rational::from_f64(deltas.values[place])?, interrupt)
    })
}

/// An array of probabilities from Python.
#[derive(FromPyObject)]
pub enum Probabilities<'py> {
    /// Doubles. Each is the rational that it stores.
    Doubles(PyReadonlyArrayDyn<'py, f64>),
    /// Python objects: fractions, decimals, strings and so on.
    Exact(PyReadonlyArrayDyn<'py, Py<PyAny>>),
}

/// A prepared probability takes about as much memory as ten results, so it must be used at least this often.
const PLACES_WORTH_PREPARING: usize = 10;
/// Approximate cost of preparing a probability, in terms.
const PREPARATION: f64 = 200.0;
const PROBABILITY: &str = "a probability from 0 to 1";

/// The probabilities of a law. They are prepared in advance if each is used at many places of the result.
enum Chances<'a> {
    Prepared(Vec<Chance>),
    Doubles(&'a [f64]),
}

impl<'a> Chances<'a> {
    fn from_doubles(py: Python<'_>, p: &Argument<'a>, places: usize) -> PyResult<Self> {
        p.check(py, |x| (0.0..=1.0).contains(&x), PROBABILITY)?;
        let count = p.values.len();
        if count != 1 && count > places / PLACES_WORTH_PREPARING {
            return Ok(Self::Doubles(p.values));
        }
        let pieces = Pieces { count, terms: PREPARATION, together: 1 };
        let prepared = door::spread(py, &pieces, Chance::Never, None, |start, run, interrupt| {
            for (prepared, &p) in run.iter_mut().zip(&p.values[start..]) {
                interrupt.check()?;
                *prepared = chance(p)?;
            }
            Ok(())
        })?;
        Ok(Self::Prepared(prepared))
    }

    fn from_objects(py: Python<'_>, p: &Argument<'a, Py<PyAny>>) -> PyResult<Self> {
        let prepare = |(place, value): (usize, &Py<PyAny>)| {
            let (entry, value) = (p.entry(place), value.bind(py));
            Chance::new(&convert::rational(value, &entry)?).ok_or_else(|| {
                let shown = convert::shown(value);
                errors::argument(py, format!("{entry} = {shown}; {PROBABILITY} is required"))
            })
        };
        Ok(Self::Prepared(p.values.iter().enumerate().map(prepare).collect::<PyResult<_>>()?))
    }
}

fn chance(p: f64) -> Result<Chance, Error> {
    Chance::from_f64(p).ok_or_else(|| Error::argument(format!("p = {p:?}; {PROBABILITY} is required")))
}

/// `"log_pmf"`, `"pmf"`, `"upper_tail"` or `"lower_tail"` of Bin(n, p) at k, broadcast to `shape`.
#[pyfunction]
#[pyo3(signature = (quantity, k, *, n, p, shape))]
pub fn binomial_array<'py>(
    quantity: &str,
    k: PyReadonlyArrayDyn<'py, f64>,
    n: PyReadonlyArrayDyn<'py, f64>,
    p: Probabilities<'py>,
    shape: Vec<usize>,
) -> PyResult<Ends<'py>> {
    let (py, count) = (k.py(), size(&shape));
    let quantity = Quantity::named(py, quantity)?;
    let (k, n) = (Argument::new("k", &k)?, Argument::new("n", &n)?);
    k.check_signed(py, &shape)?;
    n.check_count(py, &shape)?;
    let (chances, own) = match &p {
        Probabilities::Doubles(p) => {
            let p = Argument::new("p", p)?;
            p.check_shape(py, &shape)?;
            (Chances::from_doubles(py, &p, count)?, p.shape)
        }
        Probabilities::Exact(p) => {
            let p = Argument::new("p", p)?;
            p.check_shape(py, &shape)?;
            (Chances::from_objects(py, &p)?, p.shape)
        }
    };
    let pieces = Pieces { count, terms: laws::terms(quantity), together: 1 };
    each(py, &shape, &pieces, None, |place, interrupt| {
        let (k, n, entry) =
            (k.at(place, &shape) as i64, n.at(place, &shape) as u64, source(place, own, &shape));
        match &chances {
            Chances::Prepared(chances) => laws::binomial(quantity, k, n, &chances[entry], interrupt),
            Chances::Doubles(values) => laws::binomial(quantity, k, n, &chance(values[entry])?, interrupt),
        }
    })
}

/// `"log_pmf"`, `"pmf"`, `"upper_tail"` or `"lower_tail"` of a hypergeometric law at k, broadcast to `shape`.
#[pyfunction]
#[pyo3(signature = (quantity, k, *, population, marked, draws, shape))]
pub fn hypergeometric_array<'py>(
    quantity: &str,
    k: PyReadonlyArrayDyn<'py, f64>,
    population: PyReadonlyArrayDyn<'py, f64>,
    marked: PyReadonlyArrayDyn<'py, f64>,
    draws: PyReadonlyArrayDyn<'py, f64>,
    shape: Vec<usize>,
) -> PyResult<Ends<'py>> {
    let (py, count) = (k.py(), size(&shape));
    let quantity = Quantity::named(py, quantity)?;
    let (k, population) = (Argument::new("k", &k)?, Argument::new("population", &population)?);
    let (marked, draws) = (Argument::new("marked", &marked)?, Argument::new("draws", &draws)?);
    k.check_signed(py, &shape)?;
    for argument in [&population, &marked, &draws] {
        argument.check_count(py, &shape)?;
    }
    let pieces = Pieces { count, terms: laws::terms(quantity), together: 1 };
    each(py, &shape, &pieces, None, |place, interrupt| {
        let count = |argument: &Argument<'_>| argument.at(place, &shape) as u64;
        let law = Hypergeometric::new(count(&population), count(&marked), count(&draws))?;
        laws::hypergeometric(quantity, k.at(place, &shape) as i64, &law, interrupt)
    })
}

/// The lower ends and the upper ends of the probabilities of all values of a law.
type Row<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// Computes the probabilities of all values of a law. The work estimate is one term per value.
fn row(
    py: Python<'_>,
    values: u64,
    probabilities: impl FnOnce(&dyn Interrupt) -> Result<(Vec<f64>, Vec<f64>), Error> + Send,
) -> PyResult<Row<'_>> {
    let (lower, upper) = door::run(py, values as f64, probabilities)?;
    Ok((PyArray1::from_vec(py, lower), PyArray1::from_vec(py, upper)))
}

/// P[Bin(n, p) = k] for k = 0, …, n.
#[pyfunction]
#[pyo3(signature = (*, n, p))]
pub fn binomial_pmf_row<'py>(n: &Bound<'py, PyAny>, p: &Bound<'py, PyAny>) -> PyResult<Row<'py>> {
    let (py, n, chance) = (n.py(), convert::count(n, "n", 0)?, laws::chance(p)?);
    row(py, n, |interrupt| {
        let certain = match chance {
            Chance::Between(at) => return kernel::binomial_pmf_row(n, &at, interrupt),
            Chance::Never => 0,
            Chance::Always => n,
        };
        let mut masses = vec![0.0; kernel::row_length(n + 1)?];
        masses[certain as usize] = 1.0;
        Ok((masses.clone(), masses))
    })
}

/// P[X = k] for the number X of marked items among `draws` from `population`, for every possible k in
/// increasing order.
#[pyfunction]
#[pyo3(signature = (*, population, marked, draws))]
pub fn hypergeometric_pmf_row<'py>(
    population: &Bound<'py, PyAny>,
    marked: &Bound<'py, PyAny>,
    draws: &Bound<'py, PyAny>,
) -> PyResult<Row<'py>> {
    let law = laws::draws_from(population, marked, draws)?;
    let values = law.greatest() - law.least() + 1;
    row(population.py(), values, |interrupt| kernel::hypergeometric_pmf_row(&law, interrupt))
}

/// Number of neighbouring sizes evaluated together, because they share work.
const SHARED_SIZES: usize = 1024;
/// Approximate cost of δ at one of many sizes, in terms. Most values are derived from that of a neighbouring
/// size.
const SIZE: f64 = 50.0;

/// δ(ε) of the count of a property for each number of entries of an array. The adversary knows `known`
/// entries.
#[pyfunction]
#[pyo3(signature = (sizes, epsilon, *, known, lower, upper, pair=None))]
pub fn delta_at_sizes<'py>(
    sizes: PyReadonlyArrayDyn<'py, f64>,
    epsilon: &Bound<'py, PyAny>,
    known: u64,
    lower: &Bound<'py, PyAny>,
    upper: &Bound<'py, PyAny>,
    pair: Option<(i64, i64)>,
) -> PyResult<Ends<'py>> {
    let py = sizes.py();
    let (family, epsilon) = (family(lower, upper, pair)?, convert::not_negative(epsilon, "epsilon")?);
    let all = Argument::new("sizes", &sizes)?;
    all.check(
        py,
        |x| x.fract() == 0.0 && x > known as f64 && x <= LARGEST_INTEGER,
        &format!("an integer from {} to 2^53", known + 1),
    )?;
    let unknown: Vec<u64> = all.values.iter().map(|&size| size as u64 - known).collect();
    let pieces = Pieces { count: unknown.len(), terms: SIZE, together: SHARED_SIZES };
    let values = door::spread(py, &pieces, [0.0; 2], None, |start, run, interrupt| {
        let deltas = family.deltas(&unknown[start..start + run.len()], &epsilon, interrupt)?;
        for (value, delta) in run.iter_mut().zip(deltas) {
            *value = both(delta);
        }
        Ok(())
    })?;
    ends(py, values, all.shape)
}

/// `+`, `-`, `*` or `/` of two arrays of enclosures, broadcast to `shape` and rounded outwards.
#[pyfunction]
pub fn combined_arrays<'py>(
    operation: &str,
    left: (PyReadonlyArrayDyn<'py, f64>, PyReadonlyArrayDyn<'py, f64>),
    right: (PyReadonlyArrayDyn<'py, f64>, PyReadonlyArrayDyn<'py, f64>),
    shape: Vec<usize>,
) -> PyResult<Ends<'py>> {
    let py = left.0.py();
    let combine: fn(Enclosure, Enclosure) -> Enclosure = match operation {
        "+" => |x, y| x + y,
        "-" => |x, y| x - y,
        "*" => |x, y| x * y,
        "/" => |x, y| x * y.reciprocal(),
        _ => {
            return Err(errors::argument(py, format!("operation = {operation:?}; +, -, * or / is required")));
        }
    };
    let arguments = [
        Argument::new("left", &left.0)?,
        Argument::new("left", &left.1)?,
        Argument::new("right", &right.0)?,
        Argument::new("right", &right.1)?,
    ];
    for argument in &arguments {
        argument.check_shape(py, &shape)?;
    }
    let pieces = Pieces { count: size(&shape), terms: LIGHT, together: 1 };
    each(py, &shape, &pieces, None, |place, _| {
        let [left_lower, left_upper, right_lower, right_upper] =
            arguments.each_ref().map(|argument| argument.at(place, &shape));
        Ok(combine(Enclosure::new(left_lower, left_upper)?, Enclosure::new(right_lower, right_upper)?))
    })
}

/// `upper - lower`, rounded up; 0 for `[inf, inf]`.
#[pyfunction]
pub fn width_array<'py>(
    lower: PyReadonlyArrayDyn<'py, f64>,
    upper: PyReadonlyArrayDyn<'py, f64>,
) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    let (py, low, high) = (lower.py(), Argument::new("lower", &lower)?, Argument::new("upper", &upper)?);
    if low.shape != high.shape {
        return Err(errors::argument(py, "lower and upper of one shape are required"));
    }
    let width = |(&low, &high): (&f64, &f64)| Enclosure::new(low, high).map(Enclosure::width);
    let widths = low.values.iter().zip(high.values).map(width).collect::<Result<Vec<_>, _>>();
    let widths = widths.map_err(|error| errors::from_kernel(py, &error))?;
    PyArray1::from_vec(py, widths).reshape(low.shape.to_vec())
}
