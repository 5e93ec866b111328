//! Likelihoods without closed form are sampled exactly: everything about one iteration is enumerated where the
//! parameter is one of three values, with negative controls; then long runs. `student.rs` has a real example.
//!
//! Long runs fail at 5 standard errors of 100 batches (p = 2.5e-6 each): with 16 numbers in each of 6 runs the false-alarm
//! rate is below 2e-4 for the file.

use armix::diagnose::mean_sd;
use armix::ensemble;
use armix::evidence::log_evidence;
use armix::model::Model;
use armix::models::nonconjugate::{Likelihood, Menus, Nonconjugate, Uniform};
use armix::moves::Scan;
use armix::moves::gibbs::Gibbs;
use armix::partition::{Item, Partition, all_partitions};
use armix::prior::{Crp, PartitionPrior};
use armix::rng::{Purpose, Rng};
use armix::run::Settings;
use armix::state::{State, Target};
use armix::verify::Enumerate;
use std::collections::HashMap;
use std::sync::Arc;

const ALPHA: f64 = 1.3;
const EXACT: f64 = 1e-12;
const H: [f64; 3] = [0.5, 0.3, 0.2];

/// What G is informed by.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Informed {
    /// It is H.
    No,
    /// H and the past in equal shares: a menu of two has one from each.
    ByThePast,
    /// By the own value of an item, too: three shares, so that a menu of two is drawn from their mixture.
    Fully,
}

/// θ is 0, 1 or 2.
#[derive(Debug, Clone)]
struct Grid {
    n: usize,
    informed: Informed,
}

/// The value of an item is its number.
const ITEMS: [f64; 8] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];

impl Grid {
    /// Multiples of 1/8, so that they are exact in every unit.
    fn ln_f(item: usize, theta: usize) -> f64 {
        -0.125 * ((item * item + 5 * item * theta + 3 * theta * theta) % 19) as f64
    }
}

fn draw(p: &[f64; 3], uniform: &mut Uniform<'_>) -> usize {
    let u = uniform();
    usize::from(u >= p[0]) + usize::from(u >= p[0] + p[1])
}

impl Likelihood for Grid {
    const NAME: &'static str = "grid";
    const REALS: usize = 1;
    type Parameter = usize;
    type Fit = [f64; 3];

    fn n(&self) -> usize {
        self.n
    }
    fn d(&self) -> usize {
        1
    }
    fn write(&self, theta: &usize, reals: &mut Vec<f64>) {
        reals.push(*theta as f64);
    }
    fn read(&self, reals: &[f64]) -> usize {
        reals[0] as usize
    }
    fn row(&self, item: usize) -> &[f64] {
        &ITEMS[item..=item]
    }
    fn column(&self, _column: usize) -> &[f64] {
        &ITEMS[..self.n]
    }
    /// Something else than 1, with a highest density that is not 1.
    fn exponent(&self) -> f64 {
        2.0
    }
    fn ln_top(&self, _column: usize, theta: &usize) -> f64 {
        0.25 * *theta as f64
    }
    fn coordinates(&self, theta: &usize) -> [f64; 2] {
        [*theta as f64, 0.5]
    }
    fn distance(&self, value: f64, [theta, half]: [f64; 2]) -> f64 {
        (half * (0.25 * theta - Grid::ln_f(value as usize, theta as usize))).exp()
    }
    fn farthest(&self, _column: usize, _theta: &usize) -> f64 {
        10.0
    }
    fn draw_base(&self, _column: usize, uniform: &mut Uniform<'_>) -> usize {
        draw(&H, uniform)
    }
    fn ln_base(&self, _column: usize, theta: &usize) -> f64 {
        H[*theta].ln()
    }
    /// Not the posterior, but not far from it.
    fn fit(&self, _column: usize, items: &[u32], coldness: f64) -> Option<[f64; 3]> {
        let weight = |theta| {
            let ln_f: f64 = items.iter().map(|&i| Grid::ln_f(i as usize, theta)).sum();
            0.1 + (0.5 * coldness * ln_f).exp()
        };
        let weights = [0, 1, 2].map(weight);
        let known = match self.informed {
            Informed::No => false,
            Informed::ByThePast => items.len() > 1,
            Informed::Fully => true,
        };
        known.then_some(weights.map(|w| w / weights.iter().sum::<f64>()))
    }
    fn draw_fit(&self, fit: &[f64; 3], uniform: &mut Uniform<'_>) -> usize {
        draw(fit, uniform)
    }
    fn fit_density(&self, fit: &[f64; 3], theta: &usize) -> f64 {
        fit[*theta]
    }
    fn wander(&self, _: usize, _: usize, theta: &usize, uniform: &mut Uniform<'_>) -> usize {
        (theta + 1 + usize::from(uniform() < 0.5)) % 3
    }
    fn mean(&self, theta: &usize) -> f64 {
        *theta as f64
    }
    fn example(n: usize) -> Self {
        Grid { n, informed: Informed::Fully }
    }
    fn simulate(&self, _: &dyn Fn(usize, usize) -> usize, _: &mut Uniform<'_>) -> Self {
        self.clone()
    }
}

fn members(labels: &[u32]) -> Vec<Vec<u32>> {
    let blocks = labels.iter().max().map_or(0, |&m| m + 1);
    let of = |b| (0..labels.len() as u32).filter(|&i| labels[i as usize] == b).collect();
    (0..blocks).map(of).collect()
}

/// H(θ) ∏ fᵇ of a block.
fn joint(block: &[u32], theta: usize, coldness: f64) -> f64 {
    let ln_f: f64 = block.iter().map(|&i| Grid::ln_f(i as usize, theta)).sum();
    H[theta] * (coldness * ln_f).exp()
}

fn prior(labels: &[u32]) -> f64 {
    let crp = Crp::new(ALPHA, labels.len()).unwrap();
    crp.ln_p(&Partition::from_labels(labels)).exp()
}

/// q(z) at inverse temperature b, with θ summed over.
fn q(labels: &[u32], coldness: f64) -> f64 {
    let evidence = |b: &Vec<u32>| (0..3).map(|theta| joint(b, theta, coldness)).sum::<f64>();
    prior(labels).powf(coldness) * members(labels).iter().map(evidence).product::<f64>()
}

fn leader(block: &[u32], rank: &[u32]) -> usize {
    *block.iter().min_by_key(|&&i| rank[i as usize]).unwrap() as usize
}

fn permutations(n: usize) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new()];
    for next in 0..n as u32 {
        let longer = |p: &Vec<u32>| {
            let p = p.clone();
            (0..=p.len()).map(move |at| {
                let mut longer = p.clone();
                longer.insert(at, next);
                longer
            })
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// Every menu with m = 2 for n items.
fn all_menus(n: usize) -> impl Iterator<Item = Vec<usize>> {
    (0..3usize.pow(2 * n as u32))
        .map(move |code| (0..2 * n as u32).map(|at| code / 3usize.pow(at) % 3).collect())
}

/// What may be wrong with an iteration.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// Entries count alike, whatever they were drawn from.
    WeightsForgotten,
    /// The parameters of the blocks are not on the menus.
    ParametersForgotten,
    /// G looks at the present instead of the past.
    GuidedByThePresent,
}

/// The shares of G of an item, whose mean G is.
type Shares = Vec<[f64; 3]>;

/// G of every item: by its block in a partition and its own value, as [`Menus::draw`] has it.
fn guides(grid: &Grid, labels: &[u32], coldness: f64) -> Vec<Shares> {
    let blocks = members(labels);
    (0..grid.n)
        .map(|item| {
            let past = grid.fit(0, &blocks[labels[item] as usize], coldness);
            let own = grid.fit(0, &[item as u32], coldness);
            [past, own, Some(H)].into_iter().flatten().collect()
        })
        .collect()
}

fn mean(shares: &Shares, theta: usize) -> f64 {
    shares.iter().map(|share| share[theta]).sum::<f64>() / shares.len() as f64
}

/// What an entry of a menu of two is drawn from: with two shares one from each, else from their mean.
fn entry_density(shares: &Shares, entry: usize, theta: usize) -> f64 {
    if shares.len() == 2 { shares[entry][theta] } else { mean(shares, theta) }
}

fn model(
    grid: &Grid,
    rank: &[u32],
    theta: &[usize],
    g: &[Shares],
    coldness: f64,
    fault: Fault,
) -> Nonconjugate<Grid> {
    let ratio = |(at, &theta): (usize, &usize)| match fault {
        Fault::WeightsForgotten => 0.5f64.ln(),
        _ => (0.5 * H[theta] / mean(&g[at / 2], theta)).ln(),
    };
    let ln_weight = theta.iter().enumerate().map(ratio).collect();
    let menus = Menus { entries: 2, rank: rank.to_vec(), theta: theta.to_vec(), ln_weight };
    Nonconjugate::with_menus(Arc::new(grid.clone()), menus).at(coldness)
}

fn density(theta: &[usize], g: &[Shares]) -> f64 {
    let of = |(at, &theta): (usize, &usize)| entry_density(&g[at / 2], at % 2, theta);
    theta.iter().enumerate().map(of).product()
}

/// The largest relative error of E[q̂(z)] = q(z), where q̂ is what the moves sample given ranks and menus.
fn error_of_the_mean(
    n: usize,
    rank: &[u32],
    informed: Informed,
    coldness: f64,
    fault: Fault,
) -> f64 {
    let grid = Grid { n, informed };
    let g = guides(&grid, &(0..n as u32).map(|i| i / 2).collect::<Vec<_>>(), coldness);
    let partitions = all_partitions(n);
    let mut sums = vec![0.0; partitions.len()];
    for theta in all_menus(n) {
        let p = density(&theta, &g);
        let model = model(&grid, rank, &theta, &g, coldness, fault);
        let target = Target::new(model, ALPHA).unwrap().at(coldness);
        for (sum, labels) in sums.iter_mut().zip(&partitions) {
            *sum += p * target.ln_q(labels).exp();
        }
    }
    let error = |(sum, labels): (&f64, &Vec<u32>)| (sum / q(labels, coldness) - 1.0).abs();
    sums.iter().zip(&partitions).map(error).fold(0.0, f64::max)
}

const ALL: [Informed; 3] = [Informed::No, Informed::ByThePast, Informed::Fully];

/// The mean over menus of what the moves sample is the posterior, for every order of ranks.
#[test]
fn menus_are_unbiased() {
    for informed in ALL {
        for rank in permutations(3) {
            for coldness in [1.0, 0.4] {
                let error = error_of_the_mean(3, &rank, informed, coldness, Fault::None);
                assert!(error < EXACT, "{rank:?}, {informed:?}, {coldness}: {error}");
            }
        }
        let error = error_of_the_mean(4, &[2, 0, 3, 1], informed, 1.0, Fault::None);
        assert!(error < EXACT, "{error}");
    }
    for (informed, least) in [(Informed::Fully, 0.01), (Informed::ByThePast, 0.005)] {
        let error = error_of_the_mean(3, &[2, 0, 1], informed, 1.0, Fault::WeightsForgotten);
        assert!(error > least, "{informed:?}: only {error}");
    }
}

/// The largest error of π P = π, where π(z, θ) ∝ q(z, θ) and P is one iteration: lay out, a Gibbs scan or none,
/// pick up.
fn error_of_an_iteration(
    n: usize,
    rank: &[u32],
    scan: bool,
    (informed, coldness): (Informed, f64),
    fault: Fault,
) -> f64 {
    let grid = Grid { n, informed };
    let partitions = all_partitions(n);
    let index: HashMap<&Vec<u32>, usize> = partitions.iter().zip(0..).collect();
    let blocks: Vec<Vec<Vec<u32>>> = partitions.iter().map(|z| members(z)).collect();
    let evidence: f64 = partitions.iter().map(|z| q(z, coldness)).sum();
    // θ of all blocks as one number, in base 3.
    let pi = |z: usize, theta: &dyn Fn(usize) -> usize| {
        let joint = blocks[z].iter().enumerate().map(|(b, block)| joint(block, theta(b), coldness));
        prior(&partitions[z]).powf(coldness) * joint.product::<f64>() / evidence
    };
    let mut after = vec![vec![0.0; 3usize.pow(n as u32)]; partitions.len()];
    let past: Vec<u32> = (0..n as u32).map(|i| i / 2).collect();
    let lists = match fault {
        // Another G for each present.
        Fault::GuidedByThePresent => (0..partitions.len()).map(Some).collect(),
        _ => vec![None],
    };
    for from in lists {
        let g = guides(&grid, from.map_or(&past, |z| &partitions[z]), coldness);
        for menus in all_menus(n) {
            // π(z) P(u | z): from each z and its parameters, which are entries of leaders. With one entry from each share
            // a parameter takes the place of the share that it may have come from; else it is the first.
            let mut weight: Vec<f64> = (0..partitions.len())
                .map(|z| {
                    if from.is_some_and(|from| from != z) {
                        return 0.0;
                    }
                    if fault == Fault::ParametersForgotten {
                        return q(&partitions[z], coldness) / evidence * density(&menus, &g);
                    }
                    let first = |b: usize| 2 * leader(&blocks[z][b], rank);
                    let mut sum = 0.0;
                    for places in 0..1usize << blocks[z].len() {
                        let place = |b: usize| places >> b & 1;
                        let mut laid = 1.0;
                        for b in 0..blocks[z].len() {
                            let (shares, at) = (&g[first(b) / 2], first(b) + place(b));
                            let p = match shares.len() {
                                2 => 0.5 * shares[place(b)][menus[at]] / mean(shares, menus[at]),
                                _ => f64::from(u8::from(place(b) == 0)),
                            };
                            laid *= p / entry_density(shares, place(b), menus[at]);
                        }
                        sum += pi(z, &|b| menus[first(b) + place(b)]) * laid;
                    }
                    sum * density(&menus, &g)
                })
                .collect();
            let model = model(&grid, rank, &menus, &g, coldness, fault);
            let target = Target::new(model, ALPHA).unwrap().at(coldness);
            if scan {
                let mut scanned = vec![0.0; partitions.len()];
                for (z, weight) in weight.iter().enumerate().filter(|(_, w)| **w > 0.0) {
                    let mut enumerate = Enumerate::default();
                    loop {
                        let mut state = State::from_labels(&target, &partitions[z]);
                        let ln_p = Gibbs::default().scan(&mut state, &mut enumerate);
                        scanned[index[&state.z().labels()]] += weight * ln_p.exp();
                        if !enumerate.advance() {
                            break;
                        }
                    }
                }
                weight = scanned;
            }
            for (z, weight) in weight.iter().enumerate().filter(|(_, w)| **w > 0.0) {
                let state = State::from_labels(&target, &partitions[z]);
                let choices: Vec<Vec<f64>> = (blocks[z].iter())
                    .map(|b| {
                        let slot = state.z().slot_of(Item::new(b[0] as usize));
                        target.model.choices(state.stats(), slot, 0)
                    })
                    .collect();
                for picks in 0..1usize << blocks[z].len() {
                    let (mut p, mut code) = (*weight, 0);
                    for b in (0..blocks[z].len()).rev() {
                        let pick = picks >> b & 1;
                        p *= choices[b][pick];
                        code = 3 * code + menus[2 * leader(&blocks[z][b], rank) + pick];
                    }
                    after[z][code] += p;
                }
            }
        }
    }
    let mut worst: f64 = 0.0;
    for z in 0..partitions.len() {
        for code in 0..3usize.pow(blocks[z].len() as u32) {
            let before = pi(z, &|b| code / 3usize.pow(b as u32) % 3);
            worst = worst.max((after[z][code] - before).abs());
        }
    }
    worst
}

#[test]
fn an_iteration_leaves_partition_and_parameters_invariant() {
    for informed in ALL {
        for rank in permutations(3) {
            for (scan, coldness) in [(false, 1.0), (true, 1.0), (true, 0.4)] {
                let how = (informed, coldness);
                let error = error_of_an_iteration(3, &rank, scan, how, Fault::None);
                assert!(error < EXACT, "{rank:?}, scan: {scan}, {how:?}: {error}");
            }
        }
    }
    for informed in &ALL[1..] {
        let how = (*informed, 1.0);
        let error = error_of_an_iteration(4, &[2, 0, 3, 1], false, how, Fault::None);
        assert!(error < EXACT, "n = 4: {error}");
    }
}

#[test]
fn faulty_iterations_are_caught() {
    use Fault::*;
    for (fault, scan) in [
        (WeightsForgotten, false),
        (WeightsForgotten, true),
        (ParametersForgotten, false),
        (GuidedByThePresent, true),
    ] {
        let error = error_of_an_iteration(3, &[2, 0, 1], scan, (Informed::Fully, 1.0), fault);
        assert!(error > 1e-3, "{fault:?}, scan: {scan}: only {error}");
    }
}

/// What is laid out is drawn from G, weighed by it, and has the parameters of the blocks on the menus of
/// their leaders. Each count is within 5 standard deviations: false alarm below 1e-4.
#[test]
fn what_is_laid_out_comes_from_the_guide() {
    for informed in &ALL[1..] {
        let (n, draws) = (4, 20_000);
        let grid = Grid { n, informed: *informed };
        let base = Nonconjugate::new(grid.clone(), 2);
        let past = vec![0, 0, 1, 1];
        let g = guides(&grid, &past, 1.0);
        let labels = [0, 1, 0, 0];
        let z = Partition::from_labels(&labels);
        let mut rng = Rng::from_seed(Purpose::Test, 21);
        let mut counts = vec![[0u32; 3]; 2 * n];
        let mut beside = vec![[0u32; 3]; n];
        let mut placed = [0u32; 4];
        for _ in 0..draws {
            let uniform = &mut || rng.uniform();
            let past = std::slice::from_ref(&past);
            let laid = base.lay_out(&z, &[2.0, 1.0], past, 1.0, uniform).unwrap();
            let menus = laid.menus();
            let leaders = [leader(&[0, 2, 3], &menus.rank), 1];
            placed[leaders[0]] += 1;
            for (at, &theta) in menus.theta.iter().enumerate() {
                let weight = (0.5 * H[theta] / mean(&g[at / 2], theta)).ln();
                assert!((menus.ln_weight[at] - weight).abs() < EXACT);
                match leaders.iter().position(|&l| l == at / 2) {
                    Some(block) if at % 2 == 0 => assert_eq!(theta, [2, 1][block]),
                    Some(_) => beside[at / 2][theta] += 1,
                    None => counts[at][theta] += 1,
                }
            }
        }
        let check = |count: u32, total: u32, p: f64| {
            let sd = (f64::from(total) * p * (1.0 - p)).sqrt();
            assert!(
                (f64::from(count) - f64::from(total) * p).abs() <= 5.0 * sd,
                "{informed:?}: {count} of {total}: {p}"
            );
        };
        for (at, counts) in counts.iter().enumerate() {
            for theta in 0..3 {
                let p = entry_density(&g[at / 2], at % 2, theta);
                check(counts[theta], counts.iter().sum(), p);
            }
        }
        for (item, beside) in beside.iter().enumerate() {
            let (shares, kept) = (&g[item], if item == 1 { 1 } else { 2 });
            for theta in 0..3 {
                // From the share that what was kept did not come from.
                let p = match shares.len() {
                    2 => {
                        let swapped =
                            shares[0][kept] * shares[1][theta] + shares[1][kept] * shares[0][theta];
                        swapped / (shares[0][kept] + shares[1][kept])
                    }
                    _ => mean(shares, theta),
                };
                check(beside[theta], beside.iter().sum(), p);
            }
        }
        [0, 2, 3].iter().for_each(|&i| check(placed[i], draws, 1.0 / 3.0));
    }
}

const BATCHES: usize = 100;

/// How far the mean of a series is from its expectation, in standard errors by batches.
pub(super) fn off(values: &[f64], expected: f64) -> f64 {
    let means: Vec<f64> = values.chunks(values.len() / BATCHES).map(|b| mean_sd(b).0).collect();
    let (mean, sd) = mean_sd(&means);
    (mean - expected).abs() / (sd / (means.len() as f64).sqrt())
}

/// Whole chains, with everything that belongs to them, find the exact posterior.
#[test]
fn long_runs_find_the_posterior() {
    let n = 4;
    let partitions = all_partitions(n);
    let total: f64 = partitions.iter().map(|z| q(z, 1.0)).sum();
    // E ln q(z, θ), in which θ is seen, too.
    let mut mean_ln_q = 0.0;
    for z in &partitions {
        let mut means = 0.0;
        for block in members(z) {
            let joints = [0, 1, 2].map(|theta| joint(&block, theta, 1.0));
            let sum: f64 = joints.iter().sum();
            means += joints.iter().map(|j| j / sum * j.ln()).sum::<f64>();
        }
        mean_ln_q += q(z, 1.0) / total * (prior(z).ln() + means);
    }
    use Informed::*;
    for (informed, entries, schedule, ladder) in [
        (Fully, 2, "arm,gibbs", "1"),
        (Fully, 1, "arm", "1"),
        (No, 1, "gibbs", "1"),
        (No, 3, "sm,arm-cells*2,gibbs", "1"),
        (ByThePast, 5, "arm,gibbs", "1"),
        (Fully, 4, "arm,gibbs", "1,0.6,0.3,0.1,0"),
    ] {
        let target = Target::new(Nonconjugate::new(Grid { n, informed }, entries), ALPHA).unwrap();
        let settings = Settings {
            ensembles: 4,
            chains: 4,
            iterations: 10_000,
            schedule: schedule.parse().unwrap(),
            ladder: ladder.parse().unwrap(),
            keep_draws: Some(1),
            seed: 12,
            threads: 1,
            ..Settings::default()
        };
        let run = ensemble::sample(&target, &settings, &mut ()).unwrap();
        if ladder != "1" {
            let found = log_evidence(&run).unwrap();
            let off = (found.value - total.ln()) / found.error;
            assert!(off.abs() < 5.0 && found.error < 0.05, "{found:?}, not {}", total.ln());
        }
        let of = |f: &dyn Fn(&armix::run::Trace, usize) -> f64| -> Vec<f64> {
            // The chains of an ensemble side by side, so that a batch holds all of them.
            (run.ensembles.iter())
                .flat_map(|e| {
                    (0..10_000).map(move |t| e.iter().map(|c| f(c, t)).sum::<f64>() / 4.0)
                })
                .collect()
        };
        for z in &partitions {
            let here = of(&|trace, t| f64::from(u8::from(trace.draws[t].labels() == *z)));
            let off = off(&here, q(z, 1.0) / total);
            assert!(off < 5.0, "{informed:?}, {entries}, {schedule}: {z:?} is off by {off}");
        }
        let off = off(&of(&|trace, t| trace.log_joint[t]), mean_ln_q);
        assert!(off < 5.0, "{informed:?}, {entries}, {schedule}: the log joint is off by {off}");
    }
}
