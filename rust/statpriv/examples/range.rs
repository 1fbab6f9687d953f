//! The count of a property whose probability is known to a range only. Run with `cargo run --example range`.

use statpriv::{Count, Error, Probability};

fn main() -> Result<(), Error> {
    println!("5000 people; δ at ε = 0.1, if the probability of the property lies in");
    for (lower, upper) in [("0.3", "0.3"), ("0.25", "0.35"), ("0.1", "0.5"), ("0.01", "0.99")] {
        let delta = Count::of(5000, Probability::between(lower, upper)?).curve()?.delta("0.1")?;
        println!("  [{lower}, {upper}]: at most {:e}", delta.upper());
    }
    Ok(())
}
