//! Elementary functions and arithmetic: balls, complex balls, enclosures, rationals.

use crate::record::Record;
use crate::{exactly, number};
use statpriv_core::digits::{DigitsEnclosure, Dyadic};
use statpriv_core::numbers::ball::Ball;
use statpriv_core::numbers::complex::Complex;
use statpriv_core::numbers::enclosure::Enclosure;
use statpriv_core::numbers::rational::Rational;
use statpriv_core::numbers::special::stirling_remainder;
use statpriv_core::numbers::special::trigonometric::{angle, exp_minus_one, ln_one_plus, pi, sin_cos};

/// Of every size, of both signs, with digits beyond those of a double.
fn numbers() -> Vec<(String, Rational)> {
    let plain = [
        "0",
        "1",
        "1/2",
        "3/7",
        "0.1",
        "2",
        "41/40",
        "-1/1000000007",
        "1e-30",
        "700",
        "-31.4",
        "1e15",
        "1e-320",
    ];
    let sequence = (1..40u64).map(|i| {
        let (top, bottom) = (i * 2_654_435_761 % 1_000_003, 1 + i * 40_503 % 65_537);
        format!("{}{top}/{bottom}e{}", if i % 3 == 0 { "-" } else { "" }, i % 7)
    });
    let text = |text: String| {
        let (fraction, power) = text.split_once('e').filter(|_| text.contains('/')).unwrap_or((&text, "0"));
        let tenth = number("1/10");
        let value = (0..power.parse::<u32>().unwrap()).fold(number(fraction), |x, _| x.mul(&tenth));
        (text.clone(), value)
    };
    plain.map(str::to_owned).into_iter().chain(sequence).map(text).collect()
}

/// A ball around the number, exactly it or wide.
fn balls() -> Vec<(String, Ball)> {
    let wide = |x: Ball| x.hull(x * Ball::from_rational(&number("1.0000001")));
    let both = |(name, x): (String, Rational)| {
        let ball = Ball::from_rational(&x);
        [(format!("{name} wide"), wide(ball)), (name, ball)]
    };
    numbers().into_iter().flat_map(both).collect()
}

#[test]
fn functions_of_balls() {
    let mut record = Record::of("functions of balls");
    for (name, x) in balls() {
        let (sine, cosine) = sin_cos(x);
        record.note(name, vec![x.exp(), x.ln(), exp_minus_one(x), ln_one_plus(x), sine, cosine]);
    }
    record.note("pi", pi());
    record.note("ln 2", (Ball::ln_2(), Ball::ln_2_pi()));
    for k in [0, 1, 2, 30, 63, 64, 1000, 1 << 53] {
        record.note(format!("stirling {k}"), stirling_remainder(k));
    }
    record.compare();
}

#[test]
fn arithmetic_of_balls() {
    let mut record = Record::of("arithmetic of balls");
    let all = balls();
    for (i, (name, x)) in all.iter().enumerate() {
        let (other, y) = &all[(i * 17 + 5) % all.len()];
        let (x, y) = (*x, *y);
        record.note(
            format!("{name} and {other}"),
            vec![x + y, x - y, x * y, x / y, x.max(y), x.min(y), x.hull(y)],
        );
        record.note(
            format!("{name} powers"),
            vec![x.powi(0), x.powi(7), x.powi(1_000_003), x.plus_at_most(y), -x],
        );
        record.note(format!("{name} angle"), angle(x, y));
        record.note(format!("{name} error"), x.relative_error());
    }
    record.compare();
}

#[test]
fn functions_of_complex_balls() {
    let mut record = Record::of("functions of complex balls");
    let all = balls();
    for (i, (name, re)) in all.iter().enumerate() {
        let (other, im) = &all[(i * 23 + 8) % all.len()];
        let z = Complex { re: *re, im: *im };
        let results = [z.exp(), z.exp_minus_one(), z.ln_one_plus(), z.reciprocal(), z * z, z + z.exp(), -z];
        record.note(format!("{name} + i {other}"), results.map(|z| (z.re, z.im)).to_vec());
    }
    record.compare();
}

#[test]
fn arithmetic_of_enclosures() {
    let mut record = Record::of("arithmetic of enclosures");
    let all: Vec<_> = balls().into_iter().map(|(name, x)| (name, x.to_enclosure())).collect();
    for (i, (name, x)) in all.iter().enumerate() {
        let (other, y) = &all[(i * 29 + 3) % all.len()];
        let (x, y) = (*x, *y);
        let results = vec![x + y, x - y, x * y, -x, x.reciprocal(), x.clamp(-1.0, 2.0)];
        record.note(format!("{name} and {other}"), results);
        record.note(format!("{name} width"), x.width());
    }
    for (name, x) in numbers() {
        record.note(format!("{name} enclosed"), Enclosure::from(&x));
    }
    record.compare();
}

#[test]
fn numbers_with_digits() {
    let mut record = Record::of("numbers with digits");
    let all: Vec<_> = numbers();
    for (i, (name, x)) in all.iter().enumerate() {
        let (other, y) = &all[(i * 11 + 2) % all.len()];
        let enclosed = |x: &Rational, bits| DigitsEnclosure::rounded(x, bits);
        let (a, b) = (enclosed(x, 90), enclosed(y, 70));
        let results = vec![&a + &b, &a * &b, -&a, a.reciprocal(80), a.outward(40)];
        record.note(format!("{name} and {other}"), results);
        record.note(format!("{name} exactly"), vec![x.add(y), x.sub(y), x.mul(y), x.abs()]);
        for up in [false, true] {
            let text = Dyadic::rounded(x, 120, up).decimal(20, up);
            record.note(format!("{name} decimal {up}"), crate::record::Plain(text));
        }
        if let Ok(x) = Rational::from_f64(Enclosure::from(x).lower()) {
            record.note(format!("{name} as a double"), x);
        }
    }
    record.note("a subnormal", exactly(5e-324));
    record.compare();
}
