//! How kernel work is run: lock released if it is long, on all cores if it is many pieces, signals noticed, panics
//! caught, errors mapped.

use crate::errors;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError};
use pyo3::prelude::*;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use statpriv_core::error::Error;
use statpriv_core::interrupt::Interrupt;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
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
        pending_signal().map_err(|error| {
            *self.raised.borrow_mut() = Some(error);
            Error::Interrupted
        })
    }
}

fn pending_signal() -> PyResult<()> {
    Python::attach(|py| {
        let checked: PyResult<()> = py.check_signals();
        checked
    })
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
    conclude(py, result, raised)
}

/// The value, or the Python error of what ended the work: a signal, an error of the kernel, a panic.
fn conclude<T>(py: Python<'_>, result: Result<Result<T, Error>, ()>, raised: Option<PyErr>) -> PyResult<T> {
    match (result, raised) {
        // Also where the work came to its end in spite of it.
        (_, Some(signal)) => Err(signal),
        (Ok(Ok(value)), None) => Ok(value),
        (Ok(Err(error)), None) => Err(errors::from_kernel(py, &error)),
        (Err(()), None) => Err(panicked()),
    }
}

/// Many evaluations of one kind.
pub struct Pieces {
    /// How many.
    pub count: usize,
    /// About how many terms of a sum each of them costs.
    pub terms: f64,
    /// The length of the runs they are done in where neighbours share work, so that no result depends on how many
    /// cores there are; 1 where they do not.
    pub together: usize,
}

/// Work above this many terms, some 500 µs, is spread over all cores.
const WORK_OF_SEVERAL: f64 = 10.0 * LONG_WORK;
/// Runs of pieces per thread, so that the threads end at about the same time.
const RUNS_PER_THREAD: usize = 8;

impl Pieces {
    /// The length of the consecutive runs they are done in; of pieces that share nothing each takes some 50 µs at
    /// least.
    fn run_length(&self, threads: usize) -> usize {
        if self.together > 1 {
            return self.together;
        }
        let least = (LONG_WORK / self.terms.max(1.0)) as usize;
        self.count.div_ceil(threads.saturating_mul(RUNS_PER_THREAD)).max(least).max(1)
    }
}

/// The values that `work` writes over `initial` for the run of pieces that begins where it is told. Of several errors
/// the first counts, so that the result does not depend on how many cores there are.
pub fn spread<T: Clone + Send>(
    py: Python<'_>,
    pieces: &Pieces,
    initial: T,
    work: impl Fn(usize, &mut [T], &dyn Interrupt) -> Result<(), Error> + Sync + Send,
) -> PyResult<Vec<T>> {
    let total = pieces.terms * pieces.count as f64;
    // Asked for first, since an allocation that fails later ends the process.
    Vec::<T>::new().try_reserve_exact(pieces.count).map_err(|_| {
        PyMemoryError::new_err(format!("there is no room for an array of {} results", pieces.count))
    })?;
    let mut values = vec![initial; pieces.count];
    let pool = if total > WORK_OF_SEVERAL { pool() } else { None };
    let length = pieces.run_length(pool.map_or(1, ThreadPool::current_num_threads));
    if let Some(pool) = pool.filter(|pool| pool.current_num_threads() > 1) {
        let (result, raised) = py.detach(|| on_all_cores(pool, &mut values, length, &work));
        conclude(py, result, raised)?;
    } else {
        run(py, total, |interrupt| {
            let mut runs = values.chunks_mut(length).enumerate();
            runs.try_for_each(|(run, values)| work(run * length, values, interrupt))
        })?;
    }
    Ok(values)
}

/// The calling thread only waits: it alone may ask the interpreter for signals, and tells the others to stop.
fn on_all_cores<T: Send>(
    pool: &ThreadPool,
    values: &mut [T],
    length: usize,
    work: &(impl Fn(usize, &mut [T], &dyn Interrupt) -> Result<(), Error> + Sync),
) -> (Result<Result<(), Error>, ()>, Option<PyErr>) {
    let (stopped, (sender, receiver)) = (AtomicBool::new(false), mpsc::channel());
    pool.in_place_scope(|scope| {
        let stopped = &stopped;
        scope.spawn(move |_| {
            let one = |(run, values): (usize, &mut [T])| {
                let guarded = AssertUnwindSafe(|| work(run * length, values, &Stop(stopped)));
                catch_unwind(guarded).map_err(|_| ())
            };
            let done: Vec<_> = values.par_chunks_mut(length).enumerate().map(one).collect();
            let all = done.into_iter().collect::<Result<Vec<_>, ()>>();
            // The receiver outlives the scope.
            let _ = sender.send(all.map(|results| results.into_iter().collect()));
        });
        let mut raised = None;
        loop {
            match receiver.recv_timeout(BETWEEN_CHECKS) {
                Ok(result) => return (result, raised),
                Err(RecvTimeoutError::Disconnected) => return (Err(()), raised),
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(signal) = pending_signal() {
                        stopped.store(true, Ordering::Relaxed);
                        raised = Some(signal);
                    }
                }
            }
        }
    })
}

/// Runs work that is spread over threads by itself, without the interpreter lock and on the threads of this process.
pub fn on_threads<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let guarded = || catch_unwind(AssertUnwindSafe(|| pool().map(|pool| pool.install(work))));
    match py.detach(guarded) {
        // A signal that came meanwhile is told here. Whatever Python code runs next would meet it, and the first array
        // that is made looks for NumPy in Python code whose errors are a panic.
        Ok(Some(value)) => py.check_signals().map(|()| value),
        Ok(None) => Err(PyRuntimeError::new_err("no thread can be started")),
        Err(_) => Err(panicked()),
    }
}

fn panicked() -> PyErr {
    PyRuntimeError::new_err("the kernel panicked: this is a bug in statpriv; please report it")
}

/// Stops when the calling thread says so.
struct Stop<'a>(&'a AtomicBool);

impl Interrupt for Stop<'_> {
    fn check(&self) -> Result<(), Error> {
        if self.0.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// The threads of this process; nothing where none can be started. A forked child has none of its parent's, so it
/// gets its own.
fn pool() -> Option<&'static ThreadPool> {
    static POOL: Mutex<Option<(u32, &'static ThreadPool)>> = Mutex::new(None);
    let process = std::process::id();
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    match *pool {
        Some((owner, threads)) if owner == process => Some(threads),
        _ => {
            let threads = ThreadPoolBuilder::new().thread_name(|i| format!("statpriv-{i}")).build().ok()?;
            let threads: &'static ThreadPool = Box::leak(Box::new(threads));
            *pool = Some((process, threads));
            Some(threads)
        }
    }
}
