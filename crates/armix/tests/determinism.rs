//! The result is a function of data, settings and seed, and of nothing else.

use armix::builtin;
use armix::ensemble;
use armix::models::{Bernoulli, Irm};
use armix::run::{Run, Settings};
use armix::state::Target;

fn settings() -> Settings {
    Settings {
        ensembles: 2,
        chains: 3,
        iterations: 60,
        schedule: "arm-cells*2,arm,sm,bsm,sarm,srm,sams,arm-inner,gibbs".parse().unwrap(),
        keep_draws: Some(1),
        ..Settings::default()
    }
}

fn karate(settings: &Settings) -> Run {
    let target = Target::new(Irm::new(builtin::karate(), 1.0, 1.0).unwrap(), 1.0).unwrap();
    without_times(ensemble::sample(&target, settings, &mut ()).unwrap())
}

/// Times differ from run to run; everything else must not.
fn without_times(mut run: Run) -> Run {
    run.seconds = 0.0;
    run.settings.threads = 0;
    for trace in run.ensembles.iter_mut().flatten() {
        trace.counters.iter_mut().for_each(|c| c.seconds = 0.0);
    }
    run.hot.iter_mut().for_each(|c| c.seconds = 0.0);
    run
}

#[test]
fn any_number_of_threads_gives_the_same_run() {
    let one = karate(&Settings { threads: 1, ..settings() });
    for threads in [2, 3, 8] {
        assert!(one == karate(&Settings { threads, ..settings() }), "{threads} threads");
    }
    let lonely = |threads| Settings { ensembles: 1, chains: 1, threads, ..settings() };
    assert!(karate(&lonely(1)) == karate(&lonely(4)), "more threads than chains");
    let heated = |threads| Settings { ladder: "4".parse().unwrap(), threads, ..settings() };
    assert!(karate(&heated(1)) == karate(&heated(3)), "hot chains");
    let tuned = |threads| Settings { schedule: "auto".parse().unwrap(), threads, ..settings() };
    assert!(karate(&tuned(1)) == karate(&tuned(3)), "a tuned schedule");
    assert!(one != karate(&Settings { seed: 2, ..settings() }), "the seed matters");
}

/// Pinned: a change here changes the results of every user, and needs a line in the CHANGELOG.
#[test]
fn results_stay_the_same_from_version_to_version() {
    let run = karate(&Settings { threads: 2, ..settings() });
    let last: Vec<f64> = run.traces().map(|t| *t.log_joint.last().unwrap()).collect();
    assert_eq!(last.map_to_strings(), PINNED_KARATE);
    let women = match builtin::southern_women().data {
        armix::data::Data::Table(table) => table,
        other => panic!("{other:?}"),
    };
    let target = Target::new(Bernoulli::new(women, 1.0, 1.0).unwrap(), 1.0).unwrap();
    let run = ensemble::sample(&target, &settings(), &mut ()).unwrap();
    let last: Vec<f64> = run.traces().map(|t| *t.log_joint.last().unwrap()).collect();
    assert_eq!(last.map_to_strings(), PINNED_WOMEN);
}

const PINNED_KARATE: [&str; 6] = [
    "-195.37142254",
    "-205.99442531",
    "-195.65538942",
    "-204.73294444",
    "-198.40224721",
    "-200.52643169",
];
const PINNED_WOMEN: [&str; 6] = [
    "-149.84321415",
    "-149.53222309",
    "-152.91984260",
    "-149.84321415",
    "-153.83660961",
    "-149.53222309",
];

trait MapToStrings {
    fn map_to_strings(&self) -> Vec<String>;
}

impl MapToStrings for Vec<f64> {
    /// Eight digits: enough to notice any change of a partition, few enough for the last bit of a sum.
    fn map_to_strings(&self) -> Vec<String> {
        self.iter().map(|x| format!("{x:.8}")).collect()
    }
}

/// Ensembles do not know of each other: the first of four is the only one of one.
#[test]
fn ensembles_are_independent() {
    let four = karate(&Settings { ensembles: 4, history_bytes: 4 << 20, ..settings() });
    let one = karate(&Settings { ensembles: 1, history_bytes: 1 << 20, ..settings() });
    assert!(four.ensembles[0] == one.ensembles[0]);
    assert!(four.ensembles[0] != four.ensembles[1]);
}

/// More iterations continue the same run.
#[test]
fn a_longer_run_begins_like_a_shorter_one() {
    let short = karate(&settings());
    let long = karate(&Settings { iterations: 90, ..settings() });
    for (short, long) in short.traces().zip(long.traces()) {
        assert_eq!(short.log_joint, long.log_joint[..60]);
        assert_eq!(short.draws, long.draws[..60]);
    }
}
