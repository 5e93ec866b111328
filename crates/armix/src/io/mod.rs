//! Files in. One file here for each format.

mod edges;
mod labels;
pub mod raw;
mod table;

use crate::data::Dataset;
use crate::error::{Error, Result};
use std::path::Path;

pub use labels::parse_labels;

/// How a file is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// An edge list: two vertex numbers a line.
    EdgeList,
    /// A table of zeros and ones, separated by commas or tabs.
    Table,
}

/// Reads a file, in the given format or in the one that its name and content suggest.
pub fn read(path: &Path, format: Option<Format>) -> Result<Dataset> {
    let text = read_text(path)?;
    parse(path, &text, format).map_err(|error| error.in_file(path))
}

/// Reads the labels of n items from a file.
pub fn read_labels(path: &Path, names: &[String]) -> Result<Vec<u32>> {
    let text = read_text(path)?;
    parse_labels(&text, names).map_err(|error| error.in_file(path))
}

fn parse(path: &Path, text: &str, format: Option<Format>) -> Result<Dataset> {
    let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    let ending = ending.as_deref();
    let format = format.unwrap_or_else(|| match ending {
        Some("csv" | "tsv") => Format::Table,
        _ => guess(text),
    });
    match format {
        Format::EdgeList => edges::parse(text),
        Format::Table => table::parse(text, if ending == Some("tsv") { b'\t' } else { b',' }),
    }
}

/// A line of an edge list has two fields; a table has more.
fn guess(text: &str) -> Format {
    let first = text.lines().find(|line| !is_comment(line));
    match first {
        Some(line) if line.split(',').count() > 2 => Format::Table,
        _ => Format::EdgeList,
    }
}

/// Blank lines and lines that begin with # or % carry no data.
fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with(['#', '%'])
}

fn read_text(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path).map_err(|error| {
        Error::new(match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such file".to_string(),
            std::io::ErrorKind::PermissionDenied => {
                "this file may not be read: check its permissions".to_string()
            }
            _ if path.is_dir() => "this is a folder, not a file".to_string(),
            _ => format!("cannot be read: {error}"),
        })
        .in_file(path)
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let line = error.as_bytes()[..error.utf8_error().valid_up_to()]
            .iter()
            .filter(|&&b| b == b'\n')
            .count();
        Error::new(
            "this is not a text file (no valid UTF-8); edge lists and CSV tables can be read",
        )
        .at_line(line + 1)
        .in_file(path)
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_string).unwrap_or(text))
}
