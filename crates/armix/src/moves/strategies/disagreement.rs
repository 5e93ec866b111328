//! Pairs on which two past states disagree.

use crate::history::Row;
use crate::partition::{Item, Refiner, label_count};
use crate::rng::Rng;

/// Finds pairs on which two partitions disagree, in O(n).
#[derive(Debug, Clone, Default)]
pub struct Disagreement {
    a: Vec<u32>,
    b: Vec<u32>,
    refiner: Refiner,
    counts: [Vec<u32>; 3],
    /// For each item, about how many others the two disagree. Fewer than 2³², because a block of one has each at most once.
    partners: Vec<u32>,
    cells: Cells,
}

/// The cells of zᵃ ∨ zᵇ: their blocks in zᵃ and zᵇ, and their weights.
#[derive(Debug, Clone, Default)]
struct Cells {
    blocks: [Vec<usize>; 2],
    weights: Vec<f64>,
    /// By block of zᵃ and then of zᵇ: the sum of the weights of its cells, and that of their squares.
    sums: Vec<(f64, f64)>,
}

impl Disagreement {
    /// A pair that is uniform over those which one of zᵃ, zᵇ joins and the other parts; `None` if
    /// there are none. Writes labels of zᵃ ∨ zᵇ.
    pub fn draw(
        &mut self,
        za: &Row,
        zb: &Row,
        rng: &mut Rng,
        agreed: &mut Vec<u32>,
    ) -> Option<(Item, Item)> {
        if za == zb {
            return None;
        }
        za.unpack(&mut self.a);
        zb.unpack(&mut self.b);
        let Self { a, b, refiner, counts: [in_a, in_b, in_both], partners, .. } = self;
        refiner.refine(a, b, agreed);
        count(a, in_a);
        count(b, in_b);
        count(agreed, in_both);
        // Item i disagrees about those who share its block in a or in b, but not in both. Chosen
        // with that weight, and then j uniformly among them, every ordered pair is equally likely.
        partners.clear();
        partners.extend(a.iter().zip(&*b).zip(&*agreed).map(|((&a, &b), &both)| {
            let both = in_both[both as usize];
            (in_a[a as usize] - both) + (in_b[b as usize] - both)
        }));
        let total: u64 = partners.iter().map(|&count| u64::from(count)).sum();
        if total == 0 {
            return None;
        }
        let mut left = rng.below(total);
        let i = nth(&mut left, partners.iter().map(|&count| count.into()))?;
        let (in_a, in_b) = (a[i], b[i]);
        let disagrees = a.iter().zip(&*b).map(|(&a, &b)| u64::from((a == in_a) != (b == in_b)));
        let j = nth(&mut left, disagrees)?;
        Some((Item::new(i), Item::new(j)))
    }
}

impl Disagreement {
    /// A pair of items from two cells of zᵃ ∨ zᵇ which one of zᵃ, zᵇ joins and the other parts. The cells are drawn with
    /// the product of their weights, which depend on their sizes, and the items uniformly from them.
    pub fn draw_cells(
        &mut self,
        za: &Row,
        zb: &Row,
        weight: fn(f64) -> f64,
        rng: &mut Rng,
        agreed: &mut Vec<u32>,
    ) -> Option<(Item, Item)> {
        za.unpack(&mut self.a);
        zb.unpack(&mut self.b);
        let Self { a, b, refiner, counts: [.., sizes], cells, .. } = self;
        refiner.refine(a, b, agreed);
        count(agreed, sizes);
        cells.find(a, b, agreed, sizes, weight);
        let (c, d) = cells.draw(rng)?;
        let mut member = |cell: usize| {
            let nth = rng.below(sizes[cell].into()) as usize;
            (0..agreed.len()).filter(|&i| agreed[i] as usize == cell).nth(nth).map(Item::new)
        };
        Some((member(c)?, member(d)?))
    }
}

impl Cells {
    fn find(
        &mut self,
        a: &[u32],
        b: &[u32],
        agreed: &[u32],
        sizes: &[u32],
        weight: fn(f64) -> f64,
    ) {
        self.weights.clear();
        self.weights.extend(sizes.iter().map(|&size| weight(f64::from(size))));
        let blocks_of_a = label_count(a);
        let blocks = blocks_of_a + label_count(b);
        self.blocks.iter_mut().for_each(|of_cell| of_cell.resize(sizes.len(), 0));
        for ((&cell, &a), &b) in agreed.iter().zip(a).zip(b) {
            self.blocks[0][cell as usize] = a as usize;
            self.blocks[1][cell as usize] = blocks_of_a + b as usize;
        }
        self.sums.clear();
        self.sums.resize(blocks, (0.0, 0.0));
        for (cell, w) in self.weights.iter().enumerate() {
            for of_cell in &self.blocks {
                let (sum, squares) = &mut self.sums[of_cell[cell]];
                (*sum, *squares) = (*sum + w, *squares + w * w);
            }
        }
    }

    /// Two cells of one block of zᵃ or zᵇ. They are in different blocks of the other: else they would be one.
    fn draw(&self, rng: &mut Rng) -> Option<(usize, usize)> {
        let block = pick(rng, self.sums.iter().map(|(sum, squares)| sum * sum - squares))?;
        let (sum, _) = self.sums[block];
        let inside = |cell: usize| self.blocks.iter().any(|of_cell| of_cell[cell] == block);
        let weight = |cell: usize| if inside(cell) { self.weights[cell] } else { 0.0 };
        let all = 0..self.weights.len();
        let first = pick(rng, all.clone().map(|cell| weight(cell) * (sum - weight(cell))))?;
        let other = |cell: usize| if cell == first { 0.0 } else { weight(cell) };
        Some((first, pick(rng, all.map(other))?))
    }
}

/// An index with a probability in proportion to its weight; `None` if no weight is positive.
fn pick(rng: &mut Rng, weights: impl Iterator<Item = f64> + Clone) -> Option<usize> {
    let mut left = rng.uniform() * weights.clone().sum::<f64>();
    let mut last = None;
    for (index, weight) in weights.enumerate().filter(|(_, weight)| *weight > 0.0) {
        if left < weight {
            return Some(index);
        }
        left -= weight;
        last = Some(index); // rounding may leave a little
    }
    last
}

/// Where in a list of counts the one is that is `left` after the first; leaves its place among those that are counted there.
fn nth(left: &mut u64, counts: impl Iterator<Item = u64>) -> Option<usize> {
    for (at, count) in counts.enumerate() {
        if *left < count {
            return Some(at);
        }
        *left -= count;
    }
    None
}

/// How often each label occurs.
fn count(labels: &[u32], counts: &mut Vec<u32>) {
    counts.clear();
    counts.resize(label_count(labels), 0);
    for &label in labels {
        counts[label as usize] += 1;
    }
}
