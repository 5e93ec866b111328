//! The background φ of a proposal: everything it uses that does not depend on the current state.

use super::Strategy;
use crate::constraints::Units;
use crate::history::Past;
use crate::partition::{Item, Partition};
use crate::rng::Rng;
use std::sync::Arc;

/// What a proposal wants φ to be made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Background {
    /// A pair of items.
    Pair,
    /// A pair of items that past states disagree about, and where these agree.
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
    /// Whether all of the cells of i and j in `agreed` are split or merged, and not only i and j.
    pub sets: bool,
    /// The order in which items are processed (the paper's random relabelling), each followed by those
    /// that it leads.
    pub order: Vec<Item>,
    units: Arc<Units>,
    /// Seeds what is random in a launch state.
    pub launch: u64,
}

impl Phi {
    /// A background for n items that is still to be drawn.
    pub fn new(n: usize) -> Self {
        Phi {
            i: Item::new(0),
            j: Item::new(0),
            agreed: vec![0; n],
            sets: false,
            order: (0..n).map(Item::new).collect(),
            units: Arc::default(),
            launch: 0,
        }
    }

    /// Draws all of it; `false` if there is nothing to propose.
    pub fn draw(
        &mut self,
        strategy: &mut dyn Strategy,
        past: Past<'_>,
        units: &Arc<Units>,
        rng: &mut Rng,
    ) -> bool {
        let drawn = strategy.draw(past, rng, self);
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
        match self.sets {
            false => self.units.clone_from(units),
            true => {
                let own = Arc::get_mut(&mut self.units);
                match own {
                    Some(own) => units.with_sets(&self.agreed, [self.i, self.j], own),
                    None => {
                        let mut own = Units::default();
                        units.with_sets(&self.agreed, [self.i, self.j], &mut own);
                        self.units = Arc::new(own);
                    }
                }
            }
        }
        self.units.gather(&mut self.order);
        (self.i, self.j) = (self.units.leader(self.i), self.units.leader(self.j));
        self.i != self.j
    }

    /// Whether a state has together what φ moves together; else there is nothing to propose.
    pub fn fits(&self, z: &Partition) -> bool {
        let slots = z.slots_of_items();
        let together = |item: Item| {
            let (cell, slot) = (self.agreed[item.index()], z.slot_of(item));
            self.agreed.iter().zip(slots).all(|(&c, &s)| c != cell || s == slot)
        };
        !self.sets || (together(self.i) && together(self.j))
    }

    /// What moves together with an item, which leads it; nothing if another leads the item.
    #[inline]
    pub fn unit<'a>(&'a self, item: &'a Item) -> &'a [Item] {
        self.units.led_by(item)
    }

    /// Whether an item leads others than i and j.
    #[inline]
    pub fn leads_others(&self, item: Item) -> bool {
        (self.units.leader(item) == item) & (item != self.i) & (item != self.j)
    }
}
