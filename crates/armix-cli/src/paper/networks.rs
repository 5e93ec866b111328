//! The paper's four networks: where they are, and where the public can get them.

use armix::error::{Error, Result};
use std::path::{Path, PathBuf};

/// Where our own copies lie, beside the project.
const BESIDE: &str = "../shared/data/networks";

/// A network of the paper.
pub(crate) struct Network {
    /// The name of its file, without ending.
    pub name: &'static str,
    /// What the paper calls it.
    pub label: &'static str,
    /// Where the public can get it.
    pub source: &'static str,
    /// The scales of the table of downsampling.
    pub scales: [f64; 3],
    /// The scale of the table of variants, and of the figure of numbers of chains.
    pub variant: f64,
}

pub(crate) const ALL: [Network; 4] = [
    Network {
        name: "nips234",
        label: "NIPS",
        source: "co-authors at NIPS, 234 authors: S. Roweis, https://cs.nyu.edu/~roweis/data.html",
        scales: [1.0, 0.9, 0.8],
        variant: 1.0,
    },
    Network {
        name: "hagmann998",
        label: "Hagmann",
        source: "fibre tracts between 998 brain regions: Hagmann et al. 2008, https://doi.org/10.1371/journal.pbio.0060159; connectivity_998.zip in the data of The Virtual Brain, https://www.thevirtualbrain.org",
        scales: [0.4, 0.3, 0.2],
        variant: 0.25,
    },
    Network {
        name: "usair97",
        label: "USAir",
        source: "US flights of 1997, 332 airports: Pajek data sets, http://vlado.fmf.uni-lj.si/pub/networks/data/",
        scales: [0.9, 0.8, 0.7],
        variant: 0.8,
    },
    Network {
        name: "caltech36",
        label: "Caltech",
        source: "Caltech36 of Facebook100, 769 students: https://networkrepository.com/socfb-Caltech36.php",
        scales: [0.8, 0.7, 0.6],
        variant: 0.7,
    },
];

/// Endings that a network may have; the first file that is there is read.
const ENDINGS: [&str; 12] =
    ["edges", "net", "gml", "graphml", "mat", "mtx", "smat", "csv", "txt", "npz", "gt", "edges.gz"];

/// Which of the networks are there.
#[derive(Debug)]
pub(crate) struct Networks {
    folder: PathBuf,
    given: bool,
}

impl Networks {
    /// Looks in the folder that was named, or beside the project. A named folder must be there.
    pub(crate) fn new(folder: Option<&Path>) -> Result<Self> {
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            let message = "there is no such folder: name with --data the folder of the networks";
            return Err(Error::new(message).in_file(folder));
        }
        let given = folder.is_some();
        Ok(Networks { folder: folder.unwrap_or(Path::new(BESIDE)).to_path_buf(), given })
    }

    /// The file of a network, if it is there.
    pub(crate) fn file(&self, name: &str) -> Option<PathBuf> {
        let files = ENDINGS.iter().map(|ending| self.folder.join(format!("{name}.{ending}")));
        files.into_iter().find(|file| file.is_file())
    }

    /// Those that are there.
    pub(crate) fn found(&self) -> impl Iterator<Item = &'static Network> {
        ALL.iter().filter(|network| self.file(network.name).is_some())
    }

    /// A line about each that is missing.
    pub(crate) fn missing(&self) -> Vec<String> {
        let missing = ALL.iter().filter(|network| self.file(network.name).is_none());
        let line = |network: &Network| {
            format!(
                "{} ({}.edges) is not there; it is public: {}",
                network.label, network.name, network.source
            )
        };
        missing.map(line).collect()
    }

    /// An error if none of them is there.
    pub(crate) fn need_some(&self) -> Result<()> {
        if self.found().next().is_some() {
            return Ok(());
        }
        let place = match self.given {
            true => format!("{} has none of the paper's networks", self.folder.display()),
            false => format!("the paper's networks are not in {BESIDE}"),
        };
        Err(Error::new(format!(
            "{place}; put them into a folder, in any format that armix reads, and name it with --data:\n  {}",
            self.missing().join("\n  ")
        )))
    }
}
