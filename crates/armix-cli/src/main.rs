//! The command line of armix: arguments in, results out, no statistics.

mod bench;
mod cluster;
mod convert;
mod data;
mod diagnose;
mod exact;
mod export;
mod fit;
mod inspect;
mod memory;
mod output;
mod paper;
mod picture;
mod plot;
mod predict;
mod print;
mod progress;
mod report;
mod resume;
mod show;
mod source;
mod summary;
mod verify;
mod watch;
mod write;

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
  armix resume armix-runs/RUN        go on after Ctrl-C, a crash or a reboot
  armix diagnose armix-runs/RUN      can I believe it?
  armix summary armix-runs/RUN       which groups, and how sure?
  armix exact four-vertex            the exact posterior of a tiny problem
  armix verify                       prove on small problems that every sampler is right
  armix paper all --quick            the paper's experiments, beside what was printed";

#[derive(Debug, Subcommand)]
enum Command {
    /// Sample partitions of a network's vertices or a table's rows
    Fit(Box<fit::Args>),
    /// Continue a run that was stopped, or make it longer
    Resume(resume::Args),
    /// Print the summary of a saved run, also while it is going on
    Show(show::Args),
    /// Tell whether a saved run, or draws of another program, can be believed
    Diagnose(diagnose::Args),
    /// Tell which groups there are, and how sure they are
    Summary(summary::Args),
    /// Write everything about a run on one page that opens in a browser
    Report(report::Args),
    /// Draw pictures for papers: SVG, PNG or PDF
    Plot(plot::Args),
    /// Give probabilities of missing or held-out entries, and of blocks for new items
    Predict(predict::Args),
    /// Give labels, similarities or draws of a saved run to other programs
    Export(export::Args),
    /// Show what is in a data file, which model would be used, and what a run would cost
    Inspect(inspect::Args),
    /// Write prepared data in another format
    Convert(convert::Args),
    /// Write generated data to a file
    Generate(convert::GenerateArgs),
    /// Compute the exact posterior of a small problem by enumeration
    Exact(exact::Args),
    /// Prove that every move leaves the posterior of every model invariant
    Verify(verify::Args),
    /// Run the paper's experiments again, each beside what was printed
    Paper(paper::Args),
    /// Measure what each move costs on this machine, and how cost grows with the data
    Bench(bench::Args),
}

fn main() -> ExitCode {
    let cli = Cli::try_parse().unwrap_or_else(|error| match cluster::launched_as() {
        // One of many that say the same is enough.
        Some(rank) if rank > 0 => std::process::exit(error.exit_code()),
        // All at once: mpirun puts words of its own between pieces.
        Some(_) if error.use_stderr() => {
            output::say(error.render().to_string().trim_end());
            std::process::exit(error.exit_code())
        }
        _ => error.exit(),
    });
    let result = match cli.command {
        Command::Fit(args) => cluster::with_team(|team| fit::run(*args, team)),
        Command::Resume(args) => cluster::with_team(|team| resume::run(&args, team)),
        Command::Show(args) => show::run(&args),
        Command::Diagnose(args) => diagnose::run(&args),
        Command::Summary(args) => summary::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Plot(args) => plot::run(&args),
        Command::Predict(args) => predict::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Generate(args) => convert::generate(&args),
        Command::Exact(args) => exact::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Paper(args) => paper::run(&args),
        Command::Bench(args) => bench::run(&args),
    };
    result.unwrap_or_else(|error| {
        output::say(&format!("armix: {error}"));
        ExitCode::from(2)
    })
}
