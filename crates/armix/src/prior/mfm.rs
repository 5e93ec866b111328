//! A mixture of finite mixtures (Miller and Harrison 2018): a number of components with a prior of its own,
//! weights from a symmetric Dirichlet distribution, and a component for each item.

use super::{PartitionPrior, positive};
use crate::error::{Error, Result};
use crate::hyper::{Hyper, HyperPrior};
use crate::partition::Partition;
use crate::rng::Rng;
use crate::special::{LnRising, LnTable, ln_gamma, ln_gamma_drop};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

/// The prior of the number of components, 1, 2, 3, …
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Components {
    /// p(k) = p (1 − p)^{k−1}, with mean 1/p.
    Geometric(f64),
    /// k − 1 is Poisson with this mean.
    Poisson(f64),
}

impl Default for Components {
    /// As in Miller and Harrison's examples: ten on average.
    fn default() -> Self {
        Components::Geometric(0.1)
    }
}

impl Components {
    fn check(&self) -> Result<()> {
        let (name, value, low, high) = match *self {
            Components::Geometric(p) => ("geometric", p, 0.001, 0.999),
            Components::Poisson(mean) => ("poisson", mean, 0.001, 1000.0),
        };
        match (low..=high).contains(&value) {
            true => Ok(()),
            false => Err(Error::new(format!(
                "components {name}:{value} is not possible: the number must be from {low} to {high}"
            ))),
        }
    }

    fn ln_p(&self, k: f64) -> f64 {
        match *self {
            Components::Geometric(p) => libm::log(p) + (k - 1.0) * libm::log1p(-p),
            Components::Poisson(mean) => (k - 1.0) * libm::log(mean) - mean - ln_gamma(k),
        }
    }

    fn mean(&self) -> f64 {
        match *self {
            Components::Geometric(p) => 1.0 / p,
            Components::Poisson(mean) => 1.0 + mean,
        }
    }

    /// A draw, by adding up probabilities.
    fn draw(&self, rng: &mut Rng) -> u64 {
        let mut left = rng.uniform();
        let mut k = 1;
        loop {
            let p = libm::exp(self.ln_p(k as f64));
            left -= p;
            // Rounding may leave a little of one in the far tail, where nothing is added any more.
            if left < 0.0 || (p < 1e-18 && k as f64 > self.mean()) {
                return k;
            }
            k += 1;
        }
    }
}

impl FromStr for Components {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let components = match text.split_once(':').map(|(kind, v)| (kind, v.trim().parse())) {
            Some(("geometric", Ok(p))) => Components::Geometric(p),
            Some(("poisson", Ok(mean))) => Components::Poisson(mean),
            _ => {
                return Err(Error::new(format!(
                    "components '{text}': write geometric:P, as in geometric:0.1, or poisson:MEAN, as in poisson:1"
                )));
            }
        };
        components.check().map(|()| components)
    }
}

impl fmt::Display for Components {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Components::Geometric(p) => write!(f, "geometric:{p}"),
            Components::Poisson(mean) => write!(f, "poisson:{mean}"),
        }
    }
}

/// p(z) = V(K) · ∏ Γ(γ + |B_k|) / Γ(γ), with V(t) = Σ_{k ≥ t} p(k) · k!/(k − t)! · Γ(γk)/Γ(γk + n).
///
/// ```
/// use armix::{partition::Partition, prior::{Components, Mfm, PartitionPrior}};
/// let prior = Mfm::new(1.0, Components::Poisson(1.0), 3).unwrap();
/// let p = |labels: &[u32]| prior.ln_p(&Partition::from_labels(labels)).exp();
/// let total = p(&[0, 0, 0]) + 3.0 * p(&[0, 0, 1]) + p(&[0, 1, 2]);
/// assert!((total - 1.0).abs() < 1e-14);
/// ```
#[derive(Debug, Clone)]
pub struct Mfm {
    n: usize,
    gamma: f64,
    components: Components,
    /// ln [Γ(γ + size) / Γ(γ)].
    ln_rising: LnRising,
    /// ln(γ + size), which is what a single item adds.
    ln_size: LnTable,
    /// ln V(t) of those t that were asked for: they take long, and few are needed.
    ln_v: Vec<OnceLock<f64>>,
}

impl Mfm {
    /// The prior for n items.
    pub fn new(gamma: f64, components: Components, n: usize) -> Result<Self> {
        positive("gamma", gamma)?;
        components.check()?;
        Ok(Mfm::of(gamma, components, n))
    }

    fn of(gamma: f64, components: Components, n: usize) -> Self {
        Mfm {
            n,
            gamma,
            components,
            ln_rising: LnRising::new(gamma, n as u64),
            ln_size: LnTable::new(gamma, n as u64),
            ln_v: vec![OnceLock::new(); n + 2],
        }
    }

    pub(super) fn with_hypers(&self, values: &[f64]) -> Self {
        Mfm::of(values[0], self.components, self.n)
    }

    pub(super) fn for_items(&self, n: usize) -> Self {
        Mfm::of(self.gamma, self.components, n)
    }

    fn ln_v(&self, blocks: usize) -> f64 {
        *self.ln_v[blocks].get_or_init(|| ln_v(self.gamma, self.n, blocks, &self.components))
    }

    #[inline]
    fn ln_new(&self, blocks: usize) -> f64 {
        self.ln_v(blocks + 1) - self.ln_v(blocks)
    }
}

/// Terms that are smaller by this factor (its logarithm) than the largest do not matter.
const NEGLIGIBLE: f64 = 45.0;

/// ln V(t). The terms rise to one peak and fall on both sides of it; the sum begins there.
fn ln_v(gamma: f64, n: usize, t: usize, components: &Components) -> f64 {
    let first = t.max(1) as u64;
    let ln_term = |k: u64| {
        let (k, t) = (k as f64, t as f64);
        ln_gamma(k + 1.0) - ln_gamma(k - t + 1.0)
            + ln_gamma_drop(gamma * k, n as f64)
            + components.ln_p(k)
    };
    let falls = |k: u64| ln_term(k + 1) <= ln_term(k);
    // The peak: the first k from which on terms fall.
    let (mut low, mut high) = (first, first);
    while !falls(high) {
        low = high + 1;
        high *= 2;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if falls(middle) { high = middle } else { low = middle + 1 }
    }
    let largest = ln_term(low);
    let share = |k: u64| Some(ln_term(k) - largest).filter(|&ln| ln > -NEGLIGIBLE).map(libm::exp);
    let up = (low + 1..).map_while(share).sum::<f64>();
    let down = (first..low).rev().map_while(share).sum::<f64>();
    largest + libm::log(1.0 + (up + down))
}

impl PartitionPrior for Mfm {
    #[inline]
    fn gain(&self, size: u32, m: u32, blocks: usize) -> f64 {
        let grown = self.ln_rising.at(u64::from(size) + u64::from(m));
        match size {
            0 => self.ln_new(blocks) + grown,
            _ => grown - self.ln_rising.at(u64::from(size)),
        }
    }

    #[inline]
    fn gain_of_one(&self, size: u32, blocks: usize) -> f64 {
        let grown = self.ln_size.at(size);
        if size == 0 { self.ln_new(blocks) + grown } else { grown }
    }

    fn ln_p(&self, z: &Partition) -> f64 {
        let sizes = z.live().iter().map(|&slot| u64::from(z.size(slot)));
        self.ln_v(z.blocks()) + sizes.map(|size| self.ln_rising.at(size)).sum::<f64>()
    }

    fn hypers(&self) -> Vec<Hyper> {
        vec![Hyper::new("gamma", self.gamma, HyperPrior::UNIT_GAMMA)]
    }

    fn ln_p_with(&self, values: &[f64], z: &Partition) -> f64 {
        let gamma = values[0];
        let sizes = z.live().iter().map(|&slot| f64::from(z.size(slot)));
        let rising: f64 = sizes.map(|size| -ln_gamma_drop(gamma, size)).sum();
        ln_v(gamma, self.n, z.blocks(), &self.components) + rising
    }

    /// After their number is drawn, an item takes the component of a random earlier item, or any of them:
    /// the latter with the weight of γ items for each.
    fn draw(&self, rng: &mut Rng) -> Vec<u32> {
        let count = self.components.draw(rng);
        let fresh = self.gamma * count as f64;
        let mut labels: Vec<u32> = Vec::with_capacity(self.n);
        for earlier in 0..self.n as u64 {
            let any = earlier == 0 || rng.uniform() * (earlier as f64 + fresh) < fresh;
            labels.push(match any {
                true => rng.below(count) as u32,
                false => labels[rng.below(earlier) as usize],
            });
        }
        labels
    }

    fn expected_blocks(&self) -> usize {
        (self.components.mean() as usize).min(self.n) + 1
    }
}
