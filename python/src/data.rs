//! Data of any origin, prepared as on the command line, with the options that choose a model for them.

use crate::errors::{json, value_error, wrong};
use armix::any_target::AnyTarget;
use armix::data::{BinaryTable, Column, Dataset, Graph, Kind};
use armix::error::{Error, Result};
use armix::io::raw::{Raw, RawColumn, RawNetwork, RawTable};
use armix::problem::{self, Choice};
use armix::store::{DataInfo, Folder, ModelInfo};
use armix::{io, newcomers};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use std::path::{Path, PathBuf};

/// Data with model options.
#[pyclass(frozen, module = "armix._armix")]
pub(crate) struct Data {
    pub(crate) choice: Choice,
    pub(crate) dataset: Dataset,
    /// Data that are in no file, before entries were held out: they are saved with the run.
    whole: Option<Dataset>,
    /// The words and numbers that a table in memory was coded from.
    raw: Option<RawTable>,
    source: String,
}

/// The options from Python, as JSON.
fn choice(options: &str) -> PyResult<Choice> {
    serde_json::from_str(options).map_err(|e| wrong(format!("the options of the data: {e}")))
}

impl Data {
    /// Data in memory; `dataset` is prepared but whole.
    fn in_memory(dataset: Dataset, source: String, choice: &Choice) -> Result<Data> {
        let hidden = problem::hide(dataset.clone(), choice)?;
        // What was done to the data is not done again when they are read back.
        let named = !dataset.names.iter().enumerate().all(|(at, name)| *name == at.to_string());
        let (columns, id_column) = match &dataset.data {
            armix::data::Data::Network(_) => (None, None),
            armix::data::Data::Relations(_) => (None, None),
            armix::data::Data::Table(table) => {
                (Some(headings(&dataset.columns, table.d())), named.then(|| "item".to_string()))
            }
            armix::data::Data::Columns(table) => {
                (Some(headings(&dataset.columns, table.d())), named.then(|| "item".to_string()))
            }
        };
        // Columns stay what they are when they are read back.
        let types = match &dataset.data {
            armix::data::Data::Columns(table) => {
                let kinds = table.columns().iter().map(Column::kind);
                columns.iter().flatten().cloned().zip(kinds).collect()
            }
            _ => Vec::new(),
        };
        let choice = Choice {
            model: Some(problem::model_info(choice, &dataset).name),
            threshold: 0.0,
            downsample: None,
            largest_component: false,
            columns,
            id_column,
            label_column: None,
            types,
            ..choice.clone()
        };
        let data = Data { choice, dataset: hidden, whole: Some(dataset), raw: None, source };
        data.target()?;
        Ok(data)
    }

    pub(crate) fn target(&self) -> Result<Box<dyn AnyTarget>> {
        problem::target(&self.dataset, &self.choice)
    }

    /// What a run in this folder remembers; data that are in no file are written beside it.
    pub(crate) fn info(&self, folder: &Path) -> Result<(DataInfo, ModelInfo)> {
        let mut info = problem::info(&self.source, &self.choice, &self.dataset)?;
        if let Some(whole) = &self.whole {
            let file = folder.join(match &whole.data {
                armix::data::Data::Network(graph) if graph.has_hidden() => KEPT[2],
                armix::data::Data::Network(_) => KEPT[0],
                armix::data::Data::Table(_) => KEPT[1],
                armix::data::Data::Columns(_) => KEPT[1],
                armix::data::Data::Relations(_) => KEPT[2],
            });
            std::fs::create_dir_all(folder)
                .map_err(|e| Error::new(format!("cannot be made: {e}")).in_file(folder))?;
            let columns = self.choice.columns.clone().unwrap_or_default();
            if !whole.columns.is_empty() && columns != whole.columns {
                let path = folder.join(COLUMNS);
                std::fs::write(&path, json(&whole.columns)?)
                    .map_err(|e| Error::new(format!("cannot be written: {e}")).in_file(&path))?;
            }
            io::write(&Dataset { columns, ..whole.clone() }, &file)?;
            info.path = Some(std::path::absolute(&file).unwrap_or(file));
        }
        Ok((info, problem::model_info(&self.choice, &self.dataset)))
    }

    /// The options with which new rows are coded: columns are called as the user calls them.
    pub(crate) fn choice_for_new(&self) -> Choice {
        let own = self.whole.as_ref().filter(|whole| !whole.columns.is_empty());
        let columns = own.map(|whole| whole.columns.clone());
        Choice { columns: columns.or(self.choice.columns.clone()), ..self.choice.clone() }
    }

    /// The rows of a table as they were read, to code new rows alike.
    pub(crate) fn raw_rows(&self) -> Result<RawTable> {
        if let armix::data::Data::Network(_) = &self.dataset.data {
            return Err(Error::new("these data are no table"));
        }
        if let Some(raw) = &self.raw {
            return Ok(raw.clone());
        }
        let path = Path::new(&self.source);
        if self.whole.is_none() && armix::builtin::load(&self.source, 1).is_none() {
            return match io::read_raw(path, Some(io::Wanted::Table))?.1 {
                Raw::Table(table) => Ok(table),
                Raw::Network(_) => Err(Error::new("this is not a table").in_file(path)),
            };
        }
        let whole = self.whole.as_ref().unwrap_or(&self.dataset);
        match &whole.data {
            armix::data::Data::Table(table) => Ok(io::raw_table(whole, table)),
            armix::data::Data::Columns(table) => Ok(io::raw_table_of(whole, table)),
            armix::data::Data::Network(_) | armix::data::Data::Relations(_) => {
                Err(Error::new("these data are no table"))
            }
        }
    }
}

/// Names of columns as a file can have them: their own, or x1, x2, … if a reader would take them for something
/// else.
fn headings(columns: &[String], width: usize) -> Vec<String> {
    let mut different = columns.to_vec();
    different.sort_unstable();
    different.dedup();
    let plain = |name: &String| {
        !name.is_empty() && name.trim() == name && name != "item" && name.parse::<f64>().is_err()
    };
    match different.len() == width && columns.iter().all(plain) {
        true => columns.to_vec(),
        false => (1..=width).map(|c| format!("x{c}")).collect(),
    }
}

/// Names of columns that a table in the folder of a run could not have.
const COLUMNS: &str = "columns.json";

/// Data that are kept in the folder of a run: a simple network, a table, or a network of any kind.
const KEPT: [&str; 3] = ["data.graphml", "data.csv", "data.json"];

#[pymethods]
impl Data {
    /// "network" or "table".
    #[getter]
    fn kind(&self) -> &'static str {
        match self.dataset.data {
            armix::data::Data::Network(_) => "network",
            armix::data::Data::Table(_) => "table",
            armix::data::Data::Columns(_) => "table",
            armix::data::Data::Relations(_) => "network",
        }
    }

    #[getter]
    fn model(&self) -> String {
        problem::model_info(&self.choice, &self.dataset).name
    }

    #[getter]
    fn source(&self) -> &str {
        &self.source
    }

    #[getter]
    fn names(&self) -> Vec<String> {
        self.dataset.names.clone()
    }

    #[getter]
    fn columns(&self) -> Vec<String> {
        self.dataset.columns.clone()
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        self.dataset.notes.clone()
    }

    fn __len__(&self) -> usize {
        self.dataset.data.n()
    }

    /// The links of a network, one in each row.
    fn edges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u32>>> {
        match &self.dataset.data {
            armix::data::Data::Network(graph) => pairs(py, graph.links().collect()),
            armix::data::Data::Relations(relations) => {
                pairs(py, relations.list()[0].entries().map(|(u, v, _)| (u, v)).collect())
            }
            _ => Err(wrong("these data are a table: it has no edges")),
        }
    }

    /// The entries that were not observed: pairs of vertices, or row and column.
    fn hidden<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u32>>> {
        pairs(py, self.dataset.data.hidden())
    }

    /// The entries that were held out, and what was there: whether a link or a one, or for columns of any types
    /// a number.
    #[allow(clippy::type_complexity)]
    fn held_out<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyArray2<u32>>, Bound<'py, PyAny>)> {
        let held_out = &self.dataset.held_out;
        let entries = held_out.iter().map(|h| h.entry).collect();
        let values = match self.dataset.data {
            armix::data::Data::Columns(_) => {
                PyArray1::from_vec(py, held_out.iter().map(|h| h.value).collect::<Vec<f64>>())
                    .into_any()
            }
            _ => PyArray1::from_vec(
                py,
                held_out.iter().map(|h| h.value == 1.0).collect::<Vec<bool>>(),
            )
            .into_any(),
        };
        Ok((pairs(py, entries)?, values))
    }

    /// The cells of a table: 0, 1, or 2 where one is missing; of columns of any types the numbers, NaN where one is
    /// missing.
    fn cells<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.dataset.data {
            armix::data::Data::Network(_) | armix::data::Data::Relations(_) => {
                Err(wrong("these data are a network: it has no cells"))
            }
            armix::data::Data::Table(table) => {
                let cells: Vec<u8> =
                    (0..table.n()).flat_map(|row| table.row(row).iter().copied()).collect();
                Ok(PyArray1::from_vec(py, cells).reshape([table.n(), table.d()])?.into_any())
            }
            armix::data::Data::Columns(table) => {
                let row = |row: usize| table.columns().iter().map(move |c| c.cells()[row]);
                let cells: Vec<f64> = (0..table.n()).flat_map(row).collect();
                Ok(PyArray1::from_vec(py, cells).reshape([table.n(), table.d()])?.into_any())
            }
        }
    }

    /// The type of each column of a table.
    #[getter]
    fn types(&self) -> Vec<&'static str> {
        match &self.dataset.data {
            armix::data::Data::Network(_) | armix::data::Data::Relations(_) => Vec::new(),
            armix::data::Data::Table(table) => vec![Kind::Binary.name(); table.d()],
            armix::data::Data::Columns(table) => {
                table.columns().iter().map(|c| c.kind().name()).collect()
            }
        }
    }

    /// The names of the levels of each column, none where it has no levels.
    #[getter]
    fn levels(&self) -> Vec<Vec<String>> {
        match &self.dataset.data {
            armix::data::Data::Columns(table) => {
                table.columns().iter().map(|c| c.names().to_vec()).collect()
            }
            _ => Vec::new(),
        }
    }
}

fn pairs(py: Python<'_>, pairs: Vec<(u32, u32)>) -> PyResult<Bound<'_, PyArray2<u32>>> {
    let count = pairs.len();
    let flat = pairs.into_iter().flat_map(|(u, v)| [u, v]).collect();
    PyArray1::from_vec(py, flat).reshape([count, 2])
}

/// Reads built-in data or a file.
#[pyfunction]
pub(crate) fn read(py: Python<'_>, name: String, options: &str) -> PyResult<Data> {
    let choice = choice(options)?;
    py.detach(|| {
        let dataset = problem::load(&name, &choice)?;
        let data = Data { choice, dataset, whole: None, raw: None, source: name };
        data.target()?;
        Ok(data)
    })
    .map_err(value_error)
}

/// The data of a saved run, from its folder or from where they were.
#[pyfunction]
#[pyo3(signature = (folder, elsewhere=None))]
pub(crate) fn reload(py: Python<'_>, folder: PathBuf, elsewhere: Option<String>) -> PyResult<Data> {
    py.detach(|| {
        let info = Folder::new(&folder).manifest()?.data;
        let kept = KEPT.iter().map(|name| folder.join(name)).find(|file| file.exists());
        if let (Some(file), None) = (kept, &elsewhere) {
            return kept_data(&folder, &file, info);
        }
        let (choice, dataset) = problem::reload(&info, elsewhere.as_deref())?;
        let path = info.path.map(|path| path.to_string_lossy().into_owned());
        let source = elsewhere.or(path).unwrap_or(info.source);
        Ok(Data { choice, dataset, whole: None, raw: None, source })
    })
    .map_err(value_error)
}

/// Data that were in no file. The run knows their names better than a table does.
fn kept_data(folder: &Path, file: &Path, info: DataInfo) -> Result<Data> {
    let damaged = |what: String| Error::new(format!("this is damaged: {what}")).in_file(file);
    let choice: Choice =
        serde_json::from_value(info.options).map_err(|error| damaged(error.to_string()))?;
    let whole = Choice { hold_out: None, ..choice.clone() };
    let mut whole = problem::load_again(&file.to_string_lossy(), &whole)?;
    if let Ok(text) = std::fs::read_to_string(folder.join(COLUMNS)) {
        whole.columns = serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
    }
    if whole.names.len() == info.names.len() {
        whole.names = info.names;
    }
    let dataset = problem::hide(whole.clone(), &choice)?;
    if problem::fingerprint(&dataset) != info.fingerprint {
        return Err(damaged("these are not the data of the run".into()));
    }
    Ok(Data { choice, dataset, whole: Some(whole), raw: None, source: info.source })
}

/// A network in memory.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn network(
    py: Python<'_>,
    names: Vec<String>,
    edges: PyReadonlyArray2<'_, u32>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    directed: bool,
    both_ways: bool,
    hidden: PyReadonlyArray2<'_, u32>,
    sides: Option<Vec<bool>>,
    source: String,
    options: &str,
) -> PyResult<Data> {
    let choice = choice(options)?;
    let edges = edges.as_array().rows().into_iter().map(|row| (row[0], row[1])).collect();
    let weights = weights.map(|w| w.as_array().to_vec());
    let hidden = hidden.as_array().rows().into_iter().map(|row| (row[0], row[1])).collect();
    let raw = RawNetwork {
        names,
        edges,
        weights,
        directed,
        both_ways,
        hidden,
        sides,
        ..RawNetwork::default()
    };
    py.detach(|| {
        let dataset = io::prepare(Raw::Network(raw), &choice.options()?)?;
        Data::in_memory(dataset, source, &choice)
    })
    .map_err(value_error)
}

/// A table of zeros, ones and missing cells (2) in memory.
#[pyfunction]
pub(crate) fn cells(
    py: Python<'_>,
    names: Vec<String>,
    columns: Vec<String>,
    cells: PyReadonlyArray2<'_, u8>,
    source: String,
    options: &str,
) -> PyResult<Data> {
    let choice = choice(options)?;
    let cells = cells.as_array();
    let (n, d) = cells.dim();
    let cells: Vec<u8> = cells.iter().copied().collect();
    py.detach(|| {
        let table = BinaryTable::new(n, d, cells)?;
        let missing = table.missing().count();
        let dataset = Dataset::new(armix::data::Data::Table(table));
        let notes = match missing {
            0 => Vec::new(),
            1 => vec!["1 cell is missing".to_string()],
            _ => vec![format!("{missing} cells are missing")],
        };
        Data::in_memory(Dataset { names, columns, notes, ..dataset }, source, &choice)
    })
    .map_err(value_error)
}

/// A table of words and numbers in memory, coded as those in files are.
#[pyfunction]
pub(crate) fn columns(
    py: Python<'_>,
    columns: Vec<(String, Vec<Option<String>>)>,
    source: String,
    options: &str,
) -> PyResult<Data> {
    let choice = choice(options)?;
    py.detach(|| {
        let raw = raw_table(columns);
        let dataset = io::prepare(Raw::Table(raw.clone()), &choice.options()?)?;
        Ok(Data { raw: Some(raw), ..Data::in_memory(dataset, source, &choice)? })
    })
    .map_err(value_error)
}

pub(crate) fn raw_table(columns: Vec<(String, Vec<Option<String>>)>) -> RawTable {
    let columns = columns.into_iter().map(|(name, cells)| RawColumn { name, cells }).collect();
    RawTable { columns, lines: Vec::new() }
}

/// ln p(data, partition).
#[pyfunction]
pub(crate) fn log_joint(
    py: Python<'_>,
    data: &Data,
    labels: PyReadonlyArray1<'_, u32>,
) -> PyResult<f64> {
    let labels = armix::partition::canonical(&labels.as_array().to_vec());
    py.detach(|| {
        let target = data.target()?;
        let (n, given) = (target.n(), labels.len());
        if given != n {
            return Err(Error::new(format!(
                "{given} labels do not fit {n} items: give one for each"
            )));
        }
        Ok(target.ln_q(&labels))
    })
    .map_err(value_error)
}

/// Every partition with its posterior probability, as JSON.
#[pyfunction]
pub(crate) fn exact(py: Python<'_>, data: &Data) -> PyResult<String> {
    py.detach(|| json(&data.target()?.posterior()?)).map_err(value_error)
}

/// New vertices, linked to known ones.
pub(crate) fn extended(data: &Data, names: Vec<String>, edges: Vec<(u32, u32)>) -> Result<Dataset> {
    let graph = match &data.dataset.data {
        armix::data::Data::Network(graph) => graph,
        armix::data::Data::Relations(_) => {
            let known = |v: u32| data.dataset.names[v as usize].clone();
            let mut raw = RawNetwork { names, ..RawNetwork::default() };
            for (new, old) in edges {
                raw.names.push(known(old));
                raw.edges.push((new, raw.names.len() as u32 - 1));
            }
            let found = newcomers::with_new_vertices(&data.dataset, &raw, &data.choice)?;
            return Ok(found.0);
        }
        _ => return Err(Error::new("the data of this run are no network")),
    };
    let hidden: Vec<(u32, u32)> = graph.hidden_pairs().collect();
    let old = graph.n() as u32;
    let links = edges.into_iter().map(|(new, known)| (old + new, known));
    let all = data.dataset.names.iter().cloned().chain(names).collect::<Vec<String>>();
    let graph = Graph::from_edges(all.len(), graph.links().chain(links).collect())?.hiding(&hidden);
    Ok(Dataset { names: all, ..Dataset::new(armix::data::Data::Network(graph)) })
}
