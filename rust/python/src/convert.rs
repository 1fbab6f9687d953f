//! Conversion of Python numbers to exact rationals and back.
//! Accepted are float, int, Fraction, Decimal, numpy scalars, mpf and strings.

use crate::errors;
use dashu_int::{IBig, UBig};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{IntoPyDict, PyBool, PyBytes, PyFloat, PyInt, PyString, PyType};
use statpriv_core::numbers::rational::Rational;

/// Larger decimal exponents are refused before the number is expanded.
const LARGEST_DECIMAL_EXPONENT: i64 = 100_000;

/// The class `fractions.Fraction`. Many numbers are Fractions already and skip the checks for other types.
static FRACTION: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// The exact rational value of a Python number. `name` is used in error messages.
pub fn rational(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Rational> {
    let py = value.py();
    let refuse = |why: &str| errors::argument(py, format!("{name} = {} {why}", shown(value)));
    // Exact ints and Fractions come first: the checks further down probe for methods that they lack.
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

/// The quotient of a pair of integers, the second of them positive.
fn quotient(ratio: &Bound<'_, PyAny>) -> Option<Rational> {
    let (top, bottom) = ratio.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>().ok()?;
    let bottom = UBig::try_from(integer_from(&bottom).ok()?).ok()?;
    Rational::new(integer_from(&top).ok()?, bottom).ok()
}

const NOT_FINITE: &str = "is not finite; a finite number is required";
const NOT_A_NUMBER: &str =
    "is not a number; a float, int, Fraction, Decimal or string such as '0.1' or '1/2' is required";
/// Larger binary exponents are refused. The bound corresponds to that of the decimal exponents.
const LARGEST_BINARY_EXPONENT: usize = 332_193;

/// Whether the value is an integer of any library, such as a numpy scalar. Arrays and classes are not.
pub fn is_integer(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(value.hasattr("__index__")? && !value.hasattr("__len__")? && !value.is_instance_of::<PyType>())
}

/// The value as shown in error messages, cut to 80 characters. Python refuses to print very long integers.
pub fn shown(value: &Bound<'_, PyAny>) -> String {
    // "1/3" reads better than "Fraction(1, 3)". Everything else is shown by its repr.
    let is_fraction = value.get_type().name().is_ok_and(|name| name == "Fraction");
    let written = if is_fraction { value.str() } else { value.repr() };
    let text = written.map_or_else(|_| "(too long to print)".to_owned(), |text| text.to_string());
    if text.chars().count() <= 80 { text } else { text.chars().take(77).chain("...".chars()).collect() }
}

/// The value of mpmath's tuple `(sign, mantissa, exponent, bits)`, or why it is refused.
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

/// A Python integer of the same value.
pub fn integer_to<'py>(py: Python<'py>, value: &IBig) -> PyResult<Bound<'py, PyAny>> {
    if let Ok(small) = i64::try_from(value) {
        return Ok(small.into_pyobject(py)?.into_any());
    }
    let bytes = PyBytes::new(py, &value.to_le_bytes());
    let signed = [("signed", true)].into_py_dict(py)?;
    py.get_type::<PyInt>().call_method("from_bytes", (bytes, "little"), Some(&signed))
}

/// A `fractions.Fraction` of the same value. The parts are coprime, so Python's slow reduction is skipped.
pub fn to_fraction<'py>(py: Python<'py>, exact: &Rational) -> PyResult<Bound<'py, PyAny>> {
    let parts =
        (integer_to(py, exact.numerator())?, integer_to(py, &IBig::from(exact.denominator().clone()))?);
    let fraction = py.import("fractions")?.getattr("Fraction")?;
    if fraction.hasattr("_from_coprime_ints")? {
        return fraction.call_method1("_from_coprime_ints", parts);
    }
    // Python before 3.12 has no `_from_coprime_ints`.
    fraction.call(parts, Some(&[("_normalize", false)].into_py_dict(py)?))
}

/// The exact value of a number of at least 0.
pub fn not_negative(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Rational> {
    let exact = rational(value, name)?;
    if exact.is_negative() {
        let message = format!("{name} = {}; a number of at least 0 is required", shown(value));
        return Err(errors::argument(value.py(), message));
    }
    Ok(exact)
}

/// The value as an `i64`, whatever its type: 3.0 is accepted. None for a non-integer or an integer too large.
pub fn machine_integer(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<i64>> {
    if let Ok(integer) = value.cast_exact::<PyInt>()
        && let Ok(small) = integer.extract()
    {
        return Ok(Some(small));
    }
    rational(value, name).map(|exact| exact.to_i64())
}

/// An integer in `least..=2^53`, given as a number of any type.
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
///     The name used in error messages.
#[pyfunction]
pub fn fraction<'py>(value: &Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    to_fraction(value.py(), &rational(value, name)?)
}

/// Doubles from their bytes in native byte order, the layout of Python's `array` and of numpy.
pub fn doubles(bytes: &[u8]) -> Vec<f64> {
    let eight = |chunk: &[u8]| chunk.try_into().map_or(f64::NAN, f64::from_ne_bytes);
    bytes.chunks(size_of::<f64>()).map(eight).collect()
}

/// The value of an integer from `least` to 2^53, given as a number of any type.
#[pyfunction]
pub fn integer(value: &Bound<'_, PyAny>, name: &str, least: i64) -> PyResult<u64> {
    count(value, name, least)
}
