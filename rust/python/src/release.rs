//! What a release does once for every row: see `statpriv-release`.

use crate::door;
use crate::errors;
use crate::stream::{self, StreamError, Texts};
use arrow_array::RecordBatch;
use numpy::{PyArray1, PyReadonlyArray1, PyReadwriteArray1};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyIndexError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use statpriv_release::fingerprint::{self, DIGEST, Fingerprint};
use statpriv_release::ids::{Ids, Misfit};
use statpriv_release::{shuffle, token};
use std::convert::Infallible;
use std::time::{Duration, Instant};

/// How often somebody who waits is told how many rows were read.
const BETWEEN_REPORTS: Duration = Duration::from_millis(100);

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

/// The ids of all rows, in canonical form and in their order.
#[pyclass(frozen, module = "statpriv._native")]
pub struct RowIds(Ids);

#[pymethods]
impl RowIds {
    /// The ids that an iterable gives, texts or None.
    #[staticmethod]
    #[pyo3(signature = (texts, /))]
    fn of(texts: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut ids = Ids::default();
        for text in texts.try_iter()? {
            let text = text?.extract::<Option<Bound<'_, PyString>>>()?;
            let text = text.as_ref().map(|text| text.to_str()).transpose()?;
            ids.push(text.map(str::as_bytes)).map_err(refusal)?;
        }
        Self::checked(texts.py(), ids)
    }

    /// The ids in the one column of an Arrow stream.
    #[staticmethod]
    #[pyo3(signature = (stream, /, on_rows = None))]
    fn of_stream(stream: &Bound<'_, PyAny>, on_rows: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let mut ids = Ids::default();
        for_each_batch(stream, on_rows, |batch| {
            let columns = Texts::of_all(batch.columns())?;
            let [column] = &columns[..] else { return Err(format!("{} columns of ids", columns.len())) };
            Ok((0..batch.num_rows()).try_for_each(|row| ids.push(column.cell(row))))
        })?
        .map_err(refusal)?;
        Self::checked(stream.py(), ids)
    }

    /// The token of each id under a key, 16 bytes after 16 bytes.
    #[pyo3(signature = (key, /))]
    fn tokens<'py>(&self, py: Python<'py>, key: &[u8]) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let tokens = door::on_threads(py, || token::tokens(key, &self.0))?;
        Ok(PyArray1::from_vec(py, tokens.into_flattened()))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Whether another sequence has the same texts in the same order.
    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        if other.len()? != self.0.len() {
            return Ok(false);
        }
        for (row, text) in other.try_iter()?.enumerate() {
            if text?.cast::<PyString>()?.to_str()?.as_bytes() != self.0.get(row) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn __getitem__<'py>(&self, py: Python<'py>, row: usize) -> PyResult<Bound<'py, PyString>> {
        if row >= self.0.len() {
            return Err(PyIndexError::new_err(format!("there is no row {row}")));
        }
        PyString::from_bytes(py, self.0.get(row))
    }
}

impl RowIds {
    fn checked(py: Python<'_>, ids: Ids) -> PyResult<Self> {
        door::on_threads(py, || ids.check_distinct())?.map_err(refusal)?;
        Ok(Self(ids))
    }
}

/// Why ids identify nobody.
fn refusal(misfit: Misfit) -> PyErr {
    RowIdsError::new_err(match misfit {
        Misfit::Missing => "missing",
        Misfit::Empty => "empty",
        Misfit::NoText => "no text",
        Misfit::Repeated => "repeated",
    })
}

/// The number of rows of an Arrow stream, and the keyed fingerprints of the rows in their order and in any. The first
/// column is the position of the row, which is checked to count from 0; the others are the texts of its cells. With
/// `selected` only the rows that it marks are counted and have a part in the fingerprints.
#[pyfunction]
#[pyo3(signature = (key, stream, /, on_rows = None, selected = None))]
pub fn stream_fingerprints<'py>(
    key: &[u8],
    stream: &Bound<'py, PyAny>,
    on_rows: Option<&Bound<'py, PyAny>>,
    selected: Option<PyReadonlyArray1<'py, bool>>,
) -> PyResult<(u64, Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
    let selected = selected.map(|marks| marks.as_array().to_vec());
    let mut all = Fingerprint::new(key);
    let mut rows = 0;
    let Ok(()) = for_each_batch(stream, on_rows, |batch| {
        let [position, cells @ ..] = batch.columns() else {
            return Err("no column of positions".to_string());
        };
        stream::check_positions(position, rows)?;
        let columns = Texts::of_all(cells)?;
        let cell = |row: usize, column: usize| columns[column].cell(row);
        let mut digests = fingerprint::digests(batch.num_rows(), columns.len(), cell);
        if let Some(marks) = &selected {
            let mut marks = marks.iter().skip(rows);
            digests.retain(|_| marks.next().is_some_and(|mark| *mark));
        }
        all.update(&digests);
        rows += batch.num_rows();
        Ok(Ok::<(), Infallible>(()))
    })?;
    Ok(written(stream.py(), all))
}

/// The same of rows whose digests were taken elsewhere: 32 bytes after 32 bytes.
#[pyfunction]
#[pyo3(signature = (key, digests, /))]
pub fn digest_fingerprints<'py>(
    py: Python<'py>,
    key: &[u8],
    digests: &[u8],
) -> PyResult<(u64, Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
    let (digests, rest) = digests.as_chunks::<DIGEST>();
    if !rest.is_empty() {
        return Err(errors::argument(py, format!("digests has {} bytes too many", rest.len())));
    }
    let mut all = Fingerprint::new(key);
    door::on_threads(py, || all.update(digests))?;
    Ok(written(py, all))
}

fn written(py: Python<'_>, all: Fingerprint) -> (u64, Bound<'_, PyBytes>, Bound<'_, PyBytes>) {
    let rows = all.rows();
    let (ordered, unordered) = all.finish();
    (rows, PyBytes::new(py, &ordered), PyBytes::new(py, &unordered))
}

/// Takes in every batch of a stream without the interpreter lock, which the engine behind it may need, and lets Ctrl-C
/// end it between two batches; `on_rows` is told now and then how many rows there were. What `take` refuses ends it too, and is handed on; a text is a surprise of the format.
fn for_each_batch<R: Send>(
    source: &Bound<'_, PyAny>,
    on_rows: Option<&Bound<'_, PyAny>>,
    mut take: impl FnMut(&RecordBatch) -> Result<Result<(), R>, String> + Send,
) -> PyResult<Result<(), R>> {
    let py = source.py();
    let mut batches = stream::taken_over(source)?;
    let mut rows = 0;
    let mut told = Instant::now();
    loop {
        let taken = door::on_threads(py, || match batches.next() {
            None => Ok(None),
            Some(Err(error)) => Err(error.to_string()),
            Some(Ok(batch)) => {
                rows += batch.num_rows();
                take(&batch).map(Some)
            }
        })?;
        py.check_signals()?;
        if let Some(on_rows) = on_rows.filter(|_| told.elapsed() >= BETWEEN_REPORTS) {
            on_rows.call1((rows,))?;
            told = Instant::now();
        }
        match taken.map_err(StreamError::new_err)? {
            Some(Ok(())) => {}
            Some(refused) => return Ok(refused),
            None => return Ok(Ok(())),
        }
    }
}
