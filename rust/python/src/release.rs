//! What a release does once for every row: see `statpriv-release`.

use crate::door;
use crate::errors;
use crate::stream::{self, StreamError, Texts};
use arrow_array::RecordBatch;
use numpy::{PyArray1, PyReadonlyArray1, PyReadwriteArray1};
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use statpriv_release::fingerprint::{self, DIGEST, Fingerprint};
use statpriv_release::ids::{Ids, Misfit};
use statpriv_release::{shuffle, token};

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
    #[pyo3(signature = (stream, /))]
    fn of_stream(stream: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut ids = Ids::default();
        for_each_batch(stream, |batch| {
            let columns = Texts::of_all(batch)?;
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

/// Why ids identify nobody, in one word that our own sentence is chosen by.
fn refusal(misfit: Misfit) -> PyErr {
    PyValueError::new_err(match misfit {
        Misfit::Missing => "missing",
        Misfit::Empty => "empty",
        Misfit::NoText => "no text",
        Misfit::Repeated => "repeated",
    })
}

/// The number of rows of an Arrow stream of texts, and the keyed fingerprints of the rows in their order and in any.
#[pyfunction]
#[pyo3(signature = (key, stream, /))]
pub fn stream_fingerprints<'py>(
    key: &[u8],
    stream: &Bound<'py, PyAny>,
) -> PyResult<(u64, Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
    let mut all = Fingerprint::new(key);
    for_each_batch(stream, |batch| {
        let columns = Texts::of_all(batch)?;
        let cell = |row: usize, column: usize| columns[column].cell(row);
        all.update(&fingerprint::digests(batch.num_rows(), columns.len(), cell));
        Ok(Ok::<(), ()>(()))
    })?
    .map_err(|()| PyRuntimeError::new_err("the stream ended early"))?;
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
/// end it between two batches. What `take` refuses ends it too, and is handed on; a text is a surprise of the format.
fn for_each_batch<R: Send>(
    source: &Bound<'_, PyAny>,
    mut take: impl FnMut(&RecordBatch) -> Result<Result<(), R>, String> + Send,
) -> PyResult<Result<(), R>> {
    let py = source.py();
    let mut batches = stream::taken_over(source)?;
    loop {
        let taken = door::on_threads(py, || match batches.next() {
            None => Ok(None),
            Some(Err(error)) => Err(error.to_string()),
            Some(Ok(batch)) => take(&batch).map(Some),
        })?;
        py.check_signals()?;
        match taken.map_err(StreamError::new_err)? {
            Some(Ok(())) => {}
            Some(refused) => return Ok(refused),
            None => return Ok(Ok(())),
        }
    }
}
