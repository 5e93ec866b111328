//! The Chinese restaurant process: the prior over partitions.

use crate::error::{Error, Result};
use crate::hyper::SENSIBLE;
use crate::partition::Partition;
use crate::special::{LnRising, LnTable, ln_gamma_drop};

/// CRP(α): p(z) = Γ(α) α^K / Γ(α + n) · ∏ Γ(|B_k|).
///
/// ```
/// use armix::{partition::Partition, prior::Crp};
/// let crp = Crp::new(1.0, 2).unwrap();
/// let together = crp.ln_p(&Partition::from_labels(&[0, 0]));
/// assert!((together.exp() - 0.5).abs() < 1e-15);
/// ```
#[derive(Debug, Clone)]
pub struct Crp {
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
        let n = n as u64;
        Ok(Crp {
            alpha,
            ln_alpha: libm::log(alpha),
            ln_factorial: LnRising::new(1.0, n),
            ln_size: LnTable::new(0.0, n).with_first(libm::log(alpha)),
        })
    }

    /// The concentration α.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// What ln p grows by when m items join a block of `size` items; `size` 0 is a new block.
    #[inline]
    pub fn gain(&self, size: u32, m: u32) -> f64 {
        if m == 1 {
            return self.gain_of_one(size);
        }
        // Γ(size) = (size − 1)!
        let grown = self.ln_factorial.at(u64::from(size) + u64::from(m) - 1);
        match size {
            0 => self.ln_alpha + grown,
            _ => grown - self.ln_factorial.at(u64::from(size) - 1),
        }
    }

    /// What ln p grows by when one item joins a block of `size` items; `size` 0 is a new block.
    #[inline]
    pub fn gain_of_one(&self, size: u32) -> f64 {
        self.ln_size.at(size)
    }

    /// ln p of the placed items.
    pub fn ln_p(&self, z: &Partition) -> f64 {
        let mut placed = 0;
        let mut sum = 0.0;
        for &slot in z.live() {
            placed += u64::from(z.size(slot));
            sum += self.gain(0, z.size(slot));
        }
        sum + ln_gamma_drop(self.alpha, placed as f64)
    }
}

/// Checks a hyper-parameter: every one of them is a positive real.
pub(crate) fn positive(name: &str, value: f64) -> Result<()> {
    if SENSIBLE.contains(&value) {
        return Ok(());
    }
    let problem = if value > 0.0 { "out of range" } else { "not possible" };
    Err(Error::new(format!(
        "{name} = {value} is {problem}: it must be a positive number from {:e} to {:e}, such as 1",
        SENSIBLE.start(),
        SENSIBLE.end()
    )))
}
