//! Student's t: real values in blocks with outliers, location and scale of their own in each column.

mod rows;

use super::nonconjugate::{FARTHEST, LEAST_LIKELY, Likelihood, Nonconjugate, Uniform};
use crate::data;
use crate::error::{Error, Result};
use crate::special::{FourAtATime, exp_of_all, fast_ln, ln_gamma};
use rows::{COLUMNS, Row, SHARES};
use std::f64::consts::PI;

/// Degrees of freedom unless others are asked for.
pub const DEGREES_OF_FREEDOM: f64 = 4.0;

/// Parameters on a menu unless others are asked for.
pub const ENTRIES: usize = 4;

/// Rounds that are made to find the centre of a fit.
const ROUNDS: usize = 5;

/// y ~ t(ν) · s + μ in each column of a block, with μ ~ N(c, (2w)²) and 1/s² ~ Gamma(½, b) there, where c is the
/// median of the column and w = √(π/2) times its mean absolute deviation from c: the standard deviation if
/// the column were normal, but not at the mercy of single outliers. b is such that the mean of ln s is ln(w/4); its standard deviation
/// is 1.11. Missing values are NaN.
///
/// Small s are unlikely as exp(−b/s²): values are rounded, and among n equal ones no other prior keeps s⁻ⁿ at bay.
#[derive(Debug, Clone)]
pub struct StudentT {
    n: usize,
    /// Row after row.
    values: Vec<f64>,
    /// Column after column.
    by_column: Vec<f64>,
    columns: Vec<Column>,
    ranges: Vec<Range>,
    degrees: f64,
    /// ln f(0 | 0, 1).
    ln_peak: f64,
    /// 1 / √ν.
    one_over_root: f64,
    /// Distances are cut here.
    farthest: f64,
}

/// H of a column.
#[derive(Debug, Clone, Copy)]
struct Column {
    centre: f64,
    location_sd: f64,
    /// The mean of ln s.
    ln_scale: f64,
    /// b.
    rate: f64,
    /// ½ ln 2b, and √2b.
    ln_width: f64,
    width: f64,
    /// ln H without what depends on θ …
    ln_constant: f64,
    /// … if locations are in units of their standard deviation.
    ln_constant_in_units: f64,
}

/// The least and the largest value of a column.
type Range = (f64, f64);

/// The standard deviation of ln s: ½ √ψ′(½) = π / √8.
const LN_SCALE_SD: f64 = PI / (2.0 * std::f64::consts::SQRT_2);

/// ψ(½): the mean of the logarithm of a number from Gamma(½, 1).
const MEAN_LN_GAMMA: f64 = -1.963_510_026_021_423_5;

/// Location and scale. Densities are with respect to dμ d ln s.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocationScale {
    /// μ.
    pub location: f64,
    /// ln s.
    pub ln_scale: f64,
    one_over_scale: f64,
}

impl LocationScale {
    fn new(location: f64, ln_scale: f64) -> Self {
        // Nothing overflows; beyond these bounds H is 0 for all practical purposes.
        let one_over_scale = match ln_scale.abs() < 49.0 {
            true => exp_of_all([-ln_scale])[0],
            false => libm::exp(-ln_scale.clamp(-300.0, 300.0)),
        };
        LocationScale { location, ln_scale, one_over_scale }
    }
}

/// Independent t distributions of location and log scale, with 4 degrees of freedom each.
#[derive(Debug, Clone, Copy)]
pub struct Around {
    centre: [f64; 2],
    sd: [f64; 2],
    /// 1 / (2 sd).
    one_over_width: [f64; 2],
    /// The density at the centre.
    top: f64,
}

impl Around {
    /// Γ(5/2) / (Γ(2) √(4π)) = 3/8, twice.
    const TOP: f64 = 0.140_625;

    fn new(centre: [f64; 2], sd: [f64; 2]) -> Self {
        let top = Around::TOP / (sd[0] * sd[1]);
        Around { centre, sd, one_over_width: sd.map(|sd| 0.5 / sd), top }
    }
}

impl StudentT {
    /// The rows of columns of reals. The first rows alone set the scale of H if the columns say so.
    pub fn of(columns: &[&data::Column], degrees: f64) -> Result<Self> {
        let n = columns.first().map_or(0, |column| column.cells().len());
        let values = (0..n).flat_map(|row| columns.iter().map(move |c| c.cells()[row])).collect();
        let mut student = StudentT::new(columns.len(), values, degrees)?;
        for (own, column) in student.columns.iter_mut().zip(columns) {
            *own = Column::new(column.cells()[..column.reference()].iter().copied());
        }
        Ok(student)
    }

    /// The rows of a table of d columns, row after row; NaN is missing.
    pub fn new(d: usize, values: Vec<f64>, degrees: f64) -> Result<Self> {
        if !(0.5..=1e6).contains(&degrees) {
            return Err(Error::new(format!(
                "{degrees} degrees of freedom are not possible: use a number from 0.5 (very heavy tails) to 1e6 (nearly normal), such as 4"
            )));
        }
        let columns = (0..d).map(|c| Column::new(values.iter().skip(c).step_by(d).copied()));
        let columns = columns.collect();
        Ok(StudentT::with_columns(values, columns, degrees))
    }

    fn with_columns(values: Vec<f64>, columns: Vec<Column>, degrees: f64) -> Self {
        let ln_peak = ln_gamma(0.5 * (degrees + 1.0))
            - ln_gamma(0.5 * degrees)
            - 0.5 * libm::log(degrees * PI);
        let d = columns.len();
        let n = values.len() / d.max(1);
        let column = |c: usize| values.iter().copied().skip(c).step_by(d);
        let range = |c: usize| {
            let known = column(c).filter(|y| !y.is_nan());
            let first = known.clone().next().unwrap_or_default();
            known.fold((first, first), |(low, high): Range, y| (low.min(y), high.max(y)))
        };
        StudentT {
            n,
            by_column: (0..d).flat_map(column).collect(),
            ranges: (0..d).map(range).collect(),
            values,
            columns,
            degrees,
            ln_peak,
            one_over_root: 1.0 / degrees.sqrt(),
            farthest: FARTHEST.min(libm::exp(LEAST_LIKELY / (0.5 * (degrees + 1.0)))),
        }
    }

    /// Written parameters, as numbers of standard deviations from their means under H.
    pub fn standardised(&self, column: usize, reals: &[f64]) -> (f64, f64) {
        let Column { centre, location_sd, ln_scale, .. } = self.columns[column];
        ((reals[0] - centre) / location_sd, (reals[1] - ln_scale) / LN_SCALE_SD)
    }
}

impl Column {
    fn new(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.filter(|x| !x.is_nan()).collect();
        values.sort_by(f64::total_cmp);
        let n = values.len();
        let centre = if n == 0 { 0.0 } else { 0.5 * (values[(n - 1) / 2] + values[n / 2]) };
        let away: f64 = values.iter().map(|x| (x - centre).abs() / n as f64).sum();
        // A column that is constant has no scale.
        let width = if away > 1e-12 * centre.abs() { (0.5 * PI).sqrt() * away } else { 1.0 };
        let (location_sd, ln_scale) = (2.0 * width, libm::log(0.25 * width));
        let rate = libm::exp(2.0 * ln_scale + MEAN_LN_GAMMA);
        Column {
            centre,
            location_sd,
            ln_scale,
            rate,
            ln_width: 0.5 * fast_ln(2.0 * rate),
            width: (2.0 * rate).sqrt(),
            ln_constant: 0.5 * libm::log(2.0 * rate) - libm::log(PI * location_sd),
            ln_constant_in_units: 0.5 * libm::log(2.0 * rate) - libm::log(PI),
        }
    }
}

impl Likelihood for StudentT {
    const NAME: &'static str = "student-t";
    const REALS: usize = 2;
    type Parameter = LocationScale;
    type Fit = Around;

    fn n(&self) -> usize {
        self.n
    }

    fn d(&self) -> usize {
        self.columns.len()
    }

    fn write(&self, theta: &LocationScale, reals: &mut Vec<f64>) {
        reals.extend([theta.location, theta.ln_scale]);
    }

    fn read(&self, reals: &[f64]) -> LocationScale {
        LocationScale::new(reals[0], reals[1])
    }

    #[inline]
    fn row(&self, item: usize) -> &[f64] {
        &self.values[item * self.columns.len()..][..self.columns.len()]
    }

    #[inline]
    fn column(&self, column: usize) -> &[f64] {
        &self.by_column[column * self.n..][..self.n]
    }

    fn exponent(&self) -> f64 {
        0.5 * (self.degrees + 1.0)
    }

    #[inline]
    fn ln_top(&self, _column: usize, theta: &LocationScale) -> f64 {
        self.ln_peak - theta.ln_scale
    }

    #[inline]
    fn coordinates(&self, theta: &LocationScale) -> [f64; 2] {
        [theta.location, theta.one_over_scale * self.one_over_root]
    }

    #[inline(always)]
    fn distance(&self, value: f64, [location, one_over_scale]: [f64; 2]) -> f64 {
        let t = (value - location) * one_over_scale;
        let distance = 1.0 + t * t;
        if distance < self.farthest { distance } else { self.farthest }
    }

    #[inline]
    fn farthest(&self, column: usize, theta: &LocationScale) -> f64 {
        let (low, high) = self.ranges[column];
        let [low, high] = [low, high].map(|y| self.distance(y, self.coordinates(theta)));
        if high > low { high } else { low }
    }

    fn ratio_at_most(&self, a: [f64; 2], b: [f64; 2]) -> f64 {
        // λ δ(y, b) − δ(y, a) is quadratic in y, and nowhere negative if λ is not less than the larger root of λ² − p λ + r.
        let (r, far) = ((a[1] / b[1]) * (a[1] / b[1]), (a[0] - b[0]) * a[1]);
        let p = 1.0 + far * far + r;
        0.5 * (p + (p * p - 4.0 * r).max(0.0).sqrt())
    }

    fn product_at_least(&self, a: [f64; 2], b: [f64; 2]) -> f64 {
        // Both at the larger scale: (1 + x²)(1 + (far − x)²) is least where the product of x and far − x is 1, or nearest to it.
        let (apart, less) = ((a[0] - b[0]).abs(), a[1].min(b[1]));
        let far = apart * apart * less * less;
        let alike = if far < 4.0 { (1.0 + 0.25 * far) * (1.0 + 0.25 * far) } else { far };
        // Each at its own: a value is as far from one of them as the place is where both are equally far.
        let between = apart / (1.0 / a[1] + 1.0 / b[1]);
        alike.max(1.0 + between * between).min(self.farthest)
    }

    fn draw_base(&self, column: usize, uniform: &mut Uniform<'_>) -> LocationScale {
        let Column { centre, location_sd, rate, .. } = self.columns[column];
        // The square of a normal number is from Gamma(½, ½).
        let (x, y) = draw_normals(uniform);
        let ln_scale = 0.5 * fast_ln(2.0 * rate) - fast_ln(y.abs().max(1e-300));
        LocationScale::new(centre + location_sd * x, ln_scale)
    }

    fn ln_base(&self, column: usize, theta: &LocationScale) -> f64 {
        let Column { centre, location_sd, rate, ln_constant, .. } = self.columns[column];
        let x = (theta.location - centre) / location_sd;
        let over_square = theta.one_over_scale * theta.one_over_scale;
        ln_constant - theta.ln_scale - (0.5 * x * x + rate * over_square)
    }

    fn fit(&self, column: usize, items: &[u32], coldness: f64) -> Option<Around> {
        let nu = self.degrees;
        let prior_square = 2.0 * self.columns[column].rate;
        // Widths from the information that a value of t(ν) has, and the prior of the scale. One value is used up by the location.
        let around = |location: f64, square: f64, n: f64| {
            let location_sd = (square * (nu + 3.0) / ((nu + 1.0) * n)).sqrt();
            let others = (n - coldness) * 2.0 * nu / (nu + 3.0);
            let ln_scale_sd = 1.0 / (LN_SCALE_SD.powi(-2) + others).sqrt();
            Around::new([location, 0.5 * fast_ln(square)], [location_sd, ln_scale_sd])
        };
        let of_items = self.column(column);
        if let [item] = *items {
            let value = of_items[item as usize];
            return (!value.is_nan()).then(|| around(value, prior_square, coldness));
        }
        let values = items.iter().map(|&item| of_items[item as usize]);
        let mut values: Vec<f64> = values.filter(|y| !y.is_nan()).collect();
        if values.is_empty() {
            return None;
        }
        let n = coldness * values.len() as f64;
        // The mode by reweighting, from the median on.
        let middle = values.len() / 2;
        let mut location = *values.select_nth_unstable_by(middle, f64::total_cmp).1;
        let away: f64 = values.iter().map(|y| (y - location).abs()).sum::<f64>();
        let away = away / values.len() as f64;
        let mut square = (prior_square + n * away * away) / (1.0 + n - coldness);
        for _ in 0..if values.len() == 1 { 0 } else { ROUNDS } {
            let (mut weights, mut sum, mut squares) = (0.0, 0.0, 0.0);
            let one_over_square = 1.0 / square;
            for y in &values {
                let away = (y - location) * (y - location);
                let weight = (nu + 1.0) / (nu + away * one_over_square);
                weights += weight;
                sum += weight * (y - location);
                squares += weight * away;
            }
            location += sum / weights;
            square = (prior_square + coldness * squares) / (1.0 + n - coldness);
        }
        Some(around(location, square, n))
    }

    fn draw_fit(&self, fit: &Around, uniform: &mut Uniform<'_>) -> LocationScale {
        let [location, ln_scale] = [0, 1].map(|at| fit.centre[at] + fit.sd[at] * draw_t4(uniform));
        LocationScale::new(location, ln_scale)
    }

    #[inline]
    fn fit_density(&self, fit: &Around, theta: &LocationScale) -> f64 {
        let x = (theta.location - fit.centre[0]) * fit.one_over_width[0];
        let y = (theta.ln_scale - fit.centre[1]) * fit.one_over_width[1];
        let distance = (1.0 + x * x) * (1.0 + y * y);
        fit.top / (distance * distance * distance.sqrt())
    }

    #[inline(always)]
    fn draw_some(
        &self,
        item: usize,
        past: [&[Option<Around>]; 2],
        coldness: f64,
        entries: usize,
        random: &mut FourAtATime,
        (theta, ln_weight): (&mut Vec<LocationScale>, &mut Vec<f64>),
    ) -> usize {
        let (d, begin) = (self.columns.len(), theta.len());
        theta.resize(begin + d * entries, LocationScale::default());
        ln_weight.resize(begin + d * entries, 0.0);
        let mut row = Row::EMPTY;
        for from in (0..d).step_by(COLUMNS) {
            let columns = from..d.min(from + COLUMNS);
            let values = &self.row(item)[columns.clone()];
            let fits = past.map(|fits| &fits[columns.clone()]);
            let how = (self.degrees, coldness);
            if !row.begin(values, &self.columns[columns.clone()], fits, how) {
                theta.truncate(begin + from * entries);
                ln_weight.truncate(begin + from * entries);
                return from;
            }
            for entry in 0..entries {
                row.draw(entry % SHARES, random);
                for (at, column) in columns.clone().enumerate() {
                    let into = begin + column * entries + entry;
                    (theta[into], ln_weight[into]) = row.drawn(at);
                }
            }
        }
        d
    }

    fn wander(
        &self,
        column: usize,
        items: usize,
        theta: &LocationScale,
        uniform: &mut Uniform<'_>,
    ) -> LocationScale {
        // Of a size that depends on nothing but the column and the number of items.
        let size = libm::pow(4.0, 1.0 - 2.0 * uniform()) / (1.0 + items as f64).sqrt();
        let scale = libm::exp(self.columns[column].ln_scale);
        let (x, y) = draw_normals(uniform);
        LocationScale::new(theta.location + size * scale * x, theta.ln_scale + size * y)
    }

    fn mean(&self, theta: &LocationScale) -> f64 {
        theta.location
    }

    fn example(n: usize) -> Self {
        // Such that no partition has nearly all of the posterior, or mistakes would hardly be seen.
        let value = |at: usize| (3 * at % 7) as f64 + 0.2 * at as f64;
        let mut values: Vec<f64> = (0..2 * n).map(value).collect();
        if n % 2 == 1 {
            values[1] = f64::NAN;
            values[4] = f64::NAN;
        }
        StudentT::new(2, values, DEGREES_OF_FREEDOM).expect("an example is valid")
    }

    fn simulate(
        &self,
        theta: &dyn Fn(usize, usize) -> LocationScale,
        uniform: &mut Uniform<'_>,
    ) -> Self {
        let d = self.columns.len();
        let mut values = self.values.clone();
        for (at, value) in values.iter_mut().enumerate().filter(|(_, value)| !value.is_nan()) {
            let LocationScale { location, ln_scale, .. } = theta(at / d, at % d);
            *value = location + libm::exp(ln_scale) * draw_t(self.degrees, uniform);
        }
        StudentT::with_columns(values, self.columns.clone(), self.degrees)
    }
}

/// A point of the unit disk, and its squared distance from the centre, which is not 0.
#[inline]
fn draw_from_disk(uniform: &mut Uniform<'_>) -> (f64, f64, f64) {
    loop {
        let (x, y) = (2.0 * uniform() - 1.0, 2.0 * uniform() - 1.0);
        let square = x * x + y * y;
        if square < 1.0 && square > 1e-300 {
            return (x, y, square);
        }
    }
}

/// Two normal numbers (Marsaglia's polar method).
fn draw_normals(uniform: &mut Uniform<'_>) -> (f64, f64) {
    let (x, y, square) = draw_from_disk(uniform);
    let stretch = (-2.0 * fast_ln(square) / square).sqrt();
    (x * stretch, y * stretch)
}

/// A number of Student's t distribution with 4 degrees of freedom (Bailey's polar method).
fn draw_t4(uniform: &mut Uniform<'_>) -> f64 {
    let (x, _, square) = draw_from_disk(uniform);
    x * (4.0 * (1.0 / square.sqrt() - 1.0) / square).sqrt()
}

/// The same with any degrees of freedom.
fn draw_t(degrees: f64, uniform: &mut Uniform<'_>) -> f64 {
    let length = (degrees * libm::expm1(-2.0 / degrees * libm::log(1.0 - uniform()))).sqrt();
    length * libm::cos(2.0 * PI * uniform())
}

/// The mixture of t distributions.
pub type StudentMixture = Nonconjugate<StudentT>;

#[cfg(test)]
mod tests {
    use super::*;

    fn thirty_equal_of_sixty() -> StudentT {
        let values = (0..60).map(|i| if i < 30 { 2.0 } else { 0.1 * f64::from(i) }).collect();
        StudentT::new(1, values, DEGREES_OF_FREEDOM).expect("valid values")
    }

    #[test]
    fn the_prior_is_a_density() {
        let student = thirty_equal_of_sixty();
        let Column { centre, location_sd, ln_scale, .. } = student.columns[0];
        let (mut total, mut mean, mut square, step) = (0.0, 0.0, 0.0, 0.05);
        for x in -160..160 {
            for y in -200..1200 {
                let (x, y) = (step * f64::from(x), step * f64::from(y));
                let theta = LocationScale::new(centre + location_sd * x, ln_scale + y);
                let p = libm::exp(student.ln_base(0, &theta)) * location_sd * step * step;
                (total, mean, square) = (total + p, mean + p * y, square + p * y * y);
            }
        }
        assert!((total - 1.0).abs() < 1e-6 && mean.abs() < 1e-6, "{total}, {mean}");
        assert!((square - LN_SCALE_SD * LN_SCALE_SD).abs() < 1e-6, "{square}");
    }

    /// Under a normal prior of ln s it would be thirty standard deviations.
    #[test]
    fn equal_values_do_not_make_scales_vanish() {
        let student = thirty_equal_of_sixty();
        let ln_joint = |y: f64| {
            let theta = LocationScale::new(2.0, student.columns[0].ln_scale + y);
            student.ln_base(0, &theta) + 30.0 * student.ln_value(0, 2.0, &theta)
        };
        let ys = (-400..0).map(|y| 0.1 * f64::from(y));
        let best = ys.max_by(|&a, &b| ln_joint(a).total_cmp(&ln_joint(b))).expect("a highest");
        assert!((-3.0..-1.0).contains(&best), "{best}");
    }

    /// No value has a larger ratio of distances or a smaller product than is said, at any two scales; the ratio is reached.
    #[test]
    fn distances_from_two_places_are_bounded() {
        let student = thirty_equal_of_sixty();
        let mut seed = 0.0;
        let mut number = |low: f64, high: f64| {
            seed += 1.0;
            low + (high - low) * (0.5 + 0.5 * libm::sin(seed * seed))
        };
        for _ in 0..500 {
            let [a, b] = [(); 2].map(|()| [number(-2.0, 2.0), libm::exp(number(-5.0, 5.0))]);
            let ratio_at_most = student.ratio_at_most(a, b);
            let product_at_least = student.product_at_least(a, b);
            let mut largest: f64 = 0.0;
            // From near both places to far away.
            for step in -4000..=4000 {
                for centre in [a[0], b[0]] {
                    let y = centre + libm::sinh(0.005 * f64::from(step)) * 1e-3;
                    let [from_a, from_b] = [a, b].map(|place| student.distance(y, place));
                    largest = largest.max(from_a / from_b);
                    assert!(from_a / from_b <= ratio_at_most * (1.0 + 1e-9), "{a:?}, {b:?}, {y}");
                    assert!(
                        from_a * from_b >= product_at_least * (1.0 - 1e-9),
                        "{a:?}, {b:?}, {y}: {product_at_least}"
                    );
                }
            }
            assert!(largest > 0.98 * ratio_at_most, "{a:?}, {b:?}: {largest}, {ratio_at_most}");
        }
        assert_eq!(student.product_at_least([1.0, 2.0], [1.0, 3.0]), 1.0);
    }
}
