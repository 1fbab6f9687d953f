//! Doubles with an exponent of their own and a stated error.

/// A positive number `mantissa · 2^exponent` that errs by at most `error` relatively.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scaled {
    pub mantissa: f64,
    pub exponent: i64,
    pub error: f64,
}
