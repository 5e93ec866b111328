//! Whether dependent draws come from a known distribution: Pearson's test, corrected for how much
//! less such draws know.

use super::scalar::ess;
use serde::{Deserialize, Serialize};

/// How well draws fit a distribution over categories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// How often each category was drawn.
    pub frequencies: Vec<f64>,
    /// So many independent draws would know each frequency as well.
    pub ess: Vec<f64>,
    /// Pearson's X², divided by the mean design effect (Rao and Scott 1981).
    pub statistic: f64,
    /// Degrees of freedom.
    pub freedom: usize,
    /// The probability of a worse fit if the distribution is the right one.
    pub p_value: f64,
}

/// Compares sequences of categories with their probabilities.
///
/// X² = N Σ (p̂ₖ − pₖ)² / pₖ is too large if draws depend on each other. Its mean is then the sum
/// of (1 − pₖ) dₖ, where dₖ = N / ESSₖ is the design effect of category k, rather than the sum of
/// 1 − pₖ, which is K − 1; dividing by the ratio of the two corrects it to first order.
///
/// `None` if there are fewer than two categories or too few draws for effective sample sizes.
pub fn goodness_of_fit(sequences: &[Vec<usize>], probabilities: &[f64]) -> Option<Fit> {
    let draws: usize = sequences.iter().map(Vec::len).sum();
    if probabilities.len() < 2 || draws == 0 {
        return None;
    }
    let freedom = probabilities.len() - 1;
    let (mut frequencies, mut sizes) = (Vec::new(), Vec::new());
    let (mut pearson, mut expected) = (0.0, 0.0);
    for (category, &p) in probabilities.iter().enumerate() {
        let indicators: Vec<Vec<f64>> = (sequences.iter())
            .map(|s| s.iter().map(|&c| f64::from(u8::from(c == category))).collect())
            .collect();
        let frequency = indicators.iter().flatten().sum::<f64>() / draws as f64;
        let views: Vec<&[f64]> = indicators.iter().map(Vec::as_slice).collect();
        // A category that was never drawn tells nothing about dependence.
        let size = if frequency > 0.0 { ess(&views)? } else { draws as f64 };
        pearson += draws as f64 * (frequency - p).powi(2) / p;
        expected += (1.0 - p) * draws as f64 / size;
        frequencies.push(frequency);
        sizes.push(size);
    }
    let statistic = pearson / (expected / freedom as f64);
    let p_value = chi_squared_above(statistic, freedom);
    Some(Fit { frequencies, ess: sizes, statistic, freedom, p_value })
}

/// The probability that χ² with so many degrees of freedom exceeds x. Two degrees more add one term:
/// Q(k + 2) = Q(k) + (x/2)^(k/2) e^(−x/2) / Γ(k/2 + 1).
pub fn chi_squared_above(x: f64, freedom: usize) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    let half = x / 2.0;
    let odd = freedom % 2 == 1;
    let mut above = if odd { libm::erfc(half.sqrt()) } else { 0.0 };
    let mut order = if odd { 0.5 } else { 0.0 };
    while order + 0.5 < freedom as f64 / 2.0 {
        above += libm::exp(order * libm::log(half) - half - libm::lgamma(order + 1.0));
        order += 1.0;
    }
    above.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::mean_sd;
    use crate::rng::{Purpose, Rng};

    #[test]
    fn tails_of_chi_squared() {
        // Values of R's pchisq(x, df, lower.tail = FALSE).
        for (x, freedom, expected) in [
            (3.841_458_820_694_124, 1, 0.05),
            (5.991_464_547_107_979, 2, 0.05),
            (7.814_727_903_251_179, 3, 0.05),
            (23.684_791_304_840_576, 14, 0.05),
            (29.141_237_740_672_796, 14, 0.01),
        ] {
            let found = chi_squared_above(x, freedom);
            assert!((found - expected).abs() < 1e-12, "{x} {freedom}: {found}");
        }
        assert_eq!(chi_squared_above(0.0, 3), 1.0);
    }

    /// Chains that stay with probability 0.9 and are otherwise drawn from the distribution: without
    /// the correction p-values would be about 0. Of 200 tests fewer than 25 are below 0.05 (expected
    /// 10; false alarm below 1e-4 if the level is kept), and a wrong distribution is always noticed.
    #[test]
    fn dependent_draws_keep_the_level() {
        let p = [0.5, 0.3, 0.15, 0.05];
        let mut rng = Rng::from_seed(Purpose::Test, 3);
        let (mut rejected, mut sizes) = (0, Vec::new());
        for _ in 0..200 {
            let sequences: Vec<Vec<usize>> = (0..4)
                .map(|_| {
                    let mut now = rng.weighted(&p, 1.0);
                    (0..2000)
                        .map(|_| {
                            if rng.uniform() < 0.1 {
                                now = rng.weighted(&p, 1.0);
                            }
                            now
                        })
                        .collect()
                })
                .collect();
            let fit = goodness_of_fit(&sequences, &p).unwrap();
            sizes.push(fit.ess[0]);
            rejected += usize::from(fit.p_value < 0.05);
            let wrong = goodness_of_fit(&sequences, &[0.3, 0.3, 0.2, 0.2]).unwrap();
            assert!(wrong.p_value < 1e-3, "{wrong:?}");
        }
        assert!(rejected < 25, "{rejected} of 200");
        // The autocorrelation time of such a chain is (1 + 0.9) / (1 − 0.9).
        let (mean, sd) = mean_sd(&sizes);
        assert!((mean / (8000.0 / 19.0) - 1.0).abs() < 0.1, "{mean} ± {sd}");
    }

    #[test]
    fn nothing_to_test() {
        assert_eq!(goodness_of_fit(&[vec![0, 0]], &[1.0]), None);
        assert_eq!(goodness_of_fit(&[], &[0.5, 0.5]), None);
        assert_eq!(goodness_of_fit(&[vec![0, 1]], &[0.5, 0.5]), None);
    }
}
