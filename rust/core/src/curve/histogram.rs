//! Histograms of independent entries: only the two cells that the critical entry may be in matter.
//!
//! **All entries.** `n` entries, cell probabilities `p_i`. Given that the critical entry is in cell `v`, the table has the density
//! `A_v/(n p_v)` with respect to its law `R` without that knowledge (each entry is as likely to be the critical one), so
//!
//! ```text
//! Δ_{v,w}(ε) = E_R[(A_v/(n p_v) − e^ε A_w/(n p_w))_+].
//! ```
//!
//! Let `T = A_v + A_w ~ Bin(n, s)`, `s = p_v + p_w` and `π = p_v/s`; given `T`, `A_v ~ Bin(T, π)`, and
//! `A_v/(n p_v) − e^ε A_w/(n p_w) = T/(ns) · (A_v/(Tπ) − e^ε (T−A_v)/(T(1−π)))`: the second factor has the mean positive part `Δ_T(ε; π)`
//! of a count of `T` entries. As `P[Bin(n,s) = T] · T/(ns) = P[Bin(n−1,s) = T−1]`,
//!
//! ```text
//! Δ_{v,w}(ε) = Σ_z P[Bin(n−1, 1−s) = z] · Δ_{n−z}(ε; π):
//! ```
//!
//! the other entries that are in neither cell do not matter.
//!
//! **A sample** of `s` of `n` entries without replacement, `γ = s/n`, `σ = p_v + p_w`. The critical entry is in it with probability γ, and the
//! sample's table has the density `(1−γ) + γ A_v/(s p_v)` with respect to that of `s` entries. Given `T = A_v + A_w ~ Bin(s, σ)` and with
//!
//! ```text
//! m_T = (1−γ) + γ T/(sσ),   w_T = γ T/(sσ) / m_T,
//! (1−γ) + γ A_v/(s p_v) = m_T · ((1−w_T) + w_T A_v/(Tπ)),
//! ```
//!
//! the last factor is the density of a count of `T` entries that holds the critical one with probability `w_T`. So
//! `Δ_{v,w} = Σ_T P[Bin(s,σ) = T] m_T Δ(T, w_T; π)`; `T = 0` adds `(1−γ)(1−e^ε)_+ = 0` for ε ≥ 0. As
//! `P[Bin(s,σ) = T] m_T = γ/w_T · P[Bin(s−1,σ) = T−1]` and `w_T = T/(T + (n−s)σ)`, that is the mean of `mean_over_sizes.rs` with
//! `g = γ`, `Z ~ Bin(s−1, 1−σ)` and `c = (n−s)σ`.
//!
//! A cell of probability 0 is the limit: the formulas hold with `π = 0` or 1, and for two such cells the critical entry is alone in them.
//!
//! **The worst pair** is that of the two least probable cells, in one order or the other. For let the critical entry's cell `v` be
//! thinned: each of the others in it leaves it with probability `1−θ` for a cell of its own. The new `A'_v` has `E[A'_v | A] = θ A_v`, so
//! `E[A'_v/(s θ p_v) | A] = A_v/(s p_v)`, and by Jensen's inequality, with the convex function
//! `((1−γ)(1−e^ε) + γ(A_v/(s p_v) − e^ε A_w/(s p_w)))_+` of `A_v/p_v`, the value for `(θp_v, p_w)` is at least that for `(p_v, p_w)`; likewise
//! in `w`. The value depends on no other cell. So `Δ_{v,w}` does not rise with `p_v` nor with `p_w`, and with `p_a ≤ p_b` the two least
//! probabilities every ordered pair is at most `Δ_{a,b}` (if `p_v ≤ p_w`) or `Δ_{b,a}` (if not).

use super::{CountFamily, Curve, MeanOverSizes};
use crate::error::Error;
use crate::forms::Direction;
use crate::numbers::rational::Rational;

/// The histogram of `size` entries: `Δ_{v,w}` for a pair of cells, or the maximum over all ordered pairs.
///
/// # Errors
/// `size` of 0 or above 2^53; fewer than two cells, negative ones, ones that do not add up to 1; a pair of equal cells or of
/// cells that there are not.
pub fn histogram(size: u64, cells: &[Rational], pair: Option<(usize, usize)>) -> Result<Curve, Error> {
    sampled_histogram(size, size, cells, pair)
}

/// The histogram of a sample without replacement of `size` of `population` entries, likewise.
///
/// # Errors
/// As [`histogram`]; `size` above `population`.
pub fn sampled_histogram(
    population: u64,
    size: u64,
    cells: &[Rational],
    pair: Option<(usize, usize)>,
) -> Result<Curve, Error> {
    check(cells)?;
    let (v, w) = match pair {
        Some((v, w)) => (cell(cells, v, w)?, cell(cells, w, v)?),
        None => two_least(cells)?,
    };
    let share = v.add(w);
    // Where neither cell has an entry besides the critical one, none of them matters, and any π will do.
    let first = v.div(&share).unwrap_or_else(|| Rational::from(0i64));
    let directed = |direction| {
        let family = CountFamily::new(&first, &first, Some(direction))?;
        MeanOverSizes::sampled_cells(population, size, &share, family).map(Curve::from)
    };
    if pair.is_some() || v == w {
        return directed(Direction::OneAgainstZero);
    }
    Ok(Curve::Max(Direction::BOTH.into_iter().map(directed).collect::<Result<_, _>>()?))
}

fn check(cells: &[Rational]) -> Result<(), Error> {
    if let Some((i, p)) = cells.iter().enumerate().find(|(_, p)| p.is_negative()) {
        return Err(Error::argument(format!(
            "cells[{i}] = {}; a probability from 0 to 1 is required",
            p.shown()
        )));
    }
    let sum = cells.iter().fold(Rational::from(0i64), |sum, p| sum.add(p));
    if sum != Rational::from(1i64) {
        return Err(Error::argument(format!(
            "cells add up to {}; exactly 1 is required: give exact numbers, such as '0.1' or Fraction(1, 3)",
            sum.shown()
        )));
    }
    Ok(())
}

fn cell(cells: &[Rational], chosen: usize, other: usize) -> Result<&Rational, Error> {
    cells.get(chosen).filter(|_| chosen != other).ok_or_else(|| {
        Error::argument(format!(
            "pair has the cells {chosen} and {other}; two different integers from 0 to {} are required",
            cells.len() - 1
        ))
    })
}

/// The two least probabilities.
fn two_least(cells: &[Rational]) -> Result<(&Rational, &Rational), Error> {
    let mut sorted: Vec<&Rational> = cells.iter().collect();
    sorted.sort();
    match sorted.as_slice() {
        [least, next, ..] => Ok((least, next)),
        _ => Err(Error::argument(format!(
            "cells has {} probabilities; at least 2 are required: the critical entry may be in either",
            cells.len()
        ))),
    }
}
