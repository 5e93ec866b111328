//! The one error type: what a user can cause, said so that the user can mend it.

use std::fmt;
use std::path::{Path, PathBuf};

/// Something that the caller can put right: bad input, bad settings, a file that cannot be read.
///
/// The message names the place (file and line, where there is one), what is wrong, and the remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    file: Option<PathBuf>,
    line: Option<usize>,
    message: String,
}

/// A result whose error is an [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error that belongs to no file.
    pub fn new(message: impl Into<String>) -> Self {
        Error { file: None, line: None, message: message.into() }
    }

    /// The same error, placed at a line (counted from 1) of the input.
    #[must_use]
    pub fn at_line(mut self, line: usize) -> Self {
        self.line = Some(line);
        self
    }

    /// The same error, placed in a file, unless it is in another one already.
    #[must_use]
    pub fn in_file(mut self, file: &Path) -> Self {
        self.file.get_or_insert_with(|| file.to_path_buf());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{}:{line}: {}", file.display(), self.message),
            (Some(file), None) => write!(f, "{}: {}", file.display(), self.message),
            (None, Some(line)) => write!(f, "line {line}: {}", self.message),
            (None, None) => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for Error {}
