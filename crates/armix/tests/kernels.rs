//! The exact kernel of every move with every model: the heart of the tests.

use armix::constraints::Constraints;
use armix::data::Graph;
use armix::model::Model;
use armix::models::{self, Bernoulli, Case, Irm, Visitor};
use armix::moves::{registry, strategies};
use armix::partition::Item;
use armix::state::Target;
use armix::sweep::{Buffers, Offer, sweep};
use armix::verify::{Backgrounds, Problem, controls};

/// Errors are rounding errors of sums of at most a few thousand numbers below 1.
const EXACT: f64 = 1e-12;

struct Kernels {
    n: usize,
    backgrounds: Backgrounds,
}

impl Kernels {
    /// The moves are the same for all models, so that some backgrounds are enough for those that came later, and
    /// a few for the slower ones among them.
    fn backgrounds(&self, model: &str) -> Backgrounds {
        match model {
            "bernoulli" | "irm" => self.backgrounds,
            name if name.starts_with("irm-") => Backgrounds::Sample(30),
            _ => Backgrounds::Sample(60),
        }
    }
}

impl Visitor for Kernels {
    fn visit<M: Model>(&mut self, case: &Case<M>) {
        let backgrounds = self.backgrounds(case.name);
        let problem = Problem::example(case, self.n);
        for entry in registry::<M>() {
            let errors = problem.registered(entry.name, &backgrounds);
            assert!(errors.paths > 0);
            assert!(
                errors.within(EXACT),
                "{} × {}, n = {}: {errors:?}",
                entry.name,
                case.name,
                self.n
            );
        }
    }
}

#[test]
fn four_items_with_every_background() {
    models::visit_all(&mut Kernels { n: 4, backgrounds: Backgrounds::All });
}

/// Without missing pairs so few blocks are kept in a layout of their own, which the tests above are about.
#[test]
fn four_vertices_in_the_layout_for_any_blocks() {
    let case = Case { name: "irm", example: |n| Irm::example(n).in_any_layout() };
    Kernels { n: 4, backgrounds: Backgrounds::Sample(60) }.visit(&case);
}

#[test]
fn five_items_with_a_sample_of_backgrounds() {
    models::visit_all(&mut Kernels { n: 5, backgrounds: Backgrounds::Sample(150) });
}

#[test]
fn two_and_three_items() {
    for n in [2, 3] {
        models::visit_all(&mut Kernels { n, backgrounds: Backgrounds::All });
    }
}

/// Strategies choose φ and know nothing of models: one that looks at other blocks and one that does not are enough.
#[test]
fn every_strategy_with_every_move_that_uses_the_past() {
    fn check<M: Model>(target: Target<M>) {
        let problem = Problem::new(target);
        for entry in registry::<M>().iter().filter(|e| e.uses_past()) {
            for strategy in strategies::registry() {
                let errors = problem.with_strategy(entry.name, &strategy, 60);
                let what = (entry.name, strategy.name, M::NAME);
                assert!(errors.backgrounds > 20 && errors.paths > 0, "{what:?}: {errors:?}");
                assert!(errors.within(EXACT), "{what:?}: {errors:?}");
            }
        }
    }
    check(Target::new(Bernoulli::example(5), 1.3).unwrap());
    check(Target::new(Irm::example(5), 1.3).unwrap());
    let tied = constrained(&[vec![0, 3]], &[1, 2], Some(3));
    check(Target::new(Irm::example(5), 1.3).unwrap().with(tied));
}

/// 12 ordered pairs × 24 orders and, with a past, 10 refinements that part each pair.
#[test]
fn every_background_is_listed() {
    use armix::moves::Background::{Pair, Past};
    assert_eq!(Backgrounds::All.list(Pair, 4).len(), 12 * 24);
    assert_eq!(Backgrounds::All.list(Past, 4).len(), 2 * 60 * 24);
}

/// Each mistake is seen in what it does to the posterior, far above rounding errors.
#[test]
fn negative_controls_are_detected() {
    struct Controls;
    impl Visitor for Controls {
        fn visit<M: Model>(&mut self, case: &Case<M>) {
            let all = controls::all(&Problem::example(case, 4));
            assert_eq!(all.len(), 6);
            for (name, errors) in all {
                assert!(!errors.within(EXACT), "{name} × {}: {errors:?}", case.name);
                assert!(errors.invariance > 1e-3, "{name} × {}: {errors:?}", case.name);
            }
        }
    }
    models::visit_all(&mut Controls);
}

/// Reading I = z ∪ {∅} literally spoils the paper's own example.
#[test]
fn two_fresh_slots_on_the_four_vertex_graph() {
    let graph = Graph::new(4, &[(0, 1), (0, 2), (0, 3), (2, 3)]).unwrap();
    let target = Target::new(Irm::new(graph, 1.0, 1.0).unwrap(), 1.0).unwrap();
    let problem = Problem::new(target);
    let (name, errors) = controls::all(&problem)[0];
    assert_eq!(name, "gibbs with two fresh slots");
    assert!((errors.invariance - 4.508e-2).abs() < 1e-5, "{errors:?}");
    // One item at a time, averaged over the items, it is the 1.5e-2 of an independent computation.
    let each =
        |item| problem.scan(|s, c| controls::literal_update(s, Item::new(item), c)).invariance;
    let mean = (0..4).map(each).sum::<f64>() / 4.0;
    assert!((mean - 1.5e-2).abs() < 0.05e-2, "{mean}");
    assert!(problem.registered("gibbs", &Backgrounds::All).within(1e-15));
}

/// Constraints of five items: 0 is tied to 3; 1 and 2 are of known groups, which 4 may join.
fn constrained(
    together: &[Vec<usize>],
    known: &[usize],
    most_blocks: Option<usize>,
) -> Constraints {
    let names: Vec<String> = (0..5).map(|i| i.to_string()).collect();
    let known: Vec<(usize, String)> = known.iter().map(|&i| (i, format!("group {i}"))).collect();
    Constraints::new(&names, together, &known, most_blocks).unwrap()
}

/// Every move stays exact when some partitions are not possible, and never leaves those that are. Constraints
/// know nothing of models: one that looks at other blocks and one that does not are enough.
#[test]
fn constraints() {
    fn check<M: Model>(constraints: Constraints) {
        let target = Target::new(M::example(5), 1.3).unwrap().with(constraints);
        let problem = Problem::new(target);
        for entry in registry::<M>() {
            let errors = problem.registered(entry.name, &Backgrounds::Sample(60));
            assert!(errors.paths > 0);
            assert!(errors.within(EXACT), "{} × {}: {errors:?}", entry.name, M::NAME);
        }
    }
    for constraints in [
        constrained(&[vec![0, 3]], &[], None),
        constrained(&[], &[1, 2], None),
        constrained(&[], &[], Some(2)),
        constrained(&[vec![0, 3]], &[1, 2], Some(3)),
        constrained(&[], &[0, 1, 2], Some(3)),
    ] {
        check::<Bernoulli>(constraints.clone());
        check::<Irm>(constraints);
    }
}

/// A scan that moves a tied item alone leaves what is possible, and that is seen.
#[test]
fn a_broken_tie_is_noticed() {
    let constraints = constrained(&[vec![0, 3]], &[], None);
    let target = Target::new(Irm::example(5), 1.3).unwrap().with(constraints);
    let problem = Problem::new(target);
    let alone = |item: usize| {
        problem.scan(|state, chooser| {
            sweep(state, &[Item::new(item)], Offer::Everything, chooser, &mut Buffers::default())
                .ln_pi()
        })
    };
    assert!(alone(1).within(EXACT));
    assert!(!alone(3).within(EXACT));
}
