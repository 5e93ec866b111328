//! The paper's experiments at their smallest: every item and its files, going on after a stop, bad input.

use crate::common::{Folder, Said, json, number, refuse, succeed};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const ITEMS: [&str; 8] = [
    "sampler-test",
    "bernoulli-traces",
    "bernoulli-table",
    "bernoulli-scatter",
    "variants",
    "chains",
    "downsampling",
    "network-traces",
];

/// A folder with one of the four networks, a small one under its name.
fn with_network() -> Folder {
    let folder = Folder::new();
    succeed(folder.armix("generate planted:4,10,0.5,0.05 nips234.edges"));
    folder
}

/// The file of a folder of results.
fn read(folder: &Folder, name: &str) -> String {
    std::fs::read_to_string(folder.path().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn exists(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|m| m.len() > 0)
}

/// A column of a CSV file, by its name.
fn column(csv: &str, name: &str) -> Vec<String> {
    let mut lines = csv.lines();
    let at = lines.next().expect("a header").split(',').position(|c| c == name);
    let at = at.unwrap_or_else(|| panic!("no column {name} in {csv}"));
    lines.map(|line| line.split(',').nth(at).expect("a cell").to_string()).collect()
}

#[test]
fn wrong_items_and_folders_are_refused() {
    let folder = with_network().and("file", "");
    for (line, text) in [
        ("paper", "<ITEM>"),
        ("paper figure-7", "bernoulli-table"),
        ("paper variants --data nowhere", "nowhere: there is no such folder"),
        ("paper sampler-test --tiny --out file", "cannot make this folder"),
        ("paper sampler-test --seed 0", "--seed"),
        ("paper chains --chains 2,0", "--chains"),
        ("paper sampler-test --tiny --update nothing.md", "nothing.md: cannot be read"),
    ] {
        let mut command = folder.armix(line);
        command.args(["--quiet"]);
        let output = command.assert().code(2).get_output().clone();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains(text) && !message.contains("panicked"), "{line}: {message}");
    }
    std::fs::create_dir(folder.path().join("empty")).expect("a folder");
    let message = refuse(folder.armix("paper chains --tiny --data empty"));
    assert!(message.contains("empty has none of the paper's networks"), "{message}");
    for source in ["roweis", "Hagmann et al. 2008", "Pajek", "Facebook100", "--data"] {
        assert!(message.contains(source), "{message}");
    }
}

#[test]
fn every_item_has_its_files_and_a_second_run_has_nothing_to_do() {
    let folder = with_network();
    let line = "paper all --tiny --data . --out results";
    let Said { stdout, stderr } = succeed(folder.armix(line));
    assert!(stderr.contains("runs are to be done: about"), "{stderr}");
    for missing in ["Hagmann (hagmann998.edges) is not there", "USAir", "Caltech"] {
        assert!(stderr.contains(missing), "{stderr}");
    }
    let page = read(&folder, "results/index.html");
    for item in ITEMS {
        for ending in ["txt", "json", "csv", "svg", "png"] {
            let path = folder.path().join(format!("results/{item}.{ending}"));
            assert!(exists(&path), "{}", path.display());
        }
        assert!(stdout.contains(&read(&folder, &format!("results/{item}.txt"))), "{item}");
        assert!(page.contains(&format!("<section id=\"{item}\">")), "{item}");
        let report: Value =
            serde_json::from_str(&read(&folder, &format!("results/{item}.json"))).expect("JSON");
        assert_eq!(report["item"], item);
        assert!(report["tables"][0]["rows"].as_array().is_some_and(|rows| !rows.is_empty()));
    }
    assert!(page.contains("<svg") && !page.contains("<script") && !page.contains("{{"));
    // Printed numbers stand beside ours, where the paper has any.
    let accept = column(&read(&folder, "results/variants.csv"), "printed ");
    assert_eq!(accept, ["", "0.48", "1.01", "1.37", "19.41", "19.41"]);
    let samplers = column(&read(&folder, "results/variants.csv"), "sampler");
    assert_eq!(samplers, ["Gibbs", "SM", "bSM", "sARM", "ARM as printed", "ARM"]);
    // Effort is told in both units, and is equal by time as far as whole iterations allow.
    let times = column(&read(&folder, "results/variants.csv"), "normalised (time)");
    assert!(times.iter().all(|t| t.parse::<f64>().is_ok_and(|t| t > 15.0)), "{times:?}");

    let again = succeed(folder.armix(line));
    assert!(again.stderr.contains("0 runs are to be done, "), "{}", again.stderr);
    assert_eq!(again.stdout, stdout);
    assert_eq!(read(&folder, "results/index.html"), page);
    // Other settings do not mix with these.
    let message = refuse(folder.armix("paper sampler-test --tiny --seed 2 --out results"));
    assert!(message.contains("other settings (tiny size, seed 1"), "{message}");
    // A network that is there and cannot be read is an error, not a gap.
    std::fs::write(folder.path().join("usair97.edges"), "a b c d e\n").expect("written");
    let message = refuse(folder.armix("paper variants --tiny --quiet --data . --out other"));
    assert!(message.contains("usair97.edges"), "{message}");
}

/// The test of fit is passed by every sampler (of 8, with p > 1e-4: false alarm below 1e-3 with a fixed
/// seed), and its frequencies are those of a distribution.
/// The study of more chains than in the paper, in small.
#[test]
fn numbers_of_chains_can_be_chosen() {
    let folder = with_network();
    let line = "paper chains --tiny --quiet --data . --out results --chains 2,4,8";
    succeed(folder.armix(line));
    let csv = read(&folder, "results/chains.csv");
    assert_eq!(column(&csv, "S"), ["2", "4", "8", "2"], "ARM three times, and SM: {csv}");
    assert_eq!(column(&csv, "iterations")[..3], ["20", "20", "20"]);
    let best: Vec<f64> =
        column(&csv, "best log joint").iter().map(|b| b.parse().expect("a number")).collect();
    assert!(best.iter().all(|b| b.is_finite()), "{csv}");
}

#[test]
fn samplers_fit_the_exact_posterior() {
    let folder = Folder::new();
    let reports = json(folder.armix("paper sampler-test --quick --json --quiet --out results"));
    let tables = &reports[0]["tables"];
    let tests = tables[1]["rows"].as_array().expect("rows");
    assert_eq!(tests.len(), 8);
    for row in tests {
        assert_eq!(number(&row[1]["mean"]), 40_000.0);
        assert!(number(&row[5]["mean"]) > 1e-4, "{row}");
        assert!(number(&row[2]["mean"]) > 100.0, "{row}");
    }
    let rows = tables[0]["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 15);
    for column in 1..10 {
        let sum: f64 = rows.iter().map(|row| number(&row[column]["mean"])).sum();
        assert!((sum - 1.0).abs() < 1e-9);
    }
}

/// armix as a child process, whose first line of results has been read.
fn begun(folder: &Folder, line: &str) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("armix"));
    command.current_dir(folder.path()).args(line.split_whitespace()).stdin(Stdio::null());
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("armix runs");
    let mut results = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut first = String::new();
    results.read_line(&mut first).expect("a line");
    assert!(first.starts_with("Samplers against"), "{first}");
    (child, results)
}

/// Everything that does not depend on time.
fn times_of(folder: &Folder, out: &str) -> [Vec<String>; 2] {
    let csv = read(folder, &format!("{out}/bernoulli-table.csv"));
    [column(&csv, "trace"), column(&csv, "indicator")]
}

#[test]
fn a_killed_run_goes_on_where_it_was() {
    let folder = Folder::new();
    let (mut child, _) = begun(&folder, "paper all --tiny --threads 1 --data . --out killed");
    child.kill().expect("killed");
    child.wait().expect("ended");
    // Half a file, as no crash leaves it behind, is done again.
    let spoiled = folder.path().join("killed/units/sampler-test/four-vertex/sm-S4-1.json");
    assert!(exists(&spoiled));
    std::fs::write(&spoiled, "{\"unit\":").expect("written");
    let said = succeed(folder.armix("paper all --tiny --data . --out killed"));
    assert!(said.stderr.contains(" are there already: about"), "{}", said.stderr);
    succeed(folder.armix("paper bernoulli-table --tiny --quiet --threads 2 --out whole"));
    assert_eq!(times_of(&folder, "killed"), times_of(&folder, "whole"));
}

#[cfg(unix)]
#[test]
fn ctrl_c_says_how_to_go_on() {
    let folder = with_network();
    let line = "paper all --tiny --threads 1 --data . --out stopped";
    let (mut child, mut results) = begun(&folder, line);
    let kill = format!("kill -INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().expect("a shell").success());
    let (mut rest, mut said) = (String::new(), String::new());
    results.read_to_string(&mut rest).expect("the results");
    child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("the rest");
    assert_eq!(child.wait().expect("armix ends").code(), Some(130), "{said}");
    let command = "go on with: armix paper all --tiny --data . --out stopped --threads 1";
    assert!(said.contains("armix: stopping") && said.contains(command), "{said}");
}

#[test]
fn documents_are_updated_between_their_marks() {
    let document =
        "Before\n<!-- paper:sampler-test -->\nold\n<!-- /paper:sampler-test -->\nafter\n";
    let folder = Folder::with("doc.md", document);
    let line = "paper sampler-test --tiny --quiet --out results --update doc.md";
    succeed(folder.armix(line));
    let text = read(&folder, "doc.md");
    assert!(text.starts_with("Before\n<!-- paper:sampler-test -->\n\nThe graph"), "{text}");
    assert!(text.ends_with("\n<!-- /paper:sampler-test -->\nafter\n") && !text.contains("old"));
    assert!(text.contains("| 1234 | 0.1858 |"), "{text}");
    succeed(folder.armix(line));
    assert_eq!(read(&folder, "doc.md"), text);
    let folder = Folder::with("doc.md", "nothing here");
    let message =
        refuse(folder.armix("paper bernoulli-traces --tiny --out r --update doc.md --json"));
    assert!(message.contains("doc.md: there is no place for bernoulli-traces"), "{message}");
}
