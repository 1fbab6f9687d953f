//! Independent trials with probabilities of their own: the Poisson-binomial law.

use super::{BinomialGroup, Lattice, SLACK, about};
use crate::laws::Probability;
use crate::numbers::ball::Ball;
use crate::numbers::complex::Complex;
use crate::numbers::double_double::{DoubleDouble, UNIT};
use crate::numbers::special::trigonometric::angle;
use statpriv_simd::{Arithmetic, Backend, Kernel};

/// Products that are formed side by side.
const LANES: usize = 8;
/// Probabilities below `2^-150` are not left to double-doubles, and products are kept above it.
const LEAST: f64 = f64::from_bits((1023 - 150) << 52);

/// The number of successes in independent trials, the i-th with probability `p_i`: `E e^{sX} = Π (q_i + p_i e^s)`, as a product.
#[derive(Clone, Debug)]
pub struct Trials {
    /// `p` and `q` of most of them.
    p: Vec<DoubleDouble>,
    q: Vec<DoubleDouble>,
    /// A bound of their relative errors.
    inexact: f64,
    /// Those whose `p` or `q` is too small.
    extreme: Vec<BinomialGroup>,
    /// `p` and `q` rounded down.
    rough: Vec<(f64, f64)>,
}

impl Trials {
    /// One trial for each of these positive `(p, 1 − p)`.
    #[must_use]
    pub fn new(trials: &[(Ball, Ball)]) -> Self {
        let plain = |&(p, q): &(Ball, Ball)| {
            let pair = p.to_double_double().zip(q.to_double_double());
            pair.filter(|(p, q)| p.hi.min(q.hi) > LEAST)
        };
        let (p, q) = trials.iter().filter_map(plain).unzip();
        let extreme = trials.iter().filter(|pair| plain(pair).is_none());
        let group =
            |&(p, q): &(Ball, Ball)| BinomialGroup { count: 1, at: Probability::from_odds(p / q), weight: 1 };
        let extreme = extreme.map(group).collect();
        let errors = trials.iter().map(|(p, q)| p.relative_error().max(q.relative_error()));
        let inexact = errors.fold(0.0, f64::max);
        let lower = |x: Ball| x.to_enclosure().lower();
        let rough = trials.iter().map(|&(p, q)| (lower(p), lower(q))).collect();
        Self { p, q, inexact, extreme, rough }
    }

    /// `Σ p_c` and `Σ p_c q_c` for the tilted probabilities `p_c = p e^c/(q + p e^c)`, to a few ulp a term.
    fn tilted(&self, c: Ball) -> (f64, f64) {
        let factor = c.exp().to_enclosure().lower();
        self.rough.iter().fold((0.0, 0.0), |sum, &(p, q)| {
            let weight = p * factor;
            let (mean, rest) = (weight / (q + weight), q / (q + weight));
            (sum.0 + mean, sum.1 + mean * rest)
        })
    }

    /// `Π (q_i + p_i z)` or, if `mirrored`, `Π (p_i + q_i z)`, over all trials except the extreme ones, for `|z| ≤ 1`: as a product with a power
    /// of two.
    ///
    /// One factor `q + pz`: the two products err by `8u²p(|x| + |y|) ≤ 12u²p|z|` and the sum by `4u²(q + p|z|)`. Multiplying it errs by
    /// `24u²` of the sizes, as any complex product. So `4 · 16u²` with the relative errors of `p`, `q` and `z`, for each factor, bounds the
    /// error of the product relative to `Π (q + p|z|)`. [`Product`] keeps an upper bound of that.
    ///
    /// Below `2^-300` `z` is left out: that changes no factor by more than `2^-150` of itself.
    fn product(&self, z: Complex, mirrored: bool) -> (Complex, i64) {
        let matters = upper(z.re) + upper(z.im) >= LEAST * LEAST;
        let part = |x: Ball| x.to_double_double().filter(|_| matters).unwrap_or(DoubleDouble::ZERO);
        let (re, im) = (part(z.re), part(z.im));
        let length = (re.hi * re.hi + im.hi * im.hi).sqrt() * (1.0 + SLACK);
        let apart = |x: Ball, middle: DoubleDouble| upper(x - Ball::from_double_double(middle, 0.0));
        let relative = if matters { (apart(z.re, re) + apart(z.im, im)) / length } else { 0.0 };
        let (p, q) = if mirrored { (&self.q, &self.p) } else { (&self.p, &self.q) };
        let lanes = Backend::best().run(Multiply { p, q, re, im, length });
        let factors = (self.p.len() / LANES + 1) as f64;
        let error = factors * (4.0 * UNIT + relative + self.inexact) * (1.0 + SLACK);
        let slack = 1.0 + (factors + 8.0) * 8.0 * f64::EPSILON;
        lanes.into_iter().fold((Complex::real(Ball::ONE), 0), |(product, exponent), lane| {
            let most = Ball::from_f64(lane.most * slack * error).unwrap_or(Ball::WHOLE);
            let part = |x| Ball::from_double_double(x, 0.0).plus_at_most(most);
            (product * Complex { re: part(lane.re), im: part(lane.im) }, exponent + lane.exponent)
        })
    }
}

/// An upper bound of the size.
fn upper(x: Ball) -> f64 {
    let ends = x.to_enclosure();
    ends.upper().max(-ends.lower())
}

impl Lattice for Trials {
    fn cumulant(&self, s: Complex) -> Complex {
        let (exponent, factor) = self.transform(s);
        let size = factor.re * factor.re + factor.im * factor.im;
        exponent + Complex { re: size.ln() / Ball::from_u64(2), im: angle(factor.re, factor.im) }
    }

    /// For `Re s > 0` as `e^{Ns} Π (p_i + q_i e^{−s})`.
    fn transform(&self, s: Complex) -> (Complex, Complex) {
        let mirrored = about(s.re) > 0.0;
        let z = if mirrored { (-s).exp() } else { s.exp() };
        let (product, twos) = self.product(z, mirrored);
        let scale = Complex::real(Ball::ln_2() * Ball::from_i64(twos));
        let shift =
            if mirrored { s.scale(Ball::from_u64(self.p.len() as u64)) } else { Complex::real(Ball::ZERO) };
        (self.extreme.iter().fold(scale + shift, |sum, trial| sum + trial.cumulant(s)), product)
    }

    /// Each term errs by at most 16 roundings, and their sum by one a term; below `1e-200` nothing is claimed.
    fn spread(&self, c: Ball) -> Vec<(u64, f64)> {
        let strength = self.tilted(c).1 * (1.0 - (self.rough.len() + 32) as f64 * f64::EPSILON);
        if strength > 1e-200 { vec![(1, strength)] } else { Vec::new() }
    }

    fn moments(&self, c: Ball) -> (f64, f64) {
        self.tilted(c)
    }

    fn support(&self) -> (Option<i64>, Option<i64>) {
        (Some(0), i64::try_from(self.rough.len()).ok())
    }
}

/// Factors `q + pz`, a lane at a time.
struct Multiply<'a> {
    p: &'a [DoubleDouble],
    q: &'a [DoubleDouble],
    re: DoubleDouble,
    im: DoubleDouble,
    length: f64,
}

impl Kernel for Multiply<'_> {
    type Output = [Product; LANES];

    #[inline(always)]
    fn run<A: Arithmetic>(self) -> [Product; LANES] {
        let mut lanes = [Product::ONE; LANES];
        for (p, q) in self.p.chunks(LANES).zip(self.q.chunks(LANES)) {
            for ((lane, &p), &q) in lanes.iter_mut().zip(p).zip(q) {
                lane.multiply::<A>(q.add(p.mul_with::<A>(self.re)), p.mul_with::<A>(self.im));
                lane.most *= q.hi + p.hi * self.length;
            }
            if lanes.iter().any(|lane| lane.most < LEAST) {
                lanes = lanes.map(Product::rescaled);
            }
        }
        lanes.map(Product::rescaled)
    }
}

/// `z 2^exponent`, and an upper bound of `Π (q + p|z|)` in the same unit, up to eight roundings a factor.
///
/// A factor is at least `2^-150`, and so are products before it: what underflows, below `2^-900`, is far below the bound.
#[derive(Clone, Copy)]
struct Product {
    re: DoubleDouble,
    im: DoubleDouble,
    most: f64,
    exponent: i64,
}

impl Product {
    const ONE: Self = Self { re: DoubleDouble::ONE, im: DoubleDouble::ZERO, most: 1.0, exponent: 0 };

    #[inline(always)]
    fn multiply<A: Arithmetic>(&mut self, re: DoubleDouble, im: DoubleDouble) {
        let turned = self.re.mul_with::<A>(re).add(self.im.mul_with::<A>(im).neg());
        self.im = self.re.mul_with::<A>(im).add(self.im.mul_with::<A>(re));
        self.re = turned;
    }

    /// With the bound in `[½, 1)`, exactly.
    #[inline(always)]
    fn rescaled(self) -> Self {
        let bits = (self.most.to_bits() >> 52) as i64 - 1022;
        let scale = f64::from_bits(((1023 - bits).clamp(1, 2046) as u64) << 52);
        let (re, im, most) = (self.re.scale(scale), self.im.scale(scale), self.most * scale);
        Self { re, im, most, exponent: self.exponent + bits }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::rational::Rational;

    fn ball(text: &str) -> Ball {
        Ball::from_rational(&Rational::parse(text).unwrap())
    }

    fn of(count: u64) -> Trials {
        let p = |i: u64| ball(&format!("{}/{}", i * 37 % 89 + 1, 90 + i % 7));
        Trials::new(&(0..count).map(|i| (p(i), Ball::ONE - p(i))).collect::<Vec<_>>())
    }

    fn agrees(a: Ball, b: Ball) -> bool {
        !(a - b).is_positive() && !(b - a).is_positive()
    }

    /// Factor by factor, in balls: contained, and for a few of them to 26 digits.
    #[test]
    fn products_are_those_of_their_factors() {
        for count in [1, 7, 8, 9, 200] {
            let trials = of(count);
            for (re, im) in [("1/2", "1/3"), ("-0.9", "0.1"), ("1", "0"), ("1e-20", "0"), ("0", "1e-100")] {
                let z = Complex { re: ball(re), im: ball(im) };
                for mirrored in [false, true] {
                    let one = Complex::real(Ball::ONE);
                    let factors = trials.p.iter().zip(&trials.q).map(|(&p, &q)| {
                        let exact = |x| Ball::from_double_double(x, 0.0);
                        let (p, q) = if mirrored { (exact(q), exact(p)) } else { (exact(p), exact(q)) };
                        Complex::real(q) + z.scale(p)
                    });
                    let truth = factors.fold(one, |product, factor| product * factor);
                    let (product, twos) = trials.product(z, mirrored);
                    let unit = if twos < 0 { Ball::ONE / Ball::from_u64(2) } else { Ball::from_u64(2) };
                    let found = product.scale(unit.powi(twos.unsigned_abs()));
                    assert!(agrees(found.re, truth.re) && agrees(found.im, truth.im), "{count} {re} {im}");
                    let accuracy = found.re.relative_error().max(found.im.relative_error());
                    assert!(re != "1/2" || count > 9 || accuracy < 1e-26, "{count} {mirrored}: {accuracy:e}");
                }
            }
        }
    }

    /// What is too rare for double-doubles is kept apart.
    #[test]
    fn rare_trials_are_kept_apart() {
        for (p, apart) in [("1e-40", 0), ("1e-46", 1), ("1e-300", 1), ("1/2", 0)] {
            let p = ball(p);
            for pair in [(p, Ball::ONE - p), (Ball::ONE - p, p)] {
                let trials = Trials::new(&[pair, (ball("1/3"), ball("2/3"))]);
                assert_eq!((trials.extreme.len(), trials.p.len(), trials.rough.len()), (apart, 2 - apart, 2));
            }
        }
    }

    /// `Π (q + pz) = (q + pz)^n`, far below the least double.
    #[test]
    fn products_of_many_small_factors_do_not_vanish() {
        let (q, count) = (ball("1e-30"), 200);
        let trials = Trials::new(&vec![(Ball::ONE - q, q); count]);
        let (product, twos) = trials.product(Complex::real(q), false);
        let found = product.re.ln() + Ball::ln_2() * Ball::from_i64(twos);
        let truth = (q + (Ball::ONE - q) * q).ln() * Ball::from_u64(count as u64);
        assert!(agrees(found, truth) && found.relative_error() < 1e-25, "{found:?} {truth:?}");
    }
}
