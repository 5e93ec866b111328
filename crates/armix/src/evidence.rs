//! The marginal likelihood p(Y) from a ladder that ends at inverse temperature 0, by stepping stones.
//!
//! With Z(b) = Σ q(z)ᵇ it is Z(1): the number of all partitions Z(0), times a product over neighbouring rungs of
//! Z(bₖ) / Z(bₖ₊₁), each of which is the mean of q(z)^(bₖ − bₖ₊₁) over the states of the hotter one (Xie, Lewis, Fan,
//! Kuo, Chen 2011).

use crate::diagnose::mean_sd;
use crate::ladder::Rungs;
use crate::run::Run;
use crate::special::{ln_add, ln_gamma};
use serde::Serialize;

/// An estimate of ln p(Y) with its standard error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LogEvidence {
    /// ln p(Y).
    pub value: f64,
    /// Its standard error: the larger of what batches within ensembles and differences between them say.
    pub error: f64,
}

/// ln p(Y) of a run whose ladders end at 0; `None` if they do not, or are too short to tell.
pub fn log_evidence(run: &Run) -> Option<LogEvidence> {
    let ends = |rungs: &Rungs| rungs.coldness.last() == Some(&0.0);
    if run.ladders.is_empty() || !run.ladders.iter().all(ends) {
        return None;
    }
    let each: Vec<(f64, f64)> = run.ladders.iter().map(of_ensemble).collect::<Option<_>>()?;
    let count = each.len() as f64;
    let values: Vec<f64> = each.iter().map(|e| e.0).collect();
    let (mean, spread) = mean_sd(&values);
    let value = ln_partitions(run.n) + mean;
    let within = libm::sqrt(each.iter().map(|e| e.1 * e.1).sum::<f64>()) / count;
    let between = if each.len() > 1 { spread / libm::sqrt(count) } else { 0.0 };
    Some(LogEvidence { value, error: within.max(between) })
}

/// ln of the number of partitions of n items, by Dobiński's formula Σ kⁿ / k! / e.
///
/// ```
/// assert!((armix::evidence::ln_partitions(8) - f64::ln(4140.0)).abs() < 1e-12);
/// ```
pub fn ln_partitions(n: usize) -> f64 {
    let term = |k: usize| n as f64 * libm::log(k as f64) - ln_gamma(k as f64 + 1.0);
    let mut sum = f64::NEG_INFINITY;
    for k in 1.. {
        let next = term(k);
        sum = ln_add(sum, next);
        // Terms rise, and then fall ever faster.
        if next < sum - 40.0 && next < term(k - 1).max(term(1)) {
            break;
        }
    }
    sum - 1.0
}

/// ln of Z(1) / Z(0) with its standard error by batches; `None` if there are fewer than eight of them.
fn of_ensemble(rungs: &Rungs) -> Option<(f64, f64)> {
    let mut value = 0.0;
    let mut deviations: Vec<f64> = Vec::new();
    for stone in &rungs.stones {
        let ln_means = stone.ln_means();
        if ln_means.len() < 8 {
            return None;
        }
        let largest = ln_means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let means: Vec<f64> = ln_means.iter().map(|x| libm::exp(x - largest)).collect();
        let mean = means.iter().sum::<f64>() / means.len() as f64;
        value += largest + libm::log(mean);
        // All stones of a batch are added up before anything is squared: neighbours exchange states, and are not
        // independent.
        deviations.resize(means.len(), 0.0);
        deviations.iter_mut().zip(&means).for_each(|(sum, m)| *sum += m / mean - 1.0);
    }
    let (_, sd) = mean_sd(&deviations);
    Some((value, sd / libm::sqrt(deviations.len() as f64)))
}
