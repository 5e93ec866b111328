//! What a set of vertices carries: how many they are, and their pairs with every block.

use super::links::FEW;
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
    /// Those of `touched` with one pair, two of them, and so on; and those with many. Only for a single
    /// vertex.
    pub(super) few: [Vec<Slot>; FEW],
    pub(super) many: Vec<Slot>,
    pub(super) inner: u32,
    /// Marks the members of the set while their inner pairs are counted.
    member: Vec<bool>,
}

impl PairLoad {
    pub(super) fn new(n: usize) -> Self {
        PairLoad {
            to: Vec::new(),
            touched: Vec::new(),
            few: Default::default(),
            many: Vec::new(),
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
        // Written without branches where it can be: most of the time of large networks is spent here.
        let PairLoad { to, touched, few, many, .. } = self;
        let slots_of_items = z.slots_of_items();
        let mut count = 0;
        touched.resize(to.len().min(neighbours.len()) + 1, Slot::NOWHERE);
        for &neighbour in neighbours {
            let slot = slots_of_items[neighbour as usize];
            if slot != Slot::NOWHERE {
                let pairs = &mut to[slot.index()];
                touched[count] = slot;
                count += usize::from(*pairs == 0);
                *pairs += 1;
            }
        }
        touched.truncate(count);
        few.iter_mut().for_each(Vec::clear);
        many.clear();
        for &slot in &*touched {
            few.get_mut(to[slot.index()] as usize - 1).unwrap_or(many).push(slot);
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
