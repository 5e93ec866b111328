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
//!
//! Vertices of a block may differ in their degrees, if values are counts: `degrees.rs` says how.

mod any_layer;
mod degrees;
mod examples;
mod layer;
mod load;

pub(crate) use examples::CASES;
pub use examples::{BINARY, CATEGORIES, COUNTS, DEGREES, REALS, SEVERAL};

use crate::error::{Error, Result};
use crate::families::Family;
use crate::hyper::Hyper;
use crate::model::Model;
use crate::partition::{Item, Partition, Slot};
use crate::prior::positive;
use crate::relations::{Relation, Relations, Shape, Values};
use any_layer::{AnyLayer, AnyLoad, AnyStats, Drawer, with_layer};
use degrees::{DegreeLoad, DegreeStats, Degrees};
use load::Count;
use std::sync::Arc;

/// What a pair of vertices of different sides in one block costs, in nats.
const APART: f64 = (1u64 << 40) as f64;

/// The usual γ of degrees: all shares of them in a block are as probable.
pub const DEGREE_EVENNESS: f64 = 1.0;

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
    /// γ of a degree-corrected model of counts: the larger, the more alike are the vertices of a block. Without it, all of them are alike.
    pub degree_evenness: Option<f64>,
}

impl Default for Priors {
    fn default() -> Self {
        Priors {
            beta: (1.0, 1.0),
            counts: (1.0, 1.0),
            reals: (0.1, 2.0, 1.0),
            categories: 1.0,
            degree_evenness: None,
        }
    }
}

/// A relational model of a network of any kind.
#[derive(Debug)]
pub struct Relational {
    data: Arc<Relations>,
    /// With the number of the relation.
    layers: Vec<(usize, AnyLayer)>,
    /// Of all relations, if vertices have degrees of their own.
    degrees: Vec<Degrees>,
    /// What a pair of vertices of different sides in one block costs.
    apart: f64,
}

/// The statistics of all blocks.
#[derive(Debug)]
pub struct RelationalStats {
    sizes: Vec<Count>,
    layers: Vec<AnyStats>,
    degrees: Vec<DegreeStats>,
}

impl Clone for RelationalStats {
    fn clone(&self) -> Self {
        let RelationalStats { sizes, layers, degrees } = self;
        RelationalStats { sizes: sizes.clone(), layers: layers.clone(), degrees: degrees.clone() }
    }

    fn clone_from(&mut self, other: &Self) {
        self.sizes.clone_from(&other.sizes);
        self.layers.clone_from(&other.layers);
        self.degrees.clone_from(&other.degrees);
    }
}

/// What a set of vertices carries.
#[derive(Debug)]
pub struct RelationalLoad {
    set: Count,
    layers: Vec<AnyLoad>,
    degrees: Vec<DegreeLoad>,
    /// Marks the members of the set while it is weighed.
    member: Vec<bool>,
}

impl Relational {
    /// The model of a network.
    pub fn new(data: Relations, priors: &Priors) -> Result<Self> {
        positive("beta⁺", priors.beta.0)?;
        positive("beta⁻", priors.beta.1)?;
        let data = match priors.degree_evenness {
            Some(evenness) => {
                positive("degree_evenness", evenness)?;
                counts_of_all_pairs(data)?
            }
            None => data,
        };
        let layers = (data.list().iter().enumerate())
            .flat_map(|(at, relation)| {
                let layers = AnyLayer::of(relation, data.sides().is_some(), priors);
                layers.into_iter().map(move |layer| (at, layer))
            })
            .collect();
        if data.list().iter().all(|relation| relation.listed() == 0) {
            return Err(Error::new("this network has no edges: nothing tells the vertices apart"));
        }
        let degrees = degrees_of(&data, |_| priors.degree_evenness);
        Ok(Relational { data: Arc::new(data), layers, degrees, apart: APART })
    }

    /// The data.
    pub fn relations(&self) -> &Relations {
        &self.data
    }

    /// The same model with other values of the same shape.
    fn with_relations(&self, data: Relations) -> Self {
        let with_data = |(at, layer): &(usize, AnyLayer)| (*at, layer.with_data(&data.list()[*at]));
        let layers = self.layers.iter().map(with_data).collect();
        let degrees = degrees_of(&data, |at| self.degrees.get(at).map(|of| of.hyper().value));
        Relational { data: Arc::new(data), layers, degrees, ..*self }
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
        let RelationalStats { sizes, layers, degrees } = stats;
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
        for ((of, stats), load) in self.degrees.iter().zip(degrees).zip(&load.degrees) {
            of.change(stats, load, sizes[k], k, joins);
        }
    }
}

impl Model for Relational {
    const NAME: &'static str = SEVERAL;
    type Stats = RelationalStats;
    type Load = RelationalLoad;

    fn name(&self) -> String {
        match self.degrees.is_empty() {
            true => name(&self.data).to_string(),
            false => DEGREES.to_string(),
        }
    }

    fn n(&self) -> usize {
        self.data.n()
    }

    fn empty_stats(&self) -> RelationalStats {
        let layers = self.layers.iter().map(|(_, layer)| layer.empty_stats()).collect();
        let degrees = self.degrees.iter().map(|_| DegreeStats::default()).collect();
        RelationalStats { sizes: Vec::new(), layers, degrees }
    }

    fn empty_load(&self) -> RelationalLoad {
        let layers = self.layers.iter().map(|(_, layer)| layer.empty_load()).collect();
        let (degrees, member) = (Vec::new(), vec![false; self.n()]);
        RelationalLoad { set: Count::default(), layers, degrees, member }
    }

    fn grow(&self, stats: &mut RelationalStats, slots: usize) {
        if stats.sizes.len() >= slots {
            return;
        }
        stats.sizes.resize(slots, Count::default());
        for ((_, layer), stats) in self.layers.iter().zip(&mut stats.layers) {
            with_layer!(layer, stats, |layer, s| layer.grow(s, slots));
        }
        stats.degrees.iter_mut().for_each(|of| of.grow(slots));
    }

    fn weigh(&self, items: &[Item], z: &Partition, load: &mut RelationalLoad) {
        let RelationalLoad { set, layers, degrees, member } = load;
        *set = Count::default();
        for item in items {
            set.0[self.side(item.index())] += 1;
            member[item.index()] = true;
        }
        for ((at, layer), load) in self.layers.iter().zip(layers) {
            layer.weigh(&self.data.list()[*at], (items, *set), z, member, load);
        }
        items.iter().for_each(|item| member[item.index()] = false);
        degrees.clear();
        degrees.extend(self.degrees.iter().map(|of| of.weigh(items)));
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
        let RelationalLoad { set, layers, degrees, .. } = load;
        let (set, home) = (*set, home.map(Slot::index));
        for (slot, gain) in slots.iter().zip(&mut *gains) {
            let k = slot.index();
            let [a, b] = stats.sizes[k].without(set, home == Some(k)).0;
            let mixed = a * set.0[1] + b * set.0[0] + set.0[0] * set.0[1];
            *gain = -self.apart * mixed as f64;
            for ((of, stats_of), load) in self.degrees.iter().zip(&stats.degrees).zip(&*degrees) {
                let sizes = (set, stats.sizes[k]);
                *gain += of.gain(stats_of, load, sizes, k, home == Some(k));
            }
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
        let degrees = self.degrees.iter().zip(&stats.degrees);
        sum + degrees.map(|(of, stats)| of.ln_evidence(stats, z)).sum::<f64>()
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
                // Two orders of two vertices, of which the second has nothing.
                let twice = with_layer!(layer, |layer| layer.twice);
                let again = values.iter().filter(|(u, v)| twice && u != v).map(|_| 0.0);
                let values: Vec<f64> = values.iter().filter_map(observed).chain(again).collect();
                sum += with_layer!(layer, |layer| layer.family.ln_evidence_naive(&values));
            }
        }
        for of in &self.degrees {
            let relation = &self.data.list()[of.relation];
            sum += of.ln_evidence_naive(relation, self.data.sides(), labels);
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
            all.extend(
                with_layer!(layer, |layer| layer.family.hypers()).into_iter().map(|h| (*at, h)),
            );
        }
        all.extend(self.degrees.iter().map(|of| (of.relation, of.hyper())));
        let named = |(at, hyper): (usize, Hyper)| match several {
            true => Hyper { name: format!("{}_{}", hyper.name, at + 1), ..hyper },
            false => hyper,
        };
        all.into_iter().map(named).collect()
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
        let degrees = self.degrees.iter().zip(rest);
        let degrees = degrees.map(|(of, &evenness)| of.with_evenness(evenness)).collect();
        Relational { data: self.data.clone(), layers, degrees, ..*self }
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
        for ((of, stats_of), &evenness) in self.degrees.iter().zip(&stats.degrees).zip(rest) {
            sum += of.ln_evidence_with(evenness, stats_of, &stats.sizes, z);
        }
        sum
    }

    fn refresh(&self, stats: &mut RelationalStats, z: &Partition) {
        let RelationalStats { sizes, layers, degrees } = stats;
        for ((_, layer), stats) in self.layers.iter().zip(layers) {
            with_layer!(layer, stats, |layer, s| layer.keep_all(s, sizes, z));
        }
        self.degrees.iter().zip(degrees).for_each(|(of, stats)| of.refresh(stats, sizes));
    }

    fn predict(&self, stats: &RelationalStats, z: &Partition, entry: (u32, u32)) -> f64 {
        let (at, u, v) = self.data.pair(entry);
        let slot = |v: u32| z.slot_of(Item::new(v as usize)).index();
        let mut mean = 1.0;
        // All pairs were observed, then: what another network would have here.
        if let (Some(of), Some(degrees)) = (self.degrees.get(at), stats.degrees.get(at)) {
            let pair = [u, v].map(|v| v as usize);
            mean = of.mean_of_pair(degrees, &stats.sizes, z, self.data.sides(), pair);
        }
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
        assert!(self.degrees.is_empty(), "no pair is unknown if vertices have degrees");
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
            let degrees = self.degrees.get(at);
            let theta = degrees.map(|of| of.draw(labels, self.data.sides(), uniform));
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
                let times = match (degrees, &theta) {
                    (Some(of), Some(theta)) => {
                        of.rate_of_pair(theta, self.data.sides(), [u, v].map(|v| v as usize))
                    }
                    _ => 1.0,
                };
                let draws = &mut drawers[place];
                let value = draws[0](times, uniform);
                match draws.get(1) {
                    Some(number) if value == 1.0 => entries.push((u, v, number(1.0, uniform))),
                    Some(_) => {}
                    None => entries.push((u, v, value)),
                }
            }
            drop(drawers);
            *relation = relation.with_entries(entries);
        }
        self.with_relations(Relations::new(relations).expect("the same vertices"))
    }

    fn stats_bytes(&self, blocks: usize) -> u64 {
        let bytes = |layer: &AnyLayer| with_layer!(layer, |layer| layer.bytes(blocks as u64));
        self.layers.iter().map(|(_, layer)| bytes(layer)).sum()
    }
}

/// The degrees of all relations that are degree-corrected, with the γ of each.
fn degrees_of(data: &Relations, evenness: impl Fn(usize) -> Option<f64>) -> Vec<Degrees> {
    let of = |(at, relation): (usize, &Relation)| {
        Some(Degrees::new(relation, at, data.sides(), data.n(), evenness(at)?))
    };
    data.list().iter().enumerate().filter_map(of).collect()
}

/// The data as a degree-corrected model has them: counts, of every vertex with itself, too. Says why that is not possible.
fn counts_of_all_pairs(data: Relations) -> Result<Relations> {
    let mut relations = data.list().to_vec();
    for relation in &mut relations {
        let Shape { name, loops, values, .. } = &mut relation.shape;
        if !matches!(values, Values::Binary | Values::Counts) {
            return Err(Error::new(format!(
                "{name}: the model {DEGREES} is for links and counts, not for {}: use --weights counts, or leave --weights out",
                values.name()
            )));
        }
        (*values, *loops) = (Values::Counts, data.sides().is_none());
        if relation.has_hidden() {
            return Err(Error::new(format!(
                "{}: the model {DEGREES} needs to know every pair, but some are unknown or held out: use {COUNTS} (--weights counts), or leave out --mask and --hold-out",
                relation.shape.name
            )));
        }
    }
    Relations::new(relations)
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

#[cfg(test)]
mod tests;
