//! The samplers that are compared, with their names here and in print.

/// A sampler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sampler {
    /// The name of its move.
    pub name: &'static str,
    /// Its name in tables.
    pub label: &'static str,
}

impl Sampler {
    /// The moves of an iteration: interlaced with a Gibbs scan.
    pub(crate) fn schedule(self) -> String {
        if self == GIBBS { "gibbs".into() } else { format!("{},gibbs", self.name) }
    }
}

pub(crate) const GIBBS: Sampler = Sampler { name: "gibbs", label: "Gibbs" };
pub(crate) const SM: Sampler = Sampler { name: "sm", label: "SM" };
pub(crate) const BSM: Sampler = Sampler { name: "bsm", label: "bSM" };
pub(crate) const SARM: Sampler = Sampler { name: "sarm", label: "sARM" };
/// Algorithm 3.
pub(crate) const ARM_INNER: Sampler = Sampler { name: "arm-inner", label: "ARM as printed" };
/// With cells outside the two blocks that move jointly, too.
pub(crate) const ARM: Sampler = Sampler { name: "arm", label: "ARM" };
