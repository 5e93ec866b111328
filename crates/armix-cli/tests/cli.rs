//! The command line: help, what `fit` says to people and to programs, and what its options do.

use crate::common::{SHORT, STAY, armix, fit, json, number, numbers, succeed, unwrapped};
use predicates::prelude::*;
use serde_json::Value;

const MOVES: [&str; 9] =
    ["gibbs", "sm", "sams", "bsm", "srm", "sarm", "arm-inner", "arm", "arm-cells"];

/// Built-in data with model, n and the line that describes them.
const BUILT_IN: [(&str, &str, u64, &str); 11] = [
    ("karate", "irm", 34, "a network of 34 vertices and 78 edges"),
    ("southern-women", "bernoulli", 18, "a table of 18 rows and 14 columns"),
    ("four-vertex", "irm", 4, "a network of 4 vertices and 4 edges"),
    ("bernoulli-1", "bernoulli", 100, "a table of 100 rows and 6 columns"),
    ("bernoulli-2", "bernoulli", 100, "a table of 100 rows and 8 columns"),
    ("bernoulli-3", "bernoulli", 100, "a table of 100 rows and 10 columns"),
    ("planted:3,10,0.5,0.05", "irm", 30, "a network of 30 vertices and "),
    ("levels:3,5,4", "categorical", 15, "a table of 15 rows and 4 categorical columns"),
    ("counts:3,5,4", "poisson", 15, "a table of 15 rows and 4 count columns"),
    ("reals:3,5,4", "gaussian", 15, "a table of 15 rows and 4 real columns"),
    ("grid:4x5", "irm", 20, "a network of 20 vertices and 40 edges"),
];

/// Whether a help text explains something: it stands at the beginning of a line, where an option
/// may follow its short form.
fn explains(help: &str, word: &str) -> bool {
    help.lines().any(|line| line.split_whitespace().take(2).any(|w| w == word))
}

#[track_caller]
fn assert_explains(help: &str, words: &[&str]) {
    for word in words {
        assert!(explains(help, word), "{word} is missing:\n{help}");
    }
}

#[test]
fn the_help_names_the_commands_and_gives_examples() {
    let help = succeed(armix("--help")).stdout;
    assert_explains(&help, &["fit", "exact", "verify", "Examples:"]);
    assert!(help.contains("armix fit friends.edges"));
}

#[test]
fn the_help_begins_with_what_the_program_is_for() {
    armix("--help").assert().success().stdout(
        predicate::str::starts_with("Bayesian clustering")
            .or(predicate::str::contains("\nBayesian clustering")),
    );
}

#[test]
fn the_help_of_fit_explains_every_option_move_and_built_in_data() {
    let help = succeed(armix("fit --help")).stdout;
    let options = "--model --moves --ensembles --chains --iterations --warmup --seed --threads \
                   --start --alpha --beta --prior --discount --gamma --components --sample-hyper --quiet --json --freeze-after --history-memory \
                   --launch-scans --data-seed --help --version";
    assert_explains(&help, &options.split_whitespace().collect::<Vec<_>>());
    assert_explains(&help, &MOVES);
    assert_explains(&help, &["karate", "southern-women", "four-vertex"]);
    for text in ["bernoulli-1", "bernoulli-2", "bernoulli-3"] {
        assert!(help.contains(text), "{text}");
    }
    for text in ["planted:K,size,p_in,p_out", "grid:WxH", "uniform:K"] {
        assert!(help.contains(text), "{text}");
    }
    assert!(unwrapped(&help).contains("Examples: armix fit armix fit friends.edges"));
}

#[test]
fn the_help_of_exact_explains_every_option_and_gives_examples() {
    let help = succeed(armix("exact --help")).stdout;
    assert_explains(&help, &["--json", "--csv", "--model", "--alpha", "--beta"]);
    assert_explains(&help, &["--data-seed", "four-vertex"]);
    assert!(unwrapped(&help).contains("Examples: armix exact four-vertex"));
}

#[test]
fn the_help_of_verify_explains_its_option_and_its_columns() {
    let help = succeed(armix("verify --help")).stdout;
    assert_explains(&help, &["--json", "replay", "paths", "balance"]);
    assert_explains(&help, &["invariance"]);
    assert!(unwrapped(&help).contains("Negative controls"));
}

#[test]
fn the_version_is_that_of_the_package() {
    let expected = concat!("armix ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(succeed(armix("--version")).stdout, expected);
}

#[test]
fn without_a_command_the_help_is_on_standard_error() {
    let nothing = armix("").assert().code(2).stdout("");
    nothing.stderr(predicate::str::contains("Usage: armix"));
}

#[test]
fn without_data_the_karate_club_is_fitted() {
    let said = succeed(armix("fit --ensembles 2 --chains 2 --iterations 100 --warmup 4"));
    let summary = unwrapped(&said.stdout);
    for text in [
        "karate, model irm: 2 ensembles × 2 chains × 100 iterations of arm,gibbs",
        "(seed 1)",
        "onverged: ",
        "log joint mean -",
        " ± ",
        "blocks mean ",
        "accept %",
        "best partition: ",
    ] {
        assert!(summary.contains(text), "'{text}' is missing:\n{}", said.stdout);
    }
}

#[test]
fn progress_is_on_standard_error_and_the_summary_on_standard_output() {
    let said = succeed(armix("fit --ensembles 2 --chains 2 --iterations 7 --warmup 4"));
    assert!(said.stderr.contains("a network of 34 vertices"));
    assert!(said.stderr.contains("iteration 7/7, "));
    assert!(said.stderr.contains("ensemble 2: log joint -"));
    assert!(!said.stderr.contains("best partition"));
    assert!(!said.stdout.contains("iteration 7/7"));
    assert!(!said.stdout.contains("ensemble 2"));
    assert!(!said.stdout.contains("a network of"));
}

#[test]
fn quiet_leaves_standard_error_empty() {
    for line in [format!("fit {SHORT}"), format!("fit {SHORT} --json"), "fit -q -n 2".into()] {
        let said = succeed(armix(&line));
        assert_eq!(said.stderr, "", "{line}");
        assert!(!said.stdout.is_empty(), "{line}");
    }
}

#[test]
fn threads_that_have_nothing_to_do_are_named() {
    let fit = |options: &str| {
        succeed(armix(&format!("fit four-vertex -n 3 --ensembles 1 --no-save --json {options}")))
    };
    let said = fit("--chains 2 --threads 3");
    assert!(
        said.stderr.contains("only 2 chains for 3 threads; use --threads 2"),
        "{}",
        said.stderr
    );
    assert_eq!(said.stdout.lines().count(), 1);
    assert!(!fit("--chains 2 --threads 2").stderr.contains("hint"));
    assert_eq!(fit("--chains 2 --threads 3 --quiet").stderr, "");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    assert_eq!(fit("--chains 1").stderr.contains("hint: there is only 1 chain"), cores > 1);
}

/// Where the system tells, people and programs are told how much memory there was at most, and the
/// estimate for a default run is not far from it.
#[test]
fn peak_memory_is_told_and_estimated() {
    let text = succeed(armix(&format!("fit --no-save {SHORT}"))).stdout;
    let summary = fit("karate -q");
    let Some(peak) = summary["peak_memory_bytes"].as_f64() else {
        assert!(!cfg!(target_os = "linux") && summary["peak_memory_bytes"].is_null());
        return;
    };
    assert!(unwrapped(&text).contains(" MiB (seed 1)"), "{text}");
    let estimate = number(&json(armix("inspect karate --json"))["estimate"]["bytes"]);
    let ratio = estimate / peak;
    assert!(0.8 < ratio && ratio < 2.5, "{estimate} bytes were expected, {peak} were taken");
}

#[test]
fn json_does_not_silence_the_progress() {
    let said = succeed(armix("fit four-vertex -n 3 --json"));
    assert!(said.stderr.contains("iteration 3/3"));
    assert_eq!(said.stdout.lines().count(), 1);
}

#[test]
fn the_three_verdicts_have_words_and_reasons() {
    for (arguments, word, name, reason) in [
        ("four-vertex -n 99", "Too short to tell: ", "too-short", "99 iterations"),
        ("four-vertex -n 1000", "Converged: ", "converged", "at most 1.0"),
        (
            // Chains that stay in different places.
            "--moves arm --warmup 0 --chains 1 -n 100",
            "Not converged: ",
            "not-converged",
            "no move changed anything",
        ),
    ] {
        let text = unwrapped(&succeed(armix(&format!("fit -q {arguments}"))).stdout);
        let at = text.find(word).unwrap_or_else(|| panic!("{word} not in {text}"));
        assert!(text[at..].contains(reason), "{text}");
        let summary = fit(&format!("-q {arguments}"));
        assert_eq!(summary["verdict"], name);
        let reasons = summary["reasons"].as_array().expect("a list");
        assert!(reasons.iter().any(|r| r.as_str().expect("text").contains(reason)), "{reasons:?}");
    }
}

#[track_caller]
fn assert_keys(object: &Value, keys: &str) {
    let object = object.as_object().expect("an object");
    let mut expected: Vec<&str> = keys.split_whitespace().collect();
    expected.sort_unstable();
    let mut found: Vec<&str> = object.keys().map(String::as_str).collect();
    found.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn the_json_summary_has_every_key_with_its_type() {
    let s =
        fit("karate --ensembles 3 --chains 2 -n 9 --warmup 4 --seed 5 -q --moves arm*2,sm,gibbs");
    assert_keys(
        &s,
        "model n seed ensembles chains iterations interrupted seconds verdict reasons next moves \
         log_joint blocks normalised_iterations best_partition items peak_memory_bytes",
    );
    assert_eq!(s["model"], "irm");
    for (key, value) in [("n", 34), ("seed", 5), ("ensembles", 3), ("chains", 2), ("iterations", 9)]
    {
        assert_eq!(s[key].as_u64(), Some(value), "{key}");
    }
    assert_eq!(s["interrupted"], Value::Bool(false));
    assert_eq!(s["items"].as_array().map(Vec::len), Some(34));
    assert_eq!(s["items"][33], "33");
    assert!(s["seconds"].is_f64());
    assert_eq!(s["verdict"], "too-short");
    assert!(s["reasons"].as_array().is_some_and(|r| r.len() == 1));
    assert!(s["reasons"][0].is_string());
    assert_keys(&s["moves"], "arm sm gibbs");
    for counter in s["moves"].as_object().expect("an object").values() {
        assert_keys(counter, "proposed accepted accept_rate idle seconds work");
        for key in ["proposed", "accepted", "idle", "work"] {
            assert!(counter[key].is_u64(), "{key} in {counter}");
        }
        assert!(counter["accept_rate"].is_f64() && counter["seconds"].is_f64());
    }
    assert_keys(&s["log_joint"], "mean sd best rhat rhat_sd");
    for value in s["log_joint"].as_object().expect("an object").values() {
        assert!(value.is_f64(), "{value}");
    }
    assert_keys(&s["blocks"], "mean mode distribution");
    assert!(s["blocks"]["mean"].is_f64() && s["blocks"]["mode"].is_u64());
    let effort = s["normalised_iterations"].as_array().expect("a list");
    assert!(effort.len() == 3 && effort.iter().all(Value::is_f64));
    assert_eq!(numbers(&s["best_partition"]).len(), 34);
}

#[test]
fn the_numbers_of_the_summary_agree_with_each_other() {
    let s =
        fit("karate --ensembles 3 --chains 2 -n 20 --warmup 9 -q --moves sm,arm-cells*4,gibbs,sm");
    for (name, repeats) in [("sm", 2), ("arm-cells", 4), ("gibbs", 1)] {
        let m = &s["moves"][name];
        let count = |key: &str| m[key].as_u64().expect("a whole number");
        assert_eq!(count("proposed") + count("idle"), 3 * 2 * 20 * repeats, "{name}");
        assert!(count("accepted") <= count("proposed"), "{name}");
        assert!((0.0..=1.0).contains(&number(&m["accept_rate"])), "{name}");
        assert!(count("work") > 0, "{name}");
    }
    let gibbs = &s["moves"]["gibbs"];
    assert_eq!(gibbs["accept_rate"], 1.0);
    assert_eq!(gibbs["accepted"], gibbs["proposed"]);

    let blocks = s["blocks"]["distribution"].as_object().expect("an object");
    let blocks: Vec<(f64, f64)> =
        (blocks.iter()).map(|(k, p)| (k.parse().expect("a number of blocks"), number(p))).collect();
    let total: f64 = blocks.iter().map(|(_, p)| p).sum();
    let mean: f64 = blocks.iter().map(|(k, p)| k * p).sum();
    assert!((total - 1.0).abs() < 1e-12);
    assert!((mean - number(&s["blocks"]["mean"])).abs() < 1e-12);
    let mode = number(&s["blocks"]["mode"]);
    let highest = blocks.iter().map(|(_, p)| *p).fold(0.0, f64::max);
    assert!(blocks.contains(&(mode, highest)), "{mode} in {blocks:?}");

    assert!(number(&s["log_joint"]["best"]) >= number(&s["log_joint"]["mean"]));
    assert!(number(&s["log_joint"]["sd"]) > 0.0);
    // The schedule takes at least the time of its Gibbs scans.
    let effort = s["normalised_iterations"].as_array().expect("a list");
    assert!(effort.iter().all(|e| number(e) >= 20.0), "{effort:?}");
}

#[test]
fn moves_are_listed_in_the_order_of_the_schedule() {
    let line = format!("fit four-vertex {SHORT} --json --moves sm,gibbs,arm");
    let text = succeed(armix(&line)).stdout;
    let places = ["\"sm\":", "\"gibbs\":", "\"arm\":"].map(|name| text.find(name));
    assert!(places.is_sorted() && places[0].is_some(), "{places:?} {text}");
}

#[test]
fn labels_of_the_best_partition_are_numbered_by_first_appearance() {
    for seed in 1..=5 {
        let s = fit(&format!("{SHORT} --seed {seed} --start singletons"));
        let mut next = 0;
        for label in numbers(&s["best_partition"]) {
            assert!(label <= next, "{s}");
            next = next.max(label + 1);
        }
        assert!(next > 1, "{s}");
    }
}

#[test]
fn the_best_partition_is_that_of_the_best_chain() {
    // Two chains that stay in different places: the better one is (a − b)/2 above the mean, and the
    // standard deviation is (a − b)/√2.
    let s = &fit(&format!("karate {STAY}"))["log_joint"];
    let (mean, sd, best) = (number(&s["mean"]), number(&s["sd"]), number(&s["best"]));
    assert!(sd > 1.0 && (best - mean - sd / 2f64.sqrt()).abs() < 1e-9, "{s}");
}

#[test]
fn without_gibbs_there_are_no_normalised_iterations() {
    let s = fit(&format!("four-vertex {SHORT} --moves sm"));
    assert_eq!(s["normalised_iterations"], serde_json::json!([null, null]));
    let text = succeed(armix(&format!("fit four-vertex {SHORT} --moves sm"))).stdout;
    assert!(!text.contains("normalised iterations"), "{text}");
}

#[test]
fn a_move_that_never_proposed_has_no_acceptance_rate() {
    let s = fit(&format!("karate {STAY}"));
    assert_eq!(s["moves"]["arm"]["proposed"], 0);
    assert_eq!(s["moves"]["arm"]["idle"], 4);
    assert_eq!(s["moves"]["arm"]["accept_rate"], Value::Null);
    let text = succeed(armix(&format!("fit karate {STAY}"))).stdout;
    assert!(text.contains("arm had nothing to do"), "{text}");
}

/// The summary without what depends on the clock.
fn timeless(mut summary: Value) -> Value {
    let object = summary.as_object_mut().expect("an object");
    assert!(object.remove("seconds").is_some());
    assert!(object.remove("normalised_iterations").is_some());
    assert!(object.remove("peak_memory_bytes").is_some());
    for counter in object["moves"].as_object_mut().expect("moves").values_mut() {
        let counter = counter.as_object_mut().expect("a counter");
        assert!(counter.remove("seconds").is_some());
    }
    summary
}

#[test]
fn the_same_seed_gives_the_same_result_on_any_number_of_threads() {
    let run = |options: &str| {
        timeless(fit(&format!(
            "karate --ensembles 2 --chains 3 -n 40 -q --moves arm-cells*2,arm,sm,gibbs {options}"
        )))
    };
    let first = run("--seed 11 --threads 1");
    for threads in ["1", "2", "8"] {
        assert_eq!(run(&format!("--seed 11 --threads {threads}")), first, "{threads} threads");
    }
    assert_eq!(run("--seed 11"), first);
    let mut other = run("--seed 12 --threads 1");
    assert_eq!(other["seed"], 12);
    other["seed"] = 11.into();
    assert_ne!(other, first);
}

#[test]
fn every_built_in_dataset_can_be_fitted() {
    for (name, model, n, about) in BUILT_IN {
        let s = fit(&format!("{name} {SHORT}"));
        assert_eq!(s["model"], model, "{name}");
        assert_eq!(s["n"], n, "{name}");
        assert_eq!(numbers(&s["best_partition"]).len() as u64, n, "{name}");
        let line = format!("fit {name} -n 1 --ensembles 1 --chains 1 --warmup 0");
        let said = succeed(armix(&line));
        assert!(said.stderr.starts_with(&format!("{name}: {about}")), "{}", said.stderr);
        // The model may be named as well.
        assert_eq!(timeless(fit(&format!("{name} {SHORT} --model {model}"))), timeless(s));
    }
}

#[test]
fn the_data_seed_changes_random_data_and_no_others() {
    // All items stay in one block, so that the log joint is a function of the data alone.
    let log_joint = |name: &str, seed: u64| {
        let s = fit(&format!("{name} {STAY} --start one --data-seed {seed}"));
        number(&s["log_joint"]["best"])
    };
    for (name, ..) in BUILT_IN {
        let random = ["bernoulli", "planted", "levels", "counts", "reals"];
        let random = random.iter().any(|r| name.starts_with(r));
        assert_eq!(log_joint(name, 3), log_joint(name, 3), "{name}");
        assert_eq!(log_joint(name, 3) != log_joint(name, 4), random, "{name}");
    }
}

#[test]
fn every_move_runs_on_networks_and_tables() {
    for name in MOVES {
        for data in ["karate", "southern-women", "reals:3,6,2"] {
            let s = fit(&format!("{data} --ensembles 2 --chains 2 -n 30 -q --moves {name},gibbs"));
            let repeats = if name == "gibbs" { 2 } else { 1 };
            let m = &s["moves"][name];
            assert_eq!(number(&m["proposed"]) + number(&m["idle"]), 120.0 * f64::from(repeats));
            assert!(number(&m["accepted"]) > 0.0, "{name} on {data}: {m}");
            assert!(number(&m["work"]) > 0.0, "{name} on {data}: {m}");
        }
    }
}

#[test]
fn a_schedule_of_several_moves_with_repeats_runs() {
    for data in ["karate", "four-vertex"] {
        let s = fit(&format!("{data} {SHORT} --moves arm-cells*5,arm,sm,gibbs"));
        assert_keys(&s["moves"], "arm-cells arm sm gibbs");
        let cells = &s["moves"]["arm-cells"];
        assert_eq!(number(&cells["proposed"]) + number(&cells["idle"]), 120.0);
    }
}

#[test]
fn a_single_chain_learns_from_its_own_past() {
    let s = fit("karate --ensembles 2 --chains 1 -n 50 -q --moves arm,gibbs");
    assert_eq!(s["chains"], 1);
    let arm = &s["moves"]["arm"];
    assert!(number(&arm["proposed"]) > 0.0 && number(&arm["accepted"]) > 0.0);
    assert!(s["log_joint"]["rhat"].is_f64());
}

#[test]
fn with_one_ensemble_there_is_no_rhat() {
    let s = fit("karate --ensembles 1 --chains 3 -n 150 -q");
    assert_eq!(s["log_joint"]["rhat"], Value::Null);
    assert_eq!(s["log_joint"]["rhat_sd"], Value::Null);
    assert_eq!(s["verdict"], "too-short");
    assert_eq!(s["normalised_iterations"].as_array().map(Vec::len), Some(1));
    let text = unwrapped(&succeed(armix("fit --ensembles 1 --chains 3 -n 150 -q")).stdout);
    assert!(text.contains("there is one ensemble, so that there is no R̂"), "{text}");
    assert!(text.contains("no R̂ (one ensemble)"), "{text}");
}

#[test]
fn one_iteration_is_not_called_a_run_that_never_changed() {
    let s = fit("karate --ensembles 2 --chains 2 -n 1 -q");
    assert_eq!(s["log_joint"]["rhat"], Value::Null);
    let text = succeed(armix("fit --ensembles 2 --chains 2 -n 1 -q")).stdout;
    assert!(text.contains("no R̂ ("), "{text}");
    assert!(!text.contains("it never changed"), "{text}");
}

#[test]
fn a_fit_of_a_tiny_network_agrees_with_its_exact_posterior() {
    let rows = json(armix("exact four-vertex --json"));
    let rows = rows.as_array().expect("a list");
    let mut blocks = [0.0; 5];
    for row in rows {
        let count = numbers(&row["labels"]).into_iter().max().expect("labels") + 1;
        blocks[count as usize] += number(&row["probability"]);
    }
    let s = fit("four-vertex --iterations 2000 -q");
    for (k, expected) in blocks.iter().enumerate().skip(1) {
        let found = number(&s["blocks"]["distribution"][k.to_string()]);
        assert!((found - expected).abs() < 0.02, "{k} blocks: {found}, exact {expected}");
    }
    let best = rows.iter().find(|r| r["labels"] == s["best_partition"]);
    let best = best.expect("the best partition is one of all");
    assert!((number(&best["log_joint"]) - number(&s["log_joint"]["best"])).abs() < 1e-9);
    let probabilities = rows.iter().map(|r| number(&r["probability"]));
    assert_eq!(number(&best["probability"]), probabilities.fold(0.0, f64::max));
}

#[test]
fn warm_up_launch_scans_freezing_and_memory_change_the_run() {
    let base = "karate --ensembles 2 --chains 2 -n 60 -q --moves sm,arm,gibbs";
    let run = |option: &str| timeless(fit(&format!("{base} {option}")));
    let plain = run("");
    for (usual, other) in [
        ("--warmup 50", "--warmup 20"),
        ("--launch-scans 5", "--launch-scans 0"),
        ("--freeze-after 60", "--freeze-after 10"),
        ("--history-memory 1G", "--history-memory 2K"),
    ] {
        assert_eq!(run(usual), plain, "{usual}");
        assert_ne!(run(other), plain, "{other}");
    }
    assert_eq!(run("--history-memory 2048"), run("--history-memory 2KiB"));
    assert_eq!(run("--history-memory 1048576"), run("--history-memory 1m"));
}

#[test]
fn a_freeze_that_is_never_reached_changes_nothing() {
    let plain = timeless(fit(&format!("karate {SHORT}")));
    let largest = format!("karate {SHORT} --freeze-after {}", u64::MAX);
    assert_eq!(timeless(fit(&largest)), plain);
}
