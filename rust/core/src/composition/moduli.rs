//! A bound of all patterns at once: the term of one of them at each node of a contour, times a factor for what the others can be.
//!
//! The contour is right for [every sum](super::branches). At a node, let `F_k` be the transform of summand `k` for the law that is *leading*, `F_{k,c}` that for another one, and
//! `β_{k,c} = arg F_{k,c}/F_k`. With `s` the weight of the node and `A = arg(s Π F_k)`, every choice of laws gives a term of modulus `|s| Π |F_{k,c}|` and argument `A + B`, `B = Σ β_{k,c}`.
//! **Lemma.** For `0 ≤ φ < π/2`, `τ = tan φ` and `ψ ≤ 3π/2`
//!
//! ```text
//! cos ψ  ≤  cos φ e^{τ(φ − ψ)}.
//! ```
//!
//! *Proof.* Between `−π/2` and `π/2` the right-hand side is that of the tangent of `ln cos` in `φ`, which is concave. From there to `3π/2` the left-hand side is not positive. At `ψ ≤ −π/2` the
//! right-hand side is at least what it is at `−π/2`: that is 1 for `φ = 0`, and its logarithm has the derivative `(φ + π/2)/cos² φ`. ∎ So, by mirror images for `τ < 0`, if no `A + B` is beyond `3π/2` on the side of `τ`,
//!
//! ```text
//! Re(s Π F_{k,c})  ≤  |s| cos φ e^{τ(φ − A)} Π_k max_c |F_{k,c}| e^{−τβ_{k,c}} ,
//! ```
//!
//! which with `φ = A` and the leading laws alone is their term, `Re(s Π F_k)`. The sum over the nodes bounds `E[S_+]` for every choice of laws.
//!
//! *Why that is narrow.* The laws of a part have one mean; with variances `σ² < σ'²` their transforms at `c + iθ` have about the quotient `e^{(c+iθ)²(σ'²−σ²)/2}`. Its modulus is at least one for
//! `θ ≤ c`, and the integrand next to nothing for larger θ: so the law with the larger variance leads at one node and at all that count. What is left to other laws is that they may turn a
//! term nearer to the real axis; but if `c` is the saddle point of the leading laws, `A` is nearly zero.

use super::Prepared;
use super::envelope::raise;
use super::inversion::{BLOCK, Contour, NEGLIGIBLE, Steps, Tilted, modulus_power};
use super::part::{Evaluated, merged};
use super::sum::{Sum, Summand};
use crate::budget::{MAX_ATOMS, MAX_NODES, MAX_NODES_THAT_MATTER};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::numbers::ball::Ball;
use crate::numbers::complex_ball::ComplexBall;
use crate::numbers::special::trigonometric::{angle, pi};

/// The approximate relative amount by which smoothing raises the bound: `2^-20`.
const WIDTH: f64 = 1.0 / ((1u64 << 20) as f64);
/// Rounds in which leading laws are chosen for a tilt, and a tilt for them.
const ROUNDS: usize = 4;
/// Maximum of `|τ|`: little remains of terms that point away from the positive real axis.
const STEEPEST: f64 = 4.0;
/// A term that may be below this part of the largest is bounded by its modulus: `2^-26`.
const MATTERS: f64 = 1.0 / ((1u64 << 26) as f64);
/// A bound of what underflow loses.
const LEAST: f64 = 1e-290;

/// `count` independent summands, each with any one of these laws.
struct Undecided {
    count: u64,
    laws: Vec<Sum>,
    /// At most what is missing of the laws, and `w_k Σ (P_{k,v} − rP_{k,w})_+` over answers that `R_k` does not give, of each.
    missing: Ball,
    certain: Ball,
}

/// Their transforms on a contour; the first is that of the leading law.
struct Transforms<'a> {
    count: u64,
    laws: Vec<Transform<'a>>,
}

struct Transform<'a> {
    steps: Steps<'a>,
    /// At most `F_{k,c}(c)/F_k(c)`.
    height: f64,
}

impl Prepared<'_> {
    /// An upper bound of every pattern. Nothing where no contour serves or the work is too much.
    pub(super) fn bound_by_moduli(&self, interrupt: &dyn Interrupt) -> Result<Option<Ball>, Error> {
        let mut undecided = self.undecided()?;
        let all = |of: fn(&Undecided) -> Ball| {
            undecided.iter().fold(Ball::ZERO, |sum, one| sum + of(one) * Ball::from_u64(one.count))
        };
        let certain = all(|one| one.certain);
        // Beside a value that is missing all other summands together have at most this expectation.
        let others = Ball::ONE + certain + self.constant.max(Ball::ZERO) + all(Undecided::gain);
        let added = certain + all(|one| one.missing) * others;
        let most = self.constant + all(Undecided::highest);
        if most.is_not_positive() {
            return Ok(Some(added));
        }
        for summand in undecided.iter_mut().flat_map(|one| &mut one.laws).flat_map(|law| &mut law.summands) {
            if let Some(highest) = summand.highest() {
                raise(&mut summand.atoms, highest, most);
            }
        }
        let summands = undecided.iter().flat_map(|one| &one.laws).flat_map(|law| &law.summands);
        if summands.map(|summand| summand.atoms.len()).sum::<usize>() > MAX_ATOMS {
            return Ok(None);
        }
        let leading = lead(self.constant, &mut undecided);
        let affordable = |contour: &Contour<'_>| contour.last_node() <= MAX_NODES;
        let Some(contour) = Contour::shared(&leading, WIDTH).filter(affordable) else { return Ok(None) };
        let tilted: Vec<Vec<Tilted>> = undecided
            .iter()
            .map(|one| one.laws.iter().map(|law| Tilted::new(law, contour.tilt())).collect())
            .collect();
        let together = Tilted::new(&leading, contour.tilt());
        let transforms: Vec<Transforms<'_>> = undecided
            .iter()
            .zip(&tilted)
            .map(|(one, laws)| Transforms::new(one.count, laws, &contour))
            .collect();
        let nodes = over_nodes(&Steps::new(&together, &contour), &transforms, &contour, interrupt)?;
        Ok(nodes.map(|nodes| together.scale * nodes / contour.period() + added))
    }

    /// What the attributes add: an attribute the sum of its parts for any of its pairs of values; where a part has several laws for one pair, each part any of its laws for any pair.
    fn undecided(&self) -> Result<Vec<Undecided>, Error> {
        let mut found = Vec::new();
        for (attribute, choices) in self.composition.attributes.iter().zip(&self.parts) {
            let count = attribute.count;
            if choices.iter().flatten().any(Evaluated::is_any_of_several) {
                for place in 0..choices.first().map_or(0, Vec::len) {
                    let mut one =
                        Undecided { count, laws: Vec::new(), missing: Ball::ZERO, certain: Ball::ZERO };
                    for part in choices.iter().filter_map(|choice| choice.get(place)) {
                        for (law, missing) in part.each_law(self.ratio)? {
                            one.add(vec![law], missing, part.certain);
                        }
                    }
                    found.push(one);
                }
                continue;
            }
            let mut one = Undecided { count, laws: Vec::new(), missing: Ball::ZERO, certain: Ball::ZERO };
            for choice in choices {
                let parts = merged(choice.iter().map(|part| (1, part)).collect());
                let summands =
                    parts.iter().map(|(copies, part)| part.summand(*copies)).collect::<Result<_, _>>()?;
                let sum = |of: &dyn Fn(u64, &Evaluated) -> Ball| {
                    parts.iter().fold(Ball::ZERO, |sum, (copies, part)| sum + of(*copies, part))
                };
                let missing = sum(&|copies, part| part.missing(copies, self.ratio));
                one.add(summands, missing, sum(&|copies, part| part.certain * Ball::from_u64(copies)));
            }
            found.push(one);
        }
        Ok(found)
    }
}

impl Undecided {
    fn add(&mut self, summands: Vec<Summand>, missing: Ball, certain: Ball) {
        self.laws.push(Sum { constant: Ball::ZERO, summands });
        self.missing = self.missing.max(missing);
        self.certain = self.certain.max(certain);
    }

    /// The greatest value.
    fn highest(&self) -> Ball {
        self.laws.iter().filter_map(Sum::ends).map(|[most, _]| most).reduce(Ball::max).unwrap_or(Ball::ZERO)
    }

    /// At least the expectation of what is positive.
    fn gain(&self) -> Ball {
        let of_summand = |summand: &Summand| {
            let gains = summand.atoms.iter().map(|atom| atom.mass * atom.value.max(Ball::ZERO));
            gains.fold(Ball::ZERO, |sum, gain| sum + gain) * Ball::from_u64(summand.count)
        };
        let of_law =
            |law: &Sum| law.summands.iter().fold(Ball::ZERO, |sum, summand| sum + of_summand(summand));
        self.laws.iter().map(of_law).fold(Ball::ZERO, Ball::max)
    }
}

/// The laws with the largest transforms at the tilt that is right for them are put first. The sum of these.
fn lead(constant: Ball, undecided: &mut [Undecided]) -> Sum {
    let first = |undecided: &[Undecided]| {
        let mut leading = Sum { constant, summands: Vec::new() };
        for one in undecided {
            for summand in one.laws.first().map(|law| &law.summands).into_iter().flatten() {
                let count = summand.count.saturating_mul(one.count);
                leading.summands.push(Summand { count, atoms: summand.atoms.clone() });
            }
        }
        leading
    };
    for _ in 0..ROUNDS {
        let tilt = first(undecided).roughly().saddle();
        for one in undecided.iter_mut() {
            let heights = one.laws.iter().map(|law| law.roughly().cumulants(tilt)[0]).enumerate();
            let highest = heights.max_by(|a, b| a.1.total_cmp(&b.1));
            if let Some((place, _)) = highest {
                one.laws.swap(0, place);
            }
        }
    }
    first(undecided)
}

impl<'a> Transforms<'a> {
    fn new(count: u64, laws: &'a [Tilted], contour: &'a Contour<'a>) -> Self {
        let leading = laws.first().map_or(Ball::ONE, |law| law.scale);
        let transform = |(place, law): (usize, &'a Tilted)| Transform {
            steps: Steps::new(law, contour),
            height: if place == 0 { 1.0 } else { (law.scale / leading).to_enclosure().upper() },
        };
        Self { count, laws: laws.iter().enumerate().map(transform).collect() }
    }

    /// Multiplies by what is at least `max_c |F_{k,c}|^count` over that of the leading law at the tilt.
    fn multiply(&self, bounds: &mut [f64], first: usize) {
        let mut largest = [0.0f64; BLOCK];
        for law in &self.laws {
            for (largest, modulus) in largest.iter_mut().zip(law.steps.moduli(first, bounds.len())) {
                *largest = largest.max(up(law.height * modulus));
            }
        }
        for (bound, largest) in bounds.iter_mut().zip(largest) {
            *bound = up(*bound * modulus_power(largest, self.count));
        }
    }

    /// `|F_{k,c}|` over the largest `F_k(c)`, and `β_{k,c}`.
    fn polar(&self, found: &[Vec<ComplexBall>], node: usize) -> Vec<(Ball, Ball)> {
        let at = |discs: &Vec<ComplexBall>| discs.get(node).copied().unwrap_or(ComplexBall::UNKNOWN);
        let leading = found.first().map_or(ComplexBall::UNKNOWN, at);
        let of_law = |(place, (law, discs)): (usize, (&Transform<'_>, &Vec<ComplexBall>))| {
            let disc = at(discs);
            let turn = if place == 0 { Ball::ZERO } else { argument(disc.times(leading.conjugate())) };
            (double(up(law.height * disc.largest().min(1.0))), turn)
        };
        self.laws.iter().zip(found).enumerate().map(of_law).collect()
    }
}

fn argument(disc: ComplexBall) -> Ball {
    let z = disc.to_complex();
    angle(z.re, z.im)
}

/// More than a product of doubles.
fn up(x: f64) -> f64 {
    x * (1.0 + 2.0 * f64::EPSILON) + LEAST
}

fn double(x: f64) -> Ball {
    Ball::from_f64(x).unwrap_or(Ball::WHOLE)
}

/// `cos φ e^{τ(φ − A)} Π_k (max_c |F_{k,c}| e^{−τβ_{k,c}})^n` for a term that points to `direction` where the leading laws have it, of moduli and turns by summand and law: for `φ = A`, about, or
/// for `φ = 0` if that is less.
fn bound_of_term(direction: ComplexBall, undecided: &[(u64, Vec<(Ball, Ball)>)]) -> Ball {
    let start = argument(direction);
    let at = |slope: Ball| {
        let angle = angle(Ball::ONE, slope);
        let cosine = (-((Ball::ONE + slope * slope).ln() / Ball::from_u64(2))).exp();
        undecided.iter().fold(cosine * (slope * (angle - start)).exp(), |product, (count, laws)| {
            let of_law = |(modulus, turn): &(Ball, Ball)| *modulus * (-(slope * *turn)).exp();
            product * laws.iter().map(of_law).fold(Ball::ZERO, Ball::max).powi(*count)
        })
    };
    let steepest = STEEPEST.copysign(direction.im);
    let slope =
        if direction.re > 0.0 { (direction.im / direction.re).clamp(-STEEPEST, STEEPEST) } else { steepest };
    let side = double(slope.signum());
    let farthest = undecided.iter().fold(side * start, |sum, (count, laws)| {
        let turn = laws.iter().fold(Ball::ZERO, |most, (_, turn)| most.max(side * *turn));
        sum + turn * Ball::from_u64(*count)
    });
    let flat = at(Ball::ZERO);
    let within = farthest.certainly_less(Ball::from_u64(3) * pi() / Ball::from_u64(2));
    if within { flat.min(at(double(slope))) } else { flat }
}

/// At least `Σ_j Re(s_j E e^{w_j S})` over its scale for the leading laws, whatever the laws are. Nothing where too many terms matter.
fn over_nodes(
    leading: &Steps<'_>,
    undecided: &[Transforms<'_>],
    contour: &Contour<'_>,
    interrupt: &dyn Interrupt,
) -> Result<Option<Ball>, Error> {
    let last = contour.last_node() as usize;
    // Where one of the other laws is a little higher at the tilt, terms may be that much larger.
    let height = undecided.iter().fold(Ball::ONE, |product, one| {
        let most = one.laws.iter().map(|law| law.height).fold(1.0, f64::max);
        product * double(most).powi(one.count)
    });
    let mut total = contour.rest_of_narrower(last) * height;
    for first in (0..=last).step_by(BLOCK) {
        interrupt.check()?;
        let mut moduli = vec![1.0f64; BLOCK.min(last + 1 - first)];
        // Some of the factors are often enough.
        let vanish = undecided.iter().any(|one| {
            one.multiply(&mut moduli, first);
            moduli.iter().all(|modulus| *modulus < NEGLIGIBLE)
        });
        if vanish {
            let sum = moduli.into_iter().fold(0.0, |sum, modulus| up(sum + modulus));
            total = total + double(sum) * contour.most_weight() * height;
            continue;
        }
        let weights = contour.weights(first, moduli.len());
        let terms = moduli.iter().zip(&weights).map(|(modulus, weight)| up(modulus * weight.largest()));
        let terms: Vec<f64> = terms.collect();
        // Nearly all of the integral is on the first nodes, and the largest of all terms among them.
        let largest = if first == 0 { terms.iter().copied().fold(0.0, f64::max) } else { f64::INFINITY };
        let matters = |term: f64| term >= MATTERS * largest;
        if terms.iter().filter(|term| matters(**term)).count() > MAX_NODES_THAT_MATTER {
            return Ok(None);
        }
        let nodes = (first == 0).then(|| FirstNodes::new(leading, undecided));
        for (node, (term, weight)) in terms.into_iter().zip(weights).enumerate() {
            let bound = nodes.as_ref().filter(|_| matters(term)).map(|nodes| nodes.bound(node, weight));
            total = total + bound.unwrap_or_else(|| double(term) * height);
        }
    }
    Ok(Some(total))
}

/// The transforms at the first nodes: for the leading laws together, and by summand and law.
struct FirstNodes<'a> {
    together: Vec<ComplexBall>,
    each: Vec<(&'a Transforms<'a>, Vec<Vec<ComplexBall>>)>,
}

impl<'a> FirstNodes<'a> {
    fn new(leading: &Steps<'_>, undecided: &'a [Transforms<'a>]) -> Self {
        let of_laws = |one: &'a Transforms<'a>| {
            (one, one.laws.iter().map(|law| law.steps.products(0, BLOCK)).collect())
        };
        Self { together: leading.products(0, BLOCK), each: undecided.iter().map(of_laws).collect() }
    }

    fn bound(&self, node: usize, weight: ComplexBall) -> Ball {
        let term = self.together.get(node).copied().unwrap_or(ComplexBall::UNKNOWN).times(weight);
        let polar: Vec<_> =
            self.each.iter().map(|(one, discs)| (one.count, one.polar(discs, node))).collect();
        double(weight.largest()) * bound_of_term(term, &polar)
    }
}

#[cfg(test)]
mod tests {
    use super::super::inversion::Goal;
    use super::super::sum::Atom;
    use super::super::tests::{borrowed, evenly, partition, property, rational};
    use super::super::{Attributes, Composition, End, Part};
    use super::*;
    use crate::forms::Epsilon;
    use crate::interrupt::Uninterrupted;
    use crate::numbers::complex::Complex;
    use crate::numbers::rational::Rational;
    use proptest::prelude::*;
    use std::f64::consts::PI;

    fn prepared<'a>(composition: &'a Composition, epsilon: &str) -> Prepared<'a> {
        Prepared::new(composition, &Epsilon::new(&rational(epsilon)), End::Upper, &Uninterrupted).unwrap()
    }

    fn bound(prepared: &Prepared<'_>) -> Ball {
        prepared.bound_by_moduli(&Uninterrupted).unwrap().unwrap()
    }

    fn over(top: u64, bottom: u64) -> Rational {
        Rational::from(top).div(&Rational::from(bottom)).unwrap()
    }

    /// Like properties on parts of these sizes in a population of 12 000, with `p` in tenths.
    fn of_kinds(kinds: &[(u64, u64, u64)]) -> Composition {
        let used: u64 = kinds.iter().map(|(count, size, _)| count * size).sum();
        let attributes = kinds.iter().map(|&(count, size, tenths)| Attributes {
            count,
            choices: property(12_000, size, &over(tenths, 10)),
        });
        Composition::new(over(12_000 - used, 12_000), attributes.collect()).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::cases::cases(3, 8)))]

        #[test]
        fn no_pattern_is_above_it(kinds in prop::collection::vec((1u64..3, 400u64..1500, 1u64..10), 2..4), hundredths in 0u64..20) {
            let composition = of_kinds(&kinds);
            let prepared = prepared(&composition, &format!("{hundredths}/100"));
            // Where no contour serves there is none.
            let found = prepared.bound_by_moduli(&Uninterrupted).unwrap();
            prop_assume!(found.is_some());
            let bound = found.unwrap();
            for pattern in composition.all_patterns() {
                let value = prepared.value(&pattern, Goal::Narrow, &Uninterrupted).unwrap();
                prop_assert!(!bound.certainly_less(value), "{pattern:?} {:?} {:?}", value.to_enclosure(), bound.to_enclosure());
            }
        }

    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::cases::cases(24, 48)))]

        /// Whatever law each summand has: its factor in polar form, relative to the leading one.
        #[test]
        fn the_real_part_of_no_choice_is_above_that_of_its_bound(
            laws in prop::collection::vec(prop::collection::vec((0.0..1.2f64, -1.0..1.0f64), 0..3), 1..5),
            start in -PI..PI, count in 1u64..4, chosen in prop::collection::vec(0usize..3, 15),
        ) {
            let polar = |&(modulus, turn): &(f64, f64)| (double(modulus), double(turn));
            let undecided: Vec<(u64, Vec<(Ball, Ball)>)> =
                laws.iter().map(|laws| (count, [(1.0, 0.0)].iter().chain(laws).map(polar).collect())).collect();
            let direction = ComplexBall { re: start.cos(), im: start.sin(), radius: 1e-15 };
            let mut term = Complex { re: Ball::ZERO, im: double(start) }.exp();
            for (place, choice) in chosen.iter().take(undecided.len() * count as usize).enumerate() {
                let (_, laws) = &undecided[place % undecided.len()];
                let (modulus, turn) = laws[choice % laws.len()];
                term = term * Complex { re: Ball::ZERO, im: turn }.exp().scale(modulus);
            }
            prop_assert!(!bound_of_term(direction, &undecided).certainly_less(term.re));
        }
    }

    /// Of the law that gains most, each of its summands as often as it is there.
    #[test]
    fn a_gain_is_the_expectation_of_what_is_positive() {
        let atoms = |value: f64| {
            [(value, 0.5), (-9.0, 0.25), (0.0, 0.25)]
                .map(|(value, mass)| Atom { value: double(value), mass: double(mass) })
                .to_vec()
        };
        let sum = |summands| Sum { constant: Ball::ZERO, summands };
        let twice = |value, count| {
            vec![Summand { count: 1, atoms: atoms(1.0) }, Summand { count, atoms: atoms(value) }]
        };
        let laws = vec![sum(twice(2.0, 3)), sum(twice(1.0, 4))];
        let gain = Undecided { count: 1, laws, missing: Ball::ZERO, certain: Ball::ZERO }.gain();
        assert!(
            (gain - double(3.5)).to_enclosure().width() < 1e-15 && !gain.certainly_less(double(3.5)),
            "{gain:?}"
        );
        assert!(!double(3.5).certainly_less(gain), "{gain:?}");
    }

    /// With the leading laws alone nothing is lost.
    #[test]
    fn the_bound_of_one_law_is_its_real_part_where_that_is_positive() {
        for (re, im) in [(1.0, 0.0), (0.8, 0.6), (0.6, -0.8), (0.28, 0.96)] {
            let direction = ComplexBall { re, im, radius: 0.0 };
            let found = bound_of_term(direction, &[(3, vec![(Ball::ONE, Ball::ZERO)])]).to_enclosure();
            assert!((found.upper() - re).abs() <= 1e-15, "{re} {found:?}");
        }
        for (re, im) in [(0.0, 1.0), (-0.6, -0.8), (-1.0, 0.0)] {
            let direction = ComplexBall { re, im, radius: 0.0 };
            let found = bound_of_term(direction, &[(3, vec![(Ball::ONE, Ball::ZERO)])]).to_enclosure();
            assert!(found.lower() >= 0.0 && found.upper() < 0.26, "{re} {found:?}");
        }
    }

    /// Beyond `3π/2` the tangent of `ln cos` is below a cosine: a turn of π from almost there leads back to the positive axis.
    #[test]
    fn turns_that_lead_once_around_are_bounded_by_moduli() {
        let start = ComplexBall { re: 0.6, im: 0.8, radius: 0.0 };
        let turned = double(2.0 * PI - 0.927);
        let found = bound_of_term(start, &[(1, vec![(Ball::ONE, Ball::ZERO), (Ball::ONE, turned)])]);
        assert!(found.to_enclosure().upper() >= 1.0);
    }

    #[test]
    fn sums_of_few_values_have_none() {
        let composition = partition(12, &[(3, "3/10"), (4, "1/2"), (5, "4/5")], None);
        assert!(prepared(&composition, "1/10").bound_by_moduli(&Uninterrupted).unwrap().is_none());
    }

    /// 2⁵¹² patterns, far into the tail: what one of them attains is next to what none exceeds.
    #[test]
    fn hundreds_of_different_parts_have_a_narrow_bound() {
        let parts = evenly(512, 64, [1, 9], 10);
        let all = partition(32768, &borrowed(&parts), None);
        for (epsilon, width) in [("0.02", 1e-4), ("0.08", 2e-6), ("0.2", 2e-6)] {
            let [lower, upper] = all.ends(&Epsilon::new(&rational(epsilon)), &Uninterrupted).unwrap();
            assert!(!upper.certainly_less(lower));
            let found = lower.hull(upper).to_enclosure();
            assert!(found.width() <= width * found.upper(), "{epsilon} {found:?}");
        }
    }

    /// Eight parts with p from 1/10 to 1/5. The worst is 1/10.
    #[test]
    fn a_range_has_a_bound_above_its_worst_probability_and_in_the_tail_below_that_in_convex_order() {
        let range = |lower: &str, upper: &str| Part::Range {
            count: 1000,
            share: over(1, 8000),
            lower: rational(lower),
            upper: rational(upper),
        };
        let of = |part: Part| {
            let attributes = vec![Attributes { count: 8, choices: vec![vec![part]] }];
            Composition::new(Rational::from(0i64), attributes).unwrap()
        };
        let (whole, worst) = (of(range("1/10", "1/5")), of(range("1/10", "1/10")));
        let (of_range, of_point) = (prepared(&whole, "1/5"), prepared(&worst, "1/5"));
        assert!(bound(&of_point).certainly_less(bound(&of_range)));
        let in_convex_order = |prepared: &Prepared<'_>| {
            prepared.envelope(&prepared.dominating(&Uninterrupted).unwrap(), &Uninterrupted).unwrap()
        };
        for prepared in [of_range, of_point] {
            assert!(bound(&prepared).certainly_less(in_convex_order(&prepared)));
        }
    }
}
