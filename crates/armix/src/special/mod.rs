//! Special functions: tables of lnΓ and the evidence of coin tosses, which models are made of, exponentials, and the
//! quantiles that diagnostics and intervals need.
//!
//! All transcendental functions come from the `libm` crate, not from the platform, so that the
//! same seed gives the same bytes on every machine.

mod coin;
mod exp;
mod ln;
mod random;
mod rising;
mod simd;

pub use coin::{BetaBernoulli, FEW, InTables, Tossed, Tosses, evidence_of_tosses};
pub(crate) use exp::exp_on;
pub use exp::{HOPELESS, LANES, exp_of_all, exp_of_safe, exponentials};
pub(crate) use ln::ln_on;
pub use ln::{ln as fast_ln, ln_by_series, ln_of_all};
pub use random::{FourAtATime, split_mix};
pub use rising::{Landmark, LnRising, LnTable};
pub(crate) use simd::{Arithmetic, FOUR, Lane, OnFours, on_fours, with_wide_vectors};

/// ln Γ(x) for x > 0.
pub fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// The part of Stirling's series that vanishes for large x: lnΓ(x) − [(x−½) ln x − x + ½ ln 2π].
fn stirling_tail(x: f64) -> f64 {
    let inverse = 1.0 / x;
    inverse * (1.0 / 12.0 - inverse * inverse / 360.0)
}

/// ln Γ(x) − ln Γ(x + s), without the cancellation of two huge numbers when x is large.
pub fn ln_gamma_drop(x: f64, s: f64) -> f64 {
    if x < 1e4 {
        return ln_gamma(x) - ln_gamma(x + s);
    }
    s - (x - 0.5) * libm::log1p(s / x) - s * libm::log(x + s) + stirling_tail(x)
        - stirling_tail(x + s)
}

/// ln(eᵃ + eᵇ), which may be larger than any number.
pub fn ln_add(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + libm::log1p(libm::exp(low - high)) }
}

/// The quantile function of the standard normal distribution (Wichura 1988, algorithm AS 241,
/// exact to about 16 digits). ∓∞ at 0 and 1.
///
/// ```
/// assert!((armix::special::normal_quantile(0.975) - 1.959963984540054).abs() < 1e-14);
/// ```
pub fn normal_quantile(p: f64) -> f64 {
    let ratio = |x: f64, above: &[f64], below: &[f64]| {
        let horner = |c: &[f64]| c.iter().rev().fold(0.0, |sum, c| sum * x + c);
        horner(above) / horner(below)
    };
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        return q * ratio(0.180_625 - q * q, &CENTRE.0, &CENTRE.1);
    }
    let tail = p.min(1.0 - p);
    if tail <= 0.0 {
        return f64::INFINITY.copysign(q);
    }
    let r = (-libm::log(tail)).sqrt();
    let value = if r <= 5.0 {
        ratio(r - 1.6, &MIDDLE.0, &MIDDLE.1)
    } else {
        ratio(r - 5.0, &TAIL.0, &TAIL.1)
    };
    value.copysign(q)
}

/// Coefficients of AS 241, lowest power first: numerator and denominator.
type Rational = ([f64; 8], [f64; 8]);

const CENTRE: Rational = (
    [
        3.387_132_872_796_366_5,
        1.331_416_678_917_843_8e2,
        1.971_590_950_306_551_3e3,
        1.373_169_376_550_946e4,
        4.592_195_393_154_987e4,
        6.726_577_092_700_87e4,
        3.343_057_558_358_813e4,
        2.509_080_928_730_122_7e3,
    ],
    [
        1.0,
        4.231_333_070_160_091e1,
        6.871_870_074_920_579e2,
        5.394_196_021_424_751e3,
        2.121_379_430_158_659_7e4,
        3.930_789_580_009_271e4,
        2.872_908_573_572_194_3e4,
        5.226_495_278_852_545e3,
    ],
);
const MIDDLE: Rational = (
    [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        2.417_807_251_774_506e-1,
        2.272_384_498_926_918_4e-2,
        7.745_450_142_783_414e-4,
    ],
    [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        6.897_673_349_851e-1,
        1.481_039_764_274_800_8e-1,
        1.519_866_656_361_645_7e-2,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
);
const TAIL: Rational = (
    [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        2.965_605_718_285_048_7e-1,
        2.653_218_952_657_612_4e-2,
        1.242_660_947_388_078_4e-3,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    [
        1.0,
        5.998_322_065_558_88e-1,
        1.369_298_809_227_358e-1,
        1.487_536_129_085_061_5e-2,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_7e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
);

/// The distribution function of Beta(a, b): the regularised incomplete beta function Iₓ(a, b), by its
/// continued fraction (Lentz).
pub fn beta_cdf(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges fast on this side of the mean only.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_cdf(1.0 - x, b, a);
    }
    let ln_front = a * libm::log(x) + b * libm::log1p(-x) - libm::log(a) - ln_gamma(a)
        + ln_gamma(a + b)
        - ln_gamma(b);
    let steps = 200 + (10.0 * a.max(b).sqrt()) as usize;
    let nonzero = |v: f64| if v.abs() < 1e-300 { 1e-300 } else { v };
    let (mut c, mut d) = (1.0, 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for m in 1..=steps {
        let m = m as f64;
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = fraction;
        for coefficient in [even, odd] {
            d = 1.0 / nonzero(1.0 + coefficient * d);
            c = nonzero(1.0 + coefficient / c);
            fraction *= c * d;
        }
        if (fraction / before - 1.0).abs() < 1e-15 {
            break;
        }
    }
    (libm::exp(ln_front) * fraction).clamp(0.0, 1.0)
}

/// The quantile of Beta(a, b), by halving.
///
/// ```
/// let median = armix::special::beta_quantile(0.5, 2.0, 2.0);
/// assert!((median - 0.5).abs() < 1e-12);
/// ```
pub fn beta_quantile(p: f64, a: f64, b: f64) -> f64 {
    let (mut low, mut high) = (0.0f64, 1.0f64);
    // Quantiles near 0 need many halvings until relative, not absolute precision is reached.
    for _ in 0..200 {
        let middle = low + (high - low) / 2.0;
        if beta_cdf(middle, a, b) < p {
            low = middle;
        } else {
            high = middle;
        }
        if high - low <= 1e-14 * high {
            break;
        }
    }
    low + (high - low) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Φ by the error function of libm inverts the quantile, far into the tails.
    #[test]
    fn normal_quantiles_invert_the_distribution() {
        for exponent in 1..300 {
            let p = 0.5 * 10f64.powi(-exponent);
            let x = normal_quantile(p);
            let back = 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2);
            assert!((back / p - 1.0).abs() < 1e-12 * f64::from(exponent), "{p}: {x} → {back}");
        }
        for k in 1..1000 {
            let p = f64::from(k) / 1000.0;
            let x = normal_quantile(p);
            assert!((0.5 * libm::erfc(-x / std::f64::consts::SQRT_2) - p).abs() < 1e-15);
            assert!((x + normal_quantile(1.0 - p)).abs() < 1e-14);
        }
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
    }

    /// For whole a and b the distribution function is a binomial tail.
    #[test]
    fn beta_distribution_is_a_binomial_tail() {
        for (a, b) in [(1, 1), (1, 5), (7, 2), (30, 41), (200, 3)] {
            let n = a + b - 1;
            for x in [0.001, 0.1, 0.3, 0.5, 0.77, 0.999] {
                let tail: f64 = (a..=n)
                    .map(|k| {
                        let (k, n) = (f64::from(k), f64::from(n));
                        let ln_choose =
                            ln_gamma(n + 1.0) - ln_gamma(k + 1.0) - ln_gamma(n - k + 1.0);
                        (ln_choose + k * f64::ln(x) + (n - k) * f64::ln(1.0 - x)).exp()
                    })
                    .sum();
                let cdf = beta_cdf(x, f64::from(a), f64::from(b));
                assert!((cdf - tail).abs() < 1e-12, "{a}, {b}, {x}: {cdf} ≠ {tail}");
                if (1e-6..0.999_999).contains(&tail) {
                    let back = beta_quantile(cdf, f64::from(a), f64::from(b));
                    assert!((back - x).abs() < 1e-9, "{a}, {b}: {back} ≠ {x}");
                }
            }
        }
        // Large counts: the median is near the mean, and the interval as wide as a normal one.
        let (a, b) = (4e6, 6e6);
        assert!((beta_quantile(0.5, a, b) - 0.4).abs() < 1e-7);
        let sd = (0.24f64 / 1e7).sqrt();
        assert!((beta_quantile(0.975, a, b) - 0.4 - 1.96 * sd).abs() < 0.01 * sd);
    }
}
