//! Normal forms: families of pairs of laws, each with its hockey stick.

mod answers;
mod binomial_peaks;
mod binomial_range;
mod direction;
mod drawn_groups;
mod each_in_range;
pub mod enclosed;
mod epsilon;
pub mod finite;
mod gated_supremum;
mod gaussian;
mod grouped_count;
mod hockey_stick;
mod known_in_sample;
mod shifted_binomial;
mod smoothed;
mod stop_loss;
mod threshold;
mod tie;
mod varied_count;

pub use answers::Answers;
pub(crate) use answers::contenders;
pub use binomial_peaks::BinomialPeaks;
pub use binomial_range::BinomialRange;
pub use direction::{Directed, Direction};
pub use drawn_groups::DrawnGroups;
pub use each_in_range::EachInRange;
pub use epsilon::Epsilon;
pub use gated_supremum::GatedSupremum;
pub use gaussian::gaussian_delta;
pub use grouped_count::GroupedCount;
pub(crate) use hockey_stick::COARSE;
pub use hockey_stick::{Count, Digits, End, Form, HockeyStick, Pattern, WrittenOut};
pub use known_in_sample::KnownInSample;
pub use shifted_binomial::{Given, ShiftedBinomial};
pub use smoothed::{ContinuousNoise, Smoothed};
pub(crate) use stop_loss::likelihood_excess;
pub use varied_count::VariedCount;

use crate::error::Error;
use epsilon::LARGEST;

/// Refuses a number of entries outside 1 to 2^53.
fn check_size(size: u64) -> Result<(), Error> {
    if (1..=1 << 53).contains(&size) {
        return Ok(());
    }
    Err(Error::argument(format!("size = {size}; an integer from 1 to 2^53 is required")))
}
