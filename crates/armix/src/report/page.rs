//! What a report shows, as plain data: the script of the page reads it as one JSON object.

use super::{Matrix, Packed};
pub use crate::blocks::Interval;
use crate::diagnose::{Verdict, any_number};
use serde::{Serialize, Serializer};

/// The contents of a report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Page {
    /// Where the data come from.
    pub title: String,
    /// Whether to believe the run.
    pub verdict: Verdict,
    /// The verdict in one sentence.
    pub headline: String,
    /// Why, in plain words.
    pub reasons: Vec<String>,
    /// What to do next.
    pub next: Vec<String>,
    /// What a reader should know beside, such as what was done to the data.
    pub notes: Vec<String>,
    /// How large everything is.
    pub shape: Shape,
    /// What the chains did over the iterations.
    pub trace: TracePlots,
    /// The diagnostics of each quantity.
    pub quantities: Vec<Quantity>,
    /// What the diagnostics are held against.
    pub limits: Limits,
    /// Histograms of ranks, a plot for each quantity.
    pub ranks: Vec<Ranks>,
    /// Autocorrelation functions, a plot for each quantity.
    pub autocorrelation: Vec<Autocorrelation>,
    /// What each move did.
    pub moves: Vec<Move>,
    /// The posterior probabilities of the numbers of blocks, in order.
    pub blocks_posterior: Vec<(u32, f64)>,
    /// The partition that stands for all.
    pub estimate: Estimate,
    /// The names of the items.
    pub names: Vec<String>,
    /// How probably two items are in one block.
    pub similarity: Option<Matrix>,
    /// Which items are linked.
    pub adjacency: Option<Matrix>,
    /// The links of a network that is small enough to be drawn (up to 500 vertices).
    pub network: Option<Network>,
    /// The blocks of the estimate.
    pub block_table: Vec<Block>,
    /// The mean density between the blocks of `block_table`, in its order (up to 40 blocks).
    pub density_between: Option<Vec<Vec<f64>>>,
    /// The modes of the posterior, the heaviest first.
    pub modes: Vec<Mode>,
    /// How far the ensembles are from each other.
    pub distances: Option<Distances>,
    /// How near the estimate comes to labels that are known.
    pub truth: Option<Truth>,
    /// Settings, fingerprint of the data, version and so on: a name and a value.
    pub provenance: Vec<(String, String)>,
    /// The command that gives the same run again.
    pub command: String,
    /// What to cite, as a sentence.
    pub citation: String,
    /// What to cite, for BibTeX.
    pub bibtex: String,
}

/// How large the data and the run are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shape {
    /// The number of items.
    pub n: usize,
    /// What an item is called: "vertex" or "row".
    pub item_word: String,
    /// The number of ensembles.
    pub ensembles: usize,
    /// The number of chains of each ensemble.
    pub chains: usize,
    /// Recorded iterations.
    pub iterations: usize,
    /// How many of them were discarded.
    pub burn_in: usize,
    /// The seed; text, because JavaScript cannot hold all 64 bits.
    #[serde(serialize_with = "as_text")]
    pub seed: u64,
    /// The model's name.
    pub model: String,
}

/// Traces of all chains over the same iterations, thinned to about 1000 points.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TracePlots {
    /// The iterations of the points (u32), increasing and counted from 1: those up to
    /// [`Shape::burn_in`] are shown as discarded.
    pub iterations: Packed,
    /// To be added to `log_joint`, which has 32 bits only.
    pub log_joint_offset: f64,
    /// The chains, ensemble by ensemble.
    pub chains: Vec<ChainTrace>,
}

/// The traces of one chain.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChainTrace {
    /// Which ensemble, from 0.
    pub ensemble: usize,
    /// Which chain of it, from 0.
    pub chain: usize,
    /// The log joint minus the offset (f32).
    pub log_joint: Option<Packed>,
    /// The number of blocks (f32).
    pub blocks: Packed,
    /// The shares of items in the largest block, the two largest, and so on (f32), at most 5.
    pub fractions: Vec<Packed>,
}

/// The diagnostics of one quantity; infinite numbers are allowed.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Quantity {
    /// A short name, which `Ranks` and `Autocorrelation` refer to.
    pub name: String,
    /// The name for people.
    pub label: String,
    /// R̂ between ensembles.
    #[serde(serialize_with = "any_number")]
    pub rhat: Option<f64>,
    /// R̂ of ranks, folded and split.
    #[serde(serialize_with = "any_number")]
    pub rhat_rank: Option<f64>,
    /// Effective sample size in the bulk.
    #[serde(serialize_with = "any_number")]
    pub ess_bulk: Option<f64>,
    /// Effective sample size in the tails.
    #[serde(serialize_with = "any_number")]
    pub ess_tail: Option<f64>,
    /// Autocorrelation time.
    #[serde(serialize_with = "any_number")]
    pub act: Option<f64>,
    /// Monte Carlo standard error of the mean.
    #[serde(serialize_with = "any_number")]
    pub mcse: Option<f64>,
    /// Posterior mean.
    #[serde(serialize_with = "any_number")]
    pub mean: Option<f64>,
    /// Posterior standard deviation.
    #[serde(serialize_with = "any_number")]
    pub sd: Option<f64>,
}

/// What the diagnostics are held against; `None` where there is no limit.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Limits {
    /// R̂ should be at most this.
    pub rhat: Option<f64>,
    /// R̂ of ranks should be at most this.
    pub rhat_rank: Option<f64>,
    /// The effective sample sizes should be at least this.
    pub ess: Option<f64>,
}

/// How the draws of each ensemble rank among those of all: flat if the ensembles agree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ranks {
    /// The name of the quantity.
    pub quantity: String,
    /// For each ensemble the number of draws in each bin; bins have equal width and cover all ranks.
    pub ensembles: Vec<Vec<f64>>,
    /// The number of draws expected in each bin if all ensembles agree.
    pub expected: f64,
}

/// How long chains remember a quantity.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Autocorrelation {
    /// The name of the quantity.
    pub quantity: String,
    /// The lags, increasing.
    pub lags: Vec<u32>,
    /// The autocorrelations at these lags, in the order of the chains of `TracePlots`.
    pub chains: Vec<Vec<f32>>,
}

/// What one move did in all chains together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Move {
    /// The name of the move.
    pub name: String,
    /// Proposals, or scans.
    pub proposed: u64,
    /// How many were accepted.
    pub accepted: u64,
    /// The share of proposals that were accepted; `None` if nothing was proposed.
    pub accept_rate: Option<f64>,
    /// How often there was nothing to propose.
    pub idle: u64,
    /// Seconds.
    pub seconds: f64,
    /// Candidates weighed.
    pub work: u64,
}

/// The partition that stands for the posterior.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Estimate {
    /// The loss whose posterior expectation it makes small, such as "vi".
    pub loss: String,
    /// That expectation.
    pub expected_loss: f64,
    /// The number of each item's block, as it is shown and as in [`Block::number`].
    pub block_of_item: Vec<u32>,
    /// The items ordered by block (u32).
    pub order: Packed,
    /// For each block in this order, the position after its last item.
    pub borders: Vec<u32>,
    /// How sure it is that each item belongs to its block, from 0 to 1 (f32), by item.
    pub certainty: Packed,
}

/// The links of a network.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Network {
    /// Pairs of items (u32), one after the other.
    pub edges: Packed,
}

/// A block of the estimate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Block {
    /// Its number, as it is shown.
    pub number: u32,
    /// How many items it has.
    pub size: usize,
    /// Its first items, at most 200.
    pub members: Vec<u32>,
    /// How many more there are.
    pub more: usize,
    /// The mean certainty of its items.
    pub certainty: f64,
    /// The density of links within it.
    pub density: Option<Interval>,
    /// What distinguishes it, the most telling first.
    pub features: Vec<Feature>,
}

/// How often a column is 1 in a block, or has a level; or its mean there.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Feature {
    /// The name of the column, and of the level.
    pub column: String,
    /// Its probability in the block, or its mean.
    pub probability: f64,
    /// The same in all rows.
    pub overall: f64,
}

/// A mode of the posterior: draws that are near each other.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mode {
    /// The share of draws.
    pub weight: f64,
    /// The number of blocks of the partition in its middle.
    pub blocks: usize,
    /// The distance of that partition from the estimate.
    pub distance: f64,
    /// The log joint of that partition.
    pub log_joint: Option<f64>,
    /// The share of draws of each ensemble that are in this mode.
    pub ensembles: Vec<f64>,
}

/// Mean distances (variation of information) between draws.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Distances {
    /// Within the ensembles on the diagonal, between them elsewhere.
    pub ensembles: Vec<Vec<f64>>,
}

/// How near the estimate comes to known labels.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Truth {
    /// What the labels are called.
    pub name: String,
    /// Adjusted Rand index.
    pub ari: f64,
    /// Normalised mutual information.
    pub nmi: f64,
    /// Variation of information.
    pub vi: f64,
}

fn as_text<S: Serializer>(value: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn infinite_numbers_survive() {
        let quantity = Quantity {
            rhat: Some(f64::INFINITY),
            rhat_rank: Some(f64::NEG_INFINITY),
            ess_bulk: Some(f64::NAN),
            ess_tail: Some(12.5),
            ..Quantity::default()
        };
        let value = serde_json::to_value(&quantity).unwrap();
        assert_eq!(value["rhat"], json!("Infinity"));
        assert_eq!(value["rhat_rank"], json!("-Infinity"));
        assert_eq!(value["ess_bulk"], json!("NaN"));
        assert_eq!(value["ess_tail"], json!(12.5));
        assert_eq!(value["act"], json!(null));
    }
}
