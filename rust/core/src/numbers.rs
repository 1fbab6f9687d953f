//! Numbers whose error is known: rationals, double-doubles, balls, enclosures, and the functions of them that laws need.

pub(crate) mod approximate;
pub mod ball;
pub mod complex;
pub(crate) mod complex_ball;
pub mod double_double;
pub mod enclosure;
pub(crate) mod lanes;
pub mod rational;
pub(crate) mod scaled;
pub mod special;
