//! What a release does once for every row: see `statpriv-release`.

use crate::door;
use crate::errors;
use crate::stream::{self, StreamError, Texts};
use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use numpy::{PyArray1, PyReadonlyArray1, PyReadwriteArray1};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use statpriv_release::fingerprint::Fingerprint;
use statpriv_release::keyed::KEY;
use statpriv_release::shuffle;
use statpriv_release::tally::Tally;
use statpriv_release::text::Cell;
use statpriv_release::token::{Misfit, Tokens};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes of a digest that a server takes of a row.
const DIGEST: usize = 32;

/// Texts that are taken from an iterable before they are hashed.
const TOGETHER: usize = 1 << 16;

/// How often somebody who waits is told how many rows were read, and Ctrl-C is looked for.
const BETWEEN_REPORTS: Duration = Duration::from_millis(100);

/// Batches that an engine may be ahead.
const AHEAD: usize = 1;

/// Exchange labels with those at positions that were drawn, from `last` downwards.
#[pyfunction]
#[pyo3(signature = (labels, last, chosen, /))]
pub fn exchange(
    py: Python<'_>,
    mut labels: PyReadwriteArray1<'_, u32>,
    last: usize,
    chosen: PyReadonlyArray1<'_, u64>,
) -> PyResult<()> {
    let (labels, chosen) = (labels.as_slice_mut()?, chosen.as_slice()?);
    shuffle::exchange(labels, last, chosen).map_err(|position| {
        errors::argument(py, format!("chosen holds {position}, which is no position to exchange with"))
    })
}

create_exception!(
    statpriv._native,
    RowIdsError,
    PyException,
    "Ids do not identify rows. The message is the reason in a word or two, and quotes no id."
);

/// The keyed tokens of the ids of all rows: ascending, with the row of each. The ids themselves are not kept.
#[pyclass(frozen, module = "statpriv._native")]
pub struct RowTokens {
    /// 16 bytes after 16 bytes.
    #[pyo3(get)]
    tokens: Py<PyArray1<u8>>,
    #[pyo3(get)]
    rows: Py<PyArray1<u32>>,
}

#[pymethods]
impl RowTokens {
    /// Of the ids that an iterable gives, texts or None.
    #[staticmethod]
    #[pyo3(signature = (key, texts, /))]
    fn of(key: &[u8], texts: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = texts.py();
        let mut tokens = Tokens::new(secret(py, key)?);
        let mut texts = texts.try_iter()?;
        loop {
            let some = texts.by_ref().take(TOGETHER).map(|text| text?.extract::<Option<String>>());
            let some = some.collect::<PyResult<Vec<_>>>()?;
            if some.is_empty() {
                return Self::ascending(py, tokens);
            }
            let id = |row: usize| some[row].as_ref().map(String::as_bytes).into();
            door::on_threads(py, || tokens.extend(some.len(), id))?.map_err(refusal)?;
        }
    }

    /// Of the ids in the one column of an Arrow stream.
    #[staticmethod]
    #[pyo3(signature = (key, stream, /, on_rows = None))]
    fn of_stream(
        key: &[u8],
        stream: &Bound<'_, PyAny>,
        on_rows: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let mut tokens = Tokens::new(secret(stream.py(), key)?);
        for_each_batch(stream, on_rows, |batch| {
            let columns = Texts::of_all(batch.columns())?;
            let [column] = &columns[..] else { return Err(format!("{} columns of ids", columns.len())) };
            Ok(tokens.extend(batch.num_rows(), |row| column.cell(row)).map_err(refusal))
        })?;
        Self::ascending(stream.py(), tokens)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.rows.bind(py).len()
    }
}

impl RowTokens {
    fn ascending(py: Python<'_>, tokens: Tokens) -> PyResult<Self> {
        let (tokens, rows) = door::on_threads(py, || tokens.ascending())?.map_err(refusal)?;
        let tokens = PyArray1::from_vec(py, tokens.into_flattened()).unbind();
        Ok(Self { tokens, rows: PyArray1::from_vec(py, rows).unbind() })
    }
}

/// Why ids identify nobody.
fn refusal(misfit: Misfit) -> PyErr {
    RowIdsError::new_err(match misfit {
        Misfit::Missing => "missing",
        Misfit::Empty => "empty",
        Misfit::NoText => "no text",
        Misfit::Repeated => "repeated",
        Misfit::TooMany => "too many",
    })
}

/// The number of rows, and their fingerprints in their order and in any.
type Written<'py> = (u64, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// The number of rows of an Arrow stream, and the keyed fingerprints of the rows in their order and in any.
/// The first column is the position of the row, which is checked to count from 0; the others are the texts of
/// its cells. With `selected` the same follows of the rows that it marks.
#[pyfunction]
#[pyo3(signature = (key, stream, /, on_rows = None, selected = None))]
pub fn stream_fingerprints<'py>(
    key: &[u8],
    stream: &Bound<'py, PyAny>,
    on_rows: Option<&Bound<'py, PyAny>>,
    selected: Option<PyReadonlyArray1<'py, bool>>,
) -> PyResult<(Written<'py>, Option<Written<'py>>)> {
    let py = stream.py();
    let key = secret(py, key)?;
    let mut all = Fingerprint::new(key);
    let mut some = match &selected {
        Some(marks) => Some((Fingerprint::new(key), marks.as_slice()?)),
        None => None,
    };
    let mut rows = 0;
    for_each_batch(stream, on_rows, |batch| {
        let [position, cells @ ..] = batch.columns() else {
            return Err("no column of positions".to_string());
        };
        stream::check_positions(position, rows)?;
        let columns = Texts::of_all(cells)?;
        let cell = |row: usize, column: usize| columns[column].cell(row);
        let next = rows + batch.num_rows();
        all.update(batch.num_rows(), columns.len(), cell);
        if let Some((some, marks)) = &mut some {
            let marks = marks.get(rows..next).ok_or("more rows came than there are marks")?;
            let marked: Vec<usize> = (0..marks.len()).filter(|row| marks[*row]).collect();
            some.update(marked.len(), columns.len(), |row, column| cell(marked[row], column));
        }
        rows = next;
        Ok(Ok(()))
    })?;
    Ok((written(py, &all), some.map(|(some, _)| written(py, &some))))
}

/// The same of rows whose digests were taken elsewhere, each a row of one cell: 32 bytes after 32 bytes.
#[pyfunction]
#[pyo3(signature = (key, digests, /))]
pub fn digest_fingerprints<'py>(py: Python<'py>, key: &[u8], digests: &[u8]) -> PyResult<Written<'py>> {
    let (digests, rest) = digests.as_chunks::<DIGEST>();
    if !rest.is_empty() {
        return Err(errors::argument(py, format!("digests has {} bytes too many", rest.len())));
    }
    let mut all = Fingerprint::new(secret(py, key)?);
    door::on_threads(py, || all.update(digests.len(), 1, |row, _| Cell::Text(&digests[row])))?;
    Ok(written(py, &all))
}

fn written<'py>(py: Python<'py>, all: &Fingerprint) -> Written<'py> {
    let (ordered, unordered) = all.finish();
    (all.rows(), PyBytes::new(py, &ordered), PyBytes::new(py, &unordered))
}

fn secret<'a>(py: Python<'_>, key: &'a [u8]) -> PyResult<&'a [u8; KEY]> {
    key.try_into()
        .map_err(|_| errors::argument(py, format!("the key has {} bytes, and needs {KEY}", key.len())))
}

/// The counts of each part, cell after cell and part after part, of an Arrow stream of rows: the position,
/// which is checked to count from 0, and for each question the number of the cell. `labels` has the part of
/// each row, from 1, and 0 where none uses it; part `k` is asked question `questions[k - 1]`, or none, and no
/// question has more than `cells` cells.
#[pyfunction]
#[pyo3(signature = (stream, labels, questions, cells, /, on_rows = None))]
#[expect(clippy::needless_pass_by_value, reason = "the wrapper hands it over")]
pub fn stream_tally<'py>(
    stream: &Bound<'py, PyAny>,
    labels: PyReadonlyArray1<'py, u32>,
    questions: Vec<Option<usize>>,
    cells: usize,
    on_rows: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let labels = labels.as_slice()?;
    let mut tally = Tally::new(questions, cells);
    let mut rows = 0;
    for_each_batch(stream, on_rows, |batch| {
        let [position, answers @ ..] = batch.columns() else {
            return Err("no column of positions".to_string());
        };
        stream::check_positions(position, rows)?;
        let answers = answers.iter().map(stream::small_numbers).collect::<Result<Vec<_>, _>>()?;
        let next = rows + batch.num_rows();
        let labels = labels.get(rows..next).ok_or("more rows came than there are labels")?;
        tally.count(labels, &answers).map_err(|_| "a part or a cell is none of those announced")?;
        rows = next;
        Ok(Ok(()))
    })?;
    if rows < labels.len() {
        return Err(StreamError::new_err("fewer rows came than there are labels"));
    }
    Ok(PyArray1::from_vec(stream.py(), tally.finish()))
}

/// Takes in every batch of a stream without the interpreter lock, which the engine behind it may need, while that makes
/// the next one; Ctrl-C ends it, and `on_rows` is told now and then how many rows there were. What `take` refuses ends
/// it too; a text is a surprise of the format.
fn for_each_batch(
    source: &Bound<'_, PyAny>,
    on_rows: Option<&Bound<'_, PyAny>>,
    take: impl FnMut(&RecordBatch) -> Result<PyResult<()>, String> + Send,
) -> PyResult<()> {
    let py = source.py();
    let mut batches = stream::taken_over(source)?;
    let (sender, receiver) = mpsc::sync_channel(AHEAD);
    let engine = thread::Builder::new().spawn(move || {
        for batch in batches.by_ref() {
            if sender.send(batch).is_err() {
                break; // nobody wants more
            }
        }
        batches
    });
    let engine = engine.map_err(|_| StreamError::new_err("no thread can be started"))?;
    let taken = taken(py, receiver, on_rows, take);
    // What is left of the stream is let go here, with the interpreter lock, which objects behind it may need.
    let stream = py.detach(|| engine.join());
    drop(stream.map_err(|_| StreamError::new_err("the engine panicked"))?);
    taken
}

fn taken(
    py: Python<'_>,
    mut batches: Receiver<Result<RecordBatch, ArrowError>>,
    on_rows: Option<&Bound<'_, PyAny>>,
    mut take: impl FnMut(&RecordBatch) -> Result<PyResult<()>, String> + Send,
) -> PyResult<()> {
    let mut rows = 0;
    let mut told = Instant::now();
    loop {
        let batch;
        (batches, batch) = py.detach(move || {
            let batch = batches.recv_timeout(BETWEEN_REPORTS);
            (batches, batch)
        });
        py.check_signals()?;
        match batch {
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Err(RecvTimeoutError::Timeout) => {}
            Ok(Err(error)) => return Err(StreamError::new_err(error.to_string())),
            Ok(Ok(batch)) => {
                rows += batch.num_rows();
                door::on_threads(py, || take(&batch))?.map_err(StreamError::new_err)??;
            }
        }
        if let Some(on_rows) = on_rows.filter(|_| told.elapsed() >= BETWEEN_REPORTS) {
            on_rows.call1((rows,))?;
            told = Instant::now();
        }
    }
}
