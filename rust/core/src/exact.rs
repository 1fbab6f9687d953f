//! The exact tier: curves as rational numbers.
//!
//! A hockey stick is `A − e^ε B` with the probabilities `A = P_v[S]` and `B = P_w[S]` of the set `S` on which the likelihood
//! ratio is at least `e^ε`. Where `p` and the weights are rational, so are `A` and `B`; only where `S` begins, and which of several
//! curves is the largest, depends on `e^ε`, and that is decided with as many of its bits as it takes.

mod binomial_tail;
mod budget;
mod count;
mod quotient;
mod ratio;
mod ways;

use crate::adaptive;
use crate::curve::{Curve, Inclusion, MeanOverSizes};
use crate::error::Error;
use crate::forms::{Answers, BinomialPeaks, BinomialRange, Direction, Given};
use crate::interrupt::Interrupt;
use crate::numbers::ball::Ball;
use crate::numbers::enclosure::Enclosure;
use crate::numbers::rational::Rational;
use dashu_int::{IBig, UBig};
use quotient::Quotient;
use ratio::Ratio;
use std::cmp::Ordering;
use ways::Ways;

/// Rationals `(A, B)` with `δ = A − e^ε B`, for an ε of either sign.
///
/// Where several curves have the same value at `ε`, which needs equal `A` and equal `B` unless `ε = 0`, the first one's.
///
/// # Errors
/// A curve over a range of `p`, whose supremum has no such form; a result too large to be written out;
/// [`Error::Interrupted`].
pub fn exact_terms(
    curve: &Curve,
    epsilon: &Rational,
    interrupt: &dyn Interrupt,
) -> Result<(Rational, Rational), Error> {
    budget::check("exact_terms", curve, Enclosure::from(epsilon).upper(), 0.0)?;
    let terms = evaluate(&curve.written_out()?, Ratio::from_epsilon(epsilon), interrupt)?;
    interrupt.check()?;
    Ok((terms.first.to_rational(), terms.second.to_rational()))
}

/// δ where `e^ε` is the positive rational `exp_epsilon`.
///
/// # Errors
/// `exp_epsilon ≤ 0`; a result too large to be written out; [`Error::Interrupted`].
pub fn exact_delta(
    curve: &Curve,
    exp_epsilon: &Rational,
    interrupt: &dyn Interrupt,
) -> Result<Rational, Error> {
    if exp_epsilon.is_negative() || exp_epsilon.is_zero() {
        return Err(Error::argument("exp_epsilon must be above 0"));
    }
    let logarithm = Ball::from_rational(exp_epsilon).ln().to_enclosure().upper();
    budget::check("exact_delta", curve, logarithm, budget::bits(exp_epsilon))?;
    let terms = evaluate(&curve.written_out()?, Ratio::Rational(exp_epsilon.clone()), interrupt)?;
    interrupt.check()?;
    Ok(terms.first.minus(terms.second.scaled(exp_epsilon)).to_rational())
}

/// `A` and `B` of `A − e^ε B`.
#[derive(Clone, Debug)]
struct Terms {
    first: Quotient,
    second: Quotient,
}

impl Terms {
    fn integers(first: i64, second: i64) -> Self {
        Self { first: Quotient::integer(first), second: Quotient::integer(second) }
    }

    fn map(self, change: impl Fn(Quotient) -> Quotient) -> Self {
        Self { first: change(self.first), second: change(self.second) }
    }

    fn plus(self, other: Self) -> Self {
        Self { first: self.first.plus(other.first), second: self.second.plus(other.second) }
    }

    /// `1 − e^ε + e^ε δ'` where these are the terms of `δ'` at `−ε`: the curve of the opposite direction.
    fn reflected(self) -> Self {
        let complement = |x: Quotient| Quotient::integer(1).minus(x);
        Self { first: complement(self.second), second: complement(self.first) }
    }
}

/// For `e^ε < 1` from the opposite direction at `−ε`.
fn evaluate(curve: &Curve, ratio: Ratio, interrupt: &dyn Interrupt) -> Result<Terms, Error> {
    match ratio.inverse_of_below_one() {
        Some(inverse) => Ok(Evaluation { ratio: inverse, interrupt }.terms(&curve.reversed())?.reflected()),
        None => Evaluation { ratio, interrupt }.terms(curve),
    }
}

/// Curves at one `e^ε ≥ 1`.
struct Evaluation<'a> {
    ratio: Ratio,
    interrupt: &'a dyn Interrupt,
}

impl Evaluation<'_> {
    fn terms(&self, curve: &Curve) -> Result<Terms, Error> {
        self.interrupt.check()?;
        match curve {
            Curve::Pair(laws, direction) => match laws.given() {
                Some(given) => self.pair(laws.size(), given, *direction),
                None => Err(Error::argument("a probability that is not known exactly has no exact curve")),
            },
            Curve::Range(laws, direction) => self.range(laws, *direction),
            Curve::Peaks(tests, direction) => self.peaks(tests, *direction),
            Curve::Answers(laws) => self.answers(laws),
            Curve::Grouped(..) | Curve::Varied(..) | Curve::KnownInSample(..) | Curve::Composed(..) => {
                self.terms(&curve.written_out()?)
            }
            Curve::Smoothed(_) => Err(Error::precision(
                "a curve with continuous noise has no rational terms; delta() encloses it",
            )),
            Curve::Adaptive(strategy) => {
                let quotients = |(first, second): &(Rational, Rational)| Terms {
                    first: Quotient::rational(first),
                    second: Quotient::rational(second),
                };
                let compare = |left: &_, right: &_| self.compare(&quotients(left), &quotients(right));
                Ok(quotients(&adaptive::terms(strategy, &compare, self.interrupt)?))
            }
            Curve::Amplified(rate, curve) => self.amplified(&rate.exact, curve),
            Curve::Mean(parts) => parts.iter().try_fold(Terms::integers(0, 0), |sum, (weight, part)| {
                Ok(sum.plus(self.terms(part)?.map(|x| x.scaled(&weight.exact))))
            }),
            Curve::MeanOverSizes(mean) => self.mean_over_sizes(mean),
            Curve::Max(curves) => self.extreme(curves, Ordering::Greater, Terms::integers(0, 0)),
            Curve::Min(curves) => self.extreme(curves, Ordering::Less, Terms::integers(1, 0)),
        }
    }

    /// The curve that compares with all others as `wanted`, the first one where several do.
    fn extreme(&self, curves: &[Curve], wanted: Ordering, of_none: Terms) -> Result<Terms, Error> {
        let mut best: Option<Terms> = None;
        for curve in curves {
            let terms = self.terms(curve)?;
            best = Some(match best {
                Some(best) if self.compare(&terms, &best)? != wanted => best,
                _ => terms,
            });
        }
        Ok(best.unwrap_or(of_none))
    }

    fn compare(&self, left: &Terms, right: &Terms) -> Result<Ordering, Error> {
        let first = left.first.clone().minus(right.first.clone());
        let second = left.second.clone().minus(right.second.clone());
        self.ratio.compare(&first, &second, self.interrupt)
    }

    fn pair(&self, size: u64, given: &Given, direction: Direction) -> Result<Terms, Error> {
        let p = match direction {
            Direction::OneAgainstZero => given.p.clone(),
            Direction::ZeroAgainstOne => Rational::from(1i64).sub(&given.p),
        };
        count::one_against_zero(size, &p, &given.inclusion, &self.ratio, self.interrupt)
    }

    /// `γ(A − r'B) = γA + (1−γ)B − rB` with `r' = 1 + (r−1)/γ`.
    fn amplified(&self, rate: &Rational, curve: &Curve) -> Result<Terms, Error> {
        let inner = Evaluation { ratio: self.ratio.amplified(rate), interrupt: self.interrupt };
        let Terms { first, second } = inner.terms(curve)?;
        let missed = second.clone().scaled(&Rational::from(1i64).sub(rate));
        Ok(Terms { first: first.scaled(rate).plus(missed), second })
    }

    /// The probabilities of the answers whose likelihood ratio is above `e^ε`.
    fn answers(&self, laws: &Answers) -> Result<Terms, Error> {
        let masses = laws.masses(self.interrupt)?;
        let [first, second] = laws.in_order(&masses);
        let zero = Rational::from(0i64);
        let mut terms = (zero.clone(), zero.clone());
        for (answer, mass) in first {
            let other = second.get(answer).unwrap_or(&zero);
            let (left, right) = (Quotient::rational(mass), Quotient::rational(other));
            if self.ratio.compare(&left, &right, self.interrupt)? == Ordering::Greater {
                terms = (terms.0.add(mass), terms.1.add(other));
            }
        }
        Ok(Terms { first: Quotient::rational(&terms.0), second: Quotient::rational(&terms.1) })
    }

    /// The supremum over a range of probabilities, by the theorem of `pair/binomial_range.rs`.
    fn range(&self, laws: &BinomialRange, direction: Direction) -> Result<Terms, Error> {
        let one = Rational::from(1i64);
        let (lower, upper) = laws.given();
        let ratio = self.rational_ratio()?;
        let (lower, upper) = match direction {
            Direction::OneAgainstZero => (lower.clone(), upper.clone()),
            Direction::ZeroAgainstOne => (one.sub(upper), one.sub(lower)),
        };
        let others = laws.size() - 1;
        let (first, last) = count::peaks_within(others, &lower, &upper, ratio)?;
        let peaks = if first <= last { vec![first, last] } else { Vec::new() };
        let mut candidates = count::inner_peaks(others, &peaks, ratio);
        candidates.extend([lower, upper]);
        self.greatest(laws.size(), candidates)
    }

    /// The outermost peaks of some tests, see `pair/binomial_peaks.rs`.
    fn peaks(&self, tests: &BinomialPeaks, direction: Direction) -> Result<Terms, Error> {
        if tests.gives_away() {
            return Ok(Terms::integers(1, 0));
        }
        let ratio = self.rational_ratio()?;
        let (lower, upper) = tests.range(direction);
        let others = tests.size() - 1;
        let (first, last) = count::peaks_within(others, &lower, &upper, ratio)?;
        let peaks = count::inner_peaks(others, &tests.outermost(direction, first, last), ratio);
        self.greatest(tests.size(), peaks)
    }

    fn rational_ratio(&self) -> Result<&Rational, Error> {
        match &self.ratio {
            Ratio::Rational(ratio) => Ok(ratio),
            Ratio::Exponential { .. } => Err(Error::argument(
                "the worst p of a range depends on e^epsilon, so delta is not A − e^epsilon·B with rational A and B; \
                 exact_delta(exp_epsilon=) gives it for a rational e^epsilon",
            )),
        }
    }

    /// The greatest `Δ_{1,0}` of a count at these probabilities.
    fn greatest(&self, size: u64, candidates: Vec<Rational>) -> Result<Terms, Error> {
        let one = Rational::from(1i64);
        let mut best = Terms::integers(0, 0);
        for p in candidates {
            let terms = count::one_against_zero(size, &p, &one, &self.ratio, self.interrupt)?;
            if self.compare(&terms, &best)? == Ordering::Greater {
                best = terms;
            }
        }
        Ok(best)
    }

    /// `g Σ_z P[Z = z] Δ(k, w_k)/w_k` with `k = size − z`.
    ///
    /// From the greatest `z`, the smallest count, on: so the denominator of the sum grows by one factor a step. Where `Z ~ Bin(size−1, x)`,
    /// `C(size−1, z)/w_k = C(size, z) · (k/w_k)/size` keeps a common denominator.
    fn mean_over_sizes(&self, mean: &MeanOverSizes) -> Result<Terms, Error> {
        let law = mean.irrelevant();
        let mut ways = Ways::of_greatest(law, self.interrupt)?;
        let mut sum = Terms::integers(0, 0);
        let mut reached: Option<(u64, Terms)> = None;
        for z in (law.least()..=law.greatest()).rev() {
            let threshold = mean.threshold(z);
            let k = mean.size() - threshold;
            let terms = match reached.take() {
                Some((same, terms)) if same == threshold => terms,
                _ => self.terms(&mean.member(k)?.0)?,
            };
            let weighted = match mean.inclusion().total(k) {
                None => terms.clone().map(|x| x.times(IBig::from(ways.number.clone()))),
                Some(total) => {
                    let number = IBig::from(&ways.number * mean.size() / k);
                    terms.clone().map(|x| x.times(number.clone()).scaled(&total))
                }
            };
            sum = sum.plus(weighted);
            reached = Some((threshold, terms));
            if z > law.least() {
                ways.step_down(z);
            }
        }
        let sum = match mean.inclusion() {
            Inclusion::Certain => sum,
            _ => sum.map(|x| x.over(&UBig::from(mean.size()), 1)),
        };
        let (base, exponent) = ways.all(self.interrupt)?;
        Ok(sum.map(|x| x.scaled(mean.counted()).over(&base, exponent)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::CountFamily;
    use crate::forms::ShiftedBinomial;
    use crate::interrupt::Uninterrupted;
    use proptest::prelude::*;

    fn rational(text: &str) -> Rational {
        Rational::parse(text).unwrap()
    }

    /// `P[Bin(trials, p) = k]` by its recursion in the number of trials.
    fn binomial(trials: u64, p: &Rational) -> Vec<Rational> {
        let (zero, q) = (Rational::from(0i64), Rational::from(1i64).sub(p));
        (0..trials).fold(vec![Rational::from(1i64)], |law, _| {
            let missed = law.iter().map(|x| x.mul(&q)).chain([zero.clone()]);
            let hit = [zero.clone()].into_iter().chain(law.iter().map(|x| x.mul(p)));
            missed.zip(hit).map(|(a, b)| a.add(&b)).collect()
        })
    }

    /// `Σ_a max(0, P_v(a) − x P_w(a))` over all answers of a count in a hidden sample.
    fn hockey_stick(size: u64, p: &Rational, inclusion: &Rational, x: &Rational, v: usize) -> Rational {
        let zero = Rational::from(0i64);
        let (others, blank) = (binomial(size - 1, p), binomial(size, p));
        let given = |value: usize, a: usize| {
            let here = a.checked_sub(value).and_then(|a| others.get(a)).unwrap_or(&zero);
            let missed = Rational::from(1i64).sub(inclusion);
            inclusion.mul(here).add(&missed.mul(&blank[a]))
        };
        (0..blank.len()).fold(zero.clone(), |sum, a| {
            sum.add(&given(v, a).sub(&x.mul(&given(1 - v, a))).max(zero.clone()))
        })
    }

    proptest! {
        #[test]
        fn one_count_is_its_hockey_stick(
            size in 1u64..14, top in 0i64..13, inclusion in 1i64..8, x in 1i64..60, y in 1i64..20
        ) {
            let over = |top: i64, bottom: i64| Rational::from(top).div(&Rational::from(bottom)).unwrap();
            let (p, inclusion, x) = (over(top, 12), over(inclusion, 7), over(x, y));
            let pair = ShiftedBinomial::new(size, &p, &inclusion).unwrap();
            for (v, direction) in [(1, Direction::OneAgainstZero), (0, Direction::ZeroAgainstOne)] {
                let curve = Curve::Pair(pair.clone(), direction);
                let exact = exact_delta(&curve, &x, &Uninterrupted).unwrap();
                prop_assert_eq!(exact, hockey_stick(size, &p, &inclusion, &x, v));
            }
        }

        #[test]
        fn the_terms_lie_within_the_enclosure(size in 1u64..400, thousandths in 0i64..=1000, epsilon in -3.0f64..6.0) {
            let p = Rational::from(thousandths).div(&Rational::from(1000i64)).unwrap();
            let epsilon = Rational::from_f64(epsilon).unwrap();
            let curve = CountFamily::new(&p, &p, None).unwrap().of_size(size).unwrap();
            let (first, second) = exact_terms(&curve, &epsilon, &Uninterrupted).unwrap();
            let ball = Ball::from_rational(&first) - Ball::from_rational(&epsilon).exp() * Ball::from_rational(&second);
            let gap = (ball - curve.ball(&crate::forms::Epsilon::new(&epsilon).precisely(), &Uninterrupted).unwrap()).to_enclosure();
            prop_assert!(gap.lower() <= 0.0 && gap.upper() >= 0.0 && gap.width() < 1e-25, "{:?}", gap);
        }
    }

    #[test]
    fn an_epsilon_beyond_every_likelihood_ratio_leaves_the_mass_at_infinity() {
        let third = rational("1/3");
        let pair = ShiftedBinomial::new(5, &third, &Rational::from(1i64)).unwrap();
        for (epsilon, first, second) in [("1e60", "1/81", "0"), ("-1e60", "1", "65/81")] {
            let curve = Curve::Pair(pair.clone(), Direction::OneAgainstZero);
            let terms = exact_terms(&curve, &rational(epsilon), &Uninterrupted).unwrap();
            assert_eq!(terms, (rational(first), rational(second)));
        }
    }

    #[test]
    fn what_is_in_no_template_tells_nothing_at_any_epsilon() {
        // One entry, released with probability ½: at e^ε < 1 the answer "nothing" counts too, with ½ (1 − e^ε).
        let half = rational("1/2");
        let alone = CountFamily::new(&half, &half, None).unwrap().of_size(1).unwrap();
        let curve = Curve::Mean(vec![(half.clone().into(), alone)]);
        for (x, delta) in [("2", "1/2"), ("1", "1/2"), ("1/2", "3/4"), ("1/10", "19/20")] {
            assert_eq!(exact_delta(&curve, &rational(x), &Uninterrupted).unwrap(), rational(delta));
        }
        assert_eq!(
            exact_terms(&curve, &rational("-1"), &Uninterrupted).unwrap(),
            (Rational::from(1i64), half)
        );
        let enclosed = curve.delta(&rational("-1"), &Uninterrupted).unwrap();
        assert!(enclosed.contains(&rational("0.816060279414278839202")) && enclosed.width() < 1e-15);
    }

    #[test]
    fn a_threshold_that_is_all_but_met_is_decided() {
        // e^ε = 2·(1 ± 1e-100): at 2 the answer 2 of three entries has the likelihood ratio 2 for p = ½.
        let half = rational("1/2");
        let curve = |direction| CountFamily::new(&half, &half, Some(direction)).unwrap().of_size(3).unwrap();
        let ln_2 = "0.6931471805599453094172321214581765680755001343602552541206800094933936219696947156058633269964186875";
        let above = format!("{}{}", &ln_2[..ln_2.len() - 1], 6);
        let terms = |epsilon: &str| {
            exact_terms(&curve(Direction::OneAgainstZero), &rational(epsilon), &Uninterrupted)
        };
        assert_eq!(terms(ln_2).unwrap(), (rational("3/4"), rational("1/4")));
        assert_eq!(terms(&above).unwrap(), (rational("1/4"), rational("0")));
    }

    #[test]
    fn what_has_no_rational_terms_is_refused() {
        let range = CountFamily::new(&rational("0.4"), &rational("0.6"), None).unwrap().of_size(10).unwrap();
        assert!(exact_terms(&range, &rational("0.1"), &Uninterrupted).is_err());
        assert!(exact_delta(&range, &rational("0"), &Uninterrupted).is_err());
        assert!(exact_delta(&range, &rational("11/10"), &Uninterrupted).is_ok());
    }

    #[test]
    fn a_mean_that_would_take_long_is_refused_at_once() {
        let cells = ["1/3", "1/6", "1/2"].map(rational);
        let curve = crate::curve::sampled_histogram(2_000_000, 1_000_000, &cells, None).unwrap();
        let Err(Error::Precision(message)) = exact_delta(&curve, &rational("11/10"), &Uninterrupted) else {
            panic!("not refused")
        };
        assert!(message.starts_with("exact_delta would have a denominator of about"), "{message}");
        let alone = crate::curve::histogram(1, &cells, None).unwrap();
        assert_eq!(exact_delta(&alone, &rational("11/10"), &Uninterrupted).unwrap(), rational("1"));
    }

    #[test]
    fn what_would_not_fit_is_refused_at_once() {
        for (p, size) in [("1/2", 1u64 << 53), ("0.1234567890123456789", 10_000_000)] {
            let curve = CountFamily::new(&rational(p), &rational(p), None).unwrap().of_size(size).unwrap();
            let Err(Error::Precision(message)) = exact_terms(&curve, &rational("0.001"), &Uninterrupted)
            else {
                panic!("not refused")
            };
            assert!(message.contains("denominator of about"), "{message}");
        }
    }
}
