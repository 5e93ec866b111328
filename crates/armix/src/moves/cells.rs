//! The cells of zᵃ ∨ zᵇ ∨ z: groups of items on which the two past states and the present agree.

use super::Phi;
use crate::partition::{Item, Partition, Refiner, Slot};

/// The refinement c = zᵃ ∨ zᵇ ∨ z, listed as the paper processes it.
#[derive(Debug, Default)]
pub struct Cells {
    refiner: Refiner,
    slots: Vec<u32>,
    cell_of: Vec<u32>,
    is_earmark: Vec<bool>,
    /// Where each cell begins in `items`.
    start: Vec<u32>,
    /// All items, cell after cell, each in the order of φ: the first is the cell's earmark.
    items: Vec<Item>,
    /// Cell numbers by size (descending), then by the place of their first item in φ's order.
    sorted: Vec<u32>,
}

impl Cells {
    /// Computes the cells of z.
    pub fn refine(&mut self, phi: &Phi, z: &Partition) {
        self.slots.clear();
        self.slots.extend(z.slots_of_items().iter().map(|s: &Slot| s.index() as u32));
        let count = self.refiner.refine(&phi.agreed, &self.slots, &mut self.cell_of);
        // Counting sort of the items by cell, each cell in the order of φ.
        self.start.clear();
        self.start.resize(count + 1, 0);
        for &cell in &self.cell_of {
            self.start[cell as usize + 1] += 1;
        }
        for cell in 0..count {
            self.start[cell + 1] += self.start[cell];
        }
        self.items.clear();
        self.items.resize(phi.order.len(), Item::new(0));
        self.is_earmark.clear();
        self.is_earmark.resize(phi.order.len(), false);
        self.sorted.clear();
        let mut placed = std::mem::take(&mut self.slots); // reuse: how many items of a cell are placed
        placed.clear();
        placed.resize(count, 0);
        for &item in &phi.order {
            let cell = self.cell_of[item.index()] as usize;
            if placed[cell] == 0 {
                self.sorted.push(cell as u32); // in the order of first items
                self.is_earmark[item.index()] = true;
            }
            self.items[(self.start[cell] + placed[cell]) as usize] = item;
            placed[cell] += 1;
        }
        self.sorted.sort_by_key(|&cell| std::cmp::Reverse(placed[cell as usize]));
        self.slots = placed;
    }

    fn cell(&self, cell: u32) -> &[Item] {
        let cell = cell as usize;
        &self.items[self.start[cell] as usize..self.start[cell + 1] as usize]
    }

    /// c_i: the cell of an item, its earmark first.
    pub fn of(&self, item: Item) -> &[Item] {
        self.cell(self.cell_of[item.index()])
    }

    /// Whether an item is the first of its cell.
    pub fn is_earmark(&self, item: Item) -> bool {
        self.is_earmark[item.index()]
    }

    /// All cells but those of i and j, largest first.
    pub fn others(&self, phi: &Phi) -> impl Iterator<Item = &[Item]> {
        let (ci, cj) = (self.cell_of[phi.i.index()], self.cell_of[phi.j.index()]);
        (self.sorted.iter())
            .filter(move |&&cell| cell != ci && cell != cj)
            .map(|&cell| self.cell(cell))
    }
}
