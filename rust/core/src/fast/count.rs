//! `Δ_{1,0}(ε)` of an exact count, from `p` and ε to the value in one piece: what a call costs is decided here.
//!
//! `Δ_{1,0}(ε) = Q/(npq) · E[(X−κ)_+]` with `Q = q + p e^ε`, `κ = n p e^ε/Q`, `X ~ Bin(n, p)`.

use super::contour::Contour;
use super::{Law, Scaled, Value, Way, Weight};
use crate::double_double::DoubleDouble;
use crate::special;
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
    /// ε > 0, with a relative error of at most `2^-104`.
    pub epsilon: DoubleDouble,
}

impl Kernel for Count {
    type Output = Option<Value>;

    /// Nothing where only the answer `n` counts, or where no way of this tier applies.
    ///
    /// `e^ε` errs by `2^-101` and, for the error of ε, by `700 · 2^-104`; with the errors of `p` and `Q` (see `contour`) κ, resp. `n − κ`, errs by less than
    /// `2^-93`, and `Q/(npq)` in doubles by at most `6u`.
    #[inline(always)]
    fn run<A: Arithmetic>(self) -> Option<Value> {
        let Self { trials, law: Law { p, q }, epsilon } = self;
        if epsilon.hi > LARGEST_EPSILON {
            return None;
        }
        let powers = special::exp_and_expm1::<A>(epsilon);
        let weighted = p.mul_with::<A>(powers.0);
        let total = q.add(weighted);
        let share = weighted.div_with::<A>(total);
        let (first, phi, error) = if share.hi <= 0.5 {
            Self::above_threshold(share.mul_f64_with::<A>(trials))
        } else {
            self.above_distance(q.div_with::<A>(total).mul_f64_with::<A>(trials))
        };
        if first >= trials {
            return None;
        }
        let weight = Weight::Excess { phi, error: 2.0 * error };
        let scale = total.hi / (trials * p.hi * q.hi);
        let value = self.stop_loss::<A>(first, weight, powers)?;
        let Scaled { mantissa, exponent, error } = value.scaled;
        let scaled = Scaled { mantissa: mantissa * scale, exponent, error: error + 8.0 * U };
        Some(Value { scaled, ..value })
    }
}

impl Count {
    /// `a = ⌈κ⌉`, `φ = a − κ`, and a bound of its error. Next to an integer that integer is taken: `φ` may then have either sign, and a sum that starts
    /// there errs by at most the error of `φ` times its first term more, which callers pay for by counting the error twice.
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

    /// `E[(X−κ)_+]`, by the sum in units of its first term where that has few.
    #[inline(always)]
    fn stop_loss<A: Arithmetic>(
        &self,
        first: f64,
        weight: Weight,
        powers: (DoubleDouble, DoubleDouble),
    ) -> Option<Value> {
        let Self { trials, law, epsilon } = *self;
        let variance = match Way::of(trials, law, first, weight) {
            Way::Terms(few) => {
                return few.run::<A>().map(|sum| Value { scaled: sum, in_units_of: Some(first) });
            }
            Way::Contour { variance } => variance,
        };
        let tilt = epsilon.hi.max(0.5 / variance.sqrt());
        let contour = Contour { trials, law, first, weight, tilt };
        let value = if tilt == epsilon.hi && epsilon.lo == 0.0 {
            contour.evaluate_with::<A>(powers)
        } else {
            contour.run::<A>()
        };
        value.map(Value::from)
    }
}

/// The integer part of a positive number, and the rest rounded: by `u` of itself, or by `u` where it comes from just below an integer.
#[inline(always)]
fn split(x: DoubleDouble) -> (f64, f64) {
    let floor = x.hi.floor();
    let fraction = (x.hi - floor) + x.lo;
    if fraction < 0.0 { (floor - 1.0, fraction + 1.0) } else { (floor, fraction) }
}
