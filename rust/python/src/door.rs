//! Execution of kernel work. Long work releases the interpreter lock, and many pieces are spread over all
//! cores. Signals are noticed, panics are caught, and errors are mapped to Python exceptions.

use crate::errors;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError};
use pyo3::prelude::*;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use statpriv_core::error::Error;
use statpriv_core::interrupt::Interrupt;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Work of more terms than this (about 50 µs) runs without the interpreter lock.
const LONG_WORK: f64 = 4096.0;
/// Interval between two checks for pending signals such as Ctrl-C.
const BETWEEN_CHECKS: Duration = Duration::from_millis(50);

/// Cancellation hook that asks the interpreter for pending signals, at most once every 50 ms.
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

/// Runs `work`. `terms` is its approximate cost in terms of a sum.
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

/// The value, or the Python error for what ended the work: a signal, a kernel error or a panic.
fn conclude<T>(py: Python<'_>, result: Result<Result<T, Error>, ()>, raised: Option<PyErr>) -> PyResult<T> {
    match (result, raised) {
        // A signal is raised even if the work was completed.
        (_, Some(signal)) => Err(signal),
        (Ok(Ok(value)), None) => Ok(value),
        (Ok(Err(error)), None) => Err(errors::from_kernel(py, &error)),
        (Err(()), None) => Err(panicked()),
    }
}

/// A batch of evaluations of the same kind.
pub struct Pieces {
    /// Number of evaluations.
    pub count: usize,
    /// Approximate cost of one evaluation, in terms of a sum.
    pub terms: f64,
    /// Run length if neighbouring evaluations share work, and 1 if they do not. It is fixed in advance, so
    /// that no result depends on the number of cores.
    pub together: usize,
}

/// Work of more terms than this (about 500 µs) is spread over all cores.
const WORK_OF_SEVERAL: f64 = 10.0 * LONG_WORK;
/// Runs per thread. With several runs each, the threads finish at about the same time.
const RUNS_PER_THREAD: usize = 8;

impl Pieces {
    /// The number of consecutive evaluations in a run. If evaluations share nothing, a run takes at least
    /// about 50 µs.
    fn run_length(&self, threads: usize) -> usize {
        if self.together > 1 {
            return self.together;
        }
        let least = (LONG_WORK / self.terms.max(1.0)) as usize;
        self.count.div_ceil(threads.saturating_mul(RUNS_PER_THREAD)).max(least).max(1)
    }
}

/// Evaluates all pieces. `work` gets the index of the first piece of a run and a slice for the values of the
/// run, filled with `initial`. If several runs fail, the first error in order is returned, so that the result
/// does not depend on the number of cores. While several cores work, `on_done` is told every 50 ms how many
/// pieces are done, and of how many.
pub fn spread<T: Clone + Send>(
    py: Python<'_>,
    pieces: &Pieces,
    initial: T,
    on_done: Option<Py<PyAny>>,
    work: impl Fn(usize, &mut [T], &dyn Interrupt) -> Result<(), Error> + Sync + Send,
) -> PyResult<Vec<T>> {
    let total = pieces.terms * pieces.count as f64;
    // Reserved as a test, since a failed allocation further down would abort the process.
    Vec::<T>::new().try_reserve_exact(pieces.count).map_err(|_| {
        PyMemoryError::new_err(format!("there is no room for an array of {} results", pieces.count))
    })?;
    let mut values = vec![initial; pieces.count];
    let pool = if total > WORK_OF_SEVERAL { pool() } else { None };
    let length = pieces.run_length(pool.map_or(1, ThreadPool::current_num_threads));
    if let Some(pool) = pool.filter(|pool| pool.current_num_threads() > 1) {
        let (result, raised) = py.detach(|| on_all_cores(pool, &mut values, length, on_done.as_ref(), &work));
        conclude(py, result, raised)?;
    } else {
        run(py, total, |interrupt| {
            let mut runs = values.chunks_mut(length).enumerate();
            runs.try_for_each(|(run, values)| work(run * length, values, interrupt))
        })?;
    }
    Ok(values)
}

/// Runs the pieces on the threads of the pool. The calling thread only waits: it alone may ask the
/// interpreter for signals, and it tells the other threads to stop.
fn on_all_cores<T: Send>(
    pool: &ThreadPool,
    values: &mut [T],
    length: usize,
    on_done: Option<&Py<PyAny>>,
    work: &(impl Fn(usize, &mut [T], &dyn Interrupt) -> Result<(), Error> + Sync),
) -> (Result<Result<(), Error>, ()>, Option<PyErr>) {
    let (stopped, (sender, receiver)) = (AtomicBool::new(false), mpsc::channel());
    let (done, count) = (AtomicUsize::new(0), values.len());
    pool.in_place_scope(|scope| {
        let (stopped, done) = (&stopped, &done);
        scope.spawn(move |_| {
            let one = |(run, values): (usize, &mut [T])| {
                let guarded = AssertUnwindSafe(|| work(run * length, values, &Stop(stopped)));
                let result = catch_unwind(guarded).map_err(|_| ());
                done.fetch_add(values.len(), Ordering::Relaxed);
                result
            };
            let results: Vec<_> = values.par_chunks_mut(length).enumerate().map(one).collect();
            let all = results.into_iter().collect::<Result<Vec<_>, ()>>();
            // The receiver outlives the scope, so sending cannot fail.
            let _ = sender.send(all.map(|results| results.into_iter().collect()));
        });
        let mut raised = None;
        loop {
            match receiver.recv_timeout(BETWEEN_CHECKS) {
                Ok(result) => return (result, raised),
                Err(RecvTimeoutError::Disconnected) => return (Err(()), raised),
                Err(RecvTimeoutError::Timeout) => {
                    let told = || told(on_done, done.load(Ordering::Relaxed), count);
                    if let Err(signal) = pending_signal().and_then(|()| told()) {
                        stopped.store(true, Ordering::Relaxed);
                        raised = Some(signal);
                    }
                }
            }
        }
    })
}

/// Tells the caller how far the work is; an exception in its code ends the work.
fn told(on_done: Option<&Py<PyAny>>, done: usize, of: usize) -> PyResult<()> {
    let Some(on_done) = on_done else { return Ok(()) };
    Python::attach(|py| on_done.call1(py, (done, of)).map(drop))
}

/// Runs work that is itself parallel, on the thread pool of this process and without the interpreter lock.
pub fn on_threads<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let guarded = || catch_unwind(AssertUnwindSafe(|| pool().map(|pool| pool.install(work))));
    match py.detach(guarded) {
        // A signal that arrived meanwhile is raised here. Otherwise it would be raised in the next Python
        // code that runs. Making the first array imports NumPy, and an exception in that Python code is a
        // panic.
        Ok(Some(value)) => py.check_signals().map(|()| value),
        Ok(None) => Err(PyRuntimeError::new_err("no thread can be started")),
        Err(_) => Err(panicked()),
    }
}

fn panicked() -> PyErr {
    PyRuntimeError::new_err("the kernel panicked: this is a bug in statpriv; please report it")
}

/// Cancellation hook of the worker threads. The calling thread sets the flag.
struct Stop<'a>(&'a AtomicBool);

impl Interrupt for Stop<'_> {
    fn check(&self) -> Result<(), Error> {
        if self.0.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// The thread pool of this process, or None if no thread can be started. A forked child has none of its
/// parent's threads, so it gets its own pool.
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
