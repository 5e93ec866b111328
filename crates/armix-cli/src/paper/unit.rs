//! A unit of work: one sampler on one problem, small enough to be done again if it is interrupted.

use super::networks::Networks;
use armix::any_target::AnyTarget;
use armix::data::Dataset;
use armix::diagnose::{Fit, autocorrelation_time, goodness_of_fit};
use armix::ensemble::Observer;
use armix::error::{Error, Result};
use armix::problem::{self, Choice};
use armix::rng::{Purpose, Rng};
use armix::run::{Run, Settings, Start, TOP, Trace};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Observations of each planted block whose co-assignments are traced, and blocks.
const OBSERVED: usize = 3;
const PLANTED: (usize, usize) = (5, 20);

/// What is sampled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Problem {
    /// The graph with 15 partitions.
    FourVertex,
    /// A data set of a Bernoulli example.
    Example { columns: usize, set: u64 },
    /// The vertices of highest degree of a network.
    Network { name: String, scale: f64 },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::FourVertex => f.write_str("four-vertex"),
            Problem::Example { columns, set } => write!(f, "d{columns}-set{set}"),
            Problem::Network { name, scale } => write!(f, "{name}-{scale}"),
        }
    }
}

impl Problem {
    pub(crate) fn load(&self, networks: &Networks, seed: u64) -> Result<Dataset> {
        match self {
            Problem::FourVertex => problem::load("four-vertex", &Choice::default()),
            Problem::Example { columns, set } => {
                let name = format!("bernoulli-{}", columns / 2 - 2);
                // Other seeds have other data sets.
                let data_seed = set + 1000 * (seed - 1);
                problem::load(&name, &Choice { data_seed, ..Choice::default() })
            }
            Problem::Network { name, scale } => {
                let file = networks.file(name);
                let file = file.ok_or_else(|| Error::new(format!("{name} is no longer there")))?;
                let downsample = (*scale < 1.0).then_some(*scale);
                let args = Choice { downsample, ..Choice::default() };
                problem::load(&file.to_string_lossy(), &args)
            }
        }
    }
}

/// How long a sampler runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) enum Length {
    /// So many iterations.
    Iterations(usize),
    /// As many normalised iterations as so many iterations of ARM take.
    SameEffort(usize),
}

/// What is kept of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) enum Keep {
    /// How well frequencies fit the exact posterior.
    Fit,
    /// Autocorrelation times.
    Times,
    /// Sizes of the largest blocks of the first chain.
    Largest,
    /// Log joints, thinned to so many at most.
    LogJoint(usize),
}

/// One sampler on one problem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Unit {
    /// The experiment it belongs to.
    pub family: String,
    pub problem: Problem,
    /// The moves of an iteration.
    pub schedule: String,
    pub ensembles: usize,
    pub chains: usize,
    /// Where chains begin.
    #[serde(default = "prior")]
    pub start: Start,
    pub warmup: usize,
    pub length: Length,
    /// The number of the restart, from 1.
    pub restart: u64,
    pub seed: u64,
    pub keep: Keep,
}

fn prior() -> Start {
    Start::Prior
}

impl Unit {
    /// The name of its file.
    pub(crate) fn key(&self) -> String {
        let schedule = self.schedule.replace(',', "+").replace('*', "x");
        let (family, problem) = (&self.family, &self.problem);
        format!("{family}/{problem}/{schedule}-S{}-{}", self.chains, self.restart)
    }

    /// The unit of ARM whose effort this one is given.
    pub(crate) fn reference(&self, iterations: usize) -> Unit {
        Unit {
            schedule: "arm,gibbs".into(),
            length: Length::Iterations(iterations),
            ..self.clone()
        }
    }

    /// Every restart of every experiment has random numbers of its own, so that experiments on the same
    /// data tell twice as much.
    fn stream(&self) -> u64 {
        let experiments = ["downsampling", "variants", "chains", "network-traces"];
        let experiment = experiments.iter().position(|name| *name == self.family);
        10_000 * self.seed + 1000 * experiment.map_or(0, |at| at as u64) + self.restart
    }

    fn settings(&self, iterations: usize) -> Result<Settings> {
        Ok(Settings {
            ensembles: self.ensembles,
            chains: self.chains,
            iterations,
            start: self.start.clone(),
            warmup: self.warmup,
            schedule: self.schedule.parse()?,
            seed: self.stream(),
            threads: 1,
            keep_draws: matches!(self.keep, Keep::Fit | Keep::Times).then_some(1),
            ..Settings::default()
        })
    }

    /// Samples for so many iterations, or until the observer says that it is enough.
    pub(crate) fn perform(
        &self,
        dataset: &Dataset,
        iterations: usize,
        observer: &mut dyn Observer,
    ) -> Result<Done> {
        let settings = self.settings(iterations)?;
        let target = problem::target(dataset, &Choice::default())?;
        let run = target.sample(&settings, observer)?;
        let found = self.found(&*target, &run)?;
        let fingerprint = problem::fingerprint(dataset);
        Ok(Done::new(self.clone(), &run, found, fingerprint))
    }

    fn found(&self, target: &dyn AnyTarget, run: &Run) -> Result<Found> {
        Ok(match self.keep {
            Keep::Fit => Found::Fit(fit(target, run)?),
            Keep::Times => times(run, self),
            Keep::Largest => Found::Largest(run.ensembles[0][0].largest.clone()),
            Keep::LogJoint(most) => {
                let every = run.iterations.div_ceil(most).max(1);
                let chain = |t: &Trace| -> Vec<f64> {
                    t.log_joint.iter().step_by(every).map(|&v| rounded(v)).collect()
                };
                Found::LogJoint { every, chains: run.traces().map(chain).collect() }
            }
        })
    }
}

/// Thousandths of a nat are enough, and keep files small.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

fn fit(target: &dyn AnyTarget, run: &Run) -> Result<Option<Fit>> {
    let exact = target.posterior()?;
    let category = |labels: Vec<u32>| exact.iter().position(|row| row.labels == labels);
    let chain = |t: &Trace| t.draws.iter().filter_map(|row| category(row.labels())).collect();
    let sequences: Vec<Vec<usize>> = run.traces().map(chain).collect();
    let probabilities: Vec<f64> = exact.iter().map(|row| row.probability).collect();
    Ok(goodness_of_fit(&sequences, &probabilities))
}

/// Autocorrelation times of the largest fraction, and the largest of those of co-assignments. Where
/// nothing changes there is no such time.
fn times(run: &Run, unit: &Unit) -> Found {
    let Problem::Example { set, .. } = unit.problem else {
        return Found::Times { trace: Vec::new(), indicator: Vec::new() };
    };
    let mut rng = Rng::new(Purpose::Diagnosis, unit.seed, set, 0, 0);
    let (blocks, size) = PLANTED;
    let mut observed = Vec::new();
    for block in 0..blocks {
        let mut members: Vec<usize> = (block * size..(block + 1) * size).collect();
        rng.shuffle(&mut members);
        observed.extend_from_slice(&members[..OBSERVED]);
    }
    let trace = |t: &Trace| {
        let largest: Vec<f64> = t.largest.iter().map(|top| f64::from(top[0])).collect();
        autocorrelation_time(&largest)
    };
    let indicator = |t: &Trace| {
        let mut longest: Option<f64> = None;
        for (at, &i) in observed.iter().enumerate() {
            for &j in &observed[..at] {
                let together =
                    |row: &armix::history::Row| f64::from(u8::from(row.get(i) == row.get(j)));
                let values: Vec<f64> = t.draws.iter().map(together).collect();
                let time = autocorrelation_time(&values);
                longest = longest.into_iter().chain(time).reduce(f64::max);
            }
        }
        longest
    };
    Found::Times {
        trace: run.traces().filter_map(trace).collect(),
        indicator: run.traces().filter_map(indicator).collect(),
    }
}

/// What a unit has found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Found {
    Fit(Option<Fit>),
    /// By chain.
    Times {
        trace: Vec<f64>,
        indicator: Vec<f64>,
    },
    Largest(Vec<[u32; TOP]>),
    /// Every so-manieth iteration, by chain.
    LogJoint {
        every: usize,
        chains: Vec<Vec<f64>>,
    },
}

/// A unit that is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Done {
    pub unit: Unit,
    /// Of the data.
    pub fingerprint: String,
    pub iterations: usize,
    /// Seconds of all, with warm-up.
    pub seconds: f64,
    /// Total over Gibbs, by time and by candidates weighed; `None` without Gibbs scans.
    pub effort: Option<(f64, f64)>,
    /// The share of proposals that were accepted; `None` without proposals.
    pub accepted: Option<f64>,
    pub found: Found,
}

impl Done {
    fn new(unit: Unit, run: &Run, found: Found, fingerprint: String) -> Self {
        let counters = run.counters(run.traces());
        let names = run.settings.schedule.moves().iter().map(|(name, _)| name.as_str());
        let (mut time, mut work) = ((0.0, 0.0), (0.0, 0.0));
        let mut accepted = None;
        for (name, counter) in names.zip(&counters) {
            let (seconds, weighed) = (counter.seconds, counter.work as f64);
            time.0 += seconds;
            work.0 += weighed;
            if name == "gibbs" {
                time.1 += seconds;
                work.1 += weighed;
            } else {
                accepted = counter.accept_rate();
            }
        }
        let effort = (time.1 > 0.0 && work.1 > 0.0).then(|| (time.0 / time.1, work.0 / work.1));
        let (iterations, seconds) = (run.iterations, run.seconds);
        Done { unit, fingerprint, iterations, seconds, effort, accepted, found }
    }

    /// Normalised iterations by time and by work.
    pub(crate) fn normalised(&self) -> Option<(f64, f64)> {
        let all = self.iterations as f64;
        self.effort.map(|(time, work)| (all * time, all * work))
    }
}
