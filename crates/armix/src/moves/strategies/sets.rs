//! Two sets of items are parted or joined, instead of two items.

use super::{Strategy, uniform::Uniform};
use crate::history::Past;
use crate::moves::Phi;
use crate::rng::Rng;

/// i and j as in the paper, but all of their cells of zᵃ ∨ zᵇ take part: each of these two sets stays together in this move.
///
/// Valid because it is only tried in states that have each of the two sets in one block, and leads to such states
/// alone. Elsewhere it does nothing.
#[derive(Debug, Default)]
pub struct Sets(Uniform);

impl Strategy for Sets {
    fn draw(&mut self, past: Past<'_>, rng: &mut Rng, phi: &mut Phi) -> bool {
        phi.sets = true;
        self.0.draw(past, rng, phi)
    }
}
