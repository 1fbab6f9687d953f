//! Which patterns can be the worst: branch and bound.
//!
//! Any contour of an [inversion](super::inversion) is right for every sum, and at its nodes the transform of a sum is the product of those of its summands. So the transforms of
//! each kind of attributes are computed once for every way to give them their values, and a pattern costs a product a node. While kinds are undecided, the transforms of summands
//! that [dominate](super::envelope) theirs stand in the place of theirs: then
//!
//! ```text
//! E[S_+]  ≤  D(a)  ≤  (1/M) Σ_j e^{K(w_j)} (sinh(aw_j)/(aw_j))^r / w_j²        (the aliases m ≠ 0 are positive)
//! ```
//!
//! bounds all patterns of a branch. A branch whose bound is below a threshold is left.
//!
//! A normalised transform is at most one. So a node counts with a bound only, where the largest transforms of some kinds have a product next to zero.

use super::envelope::{Dominating, raise};
use super::inversion::{BLOCK, Contour, NEGLIGIBLE, Steps, Tilted};
use super::part::Evaluated;
use super::pattern::{chosen, shares};
use super::sum::{Sum, Summand, about};
use super::{Attributes, Composition, Pattern, Prepared};
use crate::budget::{
    MAX_KINDS, MAX_PATTERNS_LEFT, MAX_PRODUCTS_OF_BRANCHES, MAX_TERMS_OF_A_REFINEMENT, MAX_TRANSFORMS,
    MAX_WAYS,
};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::numbers::ball::Ball;
use crate::numbers::complex_ball::ComplexBall;

/// Branches between two polls of the interrupt.
const VISITS_PER_CHECK: usize = 256;

/// Some kinds of attributes, each with some law.
#[derive(Debug)]
struct Factor {
    /// `e^{K(c)}`.
    scale: Ball,
    /// What is added to the stop-loss.
    certain: Ball,
    /// The transform over the scale, at every node that is kept.
    transforms: Vec<ComplexBall>,
}

impl Factor {
    fn times(&self, other: &Self) -> Self {
        let products = self.transforms.iter().zip(&other.transforms).map(|(one, other)| one.times(*other));
        Self {
            scale: self.scale * other.scale,
            certain: self.certain + other.certain,
            transforms: products.collect(),
        }
    }
}

/// The ways to give the attributes of a kind their values.
type Ways = Vec<(Vec<u64>, Factor)>;

/// A kind of attributes that is decided after others.
#[derive(Debug)]
struct Level {
    kind: usize,
    ways: Ways,
    /// What dominates all kinds that are decided later, times the weights of the nodes.
    later: Factor,
}

/// Bounds of all patterns and of all their branches.
#[derive(Debug)]
pub(super) struct Branches {
    levels: Vec<Level>,
    /// `w_0 (1 − r)`.
    constant: Factor,
    /// A bound of what the dropped nodes add to a sum over nodes.
    beyond: Ball,
    period: Ball,
    /// A bound of what the missing masses add.
    missing: Ball,
}

/// What has been found on the way through the branches.
struct Walk<'a> {
    threshold: Ball,
    interrupt: &'a dyn Interrupt,
    products: usize,
    visits: usize,
    path: Pattern,
    /// Patterns by level.
    left: Vec<Pattern>,
}

impl Branches {
    /// Whether there are few enough kinds of attributes.
    pub(super) fn can_be_followed(composition: &Composition) -> bool {
        let ways: f64 = composition.attributes.iter().map(Attributes::ways).sum();
        composition.attributes.len() <= MAX_KINDS && ways <= MAX_WAYS
    }

    /// Bounds on a contour for a pattern that is probably bad, with a bound of this relative width. Nothing where the work is too much or no contour serves.
    pub(super) fn new(
        prepared: &Prepared<'_>,
        dominating: &Dominating,
        bad: &Pattern,
        width: f64,
        interrupt: &dyn Interrupt,
    ) -> Result<Option<Self>, Error> {
        let attributes = &prepared.composition.attributes;
        if dominating.most.is_not_positive() || !Self::can_be_followed(prepared.composition) {
            return Ok(None);
        }
        let laws = Laws { prepared, most: dominating.most };
        let kinds =
            (0..attributes.len()).map(|kind| laws.of_kind(kind)).collect::<Result<Vec<_>, Error>>()?;
        let of_bad = laws.of_pattern(bad)?;
        if of_bad.ends().is_none_or(|[most, least]| most.is_not_positive() || (-least).is_not_positive()) {
            return Ok(None);
        }
        let mut groups = vec![vec![Sum { constant: prepared.constant, summands: Vec::new() }]];
        for (ways, summands) in kinds.iter().zip(&dominating.summands) {
            let dominating = Sum { constant: Ball::ZERO, summands: summands.clone() };
            groups.push(ways.iter().map(|(_, sum)| sum.clone()).chain([dominating]).collect());
        }
        let atoms: usize =
            groups.iter().flatten().flat_map(|sum| &sum.summands).map(|summand| summand.atoms.len()).sum();
        let affordable =
            |contour: &Contour<'_>| contour.last_node() * atoms as f64 <= MAX_TERMS_OF_A_REFINEMENT;
        let Some(contour) = Contour::shared(&of_bad, width).filter(affordable) else { return Ok(None) };
        let tilted = |group: &Vec<Sum>| group.iter().map(|sum| Tilted::new(sum, contour.tilt())).collect();
        let tilted: Vec<Vec<Tilted>> = groups.iter().map(tilted).collect();
        let Some(nodes) = Nodes::of(&tilted, &contour, interrupt)? else { return Ok(None) };
        let scales =
            tilted.into_iter().map(|group| group.into_iter().map(|sum| sum.scale).collect()).collect();
        let shares =
            kinds.into_iter().map(|ways| ways.into_iter().map(|(share, _)| share).collect()).collect();
        Ok(Some(nodes.into_branches(&laws, scales, shares, contour.period(), dominating)))
    }

    /// The patterns that may be above a threshold; nothing where the search takes too long.
    pub(super) fn above(
        &self,
        threshold: Ball,
        interrupt: &dyn Interrupt,
    ) -> Result<Option<Vec<Pattern>>, Error> {
        let (path, left) = (Vec::new(), Vec::new());
        let mut walk = Walk { threshold, interrupt, products: 0, visits: 0, path, left };
        if !self.follow(&self.levels, &self.constant, &mut walk)? {
            return Ok(None);
        }
        let in_order = |path: Pattern| {
            let mut shares: Vec<(usize, Vec<u64>)> =
                self.levels.iter().map(|level| level.kind).zip(path).collect();
            shares.sort_unstable_by_key(|(kind, _)| *kind);
            shares.into_iter().map(|(_, share)| share).collect()
        };
        Ok(Some(walk.left.into_iter().map(in_order).collect()))
    }

    /// Whether all branches could be followed from some levels on.
    fn follow(&self, levels: &[Level], decided: &Factor, walk: &mut Walk<'_>) -> Result<bool, Error> {
        let Some((level, later)) = levels.split_first() else {
            walk.left.push(walk.path.clone());
            return Ok(walk.left.len() <= MAX_PATTERNS_LEFT);
        };
        for (share, factor) in &level.ways {
            if walk.visits.is_multiple_of(VISITS_PER_CHECK) {
                walk.interrupt.check()?;
            }
            walk.visits += 1;
            walk.products += 2 * factor.transforms.len();
            if walk.products > MAX_PRODUCTS_OF_BRANCHES {
                return Ok(false);
            }
            let more = decided.times(factor);
            if self.bound(&more, &level.later).certainly_less(walk.threshold) {
                continue;
            }
            walk.path.push(share.clone());
            let followed = self.follow(later, &more, walk)?;
            walk.path.pop();
            if !followed {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// At least the stop-loss of every pattern of a branch.
    fn bound(&self, decided: &Factor, later: &Factor) -> Ball {
        let terms = decided.transforms.iter().zip(&later.transforms).map(|(one, other)| one.times(*other));
        let sum = terms.fold(ComplexBall::ZERO, ComplexBall::plus).to_complex().re + self.beyond;
        decided.scale * later.scale * sum / self.period + decided.certain + later.certain + self.missing
    }
}

/// The laws that the attributes of a composition can have at one ε.
struct Laws<'a> {
    prepared: &'a Prepared<'a>,
    /// The greatest value of the sum.
    most: Ball,
}

impl Laws<'_> {
    /// Every way to give the attributes of a kind their values, and the sum of what their parts add.
    fn of_kind(&self, kind: usize) -> Result<Vec<(Vec<u64>, Sum)>, Error> {
        let Some(attribute) = self.prepared.composition.attributes.get(kind) else { return Ok(Vec::new()) };
        let with_sum = |share: Vec<u64>| {
            let summands = self.summands(self.parts(kind, &share))?;
            Ok((share, Sum { constant: Ball::ZERO, summands }))
        };
        shares(attribute.count, attribute.choices.len()).into_iter().map(with_sum).collect()
    }

    fn of_pattern(&self, pattern: &Pattern) -> Result<Sum, Error> {
        let summands = self.summands(chosen(&self.prepared.parts, pattern))?;
        Ok(Sum { constant: self.prepared.constant, summands })
    }

    fn parts(&self, kind: usize, share: &[u64]) -> Vec<(u64, &Evaluated)> {
        let of_kind = self.prepared.parts.get(kind).map(std::slice::from_ref).unwrap_or_default();
        chosen(of_kind, &vec![share.to_vec()])
    }

    fn summands(&self, parts: Vec<(u64, &Evaluated)>) -> Result<Vec<Summand>, Error> {
        let raised = |(copies, part): (u64, &Evaluated)| {
            let mut summand = part.summand(copies)?;
            if let Some(highest) = summand.highest() {
                raise(&mut summand.atoms, highest, self.most);
            }
            Ok(summand)
        };
        parts.into_iter().map(raised).collect()
    }

    fn certain(&self, kind: usize, share: &[u64]) -> Ball {
        let parts = self.parts(kind, share);
        parts.into_iter().fold(Ball::ZERO, |sum, (copies, part)| sum + part.certain * Ball::from_u64(copies))
    }
}

/// The transforms of some sums over their scales, at the nodes of a contour that count.
struct Nodes {
    /// By group, sum and node; any one of each group is taken.
    transforms: Vec<Vec<Vec<ComplexBall>>>,
    weights: Vec<ComplexBall>,
    /// The others add no more than this.
    beyond: Ball,
}

impl Nodes {
    /// Nothing if they are too many.
    fn of(
        groups: &[Vec<Tilted>],
        contour: &Contour<'_>,
        interrupt: &dyn Interrupt,
    ) -> Result<Option<Self>, Error> {
        let steps: Vec<Vec<Steps<'_>>> =
            groups.iter().map(|group| group.iter().map(|sum| Steps::new(sum, contour)).collect()).collect();
        let last = contour.last_node() as usize;
        let mut nodes = Self {
            transforms: groups.iter().map(|group| vec![Vec::new(); group.len()]).collect(),
            weights: Vec::new(),
            beyond: contour.rest_of_narrower(last),
        };
        let sums: usize = groups.iter().map(Vec::len).sum();
        for first in (0..=last).step_by(BLOCK) {
            interrupt.check()?;
            nodes.add(&steps, contour, first, BLOCK.min(last + 1 - first));
            if nodes.weights.len() * sums > MAX_TRANSFORMS {
                return Ok(None);
            }
        }
        Ok(Some(nodes))
    }

    /// A node counts where the largest of each group have a product that may matter.
    fn add(&mut self, steps: &[Vec<Steps<'_>>], contour: &Contour<'_>, first: usize, count: usize) {
        let mut bounds = vec![1.0f64; count];
        let mut found = Vec::new();
        for group in steps {
            if bounds.iter().all(|bound| *bound < NEGLIGIBLE) {
                break;
            }
            let products: Vec<Vec<ComplexBall>> =
                group.iter().map(|sum| sum.products(first, count)).collect();
            for (node, bound) in bounds.iter_mut().enumerate() {
                let largest =
                    products.iter().filter_map(|of_sum| of_sum.get(node)).map(|disc| disc.largest());
                // Rounded up.
                *bound = *bound * largest.fold(0.0, f64::max).min(1.0) * (1.0 + 2.0 * f64::EPSILON) + LEAST;
            }
            found.push(products);
        }
        for (node, (bound, weight)) in bounds.into_iter().zip(contour.weights(first, count)).enumerate() {
            if bound < NEGLIGIBLE {
                self.beyond = self.beyond + double(bound) * double(weight.largest());
                continue;
            }
            self.weights.push(weight);
            for (kept, of_sum) in self.transforms.iter_mut().flatten().zip(found.iter().flatten()) {
                kept.extend(of_sum.get(node));
            }
        }
    }

    /// Kinds whose dominating law is loosest are decided first.
    fn into_branches(
        self,
        laws: &Laws<'_>,
        scales: Vec<Vec<Ball>>,
        shares: Vec<Vec<Vec<u64>>>,
        period: Ball,
        dominating: &Dominating,
    ) -> Branches {
        let factor = |(transforms, scale)| Factor { scale, certain: Ball::ZERO, transforms };
        let mut groups =
            self.transforms.into_iter().zip(scales).map(|(transforms, scales)| {
                transforms.into_iter().zip(scales).map(factor).collect::<Vec<_>>()
            });
        let nothing = || Factor { scale: Ball::ONE, certain: Ball::ZERO, transforms: Vec::new() };
        let constant = groups.next().and_then(|mut group| group.pop()).unwrap_or_else(nothing);
        let mut kinds: Vec<(f64, usize, Ways, Factor)> = Vec::new();
        for (kind, ((mut factors, shares), &certain)) in
            groups.zip(shares).zip(&dominating.certain).enumerate()
        {
            let Some(bound) = factors.pop().map(|bound| Factor { certain, ..bound }) else { continue };
            let with_certain = |(share, factor): (Vec<u64>, Factor)| {
                let certain = laws.certain(kind, &share);
                (share, Factor { certain, ..factor })
            };
            let ways: Ways = shares.into_iter().zip(factors).map(with_certain).collect();
            let height = |factor: &Factor| about(factor.scale.ln());
            let most = ways.iter().map(|(_, factor)| height(factor)).fold(f64::NEG_INFINITY, f64::max);
            kinds.push((height(&bound) - most, kind, ways, bound));
        }
        kinds.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut later = Factor { transforms: self.weights, ..nothing() };
        let mut levels = Vec::new();
        for (_, kind, ways, bound) in kinds {
            let with_it = later.times(&bound);
            levels.push(Level { kind, ways, later });
            later = with_it;
        }
        levels.reverse();
        Branches { levels, constant, beyond: self.beyond, period, missing: dominating.missing }
    }
}

/// More than what underflow loses.
const LEAST: f64 = 1e-290;

fn double(x: f64) -> Ball {
    Ball::from_f64(x).unwrap_or(Ball::WHOLE)
}

#[cfg(test)]
mod tests {
    use super::super::End;
    use super::super::inversion::Goal;
    use super::*;
    use crate::forms::Epsilon;
    use crate::interrupt::Uninterrupted;
    use crate::numbers::rational::Rational;
    use proptest::prelude::*;

    /// Properties with several attributes each, on parts of these sizes in a population of 60.
    fn composition(kinds: &[(u64, u64, u64)]) -> Composition {
        let over = |top: u64, bottom: u64| Rational::from(top).div(&Rational::from(bottom)).unwrap();
        let used: u64 = kinds.iter().map(|(count, size, _)| count * size).sum();
        let attributes = kinds.iter().map(|&(count, size, tenths)| Attributes {
            count,
            choices: super::super::tests::property(60, size, &over(tenths, 10)),
        });
        Composition::new(over(60 - used, 60), attributes.collect()).unwrap()
    }

    fn kinds() -> impl Strategy<Value = Vec<(u64, u64, u64)>> {
        prop::collection::vec((1u64..3, 1u64..7, 0u64..10), 2..5)
    }

    fn all_values(prepared: &Prepared<'_>) -> Vec<(Pattern, Ball)> {
        let valued = |pattern: Pattern| {
            let value = prepared.value(&pattern, Goal::Narrow, &Uninterrupted).unwrap();
            (pattern, value)
        };
        prepared.composition.all_patterns().into_iter().map(valued).collect()
    }

    fn branches(prepared: &Prepared<'_>) -> Option<Branches> {
        let dominating = prepared.dominating(&Uninterrupted).unwrap();
        Branches::new(prepared, &dominating, &prepared.search(), 1e-4, &Uninterrupted).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn no_pattern_above_a_threshold_is_missing(kinds in kinds(), epsilon in 0u64..20, share in 0.5..1.0f64) {
            let composition = composition(&kinds);
            let epsilon = Epsilon::new(&Rational::from(epsilon).div(&Rational::from(10u64)).unwrap());
            let prepared = Prepared::new(&composition, &epsilon, End::Upper, &Uninterrupted).unwrap();
            let values = all_values(&prepared);
            let worst = values.iter().fold(Ball::ZERO, |worst, (_, value)| worst.max(*value));
            prop_assume!(worst.is_positive());
            let branches = branches(&prepared);
            prop_assume!(branches.is_some());
            let threshold = worst * double(share);
            if let Some(left) = branches.unwrap().above(threshold, &Uninterrupted).unwrap() {
                for (pattern, value) in values {
                    prop_assert!(left.contains(&pattern) || !threshold.certainly_less(value), "{pattern:?} is missing");
                }
            }
        }
    }

    /// A property that no entry has shows each entry that has it: of two parts of six entries in 60 each adds 6/60 where it is the first value that is asked for.
    #[test]
    fn what_answers_show_for_certain_is_counted_for_every_attribute() {
        let composition = composition(&[(2, 6, 0), (1, 6, 3)]);
        let epsilon = Epsilon::new(&Rational::from(1u64));
        let prepared = Prepared::new(&composition, &epsilon, End::Upper, &Uninterrupted).unwrap();
        let laws = Laws { prepared: &prepared, most: Ball::ONE };
        for (share, tenths) in [([2, 0], 2), ([1, 1], 1), ([0, 2], 0)] {
            let gap = laws.certain(0, &share) - Ball::from_u64(tenths) / Ball::from_u64(10);
            assert!(!gap.is_positive() && !(-gap).is_positive(), "{share:?} {gap:?}");
        }
    }

    #[test]
    fn just_below_the_worst_pattern_only_it_is_left_and_just_above_it_none() {
        for (kinds, epsilon) in
            [(&[(2, 6, 3), (2, 5, 4), (1, 6, 2)][..], 5u64), (&[(2, 6, 1), (1, 6, 3), (1, 5, 2)], 2u64)]
        {
            let (composition, epsilon) = (
                composition(kinds),
                Epsilon::new(&Rational::from(epsilon).div(&Rational::from(10u64)).unwrap()),
            );
            let prepared = Prepared::new(&composition, &epsilon, End::Upper, &Uninterrupted).unwrap();
            let (worst, value) = all_values(&prepared)
                .into_iter()
                .reduce(|one, other| if one.1.certainly_less(other.1) { other } else { one })
                .unwrap();
            let branches = branches(&prepared).unwrap();
            let left = |share: f64| branches.above(value * double(share), &Uninterrupted).unwrap().unwrap();
            assert_eq!(left(0.998), [worst]);
            assert!(left(1.002).is_empty());
        }
    }
}
