//! Uniform over all pairs of items; the past is not looked at.

use super::Strategy;
use crate::history::Past;
use crate::moves::Phi;
use crate::partition::Item;
use crate::rng::Rng;

/// For the moves that do without a past: `sm`, `sams`, `srm`.
#[derive(Debug, Default)]
pub struct Pair;

impl Strategy for Pair {
    fn draw(&mut self, _past: Past<'_>, rng: &mut Rng, phi: &mut Phi) -> bool {
        let n = phi.order.len() as u64;
        if n < 2 {
            return false;
        }
        let i = rng.below(n);
        let j = rng.below(n - 1);
        phi.i = Item::new(i as usize);
        phi.j = Item::new((j + u64::from(j >= i)) as usize);
        true
    }
}
