//! What items say about the entries of a menu: sums of ln f, four entries at a time.

use super::Nonconjugate;
use super::UNIT;
use super::distances::{Products, TOGETHER};
use super::kept::LANES;
use super::likelihood::Likelihood;
use crate::special::ln_of_all;

/// Four entries of a menu in a column; see [`Nonconjugate::fours`].
struct Four {
    column: usize,
    at: usize,
    count: usize,
    coordinates: [[f64; 2]; LANES],
    ln_tops: [f64; LANES],
}

impl<L: Likelihood> Nonconjugate<L> {
    /// For each column and four entries of a menu: the column, the first of the four, how many there are, their
    /// coordinates and ln T. If there are fewer than four, the first one fills up.
    #[inline(always)]
    fn fours(&self, leader: u32) -> impl Iterator<Item = Four> + '_ {
        let (m, menu) = (self.menus.entries, &self.menus.theta[self.range(leader as usize)]);
        (0..self.likelihood.d()).flat_map(move |column| {
            (0..m).step_by(LANES).map(move |from| {
                let count = LANES.min(m - from);
                let at = column * m + from;
                let theta = |lane: usize| &menu[at + if lane < count { lane } else { 0 }];
                let coordinates = std::array::from_fn(|l| self.likelihood.coordinates(theta(l)));
                let ln_tops = std::array::from_fn(|l| self.likelihood.ln_top(column, theta(l)));
                Four { column, at, count, coordinates, ln_tops }
            })
        })
    }

    /// The distances of a value from four entries.
    #[inline(always)]
    fn distances(&self, value: f64, four: &Four) -> [f64; LANES] {
        std::array::from_fn(|lane| self.likelihood.distance(value, four.coordinates[lane]))
    }

    /// Adds what items say about the entries of a menu, or subtracts it, with `sign` −1: ln f in units.
    pub(super) fn tally(
        &self,
        leader: u32,
        items: impl Iterator<Item = u32> + Clone,
        sums: &mut [i128],
        sign: i64,
    ) {
        let e = self.likelihood.exponent();
        for four in self.fours(leader) {
            let values = self.likelihood.column(four.column);
            let mut units = [0i128; LANES];
            for item in items.clone() {
                let value = values[item as usize];
                if value.is_nan() {
                    continue;
                }
                let ln = ln_of_all(&self.distances(value, &four));
                for lane in 0..LANES {
                    let ln_f = four.ln_tops[lane] - e * ln[lane];
                    debug_assert!(ln_f.is_finite(), "ln f is a number");
                    units[lane] += i128::from((ln_f * (1.0 / UNIT)) as i64);
                }
            }
            for lane in 0..four.count {
                sums[four.at + lane] += i128::from(sign) * units[lane];
            }
        }
    }

    /// Adds b ln f of items under the entries of a menu, or subtracts it, with `sign` −1: not in units, so that one logarithm
    /// is taken of the product of all distances.
    pub(super) fn add_ln_f(&self, leader: u32, items: &[u32], sums: &mut [f64], sign: f64) {
        for four in self.fours(leader) {
            let values = self.likelihood.column(four.column);
            let (ln, count) = ln_distances(values, items, |value| self.distances(value, &four));
            for lane in 0..four.count {
                let ln_tops = self.coldness * count * four.ln_tops[lane];
                sums[four.at + lane] += sign * (ln_tops - self.exponent * ln[lane]);
            }
        }
    }

    /// Σ ln f of some items in a column.
    pub fn ln_f(&self, column: usize, items: &[u32], theta: &L::Parameter) -> f64 {
        let coordinates = self.likelihood.coordinates(theta);
        let values = self.likelihood.column(column);
        let distance = |value| [self.likelihood.distance(value, coordinates)];
        let ([ln], count) = ln_distances(values, items, distance);
        count * self.likelihood.ln_top(column, theta) - self.likelihood.exponent() * ln
    }
}

/// Σ ln δ of the values of some items, for one or more entries side by side, and how many are not missing.
#[inline(always)]
fn ln_distances<const N: usize>(
    values: &[f64],
    items: &[u32],
    distances: impl Fn(f64) -> [f64; N],
) -> ([f64; N], f64) {
    let mut products = Products::<N>::ONE;
    let mut count = 0u32;
    for together in items.chunks(TOGETHER) {
        for &item in together {
            let value = values[item as usize];
            if !value.is_nan() {
                products.multiply(distances(value));
                count += 1;
            }
        }
        products.settle();
    }
    (products.ln(), f64::from(count))
}
