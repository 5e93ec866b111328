//! Pairs of cells on which two past states disagree, by the root of the product of their sizes.

use super::{Disagreement, Strategy, try_to};
use crate::history::Past;
use crate::moves::Phi;
use crate::rng::Rng;

/// Between the paper's choice, which is by the product of the sizes, and that of `cells`, which is by none.
#[derive(Debug, Default)]
pub struct Sizes {
    disagreement: Disagreement,
}

impl Strategy for Sizes {
    fn draw(&mut self, past: Past<'_>, rng: &mut Rng, phi: &mut Phi) -> bool {
        try_to(phi, |phi| {
            let (za, zb) = (past.own(rng)?, past.any(rng)?);
            self.disagreement.draw_cells(za, zb, f64::sqrt, rng, &mut phi.agreed)
        })
    }
}
