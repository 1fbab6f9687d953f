//! Log probabilities of the binomial and the hypergeometric law as sums of two doubles: Loader's saddle-point form.
//!
//! With `s` Stirling's remainder, `g(m, k) = ½ ln(2πk(m−k)/m) + s(k) + s(m−k) − s(m)` (zero at both ends), `D(x, μ) = x ln(x/μ) + μ − x`:
//!
//! * `ln P[Bin(n, p) = k] = −g(n, k) − D(k, np) − D(n−k, nq)`;
//! * with the table `a = k`, `b = marked − k`, `c = draws − k`, `d` the rest, and every cell's mean the product of its
//!   margins over the population: `ln P[X = k] = g(population, draws) − g(marked, a) − g(unmarked, c) − Σ D(cell, mean)`.
//!
//! All terms `D` are formed from the deviations `μ − x`, which are known to full accuracy: so for `0 < k < n` the binomial
//! sum has terms of one sign, and what the others lose to cancellation is bounded by constants below `2^-54`.

use crate::ball::Ball;
use crate::double_double::{DoubleDouble, two_sum};
use crate::enclosure::Enclosure;
use crate::fast::Scaled;
use crate::special::deviance::{DEVIANCE_ERROR, Deviation, deviance};
use crate::special::plain_exponential::{EXPONENTIAL_ERROR, exp};
use crate::special::plain_logarithm::{SERIES, ln_of_quotient, polynomial};
use crate::special::{LN_2_PI, stirling_parts};
use statpriv_simd::{Arithmetic, Backend, Kernel};

/// Bound of the error of [`spread`].
const SPREAD_ERROR: f64 = 1.0 / (1u64 << 57) as f64;
/// Bound of what computed means add to the relative error of their inputs: `2^-101`.
const MEAN_ERROR: f64 = 1.0 / (1u64 << 50) as f64 / (1u64 << 51) as f64;
/// A little more than `u`: what the rounding of a sum can take from a bound, relatively.
const OUTWARD: f64 = 0.51 * f64::EPSILON;
/// Below this every probability is under `2^-1075`.
const UNDERFLOW: f64 = -746.0;
/// The exponential's table reaches down to here.
const LEAST_LOGARITHM: f64 = -11_000.0;
/// Errors of the logarithm beyond this are left to the balls.
const LARGEST_ERROR: f64 = 1.0 / (1u64 << 40) as f64;

/// `ln P` up to `error`: a sum of two doubles, `|lo| ≤ 2^-52 |hi|`.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogProbability {
    hi: f64,
    lo: f64,
    error: f64,
}

/// Doubles of a probability and of its complement, for the saddle-point form.
#[derive(Clone, Copy, Debug)]
pub(super) struct Doubles {
    p: DoubleDouble,
    q: DoubleDouble,
    /// Of `p` and of `q`, relatively.
    error: f64,
}

/// A sum of pairs of doubles: what the upper ones lose is kept, the lower ones are added plainly.
///
/// Beside deviances, the lower parts are below `2^-18` of what is summed: a dozen additions of them err by less than `2^-67`
/// of it, half of [`DEVIANCE_ERROR`].
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    hi: f64,
    lo: f64,
}

impl Sum {
    fn plus(self, upper: f64, lower: f64) -> Self {
        let (hi, lost) = two_sum(self.hi, upper);
        Self { hi, lo: self.lo + (lost + lower) }
    }

    fn minus(self, term: DoubleDouble) -> Self {
        self.plus(-term.hi, -term.lo)
    }

    fn with_error(self, error: f64) -> LogProbability {
        let (hi, lo) = two_sum(self.hi, self.lo);
        LogProbability { hi, lo, error }
    }
}

impl Doubles {
    /// Nothing where a double-double's exponent does not reach.
    pub(super) fn new(p: Ball, q: Ball) -> Option<Self> {
        let error = p.relative_error().max(q.relative_error());
        Some(Self { p: p.to_double_double()?, q: q.to_double_double()?, error })
    }

    pub(super) fn complement(self) -> Self {
        Self { p: self.q, q: self.p, ..self }
    }
}

impl LogProbability {
    /// The logarithm, at most 0.
    ///
    /// An end is `hi` and a small number, rounded by at most `2^-53` of it; [`OUTWARD`] of it, in its favour, pays for that.
    pub(super) fn to_enclosure(self) -> Enclosure {
        let radius = self.error + OUTWARD * self.hi.abs();
        Enclosure::ordered(self.hi + (self.lo - radius), (self.hi + (self.lo + radius)).min(0.0))
    }

    /// The probability with an exponent of its own, where the logarithm is known well enough and not below `−11000`.
    ///
    /// `|e^(x+t) − e^x| ≤ e^x (|t| + t²)` for `|t| ≤ 1`; one per cent pays for `t²`, and [`OUTWARD`] for the rounding of the sum.
    pub(super) fn scaled(self) -> Option<Scaled> {
        if self.error > LARGEST_ERROR || self.hi < LEAST_LOGARITHM {
            return None;
        }
        let (mantissa, exponent) = exp(self.hi, self.lo);
        let error = 1.01 * (EXPONENTIAL_ERROR + self.error) + OUTWARD;
        Some(Scaled { mantissa: mantissa.hi + mantissa.lo, exponent, error })
    }

    /// The probability, where the logarithm is known well enough.
    ///
    /// As in [`LogProbability::scaled`]; another per cent pays for the mantissa's lower part.
    pub(super) fn exp(self) -> Option<Enclosure> {
        if self.hi < UNDERFLOW {
            return Some(Enclosure::ordered(0.0, f64::from_bits(1)));
        }
        if self.error > LARGEST_ERROR {
            return None;
        }
        let (mantissa, exponent) = exp(self.hi, self.lo);
        let radius = mantissa.hi * (1.02 * (EXPONENTIAL_ERROR + self.error) + OUTWARD);
        let lower = mantissa.hi + (mantissa.lo - radius);
        let upper = mantissa.hi + (mantissa.lo + radius);
        if exponent >= -1020 {
            let scale = power_of_two(exponent);
            return Some(Enclosure::ordered(lower * scale, (upper * scale).min(1.0)));
        }
        // Into the subnormal numbers: the last product rounds by at most half of the least one.
        let scaled = |x: f64| x * power_of_two(-1000) * power_of_two(exponent + 1000);
        Some(Enclosure::ordered(scaled(lower).next_down().max(0.0), scaled(upper).next_up()))
    }
}

/// `2^k`, or the normal double next to it.
pub(super) fn power_of_two(k: i64) -> f64 {
    f64::from_bits(((k.clamp(-1022, 1023) + 1023) as u64) << 52)
}

/// `ln P[Bin(n, p) = k]` for `k ≤ n ≤ 2^53`, by the fastest instructions at hand.
pub(super) fn binomial(k: u64, n: u64, at: &Doubles) -> LogProbability {
    Backend::best().run(Binomial { k, n, at: *at })
}

struct Binomial {
    k: u64,
    n: u64,
    at: Doubles,
}

impl Kernel for Binomial {
    type Output = LogProbability;

    #[inline(always)]
    fn run<A: Arithmetic>(self) -> LogProbability {
        binomial_with::<A>(self.k, self.n, &self.at)
    }
}

/// `ln P[X = k]` for the table of counts `a b / c d` with `a = k`, `a + b` marked ones, `a + c` draws, and more than one
/// possible table with its margins.
pub(super) fn hypergeometric(table: [u64; 4]) -> LogProbability {
    Backend::best().run(Table(table))
}

struct Table([u64; 4]);

impl Kernel for Table {
    type Output = LogProbability;

    #[inline(always)]
    fn run<A: Arithmetic>(self) -> LogProbability {
        hypergeometric_with::<A>(self.0)
    }
}

/// With the backend's instructions.
///
///
/// A mean `μ(1+η)` instead of `μ` changes `D` by at most `|μ − x||η| + xη²` (as `η − ln(1+η) ≤ η²` for `|η| ≤ ½`). The
/// smaller of the two probabilities gives the deviation: `np` errs by `2u²`, and the lower parts of its difference from `k`
/// add up with an error of `u²(np + k)`. Where [`deviance`] uses the deviation, it is below `x/256`, so for both cells this
/// is below `5u²` of their means, and [`MEAN_ERROR`] covers it. The terms `xη²` are below `2^53 · 2^-150`, within what
/// [`SPREAD_ERROR`] has to spare.
#[inline(always)]
fn binomial_with<A: Arithmetic>(k: u64, n: u64, at: &Doubles) -> LogProbability {
    let (k, Doubles { p, q, .. }) = if at.p.hi <= at.q.hi { (k, *at) } else { (n - k, at.complement()) };
    let relative = at.error + MEAN_ERROR;
    let (trials, hits, misses) = (double(n), double(k), double(n - k));
    if k == 0 {
        return power_of_complement::<A>(trials, p, q, relative);
    }
    if k == n {
        return power_of_complement::<A>(trials, q, p, relative);
    }
    let mean = p.mul_f64_with::<A>(trials);
    let difference = minus_count(mean, hits);
    let deviation = Deviation::new::<A>(difference);
    let first = deviance::<A>(hits, deviation, || mean);
    let second = deviance::<A>(misses, deviation.neg(), || q.mul_f64_with::<A>(trials));
    let error = 1.5 * DEVIANCE_ERROR * (first.hi + second.hi)
        + 2.1 * relative * difference.hi.abs()
        + 2.0 * SPREAD_ERROR;
    let sum = Sum { hi: -first.hi, lo: -first.lo }.minus(second);
    Spread::of::<A>(n, k).map_or(sum, |spread| spread.taken_from(sum)).with_error(error)
}

/// `np − k`, to a relative error of a few `u` (and `u² n` times the smaller probability), formed from the smaller one.
pub(super) fn deviation(k: u64, n: u64, at: &Doubles) -> f64 {
    if at.p.hi <= at.q.hi {
        minus_count(at.p.mul_f64(double(n)), double(k)).hi
    } else {
        -minus_count(at.q.mul_f64(double(n)), double(n - k)).hi
    }
}

/// `trials · ln y` for a number `y` and its complement `c = 1 − y`.
///
/// `−ln y = c + D(1, y)`, both terms positive: so the relative accuracy survives however small `c` is. With `c(1+η)` and
/// `y(1+η')` for `c` and `y` it changes by at most `c|η| + c|η'| + η'²`, where the last two are missing if `c ≤ 1/256` (there
/// `y` is not used, and a relative change of `c` is one by less than `1.01|η|` of `−ln y`): less than `2.1` times the larger
/// of the two, relatively to `−ln y ≥ c`. The products and sums round by less than `2^-100`.
#[inline(always)]
fn power_of_complement<A: Arithmetic>(
    trials: f64,
    c: DoubleDouble,
    y: DoubleDouble,
    relative: f64,
) -> LogProbability {
    let rest = deviance::<A>(1.0, Deviation::new::<A>(c.neg()), || y);
    let (sum, lost) = two_sum(c.hi, rest.hi);
    let (hi, lo) = two_sum(sum, lost + (c.lo + rest.lo));
    let product = DoubleDouble { hi, lo }.mul_f64(trials);
    LogProbability {
        hi: -product.hi,
        lo: -product.lo,
        error: product.hi * (1.5 * DEVIANCE_ERROR + 2.1 * relative),
    }
}

/// A count up to `2^53`, exactly; the conversion from signed integers is one instruction.
fn double(count: u64) -> f64 {
    count as i64 as f64
}

/// `x − k`; the lower parts are added with an error of `u²(x + k)`.
fn minus_count(x: DoubleDouble, k: f64) -> DoubleDouble {
    let (difference, lost) = two_sum(x.hi, -k);
    let (hi, lo) = two_sum(difference, lost + x.lo);
    DoubleDouble { hi, lo }
}

/// `g(m, k)` of the module documentation, for `0 < k < m`: `½ ln 2π + ½ (head + tail) + coarse + fine`.
struct Spread {
    head: DoubleDouble,
    tail: f64,
    coarse: f64,
    fine: f64,
}

impl Spread {
    /// With an error of at most [`SPREAD_ERROR`]; tail and fine part are below `2^-7`. Nothing at the ends, where it is 0.
    ///
    /// The logarithm of `k(m−k)/m` errs by `2^-58 + 2^-93 · 37`, half of which counts; the fine parts of Stirling's
    /// remainders, each below `2^-9`, by `3 · 2^-61`, and two roundings of `2^-61`. The coarse parts add up exactly.
    /// So there remain `2^-58` for the roundings where these parts are added to others.
    #[inline(always)]
    fn of<A: Arithmetic>(m: u64, k: u64) -> Option<Self> {
        if k == 0 || k == m {
            return None;
        }
        let (head, tail) = ln_of_quotient::<A>(product::<A>(k, m - k), double(m));
        let (some, others, all) = (stirling_parts(k), stirling_parts(m - k), stirling_parts(m));
        let (coarse, fine) = (some.0 + others.0 - all.0, some.1 + others.1 - all.1);
        Some(Self { head, tail, coarse, fine })
    }

    fn taken_from(&self, sum: Sum) -> Sum {
        sum.plus(-0.5 * LN_2_PI.hi, -0.5 * (LN_2_PI.lo + self.head.lo))
            .plus(-0.5 * self.head.hi, -(0.5 * self.tail + self.fine))
            .plus(-self.coarse, 0.0)
    }

    fn added_to(&self, sum: Sum) -> Sum {
        sum.plus(0.5 * LN_2_PI.hi, 0.5 * (LN_2_PI.lo + self.head.lo))
            .plus(0.5 * self.head.hi, 0.5 * self.tail + self.fine)
            .plus(self.coarse, 0.0)
    }
}

/// Of two counts up to `2^53`, exactly.
#[inline(always)]
fn product<A: Arithmetic>(x: u64, y: u64) -> DoubleDouble {
    let (hi, lo) = A::two_product(double(x), double(y));
    DoubleDouble { hi, lo }
}

/// With the backend's instructions.
///
/// Every deviation is `±(bc − ad)/N`, the difference of two exact products, to a relative error of `6u²`; every mean
/// is a product of margins over `N`, to one of `3u²`: [`MEAN_ERROR`] covers both. Rows and columns may be swapped, so an
/// empty cell can be the first one. The lower parts of three spreads add up to less than `2^-5`, so the nine roundings
/// after they enter are below `9 · 2^-58 < 5` times [`SPREAD_ERROR`].
#[inline(always)]
fn hypergeometric_with<A: Arithmetic>(table: [u64; 4]) -> LogProbability {
    let [a, b, c, d] = match table {
        [a, 0, c, d] => [0, a, d, c],
        [a, b, 0, d] => [0, d, a, b],
        [a, b, c, 0] => [0, c, b, a],
        full => full,
    };
    let all = a + b + c + d;
    let excess = product::<A>(b, c).add(product::<A>(a, d).neg()).div_f64(double(all));
    let deviation = Deviation::new::<A>(excess);
    let cell = |x: u64, deviation: Deviation, row: u64, column: u64| {
        deviance::<A>(double(x), deviation, || product::<A>(row, column).div_f64(double(all)))
    };
    let deviances = [
        cell(a, deviation, a + b, a + c),
        cell(b, deviation.neg(), a + b, b + d),
        cell(c, deviation.neg(), c + d, a + c),
        cell(d, deviation, c + d, b + d),
    ];
    let total: f64 = deviances.iter().map(|deviance| deviance.hi).sum();
    let sum = deviances.into_iter().fold(Sum::default(), Sum::minus);
    let error = 1.5 * DEVIANCE_ERROR * total + 4.1 * MEAN_ERROR * excess.hi.abs();
    if a == 0 && d > 0 {
        return beside_empty_cell::<A>(sum, error, [b, c, d], excess);
    }
    let sum = Spread::of::<A>(a + b, a).map_or(sum, |marked| marked.taken_from(sum));
    let sum = Spread::of::<A>(c + d, c).map_or(sum, |unmarked| unmarked.taken_from(sum));
    let sum = Spread::of::<A>(all, a + c).map_or(sum, |whole| whole.added_to(sum));
    sum.with_error(error + 8.0 * SPREAD_ERROR)
}

/// The same, where `a = 0` alone: the probability may be close to 1, so the spreads must not cancel in the end.
///
/// Most of their parts do in advance. With `μ = bc/N`, the mean of the empty cell, what is left is
/// `½ ln(1 + μ/d) + s(c+d) + s(b+d) − s(N) − s(d)`, as `(c+d)(b+d) = N(d + μ)`; and the sum so far is at most `−μ`. For `t = μ/d ≤
/// 2^-7` the half logarithm errs by `4ut`: two roundings of `t`, `2.1u` for the polynomial and the subtraction, halved, and
/// half an `u` where it is added. The fine parts err by `4u` each, two differences by `u`, and their sum by `u` of theirs.
fn beside_empty_cell<A: Arithmetic>(
    sum: Sum,
    error: f64,
    [b, c, d]: [u64; 3],
    mean: DoubleDouble,
) -> LogProbability {
    let unit = f64::EPSILON;
    let parts = [c + d, b + d, b + c + d, d].map(stirling_parts);
    let coarse = parts[0].0 + parts[1].0 - (parts[2].0 + parts[3].0);
    let differences = (parts[0].1 - parts[3].1, parts[1].1 - parts[2].1);
    let fine = differences.0 + differences.1;
    let fine_error = unit
        * (2.0 * parts.map(|part| part.1).iter().sum::<f64>() + differences.0.abs() + differences.1.abs());
    let t = mean.hi / double(d);
    if t <= 1.0 / 128.0 {
        let half = 0.5 * (t - t * t * polynomial::<A>(&SERIES, t));
        return sum.plus(coarse, fine).plus(half, 0.0).with_error(error + fine_error + 2.0 * unit * t);
    }
    let (head, tail) = ln_of_quotient::<A>(product::<A>(c + d, b + d).div_f64(double(d)), double(b + c + d));
    let sum = sum.plus(0.5 * head.hi, 0.5 * (head.lo + tail)).plus(coarse, fine);
    sum.with_error(error + fine_error + 2.0 * SPREAD_ERROR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::Probability;
    use crate::rational::Rational;
    use proptest::prelude::*;

    fn agree(backends: impl Fn(Backend) -> LogProbability) -> bool {
        let first = backends(Backend::PORTABLE);
        Backend::available().into_iter().map(backends).all(|other| {
            let gap = ((first.hi - other.hi) + (first.lo - other.lo)).abs();
            gap <= 1.01 * (first.error + other.error)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn backends_agree_within_their_errors(cells in any::<[u64; 4]>(), shifts in [13u32..64, 13u32..64, 13u32..64, 13u32..64], p in 1e-12..1.0f64) {
            let mut cells = cells;
            for (cell, shift) in cells.iter_mut().zip(shifts) {
                *cell = (*cell >> shift).max(1);
            }
            prop_assert!(agree(|backend| backend.run(Table(cells))));
            let probability = Probability::new(&Rational::from_f64(p).unwrap()).unwrap();
            let at = Doubles::new(probability.p, probability.q).unwrap();
            let (k, n) = (cells[0], cells[0] + cells[1]);
            let agreed = agree(|backend| backend.run(Binomial { k, n, at }));
            prop_assert!(agreed);
        }
    }
}
