//! How far partitions are apart, within and between ensembles, whatever their blocks are called.

use crate::compare::{adjusted_rand, binder, variation_of_information};
use crate::run::Run;
use serde::Serialize;

/// So many draws stand for an ensemble.
const DRAWS: usize = 32;

/// Mean distances between draws: row e, column f between ensembles e and f; on the diagonal
/// between different draws of the same ensemble. Where ensembles agree, all entries are alike.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Distances {
    /// Variation of information, in bits.
    pub vi: Vec<Vec<f64>>,
    /// Binder's distance: the fraction of ordered pairs of items on which the partitions differ.
    pub binder: Vec<Vec<f64>>,
    /// The adjusted Rand index, a similarity: 1 for equal partitions.
    pub ari: Vec<Vec<f64>>,
}

impl Distances {
    /// Distances after burn-in; `None` if an ensemble has fewer than two draws.
    pub fn new(run: &Run, burn_in: usize) -> Option<Self> {
        let draws: Vec<Vec<Vec<u32>>> =
            (0..run.ensembles.len()).map(|e| representatives(run, burn_in, e)).collect();
        if draws.is_empty() || draws.iter().any(|d| d.len() < 2) {
            return None;
        }
        Some(Distances {
            vi: means(&draws, variation_of_information),
            binder: means(&draws, binder),
            ari: means(&draws, adjusted_rand),
        })
    }

    /// The mean variation of information between draws of the same ensemble.
    pub fn vi_within(&self) -> f64 {
        let r = self.vi.len();
        (0..r).map(|e| self.vi[e][e]).sum::<f64>() / r as f64
    }

    /// The mean variation of information between draws of different ensembles; `None` if there is
    /// one ensemble.
    pub fn vi_between(&self) -> Option<f64> {
        let r = self.vi.len();
        let sum: f64 = (0..r).map(|e| self.vi[e].iter().sum::<f64>() - self.vi[e][e]).sum();
        (r > 1).then(|| sum / (r * (r - 1)) as f64)
    }
}

/// Draws spread evenly over the chains and iterations of an ensemble.
fn representatives(run: &Run, burn_in: usize, ensemble: usize) -> Vec<Vec<u32>> {
    let chains: Vec<_> =
        run.ensembles[ensemble].iter().map(|t| run.draws_after(t, burn_in)).collect();
    let length = chains.iter().map(|c| c.len()).min().unwrap_or(0);
    let wanted = DRAWS.min(length * chains.len());
    // From chain to chain, and in each of them at ever other iterations.
    (0..wanted).map(|k| chains[k % chains.len()][length * k / wanted].labels()).collect()
}

fn means(draws: &[Vec<Vec<u32>>], distance: fn(&[u32], &[u32]) -> f64) -> Vec<Vec<f64>> {
    let r = draws.len();
    let mut means = vec![vec![0.0; r]; r];
    for e in 0..r {
        for f in e..r {
            let (mut sum, mut count) = (0.0, 0.0);
            for (a, first) in draws[e].iter().enumerate() {
                let from = if e == f { a + 1 } else { 0 };
                for second in &draws[f][from..] {
                    sum += distance(first, second);
                    count += 1.0;
                }
            }
            means[e][f] = sum / count;
            means[f][e] = sum / count;
        }
    }
    means
}
