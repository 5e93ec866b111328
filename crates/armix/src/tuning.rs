//! Schedules that tune themselves: in warm-up the moves show what they achieve for their work, and are made accordingly
//! often from then on.
//!
//! What a proposal achieves is the variation of information between the states before and after it. Scans are made in
//! every lap, and proposals of cold chains have as much work as they (hot ones make fewer). This work is divided between the proposals in proportion to
//! what they achieve for a unit of it. Work is candidates weighed, and for a proposal one more for each item: it copies and
//! refines all of them, even if there is little to weigh. Nothing here is measured in seconds, so that the same seed gives the same result.
//!
//! The weights are those of all chains of an ensemble together. They do not change after warm-up: from then on
//! every iteration leaves the target invariant, being a mixture of moves that do, with weights that do not depend on the state.

use crate::rng::Rng;
use serde::{Deserialize, Serialize};

/// This share of the work is divided equally, so that a short warm-up does not rule out any move.
const EQUALLY: f64 = 0.25;

/// No more proposals than this are made in a lap.
const MOST: f64 = 8.0;

/// What an entry of a schedule achieved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Achieved {
    /// How often it was tried.
    pub tried: f64,
    /// Candidates weighed, and items looked at.
    pub work: f64,
    /// The variation of information between before and after, summed.
    pub jump: f64,
}

impl Achieved {
    /// Adds what else was achieved.
    pub fn add(&mut self, more: &Achieved) {
        self.tried += more.tried;
        self.work += more.work;
        self.jump += more.jump;
    }
}

/// How often proposals are made: so many in a lap, each with these probabilities, by entry of the schedule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mix {
    /// Proposals in a lap.
    pub proposals: usize,
    /// 0 for scans, which are made in every lap.
    pub probabilities: Vec<f64>,
}

impl Mix {
    /// What follows from what the entries achieved, given which of them are scans.
    pub fn new(achieved: &[Achieved], is_scan: &[bool]) -> Self {
        let of = |scans: bool| {
            let chosen = achieved.iter().zip(is_scan).filter(move |(_, is)| **is == scans);
            chosen.map(|(a, _)| a)
        };
        let count = of(false).count() as f64;
        // An entry that was always idle costs nothing to try.
        let rate = |a: &Achieved| if a.work > 0.0 { a.jump / a.work } else { 0.0 };
        let cost = |a: &Achieved| (a.work / a.tried.max(1.0)).max(1.0);
        let whole: f64 = of(false).map(rate).sum();
        let share = |a: &Achieved| match whole > 0.0 {
            true => EQUALLY / count + (1.0 - EQUALLY) * rate(a) / whole,
            false => 1.0 / count,
        };
        let often: f64 = of(false).map(|a| share(a) / cost(a)).sum();
        let probability =
            |(a, &scan): (&Achieved, &bool)| if scan { 0.0 } else { share(a) / cost(a) / often };
        // Of all iterations together; each made its scans once or several times.
        let work_of_scans: f64 = of(true).map(cost).sum();
        // 1 / often is what a proposal costs.
        let proposals = if work_of_scans > 0.0 { work_of_scans * often } else { count };
        Mix {
            proposals: proposals.round().clamp(1.0, MOST) as usize,
            probabilities: achieved.iter().zip(is_scan).map(probability).collect(),
        }
    }

    /// The entry of the next proposal.
    pub fn draw(&self, rng: &mut Rng) -> usize {
        let mut left = rng.uniform();
        let mut last = 0;
        for (entry, &probability) in self.probabilities.iter().enumerate() {
            if probability > 0.0 {
                last = entry;
                if left < probability {
                    break;
                }
                left -= probability;
            }
        }
        last
    }
}

/// What an ensemble has found out about its schedule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    /// What the entries achieved in the second half of warm-up.
    pub achieved: Vec<Achieved>,
    /// What follows from it, after warm-up.
    pub mix: Option<Mix>,
}

impl Tuning {
    /// Nothing is known yet about so many entries.
    pub fn new(entries: usize) -> Self {
        Tuning { achieved: vec![Achieved::default(); entries], mix: None }
    }

    /// Takes what a chain achieved in the iteration that led to state t. At first chains are far from where they will be,
    /// and what moves do there says little.
    pub fn hear(&mut self, t: usize, warmup: usize, achieved: &[Achieved]) {
        if self.mix.is_none() && t > warmup / 2 {
            self.achieved.iter_mut().zip(achieved).for_each(|(sum, more)| sum.add(more));
        }
    }
}
