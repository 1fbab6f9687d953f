//! The tail of the normal law, from Mills' ratio `R(x) = Φ(−x)/φ(x)`.

use crate::numbers::ball::Ball;

/// From here on the continued fraction is used, below it the series.
const FRACTION_FROM: u64 = 5;
/// Terms of the series: far more than are needed at `x < 6`.
const TERMS: u64 = 200;
/// Terms between two questions whether the rest matters.
const TERMS_PER_CHECK: u64 = 8;
/// Levels of the continued fraction, times `x²`: then two successive convergents agree to 100 bits.
const LEVELS: f64 = 2000.0;
/// Relatively smaller terms do not: `2^-112`.
const NEGLIGIBLE: f64 = 1.0 / ((1u128 << 112) as f64);

/// `Φ(−x)`.
pub(crate) fn upper_tail(x: Ball) -> Ball {
    if x.is_positive() {
        let density = (Ball::from_i64(-1) * (x * x + Ball::ln_2_pi()) / Ball::from_u64(2)).exp();
        return if (x - Ball::from_u64(FRACTION_FROM)).is_positive() {
            density * mills_ratio(x)
        } else {
            Ball::ONE / Ball::from_u64(2) - density * half_mass_over_density(x)
        };
    }
    if (-x).is_positive() {
        return Ball::ONE - upper_tail(-x);
    }
    // x is zero up to rounding: the density is below ½.
    (Ball::ONE / Ball::from_u64(2)).plus_at_most(x)
}

/// `(Φ(x) − ½)/φ(x) = Σ_k x^{2k+1}/(1·3·…·(2k+1))`, all terms positive.
///
/// The ratios `x²/(2k+1)` of the terms fall. Once one of them is at most ½, what follows is at most the last term.
fn half_mass_over_density(x: Ball) -> Ball {
    if (x - Ball::from_u64(FRACTION_FROM + 1)).is_positive() || x.relative_error() > 0.01 {
        return Ball::WHOLE;
    }
    let (square, negligible) = (x * x, Ball::from_f64(NEGLIGIBLE).unwrap_or(Ball::ZERO));
    let (mut term, mut sum) = (x, x);
    for k in 1..=TERMS {
        let ratio = square / Ball::from_u64(2 * k + 1);
        term = term * ratio;
        sum = sum + term;
        if k.is_multiple_of(TERMS_PER_CHECK)
            && (ratio + ratio).certainly_less(Ball::ONE)
            && term.certainly_less(sum * negligible)
        {
            return sum.plus_at_most(term);
        }
    }
    Ball::WHOLE
}

/// Mills' ratio by its continued fraction `1/(x + 1/(x + 2/(x + 3/…)))`, whose convergents lie alternately above
/// and below it because all partial quotients are positive. The farther out, the fewer levels it takes.
fn mills_ratio(x: Ball) -> Ball {
    let size = x.to_enclosure().lower();
    let levels = 6 + (LEVELS / (size * size)) as u64;
    let convergent = |levels: u64| {
        let inner = (1..=levels).rev().fold(x, |rest, k| x + Ball::from_u64(k) / rest);
        Ball::ONE / inner
    };
    convergent(levels).hull(convergent(levels + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forms::{Epsilon, gaussian_delta};
    use crate::numbers::rational::Rational;

    fn ball(text: &str) -> Ball {
        Ball::from_rational(&Rational::parse(text).unwrap())
    }

    #[test]
    fn normal_tails_to_twenty_digits() {
        for (x, truth) in [
            ("0", "0.5"),
            ("1", "0.15865525393145705141476745436796207752"),
            ("-1", "0.84134474606854294858523254563203792248"),
            ("4.9", "0.0000004791832765903198532983934941742043363384"),
            ("5.5", "1.8989562465887719383851274033580186316e-8"),
            ("6.5", "4.0160005838591178083461454224006874887e-11"),
            ("8", "6.220960574271784123515995172588188422489e-16"),
            ("12", "1.7764821120776789976961710018455570924e-33"),
            ("40", "3.655893540915029703748985802688283665054e-350"),
        ] {
            let tail = upper_tail(ball(x));
            let gap = tail - ball(truth);
            assert!(!gap.is_positive() && !(-gap).is_positive(), "{x}: {gap:?}");
            assert!(tail.relative_error() < 1e-20, "{x}: {tail:?}");
        }
    }

    #[test]
    fn total_variation_of_unit_shift() {
        let zero = Epsilon::new(&Rational::from(0i64));
        let gap = gaussian_delta(Ball::ONE, &zero) - ball("0.3829249225480262072754092212166754797672");
        assert!(!gap.is_positive() && !(-gap).is_positive());
    }
}
