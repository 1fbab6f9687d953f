//! `statpriv._native`: the only interface from Python to `statpriv-core` and `statpriv-release`.

// Functions called from Python take owned arguments, and protocol methods take `self`.
#![allow(clippy::needless_pass_by_value, clippy::unused_self)]
// Doubles are cast to integers only after a check that they are integers. Work estimates are doubles.
#![allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss)]

mod answer;
mod arrays;
mod convert;
mod curve;
mod digits;
mod digits_enclosure;
mod divergence;
mod door;
mod enclosure;
mod errors;
mod exact;
mod laws;
mod partition;
mod poisson_binomial;
mod release;
mod stream;

use pyo3::prelude::*;

/// Certified enclosures of binomial laws and privacy curves.
#[pymodule]
#[pyo3(name = "_native")]
mod native {
    #[pymodule_export]
    use crate::answer::Law;
    #[pymodule_export]
    use crate::arrays::{
        binomial_array, binomial_pmf_row, combined_arrays, delta_array, delta_at_sizes, epsilon_array,
        hypergeometric_array, hypergeometric_pmf_row, rough_delta_array, width_array,
    };
    #[pymodule_export]
    use crate::convert::{fraction, integer};
    #[pymodule_export]
    use crate::curve::{Curve, Part};
    #[pymodule_export]
    use crate::digits::{
        binomial_digits, delta_digits, epsilon_digits, hypergeometric_digits, log_delta_digits,
        mass_at_infinity_digits, poisson_binomial_digits,
    };
    #[pymodule_export]
    use crate::digits_enclosure::DigitsEnclosure;
    #[pymodule_export]
    use crate::divergence::{EnclosedPair, FinitePair, NormalisedEnclosure};
    #[pymodule_export]
    use crate::enclosure::Enclosure;
    #[pymodule_export]
    use crate::exact::{alpha, beta, exact_delta, exact_terms, log_delta};
    #[pymodule_export]
    use crate::laws::{
        binomial_log_pmf, binomial_lower_tail, binomial_pmf, binomial_upper_tail, gaussian_delta,
        hypergeometric_log_pmf, hypergeometric_lower_tail, hypergeometric_pmf, hypergeometric_upper_tail,
    };
    #[pymodule_export]
    use crate::partition::Partition;
    #[pymodule_export]
    use crate::poisson_binomial::poisson_binomial_pmf;
    #[pymodule_export]
    use crate::release::{RowIdsError, RowTokens, digest_fingerprints, stream_fingerprints, stream_tally};
    #[pymodule_export]
    use crate::stream::StreamError;
}
