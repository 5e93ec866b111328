//! Preparation of networks as in the paper, each step reported: symmetrise, threshold, drop
//! self-loops, collapse duplicates; then perhaps keep the busiest vertices or the largest component.
//! What is to keep directions, weights, self-loops or sides goes to `relational.rs`.

use super::raw::RawNetwork;
use super::relational;
use crate::data::{Data, Dataset, Graph};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What the weights of a network are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weights {
    /// Compared with the threshold: linked or not.
    #[default]
    Ignore,
    /// Counts, 0 where there is no edge; those of repeated edges are added up.
    Counts,
    /// Real numbers on edges; whether there is an edge is modelled beside.
    Real,
    /// Real numbers on all pairs, 0 where there is no edge.
    RealAll,
    /// Kinds of edges; no edge is a kind, too.
    Category,
}

impl Weights {
    /// The names in options.
    pub const NAMES: [(&'static str, Weights); 5] = [
        ("ignore", Weights::Ignore),
        ("counts", Weights::Counts),
        ("real", Weights::Real),
        ("real-all", Weights::RealAll),
        ("category", Weights::Category),
    ];
}

impl std::str::FromStr for Weights {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let found = Weights::NAMES.iter().find(|(name, _)| *name == text);
        found.map(|(_, weights)| *weights).ok_or_else(|| {
            let names = Weights::NAMES.map(|(name, _)| name).join(", ");
            Error::new(format!("weights '{text}': they can be {names}"))
        })
    }
}

impl std::fmt::Display for Weights {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let found = Weights::NAMES.iter().find(|(_, weights)| weights == self);
        f.write_str(found.map_or("ignore", |(name, _)| name))
    }
}

/// How a network is prepared.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NetworkOptions {
    /// A pair is linked if its weights, added up over both directions, exceed this.
    pub threshold: f64,
    /// Keep this fraction of the vertices, those of highest degree.
    pub downsample: Option<f64>,
    /// Keep the largest connected component.
    pub largest_component: bool,
    /// Edges have a direction.
    pub directed: bool,
    /// A vertex may be linked to itself.
    pub self_loops: bool,
    /// What weights are: of the network and of each further relation, the last one for all that follow.
    pub weights: Vec<Weights>,
    /// There are two sides, and links only between them.
    pub bipartite: bool,
    /// A file of pairs that were not observed.
    pub mask: Option<PathBuf>,
    /// Files with further relations of the same vertices.
    pub relations: Vec<PathBuf>,
    /// Keep it in the form for all kinds of networks, even if it is simple.
    pub general: bool,
}

impl NetworkOptions {
    /// What the weights of a relation are.
    pub fn weights_of(&self, relation: usize) -> Weights {
        self.weights.get(relation).or(self.weights.last()).copied().unwrap_or_default()
    }

    /// The options that a user has given, as they are called on the command line. What the name of a model asks for is not among them.
    pub(super) fn given(&self) -> Vec<&'static str> {
        let given = [
            (self.threshold != 0.0, "--threshold"),
            (self.downsample.is_some(), "--downsample"),
            (self.largest_component, "--largest-component"),
            (self.directed, "--directed"),
            (self.self_loops && !self.general, "--self-loops"),
            (!self.weights.is_empty() && !self.general, "--weights"),
            (self.bipartite, "--bipartite"),
            (self.mask.is_some(), "--mask"),
            (!self.relations.is_empty(), "--relation"),
        ];
        given.into_iter().filter_map(|(given, name)| given.then_some(name)).collect()
    }

    /// Whether links without directions are all that is wanted.
    fn is_simple(&self) -> bool {
        let ignored = self.weights.iter().all(|w| *w == Weights::Ignore);
        let plain = !self.directed && !self.self_loops && !self.bipartite && !self.general;
        ignored && plain && self.relations.is_empty()
    }
}

/// Prepares a network.
pub fn network(raw: RawNetwork, options: &NetworkOptions) -> Result<Dataset> {
    if !options.is_simple() || raw.sides.is_some() {
        return relational::relational(raw, options);
    }
    let RawNetwork { mut names, edges, weights, directed, mut hidden, kinds, kinds_from, .. } = raw;
    if !kinds.is_empty() && options.weights.is_empty() {
        return Err(relational::words(&kinds, kinds_from));
    }
    let weights = weights.filter(|_| kinds.is_empty());
    if let Some(path) = &options.mask {
        hidden.extend(relational::mask(path, &names, false)?);
    }
    let n = names.len();
    if edges.is_empty() {
        let message = "there are no edges in this file: nothing tells the vertices apart";
        return Err(Error::new(message));
    }
    let mut notes = Vec::new();
    if directed {
        notes.push(
            "directions were dropped: a link in either direction is a link (--directed keeps them)"
                .to_string(),
        );
    }
    if weights.is_some() && options.weights.is_empty() {
        notes.push(format!(
            "weights were only compared with {}: a pair is linked above it (--weights counts, real or category uses them)",
            options.threshold
        ));
    }

    let loops = edges.iter().filter(|(u, v)| u == v).count();
    let (edges, below) = match weights {
        None if options.threshold < 1.0 => (edges, 0),
        weights => threshold(edges, weights.as_deref(), options.threshold),
    };
    let whole = Graph::from_edges(n, edges)?;
    let links = whole.edges();
    let mut graph = whole.hiding(&hidden);
    note(&mut notes, loops, "self-loop was dropped", "self-loops were dropped");
    let above = format!("of a weight of at most {} were dropped", options.threshold);
    note(&mut notes, below, &format!("pair {above}"), &format!("pairs {above}"));
    // In a directed network a pair that is linked both ways is no repetition.
    if !directed {
        note(
            &mut notes,
            graph.duplicates_dropped,
            "repeated edge was counted once",
            "repeated edges were counted once",
        );
    }
    if graph.edges() == 0 {
        return Err(Error::new(match (links, below) {
            (1.., _) => {
                "all links of this network are among the pairs that were not observed: nothing tells the vertices apart; mask fewer pairs"
                    .to_string()
            }
            (_, 0) => {
                "this network has self-loops only, which are dropped: no edges are left".to_string()
            }
            _ => format!(
                "no pair has a weight above {}: no edges are left; lower the threshold",
                options.threshold
            ),
        }));
    }
    if let Some(fraction) = options.downsample {
        let kept = busiest(&graph, fraction)?;
        notes.push(format!("the {} of {n} vertices with the highest degree were kept", kept.len()));
        (graph, names) = restrict(&graph, &names, &kept)?;
    }
    if options.largest_component {
        let (component, count) = graph.components();
        let mut sizes = vec![0usize; count];
        component.iter().for_each(|&c| sizes[c as usize] += 1);
        // The first of equals.
        let largest = (0..count).rev().max_by_key(|&c| sizes[c]).unwrap_or(0) as u32;
        let kept: Vec<u32> =
            (0..graph.n() as u32).filter(|&v| component[v as usize] == largest).collect();
        notes.push(format!(
            "the largest of {count} components was kept: {} of {} vertices",
            kept.len(),
            graph.n()
        ));
        (graph, names) = restrict(&graph, &names, &kept)?;
    }
    note(&mut notes, graph.isolated(), "vertex has no edge", "vertices have no edge");
    let hidden = graph.hidden_pairs().count();
    note(&mut notes, hidden, "pair was not observed", "pairs were not observed");
    let dataset = Dataset::new(Data::Network(graph));
    Ok(Dataset { names, notes, ..dataset })
}

pub(super) fn note(notes: &mut Vec<String>, count: usize, one: &str, many: &str) {
    match count {
        0 => {}
        1 => notes.push(format!("1 {one}")),
        _ => notes.push(format!("{count} {many}")),
    }
}

/// The pairs whose weights sum to more than the threshold, and how many do not.
fn threshold(
    edges: Vec<(u32, u32)>,
    weights: Option<&[f64]>,
    threshold: f64,
) -> (Vec<(u32, u32)>, usize) {
    let mut pairs: Vec<((u32, u32), f64)> = (edges.iter().enumerate())
        .map(|(at, &(u, v))| ((u.min(v), u.max(v)), weights.map_or(1.0, |w| w[at])))
        .collect();
    pairs.sort_by_key(|(pair, _)| *pair);
    let mut kept = Vec::new();
    let mut below = 0;
    for group in pairs.chunk_by(|a, b| a.0 == b.0) {
        let (u, v) = group[0].0;
        if u == v {
            continue; // a self-loop, whatever its weight
        }
        if group.iter().map(|(_, w)| w).sum::<f64>() > threshold {
            kept.push((u, v));
        } else {
            below += 1;
        }
    }
    (kept, below)
}

/// The round(F·n) vertices of highest degree, ties by index, in their old order.
pub(super) fn busiest(graph: &Graph, fraction: f64) -> Result<Vec<u32>> {
    if !(fraction > 0.0 && fraction <= 1.0) {
        return Err(Error::new(format!(
            "downsample = {fraction} is not possible: give the fraction of vertices to keep, above 0 and at most 1"
        )));
    }
    let mut vertices: Vec<u32> = (0..graph.n() as u32).collect();
    vertices.sort_by_key(|&v| std::cmp::Reverse(graph.neighbours(v as usize).len()));
    vertices.truncate((fraction * graph.n() as f64).round() as usize);
    vertices.sort_unstable();
    Ok(vertices)
}

/// The network among some vertices (in ascending order).
fn restrict(graph: &Graph, names: &[String], kept: &[u32]) -> Result<(Graph, Vec<String>)> {
    let mut new = vec![u32::MAX; graph.n()];
    kept.iter().zip(0..).for_each(|(&v, number)| new[v as usize] = number);
    let edges = (kept.iter())
        .flat_map(|&u| graph.neighbours(u as usize).iter().map(move |&v| (u, v)))
        .filter(|&(u, v)| u < v && new[v as usize] != u32::MAX)
        .map(|(u, v)| (new[u as usize], new[v as usize]))
        .collect();
    let both = |&(u, v): &(u32, u32)| new[u as usize].max(new[v as usize]) != u32::MAX;
    let hidden: Vec<(u32, u32)> = (graph.hidden_pairs().filter(both))
        .map(|(u, v)| (new[u as usize], new[v as usize]))
        .collect();
    let graph = Graph::from_edges(kept.len(), edges)?.hiding(&hidden);
    if graph.edges() == 0 {
        return Err(Error::new("no edges are left among the vertices that are kept: keep more"));
    }
    Ok((graph, kept.iter().map(|&v| names[v as usize].clone()).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(
        n: usize,
        edges: &[(u32, u32)],
        weights: Option<Vec<f64>>,
        directed: bool,
    ) -> RawNetwork {
        let names = (0..n).map(|v| format!("v{v}")).collect();
        RawNetwork { names, edges: edges.to_vec(), weights, directed, ..RawNetwork::default() }
    }

    fn edges(dataset: &Dataset) -> Vec<(u32, u32)> {
        let Data::Network(graph) = &dataset.data else { panic!("a network") };
        let pairs = |u: usize| graph.neighbours(u).iter().map(move |&v| (u as u32, v));
        (0..graph.n()).flat_map(pairs).filter(|(u, v)| u < v).collect()
    }

    #[test]
    fn weights_of_both_directions_are_added_before_the_threshold() {
        let raw = raw(
            4,
            &[(0, 1), (1, 0), (1, 2), (2, 3), (3, 3)],
            Some(vec![0.6, 0.6, 0.9, 0.0, 5.0]),
            true,
        );
        let zero = network(raw.clone(), &NetworkOptions::default()).unwrap();
        assert_eq!(edges(&zero), [(0, 1), (1, 2)]);
        // Directions, weights, loop, threshold, isolated.
        assert_eq!(zero.notes.len(), 5, "{:?}", zero.notes);
        let one = network(raw, &NetworkOptions { threshold: 1.0, ..Default::default() }).unwrap();
        assert_eq!(edges(&one), [(0, 1)]);
    }

    #[test]
    fn duplicates_and_loops_are_counted() {
        let dataset = network(
            raw(3, &[(0, 1), (1, 0), (2, 2), (0, 1)], None, false),
            &NetworkOptions::default(),
        )
        .unwrap();
        assert_eq!(edges(&dataset), [(0, 1)]);
        assert_eq!(
            dataset.notes,
            [
                "1 self-loop was dropped",
                "2 repeated edges were counted once",
                "1 vertex has no edge"
            ]
        );
    }

    #[test]
    fn downsampling_keeps_the_busiest_in_their_order() {
        // Degrees 1, 3, 2, 2, 0; half of five vertices is three (rounded), ties by index.
        let options = NetworkOptions { downsample: Some(0.5), ..Default::default() };
        let dataset =
            network(raw(5, &[(0, 1), (1, 2), (1, 3), (2, 3)], None, false), &options).unwrap();
        assert_eq!(dataset.names, ["v1", "v2", "v3"]);
        assert_eq!(edges(&dataset), [(0, 1), (0, 2), (1, 2)]);
        for wrong in [0.0, -1.0, 1.5, f64::NAN] {
            let options = NetworkOptions { downsample: Some(wrong), ..Default::default() };
            assert!(network(raw(3, &[(0, 1)], None, false), &options).is_err());
        }
    }

    #[test]
    fn the_largest_component_is_kept_with_its_names() {
        let options = NetworkOptions { largest_component: true, ..Default::default() };
        let dataset = network(raw(6, &[(0, 5), (1, 3), (3, 4)], None, false), &options).unwrap();
        assert_eq!(dataset.names, ["v1", "v3", "v4"]);
        assert_eq!(edges(&dataset), [(0, 1), (1, 2)]);
    }

    #[test]
    fn networks_without_edges_are_refused() {
        let refused = |raw| network(raw, &NetworkOptions::default()).unwrap_err().to_string();
        assert!(refused(raw(3, &[], None, false)).contains("no edges"));
        assert!(refused(raw(3, &[(1, 1)], None, false)).contains("self-loops only"));
        assert!(refused(raw(3, &[(1, 2)], Some(vec![0.0]), false)).contains("threshold"));
        let masked = RawNetwork { hidden: vec![(2, 1)], ..raw(3, &[(1, 2), (0, 0)], None, false) };
        assert!(refused(masked).contains("mask fewer pairs"));
    }

    #[test]
    fn masked_links_are_not_repeated_ones() {
        let edges = [(0, 1), (1, 2), (2, 3), (1, 0)];
        let masked = RawNetwork { hidden: vec![(1, 2), (0, 3)], ..raw(4, &edges, None, false) };
        let dataset = network(masked, &NetworkOptions::default()).unwrap();
        let notes = ["1 repeated edge was counted once", "2 pairs were not observed"];
        assert_eq!(dataset.notes, notes);
    }
}
