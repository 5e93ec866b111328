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
    /// How many units of [`Links::quiet`] make one.
    units: f64,
}

/// How many pairs of one kind there are between every two slots, a symmetric matrix; within a slot
/// counted once.
#[derive(Debug, Default)]
struct Counts {
    side: usize,
    count: Vec<u32>,
}

impl Clone for Counts {
    fn clone(&self) -> Self {
        Counts { side: self.side, count: self.count.clone() }
    }
    fn clone_from(&mut self, source: &Self) {
        self.side = source.side;
        self.count.clone_from(&source.count);
    }
}

impl Counts {
    #[inline]
    fn row(&self, slot: usize) -> &[u32] {
        &self.count[slot * self.side..][..self.side]
    }

    #[inline]
    fn at(&self, k: usize, l: usize) -> u64 {
        u64::from(self.row(k)[l])
    }

    /// The count, or 0 without a look if there are none of this kind at all.
    #[inline]
    fn at_if<const ANY: bool>(&self, k: usize, l: usize) -> u64 {
        if ANY { self.at(k, l) } else { 0 }
    }

    fn grow(&mut self, slots: usize) {
        if slots <= self.side {
            return;
        }
        // Grow by half, so that a growing number of blocks rarely copies the matrix.
        let side = slots.max(self.side + self.side / 2).max(8);
        let mut count = vec![0; side * side];
        for slot in 0..self.side {
            count[slot * side..][..self.side].copy_from_slice(self.row(slot));
        }
        *self = Counts { side, count };
    }

    fn add(&mut self, load: &CountsLoad, slot: Slot) {
        let (k, side) = (slot.index(), self.side);
        for other in &load.touched {
            let (l, pairs) = (other.index(), load.to[other.index()]);
            self.count[k * side + l] += pairs;
            if l != k {
                self.count[l * side + k] += pairs;
            }
        }
        self.count[k * side + k] += load.inner;
    }

    fn sub(&mut self, load: &CountsLoad, slot: Slot) {
        let (k, side) = (slot.index(), self.side);
        for other in &load.touched {
            let (l, pairs) = (other.index(), load.to[other.index()]);
            self.count[k * side + l] -= pairs;
            if l != k {
                self.count[l * side + k] -= pairs;
            }
        }
        self.count[k * side + k] -= load.inner;
    }
}

/// The pairs of one kind that a set of vertices has with every block, and among themselves.
#[derive(Debug)]
struct CountsLoad {
    /// By slot; zero except in the slots of `touched`.
    to: Vec<u32>,
    touched: Vec<Slot>,
    inner: u32,
    /// Marks the members of the set while their inner pairs are counted.
    member: Vec<bool>,
}

impl CountsLoad {
    fn new(n: usize) -> Self {
        CountsLoad { to: Vec::new(), touched: Vec::new(), inner: 0, member: vec![false; n] }
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
        if self.to.len() < z.slots() {
            self.to.resize(z.slots(), 0);
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
        if !alone {
            items.iter().for_each(|i| self.member[i.index()] = false);
            self.inner /= 2;
        }
    }

    #[inline]
    fn to(&self, slot: usize) -> u64 {
        u64::from(self.to.get(slot).copied().unwrap_or(0))
    }

    /// The pairs with a slot, or 0 without a look if there are none of this kind at all.
    #[inline]
    fn to_if<const ANY: bool>(&self, slot: usize) -> u64 {
        if ANY { self.to(slot) } else { 0 }
    }
}

/// The statistics of the blocks: N⁺, how many pairs were not observed, sizes, and quiet gains.
#[derive(Debug, Default)]
pub struct Links {
    linked: Counts,
    /// Stays empty if all pairs were observed.
    hidden: Counts,
    /// The number of vertices in each slot.
    size: Vec<u32>,
    /// G_k = Σ_l g_kl for each slot k, where g_kl is what the evidence of the pairs between k and l
    /// grows by if a vertex without links to l joins k. Most pairs of blocks are of this quiet kind
    /// for most vertices, so that these sums save most of the work.
    ///
    /// As multiples of a small unit: sums of integers do not depend on the order in which vertices
    /// came and went, so that a run that was resumed goes on exactly as one that was not.
    quiet: Vec<i64>,
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
        self.quiet.clone_from(&source.quiet);
    }
}

/// What a set of vertices carries: how many they are, and their linked and hidden pairs.
#[derive(Debug)]
pub struct VertexLoad {
    m: u32,
    linked: CountsLoad,
    hidden: CountsLoad,
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
    #[inline(always)]
    fn counts<const HIDDEN: bool>(&self, stats: &Links, k: usize, l: usize) -> (u64, u64) {
        let size = u64::from(stats.size[k]);
        let all = if k == l { pairs(size) } else { size * u64::from(stats.size[l]) };
        (stats.linked.at(k, l), all - stats.hidden.at_if::<HIDDEN>(k, l))
    }

    fn counts_seen(&self, stats: &Links, k: Slot, l: Slot) -> (u64, u64) {
        match self.graph.has_hidden() {
            true => self.counts::<true>(stats, k.index(), l.index()),
            false => self.counts::<false>(stats, k.index(), l.index()),
        }
    }

    /// g_kl, as a multiple of the unit.
    #[inline(always)]
    fn quiet<const HIDDEN: bool>(&self, stats: &Links, k: usize, l: usize) -> i64 {
        let (linked, all) = self.counts::<HIDDEN>(stats, k, l);
        let gain = self.coin.gain(linked, all, 0, u64::from(stats.size[l]));
        (gain * self.units - 0.5) as i64 // to nearest: quiet gains are negative
    }

    /// G_k, from the counts.
    fn quiet_sum<const HIDDEN: bool>(&self, stats: &Links, k: usize) -> i64 {
        (0..stats.size.len()).map(|l| self.quiet::<HIDDEN>(stats, k, l)).sum()
    }

    /// Whether what is kept up to date equals what is computed anew, to the last bit.
    fn caches_are_true(&self, stats: &Links, z: &Partition) -> bool {
        (0..stats.size.len()).all(|k| {
            let sum = match self.graph.has_hidden() {
                true => self.quiet_sum::<true>(stats, k),
                false => self.quiet_sum::<false>(stats, k),
            };
            stats.size[k] == z.size(Slot::new(k)) && stats.quiet[k] == sum
        })
    }

    /// The set C joins or leaves a slot: the counts change by `change`, and with them the quiet gains of
    /// the slot with all others, and of all others with the slot.
    #[inline]
    fn change<const HIDDEN: bool>(
        &self,
        stats: &mut Links,
        slot: Slot,
        change: impl FnOnce(&mut Links),
    ) {
        let k = slot.index();
        for other in 0..stats.size.len() {
            stats.quiet[other] -= self.quiet::<HIDDEN>(stats, other, k);
        }
        change(stats);
        let mut sum = 0;
        for other in 0..stats.size.len() {
            stats.quiet[other] += self.quiet::<HIDDEN>(stats, other, k);
            sum += self.quiet::<HIDDEN>(stats, k, other);
        }
        stats.quiet[k] = sum;
    }

    /// [`Model::gains`] of a single vertex, in O(slots · blocks with links to it).
    #[inline]
    fn gains_of_one<const HIDDEN: bool>(
        &self,
        stats: &Links,
        load: &VertexLoad,
        home: Option<Slot>,
        z: &Partition,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        let size = |slot: usize| u64::from(stats.size[slot]);
        let unit = 1.0 / self.units;
        for (slot, gain) in slots.iter().zip(&mut *gains) {
            *gain = stats.quiet[slot.index()] as f64 * unit;
        }
        // Blocks with links to the vertex are not quiet. The pairs between two blocks that are neither of
        // them its home are as if it had been taken out.
        let home = home.map(Slot::index);
        for l in load.linked.touched.iter().map(|l| l.index()).filter(|&l| Some(l) != home) {
            let (row, new, others) = (stats.linked.row(l), load.linked.to(l), size(l));
            if HIDDEN && load.hidden.to(l) > 0 {
                continue;
            }
            for (slot, gain) in slots.iter().zip(&mut *gains) {
                let k = slot.index();
                let all = if k == l { pairs(others) } else { size(k) * others } + others;
                let all = all - stats.hidden.at_if::<HIDDEN>(k, l);
                *gain += self.coin.turn(u64::from(row[k]), all, new);
            }
        }
        if HIDDEN {
            let touched = load.hidden.touched.iter().map(|l| l.index());
            for l in touched.filter(|&l| Some(l) != home) {
                let (new, more) = (load.linked.to(l), size(l) - load.hidden.to(l));
                for (slot, gain) in slots.iter().zip(&mut *gains) {
                    let (linked, all) = self.counts::<HIDDEN>(stats, slot.index(), l);
                    *gain += self.coin.gain(linked, all, new, more);
                    *gain -= self.coin.gain(linked, all, 0, size(l));
                }
            }
        }
        let Some(home) = home else { return };
        // Its own pairs with its home, and those of its home with others, are counted in the statistics.
        let (new, more) =
            (load.linked.to(home), size(home) - 1 - load.hidden.to_if::<HIDDEN>(home));
        for (slot, gain) in slots.iter().zip(&mut *gains) {
            let k = slot.index();
            if k == home {
                let joins = |l: usize, others: u64| {
                    let (linked, all) = self.counts::<HIDDEN>(stats, home, l);
                    let (new, more) = (load.linked.to(l), others - load.hidden.to_if::<HIDDEN>(l));
                    self.coin.gain(linked - new, all - more, new, more)
                };
                let others = z.live().iter().map(|l| l.index()).filter(|&l| l != home);
                *gain = others.map(|l| joins(l, size(l))).sum::<f64>();
                *gain += joins(home, size(home) - 1);
            } else {
                let (linked, all) = self.counts::<HIDDEN>(stats, k, home);
                *gain -= self.coin.gain(linked, all, 0, size(home));
                let (linked, all) =
                    (linked - load.linked.to(k), all - (size(k) - load.hidden.to_if::<HIDDEN>(k)));
                *gain += self.coin.gain(linked, all, new, more);
            }
        }
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
                    Some(home) if home == slot => load.to(l),
                    Some(home) if home == other => load.to(k),
                    _ => 0,
                };
                let linked = stats.linked.at(k, l) - of_c(&load.linked);
                let others = u64::from(z.size(other));
                let (mut all, mut more) = (size * others, m * others);
                if HIDDEN {
                    all -= stats.hidden.at(k, l) - of_c(&load.hidden);
                    more -= load.hidden.to(l);
                }
                sum += self.coin.gain(linked, all, load.linked.to(l), more);
            }
            // Within the block.
            let joined = |load: &CountsLoad| load.to(k) + u64::from(load.inner);
            let without = |count: &Counts, load: &CountsLoad| {
                count.at(k, k) - if home == Some(slot) { joined(load) } else { 0 }
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
        while stats.size.len() < slots {
            stats.size.push(0);
            // No pair of an empty block is hidden.
            let quiet = self.quiet_sum::<false>(stats, stats.size.len() - 1);
            stats.quiet.push(quiet);
        }
    }

    fn weigh(&self, items: &[Item], z: &Partition, load: &mut VertexLoad) {
        load.m = items.len() as u32;
        load.linked.weigh(items, z, |v| self.graph.neighbours(v));
        if self.graph.has_hidden() {
            load.hidden.weigh(items, z, |v| self.graph.unobserved(v));
        }
    }

    fn add(&self, stats: &mut Links, load: &VertexLoad, slot: Slot) {
        if self.graph.has_hidden() {
            self.change::<true>(stats, slot, |stats| {
                stats.linked.add(&load.linked, slot);
                stats.hidden.add(&load.hidden, slot);
                stats.size[slot.index()] += load.m;
            });
        } else {
            self.change::<false>(stats, slot, |stats| {
                stats.linked.add(&load.linked, slot);
                stats.size[slot.index()] += load.m;
            });
        }
    }

    fn sub(&self, stats: &mut Links, load: &VertexLoad, slot: Slot) {
        if self.graph.has_hidden() {
            self.change::<true>(stats, slot, |stats| {
                stats.linked.sub(&load.linked, slot);
                stats.hidden.sub(&load.hidden, slot);
                stats.size[slot.index()] -= load.m;
            });
        } else {
            self.change::<false>(stats, slot, |stats| {
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
                let (linked, total) = self.counts_seen(stats, slot, other);
                sum += self.coin.ln_evidence(linked, total);
            }
        }
        sum
    }

    fn predict(&self, stats: &Links, z: &Partition, (u, v): (u32, u32)) -> f64 {
        let slot = |vertex: u32| z.slot_of(Item::new(vertex as usize));
        let (linked, total) = self.counts_seen(stats, slot(u), slot(v));
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
        4 * kinds * blocks as u64 * blocks as u64 + 12 * blocks as u64
    }
}
