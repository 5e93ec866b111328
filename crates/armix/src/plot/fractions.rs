//! The fractions picture: how many of the items are in the largest blocks, over the iterations.

use super::Iterations;
use super::axis::Axis;
use super::colour::{SHADE, viridis};
use super::drawing::{Anchor, Area, Drawing, Stroke};
use super::legend::{Legend, Sample};
use super::panel::{Marks, NORMAL, Panel, room_below, room_left, room_right};
use super::style::{Style, check_room};
use super::text::fitting;
use super::trace::{columns, shade_burn_in};
use crate::error::{Error, Result};

const MOST_PANELS: usize = 8;
const MOST_LINES: usize = 5;

/// One small panel.
#[derive(Debug, Clone, PartialEq)]
pub struct FractionPanel {
    /// What is written above it: the name of the chain or of the ensemble.
    pub title: String,
    /// First the fraction of the items in the largest block over the iterations, then in the
    /// largest two, and so on up to five.
    pub cumulative: Vec<Vec<f64>>,
}

/// What the fractions picture shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Fractions {
    /// Up to eight panels.
    pub panels: Vec<FractionPanel>,
    /// Which iterations the values belong to.
    pub iterations: Iterations,
}

/// Small panels beside and below each other: the fraction of the items in the largest 1, 2, 3, 4
/// and 5 blocks over the iterations.
pub fn fractions(input: &Fractions, style: &Style) -> Result<Drawing> {
    check(input)?;
    let across = input.panels.len().clamp(1, 2);
    let down = input.panels.len().div_ceil(across).max(1);
    let usual_height = if down == 1 { 150.0 } else { 70.0 + 75.0 * down as f64 };
    let description = "fraction of the items in the largest blocks over the iterations";
    let (mut drawing, mut area) = style.begin(usual_height, description)?;
    let legend = legend(input, area.width());
    legend.draw(&mut drawing, area.left, area.top);
    area.top += legend.height();

    let lines = || input.panels.iter().flat_map(|p| &p.cumulative);
    let x = input.iterations.axis(lines().map(Vec::len).max().unwrap_or(0));
    let y = Axis::exact(0.0, 1.0);
    let (x_name, y_name) = (Marks::Named("iteration"), Marks::Named("fraction of items"));
    area.left += room_left(&y, y_name);
    area.right -= room_right(&x);
    area.bottom -= room_below(x_name);
    let (gap_x, gap_y) = (8.0 + room_right(&x), NORMAL + 6.0);
    let width = (area.width() - gap_x * (across - 1) as f64) / across as f64;
    let height = area.height() / down as f64 - gap_y;

    for (at, content) in input.panels.iter().enumerate() {
        let (row, column) = (at / across, at % across);
        let left = area.left + column as f64 * (width + gap_x);
        let top = area.top + row as f64 * (height + gap_y) + gap_y;
        let area = Area { left, top, right: left + width, bottom: top + height };
        check_room(&area)?;
        let panel = Panel { area, x: &x, y: &y };
        shade_burn_in(&panel, &mut drawing, input.iterations);
        for (rank, values) in content.cumulative.iter().enumerate() {
            let columns = columns(&area, lines().count());
            panel.series(&mut drawing, input.iterations.places(), values, columns, stroke(rank));
        }
        // Axes are named where no panel is below or on the left.
        let lowest = at + across >= input.panels.len();
        let x_marks = if lowest { x_name } else { Marks::Bare };
        let y_marks = if column == 0 { Marks::Numbers } else { Marks::Bare };
        panel.frame(&mut drawing, x_marks, y_marks);
        let title = fitting(&content.title, NORMAL, width);
        let middle = (area.left + area.right) / 2.0;
        drawing.text((middle, top - 3.0), NORMAL, Anchor::Middle, &title);
    }
    // One name for all rows.
    let middle = (area.top + gap_y + area.bottom) / 2.0;
    let left = area.left - room_left(&y, y_name) + NORMAL;
    let name = fitting("fraction of items", NORMAL, area.height());
    drawing.text_up((left, middle), NORMAL, &name);
    Ok(drawing)
}

fn check(input: &Fractions) -> Result<()> {
    if input.panels.len() > MOST_PANELS {
        return Err(Error::new(format!(
            "{} panels are too many for one picture: at most {MOST_PANELS} have room; choose some of the chains",
            input.panels.len()
        )));
    }
    if input.panels.iter().any(|p| p.cumulative.len() > MOST_LINES) {
        return Err(Error::new(format!(
            "only the largest {MOST_LINES} blocks can be drawn in a panel of fractions"
        )));
    }
    Ok(())
}

/// From dark for the largest block to bright; dashes help where there are no colours.
fn stroke(rank: usize) -> Stroke {
    const DASHES: [&[f64]; MOST_LINES] =
        [&[], &[4.0, 1.2], &[1.5, 1.0], &[5.0, 1.2, 1.2, 1.2], &[]];
    let colour = viridis(0.9 * rank as f64 / (MOST_LINES - 1) as f64);
    Stroke { colour, width: 0.7, dashes: DASHES[rank] }
}

fn legend(input: &Fractions, room: f64) -> Legend {
    let lines = input.panels.iter().map(|p| p.cumulative.len()).max().unwrap_or(0);
    let name = |rank: usize| match rank {
        0 => "largest block".to_string(),
        _ => format!("largest {}", rank + 1),
    };
    let mut entries: Vec<(Sample, String)> =
        (0..lines).map(|rank| (Sample::Line(stroke(rank)), name(rank))).collect();
    if input.iterations.burn_in.is_some() {
        entries.push((Sample::Box(SHADE), "burn-in".into()));
    }
    Legend::new(entries, room)
}
