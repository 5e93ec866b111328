//! The Beta-Bernoulli mixture: rows of a binary table, columns independent within a block.

use crate::data::BinaryTable;
use crate::error::Result;
use crate::model::Model;
use crate::partition::{Item, Partition, Slot};
use crate::prior::positive;
use crate::special::BetaBernoulli;

/// log p(A | z) = Σ_k Σ_i ln B(N⁺_ik + β⁺, N⁻_ik + β⁻) / B(β⁺, β⁻).
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
    coin: BetaBernoulli,
    beta: (f64, f64),
}

/// N⁺: how many ones each block has in each column, one row a slot.
#[derive(Debug)]
pub struct Ones(Vec<u32>);

impl Clone for Ones {
    fn clone(&self) -> Self {
        Ones(self.0.clone())
    }
    fn clone_from(&mut self, source: &Self) {
        self.0.clone_from(&source.0);
    }
}

/// What a set of rows carries: how many they are, and their ones in each column.
#[derive(Debug)]
pub struct RowLoad {
    m: u32,
    ones: Vec<u32>,
}

impl Bernoulli {
    /// The mixture over the rows of a table.
    pub fn new(table: BinaryTable, beta_plus: f64, beta_minus: f64) -> Result<Self> {
        positive("beta⁺", beta_plus)?;
        positive("beta⁻", beta_minus)?;
        Ok(Bernoulli {
            coin: BetaBernoulli::new(beta_plus, beta_minus, table.n() as u64),
            beta: (beta_plus, beta_minus),
            table,
        })
    }

    /// The data.
    pub fn table(&self) -> &BinaryTable {
        &self.table
    }
}

impl Model for Bernoulli {
    const NAME: &'static str = "bernoulli";
    type Stats = Ones;
    type Load = RowLoad;

    fn n(&self) -> usize {
        self.table.n()
    }

    fn empty_stats(&self) -> Ones {
        Ones(Vec::new())
    }

    fn empty_load(&self) -> RowLoad {
        RowLoad { m: 0, ones: vec![0; self.table.d()] }
    }

    fn grow(&self, stats: &mut Ones, slots: usize) {
        stats.0.resize(slots * self.table.d(), 0);
    }

    fn weigh(&self, items: &[Item], _z: &Partition, load: &mut RowLoad) {
        load.m = items.len() as u32;
        load.ones.fill(0);
        for item in items {
            for (sum, &cell) in load.ones.iter_mut().zip(self.table.row(item.index())) {
                *sum += u32::from(cell);
            }
        }
    }

    fn add(&self, stats: &mut Ones, load: &RowLoad, slot: Slot) {
        let d = self.table.d();
        for (sum, &ones) in stats.0[slot.index() * d..][..d].iter_mut().zip(&load.ones) {
            *sum += ones;
        }
    }

    fn sub(&self, stats: &mut Ones, load: &RowLoad, slot: Slot) {
        let d = self.table.d();
        for (sum, &ones) in stats.0[slot.index() * d..][..d].iter_mut().zip(&load.ones) {
            *sum -= ones;
        }
    }

    fn gains(
        &self,
        stats: &Ones,
        load: &RowLoad,
        z: &Partition,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        let d = self.table.d();
        for (&slot, gain) in slots.iter().zip(gains) {
            let rows = u64::from(z.size(slot));
            let more = rows + u64::from(load.m);
            let block = &stats.0[slot.index() * d..][..d];
            *gain = (block.iter().zip(&load.ones))
                .map(|(&ones, &new)| {
                    let ones = u64::from(ones);
                    self.coin.ln_evidence(ones + u64::from(new), more)
                        - self.coin.ln_evidence(ones, rows)
                })
                .sum();
        }
    }

    fn ln_evidence(&self, stats: &Ones, z: &Partition) -> f64 {
        let d = self.table.d();
        (z.live().iter())
            .map(|&slot| {
                let rows = u64::from(z.size(slot));
                let block = &stats.0[slot.index() * d..][..d];
                (block.iter())
                    .map(|&ones| self.coin.ln_evidence(u64::from(ones), rows))
                    .sum::<f64>()
            })
            .sum()
    }

    fn ln_evidence_naive(&self, labels: &[u32]) -> f64 {
        let ln_beta = |a, b| libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
        let mut sum = 0.0;
        for block in 0..=labels.iter().copied().max().unwrap_or(0) {
            let members: Vec<usize> = (0..self.n()).filter(|&i| labels[i] == block).collect();
            for column in 0..self.table.d() {
                let ones: f64 = members.iter().map(|&i| f64::from(self.table.row(i)[column])).sum();
                let zeros = members.len() as f64 - ones;
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
        Bernoulli::new(table, 0.8, 1.7).expect("an example is valid")
    }

    fn simulate(&self, labels: &[u32], uniform: &mut dyn FnMut() -> f64) -> Self {
        // Row after row from the predictive distribution given the earlier rows of its block.
        let d = self.table.d();
        let mut cells = vec![0u8; self.n() * d];
        for row in 0..self.n() {
            let earlier: Vec<usize> = (0..row).filter(|&r| labels[r] == labels[row]).collect();
            for column in 0..d {
                let ones: f64 = earlier.iter().map(|&r| f64::from(cells[r * d + column])).sum();
                let p = (ones + self.beta.0) / (earlier.len() as f64 + self.beta.0 + self.beta.1);
                cells[row * d + column] = u8::from(uniform() < p);
            }
        }
        Bernoulli {
            table: BinaryTable::new(self.n(), d, cells).expect("zeros and ones"),
            coin: self.coin.clone(),
            beta: self.beta,
        }
    }

    fn stats_bytes(&self, blocks: usize) -> u64 {
        4 * blocks as u64 * self.table.d() as u64
    }
}
