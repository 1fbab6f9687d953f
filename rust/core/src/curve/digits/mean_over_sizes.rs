//! Means over the number of entries that matter, to any number of digits: see `curve/mean_over_sizes.rs` for what they are.

use crate::curve::{Inclusion, Irrelevant, MeanOverSizes};
use crate::digits::Evaluation;
use crate::digits::ball::Ball;
use crate::digits::probability::Probability;
use crate::digits::{binomial, hypergeometric, settle};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::numbers::rational::Rational;

/// Terms between two polls of the interrupt.
const TERMS_PER_CHECK: u64 = 1 << 10;

/// The law of the number of entries that do not matter.
enum Law {
    Hypergeometric(hypergeometric::Law),
    Binomial { trials: u64, share: Rational },
}

impl Law {
    fn new(irrelevant: &Irrelevant) -> Self {
        match irrelevant {
            Irrelevant::Hypergeometric(law) => Self::Hypergeometric(law.into()),
            Irrelevant::Binomial(law) => Self::Binomial { trials: law.others(), share: law.share().clone() },
        }
    }

    fn least(&self) -> u64 {
        match self {
            Self::Hypergeometric(law) => law.least(),
            Self::Binomial { .. } => 0,
        }
    }

    fn greatest(&self) -> u64 {
        match self {
            Self::Hypergeometric(law) => law.greatest(),
            Self::Binomial { trials, .. } => *trials,
        }
    }

    fn point(&self, z: u64, accuracy: usize, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        settle(accuracy, interrupt, |bits| match self {
            Self::Hypergeometric(law) => law.point(z, bits, interrupt),
            Self::Binomial { trials, share } => {
                binomial::point(*trials, &Probability::Exact(share.clone()), z, bits, interrupt)
            }
        })
    }

    /// `P[Z = z+1]/P[Z = z]`, zero at the end of the support.
    fn ratio_up(&self, z: u64, bits: usize) -> Ball {
        match self {
            Self::Hypergeometric(law) => law.ratio_up(z, bits),
            Self::Binomial { trials, share } => {
                let odds = share.div(&Rational::from(1i64).sub(share));
                let odds = odds.map_or_else(Ball::zero, |odds| Ball::rational(&odds, bits));
                let up = odds.times_integer(trials - z, bits).over(&Ball::from(z + 1), bits);
                up.unwrap_or_else(Ball::zero)
            }
        }
    }
}

impl Evaluation<'_> {
    /// The mean, for an ε of at least 0.
    pub(super) fn mean_over_sizes(&self, mean: &MeanOverSizes) -> Result<Ball, Error> {
        let bits = self.accuracy + 96;
        let law = Law::new(mean.irrelevant());
        let Some(start) = self.start(mean, &law)? else { return Ok(Ball::zero()) };
        let first = law.point(start, bits, self.interrupt)?;
        let sum = self.sum_up(mean, &law, start, &first)?;
        let sum = self.sum_down(mean, &law, start, first, sum)?;
        Ok(sum.times(&Ball::rational(mean.counted(), bits), bits))
    }

    /// `Δ(k, w_k)/w_k` for `k = size − z`: from 0 to 1.
    fn member(&self, mean: &MeanOverSizes, z: u64) -> Result<Ball, Error> {
        let k = mean.size() - z;
        let (curve, _) = mean.member(k)?;
        let value = self.curve(&curve)?;
        let Some(total) = mean.inclusion().total(k) else { return Ok(value) };
        let bits = self.accuracy + 96;
        let share = value.times(&Ball::rational(&total, bits), bits).over(&Ball::from(k), bits);
        share.ok_or_else(|| Error::precision("a sample without entries has no curve"))
    }

    /// The mode of the law, or the greatest `z` below it where the member is not zero; nothing if all are. They vanish together, from some
    /// `z` on.
    fn start(&self, mean: &MeanOverSizes, law: &Law) -> Result<Option<u64>, Error> {
        let (mut least, mut zero) = (law.least(), mean.irrelevant().mode());
        let coarse = self.to_accuracy(0);
        let vanishes = |z: u64| coarse.member(mean, z).map(|value| value.is_zero());
        if *mean.inclusion() == Inclusion::Certain || !vanishes(zero)? {
            return Ok(Some(zero));
        }
        if vanishes(least)? {
            return Ok(None);
        }
        while zero - least > 1 {
            let middle = least.midpoint(zero);
            if vanishes(middle)? { zero = middle } else { least = middle }
        }
        Ok(Some(least))
    }

    /// From `start` on, in blocks of `step` numbers that share the value of the largest. Beyond the mode the ratios `r` of the law fall, so after
    /// the term `t` its tail is at most `t r/(1−r)`; members are at most 1.
    fn sum_up(&self, mean: &MeanOverSizes, law: &Law, start: u64, first: &Ball) -> Result<Ball, Error> {
        let bits = self.accuracy + 96;
        let (mut sum, mut weight, mut block) = (Ball::zero(), first.clone(), Ball::zero());
        for z in start..=law.greatest() {
            block = block.plus(&weight, bits);
            let ratio = law.ratio_up(z, bits);
            if z == law.greatest() || (z - start + 1).is_multiple_of(mean.step()) {
                let value = self.member(mean, z)?;
                if value.is_zero() {
                    break;
                }
                sum = sum.plus(&block.times(&value, bits), bits);
                block = Ball::zero();
                let rest = weight.times(&ratio, bits).over(&Ball::one().minus(&ratio, bits), bits);
                if let Some(rest) = rest.filter(|rest| self.is_negligible(rest, &sum)) {
                    return Ok(sum.widened(&rest, bits));
                }
            }
            weight = weight.times(&ratio, bits);
            if z.is_multiple_of(TERMS_PER_CHECK) {
                self.interrupt.check()?;
            }
        }
        Ok(sum)
    }

    /// `sum` and the terms below `start`, from there downwards. Where members do not fall with `z`, what is left is at most the tail
    /// times the value reached.
    fn sum_down(
        &self,
        mean: &MeanOverSizes,
        law: &Law,
        start: u64,
        first: Ball,
        mut sum: Ball,
    ) -> Result<Ball, Error> {
        let bits = self.accuracy + 96;
        let (mut weight, mut reached) = (first, Ball::zero());
        for z in (law.least()..start).rev() {
            let Some(ratio) = Ball::one().over(&law.ratio_up(z, bits), bits) else { break };
            weight = weight.times(&ratio, bits);
            if (start - 1 - z).is_multiple_of(mean.step()) {
                reached = self.member(mean, z)?;
            }
            sum = sum.plus(&weight.times(&reached, bits), bits);
            let most = if *mean.inclusion() == Inclusion::Certain { &reached } else { &Ball::one() };
            let rest = weight.times(&ratio, bits).over(&Ball::one().minus(&ratio, bits), bits);
            let rest = rest.map(|rest| rest.times(most, bits));
            if let Some(rest) = rest.filter(|rest| self.is_negligible(rest, &sum)) {
                return Ok(sum.widened(&rest, bits));
            }
            if z.is_multiple_of(TERMS_PER_CHECK) {
                self.interrupt.check()?;
            }
        }
        Ok(sum)
    }

    fn is_negligible(&self, rest: &Ball, sum: &Ball) -> bool {
        rest.is_positive() && rest.log2() + self.accuracy as i128 + 16 < sum.log2()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::CountFamily;
    use crate::digits::examples::number;
    use crate::forms::Direction;
    use crate::interrupt::Uninterrupted;

    fn family(p: &str) -> CountFamily {
        CountFamily::new(&number(p), &number(p), Some(Direction::OneAgainstZero)).unwrap()
    }

    /// Wide laws whose middle alone is summed; members that vanish for large `ε`; thresholds.
    fn means() -> Vec<(&'static str, MeanOverSizes)> {
        let known = |population, known, size| {
            MeanOverSizes::known_entries(population, known, size, family("1/2")).unwrap()
        };
        let irrelevant = |size, x: &str| {
            MeanOverSizes::irrelevant_entries(size, size - 5, &number(x), family("0.3")).unwrap()
        };
        let published =
            |n, rate: &str| MeanOverSizes::published_sample(n, &number(rate), family("0.4")).unwrap();
        vec![
            ("few known", known(30, 7, 12)),
            ("many known", known(4000, 2000, 900)),
            ("many known, at thresholds", known(4000, 2000, 900).with_thresholds(9)),
            ("all irrelevant", irrelevant(8, "1")),
            ("many irrelevant", irrelevant(1500, "0.4")),
            ("published size", published(40, "0.3")),
            ("published size of many", published(900, "0.1")),
        ]
    }

    /// Term by term, without what is left out and without a choice where to begin.
    #[test]
    fn means_are_the_sums_of_all_their_terms() {
        for (name, mean) in means() {
            let law = Law::new(mean.irrelevant());
            for epsilon in ["0", "0.2", "1", "5"].map(number) {
                let evaluation = Evaluation::new(&epsilon, 20, &Uninterrupted);
                if mean.size() > 100 && evaluation.epsilon.is_zero() {
                    continue;
                }
                let found = evaluation.mean_over_sizes(&mean).unwrap();
                let further = Evaluation::new(&epsilon, 30, &Uninterrupted);
                let direct = (law.least()..=law.greatest()).rev().fold(Ball::zero(), |sum, z| {
                    let mass = law.point(z, 40, &Uninterrupted).unwrap();
                    if Ball::one().scaled(-60).exceeds(&mass) {
                        return sum.widened(&mass, 90);
                    }
                    let member = further.member(&mean, mean.threshold(z)).unwrap();
                    sum.plus(&mass.times(&member, 90), 90)
                });
                let direct = direct.times(&Ball::rational(mean.counted(), 90), 90);
                assert!(!found.exceeds(&direct) && !direct.exceeds(&found), "{name} at {}", epsilon.shown());
                assert!(found.accuracy() >= 16, "{name} at {}: {}", epsilon.shown(), found.accuracy());
            }
        }
    }
}
