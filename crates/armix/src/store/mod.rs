//! A run on disk that survives anything: what is in the folder of a run, and how it gets there.
//!
//! ```text
//! run.json            settings, version, data with their fingerprint, names
//! trace.csv           one line for each ensemble, chain and iteration
//! draws/part-N.arrow  sampled partitions from iteration N on
//! checkpoint/         what it takes to continue: state, and the past states of the chains
//! lock                held by the process that writes the run
//! ```
//!
//! Files appear by writing a temporary, syncing and renaming it. Only `trace.csv` grows in place;
//! `checkpoint/state` is written last and says how many of its bytes count, and which parts and past
//! states belong to it. So whatever moment a process is killed at, the state that is there fits the
//! files that are there, and everything after it is done again, to the same bytes.

mod atomic;
mod draws;
mod recorder;
mod trace;

pub use draws::SavedDraw;
pub use recorder::{Recorder, Saved};

use crate::checkpoint::{Beside, Checkpoint, EnsembleCheckpoint, Learnt};
use crate::error::{Error, Result};
use crate::history::Row;
use crate::ladder::Rungs;
use crate::prior::PriorChoice;
use crate::run::{Run, Settings, Trace};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// The version of this layout; another one is refused.
const FORMAT: u32 = 2;
/// The first bytes of binary files.
const MAGIC: &[u8; 8] = b"armix\0s1";

/// What `run.json` says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of the layout.
    pub format: u32,
    /// The version of armix that began the run.
    pub armix: String,
    /// Where the data came from.
    pub data: DataInfo,
    /// The model.
    pub model: ModelInfo,
    /// All that the result depends on besides.
    pub settings: Settings,
    /// What is saved.
    pub saving: Saving,
}

/// Data of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataInfo {
    /// A built-in name or a path, as it was given.
    pub source: String,
    /// The path from the root, if it is a file.
    pub path: Option<PathBuf>,
    /// The options with which the data were loaded.
    pub options: serde_json::Value,
    /// Tells whether the data are still the same.
    pub fingerprint: String,
    /// The items' names.
    pub names: Vec<String>,
}

/// Model of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// Its name.
    pub name: String,
    /// α.
    pub alpha: f64,
    /// β⁺, β⁻.
    pub beta: (f64, f64),
    /// The prior over partitions.
    #[serde(default, skip_serializing_if = "PriorChoice::is_crp")]
    pub prior: PriorChoice,
    /// Other hyper-parameters that are not as usual.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hypers: Vec<(String, f64)>,
}

/// What is saved of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saving {
    /// Whether partitions are saved.
    pub partitions: bool,
    /// Every so-manieth iteration's partitions.
    pub thin: usize,
}

impl Manifest {
    /// A manifest of this version.
    pub fn new(data: DataInfo, model: ModelInfo, settings: Settings, saving: Saving) -> Self {
        let armix = env!("CARGO_PKG_VERSION").to_string();
        Manifest { format: FORMAT, armix, data, model, settings, saving }
    }
}

/// A file that the state vouches for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct FileInfo {
    name: String,
    /// The first and the last iteration in it.
    from: usize,
    to: usize,
    hash: u64,
}

/// `checkpoint/state`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SavedState {
    checkpoint: Checkpoint,
    trace_bytes: u64,
    /// Files with the rows of all chains after each iteration, counted from the start of warm-up.
    pasts: Vec<FileInfo>,
    /// Files with draws, which are counted from 1 after warm-up.
    parts: Vec<FileInfo>,
}

impl SavedState {
    /// What is written: the state, and after it the hyper-parameters and the parameters of all chains, the
    /// ladders, and what else was learnt, if there is any.
    fn pack(&self) -> Result<Vec<u8>> {
        let mut plain = encode(self)?;
        let ensembles = &self.checkpoint.ensembles;
        let beside: Vec<Beside> = ensembles.iter().flat_map(EnsembleCheckpoint::beside).collect();
        let ladders: Vec<&Rungs> = ensembles.iter().filter_map(|e| e.rungs.as_ref()).collect();
        let any = |(hypers, parameters): &Beside| !hypers.is_empty() || !parameters.is_empty();
        let learnt: Vec<&Learnt> = ensembles.iter().map(|e| &e.learnt).collect();
        let nothing_learnt = learnt.iter().all(|l| l.is_nothing());
        let no_ladders = ladders.is_empty() && nothing_learnt;
        if beside.iter().any(any) || !no_ladders {
            plain.extend(encode(&beside)?);
        }
        if !no_ladders {
            plain.extend(encode(&ladders)?);
        }
        if !nothing_learnt {
            plain.extend(encode(&learnt)?);
        }
        seal(&plain)
    }

    fn unpack(bytes: &[u8]) -> Result<Self> {
        let plain = open(bytes)?;
        let (mut state, rest) =
            postcard::take_from_bytes::<SavedState>(&plain).map_err(|_| damaged())?;
        if !rest.is_empty() {
            let (beside, rest) =
                postcard::take_from_bytes::<Vec<Beside>>(rest).map_err(|_| damaged())?;
            let mut beside = beside.into_iter();
            state.checkpoint.ensembles.iter_mut().for_each(|e| e.put_beside(&mut beside));
            if !rest.is_empty() {
                let (ladders, rest) =
                    postcard::take_from_bytes::<Vec<Rungs>>(rest).map_err(|_| damaged())?;
                let ensembles = state.checkpoint.ensembles.iter_mut();
                ensembles.zip(ladders).for_each(|(e, rungs)| e.rungs = Some(rungs));
                if !rest.is_empty() {
                    let learnt: Vec<Learnt> = postcard::from_bytes(rest).map_err(|_| damaged())?;
                    let ensembles = state.checkpoint.ensembles.iter_mut();
                    ensembles.zip(learnt).for_each(|(e, learnt)| e.learnt = learnt);
                }
            }
        }
        Ok(state)
    }
}

/// The rows of all chains after an iteration, by ensemble and chain.
type Rows = Vec<Vec<Row>>;

/// The folder of a run.
#[derive(Debug, Clone)]
pub struct Folder(PathBuf);

impl Folder {
    /// A folder, which may or may not hold a run.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Folder(path.into())
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Refuses a folder that holds a run.
    pub fn check_free(&self) -> Result<()> {
        match self.file("run.json").exists() {
            true => Err(Error::new(
                "this folder holds a run already: continue it with armix resume, or choose another with --out",
            )
            .in_file(&self.0)),
            false => Ok(()),
        }
    }

    fn read(&self, name: &str) -> Result<Vec<u8>> {
        let path = self.file(name);
        fs::read(&path).map_err(|error| atomic::cannot("read", &path, &error))
    }

    /// Reads `run.json`.
    pub fn manifest(&self) -> Result<Manifest> {
        let path = self.file("run.json");
        if !path.exists() {
            let message = "there is no run in this folder (no run.json): name the folder that armix fit wrote";
            return Err(Error::new(message).in_file(&self.0));
        }
        let damaged = |error: serde_json::Error| {
            Error::new(format!("this is damaged: {error}")).in_file(&path)
        };
        let value: serde_json::Value =
            serde_json::from_slice(&self.read("run.json")?).map_err(damaged)?;
        let format = value.get("format").and_then(serde_json::Value::as_u64);
        if format != Some(u64::from(FORMAT)) {
            let by = value.get("armix").and_then(|v| v.as_str()).unwrap_or("unknown");
            let message = format!(
                "this run was written by armix {by} in a layout that this version cannot read; use that version"
            );
            return Err(Error::new(message).in_file(&path));
        }
        serde_json::from_value(value).map_err(damaged)
    }

    /// Takes the lock; it is given back when the file is closed, also by kill -9.
    fn lock(&self) -> Result<File> {
        let path = self.file("lock");
        let file = File::create(&path).map_err(|error| atomic::cannot("write", &path, &error))?;
        file.try_lock().map_err(|_| {
            let message = "another process is writing this run: wait for it, or stop it first";
            Error::new(message).in_file(&self.0)
        })?;
        Ok(file)
    }

    /// The last checkpoint; `None` if there is none yet.
    fn state(&self) -> Result<Option<SavedState>> {
        let path = self.file("checkpoint/state");
        if !path.exists() {
            return Ok(None);
        }
        let state = SavedState::unpack(&self.read("checkpoint/state")?);
        state.map(Some).map_err(|error| error.in_file(&path))
    }

    /// The traces as far as the state vouches for them.
    fn traces(&self, manifest: &Manifest, trace_bytes: u64) -> Result<trace::Traces> {
        let path = self.file("trace.csv");
        let mut bytes = self.read("trace.csv")?;
        if (bytes.len() as u64) < trace_bytes {
            let message =
                format!("this is cut off: {} bytes are missing", trace_bytes - bytes.len() as u64);
            return Err(Error::new(message).in_file(&path));
        }
        bytes.truncate(trace_bytes as usize);
        let text =
            String::from_utf8(bytes).map_err(|_| Error::new("this is damaged").in_file(&path))?;
        trace::parse(&text, &manifest.settings, manifest.data.names.len())
            .map_err(|e| e.in_file(&path))
    }

    /// The rows of past states by iteration.
    fn pasts(&self, state: &SavedState) -> Result<HashMap<usize, Rows>> {
        let mut rows = HashMap::new();
        for info in &state.pasts {
            let past: Vec<(usize, Rows)> =
                self.checked("checkpoint", info).and_then(|bytes| unpack(&bytes))?;
            rows.extend(past);
        }
        Ok(rows)
    }

    /// A file that must be what it was when the state was written.
    fn checked(&self, folder: &str, info: &FileInfo) -> Result<Vec<u8>> {
        let name = format!("{folder}/{}", info.name);
        let bytes = self.read(&name)?;
        if hash(&bytes) != info.hash {
            let message = "this is damaged: its content is not what was written";
            return Err(Error::new(message).in_file(&self.file(&name)));
        }
        Ok(bytes)
    }

    /// The run up to its last checkpoint, without draws; also while it is going on.
    pub fn load(&self) -> Result<(Manifest, Run)> {
        let manifest = self.manifest()?;
        let settings = manifest.settings.clone();
        let mut run = Run {
            model: manifest.model.name.clone(),
            n: manifest.data.names.len(),
            iterations: 0,
            hypers: Vec::new(),
            ensembles: vec![vec![Trace::default(); settings.chains]; settings.ensembles],
            drawn: Vec::new(),
            seconds: 0.0,
            ladders: Vec::new(),
            hot: Vec::new(),
            mixes: Vec::new(),
            settings,
        };
        if let Some(state) = self.state()? {
            (run.ensembles, run.hypers) = self.traces(&manifest, state.trace_bytes)?;
            run.seconds = state.checkpoint.seconds;
            run.iterations = state.checkpoint.t.saturating_sub(run.settings.warmup);
            (run.ladders, run.hot) = state.checkpoint.ladders_and_hot(&run.settings);
            run.mixes = state.checkpoint.mixes();
            let cold = run.settings.chains;
            let ensembles = state.checkpoint.ensembles.into_iter();
            let chains = ensembles.flat_map(|e| e.chains.into_iter().take(cold));
            for (trace, saved) in run.ensembles.iter_mut().flatten().zip(chains) {
                (trace.counters, trace.best) = (saved.counters, saved.best);
            }
        }
        Ok((manifest, run))
    }

    /// The run up to its last checkpoint with its draws, thinned evenly so that they take about this
    /// many bytes at most. Parts that are damaged are left out and named.
    pub fn load_with_draws(&self, budget: u64) -> Result<(Manifest, Run, Vec<Error>)> {
        let (manifest, mut run) = self.load()?;
        let blocks = run.traces().flat_map(|t| &t.blocks).max().copied().unwrap_or(1);
        let label = if blocks <= 1 << 8 { 1 } else { 2 + 2 * u64::from(blocks > 1 << 16) };
        let chains = (run.settings.ensembles * run.settings.chains) as u64;
        let thin = manifest.saving.thin;
        let each = (run.n as u64 * label + size_of::<Row>() as u64) * chains;
        let stride =
            thin * (run.iterations.div_ceil(thin) as u64 * each).div_ceil(budget).max(1) as usize;
        let mut errors = Vec::new();
        let parts = self.state()?.map_or(Vec::new(), |state| state.parts);
        for info in &parts {
            let part = match self.part(info) {
                Ok(part) => part,
                Err(error) => {
                    errors.push(error);
                    continue;
                }
            };
            for draw in part {
                let iteration = (draw.iteration as usize).saturating_sub(1);
                let place = (draw.ensemble as usize).wrapping_sub(1);
                let chains = run.ensembles.get_mut(place);
                let trace = chains.and_then(|c| c.get_mut((draw.chain as usize).wrapping_sub(1)));
                let Some(trace) = trace.filter(|_| draw.labels.len() == run.n) else {
                    let message = "a draw in this part does not fit the run";
                    return Err(
                        Error::new(message).in_file(&self.file(&format!("draws/{}", info.name)))
                    );
                };
                if iteration.is_multiple_of(stride) && iteration < run.iterations {
                    trace.draws.push(Row::new(&draw.labels));
                    if (draw.ensemble, draw.chain) == (1, 1) {
                        run.drawn.push(iteration);
                    }
                }
            }
        }
        Ok((manifest, run, errors))
    }

    /// The draws of one part.
    fn part(&self, info: &FileInfo) -> Result<Vec<SavedDraw>> {
        let path = self.file(&format!("draws/{}", info.name));
        self.checked("draws", info).and_then(|b| draws::decode(b).map_err(|e| e.in_file(&path)))
    }

    /// All saved draws; a part that is damaged is named in the second list, and the others are read
    /// all the same.
    pub fn draws(&self) -> Result<(Vec<SavedDraw>, Vec<Error>)> {
        let (mut all, mut errors) = (Vec::new(), Vec::new());
        let parts = self.state()?.map_or(Vec::new(), |state| state.parts);
        for info in &parts {
            match self.part(info) {
                Ok(part) => all.extend(part),
                Err(error) => errors.push(error),
            }
        }
        Ok((all, errors))
    }
}

/// Packs a value with a checksum.
fn pack<T: Serialize>(value: &T) -> Result<Vec<u8>> {
    seal(&encode(value)?)
}

fn cannot_encode(what: &dyn std::fmt::Display) -> Error {
    Error::new(format!("cannot encode the checkpoint: {what}"))
}

fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>> {
    postcard::to_stdvec(value).map_err(|e| cannot_encode(&e))
}

fn seal(plain: &[u8]) -> Result<Vec<u8>> {
    let packed = zstd::encode_all(plain, 1).map_err(|e| cannot_encode(&e))?;
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&hash(&packed).to_le_bytes());
    bytes.extend_from_slice(&packed);
    Ok(bytes)
}

/// Unpacks what [`pack`] packed.
fn unpack<T: for<'de> Deserialize<'de>>(bytes: &[u8]) -> Result<T> {
    postcard::from_bytes(&open(bytes)?).map_err(|_| damaged())
}

fn damaged() -> Error {
    Error::new("this is damaged: its checksum is wrong")
}

fn open(bytes: &[u8]) -> Result<Vec<u8>> {
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| {
        Error::new("this was not written by this version of armix, or it is damaged")
    })?;
    let (checksum, packed) = rest.split_at_checked(8).ok_or_else(damaged)?;
    if checksum != hash(packed).to_le_bytes() {
        return Err(damaged());
    }
    zstd::decode_all(packed).map_err(|_| damaged())
}

/// A checksum.
fn hash(bytes: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(bytes)
}

/// A fingerprint of data, from anything that can be seen as bytes.
pub fn fingerprint(bytes: &[u8]) -> String {
    format!("xxh3:{:032x}", xxhash_rust::xxh3::xxh3_128(bytes))
}
