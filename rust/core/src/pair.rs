//! Normal forms: families of pairs of laws, each with its hockey stick.

mod binomial_range;
pub mod finite;
mod gaussian;
mod shifted_binomial;
mod threshold;
mod tie;

pub use binomial_range::BinomialRange;
pub use gaussian::gaussian_delta;
pub use shifted_binomial::ShiftedBinomial;

use crate::ball::Ball;
use crate::error::Error;
use crate::rational::Rational;

/// Which of the two laws stands first in `Δ_{v,w}(ε) = Σ_a max(0, P_v(a) − e^ε P_w(a))`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// `Δ_{1,0}`: the critical entry has the property, against: it has not.
    OneAgainstZero,
    /// `Δ_{0,1}`.
    ZeroAgainstOne,
}

impl Direction {
    /// Both, in the order in which they are tried.
    pub const BOTH: [Self; 2] = [Self::OneAgainstZero, Self::ZeroAgainstOne];
}

/// From here on the curve of a count is constant. Its largest finite likelihood ratio is below `n/(pq w)`, and for
/// `n ≤ 2^53` and `p`, `w` of less than `2^37` bits (16 GiB) each, its logarithm is below `2^40`.
const LARGEST: u64 = 1 << 40;

/// ε ≥ 0 and `e^ε`, prepared once for a whole curve.
#[derive(Clone, Debug)]
pub struct Epsilon {
    /// ε in nats.
    pub value: Ball,
    /// `e^ε`, or `e^LARGEST` if that is less.
    pub ratio: Ball,
    /// ε as it was given.
    pub exact: Rational,
}

impl Epsilon {
    /// From an exact rational.
    ///
    /// # Errors
    /// A negative ε.
    pub fn new(epsilon: &Rational) -> Result<Self, Error> {
        if epsilon.is_negative() {
            return Err(Error::argument("epsilon must be at least 0"));
        }
        let value = Ball::from_rational(epsilon);
        let ratio =
            if *epsilon > Rational::from(LARGEST) { Ball::from_u64(LARGEST).exp() } else { value.exp() };
        Ok(Self { value, ratio, exact: epsilon.clone() })
    }

    /// Whether ε is exactly zero, where Δ is the total variation distance.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.exact.is_zero()
    }
}

/// A number of entries that a count can have: from 1 to 2^53.
fn check_size(size: u64) -> Result<(), Error> {
    if (1..=1 << 53).contains(&size) {
        return Ok(());
    }
    Err(Error::argument(format!("size = {size}; an integer from 1 to 2^53 is required")))
}
