//! More than two past states: the cells on which four of them agree.

use super::{Disagreement, Strategy, try_to};
use crate::history::Past;
use crate::moves::Phi;
use crate::partition::Refiner;
use crate::rng::Rng;

/// Past states besides zᵃ and zᵇ.
const MORE: usize = 2;

/// i and j as in the paper, but the cells are those of zᵃ ∨ zᵇ ∨ zᶜ ∨ zᵈ: smaller, and surer to belong together. A finer
/// refinement parts i and j, too.
#[derive(Debug, Default)]
pub struct Several {
    disagreement: Disagreement,
    refiner: Refiner,
    coarser: Vec<u32>,
    labels: Vec<u32>,
}

impl Strategy for Several {
    fn draw(&mut self, past: Past<'_>, rng: &mut Rng, phi: &mut Phi) -> bool {
        let found = try_to(phi, |phi| {
            let (za, zb) = (past.own(rng)?, past.any(rng)?);
            self.disagreement.draw(za, zb, rng, &mut phi.agreed)
        });
        let Self { refiner, coarser, labels, .. } = self;
        for _ in 0..MORE {
            let Some(row) = past.any(rng).filter(|_| found) else { break };
            row.unpack(labels);
            coarser.clone_from(&phi.agreed);
            refiner.refine(coarser, labels, &mut phi.agreed);
        }
        found
    }
}
