//! The limit of δ for ε → ∞: what gives the value away.
//!
//! Beside the answers that some `R_k` does not give (see [`super`]), these are the answers that are impossible under `w`. If no part may hold the
//! critical entry, `w_0 > 0`, there are none: whatever the parts answer without it is possible. Else they are those where every answer lies in `N_k`, the answers
//! that `R_k` gives and `P_{k,w}` does not; their mass is `Σ_k w_k P_{k,v}(N_k) Π_{l≠k} R_l(N_l)`. It is attained at a finite ε, so it is a lower bound of every δ.
//!
//! A bound may take more entries to be in parts than there are, `w_0 < 0`. Where all answers lie in `N_k` its `w` has the mass `w_0 Π_k R_k(N_k)`, which is
//! below zero, and the bound grows with `e^ε` until it says no more than `δ ≤ 1`.

use super::part::{Part, rows_of};
use super::pattern::chosen;
use super::{Composition, Pattern};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::numbers::ball::Ball;

/// Of one part: `R_k(N_k)`, `w_k P_{k,v}(N_k)`, and `w_k P_{k,v}` of answers that `R_k` does not give.
#[derive(Clone, Copy, Debug)]
struct Telling {
    reference: Ball,
    first: Ball,
    certain: Ball,
}

pub(super) fn infinity_mass(composition: &Composition, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
    let of_choice = |choice: &Vec<Part>| {
        choice.iter().map(|part| telling(part, interrupt)).collect::<Result<Vec<_>, Error>>()
    };
    let parts: Vec<Vec<Vec<Telling>>> = composition
        .attributes
        .iter()
        .map(|attribute| attribute.choices.iter().map(of_choice).collect::<Result<_, Error>>())
        .collect::<Result<_, Error>>()?;
    // The largest of each factor and of each sum, whatever the pattern.
    let (mut factor, mut certain) = (Ball::ONE, Ball::ZERO);
    for (attribute, choices) in composition.attributes.iter().zip(&parts) {
        let worst = |of: fn(&Telling) -> Ball, with: fn(Ball, Ball) -> Ball, start: Ball| {
            let each = choices.iter().map(|choice| choice.iter().map(of).fold(start, with));
            each.fold(Ball::ZERO, Ball::max)
        };
        factor = factor * worst(|telling| telling.reference, |a, b| a * b, Ball::ONE).powi(attribute.count);
        certain = certain
            + worst(|telling| telling.certain, |a, b| a + b, Ball::ZERO) * Ball::from_u64(attribute.count);
    }
    if composition.unused.is_negative() {
        return Ok(if factor.is_positive() { Ball::ONE } else { Ball::ZERO.hull(Ball::ONE) });
    }
    let everywhere = composition.unused.is_zero();
    if composition.is_exact() {
        let values = composition.all_patterns().into_iter().map(|pattern| mass(&parts, &pattern, everywhere));
        return Ok(values.fold(Ball::ZERO, Ball::max));
    }
    // `w_k P_{k,v} ≤ R_k/P[v]`, and a probability is at most one.
    let bound = if everywhere { factor.min(Ball::ONE) } else { Ball::ZERO };
    Ok(certain.hull(certain + bound))
}

fn mass(parts: &[Vec<Vec<Telling>>], pattern: &Pattern, everywhere: bool) -> Ball {
    let chosen = chosen(parts, pattern);
    let times = |count: u64| Ball::from_u64(count);
    let certain =
        chosen.iter().fold(Ball::ZERO, |sum, (count, telling)| sum + telling.certain * times(*count));
    if !everywhere {
        return certain;
    }
    // Σ_k f_k Π_{l≠k} r_l, by one part after the other.
    let start = (Ball::ONE, Ball::ZERO);
    let (_, sum) = chosen.iter().fold(start, |(product, sum), (count, telling)| {
        let own = telling.reference.powi(count - 1);
        let both = own * telling.reference;
        (product * both, sum * both + product * own * telling.first * times(*count))
    });
    certain + sum
}

fn telling(part: &Part, interrupt: &dyn Interrupt) -> Result<Telling, Error> {
    match part {
        Part::Entries { count, cells } => {
            let entries = Ball::from_u64(*count);
            let silent = cells.iter().filter(|cell| cell.second.is_zero());
            let sums = silent.fold([Ball::ZERO; 3], |[mass, first, certain], cell| {
                let more = Ball::from_rational(&cell.first);
                if cell.mass.is_zero() {
                    [mass, first, certain + more]
                } else {
                    [mass + Ball::from_rational(&cell.mass), first + more, certain]
                }
            });
            let [mass, first, certain] = sums;
            let others = mass.powi(count.saturating_sub(1));
            Ok(Telling {
                reference: others * mass,
                first: entries * others * first,
                certain: entries * certain,
            })
        }
        // At the largest p that the answers may have, for either value.
        Part::Range { count, lower, upper, .. } => {
            let most = Ball::from_rational(upper).max(Ball::ONE - Ball::from_rational(lower)).powi(*count);
            let uncertain = Ball::ZERO.hull(most);
            Ok(Telling { reference: uncertain, first: uncertain, certain: Ball::ZERO })
        }
        // The answers that give a value away, of all entries or of none, are withheld; or every answer is possible.
        Part::Gated { .. } | Part::Rounded { .. } => {
            Ok(Telling { reference: Ball::ZERO, first: Ball::ZERO, certain: Ball::ZERO })
        }
        Part::Answer { weight, first, second, reference } => {
            let ([first, second, reference], whole) = rows_of([first, second, reference], interrupt)?;
            let weight = Ball::from_rational(weight);
            let mut found = Telling { reference: Ball::ZERO, first: Ball::ZERO, certain: Ball::ZERO };
            for (answer, &mass) in (first.first..).zip(&first.masses) {
                if second.at(answer).is_exact_zero() && !mass.is_exact_zero() {
                    if reference.at(answer).is_exact_zero() {
                        found.certain = found.certain + weight * mass;
                    } else {
                        found.first = found.first + weight * mass;
                    }
                }
            }
            for (answer, &mass) in (reference.first..).zip(&reference.masses) {
                if second.at(answer).is_exact_zero() {
                    found.reference = found.reference + mass;
                }
            }
            if whole {
                return Ok(found);
            }
            // What lies outside the windows may or may not be possible.
            let missing = first.missing + second.missing + reference.missing;
            let uncertain = |x: Ball| Ball::ZERO.hull(x + missing);
            Ok(Telling {
                reference: uncertain(found.reference),
                first: uncertain(found.first),
                certain: uncertain(found.certain),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{as_answer, property, rational};
    use super::super::{Attributes, End};
    use super::*;
    use crate::forms::Epsilon;
    use crate::interrupt::Uninterrupted;

    /// A mass of about `2^-480` of a long answer is left out. It may lie on answers that give the value away, or not.
    #[test]
    fn what_lies_outside_of_windows_may_or_may_not_tell() {
        let part = as_answer(20_000, 9000, "1/3", true);
        let found = telling(&part, &Uninterrupted).unwrap();
        let Part::Answer { first, second, reference, .. } = &part else { panic!("an answer") };
        let (rows, whole) = rows_of([first, second, reference], &Uninterrupted).unwrap();
        assert!(!whole);
        let [_, second, reference] = rows.each_ref();
        let outside = (reference.first..)
            .zip(&reference.masses)
            .filter(|(answer, _)| second.at(*answer).is_exact_zero())
            .fold(Ball::ZERO, |sum, (_, &mass)| sum + mass);
        let missing = rows.iter().fold(Ball::ZERO, |sum, row| sum + row.missing);
        assert!(missing.is_positive());
        let most = (found.reference / (outside + missing)).to_enclosure();
        assert!(most.lower().abs() < 1e-9 && (most.upper() - 1.0).abs() < 1e-9, "{most:?}");
    }

    #[test]
    fn a_bound_that_takes_more_entries_to_be_in_parts_than_there_are_grows_until_it_says_nothing() {
        let attributes =
            ["1/3", "1/4"].map(|p| Attributes { count: 1, choices: property(2, 2, &rational(p)) });
        let bound = Composition::new(rational("-1"), attributes.into()).unwrap();
        let far = bound.delta(&Epsilon::new(&rational("50")), End::Dominating, &Uninterrupted).unwrap();
        assert!(far.to_enclosure().lower() >= 1.0);
        let limit = infinity_mass(&bound, &Uninterrupted).unwrap().to_enclosure();
        assert_eq!([limit.lower(), limit.upper()], [1.0; 2]);
    }
}
