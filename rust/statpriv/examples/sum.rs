//! How private is an exact sum? Run with `cargo run --example sum`.

use statpriv::{Error, Sum};

fn main() -> Result<(), Error> {
    let children = Sum::new(400, [(0, "0.4"), (1, "0.3"), (2, "0.2"), (3, "0.1")])?;
    println!("the number of children of 400 households:");
    println!("  δ(0.5) is at most {:e}", children.curve()?.delta("0.5")?.upper());
    let one_more = children.pair(0, 1).curve()?;
    println!("  between no child and one, at most {:e}", one_more.delta("0.5")?.upper());
    Ok(())
}
