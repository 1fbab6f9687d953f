//! ε(δ) to any number of digits: certified comparisons move the ends of a bracket, estimates only say where to compare.

use super::ball::Ball;
use super::curve::{Evaluation, last_change_of};
use super::elementary::ln;
use super::enclosure::{DigitsEnclosure, Dyadic};
use super::ends::{self, End};
use crate::curve::Curve;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::rational::Rational;

/// Comparisons with so many bits more, one after another, before a tie is believed.
const TRIES: u32 = 3;
/// Bits of the first comparisons.
const COARSE: usize = 64;

/// What a certified evaluation says about an ε.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    /// `Δ(ε) > δ`.
    Missed,
    /// `Δ(ε) ≤ δ`.
    Reached,
    /// They cannot be told apart.
    Tied,
}

/// An ε that was looked at, and about `ln Δ(ε) − ln δ`, where that is finite.
#[derive(Clone)]
struct Look {
    epsilon: Ball,
    side: Side,
    gap: Option<Ball>,
}

struct Search<'a> {
    curve: &'a Curve,
    delta: &'a Rational,
    /// `ln δ`, roughly; nothing for δ = 0.
    logarithm: Option<Ball>,
    accuracy: usize,
    interrupt: &'a dyn Interrupt,
}

/// The least `ε ≥ 0` with `Δ(ε) ≤ δ`.
pub(super) fn epsilon(
    curve: &Curve,
    delta: &Rational,
    accuracy: usize,
    interrupt: &dyn Interrupt,
) -> Result<DigitsEnclosure, Error> {
    if delta.is_negative() {
        return Err(Error::argument("delta is below 0; a number of at least 0 is required"));
    }
    let curve = &curve.written_out()?;
    let bits = accuracy + 64;
    let logarithm = ln(&Ball::rational(delta, bits + 64), bits);
    let search = Search { curve, delta, logarithm, accuracy, interrupt };
    let (side, start) = search.look_at_end(&Ball::zero(), End::Zero)?;
    if side == Side::Reached {
        return Ok(DigitsEnclosure::from(&Ball::zero()));
    }
    let last = Ball::from(last_change_of(curve));
    let (side_of_last, end) = search.look_at_end(&last, End::Infinity)?;
    if side_of_last == Side::Missed {
        return Ok(DigitsEnclosure::point(Dyadic::Infinity));
    }
    if side == Side::Tied {
        return search.next_to_zero(&last);
    }
    let (missed, reached) = search.scale(&start, end)?;
    let (missed, reached) = search.narrow(missed, reached)?;
    if reached.side != Side::Reached {
        // δ is the mass at infinity up to the last bit looked at: ε is the last point of change, or infinite.
        return Ok(DigitsEnclosure::at_least(&missed.epsilon));
    }
    Ok(DigitsEnclosure::between(&missed.epsilon, &reached.epsilon))
}

impl Search<'_> {
    /// The side of an exact ε, decided with up to eight times the accuracy.
    fn look(&self, epsilon: &Ball, accuracy: usize) -> Result<(Side, Look), Error> {
        let exact = exactly(epsilon)?;
        let mut side = Side::Tied;
        let mut gap = None;
        for doubling in 0..=TRIES {
            let accuracy = accuracy << doubling;
            let value = Evaluation::new(&exact, accuracy, self.interrupt).curve(self.curve)?;
            let enclosure = DigitsEnclosure::from(&value);
            side = if enclosure.lower().order(self.delta).is_gt() {
                Side::Missed
            } else if enclosure.upper().order(self.delta).is_le() {
                Side::Reached
            } else {
                Side::Tied
            };
            gap = ln(&value, accuracy + 16)
                .and_then(|ln| Some(ln.minus(self.logarithm.as_ref()?, accuracy + 16).midpoint()));
            if side != Side::Tied {
                break;
            }
        }
        Ok((side, Look { epsilon: epsilon.clone(), side, gap }))
    }

    /// The side of an end of the curve, where δ may be equal to a rational.
    fn look_at_end(&self, epsilon: &Ball, end: End) -> Result<(Side, Look), Error> {
        let (side, look) = self.look(epsilon, self.accuracy + COARSE)?;
        let decided = match ends::exactly(self.curve, end).filter(|_| side == Side::Tied) {
            Some(exact) if exact > *self.delta => Side::Missed,
            Some(_) => Side::Reached,
            None => side,
        };
        Ok((decided, look))
    }

    /// From `[0, reached]` to a bracket whose lower end is not zero: near zero `ln Δ` falls like `ε²`.
    fn scale(&self, zero: &Look, mut reached: Look) -> Result<(Look, Look), Error> {
        loop {
            let share = match (&zero.gap, &reached.gap) {
                (Some(from), Some(to)) => {
                    from.over(&from.minus(to, 64), 64).map_or(0.25, |share| share.to_f64())
                }
                _ => 0.25,
            };
            let share = (share.max(0.0).sqrt() / 2.0).clamp(1e-9, 0.5);
            let factor = Ball::dyadic(((share * f64::from(1u32 << 31)) as u64).max(1).into(), -31);
            let point = reached.epsilon.times(&factor, 64).midpoint();
            let (side, look) = self.look(&point, COARSE)?;
            if side == Side::Missed {
                return Ok((look, reached));
            }
            reached = look;
        }
    }

    /// Until the bracket is as narrow as wanted: comparisons on both sides of the chord's zero, or else in the middle.
    fn narrow(&self, mut missed: Look, mut reached: Look) -> Result<(Look, Look), Error> {
        let bits = self.accuracy + 64;
        let mut last: Option<Ball> = None;
        loop {
            let width = reached.epsilon.minus(&missed.epsilon, bits);
            let shrunk = missed.epsilon.log2() - width.log2();
            if shrunk >= self.accuracy as i128 + 3 {
                return Ok((missed, reached));
            }
            let accuracy = (COARSE + 3 * shrunk.max(0) as usize).min(self.accuracy + COARSE);
            let estimate = chord(&missed, &reached, &width, bits);
            let finest = missed.epsilon.scaled(-(self.accuracy as i128) - 6);
            let margin = match (&estimate, &last) {
                (Some(now), Some(before)) => now.minus(before, bits).scaled(-5),
                _ => width.scaled(-5),
            };
            let margin = if margin.log2() > finest.log2() { margin } else { finest };
            if let Some(estimate) = &estimate {
                for point in [estimate.plus(&margin, bits), estimate.minus(&margin, bits)] {
                    self.compare(&point.midpoint(), accuracy, &mut missed, &mut reached)?;
                }
            }
            let left = reached.epsilon.minus(&missed.epsilon, bits);
            if estimate.is_none() || left.scaled(1).exceeds(&width) {
                let middle = missed.epsilon.plus(&reached.epsilon, bits).half();
                self.compare(&middle.midpoint(), accuracy, &mut missed, &mut reached)?;
            }
            last = estimate;
        }
    }

    /// Moves the end of the bracket on whose side the point lies. A tie at the mass at infinity counts as reached.
    fn compare(
        &self,
        point: &Ball,
        accuracy: usize,
        missed: &mut Look,
        reached: &mut Look,
    ) -> Result<(), Error> {
        if !point.exceeds(&missed.epsilon) || !reached.epsilon.exceeds(point) {
            return Ok(());
        }
        self.interrupt.check()?;
        let (side, look) = self.look(point, accuracy)?;
        *(if side == Side::Missed { missed } else { reached }) = look;
        Ok(())
    }

    /// δ is `Δ(0)` up to the last bit looked at: the answer is zero, or just above.
    fn next_to_zero(&self, last: &Ball) -> Result<DigitsEnclosure, Error> {
        let mut upper = Ball::one().scaled(-(4 * self.accuracy as i128));
        while last.exceeds(&upper) {
            if self.look(&upper, self.accuracy + COARSE)?.0 == Side::Reached {
                break;
            }
            upper = upper.scaled(16);
        }
        Ok(DigitsEnclosure::between(&Ball::zero(), &upper))
    }
}

/// Where the straight line through the two gaps is zero, if that is inside.
fn chord(missed: &Look, reached: &Look, width: &Ball, bits: usize) -> Option<Ball> {
    let (from, to) = (missed.gap.as_ref()?, reached.gap.as_ref()?);
    let share = from.over(&from.minus(to, bits), bits)?;
    let point = missed.epsilon.plus(&width.times(&share, bits), bits).midpoint();
    (point.exceeds(&missed.epsilon) && reached.epsilon.exceeds(&point)).then_some(point)
}

/// The rational that an exact ball is.
fn exactly(x: &Ball) -> Result<Rational, Error> {
    let point = DigitsEnclosure::from(x);
    point.lower().to_rational().ok_or_else(|| Error::precision("epsilon is too close to 0 to be written out"))
}
