//! What every block would cost an item: the two forms that expected losses have.

use super::blocks::Blocks;
use super::loss::Loss;
use super::sample::Sample;
use super::table::Table;
use crate::partition::{Item, Partition, Slot};

/// x log₂ x.
fn x_log2_x(x: usize) -> f64 {
    if x == 0 { 0.0 } else { x as f64 * libm::log2(x as f64) }
}

/// A loss that adds up over blocks: W Σₖ F(sₖ) − 2 Σ_b w_b Σₖ F(c_bk), up to a constant and a
/// factor, with block sizes s, shared items c, and F(x) = x log₂ x (variation of information) or
/// x (x − 1) / 2 (Binder).
#[derive(Debug)]
pub(super) struct Additive {
    draws: f64,
    /// F.
    value: Vec<f64>,
    /// F(x + 1) − F(x): 0 for x = 0, so that nothing is to be added where nothing is shared.
    growth: Vec<f64>,
    /// By slot: the growth of what is shared, over all draws. Zero between calls.
    pull: Vec<f64>,
}

impl Additive {
    fn new(sample: &Sample, value: impl Fn(usize) -> f64) -> Self {
        let value: Vec<f64> = (0..=sample.n() + 1).map(value).collect();
        let growth = value.windows(2).map(|pair| pair[1] - pair[0]).collect();
        Additive { draws: sample.draws() as f64, value, growth, pull: Vec::new() }
    }

    fn weigh(
        &mut self,
        held: &[u32],
        home: u32,
        z: &Partition,
        table: &Table,
        costs: &mut Vec<f64>,
    ) {
        self.pull.resize(z.slots(), 0.0);
        for &block in held {
            let (weight, cells) = table.row(block);
            for cell in cells {
                // The item does not count among those that it would join.
                let others = cell.count - u32::from(cell.slot == home);
                self.pull[cell.slot as usize] += weight * self.growth[others as usize];
            }
        }
        costs.clear();
        for &slot in z.live() {
            let others = z.size(slot) - u32::from(slot.index() as u32 == home);
            let pull = std::mem::take(&mut self.pull[slot.index()]);
            costs.push(self.draws * self.growth[others as usize] - 2.0 * pull);
        }
        costs.push(0.0);
    }

    fn total(&self, z: &Partition, table: &Table) -> f64 {
        let sizes: f64 = z.live().iter().map(|&s| self.value[z.size(s) as usize]).sum();
        let shared = |block: usize| {
            let (weight, cells) = table.row(block as u32);
            weight * cells.iter().map(|cell| self.value[cell.count as usize]).sum::<f64>()
        };
        self.draws * sizes - 2.0 * (0..table.rows()).map(shared).sum::<f64>()
    }
}

/// What the adjusted Rand index needs to know of a draw.
#[derive(Debug, Clone, Copy)]
struct Draw {
    weight: f64,
    /// Pairs of items that share a block in the draw.
    pairs: f64,
    /// … as a share of all pairs.
    share: f64,
    /// … and share one in the partition too.
    both: f64,
}

impl Draw {
    /// (both − pairs · p / all) / ((pairs + p) / 2 − pairs · p / all) if the partition has p pairs
    /// that share a block, as (a, b) with a + b · both; 1 where this is 0/0.
    #[inline]
    fn index(&self, p: f64) -> (f64, f64) {
        let at_most = p * (0.5 - self.share) + 0.5 * self.pairs;
        let scale = if at_most > 0.0 { self.weight / at_most } else { 0.0 };
        let alike = if at_most > 0.0 { 0.0 } else { self.weight };
        (alike - p * self.share * scale, scale)
    }
}

/// The slopes of the indices of all draws for numbers of pairs that occurred: divisions are
/// dear, and the same few numbers come again and again.
#[derive(Debug, Default)]
struct Slopes {
    /// The numbers of pairs that are known, in ascending order, with their rows.
    known: Vec<(u64, usize)>,
    /// By row: the sum of the constants of all draws.
    constants: Vec<f64>,
    /// Row after row: a slope for each draw.
    slopes: Vec<f64>,
}

impl Slopes {
    /// So many slopes are kept, 32 MiB, before all are forgotten.
    const MOST: usize = 4 << 20;

    /// Sees to it that so many rows can be made without another one being forgotten.
    fn make_room(&mut self, rows: usize, draws: usize) {
        if self.slopes.len() + rows * draws > Self::MOST {
            self.known.clear();
            self.constants.clear();
            self.slopes.clear();
        }
    }

    /// The row for so many pairs, made if it is not known.
    fn row(&mut self, pairs: f64, draws: &[Draw]) -> usize {
        let found = self.known.binary_search_by_key(&(pairs as u64), |&(known, _)| known);
        let at = match found {
            Ok(at) => return self.known[at].1,
            Err(at) => at,
        };
        let row = self.constants.len();
        let mut constants = 0.0;
        for draw in draws {
            let (constant, slope) = draw.index(pairs);
            constants += constant;
            self.slopes.push(slope);
        }
        self.constants.push(constants);
        self.known.insert(at, (pairs as u64, row));
        row
    }

    fn of(&self, row: usize, draws: usize) -> &[f64] {
        &self.slopes[row * draws..(row + 1) * draws]
    }
}

/// Σ aᵢ bᵢ, in four sums that can be made at once.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (fours_a, fours_b) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest = fours_a.remainder().iter().zip(fours_b.remainder());
    let rest: f64 = rest.map(|(a, b)| a * b).sum();
    for (a, b) in fours_a.zip(fours_b) {
        for lane in 0..4 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// 1 − the adjusted Rand index: a ratio for each draw, which depends on all blocks at once. An item
/// that is not placed counts as alone.
#[derive(Debug)]
pub(super) struct Ratio {
    draws: Vec<Draw>,
    /// Pairs of items that share a block in the partition.
    pairs: f64,
    /// The block sizes that occur, without the item, in ascending order, 0 among them.
    sizes: Vec<u32>,
    /// By live block: where its size stands in `sizes`.
    size_of: Vec<u32>,
    /// By slot: where it stands among the live ones.
    live_at: Vec<u32>,
    /// By size: the index without what the draw and the block share, over all draws.
    base: Vec<f64>,
    /// By size: its row in `slopes`.
    row_of: Vec<usize>,
    /// By draw: pairs that share a block in both, without the item.
    both: Vec<f64>,
    slopes: Slopes,
    /// By live block: what is added for what it shares with the draws.
    added: Vec<f64>,
}

impl Ratio {
    fn new(sample: &Sample, blocks: &Blocks) -> Self {
        let all = sample.n() as f64 * (sample.n() as f64 - 1.0) / 2.0;
        let mut pairs = vec![0.0; sample.distinct()];
        // The blocks come draw after draw.
        let mut block = 0;
        for (d, pairs) in pairs.iter_mut().enumerate() {
            for _ in 0..sample.blocks(d) {
                let size = blocks.members(block).len() as f64;
                *pairs += size * (size - 1.0) / 2.0;
                block += 1;
            }
        }
        let draw = |(d, &pairs): (usize, &f64)| Draw {
            weight: f64::from(sample.weight(d)),
            pairs,
            share: pairs / all.max(1.0),
            both: 0.0,
        };
        Ratio {
            draws: pairs.iter().enumerate().map(draw).collect(),
            pairs: 0.0,
            sizes: Vec::new(),
            size_of: Vec::new(),
            live_at: Vec::new(),
            base: Vec::new(),
            row_of: Vec::new(),
            both: Vec::new(),
            slopes: Slopes::default(),
            added: Vec::new(),
        }
    }

    /// Finds out which sizes there are: blocks of one size differ only in what they share.
    fn look_at_sizes(&mut self, home: u32, z: &Partition) {
        let size = |slot: Slot| z.size(slot) - u32::from(slot.index() as u32 == home);
        self.sizes.clear();
        self.sizes.push(0);
        self.sizes.extend(z.live().iter().map(|&slot| size(slot)));
        self.sizes.sort_unstable();
        self.sizes.dedup();
        self.size_of.clear();
        self.live_at.resize(z.slots(), 0);
        for (at, &slot) in z.live().iter().enumerate() {
            let rank = self.sizes.partition_point(|&other| other < size(slot));
            self.size_of.push(rank as u32);
            self.live_at[slot.index()] = at as u32;
        }
        self.added.clear();
        self.added.resize(z.blocks(), 0.0);
    }

    fn weigh(
        &mut self,
        held: &[u32],
        home: u32,
        z: &Partition,
        table: &Table,
        costs: &mut Vec<f64>,
    ) {
        self.look_at_sizes(home, z);
        let leaving = match home {
            u32::MAX => 0,
            home => z.size(Slot::new(home as usize)) - 1,
        };
        let pairs = self.pairs - f64::from(leaving);
        self.both.clear();
        for (draw, &block) in self.draws.iter().zip(held) {
            let at_home = table.row(block).1.iter().find(|cell| cell.slot == home);
            let leaving = at_home.map_or(0.0, |cell| f64::from(cell.count - 1));
            self.both.push(draw.both - leaving);
        }
        let draws = self.draws.len();
        self.slopes.make_room(self.sizes.len(), draws);
        self.base.clear();
        self.row_of.clear();
        for &size in &self.sizes {
            let row = self.slopes.row(pairs + f64::from(size), &self.draws);
            self.base
                .push(self.slopes.constants[row] + dot(self.slopes.of(row, draws), &self.both));
            self.row_of.push(row);
        }
        for (d, &block) in held.iter().enumerate() {
            for cell in table.row(block).1 {
                let others = cell.count - u32::from(cell.slot == home);
                let at = self.live_at[cell.slot as usize] as usize;
                let row = self.row_of[self.size_of[at] as usize];
                self.added[at] += f64::from(others) * self.slopes.slopes[row * draws + d];
            }
        }
        costs.clear();
        let live = self.size_of.iter().zip(&self.added);
        costs.extend(live.map(|(&size, &added)| -(self.base[size as usize] + added)));
        costs.push(-self.base[0]);
    }

    fn total(&self) -> f64 {
        let index = |draw: &Draw| {
            let (constant, slope) = draw.index(self.pairs);
            constant + slope * draw.both
        };
        -self.draws.iter().map(index).sum::<f64>()
    }
}

/// The expected loss of a partition under way, as far as it depends on the partition.
#[derive(Debug)]
pub(super) enum Score {
    /// Variation of information and Binder.
    Additive(Additive),
    /// 1 − adjusted Rand index.
    Ratio(Ratio),
}

impl Score {
    /// The blocks in the form that this loss needs.
    pub(super) fn blocks(sample: &Sample, loss: Loss) -> Blocks {
        match loss {
            Loss::Vi | Loss::Binder => Blocks::merged(sample),
            Loss::Ari => Blocks::by_draw(sample),
        }
    }

    /// The score of a partition without items.
    pub(super) fn new(sample: &Sample, loss: Loss, blocks: &Blocks) -> Self {
        match loss {
            Loss::Vi => Score::Additive(Additive::new(sample, x_log2_x)),
            Loss::Binder => {
                Score::Additive(Additive::new(sample, |x| (x * x.saturating_sub(1) / 2) as f64))
            }
            Loss::Ari => Score::Ratio(Ratio::new(sample, blocks)),
        }
    }

    /// What each live block would cost the item, in the order of `z.live()`, and at last what a block
    /// of its own would. Only differences mean something. `held` are the draws' blocks with it.
    #[inline]
    pub(super) fn weigh(
        &mut self,
        item: Item,
        held: &[u32],
        z: &Partition,
        table: &Table,
        costs: &mut Vec<f64>,
    ) {
        let home = match z.slot_of(item) {
            Slot::NOWHERE => u32::MAX,
            slot => slot.index() as u32,
        };
        match self {
            Score::Additive(additive) => additive.weigh(held, home, z, table, costs),
            Score::Ratio(ratio) => ratio.weigh(held, home, z, table, costs),
        }
    }

    /// A difference in cost up to this is rounding, not reason enough to move.
    pub(super) fn tolerance(&self) -> f64 {
        match self {
            Score::Additive(additive) => 1e-10 * additive.draws,
            Score::Ratio(ratio) => 1e-13 * ratio.draws.iter().map(|draw| draw.weight).sum::<f64>(),
        }
    }

    /// The loss of a whole partition, in the units of the costs.
    pub(super) fn total(&self, z: &Partition, table: &Table) -> f64 {
        match self {
            Score::Additive(additive) => additive.total(z, table),
            Score::Ratio(ratio) => ratio.total(),
        }
    }

    /// Takes an item out of its block.
    pub(super) fn take(&mut self, item: Item, held: &[u32], z: &mut Partition, table: &mut Table) {
        let slot = z.slot_of(item);
        z.take(item);
        let left = held.iter().map(|&block| table.take(block, slot.index() as u32));
        match self {
            Score::Additive(_) => left.for_each(drop),
            Score::Ratio(ratio) => {
                ratio.pairs -= f64::from(z.size(slot));
                let draws = ratio.draws.iter_mut().zip(left);
                draws.for_each(|(draw, left)| draw.both -= f64::from(left));
            }
        }
    }

    /// Puts an item that is nowhere into a block.
    pub(super) fn put(
        &mut self,
        item: Item,
        slot: Slot,
        held: &[u32],
        z: &mut Partition,
        table: &mut Table,
    ) {
        let joined = held.iter().map(|&block| table.put(block, slot.index() as u32));
        match self {
            Score::Additive(_) => joined.for_each(drop),
            Score::Ratio(ratio) => {
                ratio.pairs += f64::from(z.size(slot));
                let draws = ratio.draws.iter_mut().zip(joined);
                draws.for_each(|(draw, joined)| draw.both += f64::from(joined));
            }
        }
        z.put(item, slot);
    }
}
