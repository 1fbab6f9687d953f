//! Probabilities of the binomial and the hypergeometric law, as certified balls.

mod binomial;
mod hypergeometric;
mod log_pmf;

pub use binomial::{
    Probability, binomial_log_pmf, binomial_log_probability, binomial_pmf, binomial_probability,
};
pub use hypergeometric::{Hypergeometric, hypergeometric_upper_tail};
