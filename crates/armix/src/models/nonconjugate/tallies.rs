//! What blocks keep about the menus of their leaders, and what follows for items that join them or leave.

use super::hopeless::Column;
use super::kept::{Entry, Kept, LANES};
use super::likelihood::Likelihood;
use super::members::{Members, NOBODY};
use super::{Nonconjugate, UNIT};
use crate::partition::{Item, Partition, Slot};
use crate::special::{Arithmetic, OnFours, exp_of_all, exp_on, fast_ln, ln_of_all, on_fours};

/// Leaders, and what the items of their blocks say about the entries of their menus.
#[derive(Debug)]
pub struct Tallies {
    pub(super) leader: Vec<u32>,
    /// The rank of the leader, by slot: items of higher ranks are weighed by what is kept. Where they cannot be, no rank is higher.
    pub(super) led_from: Vec<u32>,
    /// Σ ln f by slot, column and entry, in units.
    pub(super) sums: Vec<i128>,
    /// ln p̂ by slot, always as computed from the sums.
    pub(super) ln_p: Vec<f64>,
    /// The same in a form that weighs single items fast.
    pub(super) kept: Kept,
    pub(super) members: Members,
    pub(super) room: Room,
}

/// Room for what is written.
#[derive(Debug, Default)]
pub(super) struct Room {
    terms: Vec<f64>,
    menu: Vec<Entry>,
}

impl Clone for Tallies {
    fn clone(&self) -> Self {
        let mut tallies = Tallies {
            leader: Vec::new(),
            led_from: Vec::new(),
            sums: Vec::new(),
            ln_p: Vec::new(),
            kept: self.kept.clone(),
            members: Members::default(),
            room: Room::default(),
        };
        tallies.clone_from(self);
        tallies
    }
    fn clone_from(&mut self, source: &Self) {
        self.leader.clone_from(&source.leader);
        self.led_from.clone_from(&source.led_from);
        self.sums.clone_from(&source.sums);
        self.ln_p.clone_from(&source.ln_p);
        self.kept.clone_from(&source.kept);
        self.members.copy_from(&source.members);
    }
}

/// A set of items, its leader, and, of more than one item, what they say about the entries of that menu.
#[derive(Debug)]
pub struct Party {
    pub(super) items: Vec<u32>,
    pub(super) leader: u32,
    /// The rank of the leader.
    pub(super) rank: u32,
    /// b Σ ln f.
    pub(super) sums: Vec<f64>,
    /// ln p̂ of a block of them.
    pub(super) alone: f64,
    pub(super) scratch: Vec<f64>,
    pub(super) others: Vec<u32>,
    pub(super) gains: Vec<[f64; LANES]>,
    pub(super) columns: Vec<Column>,
}

impl<L: Likelihood> Nonconjugate<L> {
    /// ln of H/(m G) ∏ fᵇ for the entries of a menu, by column.
    pub(super) fn terms(&self, leader: u32, sums: &[i128], terms: &mut Vec<f64>) {
        let ln_weights = &self.menus.ln_weight[self.range(leader as usize)];
        let unit = self.coldness * UNIT;
        terms.clear();
        terms.extend(ln_weights.iter().zip(sums).map(|(w, &sum)| w + unit * to_float(sum)));
    }

    /// The same with other sums.
    pub(super) fn add_ln_weights(&self, leader: u32, terms: &mut [f64]) {
        let ln_weights = &self.menus.ln_weight[self.range(leader as usize)];
        terms.iter_mut().zip(ln_weights).for_each(|(term, w)| *term += w);
    }

    /// ln p̂ of a block with these terms; 0 if it has none.
    pub(super) fn ln_estimate(&self, terms: &[f64]) -> f64 {
        let mut ln_p = 0.0;
        on_fours(LnSumsExp { terms, entries: self.menus.entries, sum: &mut ln_p });
        ln_p
    }

    /// ln p̂ of a block of one item.
    #[inline(always)]
    pub(super) fn ln_p_alone(&self, item: u32) -> f64 {
        let (m, row) = (self.menus.entries, self.likelihood.row(item as usize));
        let range = self.range(item as usize);
        let menus = self.menus.theta[range.clone()].chunks_exact(m);
        let ln_weights = self.menus.ln_weight[range].chunks_exact(m);
        // The sums of columns are from 1 to m, and are multiplied before a logarithm is taken.
        let (mut ln_p, mut sums) = (0.0, 1.0);
        for (column, ((menu, ln_weights), &y)) in menus.zip(ln_weights).zip(row).enumerate() {
            let (mut largest, mut sum) = (f64::NEG_INFINITY, 0.0);
            for (menu, ln_weights) in menu.chunks(LANES).zip(ln_weights.chunks(LANES)) {
                let mut terms = [f64::NEG_INFINITY; LANES];
                terms[..ln_weights.len()].copy_from_slice(ln_weights);
                if !y.is_nan() {
                    let mut distances = [1.0; LANES];
                    for (at, theta) in menu.iter().enumerate() {
                        let coordinates = self.likelihood.coordinates(theta);
                        distances[at] = self.likelihood.distance(y, coordinates);
                        terms[at] += self.coldness * self.likelihood.ln_top(column, theta);
                    }
                    let ln = ln_of_all(&distances);
                    (0..LANES).for_each(|at| terms[at] -= self.exponent * ln[at]);
                }
                let most = terms.into_iter().fold(largest, |a, b| if b > a { b } else { a });
                if most > largest {
                    // Nothing before the first four, and then seldom anything.
                    sum *= if sum > 0.0 { libm::exp(largest - most) } else { 0.0 };
                    largest = most;
                }
                let [a, b, c, d] = exp_of_all(terms.map(|term| term - largest));
                sum += (a + b) + (c + d);
            }
            ln_p += largest;
            sums *= sum;
            if sums > 1e200 {
                ln_p += fast_ln(sums);
                sums = 1.0;
            }
        }
        ln_p + fast_ln(sums)
    }

    /// Whether an item would lead a block that has this leader, if any.
    pub(super) fn outranks(&self, item: u32, leader: u32) -> bool {
        let rank = &self.menus.rank;
        leader == NOBODY || rank[item as usize] < rank[leader as usize]
    }

    pub(super) fn leader(&self, items: impl Iterator<Item = u32>) -> u32 {
        items.min_by_key(|&item| self.menus.rank[item as usize]).unwrap_or(NOBODY)
    }

    /// ln p̂ of a block that C joins.
    pub(super) fn ln_p_joined(&self, stats: &Tallies, load: &mut Party, slot: usize) -> f64 {
        let leader = stats.leader[slot];
        if leader == NOBODY {
            return load.alone;
        }
        let mut terms = std::mem::take(&mut load.scratch);
        if self.outranks(load.leader, leader) {
            let mut others = std::mem::take(&mut load.others);
            others.clear();
            others.extend(stats.members.of(slot));
            terms.clear();
            match load.items[..] {
                [item] => {
                    others.push(item);
                    terms.resize(self.width(), 0.0);
                }
                _ => terms.extend_from_slice(&load.sums),
            }
            self.add_ln_f(load.leader, &others, &mut terms, 1.0);
            self.add_ln_weights(load.leader, &mut terms);
            load.others = others;
        } else {
            self.terms(leader, &stats.sums[self.range(slot)], &mut terms);
            self.add_ln_f(leader, &load.items, &mut terms, 1.0);
        }
        let ln_p = self.ln_estimate(&terms);
        load.scratch = terms;
        ln_p
    }

    /// ln p̂ of a block that C has left, though it is still counted there.
    pub(super) fn ln_p_left(
        &self,
        stats: &Tallies,
        load: &mut Party,
        z: &Partition,
        slot: Slot,
    ) -> f64 {
        let stays = |&item: &u32| z.slot_of(Item::new(item as usize)) == slot;
        let leader = stats.leader[slot.index()];
        let mut terms = std::mem::take(&mut load.scratch);
        terms.clear();
        if stays(&leader) {
            self.terms(leader, &stats.sums[self.range(slot.index())], &mut terms);
            self.add_ln_f(leader, &load.items, &mut terms, -1.0);
        } else {
            let mut others = std::mem::take(&mut load.others);
            others.clear();
            others.extend(stats.members.of(slot.index()).filter(stays));
            let leader = self.leader(others.iter().copied());
            if leader != NOBODY {
                terms.resize(self.width(), 0.0);
                self.add_ln_f(leader, &others, &mut terms, 1.0);
                self.add_ln_weights(leader, &mut terms);
            }
            load.others = others;
        }
        let ln_p = self.ln_estimate(&terms);
        load.scratch = terms;
        ln_p
    }

    /// Writes what follows from the leader of a slot and the sums that are there.
    pub(super) fn write(&self, stats: &mut Tallies, slot: usize, leader: u32) {
        stats.leader[slot] = leader;
        stats.led_from[slot] = u32::MAX;
        stats.ln_p[slot] = 0.0;
        if leader == NOBODY {
            stats.kept.clear(slot);
            return;
        }
        on_fours(Write { model: self, stats, slot, leader });
        if !stats.kept.is_awkward(slot) {
            stats.led_from[slot] = self.menus.rank[leader as usize];
        }
    }
}

/// Writes all columns of a slot that has a leader.
struct Write<'a, L: Likelihood> {
    model: &'a Nonconjugate<L>,
    stats: &'a mut Tallies,
    slot: usize,
    leader: u32,
}

impl<L: Likelihood> OnFours for Write<'_, L> {
    #[inline(always)]
    fn with<A: Arithmetic>(self, arithmetic: A) {
        let Write { model, stats, slot, leader } = self;
        let (m, b, unit) = (model.menus.entries, model.coldness, model.coldness * UNIT);
        let (range, likelihood) = (model.range(leader as usize), &*model.likelihood);
        let thetas = model.menus.theta[range.clone()].chunks_exact(m);
        let ln_weights = model.menus.ln_weight[range].chunks_exact(m);
        let Room { terms, menu } = &mut stats.room;
        terms.resize(m, 0.0);
        menu.resize(m, Entry::default());
        let sums = stats.sums[model.range(slot)].chunks_exact(m);
        let ratio_at_most = |a, b| likelihood.ratio_at_most(a, b);
        let mut ln_p = 0.0;
        for (column, ((thetas, ln_weights), sums)) in thetas.zip(ln_weights).zip(sums).enumerate() {
            for (term, (w, &sum)) in terms.iter_mut().zip(ln_weights.iter().zip(sums)) {
                *term = w + unit * to_float(sum);
            }
            for (entry, (theta, &ln_term)) in menu.iter_mut().zip(thetas.iter().zip(&*terms)) {
                *entry = Entry {
                    coordinates: likelihood.coordinates(theta),
                    ln_top: b * likelihood.ln_top(column, theta),
                    ln_term,
                    farthest: likelihood.farthest(column, theta),
                };
            }
            let ln_sum = ln_sum_exp_on(arithmetic, terms);
            stats.kept.write(slot, column, menu, ln_sum, ratio_at_most);
            ln_p += ln_sum;
        }
        stats.ln_p[slot] = ln_p;
    }
}

/// A sum as a float. Nearly all are short, and then halves of 32 bits are added: the compiler would make one conversion of both cases, a slow one.
#[inline(always)]
pub(super) fn to_float(sum: i128) -> f64 {
    match i64::try_from(sum) {
        Ok(short) => (short >> 32) as i32 as f64 * (1u64 << 32) as f64 + short as u32 as f64,
        Err(_) => sum as f64,
    }
}

/// ln Σ eˣ.
pub(super) fn ln_sum_exp(terms: &[f64]) -> f64 {
    let mut sum = 0.0;
    on_fours(LnSumsExp { terms, entries: terms.len(), sum: &mut sum });
    sum
}

/// The sum of ln Σ eˣ over so many terms at a time.
struct LnSumsExp<'a> {
    terms: &'a [f64],
    entries: usize,
    sum: &'a mut f64,
}

impl OnFours for LnSumsExp<'_> {
    #[inline(always)]
    fn with<A: Arithmetic>(self, arithmetic: A) {
        let columns = self.terms.chunks_exact(self.entries);
        *self.sum = 0.0;
        for terms in columns {
            *self.sum += ln_sum_exp_on(arithmetic, terms);
        }
    }
}

#[inline(always)]
fn ln_sum_exp_on<A: Arithmetic>(arithmetic: A, terms: &[f64]) -> f64 {
    let largest = terms.iter().fold(f64::NEG_INFINITY, |a, &b| if b > a { b } else { a });
    let mut sum = 0.0;
    let (fours, rest) = terms.as_chunks::<LANES>();
    for four in fours {
        sum += sum_exp_on(arithmetic, four, largest);
    }
    if !rest.is_empty() {
        let mut four = [f64::NEG_INFINITY; LANES];
        four[..rest.len()].copy_from_slice(rest);
        sum += sum_exp_on(arithmetic, &four, largest);
    }
    largest + fast_ln(sum)
}

/// Σ eˣ of four x, in units of their largest.
#[inline(always)]
fn sum_exp_on<A: Arithmetic>(arithmetic: A, four: &[f64; LANES], largest: f64) -> f64 {
    let less = arithmetic.subtract(arithmetic.load(four), arithmetic.all(largest));
    let mut found = [0.0; LANES];
    arithmetic.store(exp_on(arithmetic, less), &mut found);
    (found[0] + found[1]) + (found[2] + found[3])
}
