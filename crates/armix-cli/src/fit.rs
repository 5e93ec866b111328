//! `armix fit`: samples, shows progress, and ends with a summary.

use crate::data::{self, DataArgs, Job};
use crate::output::{emit, emit_json, say};
use crate::print;
use crate::progress::Progress;
use armix::error::{Error, Result};
use armix::model::Model;
use armix::models::Irm;
use armix::moves::{Options, Schedule, registry};
use armix::run::{Run, Settings, Start};
use armix::state::Target;
use armix::summary::Summary;
use armix::{ensemble, io};
use std::path::Path;
use std::process::ExitCode;

/// The exit code of a run that was stopped by Ctrl-C.
const INTERRUPTED: u8 = 130;

#[derive(Debug, clap::Args)]
#[command(after_long_help = after_help())]
pub(crate) struct Args {
    /// Built-in data (see --help), an edge list, or a CSV table of zeros and ones
    #[arg(default_value = "karate")]
    data: String,

    #[command(flatten)]
    model: DataArgs,

    /// The moves of an iteration, with repeats: for example arm-cells*5,arm,gibbs
    #[arg(long, default_value_t, value_name = "LIST", help_heading = "Sampling")]
    moves: Schedule,

    /// Independent ensembles; convergence is judged between them
    #[arg(long, default_value_t = 4, value_name = "R", help_heading = "Sampling")]
    ensembles: usize,

    /// Chains of an ensemble; they learn from each other's past
    #[arg(long, default_value_t = 8, value_name = "S", help_heading = "Sampling")]
    chains: usize,

    /// Iterations after warm-up
    #[arg(short = 'n', long, default_value_t = 1000, value_name = "N", help_heading = "Sampling")]
    iterations: usize,

    /// Gibbs iterations before them, which fill the history
    #[arg(long, default_value_t = 50, value_name = "N", help_heading = "Sampling")]
    warmup: usize,

    /// The same seed, data and settings give the same result
    #[arg(long, default_value_t = 1, help_heading = "Sampling")]
    seed: u64,

    /// Where chains begin: crp, one, singletons, uniform:K, or a file of labels
    #[arg(long, default_value = "crp", help_heading = "Sampling")]
    start: String,

    /// Restricted scans that improve the launch state of sm and bsm
    #[arg(long, default_value_t = 5, value_name = "L", help_heading = "Sampling")]
    launch_scans: usize,

    /// Stop adapting after this many iterations: the history stays as it is then
    #[arg(long, value_name = "N", help_heading = "Sampling")]
    freeze_after: Option<usize>,

    /// Memory for the history, for example 500M or 2G; beyond it the history is thinned evenly
    #[arg(long, default_value = "1G", value_name = "SIZE", value_parser = parse_bytes, help_heading = "Sampling")]
    history_memory: u64,

    /// Threads [default: one per core]; does not change the result
    #[arg(long, value_name = "N", help_heading = "Sampling")]
    threads: Option<usize>,

    /// Show no progress
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,

    /// Print the summary as one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

fn after_help() -> String {
    let moves: Vec<String> =
        (registry::<Irm>().iter()).map(|m| format!("  {:10} {}\n", m.name, m.about)).collect();
    format!(
        "Moves:\n{}\n{}\nExamples:\n  armix fit\n  armix fit friends.edges --iterations 5000 --seed 7\n  \
         armix fit bernoulli-1 --moves sm,gibbs --json\n  armix fit grid:10x10 --moves arm-cells*5,arm,gibbs --chains 16",
        moves.concat(),
        data::builtin_help()
    )
}

fn parse_bytes(text: &str) -> std::result::Result<u64, String> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = match text[digits.len()..]
        .trim()
        .to_ascii_uppercase()
        .trim_end_matches("IB")
        .trim_end_matches('B')
    {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        "T" => 1u64 << 40,
        _ => return Err("write a number with K, M, G or T, for example 500M".into()),
    };
    let number: u64 =
        digits.parse().map_err(|_| "write a number with K, M, G or T, for example 500M")?;
    number.checked_mul(unit).ok_or_else(|| "this is too large".into())
}

/// The start: a name, or else a file of labels.
fn start(text: &str, names: &[String]) -> Result<Start> {
    let named = text.parse();
    if named.is_err() && !text.starts_with("uniform:") && Path::new(text).exists() {
        return Ok(Start::Labels(io::read_labels(Path::new(text), names)?));
    }
    named.map_err(|error: Error| match Path::new(text).extension() {
        Some(_) => Error::new(format!("--start {text}: there is no such file; use a file of labels, crp, one, singletons or uniform:K")),
        None => error,
    })
}

struct Fit<'a> {
    settings: Settings,
    progress: &'a mut Progress,
}

impl Job for Fit<'_> {
    type Output = Run;
    fn run<M: Model>(self, target: Target<M>) -> Result<Run> {
        ensemble::sample(&target, &self.settings, self.progress)
    }
}

pub(crate) fn run(args: Args) -> Result<ExitCode> {
    let dataset = data::load(&args.data, &args.model)?;
    let settings = Settings {
        ensembles: args.ensembles,
        chains: args.chains,
        iterations: args.iterations,
        warmup: args.warmup,
        schedule: args.moves,
        moves: Options { launch_scans: args.launch_scans },
        start: start(&args.start, &dataset.names)?,
        seed: args.seed,
        freeze_after: args.freeze_after,
        history_bytes: args.history_memory,
        threads: args.threads.unwrap_or(0),
        keep_draws: None,
    };
    settings.check(dataset.data.n())?;
    if !args.quiet {
        say(&data::describe(&args.data, &dataset));
        dataset.notes.iter().for_each(|note| say(&format!("  {note}")));
    }
    let mut progress = Progress::new(&settings, args.quiet)?;
    let fit = Fit { settings, progress: &mut progress };
    let run = data::with_target(&dataset, &args.model, fit)?;
    progress.finish();
    if run.iterations == 0 {
        say("armix: stopped during warm-up: nothing was recorded");
        return Ok(ExitCode::from(INTERRUPTED));
    }
    let summary = Summary::new(&run);
    if args.json {
        emit_json(&summary)?;
    } else {
        emit(&print::summary(&summary, &args.data, &run.settings, &dataset))?;
    }
    Ok(if run.interrupted() { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
}
