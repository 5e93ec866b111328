//! Mixed tables: each column has its own type, and all are independent within a block.

use super::product::{Part, Product};
use super::{Bernoulli, Columns};
use crate::data::{Column, Kind, Table};
use crate::error::Result;
use crate::families::{Categorical, Family, Gaussian, Poisson};
use crate::hyper::Hyper;
use crate::model::{Beside, Model};
use crate::partition::{Item, Partition, Slot};

/// A mixture over the rows of a table of any columns: the product of one mixture for each type.
pub type Mixed = Product<Typed>;

impl Mixed {
    /// The mixture over the rows of a table, with the default hyper-parameters for all but zeros and ones.
    pub fn of(table: &Table, beta: (f64, f64)) -> Result<Self> {
        let (mut parts, mut place) = (Vec::new(), vec![(0, 0); table.d()]);
        for kind in Kind::ALL {
            let chosen: Vec<usize> =
                (0..table.d()).filter(|&at| table.columns()[at].kind() == kind).collect();
            if chosen.is_empty() {
                continue;
            }
            for (own, &at) in chosen.iter().enumerate() {
                place[at] = (parts.len() as u32, own as u32);
            }
            let columns: Vec<&Column> = chosen.iter().map(|&at| &table.columns()[at]).collect();
            parts.push(Typed::new(kind, &columns, beta)?);
        }
        Ok(Product::new(parts, place))
    }
}

macro_rules! typed {
    ($($variant:ident($model:ty)),*) => {
        /// A mixture over columns of one type.
        #[derive(Debug, Clone)]
        #[allow(missing_docs)]
        pub enum Typed { $($variant($model)),* }

        /// Its statistics.
        #[allow(missing_docs)]
        pub enum TypedStats { $($variant(<$model as Model>::Stats)),* }

        /// What rows carry in it.
        #[allow(missing_docs)]
        pub enum TypedLoad { $($variant(<$model as Model>::Load)),* }

        impl Clone for TypedStats {
            fn clone(&self) -> Self {
                match self { $(TypedStats::$variant(stats) => TypedStats::$variant(stats.clone())),* }
            }
            fn clone_from(&mut self, source: &Self) {
                match (self, source) {
                    $((TypedStats::$variant(mine), TypedStats::$variant(other)) => mine.clone_from(other),)*
                    (mine, other) => *mine = other.clone(),
                }
            }
        }

        /// Does something with the model, its statistics and its load, whatever its type.
        macro_rules! each {
            ($self:expr, $m:ident => $e:expr) => {
                match $self { $(Typed::$variant($m) => $e),* }
            };
            ($self:expr, $stats:expr, ($m:ident, $s:ident) => $e:expr) => {
                match ($self, $stats) {
                    $((Typed::$variant($m), TypedStats::$variant($s)) => $e,)*
                    _ => unreachable!("statistics of another type"),
                }
            };
            ($self:expr, $stats:expr, $load:expr, ($m:ident, $s:ident, $l:ident) => $e:expr) => {
                match ($self, $stats, $load) {
                    $((Typed::$variant($m), TypedStats::$variant($s), TypedLoad::$variant($l)) => $e,)*
                    _ => unreachable!("statistics of another type"),
                }
            };
            ($self:expr, map $m:ident => $e:expr) => {
                match $self { $(Typed::$variant($m) => Typed::$variant($e)),* }
            };
        }

        impl Typed {
            fn no_stats(&self) -> TypedStats {
                match self { $(Typed::$variant(m) => TypedStats::$variant(m.empty_stats())),* }
            }
            fn no_load(&self) -> TypedLoad {
                match self { $(Typed::$variant(m) => TypedLoad::$variant(m.empty_load())),* }
            }
            fn weigh_rows(&self, items: &[Item], z: &Partition, load: &mut TypedLoad) {
                match (self, load) {
                    $((Typed::$variant(m), TypedLoad::$variant(load)) => m.weigh(items, z, load),)*
                    _ => unreachable!("a load of another type"),
                }
            }
        }
    };
}

typed!(
    Binary(Bernoulli),
    Categorical(Columns<Categorical>),
    Count(Columns<Poisson>),
    Real(Columns<Gaussian>)
);

impl Typed {
    fn new(kind: Kind, columns: &[&Column], beta: (f64, f64)) -> Result<Self> {
        Ok(match kind {
            Kind::Binary => {
                Typed::Binary(Bernoulli::new(Table::zeros_and_ones(columns)?, beta.0, beta.1)?)
            }
            Kind::Categorical => Typed::Categorical(Columns::new(columns, Categorical::DEFAULTS)?),
            Kind::Count => Typed::Count(Columns::new(columns, Poisson::DEFAULTS)?),
            Kind::Real => Typed::Real(Columns::new(columns, Gaussian::DEFAULTS)?),
        })
    }
}

impl Part for Typed {
    const PRODUCT: &'static str = "mixed";

    fn example_parts(n: usize) -> (Vec<Self>, Vec<(u32, u32)>) {
        let parts = vec![
            Typed::Binary(Bernoulli::example(n)),
            Typed::Categorical(Columns::example(n)),
            Typed::Count(Columns::example(n)),
            Typed::Real(Columns::example(n)),
        ];
        // In another order than the parts.
        let reals = [(3, 0), (3, 1)];
        let others = [(0, 2), (1, 1), (2, 1), (0, 0), (0, 1), (1, 0), (2, 0), (1, 2)];
        (parts, reals.into_iter().chain(others).collect())
    }

    fn label(&self) -> &'static str {
        match self {
            Typed::Binary(_) => Kind::Binary.name(),
            Typed::Categorical(_) => Kind::Categorical.name(),
            Typed::Count(_) => Kind::Count.name(),
            Typed::Real(_) => Kind::Real.name(),
        }
    }

    fn is_weighed_last(&self) -> bool {
        // Counts take longest, and what they can add at most is near to what they do add in a block that suits them.
        matches!(self, Typed::Count(_))
    }

    fn ceiling(&self, load: &TypedLoad) -> f64 {
        match (self, load) {
            (Typed::Count(counts), TypedLoad::Count(load)) => counts.ceiling(load),
            _ => f64::INFINITY,
        }
    }
}

impl Model for Typed {
    const NAME: &'static str = "typed columns";
    type Stats = TypedStats;
    type Load = TypedLoad;

    fn n(&self) -> usize {
        each!(self, m => m.n())
    }
    fn empty_stats(&self) -> TypedStats {
        self.no_stats()
    }
    fn empty_load(&self) -> TypedLoad {
        self.no_load()
    }
    fn grow(&self, stats: &mut TypedStats, slots: usize) {
        each!(self, stats, (m, s) => m.grow(s, slots));
    }
    fn weigh(&self, items: &[Item], z: &Partition, load: &mut TypedLoad) {
        self.weigh_rows(items, z, load);
    }
    fn add(&self, stats: &mut TypedStats, load: &TypedLoad, z: &Partition, slot: Slot) {
        each!(self, stats, load, (m, s, l) => m.add(s, l, z, slot));
    }
    fn sub(&self, stats: &mut TypedStats, load: &TypedLoad, z: &Partition, slot: Slot) {
        each!(self, stats, load, (m, s, l) => m.sub(s, l, z, slot));
    }
    fn gains(
        &self,
        stats: &TypedStats,
        load: &mut TypedLoad,
        home: Option<Slot>,
        z: &Partition,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        each!(self, stats, load, (m, s, l) => m.gains(s, l, home, z, slots, gains));
    }
    fn skips_hopeless(&self) -> bool {
        each!(self, m => m.skips_hopeless())
    }
    fn add_likely_gains(
        &self,
        stats: &TypedStats,
        load: &mut TypedLoad,
        beside: Beside,
        z: &Partition,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        each!(self, stats, load, (m, s, l) => m.add_likely_gains(s, l, beside, z, slots, gains));
    }
    fn ln_evidence(&self, stats: &TypedStats, z: &Partition) -> f64 {
        each!(self, stats, (m, s) => m.ln_evidence(s, z))
    }
    fn ln_evidence_naive(&self, labels: &[u32]) -> f64 {
        each!(self, m => m.ln_evidence_naive(labels))
    }
    fn hypers(&self) -> Vec<Hyper> {
        each!(self, m => m.hypers())
    }
    fn with_hypers(&self, values: &[f64]) -> Self {
        each!(self, map m => m.with_hypers(values))
    }
    fn ln_evidence_with(&self, values: &[f64], stats: &TypedStats, z: &Partition) -> f64 {
        each!(self, stats, (m, s) => m.ln_evidence_with(values, s, z))
    }
    fn refresh(&self, stats: &mut TypedStats, z: &Partition) {
        each!(self, stats, (m, s) => m.refresh(s, z));
    }
    fn predict(&self, stats: &TypedStats, z: &Partition, entry: (u32, u32)) -> f64 {
        each!(self, stats, (m, s) => m.predict(s, z, entry))
    }
    fn ln_predictive(
        &self,
        stats: &TypedStats,
        z: &Partition,
        entry: (u32, u32),
        value: f64,
    ) -> f64 {
        each!(self, stats, (m, s) => m.ln_predictive(s, z, entry, value))
    }
    fn example(n: usize) -> Self {
        Typed::Count(Columns::example(n))
    }
    fn simulate(&self, labels: &[u32], uniform: &mut dyn FnMut() -> f64) -> Self {
        each!(self, map m => m.simulate(labels, uniform))
    }
    fn stats_bytes(&self, blocks: usize) -> u64 {
        each!(self, m => m.stats_bytes(blocks))
    }
}
