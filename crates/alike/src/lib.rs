//! Nothing but dependencies: features that front ends of the library ask of the same packages, so that these are compiled once for all of
//! them. `Cargo.toml` says more.
