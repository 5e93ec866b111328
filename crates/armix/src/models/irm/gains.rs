//! What the evidence grows by if vertices join a block: where most of all computing time is spent.

use super::links::{Counts, Links};
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

/// Fewer candidates than these are looked at one by one.
const FEW_CANDIDATES: usize = 4;

/// So many numbers of a row are added at once.
const LANES: usize = 4;

impl Irm {
    /// [`Model::gains`], with or without pairs that were not observed.
    #[inline]
    pub(super) fn gains_any<const HIDDEN: bool>(
        &self,
        stats: &Links,
        load: &mut VertexLoad,
        home: Option<Slot>,
        z: &Partition,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        if load.m != 1 {
            return self.gains_of_many::<HIDDEN>(stats, load, home, z, slots, gains);
        }
        self.gains_of_one::<HIDDEN>(stats, load, home, z, slots, gains);
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
        load: &mut VertexLoad,
        home: Option<Slot>,
        z: &Partition,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        let home = home.map(|home| HomeLoad {
            slot: home.index(),
            links: load.linked.to(home.index()),
            others: stats.size(home.index()) - 1 - load.hidden.to_if::<HIDDEN>(home.index()),
        });
        let home = home.as_ref();
        // If many slots are candidates, whole rows are added up, and the others do no harm.
        let rows = slots.len() >= FEW_CANDIDATES && 2 * slots.len() > z.slots();
        if rows && load.hidden.touched().is_empty() {
            let width = z.slots().next_multiple_of(LANES);
            return match self.small {
                true => self.gains_by_rows::<true>(stats, load, home, width, slots, gains),
                false => self.gains_by_rows::<false>(stats, load, home, width, slots, gains),
            };
        }
        for (slot, gain) in slots.iter().zip(gains) {
            *gain = match slot.index() {
                k if home.is_some_and(|home| home.slot == k) => {
                    self.gain_at_home::<HIDDEN>(stats, load, k)
                }
                k if stats.size[k] == 0 => self.gain_alone::<HIDDEN>(stats, load, home),
                k => self.gain_elsewhere::<HIDDEN>(stats, load, home, k),
            }
        }
    }

    /// The same for many slots at once, if all pairs were observed: with as few branches as possible,
    /// because nothing can foresee where a vertex has links. In small networks the tables have everything.
    #[inline(always)]
    fn gains_by_rows<const SMALL: bool>(
        &self,
        stats: &Links,
        load: &mut VertexLoad,
        home: Option<&HomeLoad>,
        width: usize,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        let VertexLoad { linked: links, quiet, rows, .. } = load;
        let (pairs, coin) = (&stats.pairs, &self.coin);
        let size = &stats.size[..width];
        if quiet.len() < width {
            quiet.resize(width, 0.0);
            rows.resize(width, 0.0);
        }
        let (quiet, rows) = (&mut quiet[..width], &mut rows[..width]);
        // As if it had no links at all, …
        quiet.copy_from_slice(&stats.quiet[..width]);
        let mut alone = stats.alone as f64 * self.unit;
        let mut at_home = 0.0;
        if let Some(&HomeLoad { slot: h, links: new, others }) = home {
            let kept = pairs.from_home.get(new as usize);
            add_row(quiet, &pairs.row(kept.unwrap_or(&pairs.from_home[0]), h)[..width]);
            if kept.is_none() {
                let counts = &pairs.row(&pairs.counts, h)[..width];
                for k in slots.iter().map(|slot| slot.index()) {
                    let (counts, size) = (&counts[k], u64::from(size[k]));
                    // At least so many, except in the home and where it will be overwritten.
                    let zeros = (counts.unlinked + others).max(size + new) - size;
                    quiet[k] += self.links_come::<SMALL>(counts, zeros, new);
                }
            }
            at_home = stats.staying[h] as f64 * self.unit;
            alone += coin.ln_evidence(new, others) - coin.ln_evidence(0, others + 1);
        }
        // … but it has some.
        rows.fill(0.0);
        for l in links.touched().iter().map(|l| l.index()) {
            let (new, more) = (links.to(l), u64::from(size[l]));
            if let Some(home) = home {
                let counts = stats.between(home.slot, l);
                if l == home.slot {
                    at_home += self.stays_with::<SMALL>(counts, new, more - 1);
                    continue;
                }
                let stays = self.stays_with::<SMALL>(counts, new, more);
                at_home += stays;
                let leaves = self.leaves_for::<SMALL>(stats, home, l, (new, more), stays);
                quiet[l] = stats.quiet[l] + leaves;
            }
            alone += coin.turn(0, more, new);
            if let Some(few_links) = pairs.few_links.get(new as usize - 1) {
                add_row(rows, &pairs.row(few_links, l)[..width]);
                continue;
            }
            let counts = &pairs.row(&pairs.counts, l)[..width];
            for k in slots.iter().map(|slot| slot.index()) {
                let zeros = counts[k].unlinked + more;
                rows[k] += self.links_come::<SMALL>(&counts[k], zeros, new);
            }
        }
        if let Some(home) = home {
            (quiet[home.slot], rows[home.slot]) = (at_home, 0.0);
        }
        add_row(quiet, rows);
        for (slot, gain) in slots.iter().zip(gains) {
            let k = slot.index();
            *gain = if size[k] == 0 { alone } else { quiet[k] };
        }
    }

    /// The gain of a vertex in a block that is not its home.
    #[inline(always)]
    fn gain_elsewhere<const HIDDEN: bool>(
        &self,
        stats: &Links,
        load: &VertexLoad,
        home: Option<&HomeLoad>,
        k: usize,
    ) -> f64 {
        let VertexLoad { linked: links, hidden: unseen, .. } = load;
        let home_index = home.map_or(usize::MAX, |home| home.slot);
        // As if it had no links at all, …
        let mut gain = stats.quiet[k];
        // … but it has some.
        for l in touched::<HIDDEN>(load).filter(|&l| l != home_index) {
            let (at, new) = (stats.pairs.at(l, k), links.to(l));
            gain += match unseen.to_if::<HIDDEN>(l) {
                0 => self.links_add(stats, at, new, stats.size(l)),
                unseen => self.gain_despite(stats, at, new, stats.size(l) - unseen),
            };
        }
        match home {
            Some(home) => gain + self.away_from_home::<HIDDEN>(stats, load, home, k),
            None => gain,
        }
    }

    /// What the evidence grows by if some of so many zeros become links.
    #[inline(always)]
    fn links_come<const SMALL: bool>(&self, counts: &Counts, zeros: u64, new: u64) -> f64 {
        let (linked, all) = (counts.linked, counts.linked + zeros);
        match SMALL {
            true => self.coin.recount_in_tables(all, linked, linked + new),
            false => {
                let away = zeros as i64 - counts.unlinked as i64;
                self.coin.turn_near(&counts.landmark, away, linked, zeros, new)
            }
        }
    }

    /// What the evidence of so many pairs changes by if there are not so many links among them but others.
    #[inline(always)]
    fn recount<const SMALL: bool>(&self, counts: &Counts, all: u64, from: u64, to: u64) -> f64 {
        match SMALL {
            true => self.coin.recount_in_tables(all, from, to),
            false => self.coin.recount_near((&counts.landmark, counts.unlinked), all, from, to),
        }
    }

    /// What links to a block add, at its place among the pairs of blocks.
    #[inline(always)]
    fn links_add(&self, stats: &Links, at: usize, new: u64, more: u64) -> f64 {
        let pairs = &stats.pairs;
        match pairs.few_links.get(new as usize - 1) {
            Some(few_links) => few_links[at],
            None => {
                let counts = &pairs.counts[at];
                self.links_come::<false>(counts, counts.unlinked + more, new)
            }
        }
    }

    /// What is to be added if the vertex has `new` links to a block, and only `more` pairs were observed.
    #[inline(always)]
    fn gain_despite(&self, stats: &Links, at: usize, new: u64, more: u64) -> f64 {
        let counts = &stats.pairs.counts[at];
        self.coin.gain(counts.linked, counts.all(), new, more) - counts.joining as f64 * self.unit
    }

    /// What is to be added because the vertex is still counted in its home, and for its links there, if it
    /// joins another block.
    #[inline(always)]
    fn away_from_home<const HIDDEN: bool>(
        &self,
        stats: &Links,
        load: &VertexLoad,
        home: &HomeLoad,
        k: usize,
    ) -> f64 {
        let (new, hidden) = (load.linked.to(k), load.hidden.to_if::<HIDDEN>(k));
        let (pairs, at, size) = (&stats.pairs, stats.pairs.at(home.slot, k), stats.size(k));
        if new > 0 || hidden > 0 || load.hidden.to_if::<HIDDEN>(home.slot) > 0 {
            let counts = &pairs.counts[at];
            if hidden > 0 || load.hidden.to_if::<HIDDEN>(home.slot) > 0 {
                return self.leaves_despite(counts, home, new, size - hidden);
            }
            let stays = self.stays_with::<false>(counts, new, size);
            return self.leaves_for::<false>(stats, home, k, (new, size), stays);
        }
        if let Some(kept) = pairs.from_home.get(home.links as usize) {
            return kept[at];
        }
        let counts = &pairs.counts[at];
        let zeros = counts.unlinked + home.others - size;
        pairs.from_home[0][at] + self.links_come::<false>(counts, zeros, home.links)
    }

    /// The same for a block that it has links to, given what they add if it stays: the links it had with
    /// that block as a part of its home are gone, and those with its home have come.
    #[inline(always)]
    fn leaves_for<const SMALL: bool>(
        &self,
        stats: &Links,
        home: &HomeLoad,
        k: usize,
        (new, more): (u64, u64),
        stays: f64,
    ) -> f64 {
        let counts = stats.between(home.slot, k);
        if counts.unlinked < more {
            return self.leaves_despite(counts, home, new, more);
        }
        let at = stats.pairs.at(home.slot, k);
        let all = counts.all() - more + home.others;
        let links = counts.linked - new + home.links;
        let links = self.recount::<SMALL>(counts, all, counts.linked, links);
        stats.pairs.from_home[0][at] + stays + links
    }

    /// The same in general: with hidden pairs, or if no quiet vertex could have left.
    fn leaves_despite(&self, counts: &Counts, home: &HomeLoad, new: u64, more: u64) -> f64 {
        let left = (counts.linked - new, counts.all() - more);
        self.coin.gain(left.0, left.1, home.links, home.others) - counts.joining as f64 * self.unit
    }

    /// What is to be added for links to a block, if the vertex stays at home.
    #[inline(always)]
    fn stays_with<const SMALL: bool>(&self, counts: &Counts, new: u64, more: u64) -> f64 {
        if counts.unlinked < more {
            return self.stays_despite(counts, new, more);
        }
        let all = counts.all() - more;
        self.recount::<SMALL>(counts, all, counts.linked - new, counts.linked)
    }

    /// The same in general.
    fn stays_despite(&self, counts: &Counts, new: u64, more: u64) -> f64 {
        self.coin.gain(counts.linked - new, counts.all() - more, new, more)
            - counts.staying as f64 * self.unit
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
            let (counts, new) = (stats.between(home, l), load.linked.to(l));
            let others = stats.size(l) - u64::from(l == home);
            sum += match load.hidden.to_if::<HIDDEN>(l) {
                0 => self.stays_with::<false>(counts, new, others),
                hidden => self.stays_despite(counts, new, others - hidden),
            };
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
                let counts = stats.between(slot.index(), other.index());
                let (linked_c, all_c) = match home {
                    Some(home) if home == slot => brings(other),
                    Some(home) if home == other => brings(slot),
                    _ => (0, 0),
                };
                (counts.linked - linked_c, counts.all() - all_c)
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
            let counts = stats.between(slot.index(), slot.index());
            let of_c = if home == Some(slot) { (new, more) } else { (0, 0) };
            *gain = sum + self.coin.gain(counts.linked - of_c.0, counts.all() - of_c.1, new, more);
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

/// Adds a row to sums, several at once.
#[inline(always)]
fn add_row(sums: &mut [f64], row: &[f64]) {
    for (sums, row) in sums.as_chunks_mut::<LANES>().0.iter_mut().zip(row.as_chunks::<LANES>().0) {
        // Both are read before anything is written, so that these can be vectors.
        let (a, b) = (*sums, *row);
        *sums = std::array::from_fn(|lane| a[lane] + b[lane]);
    }
}
