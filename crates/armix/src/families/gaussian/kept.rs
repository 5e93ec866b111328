//! What is kept of sums of reals, for four blocks side by side, and the gains of rows that follow from it.

use crate::special::{Arithmetic, FOUR, OnFours, ln_by_series, on_fours};

/// So many blocks are side by side.
pub(super) const LANES: usize = FOUR;

/// Where nothing was observed.
pub(super) const MISSING: f64 = f64::INFINITY;

/// What is kept of a sum of each of these blocks: ln p(x) = `constant` − `exponent` · ln(1 + `weight` (x − `mean`)²), and with
/// the sum counting x already, `home` + (`exponent` − 1) ln(1 − `home_weight` (x − `mean`)²), on the grid.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(32))]
pub struct Kept {
    pub(super) mean: [f64; LANES],
    pub(super) weight: [f64; LANES],
    pub(super) constant: [f64; LANES],
    pub(super) exponent: [f64; LANES],
    pub(super) home_weight: [f64; LANES],
    pub(super) home: [f64; LANES],
}

/// So many factors are multiplied before a logarithm is taken. At home none is below [`LEFT`], and LEFT⁶⁴ is
/// still far from 0; products that are too large are noticed.
const TOGETHER: usize = 64;

/// Where less than this is left of b without a value, too many digits are lost to say how much.
const LEFT: f64 = 0.01;

/// Of N numbers those from a lane on.
#[inline(always)]
fn lanes<const N: usize>(numbers: [f64; LANES], from: usize) -> [f64; N] {
    std::array::from_fn(|at| numbers[from + at])
}

impl Kept {
    /// What b grows by, as a factor, when a value at this place joins one of N blocks, those from a lane on …
    #[inline(always)]
    fn joining<const N: usize>(&self, from: usize, place: f64) -> [f64; N] {
        let (mean, weight) = (lanes::<N>(self.mean, from), lanes::<N>(self.weight, from));
        std::array::from_fn(|at| {
            let away = place - mean[at];
            1.0 + weight[at] * (away * away)
        })
    }

    /// … and what is left of it without one.
    #[inline(always)]
    fn left(&self, lane: usize, place: f64) -> f64 {
        let away = place - self.mean[lane];
        1.0 - self.home_weight[lane] * (away * away)
    }

    /// The gain of a value at this place in one of the blocks.
    #[inline(always)]
    fn gain(&self, lane: usize, place: f64) -> f64 {
        let away = place - self.mean[lane];
        let grown = 1.0 + self.weight[lane] * (away * away);
        self.constant[lane] - self.exponent[lane] * ln_by_series(grown)
    }

    /// Adds the gains of a value in all of them.
    #[inline(always)]
    fn add_gains(&self, place: f64, sums: &mut [f64; LANES]) {
        for lane in 0..LANES {
            sums[lane] += self.gain(lane, place);
        }
    }
}

/// The gain of a row of which some cells may be missing, for the block in a lane. Each column has its own number of
/// values, and needs a logarithm of its own.
pub(super) fn gain(kept: &[Kept], lane: usize, row: &[f64]) -> f64 {
    let seen = kept.iter().zip(row).filter(|(_, place)| **place != MISSING);
    seen.fold(0.0, |sum, (kept, &place)| sum + kept.gain(lane, place))
}

/// The same for all blocks. Cell by cell, as processors cannot guess which are missing: so they are wrong once for a cell,
/// and not for all blocks.
#[inline(always)]
pub(super) fn gains(kept: &[Kept], row: &[f64], gains: &mut [[f64; LANES]]) {
    gains.fill([0.0; LANES]);
    // Not chains of adapters, which would not be inlined and so have narrow vectors.
    for (column, &place) in row.iter().enumerate() {
        if place != MISSING {
            for (at, sums) in gains.iter_mut().enumerate() {
                kept[at * row.len() + column].add_gains(place, sums);
            }
        }
    }
}

/// The same, or −∞ where that is below a floor.
#[inline(always)]
pub(super) fn likely_gains(kept: &[Kept], row: &[f64], floors: &[f64], found: &mut [f64]) {
    gains_at_most(kept, row, found.as_chunks_mut::<LANES>().0);
    let near = found.iter().zip(floors).filter(|(most, floor)| most >= floor).count();
    // One takes as long as some that are side by side.
    if near > found.len() / LANES {
        return gains(kept, row, found.as_chunks_mut::<LANES>().0);
    }
    for (at, (found, floor)) in found.iter_mut().zip(floors).enumerate() {
        *found = match *found >= *floor {
            true => gain(&kept[at / LANES * row.len()..][..row.len()], at % LANES, row),
            false => f64::NEG_INFINITY,
        };
    }
}

/// So many columns take one logarithm together in [`gains_at_most`]. Among more of them exponents differ more.
const ROUGHLY: usize = 16;

/// Products beyond this may have been too large for a number.
const LARGE: f64 = 1e300;

/// Not less than [`gains`], but for rounding errors: all factors are at least 1, so that of some columns together the least exponent
/// and the product of the factors give a bound, with one logarithm. Where columns miss as many cells it is near.
fn gains_at_most(kept: &[Kept], row: &[f64], gains: &mut [[f64; LANES]]) {
    on_fours(GainsAtMost { kept, row, gains });
}

struct GainsAtMost<'a> {
    kept: &'a [Kept],
    row: &'a [f64],
    gains: &'a mut [[f64; LANES]],
}

impl OnFours for GainsAtMost<'_> {
    #[inline(always)]
    fn with<A: Arithmetic>(self, arithmetic: A) {
        let GainsAtMost { kept, row, gains } = self;
        for (kept, gains) in kept.chunks_exact(row.len()).zip(gains) {
            let mut most = arithmetic.all(0.0);
            for (kept, row) in kept.chunks(ROUGHLY).zip(row.chunks(ROUGHLY)) {
                // Two at a time, as numbers that wait for each other are slow.
                let mut some = [Roughly::nothing(arithmetic), Roughly::nothing(arithmetic)];
                let ((kept, last), (row, place)) = (kept.as_chunks::<2>(), row.as_chunks::<2>());
                for (kept, row) in kept.iter().zip(row) {
                    some[0].add(arithmetic, &kept[0], row[0]);
                    some[1].add(arithmetic, &kept[1], row[1]);
                }
                if let ([kept], [place]) = (last, place) {
                    some[0].add(arithmetic, kept, *place);
                }
                most = arithmetic.add(most, some[0].together(arithmetic, &some[1]));
            }
            arithmetic.store(most, gains);
        }
    }
}

/// What is known of some columns of four blocks.
#[derive(Clone, Copy)]
struct Roughly<A: Arithmetic> {
    constant: A::Numbers,
    product: A::Numbers,
    exponent: A::Numbers,
}

impl<A: Arithmetic> Roughly<A> {
    #[inline(always)]
    fn nothing(arithmetic: A) -> Self {
        let [constant, product, exponent] = [0.0, 1.0, f64::MAX].map(
            #[inline(always)]
            |number| arithmetic.all(number),
        );
        Roughly { constant, product, exponent }
    }

    /// Adds a cell. Those that are missing count nothing, without a branch: processors cannot guess which they are.
    #[inline(always)]
    fn add(&mut self, arithmetic: A, kept: &Kept, place: f64) {
        let (place, one) = (arithmetic.all(place), arithmetic.all(1.0));
        let known = arithmetic.subtract(place, place); // ∞ − ∞ is no number
        let times = |a, b| arithmetic.multiply(a, b);
        let away = arithmetic.subtract(place, arithmetic.load(&kept.mean));
        let more = times(arithmetic.load(&kept.weight), times(away, away));
        let factor = arithmetic.where_known(known, arithmetic.add(one, more), one);
        self.product = times(self.product, factor);
        let constant = arithmetic.load(&kept.constant);
        let constant = arithmetic.where_known(known, constant, arithmetic.all(0.0));
        self.constant = arithmetic.add(self.constant, constant);
        // Columns in which hardly anything is seen have small exponents: they count only for rows that have a value there.
        let exponent = arithmetic.load(&kept.exponent);
        let exponent = arithmetic.where_known(known, exponent, self.exponent);
        self.exponent = arithmetic.smaller(exponent, self.exponent);
    }

    /// The bound, with other columns.
    #[inline(always)]
    fn together(&self, arithmetic: A, other: &Self) -> A::Numbers {
        let product = arithmetic.multiply(self.product, other.product);
        let product = arithmetic.smaller(product, arithmetic.all(LARGE));
        let ln_product = arithmetic.each([product; 3], |[product, ..]| ln_by_series(product));
        let exponent = arithmetic.smaller(self.exponent, other.exponent);
        let constant = arithmetic.add(self.constant, other.constant);
        arithmetic.subtract(constant, arithmetic.multiply(exponent, ln_product))
    }
}

/// [`gains`] of some blocks if nothing is missing in the table: all columns of a block have the same exponent, and one logarithm serves
/// many of them.
#[inline(always)]
pub(super) fn gains_of_full<const N: usize>(kept: &[Kept], from: usize, row: &[f64]) -> [f64; N] {
    let of =
        |kept: &Kept, place: f64| (lanes::<N>(kept.constant, from), kept.joining::<N>(from, place));
    let Some(first) = kept.first() else { return [0.0; N] };
    match sums_and_ln_products(kept, row, of) {
        Some((sums, ln_products)) => {
            let exponent = lanes::<N>(first.exponent, from);
            std::array::from_fn(|at| sums[at] - exponent[at] * ln_products[at])
        }
        None => std::array::from_fn(|at| gain(kept, from + at, row)),
    }
}

/// The sums of the first, and ln of the products of the second numbers that a function gives for all cells of a
/// row: one logarithm for many columns. `None` if a product is too large or no number.
#[inline(always)]
fn sums_and_ln_products<const N: usize>(
    kept: &[Kept],
    row: &[f64],
    of: impl Fn(&Kept, f64) -> ([f64; N], [f64; N]),
) -> Option<([f64; N], [f64; N])> {
    let (mut sums, mut ln_products) = ([0.0; N], [0.0; N]);
    for (kept, row) in kept.chunks(TOGETHER).zip(row.chunks(TOGETHER)) {
        // Two products, as numbers that wait for each other are slow.
        let (mut products, mut others) = ([1.0; N], [1.0; N]);
        let ((kept, last), (row, place)) = (kept.as_chunks::<2>(), row.as_chunks::<2>());
        for ([left, right], &[k, l]) in kept.iter().zip(row) {
            let ((terms, factors), (more, other)) = (of(left, k), of(right, l));
            for at in 0..N {
                sums[at] += terms[at] + more[at];
                products[at] *= factors[at];
                others[at] *= other[at];
            }
        }
        if let ([kept], [place]) = (last, place) {
            let (terms, factors) = of(kept, *place);
            for at in 0..N {
                sums[at] += terms[at];
                products[at] *= factors[at];
            }
        }
        for at in 0..N {
            products[at] *= others[at];
        }
        if !products.iter().all(|product| product.is_finite()) {
            return None;
        }
        for at in 0..N {
            ln_products[at] += ln_by_series(products[at]);
        }
    }
    Some((sums, ln_products))
}

/// The gain of a row of a full table in its home; `None` if too little is left of a column without it.
#[inline]
pub(super) fn gain_of_full_at_home(kept: &[Kept], lane: usize, row: &[f64]) -> Option<f64> {
    let of = |kept: &Kept, place: f64| match kept.left(lane, place) {
        left if left < LEFT => ([0.0], [f64::NAN]),
        left => ([kept.home[lane]], [left]),
    };
    let exponent = kept.first().map_or(0.0, |kept| kept.exponent[lane]);
    let ([sum], [ln_product]) = sums_and_ln_products(kept, row, of)?;
    Some(sum + (exponent - 1.0) * ln_product)
}

/// The gain of a row in its home, where `loss` says it of cells by their columns: of columns of which too little is left.
#[inline(always)]
pub(super) fn gain_at_home(
    kept: &[Kept],
    lane: usize,
    row: &[f64],
    loss: impl Fn(usize, f64) -> f64,
) -> f64 {
    let of_cells = |columns: std::ops::Range<usize>| {
        let mut sum = 0.0;
        for column in columns {
            sum += match row[column] {
                MISSING => 0.0,
                place => match kept[column].left(lane, place) {
                    left if left < LEFT => loss(column, place),
                    left => {
                        let exponent = kept[column].exponent[lane] - 1.0;
                        kept[column].home[lane] + exponent * ln_by_series(left)
                    }
                },
            };
        }
        sum
    };
    let ((some, last), (cells, _)) = (kept.as_chunks::<AT_HOME>(), row.as_chunks::<AT_HOME>());
    let mut sum = 0.0;
    // Not chains of adapters here, either.
    for (at, (kept, row)) in some.iter().zip(cells).enumerate() {
        sum += match gain_of_some_at_home(kept, lane, row) {
            Some(gain) => gain,
            None => of_cells(AT_HOME * at..AT_HOME * (at + 1)),
        };
    }
    sum + of_cells(kept.len() - last.len()..kept.len())
}

/// At home so many cells take their logarithms together. Nothing is skipped, so that there are vector instructions for all.
const AT_HOME: usize = 4;

#[inline(always)]
fn gain_of_some_at_home(kept: &[Kept; AT_HOME], lane: usize, row: &[f64; AT_HOME]) -> Option<f64> {
    // Loops, because what takes a closure would not be inlined everywhere.
    let (mut left, mut gains) = ([1.0; AT_HOME], [0.0; AT_HOME]);
    let mut least = 1.0;
    for at in 0..AT_HOME {
        let place = if row[at] == MISSING { kept[at].mean[lane] } else { row[at] };
        left[at] = kept[at].left(lane, place);
        least = if left[at] < least { left[at] } else { least };
    }
    if least < LEFT {
        return None;
    }
    for at in 0..AT_HOME {
        let seen = if row[at] == MISSING { 0.0 } else { 1.0 };
        let exponent = kept[at].exponent[lane] - 1.0;
        gains[at] = seen * (kept[at].home[lane] + exponent * ln_by_series(left[at]));
    }
    Some((gains[0] + gains[1]) + (gains[2] + gains[3]))
}
