//! Ensembles of chains: rounds over a frozen past, in parallel. The only user of threads.

use crate::error::{Error, Result};
use crate::history::{History, Past, Row};
use crate::model::Model;
use crate::moves::gibbs::Gibbs;
use crate::moves::{Chain, Move, Outcome};
use crate::rng::{Purpose, Rng};
use crate::run::{Counter, Run, Settings, Start, Trace};
use crate::state::Target;
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::time::Instant;

/// A start that would need more memory than this for its statistics is refused.
const START_BYTES: u64 = 8 << 30;

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
    /// The mean acceptance probability so far; `None` if nothing was proposed.
    pub accept_rate: Option<f64>,
}

/// Told after every round, on the thread that called [`sample`].
pub trait Observer {
    /// `done` iterations of the run are complete (0 during warm-up, whose iterations are in
    /// `warmup`). May ask to stop: the run then ends with what is there.
    fn after_round(
        &mut self,
        warmup: usize,
        done: usize,
        ensembles: &dyn Fn(usize) -> Status,
    ) -> ControlFlow<()>;
}

/// Nobody is watching.
impl Observer for () {
    fn after_round(&mut self, _: usize, _: usize, _: &dyn Fn(usize) -> Status) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Samples from a target. The result depends on the target and the settings alone, not on the
/// number of threads.
pub fn sample<M: Model>(
    target: &Target<M>,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Run> {
    sample_with(target, settings, observer, &mut Local)
}

/// [`sample`], with a say in how states are exchanged.
pub fn sample_with<M: Model>(
    target: &Target<M>,
    settings: &Settings,
    observer: &mut dyn Observer,
    exchange: &mut dyn Exchange,
) -> Result<Run> {
    check(target, settings)?;
    let began = Instant::now();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(settings.threads)
        .build()
        .map_err(|e| Error::new(format!("cannot start {} threads: {e}", settings.threads)))?;
    let mut ensembles = (0..settings.ensembles)
        .map(|index| Ensemble::new(target, settings, index, exchange))
        .collect::<Result<Vec<_>>>()?;
    let mut done = 0;
    // The chains are in state t and make state t + 1.
    for t in 0..settings.warmup + settings.iterations {
        pool.install(|| ensembles.par_iter_mut().for_each(|e| e.round(settings, t)));
        for ensemble in &mut ensembles {
            ensemble.commit(settings, t, exchange);
        }
        done = (t + 1).saturating_sub(settings.warmup);
        let warmup = (t + 1).min(settings.warmup);
        if observer.after_round(warmup, done, &|e| ensembles[e].status()).is_break() {
            break;
        }
    }
    Ok(Run {
        model: M::NAME,
        n: target.model.n(),
        settings: settings.clone(),
        iterations: done,
        ensembles: ensembles.into_iter().map(Ensemble::into_traces).collect(),
        seconds: began.elapsed().as_secs_f64(),
    })
}

fn check<M: Model>(target: &Target<M>, settings: &Settings) -> Result<()> {
    let n = target.model.n();
    settings.check(n)?;
    let blocks = match &settings.start {
        Start::Crp | Start::One => 0,
        Start::Singletons => n,
        Start::Uniform(k) => (*k as usize).min(n),
        Start::Labels(labels) => {
            let mut distinct = labels.clone();
            distinct.sort_unstable();
            distinct.dedup();
            distinct.len()
        }
    };
    // A chain has three states: its own, a proposal, and the way back.
    let chains = (settings.ensembles * settings.chains) as u64;
    let bytes = (3 * chains).saturating_mul(target.model.stats_bytes(blocks));
    if bytes > START_BYTES {
        return Err(Error::new(format!(
            "the start {} has {blocks} blocks, whose statistics take {:.1} GiB in {chains} chains (the limit is {:.0} GiB); \
             start from fewer blocks, for example crp or uniform:100, or with fewer chains",
            settings.start,
            bytes as f64 / f64::from(1 << 30),
            START_BYTES as f64 / f64::from(1 << 30),
        )));
    }
    Ok(())
}

/// S chains with a common past.
struct Ensemble<'t, M: Model> {
    index: usize,
    chains: Vec<Runner<'t, M>>,
    history: History,
}

impl<'t, M: Model> Ensemble<'t, M> {
    fn new(
        target: &'t Target<M>,
        settings: &Settings,
        index: usize,
        exchange: &mut dyn Exchange,
    ) -> Result<Self> {
        let chains = (0..settings.chains)
            .map(|chain| Runner::new(target, settings, index, chain))
            .collect::<Result<Vec<_>>>()?;
        let mut ensemble = Ensemble {
            index,
            chains,
            history: History::new(settings.history_bytes / settings.ensembles as u64),
        };
        ensemble.remember(0, exchange);
        Ok(ensemble)
    }

    /// Every chain makes its state t + 1, looking at the same past.
    fn round(&mut self, settings: &Settings, t: usize) {
        let Ensemble { chains, history, .. } = self;
        let frozen = settings.freeze_after.map(|f| settings.warmup + f);
        let window_end = t.min(frozen.unwrap_or(t));
        (chains.par_iter_mut().enumerate()).for_each(|(chain, runner)| {
            runner.iterate(settings, t, history.past(chain, window_end));
        });
    }

    /// Appends the new states to the past, in chain order.
    fn commit(&mut self, settings: &Settings, t: usize, exchange: &mut dyn Exchange) {
        let frozen = settings.freeze_after.is_some_and(|f| t >= settings.warmup + f);
        if !frozen {
            self.remember(t + 1, exchange);
        }
    }

    fn remember(&mut self, t: usize, exchange: &mut dyn Exchange) {
        let own = self.chains.iter_mut().map(Runner::take_row).collect();
        self.history.push(t, exchange.gather(self.index, own));
    }

    fn status(&self) -> Status {
        let s = self.chains.len() as f64;
        let mut proposals = Counter::default();
        self.chains.iter().for_each(|c| proposals.add(&c.proposals));
        Status {
            log_joint: self.chains.iter().map(|c| c.chain.ln_q()).sum::<f64>() / s,
            blocks: self.chains.iter().map(|c| c.chain.z().blocks() as f64).sum::<f64>() / s,
            accept_rate: proposals.accept_rate(),
        }
    }

    fn into_traces(self) -> Vec<Trace> {
        self.chains.into_iter().map(|c| c.trace).collect()
    }
}

/// A chain with its moves and its records.
struct Runner<'t, M: Model> {
    chain: Chain<'t, M>,
    warmup: Gibbs,
    moves: Vec<Box<dyn Move<M>>>,
    trace: Trace,
    /// All proposals together, without scans, which are never rejected.
    proposals: Counter,
    row: Row,
    place: (u64, u64),
}

impl<'t, M: Model> Runner<'t, M> {
    fn new(
        target: &'t Target<M>,
        settings: &Settings,
        ensemble: usize,
        chain: usize,
    ) -> Result<Self> {
        let place = (ensemble as u64, chain as u64);
        let mut rng = Rng::new(Purpose::Start, settings.seed, place.0, place.1, 0);
        let labels = start_labels(&settings.start, target, &mut rng);
        let chain = Chain::new(target, &labels);
        let moves = settings.schedule.build(&settings.moves)?;
        Ok(Runner {
            row: Row::new(&chain.z().labels()),
            chain,
            warmup: Gibbs::default(),
            trace: Trace { counters: vec![Counter::default(); moves.len()], ..Trace::default() },
            proposals: Counter::default(),
            moves,
            place,
        })
    }

    fn iterate(&mut self, settings: &Settings, t: usize, past: Past<'_>) {
        let mut rng =
            Rng::new(Purpose::Iteration, settings.seed, self.place.0, self.place.1, t as u64);
        if t < settings.warmup {
            self.warmup.step(&mut self.chain, past, &mut rng);
        } else {
            self.scheduled(settings, past, &mut rng);
        }
        self.chain.compact();
        let labels = self.chain.z().labels();
        self.row = Row::new(&labels);
        if t >= settings.warmup {
            self.record(settings, t - settings.warmup, labels);
        }
    }

    fn scheduled(&mut self, settings: &Settings, past: Past<'_>, rng: &mut Rng) {
        let Runner { chain, moves, trace, proposals, .. } = self;
        for (((_, times), step), counter) in
            settings.schedule.moves().iter().zip(moves).zip(&mut trace.counters)
        {
            let (began, work) = (Instant::now(), chain.work());
            for _ in 0..*times {
                match step.step(chain, past, rng) {
                    Outcome::Idle => counter.idle += 1,
                    Outcome::Scanned => {
                        counter.proposed += 1;
                        counter.accepted += 1;
                        counter.probability += 1.0;
                    }
                    Outcome::Proposed { probability, accepted } => {
                        counter.proposed += 1;
                        counter.accepted += u64::from(accepted);
                        counter.probability += probability;
                        proposals.proposed += 1;
                        proposals.probability += probability;
                    }
                }
            }
            counter.seconds += began.elapsed().as_secs_f64();
            counter.work += chain.work() - work;
        }
    }

    fn record(&mut self, settings: &Settings, iteration: usize, labels: Vec<u32>) {
        let Runner { chain, trace, row, .. } = self;
        trace.log_joint.push(chain.ln_q());
        trace.blocks.push(chain.z().blocks() as u32);
        trace.largest.push(chain.z().largest());
        if settings.keep_draws.is_some_and(|thin| iteration.is_multiple_of(thin)) {
            trace.draws.push(row.clone());
        }
        if trace.best.as_ref().is_none_or(|(best, _)| chain.ln_q() > *best) {
            trace.best = Some((chain.ln_q(), labels));
        }
    }

    fn take_row(&mut self) -> Row {
        std::mem::replace(&mut self.row, Row::new(&[]))
    }
}

fn start_labels<M: Model>(start: &Start, target: &Target<M>, rng: &mut Rng) -> Vec<u32> {
    let n = target.model.n();
    match start {
        Start::One => vec![0; n],
        Start::Singletons => (0..n as u32).collect(),
        Start::Uniform(k) => (0..n).map(|_| rng.below(u64::from(*k)) as u32).collect(),
        Start::Labels(labels) => labels.clone(),
        Start::Crp => {
            // The restaurant itself: a guest sits with a random earlier guest, or at a new table.
            let alpha = target.prior.alpha();
            let mut labels: Vec<u32> = Vec::with_capacity(n);
            let mut tables = 0;
            for earlier in 0..n as u64 {
                let new = rng.uniform() * (earlier as f64 + alpha) < alpha;
                if new || earlier == 0 {
                    labels.push(tables);
                    tables += 1;
                } else {
                    labels.push(labels[rng.below(earlier) as usize]);
                }
            }
            labels
        }
    }
}
