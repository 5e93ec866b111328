//! `armix report`: everything about a run on one page.

use crate::output::say;
use crate::source::Source;
use crate::summary::reload;
use crate::write;
use armix::account::{self, Told};
use armix::answer::{self, Criterion};
use armix::data::Dataset;
use armix::diagnose::{BurnIn, Diagnosis, Options};
use armix::error::{Error, Result};
use armix::io;
use armix::problem::Choice;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
The page is one file that needs nothing else: it opens offline, and nothing in it is loaded from or sent to
anywhere. armix fit writes it at the end of a run.

Examples:
  armix report armix-runs/karate-20260131-120000
  armix report RUN --truth departments.txt -o report.html
  armix report chain1.csv chain2.csv -o report.html      draws of another program")]
pub(crate) struct Args {
    /// The folder of the run, or files with draws of another program
    #[arg(required = true)]
    run: Vec<PathBuf>,

    /// The file to write [default: report.html in the folder of the run]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// What makes the estimate: vi, binder, ari or map
    #[arg(long, default_value_t, value_name = "LOSS")]
    loss: Criterion,

    /// Known labels to compare with: one a line in input order, or item and label
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,

    /// What does not count: a percentage, a fraction, or a number of iterations
    #[arg(long, default_value = "50%", value_name = "AMOUNT")]
    burn_in: BurnIn,

    /// Where the data are now, if they were moved
    #[arg(long, value_name = "DATA")]
    data: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let source = Source::load(&args.run)?;
    let path = match (&args.output, &source.manifest) {
        (Some(path), _) => path.clone(),
        (None, Some(_)) => args.run[0].join(FILE),
        (None, None) => {
            return Err(Error::new("say where to write the report: -o report.html"));
        }
    };
    let known = args.truth.as_ref().map(|path| io::read_labels(path, &source.names)).transpose()?;
    let name = args.truth.as_ref().map(|path| path.display().to_string());
    let data = reload(&source, args.data.as_deref())?;
    let diagnosis = Diagnosis::new(&source.run, &Options { burn_in: args.burn_in });
    let options = answer::Options {
        criterion: args.loss,
        burn_in: args.burn_in,
        ..answer::Options::default()
    };
    let truth = name.as_deref().zip(known.as_deref());
    write_page(&source, &diagnosis, &options, data.as_ref(), truth, &path)?;
    say(&format!("written: {}", path.display()));
    Ok(ExitCode::SUCCESS)
}

/// The report's name in the folder of a run.
pub(crate) const FILE: &str = "report.html";

/// Makes the page and writes it.
pub(crate) fn write_page(
    source: &Source,
    diagnosis: &Diagnosis,
    options: &answer::Options,
    data: Option<&(Choice, Dataset)>,
    truth: Option<(&str, &[u32])>,
    path: &Path,
) -> Result<()> {
    let told = Told {
        title: &source.title,
        run: &source.run,
        names: &source.names,
        manifest: source.manifest.as_ref(),
        data,
        truth,
    };
    write::text(path, &account::page(&told, diagnosis, options)?)
}
