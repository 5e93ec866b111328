//! Tables whose columns each have their own type: zeros and ones, levels, counts or reals.

use super::{BinaryTable, MISSING, check_n};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Zeros and ones.
    Binary,
    /// Levels without order.
    Categorical,
    /// Whole numbers from 0 on.
    Count,
    /// Numbers.
    Real,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 4] = [Kind::Binary, Kind::Categorical, Kind::Count, Kind::Real];

    /// The name in options and messages.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Binary => "binary",
            Kind::Categorical => "categorical",
            Kind::Count => "count",
            Kind::Real => "real",
        }
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for Kind {
    type Err = Error;
    fn from_str(name: &str) -> Result<Self> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            Error::new(format!(
                "there is no type '{name}'; a column is binary, categorical, count or real"
            ))
        })
    }
}

/// The largest count; more than that is better called real.
pub const MAX_COUNT: f64 = 2e9;

/// Larger numbers than this have no squares.
pub const MAX_REAL: f64 = 1e150;

/// Reals whose standard deviation is smaller, and not 0, have no squares either.
pub const MIN_DEVIATION: f64 = 1e-140;

/// Reals are rounded to about this share of the range of their column.
const RESOLUTION: f64 = 0.5 / (1u64 << 51) as f64;

/// Numbers differ if they do so by more than this share of the larger one: less may come from computing.
const DIFFERENT: f64 = 1e-9;

/// New reals may be so many standard deviations away from those that set the scale of a prior: beyond it, less
/// than seven digits are left of these.
const FARTHEST: f64 = 1e9;

/// A column: its type and its values, NaN where nothing was observed.
#[derive(Debug, Clone)]
pub struct Column {
    kind: Kind,
    levels: Vec<String>,
    values: Vec<f64>,
    /// So many of the first rows set the scale of a prior.
    reference: usize,
}

impl PartialEq for Column {
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits();
        (self.kind, &self.levels, self.values.len())
            == (other.kind, &other.levels, other.values.len())
            && self.values.iter().zip(&other.values).all(same)
    }
}

impl Eq for Column {}

impl Column {
    /// Zeros and ones.
    pub fn binary(values: Vec<f64>) -> Self {
        Column { kind: Kind::Binary, levels: Vec::new(), reference: values.len(), values }
    }

    /// Levels with their names; a value is the number of its level, from 0.
    pub fn levels(names: Vec<String>, values: Vec<f64>) -> Self {
        Column { kind: Kind::Categorical, levels: names, reference: values.len(), values }
    }

    /// Counts.
    pub fn counts(values: Vec<f64>) -> Self {
        Column { kind: Kind::Count, levels: Vec::new(), reference: values.len(), values }
    }

    /// Real numbers.
    pub fn reals(values: Vec<f64>) -> Self {
        Column { kind: Kind::Real, levels: Vec::new(), reference: values.len(), values }
    }

    /// A column of the same type and levels with other values.
    #[must_use]
    pub fn with_values(&self, values: Vec<f64>) -> Self {
        let (kind, levels) = (self.kind, self.levels.clone());
        Column { kind, levels, reference: values.len(), values }
    }

    /// What its values are.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The names of the levels, if it has levels.
    pub fn names(&self) -> &[String] {
        &self.levels
    }

    /// One value for each row, NaN if it is missing.
    pub fn cells(&self) -> &[f64] {
        &self.values
    }

    /// What was observed.
    pub fn observed(&self) -> impl Iterator<Item = f64> + Clone + '_ {
        self.values.iter().copied().filter(|x| !x.is_nan())
    }

    /// How many of the first rows set the scale of a prior: all, unless rows were added later.
    pub fn reference(&self) -> usize {
        self.reference
    }

    /// The value of a row is not observed any more.
    pub fn hide(&mut self, row: usize) {
        self.values[row] = f64::NAN;
    }

    /// A value as people write it: the name of a level, or a number.
    pub fn show(&self, value: f64) -> String {
        match self.kind {
            Kind::Categorical if value >= 0.0 && (value as usize) < self.levels.len() => {
                self.levels[value as usize].clone()
            }
            _ => value.to_string(),
        }
    }

    /// Two reals that differ, but cannot be told apart beside a third one, which is far away from both.
    pub fn merged(&self) -> Option<(f64, f64, f64)> {
        if self.kind != Kind::Real {
            return None;
        }
        let mut sorted: Vec<f64> = self.observed().collect();
        sorted.sort_by(f64::total_cmp);
        let (&low, &high) = (sorted.first()?, sorted.last()?);
        let merge = |pair: &&[f64]| {
            let (a, b) = (pair[0], pair[1]);
            b - a < RESOLUTION * (high - low) && b - a > DIFFERENT * a.abs().max(b.abs())
        };
        let pair = sorted.windows(2).find(merge)?;
        let far = if high - pair[1] > pair[0] - low { high } else { low };
        Some((pair[0], pair[1], far))
    }

    /// The first row after those that set the scale whose real is too far away from theirs, and how many of their
    /// standard deviations it is.
    pub fn too_far(&self) -> Option<(usize, f64)> {
        if self.kind != Kind::Real {
            return None;
        }
        let (first, new) = self.values.split_at(self.reference);
        let known = || first.iter().filter(|x| !x.is_nan());
        let n = known().count().max(1) as f64;
        let mean: f64 = known().map(|x| x / n).sum();
        let sd = known().map(|x| (x - mean) * (x - mean) / n).sum::<f64>().sqrt();
        // Of a constant column, its size must do.
        let sd = if sd > 1e-12 * mean.abs() { sd } else { mean.abs().max(1.0) };
        let far = |x: &f64| (x - mean).abs() / sd;
        let row = new.iter().position(|x| far(x) > FARTHEST)?;
        Some((first.len() + row, far(&new[row])))
    }

    /// The standard deviation of a column of reals, if it is too small to be squared. A column of equal numbers has
    /// none.
    pub fn too_narrow(&self) -> Option<f64> {
        if self.kind != Kind::Real {
            return None;
        }
        let (low, high) =
            self.observed().fold((f64::MAX, f64::MIN), |(a, b), x| (a.min(x), b.max(x)));
        let range = high - low;
        // It is at least range / √(2n): most columns need not be looked at again.
        let n = self.observed().count().max(1) as f64;
        if range <= 0.0 || range > 2.0 * n.sqrt() * MIN_DEVIATION {
            return None;
        }
        // In units of the range, in which squares are no problem.
        let share = |x: f64| (x - low) / range;
        let mean = self.observed().map(share).sum::<f64>() / n;
        let squares = self.observed().map(|x| (share(x) - mean) * (share(x) - mean)).sum::<f64>();
        let sd = range * (squares / n).sqrt();
        (sd < MIN_DEVIATION).then_some(sd)
    }

    /// Why a value cannot stand in this column.
    fn fault(&self, x: f64) -> Option<String> {
        let whole = x >= 0.0 && x.fract() == 0.0;
        match self.kind {
            _ if x.is_nan() => None,
            Kind::Binary if x == 0.0 || x == 1.0 => None,
            Kind::Binary => Some("is neither 0 nor 1".into()),
            Kind::Categorical if whole && x < self.levels.len() as f64 => None,
            Kind::Categorical => Some(format!("is none of the {} levels", self.levels.len())),
            Kind::Count if whole && x <= MAX_COUNT => None,
            Kind::Count => Some(format!("is no count: a whole number from 0 to {MAX_COUNT:e}")),
            Kind::Real if x.abs() <= MAX_REAL => None,
            Kind::Real => Some(format!("is not between −{MAX_REAL:e} and {MAX_REAL:e}")),
        }
    }
}

/// A table of typed columns, in which cells may be missing.
///
/// ```
/// use armix::data::{Column, Table};
/// let table = Table::new(vec![Column::counts(vec![3.0, 0.0]), Column::reals(vec![0.5, f64::NAN])]).unwrap();
/// assert_eq!((table.n(), table.d(), table.missing().count()), (2, 2, 1));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    columns: Vec<Column>,
}

impl Table {
    /// The table with these columns, which are equally long.
    pub fn new(columns: Vec<Column>) -> Result<Self> {
        let Some(first) = columns.first() else {
            return Err(Error::new("the table has no columns: nothing tells the rows apart"));
        };
        let n = first.values.len();
        check_n(n, "rows")?;
        for (at, column) in columns.iter().enumerate() {
            if column.values.len() != n {
                let rows = column.values.len();
                return Err(Error::new(format!("column {at} has {rows} rows, the first one {n}")));
            }
            for (row, &x) in column.values.iter().enumerate() {
                if let Some(fault) = column.fault(x) {
                    return Err(Error::new(format!("row {row}, column {at}: {x} {fault}")));
                }
            }
            if let Some(sd) = column.too_narrow() {
                return Err(Error::new(format!(
                    "column {at}: its numbers have a standard deviation of {sd:.0e}, at least {MIN_DEVIATION:e} is needed; multiply them"
                )));
            }
        }
        Ok(Table { columns })
    }

    /// The number of rows.
    pub fn n(&self) -> usize {
        self.columns[0].values.len()
    }

    /// The number of columns.
    pub fn d(&self) -> usize {
        self.columns.len()
    }

    /// The columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The type that all columns have, if they have the same.
    pub fn only_kind(&self) -> Option<Kind> {
        let first = self.columns[0].kind;
        self.columns.iter().all(|c| c.kind == first).then_some(first)
    }

    /// The same table, of which these cells (row and column) were not observed.
    pub fn hiding(&self, hidden: &[(u32, u32)]) -> Self {
        let mut table = self.clone();
        for &(row, column) in hidden {
            table.columns[column as usize].hide(row as usize);
        }
        table
    }

    /// The same table, in which the first rows alone set the scale of priors.
    pub fn scaled_by_first(mut self, rows: usize) -> Self {
        self.columns.iter_mut().for_each(|column| column.reference = rows);
        self
    }

    /// The cells (row and column) that were not observed.
    pub fn missing(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let (n, d) = (self.n() as u32, self.d() as u32);
        (0..n)
            .flat_map(move |row| (0..d).map(move |column| (row, column)))
            .filter(|&(row, column)| self.columns[column as usize].values[row as usize].is_nan())
    }

    /// A table of zeros and ones as typed columns.
    pub fn from_zeros_and_ones(table: &BinaryTable) -> Self {
        let value = |cell: u8| if cell == MISSING { f64::NAN } else { f64::from(cell) };
        let column = |at: usize| (0..table.n()).map(|row| value(table.row(row)[at])).collect();
        Table { columns: (0..table.d()).map(|at| Column::binary(column(at))).collect() }
    }

    /// The cells of columns of zeros and ones.
    pub fn zeros_and_ones(columns: &[&Column]) -> Result<BinaryTable> {
        let n = columns.first().map_or(0, |c| c.values.len());
        let code = |x: f64| if x.is_nan() { MISSING } else { x as u8 };
        let cells = (0..n).flat_map(|row| columns.iter().map(move |c| code(c.values[row])));
        BinaryTable::new(n, columns.len(), cells.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only numbers that differ by more than rounding are missed, and none where the range is not extreme.
    #[test]
    fn merged_and_far_numbers_are_found() {
        let merged = |values: &[f64]| Column::reals(values.to_vec()).merged();
        assert_eq!(merged(&[2e-3, 1e16, f64::NAN, 1e-3, 3e-3]), Some((1e-3, 2e-3, 1e16)));
        assert_eq!(merged(&[-1e16, 1e-3, 2e-3]), Some((1e-3, 2e-3, -1e16)));
        assert_eq!(merged(&[1e-3, 2e-3, 3e-3, 1e12]), None);
        assert_eq!(merged(&[0.3, 0.1 + 0.2, 1.0]), None, "not different, but for rounding");
        assert_eq!(merged(&[5.0, 5.0, 1e300]), None, "equal");
        assert_eq!(merged(&[1e-200, 2e-200, 4e-200]), None, "a small range is a range");
        assert_eq!(Column::counts(vec![0.0, 1.0, 2e9]).merged(), None);
        let far = |values: &[f64]| {
            let table = Table::new(vec![Column::reals(values.to_vec())]).unwrap();
            table.scaled_by_first(3).columns[0].too_far()
        };
        assert_eq!(far(&[1.0, 2.0, 3.0, 1e8, f64::NAN]), None);
        let (row, away) = far(&[1.0, 2.0, 3.0, 4.0, -1e12]).unwrap();
        assert!(row == 4 && (1e12..2e12).contains(&away), "{row}, {away}");
        assert_eq!(far(&[7e9, 7e9, 7e9, 8e9]), None, "a constant column has its own size");
        assert!(far(&[0.0, 0.0, 0.0, 1e10]).is_some());
    }

    #[test]
    fn columns_that_are_too_narrow_are_found() {
        let narrow = |values: &[f64]| Column::reals(values.to_vec()).too_narrow().is_some();
        assert!(narrow(&[1.5e-200, 2.25e-200, f64::NAN, -1e-200]) && narrow(&[0.0, 5e-324]));
        assert!(narrow(&[1e-141, -1e-141, 0.0]));
        for enough in [
            &[1e-300, 1.0][..],
            &[1e-300, 1e-300],
            &[0.0, 0.0],
            &[1e-139, -1e-139],
            &[f64::NAN],
            &[-1e150, 1e150],
        ] {
            assert!(!narrow(enough), "{enough:?}");
        }
        assert_eq!(Column::counts(vec![0.0, 1.0]).too_narrow(), None);
    }

    #[test]
    fn values_must_fit_their_column() {
        let refused = |column: Column, words: &str| {
            let other = Column::counts(vec![0.0; 2]);
            let error = Table::new(vec![other, column]).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        };
        refused(Column::binary(vec![1.0, 2.0]), "row 1, column 1: 2 is neither 0 nor 1");
        refused(Column::levels(vec!["a".into()], vec![0.0, 1.0]), "none of the 1 levels");
        refused(Column::counts(vec![0.5, 1.0]), "row 0, column 1: 0.5 is no count");
        refused(Column::reals(vec![0.5, f64::INFINITY]), "inf is not between");
        refused(
            Column::reals(vec![1e-200, 2e-200]),
            "column 1: its numbers have a standard deviation of 5e-201",
        );
        refused(Column::reals(vec![0.5]), "column 1 has 1 rows");
        assert!(Table::new(vec![]).is_err());
        let table = Table::new(vec![Column::binary(vec![1.0, f64::NAN])]).unwrap();
        assert_eq!(table, table.hiding(&[(1, 0)]), "missing cells are equal");
        assert_ne!(table, table.hiding(&[(0, 0)]));
        let columns: Vec<&Column> = table.columns().iter().collect();
        assert_eq!(Table::zeros_and_ones(&columns).unwrap().row(1), [MISSING]);
    }
}
