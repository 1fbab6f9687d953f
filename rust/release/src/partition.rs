//! The secret random partition: the part of a row is a function of the row and of a fresh key.
//!
//! Each row has a name of 128 bits that no other row has: its token, or its position if the rows have no ids. AES
//! under the key sends names to places. In each stratum, the rows that may be drawn are cut in the order of their
//! places: the first ones are part 1, the next ones part 2, and so on, as many as each part has rows.
//!
//! **The partition is uniform.** AES under a random key is a pseudorandom permutation of the strings of 128 bits
//! (FIPS 197, with keys of 256 bits). Under a random permutation, the places of n different names are a uniform
//! sequence of n different places, so all n! orders of the rows are equally likely. A partition into parts of `n_k` rows
//! is cut from `(n − Σ n_k)! Π n_k!` of these orders, whatever rows it consists of. So all partitions of these sizes
//! are equally likely. Given the set of places that each stratum gets, the orders within the strata are
//! independent and uniform, so the same holds for all strata together. Whoever tells these partitions from uniform
//! ones therefore tells AES from a random permutation.
//!
//! Nothing is kept for a row. Any machine that has the key and the last place of each part finds the part of a row
//! alone.

use crate::keyed::KEY;
use crate::token::Token;
use aes::Aes256Enc;
use aes::cipher::{BlockCipherEncrypt, KeyInit};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

/// Rows per parallel task: enough to outweigh its overhead.
const TOGETHER: usize = 4096;

/// Binary logarithm of the largest number of classes that places are counted in.
const MOST_BITS: u32 = 20;

/// Steps towards a token: after three, less than a dozen of a billion tokens are left between.
const STEPS: usize = 3;

/// A permutation of the strings of 128 bits.
pub trait Order: Sync {
    /// Replaces names by their places.
    fn places(&self, names: &mut [u128]);
}

/// AES under a key, which is wiped on drop.
pub struct Secret(Box<Aes256Enc>);

impl Secret {
    /// The permutation under a key.
    #[must_use]
    pub fn new(key: &[u8; KEY]) -> Self {
        Self(Box::new(Aes256Enc::new(key.into())))
    }
}

impl Order for Secret {
    fn places(&self, names: &mut [u128]) {
        let mut blocks = [aes::Block::default(); 64];
        for names in names.chunks_mut(blocks.len()) {
            for (block, name) in blocks.iter_mut().zip(&*names) {
                *block = name.to_be_bytes().into();
            }
            self.0.encrypt_blocks(&mut blocks[..names.len()]);
            for (name, block) in names.iter_mut().zip(blocks) {
                *name = u128::from_be_bytes(block.into());
            }
        }
    }
}

/// The names of all rows.
#[derive(Clone, Copy)]
pub enum Names<'a> {
    /// Rows are known by their position, and there are so many.
    Positions(usize),
    /// Rows are known by these tokens, in ascending order.
    Tokens(&'a [Token]),
}

impl Names<'_> {
    /// The number of rows.
    #[must_use]
    pub fn count(&self) -> usize {
        match self {
            Self::Positions(count) => *count,
            Self::Tokens(tokens) => tokens.len(),
        }
    }

    fn of(&self, rows: Range<usize>) -> Vec<u128> {
        match self {
            Self::Positions(_) => rows.map(|row| row as u128).collect(),
            Self::Tokens(tokens) => tokens[rows].iter().map(|token| u128::from_be_bytes(*token)).collect(),
        }
    }
}

/// The error of a stratum whose parts need more rows than may be drawn there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFew {
    /// The stratum, counted from 0.
    pub stratum: usize,
    /// The number of rows that may be drawn.
    pub rows: usize,
}

/// A partition of the rows of a table.
pub struct Partition<O> {
    order: O,
    /// For each stratum and part, the last place of the parts up to this one; none if they have no row there.
    ends: Vec<Vec<Option<u128>>>,
}

impl<O: Order> Partition<O> {
    /// Cuts the rows. Part `k + 1` gets `sizes[s][k]` rows of stratum `s + 1`. Without `strata` all rows are in
    /// stratum 1. Otherwise these are the strata of the rows, and 0 for a row that may not be drawn.
    ///
    /// # Errors
    ///
    /// A stratum has [`TooFew`] rows.
    pub fn cut(
        order: O,
        names: Names<'_>,
        strata: Option<&[u16]>,
        sizes: &[Vec<usize>],
    ) -> Result<Self, TooFew> {
        let strata_bits = sizes.len().max(1).ilog2();
        let bits = MOST_BITS.saturating_sub(strata_bits).clamp(1, 1 + names.count().max(1).ilog2());
        let class = |stratum: usize, place: u128| stratum << bits | (place >> (u128::BITS - bits)) as usize;
        let rows = Drawable { order: &order, names, strata };
        let counts: Vec<AtomicU32> = (0..sizes.len() << bits).map(|_| AtomicU32::new(0)).collect();
        rows.each(|stratum, place| {
            counts[class(stratum, place)].fetch_add(1, Ordering::Relaxed);
            None::<()>
        });
        let counts: Vec<usize> = counts.into_iter().map(|count| count.into_inner() as usize).collect();
        let of_stratum = |(stratum, sizes): (usize, &Vec<usize>)| {
            let first = stratum << bits;
            ranks_of_ends(first, &counts[first..first + (1 << bits)], sizes)
                .map_err(|rows| TooFew { stratum, rows })
        };
        let ranks: Vec<Vec<_>> = sizes.iter().enumerate().map(of_stratum).collect::<Result<_, _>>()?;
        let mut wanted = vec![false; counts.len()];
        ranks.iter().flatten().flatten().for_each(|(class, _)| wanted[*class] = true);
        let mut places: Vec<(usize, u128)> = rows.each(|stratum, place| {
            let class = class(stratum, place);
            wanted[class].then_some((class, place))
        });
        places.par_sort_unstable();
        let place = |(class, rank): (usize, usize)| {
            let first = places.partition_point(|(other, _)| *other < class);
            places[first + rank - 1].1
        };
        let ends =
            ranks.into_iter().map(|ranks| ranks.into_iter().map(|rank| rank.map(place)).collect()).collect();
        Ok(Self { order, ends })
    }

    /// The parts of rows with these names, counted from 1, and 0 for a row that no part uses. `stratum` gives the
    /// stratum of a row by its index in `names`; it is asked only of rows that may be in a part.
    pub fn parts(&self, names: &[u128], stratum: impl Fn(usize) -> u16 + Sync) -> Vec<u32> {
        let last = self.ends.iter().filter_map(|ends| *ends.last()?).max();
        let mut parts = vec![0; names.len()];
        parts.par_chunks_mut(TOGETHER).zip(names.par_chunks(TOGETHER)).enumerate().for_each(
            |(task, (parts, names))| {
                let mut places = names.to_vec();
                self.order.places(&mut places);
                for (row, (part, place)) in (task * TOGETHER..).zip(parts.iter_mut().zip(places)) {
                    if last.is_some_and(|last| place <= last) {
                        *part = self.part(stratum(row), place);
                    }
                }
            },
        );
        parts
    }

    /// Which rows are in a part.
    #[must_use]
    pub fn drawn(&self, names: Names<'_>, strata: Option<&[u16]>) -> Vec<bool> {
        let mut drawn = vec![false; names.count()];
        drawn.par_chunks_mut(TOGETHER).enumerate().for_each(|(task, drawn)| {
            let first = task * TOGETHER;
            let mut places = names.of(first..first + drawn.len());
            self.order.places(&mut places);
            for ((row, drawn), place) in (first..).zip(drawn).zip(places) {
                *drawn = self.part(strata.map_or(1, |strata| strata[row]), place) > 0;
            }
        });
        drawn
    }

    fn part(&self, stratum: u16, place: u128) -> u32 {
        let Some(ends) = usize::from(stratum).checked_sub(1).and_then(|stratum| self.ends.get(stratum))
        else {
            return 0;
        };
        match ends.partition_point(|end| *end < Some(place)) {
            part if part < ends.len() => u32::try_from(part + 1).unwrap_or(0),
            _ => 0,
        }
    }
}

/// For each part of a stratum, the class in which the parts up to this one end, and the rank of their last row there; none if
/// they have no row. The stratum has these counts in the classes from `first` on.
///
/// # Errors
///
/// The number of rows, if the parts need more.
fn ranks_of_ends(
    first: usize,
    counts: &[usize],
    sizes: &[usize],
) -> Result<Vec<Option<(usize, usize)>>, usize> {
    let mut classes = (first..).zip(counts);
    let (mut current, mut rank, mut counted) = (None, 0, 0);
    let mut ends = Vec::with_capacity(sizes.len());
    for size in sizes {
        rank += size;
        while counted < rank {
            let Some((class, count)) = classes.next() else { return Err(counted) };
            current = Some((class, counted));
            counted += count;
        }
        ends.push(current.map(|(class, before)| (class, rank - before)));
    }
    Ok(ends)
}

/// The rows that may be drawn.
struct Drawable<'a, O> {
    order: &'a O,
    names: Names<'a>,
    strata: Option<&'a [u16]>,
}

impl<O: Order> Drawable<'_, O> {
    /// What a function gives for the stratum, counted from 0, and the place of each row, in any order.
    fn each<T: Send>(&self, give: impl Fn(usize, u128) -> Option<T> + Sync) -> Vec<T> {
        let of_task = |task: usize| {
            let rows = task * TOGETHER..self.names.count().min((task + 1) * TOGETHER);
            let mut places = self.names.of(rows.clone());
            self.order.places(&mut places);
            let stratum = |row: usize| self.strata.map_or(1, |strata| strata[row]);
            rows.zip(places)
                .filter_map(|(row, place)| give(usize::from(stratum(row).checked_sub(1)?), place))
                .collect::<Vec<_>>()
        };
        (0..self.names.count().div_ceil(TOGETHER)).into_par_iter().flat_map_iter(of_task).collect()
    }
}

/// The index of a token among ascending ones.
///
/// Tokens are uniform, so that a distance of values tells about how many tokens lie between. What such a step leaves is about
/// the square root of the distance, so that few steps, each a read far away in memory, end next to the token. It is found in
/// any case, also among tokens that are not uniform.
#[must_use]
pub fn found(ascending: &[Token], token: u128) -> Option<usize> {
    let n = ascending.len();
    let last = n.checked_sub(1)?;
    let value = |index: usize| u128::from_be_bytes(ascending[index]);
    let between = |distance: u128| usize::try_from(((distance >> 64) * n as u128) >> 64).unwrap_or(n);
    let mut near = between(token).min(last);
    for _ in 0..STEPS {
        let here = value(near);
        let step = between(here.abs_diff(token));
        near = if here < token { near.saturating_add(step).min(last) } else { near.saturating_sub(step) };
    }
    let mut reach = 4;
    loop {
        let (low, high) = (near.saturating_sub(reach), near.saturating_add(reach).min(n));
        if (low == 0 || value(low) <= token) && (high == n || token < value(high)) {
            return ascending[low..high].binary_search(&token.to_be_bytes()).ok().map(|index| low + index);
        }
        reach *= 4;
    }
}

#[cfg(test)]
mod tests {
    use super::{Names, Order, Partition, Secret, TooFew, found};
    use crate::token::Token;
    use std::collections::HashMap;

    /// The places of the names 0, 1, ….
    struct Listed(Vec<u128>);

    impl Order for Listed {
        fn places(&self, names: &mut [u128]) {
            for name in names {
                *name = self.0[usize::try_from(*name).unwrap_or_default()];
            }
        }
    }

    /// All orders of n places that are spread over the whole range.
    fn orders(n: usize) -> Vec<Vec<u128>> {
        let Some(fewer) = n.checked_sub(1) else { return vec![vec![]] };
        let place = fewer as u128 * (u128::MAX / 7) + 3;
        let inserted =
            |order: Vec<u128>| (0..n).map(move |at| [&order[..at], &[place], &order[at..]].concat());
        orders(fewer).into_iter().flat_map(inserted).collect()
    }

    fn parts<O: Order>(partition: &Partition<O>, n: usize, strata: Option<&[u16]>) -> Vec<u32> {
        partition.parts(&(0..n as u128).collect::<Vec<_>>(), |row| strata.map_or(1, |strata| strata[row]))
    }

    #[test]
    fn every_partition_is_cut_from_equally_many_orders() {
        for (n, sizes) in
            [(1, vec![1]), (5, vec![1]), (5, vec![2, 1]), (5, vec![1, 3, 1]), (6, vec![2, 2]), (6, vec![])]
        {
            let mut seen = HashMap::new();
            let all = orders(n);
            for order in &all {
                let cut = Partition::cut(
                    Listed(order.clone()),
                    Names::Positions(n),
                    None,
                    std::slice::from_ref(&sizes),
                );
                *seen.entry(cut.map(|cut| parts(&cut, n, None)).ok()).or_insert(0) += 1;
            }
            let factorial = |m: usize| (1..=m).product::<usize>();
            let rest = n - sizes.iter().sum::<usize>();
            let each = factorial(rest) * sizes.iter().map(|size| factorial(*size)).product::<usize>();
            assert_eq!(seen.len() * each, all.len());
            for (found, times) in seen {
                assert_eq!(times, each);
                let found = found.unwrap_or_default();
                for (part, size) in (1..).zip(&sizes) {
                    assert_eq!(found.iter().filter(|other| **other == part).count(), *size);
                }
            }
        }
    }

    #[test]
    fn strata_are_cut_apart_and_each_uniformly() {
        // Rows 0, 2 and 5 give one row to each of two parts, rows 1 and 4 one to part 2. Row 3 may not be drawn.
        let strata = [1, 2, 1, 0, 2, 1];
        let sizes = [vec![1, 1], vec![0, 1]];
        let mut seen = HashMap::new();
        for order in orders(6) {
            let cut = Partition::cut(Listed(order), Names::Positions(6), Some(&strata), &sizes);
            *seen.entry(cut.map(|cut| parts(&cut, 6, Some(&strata))).ok()).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 3 * 2 * 2);
        for (found, times) in seen {
            let found = found.unwrap_or_default();
            assert_eq!(times, 720 / 12);
            assert_eq!(found[3], 0);
            assert_eq!([0, 2, 5].map(|row: usize| found[row]).iter().sum::<u32>(), 1 + 2);
            assert_eq!(found[1] + found[4], 2);
        }
    }

    #[test]
    fn sizes_are_exact_for_many_rows_and_parts() {
        let n = 100_003;
        let strata: Vec<u16> = [0, 1, 2, 3].into_iter().cycle().take(n).collect();
        let sizes: Vec<Vec<usize>> = vec![vec![25_001, 0, 0, 0], vec![1; 20_000], vec![7, 0, 20_000, 1]];
        let cut = Partition::cut(Secret::new(&[7; 32]), Names::Positions(n), Some(&strata), &sizes);
        let (found, drawn) = cut
            .map(|cut| (parts(&cut, n, Some(&strata)), cut.drawn(Names::Positions(n), Some(&strata))))
            .unwrap_or_default();
        assert_eq!(found.len(), n);
        let mut counts = vec![vec![0_usize; 20_001]; 4];
        for (part, stratum) in found.iter().zip(&strata) {
            counts[*stratum as usize][*part as usize] += 1;
        }
        assert_eq!(counts[0][0], 25_001);
        for (counts, sizes) in counts[1..].iter().zip(sizes) {
            assert_eq!(counts[1..=sizes.len()], sizes);
        }
        assert!(drawn.iter().zip(found).all(|(drawn, part)| *drawn == (part > 0)));
    }

    #[test]
    fn places_are_those_of_the_standard() {
        // FIPS 197, appendix C.3.
        let mut bytes = 0..;
        let key = std::array::from_fn(|_| bytes.next().unwrap_or_default());
        let mut names = vec![0x0011_2233_4455_6677_8899_aabb_ccdd_eeff; 65];
        names[64] = 1;
        Secret::new(&key).places(&mut names);
        assert!(names[..64].iter().all(|place| *place == 0x8ea2_b7ca_5167_45bf_eafc_4990_4b49_6089));
        assert_ne!(names[64], names[0]);
    }

    #[test]
    fn parts_of_tokens_are_those_of_their_names() {
        let tokens: Vec<Token> = (1..=999_u128).map(|i| (i * (u128::MAX / 1000)).to_be_bytes()).collect();
        let sizes = [vec![300, 400]];
        let cut = Partition::cut(Secret::new(&[1; 32]), Names::Tokens(&tokens), None, &sizes);
        let names: Vec<u128> = tokens.iter().rev().map(|token| u128::from_be_bytes(*token)).collect();
        let (found, drawn) = cut
            .map(|cut| (cut.parts(&names, |_| 1), cut.drawn(Names::Tokens(&tokens), None)))
            .unwrap_or_default();
        assert_eq!(drawn.iter().filter(|drawn| **drawn).count(), 700);
        assert!(found.iter().rev().zip(drawn).all(|(part, drawn)| (*part > 0) == drawn));
        assert_eq!(found.iter().filter(|part| **part == 1).count(), 300);
    }

    #[test]
    fn too_few_rows_are_refused() {
        let cut = |strata: &[u16], sizes: &[Vec<usize>]| {
            Partition::cut(Secret::new(&[1; 32]), Names::Positions(4), Some(strata), sizes).map(|_| ())
        };
        assert_eq!(cut(&[1, 1, 1, 2], &[vec![2, 1], vec![1, 0]]), Ok(()));
        assert_eq!(cut(&[1, 1, 0, 2], &[vec![2, 1], vec![1, 0]]), Err(TooFew { stratum: 0, rows: 2 }));
        assert_eq!(cut(&[1, 1, 1, 2], &[vec![2, 1], vec![1, 1]]), Err(TooFew { stratum: 1, rows: 1 }));
    }

    #[test]
    fn every_token_is_found_however_they_lie() {
        let even: Vec<u128> = (0..1000).map(|i| i * (u128::MAX / 1000)).collect();
        let low: Vec<u128> = (0..1000).collect();
        let high: Vec<u128> = (0..1000).map(|i| u128::MAX - 2 * (1000 - i)).collect();
        for names in [even, low, high, vec![5], vec![]] {
            let tokens: Vec<Token> = names.iter().map(|name| name.to_be_bytes()).collect();
            for (index, name) in names.iter().enumerate() {
                assert_eq!(found(&tokens, *name), Some(index));
            }
            for other in [u128::MAX, u128::MAX / 2 + 3, 1_000_000] {
                assert_eq!(found(&tokens, other), names.iter().position(|name| *name == other));
            }
        }
    }
}
