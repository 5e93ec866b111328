//! Menus: the parameters that every item holds ready for the block that it may come to lead.

use super::likelihood::{Likelihood, Uniform};
use crate::partition::canonical;

/// Ranks, and m parameters for each item and column with their weights.
#[derive(Debug, Clone)]
pub struct Menus<P> {
    /// m.
    pub entries: usize,
    /// A permutation: of the items of a block the one with the least rank leads.
    pub rank: Vec<u32>,
    /// θ by item, column and entry.
    pub theta: Vec<P>,
    /// ln of H(θ) / (m G(θ)).
    pub ln_weight: Vec<f64>,
}

/// G, for one item and column: one half H, and one half equal shares of approximate posteriors.
pub struct Guide<'l, L: Likelihood> {
    likelihood: &'l L,
    column: usize,
    fits: [Option<&'l L::Fit>; 3],
}

impl<'l, L: Likelihood> Guide<'l, L> {
    /// H alone if there is no fit.
    pub fn new(likelihood: &'l L, column: usize, fits: [Option<&'l L::Fit>; 3]) -> Self {
        Guide { likelihood, column, fits }
    }

    fn fits(&self) -> impl Iterator<Item = &'l L::Fit> + Clone {
        self.fits.iter().copied().flatten()
    }

    /// Draws θ from G.
    pub fn draw(&self, uniform: &mut Uniform<'_>) -> L::Parameter {
        let count = self.fits().count();
        let half = 2.0 * uniform();
        match self.fits().nth((half * count as f64) as usize).filter(|_| half < 1.0) {
            Some(fit) => self.likelihood.draw_fit(fit, uniform),
            None => self.likelihood.draw_base(self.column, uniform),
        }
    }

    /// ln G(θ).
    pub fn ln_density(&self, theta: &L::Parameter) -> f64 {
        let base = self.likelihood.ln_base(self.column, theta);
        let count = self.fits().count();
        if count == 0 {
            return base;
        }
        let terms = self.fits().map(|fit| self.likelihood.ln_fit(fit, theta));
        let largest = terms.clone().fold(base, f64::max);
        let fits: f64 = terms.map(|t| libm::exp(t - largest)).sum();
        let mean = 0.5 * (libm::exp(base - largest) + fits / count as f64);
        largest + libm::log(mean)
    }

    /// ln of H(θ) / G(θ).
    pub fn ln_ratio(&self, theta: &L::Parameter) -> f64 {
        match self.fits().next() {
            None => 0.0,
            Some(_) => self.likelihood.ln_base(self.column, theta) - self.ln_density(theta),
        }
    }
}

impl<P: Copy> Menus<P> {
    /// Draws ranks, and all menus from H.
    pub fn from_base<L: Likelihood<Parameter = P>>(
        likelihood: &L,
        entries: usize,
        uniform: &mut Uniform<'_>,
    ) -> Self {
        let (n, d) = (likelihood.n(), likelihood.d());
        let rank = permutation(n, uniform);
        let columns = (0..n * d * entries).map(|at| at / entries % d);
        let theta: Vec<P> = columns.map(|column| likelihood.draw_base(column, uniform)).collect();
        let ln_weight = vec![-libm::log(entries as f64); theta.len()];
        Menus { entries, rank, theta, ln_weight }
    }

    /// Draws ranks, and all menus from G, which is informed by the blocks that an item had in the past, if
    /// there is any, and by its own value. The parameters `kept` of the blocks of z (block after block,
    /// column after column) are put into the menus of their leaders; with none, all are new.
    ///
    /// It does not matter where in the menu, because estimates and choices depend on its entries, not on
    /// their places: the first one it is.
    pub fn draw<L: Likelihood<Parameter = P>>(
        likelihood: &L,
        entries: usize,
        labels: &[u32],
        kept: &[P],
        past: &[Vec<u32>],
        uniform: &mut Uniform<'_>,
    ) -> Self {
        let (n, d) = (likelihood.n(), likelihood.d());
        let rank = permutation(n, uniform);
        let leader_of = leaders(labels, &rank);
        let fits: Vec<PastFits<L>> = past.iter().map(|z| PastFits::new(likelihood, z)).collect();
        let ln_m = libm::log(entries as f64);
        let mut menus = Menus { entries, rank, theta: Vec::new(), ln_weight: Vec::new() };
        for item in 0..n {
            for column in 0..d {
                let alone = likelihood.fit(column, &[item as u32]);
                let of = |z: usize| fits.get(z).and_then(|fits| fits.of(item, column));
                let guide = Guide::new(likelihood, column, [of(0), of(1), alone.as_ref()]);
                let block = labels[item] as usize;
                let kept = kept.get(block * d + column);
                let kept = kept.filter(|_| leader_of[block] as usize == item);
                for entry in 0..entries {
                    let theta = match kept {
                        Some(&kept) if entry == 0 => kept,
                        _ => guide.draw(uniform),
                    };
                    menus.ln_weight.push(guide.ln_ratio(&theta) - ln_m);
                    menus.theta.push(theta);
                }
            }
        }
        menus
    }
}

/// A uniformly random order (Fisher-Yates).
fn permutation(n: usize, uniform: &mut Uniform<'_>) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n as u32).collect();
    for k in (1..n).rev() {
        order.swap(k, (uniform() * (k + 1) as f64) as usize);
    }
    order
}

/// The items of least rank in each block of canonical labels.
fn leaders(labels: &[u32], rank: &[u32]) -> Vec<u32> {
    let mut leader_of: Vec<u32> = Vec::new();
    for (item, &label) in labels.iter().enumerate() {
        match leader_of.get_mut(label as usize) {
            None => leader_of.push(item as u32),
            Some(leader) if rank[item] < rank[*leader as usize] => *leader = item as u32,
            Some(_) => {}
        }
    }
    leader_of
}

/// The items of each block of canonical labels, in their order.
pub(super) fn blocks(labels: &[u32]) -> Vec<Vec<u32>> {
    let mut blocks: Vec<Vec<u32>> = Vec::new();
    for (item, &label) in labels.iter().enumerate() {
        if label as usize == blocks.len() {
            blocks.push(Vec::new());
        }
        blocks[label as usize].push(item as u32);
    }
    blocks
}

/// A past state with fits of its blocks.
struct PastFits<L: Likelihood> {
    d: usize,
    labels: Vec<u32>,
    fits: Vec<Option<L::Fit>>,
}

impl<L: Likelihood> PastFits<L> {
    fn new(likelihood: &L, labels: &[u32]) -> Self {
        let (d, labels) = (likelihood.d(), canonical(labels));
        let fits = blocks(&labels)
            .iter()
            .flat_map(|block| (0..d).map(|column| likelihood.fit(column, block)))
            .collect();
        PastFits { d, labels, fits }
    }

    fn of(&self, item: usize, column: usize) -> Option<&L::Fit> {
        self.fits[self.labels[item] as usize * self.d + column].as_ref()
    }
}
