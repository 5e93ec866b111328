//! Blocks that are hopeless for a row are not weighed where choices are random, by models that have bounds: that changes no choice.

use armix::data::{Column, Table};
use armix::families::{Family, Gaussian, Poisson};
use armix::history::{History, Row};
use armix::model::Model;
use armix::models::nonconjugate::Nonconjugate;
use armix::models::student::StudentT;
use armix::models::{Columns, Mixed};
use armix::moves::gibbs::Gibbs;
use armix::moves::{Chain, Scan};
use armix::partition::Item;
use armix::rng::{Purpose, Rng};
use armix::state::{State, Target};
use armix::sweep::{Candidates, Chooser, Sample};

/// Chooses like [`Sample`], but has all candidates weighed.
struct WeighAll<'r>(Sample<'r>);

impl Chooser for WeighAll<'_> {
    fn choose(&mut self, item: Item, candidates: &Candidates<'_>) -> Option<usize> {
        self.0.choose(item, candidates)
    }
}

/// What rows are made: so many, with so many columns, in blocks whose centres have a standard deviation; every so many cells one is missing.
#[derive(Debug, Clone, Copy)]
struct Planted {
    shape: (usize, usize),
    apart: f64,
    gaps: Option<usize>,
}

impl Planted {
    /// The cells, row after row, and the blocks of the rows.
    fn values(self, rng: &mut Rng) -> (Vec<f64>, Vec<u32>) {
        const BLOCKS: usize = 6;
        let (n, d) = self.shape;
        let mut normal = || (0..12).map(|_| rng.uniform()).sum::<f64>() - 6.0;
        let labels: Vec<u32> = (0..n).map(|i| (i % BLOCKS) as u32).collect();
        let centres: Vec<f64> = (0..BLOCKS * d).map(|_| self.apart * normal()).collect();
        let cell = |at: usize| centres[labels[at / d] as usize * d + at % d] + normal();
        let mut values: Vec<f64> = (0..labels.len() * d).map(cell).collect();
        if let Some(every) = self.gaps {
            values.iter_mut().step_by(every).for_each(|value| *value = f64::NAN);
        }
        (values, labels)
    }
}

/// The columns of cells that are given row after row.
fn columns(d: usize, values: &[f64]) -> impl Iterator<Item = Vec<f64>> {
    (0..d).map(move |column| values.iter().copied().skip(column).step_by(d).collect())
}

/// Scans that skip what is hopeless make the same choices as those that weigh everything, and what they skip has no weight. Whether blocks must
/// be skipped, must not, or may is said by the last. (With debug assertions every bound is checked where it is used.)
fn same_choices<M: Model>(
    model: impl Fn(usize, Vec<f64>) -> M,
    cases: &[(Planted, f64, Option<bool>)],
) {
    let mut rng = Rng::from_seed(Purpose::Test, 31);
    for &(planted, coldness, skips) in cases {
        let (values, labels) = planted.values(&mut rng);
        let target = Target::new(model(planted.shape.1, values), 1.5).unwrap().at(coldness);
        let mut history = History::new(1 << 20);
        (0..4).for_each(|t| history.push(t, vec![Row::new(&labels); 4]));
        let past = history.past(0, 4);
        let mut chains = [(); 2].map(|()| Chain::new(&target, &labels));
        let mut rngs = [(); 2].map(|()| Rng::from_seed(Purpose::Test, 32));
        let (mut skipped, mut gibbs) = (0, Gibbs::default());
        for _ in 0..6 {
            for (chain, rng) in chains.iter_mut().zip(&mut rngs) {
                chain.lay_out(past, rng);
            }
            let [likely, all] = &mut chains;
            likely.change(|state| gibbs.sample(state, &mut rngs[0]));
            all.change(|state| gibbs.scan(state, &mut WeighAll(Sample(&mut rngs[1]))));
            assert_eq!(likely.z().labels(), all.z().labels(), "{planted:?}, {coldness}");
            // In both, because taking and putting back may change the order of blocks.
            for chain in &mut chains {
                chain.change(|state| count_skipped(state, 2));
            }
            let counts =
                chains.each_mut().map(|chain| chain.change(|state| count_skipped(state, 1)));
            skipped += counts[0];
            for (chain, rng) in chains.iter_mut().zip(&mut rngs) {
                chain.pick_up(rng);
            }
        }
        let expected = skips.is_none_or(|skips| skips == (skipped > 0));
        assert!(expected, "{planted:?}, {coldness}: {skipped} were skipped");
    }
}

/// How many candidates of all items, or of all sets of so many of a block, are skipped where those may be that are far below the home, and where they are unlikely. They are so far below, and
/// all others have the same gains, but for the order in which numbers are added.
fn count_skipped<M: Model>(state: &mut State<M>, items: usize) -> usize {
    let (mut skipped, n) = (0, state.z().n());
    for from in 0..n {
        let home = state.z().slot_of(Item::new(from));
        let members = (from..n).map(Item::new).filter(|item| state.z().slot_of(*item) == home);
        let items: Vec<Item> = members.take(items).collect();
        let held = state.take(&items);
        let mut slots = state.z().live().to_vec();
        slots.push(state.fresh());
        let (mut all, mut likely) = (vec![0.0; slots.len()], vec![0.0; slots.len()]);
        state.gains(&held, &slots, &mut all);
        let at_home = slots.iter().position(|&slot| slot == home).unwrap();
        for below in [11.0, 51.0] {
            state.likely_gains(&held, below, &slots, &mut likely);
            for (&all_gain, &likely_gain) in all.iter().zip(&likely) {
                if likely_gain == f64::NEG_INFINITY {
                    let floor = all[at_home] - below + 1e-6;
                    assert!(all_gain < floor, "{all_gain} beside {}", all[at_home]);
                    skipped += 1;
                } else {
                    let most = 1e-15 * all_gain.abs().max(1.0);
                    assert!((all_gain - likely_gain).abs() < most, "{likely_gain}, not {all_gain}");
                }
            }
        }
        state.put(held, home);
    }
    skipped
}

fn planted(shape: (usize, usize), apart: f64, gaps: Option<usize>) -> Planted {
    Planted { shape, apart, gaps }
}

/// Far and near blocks, wide tables and large ones, cold and hot, with missing cells. Small narrow tables skip nothing, and near blocks need not.
#[test]
fn student() {
    let model = |d, values| Nonconjugate::new(StudentT::new(d, values, 4.0).unwrap(), 4);
    let cases = [
        (planted((300, 24), 3.0, None), 1.0, Some(true)),
        (planted((300, 24), 3.0, Some(20)), 1.0, Some(true)),
        (planted((300, 24), 3.0, Some(20)), 0.5, Some(true)),
        (planted((150, 24), 0.3, Some(20)), 1.0, None),
        (planted((150, 24), 0.5, None), 0.2, None),
        (planted((1000, 3), 4.0, Some(20)), 1.0, Some(true)),
        (planted((100, 3), 4.0, None), 1.0, Some(false)),
    ];
    same_choices(model, &cases);
}

/// Far and near blocks, columns of which nothing is seen (every seventh cell of 35), cold and hot. Where no cell is missing nothing is skipped.
#[test]
fn gaussian() {
    let cases = [
        (planted((300, 24), 3.0, Some(11)), 1.0, Some(true)),
        (planted((300, 35), 2.0, Some(7)), 1.0, Some(true)),
        (planted((300, 24), 3.0, Some(11)), 0.5, Some(true)),
        (planted((150, 24), 0.3, Some(5)), 1.0, None),
        (planted((150, 17), 0.7, Some(3)), 0.2, None),
        (planted((300, 24), 3.0, None), 1.0, Some(false)),
        (planted((300, 3), 3.0, Some(11)), 1.0, Some(false)),
    ];
    let model = |d, values: Vec<f64>| {
        let columns: Vec<Column> = columns(d, &values).map(Column::reals).collect();
        Columns::<Gaussian>::new(&columns.iter().collect::<Vec<_>>(), Gaussian::DEFAULTS).unwrap()
    };
    same_choices(model, &cases);
}

/// Counts that grow with reals; none below 0.
fn counts(cells: Vec<f64>) -> Column {
    Column::counts(cells.into_iter().map(|x| (8.0 + 2.0 * x).max(0.0).round()).collect())
}

/// Far and near blocks of counts, with and without missing cells, cold and hot, numbers of columns that are and are not multiples of what is weighed at a time. Narrow tables skip nothing.
#[test]
fn poisson() {
    let cases = [
        (planted((300, 32), 2.0, None), 1.0, Some(true)),
        (planted((300, 53), 1.0, Some(11)), 1.0, Some(true)),
        (planted((300, 41), 2.0, Some(7)), 0.5, Some(true)),
        (planted((150, 40), 0.3, None), 1.0, None),
        (planted((150, 33), 0.7, Some(5)), 0.2, None),
        (planted((150, 33), 2.0, None), 0.0, Some(false)),
        (planted((300, 31), 2.0, None), 1.0, Some(false)),
    ];
    let model = |times: f64| {
        move |d, values: Vec<f64>| {
            let many = |column: Column| {
                Column::counts(column.cells().iter().map(|x| (x * times).round()).collect())
            };
            let columns: Vec<Column> = columns(d, &values).map(counts).map(many).collect();
            Columns::<Poisson>::new(&columns.iter().collect::<Vec<_>>(), Poisson::DEFAULTS).unwrap()
        }
    };
    same_choices(model(1.0), &cases);
    // Sums that are beyond all tables.
    same_choices(model(1e5), &[(planted((60, 33), 1.0, Some(11)), 1.0, Some(true))]);
    same_choices(model(1e8), &[(planted((60, 33), 1.0, None), 1.0, Some(true))]);
}

fn zeros_and_ones(cells: Vec<f64>) -> Column {
    let sign = |x: f64| if x.is_nan() { x } else { f64::from(x > 0.0) };
    Column::binary(cells.into_iter().map(sign).collect())
}

/// A mixed table with these columns, one after the other and again from the first on.
fn mixed_of(kinds: &[fn(Vec<f64>) -> Column]) -> impl Fn(usize, Vec<f64>) -> Mixed {
    move |d, values| {
        let columns = columns(d, &values).enumerate();
        let of = |(at, cells): (usize, Vec<f64>)| kinds[at % kinds.len()](cells);
        Mixed::of(&Table::new(columns.map(of).collect()).unwrap(), (1.0, 1.0)).unwrap()
    }
}

/// Reals with missing cells beside columns of another type, which have no bounds.
#[test]
fn mixed() {
    let cases = [
        (planted((300, 24), 3.0, Some(11)), 1.0, Some(true)),
        (planted((150, 35), 0.7, Some(7)), 0.3, None),
        (planted((150, 35), 2.0, Some(7)), 0.0, Some(false)),
        (planted((300, 24), 3.0, None), 1.0, Some(false)),
    ];
    same_choices(mixed_of(&[Column::reals, zeros_and_ones, Column::reals, Column::reals]), &cases);
}

/// A block that is hopeless for a row by one part of a product, and much better than its home by another, is not skipped, though both parts could skip it.
#[test]
fn parts_that_disagree() {
    let mut rng = Rng::from_seed(Purpose::Test, 33);
    let labels: Vec<u32> = (0..40).map(|row| u32::from(row >= 20)).collect();
    let mut part = |d: usize, of_row: fn(usize) -> f64| {
        let mut column = |at: usize| {
            let cell = |row: usize| of_row(row) + 0.1 * rng.uniform();
            let mut cells: Vec<f64> = (0..labels.len()).map(cell).collect();
            cells[1 + at % 16] = f64::NAN;
            Column::reals(cells)
        };
        let columns: Vec<Column> = (0..d).map(&mut column).collect();
        Mixed::of(&Table::new(columns).unwrap(), (1.0, 1.0)).unwrap().parts()[0].clone()
    };
    // Row 0 is like its own block in the first part, and like the other one in the second, which tells more.
    let first = part(16, |row| f64::from(row >= 20));
    let second = part(32, |row| if row == 0 || row >= 20 { 100.0 } else { 0.0 });
    let places = (0..16).map(|at| (0, at)).chain((0..32).map(|at| (1, at))).collect();
    let target = Target::new(Mixed::new(vec![first, second], places), 1.5).unwrap();
    let mut state = State::from_labels(&target, &labels);
    assert!(count_skipped(&mut state, 1) > 0);
    let items = [Item::new(0)];
    let slots = [0, 20].map(|row| state.z().slot_of(Item::new(row)));
    let held = state.take(&items);
    let mut gains = [0.0; 2];
    state.likely_gains(&held, 11.0, &slots, &mut gains);
    assert!(gains[1] > gains[0] + 51.0, "{gains:?}");
    state.put(held, slots[0]);
}

/// Counts beside other columns are weighed where the others leave a chance: few and many of them, alone, and beside reals that have bounds, too.
#[test]
fn mixed_with_counts() {
    let cases = [
        (planted((300, 24), 2.0, None), 1.0, Some(true)),
        (planted((300, 24), 2.0, Some(11)), 1.0, Some(true)),
        (planted((300, 70), 1.5, Some(11)), 0.5, Some(true)),
        (planted((150, 24), 0.3, None), 1.0, None),
        (planted((150, 100), 0.4, Some(7)), 0.3, None),
        (planted((300, 9), 2.0, None), 1.0, Some(false)),
    ];
    same_choices(mixed_of(&[counts, zeros_and_ones, Column::reals]), &cases);
    same_choices(mixed_of(&[counts, zeros_and_ones]), &cases);
    let many = [
        (planted((300, 48), 2.0, None), 1.0, Some(true)),
        (planted((300, 80), 1.0, Some(11)), 1.0, Some(true)),
    ];
    same_choices(mixed_of(&[counts, Column::reals, counts, counts]), &many);
    same_choices(mixed_of(&[counts]), &many);
}
