//! Probabilities of single numbers, and the distance of two laws.

use crate::Ends;
use crate::status::{Status, several, text, written};
use statpriv::laws::{Binomial, Hypergeometric};
use statpriv::{Enclosure, Error};
use std::ffi::c_char;

/// P[X = k] of the number X of hits in n independent trials with probability p.
///
/// # Safety
/// `p` ends with a NUL; `probability` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn statpriv_binomial_pmf(
    k: u64,
    n: u64,
    p: *const c_char,
    probability: *mut Ends,
) -> Status {
    // SAFETY: what this function's caller promises.
    unsafe { of_binomial(n, p, probability, |law| Ok(law.pmf(k))) }
}

/// P[X >= k] of the same number.
///
/// # Safety
/// As statpriv_binomial_pmf.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn statpriv_binomial_upper_tail(
    k: u64,
    n: u64,
    p: *const c_char,
    probability: *mut Ends,
) -> Status {
    // SAFETY: what this function's caller promises.
    unsafe { of_binomial(n, p, probability, |law| law.upper_tail(k)) }
}

/// P[X <= k] of the same number.
///
/// # Safety
/// As statpriv_binomial_pmf.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn statpriv_binomial_lower_tail(
    k: u64,
    n: u64,
    p: *const c_char,
    probability: *mut Ends,
) -> Status {
    // SAFETY: what this function's caller promises.
    unsafe { of_binomial(n, p, probability, |law| law.lower_tail(k)) }
}

/// What is asked of a binomial law.
///
/// # Safety
/// As [`statpriv_binomial_pmf`].
unsafe fn of_binomial(
    n: u64,
    p: *const c_char,
    probability: *mut Ends,
    ask: impl FnOnce(&Binomial) -> Result<Enclosure, Error>,
) -> Status {
    // SAFETY: what this function's caller promises.
    unsafe { written(probability, || Ok(ask(&Binomial::new(n, text(p, "p")?)?)?.into())) }
}

/// P[X = k] of the number X of marked ones among `draws` of a population, drawn without replacement.
///
/// # Safety
/// `probability` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn statpriv_hypergeometric_pmf(
    k: u64,
    population: u64,
    marked: u64,
    draws: u64,
    probability: *mut Ends,
) -> Status {
    // SAFETY: what this function's caller promises.
    unsafe { written(probability, || Ok(Hypergeometric::new(population, marked, draws)?.pmf(k).into())) }
}

/// P[X >= k] of the same number.
///
/// # Safety
/// `probability` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn statpriv_hypergeometric_upper_tail(
    k: u64,
    population: u64,
    marked: u64,
    draws: u64,
    probability: *mut Ends,
) -> Status {
    // SAFETY: what this function's caller promises.
    unsafe {
        written(probability, || Ok(Hypergeometric::new(population, marked, draws)?.upper_tail(k)?.into()))
    }
}

/// The hockey-stick divergence, the sum of (P(a) − e^ε Q(a))_+ over the answers a, of two laws in doubles. Each is divided by its exact
/// sum, which may differ from one as much as rounding explains.
///
/// # Safety
/// `p` and `q` point to so many numbers; `epsilon` ends with a NUL; `delta` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn statpriv_hockey_stick(
    p: *const f64,
    q: *const f64,
    number: usize,
    epsilon: *const c_char,
    delta: *mut Ends,
) -> Status {
    // SAFETY: what this function's caller promises.
    unsafe {
        written(delta, || {
            let (p, q) = (several(p, number, "p")?, several(q, number, "q")?);
            Ok(statpriv::hockey_stick(p, q, text(epsilon, "epsilon")?)?.into())
        })
    }
}
