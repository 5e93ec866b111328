//! Draws from distributions, made of uniform random numbers from [0, 1).

use crate::special::normal_quantile;

/// A standard normal number.
pub fn normal(uniform: &mut dyn FnMut() -> f64) -> f64 {
    // 0 would be −∞; the 53 bits of a uniform number leave room for half a unit.
    normal_quantile(uniform() + 0.5f64.powi(54))
}

/// A number from Gamma(shape, 1), by the method of Marsaglia and Tsang.
pub fn gamma(shape: f64, uniform: &mut dyn FnMut() -> f64) -> f64 {
    if shape < 1.0 {
        let larger = gamma(shape + 1.0, uniform);
        return larger * libm::pow(1.0 - uniform(), 1.0 / shape);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(uniform);
        let cube = (1.0 + c * x).powi(3);
        if cube > 0.0
            && libm::log(1.0 - uniform()) < 0.5 * x * x + d * (1.0 - cube + libm::log(cube))
        {
            return d * cube;
        }
    }
}

/// The logarithm of a number from Gamma(shape, 1), which may be too small for a number itself.
pub(crate) fn ln_of_gamma(shape: f64, uniform: &mut dyn FnMut() -> f64) -> f64 {
    if shape < 1.0 {
        let larger = libm::log(gamma(shape + 1.0, uniform));
        return larger + libm::log(1.0 - uniform()) / shape;
    }
    libm::log(gamma(shape, uniform))
}

/// Larger means and numbers are divided until they are not (Ahrens and Dieter 1974).
const LARGE: f64 = 1000.0;

/// A number from Poisson(λ): how many exponential waiting times fit into λ.
pub(super) fn poisson(lambda: f64, uniform: &mut dyn FnMut() -> f64) -> f64 {
    let (mut left, mut count) = (lambda, 0.0);
    while left > LARGE {
        // When so many of them are over. If that is too late, any of those before may have been in time.
        let many = (left * 0.875).floor();
        let time = gamma(many, uniform);
        if time > left {
            return count + binomial(many - 1.0, left / time, uniform);
        }
        (left, count) = (left - time, count + many);
    }
    loop {
        left += libm::log(1.0 - uniform());
        if left < 0.0 {
            return count;
        }
        count += 1.0;
    }
}

/// A number from Binomial(n, p): how many of n uniform numbers are below p.
fn binomial(n: f64, p: f64, uniform: &mut dyn FnMut() -> f64) -> f64 {
    let (mut n, mut p, mut count) = (n, p, 0.0);
    while n > LARGE {
        // The one in the middle tells of half of them.
        let middle = (n / 2.0).floor() + 1.0;
        let (below, above) = (gamma(middle, uniform), gamma(n + 1.0 - middle, uniform));
        let place = below / (below + above);
        (n, p, count) = match place < p {
            true => (n - middle, (p - place) / (1.0 - place), count + middle),
            false => (middle - 1.0, p / place, count),
        };
    }
    count + (0..n as u64).filter(|_| uniform() < p).count() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Poisson numbers have the right mean and variance, and fall as often below any border as they should, whether they are counted one by one or
    /// divided: 5 standard errors, with 20 000 draws each and 5 borders at 6 means; false alarm below 3e-5.
    #[test]
    fn poisson_numbers_are_poisson() {
        let mut seed = 7;
        let mut uniform =
            || (crate::special::split_mix(&mut seed) >> 11) as f64 / (1u64 << 53) as f64;
        let n = 20_000.0;
        for lambda in [0.7, 40.0, 900.0, 1001.0, 5000.5, 3e6] {
            let draws: Vec<f64> = (0..n as usize).map(|_| poisson(lambda, &mut uniform)).collect();
            let mean = draws.iter().sum::<f64>() / n;
            let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
            assert!((mean - lambda).abs() < 5.0 * (lambda / n).sqrt(), "{lambda}: {mean}");
            let fourth = 1.0 / lambda + 2.0;
            assert!(
                (variance / lambda - 1.0).abs() < 5.0 * (fourth / n).sqrt(),
                "{lambda}: {variance}"
            );
            for z in [-2.0, -1.0, 0.0, 1.0, 2.0] {
                let border = (lambda + z * lambda.sqrt()).floor();
                // P(X ≤ k), from the probabilities around the mean.
                let ln_p = |k: f64| k * lambda.ln() - lambda - libm::lgamma(k + 1.0);
                let far = 12.0 * lambda.sqrt() + 20.0;
                let from = (lambda - far).max(0.0) as u64;
                let p: f64 = (from..=border.max(-1.0) as u64).map(|k| ln_p(k as f64).exp()).sum();
                let p = if border < 0.0 { 0.0 } else { p };
                let share = draws.iter().filter(|x| **x <= border).count() as f64 / n;
                let error = 5.0 * (p * (1.0 - p) / n).sqrt() + 1e-6;
                assert!((share - p).abs() < error, "{lambda}, {z}: {share} and {p}");
            }
        }
    }
}
