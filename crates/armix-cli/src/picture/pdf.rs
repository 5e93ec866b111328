//! Draws a picture as a PDF page of its size: lines stay lines, text stays text, and the font is
//! inside the file.

use super::font::Font;
use armix::plot::{Area, Colour, Direction, Drawing, Image, Shape, Stroke, Text};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use pdf_writer::types::{CidFontType, FontFlags, LineJoinStyle, SystemInfo, UnicodeCmap};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str, TextStr};
use std::collections::BTreeMap;
use std::io::Write;

const FONT: Name = Name(b"F");
/// Six letters and a plus sign tell that it is not the whole font.
const FONT_NAME: Name = Name(b"ARMIXP+NotoSans-Regular");
const CHARACTERS: SystemInfo =
    SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

/// The parts of the file. Images come after them.
const CATALOG: Ref = Ref::new(1);
const PAGES: Ref = Ref::new(2);
const PAGE: Ref = Ref::new(3);
const CONTENT: Ref = Ref::new(4);
const INFO: Ref = Ref::new(5);
const TYPE0: Ref = Ref::new(6);
const CID_FONT: Ref = Ref::new(7);
const DESCRIPTOR: Ref = Ref::new(8);
const FONT_FILE: Ref = Ref::new(9);
const TO_UNICODE: Ref = Ref::new(10);
const FIRST_IMAGE: i32 = 11;

/// The bytes of a PDF file.
pub(super) fn encode(drawing: &Drawing) -> Vec<u8> {
    let page = Page::of(drawing);
    let mut pdf = Pdf::new();
    pdf.catalog(CATALOG).pages(PAGES);
    pdf.pages(PAGES).kids([PAGE]).count(1);
    pdf.document_info(INFO).title(TextStr(&drawing.description)).creator(TextStr("armix"));
    write_page(&mut pdf, drawing, &page);
    let content = compressed(&page.content.finish());
    pdf.stream(CONTENT, &content).filter(Filter::FlateDecode);
    for (at, image) in page.images.iter().enumerate() {
        write_image(&mut pdf, image_ref(at), image);
    }
    write_font(&mut pdf, &page.font, &page.characters);
    pdf.finish()
}

/// A page as it is drawn.
struct Page<'a> {
    content: Content,
    images: Vec<&'a Image>,
    font: Font,
    /// The glyphs that were used, with the characters they stand for.
    characters: BTreeMap<u16, char>,
}

impl<'a> Page<'a> {
    fn of(drawing: &'a Drawing) -> Self {
        let mut page = Page {
            content: Content::new(),
            images: Vec::new(),
            font: Font::new(),
            characters: BTreeMap::new(),
        };
        // The file counts upwards, pictures downwards.
        page.content.transform([1.0, 0.0, 0.0, -1.0, 0.0, drawing.height as f32]);
        page.content.set_line_join(LineJoinStyle::BevelJoin);
        for shape in &drawing.shapes {
            match shape {
                Shape::Line(points, stroke) => page.line(points, stroke),
                Shape::Box(area, colour) => page.fill(area, *colour),
                Shape::Text(text) => page.text(text),
                Shape::Image(area, image) => page.image(area, image),
            }
        }
        page
    }

    fn line(&mut self, points: &[(f64, f64)], stroke: &Stroke) {
        let [r, g, b] = shares(stroke.colour);
        self.content.set_stroke_rgb(r, g, b).set_line_width(stroke.width as f32);
        self.content.set_dash_pattern(stroke.dashes.iter().map(|&d| d as f32), 0.0);
        let closed = points.len() > 3 && points.first() == points.last();
        for (at, &(x, y)) in points[..points.len() - usize::from(closed)].iter().enumerate() {
            match at {
                0 => self.content.move_to(x as f32, y as f32),
                _ => self.content.line_to(x as f32, y as f32),
            };
        }
        if closed {
            self.content.close_path();
        }
        self.content.stroke();
    }

    fn fill(&mut self, area: &Area, colour: Colour) {
        let [r, g, b] = shares(colour);
        self.content.set_fill_rgb(r, g, b);
        let (width, height) = (area.width() as f32, area.height() as f32);
        self.content.rect(area.left as f32, area.top as f32, width, height).fill_nonzero();
    }

    fn text(&mut self, text: &Text) {
        let glyphs = self.font.glyphs(&text.content);
        let mut codes = Vec::new();
        for glyph in &glyphs {
            codes.extend(glyph.id.0.to_be_bytes());
            self.characters.entry(glyph.id.0).or_insert(glyph.character);
        }
        let begin = self.font.begin(text) as f32;
        let (x, y) = (text.at.0 as f32, text.at.1 as f32);
        let matrix = match text.direction {
            Direction::Right => [1.0, 0.0, 0.0, -1.0, x + begin, y],
            Direction::Up => [0.0, -1.0, -1.0, 0.0, x, y - begin],
        };
        self.content.begin_text().set_fill_rgb(0.0, 0.0, 0.0);
        self.content.set_font(FONT, text.size as f32).set_text_matrix(matrix);
        self.content.show(Str(&codes)).end_text();
    }

    fn image(&mut self, area: &Area, image: &'a Image) {
        let (width, height) = (area.width() as f32, area.height() as f32);
        let place = [width, 0.0, 0.0, -height, area.left as f32, area.bottom as f32];
        self.content.save_state().transform(place);
        self.content.x_object(Name(&image_name(self.images.len()))).restore_state();
        self.images.push(image);
    }
}

fn shares(colour: Colour) -> [f32; 3] {
    [colour.0, colour.1, colour.2].map(|c| f32::from(c) / 255.0)
}

fn image_name(at: usize) -> Vec<u8> {
    format!("I{at}").into_bytes()
}

fn image_ref(at: usize) -> Ref {
    Ref::new(FIRST_IMAGE + at as i32)
}

fn write_page(pdf: &mut Pdf, drawing: &Drawing, content: &Page) {
    let mut page = pdf.page(PAGE);
    page.media_box(Rect::new(0.0, 0.0, drawing.width as f32, drawing.height as f32));
    page.parent(PAGES).contents(CONTENT);
    let mut resources = page.resources();
    resources.fonts().pair(FONT, TYPE0);
    let mut images = resources.x_objects();
    for at in 0..content.images.len() {
        images.pair(Name(&image_name(at)), image_ref(at));
    }
}

fn write_image(pdf: &mut Pdf, id: Ref, image: &Image) {
    let (columns, rows, cells) = enlarged(image);
    let data = compressed(&cells);
    let palette: Vec<u8> = image.palette.iter().flat_map(|c| [c.0, c.1, c.2]).collect();
    let mut out = pdf.image_xobject(id, &data);
    out.filter(Filter::FlateDecode);
    out.width(columns as i32).height(rows as i32);
    out.bits_per_component(8);
    let last = image.palette.len() as i32 - 1;
    out.color_space().indexed(Name(b"DeviceRGB"), last, &palette);
}

/// Some viewers blur images of few cells; these are repeated until there is nothing to blur.
fn enlarged(image: &Image) -> (usize, usize, Vec<u8>) {
    const ENOUGH: usize = 600;
    let (wide, high) = (ENOUGH.div_ceil(image.columns), ENOUGH.div_ceil(image.rows));
    let mut cells = Vec::with_capacity(image.cells.len() * wide * high);
    for row in image.cells.chunks(image.columns) {
        let row: Vec<u8> = row.iter().flat_map(|&cell| std::iter::repeat_n(cell, wide)).collect();
        (0..high).for_each(|_| cells.extend(&row));
    }
    (image.columns * wide, image.rows * high, cells)
}

fn write_font(pdf: &mut Pdf, font: &Font, characters: &BTreeMap<u16, char>) {
    let used = characters.keys().copied().collect();
    let thousandths = |units: i16| (f64::from(units) / font.em() * 1000.0) as f32;
    pdf.type0_font(TYPE0)
        .base_font(FONT_NAME)
        .encoding_predefined(Name(b"Identity-H"))
        .descendant_font(CID_FONT)
        .to_unicode(TO_UNICODE);

    let mut cid_font = pdf.cid_font(CID_FONT);
    cid_font.subtype(CidFontType::Type2).base_font(FONT_NAME).system_info(CHARACTERS);
    cid_font.font_descriptor(DESCRIPTOR).cid_to_gid_map_predefined(Name(b"Identity"));
    let mut widths = cid_font.widths();
    for &id in characters.keys() {
        let width = font.advance(ttf_parser::GlyphId(id)) * 1000.0;
        widths.consecutive(id, [width as f32]);
    }
    widths.finish();
    cid_font.finish();

    let face = &font.face;
    let bounds = face.global_bounding_box();
    let corners = [bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max].map(thousandths);
    pdf.font_descriptor(DESCRIPTOR)
        .name(FONT_NAME)
        .flags(FontFlags::NON_SYMBOLIC)
        .bbox(Rect::new(corners[0], corners[1], corners[2], corners[3]))
        .italic_angle(0.0)
        .ascent(thousandths(face.ascender()))
        .descent(thousandths(face.descender()))
        .cap_height(thousandths(face.capital_height().unwrap_or(face.ascender())))
        .stem_v(80.0)
        .font_file2(FONT_FILE);

    let file = font.subset(&used);
    let packed = compressed(&file);
    let mut stream = pdf.stream(FONT_FILE, &packed);
    stream.filter(Filter::FlateDecode).pair(Name(b"Length1"), file.len() as i32);
    stream.finish();

    let mut map = UnicodeCmap::new(Name(b"Custom"), CHARACTERS);
    // Glyph 0, the empty box, stands for all characters that the font does not have.
    let known = characters.iter().filter(|(id, _)| **id != 0);
    known.for_each(|(&id, &character)| map.pair(id, character));
    let map = compressed(&map.finish());
    pdf.stream(TO_UNICODE, &map).filter(Filter::FlateDecode);
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder
        .write_all(bytes)
        .and_then(|()| encoder.finish())
        .expect("writing to memory does not fail")
}
