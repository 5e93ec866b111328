//! Hostile files: the corpus and the fixtures, as they are and mutated, under every ending.

use armix::io::{Wanted, read_bytes};
use armix::rng::{Purpose, Rng};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

/// Names with every ending that tells a format, and some that tell none.
const NAMES: [&str; 18] = [
    "x.edges",
    "x.txt",
    "x.mtx",
    "x.net",
    "x.gml",
    "x.graphml",
    "x.smat",
    "x.mat",
    "x.npy",
    "x.npz",
    "x.gt",
    "x.csv",
    "x.tsv",
    "x.edges.gz",
    "x.zip",
    "x",
    "",
    crate::invariants::LABELS,
];

/// Mutated variants of each file that are read under its own ending, and under all.
const UNDER_OWN: usize = 200;
const UNDER_ALL: usize = 10;

/// No file of this size takes longer, even on a slow and busy machine.
const LONG: Duration = Duration::from_secs(5);

struct Input {
    /// Folder and file.
    name: String,
    bytes: Vec<u8>,
}

impl Input {
    /// The name that tells the format.
    fn own(&self) -> &str {
        match self.name.strip_prefix("labels/") {
            Some(_) => crate::invariants::LABELS,
            None => &self.name,
        }
    }
}

/// The files of the corpus and the binary fixtures, in the order of their names.
fn inputs() -> Vec<Input> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let sorted = |folder: &Path| {
        let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
        paths.sort();
        paths
    };
    let mut folders: Vec<_> =
        sorted(&tests.join("corpus")).into_iter().filter(|path| path.is_dir()).collect();
    folders.push(tests.join("fixtures"));
    let mut inputs = Vec::new();
    for folder in folders {
        for path in sorted(&folder) {
            let part = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
            let name = format!("{}/{}", part(&folder), part(&path));
            inputs.push(Input { name, bytes: fs::read(&path).unwrap() });
        }
    }
    inputs
}

/// Reads under a name; what fails is said with all that is needed to repeat it.
fn read(source: &str, name: &str, bytes: &[u8]) {
    let start = Instant::now();
    let done = catch_unwind(AssertUnwindSafe(|| crate::invariants::check_all(name, bytes)));
    let shown = || bytes.escape_ascii().to_string();
    assert!(done.is_ok(), "{source}, perhaps mutated, read as '{name}': {}", shown());
    assert!(start.elapsed() < LONG, "{source}, read as '{name}', takes too long: {}", shown());
}

#[test]
fn the_corpus_is_small() {
    let inputs = inputs();
    let corpus: Vec<_> = inputs.iter().filter(|i| !i.name.starts_with("fixtures/")).collect();
    assert!(corpus.len() > 250, "{} files", corpus.len());
    for input in &corpus {
        assert!(input.bytes.len() < 2_000, "{} is too large", input.name);
    }
    assert!(corpus.iter().map(|i| i.bytes.len()).sum::<usize>() < 60_000);
}

#[test]
fn files_as_they_are() {
    for input in inputs() {
        read(&input.name, input.own(), &input.bytes);
        for name in NAMES {
            read(&input.name, name, &input.bytes);
        }
    }
}

#[test]
fn mutated_files() {
    let inputs = inputs();
    let mut rng = Rng::from_seed(Purpose::Test, 1);
    for input in &inputs {
        for variant in 0..UNDER_OWN {
            let bytes = mutated(&input.bytes, &inputs, &mut rng);
            read(&input.name, input.own(), &bytes);
            if variant < UNDER_ALL {
                NAMES.iter().for_each(|name| read(&input.name, name, &bytes));
            }
        }
    }
}

fn below(rng: &mut Rng, end: usize) -> usize {
    rng.below(end as u64) as usize
}

/// Up to 40 bytes from anywhere.
fn chunk(rng: &mut Rng, length: usize) -> std::ops::Range<usize> {
    let start = below(rng, length + 1);
    start..(start + below(rng, 40)).min(length)
}

/// One to four mutations.
fn mutated(original: &[u8], inputs: &[Input], rng: &mut Rng) -> Vec<u8> {
    const BYTES: &[u8] = b"\0\x01\x7f\x80\xff0193-+.eE\"'& \t\r\n,;:[](){}<>/*#%\\";
    let mut bytes = original.to_vec();
    for _ in 0..=below(rng, 4) {
        let length = bytes.len();
        let at = below(rng, length + 1);
        match below(rng, 10) {
            0 if at < length => bytes[at] ^= 1 << below(rng, 8),
            1 if at < length => bytes[at] = BYTES[below(rng, BYTES.len())],
            2 => bytes.insert(at, BYTES[below(rng, BYTES.len())]),
            3 => drop(bytes.drain(chunk(rng, length))),
            4 => bytes.truncate(at),
            5 => {
                // The beginning of this file and the end of another.
                let other = &inputs[below(rng, inputs.len())].bytes;
                bytes.truncate(at);
                bytes.extend(&other[below(rng, other.len() + 1)..]);
            }
            6 => {
                let again = bytes[chunk(rng, length)].to_vec();
                bytes.splice(at..at, again);
            }
            7 | 8 => huge_text(&mut bytes, at, rng),
            _ => huge_binary(&mut bytes, at, rng),
        }
    }
    bytes.truncate(8_192);
    bytes
}

/// Replaces the next number that is written in digits.
fn huge_text(bytes: &mut Vec<u8>, at: usize, rng: &mut Rng) {
    const NUMBERS: [&str; 14] = [
        "-1",
        "0",
        "00",
        "65536",
        "268435456",
        "268435457",
        "4294967295",
        "4294967296",
        "1000000000000",
        "9223372036854775808",
        "18446744073709551616",
        "1e308",
        "nan",
        "-inf",
    ];
    let Some(from) = (at..bytes.len()).find(|&at| bytes[at].is_ascii_digit()) else { return };
    let digits = bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    bytes.splice(from..from + digits, NUMBERS[below(rng, NUMBERS.len())].bytes());
}

/// Overwrites two to eight bytes by a large number, in either order.
fn huge_binary(bytes: &mut [u8], at: usize, rng: &mut Rng) {
    let numbers = [u64::MAX, 1 << 63, 1 << 40, 1 << 32, 1 << 31, 1 << 28, 0xffff_ffff, 0];
    let size = 2 << below(rng, 3);
    let mut number = numbers[below(rng, numbers.len())].to_le_bytes()[..size].to_vec();
    if rng.below(2) == 1 {
        number.reverse();
    }
    bytes[at..].iter_mut().zip(number).for_each(|(byte, new)| *byte = new);
}

/// Refused at once: had the promised room been taken, it would not be at once.
fn refused(source: &str, name: &str, bytes: &[u8]) {
    for wanted in [None, Some(Wanted::Network)] {
        let start = Instant::now();
        let result = read_bytes(name, bytes, wanted);
        assert!(result.is_err(), "{source} is read, wanted as {wanted:?}");
        assert!(start.elapsed() < LONG, "{source} takes too long");
    }
}

#[test]
fn promises_in_the_corpus_are_refused() {
    let inputs = inputs();
    let promises: Vec<_> = inputs.iter().filter(|i| i.name.contains("/promise")).collect();
    promises.iter().for_each(|input| refused(&input.name, &input.name, &input.bytes));
    for folder in
        ["edges", "matrix_market", "pajek", "smat", "mat", "npy", "npz", "gt", "container"]
    {
        assert!(promises.iter().any(|input| input.name.starts_with(folder)), "{folder}");
    }
}

#[test]
fn promises_in_headers_are_refused() {
    let banner = "%%MatrixMarket matrix";
    for n in [1 << 28, 1_000_000_000_000, u64::MAX] {
        let texts = [
            ("x.edges", format!("# nodes {n}\n0 1\n")),
            ("x.txt", format!("# nodes: {n}\na b\n")),
            ("x.mtx", format!("{banner} coordinate real general\n{n} {n} 1\n1 2 1\n")),
            ("x.mtx", format!("{banner} coordinate pattern symmetric\n3 3 {n}\n1 2\n")),
            ("x.mtx", format!("{banner} array real general\n{n} {n}\n1\n")),
            ("x.mtx", format!("{banner} array real skew-symmetric\n{n} {n}\n1\n")),
            ("x.mtx", format!("{n} {n} 1\n1 2\n")),
            ("x.mtx", format!("1 {n}\n")),
            ("x.net", format!("*Vertices {n}\n*Edges\n1 2\n")),
            ("x.net", format!("*Vertices {n}\n*Matrix\n1 0\n")),
            ("x.smat", format!("{n} {n} 1\n0 1 1\n")),
            ("x.smat", format!("3 3 {n}\n0 1 1\n")),
        ];
        for (name, text) in texts {
            refused(&text, name, text.as_bytes());
        }
        for shape in [format!("({n}, {n})"), format!("(0, {n})"), format!("({n}, 0)")] {
            let text = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
            let length = (text.len() as u16).to_le_bytes();
            let bytes = [b"\x93NUMPY\x01\x00", &length[..], text.as_bytes()].concat();
            refused(&text, "x.npy", &bytes);
        }
        // An empty comment, the direction; then the vertices, each with its degree and neighbours;
        // then the number of properties.
        let begin = b"\xe2\x9b\xbe gt\x01\x00\0\0\0\0\0\0\0\0\x01";
        let (n, one, none) = (n.to_le_bytes(), 1u64.to_le_bytes(), [0; 8]);
        refused("vertices of .gt", "x.gt", &[&begin[..], &n, &none].concat());
        refused("a degree of .gt", "x.gt", &[&begin[..], &one, &n, &none].concat());
        refused("properties of .gt", "x.gt", &[&begin[..], &one, &none, &n].concat());
    }
}
