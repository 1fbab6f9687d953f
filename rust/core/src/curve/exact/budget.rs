//! Whether an exact value is taken on, estimated before anything is computed.

use crate::budget::MAX_SECONDS;
use crate::curve::{Curve, Irrelevant, MeanOverSizes};
use crate::error::Error;
use crate::exact::cost::{At, Cost, bits, seconds};
use crate::numbers::approximate;

/// Refuses a curve whose exact value would not fit. `logarithm` is about ε, `ratio_bits` the bits of `e^ε` if that is
/// a rational.
pub(crate) fn check(name: &str, curve: &Curve, logarithm: f64, ratio_bits: f64) -> Result<(), Error> {
    let Cost { denominator, seconds } = At { logarithm, ratio_bits }.cost(curve);
    if seconds <= MAX_SECONDS {
        return Ok(());
    }
    Err(Error::precision(format!(
        "{name} would have a denominator of about {denominator:.1e} bits ({:.1} MB) and take about {seconds:.0e} s, \
         above the limit of {MAX_SECONDS} s; delta() encloses it at any size, and a p with a short denominator, such as \
         1/2 or '0.3' (0.3 without quotes stores 55 bits), costs least",
        denominator / 8e6
    )))
}

impl At {
    fn cost(&self, curve: &Curve) -> Cost {
        match curve {
            Curve::Form(form) => form.cost(self),
            Curve::Amplified(rate, curve) => {
                let inner = Self { ratio_bits: self.ratio_bits + bits(&rate.exact), ..*self }.cost(curve);
                Cost { denominator: inner.denominator + bits(&rate.exact), ..inner }
            }
            Curve::MeanOverSizes(mean) => self.mean_over_sizes(mean),
            Curve::Mean(parts) => parts.iter().fold(Cost::NOTHING, |sum, (weight, part)| {
                let part = self.cost(part);
                sum.and(Cost { denominator: part.denominator + bits(&weight.exact), ..part })
            }),
            Curve::Max(curves) | Curve::Min(curves) => {
                curves.iter().fold(Cost::NOTHING, |sum, curve| sum.and(self.cost(curve)))
            }
        }
    }

    /// Each term a member of the size that costs most, and an addition over the common denominator.
    fn mean_over_sizes(&self, mean: &MeanOverSizes) -> Cost {
        let largest = mean.member(mean.size());
        let one = largest.map_or(Cost::NOTHING, |(largest, _)| self.cost(&largest));
        let law = mean.irrelevant();
        let ways = match law {
            Irrelevant::Hypergeometric(law) => {
                let chosen = law.draws().min(law.population() - law.draws()) as f64;
                chosen * approximate::log2(law.population().max(1) as f64)
            }
            Irrelevant::Binomial(law) => law.others() as f64 * bits(law.share()),
        };
        let terms = (law.greatest() - law.least()) as f64 + 1.0;
        let denominator = one.denominator + ways + bits(mean.counted());
        Cost { denominator, seconds: terms * (one.seconds + seconds(denominator)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forms::BinomialRange;
    use crate::forms::Directed;
    use crate::forms::Direction;
    use crate::numbers::rational::Rational;

    /// `1 + (r − 1)/γ` has as many bits as `r` and `γ` together, and δ is multiplied by `γ`.
    #[test]
    fn a_rate_adds_its_bits_to_those_of_the_ratio_and_of_the_value() {
        let [lower, upper, rate] = ["1/100", "7/10", "3/10"].map(|text| Rational::parse(text).unwrap());
        let range = BinomialRange::new(700, &lower, &upper).unwrap();
        let range = Curve::from(Directed(range, Direction::OneAgainstZero));
        let of = |curve: &Curve, ratio_bits| At { logarithm: 0.2, ratio_bits }.cost(curve);
        let alone = of(&range, 60.0 + bits(&rate));
        let sampled = of(&Curve::amplified(rate.clone(), range).unwrap(), 60.0);
        assert_eq!(sampled.seconds, alone.seconds);
        assert_eq!(sampled.denominator, alone.denominator + bits(&rate));
    }
}
