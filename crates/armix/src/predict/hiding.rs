//! Entries that are held out: hidden at random, and remembered.

use crate::data::{Data, Dataset, HeldOut, MISSING};
use crate::error::{Error, Result};
use crate::relations::Relations;
use crate::rng::{Purpose, Rng};

/// More entries than this cannot be held out: each takes some bytes.
const MAX_HELD_OUT: f64 = 3e7;

/// … and of more entries than this none: looking at each takes too long.
const MAX_ENTRIES: f64 = 1e10;

/// Hides a random fraction of the entries that were observed, and remembers them: to see how well they
/// are predicted. The same seed hides the same entries.
pub fn hold_out(mut dataset: Dataset, fraction: f64, seed: u64) -> Result<Dataset> {
    if !(fraction > 0.0 && fraction < 1.0) {
        return Err(Error::new(format!(
            "--hold-out {fraction}: give the fraction of entries to hold out, above 0 and below 1, for example 0.1"
        )));
    }
    let (n, columns) = match &dataset.data {
        Data::Network(graph) => (graph.n(), graph.n()),
        Data::Table(table) => (table.n(), table.d()),
        Data::Relations(relations) => (relations.n() * relations.list().len(), relations.n()),
        Data::Columns(table) => (table.n(), table.d()),
    };
    let entries = n as f64 * columns as f64;
    if entries > MAX_ENTRIES || entries * fraction > MAX_HELD_OUT {
        return Err(Error::new(format!(
            "--hold-out {fraction} of {n} × {columns} entries are too many: at most {MAX_HELD_OUT} can be held out"
        )));
    }
    let mut rng = Rng::from_seed(Purpose::HoldOut, seed);
    let mut held_out = Vec::new();
    match &dataset.data {
        Data::Network(graph) => {
            let mut linked = vec![false; n];
            for u in 0..n {
                graph.neighbours(u).iter().for_each(|&v| linked[v as usize] = true);
                for v in u + 1..n {
                    if rng.uniform() < fraction && !graph.unobserved(u).contains(&(v as u32)) {
                        let value = f64::from(u8::from(linked[v]));
                        held_out.push(HeldOut { entry: (u as u32, v as u32), value });
                    }
                }
                graph.neighbours(u).iter().for_each(|&v| linked[v as usize] = false);
            }
        }
        Data::Table(table) => {
            for row in 0..n {
                for (column, &cell) in table.row(row).iter().enumerate() {
                    if rng.uniform() < fraction && cell != MISSING {
                        let entry = (row as u32, column as u32);
                        held_out.push(HeldOut { entry, value: f64::from(cell) });
                    }
                }
            }
        }
        Data::Columns(table) => {
            for row in 0..n {
                for (column, values) in table.columns().iter().enumerate() {
                    let value = values.cells()[row];
                    if rng.uniform() < fraction && !value.is_nan() {
                        held_out.push(HeldOut { entry: (row as u32, column as u32), value });
                    }
                }
            }
        }
        Data::Relations(relations) => {
            held_out = held_out_pairs(relations, fraction, &mut rng);
        }
    }
    let hidden: Vec<(u32, u32)> = held_out.iter().map(|h| h.entry).collect();
    dataset.data = match &dataset.data {
        Data::Network(graph) => Data::Network(graph.hiding(&hidden)),
        Data::Table(table) => Data::Table(table.hiding(&hidden)),
        Data::Relations(relations) => Data::Relations(relations.hiding(&hidden)),
        Data::Columns(table) => Data::Columns(table.hiding(&hidden)),
    };
    if held_out.is_empty() {
        return Err(Error::new(format!(
            "--hold-out {fraction} of {n} × {columns} entries hides nothing: hold out more"
        )));
    }
    let left = match &dataset.data {
        Data::Network(graph) => graph.edges() > 0,
        Data::Relations(relations) => relations.list().iter().any(|r| r.listed() > 0),
        Data::Table(_) | Data::Columns(_) => true,
    };
    if !left {
        return Err(Error::new(format!(
            "--hold-out {fraction} hides all links of this network: hold out less, or hide others with --hold-out-seed"
        )));
    }
    let ones = held_out.iter().filter(|h| h.value == 1.0).count();
    let what = match &dataset.data {
        Data::Network(_) => {
            format!("{} pairs were held out, {ones} of them linked", held_out.len())
        }
        Data::Table(_) => format!("{} cells were held out, {ones} of them ones", held_out.len()),
        Data::Relations(_) => {
            let linked = held_out.iter().filter(|h| !h.value.is_nan() && h.value != 0.0).count();
            format!("{} pairs were held out, {linked} of them linked", held_out.len())
        }
        Data::Columns(_) => format!("{} cells were held out", held_out.len()),
    };
    dataset.notes.push(what);
    dataset.held_out = held_out;
    Ok(dataset)
}

/// A random fraction of the pairs of every relation.
fn held_out_pairs(relations: &Relations, fraction: f64, rng: &mut Rng) -> Vec<HeldOut> {
    let n = relations.n() as u32;
    let mut held_out = Vec::new();
    for (at, relation) in relations.list().iter().enumerate() {
        for u in 0..n {
            for v in (if relation.shape.directed { 0 } else { u })..n {
                if !relation.is_pair(u, v) || rng.uniform() >= fraction {
                    continue;
                }
                let hidden = relation.hidden_from(u as usize).binary_search(&v).is_ok();
                if !hidden {
                    // No number at all where there is no link that would have one.
                    let value = relation.value(u, v).unwrap_or(f64::NAN);
                    held_out.push(HeldOut { entry: relations.entry(at, u, v), value });
                }
            }
        }
    }
    held_out
}
