//! A hypergeometric tail of many terms as an integral: twenty-eight evaluations for any population.
//!
//! **The terms.** `e^{φ(t)} = P[X = k+t]/P[X = k]` for the table `a b / c d`, with Γ for the factorials, is an entire function of `t`, and
//! `φ(t) = Σ_{a,d} (ln Γ(x+1) − ln Γ(x+t+1)) + Σ_{b,c} (ln Γ(x+1) − ln Γ(x−t+1))`. With `ζ(r, y) = Σ_{i≥0} (y+i)^{−r}`,
//!
//! ```text
//! φ(t) = −λt − Σ_{r≥2} t^r/r · ((−1)^r Σ_{a,d} ζ(r, x+1) + Σ_{b,c} ζ(r, x+1)),    λ = ψ(a+1) + ψ(d+1) − ψ(b+1) − ψ(c+1) ≥ 0.
//! ```
//!
//! In the middles `m = x + ½`: `ψ(m+½) = ln m + 1/24m² − 7/960m⁴ + …`, `ζ(r, m+½) = m^{1−r}/(r−1) · (1 − r(r−1)/24m² + …)`, each cut with an error of the
//! sign and at most the size of the next term, `31/8064m⁶` resp. `7r(r−1)(r+1)(r+2)/5760m⁴`. (`ζ(r, m+½) = ∫_0^∞ x^{r−2} e^{−mx} (y/sinh y) dx/Γ(r)`, `y = x/2`, and the like of ψ; and
//! `1 − y²/6 ≤ y/sinh y ≤ 1 − y²/6 + 7y⁴/360`, then `− 31y⁶/15120`, as the products with `sinh y` have coefficients of one sign.)
//!
//! **Conditions.** `V = Σ 1/m`; the length `M ≥ 512`, an integer, with `E = λM + VM²/(2(1+w/3))` between 40 and 40.2, `w = VM`. From that: `w ≤ 0.1658`,
//! `m ≥ 1/V ≥ 3087`, `λ ≤ 0.0786`, and with `α = λM/E`: `VM² ≤ 84.9(1−α)`. On `[0, M]`, `φ(t) ≤ −λt − Vt²/(2(1+w/3)) ≤ −Eτ²`, `τ = t/M` (see `Cells::needed`; that `ζ(2, m+½) ≥ (1−10^{−8})/m`, not `1/m`, is
//! within what follows). Where no middle changes by more than `ηm`, `V/(1+η) ≤ −φ'' ≤ V/(1−η)`.
//!
//! **Off the axis**, `|e^{φ(x+iy)}| ≤ e^{φ(x) + y² V(x)/2}`, `V(x) = Σ 1/m(x)`: `|Γ(x)/Γ(x+iy)|² = Π_{j≥0} (1 + y²/(x+j)²) ≤ e^{y² ζ(2, x)}`, `ζ(2, m+½) ≤ 1/m`.
//!
//! **The sum** (Euler and Maclaurin, DLMF 2.10.1 and 24.9.2), `f = e^φ`:
//!
//! ```text
//! Σ_{i=0}^M f(i) = ∫_0^M f + (f(0)+f(M))/2 + Σ_{j=1}^4 B_{2j}/(2j)! (f^{(2j−1)}(M) − f^{(2j−1)}(0)) + R,    |R| ≤ 2|B_10|/10! ∫_0^M |f^{(10)}|.
//! ```
//!
//! * The sum is at least `M/40.3`: up to `τ = 0.79`, `−φ ≤ λt + 1.2Vt²/2 ≤ Eτ`.
//! * `R`: on circles of radius 100, where `η ≤ 0.21`, `|f(z)| ≤ e^{100λ + 1.27V·100²/2} ≤ e^7.86`, for both parts of the exponent cannot be large at once. So by Cauchy
//!   `|R| ≤ 4.18·10^{−8} · M · 10!/100^{10} · e^7.86 ≤ 1.6·10^{−16}` of the sum.
//! * At `M`: `f(M) ≤ e^{−39.9}`, and as φ is concave all that follows is at most `f(M) M/39.9`; the derivatives, on circles of radius 20, where `f ≤ e^{−36.7}`, are less.
//!   Together below `6·10^{−18}` of the sum.
//!
//! **The integral**, by Gauss's rule of `N = 28` nodes. On the ellipse with foci 0 and `M` whose half axes add up to `ρM/2`, `ρ = 2.6`, the real part `ξM` stays in `[−0.2462, 1.2462] M`, so
//! `η ≤ 0.2067`, and `ln|f| ≤ −40.2 (αξ + (1−α)(0.8745ξ² − 1.3303η²))`; with `ξ = ½ + 0.7462 cos`, `η = 0.5539 sin` that is at most 9.9 for `α = 1` and `40.2 · 0.3084 ≤ 12.4` for `α = 0`.
//! As coefficients of Chebyshev's polynomials fall like `2ρ^{−r} max|f|`, and the rule is exact below degree 56, its error is at most
//! `M/2 · 4.01 ρ^{−56}/(1−ρ^{−2}) · e^{12.4} ≤ 1.4·10^{−16}` of the sum.
//!
//! **The series** of φ is cut after `t^13`: what is missing is at most `VM² τ^14 w^12/(182(1−w)) ≤ 2.5·10^{−10} τ^14`, times `e^{−40τ²}` at most `1.2·10^{−18}`: `5·10^{−17}` of the sum.
//! ([`LEFT_OUT`] covers all of this.)
//!
//! **Rounding** is counted node by node in `integral`.

use super::Scaled;
use super::lanes::{self, Lanes, WIDTH};
use statpriv_simd::{Arithmetic, Kernel};

/// Nodes of Gauss's rule.
const NODES: usize = 28;
/// Terms of the series of φ.
const DEGREE: usize = 13;
/// The conditions of the module.
const MIN_LENGTH: f64 = 512.0;
const MAX_CHANGE: f64 = 0.1658;
const MAX_QUOTIENT: f64 = 0.0393;
/// Bound of what the rule, the series and the correction leave out, relative to the sum.
const LEFT_OUT: f64 = 4e-16;
/// `2^-53`.
const U: f64 = f64::EPSILON / 2.0;

/// The lesser half of the nodes in `[0, 1]`, each within `u` of itself, and the weights, which add up to 1; the others mirror them.
const HALF_NODES: [f64; NODES / 2] = [
    0.001_778_751_213_022_775,
    0.009_348_417_314_563_623,
    0.022_870_359_685_530_903,
    0.042_183_486_803_933_96,
    0.067_053_738_712_802_47,
    0.097_179_314_541_410_42,
    0.132_194_560_993_184_1,
    0.171_674_452_980_567_52,
    0.215_139_764_094_299_14,
    0.262_062_887_522_440_9,
    0.311_874_241_955_460_65,
    0.363_969_186_182_411,
    0.417_715_358_933_309_63,
    0.472_460_355_057_982_84,
];
const HALF_WEIGHTS: [f64; NODES / 2] = [
    0.004_562_141_296_547_258_6,
    0.010_566_056_296_385_63,
    0.016_450_713_891_152_19,
    0.022_136_467_379_502_114,
    0.027_553_672_837_858_374,
    0.032_636_461_983_499_8,
    0.037_323_107_117_284_39,
    0.041_556_708_614_450_606,
    0.045_285_872_196_516_42,
    0.048_465_328_998_964_96,
    0.051_056_483_789_030_38,
    0.053_027_882_961_423_21,
    0.054_355_596_129_147_07,
    0.055_023_506_508_237_6,
];
const RULE: [(Lanes, Lanes); NODES / WIDTH] = {
    let zero = Lanes([0.0; WIDTH]);
    let mut rule = [(zero, zero); NODES / WIDTH];
    let mut i = 0;
    while i < NODES / 2 {
        let j = NODES - 1 - i;
        rule[i / WIDTH].0.0[i % WIDTH] = HALF_NODES[i];
        rule[j / WIDTH].0.0[j % WIDTH] = 1.0 - HALF_NODES[i];
        rule[i / WIDTH].1.0[i % WIDTH] = HALF_WEIGHTS[i];
        rule[j / WIDTH].1.0[j % WIDTH] = HALF_WEIGHTS[i];
        i += 1;
    }
    rule
};

/// `1/r(r−1)`.
const DIVISORS: [f64; DEGREE + 1] = {
    let mut divisors = [0.0; DEGREE + 1];
    let mut r = 2;
    while r <= DEGREE {
        divisors[r] = 1.0 / (r * (r - 1)) as f64;
        r += 1;
    }
    divisors
};

/// `atanh x = x (1 + x² (1/3 + x²/5 + …))`.
const INVERSE_TANGENT: [f64; 6] = [1.0 / 3.0, 1.0 / 5.0, 1.0 / 7.0, 1.0 / 9.0, 1.0 / 11.0, 1.0 / 13.0];

/// `P[X ≥ k]/P[X = k]`.
#[derive(Clone, Copy, Debug)]
pub(super) struct EulerMaclaurin {
    /// The cells `a, d, b, c`, each and ½, rounded.
    pub middles: [f64; WIDTH],
    /// `(P−Q)/(P+Q)`, `P = (a+½)(d+½)`, `Q = (b+½)(c+½)`, with a relative error of at most `3u`.
    pub quotient: f64,
    /// `M`.
    pub length: f64,
}

impl Kernel for EulerMaclaurin {
    type Output = Option<Scaled>;

    /// Nothing where the conditions of the module are not met.
    ///
    /// The correction beside the integral is below `0.51`. Its part beside the half errs by less than `u`; the sum is at least 12.
    #[inline(always)]
    fn run<A: Arithmetic>(self) -> Option<Scaled> {
        let Self { middles: [a, d, b, c], quotient, length } = self;
        let change = length * (1.0 / a + 1.0 / b + 1.0 / c + 1.0 / d);
        let met = length >= MIN_LENGTH && change <= MAX_CHANGE && (0.0..=MAX_QUOTIENT).contains(&quotient);
        if !met {
            return None;
        }
        let series = self.series::<A>();
        let (integral, error) = Self::integral::<A>(&series, length);
        let value = integral + Self::correction(&series, length);
        Some(Scaled { mantissa: value, exponent: 0, error: error / value + LEFT_OUT + 3.0 * U })
    }
}

impl EulerMaclaurin {
    /// The coefficients of φ in powers of `τ = t/M`.
    ///
    /// In units of `u`: `M/m` errs by 3, for the sum `x + ½`, the division and the product, so `m (M/m)^r`, from the exact `M` on, by `4(r−1)`; its product with
    /// the divisor by 3 more, and the sum of the four by 2: `4r + 1` of the sum of sizes. The slope errs by 8.
    #[inline(always)]
    fn series<A: Arithmetic>(&self) -> [f64; DEGREE + 1] {
        let Self { middles, quotient, length } = *self;
        let inverse = Lanes::all(1.0) / Lanes(middles);
        let first = Lanes([-length, -length, length, length]);
        let ratio = first * inverse;
        let correction = inverse * inverse * Lanes::all(1.0 / 24.0);
        let mut series = [0.0; DEGREE + 1];
        let square = Lanes::all(quotient * quotient);
        let logarithm =
            2.0 * quotient * (1.0 + square.0[0] * square.polynomial::<A, 6>(&INVERSE_TANGENT).0[0]);
        // 7/960 = 4.2/24².
        let of_psi = correction - correction * correction * Lanes::all(4.2);
        series[1] = (first * of_psi).sum() - length * logarithm;
        let mut power = first;
        for r in 2..=DEGREE {
            power = power * ratio;
            series[r] = (power * (correction - Lanes::all(DIVISORS[r]))).sum();
        }
        series
    }

    /// `∫_0^M e^φ` and a bound of its rounding.
    ///
    /// In units of `u`, relative to one value `e^φ`:
    /// * what φ errs by, in parts of `|φ| ≥ λt + Vt²/2.12`. The terms of the series: the first by 8, those of degree r together by
    ///   `Σ_r (4r+1) w^{r−2}/(r(r−1)) Vt² ≤ 4.91 Vt²`, that is 10.4; ζ, cut, by `16.4 · 7/5760m⁴ · Vt²`, that is 5; Horner's sums, each rounded once or twice, by 5.2; a
    ///   node that is off by `u` moves φ by `λt + 1.2Vt²`, that is 2.6. The first term is not worse where the others are 0: together below 24.
    /// * the exponential 6, weight and product 2, the sum 9, the length 1, and less than 1 for what is beside the logarithm in the slope: 19.
    #[inline(always)]
    fn integral<A: Arithmetic>(series: &[f64; DEGREE + 1], length: f64) -> (f64, f64) {
        let (mut sum, mut error) = (Lanes::all(0.0), Lanes::all(0.0));
        for (node, weight) in &RULE {
            let exponent = node.polynomial::<A, { DEGREE + 1 }>(series);
            let value = *weight * lanes::exp::<A>(exponent);
            sum = sum + value;
            error = error + value * (Lanes::all(19.0) + Lanes::all(24.0) * exponent.abs());
        }
        // The factor pays for the rounding of the bound itself.
        (length * sum.sum(), length * error.sum() * U * (1.0 + 1e-12))
    }

    /// `½ − Σ_{j=1}^4 B_{2j}/(2j)! f^{(2j−1)}(0)`, from the powers of τ in `f = e^φ`: `n g_n = Σ_j j φ_j g_{n−j}`.
    #[inline(always)]
    fn correction(series: &[f64; DEGREE + 1], length: f64) -> f64 {
        let mut powers = [1.0; 8];
        for n in 1..powers.len() {
            let mut sum = 0.0;
            for j in 1..=n {
                sum += j as f64 * series[j] * powers[n - j];
            }
            powers[n] = sum / n as f64;
        }
        let square = 1.0 / (length * length);
        let [first, third, fifth, seventh] = [powers[1], powers[3], powers[5], powers[7]];
        let rest = third / 120.0 - square * (fifth / 252.0 - square * seventh / 240.0);
        0.5 - (first / 12.0 - square * rest) / length
    }
}

#[cfg(test)]
mod tests {
    use super::super::peer::{double, on_every_backend};
    use super::*;
    use crate::numbers::ball::Ball;
    use crate::numbers::rational::Rational;
    use statpriv_simd::Portable;

    /// Legendre's polynomial of degree [`NODES`] and its derivative at `x ≠ ±1`, by the recurrence.
    fn legendre(x: &Rational) -> (Rational, Rational) {
        let (mut before, mut last) = (Rational::from(1i64), x.clone());
        for k in 1..NODES as u64 {
            let next = Rational::from(2 * k + 1).mul(x).mul(&last).sub(&Rational::from(k).mul(&before));
            before = std::mem::replace(&mut last, next.div(&Rational::from(k + 1)).unwrap());
        }
        let slope = x.mul(&last).sub(&before).mul(&Rational::from(NODES as u64));
        let slope = slope.div(&x.mul(x).sub(&Rational::from(1i64))).unwrap();
        (last, slope)
    }

    #[test]
    fn the_rule_is_that_of_gauss() {
        let one = Rational::from(1i64);
        // From [0, 1] to [−1, 1], and a little beside that.
        let place = |node: f64, off: f64| {
            double(node).mul(&one.add(&double(off))).mul(&Rational::from(2i64)).sub(&one)
        };
        for node in RULE.iter().flat_map(|(nodes, _)| nodes.0) {
            let [left, right] = [-U, U].map(|off| legendre(&place(node, off)).0 < Rational::from(0i64));
            assert!(left != right, "{node}");
        }
        for (node, weight) in HALF_NODES.into_iter().zip(HALF_WEIGHTS) {
            let x = place(node, 0.0);
            let slope = legendre(&x).1;
            let norm = one.sub(&x.mul(&x)).mul(&slope).mul(&slope);
            assert!(double(weight).mul(&norm).sub(&one).abs() < double(4.0 * U), "{node}");
        }
        let (least, most) = (RULE[0].1.0[0], RULE[NODES / WIDTH - 1].1.0[WIDTH - 1]);
        assert!(least == most && least == HALF_WEIGHTS[0]);
    }

    /// The table whose cells are these, with a length as the tails have it.
    fn sum([a, b, c, d]: [u64; 4]) -> EulerMaclaurin {
        let odd = |x: u64| 2 * i128::from(x) + 1;
        let (above, below) = (odd(a) * odd(d), odd(b) * odd(c));
        let quotient = (above - below) as f64 / (above + below) as f64;
        let middles = [a, d, b, c].map(|cell| cell as f64 + 0.5);
        let curvature: f64 = middles.iter().map(|middle| 1.0 / middle).sum();
        let exponent = |t: f64| 2.0 * quotient * t + curvature * t * t / (2.0 + curvature * t / 1.5);
        let (mut short, mut long) = (0.0, 1e9);
        while long - short > 0.1 {
            let middle = f64::midpoint(short, long);
            *if exponent(middle) < 40.0 { &mut short } else { &mut long } = middle;
        }
        EulerMaclaurin { middles, quotient, length: f64::ceil(long) }
    }

    /// Four equal cells, one small one that falls or grows, and slopes up to the largest one.
    const TABLES: [[u64; 4]; 7] = [
        [13_000, 13_000, 13_000, 13_000],
        [15_000, 14_990, 14_980, 15_003],
        [3200, 1 << 40, 6_553_600, 1 << 51],
        [1 << 40, 3200, 1 << 51, 6_560_000],
        [100_000, 98_000, 97_000, 100_000],
        [1_000_000, 963_000, 963_000, 1_000_000],
        [1 << 40, (1 << 40) - (1 << 34), 1 << 40, 1 << 40],
    ];

    /// `Σ_i t_i` and `Σ_i |ln t_i| t_i` for the terms `t_i` in units of the first.
    fn truth([a, b, c, d]: [u64; 4]) -> (Ball, f64) {
        let (mut term, mut sum, mut plain, mut weighted) = (Ball::ONE, Ball::ZERO, 1.0f64, 0.0);
        for i in 0..b.min(c) {
            sum = sum + term;
            weighted -= plain.ln() * plain;
            let product = |x: u64, y: u64| Ball::from_u64(x) * Ball::from_u64(y);
            term = term * (product(b - i, c - i) / product(a + 1 + i, d + 1 + i));
            plain = term.to_enclosure().upper();
            if plain < 1e-25 {
                break;
            }
        }
        (sum, weighted)
    }

    #[test]
    fn sums_are_within_the_error_they_state_and_it_is_the_one_that_is_counted() {
        for table in TABLES {
            let (sum_of_terms, weighted) = truth(table);
            let size = sum_of_terms.to_enclosure().upper();
            for value in on_every_backend(|| sum(table)) {
                let value = value.unwrap();
                let gap = (Ball::from_f64(value.mantissa).unwrap() / sum_of_terms - Ball::ONE).to_enclosure();
                let distance = gap.upper().max(-gap.lower());
                assert!(distance <= value.error, "{table:?}: off by {distance:e}, stated {:e}", value.error);
                assert!(distance <= 1.5e-15, "{table:?}: off by {distance:e}");
                let counted = U * (19.0 * (1.0 - 0.5 / size) + 24.0 * weighted / size + 3.0) + LEFT_OUT;
                assert!(
                    (value.error / counted - 1.0).abs() < 1e-2,
                    "{table:?}: {:e} is not {counted:e}",
                    value.error
                );
            }
        }
    }

    /// Left and right of every bound of the module's conditions.
    #[test]
    fn what_the_bounds_do_not_cover_is_refused() {
        let good = sum(TABLES[0]);
        let given = |sum: EulerMaclaurin| sum.run::<Portable>().is_some();
        assert!(
            given(EulerMaclaurin { length: 512.0, ..good })
                && !given(EulerMaclaurin { length: 511.0, ..good })
        );
        assert!(given(EulerMaclaurin { quotient: 0.0393, ..good }));
        assert!(
            !given(EulerMaclaurin { quotient: 0.0394, ..good })
                && !given(EulerMaclaurin { quotient: -1e-9, ..good })
        );
        let changed =
            |change: f64| EulerMaclaurin { middles: [4.0 * 600.0 / change; 4], length: 600.0, ..good };
        assert!(given(changed(0.1657)) && !given(changed(0.1659)));
        assert!(
            !given(EulerMaclaurin { quotient: f64::NAN, ..good })
                && !given(EulerMaclaurin { length: f64::NAN, ..good })
        );
    }
}
