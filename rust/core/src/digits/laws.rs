//! Single probabilities to any number of digits.

use super::ball::Ball;
use super::enclosure::DigitsEnclosure;
use super::probability::Probability;
use super::{binomial, bits_for, hypergeometric, logarithm, settle};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::laws::Hypergeometric;
use crate::numbers::rational::Rational;

/// `P[Bin(n, p) = k]` to the accuracy wanted.
fn binomial_point(
    k: u64,
    n: u64,
    p: &Rational,
    accuracy: usize,
    interrupt: &dyn Interrupt,
) -> Result<Ball, Error> {
    let one = Rational::from(1i64);
    if p.is_negative() || *p > one {
        return Err(Error::argument("p is outside [0, 1]; a probability from 0 to 1 is required"));
    }
    if k > n {
        return Ok(Ball::zero());
    }
    if p.is_zero() || *p == one {
        let sure = if p.is_zero() { 0 } else { n };
        return Ok(if k == sure { Ball::one() } else { Ball::zero() });
    }
    if n == 0 {
        return Ok(Ball::one());
    }
    let probability = Probability::Exact(p.clone());
    settle(accuracy, interrupt, |bits| binomial::point(n, &probability, k, bits, interrupt))
}

/// `P[Bin(n, p) = k]`.
///
/// # Errors
/// `p` outside `[0, 1]`, `digits` outside `1..=10000`, [`Error::Interrupted`].
pub fn binomial_pmf(
    k: u64,
    n: u64,
    p: &Rational,
    digits: u32,
    interrupt: &dyn Interrupt,
) -> Result<DigitsEnclosure, Error> {
    let value = binomial_point(k, n, p, bits_for(digits)?, interrupt)?;
    Ok(DigitsEnclosure::probability(&value))
}

/// `ln P[Bin(n, p) = k]`; −∞ outside the support.
///
/// # Errors
/// As [`binomial_pmf`].
pub fn binomial_log_pmf(
    k: u64,
    n: u64,
    p: &Rational,
    digits: u32,
    interrupt: &dyn Interrupt,
) -> Result<DigitsEnclosure, Error> {
    logarithm(bits_for(digits)?, interrupt, |accuracy| binomial_point(k, n, p, accuracy, interrupt))
}

/// `P[Bin(n, p) ≥ k]`.
///
/// # Errors
/// As [`binomial_pmf`].
pub fn binomial_upper_tail(
    k: u64,
    n: u64,
    p: &Rational,
    digits: u32,
    interrupt: &dyn Interrupt,
) -> Result<DigitsEnclosure, Error> {
    if p.is_negative() || *p > Rational::from(1i64) {
        return Err(Error::argument("p is outside [0, 1]; a probability from 0 to 1 is required"));
    }
    let value = settle(bits_for(digits)?, interrupt, |bits| binomial::upper_tail(n, p, k, bits, interrupt))?;
    Ok(DigitsEnclosure::probability(&value))
}

/// `P[Bin(n, p) ≤ k]`: at least `n − k` misses.
///
/// # Errors
/// As [`binomial_pmf`].
pub fn binomial_lower_tail(
    k: u64,
    n: u64,
    p: &Rational,
    digits: u32,
    interrupt: &dyn Interrupt,
) -> Result<DigitsEnclosure, Error> {
    binomial_upper_tail(n.saturating_sub(k), n, &Rational::from(1i64).sub(p), digits, interrupt)
}

/// `P[X = k]`.
///
/// # Errors
/// `digits` outside `1..=10000`, [`Error::Interrupted`].
pub fn hypergeometric_pmf(
    k: u64,
    law: &Hypergeometric,
    digits: u32,
    interrupt: &dyn Interrupt,
) -> Result<DigitsEnclosure, Error> {
    let law = hypergeometric::Law::from(law);
    let value = settle(bits_for(digits)?, interrupt, |bits| law.point(k, bits, interrupt))?;
    Ok(DigitsEnclosure::probability(&value))
}

/// `ln P[X = k]`; −∞ outside the support.
///
/// # Errors
/// As [`hypergeometric_pmf`].
pub fn hypergeometric_log_pmf(
    k: u64,
    law: &Hypergeometric,
    digits: u32,
    interrupt: &dyn Interrupt,
) -> Result<DigitsEnclosure, Error> {
    let law = hypergeometric::Law::from(law);
    logarithm(bits_for(digits)?, interrupt, |accuracy| {
        settle(accuracy, interrupt, |bits| law.point(k, bits, interrupt))
    })
}

/// `P[X ≥ k]`.
///
/// # Errors
/// As [`hypergeometric_pmf`].
pub fn hypergeometric_upper_tail(
    k: u64,
    law: &Hypergeometric,
    digits: u32,
    interrupt: &dyn Interrupt,
) -> Result<DigitsEnclosure, Error> {
    let law = hypergeometric::Law::from(law);
    let value = settle(bits_for(digits)?, interrupt, |bits| law.upper_tail(k, bits, interrupt))?;
    Ok(DigitsEnclosure::probability(&value))
}

/// `P[X ≤ k]`: at least `draws − k` unmarked ones.
///
/// # Errors
/// As [`hypergeometric_pmf`].
pub fn hypergeometric_lower_tail(
    k: u64,
    law: &Hypergeometric,
    digits: u32,
    interrupt: &dyn Interrupt,
) -> Result<DigitsEnclosure, Error> {
    hypergeometric_upper_tail(law.draws().saturating_sub(k), &law.mirrored(), digits, interrupt)
}

/// The law of the number of successes in independent trials with these probabilities: `p.len() + 1` numbers.
///
/// Trial by trial, `b(k) ← q b(k) + p b(k−1)`: all terms are positive, so each entry keeps its relative accuracy.
///
/// # Errors
/// As [`binomial_pmf`].
pub fn poisson_binomial_pmf(
    p: &[Rational],
    digits: u32,
    interrupt: &dyn Interrupt,
) -> Result<Vec<DigitsEnclosure>, Error> {
    let one = Rational::from(1i64);
    let accuracy = bits_for(digits)?;
    if let Some((i, _)) = p.iter().enumerate().find(|(_, p)| p.is_negative() || **p > one) {
        return Err(Error::argument(format!(
            "p[{i}] is outside [0, 1]; a probability from 0 to 1 is required"
        )));
    }
    // A trial adds at most 6 units to the relative error of an entry.
    let bits = accuracy + 16 + 3 + (usize::BITS - p.len().leading_zeros()) as usize;
    let mut law = vec![Ball::one()];
    for p in p {
        interrupt.check()?;
        let (hit, miss) = (Ball::rational(p, bits), Ball::rational(&one.sub(p), bits));
        let mut next = Vec::with_capacity(law.len() + 1);
        next.push(law[0].times(&miss, bits));
        for pair in law.windows(2) {
            next.push(pair[1].times(&miss, bits).plus(&pair[0].times(&hit, bits), bits));
        }
        next.extend(law.last().map(|last| last.times(&hit, bits)));
        law = next;
    }
    Ok(law.iter().map(DigitsEnclosure::probability).collect())
}

#[cfg(test)]
mod tests {
    use super::super::examples::number;
    use super::*;
    use crate::interrupt::Uninterrupted;

    /// Outside the support, where nothing is random, and of no trial.
    #[test]
    fn what_is_certain_is_exact() {
        let one = Rational::from(1i64);
        for (k, n, p, mass) in [
            (0, 0, "1/3", "1"),
            (1, 0, "1/3", "0"),
            (4, 3, "1/3", "0"),
            (0, 3, "0", "1"),
            (1, 3, "0", "0"),
            (3, 3, "1", "1"),
            (2, 3, "1", "0"),
            (3, 3, "1/4", "1/64"),
        ] {
            let found = binomial_pmf(k, n, &number(p), 10, &Uninterrupted).unwrap();
            assert!(found.contains(&number(mass)), "{k} of {n} at {p}");
            let logarithm = binomial_log_pmf(k, n, &number(p), 12, &Uninterrupted).unwrap();
            match mass {
                "1" => assert_eq!(logarithm, DigitsEnclosure::rounded(&Rational::from(0i64), 1)),
                "0" => assert!(!logarithm.lower().is_finite() && !logarithm.upper().is_finite()),
                // −6 ln 2
                _ => {
                    let between = [number("-4.1588830834"), number("-4.1588830833")];
                    assert!(
                        logarithm.lower().order(&between[0]).is_gt()
                            && logarithm.upper().order(&between[1]).is_lt()
                    );
                }
            }
            let tails = [
                binomial_upper_tail(k, n, &number(p), 20, &Uninterrupted).unwrap(),
                binomial_lower_tail(k, n, &number(p), 20, &Uninterrupted).unwrap(),
            ];
            // P[X ≥ k] + P[X ≤ k] = 1 + P[X = k]
            assert!(k > n || (&tails[0] + &tails[1]).contains(&one.add(&number(mass))), "{k} of {n} at {p}");
        }
    }

    #[test]
    fn probabilities_outside_of_zero_and_one_are_refused() {
        let message = "p is outside [0, 1]; a probability from 0 to 1 is required";
        for p in ["-1e-30", "1.000000001"].map(number) {
            for found in [
                binomial_pmf(1, 3, &p, 10, &Uninterrupted),
                binomial_log_pmf(1, 3, &p, 10, &Uninterrupted),
                binomial_upper_tail(1, 3, &p, 10, &Uninterrupted),
                binomial_lower_tail(1, 3, &p, 10, &Uninterrupted),
            ] {
                assert_eq!(found.unwrap_err().to_string(), message);
            }
            let trials = [number("1/2"), p];
            let refused = poisson_binomial_pmf(&trials, 10, &Uninterrupted).unwrap_err().to_string();
            assert_eq!(refused, "p[1] is outside [0, 1]; a probability from 0 to 1 is required");
        }
    }

    /// Subset by subset.
    #[test]
    fn trials_of_any_probabilities_have_the_law_of_their_sum() {
        let trials = ["1/3", "0", "3/4", "1", "1/97", "1/2"].map(number);
        let mut law = vec![Rational::from(0i64); trials.len() + 1];
        for subset in 0..1usize << trials.len() {
            let factor = |(i, p): (usize, &Rational)| {
                if subset >> i & 1 == 1 { p.clone() } else { Rational::from(1i64).sub(p) }
            };
            let mass =
                trials.iter().enumerate().map(factor).fold(Rational::from(1i64), |mass, x| mass.mul(&x));
            let successes = subset.count_ones() as usize;
            law[successes] = law[successes].add(&mass);
        }
        for digits in [1, 30] {
            let found = poisson_binomial_pmf(&trials, digits, &Uninterrupted).unwrap();
            assert_eq!(found.len(), law.len());
            for (found, exact) in found.iter().zip(&law) {
                let allowed = exact.mul(&number(&format!("1e-{digits}")));
                assert!(found.contains(exact) && found.width().to_rational().unwrap() <= allowed);
            }
        }
    }

    /// `P[X ≤ k]` counts the unmarked ones.
    #[test]
    fn tails_of_draws_and_a_point_make_one() {
        let law = Hypergeometric::new(40, 11, 17).unwrap();
        for k in 0..=18 {
            let point = hypergeometric_pmf(k, &law, 25, &Uninterrupted).unwrap();
            let upper = hypergeometric_upper_tail(k, &law, 25, &Uninterrupted).unwrap();
            let lower = hypergeometric_lower_tail(k, &law, 25, &Uninterrupted).unwrap();
            let rest = &(&upper + &lower) + &-&point;
            assert!(rest.contains(&Rational::from(1i64)), "{k}");
            assert!(rest.width().to_rational().unwrap() < number("1e-24"), "{k}");
        }
    }
}
