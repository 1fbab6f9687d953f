//! The two ends of a curve as exact rationals, where they are short enough: at ε = 0, and for ε → ∞.
//!
//! Everywhere else δ(ε) is transcendental, so digits decide any comparison with a rational; here it may be equal to one.

use super::probability::size;
use crate::budget::MAX_BITS_OF_AN_END;
use crate::numbers::rational::Rational;
use dashu_int::{IBig, UBig};

/// An end of a curve.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// ε = 0: the total variation.
    Zero,
    /// ε → ∞: the mass that gives the value away.
    Infinity,
}

/// `max_k P[Bin(n−1, p) = k]`, attained at `k = ⌈np⌉ − 1`, for `0 < p < 1`.
pub(crate) fn total_variation(n: u64, p: &Rational) -> Option<Rational> {
    binomial(n - 1, ceiling(&p.mul(&Rational::from(n)))? - 1, p)
}

/// At ε = 0 the peaks are at `j/(n−1)`; the theorem is in `docs/explanation/ranges.md`.
pub(crate) fn supremum_of_total_variation(n: u64, lower: &Rational, upper: &Rational) -> Option<Rational> {
    let (first, last) = peaks_of_total_variation(n, lower, upper)?;
    let peaks = if first <= last && n > 2 { vec![first, last] } else { Vec::new() };
    greatest_total_variation(n, vec![lower.clone(), upper.clone()], &peaks)
}

/// The first and the last peak in the range.
pub(crate) fn peaks_of_total_variation(n: u64, lower: &Rational, upper: &Rational) -> Option<(u64, u64)> {
    let others = Rational::from(n - 1);
    let first = ceiling(&lower.mul(&others))?;
    Some((first, n - 1 - ceiling(&Rational::from(1i64).sub(upper).mul(&others))?))
}

/// The greatest at these probabilities, and at the peaks between the first and the last of all.
pub(crate) fn greatest_total_variation(
    n: u64,
    mut probabilities: Vec<Rational>,
    peaks: &[u64],
) -> Option<Rational> {
    let others = Rational::from(n - 1);
    let inner = peaks.iter().filter(|&j| (1..n - 1).contains(j));
    probabilities.extend(inner.filter_map(|&j| Rational::from(j).div(&others)));
    probabilities
        .into_iter()
        .try_fold(Rational::from(0i64), |best, p| Some(best.max(total_variation(n, &p)?)))
}

pub(crate) fn ceiling(x: &Rational) -> Option<u64> {
    let bottom = IBig::from(x.denominator().clone());
    u64::try_from(&((x.numerator() + &bottom - IBig::ONE) / bottom)).ok()
}

/// `C(n,k) p^k (1−p)^{n−k}`.
pub(crate) fn binomial(n: u64, k: u64, p: &Rational) -> Option<Rational> {
    if n.saturating_mul(size(p)) > MAX_BITS_OF_AN_END {
        return None;
    }
    let ways = (1..=k.min(n - k)).fold(UBig::ONE, |ways, i| ways * (n + 1 - i) / i);
    let misses = IBig::from(p.denominator().clone()) - p.numerator();
    let top = p.numerator().pow(k as usize) * misses.pow((n - k) as usize) * IBig::from(ways);
    Rational::new(top, p.denominator().pow(n as usize)).ok()
}

#[cfg(test)]
mod tests {
    use super::super::examples::curves;
    use super::*;
    use crate::curve::CountFamily;
    use crate::curve::Curve;
    use crate::curve::digits::{at_limit as exactly, last_change_of};
    use crate::curve::exact::exact_delta;
    use crate::forms::BinomialPeaks;
    use crate::forms::Directed;
    use crate::forms::{Direction, ShiftedBinomial};
    use crate::interrupt::Uninterrupted;

    fn number(text: &str) -> Rational {
        Rational::parse(text).unwrap()
    }

    /// Of four entries: `max_k P[Bin(3, p) = k]` at ε = 0, and `p³`, resp. `q³`, for ε → ∞. On a range, the largest of those at its ends and peaks.
    #[test]
    fn the_ends_of_a_count_of_four_entries() {
        use Direction::{OneAgainstZero, ZeroAgainstOne};
        for (lower, upper, direction, at_zero, at_infinity) in [
            ("2/3", "2/3", OneAgainstZero, "4/9", "8/27"),
            ("2/3", "2/3", ZeroAgainstOne, "4/9", "1/27"),
            ("1/5", "1/5", OneAgainstZero, "64/125", "1/125"),
            ("1/5", "2/3", OneAgainstZero, "64/125", "8/27"),
            ("1/5", "2/3", ZeroAgainstOne, "64/125", "64/125"),
            ("0", "0", OneAgainstZero, "1", "1"),
            ("1/5", "1", ZeroAgainstOne, "1", "1"),
        ] {
            let family = CountFamily::new(&number(lower), &number(upper), Some(direction)).unwrap();
            let curve = family.of_size(4).unwrap();
            assert_eq!(
                exactly(&curve, Limit::Zero),
                Some(number(at_zero)),
                "{lower} to {upper}, {direction:?}"
            );
            assert_eq!(
                exactly(&curve, Limit::Infinity),
                Some(number(at_infinity)),
                "{lower} to {upper}, {direction:?}"
            );
        }
    }

    /// The exact tier at `e^ε = 1`, and at one beyond the last change.
    #[test]
    fn the_ends_are_those_of_the_exact_tier() {
        let mut compared = 0;
        for (name, curve) in curves() {
            let far = Rational::from(IBig::ONE << last_change_of(&curve) as usize);
            for (end, ratio) in [(Limit::Zero, Rational::from(1i64)), (Limit::Infinity, far)] {
                let Some(found) = exactly(&curve, end) else { continue };
                if let Ok(expected) = exact_delta(&curve, &ratio, &Uninterrupted) {
                    assert_eq!(found, expected, "{name}");
                    compared += 1;
                }
            }
        }
        assert!(compared >= 44, "{compared}");
    }

    #[test]
    fn what_is_too_long_is_not_written_out() {
        // 1/4 is written in four bits.
        let quarter = number("1/4");
        assert!(binomial(1 << 14, 3, &quarter).is_some() && binomial((1 << 14) + 1, 3, &quarter).is_none());
        for n in 1..9 {
            let all =
                (0..=n).fold(Rational::from(0i64), |sum, k| sum.add(&binomial(n, k, &quarter).unwrap()));
            assert_eq!(all, Rational::from(1i64));
        }
        assert_eq!(binomial(5, 2, &quarter), Some(number("135/512")));
        for (x, up) in [("0", 0), ("1/7", 1), ("1", 1), ("8/7", 2)] {
            assert_eq!(ceiling(&number(x)), Some(up));
        }
    }

    /// Over a range that reaches 0 or 1 tests have a limit that nothing attains.
    #[test]
    fn tests_over_an_open_range_have_no_last_value() {
        let end = |tests: Vec<u64>, lower: &str, upper: &str, end| {
            let tests = BinomialPeaks::new(9, tests, &number(lower), &number(upper)).unwrap();
            exactly(&Curve::from(Directed(tests, Direction::OneAgainstZero)), end)
        };
        assert_eq!(end(vec![3], "0", "1/2", Limit::Infinity), None);
        assert_eq!(end(vec![3], "1/9", "1", Limit::Infinity), None);
        assert_eq!(end(vec![3], "1/9", "1/2", Limit::Infinity), Some(number("0")));
        assert_eq!(end(vec![0], "0", "1/2", Limit::Infinity), Some(number("1")));
        // C(8, 3) 3^3 5^5 / 8^8
        assert_eq!(end(vec![3], "0", "1/2", Limit::Zero), Some(number("4725000/16777216")));
        assert_eq!(end(vec![3], "1/2", "3/4", Limit::Zero), Some(number("0")));
    }

    /// A critical entry that is counted with probability ⅓ only: a third of the distance, and no answer gives its value away.
    #[test]
    fn an_entry_that_may_be_left_out_moves_the_law_by_its_share() {
        let pair = ShiftedBinomial::new(4, &number("2/3"), &number("1/3")).unwrap();
        let curve = Curve::from(Directed(pair, Direction::OneAgainstZero));
        assert_eq!(exactly(&curve, Limit::Zero), Some(number("4/27")));
        assert_eq!(exactly(&curve, Limit::Infinity), Some(number("0")));
    }
}
