//! `armix show`: the summary of a saved run.

use crate::fit::print_summary;
use crate::output::say;
use crate::source::Source;
use armix::diagnose::{Diagnosis, Options};
use armix::error::Result;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
A run that is going on is shown as of its last checkpoint.

Example:
  armix show armix-runs/karate-20260131-120000 --json")]
pub(crate) struct Args {
    /// The folder of the run
    run: PathBuf,

    /// Print one JSON object, the same as armix fit --json but for the peak memory
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let source = Source::folder(&args.run)?;
    let run = &source.run;
    if run.interrupted() && !args.json {
        say(&format!("{} of {} iterations are done", run.iterations, run.settings.iterations));
    }
    let diagnosis = Diagnosis::new(run, &Options::default());
    print_summary(run, &diagnosis, &source.title, &source.names, None, None, args.json)?;
    Ok(ExitCode::SUCCESS)
}
