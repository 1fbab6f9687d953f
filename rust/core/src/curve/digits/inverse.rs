//! ε(δ) to any number of digits: certified comparisons move the ends of a bracket, estimates only say where to compare.

use super::{at_limit, falls_for_ever, last_change_of};
use crate::curve::Curve;
use crate::digits::Evaluation;
use crate::digits::ball::Ball;
use crate::digits::elementary::ln;
use crate::digits::enclosure::{DigitsEnclosure, Dyadic};
use crate::digits::ends::Limit;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::numbers::rational::Rational;

/// Comparisons, each with twice as many bits, before a tie is accepted.
const TRIES: u32 = 3;
/// Bits of the first comparisons, unless δ almost equals an end of the curve.
const COARSE: usize = 64;

/// The logarithm of the largest ε that is tried for a curve that falls for ever: `e^(2^30)` has an exponent of 31 bits.
const LARGEST_DOUBLING: i128 = 30;

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

/// An ε that was evaluated, with an approximation of `ln Δ(ε) − ln δ` if that is finite.
#[derive(Clone)]
struct Look {
    epsilon: Ball,
    side: Side,
    gap: Option<Ball>,
}

impl Look {
    /// About the bits in which `Δ(ε)` and δ agree without being equal.
    fn alike(&self) -> usize {
        let gap = self.gap.as_ref().filter(|gap| !gap.is_zero());
        gap.map_or(0, |gap| usize::try_from(-gap.log2()).unwrap_or(0))
    }
}

struct Search<'a> {
    curve: &'a Curve,
    delta: &'a Rational,
    /// `ln δ`, roughly; nothing for δ = 0.
    logarithm: Option<Ball>,
    accuracy: usize,
    /// Bits that tell δ from both ends of the curve, and [`COARSE`] at least.
    coarse: usize,
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
    let mut search = Search { curve, delta, logarithm, accuracy, coarse: COARSE, interrupt };
    let start = search.look_at_end(&Ball::zero(), Limit::Zero)?;
    if start.side == Side::Reached {
        return Ok(DigitsEnclosure::from(&Ball::zero()));
    }
    let mut last = Ball::from(last_change_of(curve));
    let mut end = search.look_at_end(&last, Limit::Infinity)?;
    if falls_for_ever(curve) && !delta.is_zero() {
        end = search.beyond(&mut last, end)?;
    }
    if end.side == Side::Missed {
        return Ok(DigitsEnclosure::point(Dyadic::Infinity));
    }
    if start.side == Side::Tied {
        return search.next_to_zero(&last);
    }
    search.coarse = [&start, &end].into_iter().map(Look::alike).fold(COARSE, usize::max);
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

    /// An end of the curve, where δ may be equal to a rational.
    fn look_at_end(&self, epsilon: &Ball, end: Limit) -> Result<Look, Error> {
        let (side, look) = self.look(epsilon, self.accuracy + COARSE)?;
        let exact = if side == Side::Tied { at_limit(self.curve, end) } else { None };
        let Some(exact) = exact else { return Ok(look) };
        let excess = exact.sub(self.delta);
        let side = if exact > *self.delta { Side::Missed } else { Side::Reached };
        // ln(1 + x) is about x.
        let gap = excess.div(self.delta).map(|excess| Ball::rational(&excess, COARSE).midpoint());
        Ok(Look { side, gap, ..look })
    }

    /// Of a curve that falls for ever: further out, until δ is reached or ε is beyond all that anybody asks for.
    fn beyond(&self, last: &mut Ball, mut end: Look) -> Result<Look, Error> {
        while end.side != Side::Reached {
            if last.log2() > LARGEST_DOUBLING {
                return Err(Error::precision("the curve falls for ever, and does not reach delta in sight"));
            }
            *last = last.scaled(1);
            end = self.look(last, self.accuracy + COARSE)?.1;
        }
        Ok(end)
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
            let (side, look) = self.look(&point, self.coarse)?;
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
            let accuracy = (self.coarse + 3 * shrunk.max(0) as usize).min(self.accuracy + self.coarse);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digits::examples::{curves, number};
    use crate::interrupt::Questions;
    use crate::interrupt::Uninterrupted;

    /// `Δ(upper) ≤ δ < Δ(lower)`, and no wider than was asked for: as rationals, by the digits of δ.
    #[test]
    fn delta_passes_its_value_between_the_ends() {
        let mut found = 0;
        for (name, curve) in curves() {
            for delta in ["0.3", "1/50", "1e-6"].map(number) {
                for accuracy in [10, 70] {
                    let epsilon = epsilon(&curve, &delta, accuracy, &Uninterrupted).unwrap();
                    let ends = [epsilon.lower(), epsilon.upper()].map(Dyadic::to_rational);
                    let at = |epsilon: &Rational| {
                        let value =
                            Evaluation::new(epsilon, accuracy + 80, &Uninterrupted).curve(&curve).unwrap();
                        DigitsEnclosure::from(&value)
                    };
                    let [Some(lower), Some(upper)] = ends else {
                        let limit = at(&Rational::from(last_change_of(&curve)));
                        assert!(limit.upper().order(&delta).is_gt(), "{name} {}", delta.shown());
                        continue;
                    };
                    assert!(at(&upper).lower().order(&delta).is_le(), "{name} {}", delta.shown());
                    assert!(
                        upper.is_zero() || at(&lower).upper().order(&delta).is_gt(),
                        "{name} {}",
                        delta.shown()
                    );
                    let allowed = lower.mul(&Rational::dyadic(1u8.into(), accuracy));
                    assert!(upper.sub(&lower) <= allowed, "{name} {} {accuracy} bits", delta.shown());
                    found += 1;
                }
            }
        }
        assert!(found > 80, "{found}");
    }

    /// A range of digits costs no more comparisons than their number grows: seen in the questions whether to go on.
    #[test]
    fn comparisons_grow_with_the_logarithm_of_the_digits() {
        let (_, curve) = curves().swap_remove(3);
        let asked = |accuracy| {
            let questions = Questions::default();
            epsilon(&curve, &number("1/100"), accuracy, &questions).unwrap();
            questions.number()
        };
        let [few, more, many] = [40, 400, 4000].map(asked);
        assert!(few < 60 && more < few + 40 && many < more + 40, "{few} {more} {many}");
    }

    /// δ is a value at ε = 0 or the limit, to the last bit or next to it.
    #[test]
    fn ties_at_both_ends_are_decided_by_rationals() {
        let (_, curve) = curves().swap_remove(2);
        // A count of seven with p = 1/3: max_k P[Bin(6, 1/3) = k] = 240/729, in both directions; p^6 and q^6 in the limit.
        let next = number("1e-300");
        let at = |delta: Rational| epsilon(&curve, &delta, 60, &Uninterrupted).unwrap();
        let (start, limit) = (number("240/729"), number("64/729"));
        assert!(at(start.clone()).upper().order(&Rational::from(0i64)).is_eq());
        assert!(at(start.add(&next)).upper().order(&Rational::from(0i64)).is_eq());
        // Δ falls from 240/729 in proportion to a small ε.
        let above = at(start.sub(&next));
        assert!(
            above.lower().order(&number("1e-301")).is_gt() && above.upper().order(&number("1e-298")).is_lt()
        );
        assert!(above.width().order(&number("1e-315")).is_lt());
        assert!(!at(limit.sub(&next)).lower().is_finite());
        let below = at(limit.add(&next));
        assert!(below.upper().is_finite() && below.width().order(&number("1e-16")).is_lt());
        assert!(at(limit).lower() <= below.upper());
        let refused = epsilon(&curve, &number("-1/3"), 60, &Uninterrupted).unwrap_err();
        assert_eq!(refused.to_string(), "delta is below 0; a number of at least 0 is required");
    }
}
