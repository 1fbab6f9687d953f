//! A part whose probability is only known to a range: laws that dominate all of it.
//!
//! Let `g_p = a/(np) − r(n−a)/(nq)` with `a ~ Bin(n, p)` and `q = 1 − p`; its mean is `1 − r` for every `p`. **Lemma.** For `p` and `p₀` in `[p₁, p₂]`
//!
//! ```text
//! g_p ≤ (1−r) + Λ (g_{p₀} − (1−r))  in convex order,   Λ = max{ (q₂+rp₂)q₀ / (q₂(q₀+rp₀)),  (q₁+rp₁)p₀ / (p₁(q₀+rp₀)) }.
//! ```
//!
//! *Proof.* If `p < p₀`, thinning a `Bin(n, p₀)` with `p/p₀` gives a `Bin(n, p)` with conditional mean `a₀p/p₀`: so `a₀/(np₀) ≤ a/(np)`, `a/(np)` decreases in
//! convex order in `p`; and `(n−a)/(nq)`, the same of `1 − p`, increases. Now `g_p − (1−r) = (1 + rp/q)(a/(np) − 1) = (r + q/p)(1 − (n−a)/(nq))`. For `p ≥ p₀` the first
//! form has the centred part of less spread than at `p₀`, and the factor `(q+rp)/q`, which increases in `p`; relative to that of `p₀`, `(q₀+rp₀)/q₀`, it is at most the first number. For
//! `p ≤ p₀` the second form, with the factor `(q+rp)/p`, which decreases in `p`, gives the second number. A centred variable scaled up grows in convex order. ∎
//!
//! So the range is cut into cells, and the law of a point of each, spread by its `Λ`, bounds the cell, for both pairs of values: `(0, 1)` at `p` is `(1, 0)` at
//! `1 − p`. The [envelope](super::envelope) of all these laws bounds the range, whatever the pattern. Ends of a range do not suffice.

use super::part::{Alternative, binomial_row};
use super::sum::{Atom, Summand};
use crate::error::Error;
use crate::numbers::ball::Ball;
use crate::numbers::rational::Rational;

/// Cells of a range. Parts of many entries have fewer, as each cell takes longer.
const CELLS: u64 = 32;
const CELLS_OF_MANY: u64 = 16;
const MANY: u64 = 4096;
/// Laws of so few entries are written out as a whole.
const FEW: u64 = 512;
/// At most about `2^-LEFT_OUT` of a law is left out: the bound is looser than that. Where δ is smaller still, the bound
/// by [moduli](super::moduli) is the tight one.
const LEFT_OUT: u32 = 360;
const LEFT_OUT_OF_MANY: u32 = 160;

/// For each cell and pair of values the law of what the part adds, and what is missing of it for δ.
pub(super) fn alternatives(
    count: u64,
    share: &Rational,
    lower: &Rational,
    upper: &Rational,
    ratio: Ball,
) -> Result<Vec<Alternative>, Error> {
    let one = Rational::from(1i64);
    let cells = match count {
        _ if lower == upper => 1,
        MANY.. => CELLS_OF_MANY,
        _ => CELLS,
    };
    let step = upper.sub(lower).div(&Rational::from(cells)).unwrap_or_else(|| one.clone());
    let end = |index: u64| lower.add(&step.mul(&Rational::from(index)));
    let mut laws = Vec::new();
    for cell in 0..cells {
        let (least, most) = (end(cell), end(cell + 1));
        laws.push(dominating(count, share, [&least, &most], ratio)?);
        laws.push(dominating(count, share, [&one.sub(&most), &one.sub(&least)], ratio)?);
    }
    Ok(laws)
}

/// A law that dominates `w_k g_p` for all `p` in the cell.
fn dominating(
    count: u64,
    share: &Rational,
    [least, most]: [&Rational; 2],
    ratio: Ball,
) -> Result<Alternative, Error> {
    let one = Rational::from(1i64);
    let half = Rational::from(2i64);
    let middle = least.add(most).div(&half).unwrap_or_else(|| least.clone());
    // A short fraction near the middle of the cell does as well.
    let middle = Rational::from_f64(crate::numbers::enclosure::Enclosure::from(&middle).upper())
        .ok()
        .filter(|point| (least..=most).contains(&point))
        .unwrap_or(middle);
    let ball = Ball::from_rational;
    let [p, p1, p2] = [&middle, least, most].map(ball);
    let [q, q1, q2] = [&middle, least, most].map(|p| ball(&one.sub(p)));
    let slope = |p: Ball, q: Ball| q + ratio * p;
    let spread = (slope(p2, q2) * q / (q2 * slope(p, q))).max(slope(p1, q1) * p / (p1 * slope(p, q)));
    let spread = if least == most { Ball::ONE } else { spread };
    let each = ball(share);
    let (hit, miss) = (each / p, -(ratio * each / q));
    let spread_out = |value: Ball, entries: Ball| {
        let centre = (Ball::ONE - ratio) * each * entries;
        centre + spread * (value - centre)
    };
    let left_out = match count {
        ..=FEW => None,
        MANY.. => Some(LEFT_OUT_OF_MANY),
        _ => Some(LEFT_OUT),
    };
    let row = binomial_row(count, &middle, left_out)?;
    let atoms = (row.first..).zip(&row.masses).filter(|(_, mass)| mass.is_positive()).map(|(a, &mass)| {
        let hits = a.unsigned_abs();
        let value = hit * Ball::from_u64(hits) + miss * Ball::from_u64(count.saturating_sub(hits));
        Atom { value: spread_out(value, Ball::from_u64(count)), mass }
    });
    let of_one = |value: Ball, mass: Ball| Atom { value: spread_out(value, Ball::ONE), mass };
    let entries = Summand { count, atoms: vec![of_one(hit, p), of_one(miss, q)] };
    // The missing mass adds at most the largest possible positive value. w_k/p₀ spread is a bound of it.
    let most_value = spread_out(hit * Ball::from_u64(count), Ball::from_u64(count));
    let missing = row.missing * (Ball::ONE + most_value.max(Ball::ZERO));
    Ok(Alternative { atoms: atoms.collect(), missing, entries: Some(entries) })
}
