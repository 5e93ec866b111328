//! The cells of zᵃ ∨ zᵇ ∨ z: groups of items on which the two past states and the present agree.

use super::Phi;
use crate::partition::{Item, Partition, Refiner, label_count, number};
use std::cmp::Reverse;

/// The refinement c = zᵃ ∨ zᵇ ∨ z, listed as the paper processes it.
#[derive(Debug, Default)]
pub struct Cells {
    refiner: Refiner,
    slots: Vec<u32>,
    refined: Vec<u32>,
    /// Numbers of cells, by their labels in zᵃ ∨ zᵇ and z.
    numbers: Vec<u32>,
    /// For each place in the order of φ, the cell of the item there. Cells are numbered in the order of their first items, the earmarks.
    cell_at: Vec<u32>,
    /// The cells of i and j.
    seated: [u32; 2],
    /// Where each cell begins in `items`, and where the next of its items goes while they are listed.
    start: Vec<u32>,
    next: Vec<u32>,
    /// All items, cell after cell, each in the order of φ.
    items: Vec<Item>,
    /// Insiders from the front and outsiders from the back; what is between is not meant.
    singles: Vec<Item>,
    inside: usize,
    outside: usize,
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
        self.cell_at.resize(n, 0);
        self.items.resize(n, Item::new(0));
        self.singles.resize(n, Item::new(0));
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
        let opened = [z.slot_of(phi.i), z.slot_of(phi.j)];
        let (mut inside, mut outside) = (0, n);
        for (&item, &cell) in phi.order.iter().zip(&self.cell_at) {
            let place = &mut self.next[cell as usize];
            self.items[*place as usize] = item;
            // Without a branch, because nothing can foresee which items are meant.
            let first = *place == self.start[cell as usize];
            *place += 1;
            let meant = phi.leads_others(item) & !(first & self.is_swept(cell));
            let is_inside = opened.contains(&z.slot_of(item));
            self.singles[if is_inside { inside } else { outside - 1 }] = item;
            inside += usize::from(meant & is_inside);
            outside -= usize::from(meant & !is_inside);
        }
        (self.inside, self.outside) = (inside, outside);
        self.sorted.sort_unstable();
    }

    /// Numbers the cells, and counts their items in `start`, one place further on.
    fn number(&mut self, phi: &Phi, z: &Partition) {
        let (n, labels, slots) = (phi.order.len(), label_count(&phi.agreed), z.slots());
        let home = z.slots_of_items();
        // A table of all combinations if that is small; else one of the cells.
        if labels.saturating_mul(slots) <= 2 * n {
            self.number_by(phi, labels * slots, |_, item| {
                phi.agreed[item] as usize * slots + home[item].index()
            });
        } else {
            self.slots.clear();
            self.slots.extend(home.iter().map(|slot| slot.index() as u32));
            let cells = self.refiner.refine(&phi.agreed, &self.slots, &mut self.refined);
            self.number_by(phi, cells, |refined, item| refined[item] as usize);
        }
    }

    /// The same by labels, of which there are so many.
    #[inline(always)]
    fn number_by(&mut self, phi: &Phi, labels: usize, label: impl Fn(&[u32], usize) -> usize) {
        let Cells { numbers, refined, start, .. } = self;
        numbers.clear();
        numbers.resize(labels, u32::MAX);
        start.resize(labels.min(phi.order.len()) + 1, 0);
        let mut cells = 0;
        for (item, cell_at) in phi.order.iter().zip(&mut self.cell_at) {
            let label = label(refined, item.index());
            *cell_at = number(&mut numbers[label], &mut cells).0;
            start[*cell_at as usize + 1] += 1;
        }
        start.truncate(cells as usize + 1);
        self.seated = [phi.i, phi.j].map(|item| numbers[label(refined, item.index())]);
    }

    /// Whether a cell is swept. Those of i and j are seated: i and j are their earmarks, wherever they stand in the order.
    #[inline(always)]
    fn is_swept(&self, cell: u32) -> bool {
        (cell != self.seated[0]) & (cell != self.seated[1])
    }

    fn cell(&self, cell: u32) -> &[Item] {
        let cell = cell as usize;
        &self.items[self.start[cell] as usize..self.start[cell + 1] as usize]
    }

    /// c_i and c_j, the earmarks first.
    pub fn seated(&self) -> (&[Item], &[Item]) {
        (self.cell(self.seated[0]), self.cell(self.seated[1]))
    }

    /// All cells but those of i and j, largest first.
    pub fn others(&self) -> impl Iterator<Item = &[Item]> {
        (self.sorted.iter())
            .map(|&(_, cell)| cell)
            .filter(|&cell| self.is_swept(cell))
            .map(|cell| self.cell(cell))
    }

    /// All items but i and j that no others lead, in the order of φ, and whether they are earmarks of cells that are swept.
    pub fn all_singles<'a>(&'a self, phi: &'a Phi) -> impl Iterator<Item = (&'a Item, bool)> {
        let items = phi.order.iter().zip(&self.cell_at);
        let items = items.filter(|(item, _)| phi.leads_others(**item));
        items.map(|(item, &cell)| (item, self.is_swept(cell) && self.cell(cell)[0] == *item))
    }

    /// The items of z_i ∪ z_j but i, j and the earmarks of other cells, in the order of φ; none that others lead.
    pub fn insiders(&self) -> &[Item] {
        &self.singles[..self.inside]
    }

    /// The same of all other items.
    pub fn outsiders(&self) -> impl Iterator<Item = &Item> {
        self.singles[self.outside..].iter().rev()
    }
}
