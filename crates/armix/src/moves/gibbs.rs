//! Gibbs sampling: every item in turn chooses among all blocks and a new one.

use super::Scan;
use crate::model::Model;
use crate::partition::Item;
use crate::rng::Rng;
use crate::state::{State, Target};
use crate::sweep::{Buffers, Chooser, Offer, Sample, Way, draw, sweep};
use std::sync::Arc;

/// One full scan; each step draws from q given all other items, so that nothing is rejected.
#[derive(Debug, Default)]
pub struct Gibbs {
    buffers: Buffers,
}

impl Gibbs {
    fn pass<M: Model, C: Chooser + ?Sized>(
        &mut self,
        state: &mut State<M>,
        chooser: &mut C,
    ) -> f64 {
        let buffers = &mut self.buffers;
        let units = Arc::clone(state.units());
        let mut way = Way::default();
        for item in (0..state.z().n()).map(Item::new) {
            match units.led_by(&item) {
                [] => {} // moved together with another
                unit => way.go(sweep(state, unit, Offer::Everything, chooser, buffers)),
            }
        }
        way.ln_t()
    }
}

impl<M: Model> Scan<M> for Gibbs {
    fn scan(&mut self, state: &mut State<M>, chooser: &mut dyn Chooser) -> f64 {
        self.pass(state, chooser)
    }

    fn sample(&mut self, state: &mut State<M>, rng: &mut Rng) {
        let Target { model, constraints, .. } = state.target();
        if !model.skips_hopeless() || !constraints.is_none() {
            self.pass(state, &mut Sample(rng));
            return;
        }
        let units = Arc::clone(state.units());
        for item in (0..state.z().n()).map(Item::new) {
            match units.led_by(&item) {
                [] => {} // moved together with another
                unit => draw(state, unit, rng, &mut self.buffers),
            }
        }
    }
}
