//! Random networks with nasty names and damaged files, for the tests of the formats.

use super::raw::RawNetwork;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use std::io::{Result, Write};

/// Fixed seed, no files left behind.
pub(super) fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 300,
        rng_seed: prop::test_runner::RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

const NAMES: &[&str] = &[
    "",
    " ",
    "a b",
    "\"",
    "\"\"",
    "a\"b",
    "\"a\"",
    "a,b",
    ";",
    "\t",
    "0",
    "1",
    "2",
    "3",
    "007",
    "-1",
    "-1.5",
    "1e3",
    "4294967295",
    "4294967296",
    "99999999999999999999",
    "nan",
    "<script>",
    "</data>",
    "&",
    "&amp;",
    "&#34;",
    "&#",
    "]]>",
    "[",
    "]",
    "#",
    "# nodes 3",
    "%",
    "*Edges",
    "*",
    "source",
    "target",
    "From",
    "to",
    "ö",
    "日本 語",
    "\u{feff}",
    "\u{a0}",
    "\u{2028}",
    "'",
    "\\",
    "a\\",
    "label",
    "é\u{301}",
    "🦀",
    "isolated",
];

fn name() -> impl Strategy<Value = String> {
    let mixed = vec(select(NAMES), 1..4).prop_map(|parts| parts.concat());
    prop_oneof![3 => select(NAMES).prop_map(str::to_string), 1 => mixed, 2 => "[ -~]{0,6}", 1 => "\\PC{0,4}"]
}

/// Names that all differ.
fn names() -> impl Strategy<Value = Vec<String>> {
    let nasty = vec(name(), 0..8).prop_map(|names| {
        let mut unique: Vec<String> = Vec::new();
        names.into_iter().for_each(|name| {
            if !unique.contains(&name) {
                unique.push(name);
            }
        });
        unique
    });
    let numbers = prop::collection::btree_set(0u32..20, 0..8)
        .prop_map(|ids| ids.iter().map(u32::to_string).collect());
    prop_oneof![3 => nasty, 1 => numbers, 1 => (0u32..8).prop_map(numbered)]
}

/// Names 0, 1, ….
pub(super) fn numbered(n: u32) -> Vec<String> {
    (0..n).map(|v| v.to_string()).collect()
}

/// Small networks with everything that a network can have.
pub(super) fn network() -> impl Strategy<Value = RawNetwork> {
    let edges = (names(), vec((any::<u32>(), any::<u32>()), 0..12), any::<bool>(), any::<bool>());
    let weights = vec(prop_oneof![(-3i8..4).prop_map(f64::from), any::<f64>()], 12);
    (edges, weights).prop_map(|((names, ends, weighted, directed), mut weights)| {
        let n = names.len() as u32;
        let edges: Vec<_> =
            if n == 0 { Vec::new() } else { ends.iter().map(|e| (e.0 % n, e.1 % n)).collect() };
        weights.truncate(edges.len());
        weights.iter_mut().filter(|w| !w.is_finite()).for_each(|w| *w = 1.5);
        let weights = (weighted && !edges.is_empty()).then_some(weights);
        let directed = directed && !edges.is_empty();
        RawNetwork {
            names,
            edges,
            weights,
            directed,
            both_ways: !directed,
            ..RawNetwork::default()
        }
    })
}

/// The network as a matrix has it: edges sorted, undirected ones from the smaller vertex, numbers
/// for names, and weights always.
pub(super) fn as_matrix(network: &RawNetwork) -> (usize, Vec<(u32, u32, f64)>, bool) {
    let turn = |(u, v): (u32, u32)| if network.directed { (u, v) } else { (u.min(v), u.max(v)) };
    let mut edges: Vec<_> = (network.edges.iter().enumerate())
        .map(|(e, &ends)| (turn(ends).0, turn(ends).1, network.weight(e)))
        .collect();
    edges.sort_by(|a, b| a.partial_cmp(b).unwrap());
    (network.n(), edges, network.directed)
}

/// The same network with directions: edges without one hold both ways.
pub(super) fn both_ways(network: &RawNetwork) -> RawNetwork {
    let mut twice = RawNetwork { directed: true, ..network.clone() };
    for (e, &(u, v)) in network.edges.iter().enumerate().filter(|(_, e)| e.0 != e.1) {
        if !network.directed {
            twice.edges.push((v, u));
            twice.weights.iter_mut().for_each(|w| w.push(network.weight(e)));
        }
    }
    twice
}

/// What a writer writes.
pub(super) fn written(
    network: &RawNetwork,
    write: fn(&RawNetwork, &mut dyn Write) -> Result<()>,
) -> String {
    let mut out = Vec::new();
    write(network, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Text made of a format's own words, which gets further into a reader than noise; and noise.
pub(super) fn soup(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    let word = prop_oneof![
        8 => select(words).prop_map(str::to_string),
        2 => select(vec!["0", "1", "2", "-1", "1.5", "nan", "inf", "1e999", "268435456", "99999999999999999999"]).prop_map(str::to_string),
        1 => name(),
    ];
    let gap = select(vec![" ", " ", "\n", "\n", "", ",", "\t"]);
    let words = vec((word, gap), 0..40)
        .prop_map(|parts| parts.into_iter().map(|(word, gap)| word + gap).collect());
    prop_oneof![4 => words, 1 => any::<String>()]
}

/// Damage: bytes changed, removed, doubled, and the end cut off.
pub(super) type Damage = Vec<(usize, u8, u8)>;

/// Random damage.
pub(super) fn damage() -> impl Strategy<Value = Damage> {
    vec((any::<usize>(), any::<u8>(), 0u8..8), 1..6)
}

/// The damaged text.
pub(super) fn damaged(text: &str, damage: &Damage) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for &(at, byte, how) in damage {
        if bytes.is_empty() {
            break;
        }
        let at = at % bytes.len();
        match how {
            0 | 1 => bytes[at] = byte,
            2 => bytes[at] = b"0193-\"& \n[]<>*#%"[byte as usize % 16],
            3 => drop(bytes.remove(at)),
            4 => bytes.insert(at, b"0193-\"& \n[]<>*#%"[byte as usize % 16]),
            5 => drop(bytes.drain(at..(at + byte as usize).min(bytes.len()))),
            6 => {
                let again = bytes[at..(at + byte as usize).min(bytes.len())].to_vec();
                bytes.splice(at..at, again);
            }
            _ => bytes.truncate(at),
        }
    }
    bytes
}

/// Asserts that the text is refused at a line, with a word in the message.
#[track_caller]
pub(super) fn refused(result: crate::error::Result<RawNetwork>, line: usize, word: &str) {
    let message = result.unwrap_err().to_string();
    assert!(message.starts_with(&format!("line {line}: ")) && message.contains(word), "{message}");
}
