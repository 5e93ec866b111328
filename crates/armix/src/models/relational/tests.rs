//! Degree correction: probabilities, means, what it becomes if degrees are even, and what it cannot have.

use super::*;
use crate::partition::all_partitions;

/// The model with these counts on its pairs, in their order.
fn with_counts(model: &Relational, counts: &[f64]) -> Relational {
    let relation = &model.data.list()[0];
    let pairs = all_pairs(relation, model.n()).filter(|&(u, v)| relation.is_pair(u, v));
    let entries = pairs.zip(counts).map(|((u, v), &count)| (u, v, count)).collect();
    model.with_relations(Relations::new(vec![relation.with_entries(entries)]).unwrap())
}

/// The probabilities of all counts add up to one, whether vertices share a block or not, for two vertices without directions and with them, and for
/// three on two sides.
#[test]
fn degree_corrected_counts_have_probabilities() {
    let shape =
        |directed| Shape { name: "r".into(), directed, loops: true, values: Values::Counts };
    let sides: Arc<[bool]> = [false, true, true].into();
    let relation = |n, sides, directed| {
        let some = vec![(0, 1, 1.0)];
        Relation::new(shape(directed), n, sides, some, &[]).unwrap()
    };
    let cases = [
        (relation(2, None, false), 3, 30),
        (relation(2, None, true), 4, 20),
        (relation(3, Some(sides), false), 2, 60),
    ];
    for (relation, pairs, below) in cases {
        // Means that hardly differ from 0.4, so that large counts do not matter.
        let typical = if pairs == 2 { 0.5 } else { 0.25 };
        let rate = 60.0 * typical / 0.4;
        let priors =
            Priors { counts: (60.0, rate), degree_evenness: Some(1.7), ..Priors::default() };
        let n = relation.n();
        let data = Relations::new(vec![relation]).unwrap();
        let model = Relational::new(data, &priors).unwrap();
        for labels in all_partitions(n) {
            let mut total = 0.0;
            let mut counts = vec![0.0; pairs];
            loop {
                total += with_counts(&model, &counts).ln_evidence_naive(&labels).exp();
                let Some(at) = counts.iter().position(|&count| count < f64::from(below - 1)) else {
                    break;
                };
                counts[..at].fill(0.0);
                counts[at] += 1.0;
            }
            let mixed = model.mixed(&labels) > 0;
            let expected = if mixed { 0.0 } else { 1.0 };
            assert!((total - expected).abs() < 1e-9, "{n}, {labels:?}: {total}");
        }
    }
}

/// The statistics of a partition, one vertex after another.
fn counted(model: &Relational, labels: &[u32]) -> (RelationalStats, Partition) {
    let mut z = Partition::from_labels(labels);
    (0..labels.len()).for_each(|v| z.take(Item::new(v)));
    let (mut stats, mut load) = (model.empty_stats(), model.empty_load());
    model.grow(&mut stats, z.slots());
    for (v, &label) in labels.iter().enumerate() {
        let (item, slot) = (Item::new(v), Slot::new(label as usize));
        model.weigh(&[item], &z, &mut load);
        model.add(&mut stats, &load, &z, slot);
        z.put(item, slot);
    }
    (stats, z)
}

/// One more count in a pair is as probable as the mean of its rate says: p(x + 1) / p(x) = E[rate] / (x + 1).
#[test]
fn degree_corrected_means_are_ratios_of_evidences() {
    for n in [4, 5, 6] {
        let model = examples::degrees(n);
        let relation = &model.data.list()[0];
        for labels in all_partitions(n).into_iter().step_by(7) {
            let (stats, z) = counted(&model, &labels);
            for (u, v) in all_pairs(relation, n).filter(|&(u, v)| relation.is_pair(u, v)) {
                let old = relation.value(u, v).unwrap();
                let rest = relation.entries().filter(|e| (e.0, e.1) != (u, v));
                let entries = rest.chain([(u, v, old + 1.0)]).collect();
                let more = Relations::new(vec![relation.with_entries(entries)]).unwrap();
                let more = model.with_relations(more).ln_evidence_naive(&labels);
                let ratio = (more - model.ln_evidence_naive(&labels)).exp() * (old + 1.0);
                let found = model.predict(&stats, &z, (u, v));
                assert!((found / ratio - 1.0).abs() < 1e-10, "{u}, {v}, {z:?}: {found}, {ratio}");
            }
        }
    }
}

/// With very even degrees the model is that of plain counts, if those speak of all pairs as well.
#[test]
fn even_degrees_are_plain_counts() {
    let shape = Shape { name: "r".into(), directed: true, loops: true, values: Values::Counts };
    let entries = vec![(0, 1, 3.0), (1, 1, 2.0), (2, 0, 1.0), (3, 1, 4.0)];
    let relation = Relation::new(shape, 4, None, entries, &[]).unwrap();
    let model = |degree_evenness| {
        let data = Relations::new(vec![relation.clone()]).unwrap();
        Relational::new(data, &Priors { degree_evenness, ..Priors::default() }).unwrap()
    };
    for labels in all_partitions(4) {
        let (even, plain) = (model(Some(1e8)), model(None));
        let (even, plain) = (even.ln_evidence_naive(&labels), plain.ln_evidence_naive(&labels));
        assert!((even - plain).abs() < 1e-4, "{labels:?}: {even}, {plain}");
    }
}

#[test]
fn what_degrees_cannot_have_is_named() {
    let refused = |values: Values, hidden: &[(u32, u32)]| {
        let shape = Shape { name: "r".into(), directed: false, loops: false, values };
        let relation = Relation::new(shape, 3, None, vec![(0, 1, 1.0)], hidden).unwrap();
        let data = Relations::new(vec![relation]).unwrap();
        let priors = Priors { degree_evenness: Some(1.0), ..Priors::default() };
        Relational::new(data, &priors).unwrap_err().to_string()
    };
    assert!(refused(Values::Reals, &[]).contains("real numbers on all pairs"));
    assert!(refused(Values::Binary, &[(1, 2)]).contains("every pair"));
}
