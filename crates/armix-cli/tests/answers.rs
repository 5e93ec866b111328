//! What a user asks of a saved run: can I believe it, which groups, how sure, and pictures of it.

use crate::common::{Folder, json, number, refuse, succeed};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A folder with a run of the karate club in it, called RUN.
fn karate(options: &str) -> Folder {
    let folder = Folder::new();
    succeed(
        folder.armix(&format!("fit karate --quiet --out RUN --ensembles 3 --chains 3 {options}")),
    );
    folder
}

#[test]
fn a_converged_run_is_believed() {
    let folder = karate("--iterations 400");
    let d = json(folder.armix("diagnose RUN --json"));
    assert_eq!(d["verdict"], "converged", "{}", d["reasons"]);
    let quantities = d["quantities"].as_object().unwrap();
    for name in [
        "log_joint",
        "blocks",
        "fraction_1",
        "fraction_5",
        "co_assignment_max",
        "co_assignment_mean",
    ] {
        for key in ["rhat", "rhat_split", "rhat_rank", "ess_bulk", "ess_tail", "act", "act_window"]
        {
            assert!(number(&quantities[name][key]) > 0.0, "{name} {key}");
        }
    }
    assert_eq!(d["distances"]["vi"].as_array().unwrap().len(), 3);
    let text = succeed(folder.armix("diagnose RUN --fail-if-not-converged")).stdout;
    for word in ["Converged", "log joint", "rank R̂", "ESS", "bits", "burn-in"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    // The verdict of fit and show is the same.
    assert_eq!(json(folder.armix("show RUN --json"))["verdict"], d["verdict"]);
    let other = json(folder.armix("diagnose RUN --json --burn-in 100"));
    assert_eq!((number(&d["burn_in"]), number(&other["burn_in"])), (200.0, 100.0));
}

/// Chains that do not mix must not be believed: two ensembles that each stay where they began.
#[test]
fn a_stuck_run_is_not_believed() {
    let folder = Folder::new();
    // Gibbs does not find a way between the modes of a strongly clustered network.
    succeed(folder.armix(
        "fit planted:12,15,0.9,0.02 --moves gibbs --ensembles 4 --chains 2 --iterations 200 --quiet --out RUN",
    ));
    let mut command = folder.armix("diagnose RUN --fail-if-not-converged --json");
    let output = command.assert().code(1).get_output().clone();
    let d: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(d["verdict"], "not-converged");
    assert!(!d["reasons"].as_array().unwrap().is_empty());
    assert!(d["next"].to_string().contains("run longer"), "{}", d["next"]);
    let short = Folder::new();
    succeed(short.armix("fit karate --quiet --out RUN --iterations 20"));
    assert_eq!(json(short.armix("diagnose RUN --json"))["verdict"], "too-short");
}

#[test]
fn gibbs_on_a_real_network_is_not_believed() {
    let data =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/networks/nips234.edges");
    if !data.exists() {
        eprintln!("SKIPPED: ../shared/data is not there");
        return;
    }
    let folder = Folder::new();
    for (name, options) in
        [("a", "--moves gibbs"), ("b", "--moves gibbs --start one"), ("c", "--start one")]
    {
        succeed(folder.armix(&format!(
            "fit {} {options} --chains 4 --iterations 300 --quiet --no-report --out {name}",
            data.display()
        )));
        let d = json(folder.armix(&format!("diagnose {name} --json")));
        assert_eq!(d["verdict"], "not-converged", "{options}: {}", d["reasons"]);
    }
}

#[test]
fn the_summary_tells_groups_and_how_sure_they_are() {
    let folder = karate("--iterations 400");
    let truth: String =
        (0..34).map(|v| format!("{v}\t{}\n", if v < 10 { "x" } else { "y" })).collect();
    fs::write(folder.path().join("truth.txt"), truth).unwrap();
    let s = json(folder.armix("summary RUN --truth truth.txt --labels groups.csv --json"));
    let labels = s["labels"].as_array().unwrap();
    assert_eq!((labels.len(), s["items"].as_array().unwrap().len()), (34, 34));
    assert!(s["certainty"].as_array().unwrap().iter().all(|c| (0.0..=1.0).contains(&number(c))));
    assert_eq!(s["sure"].as_array().unwrap().len(), 34);
    let total: f64 = s["blocks_posterior"].as_object().unwrap().values().map(number).sum();
    assert!((total - 1.0).abs() < 1e-12);
    let ball = &s["ball"];
    assert!(number(&ball["radius"]) > 0.0);
    // The radius is the distance of the draw that is farthest away, up to rounding.
    assert!((number(&ball["horizontal"]["distance"]) - number(&ball["radius"])).abs() < 1e-9);
    assert!(number(&ball["upper"]["blocks"]) <= number(&ball["lower"]["blocks"]));
    let weights: f64 = s["modes"].as_array().unwrap().iter().map(|m| number(&m["weight"])).sum();
    assert!((weights - 1.0).abs() < 1e-12);
    assert!(number(&s["truth"]["ari"]) < 1.0);
    let confusion: f64 = s["truth"]["confusion"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|row| row.as_array().unwrap())
        .map(number)
        .sum();
    assert_eq!(confusion, 34.0);
    let sizes: f64 = s["groups"].as_array().unwrap().iter().map(|g| number(&g["size"])).sum();
    assert_eq!(sizes, 34.0);
    let blocks = labels.iter().map(number).fold(0.0, f64::max) as usize + 1;
    assert_eq!(s["blocks"]["densities"].as_array().unwrap().len(), blocks);
    let csv = fs::read_to_string(folder.path().join("groups.csv")).unwrap();
    assert_eq!((csv.lines().count(), csv.lines().next().unwrap()), (35, "item,label,certainty"));
    // The estimate of each loss is the best for that loss.
    for loss in ["vi", "binder", "ari", "map"] {
        let one = json(folder.armix(&format!("summary RUN --loss {loss} --json")));
        assert_eq!(one["loss"], loss);
    }
    assert!(
        number(&s["expected_loss"])
            <= number(&json(folder.armix("summary RUN --loss map --json"))["expected_loss"])
    );
    let text = succeed(folder.armix("summary RUN --truth truth.txt")).stdout;
    for word in ["Converged", "certainty", "density", "ball", "truth", "ARI"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    for (line, word) in [
        ("summary RUN --loss x", "vi, binder, ari or map"),
        ("summary RUN --level 2", "--level"),
        ("summary RUN --truth nowhere.txt", "nowhere.txt"),
        ("summary nowhere", "no run in this folder"),
        ("diagnose RUN --burn-in 150%", "burn-in"),
        ("report RUN --data nowhere.edges", "nowhere.edges"),
    ] {
        let message = refuse(folder.armix(line));
        assert!(message.contains(word), "{line}: {message}");
    }
}

#[test]
fn a_table_has_features_and_missing_cells_are_predicted() {
    let mut text = String::from("name,a,b,c,d\n");
    for row in 0..40 {
        let one = |column: usize| u8::from((row < 20) == (column < 2));
        let cell = |column: usize| match (row, column) {
            (3, 1) | (30, 0) => String::new(),
            _ => one(column).to_string(),
        };
        text += &format!("r{row},{},{},{},{}\n", cell(0), cell(1), cell(2), cell(3));
    }
    let folder =
        Folder::new().and("t.csv", &text).and("new.csv", "name,a,b,c,d\nx,1,1,0,0\ny,0,,1,1\n");
    let said =
        succeed(folder.armix("fit t.csv --iterations 300 --chains 2 --ensembles 2 --out RUN"));
    assert!(said.stderr.contains("2 cells are missing and integrated out"), "{}", said.stderr);
    assert!(said.stderr.contains("report: "), "{}", said.stderr);
    let s = json(folder.armix("summary RUN --json"));
    let features = s["blocks"]["features"].as_array().unwrap();
    assert_eq!(features[0].as_array().unwrap().len(), 4);
    let p = json(folder.armix("predict RUN --json"));
    let entries = p["entries"].as_array().unwrap();
    assert_eq!((&entries[0]["row"], &entries[0]["column"]), (&"r3".into(), &"b".into()));
    assert!(number(&entries[0]["probability"]) > 0.9);
    assert_eq!((&entries[1]["row"], &entries[1]["column"]), (&"r30".into(), &"a".into()));
    assert!(number(&entries[1]["probability"]) < 0.1);
    assert!(p["score"].is_null(), "nothing was held out");
    // New rows belong to the blocks of rows that are like them.
    let a = json(folder.armix("predict RUN --new new.csv --json"));
    assert_eq!(a["items"], serde_json::json!(["x", "y"]));
    let block = |row: usize| a["estimate"][row].as_u64().unwrap() as usize;
    let probability = |item: usize, block: usize| number(&a["assignments"][item]["blocks"][block]);
    assert!(probability(0, block(0)) > 0.9 && probability(1, block(39)) > 0.9, "{a}");
    let csv = succeed(folder.armix("predict RUN --new new.csv")).stdout;
    assert!(csv.starts_with("item,block_1,block_2,new\nx,"), "{csv}");
}

#[test]
fn held_out_links_are_predicted_and_scored() {
    let folder = Folder::new();
    let fit = "fit planted:3,20,0.8,0.05 --hold-out 0.1 --iterations 200 --chains 2 --ensembles 2 --quiet --json";
    let summary = json(folder.armix(&format!("{fit} --out RUN")));
    let score = &summary["held_out"];
    assert!(number(&score["auc"]) > 0.8, "{score}");
    assert!(number(&score["log_score"]) > number(&score["log_score_of_base_rate"]));
    let p = json(folder.armix("predict RUN --json"));
    assert_eq!(p["score"], *score);
    assert_eq!(p["entries"].as_array().unwrap().len() as f64, number(&score["entries"]));
    // The same seed holds out the same pairs, another seed others; and the run resumes.
    let other = json(folder.armix(&format!("{fit} --hold-out-seed 2 --no-save")));
    assert_ne!(other["held_out"], *score);
    succeed(folder.armix("resume RUN --iterations +20 --quiet"));
    let csv = succeed(folder.armix("predict RUN")).stdout;
    assert!(csv.starts_with("vertex_1,vertex_2,probability,actual\n"), "{csv}");
    fs::write(folder.path().join("new.edges"), "stranger 0\nstranger 1\nstranger 2\nstranger 3\nstranger 4\nstranger 5\nstranger 6\nstranger 7\nstranger 8\n").unwrap();
    let a = json(folder.armix("predict RUN --new new.edges --json"));
    let block = a["estimate"][0].as_u64().unwrap() as usize;
    assert!(number(&a["assignments"][0]["blocks"][block]) > 0.9, "{a}");
    for wrong in ["0", "1", "-0.5", "x"] {
        refuse(folder.armix(&format!("fit karate --quiet --no-save --hold-out {wrong}")));
    }
    succeed(folder.armix("fit karate --quiet --iterations 5 --out PLAIN"));
    assert!(refuse(folder.armix("predict PLAIN")).contains("--hold-out"));
    assert!(refuse(folder.armix("predict PLAIN --new RUN/run.json")).contains("armix: "));
}

#[test]
fn draws_of_other_programs_are_diagnosed_and_summarised() {
    let folder = Folder::new();
    for chain in 0..3 {
        let draw = |d: usize| {
            if (d * 7 + chain).is_multiple_of(5) { "1 1 2 2 3 3\n" } else { "1 1 1 2 2 2\n" }
        };
        let text: String = (0..150).map(draw).collect();
        fs::write(folder.path().join(format!("c{chain}.txt")), text).unwrap();
    }
    let d = json(folder.armix("diagnose c0.txt c1.txt c2.txt --json"));
    assert_eq!((&d["verdict"], number(&d["ensembles"])), (&"converged".into(), 3.0));
    assert!(d["quantities"].get("log_joint").is_none());
    let s = json(folder.armix("summary c0.txt c1.txt c2.txt --json"));
    assert_eq!(s["labels"], serde_json::json!([0, 0, 0, 1, 1, 1]));
    assert!(s["map"].is_null() && s["blocks"].is_null());
    succeed(folder.armix("report c0.txt c1.txt c2.txt -o report.html"));
    assert!(refuse(folder.armix("report c0.txt c1.txt")).contains("-o"));
    assert!(refuse(folder.armix("summary c0.txt --loss map")).contains("--loss vi"));
    assert!(refuse(folder.armix("predict c0.txt")).contains("c0.txt"));
    fs::write(folder.path().join("short.txt"), "1 1 2 2 3 3\n").unwrap();
    assert!(refuse(folder.armix("diagnose c0.txt short.txt")).contains("equal shape"));
    fs::write(folder.path().join("bad.txt"), "1 1 2\n1 1\n").unwrap();
    assert!(refuse(folder.armix("diagnose bad.txt")).contains("bad.txt:2"));
    // What armix exports, it reads.
    let run = karate("--iterations 120");
    succeed(run.armix("export RUN draws -o draws.csv"));
    succeed(run.armix("export RUN draws -o draws.npy"));
    let own = json(run.armix("diagnose RUN --json"));
    for file in ["draws.csv", "draws.npy"] {
        let foreign = json(run.armix(&format!("diagnose {file} --json")));
        for name in ["blocks", "co_assignment_mean"] {
            assert_eq!(foreign["quantities"][name], own["quantities"][name], "{file} {name}");
        }
    }
}

#[test]
fn similarities_whole_or_sparse() {
    let folder = karate("--iterations 100");
    let whole = succeed(folder.armix("export RUN similarity")).stdout;
    let matrix: Vec<Vec<f64>> = (whole.lines().skip(1))
        .map(|line| line.split(',').skip(1).map(|v| v.parse().unwrap()).collect())
        .collect();
    let sparse = succeed(folder.armix("export RUN similarity --threshold 0.5")).stdout;
    let mut lines = sparse.lines();
    assert_eq!(lines.next(), Some("item_1,item_2,probability"));
    let mut count = 0;
    for line in lines {
        let fields: Vec<f64> = line.split(',').map(|v| v.parse().unwrap()).collect();
        assert!((matrix[fields[0] as usize][fields[1] as usize] - fields[2]).abs() < 1e-6);
        count += 1;
    }
    let expected = (0..34).flat_map(|i| (0..i).map(move |j| (i, j)));
    assert_eq!(count, expected.filter(|&(i, j)| matrix[i][j] >= 0.5).count());
    assert!((0..34).all(|i| matrix[i][i] == 1.0));
}

/// Reports and pictures of names that try to be markup.
#[test]
fn reports_and_pictures_are_written() {
    let edges = "<script>alert(1)</script>	x
x	y
y	<script>alert(1)</script>
z	x
";
    let folder = Folder::new().and("g.edges", edges);
    succeed(folder.armix(
        "fit g.edges --alpha 2 --quiet --out RUN --iterations 120 --chains 2 --ensembles 2",
    ));
    let page = fs::read_to_string(folder.path().join("RUN/report.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") || page.starts_with("<!DOCTYPE html>"));
    assert!(!page.contains("<script>alert"), "a name became markup");
    assert!(page.contains("armix fit g.edges --alpha 2 "), "the command is there");
    for what in ["trace", "fractions", "similarity", "adjacency", "acf"] {
        for (ending, head) in [("svg", &b"<"[..]), ("png", b"\x89PNG"), ("pdf", b"%PDF")] {
            let file = format!("{what}.{ending}");
            succeed(folder.armix(&format!("plot RUN {what} -o {file} --width 9 --title T&T")));
            let bytes = fs::read(folder.path().join(&file)).unwrap();
            assert!(bytes.starts_with(head), "{file}");
        }
    }
    assert!(refuse(folder.armix("plot RUN trace -o trace.jpg")).contains(".svg, .png or .pdf"));
    assert!(refuse(folder.armix("plot RUN trace -o t.svg --width -1")).contains("armix: "));
    let quiet = Folder::new();
    succeed(quiet.armix("fit karate --quiet --out RUN --iterations 30 --no-report"));
    assert!(!quiet.path().join("RUN/report.html").exists());
    // Without saved partitions there is still a report, made of the best partition of each chain.
    succeed(quiet.armix("fit karate --quiet --out BARE --iterations 30 --save-partitions none"));
    assert!(quiet.path().join("BARE/report.html").exists());
    assert!(refuse(quiet.armix("summary BARE")).contains("no saved partitions"));
}

/// Thinning that leaves no partition after burn-in: the run is fine, and so is what needs none.
#[test]
fn a_run_without_partitions_after_burn_in() {
    let folder = Folder::new();
    let said = succeed(
        folder.armix("fit karate --hold-out 0.1 --iterations 150 --thin 1000 --quiet --out RUN"),
    );
    assert!(said.stdout.contains("best partition"), "{}", said.stdout);
    assert!(folder.path().join("RUN/report.html").exists());
    for line in
        ["summary RUN", "predict RUN", "plot RUN similarity -o s.svg", "export RUN similarity"]
    {
        let message = refuse(folder.armix(line));
        assert!(
            message.contains("after burn-in") && message.contains("--thin"),
            "{line}: {message}"
        );
    }
    succeed(folder.armix("plot RUN trace -o t.svg"));
    let d = json(folder.armix("diagnose RUN --json"));
    assert!(d["pairs"].is_null() && d["quantities"].get("co_assignment_max").is_none());
}

#[test]
fn files_of_draws_are_matched_by_name() {
    let lines = |head: &str, row: &str| format!("{head}\n{}", format!("{row}\n").repeat(120));
    let folder = Folder::new()
        .and("a.csv", lines("x,y,z", "1,1,2"))
        .and("b.csv", lines("z,y,x", "2,1,1"))
        .and("c.csv", lines("x,y,w", "1,1,2"));
    let s = json(folder.armix("summary a.csv b.csv --json"));
    assert_eq!((&s["labels"], number(&s["expected_loss"])), (&serde_json::json!([0, 0, 1]), 0.0));
    let message = refuse(folder.armix("diagnose a.csv c.csv"));
    assert!(message.contains("c.csv") && message.contains("same items"), "{message}");
}

#[test]
fn labels_that_armix_writes_are_labels_that_it_reads() {
    let folder = karate("--iterations 120");
    let s = json(folder.armix("summary RUN --labels groups.csv --json"));
    let again = json(folder.armix("summary RUN --truth groups.csv --json"));
    assert_eq!(number(&again["truth"]["ari"]), 1.0);
    succeed(folder.armix("export RUN labels -o best.csv"));
    let best = json(folder.armix("summary RUN --loss map --truth best.csv --json"));
    assert_eq!(number(&best["truth"]["vi"]), 0.0);
    assert_eq!(s["labels"], again["labels"]);
}

/// What is written takes nobody's place.
#[cfg(unix)]
#[test]
fn other_files_and_links_are_left_alone() {
    let folder = karate("--iterations 20").and("out.tmp", "precious").and("target.csv", "old");
    let path = |name: &str| folder.path().join(name);
    std::os::unix::fs::symlink("target.csv", path("link.csv")).unwrap();
    succeed(folder.armix("export RUN labels -o out.csv"));
    succeed(folder.armix("export RUN labels -o link.csv"));
    assert_eq!(fs::read_to_string(path("out.tmp")).unwrap(), "precious");
    assert!(fs::symlink_metadata(path("link.csv")).unwrap().is_symlink());
    assert!(fs::read_to_string(path("target.csv")).unwrap().starts_with("item,label\n"));
    let said = succeed(folder.armix("export RUN labels -o /dev/stdout"));
    assert!(said.stdout.starts_with("item,label\n"), "{}", said.stdout);
    fs::create_dir(path("folder.csv")).unwrap();
    assert!(refuse(folder.armix("export RUN labels -o folder.csv")).contains("folder.csv"));
    let left = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name());
    assert!(!left.into_iter().any(|name| name.to_string_lossy().starts_with('.')), "leftovers");
}

/// All that is said of a run works for columns of any types, and a run that was resumed gives the same bytes.
#[test]
fn a_table_of_any_columns() {
    let mut text = String::from("name,size,eggs,colour,fed\n");
    for row in 0..40 {
        let (late, step) = (row / 20, row * row % 7);
        let size = if row == 5 { String::new() } else { format!("{}", 10 * late + step) + ".5" };
        let colour = ["red", "blue", "green"][if step == 4 { 2 } else { late }];
        let fed = ["no", "yes"][(late + usize::from(step == 1)) % 2];
        text += &format!("r{row},{size},{},{colour},{fed}\n", 8 * late + step % 3);
    }
    let new = "name,size,eggs,colour,fed\nx,2.5,1,red,no\ny,,9,blue,\n";
    let folder = Folder::new().and("t.csv", &text).and("new.csv", new);
    let i = json(folder.armix("inspect t.csv --json"));
    assert_eq!(i["model"], "mixed");
    assert_eq!(i["column_types"][1]["type"], "real");
    assert_eq!(i["column_types"][2]["why"], "whole numbers from 0 on");
    let said = succeed(folder.armix("inspect t.csv --types eggs=categorical")).stdout;
    assert!(said.contains("→ categorical (as --types says)"), "{said}");
    let run = "fit t.csv --iterations 100 --chains 2 --ensembles 2 --hold-out 0.1";
    let said = succeed(folder.armix(&format!("{run} --out RUN")));
    assert!(said.stderr.contains("1 cell is missing and integrated out"), "{}", said.stderr);
    assert!(said.stdout.contains("if all items were in one block"), "{}", said.stdout);
    let s = json(folder.armix("summary RUN --json"));
    let score = &s["held_out"];
    assert!(number(&score["log_score"]) > number(&score["log_score_of_one_block"]), "{score}");
    let features = s["blocks"]["features"][0].as_array().unwrap();
    assert!(features.iter().any(|f| f["column"] == 2 && f["level"].is_string()), "{features:?}");
    succeed(folder.armix("summary RUN"));
    let p = json(folder.armix("predict RUN --json"));
    let entries = p["entries"].as_array().unwrap();
    let of = |column: &str| entries.iter().find(|e| e["column"] == column).unwrap();
    assert!(["red", "blue", "green"].contains(&of("colour")["value"].as_str().unwrap()));
    assert!(number(&of("fed")["probability"]) <= 1.0);
    let csv = succeed(folder.armix("predict RUN")).stdout;
    assert!(csv.starts_with("row,column,value,probability,actual\n"), "{csv}");
    let a = json(folder.armix("predict RUN --new new.csv --json"));
    let block = |row: usize| a["estimate"][row].as_u64().unwrap() as usize;
    let probability = |item: usize, block: usize| number(&a["assignments"][item]["blocks"][block]);
    assert!(probability(0, block(1)) > 0.5 && probability(1, block(39)) > 0.5, "{a}");
    succeed(folder.armix("diagnose RUN"));
    succeed(folder.armix("report RUN"));
    // Half of it, and then the rest.
    succeed(folder.armix(&format!("{} --quiet --out HALF", run.replace("100", "50"))));
    succeed(folder.armix("resume HALF --iterations 100 --quiet"));
    let trace = |run: &str| fs::read(folder.path().join(run).join("trace.csv")).unwrap();
    assert_eq!(trace("RUN"), trace("HALF"));
    // Other models of the same table.
    for model in ["niw", "gaussian", "poisson", "categorical"] {
        let line =
            format!("fit reals.csv --model {model} -n 20 --chains 2 --ensembles 2 --quiet --json");
        let folder = Folder::with("reals.csv", "a,b\n1,2\n2,3\n1,2\n8,9\n9,9\n8,7\n");
        assert_eq!(json(folder.armix(&line))["model"], model);
    }
}

#[test]
fn new_rows_may_lack_names_and_columns() {
    let row = |r: usize| if r < 15 { "yes,yes,no,no" } else { "no,no,yes,yes" };
    let rows: String = (0..30).map(|r| format!("r{r},{}\n", row(r))).collect();
    let folder = Folder::new()
        .and("t.csv", format!("name,a,b,c,d\n{rows}"))
        .and("one.csv", "a,b,c,d\nyes,yes,no,no\n")
        .and("some.csv", "name,d,a\nx,yes,no\n,no,yes\n")
        .and("none.csv", "e,f\nyes,no\nno,no\n");
    succeed(folder.armix("fit t.csv --iterations 200 --chains 2 --ensembles 2 --quiet --out RUN"));
    let fits = |file: &str, item: usize, like: usize| {
        let a = json(folder.armix(&format!("predict RUN --new {file} --json")));
        let block = a["estimate"][like].as_u64().unwrap() as usize;
        assert!(number(&a["assignments"][item]["blocks"][block]) > 0.7, "{file}: {a}");
        a["items"][item].as_str().unwrap().to_string()
    };
    assert_eq!(fits("one.csv", 0, 0), "new 1");
    assert_eq!(fits("some.csv", 0, 29), "x");
    assert_eq!(fits("some.csv", 1, 0), "new 2");
    assert!(refuse(folder.armix("predict RUN --new none.csv")).contains("no column of this file"));
    let said = succeed(folder.armix("predict RUN --new some.csv")).stderr;
    assert!(said.contains("the new rows have no columns 'b', 'c'"), "{said}");
}

#[test]
fn new_rows_are_coded_like_those_of_the_run() {
    let row = |r: usize| match r % 3 {
        0 => "1,red,2,0.5",
        1 => "0,blue,0,2.5",
        _ => "1,tan,3,1.25",
    };
    let rows: String = (0..12).map(|r| format!("{}\n", row(r))).collect();
    let folder = Folder::with("t.csv", format!("f,lev,cnt,re\n{rows}"));
    succeed(folder.armix("fit t.csv --iterations 20 --chains 2 --ensembles 2 --quiet --out RUN"));
    let write = |text: &str| fs::write(folder.path().join("new.csv"), text).unwrap();
    // What is wrong is told with its line in this file and its value.
    for (text, says) in [
        (
            "f,lev,cnt,re\n1,red,2,3\n1,green,3,2\n",
            ":3: column 'lev' holds 'green', which is none of the levels in the data of the run (blue, red, tan)",
        ),
        ("f,lev,cnt,re\n1,red,3.5,2\n", ":2: column 'cnt' holds '3.5', which is no count"),
        ("f,lev,cnt,re\n\n2,red,3,2\n", ":3: column 'f' holds '2', which is neither 0 nor 1"),
        ("f,lev,cnt,re\n1,red,3,x\n", ":2: column 're' holds 'x', which is no number"),
        ("f,lev,cnt,re\n1,red,3,1e999\n", ":2: column 're' holds '1e999', which is too large"),
        ("f,lev,cnt,re\n1,red,3,1e16\n", ":2: row 'new 1', column 're': 1e16"),
        (
            "f,lev,cnt,real\n1,red,3,2\n",
            ": there is no column 'real' in the data of the run: rename or remove it; the columns are f, lev, cnt, re",
        ),
        ("f,f,lev\n1,1,red\n", ": column 'f' comes more often"),
    ] {
        write(text);
        let said = refuse(folder.armix("predict RUN --new new.csv"));
        assert!(said.contains(&format!("new.csv{says}")) && !said.contains("--"), "{says}: {said}");
    }
    // A row is placed as it is, whatever stands beside it.
    let first = |text: &str| {
        write(text);
        json(folder.armix("predict RUN --new new.csv --json"))["assignments"][0].clone()
    };
    let alone = first("f,lev,cnt,re\n1,red,2,0.5\n");
    assert_eq!(first("re,cnt,lev,f\n0.5,2,red,1\n,0,,\n"), alone);
    assert_eq!(first(",f,lev,cnt,re\n0,1,red,2,0.5\n1,0,blue,0,0.5\n"), alone, "rows are numbered");
    assert_eq!(first("f;lev;cnt;re\n1;red;2;0,5\n0;blue;1;2,5\n"), alone, "decimal commas");
    // Columns without names must be as many.
    let folder = Folder::with("t.csv", "1,0,1\n0,1,1\n1,0,0\n0,1,0\n").and("new.csv", "1,0\n0,0\n");
    succeed(folder.armix("fit t.csv --iterations 20 --chains 2 --ensembles 2 --quiet --out RUN"));
    let said = refuse(folder.armix("predict RUN --new new.csv"));
    assert!(said.contains("2 columns without names, the data of the run have 3"), "{said}");
}

/// Weights of new links are added up over both directions before the threshold, as in `fit`.
#[test]
fn weights_of_new_links_are_added_up() {
    let folder = Folder::new();
    succeed(folder.armix("generate planted:2,15,0.9,0.05 g.edges"));
    let text = fs::read_to_string(folder.path().join("g.edges")).unwrap();
    let heavy: String = (text.lines().filter(|l| !l.starts_with('#')))
        .map(|line| format!("{}\t2\n", line.split_whitespace().collect::<Vec<_>>().join("\t")))
        .collect();
    let links = |line: &dyn Fn(usize) -> String| (0..10).map(line).collect::<String>();
    let folder = folder
        .and("w.wedges", heavy)
        .and("both.edges", links(&|v| format!("N\t{v}\t1\n{v}\tN\t1\n")))
        .and("once.edges", links(&|v| format!("N\t{v}\t2\n")));
    succeed(folder.armix(
        "fit w.wedges --threshold 1 --iterations 150 --chains 2 --ensembles 2 --quiet --out RUN",
    ));
    let both = json(folder.armix("predict RUN --new both.edges --json"));
    let once = json(folder.armix("predict RUN --new once.edges --json"));
    assert_eq!(both["assignments"], once["assignments"]);
}
