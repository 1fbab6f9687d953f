//! What may be given for a number, and for a probability.

use crate::{Error, Rational};

/// 2^53, up to which doubles hold every count.
pub(crate) const LARGEST_COUNT: u64 = 1 << 53;

/// What is read as an exact number: a decimal or a fraction as text, a double, an integer, or a [`Rational`].
pub trait Number {
    /// The number.
    ///
    /// # Errors
    /// A text that is no number, NaN and infinities. The message names the argument.
    fn exactly(self, argument: &str) -> Result<Rational, Error>;
}

fn of_argument(argument: &str) -> impl Fn(Error) -> Error {
    move |error| Error::argument(format!("{argument} = {error}"))
}

impl Number for &str {
    fn exactly(self, argument: &str) -> Result<Rational, Error> {
        Rational::parse(self).map_err(of_argument(argument))
    }
}

impl Number for f64 {
    fn exactly(self, argument: &str) -> Result<Rational, Error> {
        Rational::from_f64(self).map_err(of_argument(argument))
    }
}

impl Number for String {
    fn exactly(self, argument: &str) -> Result<Rational, Error> {
        self.as_str().exactly(argument)
    }
}

macro_rules! whole_numbers {
    ($($kind:ty as $wide:ty),*) => {$(
        impl Number for $kind {
            fn exactly(self, _argument: &str) -> Result<Rational, Error> {
                Ok(Rational::from(<$wide>::from(self)))
            }
        }
    )*};
}

whole_numbers!(i32 as i64, i64 as i64, u32 as u64, u64 as u64);

impl Number for Rational {
    fn exactly(self, _argument: &str) -> Result<Rational, Error> {
        Ok(self)
    }
}

impl Number for &Rational {
    fn exactly(self, _argument: &str) -> Result<Rational, Error> {
        Ok(self.clone())
    }
}

/// A number of at least 0.
pub(crate) fn nonnegative(number: impl Number, argument: &str) -> Result<Rational, Error> {
    let exact = number.exactly(argument)?;
    if exact.is_negative() {
        return Err(Error::argument(format!(
            "{argument} = {}; a number of at least 0 is required",
            exact.shown()
        )));
    }
    Ok(exact)
}

/// The probability that a row has a property: one number, or all that lie between two.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Probability {
    pub(crate) lower: Rational,
    pub(crate) upper: Rational,
}

impl Probability {
    /// Known exactly.
    ///
    /// # Errors
    /// No number from 0 to 1.
    pub fn known(p: impl Number) -> Result<Self, Error> {
        let p = p.exactly("p")?;
        Self::checked(p.clone(), p)
    }

    /// Anywhere between two ends, which may be equal.
    ///
    /// # Errors
    /// Ends outside `[0, 1]`, or in the wrong order.
    pub fn between(lower: impl Number, upper: impl Number) -> Result<Self, Error> {
        Self::checked(lower.exactly("lower")?, upper.exactly("upper")?)
    }

    fn checked(lower: Rational, upper: Rational) -> Result<Self, Error> {
        let one = Rational::from(1i64);
        if let Some(outside) = [&lower, &upper].into_iter().find(|p| p.is_negative() || **p > one) {
            return Err(Error::argument(format!(
                "p = {}; a probability from 0 to 1 is required",
                outside.shown()
            )));
        }
        if lower > upper {
            return Err(Error::argument(format!(
                "p = {} to {}; the lower end of a range must be at most the upper one",
                lower.shown(),
                upper.shown()
            )));
        }
        Ok(Self { lower, upper })
    }

    pub(crate) fn single(&self) -> Option<&Rational> {
        (self.lower == self.upper).then_some(&self.lower)
    }
}

/// The probabilities of all values of a row.
pub(crate) fn law<V>(
    argument: &str,
    stated: impl IntoIterator<Item = (V, impl Number)>,
) -> Result<Vec<(V, Rational)>, Error> {
    let read = |(place, (value, p)): (usize, (V, _))| {
        Ok((value, Number::exactly(p, &format!("{argument}[{place}]"))?))
    };
    let law: Vec<(V, Rational)> = stated.into_iter().enumerate().map(read).collect::<Result<_, Error>>()?;
    if law.len() < 2 {
        return Err(Error::argument(format!(
            "{argument}: at least two are required, as one alone hides nothing"
        )));
    }
    if let Some((place, (_, p))) = law.iter().enumerate().find(|(_, (_, p))| p.is_negative()) {
        return Err(Error::argument(format!("{argument}[{place}] = {}; none may be negative", p.shown())));
    }
    let total = law.iter().fold(Rational::from(0i64), |sum, (_, p)| sum.add(p));
    if total != Rational::from(1i64) {
        return Err(Error::argument(format!(
            "{argument} sum to {}; exactly one is required, as of texts such as \"0.1\" and \"1/3\"",
            total.shown()
        )));
    }
    Ok(law)
}

/// The rows that the reader does not know, the one in question among them.
pub(crate) fn unknown(rows: u64, known: u64) -> Result<u64, Error> {
    rows.checked_sub(known).filter(|&rest| rest > 0).ok_or_else(|| {
        Error::argument(format!(
            "known = {known} of {rows} rows; at most all but one may be known, since one is in question"
        ))
    })
}
