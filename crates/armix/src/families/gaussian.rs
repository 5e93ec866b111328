//! Real numbers: normal values with a Normal-inverse-Gamma prior.

use super::{Family, Values, draw};
use crate::hyper::{Hyper, HyperPrior};
use crate::special::{LnRising, fast_ln, ln_gamma, ln_of_all};
use std::f64::consts::PI;
use std::sync::Arc;

/// Real values as whole multiples of a unit, from the middle of their range: sums of them and of their
/// products are exact. The unit is at most 2⁻⁵⁰ of the range, or more for millions of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    middle: f64,
    unit: f64,
    bits: i32,
}

impl Grid {
    /// For up to `largest` values like these.
    pub fn new(values: impl Iterator<Item = f64>, largest: u64) -> Self {
        let wide = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = values.fold(wide, |(low, high), x| (low.min(x), high.max(x)));
        if low > high {
            return Grid { middle: 0.0, unit: 1.0, bits: 1 };
        }
        // Σk² ≤ n 2²ᵇ must stay below 2¹²⁶.
        let bits = 52.min((126 - (64 - largest.leading_zeros())) / 2) as i32;
        // A single value is in the middle, whatever the unit.
        let range = if high > low { (high - low).max(1e-140) } else { high.abs().max(1.0) };
        let (_, exponent) = libm::frexp(range);
        let unit = libm::ldexp(1.0, exponent - bits);
        Grid { middle: low + (high - low) / 2.0, unit, bits }
    }

    /// Places are within ± so many.
    pub fn reach(&self) -> i64 {
        1 << (self.bits - 1)
    }

    /// The nearest multiple.
    #[inline]
    pub fn place(&self, x: f64) -> i64 {
        libm::round((x - self.middle) / self.unit) as i64
    }

    /// Where a value is on the grid, between its points.
    #[inline]
    pub fn position(&self, x: f64) -> f64 {
        (x - self.middle) / self.unit
    }

    /// The value of a multiple.
    #[inline]
    pub fn value(&self, place: f64) -> f64 {
        self.middle + self.unit * place
    }

    /// The distance of its points.
    pub fn unit(&self) -> f64 {
        self.unit
    }
}

/// The mean of n places that add up to `sum`: a whole number q near it, and what remains of the sum.
#[inline]
pub(crate) fn divide(sum: i128, n: i128) -> (i128, i128) {
    // Divisions of short numbers are much faster.
    let q = match (i64::try_from(sum), n as i64) {
        (Ok(sum), n) => i128::from(sum / n),
        _ => sum / n,
    };
    (q, sum - q * n)
}

/// Normal-inverse-Gamma: σ² ~ InvGamma(a, b s²), μ ~ N(m, σ²/κ), x ~ N(μ, σ²), where m and s are the
/// column's mean and standard deviation: on this scale the same κ, a, b serve every column.
/// A sum is (values, Σk, Σk²) of their places k on a grid.
#[derive(Debug, Clone)]
pub struct Gaussian {
    mean: f64,
    spread: f64,
    grid: Grid,
    kappa: f64,
    shape: f64,
    scale: f64,
    half_steps: Arc<HalfSteps>,
    /// m and b s² on the grid.
    place: f64,
    b: f64,
    ln_b: f64,
    ln_unit: f64,
}

/// ln [Γ(a + n/2) / Γ(a)].
#[derive(Debug)]
struct HalfSteps {
    whole: LnRising,
    half: LnRising,
    first: f64,
    largest: u64,
}

/// Longer tables are slow to make.
const TABLE: u64 = 1 << 17;

impl HalfSteps {
    fn new(a: f64, largest: u64) -> Self {
        let length = (largest / 2 + 1).min(TABLE);
        let (whole, half) = (LnRising::new(a, length), LnRising::new(a + 0.5, length));
        HalfSteps { whole, half, first: ln_gamma(a + 0.5) - ln_gamma(a), largest }
    }

    #[inline]
    fn at(&self, n: u64) -> f64 {
        match n % 2 {
            0 => self.whole.at(n / 2),
            _ => self.first + self.half.at(n / 2),
        }
    }
}

/// What is kept of a sum: ln p(x) = `constant` − `exponent` · ln(1 + `weight` (x − `mean`)²), and with the sum
/// counting x already, `home` + (`exponent` − 1) ln(1 − `home_weight` (x − `mean`)²), on the grid.
#[derive(Debug, Clone, Copy, Default)]
pub struct Kept {
    mean: f64,
    weight: f64,
    constant: f64,
    exponent: f64,
    home_weight: f64,
    home: f64,
}

impl Kept {
    /// What b grows by, as a factor, when a value at this place joins …
    #[inline(always)]
    fn joining(&self, place: f64) -> f64 {
        let away = place - self.mean;
        1.0 + self.weight * (away * away)
    }

    /// … and what is left of it without one.
    #[inline(always)]
    fn left(&self, place: f64) -> f64 {
        let away = place - self.mean;
        1.0 - self.home_weight * (away * away)
    }
}

/// The sum of the first, and ln of the product of the second numbers that a function gives for all cells of a
/// row: one logarithm for many columns. `None` if a product is too large or no number.
#[inline(always)]
fn sum_and_ln_product(
    kept: &[Kept],
    row: &[f64],
    of: impl Fn(&Kept, f64) -> (f64, f64),
) -> Option<(f64, f64)> {
    let (mut sum, mut ln_product) = (0.0, 0.0);
    for (kept, row) in kept.chunks(TOGETHER).zip(row.chunks(TOGETHER)) {
        // Four at a time, as numbers that wait for each other are slow.
        let (mut sums, mut products) = ([0.0; 4], [1.0; 4]);
        let (kept, row) = (kept.chunks_exact(4), row.chunks_exact(4));
        for (lane, (kept, &k)) in kept.remainder().iter().zip(row.remainder()).enumerate() {
            (sums[lane], products[lane]) = of(kept, k);
        }
        for (kept, row) in kept.zip(row) {
            for lane in 0..4 {
                let (term, factor) = of(&kept[lane], row[lane]);
                sums[lane] += term;
                products[lane] *= factor;
            }
        }
        let product = (products[0] * products[1]) * (products[2] * products[3]);
        if !product.is_finite() {
            return None;
        }
        sum += (sums[0] + sums[1]) + (sums[2] + sums[3]);
        ln_product += fast_ln(product);
    }
    Some((sum, ln_product))
}

/// The gain of some cells of which some may be missing. Each column has its own number of values, and needs a logarithm
/// of its own; nothing is skipped, so that there are vector instructions for all.
#[inline(always)]
fn gain_of_some<const N: usize>(kept: &[Kept; N], row: &[f64; N]) -> f64 {
    let (mut seen, mut grown) = ([0.0; N], [0.0; N]);
    for at in 0..N {
        seen[at] = if row[at] == Gaussian::MISSING { 0.0 } else { 1.0 };
    }
    for at in 0..N {
        let place = if row[at] == Gaussian::MISSING { 0.0 } else { row[at] };
        let away = place - kept[at].mean;
        grown[at] = 1.0 + seen[at] * kept[at].weight * (away * away);
    }
    let ln_grown = ln_of_all(&grown);
    let mut sums = [0.0; 4];
    for at in 0..N {
        sums[at % 4] += seen[at] * (kept[at].constant - kept[at].exponent * ln_grown[at]);
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// The exponent that all columns of a full table share.
fn exponent_of(kept: &[Kept]) -> f64 {
    kept.first().map_or(0.0, |kept| kept.exponent)
}

/// So many factors are multiplied before a logarithm is taken. At home none is below [`LEFT`], and LEFT⁶⁴ is
/// still far from 0; products that are too large are noticed.
const TOGETHER: usize = 64;

/// Where less than this is left of b without a value, too many digits are lost to say how much.
const LEFT: f64 = 0.01;

/// Products stay below this, and a factor more does not overflow.
const LARGE: f64 = 1e150;

impl Gaussian {
    /// Families for columns with these means and standard deviations and grids, of up to `largest` values.
    pub fn new(
        columns: &[(f64, f64, Grid)],
        (kappa, shape, scale): (f64, f64, f64),
        largest: u64,
    ) -> Vec<Self> {
        let half_steps = Arc::new(HalfSteps::new(shape, largest));
        let family = |&(mean, spread, grid): &(f64, f64, Grid)| {
            let b = scale * (spread / grid.unit) * (spread / grid.unit);
            let half_steps = half_steps.clone();
            let (place, ln_b, ln_unit) = (grid.position(mean), libm::log(b), libm::log(grid.unit));
            Gaussian {
                mean,
                spread,
                grid,
                kappa,
                shape,
                scale,
                half_steps,
                place,
                b,
                ln_b,
                ln_unit,
            }
        };
        columns.iter().map(family).collect()
    }

    /// The mean and standard deviation of values; 1 for a standard deviation of 0.
    pub fn mean_and_spread(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
        let n = values.clone().count().max(1) as f64;
        let mean = values.clone().map(|x| x / n).sum::<f64>();
        let variance = values.map(|x| (x - mean) * (x - mean) / n).sum::<f64>();
        let spread = variance.sqrt();
        (mean, if spread > 1e-12 * mean.abs() && spread > 0.0 { spread } else { 1.0 })
    }

    /// The mean and standard deviation that set the scale of the prior.
    pub fn scale_of_prior(&self) -> (f64, f64) {
        (self.mean, self.spread)
    }

    /// κₙ, the posterior mean and b on the grid.
    #[inline]
    fn posterior(&self, kappa: f64, b: f64, sum: &[i128]) -> (f64, f64, f64) {
        let n = sum[0];
        if n == 0 {
            return (kappa, self.place, b);
        }
        let (q, rest) = divide(sum[1], n);
        // Σ(k − q)², exactly; the rest of the mean is less than one unit.
        let around = sum[2] - q * (sum[1] + rest);
        let (n, rest) = (n as f64, rest as f64);
        let mean = q as f64 + rest / n;
        let away = mean - self.place;
        let squares = around as f64 - rest * rest / n + kappa * n / (kappa + n) * (away * away);
        (kappa + n, self.place + away * (n / (kappa + n)), b + 0.5 * squares)
    }

    fn sum_of(place: f64) -> [i128; 3] {
        let place = i128::from(place as i64);
        [1, place, place * place]
    }
}

impl Family for Gaussian {
    const NAME: &'static str = "gaussian";
    /// A place on the grid: a whole number, and f64 knows it exactly.
    type Value = f64;
    const MISSING: f64 = f64::INFINITY;
    type Word = i128;
    type Kept = Kept;
    type Parameter = (f64, f64);

    fn width(&self) -> usize {
        3
    }
    fn encode(&self, value: f64) -> f64 {
        self.grid.place(value) as f64
    }
    fn decode(&self, place: f64) -> f64 {
        self.grid.value(place)
    }
    fn add(&self, sum: &mut [i128], place: f64) {
        super::add_sum(sum, &Self::sum_of(place));
    }
    fn sub(&self, sum: &mut [i128], place: f64) {
        super::sub_sum(sum, &Self::sum_of(place));
    }
    fn ln_evidence(&self, sum: &[i128]) -> f64 {
        let n = sum[0] as f64;
        let (kappa, _, b) = self.posterior(self.kappa, self.b, sum);
        // a ln b − (a + n/2) ln bₙ, as what bₙ exceeds b by: nothing cancels when b is huge.
        self.half_steps.at(sum[0] as u64)
            - self.shape * libm::log(b / self.b)
            - 0.5 * n * (libm::log(b) + libm::log(2.0 * PI) + 2.0 * self.ln_unit)
            - 0.5 * libm::log(kappa / self.kappa)
    }
    fn ln_evidence_naive(&self, values: &[f64]) -> f64 {
        let n = values.len() as f64;
        let (kappa, a, b) = (self.kappa, self.shape, self.scale * self.spread * self.spread);
        let mean = values.iter().sum::<f64>() / n.max(1.0);
        let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
        let away = kappa * n / (kappa + n) * (mean - self.mean) * (mean - self.mean);
        let (an, bn) = (a + n / 2.0, b + 0.5 * (squares + away));
        libm::lgamma(an) - libm::lgamma(a) + a * libm::log(b) - an * libm::log(bn)
            + 0.5 * libm::log(kappa / (kappa + n))
            - 0.5 * n * libm::log(2.0 * PI)
    }
    fn ln_evidence_with(&self, hypers: &[f64], sum: &[i128]) -> f64 {
        let (kappa0, a, n) = (hypers[0], hypers[1], sum[0] as f64);
        let b0 = self.b * (hypers[2] / self.scale);
        let (kappa, _, b) = self.posterior(kappa0, b0, sum);
        ln_gamma(a + 0.5 * n)
            - ln_gamma(a)
            - a * libm::log(b / b0)
            - 0.5 * n * (libm::log(b) + libm::log(2.0 * PI) + 2.0 * self.ln_unit)
            - 0.5 * libm::log(kappa / kappa0)
    }
    fn gain(&self, sum: &[i128], more: &[i128]) -> f64 {
        let all = [sum[0] + more[0], sum[1] + more[1], sum[2] + more[2]];
        self.ln_evidence(&all) - self.ln_evidence(sum)
    }
    fn loss(&self, sum: &[i128], part: &[i128]) -> f64 {
        let rest = [sum[0] - part[0], sum[1] - part[1], sum[2] - part[2]];
        self.ln_evidence(sum) - self.ln_evidence(&rest)
    }
    fn ln_predictive(&self, sum: &[i128], x: f64) -> f64 {
        let mut kept = [Kept::default()];
        self.keep(sum, &mut kept);
        let away = self.grid.position(x) - kept[0].mean;
        kept[0].constant - kept[0].exponent * libm::log1p(kept[0].weight * away * away)
    }
    fn mean(&self, sum: &[i128]) -> f64 {
        self.grid.value(self.posterior(self.kappa, self.b, sum).1)
    }
    fn keep(&self, sum: &[i128], kept: &mut [Kept]) {
        let n = sum[0] as u64;
        let (kappa, mean, b) = self.posterior(self.kappa, self.b, sum);
        let (a, ln_b) = (self.shape + 0.5 * n as f64, if n == 0 { self.ln_b } else { fast_ln(b) });
        let ln_gammas = self.half_steps.at(n);
        // Of a factor ½ ln(κ/κ') …, the parts that both ways share.
        let shared = -0.5 * (libm::log(2.0 * PI) + ln_b) - self.ln_unit;
        let (home_weight, home) = match n {
            0 => (0.0, 0.0),
            _ => {
                // From the exact number, not from κₙ.
                let less = (self.kappa + (n - 1) as f64) / kappa;
                let ln_gammas = ln_gammas - self.half_steps.at(n - 1);
                (0.5 / (less * b), shared + ln_gammas + 0.5 * fast_ln(less))
            }
        };
        kept[0] = Kept {
            mean,
            weight: kappa / ((kappa + 1.0) * 2.0 * b),
            constant: shared + self.half_steps.at(n + 1) - ln_gammas
                + 0.5 * fast_ln(kappa / (kappa + 1.0)),
            exponent: a + 0.5,
            home_weight,
            home,
        };
    }
    fn gain_of_row(_families: &[Self], kept: &[Kept], row: &[f64]) -> f64 {
        let ((kept, last_kept), (row, last)) = (kept.as_chunks::<8>(), row.as_chunks::<8>());
        let sum: f64 = kept.iter().zip(row).map(|(kept, row)| gain_of_some(kept, row)).sum();
        let seen = last_kept.iter().zip(last).filter(|(_, k)| **k != Self::MISSING);
        let gain =
            |(kept, &k): (&Kept, &f64)| kept.constant - kept.exponent * fast_ln(kept.joining(k));
        sum + seen.map(gain).sum::<f64>()
    }
    #[inline]
    fn gain_of_full_row(families: &[Self], kept: &[Kept], row: &[f64]) -> f64 {
        let of = |kept: &Kept, k: f64| (kept.constant, kept.joining(k));
        match sum_and_ln_product(kept, row, of) {
            Some((sum, ln_product)) => sum - exponent_of(kept) * ln_product,
            None => Self::gain_of_row(families, kept, row),
        }
    }
    fn gain_of_row_at_home(families: &[Self], sums: &[i128], kept: &[Kept], row: &[f64]) -> f64 {
        let (mut sum, mut product, mut exponent) = (0.0, 1.0, 1.0);
        for (at, (kept, &k)) in kept.iter().zip(row).enumerate() {
            if k == Self::MISSING {
                continue;
            }
            let left = kept.left(k);
            if left < LEFT {
                sum += families[at].loss(&sums[3 * at..3 * at + 3], &Self::sum_of(k));
                continue;
            }
            if kept.exponent != exponent || product < 1.0 / LARGE {
                sum += (exponent - 1.0) * fast_ln(product);
                (product, exponent) = (1.0, kept.exponent);
            }
            product *= left;
            sum += kept.home;
        }
        sum + (exponent - 1.0) * fast_ln(product)
    }
    fn gain_of_full_row_at_home(
        families: &[Self],
        sums: &[i128],
        kept: &[Kept],
        row: &[f64],
    ) -> f64 {
        let of = |kept: &Kept, k: f64| match kept.left(k) {
            left if left < LEFT => (kept.home, f64::NAN),
            left => (kept.home, left),
        };
        match sum_and_ln_product(kept, row, of) {
            Some((sum, ln_product)) => sum + (exponent_of(kept) - 1.0) * ln_product,
            None => Self::gain_of_row_at_home(families, sums, kept, row),
        }
    }
    fn fit(columns: &[Values<'_>], hypers: &[f64]) -> Vec<Self> {
        let column = |c: &Values<'_>| {
            let (mean, spread) = Gaussian::mean_and_spread(c.typical());
            (mean, spread, Grid::new(c.observed(), c.cells.len() as u64))
        };
        let placed: Vec<_> = columns.iter().map(column).collect();
        let largest = columns.iter().map(|c| c.cells.len()).max().unwrap_or(0) as u64;
        Gaussian::new(&placed, (hypers[0], hypers[1], hypers[2]), largest)
    }
    fn refit(families: &[Self], columns: &[Values<'_>]) -> Vec<Self> {
        let column = |(f, c): (&Self, &Values<'_>)| {
            (f.mean, f.spread, Grid::new(c.observed(), c.cells.len() as u64))
        };
        let placed: Vec<_> = families.iter().zip(columns).map(column).collect();
        let Some(f) = families.first() else { return Vec::new() };
        Gaussian::new(&placed, (f.kappa, f.shape, f.scale), f.half_steps.largest)
    }
    const DEFAULTS: &'static [f64] = &[0.1, 2.0, 0.2];
    fn hypers(&self) -> Vec<Hyper> {
        vec![
            Hyper::new("kappa", self.kappa, HyperPrior::UNIT_GAMMA),
            Hyper::new("shape", self.shape, HyperPrior::Gamma { shape: 4.0, rate: 2.0 }),
            Hyper::new("scale", self.scale, HyperPrior::UNIT_GAMMA),
        ]
    }
    fn with_hypers(families: &[Self], values: &[f64]) -> Vec<Self> {
        let columns: Vec<_> = families.iter().map(|f| (f.mean, f.spread, f.grid)).collect();
        let largest = families.iter().map(|f| f.half_steps.largest).max().unwrap_or(0);
        Gaussian::new(&columns, (values[0], values[1], values[2]), largest)
    }
    fn draw_parameter(&self, uniform: &mut dyn FnMut() -> f64) -> (f64, f64) {
        let precision = draw::gamma(self.shape, uniform) / self.scale;
        // Tails can be too heavy for a number.
        let sd = (self.spread / precision.sqrt()).min(LARGE * self.spread);
        (self.mean + sd / self.kappa.sqrt() * draw::normal(uniform), sd)
    }
    fn draw_value(&self, &(mean, sd): &(f64, f64), uniform: &mut dyn FnMut() -> f64) -> f64 {
        mean + sd * draw::normal(uniform)
    }
}
