//! What it takes to continue a run as if it had never stopped, as plain data.

use crate::history::Row;
use crate::ladder::Rungs;
use crate::partition::PartitionParts;
use crate::run::{Counter, Settings, Trace};
use crate::tuning::{Mix, Tuning};
use serde::{Deserialize, Serialize};

/// A sampler between two rounds, without what is kept elsewhere: the traces, and the rows of the
/// history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The chains are in state t.
    pub t: usize,
    /// Wall-clock seconds so far.
    pub seconds: f64,
    /// The ensembles.
    pub ensembles: Vec<EnsembleCheckpoint>,
}

impl Checkpoint {
    /// How often the ensembles make which moves, if their schedules were tuned.
    pub(crate) fn mixes(&self) -> Vec<Mix> {
        let tunings = self.ensembles.iter().filter_map(|e| e.learnt.tuning.as_ref());
        tunings.filter_map(|tuning| tuning.mix.clone()).collect()
    }

    /// The ladders, and what the chains that are not recorded did, by entry of the schedule; nothing without a ladder.
    pub(crate) fn ladders_and_hot(&self, settings: &Settings) -> (Vec<Rungs>, Vec<Counter>) {
        let ladders: Vec<Rungs> = self.ensembles.iter().filter_map(|e| e.rungs.clone()).collect();
        if ladders.is_empty() {
            return (ladders, Vec::new());
        }
        let mut hot = vec![Counter::default(); settings.schedule.moves().len()];
        for chain in self.ensembles.iter().flat_map(|e| e.chains.iter().skip(settings.chains)) {
            hot.iter_mut().zip(&chain.counters).for_each(|(sum, counter)| sum.add(counter));
        }
        (ladders, hot)
    }
}

/// One ensemble.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EnsembleCheckpoint {
    /// How many iterations lie between two that the history keeps.
    pub stride: usize,
    /// The iterations that the history keeps.
    pub kept: Vec<usize>,
    /// The chains, hot ones included.
    pub chains: Vec<ChainCheckpoint>,
    /// Their ladder, if they have one. Saved beside, because there were none once.
    #[serde(skip)]
    pub rungs: Option<Rungs>,
    /// What it has found out besides. Saved beside, too.
    #[serde(skip)]
    pub learnt: Learnt,
}

/// What an ensemble has found out besides the states of its past.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Learnt {
    /// ln q of the states of the iterations that are kept; each empty if no strategy wants to know.
    pub energies: Vec<Vec<f64>>,
    /// What it knows of its schedule, if that tunes itself.
    pub tuning: Option<Tuning>,
}

impl Learnt {
    /// Whether there is nothing to save.
    pub(crate) fn is_nothing(&self) -> bool {
        self.tuning.is_none() && self.energies.iter().all(Vec::is_empty)
    }
}

/// One chain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChainCheckpoint {
    /// Its state.
    pub z: PartitionParts,
    /// Its hyper-parameters, if they are sampled. Saved beside, because there were none once.
    #[serde(skip)]
    pub hypers: Vec<f64>,
    /// The parameters of its blocks, in models that have any. Saved beside, too.
    #[serde(skip)]
    pub parameters: Vec<f64>,
    /// One counter for each entry of the schedule.
    pub counters: Vec<Counter>,
    /// All proposals together.
    pub proposals: Counter,
    /// The best log joint so far with its labels.
    pub best: Option<(f64, Vec<u32>)>,
}

/// What goes beside the rest of a chain wherever that is written or sent: its hyper-parameters and its
/// parameters.
pub(crate) type Beside = (Vec<f64>, Vec<f64>);

impl EnsembleCheckpoint {
    /// What goes beside it, chain after chain.
    pub(crate) fn beside(&self) -> Vec<Beside> {
        self.chains.iter().map(|c| (c.hypers.clone(), c.parameters.clone())).collect()
    }

    /// Puts it back; chains that nothing is left for stay as they are.
    pub(crate) fn put_beside(&mut self, beside: &mut impl Iterator<Item = Beside>) {
        for (chain, beside) in self.chains.iter_mut().zip(beside) {
            (chain.hypers, chain.parameters) = beside;
        }
    }
}

/// All that a sampler needs to go on.
pub struct Resume<'a> {
    /// The checkpoint.
    pub checkpoint: Checkpoint,
    /// The traces up to the checkpoint, by ensemble and chain; counters and best are taken from the
    /// checkpoint.
    pub traces: Vec<Vec<Trace>>,
    /// The rows of an ensemble after an iteration, in chain order.
    pub rows: &'a dyn Fn(usize, usize) -> Option<Vec<Row>>,
}
