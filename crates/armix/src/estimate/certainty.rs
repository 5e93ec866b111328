//! Which items of an estimate are well placed, and which of them can be relied on together.

use super::ROUNDING;
use super::sample::Sample;
use super::similarity::Counts;
use crate::error::{Error, Result};
use crate::partition::canonical;
use rayon::prelude::*;

/// How sure the place of an item is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certainty {
    /// The mean probability of sharing a block with the other members of its block in the
    /// estimate. An item that is alone in the estimate has the probability of being alone.
    pub own: f64,
    /// The same mean for the block, of all the others, where it is the largest; 0 if there is no
    /// other block.
    pub other: f64,
    /// That block; the first of several. `None` if there is no other block.
    pub other_block: Option<u32>,
}

impl Certainty {
    /// How much better its own block is than the best other one, between −1 and 1.
    pub fn margin(&self) -> f64 {
        self.own - self.other
    }
}

/// How sure the place of each item in an estimate is. Blocks are numbered canonically, in order of
/// first appearance. O(n + blocks with the item) for each item, in parallel, and O(draws · n) memory.
///
/// # Panics
/// When there is not one label for each item.
///
/// ```
/// use armix::estimate::{Sample, certainty};
/// let sample = Sample::new([[0, 0, 1], [0, 0, 1], [0, 0, 1], [0, 1, 1]])?;
/// let sure = certainty(&sample, &[0, 0, 1]);
/// assert_eq!((sure[1].own, sure[1].other, sure[1].other_block), (0.75, 0.25, Some(1)));
/// assert_eq!(sure[2].own, 0.75);
/// # Ok::<(), armix::error::Error>(())
/// ```
pub fn certainty(sample: &Sample, estimate: &[u32]) -> Vec<Certainty> {
    assert_eq!(estimate.len(), sample.n(), "a label for each item");
    let labels = canonical(estimate);
    let mut sizes = vec![0.0; labels.iter().max().map_or(0, |&largest| largest as usize + 1)];
    labels.iter().for_each(|&label| sizes[label as usize] += 1.0);
    let counts = Counts::new(sample);
    let draws = sample.draws() as f64;
    let of_item = |(row, sums): &mut (Vec<f32>, Vec<f64>), item: usize| {
        counts.row(item, row);
        sums.fill(0.0);
        for (&label, &count) in labels.iter().zip(row.iter()) {
            sums[label as usize] += f64::from(count);
        }
        let home = labels[item] as usize;
        let own = match sizes[home] {
            1.0 => counts.alone(item) / draws,
            // Without itself, which it shares every draw with.
            size => (sums[home] - draws) / draws / (size - 1.0),
        };
        let mut best = Certainty { own, other: 0.0, other_block: None };
        for block in (0..sizes.len()).filter(|&block| block != home) {
            let mean = sums[block] / draws / sizes[block];
            if best.other_block.is_none() || mean > best.other {
                (best.other, best.other_block) = (mean, Some(block as u32));
            }
        }
        best
    };
    let buffers = || (vec![0.0; labels.len()], vec![0.0; sizes.len()]);
    (0..labels.len()).into_par_iter().map_init(buffers, of_item).collect()
}

/// The items that can be relied on together: of all pairs that remain, those in one block of the
/// estimate share a block with at least this probability, and those in two blocks with at most
/// 1 − level. The label (canonical, of the estimate) of each item that remains, `None` for the others.
///
/// The item in the most violating pairs is dropped, of several the last, until no pair violates.
/// The level is a probability of at least ½. Costs a row of co-assignments for each item, in parallel,
/// and again for each item that is dropped; memory is O(draws · n), never n².
///
/// # Panics
/// When there is not one label for each item.
///
/// ```
/// use armix::estimate::{Sample, sure_subpartition};
/// let sample = Sample::new([[0, 0, 0, 1, 1], [0, 0, 1, 1, 1]])?;
/// let sure = sure_subpartition(&sample, &[0, 0, 0, 1, 1], 0.9)?;
/// assert_eq!(sure, [Some(0), Some(0), None, Some(1), Some(1)]);
/// # Ok::<(), armix::error::Error>(())
/// ```
pub fn sure_subpartition(
    sample: &Sample,
    estimate: &[u32],
    level: f64,
) -> Result<Vec<Option<u32>>> {
    assert_eq!(estimate.len(), sample.n(), "a label for each item");
    if !(0.5..=1.0).contains(&level) {
        return Err(Error::new(format!("the level is {level}: it must be between 0.5 and 1")));
    }
    let labels = canonical(estimate);
    let counts = Counts::new(sample);
    let draws = sample.draws() as f64;
    let (least, most) = (level * draws - ROUNDING, (1.0 - level) * draws + ROUNDING);
    let violates = |item: usize, other: usize, count: f32| {
        let count = f64::from(count);
        if labels[item] == labels[other] { count < least } else { count > most }
    };
    let n = labels.len();
    let count_violations = |row: &mut Vec<f32>, item: usize| {
        counts.row(item, row);
        (0..n).filter(|&other| other != item && violates(item, other, row[other])).count()
    };
    let mut violations: Vec<usize> =
        (0..n).into_par_iter().map_init(|| vec![0.0; n], count_violations).collect();
    let mut sure: Vec<Option<u32>> = labels.iter().copied().map(Some).collect();
    let mut row = vec![0.0; n];
    while let Some((_, worst)) =
        (violations.iter().zip(0..n)).max().filter(|(count, _)| **count > 0)
    {
        sure[worst] = None;
        violations[worst] = 0;
        counts.row(worst, &mut row);
        for other in 0..n {
            if sure[other].is_some() && violates(worst, other, row[other]) {
                violations[other] -= 1;
            }
        }
    }
    Ok(sure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::similarity;
    use crate::rng::{Purpose, Rng};

    /// Two blocks with items that hop between them more or less often, the last one always.
    fn blurred(n: usize, seed: u64) -> (Sample, Vec<u32>) {
        let mut rng = Rng::from_seed(Purpose::Test, seed);
        let truth: Vec<u32> = (0..n).map(|i| u32::from(i % 5 < 2)).collect();
        let draw = |_| {
            let hop = |i: usize, rng: &mut Rng| rng.uniform() < 0.5 * (i as f64 / n as f64).powi(6);
            (0..n).map(|i| truth[i] ^ u32::from(hop(i, &mut rng))).collect::<Vec<u32>>()
        };
        (Sample::new((0..200).map(draw)).unwrap(), truth)
    }

    #[test]
    fn what_remains_is_sure_and_little_is_lost() {
        let (sample, truth) = blurred(100, 61);
        let similar = similarity(&sample).unwrap();
        for level in [0.5, 0.8, 0.95, 1.0] {
            let sure = sure_subpartition(&sample, &truth, level).unwrap();
            for i in 0..100 {
                for j in (0..i).filter(|&j| sure[i].is_some() && sure[j].is_some()) {
                    let p = f64::from(similar.get(i, j));
                    if truth[i] == truth[j] {
                        assert!(p >= level - 1e-6);
                    } else {
                        assert!(p <= 1.0 - level + 1e-6);
                    }
                }
            }
            let kept = sure.iter().flatten().count();
            assert!(kept >= if level < 1.0 { 60 } else { 20 }, "{level}: {kept}");
            assert!(level < 0.9 || kept < 95);
        }
        assert!(sure_subpartition(&sample, &truth, 0.4).is_err());
    }

    #[test]
    fn certainty_is_what_the_similarities_say() {
        let (sample, mut estimate) = blurred(40, 62);
        (0..4).for_each(|i| estimate[10 * i] = 7);
        estimate[39] = 9;
        let similar = similarity(&sample).unwrap();
        let labels = canonical(&estimate);
        for (i, sure) in certainty(&sample, &estimate).into_iter().enumerate() {
            let mean = |block: u32| {
                let others: Vec<usize> =
                    (0..40).filter(|&j| j != i && labels[j] == block).collect();
                let sum: f64 = others.iter().map(|&j| f64::from(similar.get(i, j))).sum();
                sum / others.len() as f64
            };
            if i == 39 {
                // It is never alone in a draw.
                assert_eq!(sure.own, 0.0);
            } else {
                assert!((sure.own - mean(labels[i])).abs() < 1e-6);
            }
            let best = (0..4).filter(|&b| b != labels[i]).map(mean).fold(0.0, f64::max);
            assert!((sure.other - best).abs() < 1e-6);
            assert!((mean(sure.other_block.unwrap()) - best).abs() < 1e-6);
            assert!((sure.margin() - (sure.own - sure.other)).abs() < 1e-15);
        }
        let one = certainty(&sample, &[0; 40]);
        assert_eq!((one[0].other, one[0].other_block), (0.0, None));
    }
}
