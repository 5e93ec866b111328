//! A run that was sampled or read back from its folder, and what can be asked of it.

use crate::data::{self, Data};
use crate::errors::{json, value_error, wrong};
use crate::labels::{square, with_threads};
use armix::account::{self, Told};
use armix::answer::{self, Answer, Criterion};
use armix::data::Dataset;
use armix::diagnose::{BurnIn, Diagnosis, Options};
use armix::error::{Error, Result};
use armix::estimate::{self, Loss, SearchOptions};
use armix::io::raw::Raw;
use armix::partition::by_size;
use armix::problem;
use armix::store::{Folder, Manifest};
use armix::summary::Summary;
use armix::{io, newcomers};
use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;
use std::path::PathBuf;

/// Draws in memory take this many bytes at most; beyond it they are thinned.
const BUDGET: u64 = 256 << 20;

/// So many draws are averaged for predictions.
const DRAWS: usize = 1000;

/// A run with its draws.
#[pyclass(frozen, module = "armix._armix")]
pub(crate) struct Run {
    manifest: Manifest,
    run: armix::run::Run,
    damaged: Vec<String>,
}

/// Parts of an answer are asked with these.
struct Asked {
    criterion: Criterion,
    burn_in: BurnIn,
}

impl Asked {
    fn new(loss: &str, burn_in: &str) -> PyResult<Self> {
        let criterion = loss.parse().map_err(value_error)?;
        Ok(Asked { criterion, burn_in: burn_in.parse().map_err(value_error)? })
    }

    fn options(&self, runs: usize, level: f64) -> answer::Options {
        answer::Options { criterion: self.criterion, burn_in: self.burn_in, runs, level }
    }
}

impl Run {
    fn need_draws(&self, burn_in: BurnIn) -> Result<usize> {
        let from = burn_in.of(self.run.iterations);
        match self.run.drawn.iter().any(|&iteration| iteration >= from) {
            true => Ok(from),
            false if self.run.drawn.is_empty() => Err(Error::new(
                "no partitions were saved in this run: fit with save_partitions=True to ask for them",
            )),
            false => Err(Error::new(
                "no saved partitions are left after burn-in: leave out less with burn_in=, or save more with thin=1",
            )),
        }
    }

    fn labels_of(&self, asked: &Asked, runs: usize) -> Result<Vec<u32>> {
        let burn_in = self.need_draws(asked.burn_in)?;
        match asked.criterion {
            Criterion::Map => Ok(self.run.best().map_or(Vec::new(), |(_, z)| by_size(z))),
            Criterion::Loss(loss) => {
                let (sample, _) = answer::sample_of(&self.run, burn_in)?;
                let options = SearchOptions { runs, ..SearchOptions::default() };
                Ok(by_size(&estimate::minimise(&sample, loss, &options).labels))
            }
        }
    }

    fn diagnosis_of(&self, burn_in: BurnIn) -> Diagnosis {
        Diagnosis::new(&self.run, &Options { burn_in })
    }
}

/// New items of a run.
#[derive(FromPyObject)]
pub(crate) enum New {
    /// Rows of words and numbers, column by column.
    Columns(Vec<(String, Vec<Option<String>>)>),
    /// Names of new vertices, and their links: new vertex and known one.
    Links(Vec<String>, Vec<(u32, u32)>),
    /// A file.
    File(PathBuf),
}

fn extended(data: &Data, new: New) -> Result<Dataset> {
    let is_network = matches!(
        data.dataset.data,
        armix::data::Data::Network(_) | armix::data::Data::Relations(_)
    );
    match new {
        New::Columns(columns) => {
            let (old, new) = (data.raw_rows()?, data::raw_table(columns));
            newcomers::with_new_rows(&data.dataset, old, new, &data.choice_for_new())
        }
        New::Links(names, links) => data::extended(data, names, links),
        New::File(file) => {
            let wanted = if is_network { io::Wanted::Network } else { io::Wanted::Table };
            let extended = match io::read_raw(&file, Some(wanted))?.1 {
                Raw::Network(raw) => {
                    newcomers::with_new_vertices(&data.dataset, &raw, &data.choice)
                        .map(|found| found.0)
                }
                Raw::Table(raw) => newcomers::with_new_rows(
                    &data.dataset,
                    data.raw_rows()?,
                    raw,
                    &data.choice_for_new(),
                ),
            };
            extended.map_err(|error| error.in_file(&file))
        }
    }
}

#[pymethods]
impl Run {
    /// Reads a run from its folder.
    #[new]
    fn new(py: Python<'_>, folder: PathBuf) -> PyResult<Self> {
        py.detach(|| {
            let (manifest, run, damaged) = Folder::new(&folder).load_with_draws(BUDGET)?;
            let damaged = damaged.iter().map(ToString::to_string).collect();
            Ok(Run { manifest, run, damaged })
        })
        .map_err(value_error)
    }

    /// Parts of the draws that could not be read.
    #[getter]
    fn damaged(&self) -> Vec<String> {
        self.damaged.clone()
    }

    #[getter]
    fn model(&self) -> &str {
        &self.run.model
    }

    #[getter]
    fn source(&self) -> &str {
        &self.manifest.data.source
    }

    #[getter]
    fn names(&self) -> Vec<String> {
        self.manifest.data.names.clone()
    }

    #[getter]
    fn iterations(&self) -> usize {
        self.run.iterations
    }

    #[getter]
    fn interrupted(&self) -> bool {
        self.run.interrupted()
    }

    #[getter]
    fn seconds(&self) -> f64 {
        self.run.seconds
    }

    /// `run.json`.
    fn manifest(&self) -> PyResult<String> {
        json(&self.manifest).map_err(value_error)
    }

    /// How many iterations are burnt in.
    fn burn_in(&self, burn_in: &str) -> PyResult<usize> {
        let burn_in: BurnIn = burn_in.parse().map_err(value_error)?;
        Ok(burn_in.of(self.run.iterations))
    }

    /// The iterations, counted from 0, that have draws.
    fn drawn<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        PyArray1::from_vec(py, self.run.drawn.iter().map(|&i| i as i64).collect())
    }

    /// All draws, (ensemble, chain, draw, item), in the smallest type that holds the labels.
    fn draws<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let run = &self.run;
        let chains = run.ensembles.first().map_or(0, Vec::len);
        let shape = [run.ensembles.len(), chains, run.drawn.len(), run.n];
        let blocks = run.traces().flat_map(|t| &t.blocks).max().copied().unwrap_or(1);
        fn flat<T: Send>(run: &armix::run::Run, label: impl Fn(u32) -> T) -> Vec<T> {
            let rows = run.traces().map(|t| t.draws.len()).sum::<usize>();
            let mut all = Vec::with_capacity(rows * run.n);
            let mut labels = Vec::new();
            for row in run.traces().flat_map(|t| &t.draws) {
                row.unpack(&mut labels);
                all.extend(labels.iter().map(|&z| label(z)));
            }
            all
        }
        if blocks <= 1 << 8 {
            let all = py.detach(|| flat(run, |z| z as u8));
            Ok(PyArray1::from_vec(py, all).reshape(shape)?.into_any())
        } else if blocks <= 1 << 16 {
            let all = py.detach(|| flat(run, |z| z as u16));
            Ok(PyArray1::from_vec(py, all).reshape(shape)?.into_any())
        } else {
            let all = py.detach(|| flat(run, |z| z));
            Ok(PyArray1::from_vec(py, all).reshape(shape)?.into_any())
        }
    }

    /// The log joint, (ensemble, chain, iteration).
    fn log_joint<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let all = self.run.traces().flat_map(|t| t.log_joint.iter().copied()).collect();
        self.of_iterations(py, all)
    }

    /// The number of blocks, (ensemble, chain, iteration).
    fn blocks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let all = self.run.traces().flat_map(|t| t.blocks.iter().copied().map(f64::from)).collect();
        self.of_iterations(py, all)
    }

    /// The names of the hyper-parameters that were sampled.
    fn hypers(&self) -> Vec<String> {
        self.run.hypers.clone()
    }

    /// The values of one of them, (ensemble, chain, iteration).
    fn hyper<'py>(&self, py: Python<'py>, at: usize) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let values = |t: &armix::run::Trace| t.hypers.get(at).cloned().unwrap_or_default();
        self.of_iterations(py, self.run.traces().flat_map(values).collect())
    }

    /// The share of items in the k largest blocks, (ensemble, chain, iteration).
    fn fraction<'py>(&self, py: Python<'py>, k: usize) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let n = self.run.n as f64;
        let share =
            |sizes: &[u32; armix::run::TOP]| f64::from(sizes.iter().take(k).sum::<u32>()) / n;
        let all = self.run.traces().flat_map(|t| t.largest.iter().map(share)).collect();
        self.of_iterations(py, all)
    }

    /// The summary, as JSON.
    fn summary(&self, py: Python<'_>, burn_in: &str) -> PyResult<String> {
        let burn_in = burn_in.parse().map_err(value_error)?;
        py.detach(|| json(&Summary::with(&self.run, &self.diagnosis_of(burn_in))))
            .map_err(value_error)
    }

    /// The diagnosis, as JSON.
    fn diagnosis(&self, py: Python<'_>, burn_in: &str) -> PyResult<String> {
        let burn_in = burn_in.parse().map_err(value_error)?;
        py.detach(|| json(&self.diagnosis_of(burn_in))).map_err(value_error)
    }

    /// The posterior of the number of blocks.
    fn k_posterior(&self, burn_in: &str) -> PyResult<Vec<(u32, f64)>> {
        Ok(self.run.blocks_posterior(self.burn_in(burn_in)?).into_iter().collect())
    }

    /// The estimate: 0 for the largest block.
    fn labels<'py>(
        &self,
        py: Python<'py>,
        loss: &str,
        burn_in: &str,
        runs: usize,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let asked = Asked::new(loss, burn_in)?;
        let labels = py.detach(|| with_threads(threads, || self.labels_of(&asked, runs)))?;
        Ok(PyArray1::from_vec(py, labels.map_err(value_error)?))
    }

    /// The estimate with all that is said about it, as JSON.
    fn answer(
        &self,
        py: Python<'_>,
        loss: &str,
        burn_in: &str,
        runs: usize,
        level: f64,
        threads: usize,
    ) -> PyResult<String> {
        if !(0.5..1.0).contains(&level) {
            return Err(wrong(format!("level={level}: give a probability from 0.5 to below 1")));
        }
        let asked = Asked::new(loss, burn_in)?;
        let answered = py.detach(|| {
            with_threads(threads, || {
                self.need_draws(asked.burn_in)?;
                json(&Answer::new(&self.run, &asked.options(runs, level))?)
            })
        })?;
        answered.map_err(value_error)
    }

    /// How often items share a block.
    fn similarity<'py>(
        &self,
        py: Python<'py>,
        burn_in: &str,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let burn_in = burn_in.parse().map_err(value_error)?;
        let all = py.detach(|| {
            with_threads(threads, || {
                let (sample, _) = answer::sample_of(&self.run, self.need_draws(burn_in)?)?;
                square(&sample)
            })
        })?;
        PyArray1::from_vec(py, all.map_err(value_error)?).reshape([self.run.n, self.run.n])
    }

    /// The probabilities of links or ones, means, or the numbers of the most probable levels.
    fn predict_entries<'py>(
        &self,
        py: Python<'py>,
        data: &Data,
        entries: PyReadonlyArray2<'py, u32>,
        burn_in: &str,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let burn_in = burn_in.parse().map_err(value_error)?;
        let entries: Vec<(u32, u32)> =
            entries.as_array().rows().into_iter().map(|row| (row[0], row[1])).collect();
        let found = py.detach(|| {
            let draws = self.run.some_draws_with_hypers(self.need_draws(burn_in)?, DRAWS);
            let target = data.target()?;
            Ok(match &data.dataset.data {
                armix::data::Data::Columns(table) => {
                    let cells = target.cells(table, &draws, &entries);
                    cells.into_iter().map(|cell| cell.value).collect()
                }
                _ => target.entries(&draws, &entries),
            })
        });
        Ok(PyArray1::from_vec(py, found.map_err(value_error)?))
    }

    /// The probabilities of the levels in cells of columns that have some.
    fn predict_levels<'py>(
        &self,
        py: Python<'py>,
        data: &Data,
        entries: PyReadonlyArray2<'py, u32>,
        burn_in: &str,
    ) -> PyResult<Vec<Vec<f64>>> {
        let burn_in = burn_in.parse().map_err(value_error)?;
        let entries: Vec<(u32, u32)> =
            entries.as_array().rows().into_iter().map(|row| (row[0], row[1])).collect();
        py.detach(|| {
            let draws = self.run.some_draws_with_hypers(self.need_draws(burn_in)?, DRAWS);
            Ok(match &data.dataset.data {
                armix::data::Data::Columns(table) => data.target()?.levels(table, &draws, &entries),
                _ => vec![Vec::new(); entries.len()],
            })
        })
        .map_err(value_error)
    }

    /// How well held-out entries are predicted, as JSON.
    fn held_out_score(&self, py: Python<'_>, data: &Data, burn_in: &str) -> PyResult<String> {
        let burn_in = burn_in.parse().map_err(value_error)?;
        py.detach(|| {
            let draws = self.run.some_draws_with_hypers(self.need_draws(burn_in)?, DRAWS);
            if data.dataset.held_out.is_empty() {
                return Err(Error::new("nothing was held out: fit with hold_out=0.1"));
            }
            json(&data.target()?.held_out_score(&data.dataset, &draws))
        })
        .map_err(value_error)
    }

    /// Where new items belong: names, and probabilities of each block of the estimate and of a new one.
    #[allow(clippy::type_complexity)]
    fn assign<'py>(
        &self,
        py: Python<'py>,
        data: &Data,
        new: New,
        burn_in: &str,
        threads: usize,
    ) -> PyResult<(Vec<String>, Bound<'py, PyArray2<f64>>)> {
        let burn_in: BurnIn = burn_in.parse().map_err(value_error)?;
        let asked = Asked { criterion: Criterion::Loss(Loss::Vi), burn_in };
        let found = py.detach(|| {
            with_threads(threads, || {
                let draws = self.run.some_draws_with_hypers(self.need_draws(burn_in)?, DRAWS);
                let estimate = self.labels_of(&asked, SearchOptions::default().runs)?;
                let all = extended(data, new)?;
                let found = problem::target(&all, &data.choice)?.assign(&draws, &estimate);
                Ok((all.names[self.run.n..].to_vec(), found))
            })
        })?;
        let (names, found) = found.map_err(value_error)?;
        let width = found.first().map_or(1, |a| a.blocks.len() + 1);
        let rows = found.len();
        let flat = (found.into_iter()).flat_map(|a| a.blocks.into_iter().chain([a.new])).collect();
        Ok((names, PyArray1::from_vec(py, flat).reshape([rows, width])?))
    }

    /// The report as one HTML text.
    fn report(
        &self,
        py: Python<'_>,
        data: Option<&Data>,
        loss: &str,
        burn_in: &str,
        truth: Option<(String, Vec<u32>)>,
        threads: usize,
    ) -> PyResult<String> {
        let asked = Asked::new(loss, burn_in)?;
        let data = data.map(|data| (data.choice.clone(), data.dataset.clone()));
        if let Some((_, known)) = truth.as_ref().filter(|(_, known)| known.len() != self.run.n) {
            return Err(wrong(format!(
                "{} true labels do not fit {} items",
                known.len(),
                self.run.n
            )));
        }
        let html = py.detach(|| {
            with_threads(threads, || {
                let told = Told {
                    title: &self.manifest.data.source,
                    run: &self.run,
                    names: &self.manifest.data.names,
                    manifest: Some(&self.manifest),
                    data: data.as_ref(),
                    truth: truth.as_ref().map(|(name, known)| (name.as_str(), known.as_slice())),
                };
                let options = asked.options(SearchOptions::default().runs, 0.95);
                account::page(&told, &self.diagnosis_of(asked.burn_in), &options)
            })
        })?;
        html.map_err(value_error)
    }
}

impl Run {
    fn of_iterations<'py>(
        &self,
        py: Python<'py>,
        all: Vec<f64>,
    ) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let chains = self.run.ensembles.first().map_or(0, Vec::len);
        let shape = [self.run.ensembles.len(), chains, self.run.iterations];
        PyArray1::from_vec(py, all).reshape(shape)
    }
}
