//! What is kept of blocks, four of them side by side, so that a row is weighed for four at once without asking all
//! entries of their leaders' menus.
//!
//! Given a block, entry k of a column has the probability pₖ ∝ H/G ∏ f. A value y that joins multiplies p̂ by
//! Σ pₖ f(y | θₖ), and one that leaves divides it by … Σ pₖ / f(y | θₖ). With f = T δ⁻ᵉ and the likeliest entry 1 these are
//!
//! ```text
//! p₁ T₁ δ₁⁻ᵉ (1 + Σ ρₖ (δ₁/δₖ)ᵉ)   and   p₁/T₁ δ₁ᵉ (1 + Σ σₖ (δₖ/δ₁)ᵉ),   ρₖ = pₖTₖ/p₁T₁,   σₖ = pₖT₁/p₁Tₖ.
//! ```
//!
//! Most entries are so unlikely that no value of the column lets them matter in double precision: they are left out, and often
//! one is left. The δ₁ of all columns are multiplied, and take one logarithm together.

use super::distances::{Power, ln_at_most};
use crate::special::{FOUR, fast_ln};

/// So many blocks are side by side.
pub(super) const LANES: usize = FOUR;

/// One number of each of these blocks. They are where vector instructions like them to be.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(32))]
pub(super) struct Lanes(pub(super) [f64; LANES]);

/// Entries that change nothing by more than this, as a logarithm, are left out.
const NEGLIGIBLE: f64 = -42.0;

/// Logarithms up to this are safe to be exponentiated, also if several are added.
const SAFE: f64 = 600.0;

/// Bounds that are larger are none.
const MOST: f64 = 1e300;

/// Those of numbers of which [`super::distances::TOGETHER`] can be multiplied.
const SAFE_TOGETHER: f64 = 160.0;

/// Tables of so many columns are wide: most blocks turn out to be hopeless where rows are weighed roughly first.
pub(super) const WIDE: usize = 16;

/// An entry of a menu in a column, as a block sees it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Entry {
    /// What makes distances.
    pub(super) coordinates: [f64; 2],
    /// ln T.
    pub(super) ln_top: f64,
    /// ln of H/(m G) ∏ f.
    pub(super) ln_term: f64,
    /// No value of the column is farther away.
    pub(super) farthest: f64,
}

/// In place of the menu of a leader.
const NOTHING: Entry = Entry { coordinates: [0.0; 2], ln_top: 0.0, ln_term: 0.0, farthest: 1.0 };

/// Numbers of one entry in each of four places: two coordinates, and for the first entry its share of the constant, for others what
/// their power is multiplied by.
pub(super) type Entries = [Lanes; 3];

/// Entries by place, where four of them are side by side.
#[derive(Debug, Clone, Default)]
pub(super) struct Side {
    /// The likeliest of each place.
    pub(super) firsts: Vec<Entries>,
    /// What most places have, one other.
    seconds: Vec<Entries>,
    /// The rest: so many for each place that there is room for a whole menu.
    more: Vec<Entries>,
    /// How many others count.
    others: Vec<u32>,
}

impl Side {
    fn copy_from(&mut self, source: &Self) {
        self.firsts.clone_from(&source.firsts);
        self.seconds.clone_from(&source.seconds);
        self.more.clone_from(&source.more);
        self.others.clone_from(&source.others);
    }

    fn resize(&mut self, places: usize, entries: usize) {
        self.firsts.resize(places, Entries::default());
        self.seconds.resize(places, Entries::default());
        self.more.resize(places * entries.saturating_sub(2), Entries::default());
        self.others.resize(places, 0);
    }

    /// So many places from one on.
    #[inline(always)]
    pub(super) fn places(
        &self,
        from: usize,
        count: usize,
        entries: usize,
    ) -> impl Iterator<Item = Place<'_>> {
        let firsts = self.firsts[from..][..count].iter();
        let seconds = self.seconds[from..][..count].iter();
        let others = self.others[from..][..count].iter();
        let rest = entries.saturating_sub(2);
        let all = firsts.zip(seconds).zip(others).enumerate();
        all.map(move |(at, ((first, second), &others))| {
            let more = if others > 1 { &self.more[(from + at) * rest..] } else { &[] };
            Place { first, second, more, others }
        })
    }

    #[inline(always)]
    fn put(&mut self, place: usize, lane: usize, at: usize, entries: usize, numbers: [f64; 3]) {
        let entry = match at {
            0 => &mut self.firsts[place],
            1 => &mut self.seconds[place],
            _ => &mut self.more[place * (entries - 2) + at - 2],
        };
        entry.iter_mut().zip(numbers).for_each(|(lanes, x)| lanes.0[lane] = x);
    }
}

/// A place.
pub(super) struct Place<'a> {
    pub(super) first: &'a Entries,
    pub(super) second: &'a Entries,
    pub(super) more: &'a [Entries],
    pub(super) others: u32,
}

/// What is kept of slots, twice: for rows that join, where a place is a column of four slots side by side, and for rows that
/// stay, where one slot is asked for and a place is four of its columns.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) d: usize,
    pub(super) entries: usize,
    pub(super) e: f64,
    pub(super) power: Power,
    pub(super) joins: Side,
    pub(super) stays: Side,
    /// The constants of four slots, for rows that join.
    pub(super) constants: Vec<Lanes>,
    /// Whether there will be bounds of gains.
    pub(super) bounded: bool,
    /// What other entries add to gains of four slots at most, if there will; −∞ of empty slots.
    pub(super) others_at_most: Vec<Lanes>,
    /// How many other entries count in each column of each slot.
    others: Vec<u32>,
    /// Slots for which numbers are too large to do it like this.
    pub(super) awkward: Vec<bool>,
}

impl Clone for Kept {
    fn clone(&self) -> Self {
        let mut kept = Kept::new(self.d, self.entries, self.e);
        kept.clone_from(self);
        kept
    }
    fn clone_from(&mut self, source: &Self) {
        (self.d, self.entries) = (source.d, source.entries);
        (self.e, self.power, self.bounded) = (source.e, source.power, source.bounded);
        self.joins.copy_from(&source.joins);
        self.stays.copy_from(&source.stays);
        self.constants.clone_from(&source.constants);
        self.others_at_most.clone_from(&source.others_at_most);
        self.others.clone_from(&source.others);
        self.awkward.clone_from(&source.awkward);
    }
}

impl Kept {
    /// Nothing, for blocks with d columns and so many entries on a menu, and f with the exponent e.
    pub(super) fn new(d: usize, entries: usize, e: f64) -> Self {
        Kept {
            d,
            entries,
            e,
            power: Power::new(e),
            joins: Side::default(),
            stays: Side::default(),
            constants: Vec::new(),
            bounded: true,
            others_at_most: Vec::new(),
            others: Vec::new(),
            awkward: Vec::new(),
        }
    }

    /// The places of a slot, for rows that stay.
    pub(super) fn fourths(&self) -> usize {
        self.d.div_ceil(LANES)
    }

    /// How many bytes so many slots take.
    pub(super) fn bytes(d: usize, entries: usize, slots: usize) -> usize {
        let fours = slots.div_ceil(LANES);
        let places = fours * (d + LANES * d.div_ceil(LANES));
        places * entries.max(2) * size_of::<Entries>()
    }

    pub(super) fn grow(&mut self, slots: usize) {
        let fours = slots.div_ceil(LANES);
        let (before, slots) = (self.awkward.len(), fours * LANES);
        if before < slots {
            self.joins.resize(fours * self.d, self.entries);
            self.stays.resize(slots * self.fourths(), self.entries);
            self.constants.resize(fours, Lanes::default());
            self.others_at_most.resize(fours, Lanes::default());
            // All that is there may be anything, and is cleared.
            self.others.resize(slots * self.d, self.entries as u32 - 1);
            self.awkward.resize(slots, false);
            (before..slots).for_each(|slot| self.clear(slot));
        }
    }

    /// Whether weighing a row for all slots takes less than for so many of them, one after the other: four side by side take about as
    /// long as one.
    #[inline]
    pub(super) fn better_weigh_all(&self, slots: usize) -> bool {
        self.awkward.len() <= LANES * slots
    }

    /// Whether [`Kept::join`] and the others cannot be asked about a slot.
    #[inline]
    pub(super) fn is_awkward(&self, slot: usize) -> bool {
        self.awkward[slot]
    }

    /// Writes a column of a slot, from the entries of its leader's menu and ln of the sum of their terms. Columns are written from
    /// the first to the last. How much larger distances from one entry are than those from another, at most, is told by the last.
    #[inline(always)]
    pub(super) fn write(
        &mut self,
        slot: usize,
        column: usize,
        menu: &[Entry],
        ln_sum: f64,
        ratio_at_most: impl Fn([f64; 2], [f64; 2]) -> f64,
    ) {
        let (d, e, power, entries) = (self.d, self.e, self.power, self.entries);
        let (four, fourth, most) = (slot / LANES, column / LANES, self.most());
        let (of_slots, of_columns) = (four * d + column, slot * self.fourths() + fourth);
        let (joins, stays) = (&mut self.joins, &mut self.stays);
        let mut put = |at: usize, [a, b]: [f64; 2], join: f64, stay: f64| {
            joins.put(of_slots, slot % LANES, at, entries, [a, b, join]);
            stays.put(of_columns, column % LANES, at, entries, [a, b, stay]);
        };
        let (mut first, mut best) = (0, menu[0]);
        for (at, entry) in menu.iter().enumerate() {
            if entry.ln_term > best.ln_term {
                (first, best) = (at, *entry);
            }
        }
        let best_far = e * ln_at_most(best.farthest);
        let ln_p = best.ln_term - ln_sum;
        let (join, stay) = (ln_p + best.ln_top, best.ln_top - ln_p);
        let constant = &mut self.constants[four].0[slot % LANES];
        if column == 0 {
            *constant = 0.0;
            self.others_at_most[four].0[slot % LANES] = 0.0;
            self.awkward[slot] = false;
        }
        *constant += join;
        put(0, best.coordinates, join, stay);
        let (mut count, mut sum, mut awkward) = (0, 0.0, false);
        for (at, entry) in menu.iter().enumerate() {
            let (less, higher) = (entry.ln_term - best.ln_term, entry.ln_top - best.ln_top);
            let (joining, staying) = (higher + best_far, e * ln_at_most(entry.farthest) - higher);
            let matters = less + if staying > joining { staying } else { joining };
            if at == first || matters < NEGLIGIBLE {
                continue;
            }
            awkward |= less - higher.abs() < -SAFE || matters > most;
            count += 1;
            let [joining, staying] = power.keep([less + higher, less - higher]);
            if self.bounded {
                let ratio = ratio_at_most(best.coordinates, entry.coordinates);
                sum += power.raise(joining, ratio);
            }
            put(count, entry.coordinates, joining, staying);
        }
        if self.bounded && count > 0 {
            let at_most = if sum < MOST { fast_ln(1.0 + sum) } else { f64::INFINITY };
            self.others_at_most[four].0[slot % LANES] += at_most;
        }
        self.awkward[slot] |= awkward;
        let before = std::mem::replace(&mut self.others[slot * d + column], count as u32);
        // The second is always there for those side by side.
        for at in count + 1..=(before as usize).max(1).min(entries - 1) {
            put(at, best.coordinates, power.nothing(), power.nothing());
        }
        if count as u32 != before {
            self.count_others(slot, column);
        }
    }

    /// Counts how many others there are side by side with a column of a slot.
    fn count_others(&mut self, slot: usize, column: usize) {
        let (d, four, fourth) = (self.d, slot / LANES, column / LANES);
        let of_columns = slot * self.fourths() + fourth;
        let others = |slot: usize, column: usize| self.others[slot * d + column];
        let slots = four * LANES..(four + 1) * LANES;
        self.joins.others[four * d + column] =
            slots.map(|slot| others(slot, column)).max().unwrap_or(0);
        let columns = fourth * LANES..d.min((fourth + 1) * LANES);
        self.stays.others[of_columns] = columns.map(|c| others(slot, c)).max().unwrap_or(0);
    }

    /// Logarithms of what a column's entries may add up to.
    fn most(&self) -> f64 {
        match self.power {
            Power::Halves(_) => SAFE_TOGETHER,
            Power::Any(_) => SAFE,
        }
    }

    /// Empties a slot.
    pub(super) fn clear(&mut self, slot: usize) {
        (0..self.d).for_each(|column| self.write(slot, column, &[NOTHING], 0.0, |_, _| 1.0));
        self.others_at_most[slot / LANES].0[slot % LANES] = f64::NEG_INFINITY;
    }
}
