//! What the evidence grows by if vertices join a block: where most of all computing time is spent.

use super::links::Links;
use super::load::VertexLoad;
use super::{Irm, pairs};
use crate::model::Model;
use crate::partition::{Partition, Slot};

/// What a vertex carries to its home, where it is still counted.
struct HomeLoad {
    slot: usize,
    /// Its links there …
    links: u64,
    /// … among so many pairs that were observed.
    others: u64,
}

impl Irm {
    /// [`Model::gains`], with or without pairs that were not observed.
    #[inline]
    pub(super) fn gains_any<const HIDDEN: bool>(
        &self,
        stats: &Links,
        load: &VertexLoad,
        home: Option<Slot>,
        z: &Partition,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        if load.m != 1 {
            return self.gains_of_many::<HIDDEN>(stats, load, home, z, slots, gains);
        }
        self.gains_of_one::<HIDDEN>(stats, load, home, slots, gains);
        // In small problems, so that tests stay fast.
        if cfg!(debug_assertions) && self.n() <= 100 {
            let mut plain = vec![0.0; gains.len()];
            self.gains_of_many::<HIDDEN>(stats, load, home, z, slots, &mut plain);
            for (fast, plain) in gains.iter().zip(plain) {
                let error = (fast - plain).abs();
                assert!(error < 1e-9 * plain.abs().max(1.0), "a gain is {fast}, not {plain}");
            }
        }
    }

    /// The gains of a single vertex, in O(slots · blocks with links to it).
    #[inline(always)]
    fn gains_of_one<const HIDDEN: bool>(
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
    fn gains_of_many<const HIDDEN: bool>(
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
