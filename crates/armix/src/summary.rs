//! What a run says, as one object: the same for people, for JSON and for Python.

use crate::diagnose::{self, Diagnosis, Verdict, mean_sd};
use crate::evidence::{LogEvidence, log_evidence};
use crate::ladder::Rungs;
use crate::run::Run;
use crate::tuning::Mix;
use serde::Serialize;
use std::collections::BTreeMap;

/// A run in numbers. Posterior quantities are taken from all chains after burn-in.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The model's name.
    pub model: String,
    /// The number of items.
    pub n: usize,
    /// The seed.
    pub seed: u64,
    /// R.
    pub ensembles: usize,
    /// S.
    pub chains: usize,
    /// Recorded iterations.
    pub iterations: usize,
    /// Whether the run was stopped before all iterations were done.
    pub interrupted: bool,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Whether to believe it …
    pub verdict: Verdict,
    /// … why …
    pub reasons: Vec<String>,
    /// … and what to do next.
    pub next: Vec<String>,
    /// What each move did, in the order of the schedule.
    #[serde(serialize_with = "in_order")]
    pub moves: Vec<(String, MoveSummary)>,
    /// ln q.
    pub log_joint: LogJointSummary,
    /// The number of blocks.
    pub blocks: BlocksSummary,
    /// The hyper-parameters by name, if they were sampled.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "in_order")]
    pub hypers: Vec<(String, HyperSummary)>,
    /// How often each ensemble makes which proposals in an iteration, if the schedule was tuned.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub proposals: Vec<Vec<(String, f64)>>,
    /// What happened on the ladders, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ladder: Option<LadderSummary>,
    /// Per ensemble: iterations × total time / time spent in Gibbs scans, the paper's measure of
    /// effort; `null` without Gibbs scans.
    pub normalised_iterations: Vec<Option<f64>>,
    /// The partition of highest log joint that any chain visited: a label for each item.
    pub best_partition: Vec<u32>,
}

fn proposals(run: &Run) -> Vec<Vec<(String, f64)>> {
    let names = || run.settings.schedule.moves().iter().map(|(name, _)| name.clone());
    let of = |mix: &Mix| {
        let proposals = mix.proposals * run.settings.schedule.laps();
        let often = mix.probabilities.iter().map(move |p| p * proposals as f64);
        names().zip(often).filter(|(_, often)| *often > 0.0).collect()
    };
    run.mixes.iter().map(of).collect()
}

/// The ladders of all ensembles.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LadderSummary {
    /// The inverse temperatures of each ensemble.
    pub coldness: Vec<Vec<f64>>,
    /// The share of exchanges that are accepted, of each ensemble and pair of neighbours.
    pub swap_rates: Vec<Vec<f64>>,
    /// Candidates weighed by hot chains; those of the others are in `moves`.
    pub hot_work: u64,
    /// ln p(Y), if the ladders end at 0.
    pub log_evidence: Option<LogEvidence>,
}

impl LadderSummary {
    fn new(run: &Run) -> Option<Self> {
        (!run.ladders.is_empty()).then(|| LadderSummary {
            coldness: run.ladders.iter().map(|l| l.coldness.clone()).collect(),
            swap_rates: run.ladders.iter().map(Rungs::swap_rates).collect(),
            hot_work: run.hot.iter().map(|c| c.work).sum(),
            log_evidence: log_evidence(run),
        })
    }

    /// The lowest and the mean share of exchanges that are accepted.
    pub fn swap_rate(&self) -> Option<(f64, f64)> {
        let all = || self.swap_rates.iter().flatten().copied();
        let count = all().count();
        (count > 0).then(|| (all().fold(1.0, f64::min), all().sum::<f64>() / count as f64))
    }
}

/// What one move did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MoveSummary {
    /// Proposals, or scans.
    pub proposed: u64,
    /// How many were accepted.
    pub accepted: u64,
    /// The share of proposals that were accepted; `null` if nothing was proposed.
    pub accept_rate: Option<f64>,
    /// How often the past agreed, so that there was nothing to propose.
    pub idle: u64,
    /// Seconds, summed over chains.
    pub seconds: f64,
    /// Candidates weighed.
    pub work: u64,
}

/// The posterior of the log joint.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LogJointSummary {
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub sd: f64,
    /// The highest of all iterations.
    pub best: f64,
    /// R̂ between ensembles, the mean over chain indices; `null` if not defined, the text "Infinity" if
    /// chains stay at different values.
    #[serde(serialize_with = "diagnose::any_number")]
    pub rhat: Option<f64>,
    /// Its standard deviation over chain indices.
    pub rhat_sd: Option<f64>,
}

/// The posterior of a hyper-parameter.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HyperSummary {
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub sd: f64,
    /// The 2.5 %, 50 % and 97.5 % quantiles.
    pub quantiles: [f64; 3],
    /// R̂ between ensembles, as that of the log joint.
    #[serde(serialize_with = "diagnose::any_number")]
    pub rhat: Option<f64>,
    /// The effective sample size of the bulk of the distribution.
    pub ess_bulk: Option<f64>,
}

/// The posterior of the number of blocks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BlocksSummary {
    /// Mean.
    pub mean: f64,
    /// The most frequent number; the smallest of equals.
    pub mode: u32,
    /// Probabilities by number.
    pub distribution: BTreeMap<u32, f64>,
}

fn in_order<T: Serialize, S: serde::Serializer>(
    named: &[(String, T)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(named.iter().map(|(name, summary)| (name, summary)))
}

impl Summary {
    /// Summarises a run of at least one iteration.
    pub fn new(run: &Run) -> Self {
        Summary::with(run, &Diagnosis::new(run, &diagnose::Options::default()))
    }

    /// Summarises a run whose diagnosis is known.
    pub fn with(run: &Run, diagnosis: &Diagnosis) -> Self {
        let burn_in = diagnosis.burn_in;
        let rhat = diagnosis.quantity("log_joint");
        let log_joint: Vec<f64> =
            (run.traces()).flat_map(|t| t.log_joint[burn_in..].iter().copied()).collect();
        let (mean, sd) = mean_sd(&log_joint);
        let (best, best_partition) = run.best().cloned().unwrap_or((f64::NEG_INFINITY, Vec::new()));
        Summary {
            model: run.model.clone(),
            n: run.n,
            seed: run.settings.seed,
            ensembles: run.settings.ensembles,
            chains: run.settings.chains,
            iterations: run.iterations,
            interrupted: run.interrupted(),
            seconds: run.seconds,
            verdict: diagnosis.verdict,
            reasons: diagnosis.reasons.clone(),
            next: diagnosis.next.clone(),
            moves: moves(run),
            log_joint: LogJointSummary {
                mean,
                sd,
                best,
                rhat: rhat.and_then(|q| q.rhat),
                rhat_sd: rhat.and_then(|q| q.rhat_sd),
            },
            blocks: blocks(run, burn_in),
            hypers: hypers(run, diagnosis),
            proposals: proposals(run),
            ladder: LadderSummary::new(run),
            normalised_iterations: normalised_iterations(run),
            best_partition,
        }
    }

    /// The best partition as blocks of item indices, the largest first.
    pub fn best_blocks(&self) -> Vec<Vec<usize>> {
        let count = self.best_partition.iter().max().map_or(0, |&m| m as usize + 1);
        let mut blocks = vec![Vec::new(); count];
        for (item, &label) in self.best_partition.iter().enumerate() {
            blocks[label as usize].push(item);
        }
        blocks.sort_by_key(|block| std::cmp::Reverse(block.len()));
        blocks
    }
}

/// What each move did. Entries of the schedule that name the same move are added up.
pub fn moves(run: &Run) -> Vec<(String, MoveSummary)> {
    let mut merged: Vec<(String, crate::run::Counter)> = Vec::new();
    for ((name, _), counter) in run.settings.schedule.moves().iter().zip(run.counters(run.traces()))
    {
        match merged.iter_mut().find(|(known, _)| known == name) {
            Some((_, sum)) => sum.add(&counter),
            None => merged.push((name.clone(), counter)),
        }
    }
    let summary = |c: crate::run::Counter| MoveSummary {
        proposed: c.proposed,
        accepted: c.accepted,
        accept_rate: c.accept_rate(),
        idle: c.idle,
        seconds: c.seconds,
        work: c.work,
    };
    merged.into_iter().map(|(name, c)| (name, summary(c))).collect()
}

fn hypers(run: &Run, diagnosis: &Diagnosis) -> Vec<(String, HyperSummary)> {
    let summary = |(at, name): (usize, &String)| {
        let kept = run.traces().flat_map(|t| &t.hypers[at][diagnosis.burn_in..]);
        let mut sorted: Vec<f64> = kept.copied().collect();
        sorted.sort_by(f64::total_cmp);
        let quantile = |p: f64| sorted[(p * (sorted.len() - 1) as f64).round() as usize];
        let quantity = diagnosis.quantity(name);
        let (mean, sd) = mean_sd(&sorted);
        let summary = HyperSummary {
            mean,
            sd,
            quantiles: [0.025, 0.5, 0.975].map(quantile),
            rhat: quantity.and_then(|q| q.rhat),
            ess_bulk: quantity.and_then(|q| q.ess_bulk),
        };
        (name.clone(), summary)
    };
    run.hypers.iter().enumerate().map(summary).collect()
}

fn blocks(run: &Run, burn_in: usize) -> BlocksSummary {
    let distribution = run.blocks_posterior(burn_in);
    let mode = distribution.iter().rev().max_by(|a, b| a.1.total_cmp(b.1));
    BlocksSummary {
        mean: distribution.iter().map(|(&k, p)| f64::from(k) * p).sum(),
        mode: mode.map_or(0, |(&k, _)| k),
        distribution,
    }
}

fn normalised_iterations(run: &Run) -> Vec<Option<f64>> {
    (run.ensembles.iter())
        .map(|traces| {
            let counters = run.counters(traces.iter());
            let total: f64 = counters.iter().map(|c| c.seconds).sum();
            let gibbs: f64 = (run.settings.schedule.moves().iter().zip(&counters))
                .filter(|((name, _), _)| name == "gibbs")
                .map(|(_, c)| c.seconds)
                .sum();
            (gibbs > 0.0).then(|| run.iterations as f64 * total / gibbs)
        })
        .collect()
}
