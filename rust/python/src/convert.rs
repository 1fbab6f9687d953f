//! Exact numbers from Python: float, int, Fraction, Decimal, numpy scalar, mpf or string → rational.

use crate::errors;
use dashu_int::{IBig, Sign, UBig};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString};
use statpriv_core::rational::Rational;

/// Decimal exponents beyond this are refused before anything is written out.
const LARGEST_DECIMAL_EXPONENT: i64 = 100_000;

/// The rational that `value` is, exactly. `name` is what the message calls it.
pub fn rational(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Rational> {
    let py = value.py();
    let refuse = |why: &str| {
        let shown = value.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string());
        let shown: String = shown.chars().take(80).collect();
        errors::argument(py, format!("{name} = {shown} {why}"))
    };
    if value.is_instance_of::<PyBool>() {
        return Err(refuse("is a truth value; a number is required"));
    }
    if let Ok(text) = value.cast::<PyString>() {
        let text = text.to_string();
        return Rational::parse(&text).map_err(|error| errors::argument(py, format!("{name}: {error}")));
    }
    if let Ok(float) = value.cast::<PyFloat>() {
        return Rational::from_f64(float.value())
            .map_err(|_| refuse("is not finite; a finite number is required"));
    }
    if let Ok(adjusted) = value.call_method0("adjusted").and_then(|exponent| exponent.extract::<i64>())
        && adjusted.abs() > LARGEST_DECIMAL_EXPONENT
    {
        return Err(refuse("has a decimal exponent beyond ±100000"));
    }
    if let Ok(parts) = value.getattr("_mpf_") {
        return binary(&parts).ok_or_else(|| refuse("is not finite; a finite number is required"));
    }
    let Ok(method) = value.getattr("as_integer_ratio") else {
        return Err(refuse(
            "is not a number; a float, int, Fraction, Decimal or string such as '0.1' or '1/2' is required",
        ));
    };
    let ratio = method.call0().map_err(|_| refuse("is not finite; a finite number is required"))?;
    let (top, bottom) = ratio.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
    match (integer_from(&top)?, UBig::try_from(integer_from(&bottom)?)) {
        (top, Ok(bottom)) => Rational::new(top, bottom).map_err(|error| errors::from_kernel(py, &error)),
        _ => Err(refuse("has a negative denominator")),
    }
}

/// mpmath's `(sign, mantissa, exponent, bits)`.
fn binary(parts: &Bound<'_, PyAny>) -> Option<Rational> {
    let (sign, mantissa, exponent, _) =
        parts.extract::<(i64, Bound<'_, PyAny>, i64, Bound<'_, PyAny>)>().ok()?;
    let mantissa = integer_from(&mantissa).ok()?;
    if mantissa.is_zero() {
        return (exponent == 0).then(|| Rational::from(0i64));
    }
    let signed = if sign == 0 { mantissa } else { -mantissa };
    let shift = usize::try_from(exponent.unsigned_abs()).ok().filter(|&shift| shift < 1 << 24)?;
    if exponent >= 0 {
        Rational::new(signed << shift, UBig::ONE).ok()
    } else {
        Rational::new(signed, UBig::ONE << shift).ok()
    }
}

/// A Python integer of any size.
fn integer_from(value: &Bound<'_, PyAny>) -> PyResult<IBig> {
    if let Ok(small) = value.extract::<i64>() {
        return Ok(IBig::from(small));
    }
    let digits: String = value.call_method1("__format__", ("x",))?.extract()?;
    IBig::from_str_radix(&digits, 16)
        .map_err(|_| errors::argument(value.py(), "an integer that cannot be read in hexadecimal"))
}

fn integer_to<'py>(py: Python<'py>, value: &IBig) -> PyResult<Bound<'py, PyAny>> {
    if let Ok(small) = i64::try_from(value) {
        return Ok(small.into_pyobject(py)?.into_any());
    }
    let sign = if value.sign() == Sign::Negative { "-" } else { "" };
    let digits = format!("{sign}{}", dashu_int::ops::UnsignedAbs::unsigned_abs(value.clone()).in_radix(16));
    py.get_type::<PyInt>().call1((digits, 16))
}

/// An integer in `least..=2^53`, whatever the type it comes in: 3.0 counts, 1.5 does not.
pub fn count(value: &Bound<'_, PyAny>, name: &str, least: i64) -> PyResult<u64> {
    let number = rational(value, name)?;
    match number.to_i64() {
        Some(integer) if integer >= least && integer <= 1 << 53 => Ok(integer.unsigned_abs()),
        _ => {
            let shown: String = value.repr()?.to_string().chars().take(80).collect();
            Err(errors::argument(
                value.py(),
                format!("{name} = {shown}; an integer from {least} to 2^53 is required"),
            ))
        }
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
    let py = value.py();
    let exact = rational(value, name)?;
    let parts =
        (integer_to(py, exact.numerator())?, integer_to(py, &IBig::from(exact.denominator().clone()))?);
    py.import("fractions")?.getattr("Fraction")?.call1(parts)
}

/// The exact value of an integer from `least` to 2^53, whatever the type it comes in.
#[pyfunction]
pub fn integer(value: &Bound<'_, PyAny>, name: &str, least: i64) -> PyResult<u64> {
    count(value, name, least)
}
