//! What a set of vertices carries: how many they are, and their pairs with every block.

use super::compact::{Counts, MOST_SLOTS};
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
    /// The pairs with each of a few slots, beside all that is above or, as long as there is room for another slot,
    /// instead of `to` and `touched`.
    few: Counts,
    /// Whether few slots are to be counted like this.
    compact: bool,
}

/// One pair with a slot, and none with any other; no pair at all for a vertex that is placed nowhere. Adding such rows leaves counts in
/// registers, where adding one to a number in memory makes all who look at its neighbours wait for it.
const ONE: [Counts; 2 * MOST_SLOTS] = {
    let mut one = [[0; MOST_SLOTS]; 2 * MOST_SLOTS];
    let mut slot = 0;
    while slot < MOST_SLOTS {
        one[slot][slot] = 1;
        slot += 1;
    }
    one
};

impl PairLoad {
    pub(super) fn new(n: usize, compact: bool) -> Self {
        PairLoad {
            to: Vec::new(),
            touched: Vec::new(),
            count: 0,
            inner: 0,
            member: vec![false; n],
            few: Counts::default(),
            compact,
        }
    }

    #[inline(always)]
    pub(super) fn weigh<'a>(
        &mut self,
        items: &[Item],
        z: &Partition,
        neighbours: impl Fn(usize) -> &'a [u32],
    ) {
        match items {
            [vertex] if self.compact && z.slots() < MOST_SLOTS => {
                let mut few = Counts::default();
                for &neighbour in neighbours(vertex.index()) {
                    let one = &ONE[usize::from(z.byte_of(neighbour as usize)) % ONE.len()];
                    few.iter_mut().zip(one).for_each(|(few, one)| *few += one);
                }
                self.few = few;
                self.inner = 0;
            }
            [vertex] => {
                self.clear(z);
                for &neighbour in neighbours(vertex.index()) {
                    if let Some(slot) = z.placed_at(neighbour as usize) {
                        self.count(slot);
                    }
                }
                self.list_few(z);
            }
            _ => self.weigh_many(items, z, neighbours),
        }
    }

    /// Counts the pairs with a few slots, too.
    #[inline(always)]
    fn list_few(&mut self, z: &Partition) {
        // There may be room for more: an earlier state could have had many slots.
        if self.compact && z.slots() <= MOST_SLOTS {
            self.few = Counts::default();
            self.few.iter_mut().zip(&self.to).for_each(|(few, &pairs)| *few = pairs as u16);
        }
    }

    /// The pairs with each of a few slots.
    #[inline(always)]
    pub(super) fn with_few(&self) -> &Counts {
        &self.few
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
        self.list_few(z);
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
        self.clear(z);
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
        self.list_few(z);
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
