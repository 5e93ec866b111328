//! Levels without order: categories with a symmetric Dirichlet prior.

use super::{Family, Values, draw};
use crate::hyper::{Hyper, HyperPrior};
use crate::special::{LnRising, LnTable, ln_gamma};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Dirichlet-categorical: p ~ Dirichlet(β, …, β) over L levels. A sum has the count of each level, and
/// then the number of values.
///
/// Kept is ln p of each level. A level is stored as its place in what is kept of a row of columns.
#[derive(Debug, Clone)]
pub struct Categorical {
    levels: usize,
    /// The number of levels of all columns before this one.
    before: u32,
    beta: f64,
    largest: u64,
    of_level: Arc<Tables>,
    of_all: Arc<Tables>,
}

#[derive(Debug)]
struct Tables {
    ln: LnTable,
    rising: LnRising,
}

impl Tables {
    fn new(beta: f64, largest: u64) -> Arc<Self> {
        Arc::new(Tables { ln: LnTable::new(beta, largest), rising: LnRising::new(beta, largest) })
    }
}

impl Categorical {
    /// Families with these numbers of levels, which share their tables, for sums of up to `largest`
    /// values.
    pub fn new(levels: &[usize], beta: f64, largest: u64) -> Vec<Self> {
        let of_level = Tables::new(beta, largest);
        let mut of_all: BTreeMap<usize, Arc<Tables>> = BTreeMap::new();
        let mut next = 0;
        (levels.iter())
            .map(|&levels| {
                let before = next;
                next += levels as u32;
                let all = of_all.entry(levels);
                let all = all.or_insert_with(|| Tables::new(beta * levels as f64, largest));
                let (of_level, of_all) = (of_level.clone(), all.clone());
                Categorical { levels, before, beta, largest, of_level, of_all }
            })
            .collect()
    }

    /// L.
    pub fn levels(&self) -> usize {
        self.levels
    }

    fn total(&self, sum: &[u64]) -> u64 {
        sum[self.levels]
    }
}

impl Family for Categorical {
    const NAME: &'static str = "categorical";
    type Value = u32;
    const MISSING: u32 = u32::MAX;
    type Word = u64;
    type Kept = f64;
    type Parameter = Vec<f64>;

    fn width(&self) -> usize {
        self.levels + 1
    }
    fn kept_width(&self) -> usize {
        self.levels
    }
    fn encode(&self, value: f64) -> u32 {
        self.before + value as u32
    }
    fn decode(&self, value: u32) -> f64 {
        f64::from(value - self.before)
    }
    fn add(&self, sum: &mut [u64], value: u32) {
        sum[(value - self.before) as usize] += 1;
        sum[self.levels] += 1;
    }
    fn sub(&self, sum: &mut [u64], value: u32) {
        sum[(value - self.before) as usize] -= 1;
        sum[self.levels] -= 1;
    }
    fn ln_evidence(&self, sum: &[u64]) -> f64 {
        let counts = sum[..self.levels].iter().filter(|&&count| count > 0);
        counts.map(|&count| self.of_level.rising.at(count)).sum::<f64>()
            - self.of_all.rising.at(self.total(sum))
    }
    fn ln_evidence_naive(&self, values: &[f64]) -> f64 {
        let count = |level: usize| values.iter().filter(|&&x| x == level as f64).count() as f64;
        let rising = |beta: f64, count: f64| libm::lgamma(beta + count) - libm::lgamma(beta);
        (0..self.levels).map(|level| rising(self.beta, count(level))).sum::<f64>()
            - rising(self.beta * self.levels as f64, values.len() as f64)
    }
    fn ln_evidence_with(&self, hypers: &[f64], sum: &[u64]) -> f64 {
        let rising = |beta: f64, count: u64| ln_gamma(beta + count as f64) - ln_gamma(beta);
        let counts = sum[..self.levels].iter().filter(|&&count| count > 0);
        counts.map(|&count| rising(hypers[0], count)).sum::<f64>()
            - rising(hypers[0] * self.levels as f64, self.total(sum))
    }
    fn gain(&self, sum: &[u64], more: &[u64]) -> f64 {
        let levels = sum[..self.levels].iter().zip(more).filter(|(_, more)| **more > 0);
        let rise = |table: &Tables, from: u64, to: u64| table.rising.rise(from, to);
        levels.map(|(&from, &more)| rise(&self.of_level, from, from + more)).sum::<f64>()
            - rise(&self.of_all, self.total(sum), self.total(sum) + self.total(more))
    }
    fn loss(&self, sum: &[u64], part: &[u64]) -> f64 {
        let levels = sum[..self.levels].iter().zip(part).filter(|(_, part)| **part > 0);
        let rise = |table: &Tables, from: u64, to: u64| table.rising.rise(from, to);
        levels.map(|(&to, &part)| rise(&self.of_level, to - part, to)).sum::<f64>()
            - rise(&self.of_all, self.total(sum) - self.total(part), self.total(sum))
    }
    fn ln_predictive(&self, sum: &[u64], x: f64) -> f64 {
        if !(x >= 0.0 && x < self.levels as f64 && x.fract() == 0.0) {
            return f64::NEG_INFINITY;
        }
        let all = self.total(sum) as f64 + self.beta * self.levels as f64;
        libm::log((sum[x as usize] as f64 + self.beta) / all)
    }
    fn mean(&self, sum: &[u64]) -> f64 {
        let level = |level: usize| level as f64 * (sum[level] as f64 + self.beta);
        let all = self.total(sum) as f64 + self.beta * self.levels as f64;
        (0..self.levels).map(level).sum::<f64>() / all
    }
    fn keep(&self, sum: &[u64], kept: &mut [f64], _lane: usize) {
        let all = self.of_all.ln.at(self.total(sum) as u32);
        for (kept, &count) in kept.iter_mut().zip(&sum[..self.levels]) {
            *kept = self.of_level.ln.at(count as u32) - all;
        }
    }
    #[inline]
    fn gain_of_row(_families: &[Self], kept: &[f64], _lane: usize, row: &[u32]) -> f64 {
        // A missing level is beyond all others. Four sums at a time, as additions wait for each other.
        let of = |level: u32| kept.get(level as usize).copied().unwrap_or(0.0);
        let quads = row.chunks_exact(4);
        let rest: f64 = quads.remainder().iter().map(|&level| of(level)).sum();
        let mut sums = [0.0; 4];
        for quad in quads {
            for lane in 0..4 {
                sums[lane] += of(quad[lane]);
            }
        }
        rest + ((sums[0] + sums[1]) + (sums[2] + sums[3]))
    }
    fn gain_of_row_at_home(
        families: &[Self],
        mut sums: &[u64],
        _kept: &[f64],
        _lane: usize,
        row: &[u32],
    ) -> f64 {
        let mut gain = 0.0;
        for (family, &level) in families.iter().zip(row) {
            let (sum, next) = sums.split_at(family.width());
            if level != Self::MISSING {
                gain += family.of_level.ln.at(sum[(level - family.before) as usize] as u32 - 1)
                    - family.of_all.ln.at(family.total(sum) as u32 - 1);
            }
            sums = next;
        }
        gain
    }
    fn fit(columns: &[Values<'_>], hypers: &[f64]) -> Vec<Self> {
        let levels: Vec<usize> = columns.iter().map(|c| c.levels).collect();
        let largest = columns.iter().map(|c| c.cells.len()).max().unwrap_or(0) as u64;
        Categorical::new(&levels, hypers[0], largest)
    }
    fn refit(families: &[Self], _columns: &[Values<'_>]) -> Vec<Self> {
        families.to_vec()
    }
    const DEFAULTS: &'static [f64] = &[1.0];
    fn hypers(&self) -> Vec<Hyper> {
        vec![Hyper::new("beta", self.beta, HyperPrior::UNIT_GAMMA)]
    }
    fn with_hypers(families: &[Self], values: &[f64]) -> Vec<Self> {
        let levels: Vec<usize> = families.iter().map(|f| f.levels).collect();
        let largest = families.iter().map(|f| f.largest).max().unwrap_or(0);
        Categorical::new(&levels, values[0], largest)
    }
    fn draw_parameter(&self, uniform: &mut dyn FnMut() -> f64) -> Vec<f64> {
        (0..self.levels).map(|_| draw::gamma(self.beta, uniform)).collect()
    }
    fn draw_value(&self, weights: &Vec<f64>, uniform: &mut dyn FnMut() -> f64) -> f64 {
        let mut left = uniform() * weights.iter().sum::<f64>();
        let level = weights.iter().position(|weight| {
            left -= weight;
            left < 0.0
        });
        level.unwrap_or(self.levels - 1) as f64
    }
}
