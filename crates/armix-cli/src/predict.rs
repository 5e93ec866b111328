//! `armix predict`: probabilities of entries that were not observed, and where new items belong.

use crate::data;
use crate::output::{emit, emit_json, say};
use crate::source::Source;
use crate::write::{self, quoted};
use armix::answer;
use armix::data::{Data, Dataset, Kind};
use armix::diagnose::BurnIn;
use armix::error::{Error, Result};
use armix::estimate::{self, Loss, SearchOptions};
use armix::io;
use armix::io::raw::{Raw, RawNetwork, RawTable};
use armix::newcomers;
use armix::partition::by_size;
use armix::predict::{self, Assignment, Cell, HeldOutScore};
use armix::problem::Choice;
use armix::relations::Values;
use armix::run::Draws;
use armix::store::DataInfo;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// So many draws are averaged.
const DRAWS: usize = 1000;

#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Without --new: a line for each pair of vertices or cell that is missing or was held out, with the posterior
probability of a link or a one, and what is true if it was held out. For columns of other types and weights the value
that is expected: the mean, or the most probable level or kind of edge with its probability ('no link' is a kind).

With --new: where new rows or vertices belong. For a table, a file with the same columns. For a network, an edge
list from new vertices to known ones; pairs that are not listed are not linked. A probability is given for each
block of the estimate (that of armix summary), and for a block of its own.

Examples:
  armix fit friends.edges --hold-out 0.1 --out RUN
  armix predict RUN > links.csv
  armix predict RUN --new strangers.csv --json")]
pub(crate) struct Args {
    /// The folder of the run
    run: PathBuf,

    /// A file with new rows, or with links of new vertices
    #[arg(long, value_name = "FILE")]
    new: Option<PathBuf>,

    /// What does not count: a percentage, a fraction, or a number of iterations
    #[arg(long, default_value = "50%", value_name = "AMOUNT")]
    burn_in: BurnIn,

    /// Where the data are now, if they were moved
    #[arg(long, value_name = "DATA")]
    data: Option<String>,

    /// The CSV file to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long, conflicts_with = "output")]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let source = Source::folder(&args.run)?;
    source.need_draws(args.burn_in)?;
    let info = source.manifest()?.data.clone();
    let (options, dataset) = data::reload(&info, args.data.as_deref())?;
    let burn_in = args.burn_in.of(source.run.iterations);
    let draws = source.run.some_draws_with_hypers(burn_in, DRAWS);
    match &args.new {
        None => missing(args, &options, &dataset, &draws),
        Some(file) => {
            let (sample, _) = answer::sample_of(&source.run, burn_in)?;
            let estimate = estimate::minimise(&sample, Loss::Vi, &SearchOptions::default());
            let estimate = by_size(&estimate.labels);
            new_items(args, file, &options, &info, &dataset, &draws, &estimate)
        }
    }
    .map(|()| ExitCode::SUCCESS)
}

/// How well held-out entries are predicted; `None` if there are none.
pub(crate) fn held_out_score(
    options: &Choice,
    dataset: &Dataset,
    draws: &Draws<'_>,
) -> Result<Option<HeldOutScore>> {
    if dataset.held_out.is_empty() || draws.rows.is_empty() {
        return Ok(None);
    }
    Ok(Some(data::target(dataset, options)?.held_out_score(dataset, draws)))
}

/// A score in one line.
pub(crate) fn describe_score(score: &HeldOutScore) -> String {
    match score {
        HeldOutScore::Binary(score) => {
            let auc = score.auc.map_or("not defined".into(), |auc| format!("{auc:.4}"));
            format!(
                "{} entries held out ({} ones): AUC {auc}, log score {:.4} nats an entry ({:.4} if all were given their mean)",
                score.entries, score.ones, score.log_score, score.log_score_of_base_rate
            )
        }
        HeldOutScore::Table(score) => format!(
            "{} entries held out: log score {:.4} nats an entry ({:.4} if all items were in one block)",
            score.entries, score.log_score, score.log_score_of_one_block
        ),
    }
}

#[derive(Serialize)]
struct Line<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    relation: Option<&'a str>,
    row: &'a str,
    column: &'a str,
    /// What the cell is expected to be; zeros and ones have their probability only.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    probability: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    actual: Option<Value>,
}

fn missing(args: &Args, options: &Choice, dataset: &Dataset, draws: &Draws<'_>) -> Result<()> {
    let entries = dataset.data.hidden();
    if entries.is_empty() {
        return Err(Error::new(
            "nothing is missing in the data of this run: hide some with armix fit --hold-out 0.1, or say where new items belong with --new FILE",
        ));
    }
    let actual: HashMap<(u32, u32), f64> =
        dataset.held_out.iter().map(|h| (h.entry, h.value)).collect();
    let number = |at: u32| (at + 1).to_string();
    let numbers: Vec<String> =
        (0..entries.iter().map(|e| e.1 + 1).max().unwrap_or(0)).map(number).collect();
    let columns = match &dataset.data {
        Data::Network(_) | Data::Relations(_) => &dataset.names,
        Data::Table(_) | Data::Columns(_) if dataset.columns.is_empty() => &numbers,
        Data::Table(_) | Data::Columns(_) => &dataset.columns,
    };
    // Several relations are matrices below each other.
    let items = dataset.names.len();
    let relations = match &dataset.data {
        Data::Relations(relations) => relations.list(),
        _ => &[],
    };
    let line = |(row, column): (u32, u32)| Line {
        relation: (relations.len() > 1)
            .then(|| relations[row as usize / items].shape.name.as_str()),
        row: &dataset.names[row as usize % items],
        column: &columns[column as usize],
        value: None,
        probability: None,
        actual: None,
    };
    let lines: Vec<Line<'_>> = match &dataset.data {
        Data::Columns(table) => {
            let cells = data::target(dataset, options)?.cells(table, draws, &entries);
            let of = |(&entry, cell): (&(u32, u32), Cell)| {
                let column = &table.columns()[entry.1 as usize];
                let binary = column.kind() == Kind::Binary;
                Line {
                    value: (!binary).then(|| column.show(cell.value)),
                    probability: cell.probability,
                    actual: actual.get(&entry).map(|&value| json!(column.show(value))),
                    ..line(entry)
                }
            };
            entries.iter().zip(cells).map(of).collect()
        }
        Data::Relations(all) => {
            let target = data::target(dataset, options)?;
            let predicted = target.entries(draws, &entries);
            let kinds = target.kinds(all, draws, &entries);
            let of = |((&entry, mean), each): ((&(u32, u32), f64), Vec<f64>)| {
                let values = &relations[entry.0 as usize / items].shape.values;
                let (value, probability) = match values {
                    Values::Binary => (None, Some(mean)),
                    Values::Categories(kinds) => {
                        let best = predict::most_probable(&each);
                        (Some(kinds[best.value as usize].clone()), best.probability)
                    }
                    _ => (Some(mean.to_string()), None),
                };
                let show = |value: f64| match values {
                    Values::Categories(kinds) => json!(kinds[value as usize]),
                    _ if value.is_nan() => json!("no link"),
                    _ => json!(value),
                };
                Line {
                    value,
                    probability,
                    actual: actual.get(&entry).map(|&value| show(value)),
                    ..line(entry)
                }
            };
            entries.iter().zip(predicted).zip(kinds).map(of).collect()
        }
        _ => {
            let predicted = data::target(dataset, options)?.entries(draws, &entries);
            let of = |(&entry, probability): (&(u32, u32), f64)| Line {
                probability: Some(probability),
                actual: actual.get(&entry).map(|&value| json!(value as u8)),
                ..line(entry)
            };
            entries.iter().zip(predicted).map(of).collect()
        }
    };
    let score = held_out_score(options, dataset, draws)?;
    if args.json {
        #[derive(Serialize)]
        struct Output<'a> {
            entries: &'a [Line<'a>],
            score: Option<HeldOutScore>,
        }
        return emit_json(&Output { entries: &lines, score });
    }
    if let Some(score) = &score {
        say(&describe_score(score));
    }
    let headings = match dataset.data {
        Data::Network(_) => "vertex_1,vertex_2,probability",
        Data::Table(_) => "row,column,probability",
        Data::Columns(_) => "row,column,value,probability",
        Data::Relations(_) if relations.len() > 1 => "relation,vertex_1,vertex_2,value,probability",
        Data::Relations(_) => "vertex_1,vertex_2,value,probability",
    };
    let mut text = format!("{headings}{}\n", if score.is_some() { ",actual" } else { "" });
    for line in &lines {
        if let Some(relation) = line.relation {
            let _ = write!(text, "{},", quoted(relation));
        }
        let _ = write!(text, "{},{}", quoted(line.row), quoted(line.column));
        if let Data::Columns(_) | Data::Relations(_) = dataset.data {
            let _ = write!(text, ",{}", quoted(line.value.as_deref().unwrap_or_default()));
        }
        let _ = write!(text, ",{}", line.probability.map_or(String::new(), |p| p.to_string()));
        if score.is_some() {
            let plain = |actual: &Value| actual.as_str().map_or(actual.to_string(), quoted);
            let _ = write!(text, ",{}", line.actual.as_ref().map_or(String::new(), plain));
        }
        text.push('\n');
    }
    output(args, &text)
}

fn output(args: &Args, text: &str) -> Result<()> {
    match &args.output {
        Some(path) => write::text(path, text),
        None => emit(text),
    }
}

fn new_items(
    args: &Args,
    file: &Path,
    options: &Choice,
    info: &DataInfo,
    dataset: &Dataset,
    draws: &Draws<'_>,
    estimate: &[u32],
) -> Result<()> {
    let extended = match &dataset.data {
        Data::Network(_) | Data::Relations(_) => with_new_vertices(dataset, file, options)?,
        Data::Table(old) => {
            let path = args.data.as_ref().map(PathBuf::from).or(info.path.clone());
            let all = path.map_or_else(|| Ok(io::raw_table(dataset, old)), |path| table(&path))?;
            newcomers::with_new_rows(dataset, all, table(file)?, options)
                .map_err(|error| error.in_file(file))?
        }
        Data::Columns(old) => {
            let path = args.data.as_ref().map(PathBuf::from).or(info.path.clone());
            let all =
                path.map_or_else(|| Ok(io::raw_table_of(dataset, old)), |path| table(&path))?;
            newcomers::with_new_rows(dataset, all, table(file)?, options)
                .map_err(|error| error.in_file(file))?
        }
    };
    extended.notes.iter().for_each(|note| say(&format!("armix: {note}")));
    let found = data::target(&extended, options)?.assign(draws, estimate);
    let names = &extended.names[dataset.names.len()..];
    let blocks = estimate.iter().max().map_or(0, |m| m + 1);
    if args.json {
        #[derive(Serialize)]
        struct Output<'a> {
            items: &'a [String],
            assignments: &'a [Assignment],
            estimate: &'a [u32],
        }
        return emit_json(&Output { items: names, assignments: &found, estimate });
    }
    let headings: Vec<String> = (1..=blocks).map(|k| format!("block_{k}")).collect();
    let mut text = format!("item,{},new\n", headings.join(","));
    for (name, assignment) in names.iter().zip(&found) {
        text += &quoted(name);
        for p in assignment.blocks.iter().chain([&assignment.new]) {
            let _ = write!(text, ",{p}");
        }
        text.push('\n');
    }
    output(args, &text)
}

/// The network with the new vertices of a file after the old ones.
fn with_new_vertices(dataset: &Dataset, file: &Path, options: &Choice) -> Result<Dataset> {
    let Raw::Network(raw) = io::read_raw(file, Some(io::Wanted::Network))?.1 else {
        return Err(Error::new("this is not an edge list").in_file(file));
    };
    let extended = check_new(dataset, &raw)
        .and_then(|()| newcomers::with_new_vertices(dataset, &raw, options));
    let (extended, ignored) = extended.map_err(|error| error.in_file(file))?;
    if ignored > 0 {
        say(&format!(
            "armix: {ignored} links that are not between a new and a known vertex were left out: each new vertex is looked at alone"
        ));
    }
    Ok(extended)
}

/// Refuses files without links, and new vertices that are linked to both sides of a bipartite network.
fn check_new(dataset: &Dataset, raw: &RawNetwork) -> Result<()> {
    if raw.edges.is_empty() {
        return Err(Error::new(
            "there are no links in this file: list those of new vertices with known ones",
        ));
    }
    let Data::Relations(relations) = &dataset.data else { return Ok(()) };
    let Some(sides) = relations.sides() else { return Ok(()) };
    let known: HashMap<&str, usize> =
        dataset.names.iter().enumerate().map(|(v, name)| (name.as_str(), v)).collect();
    // A known vertex that each new one is linked to.
    let mut partners: HashMap<&str, usize> = HashMap::new();
    for (at, &(u, v)) in raw.edges.iter().enumerate() {
        let [u, v] = [u, v].map(|v| raw.names[v as usize].as_str());
        let (new, old) = match (known.get(u), known.get(v)) {
            (None, Some(&old)) => (u, old),
            (Some(&old), None) => (v, old),
            _ => continue,
        };
        let first = *partners.entry(new).or_insert(old);
        if sides[first] != sides[old] {
            let error = Error::new(format!(
                "'{new}' is linked to '{}' and to '{}', which are on the two sides of this bipartite network: a new vertex is on one side, and has links to the other",
                dataset.names[first], dataset.names[old]
            ));
            return Err(raw.at_edge(at, error));
        }
    }
    Ok(())
}

/// The table in a file as it is.
fn table(path: &Path) -> Result<RawTable> {
    match io::read_raw(path, Some(io::Wanted::Table))?.1 {
        Raw::Table(table) => Ok(table),
        Raw::Network(_) => Err(Error::new("this is not a table").in_file(path)),
    }
}
