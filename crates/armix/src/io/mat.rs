//! MATLAB files of version 5 (as `save` writes them without `-v7.3`): one matrix as a network.
//!
//! Dense and sparse numeric matrices are read, at the top and one step inside a struct, where they
//! are called `STRUCT.FIELD`; cells and text are skipped.

use super::bytes::{Bytes, Number, Numbers, truncated};
use super::container::{LIMIT, failed, read_all};
use super::raw::RawNetwork;
use super::square::{self, Entry};
use crate::error::{Error, Result};
use std::io::Write;

const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;
const STRUCT: u8 = 2;
const SPARSE: u8 = 5;
const NUMERIC: std::ops::RangeInclusive<u8> = 6..=15;

/// A numeric matrix in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) rows: u64,
    pub(super) cols: u64,
    pub(super) sparse: bool,
}

/// The numeric matrices of a file, in its order.
pub(super) fn variables(bytes: &[u8]) -> Result<Vec<Variable>> {
    let mut variables = Vec::new();
    walk(bytes, &mut |array| {
        variables.push(array.variable);
        Ok(())
    })?;
    Ok(variables)
}

/// The network of the matrix that is named, or else of the only square one, of `A` or of
/// `Problem.A`. Vertices are named 0, 1, ….
pub(super) fn parse(bytes: &[u8], variable: Option<&str>) -> Result<RawNetwork> {
    let name = choose(&variables(bytes)?, variable)?;
    let mut network = None;
    walk(bytes, &mut |array| {
        // Of two matrices that share a name, a square one was chosen.
        let square = array.variable.rows == array.variable.cols;
        if array.variable.name == name && square && network.is_none() {
            network = Some(array.network()?);
        }
        Ok(())
    })?;
    network.ok_or_else(truncated)
}

/// Writes the sparse matrix `A` of a network. Names are not kept, and the weights of repeated edges
/// are added up.
pub(super) fn write(network: &RawNetwork, out: &mut dyn Write) -> Result<()> {
    let mut entries = square::entries(network)?;
    entries.sort_by_key(|e| (e.1, e.0));
    let n = network.n();
    let mut starts = vec![0u32; n + 1];
    entries.iter().for_each(|e| starts[e.1 as usize + 1] += 1);
    for v in 0..n {
        starts[v + 1] += starts[v];
    }
    // Twelve bytes an entry and four a vertex, and the whole is counted with 31 bits.
    if 12 * entries.len() as u64 + 4 * n as u64 + 200 > i32::MAX as u64 {
        return Err(Error::new("this network is too large for a MATLAB file: write .npz instead"));
    }
    let mut body = Vec::new();
    let nonzero = entries.len().max(1) as u32;
    element(&mut body, 6, [u32::from(SPARSE), nonzero].iter().flat_map(|x| x.to_le_bytes()));
    element(&mut body, 5, [n as u32; 2].iter().flat_map(|x| x.to_le_bytes()));
    element(&mut body, 1, *b"A");
    element(&mut body, 5, entries.iter().flat_map(|e| e.0.to_le_bytes()));
    element(&mut body, 5, starts.iter().flat_map(|x| x.to_le_bytes()));
    element(&mut body, 9, entries.iter().flat_map(|e| e.2.to_le_bytes()));
    let mut file = format!("{:<116}", "MATLAB 5.0 MAT-file, written by armix").into_bytes();
    file.extend([0; 8]);
    file.extend(b"\x00\x01IM");
    element(&mut file, MATRIX, body);
    out.write_all(&file).map_err(failed)
}

fn element(out: &mut Vec<u8>, kind: u32, data: impl IntoIterator<Item = u8>) {
    let start = out.len() + 8;
    out.extend(kind.to_le_bytes());
    out.extend([0; 4]);
    out.extend(data);
    let length = (out.len() - start) as u32;
    out[start - 4..start].copy_from_slice(&length.to_le_bytes());
    out.resize(start + (length as usize).next_multiple_of(8), 0);
}

fn choose(variables: &[Variable], asked: Option<&str>) -> Result<String> {
    let list = || {
        let all =
            variables.iter().take(20).map(|v| format!("{} ({} × {})", v.name, v.rows, v.cols));
        let more = variables.len().checked_sub(21).map(|_| "…".to_string());
        all.chain(more).collect::<Vec<_>>().join(", ")
    };
    if variables.is_empty() {
        return Err(Error::new("there is no numeric matrix in this file: nothing to cluster"));
    }
    if let Some(asked) = asked {
        let variable = variables.iter().find(|v| v.name == asked).ok_or_else(|| {
            Error::new(format!("there is no matrix '{asked}' in this file, which holds {}", list()))
        })?;
        if variable.rows != variable.cols {
            return Err(Error::new(format!(
                "'{asked}' has {} rows and {} columns; the matrix of a network is square. The file holds {}",
                variable.rows,
                variable.cols,
                list()
            )));
        }
        return Ok(asked.to_string());
    }
    // A single number is square, but no network.
    let mut square = variables.iter().filter(|v| v.rows == v.cols && v.rows > 1);
    let chosen = match (square.next(), square.next()) {
        (Some(only), None) => Some(only),
        (None, _) => None,
        _ => ["A", "Problem.A"]
            .iter()
            .find_map(|name| variables.iter().find(|v| v.name == *name && v.rows == v.cols)),
    };
    chosen.map(|v| v.name.clone()).ok_or_else(|| {
        Error::new(format!(
            "which matrix is the network? FILE.mat:NAME chooses a square one of {}",
            list()
        ))
    })
}

/// A numeric matrix with its bytes.
struct Array<'a> {
    variable: Variable,
    complex: bool,
    body: Bytes<'a>,
}

/// Visits the numeric matrices of a file.
fn walk(bytes: &[u8], visit: &mut dyn FnMut(Array) -> Result<()>) -> Result<()> {
    let mut rest = content(bytes)?;
    let mut budget = LIMIT;
    while !rest.rest.is_empty() {
        let (kind, data) = next(&mut rest, 1)?;
        let unpacked;
        let data = match kind {
            COMPRESSED => {
                unpacked = read_all(&mut flate2::read::ZlibDecoder::new(data), budget)?;
                budget -= unpacked.len() as u64;
                let (kind, data) = next(&mut Bytes { rest: &unpacked, ..rest }, 1)?;
                (kind == MATRIX).then_some(data)
            }
            _ => (kind == MATRIX).then_some(data),
        };
        if let Some(data) = data {
            array(Bytes { rest: data, ..rest }, None, visit)?;
        }
    }
    Ok(())
}

/// What follows the header, with the right order of bytes.
fn content(bytes: &[u8]) -> Result<Bytes<'_>> {
    let v73 = "this is a MATLAB v7.3 file (HDF5), which is not read: in MATLAB, save it again with save -v7, or write the matrix as Matrix Market";
    if bytes.starts_with(b"\x89HDF") {
        return Err(Error::new(v73));
    }
    if bytes.iter().take(4).any(|&b| b == 0) {
        return Err(Error::new(
            "this is a MATLAB v4 file or none at all, and not read: in MATLAB, save it again with save -v7",
        ));
    }
    let (header, rest) = bytes.split_at_checked(128).ok_or_else(|| {
        Error::new("this is not a MATLAB file: it is shorter than the header of one")
    })?;
    let big_endian = match &header[126..] {
        b"IM" => false,
        b"MI" => true,
        _ => {
            return Err(Error::new(
                "this is not a MATLAB file of version 5: in MATLAB, save it with save -v7",
            ));
        }
    };
    let mut version = Bytes { rest: &header[124..126], big_endian };
    match version.u16()? {
        0x0100 => Ok(Bytes { rest, big_endian }),
        0x0200 => Err(Error::new(v73)),
        other => Err(Error::new(format!(
            "this MATLAB file has version {other:#06x}, which is not read: in MATLAB, save it again with save -v7"
        ))),
    }
}

/// Type and data of the next element. Elements begin at multiples of `step` bytes.
fn next<'a>(bytes: &mut Bytes<'a>, step: usize) -> Result<(u32, &'a [u8])> {
    let kind = bytes.u32()?;
    if kind >> 16 != 0 {
        // Up to four bytes stand in the tag itself.
        let data = bytes.take(4)?;
        let length = (kind >> 16) as usize;
        return Ok((kind & 0xffff, data.get(..length).ok_or_else(truncated)?));
    }
    let length = bytes.u32()?;
    let data = bytes.take(u64::from(length))?;
    let padding = data.len().wrapping_neg() % step;
    bytes.rest = bytes.rest.get(padding..).unwrap_or_default();
    Ok((kind, data))
}

/// Reads the header of an array; `field` is its name if it is the field of a struct.
fn array(
    mut body: Bytes,
    field: Option<String>,
    visit: &mut dyn FnMut(Array) -> Result<()>,
) -> Result<()> {
    if body.rest.is_empty() {
        return Ok(()); // an empty field
    }
    let (kind, flags) = next(&mut body, 8)?;
    if kind != 6 || flags.len() != 8 {
        return Err(truncated());
    }
    let flags = Bytes { rest: flags, ..body }.u32()?;
    let class = (flags & 0xff) as u8;
    if class != STRUCT && class != SPARSE && !NUMERIC.contains(&class) {
        return Ok(());
    }
    let shape = numbers(next(&mut body, 8)?, body)?;
    let mut shape = (0..shape.len()).map(|at| shape.count(at, "rows or columns"));
    let (rows, cols) = match (shape.next(), shape.next(), shape.next()) {
        (Some(rows), Some(cols), None) => (rows?, cols?),
        _ => return Ok(()), // not a matrix
    };
    let (_, name) = next(&mut body, 8)?;
    let is_field = field.is_some();
    let name = field.unwrap_or_else(|| String::from_utf8_lossy(name).into_owned());
    match class {
        _ if name.is_empty() => Ok(()), // MATLAB's own
        STRUCT if !is_field && (rows, cols) == (1, 1) => fields(body, &name, visit),
        STRUCT => Ok(()),
        _ => visit(Array {
            variable: Variable { name, rows, cols, sparse: class == SPARSE },
            complex: flags & 0x800 != 0,
            body,
        }),
    }
}

/// Visits the fields of a struct, but not what lies deeper.
fn fields(mut body: Bytes, name: &str, visit: &mut dyn FnMut(Array) -> Result<()>) -> Result<()> {
    let width = numbers(next(&mut body, 8)?, body)?;
    let width = if width.len() == 1 { width.count(0, "letters")? as usize } else { 0 };
    let (_, names) = next(&mut body, 8)?;
    if width == 0 || names.len() % width != 0 {
        return Err(truncated());
    }
    for field in names.chunks(width) {
        let field = field.split(|&b| b == 0).next().unwrap_or_default();
        let (kind, data) = next(&mut body, 8)?;
        if kind == MATRIX {
            let name = format!("{name}.{}", String::from_utf8_lossy(field));
            array(Bytes { rest: data, ..body }, Some(name), visit)?;
        }
    }
    Ok(())
}

/// The numbers of an element.
fn numbers<'a>((kind, data): (u32, &'a [u8]), order: Bytes) -> Result<Numbers<'a>> {
    let number = match kind {
        1 => Number::I8,
        2 => Number::U8,
        3 => Number::I16,
        4 => Number::U16,
        5 => Number::I32,
        6 => Number::U32,
        7 => Number::F32,
        9 => Number::F64,
        12 => Number::I64,
        13 => Number::U64,
        _ => {
            return Err(Error::new(format!(
                "there is an element of type {kind} where numbers should be: the file is damaged; write it again"
            )));
        }
    };
    Ok(Numbers { number, data, big_endian: order.big_endian })
}

impl Array<'_> {
    fn network(mut self) -> Result<RawNetwork> {
        let Variable { name, rows, cols, sparse } = &self.variable;
        if self.complex {
            return Err(Error::new(format!(
                "'{name}' has complex numbers: save its real part or its absolute values"
            )));
        }
        let entries = if *sparse {
            sparse_entries(&mut self.body, *rows, *cols)
        } else {
            dense_entries(&mut self.body, *rows, *cols)
        };
        square::network(*rows, entries?)
    }
}

fn dense_entries(body: &mut Bytes, rows: u64, cols: u64) -> Result<Vec<Entry>> {
    let values = numbers(next(body, 8)?, *body)?;
    if rows.checked_mul(cols) != Some(values.len() as u64) {
        return Err(Error::new(format!(
            "a matrix of {rows} × {cols} has {} values: the file is damaged; write it again",
            values.len()
        )));
    }
    let all = (0..values.len())
        .map(|at| ((at as u64 % rows) as u32, (at as u64 / rows) as u32, values.get(at)));
    Ok(all.filter(|e| e.2 != 0.0).collect())
}

fn sparse_entries(body: &mut Bytes, rows: u64, cols: u64) -> Result<Vec<Entry>> {
    let row_of = numbers(next(body, 8)?, *body)?;
    let starts = numbers(next(body, 8)?, *body)?;
    let values = numbers(next(body, 8)?, *body)?;
    let damaged = |what: &str| {
        Error::new(format!("the sparse matrix is damaged: {what}; write the file again"))
    };
    if starts.len() as u64 != cols + 1 {
        return Err(damaged("it has not one start for each column"));
    }
    let mut entries = Vec::new();
    for column in 0..cols as usize {
        let (from, to) = (starts.count(column, "entries")?, starts.count(column + 1, "entries")?);
        if from > to || to > row_of.len().min(values.len()) as u64 {
            return Err(damaged("its columns do not fit its entries"));
        }
        for at in from as usize..to as usize {
            let row = row_of.get(at);
            if !(0.0..rows as f64).contains(&row) || row.fract() != 0.0 {
                return Err(damaged("it has an entry outside of its rows"));
            }
            entries.push((row as u32, column as u32, values.get(at)));
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::super::square::any_network;
    use super::*;
    use proptest::prelude::*;

    const SPARSE_FILE: &[u8] = include_bytes!("../../tests/fixtures/sparse.mat");
    const DENSE_FILE: &[u8] = include_bytes!("../../tests/fixtures/dense.mat");
    const STRUCT_FILE: &[u8] = include_bytes!("../../tests/fixtures/struct.mat");
    const BIG_FILE: &[u8] = include_bytes!("../../tests/fixtures/big.mat");

    #[test]
    fn files_of_scipy() {
        for (file, variable) in [(SPARSE_FILE, None), (BIG_FILE, None)] {
            let network = parse(file, variable).unwrap();
            assert_eq!((network.n(), network.directed), (4, true));
            assert_eq!(network.edges, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 3)]);
            assert_eq!(network.weights.unwrap(), [2.0, 1.0, 0.5, -1.0, 3.0]);
        }
        for (file, variable) in [(DENSE_FILE, Some("U")), (STRUCT_FILE, None)] {
            let network = parse(file, variable).unwrap();
            assert_eq!((network.n(), network.directed, network.weights), (4, false, None));
            assert_eq!(network.edges, [(0, 1), (0, 2), (1, 2), (2, 3), (3, 3)]);
        }
        assert_eq!(parse(DENSE_FILE, Some("D")).unwrap().weights.unwrap()[1..], [1.0, -1.0, 3.0]);
        let found = variables(DENSE_FILE).unwrap();
        let wide = Variable { name: "wide".into(), rows: 2, cols: 4, sparse: false };
        assert_eq!((found.len(), &found[2]), (4, &wide));
    }

    fn refused(bytes: &[u8], variable: Option<&str>, words: &[&str]) {
        let error = parse(bytes, variable).unwrap_err().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{error}: {words:?}");
    }

    #[test]
    fn refusals() {
        refused(DENSE_FILE, None, &["FILE.mat:NAME", "U (4 × 4), D (4 × 4), wide (2 × 4)"]);
        refused(DENSE_FILE, Some("x"), &["no matrix 'x'", "wide"]);
        refused(DENSE_FILE, Some("wide"), &["square"]);
        refused(b"\x89HDF\r\n", None, &["v7.3", "-v7"]);
        refused(&[0; 200], None, &["v4"]);
        refused(b"MATLAB", None, &["shorter"]);
        refused(&SPARSE_FILE[..128], None, &["no numeric matrix"]);
        let changed = |file: &[u8], at: usize, bytes: &[u8]| {
            let mut file = file.to_vec();
            file[at..at + bytes.len()].copy_from_slice(bytes);
            file
        };
        refused(&changed(BIG_FILE, 124, &[2, 0]), None, &["v7.3"]);
        refused(&changed(BIG_FILE, 126, b"XX"), None, &["version 5"]);
        refused(&changed(BIG_FILE, 147, &[1]), None, &["no numeric matrix"]);
        refused(&changed(BIG_FILE, 146, &[8]), None, &["complex"]);
        refused(&changed(BIG_FILE, 160, &[0x7f; 8]), None, &["promises"]);
        refused(&changed(BIG_FILE, 163, &[9, 0, 0, 0, 9]), None, &["9 × 9"]);
        for length in 128..BIG_FILE.len() {
            assert!(parse(&BIG_FILE[..length], None).is_err());
        }
    }

    #[test]
    fn sparse_matrices_that_lie() {
        let network = parse(SPARSE_FILE, None).unwrap();
        let mut file = Vec::new();
        write(&network, &mut file).unwrap();
        // Header, tag, flags, shape and name take 184 bytes; rows, starts and values follow.
        for (at, value, word) in
            [(192, 4, "outside"), (224, 7, "do not fit"), (220, 4, "one start")]
        {
            let mut wrong = file.clone();
            wrong[at] = value;
            refused(&wrong, None, &[word]);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, rng_seed: prop::test_runner::RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn writing_and_reading_is_the_identity(network in any_network()) {
            let mut file = Vec::new();
            write(&network, &mut file).unwrap();
            let expected = square::network(network.n() as u64, square::entries(&network).unwrap());
            prop_assert_eq!(parse(&file, Some("A")).unwrap(), expected.unwrap());
        }

        #[test]
        fn nothing_panics(file in 0usize..5, changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), noise in prop::collection::vec(any::<u8>(), 1..300)) {
            let mut file = [SPARSE_FILE, DENSE_FILE, STRUCT_FILE, BIG_FILE].get(file).map_or(noise, |f| f.to_vec());
            for (at, byte) in changes {
                *at.get_mut(&mut file) = byte;
            }
            let found = variables(&file).unwrap_or_default();
            let _ = parse(&file, None);
            found.iter().for_each(|v| drop(parse(&file, Some(&v.name))));
        }
    }
}
