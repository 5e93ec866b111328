//! The search for estimates against the truth by enumeration, and its promises.

use armix::estimate::{Loss, Sample, SearchOptions, distances, expected_loss, minimise};
use armix::partition::all_partitions;
use armix::rng::{Purpose, Rng};

const LOSSES: [Loss; 3] = [Loss::Vi, Loss::Binder, Loss::Ari];

/// Draws around a truth with some blocks: each item hops to a random block with this probability.
fn draws(n: usize, blocks: u64, hop: f64, count: usize, rng: &mut Rng) -> Vec<Vec<u32>> {
    let truth: Vec<u32> = (0..n).map(|_| rng.below(blocks) as u32).collect();
    let place = |label: u32, rng: &mut Rng| {
        if rng.uniform() < hop { rng.below(blocks) as u32 } else { label }
    };
    (0..count).map(|_| truth.iter().map(|&label| place(label, rng)).collect()).collect()
}

#[test]
fn the_search_finds_the_minimum_of_small_problems() {
    let mut rng = Rng::from_seed(Purpose::Test, 81);
    for n in 1..=8 {
        let all = all_partitions(n);
        for round in 0..if n < 8 { 40 } else { 15 } {
            let blocks = 1 + rng.below(n as u64);
            let hop = [0.1, 0.3, 0.6, 1.0][round % 4];
            let count = 1 + rng.below(30) as usize;
            let sample = Sample::new(draws(n, blocks, hop, count, &mut rng)).unwrap();
            for loss in LOSSES {
                let found = minimise(&sample, loss, &SearchOptions::default());
                let losses = all.iter().map(|labels| expected_loss(&sample, labels, loss));
                let least = losses.fold(f64::INFINITY, f64::min);
                let message = format!("n = {n}, round {round}, {loss}");
                assert!(found.expected_loss <= least + 1e-12, "{message}");
                assert_eq!(found.expected_loss, expected_loss(&sample, &found.labels, loss));
            }
        }
    }
}

#[test]
fn the_estimate_is_never_worse_than_a_draw() {
    let mut rng = Rng::from_seed(Purpose::Test, 82);
    for hop in [0.02, 0.2, 0.9] {
        let sample = Sample::new(draws(50, 6, hop, 100, &mut rng)).unwrap();
        for loss in LOSSES {
            let one_run = SearchOptions { runs: 1, ..SearchOptions::default() };
            let found = minimise(&sample, loss, &one_run);
            for d in 0..sample.distinct() {
                let of_draw = expected_loss(&sample, &sample.labels(d), loss);
                assert!(found.expected_loss <= of_draw + 1e-12, "{loss} {hop}");
            }
        }
    }
}

#[test]
fn no_single_item_can_improve_an_estimate() {
    let mut rng = Rng::from_seed(Purpose::Test, 83);
    let sample = Sample::new(draws(30, 5, 0.4, 60, &mut rng)).unwrap();
    for loss in LOSSES {
        let found = minimise(&sample, loss, &SearchOptions::default());
        let blocks = found.labels.iter().max().unwrap() + 1;
        for item in 0..30 {
            for label in 0..=blocks {
                let mut moved = found.labels.clone();
                moved[item] = label;
                assert!(expected_loss(&sample, &moved, loss) >= found.expected_loss - 1e-12);
            }
        }
    }
}

#[test]
fn the_number_of_blocks_can_be_limited() {
    let mut rng = Rng::from_seed(Purpose::Test, 84);
    let sample = Sample::new(draws(7, 6, 0.3, 20, &mut rng)).unwrap();
    for loss in LOSSES {
        for most in 1..=4 {
            let options = SearchOptions { max_blocks: Some(most), ..SearchOptions::default() };
            let found = minimise(&sample, loss, &options);
            let few =
                all_partitions(7).into_iter().filter(|z| *z.iter().max().unwrap() < most as u32);
            let least = few.map(|z| expected_loss(&sample, &z, loss)).fold(f64::INFINITY, f64::min);
            assert!(*found.labels.iter().max().unwrap() < most as u32);
            assert!(found.expected_loss <= least + 1e-12, "{loss} {most}");
        }
    }
}

#[test]
fn threads_do_not_matter() {
    let mut rng = Rng::from_seed(Purpose::Test, 85);
    let sample = Sample::new(draws(80, 8, 0.5, 80, &mut rng)).unwrap();
    let with_threads = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            LOSSES.map(|loss| {
                let found = minimise(&sample, loss, &SearchOptions::default());
                let bits: Vec<u64> = (distances(&sample, &found.labels, loss).iter())
                    .map(|distance| distance.to_bits())
                    .collect();
                (found.expected_loss.to_bits(), found.labels, found.hits, bits)
            })
        })
    };
    assert_eq!(with_threads(1), with_threads(4));
}
