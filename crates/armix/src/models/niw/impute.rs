//! Missing cells of Gaussian blocks: drawn given μ and Σ of their blocks, which are drawn given the cells.
//!
//! A chain keeps (z, μ, Σ). An iteration draws the missing cells given these and the cells that were observed;
//! then μ and Σ are forgotten, the moves change z given the completed table, and μ and Σ are drawn anew
//! given z and the completed table, whose drawn cells are forgotten. Each of the three steps is a
//! draw from a conditional distribution, or leaves one invariant, so that p(z, μ, Σ | observed) is, too.

use super::{Moments, Niw, Room};
use crate::families::{gamma, normal};
use crate::model::Model;
use crate::partition::{Item, Partition};
use crate::special::ln_gamma;
use std::f64::consts::PI;
use std::sync::Arc;

/// Without parameters, cells and parameters are drawn in turn so many times.
const FIRST_ROUNDS: usize = 5;

/// μ and Σ of a block.
pub(super) struct Normal {
    mean: Vec<f64>,
    /// Below the diagonal and on it.
    covariance: Vec<Vec<f64>>,
}

impl Normal {
    /// So many reals are written.
    pub(super) fn reals(d: usize) -> usize {
        d + d * (d + 1) / 2
    }

    fn write(&self, reals: &mut Vec<f64>) {
        reals.extend_from_slice(&self.mean);
        self.covariance.iter().for_each(|row| reals.extend_from_slice(row));
    }

    fn read(d: usize, reals: &[f64]) -> Self {
        let (mean, mut rest) = reals.split_at(d);
        let row = |i: usize| {
            let (row, next) = rest.split_at(i + 1);
            rest = next;
            row.to_vec()
        };
        let covariance = (0..d).map(row).collect();
        Normal { mean: mean.to_vec(), covariance }
    }

    fn covariance(&self, i: usize, j: usize) -> f64 {
        self.covariance[i.max(j)][i.min(j)]
    }

    /// The Cholesky factor of the covariances of some columns, in this order.
    fn factor(&self, columns: &[usize]) -> Vec<Vec<f64>> {
        let mut factor: Vec<Vec<f64>> = Vec::with_capacity(columns.len());
        for (i, &ci) in columns.iter().enumerate() {
            let mut row = Vec::with_capacity(i + 1);
            for (j, &cj) in columns[..=i].iter().enumerate() {
                let other: &[f64] = if j == i { &row } else { &factor[j] };
                let known: f64 = row[..j].iter().zip(other).map(|(a, b)| a * b).sum();
                let left = self.covariance(ci, cj) - known;
                let entry = match i == j {
                    true => left.max(f64::MIN_POSITIVE).sqrt(),
                    false => left / factor[j][j],
                };
                row.push(entry);
            }
            factor.push(row);
        }
        factor
    }

    /// Solves L g = y − μ for some columns.
    fn standardise(&self, factor: &[Vec<f64>], columns: &[usize], y: &[f64]) -> Vec<f64> {
        let mut g: Vec<f64> = Vec::with_capacity(columns.len());
        for (row, &column) in factor.iter().zip(columns) {
            let known: f64 = row.iter().zip(&g).map(|(l, g)| l * g).sum();
            g.push((y[column] - self.mean[column] - known) / row[g.len()]);
        }
        g
    }

    /// ln density of some columns.
    fn ln_density(&self, factor: &[Vec<f64>], columns: &[usize], y: &[f64]) -> f64 {
        let g = self.standardise(factor, columns, y);
        let squares: f64 = g.iter().map(|g| g * g).sum();
        let ln_det: f64 = factor.iter().enumerate().map(|(i, row)| libm::log(row[i])).sum();
        -0.5 * squares - ln_det - 0.5 * columns.len() as f64 * libm::log(2.0 * PI)
    }

    /// Draws the missing columns of a row given the others.
    fn fill(&self, y: &mut [f64], missing: &[usize], uniform: &mut dyn FnMut() -> f64) {
        let seen: Vec<usize> = (0..y.len()).filter(|c| !missing.contains(c)).collect();
        // The observed columns first: what is left of the others' variance is then the rest of the factor.
        let order: Vec<usize> = seen.iter().chain(missing).copied().collect();
        let factor = self.factor(&order);
        let mut g = self.standardise(&factor[..seen.len()], &seen, y);
        for (row, &column) in factor[seen.len()..].iter().zip(missing) {
            g.push(normal(uniform));
            y[column] = self.mean[column] + row.iter().zip(&g).map(|(l, g)| l * g).sum::<f64>();
        }
    }
}

impl Niw {
    /// The same with its missing cells drawn, given the parameters of the blocks of z. Without any, these are
    /// drawn, too.
    pub(super) fn with_drawn_cells(
        &self,
        z: &Partition,
        parameters: &[f64],
        uniform: &mut dyn FnMut() -> f64,
    ) -> Self {
        let reals = Normal::reals(self.data.d);
        let read = |reals: &[f64]| Normal::read(self.data.d, reals);
        if !parameters.is_empty() {
            let blocks: Vec<Normal> = parameters.chunks_exact(reals).map(read).collect();
            return self.filled(&z.labels(), &blocks, uniform);
        }
        let mut model = self.clone();
        for _ in 0..FIRST_ROUNDS {
            let mut stats = model.empty_stats();
            model.grow(&mut stats, z.slots());
            model.refresh(&mut stats, z);
            let mut parameters = Vec::new();
            model.draw_parameters(&stats, z, &mut parameters, uniform);
            let blocks: Vec<Normal> = parameters.chunks_exact(reals).map(read).collect();
            model = model.filled(&z.labels(), &blocks, uniform);
        }
        model
    }

    fn filled(&self, labels: &[u32], blocks: &[Normal], uniform: &mut dyn FnMut() -> f64) -> Self {
        let mut data = self.data.copy();
        for (row, missing) in &self.data.missing {
            let mut y = self.data.point(*row)[..self.data.d].to_vec();
            blocks[labels[*row] as usize].fill(&mut y, missing, uniform);
            for &column in missing {
                let (mean, sd, _) = self.data.columns[column];
                data.set(*row, column, mean + sd * y[column]);
            }
        }
        Niw { data: Arc::new(data), ..self.clone() }
    }

    /// Draws μ and Σ of every block, in the order of first items, given all cells; says ln of the joint density of
    /// these and the cells that were observed.
    pub(super) fn draw_parameters(
        &self,
        stats: &Moments,
        z: &Partition,
        parameters: &mut Vec<f64>,
        uniform: &mut dyn FnMut() -> f64,
    ) -> f64 {
        parameters.clear();
        let labels = z.labels();
        let mut missing_of: Vec<&[usize]> = vec![&[]; self.n()];
        self.data.missing.iter().for_each(|(row, columns)| missing_of[*row] = columns);
        let mut ln_joint = 0.0;
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); z.blocks()];
        labels.iter().enumerate().for_each(|(row, &label)| members[label as usize].push(row));
        for members in &members {
            let slot = z.slot_of(Item::new(members[0])).index();
            let drawn = self.draw_block(stats, slot, uniform);
            ln_joint += self.ln_prior(&drawn);
            let all: Vec<usize> = (0..self.data.d).collect();
            let factor = drawn.factor(&all);
            for &row in members {
                let y = &self.data.point(row)[..self.data.d];
                let seen: Vec<usize> =
                    all.iter().copied().filter(|c| !missing_of[row].contains(c)).collect();
                ln_joint += match seen.len() == all.len() {
                    true => drawn.ln_density(&factor, &all, y),
                    false => drawn.ln_density(&drawn.factor(&seen), &seen, y),
                };
                let scale = |&c: &usize| libm::log(self.data.columns[c].1);
                ln_joint -= seen.iter().map(scale).sum::<f64>();
            }
            drawn.write(parameters);
        }
        ln_joint
    }

    /// Draws μ and Σ of a block: Σ = B Bᵀ with B = C A⁻ᵀ, where C is the factor of Ψₙ and A is Bartlett's; μ = mean + B g/√κₙ.
    fn draw_block(&self, stats: &Moments, slot: usize, uniform: &mut dyn FnMut() -> f64) -> Normal {
        let d = self.data.d;
        let sum = self.sum(stats, slot);
        let n = sum[0] as f64;
        let (kappa, nu) = (self.kappa + n, d as f64 - 1.0 + self.freedom + n);
        let mut room = Room::new(d);
        self.factorise(self.values(), sum, &mut room);
        let Room { mean, factor, .. } = room;
        // C, row after row; the factor has its columns one after the other, and its diagonal inverted.
        let mut c = vec![vec![0.0; d]; d];
        let mut entries = factor.iter();
        for j in 0..d {
            for (i, &entry) in (j..d).zip(&mut entries) {
                c[i][j] = if i == j { 1.0 / entry } else { entry };
            }
        }
        let mut a = vec![vec![0.0; d]; d];
        for i in 0..d {
            for j in 0..i {
                a[i][j] = normal(uniform);
            }
            a[i][i] = (2.0 * gamma(0.5 * (nu - i as f64), uniform)).sqrt();
        }
        // B A^T = C, solved row by row: A^T is upper triangular.
        let mut b = vec![vec![0.0; d]; d];
        for i in 0..d {
            for j in 0..d {
                let known: f64 = (0..j).map(|k| b[i][k] * a[j][k]).sum();
                b[i][j] = (c[i][j] - known) / a[j][j];
            }
        }
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        let g: Vec<f64> = (0..d).map(|_| normal(uniform)).collect();
        let mean = (0..d).map(|i| mean[i] + dot(&b[i], &g) / kappa.sqrt()).collect();
        let covariance = (0..d).map(|i| (0..=i).map(|j| dot(&b[i], &b[j])).collect()).collect();
        Normal { mean, covariance }
    }

    /// ln of the prior density of μ and Σ.
    fn ln_prior(&self, drawn: &Normal) -> f64 {
        let (d, dim) = (self.data.d, self.data.d as f64);
        let nu = dim - 1.0 + self.freedom;
        let all: Vec<usize> = (0..d).collect();
        let factor = drawn.factor(&all);
        let ln_det: f64 = 2.0 * (0..d).map(|i| libm::log(factor[i][i])).sum::<f64>();
        // tr Σ⁻¹ = Σ |L⁻¹ e|².
        let zero = Normal { mean: vec![0.0; d], covariance: Vec::new() };
        let unit = |at: usize| (0..d).map(|c| f64::from(u8::from(c == at))).collect::<Vec<f64>>();
        let trace: f64 =
            (0..d).flat_map(|at| zero.standardise(&factor, &all, &unit(at))).map(|g| g * g).sum();
        let ln_gamma_d: f64 = (0..d).map(|j| ln_gamma((nu - j as f64) / 2.0)).sum::<f64>()
            + 0.25 * dim * (dim - 1.0) * libm::log(PI);
        let wishart = 0.5 * nu * dim * libm::log(self.psi / 2.0)
            - ln_gamma_d
            - 0.5 * (nu + dim + 1.0) * ln_det
            - 0.5 * self.psi * trace;
        let squares: f64 = zero.standardise(&factor, &all, &drawn.mean).iter().map(|g| g * g).sum();
        let normal = 0.5 * dim * libm::log(self.kappa / (2.0 * PI))
            - 0.5 * ln_det
            - 0.5 * self.kappa * squares;
        wishart + normal
    }
}
