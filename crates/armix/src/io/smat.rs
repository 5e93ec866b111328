//! Sparse matrices in the `.smat` form: a line `rows columns entries`, then `row column value`.

use super::fields::{RESERVE, check_square, check_vertices, count, data_lines, vertex, weight};
use super::raw::{Lines, RawNetwork};
use super::square::each_pair_once;
use crate::error::{Error, Result};
use std::io::{self, Write};

/// Reads a square matrix, with vertices numbered from 0: a symmetric one as an undirected network with each pair once, any
/// other as a directed one.
pub(super) fn parse(text: &str) -> Result<RawNetwork> {
    let mut lines = data_lines(text);
    let Some((first, line)) = lines.next() else {
        return Err(Error::new("this file is empty: there is no matrix in it"));
    };
    let (n, promised) = size(line).map_err(|error| error.at_line(first))?;
    let mut edges = Vec::with_capacity(promised.min(RESERVE) as usize);
    let mut weights = Vec::with_capacity(promised.min(RESERVE) as usize);
    let mut places = Lines::default();
    for (number, line) in lines {
        if edges.len() as u64 == promised {
            return Err(Error::new(format!(
                "the first line promises {promised} entries, and this is one more: correct it"
            ))
            .at_line(number));
        }
        let (edge, value) = entry(line, n).map_err(|error| error.at_line(number))?;
        edges.push(edge);
        weights.push(value);
        places.push(number);
    }
    if (edges.len() as u64) < promised {
        return Err(Error::new(format!(
            "the first line promises {promised} entries, but there are {}: correct it, or complete the file",
            edges.len()
        ))
        .at_line(first));
    }
    check_vertices(n, edges.len()).map_err(|error| error.at_line(first))?;
    let weights = (!weights.is_empty()).then_some(weights);
    Ok(each_pair_once(RawNetwork {
        names: RawNetwork::numbered(0, n)?,
        edges,
        weights,
        directed: true,
        lines: places,
        ..RawNetwork::default()
    }))
}

/// The number of vertices and the number of entries.
fn size(line: &str) -> Result<(u64, u64)> {
    let mut fields = line.split_ascii_whitespace();
    let (Some(rows), Some(columns), Some(entries), None) =
        (fields.next(), fields.next(), fields.next(), fields.next())
    else {
        return Err(Error::new("the first line must give the size: rows, columns, entries"));
    };
    let (rows, columns) = (count(rows, "rows")?, count(columns, "columns")?);
    check_square(rows, columns)?;
    Ok((rows, count(entries, "entries")?))
}

fn entry(line: &str, n: u64) -> Result<((u32, u32), f64)> {
    let mut fields = line.split_ascii_whitespace();
    let (Some(row), Some(column), Some(value), None) =
        (fields.next(), fields.next(), fields.next(), fields.next())
    else {
        return Err(Error::new(format!(
            "this line has {} columns; an entry has three: row, column and value",
            line.split_ascii_whitespace().count()
        )));
    };
    Ok(((vertex(row, 0, n)?, vertex(column, 0, n)?), weight(value)?))
}

/// Writes every edge as an entry, an undirected one twice, with its weight or 1. Names are lost:
/// vertices are numbered from 0.
pub(super) fn write(network: &RawNetwork, out: &mut dyn Write) -> io::Result<()> {
    let twice = |&(u, v): &(u32, u32)| !network.directed && u != v;
    let entries = network.edges.len() + network.edges.iter().filter(|e| twice(e)).count();
    writeln!(out, "{n} {n} {entries}", n = network.n())?;
    for (e, edge) in network.edges.iter().enumerate() {
        let (u, v) = *edge;
        writeln!(out, "{u} {v} {}", network.weight(e))?;
        if twice(edge) {
            writeln!(out, "{v} {u} {}", network.weight(e))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::nasty::{self, as_matrix, refused, written};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn entries() {
        let network = parse("\u{feff}3 3 2\r\n2 0 1\r\n0 1 -2.5\r\n\r\n").unwrap();
        assert_eq!(network.names, ["0", "1", "2"]);
        assert_eq!(network.edges, [(2, 0), (0, 1)]);
        assert_eq!(network.weights, Some(vec![1.0, -2.5]));
        assert!(network.directed);
        assert_eq!(parse("2 2 0\n").unwrap().n(), 2);
        let symmetric = parse("3 3 5\n1 0 2\n0 1 2\n2 2 1\n1 2 4\n2 1 4\n").unwrap();
        assert_eq!((symmetric.edges, symmetric.directed), (vec![(0, 1), (2, 2), (1, 2)], false));
        assert_eq!(symmetric.weights, Some(vec![2.0, 1.0, 4.0]));
    }

    #[test]
    fn refusals() {
        refused(parse("2 3 0"), 1, "square");
        refused(parse("2 2"), 1, "size");
        refused(parse("2 2 x"), 1, "'x'");
        refused(parse("2 2 1\n0 1"), 2, "three");
        refused(parse("2 2 1\n0 2 1"), 2, "vertex 2");
        refused(parse("2 2 1\n0 -1 1"), 2, "negative");
        refused(parse("2 2 1\n0 1 inf"), 2, "finite");
        refused(parse("2 2 1\n0 1 1\n\n1 0 1"), 4, "one more");
        refused(parse("2 2 9\n0 1 1"), 1, "promises 9");
        refused(parse("1000000000000 1000000000000 0"), 1, "promises");
        refused(parse("100000000 100000000 0"), 1, "only 0 edges");
        assert!(parse("").is_err());
    }

    proptest! {
        #![proptest_config(nasty::config())]

        #[test]
        fn round_trip(network in nasty::network()) {
            let read = parse(&written(&network, write)).unwrap();
            prop_assert!(network.directed || !read.directed);
            prop_assert_eq!(as_matrix(&nasty::both_ways(&read)), as_matrix(&nasty::both_ways(&network)));
        }

        #[test]
        fn anything(text in nasty::soup(&["3 3 3\n", "1 2 1\n", "2 2"])) {
            let _ = parse(&text);
        }

        #[test]
        fn damaged(network in nasty::network(), damage in nasty::damage()) {
            let bytes = nasty::damaged(&written(&network, write), &damage);
            let _ = parse(&String::from_utf8_lossy(&bytes));
        }
    }
}
