//! How private are the exact counts of all values? Run with `cargo run --example histogram`.

use statpriv::{Error, Histogram};

fn main() -> Result<(), Error> {
    let regions = Histogram::new(2000, ["0.5", "0.3", "0.15", "0.05"])?;
    println!("2000 people in four regions:");
    println!("  δ(0.2) is at most {:e}", regions.curve()?.delta("0.2")?.upper());
    println!("  between the first two, at most {:e}", regions.pair(0, 1).curve()?.delta("0.2")?.upper());
    Ok(())
}
