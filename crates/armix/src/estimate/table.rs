//! How many items each block of the draws shares with each block of a partition that changes.

use super::blocks::Blocks;

/// A block of the partition that shares `count` items with a block of a draw.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shared {
    pub(super) slot: u32,
    pub(super) count: u32,
}

/// Where the cells of a block of the draws are.
#[derive(Debug, Clone, Copy)]
struct Place {
    start: usize,
    len: u32,
    weight: f64,
}

/// A sparse contingency table that follows items as they move. A block of the draws with m members
/// shares items with m blocks at most, so that its cells have a fixed place; in practice there are
/// few of them, since draws resemble estimates.
#[derive(Debug)]
pub(super) struct Table {
    places: Vec<Place>,
    cells: Vec<Shared>,
}

impl Table {
    /// The table of a partition without items.
    pub(super) fn new(blocks: &Blocks) -> Self {
        let place = |b: usize| Place { start: blocks.start(b), len: 0, weight: blocks.weight(b) };
        Table {
            places: (0..blocks.len()).map(place).collect(),
            cells: vec![Shared::default(); blocks.members_in_all()],
        }
    }

    /// The weight of a block of the draws, and its cells.
    #[inline]
    pub(super) fn row(&self, block: u32) -> (f64, &[Shared]) {
        let place = &self.places[block as usize];
        (place.weight, &self.cells[place.start..place.start + place.len as usize])
    }

    /// The number of blocks of the draws.
    pub(super) fn rows(&self) -> usize {
        self.places.len()
    }

    /// An item of this block of the draws goes into this slot, where so many others were before.
    #[inline]
    pub(super) fn put(&mut self, block: u32, slot: u32) -> u32 {
        let place = &mut self.places[block as usize];
        let end = place.start + place.len as usize;
        match self.cells[place.start..end].iter_mut().find(|cell| cell.slot == slot) {
            Some(cell) => {
                cell.count += 1;
                cell.count - 1
            }
            None => {
                self.cells[end] = Shared { slot, count: 1 };
                place.len += 1;
                0
            }
        }
    }

    /// An item of this block of the draws leaves this slot, where so many others remain.
    #[inline]
    pub(super) fn take(&mut self, block: u32, slot: u32) -> u32 {
        let place = &mut self.places[block as usize];
        let cells = &mut self.cells[place.start..place.start + place.len as usize];
        let at = cells.iter().position(|cell| cell.slot == slot).expect("it has been put there");
        cells[at].count -= 1;
        let left = cells[at].count;
        if left == 0 {
            cells[at] = cells[cells.len() - 1];
            place.len -= 1;
        }
        left
    }
}
