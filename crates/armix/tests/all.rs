//! All tests of the library in one program: what they share is compiled once, which saves minutes.
//! One kind of them: `cargo test -p armix --test all kernels`.

mod architecture;
mod conformance;
mod determinism;
mod diagnostics;
mod ensembles;
mod estimates;
mod formats;
mod geweke;
mod hopeless;
mod hostile;
mod hypers;
mod invariants;
mod kernels;
mod ladder;
mod nonconjugate;
mod posterior;
mod priors;
mod properties;
mod ranks;
mod salso;
mod shared;
mod store;
mod student;
mod tables;
mod tuning;
