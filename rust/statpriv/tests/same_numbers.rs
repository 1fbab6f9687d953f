//! The numbers are those of the Python package, to the last bit (`tests/doors.py` writes them).

#![allow(clippy::unwrap_used, clippy::panic, clippy::cast_precision_loss)]

use statpriv::{Composition, Count, Error, ExactTable, Histogram, PrivacyCurve, Probability, Sum};

const ANSWERS: &str = include_str!("../../../tests/vectors/doors.tsv");

/// A number as `float.hex` of Python writes it.
fn hexadecimal(text: &str) -> f64 {
    if text == "inf" {
        return f64::INFINITY;
    }
    let (mantissa, exponent) = text.strip_prefix("0x").unwrap().split_once('p').unwrap();
    let (whole, digits) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let scaled = u64::from_str_radix(&format!("{whole}{digits}"), 16).unwrap();
    let exponent = exponent.parse::<i32>().unwrap() - 4 * i32::try_from(digits.len()).unwrap();
    // Two steps, so that no factor underflows.
    scaled as f64 * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2)
}

fn valued(numbers: &str) -> Vec<(i64, &str)> {
    numbers
        .split_whitespace()
        .map(|value| value.split_once(':').unwrap())
        .map(|(v, p)| (v.parse().unwrap(), p))
        .collect()
}

/// Those of `COMPOSITIONS` in `tests/doors.py`, by their number of rows.
fn composition(rows: u64) -> Composition {
    let all = Composition::new(rows);
    match rows {
        60 => all.part("", Count::new(20, "0.3").unwrap()).part("", Count::new(30, "0.6").unwrap()),
        3000 => all
            .part("smokes", Count::new(1000, "0.3").unwrap())
            .part("smokes", Count::new(400, "0.3").unwrap())
            .part("", Histogram::new(1500, ["0.5", "0.3", "0.2"]).unwrap()),
        100 => (0..3).fold(all, |all, _| all.part("", Count::new(25, "0.2").unwrap())),
        90 => all
            .part("", Sum::new(30, [(0, "1/2"), (1, "1/4"), (5, "1/4")]).unwrap())
            .part("", Count::new(40, "0.5").unwrap()),
        10 => all.part("", Count::new(5, 0).unwrap()).part("", Count::new(5, "0.5").unwrap()),
        40 => all
            .part("", Histogram::new(20, ["0.5", "0.5", "0"]).unwrap())
            .part("", Count::new(20, "0.2").unwrap()),
        36 => all.part("", Sum::new(30, [(0, "1/2"), (1, "1/2"), (7, "0")]).unwrap()),
        72 => (1..7).fold(all, |all, tenths| all.part("", Count::new(12, format!("0.{tenths}")).unwrap())),
        1 => all.part("", Count::new(1, "0.3").unwrap()),
        11 => (0..2).fold(all, |all, _| all.part("a", Count::new(5, "0.3").unwrap())),
        12 => (0..2)
            .fold(all, |all, _| all.part("a", Count::of(6, Probability::between("0.2", "0.4").unwrap()))),
        13 => all.part("", Histogram::new(9, ["0.5", "0.3", "0.2"]).unwrap()),
        50 => all
            .part("", Count::of(20, Probability::between("0.2", "0.4").unwrap()))
            .part("", Count::new(10, "0.5").unwrap()),
        _ => panic!("a composition that is not here"),
    }
}

fn curve(query: &str, rows: u64, numbers: &str, known: u64) -> Result<PrivacyCurve, Error> {
    match query {
        "count" => Count::new(rows, numbers)?.known(known).curve(),
        "range" => {
            let (lower, upper) = numbers.split_once(' ').unwrap();
            Count::of(rows, Probability::between(lower, upper)?).known(known).curve()
        }
        "histogram" => Histogram::new(rows, numbers.split(' '))?.known(known).curve(),
        "sum" => Sum::new(rows, valued(numbers))?.known(known).curve(),
        "table" => ExactTable::new(rows).known(known).curve(),
        "supremum" => ExactTable::new(rows).known(known).supremum(),
        _ => composition(rows).curve(),
    }
}

#[test]
fn every_number_is_that_of_python() {
    let mut asked = 0;
    for line in ANSWERS.lines().skip(1) {
        let [query, rows, numbers, known, quantity, at, lower, upper] =
            line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let curve = curve(query, rows.parse().unwrap(), numbers, known.parse().unwrap()).unwrap();
        let found = match quantity {
            "delta" => curve.delta(at),
            "epsilon" => curve.epsilon(at),
            _ => curve.beta(at),
        };
        let found = found.unwrap();
        assert_eq!((found.lower(), found.upper()), (hexadecimal(lower), hexadecimal(upper)), "{line}");
        asked += 1;
    }
    assert!(asked > 80);
}
