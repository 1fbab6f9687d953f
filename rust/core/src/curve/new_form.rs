//! A form that the crate does not know: every tier and every expression evaluates it through [`HockeyStick`] alone.

use super::digits as curve_digits;
use super::*;
use crate::curve::exact::{exact_delta, exact_terms};
use crate::digits;
use crate::exact::{self as exact_tier, Terms, quotient::Quotient};
use crate::forms::Digits;
use crate::interrupt::Uninterrupted;
use crate::{inverse, trade_off};
use std::cmp::Ordering;

/// Randomized response that reports the true value with probability `p > ½`: `δ(ε) = max(0, p − e^ε (1 − p))`.
#[derive(Clone, Debug)]
struct RandomizedResponse {
    truth: Rational,
}

impl RandomizedResponse {
    fn lie(&self) -> Rational {
        Rational::from(1i64).sub(&self.truth)
    }
}

impl HockeyStick for RandomizedResponse {
    fn delta(&self, epsilon: &Epsilon, _: Ball, _: &dyn Interrupt) -> Result<Ball, Error> {
        let gap = Ball::from_rational(&self.truth) - epsilon.ratio() * Ball::from_rational(&self.lie());
        Ok(gap.max(Ball::ZERO))
    }

    fn infinity_mass(&self, _: &dyn Interrupt) -> Result<Ball, Error> {
        Ok(Ball::ZERO)
    }

    fn reversed(&self) -> Form {
        Arc::new(self.clone())
    }

    fn terms(&self) -> f64 {
        1.0
    }

    fn digits(&self) -> Result<&dyn Digits, Error> {
        Ok(self)
    }

    fn exact(&self, at: &exact_tier::Evaluation<'_>) -> Result<Option<Terms>, Error> {
        let terms = Terms { first: Quotient::rational(&self.truth), second: Quotient::rational(&self.lie()) };
        let zero = Terms::integers(0, 0);
        Ok(Some(if at.compare(&terms, &zero)? == Ordering::Greater { terms } else { zero }))
    }
}

impl Digits for RandomizedResponse {
    fn value(&self, at: &digits::Evaluation<'_>) -> Result<digits::Ball, Error> {
        digits::settle(at.accuracy, at.interrupt, |bits| {
            let Some(ratio) = at.ratio(self.last_change()).at(bits) else { return Ok(None) };
            let lie = digits::Ball::rational(&self.lie(), bits);
            let gap = digits::Ball::rational(&self.truth, bits).minus(&ratio.times(&lie, bits), bits);
            Ok(if gap.is_not_positive() { Some(digits::Ball::zero()) } else { Some(gap) })
        })
    }

    fn last_change(&self) -> u64 {
        digits::evaluation::last_change(&[&self.truth])
    }
}

fn number(text: &str) -> Rational {
    Rational::parse(text).unwrap()
}

fn response(truth: &str) -> Curve {
    RandomizedResponse { truth: number(truth) }.into()
}

#[test]
fn every_tier_evaluates_it() {
    let curve = response("3/4");
    assert_eq!(exact_delta(&curve, &number("2"), &Uninterrupted).unwrap(), number("1/4"));
    assert_eq!(exact_delta(&curve, &number("3"), &Uninterrupted).unwrap(), number("0"));
    let terms = exact_terms(&curve, &number("1"), &Uninterrupted).unwrap();
    assert_eq!(terms, (number("3/4"), number("1/4")));
    for epsilon in ["0", "0.5", "1", "2", "-0.5"].map(number) {
        let delta = curve.delta(&epsilon, &Uninterrupted).unwrap();
        let exactly = curve_digits::delta(&curve, &epsilon, 30, &Uninterrupted).unwrap();
        let [lower, upper] = [exactly.lower(), exactly.upper()].map(|end| end.to_rational().unwrap());
        assert!(delta.contains(&lower) && delta.contains(&upper), "{}", epsilon.shown());
        assert!(delta.width() <= 1e-15);
    }
    let limit = curve_digits::infinity_mass(&curve, 10, &Uninterrupted).unwrap();
    assert!(limit.upper().to_rational().unwrap().is_zero());
}

/// `δ(ε) = δ` at `e^ε = (p − δ)/(1 − p)`, and `β(α) = max(1 − p, …)` bends at `α = 1 − p`.
#[test]
fn its_inverse_and_its_trade_off_function_are_found() {
    let curve = response("3/4");
    // ln 2
    let epsilon = inverse::epsilon(&curve, &number("1/4"), &Uninterrupted).unwrap();
    let ln_2 = number("0.69314718055994530941723212145817656807550013436026");
    assert!(epsilon.contains(&ln_2) && epsilon.width() < 1e-15, "{epsilon:?}");
    let digits = curve_digits::epsilon(&curve, &number("1/4"), 30, &Uninterrupted).unwrap();
    assert!(digits.contains(&ln_2));
    for (alpha, beta) in [("0", "1"), ("1/8", "5/8"), ("1/4", "1/4"), ("5/8", "1/8"), ("1", "0")] {
        let found = trade_off::beta(&curve, &number(alpha), &Uninterrupted).unwrap();
        let beta = Enclosure::from(&number(beta));
        assert!(
            found.lower() <= beta.upper() + 1e-15 && beta.lower() <= found.upper() + 1e-15,
            "{alpha}: {found:?}"
        );
        assert!(found.width() < 1e-13, "{alpha}: {found:?}");
    }
}

#[test]
fn expressions_contain_it() {
    let count = CountFamily::new(&number("1/2"), &number("1/2"), None).unwrap().of_size(9).unwrap();
    let half = || Weight::from(number("1/2"));
    let curves = [response("3/4"), count];
    let ratio = number("6/5");
    let values = curves.each_ref().map(|curve| exact_delta(curve, &ratio, &Uninterrupted).unwrap());
    let [one, other] = values.clone();
    let mean = Curve::Mean(curves.iter().map(|curve| (half(), curve.clone())).collect());
    let amplified = Curve::amplified(number("1/2"), response("3/4")).unwrap();
    for (curve, expected) in [
        (Curve::Max(curves.to_vec()), one.clone().max(other.clone())),
        (Curve::Min(curves.to_vec()), one.clone().min(other.clone())),
        (mean, one.add(&other).mul(&number("1/2"))),
        // ½ (3/4 − (1 + 2/5)/4)
        (amplified, number("1/5")),
    ] {
        assert_eq!(exact_delta(&curve, &ratio, &Uninterrupted).unwrap(), expected);
        let epsilon = number("0.182321556793954626211718025154514633");
        let found = curve.delta(&epsilon, &Uninterrupted).unwrap();
        let expected = Enclosure::from(&expected);
        assert!((found.upper() - expected.lower()).abs() < 1e-14, "{curve:?}");
    }
}

/// A form that says no more than it must.
#[derive(Clone, Debug)]
struct Plain;

impl HockeyStick for Plain {
    fn delta(&self, _: &Epsilon, _: Ball, _: &dyn Interrupt) -> Result<Ball, Error> {
        Ok(Ball::ONE)
    }

    fn infinity_mass(&self, _: &dyn Interrupt) -> Result<Ball, Error> {
        Ok(Ball::ONE)
    }

    fn reversed(&self) -> Form {
        Arc::new(Self)
    }

    fn terms(&self) -> f64 {
        1.0
    }
}

#[test]
fn abilities_that_a_form_does_not_state_are_unsupported() {
    let curve = Curve::from(Plain);
    let one = number("1");
    assert!(curve.delta(&one, &Uninterrupted).unwrap().contains(&one));
    let message = |found: Result<String, Error>| found.unwrap_err().to_string();
    let digits = curve_digits::delta(&curve, &one, 20, &Uninterrupted).map(|found| format!("{found:?}"));
    assert_eq!(message(digits), "this form has no digits; delta() without digits= encloses it");
    let exact = exact_delta(&curve, &number("2"), &Uninterrupted).map(|found| found.shown());
    assert_eq!(message(exact), "this form has no exact values; delta() encloses it");
    assert!(!curve.is_bracket() && !curve.has_rough_values());
    assert_eq!(curve.worst_pairs(&one, &Uninterrupted).unwrap(), None);
    assert_eq!(curve.deltas(&[0.5], &Uninterrupted).unwrap(), [Enclosure::point(1.0)]);
}
