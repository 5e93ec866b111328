//! The Beta-Bernoulli mixture: rows of a binary table, columns independent within a block.

use crate::data::{BinaryTable, MISSING};
use crate::error::Result;
use crate::model::Model;
use crate::partition::{Item, Partition, Slot};
use crate::prior::positive;
use crate::special::BetaBernoulli;

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
    table: BinaryTable,
    has_missing: bool,
    coin: BetaBernoulli,
    beta: (f64, f64),
}

/// The statistics of the blocks, one row of columns a slot.
#[derive(Debug, Default)]
pub struct Cells {
    /// N⁺: how many ones.
    ones: Vec<u32>,
    /// How many cells are missing; stays empty if none is.
    missing: Vec<u32>,
}

impl Clone for Cells {
    fn clone(&self) -> Self {
        Cells { ones: self.ones.clone(), missing: self.missing.clone() }
    }
    fn clone_from(&mut self, source: &Self) {
        self.ones.clone_from(&source.ones);
        self.missing.clone_from(&source.missing);
    }
}

/// What a set of rows carries: how many they are, and their ones and missing cells in each column.
#[derive(Debug)]
pub struct RowLoad {
    m: u32,
    ones: Vec<u32>,
    /// Empty if no cell of the table is missing.
    missing: Vec<u32>,
}

impl Bernoulli {
    /// The mixture over the rows of a table.
    pub fn new(table: BinaryTable, beta_plus: f64, beta_minus: f64) -> Result<Self> {
        positive("beta⁺", beta_plus)?;
        positive("beta⁻", beta_minus)?;
        Ok(Bernoulli {
            coin: BetaBernoulli::new(beta_plus, beta_minus, table.n() as u64),
            beta: (beta_plus, beta_minus),
            has_missing: table.has_missing(),
            table,
        })
    }

    /// The data.
    pub fn table(&self) -> &BinaryTable {
        &self.table
    }

    /// [`Model::gains`], where `missing` tells the cells of a place in the statistics that are missing,
    /// and those of a column that C brings.
    #[inline]
    fn gains_without(
        &self,
        missing: &impl Fn(usize, usize) -> (u64, u64),
        stats: &Cells,
        load: &RowLoad,
        z: &Partition,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        let d = self.table.d();
        for (&slot, gain) in slots.iter().zip(gains) {
            let rows = u64::from(z.size(slot));
            let more = rows + u64::from(load.m);
            let first = slot.index() * d;
            let block = &stats.ones[first..][..d];
            *gain = (block.iter().zip(&load.ones).enumerate())
                .map(|(column, (&ones, &new))| {
                    let ones = u64::from(ones);
                    let (unseen, more_unseen) = missing(first + column, column);
                    self.coin.ln_evidence(ones + u64::from(new), more - unseen - more_unseen)
                        - self.coin.ln_evidence(ones, rows - unseen)
                })
                .sum();
        }
    }

    /// The ones and the observed cells of a block in a column.
    fn counts(&self, stats: &Cells, z: &Partition, slot: Slot, column: usize) -> (u64, u64) {
        let at = slot.index() * self.table.d() + column;
        let missing = stats.missing.get(at).copied().unwrap_or(0);
        (u64::from(stats.ones[at]), u64::from(z.size(slot)) - u64::from(missing))
    }
}

impl Model for Bernoulli {
    const NAME: &'static str = "bernoulli";
    type Stats = Cells;
    type Load = RowLoad;

    fn n(&self) -> usize {
        self.table.n()
    }

    fn empty_stats(&self) -> Cells {
        Cells::default()
    }

    fn empty_load(&self) -> RowLoad {
        let d = self.table.d();
        let missing = if self.has_missing { vec![0; d] } else { Vec::new() };
        RowLoad { m: 0, ones: vec![0; d], missing }
    }

    fn grow(&self, stats: &mut Cells, slots: usize) {
        stats.ones.resize(slots * self.table.d(), 0);
        if self.has_missing {
            stats.missing.resize(slots * self.table.d(), 0);
        }
    }

    fn weigh(&self, items: &[Item], _z: &Partition, load: &mut RowLoad) {
        load.m = items.len() as u32;
        load.ones.fill(0);
        load.missing.fill(0);
        for item in items {
            let row = self.table.row(item.index());
            // A missing cell is 2, so that its last bit adds nothing to the ones.
            for (sum, &cell) in load.ones.iter_mut().zip(row) {
                *sum += u32::from(cell & 1);
            }
            for (sum, &cell) in load.missing.iter_mut().zip(row) {
                *sum += u32::from(cell == MISSING);
            }
        }
    }

    fn add(&self, stats: &mut Cells, load: &RowLoad, slot: Slot) {
        let first = slot.index() * self.table.d();
        for (sums, loads) in [(&mut stats.ones, &load.ones), (&mut stats.missing, &load.missing)] {
            sums.iter_mut().skip(first).zip(loads).for_each(|(sum, &new)| *sum += new);
        }
    }

    fn sub(&self, stats: &mut Cells, load: &RowLoad, slot: Slot) {
        let first = slot.index() * self.table.d();
        for (sums, loads) in [(&mut stats.ones, &load.ones), (&mut stats.missing, &load.missing)] {
            sums.iter_mut().skip(first).zip(loads).for_each(|(sum, &new)| *sum -= new);
        }
    }

    fn gains(
        &self,
        stats: &Cells,
        load: &RowLoad,
        z: &Partition,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        if self.has_missing {
            let missing = |at: usize, column: usize| {
                (u64::from(stats.missing[at]), u64::from(load.missing[column]))
            };
            self.gains_without(&missing, stats, load, z, slots, gains);
        } else {
            self.gains_without(&|_, _| (0, 0), stats, load, z, slots, gains);
        }
    }

    fn ln_evidence(&self, stats: &Cells, z: &Partition) -> f64 {
        let of = |slot: Slot, column: usize| {
            let (ones, total) = self.counts(stats, z, slot, column);
            self.coin.ln_evidence(ones, total)
        };
        let block = |&slot: &Slot| (0..self.table.d()).map(|c| of(slot, c)).sum::<f64>();
        z.live().iter().map(block).sum()
    }

    fn predict(&self, stats: &Cells, z: &Partition, (row, column): (u32, u32)) -> f64 {
        let slot = z.slot_of(Item::new(row as usize));
        let (ones, total) = self.counts(stats, z, slot, column as usize);
        (ones as f64 + self.beta.0) / (total as f64 + self.beta.0 + self.beta.1)
    }

    fn ln_evidence_naive(&self, labels: &[u32]) -> f64 {
        let ln_beta = |a, b| libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
        let mut sum = 0.0;
        for block in 0..=labels.iter().copied().max().unwrap_or(0) {
            let members: Vec<usize> = (0..self.n()).filter(|&i| labels[i] == block).collect();
            for column in 0..self.table.d() {
                let count = |value: u8| {
                    members.iter().filter(|&&i| self.table.row(i)[column] == value).count() as f64
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
        let d = self.table.d();
        let mut cells = vec![0u8; self.n() * d];
        for row in 0..self.n() {
            let earlier: Vec<usize> = (0..row).filter(|&r| labels[r] == labels[row]).collect();
            for column in 0..d {
                if self.table.row(row)[column] == MISSING {
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
        Bernoulli {
            table: BinaryTable::new(self.n(), d, cells).expect("zeros and ones"),
            has_missing: self.has_missing,
            coin: self.coin.clone(),
            beta: self.beta,
        }
    }

    fn stats_bytes(&self, blocks: usize) -> u64 {
        4 * (1 + u64::from(self.has_missing)) * blocks as u64 * self.table.d() as u64
    }
}
