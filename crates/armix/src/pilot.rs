//! What was not said about how to sample, found out: a short run tells how many rungs a ladder needs.
//!
//! States travel a ladder fastest when neighbours reject about every second exchange: with 2Λ + 1 rungs, where Λ is the
//! sum of the probabilities that neighbours reject, which hardly depends on the number of rungs (Syed, Bouchard-Côté,
//! Deligiannidis, Doucet 2022). The pilot's draws are not used for anything else, and its work is one in a hundred of that of
//! the run. It depends on data, settings and seed alone.

use crate::ensemble::{self, Observer};
use crate::error::Result;
use crate::ladder::Rungs;
use crate::model::Model;
use crate::run::{Settings, Wishes};
use crate::state::Target;

/// A ladder has at least and at most so many rungs, if nothing is said.
const RUNGS: (f64, f64) = (6.0, 32.0);

/// Iterations of the pilot: so many to come near to where chains will be, and as many again; fewer before a shorter run.
const ITERATIONS: usize = 25;

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
    let run = ensemble::sample(target, &trial, observer)?;
    if run.interrupted() {
        return Ok(settings);
    }
    let rejected = |rungs: &Rungs| rungs.swap_rates().iter().map(|rate| 1.0 - rate).sum::<f64>();
    let rejected: f64 = run.ladders.iter().map(rejected).sum();
    let rungs = (2.0 * rejected + 1.0).round().clamp(RUNGS.0, RUNGS.1) as usize;
    Ok(Settings { ladder: settings.ladder.with(rungs), ..settings })
}
