//! Mixtures whose parameters cannot be integrated out: every item holds a menu of parameters ready, and a
//! block is weighed by the menu of its leader. docs/NONCONJUGATE.md says why that is exact.

mod distances;
mod hopeless;
mod kept;
mod likelihood;
mod members;
mod menus;
mod says;
mod tallies;
mod weighing;

pub use distances::FARTHEST;
pub use likelihood::{Likelihood, Uniform};
pub use menus::{Guide, Menus};
pub use tallies::{Party, Tallies};

use crate::hyper::Hyper;
use crate::model::{Beside, Model};
use crate::partition::{Item, Partition, Slot, canonical};
use crate::special::{split_mix, with_wide_vectors};
use kept::{Kept, LANES, WIDE};
use members::{Members, NOBODY};
use menus::blocks;
use std::sync::Arc;
use tallies::{Room, ln_sum_exp};

/// ln f is a multiple of this, by definition of the model: sums do not depend on the order of items.
const UNIT: f64 = 1.0 / (1u64 << 44) as f64;

/// No value may have a lower ln f than this below its highest, so that it fits into 63 bits.
pub const LEAST_LIKELY: f64 = (1u64 << 18) as f64;

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
///
/// At inverse temperature b it has fᵇ in place of f, and tells 1/b ln p̂: a hot chain multiplies that by b.
#[derive(Debug)]
pub struct Nonconjugate<L: Likelihood> {
    likelihood: Arc<L>,
    menus: Arc<Menus<L::Parameter>>,
    /// m of the menus that will be laid out.
    entries: usize,
    /// b.
    coldness: f64,
    /// b times that of f.
    exponent: f64,
    /// ln p̂ of blocks of single items, by item.
    alone: Arc<[f64]>,
    /// Which columns have missing values.
    gaps: Arc<[bool]>,
}

impl<L: Likelihood> Nonconjugate<L> {
    /// The mixture with m entries in each menu. Its menus, until others are laid out, are drawn from H.
    pub fn new(likelihood: L, entries: usize) -> Self {
        // SplitMix64, so that these menus depend on nothing else.
        let mut seed = SEED;
        let mut uniform = || (split_mix(&mut seed) >> 11) as f64 / (1u64 << 53) as f64;
        let menus = Menus::from_base(&likelihood, entries, &mut uniform);
        Nonconjugate::with_menus(Arc::new(likelihood), menus)
    }

    /// The mixture with these menus.
    pub fn with_menus(likelihood: Arc<L>, menus: Menus<L::Parameter>) -> Self {
        let entries = menus.entries;
        let any_missing = |column| likelihood.column(column).iter().any(|y| y.is_nan());
        let gaps = (0..likelihood.d()).map(any_missing).collect();
        Nonconjugate::serving(likelihood, gaps, entries, Arc::new(menus), 1.0)
    }

    fn serving(
        likelihood: Arc<L>,
        gaps: Arc<[bool]>,
        entries: usize,
        menus: Arc<Menus<L::Parameter>>,
        coldness: f64,
    ) -> Self {
        let exponent = coldness * likelihood.exponent();
        let alone = Arc::default();
        let model = Nonconjugate { likelihood, menus, entries, coldness, exponent, alone, gaps };
        let mut alone = vec![0.0; model.n()];
        with_wide_vectors(
            #[inline(always)]
            || {
                for (item, ln_p) in alone.iter_mut().enumerate() {
                    *ln_p = model.ln_p_alone(item as u32);
                }
            },
        );
        let alone = alone.into();
        Nonconjugate { alone, ..model }
    }

    /// The same at another inverse temperature.
    pub fn at(&self, coldness: f64) -> Self {
        let (likelihood, gaps) = (self.likelihood.clone(), self.gaps.clone());
        Nonconjugate::serving(likelihood, gaps, self.entries, self.menus.clone(), coldness)
    }

    /// The data.
    pub fn likelihood(&self) -> &L {
        &self.likelihood
    }

    /// What is on the menus.
    pub fn menus(&self) -> &Menus<L::Parameter> {
        &self.menus
    }

    fn nothing_kept(&self) -> Kept {
        let mut kept = Kept::new(self.likelihood.d(), self.menus.entries, self.exponent);
        kept.bounded = self.skips_hopeless();
        kept
    }

    /// The length of one item's menus of all columns.
    fn width(&self) -> usize {
        self.likelihood.d() * self.menus.entries
    }

    fn range(&self, of: usize) -> std::ops::Range<usize> {
        of * self.width()..(of + 1) * self.width()
    }

    /// What a block's leader has on the menu of a column.
    fn menu(&self, stats: &Tallies, slot: Slot, column: usize) -> &[L::Parameter] {
        let m = self.menus.entries;
        &self.menus.theta[self.range(stats.leader[slot.index()] as usize)][column * m..][..m]
    }

    /// The probabilities with which the entries of a block's menu are picked up in a column.
    pub fn choices(&self, stats: &Tallies, slot: Slot, column: usize) -> Vec<f64> {
        let m = self.menus.entries;
        let slot = slot.index();
        let mut terms = Vec::new();
        self.terms(stats.leader[slot], &stats.sums[self.range(slot)], &mut terms);
        let terms = &terms[column * m..][..m];
        let ln_total = ln_sum_exp(terms);
        terms.iter().map(|term| libm::exp(term - ln_total)).collect()
    }

    /// Metropolis steps for θ of some items, which leave H(θ) ∏ fᵇ invariant: a draw from the fit of their
    /// values, and some small ones. Returns θ with its ln H(θ) and Σ ln f.
    fn update(
        &self,
        column: usize,
        items: &[u32],
        theta: L::Parameter,
        uniform: &mut Uniform<'_>,
    ) -> (L::Parameter, f64, f64) {
        let likelihood = &*self.likelihood;
        let weighed = |theta: L::Parameter| {
            (theta, likelihood.ln_base(column, &theta), self.ln_f(column, items, &theta))
        };
        let mut now = weighed(theta);
        let mut accept = |new: L::Parameter, ln_q: f64, uniform: &mut Uniform<'_>| {
            let new = weighed(new);
            let ratio = new.1 - now.1 + self.coldness * (new.2 - now.2);
            if libm::log(uniform()) < ratio + ln_q {
                now = new;
            }
            now.0
        };
        let fit = likelihood.fit(column, items, self.coldness);
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

/// Blocks of fewer items are asked roughly by a row that outranks their leader, all of them at once; others by what is kept of them, column by column.
const SMALL: u32 = 32;

/// Tables of fewer rows, if they are not wide, hardly have blocks that are worth a bound.
const LARGE: usize = 1000;

/// Most blocks are not as near to the home as this, also in narrow tables.
const NEAR: f64 = 20.0;

/// What a row is weighed for.
struct Ask<'a> {
    stats: &'a Tallies,
    z: &'a Partition,
    /// The home, if it is one of the slots, and b times the gain there.
    home: Option<(Slot, f64)>,
    /// Where b times a gain is less, −∞ will do.
    floor: f64,
    /// Whether so many blocks are expected to have less that they are weighed roughly first.
    roughly: bool,
}

impl<L: Likelihood> Nonconjugate<L> {
    /// What ln p̂ grows by if C stays in its home.
    fn ln_gain_at_home(&self, stats: &Tallies, load: &mut Party, z: &Partition, home: Slot) -> f64 {
        let at = home.index();
        match (stats.leader[at], &load.items[..]) {
            (leader, &[item]) if leader != item && !stats.kept.is_awkward(at) => {
                stats.kept.stay(&*self.likelihood, at, self.likelihood.row(item as usize))
            }
            _ => stats.ln_p[at] - self.ln_p_left(stats, load, z, home),
        }
    }

    /// Finds the gains of all slots.
    #[inline(always)]
    fn weigh_slots(
        &self,
        ask: Ask<'_>,
        load: &mut Party,
        slots: &[Slot],
        gains: &mut [f64],
        put: impl Fn(&mut f64, f64),
    ) {
        let Ask { stats, z, home, floor, roughly } = ask;
        let b = self.coldness;
        if b == 0.0 {
            gains.iter_mut().for_each(|gain| put(gain, 0.0));
            return;
        }
        let (likelihood, kept) = (&*self.likelihood, &stats.kept);
        let row = match load.items[..] {
            [item] => Some(likelihood.row(item as usize)),
            _ => None,
        };
        let all = row.filter(|_| kept.better_weigh_all(slots.len()));
        if let Some(row) = all {
            match roughly {
                true => {
                    let but = home.map(|(home, _)| home.index());
                    kept.join_likely(likelihood, row, floor, but, &mut load.gains);
                }
                false => kept.join_all(likelihood, row, &mut load.gains),
            }
        }
        let home_at = home.map_or(usize::MAX, |(home, _)| home.index());
        let rank = load.rank;
        for (&slot, gain) in slots.iter().zip(gains) {
            let at = slot.index();
            // Nearly always.
            let found = match all.is_some() && stats.led_from[at] < rank && at != home_at {
                true => load.gains[at / LANES][at % LANES],
                false => self.weigh_slot(&ask, load, row, slot),
            };
            if cfg!(debug_assertions) {
                let plain = match home {
                    Some((home, _)) if home == slot => {
                        stats.ln_p[at] - self.ln_p_left(stats, load, z, slot)
                    }
                    _ => self.ln_p_joined(stats, load, at) - stats.ln_p[at],
                };
                let most = 1e-9 * stats.ln_p[at].abs().max(1.0);
                let right = (found - plain).abs() < most
                    || found == f64::NEG_INFINITY && plain < floor + most;
                assert!(
                    right,
                    "a gain is {found}, not {plain}, and what counts is from {floor} on"
                );
            }
            put(gain, if b == 1.0 { found } else { found / b });
        }
    }

    /// Finds the gain of one slot, which may be −∞ if it is less than the floor.
    #[inline(never)]
    fn weigh_slot(&self, ask: &Ask<'_>, load: &mut Party, row: Option<&[f64]>, slot: Slot) -> f64 {
        let Ask { stats, z, home, floor, .. } = *ask;
        let at = slot.index();
        let (leader, likely) = (stats.leader[at], floor > f64::NEG_INFINITY);
        let fast = row.filter(|_| !stats.kept.is_awkward(at));
        match (home, fast) {
            (Some((home, at_home)), _) if home == slot => at_home,
            _ if leader == NOBODY => load.alone,
            (_, Some(row)) if !self.outranks(load.leader, leader) => {
                stats.kept.join(&*self.likelihood, at, row)
            }
            (_, Some(_)) if likely => {
                let floor = floor + stats.ln_p[at];
                let ln_p = match z.size(slot) < SMALL {
                    true if self.ln_p_led_at_most(stats, load, at) < floor => f64::NEG_INFINITY,
                    true => self.ln_p_joined(stats, load, at),
                    false => self.ln_p_led(stats, load, at, z.size(slot) as usize, floor),
                };
                ln_p - stats.ln_p[at]
            }
            _ => self.ln_p_joined(stats, load, at) - stats.ln_p[at],
        }
    }
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
        Tallies {
            leader: Vec::new(),
            led_from: Vec::new(),
            sums: Vec::new(),
            ln_p: Vec::new(),
            kept: self.nothing_kept(),
            members: Members::new(self.n()),
            room: Room::default(),
        }
    }

    fn empty_load(&self) -> Party {
        Party {
            items: Vec::new(),
            leader: NOBODY,
            rank: 0,
            sums: Vec::new(),
            alone: 0.0,
            scratch: Vec::new(),
            others: Vec::new(),
            gains: Vec::new(),
            columns: Vec::new(),
        }
    }

    fn grow(&self, stats: &mut Tallies, slots: usize) {
        if stats.leader.len() < slots {
            stats.leader.resize(slots, NOBODY);
            stats.led_from.resize(slots, u32::MAX);
            stats.ln_p.resize(slots, 0.0);
            stats.sums.resize(slots * self.width(), 0);
            stats.kept.grow(slots);
            stats.members.grow(slots);
        }
    }

    fn weigh(&self, items: &[Item], _z: &Partition, load: &mut Party) {
        load.items.clear();
        load.items.extend(items.iter().map(|item| item.index() as u32));
        load.leader = self.leader(load.items.iter().copied());
        load.rank = self.menus.rank[load.leader as usize];
        if let [item] = items {
            load.alone = self.alone[item.index()];
            return;
        }
        load.sums.clear();
        load.sums.resize(self.width(), 0.0);
        self.add_ln_f(load.leader, &load.items, &mut load.sums, 1.0);
        load.scratch.clone_from(&load.sums);
        self.add_ln_weights(load.leader, &mut load.scratch);
        load.alone = self.ln_estimate(&load.scratch);
    }

    fn add(&self, stats: &mut Tallies, load: &Party, _z: &Partition, slot: Slot) {
        let slot = slot.index();
        let mut leader = stats.leader[slot];
        let sums = &mut stats.sums[self.range(slot)];
        if self.outranks(load.leader, leader) {
            leader = load.leader;
            sums.fill(0);
            self.tally(leader, stats.members.of(slot), sums);
        }
        self.tally(leader, load.items.iter().copied(), sums);
        load.items.iter().for_each(|&item| stats.members.insert(item, slot));
        self.write(stats, slot, leader);
    }

    fn sub(&self, stats: &mut Tallies, load: &Party, _z: &Partition, slot: Slot) {
        let slot = slot.index();
        let mut leader = stats.leader[slot];
        let sums = &mut stats.sums[self.range(slot)];
        load.items.iter().for_each(|&item| stats.members.remove(item, slot));
        if load.leader == leader {
            leader = self.leader(stats.members.of(slot));
            sums.fill(0);
            if leader != NOBODY {
                self.tally(leader, stats.members.of(slot), sums);
            }
        } else {
            self.untally(leader, load.items.iter().copied(), sums);
        }
        self.write(stats, slot, leader);
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
        let home = home.filter(|home| self.coldness > 0.0 && slots.contains(home));
        let home = home.map(|home| (home, self.ln_gain_at_home(stats, load, z, home)));
        let ask = Ask { stats, z, home, floor: f64::NEG_INFINITY, roughly: false };
        self.weigh_slots(ask, load, slots, gains, |gain, found| *gain = found);
    }

    fn skips_hopeless(&self) -> bool {
        self.likelihood.d() >= WIDE || self.likelihood.n() >= LARGE
    }

    fn add_likely_gains(
        &self,
        stats: &Tallies,
        load: &mut Party,
        Beside { home, below, .. }: Beside,
        z: &Partition,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        let at_home = self.ln_gain_at_home(stats, load, z, home);
        let head_starts = slots.iter().zip(&*gains);
        let head_start =
            head_starts.clone().find(|(slot, _)| **slot == home).map_or(0.0, |(_, &x)| x);
        let most = gains.iter().fold(head_start, |a, &b| if b > a { b } else { a });
        let floor = at_home + self.coldness * (head_start - most - below);
        let roughly = self.likelihood.d() >= WIDE || self.coldness * below < NEAR;
        let ask = Ask { stats, z, home: Some((home, at_home)), floor, roughly };
        self.weigh_slots(ask, load, slots, gains, |gain, found| *gain += found);
    }

    fn ln_evidence(&self, stats: &Tallies, z: &Partition) -> f64 {
        let ln_p: f64 = z.live().iter().map(|slot| stats.ln_p[slot.index()]).sum();
        if self.coldness == 0.0 { 0.0 } else { ln_p / self.coldness }
    }

    fn ln_evidence_naive(&self, labels: &[u32]) -> f64 {
        let Menus { entries, rank, theta, ln_weight } = &*self.menus;
        let (d, b) = (self.likelihood.d(), self.coldness);
        let mut sum = 0.0;
        for block in blocks(&canonical(labels)) {
            let leader = *block.iter().min_by_key(|&&i| rank[i as usize]).expect("not empty");
            for column in 0..d {
                let term = |entry: usize| {
                    let at = (leader as usize * d + column) * entries + entry;
                    let values = self.likelihood.column(column);
                    let values = block.iter().map(|&i| values[i as usize]).filter(|y| !y.is_nan());
                    let ln_f = values.map(|y| self.likelihood.ln_value(column, y, &theta[at]));
                    ln_weight[at] + b * ln_f.sum::<f64>()
                };
                let terms: Vec<f64> = (0..*entries).map(term).collect();
                let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let scaled: f64 = terms.iter().map(|term| libm::exp(term - largest)).sum();
                sum += largest + libm::log(scaled);
            }
        }
        if b == 0.0 { 0.0 } else { sum / b }
    }

    fn hypers(&self) -> Vec<Hyper> {
        Vec::new()
    }

    fn with_hypers(&self, _values: &[f64]) -> Self {
        Nonconjugate {
            likelihood: self.likelihood.clone(),
            menus: self.menus.clone(),
            alone: self.alone.clone(),
            gaps: self.gaps.clone(),
            ..*self
        }
    }

    fn ln_evidence_with(&self, _values: &[f64], stats: &Tallies, z: &Partition) -> f64 {
        self.ln_evidence(stats, z)
    }

    fn refresh(&self, stats: &mut Tallies, _z: &Partition) {
        let slots = stats.leader.len();
        stats.sums.clear();
        stats.sums.resize(slots * self.width(), 0);
        stats.kept = self.nothing_kept();
        stats.kept.grow(slots);
        for slot in 0..slots {
            let leader = self.leader(stats.members.of(slot));
            if leader != NOBODY {
                let sums = &mut stats.sums[self.range(slot)];
                self.tally(leader, stats.members.of(slot), sums);
            }
            self.write(stats, slot, leader);
        }
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
        ln_sum_exp(&choices.iter().zip(menu).map(term).collect::<Vec<f64>>())
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
                let ln_total = ln_sum_exp(ln_weights);
                let p: Vec<f64> = ln_weights.iter().map(|w| libm::exp(w - ln_total)).collect();
                theta.push(self.menus.theta[menu + choose(&p, uniform)]);
            }
        }
        let d = self.likelihood.d();
        let theta = |item: usize, column: usize| theta[labels[item] as usize * d + column];
        let likelihood = Arc::new(self.likelihood.simulate(&theta, uniform));
        let gaps = self.gaps.clone();
        Nonconjugate::serving(likelihood, gaps, self.entries, self.menus.clone(), self.coldness)
    }

    fn stats_bytes(&self, blocks: usize) -> u64 {
        let kept = Kept::bytes(self.likelihood.d(), self.menus.entries, blocks);
        (8 * self.n() + blocks * (16 * self.width() + 16) + kept) as u64
    }

    fn reals_per_block(&self) -> usize {
        self.likelihood.d() * L::REALS
    }

    fn can_be_heated(&self) -> bool {
        true
    }

    fn lay_out(
        &self,
        z: &Partition,
        parameters: &[f64],
        past: &[Vec<u32>],
        coldness: f64,
        uniform: &mut dyn FnMut() -> f64,
    ) -> Option<Self> {
        let likelihood = &*self.likelihood;
        let kept: Vec<_> = parameters.chunks_exact(L::REALS).map(|r| likelihood.read(r)).collect();
        let labels = z.labels();
        let m = self.entries * if kept.is_empty() { FIRST_MENUS } else { 1 };
        let menus = Menus::draw(likelihood, m, &labels, &kept, past, coldness, uniform);
        let (likelihood, gaps) = (self.likelihood.clone(), self.gaps.clone());
        Some(Nonconjugate::serving(likelihood, gaps, self.entries, Arc::new(menus), coldness))
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
                let (theta, ln_base, ln_f) = self.update(column, &block, theta, uniform);
                self.likelihood.write(&theta, parameters);
                sum += ln_base + ln_f;
            }
        }
        sum
    }

    fn ln_given(&self, z: &Partition, parameters: &[f64]) -> f64 {
        let d = self.likelihood.d();
        let mut thetas = parameters.chunks_exact(L::REALS).map(|r| self.likelihood.read(r));
        let mut sum = 0.0;
        for block in blocks(&z.labels()) {
            for (column, theta) in (0..d).zip(&mut thetas) {
                sum += self.ln_f(column, &block, &theta);
            }
        }
        sum
    }
}
