//! What must hold whatever the bytes of a file are, for the tests and for the fuzz targets.

#![allow(unreachable_pub)] // the fuzz targets use this file as well

use armix::error::Result;
use armix::io::raw::{Raw, RawNetwork, RawTable};
use armix::io::{self, NetworkOptions, Options, Wanted};

/// Larger networks are not prepared, so that many can be read.
const MAX_PREPARED: usize = 10_000;

/// The name under which bytes are read as labels.
pub const LABELS: &str = "labels";

/// Reads bytes under a name, whatever they are wanted for, and checks what comes out.
pub fn check_all(name: &str, bytes: &[u8]) {
    if name == LABELS {
        return labels(bytes);
    }
    for wanted in [None, Some(Wanted::Network), Some(Wanted::Table)] {
        check(name, bytes, wanted);
    }
}

/// Reads bytes under a name, and checks and prepares what comes out.
fn check(name: &str, bytes: &[u8], wanted: Option<Wanted>) {
    match says_why(io::read_bytes(name, bytes, wanted)) {
        Some((_, Raw::Network(raw))) => network(raw),
        Some((_, Raw::Table(raw))) => table(raw),
        None => {}
    }
}

/// An error must have a message, not just a place.
fn says_why<T>(result: Result<T>) -> Option<T> {
    let empty = |text: &str| text.trim().is_empty() || text.ends_with(": ");
    result.map_err(|error| assert!(!empty(&error.to_string()), "{error}: no message")).ok()
}

fn network(raw: RawNetwork) {
    let n = raw.n();
    assert!(raw.edges.iter().all(|&(u, v)| u.max(v) < n as u32), "an edge beyond {n} vertices");
    if let Some(weights) = &raw.weights {
        assert_eq!(weights.len(), raw.edges.len(), "weights and edges");
        assert!(weights.iter().all(|w| w.is_finite()), "a weight is not finite");
    }
    if n > MAX_PREPARED {
        return;
    }
    let strict = NetworkOptions {
        threshold: 1.0,
        downsample: Some(0.5),
        largest_component: true,
        ..Default::default()
    };
    for options in [NetworkOptions::default(), strict] {
        if let Some(dataset) = says_why(io::network(raw.clone(), &options)) {
            assert!((1..=n).contains(&dataset.names.len()), "vertices after preparation");
        }
    }
}

fn table(raw: RawTable) {
    let rows = raw.rows();
    assert!(raw.columns.iter().all(|column| column.cells.len() == rows), "columns differ");
    assert!(raw.lines.is_empty() || raw.lines.len() == rows, "rows and lines");
    io::column_types(&raw);
    if let Some(dataset) = says_why(io::prepare(Raw::Table(raw), &Options::default())) {
        assert_eq!(dataset.names.len(), rows, "rows after preparation");
    }
}

fn labels(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for names in [&["a", "b", "c"][..], &["é", "日本", "🦀"], &["a", "a"], &["", " ", "0"], &[]]
    {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        if let Some(labels) = says_why(io::parse_labels(&text, &names)) {
            assert_eq!(labels.len(), names.len(), "labels and names");
        }
    }
}
