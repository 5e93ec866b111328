//! How much is run: as much as in the paper, or less of the same.

/// Numbers of data sets, chains, restarts and iterations.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Size {
    /// What the folder of results says about it.
    pub name: &'static str,
    /// Iterations of each of 16 chains on the four-vertex graph.
    pub sampler_test: usize,
    /// Data sets of each Bernoulli example.
    pub sets: u64,
    /// Iterations on each of them.
    pub examples: usize,
    /// S.
    pub chains: usize,
    /// Independent restarts on networks.
    pub restarts: u64,
    /// Iterations of ARM on downsampled networks; half of them are looked at, too.
    pub downsampling: usize,
    /// Iterations of ARM beside its variants, and with other numbers of chains.
    pub variants: usize,
    /// Numbers of chains.
    pub numbers: &'static [usize],
    /// On full networks: iterations of Gibbs, how many of them come first for all, and of ARM.
    pub traces: (usize, usize, usize),
}

impl Size {
    /// That of the paper.
    pub(crate) const FULL: Size = Size {
        name: "full",
        sampler_test: 10_000,
        sets: 20,
        examples: 2000,
        chains: 8,
        restarts: 4,
        downsampling: 2000,
        variants: 1000,
        numbers: &[2, 4, 8, 16],
        traces: (10_000, 500, 1000),
    };

    /// The same shape in minutes.
    pub(crate) const QUICK: Size = Size {
        name: "quick",
        sampler_test: 2500,
        sets: 4,
        examples: 1000,
        restarts: 3,
        downsampling: 100,
        variants: 100,
        traces: (200, 50, 50),
        ..Size::FULL
    };

    /// The same shape in seconds, for the tests.
    pub(crate) const TINY: Size = Size {
        name: "tiny",
        sampler_test: 200,
        sets: 2,
        examples: 40,
        chains: 2,
        restarts: 2,
        downsampling: 20,
        variants: 20,
        numbers: &[2, 3],
        traces: (40, 10, 10),
    };
}
