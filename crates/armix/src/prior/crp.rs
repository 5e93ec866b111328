//! The Chinese restaurant process.

use super::{PartitionPrior, positive};
use crate::error::Result;
use crate::hyper::{Hyper, HyperPrior};
use crate::partition::{Partition, Slot};
use crate::rng::Rng;
use crate::special::{LnRising, LnTable, ln_gamma_drop};

/// CRP(α): p(z) = Γ(α) α^K / Γ(α + n) · ∏ Γ(|B_k|).
///
/// ```
/// use armix::{partition::Partition, prior::{Crp, PartitionPrior}};
/// let crp = Crp::new(1.0, 2).unwrap();
/// let together = crp.ln_p(&Partition::from_labels(&[0, 0]));
/// assert!((together.exp() - 0.5).abs() < 1e-15);
/// ```
#[derive(Debug, Clone)]
pub struct Crp {
    n: usize,
    alpha: f64,
    ln_alpha: f64,
    /// lnΓ(size) is entry size − 1.
    ln_factorial: LnRising,
    /// ln(size), which is what a single item adds; ln α for a new block, of size 0.
    ln_size: LnTable,
}

impl Crp {
    /// The prior for n items.
    pub fn new(alpha: f64, n: usize) -> Result<Self> {
        positive("alpha", alpha)?;
        let ln_alpha = libm::log(alpha);
        Ok(Crp {
            n,
            alpha,
            ln_alpha,
            ln_factorial: LnRising::new(1.0, n as u64),
            ln_size: LnTable::new(0.0, n as u64).with_first(ln_alpha),
        })
    }

    /// The concentration α.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Adds what one item adds to each of these slots: the default prior, asked so often that it is asked at once.
    #[inline(always)]
    pub(super) fn add_gains_of_one(&self, z: &Partition, slots: &[Slot], gains: &mut [f64]) {
        // Taken out of the loop by hand: compilers do not see that gains are elsewhere.
        let (ln_size, sizes) = (self.ln_size.known(), z.sizes());
        for (&slot, gain) in slots.iter().zip(&mut gains[..slots.len()]) {
            let size = sizes[slot.index()];
            *gain += match ln_size.get(size as usize) {
                Some(ln_size) => *ln_size,
                None => self.ln_size.at(size),
            };
        }
    }

    pub(super) fn with_hypers(&self, values: &[f64]) -> Self {
        // The tables are the same but for one entry.
        let (alpha, ln_alpha) = (values[0], libm::log(values[0]));
        let ln_size = self.ln_size.clone().with_first(ln_alpha);
        Crp { alpha, ln_alpha, ln_size, ln_factorial: self.ln_factorial.clone(), n: self.n }
    }

    pub(super) fn for_items(&self, n: usize) -> Self {
        Crp::new(self.alpha, n).expect("the same α")
    }
}

impl PartitionPrior for Crp {
    #[inline]
    fn gain(&self, size: u32, m: u32, blocks: usize) -> f64 {
        if m == 1 {
            return self.gain_of_one(size, blocks);
        }
        // Γ(size) = (size − 1)!
        let grown = self.ln_factorial.at(u64::from(size) + u64::from(m) - 1);
        match size {
            0 => self.ln_alpha + grown,
            _ => grown - self.ln_factorial.at(u64::from(size) - 1),
        }
    }

    #[inline]
    fn gain_of_one(&self, size: u32, _blocks: usize) -> f64 {
        self.ln_size.at(size)
    }

    fn ln_p(&self, z: &Partition) -> f64 {
        let mut placed = 0;
        let mut sum = 0.0;
        for &slot in z.live() {
            placed += u64::from(z.size(slot));
            sum += self.gain(0, z.size(slot), 0);
        }
        sum + ln_gamma_drop(self.alpha, placed as f64)
    }

    fn hypers(&self) -> Vec<Hyper> {
        vec![Hyper::new("alpha", self.alpha, HyperPrior::UNIT_GAMMA)]
    }

    fn ln_p_with(&self, values: &[f64], z: &Partition) -> f64 {
        let alpha = values[0];
        let sizes = z.live().iter().map(|&slot| u64::from(z.size(slot)));
        let factorials: f64 = sizes.clone().map(|size| self.ln_factorial.at(size - 1)).sum();
        let placed = sizes.sum::<u64>() as f64;
        z.blocks() as f64 * libm::log(alpha) + ln_gamma_drop(alpha, placed) + factorials
    }

    /// The restaurant itself: a guest sits with a random earlier guest, or at a new table.
    fn draw(&self, rng: &mut Rng) -> Vec<u32> {
        let mut labels: Vec<u32> = Vec::with_capacity(self.n);
        let mut tables = 0;
        for earlier in 0..self.n as u64 {
            let new = rng.uniform() * (earlier as f64 + self.alpha) < self.alpha;
            if new || earlier == 0 {
                labels.push(tables);
                tables += 1;
            } else {
                labels.push(labels[rng.below(earlier) as usize]);
            }
        }
        labels
    }

    fn expected_blocks(&self) -> usize {
        (self.alpha * libm::log1p(self.n as f64 / self.alpha)) as usize + 1
    }
}
