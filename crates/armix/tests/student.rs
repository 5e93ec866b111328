//! Student's t, a likelihood without closed form, as users have it: Geweke's test, resumed runs, predictions, outliers.
//!
//! The Geweke test fails at 5 standard errors of 100 batches (p = 2.5e-6 each): with 8 numbers the false-alarm rate is 2e-5.

use super::nonconjugate::off;
use armix::checkpoint::{Checkpoint, Resume};
use armix::diagnose::mean_sd;
use armix::ensemble::{self, Observer, View};
use armix::error::Result;
use armix::history::{History, Row};
use armix::model::Model;
use armix::models::StudentMixture;
use armix::models::nonconjugate::{Likelihood, Nonconjugate};
use armix::models::student::StudentT;
use armix::moves::gibbs::Gibbs;
use armix::moves::{Chain, Scan};
use armix::partition::{Partition, all_partitions, canonical};
use armix::prior::{Crp, PartitionPrior};
use armix::rng::{Purpose, Rng};
use armix::run::{Run, Settings};
use armix::state::{State, Target};
use armix::sweep::Sample;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

const ALPHA: f64 = 1.3;

/// Geweke's test of Student's t, parameters included: values given them, and an iteration given the values. Menus are drawn entry by
/// entry, …
#[test]
fn geweke_for_student() {
    geweke_with_menus_of(2);
}

/// … and for all columns of a row at once.
#[test]
fn geweke_for_student_by_rows() {
    geweke_with_menus_of(4);
}

/// 8 numbers are held against 5 standard errors: false alarm below 1e-5.
fn geweke_with_menus_of(entries: usize) {
    const N: usize = 4;
    const STEPS: usize = 40_000;
    let crp = Crp::new(ALPHA, N).unwrap();
    let partitions = all_partitions(N);
    let p: Vec<f64> =
        partitions.iter().map(|z| crp.ln_p(&Partition::from_labels(z)).exp()).collect();
    let mut rng = Rng::from_seed(Purpose::Test, 23);
    let mut history = History::new(1 << 20);
    for iteration in 0..10 {
        let row = |rng: &mut Rng| Row::new(&partitions[rng.weighted(&p, 1.0)]);
        let rows = (0..4).map(|_| row(&mut rng)).collect();
        history.push(iteration, rows);
    }
    let past = history.past(0, 10);
    let mut gibbs = Gibbs::default();
    let mut arm = armix::moves::registry::<StudentMixture>()
        .into_iter()
        .find(|e| e.name == "arm")
        .unwrap()
        .build(&Default::default());
    let mut model = Nonconjugate::new(StudentT::example(N), entries);
    let (mut z, mut parameters) = (vec![0; N], [0.0; 4].to_vec());
    let mut values = vec![Vec::new(); 8];
    for _ in 0..STEPS {
        // Y ~ f(· | z, θ).
        let student = model.likelihood();
        let theta = |item: usize, column: usize| {
            let at = 4 * z[item] as usize + 2 * column;
            student.read(&parameters[at..at + 2])
        };
        let student = student.simulate(&theta, &mut || rng.uniform());
        model = Nonconjugate::with_menus(Arc::new(student), model.menus().clone());
        let target = Target::new(model, ALPHA).unwrap();
        let chain = Chain::from_partition(&target, &Partition::from_labels(&z));
        let mut chain = chain.with_parameters(parameters).unwrap();
        chain.lay_out(past, &mut rng);
        armix::moves::Move::step(&mut *arm, &mut chain, past, &mut rng);
        chain.change(|state| gibbs.scan(state, &mut Sample(&mut rng)));
        chain.pick_up(&mut rng);
        z = canonical(&chain.z().labels());
        parameters = chain.parameters().to_vec();
        drop(chain);
        model = Arc::into_inner(target.model).unwrap();
        // Standardised location and scale of the block of item 0, both columns.
        let standard = model.likelihood().standardised(0, &parameters[..2]);
        let other = model.likelihood().standardised(1, &parameters[2..4]);
        let numbers = [
            f64::from(z.iter().max().unwrap() + 1),
            f64::from(u8::from(z[0] == z[1])),
            f64::from(u8::from(z[1] == z[3])),
            f64::from(u8::from(z[..3].iter().all(|&l| l != z[3]))),
            standard.0,
            standard.0 * standard.0,
            standard.1,
            other.1 * other.1,
        ];
        values.iter_mut().zip(numbers).for_each(|(list, number)| list.push(number));
    }
    let mean = |f: &dyn Fn(&[u32]) -> bool| -> f64 {
        partitions.iter().zip(&p).filter(|(z, _)| f(z)).map(|(_, p)| p).sum()
    };
    let blocks = partitions.iter().zip(&p).map(|(z, p)| p * f64::from(z.iter().max().unwrap() + 1));
    let expected = [
        blocks.sum(),
        mean(&|z| z[0] == z[1]),
        mean(&|z| z[1] == z[3]),
        mean(&|z| z[..3].iter().all(|&l| l != z[3])),
        0.0,
        1.0,
        0.0,
        1.0,
    ];
    for (which, (values, expected)) in values.iter().zip(expected).enumerate() {
        let off = off(values, expected);
        assert!(off < 5.0, "number {which} is off by {off} standard errors");
    }
}

/// Keeps a checkpoint and all rows.
#[derive(Default)]
struct Keeper {
    at: usize,
    checkpoint: Option<Checkpoint>,
    rows: HashMap<(usize, usize), Vec<Row>>,
}

impl Keeper {
    fn keep(&mut self, view: &dyn View) {
        for ensemble in 0..2 {
            let row = |chain| view.record(ensemble, chain).labels.clone();
            self.rows.insert((ensemble, view.t()), (0..2).map(row).collect());
        }
        if view.t() == self.at {
            self.checkpoint = Some(view.checkpoint());
        }
    }
}

impl Observer for Keeper {
    fn begin(&mut self, view: &dyn View) -> Result<()> {
        self.keep(view);
        Ok(())
    }
    fn after_round(&mut self, view: &dyn View) -> Result<ControlFlow<()>> {
        self.keep(view);
        Ok(ControlFlow::Continue(()))
    }
}

/// A run that is interrupted anywhere ends as one that is not, parameters and all.
#[test]
fn a_resumed_run_is_the_same() {
    // Short menus and missing values, and menus that are drawn for all columns of a row at once.
    let by_rows = Nonconjugate::new(StudentT::example(12), 4);
    for model in [StudentMixture::example(13), by_rows] {
        resumed_runs_of(model);
    }
}

fn resumed_runs_of(model: StudentMixture) {
    let target = Target::new(model, ALPHA).unwrap();
    let settings = Settings {
        ensembles: 2,
        chains: 2,
        iterations: 20,
        warmup: 5,
        schedule: "arm,sm,gibbs".parse().unwrap(),
        keep_draws: Some(1),
        ..Settings::default()
    };
    let tails = |run: &Run, from: usize| -> Vec<(Vec<f64>, Vec<Row>)> {
        run.traces()
            .map(|t| {
                let last = |v: &[Row], k: usize| v[v.len() - k..].to_vec();
                let k = 20 - from;
                (t.log_joint[t.log_joint.len() - k..].to_vec(), last(&t.draws, k))
            })
            .collect()
    };
    for at in [0, 3, 5, 17] {
        let mut keeper = Keeper { at, ..Keeper::default() };
        let whole = ensemble::sample(&target, &settings, &mut keeper).unwrap();
        let Keeper { checkpoint, rows, .. } = keeper;
        let from = Resume {
            checkpoint: checkpoint.unwrap(),
            traces: vec![vec![armix::run::Trace::default(); 2]; 2],
            rows: &|ensemble, t| rows.get(&(ensemble, t)).cloned(),
        };
        let resumed = ensemble::resume(&target, &settings, from, &mut ()).unwrap();
        let done = at.saturating_sub(settings.warmup);
        assert_eq!(tails(&resumed, done), tails(&whole, done), "resumed at {at}");
    }
    // Nor does it depend on the number of threads.
    let [one, two] = [1, 2].map(|threads| {
        let settings = Settings { threads, ..settings.clone() };
        tails(&ensemble::sample(&target, &settings, &mut ()).unwrap(), 0)
    });
    assert_eq!(one, two);
}

/// ln p of a cell that is missing is the difference of the evidences with and without it, given the menus.
#[test]
fn predictions_are_ratios_of_evidences() {
    let values = |cell: f64| vec![0.5, 1.0, 0.3, cell, 2.0, -1.0, 0.1, 0.2];
    let student = |cell: f64| Arc::new(StudentT::new(2, values(cell), 4.0).unwrap());
    let without = Nonconjugate::new(StudentT::new(2, values(f64::NAN), 4.0).unwrap(), 5);
    let with = Nonconjugate::with_menus(student(0.7), without.menus().clone());
    let target = Target::new(without, ALPHA).unwrap();
    for labels in all_partitions(4) {
        let state = State::from_labels(&target, &labels);
        let ln_p = state.ln_predictive((1, 1), 0.7);
        let grown = with.ln_evidence_naive(&labels) - target.model.ln_evidence_naive(&labels);
        assert!((ln_p - grown).abs() < 1e-8, "{labels:?}: {ln_p} ≠ {grown}");
    }
}

/// Lone outliers do not make blocks of their own where tails are heavy: two groups of 20, and 4 outliers. The
/// means over 4 chains are about 3.1 and 4.4 blocks.
#[test]
fn outliers_need_no_blocks_of_their_own() {
    let mut values: Vec<f64> =
        (0..40).map(|i| f64::from(i % 2) * 10.0 + 0.1 * f64::from(i % 7)).collect();
    values.extend([-9.0, 4.0, 16.0, 21.0]);
    let blocks = |degrees: f64| {
        let model = Nonconjugate::new(StudentT::new(1, values.clone(), degrees).unwrap(), 4);
        let target = Target::new(model, 0.5).unwrap();
        let settings = Settings { ensembles: 1, chains: 4, iterations: 300, ..Settings::default() };
        let run = ensemble::sample(&target, &settings, &mut ()).unwrap();
        let all: Vec<f64> =
            run.traces().flat_map(|t| &t.blocks[100..]).map(|&b| f64::from(b)).collect();
        mean_sd(&all).0
    };
    let (heavy, normal) = (blocks(1.0), blocks(1e6));
    assert!(heavy + 1.0 < normal, "{heavy} blocks, and {normal} with normal tails");
}
