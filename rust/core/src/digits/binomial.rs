//! The binomial law: probabilities, tails and stop-losses, each by the cheaper of two roads.
//!
//! Near: `b(a)` as a product of factors, and a sum of positive terms from there. Far: lattice inversion, whose cost hardly
//! depends on `n`. Each is exact up to the accuracy that its ball states, so either may be taken anywhere.

use super::ball::{Ball, shifted};
use super::lattice::{Weights, weighted_sum};
use super::probability::Probability;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::numbers::rational::Rational;
use dashu_int::ops::BitTest;
use dashu_int::{IBig, UBig};

/// Terms between two polls of the interrupt.
const TERMS_PER_CHECK: u64 = 1 << 10;

/// `P[Bin(n, p) = k]`, for `0 ≤ k ≤ n`; nothing if more bits are needed.
pub(crate) fn point(
    n: u64,
    probability: &Probability,
    k: u64,
    bits: usize,
    interrupt: &dyn Interrupt,
) -> Result<Option<Ball>, Error> {
    if k > 0 && k < n && inversion_cost(n, bits) < product_cost(n, k, bits) {
        return weighted_sum(n, probability, k, &Weights::Point, bits, interrupt);
    }
    product(n, probability, k, bits, interrupt)
}

/// `Σ_{i≥0} w(i) P[Bin(n, p) = a+i]` for `np ≤ a ≤ n`, `a ≥ 1`; nothing if more bits are needed.
pub(crate) fn upper(
    n: u64,
    probability: &Probability,
    a: u64,
    weights: &Weights,
    bits: usize,
    interrupt: &dyn Interrupt,
) -> Result<Option<Ball>, Error> {
    let near = product_cost(n, a, bits) + series_cost(n, probability, a, bits);
    if a < n && inversion_cost(n, bits) < near {
        return weighted_sum(n, probability, a, weights, bits, interrupt);
    }
    near_upper(n, probability, a, weights, bits, interrupt)
}

/// [`upper`] by the near road.
fn near_upper(
    n: u64,
    probability: &Probability,
    a: u64,
    weights: &Weights,
    bits: usize,
    interrupt: &dyn Interrupt,
) -> Result<Option<Ball>, Error> {
    let Some(first) = product(n, probability, a, bits + 8, interrupt)? else { return Ok(None) };
    let Some((mass, moment)) = series(n, probability, a, bits + 8, interrupt)? else { return Ok(None) };
    let sum = match weights {
        Weights::Point => Ball::one(),
        Weights::Tail => mass,
        Weights::StopLoss(start) => moment.plus(&mass.times(start, bits + 8), bits + 8),
    };
    Ok(Some(first.times(&sum, bits)))
}

/// `P[Bin(n, p) ≥ k]`; nothing if more bits are needed.
pub(crate) fn upper_tail(
    n: u64,
    p: &Rational,
    k: u64,
    bits: usize,
    interrupt: &dyn Interrupt,
) -> Result<Option<Ball>, Error> {
    let one = Rational::from(1i64);
    if k == 0 || *p == one {
        return Ok(Some(if k <= n { Ball::one() } else { Ball::zero() }));
    }
    if k > n || p.is_zero() {
        return Ok(Some(Ball::zero()));
    }
    let probability = Probability::Exact(p.clone());
    if Rational::from(k) >= p.mul(&Rational::from(n)) {
        return upper(n, &probability, k, &Weights::Tail, bits, interrupt);
    }
    // P[X ≥ k] = 1 − P[n−X ≥ n−k+1], and n−k+1 > nq.
    let others = upper(n, &probability.complement(), n - k + 1, &Weights::Tail, bits, interrupt)?;
    Ok(others.map(|others| Ball::one().minus(&others, bits)))
}

/// Approximate time of a multiplication of numbers of this length, in nanoseconds, for the choice of a method.
fn multiplication(bits: usize) -> f64 {
    let words = bits as f64 / 64.0 + 1.0;
    40.0 + if words < 32.0 { 1.2 * words * words } else { 7.0 * words * words.sqrt() }
}

fn product_cost(n: u64, k: u64, bits: usize) -> f64 {
    k.min(n - k) as f64 * (20.0 + bits as f64 / 64.0)
}

fn series_cost(n: u64, probability: &Probability, a: u64, bits: usize) -> f64 {
    let each = match small_odds(probability) {
        Some(_) => 80.0 + bits as f64 / 20.0,
        None => 80.0 + multiplication(bits),
    };
    each * series_terms(n, probability, a, bits)
}

/// About how many terms a series takes: they fall like `e^{−si − i²/(2σ²)}`.
fn series_terms(n: u64, probability: &Probability, a: u64, bits: usize) -> f64 {
    let (hits, misses) = (a as f64, (n - a) as f64);
    let Some((p, q)) = probability.at(64) else { return misses };
    let odds = p.over(&q, 64).map_or(1.0, |odds| odds.to_f64());
    let variance = (hits * (misses / n as f64)).max(1.0);
    let rate = (1.0 - odds * misses / hits).max(0.0);
    let wanted = 2.0 * 0.7 * (bits as f64 + 60.0) / variance;
    // i = σ²(√(s² + wanted) − s), without cancellation.
    (variance * wanted / (rate + (rate * rate + wanted).sqrt()) + 8.0).min(misses)
}

fn inversion_cost(n: u64, bits: usize) -> f64 {
    let points = bits as f64 / 4.0;
    let steps = 1.5 * f64::from(64 - n.leading_zeros()) + 12.0;
    points * steps * 3.0 * (multiplication(bits + bits / 16 + 64) + 30.0)
}

/// `C(n,k) p^k q^{n−k}`.
fn product(
    n: u64,
    probability: &Probability,
    k: u64,
    bits: usize,
    interrupt: &dyn Interrupt,
) -> Result<Option<Ball>, Error> {
    let bits = bits + 64;
    let Some((p, q)) = probability.at(bits) else { return Ok(None) };
    let fewer = k.min(n - k);
    let top = consecutive(n - fewer + 1, n + 1, bits, interrupt)?;
    let bottom = consecutive(1, fewer + 1, bits, interrupt)?;
    let powers = p.power(k, bits).times(&q.power(n - k, bits), bits);
    Ok(top.over(&bottom, bits).map(|ways| ways.times(&powers, bits)))
}

/// `from (from+1) … (to−1)`.
fn consecutive(from: u64, to: u64, bits: usize, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
    const LEAF: u64 = 8;
    if to - from <= LEAF {
        let integer = (from..to).fold(UBig::ONE, |product, factor| product * factor);
        return Ok(Ball::dyadic(IBig::from(integer), 0).rounded(bits));
    }
    if to - from > TERMS_PER_CHECK {
        interrupt.check()?;
    }
    let middle = from + (to - from) / 2;
    let (left, right) =
        (consecutive(from, middle, bits, interrupt)?, consecutive(middle, to, bits, interrupt)?);
    Ok(left.times(&right, bits))
}

/// `p/q` as a fraction of integers of a word or two.
fn small_odds(probability: &Probability) -> Option<(IBig, IBig)> {
    let p = probability.exact()?;
    let hits = p.numerator().clone();
    let misses = IBig::from(p.denominator().clone()) - &hits;
    (hits.bit_len() <= 64 && misses.bit_len() <= 64).then_some((hits, misses))
}

/// `Σ_{i≥0} b(a+i)/b(a)` and `Σ_{i≥0} i b(a+i)/b(a)` for `a ≥ np`; nothing if more bits are needed.
///
/// In fixed point, `t_0 = 1` and `t_{i+1} = t_i r`, `r = (n−k)p/((k+1)q)` for `k = a+i`. As `(n−k)p ≤ npq ≤ kq`, `r < 1`. The odds
/// err by a relative `2^-places` and two floors by less than 2 units, so `t_i` errs by at most `3i` units; the sums of `T`
/// terms err by at most `3T²` and `3T³`. As the ratios fall, the rest after `t` with next ratio `r` is at most
/// `t r/(1−r)`, and that of the second sum at most `t r/(1−r) · (i + 1/(1−r))`.
fn series(
    n: u64,
    probability: &Probability,
    a: u64,
    bits: usize,
    interrupt: &dyn Interrupt,
) -> Result<Option<(Ball, Ball)>, Error> {
    let expected = series_terms(n, probability, a, bits);
    let places = bits + 3 * (64 - (expected as u64).leading_zeros()) as usize + 8;
    let Some((p, q)) = probability.at(places + 16) else { return Ok(None) };
    let Some(odds) = p.over(&q, places + 16) else { return Ok(None) };
    if odds.accuracy() < places as i128 {
        return Ok(None);
    }
    let (top, bottom, down) = small_odds(probability).map_or_else(
        || {
            let (mantissa, exponent) = odds.midpoint().lower();
            (mantissa, IBig::ONE, -exponent)
        },
        |(hits, misses)| (hits, misses, 0),
    );
    let mut term = IBig::ONE << places;
    let (mut mass, mut moment) = (term.clone(), IBig::ZERO);
    let (mut k, mut count) = (a, 0u64);
    while k < n && !term.is_zero() {
        term = shifted(&(term * (&top * (n - k))), -down) / (&bottom * (k + 1));
        k += 1;
        count += 1;
        mass += &term;
        moment += &term * count;
        if count.is_multiple_of(TERMS_PER_CHECK) {
            interrupt.check()?;
        }
    }
    let terms = count as f64;
    let step = 3.0;
    let mut errors = (terms * terms * step, terms * terms * terms * step);
    if k < n {
        let ratio = (n - k) as f64 / (k + 1) as f64 * odds.to_doubles().1 * (1.0 + 1e-12);
        if ratio >= 1.0 {
            return Ok(None);
        }
        let left = terms * step * ratio / (1.0 - ratio);
        errors.0 += left;
        errors.1 += left * (terms + 1.0 / (1.0 - ratio));
    }
    let ball = |sum: IBig, error: f64| {
        Ball::new(sum, (error * (1.0 + 1e-9)).ceil() as u128, -(places as i128), places)
    };
    Ok(Some((ball(mass, errors.0), ball(moment, errors.1))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Uninterrupted;
    use proptest::prelude::*;

    fn agrees(a: &Ball, b: &Ball) -> bool {
        !a.exceeds(b) && !b.exceeds(a)
    }

    fn exactly(p: &str) -> Probability {
        Probability::Exact(Rational::parse(p).unwrap())
    }

    fn exact_tail(n: u64, p: &Rational, k: u64) -> Rational {
        let q = Rational::from(1i64).sub(p);
        let power = |x: &Rational, n| (0..n).fold(Rational::from(1i64), |power, _| power.mul(x));
        let ways = |i: u64| (0..i).fold(UBig::ONE, |ways, j| ways * (n - j) / (j + 1));
        (k..=n).fold(Rational::from(0i64), |sum, i| {
            sum.add(&Rational::from(IBig::from(ways(i))).mul(&power(p, i)).mul(&power(&q, n - i)))
        })
    }

    /// On both sides of the mean, at both ends, and where nothing is random.
    #[test]
    fn tails_are_those_of_rationals() {
        for (n, p) in
            [(0, "1/3"), (1, "1/3"), (9, "0"), (9, "1"), (9, "2/3"), (12, "1/4"), (12, "1/2"), (30, "1/97")]
        {
            let p = Rational::parse(p).unwrap();
            for k in 0..=n + 1 {
                let found = upper_tail(n, &p, k, 90, &Uninterrupted).unwrap().unwrap();
                let expected = Ball::rational(&exact_tail(n, &p, k), 400);
                assert!(agrees(&found, &expected) && found.accuracy() >= 80, "{n} {} {k}", p.shown());
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::cases::cases(60, 200)))]
        #[test]
        fn both_roads_lead_to_the_same_number(
            n in 2u64..3000, odds in 1u64..999, place in 0u64..1000, phi in 0u64..=8, bits in 40usize..300,
        ) {
            let probability = exactly(&format!("{odds}/1000"));
            let least = (n * odds).div_ceil(1000).max(1);
            let a = least + (n - least) * place * place / 1_000_000;
            prop_assume!(a < n);
            let start = Ball::dyadic(IBig::from(phi), -3);
            for weights in [Weights::Point, Weights::Tail, Weights::StopLoss(start)] {
                let near = near_upper(n, &probability, a, &weights, bits, &Uninterrupted).unwrap().unwrap();
                let far = weighted_sum(n, &probability, a, &weights, bits, &Uninterrupted).unwrap().unwrap();
                prop_assert!(agrees(&near, &far), "{weights:?}");
                prop_assert!(near.accuracy() >= bits as i128 - 8, "{weights:?}: {} of {bits}", near.accuracy());
                if place < 200 {
                    prop_assert!(far.accuracy() >= bits as i128 - 16, "{weights:?}: {} of {bits}", far.accuracy());
                }
            }
        }
    }
}
