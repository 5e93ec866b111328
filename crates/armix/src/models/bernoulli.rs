//! The Beta-Bernoulli mixture: rows of a binary table, columns independent within a block.

use crate::data::{BinaryTable, MISSING};
use crate::error::Result;
use crate::hyper::{Hyper, HyperPrior};
use crate::model::Model;
use crate::partition::{Item, Partition, Slot};
use crate::prior::positive;
use crate::special::{BetaBernoulli, LnTable, evidence_of_tosses};
use std::sync::Arc;

/// log p(A | z) = Σ_k Σ_i ln B(N⁺_ik + β⁺, N⁻_ik + β⁻) / B(β⁺, β⁻). Missing cells count as neither.
///
/// ```
/// use armix::{data::BinaryTable, model::Model, models::Bernoulli};
/// let table = BinaryTable::new(2, 1, vec![1, 1]).unwrap();
/// let model = Bernoulli::new(table, 1.0, 1.0).unwrap();
/// // Two ones from one uniform coin: 1/3. From two coins: 1/4.
/// assert!((model.ln_evidence_naive(&[0, 0]).exp() - 1.0 / 3.0).abs() < 1e-15);
/// assert!((model.ln_evidence_naive(&[0, 1]).exp() - 1.0 / 4.0).abs() < 1e-15);
/// ```
#[derive(Debug, Clone)]
pub struct Bernoulli {
    data: Arc<PackedTable>,
    /// The columns, and whether a cell is missing: asked so often that they are not looked up in the data.
    d: usize,
    any_missing: bool,
    coin: BetaBernoulli,
    ln_plus: LnTable,
    ln_minus: LnTable,
    ln_both: LnTable,
    beta: (f64, f64),
}

/// A table with its cells packed.
#[derive(Debug)]
struct PackedTable {
    table: BinaryTable,
    ones: Bits,
    /// `None` if no cell of the table is missing.
    missing: Option<Bits>,
}

impl PackedTable {
    fn new(table: BinaryTable) -> Self {
        PackedTable {
            ones: Bits::new(&table, 1),
            missing: table.has_missing().then(|| Bits::new(&table, MISSING)),
            table,
        }
    }
}

/// Which cells of a table have a value, 64 of them in a word.
#[derive(Debug, Clone)]
struct Bits {
    words_per_row: usize,
    words: Vec<u64>,
}

impl Bits {
    fn new(table: &BinaryTable, value: u8) -> Self {
        let pack = |cells: &[u8]| {
            (cells.iter().rev()).fold(0, |word, &cell| word << 1 | u64::from(cell == value))
        };
        let words = (0..table.n()).flat_map(|i| table.row(i).chunks(64).map(pack)).collect();
        Bits { words_per_row: table.d().div_ceil(64), words }
    }

    /// Calls `visit` with every column of a row that has the value.
    #[inline]
    fn for_each(&self, row: usize, mut visit: impl FnMut(usize)) {
        for (at, &word) in
            self.words[row * self.words_per_row..][..self.words_per_row].iter().enumerate()
        {
            let mut left = word;
            while left != 0 {
                visit(64 * at + left.trailing_zeros() as usize);
                left &= left - 1;
            }
        }
    }
}

/// The statistics of the blocks, one row of columns a slot.
#[derive(Debug, Default)]
pub struct Cells {
    /// The number of rows in each slot.
    size: Vec<u32>,
    /// N⁺: how many ones.
    ones: Vec<u32>,
    /// How many cells are missing; stays empty if none is.
    missing: Vec<u32>,
    /// What the evidence grows by with a row that joins …
    joining: Kept,
    /// … and with a row that is here, as if it were not and joined.
    staying: Kept,
}

/// What is kept of the blocks, always as computed from the counts, so that it does not matter how they came about.
#[derive(Debug, Default)]
struct Kept {
    /// For each slot, what the evidence grows by with a row of zeros …
    zeros: Vec<f64>,
    /// … and for each slot and column, how much more it grows with a one there.
    contrast: Vec<f64>,
}

impl Kept {
    fn copy_from(&mut self, source: &Self) {
        self.zeros.clone_from(&source.zeros);
        self.contrast.clone_from(&source.contrast);
    }

    fn grow(&mut self, slots: usize, d: usize) {
        self.zeros.resize(slots, 0.0);
        self.contrast.resize(slots * d, 0.0);
    }
}

impl Clone for Cells {
    fn clone(&self) -> Self {
        let mut cells = Cells::default();
        cells.clone_from(self);
        cells
    }
    fn clone_from(&mut self, source: &Self) {
        self.size.clone_from(&source.size);
        self.ones.clone_from(&source.ones);
        self.missing.clone_from(&source.missing);
        self.joining.copy_from(&source.joining);
        self.staying.copy_from(&source.staying);
    }
}

/// What a set of rows carries: how many they are, and their ones and missing cells in each column.
#[derive(Debug)]
pub struct RowLoad {
    m: u32,
    ones: ColumnCounts,
    missing: ColumnCounts,
}

/// Counts by column, zero except in the columns of `at`.
#[derive(Debug)]
struct ColumnCounts {
    at: Vec<u32>,
    count: Vec<u32>,
}

impl ColumnCounts {
    fn new(d: usize) -> Self {
        ColumnCounts { at: Vec::with_capacity(d), count: vec![0; d] }
    }

    #[inline]
    fn weigh(&mut self, items: &[Item], bits: &Bits) {
        let ColumnCounts { at, count } = self;
        at.drain(..).for_each(|column| count[column as usize] = 0);
        if let [row] = items {
            bits.for_each(row.index(), |column| {
                at.push(column as u32);
                count[column] = 1;
            });
            return;
        }
        for item in items {
            bits.for_each(item.index(), |column| {
                if count[column] == 0 {
                    at.push(column as u32);
                }
                count[column] += 1;
            });
        }
    }

    /// Takes over what is known of all columns.
    fn copy(&mut self, counts: &[u32]) {
        self.count.copy_from_slice(counts);
        self.at.clear();
        self.at.extend((0..counts.len() as u32).filter(|&column| counts[column as usize] > 0));
    }

    fn add_to(&self, sums: &mut [u32]) {
        self.at.iter().for_each(|&c| sums[c as usize] += self.count[c as usize]);
    }

    fn sub_from(&self, sums: &mut [u32]) {
        self.at.iter().for_each(|&c| sums[c as usize] -= self.count[c as usize]);
    }
}

impl Bernoulli {
    /// The mixture over the rows of a table.
    pub fn new(table: BinaryTable, beta_plus: f64, beta_minus: f64) -> Result<Self> {
        positive("beta⁺", beta_plus)?;
        positive("beta⁻", beta_minus)?;
        Ok(Bernoulli::of(Arc::new(PackedTable::new(table)), (beta_plus, beta_minus)))
    }

    fn of(data: Arc<PackedTable>, beta: (f64, f64)) -> Self {
        let n = data.table.n() as u64;
        Bernoulli {
            d: data.table.d(),
            any_missing: data.missing.is_some(),
            data,
            coin: BetaBernoulli::new(beta.0, beta.1, n),
            ln_plus: LnTable::new(beta.0, n),
            ln_minus: LnTable::new(beta.1, n),
            ln_both: LnTable::new(beta.0 + beta.1, n),
            beta,
        }
    }

    /// The data.
    pub fn table(&self) -> &BinaryTable {
        &self.data.table
    }

    /// Where the columns of a slot are in the statistics.
    #[inline]
    fn columns(&self, slot: usize) -> std::ops::Range<usize> {
        slot * self.d..(slot + 1) * self.d
    }

    /// The ones and the observed cells of a block in a column.
    #[inline]
    fn counts(&self, stats: &Cells, slot: usize, column: usize) -> (u32, u32) {
        let at = slot * self.d + column;
        let missing = if self.any_missing { stats.missing[at] } else { 0 };
        (stats.ones[at], stats.size[slot] - missing)
    }

    /// Sums a function of the ones and the observed cells over all blocks and columns.
    #[inline]
    fn sum_of_columns(&self, stats: &Cells, z: &Partition, of: impl Fn(u64, u64) -> f64) -> f64 {
        let of = |slot: Slot, column: usize| {
            let (ones, total) = self.counts(stats, slot.index(), column);
            of(ones.into(), total.into())
        };
        let block = |&slot: &Slot| (0..self.d).map(|c| of(slot, c)).sum::<f64>();
        z.live().iter().map(block).sum()
    }

    /// What a zero in a column adds to the evidence of a block that has so many cells fewer.
    #[inline]
    fn ln_zero(&self, stats: &Cells, slot: usize, column: usize, fewer: u32) -> f64 {
        let (ones, total) = self.counts(stats, slot, column);
        let less = |count: u32| count.saturating_sub(fewer);
        self.ln_minus.at(less(total - ones)) - self.ln_both.at(less(total))
    }

    /// Brings the gains of a slot up to date with its counts.
    fn refresh_slot(&self, stats: &mut Cells, slot: usize) {
        self.refresh_kept(stats, slot, 0, |stats| &mut stats.joining);
        self.refresh_kept(stats, slot, 1, |stats| &mut stats.staying);
    }

    /// The same for what is kept of a block that has so many rows fewer. Where there would be fewer than none it does not
    /// matter: no row has such a cell.
    #[inline(always)]
    fn refresh_kept(
        &self,
        stats: &mut Cells,
        slot: usize,
        fewer: u32,
        kept: impl Fn(&mut Cells) -> &mut Kept,
    ) {
        let less = |count: u32| count.saturating_sub(fewer);
        let d = self.d;
        let mut zeros = 0.0;
        for column in 0..d {
            let (ones, total) = self.counts(stats, slot, column);
            let ln_zero = self.ln_minus.at(less(total - ones));
            kept(stats).contrast[slot * d + column] = self.ln_plus.at(less(ones)) - ln_zero;
            zeros += ln_zero;
            if self.any_missing {
                zeros -= self.ln_both.at(less(total));
            }
        }
        if !self.any_missing {
            zeros -= d as f64 * self.ln_both.at(less(stats.size[slot]));
        }
        kept(stats).zeros[slot] = zeros;
    }

    /// [`Model::gains`] of a single row, by the kept gains.
    #[inline]
    fn gain_of_one(&self, stats: &Cells, load: &RowLoad, at_home: bool, slot: usize) -> f64 {
        let kept = if at_home { &stats.staying } else { &stats.joining };
        let contrast = &kept.contrast[self.columns(slot)];
        let mut sum = kept.zeros[slot];
        // Four sums at a time: additions that wait for each other are slow.
        let mut quads = load.ones.at.chunks_exact(4);
        let mut sums = [0.0; 4];
        for quad in &mut quads {
            for (sum, &column) in sums.iter_mut().zip(quad) {
                *sum += contrast[column as usize];
            }
        }
        for &column in quads.remainder() {
            sum += contrast[column as usize];
        }
        sum += (sums[0] + sums[1]) + (sums[2] + sums[3]);
        if self.any_missing {
            let (cells, fewer) = (load.missing.at.iter(), u32::from(at_home));
            let ln_zero = |&column: &u32| self.ln_zero(stats, slot, column as usize, fewer);
            sum -= cells.map(ln_zero).sum::<f64>();
        }
        sum
    }

    /// [`Model::gains`] of any set of rows, by definition.
    #[inline]
    fn gain_of_many(&self, stats: &Cells, load: &RowLoad, at_home: bool, slot: usize) -> f64 {
        let column_gain = |column: usize| {
            let (mut ones, mut total) = self.counts(stats, slot, column);
            let (new, more) = (load.ones.count[column], load.m - load.missing.count[column]);
            if at_home {
                (ones, total) = (ones - new, total - more);
            }
            self.coin.gain(ones.into(), total.into(), new.into(), more.into())
        };
        (0..self.d).map(column_gain).sum()
    }
}

impl Model for Bernoulli {
    const NAME: &'static str = "bernoulli";
    type Stats = Cells;
    type Load = RowLoad;

    fn n(&self) -> usize {
        self.data.table.n()
    }

    fn empty_stats(&self) -> Cells {
        Cells::default()
    }

    fn empty_load(&self) -> RowLoad {
        let d = self.d;
        RowLoad { m: 0, ones: ColumnCounts::new(d), missing: ColumnCounts::new(d) }
    }

    fn grow(&self, stats: &mut Cells, slots: usize) {
        let d = self.d;
        while stats.size.len() < slots {
            let slot = stats.size.len();
            stats.size.push(0);
            stats.ones.resize((slot + 1) * d, 0);
            if self.any_missing {
                stats.missing.resize((slot + 1) * d, 0);
            }
            stats.joining.grow(slot + 1, d);
            stats.staying.grow(slot + 1, d);
            self.refresh_slot(stats, slot);
        }
    }

    fn weigh(&self, items: &[Item], _z: &Partition, load: &mut RowLoad) {
        load.m = items.len() as u32;
        load.ones.weigh(items, &self.data.ones);
        if let Some(missing) = &self.data.missing {
            load.missing.weigh(items, missing);
        }
    }

    fn weigh_block(
        &self,
        stats: &Cells,
        items: &[Item],
        _z: &Partition,
        slot: Slot,
        load: &mut RowLoad,
    ) {
        let columns = self.columns(slot.index());
        load.m = items.len() as u32;
        load.ones.copy(&stats.ones[columns.clone()]);
        if self.any_missing {
            load.missing.copy(&stats.missing[columns]);
        }
    }

    fn add(&self, stats: &mut Cells, load: &RowLoad, _z: &Partition, slot: Slot) {
        let columns = self.columns(slot.index());
        stats.size[slot.index()] += load.m;
        load.ones.add_to(&mut stats.ones[columns.clone()]);
        if self.any_missing {
            load.missing.add_to(&mut stats.missing[columns]);
        }
        self.refresh_slot(stats, slot.index());
    }

    fn sub(&self, stats: &mut Cells, load: &RowLoad, _z: &Partition, slot: Slot) {
        let columns = self.columns(slot.index());
        stats.size[slot.index()] -= load.m;
        load.ones.sub_from(&mut stats.ones[columns.clone()]);
        if self.any_missing {
            load.missing.sub_from(&mut stats.missing[columns]);
        }
        self.refresh_slot(stats, slot.index());
    }

    fn vacate(
        &self,
        stats: &mut Cells,
        _items: &[Item],
        _z: &Partition,
        slot: Slot,
        _load: &mut RowLoad,
    ) {
        let columns = self.columns(slot.index());
        stats.size[slot.index()] = 0;
        stats.ones[columns.clone()].fill(0);
        if self.any_missing {
            stats.missing[columns].fill(0);
        }
        self.refresh_slot(stats, slot.index());
    }

    fn gains(
        &self,
        stats: &Cells,
        load: &mut RowLoad,
        home: Option<Slot>,
        _z: &Partition,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        for (&slot, gain) in slots.iter().zip(gains) {
            let (k, at_home) = (slot.index(), home == Some(slot));
            *gain = match load.m {
                1 => self.gain_of_one(stats, load, at_home, k),
                _ => self.gain_of_many(stats, load, at_home, k),
            };
            // The gain of several rows is the plain one.
            if cfg!(debug_assertions) && load.m == 1 {
                let plain = self.gain_of_many(stats, load, at_home, k);
                let error = (*gain - plain).abs();
                assert!(error < 1e-9 * plain.abs().max(1.0), "a gain is {gain}, not {plain}");
            }
        }
    }

    fn ln_evidence(&self, stats: &Cells, z: &Partition) -> f64 {
        self.sum_of_columns(stats, z, |ones, total| self.coin.ln_evidence(ones, total))
    }

    fn hypers(&self) -> Vec<Hyper> {
        let hyper = |name, value| Hyper::new(name, value, HyperPrior::UNIT_GAMMA);
        vec![hyper("beta_plus", self.beta.0), hyper("beta_minus", self.beta.1)]
    }

    fn with_hypers(&self, values: &[f64]) -> Self {
        Bernoulli::of(self.data.clone(), (values[0], values[1]))
    }

    fn ln_evidence_with(&self, values: &[f64], stats: &Cells, z: &Partition) -> f64 {
        let of = evidence_of_tosses((values[0], values[1]));
        self.sum_of_columns(stats, z, |ones, total| of(ones, total - ones))
    }

    fn refresh(&self, stats: &mut Cells, _z: &Partition) {
        (0..stats.size.len()).for_each(|slot| self.refresh_slot(stats, slot));
    }

    fn predict(&self, stats: &Cells, z: &Partition, (row, column): (u32, u32)) -> f64 {
        let slot = z.slot_of(Item::new(row as usize));
        let (ones, total) = self.counts(stats, slot.index(), column as usize);
        (f64::from(ones) + self.beta.0) / (f64::from(total) + self.beta.0 + self.beta.1)
    }

    fn ln_evidence_naive(&self, labels: &[u32]) -> f64 {
        let ln_beta = |a, b| libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
        let mut sum = 0.0;
        for block in 0..=labels.iter().copied().max().unwrap_or(0) {
            let members: Vec<usize> = (0..self.n()).filter(|&i| labels[i] == block).collect();
            for column in 0..self.d {
                let count = |value: u8| {
                    members.iter().filter(|&&i| self.data.table.row(i)[column] == value).count()
                        as f64
                };
                let (ones, zeros) = (count(1), count(0));
                sum += ln_beta(ones + self.beta.0, zeros + self.beta.1)
                    - ln_beta(self.beta.0, self.beta.1);
            }
        }
        sum
    }

    fn example(n: usize) -> Self {
        let d = 3;
        let cells = (0..n * d).map(|c| u8::from(c * c % 7 < 3)).collect();
        let table = BinaryTable::new(n, d, cells).expect("an example is valid");
        let table = if n % 2 == 1 { table.hiding(&[(0, 1), (1, 1), (2, 0)]) } else { table };
        Bernoulli::new(table, 0.8, 1.7).expect("an example is valid")
    }

    fn simulate(&self, labels: &[u32], uniform: &mut dyn FnMut() -> f64) -> Self {
        // Row after row from the predictive distribution given the earlier rows of its block.
        let d = self.d;
        let mut cells = vec![0u8; self.n() * d];
        for row in 0..self.n() {
            let earlier: Vec<usize> = (0..row).filter(|&r| labels[r] == labels[row]).collect();
            for column in 0..d {
                if self.data.table.row(row)[column] == MISSING {
                    cells[row * d + column] = MISSING;
                    continue;
                }
                let count = |value: u8| {
                    earlier.iter().filter(|&&r| cells[r * d + column] == value).count() as f64
                };
                let (ones, zeros) = (count(1), count(0));
                let p = (ones + self.beta.0) / (ones + zeros + self.beta.0 + self.beta.1);
                cells[row * d + column] = u8::from(uniform() < p);
            }
        }
        let table = BinaryTable::new(self.n(), d, cells).expect("zeros and ones");
        Bernoulli::of(Arc::new(PackedTable::new(table)), self.beta)
    }

    fn stats_bytes(&self, blocks: usize) -> u64 {
        let cell = 20 + 4 * u64::from(self.any_missing);
        blocks as u64 * (cell * self.d as u64 + 20)
    }
}
