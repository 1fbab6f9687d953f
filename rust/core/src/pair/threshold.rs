//! Where a stop-loss sum starts: the first integer at or above κ.

use crate::ball::Ball;

/// `first = ⌈κ⌉` and `excess = first − κ`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Threshold {
    pub first: u64,
    pub excess: Ball,
    pub position: Position,
}

/// Where κ lies among the integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Position {
    /// Certainly strictly between two integers.
    Between,
    /// Certainly an integer.
    Integer,
    /// An integer up to rounding: `first` is that integer, and `excess` may have either sign. Where it is negative,
    /// a stop-loss sum that starts at `first` is too small by its size.
    Undecided,
}

impl Threshold {
    /// For `κ = n x/(x + y)` with positive `x` and `y`, from the side on which relative accuracy is kept; nothing
    /// if κ cannot be located.
    pub(super) fn locate(n: u64, x: Ball, y: Ball) -> Option<Self> {
        let scale = Ball::from_u64(n) / (x + y);
        if (x - y).is_positive() { Self::below(n, scale * y) } else { Self::at(scale * x) }
    }

    /// From κ itself.
    fn at(kappa: Ball) -> Option<Self> {
        let floor = kappa.floor_or_above()?;
        let fraction = kappa - Ball::from_u64(floor);
        let position = Position::of(fraction);
        Some(match position {
            Position::Between => Self { first: floor + 1, excess: Ball::ONE - fraction, position },
            _ => Self { first: floor, excess: -fraction, position },
        })
    }

    /// From `n − κ`.
    fn below(n: u64, distance: Ball) -> Option<Self> {
        let floor = distance.floor_or_above()?;
        let excess = distance - Ball::from_u64(floor);
        Some(Self { first: n.checked_sub(floor)?, excess, position: Position::of(excess) })
    }

    /// From `integer − κ`, of either sign and less than one in size.
    pub(super) fn above_or_below(integer: u64, excess: Ball) -> Self {
        if (-excess).is_positive() {
            return Self { first: integer + 1, excess: excess + Ball::ONE, position: Position::Between };
        }
        Self { first: integer, excess, position: Position::of(excess) }
    }

    /// `⌊κ⌋`, or the integer that κ cannot be told from.
    pub(super) fn floor(&self) -> u64 {
        match self.position {
            Position::Between => self.first - 1,
            Position::Integer | Position::Undecided => self.first,
        }
    }
}

impl Position {
    fn of(fraction: Ball) -> Self {
        if fraction.is_positive() {
            Self::Between
        } else if fraction.is_exact_zero() {
            Self::Integer
        } else {
            Self::Undecided
        }
    }
}
