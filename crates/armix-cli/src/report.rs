//! `armix report`: everything about a run on one page.

use crate::command;
use crate::data::DataArgs;
use crate::output::say;
use crate::source::Source;
use crate::summary::reload;
use crate::write;
use armix::answer::{self, Answer, Criterion, Truth};
use armix::data::Dataset;
use armix::diagnose::{BurnIn, Diagnosis, Options};
use armix::error::{Error, Result};
use armix::io;
use armix::report::{Contents, Page, html};
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
    data: Option<&(DataArgs, Dataset)>,
    truth: Option<(&str, &[u32])>,
    path: &Path,
) -> Result<()> {
    let mut notes = data.map_or(Vec::new(), |(_, dataset)| dataset.notes.clone());
    let with_bests;
    let run = if !source.has_draws(options.burn_in) {
        notes.push(
            "No partitions were saved after burn-in: the estimate is made of the best partition of each chain."
                .into(),
        );
        with_bests = source.run.with_bests_as_draws();
        &with_bests
    } else {
        &source.run
    };
    let answer = Answer::new(run, options)?;
    if answer.draws < run.traces().map(|t| run.draws_after(t, diagnosis.burn_in).len()).sum() {
        notes.push(format!(
            "The estimate is made of {} draws, evenly spread over all chains.",
            answer.draws
        ));
    }
    let truth = truth.map(|(name, known)| (name, Truth::new(&answer.labels, known)));
    let page = Page::new(Contents {
        title: &source.title,
        run,
        diagnosis,
        answer: &answer,
        names: &source.names,
        data: data.map(|(args, dataset)| (dataset, args.beta)),
        truth: truth.as_ref().map(|(name, truth)| (*name, truth)),
        notes,
        provenance: match &source.manifest {
            Some(manifest) => command::provenance(manifest, source.run.seconds),
            None => vec![("data".into(), source.title.clone())],
        },
        command: match (&source.manifest, data) {
            (Some(manifest), Some((args, _))) => command::to_repeat(manifest, args),
            _ => String::new(),
        },
    })?;
    write::text(path, &html(&page))
}
