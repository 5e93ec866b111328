//! The vector instructions that the processor has, where programs are compiled for any processor.
//!
//! Results are the same to the last bit everywhere: sums and products are never fused, and their order is as it is written.

/// Does something with as wide vectors as there are. What is done must be inlined to profit.
#[inline(always)]
pub(crate) fn with_wide_vectors<R>(f: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(f)
}

/// So many numbers lie side by side.
pub(crate) const FOUR: usize = 4;

/// Numbers of four that lie side by side, one of them or all, and how they are added and multiplied.
///
/// Where plain loops over arrays of four become poor code, this says what is a vector.
pub(crate) trait Arithmetic: Copy {
    /// One number, or four.
    type Numbers: Copy;

    /// The same number everywhere.
    fn all(self, number: f64) -> Self::Numbers;
    /// Those of four.
    fn load(self, four: &[f64; FOUR]) -> Self::Numbers;
    /// Back to where they lie side by side; what is not meant stays as it is.
    fn store(self, numbers: Self::Numbers, four: &mut [f64; FOUR]);
    /// a + b.
    fn add(self, a: Self::Numbers, b: Self::Numbers) -> Self::Numbers;
    /// a − b.
    fn subtract(self, a: Self::Numbers, b: Self::Numbers) -> Self::Numbers;
    /// a · b.
    fn multiply(self, a: Self::Numbers, b: Self::Numbers) -> Self::Numbers;
    /// a / b.
    fn divide(self, a: Self::Numbers, b: Self::Numbers) -> Self::Numbers;
    /// √a.
    fn root(self, a: Self::Numbers) -> Self::Numbers;
    /// a if it is less than b, and else b.
    fn smaller(self, a: Self::Numbers, b: Self::Numbers) -> Self::Numbers;
    /// Some function of three numbers; it becomes vector instructions if it is simple.
    fn each(self, of: [Self::Numbers; 3], f: impl Fn([f64; 3]) -> f64) -> Self::Numbers;
    /// a where something is known, and b where it is not a number.
    fn where_known(self, known: Self::Numbers, a: Self::Numbers, b: Self::Numbers)
    -> Self::Numbers;
    /// e and m of positive normal numbers 2ᵉ m, with 1 ≤ m < 2.
    fn split(self, a: Self::Numbers) -> (Self::Numbers, Self::Numbers);
    /// 2ⁿ a, where n is what the last bits of a second number are.
    fn scale(self, a: Self::Numbers, n: Self::Numbers) -> Self::Numbers;
}

const MANTISSA: u64 = (1 << 52) - 1;

/// The bits of 1.
const ONE: u64 = 1023 << 52;

/// 2⁵² and a whole number below it, as a float: there is no vector instruction that converts.
const TWO_TO_52: u64 = (1023 + 52) << 52;

/// What is too much then.
const TOO_MUCH: f64 = ((1u64 << 52) + 1023) as f64;

/// [`Arithmetic::split`] of one number.
#[inline(always)]
fn split_one(a: f64) -> (f64, f64) {
    let bits = a.to_bits();
    (f64::from_bits(bits >> 52 | TWO_TO_52) - TOO_MUCH, f64::from_bits(bits & MANTISSA | ONE))
}

/// [`Arithmetic::scale`] of one number.
#[inline(always)]
fn scale_one(a: f64, n: f64) -> f64 {
    f64::from_bits(a.to_bits().wrapping_add(n.to_bits() << 52))
}

/// [`Arithmetic::where_known`] of one number.
#[inline(always)]
fn one_where_known(known: f64, a: f64, b: f64) -> f64 {
    if known.is_nan() { b } else { a }
}

/// What is done with all four numbers at a time.
pub(crate) trait OnFours {
    /// Does it.
    fn with<A: Arithmetic>(self, arithmetic: A);
}

/// Does something with four numbers at a time, by the widest vectors that there are.
#[inline(always)]
pub(crate) fn on_fours(work: impl OnFours) {
    #[cfg(target_arch = "x86_64")]
    if let Some(vectors) = pulp::x86::V3::try_new() {
        return vectors.vectorize(
            #[inline(always)]
            || work.with(vectors),
        );
    }
    work.with(Loops);
}

/// The number in one lane alone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lane(pub(crate) usize);

impl Arithmetic for Lane {
    type Numbers = f64;

    #[inline(always)]
    fn all(self, number: f64) -> f64 {
        number
    }
    #[inline(always)]
    fn load(self, four: &[f64; FOUR]) -> f64 {
        four[self.0]
    }
    #[inline(always)]
    fn store(self, number: f64, four: &mut [f64; FOUR]) {
        four[self.0] = number;
    }
    #[inline(always)]
    fn add(self, a: f64, b: f64) -> f64 {
        a + b
    }
    #[inline(always)]
    fn subtract(self, a: f64, b: f64) -> f64 {
        a - b
    }
    #[inline(always)]
    fn multiply(self, a: f64, b: f64) -> f64 {
        a * b
    }
    #[inline(always)]
    fn divide(self, a: f64, b: f64) -> f64 {
        a / b
    }
    #[inline(always)]
    fn root(self, a: f64) -> f64 {
        a.sqrt()
    }
    #[inline(always)]
    fn smaller(self, a: f64, b: f64) -> f64 {
        if a < b { a } else { b }
    }
    #[inline(always)]
    fn each(self, of: [f64; 3], f: impl Fn([f64; 3]) -> f64) -> f64 {
        f(of)
    }
    #[inline(always)]
    fn where_known(self, known: f64, a: f64, b: f64) -> f64 {
        one_where_known(known, a, b)
    }
    #[inline(always)]
    fn split(self, a: f64) -> (f64, f64) {
        split_one(a)
    }
    #[inline(always)]
    fn scale(self, a: f64, n: f64) -> f64 {
        scale_one(a, n)
    }
}

/// All four, by loops.
#[derive(Debug, Clone, Copy)]
struct Loops;

impl Arithmetic for Loops {
    type Numbers = [f64; FOUR];

    #[inline(always)]
    fn all(self, number: f64) -> [f64; FOUR] {
        [number; FOUR]
    }
    #[inline(always)]
    fn load(self, four: &[f64; FOUR]) -> [f64; FOUR] {
        *four
    }
    #[inline(always)]
    fn store(self, numbers: [f64; FOUR], four: &mut [f64; FOUR]) {
        *four = numbers;
    }
    #[inline(always)]
    fn add(self, a: [f64; FOUR], b: [f64; FOUR]) -> [f64; FOUR] {
        std::array::from_fn(|lane| a[lane] + b[lane])
    }
    #[inline(always)]
    fn subtract(self, a: [f64; FOUR], b: [f64; FOUR]) -> [f64; FOUR] {
        std::array::from_fn(|lane| a[lane] - b[lane])
    }
    #[inline(always)]
    fn multiply(self, a: [f64; FOUR], b: [f64; FOUR]) -> [f64; FOUR] {
        std::array::from_fn(|lane| a[lane] * b[lane])
    }
    #[inline(always)]
    fn divide(self, a: [f64; FOUR], b: [f64; FOUR]) -> [f64; FOUR] {
        std::array::from_fn(|lane| a[lane] / b[lane])
    }
    #[inline(always)]
    fn root(self, a: [f64; FOUR]) -> [f64; FOUR] {
        a.map(f64::sqrt)
    }
    #[inline(always)]
    fn smaller(self, a: [f64; FOUR], b: [f64; FOUR]) -> [f64; FOUR] {
        std::array::from_fn(|lane| if a[lane] < b[lane] { a[lane] } else { b[lane] })
    }
    #[inline(always)]
    fn each(self, of: [[f64; FOUR]; 3], f: impl Fn([f64; 3]) -> f64) -> [f64; FOUR] {
        std::array::from_fn(|lane| f(of.map(|numbers| numbers[lane])))
    }
    #[inline(always)]
    fn where_known(self, known: [f64; FOUR], a: [f64; FOUR], b: [f64; FOUR]) -> [f64; FOUR] {
        std::array::from_fn(|lane| one_where_known(known[lane], a[lane], b[lane]))
    }
    #[inline(always)]
    fn split(self, a: [f64; FOUR]) -> ([f64; FOUR], [f64; FOUR]) {
        let both = a.map(split_one);
        (both.map(|(exponent, _)| exponent), both.map(|(_, mantissa)| mantissa))
    }
    #[inline(always)]
    fn scale(self, a: [f64; FOUR], n: [f64; FOUR]) -> [f64; FOUR] {
        std::array::from_fn(|lane| scale_one(a[lane], n[lane]))
    }
}

#[cfg(target_arch = "x86_64")]
impl Arithmetic for pulp::x86::V3 {
    type Numbers = pulp::f64x4;

    #[inline(always)]
    fn all(self, number: f64) -> pulp::f64x4 {
        self.splat_f64x4(number)
    }
    #[inline(always)]
    fn load(self, four: &[f64; FOUR]) -> pulp::f64x4 {
        pulp::f64x4(four[0], four[1], four[2], four[3])
    }
    #[inline(always)]
    fn store(self, numbers: pulp::f64x4, four: &mut [f64; FOUR]) {
        *four = [numbers.0, numbers.1, numbers.2, numbers.3];
    }
    #[inline(always)]
    fn add(self, a: pulp::f64x4, b: pulp::f64x4) -> pulp::f64x4 {
        self.add_f64x4(a, b)
    }
    #[inline(always)]
    fn subtract(self, a: pulp::f64x4, b: pulp::f64x4) -> pulp::f64x4 {
        self.sub_f64x4(a, b)
    }
    #[inline(always)]
    fn multiply(self, a: pulp::f64x4, b: pulp::f64x4) -> pulp::f64x4 {
        self.mul_f64x4(a, b)
    }
    #[inline(always)]
    fn divide(self, a: pulp::f64x4, b: pulp::f64x4) -> pulp::f64x4 {
        self.div_f64x4(a, b)
    }
    #[inline(always)]
    fn root(self, a: pulp::f64x4) -> pulp::f64x4 {
        self.sqrt_f64x4(a)
    }
    #[inline(always)]
    fn smaller(self, a: pulp::f64x4, b: pulp::f64x4) -> pulp::f64x4 {
        self.min_f64x4(a, b)
    }
    #[inline(always)]
    fn each(self, of: [pulp::f64x4; 3], f: impl Fn([f64; 3]) -> f64) -> pulp::f64x4 {
        let [a, b, c] = of;
        pulp::f64x4(f([a.0, b.0, c.0]), f([a.1, b.1, c.1]), f([a.2, b.2, c.2]), f([a.3, b.3, c.3]))
    }
    #[inline(always)]
    fn where_known(self, known: pulp::f64x4, a: pulp::f64x4, b: pulp::f64x4) -> pulp::f64x4 {
        self.select_f64x4(self.is_nan_f64x4(known), b, a)
    }
    #[inline(always)]
    fn split(self, a: pulp::f64x4) -> (pulp::f64x4, pulp::f64x4) {
        let bits: pulp::u64x4 = pulp::cast(a);
        let high = self.or_u64x4(self.shr_const_u64x4::<52>(bits), self.splat_u64x4(TWO_TO_52));
        let low = self.and_u64x4(bits, self.splat_u64x4(MANTISSA));
        let exponent = self.sub_f64x4(pulp::cast(high), self.splat_f64x4(TOO_MUCH));
        (exponent, pulp::cast(self.or_u64x4(low, self.splat_u64x4(ONE))))
    }
    #[inline(always)]
    fn scale(self, a: pulp::f64x4, n: pulp::f64x4) -> pulp::f64x4 {
        let more = self.shl_const_u64x4::<52>(pulp::cast(n));
        pulp::cast(self.wrapping_add_u64x4(pulp::cast(a), more))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Mixture<'a>(&'a [[f64; FOUR]; 3], &'a mut [f64; FOUR]);

    impl OnFours for Mixture<'_> {
        fn with<A: Arithmetic>(self, arithmetic: A) {
            let [a, b, c] = self.0.each_ref().map(|four| arithmetic.load(four));
            let product = arithmetic.multiply(arithmetic.subtract(a, b), c);
            arithmetic.store(arithmetic.add(product, arithmetic.all(1.0 / 3.0)), self.1);
        }
    }

    /// Numbers whose products have more digits than a number has: what is fused would differ.
    #[test]
    fn all_ways_give_the_same_bits() {
        let number = |k: usize| libm::sqrt(2.0 + k as f64) / 3.0;
        let numbers: [[f64; FOUR]; 3] =
            std::array::from_fn(|row| std::array::from_fn(|lane| number(4 * row + lane)));
        let expected: [f64; FOUR] = std::array::from_fn(|lane| {
            (numbers[0][lane] - numbers[1][lane]) * numbers[2][lane] + 1.0 / 3.0
        });
        let fused = (0..FOUR).any(|lane| {
            let difference = numbers[0][lane] - numbers[1][lane];
            difference.mul_add(numbers[2][lane], 1.0 / 3.0) != expected[lane]
        });
        assert!(fused, "what is fused would not be noticed with these numbers");
        let (mut widest, mut loops) = ([0.0; FOUR], [0.0; FOUR]);
        on_fours(Mixture(&numbers, &mut widest));
        Mixture(&numbers, &mut loops).with(Loops);
        assert_eq!((widest, loops), (expected, expected));
        for lane in 0..FOUR {
            let mut one = [-7.0; FOUR];
            Mixture(&numbers, &mut one).with(Lane(lane));
            let others = (0..FOUR).filter(|&other| other != lane);
            assert_eq!(one[lane], expected[lane]);
            assert!(others.map(|other| one[other]).all(|left| left == -7.0));
        }
    }

    struct Others<'a>(&'a [[f64; FOUR]; 3], &'a mut [[f64; FOUR]; 7]);

    impl OnFours for Others<'_> {
        fn with<A: Arithmetic>(self, arithmetic: A) {
            let [a, b, c] = self.0.each_ref().map(|four| arithmetic.load(four));
            let (exponent, mantissa) = arithmetic.split(arithmetic.divide(a, b));
            let one = arithmetic.where_known(c, b, a);
            let (root, each) =
                (arithmetic.root(a), arithmetic.each([a, b, b], |[a, b, c]| a * b + c));
            let (quotient, smaller) = (arithmetic.divide(b, a), arithmetic.smaller(a, b));
            let found = [exponent, mantissa, one, root, each, quotient, smaller];
            self.1.iter_mut().zip(found).for_each(|(four, found)| arithmetic.store(found, four));
        }
    }

    #[test]
    fn quotients_roots_and_parts_have_the_same_bits() {
        let number = |k: usize| libm::exp(5.0 * libm::sin(1.0 + k as f64)) / 3.0;
        for from in 0..100 {
            let mut numbers: [[f64; FOUR]; 3] = std::array::from_fn(|row| {
                std::array::from_fn(|lane| number(from + 4 * row + lane))
            });
            numbers[2][from % FOUR] = f64::NAN;
            let [a, b, c] = numbers;
            let (mut widest, mut loops) = ([[0.0; FOUR]; 7], [[0.0; FOUR]; 7]);
            on_fours(Others(&numbers, &mut widest));
            Others(&numbers, &mut loops).with(Loops);
            assert_eq!(widest, loops);
            for lane in 0..FOUR {
                let (a, b, c) = (a[lane], b[lane], c[lane]);
                let known = if c.is_nan() { a } else { b };
                let exponent = (a / b).log2().floor();
                let mantissa = a / b / exponent.exp2();
                let (root, smaller) = (a.sqrt(), a.min(b));
                let expected = [exponent, mantissa, known, root, a * b + b, b / a, smaller];
                assert_eq!(widest.map(|four| four[lane]), expected);
                let mut one = [[0.0; FOUR]; 7];
                Others(&numbers, &mut one).with(Lane(lane));
                assert_eq!(one.map(|four| four[lane]), expected);
            }
        }
    }
}
