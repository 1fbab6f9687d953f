//! An exact table that is published only if every cell holds a minimum number of rows. Run with `cargo run --example table`.

use statpriv::{Error, ExactTable};

fn main() -> Result<(), Error> {
    println!("for every distribution, every number of rows and every number of cells:");
    for minimum in [3, 5, 10, 30] {
        let table = ExactTable::new(minimum);
        let (bound, supremum) = (table.curve()?.delta(1)?.upper(), table.supremum()?.delta(1)?.upper());
        println!(
            "  a minimum of {minimum:2}: δ(1) is at most {bound:.3e}, and no table has more than {supremum:.3e}"
        );
    }
    if let Some(least) = ExactTable::least_minimum(1, "1e-5", 0)? {
        println!("the least minimum with δ(1) ≤ 10⁻⁵ is {least}");
    }
    Ok(())
}
