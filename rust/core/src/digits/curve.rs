//! Privacy curves to any number of digits: the leaves of an expression one by one, each to the accuracy wanted.
//!
//! Means of numbers of one sign, maxima and minima keep relative accuracy, so leaves of a few bits more are enough.

use super::ball::Ball;
use super::hockey_stick::{Complement, complement, one_against_zero};
use super::probability::{Probability, Ratio, size};
use super::settle;
use crate::curve::{Curve, Inclusion, MeanOverSizes};
use crate::error::Error;
use crate::forms::{Answers, BinomialPeaks, BinomialRange, Direction, ShiftedBinomial};
use crate::interrupt::{Interrupt, Uninterrupted};
use crate::numbers::rational::Rational;

/// For an ε below this the value is one, up to `2^-(2^40)`.
const LOWEST: i64 = -(1 << 40);

/// Bits that tell most numbers apart.
const COARSE: usize = 24;

/// What the evaluation of a curve at one ε needs.
pub(super) struct Evaluation<'a> {
    pub(super) epsilon: &'a Rational,
    /// `γ` where the curve is taken at `ln(1 + (e^ε − 1)/γ)`, for an ε of at least 0; else 1.
    pub(super) rate: Rational,
    /// Bits of relative accuracy.
    pub(super) accuracy: usize,
    pub(super) interrupt: &'a dyn Interrupt,
}

impl<'a> Evaluation<'a> {
    /// At ε itself.
    pub(super) fn new(epsilon: &'a Rational, accuracy: usize, interrupt: &'a dyn Interrupt) -> Self {
        Self { epsilon, rate: Rational::from(1i64), accuracy, interrupt }
    }

    /// The same to another accuracy.
    pub(super) fn to_accuracy(&self, accuracy: usize) -> Self {
        Self { rate: self.rate.clone(), accuracy, ..*self }
    }

    /// `Δ` of the curve, to the accuracy wanted.
    pub(super) fn curve(&self, curve: &Curve) -> Result<Ball, Error> {
        if self.epsilon.is_negative() {
            return self.reflected(&curve.reversed());
        }
        let bits = self.accuracy + 64;
        let values =
            |curves: &[Curve]| curves.iter().map(|curve| self.curve(curve)).collect::<Result<Vec<_>, _>>();
        match curve {
            Curve::Pair(pair, direction) => self.pair(pair, *direction),
            Curve::Range(range, direction) => self.range(range, *direction),
            Curve::Peaks(tests, direction) => self.peaks(tests, *direction),
            Curve::Answers(laws) => self.answers(laws),
            Curve::Grouped(..) | Curve::Varied(..) | Curve::KnownInSample(..) | Curve::Composed(..) => {
                self.curve(&curve.written_out()?)
            }
            Curve::Smoothed(_) => Err(Error::precision(
                "a curve with continuous noise has no closed digits; delta() without digits= encloses it",
            )),
            Curve::Adaptive(_) => Err(Error::precision(
                "an adaptive composition has no closed digits; delta() without digits= encloses it, and exact_delta() \
                 is exact where few answers are possible",
            )),
            // 1 + (1 + (r−1)/γ − 1)/γ' = 1 + (r−1)/(γγ').
            Curve::Amplified(rate, curve) => {
                let inner = Self { rate: self.rate.mul(&rate.exact), ..*self };
                Ok(inner.curve(curve)?.times(&Ball::rational(&rate.exact, bits), bits))
            }
            Curve::Mean(parts) => parts.iter().try_fold(Ball::zero(), |sum, (weight, curve)| {
                let value = self.curve(curve)?.times(&Ball::rational(&weight.exact, bits), bits);
                Ok(sum.plus(&value, bits))
            }),
            Curve::MeanOverSizes(mean) => self.mean_over_sizes(mean),
            Curve::Max(curves) => self.maximum(curves),
            Curve::Min(curves) => {
                Ok(values(curves)?.into_iter().fold(Ball::one(), |best, value| best.least(value, bits)))
            }
        }
    }

    /// The largest; what a few bits show to be less than another is not evaluated further, nor the same law twice.
    fn maximum(&self, curves: &[Curve]) -> Result<Ball, Error> {
        let mut candidates: Vec<&Curve> = Vec::new();
        for curve in curves {
            if !candidates.iter().any(|other| alike(curve, other)) {
                candidates.push(curve);
            }
        }
        if candidates.len() > 1 && self.accuracy > 4 * COARSE {
            let coarse = self.to_accuracy(COARSE);
            let values = candidates.iter().map(|curve| coarse.curve(curve)).collect::<Result<Vec<_>, _>>()?;
            let best = values
                .iter()
                .fold(Ball::zero(), |best, value| if value.exceeds(&best) { value.clone() } else { best });
            let compared = candidates.into_iter().zip(&values);
            candidates = compared.filter(|(_, value)| !best.exceeds(value)).map(|(curve, _)| curve).collect();
        }
        candidates
            .into_iter()
            .try_fold(Ball::zero(), |best, curve| Ok(best.largest(self.curve(curve)?, self.accuracy + 64)))
    }

    /// `Δ_{v,w}(ε) = 1 − e^ε (1 − Δ_{w,v}(−ε))` for ε < 0.
    fn reflected(&self, opposite: &Curve) -> Result<Ball, Error> {
        if *self.epsilon < Rational::from(LOWEST) {
            let rest = Ball::dyadic(1.into(), i128::from(LOWEST));
            return Ok(Ball::one().widened(&rest, self.accuracy + 64));
        }
        let epsilon = self.epsilon.neg();
        settle(self.accuracy, self.interrupt, |bits| {
            let others = Evaluation::new(&epsilon, bits, self.interrupt).curve(opposite)?;
            let ratio = Ratio::new(self.epsilon).at(bits + 16);
            Ok(ratio.map(|r| {
                Ball::one().minus(&r.times(&Ball::one().minus(&others, bits + 16), bits + 16), bits + 16)
            }))
        })
    }

    /// The ratio `r` that likelihoods are compared with, or `e^most` where ε, and so `ln r`, is above that and the curve does not change
    /// any more.
    fn ratio(&self, most: u64) -> Ratio {
        let most = Rational::from(most);
        if *self.epsilon > most { Ratio::new(&most) } else { self.whole_ratio() }
    }

    fn whole_ratio(&self) -> Ratio {
        Ratio::amplified(self.epsilon, &self.rate)
    }

    fn pair(&self, pair: &ShiftedBinomial, direction: Direction) -> Result<Ball, Error> {
        let one = Rational::from(1i64);
        let Some(given) = pair.given() else {
            return Err(Error::precision("this count has no exact probability to compute digits from"));
        };
        let p = match direction {
            Direction::OneAgainstZero => given.p.clone(),
            Direction::ZeroAgainstOne => one.sub(&given.p),
        };
        let w = &given.inclusion;
        if p.is_zero() {
            // No other entry counts, and only `P_1` puts mass, w, on the answer 1.
            return Ok(Ball::rational(w, self.accuracy + 64));
        }
        if p == one {
            return self.all_alike(w);
        }
        let ratio = self.ratio(last_change(&[&p, w]));
        let probability = Probability::Exact(p);
        settle(self.accuracy, self.interrupt, |bits| {
            one_against_zero(pair.size(), &probability, w, &ratio, bits, self.interrupt)
        })
    }

    /// All others count: `P_1` puts everything on an answer to which `P_0` gives `1 − w`, so `Δ = (1 − r(1−w))_+`.
    ///
    /// For `w < 1` and `r ≠ 1` that is transcendental.
    fn all_alike(&self, w: &Rational) -> Result<Ball, Error> {
        let absent = Rational::from(1i64).sub(w);
        if absent.is_zero() || self.epsilon.is_zero() {
            return Ok(Ball::rational(w, self.accuracy + 64));
        }
        let ratio = self.ratio(last_change(&[w]));
        settle(self.accuracy, self.interrupt, |bits| {
            let Some(r) = ratio.at(bits) else { return Ok(None) };
            let value = Ball::one().minus(&r.times(&Ball::rational(&absent, bits), bits), bits);
            Ok(if value.is_not_positive() { Some(Ball::zero()) } else { Some(value) })
        })
    }

    /// From the probabilities as rationals: where `e^ε` is not 1 it is transcendental, and with enough bits no gap is undecided.
    fn answers(&self, laws: &Answers) -> Result<Ball, Error> {
        let masses = laws.masses(self.interrupt)?;
        let [first, second] = laws.in_order(&masses);
        let zero = Rational::from(0i64);
        let ratio = self.whole_ratio();
        if let Ratio::One = ratio {
            let gaps = first.iter().map(|(answer, mass)| mass.sub(second.get(answer).unwrap_or(&zero)));
            let total = gaps.filter(|gap| !gap.is_negative()).fold(zero.clone(), |sum, gap| sum.add(&gap));
            return Ok(Ball::rational(&total, self.accuracy + 64));
        }
        settle(self.accuracy, self.interrupt, |bits| {
            let Some(r) = ratio.at(bits) else { return Ok(None) };
            let mut sum = Ball::zero();
            for (answer, mass) in first {
                let other = second.get(answer).unwrap_or(&zero);
                let gap =
                    Ball::rational(mass, bits).minus(&r.times(&Ball::rational(other, bits), bits), bits);
                if gap.is_positive() {
                    sum = sum.plus(&gap, bits);
                } else if !gap.is_not_positive() {
                    return Ok(None);
                }
            }
            Ok(Some(sum))
        })
    }

    /// The supremum over a range of probabilities: at its ends, or at the outermost peaks inside.
    ///
    /// The theorem is in `docs/explanation/ranges.md`. With `N = n−1` the outermost peaks are `jL = ⌈κ(lo)⌉`, `jR = ⌊κ(hi)⌋`,
    /// `κ(p) = N − y(p)`, where `y` is that of a certain count of `N` entries; heights at 0 and `N` belong to p = 0, 1.
    fn range(&self, range: &BinomialRange, direction: Direction) -> Result<Ball, Error> {
        let one = Rational::from(1i64);
        let (lower, upper) = range.given();
        if lower.is_zero() || *upper == one {
            return Ok(Ball::one());
        }
        let (lower, upper) = match direction {
            Direction::OneAgainstZero => (lower.clone(), upper.clone()),
            Direction::ZeroAgainstOne => (one.sub(upper), one.sub(lower)),
        };
        let ratio = self.ratio(last_change(&[&lower, &upper]));
        let n = range.size();
        let mut candidates = Vec::new();
        if n > 2 {
            let (first, last) = self.peaks_within(n - 1, &lower, &upper, &ratio)?;
            if first <= last {
                candidates = vec![first, last];
                candidates.dedup();
            }
        }
        let ends = vec![Probability::Exact(lower), Probability::Exact(upper)];
        self.greatest(n, &ratio, ends, &candidates)
    }

    /// The outermost peaks of some tests, see `pair/binomial_peaks.rs`.
    fn peaks(&self, tests: &BinomialPeaks, direction: Direction) -> Result<Ball, Error> {
        if tests.gives_away() {
            return Ok(Ball::one());
        }
        if tests.is_open() {
            return Err(Error::precision(
                "tests over a range of probabilities that reaches 0 or 1 have no last point of change, and no digits; delta() \
                 encloses them",
            ));
        }
        // Beside no other entry a test gives the value away, or there is none.
        if tests.size() == 1 {
            return Ok(Ball::zero());
        }
        let (lower, upper) = tests.range(direction);
        let ratio = self.ratio(last_change(&[&lower, &upper]));
        let (first, last) = self.peaks_within(tests.size() - 1, &lower, &upper, &ratio)?;
        self.greatest(tests.size(), &ratio, Vec::new(), &tests.outermost(direction, first, last))
    }

    /// The first and the last `j` with `p_j` in the range.
    fn peaks_within(
        &self,
        others: u64,
        lower: &Rational,
        upper: &Rational,
        ratio: &Ratio,
    ) -> Result<(u64, u64), Error> {
        let first = others - self.peak(others, lower, ratio)?.0;
        let (floor, whole) = self.peak(others, upper, ratio)?;
        Ok((first, (others - floor).saturating_sub(u64::from(!whole))))
    }

    /// The greatest `Δ_{1,0}` of a count at these probabilities, and at the peaks of these tests but those of `p = 0` and `p = 1`.
    fn greatest(
        &self,
        n: u64,
        ratio: &Ratio,
        mut probabilities: Vec<Probability>,
        peaks: &[u64],
    ) -> Result<Ball, Error> {
        let one = Rational::from(1i64);
        let inner = peaks.iter().filter(|&j| (1..n - 1).contains(j));
        probabilities.extend(inner.map(|&j| Probability::Peak {
            successes: j,
            failures: n - 1 - j,
            ratio: ratio.clone(),
        }));
        probabilities.into_iter().try_fold(Ball::zero(), |supremum, probability| {
            let value = settle(self.accuracy, self.interrupt, |bits| {
                one_against_zero(n, &probability, &one, ratio, bits, self.interrupt)
            })?;
            Ok(supremum.largest(value, self.accuracy + 64))
        })
    }

    /// `⌊y⌋`, and whether `y` is an integer.
    fn peak(&self, n: u64, p: &Rational, ratio: &Ratio) -> Result<(u64, bool), Error> {
        let mut found = None;
        settle(0, self.interrupt, |bits| {
            let located = complement(n, p, &Rational::from(1i64), ratio, bits + 64);
            found = located.map(|located| match located {
                Complement::NotPositive => (0, true),
                Complement::Positive(floor, rest) => (floor, rest.is_zero()),
            });
            Ok(found.map(|_| Ball::one()))
        })?;
        found.ok_or(Error::Interrupted)
    }
}

/// Whether two curves are the hockey stick of the same count: for p = 1/2 both directions are.
fn alike(a: &Curve, b: &Curve) -> bool {
    let (Curve::Pair(first, v), Curve::Pair(second, w)) = (a, b) else { return false };
    let (Some(one), Some(other)) = (first.given(), second.given()) else { return false };
    let same = if v == w { one.p == other.p } else { one.p == Rational::from(1i64).sub(&other.p) };
    same && first.size() == second.size() && one.inclusion == other.inclusion
}

/// An ε from which on the curve of a count with these probabilities is constant.
///
/// A certain count changes up to `r = nq/p < 2^53 · 2^size(p)`, a sampled one up to `r = 1 + w/((1−w)p) ≤ 1 + 2^{size(w)+size(p)}`.
fn last_change(probabilities: &[&Rational]) -> u64 {
    64 + probabilities.iter().map(|p| size(p)).sum::<u64>()
}

/// The same for an expression.
pub(super) fn last_change_of(curve: &Curve) -> u64 {
    match curve {
        Curve::Pair(pair, _) => pair.given().map_or(0, |given| last_change(&[&given.p, &given.inclusion])),
        Curve::Range(range, _) => last_change(&[range.given().0, range.given().1]),
        // Where its range is open it has no digits.
        Curve::Peaks(tests, _) => {
            let (lower, upper) = tests.range(Direction::OneAgainstZero);
            last_change(&[&lower, &upper])
        }
        // A likelihood ratio is at most 1/Q(a) ≤ 2^size(Q(a)).
        Curve::Answers(laws) => laws.masses(&Uninterrupted).map_or(0, |masses| {
            laws.in_order(&masses)[1].values().map(|mass| 1 + size(mass)).max().unwrap_or(0)
        }),
        Curve::Grouped(..) | Curve::Varied(..) | Curve::KnownInSample(..) | Curve::Composed(..) => {
            curve.written_out().map_or(0, |curve| last_change_of(&curve))
        }
        // Has no digits.
        Curve::Smoothed(_) | Curve::Adaptive(_) => 0,
        Curve::Amplified(_, curve) => last_change_of(curve),
        Curve::Mean(parts) => parts.iter().map(|(_, curve)| last_change_of(curve)).max().unwrap_or(0),
        Curve::MeanOverSizes(mean) => last_change_of_mean(mean),
        Curve::Max(curves) | Curve::Min(curves) => curves.iter().map(last_change_of).max().unwrap_or(0),
    }
}

/// `w_k` is a quotient of integers below `2^(64 + size(c))`, whatever `k`.
fn last_change_of_mean(mean: &MeanOverSizes) -> u64 {
    let inclusion = match mean.inclusion() {
        Inclusion::Certain => 0,
        Inclusion::Among(_) => 2 * 64,
        Inclusion::Beside(outside) => 2 * (64 + size(outside)),
    };
    inclusion + mean.family().of_size(1).map_or(0, |curve| last_change_of(&curve))
}

#[cfg(test)]
mod tests {
    use super::super::cost::Cost;
    use super::super::examples::{curves, number};
    use super::*;
    use crate::answer::Law;
    use crate::exact::exact_delta;
    use crate::forms::ContinuousNoise;
    use crate::forms::Smoothed;
    use crate::record::{Plain, Record};
    use dashu_int::IBig;

    /// Balls as they are, with the guard bits that digits do not show.
    #[test]
    fn same_bits_of_curves() {
        let mut record = Record::of("inner curves with digits");
        let cost = Cost::from_now_on();
        for (name, curve) in curves() {
            for epsilon in ["0", "1/1000", "0.3", "2", "90", "-0.2", "-3"] {
                for accuracy in [0, 60, 97, 200] {
                    let epsilon_given = number(epsilon);
                    let value = Evaluation::new(&epsilon_given, accuracy, &record.questions).curve(&curve);
                    record.note(format!("{name} e={epsilon} {accuracy} bits"), value);
                }
            }
            record.note(format!("{name} last change"), Plain(last_change_of(&curve)));
        }
        record.note("bits asked for", cost.so_far());
        record.compare();
    }

    /// `e^(last change)` is beyond every finite likelihood ratio.
    #[test]
    fn beyond_its_last_change_a_curve_is_constant() {
        for (name, curve) in curves() {
            let last = last_change_of(&curve) as usize;
            let at = |bits: usize| exact_delta(&curve, &Rational::from(IBig::ONE << bits), &Uninterrupted);
            // 2^last < e^last
            let Ok(limit) = at(last) else { continue };
            assert_eq!(at(2 * last).unwrap(), limit, "{name}");
            for epsilon in [last, last + 1, 3 * last] {
                let epsilon = Rational::from(epsilon as u64);
                let value = Evaluation::new(&epsilon, 60, &Uninterrupted).curve(&curve).unwrap();
                let exact = Ball::rational(&limit, 200);
                assert!(!value.exceeds(&exact) && !exact.exceeds(&value), "{name}");
                assert!(value.accuracy() >= 60, "{name}");
            }
        }
    }

    #[test]
    fn every_curve_is_as_accurate_as_it_is_asked_for() {
        for (name, curve) in curves() {
            for epsilon in ["0", "0.1", "-0.1"].map(number) {
                let value = Evaluation::new(&epsilon, 200, &Uninterrupted).curve(&curve).unwrap();
                assert!(value.accuracy() >= 200, "{name} {epsilon:?}: {}", value.accuracy());
            }
        }
    }

    /// `1 − 2^-(2^40)` and more, without a power that cannot be written down.
    #[test]
    fn at_the_lowest_epsilon_a_curve_is_one() {
        let (_, curve) = curves().swap_remove(2);
        let epsilon = Rational::from(LOWEST - 1);
        let value = Evaluation::new(&epsilon, 60, &Uninterrupted).curve(&curve).unwrap();
        assert!(!value.exceeds(&Ball::one()) && !Ball::one().exceeds(&value));
        let unit = value.spread();
        assert!(Ball::one().scaled(-60).exceeds(&unit));
    }

    /// For p = 1/2, and for p against 1 − p in the other direction.
    #[test]
    fn the_same_count_is_recognised() {
        use Direction::{OneAgainstZero, ZeroAgainstOne};
        let count = |n: u64, p: &str, w: &str, direction| {
            Curve::Pair(ShiftedBinomial::new(n, &number(p), &number(w)).unwrap(), direction)
        };
        let first = count(9, "1/3", "1", OneAgainstZero);
        for (other, same) in [
            (count(9, "1/3", "1", OneAgainstZero), true),
            (count(9, "2/3", "1", ZeroAgainstOne), true),
            (count(9, "1/3", "1", ZeroAgainstOne), false),
            (count(9, "2/3", "1", OneAgainstZero), false),
            (count(8, "1/3", "1", OneAgainstZero), false),
            (count(9, "1/3", "1/2", OneAgainstZero), false),
            (Curve::Max(vec![first.clone()]), false),
        ] {
            assert_eq!(alike(&first, &other), same, "{other:?}");
        }
    }

    #[test]
    fn what_has_no_digits_is_refused() {
        let law = |p| Law::binomial(5, &number(p)).unwrap();
        let answers = Answers::new(law("1/3"), law("1/2"));
        let noise = ContinuousNoise::Laplace { scale: number("1") };
        let open = BinomialPeaks::new(5, vec![2], &number("0"), &number("1/2")).unwrap();
        for (curve, message) in [
            (
                Curve::Smoothed(Smoothed::new(answers, noise).unwrap()),
                "a curve with continuous noise has no closed digits; delta() without digits= encloses it",
            ),
            (
                Curve::Peaks(open, Direction::OneAgainstZero),
                "tests over a range of probabilities that reaches 0 or 1 have no last point of change, and no digits; delta() \
                 encloses them",
            ),
        ] {
            let one = Rational::from(1i64);
            let refused = Evaluation::new(&one, 60, &Uninterrupted).curve(&curve).unwrap_err();
            assert_eq!(refused.to_string(), message);
        }
    }

    /// Beside no other entry, and of all or of none.
    #[test]
    fn tests_of_one_entry_show_nothing_or_all() {
        let value = |tests: Vec<u64>, lower: &str, upper: &str| {
            let tests = BinomialPeaks::new(1, tests, &number(lower), &number(upper)).unwrap();
            let one = Rational::from(1i64);
            Evaluation::new(&one, 60, &Uninterrupted)
                .curve(&Curve::Peaks(tests, Direction::OneAgainstZero))
                .unwrap()
        };
        assert!(value(vec![], "1/3", "1/2").is_zero());
        assert!(value(vec![0], "1/3", "1/2").midpoint().exceeds(&Ball::one().half()));
    }
}
