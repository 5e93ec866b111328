//! What a set of vertices carries: how many they are, and their pairs with every block.

use super::links::Lanes;
use crate::partition::{Item, Partition, Slot};

/// How many vertices there are in the set, and their linked and hidden pairs.
#[derive(Debug)]
pub struct VertexLoad {
    pub(super) m: u32,
    pub(super) linked: PairLoad,
    /// Pairs that were not observed.
    pub(super) hidden: PairLoad,
    /// Room for gains.
    pub(super) sums: Vec<Lanes>,
}

/// The pairs of one kind that a set of vertices has with every block, and among themselves.
#[derive(Debug)]
pub(super) struct PairLoad {
    /// By slot; zero except in the slots of `touched`.
    to: Vec<u32>,
    /// As long as `to`, so that there is always room; the first `count` are meant.
    touched: Vec<Slot>,
    count: usize,
    pub(super) inner: u32,
    /// Marks the members of the set while their inner pairs are counted.
    member: Vec<bool>,
}

impl PairLoad {
    pub(super) fn new(n: usize) -> Self {
        PairLoad { to: Vec::new(), touched: Vec::new(), count: 0, inner: 0, member: vec![false; n] }
    }

    #[inline(always)]
    pub(super) fn weigh<'a>(
        &mut self,
        items: &[Item],
        z: &Partition,
        neighbours: impl Fn(usize) -> &'a [u32],
    ) {
        self.clear(z);
        match items {
            [vertex] => {
                for &neighbour in neighbours(vertex.index()) {
                    if let Some(slot) = z.placed_at(neighbour as usize) {
                        self.count(slot);
                    }
                }
            }
            _ => self.weigh_many(items, z, neighbours),
        }
    }

    /// Takes over what is known of the pairs.
    pub(super) fn copy(&mut self, z: &Partition, inner: u64, to: impl Fn(usize) -> u64) {
        self.clear(z);
        self.inner = inner as u32;
        for &slot in z.live() {
            let pairs = to(slot.index());
            self.to[slot.index()] = pairs as u32;
            self.touched[self.count] = slot;
            self.count += usize::from(pairs > 0);
        }
    }

    /// Makes room for all slots, without any pairs.
    #[inline(always)]
    fn clear(&mut self, z: &Partition) {
        if self.to.len() <= 4 * self.count {
            self.to.fill(0);
        } else {
            for slot in &self.touched[..self.count] {
                self.to[slot.index()] = 0;
            }
        }
        self.count = 0;
        // One more, for a new block; and one more to write to, for the list.
        if self.to.len() <= z.slots() {
            self.to.resize(z.slots() + 1, 0);
            self.touched.resize(z.slots() + 2, Slot::NOWHERE);
        }
        self.inner = 0;
    }

    fn weigh_many<'a>(
        &mut self,
        items: &[Item],
        z: &Partition,
        neighbours: impl Fn(usize) -> &'a [u32],
    ) {
        items.iter().for_each(|i| self.member[i.index()] = true);
        for item in items {
            for &neighbour in neighbours(item.index()) {
                if let Some(slot) = z.placed_at(neighbour as usize) {
                    self.count(slot);
                } else if self.member[neighbour as usize] {
                    self.inner += 1; // seen from both ends, halved below
                }
            }
        }
        items.iter().for_each(|i| self.member[i.index()] = false);
        self.inner /= 2;
    }

    /// Counts a pair. Without a branch, because nothing can foresee which pair is the first of a block.
    #[inline(always)]
    fn count(&mut self, slot: Slot) {
        let pairs = &mut self.to[slot.index()];
        self.touched[self.count] = slot;
        self.count += usize::from(*pairs == 0);
        *pairs += 1;
    }

    /// The blocks with at least one pair.
    #[inline(always)]
    pub(super) fn touched(&self) -> &[Slot] {
        &self.touched[..self.count]
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
