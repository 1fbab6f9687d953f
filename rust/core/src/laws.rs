//! Probabilities of the binomial and the hypergeometric law: single ones, rows and tails, as enclosures and as balls.

mod binomial;
mod hypergeometric;
mod log_pmf;
mod poisson_binomial;
mod recurrence;

pub(crate) use binomial::first_term;
pub use binomial::{
    Probability, binomial_log_pmf, binomial_log_probability, binomial_lower_tail, binomial_pmf,
    binomial_pmf_row, binomial_probability, binomial_upper_tail,
};
pub use hypergeometric::{
    Hypergeometric, hypergeometric_lower_tail, hypergeometric_pmf_row, hypergeometric_upper_tail,
};
pub use poisson_binomial::PoissonBinomial;
pub use recurrence::row_length;
