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

use crate::numbers::ball::Ball;
use crate::numbers::double_double::{DoubleDouble, two_sum};
use crate::numbers::enclosure::Enclosure;
use crate::numbers::lanes::{DoubleDoubles, Lanes, WIDTH};
use crate::numbers::scaled::Scaled;
use crate::numbers::special::deviance::{DEVIANCE_ERROR, deviances};
use crate::numbers::special::plain_exponential::{EXPONENTIAL_ERROR, exp};
use crate::numbers::special::plain_logarithm::{SERIES, ln_of_quotients, pairwise_polynomial};
use crate::numbers::special::{LN_2_PI, stirling_parts};
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
const MIN_LOGARITHM: f64 = -11_000.0;
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
        if self.error > LARGEST_ERROR || self.hi < MIN_LOGARITHM {
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
/// add up with an error of `u²(np + k)`. Where [`deviances`] uses the deviation, it is below `x/256`, so for both cells this
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
    // The other two lanes repeat these.
    let difference = minus_count(p.mul_f64_with::<A>(trials), hits);
    let deviation = DoubleDoubles::from([difference, difference.neg(), difference, difference.neg()]);
    let both = deviances::<A>(Lanes([hits, misses, hits, misses]), deviation, || {
        DoubleDoubles::from([p, q, p, q]).mul_f64_with::<A>(Lanes::all(trials))
    });
    let (first, second) = (both.lane(0), both.lane(1));
    let error = 1.5 * DEVIANCE_ERROR * (first.hi + second.hi)
        + 2.1 * relative * difference.hi.abs()
        + 2.0 * SPREAD_ERROR;
    let sum = Sum { hi: -first.hi, lo: -first.lo }.minus(second);
    let spreads = Spreads::of::<A>([n; WIDTH], [k; WIDTH]);
    spreads.at(0).taken_from(sum).with_error(error)
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
    let all = DoubleDoubles::all;
    let rest = deviances::<A>(Lanes::all(1.0), all(c.neg()), || all(y)).lane(0);
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

/// Four of them.
struct Spreads {
    head: DoubleDoubles,
    tail: Lanes,
    coarse: Lanes,
    fine: Lanes,
}

impl Spreads {
    /// With an error of at most [`SPREAD_ERROR`] each; tail and fine part are below `2^-7`. Those of `k = 0` and `k = m` are no numbers.
    ///
    /// The logarithm of `k(m−k)/m` errs by `2^-58 + 2^-93 · 37`, and half of this error counts; the fine parts of Stirling's
    /// remainders, each below `2^-9`, by `3 · 2^-61`, and two roundings of `2^-61`. The coarse parts add up exactly.
    /// So there remain `2^-58` for the roundings where these parts are added to others.
    #[inline(always)]
    fn of<A: Arithmetic>(m: [u64; WIDTH], k: [u64; WIDTH]) -> Self {
        let rest = [m[0] - k[0], m[1] - k[1], m[2] - k[2], m[3] - k[3]];
        let (head, tail) = ln_of_quotients::<A>(products::<A>(k, rest), doubles(m));
        let (some, others, all) = (stirling_parts(k), stirling_parts(rest), stirling_parts(m));
        Self { head, tail, coarse: some.0 + others.0 - all.0, fine: some.1 + others.1 - all.1 }
    }

    #[inline(always)]
    fn at(&self, i: usize) -> Spread {
        Spread {
            head: self.head.lane(i),
            tail: self.tail.0[i],
            coarse: self.coarse.0[i],
            fine: self.fine.0[i],
        }
    }
}

impl Spread {
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

fn doubles(counts: [u64; WIDTH]) -> Lanes {
    Lanes(counts.map(double))
}

/// Of counts up to `2^53`, exactly.
#[inline(always)]
fn products<A: Arithmetic>(x: [u64; WIDTH], y: [u64; WIDTH]) -> DoubleDoubles {
    let (hi, lo) = doubles(x).two_product::<A>(doubles(y));
    DoubleDoubles { hi, lo }
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
    let (rows, columns) = ([a + b, a + b, c + d, c + d], [a + c, b + d, a + c, b + d]);
    let diagonals = products::<A>([b, a, b, a], [c, d, c, d]);
    let excess = diagonals.lane(0).add(diagonals.lane(1).neg()).div_f64(double(all));
    let deviation = DoubleDoubles::from([excess, excess.neg(), excess.neg(), excess]);
    let cells = deviances::<A>(doubles([a, b, c, d]), deviation, || {
        products::<A>(rows, columns).div_f64_with::<A>(Lanes::all(double(all)))
    });
    let deviances = [cells.lane(0), cells.lane(1), cells.lane(2), cells.lane(3)];
    let total: f64 = deviances.iter().map(|deviance| deviance.hi).sum();
    let sum = deviances.into_iter().fold(Sum::default(), Sum::minus);
    let error = 1.5 * DEVIANCE_ERROR * total + 4.1 * MEAN_ERROR * excess.hi.abs();
    if a == 0 && d > 0 {
        return beside_empty_cell::<A>(sum, error, [b, c, d], excess);
    }
    let spreads = Spreads::of::<A>([a + b, c + d, all, all], [a, c, a + c, a + c]);
    let inside = |m: u64, k: u64| k != 0 && k != m;
    let sum = if inside(a + b, a) { spreads.at(0).taken_from(sum) } else { sum };
    let sum = if inside(c + d, c) { spreads.at(1).taken_from(sum) } else { sum };
    let sum = if inside(all, a + c) { spreads.at(2).added_to(sum) } else { sum };
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
    let (coarse, fine) = stirling_parts([c + d, b + d, b + c + d, d]);
    let coarse = coarse.0[0] + coarse.0[1] - (coarse.0[2] + coarse.0[3]);
    let differences = (fine.0[0] - fine.0[3], fine.0[1] - fine.0[2]);
    let fine_error = unit * (2.0 * fine.0.iter().sum::<f64>() + differences.0.abs() + differences.1.abs());
    let fine = differences.0 + differences.1;
    let t = mean.hi / double(d);
    if t <= 1.0 / 128.0 {
        let half = 0.5 * (t - t * t * pairwise_polynomial::<A>(&SERIES, Lanes::all(t)).0[0]);
        return sum.plus(coarse, fine).plus(half, 0.0).with_error(error + fine_error + 2.0 * unit * t);
    }
    let product = products::<A>([c + d; WIDTH], [b + d; WIDTH]).div_f64_with::<A>(Lanes::all(double(d)));
    let (head, tail) = ln_of_quotients::<A>(product, Lanes::all(double(b + c + d)));
    let head = head.lane(0);
    let sum = sum.plus(0.5 * head.hi, 0.5 * (head.lo + tail.0[0])).plus(coarse, fine);
    sum.with_error(error + fine_error + 2.0 * SPREAD_ERROR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::Probability;
    use crate::numbers::rational::Rational;
    use proptest::prelude::*;

    fn agree(backends: impl Fn(Backend) -> LogProbability) -> bool {
        let first = backends(Backend::PORTABLE);
        Backend::available().into_iter().map(backends).all(|other| {
            let gap = ((first.hi - other.hi) + (first.lo - other.lo)).abs();
            gap <= 1.01 * (first.error + other.error)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::cases::cases(2000, 20_000)))]

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
