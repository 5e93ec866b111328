//! The items: the paper's tables and figures.

use super::lab::Lab;
use super::report::Report;
use super::unit::Unit;
use super::{bernoulli, chains, downsampling, network_traces, sampler_test, variants};
use armix::error::Result;
use armix::plot::Drawing;
use clap::ValueEnum;

/// What an item has made.
pub(crate) struct Made {
    pub report: Report,
    pub drawing: Drawing,
}

/// A table or figure of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Item {
    /// The four-vertex graph: every sampler against the exact posterior
    SamplerTest,
    /// Bernoulli example 1: fractions in the largest blocks along the chains
    BernoulliTraces,
    /// Bernoulli examples 1 to 3: autocorrelation times
    BernoulliTable,
    /// The same: ARM against SM and Gibbs, a point for each data set
    BernoulliScatter,
    /// Accept rates and R̂ of Gibbs, SM, bSM, sARM, ARM as printed, ARM
    Variants,
    /// R̂ against the number of chains
    Chains,
    /// R̂ on networks of several scales
    Downsampling,
    /// Log joint on the full networks
    NetworkTraces,
    /// Everything
    All,
}

impl Item {
    /// The items that this one stands for, in the order in which they are run.
    pub(crate) fn expand(self) -> Vec<Item> {
        match self {
            Item::All => Item::every(),
            item => vec![item],
        }
    }

    /// All but `all`.
    pub(crate) fn every() -> Vec<Item> {
        Item::value_variants().iter().copied().filter(|&item| item != Item::All).collect()
    }

    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or(String::new(), |value| value.get_name().to_string())
    }

    pub(crate) fn needs_networks(self) -> bool {
        use Item::{Chains, Downsampling, NetworkTraces, Variants};
        matches!(self, Chains | Downsampling | NetworkTraces | Variants)
    }

    /// What has to be done for it.
    pub(crate) fn units(self, lab: &Lab) -> Vec<Unit> {
        match self {
            Item::SamplerTest => sampler_test::units(lab),
            Item::BernoulliTraces => bernoulli::trace_units(lab),
            Item::BernoulliTable | Item::BernoulliScatter => bernoulli::table_units(lab),
            Item::Variants => variants::units(lab),
            Item::Chains => chains::units(lab),
            Item::Downsampling => downsampling::units(lab),
            Item::NetworkTraces => network_traces::units(lab),
            Item::All => Vec::new(),
        }
    }

    /// What is made of its units once they are done.
    pub(crate) fn make(self, lab: &Lab) -> Result<Made> {
        match self {
            Item::SamplerTest => sampler_test::report(lab),
            Item::BernoulliTraces => bernoulli::traces(lab),
            Item::BernoulliTable => bernoulli::table(lab),
            Item::BernoulliScatter | Item::All => bernoulli::scatter(lab),
            Item::Variants => variants::report(lab),
            Item::Chains => chains::report(lab),
            Item::Downsampling => downsampling::report(lab),
            Item::NetworkTraces => network_traces::report(lab),
        }
    }
}
