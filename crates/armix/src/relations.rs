//! Networks of every kind: one or more relations over the same vertices, each directed or not, with
//! values on its pairs, some of which may be unknown; perhaps with two sides.

use crate::data::MAX_REAL;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Counts are kept in 32 bits, and the last number means "missing".
pub(crate) const MAX_COUNT: f64 = u32::MAX as f64 - 1.0;

/// What the entries of a relation are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Values {
    /// Linked or not.
    Binary,
    /// 0, 1, 2, …; 0 where nothing is listed.
    Counts,
    /// Real numbers on links; other pairs are not linked and have no number.
    RealsOnLinks,
    /// A real number on every pair; 0 where nothing is listed.
    Reals,
    /// One of these kinds, by its number; the first one, number 0, where nothing is listed.
    Categories(Vec<String>),
}

impl Values {
    /// In messages.
    pub fn name(&self) -> &'static str {
        match self {
            Values::Binary => "binary",
            Values::Counts => "counts",
            Values::RealsOnLinks => "real numbers",
            Values::Reals => "real numbers on all pairs",
            Values::Categories(_) => "categories",
        }
    }

    /// What a pair has of which nothing is listed is not kept.
    fn is_kept(&self, value: f64) -> bool {
        value != 0.0 || *self == Values::RealsOnLinks
    }

    /// Whether a value is possible, or why not.
    pub(crate) fn check(&self, value: f64) -> std::result::Result<(), String> {
        match self {
            Values::Binary if value != 0.0 && value != 1.0 => {
                Err(format!("{value} is neither 0 nor 1"))
            }
            Values::Counts if !(value >= 0.0 && value.fract() == 0.0 && value <= MAX_COUNT) => {
                Err(format!("{value} is no count (0, 1, 2, … up to {MAX_COUNT})"))
            }
            Values::Categories(kinds)
                if !(value >= 0.0 && value.fract() == 0.0 && value < kinds.len() as f64) =>
            {
                Err(format!("{value} is no number of a category"))
            }
            _ if !value.is_finite() => Err(format!("{value} is not finite")),
            Values::RealsOnLinks | Values::Reals if value.abs() > MAX_REAL => {
                Err(format!("{value:e} is too large (beyond ±{MAX_REAL:e}): divide all weights"))
            }
            _ => Ok(()),
        }
    }
}

/// What every vertex has with others, row after row.
#[derive(Debug, Clone, PartialEq, Default)]
struct Rows {
    start: Vec<usize>,
    others: Vec<u32>,
    values: Vec<f64>,
}

impl Rows {
    /// Of entries (from, to, value) in any order.
    fn new(n: usize, entries: impl Iterator<Item = (u32, u32, f64)> + Clone) -> Self {
        let mut start = vec![0usize; n + 1];
        entries.clone().for_each(|(u, _, _)| start[u as usize + 1] += 1);
        for v in 0..n {
            start[v + 1] += start[v];
        }
        let mut next = start.clone();
        let (mut others, mut values) = (vec![0; start[n]], vec![0.0; start[n]]);
        for (u, v, value) in entries {
            let at = &mut next[u as usize];
            (others[*at], values[*at]) = (v, value);
            *at += 1;
        }
        Rows { start, others, values }
    }

    #[inline]
    fn of(&self, v: usize) -> Row<'_> {
        match self.start.is_empty() {
            true => Row::default(),
            false => {
                let range = self.start[v]..self.start[v + 1];
                let first = range.start;
                Row { first, others: &self.others[range.clone()], values: &self.values[range] }
            }
        }
    }
}

/// What one vertex has with others.
#[derive(Debug, Clone, Copy, Default)]
pub struct Row<'a> {
    /// The place of the first of them among all values, [`Relation::all_values`].
    pub first: usize,
    /// The other vertices, in ascending order.
    pub others: &'a [u32],
    /// Their values.
    pub values: &'a [f64],
}

impl<'a> Row<'a> {
    /// Other vertices with their values.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = (u32, f64)> + 'a {
        self.others.iter().copied().zip(self.values.iter().copied())
    }

    /// The value with one vertex, if it is listed.
    pub fn get(self, other: u32) -> Option<f64> {
        self.others.binary_search(&other).ok().map(|at| self.values[at])
    }
}

/// The shape of a relation: which pairs it speaks of, and what it says of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// What it is called.
    pub name: String,
    /// Whether (u, v) and (v, u) are two pairs or one.
    pub directed: bool,
    /// Whether a vertex is a pair with itself.
    pub loops: bool,
    /// What its entries are.
    pub values: Values,
}

impl Shape {
    /// What its entries are called: "directed edges with counts".
    pub fn describe(&self) -> String {
        let direction = if self.directed { "directed " } else { "" };
        let with = match &self.values {
            Values::Binary => String::new(),
            Values::Categories(kinds) => format!(" of {} kinds", kinds.len() - 1),
            values => format!(" with {}", values.name()),
        };
        let loops = if self.loops { ", self-loops kept" } else { "" };
        format!("{direction}edges{with}{loops}")
    }
}

/// One relation among the vertices.
///
/// ```
/// use armix::relations::{Relation, Shape, Values};
/// let shape = Shape { name: "letters".into(), directed: true, loops: false, values: Values::Counts };
/// let relation = Relation::new(shape, 3, None, vec![(0, 1, 2.0), (1, 0, 5.0)], &[(2, 0)]).unwrap();
/// assert_eq!((relation.value(1, 0), relation.value(0, 2), relation.value(2, 0)), (Some(5.0), Some(0.0), None));
/// assert_eq!(relation.pairs(), 6);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Relation {
    /// Which pairs, and what of them.
    pub shape: Shape,
    n: usize,
    /// For each vertex, which side it is on. Pairs are between the sides only.
    sides: Option<Arc<[bool]>>,
    from: Rows,
    /// The same from the other end, if that is another.
    to: Rows,
    hidden_from: Rows,
    hidden_to: Rows,
}

impl Relation {
    /// The relation with these entries, each pair once, of which the hidden ones were not observed.
    pub fn new(
        shape: Shape,
        n: usize,
        sides: Option<Arc<[bool]>>,
        entries: Vec<(u32, u32, f64)>,
        hidden: &[(u32, u32)],
    ) -> Result<Self> {
        if shape.values == Values::Categories(Vec::new()) {
            return Err(Error::new(format!("{}: there are no categories", shape.name)));
        }
        let wrong = |(u, v): (u32, u32), why: &str| {
            Err(Error::new(format!("{}: the pair {u}, {v}: {why}", shape.name)))
        };
        let pair = |(u, v): (u32, u32)| match shape.directed {
            true => (u, v),
            false => (u.min(v), u.max(v)),
        };
        let mut hidden: Vec<(u32, u32)> = hidden.iter().map(|&h| pair(h)).collect();
        for &(u, v) in &hidden {
            if u.max(v) as usize >= n {
                return wrong((u, v), &format!("there are only {n} vertices"));
            }
        }
        hidden.retain(|&(u, v)| is_pair(&shape, sides.as_deref(), u, v));
        hidden.sort_unstable();
        hidden.dedup();
        let mut kept = Vec::with_capacity(entries.len());
        for (u, v, value) in entries {
            let (u, v) = pair((u, v));
            if u.max(v) as usize >= n {
                return wrong((u, v), &format!("there are only {n} vertices"));
            }
            if !is_pair(&shape, sides.as_deref(), u, v) {
                return wrong(
                    (u, v),
                    if u == v {
                        "self-loops were not asked for"
                    } else {
                        "both are on the same side of a bipartite network"
                    },
                );
            }
            if let Err(why) = shape.values.check(value) {
                return wrong((u, v), &why);
            }
            if shape.values.is_kept(value) && hidden.binary_search(&(u, v)).is_err() {
                kept.push((u, v, value));
            }
        }
        kept.sort_unstable_by_key(|&(u, v, _)| (u, v));
        if let Some(twice) = kept.windows(2).find(|w| (w[0].0, w[0].1) == (w[1].0, w[1].1)) {
            return wrong((twice[0].0, twice[0].1), "it is listed twice");
        }
        let (from, to) = both_ends(n, shape.directed, &kept);
        let hidden: Vec<(u32, u32, f64)> = hidden.into_iter().map(|(u, v)| (u, v, 0.0)).collect();
        let (hidden_from, hidden_to) = match hidden.is_empty() {
            true => (Rows::default(), Rows::default()),
            false => both_ends(n, shape.directed, &hidden),
        };
        Ok(Relation { shape, n, sides, from, to, hidden_from, hidden_to })
    }

    /// Whether this relation speaks of a pair.
    pub fn is_pair(&self, u: u32, v: u32) -> bool {
        is_pair(&self.shape, self.sides.as_deref(), u, v)
    }

    /// The number of vertices.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The number of pairs that it speaks of, hidden ones included.
    pub fn pairs(&self) -> u64 {
        let n = self.n as u64;
        let between = match &self.sides {
            Some(sides) => {
                let second = sides.iter().filter(|s| **s).count() as u64;
                2 * second * (n - second)
            }
            None => n * (n - 1),
        };
        let pairs = if self.shape.directed { between } else { between / 2 };
        pairs + if self.shape.loops && self.sides.is_none() { n } else { 0 }
    }

    /// What is listed of v, as the first of its pairs, or as either if there is no direction.
    #[inline]
    pub fn from(&self, v: usize) -> Row<'_> {
        self.from.of(v)
    }

    /// What is listed of v as the second of its pairs; nothing if there is no direction.
    #[inline]
    pub fn to(&self, v: usize) -> Row<'_> {
        self.to.of(v)
    }

    /// Whom v has an unknown value with, as the first of the pair, or as either without direction.
    #[inline]
    pub fn hidden_from(&self, v: usize) -> &[u32] {
        self.hidden_from.of(v).others
    }

    /// … as the second of the pair; nothing without direction.
    #[inline]
    pub fn hidden_to(&self, v: usize) -> &[u32] {
        self.hidden_to.of(v).others
    }

    /// The values of all rows one after another: those of `from`, and those of `to`.
    pub fn all_values(&self) -> (&[f64], &[f64]) {
        (&self.from.values, &self.to.values)
    }

    /// Whether some pairs were not observed.
    pub fn has_hidden(&self) -> bool {
        !self.hidden_from.others.is_empty()
    }

    /// All that is listed, each pair once.
    pub fn entries(&self) -> impl Iterator<Item = (u32, u32, f64)> + '_ {
        let once = |u: u32, v: u32| self.shape.directed || u <= v;
        (0..self.n as u32)
            .flat_map(|u| self.from(u as usize).iter().map(move |(v, value)| (u, v, value)))
            .filter(move |&(u, v, _)| once(u, v))
    }

    /// The number of pairs that are listed.
    pub fn listed(&self) -> usize {
        self.entries().count()
    }

    /// The pairs that were not observed, each once.
    pub fn hidden_pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let once = |u: u32, v: u32| self.shape.directed || u <= v;
        (0..self.n as u32)
            .flat_map(|u| self.hidden_from(u as usize).iter().map(move |&v| (u, v)))
            .filter(move |&(u, v)| once(u, v))
    }

    /// The value of a pair that the relation speaks of: `None` if it was not observed, or if a pair is
    /// not linked that would need a number.
    pub fn value(&self, u: u32, v: u32) -> Option<f64> {
        let hidden = self.hidden_from(u as usize).binary_search(&v).is_ok();
        let listed = self.from(u as usize).get(v);
        let unlisted = (self.shape.values != Values::RealsOnLinks).then_some(0.0);
        if hidden { None } else { listed.or(unlisted) }
    }

    /// The same relation, of which these pairs were not observed either.
    pub fn hiding(&self, pairs: &[(u32, u32)]) -> Self {
        let hidden: Vec<(u32, u32)> = self.hidden_pairs().chain(pairs.iter().copied()).collect();
        let entries = self.entries().collect();
        Relation::new(self.shape.clone(), self.n, self.sides.clone(), entries, &hidden)
            .expect("a part of what was valid")
    }

    /// The same shape and hidden pairs with other entries.
    pub fn with_entries(&self, entries: Vec<(u32, u32, f64)>) -> Self {
        let hidden: Vec<(u32, u32)> = self.hidden_pairs().collect();
        Relation::new(self.shape.clone(), self.n, self.sides.clone(), entries, &hidden)
            .expect("values of the same shape")
    }
}

fn is_pair(shape: &Shape, sides: Option<&[bool]>, u: u32, v: u32) -> bool {
    match sides {
        Some(sides) => sides[u as usize] != sides[v as usize],
        None => u != v || shape.loops,
    }
}

/// Rows from the first and from the second end; without direction all in the first.
fn both_ends(n: usize, directed: bool, entries: &[(u32, u32, f64)]) -> (Rows, Rows) {
    // Sorted by the first end, so that either kind of rows comes in ascending order.
    let there = entries.iter().copied();
    let back = entries.iter().map(|&(u, v, value)| (v, u, value));
    if directed {
        return (Rows::new(n, there), Rows::new(n, back));
    }
    let back = back.filter(|&(v, u, _)| u != v);
    (Rows::new(n, back.chain(there)), Rows::default())
}

/// Vertices with one or more relations among them.
#[derive(Debug, Clone, PartialEq)]
pub struct Relations {
    n: usize,
    sides: Option<Arc<[bool]>>,
    relations: Vec<Relation>,
}

impl Relations {
    /// Relations over the same vertices with the same sides.
    ///
    /// # Panics
    /// When there is no relation, or they differ in vertices or sides.
    pub fn new(relations: Vec<Relation>) -> Result<Self> {
        let (n, sides) = (relations[0].n, relations[0].sides.clone());
        assert!(relations.iter().all(|r| r.n == n && r.sides == sides), "the same vertices");
        crate::data::check_n(n, "vertices")?;
        Ok(Relations { n, sides, relations })
    }

    /// The number of vertices.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Which side each vertex is on, if there are two.
    pub fn sides(&self) -> Option<&[bool]> {
        self.sides.as_deref()
    }

    /// The relations.
    pub fn list(&self) -> &[Relation] {
        &self.relations
    }

    /// Whether all relations are of zeros and ones.
    pub fn is_binary(&self) -> bool {
        self.relations.iter().all(|relation| relation.shape.values == Values::Binary)
    }

    /// A pair of a relation as an entry of all matrices, one below the other.
    pub fn entry(&self, relation: usize, u: u32, v: u32) -> (u32, u32) {
        ((relation * self.n) as u32 + u, v)
    }

    /// The relation and the pair that are meant by an entry.
    pub fn pair(&self, (row, v): (u32, u32)) -> (usize, u32, u32) {
        (row as usize / self.n, (row as usize % self.n) as u32, v)
    }

    /// The entries that were not observed.
    pub fn hidden(&self) -> Vec<(u32, u32)> {
        let hidden = |(r, relation): (usize, &Relation)| -> Vec<(u32, u32)> {
            relation.hidden_pairs().map(|(u, v)| self.entry(r, u, v)).collect()
        };
        self.relations.iter().enumerate().flat_map(hidden).collect()
    }

    /// The same, of which these entries were not observed either.
    pub fn hiding(&self, entries: &[(u32, u32)]) -> Self {
        let of = |r: usize| -> Vec<(u32, u32)> {
            let pairs = entries.iter().map(|&e| self.pair(e));
            pairs.filter(|p| p.0 == r).map(|(_, u, v)| (u, v)).collect()
        };
        let relations = self.relations.iter().enumerate().map(|(r, x)| x.hiding(&of(r))).collect();
        Relations { n: self.n, sides: self.sides.clone(), relations }
    }

    /// The links of all relations without direction and values, each once, for pictures of the network.
    pub fn links(&self) -> Vec<(u32, u32)> {
        let pairs = self.relations.iter().flat_map(Relation::entries);
        let mut links: Vec<(u32, u32)> =
            pairs.map(|(u, v, _)| (u.min(v), u.max(v))).filter(|(u, v)| u != v).collect();
        links.sort_unstable();
        links.dedup();
        links
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(directed: bool, loops: bool, values: Values) -> Shape {
        Shape { name: "r".into(), directed, loops, values }
    }

    #[test]
    fn rows_hold_both_ends() {
        let entries = vec![(2, 1, 3.0), (0, 2, 1.0), (1, 1, 4.0), (0, 1, 0.0)];
        let undirected =
            Relation::new(shape(false, true, Values::Counts), 3, None, entries.clone(), &[(2, 2)])
                .unwrap();
        assert_eq!(undirected.from(1).others, [1, 2]);
        assert_eq!(undirected.from(2).iter().collect::<Vec<_>>(), [(0, 1.0), (1, 3.0)]);
        assert!(undirected.to(1).others.is_empty());
        assert_eq!(undirected.entries().count(), 3);
        assert_eq!((undirected.pairs(), undirected.value(2, 2)), (6, None));
        let directed =
            Relation::new(shape(true, true, Values::Counts), 3, None, entries, &[]).unwrap();
        assert_eq!((directed.from(1).others, directed.to(1).others), (&[1][..], &[1, 2][..]));
        assert_eq!((directed.value(1, 2), directed.value(2, 1)), (Some(0.0), Some(3.0)));
        assert_eq!(directed.pairs(), 9);
    }

    #[test]
    fn sides_leave_pairs_between_them() {
        let sides: Arc<[bool]> = [false, true, false, true, true].into();
        let relation = Relation::new(
            shape(false, false, Values::Binary),
            5,
            Some(sides.clone()),
            vec![(1, 0, 1.0), (2, 4, 1.0)],
            &[(0, 2), (3, 2)],
        )
        .unwrap();
        assert_eq!(relation.pairs(), 6);
        assert_eq!(relation.hidden_pairs().collect::<Vec<_>>(), [(2, 3)]);
        let one_side = Relation::new(
            shape(false, false, Values::Binary),
            5,
            Some(sides),
            vec![(1, 3, 1.0)],
            &[],
        );
        assert!(one_side.unwrap_err().to_string().contains("same side"));
        let all = Relations::new(vec![relation.clone(), relation]).unwrap();
        assert_eq!(all.hidden(), [(2, 3), (7, 3)]);
        let more = all.hiding(&[(5, 1), (2, 3)]);
        assert_eq!(more.list()[0].entries().count(), 2);
        assert_eq!(more.list()[1].entries().collect::<Vec<_>>(), [(2, 4, 1.0)]);
        assert_eq!(more.hidden(), [(2, 3), (5, 1), (7, 3)]);
    }

    #[test]
    fn wrong_values_are_named() {
        let refused = |values: Values, value: f64, entry: (u32, u32)| {
            let entries = vec![(entry.0, entry.1, value)];
            let relation = Relation::new(shape(true, false, values), 2, None, entries, &[]);
            relation.unwrap_err().to_string()
        };
        assert!(refused(Values::Counts, 1.5, (0, 1)).contains("no count"));
        assert!(refused(Values::Counts, -1.0, (0, 1)).contains("no count"));
        assert!(refused(Values::Reals, f64::NAN, (0, 1)).contains("not finite"));
        assert!(refused(Values::Binary, 2.0, (0, 1)).contains("neither"));
        assert!(refused(Values::Categories(vec!["none".into()]), 1.0, (0, 1)).contains("category"));
        assert!(refused(Values::Binary, 1.0, (1, 1)).contains("self-loops"));
        assert!(refused(Values::Binary, 1.0, (1, 2)).contains("only 2"));
        let twice = Relation::new(
            shape(false, false, Values::Counts),
            2,
            None,
            vec![(0, 1, 1.0), (1, 0, 1.0)],
            &[],
        );
        assert!(twice.unwrap_err().to_string().contains("twice"));
    }
}
