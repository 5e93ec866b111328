//! One past state of the chain itself and one of a chain close to it on the ladder.

use super::{Disagreement, Strategy, try_to};
use crate::history::Past;
use crate::moves::Phi;
use crate::rng::Rng;

/// Chains so many places away are close. They come in the order of their rungs.
const REACH: usize = 2;

/// On a long ladder most chains are much hotter or colder, and cells on which their states agree with those of this one are
/// small: little of what is proposed is accepted. What hotter chains find comes down rung by rung. Without a ladder
/// chains have no order, and `uniform` is the better choice.
#[derive(Debug, Default)]
pub struct Near {
    disagreement: Disagreement,
}

impl Strategy for Near {
    fn draw(&mut self, past: Past<'_>, rng: &mut Rng, phi: &mut Phi) -> bool {
        try_to(phi, |phi| {
            let (za, zb) = (past.own(rng)?, past.near(REACH, rng)?);
            self.disagreement.draw(za, zb, rng, &mut phi.agreed)
        })
    }
}
