//! `armix convert` and `armix generate`: data to a file, in the format that its name asks for.

use crate::data::{self, DataArgs};
use crate::output::say;
use armix::builtin;
use armix::data::Data;
use armix::error::{Error, Result};
use armix::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Networks are written as .edges, .txt (edge list), .csv (matrix), .mtx, .net, .gml, .graphml, .smat, .mat, .npy, .npz or .json,
tables as .csv, .tsv or .npy; any of them also with .gz. Only .json keeps the two sides of bipartite networks, pairs that
were not observed, and several relations.

Examples:
  armix convert Reed98.mat reed98.edges
  armix convert big.mtx small.graphml --downsample 0.2
  armix convert survey.csv votes.tsv --columns q1,q2,q7")]
pub(crate) struct Args {
    /// Built-in data or a file
    data: String,

    /// The file to write
    out: PathBuf,

    #[command(flatten)]
    options: DataArgs,
}

#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  armix generate planted:10,100,0.2,0.01 network.edges --data-seed 7
  armix generate mixture:4,50,20,0.1 rows.csv
  armix generate grid:100x100 grid.mtx.gz")]
pub(crate) struct GenerateArgs {
    /// planted:K,size,p_in,p_out, mixture:K,size,columns,noise, levels:K,size,columns, counts:K,size,columns,
    /// reals:K,size,columns, grid:WxH or bernoulli-1, -2, -3
    what: String,

    /// The file to write; its ending says the format
    out: PathBuf,

    /// Another seed gives other data of the same kind
    #[arg(long, default_value_t = 1, value_name = "SEED")]
    data_seed: u64,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let dataset = args.options.load(&args.data)?;
    dataset.notes.iter().for_each(|note| say(&format!("  {note}")));
    write(&dataset, &args.out)
}

pub(crate) fn generate(args: &GenerateArgs) -> Result<ExitCode> {
    let dataset = builtin::load(&args.what, args.data_seed).unwrap_or_else(|| {
        Err(Error::new(format!(
            "'{}' cannot be generated; see armix generate --help for what can",
            args.what
        )))
    })?;
    write(&dataset, &args.out)
}

fn write(dataset: &armix::data::Dataset, out: &Path) -> Result<ExitCode> {
    io::write(dataset, out)?;
    let ending = |path: &Path| path.extension().unwrap_or_default().to_ascii_lowercase();
    let plain = if ending(out) == "gz" { out.with_extension("") } else { out.to_path_buf() };
    if let Data::Relations(relations) = &dataset.data
        && relations.sides().is_some()
        && ending(&plain) != "json"
    {
        say("  the two sides are not kept in this format; .json keeps them");
    }
    say(&data::describe(&out.display().to_string(), dataset));
    Ok(ExitCode::SUCCESS)
}
