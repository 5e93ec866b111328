//! Diagnostics of numbers: how well some sequences of equal length agree, and how much they know.
//!
//! The definitions are those of the R package `posterior` (Vehtari, Gelman, Simpson, Carpenter and
//! Bürkner 2021), checked against its values. What is undefined is `None`: too few values or
//! sequences, a value that is not a number, or the same constant everywhere.

use crate::special::{beta_quantile, normal_quantile};
use rustfft::{FftPlanner, num_complex::Complex};
use std::cell::RefCell;

/// Shorter sequences have no autocorrelation to speak of.
const SHORTEST: usize = 6;

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
/// `None` if it is not defined: fewer than two sequences, fewer than two values, a value that is
/// not finite, or the same constant everywhere. Different constants give +∞.
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
    if sequences.len() < 2 || n < 2 || !all_finite(sequences) {
        return None;
    }
    // Constants are recognised before rounding can give them a variance.
    if sequences.iter().all(|s| is_constant(&[s])) {
        return (!is_constant(sequences)).then_some(f64::INFINITY);
    }
    let (means, variances): (Vec<f64>, Vec<f64>) =
        (sequences.iter()).map(|s| mean_sd(s)).map(|(mean, sd)| (mean, sd * sd)).unzip();
    let within = mean_sd(&variances).0;
    let between = mean_sd(&means).1.powi(2); // B/N
    let shrink = (n - 1) as f64 / n as f64;
    Some((shrink + between / within).sqrt())
}

/// R̂ with every sequence cut in halves, so that a drift within a sequence shows too. Of an odd
/// number of values the middle one is left out. Also defined for a single sequence.
pub fn rhat_split(sequences: &[&[f64]]) -> Option<f64> {
    gelman_rubin(&halves(sequences))
}

/// Rank-normalised split R̂: the larger of the values for the ranks and for the ranks of the
/// distances from the median. It sees differences in location and in spread, also where
/// variances are infinite.
pub fn rhat_rank(sequences: &[&[f64]]) -> Option<f64> {
    if !all_finite(sequences) {
        return None;
    }
    let bulk = gelman_rubin(&views(&z_scale(&halves(sequences))))?;
    let median = median(pooled(sequences));
    let folded: Vec<Vec<f64>> =
        sequences.iter().map(|s| s.iter().map(|v| (v - median).abs()).collect()).collect();
    // Two values at equal distances fold to a constant, which has nothing to add.
    let tail = gelman_rubin(&views(&z_scale(&halves(&views(&folded))))).unwrap_or(bulk);
    Some(bulk.max(tail))
}

/// The number of independent draws that would tell the mean as well as these sequences do,
/// judged within and between them. At most N log₁₀ N, which antithetic sequences can reach.
pub fn ess(sequences: &[&[f64]]) -> Option<f64> {
    let n = sequences.first()?.len();
    if n < SHORTEST || !all_finite(sequences) || is_constant(sequences) {
        return None;
    }
    let covariances: Vec<Vec<f64>> = sequences.iter().map(|s| autocovariance(s)).collect();
    let covariance =
        |lag: usize| covariances.iter().map(|c| c[lag]).sum::<f64>() / covariances.len() as f64;
    let means: Vec<f64> = sequences.iter().map(|s| mean_sd(s).0).collect();
    let between = if means.len() > 1 { mean_sd(&means).1.powi(2) } else { 0.0 };
    let within = covariance(0) * n as f64 / (n - 1) as f64;
    let total = covariance(0) + between;
    let correlation = |lag: usize| 1.0 - (within - covariance(lag)) / total;
    let draws = (n * sequences.len()) as f64;
    let time = geyer(n, correlation).max(1.0 / draws.log10());
    Some(draws / time)
}

/// The autocorrelation time 1 + 2 Σ r(τ), the sum ended by Geyer's rule: pairs of neighbouring
/// autocorrelations of a reversible chain are positive and fall, so that the first pair that is
/// not positive is noise, and none counts more than the one before it. Never negative.
fn geyer(n: usize, correlation: impl Fn(usize) -> f64) -> f64 {
    let mut kept = vec![1.0, correlation(1)];
    let (mut even, mut odd) = (1.0, kept[1]);
    let mut lag = 0;
    while lag + 5 < n && even + odd > 0.0 {
        lag += 2;
        (even, odd) = (correlation(lag), correlation(lag + 1));
        kept.extend(if even + odd >= 0.0 { [even, odd] } else { [0.0, 0.0] });
    }
    let last = lag;
    if even > 0.0 {
        kept[last] = even;
    }
    for lag in (2..last.saturating_sub(1)).step_by(2) {
        let before = kept[lag - 2] + kept[lag - 1];
        if kept[lag] + kept[lag + 1] > before {
            (kept[lag], kept[lag + 1]) = (before / 2.0, before / 2.0);
        }
    }
    // Half of the first term left out, which steadies the estimate of antithetic chains.
    -1.0 + 2.0 * kept[..last].iter().sum::<f64>() + kept[last]
}

/// The effective sample size of the ranks: how well the bulk of the distribution is known.
pub fn ess_bulk(sequences: &[&[f64]]) -> Option<f64> {
    if !all_finite(sequences) || is_constant(sequences) {
        return None;
    }
    ess(&views(&z_scale(&halves(sequences))))
}

/// The effective sample size of a quantile.
pub fn ess_quantile(sequences: &[&[f64]], probability: f64) -> Option<f64> {
    if !all_finite(sequences) || is_constant(sequences) {
        return None;
    }
    let border = quantile(&pooled(sequences), probability);
    let below: Vec<Vec<f64>> =
        (sequences.iter()).map(|s| s.iter().map(|v| f64::from(*v <= border)).collect()).collect();
    ess(&halves(&views(&below)))
}

/// The smaller effective sample size of the 5 % and the 95 % quantile. Where one of them cannot
/// be told from the extreme (few distinct values) the other one counts.
pub fn ess_tail(sequences: &[&[f64]]) -> Option<f64> {
    match (ess_quantile(sequences, 0.05), ess_quantile(sequences, 0.95)) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// The Monte-Carlo standard error of the mean.
pub fn mcse_mean(sequences: &[&[f64]]) -> Option<f64> {
    let (_, sd) = mean_sd(&pooled(sequences));
    Some(sd / ess(&halves(sequences))?.sqrt())
}

/// The Monte-Carlo standard error of the standard deviation (Kenney and Keeping 1951).
pub fn mcse_sd(sequences: &[&[f64]]) -> Option<f64> {
    let (mean, _) = mean_sd(&pooled(sequences));
    let squares: Vec<Vec<f64>> =
        (sequences.iter()).map(|s| s.iter().map(|v| (v - mean).powi(2)).collect()).collect();
    let ess = ess(&halves(&views(&squares)))?;
    let all = pooled(&views(&squares));
    let variance = mean_sd(&all).0;
    let fourth = all.iter().map(|s| s * s).sum::<f64>() / all.len() as f64;
    Some(((fourth - variance * variance) / ess / variance / 4.0).sqrt())
}

/// The Monte-Carlo standard error of a quantile: half the width of its 68 % interval.
pub fn mcse_quantile(sequences: &[&[f64]], probability: f64) -> Option<f64> {
    let ess = ess_quantile(sequences, probability)?;
    let (a, b) = (ess * probability + 1.0, ess * (1.0 - probability) + 1.0);
    let mut sorted = pooled(sequences);
    sorted.sort_unstable_by(f64::total_cmp);
    let count = sorted.len() as f64;
    // Φ(−1) and Φ(1), with the digits of R's posterior.
    let low = (beta_quantile(0.158_655_3, a, b) * count).floor().max(1.0);
    let high = (beta_quantile(0.841_344_7, a, b) * count).ceil().min(count);
    Some((sorted[high as usize - 1] - sorted[low as usize - 1]) / 2.0)
}

/// The autocorrelation time of one sequence by Geyer's rule: so many steps are worth one
/// independent draw. Positive always; at least 1 / log₁₀ N, which an antithetic chain can reach.
/// `None` for a constant, fewer than six values, or a value that is not finite.
pub fn autocorrelation_time(values: &[f64]) -> Option<f64> {
    ess(&[values]).map(|ess| values.len() as f64 / ess)
}

/// The autocorrelation time as the paper defines it: 1 + 2 Σ r(τ) up to where the
/// autocorrelation is close to zero. The end of the sum is Sokal's: the first lag of at least five
/// autocorrelation times. (Antithetic chains can make the sum negative; it is then 0, and
/// [`autocorrelation_time`] is the one to use.)
pub fn windowed_autocorrelation_time(values: &[f64]) -> Option<f64> {
    if values.len() < SHORTEST || !all_finite(&[values]) || is_constant(&[values]) {
        return None;
    }
    let correlations = autocorrelation(values);
    let mut time = -1.0;
    for (lag, r) in correlations.iter().enumerate() {
        time += 2.0 * r;
        if lag as f64 >= 5.0 * time {
            break;
        }
    }
    Some(time.max(0.0))
}

/// The autocorrelation of a sequence at lags 0, 1, …; all 0 beyond lag 0 for a constant.
pub fn autocorrelation(values: &[f64]) -> Vec<f64> {
    let mut r = autocovariance(values);
    let variance = r.first().copied().unwrap_or(0.0);
    if is_constant(&[values]) || variance <= 0.0 {
        r.fill(0.0);
    } else {
        r.iter_mut().for_each(|c| *c /= variance);
    }
    if let Some(first) = r.first_mut() {
        *first = 1.0;
    }
    r
}

thread_local! {
    /// Plans of transforms are made once for each length.
    static PLANNER: RefCell<FftPlanner<f64>> = RefCell::new(FftPlanner::new());
}

/// Σ (x_t − x̄)(x_{t+τ} − x̄) / N at lags τ = 0, …, N − 1.
pub fn autocovariance(values: &[f64]) -> Vec<f64> {
    let n = values.len();
    let (mean, _) = mean_sd(values);
    // Padded with as many zeros, so that the ends do not meet.
    let length = (2 * n).next_power_of_two();
    let mut buffer: Vec<Complex<f64>> =
        values.iter().map(|v| Complex::new(v - mean, 0.0)).collect();
    buffer.resize(length, Complex::new(0.0, 0.0));
    PLANNER.with_borrow_mut(|planner| {
        planner.plan_fft_forward(length).process(&mut buffer);
        buffer.iter_mut().for_each(|c| *c = Complex::new(c.norm_sqr(), 0.0));
        planner.plan_fft_inverse(length).process(&mut buffer);
    });
    let scale = 1.0 / (length as f64 * n as f64);
    buffer[..n].iter().map(|c| c.re * scale).collect()
}

/// The quantile of some values, interpolated between neighbours (R's type 7, numpy's default).
pub fn quantile(values: &[f64], probability: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = probability * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    if low == high { low } else { low + (at - at.floor()) * (high - low) }
}

/// The median. Of two values in the middle it is the mean to the last bit: both are then equally far
/// away, a tie that rounding must not break.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let (low, high) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
    (low + high) / 2.0
}

/// The ranks of all values together, ties at their mean, as quantiles of the normal distribution.
fn z_scale(sequences: &[&[f64]]) -> Vec<Vec<f64>> {
    let all = pooled(sequences);
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_unstable_by(|&a, &b| all[a].total_cmp(&all[b]));
    let mut scaled = vec![0.0; all.len()];
    let mut at = 0;
    while at < order.len() {
        let ties = order[at..].iter().take_while(|&&k| all[k] == all[order[at]]).count();
        let rank = at as f64 + (ties + 1) as f64 / 2.0;
        let z = normal_quantile((rank - 0.375) / (all.len() as f64 + 0.25));
        order[at..at + ties].iter().for_each(|&k| scaled[k] = z);
        at += ties;
    }
    let length = sequences.first().map_or(1, |s| s.len()).max(1);
    scaled.chunks(length).map(<[f64]>::to_vec).collect()
}

/// Both halves of every sequence; of an odd number of values the middle one is left out.
fn halves<'a>(sequences: &[&'a [f64]]) -> Vec<&'a [f64]> {
    let half = |s: &'a [f64]| (&s[..s.len() / 2], &s[s.len().div_ceil(2)..]);
    sequences.iter().map(|s| half(s)).flat_map(|(a, b)| [a, b]).collect()
}

fn views(sequences: &[Vec<f64>]) -> Vec<&[f64]> {
    sequences.iter().map(Vec::as_slice).collect()
}

fn pooled(sequences: &[&[f64]]) -> Vec<f64> {
    sequences.iter().flat_map(|s| s.iter().copied()).collect()
}

fn all_finite(sequences: &[&[f64]]) -> bool {
    sequences.iter().all(|s| s.iter().all(|v| v.is_finite()))
}

/// Whether there is one value only.
pub(super) fn is_constant(sequences: &[&[f64]]) -> bool {
    let mut all = sequences.iter().flat_map(|s| s.iter());
    all.next().is_none_or(|first| all.all(|v| v == first))
}
