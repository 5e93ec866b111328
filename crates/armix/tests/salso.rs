//! The search for estimates against the reference implementation of SALSO: the same losses, and
//! nothing worse found from the same number of starts.

use armix::estimate::{Loss, Sample, SearchOptions, expected_loss, minimise};
use armix::rng::{Purpose, Rng};
use dahl_salso::clustering::Clusterings;
use dahl_salso::optimize::{SALSOParameters, minimize_by_salso};
use dahl_salso::{LossFunction, PartitionDistributionInformation};
use rand_pcg::rand_core::SeedableRng;

const RUNS: usize = 16;

/// Draws around a truth in which each item hops to a random block with a probability of its own.
fn draws(n: usize, blocks: u64, count: usize, rng: &mut Rng) -> Vec<Vec<u32>> {
    let truth: Vec<u32> = (0..n).map(|_| rng.below(blocks) as u32).collect();
    let hop: Vec<f64> = (0..n).map(|_| rng.uniform().powi(2)).collect();
    let mut draw = || {
        let place = |i: usize, rng: &mut Rng| {
            if rng.uniform() < hop[i] { rng.below(blocks) as u32 } else { truth[i] }
        };
        (0..n).map(|i| place(i, rng)).collect()
    };
    (0..count).map(|_| draw()).collect()
}

/// The labels that SALSO finds with the settings of its R package, and what it says of their loss.
fn salso(draws: &[Vec<u32>], loss: Loss, seed: u64) -> (Vec<u32>, f64) {
    let n = draws[0].len();
    let by_item = (0..n).flat_map(|i| draws.iter().map(move |draw| draw[i] as i32));
    let clusterings = Clusterings::from_i32_column_major_order(&by_item.collect::<Vec<i32>>(), n);
    let loss = match loss {
        Loss::Vi => LossFunction::VI(1.0),
        Loss::Binder => LossFunction::BinderDraws(1.0),
        Loss::Ari => LossFunction::OneMinusARI,
    };
    let parameters = SALSOParameters {
        n_items: n,
        max_size: 0,
        max_size_as_rf: false,
        max_scans: u32::MAX,
        max_zealous_updates: 10,
        n_runs: RUNS as u32,
        prob_sequential_allocation: 0.5,
        prob_singletons_initialization: 0.0,
    };
    let found = minimize_by_salso(
        PartitionDistributionInformation::Draws(&clusterings),
        loss,
        &parameters,
        f64::INFINITY,
        1,
        &mut rand_pcg::Pcg64Mcg::seed_from_u64(seed),
    );
    (found.clustering.iter().map(|&label| label as u32).collect(), found.expected_loss)
}

#[test]
fn losses_are_the_same_and_estimates_are_no_worse() {
    let mut rng = Rng::from_seed(Purpose::Test, 91);
    let mut better = 0;
    for (round, (n, blocks)) in [(20, 3), (40, 8), (60, 6), (100, 12)].into_iter().enumerate() {
        let draws = draws(n, blocks, 150, &mut rng);
        let sample = Sample::new(&draws).unwrap();
        for loss in [Loss::Vi, Loss::Binder, Loss::Ari] {
            let (labels, theirs) = salso(&draws, loss, round as u64);
            let same = expected_loss(&sample, &labels, loss);
            assert!((same - theirs).abs() < 1e-10, "n = {n}, {loss}: {same} and {theirs}");
            let options = SearchOptions { runs: RUNS, ..SearchOptions::default() };
            let ours = minimise(&sample, loss, &options).expected_loss;
            assert!(ours <= theirs + 1e-10, "n = {n}, {loss}: {ours} after {theirs}");
            better += usize::from(ours < theirs - 1e-10);
        }
    }
    println!("better in {better} of 12");
}
