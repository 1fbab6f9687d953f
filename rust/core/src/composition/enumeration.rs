//! `E[S_+]` by going through the values of all summands but one.
//!
//! For the last one, with values `v_1 ≤ v_2 ≤ …`, `T_i = Σ_{l≥i} m_l` and `R_i = Σ_{l≥i} (v_l − v_i) m_l = R_{i+1} + (v_{i+1} − v_i) T_{i+1}`, the
//! stop-loss at `τ` with `v_{i−1} ≤ τ ≤ v_i` is `R_i + (v_i − τ) T_i`. All terms are positive, so that nothing is lost, however small.

use super::sum::{Atom, about};
use crate::ball::Ball;
use crate::error::Error;
use crate::interrupt::Interrupt;

/// Combinations of values that are gone through.
pub(super) const MOST_COMBINATIONS: usize = 1 << 19;
/// Combinations between two questions whether to go on.
const COMBINATIONS_PER_CHECK: usize = 1 << 14;

/// Whether so many values each can be gone through.
pub(super) fn is_short(lengths: &[usize]) -> bool {
    let longest = lengths.iter().copied().max().unwrap_or(1).max(1);
    let all = lengths.iter().try_fold(1usize, |product, &length| product.checked_mul(length));
    all.is_some_and(|all| all / longest <= MOST_COMBINATIONS)
}

/// `E[(constant + Σ X)_+]` of summands given by their values and masses.
///
/// # Errors
/// [`Error::Interrupted`].
pub(super) fn positive_part(
    constant: Ball,
    laws: &[Vec<Atom>],
    interrupt: &dyn Interrupt,
) -> Result<Ball, Error> {
    let longest = laws.iter().enumerate().max_by_key(|(_, law)| law.len());
    let Some((place, last)) = longest else { return Ok(constant.max(Ball::ZERO)) };
    let others: Vec<&[Atom]> =
        laws.iter().enumerate().filter(|(index, _)| *index != place).map(|(_, law)| law.as_slice()).collect();
    let combinations = combined(constant, &others);
    let tail = Tail::new(last);
    let mut sum = Ball::ZERO;
    for (index, at) in combinations.into_iter().enumerate() {
        if index.is_multiple_of(COMBINATIONS_PER_CHECK) {
            interrupt.check()?;
        }
        sum = sum + at.mass * tail.stop_loss(-at.value);
    }
    Ok(sum)
}

/// All sums of one value of each, with their masses.
fn combined(constant: Ball, laws: &[&[Atom]]) -> Vec<Atom> {
    laws.iter().fold(vec![Atom { value: constant, mass: Ball::ONE }], |sums, law| {
        let with =
            |sum: &Atom, atom: &Atom| Atom { value: sum.value + atom.value, mass: sum.mass * atom.mass };
        sums.iter().flat_map(|sum| law.iter().map(move |atom| with(sum, atom))).collect()
    })
}

/// The stop-loss transform of one law.
pub(super) struct Tail {
    /// In the order of doubles near the values, which are at most `error` away.
    atoms: Vec<(Ball, Atom)>,
    error: Ball,
    /// `T_i` and `R_i`.
    sums: Vec<(Ball, Ball)>,
    keys: Vec<f64>,
}

impl Tail {
    pub fn new(law: &[Atom]) -> Self {
        let mut keyed: Vec<(f64, Atom)> = law.iter().map(|atom| (about(atom.value), *atom)).collect();
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut sums = vec![(Ball::ZERO, Ball::ZERO); keyed.len()];
        let (mut mass, mut excess) = (Ball::ZERO, Ball::ZERO);
        let mut above: Option<Ball> = None;
        for ((_, atom), sum) in keyed.iter().zip(&mut sums).rev() {
            if let Some(above) = above {
                excess = excess + (above - atom.value) * mass;
            }
            mass = mass + atom.mass;
            *sum = (mass, excess);
            above = Some(atom.value);
        }
        let keys = keyed.iter().map(|(key, _)| *key).collect();
        let near = |key: f64| Ball::from_f64(key).unwrap_or(Ball::WHOLE);
        let atoms: Vec<(Ball, Atom)> = keyed.into_iter().map(|(key, atom)| (near(key), atom)).collect();
        let error = atoms.iter().fold(Ball::ZERO, |most, (near, atom)| {
            let gap = atom.value - *near;
            most.max(gap.max(-gap))
        });
        Self { atoms, error, sums, keys }
    }

    /// The mass of the law.
    pub fn mass(&self) -> Ball {
        self.sums.first().map_or(Ball::ZERO, |(mass, _)| *mass)
    }

    /// `E[(X − τ)_+]`: the formula with the first value whose double is at least that of τ. A value that may be on the other side of τ, which is
    /// at most `error` further away than its double, adds at most `|v − τ| m` to it.
    pub fn stop_loss(&self, threshold: Ball) -> Ball {
        let first = self.keys.partition_point(|&key| key < about(threshold));
        let gap = |(near, _): &&(Ball, Atom)| *near - threshold;
        let above =
            self.atoms.iter().skip(first).take_while(|entry| !(gap(entry) - self.error).is_positive());
        let below = self.atoms.iter().take(first).rev();
        let below = below.take_while(|entry| !(gap(entry) + self.error).is_not_positive());
        let doubt =
            |of: Ball, atom: &Atom| if of.is_positive() { Ball::ZERO } else { of.max(-of) * atom.mass };
        let doubt = above
            .map(|(_, atom)| doubt(atom.value - threshold, atom))
            .chain(below.map(|(_, atom)| doubt(threshold - atom.value, atom)))
            .fold(Ball::ZERO, |sum, of| sum + of);
        let found = match (self.atoms.get(first), self.sums.get(first)) {
            (Some((_, atom)), Some(&(mass, excess))) => excess + (atom.value - threshold) * mass,
            _ => Ball::ZERO,
        };
        found.plus_at_most(doubt)
    }
}
