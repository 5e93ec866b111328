//! A target of any model, behind one interface: what front ends do with data whose model they learn only when they run.
//!
//! All that depends on the model is compiled here, once for each model and in this crate alone: front ends that
//! were generic over the model would compile all of it again.

use crate::bench::{self, Cost, Place};
use crate::checkpoint::Resume;
use crate::data::{Dataset, Table};
use crate::ensemble::{self, Exchange, Local, Observer};
use crate::error::Result;
use crate::exact::{self, ExactRow};
use crate::model::Model;
use crate::pilot;
use crate::predict::{self, Assignment, Cell, HeldOutScore};
use crate::relations::Relations;
use crate::run::{Draws, Run, Settings, Start, Wishes};
use crate::state::Target;

/// A [`Target`], whatever its model.
pub trait AnyTarget: Send + Sync {
    /// The name of the model.
    fn model(&self) -> String;

    /// The number of items.
    fn n(&self) -> usize;

    /// How many hyper-parameters the model has.
    fn model_hypers(&self) -> usize;

    /// Whether p(Y | z) has a closed form, so that it can be enumerated.
    fn has_closed_form(&self) -> bool;

    /// See [`Target::can_be_heated`].
    fn can_be_heated(&self) -> bool;

    /// See [`Target::ln_q`].
    fn ln_q(&self, labels: &[u32]) -> f64;

    /// See [`ensemble::chain_bytes`].
    fn chain_bytes(&self, blocks: usize) -> u64;

    /// See [`ensemble::check`].
    fn check(&self, settings: &Settings, chains: usize) -> Result<()>;

    /// See [`pilot::settings`].
    fn settle(
        &self,
        wishes: Wishes,
        rest: Settings,
        observer: &mut dyn Observer,
    ) -> Result<Settings>;

    /// See [`ensemble::run`].
    fn run(
        &self,
        settings: &Settings,
        from: Option<Resume<'_>>,
        observer: &mut dyn Observer,
        exchange: &mut dyn Exchange,
    ) -> Result<Run>;

    /// See [`exact::posterior`].
    fn posterior(&self) -> Result<Vec<ExactRow>>;

    /// See [`predict::entries`].
    fn entries(&self, draws: &Draws<'_>, of: &[(u32, u32)]) -> Vec<f64>;

    /// See [`predict::cells`].
    fn cells(&self, table: &Table, draws: &Draws<'_>, of: &[(u32, u32)]) -> Vec<Cell>;

    /// See [`predict::levels`].
    fn levels(&self, table: &Table, draws: &Draws<'_>, of: &[(u32, u32)]) -> Vec<Vec<f64>>;

    /// See [`predict::kinds`].
    fn kinds(&self, relations: &Relations, draws: &Draws<'_>, of: &[(u32, u32)]) -> Vec<Vec<f64>>;

    /// See [`predict::assign_of`].
    fn assign(&self, draws: &Draws<'_>, estimate: &[u32]) -> Vec<Assignment>;

    /// See [`predict::held_out_score`].
    fn held_out_score(&self, dataset: &Dataset, draws: &Draws<'_>) -> HeldOutScore;

    /// See [`Place::reach`].
    fn reach(&self, start: &Start, iterations: usize, seed: u64) -> Result<Place>;

    /// See [`bench::measure`].
    fn measure(
        &self,
        place: &Place,
        wanted: &[String],
        seconds: f64,
        seed: u64,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Vec<Cost>>;
}

impl dyn AnyTarget + '_ {
    /// See [`ensemble::sample`].
    pub fn sample(&self, settings: &Settings, observer: &mut dyn Observer) -> Result<Run> {
        self.run(settings, None, observer, &mut Local)
    }
}

impl<M: Model> AnyTarget for Target<M> {
    fn model(&self) -> String {
        self.model.name()
    }

    fn n(&self) -> usize {
        self.model.n()
    }

    fn model_hypers(&self) -> usize {
        self.model.hypers().len()
    }

    fn has_closed_form(&self) -> bool {
        self.model.reals_per_block() == 0
    }

    fn can_be_heated(&self) -> bool {
        Target::can_be_heated(self)
    }

    fn ln_q(&self, labels: &[u32]) -> f64 {
        Target::ln_q(self, labels)
    }

    fn chain_bytes(&self, blocks: usize) -> u64 {
        ensemble::chain_bytes(&*self.model, blocks)
    }

    fn check(&self, settings: &Settings, chains: usize) -> Result<()> {
        ensemble::check(self, settings, chains)
    }

    fn settle(
        &self,
        wishes: Wishes,
        rest: Settings,
        observer: &mut dyn Observer,
    ) -> Result<Settings> {
        pilot::settings(self, wishes, rest, observer)
    }

    fn run(
        &self,
        settings: &Settings,
        from: Option<Resume<'_>>,
        observer: &mut dyn Observer,
        exchange: &mut dyn Exchange,
    ) -> Result<Run> {
        ensemble::run(self, settings, from, observer, exchange)
    }

    fn posterior(&self) -> Result<Vec<ExactRow>> {
        exact::posterior(self)
    }

    fn entries(&self, draws: &Draws<'_>, of: &[(u32, u32)]) -> Vec<f64> {
        predict::entries(self, draws, of)
    }

    fn cells(&self, table: &Table, draws: &Draws<'_>, of: &[(u32, u32)]) -> Vec<Cell> {
        predict::cells(self, table, draws, of)
    }

    fn levels(&self, table: &Table, draws: &Draws<'_>, of: &[(u32, u32)]) -> Vec<Vec<f64>> {
        predict::levels(self, table, draws, of)
    }

    fn kinds(&self, relations: &Relations, draws: &Draws<'_>, of: &[(u32, u32)]) -> Vec<Vec<f64>> {
        predict::kinds(self, relations, draws, of)
    }

    fn assign(&self, draws: &Draws<'_>, estimate: &[u32]) -> Vec<Assignment> {
        predict::assign_of(self, draws, estimate)
    }

    fn held_out_score(&self, dataset: &Dataset, draws: &Draws<'_>) -> HeldOutScore {
        predict::held_out_score(self, dataset, draws)
    }

    fn reach(&self, start: &Start, iterations: usize, seed: u64) -> Result<Place> {
        Place::reach(self, start, iterations, seed)
    }

    fn measure(
        &self,
        place: &Place,
        wanted: &[String],
        seconds: f64,
        seed: u64,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Vec<Cost>> {
        bench::measure(self, place, wanted, seconds, seed, progress)
    }
}
