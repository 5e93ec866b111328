//! How often two items share a block: posterior co-assignment probabilities.

use super::blocks::Blocks;
use super::sample::Sample;
use crate::error::{Error, Result};
use rayon::prelude::*;

/// The dense form is for so many items at most: about half a gibibyte.
pub const MOST_DENSE_ITEMS: usize = 16_384;

/// So many rows are made before they are joined: what is held twice stays small.
const ROWS_AT_ONCE: usize = 256;

/// Rows of co-assignment counts, one at a time. Making it takes O(draws · n) time and memory (at
/// most 8 bytes for each distinct draw and item); a row takes the sum over the distinct blocks with
/// the item of their sizes.
#[derive(Debug)]
pub(super) struct Counts {
    blocks: Blocks,
    draws: f64,
}

impl Counts {
    pub(super) fn new(sample: &Sample) -> Self {
        Counts { blocks: Blocks::merged(sample), draws: sample.draws() as f64 }
    }

    /// In how many draws each item shares a block with this one. Whole numbers, exact in 24 bits.
    pub(super) fn row(&self, item: usize, row: &mut [f32]) {
        row.fill(0.0);
        for &block in self.blocks.of_item(item) {
            let weight = self.blocks.weight(block as usize) as f32;
            for &other in self.blocks.members(block) {
                row[other as usize] += weight;
            }
        }
    }

    /// In how many draws this item is alone.
    pub(super) fn alone(&self, item: usize) -> f64 {
        let blocks = self.blocks.of_item(item).iter();
        let alone = blocks.filter(|&&block| self.blocks.members(block).len() == 1);
        alone.map(|&block| self.blocks.weight(block as usize)).sum()
    }

    fn probability(&self, count: f32) -> f32 {
        (f64::from(count) / self.draws) as f32
    }
}

/// The probabilities that each item shares a block with this one, into `row`. O(distinct draws · n)
/// time and O(n) memory: for a few rows. All rows are cheaper by [`similarity`] or
/// [`sparse_similarity`].
///
/// # Panics
/// When there is no such item, or the row does not have n places.
///
/// ```
/// use armix::estimate::{Sample, similarity_row};
/// let sample = Sample::new([[0, 0, 1], [0, 1, 1], [0, 0, 1], [0, 0, 0]])?;
/// let mut row = [0.0; 3];
/// similarity_row(&sample, 0, &mut row);
/// assert_eq!(row, [1.0, 0.75, 0.25]);
/// # Ok::<(), armix::error::Error>(())
/// ```
pub fn similarity_row(sample: &Sample, item: usize, row: &mut [f32]) {
    assert_eq!(row.len(), sample.n(), "a place for each item");
    row.fill(0.0);
    let mut labels = Vec::new();
    for d in 0..sample.distinct() {
        sample.unpack(d, &mut labels);
        let (own, weight) = (labels[item], sample.weight(d) as f32);
        for (count, &label) in row.iter_mut().zip(&labels) {
            *count += if label == own { weight } else { 0.0 };
        }
    }
    let draws = sample.draws() as f64;
    row.iter_mut().for_each(|count| *count = (f64::from(*count) / draws) as f32);
}

/// The probabilities of all pairs: the upper triangle, 4 bytes for each pair.
#[derive(Debug, Clone, PartialEq)]
pub struct Similarity {
    n: usize,
    /// Row after row, without the diagonal.
    upper: Vec<f32>,
}

impl Similarity {
    /// The number of items.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The probability that two items share a block; 1 for an item with itself.
    ///
    /// # Panics
    /// When there are no such items.
    pub fn get(&self, i: usize, j: usize) -> f32 {
        assert!(i < self.n && j < self.n, "there are {} items", self.n);
        let (low, high) = (i.min(j), i.max(j));
        if low == high { 1.0 } else { self.upper[row_start(self.n, low) + high - low - 1] }
    }

    /// The probabilities of an item with those after it.
    pub fn after(&self, item: usize) -> &[f32] {
        &self.upper[row_start(self.n, item)..row_start(self.n, item + 1)]
    }
}

/// The number of pairs with a smaller first item.
fn row_start(n: usize, item: usize) -> usize {
    item * (2 * n - item - 1) / 2
}

/// The co-assignment probabilities of all pairs of items. Fails for more than
/// [`MOST_DENSE_ITEMS`] items, where [`sparse_similarity`] keeps only what matters.
///
/// Time is proportional to the sum of the squared sizes of the distinct blocks, in parallel.
///
/// ```
/// use armix::estimate::{Sample, similarity};
/// let sample = Sample::new([[0, 0, 1], [0, 1, 1], [0, 0, 1], [0, 0, 0]])?;
/// let similarity = similarity(&sample)?;
/// assert_eq!((similarity.get(0, 1), similarity.get(2, 1)), (0.75, 0.5));
/// # Ok::<(), armix::error::Error>(())
/// ```
pub fn similarity(sample: &Sample) -> Result<Similarity> {
    let n = sample.n();
    if n > MOST_DENSE_ITEMS {
        return Err(Error::new(format!(
            "{n} items have too many pairs to keep them all (up to {MOST_DENSE_ITEMS} items do): keep those above a threshold"
        )));
    }
    let counts = Counts::new(sample);
    let mut upper = Vec::with_capacity(row_start(n, n));
    for_each_row(n, &counts, |item, row| row[item + 1..].to_vec(), |row| upper.extend(row));
    upper.iter_mut().for_each(|count| *count = counts.probability(*count));
    Ok(Similarity { n, upper })
}

/// Makes something of each row of counts in parallel, and hands it on in order.
fn for_each_row<T: Send>(
    n: usize,
    counts: &Counts,
    make: impl Fn(usize, &[f32]) -> T + Sync,
    mut then: impl FnMut(T),
) {
    for first in (0..n).step_by(ROWS_AT_ONCE) {
        let row = |row: &mut Vec<f32>, item: usize| {
            counts.row(item, row);
            make(item, row)
        };
        let items = (first..(first + ROWS_AT_ONCE).min(n)).into_par_iter();
        let made: Vec<T> = items.map_init(|| vec![0.0; n], row).collect();
        made.into_iter().for_each(&mut then);
    }
}

/// For each item those that it shares a block with often enough.
#[derive(Debug, Clone, PartialEq)]
pub struct Neighbours {
    starts: Vec<usize>,
    pairs: Vec<(u32, f32)>,
}

impl Neighbours {
    /// The number of items.
    pub fn n(&self) -> usize {
        self.starts.len() - 1
    }

    /// The other items that this one shares a block with, with the probabilities, by item.
    pub fn of(&self, item: usize) -> &[(u32, f32)] {
        &self.pairs[self.starts[item]..self.starts[item + 1]]
    }

    /// How many pairs are kept; each is found at both of its items.
    pub fn pairs(&self) -> usize {
        self.pairs.len() / 2
    }
}

/// The pairs of items whose co-assignment probability is at least the threshold, which must be above 0
/// and at most 1. There is no n² anywhere: memory is O(draws · n) and 16 bytes for each pair kept, time
/// as for [`similarity`].
///
/// ```
/// use armix::estimate::{Sample, sparse_similarity};
/// let sample = Sample::new([[0, 0, 1], [0, 1, 1], [0, 0, 1], [0, 0, 0]])?;
/// let neighbours = sparse_similarity(&sample, 0.5)?;
/// assert_eq!(neighbours.of(0), [(1, 0.75)]);
/// assert_eq!(neighbours.of(1), [(0, 0.75), (2, 0.5)]);
/// # Ok::<(), armix::error::Error>(())
/// ```
pub fn sparse_similarity(sample: &Sample, threshold: f64) -> Result<Neighbours> {
    if !(threshold > 0.0 && threshold <= 1.0) {
        let message = format!("the threshold is {threshold}: it must be above 0 and at most 1");
        return Err(Error::new(message));
    }
    let counts = Counts::new(sample);
    let least = threshold * counts.draws - super::ROUNDING;
    let keep = |item: usize, row: &[f32]| -> Vec<(u32, f32)> {
        let often = row.iter().enumerate().filter(|&(_, &count)| f64::from(count) >= least);
        let others = often.filter(|&(other, _)| other != item);
        others.map(|(other, &count)| (other as u32, counts.probability(count))).collect()
    };
    let mut neighbours = Neighbours { starts: vec![0], pairs: Vec::new() };
    for_each_row(sample.n(), &counts, keep, |kept| {
        neighbours.pairs.extend(kept);
        neighbours.starts.push(neighbours.pairs.len());
    });
    Ok(neighbours)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Rng};

    #[test]
    fn all_forms_agree_with_counting() {
        let mut rng = Rng::from_seed(Purpose::Test, 41);
        for n in [1, 2, 7, 300] {
            let draws: Vec<Vec<u32>> =
                (0..20).map(|_| (0..n).map(|_| rng.below(3) as u32).collect()).collect();
            let sample = Sample::new(&draws).unwrap();
            let dense = similarity(&sample).unwrap();
            let sparse = sparse_similarity(&sample, 0.45).unwrap();
            let mut row = vec![0.0; n];
            for i in 0..n {
                similarity_row(&sample, i, &mut row);
                assert_eq!(dense.after(i).len(), n - i - 1);
                let mut kept = Vec::new();
                for j in 0..n {
                    let together = draws.iter().filter(|d| d[i] == d[j]).count();
                    let truth = (together as f64 / 20.0) as f32;
                    assert_eq!((dense.get(i, j), row[j]), (truth, truth));
                    if i != j && together >= 9 {
                        kept.push((j as u32, truth));
                    }
                }
                assert_eq!(sparse.of(i), kept);
            }
        }
    }

    #[test]
    fn too_many_items_and_odd_thresholds_are_errors() {
        let sample = Sample::new([vec![0; MOST_DENSE_ITEMS + 1]]).unwrap();
        assert!(similarity(&sample).is_err());
        let sample = Sample::new([[0, 1]]).unwrap();
        for threshold in [0.0, -1.0, 1.5, f64::NAN] {
            assert!(sparse_similarity(&sample, threshold).is_err());
        }
    }
}
