//! Relational models of every kind: all pairs of two blocks share a parameter, in each relation.
//!
//! p(Y | z) = ∏ over relations and pairs of blocks of ∫ ∏ p(values of the pairs between them | θ) p(θ) dθ, in
//! closed form for zeros and ones (Beta-Bernoulli), counts (Gamma-Poisson), real numbers
//! (Normal-inverse-Gamma) and categories (Dirichlet). With directions, a pair of blocks is ordered. Real
//! numbers on links alone come with zeros and ones for whether there is a link. Several relations share z.
//!
//! In a bipartite network no block has vertices of both sides: every pair of them in one block costs
//! so much that its probability is zero to any precision (and little in examples, so that proofs cover
//! all partitions). Given that, CRP(α) over all vertices is one CRP(α) for each side.

mod any_layer;
mod examples;
mod layer;
mod load;

pub(crate) use examples::CASES;
pub use examples::{BINARY, CATEGORIES, COUNTS, REALS, SEVERAL};

use crate::error::{Error, Result};
use crate::families::{Family, Grid};
use crate::hyper::Hyper;
use crate::model::Model;
use crate::partition::{Item, Partition, Slot};
use crate::prior::positive;
use crate::relations::{Relation, Relations, Values};
use any_layer::{AnyLayer, AnyLoad, AnyStats, Drawer, with_layer};
use load::Count;
use std::sync::Arc;

/// What a pair of vertices of different sides in one block costs, in nats.
const APART: f64 = (1u64 << 40) as f64;

/// The hyper-parameters of all families.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Priors {
    /// β⁺, β⁻ of links.
    pub beta: (f64, f64),
    /// Shape and rate of the mean count, on the scale of the mean of all counts.
    pub counts: (f64, f64),
    /// κ, shape and scale of real numbers, on the scale of their standard deviation.
    pub reals: (f64, f64, f64),
    /// β of each category.
    pub categories: f64,
}

impl Default for Priors {
    fn default() -> Self {
        Priors { beta: (1.0, 1.0), counts: (1.0, 1.0), reals: (0.1, 2.0, 1.0), categories: 1.0 }
    }
}

/// A relational model of a network of any kind.
#[derive(Debug)]
pub struct Relational {
    data: Arc<Relations>,
    /// With the number of the relation.
    layers: Vec<(usize, AnyLayer)>,
    /// What a pair of vertices of different sides in one block costs.
    apart: f64,
}

/// The statistics of all blocks.
#[derive(Debug)]
pub struct RelationalStats {
    sizes: Vec<Count>,
    layers: Vec<AnyStats>,
}

impl Clone for RelationalStats {
    fn clone(&self) -> Self {
        RelationalStats { sizes: self.sizes.clone(), layers: self.layers.clone() }
    }

    fn clone_from(&mut self, other: &Self) {
        self.sizes.clone_from(&other.sizes);
        self.layers.clone_from(&other.layers);
    }
}

/// What a set of vertices carries.
#[derive(Debug)]
pub struct RelationalLoad {
    set: Count,
    layers: Vec<AnyLoad>,
    /// Marks the members of the set while it is weighed.
    member: Vec<bool>,
}

impl Relational {
    /// The model of a network.
    pub fn new(data: Relations, priors: &Priors) -> Result<Self> {
        Relational::with_grid(data, priors, None)
    }

    /// With a grid for real numbers other than the one that suits the data.
    fn with_grid(data: Relations, priors: &Priors, grid: Option<Grid>) -> Result<Self> {
        positive("beta⁺", priors.beta.0)?;
        positive("beta⁻", priors.beta.1)?;
        let layers = (data.list().iter().enumerate())
            .flat_map(|(at, relation)| {
                let layers = AnyLayer::of(relation, data.sides().is_some(), priors, grid);
                layers.into_iter().map(move |layer| (at, layer))
            })
            .collect();
        if data.list().iter().all(|relation| relation.listed() == 0) {
            return Err(Error::new("this network has no edges: nothing tells the vertices apart"));
        }
        Ok(Relational { data: Arc::new(data), layers, apart: APART })
    }

    /// The data.
    pub fn relations(&self) -> &Relations {
        &self.data
    }

    fn side(&self, v: usize) -> usize {
        self.data.sides().map_or(0, |sides| usize::from(sides[v]))
    }

    /// How many pairs of vertices of different sides share a block.
    fn mixed(&self, labels: &[u32]) -> u64 {
        let blocks = labels.iter().max().map_or(0, |&m| m as usize + 1);
        let mut sizes = vec![[0u64; 2]; blocks];
        labels.iter().enumerate().for_each(|(v, &k)| sizes[k as usize][self.side(v)] += 1);
        sizes.iter().map(|size| size[0] * size[1]).sum()
    }

    fn change(
        &self,
        stats: &mut RelationalStats,
        load: &RelationalLoad,
        z: &Partition,
        slot: Slot,
        joins: bool,
    ) {
        let RelationalStats { sizes, layers } = stats;
        let (k, set) = (slot.index(), load.set);
        for (((_, layer), stats), load) in self.layers.iter().zip(&mut *layers).zip(&load.layers) {
            with_layer!(layer, stats, load, |layer, s, l| layer.change(s, l, sizes, z, k, joins));
        }
        let was_empty = sizes[k].all() == 0;
        sizes[k] = match joins {
            true => Count([sizes[k].0[0] + set.0[0], sizes[k].0[1] + set.0[1]]),
            false => sizes[k].without(set, true),
        };
        for ((_, layer), stats) in self.layers.iter().zip(layers) {
            with_layer!(layer, stats, |layer, s| layer.keep(s, sizes, z, k, was_empty));
        }
    }
}

impl Model for Relational {
    const NAME: &'static str = SEVERAL;
    type Stats = RelationalStats;
    type Load = RelationalLoad;

    fn name(&self) -> String {
        name(&self.data).to_string()
    }

    fn n(&self) -> usize {
        self.data.n()
    }

    fn empty_stats(&self) -> RelationalStats {
        let layers = self.layers.iter().map(|(_, layer)| layer.empty_stats()).collect();
        RelationalStats { sizes: Vec::new(), layers }
    }

    fn empty_load(&self) -> RelationalLoad {
        let layers = self.layers.iter().map(|(_, layer)| layer.empty_load()).collect();
        RelationalLoad { set: Count::default(), layers, member: vec![false; self.n()] }
    }

    fn grow(&self, stats: &mut RelationalStats, slots: usize) {
        if stats.sizes.len() >= slots {
            return;
        }
        stats.sizes.resize(slots, Count::default());
        for ((_, layer), stats) in self.layers.iter().zip(&mut stats.layers) {
            with_layer!(layer, stats, |layer, s| layer.grow(s, slots));
        }
    }

    fn weigh(&self, items: &[Item], z: &Partition, load: &mut RelationalLoad) {
        let RelationalLoad { set, layers, member } = load;
        *set = Count::default();
        for item in items {
            set.0[self.side(item.index())] += 1;
            member[item.index()] = true;
        }
        for ((at, layer), load) in self.layers.iter().zip(layers) {
            layer.weigh(&self.data.list()[*at], (items, *set), z, member, load);
        }
        items.iter().for_each(|item| member[item.index()] = false);
    }

    fn add(&self, stats: &mut RelationalStats, load: &RelationalLoad, z: &Partition, slot: Slot) {
        self.change(stats, load, z, slot, true);
    }

    fn sub(&self, stats: &mut RelationalStats, load: &RelationalLoad, z: &Partition, slot: Slot) {
        self.change(stats, load, z, slot, false);
    }

    fn gains(
        &self,
        stats: &RelationalStats,
        load: &mut RelationalLoad,
        home: Option<Slot>,
        z: &Partition,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        let RelationalLoad { set, layers, .. } = load;
        let (set, home) = (*set, home.map(Slot::index));
        for (slot, gain) in slots.iter().zip(&mut *gains) {
            let k = slot.index();
            let [a, b] = stats.sizes[k].without(set, home == Some(k)).0;
            let mixed = a * set.0[1] + b * set.0[0] + set.0[0] * set.0[1];
            *gain = -self.apart * mixed as f64;
        }
        for (((_, layer), stats_of), load) in self.layers.iter().zip(&stats.layers).zip(layers) {
            with_layer!(layer, stats_of, load, |layer, s, l| {
                l.complete(layer, &stats.sizes, home, z);
                layer.gains(s, l, home, z, slots, gains);
            });
        }
    }

    fn ln_evidence(&self, stats: &RelationalStats, z: &Partition) -> f64 {
        let mixed: u64 = stats.sizes.iter().map(|size| size.0[0] * size.0[1]).sum();
        let mut sum = -self.apart * mixed as f64;
        for ((_, layer), of) in self.layers.iter().zip(&stats.layers) {
            with_layer!(layer, of, |layer, s| {
                debug_assert!(layer.kept_is_true(s, &stats.sizes, z));
                sum += layer.over_pairs(s, z, |sum| layer.family.ln_evidence(sum));
            });
        }
        sum
    }

    fn ln_evidence_naive(&self, labels: &[u32]) -> f64 {
        let blocks = labels.iter().max().map_or(0, |&m| m + 1);
        let mut sum = self.ln_apart(labels);
        for (at, layer) in &self.layers {
            let relation = &self.data.list()[*at];
            let directed = relation.shape.directed;
            for (k, l) in (0..blocks).flat_map(|k| (0..blocks).map(move |l| (k, l))) {
                if !directed && k > l {
                    continue;
                }
                let mut values = Vec::new();
                for (u, v) in all_pairs(relation, self.n()) {
                    let (a, b) = (labels[u as usize], labels[v as usize]);
                    let here = if directed { (a, b) } else { (a.min(b), a.max(b)) };
                    if here == (k, l) && relation.is_pair(u, v) {
                        values.push((u, v));
                    }
                }
                let observed = |&(u, v): &(u32, u32)| {
                    let hidden = relation.hidden_from(u as usize).contains(&v);
                    let value = relation.from(u as usize).get(v);
                    match layer {
                        _ if hidden => None,
                        AnyLayer::Binary(_) => Some(f64::from(u8::from(value.is_some()))),
                        AnyLayer::Reals(layer) if !layer.dense => value,
                        _ => Some(value.unwrap_or(0.0)),
                    }
                };
                let values: Vec<f64> = values.iter().filter_map(observed).collect();
                sum += with_layer!(layer, |layer| layer.family.ln_evidence_naive(&values));
            }
        }
        sum
    }

    fn ln_apart(&self, labels: &[u32]) -> f64 {
        -self.apart * self.mixed(labels) as f64
    }

    fn sides(&self) -> Option<&[bool]> {
        self.data.sides()
    }

    fn hypers(&self) -> Vec<Hyper> {
        let several = self.data.list().len() > 1;
        let mut all = Vec::new();
        for (at, layer) in &self.layers {
            for hyper in with_layer!(layer, |layer| layer.family.hypers()) {
                let name = match several {
                    true => format!("{}_{}", hyper.name, at + 1),
                    false => hyper.name,
                };
                all.push(Hyper { name, ..hyper });
            }
        }
        all
    }

    fn with_hypers(&self, values: &[f64]) -> Self {
        let mut rest = values;
        let mut next = |layer: &AnyLayer| {
            let count = with_layer!(layer, |layer| layer.family.hypers().len());
            let (values, after) = rest.split_at(count);
            rest = after;
            layer.with_hypers(values)
        };
        let layers = self.layers.iter().map(|(at, layer)| (*at, next(layer))).collect();
        Relational { data: self.data.clone(), layers, ..*self }
    }

    fn ln_evidence_with(&self, values: &[f64], stats: &RelationalStats, z: &Partition) -> f64 {
        let mixed: u64 = stats.sizes.iter().map(|size| size.0[0] * size.0[1]).sum();
        let mut sum = -self.apart * mixed as f64;
        let mut rest = values;
        for ((_, layer), stats) in self.layers.iter().zip(&stats.layers) {
            with_layer!(layer, stats, |layer, s| {
                let (values, after) = rest.split_at(layer.family.hypers().len());
                rest = after;
                sum += layer.over_pairs(s, z, |sum| layer.family.ln_evidence_with(values, sum));
            });
        }
        sum
    }

    fn refresh(&self, stats: &mut RelationalStats, z: &Partition) {
        let RelationalStats { sizes, layers } = stats;
        for ((_, layer), stats) in self.layers.iter().zip(layers) {
            with_layer!(layer, stats, |layer, s| layer.keep_all(s, sizes, z));
        }
    }

    fn predict(&self, stats: &RelationalStats, z: &Partition, entry: (u32, u32)) -> f64 {
        let (at, u, v) = self.data.pair(entry);
        let slot = |v: u32| z.slot_of(Item::new(v as usize)).index();
        let mut mean = 1.0;
        for ((_, layer), stats) in
            self.layers.iter().zip(&stats.layers).filter(|((r, _), _)| *r == at)
        {
            // A number on a link counts if there is a link.
            mean *= with_layer!(layer, stats, |layer, s| {
                let sum = layer.sum(s, slot(u), slot(v));
                match &self.data.list()[at].shape.values {
                    Values::Categories(_) => 1.0 - layer.family.ln_predictive(sum, 0.0).exp(),
                    _ => layer.family.mean(sum),
                }
            });
        }
        mean
    }

    fn ln_predictive(
        &self,
        stats: &RelationalStats,
        z: &Partition,
        entry: (u32, u32),
        value: f64,
    ) -> f64 {
        let (at, u, v) = self.data.pair(entry);
        let slot = |v: u32| z.slot_of(Item::new(v as usize)).index();
        let (u, v) = (slot(u), slot(v));
        let on_links = self.data.list()[at].shape.values == Values::RealsOnLinks;
        let linked = f64::from(u8::from(!value.is_nan()));
        let mut ln_p = 0.0;
        for ((r, layer), stats) in self.layers.iter().zip(&stats.layers) {
            ln_p += match (layer, stats) {
                _ if *r != at => 0.0,
                // What is no number says that there is no link.
                (AnyLayer::Binary(layer), AnyStats::Small(s)) => {
                    let value = if on_links { linked } else { value };
                    layer.family.ln_predictive(layer.sum(s, u, v), value)
                }
                (AnyLayer::Reals(_), _) if on_links && value.is_nan() => 0.0,
                (layer, stats) => with_layer!(layer, stats, |layer, s| layer
                    .family
                    .ln_predictive(layer.sum(s, u, v), value)),
            };
        }
        ln_p
    }

    fn example(n: usize) -> Self {
        examples::several(n)
    }

    fn simulate(&self, labels: &[u32], uniform: &mut dyn FnMut() -> f64) -> Self {
        let blocks = labels.iter().max().map_or(0, |&m| m as usize + 1);
        let mut relations = self.data.list().to_vec();
        for (at, relation) in relations.iter_mut().enumerate() {
            let layers: Vec<&AnyLayer> =
                self.layers.iter().filter(|(r, _)| *r == at).map(|(_, layer)| layer).collect();
            // The parameters of every pair of blocks, whether it has pairs or not.
            let pairs =
                if relation.shape.directed { blocks * blocks } else { blocks * (blocks + 1) / 2 };
            let mut drawers: Vec<Vec<Drawer<'_>>> = (0..pairs)
                .map(|_| layers.iter().map(|layer| layer.drawer(uniform)).collect())
                .collect();
            let mut entries = Vec::new();
            for (u, v) in all_pairs(relation, self.n()) {
                if !relation.is_pair(u, v) || relation.hidden_from(u as usize).contains(&v) {
                    continue;
                }
                let (k, l) = (labels[u as usize] as usize, labels[v as usize] as usize);
                let place = match relation.shape.directed {
                    true => k * blocks + l,
                    false => k.max(l) * (k.max(l) + 1) / 2 + k.min(l),
                };
                let draws = &mut drawers[place];
                let value = draws[0](uniform);
                match draws.get(1) {
                    Some(number) if value == 1.0 => entries.push((u, v, number(uniform))),
                    Some(_) => {}
                    None => entries.push((u, v, value)),
                }
            }
            drop(drawers);
            *relation = relation.with_entries(entries);
        }
        let layers = (self.layers.iter())
            .map(|(at, layer)| (*at, layer.with_data(&relations[*at])))
            .collect();
        let data = Relations::new(relations).expect("the same vertices");
        Relational { data: Arc::new(data), layers, ..*self }
    }

    fn stats_bytes(&self, blocks: usize) -> u64 {
        let bytes = |layer: &AnyLayer| with_layer!(layer, |layer| layer.bytes(blocks as u64));
        self.layers.iter().map(|(_, layer)| bytes(layer)).sum()
    }
}

/// The name of the model that fits the data.
pub fn name(data: &Relations) -> &'static str {
    match data.list() {
        [relation] => match relation.shape.values {
            Values::Binary => BINARY,
            Values::Counts => COUNTS,
            Values::RealsOnLinks | Values::Reals => REALS,
            Values::Categories(_) => CATEGORIES,
        },
        _ => SEVERAL,
    }
}

/// Every pair of vertices once, in a fixed order; not all of them are pairs of the relation.
fn all_pairs(relation: &Relation, n: usize) -> impl Iterator<Item = (u32, u32)> + use<> {
    let directed = relation.shape.directed;
    let n = n as u32;
    (0..n).flat_map(move |u| (if directed { 0 } else { u }..n).map(move |v| (u, v)))
}
