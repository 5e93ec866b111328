//! Families: values of one kind that share an unknown parameter, which is integrated out. A column
//! of a table has one for each block, a relation of a network one for each pair of blocks.

mod binary;
mod categorical;
mod draw;
mod gaussian;
mod poisson;

pub use binary::Binary;
pub use categorical::Categorical;
pub(crate) use draw::ln_of_gamma;
pub use draw::{gamma, normal};
pub(crate) use gaussian::divide;
pub use gaussian::{Gaussian, Grid, Kept as GaussianKept};
pub use poisson::{Kept as PoissonKept, Poisson};

use crate::hyper::Hyper;
use std::fmt::Debug;
use std::ops::{AddAssign, SubAssign};

/// One number of a sum: an integer, so that it does not matter in which order values were added.
pub trait Word:
    Copy + Default + PartialEq + Debug + Send + Sync + AddAssign + SubAssign + 'static
{
}
impl Word for u64 {}
impl Word for i128 {}

/// A conjugate family: the values x₁, x₂, … are independent given a parameter with a prior.
///
/// All that matters of values is their *sum*, a few words that are added and subtracted one by one. The
/// evidence of the values is a function of the sum alone: exactly 0 for no values, and the same
/// however the sum came about.
///
/// Values have two forms: as a number, which is what people see (a level is its number from 0), and
/// as what is stored.
pub trait Family: Clone + Debug + Send + Sync + 'static {
    /// The name of the mixture of such columns.
    const NAME: &'static str;

    /// A value as it is stored.
    type Value: Copy + PartialEq + Debug + Send + Sync + 'static;

    /// What is stored where nothing was observed.
    const MISSING: Self::Value;

    /// What sums are made of.
    type Word: Word;

    /// What is kept of the sums of [`Family::LANES`] blocks, so that the gain of a single value is fast.
    type Kept: Copy + Default + Debug + Send + Sync + 'static;

    /// So many blocks are kept side by side, where a row is best weighed for several at once. Each has a *lane*.
    const LANES: usize = 1;

    /// The parameter.
    type Parameter;

    /// The number of words of a sum. All of them are 0 if there are no values.
    fn width(&self) -> usize;

    /// How many there are of what is kept of a sum.
    fn kept_width(&self) -> usize {
        1
    }

    /// How a value is stored; it must be one of this family.
    fn encode(&self, value: f64) -> Self::Value;

    /// The number that is stored.
    fn decode(&self, value: Self::Value) -> f64;

    /// Adds an observed value to a sum.
    fn add(&self, sum: &mut [Self::Word], value: Self::Value);

    /// Takes an observed value out of a sum.
    fn sub(&self, sum: &mut [Self::Word], value: Self::Value);

    /// ln p of the values with this sum.
    fn ln_evidence(&self, sum: &[Self::Word]) -> f64;

    /// ln p of these values, by the formula and nothing else: what the tests believe.
    fn ln_evidence_naive(&self, values: &[f64]) -> f64;

    /// What [`Family::ln_evidence`] would be if the hyper-parameters had these values.
    fn ln_evidence_with(&self, hypers: &[f64], sum: &[Self::Word]) -> f64;

    /// ln p(`more` | `sum`): what the evidence grows by when `more` is added to `sum`.
    fn gain(&self, sum: &[Self::Word], more: &[Self::Word]) -> f64;

    /// ln p(`part` | the rest of `sum`): what the evidence falls by when `part` is taken out of `sum`.
    fn loss(&self, sum: &[Self::Word], part: &[Self::Word]) -> f64;

    /// ln p(x | `sum`), a density if values are real; −∞ for what is no value of this family.
    fn ln_predictive(&self, sum: &[Self::Word], x: f64) -> f64;

    /// The mean of the next value. (Of levels it means nothing.)
    fn mean(&self, sum: &[Self::Word]) -> f64;

    /// Computes what is kept of a sum, in a lane.
    fn keep(&self, sum: &[Self::Word], kept: &mut [Self::Kept], lane: usize);

    /// What the gains of a row have in common, whatever the sums and hyper-parameters: it is left out of the
    /// functions below.
    fn base_of_row(_families: &[Self], _row: &[Self::Value]) -> f64 {
        0.0
    }

    /// ln p(row | the sums of which this is kept in a lane) but for [`Family::base_of_row`], of one value a column; all
    /// columns are of this family.
    fn gain_of_row(families: &[Self], kept: &[Self::Kept], lane: usize, row: &[Self::Value])
    -> f64;

    /// The same for all blocks at once, to the same last bit. What is kept of those of the first [`Family::LANES`] gains comes first, for
    /// all columns.
    #[inline]
    fn gains_of_row(
        families: &[Self],
        kept: &[Self::Kept],
        row: &[Self::Value],
        gains: &mut [f64],
    ) {
        for (kept, gains) in side_by_side::<Self>(kept, gains) {
            for (lane, gain) in gains.iter_mut().enumerate() {
                *gain = Self::gain_of_row(families, kept, lane, row);
            }
        }
    }

    /// Something that the gain of these cells exceeds in no block, but for [`Family::base_of_row`] and rounding errors, whatever the sums and
    /// hyper-parameters; ∞ if there is nothing.
    fn ceiling(_cells: &[Self::Value]) -> f64 {
        f64::INFINITY
    }

    /// In tables of so many columns [`Family::likely_gains_of_row`] is worth its trouble, if it is there; they may be full, so that no cell is missing.
    fn bounded_from(_full: bool) -> Option<usize> {
        None
    }

    /// [`Family::gains_of_row`], or −∞ where that is known to be below a floor (but for rounding errors): most blocks are no place for a row, and that
    /// takes less trouble to see than the gain. `ceilings` are those of all cells, of all but the first eight, of all but the first sixteen and so on up to none, if there are ceilings.
    fn likely_gains_of_row(
        _families: &[Self],
        _kept: &[Self::Kept],
        _row: &[Self::Value],
        _ceilings: &[f64],
        _floors: &[f64],
        _gains: &mut [f64],
    ) {
        unreachable!("a family with bounds has this")
    }

    /// ln p(row | the rest) but for [`Family::base_of_row`], if the sums, and what is kept of them, still count the row.
    fn gain_of_row_at_home(
        families: &[Self],
        sums: &[Self::Word],
        kept: &[Self::Kept],
        lane: usize,
        row: &[Self::Value],
    ) -> f64;

    /// [`Family::gain_of_row`] in a table in which nothing is missing: all columns of a block have as many values.
    #[inline]
    fn gain_of_full_row(
        families: &[Self],
        kept: &[Self::Kept],
        lane: usize,
        row: &[Self::Value],
    ) -> f64 {
        Self::gain_of_row(families, kept, lane, row)
    }

    /// [`Family::gains_of_row`] in such a table.
    #[inline]
    fn gains_of_full_row(
        families: &[Self],
        kept: &[Self::Kept],
        row: &[Self::Value],
        gains: &mut [f64],
    ) {
        for (kept, gains) in side_by_side::<Self>(kept, gains) {
            for (lane, gain) in gains.iter_mut().enumerate() {
                *gain = Self::gain_of_full_row(families, kept, lane, row);
            }
        }
    }

    /// [`Family::gain_of_row_at_home`] in such a table.
    fn gain_of_full_row_at_home(
        families: &[Self],
        sums: &[Self::Word],
        kept: &[Self::Kept],
        lane: usize,
        row: &[Self::Value],
    ) -> f64 {
        Self::gain_of_row_at_home(families, sums, kept, lane, row)
    }

    /// The families of columns with these values, whose scale is that of the data.
    fn fit(columns: &[Values<'_>], hypers: &[f64]) -> Vec<Self>;

    /// Families with the same priors for other values.
    fn refit(families: &[Self], columns: &[Values<'_>]) -> Vec<Self>;

    /// The hyper-parameters that are used unless others are wanted.
    const DEFAULTS: &'static [f64];

    /// The hyper-parameters, which all columns share.
    fn hypers(&self) -> Vec<Hyper>;

    /// The same families with other values of the hyper-parameters. They share their tables.
    fn with_hypers(families: &[Self], values: &[f64]) -> Vec<Self>;

    /// Draws a parameter from its prior, with uniform random numbers from [0, 1).
    fn draw_parameter(&self, uniform: &mut dyn FnMut() -> f64) -> Self::Parameter;

    /// Draws a value.
    fn draw_value(&self, parameter: &Self::Parameter, uniform: &mut dyn FnMut() -> f64) -> f64;
}

/// After every so many columns it may be seen that a block is no place for a row.
pub(crate) const STEP: usize = 8;

/// The values of a column, NaN where nothing was observed.
#[derive(Debug, Clone, Copy)]
pub struct Values<'a> {
    /// One for each row.
    pub cells: &'a [f64],
    /// The number of levels, if they are levels.
    pub levels: usize,
    /// So many of the first values set the scale of a prior.
    pub reference: usize,
}

impl<'a> Values<'a> {
    /// What was observed.
    pub fn observed(&self) -> impl Iterator<Item = f64> + Clone + 'a {
        self.cells.iter().copied().filter(|x| !x.is_nan())
    }

    /// What was observed of those that set the scale.
    pub fn typical(&self) -> impl Iterator<Item = f64> + Clone + 'a {
        self.cells[..self.reference].iter().copied().filter(|x| !x.is_nan())
    }
}

/// What is kept of blocks that are side by side, with their gains.
#[inline(always)]
fn side_by_side<'a, F: Family>(
    kept: &'a [F::Kept],
    gains: &'a mut [f64],
) -> impl Iterator<Item = (&'a [F::Kept], &'a mut [f64])> {
    let width = kept.len() / (gains.len() / F::LANES).max(1);
    kept.chunks_exact(width.max(1)).zip(gains.chunks_exact_mut(F::LANES))
}

/// Adds one sum to another.
#[inline]
pub fn add_sum<W: Word>(sum: &mut [W], more: &[W]) {
    sum.iter_mut().zip(more).for_each(|(s, m)| *s += *m);
}

/// Takes one sum out of another.
#[inline]
pub fn sub_sum<W: Word>(sum: &mut [W], part: &[W]) {
    sum.iter_mut().zip(part).for_each(|(s, p)| *s -= *p);
}

#[cfg(test)]
mod tests;
