//! What the exact count of a property among 1024 people reveals.

use statpriv_core::curve::CountFamily;
use statpriv_core::interrupt::Uninterrupted;
use statpriv_core::inverse;
use statpriv_core::numbers::rational::Rational;

fn main() -> Result<(), statpriv_core::error::Error> {
    // 1024 people, each with the property with probability one half; what does their exact count reveal?
    let half = Rational::parse("1/2")?;
    let curve = CountFamily::new(&half, &half, None)?.of_size(1024)?;
    let delta = curve.delta(&Rational::parse("0.005")?, &Uninterrupted)?;
    println!("δ(0.005) lies in [{}, {}]", delta.lower(), delta.upper());
    let epsilon = inverse::epsilon(&curve, &Rational::parse("1e-6")?, &Uninterrupted)?;
    println!("ε(10⁻⁶) lies in [{}, {}]", epsilon.lower(), epsilon.upper());
    Ok(())
}
