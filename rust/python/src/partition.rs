//! The secret random partition of a release. The computations are in `statpriv-release`.

use crate::door;
use crate::errors;
use crate::release::{for_each_texts, refusal, secret};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use rayon::prelude::*;
use statpriv_release::cell::Cell;
use statpriv_release::keyed::OUTPUT;
use statpriv_release::partition::{self, Names, Secret, found};
use statpriv_release::token::{Misfit, Token, TokenFunction};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// A partition of the rows of a table: the part of each row, counted from 1, and 0 for a row that no part uses.
///
/// It is a function of the rows' ids or positions under a secret key, and holds nothing for a row, unless it was given.
#[pyclass(frozen, module = "statpriv._native")]
pub struct Partition {
    parts: Mutex<Option<Arc<Parts>>>,
    /// The number of rows.
    pub rows: usize,
    /// The number of rows of parts 1, 2, ….
    #[pyo3(get)]
    sizes: Vec<usize>,
    /// Whether rows are known by their ids, and not by their positions.
    #[pyo3(get)]
    pub by_id: bool,
}

pub enum Parts {
    Given(Vec<u32>),
    Cut {
        partition: partition::Partition<Secret>,
        ids: Option<(TokenFunction, Py<PyArray1<u8>>)>,
        strata: Option<Py<PyArray1<u16>>>,
    },
}

#[pymethods]
impl Partition {
    /// Cuts rows that are known by their positions. `sizes[s][k]` rows of stratum `s + 1` are in part `k + 1`.
    /// `strata` are the strata of the rows, and 0 for a row that may not be drawn; by default all are in stratum 1.
    #[staticmethod]
    #[pyo3(signature = (key, count, sizes, /, strata = None))]
    fn of_positions(
        py: Python<'_>,
        key: &[u8],
        count: usize,
        sizes: Vec<Vec<usize>>,
        strata: Option<PyReadonlyArray1<'_, u16>>,
    ) -> PyResult<Self> {
        Self::cut(py, key, Names::Positions(count), &sizes, strata, None)
    }

    /// Cuts rows that are known by ids with these ascending tokens under `row_key`, in whose order the strata are.
    #[staticmethod]
    #[pyo3(signature = (key, row_key, tokens, sizes, /, strata = None))]
    fn of_tokens(
        key: &[u8],
        row_key: &[u8],
        tokens: PyReadonlyArray1<'_, u8>,
        sizes: Vec<Vec<usize>>,
        strata: Option<PyReadonlyArray1<'_, u16>>,
    ) -> PyResult<Self> {
        let py = tokens.py();
        let function = TokenFunction::new(secret(py, row_key)?);
        let kept = tokens.as_unbound().clone_ref(py);
        let names = Names::Tokens(as_tokens(tokens.as_slice()?));
        Self::cut(py, key, names, &sizes, strata, Some((function, kept)))
    }

    /// A partition that was not drawn: the part of each row by its position, for tests and simulations.
    #[staticmethod]
    #[pyo3(signature = (labels, /))]
    fn given(labels: PyReadonlyArray1<'_, u32>) -> PyResult<Self> {
        let labels = labels.as_slice()?.to_vec();
        let parts = labels.iter().max().map_or(0, |last| *last as usize);
        let mut sizes = vec![0; parts];
        labels.iter().filter_map(|label| (*label as usize).checked_sub(1)).for_each(|part| sizes[part] += 1);
        Ok(Self::of(Parts::Given(labels.clone()), labels.len(), sizes))
    }

    /// Which rows are in a part, in the order of the tokens or of the positions.
    fn drawn<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let parts = self.parts()?;
        let known = parts.known(py)?;
        let known = known.borrowed()?;
        let drawn = door::on_threads(py, || known.drawn(self.rows))?;
        Ok(PyArray1::from_vec(py, drawn))
    }

    /// The part of each row that follows `first` rows. `ids` are the ids of these rows, by which they are known, unless they
    /// are known by their positions; without ids these are all rows from there on.
    #[pyo3(signature = (ids = None, /, first = 0))]
    fn labels<'py>(
        &self,
        py: Python<'py>,
        ids: Option<&Bound<'py, PyAny>>,
        first: usize,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let parts = self.parts()?;
        let known = parts.known(py)?;
        let known = known.borrowed()?;
        let Some(ids) = ids.filter(|_| self.by_id) else {
            if self.by_id {
                return Err(errors::argument(
                    py,
                    "the rows of this partition are known by their ids".to_string(),
                ));
            }
            let end = ids
                .map(PyAnyMethods::len)
                .transpose()?
                .map_or(self.rows, |count| first.saturating_add(count));
            if first > end || end > self.rows {
                return Err(errors::argument(
                    py,
                    format!("the partition has {} rows, and row {end} is asked for", self.rows),
                ));
            }
            let labels = door::on_threads(py, || known.of_positions(first..end))?;
            return Ok(PyArray1::from_vec(py, labels));
        };
        let mut labels = Vec::new();
        for_each_texts(ids, |some| {
            let id = |row: usize| some[row].as_ref().map(String::as_bytes).into();
            labels.extend(door::on_threads(py, || known.of_ids(some.len(), id))?.map_err(refusal)?);
            Ok(())
        })?;
        Ok(PyArray1::from_vec(py, labels))
    }

    /// Forgets the key. Nothing can be asked of the partition any more.
    fn forget(&self) {
        *self.parts.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn __len__(&self) -> usize {
        self.rows
    }

    fn __repr__(&self) -> String {
        format!("<Partition of {} rows into {} parts>", self.rows, self.sizes.len())
    }
}

impl Partition {
    fn cut(
        py: Python<'_>,
        key: &[u8],
        names: Names<'_>,
        sizes: &[Vec<usize>],
        strata: Option<PyReadonlyArray1<'_, u16>>,
        ids: Option<(TokenFunction, Py<PyArray1<u8>>)>,
    ) -> PyResult<Self> {
        let order = Secret::new(secret(py, key)?);
        let rows = names.count();
        let listed = strata.as_ref().map(PyReadonlyArray1::as_slice).transpose()?;
        if listed.is_some_and(|strata| strata.len() != rows) {
            return Err(errors::argument(
                py,
                format!("strata: there must be one for each of the {rows} rows"),
            ));
        }
        if listed.is_some_and(|strata| strata.iter().any(|stratum| usize::from(*stratum) > sizes.len())) {
            return Err(errors::argument(py, format!("strata: there are sizes of {} strata", sizes.len())));
        }
        if sizes.iter().any(|others| others.len() != sizes[0].len()) {
            return Err(errors::argument(py, "sizes: all strata need equally many parts".to_string()));
        }
        let partition = door::on_threads(py, || partition::Partition::cut(order, names, listed, sizes))?;
        let partition = partition.map_err(|few| {
            let needed: usize = sizes[few.stratum].iter().sum();
            errors::argument(
                py,
                format!(
                    "sizes: the parts need {needed} rows of stratum {} together, and there are only {}",
                    few.stratum + 1,
                    few.rows
                ),
            )
        })?;
        let parts = sizes.first().map_or(0, Vec::len);
        let sizes = (0..parts).map(|part| sizes.iter().map(|sizes| sizes[part]).sum()).collect();
        let strata = strata.map(|strata| strata.as_unbound().clone_ref(py));
        Ok(Self::of(Parts::Cut { partition, ids, strata }, rows, sizes))
    }

    fn of(parts: Parts, rows: usize, sizes: Vec<usize>) -> Self {
        let by_id = matches!(parts, Parts::Cut { ids: Some(_), .. });
        Self { parts: Mutex::new(Some(Arc::new(parts))), rows, sizes, by_id }
    }

    /// The parts, unless they are forgotten.
    pub fn parts(&self) -> PyResult<Arc<Parts>> {
        let parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner).clone();
        parts.ok_or_else(|| {
            Python::attach(|py| errors::argument(py, "the partition is forgotten".to_string()))
        })
    }
}

/// A partition, with its hold on the arrays that it needs.
pub struct Held<'a, 'py> {
    parts: &'a Parts,
    tokens: Option<PyReadonlyArray1<'py, u8>>,
    strata: Option<PyReadonlyArray1<'py, u16>>,
}

/// A partition that threads can ask.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    parts: &'a Parts,
    tokens: &'a [Token],
    strata: Option<&'a [u16]>,
}

impl Parts {
    /// The partition, with its hold on the arrays that it needs.
    pub fn known<'py>(&self, py: Python<'py>) -> PyResult<Held<'_, 'py>> {
        let Self::Cut { ids, strata, .. } = self else {
            return Ok(Held { parts: self, tokens: None, strata: None });
        };
        let tokens = ids.as_ref().map(|(_, tokens)| tokens.bind(py).try_readonly()).transpose()?;
        let strata = strata.as_ref().map(|strata| strata.bind(py).try_readonly()).transpose()?;
        Ok(Held { parts: self, tokens, strata })
    }
}

impl Held<'_, '_> {
    /// The partition that threads can ask.
    pub fn borrowed(&self) -> PyResult<Known<'_>> {
        let tokens = self.tokens.as_ref().map(PyReadonlyArray1::as_slice).transpose()?.unwrap_or_default();
        let strata = self.strata.as_ref().map(PyReadonlyArray1::as_slice).transpose()?;
        Ok(Known { parts: self.parts, tokens: as_tokens(tokens), strata })
    }
}

impl Known<'_> {
    /// The parts of rows by their positions.
    pub fn of_positions(&self, rows: Range<usize>) -> Vec<u32> {
        match self.parts {
            Parts::Given(labels) => labels[rows].to_vec(),
            Parts::Cut { partition, .. } => {
                let first = rows.start;
                let stratum = |row: usize| self.strata.map_or(1, |strata| strata[first + row]);
                partition.parts(&rows.map(|row| row as u128).collect::<Vec<_>>(), stratum)
            }
        }
    }

    /// The parts of rows by their ids. A row whose id is none of those that the partition was cut for is in no part.
    pub fn of_ids<'a>(
        &self,
        count: usize,
        id: impl Fn(usize) -> Cell<'a> + Sync,
    ) -> Result<Vec<u32>, Misfit> {
        let Parts::Cut { partition, ids: Some((function, _)), .. } = self.parts else {
            return Err(Misfit::Missing);
        };
        let name = |row| function.of(id(row)).map(u128::from_be_bytes);
        let names = (0..count).into_par_iter().with_min_len(1024).map(name).collect::<Result<Vec<_>, _>>()?;
        Ok(match self.strata {
            None => partition.parts(&names, |_| 1),
            Some(strata) => {
                let of_token = |row: usize| found(self.tokens, names[row]).map_or(0, |index| strata[index]);
                partition.parts(&names, of_token)
            }
        })
    }

    fn drawn(&self, rows: usize) -> Vec<bool> {
        match self.parts {
            Parts::Given(labels) => labels.iter().map(|label| *label > 0).collect(),
            Parts::Cut { partition, ids: Some(_), .. } => {
                partition.drawn(Names::Tokens(self.tokens), self.strata)
            }
            Parts::Cut { partition, .. } => partition.drawn(Names::Positions(rows), self.strata),
        }
    }
}

fn as_tokens(bytes: &[u8]) -> &[Token] {
    bytes.as_chunks::<OUTPUT>().0
}
