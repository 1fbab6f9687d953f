//! A count that is published only if enough entries have a property and enough have not: the supremum over all probabilities and all sizes.
//!
//! `N₁ = N + 1` entries, the critical one among them, have the property with probability `p`. Their count `c` is published if at least `a` have
//! the property and at least `b` have not, so within the gate `[a, A]`, `A = N₁ − b`; else nothing is said. With `B ~ Bin(N, p)`, `r = e^ε`,
//!
//! ```text
//! f_j(p) = P[B ≥ j] − r P[B ≥ j+1],    g(p) = r P[B ≤ a−1] − P[B ≤ a−2] = f_{a−1}(p) − (1 − r) ≥ 0,
//! δ(p) = f_j(p) − min(f_A(p), g(p)),   j(p) = ⌈x⌉ − 1 within [a−1, A],   x = N₁ r p/(q + r p).
//! ```
//!
//! *Proof.* The likelihood ratio of the answer `c` is `c q/((N₁ − c) p)`: it is at least `r` for `c ≥ x`. The published answers from `x` on give
//! `f_j − f_A`; "withheld" gives `(P[B ≤ a−2] + P[B ≥ A]) − r (P[B ≤ a−1] + P[B ≥ A+1]) = f_A − g`, and counts where that is positive. ∎
//!
//! **Over p**, by branch and bound in `x` from 0 to `N₁`, `p = x/(x + (N₁−x) r)`. Where `x` stays between integers, `j` is fixed, and each of the
//! two functions `F = f_j − f_A` and `F = f_j − g` has
//!
//! ```text
//! F'(x) = C(x) (t_j(x) − t_k(x)),   t_k(x) = (k N₁ − N x) P[B = k],   C(x) = N₁ r/(x (N₁−x) (x + (N₁−x) r)),
//! ```
//!
//! `k = A` or `a − 1`: from `f_j'(p) = N (b_{N−1}(j−1) − r b_{N−1}(j))`, `pq f_j' = b_N(j) (jq − r (N−j) p)` and `dp/dx = pq N₁/(x (N₁−x))`. On a cell
//! `[x₁, x₂]` with the middle `m`, `F ≤ F(m) + (x₂−x₁)/2 · max|F'|`. The factors of `F'` are bounded on the cell by their ends: `k N₁ − N x` is
//! linear, `P[B = k]` rises up to `p = k/N` and then falls, `x (N₁−x)` is concave and `x + (N₁−x) r` falls. Both `f_A` (up to `x = A`) and `g` are
//! not negative, so `F ≤ f_j` too, and `f_j` rises up to its peak `x = j N₁/N` and then falls. Over several `j` at once, `f_j` is at most the larger
//! of the two outermost heights `h_j` (`binomial_range.rs`).
//!
//! **Over sizes**: from `N₁ = a + b` upwards. All from some size on have `δ ≤ max(h(a−1, N₁−a), h(N₁−b, b−1))` (`binomial_peaks.rs`), which falls with
//! `N₁`, since `h(k, l) = E(Γ_l/l − r Γ_k/k)_+` falls in both arguments. The search ends where that is no more than what was found.
//!
//! **Known entries.** Of u known entries some may be in either cell: `a = first − i`, `b = second − (u − i)`, the worst `i`. Fewer than u in both
//! together are not worse, since what is published with larger minima is a function of what is published with smaller ones.

use super::binomial_peaks::height;
use super::direction::Directed;
use super::hockey_stick::{Form, HockeyStick};
use super::stop_loss::over_first_probability;
use super::{Direction, Epsilon};
use crate::budget::MAX_GATED_SUPREMUM;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::laws::{Probability, binomial_probability, binomial_upper_tail_ball};
use crate::numbers::ball::Ball;
use std::sync::Arc;

/// What is found is enclosed to this relative width: `2^-41`.
const TOLERANCE: i64 = -41;
/// Cells narrower than this part of the whole are not split: their bound counts as it is. `2^-46`.
const NARROWEST: f64 = 1.0 / ((1u64 << 46) as f64);

/// See the module documentation.
#[derive(Clone, Copy, Debug)]
pub struct GatedSupremum {
    first: u64,
    second: u64,
    known: u64,
}

impl GatedSupremum {
    /// At least `first` entries with the property and `second` without it; `known` others are known.
    ///
    /// # Errors
    /// Fewer than two unknown entries required in either cell, or more than [`MAX_GATED_SUPREMUM`].
    pub fn new(first: u64, second: u64, known: u64) -> Result<Self, Error> {
        if first.min(second) < known.saturating_add(2) {
            return Err(Error::argument(format!(
                "minima of {first} and {second} with {known} known entries; two unknown ones are required in each cell"
            )));
        }
        if first.max(second) > MAX_GATED_SUPREMUM {
            return Err(Error::argument(format!(
                "minima of {first} and {second}; for the supremum over all probabilities and sizes at most \
                 {MAX_GATED_SUPREMUM} are allowed"
            )));
        }
        Ok(Self { first, second, known })
    }

    /// The supremum of `Δ_{1,0}`, for an ε of at least 0.
    ///
    /// # Errors
    /// [`Error::Precision`], [`Error::Interrupted`].
    fn delta(&self, epsilon: &Epsilon, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let mut search = Search { epsilon, interrupt, attained: Ball::ZERO, above: Ball::ZERO };
        // The outermost splits have the largest bounds, so the others often need no look.
        let splits = [0, self.known].into_iter().chain(1..self.known);
        for of_first in splits {
            search.over_sizes(self.first - of_first, self.second - (self.known - of_first))?;
        }
        Ok(search.enclosure())
    }
}

struct Search<'a> {
    epsilon: &'a Epsilon,
    interrupt: &'a dyn Interrupt,
    /// The largest value that was found.
    attained: Ball,
    /// The largest bound of what was not split further.
    above: Ball,
}

impl Search<'_> {
    /// What is attained, up to the bound that nothing exceeds.
    fn enclosure(&self) -> Ball {
        self.attained.hull(self.accepted().max(self.above))
    }

    /// Bounds up to here need no further look.
    fn accepted(&self) -> Ball {
        self.attained + self.attained.times_power_of_two(TOLERANCE)
    }

    fn is_settled(&self, bound: Ball) -> bool {
        bound.is_not_positive() || bound.certainly_less(self.accepted())
    }

    fn over_sizes(&mut self, a: u64, b: u64) -> Result<(), Error> {
        let mut size = a + b;
        loop {
            self.interrupt.check()?;
            let peak = |index| height(size, index, self.epsilon, self.interrupt);
            let bound = peak(a - 1)?.max(peak(size - b)?);
            if self.is_settled(bound) {
                return Ok(());
            }
            if size >= 4 * (a + b) + 64 {
                self.above = self.above.max(bound);
                return Ok(());
            }
            Gated::new(size, a, size - b, self.epsilon).search(self)?;
            size += 1;
        }
    }
}

/// Cells of `x`, and what is known at their ends.
#[derive(Clone, Copy)]
struct Cell {
    from: f64,
    to: f64,
}

/// The count of one size.
struct Gated<'a> {
    size: u64,
    least: u64,
    most: u64,
    entries: Ball,
    others: Ball,
    ratio: Ball,
    epsilon: &'a Epsilon,
}

impl<'a> Gated<'a> {
    fn new(size: u64, least: u64, most: u64, epsilon: &'a Epsilon) -> Self {
        let [entries, others] = [size, size - 1].map(Ball::from_u64);
        Self { size, least, most, entries, others, ratio: epsilon.ratio(), epsilon }
    }

    fn search(&self, search: &mut Search<'_>) -> Result<(), Error> {
        let [least, most, size] = [self.least, self.most, self.size].map(|x| x as f64);
        let mut cells = vec![Cell { from: most, to: size }, Cell { from: 0.0, to: least }];
        if self.least < self.most {
            cells.push(Cell { from: least, to: most });
        }
        while let Some(cell) = cells.pop() {
            let bound = self.bound(cell, search)?;
            if search.is_settled(bound) {
                continue;
            }
            let middle = self.split(cell);
            if cell.to - cell.from <= size * NARROWEST || middle <= cell.from || middle >= cell.to {
                search.above = search.above.max(bound);
                continue;
            }
            cells.push(Cell { from: middle, to: cell.to });
            cells.push(Cell { from: cell.from, to: middle });
        }
        Ok(())
    }

    /// `j` at the left and at the right end of a cell.
    fn tests(&self, cell: Cell) -> (u64, u64) {
        let within = |j: u64| j.clamp(self.least - 1, self.most);
        (within(cell.from.floor() as u64), within((cell.to.ceil() as u64).saturating_sub(1)))
    }

    /// In the middle; at an integer, where the cell spans several.
    fn split(&self, cell: Cell) -> f64 {
        let middle = cell.from + (cell.to - cell.from) / 2.0;
        let (first, last) = self.tests(cell);
        if first == last { middle } else { middle.floor().max(cell.from + 1.0) }
    }

    fn bound(&self, cell: Cell, search: &mut Search<'_>) -> Result<Ball, Error> {
        let (first, last) = self.tests(cell);
        if first < last {
            let peak = |index| height(self.size, index, self.epsilon, search.interrupt);
            return Ok(peak(first)?.max(peak(last)?));
        }
        let x = self.split(cell);
        let Some(middle) = self.point(x) else { return Ok(Ball::WHOLE) };
        let own = self.advantage(first, x, &middle, search.interrupt)?;
        let ends = [cell.from, cell.to].map(|x| self.point(x));
        let mut bound = Ball::ZERO;
        let mut attained = Ball::ZERO;
        for other in [self.most, self.least - 1].into_iter().filter(|&other| other != first) {
            let loss = if other == self.most {
                self.advantage(other, x, &middle, search.interrupt)?
            } else {
                self.withheld_below(&middle, search.interrupt)?
            };
            let value = own - loss;
            attained = attained.max(value);
            if let [Some(from), Some(to)] = &ends {
                bound = bound.max(value + self.slope(cell, from, to, first, other));
            } else {
                bound = Ball::WHOLE;
            }
        }
        if attained.is_positive() && search.attained.certainly_less(attained) {
            search.attained = attained;
        }
        if cell.to - cell.from > 1.0 / 64.0 || !ends.iter().all(Option::is_some) {
            bound = bound_below(bound, self.most_of(first, cell, &ends, search.interrupt)?);
        }
        Ok(bound)
    }

    /// The largest `f_j` of a cell.
    fn most_of(
        &self,
        j: u64,
        cell: Cell,
        ends: &[Option<Probability>; 2],
        interrupt: &dyn Interrupt,
    ) -> Result<Ball, Error> {
        let peak = Ball::from_u64(j) * self.entries;
        let [from, to] = [cell.from, cell.to].map(|x| exactly(x) * self.others - peak);
        match ends {
            [_, Some(at)] if to.is_not_positive() => self.advantage(j, cell.to, at, interrupt),
            [Some(at), _] if (-from).is_not_positive() => self.advantage(j, cell.from, at, interrupt),
            _ => height(self.size, j, self.epsilon, interrupt),
        }
    }

    /// `p = x/(x + (N₁−x) r)`; nothing at the ends.
    fn point(&self, x: f64) -> Option<Probability> {
        (x > 0.0 && x < self.size as f64)
            .then(|| Probability::from_odds(exactly(x) / ((self.entries - exactly(x)) * self.ratio)))
    }

    /// `f_j`: with `X ~ Bin(N₁, p)` it is `(1 + r p/q)/(N₁ p) Σ_{c > j} (c − x) P[X = c]`, the stop-loss of `stop_loss.rs` from `j+1` on, positive
    /// terms where `x ≤ j+1`; elsewhere `P[B = j] − (r − 1) P[B ≥ j+1]`.
    fn advantage(&self, j: u64, x: f64, at: &Probability, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let first = Ball::from_u64(j + 1);
        let excess = first - exactly(x);
        if !excess.certainly_less(Ball::ZERO) {
            let sum = over_first_probability(self.size, j + 1, excess, at.odds, interrupt)?;
            let scale = (Ball::ONE + self.ratio * at.odds) / (self.entries * at.p);
            return Ok(scale * binomial_probability(j + 1, self.size, at) * sum);
        }
        let tail = binomial_upper_tail_ball(j + 1, self.size - 1, at, interrupt)?;
        Ok(binomial_probability(j, self.size - 1, at) - self.epsilon.ratio_minus_one() * tail)
    }

    /// `g = r P[B = a−1] + (r − 1) P[B ≤ a−2]`.
    fn withheld_below(&self, at: &Probability, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let others = self.size - 1;
        let tail = binomial_upper_tail_ball(others + 2 - self.least, others, &at.complement(), interrupt)?;
        let next = binomial_probability(self.least - 1, others, at);
        Ok(self.ratio * next + self.epsilon.ratio_minus_one() * tail)
    }

    /// Half the width times the most of `|F'|` in a cell.
    fn slope(&self, cell: Cell, from: &Probability, to: &Probability, j: u64, k: u64) -> Ball {
        let [own, other] = [j, k].map(|index| self.range_of_term(index, cell, from, to));
        let (most, least) = (own.1 - other.0, own.0 - other.1);
        let spread = most.max(-least).max(Ball::ZERO);
        let [x, y] = [cell.from, cell.to].map(exactly);
        let product = (x * (self.entries - x)).min(y * (self.entries - y));
        let largest = self.entries * self.ratio / (product * (y + (self.entries - y) * self.ratio));
        let half = exactly((cell.to - cell.from) / 2.0);
        half * largest * spread
    }

    /// The least and the most of `(k N₁ − N x) P[B = k]` in a cell.
    fn range_of_term(&self, k: u64, cell: Cell, from: &Probability, to: &Probability) -> (Ball, Ball) {
        let others = self.size - 1;
        let index = Ball::from_u64(k);
        let linear = |x: f64| index * self.entries - exactly(x) * self.others;
        let (largest, smallest) = (linear(cell.from), linear(cell.to));
        let [left, right] = [from, to].map(|at| binomial_probability(k, others, at));
        let (mut most, least) = (left.max(right), left.min(right));
        let mean = |at: &Probability| self.others * at.p;
        if !index.certainly_less(mean(from)) && !mean(to).certainly_less(index) {
            let odds = index / Ball::from_u64(others - k);
            most = most.max(binomial_probability(k, others, &Probability::from_odds(odds)));
        }
        let product = |factor: Ball, small: Ball, large: Ball| {
            if factor.is_positive() {
                factor * large
            } else if factor.is_not_positive() {
                factor * small
            } else {
                (factor * large).hull(factor * small)
            }
        };
        (product(smallest, most, least), product(largest, least, most))
    }
}

/// The smaller of two bounds, of which the first may say nothing.
fn bound_below(bound: Ball, other: Ball) -> Ball {
    if other.certainly_less(bound) || !bound.relative_error().is_finite() { other } else { bound }
}

/// A double as it is: cells end at dyadic numbers.
fn exactly(x: f64) -> Ball {
    Ball::from_f64(x).unwrap_or(Ball::WHOLE)
}

impl HockeyStick for Directed<GatedSupremum> {
    fn delta(&self, epsilon: &Epsilon, _: Ball, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let Self(GatedSupremum { first, second, known }, direction) = *self;
        let (first, second) = match direction {
            Direction::OneAgainstZero => (first, second),
            Direction::ZeroAgainstOne => (second, first),
        };
        GatedSupremum { first, second, known }.delta(epsilon, interrupt)
    }

    fn infinity_mass(&self, _: &dyn Interrupt) -> Result<Ball, Error> {
        // It is at most a height, which falls to zero.
        Ok(Ball::ZERO)
    }

    fn reversed(&self) -> Form {
        Arc::new(self.opposite())
    }

    fn terms(&self) -> f64 {
        // Some hundred cells a size, and about as many sizes as the minima.
        1e4 * (self.0.first + self.0.second) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::Curve;
    use crate::interrupt::Uninterrupted;
    use crate::numbers::rational::Rational;

    fn whole(n: u64) -> Rational {
        Rational::from(n)
    }

    /// `Σ (P_1 − r P_0)_+` over the published counts and "withheld", in rationals.
    fn gated(size: u64, least: u64, most: u64, p: &Rational, r: &Rational) -> Rational {
        let others = size - 1;
        let q = whole(1).sub(p);
        let power = |x: &Rational, n: u64| (0..n).fold(whole(1), |product, _| product.mul(x));
        let ways = |k: u64| {
            (1..=k).fold(whole(1), |ways, i| ways.mul(&whole(others + 1 - i)).div(&whole(i)).unwrap())
        };
        let law: Vec<Rational> =
            (0..=others).map(|k| ways(k).mul(&power(p, k)).mul(&power(&q, others - k))).collect();
        let at = |k: Option<u64>| k.and_then(|k| law.get(k as usize).cloned()).unwrap_or_else(|| whole(0));
        let excess = |c: u64| at(c.checked_sub(1)).sub(&r.mul(&at(Some(c))));
        let positive = |x: Rational| x.max(whole(0));
        let published = (least..=most).fold(whole(0), |sum, c| sum.add(&positive(excess(c))));
        let withheld =
            (0..=size).filter(|c| !(least..=most).contains(c)).fold(whole(0), |sum, c| sum.add(&excess(c)));
        published.add(&positive(withheld))
    }

    /// No probability and no size has more, and some of a grid have almost as much.
    #[test]
    fn nothing_exceeds_the_supremum_and_it_is_almost_attained_on_a_grid() {
        for (first, second, known) in [(2, 2, 0), (3, 3, 0), (2, 4, 0), (4, 2, 0), (5, 4, 2)] {
            for ratio in ["1", "11/10", "3", "20"].map(|r| Rational::parse(r).unwrap()) {
                let epsilon = Ball::from_rational(&ratio).ln().to_enclosure().midpoint().unwrap();
                let epsilon = Epsilon::from_f64(epsilon).unwrap();
                let form = GatedSupremum::new(first, second, known).unwrap();
                let found = form.delta(&epsilon, &Uninterrupted).unwrap().to_enclosure();
                assert!(found.width() <= 1e-12 * found.upper(), "{first} {second} {known}: {found:?}");
                let above = Rational::from_f64(found.upper() * (1.0 + 1e-13)).unwrap();
                let below = Rational::from_f64(found.lower() * (1.0 - 1e-2)).unwrap();
                let mut best = whole(0);
                for (split, size, k) in (0..=known)
                    .flat_map(|split| (0..9).map(move |more| (split, first + second - known + more)))
                    .flat_map(|(split, size)| (1..90).map(move |k| (split, size, k)))
                {
                    let (a, b) = (first - split, second - (known - split));
                    // p = x/(x + (N₁ − x) r) on a grid of x.
                    let x = whole(k * size).div(&whole(90)).unwrap();
                    let p = x.div(&x.add(&whole(size).sub(&x).mul(&ratio))).unwrap();
                    let value = gated(size, a, size - b, &p, &ratio);
                    assert!(value <= above, "{first} {second} {known} {size} {k}");
                    best = best.max(value);
                }
                assert!(best >= below, "{first} {second} {known} {ratio:?}: {found:?}");
            }
        }
    }

    #[test]
    fn the_order_of_the_cells_is_the_direction_and_what_cannot_be_sought_is_refused() {
        let value = |first, second, direction| {
            let form = GatedSupremum::new(first, second, 1).unwrap();
            Curve::from(Directed(form, direction)).delta_at(0.5, &Uninterrupted).unwrap()
        };
        let forward = value(3, 6, Direction::OneAgainstZero);
        assert_eq!(forward, value(6, 3, Direction::ZeroAgainstOne));
        assert_ne!(forward, value(6, 3, Direction::OneAgainstZero));
        assert!(GatedSupremum::new(3, 4, 2).is_err());
        assert!(GatedSupremum::new(3, MAX_GATED_SUPREMUM + 1, 0).is_err());
        let curve = Curve::from(Directed(GatedSupremum::new(3, 4, 1).unwrap(), Direction::OneAgainstZero));
        assert_eq!(curve.infinity_mass(&Uninterrupted).unwrap().upper().to_bits(), 0);
    }
}
