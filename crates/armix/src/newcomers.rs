//! New items beside those of a run, read and coded alike, so that it can be told where they belong.

use crate::data::{BinaryTable, Column, Data, Dataset, Graph, Kind, MISSING, Table};
use crate::error::{Error, Result};
use crate::io::raw::{RawColumn, RawNetwork, RawTable};
use crate::io::{self, TableOptions};
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

/// The table with new rows after the old ones, coded alike; `all` are the old rows as they were read. What was
/// made of the old rows stays as it is, whatever the new ones hold. Columns that the new rows lack are noted.
pub fn with_new_rows(
    dataset: &Dataset,
    all: RawTable,
    new: RawTable,
    choice: &Choice,
) -> Result<Dataset> {
    let kinds: Vec<Kind> = match &dataset.data {
        Data::Network(_) | Data::Relations(_) => {
            return Err(Error::new("the data of this run are no table"));
        }
        Data::Table(old) => vec![Kind::Binary; old.d()],
        Data::Columns(old) => old.columns().iter().map(Column::kind).collect(),
    };
    let new = below_header(new, &all);
    let options = choice.options()?.table;
    let (new, mut notes) = io::with_points(&new, &all, &options)?;
    let (all, _) = io::with_points(&all, &all, &options)?;
    let place = matched(&all, &new)?;
    let (id, data) = roles(dataset, &all, options)?;
    if data.len() != kinds.len() {
        return Err(Error::new(
            "the columns of the data are not understood as they were when the run was made: choose them with --columns when you fit",
        ));
    }
    notes.extend(missing_columns(&all, &data, &place));
    let mut columns = Vec::with_capacity(data.len());
    for (k, (&at, &kind)) in data.iter().zip(&kinds).enumerate() {
        let levels = match &dataset.data {
            Data::Columns(old) => old.columns()[k].names(),
            _ => &[],
        };
        let like = (&*all, &all.columns[at]);
        columns.push(match place[at] {
            Some(at) => io::coded_alike(&new, &new.columns[at], kind, like, levels)?,
            None => vec![f64::NAN; new.rows()],
        });
    }
    // New rows without a name are numbered.
    let named = id.and_then(|id| place[id]).map(|at| &new.columns[at]);
    let name = |row: usize| {
        let own = named.and_then(|column| column.cells[row].clone());
        own.unwrap_or_else(|| format!("new {}", row + 1))
    };
    let names: Vec<String> =
        dataset.names.iter().cloned().chain((0..new.rows()).map(name)).collect();
    let data = match &dataset.data {
        Data::Table(old) => {
            let code = |x: f64| if x.is_nan() { MISSING } else { x as u8 };
            let mut cells: Vec<u8> =
                (0..old.n()).flat_map(|row| old.row(row).iter().copied()).collect();
            for row in 0..new.rows() {
                cells.extend(columns.iter().map(|column| code(column[row])));
            }
            Data::Table(BinaryTable::new(old.n() + new.rows(), old.d(), cells)?)
        }
        Data::Columns(old) => {
            let longer = |(old, new): (&Column, &Vec<f64>)| {
                old.with_values(old.cells().iter().chain(new).copied().collect())
            };
            let table = Table::new(old.columns().iter().zip(&columns).map(longer).collect())?;
            let table = table.scaled_by_first(old.n());
            check_distance(&table, dataset, &names, &new)?;
            Data::Columns(table)
        }
        Data::Network(_) | Data::Relations(_) => unreachable!("refused above"),
    };
    let columns = dataset.columns.clone();
    Ok(Dataset { names, columns, notes, ..Dataset::new(data) })
}

/// A header above few rows of words looks like one more row; the run knows better.
fn below_header(mut new: RawTable, all: &RawTable) -> RawTable {
    let known = |name: &str| all.columns.iter().any(|c| c.name == name);
    let first = |column: &RawColumn| column.cells.first().cloned().flatten();
    if !new.columns.iter().any(|c| known(&c.name))
        && new.columns.iter().filter_map(first).any(|cell| known(&cell))
    {
        for (at, column) in new.columns.iter_mut().enumerate() {
            column.name = first(column).unwrap_or_else(|| (at + 1).to_string());
            column.cells.remove(0);
        }
        if !new.lines.is_empty() {
            new.lines.remove(0);
        }
    }
    new
}

/// The column that names the rows, and those that were clustered by.
fn roles(
    dataset: &Dataset,
    all: &RawTable,
    options: TableOptions,
) -> Result<(Option<usize>, Vec<usize>)> {
    let columns = match &dataset.data {
        Data::Table(old) => old.d(),
        Data::Columns(old) => old.d(),
        Data::Network(_) | Data::Relations(_) => 0,
    };
    // The column that names the rows is the one that did when the run was made.
    let named = all.columns.iter().position(|column| {
        column.cells.len() == dataset.names.len()
            && column
                .cells
                .iter()
                .zip(&dataset.names)
                .all(|(cell, name)| cell.as_ref() == Some(name))
    });
    let (id, data, _) = io::roles_of(all, &options)?;
    let Some(named) = named.filter(|_| data.len() != columns) else {
        return Ok((id.or(named.filter(|named| !data.contains(named))), data));
    };
    let name = all.columns[named].name.clone();
    let options = TableOptions { id_column: Some(name), ..options };
    io::roles_of(all, &options).map(|(id, data, _)| (id, data))
}

/// For each old column the new one that it goes on in. Of columns that share a name, the first belongs to the
/// first.
fn matched(all: &RawTable, new: &RawTable) -> Result<Vec<Option<usize>>> {
    let list = || {
        let names: Vec<&str> = all.columns.iter().take(20).map(|c| c.name.as_str()).collect();
        format!("{}{}", names.join(", "), if all.columns.len() > 20 { ", …" } else { "" })
    };
    let is_numbered = |table: &RawTable| {
        table.columns.iter().zip(1..).all(|(c, at): (_, usize)| c.name == at.to_string())
    };
    let (old, found) = (all.columns.len(), new.columns.len());
    if is_numbered(all) && is_numbered(new) && old != found {
        return Err(Error::new(format!(
            "this file has {found} columns without names, the data of the run have {old}: write the same columns in the same order"
        )));
    }
    let mut old: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, column) in all.columns.iter().enumerate().rev() {
        old.entry(&column.name).or_default().push(at);
    }
    let mut place = vec![None; all.columns.len()];
    let mut unknown = None;
    for (at, column) in new.columns.iter().enumerate() {
        match old.get_mut(column.name.as_str()).and_then(Vec::pop) {
            Some(to) => place[to] = Some(at),
            // Without a title it only tells the new rows apart.
            None if at == 0 && (column.name == "1" || column.name == "Unnamed: 0") => {}
            None => unknown = unknown.or(Some(&column.name)),
        }
    }
    if place.iter().all(Option::is_none) {
        return Err(Error::new(format!(
            "no column of this file is a column of the run's data: {}",
            list()
        )));
    }
    match unknown {
        Some(name) if all.columns.iter().any(|c| c.name == *name) => Err(Error::new(format!(
            "column '{name}' comes more often than in the data of the run: remove one"
        ))),
        Some(name) => Err(Error::new(format!(
            "there is no column '{name}' in the data of the run: rename or remove it; the columns are {}",
            list()
        ))),
        None => Ok(place),
    }
}

/// A note on columns that new rows do not have.
fn missing_columns(all: &RawTable, data: &[usize], place: &[Option<usize>]) -> Option<String> {
    let lacking = data.iter().filter(|&&at| place[at].is_none());
    let names: Vec<String> = lacking.map(|&at| format!("'{}'", all.columns[at].name)).collect();
    let few = names[..names.len().min(5)].join(", ");
    match names.len() {
        0 => None,
        1 => Some(format!("the new rows have no column {few}: its cells are taken for missing")),
        2..=5 => {
            Some(format!("the new rows have no columns {few}: their cells are taken for missing"))
        }
        n => Some(format!(
            "the new rows have no columns {few} and {} more: their cells are taken for missing",
            n - 5
        )),
    }
}

/// Numbers that are absurdly far away are refused: beside them the digits of all others would be lost.
fn check_distance(
    table: &Table,
    dataset: &Dataset,
    names: &[String],
    new: &RawTable,
) -> Result<()> {
    for (at, column) in table.columns().iter().enumerate() {
        if let Some((row, away)) = column.too_far() {
            let heading =
                dataset.columns.get(at).map_or((at + 1).to_string(), |c| format!("'{c}'"));
            let error = Error::new(format!(
                "row '{}', column {heading}: {:e} is {away:.0e} standard deviations away from the data of the run; correct it (its unit?), or leave the cell empty",
                names[row],
                column.cells()[row]
            ));
            return Err(match new.lines.get(row - dataset.names.len()) {
                Some(&line) => error.at_line(line),
                None => error,
            });
        }
    }
    Ok(())
}
