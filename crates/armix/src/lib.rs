//! Bayesian clustering whose posterior can be trusted.
//!
//! armix samples partitions, of the rows of a table (Dirichlet-process mixtures) or of the
//! vertices of a network (the infinite relational model), with the *adaptive reconfiguration
//! moves* (ARM) of Herlau, Mørup, Teh and Schmidt: several chains run in parallel, and where their
//! past states disagree the next bold move is proposed.
//!
//! ```
//! use armix::{builtin, ensemble, models::Irm, run::Settings, state::Target, summary::Summary};
//!
//! let karate = builtin::karate();
//! let target = Target::new(Irm::new(karate, 1.0, 1.0)?, 1.0)?;
//! let settings = Settings { iterations: 200, ..Settings::default() };
//! let run = ensemble::sample(&target, &settings, &mut ())?;
//! let summary = Summary::new(&run);
//! assert_eq!(summary.best_partition.len(), 34);
//! # Ok::<(), armix::error::Error>(())
//! ```
//!
//! # Where things are
//!
//! [`partition`] and [`state`] hold a partition with the statistics of its blocks; [`sweep`]
//! is the one primitive; [`moves`] are recipes of sweeps; [`ensemble`] runs chains; a [`run`] is
//! what comes out. [`models`] and [`moves::registry`] list what there is; [`verify`] proves that
//! every move leaves the posterior of every model invariant.

pub mod account;
pub mod answer;
pub mod any_target;
mod base64;
pub mod bench;
pub mod blocks;
pub mod builtin;
pub mod checkpoint;
pub mod compare;
pub mod constraints;
pub mod data;
pub mod diagnose;
pub mod ensemble;
pub mod error;
pub mod estimate;
pub mod evidence;
pub mod exact;
pub mod families;
pub mod history;
pub mod hyper;
pub mod io;
pub mod ladder;
pub mod model;
pub mod models;
pub mod moves;
pub mod newcomers;
pub mod partition;
pub mod pilot;
pub mod plot;
pub mod predict;
pub mod prior;
pub mod problem;
pub mod relations;
pub mod report;
pub mod rng;
pub mod run;
mod runner;
pub mod slice;
pub mod special;
pub mod state;
pub mod store;
pub mod summary;
pub mod sweep;
pub mod tuning;
pub mod verify;
