//! Draws a picture in pixels.

use super::font::Font;
use armix::plot::png::encode_rgb;
use armix::plot::{Area, Colour, Direction, Drawing, Image, Shape, Stroke, Text};
use tiny_skia::{FillRule, LineJoin, Paint, PathBuilder, Pixmap, Rect, StrokeDash, Transform};
use ttf_parser::OutlineBuilder;

/// Pixels to the inch, as journals want them.
const RESOLUTION: f64 = 300.0;
/// Pixels to the point.
const SCALE: f64 = RESOLUTION / 72.0;

/// The bytes of a PNG file.
pub(super) fn encode(drawing: &Drawing) -> Vec<u8> {
    let pixels = |points: f64| ((points * SCALE).round() as u32).max(1);
    let (width, height) = (pixels(drawing.width), pixels(drawing.height));
    let mut canvas = Pixmap::new(width, height).expect("a picture has a moderate size");
    canvas.fill(tiny_skia::Color::WHITE);
    let font = Font::new();
    for shape in &drawing.shapes {
        match shape {
            Shape::Line(points, stroke) => draw_line(&mut canvas, points, stroke),
            Shape::Box(area, colour) => fill(&mut canvas, area, *colour),
            Shape::Text(text) => write(&mut canvas, text, &font),
            Shape::Image(area, image) => draw_image(&mut canvas, area, image),
        }
    }
    let rgb: Vec<u8> = canvas.data().chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]]).collect();
    let per_metre = (RESOLUTION / 0.0254).round() as u32;
    encode_rgb(width as usize, height as usize, &rgb, per_metre)
}

fn paint(colour: Colour) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(colour.0, colour.1, colour.2, 255);
    paint
}

fn to_pixels() -> Transform {
    Transform::from_scale(SCALE as f32, SCALE as f32)
}

fn draw_line(canvas: &mut Pixmap, points: &[(f64, f64)], stroke: &Stroke) {
    let mut path = PathBuilder::new();
    let closed = points.len() > 3 && points.first() == points.last();
    for (at, &(x, y)) in points[..points.len() - usize::from(closed)].iter().enumerate() {
        match at {
            0 => path.move_to(x as f32, y as f32),
            _ => path.line_to(x as f32, y as f32),
        }
    }
    if closed {
        path.close();
    }
    let dashes = stroke.dashes.iter().map(|&d| d as f32).collect();
    let style = tiny_skia::Stroke {
        width: stroke.width as f32,
        line_join: LineJoin::Bevel,
        dash: StrokeDash::new(dashes, 0.0), // none without dashes
        ..Default::default()
    };
    if let Some(path) = path.finish() {
        canvas.stroke_path(&path, &paint(stroke.colour), &style, to_pixels(), None);
    }
}

fn fill(canvas: &mut Pixmap, area: &Area, colour: Colour) {
    let Area { left, top, right, bottom } = *area;
    // An area without extent has nothing to fill.
    if let Some(rect) = Rect::from_ltrb(left as f32, top as f32, right as f32, bottom as f32) {
        canvas.fill_rect(rect, &paint(colour), to_pixels(), None);
    }
}

/// Gives the outline of a glyph to a path.
struct Outline(PathBuilder);

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.0.move_to(x, y);
    }
    fn line_to(&mut self, x: f32, y: f32) {
        self.0.line_to(x, y);
    }
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.0.quad_to(x1, y1, x, y);
    }
    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.0.cubic_to(x1, y1, x2, y2, x, y);
    }
    fn close(&mut self) {
        self.0.close();
    }
}

fn write(canvas: &mut Pixmap, text: &Text, font: &Font) {
    let (x, y) = (text.at.0 as f32, text.at.1 as f32);
    let turned = match text.direction {
        Direction::Right => to_pixels(),
        Direction::Up => to_pixels().pre_concat(Transform::from_rotate_at(-90.0, x, y)),
    };
    let mut along = text.at.0 + font.begin(text);
    let unit = (text.size / font.em()) as f32;
    for glyph in font.glyphs(&text.content) {
        let mut outline = Outline(PathBuilder::new());
        font.face.outline_glyph(glyph.id, &mut outline);
        // Fonts count upwards, pictures downwards.
        let place = turned.pre_concat(Transform::from_row(unit, 0.0, 0.0, -unit, along as f32, y));
        if let Some(path) = outline.0.finish() {
            canvas.fill_path(&path, &paint(Colour(0, 0, 0)), FillRule::Winding, place, None);
        }
        along += glyph.advance * text.size;
    }
}

/// For a pixel the cells that it covers, with their shares of it.
type Cover = Vec<(usize, f64)>;

/// Which cells the pixels of a stretch cover.
fn covers(pixels: usize, cells: usize) -> Vec<Cover> {
    let scale = cells as f64 / pixels as f64;
    let cover = |pixel: usize| {
        let (begin, end) = (pixel as f64 * scale, (pixel + 1) as f64 * scale);
        let share = |cell: usize| (end.min((cell + 1) as f64) - begin.max(cell as f64)) / scale;
        let last = (end.ceil() as usize).min(cells);
        (begin as usize..last).map(|cell| (cell, share(cell))).filter(|c| c.1 > 0.0).collect()
    };
    (0..pixels).map(cover).collect()
}

/// Every pixel is the average of the cells it covers: large cells have sharp borders, and small
/// ones are not lost.
fn draw_image(canvas: &mut Pixmap, area: &Area, image: &Image) {
    let pixel =
        |points: f64, most: u32| ((points * SCALE).round().max(0.0) as usize).min(most as usize);
    let (left, right) = (pixel(area.left, canvas.width()), pixel(area.right, canvas.width()));
    let (top, bottom) = (pixel(area.top, canvas.height()), pixel(area.bottom, canvas.height()));
    let across = covers(right.saturating_sub(left), image.columns);
    let down = covers(bottom.saturating_sub(top), image.rows);
    let row_bytes = 4 * canvas.width() as usize;
    let data = canvas.data_mut();
    for (y, rows) in down.iter().enumerate() {
        for (x, columns) in across.iter().enumerate() {
            let mut sum = [0.0; 3];
            for (row, high) in rows {
                for (column, wide) in columns {
                    let cell = image.cells[row * image.columns + column];
                    let Colour(r, g, b) = image.palette[usize::from(cell)];
                    let share = high * wide;
                    [r, g, b].iter().zip(&mut sum).for_each(|(c, s)| *s += share * f64::from(*c));
                }
            }
            let at = (top + y) * row_bytes + 4 * (left + x);
            sum.iter().enumerate().for_each(|(c, s)| data[at + c] = s.round() as u8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_cover_all_of_every_cell() {
        for (pixels, cells) in [(1, 1), (7, 3), (3, 7), (100, 100), (99, 100), (1, 5)] {
            let covers = covers(pixels, cells);
            assert_eq!(covers.len(), pixels);
            let mut sums = vec![0.0; cells];
            for cover in &covers {
                let whole: f64 = cover.iter().map(|c| c.1).sum();
                assert!((whole - 1.0).abs() < 1e-9);
                cover.iter().for_each(|c| sums[c.0] += c.1);
            }
            let each = pixels as f64 / cells as f64;
            assert!(sums.iter().all(|s| (s - each).abs() < 1e-9), "{pixels} {cells}: {sums:?}");
        }
    }
}
