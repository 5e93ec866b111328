//! What moves cost: CPU time and work of each, on one chain in a given place.

use crate::ensemble::{self, Observer, View};
use crate::error::{Error, Result};
use crate::history::{History, Row};
use crate::model::Model;
use crate::moves::{Chain, Move, Options, Outcome, registry};
use crate::partition::canonical;
use crate::rng::{Purpose, Rng};
use crate::run::{Settings, Start};
use crate::runner::start_labels;
use crate::state::Target;
use serde::Serialize;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// The move that all others are compared with.
pub const REFERENCE: &str = "gibbs";
/// The ensemble that makes a past has so many chains.
pub const CHAINS: usize = 4;
/// … and takes no longer than this, unless a single iteration does.
const WARM_ENOUGH: Duration = Duration::from_secs(10);
/// … and its past keeps to so many bytes.
const PAST_BYTES: u64 = 256 << 20;
/// A past that is made up has so many iterations.
const MADE_UP: usize = 8;
/// Moves take turns so often, so that what disturbs the machine disturbs all of them alike.
const TURNS: u64 = 20;
/// Every move is applied so often at least.
const LEAST: u64 = 3;

/// CPU seconds of this thread.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn cpu_seconds() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    now.tv_sec as f64 + 1e-9 * now.tv_nsec as f64
}

/// Seconds: there is no clock of CPU time here.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn cpu_seconds() -> f64 {
    use std::sync::OnceLock;
    static BEGAN: OnceLock<Instant> = OnceLock::new();
    BEGAN.get_or_init(Instant::now).elapsed().as_secs_f64()
}

/// What the seconds are: `cpu`, or `wall` where there is no clock of CPU time.
pub const CLOCK: &str =
    if cfg!(any(target_os = "linux", target_os = "macos")) { "cpu" } else { "wall" };

/// Where moves are measured: a state, and the past that some of them need.
#[derive(Debug)]
pub struct Place {
    labels: Vec<u32>,
    history: History,
    /// The past ends before this iteration.
    now: usize,
    /// Iterations until the state was reached.
    pub iterations: usize,
}

impl Place {
    /// Where a chain is after some iterations of the default moves, fewer if they take long, with the
    /// past of its ensemble. After no iterations it is exactly the start.
    pub fn reach<M: Model>(
        target: &Target<M>,
        start: &Start,
        iterations: usize,
        seed: u64,
    ) -> Result<Self> {
        let settings = Settings {
            ensembles: 1,
            chains: CHAINS,
            iterations: iterations.max(1),
            warmup: 0,
            start: start.clone(),
            seed,
            ..Settings::default()
        };
        ensemble::check(target, &settings, CHAINS)?;
        if iterations == 0 {
            let mut rng = Rng::new(Purpose::Start, seed, 0, 0, 0);
            return Ok(Place::at(start_labels(start, target, &mut rng), seed));
        }
        let history = History::new(PAST_BYTES);
        let mut place = Place { labels: Vec::new(), history, now: 0, iterations: 0 };
        let mut keep = Keep { place: &mut place, began: Instant::now() };
        ensemble::sample(target, &settings, &mut keep)?;
        Ok(place)
    }

    /// Exactly these labels, with a past that is made up: the same partition, but with two blocks
    /// merged or one split at random in every past state.
    pub fn at(labels: Vec<u32>, seed: u64) -> Self {
        let labels = canonical(&labels);
        let mut rng = Rng::new(Purpose::Start, seed, 0, 1, 0);
        let mut history = History::new(PAST_BYTES);
        for t in 0..MADE_UP {
            history.push(t, (0..CHAINS).map(|_| disturbed(&labels, &mut rng)).collect());
        }
        Place { labels, history, now: MADE_UP, iterations: 0 }
    }

    /// The number of blocks.
    pub fn blocks(&self) -> usize {
        self.labels.iter().max().map_or(0, |&m| m as usize + 1)
    }
}

/// Keeps what the chains go through.
struct Keep<'a> {
    place: &'a mut Place,
    began: Instant,
}

impl Observer for Keep<'_> {
    fn begin(&mut self, view: &dyn View) -> Result<()> {
        self.after_round(view).map(|_| ())
    }

    fn after_round(&mut self, view: &dyn View) -> Result<ControlFlow<()>> {
        let rows: Vec<Row> =
            (0..CHAINS).map(|chain| view.record(0, chain).labels.clone()).collect();
        rows[0].unpack(&mut self.place.labels);
        self.place.history.push(view.t(), rows);
        (self.place.now, self.place.iterations) = (view.t(), view.t());
        let enough = self.began.elapsed() > WARM_ENOUGH;
        Ok(if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}

/// The partition with two blocks merged, or one split into halves.
fn disturbed(labels: &[u32], rng: &mut Rng) -> Row {
    let blocks = labels.iter().max().map_or(0, |&m| m + 1);
    let [a, b] = [(); 2].map(|()| rng.below(u64::from(blocks.max(1))) as u32);
    let change = |&label: &u32| match label == a {
        true if a != b => b,
        true if rng.below(2) == 0 => blocks,
        _ => label,
    };
    Row::new(&canonical(&labels.iter().map(change).collect::<Vec<_>>()))
}

/// What a move costs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cost {
    /// Its name.
    #[serde(rename = "move")]
    pub name: String,
    /// How often it was applied.
    pub applications: u64,
    /// Milliseconds of CPU time of one application.
    pub cpu_ms: f64,
    /// Applications in a second of CPU time.
    pub per_second: f64,
    /// Candidates weighed in one application.
    pub work: f64,
    /// Candidates weighed in a second of CPU time.
    pub work_per_second: f64,
    /// CPU time of one application in that of one Gibbs scan.
    pub to_gibbs: f64,
    /// The share of applications that had nothing to propose.
    pub idle: f64,
    /// The share of proposals that were accepted; `None` if nothing was proposed.
    pub accept_rate: Option<f64>,
    /// The mean number of blocks.
    pub blocks: f64,
    /// The number of blocks at the beginning …
    pub blocks_before: usize,
    /// … and in the end.
    pub blocks_after: usize,
}

impl Cost {
    /// Nanoseconds of CPU time of one application for each of so many items, edges or cells.
    pub fn ns_per(&self, count: usize) -> f64 {
        1e6 * self.cpu_ms / count as f64
    }
}

/// One iteration of the default moves `arm,gibbs` in Gibbs scans, if `arm` was measured.
pub fn iteration_to_gibbs(costs: &[Cost]) -> Option<f64> {
    costs.iter().find(|c| c.name == "arm").map(|arm| 1.0 + arm.to_gibbs)
}

/// Checks the names of moves among all that there are; an empty list means all of them. The Gibbs scan is always
/// among them, since the others are compared with it.
pub fn names(moves: &[(&str, &str)], wanted: &[String]) -> Result<Vec<String>> {
    let all: Vec<&str> = moves.iter().map(|(name, _)| *name).collect();
    if let Some(wrong) = wanted.iter().find(|w| !all.contains(&w.as_str())) {
        return Err(Error::new(format!(
            "there is no move '{wrong}'; the moves are {}",
            all.join(", ")
        )));
    }
    let measured =
        |name: &&str| wanted.is_empty() || *name == REFERENCE || wanted.iter().any(|w| w == name);
    Ok(all.into_iter().filter(measured).map(String::from).collect())
}

/// Applies each move for about so many seconds of CPU time, beginning in the same place, on this
/// thread. Tells before each turn of a move which it is.
pub fn measure<M: Model>(
    target: &Target<M>,
    place: &Place,
    wanted: &[String],
    seconds: f64,
    seed: u64,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Cost>> {
    if seconds.is_nan() || seconds <= 0.0 {
        return Err(Error::new("moves are measured for a time above 0 seconds, for example 0.5"));
    }
    let moves: Vec<_> = registry::<M>().iter().map(|entry| (entry.name, entry.about)).collect();
    let mut meters: Vec<Meter<M>> =
        names(&moves, wanted)?.iter().map(|name| Meter::new(target, place, name, seed)).collect();
    for turn in 1..=TURNS {
        for meter in &mut meters {
            progress(meter.name);
            let share = turn as f64 / TURNS as f64;
            meter.apply(place, share * seconds, (share * LEAST as f64).ceil() as u64);
        }
    }
    let reference = meters.iter().find(|m| m.name == REFERENCE).map_or(f64::NAN, Meter::mean);
    Ok(meters.into_iter().map(|meter| meter.cost(place, reference)).collect())
}

/// A move on a chain of its own, and what has been counted.
struct Meter<M: Model> {
    name: &'static str,
    step: Box<dyn Move<M>>,
    chain: Chain<M>,
    rng: Rng,
    applications: u64,
    seconds: f64,
    blocks: f64,
    idle: u64,
    accepted: u64,
    work_before: u64,
}

impl<M: Model> Meter<M> {
    fn new(target: &Target<M>, place: &Place, name: &str, seed: u64) -> Self {
        let (at, entry) = (registry::<M>().into_iter().enumerate())
            .find(|(_, entry)| entry.name == name)
            .expect("names are checked");
        let mut rng = Rng::new(Purpose::Iteration, seed, 0, at as u64, 0);
        let mut chain = Chain::new(target, &place.labels);
        // What models without closed form lay out in every iteration is there, and not counted; the first time is not as usual.
        let past = place.history.past(0, place.now);
        chain.lay_out(past, &mut rng);
        chain.pick_up(&mut rng);
        chain.lay_out(past, &mut rng);
        Meter {
            name: entry.name,
            step: entry.build(&Options::default()),
            work_before: chain.work(),
            chain,
            rng,
            applications: 0,
            seconds: 0.0,
            blocks: 0.0,
            idle: 0,
            accepted: 0,
        }
    }

    /// Applies the move until so many seconds and so many applications are counted in all.
    fn apply(&mut self, place: &Place, seconds: f64, least: u64) {
        let past = place.history.past(0, place.now);
        // Reading the clock takes as long as a small scan: look at it once for several of them.
        let mut together = 1;
        while self.seconds < seconds || self.applications < least {
            let began = cpu_seconds();
            for _ in 0..together {
                match self.step.step(&mut self.chain, past, &mut self.rng) {
                    Outcome::Scanned => self.accepted += 1,
                    Outcome::Idle => self.idle += 1,
                    Outcome::Proposed { accepted } => self.accepted += u64::from(accepted),
                }
                self.chain.compact();
                self.blocks += self.chain.z().blocks() as f64;
            }
            let took = cpu_seconds() - began;
            self.seconds += took;
            self.applications += together;
            if took < 1e-4 {
                together *= 2;
            }
        }
    }

    /// Mean seconds of an application.
    fn mean(&self) -> f64 {
        self.seconds / self.applications as f64
    }

    fn cost(self, place: &Place, reference: f64) -> Cost {
        let (mean, count) = (self.mean(), self.applications as f64);
        let work = (self.chain.work() - self.work_before) as f64 / count;
        let proposed = self.applications - self.idle;
        Cost {
            name: self.name.to_string(),
            applications: self.applications,
            cpu_ms: 1e3 * mean,
            per_second: 1.0 / mean,
            work,
            work_per_second: work / mean,
            to_gibbs: mean / reference,
            idle: self.idle as f64 / count,
            accept_rate: (proposed > 0).then(|| self.accepted as f64 / proposed as f64),
            blocks: self.blocks / count,
            blocks_before: place.blocks(),
            blocks_after: self.chain.z().blocks(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin;
    use crate::models::{Bernoulli, Irm};

    fn costs(place: &Place, target: &Target<Irm>, wanted: &[&str]) -> Vec<Cost> {
        let wanted: Vec<String> = wanted.iter().map(ToString::to_string).collect();
        measure(target, place, &wanted, 1e-3, 1, &mut |_| ()).unwrap()
    }

    #[test]
    fn every_move_is_measured_and_has_something_to_do() {
        let target = Target::new(Irm::new(builtin::karate(), 1.0, 1.0).unwrap(), 1.0).unwrap();
        let warm = Place::reach(&target, &Start::Prior, 20, 1).unwrap();
        let exact = Place::reach(&target, &Start::Uniform(4), 0, 1).unwrap();
        assert_eq!((warm.iterations, exact.iterations, exact.blocks()), (20, 0, 4));
        for place in [warm, exact] {
            let costs = costs(&place, &target, &[]);
            let names: Vec<&str> = costs.iter().map(|c| c.name.as_str()).collect();
            let all: Vec<&str> = registry::<Irm>().iter().map(|e| e.name).collect();
            assert_eq!(names, all);
            assert_eq!((costs[0].to_gibbs, costs[0].idle), (1.0, 0.0));
            for cost in &costs {
                assert!(cost.applications >= LEAST && cost.cpu_ms > 0.0, "{cost:?}");
                assert!(cost.idle < 1.0 && cost.work > 0.0 && cost.blocks >= 1.0, "{cost:?}");
                assert_eq!(cost.blocks_before, place.blocks());
            }
        }
    }

    #[test]
    fn moves_are_chosen_by_name_and_gibbs_is_always_there() {
        let target = Target::new(Irm::new(builtin::karate(), 1.0, 1.0).unwrap(), 1.0).unwrap();
        let place = Place::reach(&target, &Start::One, 0, 1).unwrap();
        let costs = costs(&place, &target, &["arm"]);
        assert_eq!(costs.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["gibbs", "arm"]);
        assert_eq!(iteration_to_gibbs(&costs), Some(1.0 + costs[1].to_gibbs));
        assert_eq!(iteration_to_gibbs(&costs[..1]), None);
        let error = measure(&target, &place, &["armx".into()], 1e-3, 1, &mut |_| ()).unwrap_err();
        assert!(error.to_string().contains("there is no move 'armx'; the moves are gibbs, sm"));
        for seconds in [0.0, -1.0, f64::NAN] {
            assert!(measure(&target, &place, &[], seconds, 1, &mut |_| ()).is_err());
        }
    }

    #[test]
    fn a_made_up_past_disagrees() {
        let labels = builtin::bernoulli(6, 1);
        let target = Target::new(Bernoulli::new(labels, 1.0, 1.0).unwrap(), 1.0).unwrap();
        let place = Place::at((0..100).map(|row| row / 20).collect(), 1);
        let costs = measure(&target, &place, &[], 1e-3, 1, &mut |_| ()).unwrap();
        assert!(costs.iter().all(|c| c.idle < 0.5), "{costs:?}");
        let mut rng = Rng::from_seed(Purpose::Test, 1);
        for _ in 0..20 {
            let row = disturbed(&place.labels, &mut rng).labels();
            assert_ne!(row, place.labels);
        }
    }
}
