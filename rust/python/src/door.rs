//! How kernel work is run: lock released if it is long, signals noticed, panics caught, errors mapped.

use crate::errors;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use statpriv_core::error::Error;
use statpriv_core::interrupt::Interrupt;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Work above this many terms, some 50 µs, runs without the interpreter lock.
const LONG_WORK: f64 = 4096.0;
/// How often Ctrl-C is looked for.
const BETWEEN_CHECKS: Duration = Duration::from_millis(50);

/// Asks the interpreter whether a signal is pending, at most every 50 ms.
struct Signals {
    last: Cell<Instant>,
    raised: RefCell<Option<PyErr>>,
}

impl Interrupt for Signals {
    fn check(&self) -> Result<(), Error> {
        if self.last.get().elapsed() < BETWEEN_CHECKS {
            return Ok(());
        }
        self.last.set(Instant::now());
        let pending = Python::attach(|py| {
            let checked: PyResult<()> = py.check_signals();
            checked
        });
        pending.map_err(|error| {
            *self.raised.borrow_mut() = Some(error);
            Error::Interrupted
        })
    }
}

/// Runs `work`, which costs about `terms` terms of a sum.
pub fn run<T: Send>(
    py: Python<'_>,
    terms: f64,
    work: impl FnOnce(&dyn Interrupt) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let guarded = || {
        let signals = Signals { last: Cell::new(Instant::now()), raised: RefCell::new(None) };
        let result = catch_unwind(AssertUnwindSafe(|| work(&signals)));
        (result.map_err(|_| ()), signals.raised.into_inner())
    };
    let (result, raised) = if terms > LONG_WORK { py.detach(guarded) } else { guarded() };
    match (result, raised) {
        (Ok(Ok(value)), _) => Ok(value),
        (_, Some(signal)) => Err(signal),
        (Ok(Err(error)), None) => Err(errors::from_kernel(py, &error)),
        (Err(()), None) => {
            Err(PyRuntimeError::new_err("the kernel panicked: this is a bug in statpriv; please report it"))
        }
    }
}
