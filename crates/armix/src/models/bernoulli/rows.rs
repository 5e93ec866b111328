//! Rows of zeros and ones, packed, and what a set of them carries.

use crate::data::{BinaryTable, MISSING};
use crate::partition::Item;

/// A table with its cells packed.
#[derive(Debug)]
pub(super) struct PackedTable {
    pub(super) table: BinaryTable,
    pub(super) ones: Bits,
    /// `None` if no cell of the table is missing.
    pub(super) missing: Option<Bits>,
}

impl PackedTable {
    pub(super) fn new(table: BinaryTable) -> Self {
        PackedTable {
            ones: Bits::new(&table, 1),
            missing: table.has_missing().then(|| Bits::new(&table, MISSING)),
            table,
        }
    }
}

/// Rows of at most so many columns are gone through column by column, and not from one to the next: nothing can foresee where the ones
/// of a row are, and a branch that goes the wrong way takes as long as some ten columns.
pub(super) const NARROW: usize = 16;

/// Eight columns of a narrow row are a byte, which tells for each of them whether it counts: all bits of a number, or none.
pub(super) const MASKS: [[u64; 8]; 256] = {
    let mut masks = [[0; 8]; 256];
    let mut at = 0;
    while at < 8 * 256 {
        masks[at / 8][at % 8] = if ((at / 8) >> (at % 8)) & 1 == 1 { u64::MAX } else { 0 };
        at += 1;
    }
    masks
};

/// Which cells of a table have a value, 64 of them in a word.
#[derive(Debug, Clone)]
pub(super) struct Bits {
    words_per_row: usize,
    words: Vec<u64>,
}

impl Bits {
    fn new(table: &BinaryTable, value: u8) -> Self {
        let pack = |cells: &[u8]| {
            (cells.iter().rev()).fold(0, |word, &cell| word << 1 | u64::from(cell == value))
        };
        let words = (0..table.n()).flat_map(|i| table.row(i).chunks(64).map(pack)).collect();
        Bits { words_per_row: table.d().div_ceil(64), words }
    }

    /// Calls `visit` with every column of a row that has the value.
    #[inline]
    fn for_each(&self, row: usize, mut visit: impl FnMut(usize)) {
        for (at, &word) in
            self.words[row * self.words_per_row..][..self.words_per_row].iter().enumerate()
        {
            let mut left = word;
            while left != 0 {
                visit(64 * at + left.trailing_zeros() as usize);
                left &= left - 1;
            }
        }
    }
}

/// What a set of rows carries: how many they are, and their ones and missing cells in each column.
#[derive(Debug)]
pub struct RowLoad {
    pub(super) m: u32,
    pub(super) ones: ColumnCounts,
    pub(super) missing: ColumnCounts,
}

/// Counts by column.
#[derive(Debug)]
pub(super) struct ColumnCounts {
    /// Whether all columns are gone through …
    narrow: bool,
    /// … or only these: the count is zero in all others.
    pub(super) at: Vec<u32>,
    /// Of several rows, or of one that is not narrow …
    count: Vec<u32>,
    /// … and the cells of a single narrow row.
    pub(super) word: u64,
}

impl ColumnCounts {
    pub(super) fn new(d: usize, narrow: bool) -> Self {
        ColumnCounts { narrow, at: Vec::with_capacity(d), count: vec![0; d], word: 0 }
    }

    #[inline]
    pub(super) fn weigh(&mut self, items: &[Item], bits: &Bits) {
        match (self.narrow, items) {
            (true, [row]) => self.word = bits.words[row.index()],
            (true, _) => self.weigh_narrow(items, bits),
            (false, _) => self.weigh_wide(items, bits),
        }
    }

    fn weigh_narrow(&mut self, items: &[Item], bits: &Bits) {
        let mut counts = [[0_u64; 8]; NARROW / 8];
        for item in items {
            let word = bits.words[item.index()];
            for (at, counts) in counts[..self.count.len().div_ceil(8)].iter_mut().enumerate() {
                let masks = &MASKS[(word >> (8 * at)) as usize % 256];
                // All bits are −1.
                let add = |(count, mask): (&mut u64, &u64)| *count = count.wrapping_sub(*mask);
                counts.iter_mut().zip(masks).for_each(add);
            }
        }
        self.count.iter_mut().zip(counts.as_flattened()).for_each(|(to, &n)| *to = n as u32);
    }

    fn weigh_wide(&mut self, items: &[Item], bits: &Bits) {
        let ColumnCounts { at, count, .. } = self;
        at.drain(..).for_each(|column| count[column as usize] = 0);
        if let [row] = items {
            bits.for_each(row.index(), |column| {
                at.push(column as u32);
                count[column] = 1;
            });
            return;
        }
        for item in items {
            bits.for_each(item.index(), |column| {
                if count[column] == 0 {
                    at.push(column as u32);
                }
                count[column] += 1;
            });
        }
    }

    /// Takes over what is known of all columns.
    pub(super) fn copy(&mut self, counts: &[u32]) {
        self.count.copy_from_slice(counts);
        self.at.clear();
        if !self.narrow {
            self.at.extend((0..counts.len() as u32).filter(|&column| counts[column as usize] > 0));
        }
    }

    /// The count of a column, of so many rows.
    #[inline]
    pub(super) fn of(&self, column: usize, rows: u32) -> u32 {
        match self.narrow && rows == 1 {
            true => (self.word >> column & 1) as u32,
            false => self.count[column],
        }
    }

    /// Adds the counts of so many rows.
    pub(super) fn add_to(&self, sums: &mut [u32], rows: u32) {
        self.change(sums, rows, |sum, count| *sum += count);
    }

    /// Takes the counts of so many rows away.
    pub(super) fn sub_from(&self, sums: &mut [u32], rows: u32) {
        self.change(sums, rows, |sum, count| *sum -= count);
    }

    #[inline(always)]
    fn change(&self, sums: &mut [u32], rows: u32, change: impl Fn(&mut u32, u32)) {
        match self.narrow {
            true => (0..).zip(sums).for_each(|(column, sum)| change(sum, self.of(column, rows))),
            false => {
                let at = self.at.iter().map(|&column| column as usize);
                at.for_each(|column| change(&mut sums[column], self.count[column]));
            }
        }
    }
}
