//! The counts of a release: for each part, the number of rows in each cell of its question.

/// The counts of parts 1, 2, …, where each part is asked one question of a list.
pub struct Tally {
    questions: Vec<Option<usize>>,
    cells: usize,
    counts: Vec<u64>,
}

/// The error of a row with a part, question or cell that was not announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unannounced;

impl Tally {
    /// A tally without rows. Part `k` is asked question `questions[k − 1]`, which has at most `cells` cells.
    /// A part without a question is not counted.
    #[must_use]
    pub fn new(questions: Vec<Option<usize>>, cells: usize) -> Self {
        let counts = vec![0; questions.len() * cells];
        Self { questions, cells, counts }
    }

    /// Counts the next rows. `labels` gives the part of each row, or 0 if no part uses it. `cells` gives, for
    /// each question, the cell of each row.
    ///
    /// # Errors
    ///
    /// A part, a question or a cell was not announced, or a row in use has no cell.
    pub fn count(&mut self, labels: &[u32], cells: &[&[u16]]) -> Result<(), Unannounced> {
        for (row, &label) in labels.iter().enumerate().filter(|(_, label)| **label > 0) {
            let part = label as usize - 1;
            let Some(question) = *self.questions.get(part).ok_or(Unannounced)? else { continue };
            let cell = usize::from(*cells.get(question).and_then(|cells| cells.get(row)).ok_or(Unannounced)?);
            if cell >= self.cells {
                return Err(Unannounced);
            }
            self.counts[part * self.cells + cell] += 1;
        }
        Ok(())
    }

    /// The counts, part by part.
    #[must_use]
    pub fn finish(self) -> Vec<u64> {
        self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::{Tally, Unannounced};

    #[test]
    fn each_part_is_counted_by_its_own_question() {
        let mut tally = Tally::new(vec![Some(1), Some(0), Some(1), None], 3);
        assert_eq!(tally.count(&[1, 2, 0, 1], &[&[0, 1, 2, 0], &[2, 0, 0, 2]]), Ok(()));
        assert_eq!(tally.count(&[3, 2, 4], &[&[0, 0, 0], &[1, 2, 0]]), Ok(()));
        assert_eq!(tally.finish(), [0, 0, 2, 1, 1, 0, 0, 1, 0, 0, 0, 0]);
    }

    #[test]
    fn what_was_not_announced_is_refused() {
        for (labels, cells) in [(&[2][..], &[0][..]), (&[1], &[2]), (&[0, 1], &[0])] {
            assert_eq!(Tally::new(vec![Some(0)], 2).count(labels, &[cells]), Err(Unannounced));
        }
        assert_eq!(Tally::new(vec![Some(1)], 2).count(&[1], &[&[0]]), Err(Unannounced));
    }
}
