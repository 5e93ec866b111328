//! What is kept of blocks, four of them side by side, so that a row is weighed for four at once.

use super::factor::triangle;
use crate::special::{Arithmetic, FOUR, Lane, OnFours, fast_ln, ln_of_all, on_fours};

/// So many blocks are side by side.
pub(super) const LANES: usize = FOUR;

/// One number of each of these blocks. They are where vector instructions like them to be.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(32))]
pub(super) struct Lanes([f64; LANES]);

/// What is kept of a block before its mean and the inverse of its factor.
const NUMBERS: usize = 6;
/// ln p(y) = `CONSTANT` − `EXPONENT` ln(1 + `WEIGHT` q), where q is δᵀΨₙ⁻¹δ and δ is y minus the mean; …
const CONSTANT: usize = 0;
const EXPONENT: usize = 1;
const WEIGHT: usize = 2;
/// … if the block counts y already, `HOME` + (`EXPONENT` − 1) ln(1 − `HOME_WEIGHT` q).
const HOME: usize = 3;
const HOME_WEIGHT: usize = 4;
/// ln |Ψₙ|.
const LN_DET: usize = 5;

/// Where less than this is left of |Ψ| without a row, too many digits are lost to say how much.
const LEFT: f64 = 0.01;

/// The numbers that are kept of a block; see above for what they mean.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbers {
    pub(super) constant: f64,
    pub(super) exponent: f64,
    pub(super) weight: f64,
    pub(super) home: f64,
    pub(super) home_weight: f64,
    pub(super) ln_det: f64,
}

/// What is kept of all blocks, four slots after four slots: their numbers, their means, and the inverses of their factors
/// row after row.
#[derive(Debug)]
pub(super) struct Kept {
    d: usize,
    lanes: Vec<Lanes>,
}

impl Clone for Kept {
    fn clone(&self) -> Self {
        Kept { d: self.d, lanes: self.lanes.clone() }
    }
    fn clone_from(&mut self, source: &Self) {
        self.d = source.d;
        self.lanes.clone_from(&source.lanes);
    }
}

/// How far a row is from four blocks, and its gains there unless they count it already.
#[derive(Debug, Clone, Copy, Default)]
struct Weighed {
    distances: Lanes,
    gains: Lanes,
}

/// Room for weighing rows.
#[derive(Debug)]
pub(super) struct Scales {
    away: Vec<Lanes>,
    weighed: Vec<Weighed>,
}

impl Scales {
    pub(super) fn new(d: usize) -> Self {
        Scales { away: vec![Lanes::default(); d], weighed: Vec::new() }
    }

    /// q and the gain of a slot.
    #[inline]
    pub(super) fn read(&self, slot: usize) -> (f64, f64) {
        let Weighed { distances, gains } = &self.weighed[slot / LANES];
        (distances.0[slot % LANES], gains.0[slot % LANES])
    }
}

impl Kept {
    pub(super) fn new(d: usize) -> Self {
        Kept { d, lanes: Vec::new() }
    }

    /// The numbers of four slots.
    fn width(&self) -> usize {
        NUMBERS + self.d + triangle(self.d)
    }

    /// How many bytes so many slots take.
    pub(super) fn bytes(d: usize, slots: usize) -> usize {
        slots.div_ceil(LANES) * Kept::new(d).width() * size_of::<Lanes>()
    }

    pub(super) fn grow(&mut self, slots: usize) {
        let length = slots.div_ceil(LANES) * self.width();
        if self.lanes.len() < length {
            self.lanes.resize(length, Lanes::default());
        }
    }

    /// Whether weighing a row for all slots takes less than for so many of them, one after the other.
    #[inline]
    pub(super) fn better_weigh_all(&self, slots: usize) -> bool {
        self.lanes.len() <= slots / 2 * self.width()
    }

    fn lanes(&self, slot: usize) -> &[Lanes] {
        let width = self.width();
        &self.lanes[slot / LANES * width..][..width]
    }

    fn number(&self, slot: usize, at: usize) -> f64 {
        self.lanes(slot)[at].0[slot % LANES]
    }

    pub(super) fn ln_det(&self, slot: usize) -> f64 {
        self.number(slot, LN_DET)
    }

    /// The mean of a block in a column.
    pub(super) fn mean(&self, slot: usize, column: usize) -> f64 {
        self.number(slot, NUMBERS + column)
    }

    /// Writes the numbers and the mean of a slot. The inverse of its factor is left to be written, row after row.
    pub(super) fn write(&mut self, slot: usize, numbers: Numbers, mean: &[f64]) -> Inverse<'_> {
        let (d, width, lane) = (self.d, self.width(), slot % LANES);
        let lanes = &mut self.lanes[slot / LANES * width..][..width];
        let (own, rest) = lanes.split_at_mut(NUMBERS);
        own[CONSTANT].0[lane] = numbers.constant;
        own[EXPONENT].0[lane] = numbers.exponent;
        own[WEIGHT].0[lane] = numbers.weight;
        own[HOME].0[lane] = numbers.home;
        own[HOME_WEIGHT].0[lane] = numbers.home_weight;
        own[LN_DET].0[lane] = numbers.ln_det;
        let (means, inverse) = rest.split_at_mut(d);
        means.iter_mut().zip(mean).for_each(|(own, mean)| own.0[lane] = *mean);
        Inverse { lanes: inverse, lane, d }
    }

    /// Weighs a row for all slots.
    #[inline]
    pub(super) fn weigh_all(&self, point: &[f64], scales: &mut Scales) {
        let width = self.width();
        let fours = self.lanes.len() / width;
        if scales.weighed.len() != fours {
            scales.weighed.resize(fours, Weighed::default());
        }
        on_fours(WeighAll { fours: self.lanes.chunks_exact(width), point, scales });
    }

    /// q and the gain of one slot, to the same last bit.
    pub(super) fn weigh_one(&self, slot: usize, point: &[f64], scales: &mut Scales) -> (f64, f64) {
        let (lanes, lane) = (self.lanes(slot), slot % LANES);
        let q = distances(Lane(lane), lanes, point, &mut scales.away);
        let [gain] = gains(lanes, lane, [q]);
        (q, gain)
    }

    /// The gain of a row at this distance in its home; `None` if too little is left of that without it.
    #[inline]
    pub(super) fn gain_at_home(&self, slot: usize, q: f64) -> Option<f64> {
        let left = 1.0 - self.number(slot, HOME_WEIGHT) * q;
        let (home, exponent) = (self.number(slot, HOME), self.number(slot, EXPONENT));
        (left >= LEFT).then(|| home + (exponent - 1.0) * fast_ln(left))
    }
}

/// Where the inverse of a factor is written.
pub(super) struct Inverse<'a> {
    lanes: &'a mut [Lanes],
    lane: usize,
    d: usize,
}

impl Inverse<'_> {
    #[inline]
    pub(super) fn set(&mut self, row: usize, column: usize, number: f64) {
        let at = place(self.d, row, column);
        self.lanes[at].0[self.lane] = number;
    }
}

/// So many rows of an inverse are multiplied together: sums that wait for each other are slow, and what all of them are
/// multiplied with is loaded once.
const TOGETHER: usize = 4;

/// Where an entry is in an inverse of d rows. The first rows are few, so that of the others so many are together: the
/// columns that all of these have, one after the other, and then what is left of each.
fn place(d: usize, row: usize, column: usize) -> usize {
    let few = d % TOGETHER;
    let (first, rows) = match row < few {
        true => (0, few),
        false => (row - (row - few) % TOGETHER, TOGETHER),
    };
    triangle(first)
        + match column < first {
            true => rows * column + (row - first),
            false => rows * first + triangle(row - first) + (column - first),
        }
}

/// Adds the squares of some rows of W x to those of the rows before; says what follows in W, and the sum. x ends where the
/// rows do.
#[inline(always)]
fn add_rows<'w, const ROWS: usize, A: Arithmetic>(
    arithmetic: A,
    inverse: &'w [Lanes],
    x: &[Lanes],
    squares: A::Numbers,
) -> (&'w [Lanes], A::Numbers) {
    let (x, last) = x.split_at(x.len() - ROWS);
    let (common, rest) = inverse.split_at(ROWS * x.len());
    let (triangle, next) = rest.split_at(triangle(ROWS));
    let add_product = |sum: A::Numbers, w: &Lanes, x: A::Numbers| {
        arithmetic.add(sum, arithmetic.multiply(arithmetic.load(&w.0), x))
    };
    let mut sums = [arithmetic.all(0.0); ROWS];
    for (w, x) in common.as_chunks::<ROWS>().0.iter().zip(x) {
        let x = arithmetic.load(&x.0);
        for row in 0..ROWS {
            sums[row] = add_product(sums[row], &w[row], x);
        }
    }
    let (mut entries, mut squares) = (triangle.iter(), squares);
    for row in 0..ROWS {
        for (x, w) in last[..=row].iter().zip(&mut entries) {
            sums[row] = add_product(sums[row], w, arithmetic.load(&x.0));
        }
        squares = arithmetic.add(squares, arithmetic.multiply(sums[row], sums[row]));
    }
    (next, squares)
}

/// How far a row is from blocks: |W (y − mean)|².
#[inline(always)]
fn distances<A: Arithmetic>(
    arithmetic: A,
    lanes: &[Lanes],
    point: &[f64],
    away: &mut [Lanes],
) -> A::Numbers {
    let (mean, inverse) = lanes[NUMBERS..].split_at(away.len());
    for ((away, &y), mean) in away.iter_mut().zip(point).zip(mean) {
        let difference = arithmetic.subtract(arithmetic.all(y), arithmetic.load(&mean.0));
        arithmetic.store(difference, &mut away.0);
    }
    let (none, few) = (arithmetic.all(0.0), away.len() % TOGETHER);
    let (mut inverse, mut q) = match few {
        0 => (inverse, none),
        1 => add_rows::<1, A>(arithmetic, inverse, &away[..1], none),
        2 => add_rows::<2, A>(arithmetic, inverse, &away[..2], none),
        _ => add_rows::<3, A>(arithmetic, inverse, &away[..3], none),
    };
    for last in (few + TOGETHER..=away.len()).step_by(TOGETHER) {
        (inverse, q) = add_rows::<TOGETHER, A>(arithmetic, inverse, &away[..last], q);
    }
    q
}

/// The gains of a row at these distances from N blocks from a lane on.
#[inline(always)]
fn gains<const N: usize>(lanes: &[Lanes], from: usize, q: [f64; N]) -> [f64; N] {
    let [constant, exponent, weight] =
        [CONSTANT, EXPONENT, WEIGHT].map(|number| &lanes[number].0[from..from + N]);
    let grown = std::array::from_fn(|at| 1.0 + weight[at] * q[at]);
    let ln_grown = ln_of_all::<N>(&grown);
    std::array::from_fn(|at| constant[at] - exponent[at] * ln_grown[at])
}

/// Weighs a row for all slots, four at a time.
struct WeighAll<'a> {
    fours: std::slice::ChunksExact<'a, Lanes>,
    point: &'a [f64],
    scales: &'a mut Scales,
}

impl OnFours for WeighAll<'_> {
    #[inline(always)]
    fn with<A: Arithmetic>(self, arithmetic: A) {
        let Scales { away, weighed } = self.scales;
        for (lanes, weighed) in self.fours.zip(weighed) {
            let q = distances(arithmetic, lanes, self.point, away);
            arithmetic.store(q, &mut weighed.distances.0);
            weighed.gains = Lanes(gains(lanes, 0, weighed.distances.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::factor::{cholesky, invert};
    use super::*;

    /// xᵀ A⁻¹ x by solving L u = x, one number after the other.
    fn by_solving(factor: &[f64], x: &[f64]) -> f64 {
        let (mut u, mut rest, mut sum) = (x.to_vec(), factor, 0.0);
        for k in 0..x.len() {
            let solved = u[k] * rest[0];
            (k + 1..x.len()).for_each(|i| u[i] -= rest[i - k] * solved);
            sum += solved * solved;
            rest = &rest[x.len() - k..];
        }
        sum
    }

    /// For matrices of all sizes around those of rows that are taken together, also where one direction is 10⁸ times as wide
    /// as the others; in six slots, so that some are alone in their four.
    #[test]
    fn distances_are_those_that_solving_gives() {
        let slots = 6;
        for (d, wide) in (1..=13).flat_map(|d| [(d, 1.0), (d, 1e8)]) {
            let entry = |i: usize, step: usize| ((i * i * step + 3 * i) % 17) as f64 / 17.0 - 0.4;
            let (mut kept, mut scales) = (Kept::new(d), Scales::new(d));
            kept.grow(slots);
            let mut factors = Vec::new();
            for slot in 0..slots {
                let mut factor = Vec::new();
                for j in 0..d {
                    for i in j..d {
                        let sum: f64 = (1..20).map(|s| entry(i + s, s) * entry(j + s, s)).sum();
                        let far = wide * wide * entry(i + slot, 1) * entry(j + slot, 1);
                        factor.push(sum + far + f64::from(u8::from(i == j)));
                    }
                }
                cholesky(&mut factor, d, 1.0);
                let mean: Vec<f64> = (0..d).map(|i| entry(i + 2, slot + 1)).collect();
                let numbers = Numbers {
                    constant: 2.0,
                    exponent: 3.0 + slot as f64,
                    weight: 0.7,
                    home: 0.5,
                    home_weight: 0.1,
                    ln_det: 0.0,
                };
                let mut inverse = kept.write(slot, numbers, &mean);
                let mut room = vec![f64::NAN; d];
                invert(&factor, &mut room, |row, column, w| inverse.set(row, column, w));
                factors.push((factor, mean));
            }
            for step in 1..5 {
                let point: Vec<f64> = (0..d).map(|i| entry(i + 5, step)).collect();
                kept.weigh_all(&point, &mut scales);
                let all: Vec<(f64, f64)> = (0..slots).map(|slot| scales.read(slot)).collect();
                for (slot, (factor, mean)) in factors.iter().enumerate() {
                    let x: Vec<f64> = point.iter().zip(mean).map(|(y, m)| y - m).collect();
                    let ((q, gain), exact) = (all[slot], by_solving(factor, &x));
                    let error = (q - exact).abs() / exact.max(1e-3);
                    assert!(error < 1e-13 * wide, "{q}, not {exact}, for d = {d}, {wide}");
                    let exact = 2.0 - (3.0 + slot as f64) * libm::log(1.0 + 0.7 * q);
                    assert!((gain - exact).abs() < 1e-13 * exact.abs().max(1.0));
                    assert_eq!(kept.weigh_one(slot, &point, &mut scales), all[slot]);
                }
            }
        }
    }
}
