//! Probabilities of sums of independent lattice variables, from their cumulant functions.
//!
//! With `K(s) = ln E e^{sX}`, any real `c`, an odd `M` and `w_j = c + 2πij/M`,
//!
//! ```text
//! (1/M) Σ_j e^{K(w_j) − k w_j} g(w_j) = wanted + aliases
//! wanted            g(w)            aliases, all of them positive
//! P[X = k]          1               Σ_{m≥1} P[X = k ± mM] e^{±cmM}
//! P[X ≥ k], c > 0   1/(1 − e^{−w})  Σ_{m≥1} P[X ≥ k ± mM] e^{±cmM}
//! P[X ≤ k], c < 0   1/(1 − e^{w})   Σ_{m≥1} P[X ≤ k ± mM] e^{±cmM}
//! ```
//!
//! because the finite Fourier sum picks from `e^{−c(i−k)} P[X = i]`-weighted series every `M`-th member. By Chernoff's bound
//! at a real point `t` beyond `c` on the side of the aliases, these are at most
//! `e^{K(t) − kt} ρ/(1 − ρ)` with `ρ = e^{−|t−c|M}`. Terms of the sum are evaluated where they matter; elsewhere
//! `|e^{K(c+iθ) − K(c)}| ≤ e^{−2 Σ_d C_d sin²(dθ/2)}` bounds whole ranges of them, see [`Lattice::spread`].

use crate::approximate;
use crate::ball::Ball;
use crate::complex::Complex;
use crate::double_double::DoubleDouble;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::laws::Probability;
use crate::special::trigonometric::pi;

/// A law on the integers, by its cumulant function.
pub trait Lattice {
    /// `ln E e^{sX}`, up to a multiple of `2πi`.
    fn cumulant(&self, s: Complex) -> Complex;

    /// `C_d` with `|e^{K(c+iθ) − K(c)}| ≤ exp(−2 Σ_d C_d sin²(dθ/2))` for all θ, as pairs `(d, C_d)`.
    ///
    /// For finitely many values with tilted probabilities `a_i` that is the autocorrelation `C_d = Σ_i a_i a_{i+d}`, as
    /// `|Σ a_i e^{iθ}|² = 1 − 4 Σ_d C_d sin²(dθ/2)` and `√(1−x) ≤ e^{−x/2}`.
    fn spread(&self, c: Ball) -> Vec<(u64, f64)>;

    /// About the mean and the variance of the law tilted by `e^{cX}`: they choose `c` and `M`, and prove nothing.
    fn moments(&self, c: Ball) -> (f64, f64);

    /// The least and the greatest value, where there are such.
    fn support(&self) -> (Option<i64>, Option<i64>);

    /// `E e^{sX}` is finite for `|s|` below this.
    fn reach(&self) -> f64 {
        f64::INFINITY
    }
}

/// `weight · Bin(count, p)`.
#[derive(Clone, Copy, Debug)]
pub struct BinomialGroup {
    /// Number of entries, at most `2^53`.
    pub count: u64,
    /// Their probability.
    pub at: Probability,
    /// What each of them adds.
    pub weight: u32,
}

impl BinomialGroup {
    /// `p e^{wc}/(q + p e^{wc})`.
    fn tilted(&self, c: Ball) -> Probability {
        Probability::from_odds(self.at.odds * (c * Ball::from_u64(self.weight.into())).exp())
    }
}

impl Lattice for BinomialGroup {
    /// `n ln(1 + p(e^{ws} − 1))`, or `n (ws + ln(1 + q(e^{−ws} − 1)))` where that has the smaller argument.
    fn cumulant(&self, s: Complex) -> Complex {
        let (count, step) = (Ball::from_u64(self.count), s.scale(Ball::from_u64(self.weight.into())));
        if self.at.p.certainly_less(self.at.q) {
            return step.exp_minus_one().scale(self.at.p).ln_one_plus().scale(count);
        }
        (step + (-step).exp_minus_one().scale(self.at.q).ln_one_plus()).scale(count)
    }

    fn spread(&self, c: Ball) -> Vec<(u64, f64)> {
        let at = self.tilted(c);
        vec![(self.weight.into(), (Ball::from_u64(self.count) * at.p * at.q).to_enclosure().lower())]
    }

    fn moments(&self, c: Ball) -> (f64, f64) {
        let at = self.tilted(c);
        let mean = about(at.p) * self.count as f64 * f64::from(self.weight);
        (mean, mean * about(at.q) * f64::from(self.weight))
    }

    fn support(&self) -> (Option<i64>, Option<i64>) {
        let most = i64::try_from(self.count).ok().and_then(|count| count.checked_mul(self.weight.into()));
        (Some(0), most)
    }
}

/// The sum of `count` independent values of one finite law: probabilities of `first`, `first + 1`, ….
#[derive(Clone, Debug)]
pub struct Repeated {
    /// The least value.
    pub first: i64,
    /// Its probability, and those of the next integers; one in total.
    pub masses: Vec<Ball>,
    /// How many values are added.
    pub count: u64,
}

impl Repeated {
    /// Values above the least one, with their probabilities after tilting.
    fn tilted(&self, c: Ball) -> Vec<Ball> {
        let powers =
            self.masses.iter().enumerate().map(|(i, &mass)| mass * (c * Ball::from_u64(i as u64)).exp());
        let weights: Vec<Ball> = powers.collect();
        let total = weights.iter().fold(Ball::ZERO, |sum, &weight| sum + weight);
        weights.into_iter().map(|weight| weight / total).collect()
    }
}

impl Lattice for Repeated {
    fn cumulant(&self, s: Complex) -> Complex {
        let zero = Complex::real(Ball::ZERO);
        let excess = self.masses.iter().enumerate().skip(1).filter(|(_, mass)| mass.is_positive());
        let excess = excess.fold(zero, |sum, (i, &mass)| {
            sum + s.scale(Ball::from_u64(i as u64)).exp_minus_one().scale(mass)
        });
        (s.scale(Ball::from_i64(self.first)) + excess.ln_one_plus()).scale(Ball::from_u64(self.count))
    }

    fn spread(&self, c: Ball) -> Vec<(u64, f64)> {
        let masses: Vec<f64> =
            self.tilted(c).iter().map(|mass| mass.to_enclosure().lower().max(0.0)).collect();
        // A sum of that many products, and three more roundings.
        let rounding = 1.0 - (masses.len() + 3) as f64 * f64::EPSILON;
        let pairs = (1..masses.len()).map(|d| {
            let correlation: f64 = masses.iter().zip(masses.iter().skip(d)).map(|(a, b)| a * b).sum();
            (d as u64, correlation * self.count as f64 * rounding)
        });
        pairs.filter(|(_, strength)| *strength > 0.0).collect()
    }

    fn moments(&self, c: Ball) -> (f64, f64) {
        let masses = self.tilted(c);
        let moment = |power: i32| -> f64 {
            masses.iter().enumerate().map(|(i, &mass)| (i as f64).powi(power) * about(mass)).sum()
        };
        let (count, mean) = (self.count as f64, moment(1));
        (count * (self.first as f64 + mean), count * (moment(2) - mean * mean))
    }

    fn support(&self) -> (Option<i64>, Option<i64>) {
        let last =
            i64::try_from(self.masses.len()).ok().and_then(|length| self.first.checked_add(length - 1));
        let times = |value: i64| i64::try_from(self.count).ok().and_then(|count| value.checked_mul(count));
        (times(self.first), last.and_then(times))
    }
}

/// Two-sided geometric noise, `P[X = k] = (1−α)/(1+α) α^{|k|}`: the discrete Laplace law.
#[derive(Clone, Copy, Debug)]
pub struct TwoSidedGeometric {
    /// `α`, strictly between 0 and 1.
    pub alpha: Ball,
}

impl TwoSidedGeometric {
    /// `α e^{±c}`.
    fn ratios(&self, c: Ball) -> [Ball; 2] {
        [c, -c].map(|c| self.alpha * c.exp())
    }
}

impl Lattice for TwoSidedGeometric {
    /// `2 ln(1−α) − ln(1 − αe^s) − ln(1 − αe^{−s})`.
    fn cumulant(&self, s: Complex) -> Complex {
        let side = |s: Complex| s.exp().scale(-self.alpha).ln_one_plus();
        let scale = Ball::from_u64(2) * (Ball::ONE - self.alpha).ln();
        Complex::real(scale) - side(s) - side(-s)
    }

    /// `|1 − r e^{iθ}|² = (1−r)² (1 + x sin²(θ/2))` with `x = 4r/(1−r)²`, and `ln(1 + x y) ≥ y ln(1 + x)` for `0 ≤ y ≤ 1`.
    fn spread(&self, c: Ball) -> Vec<(u64, f64)> {
        let logarithm = |ratio: Ball| {
            let rest = Ball::ONE - ratio;
            (Ball::ONE + Ball::from_u64(4) * ratio / (rest * rest)).ln()
        };
        let [up, down] = self.ratios(c).map(logarithm);
        vec![(1, ((up + down) / Ball::from_u64(4)).to_enclosure().lower().max(0.0))]
    }

    fn moments(&self, c: Ball) -> (f64, f64) {
        let [up, down] = self.ratios(c).map(about);
        let variance = |ratio: f64| ratio / ((1.0 - ratio) * (1.0 - ratio));
        (up / (1.0 - up) - down / (1.0 - down), variance(up) + variance(down))
    }

    fn support(&self) -> (Option<i64>, Option<i64>) {
        (None, None)
    }

    fn reach(&self) -> f64 {
        -self.alpha.ln().to_enclosure().upper()
    }
}

/// A bound of a few roundings.
const SLACK: f64 = 1.0 / ((1u64 << 40) as f64);
/// Terms and aliases are left out where they are below `2^-106` of the largest term.
const NEGLIGIBLE: i64 = 106;
/// `(γ, μ)`: tails are taken at a distance of at least `γ/σ` or 1 from the pole, and first with `μσ` points.
const DISTANCE: f64 = 4.3;
const POINTS: f64 = 17.0;
/// More points than this are not tried.
const MOST_POINTS: f64 = 1e18;

/// Tilts beyond this are not tried.
const FARTHEST: f64 = 700.0;
/// A variance at which a law is all but certain.
const CONCENTRATED: f64 = 1e-9;

/// A number near the middle; zero where nothing is known.
fn about(x: Ball) -> f64 {
    x.to_enclosure().midpoint().unwrap_or(0.0)
}

/// A double, exactly.
fn exact(x: f64) -> Ball {
    Ball::from_double_double(DoubleDouble::from_f64(x), 0.0)
}

/// `2^-bits`.
fn power(bits: i64) -> Ball {
    (Ball::ONE / Ball::from_u64(2)).powi(bits.unsigned_abs())
}

/// What is asked of a law at an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Equal,
    AtLeast,
    AtMost,
}

/// A sum of independent lattice variables.
pub struct LatticeSum<'a> {
    parts: Vec<&'a dyn Lattice>,
}

impl<'a> LatticeSum<'a> {
    /// The sum of these.
    #[must_use]
    pub fn new(parts: Vec<&'a dyn Lattice>) -> Self {
        Self { parts }
    }

    /// `P[X = k]`.
    ///
    /// # Errors
    /// Interruption; a law for which no number of points gives an enclosure.
    pub fn probability(&self, k: i64, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let (least, most) = self.support();
        if least.is_some_and(|least| k < least) || most.is_some_and(|most| k > most) {
            return Ok(Ball::ZERO);
        }
        let c = self.saddle(k);
        self.invert(k, c, Event::Equal, interrupt)
    }

    /// `P[X ≥ k]`. Below the mean it is one minus the lower tail.
    ///
    /// # Errors
    /// As [`Self::probability`].
    pub fn upper_tail(&self, k: i64, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let (least, most) = self.support();
        if most.is_some_and(|most| k > most) {
            return Ok(Ball::ZERO);
        }
        if least.is_some_and(|least| k <= least) {
            return Ok(Ball::ONE);
        }
        if k as f64 > self.moments(0.0).0 {
            return self.beyond(k, Event::AtLeast, interrupt);
        }
        Ok(Ball::ONE - self.beyond(k - 1, Event::AtMost, interrupt)?)
    }

    /// Numbers outside which certainly at most `2 · most` of the law lies, and that bound.
    ///
    /// # Errors
    /// As [`Self::probability`].
    pub fn window(&self, most: Ball, interrupt: &dyn Interrupt) -> Result<(i64, i64, Ball), Error> {
        let support = self.support();
        let (mean, variance) = self.moments(0.0);
        let end = |side: f64, limit: Option<i64>| -> Result<(i64, Ball), Error> {
            let mut deviations = 8.0;
            loop {
                let distance = (deviations * variance.sqrt()).ceil() + 1.0;
                let last = (mean + side * distance) as i64;
                if let Some(limit) = limit.filter(|&limit| side * (last as f64 - limit as f64) >= 0.0) {
                    return Ok((limit, Ball::ZERO));
                }
                let tail = if side > 0.0 {
                    self.beyond(last + 1, Event::AtLeast, interrupt)?
                } else {
                    self.beyond(last - 1, Event::AtMost, interrupt)?
                };
                if !most.certainly_less(tail) && tail.relative_error().is_finite() {
                    return Ok((last, tail));
                }
                deviations *= 1.25;
            }
        };
        let ((first, below), (last, above)) = (end(-1.0, support.0)?, end(1.0, support.1)?);
        Ok((first, last, below + above))
    }

    /// A tail on its own side of the mean.
    fn beyond(&self, k: i64, event: Event, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let nearest = (DISTANCE / self.moments(0.0).1.sqrt().max(DISTANCE)).min(self.reach() / 2.0);
        let saddle = self.saddle(k);
        let c = if event == Event::AtLeast { saddle.max(nearest) } else { saddle.min(-nearest) };
        self.invert(k, rounded(c), event, interrupt)
    }

    fn reach(&self) -> f64 {
        self.parts.iter().map(|part| part.reach()).fold(f64::INFINITY, f64::min)
    }

    /// The least and the greatest value, where there are such.
    pub(crate) fn support(&self) -> (Option<i64>, Option<i64>) {
        let add = |a: Option<i64>, b: Option<i64>| a.and_then(|a| b.and_then(|b| a.checked_add(b)));
        self.parts
            .iter()
            .map(|part| part.support())
            .fold((Some(0), Some(0)), |sum, ends| (add(sum.0, ends.0), add(sum.1, ends.1)))
    }

    fn cumulant(&self, s: Complex) -> Complex {
        self.parts.iter().fold(Complex::real(Ball::ZERO), |sum, part| sum + part.cumulant(s))
    }

    fn moments(&self, c: f64) -> (f64, f64) {
        let moments = self.parts.iter().map(|part| part.moments(exact(c)));
        moments.fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
    }

    /// About where the tilted mean is `k`: any `c` is right, this one loses the least.
    ///
    /// Outwards from zero in doubling steps until the mean lies beyond `k`, or the law has all but concentrated on
    /// an end of its support; then by bisection.
    fn saddle(&self, k: i64) -> f64 {
        let target = k as f64;
        let farthest = (self.reach() * (1.0 - 1.0 / 64.0)).min(FARTHEST);
        let (mean, variance) = self.moments(0.0);
        let side = if target < mean { -1.0 } else { 1.0 };
        let (mut near, mut step) = (0.0, 1.0 / variance.sqrt().max(1.0 / FARTHEST));
        let mut far = loop {
            let next: f64 = (near + step).min(farthest);
            let (mean, variance) = self.moments(side * next);
            if side * (mean - target) >= 0.0 {
                break next;
            }
            if next >= farthest || variance < CONCENTRATED {
                return rounded(side * next);
            }
            (near, step) = (next, 2.0 * step);
        };
        loop {
            let middle = f64::midpoint(near, far);
            let (mean, variance) = self.moments(side * middle);
            if (far - near) * variance.sqrt().max(1.0) < 0.1 || middle <= near || middle >= far {
                return rounded(side * middle);
            }
            if side * (mean - target) < 0.0 { near = middle } else { far = middle }
        }
    }

    /// The finite Fourier sum, with more and more points until the aliases do not matter.
    fn invert(&self, k: i64, c: f64, event: Event, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let tilt = exact(c);
        let peak = (self.cumulant(Complex::real(tilt)).re - Ball::from_i64(k) * tilt).exp();
        let deviation = self.moments(c).1.sqrt();
        let mut points = (POINTS * deviation).ceil() + 9.0;
        while points < MOST_POINTS {
            let aliases = self.aliases(k, c, points, event);
            let affordable =
                peak * power(NEGLIGIBLE) * (if event == Event::Equal { Ball::ONE } else { weight(tilt).re });
            if aliases.certainly_less(affordable) {
                let points = 2 * (points / 2.0) as u64 + 1;
                let sum =
                    Sum { law: self, k, tilt, event, points, spread: self.spread(tilt) }.total(interrupt)?;
                return Ok((peak * sum).plus_at_most(aliases));
            }
            points *= 2.0;
        }
        Err(Error::precision(format!(
            "the probabilities of this law next to {k} cannot be enclosed by inversion"
        )))
    }

    fn spread(&self, tilt: Ball) -> Vec<(u64, f64)> {
        self.parts.iter().flat_map(|part| part.spread(tilt)).collect()
    }

    /// The bound of both kinds of aliases. What lies beyond the support is not there.
    fn aliases(&self, k: i64, c: f64, points: f64, event: Event) -> Ball {
        let (least, most) = self.support();
        let beyond = |end: Option<i64>| end.is_some_and(|end| end.abs_diff(k) < points as u64);
        let variance = self.moments(c).1.max(f64::MIN_POSITIVE);
        let sides = [(1.0, beyond(most)), (-1.0, beyond(least))].map(|(side, empty)| {
            // Tails on the far side of the mean tend to one, and only their factor e^{−|c|mM} falls.
            let certain = matches!((event, side > 0.0), (Event::AtLeast, false) | (Event::AtMost, true));
            if empty && !certain {
                return Ball::ZERO;
            }
            let steps = [1.0, 0.5, 0.25, 0.125, 1.0 / 32.0].map(|part| part * points / variance);
            let farthest = if certain { c.abs() } else { self.reach() * (1.0 - 1.0 / 128.0) - (side * c) };
            let bounds = steps
                .into_iter()
                .chain([1.0, 0.25])
                .map(|step| self.chernoff(k, c, side * step.min(farthest), points));
            bounds.reduce(Ball::min).unwrap_or(Ball::WHOLE)
        });
        let [above, below] = sides;
        above + below
    }

    /// `e^{K(t) − kt} ρ/(1−ρ)` at `t = c + step`.
    fn chernoff(&self, k: i64, c: f64, step: f64, points: f64) -> Ball {
        let t = exact(c) + exact(step);
        let ratio = (-(exact(step.abs()) * exact(points))).exp();
        let geometric = ratio / (Ball::ONE - ratio);
        if !geometric.is_positive() {
            return Ball::WHOLE;
        }
        (self.cumulant(Complex::real(t)).re - Ball::from_i64(k) * t).exp() * geometric
    }
}

/// A double of few bits near this one, so that it does not hang on the last bits of what only chose it.
fn rounded(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & !((1 << 36) - 1))
}

/// `1/(1 − e^{−|c|})`, the largest size of the factor `g`.
fn weight(tilt: Ball) -> Complex {
    let falling = if tilt.is_positive() { -tilt } else { tilt };
    (-Complex::real(falling).exp_minus_one()).reciprocal()
}

/// One finite Fourier sum, relative to the size `e^{K(c) − kc}` of its first term.
struct Sum<'a, 'b> {
    law: &'b LatticeSum<'a>,
    k: i64,
    tilt: Ball,
    event: Event,
    points: u64,
    spread: Vec<(u64, f64)>,
}

impl Sum<'_, '_> {
    /// `(1/M) (term_0 + 2 Σ_{0<j<M/2} Re term_j)`.
    fn total(&self, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let two = Ball::from_u64(2);
        let largest = self.factor(Ball::ZERO).re;
        let mut rest = Ball::ZERO;
        let mut sum = largest;
        let mut ranges = vec![(1, self.points / 2)];
        let level = self.law.cumulant(Complex::real(self.tilt)).re;
        while let Some((first, last)) = ranges.pop() {
            if first > last {
                continue;
            }
            interrupt.check()?;
            let bits = self.decay(first, last);
            let count = (last - first + 1) as f64;
            if bits > NEGLIGIBLE as f64 + approximate::log2(count) {
                rest = rest.plus_at_most(exact(count) * power(bits.min(1e9) as i64));
                continue;
            }
            if first < last {
                let middle = first.midpoint(last);
                ranges.extend([(middle + 1, last), (first, middle)]);
                continue;
            }
            let term = self.term(first, level);
            if term.to_enclosure().width().is_finite() {
                sum = sum + two * term;
            } else {
                rest = rest.plus_at_most(power(bits as i64));
            }
        }
        Ok((sum + two * largest * rest) / Ball::from_u64(self.points))
    }

    fn angle(&self, j: u64) -> Ball {
        Ball::from_u64(2 * j) * pi() / Ball::from_u64(self.points)
    }

    /// `Re e^{K(w_j) − K(c) − ikθ_j} g(w_j)`.
    fn term(&self, j: u64, level: Ball) -> Ball {
        let angle = self.angle(j);
        let cumulant = self.law.cumulant(Complex { re: self.tilt, im: angle });
        let exponent = Complex { re: cumulant.re - level, im: cumulant.im - Ball::from_i64(self.k) * angle };
        (exponent.exp() * self.factor(angle)).re
    }

    /// `g(c + iθ)`; for a lower tail `1/(1 − e^w)`.
    fn factor(&self, angle: Ball) -> Complex {
        let w = Complex { re: self.tilt, im: angle };
        match self.event {
            Event::Equal => Complex::real(Ball::ONE),
            Event::AtLeast => (-(-w).exp_minus_one()).reciprocal(),
            Event::AtMost => (-w.exp_minus_one()).reciprocal(),
        }
    }

    /// Bits that every term from `first` to `last` certainly lies below the first one.
    fn decay(&self, first: u64, last: u64) -> f64 {
        let step = std::f64::consts::PI / self.points as f64;
        let (low, high) = (first as f64 * step, last as f64 * step);
        let exponent: f64 = self
            .spread
            .iter()
            .map(|&(d, strength)| 2.0 * strength * least_square_of_sine(d as f64, low, high))
            .sum();
        // 1/ln 2 > 1.442: the difference covers the roundings of a sum of 2^39 terms.
        (exponent * 1.442).floor()
    }
}

/// A lower bound of `sin²(dx)` for all `x` between two numbers of at most `π/2`.
///
/// `|sin|` is concave between two zeros, so it is least at an end; and `sin y ≥ y − y³/6` for the distance `y` from the
/// nearest zero. The roundings of `dx` and of its remainder err by less than `2^-48 (dx + 1)`, which is taken off.
fn least_square_of_sine(d: f64, low: f64, high: f64) -> f64 {
    use std::f64::consts::PI;
    let (low, high) = (d * low, d * high);
    if (low / PI).floor() != (high / PI).floor() {
        return 0.0;
    }
    let distance = |x: f64| {
        let rest = x - PI * (x / PI).floor();
        rest.min(PI - rest)
    };
    let y = distance(low).min(distance(high)) - (high + 1.0) / ((1u64 << 48) as f64);
    let sine = if y > 0.0 { y * (1.0 - y * y / 6.0) } else { 0.0 };
    sine * sine * (1.0 - SLACK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Uninterrupted;
    use crate::laws::binomial_probability;
    use crate::rational::Rational;
    use proptest::prelude::*;

    fn rational(text: &str) -> Rational {
        Rational::parse(text).unwrap()
    }

    fn ball(text: &str) -> Ball {
        Ball::from_rational(&rational(text))
    }

    fn group(count: u64, p: &str, weight: u32) -> BinomialGroup {
        BinomialGroup { count, at: Probability::new(&rational(p)).unwrap(), weight }
    }

    /// The truth, of an error that does not matter, and at most this relative error.
    fn check(computed: Ball, truth: Ball, relative: f64) {
        let gap = computed - truth;
        assert!(!gap.is_positive() && !(-gap).is_positive(), "{truth:?} is outside {computed:?}");
        assert!(computed.relative_error() <= relative, "{:e} {computed:?}", computed.relative_error());
    }

    fn binomial(law: &BinomialGroup) -> Vec<Ball> {
        (0..=law.count).map(|k| binomial_probability(k, law.count, &law.at)).collect()
    }

    /// The law of the sum of two independent numbers from 0 on.
    fn convolved(a: &[Ball], b: &[Ball]) -> Vec<Ball> {
        let mut sums = vec![Ball::ZERO; a.len() + b.len() - 1];
        for (i, &x) in a.iter().enumerate() {
            for (sum, &y) in sums.iter_mut().skip(i).zip(b) {
                *sum = *sum + x * y;
            }
        }
        sums
    }

    fn check_all(sum: &LatticeSum<'_>, law: &[Ball]) {
        let mut tail = Ball::ZERO;
        for (k, &mass) in law.iter().enumerate().rev() {
            let computed = sum.probability(k as i64, &Uninterrupted).unwrap();
            check(computed, mass, if mass.is_positive() { 1e-22 } else { f64::INFINITY });
            assert!(mass.is_positive() || computed.to_enclosure().width() < 1e-22);
            tail = tail + mass;
            check(sum.upper_tail(k as i64, &Uninterrupted).unwrap(), tail, 1e-22);
        }
    }

    #[test]
    fn one_group_is_the_binomial_law() {
        for (n, p) in [(1, "1/2"), (2, "1/3"), (10, "1e-3"), (10, "0.999"), (60, "1/2"), (60, "1e-9")] {
            let law = group(n, p, 1);
            check_all(&LatticeSum::new(vec![&law]), &binomial(&law));
        }
    }

    #[test]
    fn large_groups_keep_their_accuracy() {
        for (n, k, p) in [
            (1_000_000u64, 500_100i64, "1/2"),
            (1_000_000, 10_500, "1/100"),
            (1_000_000_000, 333_433_333, "1/3"),
            (1 << 52, 1 << 51, "1/2"),
        ] {
            let law = group(n, p, 1);
            let mass = LatticeSum::new(vec![&law]).probability(k, &Uninterrupted).unwrap();
            check(mass, binomial_probability(k as u64, n, &law.at), 1e-14);
        }
    }

    #[test]
    fn groups_with_weights_add_up() {
        let (a, b, c) = (group(7, "1/3", 1), group(4, "0.8", 3), group(3, "1/7", 2));
        let spaced = |law: &BinomialGroup| {
            let mut masses = vec![Ball::ZERO; (law.count * u64::from(law.weight)) as usize + 1];
            for (k, mass) in binomial(law).into_iter().enumerate() {
                masses[k * law.weight as usize] = mass;
            }
            masses
        };
        let law = convolved(&convolved(&spaced(&a), &spaced(&b)), &spaced(&c));
        check_all(&LatticeSum::new(vec![&a, &b, &c]), &law);
    }

    #[test]
    fn values_of_a_finite_law_add_up() {
        let masses = vec![ball("1/2"), ball("0"), ball("1/3"), ball("1/6")];
        let twice = convolved(&masses, &masses);
        let law = convolved(&twice, &twice);
        check_all(&LatticeSum::new(vec![&Repeated { first: 0, masses, count: 4 }]), &law);
    }

    #[test]
    fn noise_alone_and_with_a_count() {
        let noise = TwoSidedGeometric { alpha: ball("0.6") };
        let alone = LatticeSum::new(vec![&noise]);
        let mass = |k: i64| ball("0.25") * ball("0.6").powi(k.unsigned_abs());
        for k in [-9, -1, 0, 1, 2, 30] {
            check(alone.probability(k, &Uninterrupted).unwrap(), mass(k), 1e-24);
        }
        for k in [1, 2, 30] {
            check(alone.upper_tail(k, &Uninterrupted).unwrap(), mass(k) / ball("0.4"), 1e-22);
            check(alone.upper_tail(1 - k, &Uninterrupted).unwrap(), Ball::ONE - mass(k) / ball("0.4"), 1e-22);
        }
        let count = group(20, "0.3", 1);
        let both = LatticeSum::new(vec![&count, &noise]);
        for k in [-5, 0, 6, 25] {
            let terms = binomial(&count).into_iter().enumerate().map(|(i, x)| x * mass(k - i as i64));
            let truth = terms.fold(Ball::ZERO, |sum, term| sum + term);
            check(both.probability(k, &Uninterrupted).unwrap(), truth, 1e-22);
        }
    }

    #[test]
    fn nothing_lies_outside_the_support() {
        let law = group(10, "1/3", 2);
        let sum = LatticeSum::new(vec![&law]);
        assert!(sum.probability(-1, &Uninterrupted).unwrap().is_exact_zero());
        assert!(sum.probability(21, &Uninterrupted).unwrap().is_exact_zero());
        assert!(sum.upper_tail(21, &Uninterrupted).unwrap().is_exact_zero());
        assert!((sum.upper_tail(0, &Uninterrupted).unwrap() - Ball::ONE).is_exact_zero());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn two_groups_are_the_convolution_of_their_laws(
            counts in (1u64..40, 1u64..40), p in (1u32..999, 1u32..999), depth in 0i32..12, noise in any::<bool>(), at in 0.0..1.0f64,
        ) {
            let of = |count: u64, p: u32, depth: i32| {
                let p = Rational::from_f64(f64::from(p) / 1000.0 * 2f64.powi(-depth)).unwrap();
                BinomialGroup { count, at: Probability::new(&p).unwrap(), weight: 1 }
            };
            let (a, b) = (of(counts.0, p.0, depth), of(counts.1, p.1, 0));
            let law = convolved(&binomial(&a), &binomial(&b));
            let k = (at * law.len() as f64) as usize;
            let sum = LatticeSum::new(vec![&a, &b]);
            check(sum.probability(k as i64, &Uninterrupted).unwrap(), law[k], 1e-20);
            let tail = law[k..].iter().rev().fold(Ball::ZERO, |sum, &mass| sum + mass);
            check(sum.upper_tail(k as i64, &Uninterrupted).unwrap(), tail, 1e-20);
            if noise {
                let noise = TwoSidedGeometric { alpha: ball("0.3") };
                let mass = |i: usize| ball("7/13") * ball("0.3").powi(k.abs_diff(i) as u64);
                let truth = law.iter().enumerate().fold(Ball::ZERO, |sum, (i, &x)| sum + x * mass(i));
                let both = LatticeSum::new(vec![&a, &b, &noise]);
                check(both.probability(k as i64, &Uninterrupted).unwrap(), truth, 1e-20);
            }
        }
    }

    proptest! {
        #[test]
        fn sines_are_not_below_their_bound(d in 1u32..1000, low in 0.0..1.57f64, width in 0.0..0.1f64, at in 0.0..1.0f64) {
            let high = (low + width).min(std::f64::consts::FRAC_PI_2);
            let bound = least_square_of_sine(f64::from(d), low, high);
            prop_assert!(bound <= (f64::from(d) * (low + at * (high - low))).sin().powi(2) * (1.0 + 1e-9) + 1e-18);
        }
    }
}
