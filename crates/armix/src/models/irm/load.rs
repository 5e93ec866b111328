//! What a set of vertices carries: how many they are, and their pairs with every block.

use super::compact::{Counts, MOST_SLOTS};
use super::links::Lanes;
use crate::partition::{FAR, Item, Partition, Slot};

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
    /// By slot; zero except in the slots of `touched`. As long as slots fit into a byte, pairs with what is placed nowhere are counted at
    /// [`FAR`], where they do no harm.
    to: Vec<u32>,
    /// As long as `to`, so that there is always room; the first `count` are meant.
    touched: Vec<Slot>,
    count: usize,
    pub(super) inner: u32,
    /// A bit for every vertex; all are 0 between two sets.
    member: Vec<u64>,
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

/// Whether all slots fit into a byte, also a new one that comes while the pairs are asked for.
#[inline(always)]
fn is_near(z: &Partition) -> bool {
    z.slots() < usize::from(FAR)
}

/// Counts the pair with a vertex in one of a few slots, or nowhere.
#[inline(always)]
fn add_one(few: &mut Counts, z: &Partition, vertex: u32) {
    let one = &ONE[usize::from(z.byte_of(vertex as usize)) % ONE.len()];
    few.iter_mut().zip(one).for_each(|(few, one)| *few += one);
}

impl PairLoad {
    pub(super) fn new(n: usize, compact: bool) -> Self {
        PairLoad {
            to: Vec::new(),
            touched: Vec::new(),
            count: 0,
            inner: 0,
            member: vec![0; n.div_ceil(64)],
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
                neighbours(vertex.index()).iter().for_each(|&v| add_one(&mut few, z, v));
                self.few = few;
                self.inner = 0;
            }
            [vertex] => {
                self.clear(z);
                let near = is_near(z);
                for &neighbour in neighbours(vertex.index()) {
                    self.count_if_placed(z, near, neighbour);
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
            self.to.resize((z.slots() + 1).max(usize::from(FAR) + 1), 0);
            self.touched.resize(self.to.len() + 1, Slot::NOWHERE);
        }
        self.to[usize::from(FAR)] = 0;
        self.inner = 0;
    }

    fn weigh_many<'a>(
        &mut self,
        items: &[Item],
        z: &Partition,
        neighbours: impl Fn(usize) -> &'a [u32],
    ) {
        // Where the members are marked while their inner pairs are counted, which are seen from both ends.
        let mut member = std::mem::take(&mut self.member);
        items.iter().for_each(|i| member[i.index() / 64] |= 1 << (i.index() % 64));
        let is_member = |vertex: u32| (member[vertex as usize / 64] >> (vertex % 64) & 1) as u32;
        let mut seen = 0;
        let neighbours = items.iter().flat_map(|i| neighbours(i.index())).copied();
        if self.compact && z.slots() < MOST_SLOTS {
            let mut few = Counts::default();
            neighbours.for_each(|v| {
                add_one(&mut few, z, v);
                seen += is_member(v);
            });
            self.few = few;
        } else {
            self.clear(z);
            let near = is_near(z);
            neighbours.for_each(|v| {
                self.count_if_placed(z, near, v);
                seen += is_member(v);
            });
            self.list_few(z);
        }
        items.iter().for_each(|i| member[i.index() / 64] = 0);
        (self.inner, self.member) = (seen / 2, member);
    }

    /// Counts the pair with a vertex, if that is placed. Without a branch as long as slots are `near`: they fit into a byte.
    #[inline(always)]
    fn count_if_placed(&mut self, z: &Partition, near: bool, vertex: u32) {
        if near {
            self.count_near(z.byte_of(vertex as usize));
        } else if let Some(slot) = z.placed_at(vertex as usize) {
            self.count(slot);
        }
    }

    /// Counts a pair with a slot in a byte, or with what is placed nowhere; nothing can foresee which.
    #[inline(always)]
    fn count_near(&mut self, slot: u8) {
        let to: &mut [u32; 256] = self.to.first_chunk_mut().expect("room for every byte");
        let pairs = &mut to[usize::from(slot)];
        self.touched[self.count] = Slot::new(usize::from(slot));
        self.count += usize::from((*pairs == 0) & (slot != FAR));
        *pairs += 1;
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
