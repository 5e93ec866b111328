//! Ensembles of chains: rounds over a frozen past, in parallel. The only user of threads.

use crate::checkpoint::{Checkpoint, EnsembleCheckpoint, Resume};
use crate::error::{Error, Result};
use crate::history::{History, Row};
use crate::model::Model;
use crate::run::{Counter, Run, Settings, Start, TOP, Trace};
use crate::runner::Runner;
use crate::state::Target;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::Instant;

/// Chains that would need more memory than this at their start are refused.
const MEMORY: u64 = 16 << 30;

/// Gibbs scans soon empty most blocks of fewer items than this.
const SMALL: usize = 16;

/// How the new states of a round reach everybody who needs them. Within one process they are
/// there already; several processes would gather them here.
pub trait Exchange {
    /// Turns the new states of this process's chains into those of all chains of the ensemble, in
    /// chain order.
    fn gather(&mut self, ensemble: usize, own: Vec<Row>) -> Vec<Row>;
}

/// The exchange of a single process.
#[derive(Debug, Default, Clone, Copy)]
pub struct Local;

impl Exchange for Local {
    fn gather(&mut self, _ensemble: usize, own: Vec<Row>) -> Vec<Row> {
        own
    }
}

/// How far an ensemble is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Status {
    /// The mean log joint of its chains now.
    pub log_joint: f64,
    /// The mean number of blocks of its chains now.
    pub blocks: f64,
    /// The share of proposals accepted so far; `None` if nothing was proposed.
    pub accept_rate: Option<f64>,
}

/// The last iteration of a chain.
#[derive(Debug)]
pub struct Record<'a> {
    /// ln q(z), and ln of the prior of the hyper-parameters if they are sampled.
    pub log_joint: f64,
    /// The number of blocks.
    pub blocks: usize,
    /// The sizes of the largest blocks.
    pub largest: [u32; TOP],
    /// The hyper-parameters in the order of [`View::hypers`].
    pub hypers: &'a [f64],
    /// What the entries of the schedule did.
    pub moves: &'a [Counter],
    /// The labels.
    pub labels: &'a Row,
}

/// A sampler between two rounds, for whoever watches it.
pub trait View {
    /// The chains are in state t; warm-up counts.
    fn t(&self) -> usize;
    /// The names of the hyper-parameters that are sampled; none if they are fixed.
    fn hypers(&self) -> &[String];
    /// How far an ensemble is.
    fn status(&self, ensemble: usize) -> Status;
    /// The last iteration of a chain.
    fn record(&self, ensemble: usize, chain: usize) -> Record<'_>;
    /// All that is needed to continue from here, except for traces and rows.
    fn checkpoint(&self) -> Checkpoint;
}

/// Told after every round, on the thread that called [`sample`].
pub trait Observer {
    /// A new run begins: the chains are in state 0.
    fn begin(&mut self, _view: &dyn View) -> Result<()> {
        Ok(())
    }

    /// A round is complete. May ask to stop: the run then ends with what is there.
    fn after_round(&mut self, view: &dyn View) -> Result<ControlFlow<()>>;
}

/// Nobody is watching.
impl Observer for () {
    fn after_round(&mut self, _: &dyn View) -> Result<ControlFlow<()>> {
        Ok(ControlFlow::Continue(()))
    }
}

/// Samples from a target. The result depends on the target and the settings alone, not on the
/// number of threads.
pub fn sample<M: Model>(
    target: &Target<M>,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Run> {
    run(target, settings, None, observer, &mut Local)
}

/// Continues a run that was interrupted, up to the iterations of the settings. The result is the
/// same as that of a run that was not.
pub fn resume<M: Model>(
    target: &Target<M>,
    settings: &Settings,
    from: Resume<'_>,
    observer: &mut dyn Observer,
) -> Result<Run> {
    run(target, settings, Some(from), observer, &mut Local)
}

/// [`sample`] or [`resume`], with a say in how states are exchanged.
pub fn run<M: Model>(
    target: &Target<M>,
    settings: &Settings,
    from: Option<Resume<'_>>,
    observer: &mut dyn Observer,
    exchange: &mut dyn Exchange,
) -> Result<Run> {
    check(target, settings)?;
    let crew = Crew::new(settings)?;
    let mut sampler = match from {
        None => {
            let sampler = Sampler::new(target, settings, exchange)?;
            observer.begin(&sampler)?;
            sampler
        }
        Some(from) => Sampler::resume(target, settings, from)?,
    };
    let from = sampler.t.max(settings.warmup);
    while sampler.t < settings.warmup + settings.iterations {
        sampler.round(&crew);
        sampler.commit(exchange);
        if observer.after_round(&sampler)?.is_break() {
            break;
        }
    }
    Ok(Run {
        model: target.model.name(),
        n: target.model.n(),
        settings: settings.clone(),
        iterations: sampler.t.saturating_sub(settings.warmup),
        hypers: sampler.hypers.clone(),
        drawn: settings.keep_draws.map_or(Vec::new(), |thin| {
            (from..sampler.t)
                .map(|t| t - settings.warmup)
                .filter(|i| i.is_multiple_of(thin))
                .collect()
        }),
        seconds: sampler.seconds(),
        ensembles: sampler.ensembles.into_iter().map(Ensemble::into_traces).collect(),
    })
}

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

/// Refuses settings whose chains would not fit into memory, before anything is allocated.
pub(crate) fn check<M: Model>(target: &Target<M>, settings: &Settings) -> Result<()> {
    let n = target.model.n();
    settings.check(n)?;
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
    let chains = (settings.ensembles * settings.chains) as u64;
    let bytes = chains.saturating_mul(at_start.max(chain_bytes(&*target.model, lasting)));
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

/// The cores that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The calling thread and its helpers, if there are more threads than that one.
struct Crew {
    helpers: Option<rayon::ThreadPool>,
}

impl Crew {
    fn new(settings: &Settings) -> Result<Self> {
        // More threads than chains would have nothing to do.
        let threads = if settings.threads == 0 { cores() } else { settings.threads };
        let threads = threads.min(settings.ensembles * settings.chains);
        let build = |helpers| rayon::ThreadPoolBuilder::new().num_threads(helpers).build();
        let helpers = (threads > 1).then(|| build(threads - 1)).transpose();
        let helpers =
            helpers.map_err(|e| Error::new(format!("cannot start {threads} threads: {e}")))?;
        Ok(Crew { helpers })
    }

    /// Does all the jobs of a list. Everybody takes the next one as soon as the last one is done, and the
    /// calling thread begins at once: waking helpers takes as long as a job of a small problem.
    fn work<T>(&self, jobs: impl Iterator<Item = T> + Send, job: impl Fn(T) + Sync) {
        let jobs = Mutex::new(jobs);
        let next = || jobs.lock().expect("taking a job does not fail").next();
        let work = || {
            while let Some(todo) = next() {
                job(todo);
            }
        };
        let Some(helpers) = &self.helpers else { return work() };
        helpers.in_place_scope(|scope| {
            (0..helpers.current_num_threads()).for_each(|_| scope.spawn(|_| work()));
            work();
        });
    }
}

fn sampled_hypers<M: Model>(target: &Target<M>, settings: &Settings) -> Vec<String> {
    let hypers = if settings.sample_hyper { target.hypers() } else { Vec::new() };
    hypers.into_iter().map(|h| h.name).collect()
}

/// All ensembles, in lockstep.
struct Sampler<'t, M: Model> {
    settings: &'t Settings,
    /// The names of the hyper-parameters that are sampled.
    hypers: Vec<String>,
    /// The chains are in state t.
    t: usize,
    ensembles: Vec<Ensemble<M>>,
    began: Instant,
    seconds_before: f64,
}

impl<'t, M: Model> Sampler<'t, M> {
    fn new(
        target: &Target<M>,
        settings: &'t Settings,
        exchange: &mut dyn Exchange,
    ) -> Result<Self> {
        let began = Instant::now();
        let ensembles = (0..settings.ensembles)
            .map(|index| Ensemble::new(target, settings, index, exchange))
            .collect::<Result<Vec<_>>>()?;
        let hypers = sampled_hypers(target, settings);
        Ok(Sampler { settings, hypers, t: 0, ensembles, began, seconds_before: 0.0 })
    }

    fn resume(target: &Target<M>, settings: &'t Settings, from: Resume<'_>) -> Result<Self> {
        let Resume { checkpoint, traces, rows } = from;
        let began = Instant::now();
        let fits = checkpoint.ensembles.len() == settings.ensembles
            && traces.len() == settings.ensembles
            && checkpoint.ensembles.iter().all(|e| e.chains.len() == settings.chains)
            && traces.iter().all(|t| t.len() == settings.chains);
        if !fits {
            let message = "the checkpoint is damaged: it does not fit the settings of the run";
            return Err(Error::new(message));
        }
        let ensembles = (checkpoint.ensembles.into_iter().zip(traces).enumerate())
            .map(|(index, (saved, traces))| {
                Ensemble::resume(target, settings, index, saved, traces, rows)
            })
            .collect::<Result<Vec<_>>>()?;
        let (t, seconds_before) = (checkpoint.t, checkpoint.seconds);
        let hypers = sampled_hypers(target, settings);
        Ok(Sampler { settings, hypers, t, ensembles, began, seconds_before })
    }

    fn seconds(&self) -> f64 {
        self.seconds_before + self.began.elapsed().as_secs_f64()
    }

    /// Every chain makes its state t + 1, those of an ensemble looking at the same past.
    fn round(&mut self, crew: &Crew) {
        let Sampler { settings, t, ensembles, .. } = self;
        let (settings, t) = (*settings, *t);
        let window_end = t.min(settings.frozen_from().unwrap_or(t));
        let jobs = ensembles.iter_mut().flat_map(|Ensemble { chains, history, .. }| {
            let history = &*history;
            let pasts = (0..).map(move |chain| history.past(chain, window_end));
            chains.iter_mut().zip(pasts)
        });
        crew.work(jobs, |(runner, past)| runner.iterate(settings, t, past));
    }

    /// Appends the new states to the past.
    fn commit(&mut self, exchange: &mut dyn Exchange) {
        if self.settings.frozen_from().is_none_or(|f| self.t < f) {
            self.ensembles.iter_mut().for_each(|e| e.remember(self.t + 1, exchange));
        }
        self.t += 1;
    }
}

impl<M: Model> View for Sampler<'_, M> {
    fn t(&self) -> usize {
        self.t
    }

    fn hypers(&self) -> &[String] {
        &self.hypers
    }

    fn status(&self, ensemble: usize) -> Status {
        self.ensembles[ensemble].status()
    }

    fn record(&self, ensemble: usize, chain: usize) -> Record<'_> {
        let runner = &self.ensembles[ensemble].chains[chain];
        Record {
            log_joint: runner.log_joint(),
            hypers: &runner.hypers,
            blocks: runner.chain.z().blocks(),
            largest: runner.chain.z().largest(),
            moves: &runner.last,
            labels: &runner.row,
        }
    }

    fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            t: self.t,
            seconds: self.seconds(),
            ensembles: self.ensembles.iter().map(Ensemble::checkpoint).collect(),
        }
    }
}

/// S chains with a common past.
struct Ensemble<M: Model> {
    index: usize,
    chains: Vec<Runner<M>>,
    history: History,
}

/// Each ensemble's share of the memory for histories.
fn budget(settings: &Settings) -> u64 {
    settings.history_bytes / settings.ensembles as u64
}

impl<M: Model> Ensemble<M> {
    fn new(
        target: &Target<M>,
        settings: &Settings,
        index: usize,
        exchange: &mut dyn Exchange,
    ) -> Result<Self> {
        let chains = (0..settings.chains)
            .map(|chain| Runner::new(target, settings, (index, chain)))
            .collect::<Result<Vec<_>>>()?;
        let mut ensemble = Ensemble { index, chains, history: History::new(budget(settings)) };
        ensemble.remember(0, exchange);
        Ok(ensemble)
    }

    fn resume(
        target: &Target<M>,
        settings: &Settings,
        index: usize,
        saved: EnsembleCheckpoint,
        traces: Vec<Trace>,
        rows: &dyn Fn(usize, usize) -> Option<Vec<Row>>,
    ) -> Result<Self> {
        let n = target.model.n();
        let rounds = (saved.kept.into_iter())
            .map(|iteration| {
                let rows = rows(index, iteration);
                let rows = rows.filter(|r| r.len() == settings.chains && r.iter().all(|r| r.n() == n));
                rows.map(|rows| (iteration, rows)).ok_or_else(|| {
                    Error::new(format!("the checkpoint is damaged: the states after iteration {iteration} are missing"))
                })
            })
            .collect::<Result<Vec<_>>>()?;
        let chains = (saved.chains.into_iter().zip(traces).enumerate())
            .map(|(chain, (saved, trace))| {
                Runner::resume(target, settings, (index, chain), saved, trace)
            })
            .collect::<Result<Vec<_>>>()?;
        let history = History::restore(budget(settings), saved.stride, rounds);
        Ok(Ensemble { index, chains, history })
    }

    fn checkpoint(&self) -> EnsembleCheckpoint {
        EnsembleCheckpoint {
            stride: self.history.stride(),
            kept: self.history.iterations(),
            chains: self.chains.iter().map(Runner::checkpoint).collect(),
        }
    }

    /// Appends the states to the past, in chain order.
    fn remember(&mut self, t: usize, exchange: &mut dyn Exchange) {
        let own = self.chains.iter().map(|c| c.row.clone()).collect();
        self.history.push(t, exchange.gather(self.index, own));
    }

    fn status(&self) -> Status {
        let s = self.chains.len() as f64;
        let mut proposals = Counter::default();
        self.chains.iter().for_each(|c| proposals.add(&c.proposals));
        Status {
            log_joint: self.chains.iter().map(Runner::log_joint).sum::<f64>() / s,
            blocks: self.chains.iter().map(|c| c.chain.z().blocks() as f64).sum::<f64>() / s,
            accept_rate: proposals.accept_rate(),
        }
    }

    fn into_traces(self) -> Vec<Trace> {
        self.chains.into_iter().map(|c| c.trace).collect()
    }
}
