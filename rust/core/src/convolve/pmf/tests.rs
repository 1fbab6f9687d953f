//! Convolutions against those of exact numbers.

use super::*;
use crate::interrupt::Questions;
use crate::interrupt::Uninterrupted;
use crate::numbers::ball::tests::members;
use crate::numbers::rational::Rational;
use proptest::prelude::*;

fn row(masses: Vec<Ball>) -> Pmf {
    Pmf { first: 0, masses, missing: Ball::ZERO }
}

/// A convolution asks once there are more than `2^18` products since it asked last.
#[test]
fn long_convolutions_ask_whether_to_go_on() {
    let asked = |short: usize| {
        let questions = Questions::default();
        let row = |length: usize| Pmf { first: 0, masses: vec![Ball::ONE; length], missing: Ball::ZERO };
        row(BALLS_PER_CHECK / 2).convolved(&row(short), &questions).unwrap();
        questions.number()
    };
    assert_eq!([1, 2, 3, 5, 6].map(asked), [0, 0, 1, 1, 2]);
}

/// Of rows with `2^18` answers that are possible `2^36` products are allowed, and no more.
#[test]
fn convolutions_of_too_many_products_are_refused() {
    let row = |length: usize| Pmf { first: 0, masses: vec![Ball::ONE; length], missing: Ball::ZERO };
    let refused = row(1 << 18).convolved(&row((1 << 18) + 1), &Uninterrupted).unwrap_err().to_string();
    assert_eq!(refused, "a convolution of 68719738880 products is not tried");
}

/// Zeros, and masses of many orders of magnitude, `m · 2^-e (1 ± 2^-b)`.
fn masses(longest: usize) -> impl Strategy<Value = Vec<Ball>> {
    let mass = (0..4u8, 1..1u64 << 50, 0..2500i64, 62..104i64);
    prop::collection::vec(mass, 1..longest).prop_map(|masses| {
        let ball = |(kind, digits, exponent, bits): (u8, u64, i64, i64)| {
            let mass = Ball::from_u64(if kind == 0 { 0 } else { digits }).times_power_of_two(-exponent);
            mass.plus_at_most(mass.times_power_of_two(-bits))
        };
        masses.into_iter().map(ball).collect()
    })
}

fn exactly(one: &[Rational], other: &[Rational], place: usize) -> Rational {
    let products = one.iter().enumerate().filter_map(|(i, x)| Some(x.mul(other.get(place.checked_sub(i)?)?)));
    products.fold(Rational::from(0i64), |sum, product| sum.add(&product))
}

/// The least and the greatest of the masses, as far as they are known.
fn ends(masses: &[Ball]) -> [Vec<Rational>; 2] {
    [0, 2].map(|end: usize| masses.iter().map(|&mass| members(mass)[end].clone()).collect())
}

fn worst(masses: &[Ball]) -> f64 {
    let known = masses.iter().filter(|mass| !mass.is_exact_zero());
    known.map(|mass| mass.relative_error()).fold(0.0, f64::max)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases::cases(24, 48)))]

    #[test]
    fn convolutions_contain_the_sums_of_all_products_and_little_else(one in masses(40), other in masses(60)) {
        let found = row(one.clone()).convolved(&row(other.clone()), &Uninterrupted).unwrap();
        let error = (worst(&one) + worst(&other)) * 1.01 + 1e-24;
        let ([least, most], [low, high]) = (ends(&one), ends(&other));
        for (place, &sum) in found.masses.iter().enumerate() {
            let [below, _, above] = members(sum);
            prop_assert!(below <= exactly(&least, &low, place) && exactly(&most, &high, place) <= above);
            prop_assert!(sum.is_exact_zero() || sum.relative_error() <= error, "{sum:?} {error}");
        }
    }
}

/// `Σ_i (i + 1)(k − i + 1)` over as many products as several blocks hold.
#[test]
fn sums_of_many_products_keep_their_digits() {
    let length = 3 * BLOCK as u64 + 5;
    let rising = row((1..=length).map(Ball::from_u64).collect());
    let square = rising.convolved(&rising, &Uninterrupted).unwrap();
    for k in [0, 1, BLOCK as u64, length - 1, length, 2 * length - 3, 2 * length - 2] {
        let from = (k + 1).saturating_sub(length);
        let truth = (from..=k.min(length - 1)).map(|i| (i + 1) * (k - i + 1)).sum();
        let found = square.at(k as i64);
        assert!(
            !(found - Ball::from_u64(truth)).is_positive() && !found.certainly_less(Ball::from_u64(truth)),
            "{k}"
        );
        assert!(found.relative_error() < 1e-25, "{k}: {found:?}");
    }
}

/// The far tails of a binomial law reach down to `2^-3000`. A double holds a third of these exponents.
#[test]
fn counts_of_two_tables_are_those_of_both() {
    let count =
        |trials| crate::answer::sampling::binomial(trials, &Rational::parse("0.1").unwrap(), None).unwrap();
    let (found, expected) = (count(900).convolved(&count(40), &Uninterrupted).unwrap(), count(940));
    for (answer, &mass) in (0..).zip(&found.masses) {
        let expected = expected.at(answer);
        assert!(
            !mass.certainly_less(expected) && !expected.certainly_less(mass),
            "{answer}: {mass:?} {expected:?}"
        );
        assert!(mass.relative_error() < 1e-23, "{answer}: {mass:?}");
    }
}

#[test]
fn a_mass_that_is_hardly_known_or_far_below_the_others_widens_no_other_sum() {
    let mut masses = vec![Ball::ONE; 3 * TILE];
    masses[0] = Ball::ONE.plus_at_most(Ball::ONE.times_power_of_two(-20));
    masses[1] = Ball::ONE.times_power_of_two(-BAND * MAX_BANDS as i64 - 1);
    let zero = Rational::from(0i64);
    let (unequal, equal) = (row(masses), row(vec![Ball::ONE; 2 * TILE]));
    for sum in [
        unequal.convolved(&equal, &Uninterrupted).unwrap(),
        equal.convolved(&unequal, &Uninterrupted).unwrap(),
    ] {
        let width = |place: usize| sum.masses[place].relative_error();
        assert!(width(0) > 1e-7 && width(2 * TILE - 1) > 1e-8 && width(2 * TILE) < 1e-24);
        let total = sum.at(3 * TILE as i64 - 1) - Ball::from_u64(2 * TILE as u64);
        assert!(total.to_enclosure().contains(&zero) && total.to_enclosure().width() < 1e-20);
    }
}

/// Masses that lie apart are multiplied one by one: between them there would be little but zeros.
#[test]
fn masses_far_apart_are_not_written_out() {
    let zero = Rational::from(0i64);
    let apart = |stride: i64| row(vec![Ball::ONE; 2 * TILE]).scaled(stride).unwrap();
    let grid = apart(100).convolved(&apart(10_000), &Uninterrupted).unwrap();
    assert_eq!(grid.masses.iter().filter(|mass| !mass.is_exact_zero()).count(), 4 * TILE * TILE);
    assert!(
        grid.masses
            .iter()
            .all(|mass| mass.is_exact_zero() || (*mass - Ball::ONE).to_enclosure().contains(&zero))
    );
}

/// One question for each block of products of double-doubles.
#[test]
fn convolutions_in_double_doubles_ask_as_they_go_on() {
    let asked = |length: usize| {
        let questions = Questions::default();
        let masses = row(vec![Ball::ONE; length]);
        masses.convolved(&masses, &questions).unwrap();
        questions.number()
    };
    assert_eq!([100, 2000].map(asked), [1, 2]);
}
