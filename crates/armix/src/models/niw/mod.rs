//! Gaussian blocks with full covariance matrices: the Normal-inverse-Wishart mixture over rows of real numbers.

mod factor;
mod impute;
mod kept;
mod points;

use crate::data::Column;
use crate::error::{Error, Result};
use crate::families::{Gaussian, add_sum, divide, gamma, normal, sub_sum};
use crate::hyper::{Hyper, HyperPrior};
use crate::model::Model;
use crate::partition::{Item, Partition, Slot};
use crate::prior::positive;
use crate::special::ln_gamma;
use factor::{cholesky, invert, triangle};
use kept::{Kept, Numbers, Scales};
use points::Points;
use std::f64::consts::PI;
use std::sync::Arc;

/// Σ ~ InvWishart(ν, ψ I), μ ~ N(0, Σ/κ), y ~ N(μ, Σ), where y are the columns with mean 0 and standard deviation 1,
/// and ν = d − 1 + `freedom`.
///
/// The statistics of a block are Σy and Σyyᵀ, as exact whole numbers on a grid. The Cholesky factor of its matrix
/// Ψₙ and its inverse are computed from them whenever the block changes, never updated, so that no error builds up; the
/// gain of a row is one product with that inverse. The prior's ψ I keeps every matrix far from singular: of a row that is r standard
/// deviations away, rounding leaves ln |Ψₙ| right to about 2⁻⁵² r²/ψ, and in a table of n rows r is at most √n.
///
/// Rows with missing cells have no closed form: their cells are drawn at the beginning of each iteration, given μ and
/// Σ of their blocks, which a chain then keeps beside z (see `impute.rs`).
#[derive(Debug, Clone)]
pub struct Niw {
    data: Arc<Points>,
    kappa: f64,
    freedom: f64,
    psi: f64,
}

/// Simulated numbers are at most so many standard deviations away: tails can be too heavy for a number.
const LARGEST: f64 = 1e100;

/// The statistics of the blocks, slot after slot.
#[derive(Debug)]
pub struct Moments {
    slots: usize,
    sums: Vec<i128>,
    /// Always as computed from the sums.
    kept: Kept,
    room: Room,
}

impl Clone for Moments {
    fn clone(&self) -> Self {
        Moments {
            slots: self.slots,
            sums: self.sums.clone(),
            kept: self.kept.clone(),
            room: self.room.clone(),
        }
    }
    fn clone_from(&mut self, source: &Self) {
        self.slots = source.slots;
        self.sums.clone_from(&source.sums);
        self.kept.clone_from(&source.kept);
    }
}

/// What a set of rows carries, and room for computing. A single row carries itself, and no sum.
#[derive(Debug)]
pub struct Rows {
    only: Option<usize>,
    sums: Vec<i128>,
    both: Vec<i128>,
    room: Room,
    scales: Scales,
}

/// Room for computing.
#[derive(Debug, Clone)]
struct Room {
    centres: Vec<Centre>,
    mean: Vec<f64>,
    factor: Vec<f64>,
    column: Vec<f64>,
}

impl Room {
    fn new(d: usize) -> Self {
        Room {
            centres: vec![Centre::default(); d],
            mean: vec![0.0; d],
            factor: vec![0.0; triangle(d)],
            column: vec![0.0; d],
        }
    }
}

/// Where the values of a block are in a column.
#[derive(Debug, Clone, Copy, Default)]
struct Centre {
    /// Σk, a whole number near its mean, and what remains of the sum.
    sum: i128,
    near: i128,
    rest: i128,
    /// The same as a number.
    remains: f64,
    /// The grid's unit and the mean on the scale of y.
    unit: f64,
    mean: f64,
}

impl Centre {
    /// Σ(y − ȳ)(y' − ȳ') of n rows, from Σkk'.
    #[inline]
    fn scatter(&self, other: &Centre, n: f64, products: i128) -> f64 {
        // Around what is near the means it is exact.
        let around = products - self.near * other.sum - other.near * self.rest;
        let rest = self.remains * other.remains / n.max(1.0);
        (around as f64 - rest) * self.unit * other.unit
    }
}

/// The values of the hyper-parameters.
#[derive(Clone, Copy)]
struct Values {
    kappa: f64,
    freedom: f64,
    psi: f64,
}

impl Niw {
    /// The mixture over the rows of these columns; hyper-parameters in the order of [`Model::hypers`].
    pub fn new(columns: &[&Column], hypers: &[f64]) -> Result<Self> {
        if columns.is_empty() {
            return Err(Error::new("the table has no columns: nothing tells the rows apart"));
        }
        let scale = |c: &&Column| {
            let typical = c.cells()[..c.reference()].iter().copied();
            Gaussian::mean_and_spread(typical.filter(|x| !x.is_nan()))
        };
        let scales: Vec<(f64, f64)> = columns.iter().map(scale).collect();
        let is_missing = |row: usize, c: usize| columns[c].cells()[row].is_nan();
        let missing = (0..columns[0].cells().len())
            .map(|row| {
                (row, (0..columns.len()).filter(|&c| is_missing(row, c)).collect::<Vec<_>>())
            })
            .filter(|(_, columns)| !columns.is_empty())
            .collect();
        // What is missing is at the mean, until it is drawn.
        let complete = |(column, &(mean, _)): (&&Column, &(f64, f64))| -> Vec<f64> {
            column.cells().iter().map(|&x| if x.is_nan() { mean } else { x }).collect()
        };
        let cells: Vec<Vec<f64>> = columns.iter().zip(&scales).map(complete).collect();
        let data = Arc::new(Points::new(&cells, &scales, missing));
        let model = Niw { data, kappa: hypers[0], freedom: hypers[1], psi: hypers[2] };
        for hyper in model.hypers() {
            positive(&hyper.name, hyper.value)?;
        }
        Ok(model)
    }

    /// κ, `freedom` and ψ that are used unless others are wanted.
    pub const DEFAULTS: &'static [f64] = &[0.1, 3.0, 0.5];

    fn values(&self) -> Values {
        Values { kappa: self.kappa, freedom: self.freedom, psi: self.psi }
    }

    fn sum<'s>(&self, stats: &'s Moments, slot: usize) -> &'s [i128] {
        let width = self.data.width();
        &stats.sums[slot * width..(slot + 1) * width]
    }

    /// Where the values of n rows with this sum are in a column.
    #[inline]
    fn centre(&self, column: usize, n: i128, sum: i128) -> Centre {
        let (mean, sd, grid) = self.data.columns[column];
        let unit = grid.unit() / sd;
        if n == 0 {
            return Centre { unit, ..Centre::default() };
        }
        let (near, rest) = divide(sum, n);
        let remains = rest as f64;
        let place = near as f64 + remains / n as f64;
        let mean = place * unit + (grid.value(0.0) - mean) / sd;
        Centre { sum, near, rest, remains, unit, mean }
    }

    /// Computes the posterior mean and the Cholesky factor of Ψₙ from a sum, as [`cholesky`] leaves it; says ln |Ψₙ|.
    fn factorise(&self, values: Values, sum: &[i128], room: &mut Room) -> f64 {
        let (d, n) = (self.data.d, sum[0]);
        let Room { centres, mean, factor, .. } = room;
        let (count, kappa) = (n as f64, values.kappa);
        let (sums, squares) = sum[1..].split_at(d);
        for (column, (centre, mean)) in centres.iter_mut().zip(mean).enumerate() {
            *centre = self.centre(column, n, sums[column]);
            *mean = centre.mean * (count / (kappa + count));
        }
        let pull = kappa * count / (kappa + count);
        let mut entries = factor.iter_mut().zip(squares);
        for (j, right) in centres.iter().enumerate() {
            for (left, (entry, &products)) in centres[j..].iter().zip(&mut entries) {
                *entry = left.scatter(right, count, products) + pull * left.mean * right.mean;
            }
        }
        let mut diagonal = 0;
        for column in 0..d {
            factor[diagonal] += values.psi;
            diagonal += d - column;
        }
        cholesky(factor, d, values.psi)
    }

    /// ln p of n rows whose Ψₙ has this determinant.
    fn ln_evidence_of(&self, values: Values, n: i128, ln_det: f64) -> f64 {
        let (n, d) = (n as f64, self.data.d as f64);
        let Values { kappa, freedom, psi } = values;
        let nu = d - 1.0 + freedom;
        let gammas: f64 = (0..self.data.d)
            .map(|j| ln_gamma((nu + n - j as f64) / 2.0) - ln_gamma((nu - j as f64) / 2.0))
            .sum();
        let ln_prior = d * libm::log(psi);
        gammas
            - 0.5 * n * d * libm::log(PI)
            - 0.5 * nu * (ln_det - ln_prior)
            - 0.5 * n * ln_det
            - 0.5 * d * libm::log((kappa + n) / kappa)
            - n * self.data.ln_scale
    }

    /// Brings what is kept of a slot up to date with its sum.
    fn keep(&self, stats: &mut Moments, slot: usize) {
        let (d, width) = (self.data.d, self.data.width());
        let Moments { sums, kept, room, .. } = stats;
        let sum = &sums[slot * width..(slot + 1) * width];
        let ln_det = self.factorise(self.values(), sum, room);
        let (n, dim) = (sum[0] as f64, d as f64);
        let (kappa, nu) = (self.kappa + n, dim - 1.0 + self.freedom + n);
        let shared = -0.5 * dim * libm::log(PI) - 0.5 * ln_det - self.data.ln_scale;
        let ln_gammas = |nu: f64| ln_gamma(0.5 * (nu + 1.0)) - ln_gamma(0.5 * (nu + 1.0 - dim));
        let (home, home_weight) = match sum[0] {
            0 => (0.0, 0.0),
            _ => {
                let less = (self.kappa + (n - 1.0)) / kappa;
                (shared + ln_gammas(nu - 1.0) + 0.5 * dim * libm::log(less), 1.0 / less)
            }
        };
        let numbers = Numbers {
            constant: shared + ln_gammas(nu) + 0.5 * dim * libm::log(kappa / (kappa + 1.0)),
            exponent: 0.5 * (nu + 1.0),
            weight: kappa / (kappa + 1.0),
            home,
            home_weight,
            ln_det,
        };
        let mut inverse = kept.write(slot, numbers, &room.mean);
        invert(&room.factor, &mut room.column, |row, column, w| inverse.set(row, column, w));
    }

    /// The gains of a single row, but for a home of which too little is left without it: `None` says so.
    #[inline]
    fn gains_of_one(
        &self,
        stats: &Moments,
        (row, scales): (usize, &mut Scales),
        home: Option<Slot>,
        slots: &[Slot],
        gains: &mut [f64],
    ) -> Option<()> {
        let (kept, point) = (&stats.kept, self.data.point(row));
        let all = kept.better_weigh_all(slots.len());
        if all {
            kept.weigh_all(point, scales);
        }
        let mut known = Some(());
        for (&slot, gain) in slots.iter().zip(gains) {
            let k = slot.index();
            let (q, away) = if all { scales.read(k) } else { kept.weigh_one(k, point, scales) };
            *gain = away;
            if home == Some(slot) {
                match kept.gain_at_home(k, q) {
                    Some(at_home) => *gain = at_home,
                    None => known = None,
                }
            }
        }
        known
    }

    fn add_load(&self, sum: &mut [i128], load: &Rows) {
        match load.only {
            Some(row) => self.data.add(row, sum),
            None => add_sum(sum, &load.sums),
        }
    }

    fn sub_load(&self, sum: &mut [i128], load: &Rows) {
        match load.only {
            Some(row) => self.data.sub(row, sum),
            None => sub_sum(sum, &load.sums),
        }
    }

    /// What the evidence of a block changes by if its sum becomes `both`.
    fn change(&self, stats: &Moments, slot: usize, both: &[i128], room: &mut Room) -> f64 {
        let ln_det = self.factorise(self.values(), both, room);
        let now = (self.sum(stats, slot)[0], stats.kept.ln_det(slot));
        self.ln_evidence_of(self.values(), both[0], ln_det)
            - self.ln_evidence_of(self.values(), now.0, now.1)
    }

    /// The same with other numbers; the same cells are missing, and known to be these for now.
    fn with_columns(&self, columns: &[Vec<f64>]) -> Self {
        let scales: Vec<(f64, f64)> = self.data.columns.iter().map(|c| (c.0, c.1)).collect();
        let data = Points::new(columns, &scales, self.data.missing.clone());
        Niw { data: Arc::new(data), ..self.clone() }
    }
}

impl Model for Niw {
    const NAME: &'static str = "niw";
    type Stats = Moments;
    type Load = Rows;

    fn n(&self) -> usize {
        self.data.n
    }

    fn empty_stats(&self) -> Moments {
        let d = self.data.d;
        Moments { slots: 0, sums: Vec::new(), kept: Kept::new(d), room: Room::new(d) }
    }

    fn empty_load(&self) -> Rows {
        let width = self.data.width();
        Rows {
            only: None,
            sums: vec![0; width],
            both: vec![0; width],
            room: Room::new(self.data.d),
            scales: Scales::new(self.data.d),
        }
    }

    fn grow(&self, stats: &mut Moments, slots: usize) {
        while stats.slots < slots {
            stats.slots += 1;
            stats.sums.resize(stats.slots * self.data.width(), 0);
            stats.kept.grow(stats.slots);
            self.keep(stats, stats.slots - 1);
        }
    }

    fn weigh(&self, items: &[Item], _z: &Partition, load: &mut Rows) {
        if let [row] = items {
            load.only = Some(row.index());
            return;
        }
        load.only = None;
        load.sums.fill(0);
        items.iter().for_each(|item| self.data.add(item.index(), &mut load.sums));
    }

    fn add(&self, stats: &mut Moments, load: &Rows, _z: &Partition, slot: Slot) {
        let start = slot.index() * self.data.width();
        self.add_load(&mut stats.sums[start..], load);
        self.keep(stats, slot.index());
    }

    fn sub(&self, stats: &mut Moments, load: &Rows, _z: &Partition, slot: Slot) {
        let start = slot.index() * self.data.width();
        self.sub_load(&mut stats.sums[start..], load);
        self.keep(stats, slot.index());
    }

    fn gains(
        &self,
        stats: &Moments,
        load: &mut Rows,
        home: Option<Slot>,
        _z: &Partition,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        if let Some(row) = load.only {
            let known = self.gains_of_one(stats, (row, &mut load.scales), home, slots, gains);
            if known.is_some() {
                return;
            }
        }
        for (&slot, gain) in slots.iter().zip(gains) {
            let (k, at_home) = (slot.index(), home == Some(slot));
            if load.only.is_some() && !at_home {
                continue;
            }
            let mut both = std::mem::take(&mut load.both);
            both.copy_from_slice(self.sum(stats, k));
            *gain = if at_home {
                self.sub_load(&mut both, load);
                -self.change(stats, k, &both, &mut load.room)
            } else {
                self.add_load(&mut both, load);
                self.change(stats, k, &both, &mut load.room)
            };
            load.both = both;
        }
    }

    fn ln_evidence(&self, stats: &Moments, z: &Partition) -> f64 {
        let of = |slot: &Slot| {
            let (n, ln_det) = (self.sum(stats, slot.index())[0], stats.kept.ln_det(slot.index()));
            self.ln_evidence_of(self.values(), n, ln_det)
        };
        z.live().iter().map(of).sum()
    }

    fn ln_evidence_naive(&self, labels: &[u32]) -> f64 {
        let (d, dim) = (self.data.d, self.data.d as f64);
        let nu = dim - 1.0 + self.freedom;
        let ln_gamma_d = |x: f64| -> f64 {
            (0..d).map(|j| libm::lgamma(x - j as f64 / 2.0)).sum::<f64>()
                + 0.25 * dim * (dim - 1.0) * libm::log(PI)
        };
        let mut sum = 0.0;
        for block in 0..=labels.iter().copied().max().unwrap_or(0) {
            let members: Vec<&[f64]> =
                (0..self.n()).filter(|&i| labels[i] == block).map(|i| self.data.point(i)).collect();
            let n = members.len() as f64;
            let mean = |c: usize| members.iter().map(|y| y[c]).sum::<f64>() / n.max(1.0);
            let mut psi = vec![vec![0.0; d]; d];
            for (i, j) in (0..d).flat_map(|i| (0..d).map(move |j| (i, j))) {
                psi[i][j] =
                    members.iter().map(|y| (y[i] - mean(i)) * (y[j] - mean(j))).sum::<f64>()
                        + self.kappa * n / (self.kappa + n) * mean(i) * mean(j)
                        + if i == j { self.psi } else { 0.0 };
            }
            sum += ln_gamma_d((nu + n) / 2.0) - ln_gamma_d(nu / 2.0)
                + 0.5 * nu * dim * libm::log(self.psi)
                - 0.5 * (nu + n) * ln_determinant(psi)
                + 0.5 * dim * libm::log(self.kappa / (self.kappa + n))
                - 0.5 * n * dim * libm::log(PI)
                - n * self.data.ln_scale;
        }
        sum
    }

    fn hypers(&self) -> Vec<Hyper> {
        vec![
            Hyper::new("kappa", self.kappa, HyperPrior::UNIT_GAMMA),
            Hyper::new("freedom", self.freedom, HyperPrior::Gamma { shape: 8.0, rate: 2.0 }),
            Hyper::new("psi", self.psi, HyperPrior::UNIT_GAMMA),
        ]
    }

    fn with_hypers(&self, values: &[f64]) -> Self {
        Niw { data: self.data.clone(), kappa: values[0], freedom: values[1], psi: values[2] }
    }

    fn ln_evidence_with(&self, values: &[f64], stats: &Moments, z: &Partition) -> f64 {
        let values = Values { kappa: values[0], freedom: values[1], psi: values[2] };
        let mut room = Room::new(self.data.d);
        let mut of = |slot: &Slot| {
            let sum = self.sum(stats, slot.index());
            let ln_det = self.factorise(values, sum, &mut room);
            self.ln_evidence_of(values, sum[0], ln_det)
        };
        z.live().iter().map(&mut of).sum()
    }

    fn refresh(&self, stats: &mut Moments, z: &Partition) {
        if !self.data.missing.is_empty() {
            // The data may be others, too.
            stats.sums.fill(0);
            for (row, slot) in
                z.slots_of_items().iter().enumerate().filter(|(_, s)| **s != Slot::NOWHERE)
            {
                let start = slot.index() * self.data.width();
                self.data.add(row, &mut stats.sums[start..]);
            }
        }
        (0..stats.slots).for_each(|slot| self.keep(stats, slot));
    }

    fn predict(&self, stats: &Moments, z: &Partition, (row, column): (u32, u32)) -> f64 {
        let slot = z.slot_of(Item::new(row as usize)).index();
        let (mean, sd, _) = self.data.columns[column as usize];
        mean + sd * stats.kept.mean(slot, column as usize)
    }

    /// As if nothing else were known of the row: Student's distribution of one column.
    fn ln_predictive(
        &self,
        stats: &Moments,
        z: &Partition,
        (row, column): (u32, u32),
        value: f64,
    ) -> f64 {
        let (slot, column) = (z.slot_of(Item::new(row as usize)).index(), column as usize);
        let (d, sum) = (self.data.d, self.sum(stats, slot));
        let own_mean = stats.kept.mean(slot, column);
        let (n, centre) = (sum[0] as f64, self.centre(column, sum[0], sum[1 + column]));
        // Ψₙ of the column.
        let diagonal = triangle(d) - triangle(d - column);
        let scatter = centre.scatter(&centre, n, sum[1 + d + diagonal]);
        let pull = self.kappa * n / (self.kappa + n);
        let variance = self.psi + scatter + pull * centre.mean * centre.mean;
        let (mean, sd, _) = self.data.columns[column];
        let away = (value - mean) / sd - own_mean;
        let (a, kappa) = (0.5 * (self.freedom + n), self.kappa + n);
        let weight = kappa / ((kappa + 1.0) * variance);
        ln_gamma(a + 0.5) - ln_gamma(a) + 0.5 * libm::log(weight / PI)
            - libm::log(sd)
            - (a + 0.5) * libm::log1p(weight * away * away)
    }

    fn example(n: usize) -> Self {
        let cell = |i: usize, step: usize| (i * i * step % 11) as f64;
        let missing = |i: usize| n % 2 == 1 && i == 1;
        let first = |i: usize| if missing(i) { f64::NAN } else { 0.5 * cell(i, 1) - 3.0 };
        let first = Column::reals((0..n).map(first).collect());
        let second = Column::reals((0..n).map(|i| cell(i, 3) + 0.7 * cell(i, 1)).collect());
        Niw::new(&[&first, &second], &[0.3, 1.7, 0.4]).expect("an example is valid")
    }

    fn simulate(&self, labels: &[u32], uniform: &mut dyn FnMut() -> f64) -> Self {
        let (d, scale) = (self.data.d, self.psi.sqrt());
        let nu = d as f64 - 1.0 + self.freedom;
        let blocks = labels.iter().max().map_or(0, |&m| m as usize + 1);
        // Σ⁻¹ = A Aᵀ/ψ with Bartlett's A, so that a normal vector is √ψ A⁻ᵀ times a standard one.
        let mut parameters = Vec::with_capacity(blocks);
        for _ in 0..blocks {
            let mut a = vec![vec![0.0; d]; d];
            for i in 0..d {
                for j in 0..i {
                    a[i][j] = normal(uniform);
                }
                a[i][i] = (2.0 * gamma(0.5 * (nu - i as f64), uniform)).sqrt();
            }
            let mean = vector(&a, scale / self.kappa.sqrt(), uniform);
            parameters.push((a, mean));
        }
        let mut columns = vec![vec![0.0; self.n()]; d];
        for (row, &label) in labels.iter().enumerate() {
            let (a, mean) = &parameters[label as usize];
            let y = vector(a, scale, uniform);
            for (c, (own_mean, sd, _)) in self.data.columns.iter().enumerate() {
                columns[c][row] = own_mean + sd * (mean[c] + y[c]).clamp(-LARGEST, LARGEST);
            }
        }
        self.with_columns(&columns)
    }

    fn stats_bytes(&self, blocks: usize) -> u64 {
        (blocks * 16 * self.data.width() + Kept::bytes(self.data.d, blocks)) as u64
    }

    fn reals_per_block(&self) -> usize {
        if self.data.missing.is_empty() { 0 } else { impute::Normal::reals(self.data.d) }
    }

    fn lay_out(
        &self,
        z: &Partition,
        parameters: &[f64],
        _past: &[Vec<u32>],
        _coldness: f64,
        uniform: &mut dyn FnMut() -> f64,
    ) -> Option<Self> {
        (!self.data.missing.is_empty()).then(|| self.with_drawn_cells(z, parameters, uniform))
    }

    fn pick_up(
        &self,
        stats: &Moments,
        z: &Partition,
        parameters: &mut Vec<f64>,
        uniform: &mut dyn FnMut() -> f64,
    ) -> f64 {
        match self.data.missing.is_empty() {
            true => self.ln_evidence(stats, z),
            false => self.draw_parameters(stats, z, parameters, uniform),
        }
    }
}

/// `scale` · A⁻ᵀ g with a standard normal g.
fn vector(a: &[Vec<f64>], scale: f64, uniform: &mut dyn FnMut() -> f64) -> Vec<f64> {
    let d = a.len();
    let mut x: Vec<f64> = (0..d).map(|_| scale * normal(uniform)).collect();
    for i in (0..d).rev() {
        for k in i + 1..d {
            x[i] -= a[k][i] * x[k];
        }
        x[i] /= a[i][i];
    }
    x
}

/// By elimination with pivots.
fn ln_determinant(mut matrix: Vec<Vec<f64>>) -> f64 {
    let mut sum = 0.0;
    while let Some(at) =
        (0..matrix.len()).max_by(|&a, &b| matrix[a][0].abs().total_cmp(&matrix[b][0].abs()))
    {
        let pivot = matrix.swap_remove(at);
        sum += libm::log(pivot[0].abs());
        for row in &mut matrix {
            let factor = row[0] / pivot[0];
            *row = row.iter().zip(&pivot).skip(1).map(|(x, p)| x - factor * p).collect();
        }
    }
    sum
}
