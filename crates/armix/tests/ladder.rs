//! Tempering is exact: every move at every temperature, the exchange of states, what is sampled, and the evidence.

use armix::ensemble;
use armix::error::Result;
use armix::evidence::{ln_partitions, log_evidence};
use armix::exact;
use armix::ladder::{Batches, Ladder, Round, Rungs};
use armix::model::Model;
use armix::models::{self, Case, Irm, Visitor};
use armix::moves::registry;
use armix::run::Settings;
use armix::state::Target;
use armix::verify::{Backgrounds, Problem};

/// Errors are rounding errors of sums of at most a few thousand numbers below 1.
const EXACT: f64 = 1e-12;

#[test]
fn every_move_leaves_every_hot_target_invariant() {
    struct Hot;
    impl Visitor for Hot {
        fn visit<M: Model>(&mut self, case: &Case<M>) {
            let backgrounds = match case.name {
                "bernoulli" | "irm" => Backgrounds::Sample(100),
                _ => Backgrounds::Sample(10),
            };
            for coldness in [0.6, 0.0] {
                let target = Target::new((case.example)(4), 1.3).unwrap().at(coldness);
                let problem = Problem::new(target);
                for entry in registry::<M>() {
                    let errors = problem.registered(entry.name, &backgrounds);
                    let what = (entry.name, case.name, coldness);
                    assert!(errors.within(EXACT), "{what:?}: {errors:?}");
                }
            }
        }
    }
    models::visit_all(&mut Hot);
}

#[test]
fn a_hot_target_is_a_power_of_the_posterior() {
    let cold = Target::new(Irm::example(5), 1.3).unwrap();
    let hot = cold.at(0.3);
    for labels in [[0, 0, 1, 1, 2], [0, 1, 2, 3, 4], [0, 0, 0, 0, 0]] {
        assert!((hot.ln_q(&labels) - 0.3 * cold.ln_q(&labels)).abs() < 1e-12);
    }
    let rows = exact::posterior(&cold.at(0.0)).unwrap();
    assert!(rows.iter().all(|row| (row.probability - 1.0 / 52.0).abs() < 1e-15), "all are alike");
}

#[test]
fn partitions_are_counted() {
    let bell: [f64; 8] = [1.0, 2.0, 5.0, 15.0, 52.0, 203.0, 877.0, 4140.0];
    for (n, expected) in (1..).zip(bell) {
        assert!((ln_partitions(n) - expected.ln()).abs() < 1e-12, "{n}");
    }
    // B(100) = 4.7585391276764833658790768841387e115
    assert!((ln_partitions(100) - 4.758_539_127_676_483e115_f64.ln()).abs() < 1e-10);
}

#[test]
fn exchanges_are_balanced() {
    let problem = Problem::new(Target::new(Irm::example(4), 1.3).unwrap());
    for b in [[1.0, 0.4], [0.4, 0.0]] {
        assert!(problem.exchange(b, b).within(1e-15), "{b:?}");
    }
    let wrong = problem.exchange([1.0, 0.4], [1.0, 0.7]).invariance;
    assert!(wrong > 1e-4, "exchanges for other temperatures are noticed: {wrong}");
}

#[test]
fn pairs_take_turns_and_chains_keep_to_their_own_ladder() {
    let mut rungs = Rungs::new(&Ladder::Given(vec![1.0, 0.8, 0.6, 0.4]));
    let energies = [0.0; 8]; // equal: every exchange is accepted
    let mut at =
        |t| rungs.exchanges(&energies, &Round { seed: 1, ensemble: 0, t, lap: t, warmup: 0 });
    let (even, odd) = ([[(0, 2), (4, 6)], [(1, 3), (5, 7)]], [[(2, 4)], [(3, 5)]]);
    let both = |chain: usize| [even[chain].to_vec(), odd[chain].to_vec()].concat();
    let first_odd = |chain: usize| [odd[chain].to_vec(), even[chain].to_vec()].concat();
    // Four turns for four rungs: all states travel to the other end and none stays.
    assert_eq!(at(0), [both(0), both(0), both(1), both(1)].concat());
    assert_eq!(at(1), [first_odd(0), first_odd(0), first_odd(1), first_odd(1)].concat());
}

/// How far, in standard errors, all turns of three rungs together lead away from the product of their targets: three states
/// start in each of the six orders, with its exact probability under the `real` inverse temperatures.
fn drift_of_orders(real: [f64; 3], claimed: [f64; 3]) -> f64 {
    const DRAWS: u32 = 20_000;
    const ORDERS: [[usize; 3]; 6] =
        [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let energies = [0.0, 1.3, -2.1];
    let weight = |order: &[usize; 3]| {
        let ln_weight: f64 = order.iter().zip(real).map(|(&state, b)| b * energies[state]).sum();
        ln_weight.exp()
    };
    let whole: f64 = ORDERS.iter().map(weight).sum();
    let p = |order: &[usize; 3]| weight(order) / whole;
    let (mut reached, mut variance) = ([0.0; 6], [0.0; 6]);
    for (at, start) in ORDERS.iter().enumerate() {
        let mut counts = [0u32; 6];
        for seed in 0..DRAWS {
            let (seed, t) = (u64::from(seed), at + seed as usize % 2);
            let mut rungs = Rungs::new(&Ladder::Given(claimed.to_vec()));
            let round = Round { seed, ensemble: at, t, lap: t, warmup: 0 };
            let mut order = *start;
            for (lower, upper) in rungs.exchanges(&start.map(|state| energies[state]), &round) {
                order.swap(lower, upper);
            }
            counts[ORDERS.iter().position(|o| *o == order).unwrap()] += 1;
        }
        for (end, count) in counts.into_iter().enumerate() {
            let share = f64::from(count) / f64::from(DRAWS);
            reached[end] += p(start) * share;
            variance[end] += p(start).powi(2) * share * (1.0 - share) / f64::from(DRAWS);
        }
    }
    let away = |end: usize| (reached[end] - p(&ORDERS[end])).abs() / variance[end].sqrt();
    (0..6).map(away).fold(0.0, f64::max)
}

/// Exchanges before the second and third lap: as often as laps, and with random numbers of their own.
#[test]
fn states_are_exchanged_before_every_lap() {
    let target = Target::new(Irm::example(8), 1.0).unwrap();
    let settings = |moves: &str| Settings {
        ensembles: 1,
        chains: 1,
        ladder: "1,0.5,0.2".parse().unwrap(),
        schedule: moves.parse().unwrap(),
        iterations: 30,
        warmup: 0,
        ..Settings::default()
    };
    let run = |moves: &str| ensemble::sample(&target, &settings(moves), &mut ()).unwrap();
    let (once, thrice) = (run("gibbs"), run("(gibbs)*3"));
    assert_eq!((once.ladders[0].weighed, thrice.ladders[0].weighed), (30, 90));
    assert_eq!(thrice.ensembles[0][0].log_joint.len(), 30, "an iteration is recorded once");
}

/// Six numbers within 5 standard errors: false alarm below 4e-6.
#[test]
fn turns_leave_the_product_of_the_targets_invariant() {
    let real = [1.0, 0.6, 0.1];
    let away = drift_of_orders(real, real);
    assert!(away < 5.0, "{away} standard errors");
    let wrong = drift_of_orders(real, [1.0, 0.5, 0.1]);
    assert!(wrong > 10.0, "turns for other temperatures are noticed: only {wrong}");
}

#[test]
fn tuned_rungs_are_equally_far_apart() {
    let ladder: Ladder = "9:0.2".parse().unwrap();
    let mut rungs = Rungs::new(&ladder);
    // Energies whose exchanges are rejected in proportion to the distance of the rungs in ln b.
    let round = |t| Round { seed: 1, ensemble: 0, t, lap: t, warmup: 16 };
    for t in [1, 2, 4, 8, 16] {
        let steps: Vec<f64> = rungs.coldness.windows(2).map(|b| (b[0] / b[1]).ln()).collect();
        rungs.rejected = steps.iter().map(|s| 0.9 * s).collect();
        rungs.weighed = 1;
        assert!(rungs.tune(&ladder, &round(t)));
    }
    let steps: Vec<f64> = rungs.coldness.windows(2).map(|b| (b[0] / b[1]).ln()).collect();
    let mean = steps.iter().sum::<f64>() / 8.0;
    assert!(steps.iter().all(|s| (s / mean - 1.0).abs() < 0.05), "{steps:?}");
    assert_eq!((rungs.coldness[0], rungs.coldness.len()), (1.0, 9));
    assert!((rungs.coldness[8] - 0.2).abs() < 1e-12);
    for t in [0, 3, 12, 15, 17, 32] {
        assert!(!rungs.tune(&ladder, &round(t)), "not in between, nor after warm-up: {t}");
    }
}

#[test]
fn a_ladder_that_is_too_long_is_shortened() {
    let ladder: Ladder = "4:0.1".parse().unwrap();
    let mut rungs = Rungs::new(&ladder);
    (rungs.rejected, rungs.weighed) = (vec![0.95; 3], 1);
    rungs.tune(&ladder, &Round { seed: 1, ensemble: 0, t: 1, lap: 1, warmup: 1 });
    assert!(rungs.coldness[3] > 0.25, "{:?}", rungs.coldness);
    assert!(rungs.coldness.is_sorted_by(|a, b| a > b));
    let to_zero: Ladder = "4:0".parse().unwrap();
    let mut rungs = Rungs::new(&to_zero);
    (rungs.rejected, rungs.weighed) = (vec![0.95, 0.9, 0.99], 1);
    rungs.tune(&to_zero, &Round { seed: 1, ensemble: 0, t: 1, lap: 1, warmup: 1 });
    assert_eq!(rungs.coldness[3], 0.0, "but not if the evidence is asked for");
}

#[test]
fn batches_keep_their_means() {
    let mut batches = Batches::default();
    (0..1000).for_each(|i| batches.add((1.0 + f64::from(i % 10)).ln()));
    let means = batches.ln_means();
    assert!((8..=32).contains(&means.len()), "{}", means.len());
    let mean = means.iter().map(|x| x.exp()).sum::<f64>() / means.len() as f64;
    assert!((mean - 5.5).abs() < 0.2, "{mean}");
}

#[test]
fn ladders_are_read_and_written() {
    let read = |text: &str| -> Result<String> { Ok(text.parse::<Ladder>()?.to_string()) };
    assert_eq!(read("16").unwrap(), "16:0.25");
    assert_eq!(read("16:0.25").unwrap(), "16:0.25");
    assert_eq!(read("1").unwrap(), "1");
    assert_eq!(read("1,0.5,0").unwrap(), "1,0.5,0");
    for wrong in ["0", "x", "4:2", "4:1", "1,1", "0.5,0.2", "4:", "", "1,0.5,0.7", "9999"] {
        let message = read(wrong).unwrap_err().to_string();
        assert!(message.contains("inverse temperature"), "{wrong}: {message}");
    }
}

/// ln p(Y) by a ladder down to where all partitions are alike, against the sum over all partitions. The error is estimated from 32 batches
/// or more in each of 4 ensembles: 6 standard errors are not exceeded by chance in 14 models with p > 1e-5.
#[test]
fn evidence_is_that_of_enumeration() {
    struct Evidence;
    impl Visitor for Evidence {
        fn visit<M: Model>(&mut self, case: &Case<M>) {
            let target = Target::new((case.example)(6), 1.3).unwrap();
            if target.model.reals_per_block() > 0 || target.model.sides().is_some() {
                return; // no evidence to enumerate, or not all partitions are possible
            }
            let settings = Settings {
                chains: 1,
                ladder: "8:0".parse().unwrap(),
                iterations: 4000,
                warmup: 100,
                seed: 3,
                threads: 1,
                ..Settings::default()
            };
            let run = ensemble::sample(&target, &settings, &mut ()).unwrap();
            let found = log_evidence(&run).unwrap();
            let rows = exact::posterior(&target).unwrap();
            let expected = rows.iter().map(|r| r.log_joint.exp()).sum::<f64>().ln();
            let distance = (found.value - expected) / found.error;
            assert!(distance.abs() < 6.0, "{}: {found:?}, not {expected}", case.name);
            assert!(found.error < 0.1, "{}: {found:?}", case.name);
        }
    }
    models::visit_all(&mut Evidence);
}

/// At b = 0.5 a quarter of the proposals is made, unless there are no scans: chains that nothing moves would be stuck.
#[test]
fn hot_chains_make_fewer_proposals_beside_their_scans() {
    let target = Target::new(Irm::example(8), 1.0).unwrap();
    let tried = |moves: &str| {
        let settings = Settings {
            ensembles: 2,
            chains: 1,
            ladder: "1,0.5".parse().unwrap(),
            schedule: moves.parse().unwrap(),
            iterations: 40,
            warmup: 0,
            ..Settings::default()
        };
        let run = ensemble::sample(&target, &settings, &mut ()).unwrap();
        let cold = run.ensembles.iter().map(|chains| &chains[0].counters);
        let cold = cold.fold(vec![0; run.hot.len()], |sums, counters| {
            sums.iter().zip(counters).map(|(sum, c)| sum + c.proposed + c.idle).collect()
        });
        (cold, run.hot.iter().map(|c| c.proposed + c.idle).collect::<Vec<u64>>())
    };
    assert_eq!(tried("sm*4,gibbs*2"), (vec![320, 160], vec![80, 160]));
    assert_eq!(tried("sm*4"), (vec![320], vec![320]));
    assert_eq!(tried("(sm*4,gibbs*2)*3"), (vec![960, 480], vec![240, 480]), "in every lap");
    let (cold, hot) = tried("auto:sm,gibbs");
    assert!(cold[1] == hot[1] && 2 * hot[0] < cold[0], "tuned schedules, too: {cold:?}, {hot:?}");
}
