//! The statistics of few blocks of a small network, laid out so that a vertex is weighed by adding rows up.
//!
//! [`Links`](super::links::Links) serves any number of blocks, and looks at those that a vertex has links to. Among few blocks
//! finding these takes longer than adding up what is kept for all of them, and keeping sums over blocks takes longer than
//! adding them up. So nothing is kept here but what follows from the counts of two blocks.
//!
//! Counts are numbers of 16 bits, for all slots side by side. All of them are in the tables, whose length is known when this is compiled,
//! so that nothing asks whether they are.

use super::links::Between;
use super::load::VertexLoad;
use super::pairs;
use crate::partition::{Partition, Slot};
use crate::special::BetaBernoulli;

/// Up to so many slots are few.
pub(super) const MOST_SLOTS: usize = 16;
/// So many vertices make a small network: all its pairs are in the tables, and there are enough of them for [`KEPT`] links.
pub(super) const VERTICES: std::ops::RangeInclusive<usize> = 4..=120;

/// What a vertex adds is kept for 0, 1, … links to a block, fewer than these.
const KEPT: usize = 4;

/// A count for each slot.
pub(super) type Counts = [u16; MOST_SLOTS];
/// A number for each slot.
type Row = [f64; MOST_SLOTS];
/// Tables are so long. Longer ones for larger networks would take longer to make than they gain where hyper-parameters are sampled.
const COUNTS: usize = 1 << 13;
/// A number for every count.
type Table = [f64; COUNTS];

/// The number for a count.
#[inline(always)]
fn at(table: &Table, count: u16) -> f64 {
    debug_assert!(usize::from(count) < COUNTS);
    table[usize::from(count) % COUNTS]
}

/// The index of a slot, which are few: saying so spares looking whether it is in range.
#[inline(always)]
fn index(slot: Slot) -> usize {
    debug_assert!(slot.index() < MOST_SLOTS);
    slot.index() % MOST_SLOTS
}

/// What the evidence of so many linked pairs, unlinked pairs and all pairs is made of.
#[derive(Debug, Clone)]
pub(super) struct Tables {
    plus: Box<Table>,
    minus: Box<Table>,
    both: Box<Table>,
}

impl Tables {
    /// The tables of a coin, which are no longer than these.
    pub(super) fn new(coin: &BetaBernoulli) -> Self {
        let [plus, minus, both] = coin.tables().map(|known| {
            let mut table = vec![0.0; COUNTS];
            table[..known.len()].copy_from_slice(known);
            table.try_into().expect("as long as it was made")
        });
        Tables { plus, minus, both }
    }

    /// ln of the evidence of pairs.
    #[inline(always)]
    fn ln_evidence(&self, linked: u16, unlinked: u16, all: u16) -> f64 {
        at(&self.plus, linked) + at(&self.minus, unlinked) - at(&self.both, all)
    }

    /// What the evidence grows by with so many more pairs, 0, 1, … of them linked. It means nothing where more of them are linked than
    /// there are.
    #[inline(always)]
    fn gains(&self, linked: u16, all: u16, more: u16) -> [f64; KEPT] {
        let plus: &[f64; KEPT] =
            self.plus[usize::from(linked)..].first_chunk().expect("tables are long enough");
        let unlinked = all - linked;
        let minus = at(&self.minus, unlinked);
        let tossed = at(&self.both, all + more) - at(&self.both, all);
        std::array::from_fn(|new| {
            let zeros = usize::from(unlinked + more).wrapping_sub(new) % COUNTS;
            (plus[new] - plus[0]) + ((self.minus[zeros] - minus) - tossed)
        })
    }
}

/// The statistics of the blocks; empty slots have no vertices, no pairs and no evidence.
#[derive(Debug, Default)]
pub struct Compact {
    /// So many slots are in use, a multiple of four.
    side: usize,
    size: Counts,
    /// By two slots; symmetric.
    pairs: Vec<PairsOf>,
    /// What the evidence of the pairs between l and k grows by if a vertex with 0, 1, … links to l joins k: [`KEPT`] rows for each l.
    joining: Vec<Row>,
    /// The same if it becomes a block of its own.
    alone: Vec<f64>,
}

/// What there is between a slot and all slots. Pairs within a slot count once.
#[derive(Debug, Clone, Copy, Default)]
struct PairsOf {
    /// N⁺.
    linked: Counts,
    /// N⁺ + N⁻.
    all: Counts,
    /// ln of the evidence.
    evidence: Row,
}

impl Clone for Compact {
    fn clone(&self) -> Self {
        let mut compact = Compact::default();
        compact.clone_from(self);
        compact
    }

    fn clone_from(&mut self, source: &Self) {
        self.side = source.side;
        self.size = source.size;
        self.pairs.clone_from(&source.pairs);
        self.joining.clone_from(&source.joining);
        self.alone.clone_from(&source.alone);
    }
}

impl Between for Compact {
    #[inline(always)]
    fn size(&self, slot: usize) -> u64 {
        u64::from(self.size[slot])
    }

    #[inline(always)]
    fn linked_and_all(&self, l: usize, k: usize) -> (u64, u64) {
        let pairs = &self.pairs[l];
        (u64::from(pairs.linked[k]), u64::from(pairs.all[k]))
    }

    #[inline(always)]
    fn links_of(&self, load: &VertexLoad, slot: usize) -> u64 {
        u64::from(load.linked.with_few()[slot])
    }
}

impl Compact {
    /// The bytes that so many blocks take.
    pub(super) fn bytes(blocks: usize) -> u64 {
        let row = size_of::<PairsOf>() + KEPT * (size_of::<Row>() + size_of::<f64>());
        (size_of::<Compact>() + blocks.next_multiple_of(4) * row) as u64
    }

    /// How many slots there is room for.
    pub(super) fn slots(&self) -> usize {
        self.side
    }

    /// Makes room for so many slots, which are few.
    pub(super) fn grow(&mut self, slots: usize) {
        debug_assert!(slots <= MOST_SLOTS);
        if slots > self.side {
            self.side = slots.next_multiple_of(4).max(8);
            self.pairs.resize(self.side, PairsOf::default());
            // The last row stays zero.
            self.joining.resize(self.side * KEPT + 1, Row::default());
            self.alone.resize(self.side * KEPT + 1, 0.0);
        }
    }

    /// A set of vertices joins a slot or leaves it. z has none of them.
    pub(super) fn change(
        &mut self,
        tables: &Tables,
        load: &VertexLoad,
        z: &Partition,
        slot: Slot,
        joins: bool,
    ) {
        let (k, rest) = (index(slot), z.size(slot) as u16);
        let size = rest + if joins { load.m as u16 } else { 0 };
        self.size[k] = size;
        if size == 0 {
            return self.clear(k);
        }
        // Links among them count as those to the others in the slot do.
        let mut links = *load.linked.with_few();
        links[k] += load.linked.inner as u16;
        for (linked, links) in self.pairs[k].linked.iter_mut().zip(links) {
            *linked = if joins { *linked + links } else { *linked - links };
        }
        for &slot in z.live() {
            self.conclude(tables, k, index(slot));
        }
        if rest == 0 {
            self.conclude(tables, k, k); // z does not know of this block yet
        }
        self.conclude_alone(tables, k);
    }

    /// All vertices leave a slot, whatever links they have.
    pub(super) fn forget(&mut self, slot: Slot) {
        self.size[index(slot)] = 0;
        self.clear(index(slot));
    }

    /// Of an empty slot nothing is left.
    fn clear(&mut self, k: usize) {
        self.pairs[k] = PairsOf::default();
        for pairs in &mut self.pairs {
            (pairs.linked[k], pairs.all[k], pairs.evidence[k]) = (0, 0, 0.0);
        }
    }

    /// Brings what follows from the links of slot k with l, which may be k, up to date.
    #[inline(always)]
    fn conclude(&mut self, tables: &Tables, k: usize, l: usize) {
        let (size, others) = (self.size[k], self.size[l]);
        let linked = self.pairs[k].linked[l];
        let all = if k == l { pairs(u64::from(size)) as u16 } else { size * others };
        let evidence = tables.ln_evidence(linked, all - linked, all);
        for (row, column, more) in [(k, l, size), (l, k, others)] {
            let pairs = &mut self.pairs[row];
            pairs.linked[column] = linked;
            pairs.all[column] = all;
            pairs.evidence[column] = evidence;
            let gains = tables.gains(linked, all, more);
            for (row, gain) in self.joining[row * KEPT..][..KEPT].iter_mut().zip(gains) {
                row[column] = gain;
            }
        }
    }

    /// Brings what follows from the size of a block up to date.
    #[inline(always)]
    fn conclude_alone(&mut self, tables: &Tables, k: usize) {
        self.alone[k * KEPT..][..KEPT].copy_from_slice(&tables.gains(0, 0, self.size[k]));
    }

    /// Brings all that follows from the links and sizes up to date.
    pub(super) fn conclude_all(&mut self, tables: &Tables) {
        let size = self.size;
        let live = |up_to: usize| (0..up_to).filter(move |&k| size[k] > 0);
        for k in live(MOST_SLOTS) {
            live(k + 1).for_each(|l| self.conclude(tables, k, l));
            self.conclude_alone(tables, k);
        }
    }

    /// ln of the evidence of all pairs.
    pub(super) fn ln_evidence(&self, z: &Partition) -> f64 {
        let mut sum = 0.0;
        for (at, &slot) in z.live().iter().enumerate() {
            let row = &self.pairs[index(slot)].evidence;
            sum += z.live()[..=at].iter().map(|&other| row[index(other)]).sum::<f64>();
        }
        sum
    }

    /// What the evidence grows by if a single vertex joins each of these slots.
    #[inline(always)]
    pub(super) fn gains(
        &self,
        tables: &Tables,
        load: &VertexLoad,
        home: Option<Slot>,
        z: &Partition,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        match self.side {
            8 => self.gains_in::<8>(tables, load, home, z, slots, gains),
            12 => self.gains_in::<12>(tables, load, home, z, slots, gains),
            _ => self.gains_in::<MOST_SLOTS>(tables, load, home, z, slots, gains),
        }
    }

    #[inline(never)]
    fn gains_in<const SIDE: usize>(
        &self,
        tables: &Tables,
        load: &VertexLoad,
        home: Option<Slot>,
        z: &Partition,
        slots: &[Slot],
        gains: &mut [f64],
    ) {
        let links = load.linked.with_few();
        // As if its home, where it still is counted, were a block like all others …
        let row = |l: usize| match usize::from(links[l]) {
            new if new < KEPT => l * KEPT + new,
            _ => SIDE * KEPT,
        };
        let mut sums = [0.0; SIDE];
        let mut alone = 0.0;
        let mut many = 0;
        for &slot in z.live() {
            let l = index(slot);
            let row = row(l);
            sums.iter_mut().zip(&self.joining[row]).for_each(|(sum, grows)| *sum += grows);
            alone += self.alone[row];
            many += links[l] / KEPT as u16;
        }
        // … which it is not. Taking that back needs no branch, and nothing can foresee where its home is.
        let home = home.map(index);
        if let Some(home) = home.filter(|&home| self.size[home] > 1) {
            let row = row(home);
            sums.iter_mut().zip(&self.joining[row]).for_each(|(sum, grows)| *sum -= grows);
            alone -= self.alone[row];
            many -= links[home] / KEPT as u16;
        }
        let mut sums: Row = std::array::from_fn(|k| if k < SIDE { sums[k] } else { 0.0 });
        if many > 0 {
            alone += self.add_many_links(tables, links, home, z, slots, &mut sums);
        }
        if let Some(home) = home {
            alone += self.leave_home(tables, links, home, z, &mut sums);
        }
        for (&slot, gain) in slots.iter().zip(gains) {
            let k = index(slot);
            *gain = if self.size[k] == 0 { alone } else { sums[k] };
        }
    }

    /// Adds what changes between its home and all blocks if a vertex leaves home for them, and puts what it is at home in the place of
    /// its home; returns what there is to be added for a block of its own.
    #[inline(always)]
    fn leave_home(
        &self,
        tables: &Tables,
        links: &Counts,
        home: usize,
        z: &Partition,
        sums: &mut Row,
    ) -> f64 {
        let at_home = &self.pairs[home];
        let (rest, new) = (self.size[home] - 1, links[home]);
        // What there is between its home without it and all blocks …
        let linked: Counts = std::array::from_fn(|k| at_home.linked[k].wrapping_sub(links[k]));
        let mut all: Counts = std::array::from_fn(|k| at_home.all[k].wrapping_sub(self.size[k]));
        let mut unlinked: Counts = std::array::from_fn(|k| all[k].wrapping_sub(linked[k]));
        // … and the same with it as one of the others.
        let more_linked = linked.map(|linked| linked.wrapping_add(new));
        let mut more = all.map(|all| all.wrapping_add(rest));
        let mut more_unlinked = unlinked.map(|zeros| zeros.wrapping_add(rest.wrapping_sub(new)));
        // It is no pair with itself.
        for counts in [&mut all, &mut unlinked, &mut more, &mut more_unlinked] {
            counts[home] = counts[home].wrapping_add(1);
        }
        let mut stays = 0.0;
        for &slot in z.live() {
            let l = index(slot);
            let without = tables.ln_evidence(linked[l], unlinked[l], all[l]);
            stays += at_home.evidence[l] - without;
            sums[l] += tables.ln_evidence(more_linked[l], more_unlinked[l], more[l]) - without;
        }
        sums[home] = stays;
        tables.ln_evidence(new, rest - new, rest)
    }

    /// Adds what more links to a block than is kept for make, for these slots; returns what they make for a block of its own.
    #[inline(never)]
    fn add_many_links(
        &self,
        tables: &Tables,
        links: &Counts,
        home: Option<usize>,
        z: &Partition,
        slots: &[Slot],
        sums: &mut Row,
    ) -> f64 {
        let mut alone = 0.0;
        for l in z.live().iter().map(|&l| index(l)).filter(|&l| Some(l) != home) {
            let (new, more) = (links[l], self.size[l]);
            if usize::from(new) < KEPT {
                continue;
            }
            let PairsOf { linked, all, evidence } = &self.pairs[l];
            for k in slots.iter().map(|&k| index(k)).filter(|&k| Some(k) != home) {
                let (linked, all) = (linked[k] + new, all[k] + more);
                sums[k] += tables.ln_evidence(linked, all - linked, all) - evidence[k];
            }
            alone += tables.ln_evidence(new, more - new, more);
        }
        alone
    }

    /// Whether what is kept up to date equals what is computed anew, to the last bit.
    pub(super) fn is_true(&self, tables: &Tables, z: &Partition) -> bool {
        let mut anew = self.clone();
        anew.conclude_all(tables);
        let live = || z.live().iter().map(|&k| index(k));
        let kept = |compact: &Compact, l: usize, k: usize| {
            let rows = (0..KEPT).map(|links| compact.joining[l * KEPT + links][k].to_bits());
            let evidence = compact.pairs[l].evidence[k].to_bits();
            (compact.linked_and_all(l, k), evidence, rows.collect::<Vec<_>>())
        };
        let alone = |compact: &Compact, l: usize| {
            compact.alone[l * KEPT..][..KEPT].iter().map(|x| x.to_bits()).collect::<Vec<_>>()
        };
        z.live().iter().all(|&slot| u32::from(self.size[index(slot)]) == z.size(slot))
            && live().all(|l| live().all(|k| kept(&anew, l, k) == kept(self, l, k)))
            && live().all(|l| alone(&anew, l) == alone(self, l))
    }
}
