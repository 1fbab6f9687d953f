//! The range of a gate, the suprema in it and the law made of them, to the last bit.

use super::*;
use crate::record::{Inner, Record};

#[test]
fn laws_of_gated_counts() {
    let mut record = Record::of("laws of gated counts");
    for (entries, least, most, epsilon) in
        [(40, 5, 30, 0.1), (40, 10, 30, 0.5), (200, 2, 198, 0.02), (9, 3, 3, 1.0), (1000, 300, 310, 0.3)]
    {
        let name = format!("{entries} {least} {most} {epsilon}");
        let ratio = exact(approximate::exp(epsilon)).unwrap();
        let gated = Gated { entries, tests: [least - 1, most], ratio };
        record.note(format!("{name} deviation"), gated.deviation());
        for t in [-0.9, -0.2, 0.0, 0.4, 3.0] {
            let ends = [(gated.tests[0], -1.0), (gated.tests[1], 1.0)]
                .map(|(test, direction)| gated.end(t, test, direction).unwrap());
            record.note(format!("{name} ends at {t}"), Inner(ends));
            record.note(format!("{name} cell at {t}"), Inner(gated.cell(ends, t, &record.questions)));
            record.note(format!("{name} supremum at {t}"), gated.supremum(t, &record.questions));
        }
        let share = Rational::from(1i64).div(&Rational::from(2 * entries)).unwrap();
        let law = dominating(entries, &share, [least, most], ratio, &record.questions);
        record.note(format!("{name} law"), Inner(law));
    }
    record.compare();
}
