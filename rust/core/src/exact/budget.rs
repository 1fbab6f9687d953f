//! What exact numbers would cost, estimated before anything is computed.

use crate::curve::{Curve, Irrelevant, MeanOverSizes};
use crate::error::Error;
use crate::forms::Direction;
use crate::numbers::approximate;
use crate::numbers::enclosure::Enclosure;
use crate::numbers::rational::Rational;
use dashu_int::ops::{BitTest, PowerOfTwo};

/// What is still taken on: integers of some ten million bits, which stay far below a gigabyte.
const MOST_SECONDS: f64 = 30.0;
/// One count of 1000000 entries with `p = ½` forms integers of this many bits, and took this long where it was measured.
const MEASURED_BITS: f64 = 2.3e7;
const MEASURED_SECONDS: f64 = 6.0;
/// The measured growth of the time with the size of the integers.
const GROWTH: f64 = 1.4;

/// Refuses a curve whose exact value would not fit. `logarithm` is about ε, `ratio_bits` the size of `e^ε` where that is
/// a rational.
pub(super) fn check(name: &str, curve: &Curve, logarithm: f64, ratio_bits: f64) -> Result<(), Error> {
    let Cost { denominator, seconds } = At { logarithm, ratio_bits }.cost(curve);
    if seconds <= MOST_SECONDS {
        return Ok(());
    }
    Err(Error::precision(format!(
        "{name} would have a denominator of about {denominator:.1e} bits ({:.1} MB) and take about {seconds:.0e} s, \
         above the limit of {MOST_SECONDS} s; delta() encloses it at any size, and a p with a short denominator, such as \
         1/2 or '0.3' (0.3 without quotes stores 55 bits), costs least",
        denominator / 8e6
    )))
}

#[derive(Clone, Copy, Debug)]
struct Cost {
    /// Bits of the common denominator.
    denominator: f64,
    seconds: f64,
}

impl Cost {
    const NOTHING: Self = Self { denominator: 0.0, seconds: 0.0 };

    fn and(self, other: Self) -> Self {
        Self { denominator: self.denominator.max(other.denominator), seconds: self.seconds + other.seconds }
    }
}

struct At {
    logarithm: f64,
    ratio_bits: f64,
}

impl At {
    fn cost(&self, curve: &Curve) -> Cost {
        match curve {
            Curve::Pair(laws, direction) => laws.given().map_or(Cost::NOTHING, |given| {
                let hit = share(&given.p);
                let hit = if *direction == Direction::OneAgainstZero { hit } else { 1.0 - hit };
                let count = self.count(laws.size(), hit, bits(&given.p));
                Cost { denominator: count.denominator + bits(&given.inclusion), ..count }
            }),
            Curve::Range(laws, _) => {
                let (lower, upper) = laws.given();
                let peak = approximate::log2(laws.size() as f64) + self.ratio_bits;
                let widest = self.count(laws.size(), 0.5, bits(lower).max(bits(upper)).max(peak));
                Cost { seconds: 4.0 * widest.seconds, ..widest }
            }
            Curve::Peaks(tests, _) => {
                let peak = approximate::log2(tests.size() as f64) + self.ratio_bits;
                let widest = self.count(tests.size(), 0.5, peak);
                Cost { seconds: 2.0 * widest.seconds, ..widest }
            }
            // Estimated where it is evaluated.
            Curve::Answers(_)
            | Curve::Smoothed(_)
            | Curve::Adaptive(_)
            | Curve::Grouped(..)
            | Curve::Varied(..)
            | Curve::Composed(..)
            | Curve::KnownInSample(..) => Cost::NOTHING,
            Curve::Amplified(rate, curve) => {
                let inner = Self { ratio_bits: self.ratio_bits + bits(&rate.exact), ..*self }.cost(curve);
                Cost { denominator: inner.denominator + bits(&rate.exact), ..inner }
            }
            Curve::MeanOverSizes(mean) => self.mean_over_sizes(mean),
            Curve::Mean(parts) => parts.iter().fold(Cost::NOTHING, |sum, (weight, part)| {
                let part = self.cost(part);
                sum.and(Cost { denominator: part.denominator + bits(&weight.exact), ..part })
            }),
            Curve::Max(curves) | Curve::Min(curves) => {
                curves.iter().fold(Cost::NOTHING, |sum, curve| sum.and(self.cost(curve)))
            }
        }
    }

    /// Each term a member of the size that costs most, and an addition over the common denominator.
    fn mean_over_sizes(&self, mean: &MeanOverSizes) -> Cost {
        let largest = mean.member(mean.size());
        let one = largest.map_or(Cost::NOTHING, |(largest, _)| self.cost(&largest));
        let law = mean.irrelevant();
        let ways = match law {
            Irrelevant::Hypergeometric(law) => {
                let chosen = law.draws().min(law.population() - law.draws()) as f64;
                chosen * approximate::log2(law.population().max(1) as f64)
            }
            Irrelevant::Binomial(law) => law.others() as f64 * bits(law.share()),
        };
        let terms = (law.greatest() - law.least()) as f64 + 1.0;
        let denominator = one.denominator + ways + bits(mean.counted());
        Cost { denominator, seconds: terms * (one.seconds + seconds(denominator)) }
    }

    /// Of `n` entries with a probability of about `hit`, written in `bits`: powers of that size, and binary splitting over
    /// the shorter side of the threshold.
    fn count(&self, n: u64, hit: f64, bits: f64) -> Cost {
        let n = n as f64;
        let tilted = hit / (hit + (1.0 - hit) * approximate::exp(-self.logarithm));
        let terms = n * tilted.min(1.0 - tilted).max(0.0);
        let denominator = n * bits;
        Cost {
            denominator,
            seconds: seconds(denominator + terms * (bits + 2.0 * approximate::log2(n.max(1.0)))),
        }
    }
}

fn seconds(bits: f64) -> f64 {
    MEASURED_SECONDS * approximate::power(bits / MEASURED_BITS, GROWTH)
}

/// A rational from 0 to 1, roughly.
fn share(x: &Rational) -> f64 {
    Enclosure::from(x).upper()
}

/// The binary logarithm of the larger part of a rational, rounded up unless that is a power of two.
pub(super) fn bits(x: &Rational) -> f64 {
    let denominator = x.denominator();
    let floor = usize::from(denominator.is_power_of_two());
    (denominator.bit_len() - floor).max(x.numerator().bit_len()) as f64
}

#[cfg(test)]
mod same_bits;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forms::BinomialRange;

    /// `1 + (r − 1)/γ` has as many bits as `r` and `γ` together, and δ is multiplied by `γ`.
    #[test]
    fn a_rate_adds_its_bits_to_those_of_the_ratio_and_of_the_value() {
        let [lower, upper, rate] = ["1/100", "7/10", "3/10"].map(|text| Rational::parse(text).unwrap());
        let range = BinomialRange::new(700, &lower, &upper).unwrap();
        let range = Curve::Range(range, Direction::OneAgainstZero);
        let of = |curve: &Curve, ratio_bits| At { logarithm: 0.2, ratio_bits }.cost(curve);
        let alone = of(&range, 60.0 + bits(&rate));
        let sampled = of(&Curve::amplified(rate.clone(), range).unwrap(), 60.0);
        assert_eq!(sampled.seconds, alone.seconds);
        assert_eq!(sampled.denominator, alone.denominator + bits(&rate));
    }
}
