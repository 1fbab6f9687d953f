//! Two normal laws of variance one, `mu` apart: the reference that differential privacy is measured by.
//!
//! `Δ(ε) = Φ(−a) − e^ε Φ(−b)` with `a = ε/μ − μ/2`, `b = ε/μ + μ/2`.

use super::Epsilon;
use crate::laws::normal::upper_tail;
use crate::numbers::ball::Ball;

/// `Δ(ε)` for `μ > 0`.
#[must_use]
pub fn gaussian_delta(mu: Ball, epsilon: &Epsilon) -> Ball {
    let half = mu / Ball::from_u64(2);
    let centre = epsilon.value / mu;
    upper_tail(centre - half) - epsilon.value.exp() * upper_tail(centre + half)
}
