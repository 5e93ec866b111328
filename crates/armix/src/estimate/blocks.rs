//! All blocks of all draws, seen from both sides: the items of a block, the blocks of an item.
//!
//! Draws of one chain share most of their blocks. What adds up over blocks (co-assignment, Binder's
//! loss, the variation of information) needs each distinct block only once.

use super::sample::Sample;
use std::collections::HashMap;

/// Blocks of a sample with how many draws they stand for.
#[derive(Debug)]
pub(super) struct Blocks {
    weights: Vec<f64>,
    /// Where the members of each block begin, and where the last ones end.
    starts: Vec<usize>,
    members: Vec<u32>,
    /// Where the blocks of each item begin, and where the last ones end.
    item_starts: Vec<usize>,
    of_items: Vec<u32>,
}

impl Blocks {
    /// Each distinct block once, weighted by the draws that have it.
    pub(super) fn merged(sample: &Sample) -> Self {
        let mut by_hash: HashMap<u128, u32> = HashMap::new();
        let mut bytes = Vec::new();
        Blocks::build(sample, |members, next| {
            bytes.clear();
            members.iter().for_each(|item| bytes.extend_from_slice(&item.to_le_bytes()));
            // 128 bits: different blocks never share a hash.
            *by_hash.entry(xxhash_rust::xxh3::xxh3_128(&bytes)).or_insert(next)
        })
    }

    /// The blocks of each distinct draw apart, draw after draw: every item has one for each.
    pub(super) fn by_draw(sample: &Sample) -> Self {
        Blocks::build(sample, |_, next| next)
    }

    /// `number` says which block these members are; the number that it is offered means a new one.
    fn build(sample: &Sample, mut number: impl FnMut(&[u32], u32) -> u32) -> Self {
        let n = sample.n();
        let mut blocks = Blocks {
            weights: Vec::new(),
            starts: vec![0],
            members: Vec::new(),
            item_starts: Vec::new(),
            of_items: Vec::new(),
        };
        let (mut labels, mut ends, mut sorted) = (Vec::new(), Vec::new(), vec![0; n]);
        for d in 0..sample.distinct() {
            sample.unpack(d, &mut labels);
            sort_by_label(&labels, sample.blocks(d), &mut ends, &mut sorted);
            let mut start = 0;
            for &end in &ends {
                let members = &sorted[start..end];
                start = end;
                let next = blocks.weights.len();
                let block = number(members, next as u32) as usize;
                if block == next {
                    blocks.weights.push(0.0);
                    blocks.members.extend_from_slice(members);
                    blocks.starts.push(blocks.members.len());
                }
                blocks.weights[block] += f64::from(sample.weight(d));
            }
        }
        blocks.index_items(n);
        blocks
    }

    fn index_items(&mut self, n: usize) {
        self.item_starts = vec![0; n + 1];
        for &item in &self.members {
            self.item_starts[item as usize + 1] += 1;
        }
        for item in 0..n {
            self.item_starts[item + 1] += self.item_starts[item];
        }
        let mut next = self.item_starts.clone();
        self.of_items = vec![0; self.members.len()];
        for block in 0..self.len() {
            for &item in &self.members[self.starts[block]..self.starts[block + 1]] {
                self.of_items[next[item as usize]] = block as u32;
                next[item as usize] += 1;
            }
        }
    }

    /// The number of blocks.
    pub(super) fn len(&self) -> usize {
        self.weights.len()
    }

    /// The number of draws that have this block.
    pub(super) fn weight(&self, block: usize) -> f64 {
        self.weights[block]
    }

    /// Where the members of this block begin in a list of all members.
    pub(super) fn start(&self, block: usize) -> usize {
        self.starts[block]
    }

    /// The length of the list of all members of all blocks.
    pub(super) fn members_in_all(&self) -> usize {
        self.members.len()
    }

    /// The members of a block, in ascending order.
    pub(super) fn members(&self, block: u32) -> &[u32] {
        &self.members[self.starts[block as usize]..self.starts[block as usize + 1]]
    }

    /// The blocks that hold an item, in ascending order.
    #[inline]
    pub(super) fn of_item(&self, item: usize) -> &[u32] {
        &self.of_items[self.item_starts[item]..self.item_starts[item + 1]]
    }
}

/// Sorts the items by their labels, keeping their order; `ends` says where each label's end.
fn sort_by_label(labels: &[u32], blocks: usize, ends: &mut Vec<usize>, sorted: &mut [u32]) {
    ends.clear();
    ends.resize(blocks, 0);
    // First where the next item of each label goes: that moves on from its start to its end.
    for &label in labels {
        if let Some(after) = ends.get_mut(label as usize + 1) {
            *after += 1;
        }
    }
    for label in 1..blocks {
        ends[label] += ends[label - 1];
    }
    for (item, &label) in labels.iter().enumerate() {
        sorted[ends[label as usize]] = item as u32;
        ends[label as usize] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_merged_or_kept_apart() {
        let sample = Sample::new([[0, 0, 1, 1], [0, 0, 1, 2], [0, 0, 1, 2]]).unwrap();
        let merged = Blocks::merged(&sample);
        let weights: Vec<f64> = (0..merged.len()).map(|b| merged.weight(b)).collect();
        assert_eq!(weights, [3.0, 1.0, 2.0, 2.0]);
        assert_eq!((merged.members(0), merged.members(3)), (&[0, 1][..], &[3][..]));
        assert_eq!((merged.of_item(1), merged.of_item(3)), (&[0][..], &[1, 3][..]));
        let apart = Blocks::by_draw(&sample);
        assert_eq!(apart.len(), 5);
        assert_eq!((apart.weight(0), apart.weight(2)), (1.0, 2.0));
        assert_eq!((apart.of_item(1), apart.of_item(3)), (&[0, 2][..], &[1, 4][..]));
    }
}
