//! What `armix bench` says: every move, in JSON and in a table that fits a narrow terminal.

use super::common::{Folder, armix, json, number, refuse_all, succeed};
use serde_json::Value;

/// A measurement that is over in no time.
const FAST: &str = "--seconds 0.001 --warmup 5";

const MOVES: [&str; 9] =
    ["gibbs", "sm", "sams", "bsm", "srm", "sarm", "arm-inner", "arm", "arm-cells"];

fn names(data: &Value) -> Vec<&str> {
    data["moves"].as_array().unwrap().iter().map(|m| m["move"].as_str().unwrap()).collect()
}

#[test]
fn json_has_every_move_and_every_key() {
    let report = json(armix(&format!("bench --json {FAST}")));
    for key in ["version", "clock", "cpus", "settings"] {
        assert!(!report[key].is_null(), "{key}");
    }
    for key in ["seconds", "seed", "data_seed", "alpha", "beta", "start", "warmup", "chains"] {
        assert!(!report["settings"][key].is_null(), "{key}");
    }
    let data = report["data"].as_array().unwrap();
    let titles: Vec<&str> = data.iter().map(|d| d["data"].as_str().unwrap()).collect();
    assert_eq!(titles, ["karate", "bernoulli-1", "planted:10,30,0.3,0.02"]);
    assert_eq!((&data[0]["n"], &data[0]["edges"]), (&34.into(), &78.into()));
    assert_eq!((&data[1]["columns"], &data[1]["cells"]), (&6.into(), &600.into()));
    for (data, per) in data.iter().zip(["ns_per_edge", "ns_per_cell", "ns_per_edge"]) {
        assert_eq!(names(data), MOVES);
        assert_eq!(data["warmup"], 5);
        assert!(number(&data["iteration_to_gibbs"]) > 1.0);
        for entry in data["moves"].as_array().unwrap() {
            for key in ["cpu_ms", "per_second", "work_per_second", "to_gibbs", "blocks", per] {
                assert!(number(&entry[key]) > 0.0, "{key} of {entry}");
            }
            assert!(number(&entry["applications"]) >= 3.0);
            for key in ["work", "idle", "blocks_before", "blocks_after"] {
                assert!(number(&entry[key]) >= 0.0, "{key} of {entry}");
            }
        }
    }
}

#[test]
fn tables_fit_a_narrow_terminal() {
    for line in ["bench karate", "bench --scaling --up-to 10000"] {
        let said = succeed(armix(&format!("{line} --seconds 0.001")));
        let rows = said.stdout.lines().filter(|l| l.contains(" arm ") || l.contains(" move "));
        for row in rows.chain(said.stdout.lines().filter(|l| l.starts_with("arm"))) {
            assert!(row.chars().count() <= 60, "{row}");
        }
        assert!(said.stdout.contains("arm-cells"), "{}", said.stdout);
        assert_eq!(said.stderr, "", "no progress where there is no terminal");
    }
}

#[test]
fn without_warm_up_the_start_is_measured() {
    let labels: String = (0..34).map(|v| format!("{}\n", v % 6)).collect();
    let folder = Folder::with("z.txt", labels);
    let line = "bench karate --json --start z.txt --warmup 0 --moves arm --seconds 0.001";
    let report = json(folder.armix(line));
    assert_eq!(names(&report["data"][0]), ["gibbs", "arm"]);
    assert_eq!(report["data"][0]["warmup"], 0);
    for entry in report["data"][0]["moves"].as_array().unwrap() {
        assert_eq!(entry["blocks_before"], 6);
    }
}

#[test]
fn cost_is_followed_while_networks_grow() {
    let report = json(armix("bench --scaling --up-to 1e4 --seconds 0.001 --json"));
    let data = report["data"].as_array().unwrap();
    assert_eq!(data.len(), 2);
    for (data, edges) in data.iter().zip([1e3, 1e4]) {
        assert!((number(&data["edges"]) / edges - 1.0).abs() < 0.2, "{}", data["edges"]);
        assert_eq!((number(&data["n"]), &data["blocks"]), (edges / 10.0, &10.into()));
        assert_eq!(names(data), ["gibbs", "arm", "arm-cells"]);
        assert!(data["moves"].as_array().unwrap().iter().all(|m| number(&m["to_10k"]) > 0.0));
        assert!(!cfg!(target_os = "linux") || number(&data["peak_bytes"]) > 1e6);
    }
}

#[test]
fn mistakes_are_refused_with_a_remedy() {
    refuse_all(&[
        ("bench --moves gibs", "there is no move 'gibs'; the moves are gibbs, sm, "),
        ("bench --moves arm*5", "there is no move 'arm*5'"),
        ("bench --seconds 0", "above 0, for example 0.5"),
        ("bench --seconds nan", "above 0, for example 0.5"),
        ("bench karat", "built in are karate"),
        ("bench karate --start z.txt", "--start z.txt: there is no such file"),
        ("bench karate --scaling", "cannot be used with"),
        ("bench --up-to 1e4", "--scaling"),
        ("bench --scaling --up-to 10", "from 1000 to 1e9"),
        ("bench --scaling --blocks 0", "--blocks"),
        ("bench --scaling --up-to 1000 --blocks 500", "use a larger --up-to"),
    ]);
}
