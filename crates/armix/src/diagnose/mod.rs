//! Can a run be believed? Diagnostics of numbers and of partitions, judged between independent
//! ensembles: the chains of one ensemble learn from each other and must not be compared.

mod distances;
mod goodness;
mod pairs;
mod scalar;
mod verdict;

pub use distances::Distances;
pub use goodness::{Fit, chi_squared_above, goodness_of_fit};
pub use pairs::Pairs;
pub use scalar::*;
pub use verdict::{LEAST_ESS, RHAT_LIMIT, TOO_SHORT, Verdict};

use crate::error::{Error, Result};
use crate::run::{Run, TOP, Trace};
use serde::{Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// How much of the beginning of every chain does not count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BurnIn {
    /// This fraction of the iterations.
    Fraction(f64),
    /// So many iterations.
    Iterations(usize),
}

impl Default for BurnIn {
    /// Half, as in the paper.
    fn default() -> Self {
        BurnIn::Fraction(0.5)
    }
}

impl BurnIn {
    /// How many of so many iterations do not count; one at least does.
    pub fn of(self, iterations: usize) -> usize {
        let discarded = match self {
            BurnIn::Fraction(fraction) => (iterations as f64 * fraction).floor() as usize,
            BurnIn::Iterations(count) => count,
        };
        discarded.min(iterations.saturating_sub(1))
    }
}

impl FromStr for BurnIn {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong =
            || Error::new(format!("burn-in '{text}': write 50%, 0.5 or a number of iterations"));
        let fraction = match text.trim().strip_suffix('%') {
            Some(percent) => percent.trim().parse::<f64>().map_err(|_| wrong())? / 100.0,
            None => match text.trim().parse() {
                Ok(count) => return Ok(BurnIn::Iterations(count)),
                Err(_) => text.trim().parse().map_err(|_| wrong())?,
            },
        };
        if (0.0..1.0).contains(&fraction) { Ok(BurnIn::Fraction(fraction)) } else { Err(wrong()) }
    }
}

impl fmt::Display for BurnIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BurnIn::Fraction(fraction) => write!(f, "{}%", fraction * 100.0),
            BurnIn::Iterations(count) => write!(f, "{count}"),
        }
    }
}

/// What a quantity did after burn-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Motion {
    /// It changed in some chain.
    Moving,
    /// It was the same all the time in all chains, so that there is nothing to diagnose.
    Constant,
    /// It stayed the same in every chain, but not the same in all: R̂ is infinite.
    Stuck,
}

/// The diagnostics of one quantity. What is not defined is `None`.
///
/// R̂, effective sample sizes and Monte-Carlo errors are computed between the chains of the same
/// index in all ensembles, and averaged over the chain indices. So an effective sample size is
/// that of one chain of each ensemble; all chains together know more, but not S times as much.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Quantity {
    /// The name for programs.
    pub name: String,
    /// The name for people.
    pub label: String,
    /// The mean over all chains.
    pub mean: f64,
    /// The standard deviation over all chains.
    pub sd: f64,
    /// Whether it moved.
    pub motion: Motion,
    /// Plain R̂ (Gelman and Rubin 1992), as in the paper: the mean over chain indices. In JSON infinity
    /// is the text "Infinity".
    #[serde(serialize_with = "any_number")]
    pub rhat: Option<f64>,
    /// Its standard deviation over chain indices.
    pub rhat_sd: Option<f64>,
    /// R̂ of half chains.
    #[serde(serialize_with = "any_number")]
    pub rhat_split: Option<f64>,
    /// Rank-normalised split R̂.
    #[serde(serialize_with = "any_number")]
    pub rhat_rank: Option<f64>,
    /// The effective sample size of the bulk of the distribution.
    pub ess_bulk: Option<f64>,
    /// The effective sample size of its tails.
    pub ess_tail: Option<f64>,
    /// The Monte-Carlo standard error of the mean.
    pub mcse_mean: Option<f64>,
    /// The Monte-Carlo standard error of the standard deviation.
    pub mcse_sd: Option<f64>,
    /// The autocorrelation time in iterations (Geyer's rule), the mean over all chains.
    pub act: Option<f64>,
    /// The autocorrelation time as the paper defines it, with Sokal's window.
    pub act_window: Option<f64>,
}

/// How to diagnose.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Options {
    /// What does not count.
    pub burn_in: BurnIn,
}

/// What is known about the convergence of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnosis {
    /// Whether to believe the run …
    pub verdict: Verdict,
    /// … why, each a sentence …
    pub reasons: Vec<String>,
    /// … and what to do next.
    pub next: Vec<String>,
    /// Ensembles.
    pub ensembles: usize,
    /// Chains of each.
    pub chains: usize,
    /// Iterations recorded.
    pub iterations: usize,
    /// How many of them do not count.
    pub burn_in: usize,
    /// Partitions that were looked at, of all chains after burn-in; 0 if none were kept.
    pub partitions: usize,
    /// The quantities by name.
    #[serde(serialize_with = "by_name")]
    pub quantities: Vec<Quantity>,
    /// How co-assignments of pairs of items fare; `None` with too few partitions.
    pub pairs: Option<Pairs>,
    /// How far partitions are apart within and between ensembles; `None` without partitions.
    pub distances: Option<Distances>,
    /// The ensembles (counted from 1) that sit in the same mode; one group if they agree.
    pub modes: Vec<Vec<usize>>,
}

/// JSON has no infinite numbers: they are told as text, which most languages read as the number.
pub(crate) fn any_number<S: Serializer>(
    value: &Option<f64>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    match value {
        None => serializer.serialize_none(),
        Some(value) if value.is_finite() => serializer.serialize_f64(*value),
        Some(value) if value.is_nan() => serializer.serialize_str("NaN"),
        Some(value) if *value > 0.0 => serializer.serialize_str("Infinity"),
        Some(_) => serializer.serialize_str("-Infinity"),
    }
}

fn by_name<S: Serializer>(
    quantities: &[Quantity],
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_map(quantities.iter().map(|q| (&q.name, q)))
}

impl Diagnosis {
    /// Diagnoses a run of at least one iteration.
    pub fn new(run: &Run, options: &Options) -> Self {
        let burn_in = options.burn_in.of(run.iterations);
        let mut quantities: Vec<Quantity> = (traced(run).iter())
            .map(|t| Quantity::measure(&t.name, &t.label, &t.values(run, burn_in)))
            .collect();
        let (of_pairs, pairs) = pairs::diagnose(run, burn_in);
        quantities.extend(of_pairs);
        let distances = Distances::new(run, burn_in);
        let (verdict, modes) = verdict::judge(run, burn_in, &quantities, pairs, distances.as_ref());
        Diagnosis {
            verdict: verdict.verdict,
            reasons: verdict.reasons,
            next: verdict.next,
            ensembles: run.ensembles.len(),
            chains: run.ensembles.first().map_or(0, Vec::len),
            iterations: run.iterations,
            burn_in,
            partitions: run.traces().map(|t| run.draws_after(t, burn_in).len()).sum(),
            quantities,
            pairs,
            distances,
            modes,
        }
    }

    /// A quantity by its name.
    pub fn quantity(&self, name: &str) -> Option<&Quantity> {
        self.quantities.iter().find(|q| q.name == name)
    }
}

/// A number that every iteration has.
pub struct Traced {
    name: String,
    label: String,
    values: Box<Values>,
}

/// The values of all iterations of a chain.
type Values = dyn Fn(&Run, &Trace) -> Vec<f64>;

impl Traced {
    /// The name for programs.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name for people.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Its values after burn-in by ensemble and chain.
    pub fn values(&self, run: &Run, burn_in: usize) -> Vec<Vec<Vec<f64>>> {
        values(run, burn_in, &*self.values)
    }

    fn new(name: &str, label: &str, values: impl Fn(&Run, &Trace) -> Vec<f64> + 'static) -> Self {
        Traced { name: name.into(), label: label.into(), values: Box::new(values) }
    }
}

/// What is traced of a run: the log joint (unless another program made the run), the number of
/// blocks, the fractions of items in the largest 1, 2, … blocks, and the hyper-parameters if they were
/// sampled.
pub fn traced(run: &Run) -> Vec<Traced> {
    let blocks = |_: &Run, t: &Trace| t.blocks.iter().copied().map(f64::from).collect();
    let mut all = vec![
        Traced::new("log_joint", "log joint", |_, t| t.log_joint.clone()),
        Traced::new("blocks", "number of blocks", blocks),
        Traced::new("fraction_1", "largest block", fraction::<1>),
        Traced::new("fraction_2", "largest 2 blocks", fraction::<2>),
        Traced::new("fraction_3", "largest 3 blocks", fraction::<3>),
        Traced::new("fraction_4", "largest 4 blocks", fraction::<4>),
        Traced::new("fraction_5", "largest 5 blocks", fraction::<5>),
    ];
    if !run.has_log_joint() {
        all.remove(0);
    }
    let hypers = run.hypers.iter().enumerate();
    all.extend(hypers.map(|(at, name)| {
        Traced::new(name, &name.replace('_', " "), move |_, t| t.hypers[at].clone())
    }));
    all
}

fn fraction<const COUNT: usize>(run: &Run, trace: &Trace) -> Vec<f64> {
    const { assert!(COUNT <= TOP) };
    let fraction = |top: &[u32; TOP]| f64::from(top[..COUNT].iter().sum::<u32>()) / run.n as f64;
    trace.largest.iter().map(fraction).collect()
}

/// Values after burn-in by ensemble and chain.
fn values(run: &Run, burn_in: usize, of: &Values) -> Vec<Vec<Vec<f64>>> {
    let kept = |trace: &Trace| of(run, trace).split_off(burn_in);
    run.ensembles.iter().map(|chains| chains.iter().map(kept).collect()).collect()
}

impl Quantity {
    /// All diagnostics of some values by ensemble and chain.
    fn measure(name: &str, label: &str, values: &[Vec<Vec<f64>>]) -> Self {
        let all: Vec<&[f64]> = values.iter().flatten().map(Vec::as_slice).collect();
        let pooled: Vec<f64> = all.iter().flat_map(|s| s.iter().copied()).collect();
        let (mean, sd) = mean_sd(&pooled);
        let motion = match (is_constant(&all), all.iter().all(|s| is_constant(&[s]))) {
            (true, _) => Motion::Constant,
            (false, true) => Motion::Stuck,
            _ => Motion::Moving,
        };
        let chains = values.first().map_or(0, Vec::len);
        let sequences: Vec<Vec<&[f64]>> = (0..chains)
            .map(|chain| values.iter().map(|ensemble| ensemble[chain].as_slice()).collect())
            .collect();
        let rhats = over_indices(&sequences, gelman_rubin, 1.0);
        let each = |diagnostic: fn(&[f64]) -> Option<f64>| {
            average(all.iter().filter_map(|s| diagnostic(s)).collect())
        };
        let total = all.iter().map(|s| s.len()).sum::<usize>() as f64 / chains.max(1) as f64;
        let between = |diagnostic, same| average(over_indices(&sequences, diagnostic, same));
        Quantity {
            name: name.into(),
            label: label.into(),
            mean,
            sd,
            motion,
            rhat_sd: (rhats.len() > 1).then(|| mean_sd(&rhats).1).filter(|sd| sd.is_finite()),
            rhat: average(rhats),
            rhat_split: between(rhat_split, 1.0),
            rhat_rank: between(rhat_rank, 1.0),
            ess_bulk: between(ess_bulk, total),
            ess_tail: between(ess_tail, total),
            mcse_mean: between(mcse_mean, 0.0),
            mcse_sd: between(mcse_sd, 0.0),
            act: each(autocorrelation_time),
            act_window: each(windowed_autocorrelation_time),
        }
    }
}

/// A diagnostic for every chain index. Where all ensembles stay at the same value in some index but
/// not in all, they agree as well as can be in that one.
fn over_indices(
    sequences: &[Vec<&[f64]>],
    diagnostic: fn(&[&[f64]]) -> Option<f64>,
    agreed: f64,
) -> Vec<f64> {
    let values: Vec<Option<f64>> = sequences.iter().map(|s| diagnostic(s)).collect();
    if values.iter().all(Option::is_none) {
        return Vec::new();
    }
    values.into_iter().map(|v| v.unwrap_or(agreed)).collect()
}

fn average(values: Vec<f64>) -> Option<f64> {
    (!values.is_empty()).then(|| mean_sd(&values).0)
}
