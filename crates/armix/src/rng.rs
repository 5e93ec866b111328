//! Random numbers that depend on the seed and on where they are used, never on threads or time.
//!
//! Every (seed, ensemble, chain, iteration) has a ChaCha8 stream of its own. The conversions to
//! uniforms, integers and choices are ours, so that an upgrade of a crate cannot change results.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng};

/// What a stream is for; part of its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The initial state of a chain.
    Start = 0,
    /// The moves of one iteration.
    Iteration = 1,
    /// The launch state of a split-merge move, which both directions must share.
    Launch = 2,
    /// Generated data.
    Data = 3,
    /// Tests and verification.
    Test = 4,
    /// The search for an estimate.
    Search = 5,
    /// Pairs of items to look at in a diagnosis.
    Diagnosis = 6,
    /// Entries that are hidden.
    HoldOut = 7,
    /// Parameters that predictions are made with.
    Predict = 8,
    /// Exchanges between the rungs of a ladder.
    Swap = 9,
}

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub struct Rng(ChaCha8Rng);

impl Rng {
    /// The stream of one iteration of one chain.
    pub fn new(purpose: Purpose, seed: u64, ensemble: u64, chain: u64, iteration: u64) -> Self {
        let mut key = [0u8; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&ensemble.to_le_bytes());
        key[16..24].copy_from_slice(&chain.to_le_bytes());
        key[24..].copy_from_slice(&(purpose as u64).to_le_bytes());
        let mut rng = ChaCha8Rng::from_seed(key);
        rng.set_stream(iteration);
        Rng(rng)
    }

    /// A stream for one purpose that has nothing to do with chains.
    pub fn from_seed(purpose: Purpose, seed: u64) -> Self {
        Rng::new(purpose, seed, 0, 0, 0)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform on [0, 1), with 53 bits.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform on 0, …, n − 1, without bias (Lemire's method).
    ///
    /// # Panics
    /// When n is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "below(0)");
        loop {
            let wide = u128::from(self.bits()) * u128::from(n);
            let low = wide as u64;
            // 2⁶⁴ mod n low values would make the first results too likely.
            if low >= n || low >= n.wrapping_neg() % n {
                return (wide >> 64) as u64;
            }
        }
    }

    /// An index with probability `weights[k] / total`, where `total` is the sum of the weights.
    pub fn weighted(&mut self, weights: &[f64], total: f64) -> usize {
        weighted_by(self.uniform(), weights, total)
    }

    /// A uniformly random order, in place (Fisher-Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for k in (1..items.len()).rev() {
            items.swap(k, self.below(k as u64 + 1) as usize);
        }
    }
}

/// [`Rng::weighted`] with a random number that was drawn before.
pub fn weighted_by(uniform: f64, weights: &[f64], total: f64) -> usize {
    let mut left = uniform * total;
    for (k, &weight) in weights.iter().enumerate() {
        left -= weight;
        if left < 0.0 {
            return k;
        }
    }
    // Rounding used the sum up: the last index that can be chosen at all.
    weights.iter().rposition(|&w| w > 0.0).unwrap_or(0)
}

/// The same if it does not depend on weights that are not known and are at most `unknown` together: they are 0 in the list, and not in the total.
pub fn weighted_surely_by(
    uniform: f64,
    weights: &[f64],
    total: f64,
    unknown: f64,
) -> Option<usize> {
    let mut left = uniform * total;
    for (k, &weight) in weights.iter().enumerate() {
        let before = left;
        left -= weight;
        if left < 0.0 {
            return (before > unknown && left < -unknown).then_some(k);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pinned: if this changes, every result of every user changes.
    #[test]
    fn the_streams_never_change() {
        let mut rng = Rng::new(Purpose::Iteration, 1, 2, 3, 4);
        assert_eq!([rng.bits(), rng.bits()], PINNED);
        let mut other = Rng::new(Purpose::Iteration, 1, 2, 3, 5);
        assert_ne!(other.bits(), PINNED[0]);
    }
    const PINNED: [u64; 2] = [3_461_748_234_841_876_583, 11_132_488_018_427_524_759];

    /// Each count is within 5 standard deviations: false alarm below 1e-5.
    #[test]
    fn below_weighted_and_shuffle_are_fair() {
        let mut rng = Rng::from_seed(Purpose::Test, 7);
        let draws = 60_000;
        let mut below = [0u32; 6];
        let mut weighted = [0u32; 3];
        let mut first = [0u32; 6];
        for _ in 0..draws {
            below[rng.below(6) as usize] += 1;
            weighted[rng.weighted(&[1.0, 0.0, 2.0], 3.0)] += 1;
            let mut order = [0, 1, 2, 3, 4, 5];
            rng.shuffle(&mut order);
            first[order[0]] += 1;
        }
        let check = |count: u32, p: f64| {
            let sd = (f64::from(draws) * p * (1.0 - p)).sqrt();
            assert!((f64::from(count) - f64::from(draws) * p).abs() < 5.0 * sd);
        };
        below.iter().chain(&first).for_each(|&c| check(c, 1.0 / 6.0));
        check(weighted[0], 1.0 / 3.0);
        assert_eq!(weighted[1], 0);
    }

    #[test]
    fn weighted_survives_rounding() {
        let mut rng = Rng::from_seed(Purpose::Test, 8);
        // A total that is too large by rounding must not choose an impossible index.
        for _ in 0..1000 {
            assert_eq!(rng.weighted(&[0.0, 1e-300, 0.0], 1.0), 1);
        }
    }
}
