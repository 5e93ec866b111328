//! Gibbs sampling: every item in turn chooses among all blocks and a new one.

use super::{Chain, Move, Outcome};
use crate::history::Past;
use crate::model::Model;
use crate::partition::Item;
use crate::rng::Rng;
use crate::state::State;
use crate::sweep::{Buffers, Chooser, Offer, Sample, sweep};

/// One full scan; each step draws from q given all other items, so that nothing is rejected.
#[derive(Debug, Default)]
pub struct Gibbs {
    buffers: Buffers,
}

impl Gibbs {
    /// The scan itself, for any chooser; returns ln of the probability of its choices.
    pub fn scan<M: Model>(&mut self, state: &mut State<'_, M>, chooser: &mut dyn Chooser) -> f64 {
        (0..state.z().n())
            .map(|index| {
                sweep(state, &[Item::new(index)], Offer::Everything, chooser, &mut self.buffers)
            })
            .sum()
    }
}

impl<M: Model> Move<M> for Gibbs {
    fn step(&mut self, chain: &mut Chain<'_, M>, _past: Past<'_>, rng: &mut Rng) -> Outcome {
        chain.change(|state| self.scan(state, &mut Sample(rng)));
        Outcome::Scanned
    }
}
