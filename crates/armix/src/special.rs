//! lnΓ at integer + offset from tables, the ln Beta ratios that both models are made of, and the
//! quantiles that diagnostics and intervals need.
//!
//! All transcendental functions come from the `libm` crate, not from the platform, so that the
//! same seed gives the same bytes on every machine.

/// Tables stop here; beyond it the Stirling series is exact to the last bit and memory stays small.
const TABLE_MAX: usize = 1 << 20;

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

/// ln [Γ(k + β) / Γ(β)] for k = 0, 1, 2, …: the logarithm of the rising factorial, from a table.
///
/// The quotient is what models need, and it is exact also where β is large and the two lnΓ would
/// cancel.
#[derive(Debug, Clone)]
pub struct LnRising {
    beta: f64,
    table: Vec<f64>,
}

impl LnRising {
    /// A table that covers k = 0 … `largest` (or as far as tables go).
    pub fn new(beta: f64, largest: u64) -> Self {
        let len = usize::try_from(largest).unwrap_or(usize::MAX).saturating_add(1).min(TABLE_MAX);
        // Σ ln(β + j) with the rounding errors carried along (Neumaier), so that long tables stay
        // exact.
        let (mut sum, mut carried) = (0.0f64, 0.0f64);
        let table = (0..len)
            .map(|k| {
                let value = sum + carried;
                let term = libm::log(beta + k as f64);
                let next = sum + term;
                carried +=
                    if sum.abs() >= term.abs() { (sum - next) + term } else { (term - next) + sum };
                sum = next;
                value
            })
            .collect();
        LnRising { beta, table }
    }

    /// The number of values in the table.
    #[inline]
    fn len(&self) -> usize {
        self.table.len()
    }

    /// ln [Γ(k + β) / Γ(β)].
    #[inline]
    pub fn at(&self, k: u64) -> f64 {
        match self.table.get(k as usize) {
            Some(&value) => value,
            None => ln_gamma(k as f64 + self.beta) - ln_gamma(self.beta),
        }
    }
}

/// The evidence of coin tosses under a Beta(β⁺, β⁻) prior.
#[derive(Debug, Clone)]
pub struct BetaBernoulli {
    plus: LnRising,
    minus: LnRising,
    both: LnRising,
}

impl BetaBernoulli {
    /// Tables for up to `largest` tosses.
    pub fn new(beta_plus: f64, beta_minus: f64, largest: u64) -> Self {
        BetaBernoulli {
            plus: LnRising::new(beta_plus, largest),
            minus: LnRising::new(beta_minus, largest),
            both: LnRising::new(beta_plus + beta_minus, largest),
        }
    }

    /// ln [B(ones + β⁺, total − ones + β⁻) / B(β⁺, β⁻)]; exactly 0 when `total` is 0.
    #[inline]
    pub fn ln_evidence(&self, ones: u64, total: u64) -> f64 {
        debug_assert!(ones <= total);
        let zeros = total - ones;
        // The three tables are equally long, so one bound covers all three look-ups.
        if (total as usize) < self.both.len() {
            self.plus.at(ones) + self.minus.at(zeros) - self.both.at(total)
        } else {
            self.ln_evidence_large(ones, zeros)
        }
    }

    fn ln_evidence_large(&self, ones: u64, zeros: u64) -> f64 {
        let (a, b) = (self.plus.beta, self.minus.beta);
        let (x, y) = (ones as f64 + a, zeros as f64 + b);
        // The larger count goes into the drop, where nothing cancels.
        let ln_beta = |lesser: f64, larger: f64| ln_gamma(lesser) + ln_gamma_drop(larger, lesser);
        let ln_beta_now = if y >= x { ln_beta(x, y) } else { ln_beta(y, x) };
        let ln_beta_before = if b >= a { ln_beta(a, b) } else { ln_beta(b, a) };
        ln_beta_now - ln_beta_before
    }
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

    #[test]
    fn table_and_function_agree() {
        let table = LnRising::new(0.7, 100_000);
        for k in [0u64, 1, 5, 99, 100, 5000, 99_999, 100_000, 100_001] {
            let expected = ln_gamma(k as f64 + 0.7) - ln_gamma(0.7);
            assert!((table.at(k) - expected).abs() <= 4e-16 * expected.abs().max(1.0), "{k}");
        }
    }

    /// The same coin tossed one toss at a time: the naive twin of `ln_evidence`.
    fn one_by_one(a: f64, b: f64, ones: u64, zeros: u64) -> f64 {
        let mut sum = 0.0;
        // As ln(1 − …): for ratios near one the plain logarithm of the quotient loses digits.
        for k in 0..ones {
            sum += (-b / (a + b + k as f64)).ln_1p();
        }
        for k in 0..zeros {
            sum += (-(a + ones as f64) / (a + b + (ones + k) as f64)).ln_1p();
        }
        sum
    }

    #[test]
    fn evidence_is_the_product_of_predictions_also_beyond_the_tables() {
        for (a, b) in [(1.0, 1.0), (0.5, 2.25), (3.0, 0.1), (1e8, 1e7)] {
            let coin = BetaBernoulli::new(a, b, 1 << 40);
            for (ones, zeros) in [
                (0, 0),
                (3, 4),
                (0, 1_100_000),
                (1_100_000, 0),
                (17, 1_200_000),
                (650_000, 650_001),
            ] {
                let fast = coin.ln_evidence(ones, ones + zeros);
                let slow = one_by_one(a, b, ones, zeros);
                let error = (fast - slow).abs() / slow.abs().max(1.0);
                assert!(error < 1e-12, "β = {a}, {b}; {ones}+{zeros}: {fast} ≠ {slow}");
            }
        }
    }

    #[test]
    fn no_cancellation_at_a_trillion_pairs() {
        // One more absent pair has the exact probability (zeros + β⁻)/(total + β⁺ + β⁻).
        let coin = BetaBernoulli::new(1.0, 1.0, 1 << 50);
        let (ones, total) = (5_000_000u64, 500_000_000_000u64);
        let gain = coin.ln_evidence(ones, total + 1_000_000) - coin.ln_evidence(ones, total);
        // Σ ln(1 − (ones+1)/(total+2+k)), k < 10⁶, is within 1e-9 of the midpoint rule.
        let middle = total as f64 + 2.0 + 499_999.5;
        let exact = 1e6 * (-(ones as f64 + 1.0) / middle).ln_1p();
        assert!((gain - exact).abs() < 1e-7, "{gain} ≠ {exact}");
    }

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
