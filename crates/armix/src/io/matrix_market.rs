//! Matrix Market (`.mtx`): the adjacency matrix, as entries or in full, also without its banner.
//!
//! The format: R. F. Boisvert, R. Pozo, K. A. Remington (1996), The Matrix Market exchange formats.

use super::fields::{RESERVE, check_square, check_vertices, count, data_lines, vertex, weight};
use super::raw::{Lines, MAX_ITEMS, RawNetwork, check_count};
use super::square::each_pair_once;
use crate::error::{Error, Result};
use std::io::{self, Write};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Symmetry {
    General,
    Symmetric,
    Skew,
}

struct Banner {
    coordinate: bool,
    pattern: bool,
    symmetry: Symmetry,
}

/// Reads a square matrix. A general matrix is a directed network, unless its entries are symmetric; a symmetric one, or one
/// without banner, is undirected. Vertices are numbered from 1.
pub(super) fn parse(text: &str) -> Result<RawNetwork> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let first = (1..).zip(text.lines()).find(|(_, line)| !line.trim().is_empty());
    let Some((number, line)) = first else {
        return Err(Error::new("this file is empty: there is no matrix in it"));
    };
    match banner(line).map_err(|error| error.at_line(number))? {
        None => without_banner(text),
        Some(banner) if banner.coordinate => coordinate(text, &banner),
        Some(banner) => array(text, &banner),
    }
}

/// `%%MatrixMarket matrix coordinate real general`.
fn banner(line: &str) -> Result<Option<Banner>> {
    let line = line.to_ascii_lowercase();
    let mut words = line.trim_start_matches('%').split_ascii_whitespace();
    if !line.starts_with('%') || words.next() != Some("matrixmarket") {
        return Ok(None);
    }
    let [object, format, field, symmetry] = std::array::from_fn(|_| words.next().unwrap_or(""));
    let unknown = |what: &str, word: &str, known: &str| {
        Err(Error::new(format!("the {what} '{word}' cannot be read: it must be {known}")))
    };
    if object != "matrix" {
        return unknown("object", object, "matrix");
    }
    let coordinate = match format {
        "coordinate" => true,
        "array" => false,
        _ => return unknown("format", format, "coordinate or array"),
    };
    let pattern = match field {
        "real" | "double" | "integer" => false,
        "pattern" => true,
        _ => return unknown("field", field, "real, integer or pattern"),
    };
    let symmetry = match symmetry {
        "general" => Symmetry::General,
        "symmetric" => Symmetry::Symmetric,
        "skew-symmetric" => Symmetry::Skew,
        _ => return unknown("symmetry", symmetry, "general, symmetric or skew-symmetric"),
    };
    if pattern && (!coordinate || symmetry == Symmetry::Skew) {
        return Err(Error::new("a pattern has no values: this banner contradicts itself"));
    }
    Ok(Some(Banner { coordinate, pattern, symmetry }))
}

/// The entries of a matrix, as they become edges.
#[derive(Default)]
struct Entries {
    edges: Vec<(u32, u32)>,
    weights: Vec<f64>,
    lines: Lines,
}

impl Entries {
    /// Reads `row column` or `row column value`.
    fn line(
        &mut self,
        (number, line): (usize, &str),
        columns: usize,
        (rows, n): (u64, u64),
    ) -> Result<()> {
        let mut fields = line.split_ascii_whitespace();
        let row = vertex(fields.next().unwrap_or(""), 1, rows)?;
        match (fields.next(), fields.next(), fields.next(), columns) {
            (Some(column), None, _, 2) => self.edges.push((row, vertex(column, 1, n)?)),
            (Some(column), Some(value), None, 3) => {
                self.weights.push(weight(value)?);
                self.edges.push((row, vertex(column, 1, n)?));
            }
            _ => {
                let what = if columns == 2 { "row and column" } else { "row, column and value" };
                return Err(Error::new(format!(
                    "an entry of this matrix has {columns} columns, {what}; this line has {}",
                    line.split_ascii_whitespace().count()
                )));
            }
        }
        self.lines.push(number);
        Ok(())
    }

    fn push(&mut self, row: u64, column: u64, value: f64, number: usize) {
        self.edges.push((row as u32, column as u32));
        self.weights.push(value);
        self.lines.push(number);
    }

    /// The other half of a skew-symmetric matrix.
    fn mirror(&mut self) {
        for at in 0..self.edges.len() {
            let (row, column) = self.edges[at];
            self.edges.push((column, row));
            self.weights.push(-self.weights[at]);
            self.lines.push(self.lines.0[at] as usize);
        }
    }

    fn finish(self, n: u64, directed: bool) -> Result<RawNetwork> {
        check_vertices(n, self.edges.len())?;
        let weights = (!self.weights.is_empty()).then_some(self.weights);
        Ok(RawNetwork {
            names: RawNetwork::numbered(1, n)?,
            edges: self.edges,
            weights,
            directed,
            lines: self.lines,
            ..RawNetwork::default()
        })
    }

    /// What a banner says: a symmetric matrix holds both ways, and one that is not square is a network
    /// between its rows and its columns.
    fn finish_with(mut self, banner: &Banner, (rows, columns): (u64, u64)) -> Result<RawNetwork> {
        let symmetric = banner.symmetry == Symmetry::Symmetric;
        if rows == columns {
            let raw = self.finish(rows, !symmetric)?;
            return Ok(match symmetric {
                true => RawNetwork { both_ways: true, ..raw },
                false => each_pair_once(raw),
            });
        }
        let names = RawNetwork::two_sided(1, rows, columns)?;
        self.edges.iter_mut().for_each(|e| e.1 += rows as u32);
        let raw = self.finish(rows + columns, false)?;
        Ok(RawNetwork { names, ..raw }.with_first_side(rows as usize))
    }
}

/// The counts on the size line, and its number.
fn size_line<const K: usize>(line: Option<(usize, &str)>, form: &str) -> Result<([u64; K], usize)> {
    let Some((number, line)) = line else {
        return Err(Error::new(format!("there is no size line ({form}) after the banner: add it")));
    };
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let Ok(fields) = <[&str; K]>::try_from(fields) else {
        return Err(Error::new(format!("the line after the banner must give the size ({form})"))
            .at_line(number));
    };
    let mut size = [0; K];
    for (at, field) in fields.iter().enumerate() {
        let what = ["rows", "columns", "entries"][at];
        size[at] = count(field, what).map_err(|error| error.at_line(number))?;
    }
    let vertices = if size[0] == size[1] { size[0] } else { size[0].saturating_add(size[1]) };
    check_count(vertices, "rows and columns").map_err(|error| error.at_line(number))?;
    Ok((size, number))
}

fn coordinate(text: &str, banner: &Banner) -> Result<RawNetwork> {
    let mut lines = data_lines(text);
    let (size, size_at) = size_line(lines.next(), "rows columns entries")?;
    let [n, second, promised]: [u64; 3] = size;
    if banner.symmetry != Symmetry::General {
        check_square(n, second).map_err(|error| error.at_line(size_at))?;
    }
    let mut entries = Entries::default();
    entries.edges.reserve(promised.min(RESERVE) as usize);
    let columns = if banner.pattern { 2 } else { 3 };
    for (number, line) in lines {
        if entries.edges.len() as u64 == promised {
            return Err(Error::new(format!(
                "the size line promises {promised} entries, and this is one more: correct it"
            ))
            .at_line(number));
        }
        entries
            .line((number, line), columns, (n, second))
            .map_err(|error| error.at_line(number))?;
        let last = entries.edges.last();
        if banner.symmetry == Symmetry::Skew && last.is_some_and(|e| e.0 == e.1) {
            return Err(Error::new("a skew-symmetric matrix has no diagonal: remove this entry")
                .at_line(number));
        }
    }
    if (entries.edges.len() as u64) < promised {
        return Err(Error::new(format!(
            "the size line promises {promised} entries, but there are {}: correct it, or complete the file",
            entries.edges.len()
        ))
        .at_line(size_at));
    }
    if banner.symmetry == Symmetry::Skew {
        entries.mirror();
    }
    entries.finish_with(banner, (n, second)).map_err(|e| e.at_line(size_at))
}

/// All values column by column; of a symmetric matrix the lower triangle.
fn array(text: &str, banner: &Banner) -> Result<RawNetwork> {
    let mut lines = data_lines(text);
    let (size, size_at) = size_line(lines.next(), "rows columns")?;
    let [n, second]: [u64; 2] = size;
    if banner.symmetry != Symmetry::General {
        check_square(n, second).map_err(|error| error.at_line(size_at))?;
    }
    let mut values =
        lines.flat_map(|(at, line)| line.split_ascii_whitespace().map(move |value| (at, value)));
    let mut entries = Entries::default();
    for column in 0..second {
        let first = match banner.symmetry {
            Symmetry::General => 0,
            Symmetry::Symmetric => column,
            Symmetry::Skew => column + 1,
        };
        for row in first..n {
            let Some((number, value)) = values.next() else {
                return Err(Error::new(format!(
                    "the matrix ends before row {}, column {}: complete it, or correct its size",
                    row + 1,
                    column + 1
                ))
                .at_line(size_at));
            };
            let value = weight(value).map_err(|error| error.at_line(number))?;
            if value != 0.0 {
                entries.push(row, column, value, number);
            }
        }
    }
    if let Some((number, _)) = values.next() {
        return Err(Error::new(format!(
            "there are more values than a matrix of {n} rows and columns has: correct its size"
        ))
        .at_line(number));
    }
    if banner.symmetry == Symmetry::Skew {
        entries.mirror();
    }
    entries.finish_with(banner, (n, second))
}

/// The first line may be a size: `rows columns entries`, or `vertices edges`. It is one if it gives
/// the number of the lines that follow and their vertices fit. Without a size the largest vertex
/// tells how many there are.
fn without_banner(text: &str) -> Result<RawNetwork> {
    let mut rest = data_lines(text);
    let Some((first, line)) = rest.next() else {
        return Err(Error::new("this file has comments only: there is no matrix in it"));
    };
    let here = |error: Error| error.at_line(first);
    let numbers: Option<Vec<u64>> =
        line.split_ascii_whitespace().map(|field| field.parse().ok()).collect();
    let size = numbers.filter(|numbers| matches!(numbers.len(), 2 | 3)).unwrap_or_default();
    let ends = |line: &str| -> Option<u64> {
        line.split_ascii_whitespace().take(2).filter_map(|field| field.parse().ok()).max()
    };
    let largest = rest.clone().filter_map(|(_, line)| ends(line)).max().unwrap_or(0);
    let follow = rest.clone().count() as u64;
    let columns = rest.clone().next().map(|(_, line)| line.split_ascii_whitespace().count());
    let [n, second, promised] = match size[..] {
        [n, promised] => [n, n, promised],
        [n, second, promised] => [n, second, promised],
        _ => [0, 0, u64::MAX],
    };
    let square = size.len() == 3 && n == second;
    if promised == follow && (n.max(second) >= largest || square) {
        check_square(n, second).map_err(here)?;
        check_count(n, "vertices").map_err(here)?;
        return entries_of(rest, n)?.finish(n, false).map_err(here);
    }
    // A line unlike the others, or one with a larger number than all vertices: hardly an edge.
    let unlike = columns.is_some_and(|columns| columns != size.len());
    let beyond = largest > 0 && n >= largest && (square || (size.len() == 2 && promised > largest));
    if !size.is_empty() && (unlike || beyond) {
        return Err(here(Error::new(format!(
            "this line looks like a size that promises {promised} entries, but {follow} follow: correct or remove it"
        ))));
    }
    let entries = entries_of(data_lines(text), MAX_ITEMS)?;
    let n = entries.edges.iter().map(|e| u64::from(e.0.max(e.1)) + 1).max().unwrap_or(0);
    entries.finish(n, false)
}

fn entries_of<'a>(lines: impl Iterator<Item = (usize, &'a str)>, n: u64) -> Result<Entries> {
    let mut entries = Entries::default();
    let mut columns = None;
    for (number, line) in lines {
        let columns =
            *columns.get_or_insert_with(|| line.split_ascii_whitespace().count().clamp(2, 3));
        entries.line((number, line), columns, (n, n)).map_err(|error| error.at_line(number))?;
    }
    Ok(entries)
}

/// Writes a general matrix if the network is directed and a symmetric one otherwise, with repeated
/// entries for repeated edges. Names are lost: vertices are numbered from 1.
pub(super) fn write(network: &RawNetwork, out: &mut dyn Write) -> io::Result<()> {
    let field = if network.weights.is_some() { "real" } else { "pattern" };
    let symmetry = if network.directed { "general" } else { "symmetric" };
    let (n, entries) = (network.n(), network.edges.len());
    writeln!(out, "%%MatrixMarket matrix coordinate {field} {symmetry}\n{n} {n} {entries}")?;
    for (e, &(u, v)) in network.edges.iter().enumerate() {
        // Of a symmetric matrix the lower triangle is given.
        let (row, column) = if network.directed { (u, v) } else { (u.max(v), u.min(v)) };
        match &network.weights {
            Some(weights) => writeln!(out, "{} {} {}", row + 1, column + 1, weights[e])?,
            None => writeln!(out, "{} {}", row + 1, column + 1)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::nasty::{self, as_matrix, refused, written};
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn expect(text: &str, n: usize, edges: &[(u32, u32)], weights: Option<&[f64]>, directed: bool) {
        let network = parse(text).unwrap();
        assert_eq!(network.names, (1..=n).map(|v| v.to_string()).collect::<Vec<_>>(), "{text}");
        assert_eq!((&network.edges[..], network.directed), (edges, directed), "{text}");
        assert_eq!(network.weights.as_deref(), weights, "{text}");
    }

    #[test]
    fn with_banner() {
        let general =
            "%%MatrixMarket matrix coordinate real general\n% x\n\n3 3 2\n1 3 0\n2 2 -1e1\n";
        expect(general, 3, &[(0, 2), (1, 1)], Some(&[0.0, -10.0]), true);
        let pattern = "%%matrixmarket MATRIX Coordinate Pattern Symmetric\r\n2 2 1\r\n2 1\r\n";
        expect(pattern, 2, &[(1, 0)], None, false);
        let skew = "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 5\n";
        expect(skew, 2, &[(1, 0), (0, 1)], Some(&[5.0, -5.0]), true);
        let array = "%%MatrixMarket matrix array real general\n2 2\n0\n1\n2\n3\n";
        expect(array, 2, &[(1, 0), (0, 1), (1, 1)], Some(&[1.0, 2.0, 3.0]), true);
        let both = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 3\n2 1 3\n";
        expect(both, 2, &[(0, 1)], Some(&[3.0]), false);
        let lower = "%%MatrixMarket matrix array real symmetric\n2 2\n0 1 3\n";
        expect(lower, 2, &[(1, 0), (1, 1)], Some(&[1.0, 3.0]), false);
        let skew = "%%MatrixMarket matrix array real skew-symmetric\n2 2\n7\n";
        expect(skew, 2, &[(1, 0), (0, 1)], Some(&[7.0, -7.0]), true);
    }

    #[test]
    fn as_people_have_them() {
        expect("4 2\n2 1\n3 1\n", 4, &[(1, 0), (2, 0)], None, false);
        expect("% x\n4 4 1\n2 1 0.5\n", 4, &[(1, 0)], Some(&[0.5]), false);
        expect("4 4 1\n2 1\n", 4, &[(1, 0)], None, false);
        expect("\n2 1\n4 1\n3 2\n", 4, &[(1, 0), (3, 0), (2, 1)], None, false);
        expect("1 2\n1 3\n2 3\n", 3, &[(0, 1), (0, 2), (1, 2)], None, false);
        expect("2 1 9\n", 2, &[(1, 0)], Some(&[9.0]), false);
    }

    #[test]
    fn refusals() {
        let general =
            |rest: &str| parse(&format!("%%MatrixMarket matrix coordinate real general\n{rest}"));
        refused(general("2 3 1\n3 3 1"), 3, "vertex 3");
        refused(
            parse("%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1"),
            2,
            "square",
        );
        let bipartite = general("2 3 1\n1 3 1").unwrap();
        assert_eq!((bipartite.edges, bipartite.names.len()), (vec![(0, 4)], 5));
        refused(general("2 2\n1 1 1"), 2, "size");
        refused(general("2 2 2\n1 1 1"), 2, "promises 2 entries");
        refused(general("2 2 1\n1 1 1\n\n1 2 1"), 5, "one more");
        refused(general("2 2 1\n0 1 1"), 3, "from 1");
        refused(general("2 2 1\n3 1 1"), 3, "vertex 3");
        refused(general("2 2 1\n1 1"), 3, "3 columns");
        refused(general("2 2 1\n1 1 nan"), 3, "finite");
        refused(general("1000000000000 1000000000000 1\n1 1 1"), 2, "promises");
        refused(general("268435456 268435456 1\n1 1 1"), 2, "only 1 edges");
        assert!(general("").unwrap_err().to_string().contains("size line"));
        refused(parse("%%MatrixMarket matrix coordinate complex general"), 1, "complex");
        refused(parse("%%MatrixMarket matrix array pattern general"), 1, "contradicts");
        refused(
            parse("%%MatrixMarket matrix array real general\n2 2\n1 2 3"),
            2,
            "row 2, column 2",
        );
        refused(parse("%%MatrixMarket matrix array real general\n1 1\n1\n2"), 4, "more values");
        refused(
            parse("%%MatrixMarket matrix coordinate real skew-symmetric\n1 1 1\n1 1 1"),
            3,
            "diagonal",
        );
        refused(parse("769 16656\n5 1\n31 1\n"), 1, "promises 16656");
        refused(parse("5 5 7\n5 1\n3 1\n"), 1, "promises 7");
        refused(parse("2 3 1\n1 1\n"), 1, "square");
        refused(parse("1 2\n1 2 3\n"), 1, "promises 2");
        refused(parse("2 1\n4 1\n0 2\n"), 3, "from 1");
        refused(parse("x y\n"), 1, "'x'");
        assert!(parse("").is_err() && parse("% only\n").is_err());
    }

    proptest! {
        #![proptest_config(nasty::config())]

        #[test]
        fn round_trip(network in nasty::network()) {
            let read = parse(&written(&network, write)).unwrap();
            prop_assert!(network.directed || !read.directed);
            prop_assert_eq!(as_matrix(&nasty::both_ways(&read)), as_matrix(&nasty::both_ways(&network)));
            prop_assert_eq!(read.weights.is_some(), network.weights.is_some());
        }

        #[test]
        fn anything(text in nasty::soup(&["%%MatrixMarket matrix coordinate real general\n", "%%MatrixMarket matrix array integer symmetric\n", "3 3 3\n", "2 2\n", "%"])) {
            let _ = parse(&text);
        }

        #[test]
        fn damaged(network in nasty::network(), damage in nasty::damage()) {
            let bytes = nasty::damaged(&written(&network, write), &damage);
            let _ = parse(&String::from_utf8_lossy(&bytes));
        }
    }
}
