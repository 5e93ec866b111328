//! Draws from a posterior over partitions, each distinct one kept once.

use crate::error::{Error, Result};
use crate::history::Row;
use crate::partition::canonical;
use std::collections::HashMap;

/// Labels of all distinct draws, one draw after the other, in as few bytes as they need.
#[derive(Debug, Clone)]
enum Labels {
    Narrow(Vec<u16>),
    Wide(Vec<u32>),
}

/// A posterior sample of partitions of n items: the distinct ones with how often they were drawn,
/// and which draw was which. Labels are canonical, two bytes each unless a partition has more than
/// 65 536 blocks.
///
/// ```
/// use armix::estimate::Sample;
/// let sample = Sample::new([[0, 0, 1], [5, 5, 2], [0, 1, 1]])?;
/// assert_eq!((sample.n(), sample.draws(), sample.distinct()), (3, 3, 2));
/// assert_eq!(sample.weight(0), 2);
/// assert_eq!(sample.distinct_of_draws(), [0, 0, 1]);
/// assert_eq!(sample.labels(1), [0, 1, 1]);
/// # Ok::<(), armix::error::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Sample {
    n: usize,
    labels: Labels,
    /// The number of blocks of each distinct draw.
    blocks: Vec<u32>,
    /// How often each distinct draw was drawn.
    weights: Vec<u32>,
    /// The distinct draw that each draw is.
    of_draws: Vec<u32>,
}

impl Sample {
    /// The sample of these draws, given as a label for each item. Fails if there is none, or if
    /// they are not about the same number of items.
    pub fn new<L: AsRef<[u32]>>(draws: impl IntoIterator<Item = L>) -> Result<Self> {
        let mut builder = Builder::default();
        for draw in draws {
            builder.add(draw.as_ref())?;
        }
        builder.finish()
    }

    /// The sample of stored states.
    ///
    /// ```
    /// use armix::{estimate::Sample, history::Row};
    /// let rows = [Row::new(&[0, 1, 0]), Row::new(&[0, 1, 0])];
    /// assert_eq!(Sample::from_rows(&rows)?.weight(0), 2);
    /// # Ok::<(), armix::error::Error>(())
    /// ```
    pub fn from_rows<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Result<Self> {
        let mut builder = Builder::default();
        let mut labels = Vec::new();
        for row in rows {
            row.unpack(&mut labels);
            builder.add(&labels)?;
        }
        builder.finish()
    }

    /// The number of items.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The number of draws.
    pub fn draws(&self) -> usize {
        self.of_draws.len()
    }

    /// The number of distinct draws. They are numbered in order of first appearance.
    pub fn distinct(&self) -> usize {
        self.weights.len()
    }

    /// How often a distinct draw was drawn.
    pub fn weight(&self, distinct: usize) -> u32 {
        self.weights[distinct]
    }

    /// The number of blocks of a distinct draw.
    pub fn blocks(&self, distinct: usize) -> usize {
        self.blocks[distinct] as usize
    }

    /// The distinct draw that each draw is, in the order in which they were given.
    pub fn distinct_of_draws(&self) -> &[u32] {
        &self.of_draws
    }

    /// Canonical labels of a distinct draw.
    pub fn labels(&self, distinct: usize) -> Vec<u32> {
        let mut labels = Vec::new();
        self.unpack(distinct, &mut labels);
        labels
    }

    /// Canonical labels of a distinct draw, into a buffer.
    pub fn unpack(&self, distinct: usize, labels: &mut Vec<u32>) {
        let range = distinct * self.n..(distinct + 1) * self.n;
        labels.clear();
        match &self.labels {
            Labels::Narrow(all) => labels.extend(all[range].iter().map(|&label| u32::from(label))),
            Labels::Wide(all) => labels.extend_from_slice(&all[range]),
        }
    }

    /// Some of the distinct draws, with their weights, as a sample of their own. The draws come in
    /// the order of the original; `None` if there are none.
    pub(super) fn subset(&self, belongs: impl Fn(usize) -> bool) -> Option<Self> {
        let draws = self.of_draws.iter().filter(|&&d| belongs(d as usize));
        let mut new_number = vec![u32::MAX; self.distinct()];
        let mut kept: Vec<u32> = Vec::new();
        let of_draws: Vec<u32> = draws
            .map(|&d| {
                if new_number[d as usize] == u32::MAX {
                    new_number[d as usize] = kept.len() as u32;
                    kept.push(d);
                }
                new_number[d as usize]
            })
            .collect();
        let range = |d: u32| d as usize * self.n..(d as usize + 1) * self.n;
        let labels = match &self.labels {
            Labels::Narrow(all) => {
                Labels::Narrow(kept.iter().flat_map(|&d| all[range(d)].iter().copied()).collect())
            }
            Labels::Wide(all) => {
                Labels::Wide(kept.iter().flat_map(|&d| all[range(d)].iter().copied()).collect())
            }
        };
        (!of_draws.is_empty()).then(|| Sample {
            n: self.n,
            labels,
            blocks: kept.iter().map(|&d| self.blocks[d as usize]).collect(),
            weights: kept.iter().map(|&d| self.weights[d as usize]).collect(),
            of_draws,
        })
    }
}

/// A sample in the making.
struct Builder {
    sample: Sample,
    /// Distinct draws by the hash of their labels. 128 bits: different draws never share one.
    by_hash: HashMap<u128, u32>,
}

impl Default for Builder {
    fn default() -> Self {
        let sample = Sample {
            n: 0,
            labels: Labels::Narrow(Vec::new()),
            blocks: Vec::new(),
            weights: Vec::new(),
            of_draws: Vec::new(),
        };
        Builder { sample, by_hash: HashMap::new() }
    }
}

impl Builder {
    fn add(&mut self, labels: &[u32]) -> Result<()> {
        let sample = &mut self.sample;
        if sample.of_draws.is_empty() {
            sample.n = labels.len();
        }
        if labels.len() != sample.n || labels.is_empty() {
            return Err(Error::new(format!(
                "draw {} has {} labels, where {} are expected: all draws must be of the same items",
                sample.of_draws.len() + 1,
                labels.len(),
                sample.n.max(1)
            )));
        }
        let labels = canonical(labels);
        let bytes: Vec<u8> = labels.iter().flat_map(|label| label.to_le_bytes()).collect();
        let next = sample.weights.len() as u32;
        let distinct = *self.by_hash.entry(xxhash_rust::xxh3::xxh3_128(&bytes)).or_insert(next);
        if distinct == next {
            sample.blocks.push(labels.iter().max().map_or(0, |&largest| largest + 1));
            sample.weights.push(0);
            append(&mut sample.labels, &labels);
        }
        sample.weights[distinct as usize] += 1;
        sample.of_draws.push(distinct);
        Ok(())
    }

    fn finish(self) -> Result<Sample> {
        if self.sample.of_draws.is_empty() {
            return Err(Error::new("there are no draws to make an estimate of"));
        }
        Ok(self.sample)
    }
}

fn append(all: &mut Labels, labels: &[u32]) {
    let narrow = labels.iter().all(|&label| label <= u32::from(u16::MAX));
    if let (Labels::Narrow(before), false) = (&mut *all, narrow) {
        *all = Labels::Wide(before.iter().map(|&label| u32::from(label)).collect());
    }
    match all {
        Labels::Narrow(all) => all.extend(labels.iter().map(|&label| label as u16)),
        Labels::Wide(all) => all.extend_from_slice(labels),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_of_different_items_and_no_draws_are_errors() {
        assert!(Sample::new(Vec::<Vec<u32>>::new()).is_err());
        assert!(Sample::new([vec![0, 1], vec![0]]).unwrap_err().to_string().contains("draw 2"));
        assert!(Sample::new([Vec::<u32>::new()]).is_err());
    }

    #[test]
    fn more_than_two_bytes_of_blocks_are_kept() {
        let alone: Vec<u32> = (0..70_000).collect();
        let sample = Sample::new([vec![0; 70_000], alone.clone(), vec![3; 70_000]]).unwrap();
        assert_eq!((sample.distinct(), sample.blocks(0), sample.blocks(1)), (2, 1, 70_000));
        assert_eq!(sample.labels(0), vec![0; 70_000]);
        assert_eq!(sample.labels(1), alone);
    }

    #[test]
    fn a_subset_is_a_sample() {
        let draws = [[0, 0, 1], [0, 1, 2], [0, 1, 1], [0, 1, 2], [0, 0, 1]];
        let sample = Sample::new(draws).unwrap();
        let subset = sample.subset(|d| d != 0).unwrap();
        assert_eq!((subset.draws(), subset.distinct(), subset.weight(0)), (3, 2, 2));
        assert_eq!((subset.labels(0), subset.labels(1)), (vec![0, 1, 2], vec![0, 1, 1]));
        assert_eq!(subset.distinct_of_draws(), [0, 1, 0]);
        assert!(sample.subset(|_| false).is_none());
    }
}
