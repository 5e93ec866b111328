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

/// A number from Poisson(λ): how many exponential waiting times fit into λ.
pub(super) fn poisson(lambda: f64, uniform: &mut dyn FnMut() -> f64) -> f64 {
    let (mut left, mut count) = (lambda, 0.0);
    loop {
        left += libm::log(1.0 - uniform());
        if left < 0.0 {
            return count;
        }
        count += 1.0;
    }
}
