//! How alike two partitions of the same items are: distances and indices, from one sparse table.
//!
//! All functions take a label for each item; labels are arbitrary numbers, and only which of them
//! are equal matters. Each costs O(n) time and memory, however many blocks there are (labels that
//! are much larger than n are sorted first).

use crate::partition::{Refiner, canonical};

/// The items that two partitions a and b put into the same pair of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// The block of a.
    pub row: u32,
    /// The block of b.
    pub column: u32,
    /// How many items are in both; never 0.
    pub count: u32,
}

/// The contingency table of two partitions a and b, without its empty cells.
///
/// ```
/// use armix::compare::{Cell, Contingency};
/// let table = Contingency::new(&[7, 7, 7, 1], &[0, 0, 5, 5]);
/// assert_eq!(table.rows(), [3, 1]);
/// assert_eq!(table.columns(), [2, 2]);
/// assert_eq!(table.cells()[0], Cell { row: 0, column: 0, count: 2 });
/// assert_eq!(table.cells().len(), 3);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contingency {
    n: usize,
    rows: Vec<u32>,
    columns: Vec<u32>,
    cells: Vec<Cell>,
}

impl Contingency {
    /// The table of two labellings of the same items. Blocks are numbered in order of first
    /// appearance.
    ///
    /// # Panics
    /// When the labellings differ in length.
    pub fn new(a: &[u32], b: &[u32]) -> Self {
        assert_eq!(a.len(), b.len(), "two labellings of the same items");
        let (a, b) = (canonical(a), canonical(b));
        let mut cell_of = Vec::new();
        let cells = Refiner::default().refine(&a, &b, &mut cell_of);
        let mut table = Contingency {
            n: a.len(),
            rows: vec![0; count_labels(&a)],
            columns: vec![0; count_labels(&b)],
            cells: vec![Cell { row: 0, column: 0, count: 0 }; cells],
        };
        for ((&row, &column), &cell) in a.iter().zip(&b).zip(&cell_of) {
            table.rows[row as usize] += 1;
            table.columns[column as usize] += 1;
            let cell = &mut table.cells[cell as usize];
            *cell = Cell { row, column, count: cell.count + 1 };
        }
        table
    }

    /// The number of items.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The sizes of the blocks of a.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The sizes of the blocks of b.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// The cells that hold an item, row by row.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Whether a and b are the same partition.
    pub fn same(&self) -> bool {
        self.cells.len() == self.rows.len() && self.cells.len() == self.columns.len()
    }

    /// A sum over the cells of something that depends on the sizes of its blocks and on its count.
    fn sum(&self, term: impl Fn(f64, f64, f64) -> f64) -> f64 {
        let term = |cell: &Cell| {
            let (a, b) = (self.rows[cell.row as usize], self.columns[cell.column as usize]);
            term(f64::from(a), f64::from(b), f64::from(cell.count))
        };
        self.cells.iter().map(term).sum()
    }

    /// See [`variation_of_information`].
    pub fn variation_of_information(&self) -> f64 {
        // Each term is at least 0, and exactly 0 where a block of a is a block of b.
        let bits = self.sum(|a, b, both| both * (libm::log2(a / both) + libm::log2(b / both)));
        bits / self.n.max(1) as f64
    }

    /// How many pairs of items share a block in a, in b, and in both.
    fn pairs(&self) -> (u64, u64, u64) {
        let pairs = |count: u32| u64::from(count) * u64::from(count).saturating_sub(1) / 2;
        (
            self.rows.iter().map(|&count| pairs(count)).sum(),
            self.columns.iter().map(|&count| pairs(count)).sum(),
            self.cells.iter().map(|cell| pairs(cell.count)).sum(),
        )
    }

    /// See [`binder`].
    pub fn binder(&self) -> f64 {
        let (a, b, both) = self.pairs();
        let disagreeing = (a - both) + (b - both);
        let n = self.n.max(1) as f64;
        2.0 * disagreeing as f64 / (n * n)
    }

    /// See [`adjusted_rand`].
    pub fn adjusted_rand(&self) -> f64 {
        let (a, b, both) = self.pairs();
        let all = self.n as u64 * (self.n as u64).saturating_sub(1) / 2;
        // Integers as long as possible: the index of equal partitions is 1, not nearly 1.
        let (a, b, both, all) = (i128::from(a), i128::from(b), i128::from(both), i128::from(all));
        let above_chance = 2 * (all * both - a * b);
        let at_most = all * (a + b) - 2 * a * b;
        // 0 only if both are one block, or both are all alone.
        if at_most == 0 { 1.0 } else { above_chance as f64 / at_most as f64 }
    }

    /// See [`normalised_mutual_information`].
    pub fn normalised_mutual_information(&self) -> f64 {
        if self.same() {
            return 1.0;
        }
        let n = self.n as f64;
        let entropy = |sizes: &[u32]| -> f64 {
            sizes.iter().map(|&s| f64::from(s) * libm::log2(n / f64::from(s))).sum()
        };
        let shared = self.sum(|a, b, both| both * libm::log2(n * both / (a * b)));
        let mean = 0.5 * (entropy(&self.rows) + entropy(&self.columns));
        // The partitions differ, so that one of them has an entropy.
        (shared / mean).clamp(0.0, 1.0)
    }
}

fn count_labels(canonical: &[u32]) -> usize {
    canonical.iter().max().map_or(0, |&largest| largest as usize + 1)
}

/// The variation of information H(a | b) + H(b | a) of Meilă (2007), in **bits** (log₂), as the R
/// packages salso and mcclust.ext have it: a metric, at most log₂ n. Exactly 0 for equal
/// partitions, and never negative.
///
/// # Panics
/// When the labellings differ in length.
///
/// ```
/// use armix::compare::variation_of_information;
/// assert_eq!(variation_of_information(&[0, 0, 1, 1], &[5, 5, 3, 3]), 0.0);
/// assert_eq!(variation_of_information(&[0, 0, 0, 0], &[0, 1, 2, 3]), 2.0);
/// ```
pub fn variation_of_information(a: &[u32], b: &[u32]) -> f64 {
    Contingency::new(a, b).variation_of_information()
}

/// Binder's loss: the number of unordered pairs of items that share a block in one partition but
/// not in the other, times 2/n². That is the scale of the R package salso; it is 1 − 1/n at most.
///
/// # Panics
/// When the labellings differ in length.
///
/// ```
/// use armix::compare::binder;
/// assert_eq!(binder(&[0, 0, 1, 1], &[0, 0, 0, 1]), 6.0 / 16.0);
/// ```
pub fn binder(a: &[u32], b: &[u32]) -> f64 {
    Contingency::new(a, b).binder()
}

/// The adjusted Rand index of Hubert and Arabie (1985): 1 for equal partitions, 0 on average for
/// random ones with the same block sizes, possibly negative.
///
/// Where the formula gives 0/0 (both are one block, both leave every item alone, or there are fewer
/// than two items) the partitions are equal and the index is 1. One block against all alone is 0.
///
/// # Panics
/// When the labellings differ in length.
///
/// ```
/// use armix::compare::adjusted_rand;
/// assert_eq!(adjusted_rand(&[0, 0, 0], &[4, 4, 4]), 1.0);
/// assert_eq!(adjusted_rand(&[0, 0, 0], &[0, 1, 2]), 0.0);
/// assert_eq!(adjusted_rand(&[0, 0, 1, 1], &[0, 1, 0, 1]), -0.5);
/// ```
pub fn adjusted_rand(a: &[u32], b: &[u32]) -> f64 {
    Contingency::new(a, b).adjusted_rand()
}

/// The mutual information divided by the mean of the two entropies (the arithmetic mean, as
/// scikit-learn does by default): between 0 and 1.
///
/// Equal partitions give 1, also when both are one block and the formula is 0/0. One block against
/// anything else gives 0.
///
/// # Panics
/// When the labellings differ in length.
///
/// ```
/// use armix::compare::normalised_mutual_information;
/// assert_eq!(normalised_mutual_information(&[0, 0, 0], &[4, 4, 4]), 1.0);
/// assert_eq!(normalised_mutual_information(&[0, 0, 0], &[0, 1, 2]), 0.0);
/// ```
pub fn normalised_mutual_information(a: &[u32], b: &[u32]) -> f64 {
    Contingency::new(a, b).normalised_mutual_information()
}

/// How many items are in block r of a and in block c of b, as `[r][c]`; blocks are numbered in
/// order of first appearance. It holds the empty cells too: for many blocks see [`Contingency`].
///
/// # Panics
/// When the labellings differ in length.
///
/// ```
/// use armix::compare::confusion;
/// assert_eq!(confusion(&[7, 7, 7, 1], &[0, 0, 5, 5]), [[2, 1], [0, 1]]);
/// ```
pub fn confusion(a: &[u32], b: &[u32]) -> Vec<Vec<u32>> {
    let table = Contingency::new(a, b);
    let mut counts = vec![vec![0; table.columns.len()]; table.rows.len()];
    for cell in &table.cells {
        counts[cell.row as usize][cell.column as usize] = cell.count;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partition::all_partitions;
    use proptest::prelude::*;

    /// Agreements of all pairs: (in both, in a only, in b only, in neither).
    fn count_pairs(a: &[u32], b: &[u32]) -> [f64; 4] {
        let mut counts = [0.0; 4];
        for i in 0..a.len() {
            for j in 0..i {
                counts[usize::from(a[i] != a[j]) * 2 + usize::from(b[i] != b[j])] += 1.0;
            }
        }
        counts
    }

    /// P(block of i) under a, b and both, for each item, by looking at all others.
    fn shares(a: &[u32], b: &[u32]) -> Vec<(f64, f64, f64)> {
        let n = a.len() as f64;
        let share = |i: usize, x: &dyn Fn(usize) -> bool| {
            debug_assert!(x(i));
            (0..a.len()).filter(|&j| x(j)).count() as f64 / n
        };
        let of = |i: usize| {
            let (in_a, in_b) = (|j: usize| a[i] == a[j], |j: usize| b[i] == b[j]);
            (share(i, &in_a), share(i, &in_b), share(i, &|j| in_a(j) && in_b(j)))
        };
        (0..a.len()).map(of).collect()
    }

    fn naive_vi(a: &[u32], b: &[u32]) -> f64 {
        let terms =
            shares(a, b).into_iter().map(|(p, q, pq)| p.log2() + q.log2() - 2.0 * pq.log2());
        terms.sum::<f64>() / a.len() as f64
    }

    fn naive_nmi(a: &[u32], b: &[u32]) -> f64 {
        let mean = |term: &dyn Fn((f64, f64, f64)) -> f64| {
            shares(a, b).into_iter().map(term).sum::<f64>() / a.len() as f64
        };
        let entropies = mean(&|(p, _, _)| -p.ln()) + mean(&|(_, q, _)| -q.ln());
        mean(&|(p, q, pq)| (pq / (p * q)).ln()) / (0.5 * entropies)
    }

    /// By the four counts of pairs, Hubert and Arabie's other formula.
    fn naive_ari(a: &[u32], b: &[u32]) -> f64 {
        let [both, only_a, only_b, neither] = count_pairs(a, b);
        2.0 * (both * neither - only_a * only_b)
            / ((both + only_a) * (only_a + neither) + (both + only_b) * (only_b + neither))
    }

    fn two_labellings() -> impl Strategy<Value = (Vec<u32>, Vec<u32>)> {
        (1usize..40, 1u32..12, 1u32..12).prop_flat_map(|(n, blocks_a, blocks_b)| {
            // Large labels too: they take another way through `canonical`.
            let scale = prop_oneof![Just(1u32), Just(300_000_007)];
            let a = (scale, proptest::collection::vec(0..blocks_a, n))
                .prop_map(|(scale, labels)| labels.iter().map(|l| l * scale % u32::MAX).collect());
            (a, proptest::collection::vec(0..blocks_b, n))
        })
    }

    proptest! {
        #[test]
        fn all_agree_with_naive_twins((a, b) in two_labellings()) {
            let table = Contingency::new(&a, &b);
            let naive = (count_pairs(&a, &b), a.len() as f64);
            prop_assert!((table.variation_of_information() - naive_vi(&a, &b)).abs() < 1e-12);
            let binder = 2.0 * (naive.0[1] + naive.0[2]) / (naive.1 * naive.1);
            prop_assert!((table.binder() - binder).abs() < 1e-12);
            if table.same() {
                prop_assert_eq!(table.adjusted_rand(), 1.0);
                prop_assert_eq!(table.normalised_mutual_information(), 1.0);
            } else {
                prop_assert!((table.adjusted_rand() - naive_ari(&a, &b)).abs() < 1e-12);
                let nmi = table.normalised_mutual_information();
                prop_assert!((nmi - naive_nmi(&a, &b)).abs() < 1e-12);
            }
            let dense = confusion(&a, &b);
            let cells = dense.iter().flatten().filter(|&&count| count > 0).count();
            prop_assert_eq!(cells, table.cells().len());
            for (row, size) in dense.iter().zip(table.rows()) {
                prop_assert_eq!(row.iter().sum::<u32>(), *size);
            }
            for (c, size) in table.columns().iter().enumerate() {
                prop_assert_eq!(dense.iter().map(|row| row[c]).sum::<u32>(), *size);
            }
        }

        #[test]
        fn renaming_blocks_gives_exactly_no_distance((a, _) in two_labellings()) {
            let b: Vec<u32> = a.iter().map(|l| 977 - l % 977 + l / 977 * 1000).collect();
            prop_assert_eq!(variation_of_information(&a, &b), 0.0);
            prop_assert_eq!(binder(&a, &b), 0.0);
            prop_assert_eq!(adjusted_rand(&a, &b), 1.0);
            prop_assert_eq!(normalised_mutual_information(&a, &b), 1.0);
        }
    }

    #[test]
    fn variation_of_information_is_a_metric() {
        let all = all_partitions(5);
        let distance: Vec<Vec<f64>> = (all.iter())
            .map(|a| all.iter().map(|b| variation_of_information(a, b)).collect())
            .collect();
        for a in 0..all.len() {
            for b in 0..all.len() {
                assert_eq!(distance[a][b] == 0.0, a == b);
                assert!(distance[a][b] >= 0.0 && distance[a][b] <= 5f64.log2() + 1e-12);
                assert!((distance[a][b] - distance[b][a]).abs() < 1e-12);
                for c in 0..all.len() {
                    assert!(distance[a][c] <= distance[a][b] + distance[b][c] + 1e-12);
                }
            }
        }
    }

    #[test]
    fn odd_input_has_stated_answers() {
        for labels in [&[][..], &[3]] {
            assert_eq!(variation_of_information(labels, labels), 0.0);
            assert_eq!(binder(labels, labels), 0.0);
            assert_eq!(adjusted_rand(labels, labels), 1.0);
            assert_eq!(normalised_mutual_information(labels, labels), 1.0);
        }
        let alone: Vec<u32> = (0..9).collect();
        assert_eq!(adjusted_rand(&alone, &alone), 1.0);
        assert_eq!(normalised_mutual_information(&alone, &alone), 1.0);
        assert_eq!(adjusted_rand(&alone, &[0; 9]), 0.0);
        assert_eq!(normalised_mutual_information(&alone, &[0; 9]), 0.0);
    }

    /// Sums of squares near the limits of 64 bits are beyond memory, but 10⁶ items are not.
    #[test]
    fn a_million_items_are_no_problem() {
        let a: Vec<u32> = (0..1_000_000).map(|i| i % 1000).collect();
        let b: Vec<u32> = (0..1_000_000).map(|i| i / 1000).collect();
        let bits = variation_of_information(&a, &b);
        assert!((bits - 2.0 * 1000f64.log2()).abs() < 1e-9);
        assert!(adjusted_rand(&a, &b).abs() < 2e-3);
    }
}
