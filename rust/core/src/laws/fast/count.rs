//! `Δ_{1,0}(ε)` of an exact count, from `p` and ε to the value in one piece: what a call costs is decided here.
//!
//! `Δ_{1,0}(ε) = Q/(npq) · E[(X−κ)_+]` with `Q = q + p e^ε`, `κ = n p e^ε/Q`, `X ~ Bin(n, p)`.

use super::contour::{Line, MIN_VARIANCE};
use super::positive_sum::{Binomial, PositiveSum, Ratios};
use super::{FEW_TERMS, Law, Scaled, Weight};
use crate::numbers::double_double::DoubleDouble;
use crate::numbers::special;
use statpriv_simd::{Arithmetic, Kernel};

/// `2^-93`.
const THRESHOLD_ERROR: f64 = 1.0 / ((1u128 << 93) as f64);
/// Larger ε are left to other tiers.
const LARGEST_EPSILON: f64 = 700.0;
/// `2^-53`.
const U: f64 = f64::EPSILON / 2.0;

/// The count of `trials` entries, the critical one among them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Count {
    /// `n`, an integer up to `2^53`.
    pub trials: f64,
    pub law: Law,
}

/// A value, and what it has to be multiplied with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value {
    pub scaled: Scaled,
    /// The value is in units of `P[X = a]`.
    pub in_units_of: Option<f64>,
}

/// One value: ε > 0, with a relative error of at most `2^-104`.
pub(crate) struct AtOne(pub Count, pub DoubleDouble);

impl Kernel for AtOne {
    type Output = Option<Value>;

    #[inline(always)]
    fn run<A: Arithmetic>(self) -> Option<Value> {
        let Self(count, epsilon) = self;
        let place = count.place::<A>(epsilon)?;
        let sum = match count.few_terms::<A>(&place) {
            Ok(value) => value,
            Err(variance) => {
                let line = count.line::<A>(shared_tilt(count.spacing(), epsilon.hi));
                count.along::<A>(line.as_ref(), &place, epsilon, variance)
            }
        };
        sum.map(|sum| place.value(sum))
    }
}

/// Many values, each ε a positive double. Those that lie close together share the contour; as its tilt is taken from a grid, each value is the same
/// as alone.
pub(crate) struct AtMany<'a>(pub Count, pub &'a [f64]);

impl Kernel for AtMany<'_> {
    type Output = Vec<Option<Value>>;

    #[inline(always)]
    fn run<A: Arithmetic>(self) -> Vec<Option<Value>> {
        let Self(count, epsilons) = self;
        let mut lines = Lines { count, spacing: count.spacing(), known: Vec::new() };
        let mut values = Vec::with_capacity(epsilons.len());
        for &epsilon in epsilons {
            values.push(lines.value::<A>(epsilon));
        }
        values
    }
}

/// Where the stop-loss of one ε starts, and what it is multiplied with.
struct Place {
    first: f64,
    weight: Weight,
    scale: f64,
}

impl Place {
    #[inline(always)]
    fn value(&self, (sum, in_units_of): (Scaled, Option<f64>)) -> Value {
        let scaled = Scaled { mantissa: sum.mantissa * self.scale, error: sum.error + 8.0 * U, ..sum };
        Value { scaled, in_units_of }
    }
}

/// The law whose mean is κ: `p' = p e^ε/Q` with `Q = q + p e^ε`.
pub(super) struct Tilted {
    /// The smaller of `p'` and `1 − p'` …
    pub smaller: DoubleDouble,
    /// … and whether it is `p'`.
    pub is_rare: bool,
    /// `Q`.
    pub total: f64,
}

impl Tilted {
    /// Nothing where ε is too large.
    #[inline(always)]
    pub(super) fn new<A: Arithmetic>(law: Law, epsilon: DoubleDouble) -> Option<Self> {
        if !(0.0..=LARGEST_EPSILON).contains(&epsilon.hi) {
            return None;
        }
        let Law { p, q } = law;
        let (ratio, _) = special::exp_and_expm1::<A>(epsilon);
        let weighted = p.mul_with::<A>(ratio);
        let total = q.add(weighted);
        let share = weighted.div_with::<A>(total);
        let is_rare = share.hi <= 0.5;
        let smaller = if is_rare { share } else { q.div_with::<A>(total) };
        Some(Self { smaller, is_rare, total: total.hi })
    }
}

impl Count {
    /// Nothing where only the answer `n` counts, or ε is too large.
    ///
    /// `e^ε` errs by `2^-101` and, for the error of ε, by `700 · 2^-104`; with the errors of `p` and `Q` (see `contour`) κ, resp. `n − κ`, errs by less than
    /// `2^-93`, and `Q/(npq)` in doubles by at most `6u`.
    #[inline(always)]
    fn place<A: Arithmetic>(&self, epsilon: DoubleDouble) -> Option<Place> {
        let tilted = Tilted::new::<A>(self.law, epsilon)?;
        let (first, phi, error) = self.threshold::<A>(&tilted);
        let weight = Weight::Excess { phi, error: 2.0 * error };
        let scale = tilted.total / (self.trials * self.law.p.hi * self.law.q.hi);
        (first < self.trials).then_some(Place { first, weight, scale })
    }

    /// `a = ⌈κ⌉`, `φ = a − κ`, and a bound of its error, from the end that is nearer to κ. Next to an integer that integer is taken: `φ` may then have either
    /// sign, and a sum that starts there errs by at most the error of `φ` times its first term more, which callers pay for by counting the error twice.
    #[inline(always)]
    pub(super) fn threshold<A: Arithmetic>(&self, tilted: &Tilted) -> (f64, f64, f64) {
        let distance = tilted.smaller.mul_f64_with::<A>(self.trials);
        if tilted.is_rare { Self::above_threshold(distance) } else { self.above_distance(distance) }
    }

    /// From κ.
    #[inline(always)]
    fn above_threshold(kappa: DoubleDouble) -> (f64, f64, f64) {
        let error = kappa.hi * THRESHOLD_ERROR;
        let (floor, fraction) = split(kappa);
        if fraction <= error { (floor, -fraction, error) } else { (floor + 1.0, 1.0 - fraction, error + U) }
    }

    /// The same from `n − κ`.
    #[inline(always)]
    fn above_distance(&self, distance: DoubleDouble) -> (f64, f64, f64) {
        let error = distance.hi * THRESHOLD_ERROR;
        let (floor, fraction) = split(distance);
        if fraction >= 1.0 - error - U {
            (self.trials - floor - 1.0, fraction - 1.0, error + U)
        } else {
            (self.trials - floor, fraction, error)
        }
    }

    /// `E[(X−κ)_+]` in units of its first term, where the sum has few; else the variance of the law whose mean is κ.
    #[inline(always)]
    fn few_terms<A: Arithmetic>(&self, place: &Place) -> Result<Option<(Scaled, Option<f64>)>, f64> {
        let Self { trials, law } = *self;
        let &Place { first, weight, .. } = place;
        let ratios = Binomial::new::<A>(trials, law, first);
        let variance = first * (trials - first) / trials;
        if variance > 1.1 * MIN_VARIANCE && ratios.needed() > FEW_TERMS {
            return Err(variance);
        }
        Ok(PositiveSum { ratios, weight }.run::<A>().map(|sum| (sum, Some(first))))
    }

    /// By the contour with the shared tilt, or, where the variance has grown too much for that, by one with a tilt of its own.
    #[inline(always)]
    fn along<A: Arithmetic>(
        &self,
        shared: Option<&Line>,
        place: &Place,
        epsilon: DoubleDouble,
        variance: f64,
    ) -> Option<(Scaled, Option<f64>)> {
        let value = shared.and_then(|line| line.sum::<A>(place.first, place.weight)).or_else(|| {
            let line = self.line::<A>(epsilon.hi.max(0.5 / variance.sqrt()))?;
            line.sum::<A>(place.first, place.weight)
        });
        value.map(|value| (value, None))
    }

    #[inline(always)]
    fn line<A: Arithmetic>(&self, tilt: f64) -> Option<Line> {
        let powers = special::exp_and_expm1::<A>(DoubleDouble::from_f64(tilt));
        Line::new::<A>(self.trials, self.law, tilt, powers, false)
    }

    /// The distance of neighbouring tilts: one standard deviation of the untilted law.
    #[inline(always)]
    fn spacing(&self) -> f64 {
        1.0 / (self.trials * self.law.p.hi * self.law.q.hi).sqrt()
    }
}

/// The tilt next to ε on the grid.
#[inline(always)]
fn shared_tilt(spacing: f64, epsilon: f64) -> f64 {
    (epsilon / spacing).round().max(0.5) * spacing
}

/// The contours that were needed so far.
struct Lines {
    count: Count,
    spacing: f64,
    known: Vec<(f64, Option<Line>)>,
}

impl Lines {
    #[inline(always)]
    fn value<A: Arithmetic>(&mut self, epsilon: f64) -> Option<Value> {
        let exactly = DoubleDouble::from_f64(epsilon);
        let place = self.count.place::<A>(exactly)?;
        let sum = match self.count.few_terms::<A>(&place) {
            Ok(value) => value,
            Err(variance) => {
                let made = self.line::<A>(shared_tilt(self.spacing, epsilon));
                let shared = self.known.get(made).and_then(|(_, line)| line.as_ref());
                self.count.along::<A>(shared, &place, exactly, variance)
            }
        };
        sum.map(|sum| place.value(sum))
    }

    /// The place of the contour with this tilt, known or made now. Neighbours are asked for one after the other, so the search starts at the end.
    #[inline(always)]
    fn line<A: Arithmetic>(&mut self, tilt: f64) -> usize {
        if let Some(place) = self.known.iter().rposition(|(known, _)| *known == tilt) {
            return place;
        }
        self.known.push((tilt, self.count.line::<A>(tilt)));
        self.known.len() - 1
    }
}

/// The integer part of a positive number, and the rest rounded: by `u` of itself, or by `u` where it comes from just below an integer.
#[inline(always)]
fn split(x: DoubleDouble) -> (f64, f64) {
    let floor = x.hi.floor();
    let fraction = (x.hi - floor) + x.lo;
    if fraction < 0.0 { (floor - 1.0, fraction + 1.0) } else { (floor, fraction) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_its_integer_part_and_the_rest() {
        let of = |hi: f64, lo: f64| split(DoubleDouble { hi, lo });
        assert_eq!([of(3.0, 0.0), of(3.25, 0.0), of(3.0, 1e-20)], [(3.0, 0.0), (3.0, 0.25), (3.0, 1e-20)]);
        assert_eq!(of(3.0, -1e-9), (2.0, 1.0 - 1e-9));
    }
}
