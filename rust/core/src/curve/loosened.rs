//! A bound for laws that are close to those of a curve.
//!
//! Let `P` and `Q` differ from the laws of a curve by signed measures of total mass 0, so that
//! `P − rQ = X + Y` with `E X_+` the curve at `r = e^ε`, and `E Y_+ ≤ s (r − 1)` besides what is in the curve already. Then
//!
//! ```text
//! δ(ε) ≤ E X_+ + E Y_+ ≤ curve(ε) + s (e^ε − 1).
//! ```
//!
//! The sum rises for large ε, and δ does not. From a given ε on the form stays at the value there.

use crate::curve::Curve;
use crate::error::Error;
use crate::forms::{End, Epsilon, Form, HockeyStick};
use crate::interrupt::Interrupt;
use crate::numbers::ball::Ball;
use crate::numbers::rational::Rational;
use std::sync::Arc;

/// See the module documentation.
#[derive(Clone, Debug)]
pub struct Loosened {
    curve: Curve,
    slope: Ball,
    /// The ε from which on the bound stays.
    until: Epsilon,
}

impl Loosened {
    /// `curve(ε) + slope (e^ε − 1)` up to `until`.
    ///
    /// # Errors
    /// A negative slope, or an `until` of 0 or less.
    pub fn new(curve: Curve, slope: &Rational, until: &Rational) -> Result<Self, Error> {
        if slope.is_negative() || until.is_negative() || until.is_zero() {
            return Err(Error::argument("a loosened curve needs a slope of at least 0 up to an ε above 0"));
        }
        Ok(Self { curve, slope: Ball::from_rational(slope), until: Epsilon::new(until) })
    }
}

impl HockeyStick for Loosened {
    fn delta(&self, epsilon: &Epsilon, _: Ball, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let at = if self.until.value.certainly_less(epsilon.value) { &self.until } else { epsilon };
        Ok((self.curve.ball(at, interrupt)? + self.slope * at.ratio_minus_one()).min(Ball::ONE))
    }

    fn infinity_mass(&self, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        self.delta(&self.until, Ball::ZERO, interrupt)
    }

    fn reversed(&self) -> Form {
        Arc::new(Self { curve: self.curve.reversed(), ..self.clone() })
    }

    fn terms(&self) -> f64 {
        self.curve.terms()
    }

    fn is_bracket(&self) -> bool {
        self.curve.is_bracket()
    }

    fn end(&self, end: End) -> Option<Form> {
        self.is_bracket().then(|| Arc::new(Self { curve: self.curve.end(end), ..self.clone() }) as Form)
    }

    fn is_loose(&self) -> bool {
        self.curve.is_loose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::CountFamily;
    use crate::interrupt::Uninterrupted;

    fn over(a: u64, b: u64) -> Rational {
        Rational::from(a).div(&Rational::from(b)).unwrap()
    }

    #[test]
    fn it_is_the_curve_and_a_line_in_the_ratio_up_to_its_end() {
        let curve = CountFamily::new(&over(1, 2), &over(1, 2), None).unwrap().of_size(100).unwrap();
        let loosened = Loosened::new(curve.clone(), &over(1, 1000), &over(1, 2)).unwrap();
        for (epsilon, at) in [(0.0, 0.0), (0.25, 0.25), (0.5, 0.5), (3.0, 0.5)] {
            let found = loosened.delta(&Epsilon::from_f64(epsilon).unwrap(), Ball::ZERO, &Uninterrupted);
            let found = found.unwrap().to_enclosure();
            let base = curve.ball(&Epsilon::from_f64(at).unwrap(), &Uninterrupted).unwrap().to_enclosure();
            let expected = f64::midpoint(base.lower(), base.upper()) + at.exp_m1() / 1000.0;
            assert!(found.lower() <= expected * (1.0 + 1e-12) && expected * (1.0 - 1e-12) <= found.upper());
            assert!(found.upper() - found.lower() <= 1e-11 * expected);
        }
        let limit = loosened.infinity_mass(&Uninterrupted).unwrap().to_enclosure();
        let end = loosened.delta(&Epsilon::from_f64(9.0).unwrap(), Ball::ZERO, &Uninterrupted).unwrap();
        assert_eq!(limit.upper().to_bits(), end.to_enclosure().upper().to_bits());
        assert!(Loosened::new(curve.clone(), &over(0, 1).sub(&over(1, 9)), &over(1, 2)).is_err());
        assert!(Loosened::new(curve, &over(1, 9), &over(0, 1)).is_err());
    }
}
