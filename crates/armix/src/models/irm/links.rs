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
    /// By slot: the number of vertices.
    pub(super) size: Vec<u32>,
    pub(super) sums: Vec<Sums>,
    /// `joining` of the sums as numbers.
    pub(super) quiet: Vec<Lanes>,
    /// The growth if a quiet vertex becomes a block of its own.
    pub(super) alone: i64,
    pub(super) pairs: Pairs,
}

/// Sums over the blocks that a slot is paired with.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Sums {
    /// The growth if a quiet vertex joins.
    joining: i64,
    /// The growth that a quiet vertex which is here was.
    pub(super) staying: i64,
}

/// So many links to a block are few: what they make is kept.
pub(super) const FEW: usize = crate::special::FEW;

/// So many slots lie side by side.
pub(super) const LANES: usize = 4;

/// A number for each of them.
pub(super) type Lanes = [f64; LANES];

/// What is kept of every two slots, in squares of so many rows. Row l has what matters for vertices with
/// links to l, or whose home is l; the columns k are where they may go.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    side: usize,
    pub(super) counts: Vec<Counts>,
    tiles: Vec<Tile>,
}

/// What is kept of a row for some columns side by side. All of it changes together; adding rows up is
/// adding vectors.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(32))]
pub(super) struct Tile {
    /// What is to be added for a vertex that joins k and has one link to l, two of them, and so on.
    pub(super) few_links: [Lanes; FEW],
    /// What is to be added for a vertex that joins k, but is still counted in l, and has no links to k, and
    /// none to l, one, and so on.
    pub(super) from_home: [Lanes; FEW + 1],
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

/// What is counted of every two slots.
pub(super) trait Between {
    /// The number of vertices in a slot.
    fn size(&self, slot: usize) -> u64;

    /// The linked pairs between two slots, or within one; and the observed ones.
    fn linked_and_all(&self, l: usize, k: usize) -> (u64, u64);

    /// The linked pairs that vertices have with a slot, where they are counted for such statistics.
    fn links_of(&self, load: &VertexLoad, slot: usize) -> u64;
}

impl Between for Links {
    #[inline(always)]
    fn size(&self, slot: usize) -> u64 {
        self.size(slot)
    }

    #[inline(always)]
    fn linked_and_all(&self, l: usize, k: usize) -> (u64, u64) {
        let counts = self.between(l, k);
        (counts.linked, counts.all())
    }

    #[inline(always)]
    fn links_of(&self, load: &VertexLoad, slot: usize) -> u64 {
        load.linked.to(slot)
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
        self.sums.clone_from(&source.sums);
        self.quiet.clone_from(&source.quiet);
        self.alone = source.alone;
        let (pairs, source) = (&mut self.pairs, &source.pairs);
        pairs.side = source.side;
        pairs.counts.clone_from(&source.counts);
        pairs.tiles.clone_from(&source.tiles);
    }
}

impl Pairs {
    /// The bytes of one pair.
    const BYTES: u64 = (size_of::<Counts>() + size_of::<Tile>() / LANES) as u64;

    fn grow(&mut self, slots: usize) {
        if slots <= self.side {
            return;
        }
        // A little more than needed, so that a growing number of blocks rarely copies everything.
        let side = slots.max(self.side + self.side / 8).max(8).next_multiple_of(LANES);
        grow_rows(&mut self.counts, self.side, (self.side, side), side);
        grow_rows(&mut self.tiles, self.side, (self.side / LANES, side / LANES), side);
        self.side = side;
    }

    #[inline(always)]
    pub(super) fn at(&self, l: usize, k: usize) -> usize {
        l * self.side + k
    }

    /// Row l of the counts.
    #[inline(always)]
    pub(super) fn counts_of(&self, l: usize) -> &[Counts] {
        &self.counts[l * self.side..][..self.side]
    }

    /// So many tiles of row l.
    #[inline(always)]
    pub(super) fn tiles_of(&self, l: usize, tiles: usize) -> &[Tile] {
        &self.tiles[l * (self.side / LANES)..][..tiles]
    }

    /// Where columns k and its neighbours of row l are kept; k is lane k mod [`LANES`] there.
    #[inline(always)]
    pub(super) fn tile(&self, l: usize, k: usize) -> &Tile {
        &self.tiles[l * (self.side / LANES) + k / LANES]
    }
}

/// Makes a table larger that has so many rows of so many numbers.
fn grow_rows<T: Copy + Default>(
    table: &mut Vec<T>,
    rows: usize,
    (width, wider): (usize, usize),
    more: usize,
) {
    let mut grown = vec![T::default(); more * wider];
    for row in 0..rows {
        grown[row * wider..][..width].copy_from_slice(&table[row * width..][..width]);
    }
    *table = grown;
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
        self.sums.resize(self.pairs.side, Sums::default());
        self.quiet.resize(self.pairs.side / LANES, Lanes::default());
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

    /// The sums of a block.
    #[inline(always)]
    fn set_sums(&mut self, slot: usize, sums: Sums, unit: f64) {
        self.sums[slot] = sums;
        self.quiet[slot / LANES][slot % LANES] = sums.joining as f64 * unit;
    }
}

/// The linked and unlinked pairs of two blocks once vertices with so many pairs, some of them linked, have joined or left.
#[inline(always)]
fn recounted(counts: &Counts, linked: u64, all: u64, joins: bool) -> (u64, u64) {
    let Counts { linked: before, unlinked, .. } = *counts;
    match joins {
        true => (before + linked, unlinked + (all - linked)),
        false => (before - linked, unlinked - (all - linked)),
    }
}

impl Irm {
    /// As a multiple of the unit, to nearest. All that is summed is the logarithm of a probability.
    #[inline(always)]
    fn in_units(&self, negative: f64) -> i64 {
        (negative * self.units - 0.5) as i64
    }

    /// The share of a block of so many vertices in the growth if a quiet vertex becomes a block of its own.
    #[inline(always)]
    fn beside(&self, size: u64) -> i64 {
        self.in_units(self.coin.ln_evidence(0, size))
    }

    /// A set of vertices joins a slot or leaves it. z has none of them.
    #[inline(always)]
    pub(super) fn change<const HIDDEN: bool>(
        &self,
        stats: &mut Links,
        load: &VertexLoad,
        z: &Partition,
        slot: Slot,
        joins: bool,
    ) {
        let (k, m, rest) = (slot.index(), u64::from(load.m), u64::from(z.size(slot)));
        let before = stats.size(k);
        let size = rest + if joins { m } else { 0 };
        // What is left of empty slots means nothing, and nothing but counts is kept of them.
        stats.alone += if size > 0 { self.beside(size) } else { 0 };
        stats.alone -= if before > 0 { self.beside(before) } else { 0 };
        stats.size[k] = size as u32;
        let mut sums = Sums::default();
        for l in z.live().iter().map(|l| l.index()).filter(|&l| l != k) {
            let (here, there) = (stats.between(k, l), stats.between(l, k));
            let was = if before > 0 { (here.joining, there.staying) } else { (0, 0) };
            let others = stats.size(l);
            let all = m * others - load.hidden.to_if::<HIDDEN>(l);
            let counts = recounted(here, load.linked.to(l), all, joins);
            let mut other = stats.sums[l];
            if size > 0 {
                let (at_l, at_k) = self.keep_both(&mut stats.pairs, counts, (k, size), (l, others));
                other.joining += at_l.0;
                other.staying += at_k.1;
                sums.joining += at_k.0;
                sums.staying += at_l.1;
            } else {
                let (at, back) = (stats.pairs.at(k, l), stats.pairs.at(l, k));
                stats.pairs.counts[at] = Counts::default();
                stats.pairs.counts[back] = Counts::default();
            }
            other.joining -= was.0;
            other.staying -= was.1;
            stats.set_sums(l, other, self.unit);
        }
        let mut all = pairs(rest + m) - pairs(rest);
        if HIDDEN {
            all -= load.hidden.to(k) + u64::from(load.hidden.inner);
        }
        let linked = load.linked.to(k) + u64::from(load.linked.inner);
        let counts = recounted(stats.between(k, k), linked, all, joins);
        let own = self.keep_own(&mut stats.pairs, counts, (k, size));
        sums.joining += own.0;
        sums.staying += own.1;
        stats.set_sums(k, sums, self.unit);
    }

    /// All vertices leave a slot, whatever links they have. z has none of them.
    pub(super) fn forget(&self, stats: &mut Links, z: &Partition, slot: Slot) {
        let k = slot.index();
        for l in z.live().iter().map(|l| l.index()) {
            let (at, back) = (stats.pairs.at(k, l), stats.pairs.at(l, k));
            let mut sums = stats.sums[l];
            sums.joining -= stats.pairs.counts[at].joining;
            sums.staying -= stats.pairs.counts[back].staying;
            stats.set_sums(l, sums, self.unit);
            stats.pairs.counts[at] = Counts::default();
            stats.pairs.counts[back] = Counts::default();
        }
        let at = stats.pairs.at(k, k);
        stats.pairs.counts[at] = Counts::default();
        stats.alone -= self.beside(stats.size(k));
        stats.size[k] = 0;
    }

    /// Brings what follows from the counts within a block up to date; returns its shares in the sums.
    #[inline(always)]
    fn keep_own(
        &self,
        pairs: &mut Pairs,
        (linked, unlinked): (u64, u64),
        (k, size): (usize, u64),
    ) -> (i64, i64) {
        let (at, all) = (pairs.at(k, k), linked + unlinked);
        let tossed = self.coin.tossed(linked, all);
        let joining = self.in_units(tossed.shift(all + size));
        let staying = self.in_units(quiet(&tossed, linked, all, size.saturating_sub(1)).0);
        let landmark = tossed.landmark();
        pairs.counts[at] = Counts { linked, unlinked, joining, staying, landmark };
        let few_links = tossed.turns(unlinked + size, size);
        let tile = &mut pairs.tiles[k * (pairs.side / LANES) + k / LANES];
        tile.few_links.iter_mut().zip(few_links).for_each(|(row, few)| row[k % LANES] = few);
        (joining, staying)
    }

    /// Brings what follows from the counts between blocks k and l, of so many vertices, up to date; returns what is kept for
    /// (k, l) and for (l, k): `joining` and `staying`.
    #[inline(always)]
    fn keep_both(
        &self,
        pairs: &mut Pairs,
        counts: (u64, u64),
        (k, size): (usize, u64),
        (l, others): (usize, u64),
    ) -> ((i64, i64), (i64, i64)) {
        let all = counts.0 + counts.1;
        match self.coin.tossed_in_tables(counts.0, all, all + size.max(others)) {
            Some(tossed) => (
                self.keep(pairs, (k, l), &tossed, counts, size, others),
                self.keep(pairs, (l, k), &tossed, counts, others, size),
            ),
            None => self.keep_both_far(pairs, counts, (k, size), (l, others)),
        }
    }

    /// The same beyond the tables.
    #[inline(never)]
    fn keep_both_far(
        &self,
        pairs: &mut Pairs,
        counts: (u64, u64),
        (k, size): (usize, u64),
        (l, others): (usize, u64),
    ) -> ((i64, i64), (i64, i64)) {
        let tossed = self.coin.tossed(counts.0, counts.0 + counts.1);
        (
            self.keep(pairs, (k, l), &tossed, counts, size, others),
            self.keep(pairs, (l, k), &tossed, counts, others, size),
        )
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
        let (tile, lane) = (&mut pairs.tiles[l * (pairs.side / LANES) + k / LANES], k % LANES);
        // What is different for a vertex that leaves the one block for the other. If no quiet vertex could have left it
        // is added and taken away again, so that it must not depend on what was here before.
        let from_home = match without {
            Some(left) => {
                let all = left + row - 1;
                let none = tossed.shift(all) + (stays - joins);
                let [one, two] = tossed.turns(all - linked, row - 1);
                [none + 0.0, none + one, none + two]
            }
            None => [0.0; FEW + 1],
        };
        tile.from_home.iter_mut().zip(from_home).for_each(|(kept, from)| kept[lane] = from);
        let [one, two] = tossed.turns(unlinked + row, row);
        tile.few_links[0][lane] = one;
        tile.few_links[1][lane] = two;
        let (joining, staying) = (self.in_units(joins), self.in_units(stays));
        pairs.counts[at] =
            Counts { linked, unlinked, joining, staying, landmark: tossed.landmark() };
        (joining, staying)
    }

    /// What other statistics count of so many slots, with all that follows from it.
    pub(super) fn links_from(&self, counted: &impl Between, slots: usize) -> Links {
        let mut stats = Links::default();
        stats.grow(slots);
        for l in 0..slots {
            stats.size[l] = counted.size(l) as u32;
            for k in 0..slots {
                let (linked, all) = counted.linked_and_all(l, k);
                let at = stats.pairs.at(l, k);
                stats.pairs.counts[at].linked = linked;
                stats.pairs.counts[at].unlinked = all - linked;
            }
        }
        self.conclude_all(&mut stats);
        stats
    }

    /// Brings all that follows from the counts up to date.
    pub(super) fn conclude_all(&self, stats: &mut Links) {
        let live: Vec<usize> = (0..stats.size.len()).filter(|&k| stats.size[k] > 0).collect();
        let live = || live.iter().copied();
        let counts =
            |stats: &Links, k, l| (stats.between(k, l).linked, stats.between(k, l).unlinked);
        for k in live() {
            let (size, own) = (stats.size(k), counts(stats, k, k));
            self.keep_own(&mut stats.pairs, own, (k, size));
            for l in live().take_while(|&l| l != k) {
                let (others, both) = (stats.size(l), counts(stats, k, l));
                self.keep_both(&mut stats.pairs, both, (k, size), (l, others));
            }
        }
        stats.alone = live().map(|l| self.beside(stats.size(l))).sum();
        for k in live() {
            let joining = live().map(|l| stats.between(l, k).joining).sum();
            let staying = live().map(|l| stats.between(k, l).staying).sum();
            stats.set_sums(k, Sums { joining, staying }, self.unit);
        }
    }

    /// Whether what is kept up to date equals what is computed anew, to the last bit.
    pub(super) fn caches_are_true(&self, stats: &Links, z: &Partition) -> bool {
        let mut anew = stats.clone();
        let live = || z.live().iter().map(|k| k.index());
        for &slot in z.live() {
            assert_eq!(stats.size[slot.index()], z.size(slot), "sizes are as in z");
        }
        self.conclude_all(&mut anew);
        // What is left of empty slots means nothing.
        let quiet = |links: &Links, k: usize| links.quiet[k / LANES][k % LANES].to_bits();
        let kept = |links: &Links, k: usize, l: usize| {
            let Tile { few_links, from_home } = links.pairs.tile(k, l);
            let bits = |row: &Lanes| row[l % LANES].to_bits();
            (few_links.each_ref().map(bits), from_home.each_ref().map(bits))
        };
        anew.alone == stats.alone
            && live().all(|k| anew.sums[k] == stats.sums[k] && quiet(&anew, k) == quiet(stats, k))
            && live().all(|k| {
                live().all(|l| {
                    anew.between(k, l) == stats.between(k, l)
                        && kept(&anew, k, l) == kept(stats, k, l)
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
