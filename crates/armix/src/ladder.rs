//! Tempering: hot copies of a chain, for which all partitions are more alike, and which change places with colder ones.
//!
//! A chain at inverse temperature b samples q(z)ᵇ. Neighbours on the ladder b₀ = 1 > b₁ > … exchange their states with
//! probability min(1, exp((b − b′)(E′ − E))), E = ln q(z), which leaves the product of their targets invariant. Pairs
//! take turns, even and odd ones: states then travel along the ladder instead of diffusing (Syed, Bouchard-Côté,
//! Deligiannidis, Doucet 2022). Only the chains at b₀ are recorded.
//!
//! The prior is heated, too: with p(Y | z) alone ensembles agreed less in the one comparison that was made
//! (docs/MIXING.md).

use crate::error::{Error, Result};
use crate::moves::metropolis::acceptance;
use crate::rng::{Purpose, Rng};
use crate::special::ln_add;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// More rungs than this are taken for a mistake.
const MAX_RUNGS: usize = 1024;

/// Where a ladder ends if nothing is said.
const HOTTEST: f64 = 0.25;

/// Steps of a new ladder grow with this power: cold neighbours must be closer.
const GROWTH: f64 = 1.25;

/// A ladder is not stretched beyond where neighbours reject more exchanges than this share.
const MOST_REJECTED: f64 = 0.7;

/// The rungs move so often.
const STAGES: u32 = 5;

/// How the inverse temperatures of a chain's copies are chosen: `16`, `16:0.25`, or all of them, `1,0.9,0.8`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Ladder {
    /// So many rungs from 1 down to the hottest, spaced in warm-up so that all exchanges are equally likely.
    Tuned {
        /// The number of rungs.
        rungs: usize,
        /// The lowest inverse temperature, if neighbours are still close enough to exchange states.
        hottest: f64,
    },
    /// These inverse temperatures, 1 first.
    Given(Vec<f64>),
}

impl Ladder {
    /// Cold chains alone.
    pub const NONE: Ladder = Ladder::Tuned { rungs: 1, hottest: 1.0 };

    /// How many chains one cold chain stands for, itself included.
    pub fn rungs(&self) -> usize {
        match self {
            Ladder::Tuned { rungs, .. } => *rungs,
            Ladder::Given(all) => all.len(),
        }
    }

    /// Whether there are only cold chains.
    pub fn is_none(&self) -> bool {
        self.rungs() == 1
    }

    /// The inverse temperatures to begin with.
    pub fn first(&self) -> Vec<f64> {
        match self {
            Ladder::Tuned { rungs, hottest } => (0..*rungs)
                .map(|k| k as f64 / (*rungs - 1).max(1) as f64)
                .map(|x| 1.0 - (1.0 - hottest) * libm::pow(x, GROWTH))
                .collect(),
            Ladder::Given(all) => all.clone(),
        }
    }
}

impl Default for Ladder {
    fn default() -> Self {
        Ladder::NONE
    }
}

impl FromStr for Ladder {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = |why: &str| {
            Error::new(format!(
                "ladder '{text}': {why}; write the number of rungs as in 16, with the lowest inverse temperature as in 16:0.25, or all inverse temperatures as in 1,0.9,0.8"
            ))
        };
        let number = |part: &str| {
            let value = part.trim().parse::<f64>().ok().filter(|b| (0.0..=1.0).contains(b));
            value.ok_or_else(|| wrong(&format!("'{part}' is no number from 0 to 1")))
        };
        if text.contains(',') {
            let all = text.split(',').map(number).collect::<Result<Vec<f64>>>()?;
            if all[0] != 1.0 || !all.is_sorted_by(|a, b| a > b) || all.len() > MAX_RUNGS {
                return Err(wrong("inverse temperatures begin with 1 and fall"));
            }
            return Ok(Ladder::Given(all));
        }
        let (rungs, hottest) = match text.split_once(':') {
            None => (text, HOTTEST),
            Some((rungs, hottest)) => (rungs, number(hottest)?),
        };
        let rungs = rungs.trim().parse().ok().filter(|r| (1..=MAX_RUNGS).contains(r));
        match rungs
            .ok_or_else(|| wrong(&format!("the number of rungs is from 1 to {MAX_RUNGS}")))?
        {
            1 => Ok(Ladder::NONE),
            _ if hottest == 1.0 => Err(wrong("the lowest inverse temperature is less than 1")),
            rungs => Ok(Ladder::Tuned { rungs, hottest }),
        }
    }
}

impl fmt::Display for Ladder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ladder::Tuned { rungs: 1, .. } => f.write_str("1"),
            Ladder::Tuned { rungs, hottest } => write!(f, "{rungs}:{hottest}"),
            Ladder::Given(all) => {
                let all: Vec<String> = all.iter().map(ToString::to_string).collect();
                f.write_str(&all.join(","))
            }
        }
    }
}

impl TryFrom<String> for Ladder {
    type Error = Error;
    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<Ladder> for String {
    fn from(ladder: Ladder) -> String {
        ladder.to_string()
    }
}

/// Where a sampler is when its rungs exchange states.
#[derive(Debug, Clone, Copy)]
pub struct Round {
    /// The seed of the run.
    pub seed: u64,
    /// The ensemble.
    pub ensemble: usize,
    /// The chains are in state t, or on their way to the next.
    pub t: usize,
    /// Where they are: laps count from the start of the run.
    pub lap: usize,
    /// The iterations of warm-up.
    pub warmup: usize,
}

/// The ladder of an ensemble, and what happened on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rungs {
    /// The inverse temperatures, 1 first.
    pub coldness: Vec<f64>,
    /// The probability that an exchange of rungs k and k + 1 is rejected, summed over the laps since the ladder
    /// was changed last.
    pub rejected: Vec<f64>,
    /// Exchanges that were weighed since then, for each pair of rungs.
    pub weighed: u64,
    /// For each pair of rungs, batches of ln of the mean of q(z)^(bₖ − bₖ₊₁) at rung k + 1.
    pub stones: Vec<Batches>,
}

impl Rungs {
    /// A new ladder.
    pub fn new(ladder: &Ladder) -> Self {
        let coldness = ladder.first();
        let pairs = coldness.len() - 1;
        Rungs {
            coldness,
            rejected: vec![0.0; pairs],
            weighed: 0,
            stones: vec![Batches::default(); pairs],
        }
    }

    /// The share of exchanges between neighbours that are accepted; none before there was any.
    pub fn swap_rates(&self) -> Vec<f64> {
        match self.weighed {
            0 => Vec::new(),
            weighed => self.rejected.iter().map(|r| 1.0 - r / weighed as f64).collect(),
        }
    }

    /// Before a lap of a seed's ensemble: which chains exchange their states, one exchange after the other, given
    /// E = ln q(z) of all of them. Chain c of rung k is at k · (number of cold chains) + c.
    ///
    /// Even and odd pairs take turns as often as there are rungs: a state can travel the whole ladder between two laps,
    /// and exchanges cost nothing beside moves.
    pub fn exchanges(&mut self, energies: &[f64], round: &Round) -> Vec<(usize, usize)> {
        let cold = energies.len() / self.coldness.len();
        let mut energies = energies.to_vec();
        let mut swaps = Vec::new();
        for column in 0..cold {
            let (ensemble, lap) = (round.ensemble as u64, round.lap as u64);
            let mut rng = Rng::new(Purpose::Swap, round.seed, ensemble, column as u64, lap);
            let at = |pair: usize| (pair * cold + column, (pair + 1) * cold + column);
            for pair in 0..self.rejected.len() {
                let (lower, upper) = at(pair);
                let step = self.step(pair);
                self.rejected[pair] += 1.0 - acceptance(step * (energies[upper] - energies[lower]));
                if round.t > round.warmup {
                    self.stones[pair].add(step * energies[upper]);
                }
            }
            for turn in 0..self.coldness.len() {
                for pair in ((round.lap + turn) % 2..self.rejected.len()).step_by(2) {
                    let (lower, upper) = at(pair);
                    let ratio = self.step(pair) * (energies[upper] - energies[lower]);
                    if rng.uniform() < acceptance(ratio) {
                        energies.swap(lower, upper);
                        swaps.push((lower, upper));
                    }
                }
            }
        }
        self.weighed += cold as u64;
        swaps
    }

    /// How much colder rung k is than rung k + 1.
    fn step(&self, pair: usize) -> f64 {
        self.coldness[pair] - self.coldness[pair + 1]
    }

    /// Moves the rungs in warm-up, each time by what happened since the last, and after twice as long; says whether it did.
    pub fn tune(&mut self, ladder: &Ladder, round: &Round) -> bool {
        let due = round.t > 0 && (0..STAGES).any(|stage| round.t == round.warmup >> stage);
        let tuned = due && matches!(ladder, Ladder::Tuned { .. });
        if tuned {
            self.respace();
        }
        if due {
            (self.weighed, self.rejected) = (0, vec![0.0; self.rejected.len()]);
        }
        tuned
    }

    /// Moves the rungs to where every exchange would be rejected equally often, as far as one can tell.
    fn respace(&mut self) {
        let least = 1e-3; // so that no two rungs are the same
        let share = |sum: &f64| (sum / self.weighed as f64).max(least);
        let rejected: Vec<f64> = self.rejected.iter().map(share).collect();
        let whole: f64 = rejected.iter().sum();
        // The evidence needs a ladder that ends at 0.
        let ends = self.coldness.last().copied().unwrap_or(1.0);
        let most = if ends > 0.0 { MOST_REJECTED } else { 1.0 };
        let reach = whole.min(most * rejected.len() as f64);
        let each = reach / rejected.len() as f64;
        let mut tuned = vec![1.0];
        let (mut at, mut before) = (0, 0.0);
        for rung in 1..self.coldness.len() {
            let wanted = each * rung as f64;
            while at + 1 < rejected.len() && before + rejected[at] < wanted {
                before += rejected[at];
                at += 1;
            }
            let along = ((wanted - before) / rejected[at]).clamp(0.0, 1.0);
            tuned.push(self.coldness[at] + along * (self.coldness[at + 1] - self.coldness[at]));
        }
        if let Some(last) = tuned.last_mut().filter(|_| reach == whole) {
            *last = ends; // to the last bit
        }
        self.coldness = tuned;
    }
}

/// Means of exp(x) of a long sequence, as at most 64 batches of equal length.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Batches {
    /// How many values make a batch.
    length: u64,
    /// How many values the last batch has.
    last: u64,
    /// ln of the sums of exp(x).
    ln_sums: Vec<f64>,
}

impl Batches {
    const MOST: usize = 64;

    /// Appends a value, given x.
    pub fn add(&mut self, x: f64) {
        if self.ln_sums.is_empty() || self.last == self.length {
            if self.ln_sums.len() == Self::MOST {
                let pairs = self.ln_sums.chunks(2).map(|pair| ln_add(pair[0], pair[1]));
                self.ln_sums = pairs.collect();
                self.length *= 2;
            }
            self.length = self.length.max(1);
            self.ln_sums.push(f64::NEG_INFINITY);
            self.last = 0;
        }
        if let Some(sum) = self.ln_sums.last_mut() {
            *sum = ln_add(*sum, x);
        }
        self.last += 1;
    }

    /// ln of the mean of exp(x) in every complete batch of the second half.
    pub fn ln_means(&self) -> Vec<f64> {
        let complete = self.ln_sums.len() - usize::from(self.last < self.length);
        let ln_length = libm::log(self.length as f64);
        self.ln_sums[complete / 2..complete].iter().map(|sum| sum - ln_length).collect()
    }
}
