//! `armix inspect`: what is in the data, and what a run would cost.

use crate::data::{self, DataArgs};
use crate::output::{emit, emit_json};
use crate::{memory, source};
use armix::any_target::AnyTarget;
use armix::data::{Column, Data, Graph, Kind};
use armix::ensemble::{self, Observer, View};
use armix::error::Result;
use armix::io::raw::Raw;
use armix::io::{self, ColumnInfo};
use armix::problem;
use armix::relations::{Relation, Relations};
use armix::run::{Settings, Wishes};
use serde_json::{Value, json};
use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  armix inspect friends.net
  armix inspect survey.csv --json
  armix inspect survey.csv --types age=real,legs=categorical")]
pub(crate) struct Args {
    /// Built-in data or a file
    data: String,

    #[command(flatten)]
    options: DataArgs,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    // A table that cannot be clustered yet is still described.
    let is_file = armix::builtin::load(&args.data, args.options.data_seed).is_none();
    // With two sides a table is a network; networks as JSON are what they say.
    let network =
        args.options.bipartite || [".json", ".json.gz"].iter().any(|e| args.data.ends_with(e));
    let columns = match is_file && !network && Path::new(&args.data).exists() {
        true => {
            let options = args.options.choice()?.options()?;
            let path = Path::new(&args.data);
            match io::read_raw(path, options.wanted_of(path))? {
                (_, Raw::Table(table)) => {
                    let types = io::types(&table, &options.table);
                    Some((table.rows(), io::column_types(&table), types.unwrap_or_default()))
                }
                (_, Raw::Network(_)) => None,
            }
        }
        false => None,
    };
    let loaded = args.options.load(&args.data);
    let mut out = json!({ "data": args.data });
    if let Some((rows, columns, types)) = &columns {
        describe_columns(&mut out, *rows, columns, types);
    }
    match (&loaded, &columns) {
        (Ok(dataset), _) => {
            match &dataset.data {
                Data::Network(graph) => describe_network(&mut out, graph),
                Data::Relations(relations) => describe_relations(&mut out, relations),
                Data::Table(table) if columns.is_none() => {
                    let extra = json!({ "kind": "table", "n": table.n(), "rows": table.n(), "columns": table.d(), "missing": table.missing().count() });
                    merge(&mut out, extra);
                }
                Data::Table(_) => {}
                Data::Columns(table) if columns.is_none() => {
                    let kinds: Vec<Kind> = table.columns().iter().map(Column::kind).collect();
                    let extra = json!({ "kind": "table", "n": table.n(), "rows": table.n(), "columns": table.d(), "missing": table.missing().count(), "types": kinds });
                    merge(&mut out, extra);
                }
                Data::Columns(_) => {}
            }
            let cost = cost(&*data::target(dataset, &args.options.choice()?)?)?;
            merge(
                &mut out,
                json!({ "model": data::model_info(&args.options.choice()?, dataset).name, "why": problem::reason(&args.options.choice()?, dataset), "notes": dataset.notes }),
            );
            merge(&mut out, cost);
        }
        (Err(error), Some(_)) => {
            merge(&mut out, json!({ "model": null, "problem": error.to_string() }));
        }
        (Err(error), None) => return Err(error.clone()),
    }
    if args.json {
        emit_json(&out)?;
    } else {
        let columns = columns.as_ref().map(|(_, columns, types)| (&columns[..], &types[..]));
        emit(&text(&out, columns))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn merge(into: &mut Value, more: Value) {
    if let (Some(into), Value::Object(more)) = (into.as_object_mut(), more) {
        into.extend(more);
    }
}

/// What a column is taken for, if it is data, and why.
type Taken = (Option<Kind>, String);

fn describe_columns(out: &mut Value, rows: usize, columns: &[ColumnInfo], types: &[Taken]) {
    let missing: usize = columns.iter().map(|c| c.missing).sum();
    let list: Vec<Value> = (columns.iter().enumerate())
        .map(|(at, c)| {
            let taken = types.get(at);
            json!({
                "name": c.name, "kind": c.kind.to_string(), "distinct": c.distinct, "missing": c.missing,
                "type": taken.and_then(|t| t.0), "why": taken.map(|t| &t.1),
            })
        })
        .collect();
    merge(
        out,
        json!({ "kind": "table", "n": rows, "rows": rows, "columns": columns.len(), "missing": missing, "column_types": list }),
    );
}

fn describe_network(out: &mut Value, graph: &Graph) {
    let n = graph.n();
    let mut degrees: Vec<usize> = (0..n).map(|v| graph.neighbours(v).len()).collect();
    degrees.sort_unstable();
    let pairs = n as f64 * (n as f64 - 1.0) / 2.0;
    let (component, count) = graph.components();
    let mut sizes = vec![0usize; count];
    component.iter().for_each(|&c| sizes[c as usize] += 1);
    let details = json!({
        "kind": "network", "n": n, "edges": graph.edges(),
        "density": graph.edges() as f64 / pairs,
        "degrees": { "min": degrees[0], "median": degrees[n / 2], "mean": 2.0 * graph.edges() as f64 / n as f64, "max": degrees[n - 1] },
        "isolated": graph.isolated(), "components": count,
        "largest_component": sizes.iter().max(), "missing": graph.hidden_pairs().count(),
    });
    merge(out, details);
}

fn describe_relations(out: &mut Value, relations: &Relations) {
    let list: Vec<Value> = (relations.list().iter())
        .map(|relation| {
            let hidden = relation.hidden_pairs().count();
            json!({
                "name": relation.shape.name, "directed": relation.shape.directed,
                "self_loops": relation.shape.loops, "values": relation.shape.values.name(),
                "edges": relation.listed(), "about": relation.shape.describe(),
                "density": relation.listed() as f64 / (relation.pairs() as f64 - hidden as f64),
                "missing": hidden,
            })
        })
        .collect();
    let second = relations.sides().map(|sides| sides.iter().filter(|s| **s).count());
    let sides = second.map(|second| [relations.n() - second, second]);
    let edges = relations.list().iter().map(Relation::listed).sum::<usize>();
    let missing = relations.hidden().len();
    merge(
        out,
        json!({ "kind": "relations", "n": relations.n(), "edges": edges, "sides": sides, "missing": missing, "relations": list }),
    );
}

/// A trial takes no longer than this, unless a single iteration does.
const TRIAL: Duration = Duration::from_millis(500);

/// What is traced of a state: numbers, and lines of text, which are written and read again.
const TRACED: u64 = 350;

/// What labels of a state take besides the labels.
const LABELS_HEADER: u64 = 40;

/// A part of the draws has about so many labels at most …
const PART_LABELS: u64 = 32 << 20;

/// … which take so many bytes each.
const UNPACKED: u64 = 6;

struct Until(Instant);

impl Observer for Until {
    fn after_round(&mut self, _view: &dyn View) -> Result<ControlFlow<()>> {
        Ok(if self.0.elapsed() > TRIAL {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    }
}

/// What a default run would take, from a short trial of a few iterations.
fn cost(target: &dyn AnyTarget) -> Result<Value> {
    let whole = Wishes::default().settings(target.can_be_heated(), Settings::default());
    let trial = Settings {
        ensembles: 1,
        chains: 2,
        warmup: 20,
        iterations: 50,
        threads: 1,
        schedule: whole.schedule.clone(),
        ..Settings::default()
    };
    let began = Instant::now();
    let run = target.sample(&trial, &mut Until(began))?;
    let counters = run.counters(run.traces());
    // In a trial that ended during warm-up ARM, which costs about twice a Gibbs scan, is guessed.
    let seconds = match run.iterations {
        0 => 3.0 * run.seconds / (trial.warmup * trial.chains) as f64,
        i => counters.iter().map(|c| c.seconds).sum::<f64>() / (i * trial.chains) as f64,
    };
    let chains = (whole.ensembles * whole.members()) as f64;
    let cores = ensemble::cores();
    let total =
        seconds * chains * (whole.iterations + whole.warmup) as f64 / (cores as f64).min(chains);
    let blocks = run.traces().filter_map(|t| t.blocks.last()).max().map_or(20, |&b| b as usize);
    let memory = memory_of(&whole, target, blocks);
    Ok(json!({ "estimate": { "seconds": total, "bytes": memory } }))
}

/// About how many bytes a run takes that is saved, if its chains have so many blocks.
fn memory_of(settings: &Settings, target: &dyn AnyTarget, blocks: usize) -> u64 {
    let chains = (settings.ensembles * settings.members()) as u64;
    let states = (settings.ensembles * settings.chains * settings.iterations) as u64;
    let all_states = chains * settings.iterations as u64;
    let (n, label) = (target.n() as u64, if blocks <= 1 << 8 { 1 } else { 2 });
    // The program and the data are here already.
    let so_far = memory::peak_bytes().unwrap_or(16 << 20);
    let trace = TRACED * states;
    // Labels have a header each. The later half of all is the history; those of cold chains are read again in the end.
    let labels = states * (label * n + LABELS_HEADER);
    let history = (all_states * (label * n + LABELS_HEADER) / 2).min(settings.history_bytes);
    let read = labels.min(source::BUDGET);
    // Before a part of the draws is packed, and after it was unpacked, labels take more bytes.
    let part = UNPACKED * (all_states * n).min(PART_LABELS);
    so_far + chains * target.chain_bytes(blocks) + trace + history.max(read) + part
}

fn text(out: &Value, columns: Option<(&[ColumnInfo], &[Taken])>) -> String {
    let mut s = String::new();
    let number = |key: &str| out[key].as_u64().unwrap_or(0);
    let data = out["data"].as_str().unwrap_or("");
    if out["kind"] == "network" {
        let _ = writeln!(
            s,
            "{data}: a network of {} vertices and {} edges, density {:.4}",
            number("n"),
            number("edges"),
            out["density"].as_f64().unwrap_or(0.0)
        );
        let degrees = &out["degrees"];
        let _ = writeln!(
            s,
            "degrees     {} to {}, median {}, mean {:.1}",
            degrees["min"],
            degrees["max"],
            degrees["median"],
            degrees["mean"].as_f64().unwrap_or(0.0)
        );
        let _ = writeln!(s, "isolated    {}", number("isolated"));
        let _ = writeln!(
            s,
            "components  {}, the largest has {} vertices",
            number("components"),
            out["largest_component"]
        );
    } else if out["kind"] == "relations" {
        let sides = match out["sides"].as_array() {
            Some(sides) => format!(" on two sides of {} and {}", sides[0], sides[1]),
            None => String::new(),
        };
        let _ = writeln!(s, "{data}: a network of {} vertices{sides}", number("n"));
        for relation in out["relations"].as_array().into_iter().flatten() {
            let missing = match relation["missing"].as_u64() {
                Some(0) | None => String::new(),
                Some(missing) => format!(", {missing} pairs not observed"),
            };
            let _ = writeln!(
                s,
                "  {:24} {} {}, density {:.4}{missing}",
                relation["name"].as_str().unwrap_or(""),
                relation["edges"],
                relation["about"].as_str().unwrap_or(""),
                relation["density"].as_f64().unwrap_or(0.0)
            );
        }
    } else {
        let _ = writeln!(
            s,
            "{data}: a table of {} rows and {} columns, {} cells missing",
            number("rows"),
            number("columns"),
            number("missing")
        );
        let (columns, types) = columns.unwrap_or_default();
        for (at, c) in columns.iter().enumerate() {
            let missing =
                if c.missing > 0 { format!(", {} missing", c.missing) } else { String::new() };
            let taken = match types.get(at) {
                Some((Some(kind), why)) => format!(" → {kind} ({why})"),
                Some((None, why)) => format!(" → {why}"),
                None => String::new(),
            };
            let _ =
                writeln!(s, "  {:24} {}, {} values{missing}{taken}", c.name, c.kind, c.distinct);
        }
    }
    for note in out["notes"].as_array().into_iter().flatten() {
        let _ = writeln!(s, "  {}", note.as_str().unwrap_or(""));
    }
    match (out["model"].as_str(), out["problem"].as_str()) {
        (Some(model), _) => {
            let why = out["why"].as_str().unwrap_or("");
            let _ = writeln!(s, "model       {model}: {why}");
        }
        (None, problem) => {
            let _ = writeln!(s, "no model    {}", problem.unwrap_or(""));
        }
    }
    if let Some(estimate) = out["estimate"].as_object() {
        let seconds = estimate["seconds"].as_f64().unwrap_or(0.0);
        let memory = memory::in_mib(estimate["bytes"].as_u64().unwrap_or(0));
        let time = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        let _ = writeln!(
            s,
            "estimate    a default run takes about {} and {memory} on this machine",
            indicatif::HumanDuration(time)
        );
    }
    s
}
