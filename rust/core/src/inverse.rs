//! ε(δ): the least ε ≥ 0 with `Δ(ε) ≤ δ`, for any curve.
//!
//! δ(ε) is nonincreasing, so one certified comparison at a double ε moves one end of the bracket. An uncertified
//! interpolation proposes where to compare; only certified comparisons decide.

use crate::approximate;
use crate::ball::Ball;
use crate::composition::End;
use crate::curve::Curve;
use crate::enclosure::Enclosure;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::rational::Rational;

/// Beyond this ε no curve of a p ≥ 1e-300 changes; for a smaller p the answer may be open above.
const LARGEST_EPSILON: f64 = 4096.0;
/// Proposals before plain bisection, which always ends, takes over.
const PROPOSALS: u32 = 60;
/// What is enclosed between an attained value and a bound is not known any better than this, relatively.
const NARROW_IN_A_BRACKET: f64 = 1e-6;
/// How far from the answer of the attained end that of the bound is first looked for, relatively.
const NEXT_TO_IT: f64 = 1.0 / 64.0;

/// A relative width of δ beyond what doubles lose.
const WIDE: f64 = 1e-11;

/// What a certified evaluation says about ε.
enum Side {
    /// `Δ(ε) ≤ δ`: ε is large enough.
    Reached,
    /// `Δ(ε) > δ`: ε is too small.
    Missed,
    /// The enclosure straddles δ: ε is the answer up to rounding.
    Undecided {
        /// Relative width of δ.
        width: f64,
    },
}

struct Search<'a> {
    curve: &'a Curve,
    target: Enclosure,
    /// The answer is narrow enough where its ends differ by this part of it.
    narrow: f64,
    interrupt: &'a dyn Interrupt,
}

/// ε(δ), for δ ≥ 0: `[0, 0]` where `δ ≥ Δ(0)`, `[∞, ∞]` where no ε is enough.
///
/// # Errors
/// A negative δ, [`Error::Precision`], [`Error::Interrupted`].
pub fn epsilon(curve: &Curve, delta: &Rational, interrupt: &dyn Interrupt) -> Result<Enclosure, Error> {
    if delta.is_negative() {
        return Err(Error::argument("delta must be at least 0"));
    }
    if curve.is_bracket() {
        // Where even the attained end exceeds δ, ε is too small, for the bound too; where the bound does not, it is large enough.
        let end = |end, missed| searched(&curve.end(end), delta, NARROW_IN_A_BRACKET, missed, interrupt);
        let lower = end(End::Lower, 0.0)?;
        let upper = if lower.lower() == f64::INFINITY { lower } else { end(End::Upper, lower.lower())? };
        return Ok(Enclosure::ordered(lower.lower(), upper.upper().max(lower.lower())));
    }
    searched(curve, delta, 0.0, 0.0, interrupt)
}

/// The answer from `missed` on, an ε that is not above it.
fn searched(
    curve: &Curve,
    delta: &Rational,
    narrow: f64,
    missed: f64,
    interrupt: &dyn Interrupt,
) -> Result<Enclosure, Error> {
    let search = Search { curve, narrow, target: Enclosure::from(delta), interrupt };
    let (Side::Missed | Side::Undecided { .. }, gap) = search.compare(missed)? else {
        return Ok(Enclosure::point(missed));
    };
    if Ball::from_rational(delta).certainly_less(curve.mass_ball(interrupt)?) {
        return Ok(Enclosure::point(f64::INFINITY));
    }
    search.run(missed, gap)
}

impl Search<'_> {
    /// Where ε stands, and `ln Δ − ln δ` for the interpolation.
    fn compare(&self, epsilon: f64) -> Result<(Side, f64), Error> {
        let delta = match self.curve.delta_at(epsilon, self.interrupt) {
            // Far out, where nothing is known of δ, there is nothing to compare.
            Err(Error::Precision(_)) if epsilon > 0.0 => return Ok((Side::Undecided { width: 0.0 }, 0.0)),
            found => found?,
        };
        let gap = approximate::ln(delta.upper()) - approximate::ln(self.target.upper());
        let side = if delta.upper() <= self.target.lower() {
            Side::Reached
        } else if delta.lower() > self.target.upper() {
            Side::Missed
        } else {
            Side::Undecided { width: delta.width() / delta.upper() }
        };
        Ok((side, gap))
    }

    /// From an end that is not above the answer: where that is not 0, the answer is expected next to it.
    fn run(&self, start: f64, gap: f64) -> Result<Enclosure, Error> {
        let (mut missed, mut missed_gap) = (start, gap);
        let mut step = if start > 0.0 { start * NEXT_TO_IT } else { 1.0 };
        let mut reached = start + step;
        let mut reached_gap = loop {
            match self.compare(reached)? {
                (Side::Reached, gap) => break gap,
                (Side::Missed, gap) => (missed, missed_gap) = (reached, gap),
                (Side::Undecided { width }, _) => return self.around(reached, width, missed, f64::INFINITY),
            }
            if reached >= LARGEST_EPSILON {
                // δ is the mass at infinity up to rounding.
                return Ok(Enclosure::ordered(missed, f64::INFINITY));
            }
            step = if start > 0.0 { 4.0 * step } else { reached };
            reached += step;
        };
        let mut proposals = 0;
        let mut reached_last = None;
        while missed.next_up() < reached && reached - missed > self.narrow * reached {
            let middle = missed + (reached - missed) / 2.0;
            let slope = reached_gap - missed_gap;
            let secant = missed - missed_gap * (reached - missed) / slope;
            let usable = proposals < PROPOSALS && secant > missed && secant < reached;
            let point = if usable { secant } else { middle.clamp(missed.next_up(), reached.next_down()) };
            proposals += 1;
            // Illinois: an end that moves twice in a row halves the other's gap, lest the secant stick to one side.
            match self.compare(point)? {
                (Side::Reached, gap) => {
                    (reached, reached_gap) = (point, gap);
                    if reached_last.replace(true) == Some(true) {
                        missed_gap /= 2.0;
                    }
                }
                (Side::Missed, gap) => {
                    (missed, missed_gap) = (point, gap);
                    if reached_last.replace(false) == Some(false) {
                        reached_gap /= 2.0;
                    }
                }
                (Side::Undecided { width }, _) => return self.around(point, width, missed, reached),
            }
        }
        Ok(Enclosure::ordered(missed, reached))
    }

    /// The answer is next to `centre`: steps outwards, doubling, until both ends are certified. Where δ is known to a relative `width` only, steps are
    /// not much shorter than that, nor than what is narrow enough.
    fn around(&self, centre: f64, width: f64, missed: f64, reached: f64) -> Result<Enclosure, Error> {
        let shortest = if width > WIDE { centre * (width / 8.0).max(self.narrow / 2.0) } else { 0.0 };
        let mut upper = centre;
        let mut step = (centre.next_up() - centre).max(shortest);
        loop {
            upper += step;
            step *= 2.0;
            if upper >= reached {
                upper = reached;
                break;
            }
            if let (Side::Reached, _) = self.compare(upper)? {
                break;
            }
            if upper > LARGEST_EPSILON {
                upper = f64::INFINITY;
                break;
            }
        }
        let mut lower = centre;
        step = (centre - centre.next_down()).max(shortest);
        loop {
            lower -= step;
            step *= 2.0;
            if lower <= missed {
                lower = missed;
                break;
            }
            if let (Side::Missed, _) = self.compare(lower)? {
                break;
            }
        }
        Ok(Enclosure::ordered(lower, upper))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Law;
    use crate::pair::Answers;
    use std::cell::Cell;

    /// Work is given up after so many questions: an evaluation of a law of few answers asks one.
    struct Allowance(Cell<u32>);

    impl Interrupt for Allowance {
        fn check(&self) -> Result<(), Error> {
            self.0.set(self.0.get().checked_sub(1).ok_or(Error::Interrupted)?);
            Ok(())
        }
    }

    fn rational(text: &str) -> Rational {
        Rational::parse(text).unwrap()
    }

    /// The curve of one answer that is right with probability `p` under the first law, `q` under the second.
    fn test(p: &str, q: &str) -> Curve {
        let law = |p: &Rational| Law::table(0, vec![Rational::from(1i64).sub(p), p.clone()]).unwrap();
        Curve::Answers(Answers::new(law(&rational(p)), law(&rational(q))))
    }

    /// ε(δ), and how many evaluations it takes; an error where these are more than allowed.
    fn counted(curve: &Curve, delta: &str, allowed: u32) -> Result<(Enclosure, u32), Error> {
        let allowance = Allowance(Cell::new(allowed));
        let found = epsilon(curve, &rational(delta), &allowance)?;
        Ok((found, allowed - allowance.0.get()))
    }

    /// Ten steps that double lead beyond 690, and halving a range between powers of two leaves neighbours after 52, both with one question more
    /// for either law's mass at infinity; before that no more than [`PROPOSALS`].
    const MOST: u32 = 10 + PROPOSALS + 52 + 2;

    /// `δ = p − e^ε q`, so that `ε = ln((p − δ)/q)`.
    #[test]
    fn the_search_ends_next_to_the_answer_after_few_evaluations() {
        for (p, q, delta, ratio, most) in [
            ("1/2", "1/4", "1/10", "8/5", 20),
            ("1/2", "1/3", "1/1000", "1497/1000", 25),
            // Far out, where unit steps would take hundreds.
            ("1/2", "1e-300", "1/4", "25e298", MOST),
            // Beyond ln 2 there is no logarithm of δ to interpolate.
            ("1/2", "1/4", "1e-9", "1.999999996", MOST),
            ("1/2", "1/4", "0", "2", MOST),
        ] {
            let (found, evaluations) = counted(&test(p, q), delta, MOST).unwrap();
            let truth = Ball::from_rational(&rational(ratio)).ln();
            let [lower, upper] = [found.lower(), found.upper()].map(|end| Ball::from_f64(end).unwrap());
            assert!(!truth.certainly_less(lower) && !upper.certainly_less(truth), "{found:?}");
            assert!(found.width() <= 4.0 * f64::EPSILON * found.upper(), "{found:?}");
            assert!(evaluations <= most, "{p} {q} {delta}: {evaluations}");
        }
    }
}
