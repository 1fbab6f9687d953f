//! Rows by inversion against direct convolution, and what rows are made of.

use super::*;
use crate::answer::{Noise, Sampling};
use crate::interrupt::Uninterrupted;
use crate::numbers::rational::Rational;

fn fraction(a: i64, b: u64) -> Rational {
    sampling::ratio(a.unsigned_abs(), b)
}

fn agree(one: Ball, other: Ball) -> bool {
    !one.certainly_less(other) && !other.certainly_less(one)
}

/// Copies of a table, a count and a multiple of one: more than is convolved directly.
fn large_sum() -> Law {
    let gaps = vec![fraction(1, 4), fraction(0, 1), fraction(1, 2), fraction(1, 4)];
    let table = Law::table(-1, gaps).unwrap().repeated(1400).unwrap();
    let count = Law::binomial(800, &fraction(2, 7)).unwrap();
    let weighted = Law::binomial(150, &fraction(1, 3)).unwrap().scaled(3).unwrap();
    Law::sum(vec![table.shifted(5).unwrap(), count, weighted]).unwrap()
}

fn directly(law: &Law) -> Pmf {
    let inner = |law: &Law| row(law, None, &Uninterrupted).unwrap();
    match law.recipe() {
        Recipe::Sum(parts) => parts
            .iter()
            .map(directly)
            .fold(Pmf::point(0), |sum, part| sum.convolved(&part, &Uninterrupted).unwrap()),
        Recipe::Repeated { law, count } => {
            (0..*count).fold(Pmf::point(0), |sum, _| sum.convolved(&inner(law), &Uninterrupted).unwrap())
        }
        Recipe::Shifted(law, by) => {
            let row = directly(law);
            Pmf { first: row.first + by, ..row }
        }
        _ => Pmf::clone(&inner(law)),
    }
}

/// Bounded noise on a coarser lattice has no cumulant function here: what is repeated is inverted, all else is convolved, and what is missing of
/// the parts is missing of the sum.
#[test]
fn large_sums_with_other_noise_are_their_convolutions() {
    let noise = Law::noise(Noise::Geometric { alpha: fraction(1, 2) }).unwrap().truncated(-4, 5).unwrap();
    let law = Law::sum(vec![large_sum(), noise.scaled(7).unwrap()]).unwrap();
    let (found, expected) = (row(&law, Some(80), &Uninterrupted).unwrap(), directly(&law));
    assert!(!power(78).certainly_less(found.missing), "{:?}", found.missing);
    for (answer, &mass) in (found.first..).zip(&found.masses) {
        assert!(agree(mass.plus_at_most(found.missing), expected.at(answer)), "{answer}: {mass:?}");
    }
    assert!(found.at(i64::midpoint(found.first, found.last())).relative_error() < 1e-12);
}

#[test]
fn large_sums_by_inversion_are_their_convolutions() {
    let law = large_sum();
    let expected = directly(&law);
    assert_eq!(law.support(), (Some(expected.first), Some(expected.last())));
    for bits in [30, 80] {
        let found = row(&law, Some(bits), &Uninterrupted).unwrap();
        let mut left = Ball::ONE;
        for (answer, &mass) in (found.first..).zip(&found.masses) {
            assert!(agree(mass, expected.at(answer)), "{answer}: {mass:?}");
            left = left - expected.at(answer);
        }
        assert!(!found.missing.certainly_less(left), "{bits}: {left:?} is left out, not {:?}", found.missing);
        assert!(!power(bits - 2).certainly_less(found.missing), "{bits}: {:?}", found.missing);
        let middle = found.at(i64::midpoint(found.first, found.last()));
        assert!(middle.relative_error() < 1e-12, "{middle:?}");
    }
}

#[test]
fn the_tail_after_a_term_is_geometric_at_most() {
    let third = Ball::ONE / Ball::from_u64(3);
    let bound = |bits| tail_bound(third, third, bits);
    assert!(bound(2).is_some_and(|bound| agree(bound, Ball::ONE / Ball::from_u64(6))));
    assert!(bound(3).is_none() && tail_bound(third, Ball::ONE, 0).is_none());
}

#[test]
fn windows_grow_to_both_sides_and_keep_what_they_hold() {
    let mut row = Pmf::point(3);
    row.add(&Pmf::point(1), Ball::from_u64(5)).unwrap();
    row.add(&Pmf::point(6), Ball::from_u64(7)).unwrap();
    row.add(&Pmf::point(3), Ball::from_u64(2)).unwrap();
    let masses: Vec<f64> = (0..=7).map(|answer| row.at(answer).to_enclosure().upper()).collect();
    assert_eq!(masses, [0.0, 5.0, 0.0, 3.0, 0.0, 0.0, 7.0, 0.0]);
    assert_eq!((row.first, row.last()), (1, 6));
    let far = row.add(&Pmf::point(1 << 40), Ball::ONE).unwrap_err();
    assert!(far.to_string().contains("the answers from 1 to 1099511627776 are too many"), "{far}");
    assert!(Pmf::empty().add(&Pmf::empty(), Ball::ONE).is_ok() && Pmf::empty().last() == -1);
}

#[test]
fn what_is_missing_adds_up() {
    let part = |bits| Pmf { missing: power(bits), ..Pmf::point(2) };
    let sum = part(1).convolved(&part(2), &Uninterrupted).unwrap();
    assert!(agree(sum.missing, Ball::from_u64(3) * power(2)));
    let mut mixture = part(3);
    mixture.add(&part(1), power(1)).unwrap();
    assert!(agree(mixture.missing, Ball::from_u64(3) * power(3)));
    assert!(agree(part(4).scaled(-2).unwrap().missing, power(4)));
    assert!(agree(part(4).relabelled(&Relabelling::AtMost(9)).unwrap().missing, power(4)));
}

/// Noise with `α = ½` on data that are 0 or 2 with probability ½ each: an answer between has `Σ_j d_j α^{|a−j|} (1−α)/(1+α)`, and the first and the
/// last with all on their side `Σ_j d_j α^{distance}/(1+α)`.
#[test]
fn at_merged_ends_all_answers_on_one_side_are_one() {
    let half = Ball::ONE / Ball::from_u64(2);
    let data = Pmf { first: 0, masses: vec![half, Ball::ZERO, half], missing: power(9) };
    for (last, parts_of_24) in [(0, vec![24]), (2, vec![10, 4, 10]), (3, vec![10, 4, 5, 5])] {
        let row = with_merged_ends(&data, half, 0, last).unwrap();
        assert_eq!((row.first, row.last()), (0, last));
        for (mass, part) in row.masses.iter().zip(parts_of_24) {
            assert!(agree(*mass, Ball::from_u64(part) / Ball::from_u64(24)), "{row:?}");
        }
        assert!(agree(row.missing, power(9)));
    }
}

/// Rows of two laws share work where both are sampled, relabelled or smoothed alike, and only there.
#[test]
fn two_laws_have_the_rows_that_each_has_alone() {
    let count = Law::binomial(60, &fraction(3, 10)).unwrap();
    let more = Law::binomial(60, &fraction(7, 20)).unwrap();
    let sampled =
        |law: &Law, size| law.sampled(Sampling::WithoutReplacement { population: 60, size }).unwrap();
    let cut = |law: &Law, most| law.relabelled(Relabelling::AtMost(most)).unwrap();
    let noisy = |law: &Law, alpha| {
        let noise = Law::noise(Noise::Geometric { alpha }).unwrap();
        Law::sum(vec![law.clone(), noise]).unwrap()
    };
    let pairs = [
        [sampled(&count, 25), sampled(&more, 25)],
        [sampled(&count, 25), sampled(&more, 26)],
        [cut(&count, 9), cut(&more, 9)],
        [cut(&count, 9), cut(&more, 10)],
        [noisy(&count, fraction(1, 2)), noisy(&more, fraction(1, 2))],
        [noisy(&count, fraction(1, 2)), noisy(&more, fraction(1, 3))],
    ];
    for [one, other] in &pairs {
        let together = rows([one, other], Some(60), &Uninterrupted).unwrap();
        for (law, found) in [one, other].into_iter().zip(together) {
            let alone = row(law, Some(60), &Uninterrupted).unwrap();
            let gap = |answer: i64| found.at(answer) - alone.at(answer);
            let answers = found.first.min(alone.first)..=found.last().max(alone.last());
            let lost = found.missing + alone.missing;
            let far = answers.into_iter().find(|&answer| lost.certainly_less(gap(answer).max(-gap(answer))));
            assert_eq!(far, None, "{law:?}");
        }
    }
}
