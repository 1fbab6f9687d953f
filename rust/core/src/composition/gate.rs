//! A part whose count is published within a gate only: one law that dominates what it adds for every probability.
//!
//! Let `g_p = a/(np) − r(n−a)/(nq)` with `a ~ Bin(n, p)`, of mean `1 − r`. If the count is published from `A1` to `A2` only, the part adds the mean of `g_p` given what
//! is published, `G_p`. **Theorem.** With `N = n−1`, `A1 ≥ 2`, `A2 ≤ N−1` and `p_j(t)` the root of `j/p − r(N−j)/q = tn`, for every `p` and `t`
//!
//! ```text
//! E(G_p − t)_+ ≤ S(t) = sup { E(g_{p'} − t)_+ : p_{A1−1}(t) ≤ p' ≤ p_{A2}(t) }.
//! ```
//!
//! The other pair of values is the same for `n − a`, with the gate `[n−A2, n−A1]`. The proof is in `docs/explanation/ranges.md`.
//!
//! **The supremum.** `E(g_p − t)_+ = (1−r−t)_+ + e_p(t)`, and by the lemma of `range.rs` `e_p(t) ≤ Λ e_{p₀}((1−r) + (t−(1−r))/Λ)` for `p` and `p₀` in one cell. Cells are halved
//! until the bound of none is more than a little above what is attained at the ends.
//!
//! **The law.** `sup_p E(G_p − t)_+` is convex, falls, and nowhere faster than `t` rises. So are chords between upper bounds of it at chosen points bounds of it, and below the first point the
//! line of slope −1; beyond the last point, `T`, it is at most its value there. What is subtracted there everywhere is *missing*: it is added to δ. Chords that are not convex are replaced by longer ones.

use super::part::Incomplete;
use super::sum::{Atom, about};
use crate::budget::{MAX_CELLS, MAX_LAWS_OF_GATES};
use crate::error::Error;
use crate::forms::likelihood_excess;
use crate::interrupt::Interrupt;
use crate::laws::Probability;
use crate::numbers::approximate;
use crate::numbers::ball::Ball;
use crate::numbers::rational::Rational;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// The points are `mean + σ sinh u`, with `u` in steps of `5/128` from −5 until little is left.
const STEP: f64 = 5.0 / 128.0;
const FIRST_STEP: i32 = -128;
const MAX_STEPS: i32 = 240;
/// The part of the value at the mean that counts as little: `2^-60`.
const LITTLE: f64 = 1.0 / (1u64 << 60) as f64;
/// Maximum relative distance of a bound from an attained value: `2^-13`.
const CLOSE: f64 = 1.0 / (1u64 << 13) as f64;
/// The first relative step by which an end of the range is moved outwards: `2^-40`. Steps double until the end is certain.
const OUTWARDS: f64 = 1.0 / (1u64 << 40) as f64;
const MAX_DOUBLINGS: u32 = 36;

/// The part, its gate and `r`: all that its law depends on, but for the share of the part.
#[derive(Clone, Copy, Debug)]
struct Asked {
    count: u64,
    gate: [u64; 2],
    ratio: Ball,
}

impl Asked {
    fn is(self, other: Self) -> bool {
        self.count == other.count && self.gate == other.gate && self.ratio.is_same_as(other.ratio)
    }
}

/// The values and masses of `G` for a part of share 1, and what is missing of its stop-loss.
#[derive(Debug)]
struct Law {
    masses: Vec<(f64, Ball)>,
    missing: Ball,
}

/// The laws that were computed last, the newest at the end. Parts of one size have the same law, and so have compositions that differ elsewhere.
static LAWS: Mutex<VecDeque<(Asked, Arc<Law>)>> = Mutex::new(VecDeque::new());

/// The count and its gate, as `Δ_{1,0}` sees them.
#[derive(Debug)]
struct Gated {
    entries: u64,
    /// `A1 − 1` and `A2`.
    tests: [u64; 2],
    ratio: Ball,
}

/// Odds between which a probability lies, and a bound of `e_p` for all of them.
#[derive(Debug)]
struct Cell {
    odds: [f64; 2],
    bound: Ball,
    /// About the bound.
    height: f64,
}

/// A law that dominates `w_k G_p` for all `p` and both pairs of values.
pub(super) fn dominating(
    count: u64,
    share: &Rational,
    gate: [u64; 2],
    ratio: Ball,
    interrupt: &dyn Interrupt,
) -> Result<Incomplete, Error> {
    let law = remembered(Asked { count, gate, ratio }, interrupt)?;
    let whole = Ball::from_rational(share) * Ball::from_u64(count);
    let atoms = law
        .masses
        .iter()
        .map(|&(point, mass)| Ok(Atom { value: whole * exact(point)?, mass }))
        .collect::<Result<_, Error>>()?;
    Ok((atoms, whole * law.missing))
}

fn remembered(asked: Asked, interrupt: &dyn Interrupt) -> Result<Arc<Law>, Error> {
    // Every entry is put in whole, so what a thread that panicked leaves behind is valid.
    let laws = || LAWS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, law)) = laws().iter().find(|(known, _)| known.is(asked)) {
        return Ok(Arc::clone(law));
    }
    let law = Arc::new(law(asked, interrupt)?);
    let mut laws = laws();
    if laws.len() >= MAX_LAWS_OF_GATES {
        laws.pop_front();
    }
    laws.push_back((asked, Arc::clone(&law)));
    Ok(law)
}

fn law(Asked { count, gate: [least, most], ratio }: Asked, interrupt: &dyn Interrupt) -> Result<Law, Error> {
    let gated = |least: u64, most: u64| Gated { entries: count, tests: [least - 1, most], ratio };
    let mut sides = vec![gated(least, most)];
    if count - most != least {
        sides.push(gated(count - most, count - least));
    }
    let supremum = |at: f64| {
        sides.iter().try_fold(Ball::ZERO, |greatest, side| Ok(greatest.max(side.supremum(at, interrupt)?)))
    };
    let mean = Ball::ONE - ratio;
    let deviation = sides.iter().map(Gated::deviation).fold(0.0, f64::max);
    let at_the_mean = about(supremum(about(mean))?);
    let mut points: Vec<(f64, Ball)> = Vec::new();
    for step in FIRST_STEP..=MAX_STEPS {
        interrupt.check()?;
        let u = STEP * f64::from(step);
        let point = about(mean) + deviation * (approximate::exp(u) - approximate::exp(-u)) / 2.0;
        let excess = supremum(point)?;
        points.push((point, (mean - exact(point)?).max(Ball::ZERO) + excess));
        if step >= 0 && about(excess) <= LITTLE * at_the_mean {
            break;
        }
    }
    let missing = points.last().map_or(Ball::ZERO, |(_, height)| *height);
    Ok(Law { masses: masses(&points)?, missing })
}

/// The masses of the measure whose stop-loss transform is linear between these points, of slope −1 before them, less its height at the last one.
fn masses(points: &[(f64, Ball)]) -> Result<Vec<(f64, Ball)>, Error> {
    let corners = lower_hull(points);
    let mut before = -Ball::ONE;
    let mut masses = Vec::new();
    for (k, &(point, height)) in corners.iter().enumerate() {
        let slope = match corners.get(k + 1) {
            Some(&(next, next_height)) => (next_height - height) / (exact(next)? - exact(point)?),
            None => Ball::ZERO,
        };
        // Where rounding makes a mass negative, that of a larger transform is zero.
        let mass = (slope - before).to_enclosure().upper();
        before = slope;
        if mass > 0.0 {
            masses.push((point, exact(mass)?));
        }
    }
    Ok(masses)
}

/// The points on the greatest convex function below them that falls nowhere faster than with slope −1, about; the last point always is.
///
/// Any points are valid: points that are left out make the bound larger.
fn lower_hull(points: &[(f64, Ball)]) -> Vec<(f64, Ball)> {
    let slope = |one: &(f64, Ball), next: &(f64, Ball)| about(next.1 - one.1) / (next.0 - one.0);
    let mut corners: Vec<(f64, Ball)> = Vec::new();
    for &point in points.iter().rev() {
        while let [.., second, first] = corners.as_slice()
            && slope(&point, first) >= slope(first, second)
        {
            corners.pop();
        }
        corners.push(point);
    }
    while let [.., second, first] = corners.as_slice()
        && slope(first, second) < -1.0
    {
        corners.pop();
    }
    corners.reverse();
    corners
}

fn exact(x: f64) -> Result<Ball, Error> {
    Ball::from_f64(x).ok_or_else(|| Error::precision("the values of a gated part are too large"))
}

impl Gated {
    /// About the largest deviation of `g_p` where the gate is: `(q+rp)/√(npq)` over the size of the part.
    fn deviation(&self) -> f64 {
        let ratio = about(self.ratio);
        let others = (self.entries - 1) as f64;
        let of = |test: u64| {
            let odds = test as f64 / ((others - test as f64) * ratio);
            (1.0 + ratio * odds) / (self.entries as f64 * odds).sqrt()
        };
        self.tests.map(of).into_iter().fold(0.0, f64::max)
    }

    /// A bound of `e_p(t)` over the range of `p` that belongs to `t`.
    fn supremum(&self, t: f64, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let odds = [self.end(t, self.tests[0], -1.0)?, self.end(t, self.tests[1], 1.0)?];
        let attained = odds
            .iter()
            .try_fold(Ball::ZERO, |best, &odds| Ok(best.max(self.excess(odds, exact(t)?, interrupt)?)))?;
        let enough = about(attained) * (1.0 + CLOSE);
        let mut cells = vec![self.cell(odds, t, interrupt)?];
        loop {
            let highest = cells.iter().enumerate().max_by(|a, b| a.1.height.total_cmp(&b.1.height));
            let Some((place, cell)) = highest else { return Ok(attained) };
            let [low, high] = cell.odds;
            let middle = (low * high).sqrt();
            if cell.height <= enough || cells.len() >= MAX_CELLS || middle <= low || middle >= high {
                return Ok(attained.max(cells.iter().fold(Ball::ZERO, |most, cell| most.max(cell.bound))));
            }
            cells.swap_remove(place);
            cells.push(self.cell([low, middle], t, interrupt)?);
            cells.push(self.cell([middle, high], t, interrupt)?);
        }
    }

    /// By the lemma of `range.rs`, in odds `o`: `Λ = max{(1+r o₂)/(1+r o₀), (o₀/o₁)(1+r o₁)/(1+r o₀)}`, least where both are equal.
    fn cell(&self, odds: [f64; 2], t: f64, interrupt: &dyn Interrupt) -> Result<Cell, Error> {
        let [low, high] = odds;
        let ratio = about(self.ratio);
        let inner = (low * (1.0 + ratio * high) / (1.0 + ratio * low)).clamp(low, high);
        let slope = |odds: Ball| Ball::ONE + self.ratio * odds;
        let [first, last, between] = [exact(low)?, exact(high)?, exact(inner)?];
        let above = slope(last) / slope(between);
        let below = between / first * (slope(first) / slope(between));
        let spread = above.max(below);
        let mean = Ball::ONE - self.ratio;
        let within = mean + (exact(t)? - mean) / spread;
        let bound = spread * self.excess(inner, within, interrupt)?;
        Ok(Cell { odds, bound, height: about(bound) })
    }

    fn excess(&self, odds: f64, t: Ball, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        likelihood_excess(self.entries, &Probability::from_odds(exact(odds)?), self.ratio, t, interrupt)
    }

    /// Odds certainly not inside of `p_j(t)`, the root of `(1+o)(j/o − r(N−j)) = tn`, whose left side falls with `o`: below it for the direction −1, above it for 1.
    fn end(&self, t: f64, test: u64, direction: f64) -> Result<f64, Error> {
        let (n, ratio) = (self.entries as f64, about(self.ratio));
        let (hits, misses) = (test as f64, (self.entries - 1 - test) as f64 * ratio);
        let half = f64::midpoint(t * n - hits, misses);
        let root = (half * half + hits * misses).sqrt();
        let about_it = if half > 0.0 { hits / (half + root) } else { (root - half) / misses };
        let [hits, misses] = [test, self.entries - 1 - test].map(Ball::from_u64);
        let scaled = exact(t)? * Ball::from_u64(self.entries);
        for doubling in 0..MAX_DOUBLINGS {
            let moved = about_it * (1.0 + direction * OUTWARDS * f64::from(1u32 << doubling.min(31)));
            let odds = exact(moved)?;
            let left = (Ball::ONE + odds) * (hits / odds - self.ratio * misses);
            let outside = if direction < 0.0 { left - scaled } else { scaled - left };
            if outside.is_positive() {
                return Ok(moved);
            }
        }
        Err(Error::precision("the probabilities that matter to a gated part cannot be located"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Uninterrupted;
    use proptest::prelude::*;

    /// `E(G_p − t)_+` from its definition, in doubles.
    fn stop_loss(n: u64, [least, most]: [u64; 2], p: f64, ratio: f64, t: f64) -> f64 {
        let (size, q) = (n as f64, 1.0 - p);
        let (mut mass, mut sum, mut withheld) = (q.powi(n as i32), 0.0f64, (0.0f64, 0.0f64));
        for a in 0..=n {
            let value = a as f64 / (size * p) - ratio * (n - a) as f64 / (size * q);
            if (least..=most).contains(&a) {
                sum += mass * (value - t).max(0.0);
            } else {
                withheld = (withheld.0 + mass, withheld.1 + mass * value);
            }
            mass *= (n - a) as f64 / (a + 1) as f64 * (p / q);
        }
        sum + (withheld.1 - t * withheld.0).max(0.0)
    }

    /// If `tn` and `j − r(N−j)` almost cancel, the root in doubles errs by more than the first step outwards.
    #[test]
    fn the_range_of_a_rare_test_is_found_in_a_large_part() {
        let entries = 3u64.pow(28);
        for ratio in [1.0, 1.1, 1.7] {
            let gated = Gated { entries, tests: [1, entries - 2], ratio: exact(ratio).unwrap() };
            for share in [0.9, 1.0 - 1e-9, 1.0, 1.0 + 1e-9] {
                let t = -ratio * share;
                let [low, high] = [-1.0, 1.0].map(|direction| gated.end(t, 1, direction).unwrap());
                // (1+o)(j/o − r(N−j)) − tn falls with o.
                let left = |odds: f64| {
                    let odds = exact(odds).unwrap();
                    let misses = gated.ratio * Ball::from_u64(entries - 2);
                    (Ball::ONE + odds) * (Ball::ONE / odds - misses)
                        - exact(t).unwrap() * Ball::from_u64(entries)
                };
                assert!(left(low).is_positive() && (-left(high)).is_positive(), "{ratio} {share}");
                assert!(high <= low * (1.0 + 1e-6), "{ratio} {share}: {low} {high}");
            }
        }
    }

    /// What is remembered is used for parts of the same size, gate and `r` alone, whatever their share.
    #[test]
    fn each_part_has_the_law_of_its_own_size_gate_and_ratio() {
        let double = Rational::from(1i64).div(&Rational::from(40i64)).unwrap();
        let share = Rational::from(1i64).div(&Rational::from(80i64)).unwrap();
        let most = |count: u64, share: &Rational, gate: [u64; 2], ratio: f64| {
            let (atoms, _) = dominating(count, share, gate, exact(ratio).unwrap(), &Uninterrupted).unwrap();
            atoms.iter().map(|atom| about(atom.value)).fold(0.0, f64::max)
        };
        let one = most(40, &share, [10, 30], 1.25);
        assert!((most(40, &double, [10, 30], 1.25) / one - 2.0).abs() < 1e-12);
        for (count, gate, ratio) in [(41, [10, 30], 1.25), (40, [9, 30], 1.25), (40, [10, 30], 1.5)] {
            assert!((most(count, &share, gate, ratio) / one - 1.0).abs() > 1e-6, "{count} {gate:?} {ratio}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn one_law_dominates_a_gated_part_for_every_p(
            n in 5u64..60, ends in (0.0..1.0f64, 0.0..1.0f64), epsilon in 0.0..1.5f64,
            tried in prop::collection::vec((0.02..0.98f64, -6.0..6.0f64), 40),
        ) {
            let at = |share: f64| 2 + (share * (n - 4) as f64) as u64;
            let gate = [at(ends.0.min(ends.1)), at(ends.0.max(ends.1)).min(n - 2)];
            let ratio = approximate::exp(epsilon);
            let share = Rational::from(1i64).div(&Rational::from(n)).unwrap();
            let (atoms, missing) = dominating(n, &share, gate, exact(ratio).unwrap(), &Uninterrupted).unwrap();
            for (p, t) in tried {
                let gain = |atom: &Atom| about(atom.mass) * (about(atom.value) - t).max(0.0);
                let bound = atoms.iter().map(gain).sum::<f64>() + about(missing);
                let one = stop_loss(n, gate, p, ratio, t);
                let other = stop_loss(n, [n - gate[1], n - gate[0]], p, ratio, t);
                let truth = one.max(other);
                prop_assert!(truth <= bound * (1.0 + 1e-9) + 1e-12, "n={n} {gate:?} r={ratio} p={p} t={t}: {truth} {bound}");
            }
        }
    }
}
