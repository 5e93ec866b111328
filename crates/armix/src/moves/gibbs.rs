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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::StudentMixture;
    use crate::models::student::StudentT;
    use crate::rng::Purpose;

    /// Scans that weigh unlikely blocks only where it matters make the choices of those that always do.
    #[test]
    fn unlikely_blocks_change_no_choice() {
        // Groups that are hard to tell apart, in a wide table: some blocks are unlikely, and some are not.
        let mut rng = Rng::from_seed(Purpose::Test, 1);
        let (n, d) = (90, 16);
        let cell = |at: usize| (at / d % 3) as f64 * 0.7 + 2.0 * rng.uniform();
        let values: Vec<f64> = (0..n * d).map(cell).collect();
        let student = StudentT::new(d, values, 4.0).expect("valid values");
        let target = Target::new(StudentMixture::new(student, 4), 1.0).expect("a valid α");
        assert!(target.model.skips_hopeless(), "else both scans go the same way");
        let labels: Vec<u32> = (0..n as u32).map(|row| row % 5).collect();
        for coldness in [1.0, 0.4] {
            let target = target.at(coldness);
            let [mut one, mut other] = [(); 2].map(|()| State::from_labels(&target, &labels));
            let [mut a, mut b] = [(); 2].map(|()| Rng::from_seed(Purpose::Test, 2));
            for _ in 0..200 {
                Gibbs::default().sample(&mut one, &mut a);
                Scan::scan(&mut Gibbs::default(), &mut other, &mut Sample(&mut b));
                assert_eq!(one.z().labels(), other.z().labels());
                assert_eq!((one.work(), a.uniform()), (other.work(), b.uniform()));
            }
            assert_ne!(one.z().labels(), labels);
        }
    }
}
