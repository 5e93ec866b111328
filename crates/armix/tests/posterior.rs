//! Long runs find the exact posterior: every schedule, adaptive, and not interlaced with Gibbs scans
//! unless it says so.
//!
//! As in the paper's figure, 160 000 iterations of each schedule on the four-vertex graph are
//! compared with the enumerated posterior. The frequency of each of the 15 partitions is averaged
//! over 100 batches (25 of each of 4 independent ensembles), whose spread gives its error.
//! A deviation of more than 5 standard errors (Student, 99 degrees of freedom: p = 2.5e-6, two-sided)
//! is a failure; with 15 partitions and 81 runs the false-alarm rate is below 3.1e-3 for the file.

use armix::builtin;
use armix::diagnose::mean_sd;
use armix::ensemble;
use armix::exact;
use armix::model::Model;
use armix::models::{self, Bernoulli, Case, Irm, Visitor};
use armix::run::Settings;
use armix::state::Target;
use std::collections::HashMap;

const BATCHES: usize = 25;
const LIMIT: f64 = 5.0;

/// The largest deviation from the expected frequencies, in standard errors.
fn deviation<M: Model>(
    target: &Target<M>,
    settings: &Settings,
    expected: &HashMap<Vec<u32>, f64>,
) -> f64 {
    let run = ensemble::sample(target, settings, &mut ()).unwrap();
    let length = settings.iterations / BATCHES;
    let mut frequencies: HashMap<&Vec<u32>, Vec<f64>> =
        expected.keys().map(|z| (z, Vec::new())).collect();
    for chains in &run.ensembles {
        for batch in 0..BATCHES {
            let mut counts: HashMap<Vec<u32>, usize> = HashMap::new();
            for trace in chains {
                for row in &trace.draws[batch * length..(batch + 1) * length] {
                    *counts.entry(row.labels()).or_default() += 1;
                }
            }
            for (z, batches) in &mut frequencies {
                let count = counts.get(*z).copied().unwrap_or(0);
                batches.push(count as f64 / (length * chains.len()) as f64);
            }
        }
    }
    (frequencies.iter())
        .map(|(z, batches)| {
            let (mean, sd) = mean_sd(batches);
            (mean - expected[*z]).abs() / (sd / (batches.len() as f64).sqrt())
        })
        .fold(0.0, f64::max)
}

fn exact_posterior<M: Model>(target: &Target<M>) -> HashMap<Vec<u32>, f64> {
    let rows = exact::posterior(target).unwrap();
    rows.into_iter().map(|r| (r.labels, r.probability)).collect()
}

fn settings(schedule: &str) -> Settings {
    Settings {
        ensembles: 4,
        chains: 4,
        iterations: 10_000,
        schedule: schedule.parse().unwrap(),
        keep_draws: Some(1),
        seed: 11,
        threads: 1, // the same draws; the tests are what runs in parallel
        ..Settings::default()
    }
}

fn four_vertex(alpha: f64) -> Target<Irm> {
    Target::new(Irm::new(builtin::four_vertex(), 1.0, 1.0).unwrap(), alpha).unwrap()
}

fn check(schedule: &str, change: impl Fn(&mut Settings)) {
    let mut settings = settings(schedule);
    change(&mut settings);
    let target = four_vertex(1.0);
    let d = deviation(&target, &settings, &exact_posterior(&target));
    assert!(d < LIMIT, "four-vertex, {schedule}: {d} standard errors");
    let target = Target::new(Bernoulli::example(4), 1.3).unwrap();
    let d = deviation(&target, &settings, &exact_posterior(&target));
    assert!(d < LIMIT, "bernoulli example, {schedule}: {d} standard errors");
}

#[test]
fn gibbs() {
    check("gibbs", |_| {});
}

#[test]
fn split_merge_moves() {
    for schedule in ["sm", "sams", "bsm"] {
        check(schedule, |_| {});
    }
}

#[test]
fn reconfigurations() {
    for schedule in ["srm", "sarm", "arm-inner", "arm"] {
        check(schedule, |_| {});
    }
}

#[test]
fn mixed_schedules() {
    for schedule in ["arm,gibbs", "sm,gibbs", "arm-cells,gibbs", "arm-cells*5,arm,sm,gibbs"] {
        check(schedule, |_| {});
    }
}

#[test]
fn strategies() {
    for strategy in armix::moves::strategies::registry() {
        check(&format!("arm:{}", strategy.name), |_| {});
    }
    check("arm:likely,arm:sets,gibbs", |s| s.ladder = "4:0.2".parse().unwrap());
}

#[test]
fn schedules_that_tune_themselves() {
    check("auto", |_| {});
    check("auto:arm:cells,sm,bsm", |s| s.exchange_every = 7);
    check("auto", |s| {
        s.ladder = "4:0.2".parse().unwrap();
        (s.chains, s.iterations) = (1, 40_000);
    });
}

#[test]
fn every_model() {
    struct Every;
    impl Visitor for Every {
        fn visit<M: Model>(&mut self, case: &Case<M>) {
            let target = Target::new((case.example)(4), 1.3).unwrap();
            if target.model.reals_per_block() > 0 {
                return; // enumeration needs a closed form; `nonconjugate.rs` has its own tests
            }
            let d = deviation(&target, &settings("arm,gibbs"), &exact_posterior(&target));
            assert!(d < LIMIT, "{} example: {d} standard errors", case.name);
        }
    }
    models::visit_all(&mut Every);
}

#[test]
fn a_single_chain_uses_its_own_past() {
    check("arm", |s| {
        (s.ensembles, s.chains, s.iterations) = (4, 1, 40_000);
    });
}

#[test]
fn ladders() {
    for (schedule, ladder, chains) in [
        ("arm,gibbs", "4:0.2", 2),
        ("arm", "1,0.5,0", 2),
        ("gibbs", "8", 1),
        ("(arm,gibbs)*3", "4:0.2", 2),
    ] {
        check(schedule, |s| {
            s.ladder = ladder.parse().unwrap();
            (s.chains, s.iterations) = (chains, 40_000 / chains);
        });
    }
}

#[test]
fn a_frozen_past() {
    for schedule in ["arm", "arm-cells,gibbs"] {
        check(schedule, |s| s.freeze_after = Some(20));
    }
}

#[test]
fn a_thinned_past() {
    check("arm", |s| s.history_bytes = 20_000);
}

#[test]
fn a_past_that_comes_in_portions() {
    check("arm", |s| s.exchange_every = 10);
}

#[test]
fn other_starts_and_no_warmup() {
    use armix::run::Start;
    for start in [Start::One, Start::Singletons] {
        check("arm,gibbs", |s| {
            s.start = start.clone();
            s.warmup = 0;
        });
    }
}

/// The test would notice a sampler of a slightly different posterior.
#[test]
fn a_wrong_posterior_is_noticed() {
    let wrong = exact_posterior(&four_vertex(1.1));
    let d = deviation(&four_vertex(1.0), &settings("arm,gibbs"), &wrong);
    assert!(d > 2.0 * LIMIT, "α = 1.1 instead of 1: only {d} standard errors");
}
