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
///
/// Nothing but the counts is kept of empty slots, which are all alike.
#[derive(Debug, Default, PartialEq)]
pub struct Links {
    /// By slot: the number of vertices; the growth if a quiet vertex joins; the growth that a quiet vertex
    /// which is here was.
    size: Vec<u32>,
    joining: Vec<i64>,
    staying: Vec<i64>,
    /// The growth if a quiet vertex becomes a block of its own.
    alone: i64,
    pairs: Pairs,
}

/// So many links to a block are few: what they make is kept.
const FEW: usize = 2;

/// What is kept of every two slots, in squares of so many rows. Row l has what matters for vertices with
/// links to l, or whose home is l; the columns k are where they may go.
#[derive(Debug, Default, PartialEq)]
struct Pairs {
    side: usize,
    /// N⁺ and N⁻: linked pairs of vertices, and unlinked ones. Pairs within a slot count once.
    linked: Vec<u32>,
    unlinked: Vec<u64>,
    /// The share of l in the growth if a quiet vertex joins k.
    joining: Vec<f64>,
    /// The share of k in the growth that a quiet vertex of l was.
    staying: Vec<f64>,
    /// What is to be added for a vertex that joins k and has one link to l, two of them, and so on.
    few_links: [Vec<f64>; FEW],
    /// What is to be added for a vertex that joins k, but is still counted in l, and has no links to either.
    from_home: Vec<f64>,
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
    fn at(&self, l: usize, k: usize) -> usize {
        l * self.side + k
    }

    /// A row of one of the squares.
    #[inline(always)]
    fn row<'a, T>(&self, square: &'a [T], l: usize) -> &'a [T] {
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
    fn size(&self, slot: usize) -> u64 {
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
        // What is left of empty slots means nothing, and is left alone.
        anew == *stats || (z.live().len() < stats.size.len() && self.same_blocks(&anew, stats, z))
    }

    fn same_blocks(&self, a: &Links, b: &Links, z: &Partition) -> bool {
        let live = || z.live().iter().map(|k| k.index());
        let same = |of: &dyn Fn(&Links) -> f64| of(a).to_bits() == of(b).to_bits();
        a.alone == b.alone
            && live().all(|k| (a.joining[k], a.staying[k]) == (b.joining[k], b.staying[k]))
            && live().all(|k| {
                live().all(|l| {
                    let at = a.pairs.at(k, l);
                    same(&|links| links.pairs.joining[at])
                        && same(&|links| links.pairs.staying[at])
                        && (0..FEW).all(|few| same(&|links| links.pairs.few_links[few][at]))
                        && same(&|links| links.pairs.from_home[at])
                })
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
        let VertexLoad { linked: links, hidden: unseen, .. } = load;
        let pairs = &stats.pairs;
        let home_index = home.map_or(usize::MAX, Slot::index);
        // As if it had no links at all, …
        for (slot, gain) in slots.iter().zip(&mut *gains) {
            *gain = stats.joining[slot.index()] as f64 * self.unit;
        }
        // … but it has some. Pairs with its home come last, and so do those with blocks that hide something.
        let skip = |l: usize| l == home_index || unseen.to_if::<HIDDEN>(l) > 0;
        for l in links.touched().iter().map(|l| l.index()).filter(|&l| !skip(l)) {
            let (new, more) = (links.to(l), stats.size(l));
            if let Some(few_links) = pairs.few_links.get(new as usize - 1) {
                let row = pairs.row(few_links, l);
                for (slot, gain) in slots.iter().zip(&mut *gains) {
                    *gain += row[slot.index()];
                }
                continue;
            }
            let (linked, unlinked) = (pairs.row(&pairs.linked, l), pairs.row(&pairs.unlinked, l));
            for (slot, gain) in slots.iter().zip(&mut *gains) {
                let k = slot.index();
                *gain += self.coin.turn(linked[k].into(), unlinked[k] + more, new);
            }
        }
        if HIDDEN {
            for l in unseen.touched().iter().map(|l| l.index()).filter(|&l| l != home_index) {
                let (new, more) = (links.to(l), stats.size(l) - unseen.to(l));
                for (slot, gain) in slots.iter().zip(&mut *gains) {
                    let (linked, all) = stats.counts(l, slot.index());
                    *gain += self.coin.gain(linked, all, new, more);
                    *gain -= pairs.joining[pairs.at(l, slot.index())];
                }
            }
        }
        let home = home.map(|home| HomeLoad {
            slot: home.index(),
            links: links.to(home.index()),
            others: stats.size(home.index()) - 1 - unseen.to_if::<HIDDEN>(home.index()),
        });
        if let Some(home) = &home {
            self.leave_home::<HIDDEN>(stats, load, home, slots, gains);
        }
        // Last, what is different: the home itself, and new blocks.
        for (slot, gain) in slots.iter().zip(&mut *gains) {
            if slot.index() == home_index {
                *gain = self.gain_at_home::<HIDDEN>(stats, load, slot.index());
            } else if stats.size[slot.index()] == 0 {
                *gain = self.gain_alone::<HIDDEN>(stats, load, home.as_ref());
            }
        }
    }

    /// Adds to the gains what is different because the vertex is still counted in its home, and its links
    /// there.
    #[inline(always)]
    fn leave_home<const HIDDEN: bool>(
        &self,
        stats: &Links,
        load: &VertexLoad,
        home: &HomeLoad,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        let (pairs, h) = (&stats.pairs, home.slot);
        let (linked, unlinked) = (pairs.row(&pairs.linked, h), pairs.row(&pairs.unlinked, h));
        let (joining, from_home) = (pairs.row(&pairs.joining, h), pairs.row(&pairs.from_home, h));
        let hides = load.hidden.to_if::<HIDDEN>(h) > 0;
        for (slot, gain) in slots.iter().zip(gains) {
            let k = slot.index();
            let (new, hidden) = (load.linked.to(k), load.hidden.to_if::<HIDDEN>(k));
            let size = stats.size(k);
            if k == h || size == 0 {
                continue;
            }
            let links = u64::from(linked[k]);
            if new > 0 || hidden > 0 || hides {
                // Some pairs between k and its home are its own.
                let all = links + unlinked[k] - (size - hidden);
                *gain += self.coin.gain(links - new, all, home.links, home.others) - joining[k];
            } else {
                *gain += from_home[k];
                if home.links > 0 {
                    let zeros = unlinked[k] + home.others - size;
                    *gain += self.coin.turn(links, zeros, home.links);
                }
            }
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
        let mut sum = stats.staying[home] as f64 * self.unit;
        for l in touched::<HIDDEN>(load) {
            let (linked, all) = stats.counts(home, l);
            let new = load.linked.to(l);
            let others = stats.size(l) - u64::from(l == home) - load.hidden.to_if::<HIDDEN>(l);
            sum += self.coin.gain(linked - new, all - others, new, others);
            sum -= stats.pairs.staying[stats.pairs.at(home, l)];
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
            // The pairs between two blocks without C.
            let without = |other: Slot| {
                let (linked, all) = stats.counts(slot.index(), other.index());
                let (linked_c, all_c) = match home {
                    Some(home) if home == slot => brings(other),
                    Some(home) if home == other => brings(slot),
                    _ => (0, 0),
                };
                (linked - linked_c, all - all_c)
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
            let (linked, all) = stats.counts(slot.index(), slot.index());
            let of_c = if home == Some(slot) { (new, more) } else { (0, 0) };
            *gain = sum + self.coin.gain(linked - of_c.0, all - of_c.1, new, more);
        }
    }
}

/// The blocks that a set of vertices has linked or hidden pairs with.
#[inline(always)]
fn touched<const HIDDEN: bool>(load: &VertexLoad) -> impl Iterator<Item = usize> {
    let only_unseen = |l: &&Slot| HIDDEN && load.linked.to(l.index()) == 0;
    let unseen = load.hidden.touched().iter().filter(only_unseen);
    load.linked.touched().iter().chain(unseen).map(|l| l.index())
}
