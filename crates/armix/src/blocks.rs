//! What the blocks of a partition look like in the data: densities of links, probabilities of
//! features.

use crate::data::{BinaryTable, Column, Data, Graph, Kind, MISSING, Table};
use crate::relations::Relations;
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

/// How often a column is one in a block, or has a level; or the mean of its numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Feature {
    /// The column, counted from 0.
    pub column: usize,
    /// Its level that tells most, if it has levels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// Its probability in the block, or the mean of its numbers there.
    pub probability: Interval,
    /// The fraction of ones in all rows, or of the level, or the mean; `None` if no value was observed.
    pub overall: Option<f64>,
}

impl Feature {
    /// The column's name, with the level if there is one.
    pub fn name(&self, columns: &[String]) -> String {
        let column = match columns.get(self.column) {
            Some(name) => name.clone(),
            None => format!("column {}", self.column + 1),
        };
        self.level.as_ref().map_or_else(|| column.clone(), |level| format!("{column} = {level}"))
    }
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
            Data::Relations(relations) => {
                Blocks::Densities(link_densities(relations, beta, labels))
            }
            Data::Columns(table) => Blocks::Features(typed_features(table, labels)),
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

/// The probabilities of links of the first relation, from the block of the row to that of the column.
fn link_densities(
    relations: &Relations,
    beta: (f64, f64),
    labels: &[u32],
) -> Vec<Vec<Option<Interval>>> {
    let (blocks, relation) = (count(labels), &relations.list()[0]);
    let directed = relation.shape.directed;
    let mut sizes = vec![[0u64; 2]; blocks];
    let side = |v: usize| relations.sides().map_or(0, |sides| usize::from(sides[v]));
    labels.iter().enumerate().for_each(|(v, &label)| sizes[label as usize][side(v)] += 1);
    let at = |k: usize, l: usize| match directed {
        true => k * blocks + l,
        false => k.min(l) * blocks + k.max(l),
    };
    let (mut linked, mut hidden) = (vec![0u64; blocks * blocks], vec![0u64; blocks * blocks]);
    let place = |u: u32, v: u32| at(labels[u as usize] as usize, labels[v as usize] as usize);
    relation.entries().for_each(|(u, v, _)| linked[place(u, v)] += 1);
    relation.hidden_pairs().for_each(|(u, v)| hidden[place(u, v)] += 1);
    let pairs = |k: usize, l: usize| {
        let ([a, b], [c, d]) = (sizes[k], sizes[l]);
        let loops = u64::from(relation.shape.loops) * a;
        match (relations.sides().is_some(), k == l, directed) {
            (true, true, _) => a * b,
            (true, false, _) => a * d + b * c,
            (false, false, _) => a * c,
            (false, true, true) => a * (a - 1) + loops,
            (false, true, false) => a * (a - 1) / 2 + loops,
        }
    };
    let density = |k: usize, l: usize| {
        let observed = pairs(k, l) - hidden[at(k, l)];
        let ones = linked[at(k, l)];
        (observed > 0).then(|| Interval::of_probability(ones, observed - ones, beta))
    };
    let shown = |k: usize, l: usize| k == l || blocks <= MOST_BETWEEN;
    let row = |k: usize| (0..blocks).map(|l| density(k, l).filter(|_| shown(k, l))).collect();
    (0..if blocks <= MOST_BLOCKS { blocks } else { 0 }).map(row).collect()
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
            Feature { column, level: None, probability, overall: overall[column] }
        };
        columns.into_iter().take(MOST_FEATURES).map(feature).collect()
    };
    (0..blocks).map(block).collect()
}

/// The features of columns of any types, by how many standard deviations a block is from all rows.
fn typed_features(table: &Table, labels: &[u32]) -> Vec<Vec<Feature>> {
    let mut found: Vec<Vec<(f64, Feature)>> = vec![Vec::new(); count(labels)];
    for (at, column) in table.columns().iter().enumerate() {
        match column.kind() {
            Kind::Categorical => {
                // Of all levels, the one that tells most of each block.
                let mut best: Vec<Option<(f64, Feature)>> = vec![None; found.len()];
                for (level, name) in column.names().iter().enumerate() {
                    let is = |x: f64| f64::from(u8::from(x == level as f64));
                    let each = feature(at, Some(name), column, &is, labels);
                    for (best, new) in best.iter_mut().zip(each) {
                        if best.as_ref().is_none_or(|old| new.0 > old.0) {
                            *best = Some(new);
                        }
                    }
                }
                found.iter_mut().zip(best).for_each(|(list, best)| list.extend(best));
            }
            _ => {
                let each = feature(at, None, column, &|x| x, labels);
                found.iter_mut().zip(each).for_each(|(list, new)| list.push(new));
            }
        }
    }
    let sorted = |mut list: Vec<(f64, Feature)>| {
        list.sort_by(|a, b| b.0.total_cmp(&a.0));
        list.into_iter().take(MOST_FEATURES).map(|(_, feature)| feature).collect()
    };
    found.into_iter().map(sorted).collect()
}

/// The means of a function of a column by block, and how far they are from that of all rows. Intervals are
/// 1.96 standard errors wide on either side.
fn feature(
    at: usize,
    level: Option<&String>,
    column: &Column,
    of: &dyn Fn(f64) -> f64,
    labels: &[u32],
) -> Vec<(f64, Feature)> {
    let mut sums = vec![(0.0, 0.0); count(labels)];
    let (mut n, mut mean) = (0.0, 0.0);
    for (&x, &label) in column.cells().iter().zip(labels).filter(|(x, _)| !x.is_nan()) {
        let sum = &mut sums[label as usize];
        *sum = (sum.0 + 1.0, sum.1 + of(x));
        n += 1.0;
        mean += (of(x) - mean) / n;
    }
    let centre: Vec<f64> = sums.iter().map(|(n, sum)| sum / n).collect();
    let mut squares = vec![0.0; sums.len()];
    let mut all = 0.0;
    for (&x, &label) in column.cells().iter().zip(labels).filter(|(x, _)| !x.is_nan()) {
        squares[label as usize] += (of(x) - centre[label as usize]).powi(2);
        all += (of(x) - mean).powi(2);
    }
    let spread = (all / f64::max(n, 1.0)).sqrt().max(f64::MIN_POSITIVE);
    (sums.iter().zip(&squares).zip(&centre))
        .map(|(((n, _), square), &centre)| {
            // A block without values knows what all rows say.
            let centre = if *n > 0.0 { centre } else { mean };
            let error = 1.96 * (square / f64::max(n - 1.0, 1.0) / f64::max(*n, 1.0)).sqrt();
            let probability =
                Interval { mean: centre, lower: centre - error, upper: centre + error };
            let feature =
                Feature { column: at, level: level.cloned(), probability, overall: Some(mean) };
            ((centre - mean).abs() / spread, feature)
        })
        .collect()
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

    #[test]
    fn features_of_any_columns() {
        let names = vec!["x".to_string(), "y".to_string()];
        let table = Table::new(vec![
            Column::reals(vec![1.0, 3.0, 11.0, f64::NAN]),
            Column::levels(names, vec![0.0, 0.0, 1.0, 1.0]),
            Column::counts(vec![2.0; 4]),
        ]);
        let Blocks::Features(blocks) =
            Blocks::new(&Data::Columns(table.unwrap()), (1.0, 1.0), &[0, 0, 1, 1])
        else {
            panic!("a table has features")
        };
        let columns = ["size".to_string(), "kind".to_string()];
        let said: Vec<(String, f64)> =
            blocks[1].iter().map(|f| (f.name(&columns), f.probability.mean)).collect();
        assert_eq!(said[0], ("size".into(), 11.0));
        assert!(said[1].0 == "kind = x" && said[1].1 == 0.0 || said[1] == ("kind = y".into(), 1.0));
        assert_eq!(said[2], ("column 3".into(), 2.0));
        assert_eq!(blocks[1][0].overall, Some(5.0));
    }
}
