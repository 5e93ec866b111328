//! What the chains of an ensemble have been through, kept small; and how a move draws from it.

use crate::rng::Rng;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

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
    /// ln q of each; empty if nobody wants to know.
    energies: Vec<f64>,
}

impl Round {
    fn bytes(&self) -> u64 {
        self.rows.iter().map(Row::bytes).sum::<u64>() + size_of_val(&*self.energies) as u64
    }
}

/// The states after an iteration in chain order, and ln q of each if somebody wants to know.
pub type Remembered = (usize, Vec<Row>, Vec<f64>);

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
    pub fn restore(budget: u64, stride: usize, rounds: Vec<Remembered>) -> Self {
        let mut history = History::new(budget);
        history.stride = stride.max(1);
        for (iteration, rows, energies) in rounds {
            history.append(Round { iteration, rows, energies });
        }
        history
    }

    fn append(&mut self, round: Round) {
        self.bytes += round.bytes();
        self.rounds.push_back(round);
    }

    /// The iterations that are kept.
    pub fn iterations(&self) -> Vec<usize> {
        self.rounds.iter().map(|r| r.iteration).collect()
    }

    /// ln q of the states of each, in chain order; empty if they were not asked for.
    pub fn energies(&self) -> Vec<Vec<f64>> {
        self.rounds.iter().map(|r| r.energies.clone()).collect()
    }

    /// Bytes in use.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many iterations lie between two that are kept.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// [`History::remember`] without ln q.
    pub fn push(&mut self, iteration: usize, rows: Vec<Row>) {
        self.remember((iteration, rows, Vec::new()));
    }

    /// Appends the states after an iteration, and forgets those that no later window reaches.
    pub fn remember(&mut self, (iteration, rows, energies): Remembered) {
        while self.rounds.front().is_some_and(|r| r.iteration < iteration / 2) {
            self.remove(0);
        }
        if iteration.is_multiple_of(self.stride) {
            self.append(Round { iteration, rows, energies });
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
            self.bytes -= round.bytes();
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

    /// A state from the chain's own past; `None` if there is no past.
    pub fn own(&self, rng: &mut Rng) -> Option<&Row> {
        Some(self.draw_own(rng)?.row)
    }

    /// A state from everybody's past.
    pub fn any(&self, rng: &mut Rng) -> Option<&Row> {
        Some(self.draw_any(rng)?.row)
    }

    /// A state from the past of chains that are at most `reach` places away, this one among them.
    pub fn near(&self, reach: usize, rng: &mut Rng) -> Option<&Row> {
        let round = self.draw_round(rng)?;
        let first = self.chain.saturating_sub(reach);
        let last = (self.chain + reach).min(round.rows.len() - 1);
        Some(&round.rows[first + rng.below((last - first + 1) as u64) as usize])
    }

    /// A state from the past of the other chains; `None` also if there are none.
    pub fn other(&self, rng: &mut Rng) -> Option<&Row> {
        let round = self.draw_round(rng)?;
        let others = (round.rows.len() as u64).checked_sub(1).filter(|&others| others > 0)?;
        let chain = rng.below(others) as usize;
        Some(&round.rows[chain + usize::from(chain >= self.chain)])
    }

    /// The likelier of two states from the chain's own past.
    pub fn likely_own(&self, rng: &mut Rng) -> Option<&Row> {
        Some(Drawn::likelier(self.draw_own(rng)?, self.draw_own(rng)?))
    }

    /// The likelier of two states from everybody's past.
    pub fn likely_any(&self, rng: &mut Rng) -> Option<&Row> {
        Some(Drawn::likelier(self.draw_any(rng)?, self.draw_any(rng)?))
    }

    fn draw_round(&self, rng: &mut Rng) -> Option<&Round> {
        let rounds = self.rounds() as u64;
        (rounds > 0).then(|| self.round(rng.below(rounds)))
    }

    fn draw_own(&self, rng: &mut Rng) -> Option<Drawn<'_>> {
        Some(Drawn::new(self.draw_round(rng)?, self.chain))
    }

    fn draw_any(&self, rng: &mut Rng) -> Option<Drawn<'_>> {
        let round = self.draw_round(rng)?;
        Some(Drawn::new(round, rng.below(round.rows.len() as u64) as usize))
    }

    /// Labels of a state from the chain's own past and of one from everybody's; none if there is no past.
    pub fn draw_two(&self, rng: &mut Rng) -> Vec<Vec<u32>> {
        let two = self.own(rng).and_then(|own| Some(vec![own.labels(), self.any(rng)?.labels()]));
        two.unwrap_or_default()
    }

    fn round(&self, index: u64) -> &Round {
        &self.history.rounds[self.from + index as usize]
    }
}

/// A past state.
struct Drawn<'h> {
    row: &'h Row,
    /// ln q, if it is known.
    energy: Option<f64>,
}

impl<'h> Drawn<'h> {
    fn new(round: &'h Round, chain: usize) -> Self {
        Drawn { row: &round.rows[chain], energy: round.energies.get(chain).copied() }
    }

    fn likelier(first: Self, second: Self) -> &'h Row {
        if second.energy > first.energy { second.row } else { first.row }
    }
}
