//! The exchanges of Fisher and Yates, for positions that were drawn elsewhere.

/// Exchanges `labels[last]` with `labels[chosen[0]]`, then `labels[last - 1]` with `labels[chosen[1]]`, and so on.
///
/// With equal labels behind the first `u`, and `chosen` for the positions `u − 1, …, 0` in turn, each
/// independent and uniform on `[position, n)`, every arrangement of the labels is equally likely. For when the labels
/// from `i + 1` on are arranged uniformly over the positions from `i + 1` on, label `i` goes to a uniform position `j ≥ i`
/// and what stood at `j` goes to `i`: given `j`, the others lie over the positions `≥ i` except `j`, of which each is
/// the image of one `> i`, so still uniformly.
///
/// # Errors
///
/// The position that lies outside of the labels; what was exchanged before it remains exchanged.
pub fn exchange(labels: &mut [u32], last: usize, chosen: &[u64]) -> Result<(), u64> {
    for (step, &other) in chosen.iter().enumerate() {
        let position = last.checked_sub(step).ok_or(other)?;
        let partner = usize::try_from(other).map_err(|_| other)?;
        if position >= labels.len() || partner >= labels.len() {
            return Err(other);
        }
        labels.swap(position, partner);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::exchange;

    #[test]
    fn positions_are_exchanged_downwards() {
        let mut labels = [1, 2, 3, 0];
        assert_eq!(exchange(&mut labels, 2, &[3, 1, 2]), Ok(()));
        assert_eq!(labels, [0, 2, 1, 3]);
    }

    #[test]
    fn positions_outside_are_refused() {
        assert_eq!(exchange(&mut [1, 0], 1, &[2]), Err(2));
        assert_eq!(exchange(&mut [1, 0], 2, &[0]), Err(0));
        assert_eq!(exchange(&mut [1, 0], 0, &[0, 1]), Err(1));
        assert_eq!(exchange(&mut [1, 0], 0, &[u64::MAX]), Err(u64::MAX));
    }
}
