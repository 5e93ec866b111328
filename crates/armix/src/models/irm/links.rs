//! The statistics of the blocks, and what follows from them for vertices without links.

use super::load::VertexLoad;
use super::{Irm, pairs};
use crate::partition::{Partition, Slot};

/// The statistics of the blocks; and what follows from them for *quiet* vertices.
///
/// Most vertices have no links to most blocks. What the evidence of the pairs between two blocks then
/// grows by when such a vertex joins one of them does not depend on the vertex, so that it is kept here.
/// Sums over blocks are kept as multiples of a small unit: sums of integers do not depend on the order in
/// which vertices came and went, so that a run that was resumed goes on exactly as one that was not.
///
/// Nothing but the counts is kept of empty slots, which are all alike.
#[derive(Debug, Default)]
pub struct Links {
    /// By slot: the number of vertices; the growth if a quiet vertex joins; the growth that a quiet vertex
    /// which is here was.
    pub(super) size: Vec<u32>,
    pub(super) joining: Vec<i64>,
    pub(super) staying: Vec<i64>,
    /// The growth if a quiet vertex becomes a block of its own.
    pub(super) alone: i64,
    pub(super) pairs: Pairs,
}

/// So many links to a block are few: what they make is kept.
const FEW: usize = 2;

/// What is kept of every two slots, in squares of so many rows. Row l has what matters for vertices with
/// links to l, or whose home is l; the columns k are where they may go.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    side: usize,
    /// N⁺ and N⁻: linked pairs of vertices, and unlinked ones. Pairs within a slot count once.
    pub(super) linked: Vec<u32>,
    pub(super) unlinked: Vec<u64>,
    /// The share of l in the growth if a quiet vertex joins k.
    pub(super) joining: Vec<f64>,
    /// The share of k in the growth that a quiet vertex of l was.
    pub(super) staying: Vec<f64>,
    /// What is to be added for a vertex that joins k and has one link to l, two of them, and so on.
    pub(super) few_links: [Vec<f64>; FEW],
    /// What is to be added for a vertex that joins k, but is still counted in l, and has no links to either.
    pub(super) from_home: Vec<f64>,
}

impl Clone for Links {
    fn clone(&self) -> Self {
        let mut links = Links::default();
        links.clone_from(self);
        links
    }
    fn clone_from(&mut self, source: &Self) {
        self.size.clone_from(&source.size);
        self.joining.clone_from(&source.joining);
        self.staying.clone_from(&source.staying);
        self.alone = source.alone;
        let (pairs, source) = (&mut self.pairs, &source.pairs);
        pairs.side = source.side;
        pairs.linked.clone_from(&source.linked);
        pairs.unlinked.clone_from(&source.unlinked);
        pairs.joining.clone_from(&source.joining);
        pairs.staying.clone_from(&source.staying);
        pairs.few_links.clone_from(&source.few_links);
        pairs.from_home.clone_from(&source.from_home);
    }
}

impl Pairs {
    /// The bytes of one pair.
    const BYTES: u64 = 4 + 8 + 8 * (3 + FEW as u64);

    fn grow(&mut self, slots: usize) {
        if slots <= self.side {
            return;
        }
        // A little more than needed, so that a growing number of blocks rarely copies everything.
        let side = slots.max(self.side + self.side / 8).max(8);
        grow_square(&mut self.linked, self.side, side);
        grow_square(&mut self.unlinked, self.side, side);
        for square in [&mut self.joining, &mut self.staying, &mut self.from_home] {
            grow_square(square, self.side, side);
        }
        for square in &mut self.few_links {
            grow_square(square, self.side, side);
        }
        self.side = side;
    }

    #[inline(always)]
    pub(super) fn at(&self, l: usize, k: usize) -> usize {
        l * self.side + k
    }

    /// A row of one of the squares.
    #[inline(always)]
    pub(super) fn row<'a, T>(&self, square: &'a [T], l: usize) -> &'a [T] {
        &square[l * self.side..][..self.side]
    }
}

fn grow_square<T: Copy + Default>(square: &mut Vec<T>, from: usize, to: usize) {
    let mut grown = vec![T::default(); to * to];
    for row in 0..from {
        grown[row * to..][..from].copy_from_slice(&square[row * from..][..from]);
    }
    *square = grown;
}

impl Links {
    /// The bytes that so many blocks take.
    pub(super) fn bytes(blocks: usize) -> u64 {
        let blocks = blocks as u64;
        20 * blocks + Pairs::BYTES * blocks * blocks
    }

    pub(super) fn grow(&mut self, slots: usize) {
        self.pairs.grow(slots);
        if slots > self.size.len() {
            self.size.resize(slots, 0);
            self.joining.resize(slots, 0);
            self.staying.resize(slots, 0);
        }
    }

    #[inline(always)]
    pub(super) fn size(&self, slot: usize) -> u64 {
        u64::from(self.size[slot])
    }

    /// The linked and the observed pairs between two slots, or within one.
    #[inline(always)]
    pub(super) fn counts(&self, k: usize, l: usize) -> (u64, u64) {
        let at = self.pairs.at(k, l);
        let linked = u64::from(self.pairs.linked[at]);
        (linked, linked + self.pairs.unlinked[at])
    }

    /// Counts a set of vertices in a slot, or no more. z has none of them.
    #[inline(always)]
    fn count<const HIDDEN: bool>(
        &mut self,
        load: &VertexLoad,
        z: &Partition,
        slot: Slot,
        joins: bool,
    ) {
        let k = slot.index();
        let mut change = |at: usize, linked: u64, all: u64| {
            let (links, others) = (&mut self.pairs.linked[at], &mut self.pairs.unlinked[at]);
            if joins {
                (*links, *others) = (*links + linked as u32, *others + (all - linked));
            } else {
                (*links, *others) = (*links - linked as u32, *others - (all - linked));
            }
        };
        let m = u64::from(load.m);
        for &other in z.live().iter().filter(|&&other| other != slot) {
            let l = other.index();
            let all = m * u64::from(z.size(other)) - load.hidden.to_if::<HIDDEN>(l);
            change(k * self.pairs.side + l, load.linked.to(l), all);
            change(l * self.pairs.side + k, load.linked.to(l), all);
        }
        let rest = u64::from(z.size(slot));
        let mut all = pairs(rest + m) - pairs(rest);
        if HIDDEN {
            all -= load.hidden.to(k) + u64::from(load.hidden.inner);
        }
        change(k * self.pairs.side + k, load.linked.to(k) + u64::from(load.linked.inner), all);
        self.size[k] = z.size(slot) + if joins { load.m } else { 0 };
    }
}

impl Irm {
    /// As a multiple of the unit, to nearest. All that is summed is the logarithm of a probability.
    #[inline(always)]
    fn in_units(&self, negative: f64) -> i64 {
        (negative * self.units - 0.5) as i64
    }

    /// A set of vertices joins a slot or leaves it.
    #[inline(always)]
    pub(super) fn change<const HIDDEN: bool>(
        &self,
        stats: &mut Links,
        load: &VertexLoad,
        z: &Partition,
        slot: Slot,
        joins: bool,
    ) {
        let k = slot.index();
        if stats.size[k] > 0 {
            for l in z.live().iter().map(|l| l.index()).filter(|&l| l != k) {
                stats.joining[l] -= self.in_units(stats.pairs.joining[stats.pairs.at(k, l)]);
                stats.staying[l] -= self.in_units(stats.pairs.staying[stats.pairs.at(l, k)]);
            }
            stats.alone -= self.in_units(self.coin.ln_evidence(0, stats.size(k)));
        }
        stats.count::<HIDDEN>(load, z, slot, joins);
        if stats.size[k] > 0 {
            stats.alone += self.in_units(self.coin.ln_evidence(0, stats.size(k)));
            self.conclude(stats, z, slot);
        }
    }

    /// Brings all that follows from the counts of a block up to date: for it with all others, and for all
    /// others with it.
    #[inline(always)]
    fn conclude(&self, stats: &mut Links, z: &Partition, slot: Slot) {
        let k = slot.index();
        let size = stats.size(k);
        let (linked, all) = stats.counts(k, k);
        let at = stats.pairs.at(k, k);
        let of_itself =
            (self.coin.shift(linked, all, all + size), self.quiet(linked, all, size - 1).0);
        (stats.pairs.joining[at], stats.pairs.staying[at]) = of_itself;
        self.link_few(&mut stats.pairs, at, (linked, all), size);
        let mut joining = self.in_units(of_itself.0);
        let mut staying = self.in_units(of_itself.1);
        for l in z.live().iter().map(|l| l.index()).filter(|&l| l != k) {
            let others = stats.size(l);
            let (linked, all) = stats.counts(k, l);
            let joining_k = self.coin.shift(linked, all, all + others);
            let joining_l = self.coin.shift(linked, all, all + size);
            let (staying_k, without_k) = self.quiet(linked, all, others);
            let (staying_l, without_l) = self.quiet(linked, all, size);
            // A vertex that leaves one of the two for the other.
            let moves = |without: Option<u64>, more: u64, joining: f64, staying: f64| match without
            {
                Some(left) => self.coin.shift(linked, all, left + more) + staying - joining,
                None => 0.0,
            };
            joining += self.in_units(joining_k);
            staying += self.in_units(staying_k);
            stats.joining[l] += self.in_units(joining_l);
            stats.staying[l] += self.in_units(staying_l);
            let pairs = &mut stats.pairs;
            let (kl, lk) = (pairs.at(k, l), pairs.at(l, k));
            (pairs.joining[lk], pairs.joining[kl]) = (joining_k, joining_l);
            (pairs.staying[kl], pairs.staying[lk]) = (staying_k, staying_l);
            self.link_few(pairs, lk, (linked, all), others);
            self.link_few(pairs, kl, (linked, all), size);
            pairs.from_home[lk] = moves(without_l, others - 1, joining_k, staying_l);
            pairs.from_home[kl] = moves(without_k, size - 1, joining_l, staying_k);
        }
        (stats.joining[k], stats.staying[k]) = (joining, staying);
    }

    /// What a few links add at a place, where a vertex brings `more` pairs.
    #[inline(always)]
    fn link_few(&self, pairs: &mut Pairs, at: usize, (linked, all): (u64, u64), more: u64) {
        let unlinked = all - linked + more;
        for (links, row) in (1..).zip(&mut pairs.few_links) {
            // A vertex cannot have more links to a block than the block has vertices.
            row[at] = if links <= more { self.coin.turn(linked, unlinked, links) } else { 0.0 };
        }
    }

    /// The growth that a vertex with so many pairs, none of them linked, was; and how many pairs there are
    /// without it. Something that will cancel if there is no such vertex, because all have links.
    #[inline(always)]
    fn quiet(&self, linked: u64, all: u64, its_own: u64) -> (f64, Option<u64>) {
        match linked + its_own <= all {
            true => (-self.coin.shift(linked, all, all - its_own), Some(all - its_own)),
            false => (0.0, None),
        }
    }

    /// Whether what is kept up to date equals what is computed anew, to the last bit.
    pub(super) fn caches_are_true(&self, stats: &Links, z: &Partition) -> bool {
        let mut anew = stats.clone();
        let live = || z.live().iter().map(|k| k.index());
        for &slot in z.live() {
            assert_eq!(stats.size[slot.index()], z.size(slot), "sizes are as in z");
            self.conclude(&mut anew, z, slot);
        }
        let sum = |of: &dyn Fn(usize) -> f64| live().map(|l| self.in_units(of(l))).sum::<i64>();
        anew.alone = sum(&|l| self.coin.ln_evidence(0, stats.size(l)));
        for k in live() {
            anew.joining[k] = sum(&|l| anew.pairs.joining[anew.pairs.at(l, k)]);
            anew.staying[k] = sum(&|l| anew.pairs.staying[anew.pairs.at(k, l)]);
        }
        // What is left of empty slots means nothing.
        let same = |of: &dyn Fn(&Links) -> f64| of(&anew).to_bits() == of(stats).to_bits();
        let sums = |links: &Links, k: usize| (links.joining[k], links.staying[k]);
        anew.alone == stats.alone
            && live().all(|k| sums(&anew, k) == sums(stats, k))
            && live().all(|k| {
                live().all(|l| {
                    let at = stats.pairs.at(k, l);
                    same(&|links| links.pairs.joining[at])
                        && same(&|links| links.pairs.staying[at])
                        && (0..FEW).all(|few| same(&|links| links.pairs.few_links[few][at]))
                        && same(&|links| links.pairs.from_home[at])
                })
            })
    }
}
