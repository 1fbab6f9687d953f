//! How long work asks whether it should go on.

use crate::error::Error;

/// Asked every few thousand terms by loops that can take long.
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
