//! Probabilities of the binomial and the hypergeometric law: single ones, rows and tails, as enclosures and as balls.

mod binomial;
mod binomial_tails;
pub(crate) mod fast;
mod hypergeometric;
mod log_pmf;
pub(crate) mod normal;
pub(crate) mod pmf;
mod recurrence;

pub(crate) use binomial::first_term;
pub use binomial::{
    Probability, binomial_log_pmf, binomial_log_probability, binomial_pmf, binomial_pmf_row,
    binomial_probability,
};
pub(crate) use binomial_tails::binomial_upper_tail_ball;
pub use binomial_tails::{binomial_lower_tail, binomial_upper_tail};
pub use hypergeometric::{
    Hypergeometric, hypergeometric_lower_tail, hypergeometric_pmf_row, hypergeometric_upper_tail,
};
pub use recurrence::row_length;
