//! Whichever question of long work is answered by an interruption, that is what comes out.

use super::tests::{partition, rational};
use super::*;
use crate::composition::Composed;
use crate::curve::Curve;
use crate::inverse;
use std::cell::Cell;
use std::sync::Arc;

/// Stops the work at one question, and only there: who takes that for something else goes on.
struct StopsAt {
    question: u64,
    asked: Cell<u64>,
}

impl Interrupt for StopsAt {
    fn check(&self) -> Result<(), Error> {
        self.asked.set(self.asked.get() + 1);
        if self.asked.get() == self.question { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// Whether work was stopped at this question, after which nothing may be asked; work that was not has asked less.
fn is_stopped_at<T>(question: u64, work: &dyn Fn(&dyn Interrupt) -> Result<T, Error>) -> bool {
    let stop = StopsAt { question, asked: Cell::new(0) };
    let result = work(&stop).map(|_| ());
    let asked = stop.asked.get();
    match result {
        Err(error) => assert_eq!((error, asked), (Error::Interrupted, question)),
        Ok(()) => assert!(asked < question, "the interruption at question {question} of {asked} was lost"),
    }
    asked == question
}

/// Interrupts at each of the first `most` questions, or at all of them if there are fewer. Returns the number of interruptions.
fn stops<T>(most: u64, work: &dyn Fn(&dyn Interrupt) -> Result<T, Error>) -> u64 {
    (1..=most).take_while(|&question| is_stopped_at(question, work)).count() as u64
}

/// Levels below, next to and above δ, at which it is looked at in different ways.
const LEVELS: [&str; 5] = ["1/2", "999/1000", "1", "1001/1000", "2"];

/// The values of three small parts are listed, and patterns are left by one law that dominates all.
#[test]
fn at_every_question_about_few_answers() {
    let composition = partition(12, &[(1, "1/2"), (2, "2/5"), (3, "1/3")], None);
    let at = Epsilon::new(&rational("1/10"));
    let delta = composition.exactly(&at, &crate::interrupt::Uninterrupted).unwrap();
    let all = stops(u64::MAX, &|interrupt| composition.exactly(&at, interrupt));
    assert!(all > 10, "{all}");
    for factor in LEVELS {
        let level = delta * Ball::from_rational(&rational(factor));
        assert!(stops(u64::MAX, &|interrupt| composition.told_from(level, &at, interrupt)) > 0);
    }
    stops(u64::MAX, &|interrupt| composition.infinity_mass(interrupt));
}

/// Of four parts of a hundred entries sums are inverted, and δ is told from a level by rough values first. Early questions are those of each way that is tried.
#[test]
fn at_the_first_questions_about_many_answers() {
    let parts = [(100, "1/2"), (101, "9/20"), (102, "2/5"), (103, "7/20")];
    let composition = partition(600, &parts, None);
    let at = Epsilon::new(&rational("1/10"));
    let rough = composition.delta(&at, End::Lower, &crate::interrupt::Uninterrupted).unwrap();
    for factor in LEVELS {
        let level = rough * Ball::from_rational(&rational(factor));
        assert!(stops(16, &|interrupt| composition.told_from(level, &at, interrupt)) > 1);
    }
    for end in [End::Lower, End::Upper, End::Dominating] {
        assert!(stops(16, &|interrupt| composition.delta(&at, end, interrupt)) > 1, "{end:?}");
    }
    assert_eq!(stops(16, &|interrupt| composition.ends(&at, interrupt)), 16);
    let curve = Curve::from(Composed::new(Arc::new(composition), None));
    assert_eq!(stops(16, &|interrupt| curve.delta(&rational("1/10"), interrupt)), 16);
    assert_eq!(stops(16, &|interrupt| inverse::epsilon(&curve, &rational("1/1000"), interrupt)), 16);
}
