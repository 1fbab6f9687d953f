//! Convolutions `c_k = Σ_i a_i b_{k−i}` of non-negative numbers, certified.
//!
//! Summed up directly, all terms being positive, every `c_k` keeps its relative accuracy. For long vectors there is a
//! faster way without round-off: scaled to integers, the vectors are multiplied as polynomials modulo three primes. All
//! that is lost is what scaling to integers loses, an absolute error of about `2^-80 Σa Σb`. So the vectors are first
//! tilted, `a_i x^i` and `b_i x^i`, which moves any part of `c` to where the largest terms are, and back afterwards.

mod number_theoretic_transform;

use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::numbers::ball::Ball;
use crate::numbers::double_double::DoubleDouble;
use crate::numbers::enclosure::Enclosure;
use number_theoretic_transform::{Field, LONGEST};

/// Products that are added up before their sum joins the others.
const CHUNK: usize = 64;
/// Half an ulp of one.
const ROUNDING: f64 = f64::EPSILON / 2.0;
/// Maximum number of products for each entry of a direct sum: about the cost of a few transforms.
const PRODUCTS_PER_ENTRY: usize = 1 << 15;
/// Products that cost as much as the share of one entry in a tilt.
const PRODUCTS_PER_TILT: usize = 1 << 12;
/// A relative error that is small enough for one tilt to answer for an entry.
const ACCURATE: f64 = 1e-14;
/// Tilts that are tried.
const MAX_TILTS: usize = 24;
/// Entries are at most this, `2^500`.
const LARGEST: f64 = f64::from_bits((1023 + 500) << 52);

/// `Σ_i a_i b_{k−i}` for all `k`, each with its relative accuracy, whichever way is faster.
///
/// # Errors
/// Negative entries, NaN, entries above `2^500`; interruption.
pub fn convolve(a: &[f64], b: &[f64], interrupt: &dyn Interrupt) -> Result<Vec<Enclosure>, Error> {
    within_positive_ranges(a, b, |a, b| {
        let direct = a.len().saturating_mul(b.len()) / (a.len() + b.len()) <= PRODUCTS_PER_ENTRY;
        if direct || a.len() + b.len() > LONGEST {
            directly(a, b, interrupt)
        } else {
            by_tilts(a, b, interrupt)
        }
    })
}

/// `Σ_i a_i b_{k−i}` for all `k`, by one transform: entries about as large as that at `target`, after a tilt that makes
/// it the largest, are as narrow as [`convolve`]'s; far from it they may be anything from zero up.
///
/// # Errors
/// As [`convolve`]; more than `2^26` entries.
pub fn convolve_around(
    a: &[f64],
    b: &[f64],
    target: usize,
    interrupt: &dyn Interrupt,
) -> Result<Vec<Enclosure>, Error> {
    if a.len().saturating_add(b.len()) > LONGEST {
        return Err(Error::argument(format!("a and b have more than {LONGEST} entries together")));
    }
    let first = [a, b].map(|vector| positive_range(vector).map_or(0, |range| range.0)).iter().sum();
    within_positive_ranges(a, b, |a, b| {
        let factor = tilt_towards(a, b, target.saturating_sub(first) as f64, interrupt)?;
        tilted(a, b, factor, interrupt)
    })
}

/// A way to convolve, for vectors without the zeros at their ends.
fn within_positive_ranges(
    a: &[f64],
    b: &[f64],
    way: impl Fn(&[f64], &[f64]) -> Result<Vec<Ball>, Error>,
) -> Result<Vec<Enclosure>, Error> {
    for (name, vector) in [("a", a), ("b", b)] {
        if let Some((i, x)) = vector.iter().enumerate().find(|(_, x)| !(0.0..=LARGEST).contains(*x)) {
            return Err(Error::argument(format!("{name}[{i}] = {x}; a number from 0 to 2^500 is required")));
        }
    }
    if a.is_empty() || b.is_empty() {
        return Ok(Vec::new());
    }
    let mut enclosures = vec![Enclosure::point(0.0); a.len() + b.len() - 1];
    if let (Some(from), Some(to)) = (positive_range(a), positive_range(b)) {
        let inner =
            [(a, from), (b, to)].map(|(vector, (first, last))| vector.get(first..=last).unwrap_or(vector));
        let [inner_a, inner_b] = inner;
        let entries = enclosures.iter_mut().skip(from.0 + to.0);
        for (enclosure, ball) in entries.zip(way(inner_a, inner_b)?) {
            *enclosure = ball.to_enclosure().clamp(0.0, f64::INFINITY);
        }
    }
    Ok(enclosures)
}

/// First and last positive entry.
fn positive_range(vector: &[f64]) -> Option<(usize, usize)> {
    let positive = |x: &f64| *x > 0.0;
    vector.iter().position(positive).zip(vector.iter().rposition(positive))
}

/// All sums of products in doubles, and a bound of their relative errors as long as nothing under- or overflows.
///
/// A product errs by `u`, a sum of at most [`CHUNK`] of them by `(CHUNK − 1) u`, and adding up these sums by `u` each. Two more
/// `u` pay for terms of higher order, and for measuring by the computed sum, while the bound is below `2^-27`.
pub(crate) fn sums_of_products(
    a: &[f64],
    b: &[f64],
    interrupt: &dyn Interrupt,
) -> Result<(Vec<f64>, f64), Error> {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let mut totals = vec![0.0; (short.len() + long.len()).saturating_sub(1)];
    for (chunk, factors) in short.chunks(CHUNK).enumerate() {
        interrupt.check()?;
        let mut sums = vec![0.0; factors.len() + long.len() - 1];
        for (offset, &factor) in factors.iter().enumerate() {
            for (sum, &coefficient) in sums.iter_mut().skip(offset).zip(long) {
                *sum += factor * coefficient;
            }
        }
        for (total, sum) in totals.iter_mut().skip(chunk * CHUNK).zip(sums) {
            *total += sum;
        }
    }
    Ok((totals, (CHUNK + short.len() / CHUNK + 2) as f64 * ROUNDING))
}

/// Each sum directly. A product that underflows loses at most `2^-1075`.
fn directly(a: &[f64], b: &[f64], interrupt: &dyn Interrupt) -> Result<Vec<Ball>, Error> {
    let (sums, relative) = sums_of_products(a, b, interrupt)?;
    let lost = around_zero(exact(f64::from_bits(1)) * Ball::from_u64(a.len().min(b.len()) as u64));
    Ok(sums.into_iter().map(|sum| certified(sum, relative) + lost).collect())
}

/// Each tilt gives the entries that it knows well; the rest is summed directly.
///
/// The next tilt aims at the middle of the longest run of entries that are not known yet.
fn by_tilts(a: &[f64], b: &[f64], interrupt: &dyn Interrupt) -> Result<Vec<Ball>, Error> {
    let mut known: Vec<Option<Ball>> = vec![None; a.len() + b.len() - 1];
    for _ in 0..MAX_TILTS {
        let Some(target) = middle_of_longest_gap(&known) else { break };
        let factor = tilt_towards(a, b, target as f64, interrupt)?;
        let mut answered = 0usize;
        for (known, entry) in known.iter_mut().zip(tilted(a, b, factor, interrupt)?) {
            if known.is_none() && entry.relative_error() <= ACCURATE {
                *known = Some(entry);
                answered += 1;
            }
        }
        if answered * a.len().min(b.len()) < PRODUCTS_PER_TILT * known.len() {
            break;
        }
    }
    let each = known.into_iter().enumerate();
    each.map(|(k, known)| known.map_or_else(|| single(a, b, k, interrupt), Ok)).collect()
}

fn middle_of_longest_gap(known: &[Option<Ball>]) -> Option<usize> {
    let (mut longest, mut start) = ((0, 0), 0);
    for (k, entry) in known.iter().enumerate() {
        if entry.is_some() {
            start = k + 1;
        } else if k + 1 - start > longest.1 - longest.0 {
            longest = (start, k + 1);
        }
    }
    (longest.0 < longest.1).then(|| usize::midpoint(longest.0, longest.1))
}

/// `c_k` alone, as [`sums_of_products`] forms it.
fn single(a: &[f64], b: &[f64], k: usize, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
    interrupt.check()?;
    let first = (k + 1).saturating_sub(b.len());
    let opposite = b.iter().take(k + 1 - first).rev();
    let products: Vec<f64> = a.iter().skip(first).zip(opposite).map(|(x, y)| x * y).collect();
    let total: f64 = products.chunks(CHUNK).map(|chunk| chunk.iter().sum::<f64>()).sum();
    let relative = (CHUNK + products.len() / CHUNK + 2) as f64 * ROUNDING;
    Ok(certified(total, relative)
        + around_zero(exact(f64::from_bits(1)) * Ball::from_u64(products.len() as u64)))
}

/// Bits after the point: `(2^92)²` fits between zero and the product of the three moduli, with a bit to spare.
const FRACTION_BITS: u64 = 92;
/// `2^92`.
const FIXED_ONE: f64 = (1u128 << FRACTION_BITS) as f64;

/// Shares of a total as integers over `2^92`, each less than `error` from the truth.
struct FixedPoint {
    integers: Vec<u128>,
    total: Ball,
    error: f64,
}

impl FixedPoint {
    /// `v_i x^i/Σ`, with `Σ` their exact sum. Both parts of a midpoint are cut off, by less than one unit each.
    fn new(vector: &[f64], powers: &[Ball]) -> Self {
        let terms: Vec<Ball> = vector.iter().zip(powers).map(|(&v, &power)| exact(v) * power).collect();
        let total = terms.iter().fold(Ball::ZERO, |sum, &term| sum + term);
        let mut error = 0.0f64;
        let integers = terms.into_iter().map(|term| {
            let share = term / total;
            let DoubleDouble { hi, lo } = share.to_double_double().unwrap_or(DoubleDouble::ZERO);
            if share.is_positive() {
                error = error.max(share.relative_error() * hi * FIXED_ONE);
            } else if !share.is_exact_zero() {
                error = f64::INFINITY;
            }
            let integer = (hi * FIXED_ONE) as i128 + (lo * FIXED_ONE) as i128;
            integer.max(0) as u128
        });
        let integers = integers.collect();
        Self { integers, total, error: 2.0 + 2.0 * error }
    }
}

/// The convolution through `a_i x^i` and `b_i x^i`.
///
/// With shares `A + α` and `B + β`, `|α| ≤ ε_A` and `|β| ≤ ε_B`, of totals `2^92`, the integers found differ from the truth by at
/// most `ε_B Σ(A + α) + ε_A Σ(B + β)` and less.
fn tilted(a: &[f64], b: &[f64], factor: f64, interrupt: &dyn Interrupt) -> Result<Vec<Ball>, Error> {
    let count = a.len() + b.len() - 1;
    let factor = exact(factor);
    let powers: Vec<Ball> =
        std::iter::successors(Some(Ball::ONE), |&power| Some(power * factor)).take(count).collect();
    interrupt.check()?;
    let (a, b) = (FixedPoint::new(a, &powers), FixedPoint::new(b, &powers));
    let largest_sum = |x: &FixedPoint| FIXED_ONE + x.integers.len() as f64 * x.error;
    let error = (b.error * largest_sum(&a) + a.error * largest_sum(&b)) * (1.0 + f64::EPSILON * 8.0);
    if largest_sum(&a).max(largest_sum(&b)) > FIXED_ONE * 1.1 {
        return Ok(vec![Ball::WHOLE; count]);
    }
    let length = count.next_power_of_two();
    let mut residues = Vec::new();
    for field in Field::ALL {
        residues.push(field.product(&a.integers, &b.integers, length, interrupt)?);
    }
    let unit = a.total * b.total / Ball::from_u64(2).powi(2 * FRACTION_BITS);
    let lost = around_zero(exact(error));
    let [first, second, third] = Field::ALL;
    let inverses =
        (second.inverse(first.modulus), third.inverse(first.modulus), third.inverse(second.modulus));
    let at = |residues: &[u64], k: usize| residues.get(k).copied().unwrap_or(0);
    let entries = powers.into_iter().enumerate().map(|(k, power)| {
        let [r, s, t] = [0, 1, 2].map(|field: usize| residues.get(field).map_or(0, |all| at(all, k)));
        // Garner: the integer is r + m₁ (s' + m₂ t').
        let s = second.multiply(second.subtract(s, r), inverses.0);
        let t =
            third.multiply(third.subtract(third.multiply(third.subtract(t, r), inverses.1), s), inverses.2);
        let modulus = |field: Field| Ball::from_u64(field.modulus);
        let high = Ball::from_u64(s) + modulus(second) * Ball::from_u64(t);
        (Ball::from_u64(r) + modulus(first) * high + lost) * unit / power
    });
    Ok(entries.collect())
}

/// A double `x` for which the entries of `c` at `target` are about the largest of `c_k x^k`: there the means of
/// `a_i x^i` and `b_i x^i` add up to it. Any number is right; this one is found with logarithms good to a tenth.
fn tilt_towards(a: &[f64], b: &[f64], target: f64, interrupt: &dyn Interrupt) -> Result<f64, Error> {
    let logarithms = |vector: &[f64]| -> Vec<(f64, f64)> {
        let positive = vector.iter().enumerate().filter(|(_, x)| **x > 0.0);
        positive.map(|(i, &x)| (i as f64, rough_log2(x))).collect()
    };
    let (a, b) = (logarithms(a), logarithms(b));
    let mean = |entries: &[(f64, f64)], tilt: f64| {
        let largest = entries.iter().map(|(i, log)| log + i * tilt).fold(f64::NEG_INFINITY, f64::max);
        let sums = entries.iter().fold((0.0, 0.0), |sum, (i, log)| {
            let weight = rough_exp2(log + i * tilt - largest);
            (sum.0 + weight, sum.1 + i * weight)
        });
        sums.1 / sums.0
    };
    let (mut low, mut high) = (-1000.0, 1000.0);
    for _ in 0..40 {
        interrupt.check()?;
        let middle = f64::midpoint(low, high);
        if mean(&a, middle) + mean(&b, middle) < target { low = middle } else { high = middle }
    }
    Ok(rough_exp2(f64::midpoint(low, high)))
}

/// The exponent and, in place of its logarithm, the fraction: at most 0.09 too small for normal numbers.
fn rough_log2(x: f64) -> f64 {
    let bits = x.to_bits();
    (bits >> 52) as f64 - 1023.0 + (bits & ((1 << 52) - 1)) as f64 / (1u64 << 52) as f64
}

/// The inverse of [`rough_log2`]; zero from `2^-1000` down.
fn rough_exp2(y: f64) -> f64 {
    if y < -1000.0 {
        return 0.0;
    }
    let exponent = y.floor().min(1000.0);
    f64::from_bits(((exponent + 1023.0) as u64) << 52) * (1.0 + (y - exponent).clamp(0.0, 1.0))
}

/// A double, exactly.
fn exact(x: f64) -> Ball {
    certified(x, 0.0)
}

/// A double that errs by at most this part of itself.
fn certified(x: f64, relative: f64) -> Ball {
    Ball::from_double_double(DoubleDouble::from_f64(x), relative)
}

/// A ball around zero that reaches as far as `x` does.
fn around_zero(x: Ball) -> Ball {
    Ball::ZERO.plus_at_most(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Uninterrupted;
    use crate::numbers::rational::Rational;
    use crate::record::{Inner, Plain, Record};
    use proptest::prelude::*;

    fn exactly(a: &[f64], b: &[f64], k: usize) -> Rational {
        let rational = |x: f64| Rational::from_f64(x).unwrap();
        let pairs = (0..a.len()).filter(|&i| i <= k && k - i < b.len());
        pairs.fold(Rational::from(0i64), |sum, i| sum.add(&rational(a[i]).mul(&rational(b[k - i]))))
    }

    fn vector() -> impl Strategy<Value = Vec<f64>> {
        let entry = prop_oneof![
            2 => 0.0..1.0f64,
            1 => Just(0.0),
            1 => (0.5..1.0f64, 0i32..1000).prop_map(|(x, e)| x * 2f64.powi(-e)),
            1 => Just(f64::from_bits(1)),
        ];
        prop::collection::vec(entry, 1..30)
    }

    proptest! {
        #[test]
        fn both_ways_contain_the_sums_of_products(a in vector(), b in vector(), factor in 0.1..10.0f64) {
            let direct = directly(&a, &b, &Uninterrupted).unwrap();
            let fast = by_tilts(&a, &b, &Uninterrupted).unwrap();
            let one = tilted(&a, &b, factor, &Uninterrupted).unwrap();
            for k in 0..a.len() + b.len() - 1 {
                let truth = exactly(&a, &b, k);
                for way in [direct[k], fast[k], one[k]] {
                    prop_assert!(way.to_enclosure().contains(&truth), "{way:?}");
                }
                if truth > Rational::parse("1e-300").unwrap() {
                    prop_assert!(direct[k].relative_error() < 1e-14 && fast[k].relative_error() < 1e-14);
                }
            }
        }
    }

    /// A discretised bell, with tails down to the smallest doubles.
    fn bell(length: usize, deviation: f64) -> Vec<f64> {
        let middle = length as f64 / 3.0;
        (0..length).map(|i| (-((i as f64 - middle) / deviation).powi(2) / 2.0).exp() / deviation).collect()
    }

    #[test]
    fn long_tails_keep_their_accuracy() {
        let (a, b) = (bell(4000, 60.0), bell(3000, 50.0));
        let direct = convolve(&a, &b, &Uninterrupted).unwrap();
        let tilts = within_positive_ranges(&a, &b, |a, b| by_tilts(a, b, &Uninterrupted)).unwrap();
        let around = convolve_around(&a, &b, 2500, &Uninterrupted).unwrap();
        let narrow = |x: Enclosure| x.width() <= 4e-14 * x.lower();
        for (k, &one) in direct.iter().enumerate() {
            for other in [tilts[k], around[k]] {
                assert!(one.lower() <= other.upper() && other.lower() <= one.upper());
            }
            if one.lower() > 1e-300 {
                assert!(narrow(one) && narrow(tilts[k]), "{k}");
            }
        }
        assert!((2200..2800).all(|k| narrow(around[k])));
    }

    #[test]
    fn what_is_no_measure_is_refused() {
        for x in [-1.0, f64::NAN, f64::INFINITY, 1e300] {
            assert!(convolve(&[1.0], &[0.5, x], &Uninterrupted).is_err());
        }
        assert!(convolve(&[], &[1.0], &Uninterrupted).unwrap().is_empty());
    }

    #[test]
    #[ignore = "prints times"]
    fn times() {
        for (length, deviation) in [(5000, 100.0), (20_000, 300.0), (100_000, 1000.0), (100_000, 20_000.0)] {
            let (a, b) = (bell(length, deviation), bell(length, deviation));
            let start = std::time::Instant::now();
            convolve(&a, &b, &Uninterrupted).unwrap();
            let (whole, start) = (start.elapsed(), std::time::Instant::now());
            let one = convolve_around(&a, &b, 2 * length / 3, &Uninterrupted).unwrap();
            println!("{length}: {whole:?}, one tilt {:?} {}", start.elapsed(), one.len());
        }
    }

    /// 4096 products are 64 sums of 64: a product errs by one rounding, its sum by 63, the sum of sums by 64, and two more are paid.
    #[test]
    fn a_single_sum_states_the_roundings_that_are_counted() {
        let ones = vec![1.0; 4096];
        let relative = single(&ones, &ones, 4095, &Uninterrupted).unwrap().relative_error();
        let counted = (CHUNK + 64 + 2) as f64 * ROUNDING;
        assert!((relative / counted - 1.0).abs() < 1e-4, "{relative:e} {counted:e}");
    }

    #[test]
    fn same_bits_of_tilts() {
        let mut record = Record::of("inner tilts of convolutions");
        for y in [-1e9, -1000.5, -1000.0, -999.7, -0.25, 0.0, 7.75, 999.5, 1000.0, 1001.5] {
            record.note(format!("2^{y} roughly"), rough_exp2(y));
        }
        for x in [f64::MIN_POSITIVE, 1e-300, 0.3, 1.0, 1.5, 3.0, 1e150] {
            record.note(format!("log2 {x:e} roughly"), rough_log2(x));
        }
        let (small, tiny) = (vec![0.25, 0.0, 0.5, 1e-200, 0.125], vec![f64::from_bits(3), 1.0, 0.1]);
        let vectors =
            [("small", small.clone()), ("tiny", tiny), ("long", bell(200, 9.0)), ("steep", bell(80, 1.0))];
        for (name, a) in &vectors {
            for (other, b) in &vectors {
                for target in [0.0, 1.0, 2.5, 40.0, 1e4] {
                    let factor = tilt_towards(a, b, target, &record.questions).unwrap();
                    record.note(
                        format!("{name} and {other} at {target}"),
                        (factor, tilted(a, b, factor, &record.questions)),
                    );
                }
                record.note(
                    format!("{name} and {other}"),
                    (by_tilts(a, b, &record.questions), directly(a, b, &record.questions)),
                );
            }
            for factor in [1.0, 1.5, 1e-3] {
                let powers: Vec<Ball> = (0..a.len()).map(|k| exact(factor).powi(k as u64)).collect();
                let FixedPoint { integers, total, error } = FixedPoint::new(a, &powers);
                record.note(format!("{name} tilted by {factor}"), (Inner(integers), (total, error)));
            }
        }
        let known = [1, 0, 0, 1, 0, 0, 0, 1, 0].map(|known| (known == 1).then_some(Ball::ONE));
        let gaps = (0..=known.len()).map(|end| middle_of_longest_gap(&known[..end])).collect::<Vec<_>>();
        record.note("gaps", Plain(gaps));
        record.compare();
    }
}
