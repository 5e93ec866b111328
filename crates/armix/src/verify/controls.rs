//! Negative controls: moves that are wrong in ways that are easy to get wrong.

use super::{Backgrounds, Errors, Problem, refine_naive};
use crate::model::Model;
use crate::moves::arm::{Arm, Informed};
use crate::moves::hypers::sample_hypers_by;
use crate::moves::reconfigure::{Reconfiguration, ReconfigurationBuffers};
use crate::moves::split_merge::SplitMerge;
use crate::moves::{Background, Chain, Phi, Proposal};
use crate::partition::Item;
use crate::rng::Rng;
use crate::state::State;
use crate::sweep::{Buffers, Chooser, Offer, sweep};

/// Every control with the errors that were found in it.
pub fn all<M: Model>(problem: &Problem<M>) -> Vec<(&'static str, Errors)> {
    let worst = |proposal: &mut dyn Proposal<M>,
                 kind: Background,
                 back: Option<fn(&Phi, &[u32]) -> Phi>| {
        (Backgrounds::Sample(100).list(kind, problem.target.model.n()).iter())
            .map(|phi| problem.proposal(proposal, phi, back))
            .reduce(Errors::worst)
            .unwrap_or_default()
    };
    vec![
        ("gibbs with two fresh slots", problem.scan(two_fresh_slots)),
        ("srm without the lock", worst(&mut NoLock::default(), Background::Pair, None)),
        (
            "arm-inner with earmarks moved twice",
            worst(&mut EarmarkTwice::default(), Background::Past, None),
        ),
        (
            "bsm launched from the unmerged state",
            worst(&mut SplitMerge::past_cells(0), Background::Past, Some(unmerged)),
        ),
        ("arm on sets whose items may leave", worst_of_sets(problem)),
        ("exchange for another temperature", problem.exchange([1.0, 0.4], [1.0, 0.7])),
    ]
}

/// Tried in states that have two sets together, but not in those that it leads to: their items are not tied.
fn worst_of_sets<M: Model>(problem: &Problem<M>) -> Errors {
    let backgrounds = Backgrounds::Sample(100).list(Background::Past, problem.target.model.n());
    (backgrounds.into_iter())
        .map(|mut phi| {
            phi.sets = true;
            problem.proposal(&mut Arm::default(), &phi, None)
        })
        .reduce(Errors::worst)
        .unwrap_or_default()
}

/// Slice sampling of hyper-parameters on a logarithmic scale that forgets the slope of the scale.
pub fn hypers_without_jacobian<M: Model>(chain: &mut Chain<M>, rng: &mut Rng) {
    sample_hypers_by(chain, rng, |_, _| 0.0);
}

/// A full scan of [`literal_update`]s.
fn two_fresh_slots<M: Model>(state: &mut State<M>, chooser: &mut dyn Chooser) -> f64 {
    (0..state.z().n()).map(|index| literal_update(state, Item::new(index), chooser)).sum()
}

/// I = z ∪ {∅} read literally: an item that is a whole block is offered its old block *and* a new
/// one, which is the same partition twice.
pub fn literal_update<M: Model>(
    state: &mut State<M>,
    item: Item,
    chooser: &mut dyn Chooser,
) -> f64 {
    state.pin_blocks();
    let mut offer = state.z().live().to_vec();
    offer.push(state.fresh());
    let choice = sweep(state, &[item], Offer::Only(&offer), chooser, &mut Buffers::default());
    state.unpin();
    choice.ln_pi()
}

/// Algorithm 2 without eq. uniquenessconstraint: the last original may leave a block that others
/// have entered.
#[derive(Debug, Default)]
struct NoLock {
    buffers: ReconfigurationBuffers,
}

impl<M: Model> Proposal<M> for NoLock {
    fn propose(&mut self, phi: &Phi, state: &mut State<M>, chooser: &mut dyn Chooser) -> f64 {
        let seats = (&[phi.i][..], &[phi.j][..]);
        let mut z = Reconfiguration::open(phi, state, seats, chooser, &mut self.buffers);
        z.lock = false;
        for &h in phi.order.iter().filter(|&&h| h != phi.i && h != phi.j) {
            z.sweep(&[h]);
        }
        z.close()
    }
}

/// Algorithm 3 in which the first item of a cell is moved again after the cell.
#[derive(Debug, Default)]
struct EarmarkTwice(Informed);

impl<M: Model> Proposal<M> for EarmarkTwice {
    fn propose(&mut self, phi: &Phi, state: &mut State<M>, chooser: &mut dyn Chooser) -> f64 {
        let (c, mut z) = self.0.open(phi, state, chooser);
        for a in c.others() {
            if z.is_inside(a[0]) {
                z.sweep(a);
            }
        }
        for &h in phi.order.iter().filter(|&&h| h != phi.i && h != phi.j) {
            z.sweep(&[h]);
        }
        z.close()
    }
}

/// c = zᵃ ∨ zᵇ ∨ z with the unmerged z, as printed: the way back from a merge is then launched
/// from another state than the way there would be. Without launch scans: they share their random
/// numbers, so that after a few of them both launch states have become the same and the mistake
/// is seen with hardly any background.
fn unmerged(phi: &Phi, z: &[u32]) -> Phi {
    let mut back = phi.clone();
    back.agreed = refine_naive(&phi.agreed, z);
    back
}
