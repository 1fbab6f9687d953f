//! Convolutions `c_k = Σ_i a_i b_{k−i}` of non-negative numbers.
//!
//! All terms are positive, so a direct sum keeps the relative accuracy of every `c_k`. [`sums_of_products`] adds up doubles with a stated
//! relative error; [`pmf`] adds up probability mass functions in double-doubles.

pub(crate) mod pmf;

use crate::error::Error;
use crate::interrupt::Interrupt;

/// Products that are added up before their sum joins the others.
const CHUNK: usize = 64;
/// Half an ulp of one.
const ROUNDING: f64 = f64::EPSILON / 2.0;

/// All sums of products in doubles, and a bound of their relative errors as long as nothing under- or overflows.
///
/// A product errs by `u`, a sum of at most [`CHUNK`] of them by `(CHUNK − 1) u`, and adding up these sums by `u` each. Two more
/// `u` pay for terms of higher order, and for measuring by the computed sum, while the bound is below `2^-27`.
pub(crate) fn sums_of_products(
    a: &[f64],
    b: &[f64],
    interrupt: &dyn Interrupt,
) -> Result<(Vec<f64>, f64), Error> {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let mut totals = vec![0.0; (short.len() + long.len()).saturating_sub(1)];
    for (chunk, factors) in short.chunks(CHUNK).enumerate() {
        interrupt.check()?;
        let mut sums = vec![0.0; factors.len() + long.len() - 1];
        for (offset, &factor) in factors.iter().enumerate() {
            for (sum, &coefficient) in sums.iter_mut().skip(offset).zip(long) {
                *sum += factor * coefficient;
            }
        }
        for (total, sum) in totals.iter_mut().skip(chunk * CHUNK).zip(sums) {
            *total += sum;
        }
    }
    Ok((totals, (CHUNK + short.len() / CHUNK + 2) as f64 * ROUNDING))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Uninterrupted;
    use crate::numbers::rational::Rational;
    use proptest::prelude::*;

    fn exactly(a: &[f64], b: &[f64], k: usize) -> Rational {
        let rational = |x: f64| Rational::from_f64(x).unwrap();
        let pairs = (0..a.len()).filter(|&i| i <= k && k - i < b.len());
        pairs.fold(Rational::from(0i64), |sum, i| sum.add(&rational(a[i]).mul(&rational(b[k - i]))))
    }

    fn vector() -> impl Strategy<Value = Vec<f64>> {
        let entry = prop_oneof![3 => 0.0..1.0f64, 1 => Just(0.0), 1 => (0.5..1.0f64, 0i32..400).prop_map(|(x, e)| x * 2f64.powi(-e))];
        prop::collection::vec(entry, 1..150)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::cases::cases(32, 64)))]

        #[test]
        fn every_sum_is_within_the_stated_error(a in vector(), b in vector()) {
            let (sums, relative) = sums_of_products(&a, &b, &Uninterrupted).unwrap();
            prop_assert_eq!(sums.len(), a.len() + b.len() - 1);
            let relative = Rational::from_f64(relative).unwrap();
            for (k, &sum) in sums.iter().enumerate() {
                let (truth, found) = (exactly(&a, &b, k), Rational::from_f64(sum).unwrap());
                let gap = found.sub(&truth);
                let gap = if gap.is_negative() { gap.neg() } else { gap };
                prop_assert!(gap <= truth.mul(&relative), "{k}");
            }
        }
    }
}
