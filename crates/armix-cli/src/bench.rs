//! `armix bench`: what each move costs here, and how cost grows with the number of edges.

use crate::data::{self, DataArgs};
use crate::output::{emit, emit_json};
use crate::print::{terminal_width, wrap};
use crate::{fit, memory};
use armix::any_target::AnyTarget;
use armix::bench::{self, Cost};
use armix::builtin;
use armix::data::{Data, Dataset};
use armix::ensemble;
use armix::error::{Error, Result};
use armix::problem;
use armix::run::Start;
use indicatif::ProgressBar;
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt::Write;
use std::process::ExitCode;

/// What is measured without DATA.
const STANDARD: [&str; 3] = ["karate", "bernoulli-1", "planted:10,30,0.3,0.02"];
/// The series of --scaling begins with so many edges.
const SMALLEST: u64 = 1000;
/// Its other members are compared with the one of so many edges.
const COMPARED: u64 = 10_000;
/// Beyond so many edges `arm` is left out of the series.
const MOST_FOR_ARM: u64 = 1_000_000;

#[derive(Debug, clap::Args)]
#[command(after_long_help = format!("{ABOUT}\n{}\n{EXAMPLES}", data::data_help()))]
pub(crate) struct Args {
    /// Built-in data or files [default: karate, bernoulli-1 and planted:10,30,0.3,0.02]
    #[arg(conflicts_with = "scaling")]
    data: Vec<String>,

    #[command(flatten)]
    model: DataArgs,

    /// The moves to measure, for example arm,sm; gibbs is always among them [default: all, with
    /// --scaling gibbs, arm-cells and arm]
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Measuring")]
    moves: Vec<String>,

    /// CPU seconds for each move
    #[arg(long, default_value_t = 0.5, value_name = "S", allow_negative_numbers = true, value_parser = parse_seconds, help_heading = "Measuring")]
    seconds: f64,

    /// Iterations of arm,gibbs before, on 4 chains, which give a state and a past (10 s at most); 0
    /// measures exactly at the start, with a past that is made up
    #[arg(long, default_value_t = 100, value_name = "N", help_heading = "Measuring")]
    warmup: usize,

    /// Where chains begin: prior, one, singletons, uniform:K, or a file of labels
    #[arg(long, default_value = "prior", help_heading = "Measuring")]
    start: String,

    /// Seed of the moves
    #[arg(long, default_value_t = 1, help_heading = "Measuring")]
    seed: u64,

    /// Measure planted networks of growing size, each at its planted blocks
    #[arg(long, conflicts_with_all = ["warmup", "start"], help_heading = "Growth")]
    scaling: bool,

    /// Blocks of the planted networks
    #[arg(long, default_value_t = 10, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=10_000), requires = "scaling", help_heading = "Growth")]
    blocks: u32,

    /// Mean number of links of a vertex
    #[arg(long, default_value_t = 20.0, value_name = "D", allow_negative_numbers = true, value_parser = parse_degree, requires = "scaling", help_heading = "Growth")]
    degree: f64,

    /// The largest network of the series, from 1000 edges on in steps of ten: for example 1e7
    #[arg(long, default_value = "1e6", value_name = "EDGES", allow_negative_numbers = true, value_parser = parse_edges, requires = "scaling", help_heading = "Growth")]
    up_to: u64,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

const ABOUT: &str = "\
Every move is applied again and again to one chain, on one thread, and CPU time is counted. The columns are
  ms       milliseconds of CPU time of one application
  per s    applications in a second
  work     candidates weighed in one application, a measure that does not depend on the machine
  work/s   candidates weighed in a second
  ×gibbs   the time of one application in that of one Gibbs scan
  ns/edge  nanoseconds of one application for each edge of a network (ns/cell: cell of a table)
  blocks   the mean number of blocks while it was measured
Compare ratios within one run: times differ between machines, and on a busy one between runs.

JSON: version, clock (cpu, or wall where there is no clock of CPU time), cpus, settings, and data, a list of
objects with data, model, n, edges or columns and cells, warmup (iterations done), iteration_to_gibbs
(one iteration of arm,gibbs in Gibbs scans) and moves, a list of objects with move, applications, cpu_ms,
per_second, work, work_per_second, to_gibbs, idle (share of applications that had nothing to propose),
accept_rate, blocks, blocks_before, blocks_after and ns_per_edge or ns_per_cell.
With --scaling data have about_edges, blocks, peak_bytes (of the whole process, null where the system does not tell), and moves
have to_10k (ns_per_edge in that of the network with 10 000 edges).
";

const EXAMPLES: &str = "\
Examples:
  armix bench
  armix bench friends.edges --moves arm,sm --seconds 2
  armix bench friends.edges --start labels.txt --warmup 0 --json
  armix bench --scaling --up-to 1e7";

fn parse_seconds(text: &str) -> std::result::Result<f64, String> {
    let seconds = text.trim().parse().ok().filter(|s| *s > 0.0 && *s <= 3600.0);
    seconds.ok_or_else(|| "write a number of seconds above 0, for example 0.5".into())
}

fn parse_degree(text: &str) -> std::result::Result<f64, String> {
    let degree = text.trim().parse().ok().filter(|d| *d > 0.0 && *d <= 1e6);
    degree.ok_or_else(|| "write a number above 0, for example 20".into())
}

fn parse_edges(text: &str) -> std::result::Result<u64, String> {
    let edges = text.trim().parse::<f64>().ok().filter(|e| (SMALLEST as f64..=1e9).contains(e));
    edges.map(|e| e as u64).ok_or_else(|| "write a number from 1000 to 1e9, for example 1e7".into())
}

/// All that was measured.
#[derive(Serialize)]
struct Report {
    version: &'static str,
    clock: &'static str,
    cpus: usize,
    settings: Value,
    data: Vec<Measured>,
}

/// What was measured on some data.
#[derive(Serialize)]
struct Measured {
    data: String,
    model: String,
    n: usize,
    #[serde(flatten)]
    entries: Entries,
    #[serde(flatten)]
    growth: Option<Growth>,
    warmup: usize,
    iteration_to_gibbs: Option<f64>,
    moves: Vec<Value>,
    #[serde(skip)]
    costs: Vec<Cost>,
}

/// What the data consist of.
#[derive(Serialize, Clone, Copy)]
#[serde(untagged)]
enum Entries {
    Network { edges: usize },
    Table { columns: usize, cells: usize },
}

impl Entries {
    fn of(data: &Data) -> Self {
        match data {
            Data::Network(graph) => Entries::Network { edges: graph.edges() },
            Data::Table(table) => {
                Entries::Table { columns: table.d(), cells: table.n() * table.d() }
            }
            Data::Relations(relations) => Entries::Network { edges: relations.links().len() },
            Data::Columns(table) => {
                Entries::Table { columns: table.d(), cells: table.n() * table.d() }
            }
        }
    }

    fn name(self) -> &'static str {
        match self {
            Entries::Network { .. } => "edge",
            Entries::Table { .. } => "cell",
        }
    }

    fn count(self) -> usize {
        match self {
            Entries::Network { edges } => edges,
            Entries::Table { cells, .. } => cells,
        }
    }
}

/// What is known of a member of the series besides.
#[derive(Serialize, Clone, Copy)]
struct Growth {
    about_edges: u64,
    blocks: u32,
    peak_bytes: Option<u64>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    bench::names(&problem::moves(), &args.moves)?; // wrong names, before anything is measured
    // Draws nothing where standard error is no terminal.
    let progress = ProgressBar::new_spinner();
    let data = match args.scaling {
        true => scaling(args, &progress),
        false => given(args, &progress),
    };
    progress.finish_and_clear();
    let report = Report {
        version: env!("CARGO_PKG_VERSION"),
        clock: bench::CLOCK,
        cpus: ensemble::cores(),
        settings: settings(args),
        data: data?,
    };
    match (args.json, args.scaling) {
        (true, _) => emit_json(&report)?,
        (false, true) => emit(&growth_text(&report, args, terminal_width()))?,
        (false, false) => emit(&text(&report, terminal_width()))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn settings(args: &Args) -> Value {
    let (a, m) = (args, &args.model);
    match a.scaling {
        true => {
            json!({ "seconds": a.seconds, "seed": a.seed, "data_seed": m.data_seed, "alpha": m.alpha, "beta": m.beta,
            "blocks": a.blocks, "degree": a.degree, "up_to": a.up_to })
        }
        false => {
            json!({ "seconds": a.seconds, "seed": a.seed, "data_seed": m.data_seed, "alpha": m.alpha, "beta": m.beta,
            "start": a.start, "warmup": a.warmup, "chains": bench::CHAINS })
        }
    }
}

/// A measurement, whatever the model.
struct Measuring<'a> {
    args: &'a Args,
    name: &'a str,
    start: Start,
    moves: &'a [String],
    progress: &'a ProgressBar,
}

impl Measuring<'_> {
    /// The model, the iterations until the state was reached, and what moves cost there.
    fn of(self, target: &dyn AnyTarget) -> Result<(String, usize, Vec<Cost>)> {
        let Measuring { args, name, start, moves, progress } = self;
        let warmup = if args.scaling { 0 } else { args.warmup };
        progress.set_message(format!("{name}: {warmup} iterations to warm up"));
        let place = target.reach(&start, warmup, args.seed)?;
        let mut show = |step: &str| progress.set_message(format!("{name}: {step}"));
        let costs = target.measure(&place, moves, args.seconds, args.seed, &mut show)?;
        Ok((target.model(), place.iterations, costs))
    }
}

fn given(args: &Args, progress: &ProgressBar) -> Result<Vec<Measured>> {
    let standard = STANDARD.map(String::from);
    let names = if args.data.is_empty() { &standard[..] } else { &args.data };
    let measured = names.iter().map(|name| {
        let dataset = args.model.load(name)?;
        let start = fit::start(&args.start, &dataset.names)?;
        let job = Measuring { args, name, start, moves: &args.moves, progress };
        let target = data::target(&dataset, &args.model.choice()?)?;
        let (model, warmup, costs) = job.of(&*target)?;
        let entries = Entries::of(&dataset.data);
        Ok(Measured {
            data: name.clone(),
            model,
            n: dataset.data.n(),
            entries,
            growth: None,
            warmup,
            iteration_to_gibbs: bench::iteration_to_gibbs(&costs),
            moves: costs.iter().map(|cost| with_entries(cost, entries)).collect(),
            costs,
        })
    });
    measured.collect()
}

/// A cost as JSON, with the time for each edge or cell.
fn with_entries(cost: &Cost, entries: Entries) -> Value {
    let mut value = json!(cost);
    value[format!("ns_per_{}", entries.name())] = json!(cost.ns_per(entries.count()));
    value
}

fn scaling(args: &Args, progress: &ProgressBar) -> Result<Vec<Measured>> {
    let mut all: Vec<Measured> = Vec::new();
    let sizes = std::iter::successors(Some(SMALLEST), |edges| Some(edges * 10));
    for edges in sizes.take_while(|&edges| edges <= args.up_to) {
        let name = format!("{} edges", short(edges as f64));
        progress.set_message(format!("{name}: making the network"));
        let seed = args.model.data_seed;
        let Some((graph, labels)) =
            builtin::planted_by_degree(args.blocks, args.degree, edges, seed)
        else {
            continue; // too small for so many blocks and links
        };
        let (n, edges_made) = (graph.n(), graph.edges());
        let target = data::target(&Dataset::new(Data::Network(graph)), &args.model.choice()?)?;
        let usual = ["gibbs", "arm-cells", "arm"].iter().map(ToString::to_string);
        let moves = if args.moves.is_empty() { usual.collect() } else { args.moves.clone() };
        let moves: Vec<String> =
            moves.into_iter().filter(|m| m != "arm" || edges <= MOST_FOR_ARM).collect();
        let start = Start::Labels(labels);
        let job = Measuring { args, name: &name, start, moves: &moves, progress };
        let (model, warmup, costs) = job.of(&*target)?;
        let entries = Entries::Network { edges: edges_made };
        all.push(Measured {
            data: format!("planted, about {name}"),
            model,
            n,
            entries,
            growth: Some(Growth {
                about_edges: edges,
                blocks: args.blocks,
                peak_bytes: memory::peak_bytes(),
            }),
            warmup,
            iteration_to_gibbs: bench::iteration_to_gibbs(&costs),
            moves: costs.iter().map(|cost| with_entries(cost, entries)).collect(),
            costs,
        });
    }
    if all.is_empty() {
        return Err(Error::new(format!(
            "networks of up to {} edges are too small for {} blocks and {} links of each vertex; use a larger --up-to, fewer --blocks or a smaller --degree",
            args.up_to, args.blocks, args.degree
        )));
    }
    compare(&mut all);
    Ok(all)
}

/// Puts the time for an edge in that of the network with 10 000 edges beside each move.
fn compare(all: &mut [Measured]) {
    let ns = |m: &Measured, name: &str| {
        let cost = m.costs.iter().find(|c| c.name == name)?;
        Some(cost.ns_per(m.entries.count()))
    };
    let is_compared = |m: &Measured| m.growth.is_some_and(|g| g.about_edges == COMPARED);
    let Some(at) = all.iter().position(is_compared) else { return };
    for i in 0..all.len() {
        for k in 0..all[i].costs.len() {
            let name = all[i].costs[k].name.clone();
            if let (Some(here), Some(there)) = (ns(&all[i], &name), ns(&all[at], &name)) {
                all[i].moves[k]["to_10k"] = json!(here / there);
            }
        }
    }
}

fn text(report: &Report, width: usize) -> String {
    let mut out = String::new();
    for m in &report.data {
        let (n, count) = (m.n, m.entries.count());
        let what = match m.entries {
            Entries::Network { .. } => format!("a network of {n} vertices and {count} edges"),
            Entries::Table { columns, .. } => format!("a table of {n} rows and {columns} columns"),
        };
        // Writing to a String cannot fail.
        let _ = wrap(&mut out, "", &format!("{}: {what}, model {}", m.data, m.model), width);
        let _ = write_costs(&mut out, m);
        let _ = write_notes(&mut out, m, width);
        let _ = writeln!(out);
    }
    let _ = wrap(&mut out, "", &about_time(report), width);
    out
}

fn about_time(report: &Report) -> String {
    let clock = if report.clock == "cpu" { "CPU time" } else { "wall time" };
    format!("{clock} on one thread of {}, armix {}; --help tells more", report.cpus, report.version)
}

fn write_costs(out: &mut String, m: &Measured) -> std::fmt::Result {
    let per = format!("ns/{}", m.entries.name());
    writeln!(
        out,
        "{:9}{:>8}{:>7}{:>7}{:>7}{:>7}{per:>8}{:>7}",
        "move", "ms", "per s", "work", "work/s", "×gibbs", "blocks"
    )?;
    for c in &m.costs {
        writeln!(
            out,
            "{:9}{:>8}{:>7}{:>7}{:>7}{:>7.2}{:>8}{:>7}",
            c.name,
            short(c.cpu_ms),
            short(c.per_second),
            short(c.work),
            short(c.work_per_second),
            c.to_gibbs,
            short(c.ns_per(m.entries.count())),
            short(c.blocks),
        )?;
    }
    Ok(())
}

fn write_notes(out: &mut String, m: &Measured, width: usize) -> std::fmt::Result {
    if let Some(ratio) = m.iteration_to_gibbs {
        let text = format!("one iteration of arm,gibbs takes {ratio:.2} Gibbs scans");
        wrap(out, "", &text, width)?;
    }
    for c in m.costs.iter().filter(|c| c.idle >= 0.005) {
        let share = 100.0 * c.idle;
        let text = format!(
            "{} had nothing to propose in {share:.0} % of its applications: the past agrees",
            c.name
        );
        wrap(out, "", &text, width)?;
    }
    Ok(())
}

fn growth_text(report: &Report, args: &Args, width: usize) -> String {
    let mut out = String::new();
    let head = format!(
        "planted networks of {} blocks and {} links of each vertex, model irm",
        args.blocks, args.degree
    );
    let _ = wrap(&mut out, "", &head, width);
    let _ = writeln!(
        out,
        "{:>7}{:>7} {:10}{:>8}{:>8}{:>7}{:>7}{:>5}",
        "edges", "n", "move", "ms", "ns/edge", "to 10k", "blocks", "MB"
    );
    for m in &report.data {
        for (at, (cost, json)) in m.costs.iter().zip(&m.moves).enumerate() {
            let first = |text: String| if at == 0 { text } else { String::new() };
            let to_10k = json["to_10k"].as_f64().map_or("–".into(), |x| format!("{x:.2}"));
            let peak =
                m.growth.and_then(|g| g.peak_bytes).map_or("–".into(), |b| (b >> 20).to_string());
            let line = format!(
                "{:>7}{:>7} {:10}{:>8}{:>8}{to_10k:>7}{:>7}{:>5}",
                first(short(m.entries.count() as f64)),
                first(short(m.n as f64)),
                cost.name,
                short(cost.cpu_ms),
                short(cost.ns_per(m.entries.count())),
                short(cost.blocks),
                first(peak),
            );
            let _ = writeln!(out, "{}", line.trim_end());
        }
    }
    let _ = wrap(
        &mut out,
        "",
        "to 10k: ns/edge in that of 10 000 edges; MB: the most memory so far",
        width,
    );
    let _ = wrap(&mut out, "", &about_time(report), width);
    out
}

/// Three digits that count: 0.0123, 1.23, 123, 12.3k, 1.23M.
fn short(x: f64) -> String {
    let (x, unit) = match x.abs() {
        a if a >= 999.5e6 => (x / 1e9, "G"),
        a if a >= 999.5e3 => (x / 1e6, "M"),
        a if a >= 9_995.0 => (x / 1e3, "k"),
        _ => (x, ""),
    };
    let digits = match x.abs() {
        a if a >= 99.95 => 0,
        a if a >= 9.995 => 1,
        a if a >= 0.9995 || a == 0.0 => 2,
        a if a >= 0.09995 => 3,
        _ => 4,
    };
    format!("{x:.digits$}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_count() {
        let cases = [
            (0.0, "0.00"),
            (0.01234, "0.0123"),
            (0.5, "0.500"),
            (1.234, "1.23"),
            (99.96, "100"),
            (1234.0, "1234"),
            (12_340.0, "12.3k"),
            (999_600.0, "1.00M"),
            (2.5e9, "2.50G"),
        ];
        cases.iter().for_each(|&(x, text)| assert_eq!(short(x), text));
    }
}
