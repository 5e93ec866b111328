//! How far the truth may be from an estimate: credible balls (Wade and Ghahramani 2018).

use super::loss::{Loss, distances};
use super::sample::Sample;
use crate::error::{Error, Result};

/// Distances (in bits) that differ by less are equal: the rest is rounding.
const TIE: f64 = 1e-12;

/// A draw at the edge of a ball.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// The variation of information between it and the centre.
    pub distance: f64,
    /// Its number of blocks.
    pub blocks: usize,
    /// Its canonical labels.
    pub labels: Vec<u32>,
}

/// The smallest ball around an estimate that holds a share of the posterior, by variation of
/// information. Where several draws fit a bound, it is the one drawn first.
#[derive(Debug, Clone, PartialEq)]
pub struct Ball {
    /// The share that was asked for.
    pub level: f64,
    /// The radius ε*, in bits.
    pub radius: f64,
    /// The share of the draws that are in the ball: at least the level.
    pub probability: f64,
    /// The horizontal bound: the draw in the ball that is farthest from the centre.
    pub horizontal: Bound,
    /// The vertical upper bound: of the draws in the ball with the fewest blocks the farthest.
    pub upper: Bound,
    /// The vertical lower bound: of the draws in the ball with the most blocks the farthest.
    pub lower: Bound,
}

/// The credible ball around an estimate. The level is a probability above 0, usually 0.95.
/// O(distinct draws · n), in parallel.
///
/// # Panics
/// When there is not one label for each item.
///
/// ```
/// use armix::estimate::{Sample, ball};
/// let mut draws = vec![[0, 0, 1, 1]; 19];
/// draws.push([0, 1, 2, 3]);
/// let sample = Sample::new(&draws)?;
/// assert_eq!(ball(&sample, &[0, 0, 1, 1], 0.95)?.radius, 0.0);
/// let all = ball(&sample, &[0, 0, 1, 1], 1.0)?;
/// assert_eq!((all.radius, all.lower.blocks, all.upper.blocks), (1.0, 4, 2));
/// # Ok::<(), armix::error::Error>(())
/// ```
pub fn ball(sample: &Sample, estimate: &[u32], level: f64) -> Result<Ball> {
    if !(level > 0.0 && level <= 1.0) {
        return Err(Error::new(format!("the level is {level}: it must be above 0 and at most 1")));
    }
    let distance = distances(sample, estimate, Loss::Vi);
    let mut order: Vec<usize> = (0..sample.distinct()).collect();
    order.sort_by(|&a, &b| distance[a].total_cmp(&distance[b]).then(a.cmp(&b)));
    let enough = level * sample.draws() as f64 - super::ROUNDING;
    let mut held = 0;
    let edge = order.iter().find(|&&d| {
        held += sample.weight(d);
        f64::from(held) >= enough
    });
    let radius = distance[*edge.expect("all draws together are enough")];
    let inside: Vec<usize> =
        (0..sample.distinct()).filter(|&d| distance[d] <= radius + TIE).collect();
    let weight: u64 = inside.iter().map(|&d| u64::from(sample.weight(d))).sum();
    let farthest = |among: &dyn Fn(usize) -> bool| {
        let among = || inside.iter().copied().filter(|&d| among(d));
        let most = among().map(|d| distance[d]).fold(0.0, f64::max);
        let first = among().find(|&d| distance[d] >= most - TIE).expect("the ball holds draws");
        Bound {
            distance: distance[first],
            blocks: sample.blocks(first),
            labels: sample.labels(first),
        }
    };
    let blocks = || inside.iter().map(|&d| sample.blocks(d));
    let (fewest, most) = (blocks().min(), blocks().max());
    Ok(Ball {
        level,
        radius,
        probability: weight as f64 / sample.draws() as f64,
        horizontal: farthest(&|_| true),
        upper: farthest(&|d| Some(sample.blocks(d)) == fewest),
        lower: farthest(&|d| Some(sample.blocks(d)) == most),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::variation_of_information;
    use crate::rng::{Purpose, Rng};

    #[test]
    fn the_ball_is_the_smallest_that_holds_enough() {
        let mut rng = Rng::from_seed(Purpose::Test, 51);
        for _ in 0..100 {
            let draws: Vec<Vec<u32>> =
                (0..40).map(|_| (0..5).map(|_| rng.below(3) as u32).collect()).collect();
            let sample = Sample::new(&draws).unwrap();
            let centre = &draws[0];
            let ball = ball(&sample, centre, 0.8).unwrap();
            let distance = |d: &Vec<u32>| variation_of_information(centre, d);
            let inside = draws.iter().filter(|d| distance(d) <= ball.radius + 1e-9).count();
            let nearer = draws.iter().filter(|d| distance(d) < ball.radius - 1e-9).count();
            assert!(inside >= 32 && nearer < 32, "{inside} {nearer}");
            assert_eq!(ball.probability, inside as f64 / 40.0);
            assert!((ball.horizontal.distance - ball.radius).abs() < 1e-9);
            let first = draws.iter().find(|d| (distance(d) - ball.radius).abs() < 1e-9).unwrap();
            assert_eq!(ball.horizontal.labels, crate::partition::canonical(first));
            let blocks = |d: &Vec<u32>| Sample::new([d]).unwrap().blocks(0);
            let counts = draws.iter().filter(|d| distance(d) <= ball.radius + 1e-9).map(blocks);
            let counts: Vec<usize> = counts.collect();
            assert_eq!(ball.upper.blocks, *counts.iter().min().unwrap());
            assert_eq!(ball.lower.blocks, *counts.iter().max().unwrap());
            for bound in [&ball.upper, &ball.lower] {
                let farther = |d: &&Vec<u32>| {
                    blocks(d) == bound.blocks
                        && distance(d) <= ball.radius + 1e-9
                        && distance(d) > bound.distance + 1e-9
                };
                assert_eq!(draws.iter().filter(farther).count(), 0);
                assert!((distance(&bound.labels) - bound.distance).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn odd_levels_are_errors() {
        let sample = Sample::new([[0, 1]]).unwrap();
        for level in [0.0, 1.1, f64::NAN] {
            assert!(ball(&sample, &[0, 1], level).is_err());
        }
    }
}
