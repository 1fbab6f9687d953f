//! Path by path, in rationals: `A` and `B` of `δ = A − e^ε B` under the best choices.
//!
//! Along a path the product `ρ` of the reference probabilities is kept, and `A = Σ_k w_k P_{k,v}(a_k) Π_{l≠k} R_l(a_l)`, `B` likewise with
//! `w`: a further answer takes `A` to `A R(a) + ρ w P_v(a)`. At the end `A + w_0 ρ` and `B + w_0 ρ` are the probabilities of the path.

use super::{Adaptive, Asked};
use crate::answer::Law;
use crate::answer::rationals::{Masses, masses};
use crate::budget::MAX_PATHS;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::numbers::rational::Rational;
use std::cmp::Ordering;

/// `A` and `B`.
pub(crate) type Terms = (Rational, Rational);
/// How `A − e^ε B` compares with another such number.
type Compare<'a> = dyn Fn(&Terms, &Terms) -> Result<Ordering, Error> + 'a;

struct Search<'a> {
    strategy: &'a Adaptive,
    /// By node and query the probabilities under the two values and by the reference law.
    laws: Vec<Vec<[Masses; 3]>>,
    compare: &'a Compare<'a>,
    interrupt: &'a dyn Interrupt,
}

struct Path {
    reference: Rational,
    first: Rational,
    second: Rational,
    /// The part of the entries that was asked.
    asked: Rational,
}

/// `A` and `B`, the best choice decided by `compare`.
///
/// # Errors
/// Too many paths; laws whose probabilities are not rational; interruption.
pub(crate) fn terms(
    strategy: &Adaptive,
    compare: &Compare<'_>,
    interrupt: &dyn Interrupt,
) -> Result<Terms, Error> {
    let paths = paths(strategy);
    if paths > MAX_PATHS {
        return Err(Error::precision(format!(
            "the exact value is a sum over about {paths:.0e} sequences of answers, more than {MAX_PATHS:.0e}; delta() encloses it"
        )));
    }
    let of_query = |asked: &Asked| {
        let [first, second] = strategy.in_order(asked);
        Ok([alone(first, interrupt)?, alone(second, interrupt)?, alone(&asked.reference, interrupt)?])
    };
    let of_node = |node: &Vec<Asked>| node.iter().map(of_query).collect::<Result<Vec<_>, Error>>();
    let laws = strategy.nodes.iter().map(of_node).collect::<Result<Vec<_>, _>>()?;
    let zero = Rational::from(0i64);
    let start =
        Path { reference: Rational::from(1i64), first: zero.clone(), second: zero.clone(), asked: zero };
    Search { strategy, laws, compare, interrupt }.value(Some(0), &start)
}

/// Two laws with the same noise would be given on merged answers: the point beside it prevents that.
fn alone(law: &Law, interrupt: &dyn Interrupt) -> Result<Masses, Error> {
    let [law, _] = masses(&[law.clone(), Law::point(0)], interrupt)?;
    Ok(law)
}

fn paths(strategy: &Adaptive) -> f64 {
    let mut found = vec![0.0; strategy.nodes.len()];
    for (index, node) in strategy.nodes.iter().enumerate().rev() {
        found[index] = node
            .iter()
            .map(|asked| {
                let follow = asked.next.iter().map(|next| {
                    let answers = (next.last as f64 - next.first as f64 + 1.0).min(asked.reference.span());
                    answers * found.get(next.node).copied().unwrap_or(1.0)
                });
                follow.sum::<f64>().max(asked.reference.span())
            })
            .sum();
    }
    found.first().copied().unwrap_or(0.0)
}

impl Search<'_> {
    fn value(&self, node: Option<usize>, path: &Path) -> Result<Terms, Error> {
        let zero = (Rational::from(0i64), Rational::from(0i64));
        let Some((queries, laws)) =
            node.and_then(|node| self.strategy.nodes.get(node).zip(self.laws.get(node)))
        else {
            let rest = Rational::from(1i64).sub(&path.asked).mul(&path.reference);
            let whole = (path.first.add(&rest), path.second.add(&rest));
            return Ok(if (self.compare)(&whole, &zero)? == Ordering::Greater { whole } else { zero });
        };
        let mut best = zero;
        for (asked, laws) in queries.iter().zip(laws) {
            self.interrupt.check()?;
            let value = self.expected(asked, laws, path)?;
            if (self.compare)(&value, &best)? == Ordering::Greater {
                best = value;
            }
        }
        Ok(best)
    }

    fn expected(
        &self,
        asked: &Asked,
        [first, second, reference]: &[Masses; 3],
        path: &Path,
    ) -> Result<Terms, Error> {
        let zero = Rational::from(0i64);
        let own = path.reference.mul(&asked.weight);
        let mut sum = (zero.clone(), zero.clone());
        for (answer, mass) in reference.iter().filter(|(_, mass)| !mass.is_zero()) {
            let further = |so_far: &Rational, law: &Masses| {
                so_far.mul(mass).add(&own.mul(law.get(answer).unwrap_or(&zero)))
            };
            let longer = Path {
                reference: path.reference.mul(mass),
                first: further(&path.first, first),
                second: further(&path.second, second),
                asked: path.asked.add(&asked.weight),
            };
            let value = self.value(asked.after(*answer), &longer)?;
            sum = (sum.0.add(&value.0), sum.1.add(&value.1));
        }
        Ok(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{any_of, rational};
    use super::*;

    /// A path is a query and its answer at each node: of two queries on 2, 3 and 4 entries.
    #[test]
    fn paths_are_choices_of_queries_and_answers() {
        let two = ["0.3", "0.6"].map(rational);
        assert_eq!(paths(&any_of(9, &[2, 3, 4], &two)), f64::from((2 * 3) * (2 * 4) * (2 * 5)));
        assert_eq!(paths(&any_of(9, &[4], &two)), 10.0);
    }

    /// After answers from 3 on a count of 8 is not followed by another one: those up to 2 are, and the sum is at least one path for each answer.
    #[test]
    fn paths_that_end_early_count_as_answers() {
        let count = |size, next| super::super::tests::count(size, 20, &rational("0.3"), next);
        let of = |last| {
            let next = vec![super::super::Next { first: 1, last, node: 1 }];
            paths(&Adaptive::new(vec![vec![count(8, next)], vec![count(4, Vec::new())]]).unwrap())
        };
        assert_eq!([of(1), of(2), of(6), of(8)], [9.0, 10.0, 30.0, 40.0]);
    }
}
