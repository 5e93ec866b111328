//! Products of many distances, some entries of menus or blocks side by side, and powers of distances: what takes the
//! place of a logarithm for each value.

use crate::special::{Arithmetic, FOUR, Lane, exp_of_all, exp_of_safe, ln_of_all, ln_on};
use std::f64::consts::LN_2;

/// No distance is larger than this, so that `TOGETHER` of them can be multiplied.
pub const FARTHEST: f64 = (1u128 << 120) as f64 * (1u128 << 120) as f64;

/// So many distances are multiplied until the product is settled.
pub(super) const TOGETHER: usize = 4;

/// Products of numbers that are not below 1, one or four side by side, which may be larger than any float.
#[derive(Clone, Copy)]
pub(super) struct Products<A: Arithmetic> {
    arithmetic: A,
    mantissa: A::Numbers,
    /// Of 2.
    exponent: A::Numbers,
}

impl<A: Arithmetic> Products<A> {
    /// Products of nothing.
    #[inline(always)]
    pub(super) fn one(arithmetic: A) -> Self {
        Products { arithmetic, mantissa: arithmetic.all(1.0), exponent: arithmetic.all(0.0) }
    }

    /// Multiplies; after [`TOGETHER`] distances at most, or one number of any size, follows [`Products::settle`].
    #[inline(always)]
    pub(super) fn multiply(&mut self, factors: A::Numbers) {
        self.mantissa = self.arithmetic.multiply(self.mantissa, factors);
    }

    /// Moves powers of 2 out of the way.
    #[inline(always)]
    pub(super) fn settle(&mut self) {
        let (exponent, mantissa) = self.arithmetic.split(self.mantissa);
        self.exponent = self.arithmetic.add(self.exponent, exponent);
        self.mantissa = mantissa;
    }

    /// Not more than the logarithms of settled products, and less than 0.06 below them.
    #[inline(always)]
    pub(super) fn ln_at_least(&self) -> A::Numbers {
        // The logarithm of a number from 1 to 2 lies above the chord.
        let arithmetic = self.arithmetic;
        let part = arithmetic.subtract(self.mantissa, arithmetic.all(1.0));
        arithmetic.multiply(arithmetic.add(self.exponent, part), arithmetic.all(LN_2))
    }

    /// The logarithms of settled products; exactly 0 of 1. Of what is not meant it is 0.
    #[inline(always)]
    pub(super) fn ln(&self) -> [f64; FOUR] {
        let (mut mantissa, mut exponent) = ([1.0; FOUR], [0.0; FOUR]);
        self.arithmetic.store(self.mantissa, &mut mantissa);
        self.arithmetic.store(self.exponent, &mut exponent);
        let mut ln = [0.0; FOUR];
        self.arithmetic.store(ln_on(self.arithmetic, self.mantissa), &mut ln);
        std::array::from_fn(|at| match mantissa[at] == 1.0 && exponent[at] == 0.0 {
            true => 0.0,
            false => exponent[at] * LN_2 + ln[at],
        })
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

    /// What is kept of two c.
    #[inline(always)]
    pub(super) fn keep(self, ln_c: [f64; 2]) -> [f64; 2] {
        match self {
            Power::Halves(_) => exp_of_safe(ln_c),
            Power::Any(_) => ln_c,
        }
    }

    /// c xᵉ of one number, from what is kept of c.
    #[inline]
    pub(super) fn raise(self, kept: f64, x: f64) -> f64 {
        match self {
            Power::Halves(5) => FiveHalves.raise(Lane(0), kept, x),
            Power::Halves(halves) => Halves(halves).raise(Lane(0), kept, x),
            Power::Any(e) => Any(e).raise(Lane(0), kept, x),
        }
    }

    /// What is kept of c = 0.
    pub(super) fn nothing(self) -> f64 {
        match self {
            Power::Halves(_) => 0.0,
            Power::Any(_) => f64::NEG_INFINITY,
        }
    }
}

/// How c xᵉ is computed. These are types, so that loops know which it is.
pub(super) trait Raise: Copy {
    /// c xᵉ, from what is kept of c; perhaps 0 if that is below e⁻⁵⁰.
    fn raise<A: Arithmetic>(self, arithmetic: A, kept: A::Numbers, x: A::Numbers) -> A::Numbers;
}

/// e = 5/2, the usual one.
#[derive(Clone, Copy)]
pub(super) struct FiveHalves;

impl Raise for FiveHalves {
    #[inline(always)]
    fn raise<A: Arithmetic>(self, arithmetic: A, kept: A::Numbers, x: A::Numbers) -> A::Numbers {
        let square = arithmetic.multiply(x, x);
        arithmetic.multiply(arithmetic.multiply(kept, square), arithmetic.root(x))
    }
}

/// e is half of this, up to [`MOST_HALVES`].
#[derive(Clone, Copy)]
pub(super) struct Halves(pub(super) u32);

impl Raise for Halves {
    #[inline(always)]
    fn raise<A: Arithmetic>(self, arithmetic: A, kept: A::Numbers, x: A::Numbers) -> A::Numbers {
        let mut product = kept;
        if self.0 % 2 == 1 {
            product = arithmetic.multiply(product, arithmetic.root(x));
        }
        for _ in 0..self.0 / 2 {
            product = arithmetic.multiply(product, x);
        }
        product
    }
}

/// Any e.
#[derive(Clone, Copy)]
pub(super) struct Any(pub(super) f64);

impl Raise for Any {
    #[inline(always)]
    fn raise<A: Arithmetic>(self, arithmetic: A, kept: A::Numbers, x: A::Numbers) -> A::Numbers {
        let (mut c, mut all) = ([0.0; FOUR], [1.0; FOUR]);
        arithmetic.store(kept, &mut c);
        arithmetic.store(x, &mut all);
        let ln = ln_of_all(&all);
        arithmetic.load(&exp_of_all(std::array::from_fn(|at| c[at] + self.0 * ln[at])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::{OnFours, on_fours};

    #[test]
    fn products_of_any_length_have_logarithms() {
        struct Multiply<'a>(&'a mut [f64; FOUR], &'a mut [f64; FOUR]);
        impl OnFours for Multiply<'_> {
            fn with<A: Arithmetic>(self, arithmetic: A) {
                let mut products = Products::one(arithmetic);
                for step in 0..400u32 {
                    let few = 1.0 + 1e-9 * f64::from(step);
                    let factors = [1.0 + f64::from(step), FARTHEST, few, 1.0];
                    products.multiply(arithmetic.load(&factors));
                    (0..FOUR).for_each(|at| self.1[at] += libm::log(factors[at]));
                    if step as usize % TOGETHER == TOGETHER - 1 {
                        products.settle();
                    }
                }
                *self.0 = products.ln();
            }
        }
        let (mut ln, mut expected) = ([0.0; FOUR], [0.0; FOUR]);
        on_fours(Multiply(&mut ln, &mut expected));
        for (ln, expected) in ln.iter().zip(expected) {
            assert!((ln - expected).abs() < 1e-11 * expected.max(1.0), "{ln} ≠ {expected}");
        }
        assert_eq!(ln[3], 0.0);
    }

    #[test]
    fn powers_are_powers() {
        for e in [0.5, 1.0, 1.5, 2.5, 3.0, 3.5, 0.7, 12.25] {
            let power = Power::new(e);
            for x in [1e-9, 0.3, 1.0, 7.7, 1e8] {
                for ln_c in [-3.0, 0.5] {
                    let expected = libm::exp(ln_c + e * libm::log(x));
                    let [kept, other] = power.keep([ln_c, ln_c]);
                    assert_eq!(kept, other);
                    let found = power.raise(kept, x);
                    let small = expected < 1e-21 && found == 0.0;
                    assert!(small || (found / expected - 1.0).abs() < 1e-13, "{e}, {x}: {found}");
                }
            }
            assert_eq!(power.raise(power.nothing(), 3.0), 0.0);
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
