//! Tables as text: CSV, TSV and their like, read and written.

use super::container::failed;
use super::raw::{RawColumn, RawTable, check_count};
use crate::error::{Error, Result};
use std::collections::HashSet;
use std::io::{Read, Write};

/// Cells that say that nothing is known.
pub(super) const MISSING: [&str; 6] = ["", "NA", "NaN", "nan", "?", "."];

/// Reads a table. Cells are trimmed and may stand in quotes; lines that begin with `#` are comments,
/// and empty lines are skipped. Cells that are empty, `NA`, `NaN`, `nan`, `?` or `.` are missing.
///
/// The first row is a header in three cases:
/// - There are columns with numbers further down (nothing but numbers and missing cells), and none
///   of them has a number in the first row, but at least one has a word there.
/// - No column has numbers further down; the cells of the first row are words, all different, and
///   each is new in its column; and some column repeats a word, so that the rows below are data.
/// - It is the only row and all of its cells are different words: then there are no rows.
///
/// A header of numbers is therefore read as data. Without a header the columns are called 1, 2, ….
pub(super) fn parse(input: &mut dyn Read, delimiter: u8) -> Result<RawTable> {
    let mut quotes = 0;
    let lines = Lines { input, quotes: &mut quotes, last: b'\n', after_return: false };
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .comment(Some(b'#'))
        .from_reader(lines);
    let mut first: Option<Vec<String>> = None;
    let mut table = RawTable::default();
    let (mut line, mut first_line, mut spans_lines) = (1, 1, false);
    let mut record = csv::ByteRecord::new();
    loop {
        let more = reader.read_byte_record(&mut record).map_err(refused)?;
        if !more {
            break;
        }
        // The reader stands behind the row; before it there may have been comments.
        let inner = record.as_slice().iter().filter(|&&b| b == b'\n').count();
        line = (reader.position().line() as usize).saturating_sub(1 + inner).max(1);
        spans_lines = inner > 0;
        let cells = record.iter().map(|cell| std::str::from_utf8(cell).map(str::trim));
        let cells = cells.collect::<std::result::Result<Vec<_>, _>>().map_err(|_| {
            Error::new(
                "this row is not valid UTF-8: save the table as UTF-8 text, if it is text at all",
            )
            .at_line(line)
        })?;
        if first.is_none() {
            check_count(cells.len() as u64, "columns")?;
            first = Some(cells.iter().map(ToString::to_string).collect());
            first_line = line;
            table.columns.resize_with(cells.len(), RawColumn::default);
            continue;
        }
        if cells.len() != table.columns.len() {
            return Err(Error::new(format!(
                "this row has {} column{}, the rows before it {}: every row needs the same number",
                cells.len(),
                if cells.len() == 1 { "" } else { "s" },
                table.columns.len()
            ))
            .at_line(line));
        }
        for (column, cell) in table.columns.iter_mut().zip(cells) {
            column.cells.push((!MISSING.contains(&cell)).then(|| cell.to_string()));
        }
        table.lines.push(line);
    }
    drop(reader);
    if spans_lines && quotes % 2 == 1 {
        let message = "a quote is opened in this row and not closed until the end of the file: close or remove it";
        return Err(Error::new(message).at_line(line + 1));
    }
    let first = first.ok_or_else(|| Error::new("this table is empty: nothing to cluster"))?;
    let header = is_header(&first, &table);
    if header && table.lines.is_empty() {
        return Err(Error::new("this table has a header but no rows: nothing to cluster"));
    }
    if !header {
        table.lines.insert(0, first_line);
    }
    for (at, (column, cell)) in table.columns.iter_mut().zip(first).enumerate() {
        column.name = (at + 1).to_string();
        match header {
            true if !cell.is_empty() => column.name = cell,
            true => {}
            false => column.cells.insert(0, Some(cell).filter(|c| !MISSING.contains(&&**c))),
        }
    }
    Ok(table)
}

/// Writes a table with the names of its columns, unless these are just their numbers. Missing cells
/// are left empty.
pub(super) fn write_table(table: &RawTable, delimiter: u8, out: &mut dyn Write) -> Result<()> {
    let cannot = |error: csv::Error| match error.into_kind() {
        csv::ErrorKind::Io(error) => failed(error),
        kind => Error::new(format!("the table cannot be written: {kind:?}")),
    };
    let mut writer =
        csv::WriterBuilder::new().delimiter(delimiter).comment(Some(b'#')).from_writer(out);
    let numbered = table.columns.iter().enumerate().all(|(at, c)| c.name == (at + 1).to_string());
    if !numbered {
        writer.write_record(table.columns.iter().map(|c| &c.name)).map_err(cannot)?;
    }
    for row in 0..table.rows() {
        let cells = table.columns.iter().map(|c| c.cells.get(row).and_then(Option::as_deref));
        writer.write_record(cells.map(Option::unwrap_or_default)).map_err(cannot)?;
    }
    writer.flush().map_err(failed)
}

/// Whether a cell is a number, and not just the name of one that is not.
pub(super) fn is_number(cell: &str) -> bool {
    cell.parse::<f64>().is_ok_and(|x| !x.is_nan())
}

fn is_header(first: &[String], below: &RawTable) -> bool {
    let is_word = |cell: &str| !MISSING.contains(&cell) && !is_number(cell);
    let different = || first.iter().collect::<HashSet<_>>().len() == first.len();
    if below.lines.is_empty() {
        return first.iter().all(|cell| is_word(cell)) && different();
    }
    let numeric: Vec<&String> = first
        .iter()
        .zip(&below.columns)
        .filter(|(_, column)| {
            let mut present = column.cells.iter().flatten().peekable();
            present.peek().is_some() && present.all(|cell| is_number(cell))
        })
        .map(|(cell, _)| cell)
        .collect();
    if !numeric.is_empty() {
        return !numeric.iter().any(|cell| is_number(cell))
            && numeric.iter().any(|cell| is_word(cell));
    }
    let is_new = |(cell, column): (&String, &RawColumn)| {
        is_word(cell) && !column.cells.iter().flatten().any(|below| below == cell)
    };
    let repeats = |column: &RawColumn| {
        let mut seen = HashSet::new();
        !column.cells.iter().flatten().all(|cell| seen.insert(cell))
    };
    different() && first.iter().zip(&below.columns).all(is_new) && below.columns.iter().any(repeats)
}

fn refused(error: csv::Error) -> Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => failed(error),
        kind => Error::new(format!("the table cannot be read: {kind:?}")),
    }
}

/// Ends every line, also the last, with one line feed, so that lines can be counted; and counts
/// quotes, of which an odd number tells that one is not closed.
struct Lines<'a> {
    input: &'a mut dyn Read,
    quotes: &'a mut u64,
    last: u8,
    after_return: bool,
}

impl Read for Lines<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while !buffer.is_empty() {
            let length = self.input.read(buffer)?;
            if length == 0 {
                let missing = usize::from(self.last != b'\n');
                buffer[..missing].fill(b'\n');
                self.last = b'\n';
                return Ok(missing);
            }
            let mut kept = 0;
            for at in 0..length {
                let byte = buffer[at];
                if byte != b'\n' || !self.after_return {
                    buffer[kept] = if byte == b'\r' { b'\n' } else { byte };
                    kept += 1;
                }
                self.after_return = byte == b'\r';
                *self.quotes += u64::from(byte == b'"');
            }
            if kept > 0 {
                self.last = buffer[kept - 1];
                return Ok(kept);
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn csv(text: &str) -> Result<RawTable> {
        parse(&mut text.as_bytes(), b',')
    }

    fn names(text: &str) -> Vec<String> {
        csv(text).unwrap().columns.into_iter().map(|c| c.name).collect()
    }

    #[test]
    fn headers() {
        assert_eq!(names("a,b\n0,1\n1,0\n"), ["a", "b"]);
        assert_eq!(names("0,1\n1,0\n"), ["1", "2"]);
        assert_eq!(names(",b\nx,1\ny,0\n"), ["1", "b"]);
        assert_eq!(names("x,1\ny,0\n"), ["1", "2"], "a first column of names");
        assert_eq!(names("x,NA\ny,0\n"), ["1", "2"], "a missing cell is no name");
        assert_eq!(names("who,likes\nx,y\nz,y\n"), ["who", "likes"]);
        assert_eq!(names("y,n\nn,y\ny,y\n"), ["1", "2"], "words that come again");
        assert_eq!(names("n,n\ny,y\ny,y\n"), ["1", "2"], "the same word twice");
        assert_eq!(names("ann\nbob\ncid\n"), ["1"], "nothing is repeated");
        assert_eq!(names("a,1\nx,1\ny,0\n"), ["1", "2"], "a header of numbers is data");
        assert!(csv("a,b\n").unwrap_err().to_string().contains("no rows"));
        assert!(csv("# a\n\n").unwrap_err().to_string().contains("empty"));
        assert_eq!(csv("1,0").unwrap().rows(), 1);
    }

    #[test]
    fn headers_of_real_tables() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/tables");
        let Ok(files) = std::fs::read_dir(folder) else {
            eprintln!("SKIPPED: ../shared/data/tables is not there");
            return;
        };
        for file in
            files.map(|f| f.unwrap().path()).filter(|f| f.extension().is_some_and(|e| e == "csv"))
        {
            let text = std::fs::read_to_string(&file).unwrap();
            let (header, below) = text.split_once('\n').unwrap();
            assert_eq!(names(&text), header.trim().split(',').collect::<Vec<_>>(), "{file:?}");
            let without = csv(below).unwrap();
            assert_eq!(without.columns[0].name, "1", "{file:?} without its header");
            assert_eq!(without.rows(), csv(&text).unwrap().rows());
        }
    }

    #[test]
    fn cells() {
        let table =
            csv("\u{feff}\"a\", b ,c\r\n# note\r\n\r\n1,?,\"x, \"\"y\"\"\"\r\n.,0,NA\r\n").unwrap();
        assert_eq!(table.lines, [4, 5]);
        let cells =
            |at: usize| table.columns[at].cells.iter().map(Option::as_deref).collect::<Vec<_>>();
        assert_eq!(table.columns[0].name, "a");
        assert_eq!(cells(0), [Some("1"), None]);
        assert_eq!(cells(1), [None, Some("0")]);
        assert_eq!(cells(2), [Some("x, \"y\""), None]);
        assert_eq!(parse(&mut &b"a\tb\n1\t2\n"[..], b'\t').unwrap().columns[1].name, "b");
        assert_eq!(csv("a\n1\n\"x\ny\"\n2").unwrap().lines, [1, 2, 3, 5], "a cell of two lines");
        assert_eq!(csv("a\r1\r\r2").unwrap().lines, [2, 4], "an old line end");
    }

    #[test]
    fn refusals() {
        let refused = |bytes: &[u8], words: [&str; 2]| {
            let error = parse(&mut &*bytes, b',').unwrap_err().to_string();
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
        };
        refused(b"a,b\n# x\n1,0\n1\n", ["line 4", "1 column,"]);
        refused(b"a,b\n1,\xff\n", ["line 2", "UTF-8"]);
        refused(b"a,b\n1,\"x\n0,1\n0,0\n", ["line 2", "not closed"]);
        refused(b"a,b\r\n\r\n1,0\r\n1,\"x\r\n0,1", ["line 4", "not closed"]);
    }

    fn any_table() -> impl Strategy<Value = RawTable> {
        let cell = prop::option::of(prop_oneof!["[01]", "-?[0-9]{1,3}(\\.[0-9])?"]);
        let text = prop::option::of("[a-z#\"',; \n]{0,6}[a-z\"#]");
        (1usize..5, 2usize..6).prop_flat_map(move |(columns, rows)| {
            let numbers = prop::collection::vec(prop::collection::vec(cell.clone(), rows), columns);
            (numbers, prop::collection::vec(text.clone(), rows), "[a-z#\"]{1,5}").prop_map(
                move |(mut columns, mut words, name)| {
                    columns[0][1] = Some("7".into());
                    words.iter_mut().flatten().for_each(|w| *w = w.trim().to_string());
                    columns.push(words);
                    let named = columns.into_iter().enumerate();
                    let columns =
                        named.map(|(at, cells)| RawColumn { name: format!("{name}{at}"), cells });
                    RawTable { columns: columns.collect(), lines: vec![] }
                },
            )
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, rng_seed: prop::test_runner::RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn writing_and_reading_is_the_identity(table in any_table(), delimiter in prop::sample::select(vec![b',', b';', b'\t'])) {
            let mut out = Vec::new();
            write_table(&table, delimiter, &mut out).unwrap();
            let read = parse(&mut &*out, delimiter).unwrap();
            prop_assert_eq!(read.columns, table.columns);
        }

        #[test]
        fn nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "[a1,\"\n#?.\r ]{0,60}") {
            let _ = (parse(&mut &*bytes, b','), csv(&text));
        }
    }
}
