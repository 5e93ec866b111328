//! What the evidence grows by if vertices join a block: where most of all computing time is spent.

use super::compact::{Compact, Tables};
use super::links::{Between, Counts, FEW, LANES, Lanes, Links, Tile};
use super::load::{PairLoad, VertexLoad};
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

impl HomeLoad {
    #[inline(always)]
    fn new<const HIDDEN: bool>(stats: &Links, load: &VertexLoad, slot: usize) -> Self {
        HomeLoad {
            slot,
            links: load.linked.to(slot),
            others: stats.size(slot) - 1 - load.hidden.to_if::<HIDDEN>(slot),
        }
    }
}

/// Fewer candidates than these are looked at one by one.
const FEW_CANDIDATES: usize = 4;

impl Irm {
    /// [`Model::gains`], with or without pairs that were not observed.
    #[inline(always)]
    pub(super) fn gains_any<const HIDDEN: bool>(
        &self,
        stats: &Links,
        load: &mut VertexLoad,
        home: Option<Slot>,
        z: &Partition,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        // If many slots are candidates, whole rows are added up, and the others do no harm.
        let rows = slots.len() >= FEW_CANDIDATES && 2 * slots.len() > z.slots();
        if rows && load.m == 1 && load.hidden.touched().is_empty() {
            match self.small {
                true => self.gains_by_rows::<true>(stats, load, home, z, slots, gains),
                false => self.gains_by_rows::<false>(stats, load, home, z, slots, gains),
            }
        } else {
            self.gains_by_blocks::<HIDDEN>(stats, load, home, z, slots, gains);
        }
        self.check_gains::<HIDDEN>(stats, load, home, z, slots, gains);
    }

    /// In debug builds: whether fast gains are those by definition. In small problems, so that tests stay fast.
    #[inline(always)]
    fn check_gains<const HIDDEN: bool>(
        &self,
        stats: &impl Between,
        load: &VertexLoad,
        home: Option<Slot>,
        z: &Partition,
        slots: &[Slot],
        gains: &[f64],
    ) {
        if cfg!(debug_assertions) && load.m == 1 && self.n() <= 100 {
            let mut plain = vec![0.0; gains.len()];
            self.gains_of_many::<HIDDEN>(stats, load, home, z, slots, &mut plain);
            for (fast, plain) in gains.iter().zip(plain) {
                let error = (fast - plain).abs();
                assert!(error < 1e-9 * plain.abs().max(1.0), "a gain is {fast}, not {plain}");
            }
        }
    }

    /// [`Model::gains`] among few blocks of a small network.
    #[inline(always)]
    pub(super) fn gains_among_few(
        &self,
        (stats, tables): (&Compact, &Tables),
        load: &VertexLoad,
        home: Option<Slot>,
        z: &Partition,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        match load.m {
            1 => stats.gains(tables, load, home, z, slots, gains),
            _ => self.gains_of_many::<false>(stats, load, home, z, slots, gains),
        }
        self.check_gains::<false>(stats, load, home, z, slots, gains);
    }

    /// The gains of vertices, block by block; of a single vertex in O(slots · blocks with links to it).
    #[inline(never)]
    fn gains_by_blocks<const HIDDEN: bool>(
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
        let home = home.map(|home| HomeLoad::new::<HIDDEN>(stats, load, home.index()));
        let home = home.as_ref();
        if let Some(home) = home
            && !HIDDEN
            && self.small
            && (2..FEW_CANDIDATES).contains(&slots.len())
            && slots.iter().any(|slot| slot.index() == home.slot)
        {
            return self.gains_of_few(stats, load, home, slots, gains);
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

    /// The gains of a single vertex with many slots at once, if all its pairs were observed: with as few branches as
    /// possible, because nothing can foresee where a vertex has links. In small networks the tables have everything.
    #[inline(never)]
    fn gains_by_rows<const SMALL: bool>(
        &self,
        stats: &Links,
        load: &mut VertexLoad,
        home: Option<Slot>,
        z: &Partition,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        let home = home.map(|home| HomeLoad::new::<false>(stats, load, home.index()));
        let VertexLoad { linked: links, sums, .. } = load;
        let (pairs, tiles) = (&stats.pairs, z.slots().div_ceil(LANES));
        let size = &stats.size[..tiles * LANES];
        if sums.len() < tiles {
            sums.resize(tiles, Lanes::default());
        }
        let sums = &mut sums[..tiles];
        // As if it had no links at all, …
        let mut alone = stats.alone as f64 * self.unit;
        let mut at_home = 0.0;
        // If links to its home are few, what they make is kept.
        let kept = home.as_ref().map_or(0, |home| home.links as usize);
        let kept = if kept <= FEW { kept } else { 0 };
        if let Some(home) = &home {
            let from_home = pairs.tiles_of(home.slot, tiles);
            for ((sum, quiet), tile) in sums.iter_mut().zip(&stats.quiet[..tiles]).zip(from_home) {
                *sum = added(quiet, &tile.from_home[kept]);
            }
            if home.links as usize > FEW {
                self.many_links_home::<SMALL>(stats, links, home, slots, sums.as_flattened_mut());
            }
            at_home = stats.sums[home.slot].staying as f64 * self.unit;
            alone += self.leaves_alone::<SMALL>(home.links, home.others);
        } else {
            sums.copy_from_slice(&stats.quiet[..tiles]);
        }
        // … but it has some.
        for l in links.touched().iter().map(|l| l.index()) {
            let (new, more) = (links.to(l), u64::from(size[l]));
            if let Some(home) = &home {
                let counts = stats.between(home.slot, l);
                if l == home.slot {
                    at_home += self.stays_with::<SMALL>(counts, new, more - 1);
                    continue;
                }
                let stays = self.stays_with::<SMALL>(counts, new, more);
                at_home += stays;
                // Not as if it had no links there.
                let from_home = &pairs.tile(home.slot, l).from_home;
                let none = from_home[0][l % LANES];
                let leaves = self.leaves_for::<SMALL>(counts, none, home, (new, more), stays);
                sums[l / LANES][l % LANES] += leaves - from_home[kept][l % LANES];
            }
            alone += self.links_come_to::<SMALL>(more, new);
            if new as usize <= FEW {
                for (sum, tile) in sums.iter_mut().zip(pairs.tiles_of(l, tiles)) {
                    *sum = added(sum, &tile.few_links[new as usize - 1]);
                }
            } else {
                self.many_links::<SMALL>(pairs.counts_of(l), (new, more), slots, sums);
            }
        }
        if let Some(home) = &home {
            sums[home.slot / LANES][home.slot % LANES] = at_home;
        }
        let sums = &sums.as_flattened()[..size.len()];
        for (slot, gain) in slots.iter().zip(gains) {
            let k = slot.index();
            *gain = if size[k] == 0 { alone } else { sums[k] };
        }
    }

    /// What more links to a block than are kept add, for all slots.
    #[inline(always)]
    fn many_links<const SMALL: bool>(
        &self,
        counts: &[Counts],
        (new, more): (u64, u64),
        slots: &[Slot],
        sums: &mut [Lanes],
    ) {
        let sums = &mut sums.as_flattened_mut()[..];
        for k in slots.iter().map(|slot| slot.index()) {
            let zeros = counts[k].unlinked + more;
            sums[k] += self.links_come::<SMALL>(&counts[k], zeros, new);
        }
    }

    /// What more links to its home than are kept add for a vertex that leaves it for a block without links.
    #[inline(always)]
    fn many_links_home<const SMALL: bool>(
        &self,
        stats: &Links,
        links: &PairLoad,
        home: &HomeLoad,
        slots: &[Slot],
        sums: &mut [f64],
    ) {
        let counts = stats.pairs.counts_of(home.slot);
        for k in slots.iter().map(|slot| slot.index()) {
            if links.to(k) == 0 && k != home.slot {
                let zeros = counts[k].unlinked + home.others - stats.size(k);
                sums[k] += self.links_come::<SMALL>(&counts[k], zeros, home.links);
            }
        }
    }

    /// The same for a few slots, if all pairs were observed and the tables have everything: with as few branches as possible.
    #[inline(never)]
    fn gains_of_few(
        &self,
        stats: &Links,
        load: &VertexLoad,
        home: &HomeLoad,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        const OTHERS: [[usize; 2]; 3] = [[1, 2], [0, 2], [0, 1]];
        let (pairs, h) = (&stats.pairs, home.slot);
        let slots = [slots[0].index(), slots[1].index(), slots.get(2).unwrap_or(&slots[0]).index()];
        let at = if slots[0] == h {
            0
        } else if slots[1] == h {
            1
        } else {
            2
        };
        let others = OTHERS[at].map(|at| slots[at]);
        // As if it had no links at all, …
        let mut at_home = stats.sums[h].staying as f64 * self.unit;
        let mut away = others.map(|k| stats.quiet[k / LANES][k % LANES]);
        // … but it has some. Those to its home come later, all at once.
        for l in load.linked.touched().iter().map(|l| l.index()) {
            let (new, size) = (load.linked.to(l), stats.size(l));
            let counts = stats.between(h, l);
            at_home += self.stays_with::<true>(counts, new, size - u64::from(l == h));
            // What links to its home would add is not needed: the least trouble will do.
            let few = if l == h { 0 } else { new as usize - 1 };
            let add = match few < FEW {
                true => others.map(|k| pairs.tile(l, k).few_links[few][k % LANES]),
                false => {
                    let row = pairs.counts_of(l);
                    others.map(|k| self.links_come::<true>(&row[k], row[k].unlinked + size, new))
                }
            };
            let all = if l == h { 0 } else { u64::MAX };
            for (sum, add) in away.iter_mut().zip(add) {
                *sum += f64::from_bits(add.to_bits() & all);
            }
        }
        gains[at] = at_home;
        for ((&k, sum), at) in others.iter().zip(away).zip(OTHERS[at]) {
            let Some(gain) = gains.get_mut(at) else { break };
            *gain = match stats.size(k) {
                0 => self.gain_alone::<false>(stats, load, Some(home)),
                size => {
                    sum + self.leaves_despite(stats.between(h, k), home, load.linked.to(k), size)
                }
            };
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
        let mut gain = stats.quiet[k / LANES][k % LANES];
        // … but it has some.
        for l in touched::<HIDDEN>(load).filter(|&l| l != home_index) {
            let new = links.to(l);
            gain += match unseen.to_if::<HIDDEN>(l) {
                0 => self.links_add(stats, (l, k), new, stats.size(l)),
                unseen => self.gain_despite(stats.between(l, k), new, stats.size(l) - unseen),
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

    /// What so many links to a block of `more` vertices add for a vertex that becomes a block of its own.
    #[inline(always)]
    fn links_come_to<const SMALL: bool>(&self, more: u64, new: u64) -> f64 {
        match SMALL {
            true => self.coin.recount_in_tables(more, 0, new),
            false => self.coin.turn(0, more, new),
        }
    }

    /// What is to be added because a vertex with so many links among its pairs at home is still counted there, if it becomes a
    /// block of its own.
    #[inline(always)]
    fn leaves_alone<const SMALL: bool>(&self, links: u64, others: u64) -> f64 {
        let coin = &self.coin;
        match SMALL {
            true => {
                coin.ln_evidence_in_tables(links, others)
                    - coin.ln_evidence_in_tables(0, others + 1)
            }
            false => coin.ln_evidence(links, others) - coin.ln_evidence(0, others + 1),
        }
    }

    /// What links to block l add for a vertex that joins k.
    #[inline(always)]
    fn links_add(&self, stats: &Links, (l, k): (usize, usize), new: u64, more: u64) -> f64 {
        match stats.pairs.tile(l, k).few_links.get(new as usize - 1) {
            Some(few_links) => few_links[k % LANES],
            None => {
                let counts = stats.between(l, k);
                self.links_come::<false>(counts, counts.unlinked + more, new)
            }
        }
    }

    /// What is to be added if the vertex has `new` links to a block, and only `more` pairs were observed.
    #[inline(always)]
    fn gain_despite(&self, counts: &Counts, new: u64, more: u64) -> f64 {
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
        let (counts, size) = (stats.between(home.slot, k), stats.size(k));
        if new > 0 || hidden > 0 || load.hidden.to_if::<HIDDEN>(home.slot) > 0 {
            if hidden > 0 || load.hidden.to_if::<HIDDEN>(home.slot) > 0 {
                return self.leaves_despite(counts, home, new, size - hidden);
            }
            let stays = self.stays_with::<false>(counts, new, size);
            let none = stats.pairs.tile(home.slot, k).from_home[0][k % LANES];
            return self.leaves_for::<false>(counts, none, home, (new, size), stays);
        }
        let Tile { from_home, .. } = stats.pairs.tile(home.slot, k);
        if let Some(kept) = from_home.get(home.links as usize) {
            return kept[k % LANES];
        }
        let zeros = counts.unlinked + home.others - size;
        from_home[0][k % LANES] + self.links_come::<false>(counts, zeros, home.links)
    }

    /// The same for a block that it has links to, given what is to be added without any, and what they add if it stays: the
    /// links it had with that block as a part of its home are gone, and those with its home have come.
    #[inline(always)]
    fn leaves_for<const SMALL: bool>(
        &self,
        counts: &Counts,
        none: f64,
        home: &HomeLoad,
        (new, more): (u64, u64),
        stays: f64,
    ) -> f64 {
        if counts.unlinked < more {
            return self.leaves_despite_rarely(counts, home, new, more);
        }
        let all = counts.all() - more + home.others;
        let links = counts.linked - new + home.links;
        none + stays + self.recount::<SMALL>(counts, all, counts.linked, links)
    }

    /// The same in general: with hidden pairs, or if no quiet vertex could have left.
    #[inline]
    fn leaves_despite(&self, counts: &Counts, home: &HomeLoad, new: u64, more: u64) -> f64 {
        let left = (counts.linked - new, counts.all() - more);
        self.coin.gain(left.0, left.1, home.links, home.others) - counts.joining as f64 * self.unit
    }

    /// The same, as a function of its own: within a loop, what it needs would be prepared for every vertex.
    #[cold]
    #[inline(never)]
    fn leaves_despite_rarely(&self, counts: &Counts, home: &HomeLoad, new: u64, more: u64) -> f64 {
        self.leaves_despite(counts, home, new, more)
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
    #[inline(never)]
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
        let mut sum = stats.sums[home].staying as f64 * self.unit;
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
    /// all fast gains of a single vertex are held against.
    #[inline(never)]
    fn gains_of_many<const HIDDEN: bool>(
        &self,
        stats: &impl Between,
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
            (stats.links_of(load, l.index()), m * size(l) - unseen)
        };
        for (&slot, gain) in slots.iter().zip(gains) {
            // The pairs between two blocks without C.
            let without = |other: Slot| {
                let (linked, all) = stats.linked_and_all(slot.index(), other.index());
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
            let new = stats.links_of(load, slot.index()) + u64::from(load.linked.inner);
            let mut more = pairs(size(slot) + m) - pairs(size(slot));
            if HIDDEN {
                more -= load.hidden.to(slot.index()) + u64::from(load.hidden.inner);
            }
            let (linked, all) = stats.linked_and_all(slot.index(), slot.index());
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

/// The sums of two rows.
#[inline(always)]
fn added(a: &Lanes, b: &Lanes) -> Lanes {
    std::array::from_fn(|lane| a[lane] + b[lane])
}
