//! What is known beforehand, as a user says it: known groups, items that belong together, a largest number of
//! blocks.

use crate::common::{Folder, json, number, refuse, succeed};
use std::fs;

const SMALL: &str = "--ensembles 2 --chains 2 --seed 5 --quiet";

/// A table in which two rows share a name.
const ANIMALS: &str = "animal,fins,legs\nfrog,0,1\ncarp,1,0\nfrog,0,1\nox,0,1\n";

/// All saved partitions of a run, one line of labels each.
fn draws(folder: &Folder, run: &str) -> Vec<Vec<u32>> {
    let text = succeed(folder.armix(&format!("export {run} draws"))).stdout;
    let labels =
        |line: &str| line.split(',').skip(3).map(|x| x.parse().expect("a label")).collect();
    text.lines().skip(1).map(labels).collect()
}

#[test]
fn every_draw_keeps_to_what_is_known() {
    let folder = Folder::new();
    fs::write(folder.path().join("known.tsv"), "item,label\n0\thi\n1\thi\n33\tofficer\n").unwrap();
    fs::write(folder.path().join("together.txt"), "# friends\n4 5 6\n8,30\n").unwrap();
    let known = "--known known.tsv --together together.txt --max-blocks 3 --start singletons";
    json(folder.armix(&format!("fit karate {SMALL} {known} --iterations 40 --json --out run")));
    let rows = draws(&folder, "run");
    assert_eq!(rows.len(), 160);
    for z in rows {
        assert!(z[0] == z[1] && z[0] != z[33], "{z:?}");
        assert!(z[4] == z[5] && z[5] == z[6] && z[8] == z[30], "{z:?}");
        assert!(z.iter().all(|&label| label < 3), "{z:?}");
    }
    // A run that was stopped goes on under the same constraints, to the same bytes.
    json(folder.armix(&format!("fit karate {SMALL} {known} --iterations 15 --json --out cut")));
    json(folder.armix("resume cut --iterations 40 --quiet --json"));
    let read = |run: &str| fs::read(folder.path().join(run).join("trace.csv")).unwrap();
    assert!(read("run") == read("cut"));
}

#[test]
fn what_cannot_be_is_refused() {
    let folder = Folder::new();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("nobody.tsv", "item\tlabel\n1\ta\n99\ta\n");
    write("nobody.txt", "1 2\n\n3 77 4\n");
    write("apart.tsv", "1\ta\n2\tb\n");
    write("two.tsv", "1\ta\n1\tb\n");
    write("words.tsv", "1\ta\n2\n");
    write("together.txt", "1 2\n");
    write("alone.txt", "1 2\n3\n");
    let cases = [
        ("--known nobody.tsv", "nobody.tsv:3: there is no item '99' in the data"),
        ("--together nobody.txt", "nobody.txt:3: there is no item '77' in the data"),
        ("--known apart.tsv --together together.txt", "are tied together"),
        ("--known apart.tsv --max-blocks 1", "2 groups are known"),
        ("--known two.tsv", "two.tsv:2: item '1' has two groups"),
        ("--known words.tsv", "words.tsv:2: write an item"),
        ("--together alone.txt", "alone.txt:2: write two items"),
        ("--together missing.txt", "missing.txt: cannot be read"),
        ("--max-blocks 0", "at least one block"),
    ];
    for (options, message) in cases {
        let said = refuse(folder.armix(&format!("fit karate {SMALL} {options} --out run")));
        assert!(said.contains(message), "{options}: {said}");
        assert!(!folder.path().join("run").exists(), "{options} left something behind");
    }
    write("sides.txt", "EVELYN\tE1\n");
    write("g.edges", "EVELYN E1\nLAURA E1\nLAURA E2\n");
    let line = format!("fit g.edges --bipartite {SMALL} --together sides.txt --out run");
    let said = refuse(folder.armix(&line));
    assert!(said.contains("'EVELYN' and 'E1' are on two sides"), "{said}");
}

/// Of a network with two sides: how many blocks there are agrees with the partitions that are possible, weighed by enumeration.
#[test]
fn a_largest_number_of_blocks_on_two_sides() {
    let folder = Folder::with("sides.biedges", "# rows 2 cols 3\n0 0\n0 1\n1 1\n1 2\n");
    let said = refuse(folder.armix("fit sides.biedges --max-blocks 1 --out run"));
    assert!(said.contains("at least 2 blocks") && said.contains("raise it"), "{said}");
    let exact = succeed(folder.armix("exact sides.biedges --max-blocks 3 --csv")).stdout;
    // Labels, probability, log joint. Two blocks are those of the sides.
    let two = exact.lines().find(|line| line.starts_with("0,0,1,1,1,")).expect("that partition");
    let two: f64 = two.split(',').nth(5).unwrap().parse().unwrap();
    assert!((two - 16.0 / 51.0).abs() < 1e-9, "{two}");
    for moves in ["gibbs", "arm,gibbs"] {
        // 40 000 draws that are nearly independent: a standard error of about 0.003, so that 0.015 fails by chance once in a million.
        let out = json(folder.armix(&format!(
            "fit sides.biedges --max-blocks 3 --ensembles 4 --chains 2 --iterations 5000 --moves {moves} --seed 2 --no-save --json -q"
        )));
        let found = number(&out["blocks"]["distribution"]["2"]);
        assert!((found - two).abs() < 0.015, "{moves}: {found}, not {two}");
        assert_eq!(out["blocks"]["distribution"].as_object().unwrap().len(), 2, "{moves}");
    }
}

#[test]
fn items_are_found_by_names_that_tell_them_apart() {
    let folder = Folder::with("animals.csv", ANIMALS)
        .and("two.tsv", "ox\tland\nfrog\tland\n")
        .and("two.txt", "carp ox\nox frog\n")
        .and("nobody.tsv", "cow\tland\n")
        .and("mark.tsv", "\u{feff}ox\tland\ncarp\tsea\n")
        .and("mark.txt", "\u{feff}ox,carp\n")
        .and("marked_header.csv", "\u{feff}item,label\nox,land\n");
    for (options, message) in [
        ("--known two.tsv", "two.tsv:2: there are two items 'frog' in the data (numbers 0 and 2"),
        ("--together two.txt", "two.txt:2: there are two items 'frog'"),
        (
            "--known nobody.tsv",
            "nobody.tsv:1: there is no item 'cow' in the data; the items are 'frog', 'carp', 'frog', …",
        ),
    ] {
        let said = refuse(
            folder
                .armix(&format!("fit animals.csv --id-column animal {SMALL} {options} --out run")),
        );
        assert!(said.contains(message), "{options}: {said}");
    }
    for options in ["--known mark.tsv", "--together mark.txt", "--known marked_header.csv"] {
        let fit = format!(
            "fit animals.csv --id-column animal {SMALL} {options} --iterations 4 --no-save"
        );
        succeed(folder.armix(&fit));
    }
}
