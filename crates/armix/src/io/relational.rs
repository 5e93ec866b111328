//! Preparation of networks whose directions, weights, self-loops or sides count.

use super::container::{self, LIMIT, read_all};
use super::decimals::with_points;
use super::prepare::{NetworkOptions, Weights, busiest, note};
use super::raw::{Raw, RawNetwork, RawTable};
use super::table_data::{TableOptions, roles_of};
use super::{Wanted, edges, read_raw, text};
use crate::data::{Column, Data, Dataset, Graph};
use crate::error::{Error, Result};
use crate::relations::{Relation, Relations, Shape, Values};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// One relation before it is built: its name, values and pairs.
struct Part {
    shape: Shape,
    entries: Vec<(u32, u32, f64)>,
    hidden: Vec<(u32, u32)>,
}

/// Prepares a network with all that its file says, and with further relations from other files.
pub(super) fn relational(raw: RawNetwork, options: &NetworkOptions) -> Result<Dataset> {
    let mut notes = Vec::new();
    let mut raws = vec![("links".to_string(), raw)];
    for path in &options.relations {
        let (_, more) = read_raw(path, Some(Wanted::Network))?;
        let Raw::Network(more) = more else {
            return Err(Error::new("this is not a network").in_file(path));
        };
        raws.push((name_of(path), more));
    }
    if options.weights.len() > raws.len() {
        return Err(Error::new(format!(
            "--weights names {} kinds for {} of networks: give one for each, or one for all",
            options.weights.len(),
            if raws.len() == 1 { "a single file".into() } else { format!("{} files", raws.len()) }
        )));
    }
    let mut names = join(&mut raws, options, &mut notes)?;
    let n = names.len();
    let masked = match &options.mask {
        Some(path) => mask(path, &names, raws[0].1.sides.is_some())?,
        None => Vec::new(),
    };
    let sides = sides(&raws, options, &names, &mut notes)?;
    let mut parts = Vec::new();
    for (at, (name, raw)) in raws.into_iter().enumerate() {
        let weights = options.weights_of(at);
        let whole = Whole { options, names: &names, sides: sides.as_deref(), masked: &masked };
        let part = whole.part(name, raw, weights, &mut notes);
        // What is wrong with the first file gets its name where that is known.
        let further = at.checked_sub(1).map(|at| &options.relations[at]);
        parts.push(part.map_err(|error| match further {
            Some(path) => error.in_file(path),
            None => error,
        })?);
    }
    let mut sides = sides;
    if options.downsample.is_some() || options.largest_component {
        let kept = kept(n, &parts, options, &mut notes)?;
        let mut number = vec![u32::MAX; n];
        kept.iter().zip(0..).for_each(|(&v, new)| number[v as usize] = new);
        for part in &mut parts {
            let stays = |u: u32, v: u32| number[u as usize].max(number[v as usize]) != u32::MAX;
            part.entries.retain(|&(u, v, _)| stays(u, v));
            part.hidden.retain(|&(u, v)| stays(u, v));
            let moved = |v: &mut u32| *v = number[*v as usize];
            part.entries.iter_mut().for_each(|(u, v, _)| (moved(u), moved(v)).0);
            part.hidden.iter_mut().for_each(|(u, v)| (moved(u), moved(v)).0);
        }
        names = kept.iter().map(|&v| names[v as usize].clone()).collect();
        sides = sides.map(|sides| kept.iter().map(|&v| sides[v as usize]).collect());
    }
    let sides: Option<Arc<[bool]>> = sides.map(Into::into);
    let mut relations = Vec::new();
    for (at, Part { shape, entries, hidden }) in parts.into_iter().enumerate() {
        if entries.is_empty() {
            let error = Error::new(format!(
                "no {} are left in this network: nothing tells the vertices apart",
                shape.name
            ));
            return Err(match at.checked_sub(1) {
                Some(further) => error.in_file(&options.relations[further]),
                None => error,
            });
        }
        relations.push(Relation::new(shape, names.len(), sides.clone(), entries, &hidden)?);
    }
    let relations = Relations::new(relations)?;
    if relations.list().iter().all(|relation| relation.listed() == 0) {
        return Err(Error::new(
            "all links of this network are among the pairs that were not observed: nothing tells the vertices apart; mask fewer pairs",
        ));
    }
    let hidden = relations.hidden().len();
    note(&mut notes, hidden, "pair was not observed", "pairs were not observed");
    let dataset = Dataset::new(Data::Relations(relations));
    Ok(Dataset { names, notes, ..dataset })
}

/// A table as a network between its rows and its columns.
pub(super) fn bipartite_table(
    table: &RawTable,
    options: &TableOptions,
) -> Result<(RawNetwork, Vec<String>)> {
    if !options.types.is_empty() {
        return Err(Error::new(
            "leave out --types: with --bipartite the cells of a table are links between its rows and columns",
        ));
    }
    let (table, read) = with_points(table, table, options)?;
    let (id, data, mut notes) = roles_of(&table, options)?;
    notes.extend(read);
    notes.retain(|note| !note.contains("missing and integrated out")); // they are pairs, which are told of later
    let columns: Vec<_> = data.iter().map(|&at| &table.columns[at]).collect();
    let rows = table.rows();
    let row_names = match id.map(|at| &table.columns[at]) {
        Some(column) => column.cells.iter().map(|cell| cell.clone().unwrap_or_default()).collect(),
        None => (0..rows).map(|row| format!("r{row}")).collect(),
    };
    let mut raw = RawNetwork { names: row_names, ..RawNetwork::default() };
    let mut weights = Vec::new();
    for (c, column) in columns.iter().enumerate() {
        for (row, cell) in column.cells.iter().enumerate() {
            let pair = (row as u32, (rows + c) as u32);
            match cell.as_ref().map(|cell| cell.trim().parse::<f64>()) {
                None => raw.hidden.push(pair),
                Some(Ok(value)) if value.is_finite() => {
                    if value != 0.0 {
                        raw.edges.push(pair);
                        weights.push(value);
                    }
                }
                _ => {
                    let error = Error::new(format!(
                        "row {}, column '{}' holds '{}', which is no number: a bipartite network needs a number in every cell, 0 for no link; leave the column out with --columns",
                        row + 1,
                        column.name,
                        cell.clone().unwrap_or_default()
                    ));
                    return Err(match table.lines.get(row) {
                        Some(&line) => error.at_line(line),
                        None => error,
                    });
                }
            }
        }
        let name = column.name.clone();
        raw.names.push(match name.parse::<f64>() {
            Ok(_) => format!("c{name}"),
            Err(_) => name,
        });
    }
    raw.weights = weights.iter().any(|&w| w != 1.0).then_some(weights);
    Ok((raw.with_first_side(rows), notes))
}

/// The name of a relation: that of its file.
fn name_of(path: &Path) -> String {
    path.file_stem().map_or("links".into(), |stem| stem.to_string_lossy().into_owned())
}

/// All vertices of all networks by name, in the order of the first one; the networks are renumbered.
fn join(
    raws: &mut [(String, RawNetwork)],
    options: &NetworkOptions,
    notes: &mut Vec<String>,
) -> Result<Vec<String>> {
    let mut names = raws[0].1.names.clone();
    if raws.len() == 1 {
        return Ok(names);
    }
    let (in_first, two_sided) = (names.len(), raws[0].1.sides.is_some() || options.bipartite);
    let mut number: HashMap<String, u32> = names.iter().cloned().zip(0..).collect();
    for ((name, raw), path) in raws[1..].iter_mut().zip(&options.relations) {
        if raw.sides.is_some() && !two_sided {
            return Err(Error::new(
                "this network has two sides and the first one has not: all relations are among the same vertices; give both with sides, or this one as a plain list of pairs",
            )
            .in_file(path));
        }
        let new: Vec<u32> = (raw.names.iter())
            .map(|name| {
                *number.entry(name.clone()).or_insert_with(|| {
                    names.push(name.clone());
                    names.len() as u32 - 1
                })
            })
            .collect();
        let moved = |pair: &mut (u32, u32)| *pair = (new[pair.0 as usize], new[pair.1 as usize]);
        raw.edges.iter_mut().for_each(moved);
        raw.hidden.iter_mut().for_each(moved);
        let shared = new.iter().filter(|v| (**v as usize) < in_first).count();
        if shared == 0 {
            return Err(Error::new(format!(
                "no vertex of this network is in the first one, which has names such as '{}': all relations are among the same vertices",
                names[0]
            ))
            .in_file(path));
        }
        let own = new.len() - shared;
        if own > 0 {
            notes.push(format!(
                "{own} of {} vertices of the relation {name} are not in the first file; without a link there they count as not linked (--mask lists pairs that were not observed)",
                new.len()
            ));
        }
    }
    Ok(names)
}

/// The number of a line, and its two words.
type Line = (usize, [String; 2]);

/// The lines of a file that would be taken for a table or a matrix by its name, if there are two names on each of them.
fn lines_of_pairs(path: &Path) -> Result<Option<Vec<Line>>> {
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    if ending != "tsv" && ending != "csv" {
        return Ok(None);
    }
    let mut opened = container::open(path)?;
    let bytes = read_all(&mut opened.reader, LIMIT).map_err(|error| error.in_file(path))?;
    let text = text(bytes).map_err(|error| error.in_file(path))?;
    Ok(edges::pairs(&text))
}

/// The pairs of a file that were not observed, by the names of the vertices.
pub(super) fn mask(path: &Path, names: &[String], two_sided: bool) -> Result<Vec<(u32, u32)>> {
    let number: HashMap<&str, u32> = names.iter().map(String::as_str).zip(0..).collect();
    let vertex = |name: &str, side: &str| {
        // Rows and columns that are numbered apart may be named by their numbers.
        let known = number.get(name).copied();
        let known = known.or_else(|| number.get(format!("{side}{name}").as_str()).copied());
        known.ok_or_else(|| {
            Error::new(format!(
                "'{name}' is no vertex of the network: a mask lists pairs of its vertices, as they are named there"
            ))
        })
    };
    let side = |side: &'static str| if two_sided { side } else { "" };
    if let Some(pairs) = lines_of_pairs(path)? {
        let pair = |(at, [a, b]): &Line| {
            let named = |name: &str, which| vertex(name, which).map_err(|e| e.at_line(*at));
            Ok((named(a, side("r"))?, named(b, side("c"))?))
        };
        return pairs.iter().map(pair).map(|p| p.map_err(|e: Error| e.in_file(path))).collect();
    }
    let (_, raw) = read_raw(path, Some(Wanted::Network))?;
    let Raw::Network(raw) = raw else {
        return Err(Error::new("this is not a list of pairs").in_file(path));
    };
    let pair = |(at, &(u, v)): (usize, &(u32, u32))| {
        let named = |end: u32, which| {
            let error = |error: Error| raw.at_edge(at, error).in_file(path);
            vertex(&raw.names[end as usize], which).map_err(error)
        };
        Ok((named(u, side("r"))?, named(v, side("c"))?))
    };
    raw.edges.iter().enumerate().map(pair).collect()
}

/// Which side each vertex is on: as the file says, or by the two colours that the links leave.
fn sides(
    raws: &[(String, RawNetwork)],
    options: &NetworkOptions,
    names: &[String],
    notes: &mut Vec<String>,
) -> Result<Option<Vec<bool>>> {
    if let Some(sides) = &raws[0].1.sides {
        if raws.len() > 1 && sides.len() != names.len() {
            return Err(Error::new(
                "a further relation of a bipartite network has vertices of its own: every vertex must be in the first file, which says on which side it is",
            ));
        }
        let second = sides.iter().filter(|s| **s).count();
        notes.push(format!(
            "a bipartite network: {} vertices on one side and {second} on the other, and no block has both",
            sides.len() - second
        ));
        return Ok(Some(sides.clone()));
    }
    if !options.bipartite {
        return Ok(None);
    }
    let mut neighbours = vec![Vec::new(); names.len()];
    let mut first = vec![false; names.len()];
    for &(u, v) in raws.iter().flat_map(|(_, raw)| &raw.edges) {
        neighbours[u as usize].push(v);
        neighbours[v as usize].push(u);
        first[u as usize] = true;
    }
    // Vertices that stand first in an edge begin, so that they are the first side if that is possible.
    let mut colour: Vec<Option<bool>> = vec![None; names.len()];
    let mut queue = Vec::new();
    let starts = (0..names.len()).filter(|&v| first[v]).chain(0..names.len());
    for start in starts {
        if colour[start].is_some() {
            continue;
        }
        colour[start] = Some(false);
        queue.push(start as u32);
        while let Some(v) = queue.pop() {
            let other = colour[v as usize].map(|c| !c);
            for &u in &neighbours[v as usize] {
                if colour[u as usize].is_none() {
                    colour[u as usize] = other;
                    queue.push(u);
                } else if colour[u as usize] != other {
                    return Err(Error::new(format!(
                        "--bipartite: this network has no two sides: the link between '{}' and '{}' closes a circle of odd length; leave --bipartite out, or number the sides apart below a line '# rows R cols C'",
                        names[v as usize], names[u as usize]
                    )));
                }
            }
        }
    }
    let sides: Vec<bool> = colour.into_iter().map(|c| c == Some(true)).collect();
    let second = sides.iter().filter(|s| **s).count();
    notes.push(format!(
        "--bipartite: {} vertices are on one side and {second} on the other, and no block has both",
        sides.len() - second
    ));
    Ok(Some(sides))
}

/// What all relations share.
struct Whole<'a> {
    options: &'a NetworkOptions,
    names: &'a [String],
    sides: Option<&'a [bool]>,
    masked: &'a [(u32, u32)],
}

impl Whole<'_> {
    /// What one file says of the pairs.
    fn part(
        &self,
        name: String,
        raw: RawNetwork,
        weights: Weights,
        notes: &mut Vec<String>,
    ) -> Result<Part> {
        let Whole { options, names, sides, masked } = *self;
        let two_sided = sides.is_some();
        let directed = options.directed && !two_sided;
        let wrong = |(u, v): (u32, u32), why: &str| {
            let error =
                Error::new(format!("'{}' and '{}': {why}", names[u as usize], names[v as usize]));
            // The last that says something of them.
            let says = |&(a, b): &(u32, u32)| (a, b) == (u, v) || (a, b) == (v, u);
            Err(match raw.edges.iter().rposition(says) {
                Some(at) => raw.at_edge(at, error),
                None => error,
            })
        };
        if two_sided && (options.directed || options.self_loops) {
            notes.push("between two sides there are no self-loops, and directions say nothing: --directed and --self-loops change nothing".to_string());
        }
        if raw.directed && !directed && !two_sided {
            notes.push("directions were dropped; --directed keeps them".to_string());
        }
        if weights == Weights::Ignore && raw.weights.is_some() {
            notes.push(
            "weights were only compared with --threshold; --weights counts, real, real-all or category uses them"
                .to_string(),
        );
        }
        let is_real = matches!(weights, Weights::Real | Weights::RealAll);
        if is_real && raw.weights.is_none() {
            return Err(Error::new(
                "--weights real: this file has no weights; leave the option out, or add a third column",
            ));
        }
        if !raw.kinds.is_empty() && !matches!(weights, Weights::Category | Weights::Ignore) {
            return Err(words(&raw.kinds, raw.kinds_from));
        }
        if weights != Weights::Ignore && options.threshold != 0.0 {
            return Err(Error::new(
                "--threshold makes weights into links, and --weights uses them as they are: give one of the two",
            ));
        }
        let pair = |(u, v): (u32, u32)| if directed { (u, v) } else { (u.min(v), u.max(v)) };
        let (kinds, value) = match weights {
            Weights::Category => kinds(&raw),
            _ => (Vec::new(), HashMap::new()),
        };
        let mut entries = Vec::with_capacity(raw.edges.len());
        let mut loops = 0;
        for (at, &(u, v)) in raw.edges.iter().enumerate() {
            if u == v && !options.self_loops {
                loops += 1;
                continue;
            }
            let weight = raw.weight(at);
            let weight = match weights {
                Weights::Category => value[&weight.to_bits()],
                Weights::Ignore if !raw.kinds.is_empty() => 1.0,
                _ => weight,
            };
            let (u, v) = pair((u, v));
            entries.push((u, v, weight));
            if directed && raw.both_ways && u != v {
                entries.push((v, u, weight));
            }
        }
        note(
            notes,
            loops,
            "self-loop was dropped; --self-loops keeps it",
            "self-loops were dropped; --self-loops keeps them",
        );
        // Stable, so that weights are added up in the order of the file.
        entries.sort_by_key(|&(u, v, _)| (u, v));
        let mut merged: Vec<(u32, u32, f64)> = Vec::with_capacity(entries.len());
        let mut repeated = 0;
        for (u, v, weight) in entries {
            match merged.last_mut().filter(|last| (last.0, last.1) == (u, v)) {
                None => merged.push((u, v, weight)),
                Some(last) => {
                    repeated += 1;
                    match weights {
                        Weights::Counts | Weights::Ignore => last.2 += weight,
                        _ if last.2 == weight => {}
                        _ => {
                            let listed = |pair| raw.edges.contains(&pair);
                            let directions = !directed && !two_sided;
                            let remedy = match directions && listed((u, v)) && listed((v, u)) {
                                true => ", or keep directions with --directed",
                                false => "",
                            };
                            let why = format!(
                                "this pair has two different weights; give each pair once{remedy}"
                            );
                            return wrong((u, v), &why);
                        }
                    }
                }
            }
        }
        let mut below = 0;
        let values = match weights {
            Weights::Ignore => {
                let all = merged.len();
                merged.retain(|e| e.2 > options.threshold);
                below = all - merged.len();
                merged.iter_mut().for_each(|e| e.2 = 1.0);
                Values::Binary
            }
            Weights::Counts => Values::Counts,
            Weights::Real => Values::RealsOnLinks,
            Weights::RealAll => Values::Reals,
            Weights::Category => Values::Categories(kinds),
        };
        for &(u, v, value) in &merged {
            if sides.is_some_and(|sides| sides[u as usize] == sides[v as usize]) {
                return wrong(
                    (u, v),
                    "they are linked, but both on the same side of a bipartite network",
                );
            }
            if let Err(why) = values.check(value) {
                return wrong((u, v), &format!("{why}; choose what weights are with --weights"));
            }
        }
        let is_real = matches!(values, Values::RealsOnLinks | Values::Reals);
        let size = size_of_numbers(merged.iter().map(|e| e.2));
        if is_real && size > 0.0 && size < LEAST_SIZE {
            return Err(Error::new(format!(
                "weights that differ by {size:e} at most cannot be squared: multiply all of them, by {:e} for example",
                1.0 / size.max(f64::MIN_POSITIVE)
            )));
        }
        if is_real
            && let Some((a, b, far)) = Column::reals(merged.iter().map(|e| e.2).collect()).merged()
        {
            notes.push(format!(
                "weights such as {a:e} and {b:e} cannot be told apart beside {far:e}: correct that one, or take logarithms"
            ));
        }
        let above = format!("of a weight of at most {} were dropped", options.threshold);
        note(notes, below, &format!("pair {above}"), &format!("pairs {above}"));
        let what = if weights == Weights::Counts { "added up" } else { "counted once" };
        note(
            notes,
            repeated,
            &format!("repeated edge was {what}"),
            &format!("repeated edges were {what}"),
        );
        let shape = Shape { name, directed, loops: options.self_loops && !two_sided, values };
        let hidden = raw.hidden.iter().chain(masked).map(|&h| pair(h)).collect();
        Ok(Part { shape, entries: merged, hidden })
    }
}

/// Squares of less lose digits.
const LEAST_SIZE: f64 = 1e-140;

/// How far apart numbers are, or how large if they are all the same.
fn size_of_numbers(numbers: impl Iterator<Item = f64> + Clone) -> f64 {
    let low = numbers.clone().fold(f64::INFINITY, f64::min);
    let high = numbers.fold(f64::NEG_INFINITY, f64::max);
    if high > low { high - low } else { high.abs() }
}

/// The kinds of edges, after the one that is no edge, and the number of each weight.
fn kinds(raw: &RawNetwork) -> (Vec<String>, HashMap<u64, f64>) {
    let mut found: Vec<f64> = (0..raw.edges.len()).map(|at| raw.weight(at)).collect();
    found.sort_by(f64::total_cmp);
    found.dedup();
    let name = |&weight: &f64| match raw.kinds.get(weight as usize) {
        Some(kind) => kind.clone(),
        None => weight.to_string(),
    };
    let kinds = std::iter::once("no link".to_string()).chain(found.iter().map(name)).collect();
    (kinds, found.iter().map(|w| w.to_bits()).zip((1..).map(f64::from)).collect())
}

/// Words in place of weights need an option.
pub(super) fn words(kinds: &[String], line: Option<usize>) -> Error {
    let error = Error::new(format!(
        "the third column has words ('{}') in place of numbers: --weights category takes them as kinds of edges, --weights ignore leaves them out",
        kinds[0]
    ));
    match line {
        Some(line) => error.at_line(line),
        None => error,
    }
}

/// The vertices that are kept, judged by links without direction.
fn kept(
    n: usize,
    parts: &[Part],
    options: &NetworkOptions,
    notes: &mut Vec<String>,
) -> Result<Vec<u32>> {
    let edges = parts.iter().flat_map(|p| &p.entries).map(|e| (e.0, e.1)).collect();
    let graph = Graph::from_edges(n, edges)?;
    let mut kept: Vec<u32> = (0..n as u32).collect();
    if let Some(fraction) = options.downsample {
        kept = busiest(&graph, fraction)?;
        notes.push(format!("the {} of {n} vertices with the highest degree were kept", kept.len()));
    }
    if options.largest_component {
        let stays: Vec<bool> = (0..n as u32).map(|v| kept.binary_search(&v).is_ok()).collect();
        let among = graph.links().filter(|&(u, v)| stays[u as usize] && stays[v as usize]);
        let (component, count) = Graph::from_edges(n, among.collect())?.components();
        let mut sizes = vec![0usize; count];
        kept.iter().for_each(|&v| sizes[component[v as usize] as usize] += 1);
        let largest = (0..count).rev().max_by_key(|&c| sizes[c]).unwrap_or(0) as u32;
        let before = kept.len();
        kept.retain(|&v| component[v as usize] == largest);
        notes.push(format!("the largest component was kept: {} of {before} vertices", kept.len()));
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::{Options, prepare, read_bytes};

    fn options(change: impl FnOnce(&mut NetworkOptions)) -> Options {
        let mut options = Options { wanted: Some(Wanted::Network), ..Options::default() };
        change(&mut options.network);
        options
    }

    fn read(name: &str, text: &str, options: &Options) -> Result<Dataset> {
        let (_, raw) = read_bytes(name, text.as_bytes(), options.wanted)?;
        prepare(raw, options)
    }

    fn relations(dataset: &Dataset) -> &Relations {
        match &dataset.data {
            Data::Relations(relations) => relations,
            other => panic!("{other:?}"),
        }
    }

    fn entries(dataset: &Dataset) -> Vec<(u32, u32, f64)> {
        relations(dataset).list()[0].entries().collect()
    }

    #[test]
    fn directions_weights_and_loops_are_kept_if_asked_for() {
        let text = "0 1 2\n1 0 3\n1 2 1\n2 2 4\n";
        let counts = options(|o| o.weights = vec![Weights::Counts]);
        let both = read("g.edges", text, &counts).unwrap();
        assert_eq!(entries(&both), [(0, 1, 5.0), (1, 2, 1.0)]);
        assert!(both.notes.iter().any(|n| n.contains("--self-loops")), "{:?}", both.notes);
        let all = options(|o| {
            (o.directed, o.self_loops, o.weights) = (true, true, vec![Weights::Counts]);
        });
        let all = read("g.edges", text, &all).unwrap();
        assert_eq!(entries(&all), [(0, 1, 2.0), (1, 0, 3.0), (1, 2, 1.0), (2, 2, 4.0)]);
        let real = options(|o| o.weights = vec![Weights::Real]);
        let error = read("g.edges", text, &real).unwrap_err().to_string();
        assert!(error.contains("'0' and '1'") && error.contains("--directed"), "{error}");
        let error = read("g.edges", "0 1 2\n0 1 3\n", &real).unwrap_err().to_string();
        assert!(error.contains("once") && !error.contains("--directed"), "{error}");
        let half = read("g.edges", "0 1 0.5\n", &counts).unwrap_err().to_string();
        assert!(half.contains("0.5 is no count"), "{half}");
        // Whatever the format, the message says where.
        let market = "%%MatrixMarket matrix coordinate real general\n% a comment\n2 2 1\n1 2 0.5\n";
        let gml = "graph [ node [ id 0 ] node [ id 1 ]\nedge [ source 0\ntarget 1 weight 0.5 ] ]";
        let graphml = "<graphml><key id=\"w\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"/>\n<graph edgedefault=\"undirected\">\n<node id=\"a\"/><node id=\"b\"/>\n<edge source=\"a\" target=\"b\"><data key=\"w\">0.5</data></edge>\n</graph></graphml>";
        for (name, text, line) in [
            ("g.edges", "# a comment\n0 1 2\n1 2 0.5\n", 3),
            ("g.mtx", market, 4),
            ("g.mtx", "%%MatrixMarket matrix array real general\n2 2\n0\n0\n0.5\n0\n", 5),
            ("g.net", "*Vertices 2\n*Edges\n1 2 0.5\n", 3),
            ("g.net", "*Vertices 2\n*Arcs\n2 1 1\n*Edges\n1 2 0.25\n", 5),
            ("g.smat", "2 2 1\n0 1 0.5\n", 2),
            ("g.txt", "0 1 0 0\n1 0 0 1\n0 0 0 0.5\n0 1 0.5 0\n", 3),
            ("g.gml", gml, 2),
            ("g.graphml", graphml, 4),
        ] {
            let error = read(name, text, &counts).unwrap_err().to_string();
            assert!(error.starts_with(&format!("line {line}: ")), "{name}: {error}");
        }
        // A file that says that it is undirected holds both ways.
        let gml = "graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 ] ]";
        let directed = read("g.gml", gml, &options(|o| o.directed = true)).unwrap();
        assert_eq!(entries(&directed), [(0, 1, 1.0), (1, 0, 1.0)]);
    }

    #[test]
    fn kinds_of_edges() {
        let category = options(|o| o.weights = vec![Weights::Category]);
        let words = read("g.edges", "a b likes\nb c hates\na c likes\n", &category).unwrap();
        assert_eq!(entries(&words), [(0, 1, 1.0), (0, 2, 1.0), (1, 2, 2.0)]);
        let shape = &relations(&words).list()[0].shape;
        let kinds = ["no link", "likes", "hates"].map(String::from).to_vec();
        assert_eq!(shape.values, Values::Categories(kinds));
        let numbers = read("g.edges", "0 1 7\n1 2 -1\n", &category).unwrap();
        assert_eq!(entries(&numbers), [(0, 1, 2.0), (1, 2, 1.0)]);
        let plain = read("g.edges", "a b likes\n", &options(|_| ())).unwrap_err().to_string();
        assert!(plain.contains("--weights category"), "{plain}");
    }

    #[test]
    fn two_sides() {
        let file = read("g.biedges", "# rows 2 cols 2\n0 0\n1 1\n", &options(|_| ())).unwrap();
        assert_eq!(relations(&file).sides(), Some(&[false, false, true, true][..]));
        assert_eq!(entries(&file), [(0, 2, 1.0), (1, 3, 1.0)]);
        let bipartite = options(|o| o.bipartite = true);
        let coloured = read("g.edges", "a x\nb x\ny b\n", &bipartite).unwrap();
        assert_eq!(relations(&coloured).sides(), Some(&[false, true, false, true][..]));
        let odd = read("g.edges", "a b\nb c\nc a\n", &bipartite).unwrap_err().to_string();
        assert!(odd.contains("odd length"), "{odd}");
        let table = Options { wanted: None, ..bipartite };
        let table = read("t.csv", "who,e1,e2,e3\nann,1,0,\nbob,0,2,1\n", &table).unwrap();
        assert_eq!(table.names, ["ann", "bob", "e1", "e2", "e3"]);
        assert_eq!(relations(&table).hidden(), [(0, 4)]);
    }

    #[test]
    fn unknown_pairs_of_a_matrix() {
        let matrix = "0,1,?,0\n1,0,1,0\n?,1,0,1\n0,0,1,0\n";
        let simple = read("m.csv", matrix, &options(|_| ())).unwrap();
        assert_eq!(simple.data.hidden(), [(0, 2)]);
        let directed = read("m.csv", matrix, &options(|o| o.directed = true)).unwrap();
        assert_eq!(directed.data.hidden(), [(0, 2), (2, 0)]);
        assert_eq!(entries(&directed).len(), 6);
        // Only files that tables are written in are tables then.
        let blanks = matrix.replace(',', " ").replacen('?', "NA", 1);
        let blanks = read("m.txt", &blanks, &Options::default()).unwrap();
        assert_eq!(blanks.data.hidden(), [(0, 2)]);
        // What was a table before stays one unless a network is wanted.
        let table = read("m.csv", matrix, &Options::default()).unwrap();
        assert!(!matches!(table.data, Data::Network(_) | Data::Relations(_)));
    }

    #[test]
    fn vertices_are_kept_with_their_relations() {
        let options = options(|o| {
            (o.directed, o.largest_component) = (true, true);
        });
        let kept = read("g.edges", "0 1\n2 3\n3 4\n4 2\n", &options).unwrap();
        assert_eq!(kept.names, ["2", "3", "4"]);
        assert_eq!(entries(&kept), [(0, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0)]);
    }
}
