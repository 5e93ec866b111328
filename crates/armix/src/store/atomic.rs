//! Files that are whole or not there: write a temporary, sync it, rename it, sync the folder.

use crate::error::{Error, Result};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

/// Writes a file so that after any crash it holds either its old content or all of the new.
pub(super) fn write(path: &Path, content: &[u8]) -> Result<()> {
    let temporary = path.with_extension("tmp");
    let written = File::create(&temporary)
        .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&temporary, path))
        .and_then(|()| sync_folder(path));
    written.map_err(|error| {
        let _ = fs::remove_file(&temporary);
        cannot("write", path, &error)
    })
}

/// Makes a rename in this file's folder last.
fn sync_folder(path: &Path) -> std::io::Result<()> {
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// An input or output error, with what to do about the usual ones.
pub(super) fn cannot(what: &str, path: &Path, error: &std::io::Error) -> Error {
    use std::io::ErrorKind::{NotFound, PermissionDenied, StorageFull};
    let remedy = match error.kind() {
        StorageFull => "; the disk is full: make room and continue with armix resume",
        PermissionDenied => "; check its permissions",
        NotFound => "; it is not there",
        _ => "",
    };
    Error::new(format!("cannot {what} this: {error}{remedy}")).in_file(path)
}
