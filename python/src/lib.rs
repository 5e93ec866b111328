//! The compiled part of the Python package: arguments in, arrays and JSON out, no statistics. What users see
//! is made of it in `python/armix`.

mod data;
mod errors;
mod fit;
mod labels;
mod run;

use pyo3::prelude::*;

#[pymodule]
mod _armix {
    #[pymodule_export]
    use super::data::{Data, cells, columns, exact, log_joint, network, read, reload};
    #[pymodule_export]
    use super::fit::{fit, moves, resume, strategies};
    #[pymodule_export]
    use super::labels::{ball, compare, diagnose, ess, mcse, modes, rhat, salso, similarity};
    #[pymodule_export]
    use super::run::Run;

    /// The version, from Cargo.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
