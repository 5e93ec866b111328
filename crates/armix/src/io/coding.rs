//! Columns of two values as zeros and ones: which words mean one.

use super::raw::{RawColumn, RawTable};
use super::table::is_number;
use super::table_data::{canonical, distinct, odd_cell};
use crate::error::Result;
use std::collections::BTreeMap;

/// Words for one and zero, in any case of letters.
pub(super) const WORDS: [(&str, &str); 6] = [
    ("y", "n"),
    ("yes", "no"),
    ("true", "false"),
    ("t", "f"),
    ("present", "absent"),
    ("on", "off"),
];

/// Which words were coded as zeros and ones, and where.
#[derive(Default)]
pub(super) struct Codings(BTreeMap<(String, String), Vec<String>>);

impl Codings {
    pub(super) fn note(&mut self, coding: Coding, column: &str) {
        if let Coding::Words(one, zero) = coding {
            self.0.entry((one, zero)).or_default().push(column.to_string());
        }
    }

    pub(super) fn notes(self) -> Vec<String> {
        let note = |((one, zero), columns): ((String, String), Vec<String>)| {
            let what = match &columns[..] {
                [only] => format!("column '{only}'"),
                [first, ..] => format!("{} columns ('{first}', …)", columns.len()),
                [] => String::new(),
            };
            format!("in {what} '{one}' was coded as 1 and '{zero}' as 0")
        };
        self.0.into_iter().map(note).collect()
    }
}

/// How the values of a column become zeros and ones.
pub(super) enum Coding {
    Numbers,
    /// The value that is one, and the value that is zero.
    Words(String, String),
}

impl Coding {
    pub(super) fn of(table: &RawTable, column: &RawColumn) -> Result<Self> {
        if is_zero_one(column) {
            return Ok(Coding::Numbers);
        }
        let of = |one: &str, zero: &str| Ok(Coding::Words(one.to_string(), zero.to_string()));
        let values: Vec<String> = distinct(column).into_iter().collect();
        if let Some((one, zero)) = WORDS.iter().find(|&&pair| are_words(column, pair)) {
            // As the file spells them, where it has them.
            let spelled = |word: &str| {
                let found = values.iter().find(|value| value.eq_ignore_ascii_case(word));
                found.map_or(word.to_string(), Clone::clone)
            };
            return of(&spelled(one), &spelled(zero));
        }
        // Two words can be told apart; other numbers than 0 and 1 are more likely a mistake, or counts.
        if let [a, b] = &values[..]
            && !is_number(a)
            && !is_number(b)
        {
            return if a < b { of(b, a) } else { of(a, b) };
        }
        let odd = |cell: &Option<String>| cell.as_ref().is_some_and(|c| zero_or_one(c).is_none());
        let row = column.cells.iter().position(odd).unwrap_or(0);
        let why = format!(
            "which is neither 0 nor 1 (of {} different value{} in this column; two words can be coded)",
            values.len(),
            if values.len() == 1 { "" } else { "s" }
        );
        let remedy = "recode it, choose other columns with --columns, or give --id-column if it names the rows (for an edge list, give --model irm)";
        Err(odd_cell(table, column, row, &why, remedy))
    }

    pub(super) fn code(&self, cell: &str) -> u8 {
        self.find(cell).unwrap_or(0)
    }

    /// Zero or one, if the cell is either.
    pub(super) fn find(&self, cell: &str) -> Option<u8> {
        match self {
            Coding::Numbers => zero_or_one(cell),
            Coding::Words(one, zero) => {
                let cell = canonical(cell);
                // Two words may differ in the case of letters only.
                if cell == *one || cell == *zero {
                    return Some(u8::from(cell == *one));
                }
                let is = |word: &str| cell.eq_ignore_ascii_case(word);
                (is(one) || is(zero)).then(|| u8::from(is(one)))
            }
        }
    }
}

pub(super) fn zero_or_one(cell: &str) -> Option<u8> {
    match cell.parse::<f64>() {
        Ok(0.0) => Some(0),
        Ok(1.0) => Some(1),
        _ => None,
    }
}

pub(super) fn is_zero_one(column: &RawColumn) -> bool {
    column.cells.iter().flatten().all(|cell| zero_or_one(cell).is_some())
}

pub(super) fn are_words(column: &RawColumn, (one, zero): (&str, &str)) -> bool {
    let is = |cell: &String| cell.eq_ignore_ascii_case(one) || cell.eq_ignore_ascii_case(zero);
    column.cells.iter().flatten().all(is)
}
