//! The statistics of the blocks, in the layout that serves best.

use super::Irm;
use super::compact::{Compact, MOST_SLOTS};
use super::links::{Between, Links};
use super::load::VertexLoad;

/// What is counted of the blocks, and what follows from it.
#[derive(Debug)]
pub enum Stats {
    /// Of few blocks of a small network.
    Few(Compact),
    /// Of any blocks of any network.
    Many(Links),
}

impl Clone for Stats {
    fn clone(&self) -> Self {
        match self {
            Stats::Few(few) => Stats::Few(few.clone()),
            Stats::Many(many) => Stats::Many(many.clone()),
        }
    }

    fn clone_from(&mut self, source: &Self) {
        match (self, source) {
            (Stats::Few(few), Stats::Few(source)) => few.clone_from(source),
            (Stats::Many(many), Stats::Many(source)) => many.clone_from(source),
            (other, source) => *other = source.clone(),
        }
    }
}

impl Between for Stats {
    #[inline(always)]
    fn size(&self, slot: usize) -> u64 {
        match self {
            Stats::Few(few) => few.size(slot),
            Stats::Many(many) => many.size(slot),
        }
    }

    #[inline(always)]
    fn linked_and_all(&self, l: usize, k: usize) -> (u64, u64) {
        match self {
            Stats::Few(few) => few.linked_and_all(l, k),
            Stats::Many(many) => many.linked_and_all(l, k),
        }
    }

    #[inline(always)]
    fn links_of(&self, load: &VertexLoad, slot: usize) -> u64 {
        match self {
            Stats::Few(few) => few.links_of(load, slot),
            Stats::Many(many) => many.links_of(load, slot),
        }
    }
}

impl Irm {
    /// Makes room for so many slots, in the other layout if there are many of them now.
    pub(super) fn make_room(&self, stats: &mut Stats, slots: usize) {
        match stats {
            Stats::Many(many) => many.grow(slots),
            Stats::Few(few) if slots <= MOST_SLOTS => few.grow(slots),
            Stats::Few(few) => {
                let mut many = self.links_from(few, few.slots());
                many.grow(slots);
                *stats = Stats::Many(many);
            }
        }
    }
}
