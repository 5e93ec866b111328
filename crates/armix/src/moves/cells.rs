//! The cells of zᵃ ∨ zᵇ ∨ z: groups of items on which the two past states and the present agree.

use super::Phi;
use crate::partition::{Item, Partition, Refiner, Slot, label_count, number};
use std::cmp::Reverse;

/// The refinement c = zᵃ ∨ zᵇ ∨ z, listed as the paper processes it.
#[derive(Debug, Default)]
pub struct Cells {
    refiner: Refiner,
    slots: Vec<u32>,
    refined: Vec<u32>,
    /// Numbers of cells, by their labels in zᵃ ∨ zᵇ and z.
    numbers: Vec<u32>,
    /// Cells are numbered in the order of their first items.
    cell_of: Vec<u32>,
    is_earmark: Vec<bool>,
    /// Where each cell begins in `items`, and where the next of its items goes while they are listed.
    start: Vec<u32>,
    next: Vec<u32>,
    /// All items, cell after cell, each in the order of φ: the first is the cell's earmark.
    items: Vec<Item>,
    /// The cells by size (descending), then by number.
    sorted: Vec<(Reverse<u32>, u32)>,
}

impl Cells {
    /// Computes the cells of z.
    pub fn refine(&mut self, phi: &Phi, z: &Partition) {
        let n = phi.order.len();
        self.start.clear();
        self.start.push(0);
        // Everything in these is written below.
        self.cell_of.resize(n, 0);
        self.is_earmark.resize(n, false);
        self.items.resize(n, Item::new(0));
        self.number(phi, z);
        // Counting sort of the items by cell, each cell in the order of φ.
        self.sorted.clear();
        let mut end = 0;
        for (cell, size) in self.start[1..].iter_mut().enumerate() {
            self.sorted.push((Reverse(*size), cell as u32));
            end += *size;
            *size = end;
        }
        self.next.clone_from(&self.start);
        for &item in &phi.order {
            let place = &mut self.next[self.cell_of[item.index()] as usize];
            self.items[*place as usize] = item;
            *place += 1;
        }
        self.sorted.sort_unstable();
    }

    /// Numbers the cells, and counts their items in `start`, one place further on.
    fn number(&mut self, phi: &Phi, z: &Partition) {
        let (n, labels, slots) = (phi.order.len(), label_count(&phi.agreed), z.slots());
        // A table of all combinations if that is small; else one of the cells.
        let few = labels.saturating_mul(slots) <= 2 * n;
        let mut combinations = labels * slots;
        if !few {
            self.slots.clear();
            self.slots.extend(z.slots_of_items().iter().map(|s: &Slot| s.index() as u32));
            combinations = self.refiner.refine(&phi.agreed, &self.slots, &mut self.refined);
        }
        self.numbers.clear();
        self.numbers.resize(combinations, u32::MAX);
        let mut cells = 0;
        self.start.resize(combinations.min(n) + 1, 0);
        for item in phi.order.iter().map(|item| item.index()) {
            let label = match few {
                true => phi.agreed[item] as usize * slots + z.slots_of_items()[item].index(),
                false => self.refined[item] as usize,
            };
            let (cell, new) = number(&mut self.numbers[label], &mut cells);
            self.cell_of[item] = cell;
            self.is_earmark[item] = new;
            self.start[cell as usize + 1] += 1;
        }
        self.start.truncate(cells as usize + 1);
    }

    fn cell(&self, cell: u32) -> &[Item] {
        let cell = cell as usize;
        &self.items[self.start[cell] as usize..self.start[cell + 1] as usize]
    }

    /// c_i: the cell of an item, its earmark first.
    pub fn of(&self, item: Item) -> &[Item] {
        self.cell(self.cell_of[item.index()])
    }

    /// Whether an item is the first of its cell, if that is not the cell of i or j.
    pub fn is_earmark_of_others(&self, item: Item, phi: &Phi) -> bool {
        let cell = |item: Item| self.cell_of[item.index()];
        self.is_earmark[item.index()] & (cell(item) != cell(phi.i)) & (cell(item) != cell(phi.j))
    }

    /// All cells but those of i and j, largest first.
    pub fn others(&self, phi: &Phi) -> impl Iterator<Item = &[Item]> {
        let (ci, cj) = (self.cell_of[phi.i.index()], self.cell_of[phi.j.index()]);
        (self.sorted.iter())
            .map(|&(_, cell)| cell)
            .filter(move |&cell| cell != ci && cell != cj)
            .map(|cell| self.cell(cell))
    }
}
