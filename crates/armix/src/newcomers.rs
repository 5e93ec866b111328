//! New items beside those of a run, read and coded alike, so that it can be told where they belong.

use crate::data::{Column, Data, Dataset, Graph, Kind, Table};
use crate::error::{Error, Result};
use crate::io;
use crate::io::raw::{Raw, RawColumn, RawNetwork, RawTable};
use crate::problem::Choice;
use crate::relations::{Relation, Relations, Values};
use std::collections::{BTreeMap, HashMap};

/// The network with new vertices after the old ones, and how many links were left out because they are not
/// between a new vertex and a known one: each new vertex is looked at alone.
pub fn with_new_vertices(
    dataset: &Dataset,
    raw: &RawNetwork,
    choice: &Choice,
) -> Result<(Dataset, usize)> {
    let graph = match &dataset.data {
        Data::Network(graph) => graph,
        Data::Relations(relations) => {
            return with_related_vertices(dataset, relations, raw, choice);
        }
        Data::Table(_) | Data::Columns(_) => {
            return Err(Error::new("the data of this run are no network"));
        }
    };
    let known: HashMap<&str, u32> = dataset.names.iter().map(String::as_str).zip(0..).collect();
    let mut names = dataset.names.clone();
    let mut number = Vec::with_capacity(raw.names.len());
    for name in &raw.names {
        number.push(known.get(name.as_str()).copied().unwrap_or_else(|| {
            names.push(name.clone());
            names.len() as u32 - 1
        }));
    }
    let old = graph.n() as u32;
    if names.len() == graph.n() {
        let message = "all vertices in this file are known already: list the links of new ones, named differently";
        return Err(Error::new(message));
    }
    // Weights of both directions are added up, as when the network itself was read.
    let mut weights: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    let mut ignored = 0;
    for (at, &(u, v)) in raw.edges.iter().enumerate() {
        let (u, v) = (number[u as usize], number[v as usize]);
        if (u < old) == (v < old) {
            ignored += 1;
            continue;
        }
        *weights.entry((u.min(v), u.max(v))).or_default() +=
            raw.weights.as_ref().map_or(1.0, |w| w[at]);
    }
    let threshold = if raw.weights.is_none() { 0.0 } else { choice.threshold };
    let heavy = weights.into_iter().filter(|(_, weight)| *weight > threshold);
    let edges = graph.links().chain(heavy.map(|(pair, _)| pair)).collect();
    let hidden: Vec<(u32, u32)> = graph.hidden_pairs().collect();
    let graph = Graph::from_edges(names.len(), edges)?.hiding(&hidden);
    Ok((Dataset { names, ..Dataset::new(Data::Network(graph)) }, ignored))
}

/// The same for networks of every kind.
fn with_related_vertices(
    dataset: &Dataset,
    relations: &Relations,
    raw: &RawNetwork,
    choice: &Choice,
) -> Result<(Dataset, usize)> {
    if choice.is_degree_corrected() {
        return Err(Error::new(format!(
            "the model {} cannot place new vertices: their links would change the degrees of the others; fit the network with them, or use another model",
            choice.model.as_deref().unwrap_or_default()
        )));
    }
    let [relation] = relations.list() else {
        return Err(Error::new("new vertices can be placed in networks with one relation only"));
    };
    let known: HashMap<&str, u32> = dataset.names.iter().map(String::as_str).zip(0..).collect();
    let mut names = dataset.names.clone();
    let mut number = Vec::with_capacity(raw.names.len());
    for name in &raw.names {
        number.push(known.get(name.as_str()).copied().unwrap_or_else(|| {
            names.push(name.clone());
            names.len() as u32 - 1
        }));
    }
    let old = relations.n() as u32;
    if names.len() == relations.n() {
        let message = "all vertices in this file are known already: list the links of new ones, named differently";
        return Err(Error::new(message));
    }
    let shape = &relation.shape;
    let mut sides: Option<Vec<bool>> = relations.sides().map(<[bool]>::to_vec);
    if let Some(sides) = &mut sides {
        sides.resize(names.len(), false);
    }
    let mut weights: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    let mut ignored = 0;
    for (at, &(u, v)) in raw.edges.iter().enumerate() {
        let (u, v) = (number[u as usize], number[v as usize]);
        if (u < old) == (v < old) {
            ignored += 1;
            continue;
        }
        if let Some(sides) = &mut sides {
            sides[u.max(v) as usize] = !sides[u.min(v) as usize];
        }
        let kind = |kinds: &[String]| {
            let name = raw.kinds.get(raw.weight(at) as usize).cloned();
            let name = name.unwrap_or_else(|| raw.weight(at).to_string());
            kinds.iter().position(|kind| *kind == name).map(|kind| kind as f64).ok_or_else(|| {
                Error::new(format!("'{name}' is no category of this run: {}", kinds.join(", ")))
            })
        };
        let value = match &shape.values {
            Values::Categories(kinds) => kind(kinds)?,
            _ => raw.weight(at),
        };
        let pair = if shape.directed { (u, v) } else { (u.min(v), u.max(v)) };
        let entry = weights.entry(pair).or_default();
        match shape.values {
            Values::Binary | Values::Counts => *entry += value,
            _ => *entry = value,
        }
    }
    if shape.values == Values::Binary {
        let threshold = if raw.weights.is_none() { 0.0 } else { choice.threshold };
        weights.retain(|_, weight| *weight > threshold);
        weights.values_mut().for_each(|weight| *weight = 1.0);
    }
    let new = weights.into_iter().map(|((u, v), weight)| (u, v, weight));
    let entries = relation.entries().chain(new).collect();
    let hidden: Vec<(u32, u32)> = relation.hidden_pairs().collect();
    let sides = sides.map(Into::into);
    let relation = Relation::new(shape.clone(), names.len(), sides, entries, &hidden)?;
    let relations = Relations::new(vec![relation])?;
    Ok((Dataset { names, ..Dataset::new(Data::Relations(relations)) }, ignored))
}

/// The table with new rows after the old ones, coded alike; `all` are the old rows as they were read.
pub fn with_new_rows(
    dataset: &Dataset,
    mut all: RawTable,
    mut new: RawTable,
    choice: &Choice,
) -> Result<Dataset> {
    let no_table = || Error::new("the data of this run are no table");
    let known = |name: &str| all.columns.iter().any(|c| c.name == name);
    if !new.columns.iter().any(|c| known(&c.name)) {
        // A header above few rows of words looks like one more row; the run knows better.
        let first = |column: &RawColumn| column.cells.first().cloned().flatten();
        if new.columns.iter().filter_map(first).any(|cell| known(&cell)) {
            for column in &mut new.columns {
                column.name = first(column).unwrap_or_default();
                column.cells.remove(0);
            }
        }
    }
    let rows = new.rows();
    // The column that names the rows is the one that did when the run was made.
    let id = all.columns.iter().position(|column| {
        column.cells.iter().zip(&dataset.names).all(|(cell, name)| cell.as_ref() == Some(name))
            && column.cells.len() == dataset.names.len()
    });
    for (at, column) in all.columns.iter_mut().enumerate() {
        let same = new.columns.iter().find(|c| c.name == column.name);
        for row in 0..rows {
            let cell = same.and_then(|same| same.cells[row].clone());
            let named = (Some(at) == id && cell.is_none()).then(|| format!("new {}", row + 1));
            column.cells.push(cell.or(named));
        }
    }
    if !all.columns.iter().any(|c| new.columns.iter().any(|d| d.name == c.name)) {
        let names: Vec<&str> = all.columns.iter().take(20).map(|c| c.name.as_str()).collect();
        return Err(Error::new(format!(
            "no column of this file is a column of the run's data: {}",
            names.join(", ")
        )));
    }
    all.lines.clear();
    let mut prepare = choice.options()?;
    // Columns stay what they were.
    match &dataset.data {
        Data::Network(_) | Data::Relations(_) => return Err(no_table()),
        Data::Table(_) => prepare.table.all = Some(Kind::Binary),
        Data::Columns(old) => {
            let kinds = old.columns().iter().map(Column::kind);
            // Columns without names are called as they are written.
            let written = (1..=old.d()).map(|c| format!("x{c}")).collect();
            let names = if dataset.columns.is_empty() { written } else { dataset.columns.clone() };
            prepare.table.types = names.into_iter().zip(kinds).collect();
        }
    }
    if let Some(id) = id {
        prepare.table.id_column = Some((id + 1).to_string());
    }
    let mut prepared = io::prepare(Raw::Table(all), &prepare)?;
    // New rows without a name are numbered.
    for (at, name) in prepared.names.iter_mut().enumerate().skip(dataset.names.len()) {
        if *name == at.to_string() {
            *name = format!("new {}", at + 1 - dataset.names.len());
        }
    }
    let hidden: Vec<(u32, u32)> = dataset.held_out.iter().map(|h| h.entry).collect();
    prepared.data = match (&dataset.data, &prepared.data) {
        (Data::Table(old), Data::Table(table)) if table.d() == old.d() => {
            Data::Table(table.hiding(&hidden))
        }
        (Data::Columns(old), Data::Columns(table)) if table.d() == old.d() => {
            let table = table.hiding(&hidden).scaled_by_first(old.n());
            check_distance(&table, &prepared)?;
            Data::Columns(table)
        }
        _ => {
            return Err(Error::new(
                "with these rows the columns are understood differently: choose them with --columns when you fit",
            ));
        }
    };
    Ok(prepared)
}

/// Numbers that are absurdly far away are refused: beside them the digits of all others would be lost.
fn check_distance(table: &Table, prepared: &Dataset) -> Result<()> {
    for (at, column) in table.columns().iter().enumerate() {
        if let Some((row, away)) = column.too_far() {
            let heading =
                prepared.columns.get(at).map_or((at + 1).to_string(), |c| format!("'{c}'"));
            return Err(Error::new(format!(
                "row '{}', column {heading}: {:e} is {away:.0e} standard deviations away from the data of the run; correct it (its unit?), or leave the cell empty",
                prepared.names[row],
                column.cells()[row]
            )));
        }
    }
    Ok(())
}
