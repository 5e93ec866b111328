//! Rows are weighed by what is kept of blocks: for four blocks side by side, for one of them, or for the block that they are in.

use super::distances::{Any, FiveHalves, Halves, Power, Products, Raise, TOGETHER};
use super::kept::{Entries, Kept, LANES, Place};
use super::likelihood::Likelihood;
use crate::special::{Arithmetic, Lane, OnFours, on_fours};

impl Kept {
    /// Weighs a row for all slots: ln of what it multiplies p̂ by if it joins them.
    #[inline]
    pub(super) fn join_all<L: Likelihood>(
        &self,
        likelihood: &L,
        row: &[f64],
        gains: &mut Vec<[f64; LANES]>,
    ) {
        gains.resize(self.awkward.len() / LANES, [0.0; LANES]);
        self.join_fours(likelihood, 0, row, gains);
    }

    /// The same for so many fours of slots, from one on.
    #[inline]
    fn join_fours<L: Likelihood>(
        &self,
        likelihood: &L,
        from: usize,
        row: &[f64],
        gains: &mut [[f64; LANES]],
    ) {
        let kept = self;
        match self.power {
            Power::Halves(5) => {
                on_fours(JoinFours { kept, power: FiveHalves, likelihood, from, row, gains });
            }
            Power::Halves(e) => {
                on_fours(JoinFours { kept, power: Halves(e), likelihood, from, row, gains });
            }
            Power::Any(e) => {
                on_fours(JoinFours { kept, power: Any(e), likelihood, from, row, gains });
            }
        }
    }

    /// The same if gains below a floor may be −∞. A slot is told for which anything will do.
    #[inline]
    pub(super) fn join_likely<L: Likelihood>(
        &self,
        likelihood: &L,
        row: &[f64],
        floor: f64,
        but: Option<usize>,
        gains: &mut Vec<[f64; LANES]>,
    ) {
        self.join_at_most(likelihood, row, gains);
        if let Some(slot) = but {
            gains[slot / LANES][slot % LANES] = f64::NEG_INFINITY;
        }
        for four in 0..gains.len() {
            match gains[four].iter().all(|&most| most < floor) {
                true => gains[four] = [f64::NEG_INFINITY; LANES],
                false => self.join_fours(likelihood, four, row, &mut gains[four..=four]),
            }
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

struct JoinFours<'a, L, R> {
    kept: &'a Kept,
    power: R,
    likelihood: &'a L,
    from: usize,
    row: &'a [f64],
    gains: &'a mut [[f64; LANES]],
}

impl<L: Likelihood, R: Raise> OnFours for JoinFours<'_, L, R> {
    #[inline(always)]
    fn with<A: Arithmetic>(self, arithmetic: A) {
        let JoinFours { kept, power, likelihood, from, row, gains } = self;
        for (four, gains) in gains.iter_mut().enumerate() {
            *gains = kept.join_some(arithmetic, power, likelihood, from + four, row);
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
    use super::super::kept::Entry;
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
                        let ratio_at_most = |a, b| student.ratio_at_most(a, b);
                        kept.write(slot, column, &menu, ln_sum, ratio_at_most);
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
