//! Where a stop-loss sum starts: the first integer at or above κ.

use crate::numbers::ball::Ball;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::rational::Rational;
    use proptest::prelude::*;

    fn known(x: Ball, truth: &Rational) -> bool {
        let gap = x - Ball::from_rational(truth);
        !gap.is_positive() && !(-gap).is_positive()
    }

    proptest! {
        #[test]
        fn a_threshold_is_the_next_integer(n in 1u64..1_000_000_000, x in 1u64..1_000_000, y in 1u64..1_000_000) {
            let whole = |n: u64| Rational::from(n);
            let kappa = whole(n).mul(&whole(x)).div(&whole(x + y)).unwrap();
            let ceiling = (n * x).div_ceil(x + y);
            let found = Threshold::locate(n, Ball::from_u64(x), Ball::from_u64(y)).unwrap();
            if (n * x).is_multiple_of(x + y) {
                prop_assert!(found.position != Position::Between);
                prop_assert!(found.first == ceiling && found.floor() == ceiling);
            } else {
                prop_assert_eq!(found.position, Position::Between);
                prop_assert_eq!((found.first, found.floor()), (ceiling, ceiling - 1));
                prop_assert!(found.excess.relative_error() < 1e-10);
            }
            let excess = whole(ceiling).sub(&kappa);
            prop_assert!(known(found.excess, &excess), "{:?}", found);
            let moved = Threshold::above_or_below(ceiling, found.excess);
            prop_assert!(moved.first == ceiling && moved.position == found.position);
        }
    }

    /// On either side of n/2 the excess is known as well as the smaller of κ and n − κ.
    #[test]
    fn a_threshold_far_from_the_middle_is_known_as_well_as_its_distance_from_the_end() {
        let n = 1u64 << 53;
        for small in [3u64, 1000, 1_000_003] {
            let (one, large) = (Ball::from_u64(small), Ball::from_u64(1_000_000_000_000));
            for (x, y) in [(one, large), (large, one)] {
                let found = Threshold::locate(n, x, y).unwrap();
                let near = n as f64 * small as f64 / 1e12;
                let ends = found.excess.to_enclosure();
                assert!(found.excess.relative_error() * ends.upper() < near * 2f64.powi(-98), "{found:?}");
            }
        }
    }

    /// A κ known only as `8 ≤ κ ≤ 8 + 10^-24` lies above its integer, and by no more than it may.
    #[test]
    fn an_undecided_excess_has_the_sign_that_it_may_have() {
        let at = |text: &str| Ball::from_rational(&Rational::parse(text).unwrap());
        let found = Threshold::locate(24, at("1").hull(at("1.0000000000000000000000001")), at("2")).unwrap();
        assert_eq!((found.first, found.position), (8, Position::Undecided));
        let beyond = Rational::parse("24.0000000000000000000000024/3.0000000000000000000000001").unwrap();
        for kappa in [Rational::from(8u64), beyond] {
            assert!(known(found.excess, &Rational::from(8u64).sub(&kappa)), "{found:?}");
        }
        assert!(found.excess.to_enclosure().upper() < 4e-25, "{found:?}");
    }

    #[test]
    fn next_to_an_integer_that_integer_is_taken() {
        let at = |text: &str| Ball::from_rational(&Rational::parse(text).unwrap());
        let vague = |text: &str| at(text).plus_at_most(at("1e-25"));
        // κ = 8 from below and from above, with p on both sides of ½.
        for (n, x, y) in [(24, "1", "2"), (12, "2", "1")] {
            let found = Threshold::locate(n, vague(x), at(y)).unwrap();
            assert_eq!((found.first, found.floor(), found.position), (8, 8, Position::Undecided));
            assert!(known(found.excess, &Rational::from(0i64)));
            let exactly = Threshold::locate(n, at(x), at(y)).unwrap();
            assert_eq!((exactly.first, exactly.floor()), (8, 8));
        }
        let half = Threshold::locate(16, at("1"), at("1")).unwrap();
        assert_eq!((half.first, half.position), (8, Position::Integer));
        let above = Threshold::above_or_below(8, at("-1e-30"));
        assert_eq!((above.first, above.floor(), above.position), (9, 8, Position::Between));
        assert!(known(above.excess, &Rational::parse("0.999999999999999999999999999999").unwrap()));
        let open = Threshold::above_or_below(8, Ball::ZERO.plus_at_most(at("1e-30")));
        assert_eq!((open.first, open.position), (8, Position::Undecided));
    }
}
