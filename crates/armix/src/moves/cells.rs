//! The cells of zᵃ ∨ zᵇ ∨ z: groups of items on which the two past states and the present agree.

use super::Phi;
use crate::partition::{Item, Partition, Refiner, Slot, label_count, number};

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
    /// 0, and then where each cell ends in `items`; before that how many items it has, and where the next of them goes.
    ends: Vec<u32>,
    /// All items, cell after cell, each in the order of φ.
    items: Vec<Item>,
    /// Insiders from the front and outsiders from the back; what is between is not meant.
    singles: Vec<Item>,
    inside: usize,
    outside: usize,
    /// The cells by size (descending), then by number, which is in the lower half.
    sorted: Vec<u64>,
}

impl Cells {
    /// Computes the cells of z.
    pub fn refine(&mut self, phi: &Phi, z: &Partition) {
        let n = phi.order.len();
        // Everything in these is written below.
        self.cell_at.resize(n, 0);
        self.items.resize(n, Item::new(0));
        self.singles.resize(n, Item::new(0));
        self.number(phi, z);
        // Counting sort of the items by cell, each cell in the order of φ.
        let Cells { ends, sorted, items, .. } = self;
        let places = &mut ends[1..];
        sorted.clear();
        let mut end = 0;
        for (place, cell) in places.iter_mut().zip(0..) {
            let size = std::mem::replace(place, end);
            sorted.push(u64::from(!size) << 32 | cell);
            end += size;
        }
        for (&item, &cell) in phi.order.iter().zip(&self.cell_at) {
            let place = &mut places[cell as usize];
            items[*place as usize] = item;
            *place += 1;
        }
        sorted.sort_unstable();
    }

    /// Numbers the cells, counts their items in `ends`, and lists single items.
    fn number(&mut self, phi: &Phi, z: &Partition) {
        let (n, labels, slots) = (phi.order.len(), label_count(&phi.agreed), z.slots());
        let home = z.slots_of_items();
        // A table of all combinations if that is small; else one of the cells.
        if labels.saturating_mul(slots) <= 2 * n {
            self.number_by(phi, home, labels * slots, |_, item| {
                phi.agreed[item] as usize * slots + home[item].index()
            });
        } else {
            self.slots.clear();
            self.slots.extend(home.iter().map(|slot| slot.index() as u32));
            let cells = self.refiner.refine(&phi.agreed, &self.slots, &mut self.refined);
            self.number_by(phi, home, cells, |refined, item| refined[item] as usize);
        }
    }

    /// The same by labels, of which there are so many.
    #[inline(always)]
    fn number_by(
        &mut self,
        phi: &Phi,
        home: &[Slot],
        labels: usize,
        label: impl Fn(&[u32], usize) -> usize,
    ) {
        let Cells { numbers, refined, ends, singles, .. } = self;
        numbers.clear();
        numbers.resize(labels, u32::MAX);
        ends.clear();
        ends.resize(labels.min(phi.order.len()) + 1, 0);
        let seated = [phi.i, phi.j].map(|item| label(refined, item.index()));
        let opened = [phi.i, phi.j].map(|item| home[item.index()]);
        let (mut cells, mut inside, mut outside) = (0, 0, phi.order.len());
        for (&item, cell_at) in phi.order.iter().zip(&mut self.cell_at) {
            let label = label(refined, item.index());
            let (cell, first) = number(&mut numbers[label], &mut cells);
            *cell_at = cell;
            ends[cell as usize + 1] += 1;
            // Without a branch, because nothing can foresee which items are meant.
            let earmark = first & !seated.contains(&label);
            let meant = phi.leads_others(item) & !earmark;
            let is_inside = opened.contains(&home[item.index()]);
            singles[if is_inside { inside } else { outside - 1 }] = item;
            inside += usize::from(meant & is_inside);
            outside -= usize::from(meant & !is_inside);
        }
        ends.truncate(cells as usize + 1);
        self.seated = seated.map(|label| numbers[label]);
        (self.inside, self.outside) = (inside, outside);
    }

    /// Whether a cell is swept. Those of i and j are seated: i and j are their earmarks, wherever they stand in the order.
    #[inline(always)]
    fn is_swept(&self, cell: u32) -> bool {
        (cell != self.seated[0]) & (cell != self.seated[1])
    }

    fn cell(&self, cell: u32) -> &[Item] {
        let cell = cell as usize;
        &self.items[self.ends[cell] as usize..self.ends[cell + 1] as usize]
    }

    /// c_i and c_j, the earmarks first.
    pub fn seated(&self) -> (&[Item], &[Item]) {
        (self.cell(self.seated[0]), self.cell(self.seated[1]))
    }

    /// All cells but those of i and j, largest first.
    pub fn others(&self) -> impl Iterator<Item = &[Item]> {
        (self.sorted.iter())
            .map(|&size_and_cell| size_and_cell as u32)
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
