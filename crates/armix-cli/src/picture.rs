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
    let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    let bytes = match ending.as_str() {
        "svg" => drawing.svg().into_bytes(),
        "png" => png::encode(drawing),
        "pdf" => pdf::encode(drawing),
        _ => return Err(unknown(&ending).in_file(path)),
    };
    io::write_file(path, &mut |out| {
        let written = out.write_all(&bytes);
        written.map_err(|error| Error::new(format!("cannot be written: {error}")))
    })
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
