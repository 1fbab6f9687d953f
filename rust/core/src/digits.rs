//! Digits on demand: enclosures of any relative width, by integer arithmetic of any length.
//!
//! This tier shares the descriptions of laws and curves with the rest of the crate, and no computation: it checks the
//! other tiers, and they check it. Every number is computed as a ball with some guard bits; if the ball is wider than was
//! asked for, again with more bits. So the accuracy is that of the result, not that of the working precision.
//!
//! ```
//! use statpriv_core::curve::CountFamily;
//! use statpriv_core::digits;
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

mod ball;
mod binomial;
mod complex;
#[cfg(test)]
mod cost;
mod curve;
mod elementary;
mod enclosure;
mod ends;
#[cfg(test)]
mod examples;
mod hockey_stick;
mod hypergeometric;
mod inverse;
mod lattice;
mod laws;
mod mean_over_sizes;
mod probability;

pub use enclosure::{DigitsEnclosure, Dyadic};
pub use laws::{
    binomial_log_pmf, binomial_lower_tail, binomial_pmf, binomial_upper_tail, hypergeometric_log_pmf,
    hypergeometric_lower_tail, hypergeometric_pmf, hypergeometric_upper_tail, poisson_binomial_pmf,
};

use crate::curve::Curve;
use crate::error::Error;
use crate::forms::Answers;
use crate::forms::finite::{ExpEpsilon, Finite};
use crate::interrupt::Interrupt;
use crate::numbers::rational::Rational;
use ball::Ball;
use curve::Evaluation;

/// The most digits that can be asked for.
pub const MOST_DIGITS: u32 = 10_000;
/// Working precisions beyond this many bits are given up.
const MOST_BITS: usize = 1 << 22;
/// With more bits, a logarithm that is below `2^-NEXT_TO_ONE/2`, and perhaps zero, is not asked for more.
const NEXT_TO_ONE: usize = 1 << 16;

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
            delta(&Curve::Answers(Answers::new(first, second)), epsilon, digits, interrupt)
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

/// The limit of δ(ε) for ε → ∞ to `digits` digits; it is attained at a finite ε.
///
/// # Errors
/// As [`delta`].
pub fn mass_at_infinity(
    curve: &Curve,
    digits: u32,
    interrupt: &dyn Interrupt,
) -> Result<DigitsEnclosure, Error> {
    bits_for(digits)?;
    let curve = curve.written_out()?;
    delta(&curve, &Rational::from(curve::last_change_of(&curve)), digits, interrupt)
}

/// Bits of relative accuracy that make a width of at most `10^-digits`: `log2 10 < 3.322`.
fn bits_for(digits: u32) -> Result<usize, Error> {
    if digits == 0 || digits > MOST_DIGITS {
        return Err(Error::argument(format!(
            "digits = {digits}; an integer from 1 to {MOST_DIGITS} is required"
        )));
    }
    Ok((digits as usize * 3322).div_ceil(1000) + 2)
}

/// Tries with more and more bits until the relative accuracy is reached.
fn settle(
    accuracy: usize,
    interrupt: &dyn Interrupt,
    mut attempt: impl FnMut(usize) -> Result<Option<Ball>, Error>,
) -> Result<Ball, Error> {
    let mut bits = accuracy + 12;
    while bits <= MOST_BITS {
        interrupt.check()?;
        let found = attempt(bits)?;
        let missing = match &found {
            Some(ball) if ball.is_zero() => return Ok(ball.clone()),
            Some(ball) => usize::try_from(accuracy as i128 - ball.accuracy()).unwrap_or(0),
            None => bits / 2,
        };
        match found {
            Some(ball) if missing == 0 => return Ok(ball),
            // A ball that says nothing does not say either how much is missing.
            Some(ball) if ball.accuracy() <= 0 => bits += missing.clamp(bits / 2, 2 * bits) + 16,
            _ => bits += missing.min(2 * bits) + 16,
        }
    }
    Err(Error::precision(format!(
        "{MOST_BITS} bits do not suffice here: the inputs are within 10^-1000000 of a point where the answer jumps"
    )))
}

/// The logarithm of a probability that can be had to any accuracy. No accuracy tells a sum that is one from one: there the
/// logarithm is known next to zero.
fn logarithm(
    accuracy: usize,
    interrupt: &dyn Interrupt,
    probability: impl Fn(usize) -> Result<Ball, Error>,
) -> Result<DigitsEnclosure, Error> {
    let (mut vanishes, mut about_zero) = (false, None);
    let one = Ball::one();
    let value = settle(accuracy, interrupt, |bits| {
        let ball = probability(bits)?;
        vanishes = ball.is_zero();
        if vanishes || ball.is_exact() && !ball.exceeds(&one) && !one.exceeds(&ball) {
            return Ok(Some(Ball::zero()));
        }
        let logarithm = elementary::ln(&ball, bits + 16);
        let is_about_zero = |ball: &Ball| ball.accuracy() <= 0 && ball.log2() < -(NEXT_TO_ONE as i128 / 2);
        about_zero = logarithm.clone().filter(|ball| bits > NEXT_TO_ONE && is_about_zero(ball));
        Ok(if about_zero.is_some() { Some(Ball::zero()) } else { logarithm })
    })?;
    let known = about_zero.unwrap_or(value);
    Ok(if vanishes { DigitsEnclosure::point(Dyadic::MinusInfinity) } else { DigitsEnclosure::from(&known) })
}

#[cfg(test)]
mod tests {
    use super::cost::Cost;
    use super::examples::number;
    use super::*;
    use crate::curve::CountFamily;
    use crate::exact::exact_terms;
    use crate::forms::Direction;
    use crate::interrupt::Uninterrupted;
    use crate::numbers::rational::exponential;
    use crate::record::Record;
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
        assert!(*asked.last().unwrap() <= MOST_BITS && asked.last().unwrap() * 3 / 2 + 16 > MOST_BITS);
        assert_eq!(
            refused.unwrap_err().to_string(),
            "4194304 bits do not suffice here: the inputs are within 10^-1000000 of a point where the answer jumps"
        );
    }

    /// `δ(ε) = A − e^ε B`, where the exact tier knows `A` and `B`, and `e^ε` comes from another series than that of the digits.
    #[test]
    fn digits_enclose_what_the_exact_terms_say_and_hardly_more() {
        let mut compared = 0;
        for (name, curve) in examples::curves() {
            for epsilon in ["0", "1/1000", "0.3", "2", "40", "-0.2", "-3"].map(examples::number) {
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
    fn same_bits_of_logarithms_and_limits() {
        let mut record = Record::of("inner logarithms and limits");
        let cost = Cost::from_now_on();
        for (name, curve) in examples::curves() {
            for epsilon in ["0", "0.3", "2"] {
                let logarithm = log_delta(&curve, &number(epsilon), 20, &record.questions);
                record.note(format!("{name} e={epsilon}"), logarithm);
            }
            record.note(format!("{name} limit"), mass_at_infinity(&curve, 20, &record.questions));
        }
        record.note("bits asked for", cost.so_far());
        record.compare();
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
}
