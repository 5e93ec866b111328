//! Exponentials of many numbers at once, for weights.

use super::simd::Arithmetic;

/// So many numbers are worked on together, so that compilers use vector instructions.
pub const LANES: usize = 2;

/// The exponential of what is not larger is 0.
pub const HOPELESS: f64 = -50.0;

/// So many numbers are few.
const FEW: usize = 4;

/// ln 2 in two parts, the first with zeros at its end, so that its multiples are exact.
const LN_2: (f64, f64) = (6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10);

/// Adding this rounds to an integer and leaves it in the last bits.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// 1/2!, 1/3!, … 1/13!.
const FACTORIALS: [f64; 12] = {
    let mut inverse = [0.5; 12];
    let (mut k, mut factorial) = (1, 2.0);
    while k < 12 {
        factorial *= k as f64 + 2.0;
        inverse[k] = 1.0 / factorial;
        k += 1;
    }
    inverse
};

/// Makes `out` exp(x − largest) for each x and returns the sum; no x is greater than `largest`. What is
/// below e⁻⁵⁰ becomes 0: it would not change the sum, nor be chosen by a random number of 53 bits.
/// There must be a multiple of [`LANES`] values; −∞ fills up.
///
/// Written out rather than taken from a library, because this is a tenth of all computing time
/// otherwise. The error is below two units in the last place.
#[inline]
pub fn exponentials(values: &[f64], largest: f64, out: &mut [f64]) -> f64 {
    debug_assert!(values.len().is_multiple_of(LANES) && values.len() == out.len());
    let mut sums = [0.0; LANES];
    for (x, y) in values.as_chunks::<LANES>().0.iter().zip(out.as_chunks_mut::<LANES>().0) {
        let x = x.map(|x| x - largest);
        // Where there are many candidates most are hopeless, and so are their neighbours. Where there are few, nothing can foresee it.
        if values.len() > FEW && x.iter().all(|&x| x <= HOPELESS) {
            *y = [0.0; LANES];
            continue;
        }
        *y = exp_of_all(x);
        for (sum, y) in sums.iter_mut().zip(y) {
            *sum += *y;
        }
    }
    sums.iter().sum()
}

/// eˣ for every x below 700; 0 below −50. Plain loops, for which there are vector instructions.
#[inline(always)]
pub fn exp_of_all<const N: usize>(x: [f64; N]) -> [f64; N] {
    std::array::from_fn(|lane| {
        let found = exp_within(x[lane]);
        if x[lane] > HOPELESS { found } else { 0.0 }
    })
}

/// eˣ for x from −700 to 700, and for what is farther out as if it were there.
#[inline(always)]
pub fn exp_of_safe<const N: usize>(x: [f64; N]) -> [f64; N] {
    std::array::from_fn(|lane| exp_within(x[lane].clamp(-700.0, 700.0)))
}

/// eˣ for x from −700 to 700, and else anything: x = n ln 2 + r, and |r| < 0.35 leaves a polynomial.
#[inline(always)]
fn exp_within(x: f64) -> f64 {
    let rounded = x * std::f64::consts::LOG2_E + ROUND;
    let n = rounded - ROUND;
    let r = (x - n * LN_2.0) - n * LN_2.1;
    // In pairs and pairs of pairs, because a processor can do several at once.
    let r2 = r * r;
    let r4 = r2 * r2;
    let pair = |k: usize| FACTORIALS[k] + FACTORIALS[k + 1] * r;
    let low = pair(0) + pair(2) * r2;
    let middle = pair(4) + pair(6) * r2;
    let high = pair(8) + pair(10) * r2;
    let power = 1.0 + (r + r2 * (low + r4 * (middle + r4 * high)));
    f64::from_bits(power.to_bits().wrapping_add(rounded.to_bits() << 52))
}

/// [`exp_of_all`] where it is said what is a vector, the same to the last bit.
#[inline(always)]
pub(crate) fn exp_on<A: Arithmetic>(arithmetic: A, x: A::Numbers) -> A::Numbers {
    let all = |number: f64| arithmetic.all(number);
    let (plus, minus) = (|a, b| arithmetic.add(a, b), |a, b| arithmetic.subtract(a, b));
    let times = |a, b| arithmetic.multiply(a, b);
    let rounded = plus(times(x, all(std::f64::consts::LOG2_E)), all(ROUND));
    let n = minus(rounded, all(ROUND));
    let r = minus(minus(x, times(n, all(LN_2.0))), times(n, all(LN_2.1)));
    let r2 = times(r, r);
    let r4 = times(r2, r2);
    let pair = |k: usize| plus(all(FACTORIALS[k]), times(all(FACTORIALS[k + 1]), r));
    let low = plus(pair(0), times(pair(2), r2));
    let middle = plus(pair(4), times(pair(6), r2));
    let high = plus(pair(8), times(pair(10), r2));
    let series = plus(low, times(r4, plus(middle, times(r4, high))));
    let power = plus(all(1.0), plus(r, times(r2, series)));
    let scaled = arithmetic.scale(power, rounded);
    arithmetic.each(
        [x, scaled, scaled],
        #[inline(always)]
        |[x, scaled, _]| if x > HOPELESS { scaled } else { 0.0 },
    )
}

#[cfg(test)]
mod tests {
    use super::super::simd::{OnFours, on_fours};
    use super::*;

    #[test]
    fn vectors_have_the_same_exponentials() {
        struct Exp([f64; 4]);
        impl OnFours for Exp {
            fn with<A: Arithmetic>(self, arithmetic: A) {
                let mut found = [0.0; 4];
                arithmetic.store(exp_on(arithmetic, arithmetic.load(&self.0)), &mut found);
                assert_eq!(found.map(f64::to_bits), exp_of_all(self.0).map(f64::to_bits));
            }
        }
        for k in 0..10_000 {
            let x = f64::from(k) * 0.01;
            on_fours(Exp([x, -x, 0.1 * x - 50.0, f64::NEG_INFINITY]));
        }
    }

    #[test]
    fn exponentials_agree_with_libm() {
        let xs: Vec<f64> = (0..2_000_000).map(|k| f64::from(k) * -2.51e-5).collect();
        let mut out = vec![0.0; xs.len()];
        exponentials(&xs, 0.0, &mut out);
        for x in (0..700_000).map(|k| f64::from(k) * 1e-3) {
            let ([y], expected) = (exp_of_all([x]), libm::exp(x));
            assert!((y / expected - 1.0).abs() < 4.5e-16, "exp({x}) = {expected}, not {y}");
        }
        for x in (-7_000..7_000).map(|k| f64::from(k) * 0.1) {
            let ([y], expected) = (exp_of_safe([x]), libm::exp(x));
            assert!((y / expected - 1.0).abs() < 4.5e-16, "exp({x}) = {expected}, not {y}");
        }
        let far = exp_of_safe([-1e5, f64::NEG_INFINITY, 1e5]);
        assert_eq!(far, exp_of_safe([-700.0, -700.0, 700.0]));
        for (x, y) in xs.iter().zip(&out) {
            let expected = libm::exp(*x);
            let error = (y - expected).abs() / expected;
            assert!(error < 4.5e-16 || *x <= -50.0, "exp({x}) = {expected}, not {y}");
        }
        let mut out = [0.0; 4];
        exponentials(&[0.0, -50.5, -1e300, f64::NEG_INFINITY], 0.0, &mut out);
        assert_eq!(out, [1.0, 0.0, 0.0, 0.0]);
        let sum = exponentials(&[3.0, 2.0, 1.0, f64::NEG_INFINITY], 3.0, &mut out);
        assert!((sum - (1.0 + libm::exp(-1.0) + libm::exp(-2.0))).abs() < 1e-15);
    }
}
