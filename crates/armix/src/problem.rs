//! A problem: data with the options that choose a model for them. From these to a target and back to what a
//! run remembers of them; the one place that knows all models.

use crate::any_target::AnyTarget;
use crate::constraints::{Beforehand, Constraints};
use crate::data::{Column, Data, Dataset, Kind, Table};
use crate::error::{Error, Result};
use crate::families::{Categorical, Family, Gaussian, Poisson};
use crate::hyper::Hyper;
use crate::io::raw::{Raw, RawNetwork};
use crate::io::{self, NetworkOptions, TableOptions, Wanted, Weights};
use crate::model::Model;
use crate::models::relational;
use crate::models::student::{self, StudentT};
use crate::models::{self, Bernoulli, Columns, Irm, Mixed, Niw, Relational, StudentMixture};
use crate::moves::registry;
use crate::prior::PriorChoice;
use crate::relations::{Relations, Values};
use crate::state::Target;
use crate::store::{self, DataInfo, ModelInfo};
use crate::{builtin, predict};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

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
    /// Hyper-parameters of the model by name, as they are traced, but for those above; all others are as usual.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hypers: Vec<(String, f64)>,
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
    /// ν of Student's t.
    #[serde(default = "degrees_of_freedom")]
    pub degrees_of_freedom: f64,
    /// The parameters that each item holds ready, in models that cannot integrate them out.
    #[serde(default = "menu")]
    pub menu: usize,
    /// Hide this fraction of pairs or cells.
    #[serde(default)]
    pub hold_out: Option<f64>,
    /// Which entries are hidden.
    #[serde(default)]
    pub hold_out_seed: u64,
    /// What is known about the partition.
    #[serde(default)]
    pub beforehand: Beforehand,
    /// Edges have a direction.
    #[serde(default)]
    pub directed: bool,
    /// A vertex may be linked to itself.
    #[serde(default)]
    pub self_loops: bool,
    /// What the weights of a network are, and of each further relation.
    #[serde(default)]
    pub weights: Vec<Weights>,
    /// A network has two sides, and no block has vertices of both.
    #[serde(default)]
    pub bipartite: bool,
    /// A file of pairs that were not observed.
    #[serde(default)]
    pub mask: Option<PathBuf>,
    /// Files with further relations among the same vertices.
    #[serde(default)]
    pub relations: Vec<PathBuf>,
}

fn degrees_of_freedom() -> f64 {
    student::DEGREES_OF_FREEDOM
}

fn menu() -> usize {
    student::ENTRIES
}

/// Longer menus are taken for a mistake.
const MAX_MENU: usize = 1000;

impl Default for Choice {
    fn default() -> Self {
        Choice {
            model: None,
            prior: PriorChoice::Crp,
            alpha: 1.0,
            beta: (1.0, 1.0),
            hypers: Vec::new(),
            data_seed: 1,
            threshold: 0.0,
            downsample: None,
            largest_component: false,
            columns: None,
            id_column: None,
            label_column: None,
            types: Vec::new(),
            degrees_of_freedom: degrees_of_freedom(),
            menu: menu(),
            hold_out: None,
            hold_out_seed: 1,
            beforehand: Beforehand::default(),
            directed: false,
            self_loops: false,
            weights: Vec::new(),
            bipartite: false,
            mask: None,
            relations: Vec::new(),
        }
    }
}

impl Choice {
    /// The target of a model with this prior.
    pub fn target<M: Model>(&self, model: M) -> Result<Target<M>> {
        let prior = self.prior.build(self.alpha, model.n())?;
        Ok(Target::with_prior(self.with_hypers(model)?, prior))
    }

    /// The model with the hyper-parameters that were given by name.
    fn with_hypers<M: Model>(&self, model: M) -> Result<M> {
        let has_beta = || model.hypers().iter().any(|hyper| hyper.name.contains("beta_plus"));
        if self.beta != Choice::default().beta && !has_beta() {
            return Err(Error::new(format!(
                "--beta is the prior of links and of zeros and ones, which the model {} has not: leave it out; --hyper sets hyper-parameters of other models",
                model.name()
            )));
        }
        if self.hypers.is_empty() {
            return Ok(model);
        }
        let values = self.values_of_hypers(&model.hypers(), &model.name())?;
        Ok(model.with_hypers(&values))
    }

    /// The values of all hyper-parameters of a model.
    fn values_of_hypers(&self, all: &[Hyper], model: &str) -> Result<Vec<f64>> {
        // --beta sets these two, which reports use, too.
        let of_beta = |name: &str| name.contains("beta_plus") || name.contains("beta_minus");
        let mut values: Vec<f64> = all.iter().map(|hyper| hyper.value).collect();
        for (k, (name, value)) in self.hypers.iter().enumerate() {
            let found = all.iter().position(|h| h.name == *name && !of_beta(name));
            let Some(at) = found else {
                let names = all.iter().map(|h| &*h.name).filter(|name| !of_beta(name));
                let names: Vec<&str> = names.collect();
                let has = match names.is_empty() {
                    true => "none of its own".to_string(),
                    false => names.join(", "),
                };
                return Err(Error::new(format!(
                    "there is no hyper-parameter '{name}' to set in the model {model}, which has {has} (alpha, discount, gamma, β⁺, β⁻ and degrees of freedom are options of their own)"
                )));
            };
            let support = all[at].prior.support();
            if !support.contains(value) {
                return Err(Error::new(format!(
                    "the hyper-parameter {name}={value} is not possible: use a number from {:e} to {:e}, such as {}",
                    support.start(),
                    support.end(),
                    all[at].value
                )));
            }
            if self.hypers[..k].iter().any(|(before, _)| before == name) {
                return Err(Error::new(format!(
                    "the hyper-parameter {name} is given twice: leave one out"
                )));
            }
            values[at] = *value;
        }
        Ok(values)
    }

    /// How files are read and prepared.
    pub fn options(&self) -> Result<io::Options> {
        let (wanted, all) = match self.model.as_deref() {
            None => (None, None),
            Some(Irm::NAME) => (Some(Wanted::Network), None),
            Some(name) if weights_of_model(name).is_some() => (Some(Wanted::Network), None),
            Some(relational::SEVERAL) => (Some(Wanted::Network), None),
            Some(Bernoulli::NAME) => (Some(Wanted::Table), Some(Kind::Binary)),
            Some(Categorical::NAME) => (Some(Wanted::Table), Some(Kind::Categorical)),
            Some(Poisson::NAME) => (Some(Wanted::Table), Some(Kind::Count)),
            Some(Gaussian::NAME) => (Some(Wanted::Table), Some(Kind::Real)),
            Some(Niw::NAME) => (Some(Wanted::Table), Some(Kind::Real)),
            Some(StudentMixture::NAME) => (Some(Wanted::Table), Some(Kind::Real)),
            Some(Mixed::NAME) => (Some(Wanted::Table), None),
            Some(other) => {
                return Err(Error::new(format!(
                    "there is no model '{other}'; the models are {}",
                    models::names().join(", ")
                )));
            }
        };
        let network = self.network_options();
        let keeps = NetworkOptions {
            threshold: 0.0,
            downsample: None,
            largest_component: false,
            bipartite: false,
            ..network.clone()
        };
        let is_network = keeps != NetworkOptions::default();
        Ok(io::Options {
            wanted: wanted.or(is_network.then_some(Wanted::Network)),
            network,
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

/// What weights are in the relational model of this name, if it is one.
fn weights_of_model(name: &str) -> Option<Weights> {
    match name {
        relational::BINARY => Some(Weights::Ignore),
        relational::COUNTS => Some(Weights::Counts),
        relational::REALS => Some(Weights::Real),
        relational::CATEGORIES => Some(Weights::Category),
        relational::DEGREES => Some(Weights::Ignore),
        _ => None,
    }
}

impl Choice {
    /// Whether the model is one of vertices that have degrees of their own.
    pub(crate) fn is_degree_corrected(&self) -> bool {
        self.model.as_deref() == Some(relational::DEGREES)
    }

    /// How networks are prepared. The name of a model says what weights are, if no option does.
    fn network_options(&self) -> NetworkOptions {
        let by_model = self.model.as_deref().and_then(weights_of_model);
        let weights = match (&self.weights[..], by_model) {
            ([], Some(weights)) => vec![weights],
            (weights, _) => weights.to_vec(),
        };
        NetworkOptions {
            threshold: self.threshold,
            downsample: self.downsample,
            largest_component: self.largest_component,
            directed: self.directed,
            // The model has a place for them, so that none need be dropped.
            self_loops: self.self_loops || self.is_degree_corrected(),
            weights,
            bipartite: self.bipartite,
            mask: self.mask.clone(),
            relations: self.relations.clone(),
            general: by_model.is_some(),
        }
    }
}

/// Loads built-in data or a file, and hides what is to be held out.
pub fn load(name: &str, args: &Choice) -> Result<Dataset> {
    hide(load_whole(name, args)?, args)
}

/// Loads the data of a saved run. A network that armix wrote as JSON has been prepared with the options of the run already.
pub fn load_again(name: &str, args: &Choice) -> Result<Dataset> {
    if !name.ends_with(".json") && !name.ends_with(".json.gz") {
        return load(name, args);
    }
    let plain = Choice::default();
    let prepared = Choice {
        threshold: plain.threshold,
        downsample: plain.downsample,
        largest_component: plain.largest_component,
        directed: plain.directed,
        self_loops: plain.self_loops,
        weights: plain.weights,
        bipartite: plain.bipartite,
        mask: plain.mask,
        relations: plain.relations,
        ..args.clone()
    };
    load(name, &prepared)
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

/// Built-in data can be prepared like those from files.
fn prepare_builtin(dataset: Dataset, options: &io::Options) -> Result<Dataset> {
    let as_it_is = options.table.given().is_empty() && !options.network.bipartite;
    match &dataset.data {
        Data::Network(_) if as_it_is && options.network == NetworkOptions::default() => Ok(dataset),
        Data::Network(graph) => {
            let edges = graph.links().collect();
            let raw = RawNetwork { names: dataset.names, edges, ..RawNetwork::default() };
            io::prepare(Raw::Network(raw), options)
        }
        Data::Table(_) | Data::Columns(_) if as_it_is => {
            io::refuse_for_tables(&options.network)?;
            Ok(dataset)
        }
        Data::Table(table) => io::prepare(Raw::Table(io::raw_table(&dataset, table)), options),
        Data::Columns(table) => io::prepare(Raw::Table(io::raw_table_of(&dataset, table)), options),
        Data::Relations(_) => Ok(dataset),
    }
}

/// The target of data with the model that the options choose.
pub fn target(dataset: &Dataset, args: &Choice) -> Result<Box<dyn AnyTarget>> {
    let usual = (args.degrees_of_freedom, args.menu) == (degrees_of_freedom(), menu());
    let model = model_info(args, dataset).name;
    if !usual && model != StudentMixture::NAME {
        return Err(Error::new(format!(
            "--degrees-of-freedom and --menu belong to --model student-t, and this is {model}: leave them out"
        )));
    }
    let all = args.downsample.is_none() && !args.largest_component;
    let constraints = args.beforehand.constraints(&dataset.names, all)?;
    with_model(dataset, args, constraints)
}

/// The target of a model under constraints.
fn constrained<M: Model>(
    model: M,
    args: &Choice,
    constraints: Constraints,
) -> Result<Box<dyn AnyTarget>> {
    let target = args.target(model)?;
    let constraints = match target.model.sides() {
        Some(sides) => constraints.between(sides)?,
        None => constraints,
    };
    Ok(Box::new(target.with(constraints)))
}

/// The one match on all models.
fn with_model(
    dataset: &Dataset,
    args: &Choice,
    constraints: Constraints,
) -> Result<Box<dyn AnyTarget>> {
    let mismatch = |what: &str, model: &str| {
        Err(Error::new(format!(
            "the model {model} is not for {what}; leave --model out, and armix chooses the right one"
        )))
    };
    let (plus, minus) = args.beta;
    match (&dataset.data, args.model.as_deref()) {
        (Data::Network(graph), None | Some(Irm::NAME)) => {
            constrained(Irm::new(graph.clone(), plus, minus)?, args, constraints)
        }
        (Data::Table(table), None | Some(Bernoulli::NAME)) => {
            constrained(Bernoulli::new(table.clone(), plus, minus)?, args, constraints)
        }
        (Data::Relations(relations), None | Some(relational::DEGREES)) => {
            let degree_evenness = args.model.as_ref().map(|_| relational::DEGREE_EVENNESS);
            let priors =
                relational::Priors { beta: args.beta, degree_evenness, ..Default::default() };
            let model = Relational::new(relations.clone(), &priors)?;
            constrained(model, args, constraints)
        }
        (Data::Relations(relations), Some(model)) if model == relational::name(relations) => {
            with_model(dataset, &Choice { model: None, ..args.clone() }, constraints)
        }
        (Data::Relations(relations), Some(model)) => mismatch(
            &format!("such networks, which are for {}", relational::name(relations)),
            model,
        ),
        (Data::Table(table), Some(Mixed::NAME)) => {
            let table = Table::from_zeros_and_ones(table);
            constrained(Mixed::of(&table, args.beta)?, args, constraints)
        }
        (Data::Columns(table), model) => {
            let columns: Vec<&Column> = table.columns().iter().collect();
            match (model.unwrap_or_else(|| name_for(table)), table.only_kind()) {
                (Bernoulli::NAME, Some(Kind::Binary)) => {
                    let cells = Table::zeros_and_ones(&columns)?;
                    constrained(Bernoulli::new(cells, plus, minus)?, args, constraints)
                }
                (Categorical::NAME, Some(Kind::Categorical)) => constrained(
                    Columns::<Categorical>::new(&columns, Categorical::DEFAULTS)?,
                    args,
                    constraints,
                ),
                (Poisson::NAME, Some(Kind::Count)) => constrained(
                    Columns::<Poisson>::new(&columns, Poisson::DEFAULTS)?,
                    args,
                    constraints,
                ),
                (Gaussian::NAME, Some(Kind::Real)) => constrained(
                    Columns::<Gaussian>::new(&columns, Gaussian::DEFAULTS)?,
                    args,
                    constraints,
                ),
                (Niw::NAME, Some(Kind::Real)) => {
                    constrained(Niw::new(&columns, Niw::DEFAULTS)?, args, constraints)
                }
                (StudentMixture::NAME, Some(Kind::Real)) => {
                    let student = StudentT::of(&columns, args.degrees_of_freedom)?;
                    if !(1..=MAX_MENU).contains(&args.menu) {
                        return Err(Error::new(format!(
                            "--menu {} is not possible: each item holds 1 to {MAX_MENU} parameters ready, such as 4",
                            args.menu
                        )));
                    }
                    constrained(StudentMixture::new(student, args.menu), args, constraints)
                }
                (Mixed::NAME, _) => constrained(Mixed::of(table, args.beta)?, args, constraints),
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

/// The names of all moves, which are the same for every model, with a word about each.
pub fn moves() -> Vec<(&'static str, &'static str)> {
    registry::<Irm>().iter().map(|entry| (entry.name, entry.about)).collect()
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
        (Data::Relations(_), Some(relational::DEGREES)) => relational::DEGREES,
        (Data::Relations(relations), _) => relational::name(relations),
    };
    ModelInfo {
        name: name.to_string(),
        alpha: args.alpha,
        beta: args.beta,
        prior: args.prior,
        hypers: args.hypers.clone(),
    }
}

/// Why this model: what the data are, and which options say so.
pub fn reason(args: &Choice, dataset: &Dataset) -> String {
    if args.model.is_some() {
        return "--model says so".into();
    }
    match &dataset.data {
        Data::Network(_) => "links without direction, weight and self-loops".into(),
        Data::Table(_) => "a table of zeros and ones".into(),
        Data::Columns(_) => "the types of the columns".into(),
        Data::Relations(relations) => {
            let mut why: Vec<String> = Vec::new();
            for relation in relations.list() {
                let shape = &relation.shape;
                let option = match shape.values {
                    Values::Binary => "",
                    Values::Counts => " (--weights counts)",
                    Values::RealsOnLinks => " (--weights real)",
                    Values::Reals => " (--weights real-all)",
                    Values::Categories(_) => " (--weights category)",
                };
                why.push(format!("{}{option}", shape.describe()));
            }
            let sides = match (relations.sides(), args.bipartite) {
                (Some(_), true) => " between two sides (--bipartite)",
                (Some(_), false) => " between two sides (the file says so)",
                (None, _) => "",
            };
            why.join(", and ") + sides
        }
    }
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
        Data::Relations(relations) => fingerprint_of_relations(relations, &mut bytes),
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

fn fingerprint_of_relations(relations: &Relations, bytes: &mut Vec<u8>) {
    bytes.extend(relations.sides().unwrap_or(&[]).iter().map(|&side| u8::from(side)));
    for relation in relations.list() {
        bytes.extend_from_slice(format!("\n{:?}\n", relation.shape).as_bytes());
        for (u, v, value) in relation.entries() {
            [u, v].iter().for_each(|vertex| bytes.extend_from_slice(&vertex.to_le_bytes()));
            bytes.extend_from_slice(&value.to_bits().to_le_bytes());
        }
        for (u, v) in relation.hidden_pairs() {
            [u, v].iter().for_each(|vertex| bytes.extend_from_slice(&vertex.to_le_bytes()));
        }
    }
}

/// The data of a saved run, from where they were or from elsewhere; refused if they have changed.
pub fn reload(info: &DataInfo, elsewhere: Option<&str>) -> Result<(Choice, Dataset)> {
    let args: Choice = serde_json::from_value(info.options.clone())
        .map_err(|e| Error::new(format!("run.json is damaged: the options of the data: {e}")))?;
    let path = info.path.as_ref().map(|p| p.to_string_lossy().into_owned());
    let name = elsewhere.map(str::to_string).or(path).unwrap_or_else(|| info.source.clone());
    let dataset = load_again(&name, &args).map_err(|error| {
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
            None => {
                let others = args.mask.iter().chain(&args.relations);
                let files: String = others.map(|path| format!(" or {}", path.display())).collect();
                format!(
                    "{name}{files} has changed since this run began, so that it cannot be continued; restore the file, or begin a new run"
                )
            }
        }));
    }
    Ok((args, dataset))
}
