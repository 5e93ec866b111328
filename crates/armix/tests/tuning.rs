//! Schedules that tune themselves: what weights follow from what moves achieve, and what is read and written.

use armix::builtin;
use armix::ensemble;
use armix::ladder::Ladder;
use armix::models::Irm;
use armix::moves::Schedule;
use armix::pilot;
use armix::rng::{Purpose, Rng};
use armix::run::{Run, Settings, Wishes};
use armix::state::Target;
use armix::tuning::{Achieved, Mix, Tuning};

fn achieved(tried: f64, work: f64, jump: f64) -> Achieved {
    Achieved { tried, work, jump }
}

#[test]
fn work_is_divided_by_what_it_achieves() {
    // The second achieves three times as much for its work, and a proposal of it costs twice as much.
    let moves = [achieved(100.0, 1e4, 1.0), achieved(100.0, 2e4, 6.0), achieved(100.0, 6e4, 0.0)];
    let mix = Mix::new(&moves, &[false, false, true]);
    // A quarter equally: 0.125 + 0.75 · (1/4 and 3/4) of the work.
    let shares = [0.125 + 0.75 * 0.25, 0.125 + 0.75 * 0.75];
    let often = [shares[0] / 100.0, shares[1] / 200.0];
    for (probability, often_) in mix.probabilities.iter().zip(often) {
        assert!((probability - often_ / (often[0] + often[1])).abs() < 1e-12, "{mix:?}");
    }
    assert_eq!(mix.probabilities[2], 0.0, "scans are made anyway");
    // A scan costs 600, a proposal 1 / (often) = 153 on average.
    assert_eq!(mix.proposals, 4);
}

#[test]
fn what_is_not_known_is_divided_equally() {
    let nothing = Mix::new(&[Achieved::default(); 3], &[false, false, true]);
    assert_eq!(nothing.probabilities, [0.5, 0.5, 0.0]);
    assert!((1..=8).contains(&nothing.proposals));
    let idle = Mix::new(&[achieved(50.0, 0.0, 0.0), achieved(50.0, 5e3, 0.0)], &[false, false]);
    assert!(idle.probabilities.iter().all(|p| *p > 0.0) && idle.proposals == 2, "{idle:?}");
    let only_scans = Mix::new(&[achieved(50.0, 5e3, 0.0)], &[true]);
    assert_eq!(only_scans.probabilities, [0.0]);
}

/// 100 000 draws: 5 standard deviations, so that the false-alarm rate is below 2e-6.
#[test]
fn entries_are_drawn_by_their_probabilities() {
    let mix = Mix { proposals: 3, probabilities: vec![0.0, 0.25, 0.0, 0.75] };
    let mut rng = Rng::from_seed(Purpose::Test, 6);
    let mut counts = [0.0; 4];
    (0..100_000).for_each(|_| counts[mix.draw(&mut rng)] += 1.0);
    assert_eq!((counts[0], counts[2]), (0.0, 0.0));
    assert!((counts[1] - 25_000.0_f64).abs() < 5.0 * (100_000.0_f64 * 0.1875).sqrt(), "{counts:?}");
}

#[test]
fn only_the_second_half_of_warm_up_counts() {
    let mut tuning = Tuning::new(1);
    for t in 0..=20 {
        tuning.hear(t, 20, &[achieved(1.0, 10.0, 0.5)]);
    }
    assert_eq!(tuning.achieved, [achieved(10.0, 100.0, 5.0)]);
    tuning.mix = Some(Mix::new(&tuning.achieved, &[false]));
    tuning.hear(21, 20, &[achieved(1.0, 10.0, 0.5)]);
    assert_eq!(tuning.achieved, [achieved(10.0, 100.0, 5.0)], "and nothing after it");
}

#[test]
fn schedules_are_read_and_written() {
    let read = |text: &str| text.parse::<Schedule>().unwrap();
    let auto = read("auto");
    assert!(auto.is_tuned() && auto.moves().len() > 2);
    assert_eq!(read(&auto.to_string()), auto, "as it is saved");
    assert_eq!(read("auto: arm:cells, gibbs*2").to_string(), "auto:arm:cells,gibbs*2");
    assert!(!read("arm:cells*3,gibbs").is_tuned());
    let laps = |text: &str| (read(text).laps(), read(text).to_string());
    assert_eq!(laps("arm,gibbs"), (1, "arm,gibbs".into()));
    assert_eq!(laps(" ( arm*2, gibbs ) * 3 "), (3, "(arm*2,gibbs)*3".into()));
    assert_eq!(laps("(arm,gibbs)"), (1, "arm,gibbs".into()));
    assert_eq!(laps("auto:(arm,sm,gibbs)*2"), (2, "auto:(arm,sm,gibbs)*2".into()));
    assert!(read("arm:likely,gibbs").weighs_past() && !read("arm,gibbs").weighs_past());
    for (wrong, why) in [
        ("arm:x", "there is no strategy 'x'"),
        ("sm:cells", "does not use the past"),
        ("auto:x", "there is no move 'x'"),
    ] {
        let error = read(wrong).build::<Irm>(&Settings::default().moves).err().unwrap();
        assert!(error.to_string().contains(why), "{error}");
    }
    assert!("auto:".parse::<Schedule>().is_err());
}

fn karate(schedule: &str) -> Run {
    let target = Target::new(Irm::new(builtin::karate(), 1.0, 1.0).unwrap(), 1.0).unwrap();
    let settings = Settings {
        ensembles: 2,
        chains: 4,
        iterations: 100,
        schedule: schedule.parse().unwrap(),
        ..Settings::default()
    };
    ensemble::sample(&target, &settings, &mut ()).unwrap()
}

#[test]
fn a_run_is_made_of_what_was_tuned() {
    let run = karate("auto:arm,sm,gibbs");
    assert_eq!(run.mixes.len(), 2, "one for each ensemble");
    for (mix, traces) in run.mixes.iter().zip(&run.ensembles) {
        let counters = run.counters(traces.iter());
        // 50 iterations of warm-up with one of each, and 100 with what was tuned, of 4 chains.
        let made: u64 = counters[..2].iter().map(|c| c.proposed + c.idle).sum();
        assert_eq!(made as usize, 4 * (50 * 2 + 100 * mix.proposals));
        assert_eq!(counters[2].proposed, 4 * 150, "scans are made in every iteration");
        assert!((mix.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
    assert!(karate("arm,gibbs").mixes.is_empty());
}

#[test]
fn what_is_not_said_depends_on_the_rest() {
    let usual = Wishes::default().settings(true, Settings::default());
    assert_eq!((usual.chains, usual.ladder.rungs()), (1, 16));
    let cold = Wishes::default().settings(false, Settings::default());
    assert_eq!((cold.chains, cold.ladder.rungs()), (8, 1));
    let several =
        Wishes { chains: Some(3), ..Wishes::default() }.settings(true, Settings::default());
    assert_eq!((several.chains, several.ladder.rungs()), (3, 1));
    let short = Wishes { ladder: Some("4".parse().unwrap()), ..Wishes::default() };
    assert_eq!(
        (
            short.clone().settings(true, Settings::default()).chains,
            short.settings(true, Settings::default()).ladder.rungs()
        ),
        (1, 4)
    );
    let none = Wishes { ladder: Some("1".parse().unwrap()), ..Wishes::default() };
    assert_eq!(none.settings(true, Settings::default()).schedule, Settings::default().schedule);
}

#[test]
fn a_pilot_finds_the_length_of_a_ladder() {
    let target = |data| Target::new(Irm::new(data, 1.0, 1.0).unwrap(), 1.0).unwrap();
    let settle = |data, wishes: Wishes, iterations| {
        let rest = Settings { iterations, seed: 7, ..Settings::default() };
        pilot::settings(&target(data), wishes, rest, &mut ()).unwrap()
    };
    let ladder = |data| settle(data, Wishes::default(), 1000).ladder;
    let end = |ladder: &Ladder| *ladder.first().last().unwrap();
    let few = ladder(builtin::four_vertex());
    assert_eq!(few.rungs(), 6, "exchanges are nearly always accepted");
    let karate = ladder(builtin::karate());
    assert_eq!(karate, ladder(builtin::karate()), "the same seed gives the same ladder");
    assert!((0.3..=0.5).contains(&end(&karate)), "it need not be hot there: {karate}");
    let many = ladder(builtin::planted_by_degree(8, 20.0, 2000, 1).unwrap().0);
    assert!(few.rungs() < many.rungs() && many.rungs() <= 32, "{few}, {many}");
    // What was said stays as it was said, and what was not said does not change anything else.
    let said = Wishes { ladder: Some("5:0.3".parse().unwrap()), ..Wishes::default() };
    assert_eq!(settle(builtin::karate(), said, 10).ladder.to_string(), "5:0.3");
    let cold = Wishes { chains: Some(3), ..Wishes::default() };
    assert!(settle(builtin::karate(), cold, 10).ladder.is_none());
    let short = settle(builtin::karate(), Wishes::default(), 10);
    assert_eq!((short.iterations, short.warmup, short.seed, short.ensembles), (10, 50, 7, 4));
}
