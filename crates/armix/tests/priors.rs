//! Every prior over partitions is what it says, by enumeration; and every move is exact with it.

use armix::data::BinaryTable;
use armix::model::Model;
use armix::models::{self, Bernoulli, Case, Visitor};
use armix::moves::registry;
use armix::partition::{Item, Partition, all_partitions, canonical};
use armix::prior::{Components, Prior, PriorChoice};
use armix::rng::{Purpose, Rng};
use armix::state::{State, Target};
use armix::verify::{Backgrounds, Problem};
use std::collections::HashMap;

const CLOSE: f64 = 1e-10;

const MFM: PriorChoice = PriorChoice::Mfm { gamma: 0.7, components: Components::Poisson(2.0) };

/// Each with an α.
const PRIORS: [(PriorChoice, f64); 9] = [
    (PriorChoice::Crp, 0.1),
    (PriorChoice::Crp, 1.0),
    (PriorChoice::Crp, 7.5),
    (PriorChoice::PitmanYor { discount: 0.0 }, 1.3),
    (PriorChoice::PitmanYor { discount: 0.4 }, 0.2),
    (PriorChoice::PitmanYor { discount: 0.9 }, 3.0),
    (MFM, 1.0),
    (PriorChoice::Mfm { gamma: 1.0, components: Components::Geometric(0.1) }, 1.0),
    (PriorChoice::Mfm { gamma: 5.0, components: Components::Geometric(0.6) }, 1.0),
];

fn priors(n: usize) -> impl Iterator<Item = (String, Prior)> {
    PRIORS.iter().map(move |(choice, alpha)| {
        (choice.describe(*alpha), choice.build(*alpha, n).expect("a valid prior"))
    })
}

fn close(left: f64, right: f64, equation: &str) {
    let error = (left - right).abs() / left.abs().max(1.0);
    assert!(error < CLOSE, "{equation}: {left} ≠ {right}");
}

#[test]
fn priors_are_normalised() {
    for n in 1..=8 {
        let partitions: Vec<Partition> =
            all_partitions(n).iter().map(|labels| Partition::from_labels(labels)).collect();
        for (name, prior) in priors(n) {
            let total: f64 = partitions.iter().map(|z| prior.ln_p(z).exp()).sum();
            close(total, 1.0, &format!("{name}: Σ p(z) over all z of {n} items = 1"));
        }
    }
}

/// p depends on the sizes of the blocks alone, and (but for the mixture of finite mixtures, too) the
/// partition of the first n − 1 items is one of the prior for n − 1.
#[test]
fn priors_are_exchangeable_and_consistent() {
    let n = 6;
    let fewer: Vec<(String, Prior)> = priors(n - 1).collect();
    for ((name, prior), (_, fewer)) in priors(n).zip(&fewer) {
        let mut by_sizes: HashMap<Vec<usize>, f64> = HashMap::new();
        let mut marginal: HashMap<Vec<u32>, f64> = HashMap::new();
        for labels in all_partitions(n) {
            let ln_p = prior.ln_p(&Partition::from_labels(&labels));
            let mut sizes = vec![0; n];
            labels.iter().for_each(|&label| sizes[label as usize] += 1);
            sizes.sort_unstable();
            let same = *by_sizes.entry(sizes).or_insert(ln_p);
            close(ln_p, same, &format!("{name}: p depends on sizes alone"));
            *marginal.entry(labels[..n - 1].to_vec()).or_default() += ln_p.exp();
        }
        for (labels, p) in marginal {
            let expected = fewer.ln_p(&Partition::from_labels(&labels)).exp();
            close(p, expected, &format!("{name}: marginal of {labels:?}"));
        }
    }
}

/// Gains of single items and of sets are differences of ln p, up to what all places have in common.
#[test]
fn gains_are_differences() {
    let n = 7;
    let mut rng = Rng::from_seed(Purpose::Test, 41);
    for (name, prior) in priors(n) {
        for _ in 0..200 {
            let labels: Vec<u32> = (0..n).map(|_| rng.below(4) as u32).collect();
            let mut z = Partition::from_labels(&labels);
            let first = Item::new(rng.below(n as u64) as usize);
            let home = z.slot_of(first);
            let mut set = vec![first];
            if rng.below(2) == 0 {
                let fellows = (0..n).map(Item::new).filter(|&i| z.slot_of(i) == home && i != first);
                set.extend(fellows.collect::<Vec<_>>());
            }
            set.iter().for_each(|&i| z.take(i));
            let mut slots = z.live().to_vec();
            slots.push(z.fresh());
            let m = set.len() as u32;
            let mut gains = vec![0.0; slots.len()];
            prior.add_gains(m, &z, &slots, &mut gains);
            let ln_p: Vec<f64> = (slots.iter())
                .map(|&slot| {
                    let mut slots = z.slots_of_items().to_vec();
                    set.iter().for_each(|i| slots[i.index()] = slot);
                    let labels: Vec<u32> = slots.iter().map(|s| s.index() as u32).collect();
                    prior.ln_p(&Partition::from_labels(&labels))
                })
                .collect();
            for k in 1..slots.len() {
                let equation = format!("{name}: difference of gains of {m} items");
                close(gains[k] - gains[0], ln_p[k] - ln_p[0], &equation);
            }
        }
    }
}

/// What a sampler of hyper-parameters asks for is what a prior with them says.
#[test]
fn priors_with_other_hyper_parameters() {
    let mut rng = Rng::from_seed(Purpose::Test, 42);
    for n in [1, 2, 9, 300] {
        for (name, prior) in priors(n) {
            let hypers = prior.rules().hypers();
            let own: Vec<f64> = hypers.iter().map(|h| h.value).collect();
            for _ in 0..20 {
                let labels: Vec<u32> = (0..n).map(|_| rng.below(5) as u32).collect();
                let z = Partition::from_labels(&labels);
                close(prior.rules().ln_p_with(&own, &z), prior.ln_p(&z), &format!("{name}: own"));
                let others: Vec<f64> =
                    hypers.iter().map(|h| h.prior.draw(&mut || rng.uniform())).collect();
                let other = prior.with_hypers(&others);
                let set: Vec<f64> = other.rules().hypers().iter().map(|h| h.value).collect();
                assert_eq!(set, others);
                close(prior.rules().ln_p_with(&others, &z), other.ln_p(&z), &name);
                let again = other.with_hypers(&own);
                assert_eq!(again.ln_p(&z).to_bits(), prior.ln_p(&z).to_bits(), "{name}: and back");
            }
        }
    }
}

/// With discount 0, Pitman-Yor is the Chinese restaurant.
#[test]
fn without_discount_pitman_yor_is_a_restaurant() {
    let crp = PriorChoice::Crp.build(1.7, 50).unwrap();
    let pitman_yor = PriorChoice::PitmanYor { discount: 0.0 }.build(1.7, 50).unwrap();
    let mut rng = Rng::from_seed(Purpose::Test, 43);
    for _ in 0..100 {
        let labels: Vec<u32> = (0..50).map(|_| rng.below(9) as u32).collect();
        let z = Partition::from_labels(&labels);
        close(crp.ln_p(&z), pitman_yor.ln_p(&z), "CRP(α) = Pitman-Yor(0, α)");
    }
}

/// The sum V(t) of the mixture, term by term, also where its peak is far from its first term.
#[test]
fn sums_over_components_are_complete() {
    for n in [10, 200] {
        let (gamma, p) = (0.8, 0.05);
        let choice = PriorChoice::Mfm { gamma, components: Components::Geometric(p) };
        let prior = choice.build(1.0, n).unwrap();
        for blocks in [1, 2, n / 2, n - 1, n] {
            let labels: Vec<u32> = (0..n).map(|i| (i % blocks) as u32).collect();
            let z = Partition::from_labels(&labels);
            let lg = libm::lgamma;
            let terms: Vec<f64> = (blocks..20_000)
                .map(|k| {
                    let (k, t, n) = (k as f64, blocks as f64, n as f64);
                    p.ln() + (k - 1.0) * (1.0 - p).ln() + lg(k + 1.0) - lg(k - t + 1.0)
                        + lg(gamma * k)
                        - lg(gamma * k + n)
                })
                .collect();
            let largest = terms.iter().copied().fold(f64::MIN, f64::max);
            let ln_v = largest + terms.iter().map(|t| (t - largest).exp()).sum::<f64>().ln();
            let sizes = z.live().iter().map(|&slot| f64::from(z.size(slot)));
            let expected = ln_v + sizes.map(|s| lg(gamma + s) - lg(gamma)).sum::<f64>();
            close(prior.ln_p(&z), expected, &format!("{n} items in {blocks} blocks"));
        }
    }
}

/// Frequencies of all 15 partitions of 4 items in 30 000 draws are within 5 standard deviations: with 9
/// priors the false-alarm rate is below 1e-4.
#[test]
fn draws_follow_the_prior() {
    let draws = 30_000;
    let mut rng = Rng::from_seed(Purpose::Test, 44);
    for (name, prior) in priors(4) {
        let mut counts: HashMap<Vec<u32>, f64> = HashMap::new();
        for _ in 0..draws {
            *counts.entry(canonical(&prior.rules().draw(&mut rng))).or_default() += 1.0;
        }
        for labels in all_partitions(4) {
            let p = prior.ln_p(&Partition::from_labels(&labels)).exp();
            let (expected, count) = (p * f64::from(draws), counts.get(&labels).unwrap_or(&0.0));
            let sd = (expected * (1.0 - p)).sqrt();
            assert!(
                (count - expected).abs() < 5.0 * sd,
                "{name}: {labels:?} {count}, not {expected}"
            );
        }
    }
}

/// The number of blocks that memory is planned for is that of draws, give or take one and a factor of two.
#[test]
fn expected_blocks_are_about_right() {
    let mut rng = Rng::from_seed(Purpose::Test, 45);
    for (name, prior) in priors(500) {
        let blocks = |_| canonical(&prior.rules().draw(&mut rng)).iter().max().map_or(0, |m| m + 1);
        let mean = f64::from((0..200).map(blocks).sum::<u32>()) / 200.0;
        let planned = prior.rules().expected_blocks() as f64;
        assert!(
            (0.5 * mean - 1.0..2.0 * mean + 1.0).contains(&planned),
            "{name}: {planned}, not {mean}"
        );
    }
}

/// The exact kernel of every move with every model and the other priors.
#[test]
fn moves_are_exact_with_every_prior() {
    struct Kernels;
    impl Visitor for Kernels {
        fn visit<M: Model>(&mut self, case: &Case<M>) {
            for choice in [PriorChoice::PitmanYor { discount: 0.4 }, MFM] {
                let prior = choice.build(1.3, 4).unwrap();
                let problem = Problem::new(Target::with_prior((case.example)(4), prior));
                for entry in registry::<M>() {
                    let errors = problem.registered(entry.name, &Backgrounds::Sample(40));
                    assert!(errors.paths > 0);
                    let name = (entry.name, case.name, choice.name());
                    assert!(errors.within(1e-12), "{name:?}: {errors:?}");
                }
            }
        }
    }
    models::visit_all(&mut Kernels);
}

/// A new item beside old ones has the probabilities of the prior for one item more, whatever
/// other new items there are.
#[test]
fn newcomers_are_seen_one_at_a_time() {
    use armix::history::Row;
    let table = |rows: usize| {
        let cells = [1, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 1, 1, 1, 0, 0, 0, 1];
        let table = BinaryTable::new(rows, 3, cells[..3 * rows].to_vec()).unwrap();
        Bernoulli::new(table, 0.8, 1.7).unwrap()
    };
    for (choice, alpha) in PRIORS {
        let target = |rows| Target::with_prior(table(rows), choice.build(alpha, rows).unwrap());
        for old in all_partitions(3) {
            let draws = Row::new(&old);
            let alone = armix::predict::assign(&target(4), &[&draws], &old);
            let first = &armix::predict::assign(&target(6), &[&draws], &old)[0];
            close(alone[0].new, first.new, choice.name());
            let labels = [&old[..], &[old.iter().max().unwrap() + 1]].concat();
            let joint = |last: u32| {
                let labels = [&old[..], &[last]].concat();
                State::from_labels(&target(4), &labels).ln_q()
            };
            let new = joint(labels[3]);
            let total: f64 = (0..=labels[3]).map(|k| (joint(k) - new).exp()).sum();
            close(alone[0].new, 1.0 / total, choice.name());
        }
    }
}

#[test]
fn wrong_priors_are_refused() {
    let components = Components::default();
    for (choice, alpha, named) in [
        (PriorChoice::PitmanYor { discount: 1.0 }, 1.0, "discount"),
        (PriorChoice::PitmanYor { discount: -0.1 }, 1.0, "discount"),
        (PriorChoice::PitmanYor { discount: f64::NAN }, 1.0, "discount"),
        (PriorChoice::PitmanYor { discount: 0.1 }, 0.0, "alpha"),
        (PriorChoice::Mfm { gamma: 0.0, components }, 1.0, "gamma"),
        (
            PriorChoice::Mfm { gamma: 1.0, components: Components::Geometric(0.0) },
            1.0,
            "components",
        ),
        (PriorChoice::Mfm { gamma: 1.0, components: Components::Poisson(-1.0) }, 1.0, "components"),
    ] {
        let error = choice.build(alpha, 5).unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
    }
    for wrong in ["", "poisson", "poisson:x", "geometric:0", "geometric:2", "binomial:3"] {
        assert!(wrong.parse::<Components>().is_err(), "{wrong}");
    }
    for right in ["poisson:2", "geometric:0.25"] {
        assert_eq!(right.parse::<Components>().unwrap().to_string(), right);
    }
}
