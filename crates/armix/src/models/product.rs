//! Products of models over the same items: p(Y₁, Y₂, … | z) = p(Y₁ | z) p(Y₂ | z) ….

use crate::hyper::Hyper;
use crate::model::{Beside, Model};
use crate::partition::{Item, Partition, Slot};

/// A model that can be a factor of a product.
pub trait Part: Model {
    /// The name of the product.
    const PRODUCT: &'static str;

    /// The parts of a made-up product over n items, and where its entries are: see [`Product::new`].
    fn example_parts(n: usize) -> (Vec<Self>, Vec<(u32, u32)>);

    /// Says a hyper-parameter's part, in front of its name.
    fn label(&self) -> &'static str;

    /// Whether [`Model::ceiling`] of a single item says much, so that the part is weighed last, and only for the slots that are left.
    /// It has [`Model::add_likely_gains`] then.
    fn is_weighed_last(&self) -> bool {
        false
    }
}

/// Several models that share one partition.
#[derive(Debug, Clone)]
pub struct Product<P> {
    parts: Vec<P>,
    columns: Vec<(u32, u32)>,
    /// In which order gains are added up: parts that skip what is hopeless come after those that do not, so that they know more.
    order: Vec<usize>,
    /// So many of them are weighed for all slots, and the others for those that are left then.
    at_once: usize,
}

/// Products of fewer columns hardly have slots that need not be weighed.
const WIDE: usize = 16;

impl<P: Part> Product<P> {
    /// The product of these models, at least one. Column j of the product is column `columns[j].1` of the part
    /// `columns[j].0`.
    pub fn new(parts: Vec<P>, columns: Vec<(u32, u32)>) -> Self {
        assert!(!parts.is_empty(), "a product has a part");
        let mut order: Vec<usize> = (0..parts.len()).collect();
        order.sort_by_key(|&at| (parts[at].is_weighed_last(), parts[at].skips_hopeless()));
        let at_once = parts.iter().filter(|part| !part.is_weighed_last()).count();
        Product { parts, columns, order, at_once }
    }

    /// The factors.
    pub fn parts(&self) -> &[P] {
        &self.parts
    }

    /// Cuts hyper-parameters into those of each part.
    fn cut<'v>(&self, values: &'v [f64]) -> impl Iterator<Item = (usize, &'v [f64])> {
        let mut left = values;
        (0..self.parts.len()).map(move |at| {
            let (own, rest) = left.split_at(self.parts[at].hypers().len());
            left = rest;
            (at, own)
        })
    }

    fn place(&self, (item, column): (u32, u32)) -> (usize, (u32, u32)) {
        let (part, own) = self.columns[column as usize];
        (part as usize, (item, own))
    }
}

/// What a set of items carries in each part.
#[derive(Debug)]
pub struct Loads<L> {
    parts: Vec<L>,
    /// Of the parts that are weighed last, the gain at home, and by how much that in another slot may exceed it.
    at_home: Vec<(f64, f64)>,
    /// The slots that are left, and their gains.
    slots: Vec<Slot>,
    gains: Vec<f64>,
}

/// The statistics of each part.
#[derive(Debug)]
pub struct AllStats<S>(Vec<S>);

impl<S: Clone> Clone for AllStats<S> {
    fn clone(&self) -> Self {
        AllStats(self.0.clone())
    }
    fn clone_from(&mut self, source: &Self) {
        // The parts are the same always, and keep their buffers.
        self.0.iter_mut().zip(&source.0).for_each(|(mine, other)| mine.clone_from(other));
    }
}

impl<P: Part> Model for Product<P> {
    const NAME: &'static str = P::PRODUCT;
    type Stats = AllStats<P::Stats>;
    type Load = Loads<P::Load>;

    fn n(&self) -> usize {
        self.parts[0].n()
    }

    fn empty_stats(&self) -> Self::Stats {
        AllStats(self.parts.iter().map(P::empty_stats).collect())
    }

    fn empty_load(&self) -> Self::Load {
        Loads {
            parts: self.parts.iter().map(P::empty_load).collect(),
            at_home: Vec::new(),
            slots: Vec::new(),
            gains: Vec::new(),
        }
    }

    fn grow(&self, stats: &mut Self::Stats, slots: usize) {
        self.parts.iter().zip(&mut stats.0).for_each(|(part, stats)| part.grow(stats, slots));
    }

    fn weigh(&self, items: &[Item], z: &Partition, load: &mut Self::Load) {
        self.parts.iter().zip(&mut load.parts).for_each(|(part, load)| part.weigh(items, z, load));
    }

    fn add(&self, stats: &mut Self::Stats, load: &Self::Load, z: &Partition, slot: Slot) {
        for ((part, stats), load) in self.parts.iter().zip(&mut stats.0).zip(&load.parts) {
            part.add(stats, load, z, slot);
        }
    }

    fn sub(&self, stats: &mut Self::Stats, load: &Self::Load, z: &Partition, slot: Slot) {
        for ((part, stats), load) in self.parts.iter().zip(&mut stats.0).zip(&load.parts) {
            part.sub(stats, load, z, slot);
        }
    }

    fn gains(
        &self,
        stats: &Self::Stats,
        load: &mut Self::Load,
        home: Option<Slot>,
        z: &Partition,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        gains.fill(0.0);
        load.gains.resize(slots.len(), 0.0);
        for &at in &self.order {
            let (part, own) = (&self.parts[at], &mut load.parts[at]);
            part.gains(&stats.0[at], own, home, z, slots, &mut load.gains);
            gains.iter_mut().zip(&load.gains).for_each(|(sum, gain)| *sum += gain);
        }
    }

    fn skips_hopeless(&self) -> bool {
        let skips = |part: &P| {
            part.skips_hopeless() || (part.is_weighed_last() && self.columns.len() >= WIDE)
        };
        self.parts.iter().any(skips)
    }

    fn add_likely_gains(
        &self,
        stats: &Self::Stats,
        load: &mut Self::Load,
        beside: Beside,
        z: &Partition,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        let Beside { home, below, .. } = beside;
        let (first, last) = self.order.split_at(self.at_once);
        // By how much the parts that are weighed last may tell more of another slot than of the home.
        load.at_home.clear();
        load.at_home.extend(last.iter().map(|&at| {
            let (part, own, mut gain) = (&self.parts[at], &mut load.parts[at], [0.0]);
            part.gains(&stats.0[at], own, Some(home), z, &[home], &mut gain);
            (gain[0], part.ceiling(own) - gain[0])
        }));
        let mut more: f64 = load.at_home.iter().map(|(_, more)| more).sum();
        load.gains.resize(slots.len(), 0.0);
        for &at in first {
            let (part, stats, own) = (&self.parts[at], &stats.0[at], &mut load.parts[at]);
            if part.skips_hopeless() {
                let beside = Beside { home, below: below + more, gain: None };
                part.add_likely_gains(stats, own, beside, z, slots, gains);
            } else {
                part.gains(stats, own, Some(home), z, slots, &mut load.gains);
                gains.iter_mut().zip(&load.gains).for_each(|(sum, gain)| *sum += gain);
            }
        }
        for (nth, &at) in last.iter().enumerate() {
            let so_far = slots.iter().zip(&*gains).find(|(slot, _)| **slot == home);
            let floor = so_far.map_or(f64::NEG_INFINITY, |(_, gain)| gain - below - more);
            load.slots.clear();
            load.gains.clear();
            for (&slot, gain) in slots.iter().zip(&*gains).filter(|(_, gain)| **gain >= floor) {
                load.slots.push(slot);
                load.gains.push(*gain);
            }
            let (gain, _) = load.at_home[nth];
            more = load.at_home[nth + 1..].iter().map(|(_, more)| more).sum();
            let beside = Beside { home, below: below + more, gain: Some(gain) };
            let (stats, own) = (&stats.0[at], &mut load.parts[at]);
            self.parts[at].add_likely_gains(stats, own, beside, z, &load.slots, &mut load.gains);
            let mut found = load.gains.iter();
            for gain in gains.iter_mut() {
                let near = if *gain >= floor { found.next() } else { None };
                *gain = near.copied().unwrap_or(f64::NEG_INFINITY);
            }
        }
    }

    fn ln_evidence(&self, stats: &Self::Stats, z: &Partition) -> f64 {
        self.parts.iter().zip(&stats.0).map(|(part, stats)| part.ln_evidence(stats, z)).sum()
    }

    fn ln_evidence_naive(&self, labels: &[u32]) -> f64 {
        self.parts.iter().map(|part| part.ln_evidence_naive(labels)).sum()
    }

    fn hypers(&self) -> Vec<Hyper> {
        let named = |part: &P, hyper: Hyper| Hyper {
            name: format!("{}_{}", part.label(), hyper.name),
            ..hyper
        };
        let of = |part| P::hypers(part).into_iter().map(move |hyper| named(part, hyper));
        self.parts.iter().flat_map(of).collect()
    }

    fn with_hypers(&self, values: &[f64]) -> Self {
        let parts = self.cut(values).map(|(at, own)| self.parts[at].with_hypers(own)).collect();
        Product::new(parts, self.columns.clone())
    }

    fn ln_evidence_with(&self, values: &[f64], stats: &Self::Stats, z: &Partition) -> f64 {
        let of = |(at, own)| P::ln_evidence_with(&self.parts[at], own, &stats.0[at], z);
        self.cut(values).map(of).sum()
    }

    fn refresh(&self, stats: &mut Self::Stats, z: &Partition) {
        self.parts.iter().zip(&mut stats.0).for_each(|(part, stats)| part.refresh(stats, z));
    }

    fn predict(&self, stats: &Self::Stats, z: &Partition, entry: (u32, u32)) -> f64 {
        let (part, entry) = self.place(entry);
        self.parts[part].predict(&stats.0[part], z, entry)
    }

    fn ln_predictive(
        &self,
        stats: &Self::Stats,
        z: &Partition,
        entry: (u32, u32),
        value: f64,
    ) -> f64 {
        let (part, entry) = self.place(entry);
        self.parts[part].ln_predictive(&stats.0[part], z, entry, value)
    }

    fn example(n: usize) -> Self {
        let (parts, columns) = P::example_parts(n);
        Product::new(parts, columns)
    }

    fn simulate(&self, labels: &[u32], uniform: &mut dyn FnMut() -> f64) -> Self {
        let parts = self.parts.iter().map(|part| part.simulate(labels, uniform)).collect();
        Product::new(parts, self.columns.clone())
    }

    fn stats_bytes(&self, blocks: usize) -> u64 {
        self.parts.iter().map(|part| part.stats_bytes(blocks)).sum()
    }
}
