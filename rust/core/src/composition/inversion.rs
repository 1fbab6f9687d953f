//! `E[S_+]` for a sum of independent variables, by inversion of its transform.
//!
//! Let `U` be independent of `S`, the sum of `r` uniform variables on `[−a, a]`, and `D(a) = E[(S + U)_+]`. Its transform has the factor
//! `(sinh(aw)/(aw))^r`, so that for any `c > 0`, `M > 0` and `w_j = c + 2πij/M`
//!
//! ```text
//! (1/M) Σ_j e^{K(w_j)} (sinh(aw_j)/(aw_j))^r / w_j²  =  Σ_m e^{−cmM} E[(S + U + mM)_+]        (m over all integers)
//! ```
//!
//! by Poisson's formula, the sum over `j` converging like `Σ j^{−r−2}`, whatever the law of `S`. Of the right-hand side `m = 0` is wanted.
//!
//! * `m < 0`: with `x_+ ≤ e^{tx}/(et)` for `t > c` at most `e^{K(t) + t²h²/2}/(et) · ρ/(1−ρ)`, `ρ = e^{−(t−c)M}`, where `|U| ≤ h = ra` (Hoeffding's lemma).
//! * `m > 0`: `x_+ = x + x_−`. The sum of the first is `E[S] ρ/(1−ρ) + M ρ/(1−ρ)²` with `ρ = e^{−cM}`, that of the second at most
//!   `e^{K(−s) + s²h²/2}/(es) · ρ/(1−ρ)` with `ρ = e^{−(c+s)M}`, for any `s > 0`.
//! * `|j| > J`: `|sinh(a(c+iθ))| ≤ cosh(ac)`, so at most `e^{K(c)} (cosh(ac)/a)^r θ_J^{−r−1}/(π(r+1))`.
//!
//! **From `D` to `E[S_+]`.** By Jensen's inequality `E[S_+] ≤ D(a)`. The excess `E[(x+U)_+] − x_+ = E[(U − |x|)_+] =: a e(x/a)` falls with `|x|`, hence
//! `2a e(x/2a) − a e(x/a) ≥ a e(x/a)`: doubling `a` adds at least as much again as `a` added. So
//!
//! ```text
//! 2 D(a) − D(2a) ≤ E[S_+] ≤ D(a),
//! ```
//!
//! and both ends are off by `O(a²)` where S has something like a density.

use super::sum::{Sum, Summand, about};
use crate::budget::{
    MAX_PERIODS, MAX_REFINEMENTS, MAX_TERMS_AT_ONCE, MAX_TERMS_OF_A_COMPOSITION, MAX_TERMS_OF_A_REFINEMENT,
};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::numbers::approximate;
use crate::numbers::ball::Ball;
use crate::numbers::complex::Complex;
use crate::numbers::complex_ball::{ComplexBall, ROUNDING};
use crate::numbers::double_double::DoubleDouble;
use crate::numbers::special::trigonometric::{pi, sin_cos};
use std::thread;

/// Number of uniform variables that are added, a power of two.
const ORDER: u32 = 16;
/// Nodes that are evaluated together.
pub(super) const BLOCK: usize = 128;
/// Independent recurrences that run side by side.
const LANES: usize = 8;
/// A bound of what underflow loses in one operation.
const LEAST: f64 = 1e-290;
/// Terms certainly below this part of the largest one count as zero: `2^-64`.
pub(super) const NEGLIGIBLE: f64 = 1.0 / ((1u128 << 64) as f64);
/// Maximum number of equal summands whose transform is raised to a power in doubles.
const FEW: u64 = 1 << 12;
/// Relative widths; the first affordable one is used.
const GOALS: [f64; 4] = [1e-9, 1e-8, 1e-7, 1e-6];
/// Maximum width of an accepted enclosure, as a multiple of the width aimed at.
const AS_AIMED_AT: f64 = 4.0;
/// The factor by which the width aimed at is lowered where the outcome is wider than wanted.
const FINER: f64 = 100.0;
/// A contour with aliases that are not subtracted has a period `M` with `cM` at least this, where they are below `10^-9`.
const MIN_DECAY: f64 = 24.0;
/// Number of arguments that are tried for a bound, each half of the one before.
const HALVINGS: u32 = 16;
/// Blocks between two polls of the interrupt, the same on every machine.
const BLOCKS_PER_CHECK: usize = 256;

fn exact(x: f64) -> Ball {
    Ball::from_double_double(DoubleDouble::from_f64(x), 0.0)
}

/// The accuracy to which `E[S_+]` is computed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Goal {
    /// From zero to a bound.
    Bound,
    /// As narrow as the work is worth.
    Narrow,
    /// To about this relative width, once.
    About(f64),
    /// To about the first relative width, and at most the second if the work is worth it.
    Within {
        /// Where the law has something like a density.
        usually: f64,
        /// Elsewhere.
        at_most: f64,
    },
}

/// `E[S_+]`.
///
/// # Errors
/// [`Error::Interrupted`].
pub(super) fn positive_part(sum: &Sum, goal: Goal, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
    let Some([most, least]) = sum.ends() else { return Ok(Ball::ZERO) };
    if most.is_not_positive() {
        return Ok(Ball::ZERO);
    }
    let never_negative = |least: Ball| (-least).is_not_positive();
    if never_negative(least) {
        return Ok(sum.first_moment());
    }
    let sum = sum.without_hopeless_values(most);
    if sum.ends().is_some_and(|[_, least]| never_negative(least)) {
        return Ok(sum.first_moment());
    }
    let sum = sum.without_constants();
    if sum.summands.is_empty() {
        return Ok(sum.constant.max(Ball::ZERO));
    }
    let saddle = Saddle::of(&sum);
    let at = |width: f64| Contour::new(&sum, saddle, width);
    let affordable = |width: &f64| at(*width).terms() <= MAX_TERMS_OF_A_REFINEMENT;
    let bounded = Ball::ZERO.hull(sum.bound_by_moment(exact(saddle.c)));
    let (start, wanted) = match goal {
        Goal::Bound => return Ok(bounded),
        Goal::About(width) => (width, f64::INFINITY),
        Goal::Within { usually, at_most } => (usually, at_most),
        Goal::Narrow => {
            let at_once = |width: &f64| at(*width).terms() <= MAX_TERMS_AT_ONCE;
            let [finest @ .., coarsest] = GOALS;
            let width = finest.into_iter().find(at_once).or_else(|| GOALS.into_iter().find(affordable));
            let width = width.unwrap_or(coarsest);
            (width, AS_AIMED_AT * width)
        }
    };
    // Where much of the law lies on a point next to zero, the width falls with the smoothing and not with its square.
    let finer = std::iter::successors(Some(start / FINER), |width| Some(width / FINER));
    let mut found = at(start).evaluate(interrupt)?;
    for width in finer.take_while(affordable).take(MAX_REFINEMENTS) {
        if found.relative_error() <= wanted {
            break;
        }
        found = at(width).evaluate(interrupt)?;
    }
    // A bound remains where transforms cannot be inverted.
    let wide = found.to_enclosure().width() > bounded.to_enclosure().width();
    Ok(if wide { bounded } else { found })
}

impl Sum {
    /// `E[S_+] ≤ e^{K(t)}/(et)` for every `t > 0`, as `x ≤ e^{tx}/(et)`.
    fn bound_by_moment(&self, t: Ball) -> Ball {
        (self.log_moment(t) - Ball::ONE).exp() / t
    }

    /// The same sum with variables of one value in its constant.
    fn without_constants(&self) -> Self {
        let mut rest = Self { constant: self.constant, summands: Vec::new() };
        for summand in &self.summands {
            match summand.atoms.as_slice() {
                [only] if (only.mass - Ball::ONE).is_exact_zero() => {
                    rest.constant = rest.constant + only.value * Ball::from_u64(summand.count);
                }
                _ => rest.summands.push(summand.clone()),
            }
        }
        rest
    }
}

/// The approximate place and width of the integrand.
#[derive(Clone, Copy, Debug)]
struct Saddle {
    c: f64,
    deviation: f64,
    /// About `E[S_+] e^{−K(c)}`.
    relative: f64,
}

impl Saddle {
    fn of(sum: &Sum) -> Self {
        let rough = sum.roughly();
        let c = rough.saddle();
        let deviation = rough.cumulants(c)[2].sqrt();
        let curvature = (deviation * deviation + 2.0 / (c * c)) * std::f64::consts::TAU;
        Self { c, deviation, relative: 1.0 / (c * c * curvature.sqrt()) }
    }
}

/// Where the transform is evaluated.
#[derive(Debug)]
pub(super) struct Contour<'a> {
    sum: &'a Sum,
    saddle: Saddle,
    /// `a`, of the narrower of the two smoothings.
    half_width: f64,
    /// `M`.
    period: f64,
    width: f64,
}

impl<'a> Contour<'a> {
    /// `3 (E[U²]/2) f/E[S_+]` with `f/E[S_+]` about `c²` and `E[U²] = r a²/3`.
    fn new(sum: &'a Sum, saddle: Saddle, width: f64) -> Self {
        let half_width = (2.0 * width / f64::from(ORDER)).sqrt() / saddle.c;
        let period = 6.0 / saddle.c + 11.0 * saddle.deviation + 4.0 * f64::from(ORDER) * half_width;
        Self { sum, saddle, half_width, period, width }
    }

    /// A contour around a sum that serves sums like it as well: any contour is right for every sum, and all aliases are positive, so that `D(a)` is at most the
    /// sum over the nodes. Nothing where no period makes the aliases of this sum small.
    pub(super) fn shared(sum: &'a Sum, width: f64) -> Option<Self> {
        let saddle = Saddle::of(sum);
        let contour = Self::new(sum, saddle, width);
        let period = contour.period.max(MIN_DECAY / saddle.c);
        let scale = sum.log_moment(exact(saddle.c)).exp();
        Self { period, ..contour }.settled(scale).map(|(contour, _)| contour)
    }

    /// `c`.
    pub(super) fn tilt(&self) -> Ball {
        exact(self.saddle.c)
    }

    /// `M`.
    pub(super) fn period(&self) -> Ball {
        exact(self.period)
    }

    /// What the terms beyond the last node can be, of `D(a)` and times `M`, over `e^{K(c)}`.
    pub(super) fn rest_of_narrower(&self, last: usize) -> Ball {
        self.rest(last, self.half_width)
    }

    /// `2 (sinh(aw)/(aw))^r/w²` at nodes, half of it at the first: what the transforms are multiplied by.
    pub(super) fn weights(&self, first: usize, nodes: usize) -> Vec<ComplexBall> {
        let smoothing = Smoothing::new(self, Ball::from_u64(2) * pi() / exact(self.period));
        let weight = |node| {
            let [narrow, _] = smoothing.weights(node, self);
            narrow.scaled(if node == 0 { 1.0 } else { 2.0 })
        };
        (first..first + nodes).map(weight).collect()
    }

    /// At least twice all weights, for `a` and for `2a`: `|sinh(aw)/(aw)| ≤ cosh(ac) ≤ e^{ac}`, and `|w| ≥ c`.
    pub(super) fn most_weight(&self) -> Ball {
        let (a, c) = (exact(self.half_width), exact(self.saddle.c));
        Ball::from_u64(2) * (Ball::from_u64(2 * u64::from(ORDER)) * a * c).exp() / (c * c)
    }

    /// `J`: the rest is a tenth of the width. Both smoothings have to reach it, the narrower one does so last.
    pub(super) fn last_node(&self) -> f64 {
        let order = f64::from(ORDER);
        let share = 0.1 * self.width * self.saddle.relative * std::f64::consts::PI * (order + 1.0);
        let logarithm = -(approximate::ln(share) + order * approximate::ln(self.half_width)) / (order + 1.0);
        (approximate::exp(logarithm) * self.period / std::f64::consts::TAU).ceil().max(1.0)
    }

    /// The approximate number of terms: at least one for each node of a sum with summands.
    fn terms(&self) -> f64 {
        let atoms: Vec<f64> = self.sum.summands.iter().map(|summand| summand.atoms.len() as f64).collect();
        let all: f64 = atoms.iter().sum();
        // As a rule a block has died out after some thirty summands.
        let some = 32.0 * all / atoms.len().max(1) as f64;
        self.last_node() * all.min(some)
    }

    fn evaluate(self, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        interrupt.check()?;
        let tilted = Tilted::new(self.sum, exact(self.saddle.c));
        match self.settled(tilted.scale) {
            Some((contour, aliases)) => contour.with_period(&tilted, &aliases, interrupt),
            None => Ok(Ball::WHOLE),
        }
    }

    /// With a period for which the bounded aliases are a tenth of the width at most, if there is one; `scale` is `e^{K(c)}`.
    fn settled(mut self, scale: Ball) -> Option<(Self, Aliases)> {
        let wanted = about(scale * exact(self.saddle.relative * self.width));
        for _ in 0..MAX_PERIODS {
            let aliases = self.aliases();
            if about(aliases.bound) <= 0.1 * wanted {
                return Some((self, aliases));
            }
            self.period *= 1.25;
        }
        None
    }

    fn with_period(
        &self,
        tilted: &Tilted,
        aliases: &Aliases,
        interrupt: &dyn Interrupt,
    ) -> Result<Ball, Error> {
        let last = self.last_node();
        if self.terms() > MAX_TERMS_OF_A_COMPOSITION {
            return Err(Error::precision("this composition needs more terms than are taken on"));
        }
        let last = last as usize;
        let [narrow, wide] = self.node_sums(tilted, last, interrupt)?;
        let smoothed = |nodes: Ball, half_width: f64| {
            let sum = (nodes + around_zero(self.rest(last, half_width))) / exact(self.period);
            let both = sum * tilted.scale - aliases.pole;
            // Aliases are positive.
            both - aliases.bound / Ball::from_u64(2) + around_zero(aliases.bound / Ball::from_u64(2))
        };
        let (upper, coarser) = (smoothed(narrow, self.half_width), smoothed(wide, 2.0 * self.half_width));
        let lower = upper + upper - coarser;
        Ok(upper.hull(lower).max(Ball::ZERO))
    }

    /// `M` times the bound of the terms beyond the last node.
    fn rest(&self, last: usize, half_width: f64) -> Ball {
        let (a, order) = (exact(half_width), u64::from(ORDER));
        let angle = Ball::from_u64(2) * pi() * Ball::from_u64(last as u64) / exact(self.period);
        let reach = (a * exact(self.saddle.c)).exp(); // cosh x ≤ e^|x|
        let decay = (reach / (a * angle)).powi(order) / angle;
        exact(self.period) * decay / (pi() * Ball::from_u64(order + 1))
    }

    /// The terms `m ≠ 0`, for the wider smoothing, which bounds those of the narrower.
    fn aliases(&self) -> Aliases {
        let Saddle { c, deviation, .. } = self.saddle;
        let (period, tilt) = (exact(self.period), exact(c));
        let reach = exact(2.0 * f64::from(ORDER) * self.half_width);
        let beyond = |t: Ball, at: Ball| {
            let ratio = (-(t * period)).exp();
            let half = at * reach;
            let height = self.sum.log_moment(at) + half * half / Ball::from_u64(2);
            height.exp() / (Ball::ONE.exp() * at.max(-at)) * ratio / (Ball::ONE - ratio)
        };
        // Every t > c and every s > 0 is right: those for which the exponent is about least.
        let step = (10.0 / deviation).min(20.0 * c);
        let least = |most: f64, exponent: &dyn Fn(f64) -> f64| {
            let tried = (0..HALVINGS).map(|k| most / f64::from(1u32 << k));
            tried.min_by(|a, b| exponent(*a).total_cmp(&exponent(*b))).unwrap_or(most)
        };
        let rough = self.sum.roughly();
        let exponent = |at: f64, by: f64| rough.cumulants(at)[0] - by * self.period;
        let above = exact(c + least(step, &|t| exponent(c + t, t)));
        let below =
            exact(least(if c > 0.9 * step { 1.0 / deviation } else { step - c }, &|s| exponent(-s, c + s)));
        let ratio = (-(tilt * period)).exp();
        let left = Ball::ONE - ratio;
        Aliases {
            pole: self.sum.first_moment() * ratio / left + self.sum.mass() * period * ratio / (left * left),
            bound: beyond(above - tilt, above) + beyond(tilt + below, -below),
        }
    }

    /// `Σ_{|j| ≤ J}` of the terms, over `e^{K(c)}`, for `a` and for `2a`: blocks of nodes on all processors.
    fn node_sums(&self, tilted: &Tilted, last: usize, interrupt: &dyn Interrupt) -> Result<[Ball; 2], Error> {
        let blocks: Vec<usize> = (0..=last / BLOCK).collect();
        let steps = Steps::new(tilted, self);
        let workers =
            if blocks.len() < 8 { 1 } else { thread::available_parallelism().map_or(1, usize::from).min(8) };
        let mut sums = [Ball::ZERO; 2];
        for round in blocks.chunks(BLOCKS_PER_CHECK) {
            interrupt.check()?;
            let share = round.len().div_ceil(workers);
            let parts: Vec<Vec<[Ball; 2]>> = thread::scope(|scope| {
                let work =
                    |mine: &[usize]| mine.iter().map(|&block| steps.block(block, last)).collect::<Vec<_>>();
                let mut shares = round.chunks(share);
                let own = shares.next().unwrap_or_default();
                let others: Vec<_> = shares.map(|mine| scope.spawn(move || work(mine))).collect();
                let mut parts = vec![work(own)];
                // A worker that panics gives no result.
                parts
                    .extend(others.into_iter().map(|worker| worker.join().unwrap_or(vec![[Ball::WHOLE; 2]])));
                parts
            });
            // In the order of the blocks, so that the last bits do not depend on the number of processors.
            sums = parts.into_iter().flatten().fold(sums, added);
        }
        Ok(sums)
    }
}

fn added([a, b]: [Ball; 2], [c, d]: [Ball; 2]) -> [Ball; 2] {
    [a + c, b + d]
}

fn around_zero(x: Ball) -> Ball {
    Ball::ZERO.plus_at_most(x)
}

/// The terms `m ≠ 0`: some in closed form, the others between zero and a bound.
#[derive(Debug)]
struct Aliases {
    pole: Ball,
    bound: Ball,
}

/// A summand after the tilt: values relative to one of them, with masses of total one.
#[derive(Debug)]
struct TiltedSummand {
    count: u64,
    /// `Σ a e^{iθd}` starts with the mass of `d = 0`.
    origin: f64,
    differences: Vec<Ball>,
    masses: Vec<f64>,
    /// The same masses, certified, where powers are large.
    certified: Vec<Ball>,
    /// What all masses together may be wrong by, those left out included.
    error: f64,
    variance: f64,
}

/// `e^{cx}` times the law of the sum, over `∫ e^{cx}`.
#[derive(Debug)]
pub(super) struct Tilted {
    /// `e^{K(c)}`.
    pub scale: Ball,
    /// What the values relative to which the summands are taken add up to.
    origin: Ball,
    summands: Vec<TiltedSummand>,
}

impl Tilted {
    pub fn new(sum: &Sum, c: Ball) -> Self {
        let mut origin = sum.constant;
        let mut summands: Vec<TiltedSummand> = Vec::new();
        for summand in &sum.summands {
            let (value, tilted) = TiltedSummand::new(summand, c);
            origin = origin + value * Ball::from_u64(summand.count);
            summands.push(tilted);
        }
        // Those first that make the product small at the least cost.
        let worth = |summand: &TiltedSummand| summand.variance / (summand.masses.len() + 1) as f64;
        summands.sort_by(|a, b| worth(b).total_cmp(&worth(a)));
        Self { scale: sum.log_moment(c).exp(), origin, summands }
    }
}

impl TiltedSummand {
    fn new(summand: &Summand, c: Ball) -> (Ball, Self) {
        let exponents: Vec<Ball> = summand.atoms.iter().map(|atom| c * atom.value + atom.mass.ln()).collect();
        let highest =
            exponents.iter().copied().max_by(|a, b| about(*a).total_cmp(&about(*b))).unwrap_or(Ball::ZERO);
        let weights: Vec<Ball> = exponents.into_iter().map(|exponent| (exponent - highest).exp()).collect();
        let total = weights.iter().fold(Ball::ZERO, |sum, &weight| sum + weight);
        let shares: Vec<Ball> = weights.into_iter().map(|weight| weight / total).collect();
        let place = shares
            .iter()
            .enumerate()
            .max_by(|a, b| about(*a.1).total_cmp(&about(*b.1)))
            .map_or(0, |(place, _)| place);
        let value = summand.atoms.get(place).map_or(Ball::ZERO, |atom| atom.value);
        let mut tilted = Self {
            count: summand.count,
            origin: 0.0,
            differences: Vec::new(),
            masses: Vec::new(),
            certified: Vec::new(),
            error: 0.0,
            variance: 0.0,
        };
        let mut first_two = (0.0, 0.0);
        for (index, (&share, atom)) in shares.iter().zip(&summand.atoms).enumerate() {
            let (mass, error) = share.to_double_with_error().unwrap_or((0.0, 1.0));
            let difference = atom.value - value;
            if index == place {
                tilted.origin = mass;
            } else if mass + error < NEGLIGIBLE / 16.0 && summand.count <= FEW {
                tilted.error += mass;
            } else {
                tilted.masses.push(mass);
                tilted.certified.push(share);
                tilted.differences.push(difference);
            }
            tilted.error += error;
            first_two.0 += mass * about(difference);
            first_two.1 += mass * about(difference) * about(difference);
        }
        tilted.error *= 1.0 + 1e-9;
        tilted.variance = summand.count as f64 * (first_two.1 - first_two.0 * first_two.0);
        (value, tilted)
    }
}

/// `z, z², z⁴, …` of a point `z = e^{iα}` on the circle.
///
/// `z` as two doubles errs by less than `1.7u`, a product of two such powers by `√5 u` more than both together. So `z^n`, multiplied in
/// any order, errs by at most `e(n) = (4n − 2.3) u`, as `e(a) + e(b) + √5u ≤ e(a + b)`; up to terms of second order, for which `n < 2^40` leaves
/// 1 %: at most [`POWER`]` · n u`. Nodes are fewer than that, as each takes a term, of [`MAX_TERMS_OF_A_COMPOSITION`].
#[derive(Debug)]
struct Powers {
    squares: Vec<(f64, f64)>,
}

/// See [`Powers`].
const POWER: f64 = 4.04;

fn product(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

impl Powers {
    /// Nothing where the angle is not known well enough.
    fn new(angle: Ball) -> Option<Self> {
        let (sine, cosine) = sin_cos(angle);
        let ((re, one), (im, other)) = (cosine.to_double_with_error()?, sine.to_double_with_error()?);
        if one + other > 1.7 * ROUNDING {
            return None;
        }
        let mut squares = vec![(re, im)];
        for _ in 0..40 {
            let last = squares.last().copied().unwrap_or((1.0, 0.0));
            squares.push(product(last, last));
        }
        Some(Self { squares })
    }

    fn of(&self, n: usize) -> (f64, f64) {
        let bits = self.squares.iter().enumerate().filter(|(bit, _)| n >> bit & 1 == 1);
        bits.fold((1.0, 0.0), |power, (_, &square)| product(power, square))
    }

    /// As a complex ball.
    fn disc(&self, n: usize) -> ComplexBall {
        let (re, im) = self.of(n);
        ComplexBall { re, im, radius: POWER * (n + 1) as f64 * ROUNDING }
    }
}

/// Everything that a block of nodes needs.
pub(super) struct Steps<'a> {
    tilted: &'a Tilted,
    contour: &'a Contour<'a>,
    /// `2π/M`.
    unit: Ball,
    /// Of the origin, and of each difference of each summand; none where the angle is not known.
    origin: Option<Powers>,
    differences: Vec<Option<Vec<Powers>>>,
    smoothing: Smoothing,
}

impl<'a> Steps<'a> {
    pub fn new(tilted: &'a Tilted, contour: &'a Contour<'a>) -> Self {
        let unit = Ball::from_u64(2) * pi() / exact(contour.period);
        let each =
            |summand: &TiltedSummand| summand.differences.iter().map(|&d| Powers::new(unit * d)).collect();
        Self {
            tilted,
            contour,
            unit,
            origin: Powers::new(unit * tilted.origin),
            differences: tilted.summands.iter().map(each).collect(),
            smoothing: Smoothing::new(contour, unit),
        }
    }

    /// At least the modulus of the transform at some nodes `j = first, …`, at most [`BLOCK`], over `e^{K(c)}`.
    pub fn moduli(&self, first: usize, nodes: usize) -> [f64; BLOCK] {
        self.moduli_with_points(first, nodes).0
    }

    /// The same, and the transforms of all summands; nothing where some of them make all moduli next to zero.
    fn moduli_with_points(&self, first: usize, nodes: usize) -> ([f64; BLOCK], Option<Vec<Option<Points>>>) {
        let mut squares = [1.0f64; BLOCK];
        let mut found = Vec::new();
        for (summand, powers) in self.tilted.summands.iter().zip(&self.differences) {
            if squares.iter().take(nodes).all(|square| *square < NEGLIGIBLE * NEGLIGIBLE) {
                break;
            }
            let points = powers.as_ref().map(|powers| Points::new(summand, powers, first));
            if let Some(points) = &points {
                multiply_by_power(&mut squares, points.squares(), summand.count);
            }
            found.push(points);
        }
        let all = found.len() == self.tilted.summands.len();
        // Rounded twice, each time by half of ε.
        (squares.map(|square| square.sqrt() * (1.0 + 2.0 * f64::EPSILON)), all.then_some(found))
    }

    /// The transform at some nodes `j = first, …`, at most [`BLOCK`], over `e^{K(c)}`: where it is next to zero, no more than that.
    pub fn products(&self, first: usize, nodes: usize) -> Vec<ComplexBall> {
        let (moduli, points) = self.moduli_with_points(first, nodes);
        let at = |(place, &radius): (usize, &f64)| {
            let bound = ComplexBall { radius, ..ComplexBall::ZERO };
            let Some(points) = points.as_ref().filter(|_| radius >= NEGLIGIBLE) else { return bound };
            let origin =
                self.origin.as_ref().map_or(ComplexBall::UNKNOWN, |origin| origin.disc(first + place));
            let factors = self.tilted.summands.iter().zip(points).map(|(summand, points)| {
                let transform = points.as_ref().map_or(ComplexBall::UNKNOWN, |points| points.disc(place));
                self.raised(summand, transform, first + place)
            });
            let product = factors.fold(origin, ComplexBall::times);
            if product.radius < radius { product } else { bound }
        };
        moduli.iter().take(nodes).enumerate().map(at).collect()
    }

    /// Terms of nodes `j = block · BLOCK, …`, for both smoothings; those of `−j` are their conjugates.
    fn block(&self, block: usize, last: usize) -> [Ball; 2] {
        let first = block * BLOCK;
        let nodes = BLOCK.min(last + 1 - first);
        let mut sums = [Ball::ZERO; 2];
        let mut neglected = 0.0;
        for (offset, product) in self.products(first, nodes).into_iter().enumerate() {
            let node = first + offset;
            if product.largest() < NEGLIGIBLE {
                neglected += product.largest();
                continue;
            }
            let weights = self.smoothing.weights(node, self.contour);
            let twice = if node == 0 { 1.0 } else { 2.0 };
            for (sum, weight) in sums.iter_mut().zip(weights) {
                *sum = *sum + product.times(weight).scaled(twice).to_complex().re;
            }
        }
        // At most BLOCK additions were rounded.
        let neglected = exact(neglected * (1.0 + 2.0 * BLOCK as f64 * f64::EPSILON));
        sums.map(|sum| sum + around_zero(neglected * self.contour.most_weight()))
    }

    /// The transform of all equal summands; no transform is above one.
    fn raised(&self, summand: &TiltedSummand, one: ComplexBall, node: usize) -> ComplexBall {
        if summand.count <= FEW {
            return one.power(summand.count);
        }
        let nothing = |radius: f64| ComplexBall { radius, ..ComplexBall::ZERO };
        let bound = modulus_power(one.largest().min(1.0), summand.count);
        if bound < NEGLIGIBLE {
            return nothing(bound);
        }
        let angle = self.unit * Ball::from_u64(node as u64);
        let zero = Complex::real(Ball::ZERO);
        let gap =
            summand.certified.iter().zip(&summand.differences).fold(zero, |sum, (&mass, &difference)| {
                sum + Complex { re: Ball::ZERO, im: angle * difference }.exp_minus_one().scale(mass)
            });
        let power = gap.ln_one_plus().scale(Ball::from_u64(summand.count)).exp();
        let found = ComplexBall::from_complex(power);
        if found.radius < bound { found } else { nothing(bound) }
    }
}

/// An upper bound of `x^n` for `0 ≤ x ≤ 1`.
pub(super) fn modulus_power(x: f64, n: u64) -> f64 {
    let up = |x: f64| x * (1.0 + 2.0 * f64::EPSILON) + LEAST;
    let (mut result, mut square, mut n) = (1.0, x, n);
    while n > 0 {
        if n & 1 == 1 {
            result = up(result * square);
        }
        square = up(square * square);
        n >>= 1;
    }
    result
}

/// `Σ a_i e^{iθ_j d_i}` at consecutive nodes.
///
/// A power errs by `4.04 n u`, the masses together by `error`, and a sum of `A` products in each part by `(A + 2) u` times the masses.
struct Points {
    re: [f64; BLOCK],
    im: [f64; BLOCK],
    first: usize,
    roundings: f64,
}

impl Points {
    fn new(summand: &TiltedSummand, powers: &[Powers], first: usize) -> Self {
        let mut re = [summand.origin; BLOCK];
        let mut im = [0.0; BLOCK];
        for (&mass, powers) in summand.masses.iter().zip(powers) {
            let mut lanes = [(0.0, 0.0); LANES];
            for (lane, z) in lanes.iter_mut().enumerate() {
                *z = powers.of(first + lane);
            }
            let step = powers.of(LANES);
            for (re, im) in re.chunks_exact_mut(LANES).zip(im.chunks_exact_mut(LANES)) {
                for ((re, im), z) in re.iter_mut().zip(im).zip(&mut lanes) {
                    *re += mass * z.0;
                    *im += mass * z.1;
                    *z = product(*z, step);
                }
            }
        }
        let roundings = (1.5 * (summand.masses.len() + 3) as f64) * ROUNDING + summand.error * (1.0 + 1e-9);
        Self { re, im, first, roundings }
    }

    fn radius(&self, place: usize) -> f64 {
        POWER * (self.first + place + LANES) as f64 * ROUNDING * 1.01 + self.roundings
    }

    fn disc(&self, place: usize) -> ComplexBall {
        match (self.re.get(place), self.im.get(place)) {
            (Some(&re), Some(&im)) => ComplexBall { re, im, radius: self.radius(place) },
            _ => ComplexBall::UNKNOWN,
        }
    }

    /// At least the squares of the moduli, which are at most one: `(|z| + r)² ≤ |z|² + 2r(1 + r) + r²`, as `|z| ≤ 1 + r`.
    fn squares(&self) -> [f64; BLOCK] {
        let radius = self.radius(BLOCK);
        let more = 2.1 * radius * (1.0 + 2.0 * radius) + 4.0 * ROUNDING;
        let mut squares = [0.0; BLOCK];
        for ((square, re), im) in squares.iter_mut().zip(&self.re).zip(&self.im) {
            *square = (re * re + im * im + more).min(1.0);
        }
        squares
    }
}

/// `products · x^n` where `0 ≤ x ≤ 1`, rounded up.
fn multiply_by_power(products: &mut [f64; BLOCK], mut x: [f64; BLOCK], mut n: u64) {
    const UP: f64 = 1.0 + 2.0 * f64::EPSILON;
    loop {
        if n & 1 == 1 {
            for (product, x) in products.iter_mut().zip(&x) {
                *product = *product * x * UP + LEAST;
            }
        }
        n >>= 1;
        if n == 0 {
            return;
        }
        for x in &mut x {
            *x = *x * *x * UP + LEAST;
        }
    }
}

/// `(sinh(aw)/(aw))^r/w²` at the nodes.
#[derive(Debug)]
struct Smoothing {
    /// `sinh(ac)` and `cosh(ac)`.
    hyperbolic: [ComplexBall; 2],
    /// `e^{iaθ}`.
    turn: Option<Powers>,
    unit: ComplexBall,
    a: ComplexBall,
}

/// `sinh(x)/x` is a series in `x²` up to here.
const NEAR: f64 = 1.0;

impl Smoothing {
    fn new(contour: &Contour<'_>, unit: Ball) -> Self {
        let (a, c) = (exact(contour.half_width), exact(contour.saddle.c));
        let (up, down) = ((a * c).exp(), (-(a * c)).exp());
        let half = |x: Ball| ComplexBall::from_complex(Complex::real(x / Ball::from_u64(2)));
        Self {
            hyperbolic: [half(up - down), half(up + down)],
            turn: Powers::new(unit * a),
            unit: ComplexBall::from_complex(Complex::real(unit)),
            a: ComplexBall::from_complex(Complex::real(a)),
        }
    }

    /// For `a` and for `2a`: `sinh(2x)/(2x) = sinh(x)/x · cosh(x)`.
    fn weights(&self, node: usize, contour: &Contour<'_>) -> [ComplexBall; 2] {
        let angle = self.unit.scaled(node as f64);
        let w = ComplexBall { re: contour.saddle.c, im: angle.re, radius: angle.radius };
        let inverse = w.reciprocal();
        let pole = inverse.times(inverse);
        let x = w.times(self.a);
        let turn = self.turn.as_ref().map_or(ComplexBall::UNKNOWN, |turn| turn.disc(node));
        let (real, imaginary) = (ComplexBall { im: 0.0, ..turn }, ComplexBall { re: 0.0, ..turn });
        let [sinh, cosh] = self.hyperbolic;
        let even = cosh.times(real).plus(sinh.times(imaginary));
        let odd = if x.largest() < NEAR {
            near_sine_quotient(x)
        } else {
            sinh.times(real).plus(cosh.times(imaginary)).times(x.reciprocal())
        };
        let power = odd.power(u64::from(ORDER)).times(pole);
        [power, power.times(even.power(u64::from(ORDER)))]
    }
}

/// `sinh(x)/x = Σ x^{2k}/(2k+1)!` for `|x| < 1`: beyond `k = 9` it is below `1.01/21! < 2^-65`.
fn near_sine_quotient(x: ComplexBall) -> ComplexBall {
    let square = x.times(x);
    let step = |sum: ComplexBall, k: u32| {
        let divided = square.times(sum).scaled(1.0 / f64::from(2 * k * (2 * k + 1)));
        // The quotient of integers was rounded.
        ComplexBall { radius: divided.radius + 2.0 * ROUNDING * divided.modulus(), ..divided }
            .plus(ComplexBall::ONE)
    };
    let sum = (1..=9).rev().fold(ComplexBall::ONE, step);
    ComplexBall { radius: sum.radius + 1.0 / ((1u128 << 65) as f64), ..sum }
}

#[cfg(test)]
mod tests {
    use super::super::enumeration;
    use super::super::sum::Atom;
    use super::*;
    use crate::interrupt::Uninterrupted;
    use proptest::prelude::*;

    /// A law from values and weights, which need not have mass one.
    fn law(values: &[(f64, f64)], mass: f64) -> Vec<Atom> {
        let total: f64 = values.iter().map(|(_, weight)| weight).sum();
        let atom =
            |&(value, weight): &(f64, f64)| Atom { value: exact(value), mass: exact(mass * weight / total) };
        values.iter().map(atom).collect()
    }

    fn laws() -> impl Strategy<Value = Vec<(u64, Vec<Atom>)>> {
        let values = prop::collection::vec((-1.0..1.0f64, 0.01..1.0f64), 2..5);
        let mass = prop_oneof![Just(1.0), 0.9..1.0f64];
        prop::collection::vec((1u64..4, (values, mass).prop_map(|(values, mass)| law(&values, mass))), 2..5)
    }

    fn sum(laws: &[(u64, Vec<Atom>)], constant: f64) -> Sum {
        let summand = |(count, atoms): &(u64, Vec<Atom>)| Summand { count: *count, atoms: atoms.clone() };
        Sum { constant: exact(constant), summands: laws.iter().map(summand).collect() }
    }

    /// `E[(shift + S)_+]` by listing all values.
    fn listed(laws: &[(u64, Vec<Atom>)], shift: Ball) -> Ball {
        let each: Vec<Vec<Atom>> =
            laws.iter().flat_map(|(count, atoms)| vec![atoms.clone(); *count as usize]).collect();
        enumeration::positive_part(shift, &each, &Uninterrupted).unwrap()
    }

    fn contains(found: Ball, truth: Ball) -> bool {
        !found.certainly_less(truth) && !truth.certainly_less(found)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn an_inversion_finds_what_listing_finds(laws in laws(), below in 0.0..0.95f64) {
            let ends = sum(&laws, 0.0).ends().map(|ends| ends.map(about)).unwrap();
            // From the middle of the law far into its tail.
            let constant = -(ends[0] * below);
            let truth = listed(&laws, exact(constant));
            let found = positive_part(&sum(&laws, constant), Goal::About(1e-4), &Uninterrupted).unwrap();
            prop_assert!(contains(found, truth), "{:?} {:?}", found.to_enclosure(), truth.to_enclosure());
            prop_assert!(contains(sum(&laws, constant).bound_by_moment(exact(0.7)).hull(Ball::ZERO), truth));
            let most = positive_part(&sum(&laws, constant), Goal::Bound, &Uninterrupted).unwrap();
            prop_assert!(contains(most, truth));
            prop_assert!(most.to_enclosure().upper() <= 40.0 * truth.to_enclosure().upper());
        }

        /// Short periods make aliases count, wide smoothings the smoothing, few nodes the rest.
        #[test]
        fn no_choice_of_the_contour_loses_the_truth(
            laws in laws(), below in 0.0..0.8f64, shorter in 0.2..1.0f64, wider in 1.0..200.0f64, digits in 0.5..4.0f64
        ) {
            let ends = sum(&laws, 0.0).ends().map(|ends| ends.map(about)).unwrap();
            let constant = -(ends[0] * below);
            let sum = sum(&laws, constant);
            let contour = Contour::new(&sum, Saddle::of(&sum), 10f64.powf(-digits));
            let contour = Contour { half_width: contour.half_width * wider, period: contour.period * shorter, ..contour };
            let tilted = Tilted::new(&sum, exact(contour.saddle.c));
            prop_assume!(contour.terms() < 1e7);
            let found = contour.with_period(&tilted, &contour.aliases(), &Uninterrupted).unwrap();
            prop_assert!(contains(found, listed(&laws, exact(constant))));
        }

    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::cases::cases(6, 24)))]

        /// `Σ_{m≠0} e^{−cmM} E[(S + mM)_+]`, term by term, lies where the closed form and the bound say.
        #[test]
        fn aliases_are_what_they_are_said_to_be(laws in laws(), shorter in 0.3..1.0f64) {
            let sum = sum(&laws, 0.0);
            let contour = Contour::new(&sum, Saddle::of(&sum), 1e-9);
            let contour = Contour { period: contour.period * shorter, ..contour };
            let aliases = contour.aliases();
            let (c, period) = (exact(contour.saddle.c), exact(contour.period));
            let terms = (-60i64..=60).filter(|m| *m != 0).map(|m| {
                let shift = period * Ball::from_i64(m);
                (-(c * shift)).exp() * listed(&laws, shift)
            });
            let truth = terms.fold(Ball::ZERO, |sum, term| sum + term);
            let slack = truth * exact(1e-9);
            prop_assert!(!(truth + slack).certainly_less(aliases.pole));
            prop_assert!(!(aliases.pole + aliases.bound).certainly_less(truth - slack));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// The terms beyond the last node, added up.
        #[test]
        fn the_rest_bounds_the_terms_that_are_left_out(laws in laws(), digits in 1.0..4.0f64) {
            let sum = sum(&laws, 0.0);
            let contour = Contour::new(&sum, Saddle::of(&sum), 10f64.powf(-digits));
            prop_assume!(contour.last_node() < 1e4);
            let last = contour.last_node() as usize;
            for (index, half_width) in [contour.half_width, 2.0 * contour.half_width].into_iter().enumerate() {
                let rest = contour.rest(last, half_width).to_enclosure();
                let unit = Ball::from_u64(2) * pi() / exact(contour.period);
                let smoothing = Smoothing::new(&contour, unit);
                let terms = (last + 1..last + 1 + 64 * (last + 1))
                    .map(|node| smoothing.weights(node, &contour)[index].modulus());
                let found = 2.0 * terms.sum::<f64>();
                prop_assert!(found <= rest.upper() + 1e-280, "{found} {rest:?}");
            }
        }

        #[test]
        fn powers_are_where_they_are_said_to_be(angle in -50.0..50.0f64, n in 0usize..(1 << 22)) {
            let powers = Powers::new(exact(angle)).unwrap();
            let disc = powers.disc(n);
            let (sine, cosine) = sin_cos(exact(angle) * Ball::from_u64(n as u64));
            let gap = |x: Ball, at: f64| about(x - exact(at)).abs();
            prop_assert!(gap(cosine, disc.re).hypot(gap(sine, disc.im)) <= disc.radius);
            prop_assert!(disc.radius <= 4.1 * (n + 1) as f64 * ROUNDING);
        }

        #[test]
        fn a_tilted_transform_is_that_of_the_tilted_law(laws in laws(), c in 0.1..3.0f64, angle in 0.001..0.5f64, first in 0usize..500) {
            let (count, atoms) = &laws[0];
            let (_, tilted) = TiltedSummand::new(&Summand { count: *count, atoms: atoms.clone() }, exact(c));
            let powers: Vec<Powers> =
                tilted.differences.iter().map(|&d| Powers::new(exact(angle) * d).unwrap()).collect();
            let points = Points::new(&tilted, &powers, first);
            let squares = points.squares();
            // Σ m e^{(c+iθ)x} / Σ m e^{cx}, turned back by the value that the others are measured from.
            let total = atoms.iter().fold(Ball::ZERO, |sum, atom| sum + atom.mass * (exact(c) * atom.value).exp());
            let origin = about(atoms.iter().max_by(|a, b| {
                let weight = |atom: &Atom| about(atom.mass) * approximate::exp(c * about(atom.value));
                weight(a).total_cmp(&weight(b))
            }).unwrap().value);
            for (offset, found) in squares.into_iter().enumerate() {
                let disc = points.disc(offset);
                let theta = exact(angle) * Ball::from_u64((first + offset) as u64);
                let truth = atoms.iter().fold(Complex::real(Ball::ZERO), |sum, atom| {
                    let share = atom.mass * (exact(c) * atom.value).exp() / total;
                    sum + Complex { re: Ball::ZERO, im: theta * (atom.value - exact(origin)) }.exp().scale(share)
                });
                let gap = about(truth.re - exact(disc.re)).hypot(about(truth.im - exact(disc.im)));
                prop_assert!(gap <= disc.radius && disc.radius <= 1e-11);
                let square = about(truth.re * truth.re + truth.im * truth.im);
                prop_assert!((0.0..1e-10).contains(&(found - square)) || found >= 1.0);
            }
        }
    }

    #[test]
    fn many_equal_summands_are_one_power() {
        // 10⁵ fair signs of size 1/1000, against the tail of a binomial: E[(S − τ)_+] with S = (2K − n)/1000.
        let n = 100_000u64;
        let law = crate::answer::Law::binomial(n, &crate::numbers::rational::Rational::parse("1/2").unwrap())
            .unwrap();
        let row = crate::answer::pmf::row(&law, Some(480), &Uninterrupted).unwrap();
        let step = Ball::ONE / Ball::from_u64(1000);
        for constant in [0.0, -0.5, -3.0] {
            let truth = (row.first..).zip(&row.masses).fold(Ball::ZERO, |sum, (k, &mass)| {
                sum + mass * (step * Ball::from_i64(2 * k - n as i64) + exact(constant)).max(Ball::ZERO)
            });
            let atoms = [step, -step].map(|value| Atom { value, mass: exact(0.5) }).to_vec();
            let sum = Sum { constant: exact(constant), summands: vec![Summand { count: n, atoms }] };
            let found = positive_part(&sum, Goal::About(1e-5), &Uninterrupted).unwrap();
            assert!(contains(found, truth), "{:?} {:?}", found.to_enclosure(), truth.to_enclosure());
            assert!(found.to_enclosure().width() <= 1e-4 * found.to_enclosure().upper());
        }
    }

    /// Of 1000 fair signs less 900 nearly all aliases lie below zero, where `x_− = x_+ − x`: the closed form of the `x` is negative, and the bound makes up for it.
    #[test]
    fn aliases_far_out_are_bounded_from_above() {
        let law =
            crate::answer::Law::binomial(1000, &crate::numbers::rational::Rational::parse("1/2").unwrap())
                .unwrap();
        let row = crate::answer::pmf::row(&law, None, &Uninterrupted).unwrap();
        let sign =
            vec![Atom { value: exact(1.0), mass: exact(0.5) }, Atom { value: exact(-1.0), mass: exact(0.5) }];
        let sum = Sum { constant: exact(-900.0), summands: vec![Summand { count: 1000, atoms: sign }] };
        let contour = Contour::new(&sum, Saddle::of(&sum), 1e-6);
        let aliases = contour.aliases();
        let (c, period) = (contour.tilt(), contour.period());
        let shifted = |shift: Ball| {
            (0i64..).zip(&row.masses).fold(Ball::ZERO, |sum, (k, &mass)| {
                sum + mass * (Ball::from_i64(2 * k - 1900) + shift).max(Ball::ZERO)
            })
        };
        let terms = (-12i64..=12).filter(|m| *m != 0).map(|m| period * Ball::from_i64(m));
        let truth = terms.fold(Ball::ZERO, |sum, shift| sum + (-(c * shift)).exp() * shifted(shift));
        assert!(aliases.pole.certainly_less(truth) && truth.certainly_less(aliases.pole + aliases.bound));
    }

    /// Powers that doubles hold exactly. Each product is enlarged by `2ε`, and a square enlarges as often as its exponent says.
    #[test]
    fn a_power_of_a_modulus_is_bounded_closely() {
        for (x, n) in [(0.5, 1u32), (0.5, 10), (0.75, 7), (1.0, 1000), (0.0, 5), (0.75, 0)] {
            let truth: f64 = (0..n).map(|_| x).product();
            let bound = modulus_power(x, u64::from(n));
            let enlarged = 1.0 + 5.0 * f64::from(n) * f64::EPSILON;
            assert!(bound >= truth && bound <= truth * enlarged + 1e-200, "{x}^{n}: {bound:e}");
        }
    }
}
