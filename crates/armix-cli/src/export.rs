//! `armix export`: what is in a saved run, for other programs.

use crate::output::{emit, say};
use armix::error::{Error, Result};
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
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum What {
    /// The best partition: item, label
    Labels,
    /// How often two items share a block, in the second half of the saved draws of all chains
    Similarity,
    /// All saved draws: ensemble, chain, iteration, then a label for each item
    Draws,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
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
        (What::Similarity, npy) => {
            let n = names.len();
            let matrix = similarity(&draws(&folder)?, n)?;
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
        Some(path) => io::write_file(path, &mut |out| {
            let written = out.write_all(text.as_bytes());
            written.map_err(|error| Error::new(format!("cannot be written: {error}")))
        })?,
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

/// How often two items share a block, row after row.
fn similarity(draws: &[SavedDraw], n: usize) -> Result<Vec<f64>> {
    if n > MAX_SIMILARITY {
        return Err(Error::new(format!(
            "a similarity matrix of {n} items is too large: at most {MAX_SIMILARITY} can be exported; export the draws instead"
        )));
    }
    let mut iterations: Vec<u64> = draws.iter().map(|d| d.iteration).collect();
    iterations.sort_unstable();
    iterations.dedup();
    let from = iterations.get(iterations.len() / 2).copied().unwrap_or(0);
    let mut together = vec![0u32; n * n];
    let mut count = 0u32;
    for draw in draws.iter().filter(|d| d.iteration >= from) {
        count += 1;
        for i in 0..n {
            for j in 0..n {
                together[i * n + j] += u32::from(draw.labels[i] == draw.labels[j]);
            }
        }
    }
    Ok(together.into_iter().map(|t| f64::from(t) / f64::from(count)).collect())
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

/// A name as a CSV field.
fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_string()
    }
}
