//! Which numbers of each group a mean over compositions goes through, and a bound of the probability of the others.

use super::{Drawn, UNIT};
use crate::error::Error;
use crate::laws::Hypergeometric;
use std::collections::BTreeMap;

/// The probabilities of a range of numbers.
pub(super) struct Row {
    pub(super) least: u64,
    pub(super) values: Vec<f64>,
}

/// Which numbers of each pool are gone through, with their probabilities given how many draws are left.
pub(super) struct Plan {
    pub(super) rows: Vec<BTreeMap<u64, Row>>,
    /// Numbers of the last pool.
    pub(super) last: (u64, u64),
    pub(super) ways: f64,
    pub(super) outside: f64,
    longest: usize,
}

impl Plan {
    pub(super) fn new(drawn: &Drawn, outside: f64) -> Result<Self, Error> {
        let sizes = drawn.sizes();
        let free = sizes.len().saturating_sub(1);
        let tail = outside / (2 * free.max(1)) as f64;
        let mut plan = Self { rows: Vec::new(), last: (drawn.draws, 0), ways: 0.0, outside: 0.0, longest: 0 };
        // How many ways lead to so many draws that are left.
        let mut left = BTreeMap::from([(drawn.draws, 1.0)]);
        for level in 0..free {
            let entries: u64 = sizes[level..].iter().sum();
            let (mut rows, mut next, mut largest) = (BTreeMap::new(), BTreeMap::new(), 0.0f64);
            for (&draws, &ways) in &left {
                let (row, beyond) = row(&Hypergeometric::new(entries, sizes[level], draws)?, tail);
                largest = largest.max(beyond);
                plan.longest = plan.longest.max(row.values.len());
                for number in (row.least..).take(row.values.len()) {
                    *next.entry(draws - number).or_insert(0.0) += ways;
                }
                rows.insert(draws, row);
            }
            plan.outside += largest;
            plan.rows.push(rows);
            left = next;
        }
        plan.ways = left.values().sum();
        plan.last = (left.keys().next().copied().unwrap_or(0), left.keys().next_back().copied().unwrap_or(0));
        Ok(plan)
    }

    /// That of a product of one probability of each row, and of a sum over them: `4u` a step from the mode of a row, where the error is a few ulp.
    pub(super) fn relative_error(&self) -> f64 {
        (self.rows.len() + 1) as f64 * (6 * self.longest + 32) as f64 * UNIT
    }
}

/// The law from its mode outwards until what is beyond has at most the probability `tail` on either side, and a bound of what is beyond.
pub(super) fn row(law: &Hypergeometric, tail: f64) -> (Row, f64) {
    let mode = law.mode();
    let start = law.probability(mode).to_enclosure().upper();
    let [entries, marked, draws] = [law.population(), law.marked(), law.draws()];
    // P[k+1]/P[k]
    let ratio = |k: u64| {
        let unmarked_left = (entries - marked + k + 1).saturating_sub(draws);
        ((marked - k) as f64 * (draws - k) as f64) / ((k + 1) as f64 * unmarked_left as f64)
    };
    let rest = |term: f64, ratio: f64| {
        if ratio < 1.0 { 1.001 * term * ratio / (1.0 - ratio) } else { f64::INFINITY }
    };
    let (mut up, mut beyond, mut term, mut k) = (vec![start], 0.0, start, mode);
    while k < law.greatest() {
        let step = ratio(k);
        let left = rest(term, step);
        if left <= tail {
            beyond += left;
            break;
        }
        term *= step;
        up.push(term);
        k += 1;
    }
    let (mut down, mut term, mut k) = (Vec::new(), start, mode);
    while k > law.least() {
        let step = 1.0 / ratio(k - 1);
        let left = rest(term, step);
        if left <= tail {
            beyond += left;
            break;
        }
        term *= step;
        down.push(term);
        k -= 1;
    }
    down.reverse();
    down.append(&mut up);
    (Row { least: k, values: down }, beyond)
}
