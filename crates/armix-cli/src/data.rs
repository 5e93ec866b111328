//! From DATA and the model options to a target: the one place that knows all models.

use armix::data::{Data, Dataset};
use armix::error::{Error, Result};
use armix::io::raw::RawNetwork;
use armix::io::{self, NetworkOptions, TableOptions, Wanted};
use armix::model::Model;
use armix::models::{Bernoulli, Irm};
use armix::state::Target;
use armix::store::{self, DataInfo, ModelInfo};
use armix::{builtin, models, predict};
use std::path::Path;

/// Options that choose data and model.
#[derive(Debug, Clone, clap::Args, serde::Serialize, serde::Deserialize)]
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
    #[arg(long, default_value_t = 1, value_name = "SEED", help_heading = "Data")]
    pub data_seed: u64,

    /// Vertices are linked if their weights, added up over both directions, exceed this
    #[arg(
        long,
        default_value_t = 0.0,
        value_name = "WEIGHT",
        allow_negative_numbers = true,
        help_heading = "Data"
    )]
    pub threshold: f64,

    /// Keep this fraction of the vertices, those of highest degree
    #[arg(long, value_name = "F", allow_negative_numbers = true, help_heading = "Data")]
    pub downsample: Option<f64>,

    /// Keep the largest connected component of a network
    #[arg(long, help_heading = "Data")]
    pub largest_component: bool,

    /// Columns of a table to cluster by, by name or number [default: all but names and labels]
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Data")]
    pub columns: Option<Vec<String>>,

    /// The column of a table that names its rows
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub id_column: Option<String>,

    /// The column of a table with known groups, which is left out
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub label_column: Option<String>,

    /// Hide this fraction of pairs or cells, and tell how well they are predicted
    #[arg(long, value_name = "F", allow_negative_numbers = true, help_heading = "Data")]
    #[serde(default)]
    pub hold_out: Option<f64>,

    /// Which entries are hidden by --hold-out
    #[arg(long, default_value_t = 1, value_name = "SEED", help_heading = "Data")]
    #[serde(default)]
    pub hold_out_seed: u64,
}

impl Default for DataArgs {
    /// What the command line says without any option.
    fn default() -> Self {
        DataArgs {
            model: None,
            alpha: 1.0,
            beta: (1.0, 1.0),
            data_seed: 1,
            threshold: 0.0,
            downsample: None,
            largest_component: false,
            columns: None,
            id_column: None,
            label_column: None,
            hold_out: None,
            hold_out_seed: 1,
        }
    }
}

impl DataArgs {
    /// How files are read and prepared.
    pub(crate) fn options(&self) -> Result<io::Options> {
        let wanted = match self.model.as_deref() {
            None => None,
            Some(Irm::NAME) => Some(Wanted::Network),
            Some(Bernoulli::NAME) => Some(Wanted::Table),
            Some(other) => {
                return Err(Error::new(format!(
                    "there is no model '{other}'; the models are {}",
                    models::names().join(", ")
                )));
            }
        };
        Ok(io::Options {
            wanted,
            network: NetworkOptions {
                threshold: self.threshold,
                downsample: self.downsample,
                largest_component: self.largest_component,
            },
            table: TableOptions {
                columns: self.columns.clone(),
                id_column: self.id_column.clone(),
                label_column: self.label_column.clone(),
            },
        })
    }
}

fn parse_beta(text: &str) -> std::result::Result<(f64, f64), String> {
    let numbers = text
        .split_once(',')
        .and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)));
    numbers.ok_or_else(|| "write two numbers with a comma between them, for example 1,1".into())
}

/// What can be read, for help texts.
pub(crate) fn data_help() -> String {
    let width = 29;
    let lines = builtin::LIST.map(|(name, about)| format!("  {name:width$} {about}\n"));
    format!("{FILES}\nBuilt-in data:\n{}", lines.concat())
}

const FILES: &str = "\
Files:
  networks  edge list (numbers or names, perhaps weights), dense matrix, Matrix Market, Pajek,
            GML, GraphML, .smat, MATLAB .mat (FILE.mat:VARIABLE), .npy, .npz, graph-tool .gt
  tables    CSV, TSV, .npy
  packed    any of them as .gz or in a .zip (FILE.zip:MEMBER)
";

/// Loads built-in data or a file, and hides what is to be held out.
pub(crate) fn load(name: &str, args: &DataArgs) -> Result<Dataset> {
    let dataset = load_whole(name, args)?;
    match args.hold_out {
        Some(fraction) => predict::hold_out(dataset, fraction, args.hold_out_seed),
        None => Ok(dataset),
    }
}

fn load_whole(name: &str, args: &DataArgs) -> Result<Dataset> {
    let options = args.options()?;
    if let Some(data) = builtin::load(name, args.data_seed) {
        return prepare_builtin(data?, &options);
    }
    let path = Path::new(name);
    if !path.exists() && path.components().count() == 1 && path.extension().is_none() {
        let names = builtin::LIST.map(|(name, _)| name);
        return Err(Error::new(format!(
            "there is no file '{name}' here, and no built-in data of this name; built in are {}",
            names.join(", ")
        )));
    }
    io::read(path, &options)
}

/// Built-in networks can be thinned out like those from files.
fn prepare_builtin(dataset: Dataset, options: &io::Options) -> Result<Dataset> {
    match &dataset.data {
        Data::Network(graph) if options.network != NetworkOptions::default() => {
            let edges = graph.links().collect();
            let raw = RawNetwork { names: dataset.names, edges, ..RawNetwork::default() };
            io::network(raw, &options.network)
        }
        _ => Ok(dataset),
    }
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

/// What a run remembers of its data, so that they can be found and recognised.
pub(crate) fn info(name: &str, args: &DataArgs, dataset: &Dataset) -> Result<DataInfo> {
    let options = serde_json::to_value(args);
    let options = options.map_err(|e| Error::new(format!("cannot save the options: {e}")))?;
    let is_file = builtin::load(name, args.data_seed).is_none();
    Ok(DataInfo {
        source: name.to_string(),
        path: is_file.then(|| std::path::absolute(name).unwrap_or_else(|_| name.into())),
        options,
        fingerprint: fingerprint(dataset),
        names: dataset.names.clone(),
    })
}

/// What a run remembers of its model.
pub(crate) fn model_info(args: &DataArgs, dataset: &Dataset) -> ModelInfo {
    let name = match dataset.data {
        Data::Network(_) => Irm::NAME,
        Data::Table(_) => Bernoulli::NAME,
    };
    ModelInfo { name: name.to_string(), alpha: args.alpha, beta: args.beta }
}

pub(crate) fn fingerprint(dataset: &Dataset) -> String {
    let mut bytes = dataset.names.join("\n").into_bytes();
    match &dataset.data {
        Data::Network(graph) => {
            for v in 0..graph.n() {
                bytes.push(b'\n');
                graph.neighbours(v).iter().for_each(|u| bytes.extend_from_slice(&u.to_le_bytes()));
            }
            for (u, v) in graph.hidden_pairs() {
                bytes.extend_from_slice(&u.to_le_bytes());
                bytes.extend_from_slice(&v.to_le_bytes());
            }
        }
        Data::Table(table) => {
            (0..table.n()).for_each(|row| bytes.extend_from_slice(table.row(row)));
        }
    }
    store::fingerprint(&bytes)
}

/// The data of a saved run, from where they were or from elsewhere; refused if they have changed.
pub(crate) fn reload(info: &DataInfo, elsewhere: Option<&str>) -> Result<(DataArgs, Dataset)> {
    let args: DataArgs = serde_json::from_value(info.options.clone())
        .map_err(|e| Error::new(format!("run.json is damaged: the options of the data: {e}")))?;
    let path = info.path.as_ref().map(|p| p.to_string_lossy().into_owned());
    let name = elsewhere.map(str::to_string).or(path).unwrap_or_else(|| info.source.clone());
    let dataset = load(&name, &args).map_err(|error| {
        // A name like FILE.zip:MEMBER is no path of its own.
        let there = elsewhere.is_some() || info.path.as_ref().is_none_or(|p| p.exists());
        match there || name.contains(':') {
            true => error,
            false => Error::new(format!(
                "the data of this run, {name}, are no longer there; say where they are with --data"
            )),
        }
    })?;
    if fingerprint(&dataset) != info.fingerprint {
        return Err(Error::new(match elsewhere {
            Some(_) => format!(
                "{name} does not hold the data of this run: name the same file, wherever it is now"
            ),
            None => format!(
                "{name} has changed since this run began, so that it cannot be continued; restore the file, or begin a new run"
            ),
        }));
    }
    Ok((args, dataset))
}
