//! `armix paper`: the paper's experiments again, each beside what was printed.

mod bernoulli;
mod chains;
mod downsampling;
mod folder;
mod item;
mod lab;
mod network_traces;
mod networks;
mod progress;
mod published;
mod relational;
mod report;
mod sampler;
mod sampler_test;
mod size;
mod table;
mod unit;
mod variants;

use crate::output::{emit, emit_json, say};
use armix::ensemble;
use armix::error::{Error, Result};
use armix::plot::Mark;
use armix::run::Start;
use folder::{Common, Folder};
use indicatif::HumanDuration;
use item::Item;
use lab::Lab;
use networks::Networks;
use progress::Progress;
use published::Printed;
use report::Report;
use size::Size;
use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use unit::Unit;

/// The paper does not say where chains begin; this is what `armix fit` does.
const START: Start = Start::Prior;

/// The exit code after Ctrl-C.
const INTERRUPTED: u8 = 130;

#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Every item is written to the output folder as text, JSON, CSV, SVG and PNG, and index.html there collects
all that is done so far. Finished parts are kept in the folder: after Ctrl-C or a crash the same command
goes on. The four networks (nips234, hagmann998, usair97, caltech36; .edges or any other format) are looked
for in the folder of --data; those that are missing are named with their public source.

Effort is told as in the paper, in normalised iterations (iterations × time of all moves / time of Gibbs
scans), and the same in candidates weighed, which does not depend on the machine.

Examples:
  armix paper sampler-test                every sampler against the exact posterior
  armix paper all --quick                 the shape of everything, in minutes
  armix paper all --data networks         everything as in the paper, in hours
  armix paper chains --chains 2,4,8,16,32,64    more chains than the paper could run
  armix paper variants --update docs/PAPER.md   also puts the tables into a document")]
pub(crate) struct Args {
    /// The table or figure
    #[arg(value_enum)]
    item: Item,

    /// The folder of the networks [default: ../shared/data/networks]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// The folder of the results [default: armix-paper, or armix-paper-quick]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Fewer data sets, restarts and iterations: the same shape in minutes
    #[arg(long)]
    quick: bool,

    /// As little as possible, for tests
    #[arg(long, hide = true, conflicts_with = "quick")]
    tiny: bool,

    /// The seed of data sets and chains
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..1 << 32))]
    seed: u64,

    /// Where chains on networks begin: prior, one, singletons or uniform:K
    #[arg(long, default_value_t = START, value_name = "START")]
    start: Start,

    /// Numbers of chains of the figure `chains` [default: those of the paper]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1 << 16))]
    chains: Option<Vec<u32>>,

    /// Threads, each of which works on whole runs [default: one per core]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Print a JSON list with an object for each item
    #[arg(long)]
    json: bool,

    /// Show no progress
    #[arg(short, long)]
    quiet: bool,

    /// Also put the tables into this document, between <!-- paper:ITEM --> and <!-- /paper:ITEM -->
    #[arg(long, value_name = "FILE")]
    update: Option<PathBuf>,
}

impl Args {
    fn size(&self) -> Size {
        match (self.quick, self.tiny) {
            (true, _) => Size::QUICK,
            (_, true) => Size::TINY,
            _ => Size::FULL,
        }
    }

    fn out(&self) -> PathBuf {
        let usual = if self.quick { "armix-paper-quick" } else { "armix-paper" };
        self.out.clone().unwrap_or_else(|| usual.into())
    }

    fn lab(&self) -> Result<Lab> {
        let size = self.size();
        let common = Common {
            armix: env!("CARGO_PKG_VERSION").into(),
            size: size.name.into(),
            seed: self.seed,
            start: self.start.to_string(),
        };
        let networks = Networks::new(self.data.as_deref())?;
        if self.item.needs_networks() {
            networks.need_some()?;
        }
        let numbers = match &self.chains {
            Some(numbers) => numbers.iter().map(|&s| s as usize).collect(),
            None => size.numbers.to_vec(),
        };
        Ok(Lab {
            size,
            numbers,
            seed: self.seed,
            start: self.start.clone(),
            networks,
            folder: Folder::open(&self.out(), &common)?,
            threads: self.threads.filter(|&t| t > 0).unwrap_or_else(ensemble::cores),
            stop: Arc::new(AtomicBool::new(false)),
            datasets: Mutex::new(HashMap::new()),
            finished: HashMap::new(),
            costs: HashMap::new(),
        })
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let mut items = args.item.expand();
    if let Some(path) = &args.update {
        report::check(path, &items.iter().map(|item| item.name()).collect::<Vec<_>>())?;
    }
    let mut lab = args.lab()?;
    if lab.networks.found().next().is_none() {
        items.retain(|item| !item.needs_networks());
    }
    if args.item.expand().iter().any(|item| item.needs_networks()) && !args.quiet {
        lab.networks.missing().iter().for_each(|line| say(&format!("armix: {line}")));
    }
    listen(&lab)?;
    let wanted: Vec<Unit> = items.iter().flat_map(|item| item.units(&lab)).collect();
    let todo = lab.recall(&wanted)?;
    let total = announce(&mut lab, &todo, args)?;
    let progress = Progress::new(total, args.quiet);
    let mut reports = Vec::new();
    for item in &items {
        let units = item.units(&lab);
        let todo = lab.recall(&units)?;
        lab.work(todo, &progress)?;
        if lab.stopped() {
            progress.finish();
            say(&how_to_go_on(&lab, args));
            return Ok(ExitCode::from(INTERRUPTED));
        }
        let made = item.make(&lab)?;
        made.report.write(&lab.folder, &made.drawing)?;
        report::write_page(&lab.folder, &names(), &settings(&lab))?;
        if !args.json {
            progress.aside(|| emit(&made.report.text()))?;
        }
        reports.push(made.report);
    }
    progress.finish();
    conclude(&lab, args, &reports)
}

fn names() -> Vec<String> {
    Item::every().into_iter().map(Item::name).collect()
}

fn settings(lab: &Lab) -> String {
    let (size, seed, start) = (lab.size.name, lab.seed, &lab.start);
    format!(
        "armix {}, {size} size, seed {seed}; chains on networks begin at {start}",
        env!("CARGO_PKG_VERSION")
    )
}

fn listen(lab: &Lab) -> Result<()> {
    let asked = Arc::clone(&lab.stop);
    ctrlc::set_handler(move || {
        if asked.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED.into());
        }
        say("\narmix: stopping; what is finished is kept");
    })
    .map_err(|error| Error::new(format!("cannot listen for Ctrl-C: {error}")))
}

/// Says how much is to be done; returns the estimate in seconds of one thread.
fn announce(lab: &mut Lab, todo: &[Unit], args: &Args) -> Result<f64> {
    let mut total = 0.0;
    for unit in todo {
        total += lab.estimate(unit)?;
    }
    if !args.quiet {
        let seconds = (total / lab.threads as f64).ceil();
        let time = HumanDuration(Duration::from_secs(seconds as u64));
        let kept = lab.finished.len();
        let kept = if kept > 0 { format!(", {kept} are there already") } else { String::new() };
        let threads =
            if lab.threads == 1 { "1 thread" } else { &format!("{} threads", lab.threads) };
        let folder = lab.folder.path().display();
        say(&format!(
            "{} runs are to be done{kept}: about {time} with {threads}; results in {folder}",
            todo.len()
        ));
    }
    Ok(total)
}

fn how_to_go_on(lab: &Lab, args: &Args) -> String {
    let mut command = format!("armix paper {}", args.item.name());
    for (name, given) in [("--quick", args.quick), ("--tiny", args.tiny), ("--json", args.json)] {
        command += &if given { format!(" {name}") } else { String::new() };
    }
    let mut option = |name: &str, value: Option<String>| {
        command += &value.map_or(String::new(), |value| format!(" {name} {value}"));
    };
    option("--data", args.data.as_ref().map(|p| p.display().to_string()));
    option("--out", args.out.as_ref().map(|p| p.display().to_string()));
    option("--start", (args.start != START).then(|| args.start.to_string()));
    option("--seed", (args.seed != 1).then(|| args.seed.to_string()));
    let list =
        |numbers: &Vec<u32>| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    option("--chains", args.chains.as_ref().map(list));
    option("--threads", args.threads.map(|t| t.to_string()));
    let kept = lab.finished.len();
    format!(
        "stopped: finished runs ({kept} and those of the last minutes) are kept; go on with: {command}"
    )
}

fn conclude(lab: &Lab, args: &Args, reports: &[Report]) -> Result<ExitCode> {
    if args.json {
        emit_json(&reports)?;
    }
    if let Some(path) = &args.update {
        report::update(path, reports)?;
    }
    if !args.quiet {
        say(&format!("everything on one page: {}", lab.folder.file("index.html").display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Our number as a full point, and beside it the printed one as a hollow one.
fn compare(
    marks: &mut Vec<Mark>,
    x: f64,
    group: usize,
    ours: Option<Printed>,
    printed: Option<Printed>,
) {
    let finite = |value: &Printed| value.0.is_finite() && value.1.is_finite();
    if let Some((mean, spread)) = ours.filter(finite) {
        marks.push(Mark::Point { group, at: (x - 0.06, mean), spread });
    }
    if let Some((mean, spread)) = printed.filter(finite) {
        marks.push(Mark::Ring { group, at: (x + 0.06, mean), spread });
    }
}

/// A remark if our number lies outside the printed spread.
fn outside(
    lab: &Lab,
    name: &str,
    ours: Option<Printed>,
    printed: Option<Printed>,
    digits: usize,
) -> Option<String> {
    let ((mean, sd), (theirs, spread)) = (ours?, printed?);
    // Printed numbers are rounded, and so are spreads of 0.00.
    let spread_at_least = spread.max(0.5 * 10f64.powi(-(digits as i32)));
    let far = (mean - theirs).abs() > spread_at_least && lab.size == Size::FULL;
    far.then(|| format!("outside the printed spread: {name}: {mean:.digits$} ± {sd:.digits$}, printed {theirs:.digits$} ± {spread:.digits$}"))
}
