//! The C door: functions over opaque curves. Its header, `include/statpriv.h`, is made from this crate.
//!
//! Every function returns a [`Status`] and writes its result through the last pointers; what they point to is unchanged
//! unless the status is OK. Numbers are texts, so that decimals are exactly what they say. No function keeps a pointer
//! that it is given, but for the context of `statpriv_ended_by`. Nothing unwinds into C: a panic, which would be a defect, is a
//! status.

mod composition;
mod curves;
mod laws;
mod status;

use statpriv::{Enclosure, PrivacyCurve};
use std::ffi::{CStr, c_char};

pub use status::Status;

/// How private an answer is: δ for every ε. Made and freed by this library, and never changed, so that threads may share it.
pub struct Curve(PrivacyCurve);

/// Two doubles with the truth between them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Ends {
    /// At most the truth.
    pub lower: f64,
    /// At least the truth: the safe end of δ and of ε.
    pub upper: f64,
}

impl From<Enclosure> for Ends {
    fn from(found: Enclosure) -> Self {
        Self { lower: found.lower(), upper: found.upper() }
    }
}

/// The version of this interface. It changes if a program that was compiled for an older one would no longer work.
pub const STATPRIV_ABI_VERSION: u32 = 1;

/// The version of the interface of the library that is loaded, to be compared with STATPRIV_ABI_VERSION.
#[unsafe(no_mangle)]
pub extern "C" fn statpriv_abi_version() -> u32 {
    STATPRIV_ABI_VERSION
}

/// The version of the library, such as "0.1.0". It is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn statpriv_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => c"",
        };
    VERSION.as_ptr()
}

/// What went wrong in the last call on this thread whose status was not OK, as one sentence in UTF-8; an empty text before that. It is
/// valid until the next call on this thread, and is not to be freed.
#[unsafe(no_mangle)]
pub extern "C" fn statpriv_last_error() -> *const c_char {
    status::last_message()
}
