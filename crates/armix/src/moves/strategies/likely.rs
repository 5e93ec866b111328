//! Past states that are likelier than others.

use super::{Disagreement, Strategy, try_to};
use crate::history::Past;
use crate::moves::Phi;
use crate::rng::Rng;

/// Each of zᵃ and zᵇ is the likelier of two that are drawn as in the paper. With a ladder, cold states are preferred to
/// hot ones. Only how two past states compare is used, not by how much, so that the scale of ln q does not
/// matter.
#[derive(Debug, Default)]
pub struct Likely {
    disagreement: Disagreement,
}

impl Strategy for Likely {
    fn draw(&mut self, past: Past<'_>, rng: &mut Rng, phi: &mut Phi) -> bool {
        try_to(phi, |phi| {
            let (za, zb) = (past.likely_own(rng)?, past.likely_any(rng)?);
            self.disagreement.draw(za, zb, rng, &mut phi.agreed)
        })
    }
}
