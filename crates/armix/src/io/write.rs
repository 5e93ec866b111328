//! Writes prepared data in the format that a file name asks for.

use super::raw::{RawColumn, RawNetwork, RawTable};
use super::{
    Format, by_ending, edges, gml, graphml, mat, matrix, matrix_market, npy, npz, pajek,
    relations_json, smat, table,
};
use crate::data::{BinaryTable, Column, Data, Dataset, MISSING, Table};
use crate::error::{Error, Result};
use crate::relations::{Relations, Values};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

/// Writes data to a file whose ending says the format: networks as `.edges`, `.txt`, `.csv` (a
/// matrix), `.mtx`, `.net`, `.gml`, `.graphml`, `.smat`, `.mat`, `.npy`, `.npz` or `.json`, tables as
/// `.csv`, `.tsv` or `.npy`; any of them also with `.gz`. The file is whole or not there. Of networks of every
/// kind `.json` alone keeps all: the two sides of a bipartite one are in no other format.
pub fn write(dataset: &Dataset, path: &Path) -> Result<()> {
    write_file(path, &mut |out| encode(dataset, path, out))
}

/// Numbers that NumPy arrays are made of here.
pub trait NpyNumber: Copy {
    /// NumPy's name of the type.
    const DESCR: &'static str;
    /// The bytes of a number.
    fn bytes(self) -> Vec<u8>;
}

impl NpyNumber for u32 {
    const DESCR: &'static str = "<u4";
    fn bytes(self) -> Vec<u8> {
        self.to_le_bytes().to_vec()
    }
}

impl NpyNumber for f64 {
    const DESCR: &'static str = "<f8";
    fn bytes(self) -> Vec<u8> {
        self.to_le_bytes().to_vec()
    }
}

/// Writes an array as a NumPy file.
pub fn write_npy<T: NpyNumber>(path: &Path, shape: &[usize], values: &[T]) -> Result<()> {
    assert_eq!(shape.iter().product::<usize>(), values.len(), "as many values as the shape has");
    write_file(path, &mut |out| {
        let written = out
            .write_all(&npy::header(T::DESCR, shape))
            .and_then(|()| values.iter().try_for_each(|value| out.write_all(&value.bytes())));
        written.map_err(|error| Error::new(format!("cannot be written: {error}")))
    })
}

/// Writes a file that is whole or not there. What a link points to is written, and what is no file
/// (a pipe, a terminal) is written to as it is.
pub fn write_file(
    path: &Path,
    content: &mut dyn FnMut(&mut dyn Write) -> Result<()>,
) -> Result<()> {
    let failed = |error: std::io::Error| Error::new(format!("cannot be written: {error}"));
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let special = fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir());
    if special {
        let file = fs::OpenOptions::new().write(true).open(path).map_err(failed);
        let written = file.and_then(|file| {
            let mut out = BufWriter::new(file);
            content(&mut out)?;
            out.flush().map_err(failed)
        });
        return written.map_err(|error| error.in_file(path));
    }
    // A name that nobody else uses, in the same folder, so that renaming is one step.
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let temporary =
        path.with_file_name(format!(".{}.{}.tmp", name.unwrap_or_default(), std::process::id()));
    let written = File::create(&temporary).map_err(failed).and_then(|file| {
        let mut out = BufWriter::new(file);
        content(&mut out)?;
        out.flush().and_then(|()| out.get_ref().sync_all()).map_err(failed)?;
        fs::rename(&temporary, path).map_err(failed)
    });
    written.map_err(|error| {
        let _ = fs::remove_file(&temporary);
        error.in_file(path)
    })
}

fn encode(dataset: &Dataset, path: &Path, out: &mut dyn Write) -> Result<()> {
    let ending = |path: &Path| {
        path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
    };
    if ending(path) != "gz" {
        return encode_plain(dataset, &ending(path), out);
    }
    let mut packed = flate2::write::GzEncoder::new(out, flate2::Compression::default());
    encode_plain(dataset, &ending(&path.with_extension("")), &mut packed)?;
    packed.finish().map(|_| ()).map_err(|e| Error::new(format!("cannot be written: {e}")))
}

/// A table as a file would have it: with a first column of names, unless rows are numbered.
pub fn raw_table(dataset: &Dataset, cells: &BinaryTable) -> RawTable {
    with_names(dataset, raw_columns(dataset, cells))
}

/// The same for a table of any columns.
pub fn raw_table_of(dataset: &Dataset, table: &Table) -> RawTable {
    with_names(dataset, typed_columns(dataset, table))
}

fn with_names(dataset: &Dataset, mut columns: Vec<RawColumn>) -> RawTable {
    let numbered = dataset.names.iter().enumerate().all(|(at, name)| *name == at.to_string());
    if !numbered {
        let names = dataset.names.iter().cloned().map(Some).collect();
        columns.insert(0, RawColumn { name: "item".into(), cells: names });
    }
    RawTable { columns, lines: Vec::new() }
}

fn raw_columns(dataset: &Dataset, cells: &BinaryTable) -> Vec<RawColumn> {
    let cell = |row: usize, column: usize| {
        let cell = cells.row(row)[column];
        (cell != MISSING).then(|| cell.to_string())
    };
    let column = |c: usize| RawColumn {
        name: dataset.columns.get(c).cloned().unwrap_or_else(|| format!("x{}", c + 1)),
        cells: (0..cells.n()).map(|row| cell(row, c)).collect(),
    };
    (0..cells.d()).map(column).collect()
}

/// A single relation as a file would have it.
fn raw_network(dataset: &Dataset, relations: &Relations) -> Result<RawNetwork> {
    let [relation] = relations.list() else {
        return Err(Error::new(
            "several relations do not fit into one file of a network: write .json",
        ));
    };
    if relation.has_hidden() {
        return Err(Error::new("pairs that were not observed fit into .json only"));
    }
    let weights: Vec<f64> = relation.entries().map(|(_, _, value)| value).collect();
    Ok(RawNetwork {
        names: dataset.names.clone(),
        edges: relation.entries().map(|(u, v, _)| (u, v)).collect(),
        weights: (relation.shape.values != Values::Binary).then_some(weights),
        directed: relation.shape.directed,
        both_ways: !relation.shape.directed,
        ..RawNetwork::default()
    })
}

fn typed_columns(dataset: &Dataset, table: &Table) -> Vec<RawColumn> {
    let column = |(at, column): (usize, &Column)| RawColumn {
        name: dataset.columns.get(at).cloned().unwrap_or_else(|| format!("x{}", at + 1)),
        cells: column.cells().iter().map(|x| (!x.is_nan()).then(|| column.show(*x))).collect(),
    };
    table.columns().iter().enumerate().map(column).collect()
}

fn encode_plain(dataset: &Dataset, ending: &str, out: &mut dyn Write) -> Result<()> {
    let failed = |error: std::io::Error| Error::new(format!("cannot be written: {error}"));
    let format = by_ending(ending).or((ending == "txt").then_some(Format::EdgeList));
    let unknown = |endings: &str| {
        Err(Error::new(format!(
            "the ending '.{ending}' is no format that this can be written in; use {endings}"
        )))
    };
    let mut network = |raw: &RawNetwork| match format {
        Some(Format::EdgeList) => edges::write(raw, out).map_err(failed),
        // A smaller matrix would be taken for a table or an edge list.
        Some(Format::Table) if ending == "csv" && raw.n() < 4 => Err(Error::new(format!(
            "a matrix of {} vertices in a .csv file would be read as a table or an edge list: write .edges or .json",
            raw.n()
        ))),
        Some(Format::Table) if ending == "csv" => matrix::write(raw, out).map_err(failed),
        Some(Format::MatrixMarket) => matrix_market::write(raw, out).map_err(failed),
        Some(Format::Pajek) => pajek::write(raw, out).map_err(failed),
        Some(Format::Gml) => gml::write(raw, out).map_err(failed),
        Some(Format::GraphMl) => graphml::write(raw, out).map_err(failed),
        Some(Format::Smat) => smat::write(raw, out).map_err(failed),
        Some(Format::Mat) => mat::write(raw, out),
        Some(Format::Npy) => npy::write_network(raw, out),
        Some(Format::Npz) => npz::write(raw, out),
        _ => unknown(
            ".edges, .txt, .csv, .mtx, .net, .gml, .graphml, .smat, .mat, .npy, .npz or .json",
        ),
    };
    match &dataset.data {
        Data::Network(graph) if ending == "json" => {
            relations_json::write_simple(dataset, graph, out)
        }
        Data::Network(graph) if graph.has_hidden() => {
            Err(Error::new("pairs that were not observed fit into .json only"))
        }
        Data::Relations(relations) if ending == "json" => {
            relations_json::write(dataset, relations, out)
        }
        Data::Relations(relations) => {
            let raw = raw_network(dataset, relations)?;
            network(&raw)
        }
        Data::Network(graph) => {
            let edges = graph.links().collect();
            let raw = RawNetwork {
                names: dataset.names.clone(),
                edges,
                both_ways: true,
                ..RawNetwork::default()
            };
            network(&raw)
        }
        Data::Table(cells) => write_columns(dataset, raw_columns(dataset, cells), ending, out),
        Data::Columns(table) => write_columns(dataset, typed_columns(dataset, table), ending, out),
    }
}

fn write_columns(
    dataset: &Dataset,
    columns: Vec<RawColumn>,
    ending: &str,
    out: &mut dyn Write,
) -> Result<()> {
    match ending {
        "csv" | "tsv" => {
            let raw = with_names(dataset, columns);
            table::write_table(&raw, if ending == "tsv" { b'\t' } else { b',' }, out)
        }
        "npy" => npy::write_table(&RawTable { columns, lines: Vec::new() }, out),
        _ => Err(Error::new(format!(
            "the ending '.{ending}' is no format that this can be written in; use .csv, .tsv or .npy"
        ))),
    }
}
