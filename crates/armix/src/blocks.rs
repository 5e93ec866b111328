//! What the blocks of a partition look like in the data: densities of links, probabilities of
//! features.

use crate::data::{BinaryTable, Data, Graph, MISSING};
use crate::special::beta_quantile;
use serde::Serialize;

/// Between more blocks than this, densities are not computed, only within them …
const MOST_BETWEEN: usize = 200;
/// … and of more blocks than this none at all.
const MOST_BLOCKS: usize = 5000;
/// Of each block so many features at most are listed.
const MOST_FEATURES: usize = 1000;

/// A posterior mean with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// The lower end.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
}

impl Interval {
    /// Of a probability with a Beta(β⁺, β⁻) prior after so many ones and zeros.
    pub fn of_probability(ones: u64, zeros: u64, beta: (f64, f64)) -> Self {
        let (a, b) = (ones as f64 + beta.0, zeros as f64 + beta.1);
        Interval {
            mean: a / (a + b),
            lower: beta_quantile(0.025, a, b),
            upper: beta_quantile(0.975, a, b),
        }
    }
}

/// How often a column is one in a block.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Feature {
    /// The column, counted from 0.
    pub column: usize,
    /// Its probability in the block.
    pub probability: Interval,
    /// The fraction of ones in all rows; `None` if no value was observed.
    pub overall: Option<f64>,
}

/// What is known of the blocks of a partition.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Blocks {
    /// The probabilities of links between every two blocks, and within them on the diagonal. `None`
    /// where no pair was observed, between more than 200 blocks; empty for more than 5000.
    Densities(Vec<Vec<Option<Interval>>>),
    /// The features of each block, the most telling first.
    Features(Vec<Vec<Feature>>),
}

impl Blocks {
    /// Of canonical labels.
    pub fn new(data: &Data, beta: (f64, f64), labels: &[u32]) -> Self {
        match data {
            Data::Network(graph) => Blocks::Densities(densities(graph, beta, labels)),
            Data::Table(table) => Blocks::Features(features(table, beta, labels)),
        }
    }
}

fn count(labels: &[u32]) -> usize {
    labels.iter().max().map_or(0, |&m| m as usize + 1)
}

fn densities(graph: &Graph, beta: (f64, f64), labels: &[u32]) -> Vec<Vec<Option<Interval>>> {
    let blocks = count(labels);
    let mut sizes = vec![0u64; blocks];
    labels.iter().for_each(|&label| sizes[label as usize] += 1);
    let mut linked = vec![0u64; blocks * blocks];
    let mut hidden = vec![0u64; blocks * blocks];
    let tally = |counts: &mut Vec<u64>, pairs: &mut dyn Iterator<Item = (u32, u32)>| {
        for (u, v) in pairs {
            let (k, l) = (labels[u as usize] as usize, labels[v as usize] as usize);
            counts[k.min(l) * blocks + k.max(l)] += 1;
        }
    };
    tally(&mut linked, &mut graph.links());
    tally(&mut hidden, &mut graph.hidden_pairs());
    let density = |k: usize, l: usize| {
        let at = k.min(l) * blocks + k.max(l);
        let pairs = if k == l { sizes[k] * (sizes[k] - 1) / 2 } else { sizes[k] * sizes[l] };
        let observed = pairs - hidden[at];
        (observed > 0).then(|| Interval::of_probability(linked[at], observed - linked[at], beta))
    };
    // Between very many blocks there is nothing to read, and much to compute.
    let shown = |k: usize, l: usize| k == l || blocks <= MOST_BETWEEN;
    let mut table = vec![vec![None; blocks]; if blocks <= MOST_BLOCKS { blocks } else { 0 }];
    for k in 0..table.len() {
        for l in (0..=k).filter(|&l| shown(k, l)) {
            table[k][l] = density(k, l);
            table[l][k] = table[k][l];
        }
    }
    table
}

fn features(table: &BinaryTable, beta: (f64, f64), labels: &[u32]) -> Vec<Vec<Feature>> {
    let (blocks, d) = (count(labels), table.d());
    // Ones and zeros by block and column.
    let mut counts = vec![(0u64, 0u64); blocks * d];
    for (row, &label) in labels.iter().enumerate() {
        for (column, &cell) in table.row(row).iter().enumerate() {
            let (ones, zeros) = &mut counts[label as usize * d + column];
            *ones += u64::from(cell == 1);
            *zeros += u64::from(cell != 1 && cell != MISSING);
        }
    }
    let overall: Vec<Option<f64>> = (0..d)
        .map(|column| {
            let of = |k: usize| counts[k * d + column];
            let ones: u64 = (0..blocks).map(|k| of(k).0).sum();
            let all: u64 = (0..blocks).map(|k| of(k).0 + of(k).1).sum();
            (all > 0).then(|| ones as f64 / all as f64)
        })
        .collect();
    // How far the block is from all rows, before intervals are computed for those that are listed.
    let telling = |k: usize, column: usize| {
        let (ones, zeros) = counts[k * d + column];
        let mean = (ones as f64 + beta.0) / ((ones + zeros) as f64 + beta.0 + beta.1);
        overall[column].map_or(-1.0, |overall| (mean - overall).abs())
    };
    let block = |k: usize| {
        let mut columns: Vec<usize> = (0..d).collect();
        columns.sort_by(|&a, &b| telling(k, b).total_cmp(&telling(k, a)));
        let feature = |column: usize| {
            let (ones, zeros) = counts[k * d + column];
            let probability = Interval::of_probability(ones, zeros, beta);
            Feature { column, probability, overall: overall[column] }
        };
        columns.into_iter().take(MOST_FEATURES).map(feature).collect()
    };
    (0..blocks).map(block).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn densities_count_observed_pairs() {
        // Two triangles with one link between them; one pair between them was not observed.
        let edges = [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5), (0, 3)];
        let graph = Graph::new(6, &edges).unwrap().hiding(&[(1, 4)]);
        let labels = [0, 0, 0, 1, 1, 1];
        let Blocks::Densities(table) = Blocks::new(&Data::Network(graph), (1.0, 1.0), &labels)
        else {
            panic!("a network has densities")
        };
        assert!((table[0][0].unwrap().mean - 4.0 / 5.0).abs() < 1e-15);
        assert!((table[0][1].unwrap().mean - 2.0 / 10.0).abs() < 1e-15);
        assert_eq!(table[0][1], table[1][0]);
        // Three links of three: p³ has the 2.5 % quantile at 0.025^(1/4).
        assert!((table[1][1].unwrap().lower - 0.025f64.powf(0.25)).abs() < 1e-12);
        // A block of one vertex has no pairs.
        let Blocks::Densities(table) =
            Blocks::new(&Data::Network(Graph::new(2, &[(0, 1)]).unwrap()), (1.0, 1.0), &[0, 1])
        else {
            panic!("a network has densities")
        };
        assert_eq!(table[0][0], None);
    }

    #[test]
    fn features_are_sorted_by_what_they_tell() {
        let table = BinaryTable::new(4, 2, vec![1, 1, 1, 0, 1, 0, MISSING, 0]).unwrap();
        let Blocks::Features(table) = Blocks::new(&Data::Table(table), (1.0, 1.0), &[0, 1, 1, 1])
        else {
            panic!("a table has features")
        };
        let first = &table[1][0];
        // Column 1: no ones in three rows of the block, one in four overall. Column 0: all ones.
        assert_eq!((first.column, first.overall), (0, Some(1.0)));
        assert!((first.probability.mean - 3.0 / 4.0).abs() < 1e-15);
        let second = &table[1][1];
        assert_eq!((second.column, second.overall), (1, Some(0.25)));
        assert!((second.probability.mean - 1.0 / 5.0).abs() < 1e-15);
    }
}
