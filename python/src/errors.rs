//! Errors of the library as Python's, with the names of options as Python has them.

use armix::error::Error;
use pyo3::PyErr;
use pyo3::exceptions::PyValueError;

/// What a user can put right.
pub(crate) fn value_error(error: Error) -> PyErr {
    PyValueError::new_err(in_python(&error.to_string()))
}

/// Anything else that says what is wrong.
pub(crate) fn wrong(message: impl Into<String>) -> PyErr {
    PyValueError::new_err(message.into())
}

/// A JSON text.
pub(crate) fn json<T: serde::Serialize>(value: &T) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|e| Error::new(format!("cannot be told as JSON: {e}")))
}

/// `--hold-out 0.1` is `hold_out=0.1` here, and `armix fit` is `armix.fit`.
fn in_python(message: &str) -> String {
    let mut words = Vec::new();
    let mut rest = message.split(' ').peekable();
    while let Some(word) = rest.next() {
        let Some(option) = word.strip_prefix("--") else {
            words.push(word.to_string());
            continue;
        };
        let name = option.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let end = &option[name.len()..];
        let python = name.replace('-', "_");
        let value = rest.next_if(|value| {
            end.is_empty() && value.starts_with(|c: char| c.is_ascii_digit() || c == 'N')
        });
        words.push(match value {
            Some(value) => format!("{python}={value}"),
            None => format!("{python}={end}"),
        });
    }
    let mut text = words.join(" ");
    for command in ["fit", "resume", "exact"] {
        text = text.replace(&format!("armix {command}"), &format!("armix.{command}"));
    }
    text
}
