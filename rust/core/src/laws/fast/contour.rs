//! Tail and stop-loss as an integral along a line beside the imaginary axis: sixteen evaluations for any `n`.
//!
//! **The sum.** Tilt the law: `X_s ~ Bin(n, p_s)` with `p_s = p e^s/Q`, `Q = q + p e^s`, `s > 0`. For weights `g(i)` and
//! `G(w) = Σ_{i≥0} g(i) e^{−wi}`, `w_j = s + iθ_j`, `θ_j = 2πj/M`,
//!
//! ```text
//! (1/M) Σ_{j mod M} E e^{w_j (X − a)} G(w_j) = Σ_{l∈Z} e^{slM} Σ_{i≥0} g(i) b(a + i + lM),
//! ```
//!
//! because averaging `e^{iθ_j d}` over `j` leaves the multiples `d = lM`. The term `l = 0` is what is wanted. All others, the
//! aliases, are positive. The factor `E e^{w_j(X−a)} = Q^n e^{−sa} · e^{iθ_j(μ−a)} e^{K(iθ_j)}`, `μ = n p_s`, `K(iθ) = ln E e^{iθ(X_s−μ)}`.
//!
//! **Conditions.** `σ² = n p_s q_s ≥ 400`, `s ≤ ½`, `M = ⌈11.8σ⌉`, and with `x = sσ`, `ν = μ − κ`: `x ≥ 0.49`, `|ν| ≤ σ`. So one tilt serves all thresholds within
//! a standard deviation.
//!
//! **Aliases**, in units of `Q^n e^{−sκ}`, with `Y = X_s − κ`, for the weight `Y` (for the weight 1 replace `(·)_+` by an indicator and drop the
//! factors `1/(eτ)`). By Bennett, `E e^{±τ(Y−ν)} ≤ e^{σ²(e^τ−1−τ)}`; with `e^{−τa}` the minimum over τ is `e^{−σ²h(t)}` at `τ = ln(1+t)`, `t = a/σ²`,
//! `h(t) = (1+t)ln(1+t) − t`; for a given `a/σ` it falls in σ, so `σ = 20` is the worst. And `y_+ ≤ e^{τy}/(eτ)`. With `t ≥ 10.8/σ`: `σ²h ≥ 49.9`, `τσ ≥ 8.6`.
//! * `l > 0`: `Σ E[(Y − lM)_+] ≤ 1.1 e^{−σ²h(t)}/(eτ) < 10^{−23} σ` (weight 1: `3·10^{−22}`).
//! * `l < 0`, `x ≤ 8`: `e^{−smM} E[e^{−sY}(Y + mM)_+]` is the same without the positive part, which sums up to
//!   `Q^{−n} e^{sκ} (z (np − κ)/(1−z) + zM/(1−z)²)`, `z = e^{−sM}`, plus `E[e^{s(Z−mM)}(Z−mM)_+]`, `Z = −Y`,
//!   `≤ 1.1 e^{−σ²h(t)}/(e(τ−s)) < 2·10^{−22} σ`. The first part is subtracted (for the weight 1 it is `Q^{−n} e^{sκ} z/(1−z)`).
//! * `l < 0`, `x > 8`: with `τ = 7/σ < s`, `E[e^{−s(Y+mM)}(Y+mM)_+] ≤ e^{−7·10.8} E e^{−τ(Y−ν)}/(e(s−τ))`, where `σ²(e^τ−1−τ) ≤ 27.7`: below `1.1 · 1.6·10^{−21} σ/(e(x−7))`, and
//!   `x − 7 ≥ x/8`.
//!
//! Together, and times `e^{sφ} ≤ 2`, less than `2·10^{−21} σ`, resp. `4·10^{−21}`; for `x > 8`, where the stop-loss itself falls like `σ/x²`, with
//! `y_+ e^{−sy} ≤ 1/(es)` for `l > 0` less than `1.2·10^{−20} σ/x`. ([`ALIASES`], [`FAR_ALIASES`], [`ALIASES_OF_TAIL`])
//!
//! **Terms left out.** `|e^{K(iθ)}| ≤ e^{−2σ² sin²(θ/2)}` and `|G(s+iθ)| ≤ G(s)`. The exponent is convex in `j` up to `θ = π/2`: from `j = 16` on, where it is at
//! least 35.5 and grows by 4 and more a step, all terms together are below `8·10^{−16}` of the term `j = 0` (beyond `π/2` each is below `e^{−σ²}`).
//!
//! **Cumulants.** `K(iθ) = Σ_{r=2}^{13} κ_r (iθ)^r/r! + R`. The second derivative of `ln(q + pe^z)` is at most `pq e^{|Re z|}/cos²(Im z/2)` in size: with
//! `z/2 = a + ib`, `q e^{−z/2} + p e^{z/2} = cosh(z/2 − λ)/cosh λ`, `|cosh(a−λ+ib)|² ≥ cosh²(a−λ) cos² b` and `cosh λ ≤ e^{|a|} cosh(a−λ)`.
//! On the circle `|z| = 2.8` that is below `45 pq` (44.8 at `arg z = 1.31`), so by Cauchy `|R| ≤ σ² 45/(2.8^12·182) θ^14/(1−θ/2.8) ≤ 1.29·10^{−6} σ² θ^14`, `θ ≤ 0.48`. Against the
//! decay of the terms the sum of all these errors is below `2.1·10^{−16} (20/σ)^{12}` of the term `j = 0`. ([`LEFT_OUT`])
//!
//! **Rounding** is counted term by term in `evaluate`.

use super::lanes::{self, Lanes, WIDTH};
use super::{Law, Scaled, Weight};
use crate::numbers::double_double::DoubleDouble;
use crate::numbers::special::{self, plain_exponential};
use statpriv_simd::{Arithmetic, Kernel, Portable};

/// The contour needs at least this variance.
pub(crate) const MIN_VARIANCE: f64 = 400.0;
/// Evaluations: `j = 0, …, 15`.
pub(super) const EVALUATIONS: usize = 16;
/// `M/σ`.
const STEPS_PER_DEVIATION: f64 = 11.8;
/// Up to this `sσ` the aliases on the side of the pole at `w = 0` are subtracted.
const POLE: f64 = 8.0;
/// Bound of the other aliases of a stop-loss, in units of σ, and beyond [`POLE`] in units of `σ/x = 1/s`.
const ALIASES: f64 = 2e-21;
const FAR_ALIASES: f64 = 1.2e-20;
/// The same of a tail.
const ALIASES_OF_TAIL: f64 = 4e-21;
/// Distance of the threshold from the mean, in standard deviations.
const GREATEST_DISTANCE: f64 = 1.0;
/// No larger tilt.
const GREATEST_TILT: f64 = 0.5;
/// Bound of what the cumulants from the 14th on and the terms from the 16th on do, relative to the first term.
const LEFT_OUT: f64 = 1.2e-15;
const TWO_TO_MINUS_92: f64 = 1.0 / ((1u128 << 92) as f64);
const TWO_TO_MINUS_95: f64 = 1.0 / ((1u128 << 95) as f64);
const TWO_TO_MINUS_100: f64 = 1.0 / ((1u128 << 100) as f64);
/// `sσ` must be at least this.
const MIN_TILT: f64 = 0.49;
/// Up to here the lower part of a logarithm is below `2^-40`, as the plain exponential needs it.
const LARGEST_PLAIN: f64 = 8000.0;
/// The evaluations at `±θ_j` are conjugate.
const FIRST_WEIGHTS: Lanes = Lanes([1.0, 2.0, 2.0, 2.0]);
/// `2^-53`.
const U: f64 = f64::EPSILON / 2.0;

/// `Σ_{i≥0} weight · b(first + i)` for `Bin(trials, p)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contour {
    /// `n`, an integer up to `2^53`.
    pub trials: f64,
    pub law: Law,
    /// `a`, an integer.
    pub first: f64,
    pub weight: Weight,
    /// `s`: any double will do that meets the conditions; the closer `n p_s` is to the threshold, the better.
    pub tilt: f64,
}

impl Kernel for Contour {
    type Output = Option<Scaled>;

    /// Nothing where the conditions of the module are not met.
    #[inline(always)]
    fn run<A: Arithmetic>(self) -> Option<Scaled> {
        let powers = special::exp_and_expm1::<A>(DoubleDouble::from_f64(self.tilt));
        let is_tail = matches!(self.weight, Weight::One);
        Line::new::<A>(self.trials, self.law, self.tilt, powers, is_tail)?.sum::<A>(self.first, self.weight)
    }
}

impl Contour {
    /// With the tilt that brings the mean to the threshold, or the least that the conditions allow. `variance` is about that of the law
    /// whose mean is `first`.
    #[inline(always)]
    pub fn at_saddle_point(trials: f64, law: Law, first: f64, weight: Weight, variance: f64) -> Self {
        let phi = weight.phi();
        // p e^s/q = κ/(n−κ):  e^s − 1 = (κ − np)/((n−κ)p).
        let distance = law.mean_above::<Portable>(trials, first) + phi;
        let growth = -distance / ((trials - first + phi) * law.p.hi);
        let saddle_point = special::ln_1p::<Portable>(DoubleDouble::from_f64(growth.max(0.0))).hi;
        Self { trials, law, first, weight, tilt: saddle_point.max(0.5 / variance.sqrt()) }
    }
}

impl Law {
    /// `np − a`.
    #[inline(always)]
    fn mean_above<A: Arithmetic>(&self, trials: f64, first: f64) -> f64 {
        let Self { p, q } = self;
        if p.hi <= 0.5 {
            p.mul_f64_with::<A>(trials).add(DoubleDouble::from_f64(-first)).hi
        } else {
            q.mul_f64_with::<A>(trials).add(DoubleDouble::from_f64(first - trials)).neg().hi
        }
    }
}

/// The tilted law on the line `Re w = s`: what sums with any threshold near its mean share.
#[derive(Clone)]
pub(crate) struct Line {
    trials: f64,
    law: Law,
    tilt: f64,
    deviation: f64,
    /// `M`.
    modulus: f64,
    /// Whether `p_s ≤ ½`: then `mean` is `μ` and `growth` is `n ln Q`, else they are `n − μ` and `n ln Q − sn`.
    lower: bool,
    mean: DoubleDouble,
    growth: DoubleDouble,
    growth_error: f64,
    /// `1 − e^{−s}`.
    complement: f64,
    nodes: [Node; EVALUATIONS / WIDTH],
    rounding: Rounding,
    /// `z = e^{−sM}`, where the aliases on the side of the pole matter: `x ≤ 8`.
    pole: Option<f64>,
}

/// Sums over the evaluations, of sizes `A` of terms as [`Line::evaluate`] bounds them.
#[derive(Clone, Copy)]
struct Rounding {
    /// `Σ A (85 + 16 v + 19 P')`, where `P'` is the part of `P` that does not depend on the threshold.
    units: f64,
    /// `Σ A θ`.
    of_phase: f64,
    /// `Σ A`.
    size: f64,
}

impl Rounding {
    /// Of tails, or of stop-losses.
    #[inline(always)]
    fn new(nodes: &[Node; EVALUATIONS / WIDTH], is_tail: bool) -> Self {
        let zero = Lanes::all(0.0);
        let (mut units, mut of_phase, mut size) = (zero, zero, zero);
        for node in nodes {
            let (real, imaginary) = node.inverse;
            let bound = if is_tail { real.abs() + imaginary.abs() } else { node.inverse_norm };
            let term = node.damped * bound;
            let phase = Lanes::all(19.0) * node.theta * node.skew.abs();
            units = units + term * (Lanes::all(85.0) + Lanes::all(16.0) * node.exponent + phase);
            of_phase = of_phase + term * node.theta;
            size = size + term;
        }
        Self { units: units.sum(), of_phase: of_phase.sum(), size: size.sum() }
    }
}

/// Four evaluations without their threshold.
#[derive(Clone, Copy)]
struct Node {
    theta: Lanes,
    /// `e^{Re K(iθ)}`, times 2 for `j > 0`, and `−Re K(iθ)`.
    damped: Lanes,
    exponent: Lanes,
    /// `Im K(iθ)/θ`.
    skew: Lanes,
    /// `h = 1 − e^{−w}`, `1/h`, `1/|h|²`.
    step: (Lanes, Lanes),
    inverse: (Lanes, Lanes),
    inverse_norm: Lanes,
}

impl Line {
    /// With `e^s` and `e^s − 1` as [`special::exp_and_expm1`] gives them, for tails or for stop-losses; nothing where the variance or the tilt does not fit.
    ///
    /// Errors: `p`, `q` come with `2^-98`, `e^s` with `2^-101`. `Q`, of positive terms, errs by `2^-97`, and `p_s`, `q_s` by `2^-96`. So do `μ` and `n − μ`, of which the smaller
    /// is used.
    ///
    /// `n ln Q − sa`: on the side `p_s ≤ ½` as it stands, with `ln Q = ln(1 + p(e^s−1))`; on the other as `n ln(1 − q(1−e^{−s})) + s(n−a)`. An error
    /// of `e^s − 1` of `40u² e^s` (only where `s > 0.001`) costs `n p_s · 40u² < 2^-100 μ`, resp. the same with `n q_s`; relative errors below `2^-93` of the
    /// logarithm cover the rest.
    #[inline(always)]
    pub fn new<A: Arithmetic>(
        trials: f64,
        law: Law,
        tilt: f64,
        powers: (DoubleDouble, DoubleDouble),
        is_tail: bool,
    ) -> Option<Self> {
        let Law { p, q } = law;
        let (ratio, excess) = powers;
        let weighted = p.mul_with::<A>(ratio);
        let total = q.add(weighted);
        let inverse = DoubleDouble::ONE.div_with::<A>(total);
        let (p_tilted, q_tilted) = (weighted.mul_with::<A>(inverse), q.mul_with::<A>(inverse));
        let variance = trials * p_tilted.hi * q_tilted.hi;
        let deviation = variance.sqrt();
        if variance < MIN_VARIANCE || tilt > GREATEST_TILT || tilt * deviation < MIN_TILT {
            return None;
        }
        let lower = p_tilted.hi <= 0.5;
        let mean = if lower { p_tilted } else { q_tilted }.mul_f64_with::<A>(trials);
        let logarithm = if lower {
            special::ln_1p::<A>(p.mul_with::<A>(excess))
        } else {
            let back = excess.div_with::<A>(ratio);
            special::ln_1p::<A>(q.mul_with::<A>(back).neg())
        };
        let growth = logarithm.mul_f64_with::<A>(trials);
        let table_error = if tilt > 0.001 { mean.hi * TWO_TO_MINUS_100 } else { 0.0 };
        let modulus = (STEPS_PER_DEVIATION * deviation).ceil();
        let cumulants = Cumulants::new(variance, p_tilted.hi, q_tilted.hi);
        let (decay, complement) = (1.0 / ratio.hi, excess.hi / ratio.hi);
        let step = std::f64::consts::TAU / modulus;
        let mut nodes = [Node::NONE; EVALUATIONS / WIDTH];
        // A loop, not closures: only what is inlined uses the backend's instructions.
        for (block, node) in nodes.iter_mut().enumerate() {
            let theta = Lanes::from((block * WIDTH) as f64, 1.0) * Lanes::all(step);
            let weights = if block == 0 { FIRST_WEIGHTS } else { Lanes::all(2.0) };
            *node = Node::new::<A>(theta, weights, &cumulants, decay, complement);
        }
        Some(Self {
            trials,
            law,
            tilt,
            deviation,
            modulus,
            lower,
            mean,
            growth,
            growth_error: growth.hi.abs() * TWO_TO_MINUS_92 + table_error,
            complement,
            nodes,
            rounding: Rounding::new(&nodes, is_tail),
            pole: (tilt * tilt * variance <= POLE * POLE)
                .then(|| lanes::exp::<A>(Lanes::all(-tilt * modulus)).0[0]),
        })
    }

    /// The sum over `X ≥ first`; nothing where the threshold is too far from the mean.
    ///
    /// The mean errs by `2^-96` and its difference from an integer rounds by `u`; `s a`, resp. `s (n−a)`, is an exact product, and its sum with `n ln Q`
    /// errs by `3u²` of a smaller number.
    #[inline(always)]
    pub fn sum<A: Arithmetic>(&self, first: f64, weight: Weight) -> Option<Scaled> {
        let from = if self.lower { first } else { self.trials - first };
        let distance = self.mean.add(DoubleDouble::from_f64(-from)).hi;
        let shift = if self.lower { distance } else { -distance };
        let (product, rest) = A::two_product(self.tilt, from);
        let decrease = DoubleDouble { hi: product, lo: rest };
        let logarithm = self.growth.add(if self.lower { decrease.neg() } else { decrease });
        let logarithm_error = self.growth_error + product.abs() * TWO_TO_MINUS_92;
        if (shift + weight.phi()).abs() > GREATEST_DISTANCE * self.deviation || logarithm_error > 1e-13 {
            return None;
        }
        let shift_error = self.mean.hi * TWO_TO_MINUS_95 + 2.0 * U * shift.abs();
        let (sum, error) = self.evaluate::<A>(shift, shift_error, weight);
        let (pole, pole_error) = self.pole::<A>(first, weight);
        // Q^n e^{−sa}, as mantissa · 2^exponent. What the plain exponential errs by, 2^-57, its sum and its product are below 4u.
        let (power, exponent, power_error) = if logarithm.hi.abs() <= LARGEST_PLAIN {
            let (power, exponent) = plain_exponential::exp(logarithm.hi, logarithm.lo);
            (power, exponent, 0.0)
        } else {
            special::exp(logarithm)
        };
        let power = power.hi + power.lo;
        let scale = f64::from_bits(((1023 - exponent).clamp(1, 2046) as u64) << 52);
        let value = power * sum - pole * scale;
        let error = power * (error + sum.abs() * (logarithm_error + power_error + 4.0 * U))
            + (pole_error * scale)
            + 2.0 * U * value.abs();
        // The error above is relative to the computed value; one relative to the truth is larger by the factor 1/(1−t).
        (value > 0.0 && error < 1e-9 * value).then(|| Scaled {
            mantissa: value,
            exponent,
            error: error / value * (1.0 + 1e-8),
        })
    }

    /// `(1/M) Σ_j weight_j Re e^{K(iθ_j) + iθ_j(μ−a)} G(w_j)` and a bound of its error.
    ///
    /// Relative errors, in units of `u`, of a term of size `A = e^{Re K} |G|`:
    /// * `θ_j`: 3. It moves the term by `3` times `|θ d/dθ|` of its logarithm, `2v + 3P + 3`, where `v = σ²θ²/2` and `P` bounds the sizes of the
    ///   parts of the phase.
    /// * `Re K`: σ² errs by 4, its product with θ² by 3, the Horner sum by 3: `10 v`; the exponential by 6.
    /// * the phase: each part errs by at most 10, with `μ−a` known to `shift_error`, the sine and cosine by 8: `10 P + 8`.
    /// * `h = 1 − e^{−w}`, of two positive parts and one product: 9. `G = (1 − (1−φ)h)/h²` or `1/h`: with `1/h = h̄/|h|²`, 9 and 6 of its own,
    ///   twice: 30; the numerator, whose sum rounds by 2 and in which `h`, below 0.62 in size, counts for that: 10, relative to 1, and
    ///   `G ≤ 1/|h|²`; products 6.
    /// * real part and weights: 4; the sum over `j`: 9.
    ///
    /// Together `85 + 16 v + 19 P`, with `A ≤ e^{Re K}/|h|²`, resp. `e^{Re K}/|h|`. An error of `φ` changes the numerator by as much times
    /// `|h| ≤ 1 − e^{−s} + θ`.
    #[inline(always)]
    fn evaluate<A: Arithmetic>(&self, shift: f64, shift_error: f64, weight: Weight) -> (f64, f64) {
        let (one, shifts) = (Lanes::all(1.0), Lanes::all(shift));
        let mut sum = Lanes::all(0.0);
        for node in &self.nodes {
            let (cos, sin) = lanes::cos_sin::<A>(node.theta * (shifts + node.skew));
            let ((hr, hi), (cr, ci)) = (node.step, node.inverse);
            let (gr, gi) = match weight {
                Weight::One => (cr, ci),
                Weight::Excess { phi, .. } => {
                    let rest = Lanes::all(1.0 - phi);
                    let (nr, ni) = (one - rest * hr, -rest * hi);
                    let (sr, si) = (cr * cr - ci * ci, (cr + cr) * ci);
                    (nr * sr - ni * si, nr * si + ni * sr)
                }
            };
            sum = sum + node.damped * (cos * gr - sin * gi);
        }
        let (first_term, aliases, weight_error) = match weight {
            Weight::One => (1.0 / self.complement, ALIASES_OF_TAIL, 0.0),
            Weight::Excess { error, .. } => {
                let aliases =
                    if self.pole.is_some() { ALIASES * self.deviation } else { FAR_ALIASES / self.tilt };
                (1.0 / (self.complement * self.complement), aliases, error)
            }
        };
        let Rounding { units, of_phase, size } = self.rounding;
        let error = U * (units + 19.0 * shift.abs() * of_phase)
            + shift_error * of_phase
            + weight_error * (self.complement * size + of_phase);
        // Factors of 1.01 and 1 + 1e-12 pay for the rounding of the bound itself.
        let error = (error + LEFT_OUT * first_term) / self.modulus + 1.01 * aliases;
        (sum.sum() / self.modulus, error * (1.0 + 1e-12))
    }

    /// The aliases that come from the pole at `w = 0`, and a bound of the error of their sum.
    ///
    /// `sM ≤ 95` errs by `u` and the exponential by `6u` more; the bracket sums parts that err by at most `10u` each.
    #[inline(always)]
    fn pole<A: Arithmetic>(&self, first: f64, weight: Weight) -> (f64, f64) {
        let Some(z) = self.pole else { return (0.0, 0.0) };
        let exponent = self.tilt * self.modulus;
        let rest = 1.0 - z;
        let (value, size) = match weight {
            Weight::One => (1.0 / rest, 1.0 / rest),
            Weight::Excess { phi, error } => {
                let untilted = self.law.mean_above::<A>(self.trials, first) + phi;
                let (mean, spread) = (untilted / rest, self.modulus / (rest * rest));
                (mean + spread, mean.abs() + spread + error / U)
            }
        };
        (z * value, z * size * (exponent + 24.0) * U)
    }
}

impl Node {
    const NONE: Self = {
        let zero = Lanes([0.0; WIDTH]);
        let pair = (zero, zero);
        Self {
            theta: zero,
            damped: zero,
            exponent: zero,
            skew: zero,
            step: pair,
            inverse: pair,
            inverse_norm: zero,
        }
    };

    #[inline(always)]
    fn new<A: Arithmetic>(
        theta: Lanes,
        weights: Lanes,
        cumulants: &Cumulants,
        decay: f64,
        complement: f64,
    ) -> Self {
        let (decay, complement) = (Lanes::all(decay), Lanes::all(complement));
        let square = theta * theta;
        let real = square * square.polynomial::<A, 6>(&cumulants.even);
        let (versine, sine) = lanes::versine_and_sine::<A>(theta);
        // 1 − e^{−s−iθ}
        let (hr, hi) = (decay.multiply_add::<A>(versine, complement), decay * sine);
        let inverse_norm = Lanes::all(1.0) / hr.multiply_add::<A>(hr, hi * hi);
        Self {
            theta,
            damped: lanes::exp::<A>(real) * weights,
            exponent: Lanes::all(0.0) - real,
            skew: square * square.polynomial::<A, 6>(&cumulants.odd),
            step: (hr, hi),
            inverse: (hr * inverse_norm, Lanes::all(0.0) - hi * inverse_norm),
            inverse_norm,
        }
    }
}

/// `κ_r/r!` with the signs of `i^r`, as polynomials in θ²: `Re K = θ² even(θ²)`, `Im K = θ · θ² odd(θ²)`.
///
/// `κ_{r+1} = pq dκ_r/dp` from `κ_2 = npq`. With `v = pq ≤ ¼` and `d = q − p`, `κ_r` is `σ²` times a polynomial in `v`, and `d` for odd r. The rounding of
/// the polynomials from the fourth on, at most `10u` of the sum of the sizes of their terms, is less than `u` of `σ²/2` after multiplication with `θ² ≤ 0.23`
/// and division by the factorial.
struct Cumulants {
    even: [f64; 6],
    odd: [f64; 6],
}

impl Cumulants {
    #[inline(always)]
    fn new(variance: f64, p: f64, q: f64) -> Self {
        let (v, d) = (p * q, q - p);
        let k4 = 1.0 - 6.0 * v;
        let k6 = 1.0 + v * (-30.0 + 120.0 * v);
        let k8 = 1.0 + v * (-126.0 + v * (1680.0 - 5040.0 * v));
        let k10 = 1.0 + v * (-510.0 + v * (17_640.0 + v * (-151_200.0 + 362_880.0 * v)));
        let k12 = 1.0
            + v * (-2046.0 + v * (168_960.0 + v * (-3_160_080.0 + v * (19_958_400.0 - 39_916_800.0 * v))));
        let k5 = 1.0 - 12.0 * v;
        let k7 = 1.0 + v * (-60.0 + 360.0 * v);
        let k9 = 1.0 + v * (-252.0 + v * (5040.0 - 20_160.0 * v));
        let k11 = 1.0 + v * (-1020.0 + v * (52_920.0 + v * (-604_800.0 + 1_814_400.0 * v)));
        let k13 = 1.0
            + v * (-4092.0 + v * (506_880.0 + v * (-12_640_320.0 + v * (99_792_000.0 - 239_500_800.0 * v))));
        let skew = variance * d;
        Self {
            even: [
                -variance / 2.0,
                variance * k4 * (1.0 / 24.0),
                -variance * k6 * (1.0 / 720.0),
                variance * k8 * (1.0 / 40_320.0),
                -variance * k10 * (1.0 / 3_628_800.0),
                variance * k12 * (1.0 / 479_001_600.0),
            ],
            odd: [
                -skew / 6.0,
                skew * k5 * (1.0 / 120.0),
                -skew * k7 * (1.0 / 5040.0),
                skew * k9 * (1.0 / 362_880.0),
                -skew * k11 * (1.0 / 39_916_800.0),
                skew * k13 * (1.0 / 6_227_020_800.0),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::peer::{double, law, number, on_every_backend, relative_distance, truth};
    use super::*;
    use crate::numbers::rational::Rational;

    /// The law of one trial whose variance is that of a point, `κ_2 = p − p²`, and `κ_{r+1} = (p − p²) dκ_r/dp`: coefficients of powers of `p`.
    fn cumulants_of_one_trial(most: usize) -> Vec<Vec<i64>> {
        let mut known = vec![vec![0, 1, -1]];
        while known.len() + 1 < most {
            let last = &known[known.len() - 1];
            let slope: Vec<i64> = last.iter().enumerate().skip(1).map(|(k, c)| k as i64 * c).collect();
            let mut next = vec![0; slope.len() + 2];
            for (k, c) in slope.into_iter().enumerate() {
                next[k + 1] += c;
                next[k + 2] -= c;
            }
            known.push(next);
        }
        known
    }

    #[test]
    fn cumulants_follow_their_recursion() {
        for p in [0.125, 0.375, 0.71875, 0.984_375] {
            let cumulants = Cumulants::new(3.0 * p * (1.0 - p), p, 1.0 - p);
            let mut factorial = 1.0;
            for (i, coefficients) in cumulants_of_one_trial(13).iter().enumerate() {
                let order = i + 2;
                factorial *= order as f64;
                let exact = coefficients
                    .iter()
                    .rev()
                    .fold(Rational::from(0i64), |sum, &c| sum.mul(&double(p)).add(&Rational::from(c)));
                let exact = crate::numbers::ball::Ball::from_rational(&exact).to_enclosure().upper();
                let sign = if order % 4 < 2 { 1.0 } else { -1.0 };
                let computed = if order % 2 == 0 { cumulants.even[i / 2] } else { cumulants.odd[i / 2] };
                let gap = sign * computed * factorial - 3.0 * exact;
                assert!(gap.abs() < 1e-9, "κ_{order} at {p}: off by {gap}");
            }
        }
    }

    /// A contour whose tilt is `x/σ`, and the threshold next to `μ − νσ`.
    fn near(n: u64, p: &str, x: f64, nu: f64, weight: Weight) -> Contour {
        let law = law(&number(p));
        let (p, q) = (law.p.hi, law.q.hi);
        let tilted = |s: f64| p * s.exp() / (q + p * s.exp());
        let deviation = |s: f64| (n as f64 * tilted(s) * (1.0 - tilted(s))).sqrt();
        let tilt = (0..50).fold(0.0, |s, _| x / deviation(s));
        let kappa = n as f64 * tilted(tilt) - nu * deviation(tilt);
        Contour { trials: n as f64, law, first: (kappa + weight.phi()).round(), weight, tilt }
    }

    const WEIGHTS: [Weight; 4] = [
        Weight::One,
        Weight::Excess { phi: 0.0, error: 0.0 },
        Weight::Excess { phi: 0.3, error: 1e-17 },
        Weight::Excess { phi: 1.0, error: 0.0 },
    ];

    #[test]
    fn sums_are_within_the_error_they_state() {
        for (n, p) in [(1900, "1/2"), (5000, "1/10"), (9000, "9/10"), (1_000_000, "1/3"), (1 << 50, "0.7")] {
            for x in [0.491, 0.7, 3.0, 7.9, 8.1, 9.9] {
                for (nu, weight) in [-0.97, 0.1, 0.97].into_iter().flat_map(|nu| WEIGHTS.map(|w| (nu, w))) {
                    let sum = near(n, p, x, nu, weight);
                    let exact = truth(n, &number(p), sum.first as u64, weight);
                    for value in on_every_backend(|| sum) {
                        let value = value.unwrap();
                        let distance = relative_distance(value, &exact);
                        let what = format!(
                            "n={n} p={p} x={x} ν={nu} {weight:?}: off by {distance:e}, stated {:e}",
                            value.error
                        );
                        assert!(distance <= value.error, "{what}");
                        // What the roundings and all that is left out add up to is far less than what is stated.
                        assert!(distance <= 5e-15, "{what}");
                    }
                }
            }
        }
    }

    type Complex = (f64, f64);

    fn times(a: Complex, b: Complex) -> Complex {
        (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
    }

    fn inverse(a: Complex) -> Complex {
        let norm = a.0 * a.0 + a.1 * a.1;
        (a.0 / norm, -a.1 / norm)
    }

    /// The error that `Line::sum` and `Line::evaluate` say they state, from `K(iθ) = n (ln(q_s + p_s e^{iθ}) − iθ p_s)` as it stands.
    fn documented_error(sum: &Contour) -> f64 {
        let Contour { trials: n, law, first, weight, tilt: s } = *sum;
        let total = law.q.hi + law.p.hi * s.exp();
        let p = law.p.hi * s.exp() / total;
        let (mean, deviation) = (n * p, (n * p * (1.0 - p)).sqrt());
        let (shift, modulus) = (mean - first, (11.8 * deviation).ceil());
        let near = mean.min(n - mean);
        let shift_error = near * 2f64.powi(-95) + 2.0 * U * shift.abs();
        let (mut value, mut error) = (0.0, 0.0);
        for j in 0..16 {
            let theta = std::f64::consts::TAU * f64::from(j) / modulus;
            let (re, im) = (1.0 - p + p * theta.cos(), p * theta.sin());
            let k = (n * re.hypot(im).ln(), n * (im.atan2(re) - theta * p));
            let h = (1.0 - (-s).exp() * theta.cos(), (-s).exp() * theta.sin());
            let (once, twice) = (inverse(h), times(inverse(h), inverse(h)));
            let (g, size, weight_error) = match weight {
                Weight::One => (once, once.0.abs() + once.1.abs(), 0.0),
                Weight::Excess { phi, error } => {
                    let numerator = (1.0 - (1.0 - phi) * h.0, -(1.0 - phi) * h.1);
                    (times(numerator, twice), twice.0.hypot(twice.1), error)
                }
            };
            let phase = k.1 + theta * shift;
            let damped = k.0.exp() * if j == 0 { 1.0 } else { 2.0 };
            value += damped * times((phase.cos(), phase.sin()), g).0 / modulus;
            let units = 85.0 - 16.0 * k.0 + 19.0 * (theta * shift.abs() + k.1.abs());
            let moved = theta * shift_error + (1.0 - (-s).exp() + theta) * weight_error;
            error += damped * size * (units * U + moved) / modulus;
        }
        let h = 1.0 - (-s).exp();
        error += LEFT_OUT / if let Weight::One = weight { h } else { h * h } / modulus;
        // What follows is in units of Q^n e^{−sa}.
        let growth = n * total.ln() - if p > 0.5 { s * n } else { 0.0 };
        let product = s * if p > 0.5 { n - first } else { first };
        let tables = if s > 0.001 { near * 2f64.powi(-100) } else { 0.0 };
        let exponent_error = (growth.abs() + product) * 2f64.powi(-92) + tables;
        error += value * (exponent_error + 4.0 * U);
        if s * deviation <= 8.0 {
            let z = (-s * modulus).exp();
            let unit = (s * first - n * total.ln()).exp();
            let (pole, size) = match weight {
                Weight::One => (1.0 / (1.0 - z), 1.0 / (1.0 - z)),
                Weight::Excess { phi, error } => {
                    let mean = (n * law.p.hi - first + phi) / (1.0 - z);
                    let spread = modulus / ((1.0 - z) * (1.0 - z));
                    (mean + spread, mean.abs() + spread + error / U)
                }
            };
            value -= unit * z * pole;
            error += unit * z * size * (s * modulus + 24.0) * U;
        }
        error / value + 2.0 * U
    }

    #[test]
    fn the_error_that_is_stated_is_the_one_that_is_counted() {
        for (n, p) in [(1900, "1/2"), (5000, "1/10"), (9000, "9/10"), (40_000, "1/3")] {
            for x in [0.491, 0.7, 3.0, 7.9, 8.1, 9.9] {
                for (nu, weight) in [-0.97, 0.0, 0.97].into_iter().flat_map(|nu| WEIGHTS.map(|w| (nu, w))) {
                    let sum = near(n, p, x, nu, weight);
                    let (stated, counted) = (sum.run::<Portable>().unwrap().error, documented_error(&sum));
                    let what = format!("n={n} p={p} x={x} ν={nu} {weight:?}: {stated:e} is not {counted:e}");
                    assert!((stated / counted - 1.0).abs() < 1e-4, "{what}");
                }
            }
        }
    }

    /// Left and right of every bound of the module's conditions.
    #[test]
    fn what_the_bounds_do_not_cover_is_refused() {
        let given = |n, x, nu| near(n, "1/2", x, nu, Weight::One).run::<Portable>().is_some();
        assert!(given(1605, 0.5, 0.0) && !given(1595, 0.5, 0.0));
        assert!(given(100_000, 0.4901, 0.0) && !given(100_000, 0.4899, 0.0));
        for weight in WEIGHTS {
            let given = |nu| near(1 << 40, "1/3", 2.0, nu, weight).run::<Portable>().is_some();
            assert!(given(0.999) && !given(1.001) && given(-0.999) && !given(-1.001), "{weight:?}");
        }
        let law = law(&number("1/2"));
        let at = |trials: f64, tilt: f64| {
            let first = (trials / (1.0 + (-tilt).exp())).round();
            Contour { trials, law, first, weight: Weight::One, tilt }.run::<Portable>()
        };
        assert!(at(1e6, 0.4999).is_some() && at(1e6, 0.5001).is_none());
        // κ to a thousandth is no tail to nine digits.
        for (error, known) in [(1e-13, true), (1e-3, false)] {
            let weight = Weight::Excess { phi: 0.3, error };
            assert_eq!(near(5000, "1/3", 2.0, 0.1, weight).run::<Portable>().is_some(), known, "{error:e}");
        }
        // n ln Q = 1e15 · 0.05 is known to 10^-14, and ten times as much for the tenfold tilt and four times as many trials is too much.
        assert!(at(1e15, 0.1).unwrap().error > 4e-14 && at(9e15, 0.4).is_none());
    }

    #[test]
    fn the_tilt_brings_the_mean_to_the_threshold() {
        for (n, p) in [(1e4, "1/2"), (1e9, "1/10"), (1e9, "0.999"), (9e15, "2/7")] {
            let law = law(&number(p));
            let (mean, deviation) = (n * law.p.hi, (n * law.p.hi * law.q.hi).sqrt());
            for (x, weight) in
                [0.0, 0.1, 0.3, 1.0, 4.0, 12.0].into_iter().flat_map(|x| WEIGHTS.map(|w| (x, w)))
            {
                let first = (mean + x * deviation).ceil();
                let sum = Contour::at_saddle_point(n, law, first, weight, deviation * deviation);
                let (least, tilted) =
                    (0.5 / deviation, law.p.hi * sum.tilt.exp() / (law.q.hi + law.p.hi * sum.tilt.exp()));
                let distance = (n * tilted - first + weight.phi()).abs() / deviation;
                let what = format!(
                    "n={n} p={p} {x}σ {weight:?}: tilt {} · σ, {distance}σ away",
                    sum.tilt * deviation
                );
                assert!(
                    sum.tilt >= least
                        && (distance < 1e-3 || sum.tilt == least && x < 0.51 && distance < 0.53),
                    "{what}"
                );
            }
        }
    }
}
