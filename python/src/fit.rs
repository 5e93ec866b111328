//! Sampling from Python: the GIL is free meanwhile, and is taken ten times a second to listen for Ctrl-C and to
//! tell how far the run is.

use crate::data::Data;
use crate::errors::value_error;
use armix::ensemble::{Local, Observer, View};
use armix::error::{Error, Result};
use armix::moves::Options;
use armix::problem;
use armix::run::{Settings, Start, Wishes};
use armix::store::{Folder, Manifest, Recorder, Saved, Saving};
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How often Python is asked.
const LISTEN: Duration = Duration::from_millis(100);

/// How often a run is saved.
const CHECKPOINT: Duration = Duration::from_secs(10);

/// Watches a run on behalf of Python.
struct Watch<'a> {
    recorder: Recorder,
    callback: Option<&'a Py<PyAny>>,
    max_time: Option<Duration>,
    warmup: usize,
    iterations: usize,
    ensembles: usize,
    began: Instant,
    heard: Instant,
    saved: Instant,
    /// Why the run was stopped, if Python stopped it.
    stopped: Option<PyErr>,
}

impl<'a> Watch<'a> {
    fn new(recorder: Recorder, callback: Option<&'a Py<PyAny>>, max_time: Option<f64>) -> Self {
        let settings = &recorder.manifest().settings;
        let now = Instant::now();
        Watch {
            callback,
            max_time: max_time.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            warmup: settings.warmup,
            iterations: settings.iterations,
            ensembles: settings.ensembles,
            began: now,
            heard: now,
            saved: now,
            stopped: None,
            recorder,
        }
    }

    /// Asks Python whether to go on.
    fn listen(&mut self, view: &dyn View) -> PyResult<()> {
        Python::attach(|py| {
            py.check_signals()?;
            let Some(callback) = self.callback else {
                return Ok(());
            };
            let status: Vec<(f64, f64, Option<f64>)> = (0..self.ensembles)
                .map(|ensemble| view.status(ensemble))
                .map(|status| (status.log_joint, status.blocks, status.accept_rate))
                .collect();
            let done = view.t() as i64 - self.warmup as i64;
            callback.call1(py, (done, self.iterations, status)).map(|_| ())
        })
    }
}

impl Observer for Watch<'_> {
    fn begin(&mut self, view: &dyn View) -> Result<()> {
        self.recorder.begin(view)
    }

    fn after_round(&mut self, view: &dyn View) -> Result<ControlFlow<()>> {
        let _ = self.recorder.after_round(view)?;
        let last = view.t() == self.warmup + self.iterations;
        if last || self.heard.elapsed() >= LISTEN {
            self.heard = Instant::now();
            self.stopped = self.listen(view).err();
        }
        let late = self.max_time.is_some_and(|time| self.began.elapsed() >= time);
        if last || late || self.stopped.is_some() {
            self.recorder.finish(view)?;
            return Ok(ControlFlow::Break(()));
        }
        if self.saved.elapsed() >= CHECKPOINT {
            self.recorder.checkpoint(view)?;
            self.saved = Instant::now();
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Runs to the end or until it is stopped; gives why it was stopped.
fn carry_out(
    data: &Data,
    recorder: Recorder,
    from: Option<Saved>,
    threads: usize,
    max_time: Option<f64>,
    callback: Option<&Py<PyAny>>,
) -> Result<Option<PyErr>> {
    let settings = Settings { threads, ..recorder.manifest().settings.clone() };
    let mut watch = Watch::new(recorder, callback, max_time);
    let target = data.target()?;
    match from {
        None => target.sample(&settings, &mut watch),
        Some(saved) => saved.with(|from| target.run(&settings, Some(from), &mut watch, &mut Local)),
    }?;
    Ok(watch.stopped)
}

/// The moves that there are, with a word about each.
#[pyfunction]
pub(crate) fn moves() -> Vec<(&'static str, &'static str)> {
    problem::moves()
}

/// How the moves that use the past choose what to part or join, with a word about each.
#[pyfunction]
pub(crate) fn strategies() -> Vec<(&'static str, &'static str)> {
    armix::moves::strategies::registry().iter().map(|entry| (entry.name, entry.about)).collect()
}

/// Samples into a folder. Gives the exception that stopped the run, if one did.
#[pyfunction]
#[pyo3(signature = (data, folder, *, moves, ensembles, chains, ladder, iterations, warmup, seed, start, sample_hyper, launch_scans, freeze_after, history_memory, thin, save_partitions, threads, max_time, callback))]
pub(crate) fn fit(
    py: Python<'_>,
    data: &Data,
    folder: PathBuf,
    moves: Option<&str>,
    ensembles: usize,
    chains: Option<usize>,
    ladder: Option<&str>,
    iterations: usize,
    warmup: usize,
    seed: u64,
    start: StartFrom,
    sample_hyper: bool,
    launch_scans: usize,
    freeze_after: Option<usize>,
    history_memory: u64,
    thin: usize,
    save_partitions: bool,
    threads: usize,
    max_time: Option<f64>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Option<PyErr>> {
    let mut listen = Listen { heard: Instant::now(), stopped: None };
    let settled = py.detach(|| {
        if thin == 0 {
            return Err(Error::new("thin=0: every how-many-th iteration is saved? Use 1 or more"));
        }
        if folder.join("run.json").exists() {
            let message = "this folder holds a run already: continue it with armix.load(folder).resume(), or choose another with out=";
            return Err(Error::new(message).in_file(&folder));
        }
        let wishes = Wishes {
            chains,
            ladder: ladder.map(str::parse).transpose()?,
            schedule: moves.map(str::parse).transpose()?,
        };
        let rest = Settings {
            ensembles,
            iterations,
            warmup,
            moves: Options { launch_scans },
            start: match start {
                StartFrom::Named(name) => name.parse()?,
                StartFrom::Labels(labels) => Start::Labels(labels),
            },
            seed,
            sample_hyper,
            freeze_after,
            history_bytes: history_memory,
            threads,
            ..Settings::default()
        };
        data.target()?.settle(wishes, rest, &mut listen)
    });
    let settings = settled.map_err(value_error)?;
    if let Some(stopped) = listen.stopped {
        return Err(stopped);
    }
    py.detach(|| {
        let (info, model) = data.info(&folder)?;
        let saving = Saving { partitions: save_partitions, thin };
        let settings = Settings { threads: 0, ..settings };
        let manifest = Manifest::new(info, model, settings, saving);
        let recorder = Recorder::create(Folder::new(folder), manifest)?;
        carry_out(data, recorder, None, threads, max_time, callback.as_ref())
    })
    .map_err(value_error)
}

/// Listens for Ctrl-C before the run begins.
struct Listen {
    heard: Instant,
    stopped: Option<PyErr>,
}

impl Observer for Listen {
    fn after_round(&mut self, _view: &dyn View) -> Result<ControlFlow<()>> {
        if self.heard.elapsed() >= LISTEN {
            self.heard = Instant::now();
            let heard = Python::attach(|py| -> PyResult<()> {
                py.check_signals()?;
                Ok(())
            });
            self.stopped = heard.err();
        }
        let stops = self.stopped.is_some();
        Ok(if stops { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}

/// Where chains begin.
#[derive(FromPyObject)]
pub(crate) enum StartFrom {
    /// prior, one, singletons, uniform:K.
    Named(String),
    /// A label for each item.
    Labels(Vec<u32>),
}

/// Goes on with a run, for so many iterations more than were asked for before.
#[pyfunction]
#[pyo3(signature = (data, folder, *, more, threads, max_time, callback))]
pub(crate) fn resume(
    py: Python<'_>,
    data: &Data,
    folder: PathBuf,
    more: usize,
    threads: usize,
    max_time: Option<f64>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Option<PyErr>> {
    py.detach(|| {
        let (recorder, saved) = Recorder::resume(Folder::new(folder), |manifest| {
            let iterations = manifest.settings.iterations.saturating_add(more);
            manifest.settings.iterations = iterations;
            manifest.settings.check(data.dataset.data.n())
        })?;
        carry_out(data, recorder, saved, threads, max_time, callback.as_ref())
    })
    .map_err(value_error)
}
