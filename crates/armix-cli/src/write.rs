//! Results into files, which appear whole or not at all.

use armix::error::{Error, Result};
use armix::io;
use std::path::Path;

/// Writes a text file.
pub(crate) fn text(path: &Path, text: &str) -> Result<()> {
    io::write_file(path, &mut |out| {
        let written = out.write_all(text.as_bytes());
        written.map_err(|error| Error::new(format!("cannot be written: {error}")))
    })
}

/// A name as a CSV field.
pub(crate) fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_string()
    }
}
