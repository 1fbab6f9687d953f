//! Upper tails of the hypergeometric law in units of their first term.
//!
//! With the table of counts `a b / c d`, `a = k`, `a + b` marked ones and `a + c` draws, the terms are the products of the ratios
//! `P[X = k+i+1]/P[X = k+i] = (b−i)(c−i)/((a+1+i)(d+1+i))`. Few of them are added up, many are taken for an integral.

use super::euler_maclaurin::EulerMaclaurin;
use super::lanes::Lanes;
use super::positive_sum::{PositiveSum, Ratios};
use super::{Scaled, Weight};
use statpriv_simd::{Arithmetic, Backend, Kernel};

/// Where the sum is cut, terms are about `e^-40` of the first, `2^-57`.
pub(super) const NEGLIGIBLE: f64 = 40.0;

/// `P[X ≥ a]/P[X = a]` for the table of counts `a b / c d` with `a` above the mode, or at it.
pub(crate) fn tail_in_units_of_first(table: [u64; 4]) -> Option<Scaled> {
    Backend::best().run(Tail(table))
}

/// The table `a b / c d`: `a` is at least a most probable value of its law.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tail(pub [u64; 4]);

/// The cells as doubles, which they are exactly, and what the number of terms depends on.
#[derive(Clone, Copy, Debug)]
struct Cells {
    falling: [f64; 2],
    rising: [f64; 2],
    /// `2(P−Q)/(P+Q)` with `P = (a+½)(d+½)` and `Q = (b+½)(c+½)`, at most `ln(P/Q)`.
    slope: f64,
    /// `Σ 1/(cell + ½)`.
    curvature: f64,
}

impl Kernel for Tail {
    type Output = Option<Scaled>;

    #[inline(always)]
    fn run<A: Arithmetic>(self) -> Option<Scaled> {
        let Self([a, b, c, d]) = self;
        let odd = |cell: u64| 2 * u128::from(cell) + 1;
        let (above, below) = (odd(a) * odd(d), odd(b) * odd(c));
        // Exact integers below 2^108, and three roundings.
        let quotient = above.wrapping_sub(below) as i128 as f64 / (above + below) as f64;
        let [a, b, c, d] = [a as f64, b as f64, c as f64, d as f64];
        let middles = [a + 0.5, d + 0.5, b + 0.5, c + 0.5];
        let curvature = middles.iter().map(|middle| 1.0 / middle).sum::<f64>();
        let cells = Cells { falling: [b, c], rising: [a, d], slope: 2.0 * quotient, curvature };
        let needed = cells.needed();
        if needed > Cells::MAX_TERMS {
            return EulerMaclaurin { middles, quotient, length: needed.ceil() }.run::<A>();
        }
        PositiveSum { ratios: cells, weight: Weight::One }.run::<A>()
    }
}

impl Ratios for Cells {
    /// `u` for each of three products and for the division.
    const ERROR: f64 = 4.0;
    const MAX_TERMS: f64 = 512.0;

    #[inline(always)]
    fn at(&self, index: Lanes) -> Lanes {
        let [b, c] = self.falling.map(|cell| (Lanes::all(cell) - index).at_least_zero());
        let [a, d] = self.rising.map(|cell| Lanes::all(cell + 1.0) + index);
        (b * c) / (a * d)
    }

    #[inline(always)]
    fn all(&self) -> f64 {
        self.falling[0].min(self.falling[1]) + 1.0
    }

    /// Where `λt + Vt²/(2(1 + tV/3)) = 40`, with slope λ and curvature `V`: from there on terms are below `e^-40`.
    ///
    /// The logarithm `φ(t)` of the term at `t`, with Γ for the factorials, has `φ'' ≈ −Σ 1/m(t)` where the middles `m = cell + ½` fall or grow
    /// by `t`: so `−φ(t) ≥ λt + Σ m h(t/m)`, `h(v) = (1+v) ln(1+v) − v ≥ v²/(2(1+v/3))` (Bernstein), and each `1/m` is at most `V`.
    #[inline(always)]
    fn needed(&self) -> f64 {
        let Self { slope, curvature, .. } = *self;
        let linear = slope - NEGLIGIBLE * curvature / 3.0;
        let square = curvature / 2.0 + slope * curvature / 3.0;
        2.0 * NEGLIGIBLE / (linear + (linear * linear + 4.0 * NEGLIGIBLE * square).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::super::peer::{on_every_backend, relative_distance};
    use super::*;
    use crate::digits::{self, Dyadic};
    use crate::interrupt::Uninterrupted;
    use crate::laws::Hypergeometric;
    use crate::numbers::rational::Rational;
    use proptest::prelude::*;

    /// `P[X ≥ a]/P[X = a]` to fifty digits.
    fn truth([a, b, c, d]: [u64; 4]) -> Rational {
        let law = Hypergeometric::new(a + b + c + d, a + b, a + c).unwrap();
        let middle =
            |x: digits::DigitsEnclosure| x.midpoint().as_ref().and_then(Dyadic::to_rational).unwrap();
        let tail = middle(digits::hypergeometric_upper_tail(a, &law, 50, &Uninterrupted).unwrap());
        tail.div(&middle(digits::hypergeometric_pmf(a, &law, 50, &Uninterrupted).unwrap())).unwrap()
    }

    /// Tables with cells of every size, `a` as far above the mode as the logarithm of a shift says.
    fn tables(largest: u32) -> impl Strategy<Value = [u64; 4]> {
        let cells =
            prop::array::uniform4((0..=1u64 << 51, 51 - largest..52).prop_map(|(x, shift)| x >> shift));
        (cells, 0u32..52).prop_filter_map("all are drawn, or none", |([a, b, c, d], shift)| {
            let law = Hypergeometric::new(a + b + c + d, a + b, a + c).ok()?;
            let above = (law.greatest() - law.mode()) >> shift;
            let k = (law.mode() + above.max(1)).min(law.greatest());
            let (b, c) = ((a + b) - k, (a + c) - k);
            let d = law.population() - k - b - c;
            (k > law.mode()).then_some([k, b, c, d])
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::cases::cases(200, 3000)))]

        #[test]
        fn tails_are_within_the_error_they_state(table in tables(22)) {
            let exact = truth(table);
            for value in on_every_backend(|| Tail(table)) {
                let value = value.unwrap();
                let distance = relative_distance(value, &exact);
                prop_assert!(distance <= value.error, "off by {distance:e}, stated {:e}", value.error);
                prop_assert!(distance <= 1e-14 && value.error <= 1e-13, "off by {distance:e}, stated {:e}", value.error);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::cases::cases(10_000, 100_000)))]

        #[test]
        fn every_tail_above_the_mode_is_given(table in tables(51)) {
            for value in on_every_backend(|| Tail(table)) {
                let value = value.unwrap();
                prop_assert!(value.mantissa >= 1.0 && value.error <= 1e-13, "{value:?}");
            }
        }
    }
}
