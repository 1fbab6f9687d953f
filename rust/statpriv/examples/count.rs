//! How private is the exact count of a property? Run with `cargo run --example count`.

use statpriv::{Count, Error};

fn main() -> Result<(), Error> {
    let count = Count::new(1024, "1/2")?;
    let curve = count.curve()?;
    println!("1024 people, half of them expected to have the property:");
    for epsilon in ["0.005", "0.05", "0.1"] {
        println!("  δ({epsilon}) is at most {:e}", curve.delta(epsilon)?.upper());
    }
    println!("  with δ = 10⁻⁶, ε is at most {}", curve.epsilon("1e-6")?.upper());
    println!(
        "  of all tests with a type I error of 5 %, the least type II error is {}",
        curve.beta("0.05")?.lower()
    );

    let watched = count.known(1000).curve()?;
    println!("if a reader knows 1000 of them, δ(0.1) is at most {:e}", watched.delta("0.1")?.upper());
    let digits = curve.delta_to_digits("0.1", 30)?;
    println!("to thirty digits, δ(0.1) lies between {} and {}", digits.lower, digits.upper);
    Ok(())
}
