//! Random numbers for those who need very many of them at once, from a seed that others draw.

/// Random numbers four at a time (xoshiro256+ by Blackman and Vigna), where so many are needed that a stream of ChaCha8 takes longer
/// than all that is done with them. A stream gives the seed.
#[derive(Debug, Clone)]
pub struct FourAtATime([[u64; 4]; 4]);

impl FourAtATime {
    /// From numbers that are uniform on [0, 1).
    pub fn new(uniform: &mut dyn FnMut() -> f64) -> Self {
        // SplitMix64, as its authors recommend, from all bits that the numbers have.
        let [high, low] = [(); 2].map(|()| (uniform() * (1u64 << 53) as f64) as u64);
        let mut seed = high << 11 ^ low;
        FourAtATime([(); 4].map(|()| [(); 4].map(|()| split_mix(&mut seed))))
    }

    /// Numbers that are uniform on (0, 1), with 52 bits; a multiple of four of them.
    #[inline(always)]
    pub fn fill(&mut self, numbers: &mut [f64]) {
        let mut state = self.clone();
        for four in numbers.as_chunks_mut().0 {
            *four = state.four();
        }
        *self = state;
    }

    #[inline(always)]
    fn four(&mut self) -> [f64; 4] {
        const ONE: u64 = 1023 << 52;
        const HALF_A_STEP: f64 = 0.5 / (1u64 << 52) as f64;
        let [a, b, c, d] = &mut self.0;
        std::array::from_fn(|lane| {
            let bits = a[lane].wrapping_add(d[lane]);
            let shifted = b[lane] << 17;
            c[lane] ^= a[lane];
            d[lane] ^= b[lane];
            b[lane] ^= c[lane];
            a[lane] ^= d[lane];
            c[lane] ^= shifted;
            d[lane] = d[lane].rotate_left(45);
            f64::from_bits(bits >> 12 | ONE) - (1.0 - HALF_A_STEP)
        })
    }
}

/// The next number of SplitMix64.
pub fn split_mix(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut bits = *seed;
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// xoshiro256+ as its authors wrote it, one stream after the other.
    #[test]
    fn four_at_a_time_are_four_streams() {
        let seeds = [0.3, 0.9];
        let mut given = seeds.into_iter();
        let mut fours = FourAtATime::new(&mut || given.next().expect("two are enough"));
        let state = fours.0;
        let mut found = [0.0; 400];
        fours.fill(&mut found[..80]);
        fours.fill(&mut found[80..]);
        for lane in 0..4 {
            let mut s = state.map(|words| words[lane]);
            for found in found.iter().skip(lane).step_by(4) {
                let result = s[0].wrapping_add(s[3]);
                let t = s[1] << 17;
                s[2] ^= s[0];
                s[3] ^= s[1];
                s[1] ^= s[2];
                s[0] ^= s[3];
                s[2] ^= t;
                s[3] = s[3].rotate_left(45);
                assert_eq!(*found, ((result >> 12) as f64 + 0.5) / (1u64 << 52) as f64);
            }
        }
    }
}
