//! `statpriv._native`: the one door from Python into `statpriv-core`.

// Python's calling convention hands over owned arguments, and its protocol methods take `self`.
#![allow(clippy::needless_pass_by_value, clippy::unused_self)]

mod convert;
mod curve;
mod door;
mod enclosure;
mod errors;
mod laws;

use pyo3::prelude::*;

/// Certified enclosures of binomial laws and privacy curves.
#[pymodule]
#[pyo3(name = "_native")]
mod native {
    #[pymodule_export]
    use crate::convert::{fraction, integer};
    #[pymodule_export]
    use crate::curve::Curve;
    #[pymodule_export]
    use crate::enclosure::Enclosure;
    #[pymodule_export]
    use crate::laws::{
        binomial_log_pmf, binomial_pmf, binomial_upper_tail, gaussian_delta, hypergeometric_log_pmf,
        hypergeometric_pmf, hypergeometric_upper_tail,
    };
}
