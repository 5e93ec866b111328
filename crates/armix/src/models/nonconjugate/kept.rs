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

use super::distances::{Power, Products, TOGETHER, ln_at_most};
use super::likelihood::Likelihood;
use crate::special::{FOUR, with_wide_vectors};

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

/// The numbers of four slots: constants for a row that joins or leaves; the coordinates of the first entries by column, and their
/// share of the constants; and the other entries by column.
#[derive(Debug)]
pub(super) struct Kept {
    d: usize,
    entries: usize,
    e: f64,
    power: Power,
    lanes: Vec<Lanes>,
    /// How many other entries count in each column of four slots.
    others: Vec<u32>,
    /// … and in each column of each slot.
    others_of_slot: Vec<u32>,
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
        self.lanes.clone_from(&source.lanes);
        self.others.clone_from(&source.others);
        self.others_of_slot.clone_from(&source.others_of_slot);
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
            lanes: Vec::new(),
            others: Vec::new(),
            others_of_slot: Vec::new(),
            awkward: Vec::new(),
        }
    }

    /// The numbers of four slots.
    fn width(&self) -> usize {
        2 + self.d * 4 * self.entries
    }

    /// How many bytes so many slots take.
    pub(super) fn bytes(d: usize, entries: usize, slots: usize) -> usize {
        slots.div_ceil(LANES) * Kept::new(d, entries, 1.0).width() * size_of::<Lanes>()
    }

    pub(super) fn grow(&mut self, slots: usize) {
        let fours = slots.div_ceil(LANES);
        if self.awkward.len() < fours * LANES {
            let (width, power, layers) = (self.width(), self.power, 2 + 4 * self.d);
            let begin = self.lanes.len();
            self.lanes.resize(fours * width, Lanes::default());
            for four in self.lanes[begin..].chunks_exact_mut(width) {
                for [_, _, joins, leaves] in four[layers..].as_chunks_mut::<4>().0 {
                    (*joins, *leaves) =
                        (Lanes([power.nothing(); LANES]), Lanes([power.nothing(); LANES]));
                }
            }
            self.others.resize(fours * self.d, 0);
            self.others_of_slot.resize(fours * LANES * self.d, 0);
            self.awkward.resize(fours * LANES, false);
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
        let (d, width, lane) = (self.d, self.width(), slot % LANES);
        let (e, power, layers) = (self.e, self.power, self.entries - 1);
        let lanes = &mut self.lanes[slot / LANES * width..][..width];
        let mut first = 0;
        for at in 1..menu.len() {
            if menu[at].ln_term > menu[first].ln_term {
                first = at;
            }
        }
        let best = &menu[first];
        let best_far = e * ln_at_most(best.farthest);
        let ln_p = best.ln_term - ln_sum;
        let (joins, leaves) = (ln_p + best.ln_top, best.ln_top - ln_p);
        if column == 0 {
            (lanes[0].0[lane], lanes[1].0[lane]) = (0.0, 0.0);
            self.awkward[slot] = false;
        }
        lanes[0].0[lane] += joins;
        lanes[1].0[lane] += leaves;
        let own = &mut lanes[2 + 2 * column..];
        [own[0].0[lane], own[1].0[lane]] = best.coordinates;
        let own = &mut lanes[2 + 2 * (d + column)..];
        (own[0].0[lane], own[1].0[lane]) = (joins, leaves);
        let layers = &mut lanes[2 + 4 * d + 4 * layers * column..][..4 * layers];
        let mut count = 0;
        for (at, entry) in menu.iter().enumerate() {
            let (less, higher) = (entry.ln_term - best.ln_term, entry.ln_top - best.ln_top);
            let far = e * ln_at_most(entry.farthest);
            let matters = less + f64::max(higher + best_far, far - higher);
            if at == first || matters < NEGLIGIBLE {
                continue;
            }
            self.awkward[slot] |= less - higher.abs() < -SAFE || matters > SAFE;
            let own = &mut layers[4 * count..];
            [own[0].0[lane], own[1].0[lane]] = entry.coordinates;
            own[2].0[lane] = power.keep(less + higher);
            own[3].0[lane] = power.keep(less - higher);
            count += 1;
        }
        let before = std::mem::replace(&mut self.others_of_slot[slot * d + column], count as u32);
        for nothing in layers.chunks_exact_mut(4).take(before as usize).skip(count) {
            [nothing[0].0[lane], nothing[1].0[lane]] = best.coordinates;
            nothing[2].0[lane] = power.nothing();
            nothing[3].0[lane] = power.nothing();
        }
        let four = slot / LANES * LANES;
        let counts = (four..four + LANES).map(|slot| self.others_of_slot[slot * d + column]);
        self.others[slot / LANES * d + column] = counts.max().unwrap_or(0);
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
        let (width, fours) = (self.width(), self.awkward.len() / LANES);
        gains.resize(fours, [0.0; LANES]);
        with_wide_vectors(
            #[inline(always)]
            || {
                for (at, gains) in gains.iter_mut().enumerate() {
                    let four = &self.lanes[at * width..][..width];
                    let others = &self.others[at * self.d..][..self.d];
                    *gains = self.weigh::<L, LANES, false>(likelihood, four, others, 0, row);
                }
            },
        );
    }

    /// The same for one slot, to the last bit.
    #[inline]
    pub(super) fn join<L: Likelihood>(&self, likelihood: &L, slot: usize, row: &[f64]) -> f64 {
        self.one::<L, false>(likelihood, slot, row)
    }

    /// ln of what a row of this slot multiplies p̂ by, compared with the slot without it.
    #[inline]
    pub(super) fn stay<L: Likelihood>(&self, likelihood: &L, slot: usize, row: &[f64]) -> f64 {
        self.one::<L, true>(likelihood, slot, row)
    }

    #[inline]
    fn one<L: Likelihood, const AT_HOME: bool>(
        &self,
        likelihood: &L,
        slot: usize,
        row: &[f64],
    ) -> f64 {
        let (width, four) = (self.width(), slot / LANES);
        let lanes = &self.lanes[four * width..][..width];
        let others = &self.others[four * self.d..][..self.d];
        let [gain] = self.weigh::<L, 1, AT_HOME>(likelihood, lanes, others, slot % LANES, row);
        gain
    }

    /// N blocks from a lane on.
    #[inline(always)]
    fn weigh<L: Likelihood, const N: usize, const AT_HOME: bool>(
        &self,
        likelihood: &L,
        four: &[Lanes],
        others: &[u32],
        from: usize,
        row: &[f64],
    ) -> [f64; N] {
        let d = self.d;
        let pick = |lanes: &Lanes| -> [f64; N] { std::array::from_fn(|at| lanes.0[from + at]) };
        let away = |y: f64, a: &Lanes, b: &Lanes| -> [f64; N] {
            std::array::from_fn(|at| likelihood.distance(y, [a.0[from + at], b.0[from + at]]))
        };
        let (totals, rest) = four.split_at(2);
        let (firsts, rest) = rest.split_at(2 * d);
        let (shares, layers) = rest.split_at(2 * d);
        let mut constant = pick(&totals[usize::from(AT_HOME)]);
        let (mut product, mut sums) = (Products::<N>::ONE, Products::<N>::ONE);
        let mut any = false;
        let (firsts, shares) = (firsts.as_chunks::<2>().0, shares.as_chunks::<2>().0);
        for (column, (&y, [a, b])) in row.iter().zip(firsts).enumerate() {
            if y.is_nan() {
                let share = pick(&shares[column][usize::from(AT_HOME)]);
                (0..N).for_each(|at| constant[at] -= share[at]);
                continue;
            }
            let first = away(y, a, b);
            product.multiply(first);
            if column % TOGETHER == TOGETHER - 1 {
                product.settle();
            }
            if others[column] > 0 {
                let layers = layers[4 * (self.entries - 1) * column..].as_chunks::<4>().0;
                let mut sum = [1.0; N];
                for [a, b, joins, leaves] in &layers[..others[column] as usize] {
                    let other = away(y, a, b);
                    let term: [f64; N] = match AT_HOME {
                        false => self
                            .power
                            .raise(pick(joins), std::array::from_fn(|at| first[at] / other[at])),
                        true => self
                            .power
                            .raise(pick(leaves), std::array::from_fn(|at| other[at] / first[at])),
                    };
                    (0..N).for_each(|at| sum[at] += term[at]);
                }
                sums.multiply(sum);
                sums.settle();
                any = true;
            }
        }
        product.settle();
        let ln_product = product.ln();
        let mut gains: [f64; N] = std::array::from_fn(|at| constant[at] - self.e * ln_product[at]);
        if any {
            // Whether the others have sums makes no difference to a block that has none.
            let (ln_sums, is_one) = (sums.ln(), sums.are_one());
            for at in 0..N {
                let ln_sum = if is_one[at] { 0.0 } else { ln_sums[at] };
                gains[at] += if AT_HOME { -ln_sum } else { ln_sum };
            }
        }
        gains
    }
}
