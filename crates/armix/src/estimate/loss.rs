//! What it costs to report one partition when another is true, and how much that is on average.

use super::sample::Sample;
use crate::error::{Error, Result};
use crate::partition::canonical;
use rayon::prelude::*;
use std::fmt;
use std::str::FromStr;

/// A loss between two partitions.
///
/// ```
/// use armix::estimate::Loss;
/// assert_eq!("binder".parse::<Loss>()?, Loss::Binder);
/// assert_eq!(Loss::Vi.to_string(), "vi");
/// # Ok::<(), armix::error::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Loss {
    /// The variation of information, in bits.
    #[default]
    Vi,
    /// Binder's loss, as [`crate::compare::binder`].
    Binder,
    /// 1 − the adjusted Rand index.
    Ari,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Loss::Vi => "vi",
            Loss::Binder => "binder",
            Loss::Ari => "ari",
        })
    }
}

impl FromStr for Loss {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "vi" => Ok(Loss::Vi),
            "binder" => Ok(Loss::Binder),
            "ari" => Ok(Loss::Ari),
            _ => Err(Error::new(format!("there is no loss {text:?}: use vi, binder or ari"))),
        }
    }
}

/// One partition that many draws are compared with: its items sorted by block.
struct Reference {
    items: Vec<u32>,
    /// Where each block begins in `items`, and where the last one ends.
    starts: Vec<usize>,
    log2: Vec<f64>,
}

/// Counters for one draw.
#[derive(Default)]
struct Scratch {
    labels: Vec<u32>,
    /// The sizes of the draw's blocks.
    sizes: Vec<u32>,
    /// How many items of the reference's block are in each block of the draw.
    both: Vec<u32>,
    /// The blocks of the draw for which that is not 0.
    touched: Vec<u32>,
}

fn pairs(count: u32) -> u64 {
    u64::from(count) * u64::from(count).saturating_sub(1) / 2
}

impl Reference {
    fn new(labels: &[u32]) -> Self {
        let labels = canonical(labels);
        let blocks = labels.iter().max().map_or(0, |&largest| largest as usize + 1);
        let mut starts = vec![0; blocks + 1];
        for &label in &labels {
            starts[label as usize + 1] += 1;
        }
        for block in 0..blocks {
            starts[block + 1] += starts[block];
        }
        let mut next = starts.clone();
        let mut items = vec![0; labels.len()];
        for (item, &label) in labels.iter().enumerate() {
            items[next[label as usize]] = item as u32;
            next[label as usize] += 1;
        }
        let log2 = (0..=labels.len()).map(|x| libm::log2(x as f64)).collect();
        Reference { items, starts, log2 }
    }

    /// Calls `cell` with the sizes of the reference's block, of the draw's block and of what they
    /// share, for all that share something.
    fn cells(
        &self,
        sample: &Sample,
        d: usize,
        s: &mut Scratch,
        mut cell: impl FnMut(u32, u32, u32),
    ) {
        sample.unpack(d, &mut s.labels);
        for counts in [&mut s.sizes, &mut s.both] {
            counts.clear();
            counts.resize(sample.blocks(d), 0);
        }
        s.labels.iter().for_each(|&label| s.sizes[label as usize] += 1);
        for block in self.starts.windows(2) {
            let items = &self.items[block[0]..block[1]];
            for &item in items {
                let label = s.labels[item as usize];
                let both = &mut s.both[label as usize];
                if *both == 0 {
                    s.touched.push(label);
                }
                *both += 1;
            }
            for label in s.touched.drain(..) {
                let both = std::mem::take(&mut s.both[label as usize]);
                cell(items.len() as u32, s.sizes[label as usize], both);
            }
        }
    }

    fn distance(&self, sample: &Sample, d: usize, loss: Loss, scratch: &mut Scratch) -> f64 {
        let n = self.items.len() as f64;
        if loss == Loss::Vi {
            let mut bits = 0.0;
            self.cells(sample, d, scratch, |a, b, both| {
                // As in `compare`, no term is negative, for the table is monotone.
                let log2 = self.log2[both as usize];
                let lost = (self.log2[a as usize] - log2) + (self.log2[b as usize] - log2);
                bits += f64::from(both) * lost;
            });
            return bits / n;
        }
        let mut in_both = 0;
        self.cells(sample, d, scratch, |_, _, both| in_both += pairs(both));
        let in_a: u64 = self.starts.windows(2).map(|b| pairs((b[1] - b[0]) as u32)).sum();
        let in_b: u64 = scratch.sizes.iter().map(|&size| pairs(size)).sum();
        if loss == Loss::Binder {
            return 2.0 * ((in_a - in_both) + (in_b - in_both)) as f64 / (n * n);
        }
        1.0 - adjusted_rand(in_a, in_b, in_both, pairs(self.items.len() as u32))
    }
}

/// The adjusted Rand index from numbers of pairs; see [`crate::compare::adjusted_rand`].
fn adjusted_rand(in_a: u64, in_b: u64, in_both: u64, all: u64) -> f64 {
    let [a, b, both, all] = [in_a, in_b, in_both, all].map(i128::from);
    let at_most = all * (a + b) - 2 * a * b;
    if at_most == 0 { 1.0 } else { (2 * (all * both - a * b)) as f64 / at_most as f64 }
}

/// The loss between a partition and each distinct draw. O(distinct draws · n), in parallel.
///
/// # Panics
/// When there is not one label for each item.
///
/// ```
/// use armix::estimate::{Loss, Sample, distances};
/// let sample = Sample::new([[0, 0, 1, 1], [0, 1, 2, 3]])?;
/// assert_eq!(distances(&sample, &[0, 0, 0, 0], Loss::Vi), [1.0, 2.0]);
/// # Ok::<(), armix::error::Error>(())
/// ```
pub fn distances(sample: &Sample, labels: &[u32], loss: Loss) -> Vec<f64> {
    assert_eq!(labels.len(), sample.n(), "a label for each item");
    let reference = Reference::new(labels);
    let distance = |s: &mut Scratch, d: usize| reference.distance(sample, d, loss, s);
    (0..sample.distinct()).into_par_iter().map_init(Scratch::default, distance).collect()
}

/// The average over the draws of the loss between a draw and this partition, exactly.
/// O(distinct draws · n), in parallel.
///
/// # Panics
/// When there is not one label for each item.
///
/// ```
/// use armix::estimate::{Loss, Sample, expected_loss};
/// let sample = Sample::new([[0, 0, 1, 1], [0, 1, 2, 3]])?;
/// assert_eq!(expected_loss(&sample, &[0, 0, 0, 0], Loss::Vi), 1.5);
/// # Ok::<(), armix::error::Error>(())
/// ```
pub fn expected_loss(sample: &Sample, labels: &[u32], loss: Loss) -> f64 {
    average(sample, &distances(sample, labels, loss))
}

/// The average over the draws of something known for each distinct draw.
pub(super) fn average(sample: &Sample, values: &[f64]) -> f64 {
    let weighted = values.iter().enumerate().map(|(d, value)| f64::from(sample.weight(d)) * value);
    weighted.sum::<f64>() / sample.draws() as f64
}

/// The average loss between a partition and some of the distinct draws, by their weights, on this
/// thread.
pub(super) fn loss_over(sample: &Sample, labels: &[u32], loss: Loss, some: &[usize]) -> f64 {
    let reference = Reference::new(labels);
    let mut scratch = Scratch::default();
    let (mut sum, mut weights) = (0.0, 0.0);
    for &d in some {
        let weight = f64::from(sample.weight(d));
        sum += weight * reference.distance(sample, d, loss, &mut scratch);
        weights += weight;
    }
    sum / weights
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Contingency;
    use crate::rng::{Purpose, Rng};

    #[test]
    fn distances_are_those_of_compare() {
        let mut rng = Rng::from_seed(Purpose::Test, 31);
        for round in 0..200 {
            let n = 1 + rng.below(40) as usize;
            let blocks = 1 + rng.below(10);
            let mut draw = || (0..n).map(|_| rng.below(blocks) as u32).collect::<Vec<u32>>();
            let sample = Sample::new((0..5).map(|_| draw())).unwrap();
            let labels = if round % 4 == 0 { sample.labels(0) } else { draw() };
            for loss in [Loss::Vi, Loss::Binder, Loss::Ari] {
                let mut expected = 0.0;
                for (d, distance) in distances(&sample, &labels, loss).into_iter().enumerate() {
                    let table = Contingency::new(&labels, &sample.labels(d));
                    let truth = match loss {
                        Loss::Vi => table.variation_of_information(),
                        Loss::Binder => table.binder(),
                        Loss::Ari => 1.0 - table.adjusted_rand(),
                    };
                    assert!((distance - truth).abs() < 1e-12, "{loss}: {distance} {truth}");
                    assert!(distance >= 0.0 && (truth != 0.0 || distance == 0.0));
                    expected += truth * f64::from(sample.weight(d)) / 5.0;
                }
                assert!((expected_loss(&sample, &labels, loss) - expected).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn names_are_read_and_written() {
        for loss in [Loss::Vi, Loss::Binder, Loss::Ari] {
            assert_eq!(loss.to_string().parse(), Ok(loss));
        }
        assert!("VI".parse::<Loss>().is_err());
    }
}
