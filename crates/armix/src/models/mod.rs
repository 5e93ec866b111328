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

/// Something to be done with every model.
pub trait Visitor {
    /// Does it with one of them.
    fn visit<M: Model>(&mut self);
}

/// Shows every registered model to the visitor. A model in this list is verified and tested
/// like all the others.
pub fn visit_all(visitor: &mut impl Visitor) {
    visitor.visit::<Bernoulli>();
    visitor.visit::<Columns<Categorical>>();
    visitor.visit::<Columns<Poisson>>();
    visitor.visit::<Columns<Gaussian>>();
    visitor.visit::<Niw>();
    visitor.visit::<Mixed>();
    visitor.visit::<Irm>();
    visitor.visit::<Relational<relational::Directed>>();
    visitor.visit::<Relational<relational::Counts>>();
    visitor.visit::<Relational<relational::Reals>>();
    visitor.visit::<Relational<relational::Categories>>();
    visitor.visit::<Relational<relational::Several>>();
    visitor.visit::<StudentMixture>();
}

/// The names of all models.
pub fn names() -> Vec<&'static str> {
    struct Names(Vec<&'static str>);
    impl Visitor for Names {
        fn visit<M: Model>(&mut self) {
            self.0.push(M::NAME);
        }
    }
    let mut names = Names(Vec::new());
    visit_all(&mut names);
    names.0
}
