//! Geweke's joint-distribution test of every move with every model, with a frozen past.
//!
//! If z ← move(z | Y) and Y ← p(Y | z) alternate, z must be distributed as the prior and Y as its
//! marginal. Means of functions of z are compared with their exact values under the prior, those of
//! Y with independent draws. A deviation of more than 5 standard errors (Student, 99 degrees of freedom:
//! p = 2.5e-6, two-sided) fails: with 9 moves, 14 models and 7 functions, 8 strategies and exchanges the false-alarm rate is below 2.5e-3 for
//! the file. All models but the first two, with which every move is tried at length, make fewer steps.

use armix::diagnose::mean_sd;
use armix::exact;
use armix::history::{History, Past, Row};
use armix::ladder::{Ladder, Round, Rungs};
use armix::model::Model;
use armix::models::{self, Case, Visitor};
use armix::moves::{Chain, Move, Options, Outcome, registry};
use armix::partition::{Partition, all_partitions};
use armix::prior::{Components, PriorChoice};
use armix::rng::{Purpose, Rng};
use armix::state::Target;
use std::collections::HashMap;

const N: usize = 5;
const ALPHA: f64 = 1.3;
const STEPS: usize = 40_000;
const STEPS_OF_MIXTURES: usize = 8_000;
const BATCHES: usize = 100;
const LIMIT: f64 = 5.0;

/// What is tried with one model alone is tried with this one.
const IRM: Case<models::Irm> = Case { name: "irm", example: models::Irm::example };

const CRP: PriorChoice = PriorChoice::Crp;
const OTHERS: [PriorChoice; 2] = [
    PriorChoice::PitmanYor { discount: 0.35 },
    PriorChoice::Mfm { gamma: 0.6, components: Components::Poisson(1.5) },
];

/// All partitions with their prior probabilities.
struct Prior {
    partitions: Vec<Vec<u32>>,
    probabilities: Vec<f64>,
}

impl Prior {
    /// A prior, and what keeps the items of two sides apart.
    fn new<M: Model>(case: &Case<M>, choice: PriorChoice) -> Self {
        let prior = choice.build(ALPHA, N).unwrap();
        let (partitions, example) = (all_partitions(N), (case.example)(N));
        let p = |z: &Vec<u32>| (prior.ln_p(&Partition::from_labels(z)) + example.ln_apart(z)).exp();
        let weights: Vec<f64> = partitions.iter().map(p).collect();
        let total: f64 = weights.iter().sum();
        Prior { probabilities: weights.iter().map(|w| w / total).collect(), partitions }
    }

    fn draw(&self, rng: &mut Rng) -> Vec<u32> {
        self.partitions[rng.weighted(&self.probabilities, 1.0)].clone()
    }

    fn mean(&self, f: fn(&[u32]) -> f64) -> f64 {
        self.partitions.iter().zip(&self.probabilities).map(|(z, p)| f(z) * p).sum()
    }
}

type OfZ = fn(&[u32]) -> f64;

const OF_Z: [(&str, OfZ); 6] = [
    ("blocks", |z| f64::from(z.iter().max().unwrap() + 1)),
    ("blocks²", |z| f64::from(z.iter().max().unwrap() + 1).powi(2)),
    ("0 with 1", |z| f64::from(u8::from(z[0] == z[1]))),
    ("1 with 3", |z| f64::from(u8::from(z[1] == z[3]))),
    ("0, 2, 4 together", |z| f64::from(u8::from(z[0] == z[2] && z[2] == z[4]))),
    ("4 alone", |z| f64::from(u8::from(z[..4].iter().all(|&l| l != z[4])))),
];

/// A function of the data that every model has: the evidence of one common block.
fn of_y<M: Model>(model: &M) -> f64 {
    model.ln_evidence_naive(&[0; N])
}

/// A past of prior draws, which has nothing to do with the chain.
fn past(prior: &Prior) -> History {
    let mut rng = Rng::from_seed(Purpose::Test, 3);
    let mut history = History::new(1 << 20);
    for iteration in 0..10 {
        let rows = (0..4).map(|_| Row::new(&prior.draw(&mut rng))).collect();
        history.push(iteration, rows);
    }
    history
}

/// What the alternation is compared with. It does not depend on the move: one is enough for all moves with a model.
struct Expected<M> {
    prior: Prior,
    history: History,
    example: M,
    steps: usize,
    /// Mean and standard deviation of independent draws of Y.
    forward: (f64, f64),
    /// Where these draws have left the random numbers.
    rng: Rng,
}

impl<M: Model> Expected<M> {
    fn new(case: &Case<M>, prior: PriorChoice) -> Self {
        let (prior, example) = (Prior::new(case, prior), (case.example)(N));
        let mut rng = Rng::from_seed(Purpose::Test, 4);
        let steps = match case.name {
            "bernoulli" | "irm" => STEPS,
            _ => STEPS_OF_MIXTURES,
        };
        let forward: Vec<f64> = (0..steps)
            .map(|_| {
                let z = prior.draw(&mut rng);
                of_y(&example.simulate(&z, &mut || rng.uniform()))
            })
            .collect();
        let history = past(&prior);
        Expected { prior, history, example, steps, forward: mean_sd(&forward), rng }
    }
}

/// The largest deviation of move + Gibbs scan, in standard errors, with the function's name. What is
/// sampled should be the prior, with the same α.
fn deviation<M: Model>(
    expected: &Expected<M>,
    step: &mut dyn Move<M>,
    (sampled, sampled_alpha): (PriorChoice, f64),
) -> (f64, String) {
    let Expected { prior, example, .. } = expected;
    let (steps, (forward_mean, forward_sd)) = (expected.steps, expected.forward);
    let mut rng = expected.rng.clone();
    let sampled = sampled.build(sampled_alpha, N).unwrap();
    let past = expected.history.past(0, 10);
    assert!(past.rounds() > 1);
    let mut gibbs = registry::<M>().remove(0).build(&Options::default());
    // The alternation.
    let mut z = prior.draw(&mut rng);
    let mut values = vec![Vec::with_capacity(steps); OF_Z.len() + 1];
    for _ in 0..steps {
        let model = example.simulate(&z, &mut || rng.uniform());
        values[OF_Z.len()].push(of_y(&model));
        let target = Target::with_prior(model, sampled.clone());
        let mut chain = Chain::new(&target, &z);
        step.step(&mut chain, past, &mut rng);
        gibbs.step(&mut chain, past, &mut rng);
        z = chain.z().labels();
        for ((_, f), values) in OF_Z.iter().zip(&mut values) {
            values.push(f(&z));
        }
    }
    let batch_means = |values: &[f64]| {
        let means: Vec<f64> = values.chunks(steps / BATCHES).map(|b| mean_sd(b).0).collect();
        let (mean, sd) = mean_sd(&means);
        (mean, sd / (BATCHES as f64).sqrt())
    };
    let mut worst = (0.0, String::new());
    let mut note = |deviation: f64, name: &str| {
        if deviation > worst.0 {
            worst = (deviation, name.to_string());
        }
    };
    for ((name, f), values) in OF_Z.iter().zip(&values) {
        let (mean, error) = batch_means(values);
        note((mean - prior.mean(*f)).abs() / error, name);
    }
    let (mean, error) = batch_means(&values[OF_Z.len()]);
    let forward_error = forward_sd / (steps as f64).sqrt();
    note((mean - forward_mean).abs() / error.hypot(forward_error), "evidence of one block");
    worst
}

#[test]
fn every_move_with_every_model() {
    struct Geweke;
    impl Visitor for Geweke {
        fn visit<M: Model>(&mut self, case: &Case<M>) {
            let expected = Expected::new(case, CRP);
            for entry in registry::<M>() {
                let mut step = entry.build(&Options::default());
                let (deviation, name) = deviation(&expected, &mut *step, (CRP, ALPHA));
                assert!(
                    deviation < LIMIT,
                    "{} × {}: {name} is off by {deviation} standard errors",
                    entry.name,
                    case.name
                );
            }
        }
    }
    models::visit_all(&mut Geweke);
}

#[test]
fn strategies() {
    let arm = registry::<models::Irm>().into_iter().find(|e| e.name == "arm").unwrap();
    let expected = Expected::new(&IRM, CRP);
    for strategy in armix::moves::strategies::registry() {
        let mut step = arm.build_with(&Options::default(), (strategy.make)());
        let (deviation, name) = deviation(&expected, &mut *step, (CRP, ALPHA));
        assert!(deviation < LIMIT, "{}: {name} {deviation}", strategy.name);
    }
}

/// An exchange with a hot chain, whose state is an exact draw from what it would sample.
struct WithHot {
    real: f64,
    claimed: f64,
    /// What it would sample given the links that were seen so far: five vertices have few networks.
    posteriors: HashMap<Vec<Vec<u32>>, Posterior>,
}

/// All partitions, and their probabilities.
type Posterior = (Vec<Vec<u32>>, Vec<f64>);

impl WithHot {
    fn new(real: f64, claimed: f64) -> Self {
        WithHot { real, claimed, posteriors: HashMap::new() }
    }
}

impl Move<models::Irm> for WithHot {
    fn step(&mut self, chain: &mut Chain<models::Irm>, _past: Past<'_>, rng: &mut Rng) -> Outcome {
        let target = chain.state().target().clone();
        let links = (0..N).map(|v| target.model.graph().neighbours(v).to_vec()).collect();
        let (partitions, weights) = self.posteriors.entry(links).or_insert_with(|| {
            let rows = exact::posterior(&target.at(self.real)).unwrap();
            rows.into_iter().map(|r| (r.labels, r.probability)).unzip()
        });
        let hot = &partitions[rng.weighted(weights, 1.0)];
        let energies = [target.ln_q(&chain.z().labels()), target.ln_q(hot)];
        let mut rungs = Rungs::new(&Ladder::Given(vec![1.0, self.claimed]));
        let round = Round { seed: rng.bits(), ensemble: 0, t: 0, lap: 0, warmup: 0 };
        let accepted = !rungs.exchanges(&energies, &round).is_empty();
        if accepted {
            *chain = Chain::new(&target, hot);
        }
        Outcome::Proposed { accepted }
    }
}

#[test]
fn exchanges() {
    let expected = Expected::new(&IRM, CRP);
    let mut right = WithHot::new(0.5, 0.5);
    let (found, name) = deviation(&expected, &mut right, (CRP, ALPHA));
    assert!(found < LIMIT, "{name} {found}");
    // Whatever the hot chain has is taken.
    let mut wrong = WithHot::new(0.5, 1.0);
    let (found, _) = deviation(&expected, &mut wrong, (CRP, ALPHA));
    assert!(found > 2.0 * LIMIT, "only {found} standard errors");
}

/// The other priors, with the moves that differ most in what they ask of a prior.
#[test]
fn other_priors() {
    for prior in OTHERS {
        let expected = Expected::new(&IRM, prior);
        for entry in registry::<models::Irm>() {
            if !["gibbs", "sams", "arm"].contains(&entry.name) {
                continue;
            }
            let mut step = entry.build(&Options::default());
            let (deviation, name) = deviation(&expected, &mut *step, (prior, ALPHA));
            assert!(deviation < LIMIT, "{} × {}: {name} {deviation}", entry.name, prior.name());
        }
        // The test would notice another prior.
        let mut step = registry::<models::Irm>().remove(0).build(&Options::default());
        let (deviation, _) = deviation(&expected, &mut *step, (CRP, ALPHA));
        assert!(deviation > 2.0 * LIMIT, "{}: only {deviation} standard errors", prior.name());
    }
}

/// The test would notice a sampler with another α.
#[test]
fn a_wrong_sampler_is_noticed() {
    let mut step = registry::<models::Irm>().remove(0).build(&Options::default());
    let expected = Expected::new(&IRM, CRP);
    let (deviation, _) = deviation(&expected, &mut *step, (CRP, 1.1 * ALPHA));
    assert!(deviation > 2.0 * LIMIT, "only {deviation} standard errors");
}
