//! Fast code against its naive twin, on random input.

use armix::history::{History, Row};
use armix::moves::Phi;
use armix::moves::strategies::{self, Disagreement};
use armix::partition::{Comparer, Item, Partition, Refiner, Slot, all_partitions, canonical};
use armix::rng::{Purpose, Rng};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The plainest partition there is: a block number for each placed item.
#[derive(Default, Debug)]
struct Naive(BTreeMap<usize, u32>);

fn labels(n: usize) -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(0..n as u32, n)
}

fn two_of_equal_length() -> impl Strategy<Value = (Vec<u32>, Vec<u32>)> {
    (1usize..30).prop_flat_map(|n| (labels(n), labels(n)))
}

fn together(z: &[u32], i: usize, j: usize) -> bool {
    z[i] == z[j]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, rng_seed: prop::test_runner::RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn partition_follows_its_naive_twin(n in 1usize..12, steps in prop::collection::vec((0usize..12, 0usize..14, any::<bool>()), 0..200)) {
        let mut z = Partition::unplaced(n);
        let mut naive = Naive::default();
        for (item, choice, pin) in steps {
            let index = item % n;
            let item = Item::new(index);
            if z.slot_of(item) != Slot::NOWHERE {
                let slot = z.slot_of(item);
                let alone = z.size(slot) == 1;
                if pin {
                    z.pin(slot);
                }
                z.take(item);
                naive.0.remove(&index);
                // The slot that was emptied last is the next fresh one, unless it is kept.
                prop_assert_eq!(alone && !pin, z.fresh() == slot && alone);
                if pin {
                    z.unpin_all();
                }
            } else {
                let slot = z.live().get(choice).copied().unwrap_or_else(|| z.fresh());
                z.put(item, slot);
                naive.0.insert(index, slot.index() as u32);
            }
            // Everything that can be asked agrees.
            let mut sizes: BTreeMap<u32, u32> = BTreeMap::new();
            naive.0.values().for_each(|&s| *sizes.entry(s).or_default() += 1);
            prop_assert_eq!(z.blocks(), sizes.len());
            let mut live: Vec<u32> = z.live().iter().map(|s| s.index() as u32).collect();
            live.sort_unstable();
            prop_assert_eq!(&live, &sizes.keys().copied().collect::<Vec<_>>());
            for (&slot, &size) in &sizes {
                prop_assert_eq!(z.size(Slot::new(slot as usize)), size);
            }
            let mut largest: Vec<u32> = sizes.values().copied().collect();
            largest.sort_unstable_by(|a, b| b.cmp(a));
            largest.resize(3, 0);
            prop_assert_eq!(z.largest::<3>().to_vec(), largest);
            for i in 0..n {
                let expected = naive.0.get(&i).map_or(Slot::NOWHERE, |&s| Slot::new(s as usize));
                prop_assert_eq!(z.slot_of(Item::new(i)), expected);
            }
            let fresh = z.fresh();
            prop_assert_eq!(z.size(fresh), 0);
        }
    }

    #[test]
    fn canonical_labels_keep_the_partition(z in (1usize..30).prop_flat_map(labels), scale in 1u32..1_000_000) {
        let far: Vec<u32> = z.iter().map(|l| l * scale).collect();
        let c = canonical(&far);
        let mut next = 0;
        for i in 0..z.len() {
            prop_assert!(c[i] <= next);
            next = next.max(c[i] + 1);
            for j in 0..i {
                prop_assert_eq!(together(&z, i, j), together(&c, i, j));
            }
        }
        prop_assert_eq!(Partition::from_labels(&far).labels(), c);
    }

    #[test]
    fn refinement_joins_what_both_join((a, b) in two_of_equal_length()) {
        let (mut refiner, mut c) = (Refiner::default(), Vec::new());
        // Twice, so that buffers of an earlier use are in the way.
        for (a, b) in [(&b, &a), (&a, &b)] {
            let cells = refiner.refine(a, b, &mut c);
            prop_assert_eq!(cells, c.iter().max().map_or(0, |&m| m as usize + 1));
            for i in 0..a.len() {
                for j in 0..i {
                    prop_assert_eq!(together(&c, i, j), together(a, i, j) && together(b, i, j));
                }
            }
        }
    }

    #[test]
    fn comparison_sees_partitions_not_numbers((a, b) in two_of_equal_length(), shift in 1u32..5) {
        let mut comparer = Comparer::default();
        let (x, y) = (Partition::from_labels(&a), Partition::from_labels(&b));
        prop_assert_eq!(comparer.same(&x, &y), canonical(&a) == canonical(&b));
        let renumbered: Vec<u32> = a.iter().map(|l| (l + shift) % a.len() as u32).collect();
        prop_assert!(comparer.same(&x, &Partition::from_labels(&renumbered)));
    }

    #[test]
    fn disagreements_are_disagreements((a, b) in two_of_equal_length(), seed in any::<u64>()) {
        let (a, b) = (canonical(&a), canonical(&b));
        let mut agreed = Vec::new();
        let mut rng = Rng::from_seed(Purpose::Test, seed);
        match Disagreement::default().draw(&Row::new(&a), &Row::new(&b), &mut rng, &mut agreed) {
            None => prop_assert_eq!(a, b),
            Some((i, j)) => {
                let (i, j) = (i.index(), j.index());
                prop_assert_ne!(together(&a, i, j), together(&b, i, j));
                prop_assert_ne!(agreed[i], agreed[j]);
            }
        }
    }

    #[test]
    fn rows_keep_their_labels(z in prop::collection::vec(0u32..70_000, 0..50), small in 1u32..300) {
        for z in [canonical(&z), z.iter().map(|l| l % small).collect(), z.clone()] {
            prop_assert_eq!(Row::new(&z).labels(), z);
        }
    }
}

/// Every disagreeing pair is equally likely: each count is within 5 standard deviations; with some
/// 15 pairs in each of 20 examples, the false-alarm rate is below 2e-4.
#[test]
fn disagreements_are_uniform() {
    let mut rng = Rng::from_seed(Purpose::Test, 9);
    let partitions = all_partitions(6);
    for _ in 0..20 {
        let mut pick = || partitions[rng.below(partitions.len() as u64) as usize].clone();
        let (a, b) = (pick(), pick());
        let pairs: Vec<(usize, usize)> = (0..6)
            .flat_map(|i| (0..6).map(move |j| (i, j)))
            .filter(|&(i, j)| together(&a, i, j) != together(&b, i, j))
            .collect();
        let (rows, mut agreed) = ((Row::new(&a), Row::new(&b)), Vec::new());
        let mut counts: BTreeMap<(usize, usize), f64> = BTreeMap::new();
        let draws = 20_000;
        let mut disagreement = Disagreement::default();
        for _ in 0..draws {
            if let Some((i, j)) = disagreement.draw(&rows.0, &rows.1, &mut rng, &mut agreed) {
                *counts.entry((i.index(), j.index())).or_default() += 1.0;
            }
        }
        assert_eq!(counts.len(), pairs.len());
        let p = 1.0 / pairs.len() as f64;
        let sd = (f64::from(draws) * p * (1.0 - p)).sqrt();
        for pair in &pairs {
            assert!((counts[pair] - f64::from(draws) * p).abs() < 5.0 * sd, "{a:?} {b:?} {pair:?}");
        }
    }
}

fn history_of(rounds: usize, budget: u64) -> History {
    let mut history = History::new(budget);
    for t in 0..rounds {
        history.push(t, vec![Row::new(&[0, 1, 0]), Row::new(&[0, 0, 0])]);
    }
    history
}

#[test]
fn the_window_is_the_later_half_without_the_present() {
    let history = history_of(101, 1 << 20); // states 0 … 100
    assert_eq!(history.past(0, 100).rounds(), 50); // 50 … 99
    assert_eq!(history.past(1, 101).rounds(), 51); // 50 … 100
    assert_eq!(history_of(1, 1 << 20).past(0, 0).rounds(), 0);
    assert_eq!(history_of(2, 1 << 20).past(0, 1).rounds(), 1);
}

#[test]
fn the_history_keeps_to_its_budget() {
    let all = history_of(1000, u64::MAX).bytes();
    for parts in [2, 10, 100] {
        let history = history_of(1000, all / parts);
        assert!(history.bytes() <= all / parts);
        assert!(history.stride() >= parts as usize / 2);
        // Evenly thinned: the window still has its share of rounds.
        let expected = 500 / history.stride();
        assert!(history.past(0, 999).rounds().abs_diff(expected) <= 1);
    }
    // Too small for a single round: one is kept all the same, or no move could adapt.
    assert_eq!(history_of(1000, 0).past(0, 999).rounds(), 1);
}

/// Labels take one, two or four bytes, as the number of blocks needs: the budget holds for all of them.
#[test]
fn the_history_keeps_to_its_budget_while_blocks_become_many() {
    let (n, budget) = (70_000, 2 << 20);
    let mut history = History::new(budget);
    let blocks = |t: usize| [255, 256, 257, 1000, 65_535, 65_536, 65_537, 70_000][t / 8];
    let width = |t: usize| {
        if blocks(t) <= 256 {
            1
        } else if blocks(t) <= 65_536 {
            2
        } else {
            4
        }
    };
    for t in 0..64 {
        let labels: Vec<u32> = (0..n).map(|i| (i % blocks(t)) as u32).collect();
        history.push(t, vec![Row::new(&labels); 2]);
        let labels: usize = history.iterations().into_iter().map(|t| 2 * n * width(t)).sum();
        assert!(labels as u64 <= history.bytes() && history.bytes() <= budget, "iteration {t}");
        assert!(history.bytes() < labels as u64 + 1000, "iteration {t}: labels are most of it");
        assert!(!history.iterations().is_empty());
    }
}

/// What is written into buffers of earlier labels is what would be written into new ones.
#[test]
fn labels_are_written_over_earlier_ones() {
    let (mut labels, mut label_of) = (Vec::new(), Vec::new());
    let mut row = Row::new(&[]);
    for (n, blocks) in [(600, 3), (600, 300), (600, 2), (70_000, 66_000), (5, 5), (70_000, 256)] {
        let z = Partition::from_labels(&(0..n).map(|i| i * 7 % blocks).collect::<Vec<u32>>());
        z.write_labels(&mut labels, &mut label_of);
        assert_eq!(labels, z.labels());
        row.repack(&labels);
        assert_eq!(row, Row::new(&labels));
    }
}

#[test]
fn a_past_that_agrees_offers_nothing() {
    let mut history = History::new(1 << 20);
    for t in 0..10 {
        history.push(t, vec![Row::new(&[0, 1, 0]); 3]);
    }
    let mut rng = Rng::from_seed(Purpose::Test, 1);
    for strategy in strategies::registry() {
        let mut phi = Phi::new(3);
        let drawn = strategies::Strategy::draw(
            &mut *(strategy.make)(),
            history.past(1, 10),
            &mut rng,
            &mut phi,
        );
        assert!(!drawn, "{}", strategy.name);
    }
}

fn draw(strategy: &mut dyn strategies::Strategy, history: &History, rng: &mut Rng) -> Phi {
    let mut phi = Phi::new(6);
    assert!(strategies::Strategy::draw(strategy, history.past(1, 4), rng, &mut phi));
    phi
}

/// Whatever a strategy draws parts i and j; and each draws from what it says.
#[test]
fn strategies_draw_what_they_say() {
    let mut history = History::new(1 << 20);
    // Chain 0 disagrees with itself about 0 and 1, chain 1 about 2 and 3, chain 2 about 4 and 5; the first two
    // iterations are likelier.
    let rows = |t: u32| {
        let apart = |pair: u32| -> Vec<u32> {
            (0..6).map(|i| u32::from(t % 2 == 1 && i == 2 * pair)).collect()
        };
        (0..3).map(|chain| Row::new(&canonical(&apart(chain)))).collect()
    };
    for t in 0..4 {
        let energy = if t < 2 { 5.0 } else { -5.0 };
        history.remember((t as usize, rows(t), vec![energy; 3]));
    }
    let mut rng = Rng::from_seed(Purpose::Test, 4);
    for entry in strategies::registry() {
        let mut strategy = (entry.make)();
        for _ in 0..200 {
            let phi = draw(&mut *strategy, &history, &mut rng);
            assert_ne!(phi.agreed[phi.i.index()], phi.agreed[phi.j.index()], "{}", entry.name);
            assert_eq!(phi.sets, entry.name == "sets");
            // Item 2 stands apart in the past of chain 1 alone, which `others` does not look at.
            assert!(entry.name != "others" || phi.agreed[2] == phi.agreed[3]);
        }
    }
}

/// Cells are drawn by the product of their weights: each count is within 5 standard deviations; with at most 15 pairs in each of 40
/// examples, the false-alarm rate is below 4e-4.
#[test]
fn cells_are_drawn_by_their_weights() {
    let weights: [fn(f64) -> f64; 2] = [|_| 1.0, f64::sqrt];
    let mut rng = Rng::from_seed(Purpose::Test, 10);
    let partitions = all_partitions(6);
    for example in 0..40 {
        let mut pick = || partitions[rng.below(partitions.len() as u64) as usize].clone();
        let (a, b, weight) = (pick(), pick(), weights[example % 2]);
        let (rows, mut agreed) = ((Row::new(&a), Row::new(&b)), Vec::new());
        let mut disagreement = Disagreement::default();
        let mut counts: BTreeMap<(usize, usize), f64> = BTreeMap::new();
        let draws = 20_000;
        for _ in 0..draws {
            let drawn = disagreement.draw_cells(&rows.0, &rows.1, weight, &mut rng, &mut agreed);
            let Some((i, j)) = drawn else { continue };
            *counts.entry((i.index().min(j.index()), i.index().max(j.index()))).or_default() += 1.0;
        }
        let size = |i: usize| {
            let same = |j: &usize| together(&a, i, *j) && together(&b, i, *j);
            (0..6).filter(same).count() as f64
        };
        let expected: BTreeMap<(usize, usize), f64> = (0..6)
            .flat_map(|i| (i + 1..6).map(move |j| (i, j)))
            .filter(|&(i, j)| together(&a, i, j) != together(&b, i, j))
            .map(|(i, j)| ((i, j), weight(size(i)) * weight(size(j)) / size(i) / size(j)))
            .collect();
        let whole: f64 = expected.values().sum();
        assert!(counts.keys().eq(expected.keys()), "{a:?} {b:?}");
        for (pair, weight) in &expected {
            let p = weight / whole;
            let sd = (f64::from(draws) * p * (1.0 - p)).sqrt();
            let away = (counts[pair] - f64::from(draws) * p).abs();
            assert!(away <= 5.0 * sd, "{a:?} {b:?} {pair:?}: {away} {sd}");
        }
    }
}

/// Past states by how likely they are: of two that are drawn the likelier, so that three in four are of the better half.
#[test]
fn likely_states_are_preferred() {
    let mut history = History::new(1 << 20);
    for t in 0..100 {
        let better = t % 2 == 0;
        let row = if better { [0, 0, 1] } else { [0, 1, 1] };
        history.remember((t, vec![Row::new(&row)], vec![f64::from(u8::from(better))]));
    }
    let mut rng = Rng::from_seed(Purpose::Test, 5);
    let past = history.past(0, 100);
    let (mut better, draws) = (0.0, 10_000);
    for _ in 0..draws {
        let row = past.likely_any(&mut rng).unwrap();
        better += f64::from(u8::from(row.labels() == [0, 0, 1]));
    }
    let (mean, sd) = (0.75 * f64::from(draws), (0.1875 * f64::from(draws)).sqrt());
    assert!((better - mean).abs() < 5.0 * sd, "{better}");
}
