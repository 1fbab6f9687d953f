//! The cumulant function of a Poisson-binomial law, from power sums of its probabilities.

use crate::ball::Ball;
use crate::complex::Complex;
use crate::double_double::{DoubleDouble, UNIT};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::inversion::Lattice;

/// Power sums that are prepared.
const POWERS: usize = 100;
/// Probabilities that are added up in one double-double.
const CHUNK: usize = 1024;

/// `K(s) = Σ ln(1 + p_i (e^s − 1))` over the entries with `p_i ≤ ½`, and `Σ s + ln(1 + q_i (e^{−s} − 1))` over the others.
pub(super) struct Cumulant {
    rare: Side,
    common: Side,
    /// `(p, q)` in doubles.
    rough: Vec<(f64, f64)>,
}

impl Cumulant {
    pub(super) fn new(entries: &[(Ball, Ball)], interrupt: &dyn Interrupt) -> Result<Self, Error> {
        let is_common = |(p, q): &&(Ball, Ball)| q.certainly_less(*p);
        let rare = entries.iter().filter(|entry| !is_common(entry)).map(|&(p, _)| p).collect();
        let common = entries.iter().filter(is_common).map(|&(_, q)| q).collect();
        let lower = |x: Ball| x.to_enclosure().lower();
        let rough = entries.iter().map(|&(p, q)| (lower(p), lower(q))).collect();
        Ok(Self { rare: Side::new(rare, interrupt)?, common: Side::new(common, interrupt)?, rough })
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
}

impl Lattice for Cumulant {
    fn cumulant(&self, s: Complex) -> Complex {
        let shift = s.scale(Ball::from_u64(self.common.small.len() as u64));
        self.rare.sum(s.exp_minus_one()) + shift + self.common.sum((-s).exp_minus_one())
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

/// Probabilities of at most one half.
struct Side {
    small: Vec<Ball>,
    greatest: Ball,
    /// `Σ p_i^r` for `r = 1, …, POWERS`.
    power_sums: Vec<Ball>,
}

impl Side {
    /// A power errs by `r UNIT`, a sum of a chunk by [`CHUNK`]` UNIT/4`; what underflows does not reach `2^-900` a term.
    fn new(small: Vec<Ball>, interrupt: &dyn Interrupt) -> Result<Self, Error> {
        let greatest = small.iter().fold(Ball::ZERO, |greatest, &p| greatest.max(p));
        let mut power_sums = vec![Ball::ZERO; POWERS];
        let lost = Ball::ZERO.plus_at_most(Ball::from_double_double(DoubleDouble::from_f64(LOST), 0.0));
        for chunk in small.chunks(CHUNK) {
            interrupt.check()?;
            let factors: Vec<DoubleDouble> =
                chunk.iter().map(|p| p.to_double_double().unwrap_or(DoubleDouble::ZERO)).collect();
            let mut powers = vec![DoubleDouble::ONE; factors.len()];
            for sum in &mut power_sums {
                let mut chunk_sum = DoubleDouble::ZERO;
                for (power, &factor) in powers.iter_mut().zip(&factors) {
                    *power = power.mul(factor);
                    chunk_sum = chunk_sum.add(*power);
                }
                let relative = UNIT * (POWERS + CHUNK) as f64;
                *sum = *sum + Ball::from_double_double(chunk_sum, relative) + lost;
            }
        }
        Ok(Self { small, greatest, power_sums })
    }

    /// `Σ ln(1 + p_i u)`, up to a multiple of `2πi`.
    ///
    /// For `x = |u| max p_i ≤ ½` by `Σ_r (−1)^{r+1} S_r u^r/r`: as `S_{R+i} ≤ S_R (max p_i)^i`, the terms beyond `R` add up to at
    /// most `S_R |u|^R x/(1 − x)`.
    fn sum(&self, u: Complex) -> Complex {
        let half = Ball::ONE / Ball::from_u64(2);
        // |u| ≤ |x| + |y|, at most √2 too large.
        let size = u.re.max(-u.re) + u.im.max(-u.im);
        let ratio = self.greatest * size;
        if !ratio.certainly_less(half) {
            let zero = Complex::real(Ball::ZERO);
            return self.small.iter().fold(zero, |sum, &p| sum + u.scale(p).ln_one_plus());
        }
        let last = self.power_sums.last().copied().unwrap_or(Ball::ZERO);
        let rest = Ball::ZERO.plus_at_most(last * size.powi(POWERS as u64) * ratio / (Ball::ONE - ratio));
        let terms = self.power_sums.iter().enumerate().rev();
        let series = terms.fold(Complex::real(Ball::ZERO), |sum, (i, &power_sum)| {
            Complex::real(power_sum / Ball::from_u64(i as u64 + 1)) - u * sum
        });
        u * series + Complex { re: rest, im: rest }
    }
}

/// `CHUNK · 2^-900`, enlarged.
const LOST: f64 = f64::from_bits((1023 - 880) << 52);
