//! The smallest PNG encoder that serves: 8 bits a sample, one compressed chunk of pixels.

use super::Image;
use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};
use std::io::Write;

/// The file begins with this.
const SIGNATURE: [u8; 8] = [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a];

const TRUE_COLOUR: u8 = 2;
const WITH_PALETTE: u8 = 3;

/// An image with its palette.
pub(super) fn of_image(image: &Image) -> Vec<u8> {
    let palette: Vec<u8> = image.palette.iter().flat_map(|c| [c.0, c.1, c.2]).collect();
    let mut out = begin(image.columns, image.rows, WITH_PALETTE);
    chunk(&mut out, *b"PLTE", &palette);
    finish(out, image.columns, &image.cells)
}

/// Pixels of red, green and blue, row after row from the top, with the number of pixels to the
/// metre that tells how large they are meant to be.
///
/// # Panics
///
/// If there are not three bytes for each pixel.
pub fn encode_rgb(width: usize, height: usize, pixels: &[u8], per_metre: u32) -> Vec<u8> {
    assert_eq!(pixels.len(), 3 * width * height, "three bytes for each pixel");
    let mut out = begin(width, height, TRUE_COLOUR);
    let mut size = [per_metre.to_be_bytes(), per_metre.to_be_bytes()].concat();
    size.push(1); // the unit is the metre
    chunk(&mut out, *b"pHYs", &size);
    finish(out, 3 * width, pixels)
}

fn begin(width: usize, height: usize, colour_type: u8) -> Vec<u8> {
    let mut header = Vec::new();
    header.extend((width as u32).to_be_bytes());
    header.extend((height as u32).to_be_bytes());
    header.extend([8, colour_type, 0, 0, 0]);
    let mut out = SIGNATURE.to_vec();
    chunk(&mut out, *b"IHDR", &header);
    out
}

fn finish(mut out: Vec<u8>, row_bytes: usize, pixels: &[u8]) -> Vec<u8> {
    chunk(&mut out, *b"IDAT", &compressed(row_bytes, pixels));
    chunk(&mut out, *b"IEND", &[]);
    out
}

/// Every row with the mark that it is not filtered.
fn compressed(row_bytes: usize, pixels: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let written = pixels
        .chunks_exact(row_bytes)
        .try_for_each(|row| encoder.write_all(&[0]).and_then(|()| encoder.write_all(row)));
    written.and_then(|()| encoder.finish()).expect("writing to memory does not fail")
}

fn chunk(out: &mut Vec<u8>, name: [u8; 4], content: &[u8]) {
    out.extend((content.len() as u32).to_be_bytes());
    let begin = out.len();
    out.extend(name);
    out.extend(content);
    let mut check = Crc::new();
    check.update(&out[begin..]);
    out.extend(check.sum().to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Colour;
    use flate2::read::ZlibDecoder;
    use std::io::Read;

    /// Name and content of every chunk, with the checks compared.
    fn chunks(mut png: &[u8]) -> Vec<(String, Vec<u8>)> {
        png = png.strip_prefix(&SIGNATURE).unwrap();
        let mut found = Vec::new();
        while !png.is_empty() {
            let length = u32::from_be_bytes(png[..4].try_into().unwrap()) as usize;
            let (named, rest) = png[4..].split_at(4 + length);
            let mut check = Crc::new();
            check.update(named);
            assert_eq!(check.sum().to_be_bytes(), rest[..4]);
            found.push((String::from_utf8(named[..4].to_vec()).unwrap(), named[4..].to_vec()));
            png = &rest[4..];
        }
        found
    }

    #[test]
    fn an_image_keeps_its_cells() {
        let image = Image {
            columns: 3,
            rows: 2,
            palette: vec![Colour(1, 2, 3), Colour(4, 5, 6)],
            cells: vec![0, 1, 0, 1, 1, 0],
        };
        let found = chunks(&of_image(&image));
        let names: Vec<&str> = found.iter().map(|c| c.0.as_str()).collect();
        assert_eq!(names, ["IHDR", "PLTE", "IDAT", "IEND"]);
        assert_eq!(found[0].1, [0, 0, 0, 3, 0, 0, 0, 2, 8, 3, 0, 0, 0]);
        assert_eq!(found[1].1, [1, 2, 3, 4, 5, 6]);
        let mut rows = Vec::new();
        ZlibDecoder::new(&found[2].1[..]).read_to_end(&mut rows).unwrap();
        assert_eq!(rows, [0, 0, 1, 0, 0, 1, 1, 0]);
    }
}
