//! The exponential and the logarithm as plain series: slow, simple, and what the tables are filled from.

use crate::numbers::double_double::DoubleDouble;

const LN_TERMS: usize = 22;
const EXP_TERMS: usize = 25;

/// `1/(2k+1)` (relative error `3u²`).
pub(super) const ODD_RECIPROCALS: [DoubleDouble; LN_TERMS] = {
    let mut table = [DoubleDouble::ONE; LN_TERMS];
    let mut k = 1;
    while k < LN_TERMS {
        table[k] = DoubleDouble::ONE.div_f64((2 * k + 1) as f64);
        k += 1;
    }
    table
};

/// `1/k!` (relative error at most `3(k−2)u²`: the first two divisions are exact).
pub(super) const INVERSE_FACTORIALS: [DoubleDouble; EXP_TERMS] = {
    let mut table = [DoubleDouble::ONE; EXP_TERMS];
    let mut k = 2;
    while k < EXP_TERMS {
        table[k] = table[k - 1].div_f64(k as f64);
        k += 1;
    }
    table
};

/// `c_0 + z (c_1 + z (c_2 + …))`.
fn horner(coefficients: &[DoubleDouble], z: DoubleDouble) -> DoubleDouble {
    coefficients.iter().rev().fold(DoubleDouble::ZERO, |sum, &c| sum.mul(z).add(c))
}

/// `ln m` for `0.707 ≤ m ≤ 1.418`, with a relative error of at most `64u² = 2^-100`.
///
/// `ln m = 2 artanh s = 2s Σ z^k/(2k+1)` with `s = (m−1)/(m+1)`, `|s| ≤ 0.173`, `z = s² ≤ 0.02993`. Dropping the
/// terms from `k = 22` costs less than `z^22/45/(1−z) < 2^-116` of a sum that is at least one. `s` errs by
/// `3u² + 3u² + 16u² = 22u²`. In the Horner sum what is multiplied by `z` stays below `0.0104`, so its error,
/// below `70u²`, counts as `0.73u²`; the last addition adds `3u²`. Then `22u² + 4u² + 7u² < 64u²`.
pub(super) fn ln(m: DoubleDouble) -> DoubleDouble {
    let s = m.add(DoubleDouble::from_f64(-1.0)).div(m.add(DoubleDouble::ONE));
    s.mul(horner(&ODD_RECIPROCALS, s.mul(s))).scale(2.0)
}

/// `e^r` for `|r| ≤ 0.35`, with a relative error of at most `12u²`.
///
/// Taylor's polynomial of degree 24 leaves less than `0.35^25/25!·1.01 < 2^-120`. In its Horner sums `S_k = 1/k! + r S_{k+1}`, an
/// error `E_{k+1}` becomes `E_k ≤ 3u²|S_k| + 7u²|r S_{k+1}| + |r| E_{k+1}` and, from the table, at most `u²/2` more. From
/// `E_2 ≤ 4u²`, `E_1 ≤ 7u²` and `E_0 ≤ 10u²` for `r > 0`; for `r < 0`, where the value is at least `0.704`, `E_0 ≤ 7u²`.
pub(super) fn exp(r: DoubleDouble) -> DoubleDouble {
    horner(&INVERSE_FACTORIALS, r)
}
