//! Tables of ln(k + β) and of lnΓ(k + β), and what replaces them beyond their end.

use super::ln::ln;
use super::{ln_gamma, ln_gamma_drop};

/// Tables stop here; beyond it series are exact to the last bit and memory stays small.
const TABLE_MAX: usize = 1 << 20;

/// The length of a table that covers 0 … `largest`, or as far as tables go.
fn table_len(largest: u64) -> usize {
    usize::try_from(largest).unwrap_or(usize::MAX).saturating_add(1).min(TABLE_MAX)
}

/// ln(k + β) for k = 0, 1, 2, …
#[derive(Debug, Clone)]
pub struct LnTable {
    beta: f64,
    /// The first value stands here twice, so that every one has another before it.
    table: Vec<f64>,
}

impl LnTable {
    /// A table that covers k = 0 … `largest` (or as far as tables go).
    pub fn new(beta: f64, largest: u64) -> Self {
        let values = (0..table_len(largest)).map(|k| libm::log(beta + k as f64));
        LnTable { beta, table: std::iter::once(libm::log(beta)).chain(values).collect() }
    }

    /// The same with another value for k = 0.
    pub fn with_first(mut self, value: f64) -> Self {
        self.table[..2].fill(value);
        self
    }

    /// The values for k = 0, 1, … that are in the table.
    #[inline(always)]
    pub fn known(&self) -> &[f64] {
        &self.table[1..]
    }

    /// ln(k + β).
    #[inline]
    pub fn at(&self, k: u32) -> f64 {
        match self.known().get(k as usize) {
            Some(&value) => value,
            None => libm::log(f64::from(k) + self.beta),
        }
    }

    /// ln(k − 1 + β), which is ln β for k = 0, and ln(k + β).
    #[inline(always)]
    pub fn two(&self, k: u32) -> [f64; 2] {
        match self.table.get(k as usize..k as usize + 2) {
            Some(&[before, value]) => [before, value],
            _ => [self.at(k.saturating_sub(1)), self.at(k)],
        }
    }
}

/// ln [Γ(k + β) / Γ(β)] for k = 0, 1, 2, …: the logarithm of the rising factorial, from a table.
///
/// The quotient is what models need, and it is exact also where β is large and the two lnΓ would
/// cancel.
#[derive(Debug, Clone)]
pub struct LnRising {
    pub(super) beta: f64,
    pub(super) table: Vec<f64>,
}

impl LnRising {
    /// A table that covers k = 0 … `largest` (or as far as tables go).
    pub fn new(beta: f64, largest: u64) -> Self {
        // Σ ln(β + j) with the rounding errors carried along (Neumaier), so that long tables stay
        // exact.
        let (mut sum, mut carried) = (0.0f64, 0.0f64);
        let table = (0..table_len(largest))
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

    /// ln [Γ(k + β) / Γ(β)].
    #[inline]
    pub fn at(&self, k: u64) -> f64 {
        match self.table.get(k as usize) {
            Some(&value) => value,
            None => ln_gamma(k as f64 + self.beta) - ln_gamma(self.beta),
        }
    }

    /// The same, if the table has it.
    #[inline(always)]
    pub fn in_table(&self, k: u64) -> Option<f64> {
        self.table.get(usize::try_from(k).ok()?).copied()
    }

    /// As many of these values as the table has.
    #[inline(always)]
    pub fn table(&self) -> &[f64] {
        &self.table
    }

    /// ln [Γ(to + β) / Γ(from + β)].
    #[inline(always)]
    pub fn rise(&self, from: u64, to: u64) -> f64 {
        if (from.max(to) as usize) < self.table.len() {
            self.table[to as usize] - self.table[from as usize]
        } else {
            // Processors convert signed numbers much faster; counts stay far below 2⁶³.
            let (from, to) = (from as i64, to as i64);
            ln_rise(from as f64 + self.beta, (to - from) as f64)
        }
    }

    /// A landmark at a count beyond the table.
    #[inline(always)]
    pub(super) fn landmark(&self, count: u64) -> Landmark {
        if (count as usize) < self.table.len() {
            return Landmark::NOWHERE;
        }
        let value = count as f64 + self.beta;
        Landmark { ln: ln(value), inverse: 1.0 / value }
    }
}

/// ln [Γ(x + s) / Γ(x)] = Σ ln(x + j), j < s, for x and x + s of a million and more; s may be negative.
///
/// Where s is much less than x, one logarithm at the middle of the sum and a term or two of the Taylor
/// series around it.
#[inline(always)]
fn ln_rise(x: f64, s: f64) -> f64 {
    if 4096.0 * s.abs() > x {
        return ln_rise_far(x, s);
    }
    let middle = x + 0.5 * (s - 1.0);
    s * ln(middle) - s * (s * s - 1.0) / (24.0 * middle * middle)
}

#[inline(never)]
fn ln_rise_far(x: f64, s: f64) -> f64 {
    if 256.0 * s.abs() > x {
        return if s >= 0.0 { -ln_gamma_drop(x, s) } else { ln_gamma_drop(x + s, -s) };
    }
    let middle = x + 0.5 * (s - 1.0);
    let inverse = 1.0 / (middle * middle);
    let second = s * (s * s - 1.0) * inverse * (1.0 / 24.0);
    let fourth = second * (3.0 * s * s - 7.0) * inverse * (1.0 / 40.0);
    s * ln(middle) - second - fourth
}

/// The logarithm of a count, from which those of counts nearby are found without computing a logarithm. Who has it knows the
/// count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Landmark {
    ln: f64,
    inverse: f64,
}

impl Default for Landmark {
    fn default() -> Self {
        Landmark::NOWHERE
    }
}

/// So near to a landmark, relative to it, four terms of a series are enough.
const NEAR: f64 = 1.0 / 4096.0;

impl Landmark {
    /// One that nothing is near to.
    pub(super) const NOWHERE: Landmark = Landmark { ln: 0.0, inverse: f64::INFINITY };

    /// [`LnRising::rise`] as in [`ln_rise`], if the landmark is at this count; `None` if that is not near.
    #[inline(always)]
    pub(super) fn rise(&self, at: u64, from: u64, to: u64) -> Option<f64> {
        let s = to as i64 - from as i64;
        self.rise_by((from as i64 - at as i64) as f64 + 0.5 * (s - 1) as f64, s as f64)
    }

    /// The same, given how far from the landmark the middle of the s counts is.
    #[inline(always)]
    pub(super) fn rise_by(&self, middle: f64, s: f64) -> Option<f64> {
        let away = middle * self.inverse;
        let ln_middle = self.ln + away * (1.0 - away * (0.5 - away * (1.0 / 3.0 - away * 0.25)));
        let second = (s * s - 1.0) * (self.inverse * self.inverse) * ((1.0 - 2.0 * away) / 24.0);
        // Not so for what is not a number.
        (away.abs() < NEAR).then_some(s * (ln_middle - second))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_logarithms_are_those_of_the_table_and_beyond_it() {
        for (largest, first) in [(0, None), (1, None), (10, None), (10, Some(0.25))] {
            let table = LnTable::new(0.5, largest);
            let table = first.map_or(table.clone(), |value| table.with_first(value));
            assert_eq!(table.known().len() as u64, largest + 1);
            assert_eq!(table.two(0), [table.at(0); 2]);
            for k in 1..20 {
                assert_eq!(table.two(k), [table.at(k - 1), table.at(k)], "{largest}, {k}");
                assert_eq!(table.at(k), libm::log(f64::from(k) + 0.5));
            }
            assert_eq!(table.at(0), first.unwrap_or(libm::log(0.5)));
        }
    }

    #[test]
    fn table_and_function_agree() {
        let table = LnRising::new(0.7, 100_000);
        for k in [0u64, 1, 5, 99, 100, 5000, 99_999, 100_000, 100_001] {
            let expected = ln_gamma(k as f64 + 0.7) - ln_gamma(0.7);
            assert!((table.at(k) - expected).abs() <= 4e-16 * expected.abs().max(1.0), "{k}");
        }
    }
}
