//! The one acceptance rule, for every proposal.

use super::{Move, Outcome, Phi, Proposal, Strategy};
use crate::history::Past;
use crate::model::Model;
use crate::partition::{Comparer, Partition, Slot};
use crate::rng::Rng;
use crate::state::{State, Target};
use crate::sweep::{Follow, Sample};
use std::sync::Arc;

/// A chain: its state with ln q, and room for a proposal and for the way back from it.
pub struct Chain<M: Model> {
    state: State<M>,
    ln_q: f64,
    proposed: State<M>,
    replay: Replay<M>,
    /// Of the blocks, in models that have any; empty until they were picked up.
    parameters: Vec<f64>,
}

impl<M: Model> Chain<M> {
    /// A chain that starts from these labels.
    pub fn new(target: &Target<M>, labels: &[u32]) -> Self {
        Chain::in_state(target, State::from_labels(target, labels))
    }

    /// A chain that goes on from a partition, slot numbers kept.
    pub fn from_partition(target: &Target<M>, z: &Partition) -> Self {
        Chain::in_state(target, State::from_partition(target, z))
    }

    fn in_state(target: &Target<M>, state: State<M>) -> Self {
        Chain {
            ln_q: state.ln_q(),
            proposed: State::unplaced(target),
            replay: Replay::new(target),
            parameters: Vec::new(),
            state,
        }
    }

    /// The state.
    pub fn state(&self) -> &State<M> {
        &self.state
    }

    /// The same chain with the parameters that it kept; `None` if they are not those of its blocks.
    pub fn with_parameters(mut self, parameters: Vec<f64>) -> Option<Self> {
        let length = self.z().blocks() * self.state.target().model.reals_per_block();
        let fits = parameters.is_empty() || parameters.len() == length;
        self.parameters = parameters;
        fits.then_some(self)
    }

    /// The parameters of the blocks, as [`Model::pick_up`] has left them.
    pub fn parameters(&self) -> &[f64] {
        &self.parameters
    }

    /// Begins an iteration: if the model has parameters that it cannot integrate out, it lays out what the
    /// moves need instead of them, informed by two past states.
    pub fn lay_out(&mut self, past: Past<'_>, rng: &mut Rng) {
        let model = &self.state.target().model;
        if model.reals_per_block() == 0 {
            return;
        }
        // At the start there are no parameters that could be spoiled by looking at z.
        let start = self.parameters.is_empty();
        let past = if start { vec![self.z().labels()] } else { past.draw_two(rng) };
        let coldness = self.state.target().coldness;
        let uniform = &mut || rng.uniform();
        let laid_out = model.lay_out(self.z(), &self.parameters, &past, coldness, uniform);
        if let Some(model) = laid_out {
            let target = Target { model: Arc::new(model), ..self.state.target().clone() };
            self.retarget(&target);
        }
    }

    /// Ends an iteration: the parameters are picked up, and ln q becomes that of them and z.
    pub fn pick_up(&mut self, rng: &mut Rng) {
        let Target { model, prior, .. } = self.state.target();
        if model.reals_per_block() > 0 {
            let uniform = &mut || rng.uniform();
            let (stats, z) = (self.state.stats(), self.state.z());
            self.ln_q = prior.ln_p(z) + model.pick_up(stats, z, &mut self.parameters, uniform);
        }
    }

    /// What the inverse temperature multiplies in ln q, between iterations: ln p(Y, z), given the parameters if there are any.
    pub fn energy(&self) -> f64 {
        let Target { model, prior, .. } = self.state.target();
        match model.reals_per_block() {
            0 => self.state.ln_joint(),
            _ => prior.ln_p(self.z()) + model.ln_given(self.z(), &self.parameters),
        }
    }

    /// Samples something else from now on: the same data with other hyper-parameters, or another
    /// prior. The partition stays, with its slot numbers.
    pub fn retarget(&mut self, target: &Target<M>) {
        self.state.retarget(target);
        self.ln_q = self.state.ln_q();
    }

    /// Goes on at another inverse temperature.
    pub fn set_coldness(&mut self, coldness: f64) {
        let target = self.state.target().at(coldness);
        self.retarget(&target);
    }

    /// The partition.
    pub fn z(&self) -> &Partition {
        self.state.z()
    }

    /// ln q of the partition: the log joint, together with parameters if there are any.
    pub fn ln_q(&self) -> f64 {
        self.ln_q
    }

    /// Candidates weighed so far.
    pub fn work(&self) -> u64 {
        self.state.work() + self.proposed.work() + self.replay.state.work()
    }

    /// Changes the state in a way that needs no acceptance.
    pub fn change<T>(&mut self, change: impl FnOnce(&mut State<M>) -> T) -> T {
        let result = change(&mut self.state);
        self.ln_q = self.state.ln_q();
        result
    }

    /// Lets the state renumber its slots when there are many more of them than blocks.
    pub fn compact(&mut self) {
        if self.state.compact() {
            self.ln_q = self.state.ln_q(); // the same sum in another order
        }
    }
}

/// Finds the probability of the way from one state to another.
pub struct Replay<M: Model> {
    state: State<M>,
    slot_of_block: Vec<Slot>,
    comparer: Comparer,
}

impl<M: Model> Replay<M> {
    /// A replay for states of this target.
    pub fn new(target: &Target<M>) -> Self {
        Replay {
            state: State::unplaced(target),
            slot_of_block: Vec::new(),
            comparer: Comparer::default(),
        }
    }

    /// ln T_φ(to | from): runs the proposal from `from`, forced to end in `to`. −∞ if it cannot, or if it
    /// turns out on the way that the result will be below `floor`.
    pub fn ln_t(
        &mut self,
        proposal: &mut dyn Proposal<M>,
        phi: &Phi,
        from: &State<M>,
        to: &Partition,
        floor: f64,
    ) -> f64 {
        if floor > 0.0 {
            return f64::NEG_INFINITY;
        }
        self.state.copy_from(from);
        let mut follow = Follow::new(to, &mut self.slot_of_block, floor);
        let ln_t = proposal.propose(phi, &mut self.state, &mut follow);
        if ln_t > f64::NEG_INFINITY && self.comparer.same(self.state.z(), to) {
            ln_t
        } else {
            f64::NEG_INFINITY
        }
    }
}

/// min(1, ratio), from ln of the ratio q(z*) T(z|z*) / (q(z) T(z*|z)) (eq. acceptrate). What is not
/// a number is not accepted.
pub fn acceptance(ln_ratio: f64) -> f64 {
    if ln_ratio >= 0.0 {
        1.0
    } else if ln_ratio.is_nan() {
        0.0
    } else {
        libm::exp(ln_ratio)
    }
}

/// A proposal made into a move by the Metropolis-Hastings rule (eq. acceptrate).
pub struct Metropolis<M: Model> {
    strategy: Box<dyn Strategy>,
    phi: Phi,
    proposal: Box<dyn Proposal<M>>,
}

impl<M: Model> Metropolis<M> {
    /// The move that draws φ and accepts or rejects what the proposal makes of it.
    pub fn new(strategy: Box<dyn Strategy>, proposal: Box<dyn Proposal<M>>) -> Self {
        Metropolis { strategy, phi: Phi::new(0), proposal }
    }
}

impl<M: Model> Move<M> for Metropolis<M> {
    fn step(&mut self, chain: &mut Chain<M>, past: Past<'_>, rng: &mut Rng) -> Outcome {
        if self.phi.order.len() != chain.z().n() {
            self.phi = Phi::new(chain.z().n());
        }
        // φ is drawn without looking at the current state.
        let drawn = self.phi.draw(&mut *self.strategy, past, chain.state.units(), rng);
        if !drawn || !self.phi.fits(chain.z()) {
            return Outcome::Idle;
        }
        let Chain { state, ln_q, proposed, replay, .. } = chain;
        proposed.copy_from(state);
        let there = self.proposal.propose(&self.phi, proposed, &mut Sample(rng));
        let ln_q_proposed = proposed.ln_q();
        if there == f64::NEG_INFINITY || ln_q_proposed == f64::NEG_INFINITY {
            return Outcome::Proposed { accepted: false }; // against the constraints
        }
        // The proposal will be accepted if the probability of the way back is high enough. Often it is
        // clear after a few steps that it is not, and then there is no need to go all of it.
        let uniform = rng.uniform();
        let floor = libm::log(uniform) - (ln_q_proposed - *ln_q - there);
        let back = replay.ln_t(&mut *self.proposal, &self.phi, proposed, state.z(), floor);
        let accepted = uniform < acceptance(ln_q_proposed - *ln_q + back - there);
        if accepted {
            std::mem::swap(state, proposed);
            *ln_q = ln_q_proposed;
        }
        Outcome::Proposed { accepted }
    }
}
