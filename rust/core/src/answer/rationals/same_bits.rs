//! Estimates of what exact laws cost, to the last bit: messages show one digit of them.

use super::super::same_bits::laws;
use super::*;
use crate::record::{Inner, Record};

#[test]
fn costs_of_exact_laws() {
    let mut record = Record::of("costs of exact laws");
    for (name, law) in laws() {
        record.note(name, Inner(Cost::of(&law)));
    }
    record.compare();
}
