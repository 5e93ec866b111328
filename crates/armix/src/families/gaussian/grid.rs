//! Real values as whole numbers, so that sums of them are exact.

/// Real values as whole multiples of a unit, from the middle of their range: sums of them and of their
/// products are exact. The unit is at most 2⁻⁵⁰ of the range, or more for millions of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    middle: f64,
    unit: f64,
    bits: i32,
}

impl Grid {
    /// For up to `largest` values like these.
    pub fn new(values: impl Iterator<Item = f64>, largest: u64) -> Self {
        let wide = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = values.fold(wide, |(low, high), x| (low.min(x), high.max(x)));
        if low > high {
            return Grid { middle: 0.0, unit: 1.0, bits: 1 };
        }
        // Σk² ≤ n 2²ᵇ must stay below 2¹²⁶.
        let bits = 52.min((126 - (64 - largest.leading_zeros())) / 2) as i32;
        // A single value is in the middle, whatever the unit.
        let range = if high > low { (high - low).max(1e-140) } else { high.abs().max(1.0) };
        let (_, exponent) = libm::frexp(range);
        let unit = libm::ldexp(1.0, exponent - bits);
        Grid { middle: low + (high - low) / 2.0, unit, bits }
    }

    /// Places are within ± so many.
    pub fn reach(&self) -> i64 {
        1 << (self.bits - 1)
    }

    /// The nearest multiple.
    #[inline]
    pub fn place(&self, x: f64) -> i64 {
        libm::round((x - self.middle) / self.unit) as i64
    }

    /// Where a value is on the grid, between its points.
    #[inline]
    pub fn position(&self, x: f64) -> f64 {
        (x - self.middle) / self.unit
    }

    /// The value of a multiple.
    #[inline]
    pub fn value(&self, place: f64) -> f64 {
        self.middle + self.unit * place
    }

    /// The distance of its points.
    pub fn unit(&self) -> f64 {
        self.unit
    }
}

/// The mean of n places that add up to `sum`: a whole number q near it, and what remains of the sum.
#[inline]
pub(crate) fn divide(sum: i128, n: i128) -> (i128, i128) {
    // Divisions of short numbers are much faster.
    let q = match (i64::try_from(sum), n as i64) {
        (Ok(sum), n) => i128::from(sum / n),
        _ => sum / n,
    };
    (q, sum - q * n)
}
