//! What a set of vertices carries in one relation: the values it has with every block, and inside.

use super::layer::{Layer, Times};
use crate::families::{Family, add_sum};
use crate::partition::{Item, Partition, Slot};
use crate::relations::{Relation, Row};

/// How many vertices a set has, on either side. Without sides, all are on the first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Count(pub(super) [u64; 2]);

impl Count {
    pub(super) fn all(self) -> u64 {
        self.0[0] + self.0[1]
    }

    /// What is left without a set, if it is counted here.
    pub(super) fn without(self, set: Count, counted: bool) -> Count {
        match counted {
            true => Count([self.0[0] - set.0[0], self.0[1] - set.0[1]]),
            false => self,
        }
    }
}

/// The values that a set has with every block in one direction.
#[derive(Debug)]
pub(super) struct Channel<F: Family> {
    /// The sum of what is listed, by slot; zero except in the slots of `touched`.
    sums: Vec<F::Word>,
    /// Pairs that are listed or hidden, by slot: all others have the value of unlisted pairs.
    special: Vec<u64>,
    /// The blocks with such pairs.
    pub(super) touched: Vec<Slot>,
}

/// What is weighed of a set, and room for gains.
#[derive(Debug)]
pub(super) struct LayerLoad<F: Family> {
    pub(super) set: Count,
    pub(super) from: Channel<F>,
    pub(super) to: Channel<F>,
    /// Of pairs inside the set: the sum of what is listed, and the number of listed or hidden ones.
    inner: Vec<F::Word>,
    pub(super) inner_special: u64,
    /// All pairs with each block of z, and inside.
    pub(super) all_from: Vec<F::Word>,
    pub(super) all_to: Vec<F::Word>,
    pub(super) all_inner: Vec<F::Word>,
    /// The sums of the home with each block, without the set.
    pub(super) home_from: Vec<F::Word>,
    pub(super) home_to: Vec<F::Word>,
    pub(super) more: Vec<F::Word>,
}

impl<F: Family> Channel<F> {
    fn new() -> Self {
        Channel { sums: Vec::new(), special: Vec::new(), touched: Vec::new() }
    }

    fn clear(&mut self, slots: usize, width: usize) {
        for slot in self.touched.drain(..) {
            let k = slot.index();
            self.special[k] = 0;
            self.sums[k * width..(k + 1) * width].fill(F::Word::default());
        }
        if self.special.len() < slots {
            self.special.resize(slots, 0);
            self.sums.resize(slots * width, F::Word::default());
        }
    }

    #[inline]
    fn note(&mut self, slot: Slot) {
        let special = &mut self.special[slot.index()];
        if *special == 0 {
            self.touched.push(slot);
        }
        *special += 1;
    }

    #[inline]
    pub(super) fn special(&self, slot: usize) -> u64 {
        self.special[slot]
    }

    /// The sum over all of so many pairs with a block.
    #[inline]
    pub(super) fn all(&self, layer: &Layer<F>, slot: usize, pairs: u64, all: &mut [F::Word])
    where
        F::Word: Times,
    {
        all.copy_from_slice(&self.sums[slot * all.len()..(slot + 1) * all.len()]);
        layer.add_unlisted(all, pairs, self.special[slot]);
    }
}

impl<F: Family<Word: Times>> LayerLoad<F> {
    pub(super) fn new(width: usize) -> Self {
        let none = || vec![F::Word::default(); width];
        LayerLoad {
            set: Count::default(),
            from: Channel::new(),
            to: Channel::new(),
            inner: none(),
            inner_special: 0,
            all_from: Vec::new(),
            all_to: Vec::new(),
            all_inner: none(),
            home_from: Vec::new(),
            home_to: Vec::new(),
            more: none(),
        }
    }

    /// Adds up what the items have with the blocks of z, and among each other. `member` marks the items.
    pub(super) fn weigh(
        &mut self,
        layer: &Layer<F>,
        relation: &Relation,
        set: Count,
        items: &[Item],
        z: &Partition,
        member: &[bool],
    ) {
        self.set = set;
        let width = layer.family.width();
        // One more, for a new block.
        self.from.clear(z.slots() + 1, width);
        self.to.clear(z.slots() + 1, width);
        self.inner.fill(F::Word::default());
        self.inner_special = 0;
        for item in items {
            let v = item.index();
            self.listed(layer, relation.from(v), v as u32, z, member, false);
            self.listed(layer, relation.to(v), v as u32, z, member, true);
            if relation.has_hidden() && layer.dense {
                self.hidden(layer, relation.hidden_from(v), v as u32, z, member, false);
                self.hidden(layer, relation.hidden_to(v), v as u32, z, member, true);
            }
        }
    }

    /// Whether v's end of a pair inside the set is the one that counts it.
    fn counts(layer: &Layer<F>, v: u32, other: u32, back: bool) -> bool {
        !back && (layer.directed || v <= other)
    }

    #[inline]
    fn listed(
        &mut self,
        layer: &Layer<F>,
        row: Row<'_>,
        v: u32,
        z: &Partition,
        member: &[bool],
        back: bool,
    ) {
        let width = layer.family.width();
        let codes = if back { &layer.codes_to } else { &layer.codes_from };
        let codes = &codes[row.first..row.first + row.others.len()];
        for (&other, &code) in row.others.iter().zip(codes) {
            let slot = z.slots_of_items()[other as usize];
            if slot != Slot::NOWHERE {
                let channel = if back { &mut self.to } else { &mut self.from };
                channel.note(slot);
                let at = slot.index() * width;
                layer.family.add(&mut channel.sums[at..at + width], code);
            } else if member[other as usize] && Self::counts(layer, v, other, back) {
                self.inner_special += 1;
                layer.family.add(&mut self.inner, code);
            }
        }
    }

    fn hidden(
        &mut self,
        layer: &Layer<F>,
        others: &[u32],
        v: u32,
        z: &Partition,
        member: &[bool],
        back: bool,
    ) {
        for &other in others {
            let slot = z.slots_of_items()[other as usize];
            if slot != Slot::NOWHERE {
                let channel = if back { &mut self.to } else { &mut self.from };
                channel.note(slot);
            } else if member[other as usize] && Self::counts(layer, v, other, back) {
                self.inner_special += 1;
            }
        }
    }

    /// Sums up all pairs of the set with each block, and inside, those that are not listed included. If
    /// the sizes count the set in a slot, that is the one.
    pub(super) fn complete(
        &mut self,
        layer: &Layer<F>,
        sizes: &[Count],
        counted: Option<usize>,
        z: &Partition,
    ) {
        let (set, width) = (self.set, layer.family.width());
        let length = (z.slots() + 1) * width;
        if self.all_from.len() < length {
            self.all_from.resize(length, F::Word::default());
            self.all_to.resize(length, F::Word::default());
        }
        for slot in z.live() {
            let l = slot.index();
            let pairs = layer.pairs_between(set, sizes[l].without(set, counted == Some(l)));
            let range = l * width..(l + 1) * width;
            self.from.all(layer, l, pairs, &mut self.all_from[range.clone()]);
            if layer.directed {
                self.to.all(layer, l, pairs, &mut self.all_to[range]);
            }
        }
        let mut inner = std::mem::take(&mut self.all_inner);
        self.inside(layer, &mut inner);
        self.all_inner = inner;
    }

    /// All pairs inside the set.
    pub(super) fn inside(&self, layer: &Layer<F>, all: &mut [F::Word]) {
        all.copy_from_slice(&self.inner);
        layer.add_unlisted(all, layer.pairs_inside(self.set), self.inner_special);
    }

    /// All that a block gets inside when the set joins it.
    pub(super) fn sum_inside(&mut self, slot: usize, directed: bool) -> &[F::Word] {
        let width = self.more.len();
        let range = slot * width..(slot + 1) * width;
        self.more.copy_from_slice(&self.all_inner);
        add_sum(&mut self.more, &self.all_from[range.clone()]);
        if directed {
            add_sum(&mut self.more, &self.all_to[range]);
        }
        &self.more
    }
}
