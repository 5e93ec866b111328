//! From a run, its diagnosis and its answer to the contents of a page.

use super::page::{
    Autocorrelation, Block, ChainTrace, Distances, Estimate, Feature, Limits, Mode, Move, Network,
    Page, Quantity, Ranks, Shape, TracePlots, Truth,
};
use super::{Matrix, Packed};
use crate::answer::{Answer, sample_of};
use crate::blocks::Blocks;
use crate::data::{Data, Dataset};
use crate::diagnose::{Diagnosis, LEAST_ESS, RHAT_LIMIT, Traced, Verdict, autocorrelation, traced};
use crate::error::Result;
use crate::estimate::{Sample, similarity_row};
use crate::relations::{Relation, Values};
use crate::run::{Run, TOP};
use crate::{answer, summary};

/// Traces are thinned to about so many points.
const POINTS: usize = 1000;
/// Bins of rank histograms.
const BINS: usize = 20;
/// Autocorrelations are shown up to this lag.
const LAGS: usize = 100;
/// A network with more vertices is not drawn.
const DRAWN_VERTICES: usize = 500;
/// Members of a block that are listed.
const MEMBERS: usize = 200;
/// Features of a block that are listed.
const FEATURES: usize = 8;
/// The densities between more blocks than this are not listed.
const BETWEEN: usize = 40;
/// Quantities that have rank plots and autocorrelations, besides the hyper-parameters.
const PLOTTED: [&str; 3] = ["log_joint", "blocks", "fraction_1"];

/// What a report is made of.
pub struct Contents<'a> {
    /// What the data are called.
    pub title: &'a str,
    /// The run with its draws.
    pub run: &'a Run,
    /// Its diagnosis.
    pub diagnosis: &'a Diagnosis,
    /// Its answer.
    pub answer: &'a Answer,
    /// The items' names.
    pub names: &'a [String],
    /// The data with β⁺, β⁻, if they are there.
    pub data: Option<(&'a Dataset, (f64, f64))>,
    /// Known labels with what they are called.
    pub truth: Option<(&'a str, &'a answer::Truth)>,
    /// What a reader should know beside.
    pub notes: Vec<String>,
    /// Settings, versions and the like.
    pub provenance: Vec<(String, String)>,
    /// The command that gives the same run.
    pub command: String,
}

impl Page {
    /// The page of a run.
    pub fn new(contents: Contents<'_>) -> Result<Self> {
        let Contents {
            title,
            run,
            diagnosis,
            answer,
            names,
            data,
            truth,
            notes,
            provenance,
            command,
        } = contents;
        let burn_in = diagnosis.burn_in;
        let (sample, _) = sample_of(run, burn_in)?;
        let layout = Layout::new(answer);
        let links: Option<Vec<(u32, u32)>> = data.and_then(|(dataset, _)| match &dataset.data {
            Data::Network(graph) => Some(graph.links().collect()),
            Data::Table(_) => None,
            Data::Columns(_) => None,
            Data::Relations(relations) => Some(relations.links()),
        });
        let adjacency = data.and_then(|(dataset, _)| match &dataset.data {
            Data::Network(graph) => Some(layout.adjacency(&graph.links().collect::<Vec<_>>())),
            Data::Table(_) => None,
            Data::Columns(_) => None,
            Data::Relations(relations) => Some(layout.weights(&relations.list()[0])),
        });
        let blocks = data.map(|(dataset, beta)| Blocks::new(&dataset.data, beta, &answer.labels));
        Ok(Page {
            title: title.into(),
            verdict: diagnosis.verdict,
            headline: headline(diagnosis, answer),
            reasons: diagnosis.reasons.clone(),
            next: diagnosis.next.clone(),
            notes,
            shape: Shape {
                n: run.n,
                item_word: match data.map(|d| &d.0.data) {
                    Some(Data::Network(_)) => "vertex".into(),
                    Some(Data::Table(_)) => "row".into(),
                    Some(Data::Relations(_)) => "vertex".into(),
                    Some(Data::Columns(_)) => "row".into(),
                    None => "item".into(),
                },
                ensembles: run.ensembles.len(),
                chains: run.ensembles.first().map_or(0, Vec::len),
                iterations: run.iterations,
                burn_in,
                seed: run.settings.seed,
                model: run.model.clone(),
            },
            trace: trace(run),
            quantities: diagnosis.quantities.iter().map(quantity).collect(),
            limits: Limits {
                rhat: Some(RHAT_LIMIT),
                rhat_rank: Some(RHAT_LIMIT),
                ess: Some(LEAST_ESS),
            },
            ranks: plotted(run).map(|t| ranks(&t, run, burn_in)).collect(),
            autocorrelation: plotted(run).map(|t| correlations(&t, run, burn_in)).collect(),
            moves: if run.has_log_joint() { moves(run) } else { Vec::new() },
            blocks_posterior: answer.blocks_posterior.iter().map(|(&k, &p)| (k, p)).collect(),
            estimate: layout.estimate(answer),
            names: names.to_vec(),
            similarity: Some(similarity(&sample, &layout)),
            adjacency,
            network: links
                .filter(|_| run.n <= DRAWN_VERTICES)
                .map(|links| Network { edges: Packed::pairs(&links) }),
            block_table: layout.table(answer, blocks.as_ref(), data.map_or(&[], |d| &d.0.columns)),
            density_between: layout.densities(blocks.as_ref()),
            modes: modes(answer),
            distances: (diagnosis.distances.as_ref())
                .map(|d| Distances { ensembles: d.vi.clone() }),
            truth: truth.map(|(name, t)| Truth {
                name: name.into(),
                ari: t.ari,
                nmi: t.nmi,
                vi: t.vi,
            }),
            provenance,
            command,
            citation: CITATION.into(),
            bibtex: BIBTEX.into(),
        })
    }
}

const CITATION: &str = "T. Herlau, M. Mørup, Y. W. Teh and M. N. Schmidt: Adaptive Reconfiguration Moves for MCMC inference in Dirichlet Process Mixtures.";
const BIBTEX: &str = "@article{herlau-arm,
  title  = {Adaptive Reconfiguration Moves for {MCMC} inference in {Dirichlet} Process Mixtures},
  author = {Herlau, Tue and M{\\o}rup, Morten and Teh, Yee Whye and Schmidt, Mikkel N.}
}";

fn headline(diagnosis: &Diagnosis, answer: &Answer) -> String {
    let blocks = answer.blocks();
    let plural = if blocks == 1 { "" } else { "s" };
    let mean = answer.certainty.iter().sum::<f64>() / answer.certainty.len().max(1) as f64;
    match diagnosis.verdict {
        Verdict::Converged => format!(
            "The estimate has {blocks} block{plural}; on average an item shares its block with each of its fellows with probability {mean:.2}."
        ),
        _ => format!(
            "The estimate below has {blocks} block{plural}, but it stands for this run only: another run may well say something else."
        ),
    }
}

/// Where blocks and items stand in pictures: larger blocks first, surer items first.
struct Layout {
    /// The labels of the blocks.
    blocks: Vec<usize>,
    /// The items.
    order: Vec<u32>,
    members: Vec<Vec<usize>>,
}

impl Layout {
    fn new(answer: &Answer) -> Self {
        let mut members = answer.members();
        for block in &mut members {
            block.sort_by(|&a, &b| answer.certainty[b].total_cmp(&answer.certainty[a]));
        }
        let mut blocks: Vec<usize> = (0..members.len()).collect();
        blocks.sort_by_key(|&k| std::cmp::Reverse(members[k].len()));
        let order = blocks.iter().flat_map(|&k| &members[k]).map(|&item| item as u32).collect();
        Layout { blocks, order, members }
    }

    fn estimate(&self, answer: &Answer) -> Estimate {
        let ends = self.blocks.iter().scan(0u32, |end, &k| {
            *end += self.members[k].len() as u32;
            Some(*end)
        });
        let certainty: Vec<f32> = answer.certainty.iter().map(|&c| c as f32).collect();
        Estimate {
            loss: answer.loss.clone(),
            expected_loss: answer.expected_loss,
            block_of_item: answer.labels.iter().map(|label| label + 1).collect(),
            order: Packed::u32(&self.order),
            borders: ends.collect(),
            certainty: Packed::f32(&certainty),
        }
    }

    fn adjacency(&self, links: &[(u32, u32)]) -> Matrix {
        let mut position = vec![0u32; self.order.len()];
        self.order.iter().zip(0..).for_each(|(&item, at)| position[item as usize] = at);
        let placed: Vec<(u32, u32)> =
            links.iter().map(|&(u, v)| (position[u as usize], position[v as usize])).collect();
        Matrix::of_links(self.order.len(), &placed)
    }

    /// The sizes of the values of a relation, from row to column.
    fn weights(&self, relation: &Relation) -> Matrix {
        let mut position = vec![0u32; self.order.len()];
        self.order.iter().zip(0..).for_each(|(&item, at)| position[item as usize] = at);
        let mut placed = Vec::new();
        for (u, v, value) in relation.entries() {
            let (row, column) = (position[u as usize], position[v as usize]);
            let size = match relation.shape.values {
                Values::Binary | Values::Categories(_) => 1.0,
                _ => value.abs(),
            };
            placed.push((row, column, size));
            if !relation.shape.directed && u != v {
                placed.push((column, row, size));
            }
        }
        Matrix::of_weights(self.order.len(), &placed)
    }

    fn table(&self, answer: &Answer, blocks: Option<&Blocks>, columns: &[String]) -> Vec<Block> {
        let block = |&k: &usize| {
            let members = &self.members[k];
            let certainty = members.iter().map(|&i| answer.certainty[i]).sum::<f64>();
            Block {
                number: k as u32 + 1,
                size: members.len(),
                members: members.iter().take(MEMBERS).map(|&i| i as u32).collect(),
                more: members.len().saturating_sub(MEMBERS),
                certainty: certainty / members.len() as f64,
                density: match blocks {
                    Some(Blocks::Densities(table)) => table.get(k).and_then(|row| row[k]),
                    _ => None,
                },
                features: match blocks {
                    Some(Blocks::Features(table)) => (table[k].iter().take(FEATURES))
                        .map(|f| Feature {
                            column: f.name(columns),
                            probability: f.probability.mean,
                            overall: f.overall.unwrap_or(f64::NAN),
                        })
                        .collect(),
                    _ => Vec::new(),
                },
            }
        };
        self.blocks.iter().map(block).collect()
    }

    fn densities(&self, blocks: Option<&Blocks>) -> Option<Vec<Vec<f64>>> {
        let Some(Blocks::Densities(table)) = blocks else {
            return None;
        };
        let mean = |k: usize, l: usize| table[k][l].map_or(f64::NAN, |interval| interval.mean);
        let row = |&k: &usize| self.blocks.iter().map(|&l| mean(k, l)).collect();
        (self.blocks.len() <= BETWEEN && !table.is_empty())
            .then(|| self.blocks.iter().map(row).collect())
    }
}

fn modes(answer: &Answer) -> Vec<Mode> {
    (answer.modes.iter())
        .map(|mode| Mode {
            weight: mode.weight,
            blocks: mode.blocks,
            distance: mode.distance,
            log_joint: mode.log_joint,
            ensembles: mode.ensembles.clone(),
        })
        .collect()
}

fn moves(run: &Run) -> Vec<Move> {
    (summary::moves(run).into_iter())
        .map(|(name, m)| Move {
            name,
            proposed: m.proposed,
            accepted: m.accepted,
            accept_rate: m.accept_rate,
            idle: m.idle,
            seconds: m.seconds,
            work: m.work,
        })
        .collect()
}

fn quantity(q: &crate::diagnose::Quantity) -> Quantity {
    let finite = |value: f64| (!value.is_nan()).then_some(value);
    Quantity {
        name: q.name.clone(),
        label: q.label.clone(),
        rhat: q.rhat,
        rhat_rank: q.rhat_rank,
        ess_bulk: q.ess_bulk,
        ess_tail: q.ess_tail,
        act: q.act,
        mcse: q.mcse_mean,
        mean: finite(q.mean),
        sd: finite(q.sd),
    }
}

fn plotted(run: &Run) -> impl Iterator<Item = Traced> {
    let hypers = run.hypers.clone();
    let shown = move |name: &str| PLOTTED.contains(&name) || hypers.iter().any(|h| h == name);
    traced(run).into_iter().filter(move |t| shown(t.name()))
}

/// All chains at the same iterations, evenly spread.
fn trace(run: &Run) -> TracePlots {
    let every = run.iterations.div_ceil(POINTS).max(1);
    let kept: Vec<usize> = (0..run.iterations).step_by(every).collect();
    let iterations: Vec<u32> = kept.iter().map(|&i| i as u32 + 1).collect();
    // Single precision is enough for differences, not for the log joint itself.
    let offset = run.traces().filter_map(|t| t.log_joint.last()).copied().next().unwrap_or(0.0);
    let pack = |values: &mut dyn Iterator<Item = f64>| {
        Packed::f32(&values.map(|v| v as f32).collect::<Vec<f32>>())
    };
    let mut chains = Vec::new();
    for (ensemble, traces) in run.ensembles.iter().enumerate() {
        for (chain, trace) in traces.iter().enumerate() {
            let fraction = |count: usize| {
                pack(&mut kept.iter().map(|&i| {
                    f64::from(trace.largest[i][..count].iter().sum::<u32>()) / run.n as f64
                }))
            };
            chains.push(ChainTrace {
                ensemble,
                chain,
                log_joint: (!trace.log_joint.is_empty())
                    .then(|| pack(&mut kept.iter().map(|&i| trace.log_joint[i] - offset))),
                blocks: pack(&mut kept.iter().map(|&i| f64::from(trace.blocks[i]))),
                fractions: (1..=TOP).map(fraction).collect(),
            });
        }
    }
    TracePlots { iterations: Packed::u32(&iterations), log_joint_offset: offset, chains }
}

/// Histograms of the ranks of each ensemble's values among all. Values that are equal share their
/// ranks evenly.
fn ranks(traced: &Traced, run: &Run, burn_in: usize) -> Ranks {
    let mut all: Vec<(f64, usize)> = Vec::new();
    for (ensemble, chains) in traced.values(run, burn_in).into_iter().enumerate() {
        all.extend(chains.into_iter().flatten().map(|value| (value, ensemble)));
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut ensembles = vec![vec![0.0; BINS]; run.ensembles.len()];
    let width = all.len() as f64 / BINS as f64;
    let mut before = 0;
    for ties in all.chunk_by(|a, b| a.0 == b.0) {
        let (from, to) = (before as f64, (before + ties.len()) as f64);
        before += ties.len();
        for bin in (from / width) as usize..BINS.min((to / width).ceil() as usize) {
            let (low, high) = (bin as f64 * width, (bin + 1) as f64 * width);
            let share = (to.min(high) - from.max(low)) / (to - from);
            ties.iter().for_each(|&(_, ensemble)| ensembles[ensemble][bin] += share);
        }
    }
    let expected = width / run.ensembles.len() as f64;
    Ranks { quantity: traced.name().into(), ensembles, expected }
}

fn correlations(traced: &Traced, run: &Run, burn_in: usize) -> Autocorrelation {
    let lags = LAGS.min((run.iterations - burn_in) / 2);
    let chains = traced.values(run, burn_in).into_iter().flatten();
    let shown = |values: Vec<f64>| {
        autocorrelation(&values).iter().take(lags + 1).map(|&r| r as f32).collect()
    };
    Autocorrelation {
        quantity: traced.name().into(),
        lags: (0..=lags as u32).collect(),
        chains: chains.map(shown).collect(),
    }
}

/// Means of co-assignment probabilities over the cells of the image, row by row and never n² at once.
/// Of items that share a row of the image the first stands for all.
fn similarity(sample: &Sample, layout: &Layout) -> Matrix {
    let n = sample.n();
    let side = Matrix::side(n);
    let cell: Vec<usize> = (0..n).map(|position| Matrix::cell(position, n)).collect();
    let mut items = vec![0.0f32; side];
    cell.iter().for_each(|&cell| items[cell] += 1.0);
    let mut means = vec![0.0f32; side * side];
    let mut row = vec![0.0f32; n];
    let firsts = (0..n).filter(|&at| at == 0 || cell[at] != cell[at - 1]);
    for position in firsts {
        similarity_row(sample, layout.order[position] as usize, &mut row);
        let to = &mut means[cell[position] * side..][..side];
        for (&other, &column) in layout.order.iter().zip(&cell) {
            to[column] += row[other as usize] / items[column];
        }
    }
    Matrix::of_shares(n, &means)
}
