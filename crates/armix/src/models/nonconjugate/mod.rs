//! Mixtures whose parameters cannot be integrated out: every item holds a menu of parameters ready, and a
//! block is weighed by the menu of its leader. docs/NONCONJUGATE.md says why that is exact.

mod likelihood;
mod members;
mod menus;

pub use likelihood::{Likelihood, Uniform};
pub use menus::{Guide, Menus};

use crate::hyper::Hyper;
use crate::model::Model;
use crate::partition::{Item, Partition, Slot, canonical};
use members::{Members, NOBODY};
use menus::blocks;
use std::sync::Arc;

/// ln f is a multiple of this, by definition of the model: sums do not depend on the order of items.
const UNIT: f64 = 1.0 / (1u64 << 32) as f64;

/// The menus that a model has before any are laid out are drawn with this seed.
const SEED: u64 = 0x0a2_71e5;

/// Menus are longer by this factor while no parameters are known: one draw of them has to do.
const FIRST_MENUS: usize = 8;

/// Small steps of each θ after it was picked up.
const WANDERINGS: usize = 2;

/// A mixture with a likelihood that has no closed form, *given* ranks and menus:
/// p̂(Y | z) = ∏_B ∏_columns 1/m Σ_k H(θ_k)/G(θ_k) ∏_{i ∈ B} f(y_i | θ_k), with the menu θ_1, …, θ_m of the item
/// of B whose rank is least.
///
/// Averaged over menus drawn from G this is the evidence. Between iterations a chain keeps z and one θ for
/// each block and column, whose joint posterior is exact for any m.
#[derive(Debug)]
pub struct Nonconjugate<L: Likelihood> {
    likelihood: Arc<L>,
    menus: Menus<L::Parameter>,
    /// m of the menus that will be laid out.
    entries: usize,
    /// |ln f| is cut here, so that sums over all items fit into 63 bits.
    largest: f64,
}

/// Leaders, and what the items of their blocks say about the entries of their menus.
#[derive(Debug, Default)]
pub struct Tallies {
    leader: Vec<u32>,
    /// Σ ln f by slot, column and entry, in units.
    sums: Vec<i64>,
    /// ln p̂ by slot, always as computed from the sums.
    ln_p: Vec<f64>,
    members: Members,
    scratch: Vec<i64>,
}

impl Clone for Tallies {
    fn clone(&self) -> Self {
        let mut tallies = Tallies::default();
        tallies.clone_from(self);
        tallies
    }
    fn clone_from(&mut self, source: &Self) {
        self.leader.clone_from(&source.leader);
        self.sums.clone_from(&source.sums);
        self.ln_p.clone_from(&source.ln_p);
        self.members.copy_from(&source.members);
    }
}

/// A set of items, its leader, and what its items say about the entries of that menu.
#[derive(Debug)]
pub struct Party {
    items: Vec<u32>,
    leader: u32,
    sums: Vec<i64>,
    scratch: Vec<i64>,
}

impl<L: Likelihood> Nonconjugate<L> {
    /// The mixture with m entries in each menu. Its menus, until others are laid out, are drawn from H.
    pub fn new(likelihood: L, entries: usize) -> Self {
        // SplitMix64, so that these menus depend on nothing else.
        let mut seed = SEED;
        let mut uniform = || {
            seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut bits = seed;
            bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 53) as f64
        };
        let menus = Menus::from_base(&likelihood, entries, &mut uniform);
        Nonconjugate::with_menus(Arc::new(likelihood), menus)
    }

    /// The mixture with these menus.
    pub fn with_menus(likelihood: Arc<L>, menus: Menus<L::Parameter>) -> Self {
        let largest = (1u64 << 62) as f64 / likelihood.n().max(1) as f64;
        Nonconjugate { likelihood, entries: menus.entries, menus, largest }
    }

    fn serving(&self, menus: Menus<L::Parameter>) -> Self {
        let other = Nonconjugate::with_menus(self.likelihood.clone(), menus);
        Nonconjugate { entries: self.entries, ..other }
    }

    /// The data.
    pub fn likelihood(&self) -> &L {
        &self.likelihood
    }

    /// What is on the menus.
    pub fn menus(&self) -> &Menus<L::Parameter> {
        &self.menus
    }

    /// The length of one item's menus of all columns.
    fn width(&self) -> usize {
        self.likelihood.d() * self.menus.entries
    }

    fn range(&self, of: usize) -> std::ops::Range<usize> {
        of * self.width()..(of + 1) * self.width()
    }

    /// ln f in units.
    #[inline]
    fn units(&self, item: u32, column: usize, theta: &L::Parameter) -> i64 {
        let ln_f = self.likelihood.ln_f(item as usize, column, theta);
        debug_assert!(!ln_f.is_nan(), "ln f is a number");
        (ln_f / UNIT).clamp(-self.largest, self.largest) as i64
    }

    /// Adds what items say about the entries of a menu, or subtracts it, with `sign` −1.
    fn tally(&self, leader: u32, items: impl Iterator<Item = u32>, sums: &mut [i64], sign: i64) {
        let m = self.menus.entries;
        let menu = &self.menus.theta[self.range(leader as usize)];
        for item in items {
            for (at, (sum, theta)) in sums.iter_mut().zip(menu).enumerate() {
                *sum += sign * self.units(item, at / m, theta);
            }
        }
    }

    /// ln p̂ of a block with this leader and these sums; 0 if it has none.
    fn ln_estimate(&self, leader: u32, sums: &[i64]) -> f64 {
        if leader == NOBODY {
            return 0.0;
        }
        let ln_weights = &self.menus.ln_weight[self.range(leader as usize)];
        let m = self.menus.entries;
        let columns = ln_weights.chunks_exact(m).zip(sums.chunks_exact(m));
        columns.map(|(ln_weights, sums)| ln_sum_exp(terms(ln_weights, sums))).sum()
    }

    /// Whether an item would lead a block that has this leader, if any.
    fn outranks(&self, item: u32, leader: u32) -> bool {
        let rank = &self.menus.rank;
        leader == NOBODY || rank[item as usize] < rank[leader as usize]
    }

    fn leader(&self, items: impl Iterator<Item = u32>) -> u32 {
        items.min_by_key(|&item| self.menus.rank[item as usize]).unwrap_or(NOBODY)
    }

    /// The leader and the sums of a block that C joins.
    fn joined(&self, stats: &Tallies, load: &Party, slot: usize, sums: &mut Vec<i64>) -> u32 {
        sums.clear();
        if self.outranks(load.leader, stats.leader[slot]) {
            sums.extend_from_slice(&load.sums);
            self.tally(load.leader, stats.members.of(slot), sums, 1);
            load.leader
        } else {
            sums.extend_from_slice(&stats.sums[self.range(slot)]);
            self.tally(stats.leader[slot], load.items.iter().copied(), sums, 1);
            stats.leader[slot]
        }
    }

    /// The leader and the sums of a block that C has left, though it is still counted there.
    fn left(
        &self,
        stats: &Tallies,
        load: &Party,
        z: &Partition,
        slot: Slot,
        sums: &mut Vec<i64>,
    ) -> u32 {
        let stays = |&item: &u32| z.slot_of(Item::new(item as usize)) == slot;
        let leader = stats.leader[slot.index()];
        sums.clear();
        if stays(&leader) {
            sums.extend_from_slice(&stats.sums[self.range(slot.index())]);
            self.tally(leader, load.items.iter().copied(), sums, -1);
            leader
        } else {
            let others = stats.members.of(slot.index()).filter(stays);
            sums.resize(self.width(), 0);
            match self.leader(others.clone()) {
                NOBODY => NOBODY,
                leader => {
                    self.tally(leader, others, sums, 1);
                    leader
                }
            }
        }
    }

    fn write(&self, stats: &mut Tallies, slot: usize, leader: u32, sums: &[i64]) {
        stats.leader[slot] = leader;
        stats.ln_p[slot] = self.ln_estimate(leader, sums);
        stats.sums[self.range(slot)].copy_from_slice(sums);
    }

    /// What a block's leader has on the menu of a column.
    fn menu(&self, stats: &Tallies, slot: Slot, column: usize) -> &[L::Parameter] {
        let m = self.menus.entries;
        &self.menus.theta[self.range(stats.leader[slot.index()] as usize)][column * m..][..m]
    }

    /// The probabilities with which the entries of a block's menu are picked up in a column.
    pub fn choices(&self, stats: &Tallies, slot: Slot, column: usize) -> Vec<f64> {
        let m = self.menus.entries;
        let leader = stats.leader[slot.index()] as usize;
        let ln_weights = &self.menus.ln_weight[self.range(leader)][column * m..][..m];
        let sums = &stats.sums[self.range(slot.index())][column * m..][..m];
        let ln_total = ln_sum_exp(terms(ln_weights, sums));
        terms(ln_weights, sums).map(|term| libm::exp(term - ln_total)).collect()
    }

    /// ln H(θ) ∏ f(y_i | θ) of some items in a column.
    pub fn ln_joint(&self, column: usize, items: &[u32], theta: &L::Parameter) -> f64 {
        let units: i64 = items.iter().map(|&item| self.units(item, column, theta)).sum();
        self.likelihood.ln_base(column, theta) + units as f64 * UNIT
    }

    /// Metropolis steps for θ of some items, which leave H(θ) ∏ f invariant: a draw from the fit of their
    /// values, and some small ones. Returns θ with its ln joint.
    fn update(
        &self,
        column: usize,
        items: &[u32],
        theta: L::Parameter,
        uniform: &mut Uniform<'_>,
    ) -> (L::Parameter, f64) {
        let likelihood = &*self.likelihood;
        let mut now = (theta, self.ln_joint(column, items, &theta));
        let mut accept = |new: L::Parameter, ln_q: f64, uniform: &mut Uniform<'_>| {
            let ln_joint = self.ln_joint(column, items, &new);
            if libm::log(uniform()) < ln_joint - now.1 + ln_q {
                now = (new, ln_joint);
            }
            now.0
        };
        let fit = likelihood.fit(column, items);
        let guide = Guide::new(likelihood, column, [fit.as_ref(), None, None]);
        let new = guide.draw(uniform);
        let ln_q = guide.ln_density(&theta) - guide.ln_density(&new);
        let mut theta = accept(new, ln_q, uniform);
        for _ in 0..WANDERINGS {
            let new = likelihood.wander(column, items.len(), &theta, uniform);
            theta = accept(new, 0.0, uniform);
        }
        now
    }
}

/// ln of H/(m G) ∏ f, for each entry of a menu.
#[inline]
fn terms<'a>(ln_weights: &'a [f64], sums: &'a [i64]) -> impl Iterator<Item = f64> + Clone + 'a {
    ln_weights.iter().zip(sums).map(|(ln_weight, &sum)| ln_weight + sum as f64 * UNIT)
}

fn ln_sum_exp(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    largest + libm::log(terms.map(|term| libm::exp(term - largest)).sum())
}

/// An index with these probabilities.
fn choose(probabilities: &[f64], uniform: &mut Uniform<'_>) -> usize {
    let mut left = uniform();
    let found = probabilities.iter().position(|p| {
        left -= p;
        left < 0.0
    });
    found.unwrap_or(probabilities.len() - 1)
}

impl<L: Likelihood> Model for Nonconjugate<L> {
    const NAME: &'static str = L::NAME;
    type Stats = Tallies;
    type Load = Party;

    fn n(&self) -> usize {
        self.likelihood.n()
    }

    fn empty_stats(&self) -> Tallies {
        Tallies { members: Members::new(self.n()), ..Tallies::default() }
    }

    fn empty_load(&self) -> Party {
        Party { items: Vec::new(), leader: NOBODY, sums: Vec::new(), scratch: Vec::new() }
    }

    fn grow(&self, stats: &mut Tallies, slots: usize) {
        if stats.leader.len() < slots {
            stats.leader.resize(slots, NOBODY);
            stats.ln_p.resize(slots, 0.0);
            stats.sums.resize(slots * self.width(), 0);
            stats.members.grow(slots);
        }
    }

    fn weigh(&self, items: &[Item], _z: &Partition, load: &mut Party) {
        load.items.clear();
        load.items.extend(items.iter().map(|item| item.index() as u32));
        load.leader = self.leader(load.items.iter().copied());
        load.sums.clear();
        load.sums.resize(self.width(), 0); // menus need not be as long as before
        self.tally(load.leader, load.items.iter().copied(), &mut load.sums, 1);
    }

    fn add(&self, stats: &mut Tallies, load: &Party, _z: &Partition, slot: Slot) {
        let slot = slot.index();
        let mut sums = std::mem::take(&mut stats.scratch);
        let leader = self.joined(stats, load, slot, &mut sums);
        self.write(stats, slot, leader, &sums);
        load.items.iter().for_each(|&item| stats.members.insert(item, slot));
        stats.scratch = sums;
    }

    fn sub(&self, stats: &mut Tallies, load: &Party, z: &Partition, slot: Slot) {
        let mut sums = std::mem::take(&mut stats.scratch);
        let leader = self.left(stats, load, z, slot, &mut sums);
        self.write(stats, slot.index(), leader, &sums);
        load.items.iter().for_each(|&item| stats.members.remove(item, slot.index()));
        stats.scratch = sums;
    }

    fn gains(
        &self,
        stats: &Tallies,
        load: &mut Party,
        home: Option<Slot>,
        z: &Partition,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        let mut sums = std::mem::take(&mut load.scratch);
        for (&slot, gain) in slots.iter().zip(gains) {
            let now = stats.ln_p[slot.index()];
            *gain = if home == Some(slot) {
                let leader = self.left(stats, load, z, slot, &mut sums);
                now - self.ln_estimate(leader, &sums)
            } else {
                let leader = self.joined(stats, load, slot.index(), &mut sums);
                self.ln_estimate(leader, &sums) - now
            };
        }
        load.scratch = sums;
    }

    fn ln_evidence(&self, stats: &Tallies, z: &Partition) -> f64 {
        z.live().iter().map(|slot| stats.ln_p[slot.index()]).sum()
    }

    fn ln_evidence_naive(&self, labels: &[u32]) -> f64 {
        let Menus { entries, rank, theta, ln_weight } = &self.menus;
        let d = self.likelihood.d();
        let mut sum = 0.0;
        for block in blocks(&canonical(labels)) {
            let leader = *block.iter().min_by_key(|&&i| rank[i as usize]).expect("not empty");
            for column in 0..d {
                let term = |entry: usize| {
                    let at = (leader as usize * d + column) * entries + entry;
                    let ln_f = |&i: &u32| self.units(i, column, &theta[at]) as f64 * UNIT;
                    ln_weight[at] + block.iter().map(ln_f).sum::<f64>()
                };
                sum += ln_sum_exp((0..*entries).map(term));
            }
        }
        sum
    }

    fn hypers(&self) -> Vec<Hyper> {
        Vec::new()
    }

    fn with_hypers(&self, _values: &[f64]) -> Self {
        self.serving(self.menus.clone())
    }

    fn ln_evidence_with(&self, _values: &[f64], stats: &Tallies, z: &Partition) -> f64 {
        self.ln_evidence(stats, z)
    }

    fn refresh(&self, stats: &mut Tallies, _z: &Partition) {
        let mut sums = std::mem::take(&mut stats.scratch);
        stats.sums.resize(stats.leader.len() * self.width(), 0);
        for slot in 0..stats.leader.len() {
            let leader = self.leader(stats.members.of(slot));
            sums.clear();
            sums.resize(self.width(), 0);
            if leader != NOBODY {
                self.tally(leader, stats.members.of(slot), &mut sums, 1);
            }
            self.write(stats, slot, leader, &sums);
        }
        stats.scratch = sums;
    }

    fn predict(&self, stats: &Tallies, z: &Partition, (row, column): (u32, u32)) -> f64 {
        let (slot, column) = (z.slot_of(Item::new(row as usize)), column as usize);
        let menu = self.menu(stats, slot, column);
        let choices = self.choices(stats, slot, column);
        choices.iter().zip(menu).map(|(p, theta)| p * self.likelihood.mean(theta)).sum()
    }

    fn ln_predictive(
        &self,
        stats: &Tallies,
        z: &Partition,
        (row, column): (u32, u32),
        value: f64,
    ) -> f64 {
        let (slot, column) = (z.slot_of(Item::new(row as usize)), column as usize);
        let menu = self.menu(stats, slot, column);
        let choices = self.choices(stats, slot, column);
        let term = |(p, theta): (&f64, &L::Parameter)| {
            libm::log(*p) + self.likelihood.ln_value(column, value, theta)
        };
        ln_sum_exp(choices.iter().zip(menu).map(term))
    }

    fn example(n: usize) -> Self {
        Nonconjugate::new(L::example(n), 3)
    }

    fn simulate(&self, labels: &[u32], uniform: &mut dyn FnMut() -> f64) -> Self {
        // Each block takes an entry of its leader's menu, and draws from it.
        let labels = canonical(labels);
        let m = self.menus.entries;
        let mut theta = Vec::new();
        for block in blocks(&labels) {
            let leader = self.leader(block.iter().copied()) as usize;
            for column in 0..self.likelihood.d() {
                let menu = self.range(leader).start + column * m;
                let ln_weights = &self.menus.ln_weight[menu..menu + m];
                let ln_total = ln_sum_exp(ln_weights.iter().copied());
                let p: Vec<f64> = ln_weights.iter().map(|w| libm::exp(w - ln_total)).collect();
                theta.push(self.menus.theta[menu + choose(&p, uniform)]);
            }
        }
        let d = self.likelihood.d();
        let theta = |item: usize, column: usize| theta[labels[item] as usize * d + column];
        let likelihood = Arc::new(self.likelihood.simulate(&theta, uniform));
        Nonconjugate { likelihood, ..self.serving(self.menus.clone()) }
    }

    fn stats_bytes(&self, blocks: usize) -> u64 {
        8 * self.n() as u64 + blocks as u64 * (8 * self.width() as u64 + 16)
    }

    fn reals_per_block(&self) -> usize {
        self.likelihood.d() * L::REALS
    }

    fn lay_out(
        &self,
        z: &Partition,
        parameters: &[f64],
        past: &[Vec<u32>],
        uniform: &mut dyn FnMut() -> f64,
    ) -> Option<Self> {
        let likelihood = &*self.likelihood;
        let kept: Vec<_> = parameters.chunks_exact(L::REALS).map(|r| likelihood.read(r)).collect();
        let labels = z.labels();
        let m = self.entries * if kept.is_empty() { FIRST_MENUS } else { 1 };
        Some(self.serving(Menus::draw(likelihood, m, &labels, &kept, past, uniform)))
    }

    fn pick_up(
        &self,
        stats: &Tallies,
        z: &Partition,
        parameters: &mut Vec<f64>,
        uniform: &mut dyn FnMut() -> f64,
    ) -> f64 {
        parameters.clear();
        let mut sum = 0.0;
        for block in blocks(&z.labels()) {
            let slot = z.slot_of(Item::new(block[0] as usize));
            for column in 0..self.likelihood.d() {
                let choice = choose(&self.choices(stats, slot, column), uniform);
                let theta = self.menu(stats, slot, column)[choice];
                let (theta, ln_joint) = self.update(column, &block, theta, uniform);
                self.likelihood.write(&theta, parameters);
                sum += ln_joint;
            }
        }
        sum
    }
}
