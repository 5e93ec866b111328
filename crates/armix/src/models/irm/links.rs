//! The statistics of the blocks, and what follows from them for vertices without links.

use super::load::VertexLoad;
use super::{Irm, pairs};
use crate::partition::{Partition, Slot};
use crate::special::{Landmark, Tosses};

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
    /// `joining` as numbers.
    pub(super) quiet: Vec<f64>,
    /// The growth if a quiet vertex becomes a block of its own.
    pub(super) alone: i64,
    pub(super) pairs: Pairs,
}

/// So many links to a block are few: what they make is kept.
const FEW: usize = crate::special::FEW;

/// What is kept of every two slots, in squares of so many rows. Row l has what matters for vertices with
/// links to l, or whose home is l; the columns k are where they may go.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    side: usize,
    pub(super) counts: Vec<Counts>,
    /// What is to be added for a vertex that joins k and has one link to l, two of them, and so on.
    pub(super) few_links: [Vec<f64>; FEW],
    /// What is to be added for a vertex that joins k, but is still counted in l, and has no links to k, and
    /// none to l, one, and so on.
    pub(super) from_home: [Vec<f64>; FEW + 1],
}

/// What there is between slots l and k, or within one.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Counts {
    /// N⁺ and N⁻: linked pairs of vertices, and unlinked ones. Pairs within a slot count once.
    pub(super) linked: u64,
    pub(super) unlinked: u64,
    /// The share of l in the growth if a quiet vertex joins k.
    pub(super) joining: i64,
    /// The share of k in the growth that a quiet vertex of l was.
    pub(super) staying: i64,
    /// At the unlinked pairs.
    pub(super) landmark: Landmark,
}

impl Counts {
    /// The observed pairs.
    #[inline(always)]
    pub(super) fn all(&self) -> u64 {
        self.linked + self.unlinked
    }
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
        self.quiet.clone_from(&source.quiet);
        self.alone = source.alone;
        let (pairs, source) = (&mut self.pairs, &source.pairs);
        pairs.side = source.side;
        pairs.counts.clone_from(&source.counts);
        pairs.few_links.clone_from(&source.few_links);
        pairs.from_home.clone_from(&source.from_home);
    }
}

impl Pairs {
    /// The bytes of one pair.
    const BYTES: u64 = (size_of::<Counts>() + size_of::<f64>() * (FEW + FEW + 1)) as u64;

    fn grow(&mut self, slots: usize) {
        if slots <= self.side {
            return;
        }
        // A little more than needed, so that a growing number of blocks rarely copies everything.
        let side = slots.max(self.side + self.side / 8).max(8).next_multiple_of(4);
        grow_square(&mut self.counts, self.side, side);
        for square in self.few_links.iter_mut().chain(&mut self.from_home) {
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
        28 * blocks + Pairs::BYTES * blocks * blocks
    }

    pub(super) fn grow(&mut self, slots: usize) {
        self.pairs.grow(slots);
        self.size.resize(self.pairs.side, 0);
        self.joining.resize(self.pairs.side, 0);
        self.staying.resize(self.pairs.side, 0);
        self.quiet.resize(self.pairs.side, 0.0);
    }

    #[inline(always)]
    pub(super) fn size(&self, slot: usize) -> u64 {
        u64::from(self.size[slot])
    }

    /// What there is between two slots, or within one.
    #[inline(always)]
    pub(super) fn between(&self, l: usize, k: usize) -> &Counts {
        &self.pairs.counts[self.pairs.at(l, k)]
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
            let counts = &mut self.pairs.counts[at];
            if joins {
                counts.linked += linked;
                counts.unlinked += all - linked;
            } else {
                counts.linked -= linked;
                counts.unlinked -= all - linked;
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
                stats.joining[l] -= stats.between(k, l).joining;
                stats.staying[l] -= stats.between(l, k).staying;
            }
            stats.alone -= self.in_units(self.coin.ln_evidence(0, stats.size(k)));
        }
        stats.count::<HIDDEN>(load, z, slot, joins);
        if stats.size[k] > 0 {
            stats.alone += self.in_units(self.coin.ln_evidence(0, stats.size(k)));
            self.conclude(stats, z, slot);
        } else {
            for l in z.live().iter().map(|l| l.index()) {
                stats.quiet[l] = stats.joining[l] as f64 * self.unit;
            }
        }
    }

    /// Brings all that follows from the counts of a block up to date: for it with all others, and for all
    /// others with it.
    fn conclude(&self, stats: &mut Links, z: &Partition, slot: Slot) {
        let k = slot.index();
        let size = stats.size(k);
        let at = stats.pairs.at(k, k);
        let Counts { linked, unlinked, .. } = stats.pairs.counts[at];
        let all = linked + unlinked;
        let tossed = self.coin.tossed(linked, all);
        let counts = Counts {
            linked,
            unlinked,
            joining: self.in_units(tossed.shift(all + size)),
            staying: self.in_units(quiet(&tossed, linked, all, size - 1).0),
            landmark: tossed.landmark(),
        };
        let (mut joining, mut staying) = (counts.joining, counts.staying);
        stats.pairs.counts[at] = counts;
        let few_links = tossed.turns(unlinked + size, size);
        stats.pairs.few_links.iter_mut().zip(few_links).for_each(|(square, few)| square[at] = few);
        for l in z.live().iter().map(|l| l.index()).filter(|&l| l != k) {
            let others = stats.size(l);
            let Counts { linked, unlinked, .. } = *stats.between(k, l);
            let all = linked + unlinked;
            let sums = match self.coin.tossed_in_tables(linked, all, all + size.max(others)) {
                Some(tossed) => self.keep_both(stats, &tossed, (linked, unlinked), (k, l)),
                None => self.keep_both_far(stats, (linked, unlinked), (k, l)),
            };
            joining += sums.0;
            staying += sums.1;
        }
        (stats.joining[k], stats.staying[k]) = (joining, staying);
        stats.quiet[k] = joining as f64 * self.unit;
    }

    /// Brings what follows from the counts between blocks k and l up to date; returns what l adds to the sums of k.
    #[inline(always)]
    fn keep_both(
        &self,
        stats: &mut Links,
        tossed: &impl Tosses,
        counts: (u64, u64),
        (k, l): (usize, usize),
    ) -> (i64, i64) {
        let (size, others) = (stats.size(k), stats.size(l));
        let at_l = self.keep(&mut stats.pairs, (k, l), tossed, counts, size, others);
        let at_k = self.keep(&mut stats.pairs, (l, k), tossed, counts, others, size);
        stats.joining[l] += at_l.0;
        stats.staying[l] += at_k.1;
        stats.quiet[l] = stats.joining[l] as f64 * self.unit;
        (at_k.0, at_l.1)
    }

    /// The same beyond the tables.
    #[inline(never)]
    fn keep_both_far(
        &self,
        stats: &mut Links,
        counts: (u64, u64),
        pair: (usize, usize),
    ) -> (i64, i64) {
        let tossed = self.coin.tossed(counts.0, counts.0 + counts.1);
        self.keep_both(stats, &tossed, counts, pair)
    }

    /// Brings what is kept at one place up to date, given the sizes of the blocks of its row and column; returns
    /// `joining` and `staying`.
    #[inline(always)]
    fn keep(
        &self,
        pairs: &mut Pairs,
        (l, k): (usize, usize),
        tossed: &impl Tosses,
        (linked, unlinked): (u64, u64),
        row: u64,
        column: u64,
    ) -> (i64, i64) {
        let (at, all) = (pairs.at(l, k), linked + unlinked);
        let joins = tossed.shift(all + row);
        let (stays, without) = quiet(tossed, linked, all, column);
        let [one, two] = tossed.turns(unlinked + row, row);
        // What is different for a vertex that leaves the one block for the other. Nobody asks if no quiet vertex
        // could have left.
        if let Some(left) = without {
            let all = left + row - 1;
            let none = tossed.shift(all) + (stays - joins);
            let [one, two] = tossed.turns(all - linked, row - 1);
            pairs.from_home[0][at] = none + 0.0;
            pairs.from_home[1][at] = none + one;
            pairs.from_home[2][at] = none + two;
        }
        let (joining, staying) = (self.in_units(joins), self.in_units(stays));
        pairs.counts[at] =
            Counts { linked, unlinked, joining, staying, landmark: tossed.landmark() };
        pairs.few_links[0][at] = one;
        pairs.few_links[1][at] = two;
        (joining, staying)
    }

    /// Brings all that follows from the counts up to date.
    pub(super) fn conclude_all(&self, stats: &mut Links, z: &Partition) {
        let live = || z.live().iter().map(|k| k.index());
        z.live().iter().for_each(|&slot| self.conclude(stats, z, slot));
        // The sums took the shares of pairs in more than once.
        let sum = |of: &dyn Fn(usize) -> i64| live().map(of).sum::<i64>();
        stats.alone = sum(&|l| self.in_units(self.coin.ln_evidence(0, stats.size(l))));
        for k in live() {
            stats.joining[k] = sum(&|l| stats.between(l, k).joining);
            stats.staying[k] = sum(&|l| stats.between(k, l).staying);
            stats.quiet[k] = stats.joining[k] as f64 * self.unit;
        }
    }

    /// Whether what is kept up to date equals what is computed anew, to the last bit.
    pub(super) fn caches_are_true(&self, stats: &Links, z: &Partition) -> bool {
        let mut anew = stats.clone();
        let live = || z.live().iter().map(|k| k.index());
        for &slot in z.live() {
            assert_eq!(stats.size[slot.index()], z.size(slot), "sizes are as in z");
        }
        self.conclude_all(&mut anew, z);
        // What is left of empty slots means nothing.
        let same = |of: &dyn Fn(&Links) -> f64| of(&anew).to_bits() == of(stats).to_bits();
        let sums = |links: &Links, k: usize| (links.joining[k], links.staying[k]);
        let as_numbers = live().all(|k| stats.quiet[k] == stats.joining[k] as f64 * self.unit);
        as_numbers
            && anew.alone == stats.alone
            && live().all(|k| sums(&anew, k) == sums(stats, k))
            && live().all(|k| {
                live().all(|l| {
                    let at = stats.pairs.at(k, l);
                    anew.pairs.counts[at] == stats.pairs.counts[at]
                        && (0..FEW).all(|few| same(&|links| links.pairs.few_links[few][at]))
                        && (0..=FEW).all(|few| same(&|links| links.pairs.from_home[few][at]))
                })
            })
    }
}

/// The growth that a vertex with so many pairs, none of them linked, was; and how many pairs there are
/// without it. Something that will cancel if there is no such vertex, because all have links.
#[inline(always)]
fn quiet(tossed: &impl Tosses, linked: u64, all: u64, its_own: u64) -> (f64, Option<u64>) {
    match linked + its_own <= all {
        true => (-tossed.shift(all - its_own), Some(all - its_own)),
        false => (0.0, None),
    }
}
