//! The order of the two laws of a property.

/// Which of the two laws stands first in `Δ_{v,w}(ε) = Σ_a max(0, P_v(a) − e^ε P_w(a))`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// `Δ_{1,0}`: the critical entry has the property, against: it has not.
    OneAgainstZero,
    /// `Δ_{0,1}`.
    ZeroAgainstOne,
}

impl Direction {
    /// Both, in the order in which they are tried.
    pub const BOTH: [Self; 2] = [Self::OneAgainstZero, Self::ZeroAgainstOne];

    /// The same two laws in the other order.
    #[must_use]
    pub fn reversed(self) -> Self {
        match self {
            Self::OneAgainstZero => Self::ZeroAgainstOne,
            Self::ZeroAgainstOne => Self::OneAgainstZero,
        }
    }
}

/// Laws under both values of a property, in one direction.
#[derive(Clone, Debug)]
pub struct Directed<L>(pub L, pub Direction);

impl<L: Clone> Directed<L> {
    /// The same laws in the other direction.
    #[must_use]
    pub fn opposite(&self) -> Self {
        Self(self.0.clone(), self.1.reversed())
    }
}
