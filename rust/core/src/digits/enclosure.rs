//! Enclosures whose ends are dyadic numbers of any length.

use super::ball::{Ball, compare, length, shifted};
use super::elementary;
use crate::budget::{MAX_DECIMAL_BITS, MAX_RATIONAL_EXPONENT};
use crate::error::Error;
use crate::numbers::rational::Rational;
use dashu_int::ops::DivEuclid;
use dashu_int::{IBig, Sign, UBig};
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::ops::{Add, Mul, Neg};

/// `mantissa · 2^exponent`, or an infinity; in lowest terms, so that equal numbers look alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dyadic {
    /// −∞.
    MinusInfinity,
    /// A number. The mantissa is odd, or zero with exponent 0.
    Finite {
        /// An integer.
        mantissa: IBig,
        /// A power of two.
        exponent: i128,
    },
    /// ∞.
    Infinity,
}

impl Dyadic {
    /// `mantissa · 2^exponent`.
    #[must_use]
    pub fn new(mantissa: IBig, exponent: i128) -> Self {
        match mantissa.trailing_zeros() {
            None => Self::Finite { mantissa, exponent: 0 },
            Some(zeros) => Self::Finite { mantissa: mantissa >> zeros, exponent: exponent + zeros as i128 },
        }
    }

    /// The largest number of `bits` bits at most, or with `up` the smallest at least, the rational.
    #[must_use]
    pub fn rounded(x: &Rational, bits: usize, up: bool) -> Self {
        let (top, bottom) = (x.numerator(), IBig::from(x.denominator().clone()));
        let shift = bits as i128 + 1 + length(&bottom) as i128 - length(top) as i128;
        let (top, bottom) =
            if shift >= 0 { (shifted(top, shift), bottom) } else { (top.clone(), shifted(&bottom, -shift)) };
        let quotient = floor_quotient(&top, &bottom);
        let above = up && &quotient * &bottom != top;
        Self::new(quotient + IBig::from(above), -shift)
    }

    /// The rational it is; nothing for an infinity, or an exponent too large to write the number out.
    #[must_use]
    pub fn to_rational(&self) -> Option<Rational> {
        match self {
            Self::Finite { mantissa, exponent } if exponent.abs() <= MAX_RATIONAL_EXPONENT => {
                let by = exponent.unsigned_abs() as usize;
                let (top, bottom) = if *exponent >= 0 {
                    (mantissa << by, UBig::ONE)
                } else {
                    (mantissa.clone(), UBig::ONE << by)
                };
                Rational::new(top, bottom).ok()
            }
            _ => None,
        }
    }

    /// The order relative to a rational.
    #[must_use]
    pub fn order(&self, x: &Rational) -> Ordering {
        match self {
            Self::MinusInfinity => Ordering::Less,
            Self::Infinity => Ordering::Greater,
            Self::Finite { mantissa, exponent } => {
                let scaled = (mantissa * IBig::from(x.denominator().clone()), *exponent);
                compare(&scaled, &(x.numerator().clone(), 0))
            }
        }
    }

    /// Bits of the mantissa; 0 for an infinity.
    #[must_use]
    pub fn bits(&self) -> usize {
        match self {
            Self::Finite { mantissa, .. } => length(mantissa),
            _ => 0,
        }
    }

    /// Whether it is a number.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        matches!(self, Self::Finite { .. })
    }

    fn signum(&self) -> i8 {
        match self {
            Self::MinusInfinity => -1,
            Self::Infinity => 1,
            Self::Finite { mantissa, .. } if mantissa.is_zero() => 0,
            Self::Finite { mantissa, .. } => {
                if mantissa.sign() == Sign::Negative {
                    -1
                } else {
                    1
                }
            }
        }
    }

    fn zero() -> Self {
        Self::new(IBig::ZERO, 0)
    }

    /// The sum; `other` decides where the two are opposite infinities.
    fn plus(&self, other: &Self, undefined: &Self) -> Self {
        match (self, other) {
            (Self::Finite { mantissa: a, exponent: e }, Self::Finite { mantissa: b, exponent: f }) => {
                let unit = *e.min(f);
                Self::new(shifted(a, e - unit) + shifted(b, f - unit), unit)
            }
            (Self::Finite { .. }, infinite) | (infinite, Self::Finite { .. }) => infinite.clone(),
            (a, b) if a == b => a.clone(),
            _ => undefined.clone(),
        }
    }

    /// The product; `0 · ∞ = 0`, the convention for ends of intervals.
    fn times(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Finite { mantissa: a, exponent: e }, Self::Finite { mantissa: b, exponent: f }) => {
                Self::new(a * b, e + f)
            }
            _ => match self.signum() * other.signum() {
                0 => Self::zero(),
                1 => Self::Infinity,
                _ => Self::MinusInfinity,
            },
        }
    }

    /// The number rounded to `bits` bits.
    fn shortened(&self, bits: usize, up: bool) -> Self {
        match self {
            Self::Finite { mantissa, exponent } if length(mantissa) > bits => {
                // The mantissa is odd, so some bit is lost and the floor is below.
                let drop = length(mantissa) - bits;
                Self::new((mantissa >> drop) + IBig::from(up), exponent + drop as i128)
            }
            _ => self.clone(),
        }
    }

    /// `1/x` of `bits` bits, rounded as told; the caller excludes zero.
    fn reciprocal(&self, bits: usize, up: bool) -> Self {
        let Self::Finite { mantissa, exponent } = self else { return Self::zero() };
        let inverse = Rational::from(1i64).div(&Rational::from(mantissa.clone()));
        match inverse.map(|inverse| Self::rounded(&inverse, bits, up)) {
            Some(Self::Finite { mantissa, exponent: own }) => Self::new(mantissa, own - exponent),
            _ => {
                if up {
                    Self::Infinity
                } else {
                    Self::MinusInfinity
                }
            }
        }
    }

    /// `d.ddd…e±x` with `digits` digits, rounded up or down.
    #[must_use]
    pub fn decimal(&self, digits: usize, up: bool) -> String {
        let Self::Finite { mantissa, exponent } = self else {
            return if self.signum() < 0 { "-inf" } else { "inf" }.to_owned();
        };
        if mantissa.is_zero() {
            return "0.0".to_owned();
        }
        let negative = mantissa.sign() == Sign::Negative;
        let size = if negative { -mantissa } else { mantissa.clone() };
        let (digits, power) = decimal_digits(&size, *exponent, digits, up != negative);
        let sign = if negative { "-" } else { "" };
        format!("{sign}{}", placed(&digits, power))
    }
}

impl Ord for Dyadic {
    fn cmp(&self, other: &Self) -> Ordering {
        let rank = |x: &Self| match x {
            Self::MinusInfinity => -1,
            Self::Finite { .. } => 0,
            Self::Infinity => 1,
        };
        match (self, other) {
            (Self::Finite { mantissa: a, exponent: e }, Self::Finite { mantissa: b, exponent: f }) => {
                compare(&(a.clone(), *e), &(b.clone(), *f))
            }
            _ => rank(self).cmp(&rank(other)),
        }
    }
}

impl PartialOrd for Dyadic {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for Dyadic {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Finite { mantissa, exponent } => (mantissa, exponent).hash(state),
            infinite => infinite.signum().hash(state),
        }
    }
}

/// `⌊a/b⌋` for `b > 0`.
fn floor_quotient(a: &IBig, b: &IBig) -> IBig {
    let quotient = a / b;
    let below = a.sign() == Sign::Negative && &quotient * b != *a;
    quotient - IBig::from(below)
}

/// `d` and `x` with `d · 10^x` just above (`up`) or below `m · 2^e`. `d` has the given number of digits.
fn decimal_digits(m: &IBig, e: i128, digits: usize, up: bool) -> (String, i128) {
    let wanted = digits.max(1) as i128;
    // A power that is certainly too small is put right by the length of what comes out.
    let mut power = decimal_places(e + length(m) as i128) - wanted - 2;
    loop {
        let scaled = if e.abs() <= MAX_DECIMAL_BITS {
            scaled_exactly(m, e, power, up)
        } else {
            scaled_nearly(m, e, power, up)
        };
        let Some(integer) = scaled else { return (if up { "9".to_owned() } else { "0".to_owned() }, power) };
        let text = integer.to_string();
        match text.len() as i128 - wanted {
            0 => return (text, power),
            // Rounding up may have carried into one more digit, a power of ten.
            1 if text.bytes().skip(1).all(|c| c == b'0') => {
                return (text[..text.len() - 1].to_owned(), power + 1);
            }
            off => power += off,
        }
    }
}

/// `⌊log10 2^k⌋` or one less: too large a power would leave a single digit none. `log10 2 = 0.301029995663981195213738894724493026768…`
fn decimal_places(k: i128) -> i128 {
    const LOG10_OF_2: u128 = 301_029_995_663_981_195_213_738_894_724_493_026;
    let product = (IBig::from(k) * IBig::from(LOG10_OF_2)).div_euclid(IBig::from(10u128.pow(36)));
    i128::try_from(&product).unwrap_or(k / 3)
}

/// `m 2^e / 10^power` as an integer.
fn scaled_exactly(m: &IBig, e: i128, power: i128, up: bool) -> Option<IBig> {
    let ten = IBig::from(UBig::from(10u8).pow(usize::try_from(power.unsigned_abs()).ok()?));
    let (mut top, mut bottom) = if power >= 0 { (m.clone(), ten) } else { (m * ten, IBig::ONE) };
    if e >= 0 {
        top = shifted(&top, e);
    } else {
        bottom = shifted(&bottom, -e);
    }
    let quotient = &top / &bottom;
    let above = up && &quotient * &bottom != top;
    Some(quotient + IBig::from(above))
}

/// The same where `2^e` has too many digits to be written: `m e^{e ln 2 − power ln 10}`, enclosed.
fn scaled_nearly(m: &IBig, e: i128, power: i128, up: bool) -> Option<IBig> {
    let size = length(m);
    let bits = size + 200;
    let scale = |k: i128| Ball::dyadic(IBig::from(k), 0);
    let ln_2 = elementary::ln(&Ball::from(2), bits + 128)?.times(&scale(e), bits + 128);
    let ln_10 = elementary::ln(&Ball::from(10), bits + 128)?.times(&scale(power), bits + 128);
    let value =
        elementary::exp(&ln_2.minus(&ln_10, bits + 128), bits)?.times(&Ball::dyadic(m.clone(), 0), bits);
    let (end, exponent) = if up { value.upper() } else { value.lower() };
    Some(shifted(&end, exponent) + IBig::from(up))
}

/// Digits and a power of ten as Python would write them.
fn placed(digits: &str, power: i128) -> String {
    let trimmed = match digits.trim_end_matches('0') {
        "" => "0",
        trimmed => trimmed,
    };
    let exponent = power + digits.len() as i128 - 1;
    let (head, tail) = trimmed.split_at(1);
    match exponent {
        -4..0 => format!("0.{}{trimmed}", "0".repeat((-exponent - 1) as usize)),
        0..16 => {
            let whole = exponent as usize + 1;
            let padded = format!("{trimmed:0<whole$}");
            let (whole, rest) = padded.split_at(whole);
            format!("{whole}.{}", if rest.is_empty() { "0" } else { rest })
        }
        _ => {
            let point = if tail.is_empty() { "" } else { "." };
            let sign = if exponent < 0 { "-" } else { "+" };
            format!("{head}{point}{tail}e{sign}{:02}", exponent.unsigned_abs())
        }
    }
}

/// A closed interval that contains the truth, with dyadic ends.
///
/// Sums, differences and products of the ends are exact.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DigitsEnclosure {
    lower: Dyadic,
    upper: Dyadic,
}

impl DigitsEnclosure {
    /// `[lower, upper]`.
    ///
    /// # Errors
    /// `lower > upper`.
    pub fn new(lower: Dyadic, upper: Dyadic) -> Result<Self, Error> {
        if lower > upper {
            return Err(Error::argument(format!(
                "lower = {} and upper = {} do not bound an enclosure; lower ≤ upper is required",
                lower.decimal(17, false),
                upper.decimal(17, true)
            )));
        }
        Ok(Self { lower, upper })
    }

    /// `[x, x]`.
    #[must_use]
    pub fn point(x: Dyadic) -> Self {
        Self { lower: x.clone(), upper: x }
    }

    /// From −∞ to ∞.
    #[must_use]
    pub fn everything() -> Self {
        Self { lower: Dyadic::MinusInfinity, upper: Dyadic::Infinity }
    }

    /// The ends rounded outwards to `bits` bits.
    #[must_use]
    pub fn outward(&self, bits: usize) -> Self {
        Self { lower: self.lower.shortened(bits, false), upper: self.upper.shortened(bits, true) }
    }

    /// A rational between ends of `bits` bits.
    #[must_use]
    pub fn rounded(x: &Rational, bits: usize) -> Self {
        Self { lower: Dyadic::rounded(x, bits, false), upper: Dyadic::rounded(x, bits, true) }
    }

    /// A probability: what lies outside `[0, 1]` cannot be the truth.
    pub(crate) fn probability(ball: &Ball) -> Self {
        let (zero, one) = (Dyadic::zero(), Dyadic::new(IBig::ONE, 0));
        let Self { lower, upper } = Self::from(ball);
        Self { lower: lower.clamp(zero.clone(), one.clone()), upper: upper.clamp(zero, one) }
    }

    /// From the lower end of one ball to the upper end of another.
    pub(crate) fn between(lower: &Ball, upper: &Ball) -> Self {
        Self { lower: Self::from(lower).lower, upper: Self::from(upper).upper }
    }

    pub(crate) fn at_least(lower: &Ball) -> Self {
        Self { lower: Self::from(lower).lower, upper: Dyadic::Infinity }
    }

    /// Lower end.
    #[must_use]
    pub fn lower(&self) -> &Dyadic {
        &self.lower
    }

    /// Upper end.
    #[must_use]
    pub fn upper(&self) -> &Dyadic {
        &self.upper
    }

    /// `upper − lower`, exactly; zero for `[∞, ∞]`.
    #[must_use]
    pub fn width(&self) -> Dyadic {
        if self.lower == self.upper {
            Dyadic::zero()
        } else {
            self.upper.plus(&-self.lower.clone(), &Dyadic::Infinity)
        }
    }

    /// The number half way; nothing when an end is infinite.
    #[must_use]
    pub fn midpoint(&self) -> Option<Dyadic> {
        let half = Dyadic::new(IBig::ONE, -1);
        (self.lower.is_finite() && self.upper.is_finite())
            .then(|| self.lower.plus(&self.upper, &Dyadic::Infinity).times(&half))
    }

    /// Whether the rational is a member.
    #[must_use]
    pub fn contains(&self, x: &Rational) -> bool {
        self.lower.order(x).is_le() && self.upper.order(x).is_ge()
    }

    /// Bits of the longer end.
    #[must_use]
    pub fn bits(&self) -> usize {
        self.lower.bits().max(self.upper.bits())
    }

    /// `1/x`, the ends rounded outwards to `bits` bits; the whole line if zero is a member.
    #[must_use]
    pub fn reciprocal(&self, bits: usize) -> Self {
        if self.lower.signum() <= 0 && self.upper.signum() >= 0 {
            return Self::everything();
        }
        Self { lower: self.upper.reciprocal(bits, false), upper: self.lower.reciprocal(bits, true) }
    }

    /// Decimal digits that the two ends share, and three more: enough to show both.
    #[must_use]
    pub fn digits(&self) -> usize {
        let (Dyadic::Finite { mantissa, exponent }, Dyadic::Finite { mantissa: width, exponent: unit }) =
            (&self.upper, self.width())
        else {
            return 17;
        };
        let bits = if width.is_zero() {
            length(mantissa) as i128
        } else {
            exponent + length(mantissa) as i128 - unit - length(&width) as i128
        };
        3 + (bits.clamp(0, 1 << 20) as usize * 302).div_ceil(1000)
    }
}

impl From<&Ball> for DigitsEnclosure {
    fn from(ball: &Ball) -> Self {
        let (lower, upper) = (ball.lower(), ball.upper());
        Self { lower: Dyadic::new(lower.0, lower.1), upper: Dyadic::new(upper.0, upper.1) }
    }
}

impl Neg for Dyadic {
    type Output = Self;

    fn neg(self) -> Self {
        match self {
            Self::MinusInfinity => Self::Infinity,
            Self::Infinity => Self::MinusInfinity,
            Self::Finite { mantissa, exponent } => Self::Finite { mantissa: -mantissa, exponent },
        }
    }
}

impl Neg for &DigitsEnclosure {
    type Output = DigitsEnclosure;

    fn neg(self) -> DigitsEnclosure {
        DigitsEnclosure { lower: -self.upper.clone(), upper: -self.lower.clone() }
    }
}

impl Add for &DigitsEnclosure {
    type Output = DigitsEnclosure;

    fn add(self, other: Self) -> DigitsEnclosure {
        DigitsEnclosure {
            lower: self.lower.plus(&other.lower, &Dyadic::MinusInfinity),
            upper: self.upper.plus(&other.upper, &Dyadic::Infinity),
        }
    }
}

impl Mul for &DigitsEnclosure {
    type Output = DigitsEnclosure;

    fn mul(self, other: Self) -> DigitsEnclosure {
        let corners = [
            self.lower.times(&other.lower),
            self.lower.times(&other.upper),
            self.upper.times(&other.lower),
            self.upper.times(&other.upper),
        ];
        let lower = corners.iter().min().cloned().unwrap_or(Dyadic::MinusInfinity);
        let upper = corners.into_iter().max().unwrap_or(Dyadic::Infinity);
        DigitsEnclosure { lower, upper }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn dyadic(m: i64, e: i128) -> Dyadic {
        Dyadic::new(IBig::from(m), e)
    }

    #[test]
    fn quotients_are_rounded_down_on_both_sides_of_zero() {
        for (a, b, floor) in [(7, 2, 3), (6, 2, 3), (0, 5, 0), (-6, 2, -3), (-7, 2, -4), (-1, 100, -1)] {
            assert_eq!(floor_quotient(&IBig::from(a), &IBig::from(b)), IBig::from(floor), "{a}/{b}");
        }
    }

    /// Numbers and infinities, in order.
    fn in_order() -> Vec<Dyadic> {
        let numbers =
            [(-5, 90), (-9, 0), (-1, 0), (-1, -90), (0, 0), (1, -90), (3, -2), (1, 0), (9, 0), (5, 90)];
        let finite = numbers.into_iter().map(|(m, e)| dyadic(m, e));
        [Dyadic::MinusInfinity].into_iter().chain(finite).chain([Dyadic::Infinity]).collect()
    }

    #[test]
    fn infinities_follow_the_rules_of_ends() {
        let all = in_order();
        for (i, x) in all.iter().enumerate() {
            for (j, y) in all.iter().enumerate() {
                assert_eq!(x.cmp(y), i.cmp(&j), "{x:?} and {y:?}");
                let (sum, product) = (x.plus(y, &Dyadic::Infinity), x.times(y));
                if let (Some(a), Some(b)) = (x.to_rational(), y.to_rational()) {
                    assert_eq!(sum.to_rational(), Some(a.add(&b)));
                    assert_eq!(product.to_rational(), Some(a.mul(&b)));
                } else {
                    let signs = [Dyadic::MinusInfinity, Dyadic::zero(), Dyadic::Infinity];
                    assert_eq!(product, signs[(x.signum() * y.signum() + 1) as usize]);
                    let infinite = if x.is_finite() { y } else { x };
                    let opposite = !y.is_finite() && infinite != y;
                    assert_eq!(sum, if opposite { Dyadic::Infinity } else { infinite.clone() });
                }
            }
            assert_eq!(-(-x.clone()), *x);
            assert_eq!(x.bits() > 0, x.is_finite() && x.signum() != 0);
        }
        assert_eq!((dyadic(40, 0).bits(), Dyadic::Infinity.bits()), (3, 0));
        let hash = |x: &Dyadic| {
            let mut hasher = std::hash::DefaultHasher::new();
            x.hash(&mut hasher);
            hasher.finish()
        };
        let hashes: std::collections::HashSet<_> = all.iter().map(hash).collect();
        assert_eq!(hashes.len(), all.len());
        let order = |x: &Dyadic, y| x.order(&Rational::from(y));
        assert!(
            order(&all[0], 0i64).is_lt()
                && order(&all[11], 0i64).is_gt()
                && order(&dyadic(3, 1), 6i64).is_eq()
        );
    }

    #[test]
    fn infinities_are_written_with_their_sign() {
        for up in [false, true] {
            assert_eq!(Dyadic::MinusInfinity.decimal(5, up), "-inf");
            assert_eq!(Dyadic::Infinity.decimal(5, up), "inf");
        }
    }

    /// 999 999 to one, …, five digits.
    #[test]
    fn rounding_up_carries_into_one_more_digit() {
        for digits in 1..6 {
            let power_of_ten = format!("1{}", "0".repeat(digits - 1));
            let found = decimal_digits(&IBig::from(999_999), 0, digits, true);
            assert_eq!(found, (power_of_ten, 7 - digits as i128));
        }
        assert_eq!(decimal_digits(&IBig::from(999_999), 0, 6, true), ("999999".to_owned(), 0));
    }

    #[test]
    fn numbers_are_written_out_up_to_a_limit() {
        assert_eq!(dyadic(5, 3).to_rational(), Some(Rational::from(40i64)));
        assert_eq!(dyadic(1, 1 << 28).to_rational().map(|x| length(x.numerator())), Some((1 << 28) + 1));
        assert_eq!(dyadic(1, (1 << 28) + 1).to_rational(), None);
        assert_eq!(dyadic(1, -(1 << 28) - 1).to_rational(), None);
    }

    #[test]
    fn enclosures_say_how_wide_they_are_and_what_they_hold() {
        let between = |a: &Dyadic, b: &Dyadic| DigitsEnclosure::new(a.clone(), b.clone()).unwrap();
        let all = in_order();
        let refused = DigitsEnclosure::new(dyadic(3, -1), dyadic(1, 0)).unwrap_err().to_string();
        assert_eq!(
            refused,
            "lower = 1.5 and upper = 1.0 do not bound an enclosure; lower ≤ upper is required"
        );
        for (i, x) in all.iter().enumerate() {
            for y in &all[i..] {
                let enclosure = between(x, y);
                let inside: Vec<_> =
                    all.iter().filter_map(Dyadic::to_rational).filter(|z| enclosure.contains(z)).collect();
                let expected = all.iter().filter(|z| *z >= x && *z <= y).filter_map(Dyadic::to_rational);
                assert_eq!(inside, expected.collect::<Vec<_>>());
                if let (Some(a), Some(b)) = (x.to_rational(), y.to_rational()) {
                    assert_eq!(enclosure.width().to_rational(), Some(b.sub(&a)));
                    let middle = a.add(&b).div(&Rational::from(2i64));
                    assert_eq!(enclosure.midpoint().unwrap().to_rational(), middle);
                } else {
                    assert_eq!(enclosure.width(), if x == y { Dyadic::zero() } else { Dyadic::Infinity });
                    assert_eq!(enclosure.midpoint(), None);
                }
                assert_eq!(enclosure.bits(), x.bits().max(y.bits()));
                let inverse = enclosure.reciprocal(50);
                if x.signum() <= 0 && y.signum() >= 0 {
                    assert_eq!(inverse, DigitsEnclosure::everything());
                } else {
                    let one = Rational::from(1i64);
                    for z in inside.iter().filter_map(|z| one.div(z)) {
                        assert!(inverse.contains(&z), "{enclosure:?}");
                    }
                    assert!(x.is_finite() || inverse.upper() == &Dyadic::zero());
                    assert!(y.is_finite() || inverse.lower() == &Dyadic::zero());
                }
            }
        }
    }

    /// As many decimals as the ends share, and three: those of an exact number are all of its bits.
    #[test]
    fn so_many_digits_show_both_ends() {
        for (lower, upper, digits) in [
            (dyadic(1, 0), dyadic((1 << 20) + 1, -20), 3 + 7),
            (dyadic(1, 0), dyadic(1, 10), 3 + 1),
            (dyadic(-1, 0), dyadic(1, 0), 3),
            (dyadic(5, 0), dyadic(5, 0), 3 + 1),
            (dyadic((1 << 50) + 1, 7), dyadic((1 << 50) + 1, 7), 3 + 16),
            (dyadic(1, 0), Dyadic::Infinity, 17),
            (dyadic(1, -400), dyadic(1025, -410), 3 + 4),
        ] {
            assert_eq!(DigitsEnclosure::new(lower, upper).unwrap().digits(), digits);
        }
    }

    /// Rounded outwards to this number of bits. A shorter number is not changed.
    #[test]
    fn ends_are_rounded_outwards_by_less_than_a_unit() {
        for (m, bits, below, above) in
            [(0b1011, 3, 0b1010, 0b1100), (-0b1011, 3, -0b1100, -0b1010), (0b1011, 4, 0b1011, 0b1011)]
        {
            let rounded = DigitsEnclosure::point(dyadic(m, -7)).outward(bits);
            assert_eq!((rounded.lower(), rounded.upper()), (&dyadic(below, -7), &dyadic(above, -7)));
        }
    }

    /// Where a number is too small or large to be written in full on the way, its digits are those of a number near by that is not.
    #[test]
    fn digits_of_tiny_and_huge_numbers_continue_those_of_others() {
        for e in [MAX_DECIMAL_BITS - 3, MAX_DECIMAL_BITS + 1, -MAX_DECIMAL_BITS + 2, -MAX_DECIMAL_BITS - 1] {
            for digits in [1, 5, 30] {
                let power = decimal_places(e) - digits - 1;
                for up in [false, true] {
                    let [exactly, nearly] = [scaled_exactly, scaled_nearly]
                        .map(|way| way(&IBig::from(77), e, power, up).unwrap());
                    let gap = nearly - &exactly;
                    assert!(gap == IBig::ZERO || gap == IBig::from(if up { 1 } else { -1 }), "{e} {digits}");
                }
            }
        }
    }

    #[test]
    fn common_logarithms_of_powers_of_two_are_found_to_one() {
        for k in [0, 1, 3, 4, 9, 10, 332, 333, 1000, 100_000, -1, -3, -4, -10, -1000] {
            let places = decimal_places(k);
            let power = |x: i128| {
                let ten = Rational::from(IBig::from(10).pow(x.unsigned_abs() as usize));
                if x < 0 { Rational::from(1i64).div(&ten).unwrap() } else { ten }
            };
            let two = dyadic(1, k);
            assert!(
                two.order(&power(places)).is_ge() && two.order(&power(places + 2)).is_lt(),
                "{k}: {places}"
            );
        }
        assert_eq!(decimal_places(1 << 100), 381_600_854_690_147_056_244_358_827_360);
    }

    proptest! {
        #[test]
        fn a_rational_lies_between_its_roundings(top in any::<i64>(), bottom in 1u64.., bits in 1usize..200) {
            let x = Rational::from(top).div(&Rational::from(bottom)).unwrap();
            let enclosure = DigitsEnclosure::rounded(&x, bits);
            prop_assert!(enclosure.contains(&x));
            let inverse = enclosure.reciprocal(bits);
            prop_assert!(top == 0 || inverse.contains(&Rational::from(1i64).div(&x).unwrap()));
            prop_assert!((&enclosure * &inverse).contains(&Rational::from(1i64)));
            prop_assert!((&enclosure + &-&enclosure).contains(&Rational::from(0i64)));
        }

        #[test]
        fn a_dyadic_is_its_mantissa_times_a_power_of_two(m in any::<i64>(), e in -300i128..300) {
            let two = Rational::from(2i64);
            let power = (0..e.unsigned_abs()).fold(Rational::from(1i64), |power, _| power.mul(&two));
            let m_exactly = Rational::from(m);
            let expected = if e < 0 { m_exactly.div(&power).unwrap() } else { m_exactly.mul(&power) };
            prop_assert_eq!(Dyadic::new(IBig::from(m), e).to_rational(), Some(expected));
        }

        #[test]
        fn decimals_are_rounded_outwards(m in any::<i64>(), e in -2000i128..2000, digits in 1usize..60) {
            let x = Dyadic::new(IBig::from(m), e);
            let below = Rational::parse(&x.decimal(digits, false)).unwrap();
            let above = Rational::parse(&x.decimal(digits, true)).unwrap();
            prop_assert!(x.order(&below).is_ge() && x.order(&above).is_le());
            let unit = above.abs().mul(&Rational::parse(&format!("1e{}", 1 - digits as i64)).unwrap());
            prop_assert!(above.sub(&below) <= unit || m == 0);
        }
    }

    #[test]
    fn numbers_are_written_as_one_reads_them() {
        let show = |text: &str, digits| {
            Dyadic::rounded(&Rational::parse(text).unwrap(), 300, false).decimal(digits, true)
        };
        assert_eq!(show("0.5", 10), "0.5");
        assert_eq!(show("0.1", 10), "0.1");
        assert_eq!(show("12", 3), "12.0");
        assert_eq!(show("1e20", 5), "1e+20");
        assert_eq!(show("-1/3", 4), "-0.3333");
        assert_eq!(show("99.999999", 4), "100.0");
        assert_eq!(show("0.00001234", 4), "1.234e-05");
        let power = Dyadic::new(IBig::from(-1), -273);
        assert_eq!(
            (power.decimal(1, false), power.decimal(1, true)),
            ("-7e-83".to_owned(), "-6e-83".to_owned())
        );
        // The common logarithm of 2^-(2^60) is −347063955532709820.76752154…, and 10^0.23247845… is 1.70796….
        let tiny = Dyadic::new(IBig::ONE, -(1 << 60)).decimal(6, false);
        assert!(tiny.starts_with("1.7079") && tiny.ends_with("e-347063955532709821"), "{tiny}");
    }
}
