//! Sorting what is spread evenly, as hashes are: one pass into many small runs, which are then sorted each
//! for itself.

use rayon::prelude::*;

/// Runs of about as many items fit the fastest memory.
const TOGETHER: usize = 1024;

/// More runs than this are slower to fill than to sort.
const MOST_RUNS: usize = 4096;

/// The items in ascending order of `number`, whose leading 32 bits are `leading`; on all threads of the pool
/// this runs in. The time, and nothing else, depends on how evenly they are spread.
pub fn ascending<T: Copy + Default + Send, K: Ord>(
    items: Vec<T>,
    leading: impl Fn(&T) -> u32,
    number: impl Fn(&T) -> K + Sync,
) -> Vec<T> {
    let bits = (items.len() / TOGETHER).clamp(1, MOST_RUNS).ilog2();
    let run = |item: &T| leading(item).checked_shr(32 - bits).unwrap_or(0) as usize;
    let mut sizes = vec![0; 1 << bits];
    for item in &items {
        sizes[run(item)] += 1;
    }
    let mut next: Vec<usize> =
        sizes.iter().scan(0, |first, size| Some(std::mem::replace(first, *first + size))).collect();
    let mut sorted = vec![T::default(); items.len()];
    for item in &items {
        let place = &mut next[run(item)];
        sorted[*place] = *item;
        *place += 1;
    }
    drop(items);
    let mut rest = &mut sorted[..];
    let mut runs = Vec::with_capacity(sizes.len());
    for size in sizes {
        let (run, behind) = rest.split_at_mut(size);
        runs.push(run);
        rest = behind;
    }
    runs.into_par_iter().for_each(|run| run.sort_unstable_by_key(&number));
    sorted
}

#[cfg(test)]
mod tests {
    use super::ascending;

    /// Steele, Lea and Flood's `SplitMix64`: numbers that are spread evenly.
    fn mixed(i: u64) -> u64 {
        let z = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    #[test]
    fn items_come_in_ascending_order_however_they_are_spread() {
        for count in [0, 1, 2, 1023, 1024, 2048, 5000, 100_000] {
            for spread in [mixed, |i| i % 7, |i| u64::MAX - i, |i| i << 40] {
                let items: Vec<u64> = (0..count).map(spread).collect();
                let mut expected = items.clone();
                expected.sort_unstable();
                assert_eq!(ascending(items, |i| (i >> 32) as u32, |i| *i), expected);
            }
        }
    }
}
