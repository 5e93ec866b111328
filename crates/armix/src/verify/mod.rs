//! The proof, shipped with the program: on small problems every path of every move is walked, and
//! what the move does to the exact posterior is computed, not sampled.
//!
//! For a background φ and a state z, all sequences of choices that a proposal can make are
//! enumerated. Then
//! - the probabilities of the outcomes must sum to 1 (*row sum*),
//! - no outcome may have more than one path (*paths*): else T(z* | z) is not what was computed,
//! - being led to an outcome must give the same probability as getting there (*replay*),
//! - with the acceptance rule, π(z) P(z, z*) = π(z*) P(z*, z) (*balance*),
//! - and so π P = π (*invariance*).
//!
//! A proof that cannot fail proves nothing: [`controls`] are moves that are wrong in well-known
//! ways, and must be caught.

pub mod controls;

use crate::exact;
use crate::history::{History, Row};
use crate::ladder::{self, Ladder, Rungs};
use crate::model::Model;
use crate::models::{self, Case, Visitor};
use crate::moves::metropolis::{Replay, acceptance};
use crate::moves::{Background, Kind, Options, Phi, Proposal, registry, strategies};
use crate::partition::{Item, Partition, all_partitions, canonical};
use crate::prior::{Components, PriorChoice};
use crate::rng::{Purpose, Rng};
use crate::state::{State, Target};
use crate::sweep::{Candidates, Chooser};
use serde::Serialize;
use std::collections::HashMap;

/// Larger errors than this are faults.
pub const TOLERANCE: f64 = 1e-10;

/// The largest errors that were found, and how much was looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Errors {
    /// |Σ T(z* | z) − 1|.
    pub row_sum: f64,
    /// |ln T by replay − ln T|; `None` for scans, which are never replayed.
    pub replay: Option<f64>,
    /// Outcomes that more than one path leads to; `None` for scans, where it does not matter.
    pub multiple_paths: Option<u64>,
    /// |π(z) P(z, z*) − π(z*) P(z*, z)|; `None` for scans, which need not be reversible.
    pub balance: Option<f64>,
    /// |π P − π|.
    pub invariance: f64,
    /// Backgrounds that were tried.
    pub backgrounds: u64,
    /// Paths that were walked.
    pub paths: u64,
}

impl Errors {
    /// Whether every error is within the tolerance.
    pub fn within(&self, tolerance: f64) -> bool {
        // Written so that a NaN fails.
        let fine = |error: f64| error <= tolerance;
        fine(self.row_sum)
            && self.replay.is_none_or(fine)
            && self.multiple_paths.is_none_or(|outcomes| outcomes == 0)
            && self.balance.is_none_or(fine)
            && fine(self.invariance)
    }

    fn worst(self, other: Errors) -> Errors {
        fn larger(a: Option<f64>, b: Option<f64>) -> Option<f64> {
            a.zip(b).map(|(a, b)| nan_max(a, b)).or(a).or(b)
        }
        Errors {
            row_sum: nan_max(self.row_sum, other.row_sum),
            replay: larger(self.replay, other.replay),
            multiple_paths: match (self.multiple_paths, other.multiple_paths) {
                (Some(a), Some(b)) => Some(a + b),
                (a, b) => a.or(b),
            },
            balance: larger(self.balance, other.balance),
            invariance: nan_max(self.invariance, other.invariance),
            backgrounds: self.backgrounds + other.backgrounds,
            paths: self.paths + other.paths,
        }
    }
}

/// The larger of two errors, a NaN being the largest: it must not get lost.
fn nan_max(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// Walks every path: follows a script of choices and extends it by the first candidate; `advance`
/// turns it into the script of the next path.
#[derive(Debug, Default)]
pub struct Enumerate {
    script: Vec<(usize, usize)>,
    at: usize,
}

impl Enumerate {
    /// The next path; `false` after the last.
    pub fn advance(&mut self) -> bool {
        self.at = 0;
        while let Some((choice, candidates)) = self.script.pop() {
            if choice + 1 < candidates {
                self.script.push((choice + 1, candidates));
                return true;
            }
        }
        false
    }
}

impl Chooser for Enumerate {
    fn choose(&mut self, _item: Item, candidates: &Candidates<'_>) -> Option<usize> {
        if self.at == self.script.len() {
            self.script.push((0, candidates.slots.len()));
        }
        self.at += 1;
        Some(self.script[self.at - 1].0)
    }
}

/// A small problem with its exact posterior.
pub struct Problem<M: Model> {
    target: Target<M>,
    labels: Vec<Vec<u32>>,
    states: Vec<State<M>>,
    index: HashMap<Vec<u32>, usize>,
    posterior: Vec<f64>,
}

impl<M: Model> Problem<M> {
    /// The posterior of a target, enumerated.
    pub fn new(target: Target<M>) -> Self {
        let rows = exact::posterior(&target).expect("a small problem");
        let labels: Vec<Vec<u32>> = rows.iter().map(|r| r.labels.clone()).collect();
        Problem {
            index: labels.iter().cloned().zip(0..).collect(),
            posterior: rows.iter().map(|r| r.probability).collect(),
            states: labels.iter().map(|z| State::from_labels(&target, z)).collect(),
            labels,
            target,
        }
    }

    /// The model's own example with n items.
    pub fn example(case: &Case<M>, n: usize) -> Self {
        Problem::new(Target::new((case.example)(n), 1.3).expect("an example is valid"))
    }

    /// `None` if the constraints do not allow z.
    fn index_of(&self, z: &Partition) -> Option<usize> {
        self.index.get(&z.labels()).copied()
    }

    /// All ways in which `walk` can change a state: (outcome, ln probability) of every path. The probability
    /// of a path that ends before its time, because no candidate is allowed, is given as 0.
    fn paths(
        &self,
        from: &State<M>,
        mut walk: impl FnMut(&mut State<M>, &mut dyn Chooser) -> f64,
    ) -> Vec<(Option<usize>, f64)> {
        let mut enumerate = Enumerate::default();
        let mut paths = Vec::new();
        let mut state = State::unplaced(&self.target);
        loop {
            state.copy_from(from);
            let ln_t = walk(&mut state, &mut enumerate);
            paths.push((self.index_of(state.z()), ln_t));
            if !enumerate.advance() {
                return paths;
            }
        }
    }

    /// The exact kernel of a proposal with one background.
    ///
    /// `background_back` is the background that the way back to a given state uses, if it is not φ itself, as
    /// in every move that is right.
    pub fn proposal(
        &self,
        proposal: &mut dyn Proposal<M>,
        phi: &Phi,
        background_back: Option<fn(&Phi, &[u32]) -> Phi>,
    ) -> Errors {
        let states = &self.states;
        let count = states.len();
        let mut replay = Replay::new(&self.target);
        // ln T of the ways that were replayed with φ: the way back of one state is the way there of another.
        let mut known: Vec<Vec<Option<f64>>> = vec![vec![None; count]; count];
        let mut errors = Errors {
            replay: Some(0.0),
            multiple_paths: Some(0),
            balance: Some(0.0),
            backgrounds: 1,
            ..Errors::default()
        };
        let mut kernel = vec![vec![0.0; count]; count];
        for (z, state) in states.iter().enumerate() {
            if !phi.fits(state.z()) {
                kernel[z][z] = 1.0; // nothing is proposed
                continue;
            }
            let paths = self.paths(state, |s, chooser| proposal.propose(phi, s, chooser));
            errors.paths += paths.len() as u64;
            let mut paths_to = vec![0u64; count];
            let mut sum = 0.0;
            let dead_end = paths.iter().any(|(_, there)| *there == f64::NEG_INFINITY);
            for &(outcome, there) in &paths {
                sum += there.exp();
                let Some(outcome) = outcome.filter(|_| there > f64::NEG_INFINITY) else {
                    continue; // rejected
                };
                paths_to[outcome] += 1;
                let mut way = |from: usize, to: usize, phi: &Phi| {
                    replay.ln_t(proposal, phi, &states[from], states[to].z(), f64::NEG_INFINITY)
                };
                let replayed = *known[z][outcome].get_or_insert_with(|| way(z, outcome, phi));
                errors.replay =
                    Some(nan_max(errors.replay.unwrap_or(0.0), (replayed - there).abs()));
                let back = match background_back {
                    None => *known[outcome][z].get_or_insert_with(|| way(outcome, z, phi)),
                    Some(of) => way(outcome, z, &of(phi, &self.labels[z])),
                };
                let ln_ratio = self.posterior[outcome].ln() - self.posterior[z].ln() + back - there;
                kernel[z][outcome] += there.exp() * acceptance(ln_ratio);
            }
            let missing = if dead_end { 0.0 } else { 1.0 - sum };
            errors.row_sum = nan_max(errors.row_sum, nan_max(sum - 1.0, missing));
            let several = paths_to.iter().filter(|&&p| p > 1).count() as u64;
            errors.multiple_paths = errors.multiple_paths.map(|m| m + several);
            let rejected = 1.0 - kernel[z].iter().sum::<f64>();
            kernel[z][z] += rejected;
        }
        for z in 0..count {
            for w in 0..z {
                let imbalance = self.posterior[z] * kernel[z][w] - self.posterior[w] * kernel[w][z];
                errors.balance = Some(nan_max(errors.balance.unwrap_or(0.0), imbalance.abs()));
            }
        }
        errors.invariance = self.invariance(&kernel);
        errors
    }

    /// The exact kernel of a scan without acceptance step.
    pub fn scan(&self, mut scan: impl FnMut(&mut State<M>, &mut dyn Chooser) -> f64) -> Errors {
        let mut errors = Errors { backgrounds: 1, ..Errors::default() };
        let mut kernel = vec![vec![0.0; self.states.len()]; self.states.len()];
        for (z, state) in self.states.iter().enumerate() {
            let paths = self.paths(state, &mut scan);
            errors.paths += paths.len() as u64;
            for &(outcome, ln_t) in &paths {
                // A scan that leaves what is allowed shows in the sum of its row.
                if let Some(outcome) = outcome {
                    kernel[z][outcome] += ln_t.exp();
                }
            }
            errors.row_sum = nan_max(errors.row_sum, (kernel[z].iter().sum::<f64>() - 1.0).abs());
        }
        errors.invariance = self.invariance(&kernel);
        errors
    }

    fn invariance(&self, kernel: &[Vec<f64>]) -> f64 {
        (0..self.states.len())
            .map(|w| {
                let after: f64 = self.posterior.iter().zip(kernel).map(|(p, row)| p * row[w]).sum();
                (after - self.posterior[w]).abs()
            })
            .fold(0.0, nan_max)
    }

    /// The exact kernel of a registered move, the worst over so many backgrounds that a strategy draws from a past
    /// of random states.
    pub fn with_strategy(
        &self,
        name: &str,
        strategy: &strategies::Entry,
        backgrounds: usize,
    ) -> Errors {
        let (n, units) = (self.target.model.n(), self.target.constraints.units());
        let mut rng = Rng::from_seed(Purpose::Test, n as u64);
        let mut history = History::new(u64::MAX);
        for t in 0..8 {
            let states = (0..3).map(|_| rng.below(self.states.len() as u64) as usize);
            let states: Vec<usize> = states.collect();
            let rows = states.iter().map(|&z| Row::new(&self.labels[z])).collect();
            history.remember((t, rows, states.iter().map(|&z| self.posterior[z].ln()).collect()));
        }
        let registry = registry::<M>();
        let entry = (registry.iter().find(|e| e.name == name)).expect("a registered move");
        let Kind::Proposal(Background::Past, make) = &entry.kind else {
            return Errors::default();
        };
        let mut proposals = [0, 2].map(|launch_scans| make(&Options { launch_scans }));
        let mut strategy = (strategy.make)();
        let mut worst = Errors::default();
        for _ in 0..backgrounds {
            let mut phi = Phi::new(n);
            if phi.draw(&mut *strategy, history.past(1, 8), units, &mut rng) {
                let proposal = &mut proposals[(phi.launch & 1) as usize];
                worst = worst.worst(self.proposal(&mut **proposal, &phi, None));
            }
        }
        worst
    }

    /// The exact kernel of the exchange between two rungs of a ladder, on pairs of states. It is computed for the
    /// `claimed` inverse temperatures, which are the real ones if it is right.
    pub fn exchange(&self, real: [f64; 2], claimed: [f64; 2]) -> Errors {
        let rows = real.map(|b| exact::posterior(&self.target.at(b)).expect("a small problem"));
        let energies: Vec<f64> = rows[0].iter().map(|r| self.target.ln_q(&r.labels)).collect();
        let accepted = |a: usize, b: usize| {
            let mut rungs = Rungs::new(&Ladder::Given(claimed.to_vec()));
            let round = ladder::Round { seed: 1, ensemble: 0, t: 0, lap: 0, warmup: 0 };
            rungs.exchanges(&[energies[a], energies[b]], &round);
            1.0 - rungs.rejected[0]
        };
        let p = |a: usize, b: usize| rows[0][a].probability * rows[1][b].probability;
        let mut errors = Errors { balance: Some(0.0), ..Errors::default() };
        for a in 0..energies.len() {
            for b in 0..energies.len() {
                let gain = p(b, a) * accepted(b, a) - p(a, b) * accepted(a, b);
                // A state has one way in and one way out, and these are each other's way back.
                errors.balance = Some(nan_max(errors.balance.unwrap_or(0.0), gain.abs()));
                errors.invariance = nan_max(errors.invariance, gain.abs());
                errors.paths += 1;
            }
        }
        errors
    }

    /// The exact kernel of a registered move, the worst over some backgrounds.
    pub fn registered(&self, name: &str, backgrounds: &Backgrounds) -> Errors {
        let registry = registry::<M>();
        let entry = (registry.iter().find(|e| e.name == name)).expect("a registered move");
        match &entry.kind {
            Kind::Scan(make) => {
                let mut scan = make();
                self.scan(|state, chooser| scan.scan(state, chooser))
            }
            Kind::Proposal(background, make) => {
                // Launch scans make different launch states alike, and so hide mistakes in them: half of
                // the backgrounds, at random, go without.
                let mut proposals = [0, 2].map(|launch_scans| make(&Options { launch_scans }));
                let possible = |mut phi: Phi| {
                    let constraints = &self.target.constraints;
                    let past =
                        *background == Background::Pair || constraints.allow_past(&phi.agreed);
                    (past && phi.tie(constraints.units())).then_some(phi)
                };
                (backgrounds.list(*background, self.target.model.n()).into_iter())
                    .filter_map(possible)
                    .map(|phi| {
                        let proposal = &mut proposals[(phi.launch & 1) as usize];
                        self.proposal(&mut **proposal, &phi, None)
                    })
                    .reduce(Errors::worst)
                    .unwrap_or_default()
            }
        }
    }
}

/// Which backgrounds φ are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backgrounds {
    /// All: every ordered pair, every refinement zᵃ ∨ zᵇ that parts it, every order of the items.
    /// (With n = 4 the 300 choices of i, j, zᵃ and zᵇ have 60 different i, j and zᵃ ∨ zᵇ.)
    All,
    /// A fixed random sample of so many.
    Sample(usize),
}

impl Backgrounds {
    /// The list of them, always the same.
    pub fn list(&self, kind: Background, n: usize) -> Vec<Phi> {
        let mut rng = Rng::from_seed(Purpose::Test, n as u64);
        let refinements = match kind {
            Background::Pair => vec![(0..n as u32).collect()],
            Background::Past => all_partitions(n),
        };
        let orders = permutations(n);
        let mut all = Vec::new();
        for order in &orders {
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                for agreed in refinements.iter().filter(|agreed| agreed[i] != agreed[j]) {
                    all.push((i, j, agreed, order, rng.bits()));
                }
            }
        }
        if let Backgrounds::Sample(size) = *self {
            rng.shuffle(&mut all);
            all.truncate(size);
        }
        // Only now, because with five items there are 88 800.
        let phi = |(i, j, agreed, order, launch): (usize, usize, &Vec<u32>, &Vec<Item>, u64)| {
            let mut phi = Phi::new(n);
            (phi.i, phi.j) = (Item::new(i), Item::new(j));
            phi.agreed.clone_from(agreed);
            phi.order.clone_from(order);
            phi.launch = launch;
            phi
        };
        all.into_iter().map(phi).collect()
    }
}

fn permutations(n: usize) -> Vec<Vec<Item>> {
    let mut all = vec![Vec::new()];
    for index in 0..n {
        all = (all.iter())
            .flat_map(|shorter: &Vec<Item>| {
                (0..=shorter.len()).map(move |at| {
                    let mut longer = shorter.clone();
                    longer.insert(at, Item::new(index));
                    longer
                })
            })
            .collect();
    }
    all
}

/// One line of the table that `armix verify` prints.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// The move, or what is wrong with it in a control.
    pub name: String,
    /// The model.
    pub model: &'static str,
    /// The number of items.
    pub n: usize,
    /// Whether this is a negative control, which must be caught.
    pub control: bool,
    /// What was found.
    pub errors: Errors,
    /// Whether the move is right, or the control was caught.
    pub passed: bool,
}

/// Besides the Chinese restaurant, which everything else is verified with.
const OTHER_PRIORS: [PriorChoice; 2] = [
    PriorChoice::PitmanYor { discount: 0.4 },
    PriorChoice::Mfm { gamma: 0.7, components: Components::Poisson(2.0) },
];

/// The inverse temperatures of hot targets and exchanges.
const HOT: f64 = 0.6;

/// Verifies every move with every model and prior, hot targets, exchanges, strategies, and all controls; `report` gets each line when it is done.
pub fn verify_all(report: &mut dyn FnMut(Line)) {
    struct All<'a>(&'a mut dyn FnMut(Line));
    impl Visitor for All<'_> {
        fn visit<M: Model>(&mut self, case: &Case<M>) {
            // The moves are the same for all models: every background is tried with one that looks at other blocks
            // and one that does not, some with all others.
            let (four, five, other) = match case.name {
                "bernoulli" | "irm" => (Backgrounds::All, 40, 40),
                _ => (Backgrounds::Sample(40), 10, 10),
            };
            for (n, backgrounds) in [(4, four), (5, Backgrounds::Sample(five))] {
                let problem = Problem::example(case, n);
                for entry in registry::<M>() {
                    let errors = problem.registered(entry.name, &backgrounds);
                    (self.0)(Line {
                        name: entry.name.into(),
                        model: case.name,
                        n,
                        control: false,
                        passed: errors.within(TOLERANCE),
                        errors,
                    });
                }
            }
            for choice in OTHER_PRIORS {
                let prior = choice.build(1.3, 4).expect("a valid prior");
                let problem = Problem::new(Target::with_prior((case.example)(4), prior));
                for entry in registry::<M>() {
                    let errors = problem.registered(entry.name, &Backgrounds::Sample(other));
                    (self.0)(Line {
                        name: format!("{}, prior {}", entry.name, choice.name()),
                        model: case.name,
                        n: 4,
                        control: false,
                        passed: errors.within(TOLERANCE),
                        errors,
                    });
                }
            }
            let problem = Problem::example(case, 4);
            let hot = Problem::new(problem.target.at(HOT));
            let mut exact = |name: String, errors: Errors| {
                let passed = errors.within(TOLERANCE);
                (self.0)(Line { name, model: case.name, n: 4, control: false, errors, passed });
            };
            for entry in registry::<M>() {
                let errors = hot.registered(entry.name, &Backgrounds::Sample(other));
                exact(format!("{}, hot", entry.name), errors);
            }
            for strategy in strategies::registry() {
                let errors = problem.with_strategy("arm", &strategy, five);
                exact(format!("arm:{}", strategy.name), errors);
            }
            exact("exchange".into(), problem.exchange([1.0, HOT], [1.0, HOT]));
            for (name, errors) in controls::all(&problem) {
                (self.0)(Line {
                    name: name.into(),
                    model: case.name,
                    n: 4,
                    control: true,
                    passed: !errors.within(TOLERANCE) && errors.invariance > TOLERANCE,
                    errors,
                });
            }
        }
    }
    models::visit_all(&mut All(report));
}

/// Labels of a ∨ b, the plain way.
pub(crate) fn refine_naive(a: &[u32], b: &[u32]) -> Vec<u32> {
    let pairs: Vec<(u32, u32)> = a.iter().copied().zip(b.iter().copied()).collect();
    let first = |p: &(u32, u32)| pairs.iter().position(|q| q == p).unwrap_or(0) as u32;
    canonical(&pairs.iter().map(first).collect::<Vec<_>>())
}
