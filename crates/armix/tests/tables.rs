//! Tables of any columns: evidences against SciPy, real tables against what is known of them.

use armix::answer;
use armix::compare::adjusted_rand;
use armix::data::{Column, Dataset};
use armix::diagnose::mean_sd;
use armix::estimate::{Loss, SearchOptions, minimise};
use armix::families::{Categorical, Family, Gaussian, Poisson};
use armix::history::History;
use armix::io;
use armix::io::raw::Raw;
use armix::model::Model;
use armix::models::{Columns, Niw};
use armix::moves::gibbs::Gibbs;
use armix::moves::{Chain, Scan};
use armix::partition::{Partition, canonical};
use armix::prior::PriorChoice;
use armix::problem::{Choice, load, target};
use armix::rng::{Purpose, Rng};
use armix::run::{Run, Settings};
use armix::state::Target;
use std::path::PathBuf;

/// Both ways to the evidence of one block, in the model and by its formula.
fn evidence<M: Model>(model: M) -> [f64; 2] {
    let n = model.n();
    let naive = model.ln_evidence_naive(&vec![0; n]);
    let target = Target::new(model, 1.0).unwrap();
    let prior = target.prior.ln_p(&Partition::from_labels(&vec![0; n]));
    [target.ln_q(&vec![0; n]) - prior, naive]
}

/// Products of SciPy's predictive distributions (SciPy 1.17.1), value after value:
///
/// ```python
/// x = np.array([[0.5, -1.25], [2.0, 0.75], [1.5, 0.25], [-0.5, -2.0], [3.25, 1.5]])
/// counts, levels, L = np.array([3, 0, 7, 2, 2]), np.array([0, 2, 2, 1, 2]), 3
/// m, s = x.mean(axis=0), x.std(axis=0)
/// def gaussian(c, k, a, b):
///     total, mu, b = 0.0, m[c], b * s[c] ** 2
///     for v in x[:, c]:
///         total += stats.t.logpdf(v, 2 * a, mu, np.sqrt(b * (k + 1) / (a * k)))
///         b += 0.5 * k / (k + 1) * (v - mu) ** 2; mu = (k * mu + v) / (k + 1); k += 1; a += 0.5
///     return total
/// def niw(k, freedom, psi):
///     total, nu, mu, Psi = 0.0, 1 + freedom, m, psi * np.diag(s ** 2)
///     for v in x:
///         total += stats.multivariate_t.logpdf(v, mu, Psi * (k + 1) / (k * (nu - 1)), nu - 1)
///         Psi = Psi + k / (k + 1) * np.outer(v - mu, v - mu); mu = (k * mu + v) / (k + 1); k += 1; nu += 1
///     return total
/// def poisson(a, b):
///     total, b = 0.0, b / counts.mean()
///     for v in counts:
///         total += stats.nbinom.logpmf(v, a, b / (b + 1)); a += v; b += 1
///     return total
/// def categorical(beta):
///     total, alpha = 0.0, np.full(L, beta)
///     for v in levels:
///         total += np.log(stats.dirichlet(alpha).mean()[v]); alpha[v] += 1
///     return total
/// gaussian(0, .3, 1.7, .4) + gaussian(1, .3, 1.7, .4), niw(.3, 1.7, .4), poisson(1.4, .7), categorical(.6)
/// ```
#[test]
fn evidences_are_those_of_scipy() {
    let first = Column::reals(vec![0.5, 2.0, 1.5, -0.5, 3.25]);
    let second = Column::reals(vec![-1.25, 0.75, 0.25, -2.0, 1.5]);
    let counts = Column::counts(vec![3.0, 0.0, 7.0, 2.0, 2.0]);
    let names = ["a", "b", "c"].map(String::from).to_vec();
    let levels = Column::levels(names, vec![0.0, 2.0, 2.0, 1.0, 2.0]);
    let (reals, hypers) = ([&first, &second], [0.3, 1.7, 0.4]);
    let found = [
        evidence(Columns::<Gaussian>::new(&reals, &hypers).unwrap()),
        evidence(Niw::new(&reals, &hypers).unwrap()),
        evidence(Columns::<Poisson>::new(&[&counts], &[1.4, 0.7]).unwrap()),
        evidence(Columns::<Categorical>::new(&[&levels], &[0.6]).unwrap()),
    ];
    let scipy = [-22.342600380475236, -17.05198342061284, -12.794701843185361, -6.3858427813066365];
    for (found, expected) in found.into_iter().zip(scipy) {
        for value in found {
            assert!((value - expected).abs() < 1e-10, "{value} ≠ {expected}");
        }
    }
}

/// A value that is 10¹⁹ times as large as the others: they are rounded to one place, but the scale of the prior is that of
/// the column, beside which their differences are nothing. The evidence stays that of the numbers in the file (mpmath with 60 digits).
#[test]
fn extreme_values_do_not_spoil_evidences() {
    let extreme = Column::reals(vec![1e-3, 2e-3, 3e-3, 1e16]);
    assert_eq!(extreme.merged(), Some((1e-3, 2e-3, 1e16)));
    let other = Column::reals(vec![0.5, -0.25, 2.0, -1.25]);
    let gaussian =
        Target::new(Columns::<Gaussian>::new(&[&extreme], Gaussian::DEFAULTS).unwrap(), 1.0);
    let niw = Target::new(Niw::new(&[&extreme, &other], Niw::DEFAULTS).unwrap(), 1.0);
    let (gaussian, niw) = (gaussian.unwrap(), niw.unwrap());
    for (labels, expected) in [
        ([0, 0, 0, 0], [-154.130979047744, -162.494960599902]),
        ([0, 0, 0, 1], [-147.475798626673, -157.120504615601]),
    ] {
        let prior = gaussian.prior.ln_p(&Partition::from_labels(&labels));
        for (found, expected) in
            [gaussian.ln_q(&labels) - prior, niw.ln_q(&labels) - prior].into_iter().zip(expected)
        {
            assert!((found - expected).abs() < 1e-10, "{found} ≠ {expected}");
        }
    }
}

/// A nearly singular table far from zero: columns that are almost multiples of each other.
#[test]
fn nearly_singular_matrices_are_no_problem() {
    let value = |i: usize| 1e6 + (i * i % 17) as f64;
    let first = Column::reals((0..40).map(value).collect());
    let second = Column::reals((0..40).map(|i| 3.0 * value(i) + 1e-7 * (i % 3) as f64).collect());
    let model = Niw::new(&[&first, &second], Niw::DEFAULTS).unwrap();
    let target = Target::new(model, 1.0).unwrap();
    let labels: Vec<u32> = (0..40).map(|i| i % 4).collect();
    let [fast, naive] = [
        target.ln_q(&labels) - target.prior.ln_p(&Partition::from_labels(&labels)),
        target.model.ln_evidence_naive(&labels),
    ];
    assert!((fast - naive).abs() < 1e-8 * naive.abs(), "{fast} ≠ {naive}");
}

/// How far off an iteration with missing cells is, in standard errors: of the evidence of the completed table, and of
/// partitions. Independent draws of z, of a table given z, and of the parameters given both are followed by one
/// iteration, after which all must still have the same distribution. `spoil` is done to the parameters.
fn off_after_drawing_cells(spoil: fn(&mut Vec<f64>)) -> [f64; 3] {
    const N: usize = 5; // so that something is missing
    const DRAWS: usize = 20_000;
    let mut rng = Rng::from_seed(Purpose::Test, 31);
    let (example, mut gibbs) = (Niw::example(N), Gibbs::default());
    assert!(example.reals_per_block() == 5);
    let prior = PriorChoice::Crp.build(1.3, N).unwrap();
    let history = History::new(1 << 10);
    let mut differences = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..DRAWS {
        let z = canonical(&prior.rules().draw(&mut rng));
        let table = example.simulate(&z, &mut || rng.uniform());
        let before = table.ln_evidence_naive(&z);
        let target = Target::with_prior(table, prior.clone());
        let mut chain = Chain::from_partition(&target, &Partition::from_labels(&z));
        chain.pick_up(&mut rng);
        let mut parameters = chain.parameters().to_vec();
        spoil(&mut parameters);
        let mut chain = chain.with_parameters(parameters).unwrap();
        chain.lay_out(history.past(0, 0), &mut rng);
        let after = chain.state().target().model.ln_evidence_naive(&z);
        chain.change(|state| gibbs.scan(state, &mut armix::sweep::Sample(&mut rng)));
        let z_after = canonical(&chain.z().labels());
        let blocks = |z: &[u32]| f64::from(*z.iter().max().unwrap());
        let together = |z: &[u32]| f64::from(u8::from(z[0] == z[1]));
        differences[0].push(after - before);
        differences[1].push(blocks(&z_after) - blocks(&z));
        differences[2].push(together(&z_after) - together(&z));
    }
    differences.map(|d| {
        let (mean, sd) = mean_sd(&d);
        (mean / (sd / (DRAWS as f64).sqrt())).abs()
    })
}

/// A deviation of more than 5 standard errors fails: false-alarm rate below 2e-6.
#[test]
fn missing_cells_of_niw_are_drawn_right() {
    let off = off_after_drawing_cells(|_| {});
    assert!(off.iter().all(|&off| off < 5.0), "{off:?}");
}

/// Parameters with too much variance are noticed.
#[test]
fn wrongly_drawn_cells_are_noticed() {
    let off = off_after_drawing_cells(|parameters| {
        parameters
            .chunks_exact_mut(5)
            .for_each(|block| block[2..].iter_mut().for_each(|v| *v *= 1.5));
    });
    assert!(off[0] > 10.0, "{off:?}");
}

fn table(file: &str) -> Option<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/tables/");
    let path = PathBuf::from(format!("{folder}{file}.csv"));
    if !path.exists() {
        eprintln!("SKIPPED: ../shared/data/tables/{file}.csv is not there");
    }
    path.exists().then_some(path)
}

fn sample(file: &str, model: Option<&str>) -> Option<(Dataset, Run)> {
    let choice = Choice { model: model.map(String::from), ..Choice::default() };
    let data = load(&table(file)?.to_string_lossy(), &choice).unwrap();
    let settings = Settings {
        ensembles: 2,
        chains: 2,
        iterations: 200,
        keep_draws: Some(1),
        ..Settings::default()
    };
    let run = target(&data, &choice).unwrap().sample(&settings, &mut ()).unwrap();
    Some((data, run))
}

/// The posterior mean of the number of blocks in the second half.
fn mean_blocks(run: &Run) -> f64 {
    let each = run.traces().map(|t| {
        let later = &t.blocks[t.blocks.len() / 2..];
        later.iter().map(|&k| f64::from(k)).sum::<f64>() / later.len() as f64
    });
    each.sum::<f64>() / run.traces().count() as f64
}

/// The adjusted Rand index of the estimate and groups of the cells of a column.
fn agreement(file: &str, column: &str, run: &Run, group: fn(&str) -> String) -> f64 {
    let Raw::Table(raw) = io::read_raw(&table(file).unwrap(), None).unwrap().1 else {
        panic!("a table")
    };
    let column = raw.columns.iter().find(|c| c.name == column).unwrap();
    let groups: Vec<String> = column.cells.iter().map(|c| group(c.as_ref().unwrap())).collect();
    let mut names = groups.clone();
    names.sort();
    names.dedup();
    let truth: Vec<u32> =
        groups.iter().map(|g| names.iter().position(|n| n == g).unwrap() as u32).collect();
    let (draws, _) = answer::sample_of(run, 100).unwrap();
    let estimate = minimise(&draws, Loss::Vi, &SearchOptions::default());
    let ari = adjusted_rand(&estimate.labels, &truth);
    let blocks = estimate.labels.iter().max().unwrap() + 1;
    eprintln!("{file}: ARI {ari:.3}, estimate {blocks} blocks, mean {:.2}", mean_blocks(run));
    ari
}

/// The velocities of 82 galaxies. Roeder (1990) sees 3 to 7 groups, Escobar and West (1995) have most of the posterior
/// on 4 to 9, Richardson and Green (1997) on 5 to 7; under other priors 3 are enough.
#[test]
fn galaxies_have_a_few_groups() {
    let Some((_, run)) = sample("galaxies", None) else { return };
    let mean = mean_blocks(&run);
    eprintln!("galaxies: {mean:.2} blocks on average");
    assert!((3.0..9.0).contains(&mean), "{mean} blocks on average");
}

/// The eruptions of Old Faithful are short or long.
#[test]
fn old_faithful_has_two_groups() {
    let Some((data, run)) = sample("faithful", Some("niw")) else { return };
    assert_eq!(data.columns, ["eruptions", "waiting"]);
    let short = |cell: &str| (cell.parse::<f64>().unwrap() < 3.0).to_string();
    let ari = agreement("faithful", "eruptions", &run, short);
    assert!(ari > 0.8, "ARI {ari}");
}

/// Classes that were not used are found again: adjusted Rand indices of estimates and classes.
#[test]
fn classes_are_found_again() {
    for (file, model, column, least) in [
        ("zoo", None, "type", 0.6),
        ("house_votes84", None, "class", 0.3),
        ("iris", Some("niw"), "class", 0.5),
    ] {
        let Some((_, run)) = sample(file, model) else { return };
        let ari = agreement(file, column, &run, str::to_string);
        assert!(ari > least, "{file}: ARI {ari}");
    }
}
