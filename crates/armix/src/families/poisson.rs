//! Counts: Poisson numbers with a Gamma prior.

use super::{Family, STEP, Values, draw};
use crate::hyper::{Hyper, HyperPrior};
use crate::special::{FOUR, LnRising, fast_ln, ln_gamma};
use std::sync::Arc;

/// Gamma-Poisson: λ ~ Gamma(a, b / t), x ~ Poisson(λ), where t is the column's typical count: on this
/// scale a = b = 1 says little, whatever the counts are. A sum is (values, Σx, Σ ln x! in units of 2⁻⁴⁴).
#[derive(Debug, Clone)]
pub struct Poisson {
    shape: f64,
    rate: f64,
    typical: f64,
    tables: Arc<Tables>,
}

#[derive(Debug)]
struct Tables {
    /// ln [Γ(a + s) / Γ(a)].
    rising: LnRising,
    /// ln x!, the same for all hyper-parameters.
    factorial: Arc<LnRising>,
    largest: u64,
}

impl Tables {
    /// R(S), or 0 beyond the table.
    #[inline(always)]
    fn start(&self, total: u64) -> f64 {
        self.rising.in_table(total).unwrap_or(0.0)
    }

    /// Adds the gains of a count in N blocks, those from a lane on.
    #[inline(always)]
    fn add_gains<const N: usize>(&self, kept: &Kept, from: usize, x: u32, sums: &mut [f64; N]) {
        let table = self.rising.table();
        let places: [u64; N] = std::array::from_fn(|at| kept.total[from + at] + u64::from(x));
        // Nearly all are found in the table. A missing count is not: it leads beyond every table.
        if places.iter().fold(true, |all, &place| all & (place < table.len() as u64)) {
            for at in 0..N {
                let lane = from + at;
                let risen = kept.constant[lane] + table[places[at] as usize];
                sums[at] += risen - f64::from(x) * kept.ln_more[lane];
            }
        } else if x != Poisson::MISSING {
            (0..N).for_each(|at| sums[at] += self.gain_of_rare(kept, from + at, x));
        }
    }

    /// Adds the gains of some cells, the first in a column with an even number: to two sums for each block, as additions wait for each other.
    #[inline(always)]
    fn add_gains_of_cells<const N: usize>(
        &self,
        kept: &[Kept],
        from: usize,
        row: &[u32],
        [sums, others]: &mut [[f64; N]; 2],
    ) {
        let ((kept, last), (row, x)) = (kept.as_chunks::<2>(), row.as_chunks::<2>());
        for ([left, right], &[x, y]) in kept.iter().zip(row) {
            self.add_gains(left, from, x, sums);
            self.add_gains(right, from, y, others);
        }
        if let ([last], [x]) = (last, x) {
            self.add_gains(last, from, *x, sums);
        }
    }

    /// What a count adds to the gain of a row where the table does not reach everywhere, which is rare: a part of the loop
    /// over the cells it would make slow.
    #[cold]
    #[inline(never)]
    fn gain_of_rare(&self, kept: &Kept, lane: usize, x: u32) -> f64 {
        let (total, more) = (kept.total[lane], u64::from(x));
        let risen = match self.rising.in_table(total + more) {
            Some(risen) => risen,
            None => self.start(total) + self.rising.rise(total, total + more),
        };
        (kept.constant[lane] + risen) - f64::from(x) * kept.ln_more[lane]
    }

    /// The same at home.
    #[cold]
    #[inline(never)]
    fn gain_of_rare_at_home(&self, kept: &Kept, lane: usize, x: u32) -> f64 {
        if x == Poisson::MISSING {
            return 0.0;
        }
        let total = kept.total[lane];
        let rise = self.rising.rise(total - u64::from(x), total);
        (kept.home[lane] + rise) - f64::from(x) * kept.ln_less[lane]
    }
}

/// The gains of a row in N blocks, those from a lane on.
#[inline(always)]
fn gains<const N: usize>(
    families: &[Poisson],
    kept: &[Kept],
    from: usize,
    row: &[u32],
) -> [f64; N] {
    let Some(family) = families.first() else { return [0.0; N] };
    let tables = &*family.tables; // All share them.
    let mut sums = [[0.0; N]; 2];
    tables.add_gains_of_cells(kept, from, row, &mut sums);
    let [sums, others] = sums;
    std::array::from_fn(|at| sums[at] + others[at])
}

/// Sums times the difference of two logarithms lose digits beyond this.
const LARGE: f64 = 1e6;

/// In narrower tables it takes most columns to see that a block is no place for a row.
const WIDE: usize = 32;

/// So many blocks are side by side.
const LANES: usize = FOUR;

/// Longer tables are slow to make, and series are nearly as fast.
const TABLE: u64 = 1 << 17;

/// The unit of Σ ln x!.
const UNIT: f64 = 1.0 / (1u64 << 44) as f64;

/// What is kept of the sums S of n counts of each of these blocks: ln p(x) = `constant` + R(S + x) − x · `ln_more` − ln x!, where R(S) is ln [Γ(a + S) / Γ(a)]
/// from the table; `constant` has −R(S) in it if the table does. With S counting x already,
/// `home` + R(S) − R(S − x) − x · `ln_less` − ln x!.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(32))]
pub struct Kept {
    total: [u64; LANES],
    constant: [f64; LANES],
    ln_more: [f64; LANES],
    home: [f64; LANES],
    ln_less: [f64; LANES],
}

impl Poisson {
    /// Families for columns with these typical counts, of which none exceeds `largest_value` nor
    /// adds up to more than `largest_sum`.
    pub fn new(
        typical: &[f64],
        (shape, rate): (f64, f64),
        largest_value: u64,
        largest_sum: u64,
    ) -> Vec<Self> {
        let factorial = Arc::new(LnRising::new(1.0, largest_value.min(TABLE)));
        Poisson::with_tables(typical, (shape, rate), factorial, largest_sum)
    }

    fn with_tables(
        typical: &[f64],
        (shape, rate): (f64, f64),
        factorial: Arc<LnRising>,
        largest: u64,
    ) -> Vec<Self> {
        let rising = LnRising::new(shape, largest.min(TABLE));
        let tables = Arc::new(Tables { rising, factorial, largest });
        let family = |&typical: &f64| Poisson { shape, rate, typical, tables: tables.clone() };
        typical.iter().map(family).collect()
    }

    /// The typical count of values like these: their mean, or 1 if all of them are 0.
    pub fn typical(values: impl Iterator<Item = f64>) -> f64 {
        let (count, sum) = values.fold((0.0, 0.0), |(n, sum), x| (n + 1.0, sum + x));
        if sum > 0.0 { sum / count } else { 1.0 }
    }

    /// The largest count, and the largest sum of a column.
    fn largest(columns: &[Values<'_>]) -> (u64, u64) {
        let value = columns.iter().flat_map(Values::observed).fold(0.0, f64::max);
        let sum = columns.iter().map(|c| c.observed().sum::<f64>()).fold(0.0, f64::max);
        (value as u64, sum as u64)
    }

    /// The typical count.
    pub fn typical_count(&self) -> f64 {
        self.typical
    }

    fn ln_factorial(&self, x: u32) -> f64 {
        self.tables.factorial.at(x.into())
    }

    /// b / t.
    fn own_rate(&self) -> f64 {
        self.rate / self.typical
    }

    fn sum_of(&self, value: u32) -> [i128; 3] {
        [1, value.into(), (self.ln_factorial(value) / UNIT) as i128]
    }
}

/// Adds up what a function gives for all cells of a row, four sums at a time, as additions wait for each other.
#[inline(always)]
fn sum_of_cells(kept: &[Kept], row: &[u32], of: impl Fn(&Kept, u32) -> f64) -> f64 {
    let (quads, kept_quads) = (row.chunks_exact(4), kept.chunks_exact(4));
    let rest = quads.remainder().iter().zip(kept_quads.remainder());
    let rest: f64 = rest.map(|(&x, kept)| of(kept, x)).sum();
    let mut sums = [0.0; 4];
    for (quad, kept) in quads.zip(kept_quads) {
        for lane in 0..4 {
            sums[lane] += of(&kept[lane], quad[lane]);
        }
    }
    rest + ((sums[0] + sums[1]) + (sums[2] + sums[3]))
}

fn add(sum: &[i128], more: &[i128]) -> [i128; 3] {
    [sum[0] + more[0], sum[1] + more[1], sum[2] + more[2]]
}

impl Family for Poisson {
    const NAME: &'static str = "poisson";
    type Value = u32;
    const MISSING: u32 = u32::MAX;
    type Word = i128;
    type Kept = Kept;
    const LANES: usize = LANES;
    type Parameter = f64;

    fn width(&self) -> usize {
        3
    }
    fn encode(&self, value: f64) -> u32 {
        value as u32
    }
    fn decode(&self, value: u32) -> f64 {
        f64::from(value)
    }
    fn add(&self, sum: &mut [i128], value: u32) {
        super::add_sum(sum, &self.sum_of(value));
    }
    fn sub(&self, sum: &mut [i128], value: u32) {
        super::sub_sum(sum, &self.sum_of(value));
    }
    fn ln_evidence(&self, sum: &[i128]) -> f64 {
        let (a, b, s, n) = (self.shape, self.own_rate(), sum[1] as f64, sum[0] as f64);
        // a ln b − (a + s) ln(b + n), without losing digits where n is much smaller than b.
        self.tables.rising.at(sum[1] as u64)
            - a * libm::log1p(n / b)
            - s * libm::log(b + n)
            - sum[2] as f64 * UNIT
    }
    fn ln_evidence_naive(&self, values: &[f64]) -> f64 {
        let (a, b) = (self.shape, self.own_rate());
        let (s, n) = (values.iter().sum::<f64>(), values.len() as f64);
        libm::lgamma(a + s) - libm::lgamma(a) + a * libm::log(b)
            - (a + s) * libm::log(b + n)
            - values.iter().map(|x| libm::lgamma(x + 1.0)).sum::<f64>()
    }
    fn ln_evidence_with(&self, hypers: &[f64], sum: &[i128]) -> f64 {
        let (a, b, s, n) = (hypers[0], hypers[1] / self.typical, sum[1] as f64, sum[0] as f64);
        ln_gamma(a + s)
            - ln_gamma(a)
            - a * libm::log1p(n / b)
            - s * libm::log(b + n)
            - sum[2] as f64 * UNIT
    }
    fn gain(&self, sum: &[i128], more: &[i128]) -> f64 {
        let (a, b) = (self.shape, self.own_rate() + sum[0] as f64);
        let (s, new, m) = (sum[1] as u64, more[1] as u64, more[0] as f64);
        self.tables.rising.rise(s, s + new)
            - (a + s as f64) * libm::log1p(m / b)
            - new as f64 * libm::log(b + m)
            - more[2] as f64 * UNIT
    }
    fn loss(&self, sum: &[i128], part: &[i128]) -> f64 {
        let rest = add(sum, &[-part[0], -part[1], -part[2]]);
        self.gain(&rest, part)
    }
    fn ln_predictive(&self, sum: &[i128], x: f64) -> f64 {
        if !(x >= 0.0 && x < f64::from(u32::MAX) && x.fract() == 0.0) {
            return f64::NEG_INFINITY;
        }
        self.gain(sum, &self.sum_of(x as u32))
    }
    fn mean(&self, sum: &[i128]) -> f64 {
        (self.shape + sum[1] as f64) / (self.own_rate() + sum[0] as f64)
    }
    fn keep(&self, sum: &[i128], kept: &mut [Kept], lane: usize) {
        let (a, b) = (self.shape + sum[1] as f64, self.own_rate() + sum[0] as f64);
        // What would be left without one of the counts, from the exact number.
        let ln_less =
            if sum[0] == 0 { 0.0 } else { fast_ln(self.own_rate() + (sum[0] - 1) as f64) };
        let (ln_now, ln_more) = (fast_ln(b), fast_ln(b + 1.0));
        // ln b − ln (b + 1) and ln (b − 1) − ln b, times a.
        let (mut to_more, mut to_now) = (a * (ln_now - ln_more), a * (ln_less - ln_now));
        if a > LARGE && sum[0] > 0 {
            (to_more, to_now) = (-a * libm::log1p(1.0 / b), a * libm::log1p(-1.0 / b));
        }
        let kept = &mut kept[0];
        kept.total[lane] = sum[1] as u64;
        kept.constant[lane] = to_more - self.tables.start(sum[1] as u64);
        kept.ln_more[lane] = ln_more;
        kept.home[lane] = to_now;
        kept.ln_less[lane] = ln_less;
    }
    fn base_of_row(families: &[Self], row: &[u32]) -> f64 {
        let Some(family) = families.first() else { return 0.0 };
        let observed = row.iter().filter(|x| **x != Self::MISSING);
        -observed.map(|&x| family.ln_factorial(x)).sum::<f64>()
    }
    fn gain_of_row(families: &[Self], kept: &[Kept], lane: usize, row: &[u32]) -> f64 {
        let [gain] = gains(families, kept, lane % LANES, row);
        gain
    }
    #[inline(always)]
    fn gains_of_row(families: &[Self], kept: &[Kept], row: &[u32], found: &mut [f64]) {
        for (kept, found) in super::side_by_side::<Self>(kept, found) {
            found.copy_from_slice(&gains::<LANES>(families, kept, 0, row));
        }
    }
    #[inline(always)]
    fn gains_of_full_row(families: &[Self], kept: &[Kept], row: &[u32], found: &mut [f64]) {
        Self::gains_of_row(families, kept, row, found);
    }
    fn ceiling(cells: &[u32]) -> f64 {
        // A mean of Poisson probabilities of x is not above the largest, that with λ = x: e⁻ˣ xˣ / x!.
        let highest = |x: f64| if x == 0.0 { 0.0 } else { x * libm::log(x) - x };
        let observed = cells.iter().filter(|x| **x != Self::MISSING);
        observed.map(|&x| highest(x.into())).sum()
    }
    fn bounded_from(_full: bool) -> Option<usize> {
        Some(WIDE)
    }
    #[inline(always)]
    fn likely_gains_of_row(
        families: &[Self],
        kept: &[Kept],
        row: &[u32],
        ceilings: &[f64],
        floors: &[f64],
        found: &mut [f64],
    ) {
        let tables = &*families[0].tables; // All share them.
        let blocks = super::side_by_side::<Self>(kept, found).zip(floors.as_chunks::<LANES>().0);
        for ((kept, found), floors) in blocks {
            let mut sums = [[0.0; LANES]; 2];
            let mut hopeless = false;
            for (step, (kept, row)) in kept.chunks(STEP).zip(row.chunks(STEP)).enumerate() {
                tables.add_gains_of_cells(kept, 0, row, &mut sums);
                // The first few hardly ever say enough.
                if step > 0 {
                    let most = ceilings[step + 1];
                    hopeless = true;
                    for lane in 0..LANES {
                        hopeless &= sums[0][lane] + sums[1][lane] + most < floors[lane];
                    }
                    if hopeless {
                        break;
                    }
                }
            }
            for lane in 0..LANES {
                let gain = sums[0][lane] + sums[1][lane];
                found[lane] = if hopeless { f64::NEG_INFINITY } else { gain };
            }
        }
    }
    fn gain_of_row_at_home(
        families: &[Self],
        _sums: &[i128],
        kept: &[Kept],
        lane: usize,
        row: &[u32],
    ) -> f64 {
        let Some(family) = families.first() else { return 0.0 }; // All share their tables.
        let (tables, lane) = (&*family.tables, lane % LANES);
        sum_of_cells(kept, row, |kept, x| {
            let total = kept.total[lane];
            let rest = total.wrapping_sub(u64::from(x));
            match (tables.rising.in_table(total), tables.rising.in_table(rest)) {
                (Some(all), Some(rest)) => {
                    (kept.home[lane] + (all - rest)) - f64::from(x) * kept.ln_less[lane]
                }
                _ => tables.gain_of_rare_at_home(kept, lane, x),
            }
        })
    }
    fn fit(columns: &[Values<'_>], hypers: &[f64]) -> Vec<Self> {
        let typical: Vec<f64> = columns.iter().map(|c| Poisson::typical(c.typical())).collect();
        let (value, sum) = Poisson::largest(columns);
        Poisson::new(&typical, (hypers[0], hypers[1]), value, sum)
    }
    fn refit(families: &[Self], columns: &[Values<'_>]) -> Vec<Self> {
        let typical: Vec<f64> = families.iter().map(|f| f.typical).collect();
        let (value, sum) = Poisson::largest(columns);
        let hypers = families.first().map_or((1.0, 1.0), |f| (f.shape, f.rate));
        Poisson::new(&typical, hypers, value, sum)
    }
    const DEFAULTS: &'static [f64] = &[1.0, 1.0];
    fn hypers(&self) -> Vec<Hyper> {
        vec![
            Hyper::new("shape", self.shape, HyperPrior::UNIT_GAMMA),
            Hyper::new("rate", self.rate, HyperPrior::UNIT_GAMMA),
        ]
    }
    fn with_hypers(families: &[Self], values: &[f64]) -> Vec<Self> {
        let typical: Vec<f64> = families.iter().map(|f| f.typical).collect();
        let Some(Tables { factorial, largest, .. }) = families.first().map(|f| &*f.tables) else {
            return Vec::new();
        };
        Poisson::with_tables(&typical, (values[0], values[1]), factorial.clone(), *largest)
    }
    fn draw_parameter(&self, uniform: &mut dyn FnMut() -> f64) -> f64 {
        draw::gamma(self.shape, uniform) / self.own_rate()
    }
    fn draw_value(&self, &lambda: &f64, uniform: &mut dyn FnMut() -> f64) -> f64 {
        draw::poisson(lambda, uniform)
    }
}
