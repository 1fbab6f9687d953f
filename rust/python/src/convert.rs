//! Exact numbers from Python: float, int, Fraction, Decimal, numpy scalar, mpf or string → rational.

use crate::errors;
use dashu_int::{IBig, UBig};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{IntoPyDict, PyBool, PyBytes, PyFloat, PyInt, PyString, PyType};
use statpriv_core::numbers::rational::Rational;

/// Decimal exponents beyond this are refused before anything is written out.
const LARGEST_DECIMAL_EXPONENT: i64 = 100_000;

/// Many numbers are fractions already, and need not be asked what else they are.
static FRACTION: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// The rational that `value` is, exactly. `name` is what the message calls it.
pub fn rational(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Rational> {
    let py = value.py();
    let refuse = |why: &str| errors::argument(py, format!("{name} = {} {why}", shown(value)));
    // Before all others, which are asked for methods that these do not have.
    if let Ok(integer) = value.cast_exact::<PyInt>() {
        return integer_from(integer).map(Rational::from).map_err(|_| refuse(NOT_A_NUMBER));
    }
    if value.is_exact_instance(FRACTION.import(py, "fractions", "Fraction")?.as_any()) {
        return quotient(&value.call_method0("as_integer_ratio")?).ok_or_else(|| refuse(NOT_A_NUMBER));
    }
    if value.is_instance_of::<PyBool>() {
        return Err(refuse("is a truth value; a number is required"));
    }
    if let Ok(text) = value.cast::<PyString>() {
        let text = text.to_string();
        return Rational::parse(&text).map_err(|error| errors::argument(py, format!("{name}: {error}")));
    }
    if let Ok(float) = value.cast::<PyFloat>() {
        return Rational::from_f64(float.value()).map_err(|_| refuse(NOT_FINITE));
    }
    if let Ok(adjusted) = value.call_method0("adjusted").and_then(|exponent| exponent.extract::<i64>())
        && adjusted.abs() > LARGEST_DECIMAL_EXPONENT
    {
        return Err(refuse("has a decimal exponent beyond ±100000"));
    }
    if let Ok(parts) = value.getattr("_mpf_") {
        return binary(&parts).map_err(refuse);
    }
    if is_integer(value)? {
        let integer = value.call_method0("__index__").and_then(|index| integer_from(&index));
        return integer.map(Rational::from).map_err(|_| refuse(NOT_A_NUMBER));
    }
    if value.is_instance_of::<PyType>() || !value.hasattr("as_integer_ratio")? {
        return Err(refuse(NOT_A_NUMBER));
    }
    let ratio = value.call_method0("as_integer_ratio").map_err(|_| refuse(NOT_FINITE))?;
    quotient(&ratio).ok_or_else(|| refuse(NOT_A_NUMBER))
}

/// The quotient of a pair of integers, the second above 0.
fn quotient(ratio: &Bound<'_, PyAny>) -> Option<Rational> {
    let (top, bottom) = ratio.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>().ok()?;
    let bottom = UBig::try_from(integer_from(&bottom).ok()?).ok()?;
    Rational::new(integer_from(&top).ok()?, bottom).ok()
}

const NOT_FINITE: &str = "is not finite; a finite number is required";
const NOT_A_NUMBER: &str =
    "is not a number; a float, int, Fraction, Decimal or string such as '0.1' or '1/2' is required";
/// Binary exponents beyond this, about as far as the decimal ones, are refused.
const LARGEST_BINARY_EXPONENT: usize = 332_193;

/// An integer of another library than Python's own, such as numpy's, and no array of them.
pub fn is_integer(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(value.hasattr("__index__")? && !value.hasattr("__len__")? && !value.is_instance_of::<PyType>())
}

/// The start of what a value looks like, for messages; Python refuses to print very long integers.
pub fn shown(value: &Bound<'_, PyAny>) -> String {
    // "1/3" reads better than "Fraction(1, 3)"; everything else is shown as it was written.
    let is_fraction = value.get_type().name().is_ok_and(|name| name == "Fraction");
    let written = if is_fraction { value.str() } else { value.repr() };
    let text = written.map_or_else(|_| "(too long to print)".to_owned(), |text| text.to_string());
    if text.chars().count() <= 80 { text } else { text.chars().take(77).chain("...".chars()).collect() }
}

/// mpmath's `(sign, mantissa, exponent, bits)`, or what is wrong with it.
fn binary(parts: &Bound<'_, PyAny>) -> Result<Rational, &'static str> {
    let read = parts.extract::<(i64, Bound<'_, PyAny>, i64, Bound<'_, PyAny>)>();
    let (sign, mantissa, exponent, _) = read.map_err(|_| BINARY_EXPONENT)?;
    let mantissa = integer_from(&mantissa).map_err(|_| NOT_A_NUMBER)?;
    if mantissa.is_zero() {
        return if exponent == 0 { Ok(Rational::from(0i64)) } else { Err(NOT_FINITE) };
    }
    let shift = usize::try_from(exponent.unsigned_abs()).map_err(|_| BINARY_EXPONENT)?;
    if shift > LARGEST_BINARY_EXPONENT {
        return Err(BINARY_EXPONENT);
    }
    let signed = if sign == 0 { mantissa } else { -mantissa };
    let (top, bottom) =
        if exponent >= 0 { (signed << shift, UBig::ONE) } else { (signed, UBig::ONE << shift) };
    Rational::new(top, bottom).map_err(|_| NOT_A_NUMBER)
}

const BINARY_EXPONENT: &str = "has a binary exponent beyond ±332193";

/// A Python integer of any size.
pub fn integer_from(value: &Bound<'_, PyAny>) -> PyResult<IBig> {
    if let Ok(small) = value.extract::<i64>() {
        return Ok(IBig::from(small));
    }
    let digits: String = value.call_method1("__format__", ("x",))?.extract()?;
    IBig::from_str_radix(&digits, 16)
        .map_err(|_| errors::argument(value.py(), "an integer that cannot be read in hexadecimal"))
}

/// As a Python integer.
pub fn integer_to<'py>(py: Python<'py>, value: &IBig) -> PyResult<Bound<'py, PyAny>> {
    if let Ok(small) = i64::try_from(value) {
        return Ok(small.into_pyobject(py)?.into_any());
    }
    let bytes = PyBytes::new(py, &value.to_le_bytes());
    let signed = [("signed", true)].into_py_dict(py)?;
    py.get_type::<PyInt>().call_method("from_bytes", (bytes, "little"), Some(&signed))
}

/// A `fractions.Fraction` of the same parts: they have no common factor, and Python would take long to find that out.
pub fn to_fraction<'py>(py: Python<'py>, exact: &Rational) -> PyResult<Bound<'py, PyAny>> {
    let parts =
        (integer_to(py, exact.numerator())?, integer_to(py, &IBig::from(exact.denominator().clone()))?);
    let fraction = py.import("fractions")?.getattr("Fraction")?;
    if fraction.hasattr("_from_coprime_ints")? {
        return fraction.call_method1("_from_coprime_ints", parts);
    }
    // Before Python 3.12.
    fraction.call(parts, Some(&[("_normalize", false)].into_py_dict(py)?))
}

/// An exact number of at least 0.
pub fn not_negative(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Rational> {
    let exact = rational(value, name)?;
    if exact.is_negative() {
        let message = format!("{name} = {}; a number of at least 0 is required", shown(value));
        return Err(errors::argument(value.py(), message));
    }
    Ok(exact)
}

/// An integer that a machine holds, whatever the type it comes in: 3.0 counts, 1.5 does not.
pub fn machine_integer(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<i64>> {
    if let Ok(integer) = value.cast_exact::<PyInt>()
        && let Ok(small) = integer.extract()
    {
        return Ok(Some(small));
    }
    rational(value, name).map(|exact| exact.to_i64())
}

/// An integer in `least..=2^53`, whatever the type it comes in.
pub fn count(value: &Bound<'_, PyAny>, name: &str, least: i64) -> PyResult<u64> {
    match machine_integer(value, name)? {
        Some(integer) if integer >= least && integer <= 1 << 53 => Ok(integer.unsigned_abs()),
        _ => Err(errors::argument(
            value.py(),
            format!("{name} = {}; an integer from {least} to 2^53 is required", shown(value)),
        )),
    }
}

/// The exact value of a number as a `fractions.Fraction`.
///
/// Parameters
/// ----------
/// value : float, int, Fraction, Decimal or str
///     A float is the rational it stores; `"0.1"` is one tenth.
/// name : str
///     What an error message calls it.
#[pyfunction]
pub fn fraction<'py>(value: &Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    to_fraction(value.py(), &rational(value, name)?)
}

/// Doubles as Python's `array` and numpy hand them over: their bytes, in the machine's order.
pub fn doubles(bytes: &[u8]) -> Vec<f64> {
    let eight = |chunk: &[u8]| chunk.try_into().map_or(f64::NAN, f64::from_ne_bytes);
    bytes.chunks(size_of::<f64>()).map(eight).collect()
}

/// The exact value of an integer from `least` to 2^53, whatever the type it comes in.
#[pyfunction]
pub fn integer(value: &Bound<'_, PyAny>, name: &str, least: i64) -> PyResult<u64> {
    count(value, name, least)
}
