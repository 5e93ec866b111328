//! Who may use whom: the picture of docs/ARCHITECTURE.md, held by reading `use crate::` lines.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Each module with the modules it may use. Modules without an entry may use everything.
const MAY_USE: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("special", &[]),
    ("rng", &[]),
    ("partition", &[]),
    ("base64", &[]),
    ("constraints", &["error", "partition"]),
    ("data", &["error", "relations"]),
    ("relations", &["data", "error"]),
    ("plot", &["base64", "error"]),
    ("hyper", &["special"]),
    ("slice", &["rng"]),
    ("prior", &["error", "hyper", "partition", "rng", "special"]),
    ("families", &["hyper", "special"]),
    ("model", &["hyper", "partition"]),
    (
        "models",
        &[
            "data",
            "error",
            "families",
            "hyper",
            "model",
            "partition",
            "prior",
            "relations",
            "special",
        ],
    ),
    ("state", &["constraints", "error", "hyper", "model", "partition", "prior"]),
    ("sweep", &["model", "partition", "rng", "special", "state"]),
    ("history", &["partition", "rng"]),
    ("compare", &["partition"]),
    ("estimate", &["compare", "error", "history", "partition", "rng"]),
    (
        "moves",
        &[
            "constraints",
            "error",
            "history",
            "hyper",
            "model",
            "partition",
            "rng",
            "slice",
            "state",
            "sweep",
        ],
    ),
    ("tuning", &["rng"]),
    ("ladder", &["error", "moves", "rng", "special"]),
    ("run", &["error", "history", "ladder", "moves", "partition", "tuning"]),
    ("pilot", &["compare", "ensemble", "error", "ladder", "model", "run", "state"]),
    ("evidence", &["diagnose", "ladder", "run", "special"]),
    ("checkpoint", &["history", "ladder", "partition", "run", "tuning"]),
    (
        "runner",
        &[
            "checkpoint",
            "compare",
            "error",
            "history",
            "hyper",
            "model",
            "moves",
            "partition",
            "rng",
            "run",
            "state",
            "sweep",
            "tuning",
        ],
    ),
    (
        "ensemble",
        &["checkpoint", "error", "history", "ladder", "model", "run", "runner", "state", "tuning"],
    ),
    ("store", &["checkpoint", "ensemble", "error", "history", "ladder", "prior", "run"]),
    ("diagnose", &["compare", "error", "history", "partition", "rng", "run", "special"]),
    ("summary", &["diagnose", "evidence", "ladder", "run", "tuning"]),
    (
        "predict",
        &["data", "error", "history", "model", "partition", "relations", "rng", "run", "state"],
    ),
    ("blocks", &["data", "relations", "special"]),
    ("answer", &["compare", "diagnose", "error", "estimate", "history", "partition", "run"]),
    (
        "report",
        &[
            "answer",
            "base64",
            "blocks",
            "data",
            "diagnose",
            "error",
            "estimate",
            "relations",
            "run",
            "summary",
        ],
    ),
    (
        "any_target",
        &[
            "bench",
            "checkpoint",
            "data",
            "ensemble",
            "error",
            "exact",
            "model",
            "pilot",
            "predict",
            "relations",
            "run",
            "state",
        ],
    ),
    (
        "problem",
        &[
            "any_target",
            "builtin",
            "constraints",
            "data",
            "error",
            "families",
            "hyper",
            "io",
            "model",
            "models",
            "moves",
            "predict",
            "prior",
            "relations",
            "state",
            "store",
        ],
    ),
    ("newcomers", &["data", "error", "io", "problem", "relations"]),
    (
        "account",
        &[
            "answer",
            "constraints",
            "data",
            "diagnose",
            "error",
            "prior",
            "problem",
            "report",
            "run",
            "store",
        ],
    ),
    (
        "bench",
        &[
            "ensemble",
            "error",
            "history",
            "model",
            "moves",
            "partition",
            "rng",
            "run",
            "runner",
            "state",
        ],
    ),
    ("exact", &["error", "model", "partition", "state"]),
    ("io", &["constraints", "data", "error", "partition", "relations"]),
    ("builtin", &["data", "error", "families", "rng"]),
    (
        "verify",
        &[
            "exact",
            "history",
            "ladder",
            "model",
            "models",
            "moves",
            "partition",
            "prior",
            "rng",
            "state",
            "sweep",
        ],
    ),
];

fn sources(folder: &Path, out: &mut Vec<(String, String)>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(&path, out);
        } else {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
            let inside = path.strip_prefix(&root).unwrap().with_extension("");
            let module =
                inside.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
            out.push((module, fs::read_to_string(&path).unwrap()));
        }
    }
}

fn all_sources() -> Vec<(String, String)> {
    let mut all = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut all);
    all
}

/// The code without its tests and comments.
fn code(text: &str) -> String {
    let code = text.split("#[cfg(test)]").next().unwrap();
    let lines = code.lines().filter(|l| !l.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn modules_use_only_what_lies_below_them() {
    let may_use: BTreeMap<_, _> = MAY_USE.iter().copied().collect();
    let mut seen = 0;
    for (module, text) in all_sources() {
        if module == "lib" {
            continue;
        }
        let allowed = may_use
            .get(module.as_str())
            .unwrap_or_else(|| panic!("{module} has no place in the picture"));
        for (at, _) in code(&text).match_indices("crate::") {
            let code = code(&text);
            let rest = &code[at + "crate::".len()..];
            let used: Vec<&str> = if let Some(list) = rest.strip_prefix('{') {
                let list = &list[..list.find("};").unwrap()];
                list.split(',').map(|part| part.trim().split("::").next().unwrap()).collect()
            } else {
                vec![rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap()]
            };
            for name in used {
                seen += 1;
                assert!(name == module || allowed.contains(&name), "{module} must not use {name}");
            }
        }
    }
    assert!(seen > 60, "the lines are found at all: {seen}");
}

/// Threads live in `ensemble` and `estimate` alone, files in `io` alone, and nothing looks at the clock but to
/// report it.
#[test]
fn threads_files_and_clocks_stay_in_their_places() {
    for (module, text) in all_sources() {
        let code = code(&text);
        for (word, homes) in [
            ("rayon", &["ensemble", "estimate"][..]),
            ("std::thread", &["ensemble"]),
            ("Instant", &["bench", "ensemble", "runner"]),
            ("std::fs", &["io", "store"]),
        ] {
            let allowed = homes.contains(&module.as_str());
            assert!(allowed || !code.contains(word), "{word} belongs into {homes:?}, not {module}");
        }
    }
}
