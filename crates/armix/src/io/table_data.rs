//! From a table as its file has it to the columns that are clustered, each with its type.

use super::coding::{Coding, Codings, WORDS, are_words, is_zero_one};
use super::decimals::with_points;
use super::raw::{RawColumn, RawTable};
use super::table::{is_number, may_have_header};
use crate::data::{
    BinaryTable, Column, Data, Dataset, Kind, MAX_COUNT, MAX_REAL, MIN_DEVIATION, MISSING, Table,
};
use crate::error::{Error, Result};
use std::borrow::Cow;
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
    let pointed = with_points(table, table, &TableOptions::default());
    let pointed = pointed.map_or(Cow::Borrowed(table), |(table, _)| table);
    let table = &*pointed;
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
    let mut notes = notes_on_header(table);
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
    let counts_rows = counts_rows(table);
    let by_default =
        (counts_rows || first.is_some_and(names_rows)) && !is_chosen(0) && label != Some(0);
    let id = named.or(by_default.then_some(0));
    if let Some(column) = id.map(|at| &table.columns[at]) {
        if named.is_none() && column.cells.iter().flatten().any(|cell| is_number(cell)) {
            notes.push(match counts_rows && column.name == "1" {
                true => "the first column, which has no title and counts the rows, was taken for their names (to cluster by it, choose it with --columns)".into(),
                false => format!("column '{}' was taken for the names of the rows", column.name),
            });
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
pub(crate) fn roles_of(
    table: &RawTable,
    options: &TableOptions,
) -> Result<(Option<usize>, Vec<usize>, Vec<String>)> {
    roles(table, options).map(|Roles { id, data, notes }| (id, data, notes))
}

/// A table as it is clustered: if all of its columns are zeros and ones, or two words, as these, else as
/// columns of any types.
pub fn tabular(table: &RawTable, options: &TableOptions) -> Result<Dataset> {
    let (table, notes) = with_points(table, table, options)?;
    let mut dataset = tabular_with_points(&table, options)?;
    dataset.notes.splice(0..0, notes);
    Ok(dataset)
}

/// The same for a table whose numbers have points.
fn tabular_with_points(table: &RawTable, options: &TableOptions) -> Result<Dataset> {
    let found = roles(table, options)?;
    wanted_types(table, &found.data, options)?;
    let typed = options.types.iter().any(|(_, kind)| *kind != Kind::Binary);
    match options.all {
        Some(Kind::Binary) if !typed => return zeros_and_ones(table, options),
        None if !typed && found.data.iter().all(|&at| seems_binary(table, at)) => {
            return zeros_and_ones(table, options);
        }
        _ => {}
    }
    let Roles { id, data, mut notes } = found;
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
        if let Some(sd) = column.too_narrow() {
            return Err(Error::new(format!(
                "the numbers of column '{}' are too small: their standard deviation is {sd:.0e}, at least {MIN_DEVIATION:e} is needed; multiply them all by the same number (change the unit), or leave the column out with --columns",
                table.columns[at].name
            )));
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
    let (table, _) = with_points(table, table, options)?;
    let table = &*table;
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

/// The types that were asked for, one for each column of the table.
fn wanted_types(
    table: &RawTable,
    data: &[usize],
    options: &TableOptions,
) -> Result<Vec<Option<Kind>>> {
    let mut wanted = vec![None; table.columns.len()];
    for (name, kind) in &options.types {
        let at = find(table, name)?;
        if !data.contains(&at) {
            let why = match options.columns {
                Some(_) => {
                    "this column is not among those that --columns chooses; add it there, or leave its type out"
                }
                None => {
                    "this column is no data, but names or known groups; choose it with --columns"
                }
            };
            return Err(Error::new(format!("--types {name}={kind}: {why}")));
        }
        if let Some(before) = wanted[at].replace(*kind) {
            return Err(Error::new(format!(
                "--types {name}={kind}: the type of column '{}' is given already, as {before}; leave one out",
                table.columns[at].name
            )));
        }
    }
    Ok(wanted)
}

/// The type of each data column, and the reason.
fn kinds(table: &RawTable, data: &[usize], options: &TableOptions) -> Result<Vec<(Kind, String)>> {
    let wanted = wanted_types(table, data, options)?;
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
    let numbers = || -> Result<Vec<f64>> {
        let cells = column.cells.iter().enumerate();
        let number = |(row, cell): (usize, &Option<String>)| {
            let Some(cell) = cell else { return Ok(f64::NAN) };
            let other = "choose another type with --types, or other columns with --columns";
            number_of(kind, cell).map_err(|(why, smaller)| {
                odd_cell(table, column, row, &why, smaller.unwrap_or(other))
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
        Kind::Count => Column::counts(numbers()?),
        Kind::Real => Column::reals(numbers()?),
    })
}

/// The number in a cell of a column of counts or reals; or why there is none, and what to do if it is only too
/// large.
fn number_of(kind: Kind, cell: &str) -> std::result::Result<f64, (String, Option<&'static str>)> {
    let number = cell.parse::<f64>().unwrap_or(f64::NAN);
    // The word inf is read as a number, too, but is none that is too large.
    let digits = cell.contains(|c: char| c.is_ascii_digit());
    let is_count = number >= 0.0 && (number.fract() == 0.0 || number.is_infinite());
    match kind {
        Kind::Count if is_count && number <= MAX_COUNT => Ok(number),
        Kind::Count if is_count && digits => Err((
            format!("which is too large for a count (at most {MAX_COUNT:e})"),
            Some("call the column real with --types, or choose other columns with --columns"),
        )),
        Kind::Count => Err(("which is no count (a whole number from 0 on)".into(), None)),
        _ if number.abs() <= MAX_REAL => Ok(number),
        _ if digits && !number.is_nan() => Err((
            format!("which is too large (numbers may be up to {MAX_REAL:e} away from 0)"),
            Some(
                "correct it, divide the whole column by the same number, or choose other columns with --columns",
            ),
        )),
        _ => Err(("which is no number".into(), None)),
    }
}

/// The cells of a column of new rows as values of an old one, which has these levels if it has levels: nothing that is
/// new about them changes what old values mean. Missing cells are NaN.
pub(crate) fn coded_alike(
    new: &RawTable,
    column: &RawColumn,
    kind: Kind,
    (old_table, old): (&RawTable, &RawColumn),
    levels: &[String],
) -> Result<Vec<f64>> {
    let coding = match kind {
        Kind::Binary => Coding::of(old_table, old)?,
        _ => Coding::Numbers,
    };
    let level: BTreeMap<&str, usize> =
        levels.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
    let value = |cell: &str| match kind {
        Kind::Binary => coding.find(cell).map(f64::from).ok_or_else(|| match &coding {
            Coding::Numbers => "which is neither 0 nor 1".to_string(),
            Coding::Words(one, zero) => format!("which is neither '{one}' nor '{zero}'"),
        }),
        Kind::Categorical => level.get(&*canonical(cell)).map(|&at| at as f64).ok_or_else(|| {
            let few: Vec<&str> = levels.iter().take(20).map(String::as_str).collect();
            let dots = if levels.len() > 20 { ", …" } else { "" };
            format!("which is none of the levels in the data of the run ({}{dots})", few.join(", "))
        }),
        Kind::Count | Kind::Real => number_of(kind, cell).map_err(|(why, _)| why),
    };
    let cells = column.cells.iter().enumerate();
    let coded = |(row, cell): (usize, &Option<String>)| match cell {
        None => Ok(f64::NAN),
        Some(cell) => value(cell)
            .map_err(|why| odd_cell(new, column, row, &why, "correct it, or leave the cell empty")),
    };
    cells.map(coded).collect()
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
    let (table, notes) = with_points(table, table, options)?;
    let mut dataset = zeros_and_ones(&table, options)?;
    dataset.notes.splice(0..0, notes);
    Ok(dataset)
}

fn zeros_and_ones(table: &RawTable, options: &TableOptions) -> Result<Dataset> {
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
pub(super) fn find(table: &RawTable, name: &str) -> Result<usize> {
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

/// Whether the first column has no title, though there is a header, and counts the rows from 0 or 1, as
/// programs write it that number rows.
fn counts_rows(table: &RawTable) -> bool {
    let Some(column) = table.columns.first() else { return false };
    let header = table.columns.iter().zip(1..).any(|(c, at): (_, usize)| c.name != at.to_string());
    let untitled = column.name == "1" || column.name == "Unnamed: 0";
    let counts = |from: usize| {
        let number = |cell: &Option<String>| cell.as_ref().and_then(|c| c.parse::<usize>().ok());
        column.cells.iter().zip(from..).all(|(cell, row)| number(cell) == Some(row))
    };
    let several = table.columns.len() > 1 && table.lines.len() > 1;
    several && header && untitled && (counts(0) || counts(1))
}

/// What is doubtful about the first line of a file.
fn notes_on_header(table: &RawTable) -> Vec<String> {
    let few = |cells: Vec<&str>| match cells.len() {
        0..=5 => cells.join(", "),
        _ => format!("{}, …", cells[..5].join(", ")),
    };
    if may_have_header(table) {
        let first = table.columns.iter().map(|c| c.cells[0].as_deref().unwrap_or(""));
        return vec![format!(
            "the first line was taken for a row, not for the names of the columns: {} (if it has their names, write a letter before numbers)",
            few(first.collect())
        )];
    }
    let names: Vec<&str> = table.columns.iter().map(|c| &*c.name).collect();
    let years = |(name, at): (&&str, usize)| is_number(name) && *name != at.to_string();
    if !table.lines.is_empty() && names.iter().zip(1..).any(years) {
        return vec![format!(
            "the first line was taken for the names of the columns, though some are numbers: {}",
            few(names)
        )];
    }
    Vec::new()
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
mod tests;
