//! `Δ_{1,0}(ε)` of the counts of many sizes at one ε, each from that of a larger size nearby.
//!
//! Let `b_n`, `T_n(a) = P[X_n ≥ a]` and `S_n(a) = E(X_n − a)_+` belong to `X_n ~ Bin(n, p)`. As `X_n` is `X_{n−1}` and one entry more, which lifts `X_{n−1}` over
//! `a` from `a − 1`, and `(X_{n−1} − a)_+` by one from `a` on,
//!
//! ```text
//! T_{n−1}(a) = T_n(a) − (a/n) b_n(a),      S_{n−1}(a) = S_n(a) − p T_{n−1}(a),      b_{n−1}(a) = b_n(a) (n−a)/(nq),
//! b_n(a−1) = b_n(a) a q/((n−a+1) p),       S_n(a−1) = S_n(a) + T_n(a),              T_n(a−1) = T_n(a) + b_n(a−1).
//! ```
//!
//! The first line takes an entry away, the second lowers the threshold; `κ_n = n p'` falls with `n`, so `a = ⌈κ_n⌉` goes down as well. At each size
//! `E(X_n − κ_n)_+ = S_n(a) + φ T_n(a)` with `φ = a − κ_n`.
//!
//! Downwards `Δ` grows: what rounding has done stays as it is, and counts for less and less. Upwards it would be the other way round.

use super::count::{Count, Tilted};
use super::{Law, Scaled, Weight, sum};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::laws::{Probability, first_term};
use crate::numbers::ball::Ball;
use crate::numbers::double_double::DoubleDouble;
use statpriv_simd::Portable;

/// Maximum distance of sizes that share work: this number of steps costs as much as one value.
const NEAR: u64 = 48;
/// Where a value may be wrong by more than this part of it, a walk starts anew: `2^-44`.
const WIDEST: f64 = 1.0 / ((1u64 << 44) as f64);
/// Larger ε are left to others: so a step changes a probability by less than a factor of `2^150`.
const LARGEST_EPSILON: f64 = 64.0;
/// What leaves `2^±300` ends a walk; so nothing under- or overflows.
const LARGEST: f64 = ((1u128 << 100) as f64) * ((1u128 << 100) as f64) * ((1u128 << 100) as f64);
/// Sizes between two polls of the interrupt.
const SIZES_PER_CHECK: usize = 64;
/// `2^-53`.
const U: f64 = f64::EPSILON / 2.0;

/// `Δ_{1,0}(ε)` of counts of several sizes, in any order, for ε > 0; nothing at sizes without others nearby, or where a walk does not keep its
/// accuracy: these are to be asked for one by one.
pub(crate) fn deltas_of_sizes(
    sizes: &[u64],
    at: &Probability,
    epsilon: DoubleDouble,
    interrupt: &dyn Interrupt,
) -> Result<Vec<Option<Ball>>, Error> {
    let mut values = vec![None; sizes.len()];
    let Some(mut descent) = Descent::new(at, epsilon) else { return Ok(values) };
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_unstable_by_key(|&place| std::cmp::Reverse(sizes[place]));
    for (count, &place) in order.iter().enumerate() {
        if count.is_multiple_of(SIZES_PER_CHECK) {
            interrupt.check()?;
        }
        let next = order.get(count + 1).map(|&next| sizes[next]);
        values[place] = descent.value(sizes[place], next);
    }
    Ok(values)
}

/// From size to size.
struct Descent<'a> {
    at: &'a Probability,
    law: Law,
    tilted: Tilted,
    rates: Rates,
    walk: Option<Walk>,
    /// How many walks were begun.
    anchors: usize,
}

impl<'a> Descent<'a> {
    /// Nothing where the fast tier does not apply.
    fn new(at: &'a Probability, epsilon: DoubleDouble) -> Option<Self> {
        let law = at.doubles?;
        if !(epsilon.hi > 0.0 && epsilon.hi <= LARGEST_EPSILON) {
            return None;
        }
        let tilted = Tilted::new::<Portable>(law, epsilon)?;
        let rates = Rates::new(law, &tilted);
        Some(Self { at, law, tilted, rates, walk: None, anchors: 0 })
    }

    /// Of a size that is not larger than the one before; `next` is the one that will be asked for next.
    fn value(&mut self, size: u64, next: Option<u64>) -> Option<Ball> {
        let trials = size as f64;
        let (first, phi, error) = Count { trials, law: self.law }.threshold::<Portable>(&self.tilted);
        if first >= trials {
            self.walk = None;
            return None;
        }
        let found = self.walk.as_mut().and_then(|walk| {
            let is_near = walk.trials - trials <= NEAR as f64;
            (is_near && walk.reach(trials, first, &self.rates)).then(|| walk.value(phi, error))?
        });
        if found.is_some() || next.is_none_or(|next| size - next > NEAR) {
            return found;
        }
        self.anchors += 1;
        self.walk = Walk::begin(size, first as u64, self.at, &self.rates);
        self.walk.as_ref().and_then(|walk| walk.value(phi, error))
    }
}

/// What the steps multiply with, in doubles.
struct Rates {
    p: f64,
    /// `1/q` and `q/p`, which err by `2u` and `3u`.
    inverse: f64,
    odds: f64,
    /// `p'`, about.
    share: f64,
    /// At least `p' − p`.
    drift: f64,
    /// `Q/(pq)`, as a ball, is what a value is in units of, divided by `n`.
    scale: Ball,
}

impl Rates {
    /// `p`, `q`, `p'` and `1 − p'` are at most one and rounded, so the difference errs by less than `3u`.
    fn new(law: Law, tilted: &Tilted) -> Self {
        let (p, q) = (law.p.hi, law.q.hi);
        let share = if tilted.is_rare { tilted.smaller.hi } else { 1.0 - tilted.smaller.hi };
        // Q and the two factors are rounded, as are their product and the quotient.
        let scale = Scaled { mantissa: tilted.total / (p * q), exponent: 0, error: 6.0 * U };
        Self {
            p,
            inverse: 1.0 / q,
            odds: q / p,
            share,
            drift: (share - p).max(0.0) + 4.0 * U,
            scale: scale.into(),
        }
    }
}

/// `b_n(a)`, `T_n(a)` and `S_n(a)` in units of the first of them where the walk began, and what they may be wrong by.
///
/// With the error `t` of `T` and `s` of `S`, `v = s + φt` is that of the value at `κ_n`, where `φ = a − κ_n` also between sizes that are asked for. A step that takes an
/// entry away makes `φ + p'` of `φ`, and, if it rounds `T` by `τ` and `S` by `ρ`, `t + τ` of `t` and
/// `s − p(t + τ) + ρ + (φ + p')(t + τ) = v + (p' − p)t + (φ + p' − p)τ + ρ` of `v`. One that lowers the threshold makes `φ − 1` of `φ` and `s + t + ρ + (φ − 1)(t + τ) =
/// v + (φ − 1)τ + ρ` of `v`. So `v` grows by no more than what is lost in each step, and by `t` times the small number `p' − p`.
///
/// The bounds are sums of positive terms: in fewer than `2^40` steps they round by less than the hundredth that is added in the end.
struct Walk {
    trials: f64,
    first: f64,
    term: f64,
    tail: f64,
    excess: f64,
    /// Relative.
    term_error: f64,
    tail_error: f64,
    value_error: f64,
    /// The value is in units of this, divided by `n`.
    unit: Ball,
}

impl Walk {
    /// By the sums of the fast tier, which cost as much as two values.
    fn begin(trials: u64, first: u64, at: &Probability, rates: &Rates) -> Option<Self> {
        let unit = first_term(first, trials, at);
        let tail = sum(trials, at, first, Weight::One)? / unit;
        let excess = sum(trials, at, first, Weight::Excess { phi: 0.0, error: 0.0 })? / unit;
        let (tail, tail_error) = tail.to_double_with_error()?;
        let (excess, excess_error) = excess.to_double_with_error()?;
        Some(Self {
            trials: trials as f64,
            first: first as f64,
            term: 1.0,
            tail,
            excess,
            term_error: 0.0,
            tail_error,
            value_error: excess_error + tail_error,
            unit: unit * rates.scale,
        })
    }

    /// Goes down to that size and threshold; not where it would have to go up, or leaves the range of doubles.
    fn reach(&mut self, trials: f64, first: f64, rates: &Rates) -> bool {
        while self.trials > trials {
            self.take_entry(rates);
            // The threshold may stay behind by one more than in the end: κ itself is only looked at where it is asked for.
            if self.first - self.trials * rates.share > 2.0 {
                self.lower_threshold(rates);
            }
            if !self.is_in_range() {
                return false;
            }
        }
        while self.first > first {
            self.lower_threshold(rates);
        }
        self.first == first && self.is_in_range()
    }

    /// Also false for what is no number.
    fn is_in_range(&self) -> bool {
        self.term > 1.0 / LARGEST && self.term < LARGEST && self.tail < LARGEST && self.excess < LARGEST
    }

    /// At least `|φ − shift|`: `p'` errs by less than `2u`, so `n p'` with its rounding by less than `3nu`, and the differences round by less than `nu`.
    fn at_most(&self, shift: f64, rates: &Rates) -> f64 {
        (self.first - self.trials * rates.share - shift).abs() + 4.0 * U * self.trials
    }

    /// The reciprocal, three products and the factor `1/q` round `b` by `6u`; `(a/n) b` rounds by `3u`, `p T` by `2u`.
    fn take_entry(&mut self, rates: &Rates) {
        let reciprocal = 1.0 / self.trials;
        let lifted = self.first * self.term * reciprocal;
        self.term = (self.trials - self.first) * self.term * reciprocal * rates.inverse;
        self.tail -= lifted;
        let removed = rates.p * self.tail;
        self.excess -= removed;
        self.trials -= 1.0;
        let lost = lifted * (self.term_error + 3.0 * U) + U * self.tail.abs();
        let rounded = 2.0 * U * removed.abs() + U * self.excess.abs();
        self.term_error += 6.0 * U;
        self.tail_error += lost;
        self.value_error += rates.drift * self.tail_error + self.at_most(rates.p, rates) * lost + rounded;
    }

    /// Two products, a quotient and the factor `q/p` round `b` by `6u`.
    fn lower_threshold(&mut self, rates: &Rates) {
        self.excess += self.tail;
        self.term = self.first * self.term * rates.odds / (self.trials - self.first + 1.0);
        self.term_error += 6.0 * U;
        self.tail += self.term;
        self.first -= 1.0;
        let lost = self.term * self.term_error + U * self.tail.abs();
        self.tail_error += lost;
        self.value_error += self.at_most(0.0, rates) * lost + U * self.excess.abs();
    }

    /// `Δ`; nothing where it may be wrong by too much. `φ` counts with twice its `error`, see [`Count::threshold`], and with its rounding.
    fn value(&self, phi: f64, error: f64) -> Option<Ball> {
        let beyond = phi * self.tail;
        let value = self.excess + beyond;
        let rounded = 2.0 * error * self.tail + U * (3.0 * beyond.abs() + value);
        let error = 1.01 * (self.value_error + rounded) / value;
        // Dividing by n rounds once more.
        let scaled = Scaled { mantissa: value / self.trials, exponent: 0, error: error + 2.0 * U };
        (value > 0.0 && error <= WIDEST).then(|| Ball::from(scaled) * self.unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::CountFamily;
    use crate::digits;
    use crate::forms::Direction;
    use crate::interrupt::Uninterrupted;
    use crate::numbers::rational::Rational;
    use proptest::prelude::*;

    fn rational(text: &str) -> Rational {
        Rational::parse(text).unwrap()
    }

    /// The distance from what the digits tier finds, relatively; it shares no computation.
    fn check(size: u64, p: &Rational, epsilon: &Rational, value: Ball) {
        let family = CountFamily::new(p, p, Some(Direction::OneAgainstZero)).unwrap();
        let truth =
            crate::curve::digits::delta(&family.of_size(size).unwrap(), epsilon, 30, &Uninterrupted).unwrap();
        let end = |end: &digits::Dyadic| Ball::from_rational(&end.to_rational().unwrap());
        let gap = value - end(truth.lower()).hull(end(truth.upper()));
        assert!(
            !gap.is_positive() && !(-gap).is_positive(),
            "{size} {p:?} {epsilon:?}: {value:?} is off by {gap:?}"
        );
        assert!(value.relative_error() < 6e-14, "{size} {p:?} {epsilon:?}: {:e}", value.relative_error());
    }

    /// All sizes from the last to the first, and how many walks were begun.
    fn descended(
        sizes: impl DoubleEndedIterator<Item = u64>,
        p: &Rational,
        epsilon: &Rational,
    ) -> (Vec<(u64, Option<Ball>)>, usize) {
        let at = Probability::new(p).unwrap();
        let mut descent =
            Descent::new(&at, Ball::from_rational(epsilon).to_double_double().unwrap()).unwrap();
        let sizes: Vec<u64> = sizes.rev().collect();
        let value = |place: usize| (sizes[place], descent.value(sizes[place], sizes.get(place + 1).copied()));
        let values = (0..sizes.len()).map(value).collect();
        (values, descent.anchors)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::cases::cases(24, 48)))]

        #[test]
        fn values_contain_the_truth_and_are_narrow(
            last in prop_oneof![100u64..3000, 3000u64..1_000_000],
            thousandths in 1u64..1000,
            deviations in prop_oneof![0.01..1.0f64, 1.0..8.0f64, 8.0..40.0f64],
            gaps in prop::collection::vec(0u64..NEAR, 12),
        ) {
            let p = rational(&format!("{thousandths}/1000"));
            let share = thousandths as f64 / 1000.0;
            let epsilon = deviations / (last as f64 * share * (1.0 - share)).sqrt();
            prop_assume!(epsilon < 20.0);
            let epsilon = Rational::from_f64(epsilon).unwrap();
            let mut sizes = vec![last];
            for gap in gaps {
                sizes.insert(0, sizes[0].saturating_sub(gap).max(1));
            }
            for (size, value) in descended(sizes.into_iter(), &p, &epsilon).0 {
                if let Some(value) = value {
                    check(size, &p, &epsilon, value);
                }
            }
        }
    }

    /// A walk is begun anew where its error has grown, not at each size; sizes that lie further apart than that begin none.
    #[test]
    fn a_dense_range_takes_few_walks() {
        for (first, last, p, epsilon, each) in [
            (1000, 3000, "1/2", "0.1", 14),
            (30_000, 32_768, "1/2", "0.01", 14),
            (1_000_000, 1_002_000, "1/100", "0.02", 14),
            // Far from the mean what the first tail is wrong by counts for more.
            (1000, 3000, "1/2", "0.7", 7),
        ] {
            let (p, epsilon) = (rational(p), rational(epsilon));
            let (values, anchors) = descended(first..=last, &p, &epsilon);
            assert!(values.iter().all(|(_, value)| value.is_some()));
            assert!(anchors as u64 <= (last - first) / each, "{anchors} walks for {first} to {last}");
            let (_, again) = descended((first..=last).flat_map(|size| [size; 5]), &p, &epsilon);
            assert_eq!(again, anchors);
            for (size, value) in values.into_iter().step_by(97) {
                check(size, &p, &epsilon, value.unwrap());
            }
            let (apart, anchors) = descended(
                (first..last).rev().step_by(NEAR as usize + 1).collect::<Vec<_>>().into_iter().rev(),
                &p,
                &epsilon,
            );
            assert_eq!((apart.iter().filter(|(_, value)| value.is_some()).count(), anchors), (0, 0));
        }
    }

    /// What the identities themselves say, where every probability is a dyadic rational and nothing rounds.
    #[test]
    fn without_rounding_a_walk_is_exact() {
        let p = rational("1/2");
        let at = Probability::new(&p).unwrap();
        let rates = Rates::new(
            at.doubles.unwrap(),
            &Tilted::new::<Portable>(at.doubles.unwrap(), DoubleDouble::from_f64(0.1)).unwrap(),
        );
        let whole = |n: u64, a: u64| {
            let ways = |k: u64| (0..k).fold(1.0, |ways, i| ways * (n - i) as f64 / (i + 1) as f64);
            let tail: f64 = (a..=n).map(ways).sum();
            let excess: f64 = (a..=n).map(|k| (k - a) as f64 * ways(k)).sum();
            [ways(a), tail, excess].map(|x| x / f64::from(1u32 << n))
        };
        let [term, tail, excess] = whole(20, 14);
        let mut walk = Walk {
            trials: 20.0,
            first: 14.0,
            term,
            tail,
            excess,
            term_error: 0.0,
            tail_error: 0.0,
            value_error: 0.0,
            unit: Ball::ONE,
        };
        assert!(walk.reach(17.0, 11.0, &rates));
        for (found, truth) in [walk.term, walk.tail, walk.excess].into_iter().zip(whole(17, 11)) {
            assert!((found / truth - 1.0).abs() < 1e-14, "{found} is not {truth}");
        }
        assert!(!walk.reach(17.0, 12.0, &rates), "a threshold does not go up");
    }

    /// What leaves the range of doubles, or is no number, is not gone on with: whichever of its parts that is.
    #[test]
    fn a_walk_stays_in_the_range_of_doubles() {
        let in_range = |[term, tail, excess]: [f64; 3]| {
            let errors = (0.0, 0.0, 0.0);
            let (term_error, tail_error, value_error) = errors;
            let (trials, first, unit) = (20.0, 14.0, Ball::ONE);
            Walk { trials, first, term, tail, excess, term_error, tail_error, value_error, unit }
                .is_in_range()
        };
        assert!(in_range([1.0, 1.0, 1.0]) && in_range([1e-90, 1e90, 1e90]));
        for out in [
            [1e-91, 1.0, 1.0],
            [1e91, 1.0, 1.0],
            [1.0, 1e91, 1.0],
            [1.0, 1.0, 1e91],
            [f64::NAN, 1.0, 1.0],
            [1.0, f64::NAN, 1.0],
            [1.0, 1.0, f64::NAN],
        ] {
            assert!(!in_range(out), "{out:?}");
        }
    }

    #[test]
    fn an_interruption_ends_a_descent() {
        struct Never;
        impl Interrupt for Never {
            fn check(&self) -> Result<(), Error> {
                Err(Error::Interrupted)
            }
        }
        let at = Probability::new(&rational("1/2")).unwrap();
        let sizes: Vec<u64> = (100..200).collect();
        let epsilon = DoubleDouble::from_f64(0.1);
        assert_eq!(deltas_of_sizes(&sizes, &at, epsilon, &Never).err(), Some(Error::Interrupted));
    }

    /// In both directions and in any order, with sizes far apart, small ones and those where one answer counts: what is asked for one by one lies within.
    #[test]
    fn a_family_gives_what_its_members_give() {
        let (p, epsilon) = (rational("3/10"), rational("0.2"));
        let sizes: Vec<u64> = (1..400).rev().chain([5000, 777, 4995]).collect();
        for direction in [None, Some(Direction::OneAgainstZero), Some(Direction::ZeroAgainstOne)] {
            let family = CountFamily::new(&p, &p, direction).unwrap();
            let values = family.deltas(&sizes, &epsilon, &Uninterrupted).unwrap();
            for (&size, value) in sizes.iter().zip(values) {
                let alone = family.of_size(size).unwrap().delta(&epsilon, &Uninterrupted).unwrap();
                assert!(value.lower() <= alone.upper() && alone.lower() <= value.upper(), "{size}");
                assert!(value.width() <= 1e-12 * value.upper(), "{size}: {value:?}");
            }
            let refused = |sizes: &[u64], epsilon: &str| {
                family.deltas(sizes, &rational(epsilon), &Uninterrupted).is_err()
            };
            assert!(refused(&[100, 0], "0.2") && refused(&[100], "-0.2") && !refused(&[], "0.2"));
        }
    }
}
