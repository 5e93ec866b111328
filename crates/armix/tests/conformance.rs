//! Every registered model keeps its promises. A failure message is an equation that does not hold.

use armix::data::{BinaryTable, Graph};
use armix::hyper::Hyper;
use armix::model::Model;
use armix::models::{self, Case, Visitor};
use armix::partition::{Item, Partition, Slot, all_partitions, canonical};
use armix::prior::{Crp, Prior};
use armix::rng::{Purpose, Rng};
use armix::state::{State, Target};

const CLOSE: f64 = 1e-10;

/// Statistics that follow a partition by single additions, without `State` in between.
struct Follower<'m, M: Model> {
    model: &'m M,
    z: Partition,
    stats: M::Stats,
    load: M::Load,
}

impl<'m, M: Model> Follower<'m, M> {
    /// No item is placed, but there is a slot for each of these (canonical) labels.
    fn new(model: &'m M, labels: &[u32]) -> Self {
        let mut z = Partition::from_labels(labels);
        (0..labels.len()).for_each(|i| z.take(Item::new(i)));
        let mut stats = model.empty_stats();
        model.grow(&mut stats, z.slots());
        Follower { z, stats, load: model.empty_load(), model }
    }

    /// Every item is placed, one after another.
    fn grown(model: &'m M, labels: &[u32]) -> Self {
        let mut follower = Follower::new(model, labels);
        for (item, &label) in labels.iter().enumerate() {
            follower.add(&[Item::new(item)], label);
        }
        follower
    }

    /// Adds items to the slot of a label and returns the gain that was announced for it.
    fn add(&mut self, items: &[Item], label: u32) -> f64 {
        let slot = label as usize;
        self.model.weigh(items, &self.z, &mut self.load);
        let slot = Slot::new(slot);
        let mut gain = [0.0];
        self.model.gains(&self.stats, &mut self.load, None, &self.z, &[slot], &mut gain);
        self.model.add(&mut self.stats, &self.load, &self.z, slot);
        items.iter().for_each(|&i| self.z.put(i, slot));
        gain[0]
    }

    fn sub(&mut self, items: &[Item]) {
        let slot = self.z.slot_of(items[0]);
        items.iter().for_each(|&i| self.z.take(i));
        self.model.weigh(items, &self.z, &mut self.load);
        self.model.sub(&mut self.stats, &self.load, &self.z, slot);
    }

    fn ln_evidence(&self) -> f64 {
        self.model.ln_evidence(&self.stats, &self.z)
    }
}

fn random_labels(rng: &mut Rng, n: usize) -> Vec<u32> {
    let blocks = 1 + rng.below(n as u64);
    (0..n).map(|_| rng.below(blocks) as u32).collect()
}

fn for_every_model(check: impl FnMut(&str, &mut dyn FnMut(u64)) + Copy) {
    struct Each<F>(F);
    impl<F: FnMut(&str, &mut dyn FnMut(u64)) + Copy> Visitor for Each<F> {
        fn visit<M: Model>(&mut self, case: &Case<M>) {
            (self.0)(case.name, &mut |seed| conform(case, seed));
        }
    }
    models::visit_all(&mut Each(check));
}

fn close(left: f64, right: f64, equation: &str, model: &str) {
    let error = (left - right).abs() / left.abs().max(1.0);
    assert!(error < CLOSE, "{model}: {equation}: {left} ≠ {right}");
}

/// All promises, on one random instance.
fn conform<M: Model>(case: &Case<M>, seed: u64) {
    let mut rng = Rng::from_seed(Purpose::Test, seed);
    let n = 2 + rng.below(12) as usize;
    let some = random_labels(&mut rng, n);
    let model = (case.example)(n).simulate(&some, &mut || rng.uniform());
    let labels = canonical(&random_labels(&mut rng, n));
    let naive = model.ln_evidence_naive(&labels);

    // Σ gains along any insertion order = evidence = naive evidence.
    let mut order: Vec<usize> = (0..n).collect();
    rng.shuffle(&mut order);
    let mut one_by_one = Follower::new(&model, &labels);
    close(one_by_one.ln_evidence(), 0.0, "evidence of no items = 0", case.name);
    let mut sum = 0.0;
    for &item in &order {
        sum += one_by_one.add(&[Item::new(item)], labels[item]);
    }
    close(sum, naive, "Σ gains along an insertion order = naive evidence", case.name);
    close(one_by_one.ln_evidence(), naive, "evidence from statistics = naive evidence", case.name);

    // The gain of a block = the gains of its items one after another.
    let block: Vec<Item> = (0..n).filter(|&i| labels[i] == labels[0]).map(Item::new).collect();
    let with = one_by_one.ln_evidence();
    one_by_one.sub(&block);
    let without = one_by_one.ln_evidence();
    let jointly = one_by_one.add(&block, labels[0]);
    close(with - without, jointly, "evidence(with C) − evidence(without C) = gain(C)", case.name);
    one_by_one.sub(&block);
    let singly: f64 = (block.iter()).map(|&i| one_by_one.add(&[i], labels[0])).sum();
    close(jointly, singly, "gain(C) = Σ gains of its items", case.name);
    close(one_by_one.ln_evidence(), naive, "add after sub restores the evidence", case.name);

    // The same data with other hyper-parameters.
    let hypers = model.hypers();
    let own: Vec<f64> = hypers.iter().map(|h| h.value).collect();
    let same = model.with_hypers(&own).ln_evidence_naive(&labels);
    close(same, naive, "evidence with its own hyper-parameters = evidence", case.name);
    let others: Vec<f64> = hypers.iter().map(|h| h.prior.draw(&mut || rng.uniform())).collect();
    let other = model.with_hypers(&others);
    let set: Vec<f64> = other.hypers().iter().map(|h| h.value).collect();
    assert_eq!(set, others, "{}: the hyper-parameters that were set are there", case.name);
    let naive = other.ln_evidence_naive(&labels);
    // Statistics that were refreshed are those that would have grown with them, to the last bit.
    let Follower { z, mut stats, .. } = Follower::grown(&model, &labels);
    let asked = model.ln_evidence_with(&others, &stats, &z);
    close(asked, naive, "evidence with other hyper-parameters = their naive evidence", case.name);
    other.refresh(&mut stats, &z);
    let mut refreshed = Follower { model: &other, z, stats, load: other.empty_load() };
    let mut grown = Follower::grown(&other, &labels);
    assert_eq!(refreshed.ln_evidence(), grown.ln_evidence(), "{}: refreshed evidence", case.name);
    for items in [&block[..1], &block[..]] {
        let gains = [&mut refreshed, &mut grown].map(|f| {
            let home = f.z.slot_of(items[0]);
            items.iter().for_each(|&i| f.z.take(i));
            f.model.weigh(items, &f.z, &mut f.load);
            let slots: Vec<Slot> = (0..f.z.slots()).map(Slot::new).collect();
            let mut gains = vec![0.0; slots.len()];
            f.model.gains(&f.stats, &mut f.load, Some(home), &f.z, &slots, &mut gains);
            items.iter().for_each(|&i| f.z.put(i, home));
            gains
        });
        assert_eq!(gains[0], gains[1], "{}: refreshed gains = grown gains", case.name);
    }
}

#[test]
fn models_conform() {
    for_every_model(|name, check| {
        for seed in 0..300 {
            eprintln!("{name}, seed {seed}");
            check(seed);
        }
    });
}

/// The evidence of zeros and ones is a probability of the data: it sums to one over all data of a small
/// shape. (Other families are summed and integrated up in their own tests.)
#[test]
fn evidence_is_normalised() {
    struct Normalised;
    impl Visitor for Normalised {
        fn visit<M: Model>(&mut self, case: &Case<M>) {
            // All data sets are found by simulating with every sequence of "random" numbers 0, 1.
            for labels in all_partitions(3) {
                let example = (case.example)(3);
                let mut total = 0.0;
                let mut script: Vec<bool> = Vec::new();
                loop {
                    let mut at = 0;
                    let data = example.simulate(&labels, &mut || {
                        if at == script.len() {
                            script.push(false);
                        }
                        at += 1;
                        if script[at - 1] { 0.0 } else { 1.0 - 1e-16 }
                    });
                    total += data.ln_evidence_naive(&labels).exp();
                    while script.last() == Some(&true) {
                        script.pop();
                    }
                    match script.last_mut() {
                        Some(last) => *last = true,
                        None => break,
                    }
                }
                close(total, 1.0, "Σ p(Y | z) over all Y = 1", case.name);
            }
        }
    }
    Normalised.visit(&Case::<models::Bernoulli>::new());
    Normalised.visit(&Case::<models::Irm>::new());
}

/// Narrow rows are carried and weighed in another way than wide ones, and than those with missing cells.
#[test]
fn rows_of_any_width_conform() {
    fn rows<const D: usize>(n: usize) -> models::Bernoulli {
        let cells = (0..n * D).map(|c| u8::from(c * c % 7 < 3)).collect();
        let table = BinaryTable::new(n, D, cells).unwrap();
        let table =
            if n.is_multiple_of(5) { table.hiding(&[(0, D as u32 - 1), (1, 0)]) } else { table };
        models::Bernoulli::new(table, 0.8, 1.7).unwrap()
    }
    let case = |name, example| Case { name, example };
    let cases = [
        case("bernoulli, 1 column", rows::<1> as fn(usize) -> models::Bernoulli),
        case("bernoulli, 8 columns", rows::<8>),
        case("bernoulli, 9 columns", rows::<9>),
        case("bernoulli, 16 columns", rows::<16>),
        case("bernoulli, 17 columns", rows::<17>),
        case("bernoulli, 70 columns", rows::<70>),
    ];
    for case in cases {
        (0..40).for_each(|seed| conform(&case, seed));
        Drift.visit(&case);
    }
}

/// The state's running statistics equal those rebuilt from its labels, after any sequence of
/// single and joint moves and changes of the hyper-parameters (the caches do not drift).
#[test]
fn states_do_not_drift() {
    models::visit_all(&mut Drift);
}

struct Drift;

impl Visitor for Drift {
    fn visit<M: Model>(&mut self, case: &Case<M>) {
        let n = 12;
        let mut target = Target::new((case.example)(n), 1.3).unwrap();
        let mut rng = Rng::from_seed(Purpose::Test, 5);
        let mut state = State::from_labels(&target, &random_labels(&mut rng, n));
        for step in 0..2000 {
            let from = state.z().live()[rng.below(state.z().blocks() as u64) as usize];
            let mut items: Vec<Item> =
                (0..n).map(Item::new).filter(|&i| state.z().slot_of(i) == from).collect();
            rng.shuffle(&mut items);
            items.truncate(1 + rng.below(items.len() as u64) as usize);
            let held = state.take(&items);
            let choice = rng.below(state.z().blocks() as u64 + 1) as usize;
            let to = state.z().live().get(choice).copied();
            let to = to.unwrap_or_else(|| state.fresh());
            state.put(held, to);
            if step % 10 == 0 {
                let hypers = target.model.hypers();
                let draw = |h: &Hyper| h.prior.draw(&mut || rng.uniform());
                let values: Vec<f64> = hypers.iter().map(draw).collect();
                let prior = Crp::new(0.1 + 3.0 * rng.uniform(), n).unwrap();
                target.model = target.model.with_hypers(&values).into();
                target.prior = Prior::from(prior).into();
                let slots = state.z().slots_of_items().to_vec();
                state.retarget(&target);
                assert_eq!(state.z().slots_of_items(), slots, "slot numbers are kept");
            }
            let labels = state.z().labels();
            close(state.ln_q(), target.ln_q(&labels), "running ln q = rebuilt ln q", case.name);
            let naive = target.model.ln_evidence_naive(&labels) + target.prior.ln_p(state.z());
            close(state.ln_q(), naive, "running ln q = naive ln q", case.name);
            assert!(state.z().slots() <= n + 1, "slots are reused, step {step}");
        }
    }
}

/// Few blocks of a small network have a layout of their own. Their gains are those in the layout for any blocks, for single
/// vertices and for sets, from their home and from nowhere, with all slots on offer or some; also when blocks become too many for it, and
/// when a state with many becomes a copy of one with few.
#[test]
fn few_blocks_weigh_as_any_blocks_do() {
    let mut rng = Rng::from_seed(Purpose::Test, 12);
    for (n, density, most_blocks) in [(4, 0.5, 3), (12, 0.7, 3), (40, 0.3, 9), (40, 0.5, 20)] {
        let pairs = (0..n as u32).flat_map(|v| (0..v).map(move |u| (u, v)));
        let edges: Vec<(u32, u32)> = pairs.filter(|_| rng.uniform() < density).collect();
        let graph = Graph::new(n, &edges).unwrap();
        let few = Target::new(models::Irm::new(graph, 0.7, 1.4).unwrap(), 1.3).unwrap();
        let any = Target { model: ((*few.model).clone().in_any_layout()).into(), ..few.clone() };
        let labels: Vec<u32> = (0..n).map(|_| rng.below(most_blocks.min(9)) as u32).collect();
        let start = [&few, &any].map(|target| State::from_labels(target, &labels));
        let mut states = [&few, &any].map(State::unplaced);
        let mut most_slots = 0;
        for step in 0..4000 {
            if step % 1000 == 0 {
                states.iter_mut().zip(&start).for_each(|(state, start)| state.copy_from(start));
            }
            // Some vertices of one block, or those that are placed nowhere.
            let z = states[0].z();
            let first = Item::new(rng.below(n as u64) as usize);
            let from = z.slot_of(first);
            let mut items: Vec<Item> =
                (0..n).map(Item::new).filter(|&i| z.slot_of(i) == from).collect();
            rng.shuffle(&mut items);
            items.truncate(if step % 2 == 0 { 1 } else { 1 + rng.below(4) as usize });
            let held = states.each_mut().map(|state| state.take(&items));
            let mut slots = states[0].z().live().to_vec();
            let fresh = states.each_mut().map(State::fresh);
            assert_eq!(fresh[0], fresh[1]);
            slots.push(fresh[0]);
            if step % 3 == 0 {
                rng.shuffle(&mut slots);
                slots.truncate(3);
            }
            let mut gains = [vec![0.0; slots.len()], vec![0.0; slots.len()]];
            for ((state, held), gains) in states.iter_mut().zip(&held).zip(&mut gains) {
                state.gains(held, &slots, gains);
            }
            for (few, any) in gains[0].iter().zip(&gains[1]) {
                close(*few, *any, "gain among few = gain among any", "irm");
            }
            // They begin a new block as long as there are few, and else go anywhere, or nowhere.
            let z = states[0].z();
            let full = z.blocks() as u64 >= most_blocks;
            slots.retain(|&slot| !full || z.size(slot) > 0);
            let new = slots.iter().copied().find(|&slot| z.size(slot) == 0 && step % 5 < 3);
            let any = slots.get(rng.below(slots.len() as u64 + 1) as usize).copied();
            let to = new.or(any);
            for (state, held) in states.iter_mut().zip(held) {
                match to {
                    Some(to) => state.put(held, to),
                    None => state.set_aside(held),
                }
            }
            let ln_q = states.each_ref().map(State::ln_q);
            close(ln_q[0], ln_q[1], "ln q among few = ln q among any", "irm");
            most_slots = most_slots.max(states[0].z().slots());
        }
        assert_eq!(most_slots > 16, most_blocks > 16, "both sides of the limit are tested");
    }
}

/// Slots up to 254 fit into a byte, and pairs are counted in another way then. What a vertex or a set is said to gain is the difference of ln q on
/// both sides of that limit, while others are placed nowhere.
#[test]
fn gains_are_differences_of_ln_q_among_many_blocks() {
    let (n, mut rng) = (300, Rng::from_seed(Purpose::Test, 13));
    let pairs = (0..n as u32).flat_map(|v| (0..v).map(move |u| (u, v)));
    let edges: Vec<(u32, u32)> = pairs.filter(|_| rng.uniform() < 0.03).collect();
    let model = models::Irm::new(Graph::new(n, &edges).unwrap(), 0.7, 1.4).unwrap();
    let target = Target::new(model, 2.0).unwrap();
    let labels: Vec<u32> = (0..n as u32).map(|i| i % 250).collect();
    let mut state = State::from_labels(&target, &labels);
    let (mut sides, mut nowhere) = ([0, 0], 0);
    for step in 0..500 {
        // Blocks become more for a while, and else all goes anywhere.
        let growing = (40..400).contains(&step);
        let first = Item::new(rng.below(n as u64) as usize);
        let from = state.z().slot_of(first);
        let of_home = (0..n).map(Item::new).filter(|&i| i != first && state.z().slot_of(i) == from);
        let items: Vec<Item> = std::iter::once(first)
            .chain(of_home.take(if growing { 0 } else { step % 3 }))
            .collect();
        let held = state.take(&items);
        let mut slots = state.z().live().to_vec();
        let fresh = state.fresh();
        slots.push(fresh);
        let mut gains = vec![0.0; slots.len()];
        state.gains(&held, &slots, &mut gains);
        let choice = if growing { slots.len() - 1 } else { rng.below(slots.len() as u64) as usize };
        if step % 7 == 0 {
            state.set_aside(held);
        } else {
            state.put(held, fresh);
            let alone = state.ln_q();
            let held = state.take(&items);
            state.put(held, slots[choice]);
            let (grown, told) = (state.ln_q() - alone, gains[choice] - gains[slots.len() - 1]);
            close(grown, told, "ln q(with C) − ln q(C alone) = gain − gain alone", "irm");
        }
        sides[usize::from(state.z().slots() > 255)] += 1;
        nowhere = nowhere
            .max((0..n).filter(|&i| state.z().slot_of(Item::new(i)) == Slot::NOWHERE).count());
    }
    assert!(sides[0] > 20 && sides[1] > 20 && nowhere > 10, "{sides:?}, {nowhere}");
}

/// A network whose blocks have more pairs than the tables hold: gains are differences of ln q there, too,
/// for single vertices and for sets, from their home and from nowhere.
#[test]
fn gains_are_differences_of_ln_q_in_large_networks() {
    let graph = armix::builtin::planted_by_degree(3, 12.0, 30_000, 1);
    let (graph, mut labels) = graph.unwrap();
    let n = graph.n();
    let model = models::Irm::new(graph, 0.7, 1.4).unwrap();
    let target = Target::new(model, 2.0).unwrap();
    let mut rng = Rng::from_seed(Purpose::Test, 11);
    // Some blocks are small, so that both ways of computing meet.
    labels[..40].fill(3);
    labels[40..43].fill(4);
    let mut state = State::from_labels(&target, &labels);
    for step in 0..40 {
        let first = rng.below(n as u64) as usize;
        let first = Item::new(if step % 4 == 0 { step } else { first });
        let home = state.z().slot_of(first);
        let mut items = vec![first];
        if step % 3 == 0 {
            let others = (0..n).filter(|i| i % 97 == 3).map(Item::new);
            items.extend(others.filter(|&i| i != first && state.z().slot_of(i) == home));
        }
        let before = state.ln_q();
        let held = state.take(&items);
        let mut slots = state.z().live().to_vec();
        slots.push(state.fresh());
        let mut gains = vec![0.0; slots.len()];
        state.gains(&held, &slots, &mut gains);
        let at_home = slots.iter().position(|&s| s == home).unwrap();
        let choice = rng.below(slots.len() as u64) as usize;
        state.put(held, slots[choice]);
        let (grown, expected) = (gains[choice] - gains[at_home], state.ln_q() - before);
        // ln q is about −4·10⁵, from terms of up to 10⁷: its last digits are lost.
        assert!((grown - expected).abs() < 1e-6, "step {step}: {grown} ≠ {expected}");
    }
}
