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

/// How often work asks whether to go on: what tests measure it by.
#[cfg(test)]
#[derive(Default)]
pub(crate) struct Questions(std::cell::Cell<u64>);

#[cfg(test)]
impl Questions {
    pub fn number(&self) -> u64 {
        self.0.get()
    }
}

#[cfg(test)]
impl Interrupt for Questions {
    fn check(&self) -> Result<(), Error> {
        self.0.set(self.0.get() + 1);
        Ok(())
    }
}
