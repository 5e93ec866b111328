//! The rows of a table of real numbers: on grids, where their sums are exact, and as they are weighed.

use super::factor::triangle;
use crate::families::Grid;

/// The rows, and what their columns are like.
#[derive(Debug)]
pub(super) struct Points {
    pub(super) n: usize,
    pub(super) d: usize,
    /// Mean, standard deviation and grid of each column.
    pub(super) columns: Vec<(f64, f64, Grid)>,
    /// Row after row, on the grids …
    places: Vec<i64>,
    /// … and as y.
    points: Vec<f64>,
    /// Σ ln of the standard deviations: densities are those of the original numbers.
    pub(super) ln_scale: f64,
    /// Rows with missing cells, each with their columns.
    pub(super) missing: Vec<(usize, Vec<usize>)>,
}

/// Drawn cells may lie so many ranges of the others away from them.
const WIDE: f64 = 32.0;

impl Points {
    /// Of complete columns, of which some cells were not observed.
    pub(super) fn new(
        cells: &[Vec<f64>],
        scales: &[(f64, f64)],
        missing: Vec<(usize, Vec<usize>)>,
    ) -> Self {
        let (n, d) = (cells[0].len(), cells.len());
        let grid = |cells: &[f64]| {
            let wide = (f64::INFINITY, f64::NEG_INFINITY);
            let (low, high) = cells.iter().fold(wide, |(l, h), &x| (l.min(x), h.max(x)));
            let margin = if missing.is_empty() { 0.0 } else { WIDE * (high - low) };
            let ends = [low - margin, high + margin];
            Grid::new(cells.iter().copied().chain(ends), n as u64)
        };
        let columns: Vec<(f64, f64, Grid)> =
            scales.iter().zip(cells).map(|(&(mean, sd), cells)| (mean, sd, grid(cells))).collect();
        let mut places = Vec::with_capacity(n * d);
        let mut points = Vec::with_capacity(n * d);
        for row in 0..n {
            for (cells, (mean, sd, grid)) in cells.iter().zip(&columns) {
                let place = grid.place(cells[row]);
                places.push(place);
                points.push((grid.value(place as f64) - mean) / sd);
            }
        }
        let ln_scale = columns.iter().map(|(_, sd, _)| libm::log(*sd)).sum();
        Points { n, d, columns, places, points, ln_scale, missing }
    }

    pub(super) fn copy(&self) -> Self {
        Points {
            columns: self.columns.clone(),
            places: self.places.clone(),
            points: self.points.clone(),
            missing: self.missing.clone(),
            ..*self
        }
    }

    /// Puts a drawn number into a cell that is missing.
    pub(super) fn set(&mut self, row: usize, column: usize, number: f64) {
        let (mean, sd, grid) = self.columns[column];
        let place = grid.place(number).clamp(-grid.reach(), grid.reach());
        self.places[row * self.d + column] = place;
        self.points[row * self.d + column] = (grid.value(place as f64) - mean) / sd;
    }

    fn row(&self, row: usize) -> &[i64] {
        &self.places[row * self.d..(row + 1) * self.d]
    }

    /// A row of y.
    #[inline]
    pub(super) fn point(&self, row: usize) -> &[f64] {
        &self.points[row * self.d..(row + 1) * self.d]
    }

    /// The words of a sum: n, Σk, and Σkkᵀ below the diagonal, column after column.
    pub(super) fn width(&self) -> usize {
        1 + self.d + triangle(self.d)
    }

    /// Adds a row to a sum …
    pub(super) fn add(&self, row: usize, sum: &mut [i128]) {
        self.for_each_word(row, sum, |word, more| *word += more);
    }

    /// … and takes it out.
    pub(super) fn sub(&self, row: usize, sum: &mut [i128]) {
        self.for_each_word(row, sum, |word, part| *word -= part);
    }

    /// Calls `change` with every word of a sum and what the row adds to it.
    #[inline]
    fn for_each_word(&self, row: usize, sum: &mut [i128], change: impl Fn(&mut i128, i128)) {
        let row = self.row(row);
        change(&mut sum[0], 1);
        let (means, squares) = sum[1..].split_at_mut(self.d);
        means.iter_mut().zip(row).for_each(|(word, &k)| change(word, k.into()));
        let mut words = squares.iter_mut();
        for (at, &left) in row.iter().enumerate() {
            for (&right, word) in row[at..].iter().zip(&mut words) {
                change(word, i128::from(left) * i128::from(right));
            }
        }
    }
}
