//! Per-row work of a release. The computations are in `statpriv-release`.

use crate::door;
use crate::errors;
use crate::partition::Partition;
use crate::stream::{self, StreamError, Texts};
use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use statpriv_release::cell::Cell;
use statpriv_release::fingerprint::{Fingerprint, Sums};
use statpriv_release::keyed::{KEY, OUTPUT};
use statpriv_release::tally::Tally;
use statpriv_release::token::{Misfit, Tokens};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes of a row digest that a server computed.
const DIGEST: usize = 32;

/// Number of texts taken from an iterable and then hashed together.
const TOGETHER: usize = 1 << 16;

/// Interval between two reports of the number of rows read, and the longest wait between two checks for
/// Ctrl-C.
const BETWEEN_REPORTS: Duration = Duration::from_millis(100);

/// Number of batches that the engine may produce ahead of their use.
const AHEAD: usize = 1;

create_exception!(
    statpriv._native,
    RowIdsError,
    PyException,
    "Ids do not identify rows. The message is the reason in a word or two, and quotes no id."
);

/// The keyed tokens of the ids of all rows, in ascending order, and the row of each if it was asked for. The ids
/// themselves are not kept.
#[pyclass(frozen, module = "statpriv._native")]
pub struct RowTokens {
    /// The concatenated tokens, 16 bytes each.
    #[pyo3(get)]
    tokens: Py<PyArray1<u8>>,
    #[pyo3(get)]
    rows: Option<Py<PyArray1<u32>>>,
    /// The number of ids that differ from another one only by case, by the width of letters or by invisible characters:
    /// the number of ids less the number of their plain forms.
    #[pyo3(get)]
    look_alikes: usize,
}

#[pymethods]
impl RowTokens {
    /// The tokens of the ids in an iterable of texts or None.
    #[staticmethod]
    #[pyo3(signature = (key, texts, /, *, with_rows = false))]
    fn of(key: &[u8], texts: &Bound<'_, PyAny>, with_rows: bool) -> PyResult<Self> {
        let py = texts.py();
        let mut tokens = Tokens::new(secret(py, key)?);
        for_each_texts(texts, |some| {
            let id = |row: usize| some[row].as_ref().map(String::as_bytes).into();
            door::on_threads(py, || tokens.extend(some.len(), id))?.map_err(refusal)
        })?;
        Self::ascending(py, tokens, with_rows)
    }

    /// The tokens of the ids in an Arrow stream with a single column.
    #[staticmethod]
    #[pyo3(signature = (key, stream, /, on_rows = None, *, with_rows = false))]
    fn of_stream(
        key: &[u8],
        stream: &Bound<'_, PyAny>,
        on_rows: Option<&Bound<'_, PyAny>>,
        with_rows: bool,
    ) -> PyResult<Self> {
        let mut tokens = Tokens::new(secret(stream.py(), key)?);
        for_each_batch(stream, on_rows, |batch| {
            let columns = Texts::of_all(batch.columns())?;
            let [column] = &columns[..] else { return Err(format!("{} columns of ids", columns.len())) };
            Ok(tokens.extend(batch.num_rows(), |row| column.cell(row)).map_err(refusal))
        })?;
        Self::ascending(stream.py(), tokens, with_rows)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.tokens.bind(py).len()? / OUTPUT)
    }
}

impl RowTokens {
    fn ascending(py: Python<'_>, tokens: Tokens, with_rows: bool) -> PyResult<Self> {
        let found = door::on_threads(py, || tokens.ascending(with_rows))?.map_err(refusal)?;
        Ok(Self {
            tokens: PyArray1::from_vec(py, found.tokens.into_flattened()).unbind(),
            rows: found.rows.map(|rows| PyArray1::from_vec(py, rows).unbind()),
            look_alikes: found.look_alikes,
        })
    }
}

/// Passes the texts of an iterable on in pieces.
pub fn for_each_texts(
    texts: &Bound<'_, PyAny>,
    mut take: impl FnMut(&[Option<String>]) -> PyResult<()>,
) -> PyResult<()> {
    let mut texts = texts.try_iter()?;
    loop {
        let some = texts.by_ref().take(TOGETHER).map(|text| text?.extract::<Option<String>>());
        let some = some.collect::<PyResult<Vec<_>>>()?;
        if some.is_empty() {
            return Ok(());
        }
        take(&some)?;
    }
}

/// The error that says why ids do not identify rows.
pub fn refusal(misfit: Misfit) -> PyErr {
    RowIdsError::new_err(match misfit {
        Misfit::Missing => "missing",
        Misfit::Empty => "empty",
        Misfit::NoText => "no text",
        Misfit::Repeated => "repeated",
        Misfit::TooMany => "too many",
    })
}

/// The number of rows, their ordered fingerprint and their unordered fingerprint.
type Written<'py> = (u64, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// The number of rows of an Arrow stream, with the ordered and the unordered keyed fingerprint of the rows.
/// The columns are the texts of the cells. With `selected`, one mark a row, the same values are also returned for the
/// rows that it marks.
#[pyfunction]
#[pyo3(signature = (key, stream, /, on_rows = None, selected = None))]
pub fn stream_fingerprints<'py>(
    key: &[u8],
    stream: &Bound<'py, PyAny>,
    on_rows: Option<&Bound<'py, PyAny>>,
    selected: Option<PyReadonlyArray1<'py, bool>>,
) -> PyResult<(Written<'py>, Option<Written<'py>>)> {
    let py = stream.py();
    let mut fold = Fold::new(py, key, selected.as_ref())?;
    for_each_batch(stream, on_rows, |batch| {
        let columns = Texts::of_all(batch.columns())?;
        let cell = |row: usize, column: usize| columns[column].cell(row);
        fold.add(batch.num_rows(), columns.len(), cell)
            .map_err(|TooMany| "more rows came than there are marks")?;
        Ok(Ok(()))
    })?;
    fold.finish(py).map_err(|TooFew| StreamError::new_err("fewer rows came than there are marks"))
}

/// The number and the fingerprints of rows whose digests were computed elsewhere. Each of `pieces` is a concatenation of
/// digests of 32 bytes. Each digest counts as a row of one cell. With `selected`, one mark a row, the same values are also
/// returned for the rows that it marks.
#[pyfunction]
#[pyo3(signature = (key, pieces, /, selected = None))]
pub fn digest_fingerprints<'py>(
    key: &[u8],
    pieces: &Bound<'py, PyAny>,
    selected: Option<PyReadonlyArray1<'py, bool>>,
) -> PyResult<(Written<'py>, Option<Written<'py>>)> {
    let py = pieces.py();
    let mut fold = Fold::new(py, key, selected.as_ref())?;
    for piece in pieces.try_iter()? {
        let piece = piece?.cast_into::<PyBytes>()?;
        let (digests, rest) = piece.as_bytes().as_chunks::<DIGEST>();
        if !rest.is_empty() {
            return Err(errors::argument(
                py,
                format!("a piece of digests has {} bytes too many", rest.len()),
            ));
        }
        let cell = |row: usize, _| Cell::Text(&digests[row]);
        door::on_threads(py, || fold.add(digests.len(), 1, cell))?.map_err(|TooMany| {
            errors::argument(py, "selected has fewer marks than there are digests".to_string())
        })?;
    }
    fold.finish(py)
        .map_err(|TooFew| errors::argument(py, "selected has more marks than there are digests".to_string()))
}

/// The sums over all rows that come, and over those of them that are marked.
struct Fold<'a> {
    fingerprint: Fingerprint,
    marks: Option<&'a [bool]>,
    all: Sums,
    some: Sums,
}

/// More rows came than there are marks.
struct TooMany;
/// Fewer rows came than there are marks.
struct TooFew;

impl<'a> Fold<'a> {
    fn new(py: Python<'_>, key: &[u8], selected: Option<&'a PyReadonlyArray1<'_, bool>>) -> PyResult<Self> {
        let marks = selected.map(PyReadonlyArray1::as_slice).transpose()?;
        let fingerprint = Fingerprint::new(secret(py, key)?);
        Ok(Self { fingerprint, marks, all: Sums::default(), some: Sums::default() })
    }

    /// Adds rows of so many columns.
    fn add<'c>(
        &mut self,
        rows: usize,
        columns: usize,
        cell: impl Fn(usize, usize) -> Cell<'c> + Sync,
    ) -> Result<(), TooMany> {
        if let Some(marks) = self.marks {
            let first = usize::try_from(self.all.rows()).map_err(|_| TooMany)?;
            let marks = marks.get(first..first + rows).ok_or(TooMany)?;
            let marked: Vec<usize> = (0..rows).filter(|row| marks[*row]).collect();
            let cell = |row: usize, column: usize| cell(marked[row], column);
            self.some.merge(&self.fingerprint.sums(self.some.rows(), marked.len(), columns, cell));
        }
        self.all.merge(&self.fingerprint.sums(self.all.rows(), rows, columns, cell));
        Ok(())
    }

    /// The fingerprints of all rows, and of those that are marked.
    fn finish(self, py: Python<'_>) -> Result<(Written<'_>, Option<Written<'_>>), TooFew> {
        if self.marks.is_some_and(|marks| (marks.len() as u64) > self.all.rows()) {
            return Err(TooFew);
        }
        let some = self.marks.map(|_| written(py, &self.fingerprint, &self.some));
        Ok((written(py, &self.fingerprint, &self.all), some))
    }
}

fn written<'py>(py: Python<'py>, fingerprint: &Fingerprint, sums: &Sums) -> Written<'py> {
    let (ordered, unordered) = fingerprint.of(sums);
    (sums.rows(), PyBytes::new(py, &ordered), PyBytes::new(py, &unordered))
}

pub fn secret<'a>(py: Python<'_>, key: &'a [u8]) -> PyResult<&'a [u8; KEY]> {
    key.try_into()
        .map_err(|_| errors::argument(py, format!("the key has {} bytes, and needs {KEY}", key.len())))
}

/// The counts of all parts over an Arrow stream of rows, cell by cell and part by part.
///
/// The first column is the id of the row if the partition knows rows by ids. After it, one column for each question
/// holds the number of the row's cell. Part `k` is asked question `questions[k - 1]`, or none. No question has more than
/// `cells` cells. With `fingerprint_key`, the remaining columns are the texts of the cells, whose number and fingerprints
/// are returned too.
#[pyfunction]
#[pyo3(signature = (stream, partition, questions, cells, /, on_rows = None, fingerprint_key = None))]
pub fn stream_tally<'py>(
    stream: &Bound<'py, PyAny>,
    partition: &Partition,
    questions: Vec<Option<usize>>,
    cells: usize,
    on_rows: Option<&Bound<'py, PyAny>>,
    fingerprint_key: Option<&[u8]>,
) -> PyResult<(Bound<'py, PyArray1<u64>>, Option<Written<'py>>)> {
    let py = stream.py();
    let parts = partition.parts()?;
    let known = parts.known(py)?;
    let known = known.borrowed()?;
    let fingerprint =
        fingerprint_key.map(|key| Ok::<_, PyErr>(Fingerprint::new(secret(py, key)?))).transpose()?;
    let asked = questions.iter().flatten().max().map_or(0, |last| last + 1);
    let mut tally = Tally::new(questions, cells);
    let mut sums = Sums::default();
    let mut rows = 0;
    for_each_batch(stream, on_rows, |batch| {
        let (ids, others) =
            batch.columns().split_at_checked(usize::from(partition.by_id)).ok_or("no column of ids")?;
        let (answers, texts) = others.split_at_checked(asked).ok_or("a question has no column")?;
        let answers = answers.iter().map(stream::small_numbers).collect::<Result<Vec<_>, _>>()?;
        let next = rows + batch.num_rows();
        if next > partition.rows {
            return Err("more rows came than the partition has".to_string());
        }
        let labels = match Texts::of_all(ids)?.first() {
            None => known.of_positions(rows..next),
            Some(ids) => match known.of_ids(batch.num_rows(), |row| ids.cell(row)) {
                Ok(labels) => labels,
                Err(misfit) => return Ok(Err(refusal(misfit))),
            },
        };
        tally.count(&labels, &answers).map_err(|_| "a part or a cell is none of those announced")?;
        match &fingerprint {
            Some(fingerprint) => {
                let columns = Texts::of_all(texts)?;
                let cell = |row: usize, column: usize| columns[column].cell(row);
                sums.merge(&fingerprint.sums(sums.rows(), batch.num_rows(), columns.len(), cell));
            }
            None if texts.is_empty() => {}
            None => return Err("there is a column for no question".to_string()),
        }
        rows = next;
        Ok(Ok(()))
    })?;
    if rows < partition.rows {
        return Err(StreamError::new_err("fewer rows came than the partition has"));
    }
    let counts = PyArray1::from_vec(py, tally.finish());
    Ok((counts, fingerprint.map(|fingerprint| written(py, &fingerprint, &sums))))
}

/// Passes every batch of a stream to `take`, without the interpreter lock, which the engine behind the stream
/// may need. The engine makes the next batch meanwhile. Ctrl-C ends the loop. `on_rows` is called from time
/// to time with the number of rows read.
///
/// An error of `take` ends the loop too. The outer error is a text, for data of an unexpected format.
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
                break; // the receiver has stopped
            }
        }
        batches
    });
    let engine = engine.map_err(|_| StreamError::new_err("no thread can be started"))?;
    let taken = taken(py, receiver, on_rows, take);
    // The rest of the stream is dropped here, with the interpreter lock held: objects behind the stream may
    // need it.
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
