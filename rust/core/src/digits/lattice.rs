//! Sums over a binomial law by lattice inversion: a discrete Fourier sum of the tilted law, at any size.
//!
//! For `X ~ Bin(n, p)`, `0 < λ`, let `N = p + λq`, `p̂ = p/N`, `q̂ = λq/N` and `X̂ ~ Bin(n, p̂)` with probabilities `b̂`. As
//! `b(a+i) = N^n λ^{a−n} λ^i b̂(a+i)`, with the weights `w(i) = αi + β`
//!
//! ```text
//! V = Σ_{i≥0} w(i) b(a+i) = N^n λ^{a−n} ψ,     ψ = Σ_{i≥0} w(i) λ^i b̂(a+i).
//! ```
//!
//! With `ω = e^{2πi/M}`, `Φ_j = (q̂ + p̂ω^j)^n` and `G(x) = Σ_i w(i) x^i = (α + (β−α)D)/D²`, `D = 1−x`,
//!
//! ```text
//! (1/M) Σ_j Φ_j ω^{−ja} G(λω^{−j}) = Σ_m Σ_{i≥0} w(i) λ^i b̂(a+i+mM) = ψ + (terms m ≠ 0).
//! ```
//!
//! **What is left out** is bounded, with `t_± = M ± (a − np̂)`, `σ² = np̂q̂`:
//! * Bennett: `ln E e^{v(X̂−np̂)}` and `ln E e^{−v(X̂−np̂)}` are at most `σ²(e^v−1−v) ≤ σ² v²/(2(1−v/3))` for `0 ≤ v < 3`, since every
//!   summand lies within 1 of its mean. So with `L_±(v) = v t_± − σ²v²/(2(1−v/3))` the probabilities of `X̂ ≥ a+mM`, and the
//!   means of `e^{v(a−mM−X̂)}`, add up over `m ≥ 1` to at most `e^{−L}/(1−e^{−vM})`.
//! * `m ≥ 1`: at most `max_i w(i)λ^i` times that with `L_+`. The maximum is at most `1/(es) + 1`, `s = −ln λ`.
//! * `m ≤ −1`: with `d = a−mM−k`, the terms are those of `Σ_k (β−αd) λ^{−d} b̂(k)` with `d ≤ 0`. The sum over *all* `k` is known, since
//!   `Σ_k λ^k b̂(k) = λ^n/N^n` and `Σ_k k λ^k b̂(k) = np λ^n/N^n`: times `N^n λ^{a−n}` it is
//!   `(α(np−a) + β) Λ/(1−Λ) + αM Λ/(1−Λ)²`, `Λ = λ^M`. Subtract it, and what is wrong are the terms `d ≥ 1`, at most
//!   `(d+1)e^{sd} ≤ e^{vd} max_d (d+1)e^{−(v−s)d}` for a `v > s`; subtract nothing, and what is wrong are the terms `d ≤ 0`, at most
//!   `(1−d)e^{sd} ≤ e^{vd} max_i (1+i)e^{−(s−v)i}` for a `v < s`. Both maxima are at most `max(1, 1/|v−s|)`, so either is bounded by
//!   that times the sum with `L_−`.
//! * `|Φ_j| ≤ e^{−E_j}`, `E_j = 2σ² sin²(πj/M)`, as `|q̂+p̂e^{iθ}|² = 1 − 4p̂q̂ sin²(θ/2)`. The terms with `J < j ≤ (M−1)/2` are at most
//!   `G(λ)` times `(J+1)e^{−E_{J+1}} + (M/2)e^{−E_{2J+2}}`.
//!
//! **Rounding.** All factors are complex numbers of modulus at most 1 in fixed point. If `q̂ + p̂ω^j` errs by `e` units, its
//! `m`-th power errs by at most `m(e+6) − 3`: a product of powers that err by `x` and `x'` errs by at most `x + x' + √2` and terms of
//! second order, which together stay below `x + x' + 3` while `m(e+6) ≤ 2^{places/2−2}`. So it does not matter in which order
//! the power is built up.

use super::ball::Ball;
use super::complex::Complex;
use super::elementary::{ln, root_of_unity};
use super::probability::Probability;
use crate::error::Error;
use crate::interrupt::Interrupt;
use dashu_int::IBig;

/// What is summed over `i ≥ 0`.
#[derive(Clone, Debug)]
pub(crate) enum Weights {
    /// `w(0) = 1`, nothing else: a probability.
    Point,
    /// `w = 1`: a tail.
    Tail,
    /// `w(i) = i + φ`, `0 ≤ φ ≤ 1`: a stop-loss.
    StopLoss(Ball),
}

impl Weights {
    /// `α`.
    fn slope(&self) -> u64 {
        u64::from(matches!(self, Self::StopLoss(_)))
    }

    /// `β`.
    fn start(&self) -> Ball {
        match self {
            Self::StopLoss(start) => start.clone(),
            Self::Point | Self::Tail => Ball::one(),
        }
    }
}

/// More than `ln 2`, and less than `1/ln 2`.
const NATS_PER_BIT: f64 = 0.694;
const BITS_PER_NAT: f64 = 1.4425;

/// `scale · e^{−nats}`, at least. The arguments come from fewer than thirty roundings.
fn at_most(scale: f64, nats: f64) -> Ball {
    let power = -((nats * (1.0 - 1e-12)) * BITS_PER_NAT).floor();
    let top = (scale * (1.0 + 1e-12) * f64::from(1u32 << 20)).ceil();
    Ball::dyadic(IBig::from(top as u128), power as i128 - 20)
}

/// The binary exponent of a positive double: for choices, not for bounds.
fn log2(x: f64) -> f64 {
    ((x.to_bits() >> 52) as i64 - 1022) as f64
}

/// The sum `V` of the module documentation, for `1 ≤ a < n`, and for a tail or a stop-loss `a ≥ np`.
///
/// Nothing if more bits are needed.
///
/// # Errors
/// [`Error::Interrupted`].
pub(crate) fn weighted_sum(
    n: u64,
    probability: &Probability,
    a: u64,
    weights: &Weights,
    bits: usize,
    interrupt: &dyn Interrupt,
) -> Result<Option<Ball>, Error> {
    let Some(plan) = Plan::new(n, probability, a, weights, bits) else { return Ok(None) };
    let Some(sum) = plan.fourier_sum(interrupt)? else { return Ok(None) };
    Ok(plan.value(&sum))
}

/// The tilt, the number of points, and bounds of what they leave out.
struct Plan<'a> {
    n: u64,
    a: u64,
    weights: &'a Weights,
    places: usize,
    /// `λ`, exactly.
    tilt: Ball,
    /// `1 − λ`, exactly, and a lower bound of it.
    gap: Ball,
    gap_below: f64,
    p: Ball,
    /// `N`, and `p̂`.
    norm: Ball,
    tilted: Ball,
    /// `M`, odd.
    period: u64,
    /// `J`.
    points: u64,
    subtract_pole: bool,
    /// All that is left out of ψ.
    left_out: Ball,
}

/// Lower and upper bound.
type Range = (f64, f64);

/// The part of a plan that depends on doubles only.
struct Spread {
    variance: Range,
    /// `a − np̂`.
    offset: Range,
    /// `s = −ln λ`.
    rate: Range,
}

impl Spread {
    /// `σ² v²/(2(1−v/3))`, rounded up.
    fn bennett(&self, v: f64) -> f64 {
        self.variance.1 * v * v / (2.0 * (1.0 - v / 3.0)) * (1.0 + 1e-12)
    }

    /// `v` next to the one that makes `L` largest.
    fn best(&self, t: f64) -> f64 {
        t / (self.variance.1 + t / 3.0)
    }

    /// `L_+`.
    fn above(&self, period: u64) -> f64 {
        let t = period as f64 + self.offset.0;
        let v = self.best(t);
        v * t * (1.0 - 1e-12) - self.bennett(v)
    }

    /// `v`, away from `s`, and `L_−`.
    fn below(&self, period: u64, rate: Option<Range>) -> (f64, f64) {
        let t = period as f64 - self.offset.1;
        let best = self.best(t);
        let near = |v: f64| rate.is_some_and(|s| s.0 - v < 0.04 * best && v - s.1 < 0.04 * best);
        let v = if near(best) { 0.9 * best } else { best };
        (v, v * t * (1.0 - 1e-12) - self.bennett(v))
    }

    /// `E_j`, rounded down: `sin x ≥ x − x³/6`.
    fn decay(&self, j: u64, period: u64) -> f64 {
        let x = std::f64::consts::PI * j as f64 / period as f64;
        let sine = x * (1.0 - x * x / 6.0);
        2.0 * self.variance.0 * sine * sine * (1.0 - 1e-12)
    }
}

impl<'a> Plan<'a> {
    fn new(n: u64, probability: &Probability, a: u64, weights: &'a Weights, bits: usize) -> Option<Self> {
        let (hits, misses) = (a as f64, (n - a) as f64);
        let deviation = (hits * (misses / n as f64)).sqrt();
        let (p, q) = probability.at(80)?;
        let tilt = choose_tilt(&p.over(&q, 80)?, a, n - a, deviation, weights)?;
        let gap = Ball::one().minus(&tilt, 1 << 20);
        let spread = spread(n, a, &p, &q, &tilt)?;
        let gap_below = gap.to_doubles().0.max(f64::MIN_POSITIVE);
        let size = estimate(weights, &tilt, gap_below, deviation);
        let (period, points, subtract_pole, left_out) =
            choose_points(&spread, weights, gap_below, size, bits)?;
        let magnified = if matches!(weights, Weights::Point) { 1.0 } else { 1.0 / (gap_below * gap_below) };
        let guard = log2(n as f64)
            + 2.0 * log2(points as f64 + 2.0)
            + log2(magnified / size / period as f64).max(0.0);
        let places = bits + guard as usize + 16;
        let (p, q) = probability.at(places + 16)?;
        let norm = p.plus(&q.times(&tilt, places + 16), places + 16);
        let tilted = p.over(&norm, places + 16)?;
        Some(Self {
            n,
            a,
            weights,
            places,
            tilt,
            gap,
            gap_below,
            p,
            norm,
            tilted,
            period,
            points,
            subtract_pole,
            left_out,
        })
    }

    /// `Re Σ_{1≤j≤J} Φ_j ω^{−ja} G(λω^{−j})`.
    fn fourier_sum(&self, interrupt: &dyn Interrupt) -> Result<Option<Ball>, Error> {
        let places = self.places;
        let period = IBig::from(self.period);
        let (root, root_error) = root_of_unity(&IBig::ONE, &period, places);
        let (turn, turn_error) = root_of_unity(&-IBig::from(self.a), &period, places);
        let one = IBig::ONE << places;
        let tilted = self.tilted.to_fixed(places);
        let rest = &one - &tilted;
        let tilt = self.tilt.to_fixed(places);
        let start = self.weights.start().to_fixed(places);
        let slope = &one * self.weights.slope();
        let unit = Complex { re: one.clone(), im: IBig::ZERO };
        let (mut point, mut phase, mut sum) = (unit.clone(), unit, IBig::ZERO);
        for _ in 0..self.points {
            interrupt.check()?;
            point = point.times(&root, places);
            phase = phase.times(&turn, places);
            let base = Complex {
                re: &rest + ((&tilted * &point.re) >> places),
                im: (&tilted * &point.im) >> places,
            };
            let term = base.power(self.n, places).times(&phase, places);
            if let Weights::Point = self.weights {
                sum += term.re;
                continue;
            }
            let d = Complex { re: &one - ((&tilt * &point.re) >> places), im: (&tilt * &point.im) >> places };
            let turned = &start - &slope;
            let top = Complex { re: &slope + ((&turned * &d.re) >> places), im: (&turned * &d.im) >> places };
            sum += over_square(&term.times(&top, places), &d, places);
        }
        Ok(self.error(root_error, turn_error).map(|error| Ball::new(sum, error, -(places as i128), places)))
    }

    /// A bound of the error of the sum, in units; nothing if it is not small.
    ///
    /// With errors `e_ω`, `e_D ≤ e_ω + 3`, `e_Φ` of `ω^j`, `D` and `Φω^{−ja}`, and `|D| ≥ δ = 1−λ`: `|G| ≤ 2/δ²`, `|G'| ≤ 3/δ³`, `|∂G/∂β| ≤ 1/δ`, and a
    /// sixteenth more where `D` is wrong by up to `δ/16`.
    fn error(&self, root_error: u64, turn_error: u64) -> Option<u128> {
        let j = self.points as f64;
        let units = |ball: &Ball| 2.0 + ball.spread().scaled(self.places as i128).to_f64() * (1.0 + 1e-12);
        let (root, turn) = (j * (root_error as f64 + 2.0), j * (turn_error as f64 + 2.0));
        let power = self.n as f64 * (2.0 * units(&self.tilted) + root + 8.0);
        if log2(power) > self.places as f64 / 2.0 - 2.0 {
            return None;
        }
        let factor = power + turn + 3.0;
        let each = if let Weights::Point = self.weights {
            factor + 2.0
        } else {
            let (d, gap) = (root + 3.0, self.gap_below);
            if log2(d / gap) > self.places as f64 - 5.0 {
                return None;
            }
            2.5 * (factor + 6.0) / (gap * gap)
                + 4.0 * d / (gap * gap * gap)
                + 1.1 * units(&self.weights.start()) / gap
                + 2.0
        };
        Some((j * each * (1.0 + 1e-9) + 1.0).ceil() as u128)
    }

    /// `V` from the sum over `1 ≤ j ≤ J`.
    fn value(&self, sum: &Ball) -> Option<Ball> {
        let bits = self.places + 16;
        let (slope, start) = (Ball::from(self.weights.slope()), self.weights.start());
        let central = match self.weights {
            Weights::Point => Ball::one(),
            _ => slope
                .plus(&start.minus(&slope, bits).times(&self.gap, bits), bits)
                .over(&self.gap.times(&self.gap, bits), bits)?,
        };
        let whole = central.plus(&sum.scaled(1), bits).over(&Ball::from(self.period), bits)?;
        let whole = whole.widened(&self.left_out, bits);
        let prefactor = self.norm.power(self.n, bits).over(&self.tilt.power(self.n - self.a, bits), bits)?;
        let value = prefactor.times(&whole, bits);
        if !self.subtract_pole {
            return Some(value);
        }
        let power = self.tilt.power(self.period, bits);
        let rest = Ball::one().minus(&power, bits);
        let mean = self.p.times_integer(self.n, bits).minus(&Ball::from(self.a), bits);
        let first = mean.times(&slope, bits).plus(&start, bits).times(&power, bits).over(&rest, bits)?;
        let second = slope.times_integer(self.period, bits).times(&power, bits);
        let second = second.over(&rest.times(&rest, bits), bits)?;
        Some(value.minus(&first.plus(&second, bits), bits))
    }
}

/// The real part of `x/d²`, to one unit: that of `x d̄²/|d|⁴`.
fn over_square(x: &Complex, d: &Complex, places: usize) -> IBig {
    let re = &d.re * &d.re - &d.im * &d.im;
    let im: IBig = &d.re * &d.im * -2;
    let size: IBig = &d.re * &d.re + &d.im * &d.im;
    ((&x.re * re - &x.im * im) << (2 * places)) / (&size * &size)
}

/// `λ` of a few digits: the one that puts the mean of `X̂` at `a`, for a tail or a stop-loss at most `1 − 1/(2σ)`.
fn choose_tilt(odds: &Ball, a: u64, rest: u64, deviation: f64, weights: &Weights) -> Option<Ball> {
    let central = odds.times_integer(rest, 80).over(&Ball::from(a), 80)?.midpoint().rounded(53).midpoint();
    if let Weights::Point = weights {
        return Some(central);
    }
    let steps = log2((2.0 * deviation).max(2.0)) - 1.0;
    let most = Ball::one().minus(&Ball::dyadic(IBig::ONE, -(steps.max(1.0) as i128)), 80);
    Some(if central.exceeds(&most) { most } else { central })
}

fn spread(n: u64, a: u64, p: &Ball, q: &Ball, tilt: &Ball) -> Option<Spread> {
    let misses = q.times(tilt, 80);
    let norm = p.plus(&misses, 80);
    let (tilted, rest) = (p.over(&norm, 80)?, misses.over(&norm, 80)?);
    let mean = tilted.times_integer(n, 80);
    Some(Spread {
        variance: mean.times(&rest, 80).to_doubles(),
        offset: Ball::from(a).minus(&mean, 80).to_doubles(),
        rate: ln(tilt, 64)?.negative().to_doubles(),
    })
}

/// About ψ.
fn estimate(weights: &Weights, tilt: &Ball, gap: f64, deviation: f64) -> f64 {
    let generating = match weights {
        Weights::Point => 4.0,
        Weights::Tail => 1.0 / gap,
        Weights::StopLoss(start) => (start.to_f64() * gap + tilt.to_f64()) / (gap * gap),
    };
    (0.08 * generating / (deviation + 1.0)).max(1e-250)
}

/// `M`, `J`, whether to subtract the pole, and a bound of what they leave out of ψ: each of four parts less than a
/// `2^-bits` of it, if it is as large as estimated.
fn choose_points(
    spread: &Spread,
    weights: &Weights,
    gap: f64,
    size: f64,
    bits: usize,
) -> Option<(u64, u64, bool, Ball)> {
    let rate = (!matches!(weights, Weights::Point)).then_some(spread.rate);
    let highest = match weights {
        Weights::StopLoss(_) => 1.0 / spread.rate.0.max(f64::MIN_POSITIVE) + 1.0,
        Weights::Point | Weights::Tail => 1.0,
    };
    let generating = match weights {
        Weights::Point => 1.0,
        Weights::Tail => 1.0 / gap,
        Weights::StopLoss(_) => 2.0 / (gap * gap),
    };
    let wanted = |scale: f64| (NATS_PER_BIT * (bits as f64 + 3.0 + log2(scale / size))).max(4.0);
    let away = |v: f64| {
        let distance = rate.map_or(1.0, |s| (s.0 - v).max(v - s.1));
        if distance > 0.0 { (1.0 / distance).max(1.0) } else { f64::INFINITY }
    };
    let least = wanted(highest);
    let mut half = least / 3.0 + (least * least / 9.0 + 2.0 * least * spread.variance.1).sqrt();
    half += spread.offset.0.abs().max(spread.offset.1.abs());
    let period = loop {
        let period = (half as u64).checked_add(2)? | 1;
        let (v, below) = spread.below(period, rate);
        if spread.above(period) >= least && below >= wanted(away(v)) {
            break period;
        }
        half *= 1.02;
        if half > 1e18 {
            return None;
        }
    };
    let (v, below) = spread.below(period, rate);
    let most = (period - 1) / 2;
    let decay = wanted(generating);
    let mut points =
        (period as f64 / std::f64::consts::PI * (decay / (2.0 * spread.variance.0)).sqrt()) as u64;
    while points < most && spread.decay(points + 1, period) < decay {
        points += 1 + points / 64;
    }
    let points = points.min(most);
    let mut left_out = at_most(2.0 * highest, spread.above(period));
    left_out = left_out.plus(&at_most(2.0 * away(v), below), 64);
    if points < most {
        let each = 2.0 * generating / period as f64;
        left_out =
            left_out.plus(&at_most(each * (points as f64 + 1.0), spread.decay(points + 1, period)), 64);
        if 2 * points + 2 <= most {
            left_out = left_out.plus(&at_most(generating, spread.decay(2 * points + 2, period)), 64);
        }
    }
    Some((period, points, rate.is_some_and(|s| v > s.1), left_out))
}

#[cfg(test)]
mod tests {
    use super::super::examples::number;
    use super::super::probability::Ratio;
    use super::*;
    use crate::interrupt::Uninterrupted;
    use crate::numbers::rational::Rational;

    /// `(n, p, a, bits)`: small and large, at the mean and far from it.
    fn inputs() -> Vec<(u64, Probability, u64, usize)> {
        let mut all = Vec::new();
        for (n, p) in [(12, "1/3"), (400, "1/2"), (5000, "0.01"), (1 << 24, "0.9"), (1 << 50, "1/7")] {
            let exact = Probability::Exact(number(p));
            let peak = Probability::Peak {
                successes: n / 5 + 1,
                failures: n - n / 5,
                ratio: Ratio::new(&number("0.3")),
            };
            for probability in [exact, peak] {
                let (hits, misses) = probability.at(80).unwrap();
                let mean = hits.times_integer(n, 80).to_f64();
                let deviation = (mean * misses.to_f64()).sqrt();
                for steps in [0.0, 0.3, 2.0, 15.0] {
                    let a = ((mean + steps * deviation).ceil() as u64 + 1).min(n - 1);
                    all.extend([30, 120].map(|bits| (n, probability.clone(), a, bits)));
                }
            }
        }
        all
    }

    fn weights() -> [Weights; 3] {
        [Weights::Point, Weights::Tail, Weights::StopLoss(Ball::from(5).scaled(-3))]
    }

    /// What a plan says that it leaves out, and the rounding that it states, against the same sum to twice as many bits.
    #[test]
    fn what_is_left_out_is_within_what_is_said() {
        for (n, probability, a, bits) in inputs().into_iter().filter(|input| input.3 < 100) {
            for weights in weights() {
                let [found, further] = [bits, 2 * bits + 60].map(|bits| {
                    let sum = |more| {
                        weighted_sum(n, &probability, a, &weights, bits + more, &Uninterrupted).unwrap()
                    };
                    [0, 100, 200].into_iter().find_map(sum).unwrap()
                });
                assert!(!found.exceeds(&further) && !further.exceeds(&found), "{n} {a} {weights:?}");
                let gap = found.midpoint().minus(&further, 2 * bits + 60);
                let said = found.spread();
                assert!(!gap.exceeds(&said) && !gap.negative().exceeds(&said), "{n} {a} {weights:?}");
                assert!(found.accuracy() >= bits as i128 - 14, "{n} {a} {weights:?}: {}", found.accuracy());
            }
        }
    }

    /// `e^{−nats}` is below the power of two that stands for it, and that is less than twice as large.
    #[test]
    fn powers_of_two_are_just_above_those_of_e() {
        for scale in [1.0, 3.5, 1e6] {
            for nats in [0.0, 0.3, 1.0, 17.0, 500.0] {
                let bound = at_most(scale, nats);
                let nats = Rational::from_f64(nats).unwrap();
                let power = elementary_exp(&nats.neg())
                    .times(&Ball::rational(&Rational::from_f64(scale).unwrap(), 90), 90);
                assert!(!power.exceeds(&bound), "{scale} {}", nats.shown());
                assert!(
                    !bound.exceeds(&power.times(&Ball::rational(&number("2.2"), 90), 90)),
                    "{scale} {}",
                    nats.shown()
                );
            }
        }
        for (x, exponent) in [(1.0, 1.0), (0.99, 0.0), (2.0, 2.0), (1e-3, -9.0)] {
            assert_eq!(log2(x).to_bits(), f64::to_bits(exponent), "{x}");
        }
    }

    fn elementary_exp(x: &Rational) -> Ball {
        super::super::elementary::exp(&Ball::rational(x, 150), 90).unwrap()
    }
}
