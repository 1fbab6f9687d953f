//! Several exact answers, each on its part of a secret partition. Run with `cargo run --example composition`.

use statpriv::{Composition, Count, Error, Histogram, Probability};

fn main() -> Result<(), Error> {
    let survey = Composition::new(3000)
        .part("smokes", Count::new(1000, "0.3")?)
        .part("smokes", Count::new(400, "0.3")?)
        .part("region", Histogram::new(1500, ["0.5", "0.3", "0.2"])?);
    let curve = survey.curve()?;
    println!("two counts of smokers and a histogram, on parts of 3000 people:");
    println!("  all together, δ(0.1) is at most {:e}", curve.delta("0.1")?.upper());

    let cautious = survey.part("vote", Count::of(100, Probability::between("0.3", "0.7")?)).curve()?;
    println!(
        "  with one more count, of a probability in a range: at most {:e}",
        cautious.delta("0.1")?.upper()
    );
    Ok(())
}
