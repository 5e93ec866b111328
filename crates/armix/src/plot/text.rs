//! How much room a text needs, known without any font file.

/// Widths of the characters from space to tilde in Helvetica, in thousandths of the font size.
const WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];

/// Other sans-serif fonts are a little wider.
const ALLOWANCE: f64 = 1.08;

/// The width of a text in points, rather too large than too small.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let one = |c: char| match (c as usize).checked_sub(32).and_then(|at| WIDTHS.get(at)) {
        Some(&width) => f64::from(width),
        None if (c as u32) < 0x2e80 => 620.0,
        None => 1000.0, // East Asian characters fill a square
    };
    text.chars().map(one).sum::<f64>() / 1000.0 * size * ALLOWANCE
}

/// The text, or as much of its beginning as has room, with an ellipsis.
pub(super) fn fitting(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_string();
    }
    let mut left = room - width("…", size);
    let begin = text.chars().take_while(|&c| {
        left -= width(c.encode_utf8(&mut [0; 4]), size);
        left >= 0.0
    });
    let begin: String = begin.collect();
    format!("{}…", begin.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_as_wide_as_its_characters() {
        assert_eq!(width("", 10.0), 0.0);
        assert!((width("0", 10.0) - 5.56 * ALLOWANCE).abs() < 1e-12);
        assert!((width("~W", 10.0) - 15.28 * ALLOWANCE).abs() < 1e-12);
        assert!(width("界", 10.0) > 10.0);
    }

    #[test]
    fn what_has_no_room_ends_with_an_ellipsis() {
        assert_eq!(fitting("short", 8.0, 100.0), "short");
        let cut = fitting("a title that is much too long for this", 8.0, 60.0);
        assert!(cut.ends_with('…') && cut.starts_with("a title"), "{cut}");
        assert!(width(&cut, 8.0) <= 60.0);
        assert_eq!(fitting("long", 8.0, 0.0), "…");
    }
}
