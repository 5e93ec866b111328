//! The folder of results: settings, finished units, and what was made of them.

use super::unit::{Done, Unit};
use crate::write;
use armix::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// What all units of a folder have in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Common {
    pub armix: String,
    pub size: String,
    pub seed: u64,
    /// Where chains on networks begin.
    #[serde(default = "prior", deserialize_with = "start")]
    pub start: String,
}

fn prior() -> String {
    "prior".into()
}

/// It was called crp when there was no other prior.
fn start<'de, D: serde::Deserializer<'de>>(text: D) -> std::result::Result<String, D::Error> {
    let text = String::deserialize(text)?;
    Ok(if text == "crp" { prior() } else { text })
}

#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Opens a folder, or makes one. A folder of other settings is refused.
    pub(crate) fn open(path: &Path, common: &Common) -> Result<Self> {
        let folder = Folder { path: path.to_path_buf() };
        fs::create_dir_all(path).map_err(|error| {
            Error::new(format!("cannot make this folder: {error}; name another one with --out"))
                .in_file(path)
        })?;
        let file = path.join("settings.json");
        match fs::read_to_string(&file) {
            Err(_) => write::text(&file, &json(common)?)?,
            Ok(text) => {
                let found: Common = serde_json::from_str(&text).map_err(|error| {
                    Error::new(format!(
                        "this is no folder of armix paper: {error}; name another one with --out"
                    ))
                    .in_file(&file)
                })?;
                if found != *common {
                    let tell = |c: &Common| {
                        format!(
                            "{} size, seed {}, start {}, armix {}",
                            c.size, c.seed, c.start, c.armix
                        )
                    };
                    return Err(Error::new(format!(
                        "the results here were made with other settings ({}) than were asked for ({}); name another folder with --out, or use the same settings",
                        tell(&found),
                        tell(common)
                    ))
                    .in_file(path));
                }
            }
        }
        Ok(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    fn unit(&self, unit: &Unit) -> PathBuf {
        self.path.join("units").join(unit.key() + ".json")
    }

    /// A unit that was finished with the same settings and data. One that cannot be read is done again.
    pub(crate) fn load(&self, unit: &Unit, fingerprint: &str) -> Option<Done> {
        let text = fs::read_to_string(self.unit(unit)).ok()?;
        let done: Done = serde_json::from_str(&text).ok()?;
        (done.unit == *unit && done.fingerprint == fingerprint).then_some(done)
    }

    /// Keeps a finished unit. The file is whole or not there.
    pub(crate) fn save(&self, done: &Done) -> Result<()> {
        let path = self.unit(&done.unit);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| {
                Error::new(format!("cannot make this folder: {error}")).in_file(parent)
            })?;
        }
        write::text(&path, &json(done)?)
    }
}

pub(crate) fn json(value: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string(value);
    Ok(text.map_err(|error| Error::new(format!("cannot write JSON: {error}")))? + "\n")
}
