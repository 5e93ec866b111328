//! A problem: data with the options that choose a model for them. From these to a target and back to what a
//! run remembers of them; the one place that knows all models.

use crate::constraints::{Beforehand, Constraints};
use crate::data::{Column, Data, Dataset, Kind, Table};
use crate::error::{Error, Result};
use crate::families::{Categorical, Family, Gaussian, Poisson};
use crate::io::raw::RawNetwork;
use crate::io::{self, NetworkOptions, TableOptions, Wanted};
use crate::model::Model;
use crate::models::{self, Bernoulli, Columns, Irm, Mixed, Niw};
use crate::prior::PriorChoice;
use crate::state::Target;
use crate::store::{self, DataInfo, ModelInfo};
use crate::{builtin, predict};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What chooses data and model, as `run.json` keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The model's name; `None`: what the data are made for.
    pub model: Option<String>,
    /// The prior over partitions.
    #[serde(default, skip_serializing_if = "PriorChoice::is_crp")]
    pub prior: PriorChoice,
    /// α.
    pub alpha: f64,
    /// β⁺, β⁻.
    pub beta: (f64, f64),
    /// The seed of built-in data that are generated at random.
    pub data_seed: u64,
    /// Vertices are linked if their weights exceed this.
    pub threshold: f64,
    /// Keep this fraction of the vertices, those of highest degree.
    pub downsample: Option<f64>,
    /// Keep the largest connected component.
    pub largest_component: bool,
    /// The columns of a table to cluster by.
    pub columns: Option<Vec<String>>,
    /// The column that names the rows.
    pub id_column: Option<String>,
    /// The column with known groups.
    pub label_column: Option<String>,
    /// The types of columns that are not what they seem.
    #[serde(default)]
    pub types: Vec<(String, Kind)>,
    /// Hide this fraction of pairs or cells.
    #[serde(default)]
    pub hold_out: Option<f64>,
    /// Which entries are hidden.
    #[serde(default)]
    pub hold_out_seed: u64,
    /// What is known about the partition.
    #[serde(default)]
    pub beforehand: Beforehand,
}

impl Default for Choice {
    fn default() -> Self {
        Choice {
            model: None,
            prior: PriorChoice::Crp,
            alpha: 1.0,
            beta: (1.0, 1.0),
            data_seed: 1,
            threshold: 0.0,
            downsample: None,
            largest_component: false,
            columns: None,
            id_column: None,
            label_column: None,
            types: Vec::new(),
            hold_out: None,
            hold_out_seed: 1,
            beforehand: Beforehand::default(),
        }
    }
}

impl Choice {
    /// The target of a model with this prior.
    pub fn target<M: Model>(&self, model: M) -> Result<Target<M>> {
        let prior = self.prior.build(self.alpha, model.n())?;
        Ok(Target::with_prior(model, prior))
    }

    /// How files are read and prepared.
    pub fn options(&self) -> Result<io::Options> {
        let (wanted, all) = match self.model.as_deref() {
            None => (None, None),
            Some(Irm::NAME) => (Some(Wanted::Network), None),
            Some(Bernoulli::NAME) => (Some(Wanted::Table), Some(Kind::Binary)),
            Some(Categorical::NAME) => (Some(Wanted::Table), Some(Kind::Categorical)),
            Some(Poisson::NAME) => (Some(Wanted::Table), Some(Kind::Count)),
            Some(Gaussian::NAME) => (Some(Wanted::Table), Some(Kind::Real)),
            Some(Niw::NAME) => (Some(Wanted::Table), Some(Kind::Real)),
            Some(Mixed::NAME) => (Some(Wanted::Table), None),
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
                types: self.types.clone(),
                all,
            },
        })
    }
}

/// Loads built-in data or a file, and hides what is to be held out.
pub fn load(name: &str, args: &Choice) -> Result<Dataset> {
    hide(load_whole(name, args)?, args)
}

/// Hides what is to be held out of data that are in memory.
pub fn hide(dataset: Dataset, args: &Choice) -> Result<Dataset> {
    match args.hold_out {
        Some(fraction) => predict::hold_out(dataset, fraction, args.hold_out_seed),
        None => Ok(dataset),
    }
}

fn load_whole(name: &str, args: &Choice) -> Result<Dataset> {
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

/// Something to be done with a target, whatever its model.
pub trait Job {
    /// What comes out.
    type Output;
    /// Does it.
    fn run<M: Model>(self, target: Target<M>) -> Result<Self::Output>;
}

/// A job with a target under constraints.
struct Constrained<J>(J, Constraints);

impl<J: Job> Job for Constrained<J> {
    type Output = J::Output;
    fn run<M: Model>(self, target: Target<M>) -> Result<J::Output> {
        self.0.run(target.with(self.1))
    }
}

/// Builds the target and does the job with it.
pub fn with_target<J: Job>(dataset: &Dataset, args: &Choice, job: J) -> Result<J::Output> {
    let all = args.downsample.is_none() && !args.largest_component;
    let constraints = args.beforehand.constraints(&dataset.names, all)?;
    with_model(dataset, args, Constrained(job, constraints))
}

/// The one match on all models.
fn with_model<J: Job>(dataset: &Dataset, args: &Choice, job: J) -> Result<J::Output> {
    let mismatch = |what: &str, model: &str| {
        Err(Error::new(format!(
            "the model {model} is not for {what}; leave --model out, and armix chooses the right one"
        )))
    };
    let (plus, minus) = args.beta;
    match (&dataset.data, args.model.as_deref()) {
        (Data::Network(graph), None | Some(Irm::NAME)) => {
            job.run(args.target(Irm::new(graph.clone(), plus, minus)?)?)
        }
        (Data::Table(table), None | Some(Bernoulli::NAME)) => {
            job.run(args.target(Bernoulli::new(table.clone(), plus, minus)?)?)
        }
        (Data::Table(table), Some(Mixed::NAME)) => {
            let table = Table::from_zeros_and_ones(table);
            job.run(args.target(Mixed::of(&table, args.beta)?)?)
        }
        (Data::Columns(table), model) => {
            let columns: Vec<&Column> = table.columns().iter().collect();
            match (model.unwrap_or_else(|| name_for(table)), table.only_kind()) {
                (Bernoulli::NAME, Some(Kind::Binary)) => {
                    let cells = Table::zeros_and_ones(&columns)?;
                    job.run(args.target(Bernoulli::new(cells, plus, minus)?)?)
                }
                (Categorical::NAME, Some(Kind::Categorical)) => {
                    job.run(
                        args.target(Columns::<Categorical>::new(&columns, Categorical::DEFAULTS)?)?,
                    )
                }
                (Poisson::NAME, Some(Kind::Count)) => {
                    job.run(args.target(Columns::<Poisson>::new(&columns, Poisson::DEFAULTS)?)?)
                }
                (Gaussian::NAME, Some(Kind::Real)) => {
                    job.run(args.target(Columns::<Gaussian>::new(&columns, Gaussian::DEFAULTS)?)?)
                }
                (Niw::NAME, Some(Kind::Real)) => {
                    let cell = |row: usize, column: usize| {
                        let name = dataset.columns.get(column).cloned();
                        let name = name.unwrap_or_else(|| (column + 1).to_string());
                        format!("row '{}', column '{name}'", dataset.names[row])
                    };
                    job.run(args.target(Niw::new(&columns, Niw::DEFAULTS, &cell)?)?)
                }
                (Mixed::NAME, _) => job.run(args.target(Mixed::of(table, args.beta)?)?),
                (model, _) => mismatch("tables with columns of these types", model),
            }
        }
        (Data::Network(_), Some(model)) => mismatch("networks", model),
        (Data::Table(_), Some(model)) => mismatch("tables of zeros and ones", model),
    }
}

/// The name of the model that a table is made for.
fn name_for(table: &Table) -> &'static str {
    match table.only_kind() {
        Some(Kind::Binary) => Bernoulli::NAME,
        Some(Kind::Categorical) => Categorical::NAME,
        Some(Kind::Count) => Poisson::NAME,
        Some(Kind::Real) => Gaussian::NAME,
        None => Mixed::NAME,
    }
}

/// What a run remembers of its data, so that they can be found and recognised.
pub fn info(name: &str, args: &Choice, dataset: &Dataset) -> Result<DataInfo> {
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
pub fn model_info(args: &Choice, dataset: &Dataset) -> ModelInfo {
    let name = match (&dataset.data, args.model.as_deref()) {
        (Data::Network(_), _) => Irm::NAME,
        (Data::Table(_), Some(Mixed::NAME)) => Mixed::NAME,
        (Data::Table(_), _) => Bernoulli::NAME,
        (Data::Columns(_), Some(model)) => model,
        (Data::Columns(table), None) => name_for(table),
    };
    ModelInfo { name: name.to_string(), alpha: args.alpha, beta: args.beta, prior: args.prior }
}

/// Tells data apart.
pub fn fingerprint(dataset: &Dataset) -> String {
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
        Data::Columns(table) => {
            for column in table.columns() {
                bytes.extend_from_slice(column.kind().name().as_bytes());
                bytes.extend_from_slice(column.names().join("\n").as_bytes());
                column.cells().iter().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
            }
        }
    }
    store::fingerprint(&bytes)
}

/// The data of a saved run, from where they were or from elsewhere; refused if they have changed.
pub fn reload(info: &DataInfo, elsewhere: Option<&str>) -> Result<(Choice, Dataset)> {
    let args: Choice = serde_json::from_value(info.options.clone())
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
