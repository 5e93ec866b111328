//! A partition together with the model's statistics: the only place where the two change.

use crate::constraints::{Constraints, Units};
use crate::error::Result;
use crate::hyper::Hyper;
use crate::model::{Beside, Model};
use crate::partition::{Item, Partition, Slot};
use crate::prior::{Crp, Prior};
use std::sync::Arc;

/// What is sampled: q(z) = (p(Y | z) · p(z))ᵇ, if the constraints allow z, with b = 1 for the posterior.
///
/// All parts are shared, so that every chain has a target of its own and copies nothing.
#[derive(Debug)]
pub struct Target<M> {
    /// The likelihood, with the data.
    pub model: Arc<M>,
    /// The prior over partitions.
    pub prior: Arc<Prior>,
    /// The partitions that are possible.
    pub constraints: Arc<Constraints>,
    /// b, the inverse temperature: less than 1 in a hot chain, for which all partitions are more alike.
    pub coldness: f64,
}

impl<M> Clone for Target<M> {
    fn clone(&self) -> Self {
        let Target { model, prior, constraints, coldness } = self;
        Target {
            model: model.clone(),
            prior: prior.clone(),
            constraints: constraints.clone(),
            coldness: *coldness,
        }
    }

    /// Writes nothing if there is nothing to change: other threads share these, too.
    fn clone_from(&mut self, source: &Self) {
        fn update<T>(own: &mut Arc<T>, source: &Arc<T>) {
            if !Arc::ptr_eq(own, source) {
                own.clone_from(source);
            }
        }
        update(&mut self.model, &source.model);
        update(&mut self.prior, &source.prior);
        update(&mut self.constraints, &source.constraints);
        self.coldness = source.coldness;
    }
}

impl<M: Model> Target<M> {
    /// The posterior of a model under CRP(α).
    pub fn new(model: M, alpha: f64) -> Result<Self> {
        let prior = Crp::new(alpha, model.n())?;
        Ok(Target::with_prior(model, prior.into()))
    }

    /// Whether it can be sampled at other temperatures, too.
    pub fn can_be_heated(&self) -> bool {
        self.model.can_be_heated()
    }

    /// The posterior of a model under any prior for as many items.
    pub fn with_prior(model: M, prior: Prior) -> Self {
        Target {
            model: Arc::new(model),
            prior: Arc::new(prior),
            constraints: Arc::default(),
            coldness: 1.0,
        }
    }

    /// The hyper-parameters: those of the prior, then those of the model.
    pub fn hypers(&self) -> Vec<Hyper> {
        [self.prior.rules().hypers(), self.model.hypers()].concat()
    }

    /// The same prior and model with other hyper-parameters, in the order of [`Target::hypers`].
    pub fn with_hypers(&self, values: &[f64]) -> Self {
        let (prior, model) = values.split_at(self.prior.rules().hypers().len());
        Target {
            model: Arc::new(self.model.with_hypers(model)),
            prior: Arc::new(self.prior.with_hypers(prior)),
            constraints: self.constraints.clone(),
            coldness: self.coldness,
        }
    }

    /// The same at another inverse temperature.
    pub fn at(&self, coldness: f64) -> Self {
        Target { coldness, ..self.clone() }
    }

    /// The same, if only these partitions are possible.
    pub fn with(self, constraints: Constraints) -> Self {
        Target { constraints: Arc::new(constraints), ..self }
    }

    /// ln q of a labelled partition; −∞ if the constraints do not allow it.
    pub fn ln_q(&self, labels: &[u32]) -> f64 {
        match self.constraints.allow(labels) {
            true => State::from_labels(self, labels).ln_q(),
            false => f64::NEG_INFINITY,
        }
    }
}

/// Items that were taken out and must be put somewhere; what they carry stays weighed in the state.
#[derive(Debug)]
#[must_use = "items that are held belong to no block: put them back or set them aside"]
pub struct Held<'c> {
    items: &'c [Item],
}

/// A partition z with the statistics of its blocks.
///
/// It can do three things: take some items out, say how much each slot would like them, and put
/// them back.
pub struct State<M: Model> {
    target: Target<M>,
    z: Partition,
    stats: M::Stats,
    load: M::Load,
    /// Where the statistics still count the held items, if anywhere: they are taken out of them only
    /// once it is clear that the items go elsewhere.
    home: Option<Slot>,
    m: u32,
    /// For each slot, how many units of known groups it holds; stays empty if none is known.
    known: Vec<u32>,
    /// How many of them are among the held items.
    known_held: u32,
    work: u64,
}

impl<M: Model> State<M> {
    /// A state in which no item is placed.
    pub fn unplaced(target: &Target<M>) -> Self {
        State {
            target: target.clone(),
            z: Partition::unplaced(target.model.n()),
            stats: target.model.empty_stats(),
            load: target.model.empty_load(),
            home: None,
            m: 0,
            known: Vec::new(),
            known_held: 0,
            work: 0,
        }
    }

    /// The state that these labels describe.
    pub fn from_labels(target: &Target<M>, labels: &[u32]) -> Self {
        assert_eq!(labels.len(), target.model.n(), "one label for each item");
        State::from_first_labels(target, labels)
    }

    /// The state that these labels of the first items describe; the others are placed nowhere.
    pub fn from_first_labels(target: &Target<M>, labels: &[u32]) -> Self {
        let mut state = State::unplaced(target);
        let mut blocks: Vec<Vec<Item>> = Vec::new();
        for (index, label) in crate::partition::canonical(labels).into_iter().enumerate() {
            if label as usize == blocks.len() {
                blocks.push(Vec::new());
            }
            blocks[label as usize].push(Item::new(index));
        }
        for block in blocks {
            let slot = state.fresh();
            let held = state.take(&block);
            state.put(held, slot);
        }
        state
    }

    /// The state of a partition in which every item is placed, slot numbers kept.
    pub fn from_partition(target: &Target<M>, z: &Partition) -> Self {
        let mut state = State::unplaced(target);
        // Fill copies of the slots, then take over the order of the slots.
        state.z = z.empty_like();
        state.grow();
        let mut blocks: Vec<Vec<Item>> = vec![Vec::new(); z.slots()];
        for (index, slot) in z.slots_of_items().iter().enumerate() {
            blocks[slot.index()].push(Item::new(index));
        }
        for (slot, block) in blocks.iter().enumerate().filter(|(_, block)| !block.is_empty()) {
            let held = state.take(block);
            state.put(held, Slot::new(slot));
        }
        state.z.copy_from(z);
        state
    }

    /// What is sampled.
    pub fn target(&self) -> &Target<M> {
        &self.target
    }

    /// Samples something else from now on: the same data with other hyper-parameters, or another
    /// prior. The partition stays, with its slot numbers.
    pub fn retarget(&mut self, target: &Target<M>) {
        let same_model = Arc::ptr_eq(&self.target.model, &target.model);
        self.target = target.clone();
        if !same_model {
            target.model.refresh(&mut self.stats, &self.z);
        }
    }

    /// Becomes a copy of `other`, without allocating once the buffers have grown.
    pub fn copy_from(&mut self, other: &Self) {
        self.target.clone_from(&other.target);
        self.z.copy_from(&other.z);
        self.stats.clone_from(&other.stats);
        self.known.clone_from(&other.known);
    }

    /// The partition.
    #[inline]
    pub fn z(&self) -> &Partition {
        &self.z
    }

    /// What the model keeps of the blocks.
    pub fn stats(&self) -> &M::Stats {
        &self.stats
    }

    /// Candidates weighed so far: the unit of work that does not depend on the machine.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Takes the items C out of their block; they all share one, or are placed nowhere yet.
    #[inline(always)]
    pub fn take<'c>(&mut self, items: &'c [Item]) -> Held<'c> {
        let home = self.z.slot_of(items[0]);
        if home != Slot::NOWHERE {
            for &item in items {
                debug_assert_eq!(self.z.slot_of(item), home, "C lies within one block");
                self.z.take(item);
            }
        }
        let Target { model, .. } = &self.target;
        if items.len() > 1 && home != Slot::NOWHERE && self.z.size(home) == 0 {
            model.weigh_block(&self.stats, items, &self.z, home, &mut self.load);
        } else {
            model.weigh(items, &self.z, &mut self.load);
        }
        self.home = (home != Slot::NOWHERE).then_some(home);
        self.m = items.len() as u32;
        if self.target.constraints.know_groups() {
            self.known_held = self.units().known_among(items);
            if let Some(home) = self.home {
                self.known[home.index()] -= self.known_held;
            }
        }
        Held { items }
    }

    /// For each slot, what ln q grows by if the held items join it. An empty slot is a new block.
    #[inline(always)]
    pub fn gains(&mut self, _held: &Held<'_>, slots: &[Slot], gains: &mut [f64]) {
        self.work += slots.len() as u64;
        let Target { model, prior, constraints, coldness } = &self.target;
        model.gains(&self.stats, &mut self.load, self.home, &self.z, slots, gains);
        prior.add_gains(self.m, &self.z, slots, gains);
        if *coldness != 1.0 {
            gains.iter_mut().for_each(|gain| *gain *= coldness);
        }
        if !constraints.is_none() {
            self.forbid(slots, gains);
        }
    }

    /// The same for a choice at random: what is less than the gain of staying at home, by more than `below`, may be −∞.
    #[inline(always)]
    pub fn likely_gains(&mut self, held: &Held<'_>, below: f64, slots: &[Slot], gains: &mut [f64]) {
        let Target { model, prior, constraints, coldness } = &self.target;
        // Constraints may forbid the home.
        let home = self.home.filter(|home| constraints.is_none() && slots.contains(home));
        let (true, Some(home)) = (model.skips_hopeless(), home) else {
            return self.gains(held, slots, gains);
        };
        self.work += slots.len() as u64;
        gains.fill(0.0);
        prior.add_gains(self.m, &self.z, slots, gains);
        let beside = Beside { home, below: below / coldness, gain: None };
        model.add_likely_gains(&self.stats, &mut self.load, beside, &self.z, slots, gains);
        if *coldness != 1.0 {
            gains.iter_mut().for_each(|gain| *gain *= coldness);
        }
    }

    /// So many candidates have been weighed before: they count once.
    pub fn weighed_again(&mut self, candidates: usize) {
        self.work -= candidates as u64;
    }

    /// Sets the gain to −∞ where the constraints do not allow the held items.
    fn forbid(&self, slots: &[Slot], gains: &mut [f64]) {
        let most = self.target.constraints.most_blocks();
        let full = most.is_some_and(|most| self.z.blocks() >= most);
        for (slot, gain) in slots.iter().zip(gains) {
            let one_too_many = full && self.z.size(*slot) == 0;
            let another_group = self.known_held > 0 && self.known[slot.index()] > 0;
            if one_too_many || another_group {
                *gain = f64::NEG_INFINITY;
            }
        }
    }

    /// Whether the constraints allow the partition as it is.
    fn allowed(&self) -> bool {
        let most = self.target.constraints.most_blocks();
        most.is_none_or(|most| self.z.blocks() <= most)
            && self.known.iter().all(|&known| known <= 1)
    }

    /// Puts the held items into a slot.
    #[inline(always)]
    pub fn put(&mut self, held: Held<'_>, slot: Slot) {
        if self.home != Some(slot) {
            self.join(slot);
        }
        for &item in held.items {
            self.z.put(item, slot);
        }
        if self.known_held > 0 {
            self.known[slot.index()] += self.known_held;
        }
    }

    /// Counts the held items in a slot that is not their home. Most items stay, so that this stands apart.
    #[inline(never)]
    fn join(&mut self, slot: Slot) {
        self.leave_home();
        self.target.model.add(&mut self.stats, &self.load, &self.z, slot);
    }

    /// Leaves the held items placed nowhere.
    pub fn set_aside(&mut self, held: Held<'_>) {
        let Held { items: _ } = held;
        self.leave_home();
    }

    /// Takes all items of a block out, which are these, and leaves them placed nowhere.
    pub fn vacate(&mut self, items: &[Item]) {
        let slot = self.z.slot_of(items[0]);
        items.iter().for_each(|&item| self.z.take(item));
        debug_assert_eq!(self.z.size(slot), 0, "these are all items of the block");
        if let Some(known) = self.known.get_mut(slot.index()) {
            *known = 0;
        }
        self.target.model.vacate(&mut self.stats, items, &self.z, slot, &mut self.load);
    }

    fn leave_home(&mut self) {
        if let Some(home) = self.home.take() {
            self.target.model.sub(&mut self.stats, &self.load, &self.z, home);
        }
    }

    /// An empty slot for a new block: the one that was emptied last, or a new one.
    #[inline]
    pub fn fresh(&mut self) -> Slot {
        let slots = self.z.slots();
        let slot = self.z.fresh();
        if self.z.slots() > slots {
            self.grow();
        }
        slot
    }

    fn grow(&mut self) {
        self.target.model.grow(&mut self.stats, self.z.slots());
        if self.target.constraints.know_groups() && self.known.len() < self.z.slots() {
            self.known.resize(self.z.slots(), 0);
        }
    }

    /// What is moved together.
    pub fn units(&self) -> &Arc<Units> {
        self.target.constraints.units()
    }

    /// Keeps every block's slot for this block, even when it becomes empty, until [`State::unpin`].
    pub fn pin_blocks(&mut self) {
        for at in 0..self.z.blocks() {
            self.z.pin(self.z.live()[at]);
        }
    }

    /// Gives empty slots free again that were kept.
    pub fn unpin(&mut self) {
        self.z.unpin_all();
    }

    /// ln p of a value of an entry, given the blocks; see [`Model::ln_predictive`].
    pub fn ln_predictive(&self, entry: (u32, u32), value: f64) -> f64 {
        self.target.model.ln_predictive(&self.stats, &self.z, entry, value)
    }

    /// What an entry of the data is expected to be, given the blocks; see [`Model::predict`].
    pub fn predict(&self, entry: (u32, u32)) -> f64 {
        self.target.model.predict(&self.stats, &self.z, entry)
    }

    /// ln p(Y, z) of the placed items, at any temperature.
    pub fn ln_joint(&self) -> f64 {
        let Target { model, prior, .. } = &self.target;
        prior.ln_p(&self.z) + model.ln_evidence(&self.stats, &self.z)
    }

    /// ln p(Y | z) as it would be with other hyper-parameters of the model.
    pub fn ln_evidence_with(&self, values: &[f64]) -> f64 {
        self.target.model.ln_evidence_with(values, &self.stats, &self.z)
    }

    /// ln q(z) of the placed items; −∞ if there are too many blocks, or two known groups in one. (Ties are never
    /// broken by a move.)
    pub fn ln_q(&self) -> f64 {
        if !self.allowed() {
            return f64::NEG_INFINITY;
        }
        self.target.coldness * self.ln_joint()
    }

    /// Renumbers the slots if most of them stand empty, so that statistics stay small; says
    /// whether it did.
    pub fn compact(&mut self) -> bool {
        let sparse = self.z.slots() > 32 && self.z.slots() > 2 * self.z.blocks();
        if sparse {
            let work = self.work;
            *self = State::from_labels(&self.target, &self.z.labels());
            self.work = work;
        }
        sparse
    }
}
