//! Zeros and ones: coins with a Beta prior.

use super::{Family, Values, draw};
use crate::hyper::{Hyper, HyperPrior};
use crate::special::{BetaBernoulli, evidence_of_tosses};
use std::sync::Arc;

/// Beta-Bernoulli: p ~ Beta(β⁺, β⁻), x = 1 with probability p. A sum is (ones, values).
///
/// Kept is ln p of a zero and of a one.
#[derive(Debug, Clone)]
pub struct Binary {
    beta: (f64, f64),
    coin: Arc<BetaBernoulli>,
    largest: u64,
}

impl Binary {
    /// The family for sums of up to `largest` values, as far as tables go.
    pub fn new(beta_plus: f64, beta_minus: f64, largest: u64) -> Self {
        let coin = Arc::new(BetaBernoulli::new(beta_plus, beta_minus, largest));
        Binary { beta: (beta_plus, beta_minus), coin, largest }
    }
}

impl Family for Binary {
    const NAME: &'static str = "binary";
    type Value = u8;
    const MISSING: u8 = 2;
    type Word = u64;
    type Kept = f64;
    type Parameter = f64;

    fn width(&self) -> usize {
        2
    }
    fn kept_width(&self) -> usize {
        2
    }
    fn encode(&self, value: f64) -> u8 {
        u8::from(value == 1.0)
    }
    fn decode(&self, value: u8) -> f64 {
        f64::from(value)
    }
    fn add(&self, sum: &mut [u64], value: u8) {
        sum[0] += u64::from(value);
        sum[1] += 1;
    }
    fn sub(&self, sum: &mut [u64], value: u8) {
        sum[0] -= u64::from(value);
        sum[1] -= 1;
    }
    fn ln_evidence(&self, sum: &[u64]) -> f64 {
        self.coin.ln_evidence(sum[0], sum[1])
    }
    fn ln_evidence_naive(&self, values: &[f64]) -> f64 {
        let ln_beta = |a, b| libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
        let (ones, (a, b)) = (values.iter().sum::<f64>(), self.beta);
        ln_beta(ones + a, values.len() as f64 - ones + b) - ln_beta(a, b)
    }
    fn ln_evidence_with(&self, hypers: &[f64], sum: &[u64]) -> f64 {
        evidence_of_tosses((hypers[0], hypers[1]))(sum[0], sum[1] - sum[0])
    }
    fn gain(&self, sum: &[u64], more: &[u64]) -> f64 {
        self.coin.gain(sum[0], sum[1], more[0], more[1])
    }
    fn loss(&self, sum: &[u64], part: &[u64]) -> f64 {
        self.coin.gain(sum[0] - part[0], sum[1] - part[1], part[0], part[1])
    }
    fn ln_predictive(&self, sum: &[u64], x: f64) -> f64 {
        let p = self.mean(sum);
        match x {
            1.0 => libm::log(p),
            0.0 => libm::log1p(-p),
            _ => f64::NEG_INFINITY,
        }
    }
    fn mean(&self, sum: &[u64]) -> f64 {
        (sum[0] as f64 + self.beta.0) / (sum[1] as f64 + self.beta.0 + self.beta.1)
    }
    fn keep(&self, sum: &[u64], kept: &mut [f64], _lane: usize) {
        kept[0] = self.coin.gain(sum[0], sum[1], 0, 1);
        kept[1] = self.coin.gain(sum[0], sum[1], 1, 1);
    }
    fn gain_of_row(_families: &[Self], kept: &[f64], _lane: usize, row: &[u8]) -> f64 {
        let cells = row.iter().zip(kept.chunks_exact(2)).filter(|(x, _)| **x != Self::MISSING);
        cells.map(|(&x, kept)| kept[usize::from(x)]).sum()
    }
    fn gain_of_row_at_home(
        families: &[Self],
        sums: &[u64],
        _kept: &[f64],
        _lane: usize,
        row: &[u8],
    ) -> f64 {
        let cells = families.iter().zip(sums.chunks_exact(2)).zip(row);
        let cells = cells.filter(|(_, x)| **x != Self::MISSING);
        cells.map(|((family, sum), &x)| family.loss(sum, &[u64::from(x), 1])).sum()
    }
    fn fit(columns: &[Values<'_>], hypers: &[f64]) -> Vec<Self> {
        let largest = columns.iter().map(|c| c.cells.len()).max().unwrap_or(0) as u64;
        vec![Binary::new(hypers[0], hypers[1], largest); columns.len()]
    }
    fn refit(families: &[Self], _columns: &[Values<'_>]) -> Vec<Self> {
        families.to_vec()
    }
    const DEFAULTS: &'static [f64] = &[1.0, 1.0];
    fn hypers(&self) -> Vec<Hyper> {
        vec![
            Hyper::new("beta_plus", self.beta.0, HyperPrior::UNIT_GAMMA),
            Hyper::new("beta_minus", self.beta.1, HyperPrior::UNIT_GAMMA),
        ]
    }
    fn with_hypers(families: &[Self], values: &[f64]) -> Vec<Self> {
        let largest = families.iter().map(|f| f.largest).max().unwrap_or(0);
        vec![Binary::new(values[0], values[1], largest); families.len()]
    }
    fn draw_parameter(&self, uniform: &mut dyn FnMut() -> f64) -> f64 {
        let (plus, minus) = (draw::gamma(self.beta.0, uniform), draw::gamma(self.beta.1, uniform));
        plus / (plus + minus)
    }
    fn draw_value(&self, &p: &f64, uniform: &mut dyn FnMut() -> f64) -> f64 {
        f64::from(u8::from(uniform() < p))
    }
}
