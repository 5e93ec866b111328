//! Square images of what holds between pairs of items, small enough to be shown.

use super::Packed;
use serde::Serialize;

/// The largest side of an image.
pub const LARGEST_SIDE: usize = 1000;

/// A matrix over the items in the order of the estimate, averaged over cells if there are many.
/// The item at position p of the order lies in the row and the column ⌊p · size / n⌋.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Matrix {
    /// The number of cells on a side, at most [`LARGEST_SIDE`].
    pub size: usize,
    /// How many items share a row of cells: n / size.
    pub items_per_cell: f64,
    /// The value that a cell of 255 stands for; 0 stands for 0.
    pub full: f64,
    /// `size`² bytes, row by row.
    pub cells: Packed,
}

impl Matrix {
    /// The side of the image of `n` items.
    pub fn side(n: usize) -> usize {
        n.min(LARGEST_SIDE)
    }

    /// The cell of the item at a position of the order.
    pub fn cell(position: usize, n: usize) -> usize {
        position * Matrix::side(n) / n
    }

    /// An image of values from 0 to 1, row by row: `side(n)`² of them.
    pub fn of_shares(n: usize, values: &[f32]) -> Self {
        Matrix::scaled(n, values, 1.0)
    }

    /// An image of the links between positions of the order; every link is given once and counts
    /// for both directions. A cell shows the share of its pairs that are linked, and the densest
    /// cell is full.
    pub fn of_links(n: usize, links: &[(u32, u32)]) -> Self {
        let size = Matrix::side(n);
        let mut counts = vec![0u32; size * size];
        for &(a, b) in links {
            let (row, column) = (Matrix::cell(a as usize, n), Matrix::cell(b as usize, n));
            counts[row * size + column] += 1;
            counts[column * size + row] += 1;
        }
        let mut items = vec![0u32; size];
        for position in 0..n {
            items[Matrix::cell(position, n)] += 1;
        }
        let shares: Vec<f32> = (counts.iter().enumerate())
            .map(|(at, &count)| {
                let (row, column) = (at / size, at % size);
                // An item is not linked to itself, so that it is no pair of the diagonal.
                let pairs = items[row] * (items[column] - u32::from(row == column));
                count as f32 / pairs.max(1) as f32
            })
            .collect();
        let densest = shares.iter().fold(0.0, |most: f32, &share| most.max(share));
        Matrix::scaled(n, &shares, if densest > 0.0 { f64::from(densest) } else { 1.0 })
    }

    /// An image of weights from one position of the order to another. A cell shows the mean over its pairs;
    /// the square root of it, so that small weights beside large ones are seen.
    pub fn of_weights(n: usize, weights: &[(u32, u32, f64)]) -> Self {
        let size = Matrix::side(n);
        let mut sums = vec![0.0f64; size * size];
        for &(row, column, weight) in weights {
            sums[Matrix::cell(row as usize, n) * size + Matrix::cell(column as usize, n)] += weight;
        }
        let mut items = vec![0.0; size];
        (0..n).for_each(|position| items[Matrix::cell(position, n)] += 1.0);
        let mean =
            |(at, sum): (usize, &f64)| (sum / (items[at / size] * items[at % size])).sqrt() as f32;
        let means: Vec<f32> = sums.iter().enumerate().map(mean).collect();
        let largest = means.iter().fold(0.0, |most: f32, &mean| most.max(mean));
        Matrix::scaled(n, &means, if largest > 0.0 { f64::from(largest) } else { 1.0 })
    }

    fn scaled(n: usize, values: &[f32], full: f64) -> Self {
        let size = Matrix::side(n);
        assert_eq!(values.len(), size * size, "a square of {size} cells a side");
        let byte = |&value: &f32| (f64::from(value) / full * 255.0).round().clamp(0.0, 255.0) as u8;
        let cells: Vec<u8> = values.iter().map(byte).collect();
        let items_per_cell = if size > 0 { n as f64 / size as f64 } else { 1.0 };
        Matrix { size, items_per_cell, full, cells: Packed::u8(&cells) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_items_have_a_cell_each() {
        let matrix = Matrix::of_links(3, &[(0, 2)]);
        assert_eq!((matrix.size, matrix.items_per_cell, matrix.full), (3, 1.0, 1.0));
        assert_eq!(matrix.cells, Packed::u8(&[0, 0, 255, 0, 0, 0, 255, 0, 0]));
        let matrix = Matrix::of_shares(2, &[1.0, 0.5, 0.25, 2.0]);
        assert_eq!(matrix.cells, Packed::u8(&[255, 128, 64, 255]));
    }

    #[test]
    fn many_items_share_cells() {
        let n = 2 * LARGEST_SIDE;
        let matrix = Matrix::of_links(n, &[(0, 1), (0, 2), (1, 2), (2, 5)]);
        assert_eq!((matrix.size, matrix.items_per_cell, matrix.full), (1000, 2.0, 1.0));
        let mut cells = vec![0; 1000 * 1000];
        cells[0] = 255; // 0-1, which is all that items 0 and 1 can have
        (cells[1], cells[1000]) = (128, 128); // 0-2 and 1-2 out of four
        (cells[1002], cells[2001]) = (64, 64); // 2-5 out of four
        assert_eq!(matrix.cells, Packed::u8(&cells));
    }

    #[test]
    fn weights_have_a_direction() {
        let matrix = Matrix::of_weights(2, &[(0, 1, 16.0), (1, 1, 1.0)]);
        assert_eq!((matrix.full, matrix.cells), (4.0, Packed::u8(&[0, 255, 0, 64])));
    }

    #[test]
    fn nothing_at_all_is_an_image_too() {
        assert_eq!(Matrix::of_links(0, &[]).cells, Packed::u8(&[]));
        assert_eq!(Matrix::of_links(2, &[]).cells, Packed::u8(&[0; 4]));
    }
}
