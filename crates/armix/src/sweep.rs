//! The one primitive: take items out, weigh the candidates, choose one, put the items there.
//!
//! Every move is a recipe of sweeps. What decides is a [`Chooser`]: [`Sample`] proposes and
//! [`Follow`] replays the way to a given state, so that the probability of a way back is computed
//! by the very same code as the way there.

use crate::model::Model;
use crate::partition::{Item, Partition, Slot};
use crate::rng::{Rng, weighted_by, weighted_surely_by};
use crate::special::{HOPELESS, LANES, exponentials, fast_ln};
use crate::state::State;

/// The slots that the items may go to.
#[derive(Debug, Clone, Copy)]
pub enum Offer<'a> {
    /// Every block that is left once the items are out, and exactly one new block. Should the
    /// items have been a whole block, the slot they left is that new block.
    Everything,
    /// Just these. An empty slot counts as a new block.
    Only(&'a [Slot]),
}

/// The candidates of one sweep with their weights.
#[derive(Debug)]
pub struct Candidates<'a> {
    /// The slots.
    pub slots: &'a [Slot],
    /// Their weights, proportional to q.
    pub weights: &'a [f64],
    /// The sum of the weights.
    pub total: f64,
    /// Which of them starts a new block that was not named in the offer.
    pub fresh: Option<usize>,
}

/// Decides where items go.
pub trait Chooser {
    /// The index of the chosen candidate for the items whose first is `item`; `None` if none of
    /// them leads to where the chooser has to end.
    fn choose(&mut self, item: Item, candidates: &Candidates<'_>) -> Option<usize>;

    /// Whether candidates whose weights round to 0 are all the same to it.
    fn is_random(&self) -> bool {
        false
    }

    /// Told the probability of the choice.
    fn chosen(&mut self, _choice: Choice) {}

    /// Announces that `item` stays in `slot` for the rest of the move.
    fn settled(&mut self, _item: Item, _slot: Slot) {}

    /// Announces that every item whose home is not one of the opened ones will end in its home or with a settled
    /// item. All settled items have been announced before.
    fn homed(&mut self, _homes: &[Slot], _opened: [Slot; 2]) {}
}

/// The probability π of what was chosen, not yet as a logarithm: most sweeps are never asked for it alone.
#[derive(Debug, Clone, Copy)]
pub struct Choice {
    /// ln of its weight. From the gain, not the weight: an unlikely way back may have a weight that rounds to 0.
    ln_weight: f64,
    total: f64,
}

impl Choice {
    /// There was only one.
    const SURE: Choice = Choice { ln_weight: 0.0, total: 1.0 };
    /// There was none.
    const NONE: Choice = Choice { ln_weight: f64::NEG_INFINITY, total: 1.0 };

    /// ln π; −∞ if nothing was chosen.
    pub fn ln_pi(self) -> f64 {
        if self.total == 1.0 { self.ln_weight } else { self.ln_weight - fast_ln(self.total) }
    }
}

/// The probability of choices that follow each other, with one logarithm for a hundred of them.
#[derive(Debug, Clone, Copy)]
pub struct Way {
    ln_weights: f64,
    totals: f64,
}

impl Default for Way {
    fn default() -> Self {
        Way { ln_weights: 0.0, totals: 1.0 }
    }
}

impl Way {
    /// Goes on with a choice.
    #[inline]
    pub fn go(&mut self, choice: Choice) {
        self.ln_weights += choice.ln_weight;
        self.totals *= choice.total;
        // A sum of weights is at least 1, and less than 2³² candidates are.
        if self.totals > 1e250 {
            *self = Way { ln_weights: self.ln_t(), totals: 1.0 };
        }
    }

    /// Whether there was something to choose every time.
    #[inline]
    pub fn leads_on(&self) -> bool {
        self.ln_weights > f64::NEG_INFINITY
    }

    /// Something that ln of the probability of all choices is not above, and less than ln 2 away from: by a whole power of two for the
    /// totals, without a logarithm.
    #[inline]
    fn ln_t_at_most(&self) -> f64 {
        let power = (self.totals.to_bits() >> 52) as i64 - 1023; // at least 1 and finite
        self.ln_weights - power as f64 * std::f64::consts::LN_2
    }

    /// ln of the probability of all choices.
    pub fn ln_t(&self) -> f64 {
        self.ln_weights - libm::log(self.totals)
    }
}

/// Candidates that are so far below the largest gain have the weight 0, whatever rounding does.
const NO_CHANCE: f64 = 1.0 - HOPELESS;

/// Those that are so far below are weighed only if it matters: below the home by this in natural logarithms …
const UNLIKELY: f64 = 11.0;

/// … each has less than this of the weight of the home, whatever rounding does: e⁻¹⁰.
const LEAST_WEIGHT: f64 = 4.6e-5;

/// More than what rounding may do to a sum of weights.
const ROUNDING: f64 = 1e-9;

/// Buffers of [`sweep`].
#[derive(Debug, Default)]
pub struct Buffers {
    slots: Vec<Slot>,
    gains: Vec<f64>,
    weights: Vec<f64>,
}

/// `sweep_{C,I}(z)`: moves the items C to one of the offered slots; returns the probability of the choice,
/// which is 0 if the chooser finds none that serves.
///
/// A chooser that is known when this is compiled saves a step of a small problem a few per cent.
#[inline(always)]
pub fn sweep<M: Model, C: Chooser + ?Sized>(
    state: &mut State<M>,
    items: &[Item],
    offer: Offer<'_>,
    chooser: &mut C,
    buffers: &mut Buffers,
) -> Choice {
    let Buffers { slots, gains, weights } = buffers;
    // Detach first: only then is it known which blocks are left.
    let held = state.take(items);
    let (slots, fresh) = match offer {
        Offer::Everything => {
            slots.clear();
            slots.extend_from_slice(state.z().live());
            slots.push(state.fresh());
            (&slots[..], Some(slots.len() - 1))
        }
        Offer::Only(these) => (these, None),
    };
    if let [only] = *slots {
        // A single candidate needs no weighing.
        let candidates = Candidates { slots, weights: &[1.0], total: 1.0, fresh };
        let chosen = chooser.choose(items[0], &candidates);
        state.put(held, only);
        return if chosen.is_some() { Choice::SURE } else { Choice::NONE };
    }
    let (gains, weights) = room_for(slots.len(), gains, weights);
    match state.target().model.skips_hopeless() && chooser.is_random() {
        true => state.likely_gains(&held, NO_CHANCE, slots, &mut gains[..slots.len()]),
        false => state.gains(&held, slots, &mut gains[..slots.len()]),
    }
    let ln_largest = largest(gains);
    if ln_largest == f64::NEG_INFINITY {
        // The constraints leave no candidate: whoever proposed this will have it rejected.
        state.put(held, slots[0]);
        return Choice::NONE;
    }
    let total = exponentials(gains, ln_largest, weights);
    let candidates = Candidates { slots, weights: &weights[..slots.len()], total, fresh };
    match chooser.choose(items[0], &candidates) {
        Some(at) => {
            state.put(held, slots[at]);
            let choice = Choice { ln_weight: gains[at] - ln_largest, total };
            chooser.chosen(choice);
            choice
        }
        None => {
            state.put(held, slots[0]);
            Choice::NONE
        }
    }
}

/// Moves the items to any block or a new one, as [`sweep`] with [`Sample`] does to the last bit, for those who do not ask for the probability
/// and have no constraints.
///
/// The random number comes first. Blocks that are unlikely are weighed only where it is so near to the border between two others that they could
/// move it: for one row in thousands.
#[inline(always)]
pub fn draw<M: Model>(state: &mut State<M>, items: &[Item], rng: &mut Rng, buffers: &mut Buffers) {
    let Buffers { slots, gains, weights } = buffers;
    let held = state.take(items);
    slots.clear();
    slots.extend_from_slice(state.z().live());
    slots.push(state.fresh());
    let uniform = rng.uniform();
    if let [only] = **slots {
        state.put(held, only);
        return;
    }
    let (gains, weights) = room_for(slots.len(), gains, weights);
    state.likely_gains(&held, UNLIKELY, slots, &mut gains[..slots.len()]);
    let total = exponentials(gains, largest(gains), weights);
    let unknown = gains.iter().filter(|&&gain| gain == f64::NEG_INFINITY).count();
    let unknown = unknown as f64 * LEAST_WEIGHT + ROUNDING;
    let surely = weighted_surely_by(uniform, &weights[..slots.len()], total, unknown);
    let chosen = surely.unwrap_or_else(|| {
        state.weighed_again(slots.len());
        state.likely_gains(&held, NO_CHANCE, slots, &mut gains[..slots.len()]);
        let total = exponentials(gains, largest(gains), weights);
        weighted_by(uniform, &weights[..slots.len()], total)
    });
    state.put(held, slots[chosen]);
}

/// Room for the gains and weights of so many candidates, up to the next multiple of [`LANES`]: the gains of none are −∞.
#[inline(always)]
fn room_for<'b>(
    candidates: usize,
    gains: &'b mut Vec<f64>,
    weights: &'b mut Vec<f64>,
) -> (&'b mut [f64], &'b mut [f64]) {
    let padded = candidates.next_multiple_of(LANES);
    if gains.len() < padded {
        gains.resize(padded, 0.0);
        weights.resize(padded, 0.0);
    }
    gains[padded - LANES..padded].fill(f64::NEG_INFINITY);
    (&mut gains[..padded], &mut weights[..padded])
}

/// The largest of a multiple of [`LANES`] numbers.
#[inline(always)]
fn largest(values: &[f64]) -> f64 {
    // Not f64::max, which takes trouble over what is not a number.
    let larger = |a: f64, b: f64| if b > a { b } else { a };
    let chunks = values.as_chunks::<LANES>().0.iter();
    let lanes = chunks.fold([f64::NEG_INFINITY; LANES], |most, chunk| {
        std::array::from_fn(|lane| larger(most[lane], chunk[lane]))
    });
    lanes.into_iter().fold(f64::NEG_INFINITY, larger)
}

/// Chooses at random, with probability proportional to the weights.
#[derive(Debug)]
pub struct Sample<'r>(pub &'r mut Rng);

impl Chooser for Sample<'_> {
    fn choose(&mut self, _item: Item, candidates: &Candidates<'_>) -> Option<usize> {
        Some(self.0.weighted(candidates.weights, candidates.total))
    }

    fn is_random(&self) -> bool {
        true
    }
}

/// Goes to a given partition, the target: every item is led to the slot where its target block
/// grows, and starts a new block if it is the first of its target block to arrive.
///
/// Whether the target was reached in the end is for the caller to check: a cell may carry items
/// along that belong elsewhere.
#[derive(Debug)]
pub struct Follow<'a> {
    target: &'a Partition,
    /// For each block of the target (named by its slot there), the slot where it grows here.
    slot_of_block: &'a mut Vec<Slot>,
    /// Gives up when ln of the probability of its choices is below.
    floor: f64,
    way: Way,
}

impl<'a> Follow<'a> {
    /// A chooser that ends in `target`, if that can be reached with a probability of more than
    /// exp(`floor`); the buffer is for its use.
    pub fn new(target: &'a Partition, slot_of_block: &'a mut Vec<Slot>, floor: f64) -> Self {
        slot_of_block.clear();
        slot_of_block.resize(target.slots(), Slot::NOWHERE);
        Follow { target, slot_of_block, floor, way: Way::default() }
    }

    fn growing_at(&mut self, item: Item) -> &mut Slot {
        &mut self.slot_of_block[self.target.slot_of(item).index()]
    }
}

impl Chooser for Follow<'_> {
    fn choose(&mut self, item: Item, candidates: &Candidates<'_>) -> Option<usize> {
        if self.way.ln_t_at_most() < self.floor {
            return None;
        }
        let growing_at = self.growing_at(item);
        if *growing_at == Slot::NOWHERE {
            let fresh = candidates.fresh?;
            *growing_at = candidates.slots[fresh];
            return Some(fresh);
        }
        candidates.slots.iter().position(|s| s == growing_at)
    }

    fn chosen(&mut self, choice: Choice) {
        self.way.go(choice);
    }

    fn settled(&mut self, item: Item, slot: Slot) {
        *self.growing_at(item) = slot;
    }

    fn homed(&mut self, homes: &[Slot], opened: [Slot; 2]) {
        for (&home, target) in homes.iter().zip(self.target.slots_of_items()) {
            let growing_at = &mut self.slot_of_block[target.index()];
            // Not &&, which would be branches that nothing can foresee.
            let unknown = (*growing_at == Slot::NOWHERE) & !opened.contains(&home);
            *growing_at = if unknown { home } else { *growing_at };
        }
    }
}
