//! Several answers where the posterior has several: a few partitions, each with its share.
//!
//! In the manner of WASABI (Balocchi and Wade 2025): the expected variation of information between a
//! draw and the nearest of k partitions is lowered by turns, draws going to their nearest partition
//! and partitions becoming the estimates of their draws.

use super::loss::{Loss, average, distances};
use super::sample::Sample;
use super::search::{SearchOptions, minimise};
use crate::compare::variation_of_information;
use crate::rng::{Purpose, Rng};

/// When a posterior has another mode.
#[derive(Debug, Clone, PartialEq)]
pub struct ModeOptions {
    /// Never more modes than this. At least one is found.
    pub max_modes: usize,
    /// One more mode is taken if it lowers the expected distance between a draw and the nearest mode
    /// by at least this share …
    pub least_gain: f64,
    /// … if all modes then have at least this share of the draws, and if every two of them are farther
    /// apart than their draws are from them.
    pub least_weight: f64,
    /// How each mode's estimate is searched for.
    pub search: SearchOptions,
}

impl Default for ModeOptions {
    fn default() -> Self {
        ModeOptions {
            max_modes: 8,
            least_gain: 0.1,
            least_weight: 0.02,
            search: SearchOptions { runs: 4, ..SearchOptions::default() },
        }
    }
}

/// One of a few answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Mode {
    /// The share of the draws that belong to it.
    pub weight: f64,
    /// Canonical labels of the estimate by variation of information of its draws.
    pub labels: Vec<u32>,
    /// The mean variation of information between it and its draws, in bits.
    pub mean_distance: f64,
    /// The distinct draws that belong to it, in ascending order.
    pub members: Vec<u32>,
}

/// So many draws are tried as the first form of a new mode.
const NEWCOMERS: usize = 16;

/// Draws and partitions take turns so often at most.
const MOST_TURNS: usize = 20;

/// A partition with its distance to each distinct draw.
#[derive(Debug, Clone)]
struct Centre {
    labels: Vec<u32>,
    distance: Vec<f64>,
}

impl Centre {
    fn new(sample: &Sample, labels: Vec<u32>) -> Self {
        let distance = distances(sample, &labels, Loss::Vi);
        Centre { labels, distance }
    }
}

/// The modes of a posterior by weight, the heaviest first. One mode means that one estimate says it
/// all, as far as the options tell.
///
/// Modes are added one by one, as long as that pays by the rule in [`ModeOptions`]. Only distances
/// between draws and modes are computed: O(distinct draws · n) for each mode and turn, besides the
/// searches.
///
/// ```
/// use armix::estimate::{ModeOptions, Sample, modes};
/// let mut draws = vec![[0, 0, 0, 1, 1, 1]; 7];
/// draws.extend(vec![[0, 1, 0, 1, 0, 1]; 3]);
/// let found = modes(&Sample::new(&draws)?, &ModeOptions::default());
/// assert_eq!(found.len(), 2);
/// assert_eq!((found[0].weight, found[1].weight), (0.7, 0.3));
/// assert_eq!(found[1].labels, [0, 1, 0, 1, 0, 1]);
/// # Ok::<(), armix::error::Error>(())
/// ```
pub fn modes(sample: &Sample, options: &ModeOptions) -> Vec<Mode> {
    let first = minimise(sample, Loss::Vi, &options.search);
    let mut centres = vec![Centre::new(sample, first.labels)];
    while centres.len() < options.max_modes {
        let before = expected_nearest(sample, &centres);
        // Below rounding there is nothing left to explain.
        if before < super::ROUNDING {
            break;
        }
        let mut more = centres.clone();
        more.push(newcomer(sample, &centres, options.search.seed));
        settle(sample, &mut more, &options.search);
        let pays = expected_nearest(sample, &more) <= (1.0 - options.least_gain) * before;
        let found = describe(sample, more.clone());
        let light = found.iter().any(|mode| mode.weight < options.least_weight);
        if !pays || light || !apart(&found) {
            break;
        }
        centres = more;
    }
    describe(sample, centres)
}

/// Whether every two modes are farther apart than their draws are from them: otherwise they are parts
/// of one broad mode.
fn apart(modes: &[Mode]) -> bool {
    modes.iter().enumerate().all(|(at, a)| {
        modes[..at].iter().all(|b| {
            let distance = variation_of_information(&a.labels, &b.labels);
            distance > a.mean_distance + b.mean_distance
        })
    })
}

/// The nearest centre of each distinct draw, the first of several.
fn nearest(sample: &Sample, centres: &[Centre]) -> Vec<usize> {
    let distance = |d: usize, c: usize| centres[c].distance[d];
    let of_draw = |d: usize| {
        (1..centres.len())
            .fold(0, |best, c| if distance(d, c) < distance(d, best) { c } else { best })
    };
    (0..sample.distinct()).map(of_draw).collect()
}

fn nearest_distances(sample: &Sample, centres: &[Centre]) -> Vec<f64> {
    let nearest = nearest(sample, centres);
    nearest.iter().enumerate().map(|(d, &centre)| centres[centre].distance[d]).collect()
}

fn expected_nearest(sample: &Sample, centres: &[Centre]) -> f64 {
    average(sample, &nearest_distances(sample, centres))
}

/// Of some draws, likelier chosen the farther they are from all centres, the one that would lower the
/// expected distance most.
fn newcomer(sample: &Sample, centres: &[Centre], seed: u64) -> Centre {
    let mut rng = Rng::new(Purpose::Search, seed, 0, 2, centres.len() as u64);
    let near = nearest_distances(sample, centres);
    let by_weight = |(d, near): (usize, &f64)| f64::from(sample.weight(d)) * near;
    let chances: Vec<f64> = near.iter().enumerate().map(by_weight).collect();
    let total = chances.iter().sum();
    let tried = (0..NEWCOMERS).map(|_| {
        let centre = Centre::new(sample, sample.labels(rng.weighted(&chances, total)));
        let nearer: Vec<f64> = near.iter().zip(&centre.distance).map(|(a, b)| a.min(*b)).collect();
        (average(sample, &nearer), centre)
    });
    let best = tried.min_by(|a, b| a.0.total_cmp(&b.0));
    best.expect("some draws were tried").1
}

/// Lets draws and centres take turns until no draw changes its centre.
fn settle(sample: &Sample, centres: &mut [Centre], search: &SearchOptions) {
    let mut before = vec![usize::MAX; sample.distinct()];
    for _ in 0..MOST_TURNS {
        let now = nearest(sample, centres);
        for (c, centre) in centres.iter_mut().enumerate() {
            if (0..now.len()).all(|d| (now[d] == c) == (before[d] == c)) {
                continue;
            }
            if let Some(own) = sample.subset(|d| now[d] == c) {
                *centre = Centre::new(sample, minimise(&own, Loss::Vi, search).labels);
            }
        }
        if now == before {
            return;
        }
        before = now;
    }
}

fn describe(sample: &Sample, centres: Vec<Centre>) -> Vec<Mode> {
    let nearest = nearest(sample, &centres);
    let mode = |(c, centre): (usize, Centre)| {
        let members: Vec<u32> =
            (0..nearest.len()).filter(|&d| nearest[d] == c).map(|d| d as u32).collect();
        let draws = members.iter().map(|&d| f64::from(sample.weight(d as usize)));
        let sum = members.iter().zip(draws.clone()).map(|(&d, w)| w * centre.distance[d as usize]);
        let (draws, sum): (f64, f64) = (draws.sum(), sum.sum());
        Mode {
            weight: draws / sample.draws() as f64,
            labels: centre.labels,
            mean_distance: sum / draws.max(1.0),
            members,
        }
    };
    let mut modes: Vec<Mode> = centres.into_iter().enumerate().map(mode).collect();
    // A stable sort: modes of equal weight stay in the order in which they were found.
    modes.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    modes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws around a truth: each item hops to a random block with this probability.
    fn blur(truth: &[u32], hop: f64, rng: &mut Rng) -> Vec<u32> {
        let place = |&label: &u32| if rng.uniform() < hop { rng.below(5) as u32 } else { label };
        truth.iter().map(place).collect()
    }

    #[test]
    fn two_planted_modes_are_found_with_their_weights() {
        let mut rng = Rng::from_seed(Purpose::Test, 71);
        let a: Vec<u32> = (0..60).map(|i| i / 15).collect();
        let b: Vec<u32> = (0..60).map(|i| i % 5).collect();
        let draws = (0..1000).map(|d| blur(if d % 10 < 7 { &a } else { &b }, 0.05, &mut rng));
        let sample = Sample::new(draws).unwrap();
        let found = modes(&sample, &ModeOptions::default());
        assert_eq!(found.len(), 2);
        for (mode, (weight, truth)) in found.iter().zip([(0.7, &a), (0.3, &b)]) {
            assert!((mode.weight - weight).abs() < 1e-12);
            assert_eq!(variation_of_information(&mode.labels, truth), 0.0);
            let (mut sum, mut draws) = (0.0, 0.0);
            for d in mode.members.iter().map(|&d| d as usize) {
                let weight = f64::from(sample.weight(d));
                sum += weight * variation_of_information(truth, &sample.labels(d));
                draws += weight;
            }
            let mean = sum / draws;
            assert!((mode.mean_distance - mean).abs() < 1e-9);
        }
    }

    #[test]
    fn one_blurred_mode_is_one() {
        let mut rng = Rng::from_seed(Purpose::Test, 72);
        let truth: Vec<u32> = (0..60).map(|i| i / 15).collect();
        let sample = Sample::new((0..500).map(|_| blur(&truth, 0.1, &mut rng))).unwrap();
        let found = modes(&sample, &ModeOptions::default());
        assert_eq!((found.len(), found[0].weight), (1, 1.0));
        assert_eq!(found[0].members.len(), sample.distinct());
    }

    #[test]
    fn a_certain_posterior_is_one_mode() {
        let sample = Sample::new(vec![[0, 1, 0]; 5]).unwrap();
        let found = modes(&sample, &ModeOptions::default());
        assert_eq!((found.len(), found[0].mean_distance), (1, 0.0));
        assert_eq!(found[0].labels, [0, 1, 0]);
    }
}
