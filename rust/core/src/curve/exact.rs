//! Privacy curves as rational numbers: see [`crate::exact`].

mod budget;
mod ways;

use super::{Curve, Inclusion, MeanOverSizes};
use crate::error::Error;
use crate::exact::ratio::Ratio;
use crate::exact::{Evaluation, Terms, cost};
use crate::interrupt::Interrupt;
use crate::numbers::ball::Ball;
use crate::numbers::enclosure::Enclosure;
use crate::numbers::rational::Rational;
use dashu_int::{IBig, UBig};
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
    let terms = evaluate(curve, Ratio::from_epsilon(epsilon), interrupt)?;
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
    budget::check("exact_delta", curve, logarithm, cost::bits(exp_epsilon))?;
    let terms = evaluate(curve, Ratio::Rational(exp_epsilon.clone()), interrupt)?;
    interrupt.check()?;
    Ok(terms.first.minus(terms.second.scaled(exp_epsilon)).to_rational())
}

/// For `e^ε < 1` from the opposite direction at `−ε`.
fn evaluate(curve: &Curve, ratio: Ratio, interrupt: &dyn Interrupt) -> Result<Terms, Error> {
    match ratio.inverse_of_below_one() {
        Some(inverse) => Ok(Evaluation { ratio: inverse, interrupt }.terms(&curve.reversed())?.reflected()),
        None => Evaluation { ratio, interrupt }.terms(curve),
    }
}

impl Evaluation<'_> {
    fn terms(&self, curve: &Curve) -> Result<Terms, Error> {
        self.interrupt.check()?;
        match curve {
            Curve::Form(form) => match (form.exact(self)?, form.written_out()?) {
                (Some(terms), _) => Ok(terms),
                (None, Some(laws)) => self.terms(&laws.into()),
                (None, None) => Err(Error::precision("this form has no exact values; delta() encloses it")),
            },
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

    /// `γ(A − r'B) = γA + (1−γ)B − rB` with `r' = 1 + (r−1)/γ`.
    fn amplified(&self, rate: &Rational, curve: &Curve) -> Result<Terms, Error> {
        let inner = Evaluation { ratio: self.ratio.amplified(rate), interrupt: self.interrupt };
        let Terms { first, second } = inner.terms(curve)?;
        let missed = second.clone().scaled(&Rational::from(1i64).sub(rate));
        Ok(Terms { first: first.scaled(rate).plus(missed), second })
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
    use crate::forms::Directed;
    use crate::forms::Direction;
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
                let curve = Curve::from(Directed(pair.clone(), direction));
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
    fn an_epsilon_beyond_every_likelihood_ratio_leaves_the_infinity_mass() {
        let third = rational("1/3");
        let pair = ShiftedBinomial::new(5, &third, &Rational::from(1i64)).unwrap();
        for (epsilon, first, second) in [("1e60", "1/81", "0"), ("-1e60", "1", "65/81")] {
            let curve = Curve::from(Directed(pair.clone(), Direction::OneAgainstZero));
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
