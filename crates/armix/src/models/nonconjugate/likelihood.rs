//! What a likelihood without a closed-form evidence must tell, so that every move works with it.

use std::fmt::Debug;

/// A source of numbers that are uniform on [0, 1).
pub type Uniform<'a> = dyn FnMut() -> f64 + 'a;

/// Values f(y | θ) with a parameter θ for each block and column, columns independent given the block, and a
/// base measure H of θ.
///
/// Densities of θ are all with respect to the same measure, whichever: that of H, of the fits, and the
/// one in which [`Likelihood::wander`] is symmetric. Nothing here has to be conjugate, and only
/// [`Likelihood::ln_f`] and [`Likelihood::ln_base`] say what the posterior is; the rest says how well it is
/// explored.
pub trait Likelihood: Sized + Send + Sync + 'static {
    /// The name of the model in settings, results and tests.
    const NAME: &'static str;

    /// So many reals make a parameter.
    const REALS: usize;

    /// θ of one block in one column, with whatever makes [`Likelihood::ln_f`] fast.
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

    /// ln f(y | θ) of an item's value in a column; 0 if it is missing. Most of all computing time is
    /// spent here.
    fn ln_f(&self, item: usize, column: usize, theta: &Self::Parameter) -> f64;

    /// ln f of any value in a column.
    fn ln_value(&self, column: usize, value: f64, theta: &Self::Parameter) -> f64;

    /// Draws θ from H.
    fn draw_base(&self, column: usize, uniform: &mut Uniform<'_>) -> Self::Parameter;

    /// ln H(θ): finite wherever H or a fit draws.
    fn ln_base(&self, column: usize, theta: &Self::Parameter) -> f64;

    /// An approximate posterior of θ given the values of these items, with tails that are rather too heavy;
    /// `None` if nothing is known.
    fn fit(&self, column: usize, items: &[u32]) -> Option<Self::Fit>;

    /// Draws θ from a fit.
    fn draw_fit(&self, fit: &Self::Fit, uniform: &mut Uniform<'_>) -> Self::Parameter;

    /// ln of the density of a fit.
    fn ln_fit(&self, fit: &Self::Fit, theta: &Self::Parameter) -> f64;

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
