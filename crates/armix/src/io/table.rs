//! Binary tables: CSV or TSV of zeros and ones, with or without a header and a first column of names.

use crate::data::{BinaryTable, Data, Dataset};
use crate::error::{Error, Result};

pub(super) fn parse(text: &str, delimiter: u8) -> Result<Dataset> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .delimiter(delimiter)
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut rows: Vec<csv::StringRecord> = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| {
            let line = line_at(text, error.position());
            let message = match error.kind() {
                csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                    format!("this row has {len} columns, the rows before it {expected_len}: every row needs the same number")
                }
                _ => error.to_string(),
            };
            Error::new(message).at_line(line)
        })?;
        rows.push(record);
    }
    if rows.is_empty() {
        return Err(Error::new("this table is empty: nothing to cluster"));
    }
    let header = is_header(&rows[0]).then(|| rows.remove(0));
    if rows.is_empty() {
        return Err(Error::new("this table has a header but no rows: nothing to cluster"));
    }
    // A first column without a number names the rows.
    let named = rows.iter().all(|row| row.get(0).is_some_and(|cell| !is_number_or_empty(cell)));
    let skip = usize::from(named);
    let d = rows[0].len() - skip;
    let mut cells = Vec::with_capacity(rows.len() * d);
    for row in &rows {
        for (column, cell) in row.iter().enumerate().skip(skip) {
            cells.push(match cell {
                "0" => 0,
                "1" => 1,
                _ => {
                    let column_name = match header.as_ref().and_then(|h| h.get(column)) {
                        Some(name) => format!("column {} ('{name}')", column + 1),
                        None => format!("column {}", column + 1),
                    };
                    let message = match cell {
                        "" => format!("{column_name} is empty; missing cells cannot be read: fill the cell or remove the row or column"),
                        _ => format!("{column_name} holds '{cell}', which is neither 0 nor 1: recode or remove this column (for an edge list, give --model irm)"),
                    };
                    return Err(Error::new(message).at_line(line_at(text, row.position())));
                }
            });
        }
    }
    let mut data = Dataset::new(Data::Table(BinaryTable::new(rows.len(), d, cells)?));
    if named {
        data.names = rows.iter().map(|row| row[0].to_string()).collect();
    }
    Ok(data)
}

fn is_number_or_empty(cell: &str) -> bool {
    cell.is_empty() || cell.parse::<f64>().is_ok()
}

/// A first row without a single cell of data is a header; the corner above the names may be empty.
fn is_header(row: &csv::StringRecord) -> bool {
    let corner = usize::from(row.len() > 1 && row[0].is_empty());
    !row.iter().skip(corner).any(is_number_or_empty)
}

/// The line at which a record begins. Its position is where the record before it ended: line ends,
/// blank lines and comments may still follow.
fn line_at(text: &str, position: Option<&csv::Position>) -> usize {
    let mut at = position.map_or(0, |p| p.byte() as usize);
    loop {
        let rest = &text[at..];
        at += match rest.chars().next() {
            Some('\r' | '\n') => 1,
            Some('#') => rest.find('\n').unwrap_or(rest.len()),
            _ => break,
        };
    }
    text[..at].matches('\n').count() + 1
}
