//! Upper bounds of gains: blocks that have no chance beside the home of a row are weighed no further.
//!
//! With f = T δ⁻ᵉ, and what kept.rs says of a row that joins a block: δ₁/δₖ has a largest value λₖ whatever the row, so that the gain is at most
//! ln of p₁ T₁ δ₁⁻ᵉ (1 + Σ ρₖ λₖᵉ), summed up over columns. That takes the distances δ₁ alone.
//!
//! A row that outranks the leader of a block weighs it by its own menu, and all b members are asked for their distances from entry k.
//! Nobody need be asked for a bound: members are near some entry 0 of their leader, of which Σ ln δ₀ is known, and δₖ δ₀ has a least value π, so that
//! Σ ln δₖ ≥ b ln π − Σ ln δ₀. Few members are asked, but roughly: Σ wₖ f(row | θₖ) ∏ f is at most Σ wₖ f(row | θₖ), which is known, times the largest ∏ f.

use super::distances::{Products, TOGETHER};
use super::kept::{Entries, Kept, LANES};
use super::likelihood::Likelihood;
use super::tallies::{Party, Tallies, ln_sum_exp, to_float};
use super::{Nonconjugate, UNIT};
use crate::special::{Arithmetic, OnFours, fast_ln, on_fours};

impl Kept {
    /// Not less than the gains of [`Kept::join_all`], or not much: rounding errors of far less than 1. −∞ of empty slots.
    #[inline]
    pub(super) fn join_at_most<L: Likelihood>(
        &self,
        likelihood: &L,
        row: &[f64],
        gains: &mut Vec<[f64; LANES]>,
    ) {
        gains.resize(self.others_at_most.len(), [0.0; LANES]);
        on_fours(JoinAtMost { kept: self, likelihood, row, gains });
    }
}

struct JoinAtMost<'a, L> {
    kept: &'a Kept,
    likelihood: &'a L,
    row: &'a [f64],
    gains: &'a mut [[f64; LANES]],
}

impl<L: Likelihood> OnFours for JoinAtMost<'_, L> {
    #[inline(always)]
    fn with<A: Arithmetic>(self, arithmetic: A) {
        let JoinAtMost { kept, likelihood, row, gains } = self;
        let away = |y: f64, [a, b, _]: &Entries| {
            let of = [arithmetic.all(y), arithmetic.load(&a.0), arithmetic.load(&b.0)];
            arithmetic.each(
                of,
                #[inline(always)]
                |[y, a, b]| likelihood.distance(y, [a, b]),
            )
        };
        let (together, rest) = row.as_chunks::<TOGETHER>();
        for (four, gains) in gains.iter_mut().enumerate() {
            let firsts = &kept.joins.firsts[four * kept.d..][..kept.d];
            let mut constant = arithmetic.load(&kept.constants[four].0);
            let mut missing = |first: &Entries| {
                constant = arithmetic.subtract(constant, arithmetic.load(&first[2].0));
            };
            let mut products = Products::one(arithmetic);
            let (firsts, last) = firsts.as_chunks::<TOGETHER>();
            for (y, first) in together.iter().zip(firsts) {
                match y.iter().any(|y| y.is_nan()) {
                    false => {
                        // In pairs, because a product waits for its factors.
                        let [a, b, c, d] = [0, 1, 2, 3].map(
                            #[inline(always)]
                            |at| away(y[at], &first[at]),
                        );
                        let pairs = [arithmetic.multiply(a, b), arithmetic.multiply(c, d)];
                        products.multiply(arithmetic.multiply(pairs[0], pairs[1]));
                    }
                    true => {
                        for (&y, first) in y.iter().zip(first) {
                            match y.is_nan() {
                                true => missing(first),
                                false => products.multiply(away(y, first)),
                            }
                        }
                    }
                }
                products.settle();
            }
            for (&y, first) in rest.iter().zip(last) {
                match y.is_nan() {
                    true => missing(first),
                    false => products.multiply(away(y, first)),
                }
            }
            products.settle();
            let e_ln = arithmetic.multiply(arithmetic.all(kept.e), products.ln_at_least());
            let others = arithmetic.load(&kept.others_at_most[four].0);
            let most = arithmetic.add(arithmetic.subtract(constant, e_ln), others);
            arithmetic.store(most, gains);
        }
    }
}

/// What is known of a column of a block that a row would lead.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    /// Not less than ln p̂ there.
    most: f64,
    /// How much more that is than what the block has now, or −∞ if the members were asked.
    above: f64,
}

impl<L: Likelihood> Nonconjugate<L> {
    /// ln p̂ of a block that a row joins and leads. It may be −∞ if it is less than a floor: members are asked about one column after the
    /// other, while bounds of the others leave a chance.
    pub(super) fn ln_p_led(
        &self,
        stats: &Tallies,
        load: &mut Party,
        slot: usize,
        size: usize,
        floor: f64,
    ) -> f64 {
        let (m, item) = (self.menus.entries, load.leader);
        let Party { scratch: terms, others, columns, .. } = load;
        columns.clear();
        columns.extend(
            (0..self.likelihood.d()).map(|at| self.led_at_most(stats, item, slot, size, at)),
        );
        let mut most: f64 = columns.iter().map(|column| column.most).sum();
        if most < floor {
            return f64::NEG_INFINITY;
        }
        others.clear();
        others.extend(stats.members.of(slot));
        others.push(item);
        terms.clear();
        terms.resize(self.width(), 0.0);
        let ln_weights = &self.menus.ln_weight[self.range(item as usize)];
        for _ in 0..columns.len() {
            // Where the bound is worst.
            let (mut worst, mut above) = (0, f64::NEG_INFINITY);
            for (at, column) in columns.iter().enumerate() {
                if column.above > above {
                    (worst, above) = (at, column.above);
                }
            }
            self.add_ln_f_of(worst..worst + 1, item, others, terms, 1.0);
            let range = worst * m..(worst + 1) * m;
            let terms = &mut terms[range.clone()];
            terms.iter_mut().zip(&ln_weights[range]).for_each(|(term, w)| *term += w);
            most += ln_sum_exp(terms) - columns[worst].most;
            columns[worst].above = f64::NEG_INFINITY;
            if most < floor {
                return f64::NEG_INFINITY;
            }
        }
        self.ln_estimate(terms)
    }

    /// Not less than ln p̂ of a block that a row joins and leads, for small blocks: by what the row has alone, and the entries that the members like
    /// best in each column.
    pub(super) fn ln_p_led_at_most(&self, stats: &Tallies, load: &mut Party, slot: usize) -> f64 {
        load.others.clear();
        load.others.extend(stats.members.of(slot));
        load.alone + self.ln_f_at_most(load.leader, &load.others)
    }

    /// A column of a block of so many items that a row would lead.
    fn led_at_most(
        &self,
        stats: &Tallies,
        item: u32,
        slot: usize,
        size: usize,
        column: usize,
    ) -> Column {
        let (m, b, e) = (self.menus.entries, self.coldness, self.likelihood.exponent());
        let sums = &stats.sums[self.range(slot)][column * m..][..m];
        let led = &self.menus.theta[self.range(stats.leader[slot] as usize)][column * m..][..m];
        let own = &self.menus.theta[self.range(item as usize)][column * m..][..m];
        let ln_weights = &self.menus.ln_weight[self.range(item as usize)][column * m..][..m];
        let values = self.likelihood.column(column);
        let is_known = |item: u32| !values[item as usize].is_nan();
        let known = match self.gaps[column] {
            false => size,
            true => stats.members.of(slot).filter(|&item| is_known(item)).count(),
        };
        let (known, all) = (known as f64, (known + usize::from(is_known(item))) as f64);
        let mut near = 0;
        for at in 1..m {
            if sums[at] > sums[near] {
                near = at;
            }
        }
        let (from, now) = (self.likelihood.coordinates(&led[near]), UNIT * to_float(sums[near]));
        // e Σ ln δ₀.
        let e_ln = known * self.likelihood.ln_top(column, &led[near]) - now;
        let mut most = f64::NEG_INFINITY;
        for (theta, ln_weight) in own.iter().zip(ln_weights) {
            let to = self.likelihood.coordinates(theta);
            let product = self.likelihood.product_at_least(from, to);
            let less = (known * e * fast_ln(product) - e_ln).max(0.0);
            let ln_f = all * self.likelihood.ln_top(column, theta) - less;
            most = most.max(ln_weight + b * ln_f);
        }
        let most = most + fast_ln(m as f64);
        // Whatever is no number comes first.
        let above = most - b * now;
        let above = if above.is_finite() { above } else { f64::MAX };
        Column { most, above }
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

    /// Bounds of rows that join are above gains, missing values or not, and far above them only where other entries count.
    #[test]
    fn bounds_of_rows_are_bounds() {
        let mut seed = 0.0;
        for (d, m, degrees) in [(16, 1, 4.0), (19, 4, 4.0), (50, 3, 4.0), (33, 4, 7.7)] {
            let mut row: Vec<f64> = (0..d).map(|_| number(&mut seed, -3.0, 3.0)).collect();
            if d % 2 == 1 {
                (row[2], row[d - 1]) = (f64::NAN, f64::NAN);
            }
            let student = StudentT::new(d, row.clone(), degrees).expect("valid values");
            let (e, slots) = (student.exponent(), 6);
            let mut kept = Kept::new(d, m, e);
            kept.grow(slots);
            for spread in [0.1, 3.0, 40.0] {
                for slot in 0..slots - 1 {
                    for column in 0..d {
                        let mut entry = |_| Entry {
                            coordinates: [
                                number(&mut seed, -1.0, 1.0),
                                libm::exp(number(&mut seed, -3.0, 3.0)),
                            ],
                            ln_top: number(&mut seed, -1.0, 1.0),
                            ln_term: spread * number(&mut seed, -1.0, 0.0),
                            farthest: 1e4,
                        };
                        let menu: Vec<Entry> = (0..m).map(&mut entry).collect();
                        let ln_sum = libm::log(menu.iter().map(|e| libm::exp(e.ln_term)).sum());
                        let ratio_at_most = |a, b| student.ratio_at_most(a, b);
                        kept.write(slot, column, &menu, ln_sum, ratio_at_most);
                    }
                }
                let (mut gains, mut most) = (Vec::new(), Vec::new());
                kept.join_all(&student, &row, &mut gains);
                kept.join_at_most(&student, &row, &mut most);
                for slot in 0..slots - 1 {
                    let [gain, most] = [&gains, &most].map(|of| of[slot / LANES][slot % LANES]);
                    let above = most - gain;
                    assert!(above > -1e-9, "{d}, {m}: {most} is no bound of {gain}");
                    assert!(m > 1 || above < 0.06 * e, "{d}: {most} is far above {gain}");
                }
                assert_eq!(most[(slots - 1) / LANES][(slots - 1) % LANES], f64::NEG_INFINITY);
            }
        }
    }
}
