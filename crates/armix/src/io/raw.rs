//! What a file says, before any preparation: the common language of all readers and writers.

use crate::error::{Error, Result};

/// More vertices, rows or columns than this are taken for a mistake in the file.
pub const MAX_ITEMS: u64 = 1 << 28;

/// A network as its file has it: directions, weights, self-loops and repeated edges are all kept.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RawNetwork {
    /// The vertices' names, in the order of the vertices; their number is the number of vertices.
    pub names: Vec<String>,
    /// The edges as pairs of vertex numbers, in file order.
    pub edges: Vec<(u32, u32)>,
    /// One weight for each edge, if the file has weights.
    pub weights: Option<Vec<f64>>,
    /// Whether an edge has a direction. A matrix is directed unless its file says that it is
    /// symmetric.
    pub directed: bool,
    /// Whether the file says that an edge has no direction, so that it holds both ways. An edge list
    /// does not tell.
    pub both_ways: bool,
    /// Pairs of which the file says that nothing is known.
    pub hidden: Vec<(u32, u32)>,
    /// Which of two sides each vertex is on, if the file says so.
    pub sides: Option<Vec<bool>>,
    /// What the weights 0, 1, … stand for, if the file has words in their place.
    pub kinds: Vec<String>,
    /// The line, counted from 1, on which the first of these words stands.
    pub kinds_from: Option<usize>,
    /// Where the edges stand.
    pub lines: Lines,
}

/// The line on which each edge stands, counted from 1, for messages; none if the file has no lines. Networks are equal wherever
/// their edges stand.
#[derive(Debug, Clone, Default)]
pub struct Lines(pub Vec<u32>);

impl PartialEq for Lines {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Lines {
    /// One more edge.
    pub fn push(&mut self, line: usize) {
        self.0.push(u32::try_from(line).unwrap_or(u32::MAX));
    }
}

impl RawNetwork {
    /// The number of vertices.
    pub fn n(&self) -> usize {
        self.names.len()
    }

    /// The weight of an edge, 1 if the file has none.
    pub fn weight(&self, edge: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |w| w[edge])
    }

    /// An error that is about an edge, placed at its line if that is known.
    pub fn at_edge(&self, edge: usize, error: Error) -> Error {
        match self.lines.0.get(edge) {
            Some(&line) => error.at_line(line as usize),
            None => error,
        }
    }

    /// Makes the first vertices one side and all others the second.
    pub fn with_first_side(mut self, rows: usize) -> Self {
        self.sides = Some((0..self.n()).map(|v| v >= rows).collect());
        self
    }

    /// Names r0, r1, … and c0, c1, … for two sides that are numbered apart.
    pub fn two_sided(first: u64, rows: u64, columns: u64) -> Result<Vec<String>> {
        check_count(rows.saturating_add(columns), "vertices")?;
        let row = (first..first + rows).map(|v| format!("r{v}"));
        Ok(row.chain((first..first + columns).map(|v| format!("c{v}"))).collect())
    }

    /// Names `first`, `first` + 1, … for n vertices; an error if n is beyond all reason.
    pub fn numbered(first: u64, n: u64) -> Result<Vec<String>> {
        check_count(n, "vertices")?;
        Ok((first..first + n).map(|v| v.to_string()).collect())
    }
}

/// A column of a table: its name and its cells as text, `None` where a cell is missing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RawColumn {
    /// The name from the header, or the column's number counted from 1.
    pub name: String,
    /// The cells from top to bottom.
    pub cells: Vec<Option<String>>,
}

/// A table as its file has it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RawTable {
    /// The columns, all equally long.
    pub columns: Vec<RawColumn>,
    /// The line of the file on which each row stands, for messages; empty if the file has no lines.
    pub lines: Vec<usize>,
}

impl RawTable {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |c| c.cells.len())
    }
}

/// What a file holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Raw {
    /// A network.
    Network(RawNetwork),
    /// A table.
    Table(RawTable),
}

/// Refuses counts that no file of this size can mean.
pub fn check_count(count: u64, what: &str) -> Result<()> {
    if count > MAX_ITEMS {
        return Err(Error::new(format!(
            "the file promises {count} {what}; at most {MAX_ITEMS} can be read"
        )));
    }
    Ok(())
}
