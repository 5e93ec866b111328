//! Priors over partitions and sampled hyper-parameters, as a user sees them.

use crate::common::{Folder, armix, fit, json, number, refuse, refuse_all, succeed};
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

/// Two groups of rows, with two rows far away from both of them.
fn with_outliers() -> String {
    let row = |i: usize| {
        let (group, away) = ((i % 2) as f64, if i == 6 || i == 21 { 30.0 } else { 0.0 });
        let noise = |step: usize| (i * i * step % 17) as f64 / 8.0 - 1.0;
        format!("{},{}\n", 8.0 * group + noise(3) + away, 8.0 * group + noise(5) - away)
    };
    (0..40).fold("x,y\n".into(), |text, i| text + &row(i))
}

/// Hyper-parameters by name: they change the posterior, are remembered, and begin chains that sample them.
#[test]
fn hyper_parameters_are_set_by_name() {
    let folder = Folder::with("t.csv", with_outliers())
        .and("few.csv", "x,n,w\n0.5,1,a\n1.5,0,b\n7.5,9,a\n8.25,12,a\n0.75,2,b\n7.75,8,b\n");
    let p = |options: &str| {
        let rows = json(folder.armix(&format!("exact few.csv --json {options}")));
        number(&rows[0]["log_joint"])
    };
    let plain = p("");
    // The default, said aloud, and in two ways.
    assert_eq!(p("--hyper real_kappa=0.1,count_rate=1"), plain);
    assert_eq!(p("--hyper real_kappa=0.1 --hyper count_rate=1"), plain);
    for name in ["real_kappa", "real_shape", "real_scale", "count_shape", "count_rate"] {
        assert!((p(&format!("--hyper {name}=1.7")) - plain).abs() > 1e-3, "{name}");
    }
    let options = format!("{SMALL} --hyper kappa=0.5,scale=0.1 --sample-hyper");
    succeed(folder.armix(&format!("fit t.csv {options} -n 30 --out whole")));
    succeed(folder.armix(&format!("fit t.csv {options} -n 12 --out cut")));
    succeed(folder.armix("resume cut -n 30 -q"));
    let trace = |run: &str| fs::read(folder.path().join(run).join("trace.csv")).unwrap();
    assert_eq!(trace("cut"), trace("whole"));
    succeed(folder.armix(&format!("fit t.csv {SMALL} --sample-hyper -n 30 --out usual")));
    assert_ne!(trace("usual"), trace("whole"), "they begin elsewhere");
    let page = fs::read_to_string(folder.path().join("whole/report.html")).unwrap();
    assert!(page.contains("--hyper kappa=0.5,scale=0.1 "), "the command repeats them");
    assert!(page.contains("beginning there and at kappa=0.5,scale=0.1"));
    let run = fs::read_to_string(folder.path().join("usual/run.json")).unwrap();
    assert!(!run.contains("hypers"), "{run}");
    for (model, option, words) in [
        (
            "gaussian",
            "kapa=1",
            "no hyper-parameter 'kapa' to set in the model gaussian, which has kappa, shape, scale (",
        ),
        ("niw", "shape=1", "in the model niw, which has kappa, freedom, psi ("),
        ("student-t", "kappa=1", "which has none of its own"),
        (
            "gaussian",
            "kappa=0",
            "kappa=0 is not possible: use a number from 1e-8 to 1e8, such as 0.1",
        ),
        ("gaussian", "kappa=-3", "kappa=-3 is not possible"),
        ("gaussian", "kappa=1,kappa=2", "kappa is given twice"),
        ("gaussian", "kappa=few", "kappa=0.5"),
        ("gaussian", "kappa", "write a name and a number"),
    ] {
        let message =
            refuse(folder.armix(&format!("fit t.csv -q --model {model} --hyper {option}")));
        assert!(message.contains(words), "{message}");
    }
    refuse_all(&[("fit karate -q --hyper beta_plus=2", "none of its own (alpha, ")]);
}

/// A mixture of Student's t finds groups with outliers; its hyper-parameters are fixed, which is said.
#[test]
fn student_t_fits_a_table_with_outliers() {
    let folder = Folder::with("t.csv", with_outliers());
    let options =
        "--model student-t --degrees-of-freedom 2 --menu 6 --ensembles 2 --chains 4 -n 200";
    succeed(folder.armix(&format!("fit t.csv {options} -q --out RUN")));
    let labels = &json(folder.armix("summary RUN --json"))["labels"];
    let label = |i: usize| labels[i].as_u64().expect("a label");
    let inside = |i: &usize| ![6, 21].contains(i);
    let right = (0..40).filter(inside).filter(|&i| (label(i) == label(0)) == (i % 2 == 0)).count();
    assert!(right >= 36, "{right} of 38: {labels}");
    let page = fs::read_to_string(folder.path().join("RUN/report.html")).unwrap();
    assert!(page.contains("--degrees-of-freedom 2 --menu 6"), "the command repeats them");
    let said = succeed(folder.armix(
        "fit t.csv --model student-t --sample-hyper --ensembles 2 --chains 2 -n 4 --no-save",
    ));
    assert!(said.stderr.contains("hyper-parameters of student-t are fixed"), "{}", said.stderr);
}
