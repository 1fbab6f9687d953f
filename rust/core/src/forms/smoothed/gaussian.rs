//! Gaussian noise, for laws whose likelihood ratio crosses `e^ε` once.
//!
//! **Lemma.** Let `g_k ≤ 0` for `k < 0` and `g_k ≥ 0` for `k ≥ 0`, neither all zero. Then there is one `x*` with `D ≤ 0` before and `D ≥ 0` after it, and
//!
//! ```text
//! Δ = G(x*) = max_x G(x),      G(x) = Σ_k g_k Φ((k − x)/σ).
//! ```
//!
//! *Proof.* `D(x) e^{x²/2σ²}` is a positive constant times `Σ_k g_k e^{−k²/2σ²} e^{kx/σ²}`, where no term falls with `x`, and some rise. `G` is the integral of `D` from `x`
//! on. ∎
//!
//! With `N` and `M`, the sums of `|g_k| e^{−(x−k)²/2σ²}` over `k ≥ 0` and over `k < 0`, and `h = ln N − ln M`, `D` has the sign of `h`, and `h'` is the difference of two
//! means of `k` divided by `σ²`. As one mean is at least 0 and the other at most −1, `h' ≥ 1/σ²`: `|x − x*| ≤ σ²|h(x)|`. So one evaluation tells how far the
//! threshold is, and Newton's steps lead there.
//!
//! What is lost at another `x`: with `w = σ²|h(x)|`, `0 ≤ G(x*) − G(x) ≤ ∫|D|` between them. There `|h| ≤ |h(x)|`, so `√(2π)σ|D| = |N − M| ≤
//! (e^{|h(x)|} − 1) max(N, M)`, and no term of `N` or `M` is above its value at `x` times `e^{wm/σ²}` if `|x − k| ≤ m`, because
//! `(x−k)² − (ξ−k)² = 2(x−ξ)(x−k) − (x−ξ)² ≤ 2w|x−k|`. Therefore
//!
//! ```text
//! G(x*) − G(x) ≤ σ|h| (e^{|h|} − 1) (N + M) e^{|h|m} / √(2π).
//! ```
//!
//! For a monotone likelihood ratio, as of a shifted log-concave law against that law, the signs are as in the lemma or mirrored, for any ε. For other laws, at the
//! ends of windows, and where signs are not known, the `g_k` that are not of this form are taken as zero, for the price of their sizes.

use crate::answer::pmf::{Pmf, common_window};
use crate::budget::MAX_NEWTON_STEPS;
use crate::error::Error;
use crate::forms::answers::ANSWERS_PER_CHECK;
use crate::interrupt::Interrupt;
use crate::laws::normal::upper_tail;
use crate::numbers::ball::Ball;

/// What one answer costs, in terms of a sum, more or less.
pub(super) const TERMS: f64 = 16.0;
/// Relatively narrower values need no wider reach.
const ACCURATE: f64 = 1e-16;
/// In standard deviations, how far from the threshold answers are first taken one by one, and how much farther the next time.
const FIRST_REACH: f64 = 10.0;
const GROWTH: f64 = 1.5;
/// A logarithm of `N/M` below this is zero for our purposes: its square counts.
const SMALL: f64 = 1.0 / ((1u64 << 48) as f64);
/// Below `e^−MINUTE` the exponents are too large for balls to hold the values well.
const MINUTE: u64 = 1 << 40;
/// The part of Δ that answers of the wrong sign may amount to.
const NEGLIGIBLE: f64 = 1.0 / ((1u64 << 47) as f64);

/// A bound of a Δ that is too small for anything else to be told.
///
/// Answers that can be coupled within a distance `m` hide as little as two that are `m` apart, by convexity: with `c = εσ/m − m/(2σ)`, positive,
/// `Δ ≤ Φ(−c) ≤ e^{−c²/2}`.
pub(super) fn minute(distance: u64, sigma: Ball, epsilon: Ball) -> Option<Ball> {
    let mu = Ball::from_u64(distance) / sigma;
    let exponent = epsilon / mu - mu / Ball::from_u64(2);
    let square = exponent * exponent / Ball::from_u64(2);
    let minute = exponent.is_positive() && Ball::from_u64(MINUTE).certainly_less(square);
    minute.then(|| Ball::ZERO.plus_at_most((-square).exp()))
}

/// Δ of what the rows hold.
///
/// # Errors
/// A likelihood ratio that crosses `e^ε` more than once; [`Error::Interrupted`].
pub(super) fn delta(
    rows: [&Pmf; 2],
    sigma: Ball,
    ratio: Ball,
    interrupt: &dyn Interrupt,
) -> Result<Ball, Error> {
    let (gaps, undecided) = gaps(rows, ratio, interrupt)?;
    let (crossing, violating) = Crossing::new(gaps, sigma);
    let missing = rows[0].missing + ratio * rows[1].missing;
    let most = crossing.positive();
    if !missing.is_exact_zero() && !missing.certainly_less(most) {
        // Δ, at most that without noise, may be less than what is missing: not worth more.
        return Ok(Ball::ZERO.plus_at_most(most + undecided + violating));
    }
    let value = crossing.value(interrupt)?;
    let delta = value.plus_at_most(undecided + violating);
    // Laws that are cut off may seem to cross at the ends, with at most what is missing.
    let negligible = (violating / value).to_enclosure().upper() <= NEGLIGIBLE;
    if missing.certainly_less(violating) && !negligible {
        return Err(Error::precision(
            "the likelihood ratio of these answers crosses e^epsilon more than once, so that with Gaussian noise no single \
             threshold tells them apart; Laplace or discrete noise can be enclosed",
        ));
    }
    Ok(delta)
}

/// The `g_k` whose signs are known, zero for the others, and the sizes of these.
fn gaps(
    [first, second]: [&Pmf; 2],
    ratio: Ball,
    interrupt: &dyn Interrupt,
) -> Result<(Vec<Ball>, Ball), Error> {
    let (start, end) = common_window([first, second])?;
    let mut undecided = Ball::ZERO;
    let mut gaps = Vec::with_capacity((end - start + 1).max(0) as usize);
    for (index, answer) in (start..=end).enumerate() {
        if index.is_multiple_of(ANSWERS_PER_CHECK) {
            interrupt.check()?;
        }
        let mut gap = first.at(answer) - ratio * second.at(answer);
        if !gap.is_positive() && !gap.is_not_positive() {
            undecided = undecided + gap.max(-gap);
            gap = Ball::ZERO;
        }
        gaps.push(gap);
    }
    Ok((gaps, undecided))
}

/// Neighbouring `g_k` of one sign.
struct Run {
    end: usize,
    positive: bool,
    size: Ball,
}

fn runs(gaps: &[Ball]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (index, &gap) in gaps.iter().enumerate() {
        let positive = gap.is_positive();
        let size = if positive { gap } else { -gap };
        match runs.last_mut() {
            Some(run) if run.positive == positive || gap.is_exact_zero() => {
                run.size = run.size + size;
                run.end = index + 1;
            }
            _ => runs.push(Run { end: index + 1, positive, size }),
        }
    }
    runs
}

/// The sizes of the wrong ones among the first runs, from none to all.
fn costs<'a>(runs: impl Iterator<Item = (&'a Run, bool)>) -> Vec<Ball> {
    let mut costs = vec![Ball::ZERO];
    let mut cost = Ball::ZERO;
    for (run, wrong) in runs {
        if wrong {
            cost = cost + run.size;
        }
        costs.push(cost);
    }
    costs
}

/// The `g_k` in the order of the lemma: those before `split` are at most zero, those from there on at least zero.
struct Crossing {
    gaps: Vec<Ball>,
    split: usize,
    sigma: Ball,
    /// Their sizes together.
    total: Ball,
}

/// `N`, `M` and `h'` at a point; of the last one an estimate.
struct Balance {
    upper: Ball,
    lower: Ball,
    slope: f64,
}

impl Balance {
    fn logarithm(&self) -> Ball {
        self.upper.ln() - self.lower.ln()
    }

    fn is_accurate(&self) -> bool {
        self.upper.relative_error() < ACCURATE && self.lower.relative_error() < ACCURATE
    }
}

/// The answers within reach of a point, as indices, and a bound of `e^{−z²/2}` for the distances of the others in standard deviations.
struct Near {
    from: usize,
    to: usize,
    beyond: Ball,
}

impl Crossing {
    /// The order and the split that cost least, and what they cost: the sizes of those that are not of the form.
    fn new(mut gaps: Vec<Ball>, sigma: Ball) -> (Self, Ball) {
        let runs = runs(&gaps);
        let sum_of = |positive: bool| {
            let sizes = runs.iter().filter(|run| run.positive == positive).map(|run| run.size);
            sizes.fold(Ball::ZERO, |sum, size| sum + size)
        };
        let total = sum_of(true) + sum_of(false);
        let mut best = (total, 0, false);
        for falling in [false, true] {
            // At first all are after the split, and those of the sign that belongs before it are wrong.
            let wrong_after = costs(runs.iter().rev().map(|run| (run, run.positive == falling)));
            let wrong_before = costs(runs.iter().map(|run| (run, run.positive != falling)));
            for (split, (&before, &after)) in wrong_before.iter().zip(wrong_after.iter().rev()).enumerate() {
                let cost = before + after;
                if cost.certainly_less(best.0) {
                    best = (cost, split, falling);
                }
            }
        }
        let (cost, split, falling) = best;
        let end = split.checked_sub(1).and_then(|last| runs.get(last)).map_or(0, |run| run.end);
        for (index, gap) in gaps.iter_mut().enumerate() {
            if gap.is_positive() == ((index < end) != falling) {
                *gap = Ball::ZERO;
            }
        }
        let split = if falling { gaps.len() - end } else { end };
        if falling {
            gaps.reverse();
        }
        (Self { gaps, split, sigma, total }, cost)
    }

    /// The place of an answer: 0 for the first one after the split.
    fn place(&self, index: usize) -> Ball {
        Ball::from_i64(index as i64 - self.split as i64)
    }

    /// Δ without noise.
    fn positive(&self) -> Ball {
        self.gaps.iter().skip(self.split).fold(Ball::ZERO, |sum, &gap| sum + gap)
    }

    /// Δ.
    fn value(&self, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let (before, after) = self.gaps.split_at(self.split);
        if after.iter().all(|gap| gap.is_exact_zero()) {
            return Ok(Ball::ZERO);
        }
        if before.iter().all(|gap| gap.is_exact_zero()) {
            return Ok(self.positive());
        }
        let mut reach = FIRST_REACH;
        let mut start = -0.5;
        loop {
            let (threshold, balance) = self.threshold(start, reach, interrupt)?;
            let near = self.near(threshold, reach);
            let all = near.from == 0 && near.to == self.gaps.len();
            // Tails are dear: first as far as the densities must be known.
            if all || balance.is_accurate() {
                let value = self.value_at(threshold, &balance, reach, interrupt)?;
                if all || value.relative_error() < ACCURATE {
                    return Ok(value);
                }
            }
            reach *= GROWTH;
            start = threshold;
        }
    }

    /// A place next to `x*`, by Newton's method.
    fn threshold(&self, start: f64, reach: f64, interrupt: &dyn Interrupt) -> Result<(f64, Balance), Error> {
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        let mut x = start;
        let mut balance = self.balance(x, reach, interrupt)?;
        for _ in 0..MAX_NEWTON_STEPS {
            let Some(height) = balance.logarithm().to_enclosure().midpoint().filter(|h| h.abs() > SMALL)
            else {
                break;
            };
            if height > 0.0 {
                high = x;
            } else {
                low = x;
            }
            let newton = x - height / balance.slope;
            let next = if low < newton && newton < high { newton } else { low / 2.0 + high / 2.0 };
            if !next.is_finite() || next <= low || next >= high {
                break;
            }
            x = next;
            balance = self.balance(x, reach, interrupt)?;
        }
        Ok((x, balance))
    }

    /// The answers within `reach` standard deviations of `x`, or of the end that is nearest to it.
    fn near(&self, x: f64, reach: f64) -> Near {
        let sigma = self.sigma.to_enclosure().upper();
        let centre = (x + self.split as f64).clamp(0.0, self.gaps.len() as f64);
        let from = (centre - reach * sigma).floor().max(0.0) as usize;
        let to = ((centre + reach * sigma).ceil() as usize).saturating_add(1).min(self.gaps.len());
        // Rounded or not, these are the nearest ones outside.
        let left = from.checked_sub(1).map(|index| self.weight(x, index));
        let right = (to < self.gaps.len()).then(|| self.weight(x, to));
        let beyond = left.into_iter().chain(right).fold(Ball::ZERO, Ball::max);
        Near { from, to, beyond }
    }

    /// `e^{−(x−k)²/2σ²}`.
    fn weight(&self, x: f64, index: usize) -> Ball {
        let Some(x) = Ball::from_f64(x) else { return Ball::ZERO.plus_at_most(Ball::ONE) };
        let z = (x - self.place(index)) / self.sigma;
        (-(z * z / Ball::from_u64(2))).exp()
    }

    /// `N`, `M` and their means, from the outermost answers inwards: of `e^{−(x−k)²/2σ²}` the ratios of neighbours have a constant ratio,
    /// `e^{−1/σ²}`, and sums of partial sums count each term as often as its place says.
    fn balance(&self, x: f64, reach: f64, interrupt: &dyn Interrupt) -> Result<Balance, Error> {
        let near = self.near(x, reach);
        let side = |indices: &mut dyn Iterator<Item = usize>| -> Result<(Ball, Ball), Error> {
            let (mut sum, mut places) = (Ball::ZERO, Ball::ZERO);
            let mut indices = indices.peekable();
            let Some(&outermost) = indices.peek() else { return Ok((sum, places)) };
            let inwards = if outermost < self.split { outermost + 1 } else { outermost.saturating_sub(1) };
            let mut weight = self.weight(x, outermost);
            let mut step = self.weight(x, inwards) / weight;
            let bend = (-(Ball::ONE / (self.sigma * self.sigma))).exp();
            for (count, index) in indices.enumerate() {
                if count.is_multiple_of(ANSWERS_PER_CHECK) {
                    interrupt.check()?;
                }
                let gap = self.gaps.get(index).copied().unwrap_or(Ball::ZERO);
                sum = sum + weight * if index < self.split { -gap } else { gap };
                places = places + sum;
                weight = weight * step;
                step = step * bend;
            }
            Ok((sum, places))
        };
        let (lower, below) = side(&mut (near.from..near.to.min(self.split)))?;
        let (upper, above) = side(&mut (near.from.max(self.split)..near.to).rev())?;
        let mean = |places: Ball, sum: Ball| (places / sum).to_enclosure().midpoint().unwrap_or(0.5);
        let sigma = self.sigma.to_enclosure().upper();
        let slope = (mean(above, upper) - 1.0 + mean(below, lower)).max(1.0) / (sigma * sigma);
        let rest = near.beyond * self.total;
        Ok(Balance { upper: upper.plus_at_most(rest), lower: lower.plus_at_most(rest), slope })
    }

    /// `G(x)`, and what is lost at `x`. Farther answers have tails within `½e^{−z²/2}` of 0 or 1.
    fn value_at(
        &self,
        x: f64,
        balance: &Balance,
        reach: f64,
        interrupt: &dyn Interrupt,
    ) -> Result<Ball, Error> {
        let near = self.near(x, reach);
        let Some(point) = Ball::from_f64(x) else { return Err(Error::precision("a threshold out of reach")) };
        let mut sum = self.gaps.iter().skip(near.to).fold(Ball::ZERO, |sum, &gap| sum + gap);
        for (index, &gap) in self.gaps.iter().enumerate().take(near.to).skip(near.from) {
            if index.is_multiple_of(64) {
                interrupt.check()?;
            }
            if !gap.is_exact_zero() {
                sum = sum + gap * upper_tail((point - self.place(index)) / self.sigma);
            }
        }
        let far = near.beyond * self.total;
        let height = balance.logarithm();
        let height = height.max(-height);
        let ends = [self.place(0), self.place(self.gaps.len())].map(|end| (point - end).max(end - point));
        let growth = (height * ends[0].max(ends[1])).exp();
        let density = (balance.upper + balance.lower) / (Ball::ln_2_pi() / Ball::from_u64(2)).exp();
        let lost = self.sigma * height * (height.exp() - Ball::ONE) * density * growth;
        Ok(sum.plus_at_most(far + lost))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Uninterrupted;
    use crate::numbers::rational::Rational;

    fn ball(text: &str) -> Ball {
        Ball::from_rational(&Rational::parse(text).unwrap())
    }

    fn gaps_of(text: &[&str]) -> Vec<Ball> {
        text.iter().map(|gap| ball(gap)).collect()
    }

    /// The split that costs least: the sizes of those of the wrong sign before and after it, in either order.
    #[test]
    fn what_is_not_of_the_form_costs_its_size() {
        for (gaps, kept, split, cost) in [
            (["-1", "-2", "3", "4"], ["-1", "-2", "3", "4"], 2, "0"),
            (["4", "3", "-2", "-1"], ["-1", "-2", "3", "4"], 2, "0"),
            (["-1", "0.25", "-2", "4"], ["-1", "0", "-2", "4"], 3, "0.25"),
            (["-1", "2", "-0.5", "4"], ["-1", "2", "0", "4"], 1, "0.5"),
            (["2", "-4", "1", "-8"], ["-8", "0", "-4", "2"], 3, "1"),
            (["1", "2", "3", "4"], ["1", "2", "3", "4"], 0, "0"),
            (["-1", "-2", "-3", "-4"], ["-1", "-2", "-3", "-4"], 4, "0"),
            (["0", "-1", "0", "2"], ["0", "-1", "0", "2"], 3, "0"),
        ] {
            let (found, paid) = Crossing::new(gaps_of(&gaps), Ball::ONE);
            let expected = gaps_of(&kept);
            let same = found.gaps.iter().zip(&expected).all(|(&a, &b)| (a - b).is_exact_zero());
            assert!(
                same && found.split == split && (paid - ball(cost)).is_exact_zero(),
                "{gaps:?}: {} {paid:?}",
                found.split
            );
        }
    }

    /// `G(x) = Σ_k g_k Φ((k − x)/σ)` at many places is at most the value found, and almost equal to it at one place.
    #[test]
    fn no_threshold_does_better_than_the_one_that_is_found() {
        let (crossing, _) = Crossing::new(gaps_of(&["-0.1", "-0.3", "0.05", "0.2", "0.1"]), ball("1.5"));
        let value = crossing.value(&Uninterrupted).unwrap();
        let mut best = Ball::ZERO;
        for step in -400..400 {
            let x = f64::from(step) / 64.0;
            let point = Ball::from_f64(x).unwrap();
            let sum = crossing.gaps.iter().enumerate().fold(Ball::ZERO, |sum, (index, &gap)| {
                sum + gap * upper_tail((point - crossing.place(index)) / crossing.sigma)
            });
            assert!(!value.certainly_less(sum), "{x}");
            best = best.max(sum);
        }
        assert!((best / value).to_enclosure().lower() > 0.9999 && value.relative_error() < 1e-16);
    }
}
