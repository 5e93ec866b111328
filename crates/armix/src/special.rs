//! lnΓ at integer + offset from tables, and the ln Beta ratios that both models are made of.
//!
//! All transcendental functions come from the `libm` crate, not from the platform, so that the
//! same seed gives the same bytes on every machine.

/// Tables stop here; beyond it the Stirling series is exact to the last bit and memory stays small.
const TABLE_MAX: usize = 1 << 16;

/// ln Γ(x) for x > 0.
pub fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// The part of Stirling's series that vanishes for large x: lnΓ(x) − [(x−½) ln x − x + ½ ln 2π].
fn stirling_tail(x: f64) -> f64 {
    let inverse = 1.0 / x;
    inverse * (1.0 / 12.0 - inverse * inverse / 360.0)
}

/// ln Γ(x) − ln Γ(x + s) for large x, without the cancellation of two huge numbers.
fn ln_gamma_drop(x: f64, s: f64) -> f64 {
    s - (x - 0.5) * libm::log1p(s / x) - s * libm::log(x + s) + stirling_tail(x)
        - stirling_tail(x + s)
}

/// ln Γ(k + offset) for k = 0, 1, 2, …: a table, and the function itself beyond it.
#[derive(Debug, Clone)]
pub struct LnGamma {
    offset: f64,
    table: Vec<f64>,
}

impl LnGamma {
    /// A table that covers k = 0 … `largest` (or as far as tables go).
    pub fn new(offset: f64, largest: u64) -> Self {
        let len = usize::try_from(largest).unwrap_or(usize::MAX).saturating_add(1).min(TABLE_MAX);
        LnGamma { offset, table: (0..len).map(|k| ln_gamma(k as f64 + offset)).collect() }
    }

    /// ln Γ(k + offset).
    #[inline]
    pub fn at(&self, k: u64) -> f64 {
        match self.table.get(k as usize) {
            Some(&value) => value,
            None => ln_gamma(k as f64 + self.offset),
        }
    }
}

/// The evidence of coin tosses under a Beta(β⁺, β⁻) prior.
#[derive(Debug, Clone)]
pub struct BetaBernoulli {
    plus: LnGamma,
    minus: LnGamma,
    both: LnGamma,
    ln_b0: f64,
}

impl BetaBernoulli {
    /// Tables for up to `largest` tosses.
    pub fn new(beta_plus: f64, beta_minus: f64, largest: u64) -> Self {
        let plus = LnGamma::new(beta_plus, largest);
        let minus = LnGamma::new(beta_minus, largest);
        let both = LnGamma::new(beta_plus + beta_minus, largest);
        let ln_b0 = plus.at(0) + minus.at(0) - both.at(0);
        BetaBernoulli { plus, minus, both, ln_b0 }
    }

    /// ln [B(ones + β⁺, total − ones + β⁻) / B(β⁺, β⁻)]; exactly 0 when `total` is 0.
    #[inline]
    pub fn ln_evidence(&self, ones: u64, total: u64) -> f64 {
        debug_assert!(ones <= total);
        let zeros = total - ones;
        // The three tables are equally long, so one bound covers all three look-ups.
        if (total as usize) < self.both.table.len() {
            self.plus.at(ones) + self.minus.at(zeros) - self.both.at(total) - self.ln_b0
        } else {
            self.ln_evidence_large(ones, zeros)
        }
    }

    #[cold]
    fn ln_evidence_large(&self, ones: u64, zeros: u64) -> f64 {
        let x = ones as f64 + self.plus.offset;
        let y = zeros as f64 + self.minus.offset;
        let ln_beta = if y >= x {
            self.plus.at(ones) + ln_gamma_drop(y, x)
        } else {
            self.minus.at(zeros) + ln_gamma_drop(x, y)
        };
        ln_beta - self.ln_b0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_and_function_agree() {
        let table = LnGamma::new(0.7, 100);
        for k in [0u64, 1, 5, 99, 100, 101, 5000] {
            assert_eq!(table.at(k), ln_gamma(k as f64 + 0.7));
        }
    }

    /// The same coin tossed one toss at a time: the naive twin of `ln_evidence`.
    fn one_by_one(a: f64, b: f64, ones: u64, zeros: u64) -> f64 {
        let mut sum = 0.0;
        for k in 0..ones {
            sum += ((a + k as f64) / (a + b + k as f64)).ln();
        }
        for k in 0..zeros {
            sum += ((b + k as f64) / (a + b + (ones + k) as f64)).ln();
        }
        sum
    }

    #[test]
    fn evidence_is_the_product_of_predictions_also_beyond_the_tables() {
        for (a, b) in [(1.0, 1.0), (0.5, 2.25), (3.0, 0.1)] {
            let coin = BetaBernoulli::new(a, b, 1 << 40);
            for (ones, zeros) in
                [(0, 0), (3, 4), (0, 90_000), (90_000, 0), (17, 200_000), (150_000, 150_001)]
            {
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
