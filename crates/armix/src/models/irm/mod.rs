//! The infinite relational model: an undirected network, one link probability per pair of blocks.

mod compact;
mod gains;
mod links;
mod load;
mod stats;

use crate::data::Graph;
use crate::error::{Error, Result};
use crate::hyper::{Hyper, HyperPrior};
use crate::model::Model;
use crate::partition::{Item, Partition, Slot};
use crate::prior::positive;
use crate::special::{BetaBernoulli, evidence_of_tosses};
use compact::{Compact, Tables};
use links::{Between, Links};
use load::{PairLoad, VertexLoad};
use stats::Stats;
use std::sync::Arc;

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
    graph: Arc<Graph>,
    coin: BetaBernoulli,
    beta: (f64, f64),
    /// How many units of the sums in `Links` make one, and what one unit is.
    units: f64,
    unit: f64,
    /// Whether the tables cover all that is asked.
    small: bool,
    /// For few blocks, if the network is small enough for their layout.
    compact: Option<Tables>,
}

/// The number of pairs among n vertices.
fn pairs(n: u64) -> u64 {
    n * n.saturating_sub(1) / 2
}

/// As many pairs as anything is asked about in a network of n vertices: a vertex that is still counted in its home may be
/// counted once more with another block.
fn reach(n: usize) -> u64 {
    pairs(n as u64) + n as u64
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
        let coin = BetaBernoulli::new(beta_plus, beta_minus, reach(graph.n()));
        Ok(Irm {
            compact: (compact::VERTICES.contains(&graph.n()) && !graph.has_hidden())
                .then(|| Tables::new(&coin)),
            small: coin.in_tables(reach(graph.n())),
            coin,
            beta: (beta_plus, beta_minus),
            units: units(graph.n()),
            unit: 1.0 / units(graph.n()),
            graph: Arc::new(graph),
        })
    }

    /// The same without the layout for few blocks of a small network: what that is held against.
    pub fn in_any_layout(self) -> Self {
        Irm { compact: None, ..self }
    }

    /// The data.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The tables for few blocks.
    #[inline(always)]
    fn tables(&self) -> &Tables {
        self.compact.as_ref().expect("few blocks are counted with tables for them")
    }

    /// Sums a function of the linked and all pairs over all pairs of blocks.
    #[inline]
    fn sum_of_pairs(stats: &impl Between, z: &Partition, of: impl Fn(u64, u64) -> f64) -> f64 {
        let mut sum = 0.0;
        for (at, &slot) in z.live().iter().enumerate() {
            for &other in &z.live()[..=at] {
                let (linked, all) = stats.linked_and_all(slot.index(), other.index());
                sum += of(linked, all);
            }
        }
        sum
    }
}

impl Model for Irm {
    const NAME: &'static str = "irm";
    type Stats = Stats;
    type Load = VertexLoad;

    fn n(&self) -> usize {
        self.graph.n()
    }

    fn empty_stats(&self) -> Stats {
        match self.compact {
            Some(_) => Stats::Few(Compact::default()),
            None => Stats::Many(Links::default()),
        }
    }

    fn empty_load(&self) -> VertexLoad {
        let hidden = if self.graph.has_hidden() { self.n() } else { 0 };
        VertexLoad {
            m: 0,
            linked: PairLoad::new(self.n(), self.compact.is_some()),
            hidden: PairLoad::new(hidden, false),
            sums: Vec::new(),
        }
    }

    fn grow(&self, stats: &mut Stats, slots: usize) {
        self.make_room(stats, slots);
    }

    #[inline(always)]
    fn weigh(&self, items: &[Item], z: &Partition, load: &mut VertexLoad) {
        load.m = items.len() as u32;
        load.linked.weigh(items, z, |v| self.graph.neighbours(v));
        if self.graph.has_hidden() {
            load.hidden.weigh(items, z, |v| self.graph.unobserved(v));
        }
    }

    fn weigh_block(
        &self,
        stats: &Stats,
        items: &[Item],
        z: &Partition,
        slot: Slot,
        load: &mut VertexLoad,
    ) {
        let (k, m) = (slot.index(), items.len() as u64);
        let (linked, all) = stats.linked_and_all(k, k);
        load.m = items.len() as u32;
        load.linked.copy(z, linked, |l| stats.linked_and_all(k, l).0);
        if self.graph.has_hidden() {
            let hidden = |l: usize| m * stats.size(l) - stats.linked_and_all(k, l).1;
            load.hidden.copy(z, pairs(m) - all, hidden);
        }
    }

    fn add(&self, stats: &mut Stats, load: &VertexLoad, z: &Partition, slot: Slot) {
        match stats {
            Stats::Few(few) => few.change(self.tables(), load, z, slot, true),
            Stats::Many(many) if self.graph.has_hidden() => {
                self.change::<true>(many, load, z, slot, true);
            }
            Stats::Many(many) => self.change::<false>(many, load, z, slot, true),
        }
    }

    fn sub(&self, stats: &mut Stats, load: &VertexLoad, z: &Partition, slot: Slot) {
        match stats {
            Stats::Few(few) => few.change(self.tables(), load, z, slot, false),
            Stats::Many(many) if self.graph.has_hidden() => {
                self.change::<true>(many, load, z, slot, false);
            }
            Stats::Many(many) => self.change::<false>(many, load, z, slot, false),
        }
    }

    fn vacate(
        &self,
        stats: &mut Stats,
        _items: &[Item],
        z: &Partition,
        slot: Slot,
        _load: &mut VertexLoad,
    ) {
        match stats {
            Stats::Few(few) => few.forget(slot),
            Stats::Many(many) => self.forget(many, z, slot),
        }
    }

    #[inline(always)]
    fn gains(
        &self,
        stats: &Stats,
        load: &mut VertexLoad,
        home: Option<Slot>,
        z: &Partition,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        match stats {
            Stats::Few(few) => {
                self.gains_among_few((few, self.tables()), load, home, z, slots, gains);
            }
            Stats::Many(many) if self.graph.has_hidden() => {
                self.gains_any::<true>(many, load, home, z, slots, gains);
            }
            Stats::Many(many) => self.gains_any::<false>(many, load, home, z, slots, gains),
        }
    }

    fn ln_evidence(&self, stats: &Stats, z: &Partition) -> f64 {
        match stats {
            Stats::Few(few) => {
                debug_assert!(self.n() > 100 || few.is_true(self.tables(), z));
                few.ln_evidence(z)
            }
            Stats::Many(many) => {
                debug_assert!(self.n() > 100 || self.caches_are_true(many, z));
                Irm::sum_of_pairs(many, z, |linked, all| self.coin.ln_evidence(linked, all))
            }
        }
    }

    fn hypers(&self) -> Vec<Hyper> {
        let hyper = |name, value| Hyper::new(name, value, HyperPrior::UNIT_GAMMA);
        vec![hyper("beta_plus", self.beta.0), hyper("beta_minus", self.beta.1)]
    }

    fn with_hypers(&self, values: &[f64]) -> Self {
        let coin = BetaBernoulli::for_a_while(values[0], values[1], reach(self.n()));
        Irm {
            graph: self.graph.clone(),
            compact: self.compact.as_ref().map(|_| Tables::new(&coin)),
            small: coin.in_tables(reach(self.n())),
            coin,
            beta: (values[0], values[1]),
            ..*self
        }
    }

    fn ln_evidence_with(&self, values: &[f64], stats: &Stats, z: &Partition) -> f64 {
        let of = evidence_of_tosses((values[0], values[1]));
        Irm::sum_of_pairs(stats, z, |linked, all| of(linked, all - linked))
    }

    fn refresh(&self, stats: &mut Stats, _z: &Partition) {
        match stats {
            Stats::Few(few) => few.conclude_all(self.tables()),
            Stats::Many(many) => self.conclude_all(many),
        }
    }

    fn predict(&self, stats: &Stats, z: &Partition, (u, v): (u32, u32)) -> f64 {
        let slot = |vertex: u32| z.slot_of(Item::new(vertex as usize));
        let (linked, all) = stats.linked_and_all(slot(u).index(), slot(v).index());
        (linked as f64 + self.beta.0) / (all as f64 + self.beta.0 + self.beta.1)
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
            graph: Arc::new(
                Graph::new(self.n(), &edges).expect("vertices in range").hiding(&hidden),
            ),
            coin: self.coin.clone(),
            beta: self.beta,
            units: self.units,
            unit: self.unit,
            small: self.small,
            compact: self.compact.clone(),
        }
    }

    fn stats_bytes(&self, blocks: usize) -> u64 {
        match self.compact.is_some() && blocks <= compact::MOST_SLOTS {
            true => Compact::bytes(blocks),
            false => Links::bytes(blocks),
        }
    }
}
