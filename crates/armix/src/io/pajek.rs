//! Pajek networks (`.net`): vertices with labels, edges and arcs as pairs, lists or a matrix.
//!
//! The format: V. Batagelj, A. Mrvar, Pajek: reference manual.

use super::fields::{character, check_vertices, count, data_lines, unescape, unique_or};
use super::fields::{vertex, weight};
use super::raw::{Lines, RawNetwork};
use crate::error::{Error, Result};
use std::io::{self, Write};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Vertices,
    Pairs { arcs: bool },
    Lists { arcs: bool },
    Matrix,
}

/// What has been read.
#[derive(Default)]
struct Network {
    /// The number of vertices and the line that says it.
    n: Option<(u64, usize)>,
    /// Labels of vertices, with the line of each.
    labels: Vec<(u32, String, usize)>,
    /// How many of them are the first side of a two-mode network.
    rows: Option<u64>,
    edges: Vec<(u32, u32)>,
    lines: Lines,
    /// For each edge whether it is an arc.
    arcs: Vec<bool>,
    weights: Vec<f64>,
    weighted: bool,
    /// The cells of the matrix that have been read.
    cells: u64,
}

/// Reads a network; it is directed if it has arcs, and each edge beside them then counts in both
/// directions. A missing weight is 1. Names are the labels, or the numbers if two labels are equal.
pub(super) fn parse(text: &str) -> Result<RawNetwork> {
    let mut network = Network::default();
    let mut section = None;
    let mut last = 1;
    for (number, line) in data_lines(text) {
        last = number;
        let line = line.trim();
        if let Some(title) = line.strip_prefix('*') {
            network.end(section).map_err(|error| error.at_line(number))?;
            let mut words = title.split_ascii_whitespace();
            let word = words.next().unwrap_or("").to_ascii_lowercase();
            section = match word.as_str() {
                "network" if section.is_none() => None,
                "vertices" => {
                    network.vertices(words, number).map_err(|error| error.at_line(number))?;
                    Some(Section::Vertices)
                }
                "edges" => Some(Section::Pairs { arcs: false }),
                "arcs" => Some(Section::Pairs { arcs: true }),
                "edgeslist" => Some(Section::Lists { arcs: false }),
                "arcslist" => Some(Section::Lists { arcs: true }),
                "matrix" => Some(Section::Matrix),
                // What follows in a project file does not belong to the network.
                "partition" | "vector" | "permutation" | "cluster" | "hierarchy" => {
                    section = None;
                    break;
                }
                _ => {
                    return Err(Error::new(format!(
                        "the section *{word} cannot be read here: a network has one *Vertices, then *Edges, *Arcs, *Edgeslist, *Arcslist or *Matrix"
                    ))
                    .at_line(number));
                }
            };
        } else {
            network.line(line, section, number).map_err(|error| error.at_line(number))?;
        }
    }
    network.end(section).map_err(|error| error.at_line(last))?;
    network.finish()
}

impl Network {
    fn vertices<'a>(
        &mut self,
        mut words: impl Iterator<Item = &'a str>,
        number: usize,
    ) -> Result<()> {
        if self.n.is_some() {
            return Err(Error::new(
                "there is a second *Vertices: a file holds one network; divide it",
            ));
        }
        let Some(n) = words.next() else {
            return Err(Error::new("*Vertices needs the number of vertices, like *Vertices 34"));
        };
        self.n = Some((count(n, "vertices")?, number));
        // Two numbers: all vertices, and those of the first side.
        if let Some(rows) = words.next().filter(|word| word.bytes().all(|b| b.is_ascii_digit())) {
            self.rows = Some(count(rows, "vertices of the first side")?);
            if self.rows > self.n.map(|(n, _)| n) {
                return Err(Error::new(
                    "the first side of a two-mode network cannot have more vertices than there are",
                ));
            }
        }
        Ok(())
    }

    fn line(&mut self, line: &str, section: Option<Section>, number: usize) -> Result<()> {
        let (Some((n, _)), Some(section)) = (self.n, section) else {
            return Err(Error::new("a Pajek file begins with *Vertices and their number: add it"));
        };
        let mut fields = line.split_ascii_whitespace();
        let first = fields.next().unwrap_or("");
        match section {
            Section::Vertices => {
                let id = vertex(first, 1, n)?;
                if let Some(label) = label(line[first.len()..].trim_start())? {
                    self.labels.push((id, unescape(label, character), number));
                }
            }
            Section::Pairs { arcs } => {
                let u = vertex(first, 1, n)?;
                let Some(second) = fields.next() else {
                    return Err(Error::new("this line has one vertex; an edge has two"));
                };
                // Behind the weight, or in its place, properties for drawing may stand.
                let value = fields.next().filter(|field| field.parse::<f64>().is_ok());
                self.weighted |= value.is_some();
                let value = value.map_or(Ok(1.0), weight)?;
                self.push(u, vertex(second, 1, n)?, arcs, value, number);
            }
            Section::Lists { arcs } => {
                let u = vertex(first, 1, n)?;
                for field in fields {
                    self.push(u, vertex(field, 1, n)?, arcs, 1.0, number);
                }
            }
            Section::Matrix => {
                for field in line.split_ascii_whitespace() {
                    if self.cells == n * n {
                        return Err(Error::new(format!(
                            "the matrix has more than {n} rows of {n} numbers: correct *Vertices or the matrix"
                        )));
                    }
                    let value = weight(field)?;
                    if value != 0.0 {
                        self.weighted |= value != 1.0;
                        let (row, column) = ((self.cells / n) as u32, (self.cells % n) as u32);
                        self.push(row, column, true, value, number);
                    }
                    self.cells += 1;
                }
            }
        }
        Ok(())
    }

    fn push(&mut self, u: u32, v: u32, arc: bool, weight: f64, line: usize) {
        self.edges.push((u, v));
        self.lines.push(line);
        self.arcs.push(arc);
        self.weights.push(weight);
    }

    /// A matrix must be complete when its section ends.
    fn end(&mut self, section: Option<Section>) -> Result<()> {
        let n = self.n.map_or(0, |(n, _)| n);
        let cells = std::mem::take(&mut self.cells);
        if section == Some(Section::Matrix) && cells != n * n {
            return Err(Error::new(format!(
                "the matrix ends after {cells} numbers: {n} rows of {n} are needed"
            )));
        }
        Ok(())
    }

    fn finish(mut self) -> Result<RawNetwork> {
        let Some((n, at)) = self.n else {
            return Err(Error::new("there is no *Vertices in this file: is this a Pajek network?"));
        };
        check_vertices(n, self.edges.len() + self.labels.len()).map_err(|e| e.at_line(at))?;
        let mut names = RawNetwork::numbered(1, n)?;
        let mut named = vec![false; n as usize];
        for (id, label, line) in self.labels {
            if std::mem::replace(&mut named[id as usize], true) {
                return Err(Error::new(format!("vertex {} is there already: remove one", id + 1))
                    .at_line(line));
            }
            names[id as usize] = label;
        }
        let names = unique_or(names, || (1..=n).map(|v| v.to_string()).collect());
        let directed = self.arcs.contains(&true);
        if directed && self.arcs.contains(&false) {
            let (edges, weights, lines) = (self.edges, self.weights, self.lines.0);
            (self.edges, self.weights, self.lines) = (Vec::new(), Vec::new(), Lines::default());
            for (((&(u, v), arc), weight), line) in
                edges.iter().zip(self.arcs).zip(weights).zip(lines)
            {
                for end in [(u, v), (v, u)].into_iter().take(1 + usize::from(!arc && u != v)) {
                    self.edges.push(end);
                    self.weights.push(weight);
                    self.lines.push(line as usize);
                }
            }
        }
        let weights = self.weighted.then_some(self.weights);
        let raw = RawNetwork {
            names,
            edges: self.edges,
            weights,
            directed,
            both_ways: !directed,
            lines: self.lines,
            ..RawNetwork::default()
        };
        Ok(match self.rows {
            Some(rows) => raw.with_first_side(rows as usize),
            None => raw,
        })
    }
}

/// The label at the beginning of a text, up to its quotation mark or a blank.
fn label(text: &str) -> Result<Option<&str>> {
    match text.strip_prefix('"') {
        Some(quoted) => match quoted.find('"') {
            Some(end) => Ok(Some(&quoted[..end])),
            None => Err(Error::new("a label in quotation marks does not end: close it")),
        },
        None => Ok(text.split_ascii_whitespace().next()),
    }
}

/// Writes vertices with their names, and edges or arcs.
pub(super) fn write(network: &RawNetwork, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "*Vertices {}", network.n())?;
    for (v, name) in network.names.iter().enumerate() {
        write!(out, "{} \"", v + 1)?;
        let mut characters = name.chars().peekable();
        while let Some(c) = characters.next() {
            let entity = c == '&' && characters.peek() == Some(&'#');
            if entity || c == '"' || c.is_control() {
                write!(out, "&#{};", c as u32)?;
            } else {
                write!(out, "{c}")?;
            }
        }
        writeln!(out, "\"")?;
    }
    writeln!(out, "{}", if network.directed { "*Arcs" } else { "*Edges" })?;
    for (e, (u, v)) in network.edges.iter().enumerate() {
        match &network.weights {
            Some(weights) => writeln!(out, "{} {} {}", u + 1, v + 1, weights[e])?,
            None => writeln!(out, "{} {}", u + 1, v + 1)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::nasty::{self, refused, written};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sections() {
        let text = "% hi\r\n*Network x\r\n*VERTICES 3\r\n 1 \"a b\" 0.1 0.2 ellipse\r\n3 c\r\n*Arcs\r\n*edges\r\n 1 3 0.5 c Blue\r\n2 1 l x\r\n";
        let network = parse(text).unwrap();
        assert_eq!(network.names, ["a b", "2", "c"]);
        assert_eq!(network.edges, [(0, 2), (1, 0)]);
        assert_eq!((network.weights, network.directed), (Some(vec![0.5, 1.0]), false));
        let mixed =
            parse("*Vertices 3\n*Edgeslist\n1 2 3\n*Arcs :1 \"r\"\n3 1\n*Edges\n2 2\n").unwrap();
        assert_eq!(mixed.edges, [(0, 1), (1, 0), (0, 2), (2, 0), (2, 0), (1, 1)]);
        assert!(mixed.directed && mixed.weights.is_none());
        let arcs = parse("*Vertices 2\n*Arcslist\n1 2\n2\n*Partition x\n*Vertices 2\n").unwrap();
        assert_eq!((arcs.edges, arcs.directed), (vec![(0, 1)], true));
        let matrix = parse("*Vertices 2\n*Matrix\n0 2\n0 1\n").unwrap();
        assert_eq!((matrix.edges, matrix.weights), (vec![(0, 1), (1, 1)], Some(vec![2.0, 1.0])));
        let twins = parse("*Vertices 2\n1 x\n2 x\n").unwrap();
        assert_eq!(twins.names, ["1", "2"]);
        let two_mode = parse("*Vertices 3 1\n*Edges\n1 2\n1 3\n").unwrap();
        assert_eq!(two_mode.sides, Some(vec![false, true, true]));
    }

    #[test]
    fn refusals() {
        refused(parse("1 2\n"), 1, "*Vertices");
        refused(parse("\n*Edges\n1 2\n"), 3, "*Vertices");
        refused(parse("*Vertices\n"), 1, "number");
        refused(parse("*Vertices x\n"), 1, "'x'");
        refused(parse("*Vertices 4 5\n"), 1, "first side");
        refused(parse("*Vertices 4\n*Vertices 4\n"), 2, "second");
        refused(parse("*Vertices 1000000000000\n"), 1, "promises");
        refused(parse("*Vertices 200000000\n"), 1, "only 0 edges");
        refused(parse("*Vertices 2\n3 x\n"), 2, "vertex 3");
        refused(parse("*Vertices 2\n1 \"x\n"), 2, "does not end");
        refused(parse("*Vertices 2\n1 x\n1 y\n"), 3, "already");
        refused(parse("*Vertices 2\n*Edges\n0 1\n"), 3, "from 1");
        refused(parse("*Vertices 2\n*Edges\n1\n"), 3, "two");
        refused(parse("*Vertices 2\n*Edges\n1 2 nan\n"), 3, "finite");
        refused(parse("*Vertices 2\n*Edges\n1 -2\n"), 3, "negative");
        refused(parse("*Vertices 2\n*Events\n"), 2, "*events");
        refused(parse("*Vertices 2\n*Matrix\n0 1 0\n"), 3, "3 numbers");
        refused(parse("*Vertices 1\n*Matrix\n0 1\n"), 3, "more");
        refused(parse("*Vertices 0\n*Matrix\n0\n"), 3, "more");
        assert!(parse("").is_err());
    }

    proptest! {
        #![proptest_config(nasty::config())]

        #[test]
        fn round_trip(network in nasty::network()) {
            let text = written(&network, write);
            prop_assert_eq!(parse(&text).unwrap(), network, "{}", text);
        }

        #[test]
        fn anything(text in nasty::soup(&["\n*Vertices 3\n", "\n*Edges\n", "\n*Arcs\n", "\n*Edgeslist\n", "\n*Arcslist\n", "\n*Matrix\n", "\"a b\"", "\"", "%", "3"])) {
            let _ = parse(&text);
        }

        #[test]
        fn damaged(network in nasty::network(), damage in nasty::damage()) {
            let bytes = nasty::damaged(&written(&network, write), &damage);
            let _ = parse(&String::from_utf8_lossy(&bytes));
        }
    }
}
