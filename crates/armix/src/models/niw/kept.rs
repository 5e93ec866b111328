//! What is kept of blocks, four of them side by side, so that a row is weighed for four at once.

use super::factor::triangle;
use crate::special::{fast_ln, ln_of_all};

/// So many blocks are side by side.
pub(super) const LANES: usize = 4;

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
        for (lanes, weighed) in self.lanes.chunks_exact(width).zip(&mut scales.weighed) {
            *weighed = weigh_four(lanes, point, &mut scales.away);
        }
    }

    /// q and the gain of one slot, to the same last bit.
    pub(super) fn weigh_one(&self, slot: usize, point: &[f64], scales: &mut Scales) -> (f64, f64) {
        let (lanes, lane, away) = (self.lanes(slot), slot % LANES, &mut scales.away[..self.d]);
        let (numbers, rest) = lanes.split_at(NUMBERS);
        let (mean, mut inverse) = rest.split_at(self.d);
        for ((away, y), mean) in away.iter_mut().zip(point).zip(mean) {
            away.0[0] = y - mean.0[lane];
        }
        let (mut q, common) = match self.d % 2 {
            0 => (0.0, 1),
            _ => {
                let sum = inverse[0].0[lane] * away[0].0[0];
                inverse = &inverse[1..];
                (sum * sum, 2)
            }
        };
        for common in (common..self.d).step_by(2) {
            let (rows, next) = inverse.split_at(2 * common + 1);
            let (mut upper, mut lower) = (0.0, 0.0);
            for ([w, v], x) in rows.as_chunks().0.iter().zip(&*away) {
                upper += w.0[lane] * x.0[0];
                lower += v.0[lane] * x.0[0];
            }
            lower += rows[2 * common].0[lane] * away[common].0[0];
            q += upper * upper + lower * lower;
            inverse = next;
        }
        let of = |at: usize| numbers[at].0[lane];
        (q, of(CONSTANT) - of(EXPONENT) * fast_ln(1.0 + of(WEIGHT) * q))
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
        let at = match (row + self.d) % 2 {
            0 => triangle(row) + 2 * column,
            _ if column == row => triangle(row + 1) - 1,
            _ => triangle(row - 1) + 2 * column + 1,
        };
        self.lanes[at].0[self.lane] = number;
    }
}

/// Weighs a row for four slots: |W (y − mean)|², row after row of W, and then their logarithms.
#[inline]
fn weigh_four(lanes: &[Lanes], point: &[f64], away: &mut [Lanes]) -> Weighed {
    let (numbers, rest) = lanes.split_at(NUMBERS);
    let (mean, mut inverse) = rest.split_at(away.len());
    for ((away, y), mean) in away.iter_mut().zip(point).zip(mean) {
        away.0 = std::array::from_fn(|lane| y - mean.0[lane]);
    }
    let (mut q, common) = match away.len() % 2 {
        0 => ([0.0; LANES], 1),
        _ => {
            let (w, x) = (inverse[0].0, away[0].0);
            inverse = &inverse[1..];
            (std::array::from_fn(|lane| (w[lane] * x[lane]) * (w[lane] * x[lane])), 2)
        }
    };
    // Two rows at a time, as sums wait for each other; they have so many columns in common.
    for common in (common..away.len()).step_by(2) {
        let (rows, next) = inverse.split_at(2 * common + 1);
        let (mut upper, mut lower) = ([0.0; LANES], [0.0; LANES]);
        for (&[Lanes(w), Lanes(v)], &Lanes(x)) in rows.as_chunks().0.iter().zip(&*away) {
            for lane in 0..LANES {
                upper[lane] += w[lane] * x[lane];
                lower[lane] += v[lane] * x[lane];
            }
        }
        let (v, x) = (rows[2 * common].0, away[common].0);
        for lane in 0..LANES {
            lower[lane] += v[lane] * x[lane];
            q[lane] += upper[lane] * upper[lane] + lower[lane] * lower[lane];
        }
        inverse = next;
    }
    let grown = std::array::from_fn(|lane| 1.0 + numbers[WEIGHT].0[lane] * q[lane]);
    let ln_grown = ln_of_all::<LANES>(&grown);
    let gain = |lane: usize| {
        numbers[CONSTANT].0[lane] - numbers[EXPONENT].0[lane] * ln_grown[lane]
    };
    Weighed { distances: Lanes(q), gains: Lanes(std::array::from_fn(gain)) }
}
