//! The reconfiguration moves of the paper: Algorithm 2 (sRM), Algorithm 3 (ARM as printed), and
//! their variants, to be read beside it.
//!
//! In all of them i and j are split if z has them together and merged if it has them apart, while
//! every other item may change its block too. The items or cells are processed in φ's order, and
//! the product of the sweeps' probabilities is T(z* | z), because no two paths lead to the same z*
//! (see [`super::reconfigure`]).

use super::cells::Cells;
use super::reconfigure::{Reconfiguration, ReconfigurationBuffers};
use super::{Phi, Proposal};
use crate::model::Model;
use crate::partition::Item;
use crate::state::State;
use crate::sweep::Chooser;

/// Simplified reconfiguration (Algorithm 2): i and j start alone, the rest follow one by one.
#[derive(Debug, Default)]
pub struct Srm {
    buffers: ReconfigurationBuffers,
}

impl<M: Model> Proposal<M> for Srm {
    fn propose(&mut self, phi: &Phi, state: &mut State<M>, chooser: &mut dyn Chooser) -> f64 {
        // 1-4. Remove z_i and z_j, then add {i}, {j}, or {i, j} when merging.
        let seats = (phi.unit(&phi.i), phi.unit(&phi.j));
        let mut z = Reconfiguration::open(phi, state, seats, chooser, &mut self.buffers);
        // 5-. Each observation but i and j: anywhere if it was inside, else home, i or j.
        for h in singles(phi) {
            z.sweep(h);
        }
        z.close()
    }
}

/// What the moves that are informed by the past share: their start, and their buffers.
#[derive(Debug, Default)]
pub(crate) struct Informed {
    cells: Cells,
    buffers: ReconfigurationBuffers,
}

impl Informed {
    /// Steps 1-4 of Algorithm 3: c ← zᵃ ∨ zᵇ ∨ z; remove z_i and z_j, then add c_i, c_j, or c_i ∪ c_j
    /// when merging.
    pub(crate) fn open<'a, M: Model>(
        &'a mut self,
        phi: &Phi,
        state: &'a mut State<M>,
        chooser: &'a mut dyn Chooser,
    ) -> (&'a Cells, Reconfiguration<'a, M>) {
        let Informed { cells, buffers } = self;
        cells.refine(phi, state.z());
        (cells, Reconfiguration::open(phi, state, cells.seated(), chooser, buffers))
    }
}

/// sRM with the informed start of ARM: z*_i = c_i and z*_j = c_j.
#[derive(Debug, Default)]
pub struct Sarm(Informed);

impl<M: Model> Proposal<M> for Sarm {
    fn propose(&mut self, phi: &Phi, state: &mut State<M>, chooser: &mut dyn Chooser) -> f64 {
        let (_, mut z) = self.0.open(phi, state, chooser);
        for h in singles(phi) {
            z.sweep(h);
        }
        z.close()
    }
}

/// ARM as printed (Algorithm 3): cells inside z_i ∪ z_j move jointly, then single items.
#[derive(Debug, Default)]
pub struct ArmInner(Informed);

impl<M: Model> Proposal<M> for ArmInner {
    fn propose(&mut self, phi: &Phi, state: &mut State<M>, chooser: &mut dyn Chooser) -> f64 {
        // 1-4.
        let (c, mut z) = self.0.open(phi, state, chooser);
        // 5-8. The cells that are not placed, the largest first.
        for a in c.others() {
            if z.is_inside(a[0]) {
                z.sweep(a);
            }
        }
        // 9-. Every item that has not been updated. The first of a cell is its earmark: it was
        // updated with the cell, and a second update would open a second path. The cells of i and j
        // were seated, not swept: i and j are their earmarks, wherever they stand in the order.
        for (h, earmark) in c.all_singles(phi) {
            let updated = earmark && z.is_inside(*h);
            if !updated {
                z.sweep(phi.unit(h));
            }
        }
        z.close()
    }
}

/// ARM: as printed, but the cells *outside* z_i ∪ z_j move jointly too: they stay home, or join
/// the block of i or of j. This is what the published acceptance rates need: the way back from
/// "v leaves X for Y" is "split v from Y, then all of X ∖ v joins v", which is hopeless item by
/// item and one step as a cell.
#[derive(Debug, Default)]
pub struct Arm(Informed);

impl<M: Model> Proposal<M> for Arm {
    fn propose(&mut self, phi: &Phi, state: &mut State<M>, chooser: &mut dyn Chooser) -> f64 {
        let (c, mut z) = self.0.open(phi, state, chooser);
        for a in c.others() {
            z.sweep(a);
        }
        // All that are inside, then all others: processors foresee that the next has as many candidates as this one. The order may depend
        // on z, as that of the cells does.
        for h in c.insiders() {
            z.sweep_insiders(phi.unit(h));
        }
        for h in c.outsiders() {
            z.sweep_outsiders(phi.unit(h));
        }
        z.close()
    }
}

/// ARM by cells alone, without the moves of single items: it costs as many sweeps as there are
/// cells, so that several fit into one iteration.
#[derive(Debug, Default)]
pub struct ArmCells(Informed);

impl<M: Model> Proposal<M> for ArmCells {
    fn propose(&mut self, phi: &Phi, state: &mut State<M>, chooser: &mut dyn Chooser) -> f64 {
        let (c, mut z) = self.0.open(phi, state, chooser);
        for a in c.others() {
            z.sweep(a);
        }
        z.close()
    }
}

/// All items but i and j, in φ's order, each with those that are tied to it.
fn singles(phi: &Phi) -> impl Iterator<Item = &[Item]> {
    phi.order.iter().filter(|&&h| phi.leads_others(h)).map(|h| phi.unit(h))
}
