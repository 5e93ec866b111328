//! From a table as its file has it to the columns that are clustered, each with its type.

use super::coding::{Coding, Codings, WORDS, are_words, is_zero_one};
use super::raw::{RawColumn, RawTable};
use super::table::is_number;
use crate::data::{BinaryTable, Column, Data, Dataset, Kind, MAX_COUNT, MAX_REAL, MISSING, Table};
use crate::error::{Error, Result};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Columns with one of these names hold known groups, unless they are zeros and ones.
const LABEL_NAMES: [&str; 4] = ["class", "type", "label", "group"];

/// A first column with one of these names tells the rows apart, even by numbers.
const ID_NAMES: [&str; 3] = ["id", "name", "index"];

/// Which columns of a table are what. A column is given by its name or by its number from 1.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TableOptions {
    /// The columns to cluster by, in this order; without them, all that are neither names nor labels.
    pub columns: Option<Vec<String>>,
    /// The column with the names of the rows; without it, the first one if its cells are all
    /// there and either words, nine in ten of them different, or different numbers in a column that
    /// is called `id`, `name` or `index`.
    pub id_column: Option<String>,
    /// The column with known groups, which is left out; without it, those called `class`, `type`,
    /// `label` or `group` that are not just zeros and ones.
    pub label_column: Option<String>,
    /// What columns are, for those that are not what they seem.
    pub types: Vec<(String, Kind)>,
    /// What all columns must be, if a model asks for it.
    pub all: Option<Kind>,
}

impl TableOptions {
    /// The options that a user has given, as they are called on the command line.
    pub(crate) fn given(&self) -> Vec<&'static str> {
        let given = [
            (self.columns.is_some(), "--columns"),
            (self.id_column.is_some(), "--id-column"),
            (self.label_column.is_some(), "--label-column"),
            (!self.types.is_empty(), "--types"),
        ];
        given.into_iter().filter_map(|(given, name)| given.then_some(name)).collect()
    }
}

/// Of words, so many different ones at most are levels.
const MAX_LEVELS: usize = 256;

/// Whole numbers are counts if the smallest is at most this …
const SMALL_COUNT: f64 = 10.0;

/// … and the largest at most that.
const LARGE_COUNT: f64 = 10_000.0;

/// What kind of values a column has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// One value at most.
    Constant,
    /// Two values, whatever they are.
    Binary,
    /// Whole numbers.
    Integer,
    /// Numbers.
    Real,
    /// Words, each of them twice or more on average.
    Categorical,
    /// Words that are mostly different.
    Text,
}

impl std::fmt::Display for ColumnKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = format!("{self:?}").to_lowercase();
        f.write_str(&name)
    }
}

/// What a column holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnInfo {
    /// Its name.
    pub name: String,
    /// The kind of its values.
    pub kind: ColumnKind,
    /// The number of different values, missing cells aside.
    pub distinct: usize,
    /// The number of missing cells.
    pub missing: usize,
}

/// What each column of a table holds.
pub fn column_types(table: &RawTable) -> Vec<ColumnInfo> {
    let info = |column: &RawColumn| {
        let values = distinct(column);
        let missing = column.cells.iter().filter(|c| c.is_none()).count();
        let all = |test: fn(&str) -> bool| values.iter().all(|value| test(value));
        let kind = match values.len() {
            0 | 1 => ColumnKind::Constant,
            2 => ColumnKind::Binary,
            _ if all(is_whole) => ColumnKind::Integer,
            _ if all(is_number) => ColumnKind::Real,
            several if 2 * several <= column.cells.len() - missing => ColumnKind::Categorical,
            _ => ColumnKind::Text,
        };
        ColumnInfo { name: column.name.clone(), kind, distinct: values.len(), missing }
    };
    table.columns.iter().map(info).collect()
}

/// Which columns are what.
struct Roles {
    /// The column that names the rows.
    id: Option<usize>,
    /// The columns to cluster by.
    data: Vec<usize>,
    notes: Vec<String>,
}

fn roles(table: &RawTable, options: &TableOptions) -> Result<Roles> {
    let mut notes = Vec::new();
    let find = |name: &Option<String>| name.as_ref().map(|n| find(table, n)).transpose();
    let chosen = options.columns.as_ref();
    let chosen = chosen.map(|names| select(table, names)).transpose()?;
    let is_chosen = |at: usize| chosen.as_ref().is_some_and(|c| c.contains(&at));
    let label = find(&options.label_column)?;
    let named = find(&options.id_column)?;
    if let Some(at) = [label, named].into_iter().flatten().find(|&at| is_chosen(at)) {
        return Err(Error::new(format!(
            "column '{}' cannot be data and names or labels at once: remove it from --columns",
            table.columns[at].name
        )));
    }
    let first = table.columns.first();
    let by_default = first.is_some_and(names_rows) && !is_chosen(0) && label != Some(0);
    let id = named.or(by_default.then_some(0));
    if let Some(column) = id.map(|at| &table.columns[at]) {
        if named.is_none() && column.cells.iter().flatten().any(|cell| is_number(cell)) {
            notes.push(format!("column '{}' was taken for the names of the rows", column.name));
        }
        let mut seen = HashSet::new();
        if let Some(name) = column.cells.iter().flatten().find(|&cell| !seen.insert(cell)) {
            notes.push(format!("rows share a name, such as '{name}'"));
        }
    }
    let is_label = |at: usize| match label {
        Some(label) => at == label,
        None => {
            LABEL_NAMES.iter().any(|name| table.columns[at].name.eq_ignore_ascii_case(name))
                && !is_zero_one(&table.columns[at])
        }
    };
    let data: Vec<usize> = match chosen {
        Some(chosen) => chosen,
        None => {
            let others: Vec<usize> =
                (0..table.columns.len()).filter(|&at| Some(at) != id).collect();
            let (labels, data): (Vec<_>, Vec<_>) = others.into_iter().partition(|&at| is_label(at));
            for at in labels {
                let name = &table.columns[at].name;
                notes.push(format!("column '{name}' was taken for known groups and left out"));
            }
            data
        }
    };
    notes.extend(missing(table, &data)?);
    Ok(Roles { id, data, notes })
}

/// The column that names the rows, the columns that are data, and notes about that.
pub(super) fn names_and_data(
    table: &RawTable,
    options: &TableOptions,
) -> Result<(Option<usize>, Vec<usize>, Vec<String>)> {
    roles(table, options).map(|Roles { id, data, notes }| (id, data, notes))
}

/// A table as it is clustered: if all of its columns are zeros and ones, or two words, as these, else as
/// columns of any types.
pub fn tabular(table: &RawTable, options: &TableOptions) -> Result<Dataset> {
    let typed = options.types.iter().any(|(_, kind)| *kind != Kind::Binary);
    match options.all {
        Some(Kind::Binary) if !typed => return binary(table, options),
        None if !typed && roles(table, options)?.data.iter().all(|&at| seems_binary(table, at)) => {
            return binary(table, options);
        }
        _ => {}
    }
    let Roles { id, data, mut notes } = roles(table, options)?;
    let kinds = kinds(table, &data, options)?;
    let mut codings = Codings::default();
    let mut columns = Vec::with_capacity(data.len());
    for (&at, (kind, _)) in data.iter().zip(&kinds) {
        let column = typed_column(table, &table.columns[at], *kind, &mut codings)?;
        if let Some((a, b, far)) = column.merged() {
            notes.push(format!(
                "in column '{}' values such as {a:e} and {b:e} cannot be told apart beside {far:e}: correct that one, take logarithms, or leave the column out with --columns",
                table.columns[at].name
            ));
        }
        columns.push(column);
    }
    notes.extend(codings.notes());
    finish(table, id, &data, notes, Data::Columns(Table::new(columns)?))
}

fn seems_binary(table: &RawTable, at: usize) -> bool {
    matches!(infer(&table.columns[at]), Some((Kind::Binary, _)))
}

/// What each column of a table is and why; `None` where it is no data, or cannot be.
pub fn types(table: &RawTable, options: &TableOptions) -> Result<Vec<(Option<Kind>, String)>> {
    let Roles { id, data, .. } = roles(table, options)?;
    let kinds = kinds(table, &data, options)?;
    let mut all: Vec<(Option<Kind>, String)> =
        vec![(None, "left out: known groups, or not chosen".into()); table.columns.len()];
    if let Some(id) = id {
        all[id].1 = "names the rows".into();
    }
    for (&at, (kind, why)) in data.iter().zip(kinds) {
        all[at] = (Some(kind), why);
    }
    Ok(all)
}

/// The type of each data column, and the reason.
fn kinds(table: &RawTable, data: &[usize], options: &TableOptions) -> Result<Vec<(Kind, String)>> {
    let mut wanted = vec![None; table.columns.len()];
    for (name, kind) in &options.types {
        let at = find(table, name)?;
        if !data.contains(&at) {
            return Err(Error::new(format!(
                "--types {name}={kind}: this column is no data, but names or known groups; choose it with --columns"
            )));
        }
        wanted[at] = Some(*kind);
    }
    let kind = |&at: &usize| {
        if let Some(kind) = wanted[at] {
            return Ok((kind, "as --types says".to_string()));
        }
        if let Some(kind) = options.all {
            return Ok((kind, "as the model asks".to_string()));
        }
        let column = &table.columns[at];
        infer(column).map(|(kind, why)| (kind, why.to_string())).ok_or_else(|| {
            let first = column.cells.iter().flatten().find(|cell| !is_number(cell));
            if column.cells.iter().flatten().any(|cell| is_number(cell)) {
                let word = |cell: &Option<String>| cell.as_ref().is_some_and(|c| !is_number(c));
                let row = column.cells.iter().position(word).unwrap_or(0);
                let remedy = format!(
                    "correct or empty it, choose other columns with --columns, or take all for levels with --types '{}=categorical'",
                    column.name
                );
                return odd_cell(table, column, row, "but other cells hold numbers", &remedy);
            }
            Error::new(format!(
                "column '{}' holds words like '{}', {} different ones: too many for levels; leave it out with --columns, give --id-column if it names the rows, or insist with --types '{}=categorical' (for an edge list, give --model irm)",
                column.name,
                first.map_or("", |cell| cell),
                distinct(column).len(),
                column.name
            ))
        })
    };
    data.iter().map(kind).collect()
}

/// What the values of a column seem to be, and why.
fn infer(column: &RawColumn) -> Option<(Kind, &'static str)> {
    let values = distinct(column);
    let present = column.cells.iter().flatten().count();
    if is_zero_one(column) {
        return Some((Kind::Binary, "zeros and ones"));
    }
    if values.len() == 2 && !values.iter().any(|v| is_number(v))
        || WORDS.iter().any(|&pair| are_words(column, pair))
    {
        return Some((Kind::Binary, "two words"));
    }
    if values.iter().all(|value| is_number(value)) {
        let numbers = || values.iter().filter_map(|value| value.parse::<f64>().ok());
        let (low, high) = (numbers().fold(f64::MAX, f64::min), numbers().fold(f64::MIN, f64::max));
        return Some(match values.iter().all(|value| is_whole(value)) {
            false => (Kind::Real, "numbers"),
            true if low < 0.0 => (Kind::Real, "whole numbers, some below zero"),
            true if low > SMALL_COUNT => (Kind::Real, "whole numbers, but none of 10 or less"),
            true if high > LARGE_COUNT => (Kind::Real, "whole numbers, but some above 10 000"),
            true => (Kind::Count, "whole numbers from 0 on"),
        });
    }
    // A word among many numbers is more likely a mistake.
    if 10 * column.cells.iter().flatten().filter(|cell| is_number(cell)).count() >= 9 * present {
        return None;
    }
    let few = values.len() == 1 || 2 * values.len() <= present;
    (few && values.len() <= MAX_LEVELS).then_some((Kind::Categorical, "words that come again"))
}

/// The values of a column.
fn typed_column(
    table: &RawTable,
    column: &RawColumn,
    kind: Kind,
    codings: &mut Codings,
) -> Result<Column> {
    let numbers = |fits: fn(f64) -> bool, what: &str| -> Result<Vec<f64>> {
        let cells = column.cells.iter().enumerate();
        let number = |(row, cell): (usize, &Option<String>)| {
            let Some(cell) = cell else { return Ok(f64::NAN) };
            let number = cell.parse::<f64>().ok().filter(|&x| fits(x));
            number.ok_or_else(|| {
                let message = format!("which is no {what}");
                odd_cell(
                    table,
                    column,
                    row,
                    &message,
                    "choose another type with --types, or other columns with --columns",
                )
            })
        };
        cells.map(number).collect()
    };
    Ok(match kind {
        Kind::Binary => {
            let coding = Coding::of(table, column)?;
            let code = |cell: &Option<String>| match cell {
                Some(cell) => f64::from(coding.code(cell)),
                None => f64::NAN,
            };
            let values = column.cells.iter().map(code).collect();
            codings.note(coding, &column.name);
            Column::binary(values)
        }
        Kind::Categorical => {
            let mut names: Vec<String> = distinct(column).into_iter().collect();
            let number = |name: &String| name.parse::<f64>().unwrap_or(f64::NAN);
            names.sort_by(|a, b| number(a).total_cmp(&number(b)).then_with(|| a.cmp(b)));
            let level: BTreeMap<&str, usize> =
                names.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
            let code = |cell: &Option<String>| match cell {
                Some(cell) => level[canonical(cell).as_str()] as f64,
                None => f64::NAN,
            };
            let values = column.cells.iter().map(code).collect();
            Column::levels(names, values)
        }
        Kind::Count => Column::counts(numbers(
            |x| x >= 0.0 && x.fract() == 0.0 && x <= MAX_COUNT,
            "count (a whole number from 0 on)",
        )?),
        Kind::Real => Column::reals(numbers(|x| x.abs() <= MAX_REAL, "number")?),
    })
}

/// An error about a cell, which names its place.
pub(super) fn odd_cell(
    table: &RawTable,
    column: &RawColumn,
    row: usize,
    why: &str,
    remedy: &str,
) -> Error {
    let cell = column.cells.get(row).cloned().flatten().unwrap_or_default();
    let place = match table.lines.is_empty() {
        true => format!("row {} of column '{}'", row + 1, column.name),
        false => format!("column '{}'", column.name),
    };
    let error = Error::new(format!("{place} holds '{cell}', {why}: {remedy}"));
    match table.lines.get(row) {
        Some(&line) => error.at_line(line),
        None => error,
    }
}

/// Names and notes are added to the data.
fn finish(
    table: &RawTable,
    id: Option<usize>,
    data: &[usize],
    notes: Vec<String>,
    values: Data,
) -> Result<Dataset> {
    let mut dataset = Dataset::new(values);
    if let Some(at) = id {
        let names = table.columns[at].cells.iter().zip(&dataset.names);
        dataset.names =
            names.map(|(cell, number)| cell.as_ref().unwrap_or(number).clone()).collect();
    }
    dataset.columns = data.iter().map(|&at| table.columns[at].name.clone()).collect();
    dataset.notes = notes;
    Ok(dataset)
}

/// The zeros and ones of a table. Columns of two other values are coded, which the notes say, as they
/// say how many cells are missing; what cannot be coded is an error.
pub fn binary(table: &RawTable, options: &TableOptions) -> Result<Dataset> {
    let Roles { id, data, mut notes } = roles(table, options)?;
    let mut codings = Codings::default();
    let mut cells = vec![0u8; table.rows() * data.len()];
    for (to, &at) in data.iter().enumerate() {
        let column = &table.columns[at];
        let coding = Coding::of(table, column)?;
        for (row, cell) in column.cells.iter().enumerate() {
            cells[row * data.len() + to] =
                cell.as_deref().map_or(MISSING, |cell| coding.code(cell));
        }
        codings.note(coding, &column.name);
    }
    notes.extend(codings.notes());
    let cells = BinaryTable::new(table.rows(), data.len(), cells)?;
    finish(table, id, &data, notes, Data::Table(cells))
}

/// The column of this name or number.
fn find(table: &RawTable, name: &str) -> Result<usize> {
    let mut named = (0..table.columns.len()).filter(|&at| table.columns[at].name == name);
    match (named.next(), named.next(), name.parse::<usize>()) {
        (Some(at), None, _) => Ok(at),
        (Some(first), Some(second), _) => Err(Error::new(format!(
            "columns {} and {} are both called '{name}': give the number of one",
            first + 1,
            second + 1
        ))),
        (None, _, Ok(number)) if (1..=table.columns.len()).contains(&number) => Ok(number - 1),
        _ => {
            let mut all: Vec<&str> = table.columns.iter().take(100).map(|c| &*c.name).collect();
            if table.columns.len() > 100 {
                all.push("…");
            }
            Err(Error::new(format!(
                "there is no column '{name}'; the {} columns are {}",
                table.columns.len(),
                all.join(", ")
            )))
        }
    }
}

fn select(table: &RawTable, names: &[String]) -> Result<Vec<usize>> {
    let (mut chosen, mut seen) = (Vec::new(), HashSet::new());
    for name in names {
        let at = find(table, name)?;
        if !seen.insert(at) {
            return Err(Error::new(format!("column '{name}' is chosen twice: remove one")));
        }
        chosen.push(at);
    }
    Ok(chosen)
}

/// A note about missing cells, if there are any. A column without a single value is an error.
fn missing(table: &RawTable, data: &[usize]) -> Result<Option<String>> {
    let missing = |at: usize| table.columns[at].cells.iter().filter(|c| c.is_none()).count();
    let columns: Vec<_> = data.iter().map(|&at| (at, missing(at))).filter(|c| c.1 > 0).collect();
    if let Some(&(at, _)) = columns.iter().find(|&&(_, count)| count == table.rows()) {
        return Err(Error::new(format!(
            "column '{}' has no values at all: choose other columns with --columns",
            table.columns[at].name
        )));
    }
    let total: usize = columns.iter().map(|c| c.1).sum();
    if total == 0 {
        return Ok(None);
    }
    let mut listed: Vec<String> = (columns.iter().take(5))
        .map(|&(at, count)| format!("'{}' ({count})", table.columns[at].name))
        .collect();
    if columns.len() > 5 {
        listed.push(format!("and {} more columns", columns.len() - 5));
    }
    let cells = if total == 1 { "cell is" } else { "cells are" };
    Ok(Some(format!("{total} {cells} missing and integrated out, in {}", listed.join(", "))))
}

/// Whether a first column names the rows. Some names may come twice, as they do in real tables.
fn names_rows(column: &RawColumn) -> bool {
    let called = ID_NAMES.iter().any(|name| column.name.eq_ignore_ascii_case(name));
    let rows = column.cells.len();
    let present: Vec<&String> = column.cells.iter().flatten().collect();
    let different = present.iter().collect::<HashSet<_>>().len();
    let words = !present.iter().any(|cell| is_number(cell));
    rows > 0
        && present.len() == rows
        && (words && 10 * different >= 9 * rows || called && different == rows)
        && !is_zero_one(column)
        && !WORDS.iter().any(|&pair| are_words(column, pair))
}

fn is_whole(value: &str) -> bool {
    value.parse::<f64>().is_ok_and(|x| x.is_finite() && x.fract() == 0.0)
}

/// The values of a column in alphabetical order; 1 and 1.0 are the same.
pub(super) fn distinct(column: &RawColumn) -> BTreeSet<String> {
    column.cells.iter().flatten().map(|cell| canonical(cell)).collect()
}

pub(super) fn canonical(cell: &str) -> String {
    match cell.parse::<f64>() {
        Ok(number) if !number.is_nan() => number.to_string(),
        _ => cell.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::table;
    use super::*;
    use proptest::prelude::*;

    fn raw(text: &str) -> RawTable {
        table::parse(&mut text.as_bytes(), b',').unwrap()
    }

    fn rows(dataset: &Dataset) -> Vec<Vec<u8>> {
        match &dataset.data {
            Data::Table(table) => (0..table.n()).map(|row| table.row(row).to_vec()).collect(),
            _ => panic!("not a table of zeros and ones"),
        }
    }

    fn options(columns: &[&str]) -> TableOptions {
        let columns = columns.iter().map(ToString::to_string).collect();
        TableOptions { columns: Some(columns), ..TableOptions::default() }
    }

    #[test]
    fn names_labels_and_codes() {
        let table = raw("animal,hair,fed,Type,kind\nox,1,Yes,3,b\nhen,0,no,2,a\nant,0.0,no,2,a\n");
        let data = binary(&table, &TableOptions::default()).unwrap();
        assert_eq!(data.names, ["ox", "hen", "ant"]);
        assert_eq!(rows(&data), [[1, 1, 1], [0, 0, 0], [0, 0, 0]]);
        assert_eq!(
            data.notes,
            [
                "column 'Type' was taken for known groups and left out",
                "in column 'fed' 'Yes' was coded as 1 and 'no' as 0",
                "in column 'kind' 'b' was coded as 1 and 'a' as 0"
            ]
        );
        assert!(binary(&table, &options(&["kind", "Type"])).is_err(), "2 and 3 are not coded");
        let some = binary(&table, &options(&["kind", "2", "fed"])).unwrap();
        assert_eq!(rows(&some)[0], [1, 1, 1]);
        assert_eq!((some.notes.len(), &*some.names[0]), (2, "ox"));
        let explicit = TableOptions {
            id_column: Some("Type".into()),
            label_column: Some("5".into()),
            ..options(&["hair", "fed"])
        };
        assert_eq!(binary(&table, &explicit).unwrap().names, ["3", "2", "2"]);
        let group = raw("group,a\n1,0\n0,1\n");
        assert_eq!(rows(&binary(&group, &TableOptions::default()).unwrap()), [[1, 0], [0, 1]]);
        let numbered = binary(&raw("ID,a\n7,0\n9,1\n"), &TableOptions::default()).unwrap();
        assert_eq!((numbered.names.len(), numbered.notes.len()), (2, 1));
    }

    #[test]
    fn refusals() {
        let table = raw("x,y,y,z,m\n1,2,2,a,0\n2,2,2,b,\n3,2,2,c,NA\n");
        let refused = |options: TableOptions, words: &[&str]| {
            let error = binary(&table, &options).unwrap_err().to_string();
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
        };
        refused(TableOptions::default(), &["line 3", "column 'x' holds '2'"]);
        let empty = raw("a,b\n1,\n0,NA\n");
        let error = binary(&empty, &TableOptions::default()).unwrap_err().to_string();
        assert!(error.contains("column 'b' has no values at all"), "{error}");
        refused(options(&["x"]), &["line 3", "column 'x' holds '2'", "3 different values"]);
        refused(options(&["z"]), &["line 2", "'a'"]);
        refused(options(&["2"]), &["1 different value "]);
        refused(options(&["y"]), &["columns 2 and 3 are both called 'y'"]);
        refused(options(&["q"]), &["no column 'q'", "x, y, y, z, m"]);
        refused(options(&["0"]), &["no column '0'"]);
        refused(options(&["x", "1"]), &["twice"]);
        refused(options(&[]), &["no columns"]);
        let both = TableOptions { id_column: Some("x".into()), ..options(&["1"]) };
        refused(both, &["at once"]);
        let unplaced = RawTable { lines: vec![], ..table.clone() };
        let error = binary(&unplaced, &options(&["x"])).unwrap_err().to_string();
        assert!(error.contains("row 2 of column 'x'"), "{error}");
        assert!(binary(&RawTable::default(), &TableOptions::default()).is_err());
    }

    fn typed(dataset: &Dataset) -> &Table {
        match &dataset.data {
            Data::Columns(table) => table,
            _ => panic!("zeros and ones"),
        }
    }

    #[test]
    fn types_are_inferred_and_can_be_chosen() {
        let table = raw(
            "who,age,legs,x,colour,fed\nox,30,4,0.5,b,y\nhen,21,2,?,a,n\nant,40,6,-1,a,n\neel,52,0,2,b,y\nfly,52,6,2,c,y\nbat,33,2,1,c,n\n",
        );
        let default = TableOptions::default();
        let data = tabular(&table, &default).unwrap();
        let kinds: Vec<Kind> = typed(&data).columns().iter().map(Column::kind).collect();
        use Kind::{Binary, Categorical, Count, Real};
        assert_eq!(kinds, [Real, Count, Real, Categorical, Binary]);
        assert_eq!(typed(&data).columns()[3].names(), ["a", "b", "c"]);
        assert_eq!(typed(&data).columns()[3].cells()[..3], [1.0, 0.0, 0.0]);
        assert_eq!(typed(&data).missing().collect::<Vec<_>>(), [(1, 2)]);
        assert_eq!((&*data.names[0], data.columns.len(), data.notes.len()), ("ox", 5, 2));
        let why = types(&table, &default).unwrap();
        assert_eq!(why[0], (None, "names the rows".to_string()));
        assert_eq!(why[1], (Some(Real), "whole numbers, but none of 10 or less".to_string()));
        // By choice, and by the model.
        let types_ = vec![("legs".to_string(), Categorical), ("2".to_string(), Count)];
        let chosen = tabular(&table, &TableOptions { types: types_, ..default.clone() }).unwrap();
        assert_eq!(typed(&chosen).columns()[1].names(), ["0", "2", "4", "6"]);
        assert_eq!(typed(&chosen).columns()[0].kind(), Count);
        let refused = |options: TableOptions, words: &[&str]| {
            let error = tabular(&table, &options).unwrap_err().to_string();
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
        };
        let all = |kind: Kind| TableOptions { all: Some(kind), ..TableOptions::default() };
        refused(all(Real), &["line 2", "column 'colour' holds 'b'", "no number"]);
        refused(all(Count), &["line 2", "column 'x' holds '0.5'", "no count"]);
        refused(all(Binary), &["column 'age' holds '30'", "neither 0 nor 1"]);
        assert_eq!(
            typed(&tabular(&table, &all(Categorical)).unwrap()).only_kind(),
            Some(Categorical)
        );
        let unknown = vec![("who".to_string(), Real)];
        refused(TableOptions { types: unknown, ..default.clone() }, &["no data"]);
        // Zeros and ones stay what they were, unless they are to be something else.
        let zeros = raw("a,b\n1,0\n0,0\n1,1\n");
        assert_eq!(tabular(&zeros, &default).unwrap(), binary(&zeros, &default).unwrap());
        assert_eq!(typed(&tabular(&zeros, &all(Count)).unwrap()).only_kind(), Some(Count));
        let words = raw("a,b\n1,mm\n0,nn\n1,oo\n0,pp\n");
        let error = tabular(&words, &default).unwrap_err().to_string();
        assert!(error.contains("column 'b' holds words like 'mm'"), "{error}");
    }

    #[test]
    fn kinds_of_columns() {
        let table = raw(
            "c,b,i,r,k,t\n1,n,1,1,a,p\n1,y,2,1.5,b,q\n1.0,n,3,?,b,r\n1,n,4,7,a,s\n1,n,5,8,c,t\n1,n,-6,9,c,u\n",
        );
        let types = column_types(&table);
        let kinds: Vec<_> = types.iter().map(|t| t.kind).collect();
        use ColumnKind::{Binary, Categorical, Constant, Integer, Real, Text};
        assert_eq!(kinds, [Constant, Binary, Integer, Real, Categorical, Text]);
        assert_eq!((types[3].distinct, types[3].missing, &*types[4].name), (5, 1, "k"));
    }

    #[test]
    fn real_tables() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/tables/");
        let read = |file: &str| {
            std::fs::read_to_string(format!("{folder}{file}.csv")).ok().map(|t| raw(&t))
        };
        let Some(animals) = read("animals50") else {
            eprintln!("SKIPPED: ../shared/data/tables is not there");
            return;
        };
        let default = TableOptions::default();
        let animals = binary(&animals, &default).unwrap();
        assert_eq!((rows(&animals)[0].len(), animals.notes.len()), (85, 0), "'group' is data");
        let zoo = binary(&read("zoo_binary").unwrap(), &default).unwrap();
        assert_eq!((rows(&zoo)[0].len(), zoo.notes.len(), &*zoo.names[0]), (21, 2, "aardvark"));
        for (file, word) in [
            ("zoo", "'legs' holds '4'"),
            ("mushroom", "'cap-shape' holds 'x'"),
            ("iris", "sepal_length_cm"),
            ("galaxies", "velocity"),
        ] {
            let error = binary(&read(file).unwrap(), &default).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
        let kinds = |file: &str| {
            let data = tabular(&read(file).unwrap(), &default).unwrap();
            let mut kinds: Vec<Kind> = typed(&data).columns().iter().map(Column::kind).collect();
            kinds.sort();
            kinds.dedup();
            kinds
        };
        assert_eq!(kinds("zoo"), [Kind::Binary, Kind::Count]);
        assert_eq!(kinds("mushroom"), [Kind::Binary, Kind::Categorical]);
        assert_eq!([kinds("iris"), kinds("galaxies"), kinds("faithful")], [[Kind::Real]; 3]);
        let votes = binary(&read("house_votes84").unwrap(), &default).unwrap();
        assert!(votes.notes.iter().any(|note| note.contains("392 cells are missing")));
        let missing = rows(&votes).concat().iter().filter(|cell| **cell == MISSING).count();
        assert_eq!(missing, 392);
        assert!(binary(&read("mushroom").unwrap(), &options(&["bruises", "gill-size"])).is_ok());
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, rng_seed: prop::test_runner::RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn nothing_panics(text in "(([01yn2a?]|id|NaN|inf),){1,3}[01]\n([01yn2a?],[01],[01yx]\n){0,5}", column in prop::option::of("[0-4a-z]")) {
            if let Ok(table) = table::parse(&mut text.as_bytes(), b',') {
                let _ = (column_types(&table), binary(&table, &TableOptions::default()));
                let options = TableOptions { id_column: column.clone(), columns: column.map(|c| vec![c, "1".into()]), label_column: Some("2".into()), ..TableOptions::default() };
                let _ = (binary(&table, &options), tabular(&table, &options), types(&table, &options));
                let _ = tabular(&table, &TableOptions::default());
            }
        }
    }
}
