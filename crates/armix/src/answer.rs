//! The answer of a run: one partition that stands for all draws, how sure it is, and what else the
//! posterior says.

use crate::compare;
use crate::diagnose::BurnIn;
use crate::error::{Error, Result};
use crate::estimate::{
    self, Ball, Loss, ModeOptions, Sample, SearchOptions, expected_loss, minimise,
    sure_subpartition,
};
use crate::history::Row;
use crate::partition::by_size;
use crate::run::{Run, Trace};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::str::FromStr;

/// What makes an estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Criterion {
    /// The least expected loss.
    Loss(Loss),
    /// The highest log joint of all iterations.
    Map,
}

impl Default for Criterion {
    fn default() -> Self {
        Criterion::Loss(Loss::Vi)
    }
}

impl FromStr for Criterion {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        match text {
            "map" => Ok(Criterion::Map),
            _ => text.parse().map(Criterion::Loss).map_err(|_| {
                Error::new(format!("there is no loss '{text}'; use vi, binder, ari or map"))
            }),
        }
    }
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Criterion::Loss(loss) => loss.fmt(f),
            Criterion::Map => f.pad("map"),
        }
    }
}

/// How to answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// What makes the estimate.
    pub criterion: Criterion,
    /// What does not count.
    pub burn_in: BurnIn,
    /// Starts of the search.
    pub runs: usize,
    /// The probability of the credible ball, and of pairs in the sure part.
    pub level: f64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            criterion: Criterion::default(),
            burn_in: BurnIn::default(),
            runs: SearchOptions::default().runs,
            level: 0.95,
        }
    }
}

/// A mode of the posterior.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModeAnswer {
    /// Its share of the draws.
    pub weight: f64,
    /// The number of its blocks.
    pub blocks: usize,
    /// How far it is from the estimate, in bits.
    pub distance: f64,
    /// The mean log joint of its draws; `None` if log joints are not known.
    pub log_joint: Option<f64>,
    /// For each ensemble, the share of its draws that belong to this mode.
    pub ensembles: Vec<f64>,
    /// Labels, 0 for the largest block.
    pub labels: Vec<u32>,
}

/// A bound of the credible ball.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BoundAnswer {
    /// The distance from the estimate, in bits.
    pub distance: f64,
    /// The number of blocks.
    pub blocks: usize,
    /// Labels, 0 for the largest block.
    pub labels: Vec<u32>,
}

/// The credible ball around the estimate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BallAnswer {
    /// Its probability.
    pub level: f64,
    /// Its radius, in bits.
    pub radius: f64,
    /// The draw in it that is farthest away.
    pub horizontal: BoundAnswer,
    /// The draw in it with the fewest blocks.
    pub upper: BoundAnswer,
    /// The draw in it with the most blocks.
    pub lower: BoundAnswer,
}

/// What a run answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// What made the estimate: vi, binder, ari or map.
    pub loss: String,
    /// The expected loss of the estimate (for map: the expected variation of information).
    pub expected_loss: f64,
    /// The draws that were looked at.
    pub draws: usize,
    /// How many of them are different.
    pub distinct_draws: usize,
    /// The estimate: labels, 0 for the largest block.
    pub labels: Vec<u32>,
    /// The mean probability of each item to share a block with its fellows.
    pub certainty: Vec<f64>,
    /// The labels of those items on whose places one can rely together; `null` for the others. Not
    /// computed for more than 5000 items, all of whose pairs would have to be looked at.
    pub sure: Option<Vec<Option<u32>>>,
    /// The posterior of the number of blocks, from all iterations.
    pub blocks_posterior: BTreeMap<u32, f64>,
    /// The credible ball.
    pub ball: BallAnswer,
    /// The modes, the heaviest first.
    pub modes: Vec<ModeAnswer>,
    /// The partition of the highest log joint, if log joints are known.
    pub map: Option<Map>,
}

/// The partition of the highest log joint.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Map {
    /// ln q.
    pub log_joint: f64,
    /// Labels, 0 for the largest block.
    pub labels: Vec<u32>,
}

/// Labels to look at in all draws together, so that the search takes seconds, not hours …
const LABELS: usize = 1_000_000;
/// … but not fewer draws than this …
const LEAST_DRAWS: usize = 100;
/// … and not more.
const MOST_DRAWS: usize = 1000;

/// The draws that stand for the posterior: evenly spread over all chains after burn-in, so many that
/// a search takes seconds.
pub fn sample_of(run: &Run, burn_in: usize) -> Result<(Sample, Vec<&Row>)> {
    let rows = run.some_draws(burn_in, (LABELS / run.n.max(1)).clamp(LEAST_DRAWS, MOST_DRAWS));
    Ok((Sample::from_rows(rows.iter().copied())?, rows))
}

impl Answer {
    /// The answer of a run that has draws.
    pub fn new(run: &Run, options: &Options) -> Result<Self> {
        let burn_in = options.burn_in.of(run.iterations);
        let (sample, _) = sample_of(run, burn_in)?;
        let map = run
            .best()
            .map(|(log_joint, labels)| Map { log_joint: *log_joint, labels: by_size(labels) });
        let search = SearchOptions { runs: options.runs, ..SearchOptions::default() };
        let (labels, expected_loss) = match options.criterion {
            Criterion::Loss(loss) => {
                let estimate = minimise(&sample, loss, &search);
                (by_size(&estimate.labels), estimate.expected_loss)
            }
            Criterion::Map => {
                let map = map.as_ref().ok_or_else(|| {
                    Error::new(
                        "log joints are not known, so that there is no map estimate; use --loss vi",
                    )
                })?;
                (map.labels.clone(), expected_loss(&sample, &map.labels, Loss::Vi))
            }
        };
        Ok(Answer {
            loss: options.criterion.to_string(),
            expected_loss,
            draws: sample.draws(),
            distinct_draws: sample.distinct(),
            certainty: certainty(&sample, &labels),
            sure: sure(&sample, &labels, options.level)?,
            blocks_posterior: run.blocks_posterior(burn_in),
            ball: describe(estimate::ball(&sample, &labels, options.level)?),
            modes: modes(run, burn_in, &sample, &labels),
            map,
            labels,
        })
    }

    /// The number of blocks of the estimate.
    pub fn blocks(&self) -> usize {
        self.labels.iter().max().map_or(0, |&m| m as usize + 1)
    }

    /// The members of each block of the estimate, by label.
    pub fn members(&self) -> Vec<Vec<usize>> {
        let mut members = vec![Vec::new(); self.blocks()];
        for (item, &label) in self.labels.iter().enumerate() {
            members[label as usize].push(item);
        }
        members
    }
}

/// Of more items, pairs are too many to look at each.
const MOST_PAIRED: usize = 5000;

fn sure(sample: &Sample, labels: &[u32], level: f64) -> Result<Option<Vec<Option<u32>>>> {
    if labels.len() > MOST_PAIRED {
        return Ok(None);
    }
    let sure = sure_subpartition(sample, labels, level)?;
    Ok(Some(sure.iter().zip(labels).map(|(sure, &label)| sure.map(|_| label)).collect()))
}

/// The mean probability of each item to share a block with the other members of its block, or of being
/// alone if it is alone: [`estimate::certainty`] in O(draws · n), from how many items of a draw's block
/// are in the same block of the estimate.
fn certainty(sample: &Sample, labels: &[u32]) -> Vec<f64> {
    let mut sizes = vec![0u32; labels.iter().max().map_or(0, |&m| m as usize + 1)];
    labels.iter().for_each(|&label| sizes[label as usize] += 1);
    let mut sums = vec![0.0; labels.len()];
    let mut draw = Vec::new();
    let mut shared: HashMap<(u32, u32), u32> = HashMap::new();
    for d in 0..sample.distinct() {
        sample.unpack(d, &mut draw);
        let mut drawn = vec![0u32; sample.blocks(d)];
        shared.clear();
        for (&block, &label) in draw.iter().zip(labels) {
            drawn[block as usize] += 1;
            *shared.entry((block, label)).or_default() += 1;
        }
        let weight = f64::from(sample.weight(d)) / sample.draws() as f64;
        for ((sum, &block), &label) in sums.iter_mut().zip(&draw).zip(labels) {
            *sum += weight
                * match sizes[label as usize] {
                    1 => f64::from(u8::from(drawn[block as usize] == 1)),
                    size => f64::from(shared[&(block, label)] - 1) / f64::from(size - 1),
                };
        }
    }
    sums
}

fn describe(ball: Ball) -> BallAnswer {
    let bound = |b: estimate::Bound| BoundAnswer {
        distance: b.distance,
        blocks: b.blocks,
        labels: by_size(&b.labels),
    };
    BallAnswer {
        level: ball.level,
        radius: ball.radius,
        horizontal: bound(ball.horizontal),
        upper: bound(ball.upper),
        lower: bound(ball.lower),
    }
}

/// The modes with what the run knows about their draws.
fn modes(run: &Run, burn_in: usize, sample: &Sample, estimate: &[u32]) -> Vec<ModeAnswer> {
    let places = places(run, burn_in, sample.draws());
    (estimate::modes(sample, &ModeOptions::default()).into_iter())
        .map(|mode| {
            let belongs =
                |draw: usize| mode.members.binary_search(&sample.distinct_of_draws()[draw]).is_ok();
            let mut shares = vec![(0.0, 0.0); run.ensembles.len()];
            let mut log_joints = Vec::new();
            for (draw, &(ensemble, log_joint)) in places.iter().enumerate() {
                shares[ensemble].1 += 1.0;
                if belongs(draw) {
                    shares[ensemble].0 += 1.0;
                    log_joints.extend(log_joint);
                }
            }
            ModeAnswer {
                weight: mode.weight,
                blocks: mode.labels.iter().max().map_or(0, |&m| m as usize + 1),
                distance: compare::variation_of_information(&mode.labels, estimate),
                log_joint: (!log_joints.is_empty())
                    .then(|| log_joints.iter().sum::<f64>() / log_joints.len() as f64),
                ensembles: shares.iter().map(|(own, all)| own / f64::max(*all, 1.0)).collect(),
                labels: by_size(&mode.labels),
            }
        })
        .collect()
}

/// The ensemble and the log joint of each draw that [`Run::some_draws`] chooses.
fn places(run: &Run, burn_in: usize, count: usize) -> Vec<(usize, Option<f64>)> {
    let kept: Vec<usize> = run.drawn.iter().copied().filter(|&i| i >= burn_in).collect();
    // If the best partition stands for a chain, so does its log joint.
    let bests = run.drawn.len() == 1 && run.iterations > 1;
    let log_joint = |trace: &Trace, iteration: usize| match (&trace.best, bests) {
        (Some((best, _)), true) => Some(*best),
        _ => trace.log_joint.get(iteration).copied(),
    };
    let mut all = Vec::new();
    for (ensemble, chains) in run.ensembles.iter().enumerate() {
        for trace in chains {
            all.extend(
                kept.iter().take(trace.draws.len()).map(|&i| (ensemble, log_joint(trace, i))),
            );
        }
    }
    (0..count).map(|k| all[k * all.len() / count]).collect()
}

/// How near an estimate comes to known labels.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Truth {
    /// The adjusted Rand index.
    pub ari: f64,
    /// The normalised mutual information.
    pub nmi: f64,
    /// The variation of information, in bits.
    pub vi: f64,
    /// How many items of each block (rows) have each known label (columns).
    pub confusion: Vec<Vec<u32>>,
}

impl Truth {
    /// Compares labels.
    pub fn new(estimate: &[u32], known: &[u32]) -> Self {
        // By the labels themselves, which number the blocks, not by first appearance.
        let count = |labels: &[u32]| labels.iter().max().map_or(0, |&m| m as usize + 1);
        let mut confusion = vec![vec![0; count(known)]; count(estimate)];
        for (&block, &label) in estimate.iter().zip(known) {
            confusion[block as usize][label as usize] += 1;
        }
        Truth {
            ari: compare::adjusted_rand(estimate, known),
            nmi: compare::normalised_mutual_information(estimate, known),
            vi: compare::variation_of_information(estimate, known),
            confusion,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two ensembles that sit in two modes; the second is 7 nats below the first.
    fn two_modes() -> Run {
        let halves = vec![1, 1, 1, 0, 0, 0, 0];
        let mixed = vec![0, 1, 0, 1, 0, 1, 2];
        let chains = |labels: &Vec<u32>| vec![vec![labels.clone(); 10]; 2];
        let mut run = Run::from_labels(vec![chains(&halves), chains(&mixed)]).unwrap();
        for (e, traces) in run.ensembles.iter_mut().enumerate() {
            for trace in traces {
                trace.log_joint = vec![-20.0 - 7.0 * e as f64; 10];
                trace.best = Some((-20.0 - 7.0 * e as f64, trace.draws[0].labels()));
            }
        }
        run
    }

    #[test]
    fn modes_know_their_ensembles_and_log_joints() {
        let answer = Answer::new(&two_modes(), &Options::default()).unwrap();
        assert_eq!((answer.draws, answer.distinct_draws), (20, 2));
        assert_eq!(answer.modes.len(), 2);
        for mode in &answer.modes {
            assert_eq!(mode.weight, 0.5);
            let first = mode.blocks == 2;
            assert_eq!(mode.ensembles, if first { [1.0, 0.0] } else { [0.0, 1.0] });
            assert_eq!(mode.log_joint, Some(if first { -20.0 } else { -27.0 }));
        }
        assert_eq!(answer.blocks_posterior, BTreeMap::from([(2, 0.5), (3, 0.5)]));
    }

    #[test]
    fn blocks_are_numbered_from_the_largest_on() {
        let options = Options { criterion: Criterion::Map, ..Options::default() };
        let answer = Answer::new(&two_modes(), &options).unwrap();
        assert_eq!(answer.labels, [1, 1, 1, 0, 0, 0, 0]);
        assert_eq!(answer.members(), [vec![3, 4, 5, 6], vec![0, 1, 2]]);
        for (sure, label) in answer.sure.as_ref().unwrap().iter().zip(&answer.labels) {
            assert!(sure.is_none_or(|sure| sure == *label));
        }
        assert_eq!(answer.map.unwrap().labels, answer.labels);
        let truth = Truth::new(&answer.labels, &[0, 0, 0, 1, 1, 1, 1]);
        assert_eq!((truth.ari, truth.nmi, truth.vi), (1.0, 1.0, 0.0));
        assert_eq!(truth.confusion, [[0, 4], [3, 0]]);
    }

    #[test]
    fn the_fast_certainty_is_the_slow_one() {
        let draws: Vec<Vec<u32>> = (0..40u32)
            .map(|d| (0..9u32).map(|i| (i * (d % 7 + 1) + d) % (2 + d % 4)).collect())
            .collect();
        let sample = Sample::new(&draws).unwrap();
        for labels in [[0, 0, 0, 1, 1, 1, 2, 2, 3], [0; 9], [0, 1, 2, 3, 4, 5, 6, 7, 8]] {
            let slow = estimate::certainty(&sample, &labels);
            for (fast, slow) in certainty(&sample, &labels).iter().zip(slow) {
                assert!((fast - slow.own).abs() < 1e-12, "{fast} ≠ {}", slow.own);
            }
        }
    }

    #[test]
    fn without_log_joints_there_is_no_map() {
        let run = Run::from_labels(vec![vec![vec![vec![0, 0, 1]; 4]]]).unwrap();
        let options = Options { criterion: Criterion::Map, ..Options::default() };
        assert!(Answer::new(&run, &options).unwrap_err().to_string().contains("--loss vi"));
        let answer = Answer::new(&run, &Options::default()).unwrap();
        assert_eq!((answer.labels, answer.modes.len(), answer.map), (vec![0, 0, 1], 1, None));
        assert_eq!("ari".parse::<Criterion>().unwrap().to_string(), "ari");
        assert!("x".parse::<Criterion>().is_err());
    }
}
