//! What digits cost, counted by tests: a result is the same where more bits are asked for than it needs.

use crate::record::Plain;
use std::cell::Cell;

thread_local! {
    /// Bits of all balls so far.
    static ASKED_FOR: Cell<u64> = const { Cell::new(0) };
}

/// A ball is asked for so many bits.
pub(crate) fn add(bits: usize) {
    ASKED_FOR.set(ASKED_FOR.get().wrapping_add(bits as u64));
}

/// Bits that balls are asked for from now on, on this thread.
pub(crate) struct Cost(u64);

impl Cost {
    pub fn from_now_on() -> Self {
        Self(ASKED_FOR.get())
    }

    pub fn so_far(&self) -> Plain<u64> {
        Plain(ASKED_FOR.get().wrapping_sub(self.0))
    }
}
