//! `armix show`: the summary of a saved run.

use crate::fit::report;
use crate::output::say;
use armix::error::{Error, Result};
use armix::store::Folder;
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

    /// Print one JSON object, the same as armix fit --json
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let (manifest, run) = Folder::new(&args.run).load()?;
    if run.iterations == 0 {
        let message =
            "nothing has been recorded in this run yet; start or continue it with armix resume";
        return Err(Error::new(message).in_file(&args.run));
    }
    if run.interrupted() && !args.json {
        say(&format!("{} of {} iterations are done", run.iterations, run.settings.iterations));
    }
    report(&run, &manifest.data.source, &manifest.data.names, args.json)?;
    Ok(ExitCode::SUCCESS)
}
