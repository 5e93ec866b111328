//! Student's t: real values in blocks with outliers, location and scale of their own in each column.

use super::nonconjugate::{Likelihood, Nonconjugate, Uniform};
use crate::data;
use crate::error::{Error, Result};
use crate::special::{fast_ln, ln_gamma};
use std::f64::consts::PI;

/// Degrees of freedom unless others are asked for.
pub const DEGREES_OF_FREEDOM: f64 = 4.0;

/// Parameters on a menu unless others are asked for.
pub const ENTRIES: usize = 4;

/// A fit has the tails of a t distribution with so many degrees of freedom.
const TAILS: f64 = 4.0;

/// Rounds that are made to find the centre of a fit.
const ROUNDS: usize = 8;

/// y ~ t(ν) · s + μ in each column of a block, with μ ~ N(c, (2w)²) and ln s ~ N(ln(w/4), 1) there, where c is the
/// median of the column and w = √(π/2) times its mean absolute deviation from c: the standard deviation if
/// the column were normal, but not at the mercy of single outliers. Missing values are NaN.
#[derive(Debug, Clone)]
pub struct StudentT {
    n: usize,
    /// Row after row.
    values: Vec<f64>,
    columns: Vec<Column>,
    degrees: f64,
    /// ln f(0 | 0, 1).
    ln_peak: f64,
}

/// H of a column.
#[derive(Debug, Clone, Copy)]
struct Column {
    centre: f64,
    location_sd: f64,
    ln_scale: f64,
}

/// The standard deviation of ln s.
const LN_SCALE_SD: f64 = 1.0;

/// Location and scale. Densities are with respect to dμ d ln s.
#[derive(Debug, Clone, Copy)]
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
        let one_over_scale = libm::exp(-ln_scale.clamp(-300.0, 300.0));
        LocationScale { location, ln_scale, one_over_scale }
    }
}

/// Independent t distributions of location and log scale.
#[derive(Debug, Clone, Copy)]
pub struct Around {
    location: (f64, f64),
    ln_scale: (f64, f64),
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
        let n = values.len() / columns.len().max(1);
        StudentT { n, values, columns, degrees, ln_peak }
    }

    /// Written parameters, as numbers of standard deviations from their means under H.
    pub fn standardised(&self, column: usize, reals: &[f64]) -> (f64, f64) {
        let Column { centre, location_sd, ln_scale } = self.columns[column];
        ((reals[0] - centre) / location_sd, (reals[1] - ln_scale) / LN_SCALE_SD)
    }

    fn value(&self, item: usize, column: usize) -> f64 {
        self.values[item * self.columns.len() + column]
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
        Column { centre, location_sd: 2.0 * width, ln_scale: libm::log(0.25 * width) }
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
    fn ln_f(&self, item: usize, column: usize, theta: &LocationScale) -> f64 {
        let y = self.value(item, column);
        if y.is_nan() { 0.0 } else { self.ln_value(column, y, theta) }
    }

    #[inline]
    fn ln_value(&self, _column: usize, value: f64, theta: &LocationScale) -> f64 {
        self.ln_peak - theta.ln_scale
            + ln_t(self.degrees, (value - theta.location) * theta.one_over_scale)
    }

    fn draw_base(&self, column: usize, uniform: &mut Uniform<'_>) -> LocationScale {
        let Column { centre, location_sd, ln_scale } = self.columns[column];
        let location = centre + location_sd * draw_normal(uniform);
        LocationScale::new(location, ln_scale + LN_SCALE_SD * draw_normal(uniform))
    }

    fn ln_base(&self, column: usize, theta: &LocationScale) -> f64 {
        let Column { centre, location_sd, ln_scale } = self.columns[column];
        ln_normal(theta.location, centre, location_sd)
            + ln_normal(theta.ln_scale, ln_scale, LN_SCALE_SD)
    }

    fn fit(&self, column: usize, items: &[u32]) -> Option<Around> {
        let values = items.iter().map(|&item| self.value(item as usize, column));
        let mut values: Vec<f64> = values.filter(|y| !y.is_nan()).collect();
        if values.is_empty() {
            return None;
        }
        values.sort_by(f64::total_cmp);
        let Column { ln_scale, .. } = self.columns[column];
        let (n, nu) = (values.len() as f64, self.degrees);
        // The mode by reweighting, from the median on, with one made-up value for the scale.
        let prior_square = libm::exp(2.0 * ln_scale);
        let mut location = values[values.len() / 2];
        let away: f64 = values.iter().map(|y| (y - location).abs()).sum::<f64>() / n;
        let mut square = (prior_square + n * away * away) / (1.0 + n);
        for _ in 0..if values.len() == 1 { 0 } else { ROUNDS } {
            let (mut weights, mut sum, mut squares) = (0.0, 0.0, 0.0);
            for y in &values {
                let away = (y - location) * (y - location);
                let weight = (nu + 1.0) / (nu + away / square);
                weights += weight;
                sum += weight * (y - location);
                squares += weight * away;
            }
            location += sum / weights;
            square = (prior_square + squares) / (1.0 + n);
        }
        // Widths from the information that a value of t(ν) has, and the prior of the scale.
        let location_sd = (square * (nu + 3.0) / ((nu + 1.0) * n)).sqrt();
        let ln_scale_sd = 1.0 / (LN_SCALE_SD.powi(-2) + n * 2.0 * nu / (nu + 3.0)).sqrt();
        Some(Around {
            location: (location, location_sd),
            ln_scale: (0.5 * libm::log(square), ln_scale_sd),
        })
    }

    fn draw_fit(&self, fit: &Around, uniform: &mut Uniform<'_>) -> LocationScale {
        let mut draw = |(centre, sd): (f64, f64)| centre + sd * draw_t(TAILS, uniform);
        LocationScale::new(draw(fit.location), draw(fit.ln_scale))
    }

    fn ln_fit(&self, fit: &Around, theta: &LocationScale) -> f64 {
        // Γ(5/2) / (Γ(2) √(4π)) = 3/8.
        let ln_density = |x: f64, (centre, sd): (f64, f64)| {
            libm::log(0.375 / sd) + ln_t(TAILS, (x - centre) / sd)
        };
        ln_density(theta.location, fit.location) + ln_density(theta.ln_scale, fit.ln_scale)
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
        let location = theta.location + size * scale * draw_normal(uniform);
        LocationScale::new(location, theta.ln_scale + size * draw_normal(uniform))
    }

    fn mean(&self, theta: &LocationScale) -> f64 {
        theta.location
    }

    fn example(n: usize) -> Self {
        let value = |at: usize| 0.5 * (at * at % 7) as f64 + 0.3 * at as f64;
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

/// ln of the density of t(ν), without its constant.
#[inline]
fn ln_t(degrees: f64, t: f64) -> f64 {
    -0.5 * (degrees + 1.0) * fast_ln(1.0 + t * t / degrees)
}

fn ln_normal(x: f64, mean: f64, sd: f64) -> f64 {
    let away = (x - mean) / sd;
    -0.5 * away * away - libm::log(sd) - 0.5 * libm::log(2.0 * PI)
}

/// Box and Muller: the length and the direction of a normal point in the plane.
fn draw_normal(uniform: &mut Uniform<'_>) -> f64 {
    let length = (-2.0 * libm::log(1.0 - uniform())).sqrt();
    length * libm::cos(2.0 * PI * uniform())
}

/// Bailey's method, likewise for Student's t.
fn draw_t(degrees: f64, uniform: &mut Uniform<'_>) -> f64 {
    let length = (degrees * libm::expm1(-2.0 / degrees * libm::log(1.0 - uniform()))).sqrt();
    length * libm::cos(2.0 * PI * uniform())
}

/// The mixture of t distributions.
pub type StudentMixture = Nonconjugate<StudentT>;
