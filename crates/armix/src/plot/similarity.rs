//! The similarity picture: how often two items share a block, as a matrix in colours.

use super::axis::Axis;
use super::colour::{BLACK, WHITE, viridis};
use super::drawing::{Anchor, Area, Drawing, Image, Stroke};
use super::matrix::{MOST_CELLS, Square, cell_of, check_order, tallest};
use super::panel::{NORMAL, SMALL, widest};
use super::style::Style;
use super::text::fitting;
use crate::error::Result;
use std::fmt;

/// What the similarity picture shows.
#[derive(Clone, Copy)]
pub struct Similarity<'a> {
    /// How often two items share a block, from 0 to 1. What is no number counts as 0.
    pub value: &'a dyn Fn(usize, usize) -> f64,
    /// The items in the order of the picture.
    pub order: &'a [usize],
    /// The sizes of the blocks in this order; borders are drawn between them. May be empty.
    pub blocks: &'a [usize],
    /// What the items are called at the axes, such as "item" or "vertex".
    pub items: &'a str,
}

impl fmt::Debug for Similarity<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Similarity").field("n", &self.order.len()).finish_non_exhaustive()
    }
}

const BAR: f64 = 9.0;

/// The ordered matrix in colours from 0 to 1, with borders of blocks and a colour bar. More than
/// 1000 items are averaged to 1000 cells a side.
pub fn similarity(input: &Similarity, style: &Style) -> Result<Drawing> {
    let n = input.order.len();
    check_order(n, input.order, input.blocks)?;
    let (mut drawing, area) = style.begin(tallest(style), "how often two items share a block")?;
    let scale = Axis::exact(0.0, 1.0);
    let right = 8.0 + BAR + 5.0 + widest(&scale) + NORMAL + 5.0;
    let square = Square::new(area, n, right)?;
    drawing.image(square.area, image(input, n));
    square.borders(&mut drawing, input.blocks, Stroke::plain(WHITE, 0.35));
    square.frame(&mut drawing, input.items);
    colour_bar(&mut drawing, square.area, &scale);
    square.trim(&mut drawing, style);
    Ok(drawing)
}

fn image(input: &Similarity, n: usize) -> Image {
    let cells = n.min(MOST_CELLS);
    let mut sums = vec![0.0; cells * cells];
    for (row, &i) in input.order.iter().enumerate() {
        let begin = cell_of(row, n, cells) * cells;
        for (column, &j) in input.order.iter().enumerate() {
            let value = (input.value)(i, j);
            // NaN is not larger than 0.
            let value = if value > 0.0 { value.min(1.0) } else { 0.0 };
            sums[begin + cell_of(column, n, cells)] += value;
        }
    }
    let mut width = vec![0.0; cells];
    (0..n).for_each(|position| width[cell_of(position, n, cells)] += 1.0);
    let mean = |at: usize| sums[at] / (width[at / cells] * width[at % cells]);
    Image {
        columns: cells,
        rows: cells,
        palette: (0..=255).map(|level| viridis(f64::from(level) / 255.0)).collect(),
        cells: (0..cells * cells).map(|at| (mean(at) * 255.0).round() as u8).collect(),
    }
}

fn colour_bar(drawing: &mut Drawing, beside: Area, scale: &Axis) {
    let left = beside.right + 8.0;
    let area = Area { left, right: left + BAR, ..beside };
    let palette = (0..=255).map(|level| viridis(f64::from(level) / 255.0)).collect();
    drawing.image(area, Image { columns: 1, rows: 256, palette, cells: (0..=255).rev().collect() });
    drawing.line(area.outline(), Stroke::plain(BLACK, 0.5));
    for tick in &scale.ticks {
        let y = area.bottom - scale.share(tick.value) * area.height();
        drawing.line(vec![(area.right, y), (area.right + 2.5, y)], Stroke::plain(BLACK, 0.5));
        let at = (area.right + 4.5, y + SMALL * 0.36);
        drawing.text(at, SMALL, Anchor::Start, &tick.label);
    }
    let x = area.right + 7.0 + widest(scale) + NORMAL;
    let middle = (area.top + area.bottom) / 2.0;
    let name = fitting("posterior similarity", NORMAL, area.height());
    drawing.text_up((x, middle), NORMAL, &name);
}
