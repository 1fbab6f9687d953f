//! What can go wrong: an argument that is not allowed, a result that cannot be enclosed, an interruption.

use std::fmt;

/// Every failure of the kernel. Nothing panics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// An argument has a value that is not allowed; the message names it, its value and what is allowed.
    Argument(String),
    /// The result cannot be enclosed within the budget of this tier.
    Precision(String),
    /// The caller asked to stop.
    Interrupted,
}

impl Error {
    /// An [`Error::Argument`].
    pub fn argument(message: impl Into<String>) -> Self {
        Self::Argument(message.into())
    }

    /// An [`Error::Precision`].
    pub fn precision(message: impl Into<String>) -> Self {
        Self::Precision(message.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument(message) | Self::Precision(message) => f.write_str(message),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for Error {}
