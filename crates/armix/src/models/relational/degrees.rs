//! Degrees of vertices: what a degree-corrected model of counts adds to that of the pairs of blocks.
//!
//! The count of a pair is Poisson(θ_u θ_v λ_kl). The θ of the n vertices of a block are n times a Dirichlet(γ, …, γ): 1 on average, and
//! Σ θ_u θ_v over all pairs of two blocks is the number of those pairs, so that λ and θ part, and what is known of λ is as without θ. With d_u the degree
//! of a vertex and D = Σ d_u
//!
//! ∫ ∏ θ_u^d_u p(θ) dθ = n^D Γ(γn) / Γ(γn + D) ∏ Γ(γ + d_u) / Γ(γ).
//!
//! This needs all pairs, so that none may be unknown, and those of a vertex with itself are among them: without directions with half of the rate, as
//! Σ θ_u θ_v over pairs inside a block is n²/2 then. With directions a vertex has a θ for either end. In a bipartite network
//! the θ of either side of a block are apart.

use super::load::Count;
use crate::families::ln_of_gamma;
use crate::hyper::{Hyper, HyperPrior};
use crate::partition::{Item, Partition, Slot};
use crate::relations::Relation;
use crate::special::{ln_gamma, ln_gamma_drop};
use std::f64::consts::LN_2;
use std::sync::Arc;

/// What the two ends of a pair are.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Ends {
    /// The same.
    Alike,
    /// The first and the second.
    Directed,
    /// One on either side.
    Sides,
}

/// The degrees of one relation; by end, where those differ.
#[derive(Debug, Clone)]
pub(super) struct Degrees {
    /// The number of the relation.
    pub(super) relation: usize,
    ends: Ends,
    of: Arc<[[u64; 2]]>,
    /// Half of ln 2 for every end of a link between two vertices, if pairs are counted twice.
    twice: Arc<[f64]>,
    evenness: f64,
    /// What is the same for all partitions, by vertex.
    own: Vec<f64>,
}

/// The degrees of blocks, and what follows from them.
#[derive(Debug, Default)]
pub(super) struct DegreeStats {
    totals: Vec<[u64; 2]>,
    ln_terms: Vec<f64>,
}

impl Clone for DegreeStats {
    fn clone(&self) -> Self {
        DegreeStats { totals: self.totals.clone(), ln_terms: self.ln_terms.clone() }
    }

    fn clone_from(&mut self, other: &Self) {
        self.totals.clone_from(&other.totals);
        self.ln_terms.clone_from(&other.ln_terms);
    }
}

impl DegreeStats {
    pub(super) fn grow(&mut self, slots: usize) {
        self.totals.resize(slots, [0; 2]);
        self.ln_terms.resize(slots, 0.0);
    }
}

/// The degrees of a set of vertices.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DegreeLoad {
    totals: [u64; 2],
    own: f64,
}

impl Degrees {
    /// Those of a relation of counts.
    pub(super) fn new(
        relation: &Relation,
        number: usize,
        sides: Option<&[bool]>,
        n: usize,
        evenness: f64,
    ) -> Self {
        let ends = match (sides, relation.shape.directed) {
            (Some(_), _) => Ends::Sides,
            (None, true) => Ends::Directed,
            (None, false) => Ends::Alike,
        };
        let (mut of, mut twice) = (vec![[0; 2]; n], vec![0.0; n]);
        for (u, v, value) in relation.entries() {
            let side = |v: u32| sides.is_some_and(|sides| sides[v as usize]);
            let places = match ends {
                Ends::Alike => [0, 0],
                Ends::Directed => [0, 1],
                Ends::Sides => [u, v].map(|v| usize::from(side(v))),
            };
            for (vertex, end) in [u, v].into_iter().zip(places) {
                of[vertex as usize][end] += value as u64;
                if ends == Ends::Alike && u != v {
                    twice[vertex as usize] += 0.5 * LN_2 * value;
                }
            }
        }
        let degrees = Degrees {
            relation: number,
            ends,
            of: of.into(),
            twice: twice.into(),
            evenness,
            own: Vec::new(),
        };
        degrees.with_evenness(evenness)
    }

    /// The same with another γ.
    pub(super) fn with_evenness(&self, evenness: f64) -> Self {
        let own = (0..self.of.len()).map(|v| self.ln_own(v, evenness)).collect();
        Degrees { evenness, own, ..self.clone() }
    }

    /// What a vertex contributes wherever it is.
    fn ln_own(&self, vertex: usize, evenness: f64) -> f64 {
        let of_end = |&degree: &u64| -ln_gamma_drop(evenness, degree as f64);
        self.of[vertex].iter().map(of_end).sum::<f64>() + self.twice[vertex]
    }

    /// The number of vertices that share the degrees of either end.
    fn vertices(&self, size: Count) -> [u64; 2] {
        match self.ends {
            Ends::Alike => [size.0[0], 0],
            Ends::Directed => [size.0[0]; 2],
            Ends::Sides => size.0,
        }
    }

    /// What a block contributes besides what its vertices do.
    fn ln_term(&self, size: Count, totals: [u64; 2], evenness: f64) -> f64 {
        let mut sum = 0.0;
        for (n, total) in self.vertices(size).into_iter().zip(totals) {
            if total > 0 {
                let (n, total) = (n as f64, total as f64);
                sum += total * libm::log(n) + ln_gamma_drop(evenness * n, total);
            }
        }
        sum
    }

    /// What items carry.
    pub(super) fn weigh(&self, items: &[Item]) -> DegreeLoad {
        let mut load = DegreeLoad::default();
        for vertex in items.iter().map(|item| item.index()) {
            load.totals = add(load.totals, self.of[vertex]);
            load.own += self.own[vertex];
        }
        load
    }

    /// A set joins block k, or leaves it; the size is the one after that.
    pub(super) fn change(
        &self,
        stats: &mut DegreeStats,
        load: &DegreeLoad,
        size: Count,
        k: usize,
        joins: bool,
    ) {
        let totals = stats.totals[k];
        stats.totals[k] = if joins { add(totals, load.totals) } else { sub(totals, load.totals) };
        stats.ln_terms[k] = self.ln_term(size, stats.totals[k], self.evenness);
    }

    /// What the evidence grows by if a set joins block k, whose size and statistics have it already if it is `home`.
    pub(super) fn gain(
        &self,
        stats: &DegreeStats,
        load: &DegreeLoad,
        (set, size): (Count, Count),
        k: usize,
        home: bool,
    ) -> f64 {
        let (totals, ln_term) = (stats.totals[k], stats.ln_terms[k]);
        let (with, without) = match home {
            true => {
                let (rest, left) = (sub(totals, load.totals), size.without(set, true));
                (ln_term, self.ln_term(left, rest, self.evenness))
            }
            false => {
                let all = Count(add(size.0, set.0));
                (self.ln_term(all, add(totals, load.totals), self.evenness), ln_term)
            }
        };
        load.own + (with - without)
    }

    /// Computes what follows from degrees anew.
    pub(super) fn refresh(&self, stats: &mut DegreeStats, sizes: &[Count]) {
        for (k, ln_term) in stats.ln_terms.iter_mut().enumerate() {
            *ln_term = self.ln_term(sizes[k], stats.totals[k], self.evenness);
        }
    }

    /// What degrees contribute to the evidence.
    pub(super) fn ln_evidence(&self, stats: &DegreeStats, z: &Partition) -> f64 {
        z.live().iter().map(|k| stats.ln_terms[k.index()]).sum::<f64>()
            + placed(z).map(|v| self.own[v]).sum::<f64>()
    }

    /// The same with another γ.
    pub(super) fn ln_evidence_with(
        &self,
        evenness: f64,
        stats: &DegreeStats,
        sizes: &[Count],
        z: &Partition,
    ) -> f64 {
        let term = |k: usize| self.ln_term(sizes[k], stats.totals[k], evenness);
        z.live().iter().map(|k| term(k.index())).sum::<f64>()
            + placed(z).map(|v| self.ln_own(v, evenness)).sum::<f64>()
    }

    /// The same by the formula: from the degrees of the vertices of each block.
    pub(super) fn ln_evidence_naive(
        &self,
        relation: &Relation,
        sides: Option<&[bool]>,
        labels: &[u32],
    ) -> f64 {
        let blocks = labels.iter().max().map_or(0, |&m| m + 1);
        let mut sum = 0.0;
        let parts = (0..blocks).flat_map(|k| (0..2).map(move |end| (k, end)));
        for (k, end) in parts {
            let here = |v: &usize| {
                let side = sides.is_none_or(|sides| usize::from(sides[*v]) == end);
                labels[*v] == k && side
            };
            let degree = |v: usize| {
                let ends = relation.entries().map(|(u, w, value)| match self.ends {
                    Ends::Directed if end == 0 => f64::from(u8::from(u as usize == v)) * value,
                    Ends::Directed => f64::from(u8::from(w as usize == v)) * value,
                    Ends::Alike if end == 1 => 0.0,
                    _ => f64::from(u8::from(u as usize == v) + u8::from(w as usize == v)) * value,
                });
                ends.sum::<f64>()
            };
            let degrees: Vec<f64> = (0..labels.len()).filter(here).map(degree).collect();
            let (n, total) = (degrees.len() as f64, degrees.iter().sum::<f64>());
            if n > 0.0 {
                let all = ln_gamma(self.evenness * n) - ln_gamma(self.evenness * n + total);
                let each = |d: &f64| ln_gamma(self.evenness + d) - ln_gamma(self.evenness);
                sum += total * libm::log(n) + all + degrees.iter().map(each).sum::<f64>();
            }
        }
        // λ = 2 μ, and μ is what pairs of blocks have: with half of the rate of a vertex with itself, it is μ for every order of two vertices.
        let between = relation.entries().filter(|(u, v, _)| u != v).map(|(_, _, value)| value);
        sum + if self.ends == Ends::Alike { LN_2 * between.sum::<f64>() } else { 0.0 }
    }

    /// The hyper-parameter γ: the larger, the more alike are the vertices of a block.
    pub(super) fn hyper(&self) -> Hyper {
        Hyper::new("degree_evenness", self.evenness, HyperPrior::UNIT_GAMMA)
    }

    /// What the mean of a pair is beside the mean that its blocks have, for each order of its vertices: the mean of θ_u θ_v, twice where two orders are one pair.
    pub(super) fn mean_of_pair(
        &self,
        stats: &DegreeStats,
        sizes: &[Count],
        z: &Partition,
        sides: Option<&[bool]>,
        [u, v]: [usize; 2],
    ) -> f64 {
        let block = |vertex: usize| z.slot_of(Item::new(vertex)).index();
        let ends = match (self.ends, sides) {
            (Ends::Directed, _) => [0, 1],
            (Ends::Sides, Some(sides)) => [u, v].map(|vertex| usize::from(sides[vertex])),
            _ => [0, 0],
        };
        // θ is n times a share, whose mean is (γ + d) / (γ n + D).
        let [(n, all, own), (m, others_all, others_own)] =
            [(u, ends[0]), (v, ends[1])].map(|(vertex, end)| {
                let k = block(vertex);
                let n = self.vertices(sizes[k])[end] as f64;
                let all = self.evenness * n + stats.totals[k][end] as f64;
                (n, all, self.evenness + self.of[vertex][end] as f64)
            });
        let orders = if self.ends == Ends::Alike && u != v { 2.0 } else { 1.0 };
        orders * n * m * own / all
            * match self.ends == Ends::Alike && block(u) == block(v) {
                // Two shares of one Dirichlet.
                true => (others_own + f64::from(u8::from(u == v))) / (others_all + 1.0),
                false => others_own / others_all,
            }
    }

    /// The θ of all vertices and ends, drawn given their blocks.
    pub(super) fn draw(
        &self,
        labels: &[u32],
        sides: Option<&[bool]>,
        uniform: &mut dyn FnMut() -> f64,
    ) -> Vec<[f64; 2]> {
        let blocks = labels.iter().max().map_or(0, |&m| m as usize + 1);
        let mut theta = vec![[0.0; 2]; labels.len()];
        for end in 0..2 {
            let on_end = |v: usize| match self.ends {
                Ends::Alike => end == 0,
                Ends::Directed => true,
                Ends::Sides => sides.is_some_and(|sides| usize::from(sides[v]) == end),
            };
            // As logarithms, because very uneven ones may all be too small for a number.
            let ln_theta: Vec<f64> = (0..labels.len())
                .map(|v| match on_end(v) {
                    true => ln_of_gamma(self.evenness, uniform),
                    false => f64::NEG_INFINITY,
                })
                .collect();
            for k in 0..blocks {
                let here = || (0..labels.len()).filter(|&v| labels[v] as usize == k && on_end(v));
                let most = here().map(|v| ln_theta[v]).fold(f64::NEG_INFINITY, f64::max);
                let share = |v: usize| libm::exp(ln_theta[v] - most);
                let sum: f64 = here().map(share).sum();
                here().for_each(|v| theta[v][end] = here().count() as f64 * share(v) / sum);
            }
        }
        theta
    }

    /// What the rate of a pair has beside that of its blocks.
    pub(super) fn rate_of_pair(
        &self,
        theta: &[[f64; 2]],
        sides: Option<&[bool]>,
        [u, v]: [usize; 2],
    ) -> f64 {
        match (self.ends, sides) {
            (Ends::Directed, _) => theta[u][0] * theta[v][1],
            (Ends::Sides, Some(sides)) => {
                theta[u][usize::from(sides[u])] * theta[v][usize::from(sides[v])]
            }
            _ => theta[u][0] * theta[v][0] * if u == v { 1.0 } else { 2.0 },
        }
    }
}

fn add(a: [u64; 2], b: [u64; 2]) -> [u64; 2] {
    [a[0] + b[0], a[1] + b[1]]
}

fn sub(a: [u64; 2], b: [u64; 2]) -> [u64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

/// The vertices that are in a block.
fn placed(z: &Partition) -> impl Iterator<Item = usize> + '_ {
    z.slots_of_items()
        .iter()
        .enumerate()
        .filter(|(_, slot)| **slot != Slot::NOWHERE)
        .map(|(v, _)| v)
}
