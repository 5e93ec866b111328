//! `armix export`: what is in a saved run, for other programs.

use crate::output::{emit, say};
use crate::source::Source;
use crate::write::{self, quoted};
use armix::diagnose::BurnIn;
use armix::error::{Error, Result};
use armix::estimate::{self, Sample};
use armix::io;
use armix::store::{Folder, SavedDraw};
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// A similarity matrix of more items than this is refused.
const MAX_SIMILARITY: usize = 5000;

#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
The draws themselves are Arrow files in the folder of the run (draws/*.arrow), which Python and R open without
armix.

Examples:
  armix export RUN labels > labels.csv
  armix export RUN similarity > similarity.csv
  armix export RUN similarity --threshold 0.5 > pairs.csv     for many items
  armix export RUN draws -o draws.npy     an array: ensemble, chain, draw, item")]
pub(crate) struct Args {
    /// The folder of the run
    run: PathBuf,

    /// What to export
    #[arg(value_enum)]
    what: What,

    /// The file to write, as CSV or, if it ends with .npy, for NumPy [default: CSV on standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// What does not count for similarities: a percentage, a fraction, or a number of iterations
    #[arg(long, default_value = "50%", value_name = "AMOUNT")]
    burn_in: BurnIn,

    /// Only pairs that share a block with at least this probability: item, item, probability
    #[arg(long, value_name = "P")]
    threshold: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum What {
    /// The best partition: item, label
    Labels,
    /// How often two items share a block, in the saved draws of all chains after burn-in
    Similarity,
    /// All saved draws: ensemble, chain, iteration, then a label for each item
    Draws,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if args.threshold.is_some() && args.what != What::Similarity {
        return Err(Error::new("--threshold is for similarities"));
    }
    let folder = Folder::new(&args.run);
    let (manifest, run) = folder.load()?;
    let names: Vec<String> = manifest.data.names.iter().map(|name| quoted(name)).collect();
    let npy = args.output.as_deref().filter(|path| path.extension().is_some_and(|e| e == "npy"));
    let text = match (args.what, npy) {
        (What::Labels, npy) => {
            let nothing =
                || Error::new("nothing has been recorded in this run yet").in_file(&args.run);
            let (_, best) = run.best().ok_or_else(nothing)?;
            if let Some(path) = npy {
                io::write_npy(path, &[best.len()], best)?;
                return Ok(ExitCode::SUCCESS);
            }
            let lines = names.iter().zip(best).map(|(name, label)| format!("{name},{label}\n"));
            format!("item,label\n{}", lines.collect::<String>())
        }
        (What::Similarity, Some(path)) if args.threshold.is_some() => {
            let message =
                "pairs above a threshold are written as CSV: choose a file that ends with .csv";
            return Err(Error::new(message).in_file(path));
        }
        (What::Similarity, _) if args.threshold.is_some() => {
            sparse(args, &names, args.threshold.unwrap_or(0.0))?
        }
        (What::Similarity, npy) => {
            let n = names.len();
            let matrix = dense(args)?;
            if let Some(path) = npy {
                io::write_npy(path, &[n, n], &matrix)?;
                return Ok(ExitCode::SUCCESS);
            }
            similarity_text(&matrix, &names)
        }
        (What::Draws, Some(path)) => {
            // Sorted like the folder of the run: ensemble, chain, iteration.
            let mut draws = draws(&folder)?;
            draws.sort_by_key(|d| (d.ensemble, d.chain, d.iteration));
            let (r, s) = (run.settings.ensembles, run.settings.chains);
            let shape = [r, s, draws.len() / (r * s), names.len()];
            let labels: Vec<u32> = draws.into_iter().flat_map(|d| d.labels).collect();
            if labels.len() != shape.iter().product::<usize>() {
                let message =
                    "some draws are missing, so that they make no array; export them as CSV";
                return Err(Error::new(message).in_file(&args.run));
            }
            io::write_npy(path, &shape, &labels)?;
            return Ok(ExitCode::SUCCESS);
        }
        (What::Draws, None) => {
            let mut out = format!("ensemble,chain,iteration,{}\n", names.join(","));
            for draw in draws(&folder)? {
                let _ = write!(out, "{},{},{}", draw.ensemble, draw.chain, draw.iteration);
                draw.labels.iter().for_each(|label| {
                    let _ = write!(out, ",{label}");
                });
                out.push('\n');
            }
            out
        }
    };
    match &args.output {
        None => emit(&text)?,
        Some(path) => write::text(path, &text)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn draws(folder: &Folder) -> Result<Vec<SavedDraw>> {
    let (draws, damaged) = folder.draws()?;
    damaged.iter().for_each(|error| say(&format!("armix: left out: {error}")));
    if draws.is_empty() {
        let message = "there are no saved partitions in this run (it may have been made with --save-partitions none)";
        return Err(Error::new(message).in_file(folder.path()));
    }
    Ok(draws)
}

/// The sample of all draws after burn-in.
fn sample(args: &Args) -> Result<Sample> {
    let source = Source::folder(&args.run)?;
    source.need_draws(args.burn_in)?;
    let burn_in = args.burn_in.of(source.run.iterations);
    Sample::from_rows(source.run.traces().flat_map(|t| source.run.draws_after(t, burn_in)))
}

/// How often two items share a block, row after row.
fn dense(args: &Args) -> Result<Vec<f64>> {
    let sample = sample(args)?;
    let n = sample.n();
    if n > MAX_SIMILARITY {
        return Err(Error::new(format!(
            "a similarity matrix of {n} items is too large: at most {MAX_SIMILARITY} can be exported whole; give --threshold 0.1 for the pairs that share a block with at least this probability"
        )));
    }
    let matrix = estimate::similarity(&sample)?;
    let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    // A probability is a number of draws out of all: what single precision lost is put back.
    let draws = sample.draws() as f64;
    Ok(pairs.map(|(i, j)| (f64::from(matrix.get(i, j)) * draws).round() / draws).collect())
}

/// The pairs that share a block with at least some probability.
fn sparse(args: &Args, names: &[String], threshold: f64) -> Result<String> {
    let found = estimate::sparse_similarity(&sample(args)?, threshold)?;
    let mut out = String::from("item_1,item_2,probability\n");
    for i in 0..found.n() {
        for &(j, p) in found.of(i).iter().filter(|(j, _)| *j as usize > i) {
            let _ = writeln!(out, "{},{},{p}", names[i], names[j as usize]);
        }
    }
    Ok(out)
}

fn similarity_text(matrix: &[f64], names: &[String]) -> String {
    let mut out = format!("item,{}\n", names.join(","));
    for (name, row) in names.iter().zip(matrix.chunks(names.len())) {
        out += name;
        row.iter().for_each(|p| {
            let _ = write!(out, ",{p}");
        });
        out.push('\n');
    }
    out
}
