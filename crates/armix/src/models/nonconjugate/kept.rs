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

use super::distances::{Any, FiveHalves, Halves, Power, Products, Raise, TOGETHER, ln_at_most};
use super::likelihood::Likelihood;
use crate::special::{Arithmetic, FOUR, Lane, OnFours, on_fours};

/// So many blocks are side by side.
pub(super) const LANES: usize = FOUR;

/// One number of each of these blocks. They are where vector instructions like them to be.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(32))]
struct Lanes([f64; LANES]);

/// Entries that change nothing by more than this, as a logarithm, are left out.
const NEGLIGIBLE: f64 = -42.0;

/// Logarithms up to this are safe to be exponentiated, also if several are added.
const SAFE: f64 = 600.0;

/// Those of numbers of which [`TOGETHER`] can be multiplied.
const SAFE_TOGETHER: f64 = 160.0;

/// An entry of a menu in a column, as a block sees it.
#[derive(Debug, Clone, Copy)]
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
type Entries = [Lanes; 3];

/// Entries by place, where four of them are side by side.
#[derive(Debug, Clone, Default)]
struct Side {
    /// The likeliest of each place.
    firsts: Vec<Entries>,
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
    fn places(&self, from: usize, count: usize, entries: usize) -> impl Iterator<Item = Place<'_>> {
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
struct Place<'a> {
    first: &'a Entries,
    second: &'a Entries,
    more: &'a [Entries],
    others: u32,
}

/// What is kept of slots, twice: for rows that join, where a place is a column of four slots side by side, and for rows that
/// stay, where one slot is asked for and a place is four of its columns.
#[derive(Debug)]
pub(super) struct Kept {
    d: usize,
    entries: usize,
    e: f64,
    power: Power,
    joins: Side,
    stays: Side,
    /// The constants of four slots, for rows that join.
    constants: Vec<Lanes>,
    /// How many other entries count in each column of each slot.
    others: Vec<u32>,
    /// Slots for which numbers are too large to do it like this.
    awkward: Vec<bool>,
}

impl Clone for Kept {
    fn clone(&self) -> Self {
        let mut kept = Kept::new(self.d, self.entries, self.e);
        kept.clone_from(self);
        kept
    }
    fn clone_from(&mut self, source: &Self) {
        (self.d, self.entries) = (source.d, source.entries);
        (self.e, self.power) = (source.e, source.power);
        self.joins.copy_from(&source.joins);
        self.stays.copy_from(&source.stays);
        self.constants.clone_from(&source.constants);
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
            others: Vec::new(),
            awkward: Vec::new(),
        }
    }

    /// The places of a slot, for rows that stay.
    fn fourths(&self) -> usize {
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
            // All that is there may be anything, and is cleared.
            self.others.resize(slots * self.d, self.entries as u32 - 1);
            self.awkward.resize(slots, false);
            (before..slots).for_each(|slot| self.clear(slot));
        }
    }

    /// Whether weighing a row for all slots takes less than for so many of them, one after the other.
    #[inline]
    pub(super) fn better_weigh_all(&self, slots: usize) -> bool {
        self.awkward.len() <= 2 * slots
    }

    /// Whether [`Kept::join`] and the others cannot be asked about a slot.
    #[inline]
    pub(super) fn is_awkward(&self, slot: usize) -> bool {
        self.awkward[slot]
    }

    /// Writes a column of a slot, from the entries of its leader's menu and ln of the sum of their terms. Columns are written from
    /// the first to the last.
    pub(super) fn write(&mut self, slot: usize, column: usize, menu: &[Entry], ln_sum: f64) {
        let (d, e, power, entries) = (self.d, self.e, self.power, self.entries);
        let (four, fourth, most) = (slot / LANES, column / LANES, self.most());
        let (of_slots, of_columns) = (four * d + column, slot * self.fourths() + fourth);
        let (joins, stays) = (&mut self.joins, &mut self.stays);
        let mut put = |at: usize, [a, b]: [f64; 2], join: f64, stay: f64| {
            joins.put(of_slots, slot % LANES, at, entries, [a, b, join]);
            stays.put(of_columns, column % LANES, at, entries, [a, b, stay]);
        };
        let mut first = 0;
        for at in 1..menu.len() {
            if menu[at].ln_term > menu[first].ln_term {
                first = at;
            }
        }
        let best = &menu[first];
        let best_far = e * ln_at_most(best.farthest);
        let ln_p = best.ln_term - ln_sum;
        let (join, stay) = (ln_p + best.ln_top, best.ln_top - ln_p);
        let constant = &mut self.constants[four].0[slot % LANES];
        if column == 0 {
            *constant = 0.0;
            self.awkward[slot] = false;
        }
        *constant += join;
        put(0, best.coordinates, join, stay);
        let mut count = 0;
        for (at, entry) in menu.iter().enumerate() {
            let (less, higher) = (entry.ln_term - best.ln_term, entry.ln_top - best.ln_top);
            let far = e * ln_at_most(entry.farthest);
            let matters = less + f64::max(higher + best_far, far - higher);
            if at == first || matters < NEGLIGIBLE {
                continue;
            }
            self.awkward[slot] |= less - higher.abs() < -SAFE || matters > most;
            count += 1;
            put(count, entry.coordinates, power.keep(less + higher), power.keep(less - higher));
        }
        let before = std::mem::replace(&mut self.others[slot * d + column], count as u32);
        // The second is always there for those side by side.
        for at in count + 1..=(before as usize).max(1).min(entries - 1) {
            put(at, best.coordinates, power.nothing(), power.nothing());
        }
        let others = |slot: usize, column: usize| self.others[slot * d + column];
        let slots = four * LANES..(four + 1) * LANES;
        self.joins.others[of_slots] = slots.map(|slot| others(slot, column)).max().unwrap_or(0);
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
        (0..self.d).for_each(|column| self.write(slot, column, &[NOTHING], 0.0));
    }

    /// Weighs a row for all slots: ln of what it multiplies p̂ by if it joins them.
    #[inline]
    pub(super) fn join_all<L: Likelihood>(
        &self,
        likelihood: &L,
        row: &[f64],
        gains: &mut Vec<[f64; LANES]>,
    ) {
        gains.resize(self.awkward.len() / LANES, [0.0; LANES]);
        let kept = self;
        match self.power {
            Power::Halves(5) => {
                on_fours(JoinAll { kept, power: FiveHalves, likelihood, row, gains });
            }
            Power::Halves(e) => {
                on_fours(JoinAll { kept, power: Halves(e), likelihood, row, gains });
            }
            Power::Any(e) => on_fours(JoinAll { kept, power: Any(e), likelihood, row, gains }),
        }
    }

    /// The same for one slot, to the last bit.
    #[inline]
    pub(super) fn join<L: Likelihood>(&self, likelihood: &L, slot: usize, row: &[f64]) -> f64 {
        let lane = slot % LANES;
        let four = slot / LANES;
        let gains = match self.power {
            Power::Halves(5) => self.join_some(Lane(lane), FiveHalves, likelihood, four, row),
            Power::Halves(e) => self.join_some(Lane(lane), Halves(e), likelihood, four, row),
            Power::Any(e) => self.join_some(Lane(lane), Any(e), likelihood, four, row),
        };
        gains[lane]
    }

    /// ln of what a row of this slot multiplies p̂ by, compared with the slot without it.
    #[inline]
    pub(super) fn stay<L: Likelihood>(&self, likelihood: &L, slot: usize, row: &[f64]) -> f64 {
        let (kept, mut gain) = (self, 0.0);
        let into = &mut gain;
        match self.power {
            Power::Halves(5) => {
                on_fours(Stay { kept, power: FiveHalves, likelihood, row, slot, gain: into });
            }
            Power::Halves(e) => {
                on_fours(Stay { kept, power: Halves(e), likelihood, row, slot, gain: into });
            }
            Power::Any(e) => {
                on_fours(Stay { kept, power: Any(e), likelihood, row, slot, gain: into });
            }
        }
        gain
    }

    /// One or all of four slots.
    #[inline(always)]
    fn join_some<A: Arithmetic, R: Raise, L: Likelihood>(
        &self,
        arithmetic: A,
        power: R,
        likelihood: &L,
        four: usize,
        row: &[f64],
    ) -> [f64; LANES] {
        let mut constant = arithmetic.load(&self.constants[four].0);
        let mut weighed = Weighed::new(self.power, arithmetic);
        let places = self.joins.places(four * self.d, self.d, self.entries);
        for (column, (&y, place)) in row.iter().zip(places).enumerate() {
            if y.is_nan() {
                constant = arithmetic.subtract(constant, arithmetic.load(&place.first[2].0));
            } else {
                let y = arithmetic.all(y);
                let (first, sum) =
                    weigh::<A, R, L, false>(arithmetic, power, likelihood, y, &place);
                weighed.multiply(first, sum);
            }
            if column % TOGETHER == TOGETHER - 1 {
                weighed.settle();
            }
        }
        let (mut gains, (first, sum)) = ([0.0; LANES], weighed.ln());
        arithmetic.store(constant, &mut gains);
        std::array::from_fn(|at| gains[at] - self.e * first[at] + sum[at])
    }
}

/// The distance of values from the first entries of a place, and 1 + Σ of the others.
#[inline(always)]
fn weigh<A: Arithmetic, R: Raise, L: Likelihood, const AT_HOME: bool>(
    arithmetic: A,
    power: R,
    likelihood: &L,
    y: A::Numbers,
    place: &Place<'_>,
) -> (A::Numbers, A::Numbers) {
    let first = away(arithmetic, likelihood, y, place.first);
    let mut sum = arithmetic.all(1.0);
    if place.others > 0 {
        let term = term::<A, R, L, AT_HOME>(arithmetic, power, likelihood, y, first, place.second);
        sum = arithmetic.add(sum, term);
    }
    if place.others > 1 {
        for other in &place.more[..place.others as usize - 1] {
            let term = term::<A, R, L, AT_HOME>(arithmetic, power, likelihood, y, first, other);
            sum = arithmetic.add(sum, term);
        }
    }
    (first, sum)
}

/// What an entry besides the first adds to 1.
#[inline(always)]
fn term<A: Arithmetic, R: Raise, L: Likelihood, const AT_HOME: bool>(
    arithmetic: A,
    power: R,
    likelihood: &L,
    y: A::Numbers,
    first: A::Numbers,
    entry: &Entries,
) -> A::Numbers {
    let other = away(arithmetic, likelihood, y, entry);
    let ratio = match AT_HOME {
        false => arithmetic.divide(first, other),
        true => arithmetic.divide(other, first),
    };
    power.raise(arithmetic, arithmetic.load(&entry[2].0), ratio)
}

/// The distances of values from entries.
#[inline(always)]
fn away<A: Arithmetic, L: Likelihood>(
    arithmetic: A,
    likelihood: &L,
    y: A::Numbers,
    [a, b, _]: &Entries,
) -> A::Numbers {
    let of = [y, arithmetic.load(&a.0), arithmetic.load(&b.0)];
    arithmetic.each(of, |[y, a, b]| likelihood.distance(y, [a, b]))
}

/// The products over columns of distances from first entries, and of 1 + Σ.
struct Weighed<A: Arithmetic> {
    first: Products<A>,
    sum: Products<A>,
    /// Sums can be so large that they must not be multiplied before they are settled.
    large: bool,
}

impl<A: Arithmetic> Weighed<A> {
    #[inline(always)]
    fn new(power: Power, arithmetic: A) -> Self {
        let one = Products::one(arithmetic);
        Weighed { first: one, sum: one, large: matches!(power, Power::Any(_)) }
    }

    /// [`TOGETHER`] of them at most, then follows [`Weighed::settle`].
    #[inline(always)]
    fn multiply(&mut self, first: A::Numbers, sum: A::Numbers) {
        self.first.multiply(first);
        self.sum.multiply(sum);
        if self.large {
            self.sum.settle();
        }
    }

    #[inline(always)]
    fn settle(&mut self) {
        self.first.settle();
        self.sum.settle();
    }

    /// The logarithms of both.
    #[inline(always)]
    fn ln(mut self) -> ([f64; LANES], [f64; LANES]) {
        self.settle();
        (self.first.ln(), self.sum.ln())
    }
}

struct JoinAll<'a, L, R> {
    kept: &'a Kept,
    power: R,
    likelihood: &'a L,
    row: &'a [f64],
    gains: &'a mut [[f64; LANES]],
}

impl<L: Likelihood, R: Raise> OnFours for JoinAll<'_, L, R> {
    #[inline(always)]
    fn with<A: Arithmetic>(self, arithmetic: A) {
        let JoinAll { kept, power, likelihood, row, gains } = self;
        for (four, gains) in gains.iter_mut().enumerate() {
            *gains = kept.join_some(arithmetic, power, likelihood, four, row);
        }
    }
}

struct Stay<'a, L, R> {
    kept: &'a Kept,
    power: R,
    likelihood: &'a L,
    row: &'a [f64],
    slot: usize,
    gain: &'a mut f64,
}

impl<L: Likelihood, R: Raise> OnFours for Stay<'_, L, R> {
    #[inline(always)]
    fn with<A: Arithmetic>(self, arithmetic: A) {
        let Stay { kept, power, likelihood, row, slot, gain } = self;
        let fourths = kept.fourths();
        let (zeros, ones) = (arithmetic.all(0.0), arithmetic.all(1.0));
        let mut constant = zeros;
        let mut weighed = Weighed::new(kept.power, arithmetic);
        let places = kept.stays.places(slot * fourths, fourths, kept.entries);
        for (at, (values, place)) in row.chunks(LANES).zip(places).enumerate() {
            // Columns that there are not are missing.
            let mut four = [f64::NAN; LANES];
            match *values {
                [a, b, c, d] => four = [a, b, c, d],
                _ => four[..values.len()].copy_from_slice(values),
            }
            let y = arithmetic.load(&four);
            let share = arithmetic.load(&place.first[2].0);
            constant = arithmetic.add(constant, arithmetic.where_known(y, share, zeros));
            let (first, sum) = weigh::<A, R, L, true>(arithmetic, power, likelihood, y, &place);
            let first = arithmetic.where_known(y, first, ones);
            weighed.multiply(first, arithmetic.where_known(y, sum, ones));
            if at % TOGETHER == TOGETHER - 1 {
                weighed.settle();
            }
        }
        let (mut sum, (first, others)) = ([0.0; LANES], weighed.ln());
        arithmetic.store(constant, &mut sum);
        *gain = (0..LANES).map(|at| sum[at] - kept.e * first[at] - others[at]).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::student::StudentT;

    /// Some number, another one for each.
    fn number(seed: &mut f64, low: f64, high: f64) -> f64 {
        *seed += 1.0;
        low + (high - low) * (0.5 + 0.5 * libm::sin(*seed * *seed))
    }

    /// Rows are weighed for slots side by side and for each of them to the same bits, and by definition: columns that do and do not
    /// fill up lanes, menus of any length, all kinds of powers, missing values.
    #[test]
    fn rows_are_weighed_by_definition() {
        let mut seed = 0.0;
        for (d, m, degrees) in [(1, 1, 4.0), (3, 2, 4.0), (4, 4, 4.0), (11, 5, 2.0), (6, 4, 7.7)] {
            let mut row: Vec<f64> = (0..d).map(|_| number(&mut seed, -3.0, 3.0)).collect();
            if d > 3 {
                row[2] = f64::NAN;
            }
            let student = StudentT::new(d, row.clone(), degrees).expect("valid values");
            let e = student.exponent();
            let slots = 6;
            let mut kept = Kept::new(d, m, e);
            kept.grow(slots);
            // Several times, so that something is there before.
            for spread in [0.2, 8.0, 1.0] {
                let (mut joins, mut stays) = (vec![0.0; slots], vec![0.0; slots]);
                for slot in 0..slots {
                    for column in 0..d {
                        let mut entry = |_| Entry {
                            coordinates: [
                                number(&mut seed, -1.0, 1.0),
                                number(&mut seed, 0.3, 3.0),
                            ],
                            ln_top: number(&mut seed, -1.0, 1.0),
                            ln_term: spread * number(&mut seed, -9.0, 0.0),
                            farthest: 200.0,
                        };
                        let menu: Vec<Entry> = (0..m).map(&mut entry).collect();
                        let ln_sum = libm::log(menu.iter().map(|e| libm::exp(e.ln_term)).sum());
                        kept.write(slot, column, &menu, ln_sum);
                        let y = row[column];
                        let mean = |sign: f64| -> f64 {
                            let term = |entry: &Entry| {
                                let ln_f = entry.ln_top
                                    - e * libm::log(student.distance(y, entry.coordinates));
                                libm::exp(entry.ln_term - ln_sum + sign * ln_f)
                            };
                            menu.iter().map(term).sum()
                        };
                        if !y.is_nan() {
                            joins[slot] += libm::log(mean(1.0));
                            stays[slot] -= libm::log(mean(-1.0));
                        }
                    }
                }
                let mut gains = Vec::new();
                kept.join_all(&student, &row, &mut gains);
                for slot in 0..slots {
                    assert!(!kept.is_awkward(slot));
                    let join = gains[slot / LANES][slot % LANES];
                    assert_eq!(kept.join(&student, slot, &row), join);
                    let stay = kept.stay(&student, slot, &row);
                    for (found, expected) in [(join, joins[slot]), (stay, stays[slot])] {
                        assert!(
                            (found - expected).abs() < 1e-11,
                            "{d}, {m}: {found}, not {expected}"
                        );
                    }
                }
            }
        }
    }
}
