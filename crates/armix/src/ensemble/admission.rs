//! What is refused before anything is allocated: settings that do not go with the target, and chains that would not fit into memory.

use crate::error::{Error, Result};
use crate::model::Model;
use crate::run::{Settings, Start};
use crate::state::Target;

/// Chains that would need more memory than this at their start are refused.
const MEMORY: u64 = 16 << 30;

/// Gibbs scans soon empty most blocks of fewer items than this.
const SMALL: usize = 16;

/// About how many bytes a chain takes that has so many blocks: for three states, which are its own, a
/// proposal and the way back.
pub fn chain_bytes<M: Model>(model: &M, blocks: usize) -> u64 {
    item_bytes(model.n()) + 3 * state_bytes(model, blocks)
}

/// Partitions, orders and labels: some arrays with an entry for each item.
fn item_bytes(n: usize) -> u64 {
    64 * n as u64
}

/// Statistics grow by an eighth, so that squares of them are 1 to 1.27 times as large as they have to be.
fn state_bytes<M: Model>(model: &M, blocks: usize) -> u64 {
    model.stats_bytes(blocks).saturating_mul(5) / 4
}

/// Refuses settings that do not go with the target, or whose chains would not fit into memory, as many as there are in
/// a process, before anything is allocated.
pub fn check<M: Model>(target: &Target<M>, settings: &Settings, chains: usize) -> Result<()> {
    let n = target.model.n();
    settings.check(n)?;
    if !settings.ladder.is_none() && !target.can_be_heated() {
        return Err(Error::new(format!(
            "the model {} draws what it does not integrate out, such as missing cells, and cannot be heated: leave out --ladder",
            target.model.name()
        )));
    }
    let all_count = target.constraints.is_none() && target.model.sides().is_none();
    if settings.ladder.first().last() == Some(&0.0) && !all_count {
        return Err(Error::new(
            "a ladder down to 0 counts all partitions, but not all of these are possible here: end it above 0, as in --ladder 16:0.05",
        ));
    }
    if let Start::Labels(labels) = &settings.start
        && !target.constraints.allow(labels)
    {
        return Err(Error::new(
            "the labels of the start are against the constraints: items that must be together are apart, known groups are in one block, or there are too many blocks; correct them, or start otherwise",
        ));
    }
    let blocks = match &settings.start {
        Start::One => 1,
        Start::Prior => target.prior.rules().expected_blocks(),
        Start::Singletons => n,
        // Some of the K blocks stay empty: those that no item falls into.
        Start::Uniform(k) => {
            let k = f64::from(*k);
            (k * (1.0 - libm::pow(1.0 - 1.0 / k, n as f64))).ceil() as usize
        }
        Start::Labels(labels) => {
            let mut distinct = labels.clone();
            distinct.sort_unstable();
            distinct.dedup();
            distinct.len()
        }
    };
    // Warm-up, which proposes nothing, leaves few small blocks of those that were made up.
    let made_up = !matches!(settings.start, Start::Labels(_)) && settings.warmup > 0;
    let lasting = if made_up { blocks.min(n / SMALL + 1) } else { blocks };
    let at_start = item_bytes(n) + state_bytes(&*target.model, blocks);
    let bytes = (chains as u64).saturating_mul(at_start.max(chain_bytes(&*target.model, lasting)));
    if bytes > MEMORY {
        let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
        return Err(Error::new(format!(
            "{chains} chains of {n} items that start from {blocks} blocks would take {:.1} GiB (the limit is {:.0} GiB); \
             start from fewer blocks, for example --start uniform:100, or run fewer chains",
            gib(bytes),
            gib(MEMORY),
        )));
    }
    Ok(())
}
