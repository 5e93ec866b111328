//! A run: settings, labels and numbers, with no model inside. What samples writes it; what
//! diagnoses, summarises and draws reads it.

use crate::error::{Error, Result};
use crate::history::Row;
use crate::ladder::{Ladder, Rungs};
use crate::moves::{Options, Schedule};
use crate::partition::{Partition, canonical};
use crate::tuning::Mix;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// More chains than this are taken for a mistake.
const MAX_CHAINS: usize = 1 << 16;
/// More iterations than this are taken for a mistake.
pub const MAX_ITERATIONS: usize = 1 << 40;

/// Where the chains begin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// A draw from the prior, another one in each chain. ARM explores where chains disagree, so
    /// this is the default. (Called crp when there was no other prior.)
    #[serde(alias = "crp")]
    Prior,
    /// All items in one block.
    One,
    /// Every item alone.
    Singletons,
    /// Each item in one of K blocks, at random.
    Uniform(u32),
    /// Given labels.
    Labels(Vec<u32>),
}

impl FromStr for Start {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match (text, text.strip_prefix("uniform:")) {
            ("prior" | "crp", _) => Ok(Start::Prior),
            ("one", _) => Ok(Start::One),
            ("singletons", _) => Ok(Start::Singletons),
            (_, Some(k)) => match k.parse() {
                Ok(k) if k > 0 => Ok(Start::Uniform(k)),
                _ => Err(Error::new(format!(
                    "start '{text}': after uniform: comes the number of blocks, as in uniform:10"
                ))),
            },
            _ => Err(Error::new(format!(
                "there is no start '{text}'; use prior, one, singletons, uniform:K or a file of labels"
            ))),
        }
    }
}

impl fmt::Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Start::Prior => f.write_str("prior"),
            Start::One => f.write_str("one"),
            Start::Singletons => f.write_str("singletons"),
            Start::Uniform(k) => write!(f, "uniform:{k}"),
            Start::Labels(_) => f.write_str("labels"),
        }
    }
}

/// All that a run depends on besides data and model. The result is a function of these, except
/// that `threads` does not change it. The default is what the paper did; [`Wishes`] has what is recommended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// R: independent ensembles. Convergence is judged between them.
    pub ensembles: usize,
    /// S: chains of an ensemble. They learn from each other's past.
    pub chains: usize,
    /// Hot copies of every chain, which are not recorded.
    #[serde(default, skip_serializing_if = "Ladder::is_none")]
    pub ladder: Ladder,
    /// Iterations that are recorded.
    pub iterations: usize,
    /// Iterations before them, which fill the history: Gibbs scans, or all moves if there is a ladder or a schedule to tune.
    pub warmup: usize,
    /// The moves of an iteration.
    pub schedule: Schedule,
    /// Settings of the moves.
    pub moves: Options,
    /// Where the chains begin.
    pub start: Start,
    /// The seed.
    pub seed: u64,
    /// Sample the hyper-parameters of prior and model after the moves of every lap.
    #[serde(default)]
    pub sample_hyper: bool,
    /// After so many recorded iterations the history stays as it is. From then on every step
    /// leaves the posterior exactly invariant. `None`: it grows for ever, and adapts ever less.
    pub freeze_after: Option<usize>,
    /// Bytes for the history of all ensembles together.
    pub history_bytes: u64,
    /// The history receives the states of so many rounds at once; processes that share an ensemble need
    /// not talk to each other in between.
    #[serde(default = "every_round")]
    pub exchange_every: usize,
    /// Threads; 0 for one per core.
    pub threads: usize,
    /// Keep the labels of every so-manieth iteration in [`Trace::draws`].
    pub keep_draws: Option<usize>,
}

/// What was said about how to sample. What was not said depends on the data: see [`crate::pilot`].
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// Chains of an ensemble.
    pub chains: Option<usize>,
    /// Their ladder.
    pub ladder: Option<Ladder>,
    /// The moves of an iteration.
    pub schedule: Option<Schedule>,
}

impl Wishes {
    /// The ladder to begin with if nothing is said. docs/MIXING.md has what it is worth.
    pub const LADDER: &str = "16";

    /// Cold chains of an ensemble without a ladder.
    pub const COLD: usize = 8;

    /// The settings that follow: a ladder for one chain, if the model can be heated; or else, if a number of
    /// chains was asked for, cold chains alone as in the paper.
    pub fn settings(self, can_be_heated: bool, rest: Settings) -> Settings {
        let climbs = can_be_heated && self.chains.is_none();
        let usual = || match climbs {
            true => Wishes::LADDER.parse().unwrap_or_default(),
            false => Ladder::NONE,
        };
        let ladder = self.ladder.unwrap_or_else(usual);
        let chains = if ladder.is_none() { Wishes::COLD } else { 1 };
        let schedule = self.schedule.unwrap_or_else(|| Schedule::usual(!ladder.is_none()));
        let chains = self.chains.unwrap_or(chains);
        Settings { chains, ladder, schedule, ..rest }
    }
}

/// What runs of before this could be chosen did.
fn every_round() -> usize {
    1
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            ensembles: 4,
            chains: 8,
            ladder: Ladder::NONE,
            iterations: 1000,
            warmup: 50,
            schedule: Schedule::default(),
            moves: Options::default(),
            start: Start::Prior,
            seed: 1,
            sample_hyper: false,
            freeze_after: None,
            history_bytes: 1 << 30,
            exchange_every: every_round(),
            threads: 0,
            keep_draws: None,
        }
    }
}

impl Settings {
    /// Checks the settings for n items.
    pub fn check(&self, n: usize) -> Result<()> {
        let at_least_one = |name: &str, value: usize| match value {
            0 => Err(Error::new(format!("{name} must be at least 1"))),
            _ => Ok(()),
        };
        at_least_one("the number of ensembles", self.ensembles)?;
        at_least_one("the number of chains", self.chains)?;
        at_least_one("the number of iterations", self.iterations)?;
        at_least_one("the number of rounds between two exchanges", self.exchange_every)?;
        at_least_one("the thinning of draws", self.keep_draws.unwrap_or(1))?;
        let chains = self.chains.checked_mul(self.ladder.rungs());
        let chains =
            chains.and_then(|c| c.checked_mul(self.ensembles)).filter(|&c| c <= MAX_CHAINS);
        if chains.is_none() {
            let hot = if self.ladder.is_none() {
                String::new()
            } else {
                format!(" with {} rungs each", self.ladder.rungs())
            };
            return Err(Error::new(format!(
                "{} ensembles of {} chains{hot} are too many: at most {MAX_CHAINS} chains can be run",
                self.ensembles, self.chains
            )));
        }
        for (name, value) in [("iterations", self.iterations), ("warm-up iterations", self.warmup)]
        {
            if value > MAX_ITERATIONS {
                return Err(Error::new(format!(
                    "{value} {name} are too many: at most {MAX_ITERATIONS} can be run"
                )));
            }
        }
        if self.freeze_after == Some(0) && self.warmup == 0 {
            return Err(Error::new(
                "a history that is frozen before it begins is empty; use --warmup, or freeze later",
            ));
        }
        match &self.start {
            Start::Labels(labels) if labels.len() != n => Err(Error::new(format!(
                "the start gives {} labels for {n} items: there must be one for each, in input order",
                labels.len()
            ))),
            Start::Uniform(0) => {
                Err(Error::new("a start needs at least one block: uniform:1 or more"))
            }
            _ => Ok(()),
        }
    }

    /// All chains of an ensemble, hot ones included: first the cold ones, then those of the next rung, and so on.
    pub fn members(&self) -> usize {
        self.chains * self.ladder.rungs()
    }

    /// After so many iterations, warm-up included, the history no longer grows.
    pub fn frozen_from(&self) -> Option<usize> {
        self.freeze_after.map(|f| f.saturating_add(self.warmup))
    }

    /// Whether the history receives states when the chains are in state t. Before it is frozen it
    /// receives all that there are, so that it stays as it is from then on.
    pub fn exchanges_at(&self, t: usize) -> bool {
        t.is_multiple_of(self.exchange_every) || self.frozen_from() == Some(t)
    }

    /// The last state up to t after which the history received states.
    pub fn last_exchange(&self, t: usize) -> usize {
        let regular = t / self.exchange_every * self.exchange_every;
        regular.max(self.frozen_from().filter(|&f| f <= t).unwrap_or(0))
    }
}

/// How often a move was made, and what came of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Counter {
    /// Proposals; scans of a move that needs no acceptance.
    pub proposed: u64,
    /// How many were accepted.
    pub accepted: u64,
    /// How often there was nothing to propose, because the past agrees.
    pub idle: u64,
    /// Seconds, summed over chains.
    pub seconds: f64,
    /// Candidates weighed.
    pub work: u64,
}

impl Counter {
    /// The share of proposals that were accepted; `None` if nothing was proposed.
    pub fn accept_rate(&self) -> Option<f64> {
        (self.proposed > 0).then(|| self.accepted as f64 / self.proposed as f64)
    }

    /// Adds what another counter has counted.
    pub fn add(&mut self, other: &Counter) {
        self.proposed += other.proposed;
        self.accepted += other.accepted;
        self.idle += other.idle;
        self.seconds += other.seconds;
        self.work += other.work;
    }
}

/// So many of the largest blocks are traced.
pub const TOP: usize = 5;

/// One chain, iteration by iteration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    /// ln q(z), and ln of the prior of the hyper-parameters if they are sampled.
    pub log_joint: Vec<f64>,
    /// The number of blocks.
    pub blocks: Vec<u32>,
    /// The sizes of the largest blocks.
    pub largest: Vec<[u32; TOP]>,
    /// The values of each hyper-parameter in [`Run::hypers`].
    pub hypers: Vec<Vec<f64>>,
    /// The labels of the iterations in [`Run::drawn`].
    pub draws: Vec<Row>,
    /// The best log joint so far with its labels.
    pub best: Option<(f64, Vec<u32>)>,
    /// One counter for each entry of the schedule.
    pub counters: Vec<Counter>,
}

impl Trace {
    /// Appends hyper-parameters, if there are any.
    pub(crate) fn push_hypers(&mut self, hypers: &[f64]) {
        self.hypers.resize(hypers.len(), Vec::new());
        self.hypers.iter_mut().zip(hypers).for_each(|(values, &value)| values.push(value));
    }

    fn from_labels(draws: Vec<Vec<u32>>) -> Self {
        let mut trace = Trace::default();
        for labels in draws {
            let z = Partition::from_labels(&labels);
            trace.blocks.push(z.blocks() as u32);
            trace.largest.push(z.largest());
            trace.draws.push(Row::new(&z.labels()));
        }
        trace
    }
}

/// Some draws, for predictions.
#[derive(Debug, Clone)]
pub struct Draws<'a> {
    /// The labels.
    pub rows: Vec<&'a Row>,
    /// The hyper-parameters of each in the order of [`Run::hypers`]; empty if they were fixed.
    pub hypers: Vec<Vec<f64>>,
}

/// What was sampled.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The model's name.
    pub model: String,
    /// The number of items.
    pub n: usize,
    /// What was asked for.
    pub settings: Settings,
    /// Iterations that were done; fewer than asked for if the run was interrupted.
    pub iterations: usize,
    /// The names of the hyper-parameters that were sampled; none if they were fixed.
    pub hypers: Vec<String>,
    /// Traces by ensemble and chain.
    pub ensembles: Vec<Vec<Trace>>,
    /// The iterations, counted from 0, whose labels are in [`Trace::draws`].
    pub drawn: Vec<usize>,
    /// Wall-clock seconds, with warm-up and before interruptions.
    pub seconds: f64,
    /// The ladders of the ensembles; none if there are only cold chains.
    pub ladders: Vec<Rungs>,
    /// What the hot chains did, by entry of the schedule; empty if there are none.
    pub hot: Vec<Counter>,
    /// How often the ensembles make which moves, if their schedules were tuned.
    pub mixes: Vec<Mix>,
}

impl Run {
    /// Draws that another program made, by ensemble, chain and iteration. There is no log joint, and
    /// nothing is known about moves.
    pub fn from_labels(draws: Vec<Vec<Vec<Vec<u32>>>>) -> Result<Self> {
        let first = draws.first().and_then(|e| e.first()).and_then(|c| c.first());
        let n = first.map_or(0, Vec::len);
        let chains = draws.first().map_or(0, Vec::len);
        let iterations = draws.iter().flatten().map(Vec::len).min().unwrap_or(0);
        let unequal = draws.iter().any(|e| e.len() != chains)
            || draws.iter().flatten().any(|c| c.len() != iterations)
            || draws.iter().flatten().flatten().any(|labels| labels.len() != n);
        if n == 0 || unequal {
            return Err(Error::new(
                "draws must be of equal shape: as many chains in every ensemble, as many draws in every chain, as many labels in every draw, and one at least of each",
            ));
        }
        let settings = Settings {
            ensembles: draws.len(),
            chains,
            iterations,
            warmup: 0,
            ..Settings::default()
        };
        let ensembles =
            draws.into_iter().map(|e| e.into_iter().map(Trace::from_labels).collect()).collect();
        let drawn = (0..iterations).collect();
        Ok(Run {
            model: "labels".into(),
            n,
            settings,
            iterations,
            hypers: Vec::new(),
            ensembles,
            drawn,
            seconds: 0.0,
            ladders: Vec::new(),
            hot: Vec::new(),
            mixes: Vec::new(),
        })
    }

    /// The same run, with the best partition of each chain as its one draw: what is left to look at if
    /// no draws were kept.
    pub fn with_bests_as_draws(&self) -> Self {
        let mut run = self.clone();
        run.drawn = vec![run.iterations.saturating_sub(1)];
        for trace in run.ensembles.iter_mut().flatten() {
            let best = trace.best.as_ref().map(|(_, labels)| Row::new(&canonical(labels)));
            trace.draws = best.into_iter().collect();
        }
        run
    }

    /// Whether log joints are known; they are not if another program made the draws.
    pub fn has_log_joint(&self) -> bool {
        self.traces().all(|t| !t.log_joint.is_empty())
    }

    /// The draws of a chain after burn-in.
    pub fn draws_after<'a>(&self, trace: &'a Trace, burn_in: usize) -> &'a [Row] {
        let from = self.drawn.partition_point(|&iteration| iteration < burn_in);
        trace.draws.get(from..).unwrap_or(&[])
    }

    /// The probabilities of the numbers of blocks after burn-in.
    pub fn blocks_posterior(&self, burn_in: usize) -> BTreeMap<u32, f64> {
        let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
        for &k in self.traces().flat_map(|t| &t.blocks[burn_in..]) {
            *counts.entry(k).or_default() += 1;
        }
        let total: u64 = counts.values().sum();
        counts.into_iter().map(|(k, count)| (k, count as f64 / total as f64)).collect()
    }

    /// About so many draws of all chains after burn-in, evenly spread.
    pub fn some_draws(&self, burn_in: usize, count: usize) -> Vec<&Row> {
        self.some_draws_with_hypers(burn_in, count).rows
    }

    /// The same with the hyper-parameters that were sampled together with them.
    pub fn some_draws_with_hypers(&self, burn_in: usize, count: usize) -> Draws<'_> {
        let from = self.drawn.partition_point(|&iteration| iteration < burn_in);
        let places = |t: &Trace| from..t.draws.len();
        let all: Vec<(&Trace, usize)> =
            self.traces().flat_map(|t| places(t).map(move |at| (t, at))).collect();
        let count = count.clamp(1, all.len().max(1));
        let chosen = || (0..count.min(all.len())).map(|k| all[k * all.len() / count]);
        let hypers = |(t, at): (&Trace, usize)| {
            t.hypers.iter().map(|values| values[self.drawn[at]]).collect()
        };
        Draws {
            rows: chosen().map(|(t, at)| &t.draws[at]).collect(),
            hypers: if self.hypers.is_empty() {
                Vec::new()
            } else {
                chosen().map(hypers).collect()
            },
        }
    }

    /// Whether the run was stopped early.
    pub fn interrupted(&self) -> bool {
        self.iterations < self.settings.iterations
    }

    /// All traces, ensemble after ensemble.
    pub fn traces(&self) -> impl Iterator<Item = &Trace> {
        self.ensembles.iter().flatten()
    }

    /// The best partition of all chains with its log joint.
    pub fn best(&self) -> Option<&(f64, Vec<u32>)> {
        // The first of equals, so that the answer does not depend on anything else.
        let best = self.traces().filter_map(|t| t.best.as_ref());
        best.reduce(|a, b| if b.0 > a.0 { b } else { a })
    }

    /// Counters by entry of the schedule, summed over some traces.
    pub fn counters<'a>(&self, traces: impl Iterator<Item = &'a Trace>) -> Vec<Counter> {
        let mut sums = vec![Counter::default(); self.settings.schedule.moves().len()];
        for trace in traces {
            for (sum, counter) in sums.iter_mut().zip(&trace.counters) {
                sum.add(counter);
            }
        }
        sums
    }
}
