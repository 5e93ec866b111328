//! `armix exact`: the posterior by enumeration.

use crate::data::{self, DataArgs};
use crate::output::{emit, emit_json};
use armix::data::Data;
use armix::error::{Error, Result};
use armix::exact::ExactRow;
use std::process::ExitCode;

/// The table for people shows so many of the most probable partitions.
const SHOWN: usize = 50;

#[derive(Debug, clap::Args)]
#[command(after_long_help = format!("{}\nExamples:\n  armix exact four-vertex\n  armix exact tiny.edges --alpha 0.5 --csv > posterior.csv", data::data_help()))]
pub(crate) struct Args {
    /// Built-in data or a file, with at most 10 items
    data: String,

    #[command(flatten)]
    model: DataArgs,

    /// Print a JSON list of labels, probability and log_joint
    #[arg(long, conflicts_with = "csv")]
    json: bool,

    /// Print CSV
    #[arg(long)]
    csv: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let dataset = args.model.load(&args.data)?;
    let target = data::target(&dataset, &args.model.choice()?)?;
    if !target.has_closed_form() {
        let missing = match &dataset.data {
            Data::Columns(table) if table.missing().next().is_some() => " of missing cells",
            _ => "",
        };
        return Err(Error::new(format!(
            "the model {}{missing} has no closed form that could be enumerated: sample it with armix fit",
            target.model()
        )));
    }
    let rows = target.posterior()?;
    if args.json {
        emit_json(&rows)?;
    } else if args.csv {
        emit(&csv(&rows))?;
    } else {
        emit(&table(rows))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn join(labels: &[u32], between: &str) -> String {
    labels.iter().map(u32::to_string).collect::<Vec<_>>().join(between)
}

fn csv(rows: &[ExactRow]) -> String {
    let items = rows.first().map_or(0, |r| r.labels.len());
    let header: Vec<String> = (1..=items).map(|i| format!("z{i}")).collect();
    let mut out = format!("{},probability,log_joint\n", header.join(","));
    for row in rows {
        out += &format!("{},{},{}\n", join(&row.labels, ","), row.probability, row.log_joint);
    }
    out
}

fn table(mut rows: Vec<ExactRow>) -> String {
    let count = rows.len();
    rows.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    let width = 2 * rows.first().map_or(0, |r| r.labels.len()).max(3);
    let mut out = format!("{:width$} probability   log joint\n", "labels");
    for row in rows.iter().take(SHOWN) {
        out += &format!(
            "{:width$} {:11.9} {:11.6}\n",
            join(&row.labels, " "),
            row.probability,
            row.log_joint
        );
    }
    if count > SHOWN {
        out += &format!(
            "and {} less probable partitions; --csv or --json lists all {count}\n",
            count - SHOWN
        );
    }
    out
}
