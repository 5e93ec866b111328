//! Co-assignment indicators of a fixed random set of pairs of items: does a pair share a block?

use super::{Motion, Quantity};
use crate::rng::{Purpose, Rng};
use crate::run::Run;

/// So many pairs are drawn from all pairs, and as many from pairs that share a block in some draw:
/// with many blocks, pairs of the first kind hardly ever do.
const PAIRS: usize = 50;
/// Always the same pairs for the same run.
const SEED: u64 = 1;

/// Two quantities: the worst and the mean diagnostics over the pairs. None without partitions.
pub(super) fn quantities(run: &Run, burn_in: usize) -> Vec<Quantity> {
    let pairs = choose(run, burn_in);
    let measured: Vec<Quantity> = (pairs.iter())
        .map(|&pair| Quantity::measure("pair", "pair", &indicators(run, burn_in, pair)))
        .filter(|q| q.motion != Motion::Constant)
        .collect();
    if pairs.is_empty() {
        return Vec::new();
    }
    let label = |what| format!("{what} of {} pairs", pairs.len());
    let max = |values: Vec<f64>| values.into_iter().reduce(f64::max);
    let min = |values: Vec<f64>| values.into_iter().reduce(f64::min);
    vec![
        merge("co_assignment_max", label("worst"), &measured, max, min),
        merge("co_assignment_mean", label("mean"), &measured, super::average, super::average),
    ]
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
    let average = |of: fn(&Quantity) -> f64| {
        super::average(pairs.iter().map(of).collect()).unwrap_or(f64::NAN)
    };
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
    if draws.is_empty() || n < 2 {
        return Vec::new();
    }
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

fn indicators(run: &Run, burn_in: usize, (i, j): (usize, usize)) -> Vec<Vec<Vec<f64>>> {
    (run.ensembles.iter())
        .map(|chains| {
            let draws = chains.iter().map(|trace| run.draws_after(trace, burn_in));
            draws
                .map(|d| d.iter().map(|row| f64::from(row.get(i) == row.get(j))).collect())
                .collect()
        })
        .collect()
}
