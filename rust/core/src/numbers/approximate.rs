//! Elementary functions of no stated accuracy: for proposals and estimates of work alone.
//!
//! Nothing that is certified may depend on what they give. Elsewhere in the crate `clippy.toml` forbids them, so that a number of unknown accuracy
//! cannot slip into a bound. Where a contour lies or a search starts decides the last bits of an enclosure all the same. So they are not those of the
//! platform, which differ from one to the next, but those of the crate `libm`, made of operations that give the same bits everywhere.
#![allow(clippy::disallowed_methods)]

/// About `ln x`.
pub(crate) fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// About `log2 x`.
pub(crate) fn log2(x: f64) -> f64 {
    libm::log2(x)
}

/// About `e^x`.
pub(crate) fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// About `x^y`.
pub(crate) fn power(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

/// About `sin x` and `cos x`.
pub(crate) fn sin_cos(x: f64) -> (f64, f64) {
    libm::sincos(x)
}

/// About the angle of the point `(x, y)`.
pub(crate) fn angle(y: f64, x: f64) -> f64 {
    libm::atan2(y, x)
}
