//! Square matrices as networks and back, for the formats that hold matrices.

use super::raw::RawNetwork;
use crate::error::{Error, Result};

/// Row, column and value of an entry.
pub(super) type Entry = (u32, u32, f64);

/// The network of a square matrix, of which the entries that are not zero are edges from row to
/// column, in the order of the rows; NaN is a pair of which nothing is known. A symmetric matrix is
/// an undirected network with each pair once; weights that are all 1 are none. `entries` are within n.
pub(super) fn network(n: u64, mut entries: Vec<Entry>) -> Result<RawNetwork> {
    if let Some(&(row, column, value)) = entries.iter().find(|e| e.2.is_infinite()) {
        return Err(Error::new(format!(
            "row {}, column {} of the matrix is {value}, which is no weight of an edge: put 0 where there is no edge",
            u64::from(row) + 1,
            u64::from(column) + 1
        )));
    }
    let hidden = entries.iter().filter(|e| e.2.is_nan()).map(|e| (e.0, e.1)).collect();
    entries.retain(|e| e.2 != 0.0 && !e.2.is_nan());
    sort(&mut entries);
    let mut mirrored: Vec<Entry> = entries.iter().map(|&(u, v, w)| (v, u, w)).collect();
    sort(&mut mirrored);
    let directed = mirrored != entries;
    drop(mirrored);
    if !directed {
        entries.retain(|e| e.0 <= e.1);
    }
    let weighted = entries.iter().any(|e| e.2 != 1.0);
    Ok(RawNetwork {
        names: RawNetwork::numbered(0, n)?,
        edges: entries.iter().map(|e| (e.0, e.1)).collect(),
        weights: weighted.then(|| entries.iter().map(|e| e.2).collect()),
        directed,
        both_ways: !directed,
        hidden,
        ..RawNetwork::default()
    })
}

/// The network of a sparse matrix whose entries are edges. If for every entry there is its mirror image, this is an undirected
/// network with each pair once: with both, counts would be added up to twice as much.
pub(super) fn each_pair_once(mut raw: RawNetwork) -> RawNetwork {
    // Most matrices that are not symmetric have more on one side of the diagonal: then nothing need be sorted.
    let side = |side: fn(&(u32, u32)) -> bool| raw.edges.iter().filter(|e| side(e)).count();
    if side(|e| e.0 < e.1) != side(|e| e.0 > e.1) {
        return raw;
    }
    let of = |at: usize, (u, v): (u32, u32)| (u, v, raw.weight(at));
    let mut entries: Vec<Entry> = raw.edges.iter().enumerate().map(|(e, &uv)| of(e, uv)).collect();
    sort(&mut entries);
    let mut mirrored: Vec<Entry> = entries.iter().map(|&(u, v, w)| (v, u, w)).collect();
    sort(&mut mirrored);
    if mirrored != entries {
        return raw;
    }
    let upper: Vec<bool> = raw.edges.iter().map(|e| e.0 <= e.1).collect();
    if let Some(weights) = &mut raw.weights {
        keep(weights, &upper);
    }
    keep(&mut raw.edges, &upper);
    keep(&mut raw.lines.0, &upper);
    (raw.directed, raw.both_ways) = (false, true);
    raw
}

fn keep<T>(list: &mut Vec<T>, kept: &[bool]) {
    let mut kept = kept.iter();
    list.retain(|_| kept.next() == Some(&true));
}

/// The entries of a network's matrix in the order of the rows. An undirected edge stands on both
/// sides of the diagonal, and the weights of repeated edges are added up.
pub(super) fn entries(network: &RawNetwork) -> Result<Vec<Entry>> {
    let n = network.n();
    let weights = network.weights.as_ref().map_or(network.edges.len(), Vec::len);
    if weights != network.edges.len() {
        return Err(Error::new(format!(
            "{weights} weights do not fit {} edges",
            network.edges.len()
        )));
    }
    let mut all = Vec::new();
    for (at, &(u, v)) in network.edges.iter().enumerate() {
        if u as usize >= n || v as usize >= n {
            return Err(Error::new(format!("edge {u} – {v} does not fit {n} vertices")));
        }
        all.push((u, v, network.weight(at)));
        if !network.directed && u != v {
            all.push((v, u, network.weight(at)));
        }
    }
    // Stable, so that both sides of the diagonal are added up in the same order.
    all.sort_by_key(|e| (e.0, e.1));
    all.dedup_by(|next, kept| {
        let same = (next.0, next.1) == (kept.0, kept.1);
        if same {
            kept.2 += next.2;
        }
        same
    });
    all.retain(|e| e.2 != 0.0);
    Ok(all)
}

fn sort(entries: &mut [Entry]) {
    entries.sort_unstable_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
}

/// Networks for the tests of the matrix formats: what comes back after writing is the network of
/// their entries.
#[cfg(test)]
pub(super) fn any_network() -> impl proptest::strategy::Strategy<Value = RawNetwork> {
    use proptest::prelude::*;
    (1u32..20).prop_flat_map(|n| {
        let edges = prop::collection::vec((0..n, 0..n), 0..40);
        let weights = prop::option::of(prop::collection::vec(-9.0f64..9.0, 40));
        (Just(n), edges, weights, any::<bool>()).prop_map(|(n, edges, weights, directed)| {
            let weights = weights.map(|w| w[..edges.len()].to_vec());
            let names = (0..n).map(|v| v.to_string()).collect();
            RawNetwork { names, edges, weights, directed, ..RawNetwork::default() }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symmetric_matrices_are_undirected() {
        let read = network(3, vec![(0, 1, 2.0), (2, 2, 1.0), (1, 0, 2.0), (0, 2, 0.0)]).unwrap();
        assert_eq!((read.n(), read.directed), (3, false));
        assert_eq!(read.edges, [(0, 1), (2, 2)]);
        assert_eq!(read.weights, Some(vec![2.0, 1.0]));
        let skewed = network(3, vec![(1, 0, 1.0), (0, 1, 1.0), (0, 2, 1.0)]).unwrap();
        assert_eq!((skewed.directed, skewed.weights), (true, None));
        assert_eq!(skewed.edges, [(0, 1), (0, 2), (1, 0)]);
    }

    #[test]
    fn mirror_images_are_one_pair() {
        let raw = RawNetwork {
            names: RawNetwork::numbered(0, 3).unwrap(),
            edges: vec![(1, 0), (2, 2), (0, 1), (2, 1), (1, 2)],
            weights: Some(vec![2.0, 5.0, 2.0, 3.0, 3.0]),
            directed: true,
            lines: super::super::raw::Lines(vec![2, 3, 4, 5, 6]),
            ..RawNetwork::default()
        };
        let once = each_pair_once(raw.clone());
        assert_eq!(once.edges, [(2, 2), (0, 1), (1, 2)]);
        assert_eq!(once.weights, Some(vec![5.0, 2.0, 3.0]));
        assert_eq!((once.directed, once.both_ways, once.lines.0), (false, true, vec![3, 4, 6]));
        let skewed = RawNetwork { weights: Some(vec![2.0, 5.0, 2.0, 3.0, 4.0]), ..raw };
        assert_eq!(each_pair_once(skewed.clone()), skewed);
    }

    #[test]
    fn what_is_no_weight() {
        let error = network(2, vec![(1, 0, f64::INFINITY)]).unwrap_err().to_string();
        assert!(error.contains("row 2, column 1") && error.contains("inf"), "{error}");
        let unknown = network(2, vec![(1, 0, f64::NAN)]).unwrap();
        assert_eq!((unknown.edges.len(), unknown.hidden), (0, vec![(1, 0)]));
    }

    #[test]
    fn there_and_back() {
        let undirected = RawNetwork {
            names: RawNetwork::numbered(0, 3).unwrap(),
            edges: vec![(1, 0), (0, 1), (2, 2)],
            ..RawNetwork::default()
        };
        let all = entries(&undirected).unwrap();
        assert_eq!(all, [(0, 1, 2.0), (1, 0, 2.0), (2, 2, 1.0)]);
        assert_eq!(network(3, all).unwrap().edges, [(0, 1), (2, 2)]);
        let broken = RawNetwork { edges: vec![(0, 3)], ..undirected.clone() };
        assert!(entries(&broken).unwrap_err().to_string().contains("does not fit"));
        let broken = RawNetwork { weights: Some(vec![]), ..undirected };
        assert!(entries(&broken).unwrap_err().to_string().contains("weights"));
    }
}
