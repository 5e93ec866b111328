//! Data that come with the program: small classics typed in from the literature, and generators.

use crate::data::{BinaryTable, Column, Data, Dataset, Graph, Table};
use crate::error::{Error, Result};
use crate::families::normal;
use crate::rng::{Purpose, Rng};

/// The names of the built-in data, with what they are.
pub const LIST: [(&str, &str); 12] = [
    ("karate", "34 members of a karate club (Zachary 1977)"),
    ("southern-women", "18 women at 14 events or not (Davis et al. 1941)"),
    ("four-vertex", "the paper's smallest graph: 0-1, 0-2, 0-3, 2-3"),
    ("bernoulli-1", "the paper's Example 1: 100 rows in 5 blocks, 6 columns"),
    ("bernoulli-2", "the same with 8 columns"),
    ("bernoulli-3", "the same with 10 columns"),
    ("planted:K,size,p_in,p_out", "a network of K blocks, linked within and between"),
    ("mixture:K,size,columns,noise", "K blocks of random rows, with a share of cells flipped"),
    ("levels:K,size,columns", "K blocks of random rows of four levels"),
    ("counts:K,size,columns", "the same with counts"),
    ("reals:K,size,columns", "the same with real numbers"),
    ("grid:WxH", "a grid whose opposite borders touch"),
];

/// Built-in data by name; `None` if no built-in data are called like that. The seed is for the
/// data that are generated at random.
///
/// ```
/// let data = armix::builtin::load("grid:4x5", 1).unwrap().unwrap();
/// assert_eq!(data.data.n(), 20);
/// ```
pub fn load(name: &str, data_seed: u64) -> Option<Result<Dataset>> {
    let network = |graph: Graph| Ok(Dataset::new(Data::Network(graph)));
    Some(match name.split_once(':') {
        None => match name {
            "karate" => network(karate()),
            "southern-women" => Ok(southern_women()),
            "four-vertex" => network(four_vertex()),
            "bernoulli-1" => Ok(Dataset::new(Data::Table(bernoulli(6, data_seed)))),
            "bernoulli-2" => Ok(Dataset::new(Data::Table(bernoulli(8, data_seed)))),
            "bernoulli-3" => Ok(Dataset::new(Data::Table(bernoulli(10, data_seed)))),
            _ => return None,
        },
        Some(("planted", parameters)) => planted(parameters, data_seed).and_then(network),
        Some(("mixture", parameters)) => {
            mixture(parameters, data_seed).map(|table| Dataset::new(Data::Table(table)))
        }
        Some((kind @ ("levels" | "counts" | "reals"), parameters)) => {
            typed(kind, parameters, data_seed).map(|table| Dataset::new(Data::Columns(table)))
        }
        Some(("grid", parameters)) => grid(parameters).and_then(network),
        Some(_) => return None,
    })
}

/// Zachary's karate club.
pub fn karate() -> Graph {
    #[rustfmt::skip]
    const FRIENDS: [(u32, &[u32]); 26] = [
        (0, &[1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 17, 19, 21, 31]),
        (1, &[2, 3, 7, 13, 17, 19, 21, 30]), (2, &[3, 7, 8, 9, 13, 27, 28, 32]), (3, &[7, 12, 13]),
        (4, &[6, 10]), (5, &[6, 10, 16]), (6, &[16]), (8, &[30, 32, 33]), (9, &[33]), (13, &[33]),
        (14, &[32, 33]), (15, &[32, 33]), (18, &[32, 33]), (19, &[33]), (20, &[32, 33]), (22, &[32, 33]),
        (23, &[25, 27, 29, 32, 33]), (24, &[25, 27, 31]), (25, &[31]), (26, &[29, 33]), (27, &[33]),
        (28, &[31, 33]), (29, &[32, 33]), (30, &[32, 33]), (31, &[32, 33]), (32, &[33]),
    ];
    let edges: Vec<(u32, u32)> =
        (FRIENDS.iter()).flat_map(|(u, friends)| friends.iter().map(|&v| (*u, v))).collect();
    Graph::new(34, &edges).expect("valid")
}

/// The paper's four-vertex graph, A12 = A13 = A14 = A34 = 1.
pub fn four_vertex() -> Graph {
    Graph::new(4, &[(0, 1), (0, 2), (0, 3), (2, 3)]).expect("valid")
}

/// The southern women with the events they attended.
pub fn southern_women() -> Dataset {
    #[rustfmt::skip]
    const EVENTS: [(&str, &[usize]); 18] = [
        ("Evelyn Jefferson", &[1, 2, 3, 4, 5, 6, 8, 9]), ("Laura Mandeville", &[1, 2, 3, 5, 6, 7, 8]),
        ("Theresa Anderson", &[2, 3, 4, 5, 6, 7, 8, 9]), ("Brenda Rogers", &[1, 3, 4, 5, 6, 7, 8]),
        ("Charlotte McDowd", &[3, 4, 5, 7]), ("Frances Anderson", &[3, 5, 6, 8]),
        ("Eleanor Nye", &[5, 6, 7, 8]), ("Pearl Oglethorpe", &[6, 8, 9]), ("Ruth DeSand", &[5, 7, 8, 9]),
        ("Verne Sanderson", &[7, 8, 9, 12]), ("Myra Liddel", &[8, 9, 10, 12]),
        ("Katherina Rogers", &[8, 9, 10, 12, 13, 14]), ("Sylvia Avondale", &[7, 8, 9, 10, 12, 13, 14]),
        ("Nora Fayette", &[6, 7, 9, 10, 11, 12, 13, 14]), ("Helen Lloyd", &[7, 8, 10, 11, 12]),
        ("Dorothy Murchison", &[8, 9]), ("Olivia Carleton", &[9, 11]), ("Flora Price", &[9, 11]),
    ];
    let mut cells = vec![0; 18 * 14];
    for (woman, (_, events)) in EVENTS.iter().enumerate() {
        events.iter().for_each(|event| cells[woman * 14 + event - 1] = 1);
    }
    let table = BinaryTable::new(18, 14, cells).expect("valid");
    let mut data = Dataset::new(Data::Table(table));
    data.columns = (1..=14).map(|event| format!("E{event}")).collect();
    data.names = EVENTS.iter().map(|(name, _)| (*name).into()).collect();
    data
}

/// The paper's Table 1 (after Jain and Neal): 20 rows in each of 5 blocks; with more than six
/// columns the last one is repeated.
pub fn bernoulli(columns: usize, data_seed: u64) -> BinaryTable {
    const HIGH: f64 = 0.95;
    const LOW: f64 = 0.05;
    #[rustfmt::skip]
    const PROBABILITIES: [[f64; 6]; 5] = [
        [HIGH, HIGH, HIGH, HIGH, HIGH, HIGH],
        [LOW, LOW, LOW, LOW, HIGH, HIGH],
        [HIGH, LOW, LOW, HIGH, HIGH, HIGH],
        [LOW, LOW, LOW, LOW, LOW, LOW],
        [HIGH, HIGH, HIGH, HIGH, LOW, LOW],
    ];
    let mut rng = Rng::from_seed(Purpose::Data, data_seed);
    let mut cells = Vec::with_capacity(100 * columns);
    for row in 0..100 {
        for column in 0..columns {
            cells.push(u8::from(rng.uniform() < PROBABILITIES[row / 20][column.min(5)]));
        }
    }
    BinaryTable::new(100, columns, cells).expect("valid")
}

fn planted(parameters: &str, data_seed: u64) -> Result<Graph> {
    let wrong = |why: &str| {
        Error::new(format!(
            "planted:{parameters}: {why}; write planted:K,size,p_in,p_out, for example planted:5,20,0.4,0.05"
        ))
    };
    let parts: Vec<&str> = parameters.split(',').map(str::trim).collect();
    let &[blocks, size, p_in, p_out] = parts.as_slice() else {
        return Err(wrong("four numbers are needed"));
    };
    let count = |text: &str| text.parse::<u32>().ok().filter(|&c| c > 0);
    let probability = |text: &str| text.parse::<f64>().ok().filter(|p| (0.0..=1.0).contains(p));
    let (Some(blocks), Some(size)) = (count(blocks), count(size)) else {
        return Err(wrong("K and size are whole numbers above 0"));
    };
    let (Some(p_in), Some(p_out)) = (probability(p_in), probability(p_out)) else {
        return Err(wrong("p_in and p_out lie between 0 and 1"));
    };
    let n = (blocks.checked_mul(size).filter(|&n| n <= 1 << 24))
        .ok_or_else(|| wrong("that is more than 2^24 vertices"))?;
    let (pairs, within) = (f64::from(n) * f64::from(n) / 2.0, f64::from(n) * f64::from(size) / 2.0);
    if within * p_in + (pairs - within) * p_out > 2e8 {
        return Err(wrong("that is more than 2e8 edges"));
    }
    let mut rng = Rng::from_seed(Purpose::Data, data_seed);
    Graph::from_edges(n as usize, planted_edges((blocks, size), (p_in, p_out), &mut rng))
}

/// The edges of K blocks of equal size, block after block, in as much time as there are edges.
fn planted_edges(
    (blocks, size): (u32, u32),
    (p_in, p_out): (f64, f64),
    rng: &mut Rng,
) -> Vec<(u32, u32)> {
    let n = blocks * size;
    let mut edges = Vec::new();
    for u in 0..n {
        // The later vertices of the same block come first, then all others.
        let end_of_block = (u / size + 1) * size;
        for (range, p) in [(u + 1..end_of_block, p_in), (end_of_block..n, p_out)] {
            let (from, to) = (u64::from(range.start), u64::from(range.end));
            if p == 0.0 {
                continue;
            }
            // Skip ahead to the next link, so that sparse networks cost as much as they have links.
            let mut v = from;
            while v < to {
                if p < 1.0 {
                    v = v.saturating_add((libm::log1p(-rng.uniform()) / libm::log1p(-p)) as u64);
                }
                if v < to {
                    edges.push((u, v as u32));
                }
                v = v.saturating_add(1);
            }
        }
    }
    edges
}

/// A network of K equal blocks with about so many edges and so many links of a vertex, and the blocks
/// of its vertices, which come in random order. Links are eight times as likely within a block as
/// between two. `None` if so small a network cannot have so many links.
///
/// ```
/// let (graph, labels) = armix::builtin::planted_by_degree(10, 20.0, 10_000, 1).unwrap();
/// assert_eq!((graph.n(), labels.len()), (1000, 1000));
/// ```
pub fn planted_by_degree(
    blocks: u32,
    degree: f64,
    edges: u64,
    data_seed: u64,
) -> Option<(Graph, Vec<u32>)> {
    const WITHIN: f64 = 8.0;
    let size = (2.0 * edges as f64 / degree / f64::from(blocks)).round();
    let p_out = degree / (size * f64::from(blocks - 1) + WITHIN * (size - 1.0));
    let possible = size >= 2.0 && size * f64::from(blocks) < f64::from(1 << 28);
    if !possible || WITHIN * p_out > 1.0 {
        return None;
    }
    let size = size as u32;
    let mut rng = Rng::from_seed(Purpose::Data, data_seed);
    let mut links = planted_edges((blocks, size), (WITHIN * p_out, p_out), &mut rng);
    let mut number: Vec<u32> = (0..blocks * size).collect();
    rng.shuffle(&mut number);
    links.iter_mut().for_each(|(u, v)| (*u, *v) = (number[*u as usize], number[*v as usize]));
    let mut labels = vec![0; number.len()];
    (number.iter().zip(0..)).for_each(|(&vertex, at)| labels[vertex as usize] = at / size);
    Graph::from_edges(number.len(), links).ok().map(|graph| (graph, labels))
}

fn mixture(parameters: &str, data_seed: u64) -> Result<BinaryTable> {
    let wrong = |why: &str| {
        Error::new(format!(
            "mixture:{parameters}: {why}; write mixture:K,size,columns,noise, for example mixture:4,50,20,0.1"
        ))
    };
    let parts: Vec<&str> = parameters.split(',').map(str::trim).collect();
    let &[blocks, size, columns, noise] = parts.as_slice() else {
        return Err(wrong("four numbers are needed"));
    };
    let count = |text: &str| text.parse::<usize>().ok().filter(|&c| c > 0);
    let (Some(blocks), Some(size), Some(d)) = (count(blocks), count(size), count(columns)) else {
        return Err(wrong("K, size and columns are whole numbers above 0"));
    };
    let noise = noise.parse::<f64>().ok().filter(|p| (0.0..=1.0).contains(p));
    let noise = noise.ok_or_else(|| wrong("the noise lies between 0 and 1"))?;
    let n = blocks.checked_mul(size).filter(|n| n.checked_mul(d).is_some_and(|c| c <= 1 << 28));
    let n = n.ok_or_else(|| wrong("that is more than 2^28 cells"))?;
    let mut rng = Rng::from_seed(Purpose::Data, data_seed);
    let pattern: Vec<u8> = (0..blocks * d).map(|_| rng.below(2) as u8).collect();
    let cells = (0..n * d)
        .map(|at| pattern[at / d / size * d + at % d] ^ u8::from(rng.uniform() < noise))
        .collect();
    BinaryTable::new(n, d, cells)
}

fn typed(kind: &str, parameters: &str, data_seed: u64) -> Result<Table> {
    let count = |text: &str| text.trim().parse::<usize>().ok().filter(|&c| c > 0);
    let parts: Option<Vec<usize>> = parameters.split(',').map(count).collect();
    let fits = |blocks: usize, size: usize, d: usize| {
        blocks.checked_mul(size)?.checked_mul(d).filter(|&cells| cells <= 1 << 28)
    };
    let (blocks, size, d) = match parts.as_deref() {
        Some(&[blocks, size, d]) if fits(blocks, size, d).is_some() => (blocks, size, d),
        _ => {
            return Err(Error::new(format!(
                "{kind}:{parameters}: write {kind}:K,size,columns with whole numbers above 0 and at most 2^28 cells, for example {kind}:4,50,20"
            )));
        }
    };
    let mut rng = Rng::from_seed(Purpose::Data, data_seed);
    let mut column = || {
        let mut values = Vec::with_capacity(blocks * size);
        for _ in 0..blocks {
            let (favourite, centre) = (rng.below(4), 3.0 * normal(&mut || rng.uniform()));
            let lambda = 1.0 + 10.0 * rng.uniform();
            for _ in 0..size {
                values.push(match kind {
                    "levels" if rng.uniform() < 0.7 => favourite as f64,
                    "levels" => rng.below(4) as f64,
                    "counts" => {
                        // About Poisson: a rounded normal number of the same mean and variance.
                        let x = lambda + lambda.sqrt() * normal(&mut || rng.uniform());
                        libm::round(x.max(0.0))
                    }
                    _ => centre + normal(&mut || rng.uniform()),
                });
            }
        }
        match kind {
            "levels" => Column::levels(["a", "b", "c", "d"].map(String::from).to_vec(), values),
            "counts" => Column::counts(values),
            _ => Column::reals(values),
        }
    };
    Table::new((0..d).map(|_| column()).collect())
}

fn grid(parameters: &str) -> Result<Graph> {
    let sides = parameters.split_once('x').and_then(|(w, h)| {
        let side =
            |text: &str| text.trim().parse::<u32>().ok().filter(|s| (1..=1 << 16).contains(s));
        Some((side(w)?, side(h)?))
    });
    let Some((width, height)) = sides.filter(|(w, h)| w.saturating_mul(*h) <= 1 << 24) else {
        return Err(Error::new(format!(
            "grid:{parameters}: write grid:WxH, for example grid:10x10, with at most 2^24 vertices"
        )));
    };
    let mut edges = Vec::new();
    for y in 0..height {
        for x in 0..width {
            let here = y * width + x;
            edges.push((here, y * width + (x + 1) % width));
            edges.push((here, (y + 1) % height * width + x));
        }
    }
    Graph::new((width * height) as usize, &edges)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of links are within 5 standard deviations: false alarm below 1e-5.
    #[test]
    fn planted_networks_have_the_degree_and_blocks_that_were_asked_for() {
        for (blocks, degree, edges) in [(10, 20.0, 1000), (10, 20.0, 30_000), (3, 5.0, 10_000)] {
            let (graph, labels) = planted_by_degree(blocks, degree, edges, 7).unwrap();
            let n = (2.0 * edges as f64 / degree) as usize;
            assert!(graph.n().abs_diff(n) <= blocks as usize);
            let expected = graph.n() as f64 * degree / 2.0;
            assert!((graph.edges() as f64 - expected).abs() < 5.0 * expected.sqrt());
            // Within blocks links are eight times as likely.
            let within = |&(u, v): &(u32, u32)| labels[u as usize] == labels[v as usize];
            let size = (graph.n() / blocks as usize) as f64;
            let weight = 8.0 * (size - 1.0) / (8.0 * (size - 1.0) + size * f64::from(blocks - 1));
            let expected = weight * expected;
            let found = graph.links().filter(within).count() as f64;
            assert!((found - expected).abs() < 5.0 * expected.sqrt(), "{found} {expected}");
            for block in 0..blocks {
                let members = labels.iter().filter(|&&l| l == block).count();
                assert_eq!(members, graph.n() / blocks as usize);
            }
            // Vertices come in random order: neighbours of a kind are as rare as by chance.
            let n = graph.n() as f64;
            let alike = labels.windows(2).filter(|w| w[0] == w[1]).count() as f64;
            let chance = n / f64::from(blocks);
            assert!((alike - chance).abs() < 5.0 * chance.sqrt(), "{alike} {chance}");
            assert_eq!(planted_by_degree(blocks, degree, edges, 7).unwrap().0, graph);
        }
    }

    #[test]
    fn networks_that_cannot_be_are_none() {
        for (blocks, degree, edges) in [(10, 20.0, 100), (500, 20.0, 1000), (2, 1e6, 1000)] {
            assert!(planted_by_degree(blocks, degree, edges, 1).is_none());
        }
        // The names of old give what they gave.
        let graph = load("planted:3,20,0.4,0.05", 1).unwrap().unwrap();
        let Data::Network(graph) = graph.data else { panic!("a network") };
        assert_eq!((graph.n(), graph.edges()), (60, PINNED));
    }
    const PINNED: usize = 273;
}
