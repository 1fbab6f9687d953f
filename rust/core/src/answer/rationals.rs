//! Probabilities of a law as rationals, all of them.
//!
//! Nothing is left out, so the answers must be few, and nothing is rounded, so the numbers become long: what it would take is
//! estimated first.

use super::{Law, Noise, Recipe, Sampling, sampling::ratio};
use crate::budget::{MAX_BYTES, MAX_SECONDS};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::numbers::approximate;
use crate::numbers::rational::Rational;
use dashu_int::ops::BitTest;
use dashu_int::{IBig, UBig};
use std::collections::BTreeMap;

/// An addition or a product of two rationals of `MEASURED_BITS` bits, with its gcd, takes about `MEASURED_SECONDS`. The time grows
/// with the power `GROWTH` of the bits, and is at least `MIN_SECONDS`.
const MEASURED_BITS: f64 = 1000.0;
const MEASURED_SECONDS: f64 = 4e-6;
const MIN_SECONDS: f64 = 4e-7;
const GROWTH: f64 = 1.6;

/// Probabilities by answer; those of other answers are zero.
pub(crate) type Masses = BTreeMap<i64, Rational>;

/// The probabilities of two laws, on answers that are possible under one of them.
///
/// Where both have the same geometric noise added, `α^{|k|}`, all answers that lie on one side of everything without noise have
/// the same likelihood ratio, and count as one answer, to which a hockey stick is indifferent.
///
/// # Errors
/// Laws whose probabilities are not rational, or too many or too long; interruption.
pub(crate) fn masses(laws: &[Law; 2], interrupt: &dyn Interrupt) -> Result<[Masses; 2], Error> {
    let quiet = laws.each_ref().map(Law::without_noise);
    if let [Some((one, Noise::Geometric { alpha })), Some((other, Noise::Geometric { alpha: same }))] = &quiet
        && alpha == same
    {
        let quiet = [Cost::of(one)?, Cost::of(other)?];
        let answers = one.span().max(other.span());
        let bits = quiet[0].bits.max(quiet[1].bits) + answers * size(alpha);
        Cost { answers, bits, seconds: 10.0 * answers * answers * operation(bits) }.check()?;
        let data = [evaluated(one, interrupt)?, evaluated(other, interrupt)?];
        return noisy(&data, alpha, interrupt);
    }
    Ok([evaluated(&laws[0], interrupt)?, evaluated(&laws[1], interrupt)?])
}

/// With `lo ≤ data ≤ hi`: `P[answer ≤ lo] = Σ_j d_j α^{j−lo}/(1+α)`, likewise above, and between them the convolution.
fn noisy(data: &[Masses; 2], alpha: &Rational, interrupt: &dyn Interrupt) -> Result<[Masses; 2], Error> {
    let answers = || data.iter().flat_map(BTreeMap::keys).copied();
    let (Some(low), Some(high)) = (answers().min(), answers().max()) else { return Ok(data.clone()) };
    let one = Rational::from(1i64);
    let tail = one.div(&one.add(alpha)).unwrap_or_else(|| one.clone());
    let centre = one.sub(alpha).mul(&tail);
    let powers: Vec<Rational> = std::iter::successors(Some(one), |power| Some(power.mul(alpha)))
        .take(high.abs_diff(low) as usize + 1)
        .collect();
    let mut result = [Masses::new(), Masses::new()];
    for (law, published) in data.iter().zip(&mut result) {
        for answer in low..=high {
            interrupt.check()?;
            let scale = if answer == low || answer == high { &tail } else { &centre };
            let terms =
                law.iter().filter_map(|(at, mass)| Some(mass.mul(powers.get(at.abs_diff(answer) as usize)?)));
            let sum = terms.fold(Rational::from(0i64), |sum, term| sum.add(&term));
            published.insert(answer, sum.mul(scale));
        }
        if low == high {
            // One answer on both sides of it: all of them have the same ratio, one.
            published.insert(low, Rational::from(1i64));
        }
    }
    Ok(result)
}

/// All probabilities of one law.
///
/// # Errors
/// As [`masses`].
pub(crate) fn all_masses(law: &Law, interrupt: &dyn Interrupt) -> Result<Masses, Error> {
    evaluated(law, interrupt)
}

fn evaluated(law: &Law, interrupt: &dyn Interrupt) -> Result<Masses, Error> {
    Cost::of(law)?.check()?;
    Evaluation { interrupt }.masses(law)
}

struct Evaluation<'a> {
    interrupt: &'a dyn Interrupt,
}

impl Evaluation<'_> {
    /// Answers that are not possible have no entry: more marked entries than there are would be drawn from.
    fn masses(&self, law: &Law) -> Result<Masses, Error> {
        self.interrupt.check()?;
        let mut masses = self.all_masses(law)?;
        masses.retain(|_, mass| !mass.is_zero());
        Ok(masses)
    }

    fn all_masses(&self, law: &Law) -> Result<Masses, Error> {
        Ok(match law.recipe() {
            Recipe::Table { first, masses } => (*first..).zip(masses.iter().cloned()).collect(),
            Recipe::Binomial { trials, p } => (0..).zip(self.binomial(*trials, p)?).collect(),
            Recipe::Repeated { law, count } => self.power(self.masses(law)?, *count)?,
            Recipe::Sum(parts) => {
                let point = Masses::from([(0, Rational::from(1i64))]);
                parts.iter().try_fold(point, |sum, part| self.convolved(&sum, &self.masses(part)?))?
            }
            Recipe::Mixture(parts) => {
                let mut mixture = Masses::new();
                for (weight, law) in parts {
                    add(&mut mixture, &self.masses(law)?, weight);
                }
                mixture
            }
            Recipe::Shifted(law, by) => {
                self.masses(law)?.into_iter().map(|(answer, mass)| (answer + by, mass)).collect()
            }
            Recipe::Scaled(law, by) => {
                self.masses(law)?.into_iter().map(|(answer, mass)| (answer * by, mass)).collect()
            }
            Recipe::Sampled(law, sampling) => {
                let mut sample = Masses::new();
                for (marked, weight) in self.masses(law)? {
                    add(&mut sample, &self.sample(marked.unsigned_abs(), sampling)?, &weight);
                }
                sample
            }
            Recipe::Relabelled(law, relabelling) => {
                let mut published = Masses::new();
                for (answer, mass) in self.masses(law)? {
                    add(
                        &mut published,
                        &Masses::from([(relabelling.apply(answer), mass)]),
                        &Rational::from(1i64),
                    );
                }
                published
            }
            Recipe::OrderStatistic { counts, rank } => {
                let mut masses = Masses::new();
                let mut before = Rational::from(0i64);
                for (x, count) in (0..).zip(counts) {
                    let smaller = self.masses(count)?;
                    let enough =
                        smaller.iter().filter(|&(&number, _)| number >= 0 && number.unsigned_abs() >= *rank);
                    let reached = enough.fold(Rational::from(0i64), |sum, (_, mass)| sum.add(mass));
                    masses.insert(x, reached.sub(&before));
                    before = reached;
                }
                masses
            }
            Recipe::Noise(noise) => truncated(noise)?,
        })
    }

    /// `P[Bin(n, p) = k]` for `k = 0, …, n`.
    fn binomial(&self, n: u64, p: &Rational) -> Result<Vec<Rational>, Error> {
        let one = Rational::from(1i64);
        let q = one.sub(p);
        let powers = |base: &Rational| {
            std::iter::successors(Some(one.clone()), |power| Some(power.mul(base)))
                .take(n as usize + 1)
                .collect::<Vec<_>>()
        };
        let (hits, misses) = (powers(p), powers(&q));
        let mut ways = UBig::ONE;
        let mut law = Vec::with_capacity(n as usize + 1);
        for (k, (hit, miss)) in hits.iter().zip(misses.iter().rev()).enumerate() {
            self.interrupt.check()?;
            law.push(hit.mul(miss).mul(&Rational::from(IBig::from(ways.clone()))));
            ways = ways * (n - k as u64) / (k as u64 + 1);
        }
        Ok(law)
    }

    /// The law of the sample for a given number of marked entries.
    fn sample(&self, marked: u64, sampling: &Sampling) -> Result<Masses, Error> {
        match sampling {
            Sampling::WithoutReplacement { population, size } => {
                Ok(hypergeometric(*population, marked, *size))
            }
            Sampling::WithReplacement { population, size } => {
                Ok((0..).zip(self.binomial(*size, &ratio(marked, *population))?).collect())
            }
            Sampling::Poisson { rate } => Ok((0..).zip(self.binomial(marked, rate)?).collect()),
            Sampling::Overlapping { population, sizes } => {
                let mut joint = Masses::from([(0, Rational::from(1i64))]);
                let mut stride = 1;
                for &size in sizes {
                    let one = hypergeometric(*population, marked, size);
                    let spread = one.into_iter().map(|(count, mass)| (count * stride, mass)).collect();
                    joint = self.convolved(&joint, &spread)?;
                    stride *= size as i64 + 1;
                }
                Ok(joint)
            }
        }
    }

    fn convolved(&self, one: &Masses, other: &Masses) -> Result<Masses, Error> {
        let mut sums = Masses::new();
        for (by, weight) in one {
            self.interrupt.check()?;
            let moved = other.iter().map(|(answer, mass)| (answer + by, mass.clone())).collect();
            add(&mut sums, &moved, weight);
        }
        Ok(sums)
    }

    fn power(&self, base: Masses, mut count: u64) -> Result<Masses, Error> {
        let (mut result, mut square) = (Masses::from([(0, Rational::from(1i64))]), base);
        while count > 0 {
            if count & 1 == 1 {
                result = self.convolved(&result, &square)?;
            }
            count >>= 1;
            if count > 0 {
                square = self.convolved(&square, &square)?;
            }
        }
        Ok(result)
    }
}

fn add(sum: &mut Masses, part: &Masses, weight: &Rational) {
    for (&answer, mass) in part {
        let entry = sum.entry(answer).or_insert_with(|| Rational::from(0i64));
        *entry = entry.add(&mass.mul(weight));
    }
}

/// `C(K, k) C(N−K, s−k) / C(N, s)`.
fn hypergeometric(population: u64, marked: u64, size: u64) -> Masses {
    let all = Rational::from(IBig::from(choose(population, size)));
    let least = size.saturating_sub(population - marked);
    let ways = |k: u64| choose(marked, k) * choose(population - marked, size - k);
    let mass = |k: u64| Rational::from(IBig::from(ways(k))).div(&all).unwrap_or_else(|| Rational::from(0i64));
    (least..=size.min(marked)).map(|k| (k as i64, mass(k))).collect()
}

fn choose(n: u64, k: u64) -> UBig {
    (0..k.min(n - k)).fold(UBig::ONE, |ways, i| ways * (n - i) / (i + 1))
}

fn truncated(noise: &Noise) -> Result<Masses, Error> {
    let Noise::Truncated { noise, least, most } = noise else {
        return Err(Error::precision(
            "noise without bounds has infinitely many values; exact numbers need geometric noise that is added last",
        ));
    };
    let Noise::Geometric { alpha } = noise.as_ref() else {
        return Err(Error::precision(
            "this noise has probabilities that are not rational; delta() encloses them",
        ));
    };
    let power = |k: i64| (0..k.unsigned_abs()).fold(Rational::from(1i64), |power, _| power.mul(alpha));
    let weights: Masses = (*least..=*most).map(|k| (k, power(k))).collect();
    let total = weights.values().fold(Rational::from(0i64), |sum, weight| sum.add(weight));
    let share = |weight: Rational| weight.div(&total).unwrap_or_else(|| Rational::from(0i64));
    Ok(weights.into_iter().map(|(k, weight)| (k, share(weight))).collect())
}

/// What a law costs in rationals.
#[derive(Clone, Copy, Debug)]
struct Cost {
    answers: f64,
    bits: f64,
    seconds: f64,
}

impl Cost {
    /// # Errors
    /// More than is taken on.
    fn check(self) -> Result<(), Error> {
        if self.seconds <= MAX_SECONDS && self.answers * self.bits / 4.0 <= MAX_BYTES {
            return Ok(());
        }
        Err(Error::precision(format!(
            "the exact law of the answer has about {:.0e} values of about {:.0e} bits each and would take about {:.0e} s, above the \
             limit of {MAX_SECONDS} s or {MAX_BYTES:.0e} bytes; delta() without digits= encloses it, and short fractions cost least",
            self.answers, self.bits, self.seconds
        )))
    }

    fn of(law: &Law) -> Result<Self, Error> {
        let (least, most) = law.support();
        let Some(width) = least.zip(most).map(|(least, most)| most.abs_diff(least) as f64 + 1.0) else {
            return Err(Error::precision(
                "noise without bounds has infinitely many values; exact numbers need geometric noise that is added last",
            ));
        };
        let plain =
            |bits: f64, operations: f64| Self { answers: width, bits, seconds: operations * operation(bits) };
        Ok(match law.recipe() {
            Recipe::Table { masses, .. } => plain(masses.iter().map(size).fold(0.0, f64::max), 0.0),
            Recipe::Binomial { trials, p } => plain(*trials as f64 * size(p), 4.0 * width),
            Recipe::Repeated { law, count } => {
                let one = Self::of(law)?;
                let all = plain(*count as f64 * one.bits, width * width);
                Self { seconds: all.seconds + one.seconds, ..all }
            }
            Recipe::Sum(parts) => {
                let parts = parts.iter().map(Self::of).collect::<Result<Vec<_>, _>>()?;
                let bits = parts.iter().map(|part| part.bits).sum();
                let operations: f64 = parts.iter().map(|part| part.answers * width).sum();
                let all = plain(bits, operations);
                Self { seconds: all.seconds + parts.iter().map(|part| part.seconds).sum::<f64>(), ..all }
            }
            Recipe::Mixture(parts) => {
                let costs = parts.iter().map(|(_, law)| Self::of(law)).collect::<Result<Vec<_>, _>>()?;
                let bits = parts
                    .iter()
                    .zip(&costs)
                    .map(|((weight, _), cost)| size(weight) + cost.bits)
                    .fold(0.0, f64::max);
                let all = plain(bits, 2.0 * costs.iter().map(|cost| cost.answers).sum::<f64>());
                Self { seconds: all.seconds + costs.iter().map(|cost| cost.seconds).sum::<f64>(), ..all }
            }
            Recipe::Shifted(law, _) | Recipe::Scaled(law, _) | Recipe::Relabelled(law, _) => {
                let inner = Self::of(law)?;
                let all = plain(inner.bits, inner.answers);
                Self { seconds: all.seconds + inner.seconds, ..all }
            }
            Recipe::Sampled(law, sampling) => {
                let inner = Self::of(law)?;
                let own = match sampling {
                    Sampling::WithoutReplacement { population, .. }
                    | Sampling::Overlapping { population, .. } => *population as f64,
                    Sampling::WithReplacement { population, size } => {
                        *size as f64 * approximate::log2(*population as f64 + 1.0)
                    }
                    Sampling::Poisson { rate } => inner.answers * size(rate),
                };
                let all = plain(inner.bits + own, 4.0 * inner.answers * width);
                Self { seconds: all.seconds + inner.seconds, ..all }
            }
            Recipe::OrderStatistic { counts, .. } => {
                let costs = counts.iter().map(Self::of).collect::<Result<Vec<_>, _>>()?;
                let bits = costs.iter().map(|cost| cost.bits).fold(0.0, f64::max);
                let all = plain(bits, costs.iter().map(|cost| cost.answers).sum::<f64>());
                Self { seconds: all.seconds + costs.iter().map(|cost| cost.seconds).sum::<f64>(), ..all }
            }
            Recipe::Noise(noise) => match noise {
                Noise::Truncated { noise, .. } => match noise.as_ref() {
                    Noise::Geometric { alpha } => plain(width * size(alpha), width * width),
                    _ => plain(0.0, 0.0),
                },
                _ => plain(0.0, 0.0),
            },
        })
    }
}

/// About the time that one operation takes.
fn operation(bits: f64) -> f64 {
    MIN_SECONDS + MEASURED_SECONDS * approximate::power((bits / MEASURED_BITS).max(1e-6), GROWTH)
}

fn size(x: &Rational) -> f64 {
    x.denominator().bit_len() as f64
}
