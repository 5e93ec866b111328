//! A logarithm that is twice as fast as that of a library, for the kernels of large networks.

use super::simd::{Arithmetic, FOUR};
use std::sync::LazyLock;

/// The mantissa is cut into so many pieces.
const PIECES: usize = 128;

/// For each piece about 1/m, and the logarithm of its inverse.
static TABLE: LazyLock<[(f64, f64); PIECES]> = LazyLock::new(|| {
    std::array::from_fn(|piece| {
        let inverse = 1.0 / (1.0 + (piece as f64 + 0.5) / PIECES as f64);
        (inverse, -libm::log(inverse))
    })
});

/// ln x for a normal x > 0, with an error below 2 units in the last place where ln x is not near 0.
///
/// x = 2ᵉ m, and m / (middle of its piece) = 1 + r with |r| < 0.004 leaves a short series.
#[inline]
pub fn ln(x: f64) -> f64 {
    const MANTISSA: u64 = (1 << 52) - 1;
    let bits = x.to_bits();
    let exponent = (bits >> 52) as i64 - 1023;
    let (inverse, ln_middle) = TABLE[(bits >> 45) as usize % PIECES];
    let m = f64::from_bits(bits & MANTISSA | 1023 << 52);
    let r = m * inverse - 1.0;
    let r2 = r * r;
    let high = 1.0 / 3.0 - r * 0.25 + r2 * (0.2 - r * (1.0 / 6.0));
    let series = r - r2 * (0.5 - r * high);
    exponent as f64 * std::f64::consts::LN_2 + (ln_middle + series)
}

/// [`ln`] of several numbers, the same to the last bit: plain loops, for which there are vector instructions.
#[inline(always)]
pub fn ln_of_all<const N: usize>(numbers: &[f64; N]) -> [f64; N] {
    const MANTISSA: u64 = (1 << 52) - 1;
    // 2⁵² and a whole number below it, as a float: there is no vector instruction that converts.
    const TWO_TO_52: u64 = (1023 + 52) << 52;
    let table = &*TABLE;
    let (mut inverse, mut ln_middle) = ([0.0; N], [0.0; N]);
    for at in 0..N {
        (inverse[at], ln_middle[at]) = table[(numbers[at].to_bits() >> 45) as usize % PIECES];
    }
    let mut logarithms = [0.0; N];
    for at in 0..N {
        let bits = numbers[at].to_bits();
        let exponent = f64::from_bits(bits >> 52 | TWO_TO_52) - ((1u64 << 52) + 1023) as f64;
        let m = f64::from_bits(bits & MANTISSA | 1023 << 52);
        let r = m * inverse[at] - 1.0;
        let r2 = r * r;
        let high = 1.0 / 3.0 - r * 0.25 + r2 * (0.2 - r * (1.0 / 6.0));
        let series = r - r2 * (0.5 - r * high);
        logarithms[at] = exponent * std::f64::consts::LN_2 + (ln_middle[at] + series);
    }
    logarithms
}

/// [`ln_of_all`] where it is said what is a vector, the same to the last bit.
#[inline(always)]
pub(crate) fn ln_on<A: Arithmetic>(arithmetic: A, numbers: A::Numbers) -> A::Numbers {
    let all = |number: f64| arithmetic.all(number);
    let (plus, minus) = (|a, b| arithmetic.add(a, b), |a, b| arithmetic.subtract(a, b));
    let times = |a, b| arithmetic.multiply(a, b);
    let (table, mut each) = (&*TABLE, [1.0; FOUR]);
    arithmetic.store(numbers, &mut each);
    let pieces = each.map(|x: f64| table[(x.to_bits() >> 45) as usize % PIECES]);
    let inverse = arithmetic.load(&pieces.map(|(inverse, _)| inverse));
    let ln_middle = arithmetic.load(&pieces.map(|(_, ln_middle)| ln_middle));
    let (exponent, m) = arithmetic.split(numbers);
    let r = minus(times(m, inverse), all(1.0));
    let r2 = times(r, r);
    let last = times(r2, minus(all(0.2), times(r, all(1.0 / 6.0))));
    let high = plus(minus(all(1.0 / 3.0), times(r, all(0.25))), last);
    let series = minus(r, times(r2, minus(all(0.5), times(r, high))));
    plus(times(exponent, all(std::f64::consts::LN_2)), plus(ln_middle, series))
}

/// ln x for a normal x > 0, by a series instead of a table, so that loops over this become vector instructions. The error is
/// below 2 units in the last place, also where ln x is near 0.
///
/// x = 2ᵉ m with √½ ≤ m < √2, and ln m = 2 artanh s = 2 (s + s³/3 + …) with s = (m − 1) / (m + 1).
#[inline(always)]
pub fn ln_by_series(x: f64) -> f64 {
    const MANTISSA: u64 = (1 << 52) - 1;
    // 2⁵² and a whole number below it, as a float: there is no vector instruction that converts.
    const TWO_TO_52: u64 = (1023 + 52) << 52;
    const ROOT: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();
    // What is left of the series, for |s| ≤ 3 − √8 as right as it can be with seven numbers.
    const C: [f64; 7] = [
        0.666_666_666_666_667,
        0.399_999_999_998_995_04,
        0.285_714_286_259_754_85,
        0.222_222_111_347_950_8,
        0.181_828_891_252_617_22,
        0.153_317_216_005_560_41,
        0.146_164_496_850_434_06,
    ];
    let above = x.to_bits().wrapping_add((1023 << 52) - ROOT);
    let exponent = f64::from_bits(above >> 52 | TWO_TO_52) - ((1u64 << 52) + 1023) as f64;
    let m = f64::from_bits((above & MANTISSA) + ROOT);
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let z2 = z * z;
    // Two sums, as each waits for its last term.
    let even = ((C[6] * z2 + C[4]) * z2 + C[2]) * z2 + C[0];
    let odd = (C[5] * z2 + C[3]) * z2 + C[1];
    (exponent * std::f64::consts::LN_2 + 2.0 * s) + s * z * (even + z * odd)
}

#[cfg(test)]
mod tests {
    use super::super::simd::{OnFours, on_fours};
    use super::*;

    #[test]
    fn vectors_have_the_same_logarithms() {
        struct Ln([f64; FOUR]);
        impl OnFours for Ln {
            fn with<A: Arithmetic>(self, arithmetic: A) {
                let mut found = [0.0; FOUR];
                arithmetic.store(ln_on(arithmetic, arithmetic.load(&self.0)), &mut found);
                assert_eq!(found.map(f64::to_bits), ln_of_all(&self.0).map(f64::to_bits));
            }
        }
        for k in 1..10_000 {
            let x = f64::from(k) * 0.37;
            on_fours(Ln([x, 1.0 / x, 1.0 + 1e-4 * x, x * 1e200]));
        }
    }

    #[test]
    fn the_logarithm_agrees_with_libm() {
        let mut x = 1.5;
        while x < 1e18 {
            let (fast, expected) = (ln(x), libm::log(x));
            assert!(
                (fast - expected).abs() < 4.5e-16 * expected.max(1.0),
                "ln {x} = {expected}, not {fast}"
            );
            x *= 1.000_037;
        }
    }

    #[test]
    fn the_series_agrees_with_libm() {
        let mut x = f64::MIN_POSITIVE;
        while x < 1e300 {
            let numbers = [x, 1.000_3 * x, 1.4 * x, 1.0 / x, 1.0 + x.sqrt(), 1.0 - x.min(0.9)];
            for x in numbers {
                let (fast, expected) = (ln_by_series(x), libm::log(x));
                assert!((fast - expected).abs() <= 4.5e-16 * expected.abs(), "ln {x}: {fast}");
            }
            x *= 1.003_7;
        }
    }

    #[test]
    fn logarithms_of_several_are_the_same() {
        let mut x = f64::MIN_POSITIVE;
        while x < 1e300 {
            let numbers = [x, 1.000_3 * x, 1.4 * x, 1.0 / x];
            assert_eq!(ln_of_all(&numbers), numbers.map(ln), "{numbers:?}");
            x *= 1.037;
        }
    }
}
