//! What goes in: edge lists, tables, label files and options, and the messages about bad ones.

use crate::common::{
    Folder, SHORT, STAY, armix, fit, json, number, numbers, refuse, refuse_all, succeed, unwrapped,
};
use serde_json::Value;

/// The exact posterior of data in a file: it tells whether the file was read as it should.
fn posterior(name: &str, content: &str, options: &str) -> Value {
    let folder = Folder::with(name, content);
    json(folder.armix(&format!("exact {name} --json {options}")))
}

/// The number of items that a file has.
fn items(name: &str, content: &str) -> usize {
    numbers(&posterior(name, content, "")[0]["labels"]).len()
}

/// The items' names in the summary of a fit, each of them alone in a block.
fn names(name: &str, content: &str) -> Vec<String> {
    let folder = Folder::with(name, content);
    let text = succeed(folder.armix(&format!("fit {name} {STAY} --start singletons"))).stdout;
    let (_, blocks) = text.split_once("best partition: ").expect("blocks");
    (blocks.lines().skip(1))
        .map(|line| line.split_once("(1)").expect("a block of one").1.trim().into())
        .collect()
}

/// What a fit of a file says on standard error.
fn notes(name: &str, content: &str) -> String {
    let folder = Folder::with(name, content);
    succeed(folder.armix(&format!("fit {name} -n 2 --ensembles 2 --chains 2"))).stderr
}

/// A file that must be refused, with the place and some text of the message.
#[track_caller]
fn refuse_file(name: &str, content: impl AsRef<[u8]>, place: &str, text: &str) {
    refuse_file_with("", name, content, place, text);
}

#[track_caller]
fn refuse_file_with(options: &str, name: &str, content: impl AsRef<[u8]>, place: &str, text: &str) {
    let folder = Folder::with(name, content);
    for command in ["fit --quiet", "exact"] {
        let message = refuse(folder.armix(&format!("{command} {options} {name}")));
        let start = format!("armix: {name}{place}: ");
        assert!(message.starts_with(&start), "{start}… but {message}");
        assert!(message.contains(text), "'{text}' is not in {message}");
    }
}

const FOUR_VERTEX: &str = "0 1\n0 2\n0 3\n2 3\n";
const TABLE: &str = "1,1,0\n1,1,0\n0,0,1\n0,1,1\n";

#[test]
fn an_edge_list_gives_the_same_posterior_as_the_same_built_in_network() {
    let built_in = json(armix("exact four-vertex --json"));
    assert_eq!(posterior("g.edges", FOUR_VERTEX, ""), built_in);
}

#[test]
fn edge_lists_may_be_written_in_many_ways() {
    let plain = posterior("g.edges", FOUR_VERTEX, "");
    for (what, text) in [
        ("a header", "# nodes 4\n0 1\n0 2\n0 3\n2 3\n"),
        ("a longer header", "# Nodes: 4 Edges: 4\n0 1\n0 2\n0 3\n2 3\n"),
        ("a header after the edges", "0 1\n0 2\n0 3\n2 3\n% nodes=4\n"),
        ("vertices from 1", "# nodes 4\n1 2\n1 3\n1 4\n3 4\n"),
        ("gaps without a header", "5 7\n5 11\n5 900\n11 900\n"),
        ("commas", "0,1\n0, 2\n0 ,3\n2,3\n"),
        ("tabs and many blanks", "0\t1\n0   2\n  0 3  \n2\t 3\n"),
        ("comments", "# a\n% b\n0 1\n  # c\n0 2\n%d\n0 3\n#\n2 3\n"),
        ("blank lines", "\n0 1\n\n0 2\n   \n0 3\n2 3\n\n\n"),
        ("line ends of Windows", "# nodes 4\r\n0 1\r\n0 2\r\n\r\n0 3\r\n2 3\r\n"),
        ("a byte order mark", "\u{feff}0 1\n0 2\n0 3\n2 3\n"),
        ("no last line end", "0 1\n0 2\n0 3\n2 3"),
        ("edges turned round", "3 2\n1 0\n3 0\n2 0\n"),
        ("self-loops", "0 1\n0 0\n0 2\n0 3\n3 3\n2 3\n"),
        ("repeated edges", "0 1\n1 0\n0 2\n0 3\n2 3\n2 3\n"),
    ] {
        assert_eq!(posterior("g.edges", text, ""), plain, "{what}");
    }
}

#[test]
fn a_comma_separated_edge_list_may_be_called_csv_if_the_model_is_named() {
    let text = "0,1\n0,2\n0,3\n2,3\n";
    let named = posterior("g.csv", text, "--model irm");
    assert_eq!(named, posterior("g.edges", FOUR_VERTEX, ""));
}

#[test]
fn isolated_vertices_count_if_there_is_a_header() {
    assert_eq!(items("g.edges", "# nodes 7\n0 1\n1 4\n"), 7);
    assert_eq!(items("g.edges", "0 1\n1 4\n"), 3);
    let said = notes("g.edges", "# nodes 7\n0 1\n1 4\n");
    assert!(said.contains("7 vertices and 2 edges"), "{said}");
    assert!(said.contains("4 vertices have no edge"), "{said}");
}

#[test]
fn vertices_are_named_as_in_the_file() {
    assert_eq!(names("g.edges", "7 30\n30 5\n"), ["5", "7", "30"]);
    assert_eq!(names("g.edges", "# nodes 4\n0 1\n"), ["0", "1", "2", "3"]);
    assert_eq!(names("g.edges", "# nodes 4\n4 1\n"), ["1", "2", "3", "4"]);
    assert_eq!(names("g.edges", "# nodes 4\n1 2\n"), ["0", "1", "2", "3"]);
}

#[test]
fn dropped_loops_and_duplicates_are_noted() {
    let said = notes("g.edges", "0 1\n1 1\n1 0\n0 1\n2 2\n3 3\n1 2\n");
    assert!(said.contains("4 vertices and 2 edges"), "{said}");
    assert!(said.contains("3 self-loops were dropped"), "{said}");
    assert!(said.contains("2 repeated edges were counted once"), "{said}");
    let clean = notes("g.edges", FOUR_VERTEX);
    assert!(!clean.contains("dropped") && !clean.contains("repeated"), "{clean}");
}

#[test]
fn tables_may_be_written_in_many_ways() {
    let plain = posterior("t.csv", TABLE, "");
    assert_eq!(plain.as_array().map(Vec::len), Some(15));
    for (what, name, text) in [
        ("a header", "t.csv", "x,y,z\n1,1,0\n1,1,0\n0,0,1\n0,1,1\n"),
        ("names", "t.csv", "a,1,1,0\nb,1,1,0\nc,0,0,1\nd,0,1,1\n"),
        ("a header and names", "t.csv", "who,x,y,z\na,1,1,0\nb,1,1,0\nc,0,0,1\nd,0,1,1\n"),
        (
            "quotes",
            "t.csv",
            "who,\"x, y\",y,z\n\"a, b\",\"1\",1,0\n\"b \"\"c\"\"\",1,1,0\nc,0,0,1\nd,0,1,1\n",
        ),
        ("tabs", "t.tsv", "who\tx\ty\tz\na, b\t1\t1\t0\nb\t1\t1\t0\nc\t0\t0\t1\nd\t0\t1\t1\n"),
        ("blanks", "t.csv", "1, 1 ,0\n 1,1,0\n0,0,1 \n0,1,1\n"),
        ("line ends of Windows", "t.csv", "x,y,z\r\n1,1,0\r\n1,1,0\r\n0,0,1\r\n0,1,1\r\n"),
        ("a byte order mark", "t.csv", "\u{feff}1,1,0\n1,1,0\n0,0,1\n0,1,1\n"),
        ("comments and blank lines", "t.csv", "# c\n1,1,0\n\n1,1,0\n0,0,1\n# d\n0,1,1\n\n"),
        ("no last line end", "t.csv", "1,1,0\n1,1,0\n0,0,1\n0,1,1"),
        ("another ending", "t.txt", TABLE),
        ("capitals", "t.CSV", TABLE),
    ] {
        assert_eq!(posterior(name, text, ""), plain, "{what}");
    }
    let two_columns = posterior("t.txt", "1,0\n0,1\n1,1\n", "--model bernoulli");
    assert_eq!(two_columns, posterior("t.csv", "1,0\n0,1\n1,1\n", ""));
}

#[test]
fn a_header_may_have_an_empty_corner() {
    let plain = posterior("t.csv", TABLE, "");
    let text = "\"\",\"x\",\"y\",\"z\"\n\"a\",1,1,0\n\"b\",1,1,0\n\"c\",0,0,1\n\"d\",0,1,1\n";
    assert_eq!(posterior("t.csv", text, ""), plain);
    assert_eq!(names("t.csv", text), ["a", "b", "c", "d"]);
}

#[test]
fn rows_are_named_as_in_the_file() {
    assert_eq!(names("t.csv", "1,0\n0,1\n1,1\n"), ["0", "1", "2"]);
    assert_eq!(names("t.csv", "x,y\n1,0\n0,1\n"), ["0", "1"]);
    assert_eq!(names("t.csv", "who,x\nann,1\nbob,0\n"), ["ann", "bob"]);
    let quoted = "who,x\n\"Smith, Ann\",1\n\"Bob \"\"B\"\" Lee\",0\n";
    assert_eq!(names("t.csv", quoted), ["Smith, Ann", "Bob \"B\" Lee"]);
    assert_eq!(names("t.tsv", "who\tx\nann a\t1\nbob\t0\n"), ["ann a", "bob"]);
}

#[test]
fn names_stand_in_the_best_partition_together_with_their_block() {
    let text = "ann,1,1,0\nbob,0,0,1\ncid,1,1,0\n";
    let folder = Folder::with("t.csv", text).and("start.txt", "a\nb\na\n");
    let said = succeed(folder.armix(&format!("fit t.csv {STAY} --start start.txt")));
    let text = unwrapped(&said.stdout);
    assert!(text.ends_with("1 (2) ann cid 2 (1) bob"), "{text}");
    let women = succeed(armix(&format!("fit southern-women {STAY} --start one")));
    let text = unwrapped(&women.stdout);
    assert!(text.contains("1 (18) Evelyn Jefferson, Laura Mandeville, "), "{text}");
}

/// Where the chains of a fit of the four-vertex network stay.
fn start(option: &str) -> Vec<u64> {
    numbers(&fit(&format!("four-vertex {STAY} --start {option}"))["best_partition"])
}

#[test]
fn chains_begin_where_they_are_told_to() {
    assert_eq!(start("one"), [0, 0, 0, 0]);
    assert_eq!(start("singletons"), [0, 1, 2, 3]);
    assert_eq!(start("uniform:1"), [0, 0, 0, 0]);
    let three = fit(&format!("karate {STAY} --start uniform:3"));
    assert_eq!(three["blocks"]["distribution"]["3"], 1.0);
    let usual = fit(&format!("karate {STAY}"))["best_partition"].clone();
    let drawn = fit(&format!("karate {STAY} --start crp"))["best_partition"].clone();
    assert_eq!(usual, drawn);
    // A draw from the prior has more blocks the larger α is.
    let crowded = fit(&format!("karate {STAY} --start crp --alpha 1000000"));
    assert!(number(&crowded["blocks"]["mean"]) > 30.0);
}

#[test]
fn a_run_from_every_start_goes_on() {
    for option in ["crp", "one", "singletons", "uniform:3"] {
        let s = fit(&format!("karate --ensembles 2 --chains 2 -n 20 -q --start {option}"));
        assert!(number(&s["moves"]["arm"]["accepted"]) > 0.0, "{option}");
    }
}

/// Where the chains stay when they start from a file of labels.
fn start_from(labels: &str) -> Vec<u64> {
    let folder = Folder::with("labels.txt", labels);
    let line = format!("fit four-vertex {STAY} --json --start labels.txt");
    numbers(&json(folder.armix(&line))["best_partition"])
}

#[test]
fn label_files_have_a_label_a_line_or_items_with_labels() {
    for (what, text) in [
        ("words", "red\nblue\nred\ngreen\n"),
        ("numbers", "7\n3\n7\n0\n"),
        ("comments", "# labels\nred\n\nblue\nred\ngreen"),
        ("line ends of Windows", "red\r\nblue\r\nred\r\ngreen\r\n"),
        ("items with tabs", "0\tred\n1\tblue\n2\tred\n3\tgreen\n"),
        ("items in another order", "3\tgreen\n2\tred\n1\tblue\n0\tred\n"),
        ("items with commas", "0,red\n3,green\n1,blue\n2,red\n"),
    ] {
        assert_eq!(start_from(text), [0, 1, 0, 2], "{what}");
    }
}

#[test]
fn label_files_may_use_the_names_of_rows() {
    let folder = Folder::with("t.csv", "ann,1,0\nbob,0,1\ncid,1,1\n")
        .and("labels.tsv", "cid\tx\nann\ty\nbob\tx\n");
    let s = json(folder.armix(&format!("fit t.csv {STAY} --json --start labels.tsv")));
    assert_eq!(numbers(&s["best_partition"]), [0, 1, 1]);
}

#[test]
fn a_name_before_a_tab_may_have_a_comma_in_it() {
    let folder = Folder::with("t.csv", "\"Smith, Ann\",1,0\nBob,0,1\ncid,1,1\n")
        .and("labels.tsv", "cid\tx\nSmith, Ann\ty\nBob\tx\n");
    let s = json(folder.armix(&format!("fit t.csv {STAY} --json --start labels.tsv")));
    assert_eq!(numbers(&s["best_partition"]), [0, 1, 1]);
}

#[track_caller]
fn refuse_labels(labels: &str, place: &str, text: &str) {
    let folder = Folder::with("labels.txt", labels);
    let message = refuse(folder.armix("fit four-vertex --quiet --start labels.txt"));
    let start = format!("armix: labels.txt{place}: ");
    assert!(message.starts_with(&start), "{start}… but {message}");
    assert!(message.contains(text), "'{text}' is not in {message}");
}

#[test]
fn bad_label_files_are_refused() {
    refuse_labels("a\nb\na\n", "", "3 labels for 4 items");
    refuse_labels("a\nb\na\nb\nb\n", "", "5 labels for 4 items");
    refuse_labels("0\ta\n1\ta\n9\tb\n3\tb\n", ":3", "no item '9'");
    refuse_labels("# c\n0\ta\n1\ta\n1\tb\n3\tb\n", ":4", "item '1'");
    refuse_labels("0\ta\n1\ta\n3\tb\n", "", "item '2' has no label");
    refuse_labels("", "", "label");
}

#[test]
fn a_label_file_that_mixes_both_forms_is_refused() {
    refuse_labels("0\ta\n1\ta\n2 b\n3\tb\n", ":3", "");
}

#[test]
fn files_that_cannot_be_read_are_refused() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("data.edges")).expect("a folder");
    for (line, text) in [
        ("fit -q no.edges", "armix: no.edges: there is no such file"),
        ("exact no.edges", "armix: no.edges: there is no such file"),
        ("fit -q sub/no", "armix: sub/no: there is no such file"),
        ("fit -q data.edges", "armix: data.edges: this is a folder"),
        ("exact data.edges", "armix: data.edges: this is a folder"),
        ("fit -q . ", "armix: .: this is a folder"),
        ("fit -q --start no.txt", "armix: --start no.txt: there is no such file"),
        ("fit -q --start data.edges", "armix: data.edges: this is a folder"),
        ("fit -q karat", "no built-in data of this name; built in are karate"),
        ("exact karat", "no built-in data of this name; built in are karate"),
    ] {
        let message = refuse(folder.armix(line));
        assert!(message.contains(text), "armix {line}: {message}");
    }
    refuse_file("g.edges", b"0 1\n1 2\n2 \xff\n", ":3", "not a text file");
    refuse_file("t.csv", b"\xfe1,0\n0,1\n", ":1", "not a text file");
}

#[test]
fn bad_edge_lists_are_refused() {
    let refuse_edges = |text: &str, place: &str, says: &str| {
        refuse_file("g.edges", text, place, says);
    };
    refuse_edges("0 1\n2\n", ":2", "1 column;");
    refuse_edges("0 1\n\n# c\n0 1 2 3\n", ":4", "4 columns;");
    refuse_edges("0 1\n-1 2\n", ":2", "-1 is negative");
    refuse_edges("0 1\r\n2 -3\r\n", ":2", "-3 is negative");
    refuse_edges("0 1 0.5\n1 2\n", ":2", "weight");
    refuse_edges("0 1 heavy\n", ":1", "heavy");
    refuse_edges("# nodes 3\n0 1\n1 7\n0 2\n", ":3", "vertex 7 does not exist");
    refuse_edges("# nodes 3\n0 1\n1 3\n0 2\n", ":3", "vertex 3 does not exist");
    refuse_edges("# nodes 1000000000000\n0 1\n", ":1", "1000000000000");
    refuse_edges("# nodes 1\n0 0\n", "", "only one of the vertices");
    refuse_edges("", "", "no edges");
    refuse_edges("\n  \n", "", "no edges");
    refuse_edges("# nothing\n% at all\n", "", "no edges");
    refuse_edges("# nodes 5\n", "", "no edges");
    refuse_edges("0 0\n1 1\n", "", "self-loops only");
}

#[test]
fn a_header_with_an_impossible_number_of_vertices_is_refused() {
    let many = "99999999999999999999999999";
    refuse_file("g.edges", format!("# nodes {many}\n0 1\n"), ":1", many);
    refuse_file("g.edges", "# a\n# nodes -5\n0 1\n", ":2", "-5");
}

#[test]
fn bad_tables_are_refused() {
    let refuse_table = |text: &str, place: &str, says: &str| {
        refuse_file("t.csv", text, place, says);
    };
    refuse_table("1,0,1\n", "", "only one of the rows");
    refuse_table("x,y,z\n1,0,1\n", "", "only one of the rows");
    refuse_table("x,y,z\n", "", "header but no rows");
    refuse_table("", "", "empty");
    refuse_table("# nothing\n", "", "empty");
    refuse_table("1,0,1\n1,0\n", ":2", "2 columns");
    refuse_table("1,0\n1,0\n0,1,1\n", ":3", "3 columns");
    let refuse_binary = |text: &str, place: &str, says: &str| {
        refuse_file_with("--model bernoulli", "t.csv", text, place, says);
    };
    refuse_binary("x,y\n1,0\n0,2\n", ":3", "column 'y' holds '2'");
    refuse_binary("1,0,1,0\n2,1,0,0\n3,1,0,0\n", ":2", "holds '2'");
    refuse_table("who,x,y\nann,1,0\nbob,no,1\n", ":3", "column 'x' holds 'no'");
    refuse_table("x,y\n,0\n,1\n", "", "column 'x' has no values at all");
    refuse_binary("1,0\n0.5,1\n", ":2", "0.5");
    let tabs = "x\ty\n1\t0\n0\t3\n";
    refuse_file_with("--model bernoulli", "t.tsv", tabs, ":3", "column 'y' holds '3'");
    refuse_file_with(
        "--model poisson",
        "t.csv",
        "x,y\n1,0\n0,0.5\n",
        ":3",
        "column 'y' holds '0.5'",
    );
    refuse_file_with("--model gaussian", "t.csv", "x,y\n1,0\n0,a\n", ":3", "column 'y' holds 'a'");
    refuse_file_with("--types y=count", "t.csv", "x,y\n1,0\n0,-1\n", ":3", "column 'y' holds '-1'");
    refuse_file_with("--types z=count", "t.csv", "x,y\n1,0\n0,1\n", "", "no column 'z'");
    refuse_table("x,y\n1,aa\n0,bb\n0,cc\n", "", "column 'y' holds words like 'aa'");
}

#[test]
fn lines_of_a_table_are_counted_as_an_editor_counts_them() {
    refuse_file_with("--model bernoulli", "t.csv", "1,0,1,0\r\n0,2,3,1\r\n", ":2", "holds '2'");
    refuse_file_with("--model bernoulli", "t.csv", "1,0,1,0\n\n\n0,2,3,1\n", ":4", "holds '2'");
    refuse_file_with("--model bernoulli", "t.csv", "1,0,1,0\n# c\n0,2,3,1\n", ":3", "holds '2'");
    refuse_file("t.csv", "x,y\r\n1,0\r\n0\r\n", ":3", "1 column");
    let text = "\"two\nlines\",1,0\nb,0,1\nc,0,3\n";
    refuse_file_with("--model bernoulli", "t.csv", text, ":4", "column '3'");
}

#[test]
fn impossible_priors_are_refused() {
    refuse_all(&[
        ("fit -q --alpha 0", "alpha"),
        ("fit -q --alpha -1", "alpha"),
        ("fit -q --prior nope", "--prior"),
        ("fit -q --prior pitman-yor --discount 1", "discount"),
        ("fit -q --discount 0.5", "belongs to --prior pitman-yor"),
        ("fit -q --prior pitman-yor --gamma 2", "belongs to --prior mfm"),
        ("fit -q --components poisson:1", "belongs to --prior mfm"),
        ("fit -q --prior mfm --gamma 0", "gamma"),
        ("fit -q --prior mfm --components poisson:-1", "components"),
        ("exact four-vertex --gamma 2", "belongs to --prior mfm"),
        ("fit -q --alpha nan", "alpha"),
        ("fit -q --alpha inf", "alpha"),
        ("fit -q --alpha x", "--alpha"),
        ("fit -q --beta 0,1", "beta⁺"),
        ("fit -q --beta 1,0", "beta⁻"),
        ("fit -q --beta -1,1", "beta⁺"),
        ("fit -q --beta nan,1", "beta⁺"),
        ("fit -q --beta 1,inf", "beta⁻"),
        ("fit -q --beta 1", "--beta"),
        ("fit -q --beta 1,1,1", "--beta"),
        ("fit -q --beta a,b", "--beta"),
        ("fit -q southern-women --beta 0,1", "beta⁺"),
        ("exact four-vertex --alpha 0", "alpha"),
        ("exact four-vertex --beta 0,1", "beta⁺"),
    ]);
}

#[test]
fn impossible_schedules_are_refused() {
    refuse_all(&[
        ("fit -q --moves nope", "no move 'nope'; the moves are gibbs, "),
        ("fit -q --moves arm,Gibbs", "no move 'Gibbs'"),
        ("fit -q --moves arm,,gibbs", "a move is missing"),
        ("fit -q --moves arm,", "a move is missing"),
        ("fit -q --moves *3", "a move is missing"),
        ("fit -q --moves arm*0", "arm*0"),
        ("fit -q --moves arm*x", "arm*x"),
        ("fit -q --moves arm*-1", "arm*-1"),
        ("fit -q --moves (arm,gibbs*4", "a ) is missing"),
        ("fit -q --moves (arm,gibbs)*0", "a number from 1 to 65535"),
        ("fit -q --moves (arm),gibbs", "behind ) can only stand how often"),
        ("fit -q --moves gibbs,(arm)*2", "around the whole list"),
    ]);
}

#[test]
fn impossible_sizes_of_a_run_are_refused() {
    refuse_all(&[
        ("fit -q --chains 0", "chains must be at least 1"),
        ("fit -q --ensembles 0", "ensembles must be at least 1"),
        ("fit -q --iterations 0", "iterations must be at least 1"),
        ("fit -q --chains -1", "-1"),
        ("fit -q --iterations 1.5", "--iterations"),
        ("fit -q --seed x", "--seed"),
        ("fit -q --threads x", "--threads"),
        ("fit -q --history-memory x", "--history-memory"),
        ("fit -q --history-memory 1.5G", "--history-memory"),
        ("fit -q --history-memory 1Q", "--history-memory"),
        ("fit -q --history-memory G", "--history-memory"),
        ("fit -q --history-memory 99999999999T", "too large"),
        ("fit -q --nope", "--nope"),
        ("nope", "nope"),
    ]);
}

#[test]
fn sizes_beyond_all_numbers_are_refused() {
    for (option, text) in [
        ("--ensembles", "ensembles"),
        ("--chains", "chains"),
        ("--iterations", "iterations"),
        ("--warmup", "warm"),
    ] {
        refuse_all(&[(&format!("fit -q {option} {}", u64::MAX), text)]);
    }
}

#[test]
fn models_that_do_not_exist_or_fit_are_refused() {
    refuse_all(&[
        ("fit -q --model nope", "no model 'nope'; the models are "),
        ("exact four-vertex --model nope", "no model 'nope'"),
        ("fit -q karate --model bernoulli", "model bernoulli is not for networks"),
        ("fit -q southern-women --model irm", "model irm is not for tables"),
        ("exact four-vertex --model bernoulli", "not for networks"),
    ]);
}

#[test]
fn impossible_starts_are_refused() {
    refuse_all(&[
        ("fit -q --start nope", "no start 'nope'; use prior"),
        ("fit -q --start uniform:0", "uniform:0"),
        ("fit -q --start uniform:", "uniform:"),
        ("fit -q --start uniform:x", "uniform:x"),
        ("fit -q --start uniform:-2", "uniform:-2"),
    ]);
}

#[test]
fn impossible_built_in_data_are_refused() {
    refuse_all(&[
        ("fit -q planted:", "four numbers"),
        ("fit -q planted:3,10,0.5", "four numbers"),
        ("fit -q planted:0,10,0.5,0.1", "whole numbers above 0"),
        ("fit -q planted:3,x,0.5,0.1", "whole numbers above 0"),
        ("fit -q planted:3,10,1.5,0.1", "between 0 and 1"),
        ("fit -q planted:3,10,0.5,-0.1", "between 0 and 1"),
        ("fit -q planted:3,10,nan,0.1", "between 0 and 1"),
        ("fit -q planted:99999,99999,0.5,0.1", "more than 2^24"),
        ("fit -q planted:1,1,0.5,0.5", "only one"),
        ("fit -q grid:", "grid:WxH"),
        ("fit -q grid:4", "grid:WxH"),
        ("fit -q grid:0x4", "grid:WxH"),
        ("fit -q grid:axb", "grid:WxH"),
        ("fit -q grid:99999x99999", "grid:WxH"),
        ("fit -q grid:1x1", "only one"),
        ("fit -q nothing:3", "no built-in data of this name"),
    ]);
}

#[test]
fn data_that_are_too_large_to_enumerate_are_refused() {
    refuse_all(&[
        ("exact karate", "34 items have too many partitions"),
        ("exact grid:1x11", "11 items have too many partitions"),
        ("exact", "DATA"),
    ]);
}

#[test]
fn extreme_numbers_are_told() {
    let said = notes("t.csv", "x,y\n1e-3,0.5\n2e-3,1.5\n3e-3,0.25\n1e16,2.5\n");
    assert!(
        said.contains(
            "in column 'x' values such as 1e-3 and 2e-3 cannot be told apart beside 1e16: correct that one, take logarithms, or leave the column out with --columns"
        ) && !said.contains("column 'y'"),
        "{said}"
    );
    // Beside a new row that is absurdly far away, the old ones would lose their digits.
    let folder = Folder::with("t.csv", "x,y\n0.1,0.5\n0.2,1.5\n0.3,0.25\n0.4,2.5\n")
        .and("near.csv", "x,y\n1e6,0.5\n")
        .and("far.csv", "x,y\n0.2,0.5\n1e16,0.5\n");
    succeed(folder.armix(&format!("fit t.csv {SHORT} --out RUN")));
    succeed(folder.armix("predict RUN --new near.csv"));
    let message = refuse(folder.armix("predict RUN --new far.csv"));
    let expected = "row 'new 2', column 'x': 1e16 is 9e16 standard deviations away from the data of the run; correct it";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn headers_may_have_years_in_them() {
    let years = "country,2019,2020,2021\nFrance,1,5,3\nSpain,2,4,4\nItaly,7,1,0\nPeru,8,0,1\n";
    assert_eq!(names("t.csv", years), ["France", "Spain", "Italy", "Peru"]);
    let said = notes("t.csv", years);
    assert!(
        said.contains("the names of the columns, though some are numbers: country, 2019"),
        "{said}"
    );
    let said = notes("t.csv", "2018,2019,2020,2021\n2,1,5,3\n0,2,4,4\n3,7,1,0\n");
    assert!(said.contains("the first line was taken for a row"), "{said}");
    let said = notes("t.csv", TABLE);
    assert!(!said.contains("the first line"), "{said}");
}

#[test]
fn numbers_may_have_decimal_commas() {
    let points = "a,b\n1.5,2.25\n3.5,-1.0\n0.5,1e3\n0.25,7\n";
    let plain = posterior("t.csv", points, "");
    let commas = points.replace(',', ";").replace('.', ",");
    assert_eq!(posterior("t.csv", &commas, ""), plain);
    assert_eq!(posterior("t.tsv", &commas.replace(';', "\t"), ""), plain);
    let quoted = "a,b\n\"1,5\",\"2,25\"\n\"3,5\",\"-1,0\"\n\"0,5\",1e3\n\"0,25\",7\n";
    assert_eq!(posterior("t.csv", quoted, ""), plain);
    let said = notes("t.csv", &commas);
    assert!(
        said.contains("commas in the numbers of 'a', 'b' were read as decimal points"),
        "{said}"
    );
    // Without a header, the commas do not part the cells.
    let (_, below) = commas.split_once('\n').unwrap();
    assert_eq!(posterior("t.csv", below, ""), plain);
    refuse_file("t.csv", "a;b\n1,250;1\n2,500;2\n", ":2", "column 'a' holds '1,250'");
}

#[test]
fn wrong_cells_are_told_and_not_the_header() {
    refuse_file("t.csv", "x\n1\n3\nn.a.\n5\n", ":4", "column 'x' holds 'n.a.'");
    refuse_file("t.csv", "x,y\n1,2\n3,4\n5,N/A\nNULL,3\n", ":5", "column 'x' holds 'NULL'");
    refuse_file("t.csv", "a,b\n?,NA\n?,.\n", "", "column 'a' has no values at all");
    let small = "a,b\n1.5e-200,0.5\n2.25e-200,1\n-1e-200,5\n3e-200,2\n";
    refuse_file("t.csv", small, "", "the numbers of column 'a' are too small");
}

#[test]
fn a_column_that_counts_the_rows_is_no_data() {
    let plain = posterior("t.csv", "a,b\n1,0\n0,1\n1,1\n1,0\n0,0\n", "");
    let counted = ",a,b\n0,1,0\n1,0,1\n2,1,1\n3,1,0\n4,0,0\n";
    assert_eq!(posterior("t.csv", counted, ""), plain);
    assert!(notes("t.csv", counted).contains("which has no title and counts the rows"));
}
