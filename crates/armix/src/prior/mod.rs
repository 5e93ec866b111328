//! Priors over partitions: one file each behind one small interface.
//!
//! All of them are of Gibbs type: p(z) = V(K) · ∏ W(|B|) over the K blocks B, where V depends on the
//! number n of items, too. So m items that join a block of s items change ln p by ln W(s + m) − ln W(s), and m
//! items that begin a block by ln W(m) + ln V(K + 1) − ln V(K): all that a prior needs to know is the size of
//! the block and the number of blocks. A prior that forbids something has V(K) = 0 there, a gain of −∞.
//!
//! V is always that of all n items, also while some of them are placed nowhere. Where one item
//! is out, as in a Gibbs scan, its gains are then the exact differences of ln p, up to what all places have in
//! common. Where more are out, as during a proposal, they are just some weights that both directions
//! share, which is all that the acceptance rule needs.

mod crp;
mod mfm;
mod pitman_yor;

pub use crp::Crp;
pub use mfm::{Components, Mfm};
pub use pitman_yor::PitmanYor;

use crate::error::{Error, Result};
use crate::hyper::{Hyper, SENSIBLE};
use crate::partition::{Partition, Slot};
use crate::rng::Rng;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What every prior tells.
pub trait PartitionPrior: fmt::Debug + Send + Sync {
    /// What ln p grows by, up to what all slots have in common, when m items join a block of `size` items
    /// of a partition into so many blocks; `size` 0 is one block more.
    fn gain(&self, size: u32, m: u32, blocks: usize) -> f64;

    /// The same for one item.
    #[inline]
    fn gain_of_one(&self, size: u32, blocks: usize) -> f64 {
        self.gain(size, 1, blocks)
    }

    /// ln p of a partition.
    fn ln_p(&self, z: &Partition) -> f64;

    /// The hyper-parameters, in a fixed order.
    fn hypers(&self) -> Vec<Hyper>;

    /// ln p with other hyper-parameters, without building tables.
    fn ln_p_with(&self, values: &[f64], z: &Partition) -> f64;

    /// The labels of a draw, by the rule that items follow one after another.
    fn draw(&self, rng: &mut Rng) -> Vec<u32>;

    /// About how many blocks a draw has.
    fn expected_blocks(&self) -> usize;
}

/// A prior over the partitions of n items.
#[derive(Debug, Clone)]
pub enum Prior {
    /// The Chinese restaurant process.
    Crp(Crp),
    /// The Pitman-Yor process.
    PitmanYor(PitmanYor),
    /// A mixture of finite mixtures.
    Mfm(Mfm),
}

impl From<Crp> for Prior {
    fn from(crp: Crp) -> Self {
        Prior::Crp(crp)
    }
}

impl Prior {
    /// What it tells.
    pub fn rules(&self) -> &dyn PartitionPrior {
        match self {
            Prior::Crp(prior) => prior,
            Prior::PitmanYor(prior) => prior,
            Prior::Mfm(prior) => prior,
        }
    }

    /// Adds the gain of m items to each of these slots. z does not contain them.
    #[inline(always)]
    pub fn add_gains(&self, m: u32, z: &Partition, slots: &[Slot], gains: &mut [f64]) {
        match self {
            Prior::Crp(prior) if m == 1 => prior.add_gains_of_one(z, slots, gains),
            _ => self.add_any_gains(m, z, slots, gains),
        }
    }

    #[inline(never)]
    fn add_any_gains(&self, m: u32, z: &Partition, slots: &[Slot], gains: &mut [f64]) {
        match self {
            Prior::Crp(prior) => add_gains(prior, m, z, slots, gains),
            Prior::PitmanYor(prior) => add_gains(prior, m, z, slots, gains),
            Prior::Mfm(prior) => add_gains(prior, m, z, slots, gains),
        }
    }

    /// ln p of a partition; see [`PartitionPrior::ln_p`].
    #[inline]
    pub fn ln_p(&self, z: &Partition) -> f64 {
        match self {
            Prior::Crp(prior) => prior.ln_p(z),
            other => other.rules().ln_p(z),
        }
    }

    /// The same kind of prior with other hyper-parameters, in the order of [`PartitionPrior::hypers`].
    pub fn with_hypers(&self, values: &[f64]) -> Self {
        match self {
            Prior::Crp(prior) => Prior::Crp(prior.with_hypers(values)),
            Prior::PitmanYor(prior) => Prior::PitmanYor(prior.with_hypers(values)),
            Prior::Mfm(prior) => Prior::Mfm(prior.with_hypers(values)),
        }
    }

    /// The same prior for another number of items.
    pub fn for_items(&self, n: usize) -> Self {
        match self {
            Prior::Crp(prior) => Prior::Crp(prior.for_items(n)),
            Prior::PitmanYor(prior) => Prior::PitmanYor(prior.for_items(n)),
            Prior::Mfm(prior) => Prior::Mfm(prior.for_items(n)),
        }
    }
}

#[inline(always)]
fn add_gains(
    prior: &impl PartitionPrior,
    m: u32,
    z: &Partition,
    slots: &[Slot],
    gains: &mut [f64],
) {
    let blocks = z.blocks();
    let grown = gains.iter_mut().zip(slots.iter().map(|&slot| z.size(slot)));
    match m {
        1 => grown.for_each(|(gain, size)| *gain += prior.gain_of_one(size, blocks)),
        m => grown.for_each(|(gain, size)| *gain += prior.gain(size, m, blocks)),
    }
}

/// Which prior, with all that chooses it besides α.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PriorChoice {
    /// CRP(α).
    #[default]
    Crp,
    /// Pitman-Yor(d, α).
    PitmanYor {
        /// d.
        discount: f64,
    },
    /// A mixture of finite mixtures, which has no α.
    Mfm {
        /// γ, the parameter of the Dirichlet distribution of the weights.
        gamma: f64,
        /// The prior of the number of components.
        components: Components,
    },
}

impl PriorChoice {
    /// The name in options and results.
    pub fn name(&self) -> &'static str {
        match self {
            PriorChoice::Crp => "crp",
            PriorChoice::PitmanYor { .. } => "pitman-yor",
            PriorChoice::Mfm { .. } => "mfm",
        }
    }

    /// Whether it is the default.
    pub fn is_crp(&self) -> bool {
        *self == PriorChoice::Crp
    }

    /// The prior for n items.
    pub fn build(&self, alpha: f64, n: usize) -> Result<Prior> {
        Ok(match *self {
            PriorChoice::Crp => Prior::Crp(Crp::new(alpha, n)?),
            PriorChoice::PitmanYor { discount } => {
                Prior::PitmanYor(PitmanYor::new(discount, alpha, n)?)
            }
            PriorChoice::Mfm { gamma, components } => Prior::Mfm(Mfm::new(gamma, components, n)?),
        })
    }

    /// The prior in a formula, for people.
    pub fn describe(&self, alpha: f64) -> String {
        match self {
            PriorChoice::Crp => format!("CRP({alpha})"),
            PriorChoice::PitmanYor { discount } => format!("Pitman-Yor({discount}, {alpha})"),
            PriorChoice::Mfm { gamma, components } => {
                format!("mixture of finite mixtures, γ = {gamma}, components {components}")
            }
        }
    }
}

/// Checks a hyper-parameter that must be positive.
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
