//! Rows by inversion against direct convolution, and what rows are made of.

use super::*;
use crate::interrupt::Uninterrupted;
use crate::rational::Rational;

fn fraction(a: i64, b: u64) -> Rational {
    sampling::ratio(a.unsigned_abs(), b)
}

fn agree(one: Ball, other: Ball) -> bool {
    !one.certainly_less(other) && !other.certainly_less(one)
}

/// The summands of two kinds of tables, of binomial laws and of multiples.
fn large_sum() -> Law {
    let gaps = vec![fraction(1, 4), fraction(0, 1), fraction(1, 2), fraction(1, 4)];
    let table = Law::table(-1, gaps).unwrap().repeated(300).unwrap();
    let count = Law::binomial(800, &fraction(2, 7)).unwrap();
    let weighted = Law::binomial(150, &fraction(1, 3)).unwrap().scaled(3).unwrap();
    Law::sum(vec![table.shifted(5).unwrap(), count, weighted]).unwrap()
}

fn directly(law: &Law) -> Row {
    let inner = |law: &Law| row(law, None, &Uninterrupted).unwrap();
    match law.recipe() {
        Recipe::Sum(parts) => parts
            .iter()
            .map(directly)
            .fold(Row::point(0), |sum, part| sum.convolved(&part, &Uninterrupted).unwrap()),
        Recipe::Repeated { law, count } => {
            (0..*count).fold(Row::point(0), |sum, _| sum.convolved(&inner(law), &Uninterrupted).unwrap())
        }
        Recipe::Shifted(law, by) => {
            let row = directly(law);
            Row { first: row.first + by, ..row }
        }
        _ => Row::clone(&inner(law)),
    }
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
    let mut row = Row::point(3);
    row.add(&Row::point(1), Ball::from_u64(5)).unwrap();
    row.add(&Row::point(6), Ball::from_u64(7)).unwrap();
    row.add(&Row::point(3), Ball::from_u64(2)).unwrap();
    let masses: Vec<f64> = (0..=7).map(|answer| row.at(answer).to_enclosure().upper()).collect();
    assert_eq!(masses, [0.0, 5.0, 0.0, 3.0, 0.0, 0.0, 7.0, 0.0]);
    assert_eq!((row.first, row.last()), (1, 6));
    let far = row.add(&Row::point(1 << 40), Ball::ONE).unwrap_err();
    assert!(far.to_string().contains("the answers from 1 to 1099511627776 are too many"), "{far}");
    assert!(Row::empty().add(&Row::empty(), Ball::ONE).is_ok() && Row::empty().last() == -1);
}

#[test]
fn what_is_missing_adds_up() {
    let part = |bits| Row { missing: power(bits), ..Row::point(2) };
    let sum = part(1).convolved(&part(2), &Uninterrupted).unwrap();
    assert!(agree(sum.missing, Ball::from_u64(3) * power(2)));
    let mut mixture = part(3);
    mixture.add(&part(1), power(1)).unwrap();
    assert!(agree(mixture.missing, Ball::from_u64(3) * power(3)));
    assert!(agree(part(4).scaled(-2).unwrap().missing, power(4)));
    assert!(agree(part(4).relabelled(&Relabelling::AtMost(9)).unwrap().missing, power(4)));
}
