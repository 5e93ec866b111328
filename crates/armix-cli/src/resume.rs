//! `armix resume`: goes on with a saved run, to the same bytes as if it had never stopped.

use crate::cluster::Team;
use crate::data;
use crate::fit::{self, Going, Loaded};
use crate::output::say;
use armix::error::{Error, Result};
use armix::store::{Folder, Recorder};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  armix resume armix-runs/karate-20260131-120000
  armix resume RUN --iterations +500      make a finished run longer
  armix resume RUN --max-time 8h          go on for a night
  mpirun -n 4 armix resume RUN            go on with four processes (docs/CLUSTER.md)")]
pub(crate) struct Args {
    /// The folder of the run
    run: PathBuf,

    /// Iterations in all, or with a + in addition to those asked for before
    #[arg(short = 'n', long, value_name = "[+]N")]
    iterations: Option<String>,

    /// Where the data are now, if they were moved
    #[arg(long, value_name = "DATA")]
    data: Option<String>,

    #[command(flatten)]
    going: Going,
}

/// The new number of iterations.
fn iterations(text: &str, before: usize) -> Result<usize> {
    let (digits, base) = text.strip_prefix('+').map_or((text, 0), |digits| (digits, before));
    let number: Option<usize> = digits.trim().parse().ok().and_then(|n: usize| n.checked_add(base));
    number.filter(|&n| n > 0).ok_or_else(|| {
        Error::new(format!(
            "--iterations {text}: write a number, or +N for N more, for example +500"
        ))
    })
}

pub(crate) fn run(args: &Args, team: &mut Team) -> Result<ExitCode> {
    if team.rank() > 0 {
        return team.follow(args.going.threads);
    }
    let folder = Folder::new(&args.run);
    let done = if args.going.until_converged { folder.load()?.1.iterations } else { 0 };
    let (choice, dataset) = data::reload(&folder.manifest()?.data, args.data.as_deref())?;
    let (recorder, saved) = Recorder::resume(folder, |manifest| {
        if let Some(text) = &args.iterations {
            manifest.settings.iterations = iterations(text, manifest.settings.iterations)?;
        }
        fit::check_until(&args.going, &manifest.settings, false)?;
        if args.going.until_converged && done >= manifest.settings.iterations {
            manifest.settings.iterations = 2 * done; // as long as planned, and asked then
        }
        manifest.settings.check(dataset.data.n())
    })?;
    let manifest = recorder.manifest().clone();
    if !args.going.quiet {
        say(&data::describe(&manifest.data.source, &dataset));
        let from = saved.as_ref().map_or(0, |s| s.iterations(&manifest.settings));
        say(&format!("  going on after iteration {from} of {}", manifest.settings.iterations));
    }
    let loaded = Loaded { info: manifest.data, elsewhere: args.data.clone(), choice, dataset };
    fit::carry_out(&loaded, manifest.settings, Some(recorder), saved, &args.going, team)
}
