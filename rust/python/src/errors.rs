//! Maps the kernel's errors to the classes of `statpriv.errors`.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyType;
use statpriv_core::error::Error;

/// An instance of a class of `statpriv.errors`.
pub fn raise(py: Python<'_>, class: &str, message: String) -> PyErr {
    let class = py
        .import("statpriv.errors")
        .and_then(|module| module.getattr(class))
        .and_then(|class| class.cast_into::<PyType>().map_err(PyErr::from));
    match class {
        Ok(class) => PyErr::from_type(class, message),
        Err(error) => error,
    }
}

/// An `ArgumentError`.
pub fn argument(py: Python<'_>, message: impl Into<String>) -> PyErr {
    raise(py, "ArgumentError", message.into())
}

/// The Python error of a kernel error. An interruption carries its own exception (see `door`).
pub fn from_kernel(py: Python<'_>, error: &Error) -> PyErr {
    match error {
        Error::Argument(message) => argument(py, message),
        Error::Precision(message) => raise(py, "PrecisionError", message.clone()),
        Error::Interrupted => PyRuntimeError::new_err("interrupted"),
    }
}
