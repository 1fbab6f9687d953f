//! Rows and tails of a log-concave law on integers, by recurrences from anchors that are known within an ulp.

use super::log_pmf::power_of_two;
use crate::budget::MAX_ROW;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::numbers::double_double::two_sum;
use crate::numbers::enclosure::Enclosure;
use crate::numbers::scaled::Scaled;

/// Terms that share an anchor, in their middle.
const BLOCK: usize = 128;
/// Blocks between two polls of the interrupt, some 50 µs.
const BLOCKS_PER_CHECK: usize = 128;
/// Where products of ratios leave `2^±900`, every term is computed by itself.
const SMALLEST_PRODUCT: f64 = f64::from_bits((1023 - 900) << 52);
/// And where a ratio leaves `2^±200`: four of them are multiplied before they meet the value.
const MIN_RATIO: f64 = f64::from_bits((1023 - 200) << 52);
/// From here on doubles are normal, with some room: `2^-1020`.
const MIN_ACCURATE: f64 = f64::from_bits(3 << 52);
/// The least double above zero, an upper bound of whatever underflows.
const TINY: f64 = f64::from_bits(1);
/// A tail is cut where the bound of the rest is this part of it: `2^-60`.
const NEGLIGIBLE: f64 = 1.0 / (1u64 << 60) as f64;

/// A law on `least..=greatest` whose ratios `P[X = k+1]/P[X = k]` fall.
pub(super) trait LogConcave {
    fn least(&self) -> u64;
    fn greatest(&self) -> u64;
    /// A most probable value, or one next to it.
    fn mode(&self) -> u64;
    fn probability(&self, k: u64) -> Enclosure;
    /// The same with an exponent of its own, unless it is too small or not known well enough.
    fn anchor(&self, k: u64) -> Option<Scaled>;
    /// Numerator and denominator of `P[X = k+1]/P[X = k]`: together they err by at most `2.01u`, relatively, as long as the
    /// ratio is between `2^-900` and `2^900`.
    fn ratio(&self, k: f64) -> (f64, f64);
}

/// The length of a row of `terms` probabilities.
///
/// # Errors
/// More than 2^26.
pub fn row_length(terms: u64) -> Result<usize, Error> {
    if terms > MAX_ROW {
        return Err(Error::argument(format!(
            "a row of {terms} probabilities is too long; up to 2^26 = {MAX_ROW} values (1 GiB) are allowed: ask for \
             single probabilities or tails instead"
        )));
    }
    Ok(terms as usize)
}

/// Lower and upper bounds of all probabilities, from the least value on.
pub(super) fn row<L: LogConcave>(law: &L, interrupt: &dyn Interrupt) -> Result<(Vec<f64>, Vec<f64>), Error> {
    let (least, mode) = (law.least(), law.mode());
    let terms = row_length((law.greatest() - least).saturating_add(1))?;
    let mut lower = vec![0.0; terms];
    let mut upper = vec![TINY; terms];
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
/// From the middle outwards, in units of its power of two: a ratio errs by `3.02u` with its division, and what it is multiplied with
/// by `u` more, so `h` steps err by less than `4.1hu`, and the bounds themselves round by less than `6u`. Ratios and products that
/// leave their range are seen; so each product of up to four ratios with a value is accurate.
fn fill<L: LogConcave>(law: &L, start: u64, lower: &mut [f64], upper: &mut [f64]) {
    let length = lower.len().min(upper.len()).min(BLOCK);
    let middle = length / 2;
    let Some(anchor) = law.anchor(start + middle as u64) else {
        return fill_singly(law, start, lower, upper);
    };
    let accurate = walk(law, (start + middle as u64) as f64, middle, anchor.mantissa, lower);
    if !(accurate && all_between(lower, SMALLEST_PRODUCT, 1.0 / SMALLEST_PRODUCT)) {
        return fill_singly(law, start, lower, upper);
    }
    let error = (4.1 * (length - middle) as f64 + 6.0) * (f64::EPSILON / 2.0) + 1.01 * anchor.error;
    let (below, above) = (1.0 - error, 1.0 + error);
    if anchor.exponent >= -1000 {
        let scale = power_of_two(anchor.exponent);
        if all_between(lower, MIN_ACCURATE / scale, f64::INFINITY) {
            for (low, high) in lower.iter_mut().zip(upper) {
                let value = *low * scale;
                *high = at_most_one(value * above);
                *low = value * below;
            }
            return;
        }
    }
    // In two steps, which round a subnormal result by at most the least double; to normal ones adding it does nothing, and they err by `u` each.
    let (first, second) =
        (power_of_two(anchor.exponent / 2), power_of_two(anchor.exponent - anchor.exponent / 2));
    for (low, high) in lower.iter_mut().zip(upper) {
        *high = at_most_one(*low * above * first * second + TINY);
        *low = (*low * below * first * second - TINY).max(0.0);
    }
}

/// False also for what is no number. Without early exit, so that several are looked at in one instruction.
#[allow(clippy::needless_bitwise_bool)]
fn all_between(values: &[f64], least: f64, greatest: f64) -> bool {
    values.iter().fold(true, |all, &x| all & (x > least) & (x < greatest))
}

/// One instruction, which `f64::min` is not.
fn at_most_one(x: f64) -> f64 {
    if x < 1.0 { x } else { 1.0 }
}

/// `anchor`, the value at `k`, times the products of ratios from there to each place; false where these leave `2^±200`.
fn walk<L: LogConcave>(law: &L, k: f64, middle: usize, anchor: f64, values: &mut [f64]) -> bool {
    let (before, after) = values.split_at_mut(middle);
    let Some((at_middle, after)) = after.split_first_mut() else { return true };
    *at_middle = anchor;
    for (i, slot) in after.iter_mut().enumerate() {
        let (top, bottom) = law.ratio(k + PLACES[i % BLOCK]);
        *slot = top / bottom;
    }
    let mut downwards = [0.0; BLOCK / 2];
    let downwards = &mut downwards[..middle];
    for (i, slot) in downwards.iter_mut().enumerate() {
        let (top, bottom) = law.ratio(k - 1.0 - PLACES[i % BLOCK]);
        *slot = bottom / top;
    }
    if !(all_between(after, MIN_RATIO, 1.0 / MIN_RATIO) && all_between(downwards, MIN_RATIO, 1.0 / MIN_RATIO))
    {
        return false;
    }
    multiply_up(anchor, after);
    multiply_up(anchor, downwards);
    for (slot, value) in before.iter_mut().rev().zip(&*downwards) {
        *slot = *value;
    }
    true
}

/// `0, 1, 2, …`: converting integers takes longer than reading them.
const PLACES: [f64; BLOCK] = {
    let mut places = [0.0; BLOCK];
    let mut i = 1;
    while i < BLOCK {
        places[i] = places[i - 1] + 1.0;
        i += 1;
    }
    places
};

/// Each factor times all before it and `value`, in as many roundings as factors. Four at a time, so that only one product waits for the four before.
fn multiply_up(mut value: f64, factors: &mut [f64]) {
    let mut fours = factors.chunks_exact_mut(4);
    for four in &mut fours {
        if let [a, b, c, d] = four {
            let (two, last) = (*a * *b, *c * *d);
            (*a, *b, *c, *d) = (value * *a, value * two, value * (two * *c), value * (two * last));
            value = *d;
        }
    }
    for factor in fours.into_remainder() {
        value *= *factor;
        *factor = value;
    }
}

fn fill_singly<L: LogConcave>(law: &L, start: u64, lower: &mut [f64], upper: &mut [f64]) {
    for ((k, low), high) in (start..).zip(lower).zip(upper) {
        let probability = law.probability(k);
        (*low, *high) = (probability.lower(), probability.upper());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_between_two_others_are_none_of_them_and_are_numbers() {
        assert!(all_between(&[0.6, 2.0, 2.9], 0.5, 3.0) && all_between(&[], 0.5, 3.0));
        for x in [0.5, 0.4, 3.0, 3.1, f64::NAN, f64::INFINITY] {
            assert!(!all_between(&[2.0, x, 2.0], 0.5, 3.0), "{x}");
        }
    }
}
