//! How good predictions of held-out entries are.

use super::{entries, ln_values, only};
use crate::data::{Data, Dataset, HeldOut};
use crate::history::Row;
use crate::model::Model;
use crate::run::Draws;
use crate::state::Target;
use serde::Serialize;

/// How good predictions of a table of any columns are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableScore {
    /// The number of cells that were predicted.
    pub entries: usize,
    /// The mean of ln p(what is true), in nats; of densities for reals, so that it depends on their units.
    pub log_score: f64,
    /// The same if all rows were in one block.
    pub log_score_of_one_block: f64,
}

/// Compares predictions of held-out cells with what is true.
pub fn table_score<M: Model>(
    target: &Target<M>,
    draws: &Draws<'_>,
    held_out: &[HeldOut],
) -> TableScore {
    let mean = |ln_p: Vec<f64>| ln_p.iter().sum::<f64>() / held_out.len().max(1) as f64;
    let together = Row::new(&vec![0; target.model.n()]);
    TableScore {
        entries: held_out.len(),
        log_score: mean(ln_values(target, draws, held_out)),
        log_score_of_one_block: mean(ln_values(target, &only(&together), held_out)),
    }
}

/// How good predictions of held-out entries are, for any data.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum HeldOutScore {
    /// Of zeros and ones.
    Binary(Score),
    /// Of columns of any types.
    Table(TableScore),
}

/// Compares predictions of the held-out entries with what is true.
///
/// # Panics
/// When there are no draws.
pub fn held_out_score<M: Model>(
    target: &Target<M>,
    dataset: &Dataset,
    draws: &Draws<'_>,
) -> HeldOutScore {
    let held_out = &dataset.held_out;
    let binary = match &dataset.data {
        Data::Columns(_) => false,
        Data::Relations(relations) => relations.is_binary(),
        Data::Network(_) | Data::Table(_) => true,
    };
    if !binary {
        return HeldOutScore::Table(table_score(target, draws, held_out));
    }
    let asked: Vec<(u32, u32)> = held_out.iter().map(|h| h.entry).collect();
    let truth: Vec<bool> = held_out.iter().map(|h| h.value == 1.0).collect();
    HeldOutScore::Binary(score(&entries(target, draws, &asked), &truth))
}

/// How good predictions of zeros and ones are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Score {
    /// The number of entries that were predicted.
    pub entries: usize,
    /// How many of them are ones.
    pub ones: usize,
    /// The probability that a random one was given a higher probability than a random zero (ties
    /// count half); `None` if all are alike.
    pub auc: Option<f64>,
    /// The mean of ln p(what is true), in nats: the larger the better, 0 at best.
    pub log_score: f64,
    /// The same if all entries were given the fraction of ones among them.
    pub log_score_of_base_rate: f64,
}

/// Compares predicted probabilities with what is true.
///
/// ```
/// let score = armix::predict::score(&[0.9, 0.2, 0.4], &[true, false, true]);
/// assert_eq!(score.auc, Some(1.0));
/// assert!((score.log_score - (0.9f64 * 0.8 * 0.4).ln() / 3.0).abs() < 1e-12);
/// ```
pub fn score(predicted: &[f64], truth: &[bool]) -> Score {
    let entries = truth.len();
    let ones = truth.iter().filter(|t| **t).count();
    let count = entries.max(1) as f64;
    let log = |p: f64, t: bool| libm::log(if t { p } else { 1.0 - p });
    let log_score = predicted.iter().zip(truth).map(|(&p, &t)| log(p, t)).sum::<f64>() / count;
    let rate = ones as f64 / count;
    let entropy = |p: f64| if p > 0.0 { p * libm::log(p) } else { 0.0 };
    Score {
        entries,
        ones,
        auc: auc(predicted, truth),
        log_score,
        log_score_of_base_rate: entropy(rate) + entropy(1.0 - rate),
    }
}

/// From the ranks of the ones, ties at their mean.
fn auc(predicted: &[f64], truth: &[bool]) -> Option<f64> {
    let mut order: Vec<usize> = (0..predicted.len()).collect();
    order.sort_unstable_by(|&a, &b| predicted[a].total_cmp(&predicted[b]));
    let (mut ranks, mut ones, mut before) = (0.0, 0usize, 0usize);
    for ties in order.chunk_by(|&a, &b| predicted[a] == predicted[b]) {
        let here = ties.iter().filter(|&&k| truth[k]).count();
        ranks += here as f64 * (before as f64 + (ties.len() + 1) as f64 / 2.0);
        ones += here;
        before += ties.len();
    }
    let zeros = predicted.len() - ones;
    let least = ones as f64 * (ones + 1) as f64 / 2.0;
    (ones > 0 && zeros > 0).then(|| (ranks - least) / (ones as f64 * zeros as f64))
}
