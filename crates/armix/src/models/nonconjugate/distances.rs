//! Products of many distances, some entries of menus or blocks side by side, and powers of distances: what takes the
//! place of a logarithm for each value.

use crate::special::{exp_of_all, ln_of_all};
use std::f64::consts::LN_2;

/// No distance is larger than this, so that `TOGETHER` of them can be multiplied.
pub const FARTHEST: f64 = (1u128 << 120) as f64 * (1u128 << 120) as f64;

/// So many distances are multiplied until the product is settled.
pub(super) const TOGETHER: usize = 4;

/// Products of numbers that are not below 1, N of them side by side, which may be larger than any float.
#[derive(Clone, Copy)]
pub(super) struct Products<const N: usize> {
    mantissa: [f64; N],
    /// Of 2.
    exponent: [f64; N],
}

impl<const N: usize> Products<N> {
    pub(super) const ONE: Self = Products { mantissa: [1.0; N], exponent: [0.0; N] };

    /// Multiplies; after [`TOGETHER`] distances at most, or one number of any size, follows [`Products::settle`].
    #[inline(always)]
    pub(super) fn multiply(&mut self, factors: [f64; N]) {
        for at in 0..N {
            self.mantissa[at] *= factors[at];
        }
    }

    /// Moves powers of 2 out of the way.
    #[inline(always)]
    pub(super) fn settle(&mut self) {
        const MANTISSA: u64 = (1 << 52) - 1;
        // 2⁵² and a whole number below it, as a float: there is no vector instruction that converts.
        const TWO_TO_52: u64 = (1023 + 52) << 52;
        for at in 0..N {
            let bits = self.mantissa[at].to_bits();
            self.exponent[at] +=
                f64::from_bits(bits >> 52 | TWO_TO_52) - ((1u64 << 52) + 1023) as f64;
            self.mantissa[at] = f64::from_bits(bits & MANTISSA | 1023 << 52);
        }
    }

    /// Which of the settled products are 1.
    #[inline(always)]
    pub(super) fn are_one(&self) -> [bool; N] {
        std::array::from_fn(|at| self.mantissa[at] == 1.0 && self.exponent[at] == 0.0)
    }

    /// The logarithms of settled products.
    #[inline(always)]
    pub(super) fn ln(&self) -> [f64; N] {
        let ln = ln_of_all(&self.mantissa);
        std::array::from_fn(|at| self.exponent[at] * LN_2 + ln[at])
    }
}

/// Not less than ln x, and not more than ln 2 above it, for x ≥ 1.
pub(super) fn ln_at_most(x: f64) -> f64 {
    ((x.to_bits() >> 52) as f64 - 1022.0) * LN_2
}

/// x ↦ c xᵉ for ratios x of distances. Coefficients are kept as [`Power::keep`] says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Power {
    /// e is half of this: no logarithm is needed.
    Halves(u32),
    /// Any e.
    Any(f64),
}

/// Beyond this nothing overflows for distances up to [`FARTHEST`].
const MOST_HALVES: f64 = 6.0;

impl Power {
    pub(super) fn new(e: f64) -> Self {
        let halves = 2.0 * e;
        match halves == halves.trunc() && (1.0..=MOST_HALVES).contains(&halves) {
            true => Power::Halves(halves as u32),
            false => Power::Any(e),
        }
    }

    /// What is kept of c.
    pub(super) fn keep(self, ln_c: f64) -> f64 {
        match self {
            Power::Halves(_) => libm::exp(ln_c),
            Power::Any(_) => ln_c,
        }
    }

    /// What is kept of c = 0.
    pub(super) fn nothing(self) -> f64 {
        match self {
            Power::Halves(_) => 0.0,
            Power::Any(_) => f64::NEG_INFINITY,
        }
    }

    /// c xᵉ; perhaps 0 if that is below e⁻⁵⁰.
    #[inline(always)]
    pub(super) fn raise<const N: usize>(self, kept: [f64; N], x: [f64; N]) -> [f64; N] {
        match self {
            Power::Halves(halves) => {
                let mut product = kept;
                if halves % 2 == 1 {
                    product = std::array::from_fn(|at| product[at] * x[at].sqrt());
                }
                for _ in 0..halves / 2 {
                    product = std::array::from_fn(|at| product[at] * x[at]);
                }
                product
            }
            Power::Any(e) => {
                let ln = ln_of_all(&x);
                exp_of_all(std::array::from_fn(|at| kept[at] + e * ln[at]))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_any_length_have_logarithms() {
        let (mut products, mut expected) = (Products::<3>::ONE, [0.0; 3]);
        for step in 0..400u32 {
            let factors = [1.0 + f64::from(step), FARTHEST, 1.0 + 1e-9 * f64::from(step)];
            products.multiply(factors);
            (0..3).for_each(|at| expected[at] += libm::log(factors[at]));
            if step as usize % TOGETHER == TOGETHER - 1 {
                products.settle();
            }
        }
        for (ln, expected) in products.ln().iter().zip(expected) {
            assert!((ln - expected).abs() < 1e-11 * expected.max(1.0), "{ln} ≠ {expected}");
        }
    }

    #[test]
    fn powers_are_powers() {
        for e in [0.5, 1.0, 1.5, 2.5, 3.0, 3.5, 0.7, 12.25] {
            let power = Power::new(e);
            for x in [1e-9, 0.3, 1.0, 7.7, 1e8] {
                for ln_c in [-3.0, 0.5] {
                    let expected = libm::exp(ln_c + e * libm::log(x));
                    let [found] = power.raise([power.keep(ln_c)], [x]);
                    let small = expected < 1e-21 && found == 0.0;
                    assert!(small || (found / expected - 1.0).abs() < 1e-13, "{e}, {x}: {found}");
                }
            }
            assert_eq!(power.raise([power.nothing()], [3.0]), [0.0]);
        }
    }

    #[test]
    fn bounds_of_logarithms_hold() {
        for x in [1.0, 1.5, 2.0, 3.999, 1e10, FARTHEST] {
            let above = ln_at_most(x) - libm::log(x);
            assert!((0.0..=LN_2 + 1e-12).contains(&above), "{x}");
        }
    }
}
