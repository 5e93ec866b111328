//! A picture before it is a file: a few kinds of shapes, which every format knows how to draw.

use super::Colour;

/// Where a text stands relative to its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// The text begins at the point.
    Start,
    /// The middle of the text is at the point.
    Middle,
    /// The text ends at the point.
    End,
}

/// The direction in which a text runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From left to right.
    Right,
    /// From bottom to top, as beside a vertical axis.
    Up,
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stroke {
    /// The colour.
    pub colour: Colour,
    /// The width in points.
    pub width: f64,
    /// Lengths of dashes and gaps in turn, in points; empty for a line without gaps.
    pub dashes: &'static [f64],
}

impl Stroke {
    pub(super) fn plain(colour: Colour, width: f64) -> Self {
        Stroke { colour, width, dashes: &[] }
    }
}

/// A text with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Text {
    /// The point at the base line.
    pub at: (f64, f64),
    /// What is written.
    pub content: String,
    /// The size of the font in points.
    pub size: f64,
    /// Where the text stands relative to its point.
    pub anchor: Anchor,
    /// The direction in which it runs.
    pub direction: Direction,
}

/// An image of cells with few colours, row after row from the top.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Cells in a row.
    pub columns: usize,
    /// Rows.
    pub rows: usize,
    /// At most 256 colours.
    pub palette: Vec<Colour>,
    /// For each cell the position of its colour in the palette.
    pub cells: Vec<u8>,
}

/// A rectangle whose sides are parallel to those of the picture, in points from its upper left
/// corner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Area {
    /// The left side.
    pub left: f64,
    /// The upper side.
    pub top: f64,
    /// The right side.
    pub right: f64,
    /// The lower side.
    pub bottom: f64,
}

impl Area {
    /// The extent from left to right.
    pub fn width(&self) -> f64 {
        self.right - self.left
    }

    /// The extent from top to bottom.
    pub fn height(&self) -> f64 {
        self.bottom - self.top
    }

    /// The corners in turn and the first again: a closed line.
    pub(super) fn outline(&self) -> Vec<(f64, f64)> {
        let Area { left, top, right, bottom } = *self;
        vec![(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
    }
}

/// One thing to draw.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// A line through two or more points; closed if the last is the first.
    Line(Vec<(f64, f64)>, Stroke),
    /// A filled rectangle.
    Box(Area, Colour),
    /// A text, in black.
    Text(Text),
    /// An image that fills an area.
    Image(Area, Image),
}

/// A whole picture: shapes that are drawn one over the other on white, in points (1/72 inch) from
/// the upper left corner.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    /// The width in points.
    pub width: f64,
    /// The height in points.
    pub height: f64,
    /// What is to be seen, for those who cannot see it.
    pub description: String,
    /// The shapes from back to front.
    pub shapes: Vec<Shape>,
}

/// Coordinates are multiples of 1/100 point: less cannot be seen and would make files large.
fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

fn rounded_area(area: Area) -> Area {
    Area {
        left: rounded(area.left),
        top: rounded(area.top),
        right: rounded(area.right),
        bottom: rounded(area.bottom),
    }
}

impl Drawing {
    pub(super) fn new(width: f64, height: f64, description: String) -> Self {
        Drawing { width: rounded(width), height: rounded(height), description, shapes: Vec::new() }
    }

    pub(super) fn line(&mut self, points: Vec<(f64, f64)>, stroke: Stroke) {
        let mut points: Vec<_> = points.iter().map(|p| (rounded(p.0), rounded(p.1))).collect();
        points.dedup();
        if points.len() == 1 {
            // A single point would not be seen.
            points.push((points[0].0 + 0.5, points[0].1));
        }
        if points.len() > 1 {
            self.shapes.push(Shape::Line(points, stroke));
        }
    }

    pub(super) fn fill(&mut self, area: Area, colour: Colour) {
        self.shapes.push(Shape::Box(rounded_area(area), colour));
    }

    pub(super) fn image(&mut self, area: Area, image: Image) {
        debug_assert_eq!(image.cells.len(), image.columns * image.rows);
        self.shapes.push(Shape::Image(rounded_area(area), image));
    }

    pub(super) fn text(&mut self, at: (f64, f64), size: f64, anchor: Anchor, content: &str) {
        self.write(at, size, anchor, Direction::Right, content);
    }

    /// A text in the middle of a vertical axis.
    pub(super) fn text_up(&mut self, at: (f64, f64), size: f64, content: &str) {
        self.write(at, size, Anchor::Middle, Direction::Up, content);
    }

    fn write(
        &mut self,
        at: (f64, f64),
        size: f64,
        anchor: Anchor,
        direction: Direction,
        content: &str,
    ) {
        if !content.is_empty() {
            let at = (rounded(at.0), rounded(at.1));
            let content = content.to_string();
            self.shapes.push(Shape::Text(Text { at, content, size, anchor, direction }));
        }
    }

    /// The picture as SVG; always the same bytes for the same picture.
    pub fn svg(&self) -> String {
        super::svg::write(self)
    }
}
