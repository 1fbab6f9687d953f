//! How many cases a property is tried on: some for every change, more where `make campaign` sets `STATPRIV_CAMPAIGN`.

/// The number for this run.
pub(crate) fn cases(few: u32, campaign: u32) -> u32 {
    let set = std::env::var("STATPRIV_CAMPAIGN").is_ok_and(|value| !matches!(value.as_str(), "" | "0"));
    if set { campaign } else { few }
}
