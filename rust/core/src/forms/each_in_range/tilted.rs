//! An upper bound of the hockey stick of `d + S` and `S`, `S` a sum of two binomial numbers, in plain doubles.
//!
//! The search over the number of entries at either end asks for many such values, and needs no more than ten digits of those that are not the largest.
//!
//! **Tilting.** Let `b` and `c` be the two laws, `i*` and `j*` any two places, `t > 0`, and
//!
//! ```text
//! u_i = b_i t^{i−i*}/b_{i*},    w_j = c_j t^{j−j*}/c_{j*}.
//! P[S = s] = b_{i*} c_{j*} t^{−(s−i*−j*)} C_s,   C_s = Σ_i u_i w_{s−i}
//! P[S ≥ a] = b_{i*} c_{j*} t^{−(a−i*−j*)} Σ_i u_i V_{a−i},   V_j = Σ_{m≥j} w_m t^{−(m−j)}
//! ```
//!
//! with `V_j = w_j + V_{j+1}/t`, computed with the inverse of `t`. With `t = e^{ε/d}` the products peak where the likelihood ratio is about `e^ε`, so that no number is large or small.
//!
//! **Errors.** `u` is computed from its neighbour by one ratio `(n−i)/(i+1)·o`, with `o` the odds times `t`. The odds err by `2u` (`u = 2^-53`), their
//! product with `t` by `u` more, and ratio and product by `3u`: after `m` steps all of it is less than `7mu` as long as `7mu < 2^-10`. The same holds for `V`,
//! where one step is a product with a rounded inverse and a sum. A sum of `l` products of positive numbers errs by `(l+1)u`. The sum of all these is `error`, and every number is
//! multiplied by `1 ± error`.
//!
//! **What is cut.** Rows end where a term is below `2^-64` of the largest. Ratios fall, so what follows a term `x` with ratio `ρ < 1` sums to at most
//! `x/(1−ρ)`: `outside`. A convolution lacks at most `outside(u) max w + outside(w) max u`. Tails are used as lower bounds only (for one step), so what they
//! lack is left out.
//!
//! **The threshold.** With `d_k = P[S = k−d] − r P[S = k]`, whose sign changes once (see [`super::super::grouped_count`]), let `d_{a−2} < 0 < d_{a+1}` be
//! certain. Then `Δ = f_a + (d_{a−1})_+ + (−d_a)_+`, and each term is bounded above.

use crate::budget::MAX_TILTED_ROW;
use crate::forms::Epsilon;
use crate::laws::{Probability, binomial_probability};
use crate::numbers::approximate;
use crate::numbers::ball::Ball;
use std::cell::Cell;

/// `2^-53`.
const UNIT: f64 = f64::EPSILON / 2.0;
/// Terms below this part of the largest are cut: `2^-64`.
const CUT: f64 = 1.0 / (1u128 << 64) as f64;
/// The most steps from the guess to the threshold.
const STEPS: usize = 64;
/// Places whose convolutions are kept.
const COMPUTED: usize = 16;
/// The largest gap: so many probabilities are summed one by one.
const LARGEST_GAP: u64 = 1024;

/// An upper bound of `H_r(d + S ‖ S)` for `S` of `k` trials of one probability and `l` of another; nothing where doubles do not tell.
pub(super) fn upper_bound(
    (k, first): (u64, &Probability),
    (l, second): (u64, &Probability),
    gap: u64,
    epsilon: &Epsilon,
) -> Option<Ball> {
    let ratio = epsilon.ratio().to_enclosure();
    let less = epsilon.ratio_minus_one().to_enclosure();
    if !(ratio.upper() < 1e300 && gap <= LARGEST_GAP) {
        return None;
    }
    let tilt = approximate::exp(epsilon.value.to_enclosure().lower() / gap as f64);
    let (u, w) = (Row::new(k, first, tilt)?, Row::new(l, second, tilt)?);
    let sum = Sum::new(u, w, tilt, gap as i64)?;
    let at = sum.threshold((ratio.lower(), ratio.upper()))?;
    let value = sum.hockey_stick(at, (ratio.lower(), ratio.upper()), less.lower())?;
    let anchors =
        binomial_probability(sum.u.anchor, k, first) * binomial_probability(sum.w.anchor, l, second);
    let shift = at - (sum.u.anchor + sum.w.anchor) as i64;
    let tilted = Ball::from_f64(tilt)?.powi(shift.unsigned_abs());
    let scale = if shift < 0 { anchors * tilted } else { anchors / tilted };
    Some(scale * Ball::from_f64(value)?)
}

/// The tilted law of one binomial number, relative to its anchor.
struct Row {
    anchor: u64,
    first: i64,
    values: Vec<f64>,
    largest: f64,
    /// What was cut sums to less.
    outside: f64,
    /// The greatest distance from the anchor.
    steps: usize,
}

impl Row {
    fn new(trials: u64, at: &Probability, tilt: f64) -> Option<Self> {
        if trials == 0 {
            return Some(Self {
                anchor: 0,
                first: 0,
                values: vec![1.0],
                largest: 1.0,
                outside: 0.0,
                steps: 0,
            });
        }
        let (n, odds) = (trials as f64, at.odds.to_enclosure().lower() * tilt);
        if !(1e-100..1e100).contains(&odds) {
            return None;
        }
        let anchor = ((n * (odds / (1.0 + odds))).round() as u64).min(trials);
        let above = Side::new(trials - anchor, |m| {
            let i = (anchor + m) as f64;
            (n - i) / (i + 1.0) * odds
        })?;
        let below = Side::new(anchor, |m| {
            let i = (anchor - m) as f64;
            i / ((n - i + 1.0) * odds)
        })?;
        let steps = above.values.len().max(below.values.len());
        let first = anchor as i64 - below.values.len() as i64;
        let mut values = below.values;
        values.reverse();
        values.push(1.0);
        values.extend(above.values);
        let largest = values.iter().copied().fold(0.0, f64::max);
        Some(Self { anchor, first, values, largest, outside: above.outside + below.outside, steps })
    }

    fn last(&self) -> i64 {
        self.first + self.values.len() as i64 - 1
    }
}

/// The values on one side of an anchor, outwards, without the anchor.
struct Side {
    values: Vec<f64>,
    outside: f64,
}

impl Side {
    /// Up to `most` values; `ratio(m)` leads from the one at distance `m` to the next and falls with `m`.
    fn new(most: u64, ratio: impl Fn(u64) -> f64) -> Option<Self> {
        let (mut values, mut value) = (Vec::new(), 1.0);
        for m in 0..most {
            let step = ratio(m);
            value *= step;
            if value < CUT {
                // The ratio errs by 3u, which is less than a millionth of `1 − ρ` here.
                let gap = 1.0 - step;
                return (gap > 1e-9).then(|| Self { values, outside: 1.01 * value / gap });
            }
            if m >= MAX_TILTED_ROW {
                return None;
            }
            values.push(value);
        }
        Some(Self { values, outside: 0.0 })
    }
}

/// Both rows, and what follows from them.
struct Sum {
    u: Row,
    w: Row,
    /// `w` from the last to the first.
    reversed: Vec<f64>,
    /// `V_j` from the last `j` of `w` to the first.
    tails: Vec<f64>,
    tilt: f64,
    gap: i64,
    /// The relative error of every sum.
    error: f64,
    /// What a convolution lacks.
    lacking: f64,
    /// Convolutions that were computed, each with its place: the search for the threshold asks for the same few again.
    computed: [Cell<(i64, f64)>; COMPUTED],
}

impl Sum {
    fn new(u: Row, w: Row, tilt: f64, gap: i64) -> Option<Self> {
        let reversed: Vec<f64> = w.values.iter().rev().copied().collect();
        let mut tails = vec![0.0; w.values.len()];
        let (mut sum, inverse) = (0.0, 1.0 / tilt);
        for (tail, value) in tails.iter_mut().zip(&reversed) {
            sum = value + sum * inverse;
            *tail = sum;
        }
        let operations =
            7 * (u.steps + w.steps) + 5 * (u.values.len() + w.values.len()) + 8 * gap as usize + 64;
        let error = operations as f64 * UNIT * 1.01;
        let lacking = 1.01 * (u.outside * w.largest + w.outside * u.largest);
        let computed = [const { Cell::new((i64::MIN, 0.0)) }; COMPUTED];
        (error < 1e-4).then_some(Self { u, w, reversed, tails, tilt, gap, error, lacking, computed })
    }

    /// `C_s`, computed once.
    fn convolution(&self, s: i64) -> f64 {
        let kept = &self.computed[s.rem_euclid(COMPUTED as i64) as usize];
        if kept.get().0 != s {
            kept.set((s, self.convolved(s)));
        }
        kept.get().1
    }

    /// `C_s`.
    fn convolved(&self, s: i64) -> f64 {
        let (from, to) = (self.u.first.max(s - self.w.last()), self.u.last().min(s - self.w.first));
        if from > to {
            return 0.0;
        }
        let length = (to - from + 1) as usize;
        let (i, j) = ((from - self.u.first) as usize, (self.w.last() - (s - from)) as usize);
        dot(&self.u.values[i..i + length], &self.reversed[j..j + length])
    }

    /// `Σ_i u_i V_{a−i}`, computed.
    fn tail(&self, a: i64) -> f64 {
        // Up to the edge the tail begins within the second row, beyond it before that row.
        let (edge, length) = (a - self.w.first, self.tails.len() as i64);
        let place = |i: i64| (i - self.u.first).clamp(0, self.u.values.len() as i64) as usize;
        let (from, to) = (place(edge + 1 - length), place(edge + 1));
        let mut sum = 0.0;
        if from < to {
            let skipped = (self.u.first + from as i64 - (edge + 1 - length)) as usize;
            sum = dot(&self.u.values[from..to], &self.tails[skipped..skipped + to - from]);
        }
        let mut beyond = self.tails.last().copied().unwrap_or(0.0);
        for u in &self.u.values[to..] {
            beyond /= self.tilt;
            sum += u * beyond;
        }
        sum
    }

    /// `t^m`.
    fn power(&self, m: i64) -> f64 {
        (0..m.unsigned_abs()).fold(1.0, |power, _| if m < 0 { power / self.tilt } else { power * self.tilt })
    }

    /// Bounds of `P[S = s] t^{a−i*−j*}` over the anchors' probabilities.
    fn mass(&self, s: i64, a: i64) -> (f64, f64) {
        let (value, factor) = (self.convolution(s), self.power(a - s));
        (value * factor * (1.0 - self.error), (value + self.lacking) * factor * (1.0 + self.error))
    }

    /// The sign of `d_k` where it is certain, and an upper bound of it.
    fn difference(&self, k: i64, a: i64, ratio: (f64, f64)) -> (i8, f64, f64) {
        let (above, below) = (self.mass(k - self.gap, a), self.mass(k, a));
        let (least, most) = (above.0 - ratio.1 * below.1, above.1 - ratio.0 * below.0);
        let slack = 8.0 * UNIT * (above.1 + ratio.1 * below.1);
        let sign = i8::from(least > slack) - i8::from(most < -slack);
        (sign, least - slack, most + slack)
    }

    /// An `a` with `d_{a−2} < 0 < d_{a+1}`.
    fn threshold(&self, ratio: (f64, f64)) -> Option<i64> {
        let middle = (self.u.anchor + self.w.anchor) as i64 + (self.gap + 1) / 2;
        let mut a = middle;
        for _ in 0..STEPS {
            let sign = |k: i64| self.difference(k, a, ratio).0;
            if sign(a - 1) > 0 {
                a -= 1;
            } else if sign(a) < 0 {
                a += 1;
            } else {
                return (sign(a - 2) < 0 && sign(a + 1) > 0).then_some(a);
            }
        }
        None
    }

    /// An upper bound of `Δ t^{a−i*−j*}` over the anchors' probabilities.
    fn hockey_stick(&self, a: i64, ratio: (f64, f64), less: f64) -> Option<f64> {
        if a - self.w.first < self.u.first {
            return None; // the tail begins within the first row, or at its edge
        }
        let (low, high) = (1.0 - self.error, 1.0 + self.error);
        let tail = self.tail(a) * low;
        let passed = (a - self.gap..a).map(|s| self.mass(s, a).1).sum::<f64>();
        let below = self.difference(a - 1, a, ratio).2.max(0.0);
        let above = (-self.difference(a, a, ratio).1).max(0.0);
        let rest = less.max(0.0) * tail;
        let value = passed * high - rest + below + above + 32.0 * UNIT * (passed + rest);
        (value > 0.0).then_some(value)
    }
}

/// A sum of products, in eight partial sums.
fn dot(first: &[f64], second: &[f64]) -> f64 {
    let mut partial = [0.0; 8];
    let ((head, rest), (other, other_rest)) = (first.as_chunks::<8>(), second.as_chunks::<8>());
    for (a, b) in head.iter().zip(other) {
        for lane in 0..8 {
            partial[lane] += a[lane] * b[lane];
        }
    }
    partial.iter().sum::<f64>() + rest.iter().zip(other_rest).map(|(a, b)| a * b).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::super::super::grouped_count::tests::{contains, rational};
    use super::super::EachInRange;
    use super::*;
    use crate::forms::Direction;
    use crate::interrupt::Uninterrupted;
    use proptest::prelude::*;

    /// The bound, and the value by the inversion of transforms.
    fn both(
        (k, first): (u64, &str),
        (l, second): (u64, &str),
        gap: u64,
        epsilon: f64,
    ) -> (Option<Ball>, Ball) {
        let [high, low] = [first, second].map(|p| Probability::new(&rational(p)).unwrap());
        let epsilon = Epsilon::from_f64(epsilon).unwrap();
        let count = EachInRange::new(k + l, gap, &rational(second), &rational(first)).unwrap();
        let search = count.search(Direction::OneAgainstZero, &epsilon, &Uninterrupted).unwrap();
        (upper_bound((k, &high), (l, &low), gap, &epsilon), search.value(k, l).unwrap())
    }

    fn is_just_above(bound: Option<Ball>, value: Ball, width: f64) -> bool {
        let Some(bound) = bound else { return false };
        !bound.certainly_less(value) && !(value * Ball::from_f64(1.0 + width).unwrap()).certainly_less(bound)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::cases::cases(60, 2000)))]

        #[test]
        fn the_bound_is_above_the_value_and_next_to_it(
            k in 0u64..200, l in 0u64..200, first in 1u32..999, second in 1u32..999, gap in 1u64..6,
            epsilon in prop_oneof![Just(0.0), 0.0..0.3f64, 0.0..2.0f64],
        ) {
            prop_assume!(k + l >= gap);
            let (first, second) = (first.max(second), first.min(second));
            let [high, low] = [first, second].map(|p| format!("{p}/1000"));
            let (bound, value) = both((k, &high), (l, &low), gap, epsilon);
            if let Some(bound) = bound {
                prop_assert!(is_just_above(Some(bound), value, 1e-8), "{:?} {:?}", bound, value);
            }
        }
    }

    #[test]
    fn it_is_known_where_it_is_needed() {
        for (k, l, gap, epsilon) in [
            (500, 500, 1, 0.0),
            (500, 500, 1, 0.1),
            (0, 1000, 1, 0.02),
            (1000, 0, 3, 0.1),
            (5000, 4000, 1, 0.5),
            (500_000, 400_000, 1, 1e-3),
            (500_000, 400_000, 40, 1e-2),
        ] {
            let (bound, value) = both((k, "9/10"), (l, "1/10"), gap, epsilon);
            assert!(is_just_above(bound, value, 1e-7), "{k} {l} {gap} {epsilon}: {bound:?} {value:?}");
        }
    }

    #[test]
    fn what_doubles_do_not_tell_is_left_to_balls() {
        let at = |p: &str| Probability::new(&rational(p)).unwrap();
        let bound = |k, p: &str, gap, epsilon| {
            upper_bound((k, &at(p)), (3, &at("1/10")), gap, &Epsilon::from_f64(epsilon).unwrap())
        };
        assert!(bound(30, "1/2", 1, 0.1).is_some());
        assert!(bound(30, "1/2", 1, 800.0).is_none(), "e^epsilon is no double");
        assert!(bound(30, "1e-200", 1, 0.1).is_none(), "the odds are too small");
        assert!(bound(30, "1/2", LARGEST_GAP + 1, 0.1).is_none(), "too many probabilities are summed");
        assert!(bound(1 << 50, "1/2", 1, 1e-9).is_none(), "the row is too long");
        let (value, exact) = both((1, "1/2"), (1, "1/2"), 1, 0.0);
        assert!(value.is_none_or(|bound| contains(bound.max(exact), bound)));
    }

    #[test]
    fn a_row_keeps_all_but_what_it_says() {
        let (n, odds) = (400u64, 3.0);
        let row = Row::new(n, &Probability::new(&rational("3/4")).unwrap(), 1.0).unwrap();
        assert_eq!(row.anchor, 300);
        let at = |i: u64| {
            let terms =
                (row.anchor.min(i)..row.anchor.max(i)).map(|j| (n - j) as f64 / (j + 1) as f64 * odds);
            let product: f64 = terms.product();
            if i < row.anchor { 1.0 / product } else { product }
        };
        let kept = |i: u64| (row.first..=row.last()).contains(&(i as i64));
        let cut: f64 = (0..=n).filter(|&i| !kept(i)).map(at).sum();
        assert!(cut > 0.0 && cut <= row.outside && row.outside < 1e-17 && row.largest >= 1.0);
    }
}
