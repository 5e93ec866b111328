//! Where units are done: by several threads, each unit by one of them, and none of them twice.

use super::folder::Folder;
use super::networks::Networks;
use super::progress::Progress;
use super::size::Size;
use super::unit::{Done, Keep, Length, Problem, Unit};
use armix::data::Dataset;
use armix::ensemble::{Observer, View};
use armix::error::{Error, Result};
use armix::problem;
use armix::run::Start;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Iterations that tell how long others will take, and Gibbs iterations before them.
const TRIAL: (usize, usize) = (5, 20);

pub(crate) struct Lab {
    pub(crate) size: Size,
    /// The numbers of chains of the figure of chains.
    pub(crate) numbers: Vec<usize>,
    pub(crate) seed: u64,
    /// Where chains on networks begin.
    pub(crate) start: Start,
    pub(crate) networks: Networks,
    pub(crate) folder: Folder,
    pub(crate) threads: usize,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) datasets: Mutex<HashMap<String, Arc<Dataset>>>,
    pub(crate) finished: HashMap<String, Done>,
    /// Seconds of an iteration of ARM and of Gibbs for one chain, by kind of problem.
    pub(crate) costs: HashMap<String, (f64, f64)>,
}

impl Lab {
    fn dataset(&self, problem: &Problem) -> Result<Arc<Dataset>> {
        let key = problem.to_string();
        let known = self.datasets.lock().ok().and_then(|sets| sets.get(&key).cloned());
        if let Some(known) = known {
            return Ok(known);
        }
        let loaded = Arc::new(problem.load(&self.networks, self.seed)?);
        if let Ok(mut sets) = self.datasets.lock() {
            sets.insert(key, Arc::clone(&loaded));
        }
        Ok(loaded)
    }

    /// Finds units that were finished earlier; returns those that are still to be done.
    pub(crate) fn recall(&mut self, units: &[Unit]) -> Result<Vec<Unit>> {
        let mut todo: Vec<Unit> = Vec::new();
        for unit in units {
            if self.finished.contains_key(&unit.key()) || todo.contains(unit) {
                continue;
            }
            let fingerprint = problem::fingerprint(&*self.dataset(&unit.problem)?);
            match self.folder.load(unit, &fingerprint) {
                Some(done) => {
                    self.finished.insert(unit.key(), done);
                }
                None => todo.push(unit.clone()),
            }
        }
        Ok(todo)
    }

    /// A unit that is finished.
    pub(crate) fn done(&self, unit: &Unit) -> Result<&Done> {
        let done = self.finished.get(&unit.key());
        done.ok_or_else(|| Error::new(format!("the unit {} was not finished", unit.key())))
    }

    /// About how many seconds a unit takes. What is given the effort of ARM takes as long as ARM.
    pub(crate) fn estimate(&mut self, unit: &Unit) -> Result<f64> {
        // Data sets of one example cost the same.
        let kind = match &unit.problem {
            Problem::Example { columns, .. } => Problem::Example { columns: *columns, set: 1 },
            other => other.clone(),
        };
        let key = kind.to_string();
        if !self.costs.contains_key(&key) {
            let trial = Unit {
                family: "trial".into(),
                problem: kind,
                schedule: "arm,gibbs".into(),
                ensembles: 1,
                chains: 1,
                start: Start::Prior,
                warmup: TRIAL.1,
                length: Length::Iterations(TRIAL.0),
                restart: 1,
                seed: 1,
                keep: Keep::LogJoint(1),
            };
            let dataset = self.dataset(&trial.problem)?;
            let done = trial.perform(&dataset, TRIAL.0, &mut ())?;
            let ratio = done.effort.map_or(1.0, |effort| effort.0);
            // Time for Gibbs iterations and time for those with ARM, which are longer.
            let gibbs = done.seconds / (TRIAL.1 as f64 + ratio * TRIAL.0 as f64);
            self.costs.insert(key.clone(), (gibbs * ratio, gibbs));
        }
        let (arm, gibbs) = self.costs[&key];
        let each = if unit.schedule == "gibbs" { gibbs } else { arm };
        let iterations = match unit.length {
            Length::Iterations(iterations) => iterations as f64 * each,
            Length::SameEffort(iterations) => iterations as f64 * arm,
        };
        Ok((unit.ensembles * unit.chains) as f64 * (iterations + unit.warmup as f64 * gibbs))
    }

    /// Does units, those first whose length does not depend on others. Stops early if asked to.
    pub(crate) fn work(&mut self, units: Vec<Unit>, progress: &Progress) -> Result<()> {
        let fixed = |unit: &Unit| matches!(unit.length, Length::Iterations(_));
        let (first, second): (Vec<Unit>, Vec<Unit>) = units.into_iter().partition(fixed);
        for units in [first, second] {
            let jobs: Vec<(Unit, f64)> = (units.into_iter())
                .map(|unit| self.estimate(&unit).map(|seconds| (unit, seconds)))
                .collect::<Result<_>>()?;
            let done = self.share(jobs, progress)?;
            self.finished.extend(done.into_iter().map(|done| (done.unit.key(), done)));
            if self.stopped() {
                break;
            }
        }
        Ok(())
    }

    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Threads take unit after unit from one list.
    fn share(&self, jobs: Vec<(Unit, f64)>, progress: &Progress) -> Result<Vec<Done>> {
        let threads = self.threads.min(jobs.len());
        let jobs = Mutex::new(jobs.into_iter());
        let finished = Mutex::new(Vec::new());
        let failed = AtomicBool::new(false);
        let next = || match self.stopped() || failed.load(Ordering::Relaxed) {
            true => None,
            false => jobs.lock().ok().and_then(|mut jobs| jobs.next()),
        };
        let work = || -> Result<()> {
            while let Some((unit, seconds)) = next() {
                match self.perform(&unit, seconds, progress) {
                    Ok(Some(done)) => {
                        if let Ok(mut finished) = finished.lock() {
                            finished.push(done);
                        }
                    }
                    Ok(None) => {}
                    Err(error) => {
                        failed.store(true, Ordering::Relaxed);
                        return Err(error);
                    }
                }
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let helpers: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let own = work();
            let others = helpers.into_iter().map(|helper| {
                helper.join().unwrap_or_else(|_| Err(Error::new("a thread has failed")))
            });
            others.fold(own, Result::and)
        })?;
        finished.into_inner().map_err(|_| Error::new("a thread has failed"))
    }

    /// Does one unit and keeps it; `None` if it was stopped.
    fn perform(&self, unit: &Unit, seconds: f64, progress: &Progress) -> Result<Option<Done>> {
        let dataset = self.dataset(&unit.problem)?;
        let (iterations, enough) = match unit.length {
            Length::Iterations(iterations) => (iterations, None),
            Length::SameEffort(iterations) => {
                let target = self.effort_of_arm(unit, iterations)?;
                (target.ceil() as usize, Some(target))
            }
        };
        progress.doing(&unit.key());
        let rounds = (unit.warmup + iterations) as f64;
        let mut watch = Watch {
            stop: &self.stop,
            progress,
            each: seconds / rounds,
            left: seconds,
            unit,
            enough,
            spent: (0.0, 0.0),
        };
        let done = unit.perform(&dataset, iterations, &mut watch)?;
        progress.advance(watch.left);
        if self.stopped() {
            return Ok(None);
        }
        self.folder.save(&done)?;
        Ok(Some(done))
    }

    /// The normalised iterations of ARM: the median of its restarts, so that a pause of the machine during one of
    /// them does not decide how long the others run.
    fn effort_of_arm(&self, unit: &Unit, iterations: usize) -> Result<f64> {
        let restarts = 1..=self.size.restarts;
        let mut efforts = restarts
            .map(|restart| Unit { restart, ..unit.reference(iterations) })
            .map(|reference| Ok(self.done(&reference)?.normalised().map_or(0.0, |n| n.0)))
            .collect::<Result<Vec<f64>>>()?;
        efforts.sort_by(f64::total_cmp);
        let middle = efforts.len() / 2;
        Ok((efforts[(efforts.len() - 1) / 2] + efforts[middle]) / 2.0)
    }
}

/// Watches the rounds of a unit: shows progress, and ends it when it is asked to or has spent enough.
struct Watch<'a> {
    stop: &'a AtomicBool,
    progress: &'a Progress,
    /// Estimated seconds of a round, and of all that are left.
    each: f64,
    left: f64,
    unit: &'a Unit,
    /// Normalised iterations to spend.
    enough: Option<f64>,
    /// Seconds so far: all, and those of Gibbs scans.
    spent: (f64, f64),
}

impl Observer for Watch<'_> {
    fn after_round(&mut self, view: &dyn View) -> Result<ControlFlow<()>> {
        let step = self.each.min(self.left);
        self.left -= step;
        self.progress.advance(step);
        let mut enough = self.stop.load(Ordering::Relaxed);
        let iterations = view.t().saturating_sub(self.unit.warmup);
        if let Some(target) = self.enough.filter(|_| iterations > 0) {
            for chain in 0..self.unit.chains {
                for (name, counter) in
                    self.unit.schedule.split(',').zip(view.record(0, chain).moves)
                {
                    self.spent.0 += counter.seconds;
                    self.spent.1 += if name == "gibbs" { counter.seconds } else { 0.0 };
                }
            }
            enough |= iterations as f64 * self.spent.0 >= target * self.spent.1;
        }
        Ok(if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}
