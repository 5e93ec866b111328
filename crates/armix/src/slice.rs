//! Slice sampling of one number (Neal 2003): no tuning, no rejection, exact for any width.

use crate::rng::Rng;

/// The interval is stepped out so many times at most, left and right together.
const STEPS: u64 = 64;

/// After so many shrinkings nothing is left of an interval but the point it shrinks to.
const SHRINKINGS: usize = 200;

/// A step from u that leaves the density exp(`ln_f`) invariant: a level below the density at u is drawn, an
/// interval around u is stepped out by `width` until its ends are below, and points of it are drawn
/// until one is above; those that are not shrink it.
pub fn step(u: f64, width: f64, mut ln_f: impl FnMut(f64) -> f64, rng: &mut Rng) -> f64 {
    let level = ln_f(u) + libm::log1p(-rng.uniform());
    let mut left = u - width * rng.uniform();
    let mut right = left + width;
    // Which end may step how often is drawn beforehand, so that the way back is as probable.
    let to_left = rng.below(STEPS);
    for _ in 0..to_left {
        if ln_f(left) < level {
            break;
        }
        left -= width;
    }
    for _ in to_left..STEPS - 1 {
        if ln_f(right) < level {
            break;
        }
        right += width;
    }
    for _ in 0..SHRINKINGS {
        let drawn = left + rng.uniform() * (right - left);
        if ln_f(drawn) >= level {
            return drawn;
        }
        *(if drawn < u { &mut left } else { &mut right }) = drawn;
    }
    u
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::mean_sd;
    use crate::rng::Purpose;

    /// A function with its mean.
    type Truth = (fn(f64) -> f64, f64);

    /// Means of functions over 60 000 steps in 100 batches are within 5 standard errors of the truth:
    /// false alarm below 1e-4 for all.
    fn check(ln_f: impl Fn(f64) -> f64 + Copy, width: f64, truths: &[Truth]) {
        let mut rng = Rng::from_seed(Purpose::Test, 51);
        let mut u = 0.3;
        let values: Vec<f64> = (0..60_000)
            .map(|_| {
                u = step(u, width, ln_f, &mut rng);
                u
            })
            .collect();
        for (at, (of, truth)) in truths.iter().enumerate() {
            let batches: Vec<f64> = (values.chunks(600))
                .map(|b| mean_sd(&b.iter().map(|&v| of(v)).collect::<Vec<_>>()).0)
                .collect();
            let (mean, sd) = mean_sd(&batches);
            let error = sd / 10.0;
            assert!((mean - truth).abs() < 5.0 * error, "{at}, width {width}: {mean}, not {truth}");
        }
    }

    #[test]
    fn known_densities() {
        let normal = |u: f64| -0.5 * u * u;
        // ln of a Gamma(2, 1) number, the Jacobian included.
        let ln_gamma = |u: f64| 2.0 * u - u.exp();
        // An edge.
        let bounded = |u: f64| if (0.0..1.0).contains(&u) { u.ln() } else { f64::NEG_INFINITY };
        for width in [0.1, 1.0, 30.0] {
            check(normal, width, &[(|u| u, 0.0), (|u| u * u, 1.0), (|u| u.powi(4), 3.0)]);
            check(ln_gamma, width, &[(f64::exp, 2.0), (|u| u, 0.422_784_335_098_467)]);
            check(bounded, width, &[(|u| u, 2.0 / 3.0), (|u| u * u, 0.5)]);
        }
    }

    /// Where there is nothing but the point itself, it stays.
    #[test]
    fn impossible_values_change_nothing() {
        let mut rng = Rng::from_seed(Purpose::Test, 52);
        assert_eq!(step(0.5, 1.0, |_| f64::NAN, &mut rng), 0.5);
        let spike = |u: f64| if u == 0.5 { 0.0 } else { f64::NEG_INFINITY };
        assert_eq!(step(0.5, 1.0, spike, &mut rng), 0.5);
    }
}
