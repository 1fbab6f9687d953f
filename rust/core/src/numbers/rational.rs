//! An input, exactly: a fraction of two big integers in lowest terms.

mod exponential;

pub(crate) use exponential::exponential;

use crate::budget::{MAX_DECIMAL_EXPONENT, MAX_LITERAL_LENGTH};
use crate::error::Error;
use crate::numbers::enclosure::Enclosure;
use dashu_int::ops::{BitTest, Gcd, UnsignedAbs};
use dashu_int::{IBig, Sign, UBig};
use std::cmp::Ordering;

/// A rational number in lowest terms.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rational {
    numerator: IBig,
    denominator: UBig,
}

impl Rational {
    /// `numerator / denominator`, reduced.
    ///
    /// # Errors
    /// A zero denominator.
    pub fn new(numerator: IBig, denominator: UBig) -> Result<Self, Error> {
        if denominator.is_zero() {
            return Err(Error::argument("a denominator of zero"));
        }
        Ok(Self::reduced(numerator, denominator))
    }

    /// From parts in lowest terms with a positive denominator.
    pub(crate) fn from_coprime(numerator: IBig, denominator: UBig) -> Self {
        Self { numerator, denominator }
    }

    /// The rational that a double stores.
    ///
    /// # Errors
    /// NaN and infinities.
    pub fn from_f64(x: f64) -> Result<Self, Error> {
        if !x.is_finite() {
            return Err(Error::argument(format!("{x} is not a finite number")));
        }
        let bits = x.to_bits();
        let biased = ((bits >> 52) & 0x7ff) as i64;
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, exponent) =
            if biased == 0 { (fraction, -1074) } else { (fraction | (1 << 52), biased - 1075) };
        let magnitude = if x < 0.0 { -IBig::from(mantissa) } else { IBig::from(mantissa) };
        let shift = exponent.unsigned_abs() as usize;
        if exponent >= 0 {
            Self::new(magnitude << shift, UBig::ONE)
        } else {
            Self::new(magnitude, UBig::ONE << shift)
        }
    }

    /// `numerator / 2^shift`.
    #[must_use]
    pub fn dyadic(numerator: UBig, shift: usize) -> Self {
        let common = numerator.trailing_zeros().map_or(shift, |zeros| zeros.min(shift));
        Self { numerator: IBig::from(numerator >> common), denominator: UBig::ONE << (shift - common) }
    }

    /// Reads `"0.1"`, `"-3e-6"`, `"1/2"` and integers; every decimal literal is exactly what it says.
    ///
    /// # Errors
    /// Anything else, and literals too long to be written out.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let malformed = || {
            let meant = meant(text).map_or_else(String::new, |meant| format!("; {meant}"));
            Error::argument(format!("{} is not a number such as 0.1, 1e-6 or 1/2{meant}", abridged(text)))
        };
        if text.len() > MAX_LITERAL_LENGTH {
            return Err(Error::argument("a number of more than 200000 characters"));
        }
        let trimmed = text.trim();
        if let Some((top, bottom)) = trimmed.split_once('/') {
            let (top, bottom) = (decimal(top.trim_end()), decimal(bottom.trim_start()));
            let (Some(top), Some(bottom)) = (top, bottom) else { return Err(malformed()) };
            return top?.div(&bottom?).ok_or_else(malformed);
        }
        decimal(trimmed).ok_or_else(malformed)?
    }

    /// Numerator, with the sign.
    #[must_use]
    pub fn numerator(&self) -> &IBig {
        &self.numerator
    }

    /// Denominator, positive.
    #[must_use]
    pub fn denominator(&self) -> &UBig {
        &self.denominator
    }

    /// Whether it is below zero.
    #[must_use]
    pub fn is_negative(&self) -> bool {
        self.numerator.sign() == Sign::Negative && !self.numerator.is_zero()
    }

    /// Whether it is zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.numerator.is_zero()
    }

    /// Sum.
    #[must_use]
    pub fn add(&self, other: &Self) -> Self {
        let top = &self.numerator * IBig::from(other.denominator.clone())
            + &other.numerator * IBig::from(self.denominator.clone());
        Self::reduced(top, &self.denominator * &other.denominator)
    }

    /// Difference.
    #[must_use]
    pub fn sub(&self, other: &Self) -> Self {
        self.add(&other.neg())
    }

    /// Negative.
    #[must_use]
    pub fn neg(&self) -> Self {
        Self { numerator: -self.numerator.clone(), denominator: self.denominator.clone() }
    }

    /// Product.
    #[must_use]
    pub fn mul(&self, other: &Self) -> Self {
        Self::reduced(&self.numerator * &other.numerator, &self.denominator * &other.denominator)
    }

    /// Quotient, or nothing when `other` is zero.
    #[must_use]
    pub fn div(&self, other: &Self) -> Option<Self> {
        let top = &self.numerator * IBig::from(other.denominator.clone());
        let bottom = &other.numerator * IBig::from(self.denominator.clone());
        let top = if bottom.sign() == Sign::Negative { -top } else { top };
        Self::new(top, bottom.as_ibig_magnitude()).ok()
    }

    /// Absolute value.
    #[must_use]
    pub fn abs(&self) -> Self {
        Self {
            numerator: IBig::from(self.numerator.as_ibig_magnitude()),
            denominator: self.denominator.clone(),
        }
    }

    /// The integer it is, if it is one that fits.
    #[must_use]
    pub fn to_i64(&self) -> Option<i64> {
        if self.denominator == UBig::ONE { i64::try_from(&self.numerator).ok() } else { None }
    }

    /// What messages show: itself where it is short; next to one how far off it is; else about what it is.
    #[must_use]
    pub fn shown(&self) -> String {
        let short = |x: &UBig| x.bit_len() <= 40;
        if short(&self.denominator) && short(&self.numerator.as_ibig_magnitude()) {
            let whole = self.denominator == UBig::ONE;
            return if whole {
                self.numerator.to_string()
            } else {
                format!("{}/{}", self.numerator, self.denominator)
            };
        }
        let about = |x: &Self| Enclosure::from(x).upper();
        let off = self.sub(&Self::from(1i64));
        if off.abs() < Self::dyadic(UBig::ONE, 10) {
            let sign = if off.is_negative() { '-' } else { '+' };
            return format!("1 {sign} {:.3e}", about(&off.abs()));
        }
        format!("{:e}", about(self))
    }

    /// Lowest terms, for a denominator known to be positive: `gcd(0, d) = d` makes zero 0/1.
    fn reduced(numerator: IBig, denominator: UBig) -> Self {
        let gcd = numerator.as_ibig_magnitude().gcd(&denominator);
        Self { numerator: numerator / IBig::from(gcd.clone()), denominator: denominator / gcd }
    }
}

/// The magnitude of a signed integer; named so that the two `unsigned_abs` of the standard library and of
/// the integer library are not confused.
trait Magnitude {
    fn as_ibig_magnitude(&self) -> UBig;
}

impl Magnitude for IBig {
    fn as_ibig_magnitude(&self) -> UBig {
        self.clone().unsigned_abs()
    }
}

/// The start of a text, for messages.
fn abridged(text: &str) -> String {
    let cut = if text.chars().count() > 80 { "..." } else { "" };
    let start: String = text.chars().take(80).collect();
    format!("{start:?}{cut}")
}

/// What somebody means who writes a number as `69%`, `1,000`, `0,5` or `0.2-0.4`, as a sentence without an end.
fn meant(text: &str) -> Option<String> {
    let is_number = |part: &str| part.len() < 40 && matches!(decimal(part.trim()), Some(Ok(_)));
    let trimmed = text.trim();
    if let Some(hundredths) = trimmed.strip_suffix('%').map(str::trim_end).filter(|part| is_number(part)) {
        return Some(format!("write \"{hundredths}/100\""));
    }
    if let Some((low, high)) = trimmed.split_once('-').filter(|(low, high)| is_number(low) && is_number(high))
    {
        return Some(format!("a range is written \"{}..{}\"", low.trim_end(), high.trim_start()));
    }
    let (first, groups) = trimmed.split_once(',')?;
    let in_thousands = groups.split(',').all(|group| group.len() == 3) && first != "0";
    let joined = trimmed.replace(',', if in_thousands { "" } else { "." });
    is_number(&joined).then(|| format!("write {joined}"))
}

/// `None`: not a decimal literal. `Some(Err)`: one that is too large to write out.
fn decimal(text: &str) -> Option<Result<Rational, Error>> {
    let (negative, unsigned) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
        None => (unsigned, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let power = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?;
    if power.abs() > MAX_DECIMAL_EXPONENT {
        return Some(Err(Error::argument(format!(
            "the decimal exponent of {} is beyond ±{MAX_DECIMAL_EXPONENT}",
            abridged(text)
        ))));
    }
    let integer = UBig::from_str_radix(&digits, 10).ok()?;
    let ten_to_power = UBig::from(10u8).pow(usize::try_from(power.unsigned_abs()).ok()?);
    let (top, bottom) =
        if power >= 0 { (integer * ten_to_power, UBig::ONE) } else { (integer, ten_to_power) };
    let top = if negative { -IBig::from(top) } else { IBig::from(top) };
    Some(Rational::new(top, bottom))
}

impl From<i64> for Rational {
    fn from(value: i64) -> Self {
        Self { numerator: IBig::from(value), denominator: UBig::ONE }
    }
}

impl From<IBig> for Rational {
    fn from(value: IBig) -> Self {
        Self { numerator: value, denominator: UBig::ONE }
    }
}

impl From<u64> for Rational {
    fn from(value: u64) -> Self {
        Self { numerator: IBig::from(value), denominator: UBig::ONE }
    }
}

impl Ord for Rational {
    fn cmp(&self, other: &Self) -> Ordering {
        let left = &self.numerator * IBig::from(other.denominator.clone());
        let right = &other.numerator * IBig::from(self.denominator.clone());
        left.cmp(&right)
    }
}

impl PartialOrd for Rational {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// `⌊numerator · 2^shift / denominator⌋` with `shift` chosen so that the quotient has 112 to 113 bits; the
/// quotient, the shift, and whether the division was exact.
pub(crate) fn leading_bits(numerator: &UBig, denominator: &UBig) -> (u128, i64, bool) {
    let shift = 112 + denominator.bit_len() as i64 - numerator.bit_len() as i64;
    let by = shift.unsigned_abs() as usize;
    let (top, bottom) = if shift >= 0 {
        (numerator << by, denominator.clone())
    } else {
        (numerator.clone(), denominator << by)
    };
    let quotient = &top / &bottom;
    let exact = &quotient * &bottom == top;
    (u128::try_from(&quotient).unwrap_or(u128::MAX), shift, exact)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_written_otherwise_is_told_how_to_write_it() {
        for (text, remedy) in [
            ("69%", "; write \"69/100\""),
            ("12.5 %", "; write \"12.5/100\""),
            ("1,000", "; write 1000"),
            ("1,000,000", "; write 1000000"),
            ("0,5", "; write 0.5"),
            ("0,125", "; write 0.125"),
            ("0.2-0.4", "; a range is written \"0.2..0.4\""),
            ("1,,2", ""),
            ("%", ""),
            ("one-two", ""),
            ("", ""),
        ] {
            let message = Rational::parse(text).unwrap_err().to_string();
            assert!(message.ends_with(&format!("1/2{remedy}")), "{message}");
        }
    }

    #[test]
    fn decimals_are_exactly_what_they_say() {
        let tenth = Rational::new(IBig::from(1), UBig::from(10u8)).unwrap();
        for text in ["0.1", ".1", "1e-1", "10E-2", "1/10", " 2 / 20 ", "+0.10", "0.01e1"] {
            assert_eq!(Rational::parse(text).unwrap(), tenth, "{text}");
        }
        assert_ne!(Rational::from_f64(0.1).unwrap(), tenth);
        assert_eq!(Rational::parse("-3").unwrap(), Rational::from(-3i64));
    }

    #[test]
    fn what_is_not_a_number_is_refused() {
        for text in ["", "e5", "1e", "0x10", "1_000", "nan", "inf", "1//2", "1/0", "٣", "--1", "1e400000"] {
            assert!(Rational::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_double_is_the_rational_it_stores() {
        assert_eq!(Rational::from_f64(0.75).unwrap(), Rational::parse("3/4").unwrap());
        let tiny = Rational::from_f64(f64::from_bits(1)).unwrap();
        assert_eq!(tiny.denominator(), &(UBig::ONE << 1074));
        assert!(Rational::from_f64(f64::NAN).is_err() && Rational::from_f64(f64::INFINITY).is_err());
    }

    #[test]
    fn literals_are_refused_from_where_they_would_not_fit() {
        for text in ["1e100000", "1e-100000", "0.1e100001"] {
            assert!(Rational::parse(text).is_ok(), "{text}");
        }
        for text in ["1e100001", "1e-100001", "0.1e-100000"] {
            assert!(Rational::parse(text).is_err(), "{text}");
        }
        let long = |length: usize| "0".repeat(length - 1) + "1";
        assert!(Rational::parse(&long(200_000)).is_ok());
        let message = Rational::parse(&long(200_001)).unwrap_err().to_string();
        assert!(message.contains("200000 characters"), "{message}");
        let shown = |length: usize| Rational::parse(&"x".repeat(length)).unwrap_err().to_string();
        assert!(shown(81).contains(&format!("\"{}\"...", "x".repeat(80))) && !shown(80).contains("..."));
        let small = Rational::parse(&format!(".{}", long(150_000))).unwrap_err().to_string();
        assert_eq!(small, format!("the decimal exponent of \".{}\"... is beyond ±100000", "0".repeat(79)));
    }

    #[test]
    fn numbers_are_compared_and_combined_exactly() {
        let number = |text: &str| Rational::parse(text).unwrap();
        let (x, y) = (number("-7/6"), number("3/4"));
        assert_eq!(x.add(&y), number("-5/12"));
        assert_eq!(x.sub(&y), number("-23/12"));
        assert_eq!(x.mul(&y), number("-7/8"));
        assert_eq!(x.div(&y), Some(number("-14/9")));
        assert_eq!(y.div(&x), Some(number("-9/14")));
        assert_eq!(x.div(&Rational::from(0i64)), None);
        assert_eq!((x.neg(), x.abs(), y.abs()), (number("7/6"), number("7/6"), number("3/4")));
        assert_eq!((x.cmp(&y), y.cmp(&x), x.cmp(&x)), (Ordering::Less, Ordering::Greater, Ordering::Equal));
        assert_eq!((x.is_negative(), y.is_negative(), x.is_zero()), (true, false, false));
        assert!(Rational::from(0i64).is_zero() && !Rational::from(0i64).is_negative());
        assert_eq!((number("-5").to_i64(), number("5/2").to_i64()), (Some(-5), None));
        assert_eq!(number("9223372036854775808").to_i64(), None);
        assert_eq!(Rational::dyadic(UBig::from(12u8), 4), number("3/4"));
        assert_eq!(Rational::dyadic(UBig::from(12u8), 1), number("6"));
        assert_eq!(Rational::dyadic(UBig::ZERO, 3), number("0"));
        assert!(Rational::new(IBig::ONE, UBig::ZERO).is_err());
    }

    #[test]
    fn messages_show_what_is_short_and_describe_what_is_long() {
        let shown = |text: &str| Rational::parse(text).unwrap().shown();
        assert_eq!((shown("3"), shown("-3/7")), ("3".to_owned(), "-3/7".to_owned()));
        assert_eq!(shown("1099511627775"), "1099511627775");
        assert_eq!(shown("1099511627776"), "1.099511627776e12");
        assert_eq!(shown("1/1099511627776"), "9.094947017729282e-13");
        assert_eq!(shown("1.0000000000000000000001"), "1 + 1.000e-22");
        assert_eq!(shown("0.9999999999999999999999"), "1 - 1.000e-22");
    }

    #[test]
    fn leading_bits_are_a_hundred_and_twelve_or_one_more() {
        for (top, bottom) in [(1u64, 1u64), (1, 3), (3, 1), (u64::MAX, 5), (5, u64::MAX), (1 << 40, 1 << 20)]
        {
            let (bits, shift, exact) = leading_bits(&UBig::from(top), &UBig::from(bottom));
            assert!((112..=113).contains(&(128 - bits.leading_zeros())), "{top}/{bottom}");
            let x = Rational::from(top).div(&Rational::from(bottom)).unwrap();
            let two = if shift >= 0 { "2" } else { "1/2" };
            let two = Rational::parse(two).unwrap();
            let scaled = (0..shift.abs()).fold(x, |x, _| x.mul(&two));
            let floor = Rational::from(IBig::from(bits));
            assert!(floor <= scaled && scaled < floor.add(&Rational::from(1i64)), "{top}/{bottom}");
            assert_eq!(exact, floor == scaled, "{top}/{bottom}");
        }
    }
}
