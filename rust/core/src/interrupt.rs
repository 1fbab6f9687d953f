//! Cancellation hook polled by long loops.

use crate::error::Error;

/// A hook that long loops poll every few thousand terms.
pub trait Interrupt {
    /// # Errors
    /// [`Error::Interrupted`] when the work should stop.
    fn check(&self) -> Result<(), Error>;
}

/// Never stops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uninterrupted;

impl Interrupt for Uninterrupted {
    fn check(&self) -> Result<(), Error> {
        Ok(())
    }
}
