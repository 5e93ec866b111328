//! Menus: the parameters that every item holds ready for the block that it may come to lead.

use super::likelihood::{Likelihood, Uniform};
use crate::partition::canonical;
use crate::special::{FourAtATime, exp_of_all, fast_ln, with_wide_vectors};

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

/// G, for one item and column: equal shares of H and of some approximate posteriors.
pub struct Guide<'l, L: Likelihood> {
    likelihood: &'l L,
    column: usize,
    /// The first so many, then H.
    fits: [Option<&'l L::Fit>; FITS],
    count: usize,
}

/// At most so many approximate posteriors.
const FITS: usize = 3;

impl<'l, L: Likelihood> Guide<'l, L> {
    /// H alone if there is no fit.
    pub fn new(likelihood: &'l L, column: usize, fits: [Option<&'l L::Fit>; FITS]) -> Self {
        let (mut found, mut count) = ([None; FITS], 0);
        for fit in fits.into_iter().flatten() {
            found[count] = Some(fit);
            count += 1;
        }
        Guide { likelihood, column, fits: found, count }
    }

    /// The number of shares.
    pub fn shares(&self) -> usize {
        self.count + 1
    }

    /// Draws θ from one of the shares.
    pub fn draw_from(&self, share: usize, uniform: &mut Uniform<'_>) -> L::Parameter {
        match self.fits.get(share).copied().flatten() {
            Some(fit) => self.likelihood.draw_fit(fit, uniform),
            None => self.likelihood.draw_base(self.column, uniform),
        }
    }

    /// Draws θ from G.
    pub fn draw(&self, uniform: &mut Uniform<'_>) -> L::Parameter {
        let share = if self.count == 0 { 0.0 } else { uniform() * self.shares() as f64 };
        self.draw_from(share as usize, uniform)
    }

    /// The densities of all shares; the last one is H. Also their sum, and ln H.
    #[inline]
    fn densities(&self, theta: &L::Parameter) -> ([f64; FITS + 1], f64, f64) {
        let mut densities = [0.0; FITS + 1];
        for (density, fit) in densities.iter_mut().zip(self.fits.iter().flatten()) {
            *density = self.likelihood.fit_density(fit, theta);
        }
        let ln_base = self.likelihood.ln_base(self.column, theta);
        densities[FITS] = exp(ln_base);
        (densities, densities.iter().sum(), ln_base)
    }

    /// ln G(θ).
    pub fn ln_density(&self, theta: &L::Parameter) -> f64 {
        match self.count {
            0 => self.likelihood.ln_base(self.column, theta),
            _ => fast_ln(self.densities(theta).1 / self.shares() as f64),
        }
    }

    /// ln of H(θ) / G(θ).
    pub fn ln_ratio(&self, theta: &L::Parameter) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        let (_, sum, ln_base) = self.densities(theta);
        ln_base - fast_ln(sum / self.shares() as f64)
    }

    /// The share that θ came from, if it was drawn from G: a draw given θ.
    fn share_of(&self, theta: &L::Parameter, uniform: &mut Uniform<'_>) -> usize {
        let (densities, sum, _) = self.densities(theta);
        let mut left = uniform() * sum;
        for share in 0..self.count {
            left -= densities[share];
            if left < 0.0 {
                return share;
            }
        }
        self.count
    }

    /// A menu: as many entries from each share as are possible, and the others from G. One of them is θ, if that is
    /// given, and it is the first.
    pub fn draw_menu(
        &self,
        entries: usize,
        kept: Option<L::Parameter>,
        menu: &mut Vec<L::Parameter>,
        uniform: &mut Uniform<'_>,
    ) {
        let shares = self.shares();
        let (each, mut rest) = (entries / shares, entries % shares);
        let mut from_share = usize::MAX;
        if let Some(theta) = kept {
            menu.push(theta);
            // All places are alike, but those of a share are for what comes from it.
            match uniform() * (entries as f64) < (each * shares) as f64 {
                true => from_share = self.share_of(&theta, uniform),
                false => rest -= 1,
            }
        }
        for share in 0..shares {
            let taken = usize::from(share == from_share);
            menu.extend((taken..each).map(|_| self.draw_from(share, uniform)));
        }
        menu.extend((0..rest).map(|_| self.draw(uniform)));
    }
}

/// eˣ, of x that are mostly not far below 0.
#[inline]
fn exp(x: f64) -> f64 {
    if x.abs() < 49.0 { exp_of_all([x])[0] } else { libm::exp(x) }
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
        coldness: f64,
        uniform: &mut Uniform<'_>,
    ) -> Self {
        let (n, d) = (likelihood.n(), likelihood.d());
        let rank = permutation(n, uniform);
        let leader_of = leaders(labels, &rank);
        // Where values do not count they say nothing.
        let past = if coldness > 0.0 { past } else { &[] };
        let fits: Vec<PastFits<L>> =
            past.iter().map(|z| PastFits::new(likelihood, z, coldness)).collect();
        let ln_m = libm::log(entries as f64);
        let length = n * d * entries;
        let (theta, ln_weight) = (Vec::with_capacity(length), Vec::with_capacity(length));
        let mut menus = Menus { entries, rank, theta, ln_weight };
        let mut random = FourAtATime::new(uniform);
        with_wide_vectors(
            #[inline(always)]
            || {
                for item in 0..n {
                    let block = labels[item] as usize;
                    let kept = kept.get(block * d..(block + 1) * d);
                    let kept = kept.filter(|_| leader_of[block] as usize == item);
                    let mut done = 0;
                    if let ([a, b], None, true) =
                        (&fits[..], kept, entries.is_multiple_of(FITS + 1))
                    {
                        let past = [a.of(item), b.of(item)];
                        let (begin, into) =
                            (menus.ln_weight.len(), (&mut menus.theta, &mut menus.ln_weight));
                        done =
                            likelihood.draw_some(item, past, coldness, entries, &mut random, into);
                        menus.ln_weight[begin..].iter_mut().for_each(|w| *w -= ln_m);
                    }
                    for column in done..d {
                        let alone = likelihood.fit(column, &[item as u32], coldness);
                        let alone = alone.filter(|_| coldness > 0.0);
                        let of =
                            |z: usize| fits.get(z).and_then(|fits| fits.of(item)[column].as_ref());
                        let guide = Guide::new(likelihood, column, [of(0), of(1), alone.as_ref()]);
                        let kept = kept.map(|kept| kept[column]);
                        let begin = menus.theta.len();
                        guide.draw_menu(entries, kept, &mut menus.theta, uniform);
                        let ln_weight = |theta: &P| guide.ln_ratio(theta) - ln_m;
                        menus.ln_weight.extend(menus.theta[begin..].iter().map(ln_weight));
                    }
                }
            },
        );
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
    fn new(likelihood: &L, labels: &[u32], coldness: f64) -> Self {
        let (d, labels) = (likelihood.d(), canonical(labels));
        let fits = blocks(&labels)
            .iter()
            .flat_map(|block| (0..d).map(|column| likelihood.fit(column, block, coldness)))
            .collect();
        PastFits { d, labels, fits }
    }

    /// Of the block of an item, by column.
    fn of(&self, item: usize) -> &[Option<L::Fit>] {
        &self.fits[self.labels[item] as usize * self.d..][..self.d]
    }
}
