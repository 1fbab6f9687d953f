//! What parts add, their laws, limits and exact laws, to the last bit.

use super::sum::{Sum, Summand};
use super::tests::{as_answer, partition, property, rational};
use super::*;
use crate::answer::{Law, Noise};
use crate::interrupt::Uninterrupted;
use crate::record::{Inner, Plain, Record};

fn third() -> Rational {
    rational("1/3")
}

fn three_cells(count: u64) -> Part {
    let cell = |mass: &str, first: &str, second: &str| Cell {
        mass: rational(mass),
        first: rational(first),
        second: rational(second),
    };
    let cells = vec![cell("1/2", "1/40", "1/60"), cell("1/3", "1/60", "1/40"), cell("1/6", "0", "0")];
    Part::Entries { count, cells }
}

/// A count with Laplace noise, rounded to multiples of a quarter.
fn rounded() -> Part {
    let noisy = |law: Law, added: i64| {
        let data = law.shifted(added).unwrap().scaled(4).unwrap();
        let noise = Law::noise(Noise::RoundedLaplace { scale: rational("6") }).unwrap();
        Law::sum(vec![data, noise]).unwrap()
    };
    let others = Law::binomial(4, &third()).unwrap();
    let reference = noisy(Law::binomial(5, &third()).unwrap(), 0);
    Part::Rounded { weight: third(), first: noisy(others.clone(), 1), second: noisy(others, 0), reference }
}

fn parts() -> Vec<(&'static str, Part)> {
    let of = |n: u64, size: u64, p: &str| property(n, size, &rational(p)).swap_remove(0).swap_remove(0);
    let range = |count: u64, lower: &str, upper: &str| Part::Range {
        count,
        share: rational("1/9000"),
        lower: rational(lower),
        upper: rational(upper),
    };
    vec![
        ("small", of(9, 4, "3/10")),
        ("long", of(9000, 5000, "3/10")),
        ("longer", of(200_000, 90_000, "1/10")),
        ("certain", of(12, 4, "0")),
        ("always", of(12, 4, "1")),
        ("three cells", three_cells(20)),
        ("many in three cells", three_cells(65)),
        ("answer", as_answer(20, 8, "1/3", true)),
        ("long answer", as_answer(20_000, 9000, "1/3", false)),
        ("certain answer", as_answer(12, 4, "0", true)),
        ("range", range(30, "1/10", "1/2")),
        ("point", range(30, "1/4", "1/4")),
        ("gate", Part::Gated { count: 40, share: rational("1/60"), least: 5, most: 30 }),
        ("rounded", rounded()),
    ]
}

#[test]
fn what_parts_add() {
    let mut record = Record::of("what parts add");
    for ((name, part), epsilon) in
        parts().into_iter().flat_map(|one| ["0", "0.3", "40"].map(|e| (one.clone(), e)))
    {
        let name = format!("{name} e={epsilon}");
        let epsilon = Epsilon::new(&rational(epsilon));
        let ratio = epsilon.ratio();
        for end in [End::Lower, End::Upper] {
            let found = part.at(ratio, end, &record.questions);
            record.note(format!("{name} {end:?}"), Inner(&found));
            let Ok(found) = found else { continue };
            let lengths: Vec<_> = [1, 2, 64, 65].map(|copies| found.lengths(copies)).into();
            record.note(format!("{name} {end:?} lengths"), Inner(lengths));
            for copies in [1, 3] {
                record.note(format!("{name} {end:?} {copies} laws"), Inner(found.laws(copies, ratio)));
                record.note(format!("{name} {end:?} {copies} missing"), found.missing(copies, ratio));
                record.note(format!("{name} {end:?} {copies} summand"), Inner(found.summand(copies)));
            }
            record.note(format!("{name} {end:?} together"), Inner(found.together(2, &found, 5)));
            record.note(format!("{name} {end:?} alone"), Inner(found.alone(ratio)));
        }
    }
    record.compare();
}

/// Of few, of many and of more entries; of ranges that are wide, narrow, next to an end and points.
#[test]
fn laws_that_dominate_ranges() {
    let mut record = Record::of("laws that dominate ranges");
    for count in [1, 30, 4095, 4096, 4097] {
        for (lower, upper) in
            [("1/10", "1/2"), ("0.3", "0.30000000000000001"), ("1e-9", "1e-8"), ("1/3", "1/3")]
        {
            for epsilon in ["0", "0.7"] {
                let ratio = Epsilon::new(&rational(epsilon)).ratio();
                let share = rational("1/9000");
                let found =
                    super::range::alternatives(count, &share, &rational(lower), &rational(upper), ratio);
                let each = found.unwrap().into_iter().map(|law| (law.missing, law.atoms.len(), law.entries));
                record.note(
                    format!("{count} from {lower} to {upper} e={epsilon}"),
                    Inner(each.collect::<Vec<_>>()),
                );
            }
        }
    }
    record.compare();
}

#[test]
fn cumulants_of_sums() {
    let mut record = Record::of("cumulants of sums");
    let epsilon = Epsilon::new(&rational("0.3"));
    for (name, part) in parts() {
        let found = part.at(epsilon.ratio(), End::Upper, &Uninterrupted).unwrap();
        let Ok(summand) = found.summand(3) else { continue };
        let others = Summand { count: 2, ..summand.clone() };
        let constant = -Ball::from_rational(&third());
        let sum = Sum { constant, summands: vec![summand, others] };
        record.note(format!("{name} ends"), Inner(sum.ends()));
        record.note(format!("{name} moments"), Inner((sum.mass(), sum.first_moment())));
        record.note(format!("{name} saddle"), sum.saddle());
        for at in [0.01, 1.0, 30.0] {
            record.note(format!("{name} cumulants at {at}"), Inner(sum.rough_cumulants(at)));
            record.note(format!("{name} logarithm at {at}"), sum.log_moment(Ball::from_f64(at).unwrap()));
        }
        let [most, _] = sum.ends().unwrap();
        let hopeful = sum.without_hopeless_values(most);
        record.note(format!("{name} hopeful"), Inner((hopeful, sum.is_short(), sum.laws().len())));
    }
    record.compare();
}

#[test]
fn limits_and_exact_laws() {
    let mut record = Record::of("limits and exact laws");
    let of_part = |part: Part| {
        let unused = Rational::from(1i64).sub(&part.weight());
        Composition::new(unused, vec![Attributes { count: 1, choices: vec![vec![part]] }]).unwrap()
    };
    let alone = parts().into_iter().map(|(name, part)| (name, of_part(part)));
    let whole = |n: u64, parts: &[(u64, &str)]| partition(n, parts, None);
    let together = [
        ("whole", whole(9, &[(2, "1/10"), (3, "1/2"), (4, "4/5")])),
        ("with certain ones", whole(12, &[(4, "0"), (3, "1"), (5, "1/2")])),
        ("many", whole(40, &[(4, "3/10"); 10])),
        ("too many", whole(52, &[(4, "3/10"); 13])),
        ("not all", whole(13, &[(2, "1/10"), (3, "1/2"), (4, "4/5")])),
    ];
    for (name, composition) in alone.chain(together) {
        for (side, composition) in [("", composition.clone()), (" back", composition.reversed())] {
            let limit = composition.infinity_mass(&record.questions);
            record.note(format!("{name}{side} limit"), limit);
        }
        record.note(format!("{name} patterns"), Plain((composition.patterns(), composition.is_exact())));
        // The rationals of these are long.
        if ["long", "many", "three cells", "many in three cells", "rounded"].contains(&name) {
            continue;
        }
        let written_out = composition.written_out();
        let written_out = written_out.map(|pairs| {
            crate::curve::exact::exact_delta(
                &crate::forms::WrittenOut::Worst(pairs).into(),
                &rational("5/4"),
                &Uninterrupted,
            )
        });
        record.note(format!("{name} written out"), Inner(written_out));
    }
    record.compare();
}
