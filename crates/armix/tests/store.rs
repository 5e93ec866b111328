//! A run on disk ends with the same bytes wherever it was interrupted, and damage is named.

use armix::builtin;
use armix::ensemble::{self, Observer, View};
use armix::error::Result;
use armix::models::Irm;
use armix::prior::PriorChoice;
use armix::run::{Run, Settings};
use armix::state::Target;
use armix::store::{DataInfo, Folder, Manifest, ModelInfo, Recorder, Saving};
use armix::summary::Summary;
use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

fn karate() -> Target<Irm> {
    Target::new(Irm::new(builtin::karate(), 1.0, 1.0).unwrap(), 1.0).unwrap()
}

fn settings() -> Settings {
    Settings {
        ensembles: 2,
        chains: 2,
        warmup: 6,
        iterations: 30,
        schedule: "arm-cells*2,arm,sm,gibbs".parse().unwrap(),
        ..Settings::default()
    }
}

fn manifest(settings: Settings, saving: Saving) -> Manifest {
    let data = DataInfo {
        source: "karate".into(),
        path: None,
        options: serde_json::Value::Null,
        fingerprint: String::new(),
        names: (0..34).map(|v| v.to_string()).collect(),
    };
    let model = ModelInfo {
        name: "irm".into(),
        alpha: 1.0,
        beta: (1.0, 1.0),
        prior: PriorChoice::Crp,
        hypers: Vec::new(),
    };
    Manifest::new(data, model, settings, saving)
}

fn all() -> Saving {
    Saving { partitions: true, thin: 1 }
}

/// Saves every `every` rounds, and ends at state `stop`: in good order, or as if it were killed.
struct Saver {
    recorder: Recorder,
    every: usize,
    stop: usize,
    killed: bool,
}

impl Observer for Saver {
    fn begin(&mut self, view: &dyn View) -> Result<()> {
        self.recorder.begin(view)
    }

    fn after_round(&mut self, view: &dyn View) -> Result<ControlFlow<()>> {
        let _ = self.recorder.after_round(view)?;
        let settings = &self.recorder.manifest().settings;
        let last = view.t() == settings.warmup + settings.iterations;
        let stop = view.t() == self.stop;
        if last || (stop && !self.killed) {
            self.recorder.finish(view)?;
        } else if view.t().is_multiple_of(self.every) {
            self.recorder.checkpoint(view)?;
        }
        Ok(if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}

const NEVER: usize = usize::MAX;

fn begin(folder: &Path, manifest: Manifest, every: usize, stop: usize, killed: bool) -> Run {
    let settings = manifest.settings.clone();
    let recorder = Recorder::create(Folder::new(folder), manifest).unwrap();
    let mut saver = Saver { recorder, every, stop, killed };
    ensemble::sample(&karate(), &settings, &mut saver).unwrap()
}

fn go_on(folder: &Path, iterations: Option<usize>, every: usize, stop: usize, killed: bool) -> Run {
    let (recorder, saved) = Recorder::resume(Folder::new(folder), |manifest| {
        manifest.settings.iterations = iterations.unwrap_or(manifest.settings.iterations);
        Ok(())
    })
    .unwrap();
    let settings = recorder.manifest().settings.clone();
    let mut saver = Saver { recorder, every, stop, killed };
    match saved {
        None => ensemble::sample(&karate(), &settings, &mut saver).unwrap(),
        Some(saved) => {
            saved.with(|from| ensemble::resume(&karate(), &settings, from, &mut saver).unwrap())
        }
    }
}

/// The files that are results, by name.
fn results(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for name in ["run.json", "trace.csv"] {
        files.insert(name.to_string(), fs::read(folder.join(name)).unwrap());
    }
    for entry in fs::read_dir(folder.join("draws")).unwrap() {
        let path = entry.unwrap().path();
        files.insert(
            path.file_name().unwrap().to_string_lossy().into_owned(),
            fs::read(&path).unwrap(),
        );
    }
    files
}

/// The summary without its times.
fn summary(run: &Run) -> Summary {
    let mut summary = Summary::new(run);
    summary.seconds = 0.0;
    summary.normalised_iterations.clear();
    summary.moves.iter_mut().for_each(|(_, m)| m.seconds = 0.0);
    summary
}

fn variants() -> Vec<(&'static str, Settings, Saving)> {
    vec![
        ("plain", settings(), all()),
        ("thin", settings(), Saving { partitions: true, thin: 4 }),
        ("no partitions", settings(), Saving { partitions: false, thin: 1 }),
        ("frozen", Settings { freeze_after: Some(9), ..settings() }, all()),
        ("sampled hyper-parameters", Settings { sample_hyper: true, ..settings() }, all()),
        ("ladder", Settings { ladder: "3:0.2".parse().unwrap(), ..settings() }, all()),
        (
            "ladder with laps",
            Settings {
                ladder: "3:0.2".parse().unwrap(),
                schedule: "(arm,gibbs)*3".parse().unwrap(),
                ..settings()
            },
            all(),
        ),
        (
            "ladder with hyper-parameters",
            Settings { ladder: "1,0.5".parse().unwrap(), sample_hyper: true, ..settings() },
            all(),
        ),
        (
            "tuned",
            Settings { schedule: "auto:arm:likely,sm,gibbs".parse().unwrap(), ..settings() },
            all(),
        ),
        (
            "tuned with a ladder",
            Settings {
                schedule: "auto".parse().unwrap(),
                ladder: "3:0.2".parse().unwrap(),
                exchange_every: 4,
                ..settings()
            },
            all(),
        ),
        ("a thinned history", Settings { history_bytes: 2000, ..settings() }, all()),
    ]
}

#[test]
fn an_interrupted_run_ends_with_the_same_bytes() {
    for (name, settings, saving) in variants() {
        let folder = tempfile::tempdir().unwrap();
        let whole = folder.path().join("whole");
        let run = begin(&whole, manifest(settings.clone(), saving.clone()), NEVER, NEVER, false);
        for stop in [1, 5, 6, 7, 13, 25, 35] {
            for killed in [false, true] {
                let cut = folder.path().join(format!("cut-{stop}-{killed}"));
                begin(&cut, manifest(settings.clone(), saving.clone()), 4, stop, killed);
                let resumed = go_on(&cut, None, 5, NEVER, false);
                assert!(
                    results(&cut) == results(&whole),
                    "{name}, stopped at {stop}, killed: {killed}"
                );
                assert_eq!(summary(&resumed), summary(&run), "{name}, stopped at {stop}");
                let (_, loaded) = Folder::new(&cut).load().unwrap();
                assert_eq!(summary(&loaded), summary(&run), "{name}, loaded");
            }
        }
    }
}

#[test]
fn many_interruptions_are_as_good_as_none() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, cut) = (folder.path().join("whole"), folder.path().join("cut"));
    begin(&whole, manifest(settings(), all()), NEVER, NEVER, false);
    begin(&cut, manifest(settings(), all()), 1, 1, false);
    for stop in 2..36 {
        go_on(&cut, None, 1 + stop % 3, stop, stop % 2 == 0);
    }
    go_on(&cut, None, 2, NEVER, false);
    assert!(results(&cut) == results(&whole));
}

#[test]
fn a_run_can_be_made_longer() {
    for (name, settings, saving) in variants() {
        let folder = tempfile::tempdir().unwrap();
        let (whole, longer) = (folder.path().join("whole"), folder.path().join("longer"));
        begin(
            &whole,
            manifest(Settings { iterations: 45, ..settings.clone() }, saving.clone()),
            NEVER,
            NEVER,
            false,
        );
        begin(&longer, manifest(settings, saving), NEVER, NEVER, false);
        go_on(&longer, Some(45), NEVER, NEVER, false);
        assert!(results(&longer) == results(&whole), "{name}");
    }
}

/// What a crash leaves behind is cleared away: half a line, temporary files, parts that no
/// checkpoint knows.
#[test]
fn debris_of_a_crash_does_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, cut) = (folder.path().join("whole"), folder.path().join("cut"));
    begin(&whole, manifest(settings(), all()), NEVER, NEVER, false);
    begin(&cut, manifest(settings(), all()), 7, 20, true);
    let mut trace = fs::read(cut.join("trace.csv")).unwrap();
    trace.extend_from_slice(b"1,1,15,-2");
    fs::write(cut.join("trace.csv"), trace).unwrap();
    fs::write(cut.join("checkpoint/state.tmp"), b"half").unwrap();
    fs::write(cut.join("draws/part-000000001.arrow"), b"half").unwrap();
    go_on(&cut, None, 3, NEVER, false);
    assert!(results(&cut) == results(&whole));
}

#[test]
fn draws_are_the_states_of_the_chains() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let settings = Settings { keep_draws: Some(3), ..settings() };
    let run =
        begin(&path, manifest(settings, Saving { partitions: true, thin: 3 }), 8, NEVER, false);
    let (draws, damaged) = Folder::new(&path).draws().unwrap();
    assert!(damaged.is_empty());
    assert_eq!(draws.len(), 2 * 2 * 10);
    for draw in draws {
        let trace = &run.ensembles[draw.ensemble as usize - 1][draw.chain as usize - 1];
        let at = (draw.iteration as usize - 1) / 3;
        assert_eq!(trace.draws[at].labels(), draw.labels);
    }
}

#[test]
fn damage_is_named_and_the_rest_stays_readable() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    begin(&path, manifest(settings(), all()), 8, NEVER, false);
    let flip = |name: &str| {
        let file = path.join(name);
        let mut bytes = fs::read(&file).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&file, &bytes).unwrap();
    };
    let part = "draws/part-000000001.arrow";
    flip(part);
    let (draws, damaged) = Folder::new(&path).draws().unwrap();
    assert!(
        draws.is_empty() && damaged[0].to_string().contains("part-000000001.arrow"),
        "{damaged:?}"
    );
    assert!(Folder::new(&path).load().is_ok(), "trace and state are intact");
    flip(part);
    assert_eq!(Folder::new(&path).draws().unwrap().1, []);
    let whole = fs::read(path.join("trace.csv")).unwrap();
    fs::write(path.join("trace.csv"), &whole[..whole.len() - 10]).unwrap();
    let error = Folder::new(&path).load().unwrap_err().to_string();
    assert!(error.contains("trace.csv") && error.contains("cut off"), "{error}");
    fs::write(path.join("trace.csv"), &whole).unwrap();
    flip("checkpoint/state");
    let error = Folder::new(&path).load().unwrap_err().to_string();
    assert!(error.contains("state") && error.contains("damaged"), "{error}");
}

#[test]
fn other_layouts_and_empty_folders_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = Folder::new(folder.path()).load().unwrap_err().to_string();
    assert!(error.contains("no run in this folder"), "{error}");
    let path = folder.path().join("run");
    begin(&path, manifest(settings(), all()), 8, NEVER, false);
    let text = fs::read_to_string(path.join("run.json")).unwrap();
    fs::write(path.join("run.json"), text.replacen("\"format\": ", "\"format\": 99", 1)).unwrap();
    let error = Folder::new(&path).load().unwrap_err().to_string();
    assert!(error.contains("cannot read"), "{error}");
    let again = Recorder::create(Folder::new(&path), manifest(settings(), all()));
    assert!(again.err().unwrap().to_string().contains("holds a run already"));
}

#[test]
fn two_processes_cannot_write_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    begin(&path, manifest(settings(), all()), 8, 10, false);
    let first = Recorder::resume(Folder::new(&path), |_| Ok(())).unwrap();
    let second = Recorder::resume(Folder::new(&path), |_| Ok(())).err().unwrap().to_string();
    assert!(second.contains("another process"), "{second}");
    assert!(Folder::new(&path).load().is_ok(), "reading is always possible");
    drop(first);
    assert!(Recorder::resume(Folder::new(&path), |_| Ok(())).is_ok());
}
