//! The moves, one file each, and their registry.

pub mod arm;
pub mod cells;
pub mod gibbs;
pub mod hypers;
pub mod metropolis;
pub mod phi;
pub mod reconfigure;
pub mod schedule;
pub mod split_merge;
pub mod strategies;

pub use metropolis::{Chain, Metropolis};
pub use phi::{Background, Phi};
pub use schedule::Schedule;
pub use strategies::Strategy;

use crate::history::Past;
use crate::model::Model;
use crate::rng::Rng;
use crate::state::State;
use crate::sweep::{Chooser, Sample};

/// What one application of a move did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    /// A scan that needs no acceptance step.
    Scanned,
    /// There was nothing to propose: the past agrees.
    Idle,
    /// A proposal.
    Proposed {
        /// Whether it was accepted.
        accepted: bool,
    },
}

/// Something that changes the state of a chain and leaves its target invariant.
pub trait Move<M: Model>: Send {
    /// Does it once.
    fn step(&mut self, chain: &mut Chain<M>, past: Past<'_>, rng: &mut Rng) -> Outcome;

    /// Whether it needs no acceptance.
    fn is_scan(&self) -> bool {
        false
    }
}

/// A recipe of sweeps that leaves q invariant by itself, so that nothing is ever rejected.
pub trait Scan<M: Model>: Send {
    /// Changes the state and returns ln of the probability of the chooser's choices.
    fn scan(&mut self, state: &mut State<M>, chooser: &mut dyn Chooser) -> f64;

    /// The same with random choices, whose probability nobody asks for.
    fn sample(&mut self, state: &mut State<M>, rng: &mut Rng) {
        self.scan(state, &mut Sample(rng));
    }
}

/// A scan made into a move.
struct Scanned<M: Model>(Box<dyn Scan<M>>);

impl<M: Model> Move<M> for Scanned<M> {
    fn step(&mut self, chain: &mut Chain<M>, _past: Past<'_>, rng: &mut Rng) -> Outcome {
        chain.change(|state| self.0.sample(state, rng));
        Outcome::Scanned
    }

    fn is_scan(&self) -> bool {
        true
    }
}

/// A recipe of sweeps that, given a background φ, turns a state z into a proposal z*.
pub trait Proposal<M: Model>: Send {
    /// Changes the state and returns ln T_φ(z* | z): the probability of the chooser's choices, −∞
    /// if the chooser found no way.
    fn propose(&mut self, phi: &Phi, state: &mut State<M>, chooser: &mut dyn Chooser) -> f64;
}

/// How a registered move is made.
pub enum Kind<M: Model> {
    /// A scan that is always accepted.
    Scan(fn() -> Box<dyn Scan<M>>),
    /// A proposal for the acceptance rule, and the background it needs.
    Proposal(Background, fn(&Options) -> Box<dyn Proposal<M>>),
}

/// A registered move.
pub struct Entry<M: Model> {
    /// The name, everywhere.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// How it is made.
    pub kind: Kind<M>,
}

impl<M: Model> Entry<M> {
    /// The move, ready for a chain, with the strategy of the paper.
    pub fn build(&self, options: &Options) -> Box<dyn Move<M>> {
        self.build_with(options, Box::<strategies::uniform::Uniform>::default())
    }

    /// The move with another strategy, which is for moves that use the past.
    pub fn build_with(&self, options: &Options, strategy: Box<dyn Strategy>) -> Box<dyn Move<M>> {
        match self.kind {
            Kind::Scan(make) => Box::new(Scanned(make())),
            Kind::Proposal(Background::Pair, make) => {
                Box::new(Metropolis::new(Box::new(strategies::pair::Pair), make(options)))
            }
            Kind::Proposal(Background::Past, make) => {
                Box::new(Metropolis::new(strategy, make(options)))
            }
        }
    }

    /// Whether it uses the past.
    pub fn uses_past(&self) -> bool {
        matches!(self.kind, Kind::Proposal(Background::Past, _))
    }
}

/// Settings of the moves.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Options {
    /// L: restricted scans that improve the launch state of `sm` and `bsm`.
    pub launch_scans: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options { launch_scans: 5 }
    }
}

/// All moves. A move in this list is in the command line, and is verified and tested, like all
/// the others.
pub fn registry<M: Model>() -> Vec<Entry<M>> {
    use Background::{Pair, Past};
    use Kind::{Proposal, Scan};
    let entry = |name, about, kind| Entry { name, about, kind };
    vec![
        entry(
            "gibbs",
            "one item at a time, over all blocks and a new one",
            Scan(|| Box::new(gibbs::Gibbs::default())),
        ),
        entry(
            "sm",
            "split or merge two blocks by restricted Gibbs scans (Jain, Neal 2004)",
            Proposal(Pair, |o| Box::new(split_merge::SplitMerge::random_halves(o.launch_scans))),
        ),
        entry(
            "sams",
            "split or merge two blocks by allocating items one after another (Dahl 2003)",
            Proposal(Pair, |_| Box::new(split_merge::Sequential::default())),
        ),
        entry(
            "bsm",
            "sm whose launch state comes from two past states",
            Proposal(Past, |o| Box::new(split_merge::SplitMerge::past_cells(o.launch_scans))),
        ),
        entry(
            "srm",
            "reconfigure item by item around a random pair (Algorithm 2)",
            Proposal(Pair, |_| Box::new(arm::Srm::default())),
        ),
        entry(
            "sarm",
            "srm around a pair on which two past states disagree, started from their cells",
            Proposal(Past, |_| Box::new(arm::Sarm::default())),
        ),
        entry(
            "arm-inner",
            "adaptive reconfiguration as printed (Algorithm 3): cells inside move jointly",
            Proposal(Past, |_| Box::new(arm::ArmInner::default())),
        ),
        entry(
            "arm",
            "adaptive reconfiguration: cells inside and outside the two blocks move jointly",
            Proposal(Past, |_| Box::new(arm::Arm::default())),
        ),
        entry(
            "arm-cells",
            "arm without the moves of single items: only whole cells",
            Proposal(Past, |_| Box::new(arm::ArmCells::default())),
        ),
    ]
}
