//! A partition of n items: items sit in numbered slots; slots come and go without renumbering.

use serde::{Deserialize, Serialize};

/// An item: a row of a table or a vertex of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Item(u32);

impl Item {
    /// The item with this index, counted from 0.
    pub fn new(index: usize) -> Self {
        debug_assert!(index < u32::MAX as usize);
        Item(index as u32)
    }

    /// Its index, counted from 0.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A place that can hold a block. Slots are stable: a block keeps its slot as long as it lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Slot(u32);

impl Slot {
    /// Where an item is that has not been placed.
    pub const NOWHERE: Slot = Slot(u32::MAX);

    /// The slot with this index, counted from 0.
    pub fn new(index: usize) -> Self {
        debug_assert!(index < u32::MAX as usize);
        Slot(index as u32)
    }

    /// Its index, counted from 0.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Stands for all slots from this one on, and for nowhere.
pub(crate) const FAR: u8 = u8::MAX;

/// A slot in a byte.
#[inline(always)]
fn near(slot: Slot) -> u8 {
    u8::try_from(slot.0).unwrap_or(FAR)
}

/// Blocks of items in slots. Some items may be placed nowhere while a move is under way.
///
/// ```
/// use armix::partition::{Item, Partition};
/// let z = Partition::from_labels(&[7, 7, 3]);
/// assert_eq!(z.blocks(), 2);
/// assert_eq!(z.slot_of(Item::new(0)), z.slot_of(Item::new(1)));
/// assert_eq!(z.labels(), [0, 0, 1]);
/// ```
#[derive(Debug)]
pub struct Partition {
    slot_of: Vec<Slot>,
    /// The same in bytes, so that more of it fits into caches; [`FAR`] for what does not fit into a byte.
    near: Vec<u8>,
    size: Vec<u32>,
    /// The slots that hold a block, in no meaningful but reproducible order.
    live: Vec<Slot>,
    /// Where a live slot stands in `live`.
    live_at: Vec<u32>,
    /// Empty slots that may be handed out; the one emptied last is on top.
    free: Vec<Slot>,
    /// Slots that are kept for their block even while it is empty.
    pinned: Vec<bool>,
}

impl Partition {
    /// n items, none of them placed.
    pub fn unplaced(n: usize) -> Self {
        Partition {
            slot_of: vec![Slot::NOWHERE; n],
            near: vec![FAR; n],
            size: Vec::new(),
            live: Vec::new(),
            live_at: Vec::new(),
            free: Vec::new(),
            pinned: Vec::new(),
        }
    }

    /// The partition that these labels describe; equal labels share a block.
    pub fn from_labels(labels: &[u32]) -> Self {
        let mut z = Partition::unplaced(labels.len());
        for (index, label) in canonical(labels).into_iter().enumerate() {
            if label as usize == z.slots() {
                z.add_slot();
            }
            z.put(Item::new(index), Slot(label));
        }
        z
    }

    /// The number of items.
    pub fn n(&self) -> usize {
        self.slot_of.len()
    }

    /// The number of blocks.
    pub fn blocks(&self) -> usize {
        self.live.len()
    }

    /// The number of slots ever used: all slot indices are smaller.
    pub fn slots(&self) -> usize {
        self.size.len()
    }

    /// The slots that hold a block.
    #[inline]
    pub fn live(&self) -> &[Slot] {
        &self.live
    }

    /// The number of items in a slot.
    #[inline]
    pub fn size(&self, slot: Slot) -> u32 {
        self.size[slot.index()]
    }

    /// The number of items in every slot.
    #[inline(always)]
    pub(crate) fn sizes(&self) -> &[u32] {
        &self.size
    }

    /// Where an item is; [`Slot::NOWHERE`] if it is not placed.
    #[inline]
    pub fn slot_of(&self, item: Item) -> Slot {
        self.slot_of[item.index()]
    }

    /// The same if the item is placed, for looking at many items anywhere.
    #[inline(always)]
    pub fn placed_at(&self, item: usize) -> Option<Slot> {
        match self.near[item] {
            FAR => Some(self.slot_of[item]).filter(|&slot| slot != Slot::NOWHERE),
            near => Some(Slot(u32::from(near))),
        }
    }

    /// The number of the slot where an item is, in a byte; 255 stands for all slots from 255 on, and for nowhere.
    #[inline(always)]
    pub(crate) fn byte_of(&self, item: usize) -> u8 {
        self.near[item]
    }

    /// Where all items are.
    #[inline]
    pub fn slots_of_items(&self) -> &[Slot] {
        &self.slot_of
    }

    /// Takes a placed item out of its slot.
    #[inline(always)]
    pub fn take(&mut self, item: Item) {
        let slot = std::mem::replace(&mut self.slot_of[item.index()], Slot::NOWHERE);
        self.near[item.index()] = FAR;
        let size = &mut self.size[slot.index()];
        *size -= 1;
        if *size == 0 {
            self.close(slot);
        }
    }

    /// A block has lost its last item.
    #[inline(never)]
    fn close(&mut self, slot: Slot) {
        let at = self.live_at[slot.index()] as usize;
        self.live.swap_remove(at);
        if let Some(&moved) = self.live.get(at) {
            self.live_at[moved.index()] = at as u32;
        }
        if !self.pinned[slot.index()] {
            self.free.push(slot);
        }
    }

    /// Puts an item that is nowhere into a slot.
    #[inline(always)]
    pub fn put(&mut self, item: Item, slot: Slot) {
        debug_assert_eq!(self.slot_of[item.index()], Slot::NOWHERE);
        self.slot_of[item.index()] = slot;
        self.near[item.index()] = near(slot);
        let size = &mut self.size[slot.index()];
        *size += 1;
        if *size == 1 {
            self.open(slot);
        }
    }

    /// A block has got its first item.
    #[inline(never)]
    fn open(&mut self, slot: Slot) {
        self.live_at[slot.index()] = self.live.len() as u32;
        self.live.push(slot);
        if !self.pinned[slot.index()] {
            // Nearly always the top: `fresh` hands out the top.
            let at = self.free.iter().rposition(|&s| s == slot);
            self.free.remove(at.expect("an empty, unpinned slot is free"));
        }
    }

    /// An empty slot that is not pinned: the one emptied last, or a new one. It stays on offer
    /// until something is put there.
    #[inline]
    pub fn fresh(&mut self) -> Slot {
        match self.free.last() {
            Some(&slot) => slot,
            None => self.add_slot(),
        }
    }

    fn add_slot(&mut self) -> Slot {
        let slot = Slot::new(self.size.len());
        self.size.push(0);
        self.live_at.push(0);
        self.pinned.push(false);
        self.free.push(slot);
        slot
    }

    /// Keeps a live slot for its block: should it become empty, `fresh` does not hand it out.
    pub fn pin(&mut self, slot: Slot) {
        debug_assert!(self.size(slot) > 0);
        self.pinned[slot.index()] = true;
    }

    /// Ends all pinning.
    pub fn unpin_all(&mut self) {
        for index in 0..self.pinned.len() {
            if std::mem::replace(&mut self.pinned[index], false) && self.size[index] == 0 {
                self.free.push(Slot::new(index));
            }
        }
    }

    /// Becomes a copy of `other` without allocating (once the buffers are large enough).
    pub fn copy_from(&mut self, other: &Partition) {
        self.slot_of.clone_from(&other.slot_of);
        self.near.clone_from(&other.near);
        self.size.clone_from(&other.size);
        self.live.clone_from(&other.live);
        self.live_at.clone_from(&other.live_at);
        self.free.clone_from(&other.free);
        self.pinned.clone_from(&other.pinned);
    }

    /// As many slots, but no item placed.
    pub(crate) fn empty_like(&self) -> Self {
        let mut z = Partition::unplaced(self.n());
        (0..self.slots()).for_each(|_| {
            z.add_slot();
        });
        z
    }

    /// Everything that later moves depend on, slot numbers and their order included, so that a run
    /// can be continued as if it had not been interrupted.
    pub fn to_parts(&self) -> PartitionParts {
        PartitionParts {
            slot_of: self.slot_of.clone(),
            live: self.live.clone(),
            free: self.free.clone(),
        }
    }

    /// The partition that [`Partition::to_parts`] took apart; `None` if the parts do not fit
    /// together. No slot is pinned.
    pub fn from_parts(parts: PartitionParts) -> Option<Self> {
        let PartitionParts { slot_of, live, free } = parts;
        let slots = live.len() + free.len();
        let mut z = Partition::unplaced(slot_of.len());
        z.size = vec![0; slots];
        z.live_at = vec![0; slots];
        z.pinned = vec![false; slots];
        // Each slot is either live or free, once.
        let mut seen = vec![false; slots];
        for slot in live.iter().chain(&free) {
            if std::mem::replace(seen.get_mut(slot.index())?, true) {
                return None;
            }
        }
        for slot in &slot_of {
            *z.size.get_mut(slot.index())? += 1;
        }
        for (at, slot) in live.iter().enumerate() {
            z.live_at[slot.index()] = at as u32;
        }
        let consistent = live.iter().all(|s| z.size[s.index()] > 0)
            && free.iter().all(|s| z.size[s.index()] == 0);
        z.near = slot_of.iter().map(|&slot| near(slot)).collect();
        (z.slot_of, z.live, z.free) = (slot_of, live, free);
        consistent.then_some(z)
    }

    /// Canonical labels: 0, 1, … in order of first appearance.
    pub fn labels(&self) -> Vec<u32> {
        canonical(&self.slot_of.iter().map(|s| s.0).collect::<Vec<_>>())
    }

    /// Writes [`Partition::labels`] of a partition in which every item is placed, without allocating once
    /// the buffers are large enough.
    pub fn write_labels(&self, labels: &mut Vec<u32>, label_of: &mut Vec<u32>) {
        label_of.clear();
        label_of.resize(self.slots(), u32::MAX);
        labels.clear();
        let mut next = 0;
        labels.extend(self.slot_of.iter().map(|slot| {
            let label = &mut label_of[slot.index()];
            if *label == u32::MAX {
                *label = next;
                next += 1;
            }
            *label
        }));
    }

    /// The sizes of the largest blocks, in descending order; 0 where there are no more blocks.
    pub fn largest<const TOP: usize>(&self) -> [u32; TOP] {
        let mut top = [0; TOP];
        for &slot in &self.live {
            let mut size = self.size(slot);
            for place in &mut top {
                if size > *place {
                    std::mem::swap(place, &mut size);
                }
            }
        }
        top
    }
}

/// A partition taken apart; see [`Partition::to_parts`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionParts {
    slot_of: Vec<Slot>,
    live: Vec<Slot>,
    free: Vec<Slot>,
}

/// The same partition with labels 0, 1, … in order of first appearance.
///
/// ```
/// assert_eq!(armix::partition::canonical(&[5, 2, 5, 9]), [0, 1, 0, 2]);
/// ```
pub fn canonical(labels: &[u32]) -> Vec<u32> {
    // Labels are usually small, then a table will do; arbitrary ones (from files) are ranked first.
    let largest = labels.iter().copied().max().unwrap_or(0) as usize;
    if largest > 4 * labels.len() + 1024 {
        let mut distinct = labels.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let ranks: Vec<u32> =
            labels.iter().map(|l| distinct.partition_point(|d| d < l) as u32).collect();
        return canonical(&ranks);
    }
    let mut new_label = vec![u32::MAX; largest + 1];
    let mut next = 0;
    labels
        .iter()
        .map(|&label| {
            let new = &mut new_label[label as usize];
            if *new == u32::MAX {
                *new = next;
                next += 1;
            }
            *new
        })
        .collect()
}

/// The same partition with labels 0, 1, … from the largest block to the smallest; of blocks of equal size
/// the one that appears first comes first.
///
/// ```
/// assert_eq!(armix::partition::by_size(&[5, 2, 2, 9]), [1, 0, 0, 2]);
/// ```
pub fn by_size(labels: &[u32]) -> Vec<u32> {
    let labels = canonical(labels);
    let mut sizes = vec![0u32; labels.iter().max().map_or(0, |&m| m as usize + 1)];
    labels.iter().for_each(|&label| sizes[label as usize] += 1);
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&label| std::cmp::Reverse(sizes[label]));
    let mut rank = vec![0; sizes.len()];
    order.iter().zip(0..).for_each(|(&label, at)| rank[label] = at);
    labels.iter().map(|&label| rank[label as usize]).collect()
}

/// All partitions of n items as canonical labels, in lexicographic order. For small n: there
/// are 15 for n = 4, 52 for n = 5 and 115 975 for n = 10.
pub fn all_partitions(n: usize) -> Vec<Vec<u32>> {
    fn extend(prefix: &mut Vec<u32>, n: usize, blocks: u32, out: &mut Vec<Vec<u32>>) {
        if prefix.len() == n {
            out.push(prefix.clone());
            return;
        }
        for label in 0..=blocks {
            prefix.push(label);
            extend(prefix, n, blocks.max(label + 1), out);
            prefix.pop();
        }
    }
    let mut out = Vec::new();
    extend(&mut Vec::with_capacity(n), n, 0, &mut out);
    out
}

/// One more than the largest label.
pub fn label_count(labels: &[u32]) -> usize {
    // Not Iterator::max, which branches at every label.
    labels.iter().fold(0, |most, &label| u32::max(most, label + 1)) as usize
}

/// Gives something that has no number yet (`u32::MAX`) the next one. Returns its number, and whether it is new. Without a
/// branch, because nothing can foresee what is new.
#[inline(always)]
pub(crate) fn number(of: &mut u32, next: &mut u32) -> (u32, bool) {
    let new = *of == u32::MAX;
    let number = if new { *next } else { *of };
    *of = number;
    *next += u32::from(new);
    (number, new)
}

/// The coarsest common refinement a ∨ b of two labelled partitions, by counting, not hashing.
#[derive(Debug, Clone, Default)]
pub struct Refiner {
    start: Vec<u32>,
    by_a: Vec<u32>,
    seen: Vec<(u32, u32)>,
}

impl Refiner {
    /// Writes labels 0, 1, … of a ∨ b, in no particular order, and returns how many cells there are.
    /// O(n + labels); the labels of a and b must be small numbers, as those of slots and of stored states
    /// are.
    pub fn refine(&mut self, a: &[u32], b: &[u32], out: &mut Vec<u32>) -> usize {
        debug_assert_eq!(a.len(), b.len());
        let (labels_a, labels_b) = (label_count(a), label_count(b));
        out.clear();
        if labels_a.saturating_mul(labels_b) <= 2 * a.len() {
            self.refine_few(a, b, labels_a * labels_b, labels_b, out)
        } else {
            self.refine_many(a, b, labels_a, labels_b, out)
        }
    }

    /// With a table of all combinations.
    fn refine_few(
        &mut self,
        a: &[u32],
        b: &[u32],
        combinations: usize,
        labels_b: usize,
        out: &mut Vec<u32>,
    ) -> usize {
        let cell_of = &mut self.start;
        cell_of.clear();
        cell_of.resize(combinations, u32::MAX);
        let mut cells = 0;
        out.extend(a.iter().zip(b).map(|(&a, &b)| {
            number(&mut cell_of[a as usize * labels_b + b as usize], &mut cells).0
        }));
        cells as usize
    }

    /// By sorting.
    fn refine_many(
        &mut self,
        a: &[u32],
        b: &[u32],
        labels_a: usize,
        labels_b: usize,
        out: &mut Vec<u32>,
    ) -> usize {
        // Sort the items by a, keeping their order (counting sort) …
        self.start.clear();
        self.start.resize(labels_a + 1, 0);
        for &label in a {
            self.start[label as usize + 1] += 1;
        }
        for k in 0..labels_a {
            self.start[k + 1] += self.start[k];
        }
        self.by_a.clear();
        self.by_a.resize(a.len(), 0);
        for (item, &label) in a.iter().enumerate() {
            let place = &mut self.start[label as usize];
            self.by_a[*place as usize] = item as u32;
            *place += 1;
        }
        // … and number the labels of b anew within each block of a.
        self.seen.clear();
        self.seen.resize(labels_b, (u32::MAX, 0));
        out.resize(a.len(), 0);
        let mut cells = 0;
        for &item in &self.by_a {
            let item = item as usize;
            let (block, cell) = &mut self.seen[b[item] as usize];
            if *block != a[item] {
                *block = a[item];
                *cell = cells;
                cells += 1;
            }
            out[item] = *cell;
        }
        cells as usize
    }
}

/// How two states are compared whose slots are numbered differently; keeps its buffers.
#[derive(Debug, Default)]
pub struct Comparer {
    there: Vec<Slot>,
    back: Vec<Slot>,
}

impl Comparer {
    /// Whether two placements describe the same partition.
    pub fn same(&mut self, x: &Partition, y: &Partition) -> bool {
        if x.n() != y.n() || x.blocks() != y.blocks() {
            return false;
        }
        self.there.clear();
        self.there.resize(x.slots(), Slot::NOWHERE);
        self.back.clear();
        self.back.resize(y.slots(), Slot::NOWHERE);
        x.slot_of.iter().zip(&y.slot_of).all(|(&s, &t)| {
            if s == Slot::NOWHERE || t == Slot::NOWHERE {
                return s == t;
            }
            let (there, back) = (&mut self.there[s.index()], &mut self.back[t.index()]);
            if *there == Slot::NOWHERE && *back == Slot::NOWHERE {
                *there = t;
                *back = s;
            }
            *there == t && *back == s
        })
    }
}
