//! Writes a run to its folder while it goes on, and reads back what it takes to continue.

use super::draws::{self, Draw};
use super::{FileInfo, Folder, Manifest, Rows, SavedState, atomic, hash, pack, trace};
use crate::checkpoint::{Checkpoint, Resume};
use crate::ensemble::{Observer, View};
use crate::error::{Error, Result};
use crate::run::{Settings, Trace};
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::ops::ControlFlow;
use std::rc::Rc;

/// Watches a run and saves it.
pub struct Recorder {
    folder: Folder,
    manifest: Manifest,
    trace: File,
    /// Lines that are not in the file yet.
    lines: String,
    /// Rows that are in no file yet, by iteration (warm-up included).
    rows: Vec<(usize, Rc<Rows>)>,
    /// The draws of the part that is being filled.
    part: Vec<Draw>,
    trace_bytes: u64,
    pasts: Vec<FileInfo>,
    parts: Vec<FileInfo>,
    _lock: File,
}

/// What was saved, for [`crate::ensemble::resume`].
pub struct Saved {
    checkpoint: Checkpoint,
    traces: Vec<Vec<Trace>>,
    rows: HashMap<usize, Rows>,
}

impl Saved {
    /// The iterations that were recorded.
    pub fn iterations(&self, settings: &Settings) -> usize {
        self.checkpoint.t.saturating_sub(settings.warmup)
    }

    /// Calls `f` with it.
    pub fn with<T>(self, f: impl FnOnce(Resume<'_>) -> T) -> T {
        let Saved { checkpoint, traces, rows } = self;
        let rows = |ensemble: usize, iteration: usize| rows.get(&iteration)?.get(ensemble).cloned();
        f(Resume { checkpoint, traces, rows: &rows })
    }
}

impl Recorder {
    /// Begins a run in a folder that does not hold one yet.
    pub fn create(folder: Folder, manifest: Manifest) -> Result<Self> {
        folder.check_free()?;
        for inner in ["draws", "checkpoint"] {
            let path = folder.file(inner);
            fs::create_dir_all(&path).map_err(|error| atomic::cannot("make", &path, &error))?;
        }
        let lock = folder.lock()?;
        let recorder = Recorder::with(folder, manifest, lock, None)?;
        recorder.write_manifest()?; // last: from now on it is a run
        Ok(recorder)
    }

    /// Continues a run; `change` may change its settings. Returns what was saved, or `None` if the
    /// run was stopped before its first checkpoint and begins again.
    pub fn resume(
        folder: Folder,
        change: impl FnOnce(&mut Manifest) -> Result<()>,
    ) -> Result<(Self, Option<Saved>)> {
        let mut manifest = folder.manifest()?;
        let lock = folder.lock()?;
        let state = folder.state()?;
        let saved = match &state {
            None => None,
            Some(state) => Some(Saved {
                checkpoint: state.checkpoint.clone(),
                traces: folder.traces(&manifest, state.trace_bytes)?.0,
                rows: folder.pasts(state)?,
            }),
        };
        let before = manifest.clone();
        change(&mut manifest)?;
        let mut recorder = Recorder::with(folder, manifest, lock, state.as_ref())?;
        if let Some(saved) = &saved {
            recorder.refill_part(saved)?;
        }
        if recorder.manifest != before {
            recorder.write_manifest()?;
        }
        Ok((recorder, saved))
    }

    fn with(
        folder: Folder,
        manifest: Manifest,
        lock: File,
        state: Option<&SavedState>,
    ) -> Result<Self> {
        let path = folder.file("trace.csv");
        if state.is_none() {
            // Its first line is written when the run begins.
            atomic::write(&path, b"")?;
        }
        let trace = OpenOptions::new().append(true).open(&path);
        let trace = trace.map_err(|error| atomic::cannot("write", &path, &error))?;
        let trace_bytes = state.map_or(0, |s| s.trace_bytes);
        // What was written after the checkpoint is written again.
        trace.set_len(trace_bytes).map_err(|error| atomic::cannot("cut", &path, &error))?;
        Ok(Recorder {
            folder,
            manifest,
            trace,
            lines: String::new(),
            rows: Vec::new(),
            part: Vec::new(),
            trace_bytes,
            pasts: state.map_or(Vec::new(), |s| s.pasts.clone()),
            parts: state.map_or(Vec::new(), |s| s.parts.clone()),
            _lock: lock,
        })
    }

    /// The manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The folder.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Notes that the run is to have so many iterations.
    pub fn set_iterations(&mut self, iterations: usize) -> Result<()> {
        self.manifest.settings.iterations = iterations;
        self.write_manifest()
    }

    fn write_manifest(&self) -> Result<()> {
        let json = serde_json::to_string_pretty(&self.manifest);
        let json = json.map_err(|e| Error::new(format!("cannot write run.json: {e}")))?;
        atomic::write(&self.folder.file("run.json"), (json + "\n").as_bytes())
    }

    fn part_length(&self) -> usize {
        let settings = &self.manifest.settings;
        let chains = settings.ensembles * settings.chains;
        draws::part_length(self.manifest.data.names.len(), chains, self.manifest.saving.thin)
    }

    /// The first iteration (counted from 1) of the part that an iteration belongs to.
    fn part_start(&self, iteration: usize) -> usize {
        (iteration - 1) / self.part_length() * self.part_length() + 1
    }

    /// Whether the partitions of an iteration (counted from 1) are saved.
    fn is_saved(&self, iteration: usize) -> bool {
        self.manifest.saving.partitions && (iteration - 1).is_multiple_of(self.manifest.saving.thin)
    }

    /// The part that was being filled when the run was saved; a short last part is opened again.
    fn refill_part(&mut self, saved: &Saved) -> Result<()> {
        let warmup = self.manifest.settings.warmup;
        let done = saved.checkpoint.t.saturating_sub(warmup);
        if done == 0 || done.is_multiple_of(self.part_length()) {
            return Ok(());
        }
        let start = self.part_start(done);
        self.parts.retain(|part| part.from < start);
        for iteration in start..=done {
            if !self.is_saved(iteration) {
                continue;
            }
            let rows = saved.rows.get(&(warmup + iteration)).ok_or_else(|| {
                Error::new(format!(
                    "the checkpoint is damaged: the partitions of iteration {iteration} are missing"
                ))
            })?;
            self.part.push((iteration, Rc::new(rows.clone())));
        }
        Ok(())
    }

    fn remember_rows(&mut self, view: &dyn View) -> Rc<Rows> {
        let settings = &self.manifest.settings;
        let rows: Rows = (0..settings.ensembles)
            .map(|e| (0..settings.members()).map(|c| view.record(e, c).labels.clone()).collect())
            .collect();
        let rows = Rc::new(rows);
        self.rows.push((view.t(), Rc::clone(&rows)));
        rows
    }

    fn write_part(&mut self) -> Result<()> {
        let (Some(first), Some(last)) = (self.part.first(), self.part.last()) else {
            return Ok(());
        };
        let (from, to) = (self.part_start(first.0), last.0);
        let bytes = draws::encode(
            &self.part,
            self.manifest.settings.chains,
            self.manifest.data.names.len(),
        )?;
        let info = FileInfo { name: format!("part-{from:09}.arrow"), from, to, hash: hash(&bytes) };
        atomic::write(&self.folder.file(&format!("draws/{}", info.name)), &bytes)?;
        self.parts.retain(|part| part.from != from);
        self.parts.push(info);
        Ok(())
    }

    fn write_lines(&mut self) -> Result<()> {
        let path = self.folder.file("trace.csv");
        let written =
            self.trace.write_all(self.lines.as_bytes()).and_then(|()| self.trace.sync_data());
        written.map_err(|error| atomic::cannot("write", &path, &error))?;
        self.trace_bytes += self.lines.len() as u64;
        self.lines.clear();
        Ok(())
    }

    /// Saves everything up to now.
    pub fn checkpoint(&mut self, view: &dyn View) -> Result<()> {
        self.write_lines()?;
        if let (Some(first), Some(last)) = (self.rows.first(), self.rows.last()) {
            let (from, to) = (first.0, last.0);
            let rows: Vec<(usize, &Rows)> =
                self.rows.iter().map(|(t, rows)| (*t, &**rows)).collect();
            let bytes = pack(&rows)?;
            let info = FileInfo { name: format!("past-{from:09}"), from, to, hash: hash(&bytes) };
            atomic::write(&self.folder.file(&format!("checkpoint/{}", info.name)), &bytes)?;
            self.pasts.retain(|past| past.from != from);
            self.pasts.push(info);
            self.rows.clear();
        }
        let checkpoint = view.checkpoint();
        // Past states that neither a history nor an unfinished part needs can go, but only after the
        // new state has been written.
        let kept =
            || checkpoint.ensembles.iter().flat_map(|e| [e.kept.first(), e.kept.last()]).flatten();
        let history = kept().min().copied().zip(kept().max().copied());
        let unfinished = self.part.first().map(|(i, _)| self.manifest.settings.warmup + i);
        let (pasts, old): (Vec<FileInfo>, Vec<FileInfo>) =
            std::mem::take(&mut self.pasts).into_iter().partition(|past| {
                let in_history =
                    history.is_some_and(|(from, to)| past.to >= from && past.from <= to);
                in_history || unfinished.is_some_and(|from| past.to >= from)
            });
        self.pasts = pasts;
        let state = SavedState {
            checkpoint,
            trace_bytes: self.trace_bytes,
            pasts: self.pasts.clone(),
            parts: self.parts.clone(),
        };
        atomic::write(&self.folder.file("checkpoint/state"), &state.pack()?)?;
        for past in old {
            let _ = fs::remove_file(self.folder.file(&format!("checkpoint/{}", past.name)));
        }
        Ok(())
    }

    /// Saves everything, the unfinished part included, so that the folder is complete as it is.
    pub fn finish(&mut self, view: &dyn View) -> Result<()> {
        self.write_part()?;
        self.checkpoint(view)
    }
}

impl Observer for Recorder {
    fn begin(&mut self, view: &dyn View) -> Result<()> {
        self.remember_rows(view);
        self.lines = trace::header(&self.manifest.settings, view.hypers());
        self.write_lines()
    }

    fn after_round(&mut self, view: &dyn View) -> Result<ControlFlow<()>> {
        let settings = &self.manifest.settings;
        let (warmup, n) = (settings.warmup, self.manifest.data.names.len());
        let rows = self.remember_rows(view);
        if let Some(iteration) = view.t().checked_sub(warmup).filter(|&i| i > 0) {
            trace::append(&mut self.lines, &self.manifest.settings, view, n);
            if self.is_saved(iteration) {
                self.part.push((iteration, rows));
            }
            if iteration.is_multiple_of(self.part_length()) {
                self.write_part()?;
                self.part.clear();
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}
