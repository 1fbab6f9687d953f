//! The two laws of all answers together as rationals, for the exact and the digits tier.
//!
//! The answers of all parts matter only through the two densities `L_v` and `L_w` with respect to `⊗R_k`, both sums over the parts. So they are
//! carried from part to part as a table from pairs of densities to masses, and at the end `P_v` has the mass `L_v m`.

use super::part::Part;
use super::{Composition, Pattern};
use crate::answer::{Law, rationals};
use crate::budget::{MAX_ANSWERS_COUNTED, MAX_BITS_OF_DENSITIES, MAX_DENSITIES};
use crate::error::Error;
use crate::forms::Answers;
use crate::interrupt::Uninterrupted;
use crate::numbers::rational::Rational;
use dashu_int::ops::BitTest;
use std::collections::BTreeMap;

/// Masses by pairs of densities.
type Densities = BTreeMap<(Rational, Rational), Rational>;

/// One part: densities on the answers of `R_k`, and the masses of `w_k P_{k,v}` and `w_k P_{k,w}` on other answers.
struct OfPart {
    densities: Densities,
    elsewhere: Vec<(Rational, Rational)>,
}

impl Composition {
    /// The maximum over all patterns of the hockey sticks of these laws.
    ///
    /// # Errors
    /// Too many patterns or answers.
    pub(crate) fn written_out(&self) -> Result<Vec<Answers>, Error> {
        if self.has_ranges() {
            return Err(Error::precision(
                "a bound over ranges of probabilities has no exact value; delta() encloses it",
            ));
        }
        if !self.is_exact() {
            return Err(Error::precision(format!(
                "the {:.1e} sign patterns of these properties are too many for exact values and digits; delta() \
                 encloses the worst of them",
                self.patterns()
            )));
        }
        self.check_cost()?;
        self.all_patterns().iter().map(|pattern| self.laws_of(pattern)).collect()
    }

    /// The approximate number of likelihood ratios over all patterns, and the bits of each mass.
    fn cost(&self) -> Result<(f64, f64), Error> {
        let (mut densities, mut bits) = (self.patterns(), 0.0);
        for attribute in &self.attributes {
            let copies = attribute.count as f64;
            for part in attribute.choices.first().into_iter().flatten() {
                match part {
                    Part::Entries { count, cells } => {
                        let entries = *count as f64;
                        let ways: f64 = (1..cells.len()).map(|i| (entries + i as f64) / i as f64).product();
                        densities *= crate::numbers::approximate::power(ways, copies);
                        let longest =
                            cells.iter().map(|cell| cell.mass.denominator().bit_len()).max().unwrap_or(0);
                        bits += copies * entries * longest as f64;
                    }
                    Part::Range { .. } | Part::Gated { .. } | Part::Rounded { .. } => {}
                    // Of few answers even fewer have a likelihood of their own.
                    Part::Answer { reference, .. } if reference.span() <= MAX_ANSWERS_COUNTED => {
                        let law = part.exactly()?.densities;
                        densities *= crate::numbers::approximate::power(law.len() as f64, copies);
                        let longest =
                            law.values().map(|mass| mass.denominator().bit_len()).max().unwrap_or(0);
                        bits += copies * longest as f64;
                    }
                    Part::Answer { reference, .. } => {
                        densities *= crate::numbers::approximate::power(reference.span(), copies);
                        bits += copies * 64.0 * reference.span();
                    }
                }
            }
        }
        Ok((densities, bits))
    }

    fn check_cost(&self) -> Result<(), Error> {
        let (densities, bits) = self.cost()?;
        if densities <= MAX_DENSITIES && densities * bits <= MAX_BITS_OF_DENSITIES {
            return Ok(());
        }
        Err(Error::precision(format!(
            "exact values of this composition, and digits, would take about {densities:.1e} likelihood ratios of about \
             {bits:.1e} bits each; delta() without digits= encloses it at any size"
        )))
    }

    fn laws_of(&self, pattern: &Pattern) -> Result<Answers, Error> {
        let start = (self.unused.clone(), self.unused.clone());
        let mut densities = Densities::from([(start, Rational::from(1i64))]);
        let mut elsewhere = Vec::new();
        for (attribute, counts) in self.attributes.iter().zip(pattern) {
            for (choice, &count) in attribute.choices.iter().zip(counts).filter(|(_, count)| **count > 0) {
                for part in choice {
                    let law = part.exactly()?;
                    for _ in 0..count {
                        densities = convolved(&densities, &law.densities);
                        elsewhere.extend(law.elsewhere.iter().cloned());
                    }
                }
            }
        }
        let on_references =
            densities.into_iter().map(|((first, second), mass)| (first.mul(&mass), second.mul(&mass)));
        let (first, second) = on_references.chain(elsewhere).unzip();
        Ok(Answers::new(Law::table(0, first)?, Law::table(0, second)?))
    }
}

fn convolved(one: &Densities, other: &Densities) -> Densities {
    let mut sums = Densities::new();
    for ((v, w), mass) in one {
        for ((more, again), share) in other {
            let sum = sums.entry((v.add(more), w.add(again))).or_insert_with(|| Rational::from(0i64));
            *sum = sum.add(&mass.mul(share));
        }
    }
    sums
}

impl Part {
    fn exactly(&self) -> Result<OfPart, Error> {
        match self {
            Self::Entries { count, cells } => {
                let mut one = Densities::new();
                let mut elsewhere = Vec::new();
                let entries = Rational::from(*count);
                for cell in cells {
                    match (cell.first.div(&cell.mass), cell.second.div(&cell.mass)) {
                        (Some(first), Some(second)) => {
                            let mass = one.entry((first, second)).or_insert_with(|| Rational::from(0i64));
                            *mass = mass.add(&cell.mass);
                        }
                        _ => elsewhere.push((cell.first.mul(&entries), cell.second.mul(&entries))),
                    }
                }
                Ok(OfPart { densities: repeated(&one, *count), elsewhere })
            }
            Self::Range { .. } | Self::Gated { .. } => {
                Err(Error::precision("a range of probabilities has no exact laws"))
            }
            Self::Rounded { .. } => Err(Error::precision("a real answer has no exact laws")),
            Self::Answer { weight, first, second, reference } => {
                let all = |law: &Law| rationals::all_masses(law, &Uninterrupted);
                let (first, second, reference) = (all(first)?, all(second)?, all(reference)?);
                let zero = Rational::from(0i64);
                let (mut densities, mut elsewhere) = (Densities::new(), Vec::new());
                let answers: std::collections::BTreeSet<i64> =
                    [&first, &second, &reference].into_iter().flat_map(BTreeMap::keys).copied().collect();
                for answer in answers {
                    let [v, w] = [&first, &second].map(|law| law.get(&answer).unwrap_or(&zero).mul(weight));
                    let Some(mass) = reference.get(&answer).filter(|mass| !mass.is_zero()) else {
                        elsewhere.push((v, w));
                        continue;
                    };
                    if let (Some(v), Some(w)) = (v.div(mass), w.div(mass)) {
                        let sum = densities.entry((v, w)).or_insert_with(|| zero.clone());
                        *sum = sum.add(mass);
                    }
                }
                Ok(OfPart { densities, elsewhere })
            }
        }
    }
}

/// The law of the sum of `count` independent entries, by squaring.
fn repeated(one: &Densities, mut count: u64) -> Densities {
    let zero = Rational::from(0i64);
    let mut sum = Densities::from([((zero.clone(), zero), Rational::from(1i64))]);
    let mut power = one.clone();
    while count > 0 {
        if count & 1 == 1 {
            sum = convolved(&sum, &power);
        }
        count >>= 1;
        if count > 0 {
            power = convolved(&power, &power);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::super::tests::{as_answer, property, rational};
    use super::super::{Attributes, Cell};
    use super::*;

    /// Attributes with these numbers of copies. The rest of the entries is in no part.
    fn of(kinds: Vec<(u64, Vec<Vec<Part>>)>) -> Composition {
        let weight = |(count, choices): &(u64, Vec<Vec<Part>>)| {
            let one = choices[0].iter().fold(Rational::from(0i64), |sum, part| sum.add(&part.weight()));
            one.mul(&Rational::from(*count))
        };
        let used = kinds.iter().fold(Rational::from(0i64), |sum, kind| sum.add(&weight(kind)));
        let attributes = kinds.into_iter().map(|(count, choices)| Attributes { count, choices });
        Composition::new(Rational::from(1i64).sub(&used), attributes.collect()).unwrap()
    }

    fn answer(size: u64, p: &str) -> Vec<Vec<Part>> {
        [true, false].map(|ones_first| vec![as_answer(100_000, size, p, ones_first)]).into()
    }

    fn three_cells(count: u64) -> Vec<Vec<Part>> {
        let cell = |mass: &str| Cell {
            mass: rational(mass),
            first: rational(mass).div(&rational("100000")).unwrap(),
            second: rational(mass).div(&rational("100000")).unwrap(),
        };
        vec![vec![Part::Entries { count, cells: ["1/2", "1/3", "1/6"].map(cell).into() }]]
    }

    /// Of `n` entries in `c` cells `C(n+c−1, c−1)` counts; of an answer its likelihood ratios, or all answers where these are many. Copies multiply,
    /// and every entry brings the bits of a mass: 2 for thirds, 3 for sixths, 64 for an answer of many.
    #[test]
    fn likelihood_ratios_and_bits_are_counted() {
        let count = |size: u64| property(100_000, size, &rational("1/3"));
        let cases = [
            (vec![(1, count(7))], 2.0 * 8.0, 14.0),
            (vec![(3, count(7))], 4.0 * 512.0, 42.0),
            (vec![(1, three_cells(5))], 21.0, 15.0),
            (vec![(1, count(7)), (2, count(4))], 6.0 * 8.0 * 25.0, 14.0 + 16.0),
            // Five answers, each with a likelihood ratio of its own; masses are multiples of 1/81.
            (vec![(1, answer(4, "1/3"))], 2.0 * 5.0, 7.0),
            (vec![(2, answer(4, "1/3"))], 3.0 * 25.0, 14.0),
            (vec![(1, answer(255, "1/2"))], 2.0 * 256.0, 256.0),
            (vec![(2, answer(256, "1/2"))], 3.0 * 257.0 * 257.0, 2.0 * 64.0 * 257.0),
        ];
        for (kinds, densities, bits) in cases {
            let found = of(kinds.clone()).cost().unwrap();
            let near = |x: f64, y: f64| (x - y).abs() <= 1e-9 * y;
            assert!(near(found.0, densities) && near(found.1, bits), "{found:?}, not {densities} {bits}");
        }
    }

    #[test]
    fn what_would_take_long_is_refused_with_what_it_would_take() {
        let refused = |kinds| match of(kinds).written_out() {
            Err(Error::Precision(message)) => message,
            other => panic!("{other:?}"),
        };
        let found = refused(vec![(1, property(900_000, 300_000, &rational("1/3")))]);
        assert_eq!(
            found,
            "exact values of this composition, and digits, would take about 6.0e5 likelihood ratios of about 6.0e5 bits each; \
             delta() without digits= encloses it at any size"
        );
        // Few likelihood ratios, and many bits.
        assert!(
            refused(vec![(1, property(900_000, 40_000, &rational("1/3")))])
                .contains("8.0e4 likelihood ratios of about 8.0e4 bits")
        );
        let many = refused(vec![(1024, property(100_000, 1, &rational("1/2")))]);
        assert!(many.starts_with("the 1.0e3 sign patterns of these properties are too many"), "{many}");
    }
}
