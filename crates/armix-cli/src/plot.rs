//! `armix plot`: pictures for papers.

use crate::output::say;
use crate::picture;
use crate::source::Source;
use crate::summary::reload;
use armix::answer::{self, Answer};
use armix::data::Data;
use armix::diagnose::{BurnIn, autocorrelation, traced};
use armix::error::{Error, Result};
use armix::estimate::{MOST_DENSE_ITEMS, similarity};
use armix::plot::{
    self, Acf, Adjacency, CM, Drawing, FractionPanel, Fractions, Iterations, Quantity, Series,
    Similarity, Style, Trace, Weights,
};
use armix::relations::Values;
use armix::run::{Run, TOP};
use std::path::PathBuf;
use std::process::ExitCode;

/// Autocorrelations are drawn up to this lag.
const LAGS: usize = 100;
/// So many chains have a panel of block fractions.
const PANELS: usize = 8;

#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  armix plot RUN trace -o trace.pdf
  armix plot RUN similarity -o similarity.svg --width 12
  armix plot RUN acf -o acf.png --title 'Karate club'")]
pub(crate) struct Args {
    /// The folder of the run
    run: PathBuf,

    /// What to draw
    #[arg(value_enum)]
    what: What,

    /// The file to write: .svg, .png or .pdf
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// The width in centimetres
    #[arg(long, default_value_t = 8.6, value_name = "CM", allow_negative_numbers = true)]
    width: f64,

    /// The height in centimetres [default: what suits the picture]
    #[arg(long, value_name = "CM", allow_negative_numbers = true)]
    height: Option<f64>,

    /// A title above the picture
    #[arg(long)]
    title: Option<String>,

    /// What does not count: a percentage, a fraction, or a number of iterations
    #[arg(long, default_value = "50%", value_name = "AMOUNT")]
    burn_in: BurnIn,

    /// Where the data are now, if they were moved
    #[arg(long, value_name = "DATA")]
    data: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum What {
    /// Log joint and number of blocks by iteration, a line for each chain
    Trace,
    /// The fractions of items in the largest 1, 2, … 5 blocks by iteration
    Fractions,
    /// How probably two items share a block, ordered by the estimate
    Similarity,
    /// The links or weights of a network, ordered by the estimate; of a bipartite one, its rows and columns
    Adjacency,
    /// Autocorrelation functions
    Acf,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    picture::check(&args.output)?;
    let source = Source::load(std::slice::from_ref(&args.run))?;
    let style = Style {
        width: args.width * CM,
        height: args.height.map(|height| height * CM),
        title: args.title.clone(),
    };
    let drawing = match args.what {
        What::Trace => trace(&source.run, args, &style),
        What::Fractions => fractions(&source.run, args, &style),
        What::Acf => acf(&source.run, args, &style),
        What::Similarity => similarities(&source, args, &style),
        What::Adjacency => adjacency(&source, args, &style),
    }?;
    picture::write(&drawing, &args.output)?;
    say(&format!("written: {}", args.output.display()));
    Ok(ExitCode::SUCCESS)
}

fn iterations(run: &Run, args: &Args) -> Iterations {
    let burn_in = args.burn_in.of(run.iterations) as u64;
    Iterations { first: 1, every: 1, burn_in: (burn_in > 0).then_some(burn_in) }
}

fn groups(run: &Run) -> Vec<String> {
    (1..=run.ensembles.len()).map(|e| format!("ensemble {e}")).collect()
}

/// A line for each chain.
fn series(values: Vec<Vec<Vec<f64>>>) -> Vec<Series> {
    let mut series = Vec::new();
    for (group, chains) in values.into_iter().enumerate() {
        for (chain, values) in chains.into_iter().enumerate() {
            let label = format!("ensemble {}, chain {}", group + 1, chain + 1);
            series.push(Series { label, group, values });
        }
    }
    series
}

fn trace(run: &Run, args: &Args, style: &Style) -> Result<Drawing> {
    let of = |name: &str| {
        let found = traced(run).into_iter().find(|t| t.name() == name);
        found.map_or(Vec::new(), |t| series(t.values(run, 0)))
    };
    let input = Trace {
        ln_joint: of("log_joint"),
        blocks: of("blocks"),
        groups: groups(run),
        iterations: iterations(run, args),
    };
    plot::trace(&input, style)
}

fn fractions(run: &Run, args: &Args, style: &Style) -> Result<Drawing> {
    let fraction =
        |top: &[u32; TOP], count: usize| f64::from(top[..count].iter().sum::<u32>()) / run.n as f64;
    // The first chains of all ensembles, then the second ones, while there is room.
    let chains = run.ensembles.first().map_or(0, Vec::len);
    let places = (0..chains).flat_map(|c| (0..run.ensembles.len()).map(move |e| (e, c)));
    let mut places: Vec<(usize, usize)> = places.take(PANELS).collect();
    places.sort_unstable();
    let panel = |&(e, c): &(usize, usize)| FractionPanel {
        title: format!("ensemble {}, chain {}", e + 1, c + 1),
        cumulative: (1..=TOP)
            .map(|count| {
                run.ensembles[e][c].largest.iter().map(|top| fraction(top, count)).collect()
            })
            .collect(),
    };
    let input =
        Fractions { panels: places.iter().map(panel).collect(), iterations: iterations(run, args) };
    plot::fractions(&input, style)
}

fn acf(run: &Run, args: &Args, style: &Style) -> Result<Drawing> {
    let burn_in = args.burn_in.of(run.iterations);
    let kept = run.iterations - burn_in;
    let shown = ["log_joint", "blocks", "fraction_1"];
    let shown = |name: &str| shown.contains(&name) || run.hypers.iter().any(|h| h == name);
    let quantities = (traced(run).into_iter().filter(|t| shown(t.name())))
        .map(|t| {
            let mut chains = series(t.values(run, burn_in));
            for chain in &mut chains {
                chain.values = autocorrelation(&chain.values);
                chain.values.truncate(LAGS.min(kept / 2) + 1);
            }
            Quantity { name: t.label().into(), chains, n: kept }
        })
        .collect();
    plot::acf(&Acf { quantities, groups: groups(run), every: 1 }, style)
}

/// The items in the order of the estimate, and the sizes of its blocks.
fn order(source: &Source, args: &Args) -> Result<(Vec<usize>, Vec<usize>)> {
    source.need_draws(args.burn_in)?;
    let options = answer::Options { burn_in: args.burn_in, ..answer::Options::default() };
    let mut members = Answer::new(&source.run, &options)?.members();
    members.sort_by_key(|block| std::cmp::Reverse(block.len()));
    Ok((members.concat(), members.iter().map(Vec::len).collect()))
}

fn similarities(source: &Source, args: &Args, style: &Style) -> Result<Drawing> {
    if source.run.n > MOST_DENSE_ITEMS {
        return Err(Error::new(format!(
            "a matrix of {} items is too large to be drawn: at most {MOST_DENSE_ITEMS} can be; armix report shows it averaged",
            source.run.n
        )));
    }
    let (order, blocks) = order(source, args)?;
    let burn_in = args.burn_in.of(source.run.iterations);
    let matrix = similarity(&answer::sample_of(&source.run, burn_in)?.0)?;
    let value = |i: usize, j: usize| f64::from(matrix.get(i, j));
    let items = if source.run.model.starts_with("irm") { "vertex" } else { "item" };
    plot::similarity(&Similarity { value: &value, order: &order, blocks: &blocks, items }, style)
}

fn adjacency(source: &Source, args: &Args, style: &Style) -> Result<Drawing> {
    let network = reload(source, args.data.as_deref())?;
    let (order, blocks) = order(source, args)?;
    match network.map(|(_, dataset)| (dataset.data, dataset.names)) {
        Some((Data::Network(graph), _)) => {
            let edges: Vec<(u32, u32)> = graph.links().collect();
            plot::adjacency(&Adjacency { edges: &edges, order: &order, blocks: &blocks }, style)
        }
        Some((Data::Relations(relations), names)) => {
            let relation = &relations.list()[0];
            let weight = |value: f64| match relation.shape.values {
                Values::Binary | Values::Categories(_) => 1.0,
                _ => value,
            };
            let weights: Vec<(u32, u32, f64)> =
                relation.entries().map(|(u, v, value)| (u, v, weight(value))).collect();
            let input = Weights {
                weights: &weights,
                directed: relation.shape.directed,
                order: &order,
                blocks: &blocks,
                sides: relations.sides(),
                names: &names,
            };
            plot::weights(&input, style)
        }
        _ => Err(Error::new(
            "an adjacency matrix needs a run on a network whose data are still there",
        )),
    }
}
