//! The evidence of coin tosses under a Beta prior: what the models of zeros and ones are made of.

use super::rising::{Landmark, LnRising};
use super::{ln_gamma, ln_gamma_drop};

/// Where short tables stop. The series beyond it are exact to the last digits from 10⁴ on.
const SHORT_TABLE: u64 = 1 << 14;

/// ln [B(ones + β⁺, zeros + β⁻) / B(β⁺, β⁻)] as a function of ones and zeros, without tables.
pub fn evidence_of_tosses((a, b): (f64, f64)) -> impl Fn(u64, u64) -> f64 {
    let before = ln_beta(a, b);
    move |ones, zeros| match ones + zeros {
        0 => 0.0,
        _ => ln_beta(ones as f64 + a, zeros as f64 + b) - before,
    }
}

/// ln B(x, y). The larger one goes into the drop, where nothing cancels.
fn ln_beta(x: f64, y: f64) -> f64 {
    let (lesser, larger) = if y >= x { (x, y) } else { (y, x) };
    ln_gamma(lesser) + ln_gamma_drop(larger, lesser)
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

    /// Tables for hyper-parameters that will soon be others: short ones, because making them takes longer than
    /// doing without them for counts that are rare.
    pub fn for_a_while(beta_plus: f64, beta_minus: f64, largest: u64) -> Self {
        BetaBernoulli::new(beta_plus, beta_minus, largest.min(SHORT_TABLE))
    }

    /// Whether so many tosses are covered by all three tables, which are equally long.
    #[inline]
    pub fn in_tables(&self, total: u64) -> bool {
        (total as usize) < self.both.table.len()
    }

    /// The three tables: what the evidence has of so many ones, of so many zeros, and, to be taken away, of so many tosses.
    pub fn tables(&self) -> [&[f64]; 3] {
        [&self.plus.table, &self.minus.table, &self.both.table]
    }

    /// ln [B(ones + β⁺, total − ones + β⁻) / B(β⁺, β⁻)]; exactly 0 when `total` is 0.
    #[inline(always)]
    pub fn ln_evidence(&self, ones: u64, total: u64) -> f64 {
        debug_assert!(ones <= total);
        match self.in_tables(total) {
            true => self.ln_evidence_in_tables(ones, total),
            false => self.ln_evidence_large(ones, total - ones),
        }
    }

    /// The same, if so many tosses are in the tables.
    #[inline(always)]
    pub fn ln_evidence_in_tables(&self, ones: u64, total: u64) -> f64 {
        self.plus.table[ones as usize] + self.minus.table[(total - ones) as usize]
            - self.both.table[total as usize]
    }

    #[inline(never)]
    fn ln_evidence_large(&self, ones: u64, zeros: u64) -> f64 {
        evidence_of_tosses((self.plus.beta, self.minus.beta))(ones, zeros)
    }

    /// What the evidence of (ones, total) grows by with `more` tosses, `new` of them ones.
    #[inline(always)]
    pub fn gain(&self, ones: u64, total: u64, new: u64, more: u64) -> f64 {
        debug_assert!(ones <= total && new <= more);
        let (zeros, new_zeros) = (total - ones, more - new);
        if self.in_tables(total + more) {
            // Not `rise`, which would be prepared for what no table has.
            let rise =
                |of: &LnRising, from: u64, to: u64| of.table[to as usize] - of.table[from as usize];
            (rise(&self.plus, ones, ones + new) + rise(&self.minus, zeros, zeros + new_zeros))
                - rise(&self.both, total, total + more)
        } else {
            self.gain_large(ones, zeros, new, new_zeros)
        }
    }

    /// The same of many pairs of (ones, total) and (new, more) that have `total` and `more` in common; these are told by their ones.
    #[inline(always)]
    pub fn gain_of_all(
        &self,
        total: u64,
        more: u64,
        ones_and_new: impl ExactSizeIterator<Item = (u64, u64)>,
    ) -> f64 {
        if !self.in_tables(total + more) {
            return ones_and_new.map(|(ones, new)| self.gain(ones, total, new, more)).sum();
        }
        let [plus, minus, both] = self.tables();
        let count = ones_and_new.len() as f64;
        let mut sum = 0.0;
        for (ones, new) in ones_and_new {
            let (zeros, new_zeros) = (total - ones, more - new);
            sum += (plus[(ones + new) as usize] - plus[ones as usize])
                + (minus[(zeros + new_zeros) as usize] - minus[zeros as usize]);
        }
        sum - count * (both[(total + more) as usize] - both[total as usize])
    }

    #[inline(never)]
    fn gain_large(&self, ones: u64, zeros: u64, new_ones: u64, new_zeros: u64) -> f64 {
        let (total, more) = (ones + zeros, new_ones + new_zeros);
        (self.plus.rise(ones, ones + new_ones) + self.minus.rise(zeros, zeros + new_zeros))
            - self.both.rise(total, total + more)
    }

    /// So many ones among so many tosses, for asking what happens if there are a few more or fewer.
    #[inline(always)]
    pub fn tossed(&self, ones: u64, total: u64) -> Tossed<'_> {
        debug_assert!(ones <= total);
        let (near_zeros, near_total, zeros_and_total) = match self.in_tables(total) {
            true => (Landmark::NOWHERE, Landmark::NOWHERE, self.zeros_and_total(ones, total)),
            false => (self.minus.landmark(total - ones), self.both.landmark(total), 0.0),
        };
        Tossed { coin: self, ones, total, zeros_and_total, near_zeros, near_total }
    }

    /// The same, if nothing beyond `largest` tosses will be asked and that is in the tables.
    #[inline(always)]
    pub fn tossed_in_tables(&self, ones: u64, total: u64, largest: u64) -> Option<InTables<'_>> {
        let few = self.plus.table.get(ones as usize..).and_then(<[f64]>::first_chunk);
        let &[plus, one, two] = few.filter(|_| self.in_tables(largest))?;
        Some(InTables {
            coin: self,
            ones,
            zeros_and_total: self.zeros_and_total(ones, total),
            rises: [one - plus, two - plus],
        })
    }

    /// The part of the evidence that depends on the zeros, from the tables.
    #[inline(always)]
    fn zeros_and_total(&self, ones: u64, total: u64) -> f64 {
        self.minus.table[(total - ones) as usize] - self.both.table[total as usize]
    }

    /// What the evidence of so many ones and zeros grows by if `new` of the zeros become ones.
    #[inline(always)]
    pub fn turn(&self, ones: u64, zeros: u64, new: u64) -> f64 {
        self.recount(ones + zeros, ones, ones + new)
    }

    /// What the evidence of `total` tosses changes by if there are not so many ones but others.
    #[inline(always)]
    pub fn recount(&self, total: u64, from: u64, to: u64) -> f64 {
        debug_assert!(from <= total && to <= total);
        if self.in_tables(total) {
            self.recount_in_tables(total, from, to)
        } else {
            self.recount_large(total, from, to)
        }
    }

    /// The same, if so many tosses are in the tables.
    #[inline(always)]
    pub fn recount_in_tables(&self, total: u64, from: u64, to: u64) -> f64 {
        let (plus, minus) = (&self.plus.table, &self.minus.table);
        (plus[to as usize] - plus[from as usize])
            - (minus[(total - from) as usize] - minus[(total - to) as usize])
    }

    /// The same, much faster beyond the tables, if the number of zeros is near a landmark `at` some number.
    #[inline(always)]
    pub fn recount_near(
        &self,
        (landmark, at): (&Landmark, u64),
        total: u64,
        from: u64,
        to: u64,
    ) -> f64 {
        if self.in_tables(total) {
            return self.recount_in_tables(total, from, to);
        }
        match landmark.rise(at, total - from, total - to) {
            Some(zeros) => self.plus.rise(from, to) + zeros,
            None => self.recount_large(total, from, to),
        }
    }

    /// [`BetaBernoulli::turn`], near a landmark so many zeros `away`.
    #[inline(always)]
    pub fn turn_near(&self, near: &Landmark, away: i64, ones: u64, zeros: u64, new: u64) -> f64 {
        let (to, total) = (ones + new, ones + zeros);
        if self.in_tables(total) {
            return self.recount_in_tables(total, ones, to);
        }
        let s = -(new as i64);
        match (
            near.rise_by(away as f64 + 0.5 * (s - 1) as f64, s as f64),
            self.plus.table.get(to as usize),
        ) {
            (Some(fall), Some(plus)) => (plus - self.plus.table[ones as usize]) + fall,
            _ => self.recount_large(total, ones, to),
        }
    }

    #[inline(never)]
    fn recount_large(&self, total: u64, from: u64, to: u64) -> f64 {
        self.plus.rise(from, to) + self.minus.rise(total - from, total - to)
    }
}

/// Tosses of a coin; see [`BetaBernoulli::tossed`].
#[derive(Debug)]
pub struct Tossed<'a> {
    coin: &'a BetaBernoulli,
    ones: u64,
    total: u64,
    /// If it is in the tables; …
    zeros_and_total: f64,
    /// … and these if not.
    near_zeros: Landmark,
    near_total: Landmark,
}

/// So many new ones are few; see [`Tosses::turns`].
pub const FEW: usize = 2;

/// What follows if there are a few more tosses, or fewer.
pub trait Tosses {
    /// For [`BetaBernoulli::recount_near`].
    fn landmark(&self) -> Landmark;

    /// [`BetaBernoulli::turn`] of so many zeros, with as many ones.
    fn turn(&self, zeros: u64, new: u64) -> f64;

    /// The same for one new one, two of them, and so on; but 0 for more than `most`.
    #[inline(always)]
    fn turns(&self, zeros: u64, most: u64) -> [f64; FEW] {
        let turn = |new: u64| if new <= most { self.turn(zeros, new) } else { 0.0 };
        [turn(1), turn(2)]
    }

    /// What the evidence changes by if zeros come or go until there are `to` tosses.
    fn shift(&self, to: u64) -> f64;
}

impl Tosses for Tossed<'_> {
    #[inline(always)]
    fn landmark(&self) -> Landmark {
        self.near_zeros
    }

    #[inline(always)]
    fn turn(&self, zeros: u64, new: u64) -> f64 {
        let near = (&self.near_zeros, self.total - self.ones);
        self.coin.recount_near(near, self.ones + zeros, self.ones, self.ones + new)
    }

    #[inline(always)]
    fn shift(&self, to: u64) -> f64 {
        let Tossed { coin, ones, total, .. } = *self;
        debug_assert!(ones <= to);
        if coin.in_tables(total.max(to)) {
            coin.zeros_and_total(ones, to) - self.zeros_and_total
        } else {
            self.shift_large(to)
        }
    }
}

impl Tossed<'_> {
    #[inline(never)]
    fn shift_large(&self, to: u64) -> f64 {
        let Tossed { coin, ones, total, .. } = *self;
        let zeros = self.near_zeros.rise(total - ones, total - ones, to - ones);
        match (zeros, self.near_total.rise(total, total, to)) {
            (Some(zeros), Some(all)) => zeros - all,
            _ => coin.minus.rise(total - ones, to - ones) - coin.both.rise(total, to),
        }
    }
}

/// Tosses of which nothing beyond the tables is asked; see [`BetaBernoulli::tossed_in_tables`].
#[derive(Debug)]
pub struct InTables<'a> {
    coin: &'a BetaBernoulli,
    ones: u64,
    zeros_and_total: f64,
    /// What one more one adds by itself, and two.
    rises: [f64; FEW],
}

impl Tosses for InTables<'_> {
    #[inline(always)]
    fn landmark(&self) -> Landmark {
        Landmark::NOWHERE
    }

    #[inline(always)]
    fn turn(&self, zeros: u64, new: u64) -> f64 {
        self.coin.recount_in_tables(self.ones + zeros, self.ones, self.ones + new)
    }

    #[inline(always)]
    fn turns(&self, zeros: u64, most: u64) -> [f64; FEW] {
        // One look into the table for all of them, if they are there.
        let zeros = zeros as usize;
        let table = &self.coin.minus.table[..=zeros];
        let [minus_two, minus_one, minus] = match table.last_chunk() {
            Some(&three) => three,
            None => [table[0], table[zeros.saturating_sub(1)], table[zeros]],
        };
        [
            if most >= 1 { self.rises[0] - (minus - minus_one) } else { 0.0 },
            if most >= 2 { self.rises[1] - (minus - minus_two) } else { 0.0 },
        ]
    }

    #[inline(always)]
    fn shift(&self, to: u64) -> f64 {
        self.coin.zeros_and_total(self.ones, to) - self.zeros_and_total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    /// Toss after toss, ones first, with the predictive probability of each: the naive twin of `gain`.
    fn tossed(beta: (f64, f64), mut ones: f64, mut zeros: f64, new: u64, more: u64) -> f64 {
        let mut sum = 0.0;
        for toss in 0..more {
            let all = ones + zeros + beta.0 + beta.1;
            if toss < new {
                sum += libm::log((ones + beta.0) / all);
                ones += 1.0;
            } else {
                // The larger of the two would lose the digits of the smaller.
                sum += match zeros < ones {
                    true => libm::log((zeros + beta.1) / all),
                    false => libm::log1p(-(ones + beta.0) / all),
                };
                zeros += 1.0;
            }
        }
        sum
    }

    #[test]
    fn gains_shifts_and_turns_are_those_of_single_tosses() {
        for beta in [(1.0, 1.0), (0.3, 2.5), (5.0, 1e-3)] {
            let coin = BetaBernoulli::new(beta.0, beta.1, 1 << 45);
            // Within the tables, across their end, and far beyond it.
            for total in [0u64, 1, 40, 1_000_000, 1_048_500, 3_000_000, 40_000_000_000] {
                for share in [0.0, 1e-6, 0.03, 0.5, 1.0] {
                    let ones = (total as f64 * share) as u64;
                    let (x, y) = (ones as f64, (total - ones) as f64);
                    for (new, more) in [(0, 0), (0, 1), (1, 1), (2, 7), (0, 3000), (90, 90)] {
                        let close = |fast: f64, slow: f64, what: &str| {
                            let error = (fast - slow).abs() / slow.abs().max(1.0);
                            // Tables hold numbers up to 10⁷, exact to 2e-9.
                            assert!(
                                error < 2e-8,
                                "{what} of {ones}/{total}, {new}/{more}, β {beta:?}: {fast}, not {slow}"
                            );
                        };
                        close(
                            coin.gain(ones, total, new, more),
                            tossed(beta, x, y, new, more),
                            "gain",
                        );
                        let zeros = tossed(beta, x, y, 0, more);
                        close(coin.tossed(ones, total).shift(total + more), zeros, "shift");
                        close(coin.tossed(ones, total + more).shift(total), -zeros, "shift back");
                        let turned = tossed(beta, x, y, new, more) - zeros;
                        close(coin.turn(ones, total - ones + more, new), turned, "turn");
                    }
                }
            }
        }
    }

    /// What is known to be in the tables is the same to the last bit.
    #[test]
    fn tosses_in_the_tables_are_those_of_all() {
        let coin = BetaBernoulli::new(0.7, 1.3, 100);
        for total in 0..60u64 {
            for ones in 0..=total {
                let far = coin.tossed(ones, total);
                let near = coin.tossed_in_tables(ones, total, total + 40).expect("it is there");
                for to in ones..=total + 40 {
                    assert_eq!(near.shift(to).to_bits(), far.shift(to).to_bits());
                    for most in 0..=(to - ones).min(3) {
                        let bits = |turns: [f64; FEW]| turns.map(f64::to_bits);
                        assert_eq!(
                            bits(near.turns(to - ones, most)),
                            bits(far.turns(to - ones, most))
                        );
                    }
                }
            }
        }
        assert!(coin.tossed_in_tables(3, 60, 101).is_none());
    }

    /// Near a landmark and far from it, with more ones and with fewer.
    #[test]
    fn landmarks_do_not_change_what_is_counted() {
        let coin = BetaBernoulli::new(0.7, 1.3, 1 << 50);
        for zeros in [900_000u64, 2_000_000, 50_000_000, 40_000_000_000] {
            let landmark = coin.tossed(0, zeros).landmark();
            for ones in [0u64, 3, 70_000, 1_040_000, 3_000_000] {
                for more in [0u64, 1, 9, 800, 30_000, 100_000] {
                    for new in [0u64, 1, 2, 17, 400].map(|new: u64| new.min(zeros + more)) {
                        let total = ones + zeros + more;
                        for (from, to) in [(ones, ones + new), (ones + new, ones)] {
                            let near = coin.recount_near((&landmark, zeros), total, from, to);
                            let plain = coin.recount(total, from, to);
                            let error = (near - plain).abs();
                            assert!(
                                error < 1e-13 * plain.abs().max(1.0),
                                "{from} → {to} of {total}: {near}, not {plain}"
                            );
                        }
                    }
                }
            }
        }
    }
}
