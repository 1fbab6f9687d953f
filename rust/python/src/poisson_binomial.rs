//! The Poisson-binomial law.

use crate::convert;
use crate::door;
use crate::errors;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use statpriv_core::answer::PoissonBinomial;
use statpriv_core::numbers::enclosure::Enclosure;

/// The law with these success probabilities, given as bytes of doubles or as a sequence of numbers of any
/// kind.
fn law(p: &Bound<'_, PyAny>) -> PyResult<PoissonBinomial> {
    let law = if let Ok(bytes) = p.cast::<PyBytes>() {
        PoissonBinomial::from_doubles(&convert::doubles(bytes.as_bytes()))
    } else {
        let entries = p.try_iter()?.enumerate();
        let exact = entries.map(|(i, entry)| convert::rational(&entry?, &format!("p[{i}]")));
        PoissonBinomial::new(&exact.collect::<PyResult<Vec<_>>>()?)
    };
    law.map_err(|error| errors::from_kernel(p.py(), &error))
}

/// P[X = k] for all k. Returns the lower ends and the upper ends as bytes of doubles.
#[pyfunction]
pub fn poisson_binomial_pmf<'py>(
    py: Python<'py>,
    p: &Bound<'py, PyAny>,
) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
    let law = law(p)?;
    let all = door::run(py, f64::INFINITY, |interrupt| law.probabilities(interrupt))?;
    let bytes = |end: fn(Enclosure) -> f64| {
        let ends: Vec<u8> = all.iter().flat_map(|&enclosure| end(enclosure).to_ne_bytes()).collect();
        PyBytes::new(py, &ends)
    };
    Ok((bytes(Enclosure::lower), bytes(Enclosure::upper)))
}
