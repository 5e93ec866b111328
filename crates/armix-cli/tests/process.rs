//! The exact posterior, the proof, and what happens when a reader goes away or Ctrl-C is pressed.

use crate::common::{Folder, armix, json, number, numbers, succeed};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::{Command, Output, Stdio};

/// Probability and log joint by labels.
type Posterior = BTreeMap<Vec<u64>, (f64, f64)>;

fn of_json(rows: &Value) -> Posterior {
    let rows = rows.as_array().expect("a list");
    let posterior: Posterior = (rows.iter())
        .map(|row| {
            assert_eq!(row.as_object().map(serde_json::Map::len), Some(3));
            let values = (number(&row["probability"]), number(&row["log_joint"]));
            (numbers(&row["labels"]), values)
        })
        .collect();
    assert_eq!(posterior.len(), rows.len());
    posterior
}

fn of_csv(text: &str) -> Posterior {
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let items = header.len() - 2;
    assert_eq!(header[items..], ["probability", "log_joint"]);
    assert!((header[..items].iter().enumerate()).all(|(i, name)| *name == format!("z{}", i + 1)));
    lines
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            assert_eq!(cells.len(), header.len());
            let number = |cell: &str| cell.parse::<f64>().expect("a number");
            let labels = cells[..items].iter().map(|c| c.parse().expect("a label"));
            let values = (number(cells[items]), number(cells[items + 1]));
            (labels.collect(), values)
        })
        .collect()
}

fn four_vertex(options: &str) -> Posterior {
    of_json(&json(armix(&format!("exact four-vertex --json {options}"))))
}

#[test]
fn the_exact_posterior_lists_every_partition_once() {
    let posterior = four_vertex("");
    assert_eq!(posterior.len(), 15);
    let total: f64 = posterior.values().map(|v| v.0).sum();
    assert!((total - 1.0).abs() < 1e-12);
    for labels in posterior.keys() {
        assert_eq!(labels.len(), 4);
        let mut next = 0;
        for &label in labels {
            assert!(label <= next, "{labels:?}");
            next = next.max(label + 1);
        }
    }
}

#[test]
fn the_exact_posterior_is_the_same_as_csv_and_json() {
    let text = succeed(armix("exact four-vertex --csv")).stdout;
    assert_eq!(text.lines().count(), 16);
    let (csv, json) = (of_csv(&text), four_vertex(""));
    assert!(csv.keys().eq(json.keys()));
    // The last digit may be lost when JSON is read.
    for (a, b) in csv.values().zip(json.values()) {
        assert!((a.0 - b.0).abs() < 1e-15 && (a.1 - b.1).abs() < 1e-14);
    }
}

#[test]
fn the_exact_posterior_is_a_table_sorted_by_probability() {
    let said = succeed(armix("exact four-vertex"));
    assert_eq!(said.stderr, "");
    let mut lines = said.stdout.lines();
    let header = lines.next().expect("a header");
    assert!(header.contains("labels") && header.contains("probability"));
    let exact = four_vertex("");
    let mut probabilities = Vec::new();
    for line in lines {
        let cells: Vec<f64> =
            (line.split_whitespace()).map(|c| c.parse().expect("a number")).collect();
        let labels: Vec<u64> = cells[..4].iter().map(|&l| l as u64).collect();
        assert!((cells[4] - exact[&labels].0).abs() < 1e-8, "{line}");
        assert!((cells[5] - exact[&labels].1).abs() < 1e-5, "{line}");
        probabilities.push(cells[4]);
    }
    assert_eq!(probabilities.len(), 15);
    assert!(probabilities.is_sorted_by(|a, b| a >= b));
}

#[test]
fn a_long_table_says_how_much_it_leaves_out() {
    let text = succeed(armix("exact grid:1x6")).stdout;
    assert_eq!(text.lines().count(), 1 + 50 + 1);
    assert!(text.contains("and 153 less probable partitions"), "{text}");
    assert!(text.ends_with("all 203\n"), "{text}");
}

#[test]
fn the_exact_posterior_agrees_with_the_reference() {
    let path =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/reference/four_vertex_posterior.csv");
    let Ok(reference) = std::fs::read_to_string(path) else {
        eprintln!("skipped: the reference posterior is not there");
        return;
    };
    let reference = of_csv(&reference);
    let posterior = four_vertex("");
    assert_eq!(reference.len(), 15);
    assert!(reference.keys().eq(posterior.keys()));
    for (labels, (probability, log_joint)) in &posterior {
        let expected = reference[labels];
        assert!((probability - expected.0).abs() < 1e-12, "{labels:?}");
        assert!((log_joint - expected.1).abs() < 1e-12, "{labels:?}");
    }
}

#[test]
fn alpha_rewards_every_block() {
    let (one, three) = (four_vertex(""), four_vertex("--alpha 3"));
    let odds = |p: &Posterior, labels: &[u64]| p[labels].0 / p[&[0, 0, 0, 0][..]].0;
    for labels in one.keys() {
        let blocks = labels.iter().max().expect("labels") + 1;
        let ratio = odds(&three, labels) / odds(&one, labels);
        let expected = 3f64.powi(blocks as i32 - 1);
        assert!((ratio / expected - 1.0).abs() < 1e-12, "{labels:?}");
    }
}

#[test]
fn beta_gives_the_links_first() {
    // One block, four links and two gaps: B(4 + β⁺, 2 + β⁻) / B(β⁺, β⁻) · 3! / 4!.
    for (beta, expected) in [("1,1", 420.0), ("2,1", 336.0), ("1,2", 560.0)] {
        let posterior = four_vertex(&format!("--beta {beta}"));
        let log_joint = posterior[&[0, 0, 0, 0][..]].1;
        assert!((log_joint + f64::ln(expected)).abs() < 1e-12, "{beta}");
    }
}

#[test]
fn verify_proves_every_move_and_catches_every_control() {
    let lines = json(armix("verify --json"));
    let lines = lines.as_array().expect("a list");
    for line in lines {
        assert_eq!(line["passed"], true, "{line}");
        assert!(number(&line["errors"]["paths"]) > 0.0, "{line}");
    }
    let moves = lines.iter().filter(|l| l["control"] == false);
    // Nine moves, two sizes, two more priors and a higher temperature for each model; nine strategies, and exchanges.
    let models = armix::models::names();
    assert_eq!(moves.count(), (45 + 9 + 1) * models.len());
    for model in models {
        let of_model = lines.iter().filter(|l| l["model"] == model);
        let controls = of_model.filter(|l| l["control"] == true);
        assert!(controls.count() >= 6, "{model}");
    }
}

/// A pipe whose reader has gone already.
fn closed_pipe() -> Stdio {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    writer.into()
}

/// armix as a child process that can be watched while it runs.
fn child(line: &str) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("armix"));
    command.current_dir(env!("CARGO_TARGET_TMPDIR"));
    command.args(line.split_whitespace()).stdin(Stdio::null());
    command
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("standard error is UTF-8")
}

#[test]
fn a_reader_that_stops_reading_is_no_error() {
    let path: String = (0..8).map(|v| format!("{v} {}\n", v + 1)).collect();
    let folder = Folder::with("path.edges", path);
    for line in [
        "exact path.edges --csv",
        "exact path.edges --json",
        "exact path.edges",
        "fit path.edges --quiet --iterations 2",
        "fit path.edges --quiet --iterations 2 --json",
    ] {
        let mut command = child(line);
        command.current_dir(folder.path()).stdout(closed_pipe());
        let output = command.output().expect("armix runs");
        assert_eq!(stderr(&output), "", "{line}");
        assert_eq!(output.status.code(), Some(0), "{line}");
    }
}

#[test]
fn a_reader_that_leaves_in_the_middle_is_no_error() {
    let path: String = (0..8).map(|v| format!("{v} {}\n", v + 1)).collect();
    let folder = Folder::with("path.edges", path);
    let mut command = child("exact path.edges --csv");
    command.current_dir(folder.path());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = command.spawn().expect("armix runs");
    let mut first = [0; 3];
    let mut reader = running.stdout.take().expect("a pipe");
    std::io::Read::read_exact(&mut reader, &mut first).expect("some output");
    // More than a pipe can hold is still to come.
    drop(reader);
    let output = running.wait_with_output().expect("armix ends");
    assert_eq!(&first, b"z1,");
    assert_eq!(stderr(&output), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_run_goes_on_when_nobody_reads_its_progress() {
    let line = "fit four-vertex --json --ensembles 2 --chains 2 --iterations 20";
    let output = child(line).stderr(closed_pipe()).output();
    let output = output.expect("armix runs");
    assert_eq!(output.status.code(), Some(0));
    let summary: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(summary["iterations"], 20);
}

#[test]
fn a_mistake_has_its_exit_code_when_nobody_reads_the_message() {
    let output = child("fit no.edges").stderr(closed_pipe()).output();
    assert_eq!(output.expect("armix runs").status.code(), Some(2));
}

/// Several copies of a build without MPI would do the same run as often.
#[cfg(not(feature = "mpi"))]
#[test]
fn a_build_without_mpi_is_not_started_by_mpirun() {
    let line = "fit four-vertex --no-save --quiet --iterations 2";
    let mut command = child(line);
    command.env("OMPI_COMM_WORLD_RANK", "0").env("OMPI_COMM_WORLD_SIZE", "4");
    let output = command.output().expect("armix runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("built without MPI"), "{}", stderr(&output));
    let output = command.env("ARMIX_MPI", "off").output().expect("armix runs");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[cfg(unix)]
mod ctrl_c {
    //! These wait for the first line of progress, which comes after five seconds.

    use super::{child, stderr};
    use serde_json::Value;
    use std::io::{BufRead, BufReader, Read};
    use std::process::{Child, Command, Output, Stdio};

    /// Ends the process also if a test fails half-way.
    struct Running(Child);

    impl Drop for Running {
        fn drop(&mut self) {
            // It has ended already if all is well.
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    /// Interrupts a long run at its first line of progress; returns that line, too.
    fn interrupt(options: &str) -> (String, Output) {
        let line = format!("fit karate --ensembles 2 --chains 2 --threads 1 {options}");
        let mut command = child(&line);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut running = Running(command.spawn().expect("armix runs"));
        let mut reader = BufReader::new(running.0.stderr.take().expect("a pipe"));
        let mut progress = String::new();
        while !progress.starts_with("iteration ") {
            progress.clear();
            let length = reader.read_line(&mut progress).expect("a line");
            assert!(length > 0, "armix ended by itself");
        }
        let kill = format!("kill -INT {}", running.0.id());
        let killed = Command::new("sh").args(["-c", &kill]).status();
        assert!(killed.expect("a shell").success());
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        reader.read_to_end(&mut stderr).expect("the rest");
        let mut results = running.0.stdout.take().expect("a pipe");
        results.read_to_end(&mut stdout).expect("the results");
        let status = running.0.wait().expect("armix ends");
        let output = Output { status, stdout, stderr };
        assert!(super::stderr(&output).contains("armix: stopping after this iteration"));
        (progress, output)
    }

    #[test]
    fn an_interrupted_run_ends_with_a_json_summary_of_what_was_done() {
        let (progress, output) = interrupt("--iterations 100000000 --json");
        assert!(progress.contains("/100000000, "), "{progress}");
        assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(text.contains("\"interrupted\":true"), "{text}");
        let summary: Value = serde_json::from_str(&text).expect("JSON");
        let done = summary["iterations"].as_u64().expect("a whole number");
        assert!((1..100_000_000).contains(&done));
        assert_eq!(summary["moves"]["gibbs"]["proposed"], 4 * done);
    }

    #[test]
    fn an_interrupted_run_tells_people_that_it_was_stopped_early() {
        let (_, output) = interrupt("--iterations 100000000");
        assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let text = crate::common::unwrapped(&text);
        assert!(text.contains("stopped early, 100000000 were asked for"), "{text}");
        assert!(text.contains("best partition: "), "{text}");
    }

    #[test]
    fn a_run_that_is_interrupted_while_it_warms_up_has_no_summary() {
        let (progress, output) = interrupt("--warmup 100000000 --json");
        assert!(progress.contains("warming up"), "{progress}");
        assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
        assert!(output.stdout.is_empty());
        assert!(stderr(&output).contains("nothing was recorded"));
    }
}
