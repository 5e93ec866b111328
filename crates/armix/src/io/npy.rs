//! NumPy's `.npy` files: one array of numbers as a network or a table.

use super::bytes::{Bytes, Number};
use super::container::failed;
use super::raw::{RawColumn, RawNetwork, RawTable, check_count};
use super::square;
use crate::error::{Error, Result};
use std::io::Write;

/// What every `.npy` file begins with.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// A dense matrix beyond this is not written.
const MAX_DENSE_BYTES: u64 = 1 << 32;

/// The network of a square matrix, whose vertices are named 0, 1, ….
pub(super) fn parse_network(bytes: &[u8]) -> Result<RawNetwork> {
    Array::parse(bytes)?.network()
}

/// The table of a matrix, whose columns are named 1, 2, …; NaN is a missing cell.
pub(super) fn parse_table(bytes: &[u8]) -> Result<RawTable> {
    Array::parse(bytes)?.table()
}

/// Writes the dense matrix of a network. Names are not kept, and the weights of repeated edges are
/// added up.
pub(super) fn write_network(network: &RawNetwork, out: &mut dyn Write) -> Result<()> {
    let n = network.n();
    let entries = square::entries(network)?;
    let pattern = entries.iter().all(|e| e.2 == 1.0);
    let size = if pattern { 1 } else { 8 };
    if (n as u64).saturating_mul(n as u64).saturating_mul(size) > MAX_DENSE_BYTES {
        return Err(Error::new(format!(
            "a dense matrix of {n} × {n} is too large to be written: write .npz, which is sparse"
        )));
    }
    out.write_all(&header(if pattern { "|u1" } else { "<f8" }, &[n, n])).map_err(failed)?;
    let mut entries = entries.iter().peekable();
    for u in 0..n {
        let mut row = vec![0.0f64; n];
        while let Some(entry) = entries.next_if(|e| e.0 as usize == u) {
            row[entry.1 as usize] = entry.2;
        }
        let row: Vec<u8> = match pattern {
            true => row.iter().map(|&x| x as u8).collect(),
            false => row.iter().flat_map(|x| x.to_le_bytes()).collect(),
        };
        out.write_all(&row).map_err(failed)?;
    }
    Ok(())
}

/// Writes a table of numbers; missing cells become NaN.
pub(super) fn write_table(table: &RawTable, out: &mut dyn Write) -> Result<()> {
    let (rows, columns) = (table.rows(), &table.columns);
    out.write_all(&header("<f8", &[rows, columns.len()])).map_err(failed)?;
    for row in 0..rows {
        for column in columns {
            let cell = column.cells.get(row).and_then(Option::as_deref);
            let value = cell.map_or(Ok(f64::NAN), str::parse).map_err(|_| {
                Error::new(format!(
                    "column '{}' holds '{}': only numbers can be written as .npy; write CSV or leave the column out",
                    column.name,
                    cell.unwrap_or_default()
                ))
            })?;
            out.write_all(&value.to_le_bytes()).map_err(failed)?;
        }
    }
    Ok(())
}

/// The header of version 1 for an array in C order.
pub(super) fn header(descr: &str, shape: &[usize]) -> Vec<u8> {
    let shape: Vec<String> = shape.iter().map(|x| format!("{x},")).collect();
    let shape = shape.join(" ");
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    while !(MAGIC.len() + 4 + text.len() + 1).is_multiple_of(64) {
        text.push(' ');
    }
    text.push('\n');
    [MAGIC, &[1, 0], &(text.len() as u16).to_le_bytes(), text.as_bytes()].concat()
}

/// What the elements of an array are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Number(Number),
    /// One byte for each letter.
    Bytes(usize),
    /// Four bytes for each letter.
    Unicode(usize),
}

/// An array in a file.
#[derive(Debug)]
pub(super) struct Array<'a> {
    kind: Type,
    big_endian: bool,
    fortran: bool,
    pub(super) shape: Vec<u64>,
    data: &'a [u8],
}

impl<'a> Array<'a> {
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self> {
        let rest =
            bytes.strip_prefix(MAGIC).ok_or_else(|| Error::new("this is not a .npy file"))?;
        let mut bytes = Bytes::little(rest);
        let (major, _minor) = (bytes.u8()?, bytes.u8()?);
        let length = match major {
            1 => u64::from(bytes.u16()?),
            2 | 3 => u64::from(bytes.u32()?),
            _ => {
                return Err(Error::new(format!(
                    "this .npy file has version {major}; versions 1 to 3 are read: save it again with numpy.save"
                )));
            }
        };
        let text = String::from_utf8_lossy(bytes.take(length)?);
        let (descr, fortran, shape) = dictionary(&text).ok_or_else(|| {
            Error::new("the header of this .npy file cannot be understood: save a plain array of numbers with numpy.save")
        })?;
        let (kind, big_endian) = kind(descr).ok_or_else(|| {
            Error::new(format!("this array has elements of type '{descr}'; bool, int8 to int64, uint8 to uint64, float32 and float64 are read: convert it with astype"))
        })?;
        let size = match kind {
            Type::Number(number) => number.size() as u64,
            Type::Bytes(letters) => letters as u64,
            Type::Unicode(letters) => 4 * letters as u64,
        };
        shape.iter().try_for_each(|&x| check_count(x, "rows or columns"))?;
        let promised = shape.iter().try_fold(size, |a, &b| a.checked_mul(b));
        if promised != Some(bytes.rest.len() as u64) {
            return Err(Error::new(format!(
                "the header promises an array of {}, but {} bytes follow: the file is truncated or damaged; save it again",
                shape.iter().map(u64::to_string).collect::<Vec<_>>().join(" × "),
                bytes.rest.len()
            )));
        }
        Ok(Array { kind, big_endian, fortran, shape, data: bytes.rest })
    }

    /// Whether the first index runs fastest.
    pub(super) fn is_fortran(&self) -> bool {
        self.fortran
    }

    /// The number of elements.
    pub(super) fn len(&self) -> usize {
        match self.kind {
            Type::Number(number) => self.data.len() / number.size(),
            _ => 1,
        }
    }

    /// Where an element of a matrix stands.
    pub(super) fn place(&self, row: usize, column: usize) -> usize {
        match (self.fortran, &self.shape[..]) {
            (true, &[rows, _]) => column * rows as usize + row,
            (false, &[_, columns]) => row * columns as usize + column,
            _ => row,
        }
    }

    /// The element at a place of the file; NaN where there are no numbers.
    pub(super) fn value(&self, at: usize) -> f64 {
        match self.kind {
            Type::Number(number) => {
                let size = number.size();
                number.value(&self.data[at * size..(at + 1) * size], self.big_endian)
            }
            _ => f64::NAN,
        }
    }

    /// The element at a place of the file if it is a whole number below `end`.
    pub(super) fn index(&self, at: usize, end: u64) -> Result<u64> {
        let value = self.value(at);
        if !(0.0..end as f64).contains(&value) || value.fract() != 0.0 {
            return Err(Error::new(format!(
                "the sparse matrix is damaged: {value} is not a whole number from 0 to {}; save it again",
                end.saturating_sub(1)
            )));
        }
        Ok(value as u64)
    }

    /// The text of an array that is one string.
    pub(super) fn string(&self) -> Option<String> {
        let letter = |four: &[u8]| char::from_u32(Number::U32.value(four, self.big_endian) as u32);
        let text: String = match self.kind {
            Type::Number(_) => return None,
            Type::Bytes(_) => String::from_utf8_lossy(self.data).into_owned(),
            Type::Unicode(_) => self.data.chunks_exact(4).filter_map(letter).collect(),
        };
        Some(text.trim_end_matches('\0').to_string())
    }

    pub(super) fn network(&self) -> Result<RawNetwork> {
        let (rows, columns) = self.matrix()?;
        if rows != columns {
            return Err(Error::new(format!(
                "this array has {rows} rows and {columns} columns; the matrix of a network is square (for a table, give --model bernoulli)"
            )));
        }
        let all = (0..self.len()).map(|at| {
            let (outer, inner) = (at as u64 / rows, at as u64 % rows);
            let (row, column) = if self.fortran { (inner, outer) } else { (outer, inner) };
            (row as u32, column as u32, self.value(at))
        });
        square::network(rows, all.filter(|e| e.2 != 0.0).collect())
    }

    pub(super) fn table(&self) -> Result<RawTable> {
        let (rows, columns) = self.matrix()?;
        let Type::Number(number) = self.kind else {
            return Err(Error::new("this array holds text, not numbers"));
        };
        if rows == 0 || columns == 0 {
            return Err(Error::new("this array is empty: nothing to cluster"));
        }
        let size = number.size();
        let cell = |row: u64, column: u64| {
            let at = self.place(row as usize, column as usize);
            number.text(&self.data[at * size..(at + 1) * size], self.big_endian)
        };
        let columns = (0..columns).map(|column| RawColumn {
            name: (column + 1).to_string(),
            cells: (0..rows).map(|row| cell(row, column)).collect(),
        });
        Ok(RawTable { columns: columns.collect(), lines: Vec::new() })
    }

    fn matrix(&self) -> Result<(u64, u64)> {
        match (&self.shape[..], self.kind) {
            (&[rows, columns], Type::Number(_)) => Ok((rows, columns)),
            (_, Type::Number(_)) => Err(Error::new(format!(
                "this array has {} dimension{}; a network or a table has two: reshape it",
                self.shape.len(),
                if self.shape.len() == 1 { "" } else { "s" }
            ))),
            _ => Err(Error::new("this array holds text, not numbers")),
        }
    }
}

/// The values of the header: type, order and shape.
fn dictionary(text: &str) -> Option<(&str, bool, Vec<u64>)> {
    let after = |key: &str| {
        let (_, rest) = text
            .split_once(&format!("'{key}'"))
            .or_else(|| text.split_once(&format!("\"{key}\"")))?;
        Some(rest.trim_start().strip_prefix(':')?.trim_start())
    };
    let descr = after("descr")?;
    let quote = descr.chars().next().filter(|c| "'\"".contains(*c))?;
    let descr = descr[1..].split(quote).next()?;
    let order = after("fortran_order")?;
    let fortran = order.starts_with("True");
    if !fortran && !order.starts_with("False") {
        return None;
    }
    let (shape, _) = after("shape")?.strip_prefix('(')?.split_once(')')?;
    let lengths =
        shape.split(',').map(|x| x.trim().trim_end_matches('L')).filter(|x| !x.is_empty());
    let lengths: Option<Vec<u64>> = lengths.map(|x| x.parse().ok()).collect();
    Some((descr, fortran, lengths.filter(|l| l.len() <= 32)?))
}

/// What a type like `<f8` means, and whether it is big endian.
fn kind(descr: &str) -> Option<(Type, bool)> {
    let order = descr.chars().next().filter(|c| "<>=|".contains(*c))?;
    let descr = &descr[1..];
    let kind = match descr {
        "b1" | "u1" => Type::Number(Number::U8),
        "i1" => Type::Number(Number::I8),
        "i2" => Type::Number(Number::I16),
        "u2" => Type::Number(Number::U16),
        "i4" => Type::Number(Number::I32),
        "u4" => Type::Number(Number::U32),
        "i8" => Type::Number(Number::I64),
        "u8" => Type::Number(Number::U64),
        "f4" => Type::Number(Number::F32),
        "f8" => Type::Number(Number::F64),
        _ => match (descr.get(..1)?, descr.get(1..)?.parse::<u16>().ok()?.into()) {
            ("S", letters) => Type::Bytes(letters),
            ("U", letters) => Type::Unicode(letters),
            _ => return None,
        },
    };
    Some((kind, order == '>'))
}

#[cfg(test)]
mod tests {
    use super::super::square::any_network;
    use super::*;
    use proptest::prelude::*;

    const FILES: [&[u8]; 4] = [
        include_bytes!("../../tests/fixtures/network.npy"),
        include_bytes!("../../tests/fixtures/fortran.npy"),
        include_bytes!("../../tests/fixtures/table.npy"),
        include_bytes!("../../tests/fixtures/wide.npy"),
    ];

    #[test]
    fn files_of_numpy() {
        for file in &FILES[..2] {
            let network = parse_network(file).unwrap();
            assert_eq!((network.n(), network.directed), (4, true));
            assert_eq!(network.edges, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 3)]);
            assert_eq!(network.weights.unwrap(), [2.0, 1.0, 0.5, -1.0, 3.0]);
        }
        let table = parse_table(FILES[2]).unwrap();
        assert_eq!((table.rows(), table.columns.len(), table.lines.len()), (2, 3, 0));
        assert_eq!(table.columns[2].name, "3");
        assert_eq!(table.columns[2].cells, [None, Some("1.5".to_string())]);
        let transposed = parse_table(FILES[1]).unwrap();
        assert_eq!(transposed.columns[3].cells[2].as_deref(), Some("-1"));
        let table = parse_table(FILES[3]).unwrap();
        assert_eq!(table.columns[0].cells, [Some("1".to_string()), Some("0".to_string())]);
    }

    fn array(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': ({shape})}}");
        [MAGIC, &[2, 0], &(text.len() as u32).to_le_bytes(), text.as_bytes(), data].concat()
    }

    #[test]
    fn refusals() {
        let refused = |file: &[u8], word: &str| {
            let errors = [parse_network(file).unwrap_err(), parse_table(file).unwrap_err()];
            let errors = errors.map(|e| e.to_string());
            assert!(errors.iter().all(|e| e.contains(word)), "{errors:?}");
        };
        assert!(parse_network(FILES[3]).unwrap_err().to_string().contains("square"));
        // Not a number: not observed.
        let nan = parse_network(&array("'<f4'", "1, 1", &f32::NAN.to_le_bytes())).unwrap();
        assert_eq!(nan.hidden, [(0, 0)]);
        refused(b"PK", "not a .npy");
        refused(&array("'<c8'", "1, 1", &[0; 8]), "'<c8'");
        refused(&array("[('a', '<f8')]", "1,", &[0; 8]), "cannot be understood");
        refused(&array("'<f8'", "-1, 2", &[]), "cannot be understood");
        refused(&array("'<i2'", "2,", &[0; 4]), "1 dimension;");
        refused(&array("'|S2'", "1, 1", b"ab"), "text");
        refused(&array("'<f8'", "1000000000000, 1000000000000", &[]), "promises 1000000000000");
        refused(&array("'<f8'", "200000000, 200000000", &[]), "bytes follow");
        assert!(parse_table(&array("'<f8'", "0, 200000000", &[])).is_err());
        let mut version = FILES[0].to_vec();
        version[6] = 4;
        refused(&version, "version 4");
        for length in 0..FILES[0].len() {
            assert!(parse_network(&FILES[0][..length]).is_err());
        }
    }

    #[test]
    fn tables_there_and_back() {
        for file in &FILES {
            let table = parse_table(file).unwrap();
            let mut out = Vec::new();
            write_table(&table, &mut out).unwrap();
            assert_eq!(parse_table(&out).unwrap(), table);
        }
        let cells = vec![Some("x".to_string())];
        let text = RawTable { columns: vec![RawColumn { name: "a".into(), cells }], lines: vec![] };
        assert!(write_table(&text, &mut Vec::new()).unwrap_err().to_string().contains("'a'"));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, rng_seed: prop::test_runner::RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn writing_and_reading_is_the_identity(network in any_network()) {
            let mut file = Vec::new();
            write_network(&network, &mut file).unwrap();
            let expected = square::network(network.n() as u64, square::entries(&network).unwrap());
            prop_assert_eq!(parse_network(&file).unwrap(), expected.unwrap());
        }

        #[test]
        fn nothing_panics(file in 0usize..4, changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
            let mut file = FILES[file].to_vec();
            for (at, byte) in changes {
                *at.get_mut(&mut file) = byte;
            }
            let _ = (parse_network(&file), parse_table(&file));
        }
    }
}
