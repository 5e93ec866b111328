//! lnΓ at integer + offset from tables, and the ln Beta ratios that both models are made of.
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
}
