//! A small made-up network for each kind of relational model, for verification.

use super::{Priors, Relational};
use crate::models::Case;
use crate::relations::{Relation, Relations, Shape, Values};
use std::sync::Arc;

/// The names of the models: zeros and ones, …
pub const BINARY: &str = "irm-bernoulli";
/// … counts, …
pub const COUNTS: &str = "irm-poisson";
/// … real numbers, …
pub const REALS: &str = "irm-gaussian";
/// … categories, …
pub const CATEGORIES: &str = "irm-categorical";
/// … several relations, …
pub const SEVERAL: &str = "irm-relations";
/// … and counts of vertices that have degrees of their own.
pub const DEGREES: &str = "irm-degree-corrected";

/// All of them, with their examples.
pub(crate) const CASES: [Case<Relational>; 6] = [
    Case { name: BINARY, example: binary },
    Case { name: COUNTS, example: counts },
    Case { name: REALS, example: reals },
    Case { name: CATEGORIES, example: categories },
    Case { name: SEVERAL, example: several },
    Case { name: DEGREES, example: degrees },
];

const PRIORS: Priors = Priors {
    beta: (0.8, 1.7),
    counts: (1.4, 0.7),
    reals: (0.3, 2.5, 0.9),
    categories: 0.6,
    degree_evenness: None,
};

/// What mixing sides costs in examples: little, so that every partition has some probability.
const APART: f64 = 0.7;

/// A relation with values that follow no symmetry; something is hidden if n is odd.
fn relation(
    n: usize,
    sides: Option<Arc<[bool]>>,
    directed: bool,
    loops: bool,
    values: Values,
) -> Relation {
    let shape = Shape { name: "example".into(), directed, loops, values };
    let mut entries = Vec::new();
    let all = (0..n as u32).flat_map(|u| (0..n as u32).map(move |v| (u, v)));
    for (u, v) in all.filter(|(u, v)| directed || u <= v) {
        let apart = sides.as_ref().is_none_or(|s| s[u as usize] != s[v as usize]);
        let mixed = (u * u + 3 * v + u * v) % 7;
        if apart && (u != v || (loops && sides.is_none())) && (mixed < 4 || (u, v) == (0, 1)) {
            let value = match &shape.values {
                Values::Binary => 1.0,
                Values::Counts => f64::from(mixed % 3 + 1),
                Values::RealsOnLinks | Values::Reals => f64::from(mixed) * 0.75 - 1.25,
                Values::Categories(kinds) => f64::from(mixed % (kinds.len() as u32 - 1) + 1),
            };
            entries.push((u, v, value));
        }
    }
    let hidden = [(0, 2), (1, 2), (4, 2), (1, 1), (0, 3)];
    let hidden: Vec<(u32, u32)> =
        hidden.into_iter().filter(|(u, v)| n % 2 == 1 && (*u.max(v) as usize) < n).collect();
    Relation::new(shape, n, sides, entries, &hidden).expect("an example is valid")
}

fn model(relations: Vec<Relation>) -> Relational {
    with_priors(relations, &PRIORS)
}

fn with_priors(relations: Vec<Relation>, priors: &Priors) -> Relational {
    let data = Relations::new(relations).expect("an example is valid");
    let model = Relational::new(data, priors).expect("an example is valid");
    Relational { apart: APART, ..model }
}

/// Directed, with self-loops.
fn binary(n: usize) -> Relational {
    model(vec![relation(n, None, true, true, Values::Binary)])
}

/// Bipartite.
fn counts(n: usize) -> Relational {
    let sides: Arc<[bool]> = (0..n).map(|v| v % 3 == 1).collect();
    model(vec![relation(n, Some(sides), false, false, Values::Counts)])
}

/// On links, directed.
fn reals(n: usize) -> Relational {
    model(vec![relation(n, None, true, false, Values::RealsOnLinks)])
}

/// Undirected, with self-loops.
fn categories(n: usize) -> Relational {
    let kinds = ["none", "some", "many"].map(String::from).to_vec();
    model(vec![relation(n, None, false, true, Values::Categories(kinds))])
}

/// Real numbers on all pairs, and directed counts.
pub(super) fn several(n: usize) -> Relational {
    let counts = relation(n, None, true, false, Values::Counts);
    model(vec![relation(n, None, false, false, Values::Reals), counts])
}

/// Undirected (4 vertices), directed (5) or bipartite (6), and so on. Nothing can be unknown.
pub(super) fn degrees(n: usize) -> Relational {
    let sides: Option<Arc<[bool]>> =
        n.is_multiple_of(3).then(|| (0..n).map(|v| v % 3 == 1).collect());
    let some = relation(n, sides.clone(), n % 3 == 2, true, Values::Counts);
    let entries = some.entries().collect();
    let all = Relation::new(some.shape, n, sides, entries, &[]).expect("an example is valid");
    with_priors(vec![all], &Priors { degree_evenness: Some(0.7), ..PRIORS })
}
