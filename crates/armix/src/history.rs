//! What the chains of an ensemble have been through, kept small; and how a move draws from it.

use crate::partition::{Item, Refiner};
use crate::rng::Rng;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Draws of zᵃ and zᵇ that turn out to be the same partition are repeated this often, then the
/// past is taken to agree.
const TRIES: usize = 32;

/// Labels of one state in as few bytes as the number of blocks allows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Row {
    /// Up to 256 blocks.
    Small(Box<[u8]>),
    /// Up to 65 536 blocks.
    Medium(Box<[u16]>),
    /// Any number of blocks.
    Large(Box<[u32]>),
}

impl Row {
    /// Packs canonical labels.
    pub fn new(labels: &[u32]) -> Self {
        match labels.iter().max() {
            Some(&m) if m > u32::from(u16::MAX) => Row::Large(labels.into()),
            Some(&m) if m > u32::from(u8::MAX) => {
                Row::Medium(labels.iter().map(|&l| l as u16).collect())
            }
            _ => Row::Small(labels.iter().map(|&l| l as u8).collect()),
        }
    }

    /// Packs other canonical labels, into the same bytes if these are up to 256 blocks of as many items.
    pub fn repack(&mut self, labels: &[u32]) {
        let fits = |most: u32| labels.iter().all(|&l| l <= most);
        match self {
            Row::Small(row) if row.len() == labels.len() && fits(u8::MAX.into()) => {
                row.iter_mut().zip(labels).for_each(|(to, &l)| *to = l as u8);
            }
            _ => *self = Row::new(labels),
        }
    }

    /// The number of items.
    pub fn n(&self) -> usize {
        match self {
            Row::Small(row) => row.len(),
            Row::Medium(row) => row.len(),
            Row::Large(row) => row.len(),
        }
    }

    /// The label of an item.
    pub fn get(&self, item: usize) -> u32 {
        match self {
            Row::Small(row) => u32::from(row[item]),
            Row::Medium(row) => u32::from(row[item]),
            Row::Large(row) => row[item],
        }
    }

    /// Unpacks into a buffer.
    pub fn unpack(&self, labels: &mut Vec<u32>) {
        labels.clear();
        match self {
            Row::Small(row) => labels.extend(row.iter().map(|&l| u32::from(l))),
            Row::Medium(row) => labels.extend(row.iter().map(|&l| u32::from(l))),
            Row::Large(row) => labels.extend_from_slice(row),
        }
    }

    /// The labels.
    pub fn labels(&self) -> Vec<u32> {
        let mut labels = Vec::new();
        self.unpack(&mut labels);
        labels
    }

    fn bytes(&self) -> u64 {
        let labels = match self {
            Row::Small(row) => row.len(),
            Row::Medium(row) => 2 * row.len(),
            Row::Large(row) => 4 * row.len(),
        };
        (labels + size_of::<Row>()) as u64
    }
}

/// The states of all chains after one iteration, in chain order.
#[derive(Debug)]
struct Round {
    iteration: usize,
    rows: Vec<Row>,
}

/// The past states of an ensemble, as far back as the window can reach and as densely as the
/// memory budget allows.
#[derive(Debug)]
pub struct History {
    rounds: VecDeque<Round>,
    bytes: u64,
    budget: u64,
    /// Only iterations that are multiples of this are kept; doubled when the budget is used up.
    stride: usize,
}

impl History {
    /// An empty history that will keep to this many bytes.
    pub fn new(budget: u64) -> Self {
        History { rounds: VecDeque::new(), bytes: 0, budget, stride: 1 }
    }

    /// A history that was kept: its stride and its rounds, in order of their iterations.
    pub fn restore(budget: u64, stride: usize, rounds: Vec<(usize, Vec<Row>)>) -> Self {
        let mut history = History::new(budget);
        history.stride = stride.max(1);
        for (iteration, rows) in rounds {
            history.bytes += rows.iter().map(Row::bytes).sum::<u64>();
            history.rounds.push_back(Round { iteration, rows });
        }
        history
    }

    /// The iterations that are kept.
    pub fn iterations(&self) -> Vec<usize> {
        self.rounds.iter().map(|r| r.iteration).collect()
    }

    /// Bytes in use.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many iterations lie between two that are kept.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Appends the states after an iteration, and forgets those that no later window reaches.
    pub fn push(&mut self, iteration: usize, rows: Vec<Row>) {
        while self.rounds.front().is_some_and(|r| r.iteration < iteration / 2) {
            self.remove(0);
        }
        if iteration.is_multiple_of(self.stride) {
            self.bytes += rows.iter().map(Row::bytes).sum::<u64>();
            self.rounds.push_back(Round { iteration, rows });
        }
        // Thin evenly. One round is always kept: with nothing at all no move could adapt.
        while self.bytes > self.budget && self.rounds.len() > 1 {
            self.stride *= 2;
            for at in (0..self.rounds.len()).rev() {
                let kept = self.rounds[at].iteration.is_multiple_of(self.stride);
                if !kept && self.rounds.len() > 1 {
                    self.remove(at);
                }
            }
        }
    }

    fn remove(&mut self, at: usize) {
        if let Some(round) = self.rounds.remove(at) {
            self.bytes -= round.rows.iter().map(Row::bytes).sum::<u64>();
        }
    }

    /// The past of one chain that is in state t: iterations ⌊t/2⌋ … t − 1. State t itself is left
    /// out: φ must not depend on the current state of this chain, and those of the others are
    /// being changed in the same round.
    pub fn past(&self, chain: usize, t: usize) -> Past<'_> {
        let before = |iteration| self.rounds.partition_point(|r: &Round| r.iteration < iteration);
        Past { history: self, chain, from: before(t / 2), to: before(t) }
    }
}

/// A frozen view of the history; all chains of a round look at the same.
#[derive(Debug, Clone, Copy)]
pub struct Past<'h> {
    history: &'h History,
    chain: usize,
    from: usize,
    to: usize,
}

impl Past<'_> {
    /// The number of rounds in view.
    pub fn rounds(&self) -> usize {
        self.to - self.from
    }

    /// Draws zᵃ from the chain's own past and zᵇ from everybody's, not the same partition, and
    /// then i, j uniformly from the pairs on which they disagree. Writes labels of zᵃ ∨ zᵇ.
    /// `None` if no disagreement was found.
    pub fn draw_disagreement(
        &self,
        rng: &mut Rng,
        disagreement: &mut Disagreement,
        agreed: &mut Vec<u32>,
    ) -> Option<(Item, Item)> {
        let rounds = self.rounds() as u64;
        if rounds == 0 {
            return None;
        }
        for _ in 0..TRIES {
            let own = &self.round(rng.below(rounds)).rows[self.chain];
            let others = &self.round(rng.below(rounds)).rows;
            let other = &others[rng.below(others.len() as u64) as usize];
            if let Some(pair) = disagreement.draw(own, other, rng, agreed) {
                return Some(pair);
            }
        }
        None
    }

    /// Labels of a state from the chain's own past and of one from everybody's; none if there is no past.
    pub fn draw_two(&self, rng: &mut Rng) -> Vec<Vec<u32>> {
        let rounds = self.rounds() as u64;
        if rounds == 0 {
            return Vec::new();
        }
        let own = &self.round(rng.below(rounds)).rows[self.chain];
        let others = &self.round(rng.below(rounds)).rows;
        let other = &others[rng.below(others.len() as u64) as usize];
        vec![own.labels(), other.labels()]
    }

    fn round(&self, index: u64) -> &Round {
        &self.history.rounds[self.from + index as usize]
    }
}

/// Finds pairs on which two partitions disagree, in O(n).
#[derive(Debug, Clone, Default)]
pub struct Disagreement {
    a: Vec<u32>,
    b: Vec<u32>,
    refiner: Refiner,
    counts: [Vec<u32>; 3],
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
        za.unpack(&mut self.a);
        zb.unpack(&mut self.b);
        let Self { a, b, refiner, counts: [in_a, in_b, in_both] } = self;
        refiner.refine(a, b, agreed);
        count(a, in_a);
        count(b, in_b);
        count(agreed, in_both);
        // Item i disagrees about those who share its block in a or in b, but not in both. Chosen
        // with that weight, and then j uniformly among them, every ordered pair is equally likely.
        let partners = |i: usize| {
            let both = in_both[agreed[i] as usize];
            u64::from(in_a[a[i] as usize] - both) + u64::from(in_b[b[i] as usize] - both)
        };
        let total: u64 = (0..a.len()).map(partners).sum();
        if total == 0 {
            return None;
        }
        let mut left = rng.below(total);
        let i = (0..a.len()).find(|&i| {
            let here = partners(i);
            let found = left < here;
            left = if found { left } else { left - here };
            found
        })?;
        let j = (0..a.len()).filter(|&j| (a[i] == a[j]) != (b[i] == b[j])).nth(left as usize)?;
        Some((Item::new(i), Item::new(j)))
    }
}

/// How often each label occurs.
fn count(labels: &[u32], counts: &mut Vec<u32>) {
    counts.clear();
    counts.resize(labels.iter().max().map_or(0, |&m| m as usize + 1), 0);
    for &label in labels {
        counts[label as usize] += 1;
    }
}
