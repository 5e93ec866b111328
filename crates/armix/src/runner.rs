//! One chain with its moves and its records.

use crate::checkpoint::ChainCheckpoint;
use crate::error::{Error, Result};
use crate::history::{Past, Row};
use crate::model::Model;
use crate::moves::gibbs::Gibbs;
use crate::moves::{Chain, Move, Outcome, Scan};
use crate::partition::Partition;
use crate::rng::{Purpose, Rng};
use crate::run::{Counter, Settings, Start, Trace};
use crate::state::Target;
use crate::sweep::Sample;
use std::time::Instant;

/// A chain that makes iterations and keeps records of them.
pub(crate) struct Runner<M: Model> {
    pub(crate) chain: Chain<M>,
    pub(crate) trace: Trace,
    /// All proposals together, without scans, which are never rejected.
    pub(crate) proposals: Counter,
    /// What the entries of the schedule did in the last iteration.
    pub(crate) last: Vec<Counter>,
    /// The labels after the last iteration.
    pub(crate) row: Row,
    /// The same unpacked, and room to find them.
    labels: Vec<u32>,
    label_of: Vec<u32>,
    warmup: Gibbs,
    moves: Vec<Box<dyn Move<M>>>,
    place: (u64, u64),
}

impl<M: Model> Runner<M> {
    /// A chain at its start.
    pub(crate) fn new(
        target: &Target<M>,
        settings: &Settings,
        place: (usize, usize),
    ) -> Result<Self> {
        let place = (place.0 as u64, place.1 as u64);
        let mut rng = Rng::new(Purpose::Start, settings.seed, place.0, place.1, 0);
        let labels = start_labels(&settings.start, target, &mut rng);
        Runner::with(Chain::new(target, &labels), settings, place)
    }

    /// A chain that was saved.
    pub(crate) fn resume(
        target: &Target<M>,
        settings: &Settings,
        place: (usize, usize),
        saved: ChainCheckpoint,
        trace: Trace,
    ) -> Result<Self> {
        let z = Partition::from_parts(saved.z).filter(|z| z.n() == target.model.n());
        let z = z.ok_or_else(|| {
            Error::new("the checkpoint is damaged: a saved state is no partition of the data")
        })?;
        let place = (place.0 as u64, place.1 as u64);
        let mut runner = Runner::with(Chain::from_partition(target, &z), settings, place)?;
        if saved.counters.len() != runner.moves.len() {
            return Err(Error::new(
                "the checkpoint is damaged: it does not fit the schedule of the run",
            ));
        }
        runner.proposals = saved.proposals;
        runner.trace = Trace { best: saved.best, counters: saved.counters, ..trace };
        Ok(runner)
    }

    fn with(chain: Chain<M>, settings: &Settings, place: (u64, u64)) -> Result<Self> {
        let moves = settings.schedule.build(&settings.moves)?;
        let counters = vec![Counter::default(); moves.len()];
        let labels = chain.z().labels();
        Ok(Runner {
            row: Row::new(&labels),
            labels,
            label_of: Vec::new(),
            chain,
            trace: Trace { counters: counters.clone(), ..Trace::default() },
            proposals: Counter::default(),
            last: counters,
            warmup: Gibbs::default(),
            moves,
            place,
        })
    }

    /// What [`Runner::resume`] needs.
    pub(crate) fn checkpoint(&self) -> ChainCheckpoint {
        ChainCheckpoint {
            z: self.chain.z().to_parts(),
            counters: self.trace.counters.clone(),
            proposals: self.proposals.clone(),
            best: self.trace.best.clone(),
        }
    }

    /// Makes state t + 1 from state t.
    pub(crate) fn iterate(&mut self, settings: &Settings, t: usize, past: Past<'_>) {
        let (ensemble, chain) = self.place;
        let mut rng = Rng::new(Purpose::Iteration, settings.seed, ensemble, chain, t as u64);
        if t < settings.warmup {
            self.chain.change(|state| self.warmup.scan(state, &mut Sample(&mut rng)));
        } else {
            self.scheduled(settings, past, &mut rng);
        }
        self.chain.compact();
        self.chain.z().write_labels(&mut self.labels, &mut self.label_of);
        self.row.repack(&self.labels);
        if t >= settings.warmup {
            self.record(settings, t - settings.warmup);
        }
    }

    fn scheduled(&mut self, settings: &Settings, past: Past<'_>, rng: &mut Rng) {
        let Runner { chain, moves, last, .. } = self;
        for ((entry, step), counter) in settings.schedule.moves().iter().zip(moves).zip(last) {
            *counter = Counter::default();
            let (began, work) = (Instant::now(), chain.work());
            for _ in 0..entry.1 {
                match step.step(chain, past, rng) {
                    Outcome::Idle => counter.idle += 1,
                    Outcome::Scanned => {
                        counter.proposed += 1;
                        counter.accepted += 1;
                    }
                    Outcome::Proposed { accepted } => {
                        counter.proposed += 1;
                        counter.accepted += u64::from(accepted);
                        self.proposals.proposed += 1;
                        self.proposals.accepted += u64::from(accepted);
                    }
                }
            }
            counter.seconds = began.elapsed().as_secs_f64();
            counter.work = chain.work() - work;
        }
        for (sum, counter) in self.trace.counters.iter_mut().zip(&self.last) {
            sum.add(counter);
        }
    }

    fn record(&mut self, settings: &Settings, iteration: usize) {
        let Runner { chain, trace, row, labels, .. } = self;
        trace.log_joint.push(chain.ln_q());
        trace.blocks.push(chain.z().blocks() as u32);
        trace.largest.push(chain.z().largest());
        if settings.keep_draws.is_some_and(|thin| iteration.is_multiple_of(thin)) {
            trace.draws.push(row.clone());
        }
        match &mut trace.best {
            None => trace.best = Some((chain.ln_q(), labels.clone())),
            Some((ln_q, best)) if chain.ln_q() > *ln_q => {
                *ln_q = chain.ln_q();
                best.clone_from(labels);
            }
            Some(_) => {}
        }
    }
}

/// The labels that a chain starts from, which the constraints allow.
pub(crate) fn start_labels<M: Model>(start: &Start, target: &Target<M>, rng: &mut Rng) -> Vec<u32> {
    let n = target.model.n();
    let mut labels = match start {
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
    };
    target.constraints.enforce(&mut labels);
    labels
}
