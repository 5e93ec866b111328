//! What is clustered: a network or a table.

mod table;

pub use table::{Column, Kind, MAX_COUNT, MAX_REAL, MIN_DEVIATION, Table};

use crate::error::{Error, Result};
use crate::relations::Relations;

/// Items are numbered with 32 bits; the last number means "nowhere".
const MAX_ITEMS: usize = u32::MAX as usize - 1;

/// Which vertices go with which, stored twice (once from either end) in rows.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Adjacency {
    start: Vec<usize>,
    neighbours: Vec<u32>,
}

impl Adjacency {
    /// Of pairs that are sorted and different.
    fn new(n: usize, pairs: &[(u32, u32)]) -> Self {
        let mut start = vec![0usize; n + 1];
        for &(u, v) in pairs {
            start[u as usize + 1] += 1;
            start[v as usize + 1] += 1;
        }
        for v in 0..n {
            start[v + 1] += start[v];
        }
        let mut next = start.clone();
        let mut neighbours = vec![0; 2 * pairs.len()];
        for &(u, v) in pairs {
            for (from, to) in [(u, v), (v, u)] {
                neighbours[next[from as usize]] = to;
                next[from as usize] += 1;
            }
        }
        Adjacency { start, neighbours }
    }

    #[inline]
    fn of(&self, v: usize) -> &[u32] {
        &self.neighbours[self.start[v]..self.start[v + 1]]
    }

    fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let from = |u: usize| self.of(u).iter().map(move |&v| (u as u32, v));
        (0..self.start.len() - 1).flat_map(from).filter(|(u, v)| u < v)
    }
}

/// A simple undirected network. Of some pairs it may be unknown whether they are linked.
///
/// ```
/// let graph = armix::data::Graph::new(3, &[(0, 1), (1, 0), (2, 2)]).unwrap();
/// assert_eq!((graph.n(), graph.edges()), (3, 1)); // duplicates collapse, loops go
/// assert_eq!(graph.neighbours(1), [0]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    links: Adjacency,
    /// The pairs that were not observed; `None` if all were.
    hidden: Option<Adjacency>,
    /// Self-loops that were left out.
    pub loops_dropped: usize,
    /// Repeated edges that were counted once.
    pub duplicates_dropped: usize,
}

impl Graph {
    /// The network of n vertices with these edges, in either direction and any order. Self-loops
    /// are dropped and repeated edges count once.
    pub fn new(n: usize, edges: &[(u32, u32)]) -> Result<Self> {
        Graph::from_edges(n, edges.to_vec())
    }

    /// [`Graph::new`], in the memory of the edges.
    pub fn from_edges(n: usize, mut edges: Vec<(u32, u32)>) -> Result<Self> {
        check_n(n, "vertices")?;
        if let Some((u, v)) = edges.iter().find(|(u, v)| (*u).max(*v) as usize >= n) {
            return Err(Error::new(format!(
                "edge {u} – {v} does not fit {n} vertices, which are numbered 0 to {}",
                n - 1
            )));
        }
        let all = edges.len();
        edges.retain(|(u, v)| u != v);
        let loops_dropped = all - edges.len();
        edges.iter_mut().for_each(|(u, v)| (*u, *v) = ((*u).min(*v), (*u).max(*v)));
        edges.sort_unstable();
        let with_duplicates = edges.len();
        edges.dedup();
        Ok(Graph {
            links: Adjacency::new(n, &edges),
            hidden: None,
            loops_dropped,
            duplicates_dropped: with_duplicates - edges.len(),
        })
    }

    /// The same network, of which these pairs were not observed, linked or not.
    pub fn hiding(&self, pairs: &[(u32, u32)]) -> Self {
        let hidden = pairs.iter().map(|&(u, v)| (u.min(v), u.max(v))).filter(|(u, v)| u != v);
        let mut hidden: Vec<(u32, u32)> = hidden.chain(self.hidden_pairs()).collect();
        hidden.sort_unstable();
        hidden.dedup();
        let seen = |pair: &(u32, u32)| hidden.binary_search(pair).is_err();
        let links: Vec<(u32, u32)> = self.links().filter(seen).collect();
        Graph {
            links: Adjacency::new(self.n(), &links),
            hidden: (!hidden.is_empty()).then(|| Adjacency::new(self.n(), &hidden)),
            ..self.clone()
        }
    }

    /// All links, each once, the smaller vertex first.
    pub fn links(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.links.pairs()
    }

    /// The pairs that were not observed, each once, the smaller vertex first.
    pub fn hidden_pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.hidden.iter().flat_map(Adjacency::pairs)
    }

    /// Whether some pairs were not observed.
    #[inline]
    pub fn has_hidden(&self) -> bool {
        self.hidden.is_some()
    }

    /// The vertices of which it is not known whether v is linked to them.
    #[inline]
    pub fn unobserved(&self, v: usize) -> &[u32] {
        self.hidden.as_ref().map_or(&[], |hidden| hidden.of(v))
    }

    /// The number of vertices.
    pub fn n(&self) -> usize {
        self.links.start.len() - 1
    }

    /// The number of edges.
    pub fn edges(&self) -> usize {
        self.links.neighbours.len() / 2
    }

    /// The vertices that v is linked to.
    #[inline]
    pub fn neighbours(&self, v: usize) -> &[u32] {
        self.links.of(v)
    }

    /// Whether two vertices are linked.
    pub fn linked(&self, u: usize, v: usize) -> bool {
        self.neighbours(u).contains(&(v as u32))
    }

    /// The connected component of each vertex, and how many there are.
    pub fn components(&self) -> (Vec<u32>, usize) {
        let mut component = vec![u32::MAX; self.n()];
        let mut count = 0;
        let mut queue = Vec::new();
        for start in 0..self.n() {
            if component[start] != u32::MAX {
                continue;
            }
            component[start] = count;
            queue.push(start);
            while let Some(v) = queue.pop() {
                for &u in self.neighbours(v) {
                    if component[u as usize] == u32::MAX {
                        component[u as usize] = count;
                        queue.push(u as usize);
                    }
                }
            }
            count += 1;
        }
        (component, count as usize)
    }

    /// The number of vertices without an edge.
    pub fn isolated(&self) -> usize {
        (0..self.n()).filter(|&v| self.neighbours(v).is_empty()).count()
    }
}

/// What stands in a cell of a [`BinaryTable`] that was not observed.
pub const MISSING: u8 = 2;

/// A table of n rows and d columns of zeros and ones, of which some may be missing.
///
/// ```
/// let table = armix::data::BinaryTable::new(2, 3, vec![0, 1, 1, 1, 0, 0]).unwrap();
/// assert_eq!(table.row(1), [1, 0, 0]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BinaryTable {
    d: usize,
    cells: Vec<u8>,
}

impl BinaryTable {
    /// The table with these cells, row after row: 0, 1 or [`MISSING`].
    pub fn new(n: usize, d: usize, cells: Vec<u8>) -> Result<Self> {
        check_n(n, "rows")?;
        if d == 0 {
            return Err(Error::new("the table has no columns: nothing tells the rows apart"));
        }
        if n.checked_mul(d) != Some(cells.len()) {
            return Err(Error::new(format!(
                "{n} rows of {d} columns need {} cells, not {}",
                n.saturating_mul(d),
                cells.len()
            )));
        }
        if let Some(at) = cells.iter().position(|&c| c > MISSING) {
            return Err(Error::new(format!(
                "row {}, column {}: {} is neither 0 nor 1",
                at / d,
                at % d,
                cells[at]
            )));
        }
        Ok(BinaryTable { d, cells })
    }

    /// The same table, of which these cells (row and column) were not observed.
    pub fn hiding(&self, hidden: &[(u32, u32)]) -> Self {
        let mut table = self.clone();
        for &(row, column) in hidden {
            table.cells[row as usize * self.d + column as usize] = MISSING;
        }
        table
    }

    /// The cells (row and column) that were not observed.
    pub fn missing(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let missing = self.cells.iter().enumerate().filter(|(_, cell)| **cell == MISSING);
        missing.map(|(at, _)| ((at / self.d) as u32, (at % self.d) as u32))
    }

    /// Whether some cells were not observed.
    pub fn has_missing(&self) -> bool {
        self.cells.contains(&MISSING)
    }

    /// The number of rows.
    pub fn n(&self) -> usize {
        self.cells.len() / self.d
    }

    /// The number of columns.
    pub fn d(&self) -> usize {
        self.d
    }

    /// One row.
    #[inline]
    pub fn row(&self, row: usize) -> &[u8] {
        &self.cells[row * self.d..(row + 1) * self.d]
    }
}

pub(crate) fn check_n(n: usize, what: &str) -> Result<()> {
    match n {
        0 => Err(Error::new(format!("there are no {what}: nothing to cluster"))),
        1 => Err(Error::new(format!(
            "there is only one of the {what}: clustering needs at least two"
        ))),
        n if n > MAX_ITEMS => Err(Error::new(format!(
            "{n} {what} are more than the {MAX_ITEMS} that armix can number"
        ))),
        _ => Ok(()),
    }
}

/// What kind of data there is.
#[derive(Debug, Clone, PartialEq)]
pub enum Data {
    /// A network.
    Network(Graph),
    /// A table of zeros and ones.
    Table(BinaryTable),
    /// A network with directions, weights, self-loops, sides or several relations.
    Relations(Relations),
    /// A table of columns of any types.
    Columns(Table),
}

impl Data {
    /// The number of items: vertices or rows.
    pub fn n(&self) -> usize {
        match self {
            Data::Network(graph) => graph.n(),
            Data::Table(table) => table.n(),
            Data::Relations(relations) => relations.n(),
            Data::Columns(table) => table.n(),
        }
    }

    /// The entries that were not observed: pairs of vertices, or row and column.
    pub fn hidden(&self) -> Vec<(u32, u32)> {
        match self {
            Data::Network(graph) => graph.hidden_pairs().collect(),
            Data::Table(table) => table.missing().collect(),
            Data::Relations(relations) => relations.hidden(),
            Data::Columns(table) => table.missing().collect(),
        }
    }
}

/// Data with what is known about them.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// The data.
    pub data: Data,
    /// The items' names: as in the file, or their numbers.
    pub names: Vec<String>,
    /// The names of a table's columns, if it has any.
    pub columns: Vec<String>,
    /// What was done to the data while they were read, each a sentence.
    pub notes: Vec<String>,
    /// Entries that were observed and then hidden, to see how well they are predicted.
    pub held_out: Vec<HeldOut>,
}

/// An entry that was observed and then hidden.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeldOut {
    /// The pair of vertices, or row and column.
    pub entry: (u32, u32),
    /// What it was: 1 for a link or a one, the number of a level, a count, a number.
    pub value: f64,
}

impl Dataset {
    /// Data whose items are named by their numbers.
    pub fn new(data: Data) -> Self {
        Dataset {
            names: (0..data.n()).map(|i| i.to_string()).collect(),
            columns: Vec::new(),
            notes: Vec::new(),
            held_out: Vec::new(),
            data,
        }
    }
}
