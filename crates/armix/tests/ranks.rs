//! A run that is spread over processes is the same run. Threads stand in for processes here, so that
//! this needs no MPI; `crates/armix-cli/tests/mpi.rs` has the real ones.

use armix::builtin;
use armix::ensemble::{self, Exchange, Observer, Share, View};
use armix::error::{Error, Result};
use armix::model::Model;
use armix::models::{self, Case, Irm, Visitor};
use armix::prior::PriorChoice;
use armix::run::{Run, Settings};
use armix::state::Target;
use armix::store::{DataInfo, Folder, Manifest, ModelInfo, Recorder, Saving};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::time::Duration;

/// What lies on a table, and how many still have to take it.
type Meeting = (BTreeMap<usize, Vec<u8>>, usize);

/// Where ranks meet: everybody puts something down, and leaves with what all put down.
#[derive(Default)]
struct Table {
    now: Mutex<Meeting>,
    changed: Condvar,
}

impl Table {
    fn meet(&self, rank: usize, ranks: usize, own: Vec<u8>) -> Vec<Vec<u8>> {
        // A rank that failed must not keep the others here for ever.
        let patience = Duration::from_secs(60);
        let wait = |guard, until: fn(&Meeting, usize) -> bool| {
            let (guard, late) =
                self.changed.wait_timeout_while(guard, patience, |now| !until(now, ranks)).unwrap();
            assert!(!late.timed_out(), "rank {rank} waits in vain");
            guard
        };
        let mut now = wait(self.now.lock().unwrap(), |now, _| now.1 == 0);
        now.0.insert(rank, own);
        if now.0.len() == ranks {
            now.1 = ranks;
        }
        self.changed.notify_all();
        let mut now = wait(now, |now, ranks| now.1 > 0 && now.0.len() == ranks);
        let all = now.0.values().cloned().collect();
        now.1 -= 1;
        if now.1 == 0 {
            now.0.clear();
        }
        self.changed.notify_all();
        all
    }
}

/// A rank that is a thread.
struct Thread {
    rank: usize,
    ranks: usize,
    tables: Arc<(Table, Table, OnceLock<Vec<usize>>)>,
    received: Arc<AtomicU64>,
}

impl Thread {
    fn team(ranks: usize) -> Vec<Thread> {
        let tables = Arc::default();
        let received: Arc<AtomicU64> = Arc::default();
        let new = |rank| Thread {
            rank,
            ranks,
            tables: Arc::clone(&tables),
            received: Arc::clone(&received),
        };
        (0..ranks).map(new).collect()
    }

    fn all(&self, own: Vec<u8>) -> Vec<Vec<u8>> {
        let groups = self.tables.2.get();
        let (table, ranks) = match groups {
            None => (&self.tables.0, self.ranks),
            Some(groups) => (&self.tables.1, groups.len()),
        };
        table.meet(self.rank, ranks, own)
    }
}

impl Exchange for Thread {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn group(&mut self, group: Option<usize>) {
        let own = group.map_or(Vec::new(), |g| vec![g as u8]);
        let all = self.tables.0.meet(self.rank, self.ranks, own);
        let groups = all.iter().filter_map(|g| g.first().map(|&g| usize::from(g))).collect();
        self.tables.2.get_or_init(|| groups);
    }

    /// Nobody gets more than was promised.
    fn share(&self, own: Vec<u8>) -> Vec<Vec<u8>> {
        let groups = self.tables.2.get().expect("groups come first");
        let all = self.all(own).into_iter().enumerate();
        let due = all.filter(|(rank, _)| self.rank == 0 || groups[*rank] == groups[self.rank]);
        // Rank 0 hears last what came last.
        let heard: Vec<Vec<u8>> = due.map(|(_, bytes)| bytes).rev().collect();
        if self.rank == 0 {
            let bytes = heard.iter().map(|b| b.len() as u64).sum();
            self.received.fetch_add(bytes, Ordering::Relaxed);
        }
        heard
    }

    fn gather(&self, own: Vec<u8>) -> Vec<Vec<u8>> {
        let all = self.all(own);
        if self.rank == 0 { all } else { Vec::new() }
    }

    fn broadcast(&self, bytes: Vec<u8>) -> Vec<u8> {
        self.all(bytes).swap_remove(0)
    }
}

fn karate() -> Target<Irm> {
    Target::new(Irm::new(builtin::karate(), 1.0, 1.0).unwrap(), 1.0).unwrap()
}

fn settings() -> Settings {
    Settings {
        ensembles: 2,
        chains: 3,
        iterations: 40,
        warmup: 9,
        schedule: "arm-cells*2,arm,sm,bsm,sarm,srm,sams,arm-inner,gibbs".parse().unwrap(),
        keep_draws: Some(3),
        threads: 1,
        ..Settings::default()
    }
}

/// Does something on rank 0, which is this thread, while the other ranks follow.
fn with_ranks<M: Model, T>(
    target: &Target<M>,
    ranks: usize,
    settings: &Settings,
    lead: impl FnOnce(&mut Thread) -> T,
) -> T {
    let mut team = Thread::team(ranks);
    std::thread::scope(|scope| {
        for mut thread in team.drain(1..) {
            scope.spawn(move || {
                let run = ensemble::run(target, settings, None, &mut (), &mut thread).unwrap();
                let idle = thread.rank() >= Share::new(settings, ranks).busy();
                assert_eq!(idle, run.traces().all(|t| t.counters.is_empty()));
            });
        }
        lead(&mut team[0])
    })
}

/// Times differ from run to run; everything else must not.
fn timeless(mut run: Run) -> Run {
    (run.seconds, run.settings.threads) = (0.0, 0);
    for counter in run.ensembles.iter_mut().flatten().flat_map(|t| &mut t.counters) {
        counter.seconds = 0.0;
    }
    run.hot.iter_mut().for_each(|counter| counter.seconds = 0.0);
    run
}

fn sample(ranks: usize, settings: &Settings) -> Run {
    sample_from(&karate(), ranks, settings)
}

fn sample_from<M: Model>(target: &Target<M>, ranks: usize, settings: &Settings) -> Run {
    timeless(with_ranks(target, ranks, settings, |rank| {
        ensemble::run(target, settings, None, &mut (), rank).unwrap()
    }))
}

#[test]
fn any_number_of_ranks_and_threads_gives_the_same_run() {
    for every in [1, 7] {
        let settings = Settings { exchange_every: every, ..settings() };
        let alone = sample(1, &settings);
        for ranks in 2..=8 {
            let threads = 1 + ranks % 2;
            let spread = sample(ranks, &Settings { threads, ..settings.clone() });
            assert!(spread == alone, "{ranks} ranks, exchange every {every}");
        }
    }
    let frozen = Settings { freeze_after: Some(10), exchange_every: 4, ..settings() };
    assert!(sample(4, &frozen) == sample(1, &frozen), "a frozen past");
    let heated = Settings {
        ladder: "3".parse().unwrap(),
        chains: 2,
        schedule: "(arm,gibbs)*2".parse().unwrap(),
        ..settings()
    };
    for ranks in 2..=3 {
        assert!(sample(ranks, &heated) == sample(1, &heated), "ladders on {ranks} ranks");
    }
    let schedule = || "auto:arm:likely,sm,gibbs".parse().unwrap();
    for every in [1, 7] {
        let tuned = Settings { schedule: schedule(), exchange_every: every, ..settings() };
        for ranks in [2, 5] {
            assert!(sample(ranks, &tuned) == sample(1, &tuned), "a tuned schedule, {ranks} ranks");
        }
    }
    let thinned = Settings { history_bytes: 3000, ..settings() };
    assert!(sample(4, &thinned) == sample(1, &thinned), "a thinned past");
    assert!(sample(1, &thinned) != sample(1, &settings()), "thinning matters");
}

/// How often states are exchanged is part of the result, and nothing else changes with it.
#[test]
fn exchanges_are_part_of_the_result() {
    let run = |every| sample(1, &Settings { exchange_every: every, ..settings() });
    let (one, seven) = (run(1), run(7));
    assert_ne!(one.ensembles, seven.ensembles);
    let gibbs = |every| {
        let schedule = "gibbs".parse().unwrap();
        sample(1, &Settings { exchange_every: every, schedule, ..settings() }).ensembles
    };
    assert_eq!(gibbs(1), gibbs(7), "scans do not look at the past");
}

/// Runs of before there was a choice exchanged after every round.
#[test]
fn old_settings_can_be_read() {
    let mut json = serde_json::to_value(settings()).unwrap();
    json.as_object_mut().unwrap().remove("exchange_every").expect("it is written");
    assert_eq!(serde_json::from_value::<Settings>(json).unwrap(), settings());
    let wrong = Settings { exchange_every: 0, ..settings() };
    assert!(wrong.check(34).unwrap_err().to_string().contains("between two exchanges"));
}

/// A frozen past stays as it is, whenever the next exchange would have been.
#[test]
fn a_past_is_whole_before_it_is_frozen() {
    let settings = Settings { freeze_after: Some(10), exchange_every: 4, ..settings() };
    let exchanges: Vec<usize> = (0..=30).filter(|&t| settings.exchanges_at(t)).collect();
    assert_eq!(exchanges, [0, 4, 8, 12, 16, 19, 20, 24, 28]);
    for t in 0..=30 {
        let last = exchanges.iter().copied().filter(|&e| e <= t).max();
        assert_eq!(Some(settings.last_exchange(t)), last);
    }
}

fn manifest(n: usize, settings: &Settings) -> Manifest {
    let data = DataInfo {
        source: "karate".into(),
        path: None,
        options: serde_json::Value::Null,
        fingerprint: String::new(),
        names: (0..n).map(|v| v.to_string()).collect(),
    };
    let model = ModelInfo {
        name: "irm".into(),
        alpha: 1.0,
        beta: (1.0, 1.0),
        prior: PriorChoice::default(),
        hypers: Vec::new(),
    };
    Manifest::new(data, model, settings.clone(), Saving { partitions: true, thin: 1 })
}

/// Saves and stops at the first occasion from some state on.
struct Saver {
    recorder: Recorder,
    stop: usize,
}

impl Observer for Saver {
    fn begin(&mut self, view: &dyn View) -> Result<()> {
        self.recorder.begin(view)
    }

    fn after_round(&mut self, view: &dyn View) -> Result<ControlFlow<()>> {
        let _ = self.recorder.after_round(view)?;
        let settings = &self.recorder.manifest().settings;
        let last = view.t() == settings.warmup + settings.iterations;
        let stop = view.settled() && view.t() >= self.stop;
        assert!((0..settings.ensembles).all(|e| view.status(e).log_joint.is_finite()));
        if last || stop {
            self.recorder.finish(view)?;
        }
        Ok(if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}

/// Begins or continues a run in a folder; returns how far it came.
fn go_on<M: Model>(
    target: &Target<M>,
    folder: &Path,
    settings: &Settings,
    ranks: usize,
    stop: usize,
) -> usize {
    with_ranks(target, ranks, settings, |rank| {
        let folder = Folder::new(folder);
        let (recorder, saved) = match folder.manifest() {
            Err(_) => {
                let manifest = manifest(target.model.n(), settings);
                (Recorder::create(folder, manifest).unwrap(), None)
            }
            Ok(_) => Recorder::resume(folder, |manifest| {
                manifest.settings = settings.clone();
                Ok(())
            })
            .unwrap(),
        };
        let mut saver = Saver { recorder, stop };
        let run = match saved {
            None => ensemble::run(target, settings, None, &mut saver, rank),
            Some(saved) => {
                saved.with(|from| ensemble::run(target, settings, Some(from), &mut saver, rank))
            }
        };
        run.unwrap().iterations
    })
}

fn results(folder: &Path) -> Vec<Vec<u8>> {
    let mut files = vec![folder.join("run.json"), folder.join("trace.csv")];
    let parts = std::fs::read_dir(folder.join("draws")).unwrap();
    files.extend(parts.map(|p| p.unwrap().path()));
    files.sort();
    files.iter().map(|f| std::fs::read(f).unwrap()).collect()
}

/// Stopped again and again, and continued by another number of ranks each time; also by one process,
/// which may stop between two exchanges, and longer than was asked for at first.
#[test]
fn a_run_is_continued_by_any_number_of_ranks() {
    let (folder, target) = (tempfile::tempdir().unwrap(), karate());
    for (every, freeze_after) in [(1, None), (5, None), (5, Some(12))] {
        let settings =
            Settings { exchange_every: every, freeze_after, keep_draws: None, ..settings() };
        let whole = folder.path().join(format!("whole-{every}-{freeze_after:?}"));
        assert_eq!(go_on(&target, &whole, &settings, 1, usize::MAX), 40);
        let cut = folder.path().join(format!("cut-{every}-{freeze_after:?}"));
        let short = Settings { iterations: 18, ..settings.clone() };
        let stops = [(3, 4), (1, 12), (2, 13), (1, 21), (4, 23), (7, usize::MAX)];
        for (ranks, stop) in stops {
            go_on(&target, &cut, &short, ranks, stop);
        }
        for (ranks, stop) in [(2, 33), (1, 37), (8, 39), (3, usize::MAX)] {
            go_on(&target, &cut, &settings, ranks, stop);
        }
        assert!(results(&cut) == results(&whole), "exchange every {every}, {freeze_after:?}");
    }
}

/// What chains keep beside their partitions travels with them, too: sampled hyper-parameters, and the
/// parameters of blocks in models that have any. Of nine items something is missing in every example.
#[test]
fn every_model_with_all_that_chains_keep() {
    #[derive(Default)]
    struct Every {
        with_hypers: usize,
        with_parameters: usize,
    }
    impl Visitor for Every {
        fn visit<M: Model>(&mut self, case: &Case<M>) {
            let target = Target::new((case.example)(9), 1.3).unwrap();
            let settings = Settings {
                sample_hyper: true,
                schedule: "arm,sm,gibbs".parse().unwrap(),
                iterations: 20,
                warmup: 4,
                exchange_every: 3,
                ..settings()
            };
            let alone = sample_from(&target, 1, &settings);
            for ranks in [2, 3, 4] {
                let spread = sample_from(&target, ranks, &settings);
                assert!(spread == alone, "{}, {ranks} ranks", case.name);
            }
            let folder = tempfile::tempdir().unwrap();
            let (whole, cut) = (folder.path().join("whole"), folder.path().join("cut"));
            let settings = Settings { keep_draws: None, ..settings };
            go_on(&target, &whole, &settings, 1, usize::MAX);
            for (ranks, stop) in [(3, 2), (2, 9), (1, 13), (4, 18), (2, usize::MAX)] {
                go_on(&target, &cut, &settings, ranks, stop);
            }
            assert!(results(&cut) == results(&whole), "{}", case.name);
            // A checkpoint that several ranks have written is the one of a single process, but for times.
            let saved = |folder: &Path| {
                let (_, saved) = Recorder::resume(Folder::new(folder), |_| Ok(())).unwrap();
                saved.unwrap().with(|from| from.checkpoint)
            };
            let chains = |folder: &Path| {
                let ensembles = saved(folder).ensembles.into_iter();
                let chains = ensembles.flat_map(|e| e.chains);
                chains.map(|c| (c.z, c.hypers, c.parameters)).collect::<Vec<_>>()
            };
            assert!(chains(&cut) == chains(&whole), "{}", case.name);
            let kept = chains(&whole);
            self.with_hypers += usize::from(kept.iter().all(|c| !c.1.is_empty()));
            self.with_parameters += usize::from(kept.iter().all(|c| !c.2.is_empty()));
        }
    }
    let mut every = Every::default();
    models::visit_all(&mut every);
    assert!(every.with_hypers > 2 && every.with_parameters > 1, "there is something to lose");
}

/// Fails after some rounds.
struct Fails(usize);

impl Observer for Fails {
    fn after_round(&mut self, view: &dyn View) -> Result<ControlFlow<()>> {
        match view.t() == self.0 {
            true => Err(Error::new("the disk is full")),
            false => Ok(ControlFlow::Continue(())),
        }
    }
}

#[test]
fn if_rank_0_fails_the_others_stop() {
    for ranks in [1, 2, 5] {
        let settings = settings();
        let error = with_ranks(&karate(), ranks, &settings, |rank| {
            ensemble::run(&karate(), &settings, None, &mut Fails(14), rank).unwrap_err()
        });
        assert_eq!(error.to_string(), "the disk is full");
    }
}

/// What docs/CLUSTER.md says of the bytes that are exchanged: the labels, and less than 100 bytes and
/// 40 for each entry of the schedule beside them.
#[test]
fn states_travel_in_few_bytes() {
    let settings = settings();
    let bytes = with_ranks(&karate(), 3, &settings, |rank| {
        ensemble::run(&karate(), &settings, None, &mut (), rank).unwrap();
        rank.received.load(Ordering::Relaxed)
    });
    let states = 6 * (settings.warmup + settings.iterations + 1) as u64;
    let moves = settings.schedule.moves().len() as u64;
    assert!((states * 34..states * (34 + 100 + 40 * moves)).contains(&bytes), "{bytes}");
}
