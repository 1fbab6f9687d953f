//! Laplace noise of scale `b`, for any two laws.
//!
//! Let `a = e^{−1/b}` and `d_k = 2b D(k) = Σ_j g_j a^{|k−j|}`.
//!
//! **Lemma.** At `k + t`, `0 ≤ t ≤ 1`, `2b D = α e^{−t/b} + γ e^{t/b}` with `α = Σ_{j≤k} g_j a^{k−j}` and `γ = Σ_{j>k} g_j a^{j−k}`, because no `g_j` lies
//! between. So `D` changes its sign at most once there, where `e^{2t/b} = −γ/α`. With the ends `ℓ = d_k = α + γ` and
//! `ρ = d_{k+1} = aα + γ/a`, twice the integral of `D_+` from `k` to `k+1` is
//!
//! ```text
//! τ(ℓ + ρ),  τ = (1−a)/(1+a)                                     for ℓ, ρ ≥ 0,
//! 0                                                              for ℓ, ρ ≤ 0,
//! (√α − √−γ)² = (1−a²) ℓ² / (√(ℓ − aρ) + √(a(aℓ − ρ)))²          for ℓ > 0 > ρ,
//! ```
//!
//! and the same with `ℓ` and `ρ` exchanged for `ℓ < 0 < ρ`. *Proof.* Equal signs at both ends leave room for two zeros or none. The integral of
//! `α e^{−t/b} + γ e^{t/b}` over `[0, s]`, divided by `b`, is `α(1−y) + γ(1/y−1)` with `y = e^{−s/b}`: for `y = a` that is `(1−a)(α + γ/a) =
//! τ(ℓ+ρ)`, and at the zero, `y² = −γ/α`, it is `α + |γ| − 2√(α|γ|)`. From `ℓ` and `ρ`, `α = (ℓ−aρ)/(1−a²)`, `−γ = a(aℓ−ρ)/(1−a²)` and
//! `α − |γ| = ℓ`. ∎ Below the first and above the last answer `D` falls exponentially and its integral is half of `d` there.
//!
//! All of this is a sum of positive terms once the signs of the `d_k` are known. The sums `d` over `P` and `Q` are of positive terms too and do not
//! depend on ε. A change of one `d_k` by `e` changes the positive part of what is interpolated by at most `e` times the interpolating function, whose
//! integral is `τ`, or `(1+τ)/2` at the ends, so a `d_k` whose sign is not known is taken as zero for at most its size.

use crate::answer::pmf::{Pmf, common_window};
use crate::error::Error;
use crate::forms::Epsilon;
use crate::forms::answers::ANSWERS_PER_CHECK;
use crate::interrupt::Interrupt;
use crate::numbers::ball::Ball;
use crate::numbers::rational::Rational;

/// `a`.
pub(super) fn decay(scale: &Rational) -> Ball {
    (-(Ball::ONE / Ball::from_rational(scale))).exp()
}

/// Whether Δ is certainly zero: answers that can be coupled within a distance `m` have `D ≤ 0` from `ε = m/b` on, as `f(x−j) ≤ e^{|j−k|/b}
/// f(x−k)`.
pub(super) fn vanishes(distance: u64, scale: &Rational, epsilon: &Epsilon) -> bool {
    let Some(pure) = Rational::from(distance).div(scale) else { return false };
    match epsilon.exact() {
        Some(exact) => exact >= pure,
        None => Ball::from_rational(&pure).certainly_less(epsilon.value),
    }
}

/// The `d` over each law alone, on a common window.
pub(super) fn densities(rows: [&Pmf; 2], decay: Ball, interrupt: &dyn Interrupt) -> Result<[Pmf; 2], Error> {
    let (first, last) = common_window(rows)?;
    let [one, other] = rows.map(|row| density(row, first, last, decay, interrupt));
    Ok([one?, other?])
}

/// `Σ_j x_j a^{|k−j|}` for `first ≤ k ≤ last`, by a sweep from either side.
fn density(row: &Pmf, first: i64, last: i64, decay: Ball, interrupt: &dyn Interrupt) -> Result<Pmf, Error> {
    let mut masses = Vec::with_capacity((last - first + 1).max(0) as usize);
    let mut sum = Ball::ZERO;
    for (index, answer) in (first..=last).enumerate() {
        if index.is_multiple_of(ANSWERS_PER_CHECK) {
            interrupt.check()?;
        }
        sum = row.at(answer) + decay * sum;
        masses.push(sum);
    }
    sum = Ball::ZERO;
    for (index, (entry, answer)) in masses.iter_mut().rev().zip((first..=last).rev()).enumerate() {
        if index.is_multiple_of(ANSWERS_PER_CHECK) {
            interrupt.check()?;
        }
        sum = decay * sum;
        *entry = *entry + sum;
        sum = sum + row.at(answer);
    }
    Ok(Pmf { first, masses, missing: row.missing })
}

/// Δ of what the rows hold, from their densities.
pub(super) fn delta(
    [first, second]: [&Pmf; 2],
    decay: Ball,
    ratio: Ball,
    interrupt: &dyn Interrupt,
) -> Result<Ball, Error> {
    let (mut straight, mut bent, mut undecided) = (Ball::ZERO, Ball::ZERO, Ball::ZERO);
    let mut left = Ball::ZERO;
    for (index, (&mass, &other)) in first.masses.iter().zip(&second.masses).enumerate() {
        if index.is_multiple_of(ANSWERS_PER_CHECK) {
            interrupt.check()?;
        }
        let mut right = mass - ratio * other;
        if !right.is_positive() && !right.is_not_positive() {
            undecided = undecided + right.max(-right);
            right = Ball::ZERO;
        }
        if index == 0 {
            bent = bent + positive(right);
        } else if (left.is_positive() && is_negative(right)) || (is_negative(left) && right.is_positive()) {
            bent =
                bent + crossing(positive(left) + positive(right), positive(-left) + positive(-right), decay);
        } else {
            straight = straight + positive(left) + positive(right);
        }
        left = right;
    }
    let slope = (Ball::ONE - decay) / (Ball::ONE + decay);
    let twice = bent + slope * straight + positive(left);
    Ok((twice / Ball::from_u64(2)).plus_at_most(undecided))
}

/// Of a number whose sign is known.
fn positive(x: Ball) -> Ball {
    if x.is_positive() { x } else { Ball::ZERO }
}

fn is_negative(x: Ball) -> bool {
    (-x).is_positive()
}

/// Twice the integral between a positive end and a negative one, whose sizes these are: from 0 to the positive one.
fn crossing(high: Ball, low: Ball, decay: Ball) -> Ball {
    let near = (high + decay * low).ln();
    let far = (decay * (low + decay * high)).ln();
    let half = Ball::ONE / Ball::from_u64(2);
    let roots = (near * half).exp() + (far * half).exp();
    let value = high * high * (Ball::ONE - decay * decay) / (roots * roots);
    if value.is_positive() { value } else { Ball::ZERO.plus_at_most(high) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Uninterrupted;

    fn rational(text: &str) -> Rational {
        Rational::parse(text).unwrap()
    }

    fn ball(text: &str) -> Ball {
        Ball::from_rational(&rational(text))
    }

    fn row(first: i64, masses: &[&str]) -> Pmf {
        Pmf { first, masses: masses.iter().map(|mass| ball(mass)).collect(), missing: Ball::ZERO }
    }

    fn agrees(a: Ball, b: Ball) -> bool {
        !(a - b).is_positive() && !(b - a).is_positive()
    }

    fn rows() -> [Pmf; 2] {
        [row(-1, &["0.2", "0.1", "0", "0.5", "0.2"]), row(0, &["0.4", "0.3", "0.1", "0.1", "0", "0.1"])]
    }

    /// `Σ_j x_j a^{|k−j|}`, each by itself.
    #[test]
    fn densities_are_sums_over_all_answers() {
        let rows = rows();
        let decay = ball("0.7");
        let found = densities([&rows[0], &rows[1]], decay, &Uninterrupted).unwrap();
        for (found, row) in found.iter().zip(&rows) {
            assert_eq!((found.first, found.masses.len()), (-1, 7));
            for k in -1..=5i64 {
                let truth =
                    (-1..=5i64).fold(Ball::ZERO, |sum, j| sum + row.at(j) * decay.powi(k.abs_diff(j)));
                let value = found.at(k);
                assert!(agrees(value, truth) && value.relative_error() < 1e-28, "{k}");
            }
        }
    }

    /// `(√α − √−γ)²` from the two ends: with `a = ¼`, `α = 4`, `γ = −1` they are 3 and `1 − 4 = −3`.
    #[test]
    fn what_lies_between_a_positive_end_and_a_negative_one() {
        let found = crossing(ball("3"), ball("3"), ball("1/4"));
        assert!(agrees(found, Ball::ONE) && found.relative_error() < 1e-25, "{found:?}");
        // α = 9, γ = −1: 8 and 9/4 − 4.
        let found = crossing(ball("8"), ball("1.75"), ball("1/4"));
        assert!(agrees(found, ball("4")) && found.relative_error() < 1e-25, "{found:?}");
    }
}
