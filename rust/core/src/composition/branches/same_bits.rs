//! The nodes that are kept, the bounds of branches, and the steps that finding patterns takes, to the last bit.

use super::super::tests::{borrowed, evenly, partition, rational};
use super::super::{Composition, End};
use super::*;
use crate::forms::Epsilon;
use crate::numbers::rational::Rational;
use crate::record::{Inner, Plain, Record};

fn compositions() -> Vec<(&'static str, Composition, &'static str)> {
    let kinds: Vec<Attributes> = [(2, 6, "3/10"), (3, 5, "2/5"), (1, 6, "1/5")]
        .map(|(count, size, p)| Attributes {
            count,
            choices: super::super::tests::property(60, size, &rational(p)),
        })
        .into();
    let unused = Rational::from(27i64).div(&Rational::from(60i64)).unwrap();
    vec![
        ("kinds", Composition::new(unused, kinds).unwrap(), "0.3"),
        ("even", partition(400, &borrowed(&evenly(8, 50, [1, 7], 10)), None), "0.05"),
        ("spread", partition(120, &borrowed(&evenly(10, 9, [2, 8], 10)), None), "0.2"),
    ]
}

#[test]
fn branches_and_bounds() {
    let mut record = Record::of("branches and bounds");
    for ((name, composition, epsilon), width) in
        compositions().into_iter().flat_map(|one| [1e-4, 1e-7].map(|width| (one.clone(), width)))
    {
        if name != "kinds" && width < 1e-4 {
            continue;
        }
        let name = format!("{name} {width:e}");
        let epsilon = Epsilon::new(&rational(epsilon));
        let prepared = Prepared::new(&composition, &epsilon, End::Upper, &record.questions).unwrap();
        let dominating = prepared.dominating(&record.questions).unwrap();
        let bad = prepared.search();
        let branches =
            Branches::new(&prepared, &dominating, &bad, width, &record.questions).unwrap().unwrap();
        let levels: Vec<(usize, usize)> =
            branches.levels.iter().map(|level| (level.kind, level.ways.len())).collect();
        record.note(format!("{name} levels"), Plain(levels));
        record.note(format!("{name} nodes"), Plain(branches.constant.transforms.len()));
        record.note(format!("{name} constant"), Inner(&branches.constant));
        record.note(format!("{name} rest"), Inner((branches.beyond, branches.period, branches.missing)));
        for level in &branches.levels {
            record.note(format!("{name} ways {}", level.kind), Inner(&level.ways));
            record.note(format!("{name} later {}", level.kind), Inner(&level.later));
            let bounds: Vec<Ball> = level
                .ways
                .iter()
                .map(|(_, factor)| branches.bound(&branches.constant.times(factor), &level.later))
                .collect();
            record.note(format!("{name} bounds {}", level.kind), bounds);
        }
        let value =
            prepared.value(&bad, super::super::inversion::Goal::About(1e-6), &record.questions).unwrap();
        for share in [0.5, 0.97, 0.999, 1.01] {
            let threshold = value * double(share);
            let (path, left) = (Vec::new(), Vec::new());
            let mut walk =
                Walk { threshold, interrupt: &record.questions, products: 0, visits: 0, path, left };
            let followed = branches.follow(&branches.levels, &branches.constant, &mut walk).unwrap();
            let steps = (followed, walk.products, walk.visits, walk.left);
            record.note(format!("{name} walk {share}"), Plain(steps));
            record.note(
                format!("{name} above {share}"),
                Plain(branches.above(threshold, &record.questions).unwrap()),
            );
        }
    }
    record.compare();
}
