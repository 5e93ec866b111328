//! The infinite relational model: an undirected network, one link probability per pair of blocks.

use crate::data::Graph;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::partition::{Item, Partition, Slot};
use crate::prior::positive;
use crate::special::BetaBernoulli;

/// log p(A | z) = Σ_{k ≤ k'} ln B(N⁺_kk' + β⁺, N⁻_kk' + β⁻) / B(β⁺, β⁻), where N⁺ and N⁻ count
/// linked and unlinked pairs of vertices between two blocks. Pairs within a block count once;
/// a vertex is not paired with itself.
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

/// N⁺: the number of links between every two slots, a symmetric matrix; within a slot counted once.
#[derive(Debug)]
pub struct Links {
    side: usize,
    count: Vec<u32>,
}

impl Clone for Links {
    fn clone(&self) -> Self {
        Links { side: self.side, count: self.count.clone() }
    }
    fn clone_from(&mut self, source: &Self) {
        self.side = source.side;
        self.count.clone_from(&source.count);
    }
}

impl Links {
    fn row(&self, slot: usize) -> &[u32] {
        &self.count[slot * self.side..][..self.side]
    }
}

/// What a set of vertices carries: how many they are, their links to every block, and among
/// themselves.
#[derive(Debug)]
pub struct VertexLoad {
    m: u32,
    /// By slot; zero except in the slots of `touched`.
    links: Vec<u32>,
    touched: Vec<Slot>,
    inner: u32,
    /// Marks the members of the set while their inner links are counted.
    member: Vec<bool>,
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
}

impl Model for Irm {
    const NAME: &'static str = "irm";
    type Stats = Links;
    type Load = VertexLoad;

    fn n(&self) -> usize {
        self.graph.n()
    }

    fn empty_stats(&self) -> Links {
        Links { side: 0, count: Vec::new() }
    }

    fn empty_load(&self) -> VertexLoad {
        VertexLoad {
            m: 0,
            links: Vec::new(),
            touched: Vec::new(),
            inner: 0,
            member: vec![false; self.n()],
        }
    }

    fn grow(&self, stats: &mut Links, slots: usize) {
        if slots <= stats.side {
            return;
        }
        // Grow by half, so that a growing number of blocks rarely copies the matrix.
        let side = slots.max(stats.side + stats.side / 2).max(8);
        let mut count = vec![0; side * side];
        for slot in 0..stats.side {
            count[slot * side..][..stats.side].copy_from_slice(stats.row(slot));
        }
        *stats = Links { side, count };
    }

    fn weigh(&self, items: &[Item], z: &Partition, load: &mut VertexLoad) {
        for slot in load.touched.drain(..) {
            load.links[slot.index()] = 0;
        }
        if load.links.len() < z.slots() {
            load.links.resize(z.slots(), 0);
        }
        load.m = items.len() as u32;
        load.inner = 0;
        let alone = items.len() == 1;
        if !alone {
            items.iter().for_each(|i| load.member[i.index()] = true);
        }
        let slots_of_items = z.slots_of_items();
        for item in items {
            for &neighbour in self.graph.neighbours(item.index()) {
                let slot = slots_of_items[neighbour as usize];
                if slot != Slot::NOWHERE {
                    let links = &mut load.links[slot.index()];
                    if *links == 0 {
                        load.touched.push(slot);
                    }
                    *links += 1;
                } else if !alone && load.member[neighbour as usize] {
                    load.inner += 1; // seen from both ends, halved below
                }
            }
        }
        if !alone {
            items.iter().for_each(|i| load.member[i.index()] = false);
            load.inner /= 2;
        }
    }

    fn add(&self, stats: &mut Links, load: &VertexLoad, slot: Slot) {
        let (k, side) = (slot.index(), stats.side);
        for other in &load.touched {
            let (l, links) = (other.index(), load.links[other.index()]);
            stats.count[k * side + l] += links;
            if l != k {
                stats.count[l * side + k] += links;
            }
        }
        stats.count[k * side + k] += load.inner;
    }

    fn sub(&self, stats: &mut Links, load: &VertexLoad, slot: Slot) {
        let (k, side) = (slot.index(), stats.side);
        for other in &load.touched {
            let (l, links) = (other.index(), load.links[other.index()]);
            stats.count[k * side + l] -= links;
            if l != k {
                stats.count[l * side + k] -= links;
            }
        }
        stats.count[k * side + k] -= load.inner;
    }

    fn gains(
        &self,
        stats: &Links,
        load: &VertexLoad,
        z: &Partition,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        let m = u64::from(load.m);
        for (&slot, gain) in slots.iter().zip(gains) {
            let k = slot.index();
            let row = stats.row(k);
            let size = u64::from(z.size(slot));
            // Links to the other blocks …
            let mut sum = 0.0;
            for &other in z.live() {
                if other == slot {
                    continue;
                }
                let (old, new) =
                    (u64::from(row[other.index()]), u64::from(load.links[other.index()]));
                let others = u64::from(z.size(other));
                sum += self.coin.ln_evidence(old + new, (size + m) * others);
                sum -= self.coin.ln_evidence(old, size * others);
            }
            // … and within this one.
            let (old, new) =
                (u64::from(row[k]), u64::from(load.links.get(k).copied().unwrap_or(0)));
            sum += self.coin.ln_evidence(old + new + u64::from(load.inner), pairs(size + m));
            sum -= self.coin.ln_evidence(old, pairs(size));
            *gain = sum;
        }
    }

    fn ln_evidence(&self, stats: &Links, z: &Partition) -> f64 {
        let mut sum = 0.0;
        for (at, &slot) in z.live().iter().enumerate() {
            let row = stats.row(slot.index());
            let size = u64::from(z.size(slot));
            sum += self.coin.ln_evidence(u64::from(row[slot.index()]), pairs(size));
            for &other in &z.live()[..at] {
                let total = size * u64::from(z.size(other));
                sum += self.coin.ln_evidence(u64::from(row[other.index()]), total);
            }
        }
        sum
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
                        if (labels[u].min(labels[v]), labels[u].max(labels[v])) == (k, l) {
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
        Irm::new(graph, 0.8, 1.7).expect("an example is valid")
    }

    fn simulate(&self, labels: &[u32], uniform: &mut dyn FnMut() -> f64) -> Self {
        // Pair after pair from the predictive distribution given the earlier pairs of its blocks.
        let blocks = labels.iter().max().map_or(0, |&m| m as usize + 1);
        let mut counts = vec![(0.0, 0.0); blocks * blocks];
        let mut edges = Vec::new();
        for v in 0..self.n() {
            for u in 0..v {
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
        Irm {
            graph: Graph::new(self.n(), &edges).expect("vertices in range"),
            coin: self.coin.clone(),
            beta: self.beta,
        }
    }

    fn stats_bytes(&self, blocks: usize) -> u64 {
        4 * blocks as u64 * blocks as u64
    }
}
