//! The Chinese restaurant process: the prior over partitions.

use crate::error::{Error, Result};
use crate::partition::Partition;
use crate::special::{LnGamma, ln_gamma};

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
    ln_gamma: LnGamma,
}

impl Crp {
    /// The prior for n items.
    pub fn new(alpha: f64, n: usize) -> Result<Self> {
        positive("alpha", alpha)?;
        Ok(Crp { alpha, ln_alpha: libm::log(alpha), ln_gamma: LnGamma::new(0.0, n as u64) })
    }

    /// The concentration α.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// What ln p grows by when m items join a block of `size` items; `size` 0 is a new block.
    #[inline]
    pub fn gain(&self, size: u32, m: u32) -> f64 {
        let grown = self.ln_gamma.at(u64::from(size) + u64::from(m));
        match size {
            0 => self.ln_alpha + grown,
            _ => grown - self.ln_gamma.at(u64::from(size)),
        }
    }

    /// ln p of the placed items.
    pub fn ln_p(&self, z: &Partition) -> f64 {
        let mut placed = 0;
        let mut sum = 0.0;
        for &slot in z.live() {
            placed += u64::from(z.size(slot));
            sum += self.gain(0, z.size(slot));
        }
        sum + ln_gamma(self.alpha) - ln_gamma(self.alpha + placed as f64)
    }
}

/// Checks a hyper-parameter: every one of them is a positive real.
pub(crate) fn positive(name: &str, value: f64) -> Result<()> {
    if value > 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(Error::new(format!(
            "{name} = {value} is not possible: it must be a positive number, such as 1"
        )))
    }
}
