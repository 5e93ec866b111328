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
}

/// The statistics of the blocks: N⁺, and how many pairs were not observed.
#[derive(Debug, Default)]
pub struct Links {
    linked: Counts,
    /// Stays empty if all pairs were observed.
    hidden: Counts,
}

impl Clone for Links {
    fn clone(&self) -> Self {
        Links { linked: self.linked.clone(), hidden: self.hidden.clone() }
    }
    fn clone_from(&mut self, source: &Self) {
        self.linked.clone_from(&source.linked);
        self.hidden.clone_from(&source.hidden);
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
            graph,
        })
    }

    /// The data.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The linked and the observed pairs between two blocks, or within one.
    fn counts(&self, stats: &Links, z: &Partition, k: Slot, l: Slot) -> (u64, u64) {
        let size = u64::from(z.size(k));
        let all = if k == l { pairs(size) } else { size * u64::from(z.size(l)) };
        let hidden = match self.graph.has_hidden() {
            true => u64::from(stats.hidden.row(k.index())[l.index()]),
            false => 0,
        };
        (u64::from(stats.linked.row(k.index())[l.index()]), all - hidden)
    }

    /// [`Model::gains`], where `hidden` tells the pairs between slots k and l that were not observed,
    /// and those that C brings.
    #[inline]
    fn gains_without(
        &self,
        hidden: &impl Fn(usize, usize) -> (u64, u64),
        stats: &Links,
        load: &VertexLoad,
        z: &Partition,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        let m = u64::from(load.m);
        for (&slot, gain) in slots.iter().zip(gains) {
            let k = slot.index();
            let row = stats.linked.row(k);
            let size = u64::from(z.size(slot));
            // Links to the other blocks …
            let mut sum = 0.0;
            for &other in z.live() {
                if other == slot {
                    continue;
                }
                let l = other.index();
                let (old, new) = (u64::from(row[l]), u64::from(load.linked.to[l]));
                let (unseen, more_unseen) = hidden(k, l);
                let others = u64::from(z.size(other));
                let all = (size + m) * others - unseen - more_unseen;
                sum += self.coin.ln_evidence(old + new, all);
                sum -= self.coin.ln_evidence(old, size * others - unseen);
            }
            // … and within this one.
            let (old, new) = (u64::from(row[k]), load.linked.to(k));
            let (unseen, more_unseen) = hidden(k, k);
            let all = pairs(size + m) - unseen - more_unseen - u64::from(load.hidden.inner);
            sum += self.coin.ln_evidence(old + new + u64::from(load.linked.inner), all);
            sum -= self.coin.ln_evidence(old, pairs(size) - unseen);
            *gain = sum;
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
    }

    fn weigh(&self, items: &[Item], z: &Partition, load: &mut VertexLoad) {
        load.m = items.len() as u32;
        load.linked.weigh(items, z, |v| self.graph.neighbours(v));
        if self.graph.has_hidden() {
            load.hidden.weigh(items, z, |v| self.graph.unobserved(v));
        }
    }

    fn add(&self, stats: &mut Links, load: &VertexLoad, slot: Slot) {
        stats.linked.add(&load.linked, slot);
        if self.graph.has_hidden() {
            stats.hidden.add(&load.hidden, slot);
        }
    }

    fn sub(&self, stats: &mut Links, load: &VertexLoad, slot: Slot) {
        stats.linked.sub(&load.linked, slot);
        if self.graph.has_hidden() {
            stats.hidden.sub(&load.hidden, slot);
        }
    }

    fn gains(
        &self,
        stats: &Links,
        load: &VertexLoad,
        z: &Partition,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        if self.graph.has_hidden() {
            let hidden =
                |k: usize, l: usize| (u64::from(stats.hidden.row(k)[l]), load.hidden.to(l));
            self.gains_without(&hidden, stats, load, z, slots, gains);
        } else {
            self.gains_without(&|_, _| (0, 0), stats, load, z, slots, gains);
        }
    }

    fn ln_evidence(&self, stats: &Links, z: &Partition) -> f64 {
        let mut sum = 0.0;
        for (at, &slot) in z.live().iter().enumerate() {
            for &other in &z.live()[..=at] {
                let (linked, total) = self.counts(stats, z, slot, other);
                sum += self.coin.ln_evidence(linked, total);
            }
        }
        sum
    }

    fn predict(&self, stats: &Links, z: &Partition, (u, v): (u32, u32)) -> f64 {
        let slot = |vertex: u32| z.slot_of(Item::new(vertex as usize));
        let (linked, total) = self.counts(stats, z, slot(u), slot(v));
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
        }
    }

    fn stats_bytes(&self, blocks: usize) -> u64 {
        let kinds = 1 + u64::from(self.graph.has_hidden());
        4 * kinds * blocks as u64 * blocks as u64
    }
}
