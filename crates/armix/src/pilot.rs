//! What was not said about how to sample, found out: a short run tells how hot a ladder has to be, and how many rungs it needs.
//!
//! **How hot.** Where chains are not stuck, one iteration leads about as far away as many. The ladder ends at the coldest rung of the
//! pilot where that is so: hotter chains would take time and mix nothing that is not mixed there, and every state has to
//! travel through all of them.
//!
//! **How many.** States travel a ladder fastest when neighbours reject about every second exchange: with 2Λ + 1 rungs, where Λ is the
//! sum of the probabilities that neighbours reject, which hardly depends on the number of rungs (Syed, Bouchard-Côté,
//! Deligiannidis, Doucet 2022).
//!
//! The pilot's draws are not used for anything else, and its work is a few hundredths of that of the run. It depends on
//! data, settings and seed alone.

use crate::compare::variation_of_information;
use crate::ensemble::{self, Observer, View};
use crate::error::Result;
use crate::ladder::{Ladder, Rungs};
use crate::model::Model;
use crate::run::{Settings, Wishes};
use crate::state::Target;
use std::ops::ControlFlow;

/// A ladder has at least and at most so many rungs, if nothing is said.
const RUNGS: (f64, f64) = (6.0, 32.0);

/// Every ladder goes down to this inverse temperature at least: a short run need not have met what a long one can get stuck in.
const NEVER_COLDER: f64 = 0.5;

/// A chain is free if an iteration leads this share of the way that many iterations lead.
const FREE: f64 = 0.75;

/// Iterations of the pilot: so many to come near to where chains will be, and as many again; fewer before a shorter run.
const ITERATIONS: usize = 25;

/// So many items are looked at.
const ITEMS: usize = 1000;

/// The settings that follow from what was said, the rest of them, and the data. The observer may stop the pilot.
pub fn settings<M: Model>(
    target: &Target<M>,
    wishes: Wishes,
    rest: Settings,
    observer: &mut dyn Observer,
) -> Result<Settings> {
    let open = wishes.ladder.is_none();
    let settings = wishes.settings(target.can_be_heated(), rest);
    settings.check(target.model.n())?;
    settings.schedule.build::<M>(&settings.moves)?; // unknown moves
    if !open || settings.ladder.is_none() {
        return Ok(settings);
    }
    let iterations = ITERATIONS.min(settings.iterations);
    let trial = Settings {
        ensembles: 1,
        warmup: iterations,
        iterations,
        freeze_after: None,
        exchange_every: 1,
        keep_draws: None,
        // Other random numbers than those of the run.
        seed: settings.seed ^ 1 << 63,
        ..settings.clone()
    };
    let mut watch = Watch::new(observer, &trial, target.model.n());
    let run = ensemble::sample(target, &trial, &mut watch)?;
    let seen = watch.seen;
    let [rungs] = &run.ladders[..] else { return Ok(settings) };
    if run.interrupted() {
        return Ok(settings);
    }
    let last = hottest_needed(rungs, |rung| freedom(&seen, rung));
    // Nobody needs more digits.
    let hottest = (100.0 * rungs.coldness[last]).round() / 100.0;
    let rejected: f64 = rungs.swap_rates()[..last].iter().map(|rate| 1.0 - rate).sum();
    let count = (2.0 * rejected + 1.0).round().clamp(RUNGS.0, RUNGS.1) as usize;
    Ok(Settings { ladder: Ladder::Tuned { rungs: count, hottest }, ..settings })
}

/// The coldest rung where chains are free; the last one if they are nowhere.
fn hottest_needed(rungs: &Rungs, freedom: impl Fn(usize) -> f64) -> usize {
    let last = rungs.coldness.len() - 1;
    let serves = |&rung: &usize| rungs.coldness[rung] <= NEVER_COLDER && freedom(rung) >= FREE;
    (1..last).find(serves).unwrap_or(last)
}

/// The labels of some items, by iteration and rung.
type Seen = Vec<Vec<Vec<u32>>>;

/// How far the chain of a rung comes in an iteration, measured by how far apart its states are half the pilot later. The state that it
/// came from is the nearest of all that there were, because rungs exchange states.
fn freedom(seen: &Seen, rung: usize) -> f64 {
    let mean = |distances: &mut dyn ExactSizeIterator<Item = f64>| {
        let count = distances.len();
        distances.sum::<f64>() / count as f64
    };
    let moved = mean(&mut seen.windows(2).map(|two| {
        let distances = two[0].iter().map(|from| variation_of_information(from, &two[1][rung]));
        distances.fold(f64::INFINITY, f64::min)
    }));
    let (early, late) = (seen.iter(), seen[seen.len() / 2..].iter());
    let apart =
        mean(&mut early.zip(late).map(|(a, b)| variation_of_information(&a[rung], &b[rung])));
    moved / apart
}

/// Remembers the labels of some items in the second half of the pilot.
struct Watch<'a> {
    observer: &'a mut dyn Observer,
    items: Vec<usize>,
    /// The first chain of each rung.
    firsts: Vec<usize>,
    warmup: usize,
    seen: Seen,
}

impl<'a> Watch<'a> {
    fn new(observer: &'a mut dyn Observer, settings: &Settings, n: usize) -> Self {
        let count = n.min(ITEMS);
        Watch {
            observer,
            items: (0..count).map(|at| at * n / count).collect(),
            firsts: (0..settings.members()).step_by(settings.chains).collect(),
            warmup: settings.warmup,
            seen: Vec::new(),
        }
    }
}

impl Observer for Watch<'_> {
    fn begin(&mut self, view: &dyn View) -> Result<()> {
        self.observer.begin(view)
    }

    fn after_round(&mut self, view: &dyn View) -> Result<ControlFlow<()>> {
        if view.t() > self.warmup {
            let labels = |&chain: &usize| {
                let row = view.record(0, chain).labels;
                self.items.iter().map(|&item| row.get(item)).collect()
            };
            self.seen.push(self.firsts.iter().map(labels).collect());
        }
        self.observer.after_round(view)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ladder_ends_where_chains_are_free() {
        let rungs = Rungs::new(&Ladder::Given(vec![1.0, 0.8, 0.5, 0.4, 0.3, 0.2]));
        let end = |freedom: [f64; 6]| rungs.coldness[hottest_needed(&rungs, |rung| freedom[rung])];
        assert_eq!(end([0.2, 0.3, 0.4, 0.5, 0.8, 0.9]), 0.3);
        assert_eq!(end([0.9; 6]), 0.5, "but no earlier than this");
        assert_eq!(end([0.1; 6]), 0.2, "and at its end if they are free nowhere");
        assert_eq!(end([f64::NAN; 6]), 0.2, "nor if nothing changes at all");
    }

    #[test]
    fn a_chain_is_free_if_it_goes_far_at_once() {
        let (a, b) = (vec![0, 0, 0, 1, 1, 1], vec![0, 1, 2, 0, 1, 2]);
        // The first rung stays for long, the second one changes every time, and the third one's states come from the second.
        let early = [a.clone(), a.clone(), vec![0; 6]];
        let late = [b.clone(), b.clone(), a.clone()];
        let seen: Seen = vec![early.to_vec(), early.to_vec(), late.to_vec(), late.to_vec()];
        let moved = variation_of_information(&[0; 6], &b).min(variation_of_information(&a, &b));
        assert!((freedom(&seen, 0) - moved / 3.0 / variation_of_information(&a, &b)).abs() < 1e-12);
        assert_eq!(freedom(&seen, 2), 0.0, "an exchange is no way that was gone");
        let steady: Seen = vec![vec![a.clone()], vec![b.clone()], vec![a], vec![b]];
        assert!(freedom(&steady, 0).is_infinite(), "it comes back after two iterations");
    }
}
