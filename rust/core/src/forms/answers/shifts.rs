//! Many shifts of one law, and which of them may be the worst.
//!
//! Of a sum of independent numbers `d + S` is compared with `S`, for each difference `d` of two values. If the law of `S` is log-concave the
//! largest difference is the worst; else all are tried, hundreds for a hundred values, and doubles tell most of them from the worst. With
//! `l ≤ x ≤ u` for each mass `x` of a row with the missing mass `m` (see [`crate::answer::pmf`]),
//!
//! ```text
//! Σ_a max(0, l(a−d) − r u(a)) − r m  ≤  Δ_d  ≤  Σ_a max(0, u(a−d) − r l(a)) + m.
//! ```
//!
//! *Roundings*, with `η = 2^-53`: `r` is moved by `8η` against the claim, which pays for its product; the difference of two doubles errs by at
//! most `η` of its size, and a sum of `n` of them, none negative, by less than `2nη` of its own; what products and sums lose to underflow is less
//! than two least doubles for each answer.

use super::{Answers, LEVELS};
use crate::answer::pmf::{Pmf, row};
use crate::answer::{Law, Recipe};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::numbers::ball::Ball;
use crate::numbers::enclosure::Enclosure;

/// `8η`.
const MOVED: f64 = 4.0 * f64::EPSILON;
/// Two least doubles.
const UNDERFLOW: f64 = f64::from_bits(2);
/// Number of sums that are formed side by side.
const LANES: usize = 8;

/// Which of several pairs of laws may be the worst, as far as that shows in doubles.
///
/// # Errors
/// [`Error::Interrupted`].
pub(crate) fn contenders(
    pairs: &[&Answers],
    ratio: Ball,
    interrupt: &dyn Interrupt,
) -> Result<Vec<bool>, Error> {
    let mut contends = vec![true; pairs.len()];
    let mut left: Vec<(usize, &Law, i64)> = pairs
        .iter()
        .enumerate()
        .filter_map(|(place, pair)| pair.shift().map(|(law, by)| (place, law, by)))
        .collect();
    while let Some(&(_, law, _)) = left.first() {
        let (alike, others): (Vec<_>, Vec<_>) = left.into_iter().partition(|(_, other, _)| other.is(law));
        let shifts: Vec<i64> = alike.iter().map(|&(_, _, by)| by).collect();
        for (&(place, ..), contender) in alike.iter().zip(contenders_among(law, &shifts, ratio, interrupt)?) {
            if let Some(entry) = contends.get_mut(place) {
                *entry = contender;
            }
        }
        left = others;
    }
    Ok(contends)
}

impl Answers {
    /// `S` and `d`, where the laws are those of `d + S` and of `S`.
    fn shift(&self) -> Option<(&Law, i64)> {
        let [(one, by), (other, from)] = self.laws().map(unmoved);
        one.is(other).then_some((one, by - from))
    }
}

/// A law without the constant that is added, and that constant.
fn unmoved(law: &Law) -> (&Law, i64) {
    match law.recipe() {
        Recipe::Shifted(law, by) => {
            let (law, before) = unmoved(law);
            (law, before + by)
        }
        _ => (law, 0),
    }
}

/// The same of shifts of one law, at the first level of what is missing at which the worst is known to a half.
fn contenders_among(
    law: &Law,
    shifts: &[i64],
    ratio: Ball,
    interrupt: &dyn Interrupt,
) -> Result<Vec<bool>, Error> {
    if shifts.len() > 2 {
        for left_out in LEVELS {
            let known = match row(law, left_out, interrupt) {
                Ok(row) => Doubles::of(&row),
                // The pairs themselves say what is out of reach.
                Err(Error::Precision(_)) => break,
                Err(error) => return Err(error),
            };
            let bound = |&by: &i64| {
                interrupt.check()?;
                Ok(known.delta(by, ratio.to_enclosure()))
            };
            let bounds = shifts.iter().map(bound).collect::<Result<Vec<Enclosure>, Error>>()?;
            let floor = bounds.iter().map(|bound| bound.lower()).fold(0.0, f64::max);
            let most = bounds.iter().map(|bound| bound.upper()).fold(0.0, f64::max);
            if floor > most / 2.0 {
                return Ok(bounds.iter().map(|bound| bound.upper() >= floor).collect());
            }
        }
    }
    Ok(vec![true; shifts.len()])
}

/// A row in doubles.
struct Doubles {
    lower: Vec<f64>,
    upper: Vec<f64>,
    missing: f64,
}

impl Doubles {
    fn of(row: &Pmf) -> Self {
        let (lower, upper) = row
            .masses
            .iter()
            .map(|mass| mass.to_enclosure())
            .map(|mass| (mass.lower().max(0.0), mass.upper()))
            .unzip();
        Self { lower, upper, missing: row.missing.to_enclosure().upper() }
    }

    /// Bounds of `Δ_d`, as in the module documentation.
    fn delta(&self, by: i64, ratio: Enclosure) -> Enclosure {
        let answers = self.lower.len() as f64;
        let (rounding, underflow) = ((answers + 8.0) * f64::EPSILON, answers * UNDERFLOW);
        let least = excess(&self.lower, ratio.upper() * (1.0 + MOVED), &self.upper, by);
        let most = excess(&self.upper, ratio.lower() * (1.0 - MOVED), &self.lower, by);
        let lost = self.missing * ratio.upper() * (1.0 + MOVED) + underflow;
        // Where the ratio is infinite, `lost` may be no number, and nothing is known.
        let lower = (least * (1.0 - rounding) - lost).next_down().max(0.0);
        let upper = (most * (1.0 + rounding) + (self.missing + underflow)).next_up();
        Enclosure::ordered(lower.min(upper), upper)
    }
}

/// `Σ_a max(0, x(a−d) − r y(a))`.
fn excess(x: &[f64], ratio: f64, y: &[f64], by: i64) -> f64 {
    let apart = usize::try_from(by.unsigned_abs()).map_or(x.len(), |apart| apart.min(x.len()));
    let both = x.len() - apart;
    // What is moved up leaves the window of the other at its upper end.
    let ((alone, x), y) = if by < 0 {
        (x.split_at(apart), y.split_at(both).0)
    } else {
        let (x, alone) = x.split_at(both);
        ((alone, x), y.split_at(apart).1)
    };
    let positive = |x: f64, y: f64| {
        let gap = x - ratio * y;
        if gap > 0.0 { gap } else { 0.0 }
    };
    let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (x, y) in x.iter().zip(y) {
        for ((sum, &x), &y) in sums.iter_mut().zip(x).zip(y) {
            *sum += positive(x, y);
        }
    }
    let rest = x_rest.iter().zip(y_rest).map(|(&x, &y)| positive(x, y));
    sums.into_iter().chain(rest).chain(alone.iter().copied()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::tests::{exact, fraction, zero};
    use crate::forms::Epsilon;
    use crate::interrupt::Uninterrupted;
    use crate::numbers::rational::Rational;
    use proptest::prelude::*;

    /// The sum of `count` numbers with probabilities in these proportions.
    fn sum(weights: &[u64], count: u64) -> Law {
        let total = weights.iter().sum();
        let masses = weights.iter().map(|&weight| fraction(weight as i64, total)).collect();
        Law::table(0, masses).unwrap().repeated(count).unwrap()
    }

    /// All shifts by less than the number of values, in both directions.
    fn pairs(law: &Law, values: i64) -> Vec<Answers> {
        let shifts = (1 - values..values).filter(|&by| by != 0);
        shifts.map(|by| Answers::new(law.shifted(by).unwrap(), law.clone())).collect()
    }

    fn asked(pairs: &[Answers], ratio: Ball) -> Vec<bool> {
        contenders(&pairs.iter().collect::<Vec<_>>(), ratio, &Uninterrupted).unwrap()
    }

    proptest! {
        #[test]
        fn the_worst_shift_stays(
            weights in prop::collection::vec(0u64..9, 2..6), count in 1u64..5, eighths in 8u64..40,
        ) {
            prop_assume!(weights.iter().sum::<u64>() > 0);
            let (law, ratio) = (sum(&weights, count), fraction(eighths as i64, 8));
            let pairs = pairs(&law, weights.len() as i64);
            let delta = |pair: &Answers| {
                let [first, second] = pair.laws().map(exact);
                let gap = |(answer, mass): (&i64, &Rational)| {
                    mass.sub(&second.get(answer).cloned().unwrap_or_else(zero).mul(&ratio)).max(zero())
                };
                first.iter().map(gap).fold(zero(), |sum, gap| sum.add(&gap))
            };
            let deltas: Vec<Rational> = pairs.iter().map(delta).collect();
            let worst = deltas.iter().max().unwrap();
            for (delta, stays) in deltas.iter().zip(asked(&pairs, Ball::from_rational(&ratio))) {
                prop_assert!(stays || delta < worst, "{}", delta.shown());
            }
        }
    }

    /// Next to the middle and far out, where next to nothing of a law matters.
    #[test]
    fn of_the_shifts_by_many_values_few_stay() {
        let weights: Vec<u64> = (0..40).map(|i| 1 + (i * 7919) % 41).collect();
        let pairs = pairs(&sum(&weights, 300), 40);
        for epsilon in ["0", "0.1", "2"] {
            let ratio = Epsilon::new(&Rational::parse(epsilon).unwrap()).ratio();
            let stays = asked(&pairs, ratio);
            assert!(stays.iter().filter(|&&stays| stays).count() <= 4, "{epsilon}: {stays:?}");
            assert!(stays[0] || stays[stays.len() - 1]);
        }
    }

    /// Pairs of laws that are no shifts of one, and two shifts, are not looked at.
    #[test]
    fn what_is_no_shift_of_the_same_law_stays() {
        let (one, other) = (sum(&[1, 2, 3], 5), sum(&[1, 2, 3], 5));
        let strange = Answers::new(one.shifted(1).unwrap(), other.clone());
        assert!(strange.shift().is_none());
        let twice = Answers::new(one.shifted(1).unwrap().shifted(4).unwrap(), one.shifted(-2).unwrap());
        assert!(twice.shift().is_some_and(|(law, by)| law.is(&one) && by == 7));
        assert!(twice.reversed().shift().is_some_and(|(_, by)| by == -7));
        let [down, up] = [-1, 1].map(|by| Answers::new(other.shifted(by).unwrap(), other.clone()));
        assert_eq!(asked(&[strange, twice, down, up], Ball::ONE), [true; 4]);
    }

    /// Where nothing of one law meets the other, all of it counts; of an infinite ratio nothing is known but that.
    #[test]
    fn bounds_hold_beyond_the_window_and_for_every_ratio() {
        let known = Doubles { lower: vec![0.25, 0.5], upper: vec![0.25, 0.5], missing: 0.25 };
        for by in [-5, -2, 2, 5, i64::MIN, i64::MAX] {
            let bounds = known.delta(by, Enclosure::point(2.0));
            assert!(bounds.lower() <= 0.25 && 0.25 - bounds.lower() < 1e-14, "{bounds:?}");
            assert!(bounds.upper() >= 1.0 && bounds.upper() - 1.0 < 1e-14, "{bounds:?}");
        }
        let bounds = known.delta(1, Enclosure::ordered(f64::MAX, f64::INFINITY));
        assert!(bounds.lower() == 0.0 && bounds.upper() >= 0.75 && bounds.upper() < 0.751, "{bounds:?}");
    }
}
