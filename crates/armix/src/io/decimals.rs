//! Numbers with commas before their decimals, as much of the world writes them.

use super::raw::{RawColumn, RawTable};
use super::table::{is_number, with_point};
use super::table_data::{TableOptions, find, odd_cell};
use crate::error::Result;
use std::borrow::Cow;

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
