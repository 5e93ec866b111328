//! One past state of the chain itself and one of another chain.

use super::{Disagreement, Strategy, try_to};
use crate::history::Past;
use crate::moves::Phi;
use crate::rng::Rng;

/// In the paper zᵇ may come from the chain's own past, too, as it does with one chain in eight. Does nothing if
/// there is one chain.
#[derive(Debug, Default)]
pub struct Other {
    disagreement: Disagreement,
}

impl Strategy for Other {
    fn draw(&mut self, past: Past<'_>, rng: &mut Rng, phi: &mut Phi) -> bool {
        try_to(phi, |phi| {
            let (za, zb) = (past.own(rng)?, past.other(rng)?);
            self.disagreement.draw(za, zb, rng, &mut phi.agreed)
        })
    }
}
