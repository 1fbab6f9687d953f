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
//! **Conditions.** `σ² = n p_s q_s ≥ 400`, `s ≤ ½`, `M = ⌈10.6σ⌉`, and with `x = sσ`, `ν = μ − κ`: `0.49 ≤ x`, `|ν| ≤ 0.01σ`, or
//! `0.49 ≤ x ≤ 0.6`, `|ν| ≤ 0.56σ`.
//!
//! **Aliases**, in units of `Q^n e^{−sκ}`, with `Y = X_s − κ`, for the weight `Y` (for the weight 1 replace `(·)_+` by an indicator and drop the
//! factors `1/(eτ)`). By Bennett, `E e^{±τ(Y−ν)} ≤ e^{σ²(e^τ−1−τ)}`; with `e^{−τa}` the minimum over τ is `e^{−σ²h(t)}` at `τ = ln(1+t)`, `t = a/σ²`,
//! `h(t) = (1+t)ln(1+t) − t`; for a given `aσ^{-1}` it falls in σ, so `σ = 20` is the worst. And `y_+ ≤ e^{τy}/(eτ)`.
//! * `l > 0`: `Σ E[(Y − lM)_+] ≤ 1.1 e^{−σ²h(t)}/(eτ)`, `t ≥ 10.04/σ`, so `σ²h ≥ 43.6`, `τσ ≥ 8.1`: below `7·10^{−21} σ` (weight 1: `2·10^{−19}`).
//! * `l < 0`, `x ≤ 8`: `e^{−smM} E[e^{−sY}(Y + mM)_+]` is the same without the positive part, which sums up to
//!   `Q^{−n} e^{sκ} (z (np − κ)/(1−z) + zM/(1−z)²)`, `z = e^{−sM}`, plus `E[e^{s(Z−mM)}(Z−mM)_+]`, `Z = −Y`,
//!   `≤ e^{−σ²h(t)}/(e(τ−s))`: for `x ≤ 0.6` as above, otherwise with `t ≥ 10.59/σ`, `σ²h ≥ 48`, `τσ ≥ 8.49`: below `7·10^{−21} σ`. The first part is
//!   subtracted (for the weight 1 it is `Q^{−n} e^{sκ} z/(1−z)`).
//! * `l < 0`, `x > 8`: with `τ = 7/σ < s`, `E[e^{−s(Y+mM)}(Y+mM)_+] ≤ e^{−7·10.59} E e^{−τ(Y−ν)}/(e(s−τ))`, where `σ²(e^τ−1−τ) ≤ 27.7`: below `3·10^{−21} σ`.
//!
//! Together, and times `e^{sφ} ≤ 2`, less than `4·10^{−20} σ`, resp. `8·10^{−19}`. ([`ALIASES`], [`ALIASES_OF_TAIL`]) For `x > 8`, where the stop-loss itself falls like
//! `σ/x²`, more is needed: with `y_+ e^{−sy} ≤ 1/(es)` the aliases `l > 0` are below `1.1 e^{−48} σ/(ex)`, and with `x − 7 ≥ x/8` those for `l < 0` are below `2.4·10^{−20} σ/x`: together `5·10^{−20} σ/x`.
//!
//! **Terms left out.** `|e^{K(iθ)}| ≤ e^{−2σ² sin²(θ/2)}` and `|G(s+iθ)| ≤ G(s)`. The exponent is convex in `j` up to `θ = π/2`: from `j = 16` on, where it is at
//! least 43.6 and grows by 5 and more a step, all terms together are below `10^{−18}` of the term `j = 0` (beyond `π/2` each is below `e^{−σ²}`).
//!
//! **Cumulants.** `K(iθ) = Σ_{r=2}^{13} κ_r (iθ)^r/r! + R`. The second derivative of `ln(q + pe^z)` is at most `pq e^{|Re z|}/cos²(Im z/2)` in size: with
//! `z/2 = a + ib`, `q e^{−z/2} + p e^{z/2} = cosh(z/2 − λ)/cosh λ`, `|cosh(a−λ+ib)|² ≥ cosh²(a−λ) cos² b` and `cosh λ ≤ e^{|a|} cosh(a−λ)`.
//! On the circle `|z| = 2.8` that is below `36 pq`, so by Cauchy `|R| ≤ σ² 36/(2.8^12·182) θ^14/(1−θ/2.8) ≤ 1.03·10^{−6} σ² θ^14`, `θ ≤ 0.48`. Against the
//! decay of the terms the sum of all these errors is below `2·10^{−16} (20/σ)^{12}` of the term `j = 0`. ([`CUMULANTS`])
//!
//! **Rounding** is counted term by term in `evaluate`.

use super::lanes::{self, Lanes, WIDTH};
use super::{Law, Scaled, Weight};
use crate::double_double::DoubleDouble;
use crate::special;
use statpriv_simd::{Arithmetic, Kernel, Portable};

/// The contour needs at least this variance.
pub(crate) const LEAST_VARIANCE: f64 = 400.0;
/// Evaluations: `j = 0, …, 15`.
pub(super) const EVALUATIONS: usize = 16;
/// `M/σ`.
const STEPS_PER_DEVIATION: f64 = 10.6;
/// Up to this `sσ` the aliases on the side of the pole at `w = 0` are subtracted.
const POLE: f64 = 8.0;
/// Bound of the other aliases of a stop-loss, in units of σ, and beyond [`POLE`] in units of `σ/x = 1/s`.
const ALIASES: f64 = 4e-20;
const FAR_ALIASES: f64 = 5e-20;
/// The same of a tail.
const ALIASES_OF_TAIL: f64 = 8e-19;
/// No larger tilt.
const GREATEST_TILT: f64 = 0.5;
/// Bound of what the cumulants from the 14th on and the terms from the 16th on do, relative to the first term.
const CUMULANTS: f64 = 2.1e-16;
const TWO_TO_MINUS_92: f64 = 1.0 / ((1u128 << 92) as f64);
const TWO_TO_MINUS_95: f64 = 1.0 / ((1u128 << 95) as f64);
const TWO_TO_MINUS_100: f64 = 1.0 / ((1u128 << 100) as f64);
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
        self.evaluate_with::<A>(powers)
    }
}

impl Contour {
    /// With `e^s` and `e^s − 1` as [`special::exp_and_expm1`] gives them.
    #[inline(always)]
    pub fn evaluate_with<A: Arithmetic>(&self, powers: (DoubleDouble, DoubleDouble)) -> Option<Scaled> {
        let tilted = Tilted::new::<A>(self, powers)?;
        let (sum, error) = tilted.evaluate::<A>(self.weight);
        let (pole, pole_error) = tilted.pole::<A>(self);
        // Q^n e^{−sa}, as mantissa · 2^exponent.
        let (power, exponent, power_error) = if tilted.exponent.hi.abs() <= 1000.0 {
            let (power, exponent) = special::exp_reduced::<A>(tilted.exponent);
            (power, exponent, 0.0)
        } else {
            special::exp(tilted.exponent)
        };
        let scale = f64::from_bits(((1023 - exponent).clamp(1, 2046) as u64) << 52);
        let value = power.hi * sum - pole * scale;
        let error = power.hi * (error + sum.abs() * (tilted.exponent_error + power_error + 4.0 * U))
            + (pole_error * scale)
            + 2.0 * U * value.abs();
        // The error above is relative to the computed value; one relative to the truth is larger by the factor 1/(1−t).
        (value > 0.0 && error < 1e-9 * value).then(|| Scaled {
            mantissa: value,
            exponent,
            error: error / value * (1.0 + 1e-8),
        })
    }
}

/// The tilted law, and what the sum needs of it.
struct Tilted {
    tilt: f64,
    /// `p_s`, `q_s`.
    p: f64,
    q: f64,
    variance: f64,
    /// `M`.
    modulus: f64,
    /// `μ − a`, and a bound of its error.
    shift: f64,
    shift_error: f64,
    /// `ln(Q^n e^{−sa})`, and a bound of its error.
    exponent: DoubleDouble,
    exponent_error: f64,
    /// `e^{−s}`, `1 − e^{−s}`.
    decay: f64,
    complement: f64,
}

impl Tilted {
    /// Errors: `p`, `q` come with `2^-98`, `e^s` with `2^-101`. `Q`, of positive terms, errs by `2^-97`, and `p_s`, `q_s` by `2^-96`. So do `μ` and `n − μ`, of which the smaller is
    /// used, and their rounding to doubles adds `u` of a difference from an integer that is known exactly.
    ///
    /// `n ln Q − sa`: on the side `p_s ≤ ½` as it stands, with `ln Q = ln(1 + p(e^s−1))`; on the other as `n ln(1 − q(1−e^{−s})) + s(n−a)`. An error
    /// of `e^s − 1` of `40u² e^s` (only where `s > 0.001`) costs `n p_s · 40u² < 2^-100 μ`, resp. the same with `n q_s`; relative errors below `2^-93` of the
    /// logarithm cover the rest. The products are exact or err by `2^-104`, the difference by `3u²` of a smaller number.
    #[inline(always)]
    fn new<A: Arithmetic>(sum: &Contour, powers: (DoubleDouble, DoubleDouble)) -> Option<Self> {
        let &Contour { trials, law: Law { p, q }, first, tilt, .. } = sum;
        let (ratio, excess) = powers;
        let weighted = p.mul_with::<A>(ratio);
        let total = q.add(weighted);
        let inverse = DoubleDouble::ONE.div_with::<A>(total);
        let (p_tilted, q_tilted) = (weighted.mul_with::<A>(inverse), q.mul_with::<A>(inverse));
        let lower = p_tilted.hi <= 0.5;
        // The smaller of μ and n − μ, and a, resp. n − a.
        let (near, from) = if lower { (p_tilted, first) } else { (q_tilted, trials - first) };
        let mean = near.mul_f64_with::<A>(trials);
        let distance = mean.add(DoubleDouble::from_f64(-from));
        let shift = if lower { distance.hi } else { -distance.hi };
        let logarithm = if lower {
            special::ln_1p::<A>(p.mul_with::<A>(excess))
        } else {
            let back = excess.div_with::<A>(ratio);
            special::ln_1p::<A>(q.mul_with::<A>(back).neg())
        };
        let growth = logarithm.mul_f64_with::<A>(trials);
        let (product, rest) = A::two_product(tilt, from);
        let decrease = DoubleDouble { hi: product, lo: rest };
        let exponent = growth.add(if lower { decrease.neg() } else { decrease });
        let variance = trials * p_tilted.hi * q_tilted.hi;
        let table_error = if tilt > 0.001 { mean.hi * TWO_TO_MINUS_100 } else { 0.0 };
        let deviation = variance.sqrt();
        let tilted = Self {
            tilt,
            p: p_tilted.hi,
            q: q_tilted.hi,
            variance,
            modulus: (STEPS_PER_DEVIATION * deviation).ceil(),
            shift,
            shift_error: mean.hi * TWO_TO_MINUS_95 + 2.0 * U * shift.abs(),
            exponent,
            exponent_error: (growth.hi.abs() + product.abs()) * TWO_TO_MINUS_92 + table_error,
            decay: 1.0 / ratio.hi,
            complement: excess.hi / ratio.hi,
        };
        tilted.meets_the_conditions(deviation, sum.weight).then_some(tilted)
    }

    #[inline(always)]
    fn meets_the_conditions(&self, deviation: f64, weight: Weight) -> bool {
        let phi = match weight {
            Weight::One => 0.0,
            Weight::Excess { phi, .. } => phi,
        };
        let (x, nu) = (self.tilt * deviation, (self.shift + phi).abs());
        self.variance >= LEAST_VARIANCE
            && self.tilt <= GREATEST_TILT
            && x >= 0.49
            && (nu <= 0.01 * deviation || (x <= 0.6 && nu <= 0.56 * deviation))
            && self.exponent_error <= 1e-13
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
    /// Together `85 + 16 v + 19 P`, with `A ≤ e^{Re K}/|h|²`, resp. `e^{Re K}/|h|`.
    #[inline(always)]
    fn evaluate<A: Arithmetic>(&self, weight: Weight) -> (f64, f64) {
        const FIRST_WEIGHT: [f64; WIDTH] = [1.0, 2.0, 2.0, 2.0];
        let step = std::f64::consts::TAU / self.modulus;
        let cumulants = Cumulants::new(self.variance, self.p, self.q);
        let (shift, shift_size) = (Lanes::all(self.shift), Lanes::all(self.shift.abs()));
        let (decay, complement) = (Lanes::all(self.decay), Lanes::all(self.complement));
        let (one, zero) = (Lanes::all(1.0), Lanes::all(0.0));
        let (mut sum, mut error) = (zero, zero);
        for block in 0..EVALUATIONS / WIDTH {
            let j = Lanes::from((block * WIDTH) as f64, 1.0);
            let theta = j * Lanes::all(step);
            let square = theta * theta;
            let real = square * square.polynomial::<A, 6>(&cumulants.even);
            let odd = square * square.polynomial::<A, 6>(&cumulants.odd);
            let (cos, sin) = lanes::cos_sin::<A>(theta * (shift + odd));
            let size_of_phase = theta * (shift_size + odd.abs());
            let damped = lanes::exp::<A>(real);
            let (versine, short_sine) = lanes::versine_and_sine::<A>(theta);
            // h = 1 − e^{−s−iθ}
            let (hr, hi) = (decay.multiply_add::<A>(versine, complement), decay * short_sine);
            let norm = hr.multiply_add::<A>(hr, hi * hi);
            let inverse_norm = one / norm;
            let (cr, ci) = (hr * inverse_norm, zero - hi * inverse_norm);
            let (gr, gi, bound, weight_error) = match weight {
                Weight::One => (cr, ci, cr.abs() + ci.abs(), 0.0),
                Weight::Excess { phi, error } => {
                    let rest = Lanes::all(1.0 - phi);
                    let (nr, ni) = (one - rest * hr, zero - rest * hi);
                    let (sr, si) = (cr * cr - ci * ci, (cr + cr) * ci);
                    (nr * sr - ni * si, nr * si + ni * sr, inverse_norm, error)
                }
            };
            let weights = if block == 0 { Lanes(FIRST_WEIGHT) } else { Lanes::all(2.0) };
            let damped = damped * weights;
            sum = sum + damped * (cos * gr - sin * gi);
            let units = Lanes::all(85.0) - Lanes::all(16.0) * real + Lanes::all(19.0) * size_of_phase;
            let absolute = units * Lanes::all(U) + theta * Lanes::all(self.shift_error);
            // An error of φ changes the numerator of G by as much times |h| ≤ 1 − e^{−s} + θ.
            let absolute = absolute + (complement + theta) * Lanes::all(weight_error);
            error = error + damped * bound * absolute;
        }
        let first_term = match weight {
            Weight::One => 1.0 / self.complement,
            Weight::Excess { .. } => 1.0 / (self.complement * self.complement),
        };
        // What is left out, with all the rounding of the bound itself.
        let aliases = match weight {
            Weight::One => ALIASES_OF_TAIL,
            Weight::Excess { .. } if self.has_pole() => ALIASES * self.variance.sqrt(),
            Weight::Excess { .. } => FAR_ALIASES / self.tilt,
        };
        let error = (error.sum() + CUMULANTS * first_term) / self.modulus + 1.01 * aliases;
        (sum.sum() / self.modulus, error * (1.0 + 1e-12))
    }

    /// Whether the aliases on the side of the pole matter: `x ≤ 8`.
    #[inline(always)]
    fn has_pole(&self) -> bool {
        self.tilt * self.tilt * self.variance <= POLE * POLE
    }

    /// The aliases that come from the pole at `w = 0`, and a bound of the error of their sum.
    ///
    /// `sM ≤ 85` errs by `u` and the exponential by `6u` more; the bracket sums parts that err by at most `10u` each.
    #[inline(always)]
    fn pole<A: Arithmetic>(&self, sum: &Contour) -> (f64, f64) {
        if !self.has_pole() {
            return (0.0, 0.0);
        }
        let exponent = self.tilt * self.modulus;
        let z = lanes::exp::<A>(Lanes::all(-exponent)).0[0];
        let rest = 1.0 - z;
        let (value, size) = match sum.weight {
            Weight::One => (1.0 / rest, 1.0 / rest),
            Weight::Excess { phi, error } => {
                let untilted = sum.mean_above_first::<A>() + phi;
                let (mean, spread) = (untilted / rest, self.modulus / (rest * rest));
                (mean + spread, mean.abs() + spread + error / U)
            }
        };
        (z * value, z * size * (exponent + 24.0) * U)
    }
}

impl Contour {
    /// With the tilt that brings the mean to the threshold, or the least that the conditions allow. `variance` is about that of the law
    /// whose mean is `first`.
    #[inline(always)]
    pub fn at_saddle_point(trials: f64, law: Law, first: f64, weight: Weight, variance: f64) -> Self {
        let sum = Self { trials, law, first, weight, tilt: 0.0 };
        let phi = match weight {
            Weight::One => 0.0,
            Weight::Excess { phi, .. } => phi,
        };
        // p e^s/q = κ/(n−κ):  e^s − 1 = (κ − np)/((n−κ)p).
        let growth = -(sum.mean_above_first::<Portable>() + phi) / ((trials - first + phi) * law.p.hi);
        let saddle_point = special::ln_1p::<Portable>(DoubleDouble::from_f64(growth.max(0.0))).hi;
        Self { tilt: saddle_point.max(0.5 / variance.sqrt()), ..sum }
    }

    /// `np − a`.
    #[inline(always)]
    fn mean_above_first<A: Arithmetic>(&self) -> f64 {
        let Law { p, q } = self.law;
        if p.hi <= 0.5 {
            p.mul_f64_with::<A>(self.trials).add(DoubleDouble::from_f64(-self.first)).hi
        } else {
            q.mul_f64_with::<A>(self.trials).add(DoubleDouble::from_f64(self.first - self.trials)).neg().hi
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
