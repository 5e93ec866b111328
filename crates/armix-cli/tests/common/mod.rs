//! Helpers of the command line tests: run armix in a folder of its own, and read what it says.

// Every test file is a program of its own and uses some of these.
#![allow(dead_code)]

use assert_cmd::{Command, cargo::cargo_bin_cmd};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// Options of a run that is over in no time.
pub(crate) const SHORT: &str = "--ensembles 2 --chains 2 --iterations 6 --warmup 4 --quiet";

/// Options of a run whose chains stay where they start: the past of a single chain that does
/// nothing but compare its past states has nothing to disagree about.
pub(crate) const STAY: &str =
    "--ensembles 2 --chains 1 --iterations 2 --warmup 0 --moves arm --quiet";

/// armix with the arguments of a line, which are separated by blanks.
pub(crate) fn armix(line: &str) -> Command {
    let mut command = cargo_bin_cmd!("armix");
    // Runs are saved where they are made: not in the source tree.
    command.current_dir(env!("CARGO_TARGET_TMPDIR"));
    command.args(line.split_whitespace());
    command
}

/// What a run wrote.
pub(crate) struct Said {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs a command that must succeed.
pub(crate) fn succeed(mut command: Command) -> Said {
    let output = command.assert().success().get_output().clone();
    Said {
        stdout: String::from_utf8(output.stdout).expect("standard output is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("standard error is UTF-8"),
    }
}

/// Runs a command that must succeed and print one line of JSON.
pub(crate) fn json(command: Command) -> Value {
    let text = succeed(command).stdout;
    assert!(text.ends_with('\n') && text.lines().count() == 1, "{text}");
    serde_json::from_str(&text).expect("standard output is JSON")
}

/// The JSON summary of a fit with these arguments.
pub(crate) fn fit(arguments: &str) -> Value {
    json(armix(&format!("fit --json {arguments}")))
}

/// Runs a command that must be refused as the user's mistake; returns the message.
pub(crate) fn refuse(mut command: Command) -> String {
    // What is not refused may run for ever.
    command.timeout(Duration::from_secs(60));
    let output = command.assert().code(2).get_output().clone();
    let message = String::from_utf8(output.stderr).expect("standard error is UTF-8");
    assert!(output.stdout.is_empty(), "something on standard output");
    assert!(!message.contains("panicked"), "{message}");
    assert!(message.starts_with("armix: ") || message.starts_with("error: "), "{message}");
    message
}

/// Each line of arguments must be refused with a message that has this text in it.
pub(crate) fn refuse_all(cases: &[(&str, &str)]) {
    for (line, text) in cases {
        let message = refuse(armix(line));
        assert!(message.contains(text), "armix {line}: {message}");
    }
}

/// A temporary folder to run armix in.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Folder(TempDir::new().expect("a temporary folder"))
    }

    /// A folder with one file.
    pub(crate) fn with(name: &str, content: impl AsRef<[u8]>) -> Self {
        Folder::new().and(name, content)
    }

    /// The folder with one more file.
    pub(crate) fn and(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        std::fs::write(self.path().join(name), content).expect("a written file");
        self
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// armix, started in this folder.
    pub(crate) fn armix(&self, line: &str) -> Command {
        let mut command = armix(line);
        command.current_dir(self.path());
        command
    }
}

/// The numbers of a JSON list.
pub(crate) fn numbers(list: &Value) -> Vec<u64> {
    let list = list.as_array().expect("a list");
    list.iter().map(|v| v.as_u64().expect("a whole number")).collect()
}

/// A number of any kind.
pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// The text with every stretch of blanks and line ends as one blank: help texts and summaries are
/// wrapped.
pub(crate) fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
