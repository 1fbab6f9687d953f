//! Two laws on the same finite set of answers, given by their probabilities.
//!
//! `Δ(ε) = Σ_a max(0, P(a) − e^ε Q(a))`, for any finite ε. An answer that `Q` does not give counts with all of `P(a)`.
//! Probabilities that only nearly add up to one are divided by their sums `S_P` and `S_Q`, as rationals:
//! `Δ = (1/S_P) Σ_a max(0, P(a) − r Q(a))` with `r = e^ε S_P/S_Q`.
//!
//! There are three methods, and each serves any input: exact integers if `e^ε` is rational; integers over
//! a power of two, with more and more bits, otherwise; and for probabilities in doubles a faster one that finds
//! out on which answers `P` outweighs `rQ`, adds both up on these without rounding, and subtracts once.

mod exact_sum;
mod fixed_point;

use crate::answer::Law;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::numbers::ball::Ball;
use crate::numbers::double_double::DoubleDouble;
use crate::numbers::rational::{Rational, exponential};
use dashu_int::ops::{Gcd, UnsignedAbs};
use dashu_int::{IBig, UBig};
use exact_sum::ExactSum;

/// Answers between two polls of the interrupt.
const ANSWERS_PER_CHECK: usize = 64;
/// The fast way is left where its relative error is beyond this, half an ulp of a double.
const ACCURATE: f64 = 1.0 / ((1u64 << 54) as f64);

/// The factor `e^ε`: exactly, or through ε.
#[derive(Clone, Debug)]
pub enum ExpEpsilon {
    /// `e^ε` for this ε other than zero.
    Of(Rational),
    /// This positive number.
    Exactly(Rational),
}

impl ExpEpsilon {
    /// `e^ε` for a rational ε of either sign.
    #[must_use]
    pub fn of(epsilon: Rational) -> Self {
        if epsilon.is_zero() { Self::Exactly(Rational::from(1i64)) } else { Self::Of(epsilon) }
    }

    /// A rational `e^ε`.
    ///
    /// # Errors
    /// A number that is not positive.
    pub fn exactly(x: Rational) -> Result<Self, Error> {
        if x.is_negative() || x.is_zero() {
            return Err(Error::argument("exp_epsilon must be above 0: it is e to the power epsilon"));
        }
        Ok(Self::Exactly(x))
    }

    pub(super) fn to_ball(&self) -> Ball {
        match self {
            Self::Of(epsilon) => Ball::from_rational(epsilon).exp(),
            Self::Exactly(x) => Ball::from_rational(x),
        }
    }
}

/// The probabilities of a law on finitely many answers: non-negative, and one in total once divided by their sum.
#[derive(Clone, Debug)]
pub struct Probabilities {
    masses: Vec<Rational>,
    total: Rational,
}

impl Probabilities {
    /// Exact probabilities; `name` is what messages call them.
    ///
    /// # Errors
    /// No probability at all, a negative one, or a sum other than one.
    pub fn exact(name: &str, masses: Vec<Rational>) -> Result<Self, Error> {
        let pmf = Self::of_any_total(name, masses)?;
        if pmf.total == Rational::from(1i64) {
            return Ok(pmf);
        }
        let sum = pmf.total.shown();
        Err(Error::argument(format!("{name} sums to {sum}; exact probabilities must sum to exactly one")))
    }

    /// Probabilities that were rounded to doubles, at least in part: they are divided by their sum.
    ///
    /// # Errors
    /// As [`Self::exact`], but the sum may be off by [`tolerance`].
    pub fn rounded(name: &str, masses: Vec<Rational>) -> Result<Self, Error> {
        let pmf = Self::of_any_total(name, masses)?;
        check_total(name, &pmf.total, pmf.masses.len())?;
        Ok(pmf)
    }

    fn of_any_total(name: &str, masses: Vec<Rational>) -> Result<Self, Error> {
        if masses.is_empty() {
            return Err(no_answers(name));
        }
        if let Some((answer, mass)) = masses.iter().enumerate().find(|(_, mass)| mass.is_negative()) {
            return Err(not_a_probability(name, answer, &mass.shown()));
        }
        let common = common_denominator(&masses);
        let total = masses.iter().map(|mass| over(mass, &common)).fold(UBig::ZERO, |sum, mass| sum + mass);
        Ok(Self { masses, total: Rational::new(IBig::from(total), common)? })
    }

    /// The sum by which the probabilities are divided.
    #[must_use]
    pub fn total(&self) -> &Rational {
        &self.total
    }
}

/// How far from one the sum of `answers` probabilities in doubles may be: `2^-40 + answers · 2^-52`.
///
/// The second part is one ulp of one for each answer, twice what rounding true probabilities to doubles can do
/// together. The first, `9.1e-13`, is the usual relative error of probabilities that were computed in doubles, by
/// exponentials of log-gamma functions. A missing answer or a cut tail is larger than this as a rule, and refused.
#[must_use]
pub fn tolerance(answers: usize) -> Rational {
    Rational::dyadic(UBig::from(answers) + UBig::from(1u64 << 12), 52)
}

fn check_total(name: &str, total: &Rational, answers: usize) -> Result<(), Error> {
    let (one, tolerance) = (Rational::from(1i64), tolerance(answers));
    if total.sub(&one).abs() <= tolerance {
        return Ok(());
    }
    let (sum, bound) = (total.shown(), tolerance.shown());
    Err(Error::argument(format!(
        "{name} sums to {sum}; probabilities in floats are divided by their sum if it differs from one by at most \
         2^-40 + {answers} · 2^-52 = {bound}; add what is missing, or divide them yourself"
    )))
}

fn no_answers(name: &str) -> Error {
    Error::argument(format!("{name} is empty; at least one probability is required"))
}

fn not_a_probability(name: &str, answer: usize, mass: &str) -> Error {
    Error::argument(format!("{name}[{answer}] = {mass}; a probability from 0 to 1 is required"))
}

pub(super) fn unequal_lengths(p: usize, q: usize) -> Error {
    Error::argument(format!(
        "P has {p} probabilities and Q has {q}; both must list the same answers, 0 where a law does not give one"
    ))
}

/// A common denominator, the least one.
fn common_denominator<'a>(masses: impl IntoIterator<Item = &'a Rational>) -> UBig {
    masses.into_iter().fold(UBig::ONE, |common, mass| {
        let rest = &common % mass.denominator();
        if rest.is_zero() {
            return common;
        }
        let shared = rest.gcd(mass.denominator());
        common * (mass.denominator() / shared)
    })
}

/// The numerator over a multiple of the denominator, for a non-negative number.
fn over(mass: &Rational, denominator: &UBig) -> UBig {
    mass.numerator().clone().unsigned_abs() * (denominator / mass.denominator())
}

/// Two laws on the same answers.
#[derive(Clone, Debug)]
pub struct Finite {
    p: Probabilities,
    q: Probabilities,
}

impl Finite {
    /// `P` and `Q`, answer by answer.
    ///
    /// # Errors
    /// Different numbers of answers.
    pub fn new(p: Probabilities, q: Probabilities) -> Result<Self, Error> {
        if p.masses.len() != q.masses.len() {
            return Err(unequal_lengths(p.masses.len(), q.masses.len()));
        }
        Ok(Self { p, q })
    }

    /// The hockey stick at `e^ε`.
    ///
    /// # Errors
    /// Interruption.
    pub fn hockey_stick(&self, at: &ExpEpsilon, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        match at {
            ExpEpsilon::Exactly(x) => Ok(Ball::from_rational(&self.exact(x, interrupt)?)),
            ExpEpsilon::Of(epsilon) => fixed_point::hockey_stick(self, epsilon, interrupt),
        }
    }

    /// The hockey stick at a rational `e^ε = x`, exactly: integers over one denominator.
    ///
    /// # Errors
    /// Interruption.
    pub fn exact(&self, x: &Rational, interrupt: &dyn Interrupt) -> Result<Rational, Error> {
        let common = common_denominator(self.p.masses.iter().chain(&self.q.masses));
        let ratio = self.ratio(x);
        let (top, bottom) = (ratio.numerator().clone().unsigned_abs(), ratio.denominator());
        let mut sum = UBig::ZERO;
        for (answer, (p, q)) in self.p.masses.iter().zip(&self.q.masses).enumerate() {
            if answer.is_multiple_of(ANSWERS_PER_CHECK) {
                interrupt.check()?;
            }
            let (gain, cost) = (over(p, &common) * bottom, over(q, &common) * &top);
            if gain > cost {
                sum += gain - cost;
            }
        }
        let sum = Rational::new(IBig::from(sum), common * bottom)?;
        Ok(sum.div(&self.p.total).unwrap_or(sum))
    }

    /// The sums by which the probabilities are divided.
    #[must_use]
    pub fn totals(&self) -> (&Rational, &Rational) {
        (&self.p.total, &self.q.total)
    }

    /// The two laws, of answers that are numbered from 0.
    ///
    /// # Errors
    /// None: the probabilities, once divided, sum to one.
    pub fn laws(&self) -> Result<[Law; 2], Error> {
        let law = |pmf: &Probabilities| {
            Law::table(
                0,
                pmf.masses.iter().map(|mass| mass.div(&pmf.total).unwrap_or(mass.clone())).collect(),
            )
        };
        Ok([law(&self.p)?, law(&self.q)?])
    }

    /// `x S_P/S_Q`.
    fn ratio(&self, x: &Rational) -> Rational {
        let scaled = x.mul(&self.p.total);
        scaled.div(&self.q.total).unwrap_or(scaled)
    }
}

/// Two laws on the same answers, with probabilities in doubles.
#[derive(Clone, Debug)]
pub struct FiniteInDoubles {
    p: Vec<f64>,
    q: Vec<f64>,
    p_total: Rational,
    q_total: Rational,
}

impl FiniteInDoubles {
    /// `P` and `Q`, answer by answer; they are divided by their sums.
    ///
    /// # Errors
    /// As [`Probabilities::rounded`] and [`Finite::new`]; NaN and infinity.
    pub fn new(p: Vec<f64>, q: Vec<f64>) -> Result<Self, Error> {
        if p.len() != q.len() {
            return Err(unequal_lengths(p.len(), q.len()));
        }
        let (p_total, q_total) = (total("P", &p)?, total("Q", &q)?);
        Ok(Self { p, q, p_total, q_total })
    }

    /// The sums `S_P` and `S_Q`.
    #[must_use]
    pub fn totals(&self) -> (&Rational, &Rational) {
        (&self.p_total, &self.q_total)
    }

    /// The same laws, in rationals.
    ///
    /// # Errors
    /// None for laws that [`Self::new`] took.
    pub fn exact(&self) -> Result<Finite, Error> {
        let pmf = |masses: &[f64], total: &Rational| {
            let masses = masses.iter().map(|&mass| Rational::from_f64(mass)).collect::<Result<_, _>>()?;
            Ok::<_, Error>(Probabilities { masses, total: total.clone() })
        };
        Finite::new(pmf(&self.p, &self.p_total)?, pmf(&self.q, &self.q_total)?)
    }

    /// The hockey stick at `e^ε`.
    ///
    /// With `A` the answers on which certainly `P > rQ` and `U` those on which that is not clear,
    /// `Σ_A (P − rQ) ≤ S_P Δ ≤ Σ_A (P − rQ) + Σ_U |P − rQ|`. The sums of `P` and of `Q` over `A` are exact.
    /// Where they cancel too far the exact way takes over.
    ///
    /// # Errors
    /// Interruption.
    pub fn hockey_stick(&self, at: &ExpEpsilon, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let ratio = self.ratio(at);
        let comparison = Comparison::new(ratio);
        let (mut gain, mut cost, mut unclear) = (ExactSum::new(), ExactSum::new(), Ball::ZERO);
        for (p, q) in self.p.chunks(1 << 14).zip(self.q.chunks(1 << 14)) {
            interrupt.check()?;
            for (&p, &q) in p.iter().zip(q) {
                match comparison.first_is_greater(p, q) {
                    Some(true) => {
                        gain.add(p);
                        cost.add(q);
                    }
                    Some(false) => {}
                    None => unclear = unclear.plus_at_most(double(p) - ratio * double(q)),
                }
            }
        }
        let (gain, cost) = (gain.total(), cost.total());
        let difference = if is_one(ratio) {
            Ball::from_rational(&gain.sub(&cost))
        } else {
            Ball::from_rational(&gain) - ratio * Ball::from_rational(&cost)
        };
        let value = (difference + unclear) / Ball::from_rational(&self.p_total);
        if value.relative_error() <= ACCURATE || value.is_exact_zero() {
            return Ok(value);
        }
        self.exact()?.hockey_stick(at, interrupt)
    }

    /// `r = e^ε S_P/S_Q`, exactly one where it is one.
    fn ratio(&self, at: &ExpEpsilon) -> Ball {
        let totals = self.p_total.div(&self.q_total).unwrap_or_else(|| Rational::from(1i64));
        match at {
            ExpEpsilon::Exactly(x) => Ball::from_rational(&x.mul(&totals)),
            ExpEpsilon::Of(_) => at.to_ball() * Ball::from_rational(&totals),
        }
    }
}

/// The exact sum of checked probabilities.
fn total(name: &str, masses: &[f64]) -> Result<Rational, Error> {
    if masses.is_empty() {
        return Err(no_answers(name));
    }
    let mut sum = ExactSum::new();
    for (answer, &mass) in masses.iter().enumerate() {
        if !(0.0..=2.0).contains(&mass) {
            return Err(not_a_probability(name, answer, &mass.to_string()));
        }
        sum.add(mass);
    }
    let total = sum.total();
    check_total(name, &total, masses.len())?;
    Ok(total)
}

/// A double as a ball, exactly.
fn double(x: f64) -> Ball {
    Ball::from_double_double(DoubleDouble::from_f64(x), 0.0)
}

/// How `P(a)` compares with `r Q(a)`.
struct Comparison {
    ratio: Ball,
    /// `r` as a double and what a comparison with it leaves open, if `r` lies within `2^±300`.
    nearest: Option<(f64, f64)>,
}

/// `2^600`. It brings every positive double up to 2 into `[2^-474, 2^601]`.
const LIFT: f64 = f64::from_bits((1023 + 600) << 52);
/// `2^-300`.
const SMALLEST_RATIO: f64 = f64::from_bits((1023 - 300) << 52);
/// `2^-49`, more than the relative error of a comparison in doubles: `r` errs by at most `5u`, its product with `Q` by
/// another `u`, and so does the product with `1 ± 2^-49`.
const UNCLEAR: f64 = 1.0 / ((1u64 << 49) as f64);

impl Comparison {
    fn new(ratio: Ball) -> Self {
        let ends = ratio.to_enclosure();
        let nearest = if is_one(ratio) {
            Some((1.0, 0.0))
        } else if ends.lower() > SMALLEST_RATIO
            && ends.upper() < 1.0 / SMALLEST_RATIO
            && ratio.relative_error() < ACCURATE
        {
            Some((ends.upper(), UNCLEAR))
        } else {
            None
        };
        Self { ratio, nearest }
    }

    /// Whether `P(a)` is greater than `r Q(a)`; `None` if that is not clear.
    ///
    /// In doubles first: lifted, all factors and products lie in `[2^-774, 2^901]`, where nothing under- or overflows.
    fn first_is_greater(&self, p: f64, q: f64) -> Option<bool> {
        if let Some((ratio, unclear)) = self.nearest {
            let (gain, cost) = (p * LIFT, ratio * (q * LIFT));
            if gain > cost * (1.0 + unclear) {
                return Some(true);
            }
            if gain <= cost * (1.0 - unclear) {
                return Some(false);
            }
        }
        let gap = double(p) - self.ratio * double(q);
        if gap.is_positive() { Some(true) } else { gap.is_not_positive().then_some(false) }
    }
}

fn is_one(ratio: Ball) -> bool {
    (ratio - Ball::ONE).is_exact_zero()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Uninterrupted;

    use proptest::prelude::*;

    fn rational(text: &str) -> Rational {
        Rational::parse(text).unwrap()
    }

    fn pair(p: &[&str], q: &[&str]) -> Finite {
        let pmf = |name, masses: &[&str]| {
            Probabilities::exact(name, masses.iter().map(|x| rational(x)).collect()).unwrap()
        };
        Finite::new(pmf("P", p), pmf("Q", q)).unwrap()
    }

    fn in_doubles(p: &[f64], q: &[f64], at: &ExpEpsilon) -> Ball {
        FiniteInDoubles::new(p.to_vec(), q.to_vec()).unwrap().hockey_stick(at, &Uninterrupted).unwrap()
    }

    /// Overlap, and the narrowness of either.
    fn agree(a: Ball, b: Ball) {
        let gap = a - b;
        assert!(!gap.is_positive() && !(-gap).is_positive(), "{a:?} {b:?}");
        for ball in [a, b] {
            assert!(ball.relative_error() <= ACCURATE || ball.is_exact_zero(), "{ball:?}");
        }
    }

    #[test]
    fn randomised_response_is_what_it_is_by_hand() {
        let pair = pair(&["3/4", "1/4"], &["1/4", "3/4"]);
        let exact = |x: &str| pair.exact(&rational(x), &Uninterrupted).unwrap();
        assert_eq!(exact("1"), rational("1/2"));
        assert_eq!(exact("2"), rational("1/4"));
        assert_eq!(exact("3"), rational("0"));
        assert_eq!(exact("1/2"), rational("5/8"));
        assert_eq!(exact("1/3"), rational("2/3"));
        assert_eq!(exact("1/5"), rational("4/5"));
    }

    #[test]
    fn what_only_the_first_law_gives_counts_for_every_epsilon() {
        let pair = pair(&["1/8", "7/8"], &["0", "1"]);
        for epsilon in ["1e-300", "1", "700", "1e9", "1e300"] {
            let value = pair.hockey_stick(&ExpEpsilon::of(rational(epsilon)), &Uninterrupted).unwrap();
            assert!(value.to_enclosure().contains(&rational("1/8")) && value.to_enclosure().width() < 1e-16);
            agree(value, in_doubles(&[0.125, 0.875], &[0.0, 1.0], &ExpEpsilon::of(rational(epsilon))));
        }
    }

    #[test]
    fn for_epsilon_to_minus_infinity_everything_counts() {
        for epsilon in ["-40", "-800", "-1e9", "-1e300"] {
            let at = ExpEpsilon::of(rational(epsilon));
            let value = pair(&["1/8", "7/8"], &["1/2", "1/2"]).hockey_stick(&at, &Uninterrupted).unwrap();
            agree(value, Ball::ONE - at.to_ball());
            agree(value, in_doubles(&[0.125, 0.875], &[0.5, 0.5], &at));
        }
    }

    #[test]
    fn equal_laws_differ_by_nothing_however_small_epsilon() {
        let p = [0.1, 0.2, 0.7];
        for epsilon in ["0", "1e-300", "1e-12", "3"] {
            assert!(in_doubles(&p, &p, &ExpEpsilon::of(rational(epsilon))).is_exact_zero(), "{epsilon}");
        }
    }

    /// `1 − e^ε` for a tiny negative ε: all digits cancel, and come back.
    #[test]
    fn what_cancels_is_evaluated_with_more_bits() {
        let tiny = ExpEpsilon::of(rational("-1e-200"));
        let value = in_doubles(&[0.25, 0.75], &[0.25, 0.75], &tiny);
        let expected = Ball::from_rational(&rational("1e-200"));
        assert!(
            value.relative_error() < 1e-16
                && (value / expected - Ball::ONE).to_enclosure().upper().abs() < 1e-15
        );
    }

    /// Doubles next to a tie: `P/Q` is within an ulp of `e^ε` for each answer but one.
    #[test]
    fn near_ties_stay_tight() {
        let q = [0.1, 0.2, 0.3, 0.4];
        let p: Vec<f64> = q.iter().map(|x| x * 0.25f64.exp()).collect();
        let p = [p[0], p[1], p[2], 1.0 - p[0] - p[1] - p[2]];
        let at = ExpEpsilon::of(rational("0.25"));
        let value = in_doubles(&p, &q, &at);
        let exact = FiniteInDoubles::new(p.to_vec(), q.to_vec()).unwrap().exact().unwrap();
        agree(value, exact.hockey_stick(&at, &Uninterrupted).unwrap());
    }

    #[test]
    fn sums_other_than_one_are_refused_or_divided_out() {
        let exact = |masses: &[&str]| Probabilities::exact("P", masses.iter().map(|x| rational(x)).collect());
        for (masses, message) in [
            (&["1/2", "1/3"] as &[&str], "P sums to 5/6"),
            (&["1/2", "1/2", "1e-30"], "P sums to 1 + 1"),
            (&["3/2", "-1/2"], "P[1] = -1/2"),
            (&[], "P is empty"),
        ] {
            let Err(Error::Argument(text)) = exact(masses) else { panic!("{masses:?} was accepted") };
            assert!(text.contains(message), "{text}");
        }
        assert!(FiniteInDoubles::new(vec![0.5, 0.4], vec![0.5, 0.5]).is_err());
        assert!(FiniteInDoubles::new(vec![0.5, f64::NAN], vec![0.5, 0.5]).is_err());
        assert!(FiniteInDoubles::new(vec![0.5, 0.5], vec![1.5, -0.5]).is_err());
        assert!(FiniteInDoubles::new(vec![1.0], vec![0.5, 0.5]).is_err());
        let tenths = [0.1; 10];
        let laws = FiniteInDoubles::new(tenths.to_vec(), tenths.to_vec()).unwrap();
        assert!(*laws.totals().0 > Rational::from(1i64));
    }

    fn pmf_in_doubles(answers: usize) -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec((0u8..5, 0.0..1.0f64, 1u32..900), answers).prop_map(|cells| {
            let weight = |(kind, x, depth): (u8, f64, u32)| match kind {
                0 => 0.0,
                1 => x * 2f64.powi(-(depth as i32)),
                _ => x,
            };
            let mut masses: Vec<f64> = cells.into_iter().map(weight).collect();
            masses[0] += 1e-3;
            let sum: f64 = masses.iter().sum();
            masses.iter().map(|x| x / sum).collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn doubles_and_rationals_agree(
            (p, q) in (1usize..9).prop_flat_map(|n| (pmf_in_doubles(n), pmf_in_doubles(n))),
            epsilon in prop_oneof![-800.0..800.0f64, -2.0..2.0f64, Just(0.0), -1e-9..1e-9f64],
        ) {
            let at = ExpEpsilon::of(Rational::from_f64(epsilon).unwrap());
            let laws = FiniteInDoubles::new(p.clone(), q.clone()).unwrap();
            let fast = laws.hockey_stick(&at, &Uninterrupted).unwrap();
            agree(fast, laws.exact().unwrap().hockey_stick(&at, &Uninterrupted).unwrap());
        }

        /// `Δ_{P,Q}(ε) = 1 − e^ε + e^ε Δ_{Q,P}(−ε)`, exactly.
        #[test]
        fn exchanging_the_laws_is_exchanging_the_sign(
            weights in prop::collection::vec((0u32..50, 0u32..50), 2..9), top in 1u64..40, bottom in 1u64..40,
        ) {
            let law = |weights: Vec<u32>| {
                let total: u64 = 1 + weights.iter().map(|&w| u64::from(w)).sum::<u64>();
                let mut masses: Vec<Rational> = weights.iter().map(|&w| Rational::from(u64::from(w))).collect();
                masses.push(Rational::from(1u64));
                let masses = masses.iter().map(|w| w.div(&Rational::from(total)).unwrap()).collect();
                Probabilities::exact("P", masses).unwrap()
            };
            let (p, q) = (law(weights.iter().map(|w| w.0).collect()), law(weights.iter().map(|w| w.1).collect()));
            let (there, back) = (Finite::new(p.clone(), q.clone()).unwrap(), Finite::new(q, p).unwrap());
            let x = Rational::from(top).div(&Rational::from(bottom)).unwrap();
            let inverse = Rational::from(bottom).div(&Rational::from(top)).unwrap();
            let one = Rational::from(1i64);
            let other = one.sub(&x).add(&x.mul(&back.exact(&inverse, &Uninterrupted).unwrap()));
            prop_assert_eq!(there.exact(&x, &Uninterrupted).unwrap(), other);
        }
    }

    /// The last sum that is taken and the first that is refused; ends of what is a probability.
    #[test]
    fn sums_are_taken_up_to_the_tolerance() {
        assert_eq!(tolerance(2), rational("4098/4503599627370496"));
        let half = rational("1/2");
        let sum_to = |rest: Rational| Probabilities::rounded("Q", vec![half.clone(), rest]);
        for sign in [tolerance(2), tolerance(2).neg()] {
            assert!(sum_to(half.add(&sign)).is_ok());
            let refused = sum_to(half.add(&sign.mul(&rational("1.000001")))).unwrap_err().to_string();
            let expected = "probabilities in floats are divided by their sum if it differs from one by at most 2^-40 + 2 · 2^-52 = ";
            assert!(refused.starts_with("Q sums to 1") || refused.starts_with("Q sums to 0"), "{refused}");
            assert!(
                refused.contains(expected)
                    && refused.ends_with("; add what is missing, or divide them yourself")
            );
        }
        let refused = |p: Vec<f64>, q: Vec<f64>| FiniteInDoubles::new(p, q).unwrap_err().to_string();
        assert_eq!(refused(vec![], vec![]), "P is empty; at least one probability is required");
        assert_eq!(
            refused(vec![0.5, 0.5], vec![1.0, -0.25]),
            "Q[1] = -0.25; a probability from 0 to 1 is required"
        );
        assert_eq!(refused(vec![2.5], vec![1.0]), "P[0] = 2.5; a probability from 0 to 1 is required");
        assert!(refused(vec![2.0], vec![1.0]).starts_with("P sums to 2; "));
        assert_eq!(
            refused(vec![1.0], vec![0.5, 0.5]),
            "P has 1 probabilities and Q has 2; both must list the same answers, 0 where a law does not give one"
        );
        for x in ["0", "-1/2"] {
            let message = "exp_epsilon must be above 0: it is e to the power epsilon";
            assert_eq!(ExpEpsilon::exactly(rational(x)).unwrap_err().to_string(), message);
        }
        assert!(matches!(ExpEpsilon::of(rational("0")), ExpEpsilon::Exactly(one) if one == rational("1")));
    }

    /// Doubles decide what they can, and no comparison wrongly: next to a tie, with tiny and subnormal numbers, at all ratios.
    #[test]
    fn comparisons_in_doubles_are_those_of_rationals() {
        let numbers = [0.0, 5e-324, 1e-310, 1e-300, 0.1, 0.3, 0.300_000_000_000_000_04, 0.5, 1.0];
        for ratio in ["1", "3", "1/3", "2.999999999999999", "1e80", "1e-80", "1e100", "1e-100"].map(rational)
        {
            let comparison = Comparison::new(Ball::from_rational(&ratio));
            let in_reach = ratio > rational("1e-90") && ratio < rational("1e90");
            assert_eq!(comparison.nearest.is_some(), in_reach, "{}", ratio.shown());
            for p in numbers {
                for q in numbers {
                    let cost = Rational::from_f64(q).unwrap().mul(&ratio);
                    let gain = Rational::from_f64(p).unwrap();
                    let found = comparison.first_is_greater(p, q);
                    assert!(
                        found.is_none_or(|greater| greater == (gain > cost)),
                        "{p} {q} {}",
                        ratio.shown()
                    );
                    let apart = gain.sub(&cost).abs() > gain.max(cost).mul(&rational("1e-25"));
                    assert!(found.is_some() || !apart, "{p} {q} {}", ratio.shown());
                }
            }
        }
    }
}
