//! Ensembles of chains: rounds over a frozen past, in parallel. The only user of threads.

mod admission;
mod exchange;
mod news;
mod spread;
mod traffic;

pub use admission::{chain_bytes, check};
pub use exchange::{Exchange, Local, Share};
pub use traffic::{Load, Network, Traffic};

use crate::checkpoint::{Checkpoint, EnsembleCheckpoint, Learnt, Resume};
use crate::error::{Error, Result};
use crate::history::{History, Remembered, Row};
use crate::ladder::{self, Rungs};
use crate::model::Model;
use crate::run::{Counter, Run, Settings, TOP, Trace};
use crate::runner::Runner;
use crate::state::Target;
use crate::tuning::{Achieved, Mix, Tuning};
use std::ops::{ControlFlow, Range};
use std::sync::Mutex;
use std::time::Instant;

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
    /// ln q(z) at inverse temperature 1.
    pub energy: f64,
    /// What the entries of the schedule achieved, if it is being tuned.
    pub achieved: &'a [Achieved],
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
    /// Whether the run can be saved or stopped here. It can be anywhere, unless several processes are
    /// on their way to the next exchange.
    fn settled(&self) -> bool {
        true
    }
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
/// number of threads or processes.
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

/// [`sample`] or [`resume`], by as many processes as the exchange has; all of them call this with
/// the same target and settings. Only rank 0 says where to go on from, has an observer, and gets the
/// whole run; that of another rank has the traces of its own chains, and may be without iterations.
pub fn run<M: Model>(
    target: &Target<M>,
    settings: &Settings,
    from: Option<Resume<'_>>,
    observer: &mut dyn Observer,
    exchange: &mut dyn Exchange,
) -> Result<Run> {
    settings.check(target.model.n())?;
    let share = Share::new(settings, exchange.ranks());
    check(target, settings, share.most())?;
    if exchange.ranks() > 1 {
        return spread::run(target, settings, from, observer, exchange);
    }
    let own = share.of(0);
    let crew = Crew::new(settings, share.most())?;
    let mut sampler = match from {
        None => {
            let mut sampler = Sampler::new(target, settings, &own)?;
            sampler.remember();
            observer.begin(&sampler)?;
            sampler
        }
        Some(from) => Sampler::resume(target, settings, &own, from)?,
    };
    let from = sampler.t.max(settings.warmup);
    while sampler.t < settings.warmup + settings.iterations {
        sampler.round(&crew);
        sampler.remember();
        if observer.after_round(&sampler)?.is_break() {
            break;
        }
    }
    let (t, seconds) = (sampler.t, sampler.seconds());
    let (ladders, hot, mixes) = match settings.ladder.is_none() && !settings.schedule.is_tuned() {
        true => Default::default(),
        false => {
            let last = sampler.checkpoint();
            let (ladders, hot) = last.ladders_and_hot(settings);
            (ladders, hot, last.mixes())
        }
    };
    let traces = sampler.ensembles.into_iter().map(Ensemble::into_traces).collect();
    Ok(Run { ladders, hot, mixes, ..concluded(target, settings, (from, t), seconds, traces) })
}

/// The run whose chains went from one state to another, warm-up included.
fn concluded<M: Model>(
    target: &Target<M>,
    settings: &Settings,
    (from, to): (usize, usize),
    seconds: f64,
    ensembles: Vec<Vec<Trace>>,
) -> Run {
    Run {
        model: target.model.name(),
        n: target.model.n(),
        settings: settings.clone(),
        iterations: to.saturating_sub(settings.warmup),
        hypers: sampled_hypers(target, settings),
        drawn: settings.keep_draws.map_or(Vec::new(), |thin| {
            (from..to).map(|t| t - settings.warmup).filter(|i| i.is_multiple_of(thin)).collect()
        }),
        seconds,
        ensembles,
        ladders: Vec::new(),
        hot: Vec::new(),
        mixes: Vec::new(),
    }
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
    fn new(settings: &Settings, chains: usize) -> Result<Self> {
        // More threads than chains would have nothing to do.
        let threads = if settings.threads == 0 { cores() } else { settings.threads };
        let threads = threads.min(chains);
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

/// The ensembles of a process, or its chains of them, in lockstep.
struct Sampler<'t, M: Model> {
    settings: &'t Settings,
    /// The number of items.
    n: usize,
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
        own: &[(usize, Range<usize>)],
    ) -> Result<Self> {
        let began = Instant::now();
        let ensembles = (own.iter())
            .map(|(index, chains)| Ensemble::new(target, settings, *index, chains.clone()))
            .collect::<Result<Vec<_>>>()?;
        let (n, hypers) = (target.model.n(), sampled_hypers(target, settings));
        Ok(Sampler { settings, n, hypers, t: 0, ensembles, began, seconds_before: 0.0 })
    }

    fn resume(
        target: &Target<M>,
        settings: &'t Settings,
        own: &[(usize, Range<usize>)],
        from: Resume<'_>,
    ) -> Result<Self> {
        let Resume { mut checkpoint, mut traces, rows } = from;
        let began = Instant::now();
        let fits = checkpoint.ensembles.len() == settings.ensembles
            && traces.len() == settings.ensembles
            && checkpoint.ensembles.iter().all(|e| e.chains.len() == settings.members())
            && traces.iter().all(|t| t.len() == settings.chains)
            && checkpoint.ensembles.iter().all(|e| {
                e.rungs.as_ref().map_or(1, |r| r.coldness.len()) == settings.ladder.rungs()
            });
        if !fits {
            let message = "the checkpoint is damaged: it does not fit the settings of the run";
            return Err(Error::new(message));
        }
        let (t, seconds_before) = (checkpoint.t, checkpoint.seconds);
        let ensembles = (own.iter())
            .map(|(index, chains)| {
                let saved = &mut checkpoint.ensembles[*index];
                let rungs = saved.rungs.take();
                let traces = &mut traces[*index];
                let runners = (chains.clone())
                    .zip(saved.chains.drain(chains.clone()))
                    .map(|(chain, saved)| {
                        // Hot chains have none.
                        let trace = traces.get_mut(chain).map(std::mem::take).unwrap_or_default();
                        let target = heated(target, &rungs, chain / settings.chains);
                        Runner::resume(&target, settings, (*index, chain), saved, trace)
                    })
                    .collect::<Result<Vec<_>>>()?;
                let ensemble = Ensemble::with(settings, *index, chains.start, runners);
                let mut ensemble = Ensemble { rungs, ..ensemble };
                ensemble.recall(settings, target.model.n(), t, saved, rows)?;
                Ok(ensemble)
            })
            .collect::<Result<Vec<_>>>()?;
        let (n, hypers) = (target.model.n(), sampled_hypers(target, settings));
        Ok(Sampler { settings, n, hypers, t, ensembles, began, seconds_before })
    }

    fn seconds(&self) -> f64 {
        self.seconds_before + self.began.elapsed().as_secs_f64()
    }

    /// Every chain makes its state t + 1, those of an ensemble looking at the same past.
    fn round(&mut self, crew: &Crew) {
        let Sampler { settings, t, ensembles, .. } = self;
        let (settings, now) = (*settings, *t);
        let window_end = now.min(settings.frozen_from().unwrap_or(now));
        for lap in 0..settings.schedule.laps() {
            ensembles.iter_mut().for_each(|e| e.swap(settings, now, lap));
            let jobs =
                ensembles.iter_mut().flat_map(|Ensemble { first, chains, history, .. }| {
                    let history = &*history;
                    let pasts = (*first..).map(move |chain| history.past(chain, window_end));
                    chains.iter_mut().zip(pasts)
                });
            crew.work(jobs, |(runner, past)| runner.lap(settings, now, lap, past));
        }
        *t += 1;
    }

    /// Appends the states to the past, if all chains are here.
    fn remember(&mut self) {
        let Sampler { settings, t, ensembles, .. } = self;
        for ensemble in ensembles {
            let chains = std::mem::take(&mut ensemble.chains); // while they are looked at
            ensemble.remember(settings, *t, chains.iter().map(record));
            ensemble.chains = chains;
            ensemble.settle(settings, *t);
        }
    }
}

/// The last iteration of a chain.
fn record<M: Model>(runner: &Runner<M>) -> Record<'_> {
    Record {
        log_joint: runner.log_joint(),
        energy: runner.energy,
        achieved: &runner.achieved,
        blocks: runner.chain.z().blocks(),
        largest: runner.chain.z().largest(),
        hypers: &runner.hypers,
        moves: &runner.last,
        labels: &runner.row,
    }
}

/// How far chains are: of each its log joint, its blocks and its proposals.
fn status<'a>(chains: impl Iterator<Item = (f64, usize, &'a Counter)>) -> Status {
    let (mut log_joint, mut blocks, mut proposals) = (0.0, 0.0, Counter::default());
    let mut s = 0.0;
    for chain in chains {
        log_joint += chain.0;
        blocks += chain.1 as f64;
        proposals.add(chain.2);
        s += 1.0;
    }
    Status { log_joint: log_joint / s, blocks: blocks / s, accept_rate: proposals.accept_rate() }
}

impl<M: Model> View for Sampler<'_, M> {
    fn t(&self) -> usize {
        self.t
    }

    fn hypers(&self) -> &[String] {
        &self.hypers
    }

    fn status(&self, ensemble: usize) -> Status {
        let ensemble = &self.ensembles[ensemble];
        let chains = ensemble.chains[..ensemble.cold()].iter();
        status(chains.map(|c| (c.log_joint(), c.chain.z().blocks(), &c.proposals)))
    }

    fn record(&self, ensemble: usize, chain: usize) -> Record<'_> {
        record(&self.ensembles[ensemble].chains[chain])
    }

    fn checkpoint(&self) -> Checkpoint {
        let ensembles = self.ensembles.iter().map(Ensemble::checkpoint).collect();
        Checkpoint { t: self.t, seconds: self.seconds(), ensembles }
    }
}

/// Chains of an ensemble with the past of all of them.
struct Ensemble<M: Model> {
    index: usize,
    /// The first chain of those that are here.
    first: usize,
    chains: Vec<Runner<M>>,
    /// The ladder, if there is one; all chains are here then.
    rungs: Option<Rungs>,
    /// States that no chain has looked at yet, by iteration: the past receives them at the next exchange.
    pending: Vec<Remembered>,
    history: History,
    /// What is known of the schedule, if it tunes itself.
    tuning: Option<Tuning>,
}

/// What the chains of a rung sample.
fn heated<M: Model>(target: &Target<M>, rungs: &Option<Rungs>, rung: usize) -> Target<M> {
    target.at(rungs.as_ref().map_or(1.0, |rungs| rungs.coldness[rung]))
}

/// Each ensemble's share of the memory for histories.
fn budget(settings: &Settings) -> u64 {
    settings.history_bytes / settings.ensembles as u64
}

fn missing(iteration: usize) -> Error {
    Error::new(format!(
        "the checkpoint is damaged: the states after iteration {iteration} are missing"
    ))
}

impl<M: Model> Ensemble<M> {
    fn new(
        target: &Target<M>,
        settings: &Settings,
        index: usize,
        chains: Range<usize>,
    ) -> Result<Self> {
        let rungs = (!settings.ladder.is_none()).then(|| Rungs::new(&settings.ladder));
        let runners = (chains.clone())
            .map(|chain| {
                let target = heated(target, &rungs, chain / settings.chains);
                Runner::new(&target, settings, (index, chain))
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(Ensemble { rungs, ..Ensemble::with(settings, index, chains.start, runners) })
    }

    fn with(settings: &Settings, index: usize, first: usize, chains: Vec<Runner<M>>) -> Self {
        let history = History::new(budget(settings));
        let tuning = settings.schedule.is_tuned();
        let tuning = tuning.then(|| Tuning::new(settings.schedule.moves().len()));
        Ensemble { index, first, chains, rungs: None, pending: Vec::new(), history, tuning }
    }

    /// Restores the past of a checkpoint.
    fn recall(
        &mut self,
        settings: &Settings,
        n: usize,
        t: usize,
        saved: &EnsembleCheckpoint,
        rows: &dyn Fn(usize, usize) -> Option<Vec<Row>>,
    ) -> Result<()> {
        let mut energies = saved.learnt.energies.iter().cloned();
        let mut rounds = (saved.kept.iter())
            .map(|&iteration| {
                let rows = rows(self.index, iteration);
                let rows =
                    rows.filter(|r| r.len() == settings.members() && r.iter().all(|r| r.n() == n));
                let energies = energies.next().unwrap_or_default();
                rows.map(|rows| (iteration, rows, energies)).ok_or_else(|| missing(iteration))
            })
            .collect::<Result<Vec<_>>>()?;
        let exchanged = settings.last_exchange(t);
        self.pending = rounds.split_off(rounds.partition_point(|(i, ..)| *i <= exchanged));
        self.history = History::restore(budget(settings), saved.stride, rounds);
        self.tuning.clone_from(&saved.learnt.tuning);
        let entries = self.tuning.as_ref().map(|tuning| tuning.achieved.len());
        if entries != settings.schedule.is_tuned().then_some(settings.schedule.moves().len()) {
            return Err(Error::new(
                "the checkpoint is damaged: what it knows of the schedule does not fit",
            ));
        }
        self.mix();
        Ok(())
    }

    fn checkpoint(&self) -> EnsembleCheckpoint {
        let pending = self.pending.iter().map(|(iteration, ..)| *iteration);
        let energies = self.pending.iter().map(|(.., energies)| energies.clone());
        let learnt = Learnt {
            energies: self.history.energies().into_iter().chain(energies).collect(),
            tuning: self.tuning.clone(),
        };
        EnsembleCheckpoint {
            learnt,
            stride: self.history.stride(),
            kept: self.history.iterations().into_iter().chain(pending).collect(),
            chains: self.chains.iter().map(Runner::checkpoint).collect(),
            rungs: self.rungs.clone(),
        }
    }

    /// Takes what all chains did, in their order: their states for the past, unless that is frozen.
    fn remember<'a>(
        &mut self,
        settings: &Settings,
        t: usize,
        records: impl Iterator<Item = Record<'a>> + Clone,
    ) {
        if settings.frozen_from().is_none_or(|f| t <= f) {
            let weighs = settings.schedule.weighs_past();
            let energies = records.clone().filter(|_| weighs).map(|r| r.energy).collect();
            self.pending.push((t, records.clone().map(|r| r.labels.clone()).collect(), energies));
        }
        if let Some(tuning) = &mut self.tuning {
            records.for_each(|record| tuning.hear(t, settings.warmup, record.achieved));
        }
    }

    /// Appends what was taken to the past, if state t is one after which that is done.
    fn settle(&mut self, settings: &Settings, t: usize) {
        if settings.exchanges_at(t) {
            self.pending.drain(..).for_each(|round| self.history.remember(round));
            // Where all processes know the same.
            if let Some(tuning) = self.tuning.as_mut().filter(|_| t >= settings.warmup)
                && tuning.mix.is_none()
                && let Some(runner) = self.chains.first()
            {
                tuning.mix = Some(Mix::new(&tuning.achieved, &runner.is_scan()));
                self.mix();
            }
        }
    }

    /// Tells the chains how often to make which moves, if that is known.
    fn mix(&mut self) {
        let mix = self.tuning.as_ref().and_then(|tuning| tuning.mix.clone());
        self.chains.iter_mut().for_each(|runner| runner.mix.clone_from(&mix));
    }

    /// Lets the rungs of the ladder exchange states, before a lap on the way to state t + 1.
    fn swap(&mut self, settings: &Settings, t: usize, lap: usize) {
        let Ensemble { index, chains, rungs: Some(rungs), .. } = self else { return };
        let (seed, warmup) = (settings.seed, settings.warmup);
        let laps_before = t * settings.schedule.laps();
        let round = ladder::Round { seed, ensemble: *index, t, lap: laps_before + lap, warmup };
        let energies: Vec<f64> = chains.iter().map(|c| c.chain.energy()).collect();
        for (lower, upper) in rungs.exchanges(&energies, &round) {
            let (below, above) = chains.split_at_mut(upper);
            below[lower].exchange(&mut above[0]);
        }
        if lap == 0 && rungs.tune(&settings.ladder, &round) {
            for (at, runner) in chains.iter_mut().enumerate() {
                runner.chain.set_coldness(rungs.coldness[at / settings.chains]);
            }
        }
    }

    /// How many of the chains that are here are cold.
    fn cold(&self) -> usize {
        self.chains.len() / self.rungs.as_ref().map_or(1, |r| r.coldness.len())
    }

    fn into_traces(self) -> Vec<Trace> {
        let cold = self.cold();
        self.chains.into_iter().take(cold).map(|c| c.trace).collect()
    }
}
