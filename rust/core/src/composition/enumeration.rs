//! `E[S_+]` by going through the values of all summands but one.
//!
//! For the last one, with values `v_1 ≤ v_2 ≤ …`, `T_i = Σ_{l≥i} m_l` and `R_i = Σ_{l≥i} (v_l − v_i) m_l = R_{i+1} + (v_{i+1} − v_i) T_{i+1}`, the
//! stop-loss at `τ` with `v_{i−1} ≤ τ ≤ v_i` is `R_i + (v_i − τ) T_i`. All terms are positive, so that nothing is lost, however small.

use super::sum::{Atom, about};
use crate::budget::MAX_COMBINATIONS;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::numbers::ball::Ball;

/// Combinations between two polls of the interrupt.
const COMBINATIONS_PER_CHECK: usize = 1 << 14;

/// Whether all combinations of values can be listed; a length of `usize::MAX` means that the values cannot.
pub(super) fn is_short(lengths: &[usize]) -> bool {
    let longest = lengths.iter().copied().max().unwrap_or(1).max(1);
    let all = lengths.iter().try_fold(1usize, |product, &length| product.checked_mul(length));
    longest < usize::MAX && all.is_some_and(|all| all / longest <= MAX_COMBINATIONS)
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
#[derive(Debug)]
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

    /// `E[(X − τ)_+]`: the formula with the first value whose double is at least that of τ. For a value that is on the other side of τ than its
    /// double, `|v − τ| m` is missing; such values have doubles within `error` of τ.
    pub fn stop_loss(&self, threshold: Ball) -> Ball {
        let place = about(threshold);
        let first = self.keys.partition_point(|&key| key < place);
        let gap = |near: Ball| near - threshold;
        let above = self.atoms.iter().skip(first);
        let above = above.take_while(|(near, _)| !(gap(*near) - self.error).is_positive());
        let below = self.atoms.iter().take(first).rev();
        let below = below.take_while(|(near, _)| !(gap(*near) + self.error).is_not_positive());
        let beyond = above.map(|(_, atom)| (-gap(atom.value), atom.mass));
        let missing = beyond.chain(below.map(|(_, atom)| (gap(atom.value), atom.mass)));
        let formula = match (self.atoms.get(first), self.sums.get(first)) {
            (Some((_, atom)), Some(&(mass, excess))) => excess + gap(atom.value) * mass,
            _ => Ball::ZERO,
        };
        missing.fold(formula, |sum, (wrong, mass)| match wrong {
            right if right.is_not_positive() => sum,
            certain if certain.is_positive() => sum + certain * mass,
            doubtful => sum.plus_at_most(doubtful.max(-doubtful) * mass),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Uninterrupted;
    use crate::numbers::rational::Rational;
    use proptest::prelude::*;

    type Law = Vec<(Rational, Rational)>;

    /// Values and masses in sixteenths, with ties among them.
    fn laws() -> impl Strategy<Value = Vec<Law>> {
        let part = |n: i64| Rational::from(n).div(&Rational::from(16i64)).unwrap();
        let atom = (-20i64..20, 1i64..9).prop_map(move |(value, mass)| (part(value), part(mass)));
        prop::collection::vec(prop::collection::vec(atom, 1..6), 1..4)
    }

    fn truth(constant: &Rational, laws: &[Law]) -> Rational {
        let start = vec![(constant.clone(), Rational::from(1i64))];
        let sums = laws.iter().fold(start, |sums, law| {
            let with = |(value, mass): &(Rational, Rational)| {
                law.iter().map(|(more, share)| (value.add(more), mass.mul(share))).collect::<Vec<_>>()
            };
            sums.iter().flat_map(with).collect()
        });
        sums.iter()
            .filter(|(value, _)| !value.is_negative())
            .fold(Rational::from(0i64), |sum, (value, mass)| sum.add(&value.mul(mass)))
    }

    proptest! {
        #[test]
        fn all_sums_of_values_are_gone_through(laws in laws(), sixteenths in -60i64..20) {
            let constant = Rational::from(sixteenths).div(&Rational::from(16i64)).unwrap();
            let atoms = |law: &Law| {
                law.iter()
                    .map(|(value, mass)| Atom { value: Ball::from_rational(value), mass: Ball::from_rational(mass) })
                    .collect::<Vec<_>>()
            };
            let each: Vec<Vec<Atom>> = laws.iter().map(atoms).collect();
            let found = positive_part(Ball::from_rational(&constant), &each, &Uninterrupted).unwrap().to_enclosure();
            prop_assert!(found.contains(&truth(&constant, &laws)));
            prop_assert!(found.width() <= 1e-15 * found.upper());
        }

        /// Values that are known to 2^-20 only: between them and the threshold nothing is certain.
        #[test]
        fn values_that_are_not_known_well_are_doubted(offsets in prop::collection::vec((-30i64..30, -8i64..8), 1..8), at in -30i64..30) {
            let unit = Ball::from_f64(1.0 / f64::from(1u32 << 20)).unwrap();
            let share = Ball::ONE / Ball::from_u64(offsets.len() as u64);
            let known = |&(middle, _): &(i64, i64)| {
                Atom { value: (unit * Ball::from_i64(middle)).plus_at_most(unit), mass: share }
            };
            let tail = Tail::new(&offsets.iter().map(known).collect::<Vec<_>>());
            let threshold = unit * Ball::from_i64(at);
            let truth = offsets.iter().fold(Ball::ZERO, |sum, &(middle, eighths)| {
                let value = unit * (Ball::from_i64(middle) + Ball::from_i64(eighths) / Ball::from_u64(8));
                sum + (value - threshold).max(Ball::ZERO) * share
            });
            let found = tail.stop_loss(threshold);
            prop_assert!(!found.certainly_less(truth) && !truth.certainly_less(found));
        }
    }

    #[test]
    fn numbers_beyond_doubles_are_told_apart() {
        let huge = Ball::from_i64(800).exp();
        let atom = |value: Ball| Atom { value, mass: Ball::ONE / Ball::from_u64(2) };
        let law = [atom(-huge), atom(Ball::ONE)];
        let found = positive_part(Ball::ZERO, &[law.to_vec(), law.to_vec()], &Uninterrupted).unwrap();
        assert!(found.to_enclosure().width() <= 1e-15);
        assert!(found.to_enclosure().contains(&Rational::parse("1/2").unwrap()));
        assert!(
            is_short(&[1 << 30, 1 << 19])
                && !is_short(&[1 << 30, (1 << 19) + 1])
                && !is_short(&[usize::MAX; 2])
        );
    }
}
