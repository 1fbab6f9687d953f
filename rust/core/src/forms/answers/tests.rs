//! Curves of pairs of laws against rational hockey sticks.

use super::*;
use crate::answer::tests::{exact, fraction, law, zero};
use crate::answer::{Noise, Relabelling, Sampling};
use crate::interrupt::Uninterrupted;
use crate::numbers::ball::tests::members;
use crate::numbers::rational::{Rational, exponential};
use dashu_int::{IBig, UBig};
use proptest::prelude::*;

/// `e^ε` between two rationals, `2^-300` apart or less.
fn ratio(epsilon: &Rational) -> [Rational; 2] {
    if epsilon.is_zero() {
        return [Rational::from(1i64), Rational::from(1i64)];
    }
    let (low, high) = exponential(epsilon, 300);
    [low, high].map(|end| Rational::new(IBig::from(end), UBig::ONE << 300).unwrap())
}

fn hockey_stick(first: &Masses, ratio: &Rational, second: &Masses) -> Rational {
    let gap = |(answer, mass): (&i64, &Rational)| {
        mass.sub(&second.get(answer).cloned().unwrap_or_else(zero).mul(ratio)).max(zero())
    };
    first.iter().map(gap).fold(zero(), |sum, gap| sum.add(&gap))
}

/// Pairs of laws. One may have answers that the other lacks, and the two may be equal.
fn laws() -> impl Strategy<Value = [Law; 2]> {
    prop_oneof![
        (law(), law()).prop_map(|(one, other)| [one, other]),
        (law(), law()).prop_map(|(one, rest)| {
            let with = Law::sum(vec![one.clone(), rest.clone()]).unwrap();
            [with, rest]
        }),
        law().prop_map(|law| [law.shifted(1).unwrap(), law]),
        law().prop_map(|law| [law.clone(), law]),
    ]
}

fn small_epsilon() -> impl Strategy<Value = Rational> {
    prop_oneof![Just(zero()), (1i64..40, 1u64..16).prop_map(|(a, b)| fraction(a, b))]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn delta_holds_the_hockey_stick(laws in laws(), epsilon in small_epsilon(), reversed in any::<bool>()) {
        let [one, other] = laws.each_ref().map(exact);
        let pair = Answers::new(laws[0].clone(), laws[1].clone());
        let (pair, [first, second]) = if reversed { (pair.reversed(), [&other, &one]) } else { (pair, [&one, &other]) };
        let [low, high] = ratio(&epsilon);
        let delta = pair.delta(&Epsilon::new(&epsilon), Ball::ZERO, &Uninterrupted).unwrap();
        let [least, _, most] = members(delta);
        let (smallest, largest) = (hockey_stick(first, &high, second), hockey_stick(first, &low, second));
        prop_assert!(least <= largest && smallest <= most, "{} is not in {:?}", largest.shown(), delta);
        let width = most.sub(&least);
        prop_assert!(delta.relative_error() < 1e-14 || width < Rational::parse("1e-20").unwrap(), "{:?}", delta);
    }

    #[test]
    fn the_mass_at_infinity_is_that_of_what_the_second_law_does_not_give(laws in laws()) {
        let [first, second] = laws.each_ref().map(exact);
        let lost = first.iter().filter(|(answer, _)| second.get(answer).is_none_or(Rational::is_zero));
        let lost = lost.fold(zero(), |sum, (_, mass)| sum.add(mass));
        let found = Answers::new(laws[0].clone(), laws[1].clone()).infinity_mass(&Uninterrupted).unwrap();
        let [least, _, most] = members(found);
        prop_assert!(least <= lost && lost <= most, "{} is not in {:?}", lost.shown(), found);
        prop_assert!(found.relative_error() < 1e-20 || found.is_exact_zero(), "{:?}", found);
    }

    #[test]
    fn noise_that_is_added_last_moves_a_known_share(laws in laws(), epsilon in small_epsilon(), a in 1i64..5) {
        let alpha = fraction(a, 5);
        let noise = Law::noise(Noise::Geometric { alpha }).unwrap();
        let noisy = laws.map(|law| Law::sum(vec![law, noise.clone()]).unwrap());
        let pair = Answers::new(noisy[0].clone(), noisy[1].clone());
        prop_assert!(pair.infinity_mass(&Uninterrupted).unwrap().is_exact_zero());
        let masses = pair.masses(&Uninterrupted).unwrap();
        for law in masses.iter() {
            prop_assert_eq!(law.values().fold(zero(), |sum, mass| sum.add(mass)), Rational::from(1i64));
        }
        let [low, high] = ratio(&epsilon);
        let delta = pair.delta(&Epsilon::new(&epsilon), Ball::ZERO, &Uninterrupted).unwrap();
        let [least, _, most] = members(delta);
        prop_assert!(least <= hockey_stick(&masses[0], &low, &masses[1]));
        prop_assert!(hockey_stick(&masses[0], &high, &masses[1]) <= most);
        let width = most.sub(&least);
        prop_assert!(delta.relative_error() < 1e-14 || width < Rational::parse("1e-20").unwrap(), "{:?}", delta);
    }
}

fn delta(laws: [Law; 2], epsilon: &str) -> Ball {
    let [first, second] = laws;
    Answers::new(first, second)
        .delta(&Epsilon::new(&Rational::parse(epsilon).unwrap()), Ball::ZERO, &Uninterrupted)
        .unwrap()
}

/// `Bin(n−1, p) + v` marked ones, `s` of `n` drawn: `Bin(s−1, p) + v` of them with probability `s/n`, else `Bin(s, p)`.
#[test]
fn a_sample_holds_the_critical_entry_or_does_not() {
    let (n, s, p) = (700, 260, fraction(2, 5));
    let count = |n: u64| Law::binomial(n - 1, &p).unwrap();
    let sampling = Sampling::WithoutReplacement { population: n, size: s };
    for epsilon in ["0", "0.001", "0.05", "0.2", "0.4"] {
        let sampled = [1, 0].map(|by| count(n).shifted(by).unwrap().sampled(sampling.clone()).unwrap());
        let found = delta(sampled, epsilon);
        let mixed = [1, 0].map(|by| {
            let with = count(s).shifted(by).unwrap();
            let (inside, outside) = (fraction(s as i64, n), fraction((n - s) as i64, n));
            Law::mixture(vec![(inside, with), (outside, Law::binomial(s, &p).unwrap())]).unwrap()
        });
        let expected = delta(mixed, epsilon);
        assert!(!found.certainly_less(expected) && !expected.certainly_less(found), "{epsilon}: {found:?}");
        assert!(found.relative_error() < 1e-14, "{epsilon}: {found:?}");
    }
}

/// Balls of `1/3` and `1/3 + 2^-110` overlap.
#[test]
fn gaps_too_small_to_be_certain_are_counted_as_possible() {
    let tiny = (0..110).fold(Rational::from(1i64), |power, _| power.mul(&fraction(1, 2)));
    let table =
        |gap: &Rational| Law::table(0, vec![fraction(1, 3).add(gap), fraction(2, 3).sub(gap)]).unwrap();
    let [least, _, most] = members(delta([table(&tiny), table(&zero())], "0"));
    assert!(least <= tiny && tiny <= most, "{} to {}", least.shown(), most.shown());
}

/// Far beyond what the first levels leave out.
#[test]
fn tiny_deltas_are_found_in_wider_windows() {
    let count = |by| Law::binomial(400, &fraction(1, 2)).unwrap().shifted(by).unwrap();
    let counts = [exact(&count(1)), exact(&count(0))];
    let mut smallest = Rational::from(1i64);
    for epsilon in ["0.5", "1", "1.5", "2", "3", "4", "5"] {
        let found = delta([count(1), count(0)], epsilon);
        let [low, high] = ratio(&Rational::parse(epsilon).unwrap());
        let [least, _, most] = members(found);
        let expected = hockey_stick(&counts[0], &low, &counts[1]);
        assert!(least <= expected && hockey_stick(&counts[0], &high, &counts[1]) <= most, "{epsilon}");
        assert!(found.relative_error() < 1e-14, "{epsilon}: {found:?}");
        smallest = smallest.min(expected);
    }
    assert!(smallest < Rational::parse("1e-90").unwrap());
}

#[test]
fn nothing_is_at_infinity_where_the_second_law_covers_the_first() {
    let noise = Law::noise(Noise::Laplace { scale: fraction(2, 1) }).unwrap();
    let mass =
        |first: &Law, second: &Law| Answers::new(first.clone(), second.clone()).infinity_mass(&Uninterrupted);
    let shifted = noise.shifted(1).unwrap();
    assert!(mass(&shifted, &noise).unwrap().is_exact_zero());
    let twice = [&shifted, &noise].map(|law| law.scaled(2).unwrap());
    assert!(mass(&twice[0], &twice[1]).unwrap().is_exact_zero());
    let labels = Relabelling::Table(std::collections::BTreeMap::from([(0, 5)]));
    let published = [&shifted, &noise].map(|law| law.relabelled(labels.clone()).unwrap());
    assert!(mass(&published[0], &published[1]).unwrap().is_exact_zero());
    // Odd numbers against even ones: all of it, and not nothing.
    let odd = twice[1].shifted(1).unwrap();
    assert!(!mass(&odd, &twice[1]).is_ok_and(Ball::is_exact_zero));
    // Large laws are compared by their ends alone.
    let large = Law::binomial(1 << 50, &fraction(1, 2)).unwrap();
    let inner = Law::binomial((1 << 50) - 1, &fraction(1, 3)).unwrap();
    assert!(mass(&inner, &large).unwrap().is_exact_zero());
    assert!(mass(&inner.shifted(1).unwrap(), &large).unwrap().is_exact_zero());
    assert!(
        mass(&inner.shifted(2).unwrap(), &large).is_err()
            && mass(&inner.shifted(-1).unwrap(), &large).is_err()
    );
}

#[test]
fn large_laws_of_which_nothing_is_positive_are_as_good_as_equal() {
    let law = Law::binomial(1_000_000, &fraction(1, 2)).unwrap();
    let found = delta([law.clone(), law], "0.1").to_enclosure();
    assert!(found.upper() < 1e-35, "{found:?}");
}

#[test]
fn both_directions_share_what_was_computed() {
    let pair = Answers::new(Law::binomial(9, &fraction(1, 3)).unwrap(), Law::point(0));
    let back = pair.reversed();
    assert!(pair.laws()[0].is(back.laws()[1]) && back.reversed().laws()[0].is(pair.laws()[0]));
    assert!(Arc::ptr_eq(&back.shared, &pair.shared));
    pair.delta(&Epsilon::new(&zero()), Ball::ZERO, &Uninterrupted).unwrap();
    assert!(!back.shared.rows.lock().unwrap().is_empty());
    assert_eq!(pair.terms(), 10.0);
}

#[test]
fn noise_on_every_other_integer_reaches_what_the_data_reach() {
    let noise = Law::noise(Noise::Geometric { alpha: fraction(1, 2) }).unwrap().scaled(2).unwrap();
    let released = |data: &[i64]| {
        let masses = data.iter().map(|&mass| fraction(mass, data.iter().sum::<i64>() as u64)).collect();
        Law::sum(vec![Law::table(0, masses).unwrap(), noise.clone()]).unwrap()
    };
    let mass = |first: &Law, second: &Law| {
        members(Answers::new(first.clone(), second.clone()).infinity_mass(&Uninterrupted).unwrap())
    };
    let [least, _, most] = mass(&released(&[1, 1, 2]), &released(&[2, 1]));
    assert!(least <= zero() && most < Rational::parse("1e-70").unwrap(), "{}", most.shown());
    // Of even data alone a quarter is at odd answers.
    let [least, _, most] = mass(&released(&[1, 1, 2]), &released(&[1, 0, 1]));
    let quarter = fraction(1, 4);
    assert!(least <= quarter && quarter <= most && most < fraction(26, 100), "{}", most.shown());
}
