//! What pictures of matrices have in common: an order of the items, cells, and borders of blocks.

use super::axis::Axis;
use super::drawing::{Area, Drawing, Stroke};
use super::panel::{Marks, Panel, room_below, room_left};
use super::style::{LARGEST, MARGIN, Style, check_room};
use crate::error::{Error, Result};

/// More cells than this in a row cannot be seen.
pub(super) const MOST_CELLS: usize = 1000;
/// More borders than this hide what they surround.
const MOST_BORDERS: usize = 100;

/// Checks that an order has every item once, and that the blocks have all items.
pub(super) fn check_order(n: usize, order: &[usize], blocks: &[usize]) -> Result<()> {
    if n == 0 {
        return Err(Error::new("a matrix without items cannot be drawn"));
    }
    let mut seen = vec![false; n];
    for &item in order {
        match seen.get_mut(item) {
            Some(seen) if !*seen => *seen = true,
            _ => {
                return Err(Error::new(format!(
                    "item {item} is not once in the order of {n} items"
                )));
            }
        }
    }
    if order.len() != n {
        return Err(Error::new(format!("the order has {} of {n} items", order.len())));
    }
    // Blocks that the caller does not know are no blocks at all.
    if !blocks.is_empty() && blocks.iter().sum::<usize>() != n {
        let sum: usize = blocks.iter().sum();
        return Err(Error::new(format!("the blocks have {sum} items, but there are {n}")));
    }
    Ok(())
}

/// The cell of a row or column of the ordered matrix.
pub(super) fn cell_of(position: usize, n: usize, cells: usize) -> usize {
    position * cells / n
}

/// A height that leaves room for the largest square and a title; [`Square::trim`] takes the rest.
pub(super) fn tallest(style: &Style) -> f64 {
    (style.width + 60.0).min(LARGEST)
}

/// A square panel for a matrix, with axes that count the items.
#[derive(Debug)]
pub(super) struct Square {
    pub(super) area: Area,
    axis: Axis,
    n: usize,
}

impl Square {
    /// The largest square in an area, with axes on the left and below. `right` points stay free.
    pub(super) fn new(area: Area, n: usize, right: f64) -> Result<Self> {
        let axis = Axis::exact(0.0, n.max(2) as f64);
        let axis = if n < 8 { Axis::whole(0.0, (n as f64).max(2.5)) } else { axis };
        let ticks: Vec<_> = axis
            .ticks
            .into_iter()
            .filter(|t| t.value.fract() == 0.0 && t.value <= n as f64)
            .collect();
        let axis = Axis { low: 0.0, high: n as f64, ticks };
        let left = area.left + room_left(&axis, Marks::Named("item"));
        let side = (area.right - right - left)
            .min(area.bottom - room_below(Marks::Named("item")) - area.top - 3.0);
        // In the middle, if the paper is wider than high.
        let left = left + ((area.right - right - left - side) / 2.0).max(0.0);
        let top = area.top + 3.0;
        let area = Area { left, top, right: left + side, bottom: top + side };
        check_room(&area)?;
        Ok(Square { area, axis, n })
    }

    /// Takes away the paper below the axis, unless a height was asked for.
    pub(super) fn trim(&self, drawing: &mut Drawing, style: &Style) {
        if style.height.is_none() {
            let below = room_below(Marks::Named("item")) + MARGIN;
            drawing.height = drawing.height.min((self.area.bottom + below).ceil());
        }
    }

    /// Draws lines between the blocks; at most a hundred, so that they hide nothing.
    pub(super) fn borders(&self, drawing: &mut Drawing, blocks: &[usize], stroke: Stroke) {
        let Area { left, top, right, bottom } = self.area;
        let mut items = 0;
        for size in blocks.iter().take(blocks.len().saturating_sub(1).min(MOST_BORDERS)) {
            items += size;
            let at = self.area.width() * items as f64 / self.n as f64;
            drawing.line(vec![(left + at, top), (left + at, bottom)], stroke);
            drawing.line(vec![(left, top + at), (right, top + at)], stroke);
        }
    }

    /// Draws the frame, with items counted from the upper left corner.
    pub(super) fn frame(&self, drawing: &mut Drawing, name: &str) {
        let down = Axis {
            low: -self.axis.high,
            high: 0.0,
            ticks: self
                .axis
                .ticks
                .iter()
                .cloned()
                .map(|t| super::axis::Tick { value: -t.value, ..t })
                .collect(),
        };
        let panel = Panel { area: self.area, x: &self.axis, y: &down };
        panel.frame(drawing, Marks::Named(name), Marks::Named(name));
    }
}
