//! One chain with its moves and its records.

use crate::checkpoint::ChainCheckpoint;
use crate::compare::variation_of_information;
use crate::error::{Error, Result};
use crate::history::{Past, Row};
use crate::hyper::Hyper;
use crate::model::Model;
use crate::moves::gibbs::Gibbs;
use crate::moves::hypers::sample_hypers;
use crate::moves::{Chain, Move, Outcome, Scan};
use crate::partition::Partition;
use crate::rng::{Purpose, Rng};
use crate::run::{Counter, Settings, Start, Trace};
use crate::state::Target;
use crate::sweep::Sample;
use crate::tuning::{Achieved, Mix};
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
    /// Whether some of them are scans.
    scans: bool,
    /// How often they are made, once a schedule that tunes itself is tuned.
    pub(crate) mix: Option<Mix>,
    /// What they achieved in the last iteration, until then; else nothing.
    pub(crate) achieved: Vec<Achieved>,
    /// ln q(z) at inverse temperature 1, if somebody wants to know; else 0.
    pub(crate) energy: f64,
    place: (u64, u64),
    weighs_past: bool,
    /// The hyper-parameters now, and ln of their prior; nothing if they are not sampled.
    pub(crate) hypers: Vec<f64>,
    ln_hypers: f64,
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
        let target = match settings.sample_hyper {
            // A chain that was resumed has its target from here, too: the same tables.
            true => target.with_hypers(&start_hypers(target)),
            false => target.clone(),
        };
        Runner::with(Chain::new(&target, &labels), settings, place)
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
        let sampled = if settings.sample_hyper { target.hypers() } else { Vec::new() };
        let fits = |(hyper, value): (&Hyper, &f64)| hyper.prior.support().contains(value);
        if sampled.len() != saved.hypers.len() || !sampled.iter().zip(&saved.hypers).all(fits) {
            return Err(Error::new(
                "the checkpoint is damaged: its hyper-parameters are not those of the run",
            ));
        }
        let target = match settings.sample_hyper {
            true => target.with_hypers(&saved.hypers),
            false => target.clone(),
        };
        let chain = Chain::from_partition(&target, &z).with_parameters(saved.parameters);
        let chain = chain.ok_or_else(|| {
            Error::new("the checkpoint is damaged: saved parameters are not those of the blocks")
        })?;
        let mut runner = Runner::with(chain, settings, place)?;
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
        let mut runner = Runner {
            hypers: Vec::new(),
            ln_hypers: 0.0,
            row: Row::new(&labels),
            labels,
            label_of: Vec::new(),
            chain,
            trace: Trace { counters: counters.clone(), ..Trace::default() },
            proposals: Counter::default(),
            last: counters,
            warmup: Gibbs::default(),
            mix: None,
            achieved: Vec::new(),
            energy: 0.0,
            weighs_past: settings.schedule.weighs_past(),
            scans: moves.iter().any(|m| m.is_scan()),
            moves,
            place,
        };
        if settings.sample_hyper {
            runner.note_hypers();
        }
        Ok(runner)
    }

    /// Exchanges states with another chain, but neither temperatures nor records.
    pub(crate) fn exchange(&mut self, other: &mut Self) {
        let coldness = [&*self, &*other].map(|r| r.chain.state().target().coldness);
        std::mem::swap(&mut self.chain, &mut other.chain);
        std::mem::swap(&mut self.hypers, &mut other.hypers);
        std::mem::swap(&mut self.ln_hypers, &mut other.ln_hypers);
        self.chain.set_coldness(coldness[0]);
        other.chain.set_coldness(coldness[1]);
    }

    fn note_hypers(&mut self) {
        let hypers = self.chain.state().target().hypers();
        self.ln_hypers = hypers.iter().map(|h| h.prior.ln_density(h.value)).sum();
        self.hypers.clear();
        self.hypers.extend(hypers.iter().map(|h| h.value));
    }

    /// ln of the joint density of all that is sampled, and of the data: with sampled hyper-parameters
    /// their prior is a part of it.
    pub(crate) fn log_joint(&self) -> f64 {
        self.chain.ln_q() + self.ln_hypers
    }

    /// What [`Runner::resume`] needs.
    pub(crate) fn checkpoint(&self) -> ChainCheckpoint {
        ChainCheckpoint {
            z: self.chain.z().to_parts(),
            hypers: self.hypers.clone(),
            parameters: self.chain.parameters().to_vec(),
            counters: self.trace.counters.clone(),
            proposals: self.proposals.clone(),
            best: self.trace.best.clone(),
        }
    }

    /// Makes a lap on the way from state t to state t + 1; the last one ends there.
    pub(crate) fn lap(&mut self, settings: &Settings, t: usize, lap: usize, past: Past<'_>) {
        let (ensemble, chain) = self.place;
        let laps = settings.schedule.laps();
        let lap_of_run = (t * laps + lap) as u64;
        let mut rng = Rng::new(Purpose::Iteration, settings.seed, ensemble, chain, lap_of_run);
        if lap == 0 {
            self.last.iter_mut().for_each(|counter| *counter = Counter::default());
            self.achieved.clear();
        }
        self.chain.lay_out(past, &mut rng);
        // A ladder is tuned for the moves that it is used with, and a schedule while it is used.
        let tuned = settings.schedule.is_tuned();
        if t < settings.warmup && settings.ladder.is_none() && !tuned {
            self.chain.change(|state| self.warmup.scan(state, &mut Sample(&mut rng)));
        } else {
            self.scheduled(settings, past, &mut rng);
        }
        if settings.sample_hyper {
            sample_hypers(&mut self.chain, &mut rng);
            self.note_hypers();
        }
        self.chain.compact();
        self.chain.pick_up(&mut rng);
        if lap + 1 == laps {
            self.arrive(settings, t);
        }
    }

    /// Takes down what is to be known of state t + 1.
    fn arrive(&mut self, settings: &Settings, t: usize) {
        for (sum, counter) in self.trace.counters.iter_mut().zip(&self.last) {
            sum.add(counter);
        }
        if self.weighs_past {
            self.energy = self.chain.state().ln_joint();
        }
        self.chain.z().write_labels(&mut self.labels, &mut self.label_of);
        self.row.repack(&self.labels);
        if t >= settings.warmup && self.place.1 < settings.chains as u64 {
            self.record(settings, t - settings.warmup);
        }
    }

    /// Which of the moves are scans.
    pub(crate) fn is_scan(&self) -> Vec<bool> {
        self.moves.iter().map(|m| m.is_scan()).collect()
    }

    fn scheduled(&mut self, settings: &Settings, past: Past<'_>, rng: &mut Rng) {
        let entries = settings.schedule.moves();
        match self.mix.take() {
            Some(mix) => {
                let proposals = self.tempered(mix.proposals, rng);
                (0..proposals).for_each(|_| self.make(mix.draw(rng), past, rng));
                for (entry, (_, times)) in entries.iter().enumerate() {
                    let times = if self.moves[entry].is_scan() { *times } else { 0 };
                    (0..times).for_each(|_| self.make(entry, past, rng));
                }
                self.mix = Some(mix);
            }
            None => {
                if settings.schedule.is_tuned() {
                    self.achieved.resize(entries.len(), Achieved::default());
                }
                for (entry, (_, times)) in entries.iter().enumerate() {
                    let scan = self.moves[entry].is_scan();
                    let times = if scan { *times } else { self.tempered(*times, rng) };
                    (0..times).for_each(|_| self.make(entry, past, rng));
                }
            }
        }
    }

    /// How often a chain makes a proposal that the schedule has so many times: b² times as often on average, at inverse
    /// temperature b. Scans move hot chains well enough, cold ones need the bold moves; and without scans all of them do.
    fn tempered(&self, times: usize, rng: &mut Rng) -> usize {
        let coldness = self.chain.state().target().coldness;
        if coldness == 1.0 || !self.scans {
            return times;
        }
        (times as f64 * coldness * coldness + rng.uniform()) as usize
    }

    /// Makes a move once, and counts what came of it.
    fn make(&mut self, entry: usize, past: Past<'_>, rng: &mut Rng) {
        let Runner { chain, moves, last, proposals, achieved, labels, label_of, .. } = self;
        let tuning = achieved.get_mut(entry);
        if tuning.is_some() {
            chain.z().write_labels(labels, label_of);
        }
        let (began, work) = (Instant::now(), chain.work());
        let mut counter = Counter::default();
        match moves[entry].step(chain, past, rng) {
            Outcome::Idle => counter.idle = 1,
            Outcome::Scanned => (counter.proposed, counter.accepted) = (1, 1),
            Outcome::Proposed { accepted } => {
                (counter.proposed, counter.accepted) = (1, u64::from(accepted));
                proposals.proposed += 1;
                proposals.accepted += u64::from(accepted);
            }
        }
        counter.seconds = began.elapsed().as_secs_f64();
        counter.work = chain.work() - work;
        if let Some(achieved) = tuning {
            let proposes = !moves[entry].is_scan();
            let moved = counter.accepted > 0 && proposes;
            let jump =
                if moved { variation_of_information(labels, &chain.z().labels()) } else { 0.0 };
            // A proposal looks at every item, even if it weighs nothing.
            let looked = if proposes { chain.z().n() as f64 } else { 0.0 };
            achieved.add(&Achieved { tried: 1.0, work: counter.work as f64 + looked, jump });
        }
        last[entry].add(&counter);
    }

    fn record(&mut self, settings: &Settings, iteration: usize) {
        let log_joint = self.log_joint();
        let Runner { chain, trace, row, labels, hypers, .. } = self;
        trace.log_joint.push(log_joint);
        trace.push_hypers(hypers);
        trace.blocks.push(chain.z().blocks() as u32);
        trace.largest.push(chain.z().largest());
        if settings.keep_draws.is_some_and(|thin| iteration.is_multiple_of(thin)) {
            trace.draws.push(row.clone());
        }
        match &mut trace.best {
            None => trace.best = Some((log_joint, labels.clone())),
            Some((highest, best)) if log_joint > *highest => {
                *highest = log_joint;
                best.clone_from(labels);
            }
            Some(_) => {}
        }
    }
}

/// The hyper-parameters that a chain starts from: those of the target, but where they can move.
fn start_hypers<M: Model>(target: &Target<M>) -> Vec<f64> {
    target.hypers().iter().map(|h| h.prior.clamp(h.value)).collect()
}

/// The labels that a chain starts from, which the constraints allow. Blocks with items of two sides are divided.
pub(crate) fn start_labels<M: Model>(start: &Start, target: &Target<M>, rng: &mut Rng) -> Vec<u32> {
    let mut labels = any_labels(start, target, rng);
    if let Some(sides) = target.model.sides() {
        labels.iter_mut().zip(sides).for_each(|(k, &side)| *k = 2 * *k + u32::from(side));
    }
    target.constraints.enforce(&mut labels);
    labels
}

fn any_labels<M: Model>(start: &Start, target: &Target<M>, rng: &mut Rng) -> Vec<u32> {
    let n = target.model.n();
    match start {
        Start::One => vec![0; n],
        Start::Singletons => (0..n as u32).collect(),
        Start::Uniform(k) => (0..n).map(|_| rng.below(u64::from(*k)) as u32).collect(),
        Start::Labels(labels) => labels.clone(),
        Start::Prior => target.prior.rules().draw(rng),
    }
}
