//! The adjacency picture: which vertices are linked, ordered by their blocks.

use super::colour::{BLACK, Colour, OKABE_ITO, WHITE, mixed};
use super::drawing::{Drawing, Image, Stroke};
use super::matrix::{MOST_CELLS, Square, cell_of, check_order, tallest};
use super::style::Style;
use crate::error::{Error, Result};

/// What the adjacency picture shows.
#[derive(Debug, Clone, Copy)]
pub struct Adjacency<'a> {
    /// The links; each needs to be there once only.
    pub edges: &'a [(u32, u32)],
    /// The vertices in the order of the picture.
    pub order: &'a [usize],
    /// The sizes of the blocks in this order; borders are drawn between them. May be empty.
    pub blocks: &'a [usize],
}

/// The ordered adjacency matrix in black on white, with borders of blocks. More than 1000 vertices
/// share 1000 cells a side; then a cell is the darker the more links it has, and one that has any
/// link is never white.
pub fn adjacency(input: &Adjacency, style: &Style) -> Result<Drawing> {
    let n = input.order.len();
    check_order(n, input.order, input.blocks)?;
    let (mut drawing, area) = style.begin(tallest(style), "which vertices are linked")?;
    let square = Square::new(area, n, 8.0)?;
    drawing.image(square.area, image(input, n)?);
    square.borders(&mut drawing, input.blocks, Stroke::plain(OKABE_ITO[1], 0.4));
    square.frame(&mut drawing, "vertex");
    square.trim(&mut drawing, style);
    Ok(drawing)
}

fn image(input: &Adjacency, n: usize) -> Result<Image> {
    let cells = n.min(MOST_CELLS);
    let mut position = vec![0; n];
    input.order.iter().enumerate().for_each(|(at, &vertex)| position[vertex] = at);
    let place = |vertex: u32| match position.get(vertex as usize) {
        Some(&at) => Ok(cell_of(at, n, cells)),
        None => {
            Err(Error::new(format!("there is a link to vertex {vertex}, but only {n} vertices")))
        }
    };
    let mut counts = vec![0u32; cells * cells];
    for &(u, v) in input.edges {
        let (row, column) = (place(u)?, place(v)?);
        counts[row * cells + column] += 1;
        if u != v {
            counts[column * cells + row] += 1;
        }
    }
    Ok(Image {
        columns: cells,
        rows: cells,
        palette: greys(),
        cells: darkness(&counts, n == cells),
    })
}

/// From white to black.
fn greys() -> Vec<Colour> {
    (0..=255).map(|level| mixed(WHITE, BLACK, f64::from(level) / 255.0)).collect()
}

/// Single vertices are linked or not; in larger cells the square root of the number of links
/// shows sparse parts, too.
fn darkness(counts: &[u32], single: bool) -> Vec<u8> {
    let most = counts.iter().copied().max().unwrap_or(0);
    let level = |count: u32| match count {
        0 => 0,
        _ if single => 255,
        _ => (80.0 + 175.0 * (f64::from(count) / f64::from(most)).sqrt()).round() as u8,
    };
    counts.iter().map(|&count| level(count)).collect()
}
