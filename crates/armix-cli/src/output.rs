//! Results go to standard output. A reader that closes the pipe early (`| head`) is no error.

use armix::error::{Error, Result};
use std::io::{ErrorKind, Write};

/// Writes results to standard output.
pub(crate) fn emit(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Error::new(format!("cannot write the results: {error}"))),
        Ok(()) => Ok(()),
    }
}

/// Writes a line to standard error, all at once, so that nothing comes between. That nobody reads it is no reason to stop.
pub(crate) fn say(text: &str) {
    let _ = std::io::stderr().write_all(format!("{text}\n").as_bytes());
}

/// Writes one value as a line of JSON.
pub(crate) fn emit_json(value: &impl serde::Serialize) -> Result<()> {
    let json =
        serde_json::to_string(value).map_err(|e| Error::new(format!("cannot write JSON: {e}")))?;
    emit(&(json + "\n"))
}
