//! Probabilities of a law as balls, in a window.
//!
//! A row holds balls `c_k` for a window of answers, and a bound `m`. There are numbers `x_k` in the balls and `y_k ≥ 0` with
//! `Σ_k y_k ≤ m`, over all integers, for which `P[k] = x_k + y_k`, where `x_k = 0` outside the window. Sums, mixtures, relabellings and samples
//! of such laws are such laws again, of the same sums, mixtures, relabellings and samples of the `x`, and what is missing of them is at
//! most what is missing of their parts together.

use super::few_values::{self, FewValues};
use super::{Law, Recipe, Relabelling, sampling};
use crate::budget::{MAX_DIRECT_PRODUCTS, MAX_PRODUCTS_PER_PLACE};
use crate::convolve::pmf::OF_BALLS;
use crate::error::Error;
use crate::fourier::{BinomialGroup, Lattice, LatticeSum, Repeated};
use crate::interrupt::Interrupt;
use crate::laws::Probability;
pub(crate) use crate::laws::pmf::Pmf;
pub(super) use crate::laws::pmf::check_length;
use crate::numbers::ball::Ball;
use crate::numbers::rational::Rational;
use std::sync::Arc;

/// Terms of a row between two tests whether the rest can be left out.
const TERMS_PER_CHECK: usize = 8;
/// With more values than this to add up at each node of an inversion, more products are convolved directly.
const VALUES_AT_ONCE: f64 = 8.0;

impl Pmf {
    /// Adds `weight` times another row; what the weights do not sum to is missing elsewhere.
    pub fn add(&mut self, other: &Self, weight: Ball) -> Result<(), Error> {
        self.missing = self.missing + other.missing * weight;
        if other.masses.is_empty() {
            return Ok(());
        }
        cover(&mut self.first, &mut self.masses, Ball::ZERO, (other.first, other.last()))?;
        let start = other.first.abs_diff(self.first) as usize;
        for (sum, &mass) in self.masses.iter_mut().skip(start).zip(&other.masses) {
            *sum = *sum + mass * weight;
        }
        Ok(())
    }

    /// The law of a multiple other than zero.
    pub fn scaled(&self, by: i64) -> Result<Self, Error> {
        let ends = [self.first, self.last()].map(|end| end.saturating_mul(by));
        let (first, last) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        check_length(first, last)?;
        let mut masses = vec![Ball::ZERO; (last - first + 1).max(0) as usize];
        for (index, &mass) in self.masses.iter().enumerate() {
            let answer = (self.first + index as i64) * by;
            if let Some(entry) = masses.get_mut(answer.abs_diff(first) as usize) {
                *entry = mass;
            }
        }
        Ok(Self { first, masses, missing: self.missing })
    }

    fn relabelled(&self, relabelling: &Relabelling) -> Result<Self, Error> {
        let mut published = Self { missing: self.missing, ..Self::empty() };
        let labels = || (self.first..).take(self.masses.len()).map(|answer| relabelling.apply(answer));
        let (Some(first), Some(last)) = (labels().min(), labels().max()) else { return Ok(published) };
        cover(&mut published.first, &mut published.masses, Ball::ZERO, (first, last))?;
        for (label, &mass) in labels().zip(&self.masses) {
            if let Some(entry) = published.masses.get_mut(label.abs_diff(first) as usize) {
                *entry = *entry + mass;
            }
        }
        Ok(published)
    }
}

/// The first and the last answer of the windows of two rows.
///
/// # Errors
/// More answers than are written out.
pub(crate) fn common_window(rows: [&Pmf; 2]) -> Result<(i64, i64), Error> {
    let filled = rows.into_iter().filter(|row| !row.masses.is_empty());
    let first = filled.clone().map(|row| row.first).min().unwrap_or(0);
    let last = filled.map(Pmf::last).max().unwrap_or(-1);
    check_length(first, last)?;
    Ok((first, last))
}

/// Makes a window so large that it covers these answers too.
pub(super) fn cover<T: Copy>(
    start: &mut i64,
    masses: &mut Vec<T>,
    zero: T,
    (first, last): (i64, i64),
) -> Result<(), Error> {
    if masses.is_empty() {
        *start = first;
    }
    let (from, to) = (first.min(*start), last.max(*start + masses.len() as i64 - 1));
    check_length(from, to)?;
    masses.splice(0..0, std::iter::repeat_n(zero, start.abs_diff(from) as usize));
    *start = from;
    masses.resize((to.abs_diff(from) + 1) as usize, zero);
    Ok(())
}

/// `2^-bits`.
pub(crate) fn power(bits: u32) -> Ball {
    (Ball::ONE / Ball::from_u64(2)).powi(u64::from(bits))
}

/// What follows a term whose ratios to the next fall from `ratio` on, if that is at most `2^-bits`: `t r/(1 − r)`.
pub(super) fn tail_bound(term: Ball, ratio: Ball, bits: u32) -> Option<Ball> {
    let rest = Ball::ONE - ratio;
    let bound = term * ratio / rest;
    (rest.is_positive() && !power(bits).certainly_less(bound) && bound.relative_error().is_finite())
        .then_some(bound)
}

/// The masses of a law on `least..=greatest` whose ratios `P[k+1]/P[k]` fall, outwards from a mode.
pub(super) fn log_concave(
    (least, mode, greatest): (u64, u64, u64),
    at_mode: Ball,
    ratio_up: impl Fn(u64) -> Ball,
    left_out: Option<u32>,
) -> Result<Pmf, Error> {
    if left_out.is_none() {
        check_length(least as i64, greatest as i64)?;
    }
    let mut missing = Ball::ZERO;
    let mut side = |ratio_from: &dyn Fn(u64) -> Ball, steps: u64| -> Result<Vec<Ball>, Error> {
        let (mut masses, mut mass) = (Vec::new(), at_mode);
        for step in 0..steps {
            let ratio = ratio_from(step);
            if let Some(bits) = left_out
                && masses.len().is_multiple_of(TERMS_PER_CHECK)
                && let Some(rest) = tail_bound(mass, ratio, bits + 1)
            {
                missing = missing + rest;
                break;
            }
            mass = mass * ratio;
            masses.push(mass);
            check_length(0, masses.len() as i64)?;
        }
        Ok(masses)
    };
    let above = side(&|step| ratio_up(mode + step), greatest - mode)?;
    let below = side(&|step| Ball::ONE / ratio_up(mode - step - 1), mode - least)?;
    let first = (mode - below.len() as u64) as i64;
    let masses = below.into_iter().rev().chain([at_mode]).chain(above).collect();
    Ok(Pmf { first, masses, missing })
}

/// The row of a law, with at most about `2^-left_out` missing; complete for `None`.
///
/// # Errors
/// Too many answers; interruption.
pub(crate) fn row(law: &Law, left_out: Option<u32>, interrupt: &dyn Interrupt) -> Result<Arc<Pmf>, Error> {
    if let Some(row) = law.remembered(left_out) {
        return Ok(row);
    }
    let inner = |law: &Law| row(law, left_out, interrupt);
    let costly = matches!(
        law.recipe(),
        Recipe::Repeated { .. } | Recipe::Sum(_) | Recipe::Binomial { .. } | Recipe::Sampled(..)
    );
    let row = Arc::new(match law.recipe() {
        Recipe::Table { first, masses } => {
            let masses = masses.iter().map(Ball::from_rational).collect();
            Pmf { first: *first, masses, missing: Ball::ZERO }
        }
        Recipe::Binomial { trials, p } => sampling::binomial(*trials, p, left_out)?,
        Recipe::Repeated { .. } | Recipe::Sum(_) => sum(law, left_out, interrupt)?,
        Recipe::Mixture(parts) => {
            let mut mixture = Pmf::empty();
            for (weight, law) in parts {
                mixture.add(&*inner(law)?, Ball::from_rational(weight))?;
            }
            mixture
        }
        Recipe::Shifted(law, by) => {
            let row = inner(law)?;
            Pmf { first: row.first + by, ..Pmf::clone(&row) }
        }
        Recipe::Scaled(law, by) => inner(law)?.scaled(*by)?,
        Recipe::Sampled(law, sampling) => {
            let [sample] = sampling.push(&[inner(law)?], left_out, interrupt)?;
            sample
        }
        Recipe::Relabelled(law, relabelling) => inner(law)?.relabelled(relabelling)?,
        Recipe::OrderStatistic { counts, rank } => order_statistic(counts, *rank, left_out, interrupt)?,
        Recipe::Noise(noise) => noise.row(left_out)?,
    });
    if costly {
        law.remember(left_out, &row);
    }
    Ok(row)
}

/// The rows of two laws, which share the work of what is done to both.
pub(crate) fn rows(
    laws: [&Law; 2],
    left_out: Option<u32>,
    interrupt: &dyn Interrupt,
) -> Result<[Arc<Pmf>; 2], Error> {
    rows_before(&[], laws, left_out, interrupt)
}

/// The same of laws to which these relabellings are applied afterwards, in turn.
fn rows_before(
    applied: &[&Relabelling],
    laws: [&Law; 2],
    left_out: Option<u32>,
    interrupt: &dyn Interrupt,
) -> Result<[Arc<Pmf>; 2], Error> {
    if left_out.is_none()
        && let [Some((one, noise)), Some((other, same))] = laws.map(Law::without_noise)
        && noise == same
        && let Some(alpha) = noise.alpha()
    {
        let data = rows([&one, &other], None, interrupt)?;
        let window = [data[0].first.min(data[1].first), data[0].last().max(data[1].last())];
        let [first, last] = Relabelling::ends_around(applied, window);
        let [one, other] = data.map(|row| with_merged_ends(&row, alpha, first, last));
        return Ok([Arc::new(one?), Arc::new(other?)]);
    }
    match laws.map(Law::recipe) {
        [Recipe::Sampled(one, sampling), Recipe::Sampled(other, same)] if sampling == same => {
            let populations = rows([one, other], left_out, interrupt)?;
            Ok(sampling.push(&populations, left_out, interrupt)?.map(Arc::new))
        }
        [Recipe::Relabelled(one, relabelling), Recipe::Relabelled(other, same)] if relabelling == same => {
            let applied: Vec<&Relabelling> =
                [relabelling].into_iter().chain(applied.iter().copied()).collect();
            let [one, other] = rows_before(&applied, [one, other], left_out, interrupt)?;
            Ok([Arc::new(one.relabelled(relabelling)?), Arc::new(other.relabelled(relabelling)?)])
        }
        _ => Ok([row(laws[0], left_out, interrupt)?, row(laws[1], left_out, interrupt)?]),
    }
}

/// A sum of independent numbers: few values far apart are counted out; by inversion if that is cheaper and all of them have
/// cumulant functions, or of those that have one and several copies; else directly.
fn sum(law: &Law, left_out: Option<u32>, interrupt: &dyn Interrupt) -> Result<Pmf, Error> {
    let mut summands = Summands::default();
    summands.collect(law, 1);
    let Summands { parts, smoothing, offset } = summands;
    let lattices: Option<Vec<_>> = parts.iter().map(|(law, count)| lattice(law, *count)).collect();
    let single = matches!(parts.as_slice(), [] | [(_, 1)]);
    let direct = single || is_direct(&parts, left_out);
    let few_values = if direct { None } else { FewValues::of(&parts, left_out) };
    let share = left_out.map(|bits| bits + 1 + parts.len().ilog2());
    let mut row = match (few_values, lattices) {
        (Some(kinds), _) => match kinds.as_slice() {
            [one] => one.sum(left_out, interrupt)?,
            kinds => added_up(kinds.iter().map(|kind| kind.sum(share, interrupt)), interrupt)?,
        },
        (None, Some(lattices)) if !direct => inverted(&lattices, left_out, interrupt)?,
        _ => {
            let copies =
                |(law, count): &(&Law, u64)| (!direct && *count > 1).then(|| lattice(law, *count))?;
            let lattices: Vec<_> = parts.iter().filter_map(copies).collect();
            let smooth = (!lattices.is_empty()).then(|| inverted(&lattices, share, interrupt));
            let rest = parts.iter().filter(|part| copies(part).is_none());
            let power =
                |(law, count): &(&Law, u64)| power_of(&*row(law, share, interrupt)?, *count, interrupt);
            added_up(smooth.into_iter().chain(rest.map(power)), interrupt)?
        }
    };
    row.first = row.first.saturating_add(offset);
    for noise in smoothing {
        row = smoothed(&row, noise, left_out, interrupt)?;
    }
    Ok(row)
}

/// The sum of independent numbers with these laws, the short ones first.
fn added_up(rows: impl Iterator<Item = Result<Pmf, Error>>, interrupt: &dyn Interrupt) -> Result<Pmf, Error> {
    let mut rows = rows.collect::<Result<Vec<_>, Error>>()?;
    rows.sort_by_key(|row| row.masses.len());
    rows.iter().try_fold(Pmf::point(0), |total, row| total.convolved(row, interrupt))
}

/// Two-sided geometric noise is added: `P[a] = (1−α)/(1+α) (F(a) + G(a))` with `F(a) = d(a) + αF(a−1)` and
/// `G(a) = α(d(a+1) + G(a+1))`, where every term is positive. Outside the data both fall by `α` a step, so that what is left
/// out beyond a side's last mass `t` is `t α/(1−α)`.
fn smoothed(data: &Pmf, alpha: Ball, left_out: Option<u32>, interrupt: &dyn Interrupt) -> Result<Pmf, Error> {
    let Some(bits) = left_out else { return Err(Error::precision("noise without bounds has no last value")) };
    let (mut forward, mut backward) = (Vec::new(), Vec::new());
    let sweep = |side: &mut Vec<Ball>, masses: &mut dyn Iterator<Item = Ball>| -> Result<Ball, Error> {
        let mut sum = Ball::ZERO;
        for mass in masses {
            sum = mass + alpha * sum;
            side.push(sum);
        }
        loop {
            if let Some(rest) = tail_bound(sum, alpha, bits + 1) {
                return Ok(rest);
            }
            interrupt.check()?;
            for _ in 0..64 {
                sum = alpha * sum;
                side.push(sum);
            }
            check_length(0, side.len() as i64)?;
        }
    };
    let above = sweep(&mut forward, &mut data.masses.iter().copied())?;
    let below = sweep(&mut backward, &mut data.masses.iter().rev().copied())?;
    let scale = (Ball::ONE - alpha) / (Ball::ONE + alpha);
    let length = data.masses.len();
    let first = data.first - (backward.len() - length) as i64;
    let span = backward.len() + forward.len() - length;
    let mut masses = vec![Ball::ZERO; span];
    for (entry, &mass) in masses.iter_mut().skip(backward.len() - length).zip(&forward) {
        *entry = mass;
    }
    for (entry, &next) in masses.iter_mut().zip(backward.iter().rev().skip(1)) {
        *entry = *entry + alpha * next;
    }
    let masses = masses.into_iter().map(|mass| mass * scale).collect();
    Ok(Pmf { first, masses, missing: data.missing + (above + below) * scale })
}

/// The same of data that lie between two answers, with all answers on or below the first as one, and all on or above the last:
/// there both laws of a pair fall by `α` a step, and their ratio does not change. `P[X ≤ first] = Σ_j d_j α^{j−first}/(1+α)`, and likewise at the last.
fn with_merged_ends(data: &Pmf, alpha: Ball, first: i64, last: i64) -> Result<Pmf, Error> {
    check_length(first, last)?;
    let answers = || first..=last;
    let (mut forward, mut backward) = (Vec::new(), Vec::new());
    let mut sum = Ball::ZERO;
    for answer in answers() {
        sum = data.at(answer) + alpha * sum;
        forward.push(sum);
    }
    sum = Ball::ZERO;
    for answer in answers().rev() {
        sum = data.at(answer) + alpha * sum;
        backward.push(sum);
    }
    backward.reverse();
    let one = Ball::ONE;
    if first == last {
        return Ok(Pmf { first, masses: vec![one], missing: data.missing });
    }
    let (inner, tail) = ((one - alpha) / (one + alpha), one / (one + alpha));
    let mass = |index: usize| {
        let here = forward.get(index).copied().unwrap_or(Ball::ZERO);
        let above = backward.get(index + 1).copied().unwrap_or(Ball::ZERO);
        // At the ends all that lies on the one side is `α^{distance}` away, at or beyond the end: a geometric series.
        let scale = if index == 0 || index + 1 == forward.len() { tail } else { inner };
        scale * (here + alpha * above)
    };
    Ok(Pmf { first, masses: (0..forward.len()).map(mass).collect(), missing: data.missing })
}

/// Independent summands, equal ones together, and a constant.
#[derive(Default)]
struct Summands<'a> {
    parts: Vec<(&'a Law, u64)>,
    /// `α` of two-sided geometric noises.
    smoothing: Vec<Ball>,
    offset: i64,
}

impl<'a> Summands<'a> {
    fn collect(&mut self, law: &'a Law, count: u64) {
        match law.recipe() {
            Recipe::Sum(summands) => summands.iter().for_each(|law| self.collect(law, count)),
            Recipe::Repeated { law, count: copies } => self.collect(law, count.saturating_mul(*copies)),
            Recipe::Shifted(law, by) => {
                self.offset = self.offset.saturating_add(by.saturating_mul(count as i64));
                self.collect(law, count);
            }
            Recipe::Noise(noise) if count == 1 && noise.alpha().is_some() => {
                self.smoothing.extend(noise.alpha());
            }
            _ => match self.parts.iter_mut().find(|(known, _)| known.is(law)) {
                Some((_, known)) => *known = known.saturating_add(count),
                None => self.parts.push((law, count)),
            },
        }
    }
}

/// Whether to convolve all parts directly, the short ones first, which takes about one product for each answer that a part may
/// have and each place up to the end of the sum so far.
fn is_direct(parts: &[(&Law, u64)], left_out: Option<u32>) -> bool {
    let sizes = |(law, count): &(&Law, u64)| {
        let width = match (law.recipe(), law.support()) {
            (Recipe::Binomial { trials, p }, _) => window(*trials, p, left_out) * *count as f64,
            (_, (Some(least), Some(most))) => most.abs_diff(least) as f64 * *count as f64,
            _ => MAX_DIRECT_PRODUCTS,
        };
        (width, if *count == 1 { possible_answers(law).unwrap_or(width).min(width) } else { width })
    };
    let mut sizes: Vec<(f64, f64)> = parts.iter().map(sizes).collect();
    sizes.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (mut places, mut products) = (0.0, 0.0);
    for (width, possible) in sizes {
        places += width;
        products += (possible * OF_BALLS as f64).min(width) * places;
    }
    // A node of an inversion costs an exponential for each value of a law that is added several times.
    let repeated =
        parts.iter().filter(|(law, count)| *count > 1 && matches!(law.recipe(), Recipe::Table { .. }));
    let values = repeated.filter_map(|(law, _)| possible_answers(law)).fold(0.0, f64::max);
    products <= MAX_DIRECT_PRODUCTS * (values / VALUES_AT_ONCE).max(1.0)
        || (products <= MAX_PRODUCTS_PER_PLACE * places && has_gaps(parts))
}

/// The approximate number of answers of these trials that may not be left out: with variance `v` the number is `t` from its mean with a
/// probability of at most `2 exp(−t²/2(v + t/3))` (Bernstein), so that `t = L/3 + √(L²/9 + 2Lv)` is enough for `e^-L`.
fn window(trials: u64, p: &Rational, left_out: Option<u32>) -> f64 {
    let all = trials as f64;
    let Some(bits) = left_out else { return all };
    let p = few_values::about(p);
    let exponent = f64::from(bits) * std::f64::consts::LN_2;
    let half = exponent / 3.0 + (exponent * exponent / 9.0 + 2.0 * exponent * all * p * (1.0 - p)).sqrt();
    all.min(2.0 * half)
}

/// Whether some part has steps that are more than half the deviation of all finer parts together: their characteristic function is
/// then no smaller than about `e^(−8π²)` where that of the part is one again.
pub(super) fn has_gaps(parts: &[(&Law, u64)]) -> bool {
    let Some(mut steps) = parts.iter().map(|(law, count)| step(law, *count)).collect::<Option<Vec<_>>>()
    else {
        return false;
    };
    steps.retain(|(_, variance)| *variance > 0.0);
    let finer = |step: f64| steps.iter().filter(|other| other.0 < step).map(|other| other.1).sum::<f64>();
    let is_gap = |step: f64| steps.iter().any(|other| other.0 < step) && 4.0 * step * step > finer(step);
    steps.iter().any(|&(step, _)| is_gap(step))
}

/// The step of a sum of numbers that have two values at most, and about its variance.
fn step(law: &Law, count: u64) -> Option<(f64, f64)> {
    let variance = |trials: u64, p: &Rational| {
        let p = few_values::about(p);
        trials as f64 * count as f64 * p * (1.0 - p)
    };
    match law.recipe() {
        Recipe::Binomial { trials, p } => Some((1.0, variance(*trials, p))),
        Recipe::Scaled(law, by) => {
            let (step, variance) = step(law, count)?;
            let by = *by as f64;
            Some((step * by.abs(), variance * by * by))
        }
        Recipe::Table { masses, .. } => {
            let mut possible = (0i64..).zip(masses).filter(|(_, mass)| !mass.is_zero());
            match [possible.next(), possible.next(), possible.next()] {
                [Some((first, _)), Some((second, p)), None] => {
                    let step = (second - first) as f64;
                    Some((step, variance(1, p) * step * step))
                }
                [_, None, None] => Some((1.0, 0.0)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The number of possible answers, if the recipe shows it.
fn possible_answers(law: &Law) -> Option<f64> {
    match law.recipe() {
        Recipe::Binomial { trials, .. } => Some(*trials as f64 + 1.0),
        Recipe::Scaled(law, _) => possible_answers(law),
        Recipe::Table { masses, .. } => Some(masses.iter().filter(|mass| !mass.is_zero()).count() as f64),
        _ => None,
    }
}

/// The cumulant function of `count` copies of a law, if it has one in closed form.
fn lattice(law: &Law, count: u64) -> Option<Box<dyn Lattice>> {
    match law.recipe() {
        Recipe::Binomial { trials, p } => {
            let count = trials.checked_mul(count).filter(|&count| count <= 1 << 53)?;
            Some(Box::new(BinomialGroup { count, at: Probability::new(p).ok()?, weight: 1 }))
        }
        Recipe::Scaled(law, by) => {
            let Recipe::Binomial { trials, p } = law.recipe() else { return None };
            let (weight, at) = (u32::try_from(*by).ok()?, Probability::new(p).ok()?);
            let count = trials.checked_mul(count).filter(|&count| count <= 1 << 53)?;
            Some(Box::new(BinomialGroup { count, at, weight }))
        }
        Recipe::Table { first, masses } => {
            let masses = masses.iter().map(Ball::from_rational).collect();
            Some(Box::new(Repeated { first: *first, masses, count }))
        }
        _ => None,
    }
}

/// By inversion, in a window outside which certainly next to nothing lies.
fn inverted(
    lattices: &[Box<dyn Lattice>],
    left_out: Option<u32>,
    interrupt: &dyn Interrupt,
) -> Result<Pmf, Error> {
    let law = LatticeSum::new(lattices.iter().map(AsRef::as_ref).collect());
    let (first, last, missing) = match (left_out, law.support()) {
        (Some(bits), _) => law.window(power(bits + 1), interrupt)?,
        (None, (Some(first), Some(last))) => (first, last, Ball::ZERO),
        _ => return Err(Error::precision("a law without bounds has no last value")),
    };
    check_length(first, last)?;
    let masses = law.probabilities(first, last, interrupt)?;
    Ok(Pmf { first, masses, missing })
}

/// `P[answer ≤ x] = P[counts[x] ≥ rank]`; the masses are differences of these or of their complements, whichever are smaller,
/// and exactly zero where nothing changes: then `x` is no possible answer.
fn order_statistic(
    counts: &[Law],
    rank: u64,
    left_out: Option<u32>,
    interrupt: &dyn Interrupt,
) -> Result<Pmf, Error> {
    let mut masses = Vec::with_capacity(counts.len());
    let mut before = (Ball::ZERO, Ball::ONE);
    let mut known: Option<&Law> = None;
    for count in counts {
        if known.replace(count).is_some_and(|last| last.is(count)) {
            masses.push(Ball::ZERO);
            continue;
        }
        let smaller = row(count, left_out.map(|bits| bits + 64), interrupt)?;
        let (mut below, mut enough) = (Ball::ZERO, Ball::ZERO);
        for (number, &mass) in (smaller.first..).zip(&smaller.masses) {
            let side = if u64::try_from(number).is_ok_and(|number| number >= rank) {
                &mut enough
            } else {
                &mut below
            };
            *side = *side + mass;
        }
        let reached = (enough.plus_at_most(smaller.missing), below.plus_at_most(smaller.missing));
        let rising = reached.0.certainly_less(reached.1);
        masses.push(if rising { reached.0 - before.0 } else { before.1 - reached.1 });
        before = reached;
    }
    Ok(Pmf { first: 0, masses, missing: Ball::ZERO })
}

/// `count` copies, by repeated squaring.
fn power_of(base: &Pmf, mut count: u64, interrupt: &dyn Interrupt) -> Result<Pmf, Error> {
    let (mut result, mut square) = (Pmf::point(0), base.clone());
    while count > 0 {
        if count & 1 == 1 {
            result = result.convolved(&square, interrupt)?;
        }
        count >>= 1;
        if count > 0 {
            square = square.convolved(&square, interrupt)?;
        }
    }
    Ok(result)
}

#[cfg(test)]
mod tests;
