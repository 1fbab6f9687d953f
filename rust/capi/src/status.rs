//! What a call returns, and the sentence that belongs to it.

use statpriv::Error;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a call returns.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The result is there.
    Ok = 0,
    /// An argument has a value that is not allowed; `statpriv_last_error` names it and what is allowed.
    Argument = 1,
    /// The result cannot be enclosed within the limits of this version.
    Precision = 2,
    /// The function given to `statpriv_ended_by` ended the work.
    Interrupted = 3,
    /// A defect of this library.
    Defect = 4,
}

thread_local! {
    static MESSAGE: RefCell<CString> = RefCell::default();
}

pub fn last_message() -> *const c_char {
    MESSAGE.with_borrow(|message| message.as_ptr())
}

fn remember(message: &str) {
    // A text of the caller cannot hold a NUL, and no message does.
    let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
    MESSAGE.with_borrow_mut(|last| *last = message);
}

/// Write the result of `compute` to `place`, or say why there is none.
///
/// # Safety
/// `place` is NULL or may be written.
pub unsafe fn written<T>(place: *mut T, compute: impl FnOnce() -> Result<T, Error>) -> Status {
    done(|| {
        required(place)?;
        let value = compute()?;
        // SAFETY: the caller of this function promises that a pointer other than NULL may be written.
        unsafe { place.write(value) };
        Ok(())
    })
}

/// Refuse a place for a result that is none.
pub fn required<T>(place: *mut T) -> Result<(), Error> {
    if place.is_null() { Err(Error::argument("the pointer for the result is NULL")) } else { Ok(()) }
}

/// Do what `act` does, or say why not.
pub fn done(act: impl FnOnce() -> Result<(), Error>) -> Status {
    // What is done shares nothing that a panic could leave half done.
    match catch_unwind(AssertUnwindSafe(act)) {
        Ok(Ok(())) => Status::Ok,
        Ok(Err(error)) => {
            remember(&error.to_string());
            match error {
                Error::Argument(_) => Status::Argument,
                Error::Precision(_) => Status::Precision,
                Error::Interrupted => Status::Interrupted,
            }
        }
        Err(_) => {
            remember("a defect of statpriv; please report how it came to be");
            Status::Defect
        }
    }
}

/// A text of the caller.
///
/// # Safety
/// `text` is NULL or ends with a NUL.
pub unsafe fn text<'a>(text: *const c_char, argument: &str) -> Result<&'a str, Error> {
    if text.is_null() {
        return Err(Error::argument(format!("{argument} is NULL; a text is required")));
    }
    // SAFETY: the caller of this function promises a NUL at its end.
    let bytes = unsafe { CStr::from_ptr(text) };
    bytes.to_str().map_err(|_| Error::argument(format!("{argument} is not UTF-8")))
}

/// So many values of the caller.
///
/// # Safety
/// `first` is NULL, or points to so many values.
pub unsafe fn several<'a, T>(first: *const T, number: usize, argument: &str) -> Result<&'a [T], Error> {
    if number == 0 {
        return Ok(&[]);
    }
    if first.is_null() {
        return Err(Error::argument(format!("{argument} is NULL; {number} values are required")));
    }
    if number > isize::MAX as usize / size_of::<T>().max(1) {
        return Err(Error::argument(format!("{argument} has {number} values; memory does not hold as many")));
    }
    // SAFETY: the caller of this function promises so many values, and they fit into memory.
    Ok(unsafe { std::slice::from_raw_parts(first, number) })
}

/// What a pointer of the caller points to.
///
/// # Safety
/// `pointer` is NULL or points to a value.
pub unsafe fn value<'a, T>(pointer: *const T, argument: &str) -> Result<&'a T, Error> {
    // SAFETY: the caller of this function promises a value behind a pointer other than NULL.
    unsafe { pointer.as_ref() }.ok_or_else(|| Error::argument(format!("{argument} is NULL")))
}
