//! Menus of Student's t for the columns of a row at a time: plain loops over lists, for which there are vector instructions.

use super::{Around, Column, LN_SCALE_SD, LocationScale};
use crate::special::{FourAtATime, exp_of_all, ln_by_series};

/// At most so many columns at a time.
pub(super) const COLUMNS: usize = 32;

/// Shares of G: two past blocks, the own value, and H.
pub(super) const SHARES: usize = 4;

/// A number for each column.
type Numbers = [f64; COLUMNS];

const ZEROS: Numbers = [0.0; COLUMNS];

/// Fits by column.
struct Arounds {
    centre: [Numbers; 2],
    sd: [Numbers; 2],
    one_over_width: [Numbers; 2],
    /// In units of H, in which no density is too small to be a number.
    top: Numbers,
}

impl Arounds {
    const NONE: Self =
        Arounds { centre: [ZEROS; 2], sd: [ZEROS; 2], one_over_width: [ZEROS; 2], top: ZEROS };
}

/// H by column.
struct Bases {
    centre: Numbers,
    sd: Numbers,
    one_over_sd: Numbers,
    rate: Numbers,
    width: Numbers,
    ln_width: Numbers,
    ln_constant: Numbers,
}

/// θ by column.
struct Thetas {
    location: Numbers,
    ln_scale: Numbers,
    one_over_scale: Numbers,
}

/// What menus of some columns are drawn with.
pub(super) struct Row {
    n: usize,
    fits: [Arounds; SHARES - 1],
    base: Bases,
    thetas: Thetas,
    ln_ratio: Numbers,
    numbers: [Numbers; 3],
}

impl Row {
    pub(super) const EMPTY: Self = Row {
        n: 0,
        fits: [Arounds::NONE; SHARES - 1],
        base: Bases {
            centre: ZEROS,
            sd: ZEROS,
            one_over_sd: ZEROS,
            rate: ZEROS,
            width: ZEROS,
            ln_width: ZEROS,
            ln_constant: ZEROS,
        },
        thetas: Thetas { location: ZEROS, ln_scale: ZEROS, one_over_scale: ZEROS },
        ln_ratio: ZEROS,
        numbers: [ZEROS; 3],
    };

    /// Begins with the columns of a row; false if a value or a fit is missing.
    #[inline(always)]
    pub(super) fn begin(
        &mut self,
        values: &[f64],
        columns: &[Column],
        past: [&[Option<Around>]; 2],
        (degrees, coldness): (f64, f64),
    ) -> bool {
        let n = values.len();
        self.n = n;
        for (at, column) in columns.iter().enumerate() {
            self.base.centre[at] = column.centre;
            self.base.sd[at] = column.location_sd;
            self.base.one_over_sd[at] = 1.0 / column.location_sd;
            self.base.rate[at] = column.rate;
            self.base.width[at] = column.width;
            self.base.ln_width[at] = column.ln_width;
            self.base.ln_constant[at] = column.ln_constant_in_units;
        }
        for (own, fits) in self.fits.iter_mut().zip(past) {
            for (at, fit) in fits.iter().enumerate() {
                let Some(fit) = fit else { return false };
                for k in 0..2 {
                    own.centre[k][at] = fit.centre[k];
                    own.sd[k][at] = fit.sd[k];
                    own.one_over_width[k][at] = fit.one_over_width[k];
                }
                own.top[at] = fit.top * columns[at].location_sd;
            }
        }
        let wide = ((degrees + 3.0) / ((degrees + 1.0) * coldness)).sqrt();
        let own = &mut self.fits[2];
        let mut missing = false;
        for at in 0..n {
            let sd = self.base.width[at] * wide;
            missing |= values[at].is_nan();
            (own.centre[0][at], own.centre[1][at]) = (values[at], self.base.ln_width[at]);
            (own.sd[0][at], own.sd[1][at]) = (sd, LN_SCALE_SD);
            (own.one_over_width[0][at], own.one_over_width[1][at]) = (0.5 / sd, 0.5 / LN_SCALE_SD);
            own.top[at] = Around::TOP / (sd * LN_SCALE_SD) * self.base.sd[at];
        }
        !missing
    }

    /// Draws an entry for each column from one of the shares, and finds ln H/G.
    #[inline(always)]
    pub(super) fn draw(&mut self, share: usize, random: &mut FourAtATime) {
        if share + 1 < SHARES {
            self.draw_fit(share, random);
        } else {
            self.draw_base(random);
        }
        self.weigh();
    }

    /// What was drawn for a column, and ln H/G.
    #[inline(always)]
    pub(super) fn drawn(&self, at: usize) -> (LocationScale, f64) {
        let Thetas { location, ln_scale, one_over_scale } = &self.thetas;
        let theta = LocationScale {
            location: location[at],
            ln_scale: ln_scale[at],
            one_over_scale: one_over_scale[at],
        };
        (theta, self.ln_ratio[at])
    }

    /// Three random numbers for each column.
    #[inline(always)]
    fn draw_numbers(&mut self, random: &mut FourAtATime) {
        for numbers in &mut self.numbers {
            random.fill(&mut numbers[..self.n.next_multiple_of(4)]);
        }
    }

    #[inline(always)]
    fn draw_fit(&mut self, share: usize, random: &mut FourAtATime) {
        for k in 0..2 {
            self.draw_numbers(random);
            let [a, b, c] = self.numbers.each_ref().map(|numbers| &numbers[..self.n]);
            let fit = &self.fits[share];
            let (centre, sd) = (&fit.centre[k][..self.n], &fit.sd[k][..self.n]);
            let Thetas { location, ln_scale, .. } = &mut self.thetas;
            let into = &mut if k == 0 { location } else { ln_scale }[..self.n];
            for at in 0..into.len() {
                into[at] = centre[at] + sd[at] * t4([a[at], b[at], c[at]]);
            }
        }
        let ln_scale = &self.thetas.ln_scale[..self.n];
        let one_over_scale = &mut self.thetas.one_over_scale[..self.n];
        let mut far = false;
        for at in 0..ln_scale.len() {
            [one_over_scale[at]] = exp_of_all([-ln_scale[at]]);
            far |= ln_scale[at].abs() >= 49.0;
        }
        if far {
            for at in 0..ln_scale.len() {
                one_over_scale[at] = LocationScale::new(0.0, ln_scale[at]).one_over_scale;
            }
        }
    }

    #[inline(always)]
    fn draw_base(&mut self, random: &mut FourAtATime) {
        self.draw_numbers(random);
        let n = self.n;
        let [length, angle, sign] = self.numbers.each_ref().map(|numbers| &numbers[..n]);
        let Bases { centre, sd, width, ln_width, .. } = &self.base;
        let (centre, sd) = (&centre[..n], &sd[..n]);
        let (width, ln_width) = (&width[..n], &ln_width[..n]);
        let Thetas { location, ln_scale, one_over_scale } = &mut self.thetas;
        let (location, ln_scale) = (&mut location[..n], &mut ln_scale[..n]);
        let one_over_scale = &mut one_over_scale[..n];
        for at in 0..n {
            let (x, y) = normals([length[at], angle[at], sign[at]]);
            location[at] = centre[at] + sd[at] * x;
            ln_scale[at] = ln_width[at] - ln_by_series(y);
            one_over_scale[at] = y / width[at];
        }
    }

    #[inline(always)]
    fn weigh(&mut self) {
        let n = self.n;
        let Bases { centre, one_over_sd, rate, ln_constant, .. } = &self.base;
        let (centre, one_over_sd) = (&centre[..n], &one_over_sd[..n]);
        let (rate, ln_constant) = (&rate[..n], &ln_constant[..n]);
        let Thetas { location, ln_scale, one_over_scale } = &self.thetas;
        let (location, ln_scale) = (&location[..n], &ln_scale[..n]);
        let one_over_scale = &one_over_scale[..n];
        let [ln_base, sum, _] = &mut self.numbers;
        let (ln_base, sum) = (&mut ln_base[..n], &mut sum[..n]);
        for at in 0..n {
            let x = (location[at] - centre[at]) * one_over_sd[at];
            let over_square = one_over_scale[at] * one_over_scale[at];
            ln_base[at] = ln_constant[at] - ln_scale[at] - (0.5 * x * x + rate[at] * over_square);
            [sum[at]] = exp_of_all([ln_base[at]]);
        }
        for fit in &self.fits {
            let [c, d] = fit.centre.each_ref().map(|numbers| &numbers[..n]);
            let [v, w] = fit.one_over_width.each_ref().map(|numbers| &numbers[..n]);
            let top = &fit.top[..n];
            for at in 0..n {
                let (x, y) = ((location[at] - c[at]) * v[at], (ln_scale[at] - d[at]) * w[at]);
                let distance = (1.0 + x * x) * (1.0 + y * y);
                sum[at] += top[at] / (distance * distance * distance.sqrt());
            }
        }
        let ln_ratio = &mut self.ln_ratio[..n];
        for at in 0..n {
            ln_ratio[at] = ln_base[at] - ln_by_series(sum[at] * (1.0 / SHARES as f64));
        }
    }
}

/// A number of Student's t distribution with 4 degrees of freedom, from three that are uniform on (0, 1): t/√(4 + t²) has a
/// density ∝ 1 − x² on (−1, 1), like the median of three uniform numbers.
#[inline(always)]
fn t4([a, b, c]: [f64; 3]) -> f64 {
    let (low, high) = (if a < b { a } else { b }, if a < b { b } else { a });
    let high = if high < c { high } else { c };
    let median = if low > high { low } else { high };
    (2.0 * median - 1.0) / (median * (1.0 - median)).sqrt()
}

/// The coefficients of sin x / x and cos x, as polynomials in x², up to where nothing is left for x ≤ ½ π.
const SERIES: [[f64; 11]; 2] = {
    let mut series = [[1.0; 11]; 2];
    let mut k = 1;
    while k < 11 {
        let even = 2.0 * k as f64;
        series[0][k] = -series[0][k - 1] / (even * (even + 1.0));
        series[1][k] = -series[1][k - 1] / (even * (even - 1.0));
        k += 1;
    }
    series
};

/// Σ cₖ xᵏ, even and odd k apart, as each waits for its last term.
#[inline(always)]
fn polynomial(c: &[f64; 11], x: f64) -> f64 {
    let square = x * x;
    let even =
        ((((c[10] * square + c[8]) * square + c[6]) * square + c[4]) * square + c[2]) * square;
    let odd = (((c[9] * square + c[7]) * square + c[5]) * square + c[3]) * square + c[1];
    c[0] + (even + x * odd)
}

/// Two normal numbers, the second without its sign (the method of Box and Muller).
#[inline(always)]
fn normals([length, angle, sign]: [f64; 3]) -> (f64, f64) {
    let length = (-2.0 * ln_by_series(length)).sqrt();
    let angle = 0.5 * std::f64::consts::PI * angle;
    let across = length * polynomial(&SERIES[1], angle * angle);
    // The sine, because it is precise where it is small.
    let up = length * angle * polynomial(&SERIES[0], angle * angle);
    (if sign < 0.5 { across } else { -across }, up)
}

#[cfg(test)]
mod tests {
    use super::super::super::nonconjugate::{Guide, Likelihood};
    use super::super::StudentT;
    use super::*;

    /// Tables with few and many columns, in units that are far apart.
    fn example(d: usize, unit: f64) -> StudentT {
        let value = |at: usize| unit * (libm::sin(at as f64 * 1.7) * 5.0 + (at % 3) as f64);
        StudentT::new(d, (0..6 * d).map(value).collect(), 4.0).expect("valid values")
    }

    fn fits(student: &StudentT, items: &[u32], coldness: f64) -> Vec<Option<Around>> {
        (0..student.d()).map(|column| student.fit(column, items, coldness)).collect()
    }

    /// Menus of item 1, whose blocks were these.
    fn menus(
        student: &StudentT,
        coldness: f64,
        random: &mut FourAtATime,
    ) -> (Vec<LocationScale>, Vec<f64>, [Vec<Option<Around>>; 2]) {
        let past = [&[0, 1, 2][..], &[1, 4]].map(|items| fits(student, items, coldness));
        let (mut theta, mut ln_weight) = (Vec::new(), Vec::new());
        let into = (&mut theta, &mut ln_weight);
        let done =
            student.draw_some(1, past.each_ref().map(Vec::as_slice), coldness, 8, random, into);
        assert_eq!(done, student.d());
        (theta, ln_weight, past)
    }

    /// Weights are those that are found one by one.
    #[test]
    fn weights_agree_with_the_guide() {
        let mut random = FourAtATime::new(&mut || 0.37);
        for d in [1, 4, 7, 40] {
            for (unit, coldness) in [(1.0, 1.0), (1e30, 0.3), (1e-40, 1.0)] {
                let student = example(d, unit);
                let (theta, ln_weight, past) = menus(&student, coldness, &mut random);
                assert_eq!((theta.len(), ln_weight.len()), (8 * d, 8 * d));
                let own = fits(&student, &[1], coldness);
                for (at, (theta, found)) in theta.iter().zip(&ln_weight).enumerate() {
                    let column = at / 8;
                    let fits = [&past[0], &past[1], &own].map(|fits| fits[column].as_ref());
                    let expected = Guide::new(&student, column, fits).ln_ratio(theta);
                    let error = (found - expected).abs();
                    assert!(error < 1e-11 * expected.abs().max(1.0), "{found}, not {expected}");
                    let again = LocationScale::new(theta.location, theta.ln_scale);
                    let error = theta.one_over_scale / again.one_over_scale - 1.0;
                    assert!(error.abs() < 1e-12 * theta.ln_scale.abs().max(1.0), "{error}");
                }
            }
        }
    }

    #[test]
    fn rows_with_gaps_are_left_to_others() {
        let mut values: Vec<f64> = (0..3 * 70).map(f64::from).collect();
        values[70 + 40] = f64::NAN;
        let student = StudentT::new(70, values, 4.0).expect("valid values");
        let fits = fits(&student, &[0, 2], 1.0);
        let (mut theta, mut ln_weight) = (Vec::new(), Vec::new());
        let mut random = FourAtATime::new(&mut || 0.37);
        let into = (&mut theta, &mut ln_weight);
        let done = student.draw_some(1, [&fits, &fits], 1.0, 4, &mut random, into);
        assert_eq!((done, theta.len(), ln_weight.len()), (COLUMNS, 4 * COLUMNS, 4 * COLUMNS));
    }

    /// Kolmogorov's test at p = 7e-6, of what must be uniform on (0, 1).
    fn check_uniform(mut numbers: Vec<f64>) {
        let n = numbers.len() as f64;
        numbers.sort_by(f64::total_cmp);
        let off = numbers.iter().enumerate().map(|(k, x)| (x - (k as f64 + 0.5) / n).abs());
        let off = off.fold(0.0, f64::max) * n.sqrt();
        assert!(off < 2.5, "{off}");
    }

    /// Draws from each share, through the distribution functions that they must have; also their product, for what depends on both.
    #[test]
    fn draws_come_from_their_shares() {
        let student = example(2, 1.0);
        let past = [&[0, 1, 2][..], &[1, 4]].map(|items| fits(&student, items, 1.0));
        let own = fits(&student, &[1], 1.0);
        let mut random = FourAtATime::new(&mut || 0.71);
        let t4 = |t: f64| {
            let s = t / (4.0 + t * t).sqrt();
            0.5 + 0.75 * s - 0.25 * s * s * s
        };
        let mut seen = vec![(Vec::new(), Vec::new()); SHARES];
        for _ in 0..20_000 {
            let (theta, _, _) = menus(&student, 1.0, &mut random);
            // The second column; two entries from each share.
            for (at, theta) in theta[8..].iter().enumerate() {
                let (first, second) = &mut seen[at % SHARES];
                match [&past[0], &past[1], &own].get(at % SHARES) {
                    Some(fits) => {
                        let fit = fits[1].expect("a fit");
                        first.push(t4((theta.location - fit.centre[0]) / fit.sd[0]));
                        second.push(t4((theta.ln_scale - fit.centre[1]) / fit.sd[1]));
                    }
                    None => {
                        let Column { centre, location_sd, rate, .. } = student.columns[1];
                        let x = (theta.location - centre) / location_sd;
                        first.push(0.5 + 0.5 * libm::erf(x / 2f64.sqrt()));
                        // 2b/s² is the square of a normal number.
                        second.push(libm::erf(rate.sqrt() * libm::exp(-theta.ln_scale)));
                    }
                }
            }
        }
        for (first, second) in seen {
            // u + v beyond 1 begins again: uniform if u and v are independent.
            check_uniform(first.iter().zip(&second).map(|(u, v)| (u + v) % 1.0).collect());
            let product = |(u, v): (&f64, &f64)| u * v * (1.0 - libm::log(u * v));
            check_uniform(first.iter().zip(&second).map(product).collect());
            check_uniform(first);
            check_uniform(second);
        }
    }

    #[test]
    fn sines_and_cosines_agree_with_libm() {
        for k in 1..10_000 {
            let x = f64::from(k) * 0.5e-4 * std::f64::consts::PI;
            let sine = x * polynomial(&SERIES[0], x * x) / libm::sin(x) - 1.0;
            let cosine = polynomial(&SERIES[1], x * x) - libm::cos(x);
            assert!(sine.abs() < 1e-15 && cosine.abs() < 1e-15, "{x}: {sine}, {cosine}");
        }
    }
}
