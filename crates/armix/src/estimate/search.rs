//! The partition with the least expected loss, by greedy search from many starts.
//!
//! After SALSO (Dahl, Johnson and Müller 2022, Search algorithms and loss functions for Bayesian
//! clustering): items are allocated one by one in random order, or a draw is the start; scans move
//! single items until nothing improves; then whole blocks are broken up and allocated anew.

use super::blocks::Blocks;
use super::loss::{Loss, expected_loss, loss_over};
use super::sample::Sample;
use super::score::Score;
use super::table::Table;
use crate::partition::{Item, Partition, Slot, canonical};
use crate::rng::{Purpose, Rng};
use rayon::prelude::*;

/// How to search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchOptions {
    /// The number of starts; more find a better minimum. At least one is made.
    pub runs: usize,
    /// Results depend on this and on the sample alone.
    pub seed: u64,
    /// The estimate has no more blocks than this. `None`: as many as it takes.
    pub max_blocks: Option<usize>,
    /// In each run so many blocks, at most, are broken up to see whether their items find better
    /// places. Each costs a scan or more; 10 are quick, all of them find a better minimum than more
    /// runs do in the same time.
    pub broken_blocks: usize,
}

impl Default for SearchOptions {
    fn default() -> Self {
        SearchOptions { runs: 16, seed: 1, max_blocks: None, broken_blocks: 100 }
    }
}

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Canonical labels.
    pub labels: Vec<u32>,
    /// The average loss between a draw and these labels.
    pub expected_loss: f64,
    /// The number of runs that were made.
    pub runs: usize,
    /// How many of them ended at this expected loss: many mean that it hardly gets better.
    pub hits: usize,
}

/// Scans stop after so many, should rounding ever make items go round in circles.
const MOST_SCANS: usize = 1000;

/// The best draw is found by comparing all with all up to so many labels to look at …
const EXACT_LABELS: usize = 100_000_000;
/// … and otherwise by comparing all with so many, and the best of them with all.
const JURY: usize = 32;
const FINALISTS: usize = 8;

/// Looks for the partition whose expected loss over the sample is the least.
///
/// The first run starts from the best draw, so that the result is no worse than any (from one of the
/// best, if there are too many to compare all with all); the others from nothing and from random draws
/// in turns. Runs are made in parallel; the result does not depend on the number of threads. A scan
/// costs O(n · distinct draws) or less where draws share blocks; for the adjusted Rand index, which
/// is a ratio for each draw, that many times the number of different block sizes.
///
/// ```
/// use armix::estimate::{Loss, Sample, SearchOptions, minimise};
/// // No draw is the majority, but the first two items are mostly together, and so are the others.
/// let sample = Sample::new([[0, 0, 1, 1], [0, 0, 1, 2], [0, 1, 2, 2], [0, 0, 1, 1], [0, 0, 0, 0]])?;
/// let estimate = minimise(&sample, Loss::Vi, &SearchOptions::default());
/// assert_eq!(estimate.labels, [0, 0, 1, 1]);
/// # Ok::<(), armix::error::Error>(())
/// ```
pub fn minimise(sample: &Sample, loss: Loss, options: &SearchOptions) -> Estimate {
    let runs = options.runs.max(1);
    let most_blocks = options.max_blocks.unwrap_or(sample.n()).max(1);
    let blocks = Score::blocks(sample, loss);
    let best_draw = best_draw(sample, loss, options.seed, most_blocks);
    let run = |run: usize| {
        let rng = Rng::new(Purpose::Search, options.seed, 0, 0, run as u64);
        let mut walker = Walker::new(sample, loss, &blocks, most_blocks, rng);
        match start(sample, run, best_draw, most_blocks, &mut walker.rng) {
            Some(draw) => walker.start_from(&sample.labels(draw)),
            None => walker.allocate_all(),
        }
        walker.scan_until_settled();
        walker.break_blocks(options.broken_blocks);
        walker.labels()
    };
    let found: Vec<Vec<u32>> = (0..runs).into_par_iter().map(run).collect();
    best_of(sample, loss, found)
}

/// The first of the best; equal answers are weighed once.
fn best_of(sample: &Sample, loss: Loss, found: Vec<Vec<u32>>) -> Estimate {
    let runs = found.len();
    let mut distinct: Vec<(Vec<u32>, usize)> = Vec::new();
    for labels in found {
        match distinct.iter_mut().find(|(other, _)| *other == labels) {
            Some((_, hits)) => *hits += 1,
            None => distinct.push((labels, 1)),
        }
    }
    let weighed = distinct.into_iter().map(|(labels, hits)| {
        let expected_loss = expected_loss(sample, &labels, loss);
        Estimate { labels, expected_loss, runs, hits }
    });
    let best = weighed.min_by(|a, b| a.expected_loss.total_cmp(&b.expected_loss));
    best.expect("at least one run was made")
}

/// The draw that a run starts from; `None` if it starts from nothing.
fn start(
    sample: &Sample,
    run: usize,
    best_draw: Option<usize>,
    most_blocks: usize,
    rng: &mut Rng,
) -> Option<usize> {
    if run == 0 {
        return best_draw;
    }
    let draw = sample.distinct_of_draws()[rng.below(sample.draws() as u64) as usize] as usize;
    (run.is_multiple_of(2) && sample.blocks(draw) <= most_blocks).then_some(draw)
}

/// The draw with the least expected loss among those with few enough blocks, or nearly so if there
/// are too many to compare them all.
fn best_draw(sample: &Sample, loss: Loss, seed: u64, most_blocks: usize) -> Option<usize> {
    let all: Vec<usize> = (0..sample.distinct()).collect();
    let few_blocks = |&d: &usize| sample.blocks(d) <= most_blocks;
    let candidates: Vec<usize> = all.iter().copied().filter(few_blocks).collect();
    let best = |candidates: &[usize], judges: &[usize], count: usize| -> Vec<usize> {
        let judge = |&d: &usize| (loss_over(sample, &sample.labels(d), loss, judges), d);
        let mut judged: Vec<(f64, usize)> = candidates.par_iter().map(judge).collect();
        judged.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        judged.into_iter().take(count).map(|(_, d)| d).collect()
    };
    if candidates.len().saturating_mul(all.len()).saturating_mul(sample.n()) <= EXACT_LABELS {
        return best(&candidates, &all, 1).first().copied();
    }
    let mut jury = all.clone();
    Rng::new(Purpose::Search, seed, 0, 1, 0).shuffle(&mut jury);
    jury.truncate(JURY);
    let finalists = best(&candidates, &jury, FINALISTS);
    best(&finalists, &all, 1).first().copied()
}

/// A partition that goes downhill.
struct Walker<'a> {
    blocks: &'a Blocks,
    most_blocks: usize,
    z: Partition,
    table: Table,
    score: Score,
    costs: Vec<f64>,
    order: Vec<Item>,
    rng: Rng,
}

impl<'a> Walker<'a> {
    fn new(sample: &Sample, loss: Loss, blocks: &'a Blocks, most_blocks: usize, rng: Rng) -> Self {
        Walker {
            blocks,
            most_blocks,
            z: Partition::unplaced(sample.n()),
            table: Table::new(blocks),
            score: Score::new(sample, loss, blocks),
            costs: Vec::new(),
            order: (0..sample.n()).map(Item::new).collect(),
            rng,
        }
    }

    fn labels(&self) -> Vec<u32> {
        let slots = self.z.slots_of_items().iter().map(|slot| slot.index() as u32);
        canonical(&slots.collect::<Vec<u32>>())
    }

    fn take(&mut self, item: Item) {
        let held = self.blocks.of_item(item.index());
        self.score.take(item, held, &mut self.z, &mut self.table);
    }

    fn put(&mut self, item: Item, slot: Slot) {
        let held = self.blocks.of_item(item.index());
        self.score.put(item, slot, held, &mut self.z, &mut self.table);
    }

    /// Weighs all places of an item; the cheapest one, and how much cheaper than its home it is.
    fn cheapest(&mut self, item: Item) -> (Slot, f64) {
        let held = self.blocks.of_item(item.index());
        self.score.weigh(item, held, &self.z, &self.table, &mut self.costs);
        let (live, home) = (self.z.live(), self.z.slot_of(item));
        let mut best = (Slot::NOWHERE, f64::INFINITY);
        let mut stay = f64::INFINITY;
        for (&slot, &cost) in live.iter().zip(&self.costs) {
            if cost < best.1 {
                best = (slot, cost);
            }
            if slot == home {
                stay = cost;
            }
        }
        let alone = home != Slot::NOWHERE && self.z.size(home) == 1;
        if !alone && live.len() < self.most_blocks && self.costs[live.len()] < best.1 {
            best = (self.z.fresh(), self.costs[self.costs.len() - 1]);
        }
        (best.0, stay - best.1)
    }

    fn start_from(&mut self, labels: &[u32]) {
        for (index, &label) in labels.iter().enumerate() {
            // Canonical labels come in order, and so do fresh slots.
            let slot = match label as usize {
                known if known < self.z.slots() => Slot::new(known),
                _ => self.z.fresh(),
            };
            self.put(Item::new(index), slot);
        }
    }

    fn allocate_all(&mut self) {
        let mut order = std::mem::take(&mut self.order);
        self.allocate(&mut order);
        self.order = order;
    }

    /// Puts items that are nowhere where they are cheapest, one by one in random order.
    fn allocate(&mut self, items: &mut [Item]) {
        self.rng.shuffle(items);
        for &item in items.iter() {
            let (slot, _) = self.cheapest(item);
            self.put(item, slot);
        }
    }

    /// Moves single items, in random order, until no move lowers the loss.
    fn scan_until_settled(&mut self) {
        let tolerance = self.score.tolerance();
        let mut order = std::mem::take(&mut self.order);
        self.rng.shuffle(&mut order);
        // Round and round in one order: when as many items in a row stayed as there are, all did.
        let mut stayed = 0;
        for &item in order.iter().cycle().take(MOST_SCANS * order.len()) {
            let (slot, saved) = self.cheapest(item);
            stayed += 1;
            if saved > tolerance {
                self.take(item);
                self.put(item, slot);
                stayed = 0;
            }
            if stayed == order.len() {
                break;
            }
        }
        self.order = order;
    }

    /// Breaks up blocks in random order, and keeps what comes of it when that lowers the loss.
    fn break_blocks(&mut self, most: usize) {
        let mut blocks = self.z.live().to_vec();
        self.rng.shuffle(&mut blocks);
        // Items alone have been everywhere in the scans.
        blocks.retain(|&slot| self.z.size(slot) > 1);
        let mut total = self.score.total(&self.z, &self.table);
        for slot in blocks.into_iter().take(most) {
            let before = self.z.slots_of_items().to_vec();
            let all = (0..before.len()).map(Item::new);
            let mut members: Vec<Item> = all.filter(|item| before[item.index()] == slot).collect();
            members.iter().for_each(|&item| self.take(item));
            self.allocate(&mut members);
            if self.same_block(&members) {
                continue;
            }
            self.scan_until_settled();
            let new_total = self.score.total(&self.z, &self.table);
            if new_total < total - self.score.tolerance() {
                total = new_total;
            } else {
                self.return_to(&before);
            }
        }
    }

    /// Whether these items are one block, and nothing else is in it.
    fn same_block(&self, items: &[Item]) -> bool {
        let Some(&first) = items.first() else { return true };
        let slot = self.z.slot_of(first);
        self.z.size(slot) as usize == items.len()
            && items.iter().all(|&item| self.z.slot_of(item) == slot)
    }

    fn return_to(&mut self, before: &[Slot]) {
        for (index, &slot) in before.iter().enumerate() {
            let item = Item::new(index);
            if self.z.slot_of(item) != slot {
                self.take(item);
                self.put(item, slot);
            }
        }
    }
}
