//! Elementary functions of the platform, of no stated accuracy: for proposals and estimates of work alone.
//!
//! Nothing that is certified may depend on what they give. Elsewhere in the crate `clippy.toml` forbids them, so that a number of unknown accuracy
//! cannot slip into a bound.
#![allow(clippy::disallowed_methods)]

/// About `ln x`.
pub(crate) fn ln(x: f64) -> f64 {
    x.ln()
}

/// About `log2 x`.
pub(crate) fn log2(x: f64) -> f64 {
    x.log2()
}

/// About `e^x`.
pub(crate) fn exp(x: f64) -> f64 {
    x.exp()
}

/// About `x^y`.
pub(crate) fn power(x: f64, y: f64) -> f64 {
    x.powf(y)
}

/// About `sin x` and `cos x`.
pub(crate) fn sin_cos(x: f64) -> (f64, f64) {
    x.sin_cos()
}

/// About the angle of the point `(x, y)`.
pub(crate) fn angle(y: f64, x: f64) -> f64 {
    y.atan2(x)
}
