//! The answer that a posterior sample of partitions gives: one partition, and how sure it is.
//!
//! A [`Sample`] holds the draws. [`minimise`] finds the partition with the least expected loss;
//! [`Similarity`] says how often two items share a block; a [`Ball`] says how far the truth may
//! be from the estimate; [`certainty`] and [`sure_subpartition`] say which items are well placed;
//! [`modes`] tells several answers apart where one would hide the others.
//!
//! Everything is the same for any number of threads.

mod ball;
mod blocks;
mod certainty;
mod loss;
mod modes;
mod sample;
mod score;
mod search;
mod similarity;
mod table;

pub use ball::{Ball, Bound, ball};
pub use certainty::{Certainty, certainty, sure_subpartition};
pub use loss::{Loss, distances, expected_loss};
pub use modes::{Mode, ModeOptions, modes};
pub use sample::Sample;
pub use search::{Estimate, SearchOptions, minimise};
pub use similarity::{
    MOST_DENSE_ITEMS, Neighbours, Similarity, similarity, similarity_row, sparse_similarity,
};

/// Sums of whole numbers and shares of them are compared up to this.
const ROUNDING: f64 = 1e-9;
