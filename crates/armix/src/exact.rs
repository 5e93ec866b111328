//! The exact posterior of small problems, by enumerating every partition.

use crate::error::{Error, Result};
use crate::model::Model;
use crate::partition::all_partitions;
use crate::state::Target;
use serde::Serialize;

/// More items than this have too many partitions (n = 10: 115 975; n = 11: 678 570).
pub const MAX_ITEMS: usize = 10;

/// What is less probable by so many nats is impossible: half of what a block costs that has vertices of two sides.
const IMPOSSIBLE: f64 = (1u64 << 39) as f64;

/// A partition with its exact posterior probability.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExactRow {
    /// Canonical labels.
    pub labels: Vec<u32>,
    /// p(z | Y).
    pub probability: f64,
    /// ln q(z) = ln p(Y, z).
    pub log_joint: f64,
}

/// p(z | Y) of every partition that is possible, in lexicographic order of the labels.
///
/// ```
/// use armix::{data::Graph, exact, models::Irm, state::Target};
/// let graph = Graph::new(4, &[(0, 1), (0, 2), (0, 3), (2, 3)])?;
/// let posterior = exact::posterior(&Target::new(Irm::new(graph, 1.0, 1.0)?, 1.0)?)?;
/// assert_eq!(posterior.len(), 15);
/// assert!((posterior[0].probability - 0.185836425229876).abs() < 1e-14);
/// # Ok::<(), armix::error::Error>(())
/// ```
pub fn posterior<M: Model>(target: &Target<M>) -> Result<Vec<ExactRow>> {
    let n = target.model.n();
    if n > MAX_ITEMS {
        return Err(Error::new(format!(
            "{n} items have too many partitions to enumerate; the exact posterior is for at most {MAX_ITEMS} items, sample larger data with armix fit"
        )));
    }
    let mut rows: Vec<ExactRow> = (all_partitions(n).into_iter())
        .map(|labels| ExactRow { log_joint: target.ln_q(&labels), probability: 0.0, labels })
        .collect();
    let largest = rows.iter().map(|r| r.log_joint).fold(f64::NEG_INFINITY, f64::max);
    // Those that the constraints allow, and whose blocks do not mix the sides of a network.
    rows.retain(|row| row.log_joint > largest - IMPOSSIBLE);
    let total: f64 = rows.iter().map(|r| libm::exp(r.log_joint - largest)).sum();
    for row in &mut rows {
        row.probability = libm::exp(row.log_joint - largest) / total;
    }
    Ok(rows)
}
