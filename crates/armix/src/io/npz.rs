//! NumPy's `.npz` archives: sparse matrices of SciPy, or arrays of which one is chosen.

use super::container::LIMIT;
use super::npy::{self, Array};
use super::raw::{RawColumn, RawNetwork, RawTable, check_count};
use super::square::{self, Entry};
use super::zip;
use crate::error::{Error, Result};
use std::io::Write;

/// More cells than this are read from a sparse table only if a thousandth of them is not zero.
const MAX_EMPTY_CELLS: u64 = 1 << 20;

/// A sparse table with more cells than this is not spread out.
const MAX_CELLS: u64 = 1 << 26;

/// More vertices than this are believed only if a thousandth of them has an entry.
const MAX_EMPTY_VERTICES: u64 = 1 << 20;

/// The network of SciPy's sparse matrix, or of the array that is named or the only one with two
/// dimensions.
pub(super) fn parse_network(bytes: &[u8], choice: Option<&str>) -> Result<RawNetwork> {
    let mut archive = Archive::open(bytes)?;
    if let (None, Some(format)) = (choice, archive.sparse()?) {
        let (rows, columns, entries) = archive.entries(&format)?;
        if rows != columns {
            return Err(Error::new(format!(
                "this sparse matrix has {rows} rows and {columns} columns; the matrix of a network is square (for a table, give --model bernoulli)"
            )));
        }
        if rows > MAX_EMPTY_VERTICES && rows / 1000 > entries.len() as u64 {
            return Err(Error::new(format!(
                "the file promises {rows} vertices for {} entries, which is taken for a mistake: leave out vertices without edges",
                entries.len()
            )));
        }
        return square::network(rows, entries);
    }
    Array::parse(&archive.chosen(choice)?)?.network()
}

/// The table of SciPy's sparse matrix, or of the array that is named or the only one with two
/// dimensions.
pub(super) fn parse_table(bytes: &[u8], choice: Option<&str>) -> Result<RawTable> {
    let mut archive = Archive::open(bytes)?;
    if let (None, Some(format)) = (choice, archive.sparse()?) {
        let (rows, columns, entries) = archive.entries(&format)?;
        return spread(rows, columns, &entries);
    }
    Array::parse(&archive.chosen(choice)?)?.table()
}

/// Writes the matrix of a network for `scipy.sparse.load_npz`, compressed by rows. Names are not
/// kept, and the weights of repeated edges are added up.
pub(super) fn write(network: &RawNetwork, out: &mut dyn Write) -> Result<()> {
    let n = network.n();
    let entries = square::entries(network)?;
    let mut starts = vec![0i64; n + 1];
    entries.iter().for_each(|e| starts[e.0 as usize + 1] += 1);
    for v in 0..n {
        starts[v + 1] += starts[v];
    }
    let whole = |numbers: &mut dyn Iterator<Item = i64>, length: usize| {
        let mut array = npy::header("<i8", &[length]);
        array.extend(numbers.flat_map(i64::to_le_bytes));
        array
    };
    let mut values = npy::header("<f8", &[entries.len()]);
    values.extend(entries.iter().flat_map(|e| e.2.to_le_bytes()));
    let columns = whole(&mut entries.iter().map(|e| i64::from(e.1)), entries.len());
    let members = [
        ("indices.npy", columns),
        ("indptr.npy", whole(&mut starts.iter().copied(), n + 1)),
        ("format.npy", [npy::header("|S3", &[]), b"csr".to_vec()].concat()),
        ("shape.npy", whole(&mut [n as i64; 2].into_iter(), 2)),
        ("data.npy", values),
    ];
    zip::write(&members, out)
}

fn spread(rows: u64, columns: u64, entries: &[Entry]) -> Result<RawTable> {
    let cells = rows.saturating_mul(columns);
    if cells == 0 {
        return Err(Error::new("this sparse matrix is empty: nothing to cluster"));
    }
    let empty = cells > MAX_EMPTY_CELLS && cells / 1000 > entries.len() as u64;
    if cells > MAX_CELLS || empty {
        return Err(Error::new(format!(
            "a sparse matrix of {rows} × {columns} with {} entries is too large and too empty for a table: leave out rare columns",
            entries.len()
        )));
    }
    let mut values = vec![0.0; cells as usize];
    for &(row, column, value) in entries {
        values[u64::from(column) as usize * rows as usize + row as usize] += value;
    }
    let text = |x: &f64| Some(x).filter(|x| !x.is_nan()).map(f64::to_string);
    let columns = values.chunks(rows as usize).enumerate().map(|(at, cells)| RawColumn {
        name: (at + 1).to_string(),
        cells: cells.iter().map(text).collect(),
    });
    Ok(RawTable { columns: columns.collect(), lines: Vec::new() })
}

/// An archive, and how much may still be unpacked from it.
struct Archive<'a> {
    bytes: &'a [u8],
    members: Vec<zip::Member>,
    budget: u64,
}

impl<'a> Archive<'a> {
    fn open(bytes: &'a [u8]) -> Result<Self> {
        Ok(Archive { bytes, members: zip::members(bytes)?, budget: LIMIT })
    }

    fn names(&self) -> Vec<&str> {
        let names = self.members.iter().map(|m| &*m.name);
        names.map(|name| name.strip_suffix(".npy").unwrap_or(name)).collect()
    }

    fn array(&mut self, name: &str) -> Result<Vec<u8>> {
        let at = self.names().iter().position(|n| *n == name).ok_or_else(|| {
            Error::new(format!(
                "there is no array '{name}' in this .npz file, which holds {}",
                self.names().join(", ")
            ))
        })?;
        self.member(at)
    }

    fn member(&mut self, at: usize) -> Result<Vec<u8>> {
        let content = zip::extract(self.bytes, &self.members[at], self.budget)?;
        self.budget -= content.len() as u64;
        Ok(content)
    }

    /// SciPy's word for the way in which a sparse matrix is stored, if this is one.
    fn sparse(&mut self) -> Result<Option<String>> {
        let names = self.names();
        if !["format", "shape", "data"].iter().all(|name| names.contains(name)) {
            return Ok(None);
        }
        let file = self.array("format")?;
        Ok(Array::parse(&file)?.string())
    }

    /// Rows, columns and entries of a sparse matrix.
    fn entries(&mut self, format: &str) -> Result<(u64, u64, Vec<Entry>)> {
        let damaged =
            |what: &str| Error::new(format!("the sparse matrix is damaged: {what}; save it again"));
        if !["csr", "csc", "coo"].contains(&format) {
            return Err(Error::new(format!(
                "this sparse matrix is stored as '{format}'; csr, csc and coo are read: save it with tocsr()"
            )));
        }
        let shape = self.array("shape")?;
        let shape = Array::parse(&shape)?;
        if shape.len() != 2 {
            return Err(damaged("its shape has not two numbers"));
        }
        let (rows, columns) = (shape.index(0, 1 << 53)?, shape.index(1, 1 << 53)?);
        check_count(rows, "rows")?;
        check_count(columns, "columns")?;
        let values = self.array("data")?;
        let values = Array::parse(&values)?;
        let mut entries = Vec::new();
        if format == "coo" {
            // SciPy is going to write one array of two rows instead of two arrays.
            let files = match self.names().contains(&"coords") {
                true => [self.array("coords")?, Vec::new()],
                false => [self.array("row")?, self.array("col")?],
            };
            let first = Array::parse(&files[0])?;
            let second = if files[1].is_empty() { None } else { Some(Array::parse(&files[1])?) };
            let n = values.len();
            let fits = match &second {
                None => first.shape == [2, n as u64],
                Some(second) => first.len() == n && second.len() == n,
            };
            if !fits {
                return Err(damaged("it has not one row and one column for each value"));
            }
            for at in 0..n {
                let (row, column) = match &second {
                    None => (
                        first.index(first.place(0, at), rows)?,
                        first.index(first.place(1, at), columns)?,
                    ),
                    Some(second) => (first.index(at, rows)?, second.index(at, columns)?),
                };
                entries.push((row as u32, column as u32, values.value(at)));
            }
            return Ok((rows, columns, entries));
        }
        let (starts, inner) = (self.array("indptr")?, self.array("indices")?);
        let (starts, inner) = (Array::parse(&starts)?, Array::parse(&inner)?);
        let (outer_end, inner_end) =
            if format == "csr" { (rows, columns) } else { (columns, rows) };
        if starts.len() as u64 != outer_end + 1 {
            return Err(damaged("it has not one start for each row or column"));
        }
        let length = inner.len().min(values.len()) as u64;
        for outer in 0..outer_end as usize {
            let (from, to) =
                (starts.index(outer, length + 1)?, starts.index(outer + 1, length + 1)?);
            if from > to {
                return Err(damaged("its rows or columns overlap"));
            }
            for at in from as usize..to as usize {
                let (outer, inner) = (outer as u32, inner.index(at, inner_end)? as u32);
                let (row, column) = if format == "csr" { (outer, inner) } else { (inner, outer) };
                entries.push((row, column, values.value(at)));
            }
        }
        Ok((rows, columns, entries))
    }

    /// The array that is named, or the only one with two dimensions.
    fn chosen(&mut self, choice: Option<&str>) -> Result<Vec<u8>> {
        if let Some(name) = choice {
            return self.array(name.strip_suffix(".npy").unwrap_or(name));
        }
        let names: Vec<String> = self.names().iter().map(ToString::to_string).collect();
        let mut found: Vec<(String, Vec<u8>)> = Vec::new();
        for (at, name) in names.iter().enumerate() {
            let file = self.member(at)?;
            if names.len() == 1 || Array::parse(&file).is_ok_and(|array| array.shape.len() == 2) {
                found.push((name.clone(), file));
            }
        }
        match found.len() {
            1 => Ok(found.remove(0).1),
            _ => Err(Error::new(format!(
                "which array is meant? FILE.npz:NAME chooses one of two dimensions from {}",
                names.join(", ")
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::square::any_network;
    use super::*;
    use proptest::prelude::*;

    const CSR: &[u8] = include_bytes!("../../tests/fixtures/csr.npz");
    const CSC: &[u8] = include_bytes!("../../tests/fixtures/csc.npz");
    const COO: &[u8] = include_bytes!("../../tests/fixtures/coo.npz");
    const COORDS: &[u8] = include_bytes!("../../tests/fixtures/coords.npz");
    const BSR: &[u8] = include_bytes!("../../tests/fixtures/bsr.npz");
    const ARRAYS: &[u8] = include_bytes!("../../tests/fixtures/arrays.npz");

    #[test]
    fn files_of_scipy() {
        for file in [CSR, CSC, COO, COORDS] {
            let network = parse_network(file, None).unwrap();
            assert_eq!((network.n(), network.directed), (4, true));
            assert_eq!(network.edges, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 3)]);
            assert_eq!(network.weights.unwrap(), [2.0, 1.0, 0.5, -1.0, 3.0]);
            let table = parse_table(file, None).unwrap();
            let texts: Vec<_> = table.columns[0].cells.iter().flatten().collect();
            assert_eq!(texts, ["0", "0", "0.5", "0"]);
        }
    }

    #[test]
    fn one_of_several_arrays() {
        assert_eq!(parse_network(ARRAYS, Some("U")).unwrap().edges.len(), 5);
        assert_eq!(parse_table(ARRAYS, Some("wide.npy")).unwrap().rows(), 2);
        let refused = |result: Result<RawNetwork>, word: &str| {
            let error = result.unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        };
        refused(
            parse_network(ARRAYS, None),
            "FILE.npz:NAME chooses one of two dimensions from U, wide",
        );
        refused(parse_network(ARRAYS, Some("x")), "no array 'x'");
        refused(parse_network(ARRAYS, Some("wide")), "square");
        refused(parse_network(BSR, None), "tocsr()");
        refused(parse_network(&CSR[..CSR.len() - 1], None), "damaged");
    }

    /// A sparse matrix of these arrays of whole numbers.
    fn sparse(format: &str, arrays: &[(&str, &[i64])]) -> Vec<u8> {
        let mut members = vec![("format.npy", [npy::header("|S3", &[]), format.into()].concat())];
        for (name, numbers) in arrays {
            let mut array = npy::header("<i8", &[numbers.len()]);
            array.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
            members.push((name, array));
        }
        let mut out = Vec::new();
        zip::write(&members, &mut out).unwrap();
        out
    }

    #[test]
    fn sparse_matrices_that_lie() {
        let refused = |file: Vec<u8>, word: &str| {
            let errors = [parse_network(&file, None).err(), parse_table(&file, None).err()];
            let errors = errors.map(|e| e.unwrap().to_string());
            assert!(errors.iter().all(|e| e.contains(word)), "{errors:?}: {word}");
        };
        let csr = |shape: &[i64], starts: &[i64], inner: &[i64]| {
            sparse(
                "csr",
                &[
                    ("shape.npy", shape),
                    ("data.npy", &[1, 1]),
                    ("indptr.npy", starts),
                    ("indices.npy", inner),
                ],
            )
        };
        assert!(parse_network(&csr(&[2, 2], &[0, 1, 2], &[1, 0]), None).is_ok());
        refused(csr(&[2, 2, 2], &[0, 1, 2], &[1, 0]), "two numbers");
        refused(csr(&[1 << 40, 1 << 40], &[0, 1, 2], &[1, 0]), "promises");
        refused(csr(&[3, 3], &[0, 1, 2], &[1, 0]), "one start");
        refused(csr(&[2, 2], &[0, 2, 1], &[1, 0]), "overlap");
        refused(csr(&[2, 2], &[0, 1, 9], &[1, 0]), "9 is not");
        refused(csr(&[2, 2], &[0, 1, 2], &[1, -2]), "-2 is not");
        let coo = |n: i64, row: &[i64]| {
            sparse(
                "coo",
                &[("shape.npy", &[n, n]), ("data.npy", &[1]), ("row.npy", row), ("col.npy", &[0])],
            )
        };
        assert!(parse_network(&coo(2, &[1]), None).is_ok());
        refused(coo(2, &[1, 0]), "one row and one column");
        refused(coo(1 << 28, &[1]), "268435456");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, rng_seed: prop::test_runner::RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn writing_and_reading_is_the_identity(network in any_network()) {
            let mut file = Vec::new();
            write(&network, &mut file).unwrap();
            let expected = square::network(network.n() as u64, square::entries(&network).unwrap());
            prop_assert_eq!(parse_network(&file, None).unwrap(), expected.unwrap());
        }

        #[test]
        fn nothing_panics(file in 0usize..6, inside in any::<bool>(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
            let mut file = [CSR, CSC, COO, COORDS, BSR, ARRAYS][file].to_vec();
            if inside {
                // Otherwise check sums would hide most changes.
                let members = zip::members(&file).unwrap();
                let arrays = members.iter().map(|m| (&*m.name, zip::extract(&file, m, 1 << 20).unwrap()));
                let mut arrays: Vec<_> = arrays.collect();
                for (array, at, byte) in changes {
                    *at.get_mut(&mut array.get_mut(&mut arrays).1) = byte;
                }
                let mut changed = Vec::new();
                zip::write(&arrays, &mut changed).unwrap();
                file = changed;
            } else {
                changes.iter().for_each(|(_, at, byte)| *at.get_mut(&mut file) = *byte);
            }
            let _ = (parse_network(&file, None), parse_table(&file, None));
            let _ = (parse_network(&file, Some("U")), parse_table(&file, Some("U")));
        }
    }
}
