//! One evaluation of a mean over compositions: laws that grow entry by entry, tables of the last group, and their products.

use super::plan::Plan;
use super::{Drawn, Group, Sum, UNDERFLOW, UNIT};
use crate::error::Error;
use crate::interrupt::Interrupt;
use std::cell::Cell;
use std::collections::BTreeMap;

/// The law of the ones among some entries.
#[derive(Clone)]
pub(super) struct Law {
    first: i64,
    values: Vec<f64>,
    /// What is missing.
    lost: f64,
    entries: i64,
}

impl Law {
    pub(super) fn nobody() -> Self {
        Self { first: 0, values: vec![1.0], lost: 0.0, entries: 0 }
    }

    /// One more entry; ends of at most this probability are left out.
    fn add(&mut self, group: &Group, ends: f64) {
        let old = &self.values;
        let mut new = Vec::with_capacity(old.len() + 1);
        new.push(group.q * old[0]);
        new.extend(old.windows(2).map(|pair| group.q * pair[1] + group.p * pair[0]));
        new.push(group.p * old[old.len() - 1]);
        self.entries += 1;
        let cut = |values: &mut dyn Iterator<Item = &f64>| {
            let (mut count, mut sum) = (0, 0.0);
            for &value in values {
                if sum + value > ends {
                    break;
                }
                sum += value;
                count += 1;
            }
            (count, sum)
        };
        let (above, lost) = cut(&mut new.iter().rev());
        if above < new.len() {
            new.truncate(new.len() - above);
            self.lost += lost;
        }
        let (below, lost) = cut(&mut new.iter());
        if below < new.len() {
            new.drain(..below);
            self.first += below as i64;
            self.lost += lost;
        }
        self.values = new;
    }

    fn last(&self) -> i64 {
        self.first + self.values.len() as i64 - 1
    }
}

/// The law of the ones in the last pool and its tails, from the greatest number of ones on.
struct Table {
    first: i64,
    at: Vec<f64>,
    at_least: Vec<f64>,
    at_most: Vec<f64>,
    total: f64,
    lost: f64,
    entries: i64,
}

impl Table {
    fn new(law: &Law) -> Self {
        let sums = |values: &mut dyn Iterator<Item = &f64>| -> Vec<f64> {
            values
                .scan(0.0, |sum, value| {
                    *sum += value;
                    Some(*sum)
                })
                .collect()
        };
        let at: Vec<f64> = law.values.iter().rev().copied().collect();
        let at_least = sums(&mut at.iter());
        let mut at_most = sums(&mut law.values.iter());
        at_most.reverse();
        let total = at_most[0];
        Self { first: law.first, at, at_least, at_most, total, lost: law.lost, entries: law.entries }
    }
}

/// One evaluation.
pub(super) struct Run<'a> {
    drawn: &'a Drawn,
    plan: &'a Plan,
    ends: f64,
    /// Less probable numbers of the first groups are skipped.
    rare: f64,
    /// The probability of all that were skipped.
    pub(super) skipped: Cell<f64>,
    ratio: f64,
    /// `r − 1`.
    above: f64,
    tables: BTreeMap<u64, Table>,
    pub(super) wanted: [bool; 2],
    /// Where the best test of the composition before was, by direction.
    hints: [Cell<i64>; 2],
    relative: f64,
    interrupt: &'a dyn Interrupt,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        drawn: &'a Drawn,
        plan: &'a Plan,
        [ends, rare]: [f64; 2],
        ratios: [f64; 2],
        interrupt: &'a dyn Interrupt,
    ) -> Self {
        let mut tables = BTreeMap::new();
        let mut law = Law::nobody();
        if drawn.irrelevant > 0 {
            tables.insert(0, Table::new(&law));
        } else if let Some(group) = drawn.groups.last() {
            for number in 0..=plan.last.1 {
                if number >= plan.last.0 {
                    tables.insert(number, Table::new(&law));
                }
                law.add(group, ends);
            }
        } else {
            tables.insert(0, Table::new(&law));
        }
        // Entries, terms of sums, and what the ratio and the rest of one value lose.
        let relative = (4 * drawn.draws + 4 * drawn.draws.min(1 << 20) + 128) as f64 * UNIT;
        Self {
            drawn,
            plan,
            ends,
            rare,
            skipped: Cell::new(0.0),
            ratio: ratios[0],
            above: ratios[1],
            tables,
            wanted: [false; 2],
            hints: [Cell::new(0), Cell::new(0)],
            relative,
            interrupt,
        }
    }

    /// The mean over the pools from this one on, with so many draws left, after the entries before, whose numbers have the probability `chance`.
    pub(super) fn descend(&self, level: usize, left: u64, before: &Law, chance: f64) -> Result<Sum, Error> {
        let Some(row) = self.plan.rows.get(level).and_then(|rows| rows.get(&left)) else {
            return Ok(self.composition(left, before));
        };
        self.interrupt.check()?;
        let group = &self.drawn.groups[level];
        let mut law = before.clone();
        for _ in 0..row.least {
            law.add(group, self.ends);
        }
        let (mut value, mut error) = (0.0, 0.0);
        for (step, &weight) in row.values.iter().enumerate() {
            if step > 0 {
                law.add(group, self.ends);
            }
            if chance * weight < self.rare {
                self.skipped.set(self.skipped.get() + 1.001 * chance * weight);
                continue;
            }
            let further = left - row.least - step as u64;
            let inner = self.descend(level + 1, further, &law, chance * weight)?;
            value += weight * inner.value;
            error += weight * inner.error;
        }
        Ok(Sum { value, error })
    }

    /// One composition: the larger of the directions that are wanted.
    fn composition(&self, last: u64, law: &Law) -> Sum {
        let key = if self.drawn.irrelevant > 0 { 0 } else { last };
        let Some(table) = self.tables.get(&key) else { return Sum { value: 0.0, error: 1.0 } };
        let mut best = Sum { value: 0.0, error: 0.0 };
        for (mirrored, _) in self.wanted.iter().enumerate().filter(|(_, wanted)| **wanted) {
            let count = Count { law, table, mirrored: mirrored == 1 };
            let found = self.best(&count, &self.hints[mirrored]);
            best = Sum { value: best.value.max(found.value), error: best.error.max(found.error) };
        }
        best
    }

    /// `max_a f_a`, from the hint on.
    fn best(&self, count: &Count<'_>, hint: &Cell<i64>) -> Sum {
        let (least, greatest) = count.range();
        let (r, lost) = (self.ratio, count.law.lost + count.table.lost);
        let mut t = hint.get().clamp(least + 1, greatest + 1);
        let (mut below, mut at) = (count.at(t - 1), count.at(t));
        let mut before = None;
        if t <= greatest && below < r * at {
            while t <= greatest && below < r * at {
                (before, t) = (Some(below), t + 1);
                (below, at) = (at, count.at(t));
            }
        } else {
            while t > least + 1 {
                let further = count.at(t - 2);
                before = Some(further);
                if further < r * below {
                    break;
                }
                (at, below, t) = (below, further, t - 1);
                before = None;
            }
        }
        hint.set(t);
        let above = self.above * count.at_least(t);
        let missing = lost * (1.0 + r) + UNDERFLOW;
        let mut error = self.relative * (below + above) + 2.0 * missing;
        // `d_k` and its error, from the values beside it.
        let certain =
            |under: f64, over: f64| (under - r * over, self.relative * (under + r * over) + missing);
        let (mut k, mut under, mut over) = (t, below, at);
        while k <= greatest {
            let (difference, uncertain) = certain(under, over);
            if difference > uncertain {
                break;
            }
            error += uncertain - difference.min(0.0);
            k += 1;
            (under, over) = (over, count.at(k));
        }
        let (mut k, mut over) = (t - 1, below);
        while k > least {
            let under = before.take().unwrap_or_else(|| count.at(k - 1));
            let (difference, uncertain) = certain(under, over);
            if difference < -uncertain {
                break;
            }
            error += uncertain + difference.max(0.0);
            (k, over) = (k - 1, under);
        }
        Sum { value: (below - above).max(0.0), error }
    }
}

/// The number of ones among the entries of one composition, or of zeros if it is mirrored.
struct Count<'a> {
    law: &'a Law,
    table: &'a Table,
    mirrored: bool,
}

impl Count<'_> {
    fn entries(&self) -> i64 {
        self.law.entries + self.table.entries
    }

    fn turned(&self, k: i64) -> i64 {
        if self.mirrored { self.entries() - k } else { k }
    }

    /// Where the law is above zero.
    fn range(&self) -> (i64, i64) {
        let (least, greatest) = (
            self.law.first + self.table.first,
            self.law.last() + self.table.first + self.table.at.len() as i64 - 1,
        );
        if self.mirrored { (self.entries() - greatest, self.entries() - least) } else { (least, greatest) }
    }

    fn at(&self, k: i64) -> f64 {
        let (least, greatest) = self.range();
        if k < least || k > greatest {
            return 0.0;
        }
        self.product(&self.table.at, self.turned(k)).0
    }

    /// The probability of at least `k`.
    fn at_least(&self, k: i64) -> f64 {
        if self.mirrored {
            let (sum, from, _) = self.product(&self.table.at_most, self.turned(k));
            sum + self.table.total * self.law.values[..from].iter().sum::<f64>()
        } else {
            let (sum, _, to) = self.product(&self.table.at_least, k);
            sum + self.table.total * self.law.values[to..].iter().sum::<f64>()
        }
    }

    /// `Σ_x P[x] T(k−x)` over the places of `T`, and the places `from..to` of `x` where it has one: below `T` is beyond its end, above before its start.
    fn product(&self, table: &[f64], k: i64) -> (f64, usize, usize) {
        let (law, length) = (&self.law.values, table.len() as i64);
        let shift = length - 1 - (k - self.law.first - self.table.first);
        let from = (-shift).clamp(0, law.len() as i64) as usize;
        let to = (length - shift).clamp(from as i64, law.len() as i64) as usize;
        let start = (from as i64 + shift).clamp(0, length) as usize;
        (dot(&law[from..to], &table[start..start + (to - from)]), from, to)
    }
}

/// The scalar product, in eight sums: their order does not matter for its error.
fn dot(first: &[f64], second: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (a, b) = (first.chunks_exact(8), second.chunks_exact(8));
    let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a.zip(b) {
        for i in 0..8 {
            sums[i] += x[i] * y[i];
        }
    }
    sums.iter().sum::<f64>() + rest
}
