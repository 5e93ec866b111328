//! Legends above the panels: what the lines and colours mean.

use super::Colour;
use super::drawing::{Anchor, Area, Drawing, Stroke};
use super::panel::SMALL;
use super::text::{fitting, width};

const SAMPLE: f64 = 11.0;
/// Between entries.
const GAP: f64 = 7.0;
const ROW: f64 = SMALL + 2.5;
/// More entries than this would push the panels from the paper.
const MOST: usize = 16;

/// How an entry is shown.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sample {
    Line(Stroke),
    Box(Colour),
    Nothing,
}

/// Entries in rows.
#[derive(Debug)]
pub(super) struct Legend {
    rows: Vec<Vec<(Sample, String)>>,
}

impl Legend {
    /// Arranges the entries in rows of a given width. Without entries there is no row.
    pub(super) fn new(mut entries: Vec<(Sample, String)>, room: f64) -> Self {
        if entries.len() > MOST {
            let more = entries.len() - MOST + 1;
            entries.truncate(MOST - 1);
            entries.push((Sample::Nothing, format!("and {more} more")));
        }
        let mut rows: Vec<Vec<(Sample, String)>> = Vec::new();
        let mut left = 0.0;
        for (sample, label) in entries {
            let label = fitting(&label, SMALL, room - SAMPLE - 3.0);
            let needed = entry_width(&label);
            match rows.last_mut().filter(|_| needed - GAP <= left) {
                Some(row) => row.push((sample, label)),
                None => {
                    rows.push(vec![(sample, label)]);
                    left = room;
                }
            }
            left -= needed;
        }
        Legend { rows }
    }

    pub(super) fn height(&self) -> f64 {
        if self.rows.is_empty() { 0.0 } else { self.rows.len() as f64 * ROW + 2.0 }
    }

    /// Draws the rows, the first below the given place.
    pub(super) fn draw(&self, drawing: &mut Drawing, left: f64, top: f64) {
        for (at, row) in self.rows.iter().enumerate() {
            let base = top + at as f64 * ROW + SMALL;
            let middle = base - SMALL * 0.34;
            let mut x = left;
            for (sample, label) in row {
                match *sample {
                    Sample::Line(stroke) => {
                        let stroke = Stroke { width: stroke.width.max(1.0), ..stroke };
                        drawing.line(vec![(x, middle), (x + SAMPLE, middle)], stroke);
                    }
                    Sample::Box(colour) => {
                        let (top, bottom) = (middle - 2.8, middle + 2.8);
                        drawing.fill(Area { left: x, top, right: x + SAMPLE, bottom }, colour);
                    }
                    Sample::Nothing => {}
                }
                drawing.text((x + SAMPLE + 3.0, base), SMALL, Anchor::Start, label);
                x += entry_width(label);
            }
        }
    }
}

fn entry_width(label: &str) -> f64 {
    SAMPLE + 3.0 + width(label, SMALL) + GAP
}
