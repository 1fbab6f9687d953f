//! Real answers, known by their rounded laws, between two laws with finitely many values.
//!
//! Let `X = g(y)` be what an answer `y` with the law `R` adds, `g` monotone, and let `y` be rounded to an integer `i`. What the rounded answer adds is the mean of `X` given
//! `i`, `m_i = w (P_v(i) − rP_w(i))/R(i)`.
//!
//! * *Below.* Rounding is post-processing: the `m_i` with masses `R(i)` give no larger δ (Jensen's inequality).
//! * *Above.* The `m_i` are monotone as `g` is, and given `i` the value of `X` lies between `m_{i−1}` and `m_{i+1}`, the means over what lies before and behind. Of all laws on an
//!   interval with the same mean that on its ends is the largest in convex order. So `X` is dominated by what puts of `R(i)` on `m_{i−1}` and on `m_{i+1}` as much as has the mean `m_i`.
//!
//! Both are off by the square of the step. The first and the last answer count as missing for the upper end.
//!
//! With noise of a log-concave density `f`, `P_v(y) = Σ_k P_v(k) f(y − k)`, and `f(y − k)` is totally positive: if `P_v(k)/P_w(k)` is monotone, so is `P_v(y)/P_w(y)` (Karlin, *Total
//! Positivity*), and `g`, where `R` is a mean of `P_v` and `P_w`.

use super::sum::Atom;
use crate::answer::pmf::Pmf;
use crate::error::Error;
use crate::forms::End;
use crate::numbers::ball::Ball;

/// Values and masses, and what is missing of the three laws: `m_R`, `w m_v`, `w m_w`.
pub(super) fn atoms(
    weight: Ball,
    [first, second, reference]: [&Pmf; 3],
    ratio: Ball,
    end: End,
) -> Result<(Vec<Atom>, [Ball; 3]), Error> {
    let mut lost = [reference.missing, weight * first.missing, weight * second.missing];
    let mut miss = |[mass, one, other]: [Ball; 3]| {
        let [all, of_first, of_second] = lost;
        lost = [all + mass.max(Ball::ZERO), of_first + one, of_second + other];
    };
    let least = first.first.min(second.first).min(reference.first);
    let most = first.last().max(second.last()).max(reference.last());
    let at = |answer| [reference.at(answer), weight * first.at(answer), weight * second.at(answer)];
    let (known, unknown): (Vec<[Ball; 3]>, Vec<[Ball; 3]>) =
        (least..=most).map(at).partition(|[mass, ..]| mass.is_positive());
    unknown.into_iter().for_each(&mut miss);
    let mean = |&[mass, one, other]: &[Ball; 3]| Atom { value: (one - ratio * other) / mass, mass };
    let means: Vec<Atom> = known.iter().map(mean).collect();
    if end == End::Lower {
        return Ok((together(means), lost));
    }
    [known.first(), known.last()].into_iter().flatten().copied().for_each(&mut miss);
    Ok((together(spread(&means)?), lost))
}

/// Neighbours whose values cannot be told apart as one: beyond the data the density of Laplace noise falls at the same rate under both laws.
fn together(atoms: Vec<Atom>) -> Vec<Atom> {
    let mut groups: Vec<(Ball, Atom)> = Vec::new();
    for atom in atoms {
        match groups.last_mut() {
            Some((first, all)) if !first.certainly_less(atom.value) && !atom.value.certainly_less(*first) => {
                *all = Atom { value: all.value.hull(atom.value), mass: all.mass + atom.mass };
            }
            _ => groups.push((atom.value, atom)),
        }
    }
    groups.into_iter().map(|(_, atom)| atom).collect()
}

/// Of each but the first and the last the mass on the values of its neighbours, with its mean.
fn spread(means: &[Atom]) -> Result<Vec<Atom>, Error> {
    let (Some(first), Some(last)) = (means.first(), means.last()) else { return Ok(Vec::new()) };
    let falls = last.value.certainly_less(first.value);
    let pairs = means.iter().zip(means.iter().skip(1));
    for (one, next) in pairs.map(|(one, next)| if falls { (next, one) } else { (one, next) }) {
        if next.value.certainly_less(one.value) {
            return Err(Error::precision("a real answer of which the likelihood ratio is not monotone"));
        }
    }
    let mut masses = vec![Ball::ZERO; means.len()];
    let mut put = |place: usize, mass: Ball| {
        if let Some(sum) = masses.get_mut(place) {
            *sum = *sum + mass;
        }
    };
    for (place, window) in means.windows(3).enumerate() {
        let [before, at, after] = window else { continue };
        let (low, high) = if falls { (place + 2, place) } else { (place, place + 2) };
        let ends = if falls { [after.value, before.value] } else { [before.value, after.value] };
        let (above, below) = (at.value - ends[0], ends[1] - at.value);
        if above.is_positive() && below.is_positive() {
            let up = at.mass * above / (above + below);
            put(high, up);
            put(low, at.mass * below / (above + below));
        } else {
            // Values that can hardly be told apart: no value is above the mean of the next.
            put(high, at.mass);
        }
    }
    let atoms = means.iter().zip(masses).map(|(at, mass)| Atom { value: at.value, mass });
    Ok(atoms.filter(|atom| atom.mass.is_positive()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::pmf::row;
    use crate::answer::{Law, Noise};
    use crate::composition::enumeration::Tail;
    use crate::interrupt::Uninterrupted;
    use crate::numbers::rational::Rational;
    use proptest::prelude::*;

    fn rational(top: u64, bottom: u64) -> Rational {
        Rational::from(top).div(&Rational::from(bottom)).unwrap()
    }

    /// The stop-loss transforms of both ends for a count of `size` entries with Laplace noise of scale 3/2, rounded to multiples of `1/units`.
    fn transforms(size: u64, p: &Rational, units: u64) -> [Tail; 2] {
        let scale = rational(3 * units, 2);
        let noisy = |law: Law, added: i64| {
            let data = law.shifted(added).unwrap().scaled(units as i64).unwrap();
            let noise = Law::noise(Noise::RoundedLaplace { scale: scale.clone() }).unwrap();
            row(&Law::sum(vec![data, noise]).unwrap(), Some(200), &Uninterrupted).unwrap()
        };
        let others = Law::binomial(size - 1, p).unwrap();
        let laws = [noisy(others.clone(), 1), noisy(others, 0), noisy(Law::binomial(size, p).unwrap(), 0)];
        let (weight, ratio) = (Ball::ONE / Ball::from_u64(3), Ball::from_f64(1.25).unwrap());
        [End::Lower, End::Upper].map(|end| {
            Tail::new(&atoms(weight, laws.each_ref().map(|row| -> &Pmf { row }), ratio, end).unwrap().0)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        /// The truth lies between the ends on every grid, and on a fine one these are close.
        #[test]
        fn the_ends_close_around_the_truth(size in 1u64..6, tenths in 1u64..10, at in -0.4..0.6f64) {
            let at = Ball::from_f64(at).unwrap();
            let [coarse, fine, finer] = [2, 8, 64].map(|units| {
                transforms(size, &rational(tenths, 10), units).map(|tail| tail.stop_loss(at).to_enclosure())
            });
            let slack = 1e-12;
            for one in &[coarse, fine, finer] {
                for other in &[coarse, fine, finer] {
                    prop_assert!(one[0].lower() <= other[1].upper() + slack);
                }
            }
            prop_assert!(finer[1].upper() - finer[0].lower() <= 2e-3);
        }
    }

    #[test]
    fn a_ratio_that_is_not_monotone_is_refused() {
        let atom = |value: f64| Atom { value: Ball::from_f64(value).unwrap(), mass: Ball::ONE };
        assert!(spread(&[atom(0.0), atom(2.0), atom(1.0), atom(3.0)]).is_err());
        assert!(spread(&[atom(3.0), atom(1.0), atom(0.0)]).is_ok());
    }
}
