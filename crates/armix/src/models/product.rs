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

    /// Whether [`Part::ceiling`] of a single item says much, so that the part is weighed last, and only for the slots that are left.
    /// It has [`Model::add_likely_gains`] then. Of several such parts one is.
    fn is_weighed_last(&self) -> bool {
        false
    }

    /// Something that the gain of C exceeds in no slot, but for rounding errors; ∞ if there is nothing.
    fn ceiling(&self, _load: &Self::Load) -> f64 {
        f64::INFINITY
    }
}

/// Several models that share one partition.
#[derive(Debug, Clone)]
pub struct Product<P> {
    parts: Vec<P>,
    columns: Vec<(u32, u32)>,
    /// In which order gains are added up: the parts that are not asked which slots are hopeless …
    first: Vec<usize>,
    /// … the one that is, and knows what the first have told, if there is one …
    skipping: Option<usize>,
    /// … and the one that is weighed last, for the slots that are left …
    last: Option<usize>,
    /// … unless it could tell so much more of another slot than of the home that the skipping part would have nothing to skip: a nat for each column.
    much: f64,
}

/// Products of fewer columns hardly have slots that need not be weighed.
const WIDE: usize = 16;

impl<P: Part> Product<P> {
    /// The product of these models, at least one. Column j of the product is column `columns[j].1` of the part
    /// `columns[j].0`.
    pub fn new(parts: Vec<P>, columns: Vec<(u32, u32)>) -> Self {
        assert!(!parts.is_empty(), "a product has a part");
        let last = parts.iter().position(P::is_weighed_last);
        let skips = |at: &usize| last != Some(*at) && parts[*at].skips_hopeless();
        let skipping = (0..parts.len()).find(skips);
        let is_first = |at: &usize| last != Some(*at) && skipping != Some(*at);
        let first = (0..parts.len()).filter(is_first).collect();
        let of_last = |(part, _): &&(u32, u32)| last == Some(*part as usize);
        let much = columns.iter().filter(of_last).count() as f64;
        Product { parts, columns, first, skipping, last, much }
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

    /// Adds the gains of one part, for which there is room.
    #[expect(clippy::too_many_arguments, reason = "those of the model, and which part")]
    fn add_gains(
        &self,
        at: usize,
        stats: &AllStats<P::Stats>,
        load: &mut Loads<P::Load>,
        home: Option<Slot>,
        z: &Partition,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        let Loads { parts, gains: own, .. } = load;
        self.parts[at].gains(&stats.0[at], &mut parts[at], home, z, slots, own);
        gains.iter_mut().zip(&*own).for_each(|(sum, gain)| *sum += gain);
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
    /// The slots that are left.
    slots: Vec<Slot>,
    /// Room for the gains of one part.
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
        for &at in self.first.iter().chain(&self.skipping).chain(&self.last) {
            self.add_gains(at, stats, load, home, z, slots, gains);
        }
    }

    fn skips_hopeless(&self) -> bool {
        self.skipping.is_some()
            || self
                .last
                .is_some_and(|at| self.parts[at].skips_hopeless() || self.columns.len() >= WIDE)
    }

    fn add_likely_gains(
        &self,
        stats: &Self::Stats,
        load: &mut Self::Load,
        Beside { home, below, .. }: Beside,
        z: &Partition,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        load.gains.resize(slots.len(), 0.0);
        // The gain at home of the part that is weighed last, and by how much that in another slot may exceed it.
        let mut last = self.last.map(|at| {
            let (part, own, mut at_home) = (&self.parts[at], &mut load.parts[at], [0.0]);
            part.gains(&stats.0[at], own, Some(home), z, &[home], &mut at_home);
            (at, at_home[0], part.ceiling(own) - at_home[0])
        });
        for &at in &self.first {
            self.add_gains(at, stats, load, Some(home), z, slots, gains);
        }
        if let Some(at) = self.skipping {
            if let Some((at, ..)) = last.filter(|(_, _, more)| *more > self.much) {
                self.add_gains(at, stats, load, Some(home), z, slots, gains);
                last = None;
            }
            let below = below + last.map_or(0.0, |(_, _, more)| more);
            let beside = Beside { home, below, gain: None };
            let (stats, own) = (&stats.0[at], &mut load.parts[at]);
            self.parts[at].add_likely_gains(stats, own, beside, z, slots, gains);
        }
        if let Some((at, at_home, more)) = last {
            let home_at = slots.iter().position(|&slot| slot == home).expect("the home is offered");
            let floor = gains[home_at] - (below + more).max(0.0);
            load.slots.clear();
            load.gains.clear();
            for (&slot, gain) in slots.iter().zip(&*gains).filter(|(_, gain)| **gain >= floor) {
                load.slots.push(slot);
                load.gains.push(*gain);
            }
            let beside = Beside { home, below, gain: Some(at_home) };
            let (stats, own) = (&stats.0[at], &mut load.parts[at]);
            self.parts[at].add_likely_gains(stats, own, beside, z, &load.slots, &mut load.gains);
            let mut found = load.gains.iter();
            for gain in gains.iter_mut() {
                let left = if *gain >= floor { found.next() } else { None };
                *gain = left.copied().unwrap_or(f64::NEG_INFINITY);
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
