use super::*;
use crate::forms::finite::{Finite, Probabilities};
use crate::interrupt::Uninterrupted;
use crate::numbers::rational::Rational;
use proptest::prelude::*;

fn law(weights: &[u32]) -> Vec<Rational> {
    let total = weights.iter().map(|&weight| i64::from(weight)).sum::<i64>();
    weights
        .iter()
        .map(|&weight| Rational::from(i64::from(weight)).div(&Rational::from(total)).unwrap())
        .collect()
}

fn enclosed(masses: &[Rational], spread: f64) -> Vec<Enclosure> {
    let wide = |mass: &Rational| {
        let ends = Enclosure::from(mass);
        Enclosure::new(ends.lower() * (1.0 - spread), ends.upper() * (1.0 + spread)).unwrap()
    };
    masses.iter().map(wide).collect()
}

fn ratio(x: &Rational) -> ExpEpsilon {
    ExpEpsilon::exactly(x.clone()).unwrap()
}

fn refusal(result: Result<Enclosed, Error>) -> String {
    result.unwrap_err().to_string()
}

proptest! {
    #[test]
    fn the_hockey_stick_is_inside_and_as_narrow_as_what_is_known(
        (first, second) in (1usize..12).prop_flat_map(|n| (vec![1u32..1000; n], vec![1u32..1000; n])),
        numerator in 1i64..60,
        spread in prop_oneof![Just(0.0), Just(1e-3)],
    ) {
        let (p, q, x) = (law(&first), law(&second), Rational::from(numerator).div(&Rational::from(20i64)).unwrap());
        let both = |law: &[Rational]| Probabilities::exact("P", law.to_vec()).unwrap();
        let truth = Finite::new(both(&p), both(&q)).unwrap().exact(&x, &Uninterrupted).unwrap();
        let found = Enclosed::new(enclosed(&p, spread), enclosed(&q, spread), Some(0.0)).unwrap();
        let found = found.hockey_stick(&ratio(&x), &Uninterrupted).unwrap();
        prop_assert!(found.contains(&truth), "{truth:?} in {found:?}");
        // Each end errs by the spread and an ulp of P and of xQ, whose sums are 1 and x; the ends are rounded once more.
        let known = 2.0 * (spread + f64::EPSILON) * (1.0 + numerator as f64 / 20.0) + f64::EPSILON;
        prop_assert!(found.width() <= known, "{} above {known}", found.width());
    }
}

#[test]
fn what_is_not_listed_counts_in_full() {
    // Geometric laws on 0, 1, 2, … with ratios 1/2 and 1/4: P(a) > xQ(a) for a ≥ 1 at x = 1, so Δ = 1/2 − 1/4.
    let geometric =
        |base: f64, last: i32| (0..=last).map(|a| Enclosure::point((1.0 - base) * base.powi(a))).collect();
    let at = ratio(&Rational::from(1i64));
    for (last, elsewhere, least, most) in [
        (60, None, 0.25 - 1e-16, 0.25 + 1e-16),
        (9, None, 0.249, 0.2501),
        (9, Some(1.0 / 1024.0), 0.249, 0.2501),
        (9, Some(1.0), 0.249, 0.2501),
    ] {
        let laws = Enclosed::new(geometric(0.5, last), geometric(0.25, last), elsewhere).unwrap();
        let delta = laws.hockey_stick(&at, &Uninterrupted).unwrap();
        assert!(
            least <= delta.lower() && delta.upper() <= most && delta.lower() <= 0.25 && 0.25 <= delta.upper(),
            "{delta:?}"
        );
        assert!(delta.width() >= 0.5f64.powi(last + 1), "{delta:?}");
    }
}

#[test]
fn a_law_that_is_whole_is_told_far_out_in_its_tail() {
    // P = (1 − t, t) and Q = (1, 0) with t = 2^-200: δ = t, and 1 − t is known to an ulp only.
    let tiny = 0.5f64.powi(200);
    let almost_one = Enclosure::new(1.0f64.next_down(), 1.0).unwrap();
    let p = vec![almost_one, Enclosure::point(tiny)];
    let q = vec![Enclosure::point(1.0), Enclosure::point(0.0)];
    let at = ExpEpsilon::of(Rational::from(3i64));
    let whole =
        Enclosed::new(p.clone(), q.clone(), Some(0.0)).unwrap().hockey_stick(&at, &Uninterrupted).unwrap();
    assert_eq!(whole, Enclosure::point(tiny));
    let open = Enclosed::new(p, q, None).unwrap().hockey_stick(&at, &Uninterrupted).unwrap();
    assert!(open.lower() == tiny && open.upper() >= f64::EPSILON / 2.0, "{open:?}");
}

#[test]
fn what_is_no_pair_of_laws_is_refused() {
    let point = Enclosure::point;
    let half = vec![point(0.5), point(0.5)];
    let wrong = |p: Vec<Enclosure>, q: Vec<Enclosure>, missing| refusal(Enclosed::new(p, q, missing));
    assert!(wrong(half.clone(), vec![point(1.0)], None).starts_with("P has 2 probabilities and Q has 1"));
    assert_eq!(
        wrong(vec![point(-0.5), point(1.0)], half.clone(), None),
        "P[0] is in [-0.5, -0.5]; a probability from 0 to 1 is required"
    );
    assert_eq!(
        wrong(half.clone(), vec![point(0.0), point(1.5)], None),
        "Q[1] is in [1.5, 1.5]; a probability from 0 to 1 is required"
    );
    let much = vec![point(0.75), point(0.75)];
    assert_eq!(
        wrong(much.clone(), half.clone(), None),
        "P sums to at least 1.5; probabilities sum to at most one"
    );
    assert_eq!(wrong(half.clone(), much, None), "Q sums to at least 1.5; probabilities sum to at most one");
    let little = vec![point(0.25), point(0.25)];
    assert_eq!(
        wrong(little.clone(), half.clone(), Some(0.25)),
        "P sums to at most 0.5 and missing = 0.25; list the answers that P gives, or say what is missing"
    );
    assert!(Enclosed::new(little, half.clone(), Some(0.5)).is_ok());
    for missing in [-0.5, 1.5, f64::NAN, f64::INFINITY] {
        let told = wrong(half.clone(), half.clone(), Some(missing));
        assert!(
            told.ends_with("; a probability from 0 to 1 is required") && told.starts_with("missing = "),
            "{told}"
        );
    }
}

#[test]
fn an_end_beyond_what_a_probability_can_be_is_cut() {
    let p = vec![Enclosure::new(-1e-3, 0.5).unwrap(), Enclosure::new(0.5, 2.0).unwrap()];
    let q = vec![Enclosure::point(1.0), Enclosure::point(0.0)];
    let laws = Enclosed::new(p, q, Some(0.0)).unwrap();
    let delta = laws.hockey_stick(&ExpEpsilon::of(Rational::from(0i64)), &Uninterrupted).unwrap();
    assert_eq!((delta.lower(), delta.upper()), (0.5, 1.0));
}

#[test]
fn interruptions_arrive() {
    struct Stop;
    impl Interrupt for Stop {
        fn check(&self) -> Result<(), Error> {
            Err(Error::Interrupted)
        }
    }
    let half = || vec![Enclosure::point(0.5); 2];
    let laws = Enclosed::new(half(), half(), None).unwrap();
    assert_eq!(
        laws.hockey_stick(&ExpEpsilon::of(Rational::from(1i64)), &Stop).unwrap_err(),
        Error::Interrupted
    );
}
