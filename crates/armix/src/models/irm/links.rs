//! The statistics of the blocks, what follows from them for vertices without links, and the gains: where
//! most of all computing time is spent.

use super::load::VertexLoad;
use super::{Irm, pairs};
use crate::partition::{Partition, Slot};

/// The statistics of the blocks; and what follows from them for *quiet* vertices.
///
/// Most vertices have no links to most blocks. What the evidence of the pairs between two blocks then
/// grows by when such a vertex joins one of them does not depend on the vertex, so that it is kept here.
/// Sums over blocks are kept as multiples of a small unit: sums of integers do not depend on the order in
/// which vertices came and went, so that a run that was resumed goes on exactly as one that was not.
#[derive(Debug, Default)]
pub struct Links {
    blocks: Vec<Block>,
    /// The growth if a quiet vertex becomes a block of its own. Empty slots are all alike, and nothing else
    /// is kept of them.
    alone: i64,
    /// For every two slots, row after row.
    pairs: Vec<Pair>,
    side: usize,
}

/// What is kept of a slot.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
struct Block {
    size: u32,
    /// The growth if a quiet vertex joins.
    joining: i64,
    /// The growth that a quiet vertex which is here was.
    staying: i64,
}

/// What is kept of a slot k with another l, or with itself.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
struct Pair {
    /// N⁺: linked pairs of vertices, and all that were observed. Pairs within a slot count once.
    linked: u32,
    all: u64,
    /// The share of l in what is kept of [`Block`] k.
    joining: f64,
    staying: f64,
    /// What is to be added for a vertex that joins k and has one link to l.
    one_link: f64,
    /// What is to be added for a vertex that joins k, but is still counted in l, and has no links to k or l.
    from_home: f64,
}

impl Clone for Links {
    fn clone(&self) -> Self {
        let Links { blocks, alone, pairs, side } = self;
        Links { blocks: blocks.clone(), alone: *alone, pairs: pairs.clone(), side: *side }
    }
    fn clone_from(&mut self, source: &Self) {
        self.blocks.clone_from(&source.blocks);
        self.alone = source.alone;
        self.pairs.clone_from(&source.pairs);
        self.side = source.side;
    }
}

impl Links {
    /// The bytes that so many blocks take.
    pub(super) fn bytes(blocks: usize) -> u64 {
        let of = |count: usize, each: usize| count as u64 * each as u64;
        of(blocks, size_of::<Block>()) + blocks as u64 * of(blocks, size_of::<Pair>())
    }

    pub(super) fn grow(&mut self, slots: usize) {
        if slots > self.side {
            // Grow by half, so that a growing number of blocks rarely copies the pairs.
            let side = slots.max(self.side + self.side / 2).max(8);
            let mut pairs = vec![Pair::default(); side * side];
            for slot in 0..self.side {
                pairs[slot * side..][..self.side].copy_from_slice(self.row(slot));
            }
            (self.pairs, self.side) = (pairs, side);
        }
        if slots > self.blocks.len() {
            self.blocks.resize(slots, Block::default());
        }
    }

    #[inline(always)]
    fn row(&self, k: usize) -> &[Pair] {
        &self.pairs[k * self.side..][..self.side]
    }

    #[inline(always)]
    fn pair(&mut self, k: usize, l: usize) -> &mut Pair {
        &mut self.pairs[k * self.side..][..self.side][l]
    }

    #[inline(always)]
    fn size(&self, slot: usize) -> u64 {
        u64::from(self.blocks[slot].size)
    }

    /// The linked and the observed pairs between two blocks, or within one.
    #[inline]
    pub(super) fn counts(&self, k: Slot, l: Slot) -> (u64, u64) {
        let pair = &self.row(k.index())[l.index()];
        (u64::from(pair.linked), pair.all)
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
        let change = |sum: &mut u64, by: u64| if joins { *sum += by } else { *sum -= by };
        for l in z.live().iter().map(|l| l.index()).filter(|&l| l != k) {
            let linked = load.linked.to(l) as u32;
            let all = u64::from(load.m) * self.size(l) - load.hidden.to_if::<HIDDEN>(l);
            for (a, b) in [(k, l), (l, k)] {
                let pair = self.pair(a, b);
                pair.linked = if joins { pair.linked + linked } else { pair.linked - linked };
                change(&mut pair.all, all);
            }
        }
        let rest = z.size(slot);
        let mut more = pairs(u64::from(rest) + u64::from(load.m)) - pairs(u64::from(rest));
        if HIDDEN {
            more -= load.hidden.to(k) + u64::from(load.hidden.inner);
        }
        let linked = load.linked.to(k) as u32 + load.linked.inner;
        let pair = self.pair(k, k);
        pair.linked = if joins { pair.linked + linked } else { pair.linked - linked };
        change(&mut pair.all, more);
        self.blocks[k].size = if joins { rest + load.m } else { rest };
    }
}

/// What a vertex carries to its home, where it is still counted.
struct HomeLoad {
    slot: usize,
    /// Its links there …
    links: u64,
    /// … among so many pairs that were observed.
    others: u64,
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
        if stats.blocks[k].size > 0 {
            for l in z.live().iter().map(|l| l.index()).filter(|&l| l != k) {
                let Pair { joining, staying, .. } = *stats.pair(l, k);
                stats.blocks[l].joining -= self.in_units(joining);
                stats.blocks[l].staying -= self.in_units(staying);
            }
            stats.alone -= self.in_units(self.coin.ln_evidence(0, stats.size(k)));
        }
        stats.count::<HIDDEN>(load, z, slot, joins);
        if stats.blocks[k].size > 0 {
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
        let pair = stats.pair(k, k);
        let (linked, all) = (u64::from(pair.linked), pair.all);
        pair.joining = self.coin.shift(linked, all, all + size);
        pair.staying = self.quiet(linked, all, size - 1).0;
        pair.one_link = self.coin.turn(linked, all + size, 1);
        let mut joining = self.in_units(pair.joining);
        let mut staying = self.in_units(pair.staying);
        for l in z.live().iter().map(|l| l.index()).filter(|&l| l != k) {
            let others = stats.size(l);
            let pair = stats.pair(k, l);
            let (linked, all) = (u64::from(pair.linked), pair.all);
            let joining_k = self.coin.shift(linked, all, all + others);
            let joining_l = self.coin.shift(linked, all, all + size);
            let (staying_k, from_k) = self.quiet(linked, all, others);
            let (staying_l, from_l) = self.quiet(linked, all, size);
            // A vertex that leaves one of the two for the other.
            let from = |quiet: Option<u64>, size: u64, joining: f64, staying: f64| match quiet {
                Some(left) => self.coin.shift(linked, all, left + size - 1) + staying - joining,
                None => 0.0,
            };
            pair.joining = joining_k;
            pair.staying = staying_k;
            pair.one_link = self.coin.turn(linked, all + others, 1);
            pair.from_home = from(from_l, others, joining_k, staying_l);
            joining += self.in_units(joining_k);
            staying += self.in_units(staying_k);
            let pair = stats.pair(l, k);
            pair.joining = joining_l;
            pair.staying = staying_l;
            pair.one_link = self.coin.turn(linked, all + size, 1);
            pair.from_home = from(from_k, size, joining_l, staying_k);
            stats.blocks[l].joining += self.in_units(joining_l);
            stats.blocks[l].staying += self.in_units(staying_l);
        }
        (stats.blocks[k].joining, stats.blocks[k].staying) = (joining, staying);
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
        anew.alone = 0;
        for &slot in z.live() {
            assert_eq!(stats.blocks[slot.index()].size, z.size(slot), "sizes are as in z");
            self.conclude(&mut anew, z, slot);
            anew.alone += self.in_units(self.coin.ln_evidence(0, stats.size(slot.index())));
        }
        let live = || z.live().iter().map(|k| k.index());
        for k in live() {
            let units = |of: fn(&Pair) -> f64| {
                live().map(|l| self.in_units(of(&anew.row(k)[l]))).sum::<i64>()
            };
            let (joining, staying) = (units(|pair| pair.joining), units(|pair| pair.staying));
            (anew.blocks[k].joining, anew.blocks[k].staying) = (joining, staying);
        }
        anew.alone == stats.alone
            && live().all(|k| {
                anew.blocks[k] == stats.blocks[k]
                    && live().all(|l| anew.row(k)[l] == stats.row(k)[l])
            })
    }

    /// The gains of a single vertex, in O(slots · blocks with links to it).
    #[inline(always)]
    pub(super) fn gains_of_one<const HIDDEN: bool>(
        &self,
        stats: &Links,
        load: &VertexLoad,
        home: Option<Slot>,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        let home_slot = home.unwrap_or(Slot::NOWHERE);
        let home = home.map(|home| HomeLoad {
            slot: home.index(),
            links: load.linked.to(home.index()),
            others: stats.size(home.index()) - 1 - load.hidden.to_if::<HIDDEN>(home.index()),
        });
        for (slot, gain) in slots.iter().zip(&mut *gains) {
            *gain = if *slot == home_slot {
                self.gain_at_home::<HIDDEN>(stats, load, slot.index())
            } else if stats.blocks[slot.index()].size == 0 {
                self.gain_alone::<HIDDEN>(stats, load, home.as_ref())
            } else {
                self.gain_elsewhere::<HIDDEN>(stats, load, home.as_ref(), slot.index())
            };
        }
    }

    /// The gain of a vertex that joins block k, which is not its home.
    #[inline(always)]
    fn gain_elsewhere<const HIDDEN: bool>(
        &self,
        stats: &Links,
        load: &VertexLoad,
        home: Option<&HomeLoad>,
        k: usize,
    ) -> f64 {
        let VertexLoad { linked: links, hidden: unseen, .. } = load;
        let row = stats.row(k);
        let home_index = home.map_or(usize::MAX, |home| home.slot);
        // Pairs with its home come last, and so do those with blocks that hide something from it.
        let skip = |l: usize| l == home_index || unseen.to_if::<HIDDEN>(l) > 0;
        // As if it had no links at all, …
        let mut sum = stats.blocks[k].joining as f64 * self.unit;
        // … but it has some.
        for l in links.once.iter().map(|l| l.index()) {
            if !skip(l) {
                sum += row[l].one_link;
            }
        }
        for l in links.often.iter().map(|l| l.index()) {
            if !skip(l) {
                let Pair { linked, all, .. } = row[l];
                sum += self.coin.turn(u64::from(linked), all + stats.size(l), links.to(l));
            }
        }
        if HIDDEN {
            for l in unseen.touched.iter().map(|l| l.index()).filter(|&l| l != home_index) {
                let (Pair { linked, all, joining, .. }, more) =
                    (row[l], stats.size(l) - unseen.to(l));
                sum += self.coin.gain(u64::from(linked), all, links.to(l), more) - joining;
            }
        }
        let Some(home) = home else { return sum };
        let Pair { linked, all, joining, from_home, .. } = row[home.slot];
        let (linked, size) = (u64::from(linked), stats.size(k));
        let (new, hidden) = (links.to(k), unseen.to_if::<HIDDEN>(k));
        if new > 0 || hidden > 0 || unseen.to_if::<HIDDEN>(home.slot) > 0 {
            // Some pairs between k and its home are its own.
            let all = all - (size - hidden);
            sum + (self.coin.gain(linked - new, all, home.links, home.others) - joining)
        } else if home.links == 0 {
            sum + from_home
        } else {
            sum + (from_home + self.coin.turn(linked, all - size + home.others, home.links))
        }
    }

    /// The gain of a vertex as a block of its own.
    #[inline(always)]
    fn gain_alone<const HIDDEN: bool>(
        &self,
        stats: &Links,
        load: &VertexLoad,
        home: Option<&HomeLoad>,
    ) -> f64 {
        let mut sum = stats.alone as f64 * self.unit;
        let home_index = home.map_or(usize::MAX, |home| home.slot);
        for l in touched::<HIDDEN>(load).filter(|&l| l != home_index) {
            let (new, size) = (load.linked.to(l), stats.size(l));
            sum += match load.hidden.to_if::<HIDDEN>(l) {
                0 => self.coin.turn(0, size, new),
                hidden => {
                    self.coin.ln_evidence(new, size - hidden) - self.coin.ln_evidence(0, size)
                }
            };
        }
        let Some(home) = home else { return sum };
        let counted = self.coin.ln_evidence(0, stats.size(home.slot));
        sum + (self.coin.ln_evidence(home.links, home.others) - counted)
    }

    /// The gain of a vertex in its home, where it is still counted.
    #[inline(always)]
    fn gain_at_home<const HIDDEN: bool>(
        &self,
        stats: &Links,
        load: &VertexLoad,
        home: usize,
    ) -> f64 {
        let row = stats.row(home);
        let mut sum = stats.blocks[home].staying as f64 * self.unit;
        for l in touched::<HIDDEN>(load) {
            let Pair { linked, all, staying, .. } = row[l];
            let new = load.linked.to(l);
            let others = stats.size(l) - u64::from(l == home) - load.hidden.to_if::<HIDDEN>(l);
            sum += self.coin.gain(u64::from(linked) - new, all - others, new, others) - staying;
        }
        sum
    }

    /// The gains of any set of vertices by definition, in O(slots · blocks); also the twin that
    /// [`Irm::gains_of_one`] is held against.
    #[inline(always)]
    pub(super) fn gains_of_many<const HIDDEN: bool>(
        &self,
        stats: &Links,
        load: &VertexLoad,
        home: Option<Slot>,
        z: &Partition,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        let m = u64::from(load.m);
        let size = |slot: Slot| u64::from(z.size(slot));
        // What C brings to a block of z: links, and observed pairs.
        let brings = |l: Slot| {
            let unseen = load.hidden.to_if::<HIDDEN>(l.index());
            (load.linked.to(l.index()), m * size(l) - unseen)
        };
        for (&slot, gain) in slots.iter().zip(gains) {
            let row = stats.row(slot.index());
            // The pairs between two blocks without C.
            let without = |other: Slot| {
                let Pair { linked, all, .. } = row[other.index()];
                let (linked_c, all_c) = match home {
                    Some(home) if home == slot => brings(other),
                    Some(home) if home == other => brings(slot),
                    _ => (0, 0),
                };
                (u64::from(linked) - linked_c, all - all_c)
            };
            let mut sum = 0.0;
            for &other in z.live().iter().filter(|&&other| other != slot) {
                let ((linked, all), (new, more)) = (without(other), brings(other));
                sum += self.coin.gain(linked, all, new, more);
            }
            // Within the block.
            let new = load.linked.to(slot.index()) + u64::from(load.linked.inner);
            let mut more = pairs(size(slot) + m) - pairs(size(slot));
            if HIDDEN {
                more -= load.hidden.to(slot.index()) + u64::from(load.hidden.inner);
            }
            let Pair { linked, all, .. } = row[slot.index()];
            let counted = if home == Some(slot) { (new, more) } else { (0, 0) };
            let (linked, all) = (u64::from(linked) - counted.0, all - counted.1);
            *gain = sum + self.coin.gain(linked, all, new, more);
        }
    }
}

/// The blocks that a set of vertices has linked or hidden pairs with.
#[inline(always)]
fn touched<const HIDDEN: bool>(load: &VertexLoad) -> impl Iterator<Item = usize> {
    let only_unseen = |l: &&Slot| HIDDEN && load.linked.to(l.index()) == 0;
    let unseen = load.hidden.touched.iter().filter(only_unseen);
    load.linked.touched.iter().chain(unseen).map(|l| l.index())
}
