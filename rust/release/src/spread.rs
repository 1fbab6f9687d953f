//! Sorting of tokens, which are evenly spread because they are hashes. One pass distributes them by their
//! leading bits into many small runs. In each run, a second pass sorts by the next eight bits. An insertion
//! sort then orders the few tokens that agree in all of these bits.

use crate::token::Token;
use rayon::prelude::*;

/// Approximate number of tokens in a run, so that a run fits in the fastest cache.
const TOGETHER: usize = 1024;

/// Maximum number of runs. More of them would take longer to fill than to sort.
const MAX_RUNS: usize = 4096;

/// Runs in which more tokens than this agree in the next eight bits are unevenly spread, and are sorted by
/// comparison.
const MAX_ALIKE: usize = 64;

/// Maximum number of threads that fill runs. Each of them reads all tokens, so more threads would not pay
/// off.
const MAX_FILLING: usize = 8;

/// The tokens in ascending order, and the previous place of each, computed on all threads of the current
/// pool. How evenly the tokens are spread affects the time and nothing else.
#[must_use]
pub fn ascending(tokens: Vec<Token>) -> (Vec<Token>, Vec<u32>) {
    let bits = (tokens.len() / TOGETHER).clamp(1, MAX_RUNS).ilog2();
    let sizes = sizes_of_runs(&tokens, bits);
    let (mut ascending, mut places) = in_runs(&tokens, bits, &sizes);
    drop(tokens);
    cut(&mut ascending, &sizes).into_par_iter().zip(cut(&mut places, &sizes)).for_each_init(
        Vec::new,
        |copied, (ascending, places)| {
            copied.clear();
            copied.extend(ascending.iter().copied().zip(places.iter().copied()));
            write_ascending(copied, bits, ascending, places);
        },
    );
    (ascending, places)
}

fn run_of(token: Token, bits: u32) -> usize {
    leading(token).checked_shr(32 - bits).unwrap_or(0) as usize
}

fn leading(token: Token) -> u32 {
    u32::from_be_bytes([token[0], token[1], token[2], token[3]])
}

fn sizes_of_runs(tokens: &[Token], bits: u32) -> Vec<usize> {
    let together = tokens.len().div_ceil(MAX_FILLING).max(1);
    let of_piece = |tokens: &[Token]| {
        let mut sizes = vec![0; 1 << bits];
        for token in tokens {
            sizes[run_of(*token, bits)] += 1;
        }
        sizes
    };
    let added = |a: Vec<usize>, b: Vec<usize>| a.into_iter().zip(b).map(|(a, b)| a + b).collect();
    tokens.par_chunks(together).map(of_piece).reduce(|| vec![0; 1 << bits], added)
}

/// The tokens grouped into runs by their leading bits, and the previous place of each. Each thread fills some
/// of the runs, and reads all tokens for it.
fn in_runs(tokens: &[Token], bits: u32, sizes: &[usize]) -> (Vec<Token>, Vec<u32>) {
    let (mut runs, mut places) = (vec![Token::default(); tokens.len()], vec![0; tokens.len()]);
    let together = sizes.len().div_ceil(rayon::current_num_threads().min(MAX_FILLING));
    let of_threads: Vec<usize> = sizes.chunks(together).map(|sizes| sizes.iter().sum()).collect();
    let filled = cut(&mut runs, &of_threads).into_par_iter().zip(cut(&mut places, &of_threads));
    filled.zip(sizes.par_chunks(together)).enumerate().for_each(|(thread, ((runs, places), sizes))| {
        let first = thread * together;
        let mut next: Vec<usize> =
            sizes.iter().scan(0, |first, size| Some(std::mem::replace(first, *first + size))).collect();
        for (place, token) in (0..).zip(tokens) {
            if let Some(next) = run_of(*token, bits).checked_sub(first).and_then(|run| next.get_mut(run)) {
                (runs[*next], places[*next]) = (*token, place);
                *next += 1;
            }
        }
    });
    (runs, places)
}

/// Writes a run in ascending order. Its tokens agree in the first `agreeing` bits.
fn write_ascending(run: &mut [(Token, u32)], agreeing: u32, ascending: &mut [Token], places: &mut [u32]) {
    let digit = |token: Token| (leading(token) << agreeing >> 24) as usize;
    let mut sizes = [0; 256];
    for (token, _) in run.iter() {
        sizes[digit(*token)] += 1;
    }
    if sizes.iter().any(|size| *size > MAX_ALIKE) {
        run.sort_unstable_by_key(|(token, _)| u128::from_be_bytes(*token));
        for ((of, token), place) in run.iter().zip(ascending).zip(places) {
            (*token, *place) = *of;
        }
        return;
    }
    let mut next = sizes;
    next.iter_mut().fold(0, |first, size| first + std::mem::replace(size, first));
    for of in run.iter() {
        let next = &mut next[digit(of.0)];
        (ascending[*next], places[*next]) = *of;
        *next += 1;
    }
    for last in 1..ascending.len() {
        for at in (1..=last).rev() {
            if u128::from_be_bytes(ascending[at - 1]) <= u128::from_be_bytes(ascending[at]) {
                break;
            }
            ascending.swap(at - 1, at);
            places.swap(at - 1, at);
        }
    }
}

/// Cuts the slice into consecutive pieces of these sizes. The sizes add up to its length.
fn cut<'a, T>(mut rest: &'a mut [T], sizes: &[usize]) -> Vec<&'a mut [T]> {
    let mut pieces = Vec::with_capacity(sizes.len());
    for size in sizes {
        let (piece, behind) = rest.split_at_mut(*size);
        pieces.push(piece);
        rest = behind;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::ascending;
    use crate::token::Token;

    /// Evenly spread numbers: `SplitMix64` of Steele, Lea and Flood.
    fn mixed(i: u64) -> u64 {
        let z = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn token(number: u64) -> Token {
        (u128::from(number) << 64 | u128::from(mixed(number))).to_be_bytes()
    }

    #[test]
    fn tokens_come_in_ascending_order_however_they_are_spread() {
        for count in [0, 1, 2, 1023, 1024, 2048, 5000, 100_000] {
            for spread in [mixed, |i| i % 7, |i| u64::MAX - i, |i| i << 40] {
                let tokens: Vec<Token> = (0..count).map(|i| token(spread(i))).collect();
                let mut expected = tokens.clone();
                expected.sort_unstable();
                let (sorted, places) = ascending(tokens.clone());
                assert_eq!(sorted, expected);
                assert!(sorted.iter().zip(&places).all(|(token, place)| tokens[*place as usize] == *token));
                let mut each_once = places;
                each_once.sort_unstable();
                assert!((0..).zip(&each_once).all(|(i, place): (u32, &u32)| i == *place));
            }
        }
    }
}
