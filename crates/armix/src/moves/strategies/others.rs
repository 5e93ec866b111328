//! Both past states from other chains.

use super::{Disagreement, Strategy, try_to};
use crate::history::Past;
use crate::moves::Phi;
use crate::rng::Rng;

/// What the others disagree about may be new to this chain. With a ladder, both are mostly hot. Does nothing if
/// there is one chain.
#[derive(Debug, Default)]
pub struct Others {
    disagreement: Disagreement,
}

impl Strategy for Others {
    fn draw(&mut self, past: Past<'_>, rng: &mut Rng, phi: &mut Phi) -> bool {
        try_to(phi, |phi| {
            let (za, zb) = (past.other(rng)?, past.other(rng)?);
            self.disagreement.draw(za, zb, rng, &mut phi.agreed)
        })
    }
}
