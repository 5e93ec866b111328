//! The command line of armix: arguments in, results out, no statistics.

mod data;
mod exact;
mod fit;
mod output;
mod print;
mod progress;
mod verify;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Bayesian clustering of tables and networks whose posterior you can trust.
#[derive(Debug, Parser)]
#[command(name = "armix", version, after_help = AFTER_HELP, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  armix fit                          cluster the built-in karate club
  armix fit friends.edges            cluster the vertices of your network
  armix fit answers.csv --json       cluster the rows of a binary table
  armix exact four-vertex            the exact posterior of a tiny problem
  armix verify                       prove on small problems that every sampler is right";

#[derive(Debug, Subcommand)]
enum Command {
    /// Sample partitions of a network's vertices or a table's rows
    Fit(Box<fit::Args>),
    /// Compute the exact posterior of a small problem by enumeration
    Exact(exact::Args),
    /// Prove that every move leaves the posterior of every model invariant
    Verify(verify::Args),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Fit(args) => fit::run(*args),
        Command::Exact(args) => exact::run(&args),
        Command::Verify(args) => verify::run(&args),
    };
    result.unwrap_or_else(|error| {
        output::say(&format!("armix: {error}"));
        ExitCode::from(2)
    })
}
