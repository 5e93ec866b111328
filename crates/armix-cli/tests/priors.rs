//! Priors over partitions and sampled hyper-parameters, as a user sees them.

use crate::common::{Folder, armix, fit, json, number, refuse_all, succeed};
use serde_json::Value;
use std::fs;

const SMALL: &str = "--ensembles 2 --chains 2 --warmup 4 --quiet";

fn exact(options: &str) -> Value {
    json(armix(&format!("exact four-vertex --json {options}")))
}

#[test]
fn priors_are_chosen() {
    let p = |rows: &Value| number(&rows[0]["probability"]);
    let crp = p(&exact(""));
    assert!((p(&exact("--prior pitman-yor --discount 0")) - crp).abs() < 1e-12);
    for other in
        ["--prior pitman-yor", "--prior mfm", "--prior mfm --gamma 3 --components poisson:5"]
    {
        assert!((p(&exact(other)) - crp).abs() > 1e-3, "{other}");
        let s = fit(&format!("karate {SMALL} -n 20 --no-save {other}"));
        assert!(number(&s["blocks"]["mean"]) >= 1.0 && s.get("hypers").is_none(), "{other}");
    }
    refuse_all(&[("fit -q --components poisson", "geometric:P")]);
}

/// Sampled hyper-parameters are in the trace, the summary, the diagnosis, the report and the command that
/// repeats the run; predictions work, and the run goes on as if it had not stopped.
#[test]
fn hyper_parameters_are_sampled_and_shown() {
    let folder = Folder::new();
    let options =
        format!("karate {SMALL} --prior pitman-yor --discount 0.5 --sample-hyper --hold-out 0.1");
    let whole = json(folder.armix(&format!("fit {options} -n 60 --out whole --json")));
    for name in ["alpha", "discount", "beta_plus", "beta_minus"] {
        let about = &whole["hypers"][name];
        let quantiles: Vec<f64> = (0..3).map(|k| number(&about["quantiles"][k])).collect();
        assert!(quantiles.is_sorted() && quantiles[0] > 0.0, "{name}: {about}");
        assert!(number(&about["sd"]) > 0.0, "{name}: {about}");
    }
    let trace = fs::read_to_string(folder.path().join("whole/trace.csv")).unwrap();
    let header = trace.lines().next().unwrap();
    assert!(header.ends_with(",arm_idle,alpha,discount,beta_plus,beta_minus"), "{header}");
    succeed(folder.armix(&format!("fit {options} -n 25 --out cut")));
    succeed(folder.armix("resume cut -n 60 -q"));
    assert_eq!(fs::read_to_string(folder.path().join("cut/trace.csv")).unwrap(), trace);
    let diagnosis = json(folder.armix("diagnose whole --json"));
    assert!(number(&diagnosis["quantities"]["discount"]["ess_bulk"]) > 1.0);
    assert!(succeed(folder.armix("diagnose whole")).stdout.contains("beta plus"));
    assert!(succeed(folder.armix("show whole")).stdout.contains("\ndiscount   mean"));
    let page = fs::read_to_string(folder.path().join("whole/report.html")).unwrap();
    assert!(page.contains("--prior pitman-yor --discount 0.5 ") && page.contains("--sample-hyper"));
    assert!(page.contains("Pitman-Yor(0.5, 1)") && page.contains("beta minus"));
    let predicted = json(folder.armix("predict whole --json"));
    assert!(number(&predicted["score"]["auc"]) > 0.4, "{}", predicted["score"]);
    succeed(folder.armix("plot whole acf -o acf.svg"));
}

/// Folders that were written when there was one prior and nothing was sampled.
#[test]
fn older_runs_are_read_and_continued() {
    let folder = Folder::new();
    succeed(folder.armix(&format!("fit karate {SMALL} -n 30 --out new")));
    succeed(folder.armix(&format!("fit karate {SMALL} -n 20 --out old")));
    let path = folder.path().join("old/run.json");
    let text = fs::read_to_string(&path).unwrap();
    assert!(!text.contains("pitman") && text.contains("\"start\": \"prior\""), "{text}");
    let older: Vec<&str> = text.lines().filter(|l| !l.contains("\"sample_hyper\"")).collect();
    assert_eq!(older.len() + 1, text.lines().count());
    fs::write(&path, older.join("\n").replace("\"start\": \"prior\"", "\"start\": \"crp\""))
        .unwrap();
    succeed(folder.armix("summary old"));
    succeed(folder.armix("resume old -n 30 -q"));
    let trace = |run: &str| fs::read(folder.path().join(run).join("trace.csv")).unwrap();
    assert_eq!(trace("old"), trace("new"));
}
