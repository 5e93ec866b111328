//! `armix diagnose`: can a run be believed?

use crate::output::{emit, emit_json};
use crate::print;
use crate::source::Source;
use armix::diagnose::{BurnIn, Diagnosis, Options, Verdict};
use armix::error::Result;
use std::path::PathBuf;
use std::process::ExitCode;

/// The exit code of --fail-if-not-converged.
const NOT_CONVERGED: u8 = 1;

#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Convergence is judged between independent ensembles: the chains of one ensemble learn from each other's past, so
that their agreement proves nothing. R̂ and effective sample sizes (ESS) are computed between the chains of the
same index in all ensembles and averaged over the indices; R̂ up to 1.1 is taken as agreement.

Draws of other programs can be diagnosed too: text with a line of labels for each draw, or a NumPy array (draw,
item), (chain, draw, item) or (ensemble, chain, draw, item). Each file is taken as an independent chain.

Examples:
  armix diagnose armix-runs/karate-20260131-120000
  armix diagnose RUN --burn-in 20% --json
  armix diagnose RUN --fail-if-not-converged && armix summary RUN
  armix diagnose chain1.csv chain2.csv chain3.csv")]
pub(crate) struct Args {
    /// The folder of the run, or files with draws of another program
    #[arg(required = true)]
    run: Vec<PathBuf>,

    /// What does not count: a percentage, a fraction, or a number of iterations
    #[arg(long, default_value = "50%", value_name = "AMOUNT")]
    burn_in: BurnIn,

    /// Exit with code 1 unless the verdict is that the run has converged
    #[arg(long)]
    fail_if_not_converged: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let source = Source::load(&args.run)?;
    let diagnosis = Diagnosis::new(&source.run, &Options { burn_in: args.burn_in });
    if args.json {
        emit_json(&diagnosis)?;
    } else {
        emit(&print::diagnosis(&diagnosis, &source.title))?;
    }
    let failed = args.fail_if_not_converged && diagnosis.verdict != Verdict::Converged;
    Ok(if failed { ExitCode::from(NOT_CONVERGED) } else { ExitCode::SUCCESS })
}
