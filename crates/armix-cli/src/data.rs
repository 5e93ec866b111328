//! The options that choose data and model, for the command line.

use armix::builtin;
use armix::constraints::Beforehand;
use armix::data::{Data, Dataset, Kind};
use armix::error::{Error, Result};
use armix::io::{self, Weights};
use armix::prior::{Components, PriorChoice};
use armix::problem::{self, Choice};
use std::path::PathBuf;

pub(crate) use armix::problem::{info, model_info, reload, target};

/// Options that choose data and model.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct DataArgs {
    /// The model: irm for simple networks, irm-bernoulli (directed, bipartite, with self-loops), irm-poisson
    /// (counts), irm-gaussian (real weights), irm-categorical (kinds of edges), irm-degree-corrected (links or counts of vertices whose degrees differ
    /// within a block); for tables bernoulli (zeros and ones), categorical, poisson (counts),
    /// gaussian (reals), niw (reals, with correlations), student-t (reals with outliers), mixed (any columns) [default: what the data are]
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    pub model: Option<String>,

    /// The prior over partitions
    #[arg(long, value_enum, default_value = "crp", value_name = "NAME", help_heading = "Model")]
    pub prior: PriorName,

    /// Concentration α of crp and pitman-yor; larger values favour more blocks
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true, help_heading = "Model")]
    pub alpha: f64,

    /// Discount d of pitman-yor, from 0 (crp) to 0.999 (many small blocks) [default: 0.25]
    #[arg(long, value_name = "D", allow_negative_numbers = true, help_heading = "Model")]
    pub discount: Option<f64>,

    /// γ of mfm: the Dirichlet parameter of the components' weights [default: 1]
    #[arg(long, value_name = "G", allow_negative_numbers = true, help_heading = "Model")]
    pub gamma: Option<f64>,

    /// The number of components of mfm: geometric:P, or one more than poisson:MEAN [default: geometric:0.1]
    #[arg(long, value_name = "PRIOR", help_heading = "Model")]
    pub components: Option<Components>,

    /// The Beta prior of the link or cell probabilities, β⁺,β⁻
    #[arg(long, default_value = "1,1", value_name = "A,B", allow_hyphen_values = true, value_parser = parse_beta, help_heading = "Model")]
    pub beta: (f64, f64),

    /// Other hyper-parameters of the model by name, with commas between, such as kappa=0.5,scale=0.1 (armix fit
    /// --help lists them) [default: weak priors on the scale of the data]
    #[arg(long = "hyper", value_name = "NAME=VALUE", value_delimiter = ',', value_parser = parse_hyper, help_heading = "Model")]
    pub hypers: Vec<(String, f64)>,

    /// Items whose groups are known: a file with an item, a tab and its group on each line. The same group is
    /// one block; other groups are other blocks; all other items may join them
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    pub known: Option<PathBuf>,

    /// Items that belong together: a file with two or more of them on each line, with tabs between them
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    pub together: Option<PathBuf>,

    /// The largest number of blocks
    #[arg(long, value_name = "K", help_heading = "Model")]
    pub max_blocks: Option<usize>,

    /// Degrees of freedom of student-t; the fewer, the further away outliers may be
    #[arg(
        long,
        default_value_t = 4.0,
        value_name = "NU",
        allow_negative_numbers = true,
        help_heading = "Model"
    )]
    pub degrees_of_freedom: f64,

    /// Parameters that each row of student-t holds ready for a block; the posterior is the same for any number
    #[arg(long, default_value_t = 4, value_name = "M", help_heading = "Model")]
    pub menu: usize,

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

    /// Edges of a network have a direction
    #[arg(long, help_heading = "Data")]
    pub directed: bool,

    /// A vertex may be linked to itself
    #[arg(long, help_heading = "Data")]
    pub self_loops: bool,

    /// What the weights of a network are: counts; real (numbers on edges, and whether there is an edge);
    /// real-all (numbers on all pairs, 0 without an edge); category (kinds of edges); ignore (compared with
    /// --threshold). With --relation one for each file, with commas [default: ignore]
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = parse_weights, help_heading = "Data")]
    pub weights: Vec<Weights>,

    /// The network has two sides, links are between them only, and no block has vertices of both. Of a table,
    /// rows and columns are the sides
    #[arg(long, help_heading = "Data")]
    pub bipartite: bool,

    /// A list of pairs of vertices that were not observed (in matrices, empty cells, NaN and ? are such pairs)
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub mask: Option<PathBuf>,

    /// A further relation among the same vertices, in a file of its own; can be given several times
    #[arg(long = "relation", value_name = "FILE", help_heading = "Data")]
    pub relations: Vec<PathBuf>,

    /// Columns of a table to cluster by, by name or number [default: all but names and labels]
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Data")]
    pub columns: Option<Vec<String>>,

    /// The column of a table that names its rows
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub id_column: Option<String>,

    /// The column of a table with known groups, which is left out
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub label_column: Option<String>,

    /// What columns are, if not what they seem: NAME=TYPE with commas between; a type is binary, categorical,
    /// count or real
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_type, help_heading = "Data")]
    pub types: Vec<(String, Kind)>,

    /// Hide this fraction of pairs or cells, and tell how well they are predicted
    #[arg(long, value_name = "F", allow_negative_numbers = true, help_heading = "Data")]
    pub hold_out: Option<f64>,

    /// Which entries are hidden by --hold-out
    #[arg(long, default_value_t = 1, value_name = "SEED", help_heading = "Data")]
    pub hold_out_seed: u64,
}

/// The priors over partitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PriorName {
    /// The Chinese restaurant process: about α ln n blocks
    Crp,
    /// The Pitman-Yor process: block sizes follow a power law
    PitmanYor,
    /// A mixture of finite mixtures: a finite number of components, whatever n
    Mfm,
}

impl DataArgs {
    fn prior(&self) -> PriorChoice {
        match self.prior {
            PriorName::Crp => PriorChoice::Crp,
            PriorName::PitmanYor => {
                PriorChoice::PitmanYor { discount: self.discount.unwrap_or(0.25) }
            }
            PriorName::Mfm => PriorChoice::Mfm {
                gamma: self.gamma.unwrap_or(1.0),
                components: self.components.unwrap_or_default(),
            },
        }
    }

    /// Refuses options that the prior does not have.
    fn check(&self) -> Result<()> {
        let of = |option: &str, prior: &str| {
            Err(Error::new(format!(
                "{option} belongs to --prior {prior}: add that, or leave it out"
            )))
        };
        match self.prior {
            PriorName::Crp | PriorName::Mfm if self.discount.is_some() => {
                of("--discount", "pitman-yor")
            }
            PriorName::Mfm if self.alpha != 1.0 => of("--alpha", "crp or pitman-yor"),
            PriorName::Crp | PriorName::PitmanYor if self.gamma.is_some() => of("--gamma", "mfm"),
            PriorName::Crp | PriorName::PitmanYor if self.components.is_some() => {
                of("--components", "mfm")
            }
            _ => Ok(()),
        }
    }

    /// Loads data, and looks whether all items are there that something is known about.
    pub(crate) fn load(&self, name: &str) -> Result<Dataset> {
        let dataset = problem::load(name, &self.choice()?)?;
        // Of a part of the data some are not.
        if self.downsample.is_none() && !self.largest_component {
            lines_of(&self.known, |text| io::check_known(text, &dataset.names))?;
            lines_of(&self.together, |text| io::check_together(text, &dataset.names))?;
        }
        Ok(dataset)
    }

    /// What is chosen, as the library has it.
    pub(crate) fn choice(&self) -> Result<Choice> {
        self.check()?;
        let args = self.clone();
        Ok(Choice {
            beforehand: Beforehand {
                known: lines_of(&args.known, io::parse_known)?,
                together: lines_of(&args.together, io::parse_together)?,
                max_blocks: args.max_blocks,
            },
            model: args.model,
            prior: self.prior(),
            alpha: args.alpha,
            beta: args.beta,
            hypers: args.hypers,
            data_seed: args.data_seed,
            threshold: args.threshold,
            downsample: args.downsample,
            largest_component: args.largest_component,
            columns: args.columns,
            id_column: args.id_column,
            label_column: args.label_column,
            types: args.types,
            directed: args.directed,
            self_loops: args.self_loops,
            weights: args.weights,
            bipartite: args.bipartite,
            mask: args.mask.map(absolute),
            relations: args.relations.into_iter().map(absolute).collect(),
            degrees_of_freedom: args.degrees_of_freedom,
            menu: args.menu,
            hold_out: args.hold_out,
            hold_out_seed: args.hold_out_seed,
        })
    }
}

/// What a file says, if there is one.
fn lines_of<T: Default>(
    file: &Option<PathBuf>,
    parse: impl FnOnce(&str) -> Result<T>,
) -> Result<T> {
    let Some(path) = file else { return Ok(T::default()) };
    let text = std::fs::read_to_string(path)
        .map_err(|e| Error::new(format!("cannot be read: {e}")).in_file(path))?;
    parse(&text).map_err(|e| e.in_file(path))
}

fn parse_beta(text: &str) -> std::result::Result<(f64, f64), String> {
    let numbers = text
        .split_once(',')
        .and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)));
    numbers.ok_or_else(|| "write two numbers with a comma between them, for example 1,1".into())
}

/// A run remembers where its files are, wherever it is resumed.
fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}

fn parse_weights(text: &str) -> std::result::Result<Weights, String> {
    text.trim().parse().map_err(|error: Error| error.to_string())
}

fn parse_hyper(text: &str) -> std::result::Result<(String, f64), String> {
    let hyper = text.split_once('=').and_then(|(name, value)| {
        let value: f64 = value.trim().parse().ok()?;
        Some((name.trim().to_string(), value)).filter(|_| value.is_finite())
    });
    hyper.ok_or_else(|| "write a name and a number, for example kappa=0.5".into())
}

fn parse_type(text: &str) -> std::result::Result<(String, Kind), String> {
    let (name, kind) = text.rsplit_once('=').ok_or(
        "write a column's name or number and its type, for example age=real,legs=categorical",
    )?;
    let kind = kind.trim().parse().map_err(|error: Error| error.to_string())?;
    Ok((name.trim().to_string(), kind))
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
            GML, GraphML, .smat, MATLAB .mat (FILE.mat:VARIABLE), .npy, .npz, graph-tool .gt,
            .json (what armix convert writes of networks of every kind)
  tables    CSV, TSV, .npy; columns of zeros and ones, words, counts or numbers, cells may be missing
  packed    any of them as .gz or in a .zip (FILE.zip:MEMBER)
";

/// One line about the data.
pub(crate) fn describe(name: &str, dataset: &Dataset) -> String {
    match &dataset.data {
        Data::Network(graph) => {
            format!("{name}: a network of {} vertices and {} edges", graph.n(), graph.edges())
        }
        Data::Table(table) => {
            format!("{name}: a table of {} rows and {} columns", table.n(), table.d())
        }
        Data::Relations(relations) => {
            let edges: Vec<String> = (relations.list().iter())
                .map(|relation| {
                    let name = match relations.list().len() {
                        1 => String::new(),
                        _ => format!("{}: ", relation.shape.name),
                    };
                    format!("{name}{} {}", relation.listed(), relation.shape.describe())
                })
                .collect();
            let sides = relations.sides().map_or("", |_| "bipartite ");
            format!("{name}: a {sides}network of {} vertices; {}", relations.n(), edges.join("; "))
        }
        Data::Columns(table) => {
            let count = |kind: Kind| table.columns().iter().filter(|c| c.kind() == kind).count();
            let kinds = Kind::ALL.into_iter().filter(|&kind| count(kind) > 0);
            let kinds: Vec<String> = kinds.map(|kind| format!("{} {kind}", count(kind))).collect();
            format!("{name}: a table of {} rows and {} columns", table.n(), kinds.join(" and "))
        }
    }
}
