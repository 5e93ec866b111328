//! Uniform over the pairs of cells on which two past states disagree.

use super::{Disagreement, Strategy, try_to};
use crate::history::Past;
use crate::moves::Phi;
use crate::rng::Rng;

/// The past states of the paper, but a cell of one item is chosen as often as one of a hundred: what is small is
/// tried more often.
#[derive(Debug, Default)]
pub struct Cells {
    disagreement: Disagreement,
}

impl Strategy for Cells {
    fn draw(&mut self, past: Past<'_>, rng: &mut Rng, phi: &mut Phi) -> bool {
        try_to(phi, |phi| {
            let (za, zb) = (past.own(rng)?, past.any(rng)?);
            self.disagreement.draw_cells(za, zb, |_size| 1.0, rng, &mut phi.agreed)
        })
    }
}
