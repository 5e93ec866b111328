//! Saved runs as a user sees them: resume after anything, show, export; inspect, convert, generate.

use crate::common::{Folder, json, number, refuse, succeed};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use wait_timeout::ChildExt;

const SMALL: &str = "--ensembles 2 --chains 2 --warmup 5 --quiet --json";

/// The files of a run that are results.
fn results(run: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for name in ["run.json", "trace.csv"] {
        files.insert(name.to_string(), fs::read(run.join(name)).expect(name));
    }
    for entry in fs::read_dir(run.join("draws")).expect("draws") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        files.insert(name, fs::read(&path).expect("a part"));
    }
    files
}

/// A summary without what depends on the clock.
fn timeless(mut summary: Value) -> Value {
    summary["seconds"] = Value::Null;
    summary["normalised_iterations"] = Value::Null;
    summary.as_object_mut().expect("an object").remove("peak_memory_bytes"); // only after sampling
    for (_, one) in summary["moves"].as_object_mut().expect("moves") {
        one["seconds"] = Value::Null;
    }
    summary
}

/// kill -9 at 50 random moments, with another number of threads each time: the run still ends with
/// the same bytes.
#[test]
fn a_run_survives_kill_9_at_any_moment() {
    let folder = Folder::new();
    // Long enough that it is not over after fifty short lives.
    let what =
        "fit planted:4,25,0.4,0.05 --chains 4 --ensembles 2 --warmup 10 --iterations 900 --quiet";
    let whole = json(folder.armix(&format!("{what} --json --out whole")));
    let armix = |line: &str| {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("armix"));
        command.current_dir(folder.path()).args(line.split_whitespace());
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("armix starts")
    };
    let mut random = armix::rng::Rng::from_seed(armix::rng::Purpose::Test, 1);
    let (mut kills, mut finished) = (0, 0);
    while kills < 50 {
        let threads = 1 + random.below(4);
        let begun = folder.path().join("cut/run.json").exists();
        let line = match begun {
            true => format!("resume cut --quiet --threads {threads} --checkpoint-every 10ms"),
            false => format!("{what} --out cut --threads {threads} --checkpoint-every 10ms"),
        };
        let mut child = armix(&line);
        let life = Duration::from_micros(1000 + random.below(70_000));
        match child.wait_timeout(life).expect("a child to wait for") {
            None => {
                child.kill().expect("a child to kill");
                child.wait().expect("a dead child");
                kills += 1;
            }
            Some(status) => {
                // Finished before it could be killed: compare, and begin again.
                assert!(status.success(), "{line}: {status}");
                assert!(
                    results(&folder.path().join("cut")) == results(&folder.path().join("whole"))
                );
                fs::remove_dir_all(folder.path().join("cut")).expect("removed");
                finished += 1;
            }
        }
    }
    let last = json(folder.armix("resume cut --quiet --json"));
    assert_eq!(timeless(last), timeless(whole), "after {kills} kills and {finished} complete runs");
    assert!(results(&folder.path().join("cut")) == results(&folder.path().join("whole")));
}

#[test]
fn a_time_budget_ends_a_run_and_resume_completes_it() {
    let folder = Folder::new();
    let what = "fit karate --ensembles 2 --chains 2 --warmup 0 -n 300 --quiet --json";
    let whole = json(folder.armix(&format!("{what} --out whole")));
    let part = json(folder.armix(&format!("{what} --out part --max-time 0s")));
    assert_eq!(part["interrupted"], true);
    assert!(number(&part["iterations"]) < 300.0);
    assert_eq!(timeless(json(folder.armix("resume part -q --json"))), timeless(whole.clone()));
    assert!(results(&folder.path().join("part")) == results(&folder.path().join("whole")));
    assert_eq!(timeless(json(folder.armix("show part --json"))), timeless(whole));
}

#[test]
fn iterations_can_be_added() {
    let folder = Folder::new();
    let long = json(folder.armix(&format!("fit karate {SMALL} -n 50 --out long")));
    succeed(folder.armix(&format!("fit karate {SMALL} -n 20 --out short")));
    let longer = json(folder.armix("resume short -q --json --iterations +30"));
    assert_eq!(timeless(longer), timeless(long));
    assert!(results(&folder.path().join("short")) == results(&folder.path().join("long")));
    assert!(refuse(folder.armix("resume short --iterations +x")).contains("+500"));
}

#[test]
fn runs_are_saved_by_default_and_not_with_no_save() {
    let folder = Folder::new();
    let said = succeed(folder.armix("fit karate -n 3 --ensembles 1 --chains 1"));
    let runs: Vec<_> =
        fs::read_dir(folder.path().join("armix-runs")).expect("armix-runs").collect();
    assert_eq!(runs.len(), 1);
    let name = runs[0].as_ref().expect("an entry").file_name().to_string_lossy().into_owned();
    assert!(name.starts_with("karate-20") && said.stderr.contains(&name), "{name}");
    let other = Folder::new();
    succeed(other.armix("fit karate -n 3 --ensembles 1 --chains 1 --no-save"));
    assert!(!other.path().join("armix-runs").exists());
}

#[test]
fn what_cannot_be_resumed_is_refused() {
    let folder = Folder::with("g.edges", "0 1\n1 2\n2 3\n3 0\n");
    succeed(folder.armix(&format!("fit g.edges {SMALL} -n 10 --out run")));
    assert!(
        refuse(folder.armix(&format!("fit g.edges {SMALL} --out run")))
            .contains("holds a run already")
    );
    assert!(refuse(folder.armix("resume nowhere")).contains("no run in this folder"));
    fs::write(folder.path().join("g.edges"), "0 1\n1 2\n2 3\n").expect("changed");
    assert!(refuse(folder.armix("resume run -n +5")).contains("has changed"));
    fs::remove_file(folder.path().join("g.edges")).expect("removed");
    assert!(refuse(folder.armix("resume run -n +5")).contains("--data"));
    fs::write(folder.path().join("moved.edges"), "0 1\n1 2\n2 3\n3 0\n").expect("moved");
    succeed(folder.armix("resume run -n +5 -q --data moved.edges"));
    // A wrong model or move leaves nothing behind.
    refuse(folder.armix("fit karate -q --moves nothing --out half"));
    refuse(folder.armix("fit karate -q --alpha 0 --out half"));
    assert!(!folder.path().join("half").exists());
}

#[test]
fn runs_are_exported() {
    let table = "who,a,b,c,d\n\"Smith, Ann\",1,1,0,0\nBob,0,0,1,1\nCid,1,1,0,1\n";
    let folder = Folder::with("t.csv", table);
    succeed(folder.armix(&format!("fit t.csv {SMALL} -n 40 --thin 2 --out run")));
    let labels = succeed(folder.armix("export run labels")).stdout;
    assert!(labels.starts_with("item,label\n\"Smith, Ann\",0\nBob,"), "{labels}");
    let draws = succeed(folder.armix("export run draws")).stdout;
    assert!(
        draws.starts_with("ensemble,chain,iteration,\"Smith, Ann\",Bob,Cid\n1,1,1,0,"),
        "{draws}"
    );
    assert_eq!(draws.lines().count(), 1 + 2 * 2 * 20);
    let similarity = succeed(folder.armix("export run similarity")).stdout;
    let rows: Vec<&str> = similarity.lines().collect();
    assert_eq!(rows.len(), 4);
    let bob: Vec<f64> = rows[2].split(',').skip(1).map(|x| x.parse().expect("a number")).collect();
    assert!(bob[1] == 1.0 && bob.iter().all(|p| (0.0..=1.0).contains(p)), "{bob:?}");
    succeed(folder.armix(&format!("fit t.csv {SMALL} -n 10 --save-partitions none --out bare")));
    assert!(refuse(folder.armix("export bare draws")).contains("--save-partitions none"));
    for what in ["labels", "similarity", "draws"] {
        succeed(folder.armix(&format!("export run {what} -o {what}.npy")));
        succeed(folder.armix(&format!("export run {what} -o {what}.csv")));
        let array = fs::read(folder.path().join(format!("{what}.npy"))).expect("an array");
        assert!(array.starts_with(b"\x93NUMPY"));
    }
    let array = fs::read(folder.path().join("draws.npy")).expect("an array");
    assert!(String::from_utf8_lossy(&array).contains("'shape': (2, 2, 20, 3,)"));
    assert_eq!(array.len() % 64, 2 * 2 * 20 * 3 * 4 % 64);
    assert_eq!(fs::read_to_string(folder.path().join("draws.csv")).expect("CSV"), draws);
    let trace = fs::read_to_string(folder.path().join("run/trace.csv")).expect("a trace");
    let header = "ensemble,chain,iteration,log_joint,blocks,fraction_1,";
    assert!(trace.starts_with(header) && trace.lines().count() == 1 + 2 * 2 * 40);
}

#[test]
fn data_are_inspected() {
    let folder = Folder::with(
        "g.net",
        "*Vertices 4\n1 \"a\"\n2 \"b\"\n3 \"c\"\n4 \"d\"\n*Edges\n1 2 3.5\n2 3 1\n",
    )
    .and("t.csv", "id,x,y\nann,1,2.5\nbob,0,\n");
    let network = json(folder.armix("inspect g.net --json"));
    for (key, value) in [("n", 4), ("edges", 2), ("isolated", 1), ("components", 2), ("missing", 0)]
    {
        assert_eq!(network[key], value, "{key}");
    }
    assert_eq!((&network["kind"], &network["model"]), (&"network".into(), &"irm".into()));
    let table = json(folder.armix("inspect t.csv --json"));
    for (key, value) in [("n", 2), ("rows", 2), ("columns", 3), ("missing", 1)] {
        assert_eq!(table[key], value, "{key}");
    }
    assert_eq!((&table["kind"], &table["model"]), (&"table".into(), &"mixed".into()));
    let women = json(folder.armix("inspect southern-women --json"));
    assert_eq!((number(&women["rows"]), number(&women["columns"])), (18.0, 14.0));
    let text = succeed(folder.armix("inspect karate")).stdout;
    for word in ["34 vertices", "78 edges", "degrees", "components", "irm", "MiB"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn data_are_converted_and_generated() {
    let folder = Folder::new();
    succeed(folder.armix("convert karate k.graphml"));
    succeed(folder.armix("convert k.graphml k.edges.gz --downsample 0.5"));
    assert_eq!(json(folder.armix("inspect k.edges.gz --json"))["n"], 17);
    succeed(folder.armix("generate planted:3,20,0.5,0.02 p.mtx --data-seed 4"));
    assert_eq!(json(folder.armix("inspect p.mtx --json"))["n"], 60);
    succeed(folder.armix("generate mixture:3,10,8,0.1 m.csv"));
    let table = json(folder.armix("inspect m.csv --json"));
    assert_eq!((&table["rows"], &table["columns"]), (&30.into(), &8.into()));
    assert!(refuse(folder.armix("convert karate k.docx")).contains(".graphml"));
    assert!(refuse(folder.armix("generate nonsense x.csv")).contains("--help"));
    assert!(refuse(folder.armix("generate mixture:0,1,1,2 x.csv")).contains("mixture:4,50,20,0.1"));
    assert!(refuse(folder.armix("convert karate k.docx")).contains(".json"));
    assert!(refuse(folder.armix("convert four-vertex v.tsv")).contains(".json"));
    let left = fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, 4, "nothing half-written is left");
    let help = succeed(folder.armix("generate --help")).stdout;
    assert!(["levels:", "counts:", "reals:"].iter().all(|what| help.contains(what)), "{help}");
    assert!(succeed(folder.armix("convert --help")).stdout.contains(".npz or .json"));
}

#[test]
fn what_a_format_does_not_keep_is_said() {
    let folder = Folder::with("mask.txt", "1 2\n");
    for (file, said) in
        [("s.mtx", true), ("s.edges.gz", true), ("s.json", false), ("s.json.gz", false)]
    {
        let notes =
            succeed(folder.armix(&format!("convert southern-women {file} --bipartite"))).stderr;
        assert_eq!(notes.contains("sides are not kept in this format"), said, "{file}: {notes}");
    }
    let back = json(folder.armix("inspect s.json.gz --json"));
    assert_eq!((&back["n"], &back["model"]), (&32.into(), &"irm-bernoulli".into()));
    // What was done to the data is said before.
    let refused = folder.armix("convert karate k.edges --mask mask.txt").assert().code(2);
    let message = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(message.contains("armix: k.edges: pairs") && message.contains(".json"), "{message}");
    succeed(folder.armix("convert karate k.json.gz --mask mask.txt"));
    let path = folder.path().join("tiny.edges");
    fs::write(path, "a b\nb c\n").expect("a written file");
    let message = refuse(folder.armix("convert tiny.edges tiny.csv"));
    assert!(message.contains("tiny.csv") && message.contains(".json"), "{message}");
}

#[test]
fn preparation_is_chosen_and_reported() {
    let folder = Folder::with("w.edges", "a b 5\nb c 1\nc c 2\nd e 9\ne f 9\n");
    let said =
        succeed(folder.armix("fit w.edges --no-save -n 2 --ensembles 1 --chains 1 --threshold 2"));
    assert!(
        said.stderr.contains("1 pair of a weight of at most 2 were dropped"),
        "{}",
        said.stderr
    );
    assert!(said.stderr.contains("1 self-loop was dropped"), "{}", said.stderr);
    let largest = json(folder.armix("inspect w.edges --largest-component --json"));
    assert_eq!((&largest["n"], &largest["edges"]), (&3.into(), &2.into()));
    assert!(refuse(folder.armix("inspect w.edges --downsample 2")).contains("at most 1"));
    let table = Folder::with("t.csv", "a,b,c,k\n1,0,1,5\n0,1,1,6\n1,1,0,7\n");
    assert!(refuse(table.armix("fit t.csv --no-save -q --columns a,nope")).contains("nope"));
    assert_eq!(json(table.armix("fit t.csv --no-save -q --json -n 2 --columns a,b,c"))["n"], 3);
}
