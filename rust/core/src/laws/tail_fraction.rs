//! `P[Bin(n, p) ≥ k]` as a continued fraction of positive terms: a few hundred steps at any `n`.

use super::Probability;
use super::binomial::binomial_pmf;
use crate::ball::Ball;
use crate::enclosure::Enclosure;

/// First number of steps; doubled until the two ends meet.
const FIRST_STEPS: u64 = 16;
/// Where this many steps do not suffice, a sum is better.
const MOST_STEPS: u64 = 1 << 13;
/// A relative width that is small against the errors of the arithmetic: `2^-51`.
const NARROW: f64 = 1.0 / (1u64 << 51) as f64;
/// Bound of the relative errors of the coefficients, and of the operations of one step, in units of `u`.
const STEP_ERROR: f64 = 24.0;

/// The fraction's coefficients: `a = k`, `b = n − k + 1`, and the excess `k + 1 − (n+1)p ≥ 0`, in doubles.
struct Coefficients {
    a: f64,
    b: f64,
    p: f64,
    excess: f64,
}

/// `P[X ≥ k]` for `1 ≤ k ≤ n` above the mean; nothing if that takes too many steps.
///
/// `P[X ≥ k] = I_p(k, n−k+1) = k q b(k)/W_0` with `W_m = β_m + α_{m+1}/W_{m+1}` (A. R. Didonato, A. H. Morris, *Algorithm 708*, ACM
/// TOMS 18, 1992: the even part of Gauss's fraction),
///
/// ```text
/// α_m = (a+m−1)(a+b+m−1) m (b−m) p²/(a+2m−1)²
/// β_m = m + m(b−m)p/(a+2m−1) + (a+m)(a+1−(a+b)p + m(2−p))/(a+2m+1)
/// ```
///
/// It ends at `m = b − 1`, for `α_b = 0`, and is an identity of rational functions. Above the mean all terms are positive, so
/// `β_M ≤ W_M ≤ β_M + α_{M+1}/β_{M+1}`, and each step back, decreasing in `W_{m+1}`, exchanges the ends: both are carried.
/// `deviation` is `k − np ≥ 0` within a few `u`.
pub(super) fn upper_tail(k: u64, n: u64, at: &Probability, deviation: f64) -> Option<Enclosure> {
    let [p, q] = [at.p, at.q].map(Ball::to_enclosure);
    let (a, b) = (k as f64, (n - k + 1) as f64);
    let coefficients = Coefficients { a, b, p: p.upper(), excess: deviation + q.upper() };
    let mut steps = FIRST_STEPS;
    while steps <= MOST_STEPS {
        let (low, high, error) = coefficients.evaluate(steps.min(n - k));
        if high - low <= NARROW * low {
            let [low, high] = [low * (1.0 - error), high * (1.0 + error)];
            let fraction = Enclosure::ordered(low.next_down(), high.next_up());
            let value = binomial_pmf(k, n, at) * q * Enclosure::point(a) * fraction.reciprocal();
            return Some(value.clamp(0.0, 1.0));
        }
        steps *= 2;
    }
    None
}

impl Coefficients {
    /// `α_m` for `m ≥ 1`. Sums of integers up to `2^54` round once, and `p`, an end of its enclosure, errs by `2u`: `20u` in all.
    fn alpha(&self, m: f64) -> f64 {
        let Self { a, b, p, .. } = *self;
        let divisor = a + 2.0 * m - 1.0;
        ((a + m - 1.0) / divisor) * ((a + b + m - 1.0) / divisor) * (m * (b - m)) * (p * p)
    }

    /// `β_m`, a sum of positive terms, each with an error of at most `10u`, and two additions.
    fn beta(&self, m: f64) -> f64 {
        let Self { a, b, p, excess } = *self;
        m + m * (b - m) * p / (a + 2.0 * m - 1.0) + (a + m) * ((excess + m * (2.0 - p)) / (a + 2.0 * m + 1.0))
    }

    /// Both ends of `W_0` after so many steps, and a bound of their relative errors.
    ///
    /// If `W'` errs by `E'` relatively, `W = β + α/W'` errs by at most `θE'` and [`STEP_ERROR`], where `θ = (α/W')/W` is the
    /// quotient's share; products of errors are below `2^-40` of them, which the last two units and two per cent pay for.
    fn evaluate(&self, steps: u64) -> (f64, f64, f64) {
        let unit = f64::EPSILON / 2.0;
        let last = steps as f64;
        let mut low = self.beta(last);
        // Where the fraction ends, its last coefficient is 0, exactly.
        let mut high = low + self.alpha(last + 1.0) / self.beta(last + 1.0);
        let mut error = STEP_ERROR * unit;
        for m in (1..=steps).rev() {
            let (alpha, beta) = (self.alpha(m as f64), self.beta((m - 1) as f64));
            let (above, below) = (alpha / low, alpha / high);
            (low, high) = (beta + below, beta + above);
            error = STEP_ERROR * unit + error * (above / high);
        }
        (low, high, 1.02 * error)
    }
}
