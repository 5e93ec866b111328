//! Real numbers: normal values with a Normal-inverse-Gamma prior.

mod grid;
mod kept;

pub use grid::Grid;
pub(crate) use grid::divide;
pub use kept::Kept;

use super::{Family, Values, draw};
use crate::hyper::{Hyper, HyperPrior};
use crate::special::{LnRising, fast_ln, ln_gamma};
use kept::LANES;
use std::f64::consts::PI;
use std::sync::Arc;

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

/// Tables of fewer columns hardly have blocks that are worth a bound.
const WIDE: usize = 16;

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

/// Standard deviations that are drawn are at most so many times the typical one.
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
            let b = scale * (spread / grid.unit()) * (spread / grid.unit());
            let half_steps = half_steps.clone();
            let (place, ln_b, ln_unit) =
                (grid.position(mean), libm::log(b), libm::log(grid.unit()));
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

    /// The same for values on another grid.
    pub(crate) fn on(&self, grid: Grid) -> Self {
        let hypers = (self.kappa, self.shape, self.scale);
        Gaussian::new(&[(self.mean, self.spread, grid)], hypers, self.half_steps.largest).remove(0)
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
    const MISSING: f64 = kept::MISSING;
    type Word = i128;
    type Kept = Kept;
    const LANES: usize = LANES;
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
        self.keep(sum, &mut kept, 0);
        let [Kept { mean: [mean, ..], weight: [weight, ..], constant, exponent, .. }] = kept;
        let away = self.grid.position(x) - mean;
        constant[0] - exponent[0] * libm::log1p(weight * away * away)
    }
    fn mean(&self, sum: &[i128]) -> f64 {
        self.grid.value(self.posterior(self.kappa, self.b, sum).1)
    }
    fn keep(&self, sum: &[i128], kept: &mut [Kept], lane: usize) {
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
        let kept = &mut kept[0];
        kept.mean[lane] = mean;
        kept.weight[lane] = kappa / ((kappa + 1.0) * 2.0 * b);
        kept.constant[lane] =
            shared + self.half_steps.at(n + 1) - ln_gammas + 0.5 * fast_ln(kappa / (kappa + 1.0));
        kept.exponent[lane] = a + 0.5;
        kept.home_weight[lane] = home_weight;
        kept.home[lane] = home;
    }
    fn gain_of_row(_families: &[Self], kept: &[Kept], lane: usize, row: &[f64]) -> f64 {
        kept::gain(kept, lane % LANES, row)
    }
    #[inline(always)]
    fn gains_of_row(_families: &[Self], kept: &[Kept], row: &[f64], gains: &mut [f64]) {
        kept::gains(kept, row, gains.as_chunks_mut::<LANES>().0);
    }
    fn bounded_from(full: bool) -> Option<usize> {
        // In full tables one logarithm serves all columns anyway.
        (!full).then_some(WIDE)
    }
    #[inline(always)]
    fn likely_gains_of_row(
        _families: &[Self],
        kept: &[Kept],
        row: &[f64],
        _ceilings: &[f64],
        floors: &[f64],
        gains: &mut [f64],
    ) {
        kept::likely_gains(kept, row, floors, gains);
    }
    fn gain_of_full_row(_families: &[Self], kept: &[Kept], lane: usize, row: &[f64]) -> f64 {
        let [gain] = kept::gains_of_full(kept, lane % LANES, row);
        gain
    }
    #[inline(always)]
    fn gains_of_full_row(_families: &[Self], kept: &[Kept], row: &[f64], gains: &mut [f64]) {
        for (kept, gains) in super::side_by_side::<Self>(kept, gains) {
            gains.copy_from_slice(&kept::gains_of_full::<LANES>(kept, 0, row));
        }
    }
    #[inline(always)]
    fn gain_of_row_at_home(
        families: &[Self],
        sums: &[i128],
        kept: &[Kept],
        lane: usize,
        row: &[f64],
    ) -> f64 {
        kept::gain_at_home(kept, lane % LANES, row, |at, place| {
            families[at].loss(&sums[3 * at..3 * at + 3], &Self::sum_of(place))
        })
    }
    fn gain_of_full_row_at_home(
        families: &[Self],
        sums: &[i128],
        kept: &[Kept],
        lane: usize,
        row: &[f64],
    ) -> f64 {
        kept::gain_of_full_at_home(kept, lane % LANES, row)
            .unwrap_or_else(|| Self::gain_of_row_at_home(families, sums, kept, lane, row))
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
