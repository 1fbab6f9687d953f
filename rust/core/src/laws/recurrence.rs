//! Rows and tails of a log-concave law on integers, by recurrences from anchors that are known within an ulp.

use super::log_pmf::power_of_two;
use crate::double_double::two_sum;
use crate::enclosure::Enclosure;
use crate::error::Error;
use crate::fast::Scaled;
use crate::interrupt::Interrupt;

/// Terms that share an anchor, in their middle.
const BLOCK: usize = 128;
/// Blocks between two questions whether to go on, some 50 µs.
const BLOCKS_PER_CHECK: usize = 128;
/// Where products of ratios leave `2^±900`, every term is computed by itself.
const SMALLEST_PRODUCT: f64 = f64::from_bits((1023 - 900) << 52);
/// The least double above zero, an upper bound of whatever underflows.
const TINY: f64 = f64::from_bits(1);
/// A tail is cut where the bound of the rest is this part of it: `2^-60`.
const NEGLIGIBLE: f64 = 1.0 / (1u64 << 60) as f64;
/// Most terms of a row: its two bounds fill 1 GiB.
const LONGEST_ROW: u64 = 1 << 26;

/// A law on `least..=greatest` whose ratios `P[X = k+1]/P[X = k]` fall.
pub(super) trait LogConcave {
    fn least(&self) -> u64;
    fn greatest(&self) -> u64;
    /// A most probable value, or one next to it.
    fn mode(&self) -> u64;
    fn probability(&self, k: u64) -> Enclosure;
    /// The same with an exponent of its own; nothing where that is too small or not known well enough.
    fn anchor(&self, k: u64) -> Option<Scaled>;
    /// Numerator and denominator of `P[X = k+1]/P[X = k]`: together they err by at most `2.01u`, relatively, as long as the
    /// ratio is between `2^-900` and `2^900`.
    fn ratio(&self, k: f64) -> (f64, f64);
}

/// Lower and upper bounds of all probabilities, from the least value on.
pub(super) fn row<L: LogConcave>(law: &L, interrupt: &dyn Interrupt) -> Result<(Vec<f64>, Vec<f64>), Error> {
    let (least, mode) = (law.least(), law.mode());
    let terms = (law.greatest() - least).saturating_add(1);
    if terms > LONGEST_ROW {
        return Err(Error::argument(format!(
            "a row of {terms} probabilities is too long; up to 2^26 = {LONGEST_ROW} values (1 GiB) are allowed: ask for \
             single probabilities or tails instead"
        )));
    }
    let mut lower = vec![0.0; terms as usize];
    let mut upper = vec![TINY; terms as usize];
    let (lower_before, lower_after) = lower.split_at_mut((mode - least) as usize);
    let (upper_before, upper_after) = upper.split_at_mut((mode - least) as usize);
    let mut start = mode;
    for (i, (lower, upper)) in lower_after.chunks_mut(BLOCK).zip(upper_after.chunks_mut(BLOCK)).enumerate() {
        fill(law, start, lower, upper);
        start += lower.len() as u64;
        // Probabilities fall away from the mode, so after one that underflows all do.
        if upper.last() == Some(&TINY) {
            break;
        }
        check(i, interrupt)?;
    }
    let mut end = mode;
    for (i, (lower, upper)) in
        lower_before.rchunks_mut(BLOCK).zip(upper_before.rchunks_mut(BLOCK)).enumerate()
    {
        end -= lower.len() as u64;
        fill(law, end, lower, upper);
        if upper.first() == Some(&TINY) {
            break;
        }
        check(i, interrupt)?;
    }
    Ok((lower, upper))
}

/// `P[X ≥ k]` for `k` in the support, not below the mean: with a relative width of some `10^-13`.
///
/// Blocks are summed one by one, lower and upper bounds apart: `l` positive numbers with a relative error below `lu`, where
/// `l` is a block's length. Ratios fall, so what follows a term `t` with ratio `r < 1` is at most `t r/(1 − r)`.
pub(super) fn upper_tail<L: LogConcave>(
    law: &L,
    k: u64,
    interrupt: &dyn Interrupt,
) -> Result<Enclosure, Error> {
    let (mut lowers, mut uppers) = ([0.0; BLOCK], [0.0; BLOCK]);
    let (mut least, mut most, mut start) = (LongSum::default(), LongSum::default(), k);
    for i in 0.. {
        let length = (law.greatest() - start + 1).min(BLOCK as u64);
        let (lower, upper) = (&mut lowers[..length as usize], &mut uppers[..length as usize]);
        fill(law, start, lower, upper);
        let slack = length as f64 * f64::EPSILON;
        least.add(lower.iter().sum::<f64>() * (1.0 - slack));
        most.add(upper.iter().sum::<f64>() * (1.0 + slack));
        let final_term = upper.last().copied().unwrap_or(TINY);
        start += length;
        if start > law.greatest() {
            break;
        }
        let (top, bottom) = law.ratio((start - 1) as f64);
        // The ratio errs by less than 4u and the difference by u more; one per cent pays for the rest.
        let ratio = top / bottom;
        let gap = 1.0 - ratio - 4.0 * f64::EPSILON;
        let rest = (1.01 * final_term * (ratio / gap)).next_up();
        if gap > 0.0 && (rest <= NEGLIGIBLE * least.rounded || final_term == TINY) {
            most.add(rest);
            break;
        }
        check(i, interrupt)?;
    }
    let (lower, upper) = (least.total() * (1.0 - f64::EPSILON), most.total() * (1.0 + f64::EPSILON));
    Ok(Enclosure::ordered(lower.next_down(), upper.next_up()).clamp(0.0, 1.0))
}

/// A sum of up to `2^26` positive doubles: what the additions lose is summed too, so the total errs by little more than
/// its own rounding, `u + (2^26 u)² < 2u`.
#[derive(Default)]
struct LongSum {
    rounded: f64,
    lost: f64,
}

impl LongSum {
    fn add(&mut self, term: f64) {
        let (rounded, lost) = two_sum(self.rounded, term);
        self.rounded = rounded;
        self.lost += lost;
    }

    fn total(&self) -> f64 {
        self.rounded + self.lost
    }
}

fn check(block: usize, interrupt: &dyn Interrupt) -> Result<(), Error> {
    if block.is_multiple_of(BLOCKS_PER_CHECK) { interrupt.check() } else { Ok(()) }
}

/// Bounds of `P[X = start + i]`, at most [`BLOCK`] of them.
///
/// From the middle outwards, in units of its power of two: a ratio errs by `3.02u` with its division, its product with
/// the neighbour by `u` more, so `h` steps err by less than `4.1hu`, and the bounds themselves round by less than `6u`. Products that
/// leave the range of accurate ratios are seen, for each value is the product of the one before.
fn fill<L: LogConcave>(law: &L, start: u64, lower: &mut [f64], upper: &mut [f64]) {
    let length = lower.len().min(upper.len()).min(BLOCK);
    let middle = length / 2;
    let Some(anchor) = law.anchor(start + middle as u64) else {
        return fill_singly(law, start, lower, upper);
    };
    walk(law, start, middle, anchor.mantissa, lower);
    let (mut least, mut greatest) = (anchor.mantissa, anchor.mantissa);
    for value in lower.iter() {
        (least, greatest) = (least.min(*value), greatest.max(*value));
    }
    if !(least > SMALLEST_PRODUCT && greatest < 1.0 / SMALLEST_PRODUCT) {
        return fill_singly(law, start, lower, upper);
    }
    let error = (4.1 * (length - middle) as f64 + 6.0) * (f64::EPSILON / 2.0) + 1.01 * anchor.error;
    let (below, above) = (1.0 - error, 1.0 + error);
    if anchor.exponent >= -1000 && least * power_of_two(anchor.exponent) > SMALLEST_PRODUCT {
        let scale = power_of_two(anchor.exponent);
        for (low, high) in lower.iter_mut().zip(upper) {
            *high = (*low * scale * above).min(1.0);
            *low = *low * scale * below;
        }
        return;
    }
    // In two steps, each of which rounds by at most half of the least double.
    let (first, second) =
        (power_of_two(anchor.exponent / 2), power_of_two(anchor.exponent - anchor.exponent / 2));
    for (low, high) in lower.iter_mut().zip(upper) {
        *high = (*low * above * first * second).next_up().min(1.0);
        *low = (*low * below * first * second).next_down().max(0.0);
    }
}

/// `anchor` times the products of ratios from the middle to each place.
fn walk<L: LogConcave>(law: &L, start: u64, middle: usize, anchor: f64, values: &mut [f64]) {
    let mut ratios = [0.0; BLOCK];
    for (i, slot) in ratios.iter_mut().enumerate().take(values.len()) {
        // The step into place i, from the side of the middle.
        let into = start as f64 + i as f64;
        let (top, bottom) = law.ratio(if i > middle { into - 1.0 } else { into });
        *slot = if i > middle { top / bottom } else { bottom / top };
    }
    let (before, after) = values.split_at_mut(middle);
    let mut value = anchor;
    for (slot, ratio) in before.iter_mut().zip(&ratios[..middle]).rev() {
        value *= ratio;
        *slot = value;
    }
    value = anchor;
    ratios[middle] = 1.0;
    for (slot, ratio) in after.iter_mut().zip(&ratios[middle..]) {
        value *= ratio;
        *slot = value;
    }
}

fn fill_singly<L: LogConcave>(law: &L, start: u64, lower: &mut [f64], upper: &mut [f64]) {
    for ((k, low), high) in (start..).zip(lower).zip(upper) {
        let probability = law.probability(k);
        (*low, *high) = (probability.lower(), probability.upper());
    }
}
