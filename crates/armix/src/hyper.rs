//! Hyper-parameters: numbers that a model or a prior depends on, each with a prior of its own.

use crate::special::{ln_gamma, normal_quantile};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::RangeInclusive;

/// Positive values beyond these bounds mean nothing in practice, and rounding would spoil results.
pub const SENSIBLE: RangeInclusive<f64> = 1e-8..=1e8;

/// A hyper-parameter: its name, its value, and what it is believed to be before the data are seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hyper {
    /// The name in traces and results, in ASCII: `beta_plus`.
    pub name: String,
    /// The value now.
    pub value: f64,
    /// Its prior, which matters only if it is sampled.
    pub prior: HyperPrior,
}

impl fmt::Display for HyperPrior {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HyperPrior::Gamma { shape, rate } => write!(f, "Gamma({shape}, {rate})"),
            HyperPrior::Beta { a, b } => write!(f, "Beta({a}, {b})"),
            HyperPrior::Normal { mean, sd } => write!(f, "Normal({mean}, {sd})"),
        }
    }
}

impl Hyper {
    /// A hyper-parameter with its prior.
    pub fn new(name: &str, value: f64, prior: HyperPrior) -> Self {
        Hyper { name: name.into(), value, prior }
    }
}

/// The prior of a hyper-parameter, restricted to its [support](HyperPrior::support).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HyperPrior {
    /// A positive number; the mean is shape / rate.
    Gamma {
        /// The shape.
        shape: f64,
        /// The rate, one over the scale.
        rate: f64,
    },
    /// A number between 0 and 1.
    Beta {
        /// Draws it towards 1.
        a: f64,
        /// Draws it towards 0.
        b: f64,
    },
    /// Any number.
    Normal {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        sd: f64,
    },
}

impl HyperPrior {
    /// A positive number about which little is known: exponential with mean 1.
    pub const UNIT_GAMMA: HyperPrior = HyperPrior::Gamma { shape: 1.0, rate: 1.0 };

    /// ln of the density; −∞ outside the support. (What the bounds cut off is not made up for: a
    /// constant that no sampler sees.)
    pub fn ln_density(&self, value: f64) -> f64 {
        if !self.support().contains(&value) {
            return f64::NEG_INFINITY;
        }
        match *self {
            HyperPrior::Gamma { shape, rate } => {
                shape * libm::log(rate) - ln_gamma(shape) + (shape - 1.0) * libm::log(value)
                    - rate * value
            }
            HyperPrior::Beta { a, b } => {
                ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b)
                    + (a - 1.0) * libm::log(value)
                    + (b - 1.0) * libm::log1p(-value)
            }
            HyperPrior::Normal { mean, sd } => {
                let away = (value - mean) / sd;
                -0.5 * away * away - libm::log(sd) - 0.5 * libm::log(2.0 * std::f64::consts::PI)
            }
        }
    }

    /// The values that are possible: a little less than the mathematical support, so that nothing
    /// is ever infinite.
    pub fn support(&self) -> RangeInclusive<f64> {
        match self {
            HyperPrior::Gamma { .. } => SENSIBLE,
            HyperPrior::Beta { .. } => 1e-8..=1.0 - 1e-8,
            HyperPrior::Normal { .. } => -1e300..=1e300,
        }
    }

    /// Where a value is on the line, on a scale on which values of all magnitudes are alike: the logarithm
    /// of positive numbers, the log odds of those between 0 and 1.
    pub fn place(&self, value: f64) -> f64 {
        match self {
            HyperPrior::Gamma { .. } => libm::log(value),
            HyperPrior::Beta { .. } => libm::log(value) - libm::log1p(-value),
            HyperPrior::Normal { .. } => value,
        }
    }

    /// The value at a place.
    pub fn at(&self, place: f64) -> f64 {
        match self {
            HyperPrior::Gamma { .. } => libm::exp(place),
            HyperPrior::Beta { .. } => 1.0 / (1.0 + libm::exp(-place)),
            HyperPrior::Normal { .. } => place,
        }
    }

    /// ln of d value / d place: what turns a density of values into one of places.
    pub fn ln_slope(&self, place: f64) -> f64 {
        match self {
            HyperPrior::Gamma { .. } => place,
            HyperPrior::Beta { .. } => -place.abs() - 2.0 * libm::log1p(libm::exp(-place.abs())),
            HyperPrior::Normal { .. } => 0.0,
        }
    }

    /// About how far apart two places are that differ.
    pub fn width(&self) -> f64 {
        match self {
            HyperPrior::Gamma { .. } | HyperPrior::Beta { .. } => 1.0,
            HyperPrior::Normal { sd, .. } => *sd,
        }
    }

    /// The value itself, or the nearest one that is safely within the support.
    pub fn clamp(&self, value: f64) -> f64 {
        match self {
            HyperPrior::Gamma { .. } => {
                value.clamp(1.001 * SENSIBLE.start(), 0.999 * SENSIBLE.end())
            }
            HyperPrior::Beta { .. } => value.clamp(1.001e-8, 1.0 - 1.001e-8),
            HyperPrior::Normal { .. } => value.clamp(-1e300, 1e300),
        }
    }

    /// A draw, from uniform random numbers.
    pub fn draw(&self, uniform: &mut dyn FnMut() -> f64) -> f64 {
        loop {
            let value = match *self {
                HyperPrior::Gamma { shape, rate } => {
                    libm::exp(ln_gamma_draw(shape, uniform)) / rate
                }
                HyperPrior::Beta { a, b } => {
                    let (x, y) = (ln_gamma_draw(a, uniform), ln_gamma_draw(b, uniform));
                    1.0 / (1.0 + libm::exp(y - x))
                }
                HyperPrior::Normal { mean, sd } => mean + sd * normal_quantile(uniform()),
            };
            if self.support().contains(&value) {
                return value;
            }
        }
    }
}

/// ln of a draw from Gamma(shape, 1) by Marsaglia and Tsang's method. The logarithm, because draws of
/// a small shape can be too small for a number.
fn ln_gamma_draw(shape: f64, uniform: &mut dyn FnMut() -> f64) -> f64 {
    if shape < 1.0 {
        // A draw of shape + 1 times a power of a uniform one.
        let ln_larger = ln_gamma_draw(shape + 1.0, uniform);
        return ln_larger + libm::log1p(-uniform()) / shape;
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal_quantile(uniform());
        let root = 1.0 + c * x;
        if root <= 0.0 {
            continue;
        }
        let v = root * root * root;
        if libm::log1p(-uniform()) < 0.5 * x * x + d - d * v + d * libm::log(v) {
            return libm::log(d * v);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Rng};

    const PRIORS: [HyperPrior; 7] = [
        HyperPrior::UNIT_GAMMA,
        HyperPrior::Gamma { shape: 0.3, rate: 2.0 },
        HyperPrior::Gamma { shape: 7.5, rate: 0.5 },
        HyperPrior::Beta { a: 1.0, b: 1.0 },
        HyperPrior::Beta { a: 0.5, b: 2.0 },
        HyperPrior::Beta { a: 4.0, b: 3.0 },
        HyperPrior::Normal { mean: -2.0, sd: 3.0 },
    ];

    /// Places and values are inverse to each other, and the slope is the derivative.
    #[test]
    fn places_are_a_scale() {
        for prior in PRIORS {
            for value in [1e-7, 0.02, 0.5, 0.93, 0.999_99] {
                let place = prior.place(value);
                assert!((prior.at(place) / value - 1.0).abs() < 1e-13, "{prior:?}, {value}");
                let h = 1e-5;
                let slope = (prior.at(place + h) - prior.at(place - h)) / (2.0 * h);
                assert!((slope.ln() - prior.ln_slope(place)).abs() < 1e-4, "{prior:?}, {value}");
            }
        }
    }

    /// Means and mean squares of 40 000 draws are within 5 standard errors of those that the density has
    /// by the midpoint rule: false alarm below 1e-4. And the density integrates to one.
    #[test]
    fn draws_follow_the_density() {
        let mut rng = Rng::from_seed(Purpose::Test, 31);
        for prior in PRIORS {
            let (low, high) = match prior {
                HyperPrior::Gamma { .. } => (libm::log(1e-14), libm::log(200.0)),
                HyperPrior::Beta { .. } => (-40.0, 40.0),
                HyperPrior::Normal { .. } => (-40.0, 40.0),
            };
            // Integrated over the line, where nothing is singular.
            let steps = 200_000;
            let width = (high - low) / f64::from(steps);
            let mut moments = [0.0; 5];
            for step in 0..steps {
                let u = low + (f64::from(step) + 0.5) * width;
                let (x, slope) = match prior {
                    HyperPrior::Gamma { .. } => (u.exp(), u.exp()),
                    HyperPrior::Beta { .. } => {
                        let x = 1.0 / (1.0 + (-u).exp());
                        (x, x * (1.0 / (1.0 + u.exp())))
                    }
                    HyperPrior::Normal { .. } => (u, 1.0),
                };
                let p = prior.ln_density(x).exp() * slope * width;
                moments.iter_mut().enumerate().for_each(|(k, sum)| *sum += p * x.powi(k as i32));
            }
            // The bounds cut a little off: 1e-8 to the power of the smallest shape, 0.3.
            assert!((moments[0] - 1.0).abs() < 0.006, "{prior:?} integrates to {}", moments[0]);
            let draws = 40_000;
            let mut sums = [0.0; 2];
            for _ in 0..draws {
                let x = prior.draw(&mut || rng.uniform());
                sums[0] += x;
                sums[1] += x * x;
            }
            for (k, sum) in (1..).zip(sums) {
                let (mean, square) = (moments[k] / moments[0], moments[2 * k] / moments[0]);
                let error = ((square - mean * mean) / f64::from(draws)).sqrt();
                let away = (sum / f64::from(draws) - mean).abs();
                assert!(away < 5.0 * error, "{prior:?}: moment {k} is off by {away}");
            }
        }
    }
}
