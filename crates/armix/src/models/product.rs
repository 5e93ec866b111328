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
}

/// Several models that share one partition.
#[derive(Debug, Clone)]
pub struct Product<P> {
    parts: Vec<P>,
    columns: Vec<(u32, u32)>,
}

impl<P: Part> Product<P> {
    /// The product of these models, at least one. Column j of the product is column `columns[j].1` of the part
    /// `columns[j].0`.
    pub fn new(parts: Vec<P>, columns: Vec<(u32, u32)>) -> Self {
        assert!(!parts.is_empty(), "a product has a part");
        Product { parts, columns }
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

    /// The part that is weighed when the gains of all others are known, because it skips what is hopeless.
    fn skipping(&self) -> Option<usize> {
        self.parts.iter().position(P::skips_hopeless)
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
        Loads { parts: self.parts.iter().map(P::empty_load).collect(), gains: Vec::new() }
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
        for ((part, stats), own) in self.parts.iter().zip(&stats.0).zip(&mut load.parts) {
            part.gains(stats, own, home, z, slots, &mut load.gains);
            gains.iter_mut().zip(&load.gains).for_each(|(sum, gain)| *sum += gain);
        }
    }

    fn skips_hopeless(&self) -> bool {
        self.skipping().is_some()
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
        let last = self.skipping().expect("a part skips what is hopeless");
        load.gains.resize(slots.len(), 0.0);
        for (at, part) in self.parts.iter().enumerate().filter(|(at, _)| *at != last) {
            let home = Some(beside.home);
            part.gains(&stats.0[at], &mut load.parts[at], home, z, slots, &mut load.gains);
            gains.iter_mut().zip(&load.gains).for_each(|(sum, gain)| *sum += gain);
        }
        let (stats, own) = (&stats.0[last], &mut load.parts[last]);
        self.parts[last].add_likely_gains(stats, own, beside, z, slots, gains);
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
        Product { parts, columns: self.columns.clone() }
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
        Product { parts, columns: self.columns.clone() }
    }

    fn stats_bytes(&self, blocks: usize) -> u64 {
        self.parts.iter().map(|part| part.stats_bytes(blocks)).sum()
    }
}
