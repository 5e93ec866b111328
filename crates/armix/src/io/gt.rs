//! graph-tool's binary `.gt` files: the network, the names of its vertices and the weights of its
//! edges.

use super::bytes::{Bytes, Number};
use super::raw::{RawNetwork, check_count};
use crate::error::{Error, Result};

/// What every `.gt` file begins with.
pub(super) const MAGIC: &[u8] = b"\xe2\x9b\xbe gt";

/// Vertices are named by the text property `label` or else `name`, if their values are all different,
/// and edges are weighted by the number property `weight` or else `value`. Other properties are
/// skipped.
pub(super) fn parse(bytes: &[u8]) -> Result<RawNetwork> {
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| Error::new("this is not a .gt file"))?;
    let mut bytes = Bytes::little(rest);
    let (version, order) = (bytes.u8()?, bytes.u8()?);
    if version != 1 || order > 1 {
        return Err(Error::new(format!(
            "this .gt file has version {version} and byte order {order}, which are not known: save it again with a current graph-tool"
        )));
    }
    bytes.big_endian = order == 1;
    string(&mut bytes)?; // the comment
    let directed = bytes.u8()? != 0;
    let n = bytes.u64()?;
    check_count(n, "vertices")?;
    let edges = adjacency(&mut bytes, n)?;
    let mut properties = Properties::default();
    for _ in 0..bytes.u64()? {
        properties.read(&mut bytes, n, edges.len() as u64)?;
    }
    let names = match properties.names() {
        Some(names) => names,
        None => RawNetwork::numbered(0, n)?,
    };
    let weights = properties.weights.map(|w| w.1);
    if let Some(weight) = weights.iter().flatten().find(|w| !w.is_finite()) {
        return Err(Error::new(format!(
            "an edge has the weight {weight}; a weight is a finite number: correct or remove this edge"
        )));
    }
    Ok(RawNetwork {
        names,
        edges,
        weights,
        directed,
        both_ways: !directed,
        ..RawNetwork::default()
    })
}

/// Each vertex lists its neighbours; an undirected edge stands at one of its ends.
fn adjacency(bytes: &mut Bytes, n: u64) -> Result<Vec<(u32, u32)>> {
    let number = match n {
        0..=0xff => Number::U8,
        0x100..=0xffff => Number::U16,
        _ => Number::U32,
    };
    let mut edges = Vec::new();
    for u in 0..n {
        let degree = bytes.u64()?;
        let data = bytes.take(degree.saturating_mul(number.size() as u64))?;
        for v in data.chunks_exact(number.size()) {
            let v = number.value(v, bytes.big_endian) as u64;
            if v >= n {
                return Err(Error::new(format!(
                    "vertex {u} is linked to vertex {v}, but there are only {n} vertices: the file is damaged; save it again"
                )));
            }
            edges.push((u as u32, v as u32));
        }
    }
    Ok(edges)
}

fn string<'a>(bytes: &mut Bytes<'a>) -> Result<&'a [u8]> {
    let length = bytes.u64()?;
    bytes.take(length)
}

/// What is used of the properties, each with its rank: the smaller the better.
#[derive(Default)]
struct Properties {
    labels: Option<(usize, Vec<String>)>,
    weights: Option<(usize, Vec<f64>)>,
}

impl Properties {
    /// Reads one property of the graph (0), its vertices (1) or its edges (2).
    fn read(&mut self, bytes: &mut Bytes, n: u64, edges: u64) -> Result<()> {
        let (key, name, kind) = (bytes.u8()?, string(bytes)?, bytes.u8()?);
        let count = match key {
            0 => 1,
            1 => n,
            2 => edges,
            _ => return Err(unknown(key, "of things")),
        };
        let rank = |names: [&[u8]; 2]| names.iter().position(|known| *known == name);
        let scalar = match kind {
            0 => Some(Number::U8),
            1 => Some(Number::I16),
            2 => Some(Number::I32),
            3 => Some(Number::I64),
            4 => Some(Number::F64),
            _ => None,
        };
        match (key, kind, scalar) {
            (_, _, Some(number)) => {
                let data = bytes.take(count.saturating_mul(number.size() as u64))?;
                let rank = rank([b"weight", b"value"]).filter(|_| key == 2);
                if let Some(rank) = rank.filter(|r| self.weights.as_ref().is_none_or(|w| r < &w.0))
                {
                    let values = data.chunks_exact(number.size());
                    let values = values.map(|v| number.value(v, bytes.big_endian));
                    self.weights = Some((rank, values.collect()));
                }
            }
            (1, 6, _) => {
                let rank = rank([b"label", b"name"]);
                let mut labels = Vec::new();
                for _ in 0..count {
                    let text = string(bytes)?;
                    if rank.is_some() {
                        labels.push(String::from_utf8_lossy(text).into_owned());
                    }
                }
                if let Some(rank) = rank.filter(|r| self.labels.as_ref().is_none_or(|l| r < &l.0)) {
                    self.labels = Some((rank, labels));
                }
            }
            _ => skip(bytes, kind, count)?,
        }
        Ok(())
    }

    /// Names that tell the vertices apart.
    fn names(&mut self) -> Option<Vec<String>> {
        let (_, labels) = self.labels.take()?;
        let mut sorted: Vec<&String> = labels.iter().collect();
        sorted.sort_unstable();
        let different = sorted.windows(2).all(|pair| pair[0] != pair[1]);
        (different && !labels.iter().any(String::is_empty)).then_some(labels)
    }
}

/// Passes over values that are not plain numbers.
fn skip(bytes: &mut Bytes, kind: u8, count: u64) -> Result<()> {
    let size = match kind {
        5 => return bytes.take(count.saturating_mul(16)).map(|_| ()),
        6 | 7 | 14 => 1, // text, truth values and pickled objects
        8 => 2,
        9 => 4,
        10 | 11 => 8,
        12 => 16,
        13 => 0, // lists of text
        _ => return Err(unknown(kind, "of values")),
    };
    for _ in 0..count {
        let length = bytes.u64()?;
        if size == 0 {
            for _ in 0..length {
                string(bytes)?;
            }
        } else {
            bytes.take(length.saturating_mul(size))?;
        }
    }
    Ok(())
}

fn unknown(kind: u8, what: &str) -> Error {
    Error::new(format!(
        "there is a property of an unknown kind {what} ({kind}): the file is damaged; save it again"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A file of either byte order, built step by step.
    struct Made {
        bytes: Vec<u8>,
        big_endian: bool,
    }

    impl Made {
        fn new(big_endian: bool, directed: bool, n: u64) -> Self {
            let mut made = Made { bytes: MAGIC.to_vec(), big_endian };
            made.bytes.extend([1, u8::from(big_endian)]);
            made.string("a comment");
            made.bytes.push(u8::from(directed));
            made.number(&n.to_le_bytes());
            made
        }

        fn number(&mut self, little: &[u8]) {
            let mut bytes = little.to_vec();
            if self.big_endian {
                bytes.reverse();
            }
            self.bytes.extend(bytes);
        }

        fn string(&mut self, text: &str) {
            self.number(&(text.len() as u64).to_le_bytes());
            self.bytes.extend(text.as_bytes());
        }

        fn property(&mut self, key: u8, name: &str, kind: u8) {
            self.bytes.push(key);
            self.string(name);
            self.bytes.push(kind);
        }
    }

    /// Three vertices 0 → 1, 0 → 2, 2 → 2 with all that a file can have.
    fn full(big_endian: bool) -> Vec<u8> {
        let mut made = Made::new(big_endian, true, 3);
        for (degree, neighbours) in [(2u64, &[1u8, 2][..]), (0, &[]), (1, &[2])] {
            made.number(&degree.to_le_bytes());
            made.bytes.extend(neighbours);
        }
        made.number(&6u64.to_le_bytes());
        made.property(0, "title", 6);
        made.string("x");
        made.property(1, "label", 6);
        ["a", "b", "c"].iter().for_each(|name| made.string(name));
        made.property(1, "name", 6);
        ["x", "y", "z"].iter().for_each(|name| made.string(name));
        made.property(1, "pos", 11);
        for _ in 0..3 {
            made.number(&2u64.to_le_bytes());
            made.bytes.extend([0; 16]);
        }
        made.property(1, "tags", 13);
        for _ in 0..3 {
            made.number(&2u64.to_le_bytes());
            ["t", ""].iter().for_each(|tag| made.string(tag));
        }
        made.property(2, "weight", 4);
        [0.5f64, 2.0, -1.0].iter().for_each(|weight| made.number(&weight.to_le_bytes()));
        made.bytes
    }

    #[test]
    fn both_byte_orders() {
        for big_endian in [false, true] {
            let network = parse(&full(big_endian)).unwrap();
            assert_eq!(network.edges, [(0, 1), (0, 2), (2, 2)]);
            assert_eq!(network.names, ["a", "b", "c"]);
            assert_eq!(network.weights, Some(vec![0.5, 2.0, -1.0]));
            assert!(network.directed);
        }
    }

    #[test]
    fn wide_numbers() {
        for (n, size) in [(255u64, 1), (256, 2), (65535, 2), (65536, 4)] {
            let mut made = Made::new(true, false, n);
            made.number(&1u64.to_le_bytes());
            made.number(&(n - 1).to_le_bytes()[..size]);
            (1..n).for_each(|_| made.number(&[0; 8]));
            made.number(&[0; 8]);
            let network = parse(&made.bytes).unwrap();
            assert_eq!((network.edges, network.directed), (vec![(0, n as u32 - 1)], false));
            assert_eq!((network.names.len() as u64, &*network.names[1]), (n, "1"));
        }
    }

    #[test]
    fn refusals() {
        let refused = |bytes: &[u8], word: &str| {
            let error = parse(bytes).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        };
        let file = full(false);
        refused(b"gt", "not a .gt");
        refused(&Made::new(false, false, 1 << 40).bytes, "promises");
        refused(&Made::new(false, false, 1 << 28).bytes, "truncated");
        let changed = |at: usize, byte: u8| {
            let mut file = file.clone();
            file[at] = byte;
            file
        };
        refused(&changed(6, 2), "version 2");
        // The header takes 25 bytes, directedness and n nine, the first degree eight.
        refused(&changed(42, 3), "vertex 3");
        refused(&changed(41, 0xff), "truncated");
        refused(&changed(69, 3), "unknown kind of things (3)");
        refused(&changed(83, 15), "unknown kind of values (15)");
        for length in 0..file.len() {
            assert!(parse(&file[..length]).is_err());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, rng_seed: prop::test_runner::RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn nothing_panics(big_endian in any::<bool>(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
            let mut file = full(big_endian);
            for (at, byte) in changes {
                *at.get_mut(&mut file) = byte;
            }
            let _ = parse(&file);
        }
    }
}
