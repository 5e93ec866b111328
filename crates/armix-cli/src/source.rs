//! Where saved draws come from: the folder of a run, or files that another program wrote.

use crate::output::say;
use armix::diagnose::BurnIn;
use armix::error::{Error, Result};
use armix::io;
use armix::run::Run;
use armix::store::{Folder, Manifest};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Draws in memory take this many bytes at most; beyond it they are thinned.
pub(crate) const BUDGET: u64 = 256 << 20;

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
            [path] if path.is_dir() => Source::folder(path),
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
            if !path.exists() {
                let message = "there is no run in this folder, and no such file: name the folder of a run, or files with draws";
                return Err(Error::new(message).in_file(path));
            }
            let (items, draws) = io::read_draws(path)?;
            let draws = match names.is_empty() || names == items {
                true => draws,
                false => reordered(draws, &items, &names).map_err(|e| e.in_file(path))?,
            };
            if names.is_empty() {
                names = items;
            }
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

    /// Whether there are saved partitions after burn-in.
    pub(crate) fn has_draws(&self, burn_in: BurnIn) -> bool {
        let burn_in = burn_in.of(self.run.iterations);
        self.run.drawn.iter().any(|&iteration| iteration >= burn_in)
    }

    /// An error if there are no saved partitions after burn-in.
    pub(crate) fn need_draws(&self, burn_in: BurnIn) -> Result<()> {
        match (self.has_draws(burn_in), self.run.drawn.is_empty()) {
            (true, _) => Ok(()),
            (false, true) => Err(Error::new(format!(
                "{}: there are no saved partitions in this run (it may have been made with --save-partitions none)",
                self.title
            ))),
            (false, false) => Err(Error::new(format!(
                "{}: no saved partitions are left after burn-in: leave out less with --burn-in, or save more with --thin",
                self.title
            ))),
        }
    }
}

/// Draws with their items in the order of these names.
fn reordered(draws: io::Draws, items: &[String], names: &[String]) -> Result<io::Draws> {
    let at: HashMap<&str, usize> = items.iter().map(String::as_str).zip(0..).collect();
    let order: Option<Vec<usize>> =
        names.iter().map(|name| at.get(name.as_str()).copied()).collect();
    let order = order.filter(|order| order.len() == items.len() && at.len() == items.len());
    let Some(order) = order else {
        return Err(Error::new(format!(
            "the {} items of this file are not the {} items of the first file: all files must have draws of the same items",
            items.len(),
            names.len()
        )));
    };
    let row = |labels: Vec<u32>| order.iter().map(|&item| labels[item]).collect();
    let chain = |chain: Vec<Vec<u32>>| chain.into_iter().map(row).collect();
    Ok(draws.into_iter().map(|e| e.into_iter().map(chain).collect()).collect())
}
