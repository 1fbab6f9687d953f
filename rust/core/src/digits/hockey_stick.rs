//! The hockey stick of a count, as a stop-loss: no difference of tails, nothing that cancels.
//!
//! `n` entries have the property with probability `p`, the critical one is counted with probability `w`; `r = e^ε ≥ 1`, `q = 1−p`.
//! With `X ~ Bin(n, p)`, `P_1(k) = ((1−w) + w k/(np)) P[X = k]` and `P_0(k) = ((1−w) + w (n−k)/(nq)) P[X = k]`, so
//!
//! ```text
//! P_1(k) − r P_0(k) = w (q+rp)/(npq) · (k − κ) P[X = k],
//! κ = n − y,    y = nq (1 − p t)/(q + rp),    t = (r−1)(1−w)/w,
//! Δ_{1,0} = w (q+rp)/(npq) · E[(X−κ)_+],      and 0 if y ≤ 0.
//! ```
//!
//! `κ ≥ np`, as `y ≤ nq`. The sum starts at `⌈κ⌉ = n − ⌊y⌋`. For `r = 1` `y = nq` is rational and decided as such. Otherwise `r` is
//! transcendental and `y` a quotient `(A − Br)/(C + Dr)` of linear forms with rational coefficients, `D = p > 0`: it equals a rational `c` only if
//! `A = cC` and `B = −cD`. As `A > 0` and `B ≥ 0`, no `c` does, so enough bits always tell `y` from any integer.

use super::ball::Ball;
use super::binomial;
use super::lattice::Weights;
use super::probability::{Probability, Ratio};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::numbers::rational::Rational;
use dashu_int::IBig;
use dashu_int::ops::DivRemEuclid;

/// `⌊y⌋` and `y − ⌊y⌋`.
pub(crate) enum Complement {
    /// `y ≤ 0`.
    NotPositive,
    Positive(u64, Ball),
}

/// `y` of the module documentation; nothing if more bits are needed.
pub(crate) fn complement(
    n: u64,
    p: &Rational,
    inclusion: &Rational,
    ratio: &Ratio,
    bits: usize,
) -> Option<Complement> {
    let one = Rational::from(1i64);
    let (hits, misses) = (Ball::rational(p, bits), Ball::rational(&one.sub(p), bits));
    if let Ratio::One = ratio {
        let exact = one.sub(p).mul(&Rational::from(n));
        let (floor, rest) = exact.numerator().clone().div_rem_euclid(IBig::from(exact.denominator().clone()));
        let rest = Rational::new(IBig::from(rest), exact.denominator().clone()).ok()?;
        return Some(Complement::Positive(u64::try_from(&floor).ok()?, Ball::rational(&rest, bits)));
    }
    let r = ratio.at(bits)?;
    let left_out = one.sub(inclusion).div(inclusion)?;
    let slack = r.minus(&Ball::one(), bits).times(&Ball::rational(&left_out, bits), bits).times(&hits, bits);
    let share = if left_out.is_zero() { Ball::one() } else { Ball::one().minus(&slack, bits) };
    if share.is_not_positive() {
        return Some(Complement::NotPositive);
    }
    let norm = misses.plus(&r.times(&hits, bits), bits);
    let y = misses.times_integer(n, bits).times(&share, bits).over(&norm, bits)?;
    let floor = y.floor().filter(|_| y.is_positive())?;
    let rest = y.minus(&Ball::dyadic(floor.clone(), 0), bits);
    Some(Complement::Positive(u64::try_from(&floor).ok()?, rest))
}

/// `Δ_{1,0}` for `r ≥ 1`, `0 < p < 1`, `0 < w ≤ 1`; nothing if more bits are needed.
///
/// # Errors
/// [`Error::Interrupted`].
pub(crate) fn one_against_zero(
    n: u64,
    probability: &Probability,
    inclusion: &Rational,
    ratio: &Ratio,
    bits: usize,
    interrupt: &dyn Interrupt,
) -> Result<Option<Ball>, Error> {
    if n == 1 && *inclusion == Rational::from(1i64) {
        return Ok(Some(Ball::one()));
    }
    // y has up to 80 bits less than the numbers that it is computed from.
    let wide = bits + 80;
    let located = match probability {
        Probability::Exact(p) => complement(n, p, inclusion, ratio, wide),
        // κ = nρ/(1+ρ) with ρ = rp/q = s/f: a rational, between s and s+1.
        Probability::Peak { failures, .. } => Ball::from(*failures)
            .over(&Ball::from(n - 1), wide)
            .map(|rest| Complement::Positive(*failures, rest)),
    };
    let (floor, rest) = match located {
        None => return Ok(None),
        Some(Complement::NotPositive) => return Ok(Some(Ball::zero())),
        Some(Complement::Positive(floor, rest)) => (floor, rest),
    };
    if floor == 0 && *inclusion == Rational::from(1i64) {
        // κ > n−1: only the answer n counts, and Δ = P_1(n) = p^{n−1}, exactly where balls are.
        return Ok(probability.at(wide).map(|(p, _)| p.power(n - 1, wide)));
    }
    let stop_loss =
        binomial::upper(n, probability, n - floor, &Weights::StopLoss(rest), bits + 8, interrupt)?;
    let scale = || {
        let (p, q) = probability.at(wide)?;
        let norm = q.plus(&ratio.at(wide)?.times(&p, wide), wide);
        let scale = norm.times(&Ball::rational(inclusion, wide), wide);
        scale.over(&p.times(&q, wide).times_integer(n, wide), wide)
    };
    Ok(stop_loss.and_then(|sum| Some(sum.times(&scale()?, bits))))
}

#[cfg(test)]
mod tests {
    use super::super::examples::number;
    use super::*;

    fn located(n: u64, p: &str, inclusion: &str, ratio: &Ratio, bits: usize) -> Option<Complement> {
        complement(n, &number(p), &number(inclusion), ratio, bits)
    }

    /// `nq`, where `r = 1`.
    #[test]
    fn for_a_ratio_of_one_the_threshold_is_rational() {
        for (n, p, floor, rest) in [(7, "1/3", 4, "2/3"), (6, "1/3", 4, "0"), (10, "3/4", 2, "1/2")] {
            let Some(Complement::Positive(found, part)) = located(n, p, "1/2", &Ratio::One, 90) else {
                panic!("{n} {p}")
            };
            let gap = part.minus(&Ball::rational(&number(rest), 90), 90);
            assert!(found == floor && !gap.is_positive() && !gap.negative().is_positive());
        }
    }

    /// `κ` lies beyond the last answer from `(r−1)(1−w)/w = 1/p` on.
    #[test]
    fn beyond_a_ratio_the_threshold_is_not_positive() {
        // w = 1/3, p = 1/2: r = 2, ε = 0.6931…
        for (epsilon, positive) in [("0.6931", true), ("0.6932", false)] {
            let found = located(9, "1/2", "1/3", &Ratio::new(&number(epsilon)), 90);
            assert_eq!(matches!(found, Some(Complement::Positive(..))), positive, "{epsilon}");
            assert!(found.is_some());
        }
    }
}
