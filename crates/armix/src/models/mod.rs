//! The models, one file each, and their registry.

mod bernoulli;
mod columns;
mod irm;
mod mixed;
mod niw;
pub mod nonconjugate;
mod product;
pub mod relational;
pub mod student;

pub use bernoulli::Bernoulli;
pub use columns::{Columns, Example};
pub use irm::Irm;
pub use mixed::{Mixed, Typed};
pub use niw::Niw;
pub use product::{Part, Product};
pub use relational::Relational;
pub use student::StudentMixture;

use crate::families::{Categorical, Gaussian, Poisson};
use crate::model::Model;

/// A model as it is verified and tested. One type can be several models, whose examples differ; it is compiled once.
pub struct Case<M> {
    /// The name of the model.
    pub name: &'static str,
    /// Its small made-up instance with n items: see [`Model::example`].
    pub example: fn(usize) -> M,
}

impl<M: Model> Case<M> {
    /// A type that is one model.
    pub fn new() -> Self {
        Case { name: M::NAME, example: M::example }
    }
}

impl<M: Model> Default for Case<M> {
    fn default() -> Self {
        Case::new()
    }
}

/// Something to be done with every model.
pub trait Visitor {
    /// Does it with one of them.
    fn visit<M: Model>(&mut self, case: &Case<M>);
}

/// Shows every registered model to the visitor. A model in this list is verified and tested
/// like all the others.
pub fn visit_all(visitor: &mut impl Visitor) {
    visitor.visit(&Case::<Bernoulli>::new());
    visitor.visit(&Case::<Columns<Categorical>>::new());
    visitor.visit(&Case::<Columns<Poisson>>::new());
    visitor.visit(&Case::<Columns<Gaussian>>::new());
    visitor.visit(&Case::<Niw>::new());
    visitor.visit(&Case::<Mixed>::new());
    visitor.visit(&Case::<Irm>::new());
    relational::CASES.iter().for_each(|case| visitor.visit(case));
    visitor.visit(&Case::<StudentMixture>::new());
}

/// The names of all models.
pub fn names() -> Vec<&'static str> {
    struct Names(Vec<&'static str>);
    impl Visitor for Names {
        fn visit<M: Model>(&mut self, case: &Case<M>) {
            self.0.push(case.name);
        }
    }
    let mut names = Names(Vec::new());
    visit_all(&mut names);
    names.0
}
