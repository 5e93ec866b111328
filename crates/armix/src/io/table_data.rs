//! From a table as its file has it to the columns that are clustered, each with its type.

use super::coding::{Coding, Codings, WORDS, are_words, is_zero_one};
use super::raw::{RawColumn, RawTable};
use super::table::{is_number, may_have_header, with_point};
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
pub(super) fn names_and_data(
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

/// The column that names the rows, and those to cluster by.
pub(crate) fn roles_of(
    table: &RawTable,
    options: &TableOptions,
) -> Result<(Option<usize>, Vec<usize>)> {
    roles(table, options).map(|roles| (roles.id, roles.data))
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

/// A table whose numbers are written with points, if some had commas, and notes on these columns. A comma before
/// three digits may part thousands, which is an error, unless another one in this table or in that which it is
/// `like` cannot. Columns that are not clustered by are left as they are, if the options say so.
pub(crate) fn with_points<'a>(
    table: &'a RawTable,
    like: &RawTable,
    options: &TableOptions,
) -> Result<(Cow<'a, RawTable>, Vec<String>)> {
    let numbers = |names: &[String]| -> Vec<usize> {
        names.iter().filter_map(|name| find(table, name).ok()).collect()
    };
    let chosen = options.columns.as_deref().map(numbers);
    let others: Vec<String> =
        [&options.id_column, &options.label_column].into_iter().flatten().cloned().collect();
    let others = numbers(&others);
    let has_commas_at = |at: usize| {
        let is_data = chosen.as_ref().map_or(!others.contains(&at), |chosen| chosen.contains(&at));
        is_data && has_commas(&table.columns[at])
    };
    let commas: Vec<bool> = (0..table.columns.len()).map(has_commas_at).collect();
    if !commas.contains(&true) {
        return Ok((Cow::Borrowed(table), Vec::new()));
    }
    let sure = |table: &RawTable| {
        let columns = table.columns.iter().filter(|column| has_commas(column));
        let mut cells = columns.flat_map(|c| c.cells.iter().flatten());
        cells.any(|cell| with_point(cell).is_some() && !may_part_thousands(cell))
    };
    let sure = sure(table) || sure(like);
    let mut pointed = table.clone();
    let mut names = Vec::new();
    let columns = table.columns.iter().zip(&mut pointed.columns).zip(commas);
    for ((column, new), _) in columns.filter(|(_, commas)| *commas) {
        let rows = |test: fn(&str) -> bool| {
            column.cells.iter().position(|cell| cell.as_ref().is_some_and(|c| test(c)))
        };
        let comma = rows(|cell| with_point(cell).is_some()).unwrap_or(0);
        if !sure {
            let why = "in which the comma may stand before decimals or part thousands";
            let remedy = "write numbers with a point before decimals and nothing between thousands";
            return Err(odd_cell(table, column, comma, why, remedy));
        }
        if rows(|cell| is_number(cell) && cell.contains('.')).is_some() {
            let why = "with a comma, but other cells hold numbers with a point";
            let remedy = "write all of them with a point before decimals";
            return Err(odd_cell(table, column, comma, why, remedy));
        }
        for cell in new.cells.iter_mut().flatten() {
            if let Some(number) = with_point(cell) {
                *cell = number;
            }
        }
        names.push(format!("'{}'", column.name));
    }
    let more = names.len().saturating_sub(5);
    names.truncate(5);
    let more = if more > 0 { format!(" and {more} more columns") } else { String::new() };
    let note =
        format!("commas in the numbers of {}{more} were read as decimal points", names.join(", "));
    Ok((Cow::Owned(pointed), vec![note]))
}

/// Whether a column has numbers with commas, and nothing else than numbers but for a few mistakes.
fn has_commas(column: &RawColumn) -> bool {
    if !column.cells.iter().flatten().any(|cell| cell.contains(',')) {
        return false;
    }
    let (mut present, mut commas, mut others) = (0usize, 0usize, 0usize);
    for cell in column.cells.iter().flatten() {
        present += 1;
        match cell.contains(',') && with_point(cell).is_some() {
            true => commas += 1,
            false => others += usize::from(!is_number(cell)),
        }
    }
    commas > 0 && 2 * commas > others && (10 * others <= present || others == 1 && present > 2)
}

fn may_part_thousands(cell: &str) -> bool {
    let cell = cell.trim_start_matches(['+', '-']);
    cell.split_once(',').is_some_and(|(before, after)| {
        (1..=3).contains(&before.len()) && !before.starts_with('0') && after.len() == 3
    })
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
        let cases = raw("x,y\nA,0\na,1\nA,1\n");
        let cases = binary(&cases, &TableOptions::default()).unwrap();
        assert_eq!(rows(&cases), [[0, 0], [1, 1], [0, 1]], "two words in the case of letters");
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
        let age = |kinds: &[Kind]| kinds.iter().map(|&kind| ("age".to_string(), kind)).collect();
        let legs = TableOptions { types: age(&[Real]), ..options(&["legs"]) };
        refused(legs, &["--types age=real", "not among those that --columns chooses"]);
        let twice = TableOptions { types: age(&[Real, Count]), ..default.clone() };
        refused(twice, &["--types age=count", "given already, as real"]);
        let by_number = vec![("fed".to_string(), Binary), ("6".to_string(), Binary)];
        refused(TableOptions { types: by_number, ..options(&["fed"]) }, &["given already"]);
        // Numbers that are too large or too small are called so.
        let large = |text: &str, kind: Kind, words: &[&str]| {
            let error = tabular(&raw(text), &all(kind)).unwrap_err().to_string();
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
        };
        large(
            "a\n1\n9007199254740993\n",
            Count,
            &["line 3", "too large for a count (at most 2e9)"],
        );
        large("a\n1\ninf\n", Count, &["line 3", "no count"]);
        large("a\n1\n1e151\n", Real, &["line 3", "too large (numbers may be up to 1e150"]);
        large("a\n1\n-1e999\n", Real, &["line 3", "too large"]);
        large("a\n1\ninf\n", Real, &["line 3", "no number"]);
        large(
            "a,b\n1.5e-200,0.5\n2.25e-200,1\n",
            Real,
            &["column 'a'", "standard deviation is 4e-201", "multiply"],
        );
        assert!(tabular(&raw("a,b\n1e-300,1e-300\n1.0,1e-300\n"), &all(Real)).is_ok());
        // Zeros and ones stay what they were, unless they are to be something else.
        let zeros = raw("a,b\n1,0\n0,0\n1,1\n");
        assert_eq!(tabular(&zeros, &default).unwrap(), binary(&zeros, &default).unwrap());
        assert_eq!(typed(&tabular(&zeros, &all(Count)).unwrap()).only_kind(), Some(Count));
        let words = raw("a,b\n1,mm\n0,nn\n1,oo\n0,pp\n");
        let error = tabular(&words, &default).unwrap_err().to_string();
        assert!(error.contains("column 'b' holds words like 'mm'"), "{error}");
    }

    #[test]
    fn decimal_commas_are_read() {
        let text = "a;b;c\n1,5;2,25;x\n3,5;-1,0;y\n0,5;1e3;x\n1,125;?;y\n";
        let table = table::parse(&mut text.as_bytes(), b';').unwrap();
        let data = tabular(&table, &TableOptions::default()).unwrap();
        assert_eq!(typed(&data).columns()[0].cells(), [1.5, 3.5, 0.5, 1.125]);
        assert_eq!(typed(&data).columns()[1].cells()[..3], [2.25, -1.0, 1000.0]);
        assert_eq!(data.notes[0], "commas in the numbers of 'a', 'b' were read as decimal points");
        let kinds = column_types(&table);
        assert_eq!((kinds[0].kind, kinds[1].kind), (ColumnKind::Real, ColumnKind::Real));
        assert_eq!(types(&table, &TableOptions::default()).unwrap()[0].0, Some(Kind::Real));
        let quoted = raw("a,b\n\"1,5\",1\n\"2,5\",0\n\"1,5\",0\n");
        let data = tabular(&quoted, &TableOptions::default()).unwrap();
        assert_eq!(typed(&data).columns()[0].cells(), [1.5, 2.5, 1.5]);
        let refused = |text: &str, words: &[&str]| {
            let error = tabular(&raw(text), &TableOptions::default()).unwrap_err().to_string();
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
        };
        refused(
            "a\n\"1,250\"\n950\n\"2,000\"\n",
            &["line 2", "column 'a' holds '1,250'", "thousands"],
        );
        let thousands = "a,b\n\"1,250\",1\n950,0\n\"2,000\",1\n";
        assert!(tabular(&raw(thousands), &options(&["b"])).is_ok(), "another column is chosen");
        refused("a\n1.5\n\"2,5\"\n\"3,5\"\n", &["line 3", "'2,5', with a comma"]);
        refused("a\n\"1,5\"\n\"2,5\"\nn.a.\n\"3,5\"\n", &["line 4", "'n.a.'"]);
        let words = raw("a\n\"1,2\"\n\"1,2,3\"\nx\n\"1,2\"\n\"1,2,3\"\nx\n");
        let data = tabular(&words, &TableOptions::default()).unwrap();
        assert_eq!(typed(&data).columns()[0].names(), ["1,2", "1,2,3", "x"], "these are levels");
    }

    #[test]
    fn columns_that_count_rows_name_them() {
        let table = raw(",a,b\n0,1,0\n1,0,1\n2,1,1\n3,1,0\n4,0,0\n");
        let data = tabular(&table, &TableOptions::default()).unwrap();
        assert_eq!((data.columns.len(), &*data.names[4]), (2, "4"));
        assert!(
            data.notes[0].starts_with("the first column, which has no title"),
            "{:?}",
            data.notes
        );
        let chosen = tabular(&table, &options(&["1", "a"])).unwrap();
        assert_eq!(chosen.columns, ["1", "a"]);
        let columns =
            |text: &str| tabular(&raw(text), &TableOptions::default()).unwrap().columns.len();
        assert_eq!(columns("Unnamed: 0,a\n1,0\n2,1\n3,1\n"), 1);
        assert_eq!(columns(",a\n0,0\n1,1\n0,1\n"), 2, "counts nothing");
        assert_eq!(columns("0,1\n1,0\n2,1\n"), 2, "no header");
    }

    #[test]
    fn doubtful_headers_are_noted() {
        let notes =
            |text: &str| tabular(&raw(text), &TableOptions::default()).unwrap().notes.join("\n");
        let row = notes("2019,2020,2021\n1,5,3\n2,4,4\n");
        assert!(
            row.contains("the first line was taken for a row") && row.contains("2019, 2020"),
            "{row}"
        );
        let names = notes("who,2019,2020\nx,1,5\ny,2,4\n");
        assert!(names.contains("for the names of the columns, though some are numbers"), "{names}");
        assert_eq!(notes("1,2\n2,3\n1,2\n"), "");
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
