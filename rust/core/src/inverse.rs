//! ε(δ): the least ε ≥ 0 with `Δ(ε) ≤ δ`, for any curve.
//!
//! δ(ε) is nonincreasing, so one certified comparison at a double ε moves one end of the bracket. An uncertified
//! interpolation proposes where to compare; only certified comparisons decide.
//!
//! Curves fall about as `e^{−ε²/2σ²}`. So what is interpolated is `√(ln δ(0) − ln δ(ε))`, nearly a straight line, also
//! where one end of the bracket is many times the answer.

use crate::budget::MAX_PROPOSALS;
use crate::curve::Curve;
use crate::error::Error;
use crate::forms::End;
use crate::interrupt::Interrupt;
use crate::numbers::approximate;
use crate::numbers::ball::Ball;
use crate::numbers::enclosure::Enclosure;
use crate::numbers::rational::Rational;

/// Maximum ε of the search. No curve of a p ≥ 1e-300 changes beyond it; for a smaller p the answer may be open above.
const LARGEST_EPSILON: f64 = 4096.0;
/// Relative width to which a bracket between an attained value and a bound is known.
const NARROW_IN_A_BRACKET: f64 = 1e-6;
/// Relative distance from the answer of the attained end at which the search for the answer of the bound starts.
const NEXT_TO_IT: f64 = 1.0 / 64.0;

/// A relative width of δ above the rounding of doubles.
const WIDE: f64 = 1e-11;

/// The result of a certified comparison at ε.
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
    /// δ at an ε, or a number on the same side of the target.
    delta: &'a dyn Fn(f64) -> Result<Enclosure, Error>,
    target: Enclosure,
    /// The answer is narrow enough where its ends differ by this part of it.
    narrow: f64,
}

/// Where a search begins.
#[derive(Clone, Copy)]
struct Start {
    /// An ε that is not above the answer.
    missed: f64,
    /// An approximation of `ln δ(0)`, if that is known.
    top: Option<f64>,
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
        // ε is too small where the attained end exceeds δ, and large enough where the bound does not exceed it.
        let end = |end, start| searched(&curve.end(end), delta, NARROW_IN_A_BRACKET, start, interrupt);
        let (lower, top) = end(End::Lower, Start { missed: 0.0, top: None })?;
        let (upper, _) = if lower.lower() == f64::INFINITY {
            (lower, top)
        } else {
            end(End::Upper, Start { missed: lower.lower(), top: Some(top) })?
        };
        return Ok(Enclosure::ordered(lower.lower(), upper.upper().max(lower.lower())));
    }
    searched(curve, delta, 0.0, Start { missed: 0.0, top: None }, interrupt).map(|(found, _)| found)
}

/// The answer, and `ln δ(0)` approximately.
fn searched(
    curve: &Curve,
    delta: &Rational,
    narrow: f64,
    start: Start,
    interrupt: &dyn Interrupt,
) -> Result<(Enclosure, f64), Error> {
    let level = Ball::from_rational(delta);
    let value = |epsilon| curve.told_from(level, epsilon, interrupt);
    let search = Search { delta: &value, narrow, target: Enclosure::from(delta) };
    let (side, logarithm) = search.compare(start.missed)?;
    let top = start.top.unwrap_or(logarithm);
    if matches!(side, Side::Reached) {
        return Ok((Enclosure::point(start.missed), top));
    }
    if Ball::from_rational(delta).certainly_less(curve.mass_ball(interrupt)?) {
        return Ok((Enclosure::point(f64::INFINITY), top));
    }
    search.run(start.missed, logarithm, top).map(|found| (found, top))
}

impl Search<'_> {
    /// The side of ε, and `ln δ` there approximately.
    fn compare(&self, epsilon: f64) -> Result<(Side, f64), Error> {
        let delta = match (self.delta)(epsilon) {
            // Far out nothing is known of δ, so there is nothing to compare.
            Err(Error::Precision(_)) if epsilon > 0.0 => return Ok((Side::Undecided { width: 0.0 }, 0.0)),
            found => found?,
        };
        let side = if delta.upper() <= self.target.lower() {
            Side::Reached
        } else if delta.lower() > self.target.upper() {
            Side::Missed
        } else {
            Side::Undecided { width: delta.width() / delta.upper() }
        };
        Ok((side, approximate::ln(delta.upper())))
    }

    /// The search from an end that is not above the answer. From an end above 0 the answer is expected next to it.
    fn run(&self, start: f64, logarithm: f64, top: f64) -> Result<Enclosure, Error> {
        let fallen = |logarithm: f64| (top - logarithm).max(0.0).sqrt();
        let gap_of = |logarithm: f64| fallen(approximate::ln(self.target.upper())) - fallen(logarithm);
        let (mut missed, mut missed_gap) = (start, gap_of(logarithm));
        let mut step = if start > 0.0 { start * NEXT_TO_IT } else { 1.0 };
        let mut reached = start + step;
        let mut reached_gap = loop {
            match self.compare(reached)? {
                (Side::Reached, logarithm) => break gap_of(logarithm),
                (Side::Missed, logarithm) => (missed, missed_gap) = (reached, gap_of(logarithm)),
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
            let usable = proposals < MAX_PROPOSALS && secant > missed && secant < reached;
            // A proposal next to one end is moved beyond the answer, where it makes the bracket narrow enough: by less than half of the bracket, which is
            // wider than `narrow · reached`.
            let aside = self.narrow / 2.0 * reached;
            let point = if usable { secant.clamp(missed + aside, reached - aside) } else { middle };
            let point = point.clamp(missed.next_up(), reached.next_down());
            proposals += 1;
            // Illinois: an end that moves twice in a row halves the other's gap, lest the secant stick to one side.
            match self.compare(point)? {
                (Side::Reached, logarithm) => {
                    (reached, reached_gap) = (point, gap_of(logarithm));
                    if reached_last.replace(true) == Some(true) {
                        missed_gap /= 2.0;
                    }
                }
                (Side::Missed, logarithm) => {
                    (missed, missed_gap) = (point, gap_of(logarithm));
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
        // Of δ that costs little the last step is halved once more.
        let halve = |undecided: f64, decided: f64, decides: fn(&Side) -> bool| {
            let middle = undecided + (decided - undecided) / 2.0;
            let between = shortest == 0.0 && middle != undecided && middle != decided;
            Ok::<f64, Error>(if between && decides(&self.compare(middle)?.0) { middle } else { decided })
        };
        let mut upper = centre;
        let mut step = (centre.next_up() - centre).max(shortest);
        loop {
            let undecided = upper;
            upper += step;
            step *= 2.0;
            if upper >= reached {
                upper = halve(undecided, reached, |side| matches!(side, Side::Reached))?;
                break;
            }
            if let (Side::Reached, _) = self.compare(upper)? {
                upper = halve(undecided, upper, |side| matches!(side, Side::Reached))?;
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
            let undecided = lower;
            lower -= step;
            step *= 2.0;
            if lower <= missed {
                lower = halve(undecided, missed, |side| matches!(side, Side::Missed))?;
                break;
            }
            if let (Side::Missed, _) = self.compare(lower)? {
                lower = halve(undecided, lower, |side| matches!(side, Side::Missed))?;
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
    use crate::composition::Composed;
    use crate::forms::{Answers, Epsilon};
    use crate::interrupt::Uninterrupted;
    use std::cell::{Cell, RefCell};

    /// Work is given up after this number of questions. One evaluation of a law of few answers asks one.
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
        Curve::from(Answers::new(law(&rational(p)), law(&rational(q))))
    }

    /// ε(δ), and how many evaluations it takes; an error where these are more than allowed.
    fn counted(curve: &Curve, delta: &str, allowed: u32) -> Result<(Enclosure, u32), Error> {
        let allowance = Allowance(Cell::new(allowed));
        let found = epsilon(curve, &rational(delta), &allowance)?;
        Ok((found, allowed - allowance.0.get()))
    }

    /// Ten steps that double lead beyond 690, and halving a range between powers of two leaves neighbours after 52, both with one question more
    /// for either law's mass at infinity; before that no more than [`MAX_PROPOSALS`].
    const MOST: u32 = 10 + MAX_PROPOSALS + 52 + 2;

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

    #[test]
    fn the_ends_of_a_curve_have_no_search() {
        let curve = test("1/2", "1/4");
        let of = |delta: &str| epsilon(&curve, &rational(delta), &Uninterrupted);
        assert_eq!(of("-1/9"), Err(Error::argument("delta must be at least 0")));
        for delta in ["1/4", "1/3", "1"] {
            assert_eq!(of(delta), Ok(Enclosure::point(0.0)), "{delta}");
        }
        assert!(of("0.2499999").unwrap().lower() > 0.0);
        // One answer of four is impossible under the second law.
        let sure = test("1/4", "0");
        let of = |delta: &str| epsilon(&sure, &rational(delta), &Uninterrupted).unwrap();
        assert_eq!(of("0.2499999"), Enclosure::point(f64::INFINITY));
        assert_eq!(of("1/4"), Enclosure::point(0.0));
    }

    /// `δ = e^{−ε}`, and every ε that was looked at.
    fn exponential(delta: &str, narrow: f64, start: f64) -> (Enclosure, Vec<f64>) {
        let seen = RefCell::new(Vec::new());
        let at = |epsilon: f64| {
            seen.borrow_mut().push(epsilon);
            Ok((-Ball::from_f64(epsilon).unwrap()).exp().to_enclosure())
        };
        let search = Search { delta: &at, narrow, target: Enclosure::from(&rational(delta)) };
        let found = search.run(start, -start, 0.0).unwrap();
        (found, seen.into_inner())
    }

    /// `ln 5` lies between 1 and 2, half of the greater end apart.
    #[test]
    fn a_bracket_that_is_as_narrow_as_wanted_is_the_answer() {
        let (found, seen) = exponential("1/5", 0.5, 0.0);
        assert_eq!((found.lower(), found.upper()), (1.0, 2.0));
        assert_eq!(seen, [1.0, 2.0]);
    }

    /// From 16 on by ¼, 1 and 4, which leads beyond `9 ln 10`.
    #[test]
    fn next_to_a_known_end_steps_are_four_times_as_long_each_time() {
        let (found, seen) = exponential("1e-9", 1e-6, 16.0);
        assert_eq!(seen[..3], [16.25, 17.25, 21.25]);
        assert!(
            found.contains(&rational("20.723265836946411156161923092159277868409913397658")),
            "{found:?}"
        );
        assert!(found.width() <= 1e-6 * found.upper());
    }

    /// Of 1025 patterns the worst one is not known to be: δ lies between an attained value and a bound, and ε between their answers.
    #[test]
    fn where_delta_is_a_bracket_so_is_epsilon() {
        let composition = crate::composition::tests::alike(1024, 4096, "1/2");
        let curve = Curve::from(Composed::new(std::sync::Arc::new(composition), None));
        assert!(curve.is_bracket());
        let delta = rational("1/1000");
        let found = epsilon(&curve, &delta, &Uninterrupted).unwrap();
        let at = |epsilon: f64| {
            curve.ball(&Epsilon::from_f64(epsilon).unwrap(), &Uninterrupted).unwrap().to_enclosure()
        };
        let (less, more) = (1.0 - 2.0 * NARROW_IN_A_BRACKET, 1.0 + 2.0 * NARROW_IN_A_BRACKET);
        assert!(
            at(found.lower() * less).lower() > 1e-3 && at(found.lower() * more).lower() < 1e-3,
            "{found:?}"
        );
        assert!(
            at(found.upper() * less).upper() > 1e-3 && at(found.upper() * more).upper() < 1e-3,
            "{found:?}"
        );
    }
}
