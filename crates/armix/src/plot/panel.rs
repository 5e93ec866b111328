//! A frame with axes: where values become places on the paper.

use super::axis::{Axis, Tick};
use super::colour::{BLACK, GREY};
use super::drawing::{Anchor, Area, Drawing, Stroke};
use super::text::{fitting, width};
use super::thin;

/// The size of numbers at axes, in points.
pub(super) const SMALL: f64 = 7.0;
/// The size of all other text.
pub(super) const NORMAL: f64 = 8.0;
/// The length of a mark.
const TICK: f64 = 2.5;
/// Between a mark and its number.
const GAP: f64 = 1.5;
/// The height of digits as a share of their size.
const DIGIT_HEIGHT: f64 = 0.72;

/// What is written at an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marks<'a> {
    /// Only the marks: another panel beside this one has the numbers.
    Bare,
    /// Marks and numbers.
    Numbers,
    /// Marks, numbers and what they are.
    Named(&'a str),
}

/// The room that a horizontal axis needs below its panel.
pub(super) fn room_below(marks: Marks) -> f64 {
    let numbers = TICK + GAP + SMALL;
    match marks {
        Marks::Bare => TICK,
        Marks::Numbers => numbers + 1.0,
        Marks::Named(_) => numbers + NORMAL + 4.0,
    }
}

/// The room that a vertical axis needs on the left of its panel.
pub(super) fn room_left(axis: &Axis, marks: Marks) -> f64 {
    let numbers = TICK + GAP + widest(axis);
    match marks {
        Marks::Bare => TICK,
        Marks::Numbers => numbers + 1.0,
        Marks::Named(_) => numbers + NORMAL + 5.0,
    }
}

/// The widest number of an axis.
pub(super) fn widest(axis: &Axis) -> f64 {
    axis.ticks.iter().map(|t| width(&t.label, SMALL)).fold(0.0, f64::max)
}

/// The room that the last number of a horizontal axis needs on the right of its panel.
pub(super) fn room_right(axis: &Axis) -> f64 {
    widest(axis) / 2.0
}

/// The marks whose numbers are written, with their places: every so-manieth, so that none touches
/// the next, and zero among them.
fn numbered<'a>(axis: &'a Axis, places: &[f64], room: f64) -> Vec<(&'a Tick, f64)> {
    let pairs = axis.ticks.iter().zip(places.iter().copied());
    let [first, second, ..] = &axis.ticks[..] else { return pairs.collect() };
    let apart = (places[1] - places[0]).abs();
    let every = (room / apart).ceil().clamp(1.0, axis.ticks.len() as f64);
    let step = second.value - first.value;
    pairs.filter(|(tick, _)| (tick.value / step).round() % every == 0.0).collect()
}

/// A frame with its axes.
#[derive(Debug)]
pub(super) struct Panel<'a> {
    pub(super) area: Area,
    pub(super) x: &'a Axis,
    pub(super) y: &'a Axis,
}

impl Panel<'_> {
    pub(super) fn x_at(&self, value: f64) -> f64 {
        self.area.left + self.x.share(value) * self.area.width()
    }

    pub(super) fn y_at(&self, value: f64) -> f64 {
        self.area.bottom - self.y.share(value) * self.area.height()
    }

    /// Draws the frame and its axes.
    pub(super) fn frame(&self, drawing: &mut Drawing, x: Marks, y: Marks) {
        drawing.line(self.area.outline(), Stroke::plain(BLACK, 0.5));
        self.horizontal_axis(drawing, x);
        self.vertical_axis(drawing, y);
    }

    fn horizontal_axis(&self, drawing: &mut Drawing, marks: Marks) {
        let bottom = self.area.bottom;
        let places: Vec<f64> = self.x.ticks.iter().map(|t| self.x_at(t.value)).collect();
        for &x in &places {
            drawing.line(vec![(x, bottom), (x, bottom + TICK)], Stroke::plain(BLACK, 0.5));
        }
        if marks == Marks::Bare {
            return;
        }
        let base = bottom + TICK + GAP + SMALL * DIGIT_HEIGHT;
        for (tick, x) in numbered(self.x, &places, widest(self.x) + 4.0) {
            drawing.text((x, base), SMALL, Anchor::Middle, &tick.label);
        }
        if let Marks::Named(name) = marks {
            let middle = (self.area.left + self.area.right) / 2.0;
            let base = bottom + TICK + GAP + SMALL + NORMAL + 0.5;
            let name = fitting(name, NORMAL, self.area.width());
            drawing.text((middle, base), NORMAL, Anchor::Middle, &name);
        }
    }

    fn vertical_axis(&self, drawing: &mut Drawing, marks: Marks) {
        let left = self.area.left;
        let places: Vec<f64> = self.y.ticks.iter().map(|t| self.y_at(t.value)).collect();
        for &y in &places {
            drawing.line(vec![(left - TICK, y), (left, y)], Stroke::plain(BLACK, 0.5));
        }
        if marks == Marks::Bare {
            return;
        }
        for (tick, y) in numbered(self.y, &places, SMALL + 1.0) {
            let at = (left - TICK - GAP, y + SMALL * DIGIT_HEIGHT / 2.0);
            drawing.text(at, SMALL, Anchor::End, &tick.label);
        }
        if let Marks::Named(name) = marks {
            let middle = (self.area.top + self.area.bottom) / 2.0;
            let name = fitting(name, NORMAL, self.area.height() + 4.0);
            drawing.text_up((left - room_left(self.y, marks) + NORMAL, middle), NORMAL, &name);
        }
    }

    /// A line through values at evenly spaced places, first and step of which are given.
    pub(super) fn series(
        &self,
        drawing: &mut Drawing,
        (first, step): (f64, f64),
        values: &[f64],
        columns: usize,
        stroke: Stroke,
    ) {
        for piece in thin::pieces(values, columns) {
            let place = |(at, value)| (self.x_at(first + step * at as f64), self.y_at(value));
            drawing.line(piece.into_iter().map(place).collect(), stroke);
        }
    }

    /// A thin line across the panel.
    pub(super) fn level(&self, drawing: &mut Drawing, value: f64) {
        let y = self.y_at(value);
        let ends = vec![(self.area.left, y), (self.area.right, y)];
        drawing.line(ends, Stroke::plain(GREY, 0.4));
    }

    /// Paints the panel between two values of the horizontal axis.
    pub(super) fn shade(&self, drawing: &mut Drawing, from: f64, to: f64, colour: super::Colour) {
        let (left, right) = (self.x_at(from), self.x_at(to));
        if right > left {
            drawing.fill(Area { left, right, ..self.area }, colour);
        }
    }
}
