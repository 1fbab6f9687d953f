//! Trade-off functions: the least type II error of a test of given level.
//!
//! Of the tests of "the critical entry is w" (null hypothesis) against "it is v", one that rejects on `S` has the errors
//! `α = P_w[S]` and `1 − P_v[S]`. `Δ_{v,w}(ε) = sup_S (P_v[S] − e^ε P_w[S])` for every real ε, so no test of level α errs less
//! often than
//!
//! ```text
//! β(α) = sup_{x > 0} g(x),    g(x) = 1 − Δ_{v,w}(ln x) − xα,
//! ```
//!
//! and a best (randomised) test does exactly that, because trade-off functions are convex: `g` is the concave dual. With
//! `Δ_{v,w}(−ε) = 1 − e^{−ε} + e^{−ε} Δ_{w,v}(ε)` the part below `x = 1` is `g(x) = x (1 − α − Δ_{w,v}(−ln x))`, where both forms are those of
//! Dong, Roth and Su, *Gaussian Differential Privacy*: `sup_ε max{0, 1 − δ(ε) − e^ε α, e^{−ε}(1 − δ(ε) − α)}` for a curve that is its
//! own reverse. For the maximum over both directions β is the greatest symmetric trade-off function
//! that both tests obey.
//!
//! The other way round, `β(α) ≤ b` for all `x`: `1 − Δ_{v,w} − xα ≤ b`. Divided by `x` that is the same statement for the reversed
//! curve at `1/x`, so the least such `α` is `β` of the reversed curve at `b`.

use crate::budget::{MAX_EVALUATIONS, MAX_EVALUATIONS_WHEN_CLOSE};
use crate::curve::Curve;
use crate::error::Error;
use crate::forms::{COARSE, End, Epsilon};
use crate::interrupt::Interrupt;
use crate::numbers::ball::Ball;
use crate::numbers::enclosure::Enclosure;
use crate::numbers::rational::Rational;

/// Relative width of an enclosure that is close to the peak.
const CLOSE_TO_PEAK: f64 = 1e-13;
/// Relative width of an enclosure that is narrow enough: some ulps.
const NARROW: f64 = 8.0 * f64::EPSILON;
/// Relative width to which a bracket between a test of one pattern and a bound of all patterns is known.
const NARROW_IN_A_BRACKET: f64 = 1e-6;
/// An enclosure is close too if it is at most this multiple of the width of δ.
const CLOSE_TO_DELTA: f64 = 64.0;
/// The ends are close enough at this multiple of the width of δ at the highest point; no evaluation brings them closer than that width.
const AS_CLOSE_AS_DELTA: f64 = 2.0;
/// Minimum distance of two points for a slope, in ε, and relative to ε above 1.
const CLOSE: f64 = 1.0 / ((1u64 << 48) as f64);
/// `β(α)`, for an α from 0 to 1.
///
/// # Errors
/// α outside `[0, 1]`, a minimum of bounds inside another curve, [`Error::Precision`], [`Error::Interrupted`].
pub fn beta(curve: &Curve, alpha: &Rational, interrupt: &dyn Interrupt) -> Result<Enclosure, Error> {
    if alpha.is_negative() || *alpha > Rational::from(1i64) {
        return Err(Error::argument("a type I error from 0 to 1 is required"));
    }
    if let Curve::Min(bounds) = curve {
        // Each bound of δ is a bound of β, and sup_x and the maximum over the bounds change places.
        return bounds.iter().try_fold(Enclosure::point(0.0), |best, bound| {
            let next = beta(bound, alpha, interrupt)?;
            Ok(Enclosure::ordered(best.lower().max(next.lower()), best.upper().max(next.upper())))
        });
    }
    if curve.is_bracket() {
        // No pattern errs less often than the bound allows. The error of one pattern bounds that of the worst one.
        let to = |curve: &Curve| dual(curve, alpha, NARROW_IN_A_BRACKET, interrupt);
        let lower = to(&curve.end(End::Upper))?.lower();
        let attained = if let Curve::Form(form) = curve { form.attained(interrupt)? } else { None };
        let upper = attained.map_or(Ok(1.0), |form| to(&Curve::Form(form)).map(Enclosure::upper))?;
        return Ok(Enclosure::ordered(lower, upper.max(lower)));
    }
    dual(curve, alpha, NARROW, interrupt)
}

/// `sup_x g(x)`, relatively no narrower than asked for.
fn dual(curve: &Curve, alpha: &Rational, narrow: f64, interrupt: &dyn Interrupt) -> Result<Enclosure, Error> {
    if !is_convex(curve) {
        return Err(Error::argument(
            "a minimum of bounds inside another curve has no trade-off function here",
        ));
    }
    let dual = Dual::new(curve, alpha, narrow, interrupt)?;
    Ok(dual.supremum()?.clamp(0.0, dual.missed.to_enclosure().upper().clamp(0.0, 1.0)))
}

/// `α(β)`: the least level at which the type II error can be `beta`.
///
/// # Errors
/// As [`beta`].
pub fn alpha(curve: &Curve, beta: &Rational, interrupt: &dyn Interrupt) -> Result<Enclosure, Error> {
    self::beta(&curve.reversed(), beta, interrupt)
}

/// Whether δ is convex in `e^ε`: a minimum need not be.
fn is_convex(curve: &Curve) -> bool {
    match curve {
        Curve::Form(_) | Curve::MeanOverSizes(_) => true,
        Curve::Amplified(_, curve) => is_convex(curve),
        Curve::Mean(parts) => parts.iter().all(|(_, curve)| is_convex(curve)),
        Curve::Max(curves) => curves.iter().all(is_convex),
        Curve::Min(curves) => curves.len() == 1 && curves.iter().all(is_convex),
    }
}

/// The concave function `g` of the module documentation.
struct Dual<'a> {
    curve: &'a Curve,
    reversed: Curve,
    level: Ball,
    /// `1 − α`.
    missed: Ball,
    /// `g(x) ≤ x (1 − α − lim Δ_{w,v})`, with equality for small x.
    at_zero: Line,
    /// `g(x) ≤ 1 − lim Δ_{v,w} − xα`, with equality for large x.
    at_infinity: Line,
    /// An enclosure this narrow, relatively, is narrow enough.
    narrow: f64,
    interrupt: &'a dyn Interrupt,
}

/// Through the point `(x, y)`: near it little depends on how well the slope is known.
#[derive(Clone, Copy, Debug)]
struct Line {
    x: Ball,
    y: Ball,
    slope: Ball,
}

impl Line {
    /// Through a point, and another one.
    fn through(point: &Point, other: &Point) -> Self {
        let slope = (other.value - point.value) / (other.x - point.x);
        Self { x: point.x, y: point.value, slope }
    }

    fn at(&self, x: Ball) -> Ball {
        self.y + self.slope * (x - self.x)
    }
}

/// `g` at `x = e^ε`.
#[derive(Clone, Copy, Debug)]
struct Point {
    epsilon: f64,
    x: Ball,
    value: Ball,
}

/// An upper bound of `g` between two neighbouring points, and where it is attained.
#[derive(Debug)]
struct Gap {
    bound: f64,
    peak: Option<f64>,
    left: f64,
    right: f64,
}

impl<'a> Dual<'a> {
    fn new(
        curve: &'a Curve,
        alpha: &Rational,
        narrow: f64,
        interrupt: &'a dyn Interrupt,
    ) -> Result<Self, Error> {
        let reversed = curve.reversed();
        let level = Ball::from_rational(alpha);
        let missed = Ball::from_rational(&Rational::from(1i64).sub(alpha));
        let from_zero = |y, slope| Line { x: Ball::ZERO, y, slope };
        let at_zero = from_zero(Ball::ZERO, missed - reversed.mass_ball(interrupt)?);
        let at_infinity = from_zero(Ball::ONE - curve.mass_ball(interrupt)?, -level);
        Ok(Self { curve, reversed, level, missed, at_zero, at_infinity, narrow, interrupt })
    }

    /// With δ to about a relative width, or with δ itself.
    fn at(&self, epsilon: f64, width: Option<f64>) -> Result<Point, Error> {
        let given = Rational::from_f64(epsilon)?;
        let exact = Epsilon::new(&given).precisely();
        let x = exact.value.exp();
        let delta = |curve: &Curve, epsilon| match width {
            Some(width) => curve.within(width, epsilon, self.interrupt),
            None => curve.ball(epsilon, self.interrupt),
        };
        let value = if exact.is_negative() {
            let opposite = Epsilon::new(&given.neg()).precisely();
            x * (self.missed - delta(&self.reversed, &opposite)?)
        } else {
            Ball::ONE - delta(self.curve, &exact)? - x * self.level
        };
        Ok(Point { epsilon, x, value })
    }

    /// Cutting planes: a chord of a concave function bounds it outside of the chord, so the chords left and right
    /// of two neighbouring points bound it between them. Where `g` is piecewise linear they meet at its peak as soon
    /// as both lie on the pieces that meet there. Where δ is less work to a few digits, those are enough until the peak is known as well as they are; then
    /// what may be the highest point is known better.
    fn supremum(&self) -> Result<Enclosure, Error> {
        if self.level.is_exact_zero() {
            return Ok(self.at_infinity.y.to_enclosure());
        }
        if self.at_zero.slope.is_not_positive() {
            return Ok(Enclosure::point(0.0));
        }
        let mut coarse = COARSE.into_iter().filter(|_| self.curve.has_rough_values());
        let mut of_delta = coarse.next();
        let mut points = vec![self.at(0.0, of_delta)?];
        let mut upper = 1.0f64;
        let mut progress = (f64::INFINITY, 0);
        loop {
            self.interrupt.check()?;
            let (lower, mut gaps) = self.gaps(&points);
            gaps.sort_by(|a, b| b.bound.total_cmp(&a.bound));
            upper = gaps.first().map_or(upper, |gap| upper.min(gap.bound)).max(lower);
            let width = upper - lower;
            if width <= progress.0 / 2.0 {
                progress = (width, points.len());
            }
            let next = gaps.iter().filter(|gap| gap.bound > lower).find_map(Gap::next);
            let may_be_highest = |point: &Point| point.value.to_enclosure().upper() >= lower;
            let unknown =
                points.iter().filter(|point| may_be_highest(point)).map(|point| point.value.to_enclosure());
            // Where all points are below zero, which bounds the supremum too, nothing is known of its height yet.
            let least_unknown = unknown.map(Enclosure::width).reduce(f64::min).unwrap_or(0.0);
            let narrow = (self.narrow * upper).max(AS_CLOSE_AS_DELTA * least_unknown);
            let close = (CLOSE_TO_PEAK * upper).max(CLOSE_TO_DELTA * least_unknown);
            let patience = if width <= close { MAX_EVALUATIONS_WHEN_CLOSE } else { MAX_EVALUATIONS };
            let known = if of_delta.is_some() { close } else { narrow };
            let done = width <= known || points.len() - progress.1 >= patience;
            if let (false, Some(epsilon)) = (done, next) {
                let place = points.partition_point(|other| other.epsilon < epsilon);
                points.insert(place, self.at(epsilon, of_delta)?);
                continue;
            }
            if of_delta.is_none() {
                return Ok(Enclosure::ordered(lower, upper));
            }
            of_delta = coarse.next();
            for point in points.iter_mut().filter(|point| may_be_highest(point)) {
                *point = self.at(point.epsilon, of_delta)?;
            }
            progress = (f64::INFINITY, points.len());
        }
    }

    /// A lower bound of the supremum, and the gaps in which it may lie: beyond a point that is certainly lower than the
    /// highest one, a concave function only falls.
    fn gaps(&self, points: &[Point]) -> (f64, Vec<Gap>) {
        let height = |point: &Point| point.value.to_enclosure().lower();
        let Some(highest) = points.iter().max_by(|a, b| height(a).total_cmp(&height(b))) else {
            return (0.0, Vec::new());
        };
        let lower = |point: &Point| point.value.certainly_less(highest.value);
        let end = |point: &&Point| point.epsilon > highest.epsilon && lower(point);
        let first = points.iter().rposition(|point| point.epsilon < highest.epsilon && lower(point));
        let last = points.iter().position(|point| end(&point));
        let among = first.map_or(0, |i| i + 1)..=last.unwrap_or(points.len());
        (height(highest).max(0.0), among.map(|i| self.gap(points, i)).collect())
    }

    /// Between the points `i − 1` and `i`; the first gap begins at 0, the last one has no end.
    ///
    /// Of the chords on either side the one counts that is lowest at the other end: a short one is close to `g`, but
    /// what is not known of its ends is multiplied where it is prolonged.
    fn gap(&self, points: &[Point], i: usize) -> Gap {
        let (before, after) = points.split_at(i);
        let (left, right) = (before.last(), after.first());
        let start = left.map_or(Ball::ZERO, |point| point.x);
        let upper = |line: &Line, x: Ball| line.at(x).to_enclosure().upper();
        let lowest = |lines: &mut dyn Iterator<Item = Line>, x: Ball, otherwise: Line| {
            lines.fold(otherwise, |best, line| if upper(&line, x) < upper(&best, x) { line } else { best })
        };
        let falling = right.map_or(self.at_infinity, |right| {
            let mut chords = outward(after.iter()).map(|outer| Line::through(right, outer));
            lowest(&mut chords, start, self.at_infinity)
        });
        let rising = left.map_or(self.at_zero, |left| {
            let mut chords = outward(before.iter().rev()).map(|outer| Line::through(left, outer));
            lowest(&mut chords, right.map_or(left.x + left.x, |right| right.x), self.at_zero)
        });
        // A line is largest at one of the ends; the last gap has none, but `at_infinity` falls from its start on.
        let mut bound = match right {
            Some(Point { x: end, .. }) => {
                let over = |line: &Line| upper(line, start).max(upper(line, *end));
                over(&rising).min(over(&falling))
            }
            None => upper(&falling, start),
        };
        let mut peak = None;
        if rising.slope.is_positive() && (-falling.slope).is_positive() {
            // Lines of slopes s > 0 > t through (x, y) meet where (s − t) times the distance from x is how far the second one is above y there.
            let above = falling.at(rising.x) - rising.y;
            let steeper = rising.slope - falling.slope;
            bound = bound.min((rising.y + above * (rising.slope / steeper)).to_enclosure().upper());
            peak = (rising.x + above / steeper).ln().to_enclosure().midpoint();
        }
        Gap {
            bound,
            peak,
            left: left.map_or(f64::NEG_INFINITY, |point| point.epsilon),
            right: right.map_or(f64::INFINITY, |point| point.epsilon),
        }
    }
}

/// The points at distances 1, 2, 4, … from the first one: near ones and far ones.
fn outward<'a>(points: impl Iterator<Item = &'a Point>) -> impl Iterator<Item = &'a Point> {
    points.enumerate().filter(|(distance, _)| distance.is_power_of_two()).map(|(_, point)| point)
}

impl Gap {
    /// Where `g` should be evaluated next: at the peak of the bound, or in the middle if that is too close to an end. An
    /// open gap is crossed in steps that double, lest a peak far out be approached from one side only.
    fn next(&self) -> Option<f64> {
        let (middle, proposal) = match (self.left.is_finite(), self.right.is_finite()) {
            (true, true) => (self.left / 2.0 + self.right / 2.0, self.peak),
            (true, false) => (2.0 * self.left.max(0.5), self.peak.map(|peak| peak.max(2.0 * self.left))),
            (false, true) => (2.0 * self.right.min(-0.5), self.peak.map(|peak| peak.min(2.0 * self.right))),
            (false, false) => (0.0, None),
        };
        let inside = |x: &f64| {
            let room = CLOSE * x.abs().max(1.0);
            *x - self.left > room && self.right - *x > room
        };
        proposal.filter(inside).or(Some(middle)).filter(inside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::composition::Composed;
    use crate::curve::CountFamily;
    use crate::forms::Direction;
    use crate::interrupt::Uninterrupted;
    use proptest::prelude::*;
    use std::sync::Arc;

    fn over(top: u64, bottom: u64) -> Rational {
        Rational::from(top).div(&Rational::from(bottom)).unwrap()
    }

    /// `P[Bin(trials, p) = k]` by its recursion in the number of trials.
    fn binomial(trials: u64, p: &Rational) -> Vec<Rational> {
        let (zero, q) = (Rational::from(0i64), Rational::from(1i64).sub(p));
        (0..trials).fold(vec![Rational::from(1i64)], |law, _| {
            let missed = law.iter().map(|x| x.mul(&q)).chain([zero.clone()]);
            let hit = [zero.clone()].into_iter().chain(law.iter().map(|x| x.mul(p)));
            missed.zip(hit).map(|(a, b)| a.add(&b)).collect()
        })
    }

    /// Neyman and Pearson: reject the largest answers first, the last one with a probability.
    fn neyman_pearson(size: u64, p: &Rational, level: &Rational) -> Rational {
        let others = binomial(size - 1, p);
        let zero = Rational::from(0i64);
        let (mut left, mut power) = (level.clone(), zero.clone());
        for a in (0..=size as usize).rev() {
            let null = others.get(a).unwrap_or(&zero);
            let alternative = a.checked_sub(1).map_or(&zero, |a| &others[a]);
            if null.is_zero() {
                power = power.add(alternative);
                continue;
            }
            let share = left.div(null).unwrap().min(Rational::from(1i64));
            power = power.add(&share.mul(alternative));
            left = left.sub(&share.mul(null));
        }
        Rational::from(1i64).sub(&power)
    }

    proptest! {
        #[test]
        fn one_direction_is_the_most_powerful_test(size in 1u64..40, top in 1u64..20, level in 0u64..=100) {
            let (p, level) = (over(top, 20), over(level, 100));
            let curve = CountFamily::new(&p, &p, Some(Direction::OneAgainstZero)).unwrap().of_size(size).unwrap();
            let found = beta(&curve, &level, &Uninterrupted).unwrap();
            let truth = neyman_pearson(size, &p, &level);
            prop_assert!(found.contains(&truth), "{found:?} {truth:?}");
            prop_assert!(found.width() <= 1e-13, "{found:?}");
            let back = alpha(&curve, &truth, &Uninterrupted).unwrap();
            if !truth.is_zero() {
                let slack = Rational::parse("1e-9").unwrap();
                prop_assert!(Rational::from_f64(back.lower()).unwrap() <= level.add(&slack));
            }
        }
    }

    /// At ε = 0 the bound is `1 − 0.8³ − 49/100`, below zero: the peak is looked for all the same.
    #[test]
    fn a_first_bound_below_zero_is_not_the_end_of_the_search() {
        let (p, level) = (over(4, 5), over(49, 100));
        let curve = CountFamily::new(&p, &p, Some(Direction::OneAgainstZero)).unwrap().of_size(4).unwrap();
        let found = beta(&curve, &level, &Uninterrupted).unwrap();
        assert!(found.contains(&neyman_pearson(4, &p, &level)) && found.width() <= 1e-15, "{found:?}");
    }

    #[test]
    fn large_counts_take_few_evaluations_to_ten_digits() {
        let p = Rational::parse("0.3").unwrap();
        for size in [1000, 1_000_000] {
            for level in ["1e-300", "1e-12", "0.01", "0.4999", "0.97"] {
                let curve = CountFamily::new(&p, &p, None).unwrap().of_size(size).unwrap();
                let found = beta(&curve, &Rational::parse(level).unwrap(), &Uninterrupted).unwrap();
                assert!(found.width() <= 1e-10 * found.upper(), "{size} {level} {found:?}");
            }
        }
    }

    #[test]
    fn levels_outside_of_the_unit_interval_are_refused() {
        let half = over(1, 2);
        let curve = CountFamily::new(&half, &half, None).unwrap().of_size(9).unwrap();
        let refused = Error::argument("a type I error from 0 to 1 is required");
        assert_eq!(beta(&curve, &Rational::from(-1i64), &Uninterrupted), Err(refused.clone()));
        assert_eq!(alpha(&curve, &over(3, 2), &Uninterrupted), Err(refused));
        assert!(beta(&curve, &Rational::from(0i64), &Uninterrupted).unwrap().contains(&over(255, 256)));
        assert_eq!(beta(&curve, &Rational::from(1i64), &Uninterrupted), Ok(Enclosure::point(0.0)));
    }

    /// Each bound of δ is a bound of β: the greatest counts. Inside of another curve a minimum of several need not be convex.
    #[test]
    fn a_minimum_of_bounds_has_the_greatest_of_their_errors_and_is_refused_inside_of_others() {
        let count = |p: u64| {
            let p = over(p, 10);
            CountFamily::new(&p, &p, Some(Direction::OneAgainstZero)).unwrap().of_size(9).unwrap()
        };
        let level = over(1, 5);
        let of = |curve: &Curve| beta(curve, &level, &Uninterrupted);
        let [one, other] = [count(2), count(5)];
        let [alone, greater] = [of(&one).unwrap(), of(&other).unwrap()];
        assert!(alone.upper() < greater.lower());
        for bounds in [vec![one.clone(), other.clone()], vec![other.clone(), one.clone()]] {
            assert_eq!(of(&Curve::Min(bounds)).unwrap(), greater);
        }
        let share = || over(1, 2);
        let inside = |curve: Curve| {
            let mean = Curve::Mean(vec![(share().into(), one.clone()), (share().into(), curve.clone())]);
            [mean, Curve::Max(vec![one.clone(), curve.clone()]), Curve::amplified(share(), curve).unwrap()]
        };
        for curve in inside(Curve::Min(vec![one.clone()])) {
            assert!(of(&curve).is_ok(), "{curve:?}");
        }
        let refused = "a minimum of bounds inside another curve has no trade-off function here";
        for curve in inside(Curve::Min(vec![one.clone(), other.clone()])) {
            assert_eq!(of(&curve), Err(Error::argument(refused)), "{curve:?}");
        }
    }

    /// Eight different parts whose δ is known to some ten digits. Chords between near points are no worse for it.
    #[test]
    fn the_error_of_a_composition_is_known_as_well_as_its_delta() {
        let parts = crate::composition::tests::evenly(8, 50, [1, 7], 10);
        let parts = crate::composition::tests::borrowed(&parts);
        let composition = crate::composition::tests::partition(400, &parts, None);
        let curve = Curve::from(Composed::new(Arc::new(composition), None));
        let found = beta(&curve, &over(1, 20), &Uninterrupted).unwrap();
        assert!(found.width() <= 1e-10 * found.upper(), "{found:?}");
        // 1 − δ(ε) − e^ε α for an ε next to the best one.
        let epsilon = Epsilon::new(&over(17, 90));
        let delta = curve.ball(&epsilon, &Uninterrupted).unwrap();
        let below = Ball::ONE - delta - epsilon.ratio() * Ball::from_rational(&over(1, 20));
        assert!(below.to_enclosure().lower() <= found.upper());
        assert!(below.to_enclosure().upper() >= found.lower() - 1e-7);
    }

    /// Lines that are known only by what the pair gives away: with none of it nothing is certain at α = 0, with all of it everything.
    #[test]
    fn what_gives_the_pair_away_is_never_missed() {
        let count = |p: u64, size: u64| {
            let p = over(p, 4);
            CountFamily::new(&p, &p, Some(Direction::OneAgainstZero)).unwrap().of_size(size).unwrap()
        };
        // The critical entry alone, or beside others that never have the property, shows itself.
        for curve in [count(1, 1), count(0, 7)] {
            assert_eq!(beta(&curve, &over(1, 3), &Uninterrupted), Ok(Enclosure::point(0.0)));
        }
        // All six of them have it with (1/4)^5, and only then it is certain.
        let found = beta(&count(1, 6), &Rational::from(0i64), &Uninterrupted).unwrap();
        assert!(found.contains(&over(1023, 1024)) && found.width() <= 1e-15, "{found:?}");
    }
}
