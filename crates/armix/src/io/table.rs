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
/// The first row is a header in these cases:
/// - There are columns with numbers further down (nothing but numbers and missing cells), and none
///   of them has a number in the first row, but at least one has a word there.
/// - Numbers in the first row name columns as years do, see [`rising_titles`]; and all other cells of it
///   are words that are new in their columns, or the corner is empty.
/// - No column has numbers further down; the cells of the first row are words, all different, and
///   each is new in its column; and some column repeats a word or is mostly numbers, or all columns are
///   empty, so that the rows below are something else.
/// - It is the only row and all of its cells are different words: then there are no rows.
///
/// Other headers of numbers are therefore read as data. Without a header the columns are called 1, 2, ….
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

/// A number with a comma where others have a point, as it is written with a point.
pub(super) fn with_point(cell: &str) -> Option<String> {
    let (before, after) = cell.split_once(',')?;
    let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let whole = digit(before.chars().last()) && digit(after.chars().next());
    let one = !before.contains(['.', 'e', 'E']) && !after.contains([',', '.']);
    let number = format!("{before}.{after}");
    (whole && one && is_number(&number)).then_some(number)
}

/// Whether a cell is a number with a point or a comma.
fn reads_as_number(cell: &str) -> bool {
    is_number(cell) || with_point(cell).is_some()
}

/// Whether numbers on top of columns are more likely their names, as years are: they are whole and rise evenly, and
/// every one of them is beyond all numbers below it. Two are enough within 1500 and 2199; elsewhere there must
/// be four or more, and each one more than the one before.
fn rising_titles<'a>(columns: impl Iterator<Item = (&'a str, Vec<&'a str>)>) -> bool {
    let (mut titles, mut beyond) = (Vec::new(), true);
    for (title, below) in columns {
        let title = title.parse().unwrap_or(f64::NAN);
        let numbers = || below.iter().filter_map(|cell| number(cell));
        beyond &= numbers().all(|x| x < title) || numbers().all(|x| x > title);
        titles.push(title);
    }
    beyond && rise_evenly(&titles, 4)
}

/// The number in a cell, with a point or a comma.
fn number(cell: &str) -> Option<f64> {
    cell.parse().ok().or_else(|| with_point(cell)?.parse().ok())
}

/// Whether these are whole numbers that rise by equal steps within 1500 and 2199, or by one if there are enough of them.
fn rise_evenly(titles: &[f64], enough: usize) -> bool {
    let [first, second, ..] = titles else { return false };
    let step = second - first;
    let years = titles.iter().all(|title| (1500.0..2200.0).contains(title));
    titles.iter().all(|title| title.fract() == 0.0)
        && (step > 0.0 && years || step == 1.0 && titles.len() >= enough)
        && titles.windows(2).all(|pair| pair[1] - pair[0] == step)
}

/// Whether a table that was read without a header may have one all the same: its first row has numbers that
/// rise evenly, and either words beside them, or they are beyond all numbers below them.
pub(super) fn may_have_header(table: &RawTable) -> bool {
    let numbered = table.columns.iter().enumerate().all(|(at, c)| c.name == (at + 1).to_string());
    if !numbered || table.lines.len() < 2 {
        return false;
    }
    let first = |column: &RawColumn| column.cells[0].as_ref().and_then(|c| c.parse::<f64>().ok());
    let titles: Vec<f64> = table.columns.iter().filter_map(first).collect();
    if !rise_evenly(&titles, 3) {
        return false;
    }
    let numeric = table.columns.iter().filter(|column| first(column).is_some());
    numeric.zip(&titles).all(|(column, &title)| {
        let below = || column.cells[1..].iter().flatten().map(|cell| number(cell));
        let beyond = || {
            let numbers = || below().flatten();
            numbers().all(|x| x < title) || numbers().all(|x| x > title)
        };
        below().all(|x| x.is_some()) && (titles.len() < table.columns.len() || beyond())
    })
}

fn is_header(first: &[String], below: &RawTable) -> bool {
    let is_word = |cell: &str| !MISSING.contains(&cell) && !reads_as_number(cell);
    let different = || first.iter().collect::<HashSet<_>>().len() == first.len();
    if below.lines.is_empty() {
        return first.iter().all(|cell| is_word(cell)) && different();
    }
    let is_new = |(cell, column): (&String, &RawColumn)| {
        is_word(cell) && !column.cells.iter().flatten().any(|below| below == cell)
    };
    let is_numeric = |column: &RawColumn| {
        let mut present = column.cells.iter().flatten().peekable();
        present.peek().is_some() && present.all(|cell| reads_as_number(cell))
    };
    let (numeric, others): (Vec<_>, Vec<_>) =
        first.iter().zip(&below.columns).partition(|(_, column)| is_numeric(column));
    if !numeric.is_empty() {
        if !numeric.iter().any(|(cell, _)| reads_as_number(cell)) {
            return numeric.iter().any(|(cell, _)| is_word(cell));
        }
        let is_corner = |cell: &String| cell.is_empty() && std::ptr::eq(cell, &first[0]);
        let (titles, words): (Vec<_>, Vec<_>) =
            numeric.into_iter().partition(|(cell, _)| is_number(cell));
        let words: Vec<_> = words.into_iter().chain(others).collect();
        return !words.is_empty()
            && words.iter().all(|&(cell, column)| is_new((cell, column)) || is_corner(cell))
            && rising_titles(titles.into_iter().map(|(cell, column)| {
                (cell.as_str(), column.cells.iter().flatten().map(String::as_str).collect())
            }));
    }
    let repeats = |column: &RawColumn| {
        let mut seen = HashSet::new();
        !column.cells.iter().flatten().all(|cell| seen.insert(cell))
    };
    // One cell that is wrong does not make the words on top of numbers data.
    let mostly_numbers = |column: &RawColumn| {
        let present = column.cells.iter().flatten();
        let numbers = present.clone().filter(|cell| reads_as_number(cell)).count();
        numbers > 0 && 4 * numbers >= 3 * present.count()
    };
    let nothing = || below.columns.iter().all(|column| column.cells.iter().all(Option::is_none));
    different()
        && first.iter().zip(&below.columns).all(is_new)
        && (below.columns.iter().any(|c| repeats(c) || mostly_numbers(c)) || nothing())
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
        // Years are no data where nothing below is like them, in tables that have words on top, too.
        assert_eq!(names("who,2019,2020\nx,1,5\ny,2,4\n"), ["who", "2019", "2020"]);
        assert_eq!(names(",1990,2000\nx,1,5\ny,2,4\n"), ["1", "1990", "2000"]);
        assert_eq!(names("id,1990,2000\n1,1,5\n2,2,4\n"), ["id", "1990", "2000"]);
        assert_eq!(names("a,6,7,8,9\ny,1,5,0,0\nz,2,4,0,0\n"), ["a", "6", "7", "8", "9"]);
        assert_eq!(names("a,7,8\ny,1,5\nz,2,4\n")[0], "1", "too few that are no years");
        assert_eq!(names("x,0,1\ny,1,0\nz,1,0\n")[0], "1");
        assert_eq!(names("x,2019,2020\nx,1,5\ny,2,4\n")[0], "1", "the word comes again");
        assert_eq!(names("x,2019,2020\ny,1,5\nz,2022,4\n")[0], "1", "numbers like that below");
        assert_eq!(names("x,2020,2019\ny,1,5\nz,2,4\n")[0], "1", "not rising");
        assert_eq!(names("x,331,1000\ny,67,200\nz,3,4\n")[0], "1", "not by one, no years");
        assert_eq!(names("2019,2020\n1,5\n2,4\n"), ["1", "2"], "all numbers");
        assert_eq!(names("a,b\n?,NA\n?,.\n"), ["a", "b"], "nothing below");
        let commas = parse(&mut &b"a;b\n1,5;2,25\n3,5;-1,0\n0,5;1e3\n"[..], b';').unwrap();
        assert_eq!((&*commas.columns[1].name, commas.rows()), ("b", 3), "decimal commas");
        // A wrong cell does not make the header data.
        assert_eq!(names("x\n1\n3\nn.a.\n5\n"), ["x"]);
        assert_eq!(names("x,y\n1,2\n3,4\n5,N/A\nNULL,3\n"), ["x", "y"]);
        assert!(csv("a,b\n").unwrap_err().to_string().contains("no rows"));
        assert!(csv("# a\n\n").unwrap_err().to_string().contains("empty"));
        assert_eq!(csv("1,0").unwrap().rows(), 1);
    }

    #[test]
    fn doubtful_first_rows() {
        let doubtful = |text: &str| may_have_header(&csv(text).unwrap());
        assert!(doubtful("2019,2020,2021\n1,5,3\n4,4,2\n") && doubtful("2019,2020\n1,5\n4,4\n"));
        assert!(doubtful("who,1,2,3\nx,1,5,3\ny,2,4,4\n"));
        for ordinary in
            ["0,1\n1,0\n", "1,2\n2,3\n1,2\n", "x,1\ny,0\n", "a,b\n1,2\n", "1,0,1\n0,1,1\n"]
        {
            assert!(!doubtful(ordinary), "{ordinary}");
        }
    }

    #[test]
    fn decimal_commas() {
        assert_eq!(
            ["1,5", "-0,25", "1,5e3"].map(with_point),
            ["1.5", "-0.25", "1.5e3"].map(|x| Some(x.to_string()))
        );
        assert_eq!(
            ["1.5", "1,2,3", "1.234,5", "a,b", "1,", ",5", "1e3,5"].map(with_point),
            [const { None }; 7]
        );
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
