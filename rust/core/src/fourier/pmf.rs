//! All probabilities from one integer to another.
//!
//! Integers within a few standard deviations of each other share a tilt `c` and so the values `e^{K(w_j) − K(c)}`; from one
//! integer to the next each of them only turns by `e^{−iθ_j}`:
//!
//! ```text
//! P[X = k] = e^{K(c) − kc} (1/M) Re Σ_j z_j e^{−i(k−k₀)θ_j} − aliases,     z_j = e^{K(w_j) − K(c) − ik₀θ_j}
//! ```
//!
//! The sum is formed in pairs of doubles, and its error, the same for all `k` of a segment, is bounded relative to
//! `S = Σ |z_j|`. With a tilt that is not its own a probability is smaller than `e^{K(c) − kc}/M` by a factor
//! `e^{−loss}`, `loss = K(c) − kc − min_t (K(t) − kt)`: segments end where that would cost more than [`LOSS`].

use super::{Contour, Event, LatticeSum, about, exact};
use crate::budget::MAX_ANSWERS;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::numbers::ball::Ball;
use crate::numbers::complex::Complex;
use crate::numbers::double_double::{DoubleDouble, UNIT, two_sum};
use statpriv_simd::{Arithmetic, Backend, Kernel};

/// Standard deviations to both sides of a tilted mean that share its tilt, unless [`LOSS`] allows less.
const REACH: f64 = 4.0;
/// Nats of accuracy that a foreign tilt may cost.
const LOSS: f64 = 12.0;
/// Integers that share the powers of one rotation.
const BLOCK: usize = 64;

impl LatticeSum<'_> {
    /// `P[X = k]` for `k = first, …, last`; exactly zero outside the support.
    ///
    /// # Errors
    /// More than 2^24 integers; a law for which no number of points gives an enclosure; interruption.
    pub fn probabilities(
        &self,
        first: i64,
        last: i64,
        interrupt: &dyn Interrupt,
    ) -> Result<Vec<Ball>, Error> {
        let mut row = vec![Ball::ZERO; length(first, last)?];
        let (bottom, top) = self.support();
        let mut tilt = 0.0;
        let (mut next, end) = (first.max(bottom.unwrap_or(first)), last.min(top.unwrap_or(last)));
        while next <= end {
            interrupt.check()?;
            let segment = Segment::from(self, next, end, tilt);
            let masses = segment.probabilities(interrupt)?;
            for (place, mass) in row.iter_mut().skip(next.abs_diff(first) as usize).zip(masses) {
                *place = mass;
            }
            if segment.last == end {
                break;
            }
            (next, tilt) = (segment.last + 1, segment.tilt);
        }
        Ok(row)
    }
}

fn length(first: i64, last: i64) -> Result<usize, Error> {
    if last < first {
        return Ok(0);
    }
    let length = last.abs_diff(first).saturating_add(1);
    if length > MAX_ANSWERS {
        return Err(Error::argument(format!(
            "a row from first = {first} to last = {last} is too long; up to 2^24 = {MAX_ANSWERS} probabilities are allowed: ask \
             for parts of it, or for tails"
        )));
    }
    Ok(length as usize)
}

/// Integers that share a tilt.
struct Segment<'b, 'a> {
    law: &'b LatticeSum<'a>,
    first: i64,
    last: i64,
    tilt: f64,
}

impl<'b, 'a> Segment<'b, 'a> {
    /// From `first` on, at most to `end`. The tilt before helps to find the next one.
    fn from(law: &'b LatticeSum<'a>, first: i64, end: i64, before: f64) -> Self {
        let own = law.saddle(first, before);
        let mut reach = (REACH * law.moments(own).1.sqrt()).min(end.abs_diff(first) as f64 / 2.0);
        let (middle, tilt) = loop {
            let middle = first + reach as i64;
            let tilt = law.saddle(middle, own);
            if reach < 1.0 || loss(law, first, tilt, own) <= LOSS {
                break (middle, tilt);
            }
            reach /= 2.0;
        };
        reach = (REACH * law.moments(tilt).1.sqrt()).min(end.abs_diff(middle) as f64);
        let last = loop {
            let last = middle + reach as i64;
            if reach < 1.0 || loss(law, last, tilt, law.saddle(last, tilt)) <= LOSS {
                break last;
            }
            reach /= 2.0;
        };
        Self { law, first, last, tilt }
    }

    fn probabilities(&self, interrupt: &dyn Interrupt) -> Result<Vec<Ball>, Error> {
        let (contour, aliases) = self.law.contour((self.first, self.last), self.tilt, Event::Equal)?;
        let mut sum = Superposition::new((self.last - self.first + 1) as usize);
        let (nodes, mut rest) = contour.relevant(interrupt)?;
        sum.add(&Wave { turn: Phasor::ONE, turn_error: 0.0, ..Wave::new(&contour, 0, self.first) });
        for j in nodes {
            interrupt.check()?;
            let wave = Wave::new(&contour, j, self.first);
            if wave.error.is_finite() {
                sum.add(&wave);
            } else {
                rest = rest.plus_at_most(contour.most(j, j));
            }
        }
        let points = Ball::from_u64(contour.points);
        let error = (exact(sum.error()) + Ball::from_u64(2) * rest) / points + aliases;
        let fall = (-contour.tilt).exp();
        let mut peak = contour.peak(self.first);
        let values = sum.values().map(|value| {
            let mass = peak * (value / points + Ball::ZERO.plus_at_most(error));
            peak = peak * fall;
            mass
        });
        Ok(values.collect())
    }
}

/// About what the tilt costs a probability, in nats, against its own.
fn loss(law: &LatticeSum<'_>, k: i64, tilt: f64, own: f64) -> f64 {
    let height = |c: f64| law.cumulant(Complex::real(exact(c))).re - Ball::from_i64(k) * exact(c);
    about(height(tilt) - height(own))
}

/// A complex number in double-doubles.
#[derive(Clone, Copy)]
struct Phasor {
    re: DoubleDouble,
    im: DoubleDouble,
}

impl Phasor {
    const ONE: Self = Self { re: DoubleDouble::ONE, im: DoubleDouble::ZERO };

    /// The middle of a complex ball, and a bound of its distance from any member.
    fn of(z: Complex) -> (Self, f64) {
        let part = |x: Ball| {
            let middle = x.to_double_double().unwrap_or(DoubleDouble::ZERO);
            let distance = (x - Ball::from_double_double(middle, 0.0)).to_enclosure();
            (middle, distance.upper().max(-distance.lower()))
        };
        let ((re, re_error), (im, im_error)) = (part(z.re), part(z.im));
        (Self { re, im }, re_error + im_error)
    }

    /// The product, with an error of at most [`TURN_ERROR`] times its size.
    ///
    /// A part is a sum of two products: `8u²` each and `4u²` for the sum, relative to `|ac| + |bd| ≤ |z||w|`. Both parts
    /// together err by less than `√2 · 12.1u² < 2 · 16u²`.
    #[inline(always)]
    fn turned<A: Arithmetic>(self, by: Self) -> Self {
        Self {
            re: self.re.mul_with::<A>(by.re).add(self.im.mul_with::<A>(by.im).neg()),
            im: self.re.mul_with::<A>(by.im).add(self.im.mul_with::<A>(by.re)),
        }
    }
}

const TURN_ERROR: f64 = 2.0 * UNIT;

/// `z e^{−imθ}` for `m = 0, 1, …`, counted twice if it stands for its conjugate as well.
struct Wave {
    start: Phasor,
    /// A bound of the error of `start`.
    error: f64,
    /// `e^{−iθ}`.
    turn: Phasor,
    turn_error: f64,
}

impl Wave {
    fn new(contour: &Contour<'_, '_>, j: u64, first: i64) -> Self {
        let twice = Ball::from_u64(if j == 0 { 1 } else { 2 });
        let (start, error) = Phasor::of(contour.value(j, first).scale(twice));
        let (turn, turn_error) = Phasor::of(Complex { re: Ball::ZERO, im: -contour.angle(j) }.exp());
        Self { start, error, turn, turn_error }
    }

    /// An upper bound of `|start|`.
    fn size(&self) -> f64 {
        (self.start.re.hi.abs() + self.start.im.hi.abs()) * (1.0 + f64::EPSILON)
    }
}

/// `Re Σ_j z_j e^{−imθ_j}` for `m = 0, 1, …`, as sums of two doubles.
struct Superposition {
    heads: Vec<f64>,
    tails: Vec<f64>,
    /// Upper bounds of `Σ |z_j|`, of what the `z_j` err by, and of what one step of the rotations errs by.
    sizes: f64,
    errors: f64,
    turns: f64,
    waves: f64,
}

impl Superposition {
    fn new(length: usize) -> Self {
        let (heads, tails) = (vec![0.0; length], vec![0.0; length]);
        Self { heads, tails, sizes: 0.0, errors: 0.0, turns: 0.0, waves: 0.0 }
    }

    fn add(&mut self, wave: &Wave) {
        self.sizes += wave.size();
        self.errors += wave.error;
        self.turns += wave.size() * (wave.turn_error + TURN_ERROR);
        self.waves += 1.0;
        Backend::best().run(AddWave { wave, heads: &mut self.heads, tails: &mut self.tails });
    }

    /// A bound of the error of every value.
    ///
    /// With `N` products `ab` of double-doubles, `Σ |ab| ≤ √2 S`: of each, `u²|ab|` is left out, its lower part (at most
    /// `3u|ab|`) errs by `4u²|ab|`, and the remainders of the rounded sums are at most `u√2 S` each. So the sum of all lower
    /// parts is at most `(N+3) u√2 S`, and adding to it three numbers at a time errs by at most `(N² + 4N + 6) u²√2 S`:
    /// together `(N+3)² 1.5u²S`, of which [`UNIT`]` = 16u²` times an eighth of `(N+3)²` leaves a quarter for terms of higher
    /// order and for what underflows. (`S ≥ 1` as `z_0 = 1`.)
    ///
    /// A rotation by `m` steps takes as many single errors: of the rotation itself and of a product.
    fn error(&self) -> f64 {
        let products = 2.0 * self.waves + 3.0;
        let sum = self.sizes * products * products * (UNIT / 8.0);
        (sum + self.errors + self.turns * self.heads.len() as f64) * (1.0 + 1.0 / 64.0)
    }

    fn values(&self) -> impl Iterator<Item = Ball> {
        self.heads.iter().zip(&self.tails).map(|(&head, &tail)| {
            let (hi, lo) = two_sum(head, tail);
            Ball::from_double_double(DoubleDouble { hi, lo }, 0.0)
        })
    }
}

struct AddWave<'a> {
    wave: &'a Wave,
    heads: &'a mut [f64],
    tails: &'a mut [f64],
}

impl Kernel for AddWave<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let (mut cosines, mut sines) = ([[0.0; BLOCK]; 2], [[0.0; BLOCK]; 2]);
        let mut turn = Phasor::ONE;
        for m in 0..BLOCK {
            (cosines[0][m], cosines[1][m]) = (turn.re.hi, turn.re.lo);
            (sines[0][m], sines[1][m]) = (turn.im.hi, turn.im.lo);
            turn = turn.turned::<A>(self.wave.turn);
        }
        let mut start = self.wave.start;
        for (heads, tails) in self.heads.chunks_mut(BLOCK).zip(self.tails.chunks_mut(BLOCK)) {
            add_products::<A>(start.re, &cosines, heads, tails);
            add_products::<A>(start.im.neg(), &sines, heads, tails);
            start = start.turned::<A>(turn);
        }
    }
}

/// `head + tail += a b`, but for `lo a · lo b`: see [`Superposition::error`].
#[inline(always)]
fn add_products<A: Arithmetic>(
    a: DoubleDouble,
    [highs, lows]: &[[f64; BLOCK]; 2],
    heads: &mut [f64],
    tails: &mut [f64],
) {
    for (((head, tail), &high), &low) in heads.iter_mut().zip(tails).zip(highs).zip(lows) {
        let (product, rest) = A::two_product(a.hi, high);
        let lower = A::multiply_add(a.lo, high, a.hi * low);
        let (sum, lost) = two_sum(*head, product);
        *head = sum;
        *tail += lost + (rest + lower);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{BinomialGroup, Lattice, Repeated, Trials, TwoSidedGeometric};
    use super::*;
    use crate::convolve::sums_of_products;
    use crate::interrupt::Uninterrupted;
    use crate::laws::{Probability, binomial_probability};
    use crate::numbers::rational::Rational;
    use proptest::prelude::*;

    fn ball(text: &str) -> Ball {
        Ball::from_rational(&Rational::parse(text).unwrap())
    }

    fn group(count: u64, p: &str) -> BinomialGroup {
        BinomialGroup { count, at: Probability::new(&Rational::parse(p).unwrap()).unwrap(), weight: 1 }
    }

    fn row(part: &dyn Lattice, first: i64, last: i64) -> Vec<Ball> {
        LatticeSum::new(vec![part]).probabilities(first, last, &Uninterrupted).unwrap()
    }

    fn contains(computed: Ball, truth: Ball) -> bool {
        let gap = computed - truth;
        !gap.is_positive() && !(-gap).is_positive()
    }

    fn check(computed: Ball, truth: Ball, relative: f64) {
        assert!(contains(computed, truth), "{truth:?} is outside {computed:?}");
        assert!(computed.relative_error() <= relative, "{:e} {computed:?}", computed.relative_error());
    }

    #[test]
    fn a_row_of_one_group_is_the_binomial_law_from_end_to_end() {
        for (n, p) in [(1, "1/2"), (10, "0.001"), (300, "1/3"), (2000, "1e-6"), (2000, "0.98"), (3000, "1/2")]
        {
            let law = group(n, p);
            for (k, computed) in row(&law, 0, n as i64).into_iter().enumerate() {
                check(computed, binomial_probability(k as u64, n, &law.at), 1e-20);
            }
        }
    }

    #[test]
    fn large_groups_keep_their_accuracy() {
        for (n, first, p) in
            [(1_000_000_000u64, 333_300_000i64, "1/3"), (1_000_000_000_000, 499_999_990_000, "1/2")]
        {
            let law = group(n, p);
            let computed = row(&law, first, first + 20_000);
            for at in [0, 1, 63, 64, 5000, 12_345, 20_000] {
                check(computed[at], binomial_probability(first as u64 + at as u64, n, &law.at), 1e-15);
            }
            let rough = binomial_probability(first as u64, n, &law.at);
            assert!((computed[0] / rough - Ball::ONE).to_enclosure().width() < 1e-14);
        }
    }

    /// By squaring in doubles, which keeps relative accuracy.
    #[test]
    fn a_row_of_a_repeated_law_is_its_convolution_also_deep_in_the_tails() {
        let weights: Vec<f64> = (0..40).map(|i: i32| f64::from((i * 7919) % 41) / 1024.0).collect();
        let total = Ball::from_f64(weights.iter().sum()).unwrap();
        let masses = weights.iter().map(|&weight| Ball::from_f64(weight).unwrap() / total).collect();
        let mut truth = weights;
        for _ in 0..5 {
            truth = sums_of_products(&truth, &truth, &Uninterrupted).unwrap().0;
        }
        let law = Repeated { first: -3, masses, count: 32 };
        let scale = total.powi(32);
        let computed = row(&law, -96, -96 + 32 * 39);
        assert!(truth.len() == 32 * 39 + 1 && truth[40] < 1e-38);
        for (&mass, &rough) in computed.iter().zip(&truth) {
            let error = mass * scale / Ball::from_f64(rough.max(1e-300)).unwrap() - Ball::ONE;
            assert!(
                rough == 0.0
                    || (error.to_enclosure().upper() < 1e-12 && error.to_enclosure().lower() > -1e-12)
            );
            assert!(rough == 0.0 || mass.relative_error() < 1e-20, "{mass:?}");
        }
    }

    #[test]
    fn noise_has_rows_on_both_sides() {
        let noise = TwoSidedGeometric { alpha: ball("0.9") };
        for (i, computed) in row(&noise, -1000, 1000).into_iter().enumerate() {
            check(computed, ball("1/19") * ball("0.9").powi(i.abs_diff(1000) as u64), 1e-16);
        }
    }

    #[test]
    fn outside_the_support_there_is_nothing_and_rows_have_bounds() {
        let law = group(10, "1/3");
        let computed = row(&law, -3, 12);
        assert!(computed.len() == 16 && computed[0].is_exact_zero() && computed[2].is_exact_zero());
        assert!(computed[3].is_positive() && computed[13].is_positive() && computed[14].is_exact_zero());
        assert!(row(&law, 11, i64::from(u16::MAX)).iter().all(|mass| mass.is_exact_zero()));
        assert!(row(&law, 5, 4).is_empty());
        let sum = LatticeSum::new(vec![&law]);
        let refused = sum.probabilities(i64::MIN, i64::MAX, &Uninterrupted).unwrap_err().to_string();
        assert!(refused.contains("up to 2^24 = 16777216 probabilities are allowed"), "{refused}");
    }

    /// The polynomial, multiplied out in rationals.
    fn poisson_binomial(probabilities: &[Rational]) -> Vec<Rational> {
        let (zero, one) = (Rational::from(0i64), Rational::from(1i64));
        probabilities.iter().fold(vec![one.clone()], |law, p| {
            let shifted = std::iter::once(zero.clone()).chain(law.clone());
            let padded = law.iter().cloned().chain([zero.clone()]);
            padded.zip(shifted).map(|(stays, moves)| stays.mul(&one.sub(p)).add(&moves.mul(p))).collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn trials_are_the_product_of_their_polynomials(
            exponents in prop::collection::vec((1u32..1000, prop_oneof![3 => Just(0), 1 => 0u32..120, 1 => 300u32..400], any::<bool>()), 1..30),
        ) {
            let tiny = |k: u32| Rational::dyadic(1u8.into(), k as usize);
            let p: Vec<Rational> = exponents.iter().map(|&(thousandths, depth, common)| {
                let p = Rational::parse(&format!("{thousandths}/1000")).unwrap().mul(&tiny(depth));
                if common { Rational::from(1i64).sub(&p) } else { p }
            }).collect();
            let law = Trials::new(&p.iter().map(|p| Probability::new(p).unwrap()).map(|at| (at.p, at.q)).collect::<Vec<_>>());
            let computed = row(&law, 0, p.len() as i64);
            for (k, (mass, truth)) in computed.into_iter().zip(poisson_binomial(&p)).enumerate() {
                let truth = Ball::from_rational(&truth);
                prop_assert!(contains(mass, truth), "{} {:?} {:?}", k, mass, truth);
                let moderate = exponents.iter().all(|&(_, depth, _)| depth < 120);
                prop_assert!(!moderate || mass.relative_error() < 1e-18, "{} {:?}", k, mass);
            }
        }

        #[test]
        fn parts_of_different_kinds_add_up(count in 1u64..60, p in 1u32..999, probabilities in prop::collection::vec(1u32..999, 1..20)) {
            let text = |p: u32| Rational::parse(&format!("{p}/1000")).unwrap();
            let grouped = BinomialGroup { count, at: Probability::new(&text(p)).unwrap(), weight: 1 };
            let single: Vec<Rational> = probabilities.into_iter().map(text).collect();
            let trials = Trials::new(&single.iter().map(|p| Probability::new(p).unwrap()).map(|at| (at.p, at.q)).collect::<Vec<_>>());
            let all: Vec<Rational> = single.into_iter().chain((0..count).map(|_| text(p))).collect();
            let sum = LatticeSum::new(vec![&grouped, &trials]);
            let computed = sum.probabilities(0, all.len() as i64, &Uninterrupted).unwrap();
            for (mass, truth) in computed.into_iter().zip(poisson_binomial(&all)) {
                prop_assert!(contains(mass, Ball::from_rational(&truth)));
                prop_assert!(mass.relative_error() < 1e-20, "{:?}", mass);
            }
        }
    }

    /// What every wave errs by counts in full, and what its steps err by in proportion to its size.
    #[test]
    fn the_errors_of_waves_add_up() {
        let mut all = Superposition::new(4);
        let mut sizes = 0.0;
        for error in [0.25, 0.5] {
            let wave = Wave { start: Phasor::ONE, error, turn: Phasor::ONE, turn_error: 0.125 };
            sizes += wave.size();
            all.add(&wave);
        }
        assert_eq!((all.sizes, all.errors, all.waves), (sizes, 0.75, 2.0));
        assert!(sizes >= 2.0 && (all.turns - sizes * (0.125 + TURN_ERROR)).abs() < 1e-12);
    }

    /// `(N+3)² u² 2S`, what waves err by, and a turn for each value but that they share.
    #[test]
    fn the_error_of_a_superposition_is_that_of_its_parts() {
        let mut all = Superposition::new(10);
        (all.sizes, all.errors, all.turns, all.waves) = (3.0, 1e-20, 1e-25, 5.0);
        let exact = 3.0 * 13.0 * 13.0 * UNIT / 8.0 + 1e-20 + 10.0 * 1e-25;
        assert!((all.error() / exact - 65.0 / 64.0).abs() < 1e-12);
    }

    /// A row has 2^24 numbers at most.
    #[test]
    fn the_longest_row_is_that_of_2_to_the_24() {
        assert_eq!([length(3, 3), length(3, 2), length(-1, (1 << 24) - 2)], [Ok(1), Ok(0), Ok(1 << 24)]);
        assert_eq!(
            length(-1, (1 << 24) - 1).unwrap_err().to_string(),
            "a row from first = -1 to last = 16777215 is too long; up to 2^24 = 16777216 probabilities are allowed: ask for \
             parts of it, or for tails"
        );
    }
}
