//! The infinite relational model: an undirected network, one link probability per pair of blocks.

use crate::data::Graph;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::partition::{Item, Partition, Slot};
use crate::prior::positive;
use crate::special::BetaBernoulli;

/// log p(A | z) = Σ_{k ≤ k'} ln B(N⁺_kk' + β⁺, N⁻_kk' + β⁻) / B(β⁺, β⁻), where N⁺ and N⁻ count
/// linked and unlinked pairs of vertices between two blocks. Pairs within a block count once;
/// a vertex is not paired with itself. Pairs that were not observed count as neither.
///
/// ```
/// use armix::{data::Graph, model::Model, models::Irm};
/// let model = Irm::new(Graph::new(2, &[(0, 1)]).unwrap(), 1.0, 1.0).unwrap();
/// assert!((model.ln_evidence_naive(&[0, 0]).exp() - 0.5).abs() < 1e-15);
/// ```
#[derive(Debug, Clone)]
pub struct Irm {
    graph: Graph,
    coin: BetaBernoulli,
    beta: (f64, f64),
    /// How many units of the sums in [`Links`] make one.
    units: f64,
}

/// A value for every two slots: rows of a square that grows.
#[derive(Debug, Default)]
struct Square<T> {
    side: usize,
    cells: Vec<T>,
}

impl<T: Clone> Clone for Square<T> {
    fn clone(&self) -> Self {
        Square { side: self.side, cells: self.cells.clone() }
    }
    fn clone_from(&mut self, source: &Self) {
        self.side = source.side;
        self.cells.clone_from(&source.cells);
    }
}

impl<T: Copy + Default> Square<T> {
    #[inline(always)]
    fn row(&self, k: usize) -> &[T] {
        &self.cells[k * self.side..][..self.side]
    }

    #[inline(always)]
    fn at(&self, k: usize, l: usize) -> T {
        self.row(k)[l]
    }

    #[inline(always)]
    fn at_mut(&mut self, k: usize, l: usize) -> &mut T {
        &mut self.cells[k * self.side..][..self.side][l]
    }

    fn grow(&mut self, slots: usize) {
        if slots <= self.side {
            return;
        }
        // Grow by half, so that a growing number of blocks rarely copies the square.
        let side = slots.max(self.side + self.side / 2).max(8);
        let mut cells = vec![T::default(); side * side];
        for slot in 0..self.side {
            cells[slot * side..][..self.side].copy_from_slice(self.row(slot));
        }
        *self = Square { side, cells };
    }
}

/// How many pairs of one kind there are between every two slots, a symmetric matrix; within a slot
/// counted once.
type Counts = Square<u32>;

impl Counts {
    /// The count, or 0 without a look if there are none of this kind at all.
    #[inline(always)]
    fn count<const ANY: bool>(&self, k: usize, l: usize) -> u64 {
        if ANY { u64::from(self.at(k, l)) } else { 0 }
    }

    fn add(&mut self, load: &CountsLoad, slot: Slot) {
        let k = slot.index();
        for other in &load.touched {
            let (l, pairs) = (other.index(), load.to[other.index()]);
            *self.at_mut(k, l) += pairs;
            if l != k {
                *self.at_mut(l, k) += pairs;
            }
        }
        *self.at_mut(k, k) += load.inner;
    }

    fn sub(&mut self, load: &CountsLoad, slot: Slot) {
        let k = slot.index();
        for other in &load.touched {
            let (l, pairs) = (other.index(), load.to[other.index()]);
            *self.at_mut(k, l) -= pairs;
            if l != k {
                *self.at_mut(l, k) -= pairs;
            }
        }
        *self.at_mut(k, k) -= load.inner;
    }
}

/// The pairs of one kind that a set of vertices has with every block, and among themselves.
#[derive(Debug)]
struct CountsLoad {
    /// By slot; zero except in the slots of `touched`.
    to: Vec<u32>,
    touched: Vec<Slot>,
    /// Those of `touched` with one pair, and with several.
    once: Vec<Slot>,
    often: Vec<Slot>,
    inner: u32,
    /// Marks the members of the set while their inner pairs are counted.
    member: Vec<bool>,
}

impl CountsLoad {
    fn new(n: usize) -> Self {
        let slots = || Vec::<Slot>::new();
        CountsLoad {
            to: Vec::new(),
            touched: slots(),
            once: slots(),
            often: slots(),
            inner: 0,
            member: vec![false; n],
        }
    }

    #[inline]
    fn weigh<'a>(
        &mut self,
        items: &[Item],
        z: &Partition,
        neighbours: impl Fn(usize) -> &'a [u32],
    ) {
        for slot in self.touched.drain(..) {
            self.to[slot.index()] = 0;
        }
        // One more, for a new block.
        if self.to.len() <= z.slots() {
            self.to.resize(z.slots() + 1, 0);
        }
        self.inner = 0;
        let alone = items.len() == 1;
        if !alone {
            items.iter().for_each(|i| self.member[i.index()] = true);
        }
        let slots_of_items = z.slots_of_items();
        for item in items {
            for &neighbour in neighbours(item.index()) {
                let slot = slots_of_items[neighbour as usize];
                if slot != Slot::NOWHERE {
                    let pairs = &mut self.to[slot.index()];
                    if *pairs == 0 {
                        self.touched.push(slot);
                    }
                    *pairs += 1;
                } else if !alone && self.member[neighbour as usize] {
                    self.inner += 1; // seen from both ends, halved below
                }
            }
        }
        if alone {
            self.once.clear();
            self.often.clear();
            for &slot in &self.touched {
                let list =
                    if self.to[slot.index()] == 1 { &mut self.once } else { &mut self.often };
                list.push(slot);
            }
        } else {
            items.iter().for_each(|i| self.member[i.index()] = false);
            self.inner /= 2;
        }
    }

    /// The pairs with a slot, or 0 without a look if there are none of this kind at all.
    #[inline(always)]
    fn to<const ANY: bool>(&self, slot: usize) -> u64 {
        if ANY { u64::from(self.to[slot]) } else { 0 }
    }
}

/// The statistics of the blocks: N⁺, how many pairs were not observed, sizes; and what follows from them
/// for *quiet* vertices.
///
/// Most vertices have no links to most blocks. What the evidence of the pairs between two blocks then
/// grows or shrinks by when such a vertex comes or goes does not depend on the vertex, so that it is kept
/// here. Sums over blocks are kept as multiples of a small unit: sums of integers do not depend on the
/// order in which vertices came and went, so that a run that was resumed goes on exactly as one that was
/// not.
#[derive(Debug, Default)]
pub struct Links {
    linked: Counts,
    /// Stays empty if all pairs were observed.
    hidden: Counts,
    /// The number of vertices in each slot.
    size: Vec<u32>,
    /// For each slot k, the growth if a vertex without links joins it.
    joining: Vec<i64>,
    /// For each slot k, the growth that a vertex of k without links was.
    staying: Vec<i64>,
    /// The growth if a vertex without links becomes a block of its own. The other fields tell nothing of
    /// empty slots, which are all alike.
    alone: i64,
    /// In row k, column l: what is to be added for a vertex that joins k and has one link to l.
    one_link: Square<f64>,
    /// In row h, column k: what is to be added for a vertex that joins k, but is counted in h, and has no
    /// links to either.
    from_home: Square<f64>,
}

impl Clone for Links {
    fn clone(&self) -> Self {
        let mut links = Links::default();
        links.clone_from(self);
        links
    }
    fn clone_from(&mut self, source: &Self) {
        self.linked.clone_from(&source.linked);
        self.hidden.clone_from(&source.hidden);
        self.size.clone_from(&source.size);
        self.joining.clone_from(&source.joining);
        self.staying.clone_from(&source.staying);
        self.alone = source.alone;
        self.one_link.clone_from(&source.one_link);
        self.from_home.clone_from(&source.from_home);
    }
}

impl Links {
    #[inline(always)]
    fn size(&self, slot: usize) -> u64 {
        u64::from(self.size[slot])
    }

    /// The linked and the observed pairs between two slots, or within one.
    #[inline(always)]
    fn counts<const HIDDEN: bool>(&self, k: usize, l: usize) -> (u64, u64) {
        let all = if k == l { pairs(self.size(k)) } else { self.size(k) * self.size(l) };
        (u64::from(self.linked.at(k, l)), all - self.hidden.count::<HIDDEN>(k, l))
    }
}

/// What a set of vertices carries: how many they are, and their linked and hidden pairs.
#[derive(Debug)]
pub struct VertexLoad {
    m: u32,
    linked: CountsLoad,
    hidden: CountsLoad,
}

/// What is kept of two slots: for the first with the second, and for the second with the first.
struct BothWays {
    joining: (f64, f64),
    staying: (f64, f64),
    from_home: (f64, f64),
}

/// What a vertex carries to its home, where it is still counted.
struct HomeLoad {
    slot: usize,
    /// Its links there …
    links: u64,
    /// … among so many pairs that were observed.
    others: u64,
}

/// The number of pairs among n vertices.
fn pairs(n: u64) -> u64 {
    n * n.saturating_sub(1) / 2
}

/// A power of two as large as possible, but so that the quiet gains of n vertices fit into 62 bits: no
/// pair contributes more than 64, with counts and hyper-parameters as they are allowed.
fn units(n: usize) -> f64 {
    let bits = 56_u32.saturating_sub(usize::BITS - n.leading_zeros());
    (1u64 << bits) as f64
}

impl Irm {
    /// The model of a network.
    pub fn new(graph: Graph, beta_plus: f64, beta_minus: f64) -> Result<Self> {
        positive("beta⁺", beta_plus)?;
        positive("beta⁻", beta_minus)?;
        if graph.edges() == 0 {
            return Err(Error::new("this network has no edges: nothing tells the vertices apart"));
        }
        Ok(Irm {
            coin: BetaBernoulli::new(beta_plus, beta_minus, pairs(graph.n() as u64)),
            beta: (beta_plus, beta_minus),
            units: units(graph.n()),
            graph,
        })
    }

    /// The data.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The linked and the observed pairs between two blocks, or within one.
    fn counts(&self, stats: &Links, k: Slot, l: Slot) -> (u64, u64) {
        match self.graph.has_hidden() {
            true => stats.counts::<true>(k.index(), l.index()),
            false => stats.counts::<false>(k.index(), l.index()),
        }
    }

    /// As a multiple of the unit, to nearest. All that is summed is a probability's logarithm.
    #[inline(always)]
    fn in_units(&self, negative: f64) -> i64 {
        (negative * self.units - 0.5) as i64
    }

    /// The growth of the evidence between k and l if a vertex without links to l joins k.
    #[inline(always)]
    fn joining<const HIDDEN: bool>(&self, stats: &Links, k: usize, l: usize) -> f64 {
        let (linked, all) = stats.counts::<HIDDEN>(k, l);
        self.coin.shift(linked, all, all + stats.size(l))
    }

    /// The growth of the evidence between k and l that a vertex of k without links to l was; something that
    /// will cancel if there is no such vertex, because all have links.
    #[inline(always)]
    fn staying<const HIDDEN: bool>(&self, stats: &Links, k: usize, l: usize) -> f64 {
        let (linked, all) = stats.counts::<HIDDEN>(k, l);
        let more = stats.size(l).saturating_sub(u64::from(k == l));
        match linked + more <= all {
            true => -self.coin.shift(linked, all, all - more),
            false => 0.0,
        }
    }

    /// What one link to l adds for a vertex that joins k.
    #[inline(always)]
    fn one_link<const HIDDEN: bool>(&self, stats: &Links, k: usize, l: usize) -> f64 {
        let (linked, all) = stats.counts::<HIDDEN>(k, l);
        self.coin.turn(linked, all + stats.size(l), 1)
    }

    /// Changes the counts of one slot, and what follows from them for the slot with all blocks, and for
    /// all blocks with the slot.
    #[inline(always)]
    fn change<const HIDDEN: bool>(
        &self,
        stats: &mut Links,
        z: &Partition,
        slot: Slot,
        change: impl FnOnce(&mut Links),
    ) {
        let k = slot.index();
        let others = || z.live().iter().map(|l| l.index()).filter(|&l| l != k);
        if stats.size[k] > 0 {
            for other in others() {
                stats.joining[other] -= self.in_units(self.joining::<HIDDEN>(stats, other, k));
                stats.staying[other] -= self.in_units(self.staying::<HIDDEN>(stats, other, k));
            }
            stats.alone -= self.in_units(self.coin.ln_evidence(0, stats.size(k)));
        }
        change(stats);
        if stats.size[k] == 0 {
            return;
        }
        stats.alone += self.in_units(self.coin.ln_evidence(0, stats.size(k)));
        let mut joining = self.in_units(self.joining::<HIDDEN>(stats, k, k));
        let mut staying = self.in_units(self.staying::<HIDDEN>(stats, k, k));
        *stats.one_link.at_mut(k, k) = self.one_link::<HIDDEN>(stats, k, k);
        for other in others() {
            let both = self.both_ways::<HIDDEN>(stats, k, other);
            joining += self.in_units(both.joining.0);
            staying += self.in_units(both.staying.0);
            stats.joining[other] += self.in_units(both.joining.1);
            stats.staying[other] += self.in_units(both.staying.1);
            *stats.from_home.at_mut(k, other) = both.from_home.0;
            *stats.from_home.at_mut(other, k) = both.from_home.1;
            *stats.one_link.at_mut(k, other) = self.one_link::<HIDDEN>(stats, k, other);
            *stats.one_link.at_mut(other, k) = self.one_link::<HIDDEN>(stats, other, k);
        }
        (stats.joining[k], stats.staying[k]) = (joining, staying);
    }

    /// [`Irm::joining`], [`Irm::staying`] and [`Links::from_home`] of two different slots, in both
    /// directions, from as few logarithms as possible.
    #[inline(always)]
    fn both_ways<const HIDDEN: bool>(&self, stats: &Links, k: usize, l: usize) -> BothWays {
        let (linked, all) = stats.counts::<HIDDEN>(k, l);
        let (size_k, size_l) = (stats.size(k), stats.size(l));
        // The change of the evidence if there were so many pairs.
        let with = |pairs: u64| self.coin.shift(linked, all, pairs);
        let joining = (with(all + size_l), with(all + size_k));
        // One vertex leaves the first slot, and joins the second.
        let leaves = |size: u64, others: u64, joining_other: f64| {
            if linked + others > all {
                return (0.0, 0.0); // there is no such vertex
            }
            let left = all - others;
            let without = with(left);
            (-without, with(left + size - 1) - without - joining_other)
        };
        let from_k = leaves(size_k, size_l, joining.1);
        let from_l = leaves(size_l, size_k, joining.0);
        BothWays { joining, staying: (from_k.0, from_l.0), from_home: (from_k.1, from_l.1) }
    }

    /// Whether what is kept up to date equals what is computed anew, to the last bit.
    fn caches_are_true(&self, stats: &Links, z: &Partition) -> bool {
        let mut anew = stats.clone();
        anew.joining.fill(0);
        anew.staying.fill(0);
        for &slot in z.live() {
            assert_eq!(
                stats.size[slot.index()],
                z.size(slot),
                "the sizes are those of the partition"
            );
            match self.graph.has_hidden() {
                true => self.change::<true>(&mut anew, z, slot, |_| ()),
                false => self.change::<false>(&mut anew, z, slot, |_| ()),
            }
        }
        let live = || z.live().iter().map(|k| k.index());
        let alone = live().map(|k| self.in_units(self.coin.ln_evidence(0, stats.size(k))));
        stats.alone == alone.sum::<i64>()
            && live().all(|k| {
                (anew.joining[k], anew.staying[k]) == (stats.joining[k], stats.staying[k])
                    && live().all(|l| {
                        anew.one_link.at(k, l) == stats.one_link.at(k, l)
                            && (k == l || anew.from_home.at(k, l) == stats.from_home.at(k, l))
                    })
            })
    }

    /// [`Model::gains`] of a single vertex, in O(slots · blocks with links to it).
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
        let unit = 1.0 / self.units;
        // Its links to a block that hides something from it are looked at last.
        let seen = |l: &&Slot| unseen.to::<HIDDEN>(l.index()) == 0;
        let home_slot = home.unwrap_or(Slot::NOWHERE);
        let at_home = home.map(|h| HomeLoad {
            slot: h.index(),
            links: links.to::<true>(h.index()),
            others: stats.size(h.index()) - 1 - unseen.to::<HIDDEN>(h.index()),
        });
        for (slot, gain) in slots.iter().zip(&mut *gains) {
            let k = slot.index();
            if *slot == home_slot {
                *gain = self.gain_at_home::<HIDDEN>(stats, load, k);
                continue;
            }
            if stats.size[k] == 0 {
                *gain = self.gain_alone::<HIDDEN>(stats, load, at_home.as_ref());
                continue;
            }
            // As if it had no links at all, …
            let mut sum = stats.joining[k] as f64 * unit;
            // … but it has some. Pairs between blocks that are not its home are as if it were taken out.
            let one_link = stats.one_link.row(k);
            for l in links.once.iter().filter(|&&l| l != home_slot).filter(seen) {
                sum += one_link[l.index()];
            }
            let (linked, grown) = (stats.linked.row(k), stats.size(k) + 1);
            for l in links.often.iter().filter(|&&l| l != home_slot).filter(seen) {
                let (others, within) = (stats.size(l.index()), l == slot);
                let all = if within { pairs(grown) } else { grown * others };
                let all = all - stats.hidden.count::<HIDDEN>(k, l.index());
                sum +=
                    self.coin.turn(u64::from(linked[l.index()]), all, links.to::<true>(l.index()));
            }
            if HIDDEN {
                for l in unseen.touched.iter().filter(|&&l| l != home_slot) {
                    let l = l.index();
                    let (linked, all) = stats.counts::<HIDDEN>(k, l);
                    let more = stats.size(l) - unseen.to::<HIDDEN>(l);
                    sum += self.coin.gain(linked, all, links.to::<true>(l), more);
                    sum -= self.joining::<HIDDEN>(stats, k, l);
                }
            }
            if let Some(home) = &at_home {
                sum += self.gain_away::<HIDDEN>(stats, load, home, k);
            }
            *gain = sum;
        }
    }

    /// The pairs between k and the home of a vertex that joins k, beyond [`Irm::joining`].
    #[inline(always)]
    fn gain_away<const HIDDEN: bool>(
        &self,
        stats: &Links,
        load: &VertexLoad,
        home: &HomeLoad,
        k: usize,
    ) -> f64 {
        let (new, unseen) = (load.linked.to::<true>(k), load.hidden.to::<HIDDEN>(k));
        let (linked, all) = stats.counts::<HIDDEN>(k, home.slot);
        if new > 0 || unseen > 0 || load.hidden.to::<HIDDEN>(home.slot) > 0 {
            let without = (linked - new, all - (stats.size(k) - unseen));
            return self.coin.gain(without.0, without.1, home.links, home.others)
                - self.joining::<HIDDEN>(stats, k, home.slot);
        }
        let quiet = stats.from_home.at(home.slot, k);
        match home.links {
            0 => quiet,
            _ => quiet + self.coin.turn(linked, all - stats.size(k) + home.others, home.links),
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
        let VertexLoad { linked: links, hidden: unseen, .. } = load;
        let mut sum = stats.alone as f64 / self.units;
        let only_unseen = |l: &&Slot| HIDDEN && links.to::<true>(l.index()) == 0;
        for l in links.touched.iter().chain(unseen.touched.iter().filter(only_unseen)) {
            let l = l.index();
            if home.is_some_and(|home| home.slot == l) {
                continue;
            }
            match unseen.to::<HIDDEN>(l) {
                0 => sum += self.coin.turn(0, stats.size(l), links.to::<true>(l)),
                hidden => {
                    sum += self.coin.ln_evidence(links.to::<true>(l), stats.size(l) - hidden);
                    sum -= self.coin.ln_evidence(0, stats.size(l));
                }
            }
        }
        if let Some(home) = home {
            sum += self.coin.ln_evidence(home.links, home.others);
            sum -= self.coin.ln_evidence(0, stats.size(home.slot));
        }
        sum
    }

    /// The gain of a vertex in its home, where it is still counted.
    #[inline(always)]
    fn gain_at_home<const HIDDEN: bool>(
        &self,
        stats: &Links,
        load: &VertexLoad,
        home: usize,
    ) -> f64 {
        let VertexLoad { linked: links, hidden: unseen, .. } = load;
        let mut sum = stats.staying[home] as f64 / self.units;
        let only_unseen = |l: &&Slot| HIDDEN && links.to::<true>(l.index()) == 0;
        for l in links.touched.iter().chain(unseen.touched.iter().filter(only_unseen)) {
            let l = l.index();
            let others = stats.size(l) - u64::from(l == home);
            let (linked, all) = stats.counts::<HIDDEN>(home, l);
            let (new, more) = (links.to::<true>(l), others - unseen.to::<HIDDEN>(l));
            sum += self.coin.gain(linked - new, all - more, new, more);
            sum -= self.staying::<HIDDEN>(stats, home, l);
        }
        sum
    }

    /// [`Model::gains`] by its definition, in O(slots · blocks): for sets of vertices, and as the twin that
    /// [`Irm::gains_of_one`] is held against.
    #[inline]
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
        for (&slot, gain) in slots.iter().zip(gains) {
            let k = slot.index();
            // Seen without C: z has its sizes without C already, and the counts follow here.
            let size = u64::from(z.size(slot));
            let mut sum = 0.0;
            for &other in z.live() {
                if other == slot {
                    continue;
                }
                let l = other.index();
                let of_c = |load: &CountsLoad| match home {
                    Some(home) if home == slot => load.to::<true>(l),
                    Some(home) if home == other => load.to::<true>(k),
                    _ => 0,
                };
                let linked = stats.linked.count::<true>(k, l) - of_c(&load.linked);
                let others = u64::from(z.size(other));
                let (mut all, mut more) = (size * others, m * others);
                if HIDDEN {
                    all -= stats.hidden.count::<true>(k, l) - of_c(&load.hidden);
                    more -= load.hidden.to::<true>(l);
                }
                sum += self.coin.gain(linked, all, load.linked.to::<true>(l), more);
            }
            // Within the block.
            let joined = |load: &CountsLoad| load.to::<true>(k) + u64::from(load.inner);
            let without = |count: &Counts, load: &CountsLoad| {
                count.count::<true>(k, k) - if home == Some(slot) { joined(load) } else { 0 }
            };
            let linked = without(&stats.linked, &load.linked);
            let (mut all, mut more) = (pairs(size), pairs(size + m) - pairs(size));
            if HIDDEN {
                all -= without(&stats.hidden, &load.hidden);
                more -= joined(&load.hidden);
            }
            *gain = sum + self.coin.gain(linked, all, joined(&load.linked), more);
        }
    }

    #[inline]
    fn gains_any<const HIDDEN: bool>(
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
}

impl Model for Irm {
    const NAME: &'static str = "irm";
    type Stats = Links;
    type Load = VertexLoad;

    fn n(&self) -> usize {
        self.graph.n()
    }

    fn empty_stats(&self) -> Links {
        Links::default()
    }

    fn empty_load(&self) -> VertexLoad {
        let hidden = if self.graph.has_hidden() { self.n() } else { 0 };
        VertexLoad { m: 0, linked: CountsLoad::new(self.n()), hidden: CountsLoad::new(hidden) }
    }

    fn grow(&self, stats: &mut Links, slots: usize) {
        stats.linked.grow(slots);
        if self.graph.has_hidden() {
            stats.hidden.grow(slots);
        }
        stats.one_link.grow(slots);
        stats.from_home.grow(slots);
        stats.size.resize(slots.max(stats.size.len()), 0);
        stats.joining.resize(stats.size.len(), 0);
        stats.staying.resize(stats.size.len(), 0);
    }

    fn weigh(&self, items: &[Item], z: &Partition, load: &mut VertexLoad) {
        load.m = items.len() as u32;
        load.linked.weigh(items, z, |v| self.graph.neighbours(v));
        if self.graph.has_hidden() {
            load.hidden.weigh(items, z, |v| self.graph.unobserved(v));
        }
    }

    fn add(&self, stats: &mut Links, load: &VertexLoad, z: &Partition, slot: Slot) {
        if self.graph.has_hidden() {
            self.change::<true>(stats, z, slot, |stats| {
                stats.linked.add(&load.linked, slot);
                stats.hidden.add(&load.hidden, slot);
                stats.size[slot.index()] += load.m;
            });
        } else {
            self.change::<false>(stats, z, slot, |stats| {
                stats.linked.add(&load.linked, slot);
                stats.size[slot.index()] += load.m;
            });
        }
    }

    fn sub(&self, stats: &mut Links, load: &VertexLoad, z: &Partition, slot: Slot) {
        if self.graph.has_hidden() {
            self.change::<true>(stats, z, slot, |stats| {
                stats.linked.sub(&load.linked, slot);
                stats.hidden.sub(&load.hidden, slot);
                stats.size[slot.index()] -= load.m;
            });
        } else {
            self.change::<false>(stats, z, slot, |stats| {
                stats.linked.sub(&load.linked, slot);
                stats.size[slot.index()] -= load.m;
            });
        }
    }

    fn gains(
        &self,
        stats: &Links,
        load: &VertexLoad,
        home: Option<Slot>,
        z: &Partition,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        if self.graph.has_hidden() {
            self.gains_any::<true>(stats, load, home, z, slots, gains);
        } else {
            self.gains_any::<false>(stats, load, home, z, slots, gains);
        }
    }

    fn ln_evidence(&self, stats: &Links, z: &Partition) -> f64 {
        debug_assert!(self.caches_are_true(stats, z));
        let mut sum = 0.0;
        for (at, &slot) in z.live().iter().enumerate() {
            for &other in &z.live()[..=at] {
                let (linked, total) = self.counts(stats, slot, other);
                sum += self.coin.ln_evidence(linked, total);
            }
        }
        sum
    }

    fn predict(&self, stats: &Links, z: &Partition, (u, v): (u32, u32)) -> f64 {
        let slot = |vertex: u32| z.slot_of(Item::new(vertex as usize));
        let (linked, total) = self.counts(stats, slot(u), slot(v));
        (linked as f64 + self.beta.0) / (total as f64 + self.beta.0 + self.beta.1)
    }

    fn ln_evidence_naive(&self, labels: &[u32]) -> f64 {
        let ln_beta = |a, b| libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
        let blocks = labels.iter().copied().max().map_or(0, |m| m + 1);
        let mut sum = 0.0;
        for k in 0..blocks {
            for l in k..blocks {
                let (mut linked, mut unlinked) = (0.0, 0.0);
                for u in 0..self.n() {
                    for v in u + 1..self.n() {
                        let hidden = self.graph.unobserved(u).contains(&(v as u32));
                        if !hidden && (labels[u].min(labels[v]), labels[u].max(labels[v])) == (k, l)
                        {
                            *(if self.graph.linked(u, v) { &mut linked } else { &mut unlinked }) +=
                                1.0;
                        }
                    }
                }
                sum += ln_beta(linked + self.beta.0, unlinked + self.beta.1)
                    - ln_beta(self.beta.0, self.beta.1);
            }
        }
        sum
    }

    fn example(n: usize) -> Self {
        let edges: Vec<(u32, u32)> = (0..n as u32)
            .flat_map(|v| (0..v).map(move |u| (u, v)))
            .filter(|(u, v)| (u * u + 3 * v) % 5 < 2 || (*u, *v) == (0, 1))
            .collect();
        let graph = Graph::new(n, &edges).expect("an example is valid");
        let hidden = [(0, 2), (1, 2), (2, 4)];
        let hidden = hidden.iter().filter(|(_, v)| n % 2 == 1 && (*v as usize) < n);
        let graph = graph.hiding(&hidden.copied().collect::<Vec<_>>());
        Irm::new(graph, 0.8, 1.7).expect("an example is valid")
    }

    fn simulate(&self, labels: &[u32], uniform: &mut dyn FnMut() -> f64) -> Self {
        // Pair after pair from the predictive distribution given the earlier pairs of its blocks.
        let blocks = labels.iter().max().map_or(0, |&m| m as usize + 1);
        let mut counts = vec![(0.0, 0.0); blocks * blocks];
        let mut edges = Vec::new();
        for v in 0..self.n() {
            for u in (0..v).filter(|&u| !self.graph.unobserved(u).contains(&(v as u32))) {
                let (k, l) = (labels[u].min(labels[v]), labels[u].max(labels[v]));
                let (linked, total) = &mut counts[k as usize * blocks + l as usize];
                let p = (*linked + self.beta.0) / (*total + self.beta.0 + self.beta.1);
                if uniform() < p {
                    edges.push((u as u32, v as u32));
                    *linked += 1.0;
                }
                *total += 1.0;
            }
        }
        let hidden: Vec<(u32, u32)> = self.graph.hidden_pairs().collect();
        Irm {
            graph: Graph::new(self.n(), &edges).expect("vertices in range").hiding(&hidden),
            coin: self.coin.clone(),
            beta: self.beta,
            units: self.units,
        }
    }

    fn stats_bytes(&self, blocks: usize) -> u64 {
        let kinds = 1 + u64::from(self.graph.has_hidden());
        (4 * kinds + 16) * blocks as u64 * blocks as u64 + 20 * blocks as u64
    }
}
