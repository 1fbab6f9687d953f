//! Privacy curves to any number of digits: the forms of an expression one by one, each to the accuracy wanted.
//!
//! Means of numbers of one sign, maxima and minima keep relative accuracy, so forms of a few bits more are enough.
//!
//! ```
//! use statpriv_core::curve::CountFamily;
//! use statpriv_core::curve::digits;
//! use statpriv_core::interrupt::Uninterrupted;
//! use statpriv_core::numbers::rational::Rational;
//!
//! # fn main() -> Result<(), statpriv_core::error::Error> {
//! let half = Rational::parse("1/2")?;
//! let curve = CountFamily::new(&half, &half, None)?.of_size(1024)?;
//! let delta = digits::delta(&curve, &Rational::parse("0.005")?, 50, &Uninterrupted)?;
//! assert_eq!(delta.lower().decimal(31, false), "0.02257377618990693694135285815974");
//! # Ok(())
//! # }
//! ```

mod inverse;
mod mean_over_sizes;

use super::{Curve, Inclusion, MeanOverSizes};
use crate::digits::ball::Ball;
use crate::digits::ends::Limit;
use crate::digits::probability::{Ratio, size};
use crate::digits::{DigitsEnclosure, Evaluation, bits_for, logarithm, settle};
use crate::error::Error;
use crate::forms::finite::{ExpEpsilon, Finite};
use crate::forms::{Answers, Digits};
use crate::interrupt::Interrupt;
use crate::numbers::rational::Rational;

/// For an ε below this the value is one, up to `2^-(2^40)`.
const LOWEST: i64 = -(1 << 40);

/// Bits that tell most numbers apart.
const COARSE: usize = 24;

/// `δ(ε)` to `digits` digits, for an ε of either sign.
///
/// # Errors
/// `digits` outside `1..=10000`, [`Error::Precision`], [`Error::Interrupted`].
pub fn delta(
    curve: &Curve,
    epsilon: &Rational,
    digits: u32,
    interrupt: &dyn Interrupt,
) -> Result<DigitsEnclosure, Error> {
    let accuracy = bits_for(digits)?;
    let curve = curve.written_out()?;
    Evaluation::new(epsilon, accuracy, interrupt)
        .curve(&curve)
        .map(|ball| DigitsEnclosure::probability(&ball))
}

/// The hockey stick of two finite laws to `digits` digits, for an ε of either sign or a rational `e^ε`.
///
/// # Errors
/// As [`delta`].
pub fn hockey_stick(
    pair: &Finite,
    at: &ExpEpsilon,
    digits: u32,
    interrupt: &dyn Interrupt,
) -> Result<DigitsEnclosure, Error> {
    match at {
        ExpEpsilon::Exactly(x) => {
            let bits = bits_for(digits)?;
            Ok(DigitsEnclosure::probability(&Ball::rational(&pair.exact(x, interrupt)?, bits)))
        }
        ExpEpsilon::Of(epsilon) => {
            let [first, second] = pair.laws()?;
            delta(&Curve::from(Answers::new(first, second)), epsilon, digits, interrupt)
        }
    }
}

/// `ln δ(ε)` to `digits` digits: where δ is too small for a double too.
///
/// # Errors
/// As [`delta`].
pub fn log_delta(
    curve: &Curve,
    epsilon: &Rational,
    digits: u32,
    interrupt: &dyn Interrupt,
) -> Result<DigitsEnclosure, Error> {
    let (accuracy, curve) = (bits_for(digits)?, curve.written_out()?);
    logarithm(accuracy, interrupt, |accuracy| Evaluation::new(epsilon, accuracy, interrupt).curve(&curve))
}

/// The least `ε ≥ 0` with `δ(ε) ≤ δ`, to `digits` digits; infinite where there is none.
///
/// # Errors
/// A negative δ; as [`delta`].
pub fn epsilon(
    curve: &Curve,
    delta: &Rational,
    digits: u32,
    interrupt: &dyn Interrupt,
) -> Result<DigitsEnclosure, Error> {
    inverse::epsilon(curve, delta, bits_for(digits)?, interrupt)
}

/// The limit of δ(ε) for ε → ∞ to `digits` digits, where it is attained at a finite ε.
///
/// # Errors
/// [`Error::Precision`] where it is not; as [`delta`].
pub fn infinity_mass(
    curve: &Curve,
    digits: u32,
    interrupt: &dyn Interrupt,
) -> Result<DigitsEnclosure, Error> {
    bits_for(digits)?;
    let curve = curve.written_out()?;
    if falls_for_ever(&curve) {
        return Err(Error::precision(
            "the curve falls for ever, to a limit that it does not attain; infinity_mass() without digits= encloses it",
        ));
    }
    delta(&curve, &Rational::from(last_change_of(&curve)), digits, interrupt)
}

impl Evaluation<'_> {
    /// `Δ` of the curve, to the accuracy wanted.
    pub(crate) fn curve(&self, curve: &Curve) -> Result<Ball, Error> {
        if self.epsilon.is_negative() {
            return self.reflected(&curve.reversed());
        }
        let bits = self.accuracy + 64;
        let values =
            |curves: &[Curve]| curves.iter().map(|curve| self.curve(curve)).collect::<Result<Vec<_>, _>>();
        match curve {
            Curve::Form(form) => match form.written_out()? {
                None => form.digits()?.value(self),
                Some(laws) => self.curve(&laws.into()),
            },
            // 1 + (1 + (r−1)/γ − 1)/γ' = 1 + (r−1)/(γγ').
            Curve::Amplified(rate, curve) => {
                let inner = Self { rate: self.rate.mul(&rate.exact), ..*self };
                Ok(inner.curve(curve)?.times(&Ball::rational(&rate.exact, bits), bits))
            }
            Curve::Mean(parts) => parts.iter().try_fold(Ball::zero(), |sum, (weight, curve)| {
                let value = self.curve(curve)?.times(&Ball::rational(&weight.exact, bits), bits);
                Ok(sum.plus(&value, bits))
            }),
            Curve::MeanOverSizes(mean) => self.mean_over_sizes(mean),
            Curve::Max(curves) => self.maximum(curves),
            Curve::Min(curves) => {
                Ok(values(curves)?.into_iter().fold(Ball::one(), |best, value| best.least(value, bits)))
            }
        }
    }

    /// The largest; what a few bits show to be less than another is not evaluated further, nor the same law twice.
    fn maximum(&self, curves: &[Curve]) -> Result<Ball, Error> {
        let mut candidates: Vec<&Curve> = Vec::new();
        for curve in curves {
            if !candidates.iter().any(|other| alike(curve, other)) {
                candidates.push(curve);
            }
        }
        if candidates.len() > 1 && self.accuracy > 4 * COARSE {
            let coarse = self.to_accuracy(COARSE);
            let values = candidates.iter().map(|curve| coarse.curve(curve)).collect::<Result<Vec<_>, _>>()?;
            let best = values
                .iter()
                .fold(Ball::zero(), |best, value| if value.exceeds(&best) { value.clone() } else { best });
            let compared = candidates.into_iter().zip(&values);
            candidates = compared.filter(|(_, value)| !best.exceeds(value)).map(|(curve, _)| curve).collect();
        }
        candidates
            .into_iter()
            .try_fold(Ball::zero(), |best, curve| Ok(best.largest(self.curve(curve)?, self.accuracy + 64)))
    }

    /// `Δ_{v,w}(ε) = 1 − e^ε (1 − Δ_{w,v}(−ε))` for ε < 0.
    fn reflected(&self, opposite: &Curve) -> Result<Ball, Error> {
        if *self.epsilon < Rational::from(LOWEST) {
            let rest = Ball::dyadic(1.into(), i128::from(LOWEST));
            return Ok(Ball::one().widened(&rest, self.accuracy + 64));
        }
        let epsilon = self.epsilon.neg();
        settle(self.accuracy, self.interrupt, |bits| {
            let others = Evaluation::new(&epsilon, bits, self.interrupt).curve(opposite)?;
            let ratio = Ratio::new(self.epsilon).at(bits + 16);
            Ok(ratio.map(|r| {
                Ball::one().minus(&r.times(&Ball::one().minus(&others, bits + 16), bits + 16), bits + 16)
            }))
        })
    }
}

/// Whether two curves are the hockey stick of the same count: for p = 1/2 both directions are.
fn alike(a: &Curve, b: &Curve) -> bool {
    let count = |curve: &Curve| if let Curve::Form(form) = curve { form.as_count() } else { None };
    count(a).is_some_and(|one| count(b).is_some_and(|other| one == other))
}

/// The same for an expression.
pub(crate) fn last_change_of(curve: &Curve) -> u64 {
    match curve {
        Curve::Form(form) => match form.written_out() {
            Ok(None) => form.digits().map_or(0, Digits::last_change),
            Ok(Some(laws)) => last_change_of(&laws.into()),
            Err(_) => 0,
        },
        Curve::Amplified(_, curve) => last_change_of(curve),
        Curve::Mean(parts) => parts.iter().map(|(_, curve)| last_change_of(curve)).max().unwrap_or(0),
        Curve::MeanOverSizes(mean) => last_change_of_mean(mean),
        Curve::Max(curves) | Curve::Min(curves) => curves.iter().map(last_change_of).max().unwrap_or(0),
    }
}

/// Whether some form of an expression [falls for ever](Digits::falls_for_ever).
pub(crate) fn falls_for_ever(curve: &Curve) -> bool {
    match curve {
        Curve::Form(form) => form.digits().is_ok_and(Digits::falls_for_ever),
        Curve::Amplified(_, curve) => falls_for_ever(curve),
        Curve::Mean(parts) => parts.iter().any(|(_, curve)| falls_for_ever(curve)),
        Curve::MeanOverSizes(_) => false,
        Curve::Max(curves) | Curve::Min(curves) => curves.iter().any(falls_for_ever),
    }
}

/// `w_k` is a quotient of integers below `2^(64 + size(c))`, whatever `k`.
fn last_change_of_mean(mean: &MeanOverSizes) -> u64 {
    let inclusion = match mean.inclusion() {
        Inclusion::Certain => 0,
        Inclusion::Among(_) => 2 * 64,
        Inclusion::Beside(outside) => 2 * (64 + size(outside)),
    };
    inclusion + mean.family().of_size(1).map_or(0, |curve| last_change_of(&curve))
}

/// `Δ` at that end; nothing where it would be too long, or is a mean over many.
pub(crate) fn at_limit(curve: &Curve, limit: Limit) -> Option<Rational> {
    let (zero, one) = (Rational::from(0i64), Rational::from(1i64));
    match curve {
        Curve::Form(form) => match form.written_out().ok()? {
            None => form.digits().ok()?.limit(limit),
            Some(laws) => at_limit(&laws.into(), limit),
        },
        Curve::Mean(parts) => parts.iter().try_fold(zero, |sum, (weight, curve)| {
            Some(sum.add(&weight.exact.mul(&at_limit(curve, limit)?)))
        }),
        Curve::Amplified(rate, curve) => at_limit(curve, limit).map(|value| value.mul(&rate.exact)),
        Curve::MeanOverSizes(_) => None,
        Curve::Max(curves) => {
            curves.iter().try_fold(zero, |best, curve| Some(best.max(at_limit(curve, limit)?)))
        }
        Curve::Min(curves) => {
            curves.iter().try_fold(one, |best, curve| Some(best.min(at_limit(curve, limit)?)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Law;
    use crate::budget::MAX_WORKING_BITS;
    use crate::curve::CountFamily;
    use crate::curve::exact::exact_delta;
    use crate::curve::exact::exact_terms;
    use crate::digits::examples::{curves, number};
    use crate::forms::BinomialPeaks;
    use crate::forms::ContinuousNoise;
    use crate::forms::Directed;
    use crate::forms::Direction;
    use crate::forms::ShiftedBinomial;
    use crate::forms::Smoothed;
    use crate::interrupt::Uninterrupted;
    use crate::numbers::rational::exponential;
    use dashu_int::IBig;

    /// The two directions differ in the fortieth digit: the larger cannot be told from the smaller.
    #[test]
    fn the_worst_of_two_directions_has_as_many_digits_as_each() {
        let p = Rational::parse("0.5000000000000000000000000000000000000001").unwrap();
        let curve = CountFamily::new(&p, &p, None).unwrap().of_size(52).unwrap();
        let delta = super::delta(&curve, &Rational::parse("0.1").unwrap(), 30, &Uninterrupted).unwrap();
        let [lower, upper] = [delta.lower(), delta.upper()].map(|end| end.to_rational().unwrap());
        assert!(upper.sub(&lower) <= lower.mul(&Rational::parse("1e-30").unwrap()));
    }

    /// The sum of a third and two thirds is one, and no number of bits shows it.
    #[test]
    fn the_logarithm_of_a_sum_that_is_one_is_known_next_to_zero() {
        let alone = curve_of_one();
        let mean = ["1/3", "2/3"].map(|share| (Rational::parse(share).unwrap().into(), alone.clone()));
        let found = log_delta(&Curve::Mean(mean.into()), &Rational::from(1i64), 20, &Uninterrupted).unwrap();
        let tiny = Rational::parse("1e-9000").unwrap();
        assert!(found.lower().order(&tiny.neg()).is_ge() && found.upper().order(&tiny).is_le());
        assert!(found.lower().order(&Rational::from(0i64)).is_le());
        assert!(found.upper().order(&Rational::from(0i64)).is_ge());
    }

    /// Its δ is one.
    fn curve_of_one() -> Curve {
        let half = Rational::parse("1/2").unwrap();
        CountFamily::new(&half, &half, None).unwrap().of_size(1).unwrap()
    }

    /// With the chance ½ of nothing at all, `½ (1 − e^ε)` is added at ε < 0.
    #[test]
    fn a_mean_whose_weights_leave_something_out_is_reflected_as_a_whole() {
        let half = Rational::parse("1/2").unwrap();
        let curve = Curve::Mean(vec![(half.into(), curve_of_one())]);
        let delta = super::delta(&curve, &Rational::from(-1i64), 20, &Uninterrupted).unwrap();
        // 1 − 1/(2e)
        let [below, above] =
            ["0.81606027941427883920", "0.81606027941427883921"].map(|text| Rational::parse(text).unwrap());
        assert!(delta.lower().order(&below).is_ge() && delta.upper().order(&above).is_le());
    }

    /// As long as one tenth of a unit is missing, it is not `digits` digits.
    #[test]
    fn digits_are_bits_and_their_number_is_limited() {
        for (digits, bits) in [(1, 6), (3, 12), (1000, 3324), (10_000, 33_222)] {
            assert_eq!(bits_for(digits), Ok(bits), "{digits}");
            // 2^-bits < 10^-digits/3
            assert!(IBig::from(10).pow(digits as usize) * 3 < IBig::ONE << bits, "{digits}");
        }
        for digits in [0, 10_001] {
            let refused = bits_for(digits).unwrap_err().to_string();
            assert_eq!(refused, format!("digits = {digits}; an integer from 1 to 10000 is required"));
        }
    }

    /// What is missing is added, and sixteen bits; at most twice as many bits as there are, and half as many if nothing is known.
    #[test]
    fn precision_grows_by_what_is_missing() {
        let attempts = |accuracy, ball: &dyn Fn(usize) -> Option<Ball>| {
            let mut asked = Vec::new();
            let found = settle(accuracy, &Uninterrupted, |bits| {
                asked.push(bits);
                Ok(ball(bits))
            });
            (asked, found.map(|ball| ball.accuracy()))
        };
        // 1 ± 2^-b, to b − 3 bits.
        let known = |bits: usize| Ball::one().widened(&Ball::dyadic(1.into(), -(bits as i128)), bits + 40);
        assert_eq!(attempts(50, &|bits| Some(known(bits))), (vec![62], Ok(59)));
        let late = |bits: usize| Some(known(if bits < 100 { bits - 30 } else { bits }));
        assert_eq!(attempts(50, &late).0, [62, 62 + (50 - 29) + 16]);
        assert_eq!(attempts(0, &|bits| (bits > 30).then(Ball::zero)), (vec![12, 34], Ok(i128::MAX)));
        // A ball that says nothing: half as many bits more at least, twice as many at most.
        let nothing = Ball::one().widened(&Ball::from(2), 60);
        let vague = |bits: usize| Some(if bits < 200 { nothing.clone() } else { known(bits) });
        assert_eq!(attempts(8, &vague).0, [20, 20 + (8 + 4) + 16, 48 + 24 + 16, 88 + 44 + 16, 148 + 74 + 16]);
        let (asked, refused) = attempts(1, &|_| None);
        assert_eq!(asked[..4], [13, 35, 68, 118]);
        assert!(
            *asked.last().unwrap() <= MAX_WORKING_BITS
                && asked.last().unwrap() * 3 / 2 + 16 > MAX_WORKING_BITS
        );
        assert_eq!(
            refused.unwrap_err().to_string(),
            "4194304 bits do not suffice here: the inputs are within 10^-1000000 of a point where the answer jumps"
        );
    }

    /// `δ(ε) = A − e^ε B`, where the exact tier knows `A` and `B`, and `e^ε` comes from another series than that of the digits.
    #[test]
    fn digits_enclose_what_the_exact_terms_say_and_hardly_more() {
        let mut compared = 0;
        for (name, curve) in curves() {
            for epsilon in ["0", "1/1000", "0.3", "2", "40", "-0.2", "-3"].map(number) {
                let Ok((first, second)) = exact_terms(&curve, &epsilon, &Uninterrupted) else { continue };
                let (low, high) = exponential(&epsilon.abs(), 700);
                let ends = [low, high].map(|end| Rational::dyadic(end, 700));
                let one = Rational::from(1i64);
                let value = ends.map(|x| {
                    let ratio = if epsilon.is_negative() { one.div(&x).unwrap() } else { x };
                    first.sub(&if epsilon.is_zero() { second.clone() } else { ratio.mul(&second) })
                });
                for digits in [5, 40] {
                    let found = super::delta(&curve, &epsilon, digits, &Uninterrupted).unwrap();
                    assert!(value.iter().all(|value| found.contains(value)), "{name} at {}", epsilon.shown());
                    let allowed = value[0].abs().mul(&number(&format!("1e-{digits}")));
                    assert!(found.width().to_rational().unwrap() <= allowed, "{name} at {}", epsilon.shown());
                    compared += 1;
                }
            }
        }
        assert!(compared > 250, "{compared}");
    }

    #[test]
    fn the_number_of_attempts_grows_with_the_logarithm_of_the_bits_that_are_missing() {
        let mut attempts = 0;
        let found = settle(80, &Uninterrupted, |bits| {
            attempts += 1;
            let error = Ball::dyadic(1.into(), 50_000 - bits as i128);
            Ok(Some(Ball::one().widened(&error, bits)))
        });
        assert!(found.unwrap().accuracy() >= 80 && attempts < 25, "{attempts}");
    }

    /// `ln p^(n−1)`, where δ is nothing else: beyond what a double holds to a unit, or fixed point in 64 bits.
    #[test]
    fn logarithms_of_the_smallest_deltas_are_found() {
        for (p, size) in [("1e-20", 1u64 << 53), ("1e-5000", (1 << 53) - 1)] {
            let p = Rational::parse(p).unwrap();
            let curve =
                CountFamily::new(&p, &p, Some(Direction::OneAgainstZero)).unwrap().of_size(size).unwrap();
            let delta = log_delta(&curve, &Rational::from(20_000i64), 25, &Uninterrupted).unwrap();
            let factor = Rational::from(size - 1);
            let one = log_delta(&curve_of_two(&p), &Rational::from(20_000i64), 40, &Uninterrupted).unwrap();
            let [lower, upper] =
                [one.lower(), one.upper()].map(|end| end.to_rational().unwrap().mul(&factor));
            assert!(delta.lower().order(&upper).is_le() && delta.upper().order(&lower).is_ge());
        }
    }

    /// Its δ is p, for a large ε.
    fn curve_of_two(p: &Rational) -> Curve {
        CountFamily::new(p, p, Some(Direction::OneAgainstZero)).unwrap().of_size(2).unwrap()
    }

    /// `e^(last change)` is beyond every finite likelihood ratio.
    #[test]
    fn beyond_its_last_change_a_curve_is_constant() {
        for (name, curve) in curves() {
            let last = last_change_of(&curve) as usize;
            let at = |bits: usize| exact_delta(&curve, &Rational::from(IBig::ONE << bits), &Uninterrupted);
            // 2^last < e^last
            let Ok(limit) = at(last) else { continue };
            assert_eq!(at(2 * last).unwrap(), limit, "{name}");
            for epsilon in [last, last + 1, 3 * last] {
                let epsilon = Rational::from(epsilon as u64);
                let value = Evaluation::new(&epsilon, 60, &Uninterrupted).curve(&curve).unwrap();
                let exact = Ball::rational(&limit, 200);
                assert!(!value.exceeds(&exact) && !exact.exceeds(&value), "{name}");
                assert!(value.accuracy() >= 60, "{name}");
            }
        }
    }

    #[test]
    fn every_curve_is_as_accurate_as_it_is_asked_for() {
        for (name, curve) in curves() {
            for epsilon in ["0", "0.1", "-0.1"].map(number) {
                let value = Evaluation::new(&epsilon, 200, &Uninterrupted).curve(&curve).unwrap();
                assert!(value.accuracy() >= 200, "{name} {epsilon:?}: {}", value.accuracy());
            }
        }
    }

    /// `1 − 2^-(2^40)` and more, without a power that cannot be written down.
    #[test]
    fn at_the_lowest_epsilon_a_curve_is_one() {
        let (_, curve) = curves().swap_remove(2);
        let epsilon = Rational::from(LOWEST - 1);
        let value = Evaluation::new(&epsilon, 60, &Uninterrupted).curve(&curve).unwrap();
        assert!(!value.exceeds(&Ball::one()) && !Ball::one().exceeds(&value));
        let unit = value.spread();
        assert!(Ball::one().scaled(-60).exceeds(&unit));
    }

    /// For p = 1/2, and for p against 1 − p in the other direction.
    #[test]
    fn the_same_count_is_recognised() {
        use Direction::{OneAgainstZero, ZeroAgainstOne};
        let count = |n: u64, p: &str, w: &str, direction| {
            Curve::from(Directed(ShiftedBinomial::new(n, &number(p), &number(w)).unwrap(), direction))
        };
        let first = count(9, "1/3", "1", OneAgainstZero);
        for (other, same) in [
            (count(9, "1/3", "1", OneAgainstZero), true),
            (count(9, "2/3", "1", ZeroAgainstOne), true),
            (count(9, "1/3", "1", ZeroAgainstOne), false),
            (count(9, "2/3", "1", OneAgainstZero), false),
            (count(8, "1/3", "1", OneAgainstZero), false),
            (count(9, "1/3", "1/2", OneAgainstZero), false),
            (Curve::Max(vec![first.clone()]), false),
        ] {
            assert_eq!(alike(&first, &other), same, "{other:?}");
        }
    }

    #[test]
    fn what_has_no_digits_is_refused() {
        let law = |p| Law::binomial(5, &number(p)).unwrap();
        let answers = Answers::new(law("1/3"), law("1/2"));
        let noise = ContinuousNoise::Laplace { scale: number("1") };
        let curve = Curve::from(Smoothed::new(answers, noise).unwrap());
        let one = Rational::from(1i64);
        let refused = Evaluation::new(&one, 60, &Uninterrupted).curve(&curve).unwrap_err();
        let message =
            "a curve with continuous noise has no closed digits; delta() without digits= encloses it";
        assert_eq!(refused.to_string(), message);
    }

    /// Of two others the test "one at least" has the height `E(L − rK)_+ = 1/(1 + r)`, `L` and `K` exponential: at every ε, and never 0.
    #[test]
    fn the_height_of_a_peak_of_an_open_range_has_digits_at_every_epsilon() {
        let peaks = BinomialPeaks::new(3, vec![1], &number("0"), &number("1")).unwrap();
        let curve = Curve::from(Directed(peaks, Direction::OneAgainstZero));
        for epsilon in ["0", "1/2", "70", "4000"].map(number) {
            let value = Evaluation::new(&epsilon, 200, &Uninterrupted).curve(&curve).unwrap();
            let ratio = Ratio::new(&epsilon).at(300).unwrap();
            let one = value.times(&ratio.plus(&Ball::one(), 300), 300);
            assert!(!one.exceeds(&Ball::one()) && !Ball::one().exceeds(&one), "{epsilon:?}");
            assert!(value.accuracy() >= 200, "{epsilon:?}");
        }
        let refused = infinity_mass(&curve, 20, &Uninterrupted).unwrap_err().to_string();
        assert!(refused.starts_with("the curve falls for ever"), "{refused}");
    }

    /// Beside no other entry, and of all or of none.
    #[test]
    fn tests_of_one_entry_show_nothing_or_all() {
        let value = |tests: Vec<u64>, lower: &str, upper: &str| {
            let tests = BinomialPeaks::new(1, tests, &number(lower), &number(upper)).unwrap();
            let one = Rational::from(1i64);
            Evaluation::new(&one, 60, &Uninterrupted)
                .curve(&Curve::from(Directed(tests, Direction::OneAgainstZero)))
                .unwrap()
        };
        assert!(value(vec![], "1/3", "1/2").is_zero());
        assert!(value(vec![0], "1/3", "1/2").midpoint().exceeds(&Ball::one().half()));
    }
}
