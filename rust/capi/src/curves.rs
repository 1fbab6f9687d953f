//! Curves: how they are made, and what they are asked.

use crate::status::{Status, done, required, several, text, value, written};
use crate::{Curve, Ends, composition};
use statpriv::{Count, Error, ExactTable, Histogram, PrivacyCurve, Probability, Sum};
use std::ffi::{c_char, c_int, c_void};

/// Hand a curve over to the caller.
///
/// # Safety
/// As [`written`].
unsafe fn made(place: *mut *mut Curve, make: impl FnOnce() -> Result<PrivacyCurve, Error>) -> Status {
    // SAFETY: what this function's caller promises.
    unsafe { written(place, || Ok(Box::into_raw(Box::new(Curve(make()?))))) }
}

/// The exact count of a property that each of so many independent rows has with probability p.
///
/// The reader knows `known` of the other rows. p is a number from 0 to 1, such as "0.3" or "1/3".
///
/// # Safety
/// `p` ends with a NUL; `curve` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn statpriv_count(
    rows: u64,
    p: *const c_char,
    known: u64,
    curve: *mut *mut Curve,
) -> Status {
    // SAFETY: what this function's caller promises.
    unsafe { made(curve, || Count::new(rows, text(p, "p")?)?.known(known).curve()) }
}

/// The same for a probability that may lie anywhere between two numbers: δ is the supremum over the range.
///
/// # Safety
/// `lower` and `upper` end with a NUL; `curve` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn statpriv_count_in_range(
    rows: u64,
    lower: *const c_char,
    upper: *const c_char,
    known: u64,
    curve: *mut *mut Curve,
) -> Status {
    // SAFETY: what this function's caller promises.
    unsafe {
        made(curve, || {
            let p = Probability::between(text(lower, "lower")?, text(upper, "upper")?)?;
            Count::of(rows, p).known(known).curve()
        })
    }
}

/// The exact numbers of rows in each of several cells, whose probabilities sum to one.
///
/// # Safety
/// `cells` points to so many texts, each of which ends with a NUL; `curve` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn statpriv_histogram(
    rows: u64,
    cells: *const *const c_char,
    number_of_cells: usize,
    known: u64,
    curve: *mut *mut Curve,
) -> Status {
    // SAFETY: what this function's caller promises.
    unsafe {
        made(curve, || Histogram::new(rows, texts(cells, number_of_cells, "cells")?)?.known(known).curve())
    }
}

/// The exact sum of whole numbers, one a row. `values` are different, and `probabilities`, in their order, sum to one.
///
/// # Safety
/// `values` points to so many numbers and `probabilities` to so many texts, each of which ends with a NUL; `curve` may be
/// written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn statpriv_sum(
    rows: u64,
    values: *const i64,
    probabilities: *const *const c_char,
    number_of_values: usize,
    known: u64,
    curve: *mut *mut Curve,
) -> Status {
    // SAFETY: what this function's caller promises.
    unsafe {
        made(curve, || {
            let stated = several(values, number_of_values, "values")?.iter().copied();
            let probabilities = texts(probabilities, number_of_values, "probabilities")?;
            Sum::new(rows, stated.zip(probabilities))?.known(known).curve()
        })
    }
}

/// An exact table that is published only if every cell holds at least `minimum` rows, for every distribution, every number of rows
/// and every number of cells.
///
/// # Safety
/// `curve` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn statpriv_table(minimum: u64, known: u64, curve: *mut *mut Curve) -> Status {
    // SAFETY: what this function's caller promises.
    unsafe { made(curve, || ExactTable::new(minimum).known(known).curve()) }
}

/// The supremum of δ over all such tables, for a minimum up to 1000; `statpriv_table` gives a bound of it.
///
/// # Safety
/// `curve` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn statpriv_table_supremum(minimum: u64, known: u64, curve: *mut *mut Curve) -> Status {
    // SAFETY: what this function's caller promises.
    unsafe { made(curve, || ExactTable::new(minimum).known(known).supremum()) }
}

/// Several exact answers, each on its part of a secret partition, described as a composition file in JSON:
///
/// {"population": 3000, "part": [{"size": 1000, "probability": "0.3", "attribute": "smokes"},
///                               {"size": 1500, "cells": ["0.5", "0.3", "0.2"]}]}
///
/// A part states "probability" (a number, or a range of two), "cells", or "query": {"kind": "sum", "values": [[0, "0.5"], [1, "0.5"]]};
/// "size"; optionally "attribute", "count" (so many such parts) and "name".
///
/// # Safety
/// `json` ends with a NUL; `curve` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn statpriv_composition(json: *const c_char, curve: *mut *mut Curve) -> Status {
    // SAFETY: what this function's caller promises.
    unsafe { made(curve, || composition::read(text(json, "json")?)?.curve()) }
}

/// The same curve, whose computations end with STATPRIV_STATUS_INTERRUPTED soon after `ended` returns something other than 0. It is called with
/// `context` by the thread that asks the curve, every few thousand terms.
///
/// # Safety
/// `curve` was made by this library; `ended` may be called from any thread with `context` as long as the new curve lives; `watched` may be
/// written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn statpriv_ended_by(
    curve: *const Curve,
    ended: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
    context: *mut c_void,
    watched: *mut *mut Curve,
) -> Status {
    struct Context(*mut c_void);
    // SAFETY: the caller promises that `ended` may be called from any thread with it, and nothing else is done with it.
    unsafe impl Send for Context {}
    // SAFETY: as above.
    unsafe impl Sync for Context {}
    impl Context {
        fn pointer(&self) -> *mut c_void {
            self.0
        }
    }
    let context = Context(context);
    // SAFETY: what this function's caller promises.
    unsafe {
        made(watched, || {
            let ended = ended.ok_or_else(|| Error::argument("ended is NULL; a function is required"))?;
            let curve = value(curve, "curve")?.0.clone();
            Ok(curve.ended_by(move || ended(context.pointer()) != 0))
        })
    }
}

/// Free a curve. NULL is allowed.
///
/// # Safety
/// The curve was made by this library, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn statpriv_curve_free(curve: *mut Curve) {
    if !curve.is_null() {
        // SAFETY: the caller promises that `made` gave this pointer, and that it is not used again.
        drop(unsafe { Box::from_raw(curve) });
    }
}

/// δ at an ε of either sign, in nats, such as "0.1".
///
/// # Safety
/// `curve` was made by this library; `epsilon` ends with a NUL; `delta` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn statpriv_delta(
    curve: *const Curve,
    epsilon: *const c_char,
    delta: *mut Ends,
) -> Status {
    // SAFETY: what this function's caller promises.
    unsafe { written(delta, || Ok(value(curve, "curve")?.0.delta(text(epsilon, "epsilon")?)?.into())) }
}

/// δ at many ε, which share work. Each ε is the number that its double stores. Nothing is written unless all are computed.
///
/// # Safety
/// `curve` was made by this library; `epsilons` points to so many numbers, and so many ends may be written to `deltas`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn statpriv_deltas(
    curve: *const Curve,
    epsilons: *const f64,
    number: usize,
    deltas: *mut Ends,
) -> Status {
    // SAFETY: what this function's caller promises.
    done(|| unsafe {
        let epsilons = several(epsilons, number, "epsilons")?;
        if number > 0 {
            required(deltas)?;
        }
        for (place, delta) in value(curve, "curve")?.0.deltas(epsilons)?.into_iter().enumerate() {
            deltas.add(place).write(delta.into());
        }
        Ok(())
    })
}

/// The least ε ≥ 0, in nats, with which the answer is (ε, δ)-statistically private; infinite if there is none.
///
/// # Safety
/// `curve` was made by this library; `delta` ends with a NUL; `epsilon` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn statpriv_epsilon(
    curve: *const Curve,
    delta: *const c_char,
    epsilon: *mut Ends,
) -> Status {
    // SAFETY: what this function's caller promises.
    unsafe { written(epsilon, || Ok(value(curve, "curve")?.0.epsilon(text(delta, "delta")?)?.into())) }
}

/// The least type II error β of all tests between two values of a row with type I error α, from 0 to 1.
///
/// # Safety
/// `curve` was made by this library; `alpha` ends with a NUL; `beta` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn statpriv_beta(curve: *const Curve, alpha: *const c_char, beta: *mut Ends) -> Status {
    // SAFETY: what this function's caller promises.
    unsafe { written(beta, || Ok(value(curve, "curve")?.0.beta(text(alpha, "alpha")?)?.into())) }
}

/// δ to so many significant digits, as two decimal texts with the truth between them, by big integers. A capacity of twice the
/// digits and 40 is always enough. Suprema of tables and ranges in compositions have no digits: STATPRIV_STATUS_PRECISION.
///
/// # Safety
/// `curve` was made by this library; `epsilon` ends with a NUL; `capacity` bytes may be written to each of `lower` and `upper`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn statpriv_delta_digits(
    curve: *const Curve,
    epsilon: *const c_char,
    digits: u32,
    lower: *mut c_char,
    upper: *mut c_char,
    capacity: usize,
) -> Status {
    // SAFETY: what this function's caller promises.
    done(|| unsafe {
        for (place, argument) in [(lower, "lower"), (upper, "upper")] {
            if place.is_null() {
                return Err(Error::argument(format!("{argument} is NULL")));
            }
        }
        let found = value(curve, "curve")?.0.delta_to_digits(text(epsilon, "epsilon")?, digits)?;
        let longest = found.lower.len().max(found.upper.len());
        if longest >= capacity {
            return Err(Error::argument(format!(
                "capacity = {capacity}; {} bytes are required for each end",
                longest + 1
            )));
        }
        for (end, place) in [(found.lower, lower), (found.upper, upper)] {
            place.copy_from_nonoverlapping(end.as_ptr().cast(), end.len());
            place.add(end.len()).write(0);
        }
        Ok(())
    })
}

/// The least minimum count of every cell with which an exact table is (ε, δ)-statistically private; 0 if none up to 2^52 is
/// enough.
///
/// # Safety
/// `epsilon` and `delta` end with a NUL; `minimum` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn statpriv_least_minimum(
    epsilon: *const c_char,
    delta: *const c_char,
    known: u64,
    minimum: *mut u64,
) -> Status {
    // SAFETY: what this function's caller promises.
    unsafe {
        written(minimum, || {
            let found = ExactTable::least_minimum(text(epsilon, "epsilon")?, text(delta, "delta")?, known)?;
            Ok(found.unwrap_or(0))
        })
    }
}

/// So many texts of the caller.
///
/// # Safety
/// As [`several`], and each of them as [`text`].
unsafe fn texts<'a>(
    first: *const *const c_char,
    number: usize,
    argument: &str,
) -> Result<Vec<&'a str>, Error> {
    // SAFETY: what this function's caller promises.
    unsafe { several(first, number, argument)?.iter().map(|&each| text(each, argument)).collect() }
}
