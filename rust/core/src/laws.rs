//! Probabilities of the binomial and the hypergeometric law, as certified balls.

mod binomial;
mod hypergeometric;
mod poisson_binomial;

pub use binomial::{Probability, binomial_log_probability, binomial_probability, binomial_upper_tail};
pub use hypergeometric::{Hypergeometric, hypergeometric_upper_tail};
pub use poisson_binomial::PoissonBinomial;
