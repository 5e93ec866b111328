//! Writes a drawing as SVG: real text, well escaped, and the same bytes every time.

use super::drawing::{Anchor, Direction, Text};
use super::{Area, Colour, Drawing, Image, Shape, Stroke, png};
use crate::base64::base64;
use std::fmt::Write;

/// Fonts of about the same widths, one of which is everywhere.
const FONTS: &str = "Helvetica, Arial, 'Liberation Sans', sans-serif";

pub(super) fn write(drawing: &Drawing) -> String {
    let (width, height) = (number(drawing.width), number(drawing.height));
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}pt\" height=\"{height}pt\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"{FONTS}\">\n\
         <title>{}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n",
        escaped(&drawing.description)
    );
    for shape in &drawing.shapes {
        out += &match shape {
            Shape::Line(points, stroke) => line(points, stroke),
            Shape::Box(area, colour) => {
                format!("<rect {} fill=\"{}\"/>", placed(area), hex(*colour))
            }
            Shape::Text(content) => text(content),
            Shape::Image(area, content) => image(area, content),
        };
        out.push('\n');
    }
    out + "</svg>\n"
}

fn line(points: &[(f64, f64)], stroke: &Stroke) -> String {
    let mut out = String::from("<path d=\"M");
    let closed = points.len() > 3 && points.first() == points.last();
    let points = &points[..points.len() - usize::from(closed)];
    for (at, (x, y)) in points.iter().enumerate() {
        let space = if at == 0 { "" } else { " " };
        let _ = write!(out, "{space}{} {}", number(*x), number(*y));
    }
    if closed {
        out.push('Z');
    }
    let (colour, width) = (hex(stroke.colour), number(stroke.width));
    let _ = write!(
        out,
        "\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" stroke-linejoin=\"bevel\""
    );
    if !stroke.dashes.is_empty() {
        let dashes: Vec<String> = stroke.dashes.iter().map(|&d| number(d)).collect();
        let _ = write!(out, " stroke-dasharray=\"{}\"", dashes.join(" "));
    }
    out + "/>"
}

fn text(text: &Text) -> String {
    let (x, y) = (number(text.at.0), number(text.at.1));
    let anchor = match text.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let turn = match text.direction {
        Direction::Right => String::new(),
        Direction::Up => format!(" transform=\"rotate(-90 {x} {y})\""),
    };
    format!(
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\"{anchor}{turn}>{}</text>",
        number(text.size),
        escaped(&text.content)
    )
}

fn image(area: &Area, image: &Image) -> String {
    // Large cells shall have sharp borders, small ones shall not flicker.
    let large = (image.columns as f64) < area.width() || (image.rows as f64) < area.height();
    let sharp = if large { " style=\"image-rendering:pixelated\"" } else { "" };
    format!(
        "<image {} preserveAspectRatio=\"none\"{sharp} href=\"data:image/png;base64,{}\"/>",
        placed(area),
        base64(&png::of_image(image))
    )
}

fn placed(area: &Area) -> String {
    let (x, y) = (number(area.left), number(area.top));
    let (width, height) = (number(area.width()), number(area.height()));
    format!("x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"")
}

fn hex(colour: Colour) -> String {
    format!("#{:02x}{:02x}{:02x}", colour.0, colour.1, colour.2)
}

/// A number with at most two decimals and no idle zeros.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

/// A text as XML. Characters that XML cannot have become U+FFFD.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            '\t' | '\n' | '\r' => out.push(' '),
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => {
                out.push('\u{fffd}');
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in
            [(0.0, "0"), (-0.001, "0"), (1.5, "1.5"), (10.0, "10"), (0.25, "0.25"), (-2.0, "-2")]
        {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn nothing_in_a_text_is_markup() {
        let nasty = "</text><script>alert('1 & \"2\"')</script>\0\u{1b}\n";
        let safe = escaped(nasty);
        assert!(!safe.contains(['<', '>', '"', '\'', '\0', '\u{1b}', '\n']));
        let read = quick_xml::escape::unescape(&safe).unwrap();
        assert_eq!(read, nasty.replace(['\0', '\u{1b}'], "\u{fffd}").replace('\n', " "));
    }
}
