//! The background φ of a proposal: everything it uses that does not depend on the current state.

use crate::constraints::Units;
use crate::history::{Disagreement, Past};
use crate::partition::Item;
use crate::rng::Rng;
use std::sync::Arc;

/// Where the pair i, j comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Background {
    /// Uniform over all pairs.
    Pair,
    /// Uniform over the pairs on which two past states disagree.
    Past,
}

/// φ = (i, j, zᵃ ∨ zᵇ, order, launch). Forward and reverse proposals share it.
///
/// Of the past states zᵃ and zᵇ the moves need nothing but where both agree: the cells of their
/// refinement.
#[derive(Debug, Clone)]
pub struct Phi {
    /// The pair that is split or merged.
    pub i: Item,
    /// The pair that is split or merged.
    pub j: Item,
    /// Labels of zᵃ ∨ zᵇ; i and j lie in different cells. All 0 if φ has no past.
    pub agreed: Vec<u32>,
    /// The order in which items are processed (the paper's random relabelling), each followed by those
    /// that it leads.
    pub order: Vec<Item>,
    units: Arc<Units>,
    /// Seeds what is random in a launch state.
    pub launch: u64,
    disagreement: Disagreement,
}

impl Phi {
    /// A background for n items that is still to be drawn.
    pub fn new(n: usize) -> Self {
        Phi {
            i: Item::new(0),
            j: Item::new(0),
            agreed: vec![0; n],
            order: (0..n).map(Item::new).collect(),
            units: Arc::default(),
            launch: 0,
            disagreement: Disagreement::default(),
        }
    }

    /// Draws all of it; `false` if there is nothing to propose.
    pub fn draw(
        &mut self,
        background: Background,
        past: Past<'_>,
        units: &Arc<Units>,
        rng: &mut Rng,
    ) -> bool {
        let drawn = match background {
            Background::Pair => self.draw_pair(rng),
            Background::Past => {
                match past.draw_disagreement(rng, &mut self.disagreement, &mut self.agreed) {
                    Some((i, j)) => {
                        (self.i, self.j) = (i, j);
                        true
                    }
                    None => false,
                }
            }
        };
        if drawn {
            // From the start each time: φ must not depend on what the move did before.
            self.order.iter_mut().enumerate().for_each(|(at, item)| *item = Item::new(at));
            rng.shuffle(&mut self.order);
            self.launch = rng.bits();
        }
        drawn && self.tie(units)
    }

    /// Lets tied items move together; `false` if that leaves nothing to propose.
    pub fn tie(&mut self, units: &Arc<Units>) -> bool {
        self.units.clone_from(units);
        self.units.gather(&mut self.order);
        (self.i, self.j) = (units.leader(self.i), units.leader(self.j));
        self.i != self.j
    }

    /// What moves together with an item, which leads it; nothing if another leads the item.
    pub fn unit<'a>(&'a self, item: &'a Item) -> &'a [Item] {
        self.units.led_by(item)
    }

    /// Whether an item leads others than i and j.
    pub fn leads_others(&self, item: Item) -> bool {
        self.units.leader(item) == item && item != self.i && item != self.j
    }

    fn draw_pair(&mut self, rng: &mut Rng) -> bool {
        let n = self.order.len() as u64;
        if n < 2 {
            return false;
        }
        let i = rng.below(n);
        let j = rng.below(n - 1);
        self.i = Item::new(i as usize);
        self.j = Item::new((j + u64::from(j >= i)) as usize);
        true
    }
}
