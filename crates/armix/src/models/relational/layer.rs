//! One relation under one family: a sum for each pair of blocks, and what the evidence grows by.

use super::load::{Count, LayerLoad};
use crate::families::{Family, Word, add_sum, sub_sum};
use crate::partition::{Partition, Slot};
use crate::relations::Relation;

/// Quiet gains are added up in units of 2⁻⁵⁰, so that it does not matter in which order.
const UNITS: f64 = (1u64 << 50) as f64;

/// Numbers of vertices for which everything fast is held against its plain twin when debugging. Proofs with fewer
/// vertices would take too long.
const CHECKED: std::ops::RangeInclusive<usize> = 6..=100;

/// A word that many equal values add up to.
pub(super) trait Times: Word {
    fn times(self, count: u64) -> Self;
}
impl Times for u64 {
    fn times(self, count: u64) -> Self {
        self * count
    }
}
impl Times for i128 {
    fn times(self, count: u64) -> Self {
        self * i128::from(count)
    }
}

/// One relation, as values of one family.
#[derive(Debug, Clone)]
pub(super) struct Layer<F: Family> {
    pub(super) family: F,
    pub(super) directed: bool,
    pub(super) loops: bool,
    pub(super) two_sided: bool,
    /// Whether a pair counts twice, and a vertex with itself once: see [`super::degrees`].
    pub(super) twice: bool,
    /// Whether unlisted pairs have a value. Else only listed ones were observed.
    pub(super) dense: bool,
    /// The listed values as the family stores them, in the order of the relation's rows.
    pub(super) codes_from: Vec<F::Value>,
    pub(super) codes_to: Vec<F::Value>,
    /// The sum of one unlisted pair.
    unlisted: Vec<F::Word>,
}

/// The sums of all pairs of blocks, and what is kept of them.
#[derive(Debug, Default)]
pub(super) struct LayerStats<W> {
    /// By [`Layer::at`].
    sums: Vec<W>,
    /// What the evidence changes by with block l if a vertex joins block k and all its pairs are unlisted;
    /// by side of the vertex and [`square`] of k and l.
    quiet: [Vec<f64>; 2],
    /// Added up over all blocks l, by side and block.
    quiet_row: [Vec<i128>; 2],
}

impl<W: Clone> Clone for LayerStats<W> {
    fn clone(&self) -> Self {
        LayerStats {
            sums: self.sums.clone(),
            quiet: self.quiet.clone(),
            quiet_row: self.quiet_row.clone(),
        }
    }

    fn clone_from(&mut self, other: &Self) {
        self.sums.clone_from(&other.sums);
        self.quiet.clone_from(&other.quiet);
        self.quiet_row.clone_from(&other.quiet_row);
    }
}

/// The place of an ordered pair of slots. A new slot appends places and moves none.
#[inline]
fn square(k: usize, l: usize) -> usize {
    if k >= l { k * k + l } else { l * l + l + 1 + k }
}

#[inline]
fn fixed(gain: f64) -> i128 {
    (gain * UNITS) as i128
}

impl<F: Family<Word: Times>> Layer<F> {
    /// The listed values of a relation; `code` says how each is stored.
    pub(super) fn new(
        relation: &Relation,
        two_sided: bool,
        dense: bool,
        family: F,
        code: impl Fn(f64) -> f64,
    ) -> Self {
        let stored = |values: &[f64]| values.iter().map(|&x| family.encode(code(x))).collect();
        let (from, to) = relation.all_values();
        let mut unlisted = vec![F::Word::default(); family.width()];
        if dense {
            family.add(&mut unlisted, family.encode(0.0));
        }
        Layer {
            directed: relation.shape.directed,
            loops: relation.shape.loops,
            two_sided,
            twice: false,
            dense,
            codes_from: stored(from),
            codes_to: stored(to),
            unlisted,
            family,
        }
    }

    /// The same with pairs that count twice, or not.
    pub(super) fn counting_twice(self, twice: bool) -> Self {
        Layer { twice, ..self }
    }

    /// The same with another family.
    pub(super) fn with_family(&self, family: F) -> Self {
        Layer { family, ..self.clone() }
    }

    /// The pairs, in one direction, between two sets.
    #[inline]
    pub(super) fn pairs_between(&self, set: Count, size: Count) -> u64 {
        match self.two_sided {
            true => set.0[0] * size.0[1] + set.0[1] * size.0[0],
            false => (set.0[0] * size.0[0]) << u32::from(self.twice),
        }
    }

    pub(super) fn pairs_inside(&self, set: Count) -> u64 {
        let m = set.0[0];
        match (self.two_sided, self.directed) {
            _ if self.twice => m * m,
            (true, _) => m * set.0[1],
            (false, true) => m * m.saturating_sub(1) + u64::from(self.loops) * m,
            (false, false) => m * m.saturating_sub(1) / 2 + u64::from(self.loops) * m,
        }
    }

    /// Adds the values of those of so many pairs that are not special.
    #[inline]
    pub(super) fn add_unlisted(&self, sum: &mut [F::Word], pairs: u64, special: u64) {
        if self.dense {
            let count = pairs - special;
            sum.iter_mut().zip(&self.unlisted).for_each(|(s, one)| *s += one.times(count));
        }
    }

    /// Where the sum of a pair of blocks begins.
    #[inline]
    fn at(&self, k: usize, l: usize) -> usize {
        let (low, high) = (k.min(l), k.max(l));
        let place = if self.directed { square(k, l) } else { high * (high + 1) / 2 + low };
        place * self.family.width()
    }

    #[inline]
    pub(super) fn sum<'s>(
        &self,
        stats: &'s LayerStats<F::Word>,
        k: usize,
        l: usize,
    ) -> &'s [F::Word] {
        &stats.sums[self.at(k, l)..][..self.family.width()]
    }

    pub(super) fn grow(&self, stats: &mut LayerStats<F::Word>, slots: usize) {
        let places = if self.directed { slots * slots } else { slots * (slots + 1) / 2 };
        let words = places * self.family.width();
        if stats.sums.len() < words {
            stats.sums.resize(words, F::Word::default());
        }
        for side in 0..self.sides() {
            if stats.quiet_row[side].len() < slots {
                stats.quiet[side].resize(slots * slots, 0.0);
                stats.quiet_row[side].resize(slots, 0);
            }
        }
    }

    fn sides(&self) -> usize {
        match (self.dense, self.two_sided) {
            (false, _) => 0,
            (true, two) => 1 + usize::from(two),
        }
    }

    pub(super) fn bytes(&self, blocks: u64) -> u64 {
        let places = if self.directed { blocks * blocks } else { blocks * (blocks + 1) / 2 };
        let word = size_of::<F::Word>() as u64;
        places * self.family.width() as u64 * word + self.sides() as u64 * 8 * blocks * blocks
    }

    /// The set joins block k, or leaves it. The sizes are those without the set in the first case, and
    /// with it in the second.
    pub(super) fn change(
        &self,
        stats: &mut LayerStats<F::Word>,
        load: &LayerLoad<F>,
        sizes: &[Count],
        z: &Partition,
        k: usize,
        joins: bool,
    ) {
        let (set, width) = (load.set, self.family.width());
        let change = if joins { add_sum::<F::Word> } else { sub_sum::<F::Word> };
        let mut more = vec![F::Word::default(); width];
        for l in z.live().iter().map(|l| l.index()) {
            let pairs = self.pairs_between(set, sizes[l].without(set, l == k && !joins));
            let at = self.at(k, l);
            load.from.all(self, l, pairs, &mut more);
            change(&mut stats.sums[at..at + width], &more);
            if self.directed {
                let at = self.at(l, k);
                load.to.all(self, l, pairs, &mut more);
                change(&mut stats.sums[at..at + width], &more);
            }
        }
        let at = self.at(k, k);
        load.inside(self, &mut more);
        change(&mut stats.sums[at..at + width], &more);
    }

    /// What a vertex without special pairs adds with block l if it joins block k.
    fn quiet(
        &self,
        stats: &LayerStats<F::Word>,
        sizes: &[Count],
        side: usize,
        k: usize,
        l: usize,
        more: &mut [F::Word],
    ) -> f64 {
        let vertex = Count([u64::from(side == 0), u64::from(side == 1)]);
        let pairs = self.pairs_between(vertex, sizes[l]);
        more.fill(F::Word::default());
        if k == l {
            let inside = pairs * (1 + u64::from(self.directed)) + self.pairs_inside(vertex);
            self.add_unlisted(more, inside, 0);
            return self.family.gain(self.sum(stats, k, k), more);
        }
        if pairs == 0 {
            return 0.0;
        }
        self.add_unlisted(more, pairs, 0);
        let gain = self.family.gain(self.sum(stats, k, l), more);
        match self.directed {
            true => gain + self.family.gain(self.sum(stats, l, k), more),
            false => gain,
        }
    }

    /// Computes what is kept of block k anew, after its sums and its size have changed. It `was` empty
    /// before, or not.
    pub(super) fn keep(
        &self,
        stats: &mut LayerStats<F::Word>,
        sizes: &[Count],
        z: &Partition,
        k: usize,
        was_empty: bool,
    ) {
        let mut more = vec![F::Word::default(); self.family.width()];
        let is_empty = sizes[k].all() == 0;
        for side in 0..self.sides() {
            let mut row = 0;
            for l in z.live().iter().map(|l| l.index()).filter(|&l| l != k) {
                // As seen from the other block, …
                let quiet = self.quiet(stats, sizes, side, l, k, &mut more);
                let old = std::mem::replace(&mut stats.quiet[side][square(l, k)], quiet);
                let old = if was_empty { 0 } else { fixed(old) };
                stats.quiet_row[side][l] += if is_empty { 0 } else { fixed(quiet) } - old;
                // … and from this one.
                if !is_empty {
                    let quiet = self.quiet(stats, sizes, side, k, l, &mut more);
                    stats.quiet[side][square(k, l)] = quiet;
                    row += fixed(quiet);
                }
            }
            if !is_empty {
                let quiet = self.quiet(stats, sizes, side, k, k, &mut more);
                stats.quiet[side][square(k, k)] = quiet;
                stats.quiet_row[side][k] = row + fixed(quiet);
            }
        }
    }

    /// Computes all that is kept anew.
    pub(super) fn keep_all(&self, stats: &mut LayerStats<F::Word>, sizes: &[Count], z: &Partition) {
        let mut more = vec![F::Word::default(); self.family.width()];
        for side in 0..self.sides() {
            for k in z.live().iter().map(|k| k.index()) {
                let mut row = 0;
                for l in z.live().iter().map(|l| l.index()) {
                    let quiet = self.quiet(stats, sizes, side, k, l, &mut more);
                    stats.quiet[side][square(k, l)] = quiet;
                    row += fixed(quiet);
                }
                stats.quiet_row[side][k] = row;
            }
        }
    }

    /// Adds to the gains of a set what this relation says. The load is complete.
    pub(super) fn gains(
        &self,
        stats: &LayerStats<F::Word>,
        load: &mut LayerLoad<F>,
        home: Option<usize>,
        z: &Partition,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        if let Some(home) = home {
            self.leave(stats, load, home, z);
        }
        let mut alone = None;
        for (slot, gain) in slots.iter().zip(gains) {
            let k = slot.index();
            *gain += if z.size(*slot) == 0 {
                *alone.get_or_insert_with(|| self.gain_alone(load, z))
            } else if load.set.all() == 1 && home != Some(k) {
                let side = usize::from(load.set.0[1] == 1);
                let fast = self.gain_of_one(stats, load, side, home, z, k);
                if cfg!(debug_assertions) && CHECKED.contains(&z.n()) {
                    let plain = self.gain_of_any(stats, load, home, z, k);
                    let error = (fast - plain).abs();
                    assert!(error < 1e-9 * plain.abs().max(1.0), "a gain is {fast}, not {plain}");
                }
                fast
            } else {
                self.gain_of_any(stats, load, home, z, k)
            };
        }
    }

    /// The sums of the home without the set that it still counts.
    fn leave(
        &self,
        stats: &LayerStats<F::Word>,
        load: &mut LayerLoad<F>,
        home: usize,
        z: &Partition,
    ) {
        let width = self.family.width();
        if load.home_from.len() < load.all_from.len() {
            load.home_from.resize(load.all_from.len(), F::Word::default());
            load.home_to.resize(load.all_from.len(), F::Word::default());
        }
        for l in z.live().iter().map(|l| l.index()) {
            let range = l * width..(l + 1) * width;
            load.home_from[range.clone()].copy_from_slice(self.sum(stats, home, l));
            if l == home {
                load.sum_inside(home, self.directed);
                sub_sum(&mut load.home_from[range], &load.more);
                continue;
            }
            sub_sum(&mut load.home_from[range.clone()], &load.all_from[range.clone()]);
            if self.directed {
                load.home_to[range.clone()].copy_from_slice(self.sum(stats, l, home));
                sub_sum(&mut load.home_to[range.clone()], &load.all_to[range]);
            }
        }
    }

    /// What a set adds as a block of its own.
    fn gain_alone(&self, load: &LayerLoad<F>, z: &Partition) -> f64 {
        let width = self.family.width();
        let mut gain = self.family.ln_evidence(&load.all_inner);
        for l in z.live().iter().map(|l| l.index()) {
            let range = l * width..(l + 1) * width;
            gain += self.family.ln_evidence(&load.all_from[range.clone()]);
            if self.directed {
                gain += self.family.ln_evidence(&load.all_to[range]);
            }
        }
        gain
    }

    /// What a set adds if it joins block k: the sum over all blocks, by definition.
    fn gain_of_any(
        &self,
        stats: &LayerStats<F::Word>,
        load: &mut LayerLoad<F>,
        home: Option<usize>,
        z: &Partition,
        k: usize,
    ) -> f64 {
        z.live().iter().map(|l| self.gain_with(stats, load, home, k, l.index())).sum()
    }

    /// The same for a single vertex, as if all its pairs were unlisted, but some are not.
    fn gain_of_one(
        &self,
        stats: &LayerStats<F::Word>,
        load: &mut LayerLoad<F>,
        side: usize,
        home: Option<usize>,
        z: &Partition,
        k: usize,
    ) -> f64 {
        let quiet = |l: usize| if self.dense { stats.quiet[side][square(k, l)] } else { 0.0 };
        let mut gain = 0.0;
        let mut quiet_row = if self.dense { stats.quiet_row[side][k] } else { 0 };
        if let Some(home) = home {
            quiet_row -= fixed(quiet(home));
            if z.size(Slot::new(home)) > 0 {
                gain += self.gain_with(stats, load, Some(home), k, home);
            }
        }
        gain += quiet_row as f64 / UNITS;
        let inside = load.inner_special > 0;
        if inside {
            gain += self.gain_with(stats, load, home, k, k) - quiet(k);
        }
        for at in 0..load.from.touched.len() {
            let l = load.from.touched[at].index();
            if home != Some(l) && !(inside && l == k) {
                gain += self.gain_with(stats, load, home, k, l) - quiet(l);
            }
        }
        for at in 0..load.to.touched.len() {
            let l = load.to.touched[at].index();
            if home != Some(l) && !(inside && l == k) && load.from.special(l) == 0 {
                gain += self.gain_with(stats, load, home, k, l) - quiet(l);
            }
        }
        gain
    }

    /// What the pairs with block l add if the set joins block k.
    #[inline]
    fn gain_with(
        &self,
        stats: &LayerStats<F::Word>,
        load: &mut LayerLoad<F>,
        home: Option<usize>,
        k: usize,
        l: usize,
    ) -> f64 {
        let width = self.family.width();
        let range = |l: usize| l * width..(l + 1) * width;
        if k == l {
            load.sum_inside(k, self.directed);
            let sum =
                if home == Some(k) { &load.home_from[range(k)] } else { self.sum(stats, k, k) };
            return self.family.gain(sum, &load.more);
        }
        let sum = match home {
            Some(home) if home == k => &load.home_from[range(l)],
            Some(home) if home == l && self.directed => &load.home_to[range(k)],
            Some(home) if home == l => &load.home_from[range(k)],
            _ => self.sum(stats, k, l),
        };
        let gain = self.family.gain(sum, &load.all_from[range(l)]);
        if !self.directed {
            return gain;
        }
        let sum = match home {
            Some(home) if home == k => &load.home_to[range(l)],
            Some(home) if home == l => &load.home_from[range(k)],
            _ => self.sum(stats, l, k),
        };
        gain + self.family.gain(sum, &load.all_to[range(l)])
    }

    /// Something of the sum of every pair of blocks, added up.
    pub(super) fn over_pairs(
        &self,
        stats: &LayerStats<F::Word>,
        z: &Partition,
        of: impl Fn(&[F::Word]) -> f64,
    ) -> f64 {
        let mut total = 0.0;
        for (at, k) in z.live().iter().enumerate() {
            for l in &z.live()[..=at] {
                total += of(self.sum(stats, k.index(), l.index()));
                if self.directed && k != l {
                    total += of(self.sum(stats, l.index(), k.index()));
                }
            }
        }
        total
    }

    /// Whether what is kept is what it would be if it were computed anew.
    pub(super) fn kept_is_true(
        &self,
        stats: &LayerStats<F::Word>,
        sizes: &[Count],
        z: &Partition,
    ) -> bool {
        if !CHECKED.contains(&z.n()) {
            return true;
        }
        let mut anew = stats.clone();
        self.keep_all(&mut anew, sizes, z);
        (0..self.sides()).all(|side| {
            (z.live().iter())
                .all(|k| stats.quiet_row[side][k.index()] == anew.quiet_row[side][k.index()])
        })
    }
}
