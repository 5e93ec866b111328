//! Writes a picture in the format that the ending of its file asks for.

mod font;
mod pdf;
mod png;

use armix::error::{Error, Result};
use armix::io;
use armix::plot::Drawing;
use std::path::Path;

/// Writes a picture to a file that ends with `.svg`, `.png` or `.pdf`. The file is whole or not
/// there.
pub(crate) fn write(drawing: &Drawing, path: &Path) -> Result<()> {
    let bytes = match Format::of(path)? {
        Format::Svg => drawing.svg().into_bytes(),
        Format::Png => png::encode(drawing),
        Format::Pdf => pdf::encode(drawing),
    };
    io::write_file(path, &mut |out| {
        let written = out.write_all(&bytes);
        written.map_err(|error| Error::new(format!("cannot be written: {error}")))
    })
}

/// The formats of pictures.
enum Format {
    Svg,
    Png,
    Pdf,
}

impl Format {
    fn of(path: &Path) -> Result<Self> {
        let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        match ending.as_deref() {
            Some("svg") => Ok(Format::Svg),
            Some("png") => Ok(Format::Png),
            Some("pdf") => Ok(Format::Pdf),
            ending => Err(unknown(ending.unwrap_or_default()).in_file(path)),
        }
    }
}

/// Refuses a file name whose ending is no format of pictures, before any work is done.
pub(crate) fn check(path: &Path) -> Result<()> {
    Format::of(path).map(|_| ())
}

fn unknown(ending: &str) -> Error {
    let what = match ending {
        "" => "a file name without ending does not say the format of a picture".to_string(),
        _ => format!("'.{ending}' is no format that pictures can be written in"),
    };
    Error::new(format!("{what}; use .svg, .png or .pdf"))
}

#[cfg(test)]
mod tests;
