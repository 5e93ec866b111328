//! Mixtures over the rows of a table whose columns are of one family, independent within a block.

use crate::data::Column;
use crate::error::Result;
use crate::families::{Categorical, Family, Gaussian, Poisson, STEP, Values, add_sum, sub_sum};
use crate::hyper::Hyper;
use crate::model::{Beside, Model};
use crate::partition::{Item, Partition, Slot};
use crate::prior::positive;
use crate::special::with_wide_vectors;
use std::sync::Arc;

/// ln p(Y | z) = Σ over blocks and columns of the family's evidence. Missing cells count nowhere.
///
/// ```
/// use armix::{data::Column, families::Poisson, model::Model, models::Columns};
/// let counts = Column::counts(vec![0.0, 2.0, 1.0]);
/// let model = Columns::<Poisson>::new(&[&counts], &[1.0, 1.0]).unwrap();
/// // Three counts of mean 1, so that λ ~ Exp(1): p(0) = ½ and so on.
/// assert!((model.ln_evidence_naive(&[0, 1, 2]) - (0.5f64 * 0.125 * 0.25).ln()).abs() < 1e-12);
/// ```
#[derive(Debug, Clone)]
pub struct Columns<F: Family> {
    data: Arc<Cells<F>>,
    families: Vec<F>,
}

/// The cells as they are stored, and where columns are in sums and in what is kept of them.
#[derive(Debug)]
struct Cells<F: Family> {
    n: usize,
    d: usize,
    /// Row after row.
    values: Vec<F::Value>,
    /// Whether no cell is missing.
    full: bool,
    /// [`Family::base_of_row`] of each row.
    bases: Vec<f64>,
    /// [`Family::ceiling`] of each row; if bounds are worth their trouble, also of all its cells but the first [`STEP`], and so on up to none. Empty if there are no ceilings.
    ceilings: Vec<f64>,
    /// So many of them for each row.
    steps: usize,
    /// Whether bounds are worth their trouble.
    bounded: bool,
    /// Where the sum of each column begins, and how long all are together …
    sum_at: Vec<usize>,
    /// … and the same for what is kept of blocks that are side by side.
    kept_at: Vec<usize>,
}

impl<F: Family> Cells<F> {
    fn new(columns: &[Values<'_>], families: &[F]) -> Self {
        let (n, d) = (columns.first().map_or(0, |c| c.cells.len()), columns.len());
        let mut values = Vec::with_capacity(n * d);
        for row in 0..n {
            for (family, column) in families.iter().zip(columns) {
                let x = column.cells[row];
                values.push(if x.is_nan() { F::MISSING } else { family.encode(x) });
            }
        }
        let ends = |width: fn(&F) -> usize| {
            let widths = families.iter().scan(0, |end, family| {
                *end += width(family);
                Some(*end)
            });
            std::iter::once(0).chain(widths).collect()
        };
        let full = !values.contains(&F::MISSING);
        let bases = (0..n).map(|row| F::base_of_row(families, &values[row * d..(row + 1) * d]));
        let bases = bases.collect();
        let bounded = F::bounded_from(full).is_some_and(|wide| d >= wide);
        let steps = match F::ceiling(&[]) < f64::INFINITY {
            true if bounded => d.div_ceil(STEP) + 1,
            true => 1,
            false => 0,
        };
        let mut ceilings = vec![0.0; n * steps];
        if steps > 0 {
            for (row, ceilings) in values.chunks(d).zip(ceilings.chunks_mut(steps)) {
                let mut most = 0.0;
                for (step, cells) in row.chunks(STEP).enumerate().rev() {
                    most += F::ceiling(cells);
                    ceilings[step.min(steps - 1)] = most;
                }
            }
        }
        Cells {
            n,
            d,
            values,
            full,
            bases,
            ceilings,
            steps,
            bounded,
            sum_at: ends(F::width),
            kept_at: ends(F::kept_width),
        }
    }

    #[inline]
    fn row(&self, row: usize) -> &[F::Value] {
        &self.values[row * self.d..(row + 1) * self.d]
    }

    /// The ceilings of a row, if there are any.
    #[inline]
    fn ceilings(&self, row: usize) -> &[f64] {
        &self.ceilings[row * self.steps..][..self.steps]
    }
}

/// The statistics of the blocks, slot after slot and column after column. What is kept of some slots is side by side.
#[derive(Debug)]
pub struct Sums<F: Family> {
    slots: usize,
    sums: Vec<F::Word>,
    /// Always as computed from the sums, so that it does not matter how they came about.
    kept: Vec<F::Kept>,
}

impl<F: Family> Clone for Sums<F> {
    fn clone(&self) -> Self {
        Sums { slots: self.slots, sums: self.sums.clone(), kept: self.kept.clone() }
    }
    fn clone_from(&mut self, source: &Self) {
        self.slots = source.slots;
        self.sums.clone_from(&source.sums);
        self.kept.clone_from(&source.kept);
    }
}

/// What a set of rows carries: a single row carries itself, several carry their sums.
#[derive(Debug)]
pub struct Rows<F: Family> {
    only: Option<usize>,
    sums: Vec<F::Word>,
    /// Room for the gains of a row in all slots.
    gains: Vec<f64>,
    /// … and for what they must not be below.
    floors: Vec<f64>,
}

impl<F: Family> Columns<F> {
    /// The mixture over the rows of these columns, with hyper-parameters in the order of
    /// [`Model::hypers`].
    pub fn new(columns: &[&Column], hypers: &[f64]) -> Result<Self> {
        let values: Vec<Values<'_>> = columns.iter().map(|c| values(c)).collect();
        let families = F::fit(&values, hypers);
        for hyper in families.first().map(F::hypers).unwrap_or_default() {
            positive(&hyper.name, hyper.value)?;
        }
        Ok(Columns { data: Arc::new(Cells::new(&values, &families)), families })
    }

    /// The sums of a slot.
    #[inline]
    fn sums<'s>(&self, stats: &'s Sums<F>, slot: usize) -> &'s [F::Word] {
        let width = self.data.sum_at[self.data.d];
        &stats.sums[slot * width..(slot + 1) * width]
    }

    /// What is kept of the sums of a slot and those beside it, and its lane.
    #[inline]
    fn kept<'s>(&self, stats: &'s Sums<F>, slot: usize) -> (&'s [F::Kept], usize) {
        let (width, at) = (self.data.kept_at[self.data.d], slot / F::LANES);
        (&stats.kept[at * width..(at + 1) * width], slot % F::LANES)
    }

    /// Whether weighing a row for all slots, if they are kept side by side, takes less than for so many of them, one after the other.
    #[inline]
    fn better_weigh_all(&self, stats: &Sums<F>, slots: usize) -> bool {
        let width = self.data.kept_at[self.data.d];
        F::LANES > 1 && width > 0 && stats.kept.len() <= slots / 2 * width
    }

    /// Room for numbers of all slots.
    #[inline]
    fn room<'g>(&self, stats: &Sums<F>, gains: &'g mut Vec<f64>) -> &'g mut [f64] {
        let length = stats.kept.len() / self.data.kept_at[self.data.d] * F::LANES;
        if gains.len() != length {
            gains.resize(length, 0.0);
        }
        gains
    }

    /// Weighs a row for all slots.
    #[inline]
    fn weigh_for_all(&self, stats: &Sums<F>, row: &[F::Value], gains: &mut Vec<f64>) {
        let gains = self.room(stats, gains);
        with_wide_vectors(
            #[inline(always)]
            || match self.data.full {
                true => F::gains_of_full_row(&self.families, &stats.kept, row, gains),
                false => F::gains_of_row(&self.families, &stats.kept, row, gains),
            },
        );
    }

    /// The gain of a row in a slot, but for what it has in common with those in others.
    #[inline]
    fn gain_of_row(&self, stats: &Sums<F>, row: &[F::Value], slot: usize) -> f64 {
        let (families, (kept, lane)) = (&self.families, self.kept(stats, slot));
        match self.data.full {
            true => F::gain_of_full_row(families, kept, lane, row),
            false => F::gain_of_row(families, kept, lane, row),
        }
    }

    /// The gain of a row in its home, which the statistics still count it in.
    #[inline]
    fn gain_at_home(&self, stats: &Sums<F>, row: usize, home: Slot) -> f64 {
        let (sums, (kept, lane)) = (self.sums(stats, home.index()), self.kept(stats, home.index()));
        let (families, base, row) = (&self.families, self.data.bases[row], self.data.row(row));
        let found = match self.data.full {
            true => F::gain_of_full_row_at_home(families, sums, kept, lane, row),
            false => with_wide_vectors(
                #[inline(always)]
                || F::gain_of_row_at_home(families, sums, kept, lane, row),
            ),
        };
        base + found
    }

    /// Finds the gains of all slots, that of the home if it is not known, and puts them where they belong.
    #[inline]
    fn weigh_slots(
        &self,
        stats: &Sums<F>,
        load: &mut Rows<F>,
        (home, at_home): (Option<Slot>, Option<f64>),
        slots: &[Slot],
        gains: &mut [f64],
        put: impl Fn(&mut f64, f64),
    ) {
        let Some(at) = load.only else {
            for (&slot, gain) in slots.iter().zip(gains) {
                let (sums, is_home) = (self.sums(stats, slot.index()), home == Some(slot));
                let of_column = |(at, family): (usize, &F)| {
                    let (sum, more) = (self.column(sums, at), self.column(&load.sums, at));
                    if is_home { family.loss(sum, more) } else { family.gain(sum, more) }
                };
                let known = at_home.filter(|_| is_home);
                let found = || self.families.iter().enumerate().map(of_column).sum();
                put(gain, known.unwrap_or_else(found));
            }
            return;
        };
        let (row, base) = (self.data.row(at), self.data.bases[at]);
        let all = self.better_weigh_all(stats, slots.len());
        if all {
            self.weigh_for_all(stats, row, &mut load.gains);
        }
        for (&slot, gain) in slots.iter().zip(gains) {
            let found = match (home == Some(slot), all) {
                (true, _) => at_home.unwrap_or_else(|| self.gain_at_home(stats, at, slot)),
                (false, true) => base + load.gains[slot.index()],
                (false, false) => base + self.gain_of_row(stats, row, slot.index()),
            };
            put(gain, found);
        }
    }

    /// Something that the gain of a single row exceeds in no slot, but for rounding errors; ∞ if there is nothing, as for several rows.
    pub(super) fn ceiling(&self, load: &Rows<F>) -> f64 {
        let of_row = |row| self.data.ceilings(row).first().map(|most| self.data.bases[row] + most);
        load.only.and_then(of_row).unwrap_or(f64::INFINITY)
    }

    /// The sum of one column.
    #[inline]
    fn column<'s>(&self, sums: &'s [F::Word], column: usize) -> &'s [F::Word] {
        &sums[self.data.sum_at[column]..self.data.sum_at[column + 1]]
    }

    /// Brings what is kept of a column up to date with its sum.
    #[inline]
    fn keep(&self, stats: &mut Sums<F>, slot: usize, column: usize) {
        let Cells { d, sum_at, kept_at, .. } = &*self.data;
        let sums = &stats.sums[slot * sum_at[*d]..][sum_at[column]..sum_at[column + 1]];
        let start = slot / F::LANES * kept_at[*d];
        let kept = &mut stats.kept[start..][kept_at[column]..kept_at[column + 1]];
        self.families[column].keep(sums, kept, slot % F::LANES);
    }

    /// Changes the sums of a slot by what rows carry.
    #[inline]
    fn change(
        &self,
        stats: &mut Sums<F>,
        load: &Rows<F>,
        slot: usize,
        by_value: fn(&F, &mut [F::Word], F::Value),
        by_sum: fn(&mut [F::Word], &[F::Word]),
    ) {
        let Cells { d, sum_at, .. } = &*self.data;
        let start = slot * sum_at[*d];
        match load.only {
            Some(row) => {
                for (column, &value) in self.data.row(row).iter().enumerate() {
                    if value != F::MISSING {
                        let sum = start + sum_at[column]..start + sum_at[column + 1];
                        by_value(&self.families[column], &mut stats.sums[sum], value);
                        self.keep(stats, slot, column);
                    }
                }
            }
            None => {
                by_sum(&mut stats.sums[start..start + sum_at[*d]], &load.sums);
                (0..*d).for_each(|column| self.keep(stats, slot, column));
            }
        }
    }

    /// The same mixture of other values.
    fn with_values(&self, columns: &[Vec<f64>]) -> Self {
        let levels = |at: usize| self.data.kept_at[at + 1] - self.data.kept_at[at];
        let values: Vec<Values<'_>> = (columns.iter().enumerate())
            .map(|(at, cells)| Values { cells, levels: levels(at), reference: cells.len() })
            .collect();
        let families = F::refit(&self.families, &values);
        Columns { data: Arc::new(Cells::new(&values, &families)), families }
    }

    /// The number in a cell, NaN if it is missing.
    fn value(&self, row: usize, column: usize) -> f64 {
        match self.data.row(row)[column] {
            value if value == F::MISSING => f64::NAN,
            value => self.families[column].decode(value),
        }
    }
}

impl<F: Example> Model for Columns<F> {
    const NAME: &'static str = F::NAME;
    type Stats = Sums<F>;
    type Load = Rows<F>;

    fn n(&self) -> usize {
        self.data.n
    }

    fn empty_stats(&self) -> Sums<F> {
        Sums { slots: 0, sums: Vec::new(), kept: Vec::new() }
    }

    fn empty_load(&self) -> Rows<F> {
        let sums = vec![F::Word::default(); self.data.sum_at[self.data.d]];
        Rows { only: None, sums, gains: Vec::new(), floors: Vec::new() }
    }

    fn grow(&self, stats: &mut Sums<F>, slots: usize) {
        let Cells { d, sum_at, kept_at, .. } = &*self.data;
        while stats.slots < slots {
            let slot = stats.slots;
            stats.slots += 1;
            stats.sums.resize(stats.slots * sum_at[*d], F::Word::default());
            let beside = stats.slots.div_ceil(F::LANES);
            stats.kept.resize(beside * kept_at[*d], F::Kept::default());
            (0..*d).for_each(|column| self.keep(stats, slot, column));
        }
    }

    fn weigh(&self, items: &[Item], _z: &Partition, load: &mut Rows<F>) {
        if let [row] = items {
            load.only = Some(row.index());
            return;
        }
        load.only = None;
        load.sums.fill(F::Word::default());
        for item in items {
            for (column, &value) in self.data.row(item.index()).iter().enumerate() {
                if value != F::MISSING {
                    let sum = self.data.sum_at[column]..self.data.sum_at[column + 1];
                    self.families[column].add(&mut load.sums[sum], value);
                }
            }
        }
    }

    fn add(&self, stats: &mut Sums<F>, load: &Rows<F>, _z: &Partition, slot: Slot) {
        self.change(stats, load, slot.index(), F::add, add_sum);
    }

    fn sub(&self, stats: &mut Sums<F>, load: &Rows<F>, _z: &Partition, slot: Slot) {
        self.change(stats, load, slot.index(), F::sub, sub_sum);
    }

    fn gains(
        &self,
        stats: &Sums<F>,
        load: &mut Rows<F>,
        home: Option<Slot>,
        _z: &Partition,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        self.weigh_slots(stats, load, (home, None), slots, gains, |gain, found| *gain = found);
    }

    fn skips_hopeless(&self) -> bool {
        self.data.bounded
    }

    fn add_likely_gains(
        &self,
        stats: &Sums<F>,
        load: &mut Rows<F>,
        Beside { home, below, gain: at_home }: Beside,
        _z: &Partition,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        let bounded = self.data.bounded && self.better_weigh_all(stats, slots.len());
        let Some(at) = load.only.filter(|_| bounded) else {
            let home = (Some(home), at_home);
            return self.weigh_slots(stats, load, home, slots, gains, |gain, found| *gain += found);
        };
        let (row, base) = (self.data.row(at), self.data.bases[at]);
        let at_home = at_home.unwrap_or_else(|| self.gain_at_home(stats, at, home));
        let home_at = slots.iter().position(|&slot| slot == home).expect("the home is offered");
        let floor = gains[home_at] + at_home - base - below;
        let floors = self.room(stats, &mut load.floors);
        floors.fill(f64::INFINITY);
        for (slot, gain) in slots.iter().zip(&*gains).filter(|(slot, _)| **slot != home) {
            floors[slot.index()] = floor - gain;
        }
        let (found, ceilings) = (self.room(stats, &mut load.gains), self.data.ceilings(at));
        with_wide_vectors(
            #[inline(always)]
            || {
                let Sums { kept, .. } = stats;
                F::likely_gains_of_row(&self.families, kept, row, ceilings, floors, found);
            },
        );
        for (&slot, gain) in slots.iter().zip(gains) {
            let found = found[slot.index()];
            let above = || self.gain_of_row(stats, row, slot.index()) - floors[slot.index()];
            debug_assert!(
                found > f64::NEG_INFINITY || above() < 1e-6 + 1e-14 * floors[slot.index()].abs(),
                "what is left out is hopeless"
            );
            *gain += if slot == home { at_home } else { base + found };
        }
    }

    fn ln_evidence(&self, stats: &Sums<F>, z: &Partition) -> f64 {
        let of = |sums: &[F::Word]| {
            let columns = self.families.iter().enumerate();
            columns.map(|(at, f)| f.ln_evidence(self.column(sums, at))).sum::<f64>()
        };
        z.live().iter().map(|slot| of(self.sums(stats, slot.index()))).sum()
    }

    fn ln_evidence_naive(&self, labels: &[u32]) -> f64 {
        let mut sum = 0.0;
        for block in 0..=labels.iter().copied().max().unwrap_or(0) {
            for (column, family) in self.families.iter().enumerate() {
                let members = (0..self.n()).filter(|&row| labels[row] == block);
                let values = members.map(|row| self.value(row, column)).filter(|x| !x.is_nan());
                sum += family.ln_evidence_naive(&values.collect::<Vec<_>>());
            }
        }
        sum
    }

    fn hypers(&self) -> Vec<Hyper> {
        self.families.first().map(F::hypers).unwrap_or_default()
    }

    fn with_hypers(&self, values: &[f64]) -> Self {
        let families = F::with_hypers(&self.families, values);
        Columns { data: self.data.clone(), families }
    }

    fn ln_evidence_with(&self, values: &[f64], stats: &Sums<F>, z: &Partition) -> f64 {
        let of = |sums: &[F::Word]| {
            let columns = self.families.iter().enumerate();
            columns.map(|(at, f)| f.ln_evidence_with(values, self.column(sums, at))).sum::<f64>()
        };
        z.live().iter().map(|slot| of(self.sums(stats, slot.index()))).sum()
    }

    fn refresh(&self, stats: &mut Sums<F>, _z: &Partition) {
        for slot in 0..stats.slots {
            (0..self.data.d).for_each(|column| self.keep(stats, slot, column));
        }
    }

    fn predict(&self, stats: &Sums<F>, z: &Partition, (row, column): (u32, u32)) -> f64 {
        let (slot, column) = (z.slot_of(Item::new(row as usize)).index(), column as usize);
        self.families[column].mean(self.column(self.sums(stats, slot), column))
    }

    fn ln_predictive(
        &self,
        stats: &Sums<F>,
        z: &Partition,
        (row, column): (u32, u32),
        value: f64,
    ) -> f64 {
        let (slot, column) = (z.slot_of(Item::new(row as usize)).index(), column as usize);
        self.families[column].ln_predictive(self.column(self.sums(stats, slot), column), value)
    }

    fn example(n: usize) -> Self {
        let (mut columns, hypers) = F::example(n);
        if n % 2 == 1 {
            columns[1].hide(0);
            columns[1].hide(1);
            columns[0].hide(2);
        }
        let columns: Vec<&Column> = columns.iter().collect();
        Columns::new(&columns, hypers).expect("an example is valid")
    }

    fn simulate(&self, labels: &[u32], uniform: &mut dyn FnMut() -> f64) -> Self {
        // A parameter for each block and column, and then the values.
        let blocks = labels.iter().max().map_or(0, |&m| m as usize + 1);
        let columns: Vec<Vec<f64>> = (self.families.iter().enumerate())
            .map(|(column, family)| {
                let parameters: Vec<F::Parameter> =
                    (0..blocks).map(|_| family.draw_parameter(uniform)).collect();
                (0..self.n())
                    .map(|row| match self.value(row, column) {
                        missing if missing.is_nan() => missing,
                        _ => family.draw_value(&parameters[labels[row] as usize], uniform),
                    })
                    .collect()
            })
            .collect();
        self.with_values(&columns)
    }

    fn stats_bytes(&self, blocks: usize) -> u64 {
        let Cells { d, sum_at, kept_at, .. } = &*self.data;
        let kept = blocks.div_ceil(F::LANES) * kept_at[*d] * size_of::<F::Kept>();
        (blocks * sum_at[*d] * size_of::<F::Word>() + kept) as u64
    }
}

fn values(column: &Column) -> Values<'_> {
    Values { cells: column.cells(), levels: column.names().len(), reference: column.reference() }
}

/// A family with made-up columns, for verification.
pub trait Example: Family {
    /// Columns of n values that are not symmetric, and hyper-parameters.
    fn example(n: usize) -> (Vec<Column>, &'static [f64]);
}

impl Example for Categorical {
    fn example(n: usize) -> (Vec<Column>, &'static [f64]) {
        let column = |levels: usize, step: usize| {
            let names = (0..levels).map(|l| l.to_string()).collect();
            Column::levels(names, (0..n).map(|i| (i * i * step % levels) as f64).collect())
        };
        (vec![column(3, 1), column(4, 3), column(2, 1)], &[0.6])
    }
}

impl Example for Poisson {
    fn example(n: usize) -> (Vec<Column>, &'static [f64]) {
        let column =
            |step: usize| Column::counts((0..n).map(|i| (i * i * step % 7) as f64).collect());
        (vec![column(1), column(3)], &[1.4, 0.7])
    }
}

impl Example for Gaussian {
    fn example(n: usize) -> (Vec<Column>, &'static [f64]) {
        let column = |step: usize, unit: f64| {
            Column::reals((0..n).map(|i| unit * (i * i * step % 11) as f64 - 3.0).collect())
        };
        (vec![column(1, 0.5), column(3, 1.7)], &[0.3, 1.7, 0.4])
    }
}
