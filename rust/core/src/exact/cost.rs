//! What exact numbers would cost, estimated before anything is computed.

use crate::numbers::approximate;
use crate::numbers::enclosure::Enclosure;
use crate::numbers::rational::Rational;
use dashu_int::ops::{BitTest, PowerOfTwo};

/// One count of 1000000 entries with `p = ½` forms integers of this many bits, and took this long where it was measured.
const MEASURED_BITS: f64 = 2.3e7;
const MEASURED_SECONDS: f64 = 6.0;
/// The measured growth of the time with the size of the integers.
const GROWTH: f64 = 1.4;

/// What one exact value would cost.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Bits of the common denominator.
    pub(crate) denominator: f64,
    pub(crate) seconds: f64,
}

impl Cost {
    pub(crate) const NOTHING: Self = Self { denominator: 0.0, seconds: 0.0 };

    pub(crate) fn and(self, other: Self) -> Self {
        Self { denominator: self.denominator.max(other.denominator), seconds: self.seconds + other.seconds }
    }
}

/// The place of an exact value: an approximation of ε, and the bits of `e^ε` if that is a rational.
#[derive(Debug)]
pub struct At {
    pub(crate) logarithm: f64,
    pub(crate) ratio_bits: f64,
}

impl At {
    /// Of `n` entries with a probability of about `hit`, written in `bits`: powers of that size, and binary splitting over
    /// the shorter side of the threshold.
    pub(crate) fn count(&self, n: u64, hit: f64, bits: f64) -> Cost {
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

pub(crate) fn seconds(bits: f64) -> f64 {
    MEASURED_SECONDS * approximate::power(bits / MEASURED_BITS, GROWTH)
}

/// A rational from 0 to 1, roughly.
pub(crate) fn share(x: &Rational) -> f64 {
    Enclosure::from(x).upper()
}

/// The binary logarithm of the larger part of a rational, rounded up unless that is a power of two.
pub(crate) fn bits(x: &Rational) -> f64 {
    let denominator = x.denominator();
    let floor = usize::from(denominator.is_power_of_two());
    (denominator.bit_len() - floor).max(x.numerator().bit_len()) as f64
}
