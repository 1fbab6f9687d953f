//! Convex functions on a grid, enclosed from both sides, from the last answers back to the first choice.
//!
//! Values and arguments are in units of the step of the grid, whose nodes are the integers of a range.
//!
//! **Above.** `u_i ≥ U(i)` at the nodes. Between two nodes a convex function is below its chord; beyond the last node its slope is at most
//! one; before the first it is at most `u` there. So an answer that moves the argument by `o` in `[j, j+1]` contributes at most
//! `R(a) ((1−t) u_{i+j} + t u_{i+j+1})`, `t = o − j`: its probability is split onto two nodes, and all answers together are one sum of
//! nonnegative products. `U` does not fall, so the upper end of `o` may stand for it.
//!
//! **Below.** Wedges: for all real `x`
//!
//! ```text
//! U(x) ≥ l_i + r_i (x − i)_+ − f_i (i − x)_+,      0 ≤ r_i ≤ f_i.
//! ```
//!
//! *They are carried on.* Let `x = i + d`, and for each answer let `c` be a node next to `z = i + o`, on either side. If `z ≥ c`, the wedge of `c` at
//! `z + d` is at least its value at `z`, plus `r_c d` for `d ≥ 0`, and minus `f_c |d|` for `d ≤ 0`, since `r_c ≤ f_c`; likewise if `z ≤ c`. The sum over the
//! answers with weights `R(a)` is a wedge at `i` with the means of the values, of the `r_c` and of the `f_c`. Any choice of `c` is valid; the
//! larger value at `z` is taken, and of the queries the one with the larger sum. So the slopes cost no accuracy: at a node next to which a wedge touches
//! `U` it is a line of support. Answers left out contribute at least zero, `U ≥ 0` being nondecreasing. Answers in one
//! cell are replaced by one at their mean (Jensen), whose lower end may stand for it. Beyond the grid there are the wedges of `U(y) ≥ y_+`.
//!
//! Both errors are of the order of the step squared; the nodes include 0, where alone `y_+` is not affine, so that the last answers add none.
//!
//! **Rounding.** A sum of `n` nonnegative products in doubles, each of up to eight further rounded operations, errs by a relative
//! `(n + 10) 2^-53 (1 + tiny)` and by `n 2^-1074` for underflow; [`up`] and [`down`] pay twice that.

use super::outcomes::{Outcomes, Spread, outcomes};
use super::{Adaptive, Asked};
use crate::budget::{MAX_PRODUCTS_OF_A_GRID, MAX_VALUES_OF_A_GRID, MIN_NODES_OF_A_THREAD};
use crate::error::Error;
use crate::forms::Epsilon;
use crate::interrupt::Interrupt;
use crate::numbers::ball::Ball;
use std::thread;

/// Negative binary logarithms of what may be missing of the laws, tried one after the other; at last nothing is.
const LEVELS: [Option<u32>; 4] = [Some(120), Some(400), Some(1100), None];
/// What is missing does not matter if it is relatively less than this.
const NEGLIGIBLE: f64 = 1e-9;
/// Narrower enclosures, relatively, are answers.
const ACCURATE: f64 = 1e-6;
/// Values below this are not told from zero.
const TINY: f64 = 1e-290;
/// Nodes of the first grid, to see how many are needed.
const COARSE: f64 = 1024.0;
/// Standard deviations by which the grid exceeds the start of the sum and the range that matters.
const DEVIATIONS: f64 = 8.0;
/// Maximum shift that is followed, as a multiple of the length of the grid.
const FARTHEST: usize = 4;
/// Products between two polls of the interrupt.
const PRODUCTS_PER_CHECK: usize = 1 << 24;

/// `Δ(ε)` for `ε ≥ 0`; narrowly unless it is certainly less than `floor`, below which it does not matter.
pub(super) fn delta(
    strategy: &Adaptive,
    epsilon: &Epsilon,
    floor: Ball,
    interrupt: &dyn Interrupt,
) -> Result<Ball, Error> {
    let mut found = Err(Error::precision("these laws cannot be enclosed"));
    for left_out in LEVELS {
        let game = match outcomes(strategy, epsilon, left_out, interrupt) {
            Ok(outcomes) => Game::new(strategy, epsilon, outcomes, interrupt),
            // Wider windows are out of reach: what was found is right.
            Err(Error::Precision(_)) if found.is_ok() => break,
            Err(error) => return Err(error),
        };
        let (lower, upper) = game.enclosed(floor)?;
        found = ball(lower)
            .zip(ball(upper))
            .map(|(lower, upper)| lower.hull(upper))
            .ok_or_else(|| Error::precision("delta is not enclosed by numbers that doubles can hold"));
        if game.lost <= NEGLIGIBLE * lower || is_below(upper, floor) {
            break;
        }
    }
    found
}

fn is_below(x: f64, floor: Ball) -> bool {
    Ball::from_f64(x).is_some_and(|x| x.certainly_less(floor))
}

fn ball(x: f64) -> Option<Ball> {
    Ball::from_f64(x.clamp(0.0, 1.0))
}

/// At least the exact sum of `terms` nonnegative products, computed in doubles.
fn up(sum: f64, terms: usize) -> f64 {
    sum * (1.0 + slack(terms)) + f64::MIN_POSITIVE
}

/// At most that.
fn down(sum: f64, terms: usize) -> f64 {
    (sum * (1.0 - slack(terms)) - f64::MIN_POSITIVE).max(0.0)
}

fn slack(terms: usize) -> f64 {
    (terms as f64 + 16.0) * f64::EPSILON
}

/// One, and what the products of a slope to the left may lose by rounding: every such slope exceeds its proved bound by this factor.
const STEEP: f64 = 1.0 + 4.0 * f64::EPSILON;

/// All that an evaluation at one ε needs.
struct Game<'a> {
    strategy: &'a Adaptive,
    outcomes: Vec<Vec<Outcomes>>,
    /// `e^ε − 1`. The sum starts at the negative of this.
    start: Ball,
    reach: Reach,
    /// A bound of what the missing mass of the laws adds to the enclosure.
    lost: f64,
    interrupt: &'a dyn Interrupt,
}

/// Where the sum goes: for the choice of the grid alone.
#[derive(Clone, Copy, Debug)]
struct Reach {
    lowest: f64,
    highest: f64,
}

/// The integers from `first` on, `len` of them, in units of `step`.
#[derive(Clone, Copy, Debug)]
struct Grid {
    first: i64,
    len: usize,
    step: f64,
}

/// `U` from above and below at the nodes of a grid.
#[derive(Debug)]
struct Values {
    above: Vec<f64>,
    below: Vec<f64>,
    /// Slopes of the wedges to the right and to the left.
    rise: Vec<f64>,
    fall: Vec<f64>,
}

/// What a query does, on a grid.
#[derive(Debug)]
struct Moves {
    /// By node that follows.
    splits: Vec<(Option<usize>, Split)>,
    missing: f64,
    more: f64,
    excess: f64,
}

/// Probabilities on the grid.
#[derive(Debug, Default)]
struct Split {
    /// Splits of the probabilities onto the nodes, from above; zeros are left out.
    above: Vec<(i64, f64)>,
    /// For each cell its probability and the place of the mean in it, from below.
    below: Vec<(i64, f64, f64)>,
}

impl<'a> Game<'a> {
    fn new(
        strategy: &'a Adaptive,
        epsilon: &Epsilon,
        outcomes: Vec<Vec<Outcomes>>,
        interrupt: &'a dyn Interrupt,
    ) -> Self {
        let start = epsilon.ratio_minus_one();
        let total = total_spread(strategy, &outcomes);
        let (begin, deviation) =
            (start.to_enclosure().upper().min(1e300), DEVIATIONS * total.variance.sqrt());
        let reach = Reach {
            lowest: (-begin - deviation).max(total.least - begin).min(0.0),
            highest: deviation.min(total.greatest - begin).max(0.0),
        };
        let lost = outcomes.iter().flatten().map(|query| {
            (query.missing.0 * start + query.missing.0 + query.missing.1 + query.excess)
                .to_enclosure()
                .upper()
        });
        let lost = lost.sum();
        Self { strategy, outcomes, start, reach, lost, interrupt }
    }

    /// Coarsely first, then with as many nodes as the width shows to be needed, as far as the work allows.
    fn enclosed(&self, floor: Ball) -> Result<(f64, f64), Error> {
        let most = self.most_nodes();
        let mut nodes = COARSE.min(most);
        let (mut lower, mut upper) = (0.0f64, 1.0f64);
        loop {
            let (below, above) = self.on(self.grid(nodes))?;
            (lower, upper) = (lower.max(below), upper.min(above));
            let width = (upper - lower) / upper;
            let settled = width.is_nan() || width <= ACCURATE || upper < TINY || is_below(upper, floor);
            if settled || nodes >= most || self.lost > lower {
                return Ok((lower.min(upper), upper));
            }
            // The width falls with the square of the step.
            nodes = (nodes * 1.2 * (width / ACCURATE).sqrt()).clamp(2.0 * nodes, 32.0 * nodes).min(most);
        }
    }

    fn most_nodes(&self) -> f64 {
        let answers: f64 = self.outcomes.iter().flatten().map(|query| query.known.len() as f64).sum();
        let kept = MAX_VALUES_OF_A_GRID / (4.0 * self.strategy.nodes.len() as f64 + 16.0);
        (MAX_PRODUCTS_OF_A_GRID / (4.0 * answers + 1.0)).min(kept).max(64.0)
    }

    /// A grid with about this number of nodes. The step has 20 bits, so its multiples are exact.
    fn grid(&self, nodes: f64) -> Grid {
        let length = (self.reach.highest - self.reach.lowest).max(TINY);
        let step = f64::from_bits((length / nodes).to_bits() & !0xffff_ffff).max(f64::MIN_POSITIVE);
        let first = (self.reach.lowest / step).floor().min(0.0) as i64 - 1;
        let last = (self.reach.highest / step).ceil().max(0.0) as i64 + 1;
        Grid { first, len: last.abs_diff(first) as usize + 1, step }
    }

    /// `δ` from below and from above.
    fn on(&self, grid: Grid) -> Result<(f64, f64), Error> {
        let stop = Values::positive_part(grid);
        let mut values: Vec<Option<Values>> = (0..self.strategy.nodes.len()).map(|_| None).collect();
        for (index, node) in self.strategy.nodes.iter().enumerate().skip(1).rev() {
            values[index] = Some(self.at_node(index, node, grid, (&stop, &values), None)?);
        }
        let first = self.at_node(0, &self.strategy.nodes[0], grid, (&stop, &values), Some(-self.start))?;
        let in_units = |value: f64| value * grid.step;
        Ok((in_units(down(first.below[0], 1)), in_units(up(first.above[0], 1)).next_up()))
    }

    /// The best query at each node of the grid, or at one argument alone.
    fn at_node(
        &self,
        index: usize,
        node: &[Asked],
        grid: Grid,
        (stop, values): (&Values, &[Option<Values>]),
        alone: Option<Ball>,
    ) -> Result<Values, Error> {
        let place = if alone.is_some() { Grid { first: 0, len: 1, ..grid } } else { grid };
        let mut best: Option<Values> = None;
        for (asked, outcomes) in node.iter().zip(&self.outcomes[index]) {
            let follows =
                |node: Option<usize>| node.and_then(|node| values.get(node)?.as_ref()).unwrap_or(stop);
            let moves = Moves::new(asked, outcomes, grid, alone);
            let mut found = Values::zero(place.len);
            let mut terms = (0, 0);
            for (node, split) in &moves.splits {
                terms = (terms.0 + split.above.len(), terms.1 + split.below.len());
                self.add(&mut found, place, split, grid, follows(*node))?;
            }
            // Where one number is asked for, a node to its left and one to its right.
            let [left, right] = alone.map_or([grid.first; 2], |x| next_to(x, grid));
            let others = asked.next.iter().map(|next| follows(Some(next.node))).chain([stop]);
            let mut without = vec![0.0f64; place.len];
            for other in others {
                let padded = other.padded(grid, right, place.len);
                without.iter_mut().zip(padded.above).for_each(|(most, above)| *most = most.max(above));
            }
            found.settle(terms, &moves, left, &without);
            best = Some(match best {
                None => found,
                Some(best) => best.better(&found),
            });
        }
        best.ok_or_else(|| Error::argument("a node has no query"))
    }

    /// What the answers after which `next` follows contribute.
    fn add(
        &self,
        sum: &mut Values,
        place: Grid,
        split: &Split,
        grid: Grid,
        next: &Values,
    ) -> Result<(), Error> {
        let shifts = || split.above.iter().map(|cell| cell.0).chain(split.below.iter().map(|cell| cell.0));
        let (Some(least), Some(greatest)) = (shifts().min(), shifts().max()) else { return Ok(()) };
        let from = place.first + least;
        let padded = next.padded(grid, from, place.len + greatest.abs_diff(least) as usize + 1);
        let cells = (PRODUCTS_PER_CHECK / place.len).max(1);
        for cells in split.above.chunks(cells) {
            self.interrupt.check()?;
            on_all_processors(sum.blocks(), |first, block| {
                for &(shift, mass) in cells {
                    let start = first + shift.abs_diff(least) as usize;
                    for (sum, above) in block.above.iter_mut().zip(&padded.above[start..]) {
                        *sum += mass * above;
                    }
                }
            });
        }
        for cells in split.below.chunks(cells) {
            self.interrupt.check()?;
            on_all_processors(sum.blocks(), |first, mut block| {
                for &(shift, mass, place) in cells {
                    block.add_wedges(&padded, first + shift.abs_diff(least) as usize, mass, place);
                }
            });
        }
        Ok(())
    }
}

/// Each block of nodes is one thread's, and each node's sum is added up in the same order whatever the number of processors.
fn on_all_processors<'a>(
    blocks: impl Iterator<Item = (usize, Block<'a>)>,
    work: impl Fn(usize, Block<'a>) + Sync,
) {
    let mut blocks = blocks;
    let own = blocks.next();
    let work = &work;
    thread::scope(|scope| {
        for (first, block) in blocks {
            scope.spawn(move || work(first, block));
        }
        if let Some((first, block)) = own {
            work(first, block);
        }
    });
}

/// Integers below and above a number, in units of the step.
fn next_to(x: Ball, grid: Grid) -> [i64; 2] {
    let ends = (x / Ball::from_f64(grid.step).unwrap_or(Ball::ONE)).to_enclosure();
    [ends.lower().floor() as i64, (ends.upper().floor() as i64).saturating_add(1)]
}

/// The variance along the worst path and the farthest that sums can go.
fn total_spread(strategy: &Adaptive, outcomes: &[Vec<Outcomes>]) -> Spread {
    let mut found = vec![Spread::default(); strategy.nodes.len()];
    for (index, node) in strategy.nodes.iter().enumerate().rev() {
        for (asked, outcomes) in node.iter().zip(&outcomes[index]) {
            let own = outcomes.spread;
            let then = asked.next.iter().filter_map(|next| found.get(next.node).copied());
            let then = then.chain([Spread::default()]).reduce(Spread::hull).unwrap_or_default();
            let both = Spread {
                variance: own.variance + then.variance,
                least: own.least + then.least,
                greatest: own.greatest + then.greatest,
            };
            found[index] = found[index].hull(both);
        }
    }
    found[0]
}

impl Spread {
    fn hull(self, other: Self) -> Self {
        Self {
            variance: self.variance.max(other.variance),
            least: self.least.min(other.least),
            greatest: self.greatest.max(other.greatest),
        }
    }
}

impl Moves {
    fn new(asked: &Asked, outcomes: &Outcomes, grid: Grid, alone: Option<Ball>) -> Self {
        // A step of 20 bits is exact.
        let step = Ball::from_f64(grid.step).unwrap_or(Ball::ONE);
        let origin = alone.unwrap_or(Ball::ZERO);
        let mut cells: Vec<(Option<usize>, Cells)> = asked
            .next
            .iter()
            .map(|next| Some(next.node))
            .chain([None])
            .map(|node| (node, Cells::default()))
            .collect();
        let farthest = (FARTHEST * grid.len) as f64;
        let mut missing = outcomes.missing;
        for outcome in &outcomes.known {
            let shift = (origin + outcome.shift) / step;
            let ends = shift.to_enclosure();
            if ends.upper() > farthest {
                // U(y + o) ≤ U(y) + o_+.
                missing =
                    (missing.0 + outcome.mass, missing.1 + outcome.mass * (shift * step).max(Ball::ZERO));
                continue;
            }
            let mass = outcome.mass.to_enclosure();
            if let Some((_, cells)) = cells.iter_mut().find(|(node, _)| *node == outcome.node) {
                cells.add((mass.lower().max(0.0), mass.upper()), (ends.lower(), ends.upper()), farthest);
            }
        }
        let above = |ball: Ball| ball.to_enclosure().upper().max(0.0);
        Self {
            splits: cells
                .into_iter()
                .filter(|(_, cells)| !cells.0.is_empty())
                .map(|(node, cells)| (node, cells.split()))
                .collect(),
            missing: above(missing.0),
            more: above(missing.1 / step),
            excess: above(outcomes.excess / step),
        }
    }
}

/// By cell of the grid: the split onto its left and its right node from above, and probability and moment from below.
#[derive(Default)]
struct Cells(std::collections::BTreeMap<i64, [f64; 4]>, usize);

impl Cells {
    fn add(&mut self, (least, most): (f64, f64), (lower, upper): (f64, f64), farthest: f64) {
        self.1 += 1;
        // To the right is above.
        let upper = upper.max(-farthest);
        let cell = upper.floor();
        let place = (upper - cell).next_up().min(1.0);
        let entry = self.0.entry(cell as i64).or_default();
        entry[0] += most * (1.0 - place).next_up();
        entry[1] += most * place;
        if lower >= -farthest {
            let cell = lower.floor();
            let place = (lower - cell).next_down().max(0.0);
            let entry = self.0.entry(cell as i64).or_default();
            entry[2] += least;
            entry[3] += least * place;
        }
    }

    fn split(self) -> Split {
        let Self(cells, terms) = self;
        let mut split = Split::default();
        let mut carried = (i64::MIN, 0.0);
        for (cell, [left, right, mass, moment]) in cells {
            if carried.0 == cell {
                split.above.push((cell, up(left + carried.1, terms)));
            } else {
                if carried.1 > 0.0 {
                    split.above.push((carried.0, up(carried.1, terms)));
                }
                split.above.push((cell, up(left, terms)));
            }
            carried = (cell + 1, right);
            let (mass, most) = (down(mass, terms), up(mass, terms));
            if mass > 0.0 {
                split.below.push((cell, mass, (down(moment, terms) / most).next_down().clamp(0.0, 1.0)));
            }
        }
        if carried.1 > 0.0 {
            split.above.push((carried.0, up(carried.1, terms)));
        }
        split
    }
}

impl Values {
    fn zero(len: usize) -> Self {
        let zeros = || vec![0.0; len];
        Self { above: zeros(), below: zeros(), rise: zeros(), fall: zeros() }
    }

    /// `y_+`, exactly.
    fn positive_part(grid: Grid) -> Self {
        let nodes = || grid.first..grid.first + grid.len as i64;
        let values: Vec<f64> = nodes().map(|node| node.max(0) as f64).collect();
        let slopes = |slope: f64| nodes().map(|node| if node < 0 { 0.0 } else { slope }).collect();
        Self { above: values.clone(), below: values, rise: slopes(1.0), fall: slopes(STEEP) }
    }

    /// At `len` nodes from `from` on, beyond the grid as the module documentation says.
    fn padded(&self, grid: Grid, from: i64, len: usize) -> Self {
        let last = grid.len - 1;
        let mut padded = Self::zero(len);
        for (index, node) in (from..).take(len).enumerate() {
            let own = usize::try_from(node - grid.first).unwrap_or(0).min(last);
            let beyond = node - (grid.first + last as i64);
            padded.above[index] =
                if beyond > 0 { up(self.above[last] + beyond as f64, 1) } else { self.above[own] };
            if beyond > 0 {
                (padded.below[index], padded.rise[index], padded.fall[index]) = (node as f64, 1.0, STEEP);
            } else if node >= grid.first {
                (padded.below[index], padded.rise[index], padded.fall[index]) =
                    (self.below[own], self.rise[own], self.fall[own]);
            }
        }
        padded
    }

    /// The nodes, some thousand or more in a block, with the first of each; as many blocks as there are processors.
    fn blocks(&mut self) -> impl Iterator<Item = (usize, Block<'_>)> {
        let workers = thread::available_parallelism().map_or(1, usize::from).min(8);
        let len = self.below.len().div_ceil(workers).max(MIN_NODES_OF_A_THREAD);
        let slopes = self.rise.chunks_mut(len).zip(self.fall.chunks_mut(len));
        let values = self.above.chunks_mut(len).zip(self.below.chunks_mut(len));
        values.zip(slopes).enumerate().map(move |(number, ((above, below), (rise, fall)))| {
            (number * len, Block { above, below, rise, fall })
        })
    }
    /// From sums to bounds: rounding, and what is missing of the laws. `first` is the first node, `without` what `U` is at most where the
    /// query does nothing.
    fn settle(&mut self, (above, below): (usize, usize), moves: &Moves, first: i64, without: &[f64]) {
        for (sum, &unmoved) in self.above.iter_mut().zip(without) {
            *sum = up(up(*sum, above) + moves.missing * unmoved + moves.more, 2);
        }
        let slopes = self.rise.iter_mut().zip(&mut self.fall);
        for ((node, sum), (rise, fall)) in (first..).zip(&mut self.below).zip(slopes) {
            let lost = up(moves.missing * node.min(0).unsigned_abs() as f64 + moves.excess, 2);
            *sum = down(down(*sum, below) - lost, 1);
            *rise = down(*rise, below);
            *fall = up(*fall, below) + moves.missing;
            if *sum == 0.0 {
                // U ≥ 0 is all that is known.
                (*rise, *fall) = (0.0, 0.0);
            }
        }
    }

    /// Of two queries the one that is better, everywhere.
    fn better(mut self, other: &Self) -> Self {
        self.above.iter_mut().zip(&other.above).for_each(|(most, above)| *most = most.max(*above));
        let slopes = self.rise.iter_mut().zip(&mut self.fall);
        let others = other.below.iter().zip(other.rise.iter().zip(&other.fall));
        for ((below, (rise, fall)), (&value, (&to_right, &to_left))) in
            self.below.iter_mut().zip(slopes).zip(others)
        {
            if value > *below {
                (*below, *rise, *fall) = (value, to_right, to_left);
            }
        }
        self
    }
}

/// Some nodes of [`Values`].
struct Block<'a> {
    above: &'a mut [f64],
    below: &'a mut [f64],
    rise: &'a mut [f64],
    fall: &'a mut [f64],
}

impl Block<'_> {
    /// Adds, for one cell, the better of the wedges of its two nodes.
    fn add_wedges(&mut self, padded: &Values, start: usize, mass: f64, place: f64) {
        let rest = (1.0 - place).next_up();
        let nodes = self.below.len();
        let own = self.below.iter_mut().zip(self.rise.iter_mut()).zip(self.fall.iter_mut());
        let window = start..=start + nodes;
        let below = padded.below[window.clone()].windows(2);
        let rise = padded.rise[window.clone()].windows(2);
        let fall = padded.fall[window].windows(2);
        for ((((below_sum, rise_sum), fall_sum), below), (rise, fall)) in own.zip(below).zip(rise.zip(fall)) {
            let left = below[0] + rise[0] * place;
            let right = below[1] - fall[1] * rest;
            let is_left = left >= right;
            *below_sum += mass * if is_left { left } else { right };
            *rise_sum += mass * if is_left { rise[0] } else { rise[1] };
            *fall_sum += mass * if is_left { fall[0] } else { fall[1] };
        }
    }
}
