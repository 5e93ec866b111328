//! Ladders and runs that go on until they have converged, as a user sees them.

use crate::common::{Folder, fit, json, number, refuse_all, succeed};
use std::fs;

#[test]
fn a_ladder_is_shown_saved_and_resumed() {
    let folder = Folder::new();
    let options = "karate --ensembles 2 --chains 1 --ladder 4:0.3 --warmup 8 --quiet";
    let whole = json(folder.armix(&format!("fit {options} -n 60 --out whole --json")));
    let ladder = &whole["ladder"];
    let b: Vec<f64> = (0..4).map(|k| number(&ladder["coldness"][1][k])).collect();
    assert!(b[0] == 1.0 && b.is_sorted_by(|a, b| a > b) && b[3] >= 0.3, "{b:?}");
    assert!(number(&ladder["hot_work"]) > 0.0 && ladder["log_evidence"].is_null(), "{ladder}");
    succeed(folder.armix(&format!("fit {options} -n 25 --out cut")));
    succeed(folder.armix("resume cut -n 60 -q"));
    let trace = |run: &str| fs::read_to_string(folder.path().join(run).join("trace.csv")).unwrap();
    assert_eq!(trace("cut"), trace("whole"));
    assert_eq!(trace("whole").lines().count(), 1 + 2 * 60, "hot chains are not recorded");
    let shown = succeed(folder.armix("show whole")).stdout;
    assert!(shown.contains("ladder     4 rungs down to inverse temperature 0."), "{shown}");
    let page = fs::read_to_string(folder.path().join("whole/report.html")).unwrap();
    assert!(page.contains("--ladder 4:0.3"), "the command that repeats the run");
    refuse_all(&[
        ("fit karate -q --ladder 0", "the number of rungs"),
        ("fit karate -q --ladder 4:2", "no number from 0 to 1"),
        ("fit karate -q --ladder 1,1", "begin with 1 and fall"),
        ("fit southern-women -q --bipartite --ladder 4:0", "end it above 0"),
        ("fit karate -q --max-blocks 3 --ladder 4:0", "end it above 0"),
        ("fit karate -q --chains 60000 --ladder 4", "too many"),
    ]);
}

#[test]
fn without_options_there_is_a_ladder_if_the_model_allows() {
    let folder = Folder::new();
    let s = json(folder.armix("fit karate -n 20 --warmup 8 --quiet --json --out usual"));
    assert_eq!((&s["ensembles"], &s["chains"]), (&4.into(), &1.into()));
    let rungs = s["ladder"]["coldness"][3].as_array().unwrap().len();
    assert!((6..=32).contains(&rungs), "{rungs}");
    let page = fs::read_to_string(folder.path().join("usual/report.html")).unwrap();
    let command = format!("--moves '(arm:near*2,arm,gibbs)*4' --chains 1 --ladder {rungs}:0.");
    assert!(
        page.contains(&command),
        "the command that repeats the run, whatever will be usual then"
    );
    let s = fit("karate --chains 2 -n 20 --no-save --quiet");
    assert!(s["ladder"].is_null() && s["chains"] == 2, "cold chains, as they were asked for");
    fs::write(folder.path().join("x.csv"), "a,b\n1.5,2\n3.5,1\n0.5,4\n2.5,2.5\n").unwrap();
    let s = json(folder.armix("fit x.csv --model student-t -n 5 --no-save --quiet --json"));
    assert!(s["chains"] == 1 && !s["ladder"].is_null(), "also without closed form");
    fs::write(folder.path().join("y.csv"), "a,b\n1.5,2\n3.5,1\n0.5,\n2.5,2.5\n").unwrap();
    let s = json(folder.armix("fit y.csv --model niw -n 5 --no-save --quiet --json"));
    assert!(s["ladder"].is_null() && s["chains"] == 8, "drawn cells cannot be heated");
}

#[test]
fn a_tuned_schedule_is_shown_saved_and_resumed() {
    let folder = Folder::new();
    let options =
        "karate --ensembles 2 --chains 3 --moves auto:arm:likely,sm,gibbs --warmup 10 --quiet";
    let whole = json(folder.armix(&format!("fit {options} -n 60 --out whole --json")));
    let proposals = whole["proposals"][1].as_array().unwrap();
    assert_eq!((&proposals[0][0], &proposals[1][0]), (&"arm:likely".into(), &"sm".into()));
    let often = number(&proposals[0][1]) + number(&proposals[1][1]);
    assert!((often - often.round()).abs() < 1e-9 && (1.0..=8.0).contains(&often), "{often}");
    for stop in [4, 25] {
        let cut = format!("cut{stop}");
        succeed(folder.armix(&format!("fit {options} -n {stop} --out {cut}")));
        succeed(folder.armix(&format!("resume {cut} -n 60 -q")));
        let trace = |run: &str| fs::read(folder.path().join(run).join("trace.csv")).unwrap();
        assert!(trace(&cut) == trace("whole"), "stopped at {stop}");
    }
    let shown = succeed(folder.armix("show whole")).stdout;
    assert!(shown.contains("as tuned in warm-up"), "{shown}");
    refuse_all(&[
        ("fit karate -q --moves arm:x", "there is no strategy 'x'"),
        ("fit karate -q --moves sm:cells", "leave out :cells"),
        ("fit karate -q --moves auto:", "a move is missing"),
    ]);
}

/// Four vertices have 15 partitions: the exact evidence is the sum of their joint probabilities. 6 standard errors.
#[test]
fn a_ladder_down_to_zero_gives_the_evidence() {
    let s = fit("four-vertex --chains 1 --ladder 5:0 -n 4000 --no-save --quiet");
    let exact = json(crate::common::armix("exact four-vertex --json"));
    let rows = exact.as_array().unwrap();
    let expected = rows.iter().map(|r| number(&r["log_joint"]).exp()).sum::<f64>().ln();
    let (value, error) = (
        number(&s["ladder"]["log_evidence"]["value"]),
        number(&s["ladder"]["log_evidence"]["error"]),
    );
    assert!(error < 0.1 && (value - expected).abs() < 6.0 * error, "{value} ± {error}: {expected}");
}

#[test]
fn runs_go_on_until_they_have_converged() {
    let folder = Folder::new();
    let options = "karate --ensembles 4 --chains 2 -n 25 --seed 3";
    let said = succeed(folder.armix(&format!("fit {options} --until-converged --out run")));
    assert!(said.stderr.contains("not converged after 25 iterations"), "{}", said.stderr);
    let end = said.stderr.lines().find(|line| line.starts_with("converged after"));
    let done = end.unwrap_or_else(|| panic!("{}", said.stderr)).split(' ').nth(2).unwrap();
    let manifest = fs::read_to_string(folder.path().join("run/run.json")).unwrap();
    assert!(manifest.contains(&format!("\"iterations\": {done}")), "{manifest}");
    assert!(!said.stdout.contains("stopped early"), "{}", said.stdout);
    let plain = format!("fit karate --ensembles 4 --chains 2 --seed 3 -q -n {done} --out plain");
    succeed(folder.armix(&plain));
    let trace = |run: &str| fs::read_to_string(folder.path().join(run).join("trace.csv")).unwrap();
    assert_eq!(trace("run"), trace("plain"), "the same as if that had been asked for");
    let on = succeed(folder.armix("resume run --until-converged"));
    let twice = 2 * done.parse::<usize>().unwrap();
    assert!(on.stderr.contains(&format!("converged after {twice} iterations")), "{}", on.stderr);
    refuse_all(&[
        ("fit karate -q --until-converged --ensembles 1", "at least two"),
        ("fit karate -q --until-converged --no-save", "leave out --no-save"),
    ]);
}

/// Chains that never move do not converge; the time ends this.
#[test]
fn time_ends_what_does_not_converge() {
    let folder = Folder::new();
    let options = "karate --ensembles 2 --chains 1 --moves arm --warmup 0 --start prior -n 20";
    let command = format!("fit {options} --until-converged --max-time 2s --out run --no-report");
    let said = succeed(folder.armix(&command));
    assert!(said.stderr.contains("not known to have converged after"), "{}", said.stderr);
    assert!(said.stderr.contains("armix resume"), "{}", said.stderr);
}
