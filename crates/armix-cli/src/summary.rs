//! `armix summary`: which groups, and how sure.

use crate::data;
use crate::output::{emit, emit_json, say};
use crate::predict;
use crate::print;
use crate::source::Source;
use crate::write::{self, quoted};
use armix::answer::{Answer, Criterion, Options, Truth};
use armix::blocks::Blocks;
use armix::data::Dataset;
use armix::diagnose::{BurnIn, Diagnosis, Verdict};
use armix::error::{Error, Result};
use armix::predict::HeldOutScore;
use armix::problem::Choice;
use armix::{diagnose, io};
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
The estimate is the partition with the least expected loss: vi (variation of information, the default), binder, ari
(one minus the adjusted Rand index), or map (the highest log joint, which is a single draw and says nothing about
the others). Distances are in bits.

Draws of other programs can be summarised too: see armix diagnose --help.

Examples:
  armix summary armix-runs/karate-20260131-120000
  armix summary RUN --loss binder --labels groups.csv
  armix summary RUN --truth departments.txt --json")]
pub(crate) struct Args {
    /// The folder of the run, or files with draws of another program
    #[arg(required = true)]
    run: Vec<PathBuf>,

    /// What makes the estimate: vi, binder, ari or map
    #[arg(long, default_value_t, value_name = "LOSS")]
    loss: Criterion,

    /// Known labels to compare with: one a line in input order, or item and label
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,

    /// What does not count: a percentage, a fraction, or a number of iterations
    #[arg(long, default_value = "50%", value_name = "AMOUNT")]
    burn_in: BurnIn,

    /// The probability of the credible ball, and of pairs that are called sure
    #[arg(long, default_value_t = 0.95, value_name = "P")]
    level: f64,

    /// Starts of the search for the estimate
    #[arg(long, default_value_t = Options::default().runs, value_name = "N")]
    runs: usize,

    /// Write item, label and certainty to this CSV file
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,

    /// Where the data are now, if they were moved
    #[arg(long, value_name = "DATA")]
    data: Option<String>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// All that is known about the answer of a run.
#[derive(Serialize)]
pub(crate) struct Full<'a> {
    pub(crate) verdict: Verdict,
    pub(crate) reasons: &'a [String],
    pub(crate) next: &'a [String],
    #[serde(flatten)]
    pub(crate) answer: &'a Answer,
    pub(crate) items: &'a [String],
    /// The blocks of the estimate.
    groups: Vec<Group<'a>>,
    /// Densities or features of the blocks, if the data are there.
    pub(crate) blocks: Option<&'a Blocks>,
    #[serde(skip)]
    pub(crate) columns: &'a [String],
    pub(crate) truth: Option<Truth>,
    pub(crate) held_out: Option<HeldOutScore>,
}

/// A block of the estimate.
#[derive(Serialize)]
struct Group<'a> {
    label: usize,
    size: usize,
    certainty: f64,
    members: Vec<&'a str>,
}

fn groups<'a>(answer: &Answer, names: &'a [String]) -> Vec<Group<'a>> {
    (answer.members().into_iter().enumerate())
        .map(|(label, members)| Group {
            label,
            size: members.len(),
            certainty: members.iter().map(|&i| answer.certainty[i]).sum::<f64>()
                / members.len() as f64,
            members: members.iter().map(|&i| names[i].as_str()).collect(),
        })
        .collect()
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if !(0.5..1.0).contains(&args.level) {
        let message = format!("--level {}: give a probability from 0.5 to below 1", args.level);
        return Err(Error::new(message));
    }
    let source = Source::load(&args.run)?;
    source.need_draws(args.burn_in)?;
    let truth = args.truth.as_ref().map(|path| io::read_labels(path, &source.names)).transpose()?;
    let options = Options {
        criterion: args.loss,
        burn_in: args.burn_in,
        runs: args.runs.max(1),
        level: args.level,
    };
    let diagnosis = Diagnosis::new(&source.run, &diagnose::Options { burn_in: args.burn_in });
    let answer = Answer::new(&source.run, &options)?;
    let data = reload(&source, args.data.as_deref())?;
    let blocks =
        data.as_ref().map(|(args, dataset)| Blocks::new(&dataset.data, args.beta, &answer.labels));
    let held_out = match &data {
        Some((args, dataset)) => {
            let draws = source.run.some_draws_with_hypers(diagnosis.burn_in, 1000);
            predict::held_out_score(args, dataset, &draws)?
        }
        None => None,
    };
    let full = Full {
        verdict: diagnosis.verdict,
        reasons: &diagnosis.reasons,
        next: &diagnosis.next,
        answer: &answer,
        items: &source.names,
        groups: groups(&answer, &source.names),
        blocks: blocks.as_ref(),
        columns: data.as_ref().map_or(&[], |(_, dataset)| &dataset.columns),
        truth: truth.map(|known| Truth::new(&answer.labels, &known)),
        held_out,
    };
    if let Some(path) = &args.labels {
        write::text(path, &labels(&full))?;
    }
    if args.json {
        emit_json(&full)?;
    } else {
        emit(&print::answer(&full, &source.title))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The data of a run of armix. That they are no longer there is worth a word, unless they were named.
pub(crate) fn reload(
    source: &Source,
    elsewhere: Option<&str>,
) -> Result<Option<(Choice, Dataset)>> {
    let Some(manifest) = &source.manifest else {
        return Ok(None);
    };
    match data::reload(&manifest.data, elsewhere) {
        Ok(found) => Ok(Some(found)),
        Err(error) if elsewhere.is_none() => {
            say(&format!("armix: without the data there is less to show: {error}"));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Item, label and certainty.
fn labels(full: &Full<'_>) -> String {
    let mut text = String::from("item,label,certainty\n");
    for (at, name) in full.items.iter().enumerate() {
        let (label, certainty) = (full.answer.labels[at] + 1, full.answer.certainty[at]);
        text += &format!("{},{label},{certainty}\n", quoted(name));
    }
    text
}
