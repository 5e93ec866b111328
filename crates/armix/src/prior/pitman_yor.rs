//! The Pitman-Yor process: a restaurant that opens ever more tables, as a power of the number of guests.

use super::{PartitionPrior, positive};
use crate::error::{Error, Result};
use crate::hyper::{Hyper, HyperPrior};
use crate::partition::Partition;
use crate::rng::Rng;
use crate::special::{LnRising, LnTable, ln_gamma, ln_gamma_drop};

/// Pitman-Yor(d, α): p(z) = Γ(α)/Γ(α + n) · ∏_{i<K} (α + i d) · ∏ Γ(|B_k| − d) / Γ(1 − d), with 0 ≤ d < 1 and
/// α > 0. With d = 0 it is CRP(α).
///
/// ```
/// use armix::{partition::Partition, prior::{PartitionPrior, PitmanYor}};
/// let prior = PitmanYor::new(0.5, 1.0, 2).unwrap();
/// let together = prior.ln_p(&Partition::from_labels(&[0, 0]));
/// assert!((together.exp() - 0.25).abs() < 1e-15); // (1 − d) / (1 + α)
/// ```
#[derive(Debug, Clone)]
pub struct PitmanYor {
    n: usize,
    discount: f64,
    alpha: f64,
    /// ln [Γ(size − d) / Γ(1 − d)] is entry size − 1.
    ln_rising: LnRising,
    /// ln(size − d), which is what a single item adds.
    ln_size: LnTable,
}

impl PitmanYor {
    /// The prior for n items.
    pub fn new(discount: f64, alpha: f64, n: usize) -> Result<Self> {
        positive("alpha", alpha)?;
        if !(0.0..=0.999).contains(&discount) {
            return Err(Error::new(format!(
                "discount = {discount} is not possible: it must be a number from 0 to 0.999, such as 0.25"
            )));
        }
        Ok(PitmanYor::of(discount, alpha, n))
    }

    fn of(discount: f64, alpha: f64, n: usize) -> Self {
        PitmanYor {
            n,
            discount,
            alpha,
            ln_rising: LnRising::new(1.0 - discount, n as u64),
            ln_size: LnTable::new(-discount, n as u64),
        }
    }

    /// The discount d.
    pub fn discount(&self) -> f64 {
        self.discount
    }

    pub(super) fn with_hypers(&self, values: &[f64]) -> Self {
        PitmanYor::of(values[1], values[0], self.n)
    }

    pub(super) fn for_items(&self, n: usize) -> Self {
        PitmanYor::of(self.discount, self.alpha, n)
    }

    /// ln [V(blocks + 1) / V(blocks)].
    fn ln_new(&self, blocks: usize) -> f64 {
        libm::log(self.alpha + self.discount * blocks as f64)
    }
}

impl PartitionPrior for PitmanYor {
    #[inline]
    fn gain(&self, size: u32, m: u32, blocks: usize) -> f64 {
        let grown = self.ln_rising.at(u64::from(size) + u64::from(m) - 1);
        match size {
            0 => self.ln_new(blocks) + grown,
            _ => grown - self.ln_rising.at(u64::from(size) - 1),
        }
    }

    #[inline]
    fn gain_of_one(&self, size: u32, blocks: usize) -> f64 {
        if size == 0 { self.ln_new(blocks) } else { self.ln_size.at(size) }
    }

    fn ln_p(&self, z: &Partition) -> f64 {
        let mut placed = 0;
        let mut sum = 0.0;
        for (blocks, &slot) in z.live().iter().enumerate() {
            placed += u64::from(z.size(slot));
            sum += self.gain(0, z.size(slot), blocks);
        }
        sum + ln_gamma_drop(self.alpha, placed as f64)
    }

    fn hypers(&self) -> Vec<Hyper> {
        let uniform = HyperPrior::Beta { a: 1.0, b: 1.0 };
        vec![
            Hyper::new("alpha", self.alpha, HyperPrior::UNIT_GAMMA),
            Hyper::new("discount", self.discount, uniform),
        ]
    }

    fn ln_p_with(&self, values: &[f64], z: &Partition) -> f64 {
        let (alpha, discount) = (values[0], values[1]);
        let (mut placed, mut sum) = (0, 0.0);
        for (blocks, &slot) in z.live().iter().enumerate() {
            placed += u64::from(z.size(slot));
            sum += libm::log(alpha + discount * blocks as f64);
            sum -= ln_gamma_drop(1.0 - discount, f64::from(z.size(slot) - 1));
        }
        sum + ln_gamma_drop(alpha, placed as f64)
    }

    /// A guest sits at a new table, or with a random earlier guest; but that one sends him to a new table,
    /// too, with probability d / guests at the table. So d for each of K tables is taken from their guests.
    fn draw(&self, rng: &mut Rng) -> Vec<u32> {
        let mut labels: Vec<u32> = Vec::with_capacity(self.n);
        let mut guests: Vec<u32> = Vec::new();
        for earlier in 0..self.n as u64 {
            let alone = earlier == 0 || rng.uniform() * (earlier as f64 + self.alpha) < self.alpha;
            let fellow = if alone { None } else { Some(labels[rng.below(earlier) as usize]) };
            let stays =
                |table: &u32| rng.uniform() * f64::from(guests[*table as usize]) >= self.discount;
            let table = fellow.filter(stays).unwrap_or(guests.len() as u32);
            if table as usize == guests.len() {
                guests.push(0);
            }
            guests[table as usize] += 1;
            labels.push(table);
        }
        labels
    }

    fn expected_blocks(&self) -> usize {
        let (n, d, alpha) = (self.n as f64, self.discount, self.alpha);
        if d < 1e-3 {
            return (alpha * libm::log1p(n / alpha)) as usize + 1;
        }
        let ln_grown = ln_gamma(alpha + d + n) - ln_gamma(alpha + d) + ln_gamma_drop(alpha, n);
        ((alpha / d * libm::expm1(ln_grown)).min(n)) as usize + 1
    }
}
