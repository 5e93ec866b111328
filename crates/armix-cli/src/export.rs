//! `armix export`: what is in a saved run, for other programs.

use crate::output::{emit, say};
use armix::diagnose::second_half;
use armix::error::{Error, Result};
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
  armix export RUN draws > draws.csv")]
pub(crate) struct Args {
    /// The folder of the run
    run: PathBuf,

    /// What to export
    #[arg(value_enum)]
    what: What,
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
    let text = match args.what {
        What::Labels => {
            let best = run.best().ok_or_else(|| {
                Error::new("nothing has been recorded in this run yet").in_file(&args.run)
            })?;
            let lines = names.iter().zip(&best.1).map(|(name, label)| format!("{name},{label}\n"));
            format!("item,label\n{}", lines.collect::<String>())
        }
        What::Similarity => similarity(&draws(&folder)?, &names)?,
        What::Draws => {
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
    emit(&text)?;
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

fn similarity(draws: &[SavedDraw], names: &[String]) -> Result<String> {
    let n = names.len();
    if n > MAX_SIMILARITY {
        return Err(Error::new(format!(
            "a similarity matrix of {n} items is too large: at most {MAX_SIMILARITY} can be exported; export the draws instead"
        )));
    }
    let mut iterations: Vec<u64> = draws.iter().map(|d| d.iteration).collect();
    iterations.sort_unstable();
    iterations.dedup();
    let from = second_half(&iterations).first().copied().unwrap_or(0);
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
    let mut out = format!("item,{}\n", names.join(","));
    for (i, name) in names.iter().enumerate() {
        out += name;
        for j in 0..n {
            let _ = write!(out, ",{}", f64::from(together[i * n + j]) / f64::from(count));
        }
        out.push('\n');
    }
    Ok(out)
}

/// A name as a CSV field.
fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_string()
    }
}
