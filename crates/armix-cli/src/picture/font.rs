//! The one font of pictures: Noto Sans, compiled in, so that pictures are the same on every
//! computer. (Copyright 2012 Google Inc. This version of the font names the Apache License 2.0; the
//! crate that it comes with adds the SIL Open Font License 1.1, under which Noto is published now.)

use armix::plot::{Anchor, Text};
use std::collections::BTreeSet;
use ttf_parser::{Face, GlyphId, Tag};

/// The tables that a font inside a PDF needs.
const TABLES: [&[u8; 4]; 6] = [b"glyf", b"head", b"hhea", b"hmtx", b"loca", b"maxp"];

/// The font.
pub(super) struct Font {
    pub(super) face: Face<'static>,
}

/// The shape of a character.
pub(super) struct Glyph {
    pub(super) id: GlyphId,
    pub(super) character: char,
    /// How far the next glyph is away, as a share of the font size.
    pub(super) advance: f64,
}

impl Font {
    pub(super) fn new() -> Self {
        let face = Face::parse(notosans::REGULAR_TTF, 0).expect("the built-in font is a font");
        Font { face }
    }

    /// The glyphs of a text. What the font does not have becomes its empty box, and control
    /// characters become spaces.
    pub(super) fn glyphs(&self, text: &str) -> Vec<Glyph> {
        let glyph = |character: char| {
            let character = if character.is_control() { ' ' } else { character };
            let id = self.face.glyph_index(character).unwrap_or(GlyphId(0));
            Glyph { id, character, advance: self.advance(id) }
        };
        text.chars().map(glyph).collect()
    }

    pub(super) fn advance(&self, id: GlyphId) -> f64 {
        f64::from(self.face.glyph_hor_advance(id).unwrap_or(0)) / self.em()
    }

    /// The units of the font size.
    pub(super) fn em(&self) -> f64 {
        f64::from(self.face.units_per_em())
    }

    /// Where the first glyph begins, relative to the point of the text and in its direction.
    pub(super) fn begin(&self, text: &Text) -> f64 {
        let width: f64 = self.glyphs(&text.content).iter().map(|g| g.advance * text.size).sum();
        match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -width / 2.0,
            Anchor::End => -width,
        }
    }

    /// The font with the outlines of some glyphs only. All glyphs keep their numbers.
    pub(super) fn subset(&self, wanted: &BTreeSet<u16>) -> Vec<u8> {
        let kept = self.with_components(wanted);
        let mut glyf = Vec::new();
        let mut loca = Vec::new();
        for id in 0..self.face.number_of_glyphs() {
            loca.extend((glyf.len() as u32).to_be_bytes());
            if kept.contains(&id) {
                glyf.extend(self.outline(id));
                glyf.resize(glyf.len().next_multiple_of(4), 0);
            }
        }
        loca.extend((glyf.len() as u32).to_be_bytes());
        let content = |name: &[u8; 4]| match name {
            b"glyf" => glyf.clone(),
            b"loca" => loca.clone(),
            b"head" => with_long_locations(self.table(b"head")),
            name => self.table(name).to_vec(),
        };
        assemble(&TABLES.map(|name| (name, content(name))))
    }

    /// Accented letters are made of others.
    fn with_components(&self, wanted: &BTreeSet<u16>) -> BTreeSet<u16> {
        let mut kept = BTreeSet::from([0]);
        let mut open: Vec<u16> = wanted.iter().copied().collect();
        while let Some(id) = open.pop() {
            if kept.insert(id) {
                open.extend(components(self.outline(id)));
            }
        }
        kept
    }

    /// The bytes of an outline; none for a space.
    fn outline(&self, id: u16) -> &'static [u8] {
        let long = self.table(b"head").get(51).is_some_and(|&format| format == 1);
        let loca = self.table(b"loca");
        let place = |at: usize| match long {
            true => number(&loca[4 * at..4 * at + 4]),
            false => 2 * number(&loca[2 * at..2 * at + 2]),
        };
        &self.table(b"glyf")[place(id.into())..place(usize::from(id) + 1)]
    }

    fn table(&self, name: &[u8; 4]) -> &'static [u8] {
        self.face.raw_face().table(Tag::from_bytes(name)).expect("the built-in font has this table")
    }
}

/// A number whose first byte is the highest.
fn number(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |sum, &byte| sum << 8 | usize::from(byte))
}

/// The glyphs that a glyph is made of.
fn components(outline: &[u8]) -> Vec<u16> {
    const WORDS: usize = 0x1;
    const ONE_SCALE: usize = 0x8;
    const MORE: usize = 0x20;
    const TWO_SCALES: usize = 0x40;
    const MATRIX: usize = 0x80;
    let mut found = Vec::new();
    // A negative number of contours marks a composition.
    if outline.first().is_none_or(|&first| first < 0x80) {
        return found;
    }
    let mut at = 10;
    loop {
        let flags = number(&outline[at..at + 2]);
        found.push(number(&outline[at + 2..at + 4]) as u16);
        let offsets = if flags & WORDS != 0 { 4 } else { 2 };
        let scales = match flags {
            f if f & ONE_SCALE != 0 => 2,
            f if f & TWO_SCALES != 0 => 4,
            f if f & MATRIX != 0 => 8,
            _ => 0,
        };
        at += 4 + offsets + scales;
        if flags & MORE == 0 {
            return found;
        }
    }
}

fn with_long_locations(head: &[u8]) -> Vec<u8> {
    let mut head = head.to_vec();
    head[50..52].copy_from_slice(&[0, 1]);
    head
}

/// A font file of tables that are sorted by name.
fn assemble(tables: &[(&[u8; 4], Vec<u8>)]) -> Vec<u8> {
    let count = tables.len() as u16;
    let log = count.ilog2() as u16;
    let search = 16 << log;
    let mut out = vec![0, 1, 0, 0];
    [count, search, log, count * 16 - search].iter().for_each(|n| out.extend(n.to_be_bytes()));
    let mut place = 12 + 16 * tables.len();
    for (name, content) in tables {
        out.extend(*name);
        out.extend(checksum(content).to_be_bytes());
        out.extend((place as u32).to_be_bytes());
        out.extend((content.len() as u32).to_be_bytes());
        place += content.len().next_multiple_of(4);
    }
    for (_, content) in tables {
        out.extend(content);
        out.resize(out.len().next_multiple_of(4), 0);
    }
    out
}

fn checksum(content: &[u8]) -> u32 {
    let word = |four: &[u8]| {
        (0..4).fold(0, |sum, at| sum << 8 | four.get(at).copied().map_or(0, u32::from))
    };
    content.chunks(4).map(word).fold(0, u32::wrapping_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ttf_parser::OutlineBuilder;

    /// Writes an outline down.
    #[derive(Default, PartialEq, Debug)]
    struct Steps(Vec<String>);

    impl OutlineBuilder for Steps {
        fn move_to(&mut self, x: f32, y: f32) {
            self.0.push(format!("M{x} {y}"));
        }
        fn line_to(&mut self, x: f32, y: f32) {
            self.0.push(format!("L{x} {y}"));
        }
        fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
            self.0.push(format!("Q{x1} {y1} {x} {y}"));
        }
        fn curve_to(&mut self, _: f32, _: f32, _: f32, _: f32, _: f32, _: f32) {
            unreachable!("this font has no cubic curves");
        }
        fn close(&mut self) {
            self.0.push("Z".into());
        }
    }

    fn steps(face: &Face, id: u16) -> Steps {
        let mut steps = Steps::default();
        face.outline_glyph(GlyphId(id), &mut steps);
        steps
    }

    #[test]
    fn a_part_of_the_font_draws_the_same_letters() {
        let font = Font::new();
        let wanted: BTreeSet<u16> =
            font.glyphs("Ångström αβ ½ é−").iter().map(|glyph| glyph.id.0).collect();
        let part = font.subset(&wanted);
        assert!(part.len() < notosans::REGULAR_TTF.len() / 5, "{}", part.len());
        let face = Face::parse(&part, 0).unwrap();
        assert!(!wanted.contains(&0), "the font has all of these characters");
        let drawn = wanted.iter().filter(|&&id| !steps(&face, id).0.is_empty()).count();
        assert_eq!(drawn, wanted.len() - 1, "all but the space");
        for &id in &wanted {
            assert_eq!(steps(&face, id), steps(&font.face, id));
            assert_eq!(
                face.glyph_hor_advance(GlyphId(id)),
                font.face.glyph_hor_advance(GlyphId(id))
            );
        }
        let other = font.face.glyph_index('W').unwrap().0;
        assert!(steps(&face, other).0.is_empty(), "what is not wanted is left out");
    }
}
