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

mod leave_one_out;
mod pmf;
mod trials;

pub use trials::Trials;

use crate::budget::{MAX_NEWTON_STEPS, MAX_POINTS};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::laws::Probability;
use crate::numbers::approximate;
use crate::numbers::ball::Ball;
use crate::numbers::complex::Complex;
use crate::numbers::double_double::DoubleDouble;
use crate::numbers::special::trigonometric::pi;

/// A law on the integers, by its cumulant function.
pub trait Lattice {
    /// `ln E e^{sX}`, up to a multiple of `2πi`.
    fn cumulant(&self, s: Complex) -> Complex;

    /// `E e^{sX} = e^a b`, as `(a, b)`: a product if that is less work than a sum of logarithms.
    fn transform(&self, s: Complex) -> (Complex, Complex) {
        (self.cumulant(s), Complex::real(Ball::ONE))
    }

    /// `C_d` with `|e^{K(c+iθ) − K(c)}| ≤ exp(−2 Σ_d C_d sin²(dθ/2))` for all θ, as pairs `(d, C_d)`.
    ///
    /// For finitely many values with tilted probabilities `a_i` that is the autocorrelation `C_d = Σ_i a_i a_{i+d}`, as
    /// `|Σ a_i e^{iθ}|² = 1 − 4 Σ_d C_d sin²(dθ/2)` and `√(1−x) ≤ e^{−x/2}`.
    fn spread(&self, c: Ball) -> Vec<(u64, f64)>;

    /// Of how many summands of one finite law this is the sum, for which `|e^{K(c+iθ) − K(c)}|² = (1 − y)^n` with the `y` of [`Self::spread`]
    /// of one: see [`Contour::decay`]. Infinitely many stand for its limit `e^{−ny}`.
    fn copies(&self) -> f64 {
        f64::INFINITY
    }

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
    /// `n ln(1 + p(e^{ws} − 1))`, or `n (ws + ln(1 + q(e^{−ws} − 1)))` if that has the smaller argument.
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
    /// Next to zero from `ln(1 + Σ_i m_i (e^{is} − 1))`; else from `ln m_o + os + ln(1 + Σ_{i≠o} (m_i/m_o) e^{(i−o)s})`, where value `o` is
    /// about the most probable one after tilting, so that nothing cancels however rare it was.
    fn cumulant(&self, s: Complex) -> Complex {
        let (c, zero) = (about(s.re), Complex::real(Ball::ZERO));
        let present = || self.masses.iter().enumerate().filter(|(_, mass)| !mass.is_exact_zero());
        let along = |i: usize| s.scale(Ball::from_u64(i as u64));
        let one = if c.abs() * self.masses.len() as f64 <= 1.0 {
            present().fold(zero, |sum, (i, &mass)| sum + along(i).exp_minus_one().scale(mass)).ln_one_plus()
        } else {
            let height = |i: usize, mass: Ball| about(mass.ln()) + c * i as f64;
            let certain = present().filter(|(_, mass)| mass.is_positive());
            let highest = certain.max_by(|a, b| height(a.0, *a.1).total_cmp(&height(b.0, *b.1)));
            let Some((origin, &most)) = highest else { return Complex { re: Ball::WHOLE, im: Ball::WHOLE } };
            let others = present().filter(|(i, _)| *i != origin);
            let rest = others
                .fold(zero, |sum, (i, &mass)| sum + (along(i) - along(origin)).exp().scale(mass / most));
            Complex::real(most.ln()) + along(origin) + rest.ln_one_plus()
        };
        (s.scale(Ball::from_i64(self.first)) + one).scale(Ball::from_u64(self.count))
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

    fn copies(&self) -> f64 {
        self.count as f64
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
        let value = |i: usize| i64::try_from(i).ok().and_then(|i| self.first.checked_add(i));
        let times = |value: i64| i64::try_from(self.count).ok().and_then(|count| value.checked_mul(count));
        let ends = [
            self.masses.iter().position(|mass| !mass.is_exact_zero()),
            self.masses.iter().rposition(|mass| !mass.is_exact_zero()),
        ];
        let [least, greatest] = ends.map(|end| end.and_then(value).and_then(times));
        (least, greatest)
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

/// Tilts beyond this are not tried.
const FARTHEST: f64 = 700.0;
/// A variance below which a law is almost concentrated on one value.
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

impl Event {
    /// `g(w)`.
    fn factor(self, w: Complex) -> Complex {
        match self {
            Self::Equal => Complex::real(Ball::ONE),
            Self::AtLeast => (-(-w).exp_minus_one()).reciprocal(),
            Self::AtMost => (-w.exp_minus_one()).reciprocal(),
        }
    }
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
        let c = self.saddle(k, 0.0);
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
        let saddle = self.saddle(k, 0.0);
        let c = if event == Event::AtLeast { saddle.max(nearest) } else { saddle.min(-nearest) };
        self.invert(k, rounded(c), event, interrupt)
    }

    /// About the mean of the law tilted by `e^{cX}`, for a `c` that may be too large to be used as it is.
    pub(crate) fn rough_mean(&self, c: f64) -> f64 {
        self.moments(c.clamp(-FARTHEST, FARTHEST)).0
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

    /// As [`Lattice::transform`].
    fn transform(&self, s: Complex) -> (Complex, Complex) {
        let nothing = (Complex::real(Ball::ZERO), Complex::real(Ball::ONE));
        self.parts
            .iter()
            .map(|part| part.transform(s))
            .fold(nothing, |all, one| (all.0 + one.0, all.1 * one.1))
    }

    fn moments(&self, c: f64) -> (f64, f64) {
        let moments = self.parts.iter().map(|part| part.moments(exact(c)));
        moments.fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
    }

    /// About where the tilted mean is `k`: any `c` is right, this one loses the least.
    ///
    /// By Newton's steps from `start`, at first no longer than a standard deviation; by bisection where they leave what is known
    /// or do not settle. A law that is almost concentrated next to `k`, at an end of its support, is good enough.
    fn saddle(&self, k: i64, start: f64) -> f64 {
        let farthest = (self.reach() * (1.0 - 1.0 / 64.0)).min(FARTHEST);
        let (mut low, mut high) = (-farthest, farthest);
        let (mut c, mut longest) = (start.clamp(low, high), None);
        for attempt in 1..MAX_NEWTON_STEPS {
            let (mean, variance) = self.moments(c);
            let (gap, deviation) = (k as f64 - mean, variance.sqrt());
            let step = gap / variance;
            let narrow = 0.1 / deviation.max(1.0);
            if step.abs() < narrow || high - low < narrow || (variance < CONCENTRATED && gap.abs() < 0.5) {
                break;
            }
            if gap > 0.0 {
                low = c;
            } else {
                high = c;
            }
            let most = longest.map_or((1.0 / deviation).min(4.0), |longest| 4.0 * longest);
            let next = c + step.clamp(-most, most);
            let settling = attempt % 4 > 0 || low <= -farthest || high >= farthest;
            c = if settling && low < next && next < high { next } else { f64::midpoint(low, high) };
            longest = Some(most);
        }
        rounded(c)
    }

    /// The finite Fourier sum.
    fn invert(&self, k: i64, c: f64, event: Event, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let (contour, aliases) = self.contour((k, k), c, event)?;
        let sum = contour.sum(k, event, interrupt)?;
        Ok(contour.peak(k) * sum.plus_at_most(aliases))
    }

    /// With more and more points until the aliases do not matter for any integer from the first to the last; and a bound
    /// of the aliases of each, relative to its [`Contour::peak`].
    fn contour(&self, ends: (i64, i64), c: f64, event: Event) -> Result<(Contour<'_, 'a>, Ball), Error> {
        let tilt = exact(c);
        let level = self.cumulant(Complex::real(tilt)).re;
        let variance = self.moments(c).1;
        let largest = if event == Event::Equal { Ball::ONE } else { weight(tilt).re };
        let mut points = (POINTS * variance.sqrt()).ceil() + 9.0;
        while points < MAX_POINTS {
            let aliases = Aliases { law: self, ends, c, level, points, event }.bound(variance);
            if aliases.certainly_less(largest * power(NEGLIGIBLE)) {
                let points = 2 * (points / 2.0) as u64 + 1;
                let spread = self.parts.iter().map(|part| (part.copies(), part.spread(tilt))).collect();
                return Ok((Contour { law: self, tilt, level, points, spread }, aliases));
            }
            points *= 2.0;
        }
        let (first, last) = ends;
        Err(Error::precision(format!(
            "the probabilities of this law from {first} to {last} cannot be enclosed by inversion"
        )))
    }
}

/// What the finite Fourier sums for the integers between two ends count besides what is wanted, relative to
/// `e^{K(c) − kc}`.
struct Aliases<'a, 'b> {
    law: &'b LatticeSum<'a>,
    ends: (i64, i64),
    c: f64,
    /// `K(c)`.
    level: Ball,
    points: f64,
    event: Event,
}

impl Aliases<'_, '_> {
    /// The bound of both kinds of aliases. What lies beyond the support is not there.
    ///
    /// `e^{−k(t−c)}` is largest at the first integer for the aliases above, `t > c`, and at the last one for those below.
    fn bound(&self, variance: f64) -> Ball {
        let (first, last) = self.ends;
        let (bottom, top) = self.law.support();
        let beyond = |end: Option<i64>, k: i64| end.is_some_and(|end| end.abs_diff(k) < self.points as u64);
        let variance = variance.max(f64::MIN_POSITIVE);
        let sides =
            [(1.0, first, beyond(top, first)), (-1.0, last, beyond(bottom, last))].map(|(side, k, empty)| {
                // Tails on the far side of the mean tend to one, and only their factor e^{−|c|mM} falls.
                let certain =
                    matches!((self.event, side > 0.0), (Event::AtLeast, false) | (Event::AtMost, true));
                if empty && !certain {
                    return Ball::ZERO;
                }
                let steps = [1.0, 0.5, 0.25, 0.125, 1.0 / 32.0].map(|part| part * self.points / variance);
                let farthest = if certain {
                    self.c.abs()
                } else {
                    self.law.reach() * (1.0 - 1.0 / 128.0) - (side * self.c)
                };
                let bounds = steps
                    .into_iter()
                    .chain([1.0, 0.25])
                    .map(|step| self.chernoff(k, exact(side * step.min(farthest))));
                bounds.reduce(Ball::min).unwrap_or(Ball::WHOLE)
            });
        let [above, below] = sides;
        above + below
    }

    /// `e^{K(t) − K(c) − k(t−c)} ρ/(1−ρ)` at `t = c + step`.
    fn chernoff(&self, k: i64, step: Ball) -> Ball {
        let ratio = (-(step.max(-step) * exact(self.points))).exp();
        let geometric = ratio / (Ball::ONE - ratio);
        if !geometric.is_positive() {
            return Ball::WHOLE;
        }
        let cumulant = self.law.cumulant(Complex::real(exact(self.c) + step)).re;
        (cumulant - self.level - Ball::from_i64(k) * step).exp() * geometric
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

/// The points `w_j` of one finite Fourier sum.
struct Contour<'b, 'a> {
    law: &'b LatticeSum<'a>,
    tilt: Ball,
    /// `K(c)`.
    level: Ball,
    points: u64,
    spread: Vec<(f64, Vec<(u64, f64)>)>,
}

impl Contour<'_, '_> {
    /// `e^{K(c) − kc}`: sums are taken relative to it.
    fn peak(&self, k: i64) -> Ball {
        (self.level - Ball::from_i64(k) * self.tilt).exp()
    }

    /// `(1/M) (term_0 + 2 Σ_{0<j<M/2} Re term_j)`.
    fn sum(&self, k: i64, event: Event, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let two = Ball::from_u64(2);
        let largest = event.factor(Complex::real(self.tilt)).re;
        let (nodes, mut rest) = self.relevant(interrupt)?;
        let mut sum = largest;
        for j in nodes {
            interrupt.check()?;
            let term = (self.value(j, k) * event.factor(self.node(j))).re;
            if term.to_enclosure().width().is_finite() {
                sum = sum + two * term;
            } else {
                rest = rest.plus_at_most(self.most(j, j));
            }
        }
        Ok((sum + two * largest * rest) / Ball::from_u64(self.points))
    }

    /// The `j > 0` that matter, and a bound of what the others add up to.
    fn relevant(&self, interrupt: &dyn Interrupt) -> Result<(Vec<u64>, Ball), Error> {
        let (mut nodes, mut rest) = (Vec::new(), Ball::ZERO);
        let mut ranges = vec![(1, self.points / 2)];
        while let Some((first, last)) = ranges.pop() {
            if first > last {
                continue;
            }
            interrupt.check()?;
            let count = (last - first + 1) as f64;
            if self.decay(first, last) > NEGLIGIBLE as f64 + approximate::log2(count) {
                rest = rest.plus_at_most(exact(count) * self.most(first, last));
            } else if first < last {
                let middle = first.midpoint(last);
                ranges.extend([(middle + 1, last), (first, middle)]);
            } else {
                nodes.push(first);
            }
        }
        Ok((nodes, rest))
    }

    fn angle(&self, j: u64) -> Ball {
        Ball::from_u64(2 * j) * pi() / Ball::from_u64(self.points)
    }

    /// `w_j`.
    fn node(&self, j: u64) -> Complex {
        Complex { re: self.tilt, im: self.angle(j) }
    }

    /// `e^{K(w_j) − K(c) − ikθ_j}`.
    fn value(&self, j: u64, k: i64) -> Complex {
        let w = self.node(j);
        let (exponent, factor) = self.law.transform(w);
        let turned = Complex { re: self.level, im: Ball::from_i64(k) * w.im };
        (exponent - turned).exp() * factor
    }

    /// A bound of the sizes of the values from `first` to `last`.
    fn most(&self, first: u64, last: u64) -> Ball {
        power(self.decay(first, last).min(1e9) as i64)
    }

    /// Bits that every value from `first` to `last` certainly lies below one.
    ///
    /// Of `n` copies `−ln|e^{K(c+iθ) − K(c)}| = −(n/2) ln(1 − y)`, with `x = ny/2 = 2 Σ_d C_d sin²(dθ/2)`. That is `x` at least, and with it
    /// the first terms of `x (1 + y/2 + y²/3 + …)`, none negative: far more, where a value far from `c` is next to zero.
    fn decay(&self, first: u64, last: u64) -> f64 {
        let step = std::f64::consts::PI / self.points as f64;
        let (low, high) = (first as f64 * step, last as f64 * step);
        let square = |d: u64| least_square_of_sine(d as f64, low, high);
        let exponent = |(copies, pairs): &(f64, Vec<(u64, f64)>)| {
            let x: f64 = pairs.iter().map(|&(d, strength)| 2.0 * strength * square(d)).sum();
            let y = (2.0 * x / copies).min(1.0);
            x * (1..=TERMS).rev().fold(0.0, |sum, k| sum * y + 1.0 / f64::from(k))
        };
        // 1/ln 2 > 1.442: the difference covers the roundings of a sum of 2^39 terms, and 64 times those of y.
        (self.spread.iter().map(exponent).sum::<f64>() * 1.442).floor()
    }
}

/// Terms of the logarithm of one copy.
const TERMS: u32 = 64;

/// A lower bound of `sin²(dx)` for all `x` between two numbers of at most `π/2`.
///
/// `|sin|` is concave between two zeros, so it is least at an end; and `sin y ≥ y − y³/6 + y⁵/120 − y⁷/5040`, a series whose terms
/// alternate and fall, for the distance `y ≤ π/2` from the nearest zero. The roundings of `dx` and of its remainder err by less than `2^-48 (dx + 1)`, which is taken off.
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
    let z = y * y;
    let sine = if y > 0.0 { y * (1.0 - z / 6.0 * (1.0 - z / 20.0 * (1.0 - z / 42.0))) } else { 0.0 };
    sine * sine * (1.0 - SLACK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Uninterrupted;
    use crate::laws::binomial_probability;
    use crate::numbers::rational::Rational;
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

    /// `100 · ¼ · 3` and `100 · ¼ · ¾ · 3²`.
    #[test]
    fn the_moments_of_a_weighted_group_guide_the_search() {
        let group = BinomialGroup { count: 100, at: Probability::new(&rational("1/4")).unwrap(), weight: 3 };
        let (mean, variance) = group.moments(Ball::ZERO);
        assert!((mean - 75.0).abs() < 1e-9 && (variance - 168.75).abs() < 1e-9, "{mean} {variance}");
    }

    fn parts() -> Vec<(&'static str, Box<dyn Lattice>)> {
        let repeated = |first, masses: &[&str], count| Repeated {
            first,
            masses: masses.iter().map(|mass| ball(mass)).collect(),
            count,
        };
        let trials = (1..80).map(|i| ball(&format!("{i}/97"))).chain([ball("1e-60")]);
        vec![
            ("small group", Box::new(group(9, "1/3", 1))),
            ("likely group", Box::new(group(700, "0.8", 1))),
            ("weighted group", Box::new(group(50, "1/2", 3))),
            ("large group", Box::new(group(1 << 45, "1e-3", 2))),
            ("few values", Box::new(repeated(-2, &["0.1", "0", "0.6", "0.3"], 40))),
            ("rare value", Box::new(repeated(3, &["0", "0.999999", "0", "1e-6"], 100_000))),
            ("noise", Box::new(TwoSidedGeometric { alpha: ball("0.9") })),
            ("trials", Box::new(Trials::new(&trials.map(|p| (p, Ball::ONE - p)).collect::<Vec<_>>()))),
        ]
    }

    /// The characteristic function lies below the bound by the sines; the ends are where there is mass, and no mass is outside.
    #[test]
    fn variables_are_bounded_as_they_say() {
        for (name, part) in parts() {
            for c in ["0", "0.04", "-0.06"].map(ball) {
                let at = |angle: f64| part.transform(Complex { re: c, im: exact(angle) });
                let size = |(exponent, factor): (Complex, Complex)| {
                    exponent.re + (factor.re * factor.re + factor.im * factor.im).ln() / Ball::from_u64(2)
                };
                let level = size(at(0.0));
                for step in 1..40 {
                    let angle = f64::from(step) * std::f64::consts::PI / 40.0;
                    let exponents = part.spread(c).into_iter().map(|(d, strength)| {
                        let share = (angle * d as f64 / 2.0).sin();
                        strength * share * share
                    });
                    let bound = 2.0 * exponents.sum::<f64>();
                    if bound < 30.0 {
                        let found = (size(at(angle)) - level).to_enclosure();
                        assert!(
                            found.upper() <= -bound * (1.0 - 1e-9) + 1e-9,
                            "{name} {angle}: {found:?} {bound}"
                        );
                    }
                }
                // K' is the mean and K'' the variance: their difference quotients.
                let (mean, variance) = part.moments(c);
                let step = 1e-4 / variance.sqrt().max(1.0);
                let beside = |side: f64| part.cumulant(Complex::real(c + exact(side * step))).re;
                let (up, middle, down) = (beside(1.0), beside(0.0), beside(-1.0));
                let slope = about(up - down) / (2.0 * step);
                let bend = about(up + down - middle - middle) / (step * step);
                assert!((slope - mean).abs() <= 1e-6 * (mean.abs() + variance), "{name}: {slope} {mean}");
                assert!((bend - variance).abs() <= 1e-5 * variance, "{name}: {bend} {variance}");
            }
        }
        let ends = |name: &str| parts().into_iter().find(|part| part.0 == name).unwrap().1.support();
        assert_eq!(ends("weighted group"), (Some(0), Some(150)));
        assert_eq!(ends("few values"), (Some(-80), Some(40)));
        assert_eq!(ends("rare value"), (Some(400_000), Some(600_000)));
        assert_eq!((ends("noise"), ends("trials")), ((None, None), (Some(0), Some(80))));
    }

    /// Sixty equally likely values, a hundred times: `|sin(30θ)/(60 sin(θ/2))|^100`. The bound `e^{−ny/2}` never falls below `2^-73`.
    #[test]
    fn values_that_are_next_to_zero_are_known_to_be() {
        let law = Repeated { first: 0, masses: vec![ball("1/60"); 60], count: 100 };
        let sum = LatticeSum::new(vec![&law]);
        let (contour, _) = sum.contour((2950, 2950), 0.0, Event::Equal).unwrap();
        for j in 1..=contour.points / 2 {
            let (exponent, _) = sum.transform(contour.node(j));
            let truth = (contour.level - exponent.re).to_enclosure();
            let bits = contour.decay(j, j);
            assert!(bits <= truth.upper() / std::f64::consts::LN_2, "{j}: {bits} {truth:?}");
            // Up to 130 bits, more than are asked for, little is missed: what the sines and the other terms of the logarithm lack.
            let near = (truth.lower() / std::f64::consts::LN_2).min(130.0);
            assert!(bits >= 0.82 * near - 2.0, "{j}: {bits} {near}");
        }
        let (nodes, _) = contour.relevant(&Uninterrupted).unwrap();
        assert!(nodes.len() < 60, "{} of {}", nodes.len(), contour.points);
    }

    /// Of geometric noise `Σ_{m≥1} P[X = k + mM] e^{cmM}` is a geometric series; next to the end of what is finite Chernoff's bound has to stay
    /// this side of it.
    #[test]
    fn aliases_of_noise_far_out_are_below_their_bound() {
        let noise = TwoSidedGeometric { alpha: ball("0.4") };
        let law = LatticeSum::new(vec![&noise]);
        for (k, points) in [(20, 101), (2000, 101), (2000, 11)] {
            let c = law.saddle(k, 0.0);
            let level = law.cumulant(Complex::real(exact(c))).re;
            let ratio = (noise.alpha * exact(c).exp()).powi(points);
            let mass = ball("0.6") / ball("1.4") * noise.alpha.powi(k.unsigned_abs());
            let truth = mass * (exact(c) * Ball::from_i64(k) - level).exp() * ratio / (Ball::ONE - ratio);
            let points = points as f64;
            let aliases = Aliases { law: &law, ends: (k, k), c, level, points, event: Event::Equal };
            let bound = aliases.bound(law.moments(c).1);
            assert!(!bound.certainly_less(truth), "{k} {points}: {bound:?} {truth:?}");
        }
    }
}
