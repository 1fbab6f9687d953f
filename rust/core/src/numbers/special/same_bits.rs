//! Double-doubles of the elementary functions, and tables they start from, to the last bit: a ball around them rounds their last bits away.

use super::deviance::deviances;
use super::plain_exponential;
use super::plain_logarithm::{Neighbours, ln_of_quotients};
use super::trigonometric::{angle, sin_cos};
use super::*;
use crate::numbers::ball::Ball;
use crate::numbers::lanes::{DoubleDoubles, Lanes};
use crate::numbers::rational::Rational;
use crate::record::{Inner, Record};
use statpriv_simd::Portable;

/// `x` and next to a quarter of an ulp.
fn double_double(x: f64) -> DoubleDouble {
    DoubleDouble { hi: x, lo: x * f64::EPSILON / 9.0 }
}

fn at(record: &mut Record, name: &str, x: f64) {
    let given = double_double(x);
    record.note(format!("e^{name}"), Inner(exp(given)));
    if (-600.0..=700.0).contains(&x) {
        record.note(format!("e^{name} and less one"), Inner(exp_and_expm1::<Portable>(given)));
    }
    if x >= -0.5 {
        record.note(format!("ln(1 + {name})"), Inner(ln_1p::<Portable>(given)));
    }
    if x.abs() <= 11_000.0 {
        let shares = [0.0, 1e-13, -9e-13].map(|lo| plain_exponential::exp(x, lo));
        record.note(format!("e^{name} in doubles"), Inner(shares));
    }
}

#[test]
fn elementary_functions() {
    let mut record = Record::of("inner elementary functions");
    for x in [
        0.0, 1e-40, 1e-33, 1e-20, 1e-5, 0.0009, 0.001, 0.0011, 0.0018, 0.0019, 0.0021, 0.01, 0.3, 0.41, 0.43,
        1.0, 3.0, 17.0,
    ] {
        at(&mut record, &format!("{x:e}"), x);
        at(&mut record, &format!("-{x:e}"), -x);
    }
    for x in [
        -0.4999, 300.5, -599.0, 699.0, -9000.0, 1023.9, 1024.0, 1024.1, -1024.0, -1025.0, 1e6, -1e9, 1e14,
        -1e15,
    ] {
        at(&mut record, &format!("{x:e}"), x);
    }
    for m in [
        std::f64::consts::FRAC_1_SQRT_2,
        0.7072,
        0.75,
        0.9,
        0.998,
        0.9981,
        0.99999,
        1.0,
        1.00001,
        1.0019,
        1.002,
        1.1,
    ] {
        record.note(format!("ln {m}"), Inner(ln_near_one::<Portable>(double_double(m))));
        record.note(format!("ln {m} by its series"), Inner(series::ln(double_double(m))));
        record.note(format!("e^{} by its series", m - 1.0), Inner(series::exp(double_double(m - 1.0))));
    }
    record.compare();
}

#[test]
fn logarithms_and_deviances_four_at_a_time() {
    let mut record = Record::of("inner functions of four numbers");
    for x in [
        [1.0, 2.0, 3.0, 4.0],
        [0.707, 0.7072, 1.414, 1.4143],
        [1e-300, 3e-9, 7e12, 8e299],
        [1.0, 1.003, 1.0039, 1.02],
    ] {
        let name = format!("{x:?}");
        record.note(format!("neighbours of {name}"), Inner(Neighbours::of(Lanes(x))));
        let given = DoubleDoubles::from(x.map(double_double));
        let quotients =
            [[1.0; 4], [3.0, 0.3, 5e10, 2.0]].map(|y| ln_of_quotients::<Portable>(given, Lanes(y)));
        record.note(format!("logarithms of {name}"), Inner(quotients));
    }
    for x in [[1.0, 2.0, 300.0, 4e15], [0.0, 1.0, 5e9, 1e5], [40.0, 41.0, 42.0, 0.0]] {
        for factor in [1.0, 1.0 + 1e-9, 1.003, 0.996, 0.995, 1.0047, 0.5, 3.0, 1e-200, 1e9] {
            let means = x.map(|x: f64| double_double(x.max(0.5) * factor));
            let away = [0, 1, 2, 3].map(|i| means[i].add(DoubleDouble::from_f64(-x[i])));
            let found =
                deviances::<Portable>(Lanes(x), DoubleDoubles::from(away), || DoubleDoubles::from(means));
            record.note(format!("deviances of {x:?} from {factor} of it"), Inner(found));
        }
    }
    for k in [[0, 1, 2, 3], [27, 28, 29, 63], [64, 65, 1000, 1 << 53]] {
        record.note(format!("stirling {k:?}"), Inner((stirling_parts(k), k.map(stirling_remainder))));
    }
    record.compare();
}

#[test]
fn angles() {
    let mut record = Record::of("inner angles");
    let ball = |x: &str| Ball::from_rational(&Rational::parse(x).unwrap());
    for x in ["0", "1", "-1", "0.7", "-2.3", "1e-9", "25", "24", "-1e-300"] {
        let angles = ["0", "1", "-1", "0.6", "-17", "1e-30", "26"].map(|y| angle(ball(x), ball(y)));
        record.note(format!("angles beside {x}"), angles.to_vec());
    }
    for x in ["0.78", "0.79", "2.35", "-2.36", "1000.5", "1e12", "8.9e15", "1.5e16"] {
        let wide = ["0", "1e-6", "0.01", "0.02", "0.79", "1"]
            .map(|width| sin_cos(ball(x).hull(ball(x) + ball(width))));
        record.note(format!("sines and cosines from {x}"), wide.to_vec());
    }
    record.compare();
}
