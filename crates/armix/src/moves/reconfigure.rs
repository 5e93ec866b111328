//! What the reconfiguration moves of the paper share: which items may go where, so that there is
//! at most one path to every outcome.
//!
//! Items of z_i ∪ z_j (*insiders*) may go anywhere. All others (*outsiders*) may only stay in
//! their home, or join the block of i or j.

use super::Phi;
use crate::model::Model;
use crate::partition::{Item, Slot};
use crate::state::State;
use crate::sweep::{Buffers, Chooser, Offer, Way, sweep};

/// Buffers of [`Reconfiguration`].
#[derive(Debug, Default)]
pub struct ReconfigurationBuffers {
    home: Vec<Slot>,
    still_home: Vec<u32>,
    insiders: Vec<Item>,
    sweep: Buffers,
}

/// A reconfiguration under way: from z towards z*.
pub struct Reconfiguration<'a, M: Model> {
    state: &'a mut State<M>,
    chooser: &'a mut dyn Chooser,
    buffers: &'a mut ReconfigurationBuffers,
    /// The slots of z_i and z_j.
    opened: [Slot; 2],
    /// The slots of z*_i and z*_j; one and the same in a merge.
    seats: [Slot; 2],
    /// The uniqueness constraint; only a negative control goes without.
    pub(crate) lock: bool,
    way: Way,
}

impl<'a, M: Model> Reconfiguration<'a, M> {
    /// Removes z_i and z_j and seats c_i and c_j: apart if z has i and j together (a split), else
    /// together (a merge). The other insiders are placed nowhere.
    pub fn open(
        phi: &Phi,
        state: &'a mut State<M>,
        (ci, cj): (&[Item], &[Item]),
        chooser: &'a mut dyn Chooser,
        buffers: &'a mut ReconfigurationBuffers,
    ) -> Self {
        let ReconfigurationBuffers { home, still_home, insiders, .. } = &mut *buffers;
        home.clear();
        home.extend_from_slice(state.z().slots_of_items());
        still_home.clear();
        still_home.extend((0..state.z().slots()).map(|s| state.z().size(Slot::new(s))));
        let opened = [home[phi.i.index()], home[phi.j.index()]];
        let splitting = opened[0] == opened[1];
        insiders.resize(home.len(), Item::new(0));
        for &block in if splitting { &opened[..1] } else { &opened } {
            state.vacate(list_block(home, block, insiders));
        }
        state.pin_blocks(); // an outsider can come back to its home, even if all have left
        let (at_i, at_j) = match splitting {
            true => (seat(state, ci), seat(state, cj)),
            false => {
                insiders.clear();
                insiders.extend(ci.iter().chain(cj));
                let both = seat(state, insiders);
                (both, both)
            }
        };
        chooser.settled(phi.i, at_i);
        chooser.settled(phi.j, at_j);
        chooser.homed(home, opened);
        Reconfiguration {
            state,
            chooser,
            buffers,
            opened,
            seats: [at_i, at_j],
            lock: true,
            way: Way::default(),
        }
    }

    /// Whether an item came from z_i ∪ z_j.
    pub fn is_inside(&self, item: Item) -> bool {
        self.opened.contains(&self.buffers.home[item.index()])
    }

    /// Sweeps some items jointly: a cell, or a single item.
    pub fn sweep(&mut self, items: &[Item]) {
        match self.is_inside(items[0]) {
            true => self.sweep_insiders(items),
            false => self.sweep_outsiders(items),
        }
    }

    /// The same, if they came from z_i ∪ z_j: anywhere.
    #[inline(never)]
    pub fn sweep_insiders(&mut self, items: &[Item]) {
        if !self.way.leads_on() {
            return; // the chooser has lost its way already
        }
        let buffers = &mut self.buffers.sweep;
        let choice = sweep(self.state, items, Offer::Everything, self.chooser, buffers);
        self.way.go(choice);
    }

    /// The same, if they did not: home, even if they are elsewhere now or it is empty; or the block of i; or that of j.
    #[inline(never)]
    pub fn sweep_outsiders(&mut self, items: &[Item]) {
        if !self.way.leads_on() {
            return;
        }
        let home = self.buffers.home[items[0].index()];
        let [at_i, at_j] = self.seats;
        let m = items.len() as u32;
        let still_home = self.buffers.still_home[home.index()];
        let were_home = self.state.z().slot_of(items[0]) == home;
        // If the last originals left a block that others have entered, the same partition could
        // be reached by a second path (eq. uniquenessconstraint).
        let locked = self.lock && were_home && still_home == m && self.state.z().size(home) > m;
        let all = [home, at_i, at_j];
        let offer = match (locked, at_i == at_j) {
            (true, _) => &all[..1],
            (false, true) => &all[..2],
            (false, false) => &all[..],
        };
        let choice =
            sweep(self.state, items, Offer::Only(offer), self.chooser, &mut self.buffers.sweep);
        let are_home = self.state.z().slot_of(items[0]) == home;
        self.buffers.still_home[home.index()] =
            still_home + m * u32::from(are_home) - m * u32::from(were_home);
        self.way.go(choice);
    }

    /// Ends the move: ln T.
    pub fn close(self) -> f64 {
        self.state.unpin();
        self.way.ln_t()
    }
}

/// Makes a block of a cell that is placed nowhere. Not inlined: it would stand at each place where it is called, and code that a proposal meets
/// only once has to be fetched first.
#[inline(never)]
fn seat<M: Model>(state: &mut State<M>, cell: &[Item]) -> Slot {
    let slot = state.fresh();
    let held = state.take(cell);
    state.put(held, slot);
    slot
}

/// Lists the items of a block in a buffer that has room for all items.
fn list_block<'a>(home: &[Slot], block: Slot, items: &'a mut [Item]) -> &'a [Item] {
    let mut count = 0;
    for (index, &slot) in home.iter().enumerate() {
        // Without a branch, because nothing can foresee where the items are.
        items[count] = Item::new(index);
        count += usize::from(slot == block);
    }
    &items[..count]
}
