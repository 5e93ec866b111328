//! What a model must tell about data and blocks, so that every move works with it.

use crate::hyper::Hyper;
use crate::partition::{Item, Partition, Slot};

/// What is hopeless: less than what the home has, by more than this.
#[derive(Debug, Clone, Copy)]
pub struct Beside {
    /// Where the statistics still count C.
    pub home: Slot,
    /// How much less.
    pub below: f64,
    /// What [`Model::gains`] tells of the home, if that is known.
    pub gain: Option<f64>,
}

/// A likelihood p(Y | z) with its parameters integrated out, kept as statistics of the blocks.
///
/// All methods speak of *sets* of items. What a set carries is weighed once, when it is taken
/// out of its block, and that load then serves `sub`, `gains` and `add`: this is the whole
/// difference between moving one item and moving a block.
///
/// Everything random stays outside; a model only counts. See CONTRIBUTING for how to add one.
pub trait Model: Sized + Send + Sync + 'static {
    /// The name in settings, results and tests.
    const NAME: &'static str;

    /// The statistics of all blocks. `clone_from` should reuse its buffers: every proposal copies.
    type Stats: Clone + Send;

    /// What a set of items carries; a buffer that is used again and again.
    type Load: Send;

    /// The name of this instance, if that says more than the name of the model.
    fn name(&self) -> String {
        Self::NAME.to_string()
    }

    /// The number of items.
    fn n(&self) -> usize;

    /// Which of two sides each item is on, if no block may have items of both.
    fn sides(&self) -> Option<&[bool]> {
        None
    }

    /// ln of the factor that keeps items of two sides apart: 0 if no block has both. It multiplies the
    /// prior over partitions, and gains and evidences contain it.
    fn ln_apart(&self, _labels: &[u32]) -> f64 {
        0.0
    }

    /// The statistics before any item is placed.
    fn empty_stats(&self) -> Self::Stats;

    /// A buffer for [`Model::weigh`].
    fn empty_load(&self) -> Self::Load;

    /// Makes room for slots 0, …, `slots` − 1. New slots hold empty blocks.
    fn grow(&self, stats: &mut Self::Stats, slots: usize);

    /// Measures what the items C carry against the blocks of z. The items are placed nowhere.
    fn weigh(&self, items: &[Item], z: &Partition, load: &mut Self::Load);

    /// The same if C is all of a block, which the statistics still have: they know what C carries.
    fn weigh_block(
        &self,
        _stats: &Self::Stats,
        items: &[Item],
        z: &Partition,
        _slot: Slot,
        load: &mut Self::Load,
    ) {
        self.weigh(items, z, load);
    }

    /// C joins the block in `slot`. z does not contain C, neither here nor below.
    fn add(&self, stats: &mut Self::Stats, load: &Self::Load, z: &Partition, slot: Slot);

    /// C leaves the block in `slot`: undoes [`Model::add`].
    fn sub(&self, stats: &mut Self::Stats, load: &Self::Load, z: &Partition, slot: Slot);

    /// C, which was all of a block, leaves it: what [`Model::weigh`] and [`Model::sub`] do, perhaps with less trouble.
    fn vacate(
        &self,
        stats: &mut Self::Stats,
        items: &[Item],
        z: &Partition,
        slot: Slot,
        load: &mut Self::Load,
    ) {
        self.weigh(items, z, load);
        self.sub(stats, load, z, slot);
    }

    /// For each of these slots, what ln p(Y | z) grows by if C joins it; empty slots count as
    /// new blocks. Most of all computing time is spent here.
    ///
    /// With a `home`, the statistics still count C as a part of that block, though z does not: most
    /// items stay where they are, and then nothing had to be written.
    fn gains(
        &self,
        stats: &Self::Stats,
        load: &mut Self::Load,
        home: Option<Slot>,
        z: &Partition,
        slots: &[Slot],
        gains: &mut [f64],
    );

    /// Whether [`Model::add_likely_gains`] is there, and faster than [`Model::gains`].
    fn skips_hopeless(&self) -> bool {
        false
    }

    /// Adds what [`Model::gains`] tells to `gains`, which have what the prior (and other parts of a product) says, for a choice at random: sums that are hopeless
    /// beside that of the home, which is one of the slots, may be −∞.
    fn add_likely_gains(
        &self,
        _stats: &Self::Stats,
        _load: &mut Self::Load,
        _beside: Beside,
        _z: &Partition,
        _slots: &[Slot],
        _gains: &mut [f64],
    ) {
        unreachable!("a model that skips what is hopeless has this")
    }

    /// ln p(Y | z) of the placed items, from the statistics.
    fn ln_evidence(&self, stats: &Self::Stats, z: &Partition) -> f64;

    /// ln p(Y | z) from the data and nothing else, slow and obvious: what the tests believe.
    fn ln_evidence_naive(&self, labels: &[u32]) -> f64;

    /// The hyper-parameters, in a fixed order: one for each role, with values that are valid.
    fn hypers(&self) -> Vec<Hyper>;

    /// The same data, which are shared and not copied, with other hyper-parameters, in the order of
    /// [`Model::hypers`] and within the supports of their priors.
    fn with_hypers(&self, values: &[f64]) -> Self;

    /// ln p(Y | z) as it would be with other hyper-parameters, from what was counted and summed up, and
    /// without building tables: a slice sampler asks some ten times for every value it takes.
    fn ln_evidence_with(&self, values: &[f64], stats: &Self::Stats, z: &Partition) -> f64;

    /// Brings all that the statistics keep besides counts and sums up to date with the
    /// hyper-parameters: the statistics are those of the same data with others.
    fn refresh(&self, stats: &mut Self::Stats, z: &Partition);

    /// What an entry (a pair of vertices, or row and column) is expected to be, given the blocks of z and
    /// all that was observed: for zeros and ones the probability of a one. Both items are placed.
    fn predict(&self, stats: &Self::Stats, z: &Partition, entry: (u32, u32)) -> f64;

    /// ln p of a value of an entry, given the blocks of z and all that was observed; for reals the density.
    fn ln_predictive(
        &self,
        stats: &Self::Stats,
        z: &Partition,
        entry: (u32, u32),
        value: f64,
    ) -> f64 {
        let p = self.predict(stats, z, entry);
        libm::log(if value == 1.0 { p } else { 1.0 - p })
    }

    /// A small made-up instance with n items, not symmetric in its items, for verification. If n is
    /// odd, something in it is missing, so that every test sees both kinds.
    fn example(n: usize) -> Self;

    /// New data of the same shape drawn from p(Y | z), with the same hyper-parameters and the same
    /// entries missing. Models of zeros and ones use one random number for each observed entry.
    fn simulate(&self, labels: &[u32], uniform: &mut dyn FnMut() -> f64) -> Self;

    /// The bytes that the statistics of one state take with so many blocks.
    fn stats_bytes(&self, blocks: usize) -> u64;

    /// How many reals make the parameters of one block, in models that cannot integrate them out. A chain
    /// keeps them beside z, block after block in the order of first items. Most models have none.
    fn reals_per_block(&self) -> usize {
        0
    }

    /// Whether it can be sampled at other temperatures: parameters that are not integrated out must be given their
    /// part of the heat by [`Model::lay_out`] and [`Model::ln_given`].
    fn can_be_heated(&self) -> bool {
        self.reals_per_block() == 0
    }

    /// Begins an iteration of a chain that keeps these parameters, or none yet: the model whose p(Y | z),
    /// given auxiliary variables that it draws, the moves of the iteration work with. It may be informed by
    /// past states, but by z only as far as it is a draw given z and the parameters. At inverse temperature b (`coldness`)
    /// the likelihood of the data given the parameters is raised to it, and so is the prior of z; the prior of the parameters is
    /// not. The model tells 1/b times its ln p(Y | z) then, because chains multiply it by b.
    fn lay_out(
        &self,
        _z: &Partition,
        _parameters: &[f64],
        _past: &[Vec<u32>],
        _coldness: f64,
        _uniform: &mut dyn FnMut() -> f64,
    ) -> Option<Self> {
        None
    }

    /// Ends an iteration: draws the parameters of all blocks given what was laid out, and returns
    /// ln p(Y, parameters | z).
    fn pick_up(
        &self,
        stats: &Self::Stats,
        z: &Partition,
        _parameters: &mut Vec<f64>,
        _uniform: &mut dyn FnMut() -> f64,
    ) -> f64 {
        self.ln_evidence(stats, z)
    }

    /// ln p(Y | z, parameters), which heat is applied to, of parameters that were picked up.
    fn ln_given(&self, _z: &Partition, _parameters: &[f64]) -> f64 {
        0.0
    }
}
