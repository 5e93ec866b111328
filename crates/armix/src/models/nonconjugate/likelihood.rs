//! What a likelihood without a closed-form evidence must tell, so that every move works with it.

use crate::special::FourAtATime;
use std::fmt::Debug;

/// A source of numbers that are uniform on [0, 1).
pub type Uniform<'a> = dyn FnMut() -> f64 + 'a;

/// Values f(y | θ) with a parameter θ for each block and column, columns independent given the block, and a
/// base measure H of θ.
///
/// Densities of θ are all with respect to the same measure, whichever: that of H, of the fits, and the
/// one in which [`Likelihood::wander`] is symmetric. Nothing here has to be conjugate, and only what makes f
/// and [`Likelihood::ln_base`] say what the posterior is; the rest says how well it is explored.
pub trait Likelihood: Sized + Send + Sync + 'static {
    /// The name of the model in settings, results and tests.
    const NAME: &'static str;

    /// So many reals make a parameter.
    const REALS: usize;

    /// θ of one block in one column, with whatever makes densities fast.
    type Parameter: Copy + Debug + Send + Sync;

    /// About the posterior of θ given some values: a distribution that can be drawn from.
    type Fit: Debug;

    /// The number of items.
    fn n(&self) -> usize;

    /// The number of columns.
    fn d(&self) -> usize;

    /// Writes a parameter as [`Likelihood::REALS`] reals.
    fn write(&self, theta: &Self::Parameter, reals: &mut Vec<f64>);

    /// The parameter that was written.
    fn read(&self, reals: &[f64]) -> Self::Parameter;

    /// The values of an item by column; NaN is missing.
    fn row(&self, item: usize) -> &[f64];

    /// The values in a column by item; NaN is missing.
    fn column(&self, column: usize) -> &[f64];

    /// e in f(y | θ) = T(θ) δ(y, θ)⁻ᵉ: most of all computing time is spent with distances δ, which are multiplied
    /// before a logarithm is taken. Every density can be written like this, with δ = 1/f if it is at most 1.
    fn exponent(&self) -> f64;

    /// ln T(θ).
    fn ln_top(&self, column: usize, theta: &Self::Parameter) -> f64;

    /// The two numbers of θ that make distances.
    fn coordinates(&self, theta: &Self::Parameter) -> [f64; 2];

    /// δ: from 1 to [`FARTHEST`](super::FARTHEST), and so that e ln δ is at most [`LEAST_LIKELY`](super::LEAST_LIKELY).
    /// Loops over this should become vector instructions.
    fn distance(&self, value: f64, coordinates: [f64; 2]) -> f64;

    /// No value in this column has a larger distance from θ.
    fn farthest(&self, column: usize, theta: &Self::Parameter) -> f64;

    /// Not less than δ(y, a) / δ(y, b), whatever y; ∞ if nothing is known.
    fn ratio_at_most(&self, _a: [f64; 2], _b: [f64; 2]) -> f64 {
        f64::INFINITY
    }

    /// Not more than δ(y, a) δ(y, b), whatever y.
    fn product_at_least(&self, _a: [f64; 2], _b: [f64; 2]) -> f64 {
        1.0
    }

    /// ln f of any value in a column.
    fn ln_value(&self, column: usize, value: f64, theta: &Self::Parameter) -> f64 {
        let distance = self.distance(value, self.coordinates(theta));
        self.ln_top(column, theta) - self.exponent() * libm::log(distance)
    }

    /// Draws θ from H.
    fn draw_base(&self, column: usize, uniform: &mut Uniform<'_>) -> Self::Parameter;

    /// ln H(θ): finite wherever H or a fit draws.
    fn ln_base(&self, column: usize, theta: &Self::Parameter) -> f64;

    /// An approximate posterior of θ given the values of these items, with tails that are rather too heavy;
    /// `None` if nothing is known. Every value counts as `coldness` values.
    fn fit(&self, column: usize, items: &[u32], coldness: f64) -> Option<Self::Fit>;

    /// Draws θ from a fit.
    fn draw_fit(&self, fit: &Self::Fit, uniform: &mut Uniform<'_>) -> Self::Parameter;

    /// The density of a fit, above 0 wherever θ is likely under H or a fit.
    fn fit_density(&self, fit: &Self::Fit, theta: &Self::Parameter) -> f64;

    /// Draws menus of an item for some of its first columns and weighs them, where that can be done faster than one by one;
    /// tells how many columns these are. `past` has the fits of two blocks by column. A menu has the same number of entries from each
    /// of both fits, from the fit of the item's own value and from H, in any order, and ln H/G of them.
    fn draw_some(
        &self,
        _item: usize,
        _past: [&[Option<Self::Fit>]; 2],
        _coldness: f64,
        _entries: usize,
        _random: &mut FourAtATime,
        _menus: (&mut Vec<Self::Parameter>, &mut Vec<f64>),
    ) -> usize {
        0
    }

    /// A small step from θ, for a block of so many items, as likely as the step back.
    fn wander(
        &self,
        column: usize,
        items: usize,
        theta: &Self::Parameter,
        uniform: &mut Uniform<'_>,
    ) -> Self::Parameter;

    /// The mean of a value given θ.
    fn mean(&self, theta: &Self::Parameter) -> f64;

    /// A small made-up instance with n items; if n is odd, some values are missing.
    fn example(n: usize) -> Self;

    /// New values, drawn from f with the parameter of each item and column; the same ones are missing.
    fn simulate(
        &self,
        theta: &dyn Fn(usize, usize) -> Self::Parameter,
        uniform: &mut Uniform<'_>,
    ) -> Self;
}
