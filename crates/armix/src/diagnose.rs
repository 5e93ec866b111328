//! Can a run be believed? Convergence diagnostics, judged between independent ensembles.

use crate::run::{Run, Trace};
use serde::{Deserialize, Serialize};

/// R̂ up to this is taken as agreement.
pub const RHAT_LIMIT: f64 = 1.1;

/// With fewer recorded iterations than this nothing can be said.
pub const TOO_SHORT: usize = 100;

/// Mean and standard deviation (n − 1); zero deviation for a single value.
pub fn mean_sd(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (mean, if values.len() > 1 { (squares / (n - 1.0)).sqrt() } else { 0.0 })
}

/// The Gelman-Rubin potential scale reduction factor of some sequences of equal length:
/// √(((N−1)/N · W + B/N) / W), with the variance W within and B between the sequences.
///
/// `None` if it is not defined: fewer than two sequences, fewer than two values, or the same
/// constant everywhere. Different constants give +∞.
///
/// ```
/// use armix::diagnose::gelman_rubin;
/// assert_eq!(gelman_rubin(&[&[1.0, 2.0, 3.0]]), None);
/// let rhat = gelman_rubin(&[&[1.0, 2.0, 3.0], &[2.0, 3.0, 4.0]]).unwrap();
/// assert!((rhat - (2.0 / 3.0 + 0.5f64).sqrt()).abs() < 1e-15);
/// assert_eq!(gelman_rubin(&[&[0.1, 0.1, 0.1], &[0.1, 0.1, 0.1]]), None);
/// assert_eq!(gelman_rubin(&[&[0.1, 0.1, 0.1], &[0.2, 0.2, 0.2]]), Some(f64::INFINITY));
/// ```
pub fn gelman_rubin(sequences: &[&[f64]]) -> Option<f64> {
    let n = sequences.first()?.len();
    if sequences.len() < 2 || n < 2 {
        return None;
    }
    // Constants are recognised before rounding can give them a variance.
    if sequences.iter().all(|s| s.iter().all(|v| v == &s[0])) {
        let same = sequences.iter().all(|s| s[0] == sequences[0][0]);
        return (!same).then_some(f64::INFINITY);
    }
    let (means, variances): (Vec<f64>, Vec<f64>) =
        (sequences.iter()).map(|s| mean_sd(s)).map(|(mean, sd)| (mean, sd * sd)).unzip();
    let within = mean_sd(&variances).0;
    let between = mean_sd(&means).1.powi(2); // B/N
    let shrink = (n - 1) as f64 / n as f64;
    Some((shrink + between / within).sqrt())
}

/// The autocorrelation time 1 + 2 Σ r(τ), the sum ended where pairs of neighbouring
/// autocorrelations cease to be positive (Geyer's initial positive sequence). Never below the
/// reciprocal of the length; 1 for a constant sequence.
pub fn autocorrelation_time(values: &[f64]) -> f64 {
    let n = values.len();
    let (mean, _) = mean_sd(values);
    let covariance = |lag: usize| {
        let pairs = values.iter().zip(&values[lag..]);
        pairs.map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>() / n as f64
    };
    let variance = covariance(0);
    if n < 4 || variance == 0.0 {
        return 1.0;
    }
    let mut sum = -1.0;
    let mut lag = 0;
    while lag + 1 < n {
        let pair = (covariance(lag) + covariance(lag + 1)) / variance;
        if pair <= 0.0 {
            break;
        }
        sum += 2.0 * pair;
        lag += 2;
    }
    sum.max(1.0 / n as f64)
}

/// R̂ of one quantity between ensembles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rhat {
    /// The mean over chain indices; `None` if R̂ is not defined.
    pub mean: Option<f64>,
    /// The standard deviation over chain indices.
    pub sd: Option<f64>,
}

/// Plain R̂ of the second half of the run, between the chains of the same index in different
/// ensembles (chains of one ensemble learn from each other and must not be compared), averaged
/// over the chain indices, as in the paper.
pub fn rhat_between_ensembles(run: &Run, quantity: impl Fn(&Trace) -> Vec<f64>) -> Rhat {
    let values: Vec<Vec<Vec<f64>>> =
        (run.ensembles.iter()).map(|chains| chains.iter().map(&quantity).collect()).collect();
    let rhats: Vec<Option<f64>> = (0..run.settings.chains)
        .map(|chain| {
            let halves: Vec<&[f64]> = values.iter().map(|e| second_half(&e[chain])).collect();
            gelman_rubin(&halves)
        })
        .collect();
    if rhats.iter().all(Option::is_none) {
        return Rhat { mean: None, sd: None };
    }
    // Where all ensembles stay at the same value they agree as well as can be.
    let rhats: Vec<f64> = rhats.into_iter().map(|r| r.unwrap_or(1.0)).collect();
    let (mean, sd) = mean_sd(&rhats);
    Rhat { mean: Some(mean), sd: sd.is_finite().then_some(sd) }
}

/// What is left when the first half is discarded as burn-in.
pub fn second_half<T>(values: &[T]) -> &[T] {
    &values[values.len() / 2..]
}

/// Whether to believe a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The ensembles agree.
    Converged,
    /// The ensembles disagree.
    NotConverged,
    /// Too few iterations or ensembles to tell.
    TooShort,
}

/// The verdict on a run with its reasons, each a sentence.
pub fn verdict(run: &Run) -> (Verdict, Vec<String>) {
    let mut reasons = Vec::new();
    if run.iterations < TOO_SHORT {
        reasons.push(format!(
            "{} iterations were recorded; at least {TOO_SHORT} are needed to say anything",
            run.iterations
        ));
    }
    if run.settings.ensembles < 2 {
        reasons.push("there is one ensemble, so that there is no R̂: chains of one ensemble depend on each other; use at least 2 ensembles".into());
    }
    if !reasons.is_empty() {
        return (Verdict::TooShort, reasons);
    }
    type Quantity = fn(&Trace) -> Vec<f64>;
    let quantities: [(&str, Quantity); 3] = [
        ("log joint", |t| t.log_joint.clone()),
        ("number of blocks", |t| t.blocks.iter().copied().map(f64::from).collect()),
        ("size of the largest block", |t| t.largest.iter().map(|top| f64::from(top[0])).collect()),
    ];
    let mut worst: f64 = 1.0;
    for (name, quantity) in quantities {
        if let Some(rhat) = rhat_between_ensembles(run, quantity).mean {
            worst = worst.max(rhat);
            if rhat > RHAT_LIMIT || rhat.is_nan() {
                reasons.push(format!(
                    "R̂ of the {name} between ensembles is {rhat:.2}, above {RHAT_LIMIT}"
                ));
            }
        }
    }
    let counters = run.counters(run.traces());
    if reasons.is_empty() && counters.iter().all(|c| c.accepted == 0) {
        let reason =
            "no move changed anything: the chains are where they began; use gibbs among the moves";
        return (Verdict::TooShort, vec![reason.into()]);
    }
    if reasons.is_empty() {
        reasons.push(format!(
            "R̂ between ensembles of log joint, number of blocks and largest block is at most {worst:.3}"
        ));
        (Verdict::Converged, reasons)
    } else {
        let next = "run longer (--iterations), with more chains (--chains), or with bolder moves (--moves arm-cells*5,arm,gibbs)";
        reasons.push(next.into());
        (Verdict::NotConverged, reasons)
    }
}
