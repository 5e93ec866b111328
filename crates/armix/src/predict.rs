//! What the draws say about entries that were not observed, and about items that were not there.

mod hiding;
mod scores;

pub use hiding::hold_out;
pub use scores::{HeldOutScore, Score, TableScore, held_out_score, score, table_score};

use crate::data::{HeldOut, Kind, Table};
use crate::history::Row;
use crate::model::Model;
use crate::partition::{Item, Partition, Slot, canonical};
use crate::relations::{Relations, Values};
use crate::rng::{Purpose, Rng};
use crate::run::Draws;
use crate::state::{State, Target};
use serde::Serialize;
use std::sync::Arc;

/// The target with which a draw predicts, given labels of the first items: the same, unless the model has
/// parameters that it does not integrate out. Then these are laid out for the blocks of this draw.
fn for_draw<M: Model>(target: &Target<M>, labels: &[u32]) -> Target<M> {
    let model = &target.model;
    if model.reals_per_block() == 0 {
        return target.clone();
    }
    let mut labels = canonical(labels);
    let blocks = labels.iter().max().map_or(0, |&label| label + 1);
    labels.extend(blocks..blocks + (model.n() - labels.len()) as u32);
    let z = Partition::from_labels(&labels);
    // Always the same, so that predictions are.
    let mut rng = Rng::from_seed(Purpose::Predict, 0);
    let laid_out = model.lay_out(&z, &[], &[labels], 1.0, &mut || rng.uniform());
    let model = laid_out.map_or_else(|| model.clone(), Arc::new);
    Target { model, ..target.clone() }
}

/// The posterior probability that each of these entries (pairs of vertices, or row and column) is one:
/// its probability given the blocks, averaged over the draws.
///
/// # Panics
/// When there are no draws.
pub fn entries<M: Model>(target: &Target<M>, draws: &Draws<'_>, of: &[(u32, u32)]) -> Vec<f64> {
    let mut sums = vec![0.0; of.len()];
    each_state(target, draws, |state| {
        for (sum, &entry) in sums.iter_mut().zip(of) {
            *sum += state.predict(entry);
        }
    });
    sums.iter().map(|sum| sum / draws.rows.len() as f64).collect()
}

/// Visits the states of the draws, which may have hyper-parameters of their own.
fn each_state<M: Model>(target: &Target<M>, draws: &Draws<'_>, mut visit: impl FnMut(&State<M>)) {
    assert!(!draws.rows.is_empty(), "predictions need draws");
    let mut labels = Vec::new();
    for (at, row) in draws.rows.iter().enumerate() {
        row.unpack(&mut labels);
        let target = match draws.hypers.get(at) {
            Some(hypers) => for_draw(&target.with_hypers(hypers), &labels),
            None => for_draw(target, &labels),
        };
        visit(&State::from_labels(&target, &labels));
    }
}

/// A single draw.
fn only(row: &Row) -> Draws<'_> {
    Draws { rows: vec![row], hypers: Vec::new() }
}

/// ln p of each of these values of entries: the mean over the draws of its probability (or density) given the
/// blocks.
///
/// # Panics
/// When there are no draws.
pub fn ln_values<M: Model>(
    target: &Target<M>,
    draws: &Draws<'_>,
    held_out: &[HeldOut],
) -> Vec<f64> {
    // Running ln Σ p, as densities can be too small for a number.
    let mut sums = vec![f64::NEG_INFINITY; held_out.len()];
    each_state(target, draws, |state| {
        for (sum, h) in sums.iter_mut().zip(held_out) {
            let ln_p = state.ln_predictive(h.entry, h.value);
            let (large, small) = if ln_p > *sum { (ln_p, *sum) } else { (*sum, ln_p) };
            *sum = large + libm::log1p(libm::exp(small - large));
        }
    });
    let count = libm::log(draws.rows.len() as f64);
    sums.iter().map(|sum| sum - count).collect()
}

/// What is said of a cell of a table of any columns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    /// The mean, or the number of the most probable level.
    pub value: f64,
    /// The probability of that level, or of a one.
    pub probability: Option<f64>,
}

/// Predictions of cells of a table whose columns have types.
///
/// # Panics
/// When there are no draws.
pub fn cells<M: Model>(
    target: &Target<M>,
    table: &Table,
    draws: &Draws<'_>,
    entries: &[(u32, u32)],
) -> Vec<Cell> {
    let means = self::entries(target, draws, entries);
    let levels = levels(target, table, draws, entries);
    (entries.iter().zip(means).zip(levels))
        .map(|((&entry, mean), each)| match table.columns()[entry.1 as usize].kind() {
            Kind::Binary => Cell { value: mean, probability: Some(mean) },
            Kind::Count | Kind::Real => Cell { value: mean, probability: None },
            Kind::Categorical => most_probable(&each),
        })
        .collect()
}

/// The most probable of the values 0, 1, ….
pub fn most_probable(each: &[f64]) -> Cell {
    let best = (0..each.len()).max_by(|&a, &b| each[a].total_cmp(&each[b])).unwrap_or(0);
    Cell { value: best as f64, probability: each.get(best).copied() }
}

/// The probability of each level in these cells; none where a column has no levels.
///
/// # Panics
/// When there are no draws.
pub fn levels<M: Model>(
    target: &Target<M>,
    table: &Table,
    draws: &Draws<'_>,
    entries: &[(u32, u32)],
) -> Vec<Vec<f64>> {
    let count = |entry: (u32, u32)| match table.columns()[entry.1 as usize].kind() {
        Kind::Categorical => table.columns()[entry.1 as usize].names().len(),
        _ => 0,
    };
    each_value(target, draws, entries, count)
}

/// The probability of each kind of edge, of which none is the first, between these pairs; none where a relation has no kinds.
///
/// # Panics
/// When there are no draws.
pub fn kinds<M: Model>(
    target: &Target<M>,
    relations: &Relations,
    draws: &Draws<'_>,
    entries: &[(u32, u32)],
) -> Vec<Vec<f64>> {
    let count = |entry: (u32, u32)| match &relations.list()[relations.pair(entry).0].shape.values {
        Values::Categories(kinds) => kinds.len(),
        _ => 0,
    };
    each_value(target, draws, entries, count)
}

/// The probabilities of the values 0, 1, … of these entries, of which each has so many.
fn each_value<M: Model>(
    target: &Target<M>,
    draws: &Draws<'_>,
    entries: &[(u32, u32)],
    count: impl Fn((u32, u32)) -> usize,
) -> Vec<Vec<f64>> {
    let asked: Vec<HeldOut> = (entries.iter())
        .flat_map(|&entry| (0..count(entry)).map(move |l| HeldOut { entry, value: l as f64 }))
        .collect();
    if asked.is_empty() {
        return vec![Vec::new(); entries.len()];
    }
    let mut p = ln_values(target, draws, &asked).into_iter().map(libm::exp);
    entries.iter().map(|&entry| p.by_ref().take(count(entry)).collect()).collect()
}

/// Where a new item belongs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Assignment {
    /// The probability of each block of the estimate: that a random fellow of the new item is there.
    pub blocks: Vec<f64>,
    /// The probability of a block of its own.
    pub new: f64,
}

/// Where new items belong. The target is that of the old items and, after them, the new ones, each of
/// which is looked at alone; the draws and the estimate (canonical labels) are of the old items.
///
/// # Panics
/// When there are no draws, or more old items than items.
pub fn assign<M: Model>(target: &Target<M>, draws: &[&Row], estimate: &[u32]) -> Vec<Assignment> {
    assert!(!draws.is_empty(), "predictions need draws");
    let (old, all) = (estimate.len(), target.model.n());
    let blocks = estimate.iter().max().map_or(0, |&m| m as usize + 1);
    let mut found = vec![Assignment { blocks: vec![0.0; blocks], new: 0.0 }; all - old];
    let (mut labels, mut gains, mut slots) = (Vec::new(), Vec::new(), Vec::new());
    // One new item at a time: the others do not exist.
    let prior = target.prior.for_items(old + 1).into();
    let target = Target { prior, ..target.clone() };
    for draw in draws {
        draw.unpack(&mut labels);
        let mut state = State::from_first_labels(&for_draw(&target, &labels), &labels);
        // The share of every slot's items in the blocks of the estimate.
        let mut share = vec![0.0; state.z().slots() * blocks];
        for (item, &block) in estimate.iter().enumerate() {
            let slot = state.z().slot_of(Item::new(item));
            share[slot.index() * blocks + block as usize] += 1.0 / f64::from(state.z().size(slot));
        }
        slots.clear();
        slots.extend_from_slice(state.z().live());
        slots.push(state.fresh());
        gains.resize(slots.len(), 0.0);
        for (assignment, item) in found.iter_mut().zip(old..) {
            let item = [Item::new(item)];
            let held = state.take(&item);
            state.gains(&held, &slots, &mut gains);
            state.set_aside(held);
            add(assignment, &gains, &slots, &share);
        }
    }
    let count = draws.len() as f64;
    for assignment in &mut found {
        assignment.blocks.iter_mut().for_each(|p| *p /= count);
        assignment.new /= count;
    }
    found
}

/// [`assign`] with draws that may have hyper-parameters of their own.
///
/// # Panics
/// When there are no draws, or more old items than items.
pub fn assign_of<M: Model>(
    target: &Target<M>,
    draws: &Draws<'_>,
    estimate: &[u32],
) -> Vec<Assignment> {
    if draws.hypers.is_empty() {
        return assign(target, &draws.rows, estimate);
    }
    let share = 1.0 / draws.rows.len() as f64;
    let each = draws.rows.iter().zip(&draws.hypers);
    let each = each.map(|(row, hypers)| assign(&target.with_hypers(hypers), &[row], estimate));
    let mut means: Option<Vec<Assignment>> = None;
    for found in each {
        let sums = means.get_or_insert_with(|| {
            let none = |a: &Assignment| Assignment { blocks: vec![0.0; a.blocks.len()], new: 0.0 };
            found.iter().map(none).collect()
        });
        for (sum, found) in sums.iter_mut().zip(found) {
            sum.new += share * found.new;
            sum.blocks.iter_mut().zip(found.blocks).for_each(|(sum, p)| *sum += share * p);
        }
    }
    means.unwrap_or_default()
}

/// Adds the probabilities of one draw. The last slot is the new block.
fn add(assignment: &mut Assignment, gains: &[f64], slots: &[Slot], share: &[f64]) {
    let blocks = assignment.blocks.len();
    let largest = gains.iter().copied().fold(f64::MIN, f64::max);
    let weights: Vec<f64> = gains.iter().map(|g| libm::exp(g - largest)).collect();
    let total: f64 = weights.iter().sum();
    let (fresh, old) = weights.split_last().expect("there is a new block");
    assignment.new += fresh / total;
    for (weight, slot) in old.iter().zip(slots) {
        let row = &share[slot.index() * blocks..][..blocks];
        for (sum, share) in assignment.blocks.iter_mut().zip(row) {
            *sum += weight / total * share;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{BinaryTable, Column, Data, Dataset, Graph, MISSING};
    use crate::exact;
    use crate::models::Relational;
    use crate::models::relational::Priors;
    use crate::models::{Bernoulli, Irm, Mixed};
    use crate::partition::all_partitions;
    use crate::relations::{Relation, Shape};

    /// p(entry = 1 | everything observed) = Σ_z p(z | Y) p(entry = 1 | z, Y): with all partitions as draws
    /// in exact proportion this is the ratio of two evidences.
    #[test]
    fn predictions_are_ratios_of_evidences() {
        let cells = vec![1, 0, 1, 1, MISSING, 1, 0, 1, 0, 0, 1, 0];
        let with = |value: u8| {
            let mut cells = cells.clone();
            cells[4] = value;
            let table = BinaryTable::new(4, 3, cells).unwrap();
            Target::new(Bernoulli::new(table, 0.8, 1.7).unwrap(), 1.3).unwrap()
        };
        let target = with(MISSING);
        let evidence = |target: &Target<Bernoulli>| -> f64 {
            all_partitions(4).iter().map(|z| target.ln_q(z).exp()).sum()
        };
        let one = evidence(&with(1)) / (evidence(&with(1)) + evidence(&with(0)));
        let posterior = exact::posterior(&target).unwrap();
        let predicted: f64 = (posterior.iter())
            .map(|p| p.probability * entries(&target, &only(&Row::new(&p.labels)), &[(1, 1)])[0])
            .sum();
        assert!((predicted - one).abs() < 1e-12, "{predicted} ≠ {one}");
    }

    /// The same for every kind of column: p(value | observed) is a ratio of evidences.
    #[test]
    fn predictions_of_any_columns_are_ratios_of_evidences() {
        let nan = f64::NAN;
        let levels = || vec!["a".to_string(), "b".to_string(), "c".to_string()];
        let table = |level: f64, count: f64, real: f64| {
            let columns = vec![
                Column::levels(levels(), vec![0.0, level, 2.0, 2.0]),
                Column::counts(vec![3.0, 1.0, count, 0.0]),
                Column::reals(vec![0.5, -1.0, 2.0, real]),
                Column::binary(vec![0.0, 1.0, 1.0, nan]),
            ];
            // Hidden cells set no scale.
            let scale = |t: Table| t.scaled_by_first(0);
            Target::new(Mixed::of(&scale(Table::new(columns).unwrap()), (0.8, 1.7)).unwrap(), 1.3)
                .unwrap()
        };
        let evidence = |target: &Target<Mixed>| -> f64 {
            all_partitions(4).iter().map(|z| target.ln_q(z).exp()).sum()
        };
        let target = table(nan, nan, nan);
        let posterior = exact::posterior(&target).unwrap();
        let all = evidence(&target);
        let check = |column: u32, row: u32, value: f64, with: &Target<Mixed>| {
            let held = [HeldOut { entry: (row, column), value }];
            let predicted: f64 = (posterior.iter())
                .map(|p| {
                    p.probability * ln_values(&target, &only(&Row::new(&p.labels)), &held)[0].exp()
                })
                .sum();
            let exact = evidence(with) / all;
            assert!((predicted - exact).abs() < 1e-12, "column {column}: {predicted} ≠ {exact}");
        };
        for level in [0.0, 1.0, 2.0] {
            check(0, 1, level, &table(level, nan, nan));
        }
        for count in [0.0, 1.0, 7.0] {
            check(1, 2, count, &table(nan, count, nan));
        }
        for real in [-1.0, 0.25, 2.0] {
            check(2, 3, real, &table(nan, nan, real));
        }
    }

    #[test]
    fn predictions_of_links_are_ratios_of_evidences() {
        let edges = [(0, 1), (0, 2), (0, 3)];
        let whole = |edges: &[(u32, u32)]| {
            let model = Irm::new(Graph::new(4, edges).unwrap(), 0.8, 1.7).unwrap();
            let target = Target::new(model, 1.3).unwrap();
            all_partitions(4).iter().map(|z| target.ln_q(z).exp()).sum::<f64>()
        };
        let (linked, unlinked) = (whole(&[(0, 1), (0, 2), (0, 3), (2, 3)]), whole(&edges));
        let hidden = Graph::new(4, &edges).unwrap().hiding(&[(3, 2)]);
        let target = Target::new(Irm::new(hidden, 0.8, 1.7).unwrap(), 1.3).unwrap();
        let predicted: f64 = (exact::posterior(&target).unwrap().iter())
            .map(|p| p.probability * entries(&target, &only(&Row::new(&p.labels)), &[(2, 3)])[0])
            .sum();
        let exact = linked / (linked + unlinked);
        assert!((predicted - exact).abs() < 1e-12, "{predicted} ≠ {exact}");
    }

    #[test]
    fn kinds_of_edges_are_certain_together() {
        let shape = |values| Shape { name: "x".into(), directed: false, loops: false, values };
        let words = ["no link", "a", "b"].map(String::from).to_vec();
        let entries = vec![(0, 1, 1.0), (0, 2, 1.0), (1, 2, 2.0), (0, 3, 1.0)];
        let hidden = [(0, 4), (3, 4)];
        let relation = Relation::new(shape(Values::Categories(words)), 5, None, entries, &hidden);
        let counts = Relation::new(shape(Values::Counts), 5, None, vec![(1, 2, 3.0)], &[(2, 3)]);
        let relations = Relations::new(vec![relation.unwrap(), counts.unwrap()]).unwrap();
        let model = Relational::new(relations.clone(), &Priors::default()).unwrap();
        let target = Target::new(model, 1.0).unwrap();
        let row = Row::new(&[0, 0, 1, 1, 0]);
        let asked = relations.hidden();
        let kinds = kinds(&target, &relations, &only(&row), &asked);
        let linked = super::entries(&target, &only(&row), &asked);
        assert_eq!(kinds.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3, 0]);
        for (kinds, linked) in kinds.iter().zip(linked).take(2) {
            assert!((kinds.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{kinds:?}");
            assert!((1.0 - kinds[0] - linked).abs() < 1e-12, "{kinds:?}");
        }
        assert_eq!(most_probable(&[0.2, 0.5, 0.3]), Cell { value: 1.0, probability: Some(0.5) });
    }

    /// A new row, looked at with all old partitions in exact proportion, has the probabilities that the
    /// posterior of all rows together would give it, if that were weighted by the old rows alone.
    #[test]
    fn assignments_are_conditional_probabilities() {
        let cells = vec![1, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 1];
        let target = Target::new(
            Bernoulli::new(BinaryTable::new(4, 3, cells).unwrap(), 0.8, 1.7).unwrap(),
            1.3,
        )
        .unwrap();
        for old in all_partitions(3) {
            let assignment = &assign(&target, &[&Row::new(&old)], &old)[0];
            let blocks = old.iter().max().unwrap() + 1;
            let joint: Vec<f64> =
                (0..=blocks).map(|k| target.ln_q(&[old[0], old[1], old[2], k]).exp()).collect();
            let total: f64 = joint.iter().sum();
            for (k, p) in assignment.blocks.iter().enumerate() {
                assert!((p - joint[k] / total).abs() < 1e-12, "{old:?}, block {k}");
            }
            assert!((assignment.new - joint[blocks as usize] / total).abs() < 1e-12);
        }
        // Against another estimate, fellows are shared out; the sum is one always.
        let assignment = &assign(&target, &[&Row::new(&[0, 0, 1])], &[0, 1, 1])[0];
        let sum = assignment.blocks.iter().sum::<f64>() + assignment.new;
        assert!((sum - 1.0).abs() < 1e-12);
    }

    #[test]
    fn held_out_entries_are_hidden_and_remembered() {
        let cells: Vec<u8> =
            (0..60).map(|c| if c == 7 { MISSING } else { (c % 3 == 0).into() }).collect();
        let table = BinaryTable::new(10, 6, cells).unwrap();
        let dataset = Dataset::new(Data::Table(table.clone()));
        let hidden = hold_out(dataset.clone(), 0.3, 5).unwrap();
        assert_eq!(hidden, hold_out(dataset.clone(), 0.3, 5).unwrap());
        assert_ne!(hidden, hold_out(dataset.clone(), 0.3, 6).unwrap());
        assert!((8..=28).contains(&hidden.held_out.len()), "{}", hidden.held_out.len());
        assert_eq!(hidden.data.hidden().len(), hidden.held_out.len() + 1);
        for h in &hidden.held_out {
            let (row, column) = (h.entry.0 as usize, h.entry.1 as usize);
            assert_eq!(f64::from(table.row(row)[column]), h.value);
        }
        for wrong in [0.0, 1.0, -0.1, f64::NAN] {
            assert!(hold_out(dataset.clone(), wrong, 5).is_err());
        }
        let graph = Graph::new(20, &(0..19).map(|v| (v, v + 1)).collect::<Vec<_>>()).unwrap();
        let hidden = hold_out(Dataset::new(Data::Network(graph.clone())), 0.5, 5).unwrap();
        let Data::Network(seen) = &hidden.data else { panic!("a network") };
        let links = hidden.held_out.iter().filter(|h| h.value == 1.0).count();
        assert_eq!(seen.edges() + links, 19);
        for h in &hidden.held_out {
            let linked = graph.linked(h.entry.0 as usize, h.entry.1 as usize);
            assert_eq!(f64::from(u8::from(linked)), h.value);
            assert!(!seen.linked(h.entry.0 as usize, h.entry.1 as usize));
        }
    }

    /// The definition, pair by pair.
    #[test]
    fn area_under_the_curve_counts_pairs() {
        let predicted = [0.1, 0.4, 0.4, 0.8, 0.4, 0.9, 0.1];
        let truth = [false, true, false, true, false, false, true];
        let (mut sum, mut pairs) = (0.0, 0.0);
        for (p, _) in predicted.iter().zip(truth).filter(|(_, t)| *t) {
            for (q, _) in predicted.iter().zip(truth).filter(|(_, t)| !*t) {
                pairs += 1.0;
                sum += if p > q {
                    1.0
                } else if p == q {
                    0.5
                } else {
                    0.0
                };
            }
        }
        assert_eq!(score(&predicted, &truth).auc, Some(sum / pairs));
        assert_eq!(score(&[0.5, 0.6], &[true, true]).auc, None);
        let score = score(&[0.25; 4], &[true, false, false, false]);
        assert_eq!(score.auc, Some(0.5));
        assert!((score.log_score - score.log_score_of_base_rate).abs() < 1e-15);
    }
}
