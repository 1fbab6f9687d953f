//! `E[(X − κ)_+]` for a binomial `X`, in the way that is cheapest for its `n`, `p` and `κ`.

use super::threshold::{Position, Threshold};
use crate::budget::MAX_TERMS_OF_A_STOP_LOSS;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::laws::fast::{self, Weight};
use crate::laws::{Probability, binomial_probability};
use crate::numbers::ball::Ball;
use crate::numbers::double_double::{DoubleDouble, UNIT};

/// Terms between two polls of the interrupt.
const TERMS_PER_CHECK: u64 = 1 << 16;
/// The sum is cut where the geometric bound of the rest falls below this part of it: `2^-80`.
const NEGLIGIBLE: f64 = 1.0 / ((1u128 << 80) as f64);

/// Below this number of entries sums are short, and exact where doubles are.
pub(super) const SMALL: u64 = 64;

/// `E[(X − κ)_+]` for `X ~ Bin(n, p)` and `κ ≥ np`; `precise` leaves the fast tier out.
///
/// # Errors
/// [`Error::Precision`], [`Error::Interrupted`].
pub(super) fn stop_loss(
    n: u64,
    at: &Probability,
    threshold: &Threshold,
    precise: bool,
    interrupt: &dyn Interrupt,
) -> Result<Ball, Error> {
    if n > SMALL
        && !precise
        && let Some(value) = in_doubles(n, at, threshold)
    {
        return Ok(value);
    }
    let &Threshold { first, excess, position } = threshold;
    let sum = over_first_probability(n, first, excess, at.odds, interrupt)?;
    let sum = match position {
        // κ may lie above `first`: then the term (first − κ) b(first) < 0 does not belong there.
        Position::Undecided => sum.plus_at_most(excess),
        Position::Between | Position::Integer => sum,
    };
    Ok(binomial_probability(first, n, at) * sum)
}

/// `E(g − t)_+ − (1−r−t)_+` for `g = a/(np) − r(n−a)/(nq)`, `a ~ Bin(n, p)`, of mean `1 − r`.
///
/// With the odds `o` and `c = (1+o)(1+ro)/(no)` it is `g − t = c(a − κ)`, `κ = n x/(x+y)`, `x = (t + r(1+o)) o`, `y = 1 + o − to`. Above the mean that is `c E(a−κ)_+`, below it, by
/// `E(a−κ)_+ = np − κ + E(κ−a)_+`, `c E((n−a) − (n−κ))_+`; nothing where κ lies beyond the answers.
///
/// # Errors
/// [`Error::Precision`], [`Error::Interrupted`].
pub(crate) fn likelihood_excess(
    n: u64,
    at: &Probability,
    ratio: Ball,
    t: Ball,
    interrupt: &dyn Interrupt,
) -> Result<Ball, Error> {
    let entries = Ball::from_u64(n);
    let whole = Ball::ONE + at.odds;
    let scale = whole * (Ball::ONE + ratio * at.odds) / (entries * at.odds);
    let (x, y) = ((t + ratio * whole) * at.odds, whole - t * at.odds);
    let is_above = !(t - (Ball::ONE - ratio)).to_enclosure().lower().is_sign_negative();
    let (near, far, at) = if is_above { (x, y, *at) } else { (y, x, at.complement()) };
    if !far.is_positive() {
        // The excess of the largest answer is a bound; most often it is zero.
        return Ok(scale * (entries * far / (x + y)).max(Ball::ZERO));
    }
    let threshold = Threshold::locate(n, near, far)
        .ok_or_else(|| Error::precision("the answers that add to a part cannot be located"))?;
    Ok(scale * stop_loss(n, &at, &threshold, false, interrupt)?)
}

/// By the fast tier. Where κ may lie on either side of `first`, a sum that starts there errs by at most the error of
/// `φ` times `b(first)` more: counted twice.
fn in_doubles(n: u64, at: &Probability, threshold: &Threshold) -> Option<Ball> {
    let (phi, error) = threshold.excess.to_double_with_error()?;
    fast::sum(n, at, threshold.first, Weight::Excess { phi, error: 2.0 * error })
}

/// `Σ_{k ≥ first} (k − κ) b(k)/b(first)` with `κ = first − excess`.
///
/// The ratios fall, so after the term `t` at `i = k − first` with ratio `r < 1` the rest of `Σ t` is at most
/// `t r/(1−r)` and the rest of `Σ i t` at most `t r/(1−r) · (i + 1/(1−r))`. A term is the product of `i` ratios. Each
/// ratio errs by the error of the odds and at most `12u²`; `(1+η)^i − 1 ≤ 2iη` for `iη ≤ ½`. The additions
/// of positive numbers add `3u²` each.
pub(super) fn over_first_probability(
    n: u64,
    first: u64,
    excess: Ball,
    odds: Ball,
    interrupt: &dyn Interrupt,
) -> Result<Ball, Error> {
    if first == n {
        return Ok(excess);
    }
    let Some(factor) = odds.to_double_double() else {
        return with_tiny_odds(n, excess, odds);
    };
    let weight = excess.to_enclosure().upper().max(0.0);
    let mut term = DoubleDouble::ONE;
    let (mut mass, mut moment) = (DoubleDouble::ONE, DoubleDouble::ZERO);
    let mut count = 0u64;
    for k in first..n {
        term = term.mul_f64((n - k) as f64).mul(factor).div_f64((k + 1) as f64);
        count += 1;
        mass = mass.add(term);
        moment = moment.add(term.mul_f64(count as f64));
        if count > 8 && !count.is_multiple_of(8) {
            continue;
        }
        let ratio = (n - k - 1) as f64 / (k + 2) as f64 * factor.hi;
        let left = term.hi * ratio / (1.0 - ratio);
        let left = left * (count as f64 + 1.0 / (1.0 - ratio) + weight);
        if ratio < 1.0 && left <= NEGLIGIBLE * (moment.hi + weight * mass.hi) {
            break;
        }
        if count.is_multiple_of(TERMS_PER_CHECK) {
            interrupt.check()?;
            if count > MAX_TERMS_OF_A_STOP_LOSS {
                return Err(Error::precision(format!(
                    "n = {n} needs a sum of more than {MAX_TERMS_OF_A_STOP_LOSS} terms, which this version does not take on"
                )));
            }
        }
    }
    let step = odds.relative_error() + UNIT;
    let relative = 2.0 * count as f64 * step + count as f64 * UNIT;
    if relative > 1e-15 {
        return Err(Error::precision(format!("a sum of {count} terms with a ratio known to {step:e} only")));
    }
    let certified = |sum: DoubleDouble| Ball::from_double_double(sum, relative);
    let last = first + count;
    let ratio = odds * Ball::from_u64(n - last) / Ball::from_u64(last + 1);
    let mass_left = certified(term) * ratio / (Ball::ONE - ratio);
    let moment_left = mass_left * (Ball::from_u64(count) + Ball::ONE / (Ball::ONE - ratio));
    Ok(excess * certified(mass).plus_at_most(mass_left) + certified(moment).plus_at_most(moment_left))
}

/// Odds below `2^-900`: the first term is almost the whole sum. (Odds above `2^900` start at `n`.)
///
/// The ratio is at most `n · odds < 2^-800`, so the rest is at most `2n · odds · (excess + 2)`.
fn with_tiny_odds(n: u64, excess: Ball, odds: Ball) -> Result<Ball, Error> {
    if (odds - Ball::ONE).is_positive() {
        return Err(Error::precision("p is too close to 1 for this sum"));
    }
    let rest = Ball::from_u64(2) * Ball::from_u64(n) * odds * (excess + Ball::from_u64(2));
    Ok(excess.plus_at_most(rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Uninterrupted;
    use crate::numbers::ball::tests::members;
    use crate::numbers::rational::Rational;

    /// `E[(X − κ)_+]` term by term, in exact rationals.
    fn exact(n: u64, p: &Rational, kappa: &Rational) -> Rational {
        let q = Rational::from(1i64).sub(p);
        let odds = p.div(&q).unwrap();
        let mut point = (0..n).fold(Rational::from(1i64), |power, _| power.mul(&q));
        (0..=n).fold(Rational::from(0i64), |sum, k| {
            let above = Rational::from(k).sub(kappa);
            let sum = if above.is_negative() { sum } else { sum.add(&above.mul(&point)) };
            point = point.mul(&Rational::from(n - k)).mul(&odds).div(&Rational::from(k + 1)).unwrap();
            sum
        })
    }

    /// Where κ may lie on either side of an integer, the sum from there covers both, and is not much wider than they are apart.
    #[test]
    fn a_threshold_that_is_not_decided_is_served_on_both_sides() {
        let p = Rational::parse("2/5").unwrap();
        let at = Probability::new(&p).unwrap();
        for (n, first) in [(20, 9), (20, 19), (120, 50), (120, 90), (120, 119)] {
            for error in ["1e-9", "1e-14", "1e-20"].map(|text| Rational::parse(text).unwrap()) {
                let excess = Ball::from_rational(&error.neg()).hull(Ball::from_rational(&error));
                let threshold = Threshold { first, excess, position: Position::Undecided };
                for precise in [false, true] {
                    let found = stop_loss(n, &at, &threshold, precise, &Uninterrupted).unwrap();
                    for side in [error.clone(), error.neg()] {
                        let truth = exact(n, &p, &Rational::from(first).sub(&side));
                        let gap = found - Ball::from_rational(&truth);
                        assert!(
                            !gap.is_positive() && !(-gap).is_positive(),
                            "{n} {first} {error:?}: {found:?}"
                        );
                    }
                    let spread = found.to_enclosure().width();
                    let mass =
                        exact(n, &p, &Rational::from(first - 1)).sub(&exact(n, &p, &Rational::from(first)));
                    let most = Ball::from_rational(&error.mul(&mass)).to_enclosure().upper() * 8.0;
                    assert!(
                        spread <= most + 1e-13 * found.to_enclosure().upper(),
                        "{n} {first} {error:?}: {found:?}"
                    );
                }
            }
        }
    }

    /// If the ratios hardly fall, the rest of a sum almost equals its geometric bound. The enclosure contains it and is hardly wider.
    #[test]
    fn what_a_sum_leaves_out_is_paid_for_and_hardly_more() {
        let excess = Rational::parse("1/3").unwrap();
        for (n, first, p) in
            [(1_000_000u64, 750_000u64, "1/2"), (1_000_000, 690_000, "1/2"), (2_000_000, 9000, "0.001")]
        {
            let at = Probability::new(&Rational::parse(p).unwrap()).unwrap();
            let p = Rational::parse(p).unwrap();
            let odds = p.div(&Rational::from(1i64).sub(&p)).unwrap();
            let (mut sums, mut term) = (vec![excess.clone()], Rational::from(1i64));
            for i in 1..=240 {
                let ratio = Rational::from(n - first - i + 1).div(&Rational::from(first + i)).unwrap();
                term = term.mul(&ratio).mul(&odds);
                sums.push(term.mul(&Rational::from(i).add(&excess)).add(&sums[sums.len() - 1]));
            }
            let truth = &sums[240];
            let found =
                over_first_probability(n, first, Ball::from_rational(&excess), at.odds, &Uninterrupted)
                    .unwrap();
            let [least, _, most] = members(found);
            assert!(least <= *truth && *truth <= most, "{n} {first}: {found:?}");
            let left = |count: usize| Ball::from_rational(&truth.sub(&sums[count]).div(truth).unwrap());
            let left: Vec<f64> = (1..=240).map(|count| left(count).to_enclosure().upper()).collect();
            let cut = left.iter().enumerate().find(|(i, left)| (i + 1) % 8 == 0 && **left <= NEGLIGIBLE);
            let most = 1.001 * cut.unwrap().1 + 1e-28;
            assert!(
                found.relative_error() <= most,
                "{n} {first}: {:e}, not {most:e}",
                found.relative_error()
            );
        }
    }

    #[test]
    fn the_fast_tier_serves_what_is_decided() {
        let at = Probability::new(&Rational::parse("2/5").unwrap()).unwrap();
        for n in [65u64, 1000, 1_000_000] {
            let excess = Ball::from_rational(&Rational::parse("1/3").unwrap());
            let threshold = Threshold { first: n * 2 / 5 + 3, excess, position: Position::Between };
            assert!(in_doubles(n, &at, &threshold).is_some_and(|value| value.relative_error() < 1e-13));
        }
    }

    /// What is not taken on says so: too many terms, and odds that are too little known.
    #[test]
    fn sums_that_are_too_long_or_too_vague_are_refused() {
        let at = |p: &str| Probability::new(&Rational::parse(p).unwrap()).unwrap();
        let vague = at("1/2").odds.hull(at("0.5000001").odds);
        let refused =
            over_first_probability(1000, 600, Ball::ONE, vague, &Uninterrupted).unwrap_err().to_string();
        assert!(
            refused.starts_with("a sum of ") && refused.contains(" terms with a ratio known to "),
            "{refused}"
        );
        let huge = at("1e-300").complement().odds;
        let refused = over_first_probability(9, 3, Ball::ONE, huge, &Uninterrupted).unwrap_err().to_string();
        assert_eq!(refused, "p is too close to 1 for this sum");
    }
}
