//! The Beta-Bernoulli mixture: rows of a binary table, columns independent within a block.

mod rows;

use crate::data::{BinaryTable, MISSING};
use crate::error::Result;
use crate::hyper::{Hyper, HyperPrior};
use crate::model::Model;
use crate::partition::{Item, Partition, Slot};
use crate::prior::positive;
use crate::special::{BetaBernoulli, LnTable, evidence_of_tosses};
use rows::{ColumnCounts, MASKS, NARROW, PackedTable, RowLoad};
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
    /// Whether the columns are few, and no cell is missing.
    narrow: bool,
    coin: BetaBernoulli,
    ln_plus: LnTable,
    ln_minus: LnTable,
    ln_both: LnTable,
    beta: (f64, f64),
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
    /// What the evidence grows by with a row of zeros: for each slot with a row that joins, and with a row that is here, as if it were not
    /// and joined. All that is kept is always as computed from the counts, so that it does not matter how they came about.
    zeros: Vec<f64>,
    /// How much more it grows with a one in each column.
    contrast: Vec<f64>,
}

/// Where it is kept what the evidence grows by with a row that joins a slot, or stays there.
#[inline(always)]
fn kept_row(slot: usize, at_home: bool) -> usize {
    2 * slot + usize::from(at_home)
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
        self.zeros.clone_from(&source.zeros);
        self.contrast.clone_from(&source.contrast);
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
        let (n, d) = (data.table.n() as u64, data.table.d());
        let narrow = d <= NARROW && data.missing.is_none();
        Bernoulli {
            d,
            narrow,
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

    /// What is kept of a block has room for so many columns.
    #[inline(always)]
    fn stride(&self) -> usize {
        if self.narrow { self.d.next_multiple_of(8) } else { self.d }
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

    /// Brings the gains of a slot up to date with its counts: for a row that joins, and for one that is there already, for which the block has a
    /// row fewer. Where there would be fewer than none it does not matter: no row has such a cell.
    fn refresh_slot(&self, stats: &mut Cells, slot: usize) {
        let (d, stride) = (self.d, self.stride());
        let kept = &mut stats.contrast[kept_row(slot, false) * stride..][..2 * stride];
        let (joining, at_home) = kept.split_at_mut(stride);
        let ones = &stats.ones[slot * d..][..d];
        let size = stats.size[slot];
        let mut zeros = [0.0; 2];
        if self.any_missing {
            let missing = &stats.missing[slot * d..][..d];
            for column in 0..d {
                let (ones, total) = (ones[column], size - missing[column]);
                let (ln_one, ln_zero) = (self.ln_plus.two(ones), self.ln_minus.two(total - ones));
                let ln_both = self.ln_both.two(total);
                joining[column] = ln_one[1] - ln_zero[1];
                at_home[column] = ln_one[0] - ln_zero[0];
                zeros = [0, 1].map(|fewer| zeros[fewer] + ln_zero[fewer] - ln_both[fewer]);
            }
        } else {
            for ((joining, at_home), &ones) in joining.iter_mut().zip(at_home).zip(ones) {
                let (ln_one, ln_zero) = (self.ln_plus.two(ones), self.ln_minus.two(size - ones));
                *joining = ln_one[1] - ln_zero[1];
                *at_home = ln_one[0] - ln_zero[0];
                zeros = [0, 1].map(|fewer| zeros[fewer] + ln_zero[fewer]);
            }
            let ln_both = self.ln_both.two(size);
            zeros = [0, 1].map(|fewer| zeros[fewer] - d as f64 * ln_both[fewer]);
        }
        stats.zeros[kept_row(slot, false)] = zeros[1];
        stats.zeros[kept_row(slot, true)] = zeros[0];
    }

    /// [`Model::gains`] of a single narrow row without missing cells, all columns of which are so many bytes.
    #[inline(never)]
    fn gains_of_narrow<const BYTES: usize>(
        &self,
        stats: &Cells,
        word: u64,
        home: Option<Slot>,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        let masks: [_; BYTES] = std::array::from_fn(|at| &MASKS[(word >> (8 * at)) as usize % 256]);
        for (&slot, gain) in slots.iter().zip(gains) {
            let row = kept_row(slot.index(), home == Some(slot));
            let contrast = &stats.contrast.as_chunks::<8>().0[row * BYTES..][..BYTES];
            let mut sums = [0.0; 4];
            for (contrast, masks) in contrast.iter().zip(masks) {
                for at in 0..8 {
                    sums[at % 4] += f64::from_bits(contrast[at].to_bits() & masks[at]);
                }
            }
            *gain = stats.zeros[row] + ((sums[0] + sums[1]) + (sums[2] + sums[3]));
        }
    }

    /// [`Model::gains`] of a single row, by the kept gains.
    #[inline(never)]
    fn gains_of_one(
        &self,
        stats: &Cells,
        load: &RowLoad,
        home: Option<Slot>,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        for (slot, gain) in slots.iter().zip(gains) {
            *gain = self.gain_of_one(stats, load, home == Some(*slot), slot.index());
        }
    }

    #[inline(always)]
    fn gain_of_one(&self, stats: &Cells, load: &RowLoad, at_home: bool, slot: usize) -> f64 {
        let row = kept_row(slot, at_home);
        let contrast = &stats.contrast[row * self.stride()..][..self.d];
        let mut sum = stats.zeros[row];
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
    #[inline(never)]
    fn gains_of_many(
        &self,
        stats: &Cells,
        load: &RowLoad,
        home: Option<Slot>,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        for (slot, gain) in slots.iter().zip(gains) {
            *gain = self.gain_of_many(stats, load, home == Some(*slot), slot.index());
        }
    }

    #[inline(always)]
    fn gain_of_many(&self, stats: &Cells, load: &RowLoad, at_home: bool, slot: usize) -> f64 {
        let new = |column: usize| load.ones.of(column, load.m);
        if !self.any_missing {
            let there = if at_home { load.m } else { 0 };
            let columns = stats.ones[self.columns(slot)].iter().enumerate().map(|(c, &ones)| {
                let new = new(c);
                let ones = if at_home { ones - new } else { ones };
                (u64::from(ones), u64::from(new))
            });
            let total = u64::from(stats.size[slot] - there);
            return self.coin.gain_of_all(total, load.m.into(), columns);
        }
        let column_gain = |column: usize| {
            let (mut ones, mut total) = self.counts(stats, slot, column);
            let (new, more) = (new(column), load.m - load.missing.of(column, load.m));
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
        let (d, narrow) = (self.d, self.narrow);
        RowLoad { m: 0, ones: ColumnCounts::new(d, narrow), missing: ColumnCounts::new(d, false) }
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
            stats.zeros.resize(kept_row(slot + 1, false), 0.0);
            stats.contrast.resize(kept_row(slot + 1, false) * self.stride(), 0.0);
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
        z: &Partition,
        slot: Slot,
        load: &mut RowLoad,
    ) {
        if let [_] = items {
            return self.weigh(items, z, load); // a single row is carried in another way
        }
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
        load.ones.add_to(&mut stats.ones[columns.clone()], load.m);
        if self.any_missing {
            load.missing.add_to(&mut stats.missing[columns], load.m);
        }
        self.refresh_slot(stats, slot.index());
    }

    fn sub(&self, stats: &mut Cells, load: &RowLoad, _z: &Partition, slot: Slot) {
        let columns = self.columns(slot.index());
        stats.size[slot.index()] -= load.m;
        load.ones.sub_from(&mut stats.ones[columns.clone()], load.m);
        if self.any_missing {
            load.missing.sub_from(&mut stats.missing[columns], load.m);
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
        match (load.m, self.narrow) {
            (1, true) if self.stride() == 8 => {
                self.gains_of_narrow::<1>(stats, load.ones.word, home, slots, gains);
            }
            (1, true) => self.gains_of_narrow::<2>(stats, load.ones.word, home, slots, gains),
            (1, false) => self.gains_of_one(stats, load, home, slots, gains),
            _ => self.gains_of_many(stats, load, home, slots, gains),
        }
        if cfg!(debug_assertions) && load.m == 1 {
            let mut plain = vec![0.0; gains.len()];
            self.gains_of_many(stats, load, home, slots, &mut plain);
            for (gain, plain) in gains.iter().zip(plain) {
                let error = (gain - plain).abs();
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
        let counts = self.d as u64 * (4 + 4 * u64::from(self.any_missing));
        blocks as u64 * (counts + 16 * self.stride() as u64 + 20)
    }
}
