//! From DATA and the model options to a target: the one place that knows all models.

use armix::data::{Data, Dataset};
use armix::error::{Error, Result};
use armix::io::{self, Format};
use armix::model::Model;
use armix::models::{Bernoulli, Irm};
use armix::state::Target;
use armix::{builtin, models};
use std::path::Path;

/// Options that choose data and model.
#[derive(Debug, clap::Args)]
pub(crate) struct DataArgs {
    /// The model: irm for networks, bernoulli for binary tables [default: what the data are]
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    pub model: Option<String>,

    /// Concentration α of the Chinese restaurant process; larger values favour more blocks
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true, help_heading = "Model")]
    pub alpha: f64,

    /// The Beta prior of the link or cell probabilities, β⁺,β⁻
    #[arg(long, default_value = "1,1", value_name = "A,B", allow_hyphen_values = true, value_parser = parse_beta, help_heading = "Model")]
    pub beta: (f64, f64),

    /// Seed of the built-in data that are generated at random
    #[arg(long, default_value_t = 1, value_name = "SEED", help_heading = "Model")]
    pub data_seed: u64,
}

fn parse_beta(text: &str) -> std::result::Result<(f64, f64), String> {
    let numbers = text
        .split_once(',')
        .and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)));
    numbers.ok_or_else(|| "write two numbers with a comma between them, for example 1,1".into())
}

/// The list of built-in data, for help texts.
pub(crate) fn builtin_help() -> String {
    let width = 38;
    let lines = builtin::LIST.map(|(name, about)| format!("  {name:width$} {about}\n"));
    format!("Built-in data:\n{}", lines.concat())
}

/// Loads built-in data or a file.
pub(crate) fn load(name: &str, args: &DataArgs) -> Result<Dataset> {
    let format = match args.model.as_deref() {
        None => None,
        Some(Irm::NAME) => Some(Format::EdgeList),
        Some(Bernoulli::NAME) => Some(Format::Table),
        Some(other) => {
            return Err(Error::new(format!(
                "there is no model '{other}'; the models are {}",
                models::names().join(", ")
            )));
        }
    };
    if let Some(data) = builtin::load(name, args.data_seed) {
        return data;
    }
    let path = Path::new(name);
    if !path.exists() && path.components().count() == 1 && path.extension().is_none() {
        let names = builtin::LIST.map(|(name, _)| name);
        return Err(Error::new(format!(
            "there is no file '{name}' here, and no built-in data of this name; built in are {}",
            names.join(", ")
        )));
    }
    io::read(path, format)
}

/// One line about the data.
pub(crate) fn describe(name: &str, dataset: &Dataset) -> String {
    match &dataset.data {
        Data::Network(graph) => {
            format!("{name}: a network of {} vertices and {} edges", graph.n(), graph.edges())
        }
        Data::Table(table) => {
            format!("{name}: a table of {} rows and {} columns", table.n(), table.d())
        }
    }
}

/// Something to be done with a target, whatever its model.
pub(crate) trait Job {
    type Output;
    fn run<M: Model>(self, target: Target<M>) -> Result<Self::Output>;
}

/// Builds the target and does the job with it.
pub(crate) fn with_target<J: Job>(dataset: &Dataset, args: &DataArgs, job: J) -> Result<J::Output> {
    let mismatch = |what: &str, model: &str| {
        Err(Error::new(format!(
            "the model {model} is not for {what}; leave --model out, and armix chooses the right one"
        )))
    };
    let (plus, minus) = args.beta;
    match (&dataset.data, args.model.as_deref()) {
        (Data::Network(graph), None | Some(Irm::NAME)) => {
            job.run(Target::new(Irm::new(graph.clone(), plus, minus)?, args.alpha)?)
        }
        (Data::Table(table), None | Some(Bernoulli::NAME)) => {
            job.run(Target::new(Bernoulli::new(table.clone(), plus, minus)?, args.alpha)?)
        }
        (Data::Network(_), Some(model)) => mismatch("networks", model),
        (Data::Table(_), Some(model)) => mismatch("tables", model),
    }
}
