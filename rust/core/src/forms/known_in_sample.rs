//! The count of a property in a hidden sample without replacement. The adversary knows some entries.
//!
//! Of `n` entries one is critical, `u` are known, `K` of them with the property, and `m = n−1−u` are independent with
//! probability `p`. So the total is `K + v + B` with `B ~ Bin(m, p)`, and the answer the number of ones among `s` draws. With `r = e^ε`,
//!
//! ```text
//! g_a(K) = P_0[answer ≥ a],     c_a(K) = g_a(K+1) − g_a(K) = (s/n) Σ_b P[B = b] P[Hyp(n−1, K+b, s−1) = a−1],
//! T_a(K) = P_1[answer ≥ a] − r P_0[answer ≥ a] = c_a(K) − (r−1) g_a(K),     T_a(K+1) − T_a(K) = c_a(K+1) − r c_a(K).
//! ```
//!
//! The adversary may know any `K` of them to be ones, and the worst `K` is often in the interior.
//!
//! **Theorem.** `P_1(a)/P_0(a)` increases in `a` and decreases in `K`; `c_a(K+1)/c_a(K)` decreases in `K`. So with `a*(K)` for the first answer
//! whose ratio is at least `r`, which does not fall with `K`, and `T_a` rising up to some `K` and falling after it,
//!
//! ```text
//! sup_K Δ_{1,0} = max(0, max_a max_K T_a(K)),     a*(0) ≤ a ≤ min(a*(u), s).
//! ```
//!
//! The proof is in `docs/explanation/known-entries-in-a-sample.md`. Any further `a` or `K` does no harm, as `T_a(K) ≤ Δ`: where a ratio cannot be told from
//! `r`, both sides are tried. `Δ_{0,1}` counts the zeros: `p` becomes `1−p` and `K` becomes `u−K`.

mod exact;
mod mixture;

use super::direction::Directed;
use super::hockey_stick::{Form, HockeyStick, WrittenOut};
use super::{Answers, Direction, Epsilon};
use crate::answer::{Law, Sampling};
use crate::budget::{MAX_KNOWN_ENTRIES, MAX_TERMS_OF_KNOWN_ENTRIES};
use crate::error::Error;
use crate::exact::{Evaluation, Terms};
use crate::interrupt::Interrupt;
use crate::laws::{Hypergeometric, Probability, binomial_probability};
use crate::numbers::approximate;
use crate::numbers::ball::Ball;
use crate::numbers::rational::Rational;
use mixture::{Mixture, Urn};
use std::sync::Arc;

/// Standard deviations that a sum covers.
const DEVIATIONS: f64 = 24.0;
/// Steps by the estimated slope before a search goes on by halving.
const STEPS: u32 = 4;

/// See the module documentation.
#[derive(Clone, Debug)]
pub struct KnownInSample {
    population: u64,
    known: u64,
    size: u64,
    p: Arc<Rational>,
    /// Nothing for a `p` of 0 or 1.
    at: Option<Probability>,
}

impl KnownInSample {
    /// A sample of `size` of `population` entries, the critical one and `known` others among them.
    ///
    /// # Errors
    /// `population` of 0 or above 2^53, `known` not below it, `size` of 0 or above it, `p` outside `[0, 1]` or within `2^-900` of an end.
    pub fn new(population: u64, known: u64, size: u64, p: &Rational) -> Result<Self, Error> {
        let one = Rational::from(1i64);
        if population == 0 || population > 1 << 53 {
            return Err(Error::argument(format!(
                "population = {population}; an integer from 1 to 2^53 is required"
            )));
        }
        if known >= population {
            return Err(Error::argument(format!(
                "known = {known}; an integer from 0 to {} is required: the critical entry is not known",
                population - 1
            )));
        }
        if size == 0 || size > population {
            return Err(Error::argument(format!(
                "size = {size}; an integer from 1 to the population of {population} is required"
            )));
        }
        if p.is_negative() || *p > one {
            return Err(Error::argument(format!("p = {}; a probability from 0 to 1 is required", p.shown())));
        }
        let at = if p.is_zero() || *p == one { None } else { Some(Probability::new(p)?) };
        if at.is_some_and(|at| at.odds.to_double_double().is_none()) {
            return Err(Error::argument(format!(
                "p = {}; where only part of the entries is drawn, a probability of 0, of 1, or at least 2^-900 from both is required",
                p.shown()
            )));
        }
        Ok(Self { population, known, size, p: Arc::new(p.clone()), at })
    }

    /// `sup_K Δ_{v,w}(ε)`, for an ε of either sign.
    ///
    /// # Errors
    /// [`Error::Precision`] where the sums would have too many terms, [`Error::Interrupted`].
    pub fn delta(
        &self,
        direction: Direction,
        epsilon: &Epsilon,
        interrupt: &dyn Interrupt,
    ) -> Result<Ball, Error> {
        if epsilon.is_negative() {
            return epsilon.reflect(|opposite| self.delta(direction.reversed(), opposite, interrupt));
        }
        if self.terms() > MAX_TERMS_OF_KNOWN_ENTRIES {
            return Err(Error::precision(format!(
                "{} known entries in a sample of {} of {} take about {:.0e} terms, above the limit of {MAX_TERMS_OF_KNOWN_ENTRIES:.0e}; the curve of the \
                 count of all entries bounds this one",
                self.known,
                self.size,
                self.population,
                self.terms()
            )));
        }
        Count::new(self, direction, epsilon, interrupt).supremum()
    }

    /// The laws of the answer for every number of ones among the known entries.
    pub(crate) fn written_out(&self, direction: Direction) -> Result<Vec<Answers>, Error> {
        if self.known > MAX_KNOWN_ENTRIES {
            return Err(Error::precision(format!(
                "{} known entries of a hidden sample have too many values for exact numbers or digits; up to {MAX_KNOWN_ENTRIES} \
                 are allowed, and delta() encloses the worst of any number",
                self.known
            )));
        }
        let others = Law::binomial(self.population - 1 - self.known, &self.p)?;
        let sample = || Sampling::WithoutReplacement { population: self.population, size: self.size };
        let laws = |total: u64| others.shifted(total as i64)?.sampled(sample());
        let pairs =
            (0..=self.known).map(|ones| Ok(Answers::in_direction(laws(ones + 1)?, laws(ones)?, direction)));
        pairs.collect()
    }

    /// The approximate number of terms of one evaluation: three sums for every answer that may be the best threshold, each from the middle
    /// of a bell outwards.
    #[must_use]
    pub fn terms(&self) -> f64 {
        let (n, known, s) = (self.population as f64, self.known as f64, self.size as f64);
        let answers = known * s / n + 4.0 + 2.0 * approximate::log2(s + 1.0);
        let hidden = self.at.map_or(0.0, |at| (at.p * at.q).to_enclosure().upper() * (n - known));
        3.0 * answers * (2.0 + DEVIATIONS * hidden.sqrt())
    }

    /// The limit for ε → ∞: without known ones, the probability that every other entry is a one and all ones are drawn. That answer needs the
    /// critical entry.
    #[must_use]
    pub fn infinity_mass(&self, direction: Direction) -> Ball {
        let Hidden { random, ones, at } = self.hidden(direction);
        let all = at.map_or(Ball::ONE, |at| at.p.powi(random));
        let marked = 1 + ones + random;
        Hypergeometric::new(self.population, marked, self.size)
            .map_or(Ball::ZERO, |law| law.probability(marked) * all)
    }

    /// The entries that are neither known nor critical, in the orientation of the direction.
    fn hidden(&self, direction: Direction) -> Hidden {
        let others = self.population - 1 - self.known;
        let counted = match direction {
            Direction::OneAgainstZero => !self.p.is_zero(),
            Direction::ZeroAgainstOne => *self.p != Rational::from(1i64),
        };
        let at = self.at.map(|at| match direction {
            Direction::OneAgainstZero => at,
            Direction::ZeroAgainstOne => at.complement(),
        });
        match at {
            Some(_) => Hidden { random: others, ones: 0, at },
            None => Hidden { random: 0, ones: if counted { others } else { 0 }, at },
        }
    }
}

/// `random` entries that may have either value, and `ones` that are counted for sure.
#[derive(Clone, Copy)]
struct Hidden {
    random: u64,
    ones: u64,
    at: Option<Probability>,
}

/// Everything at one ε ≥ 0, in one direction.
struct Count<'a> {
    given: &'a KnownInSample,
    hidden: Hidden,
    epsilon: f64,
    ratio: Ball,
    excess: Ball,
    interrupt: &'a dyn Interrupt,
}

impl<'a> Count<'a> {
    fn new(
        given: &'a KnownInSample,
        direction: Direction,
        epsilon: &Epsilon,
        interrupt: &'a dyn Interrupt,
    ) -> Self {
        Self {
            given,
            hidden: given.hidden(direction),
            epsilon: epsilon.value.to_enclosure().lower(),
            ratio: epsilon.ratio(),
            excess: epsilon.ratio_minus_one(),
            interrupt,
        }
    }

    fn supremum(&self) -> Result<Ball, Error> {
        let first = self.first_answer(0, |ratio| !ratio.certainly_less(self.ratio))?;
        let end = self.first_answer(self.given.known, |ratio| self.ratio.certainly_less(ratio))?;
        let (mut supremum, mut guess) = (Ball::ZERO, None);
        for answer in first..=end.min(self.given.size) {
            let Some((least, most)) = self.numbers_of_known(answer) else { continue };
            let (low, high) =
                self.peak(answer, (least, most), guess.unwrap_or_else(|| least.midpoint(most)))?;
            for known in low..=high {
                supremum = supremum.max(self.test(answer, known)?);
            }
            guess = Some(high.saturating_add(self.given.population / self.given.size));
        }
        Ok(supremum)
    }

    /// The first answer from 1 to `s + 1` for which `P_1/P_0` is `enough`, by bisection.
    fn first_answer(&self, known: u64, enough: impl Fn(Ball) -> bool) -> Result<u64, Error> {
        let (mut low, mut high) = (0, self.given.size + 1);
        while high - low > 1 {
            let answer = low.midpoint(high);
            let urn = Urn { population: self.given.population, draws: self.given.size, hits: answer };
            let mixture = self.mixture(urn, known);
            // P_0 is zero at answers that are too large for it or too small for both laws.
            let sums = mixture.sums(self.interrupt)?;
            if sums.map_or(mixture.is_too_low(), |sums| enough(sums.growth())) {
                high = answer;
            } else {
                low = answer;
            }
        }
        Ok(high)
    }

    /// Those for which `c_a(K) > 0`: below them `T_a` is 0, above them `1 − r`.
    fn numbers_of_known(&self, answer: u64) -> Option<(u64, u64)> {
        let Hidden { random, ones, .. } = self.hidden;
        let least = (answer - 1).saturating_sub(random + ones);
        let most = (self.given.population - 1 - (self.given.size - answer)).checked_sub(ones)?;
        let most = most.min(self.given.known);
        (least <= most).then_some((least, most))
    }

    /// The numbers of known ones between which `T_a` has its peak, mostly a single one. `c_a(K+1)/c_a(K)` is above `r` up to the peak.
    ///
    /// `ln c_a` is about a parabola, and its curvature tells how far to go; after some such steps by bisection.
    fn peak(&self, answer: u64, (least, most): (u64, u64), guess: u64) -> Result<(u64, u64), Error> {
        let (mut low, mut high, mut at, mut steps) = (least, most, guess, 0);
        while low < high {
            at = at.clamp(low, high - 1);
            let growth = self.growth(answer, at)?;
            if self.ratio.certainly_less(growth) {
                low = at + 1;
            } else if growth.certainly_less(self.ratio) {
                high = at;
            } else {
                return self.around(answer, (least, most), at);
            }
            let excess = approximate::ln(growth.to_enclosure().upper()) - self.epsilon;
            let step = at as f64 + (self.variance(answer) * excess).round();
            at = if steps < STEPS { step as u64 } else { low.midpoint(high) };
            steps += 1;
        }
        Ok((low, low))
    }

    /// The peak next to a number at which the growth cannot be told from `r`.
    fn around(&self, answer: u64, (least, most): (u64, u64), at: u64) -> Result<(u64, u64), Error> {
        let (mut low, mut high) = (at, at + 1);
        while low > least && !self.ratio.certainly_less(self.growth(answer, low - 1)?) {
            low -= 1;
        }
        while high < most && !self.growth(answer, high)?.certainly_less(self.ratio) {
            high += 1;
        }
        Ok((low, high))
    }

    /// The approximate variance of the bell `c_a`: of the hidden ones and of the total at which the a-th one is drawn.
    fn variance(&self, answer: u64) -> f64 {
        let Hidden { random, at, .. } = self.hidden;
        let (n, s, share) =
            (self.given.population as f64, self.given.size as f64, answer as f64 / self.given.size as f64);
        let hidden = at.map_or(0.0, |at| (at.p * at.q).to_enclosure().upper() * random as f64);
        hidden + n * (n - s) / s * share * (1.0 - share) + 1.0
    }

    /// `c_a(K+1)/c_a(K)`.
    fn growth(&self, answer: u64, known: u64) -> Result<Ball, Error> {
        let sums = self.mixture(self.others(answer), known).sums(self.interrupt)?;
        Ok(sums.map_or(Ball::WHOLE, |sums| sums.growth()))
    }

    /// `T_a(K)`.
    fn test(&self, answer: u64, known: u64) -> Result<Ball, Error> {
        let (urn, hidden) = (self.others(answer), self.hidden);
        let mixture = self.mixture(urn, known);
        let Some(sums) = mixture.sums(self.interrupt)? else { return Ok(Ball::WHOLE) };
        let drawn = Hypergeometric::new(urn.population, mixture.base + sums.centre, urn.draws);
        let drawn = drawn.map_or(Ball::WHOLE, |law| law.probability(urn.hits));
        let others = hidden.at.map_or(Ball::ONE, |at| binomial_probability(sums.centre, hidden.random, &at));
        let share = Ball::from_u64(self.given.size) / Ball::from_u64(self.given.population);
        Ok(share * drawn * others * (sums.weight - self.excess * sums.beyond))
    }

    /// The draws besides the critical entry, `a − 1` of them ones.
    fn others(&self, answer: u64) -> Urn {
        Urn { population: self.given.population - 1, draws: self.given.size - 1, hits: answer - 1 }
    }

    fn mixture(&self, urn: Urn, known: u64) -> Mixture {
        let Hidden { random, ones, at } = self.hidden;
        let odds = at.map_or(Ball::ONE, |at| at.odds);
        Mixture::new(random, odds, urn, known + ones)
    }
}

impl HockeyStick for Directed<KnownInSample> {
    fn delta(&self, epsilon: &Epsilon, _: Ball, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        self.0.delta(self.1, epsilon, interrupt)
    }

    fn infinity_mass(&self, _: &dyn Interrupt) -> Result<Ball, Error> {
        Ok(self.0.infinity_mass(self.1))
    }

    fn reversed(&self) -> Form {
        Arc::new(self.opposite())
    }

    fn terms(&self) -> f64 {
        self.0.terms()
    }

    fn exact(&self, at: &Evaluation<'_>) -> Result<Option<Terms>, Error> {
        self.0.exact(self.1, at).map(Some)
    }

    fn written_out(&self) -> Result<Option<WrittenOut>, Error> {
        self.0.written_out(self.1).map(|pairs| Some(WrittenOut::Worst(pairs)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::ratio::Ratio;
    use crate::forms::ShiftedBinomial;
    use crate::interrupt::Uninterrupted;
    use proptest::prelude::*;

    fn exact_value(
        given: &KnownInSample,
        direction: Direction,
        exp_epsilon: &Rational,
    ) -> Result<Rational, Error> {
        let ratio = Ratio::Rational(exp_epsilon.clone());
        let terms = given.exact(direction, &Evaluation { ratio, interrupt: &Uninterrupted })?;
        Ok(terms.first.minus(terms.second.scaled(exp_epsilon)).to_rational())
    }

    fn rational(text: &str) -> Rational {
        Rational::parse(text).unwrap()
    }

    fn over(top: u64, bottom: u64) -> Rational {
        Rational::from(top).div(&Rational::from(bottom)).unwrap()
    }

    fn contains(found: Ball, truth: &Rational) -> bool {
        let gap = found - Ball::from_rational(truth);
        !gap.is_positive() && !(-gap).is_positive()
    }

    fn choose(n: u64, k: u64) -> Rational {
        (0..k).fold(Rational::from(1u64), |product, i| product.mul(&over(n.saturating_sub(i), i + 1)))
    }

    fn power(x: &Rational, n: u64) -> Rational {
        (0..n).fold(Rational::from(1u64), |product, _| product.mul(x))
    }

    /// `P_v(a)` with `known` ones among the known entries, from the definition.
    fn answer(given: &KnownInSample, known: u64, v: u64, a: u64) -> Rational {
        let (n, s, others) = (given.population, given.size, given.population - 1 - given.known);
        let q = Rational::from(1i64).sub(&given.p);
        (0..=others).fold(Rational::from(0i64), |sum, b| {
            let total = known + v + b;
            let hidden = choose(others, b).mul(&power(&given.p, b)).mul(&power(&q, others - b));
            let drawn = choose(total, a).mul(&choose(n - total, s - a)).div(&choose(n, s)).unwrap();
            sum.add(&hidden.mul(&drawn))
        })
    }

    /// `Δ` for each number of known ones.
    fn by_definition(given: &KnownInSample, direction: Direction, exp_epsilon: &Rational) -> Vec<Rational> {
        let (v, w) = match direction {
            Direction::OneAgainstZero => (1, 0),
            Direction::ZeroAgainstOne => (0, 1),
        };
        let one = |known: u64| {
            (0..=given.size).fold(Rational::from(0i64), |sum, a| {
                let term = answer(given, known, v, a).sub(&answer(given, known, w, a).mul(exp_epsilon));
                sum.add(&term.max(Rational::from(0i64)))
            })
        };
        (0..=given.known).map(one).collect()
    }

    fn at_ratio(exp_epsilon: &Rational) -> Epsilon {
        // e^ε of the rational ε closest to ln: only for comparisons with a tolerance.
        Epsilon::new(
            &Rational::from_f64(Ball::from_rational(exp_epsilon).ln().to_enclosure().lower()).unwrap(),
        )
    }

    #[test]
    fn the_worst_number_of_known_ones_may_be_in_the_interior() {
        let given = KnownInSample::new(6, 2, 2, &rational("1/2")).unwrap();
        let ratio = rational("3/2");
        let all = by_definition(&given, Direction::OneAgainstZero, &ratio);
        assert_eq!(all, ["3/40", "11/120", "3/40"].map(rational));
        let exact = exact_value(&given, Direction::OneAgainstZero, &ratio).unwrap();
        assert_eq!(exact, rational("11/120"));
        let found = given.delta(Direction::OneAgainstZero, &at_ratio(&ratio), &Uninterrupted).unwrap();
        assert!((found - Ball::from_rational(&exact)).to_enclosure().width() < 1e-14);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(80))]

        #[test]
        fn it_is_the_largest_of_all_numbers_of_known_ones(
            n in 1u64..12, known in 0.0..1.0f64, size in 0.0..1.0f64,
            p in prop_oneof![8 => 1u64..20, 1 => Just(0), 1 => Just(20)],
            ratio in prop_oneof![Just(20u64), 20u64..30, 10u64..200],
        ) {
            let (known, size) = ((n as f64 * known) as u64, 1 + (n as f64 * size) as u64);
            let given = KnownInSample::new(n, known, size, &over(p, 20)).unwrap();
            let ratio = over(ratio, 20);
            for direction in Direction::BOTH {
                let truth = by_definition(&given, direction, &ratio).into_iter().max().unwrap();
                let exact = exact_value(&given, direction, &ratio).unwrap();
                prop_assert_eq!(&exact, &truth);
                let found = given.delta(direction, &at_ratio(&ratio), &Uninterrupted).unwrap();
                let gap = (found - Ball::from_rational(&truth)).to_enclosure();
                // ε is within an ulp of ln r, and δ does not change faster than r.
                let slope = 4.0 * f64::EPSILON * 10.0;
                prop_assert!(gap.lower() < slope && gap.upper() > -slope, "{:?} {:?} {:?}", direction, found, truth);
                prop_assert!(gap.width() < 1e-20, "{:?}", found);
            }
        }

        #[test]
        fn at_epsilon_zero_the_enclosure_contains_the_truth(
            n in 1u64..24, known in 0.0..1.0f64, size in 0.0..1.0f64, p in 1u64..20,
        ) {
            let (known, size) = ((n as f64 * known) as u64, 1 + (n as f64 * size) as u64);
            let given = KnownInSample::new(n, known, size, &over(p, 20)).unwrap();
            let zero = Epsilon::new(&Rational::from(0i64));
            for direction in Direction::BOTH {
                let truth = exact_value(&given, direction, &Rational::from(1i64)).unwrap();
                let found = given.delta(direction, &zero, &Uninterrupted).unwrap();
                prop_assert!(contains(found, &truth), "{:?} {:?}", found, truth);
                prop_assert!(found.relative_error() < 1e-20, "{:?}", found);
            }
        }
    }

    #[test]
    fn without_known_entries_it_is_the_count_of_a_sample() {
        for (n, size, p, epsilon) in
            [(40, 10, "1/3", 0.1), (3000, 1500, "1/2", 0.02), (100_000, 1000, "0.01", 0.001)]
        {
            let epsilon = Epsilon::from_f64(epsilon).unwrap();
            let given = KnownInSample::new(n, 0, size, &rational(p)).unwrap();
            let pair = ShiftedBinomial::new(size, &rational(p), &over(size, n)).unwrap();
            for direction in Direction::BOTH {
                let found = given.delta(direction, &epsilon, &Uninterrupted).unwrap();
                let truth = pair.delta(direction, &epsilon, &Uninterrupted).unwrap();
                assert!(
                    !(found - truth).is_positive() && !(truth - found).is_positive(),
                    "{found:?} {truth:?}"
                );
                assert!(found.relative_error() < 1e-18, "{found:?}");
            }
        }
    }

    #[test]
    fn when_all_are_counted_known_entries_are_a_shift() {
        let epsilon = Epsilon::from_f64(0.05).unwrap();
        let given = KnownInSample::new(500, 100, 500, &rational("0.3")).unwrap();
        let pair = ShiftedBinomial::new(400, &rational("0.3"), &Rational::from(1i64)).unwrap();
        for direction in Direction::BOTH {
            let found = given.delta(direction, &epsilon, &Uninterrupted).unwrap();
            let truth = pair.delta(direction, &epsilon, &Uninterrupted).unwrap();
            assert!(!(found - truth).is_positive() && !(truth - found).is_positive(), "{found:?} {truth:?}");
            // All tests are equally good.
            assert!(found.relative_error() < 1e-20, "{found:?}");
        }
    }

    #[test]
    fn the_limit_is_what_a_large_epsilon_leaves() {
        for (n, known, size, p) in
            [(6, 2, 2, "1/2"), (9, 6, 5, "1/3"), (9, 6, 5, "1"), (9, 6, 5, "0"), (5, 4, 3, "1/2")]
        {
            let given = KnownInSample::new(n, known, size, &rational(p)).unwrap();
            for direction in Direction::BOTH {
                let exact = exact_value(&given, direction, &rational("1e30")).unwrap();
                let limit = given.infinity_mass(direction);
                assert!(
                    contains(limit, &exact) && limit.to_enclosure().width() < 1e-15,
                    "{n} {p} {limit:?} {exact:?}"
                );
            }
        }
    }

    /// Of `N` entries, `K` known and `s` sampled: `(K+2)(s+1)(N−K) + N(N+s)` products of numbers of `2N` bits and of `N` times
    /// the bits of `p` and one.
    #[test]
    fn what_takes_too_long_is_refused_with_its_estimate() {
        for (population, known, size, estimate) in [
            (2000, 900, 500, "3e3"),
            (30_000, 0, 15_000, "3e6"),
            (30_000, 29_000, 20, "2e6"),
            (40_000, 3, 1, "4e6"),
        ] {
            let count = KnownInSample::new(population, known, size, &rational("1/2")).unwrap();
            let refused = exact_value(&count, Direction::OneAgainstZero, &Rational::from(2i64)).unwrap_err();
            let expected = format!(
                "an exact value for {known} known entries in a sample of {size} of {population} would take about {estimate} s, \
                 above the limit of 30 s; delta() encloses it at any size"
            );
            assert_eq!(refused, Error::precision(expected));
        }
    }

    #[test]
    fn what_is_not_allowed_is_named() {
        let refused =
            |n, known, size, p| KnownInSample::new(n, known, size, &rational(p)).unwrap_err().to_string();
        assert_eq!(refused(0, 0, 1, "1/2"), "population = 0; an integer from 1 to 2^53 is required");
        assert!(refused(5, 5, 1, "1/2").starts_with("known = 5; an integer from 0 to 4 is required"));
        assert_eq!(refused(5, 4, 6, "1/2"), "size = 6; an integer from 1 to the population of 5 is required");
        assert_eq!(refused(5, 4, 3, "3/2"), "p = 3/2; a probability from 0 to 1 is required");
        assert!(refused(5, 4, 3, "1e-300").contains("at least 2^-900 from both is required"));
        let huge = KnownInSample::new(1 << 53, 1 << 50, 1 << 52, &rational("1/2")).unwrap();
        let zero = Epsilon::new(&Rational::from(0i64));
        let refused = huge.delta(Direction::OneAgainstZero, &zero, &Uninterrupted).unwrap_err().to_string();
        assert!(
            refused.contains("above the limit of 1e12; the curve of the count of all entries bounds"),
            "{refused}"
        );
        let large = KnownInSample::new(100_000, 1000, 50_000, &rational("1/2")).unwrap();
        let costly =
            exact_value(&large, Direction::OneAgainstZero, &rational("3/2")).unwrap_err().to_string();
        assert!(
            costly.starts_with(
                "an exact value for 1000 known entries in a sample of 50000 of 100000 would take"
            ),
            "{costly}"
        );
    }
}
