use super::*;
use crate::interrupt::Uninterrupted;

fn rational(text: &str) -> Rational {
    Rational::parse(text).unwrap()
}

/// The two directions of a property on `size` of `n` entries.
fn property(n: u64, size: u64, p: &Rational) -> Vec<Vec<Part>> {
    let zero = Rational::from(0i64);
    let q = Rational::from(1i64).sub(p);
    let share = Rational::from(1i64).div(&Rational::from(n)).unwrap();
    let part = |one: (&Rational, &Rational), other: (&Rational, &Rational)| {
        let cell = |mass: &Rational, (first, second): (&Rational, &Rational)| Cell {
            mass: mass.clone(),
            first: first.clone(),
            second: second.clone(),
        };
        vec![Part::Entries { count: size, cells: vec![cell(p, one), cell(&q, other)] }]
    };
    vec![part((&share, &zero), (&zero, &share)), part((&zero, &share), (&share, &zero))]
}

fn partition(n: u64, parts: &[(u64, &str)], pattern: Option<&[usize]>) -> Composition {
    let used: u64 = parts.iter().map(|(size, _)| size).sum();
    let attributes = parts.iter().enumerate().map(|(k, (size, p))| {
        let choices = property(n, *size, &rational(p));
        let choices = match pattern {
            Some(chosen) => vec![choices[chosen[k]].clone()],
            None => choices,
        };
        Attributes { count: 1, choices }
    });
    let unused = Rational::from(n - used).div(&Rational::from(n)).unwrap();
    Composition::new(unused, attributes.collect()).unwrap()
}

fn delta(composition: &Composition, epsilon: &str) -> (Ball, Ball) {
    let at = Epsilon::new(&rational(epsilon));
    if composition.is_exact() {
        let value = composition.exactly(&at, &Uninterrupted).unwrap();
        return (value, value);
    }
    let end = |end| composition.delta(&at, end, &Uninterrupted).unwrap();
    (end(End::Lower), end(End::Upper))
}

fn contains(ball: Ball, truth: &str) -> bool {
    ball.to_enclosure().contains(&rational(truth))
}

#[test]
fn eight_parts_by_pattern() {
    let parts: Vec<(u64, String)> = (0..8).map(|k| (50, format!("{}/70", 7 + 6 * k))).collect();
    let parts: Vec<(u64, &str)> = parts.iter().map(|(n, p)| (*n, p.as_str())).collect();
    for (pattern, printed) in [([0; 8], 0.026_573_249_199_0), ([1; 8], 0.026_872_568_1)] {
        let start = std::time::Instant::now();
        let (value, _) = delta(&partition(400, &parts, Some(&pattern)), "0.05");
        let ends = value.to_enclosure();
        println!("{ends:?} {printed} {:?}", start.elapsed());
        assert!(ends.lower() <= printed + 5e-11 && printed - 5e-11 <= ends.upper());
        assert!(ends.width() <= 1e-8 * ends.upper());
    }
    let start = std::time::Instant::now();
    let all = partition(400, &parts, None);
    let (value, _) = delta(&all, "0.05");
    println!("{:?} {:?}", value.to_enclosure(), start.elapsed());
    println!("{:?}", all.pattern(&Epsilon::new(&rational("0.05")), &Uninterrupted).unwrap());
    let start = std::time::Instant::now();
    let prepared = Prepared::new(&all, &Epsilon::new(&rational("0.05")), &Uninterrupted).unwrap();
    println!(
        "envelope {:?} {:?}",
        prepared.envelope(&Uninterrupted).unwrap().to_enclosure(),
        start.elapsed()
    );
}

#[test]
fn many_parts() {
    let parts: Vec<(u64, String)> = (0..512).map(|k| (64, format!("{}/5110", 511 + 8 * k))).collect();
    let parts: Vec<(u64, &str)> = parts.iter().map(|(n, p)| (*n, p.as_str())).collect();
    let all = partition(32768, &parts, None);
    let start = std::time::Instant::now();
    let prepared = Prepared::new(&all, &Epsilon::new(&rational("0.02")), &Uninterrupted).unwrap();
    println!("prepared {:?}", start.elapsed());
    let pattern = prepared.search();
    println!("searched {:?}", start.elapsed());
    let value = prepared.value(&pattern, Goal::Narrow, &Uninterrupted).unwrap();
    println!("lower {:?} {:?}", value.to_enclosure(), start.elapsed());
    let value = prepared.envelope(&Uninterrupted).unwrap();
    println!("upper {:?} {:?}", value.to_enclosure(), start.elapsed());
}

/// Cells of one part, more entries than are gone through one by one.
#[test]
fn one_part_of_many_entries_in_three_cells() {
    let third = rational("1/3");
    let (share, zero) = (rational("1/200"), rational("0"));
    let cell = |first: &Rational, second: &Rational| Cell {
        mass: third.clone(),
        first: first.clone(),
        second: second.clone(),
    };
    let cells = vec![cell(&share, &zero), cell(&zero, &share), cell(&zero, &zero)];
    let parts = vec![Part::Entries { count: 200, cells }];
    let histogram =
        Composition::new(zero.clone(), vec![Attributes { count: 1, choices: vec![parts] }]).unwrap();
    let (value, _) = delta(&histogram, "0.1");
    let ends = value.to_enclosure();
    assert!(ends.width() <= 1e-8 * ends.upper());
    // The mean of Δ_{t+1}(0.1; 1/2) over t with the law Bin(199, 2/3).
    assert!(contains(value, "0.0319384688653670534"));
}
