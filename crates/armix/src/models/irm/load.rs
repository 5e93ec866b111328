//! What a set of vertices carries: how many they are, and their pairs with every block.

use crate::partition::{Item, Partition, Slot};

/// How many vertices there are in the set, and their linked and hidden pairs.
#[derive(Debug)]
pub struct VertexLoad {
    pub(super) m: u32,
    pub(super) linked: PairLoad,
    /// Pairs that were not observed.
    pub(super) hidden: PairLoad,
}

/// The pairs of one kind that a set of vertices has with every block, and among themselves.
#[derive(Debug)]
pub(super) struct PairLoad {
    /// By slot; zero except in the slots of `touched`.
    to: Vec<u32>,
    pub(super) touched: Vec<Slot>,
    /// Those of `touched` with one pair, and those with several. Only for a single vertex.
    pub(super) once: Vec<Slot>,
    pub(super) often: Vec<Slot>,
    pub(super) inner: u32,
    /// Marks the members of the set while their inner pairs are counted.
    member: Vec<bool>,
}

impl PairLoad {
    pub(super) fn new(n: usize) -> Self {
        PairLoad {
            to: Vec::new(),
            touched: Vec::new(),
            once: Vec::new(),
            often: Vec::new(),
            inner: 0,
            member: vec![false; n],
        }
    }

    #[inline]
    pub(super) fn weigh<'a>(
        &mut self,
        items: &[Item],
        z: &Partition,
        neighbours: impl Fn(usize) -> &'a [u32],
    ) {
        for slot in self.touched.drain(..) {
            self.to[slot.index()] = 0;
        }
        // One more, for a new block.
        if self.to.len() <= z.slots() {
            self.to.resize(z.slots() + 1, 0);
        }
        self.inner = 0;
        match items {
            [vertex] => self.weigh_one(neighbours(vertex.index()), z),
            _ => self.weigh_many(items, z, neighbours),
        }
    }

    fn weigh_one(&mut self, neighbours: &[u32], z: &Partition) {
        let slots_of_items = z.slots_of_items();
        for &neighbour in neighbours {
            let slot = slots_of_items[neighbour as usize];
            if slot != Slot::NOWHERE {
                self.count(slot);
            }
        }
        self.once.clear();
        self.often.clear();
        for &slot in &self.touched {
            let list = if self.to[slot.index()] == 1 { &mut self.once } else { &mut self.often };
            list.push(slot);
        }
    }

    fn weigh_many<'a>(
        &mut self,
        items: &[Item],
        z: &Partition,
        neighbours: impl Fn(usize) -> &'a [u32],
    ) {
        let slots_of_items = z.slots_of_items();
        items.iter().for_each(|i| self.member[i.index()] = true);
        for item in items {
            for &neighbour in neighbours(item.index()) {
                let slot = slots_of_items[neighbour as usize];
                if slot != Slot::NOWHERE {
                    self.count(slot);
                } else if self.member[neighbour as usize] {
                    self.inner += 1; // seen from both ends, halved below
                }
            }
        }
        items.iter().for_each(|i| self.member[i.index()] = false);
        self.inner /= 2;
    }

    #[inline(always)]
    fn count(&mut self, slot: Slot) {
        let pairs = &mut self.to[slot.index()];
        if *pairs == 0 {
            self.touched.push(slot);
        }
        *pairs += 1;
    }

    /// The pairs with a slot.
    #[inline(always)]
    pub(super) fn to(&self, slot: usize) -> u64 {
        u64::from(self.to[slot])
    }

    /// The pairs with a slot, or 0 without a look if there are none of this kind at all.
    #[inline(always)]
    pub(super) fn to_if<const ANY: bool>(&self, slot: usize) -> u64 {
        if ANY { self.to(slot) } else { 0 }
    }
}
