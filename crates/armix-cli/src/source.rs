//! Where saved draws come from: the folder of a run, or files that another program wrote.

use crate::output::say;
use armix::error::{Error, Result};
use armix::io;
use armix::run::Run;
use armix::store::{Folder, Manifest};
use std::path::{Path, PathBuf};

/// Draws in memory take this many bytes at most; beyond it they are thinned.
const BUDGET: u64 = 256 << 20;

/// A run with its draws and what is known about where it came from.
pub(crate) struct Source {
    pub(crate) run: Run,
    /// The items' names.
    pub(crate) names: Vec<String>,
    /// What the data are called.
    pub(crate) title: String,
    /// For a run of armix.
    pub(crate) manifest: Option<Manifest>,
}

impl Source {
    /// The run in one folder, or the draws in some files, each file an ensemble of its own (unless the
    /// file says otherwise).
    pub(crate) fn load(paths: &[PathBuf]) -> Result<Source> {
        match paths {
            [path] if path.is_dir() || !path.exists() => Source::folder(path),
            _ => Source::files(paths),
        }
    }

    /// The run in a folder.
    pub(crate) fn folder(path: &Path) -> Result<Source> {
        let (manifest, run, damaged) = Folder::new(path).load_with_draws(BUDGET)?;
        damaged.iter().for_each(|error| say(&format!("armix: left out: {error}")));
        if run.iterations == 0 {
            let message =
                "nothing has been recorded in this run yet; start or continue it with armix resume";
            return Err(Error::new(message).in_file(path));
        }
        let names = manifest.data.names.clone();
        Ok(Source { run, names, title: manifest.data.source.clone(), manifest: Some(manifest) })
    }

    fn files(paths: &[PathBuf]) -> Result<Source> {
        let mut ensembles = Vec::new();
        let mut names = Vec::new();
        for path in paths {
            if path.is_dir() {
                let message = "this is a folder: name the folder of one run, or files with draws";
                return Err(Error::new(message).in_file(path));
            }
            let (items, draws) = io::read_draws(path)?;
            names = items;
            ensembles.extend(draws);
        }
        let title = match paths {
            [path] => path.display().to_string(),
            _ => format!("{} files", paths.len()),
        };
        Ok(Source { run: Run::from_labels(ensembles)?, names, title, manifest: None })
    }

    /// What is known of a run of armix; an error for draws of another program.
    pub(crate) fn manifest(&self) -> Result<&Manifest> {
        self.manifest.as_ref().ok_or_else(|| {
            Error::new("this needs the folder of a run, not draws of another program")
        })
    }

    /// An error if no partitions were saved.
    pub(crate) fn need_draws(&self) -> Result<()> {
        if self.run.drawn.is_empty() {
            return Err(Error::new(
                "there are no saved partitions in this run (it may have been made with --save-partitions none)",
            ));
        }
        Ok(())
    }
}
