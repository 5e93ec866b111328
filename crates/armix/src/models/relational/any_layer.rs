//! A relation under whatever family its values have.

use super::Priors;
use super::layer::{Layer, LayerStats, Times};
use super::load::{Count, LayerLoad};
use crate::families::{Binary, Categorical, Family, Gaussian, Grid, Poisson};
use crate::partition::{Item, Partition};
use crate::relations::{MAX_COUNT, Relation, Values};

/// A relation under one of the families.
#[derive(Debug, Clone)]
pub(super) enum AnyLayer {
    Binary(Layer<Binary>),
    Counts(Layer<Poisson>),
    Reals(Layer<Gaussian>),
    Categories(Layer<Categorical>),
}

/// Its statistics.
#[derive(Debug)]
pub(super) enum AnyStats {
    /// Of zeros and ones, or of categories.
    Small(LayerStats<u64>),
    /// Of counts, or of real numbers.
    Large(LayerStats<i128>),
}

impl Clone for AnyStats {
    fn clone(&self) -> Self {
        match self {
            AnyStats::Small(stats) => AnyStats::Small(stats.clone()),
            AnyStats::Large(stats) => AnyStats::Large(stats.clone()),
        }
    }

    fn clone_from(&mut self, other: &Self) {
        match (self, other) {
            (AnyStats::Small(stats), AnyStats::Small(other)) => stats.clone_from(other),
            (AnyStats::Large(stats), AnyStats::Large(other)) => stats.clone_from(other),
            (stats, other) => *stats = other.clone(),
        }
    }
}

/// What a set of vertices carries in it.
#[derive(Debug)]
pub(super) enum AnyLoad {
    Binary(LayerLoad<Binary>),
    Counts(LayerLoad<Poisson>),
    Reals(LayerLoad<Gaussian>),
    Categories(LayerLoad<Categorical>),
}

/// Does the same with a layer, whatever its family.
macro_rules! with_layer {
    ($any:expr, |$layer:ident| $body:expr) => {
        match $any {
            AnyLayer::Binary($layer) => $body,
            AnyLayer::Counts($layer) => $body,
            AnyLayer::Reals($layer) => $body,
            AnyLayer::Categories($layer) => $body,
        }
    };
    ($any:expr, $stats:expr, |$layer:ident, $s:ident| $body:expr) => {
        match ($any, $stats) {
            (AnyLayer::Binary($layer), AnyStats::Small($s)) => $body,
            (AnyLayer::Counts($layer), AnyStats::Large($s)) => $body,
            (AnyLayer::Reals($layer), AnyStats::Large($s)) => $body,
            (AnyLayer::Categories($layer), AnyStats::Small($s)) => $body,
            _ => unreachable!("statistics of another family"),
        }
    };
    ($any:expr, $stats:expr, $load:expr, |$layer:ident, $s:ident, $l:ident| $body:expr) => {
        match ($any, $stats, $load) {
            (AnyLayer::Binary($layer), AnyStats::Small($s), AnyLoad::Binary($l)) => $body,
            (AnyLayer::Counts($layer), AnyStats::Large($s), AnyLoad::Counts($l)) => $body,
            (AnyLayer::Reals($layer), AnyStats::Large($s), AnyLoad::Reals($l)) => $body,
            (AnyLayer::Categories($layer), AnyStats::Small($s), AnyLoad::Categories($l)) => $body,
            _ => unreachable!("statistics of another family"),
        }
    };
}
pub(super) use with_layer;

/// Draws a value, for counts with so many times the mean.
pub(super) type Drawer<'a> = Box<dyn Fn(f64, &mut dyn FnMut() -> f64) -> f64 + 'a>;

impl AnyLayer {
    /// The layers of one relation.
    pub(super) fn of(relation: &Relation, two_sided: bool, priors: &Priors) -> Vec<Self> {
        if priors.degree_evenness.is_some() {
            return vec![AnyLayer::degree_corrected(relation, two_sided, priors)];
        }
        let (pairs, listed) = (relation.pairs(), relation.listed() as u64);
        let unlisted = pairs - listed - relation.hidden_pairs().count() as u64;
        let values: Vec<f64> = relation.entries().map(|(_, _, value)| value).collect();
        let binary = |code: fn(f64) -> f64| {
            let family = Binary::new(priors.beta.0, priors.beta.1, pairs);
            AnyLayer::Binary(Layer::new(relation, two_sided, true, family, code))
        };
        let reals = |dense: bool| {
            let zeros = if dense { unlisted } else { 0 };
            let n = (listed + zeros).max(1) as f64;
            let mean = values.iter().map(|x| x / n).sum::<f64>();
            let square = |x: f64| (x - mean) * (x - mean) / n;
            let variance =
                values.iter().map(|&x| square(x)).sum::<f64>() + zeros as f64 * square(0.0);
            let spread = if variance > 0.0 { variance.sqrt() } else { 1.0 };
            let grid = grid_of(relation, dense);
            let family = Gaussian::new(&[(mean, spread, grid)], priors.reals, pairs).remove(0);
            AnyLayer::Reals(Layer::new(relation, two_sided, dense, family, |x| x))
        };
        match &relation.shape.values {
            Values::Binary => vec![binary(|x| x)],
            Values::Counts => {
                let family = poisson(&values, listed + unlisted, priors);
                vec![AnyLayer::Counts(Layer::new(relation, two_sided, true, family, |x| x))]
            }
            Values::RealsOnLinks => vec![binary(|_| 1.0), reals(false)],
            Values::Reals => vec![reals(true)],
            Values::Categories(kinds) => {
                let family = Categorical::new(&[kinds.len()], priors.categories, pairs).remove(0);
                vec![AnyLayer::Categories(Layer::new(relation, two_sided, true, family, |x| x))]
            }
        }
    }

    /// The layer of a relation of counts whose vertices have degrees of their own.
    fn degree_corrected(relation: &Relation, two_sided: bool, priors: &Priors) -> Self {
        let values: Vec<f64> = relation.entries().map(|(_, _, value)| value).collect();
        let twice = !relation.shape.directed && !two_sided;
        // Either order of two vertices, and each of them with itself.
        let loops = if relation.shape.loops { relation.n() as u64 } else { 0 };
        let pairs = if twice { 2 * relation.pairs() - loops } else { relation.pairs() };
        let family = poisson(&values, pairs, priors);
        let layer = Layer::new(relation, two_sided, true, family, |x| x);
        AnyLayer::Counts(layer.counting_twice(twice))
    }

    /// No statistics.
    pub(super) fn empty_stats(&self) -> AnyStats {
        match self {
            AnyLayer::Binary(_) | AnyLayer::Categories(_) => AnyStats::Small(LayerStats::default()),
            AnyLayer::Counts(_) | AnyLayer::Reals(_) => AnyStats::Large(LayerStats::default()),
        }
    }

    /// Nothing carried.
    pub(super) fn empty_load(&self) -> AnyLoad {
        match self {
            AnyLayer::Binary(layer) => AnyLoad::Binary(LayerLoad::new(layer.family.width())),
            AnyLayer::Counts(layer) => AnyLoad::Counts(LayerLoad::new(layer.family.width())),
            AnyLayer::Reals(layer) => AnyLoad::Reals(LayerLoad::new(layer.family.width())),
            AnyLayer::Categories(layer) => {
                AnyLoad::Categories(LayerLoad::new(layer.family.width()))
            }
        }
    }

    /// Weighs a set of so many vertices of each side, whose members are marked.
    pub(super) fn weigh(
        &self,
        relation: &Relation,
        (items, set): (&[Item], Count),
        z: &Partition,
        member: &[bool],
        load: &mut AnyLoad,
    ) {
        match (self, load) {
            (AnyLayer::Binary(l), AnyLoad::Binary(x)) => {
                x.weigh(l, relation, set, items, z, member);
            }
            (AnyLayer::Counts(l), AnyLoad::Counts(x)) => {
                x.weigh(l, relation, set, items, z, member);
            }
            (AnyLayer::Reals(l), AnyLoad::Reals(x)) => {
                x.weigh(l, relation, set, items, z, member);
            }
            (AnyLayer::Categories(l), AnyLoad::Categories(x)) => {
                x.weigh(l, relation, set, items, z, member);
            }
            _ => unreachable!("a load of another family"),
        }
    }

    /// The same layer with other hyper-parameters.
    pub(super) fn with_hypers(&self, values: &[f64]) -> Self {
        fn of<F: Family<Word: Times>>(layer: &Layer<F>, values: &[f64]) -> Layer<F> {
            layer.with_family(F::with_hypers(std::slice::from_ref(&layer.family), values).remove(0))
        }
        match self {
            AnyLayer::Binary(layer) => AnyLayer::Binary(of(layer, values)),
            AnyLayer::Counts(layer) => AnyLayer::Counts(of(layer, values)),
            AnyLayer::Reals(layer) => AnyLayer::Reals(of(layer, values)),
            AnyLayer::Categories(layer) => AnyLayer::Categories(of(layer, values)),
        }
    }

    /// The same layer with other data.
    pub(super) fn with_data(&self, relation: &Relation) -> Self {
        fn of<F: Family<Word: Times>>(layer: &Layer<F>, relation: &Relation) -> Layer<F> {
            let family = layer.family.clone();
            let code = |x| x;
            Layer::new(relation, layer.two_sided, layer.dense, family, code)
                .counting_twice(layer.twice)
        }
        match self {
            AnyLayer::Binary(layer) => {
                let family = layer.family.clone();
                AnyLayer::Binary(Layer::new(relation, layer.two_sided, true, family, |_| 1.0))
            }
            AnyLayer::Counts(layer) => AnyLayer::Counts(of(layer, relation)),
            AnyLayer::Reals(layer) => {
                // Those that are drawn may be far away.
                let family = layer.family.on(grid_of(relation, layer.dense));
                AnyLayer::Reals(of(&layer.with_family(family), relation))
            }
            AnyLayer::Categories(layer) => AnyLayer::Categories(of(layer, relation)),
        }
    }

    /// Draws values with one parameter.
    pub(super) fn drawer<'a>(&'a self, uniform: &mut dyn FnMut() -> f64) -> Drawer<'a> {
        if let AnyLayer::Counts(layer) = self {
            let (family, mean) = (&layer.family, layer.family.draw_parameter(uniform));
            return Box::new(move |times, uniform| {
                family.draw_value(&(times * mean), uniform).min(MAX_COUNT)
            });
        }
        with_layer!(self, |layer| {
            let (family, parameter) = (&layer.family, layer.family.draw_parameter(uniform));
            Box::new(move |_, uniform| family.draw_value(&parameter, uniform))
        })
    }
}

/// A grid for the real numbers of a relation, of all pairs or of those that are listed.
fn grid_of(relation: &Relation, dense: bool) -> Grid {
    let listed = relation.entries().map(|(_, _, value)| value);
    Grid::new(listed.chain(dense.then_some(0.0)), relation.pairs())
}

/// The family of counts of so many pairs, of which those that are not 0 are listed.
fn poisson(listed: &[f64], pairs: u64, priors: &Priors) -> Poisson {
    let total: f64 = listed.iter().sum();
    let typical = if total > 0.0 { total / pairs as f64 } else { 1.0 };
    let largest = listed.iter().copied().fold(0.0, f64::max) as u64;
    Poisson::new(&[typical], priors.counts, largest, total as u64).remove(0)
}
