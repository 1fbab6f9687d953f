//! Streams of text and number columns through the Arrow `PyCapsule` interface. Engines export them without
//! one Python object per row.

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::types::UInt16Type;
use arrow_array::{Array, ArrayRef, GenericStringArray, Int64Array, OffsetSizeTrait};
use arrow_schema::DataType;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use statpriv_release::cell::Cell;

create_exception!(
    statpriv._native,
    StreamError,
    PyException,
    "A stream of columns broke off. The message is the engine's, and may quote cells."
);

/// Takes ownership of the stream that an object with `__arrow_c_stream__` exports.
#[allow(unsafe_code)]
pub fn taken_over(source: &Bound<'_, PyAny>) -> PyResult<RecordBatchStreamReader> {
    let capsule = source.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: by the Arrow PyCapsule interface, a capsule of this name holds a valid stream, and its consumer
    // moves the stream out. `from_raw` leaves a released stream behind, which the capsule's destructor does
    // not release again.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
    RecordBatchStreamReader::try_new(stream).map_err(|error| StreamError::new_err(error.to_string()))
}

/// A column of numbers below 2^16 without missing values.
pub fn small_numbers(column: &ArrayRef) -> Result<&[u16], String> {
    let numbers = column.as_primitive_opt::<UInt16Type>().filter(|numbers| numbers.null_count() == 0);
    Ok(numbers.ok_or("a column is not of small numbers, one in every row")?.values())
}

/// A column of text or of whole numbers. A whole number stands for the text of its digits. Text bytes are not
/// assumed to be valid UTF-8.
pub enum Texts<'a> {
    Short(&'a GenericStringArray<i32>),
    Long(&'a GenericStringArray<i64>),
    Whole(&'a Int64Array),
}

impl<'a> Texts<'a> {
    /// All columns of a batch.
    pub fn of_all(columns: &'a [ArrayRef]) -> Result<Vec<Self>, String> {
        columns.iter().map(|column| Self::of(column.as_ref())).collect()
    }

    fn of(column: &'a dyn Array) -> Result<Self, String> {
        match column.data_type() {
            DataType::Utf8 => in_order(column.as_string()).map(Self::Short),
            DataType::LargeUtf8 => in_order(column.as_string()).map(Self::Long),
            DataType::Int64 => Ok(Self::Whole(column.as_primitive())),
            other => Err(format!("a column of a stream is {other}, and only text or Int64 is expected")),
        }
    }

    /// The cell in a row.
    #[inline]
    pub fn cell(&self, row: usize) -> Cell<'a> {
        match self {
            Self::Short(column) => bytes(column, row).into(),
            Self::Long(column) => bytes(column, row).into(),
            Self::Whole(column) if column.is_valid(row) => Cell::Whole(column.value(row)),
            Self::Whole(_) => Cell::Nothing,
        }
    }
}

/// Checks that the cells of a text column lie inside its bytes, one after the other. Data from an engine have
/// not been checked before.
fn in_order<O: OffsetSizeTrait>(column: &GenericStringArray<O>) -> Result<&GenericStringArray<O>, String> {
    let offsets = column.value_offsets();
    let rising = offsets.windows(2).all(|pair| pair[0] <= pair[1]);
    let inside = |end: &O| end.to_usize().is_some_and(|end| end <= column.value_data().len());
    let ends = [offsets.first(), offsets.last()].into_iter().flatten().all(inside);
    if rising && ends { Ok(column) } else { Err("a cell of a stream does not lie in its bytes".to_string()) }
}

fn bytes<O: OffsetSizeTrait>(column: &GenericStringArray<O>, row: usize) -> Option<&[u8]> {
    let offsets = column.value_offsets();
    column.is_valid(row).then(|| &column.value_data()[offsets[row].as_usize()..offsets[row + 1].as_usize()])
}
