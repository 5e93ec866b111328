//! Sampled hyper-parameters: Geweke's test over (z, hyper-parameters, Y), and long runs against the
//! posterior by enumeration and integration.

use armix::diagnose::mean_sd;
use armix::ensemble;
use armix::history::History;
use armix::model::Model;
use armix::models::{self, Case, Irm, Niw, Visitor};
use armix::moves::hypers::sample_hypers;
use armix::moves::{Chain, Options, registry};
use armix::partition::{Partition, all_partitions};
use armix::prior::{Components, PriorChoice};
use armix::rng::{Purpose, Rng};
use armix::run::Settings;
use armix::state::{State, Target};
use armix::verify::controls;

const N: usize = 4;
const STEPS: usize = 60_000;
const BATCHES: usize = 60;

/// More than so many standard errors fail (Student, 59 degrees of freedom: p < 2e-7). With about 15 functions
/// and 15 cases the false-alarm rate is below 1e-4, with some room for errors that are not quite normal.
const LIMIT: f64 = 6.0;

type Update<M> = fn(&mut Chain<M>, &mut Rng);

/// What is compared: each hyper-parameter and its logarithm, the blocks, and both together; the evidence
/// of one common block.
fn functions<M: Model>(target: &Target<M>, z: &[u32]) -> Vec<f64> {
    let blocks = f64::from(z.iter().max().unwrap() + 1);
    let together = f64::from(u8::from(z[0] == z[1]));
    let mut values = vec![blocks, blocks * blocks, together];
    for hyper in target.hypers() {
        values.extend([hyper.value, hyper.value.ln(), hyper.value.ln() * blocks]);
    }
    values.push(target.model.ln_evidence_naive(&[0; N]).max(-50.0));
    values
}

/// The largest deviation, in standard errors: independent draws of (hyper-parameters, z, Y) against the
/// alternation of a Gibbs scan and new hyper-parameters given Y with new data given both.
fn deviation<M: Model>(case: &Case<M>, prior: PriorChoice, update: Update<M>) -> f64 {
    let mut rng = Rng::from_seed(Purpose::Test, 61);
    let example = Target::with_prior((case.example)(N), prior.build(1.0, N).unwrap());
    let hypers = example.hypers();
    let draw = |rng: &mut Rng| loop {
        let values: Vec<f64> = hypers.iter().map(|h| h.prior.draw(&mut || rng.uniform())).collect();
        let mut target = example.with_hypers(&values);
        let z = Partition::from_labels(&target.prior.rules().draw(rng)).labels();
        // What keeps two sides apart multiplies the joint density: a draw is kept with this probability.
        if rng.uniform() < target.model.ln_apart(&z).exp() {
            target.model = target.model.simulate(&z, &mut || rng.uniform()).into();
            return (target, z);
        }
    };
    let mut forward: Vec<Vec<f64>> = Vec::new();
    for _ in 0..STEPS {
        let (target, z) = draw(&mut rng);
        forward.push(functions(&target, &z));
    }
    let history = History::new(1 << 10);
    let past = history.past(0, 0);
    let mut gibbs = registry::<M>().remove(0).build(&Options::default());
    let (mut target, mut z) = draw(&mut rng);
    let mut alternated: Vec<Vec<f64>> = Vec::new();
    for _ in 0..STEPS {
        let mut chain = Chain::new(&target, &z);
        gibbs.step(&mut chain, past, &mut rng);
        update(&mut chain, &mut rng);
        target = chain.state().target().clone();
        z = chain.z().labels();
        target.model = target.model.simulate(&z, &mut || rng.uniform()).into();
        alternated.push(functions(&target, &z));
    }
    (0..forward[0].len())
        .map(|f| {
            let column = |rows: &[Vec<f64>]| rows.iter().map(|row| row[f]).collect::<Vec<_>>();
            let (mean, sd) = mean_sd(&column(&forward));
            let batches: Vec<f64> = (alternated.chunks(STEPS / BATCHES))
                .map(|batch| mean_sd(&column(batch)).0)
                .collect();
            let (batch_mean, batch_sd) = mean_sd(&batches);
            let error = (batch_sd / (BATCHES as f64).sqrt()).hypot(sd / (STEPS as f64).sqrt());
            eprintln!("{} {f}: {mean} {batch_mean} ± {error}", case.name);
            (batch_mean - mean).abs() / error
        })
        .fold(0.0, f64::max)
}

const OTHERS: [PriorChoice; 2] = [
    PriorChoice::PitmanYor { discount: 0.3 },
    PriorChoice::Mfm { gamma: 1.0, components: Components::Poisson(1.5) },
];

#[test]
fn geweke_with_every_model() {
    struct Geweke;
    impl Visitor for Geweke {
        fn visit<M: Model>(&mut self, case: &Case<M>) {
            let d = deviation(case, PriorChoice::Crp, sample_hypers);
            assert!(d < LIMIT, "{}: {d} standard errors", case.name);
        }
    }
    models::visit_all(&mut Geweke);
}

#[test]
fn geweke_with_every_prior() {
    for prior in OTHERS {
        let d = deviation(&Case::<Irm>::new(), prior, sample_hypers);
        assert!(d < LIMIT, "{}: {d} standard errors", prior.name());
    }
}

/// The test notices a sampler that forgets the slope of the logarithmic scale.
#[test]
fn a_missing_jacobian_is_noticed() {
    let d = deviation(&Case::<Irm>::new(), PriorChoice::Crp, controls::hypers_without_jacobian);
    assert!(d > 3.0 * LIMIT, "only {d} standard errors");
}

/// Places of equal weight on the line, from one end of what is possible to the other, with ln of the weight of
/// each under the prior of a hyper-parameter.
fn grid(prior: &armix::hyper::HyperPrior, count: usize) -> Vec<(f64, f64)> {
    let (low, high) = (prior.place(1e-6), prior.place(40.0));
    let width = (high - low) / count as f64;
    let place = |k: usize| low + (k as f64 + 0.5) * width;
    let weight = |u: f64| prior.ln_density(prior.at(u)) + prior.ln_slope(u) + width.ln();
    (0..count).map(|k| (prior.at(place(k)), weight(place(k)))).collect()
}

/// A whole run, with ARM and its growing past, finds p(z | Y) with all hyper-parameters integrated out, and the
/// posterior means of their logarithms. 5 standard errors over 100 batches: false alarm below 1e-4.
#[test]
fn a_run_finds_the_exact_posterior() {
    let target = Target::new(Irm::example(4), 1.0).unwrap();
    let hypers = target.hypers();
    let partitions = all_partitions(4);
    // p(z, Y) = ∫ p(z | α) p(α) dα · ∫∫ p(Y | z, β) p(β) dβ, and the same times the logarithms.
    let mut sums = vec![[0.0; 4]; partitions.len()];
    for (labels, sums) in partitions.iter().zip(&mut sums) {
        let z = Partition::from_labels(labels);
        let state = State::from_labels(&target, labels);
        let (mut alpha, mut ln_alpha) = (0.0, 0.0);
        for (value, ln_weight) in grid(&hypers[0].prior, 400) {
            let p = (target.prior.rules().ln_p_with(&[value], &z) + ln_weight).exp();
            alpha += p;
            ln_alpha += p * value.ln();
        }
        let mut beta = [0.0; 3];
        for &(plus, ln_plus) in &grid(&hypers[1].prior, 200) {
            for &(minus, ln_minus) in &grid(&hypers[2].prior, 200) {
                let p = (state.ln_evidence_with(&[plus, minus]) + ln_plus + ln_minus).exp();
                beta[0] += p;
                beta[1] += p * plus.ln();
                beta[2] += p * minus.ln();
            }
        }
        *sums = [alpha * beta[0], ln_alpha * beta[0], alpha * beta[1], alpha * beta[2]];
    }
    let total: f64 = sums.iter().map(|s| s[0]).sum();
    let settings = Settings {
        chains: 4,
        iterations: 10_000,
        sample_hyper: true,
        keep_draws: Some(1),
        seed: 62,
        threads: 1,
        ..Settings::default()
    };
    let run = ensemble::sample(&target, &settings, &mut ()).unwrap();
    assert_eq!(run.hypers, ["alpha", "beta_plus", "beta_minus"]);
    let check = |what: &str, truth: f64, of: &dyn Fn(&armix::run::Trace, usize) -> f64| {
        let mut batches = Vec::new();
        for chains in &run.ensembles {
            for batch in 0..25 {
                let iterations = || batch * 400..(batch + 1) * 400;
                let values: Vec<f64> =
                    chains.iter().flat_map(|t| iterations().map(|i| of(t, i))).collect();
                batches.push(mean_sd(&values).0);
            }
        }
        let (mean, sd) = mean_sd(&batches);
        let error = sd / 10.0;
        assert!((mean - truth).abs() < 5.0 * error, "{what}: {mean} ± {error}, not {truth}");
    };
    for (labels, sums) in partitions.iter().zip(&sums) {
        let is =
            |t: &armix::run::Trace, i: usize| f64::from(u8::from(t.draws[i].labels() == *labels));
        check(&format!("{labels:?}"), sums[0] / total, &is);
    }
    for at in 0..3 {
        let truth = sums.iter().map(|s| s[at + 1]).sum::<f64>() / total;
        check(&run.hypers[at], truth, &|t, i| t.hypers[at][i].ln());
    }
    // What is recorded is the log joint of everything.
    let trace = &run.ensembles[0][0];
    let values: Vec<f64> = trace.hypers.iter().map(|values| values[17]).collect();
    let priors: f64 = hypers.iter().zip(&values).map(|(h, &value)| h.prior.ln_density(value)).sum();
    let ln_q = target.with_hypers(&values).ln_q(&trace.draws[17].labels());
    assert!((trace.log_joint[17] - ln_q - priors).abs() < 1e-9);
}

/// The largest deviation, in standard errors over 100 batches, of a chain over (z, hyper-parameters) of `niw` given fixed
/// data from p(z, hyper-parameters | Y) by enumeration and integration.
fn deviation_given_data(update: Update<Niw>) -> f64 {
    const STEPS: usize = 40_000;
    let target = Target::new(Niw::example(N), 1.0).unwrap();
    let hypers = target.hypers();
    assert_eq!(
        hypers.iter().map(|h| &*h.name).collect::<Vec<_>>(),
        ["alpha", "kappa", "freedom", "psi"]
    );
    // The last weighs small degrees of freedom, where tails are heavy.
    let functions = |z: &[u32], h: [f64; 4]| {
        let blocks = f64::from(z.iter().max().unwrap() + 1);
        let [alpha, kappa, freedom, psi] = h.map(f64::ln);
        [blocks, alpha, kappa, freedom, psi, freedom * blocks, psi * freedom, h[2], (-h[2]).exp()]
    };
    let grids: Vec<_> = hypers.iter().map(|h| grid(&h.prior, 50)).collect();
    let (mut total, mut truths) = (0.0, [0.0; 9]);
    for z in all_partitions(N) {
        let (state, partition) = (State::from_labels(&target, &z), Partition::from_labels(&z));
        // Given z, α and the others are independent.
        let alphas = grids[0].iter().map(|&(alpha, ln_weight)| {
            let p = (target.prior.rules().ln_p_with(&[alpha], &partition) + ln_weight).exp();
            (p, p * alpha.ln())
        });
        let (prior, ln_alpha) = alphas.fold((0.0, 0.0), |sum, x| (sum.0 + x.0, sum.1 + x.1));
        let alpha = (ln_alpha / prior).exp();
        for &(kappa, ln_kappa) in &grids[1] {
            for &(freedom, ln_freedom) in &grids[2] {
                for &(psi, ln_psi) in &grids[3] {
                    let ln_p = state.ln_evidence_with(&[kappa, freedom, psi]);
                    let p = prior * (ln_p + ln_kappa + ln_freedom + ln_psi).exp();
                    total += p;
                    let values = functions(&z, [alpha, kappa, freedom, psi]);
                    truths.iter_mut().zip(values).for_each(|(sum, value)| *sum += p * value);
                }
            }
        }
    }
    let mut rng = Rng::from_seed(Purpose::Test, 63);
    let history = History::new(1 << 10);
    let past = history.past(0, 0);
    let mut gibbs = registry::<Niw>().remove(0).build(&Options::default());
    let mut chain = Chain::new(&target, &[0; N]);
    let mut rows = Vec::new();
    for _ in 0..STEPS {
        gibbs.step(&mut chain, past, &mut rng);
        update(&mut chain, &mut rng);
        let values: Vec<f64> = chain.state().target().hypers().iter().map(|h| h.value).collect();
        rows.push(functions(&chain.z().labels(), values.try_into().unwrap()));
    }
    let off = |at: usize| {
        let column = |batch: &[[f64; 9]]| batch.iter().map(|row| row[at]).collect::<Vec<_>>();
        let means: Vec<f64> = rows.chunks(STEPS / 100).map(|b| mean_sd(&column(b)).0).collect();
        let (mean, sd) = mean_sd(&means);
        let truth = truths[at] / total;
        eprintln!("{at}: {mean} ± {}, not {truth}", sd / 10.0);
        (mean - truth).abs() / (sd / 10.0)
    };
    (0..9).map(off).fold(0.0, f64::max)
}

/// Hyper-parameters of a matrix, without data that are simulated with heavy tails. 6 standard errors (Student, 99
/// degrees of freedom: p < 4e-8) and 9 functions: false alarm below 1e-5, with some room for errors that are not quite normal.
#[test]
fn niw_finds_the_exact_posterior_given_data() {
    let d = deviation_given_data(sample_hypers);
    assert!(d < LIMIT, "{d} standard errors");
}

/// The same test notices a missing slope.
#[test]
fn a_missing_jacobian_is_noticed_given_data() {
    let d = deviation_given_data(controls::hypers_without_jacobian);
    assert!(d > 3.0 * LIMIT, "only {d} standard errors");
}

/// The result depends on seed and settings alone, and values that cannot be sampled are not where chains begin.
#[test]
fn sampled_runs_are_reproducible() {
    let prior = PriorChoice::PitmanYor { discount: 0.0 }.build(1e-8, 12).unwrap();
    let target = Target::with_prior(Irm::example(12), prior);
    let settings = Settings {
        ensembles: 2,
        chains: 3,
        iterations: 40,
        warmup: 5,
        sample_hyper: true,
        keep_draws: Some(1),
        ..Settings::default()
    };
    let run = |threads| {
        let settings = Settings { threads, ..settings.clone() };
        let mut run = ensemble::sample(&target, &settings, &mut ()).unwrap();
        run.ensembles.iter_mut().flatten().for_each(|t| t.counters.clear());
        run.ensembles
    };
    let once = run(1);
    assert_eq!(once, run(3));
    let discounts = &once[0][0].hypers[1];
    assert!(discounts.iter().any(|&d| d > 0.01), "{discounts:?}");
}
