//! The strategy of the paper: uniform over the pairs on which two past states disagree.

use super::{Disagreement, Strategy, try_to};
use crate::history::Past;
use crate::moves::Phi;
use crate::rng::Rng;

/// zᵃ from the chain's own past, zᵇ from everybody's. Large cells have most of the pairs, so that they are
/// chosen most often.
#[derive(Debug, Default)]
pub struct Uniform {
    disagreement: Disagreement,
}

impl Strategy for Uniform {
    fn draw(&mut self, past: Past<'_>, rng: &mut Rng, phi: &mut Phi) -> bool {
        try_to(phi, |phi| {
            let (za, zb) = (past.own(rng)?, past.any(rng)?);
            self.disagreement.draw(za, zb, rng, &mut phi.agreed)
        })
    }
}
