//! Networks with directions, weights, two sides, unknown pairs and several relations, from file to answer.

use crate::common::{Folder, armix, json, number, refuse, succeed};

const FEW: &str = "-n 20 --warmup 5 --ensembles 2 --chains 2 --seed 3";

/// Two groups that send counts to each other, one way.
const LETTERS: &str =
    "0 3 4\n0 4 5\n1 3 3\n1 4 6\n2 3 5\n2 4 4\n2 5 3\n0 5 4\n1 5 4\n0 1 1\n3 4 1\n";

#[test]
fn all_commands_work_on_all_kinds() {
    let folder = Folder::with("letters.edges", LETTERS)
        .and("women.biedges", "# rows 3 cols 4\n0 0\n0 1\n1 0\n1 1\n2 2\n2 3\n")
        .and("mask.txt", "0 2\n4 5\n")
        .and("new.edges", "9 3\n9 4\n")
        .and("kinds.edges", "0 3 yes\n1 4 no\n2 5 yes\n0 1 no\n");
    let cases = [
        ("letters.edges", "--directed --weights counts --hold-out 0.2", "irm-poisson"),
        ("letters.edges", "--directed --self-loops --weights ignore", "irm-bernoulli"),
        ("letters.edges", "--weights real --mask mask.txt", "irm-gaussian"),
        ("letters.edges", "--weights real-all --hold-out 0.2", "irm-gaussian"),
        ("kinds.edges", "--weights category --hold-out 0.3", "irm-categorical"),
        ("women.biedges", "--hold-out 0.2", "irm-bernoulli"),
        (
            "letters.edges",
            "--directed --weights counts,category --relation kinds.edges --hold-out 0.2",
            "irm-relations",
        ),
        ("letters.edges", "--model irm-degree-corrected", "irm-degree-corrected"),
        (
            "letters.edges",
            "--directed --weights counts --model irm-degree-corrected --hyper degree_evenness=2",
            "irm-degree-corrected",
        ),
        ("women.biedges", "--model irm-degree-corrected", "irm-degree-corrected"),
    ];
    for (at, (data, options, model)) in cases.into_iter().enumerate() {
        let run = format!("run{at}");
        let what = format!("{data} {options}");
        let inspected = json(folder.armix(&format!("inspect {data} {options} --json")));
        assert_eq!(inspected["model"], model, "{what}");
        assert!(inspected["why"].as_str().is_some_and(|why| !why.is_empty()), "{what}");
        let out = json(folder.armix(&format!("fit {data} {options} {FEW} --json --out {run}")));
        assert_eq!(out["model"]["name"].as_str().or(out["model"].as_str()), Some(model), "{what}");
        succeed(folder.armix(&format!("resume {run} --iterations +5")));
        succeed(folder.armix(&format!("summary {run}")));
        succeed(folder.armix(&format!("diagnose {run}")));
        succeed(folder.armix(&format!("plot {run} adjacency -o picture.svg")));
        if model == "irm-degree-corrected" {
            let message = refuse(folder.armix(&format!("predict {run} --new new.edges")));
            assert!(message.contains("cannot place new vertices"), "{what}: {message}");
        }
        if options.contains("--hold-out") || options.contains("--mask") {
            let text = succeed(folder.armix(&format!("predict {run}"))).stdout;
            assert!(text.contains("vertex_1,vertex_2"), "{what}: {text}");
        }
    }
}

/// Blocks never mix sides, neither in draws nor in estimates.
#[test]
fn blocks_have_one_side() {
    let folder = Folder::new();
    let line = format!("fit southern-women --bipartite {FEW} --start one --out run");
    succeed(folder.armix(&line));
    let labels = succeed(folder.armix("export run labels")).stdout;
    let sides: Vec<&str> = labels.lines().skip(1).collect();
    assert_eq!(sides.len(), 32, "{labels}");
    let exact = Folder::with("g.biedges", "# rows 2 cols 2\n0 0\n1 0\n1 1\n");
    let posterior = json(exact.armix("exact g.biedges --json"));
    let mut total = 0.0;
    for row in posterior.as_array().expect("a list") {
        let z: Vec<u64> = crate::common::numbers(&row["labels"]);
        let mixed = z[..2].iter().any(|row| z[2..].contains(row));
        let p = number(&row["probability"]);
        assert!(!mixed && p > 0.0, "{row}");
        total += p;
    }
    // Two partitions of either side; what mixes them is not listed.
    assert_eq!(posterior.as_array().map(Vec::len), Some(4));
    assert_eq!(succeed(exact.armix("exact g.biedges --csv")).stdout.lines().count(), 5);
    assert!((total - 1.0).abs() < 1e-9);
}

#[test]
fn kinds_of_edges_are_predicted_by_name() {
    let edges = "0 1 yes\n0 2 yes\n1 2 no\n3 4 no\n4 5 yes\n3 5 no\n0 3 yes\n";
    let folder = Folder::with("kinds.edges", edges).and("mask.txt", "0 4\n1 5\n");
    let line = format!("fit kinds.edges --weights category --mask mask.txt {FEW} --out run");
    succeed(folder.armix(&line));
    let text = succeed(folder.armix("predict run")).stdout;
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("vertex_1,vertex_2,value,probability"));
    for line in lines.by_ref() {
        let fields: Vec<&str> = line.split(',').collect();
        assert!(["no link", "yes", "no"].contains(&fields[2]), "{text}");
        let p: f64 = fields[3].parse().expect("a probability");
        assert!(p > 1.0 / 3.0 - 1e-9 && p < 1.0, "{text}");
    }
    assert_eq!(text.lines().count(), 3, "{text}");
    let entries = json(folder.armix("predict run --json"));
    assert!(entries["entries"][0]["value"].is_string(), "{entries}");
}

#[test]
fn new_vertices_that_cannot_be_placed() {
    let folder = Folder::with("g.edges", "ann x\nbob x\nbob y\ncid y\n")
        .and("none.edges", "# nothing\n")
        .and("both.edges", "dan x\ndan bob\n");
    succeed(folder.armix(&format!("fit g.edges --bipartite {FEW} --out run")));
    for (file, said) in [
        ("none.edges", "none.edges: there are no links in this file"),
        ("both.edges", "both.edges:2: 'dan' is linked to 'x' and to 'bob'"),
    ] {
        let message = refuse(folder.armix(&format!("predict run --new {file}")));
        assert!(message.contains(said), "{message}");
    }
}

#[test]
fn what_is_wrong_is_said() {
    let folder = Folder::with("g.edges", "0 1 0.5\n1 2 2\n")
        .and("mask.txt", "0 9\n")
        .and("some.txt", "0 2\n")
        .and("more.edges", "0 1 1\n0 2 1.5\n")
        .and("mask.tsv", "0\t1\n2\tx\n")
        .and("all.txt", "0 1\n1 2\n")
        .and("zero.edges", "0 1 0\n")
        .and("names.tsv", "Ann Lee\tBob\nBob\tMay, Cid\n")
        .and("names.edges", "Ann Lee\tBob\nBob\tMay, Cid\nBob\tDan\n");
    for (line, said) in [
        ("fit g.edges --weights counts", "g.edges:1: '0' and '1': 0.5 is no count"),
        (
            "fit g.edges --weights real,counts --relation more.edges",
            "more.edges:2: '0' and '2': 1.5 is no count",
        ),
        ("fit g.edges --weights much", "counts"),
        ("fit g.edges --mask mask.txt", "mask.txt:1: '9' is no vertex"),
        ("fit g.edges --mask mask.tsv", "mask.tsv:2: 'x' is no vertex"),
        (
            "fit g.edges --mask all.txt",
            "g.edges: all links of this network are among the pairs that were not",
        ),
        (
            "fit g.edges --directed --mask all.txt",
            "g.edges: all links of this network are among the pairs",
        ),
        ("fit g.edges --hold-out 0.999", "hides all links of this network: hold out less"),
        (
            "fit g.edges --directed --weights real --hold-out 0.999",
            "hides all links of this network: hold",
        ),
        ("fit g.edges --relation zero.edges", "zero.edges: no zero are left"),
        ("fit names.edges --mask mask.tsv", "mask.tsv:1: '0' is no vertex"),
        ("fit g.edges --relation none.edges", "none.edges"),
        ("fit g.edges --weights real --threshold 1", "--threshold"),
        ("fit g.edges --model irm-poisson", "no count"),
        ("fit g.edges --weights real --model irm", "irm-gaussian"),
        ("fit g.edges --weights real --model irm-degree-corrected", "not for real numbers"),
        ("fit g.edges --hold-out 0.3 --model irm-degree-corrected", "every pair"),
        ("fit g.edges --mask some.txt --model irm-degree-corrected", "every pair"),
    ] {
        let message = refuse(folder.armix(line));
        assert!(message.contains(said), "{line}: {message}");
    }
    let line = format!("fit names.edges --mask names.tsv {FEW}");
    let notes = succeed(folder.armix(&line)).stderr;
    assert!(notes.contains("2 pairs were not observed") && !notes.contains("repeated"), "{notes}");
    let notes = succeed(folder.armix(&format!("fit g.edges {FEW}"))).stderr;
    assert!(notes.contains("--weights"), "{notes}");
    assert!(succeed(armix("fit --help")).stdout.contains("--bipartite"));
}

/// An option that would do nothing is refused, so that nobody believes that it did.
#[test]
fn options_that_would_do_nothing_are_refused() {
    let folder = Folder::with("plain.edges", "0 1\n0 2\n1 2\n2 3\n")
        .and("table.csv", "a,b\n0,1\n1,0\n1,1\n")
        .and("sides.biedges", "# rows 2 cols 3\n0 0\n0 1\n1 1\n1 2\n")
        .and("others.edges", "x y\ny z\n");
    succeed(folder.armix("convert plain.edges plain.json"));
    let cases = [
        ("plain.json --mask nowhere.txt", "plain.json: leave out --mask"),
        ("plain.json --directed --threshold 2", "leave out --threshold, --directed"),
        ("plain.edges --columns a", "leave out --columns: this is a network"),
        ("plain.edges --weights counts,counts", "2 kinds for a single file"),
        ("plain.edges --relation others.edges", "others.edges: no vertex of this network"),
        ("plain.edges --relation sides.biedges", "has two sides and the first one has not"),
        ("plain.edges --model irm-poisson --beta 2,2", "--beta is the prior of links"),
        ("karate --types a=real", "leave out --types"),
        ("karate --degrees-of-freedom 2", "--model student-t"),
        ("karate --prior mfm --alpha 2", "--alpha belongs to --prior crp or pitman-yor"),
        ("table.csv --threshold 2", "table.csv: leave out --threshold: this is a table"),
        ("bernoulli-1 --relation karate", "leave out --relation: this is a table"),
        ("southern-women --weights counts", "--bipartite makes its rows and columns"),
    ];
    for (line, message) in cases {
        let said = refuse(folder.armix(&format!("fit {line} --no-save -q")));
        assert!(said.contains(message), "{line}: {said}");
    }
    // Options of tables say that a file which could be edges is one.
    let path = folder.and("three.csv", "3,1,2\n1,1,0\n2,0,5\n0,2,1\n");
    let out = json(path.armix("inspect three.csv --columns 2 --json"));
    assert_eq!(out["model"], "poisson");
    // Some vertices that are new are a note.
    let out = path.and("more.edges", "0 3\n2 9\n");
    let out = json(out.armix("inspect plain.edges --relation more.edges --json"));
    assert!(out["notes"].to_string().contains("1 of 4 vertices of the relation more"), "{out}");
}

/// A table as a network of two sides: columns are chosen, known groups are left out, cells can be counts.
#[test]
fn tables_with_two_sides() {
    let folder = Folder::with(
        "animals.csv",
        "name,hair,legs,class\ncat,1,4,m\ndog,1,4,m\nhen,0,2,b\nowl,0,2,b\n",
    );
    let sides = |options: &str| {
        let out = json(folder.armix(&format!("inspect animals.csv --bipartite {options} --json")));
        (number(&out["n"]), out["model"].as_str().unwrap_or_default().to_string())
    };
    assert_eq!(sides(""), (6.0, "irm-bernoulli".into()));
    assert_eq!(sides("--columns legs --weights counts"), (5.0, "irm-poisson".into()));
    assert_eq!(sides("--weights counts"), (6.0, "irm-poisson".into()));
    let said = refuse(folder.armix("fit animals.csv --bipartite --types legs=real"));
    assert!(said.contains("leave out --types"), "{said}");
    let said = refuse(folder.armix("fit animals.csv --bipartite --columns class"));
    assert!(said.contains("animals.csv:2: row 1, column 'class' holds 'm'"), "{said}");
}

/// Real weights whose squares are no numbers are refused.
#[test]
fn weights_of_extreme_size() {
    let folder = Folder::with("large.edges", "0 1 1e300\n1 2 2\n")
        .and("small.edges", "0 1 1e-200\n1 2 2e-200\n2 3 5e-200\n")
        .and("mixed.edges", "0 1 1e-300\n1 2 2\n2 3 5\n");
    let said = refuse(folder.armix("fit large.edges --weights real --no-save -q"));
    assert!(said.contains("large.edges:1: '0' and '1': 1e300 is too large"), "{said}");
    let said = refuse(folder.armix("fit small.edges --weights real-all --no-save -q"));
    assert!(said.contains("multiply all of them"), "{said}");
    succeed(folder.armix("exact mixed.edges --weights real"));
}

/// A run whose mask has changed says that it may be the mask.
#[test]
fn a_changed_mask_is_named() {
    let folder = Folder::with("plain.edges", "0 1\n0 2\n1 2\n2 3\n").and("mask.txt", "0 3\n");
    succeed(folder.armix(&format!("fit plain.edges --mask mask.txt {FEW} -q --out run")));
    let folder = folder.and("mask.txt", "1 3\n");
    let said = refuse(folder.armix("resume run --iterations +5"));
    assert!(said.contains("plain.edges or ") && said.contains("mask.txt has changed"), "{said}");
}
