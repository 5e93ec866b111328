//! Co-assignment indicators of a fixed random set of pairs of items: does a pair share a block?

use super::{Motion, Quantity, RHAT_LIMIT};
use crate::history::Row;
use crate::rng::{Purpose, Rng};
use crate::run::Run;
use serde::Serialize;

/// So many pairs are drawn from all pairs, and as many from pairs that share a block in some draw:
/// with many blocks, pairs of the first kind hardly ever do.
const PAIRS: usize = 50;
/// Always the same pairs for the same run.
const SEED: u64 = 1;

/// Fewer draws of each chain cannot tell how often a pair is together.
const LEAST_DRAWS: usize = 12;
/// More draws of each chain are thinned evenly: they would take long and tell little more.
const MOST_DRAWS: usize = 500;

/// How pairs of items fare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Pairs {
    /// Pairs that were looked at.
    pub count: usize,
    /// How many of them have an R̂ above the limit.
    pub above: usize,
}

/// Two quantities, the worst and the mean diagnostics over the pairs; none with too few partitions.
pub(super) fn diagnose(run: &Run, burn_in: usize) -> (Vec<Quantity>, Option<Pairs>) {
    let kept: Vec<usize> = run.drawn.iter().copied().filter(|&i| i >= burn_in).collect();
    if kept.len() < LEAST_DRAWS || run.n < 2 {
        return (Vec::new(), None);
    }
    let stride = kept.len().div_ceil(MOST_DRAWS);
    // Iterations from one look to the next.
    let step = (stride * (kept[kept.len() - 1] - kept[0])) as f64 / (kept.len() - 1) as f64;
    let pairs = choose(run, burn_in);
    let mut measured: Vec<Quantity> = (pairs.iter())
        .map(|&pair| Quantity::measure("pair", "pair", &indicators(run, burn_in, stride, pair)))
        .filter(|q| q.motion != Motion::Constant)
        .collect();
    for time in measured.iter_mut().flat_map(|q| [&mut q.act, &mut q.act_window]) {
        *time = time.map(|time| time * step);
    }
    let above = |q: &&Quantity| q.rhat.into_iter().chain(q.rhat_rank).any(|r| r > RHAT_LIMIT);
    let found = Pairs { count: pairs.len(), above: measured.iter().filter(above).count() };
    let label = |what| format!("{what} of {} pairs", pairs.len());
    let max = |values: Vec<f64>| values.into_iter().reduce(f64::max);
    let min = |values: Vec<f64>| values.into_iter().reduce(f64::min);
    let quantities = vec![
        merge("co_assignment_max", label("worst"), &measured, max, min),
        merge("co_assignment_mean", label("mean"), &measured, super::average, super::average),
    ];
    (quantities, Some(found))
}

/// What a pair tells that stays constant is nothing, so that it is left out here.
fn merge(
    name: &str,
    label: String,
    pairs: &[Quantity],
    worst_if_large: impl Fn(Vec<f64>) -> Option<f64>,
    worst_if_small: impl Fn(Vec<f64>) -> Option<f64>,
) -> Quantity {
    let large =
        |of: fn(&Quantity) -> Option<f64>| worst_if_large(pairs.iter().filter_map(of).collect());
    let small =
        |of: fn(&Quantity) -> Option<f64>| worst_if_small(pairs.iter().filter_map(of).collect());
    let average =
        |of: fn(&Quantity) -> f64| super::average(pairs.iter().map(of).collect()).unwrap_or(0.0);
    let motion = match pairs {
        [] => Motion::Constant,
        _ if pairs.iter().all(|p| p.motion == Motion::Stuck) => Motion::Stuck,
        _ => Motion::Moving,
    };
    Quantity {
        name: name.into(),
        label,
        mean: average(|q| q.mean),
        sd: average(|q| q.sd),
        motion,
        rhat: large(|q| q.rhat),
        rhat_sd: None,
        rhat_split: large(|q| q.rhat_split),
        rhat_rank: large(|q| q.rhat_rank),
        ess_bulk: small(|q| q.ess_bulk),
        ess_tail: small(|q| q.ess_tail),
        mcse_mean: large(|q| q.mcse_mean),
        mcse_sd: large(|q| q.mcse_sd),
        act: large(|q| q.act),
        act_window: large(|q| q.act_window),
    }
}

/// The pairs, each once, in increasing order.
fn choose(run: &Run, burn_in: usize) -> Vec<(usize, usize)> {
    let draws: Vec<_> = run.traces().flat_map(|t| run.draws_after(t, burn_in)).collect();
    let n = run.n as u64;
    let mut rng = Rng::from_seed(Purpose::Diagnosis, SEED);
    let mut pairs = Vec::new();
    let mut labels = Vec::new();
    for _ in 0..PAIRS {
        let i = rng.below(n) as usize;
        let j = (i + 1 + rng.below(n - 1) as usize) % run.n;
        pairs.push((i.min(j), i.max(j)));
        // A random item of a random draw, and a random one of its fellows, if it has any.
        draws[rng.below(draws.len() as u64) as usize].unpack(&mut labels);
        let i = rng.below(n) as usize;
        let fellows: Vec<usize> =
            (0..run.n).filter(|&j| j != i && labels[j] == labels[i]).collect();
        if !fellows.is_empty() {
            let j = fellows[rng.below(fellows.len() as u64) as usize];
            pairs.push((i.min(j), i.max(j)));
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

fn indicators(
    run: &Run,
    burn_in: usize,
    stride: usize,
    (i, j): (usize, usize),
) -> Vec<Vec<Vec<f64>>> {
    let together = |row: &Row| f64::from(row.get(i) == row.get(j));
    let chain =
        |trace| run.draws_after(trace, burn_in).iter().step_by(stride).map(together).collect();
    run.ensembles.iter().map(|chains| chains.iter().map(chain).collect()).collect()
}
