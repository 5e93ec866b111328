//! What an ensemble does with its settings.

use armix::builtin;
use armix::diagnose::Verdict;
use armix::ensemble::{self, Observer, View};
use armix::error::Result;
use armix::models::{Bernoulli, Irm};
use armix::run::{Run, Settings, Start};
use armix::state::Target;
use armix::summary::Summary;
use std::ops::ControlFlow;

fn karate() -> Target<Irm> {
    Target::new(Irm::new(builtin::karate(), 1.0, 1.0).unwrap(), 1.0).unwrap()
}

fn small() -> Settings {
    Settings { ensembles: 2, chains: 2, iterations: 20, keep_draws: Some(1), ..Settings::default() }
}

fn sample(settings: &Settings) -> Run {
    ensemble::sample(&karate(), settings, &mut ()).unwrap()
}

#[test]
fn a_move_without_disagreement_is_idle() {
    // All chains begin in one block and nothing but ARM could change that.
    let run = sample(&Settings {
        start: Start::One,
        warmup: 0,
        schedule: "arm*3".parse().unwrap(),
        ..small()
    });
    let summary = Summary::new(&run);
    let (name, arm) = &summary.moves[0];
    assert_eq!(name, "arm");
    assert_eq!((arm.proposed, arm.idle, arm.accept_rate), (0, 2 * 2 * 20 * 3, None));
    assert!(run.traces().all(|t| t.blocks.iter().all(|&k| k == 1)));
    assert_eq!(summary.normalised_iterations, [None, None]);
    assert_eq!(summary.log_joint.rhat, None, "a constant has no R̂");
    let long = Settings { start: Start::One, warmup: 0, iterations: 200, ..small() };
    let stuck = sample(&Settings { schedule: "arm".parse().unwrap(), ..long });
    assert_eq!(Summary::new(&stuck).verdict, Verdict::TooShort, "chains that never moved");
}

#[test]
fn starts_are_where_they_should_be() {
    let labels: Vec<u32> = (0..34).map(|i| i % 3).collect();
    let starts = [
        (Start::One, 1..=1),
        (Start::Singletons, 34..=34),
        (Start::Uniform(4), 4..=4),
        (Start::Labels(labels.clone()), 3..=3),
        (Start::Prior, 1..=12),
    ];
    for (start, blocks) in starts {
        // No move changes anything here: the past of `arm` is empty at first.
        let run = sample(&Settings {
            start: start.clone(),
            warmup: 0,
            iterations: 1,
            schedule: "arm".parse().unwrap(),
            ..small()
        });
        assert!(run.traces().all(|t| blocks.contains(&(t.blocks[0] as usize))), "{start}");
        if let Start::Labels(labels) = &start {
            assert!(run.traces().all(|t| &t.draws[0].labels() == labels));
        }
    }
    let crp =
        sample(&Settings { warmup: 0, iterations: 1, schedule: "arm".parse().unwrap(), ..small() });
    let draws: Vec<Vec<u32>> = crp.traces().map(|t| t.draws[0].labels()).collect();
    assert!(draws.windows(2).all(|w| w[0] != w[1]), "each chain has its own start");
}

/// From CRP(α) with α = 1 the expected number of blocks of 34 items is Σ 1/i; 400 chains are
/// within 5 standard errors of it (false alarm below 1e-6).
#[test]
fn crp_starts_follow_the_prior() {
    let run = sample(&Settings {
        ensembles: 50,
        chains: 8,
        warmup: 0,
        iterations: 1,
        schedule: "arm".parse().unwrap(),
        ..small()
    });
    let blocks: Vec<f64> = run.traces().map(|t| f64::from(t.blocks[0])).collect();
    let (mean, sd) = armix::diagnose::mean_sd(&blocks);
    let expected: f64 = (1..=34).map(|i| 1.0 / f64::from(i)).sum();
    assert!((mean - expected).abs() < 5.0 * sd / 20.0, "{mean} ≠ {expected}");
}

#[test]
fn freezing_changes_nothing_before_and_something_after() {
    let free = sample(&small());
    let frozen = sample(&Settings { freeze_after: Some(10), ..small() });
    for (a, b) in free.traces().zip(frozen.traces()) {
        assert_eq!(a.draws[..11], b.draws[..11]);
    }
    assert!(free.traces().zip(frozen.traces()).any(|(a, b)| a.draws != b.draws));
}

#[test]
fn many_slots_are_compacted_without_a_trace() {
    // From singletons the number of slots falls far below the number ever used.
    let target =
        Target::new(Bernoulli::new(builtin::bernoulli(6, 1), 1.0, 1.0).unwrap(), 1.0).unwrap();
    let run = ensemble::sample(&target, &Settings { start: Start::Singletons, ..small() }, &mut ())
        .unwrap();
    for trace in run.traces() {
        for (row, &log_joint) in trace.draws.iter().zip(&trace.log_joint) {
            assert!((target.ln_q(&row.labels()) - log_joint).abs() < 1e-9);
        }
    }
}

#[test]
fn the_best_partition_is_the_best_that_was_visited() {
    let run = sample(&small());
    let summary = Summary::new(&run);
    let highest =
        run.traces().flat_map(|t| t.log_joint.iter().copied()).fold(f64::NEG_INFINITY, f64::max);
    assert_eq!(summary.log_joint.best, highest);
    assert!((karate().ln_q(&summary.best_partition) - highest).abs() < 1e-9);
}

struct StopAt(usize);

impl Observer for StopAt {
    fn after_round(&mut self, view: &dyn View) -> Result<ControlFlow<()>> {
        let record = view.record(1, 0);
        assert!(view.status(1).log_joint.is_finite());
        assert_eq!(record.labels.n(), 34);
        assert_eq!(record.blocks, *record.labels.labels().iter().max().unwrap() as usize + 1);
        let stop = view.t() == 50 + self.0;
        Ok(if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}

#[test]
fn an_observer_can_stop_a_run() {
    let run = ensemble::sample(&karate(), &small(), &mut StopAt(7)).unwrap();
    assert!(run.interrupted());
    assert_eq!(run.iterations, 7);
    assert!(run.traces().all(|t| t.log_joint.len() == 7));
    assert_eq!(Summary::new(&run).iterations, 7);
    let whole = sample(&small());
    assert!(run.traces().zip(whole.traces()).all(|(a, b)| a.draws[..] == b.draws[..7]));
}

#[test]
fn impossible_settings_are_refused() {
    let wrong = |settings: Settings| {
        ensemble::sample(&karate(), &settings, &mut ()).unwrap_err().to_string()
    };
    assert!(wrong(Settings { chains: 0, ..small() }).contains("chains"));
    assert!(wrong(Settings { ensembles: 0, ..small() }).contains("ensembles"));
    assert!(wrong(Settings { iterations: 0, ..small() }).contains("iterations"));
    assert!(
        wrong(Settings { start: Start::Labels(vec![0; 33]), ..small() })
            .contains("33 labels for 34 items")
    );
    assert!(
        wrong(Settings { schedule: "arm,gips".parse().unwrap(), ..small() })
            .contains("no move 'gips'")
    );
}

/// A start whose statistics would not fit into memory is refused before anything is allocated.
#[test]
fn a_start_that_is_too_large_is_refused() {
    let grid = match builtin::load("grid:200x200", 1).unwrap().unwrap().data {
        armix::data::Data::Network(graph) => graph,
        other => panic!("{other:?}"),
    };
    let target = Target::new(Irm::new(grid, 1.0, 1.0).unwrap(), 1.0).unwrap();
    let error =
        ensemble::sample(&target, &Settings { start: Start::Singletons, ..small() }, &mut ())
            .unwrap_err();
    assert!(error.to_string().contains("GiB"), "{error}");
}

/// An iteration is a function of state, past and stream: a move that has been used before does
/// the same as a new one.
#[test]
fn moves_have_no_memory() {
    use armix::history::{History, Row};
    use armix::moves::{Chain, Options, registry};
    use armix::rng::{Purpose, Rng};
    let target = karate();
    let mut rng = Rng::from_seed(Purpose::Test, 2);
    let mut history = History::new(1 << 20);
    for t in 0..6 {
        let random = |rng: &mut Rng| (0..34).map(|_| rng.below(4) as u32).collect::<Vec<_>>();
        history.push(
            t,
            (0..2).map(|_| Row::new(&armix::partition::canonical(&random(&mut rng)))).collect(),
        );
    }
    for entry in registry::<Irm>() {
        let step = |used: bool| {
            let mut step = entry.build(&Options::default());
            let mut chain = Chain::new(&target, &[0; 34]);
            if used {
                step.step(&mut chain, history.past(0, 6), &mut Rng::from_seed(Purpose::Test, 3));
                chain = Chain::new(&target, &[0; 34]);
            }
            let outcome =
                step.step(&mut chain, history.past(0, 6), &mut Rng::from_seed(Purpose::Test, 4));
            (outcome, chain.z().labels())
        };
        assert_eq!(step(true), step(false), "{}", entry.name);
    }
}

#[test]
fn chains_that_are_near_are_those_beside_it() {
    use armix::history::{History, Row};
    use armix::rng::{Purpose, Rng};
    let mut history = History::new(1 << 20);
    // Chain c has c + 1 blocks.
    let labels = |chain: u32| (0..6).map(|item: u32| item.min(chain)).collect::<Vec<_>>();
    history.push(0, (0..6).map(|chain| Row::new(&labels(chain))).collect());
    let mut rng = Rng::from_seed(Purpose::Test, 5);
    for (chain, expected) in [(0, 0..=2), (1, 0..=3), (3, 1..=5), (5, 3..=5)] {
        let mut seen = [0u32; 6];
        for _ in 0..1000 {
            let row = history.past(chain, 1).near(2, &mut rng).unwrap().labels();
            seen[*row.iter().max().unwrap() as usize] += 1;
        }
        for (other, &count) in seen.iter().enumerate() {
            assert_eq!(count > 100, expected.contains(&other), "{chain}: {seen:?}");
        }
    }
    assert!(history.past(0, 0).near(2, &mut rng).is_none(), "there is no past");
}

/// What is not a number is never accepted.
#[test]
fn acceptance_probabilities() {
    use armix::moves::metropolis::acceptance;
    assert_eq!(
        [f64::NAN, f64::NEG_INFINITY, 0.0, 5.0, f64::INFINITY].map(acceptance),
        [0.0, 0.0, 1.0, 1.0, 1.0]
    );
    assert!((acceptance(-1.0) - (-1.0f64).exp()).abs() < 1e-15);
}

/// Hyper-parameters at both ends of their range still give probabilities.
#[test]
fn extreme_hyper_parameters() {
    for (alpha, beta) in [(1e-8, 1.0), (1e8, 1.0), (1.0, 1e-8), (1.0, 1e8)] {
        let model = Irm::new(builtin::four_vertex(), beta, beta).unwrap();
        let rows = armix::exact::posterior(&Target::new(model, alpha).unwrap()).unwrap();
        assert!(
            rows.iter().all(|r| r.log_joint <= 0.0 && r.log_joint.is_finite()),
            "{alpha} {beta}"
        );
    }
    for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300] {
        assert!(Irm::new(builtin::four_vertex(), wrong, 1.0).is_err());
        assert!(Target::new(Irm::new(builtin::four_vertex(), 1.0, 1.0).unwrap(), wrong).is_err());
    }
}
