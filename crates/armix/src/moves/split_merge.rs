//! Split-merge moves: two blocks become one, or one becomes two, and all others stay as they are.

use super::{Phi, Proposal};
use crate::model::Model;
use crate::partition::{Item, Slot};
use crate::rng::{Purpose, Rng};
use crate::state::State;
use crate::sweep::{Buffers, Chooser, Offer, Sample, Way, sweep};

/// S = z_i ∪ z_j without i and j, and what is needed to move these items about.
#[derive(Debug, Default)]
struct Region {
    /// S, in ascending order; of items that move together only the first.
    rest: Vec<Item>,
    buffers: Buffers,
}

impl Region {
    /// Finds S. Merges at once, and returns `None`, if z has i and j apart: a merge has one outcome.
    /// Otherwise takes z_i = z_j out, seats i and j apart and returns their slots.
    fn merge_or_open<M: Model>(
        &mut self,
        phi: &Phi,
        state: &mut State<M>,
        chooser: &mut dyn Chooser,
    ) -> Option<[Slot; 2]> {
        let (at_i, at_j) = (state.z().slot_of(phi.i), state.z().slot_of(phi.j));
        self.rest.clear();
        if at_i != at_j {
            self.rest.extend(members(state, at_j));
            let held = state.take(&self.rest);
            state.put(held, at_i);
            return None;
        }
        self.rest.extend(members(state, at_i));
        let held = state.take(&self.rest);
        state.set_aside(held);
        self.rest.retain(|&h| phi.leads_others(h));
        let seats = [&phi.i, &phi.j].map(|item| {
            let slot = state.fresh();
            let held = state.take(phi.unit(item));
            state.put(held, slot);
            slot
        });
        chooser.settled(phi.i, seats[0]);
        chooser.settled(phi.j, seats[1]);
        Some(seats)
    }

    /// One scan of S restricted to the two seats; ln of its probability.
    fn scan<M: Model>(
        &mut self,
        phi: &Phi,
        state: &mut State<M>,
        seats: &[Slot; 2],
        order: &[Item],
        chooser: &mut dyn Chooser,
    ) -> f64 {
        let mut way = Way::default();
        for h in order {
            way.go(sweep(state, phi.unit(h), Offer::Only(seats), chooser, &mut self.buffers));
            if !way.leads_on() {
                break;
            }
        }
        way.ln_t()
    }
}

fn members<M: Model>(state: &State<M>, slot: Slot) -> impl Iterator<Item = Item> {
    let slots = state.z().slots_of_items();
    (0..slots.len()).filter(move |&h| slots[h] == slot).map(Item::new)
}

/// The split-merge move of Jain and Neal (2004), and the paper's variant bSM of it.
///
/// The launch state is random, but it is a function of φ and of what both directions have in
/// common: the other blocks and the *set* S. So it belongs to the background, and only the last
/// scan counts.
#[derive(Debug)]
pub struct SplitMerge {
    launch_scans: usize,
    seating: Seating,
    region: Region,
}

/// Who sits with i and with j before the launch scans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seating {
    /// Everybody by the toss of a coin.
    Coin,
    /// c_i and c_j; the others by the toss of a coin. The cells are those of zᵃ ∨ zᵇ refined with
    /// the *merged* state, whose one block contains all of S; refined with z itself, the launch
    /// states of the two directions would differ.
    PastCells,
}

impl SplitMerge {
    /// `sm`: launched from random halves.
    pub fn random_halves(launch_scans: usize) -> Self {
        SplitMerge { launch_scans, seating: Seating::Coin, region: Region::default() }
    }

    /// `bsm`: launched from the cells of two past states.
    pub fn past_cells(launch_scans: usize) -> Self {
        SplitMerge { seating: Seating::PastCells, ..SplitMerge::random_halves(launch_scans) }
    }

    /// Seats all of S and improves that by restricted scans.
    fn launch<M: Model>(
        &mut self,
        phi: &Phi,
        state: &mut State<M>,
        seats: &[Slot; 2],
        rest: &[Item],
    ) {
        let mut rng = Rng::from_seed(Purpose::Launch, phi.launch);
        for h in rest {
            let coin = (rng.bits() >> 63) as usize;
            let seat = match self.seating {
                Seating::PastCells if phi.agreed[h.index()] == phi.agreed[phi.i.index()] => 0,
                Seating::PastCells if phi.agreed[h.index()] == phi.agreed[phi.j.index()] => 1,
                _ => coin,
            };
            let held = state.take(phi.unit(h));
            state.put(held, seats[seat]);
        }
        for _ in 0..self.launch_scans {
            self.region.scan(phi, state, seats, rest, &mut Sample(&mut rng));
        }
    }
}

impl<M: Model> Proposal<M> for SplitMerge {
    fn propose(&mut self, phi: &Phi, state: &mut State<M>, chooser: &mut dyn Chooser) -> f64 {
        let Some(seats) = self.region.merge_or_open(phi, state, chooser) else {
            return 0.0;
        };
        let rest = std::mem::take(&mut self.region.rest);
        self.launch(phi, state, &seats, &rest);
        let ln_t = self.region.scan(phi, state, &seats, &rest, chooser);
        self.region.rest = rest;
        ln_t
    }
}

/// Sequentially-allocated merge-split (Dahl 2003): S is allocated item after item, in φ's order,
/// each given those already there; no launch state is needed.
#[derive(Debug, Default)]
pub struct Sequential {
    region: Region,
    in_order: Vec<Item>,
}

impl<M: Model> Proposal<M> for Sequential {
    fn propose(&mut self, phi: &Phi, state: &mut State<M>, chooser: &mut dyn Chooser) -> f64 {
        let Some(seats) = self.region.merge_or_open(phi, state, chooser) else {
            return 0.0;
        };
        self.in_order.clear();
        let unplaced = |h: Item| state.z().slot_of(h) == Slot::NOWHERE;
        self.in_order.extend(phi.order.iter().filter(|&&h| phi.leads_others(h) && unplaced(h)));
        self.region.scan(phi, state, &seats, &self.in_order, chooser)
    }
}
