//! What items say about the entries of a menu: sums of ln f, four entries at a time.

use super::Nonconjugate;
use super::UNIT;
use super::distances::{Products, TOGETHER};
use super::kept::LANES;
use super::likelihood::Likelihood;
use crate::special::{Arithmetic, OnFours, ln_of_all, on_fours, with_wide_vectors};
use std::ops::Range;

/// Four entries of a menu in a column; see [`Nonconjugate::fours`].
struct Four {
    column: usize,
    at: usize,
    count: usize,
    coordinates: [[f64; 2]; LANES],
    ln_tops: [f64; LANES],
}

impl<L: Likelihood> Nonconjugate<L> {
    /// For each of some columns and four entries of a menu: the column, the first of the four, how many there are, their
    /// coordinates and ln T. If there are fewer than four, the first one fills up.
    #[inline(always)]
    fn fours(&self, leader: u32, columns: Range<usize>) -> impl Iterator<Item = Four> + '_ {
        let (m, menu) = (self.menus.entries, &self.menus.theta[self.range(leader as usize)]);
        columns.flat_map(move |column| {
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

    /// Adds what items say about the entries of a menu: ln f in units.
    pub(super) fn tally(
        &self,
        leader: u32,
        items: impl Iterator<Item = u32> + Clone,
        sums: &mut [i128],
    ) {
        with_wide_vectors(
            #[inline(always)]
            || self.tally_columns(leader, items, sums, |sum, units| *sum += units),
        );
    }

    /// Subtracts it.
    pub(super) fn untally(
        &self,
        leader: u32,
        items: impl Iterator<Item = u32> + Clone,
        sums: &mut [i128],
    ) {
        with_wide_vectors(
            #[inline(always)]
            || self.tally_columns(leader, items, sums, |sum, units| *sum -= units),
        );
    }

    #[inline(always)]
    fn tally_columns(
        &self,
        leader: u32,
        items: impl Iterator<Item = u32> + Clone,
        sums: &mut [i128],
        count: impl Fn(&mut i128, i128),
    ) {
        let e = self.likelihood.exponent();
        for four in self.fours(leader, 0..self.likelihood.d()) {
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
            let sums = &mut sums[four.at..][..four.count];
            sums.iter_mut().zip(units).for_each(|(sum, units)| count(sum, units));
        }
    }

    /// Adds b ln f of items under the entries of a menu, or subtracts it, with `sign` −1: not in units, so that one logarithm
    /// is taken of the product of all distances.
    pub(super) fn add_ln_f(&self, leader: u32, items: &[u32], sums: &mut [f64], sign: f64) {
        self.add_ln_f_of(0..self.likelihood.d(), leader, items, sums, sign);
    }

    /// The same in some columns.
    pub(super) fn add_ln_f_of(
        &self,
        columns: Range<usize>,
        leader: u32,
        items: &[u32],
        sums: &mut [f64],
        sign: f64,
    ) {
        on_fours(OfColumns { model: self, columns, leader, items, sums, sign });
    }

    /// Not less than Σ b ln f of items under the entry that they like best in each column, or not much less: rounding errors.
    pub(super) fn ln_f_at_most(&self, leader: u32, items: &[u32]) -> f64 {
        let mut most = 0.0;
        on_fours(AtMost { model: self, leader, items, most: &mut most });
        most
    }

    /// How many of these items have a value in a column.
    fn known(&self, column: usize, items: &[u32]) -> f64 {
        let values = self.likelihood.column(column);
        match self.gaps[column] {
            true => items.iter().filter(|&&item| !values[item as usize].is_nan()).count() as f64,
            false => items.len() as f64,
        }
    }

    /// Σ ln f of some items in a column.
    pub fn ln_f(&self, column: usize, items: &[u32], theta: &L::Parameter) -> f64 {
        let likelihood = &*self.likelihood;
        let coordinates = likelihood.coordinates(theta);
        let values = likelihood.column(column);
        let mut ln = [0.0; LANES];
        on_fours(OfItems { likelihood, values, items, coordinates, ln: &mut ln });
        let ln = (ln[0] + ln[1]) + (ln[2] + ln[3]);
        self.known(column, items) * likelihood.ln_top(column, theta) - likelihood.exponent() * ln
    }
}

/// What [`Nonconjugate::add_ln_f_of`] does.
struct OfColumns<'a, L: Likelihood> {
    model: &'a Nonconjugate<L>,
    columns: Range<usize>,
    leader: u32,
    items: &'a [u32],
    sums: &'a mut [f64],
    sign: f64,
}

impl<L: Likelihood> OnFours for OfColumns<'_, L> {
    #[inline(always)]
    fn with<A: Arithmetic>(self, arithmetic: A) {
        let OfColumns { model, columns, leader, items, sums, sign } = self;
        for four in model.fours(leader, columns) {
            let ln = match model.gaps[four.column] {
                false => of_four::<_, _, false>(arithmetic, model, &four, items).ln(),
                true => of_four::<_, _, true>(arithmetic, model, &four, items).ln(),
            };
            let count = model.known(four.column, items);
            for lane in 0..four.count {
                let ln_tops = model.coldness * count * four.ln_tops[lane];
                sums[four.at + lane] += sign * (ln_tops - model.exponent * ln[lane]);
            }
        }
    }
}

/// What [`Nonconjugate::ln_f_at_most`] does.
struct AtMost<'a, L: Likelihood> {
    model: &'a Nonconjugate<L>,
    leader: u32,
    items: &'a [u32],
    most: &'a mut f64,
}

impl<L: Likelihood> OnFours for AtMost<'_, L> {
    #[inline(always)]
    fn with<A: Arithmetic>(self, arithmetic: A) {
        let AtMost { model, leader, items, most } = self;
        // The most of a column, until all fours of its entries have been seen.
        let mut best = f64::NEG_INFINITY;
        for four in model.fours(leader, 0..model.likelihood.d()) {
            let products = match model.gaps[four.column] {
                false => of_four::<_, _, false>(arithmetic, model, &four, items),
                true => of_four::<_, _, true>(arithmetic, model, &four, items),
            };
            let count = arithmetic.all(model.coldness * model.known(four.column, items));
            let ln_tops = arithmetic.multiply(count, arithmetic.load(&four.ln_tops));
            let less = arithmetic.multiply(arithmetic.all(model.exponent), products.ln_at_least());
            let mut found = [0.0; LANES];
            arithmetic.store(arithmetic.subtract(ln_tops, less), &mut found);
            for ln_f in found {
                best = if ln_f > best { ln_f } else { best };
            }
            if (four.at + four.count).is_multiple_of(model.menus.entries) {
                *most += std::mem::replace(&mut best, f64::NEG_INFINITY);
            }
        }
    }
}

/// The products of the distances of some items, for four entries side by side. Some values may be missing if there are `GAPS`.
#[inline(always)]
fn of_four<A: Arithmetic, L: Likelihood, const GAPS: bool>(
    arithmetic: A,
    model: &Nonconjugate<L>,
    four: &Four,
    items: &[u32],
) -> Products<A> {
    let (likelihood, values) = (&*model.likelihood, model.likelihood.column(four.column));
    let coordinates = [0, 1].map(|at| arithmetic.load(&four.coordinates.map(|pair| pair[at])));
    let from = From::<_, _, GAPS> { arithmetic, likelihood, coordinates };
    let (together, rest) = items.as_chunks::<TOGETHER>();
    let mut products = Products::one(arithmetic);
    for items in together {
        let y = items.map(|item| values[item as usize]);
        from.multiply(
            &mut products,
            y.map(
                #[inline(always)]
                |y| arithmetic.all(y),
            ),
        );
    }
    for &item in rest {
        products.multiply(from.distances(arithmetic.all(values[item as usize])));
    }
    products.settle();
    products
}

/// The same for one entry, four items side by side: four parts of the sum.
struct OfItems<'a, L> {
    likelihood: &'a L,
    values: &'a [f64],
    items: &'a [u32],
    coordinates: [f64; 2],
    ln: &'a mut [f64; LANES],
}

impl<L: Likelihood> OnFours for OfItems<'_, L> {
    #[inline(always)]
    fn with<A: Arithmetic>(self, arithmetic: A) {
        let OfItems { likelihood, values, items, coordinates: [a, b], ln } = self;
        let coordinates = [arithmetic.all(a), arithmetic.all(b)];
        let from = From::<_, _, true> { arithmetic, likelihood, coordinates };
        let mut products = Products::one(arithmetic);
        for items in items.chunks(TOGETHER * LANES) {
            // Items that there are not are missing.
            let mut y = [[f64::NAN; LANES]; TOGETHER];
            let places = y.as_flattened_mut().iter_mut();
            places.zip(items).for_each(|(y, &item)| *y = values[item as usize]);
            from.multiply(
                &mut products,
                [0, 1, 2, 3].map(
                    #[inline(always)]
                    |at: usize| arithmetic.load(&y[at]),
                ),
            );
        }
        *ln = products.ln();
    }
}

/// What values are away from.
struct From<'a, A: Arithmetic, L, const GAPS: bool> {
    arithmetic: A,
    likelihood: &'a L,
    coordinates: [A::Numbers; 2],
}

impl<A: Arithmetic, L: Likelihood, const GAPS: bool> From<'_, A, L, GAPS> {
    /// Distances; 1 of missing values.
    #[inline(always)]
    fn distances(&self, y: A::Numbers) -> A::Numbers {
        let (arithmetic, [a, b]) = (self.arithmetic, self.coordinates);
        let distances = arithmetic.each(
            [y, a, b],
            #[inline(always)]
            |[y, a, b]| self.likelihood.distance(y, [a, b]),
        );
        match GAPS {
            true => arithmetic.where_known(y, distances, arithmetic.all(1.0)),
            false => distances,
        }
    }

    /// Multiplies by the distances of some values, in pairs, because a product waits for its factors.
    #[inline(always)]
    fn multiply(&self, products: &mut Products<A>, [a, b, c, d]: [A::Numbers; TOGETHER]) {
        let first = self.arithmetic.multiply(self.distances(a), self.distances(b));
        let second = self.arithmetic.multiply(self.distances(c), self.distances(d));
        products.multiply(self.arithmetic.multiply(first, second));
        products.settle();
    }
}
