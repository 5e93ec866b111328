//! Dense matrices as text: a square of numbers, separated by commas, semicolons, tabs or blanks,
//! with or without names above the columns and before the rows.

use super::fields::{data_lines, unique_or, unwritable};
use super::raw::{Lines, RawNetwork};
use crate::error::{Error, Result};
use std::borrow::Cow;
use std::io::{self, Write};

/// Reads a matrix. Zeros are no edges; of pairs that are empty, NaN, NA or ? nothing is known. A symmetric matrix is an undirected network and gives each
/// pair once; every other is directed. Without names, vertices are numbered from 0. If all that is
/// not zero is one, there are no weights.
pub(super) fn parse(text: &str) -> Result<RawNetwork> {
    let mut lines = data_lines(text);
    let rows = lines.clone().count();
    let Some((first_at, first)) = lines.clone().next() else {
        return Err(Error::new("this file is empty: there is no matrix in it"));
    };
    let separator = separator(first);
    let mut head = Vec::new();
    let mut cells = Vec::new();
    let width = width(lines.clone(), separator)?;
    split_to(width, first, separator, &mut head).map_err(|error| error.at_line(first_at))?;
    if let Some((at, second)) = lines.clone().nth(1) {
        split_to(width, second, separator, &mut cells).map_err(|error| error.at_line(at))?;
    }
    let shape = Shape::of(rows, &head, &cells).map_err(|error| error.at_line(first_at))?;
    let n = shape.n;
    let mut names: Vec<String> = if shape.titles {
        lines.next();
        head[head.len() - n..].iter().map(ToString::to_string).collect()
    } else {
        (0..n).map(|v| v.to_string()).collect()
    };
    let mut edges = Vec::new();
    let (mut weights, mut hidden) = (Vec::new(), Vec::new());
    let mut places = Lines::default();
    let skip = usize::from(shape.named);
    for (row, (number, line)) in lines.enumerate() {
        split_to(width, line, separator, &mut cells).map_err(|error| error.at_line(number))?;
        if cells.len() != n + skip {
            return Err(Error::new(format!(
                "this row has {} cells, the first one {}: every row needs the same number",
                cells.len(),
                n + skip
            ))
            .at_line(number));
        }
        if shape.named {
            names[row] = cells[0].to_string();
        }
        for (column, cell) in cells[skip..].iter().enumerate() {
            let value = match cell.parse::<f64>() {
                _ if is_unknown(cell) => {
                    hidden.push((row as u32, column as u32));
                    continue;
                }
                Ok(value) if value.is_finite() => value,
                _ => return Err(bad_cell(row, column, cell).at_line(number)),
            };
            if value != 0.0 {
                edges.push((row as u32, column as u32));
                weights.push(value);
                places.push(number);
            }
        }
    }
    let directed = !is_symmetric(n, &edges, &weights);
    if !directed {
        let mut upper = edges.iter().map(|e| e.0 <= e.1);
        weights.retain(|_| upper.next() == Some(true));
        let mut upper = edges.iter().map(|e| e.0 <= e.1);
        places.0.retain(|_| upper.next() == Some(true));
        edges.retain(|e| e.0 <= e.1);
    }
    let weights = weights.iter().any(|&w| w != 1.0).then_some(weights);
    let names = unique_or(names, || (0..n).map(|v| v.to_string()).collect());
    let both_ways = !directed;
    Ok(RawNetwork {
        names,
        edges,
        weights,
        directed,
        both_ways,
        hidden,
        lines: places,
        ..RawNetwork::default()
    })
}

/// The number of vertices, and whether there are names above the columns and before the rows.
struct Shape {
    n: usize,
    titles: bool,
    named: bool,
}

impl Shape {
    /// What a number of rows, the first and the second can mean.
    fn of(rows: usize, first: &[Cow<str>], second: &[Cow<str>]) -> Result<Shape> {
        let is_number = |cell: &Cow<str>| cell.parse::<f64>().is_ok();
        let counts = |from: usize| (from..).zip(first).all(|(v, cell)| *cell == v.to_string());
        let are_titles = || !first.iter().all(is_number) || counts(0) || counts(1);
        let columns = if rows == 1 { first.len() } else { second.len() };
        let corner = first.len() == columns;
        if rows == columns && (!corner || !first.first().is_some_and(is_number)) {
            if rows > 1 && (corner || first.len() + 1 == columns) {
                return Ok(Shape { n: rows - 1, titles: true, named: true });
            }
        } else if corner && rows == columns {
            return Ok(Shape { n: rows, titles: false, named: false });
        } else if corner && rows == columns + 1 && are_titles() {
            return Ok(Shape { n: columns, titles: true, named: false });
        } else if corner && rows + 1 == columns && !first.first().is_some_and(is_number) {
            return Ok(Shape { n: rows, titles: false, named: true });
        }
        Err(Error::new(format!(
            "this matrix is not square: there are {rows} rows, the first with {} cells{}; the matrix of a network has as many columns as rows",
            first.len(),
            if corner { String::new() } else { format!(" and the second with {columns}") }
        )))
    }
}

/// Cells that say that nothing is known.
fn is_unknown(cell: &str) -> bool {
    cell.is_empty() || cell == "?" || ["nan", "na"].iter().any(|x| cell.eq_ignore_ascii_case(x))
}

fn bad_cell(row: usize, column: usize, cell: &str) -> Error {
    let place = format!("row {}, column {}", row + 1, column + 1);
    Error::new(match cell.parse::<f64>() {
        Ok(_) => format!("{place} holds {cell}, which is not finite: write a finite number"),
        Err(_) => format!("{place} holds '{cell}', which is not a number (like 2.5)"),
    })
}

/// The character that separates cells, judged by the first line; none means blanks.
fn separator(line: &str) -> Option<char> {
    // Every other piece stands between quotation marks.
    let outside = |separator: char| line.split('"').step_by(2).any(|text| text.contains(separator));
    ['\t', ';', ','].into_iter().find(|&separator| outside(separator))
}

/// The cells of a line, without blanks around them or their quotation marks. A separator at the end
/// ends the last cell.
pub(super) fn split<'a>(
    line: &'a str,
    separator: Option<char>,
    cells: &mut Vec<Cow<'a, str>>,
) -> Result<()> {
    cells.clear();
    if !line.contains('"') {
        match separator {
            None => cells.extend(line.split_whitespace().map(Cow::Borrowed)),
            Some(separator) => {
                let line = line.strip_suffix(separator).unwrap_or(line);
                cells.extend(line.split(separator).map(|cell| Cow::Borrowed(cell.trim())));
            }
        }
        return Ok(());
    }
    let ends = |c: char| separator.map_or(c.is_whitespace(), |separator| c == separator);
    let blank = |c: char| c.is_whitespace() && Some(c) != separator;
    let mut rest = line.trim_start_matches(blank);
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix('"') {
            let mut marks = quoted.match_indices('"').map(|(at, _)| at);
            // Two marks in a row are one mark inside the text.
            let end = loop {
                match marks.next() {
                    None => {
                        return Err(Error::new(
                            "a name in quotation marks does not end: close it, and write a mark inside it twice",
                        ));
                    }
                    Some(at) if quoted[at + 1..].starts_with('"') => drop(marks.next()),
                    Some(at) => break at,
                }
            };
            cells.push(Cow::Owned(quoted[..end].replace("\"\"", "\"")));
            rest = quoted[end + 1..].trim_start_matches(blank);
            if !rest.is_empty() && !rest.starts_with(ends) && separator.is_some() {
                return Err(Error::new("text follows a quotation mark: put a separator between"));
            }
        } else {
            let end = rest.find(ends).unwrap_or(rest.len());
            cells.push(Cow::Borrowed(rest[..end].trim()));
            rest = &rest[end..];
        }
        if let Some(separator) = separator {
            rest = rest.strip_prefix(separator).unwrap_or(rest);
        }
        rest = rest.trim_start_matches(blank);
    }
    Ok(())
}

/// Whether a separator is the last that stands on a line.
fn is_separated(line: &str, separator: Option<char>) -> bool {
    let blank = |c: char| c.is_whitespace() && Some(c) != separator;
    separator.is_some_and(|separator| line.trim_end_matches(blank).ends_with(separator))
}

/// The cells of the longest line, if a separator stands at the end of some lines and not of others; else 0.
fn width<'a>(
    lines: impl Iterator<Item = (usize, &'a str)> + Clone,
    separator: Option<char>,
) -> Result<usize> {
    let mut ends = lines.clone().map(|(_, line)| is_separated(line, separator));
    let first = ends.next();
    if first.is_none_or(|first| ends.all(|next| next == first)) {
        return Ok(0);
    }
    let (mut cells, mut width) = (Vec::new(), 0);
    for (number, line) in lines {
        split(line, separator, &mut cells).map_err(|error| error.at_line(number))?;
        width = width.max(cells.len());
    }
    Ok(width)
}

/// The cells of a line. Where lines without a separator at their end have one cell more, that of this line is empty.
fn split_to<'a>(
    width: usize,
    line: &'a str,
    separator: Option<char>,
    cells: &mut Vec<Cow<'a, str>>,
) -> Result<()> {
    split(line, separator, cells)?;
    if cells.len() + 1 == width && is_separated(line, separator) {
        cells.push(Cow::Borrowed(""));
    }
    Ok(())
}

/// Whether edges in the order of rows and columns equal their mirror image.
fn is_symmetric(n: usize, edges: &[(u32, u32)], weights: &[f64]) -> bool {
    let mut next = vec![0usize; n + 1];
    edges.iter().for_each(|e| next[e.1 as usize + 1] += 1);
    (0..n).for_each(|v| next[v + 1] += next[v]);
    // The mirror image in order has (column, row) at this place.
    edges.iter().zip(weights).all(|(&(u, v), weight)| {
        let at = next[v as usize];
        next[v as usize] += 1;
        edges[at] == (v, u) && weights[at] == *weight
    })
}

/// Writes all cells, separated by commas, with names around them unless these are 0, 1, …. The
/// weights of repeated edges are added, and edges of weight 0 are lost.
pub(super) fn write(network: &RawNetwork, out: &mut dyn Write) -> io::Result<()> {
    let n = network.n();
    let counted = (0..).zip(&network.names).all(|(v, name): (usize, _)| *name == v.to_string());
    let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); n];
    for (e, &(u, v)) in network.edges.iter().enumerate() {
        rows[u as usize].push((v, network.weight(e)));
        if !network.directed && u != v {
            rows[v as usize].push((u, network.weight(e)));
        }
    }
    if !counted {
        for name in &network.names {
            write!(out, ",{}", quote(name)?)?;
        }
        writeln!(out)?;
    }
    let mut cells = vec![0.0; n];
    for (row, entries) in rows.iter().enumerate() {
        entries.iter().for_each(|&(column, weight)| cells[column as usize] += weight);
        if !counted {
            write!(out, "{},", quote(&network.names[row])?)?;
        }
        for (column, cell) in cells.iter().enumerate() {
            if !cell.is_finite() {
                return Err(unwritable("the weights of a repeated edge add up to infinity"));
            }
            write!(out, "{}{cell}", if column == 0 { "" } else { "," })?;
        }
        writeln!(out)?;
        entries.iter().for_each(|&(column, _)| cells[column as usize] = 0.0);
    }
    Ok(())
}

/// A name, in quotation marks where it could be taken for something else.
fn quote(name: &str) -> io::Result<Cow<'_, str>> {
    if name.contains('\n') {
        return Err(unwritable("a name has a line break"));
    }
    let plain = !name.is_empty()
        && name.trim() == name
        && !name.contains(['"', ',', ';', '\t'])
        && !name.starts_with(['#', '%', '\u{feff}']);
    Ok(if plain { name.into() } else { format!("\"{}\"", name.replace('"', "\"\"")).into() })
}

#[cfg(test)]
mod tests {
    use super::super::nasty::{self, refused, written};
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn expect(
        text: &str,
        names: &[&str],
        edges: &[(u32, u32)],
        weights: Option<&[f64]>,
        directed: bool,
    ) {
        let network = parse(text).unwrap();
        assert_eq!((&network.edges[..], network.directed), (edges, directed), "{text}");
        assert_eq!(network.names, names, "{text}");
        assert_eq!(network.weights.as_deref(), weights, "{text}");
    }

    #[test]
    fn separators_and_symmetry() {
        expect("0,1\r\n1,0\r\n\r\n", &["0", "1"], &[(0, 1)], None, false);
        expect(
            "# x\n 1.0e0  2 \n  2\t0\n",
            &["0", "1"],
            &[(0, 0), (0, 1)],
            Some(&[1.0, 2.0]),
            false,
        );
        expect("0\t1\t\n0\t0\t\n", &["0", "1"], &[(0, 1)], None, true);
        expect("0;1\n-1;0\n", &["0", "1"], &[(0, 1), (1, 0)], Some(&[1.0, -1.0]), true);
        expect("\u{feff}0\n", &["0"], &[], None, false);
    }

    #[test]
    fn names() {
        expect("a,b\n0,1\n1,0\n", &["a", "b"], &[(0, 1)], None, false);
        expect("a 0 1\n\"b c\" 1 0\n", &["a", "b c"], &[(0, 1)], None, false);
        expect(",a,\"b,\"\"c\"\na,0,1\n\"b,\"\"c\",1,0\n", &["a", "b,\"c"], &[(0, 1)], None, false);
        expect("a b\na 0 1\nb 1 0\n", &["a", "b"], &[(0, 1)], None, false);
        expect(",7,3\n7,0,1\n3,1,0\n", &["7", "3"], &[(0, 1)], None, false);
        expect("1,2\n0,1\n1,0\n", &["1", "2"], &[(0, 1)], None, false);
        expect("x,x\n0,1\n1,0\n", &["0", "1"], &[(0, 1)], None, false);
    }

    #[test]
    fn unknown_cells() {
        let network = parse("0,1,?\n1,NaN,NA\n,0,0\n").unwrap();
        assert_eq!((network.edges, network.directed), (vec![(0, 1)], false));
        assert_eq!(network.hidden, [(0, 2), (1, 1), (1, 2), (2, 0)]);
        // A separator at the end of some lines has an empty cell behind it, wherever these lines are.
        for separator in [",", "\t", ";"] {
            for (matrix, hidden) in [
                ("0,1,0,1\n1,0,1,0\n0,1,0,\n1,0,,0\n", [(2, 3), (3, 2)]),
                ("0,1,1,\n1,0,0,0\n1,0,0,1\n,0,1,0\n", [(0, 3), (3, 0)]),
                ("a,b,c,d\n0,1,1,\n1,0,0,0\n1,0,0,1\n,0,1,0\n", [(0, 3), (3, 0)]),
                ("\"a\",0,1,1, \nb,1,0,0,0\nc,1,0,0,1\nd,,0,1,0\n", [(0, 3), (3, 0)]),
            ] {
                let network = parse(&matrix.replace(',', separator)).unwrap();
                assert_eq!((network.n(), &network.hidden[..]), (4, &hidden[..]), "{matrix}");
            }
        }
        let network = parse("0,1,\n1,0\n").unwrap();
        assert_eq!((network.n(), network.hidden.len()), (2, 0));
    }

    #[test]
    fn refusals() {
        refused(parse("a,b\n0,1\ninf,0\n"), 3, "row 2, column 1 holds inf");
        refused(parse("0,1\n1,x\n"), 2, "'x'");
        refused(parse("0,1,0\n1,0,0\n"), 1, "not square");
        refused(parse("5,6\n0,1\n1,0\n"), 1, "not square");
        refused(parse("0,1,0\n1,0\n"), 1, "second with 2");
        refused(parse("0,1,1\n1,0,1\n1,0\n"), 3, "2 cells");
        refused(parse("a,b\n0,1\n\"1,0\n"), 3, "does not end");
        refused(parse("a,\"b\"c\n0,1\n1,0\n"), 1, "quotation mark");
        refused(parse("x\n"), 1, "not square");
        assert!(parse("").is_err());
    }

    fn dense(network: &RawNetwork) -> Vec<f64> {
        let n = network.n();
        let mut cells = vec![0.0; n * n];
        for (e, &(u, v)) in network.edges.iter().enumerate() {
            cells[u as usize * n + v as usize] += network.weight(e);
            if !network.directed && u != v {
                cells[v as usize * n + u as usize] += network.weight(e);
            }
        }
        cells
    }

    proptest! {
        #![proptest_config(nasty::config())]

        #[test]
        fn round_trip(network in nasty::network()) {
            prop_assume!(network.n() > 0 && dense(&network).iter().all(|x| x.is_finite()));
            let text = written(&network, write);
            let read = parse(&text).unwrap();
            prop_assert_eq!(&read.names, &network.names, "{}", text);
            prop_assert_eq!(dense(&read), dense(&network), "{}", text);
        }

        #[test]
        fn anything(text in nasty::soup(&["0,1\n", "1,0\n", ",", ";", "\n", "a", "\"b\"", "\"", "0 0\n"])) {
            let _ = parse(&text);
        }

        #[test]
        fn damaged(network in nasty::network(), damage in nasty::damage()) {
            prop_assume!(dense(&network).iter().all(|x| x.is_finite()));
            let bytes = nasty::damaged(&written(&network, write), &damage);
            let _ = parse(&String::from_utf8_lossy(&bytes));
        }
    }
}
