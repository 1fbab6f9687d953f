//! The exchanges of a Fisher–Yates shuffle. The positions are drawn elsewhere.

/// Exchanges `labels[last]` with `labels[chosen[0]]`, then `labels[last - 1]` with `labels[chosen[1]]`, and
/// so on.
///
/// Assume that all labels from position `u` on are equal, and that `chosen` holds, for the positions
/// `u − 1, …, 0` in turn, independent numbers that are uniform on `[position, n)`. Then every arrangement of
/// the labels is equally likely.
///
/// Proof by induction: let the labels from `i + 1` on be arranged uniformly over the positions from `i + 1`
/// on. Label `i` goes to a uniform position `j ≥ i`, and the label at `j` goes to `i`. Given `j`, the other
/// labels lie on the positions `≥ i` except `j`. The exchange maps the positions `> i` one to one onto these,
/// so the arrangement is uniform again.
///
/// # Errors
///
/// The position that is out of range. Earlier exchanges are not undone.
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
