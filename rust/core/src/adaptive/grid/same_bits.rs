//! Grids, what is split onto their nodes, and both bounds there, to the last bit.

use super::super::tests::{any_of, count, rational};
use super::*;
use crate::record::{Inner, Plain, Questions, Record};

fn strategies() -> Vec<(&'static str, Adaptive, &'static str)> {
    let some = ["0.3", "0.6"].map(rational);
    let next = vec![
        super::super::Next { first: 0, last: 8, node: 1 },
        super::super::Next { first: 9, last: 14, node: 2 },
    ];
    let chosen = Adaptive::new(vec![
        vec![count(30, 100, &some[0], next)],
        vec![count(40, 100, &some[1], Vec::new())],
        vec![count(20, 100, &some[0], Vec::new()), count(20, 100, &some[1], Vec::new())],
    ])
    .unwrap();
    vec![
        ("small", any_of(9, &[2, 3, 4], &some), "0.2"),
        ("unused", any_of(12, &[2, 3], &some), "0"),
        ("alike", any_of(120, &[40; 3], &some[..1]), "0.05"),
        ("rare", any_of(200, &[50; 2], &[rational("0.01")]), "2"),
        ("chosen", chosen, "0.1"),
        ("far", any_of(40, &[20; 2], &some[..1]), "7"),
    ]
}

#[test]
fn games_on_grids() {
    let mut record = Record::of("games on grids");
    let questions = Questions::default();
    for ((name, strategy, epsilon), left_out) in
        strategies().into_iter().flat_map(|one| [Some(20), Some(120), None].map(|bits| (one.clone(), bits)))
    {
        let name = format!("{name} {left_out:?}");
        let epsilon = Epsilon::new(&rational(epsilon));
        let outcomes = outcomes(&strategy, &epsilon, left_out, &questions).unwrap();
        record.note(format!("{name} outcomes"), Inner(&outcomes));
        record.note(format!("{name} spread"), Inner(total_spread(&strategy, &outcomes)));
        let game = Game::new(&strategy, &epsilon, outcomes, &questions);
        record.note(format!("{name} reach"), Inner((game.reach, game.lost, game.most_nodes())));
        for nodes in [64.0, 300.0] {
            let name = format!("{name} {nodes}");
            let grid = game.grid(nodes);
            let stop = Values::positive_part(grid);
            record.note(format!("{name} grid"), Inner((grid, &stop)));
            record.note(format!("{name} padded"), Inner(stop.padded(grid, grid.first - 3, grid.len + 9)));
            let none: Vec<Option<Values>> = strategy.nodes.iter().map(|_| None).collect();
            for (index, node) in strategy.nodes.iter().enumerate() {
                for (asked, outcomes) in node.iter().zip(&game.outcomes[index]) {
                    let moves =
                        [None, Some(-game.start)].map(|alone| Moves::new(asked, outcomes, grid, alone));
                    record.note(format!("{name} moves {index}"), Inner(moves));
                }
                let values = game.at_node(index, node, grid, (&stop, &none), None);
                record.note(format!("{name} values {index}"), Inner(values));
            }
            record.note(format!("{name} delta"), Inner(game.on(grid)));
        }
        if ["small", "unused", "rare"].iter().any(|short| name.starts_with(short)) && left_out != Some(20) {
            record.note(format!("{name} enclosed"), Inner(game.enclosed(Ball::ZERO)));
        }
    }
    record.questions = questions;
    record.compare();
}

#[test]
fn nodes_next_to_numbers() {
    let mut record = Record::of("nodes next to numbers");
    let grid = Grid { first: -4, len: 9, step: 0.125 };
    for eighths in ["-0.5", "-0.49", "0", "0.25", "0.3", "2"] {
        record.note(eighths, Plain(next_to(Ball::from_rational(&rational(eighths)), grid)));
    }
    record.compare();
}

/// Of many queries with few answers, what is kept of each bounds the number of nodes; of few with many answers, the products.
#[test]
fn most_nodes_of_grids() {
    let mut record = Record::of("most nodes of grids");
    let some = ["0.3", "0.6"].map(rational);
    for sizes in [vec![1; 30], vec![2; 300], vec![3; 500], vec![400; 2], vec![9000; 2]] {
        for p in [&some[..1], &some] {
            let strategy = any_of(20_000, &sizes, p);
            let epsilon = Epsilon::new(&rational("0.1"));
            let outcomes = outcomes(&strategy, &epsilon, Some(20), &record.questions).unwrap();
            let game = Game::new(&strategy, &epsilon, outcomes, &record.questions);
            record.note(format!("{} of {} and {}", sizes.len(), sizes[0], p.len()), game.most_nodes());
        }
    }
    record.compare();
}
