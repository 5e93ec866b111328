//! Files in and out. One file here for each format; this one tells them apart.

mod bytes;
mod coding;
mod container;
mod decimals;
mod draws;
mod edges;
mod fields;
mod gml;
mod graphml;
mod gt;
mod ids;
mod labels;
mod mat;
mod matrix;
mod matrix_market;
#[cfg(test)]
mod nasty;
mod npy;
mod npz;
mod pajek;
mod prepare;
pub mod raw;
mod relational;
mod relations_json;
mod smat;
mod square;
mod table;
mod table_data;
mod write;
mod zip;

pub(crate) use decimals::with_points;
pub use draws::{Draws, read_draws};
pub use labels::{check_known, check_together, parse_known, parse_labels, parse_together};
pub use prepare::{NetworkOptions, Weights, network};
pub use table_data::{ColumnInfo, ColumnKind, TableOptions, binary, column_types, tabular, types};
pub(crate) use table_data::{coded_alike, roles_of};
pub use write::{NpyNumber, raw_table, raw_table_of, write, write_file, write_npy};

use crate::data::Dataset;
use crate::error::{Error, Result};
use container::{LIMIT, Opened, read_all};
use raw::{Raw, RawNetwork, RawTable};
use std::io::BufRead;
use std::path::Path;

/// The formats that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Two vertices a line, and perhaps a weight.
    EdgeList,
    /// A square matrix of numbers as text.
    Matrix,
    /// Matrix Market, `.mtx`.
    MatrixMarket,
    /// Pajek, `.net`.
    Pajek,
    /// GML.
    Gml,
    /// GraphML.
    GraphMl,
    /// `.smat`.
    Smat,
    /// MATLAB, `.mat`.
    Mat,
    /// NumPy, `.npy`.
    Npy,
    /// NumPy and SciPy, `.npz`.
    Npz,
    /// graph-tool, `.gt`.
    GraphTool,
    /// A table, `.csv` or `.tsv`.
    Table,
}

/// What a file is wanted for, if that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// A network.
    Network,
    /// A table.
    Table,
}

/// How data are prepared after they were read.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// What the file is wanted for.
    pub wanted: Option<Wanted>,
    /// For networks.
    pub network: NetworkOptions,
    /// For tables.
    pub table: TableOptions,
}

impl Options {
    /// What a file is wanted for: options for tables say so, unless its ending is one of networks.
    pub fn wanted_of(&self, path: &Path) -> Option<Wanted> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        let is_table = match by_ending(&ending.unwrap_or_default()) {
            None | Some(Format::Table) => !self.table.given().is_empty(),
            Some(_) => false,
        };
        if is_table { Some(Wanted::Table) } else { self.wanted }
    }
}

/// Reads and prepares a file.
pub fn read(path: &Path, options: &Options) -> Result<Dataset> {
    let mut opened = container::open(path)?;
    let is_json = |name: &Path| name.extension().is_some_and(|ending| ending == "json");
    if is_json(path) || is_json(Path::new(&opened.name)) {
        let bytes = read_all(&mut opened.reader, LIMIT).map_err(|error| error.in_file(path))?;
        let parsed = refuse(
            [options.network.given(), options.table.given()].concat(),
            "a network that armix wrote as JSON is prepared already, with directions, weights, sides and unknown pairs as they are",
        )
        .and_then(|()| text(bytes))
        .and_then(|text| relations_json::parse(&text));
        return parsed.map_err(|error| error.in_file(path));
    }
    // Of a table with two sides the cells are weights: a square of them is not asked for.
    let wanted = options.wanted_of(path);
    let of_two_sides = options.network.bipartite && wanted == Some(Wanted::Network);
    let read = match parse(&mut opened, wanted) {
        Err(error) if of_two_sides => match read_raw(path, Some(Wanted::Table)) {
            Ok(table @ (Format::Table, _)) => Ok(table),
            _ => Err(error),
        },
        read => read,
    };
    let prepared = read.and_then(|(_, raw)| prepare(raw, options));
    prepared.map_err(|error| error.in_file(path))
}

/// Prepares what a file says.
pub fn prepare(raw: Raw, options: &Options) -> Result<Dataset> {
    match raw {
        Raw::Network(raw) => {
            refuse(options.table.given(), "this is a network, and has no columns")?;
            network(raw, &options.network)
        }
        Raw::Table(raw) if options.network.bipartite => {
            let (raw, notes) = relational::bipartite_table(&raw, &options.table)?;
            let dataset = network(raw, &options.network)?;
            Ok(Dataset { notes: [notes, dataset.notes].concat(), ..dataset })
        }
        Raw::Table(raw) => {
            refuse_for_tables(&options.network)?;
            tabular(&raw, &options.table)
        }
    }
}

/// Refuses options for networks where the data are a table.
pub(crate) fn refuse_for_tables(options: &NetworkOptions) -> Result<()> {
    refuse(
        options.given(),
        "this is a table, not a network (--bipartite makes its rows and columns into one)",
    )
}

/// Refuses options that would do nothing.
fn refuse(given: Vec<&str>, why: &str) -> Result<()> {
    match given.is_empty() {
        true => Ok(()),
        false => Err(Error::new(format!("leave out {}: {why}", given.join(", ")))),
    }
}

/// Reads a file as it is. Its format is known from its first bytes, its ending and its content.
pub fn read_raw(path: &Path, wanted: Option<Wanted>) -> Result<(Format, Raw)> {
    let mut opened = container::open(path)?;
    parse(&mut opened, wanted).map_err(|error| error.in_file(path))
}

/// Reads the content of a file that is in memory, plain or gzipped, under a name whose ending helps
/// to tell its format.
pub fn read_bytes(name: &str, bytes: &[u8], wanted: Option<Wanted>) -> Result<(Format, Raw)> {
    let content = std::io::Cursor::new(bytes.to_vec());
    container::open_reader(content, name.to_string(), None)
        .and_then(|mut opened| parse(&mut opened, wanted))
        .map_err(|error| error.in_file(Path::new(name)))
}

/// Reads the labels of items from a file.
pub fn read_labels(path: &Path, names: &[String]) -> Result<Vec<u32>> {
    let mut opened = container::open(path)?;
    let bytes = read_all(&mut opened.reader, LIMIT).map_err(|error| error.in_file(path))?;
    text(bytes).and_then(|text| parse_labels(&text, names)).map_err(|error| error.in_file(path))
}

fn parse(opened: &mut Opened, wanted: Option<Wanted>) -> Result<(Format, Raw)> {
    let Opened { reader, name, choice } = opened;
    let head = reader.fill_buf().map_err(container::failed)?;
    let ending = Path::new(name).extension().map(|e| e.to_string_lossy().to_lowercase());
    let ending = ending.unwrap_or_default();
    let known = by_magic(head).or_else(|| by_ending(&ending)).or_else(|| by_beginning(head));
    let format = match (known, wanted) {
        (Some(Format::EdgeList | Format::Matrix), Some(Wanted::Table)) => Format::Table,
        (Some(format), _) if format != Format::Table => format,
        _ => return parse_columns(reader, &ending, wanted),
    };
    let choice = choice.as_deref();
    let network = |raw: RawNetwork| Ok((format, Raw::Network(raw)));
    if format == Format::EdgeList {
        return network(edges::parse(reader)?);
    }
    if format == Format::Table {
        return Ok((format, Raw::Table(table::parse(reader, delimiter(&ending, b""))?)));
    }
    let bytes = read_all(reader, LIMIT)?;
    // With something unknown in it, a square of numbers is a table unless a network is wanted.
    let is_table = |network: Result<RawNetwork>| {
        let whole = network.is_ok_and(|network| network.hidden.is_empty());
        wanted == Some(Wanted::Table) || (wanted.is_none() && !whole)
    };
    match format {
        Format::Mat => network(mat::parse(&bytes, choice)?),
        Format::GraphTool => network(gt::parse(&bytes)?),
        Format::Npy if is_table(npy::parse_network(&bytes)) => {
            Ok((format, Raw::Table(npy::parse_table(&bytes)?)))
        }
        Format::Npy => network(npy::parse_network(&bytes)?),
        Format::Npz if is_table(npz::parse_network(&bytes, choice)) => {
            Ok((format, Raw::Table(npz::parse_table(&bytes, choice)?)))
        }
        Format::Npz => network(npz::parse_network(&bytes, choice)?),
        _ => {
            let text = text(bytes)?;
            network(match format {
                Format::MatrixMarket => matrix_market::parse(&text)?,
                Format::Pajek => pajek::parse(&text)?,
                Format::Gml => gml::parse(&text)?,
                Format::GraphMl => graphml::parse(&text)?,
                Format::Smat => smat::parse(&text)?,
                _ => matrix::parse(&text)?,
            })
        }
    }
}

fn by_magic(head: &[u8]) -> Option<Format> {
    let formats = [
        (&b"MATLAB"[..], Format::Mat),
        (npy::MAGIC, Format::Npy),
        (b"PK\x03\x04", Format::Npz), // other archives have been opened already
        (gt::MAGIC, Format::GraphTool),
        (b"%%MatrixMarket", Format::MatrixMarket),
        (b"<?xml", Format::GraphMl),
        (b"<graphml", Format::GraphMl),
    ];
    formats.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, format)| *format)
}

fn by_ending(ending: &str) -> Option<Format> {
    Some(match ending {
        "mtx" => Format::MatrixMarket,
        "net" | "paj" => Format::Pajek,
        "gml" => Format::Gml,
        "graphml" | "xml" => Format::GraphMl,
        "smat" => Format::Smat,
        "mat" => Format::Mat,
        "npy" => Format::Npy,
        "npz" => Format::Npz,
        "gt" => Format::GraphTool,
        "edges" | "edgelist" | "wedges" | "biedges" | "el" => Format::EdgeList,
        "csv" | "tsv" => Format::Table,
        _ => return None,
    })
}

/// Formats that say who they are in their first words.
fn by_beginning(head: &[u8]) -> Option<Format> {
    let head = String::from_utf8_lossy(&head[..head.len().min(4096)]).to_lowercase();
    let first = data_lines(&head).next().unwrap_or("").trim_start();
    if first.starts_with("*vertices") || first.starts_with("*network") {
        return Some(Format::Pajek);
    }
    let word = first.split(|c: char| c.is_whitespace() || c == '[').next().unwrap_or("");
    let gml = matches!(word, "graph" | "creator" | "version") && head.contains('[');
    gml.then_some(Format::Gml)
}

/// Lines that are neither blank nor comments.
fn data_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !is_comment(line))
}

/// Columns of text: an edge list, a matrix or a table.
fn parse_columns(
    reader: &mut Box<dyn BufRead>,
    ending: &str,
    wanted: Option<Wanted>,
) -> Result<(Format, Raw)> {
    let head = reader.fill_buf().map_err(container::failed)?;
    let comma = delimiter(ending, head);
    let shown = String::from_utf8_lossy(head).into_owned();
    let outside = |line: &str| line.split('"').step_by(2).any(|text| text.contains(','));
    let commas = data_lines(&shown).next().is_some_and(outside);
    let is_table_file = matches!(ending, "csv" | "tsv") || (commas && ending != "edges");
    let few = looks_like_edges(&shown, is_table_file);
    let parse_table =
        |reader: &mut Box<dyn BufRead>| -> Result<RawTable> { table::parse(reader, comma) };
    match (wanted, few) {
        (Some(Wanted::Table), _) => Ok((Format::Table, Raw::Table(parse_table(reader)?))),
        (_, true) => Ok((Format::EdgeList, Raw::Network(edges::parse(reader)?))),
        (wanted, false) => {
            // More than three columns: a square, symmetric matrix of numbers is a network.
            let bytes = read_all(reader, LIMIT)?;
            let as_text = text(bytes)?;
            let square = matrix::parse(&as_text);
            let certain = wanted == Some(Wanted::Network) || !is_table_file;
            match square {
                Ok(raw)
                    if certain
                        || (raw.hidden.is_empty()
                            && !raw.directed
                            && is_square(&as_text, comma)) =>
                {
                    Ok((Format::Matrix, Raw::Network(raw)))
                }
                Err(error) if wanted == Some(Wanted::Network) => Err(error),
                _ => Ok((Format::Table, Raw::Table(table::parse(&mut as_text.as_bytes(), comma)?))),
            }
        }
    }
}

/// Whether a symmetric matrix in a table file is meant as a network: at least four rows, and if the
/// columns have names, the rows have the same.
fn is_square(text: &str, comma: u8) -> bool {
    let cells = |line: &str| -> Vec<String> {
        if !line.contains('"') {
            return line.split(comma as char).map(|cell| cell.trim().to_string()).collect();
        }
        let mut cells = Vec::new();
        let split = matrix::split(line, Some(comma as char), &mut cells);
        split.map_or(Vec::new(), |()| cells.iter().map(ToString::to_string).collect())
    };
    let mut lines = data_lines(text).map(cells);
    let Some(first) = lines.next() else { return false };
    if first.iter().all(|cell| table::is_number(cell)) {
        return first.len() >= 4;
    }
    first.len() > 4 && lines.zip(&first[1..]).all(|(line, name)| line.first() == Some(name))
}

/// Whether the first lines have two or three columns, as edges do. A `.csv` file must also say so,
/// by its titles or by vertex numbers above 1: else it is a small table.
fn looks_like_edges(head: &str, is_table_file: bool) -> bool {
    let whole = match head.rfind('\n') {
        Some(end) if head.len() > 60_000 => &head[..end],
        _ => head,
    };
    let fields = |line: &str| {
        let blank = |c: char| c.is_whitespace() || ",;".contains(c);
        let words = || line.split(blank).filter(|f| !f.is_empty()).map(str::to_string).collect();
        let columns: Vec<String> = edges::columns(line).unwrap_or_else(words);
        columns.iter().map(|field| field.to_lowercase()).collect::<Vec<_>>()
    };
    let mut lines = data_lines(whole).map(fields);
    let Some(first) = lines.next() else { return !is_table_file };
    if !is_table_file {
        return first.len() <= 3;
    }
    let titles = ["source", "target", "from", "to", "src", "dst"];
    if first.len() > 3 || first.len() < 2 {
        return false;
    }
    if titles.contains(&first[0].trim_matches('"')) && titles.contains(&first[1].trim_matches('"'))
    {
        return true;
    }
    let mut largest = 0;
    for line in std::iter::once(first).chain(lines) {
        for field in &line[..line.len().min(2)] {
            match field.parse::<u32>() {
                Ok(id) => largest = largest.max(id),
                Err(_) => return false,
            }
        }
    }
    largest > 1
}

/// What parts the cells of a table: a tab in `.tsv` files, else whichever of comma, semicolon and
/// tab the first line has most of.
fn delimiter(ending: &str, head: &[u8]) -> u8 {
    if ending == "tsv" {
        return b'\t';
    }
    let line =
        head.split(|&b| b == b'\n').find(|line| !line.is_empty() && line[0] != b'#').unwrap_or(&[]);
    // Commas are within numbers, if all that something else parts are numbers then.
    let text = String::from_utf8_lossy(line);
    let text = text.trim_start_matches('\u{feff}');
    let is_number = |cell: &str| table::is_number(cell) || table::with_point(cell).is_some();
    let parts = |c: &&u8| {
        let mut cells = text.trim().split(**c as char).map(|cell| cell.trim().trim_matches('"'));
        text.contains(',') && cells.clone().count() > 1 && cells.all(is_number)
    };
    if let Some(&c) = [b';', b'\t'].iter().find(parts) {
        return c;
    }
    let count = |c: u8| line.iter().filter(|&&b| b == c).count();
    *[b',', b';', b'\t'].iter().rev().max_by_key(|&&c| count(c)).unwrap_or(&b',')
}

/// Blank lines and lines that begin with # or % carry no data.
fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with(['#', '%'])
}

/// Bytes as text, or an error that says where they are none.
fn text(bytes: Vec<u8>) -> Result<String> {
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|&&b| b == b'\n').count() + 1;
        let message =
            "this is not a text file (no valid UTF-8), nor any other format that can be read";
        Error::new(message).at_line(line)
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_string).unwrap_or(text))
}
