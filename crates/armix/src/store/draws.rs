//! `draws/`: sampled partitions in parts, as Arrow IPC files with zstd compression, which Python
//! (pyarrow, polars) and R (arrow) open without armix.

use crate::error::{Error, Result};
use crate::history::Row;
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, RecordBatch, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_ipc::CompressionType;
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use arrow_schema::{DataType, Field, Schema};
use std::io::Cursor;
use std::rc::Rc;
use std::sync::Arc;

/// One sampled state of all chains: its iteration (counted from 1) and its rows by ensemble and
/// chain.
pub(super) type Draw = (usize, Rc<Vec<Vec<Row>>>);

/// A part holds about so many bytes of labels before compression.
const PART_BYTES: usize = 32 << 20;
/// … and never more than so many iterations.
const PART_ITERATIONS: usize = 1000;

/// How many iterations make a part. It depends on what is sampled alone, so that an interrupted
/// run has the same parts.
pub(super) fn part_length(n: usize, chains: usize, thin: usize) -> usize {
    let draws = PART_BYTES / (n * chains).max(1);
    draws.clamp(1, PART_ITERATIONS).saturating_mul(thin)
}

/// One row of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedDraw {
    /// The ensemble, counted from 1.
    pub ensemble: u32,
    /// The chain, counted from 1.
    pub chain: u32,
    /// The iteration, counted from 1.
    pub iteration: u64,
    /// A label for each item.
    pub labels: Vec<u32>,
}

/// A part as a file: columns ensemble, chain, iteration and labels (a list of fixed length), sorted by
/// chain so that similar partitions stand together and compress well. Hot chains, which stand after the others
/// in the rows, are left out.
pub(super) fn encode(draws: &[Draw], chains: usize, n: usize) -> Result<Vec<u8>> {
    let ensembles = draws.first().map_or(0, |(_, rows)| rows.len());
    let places: Vec<(usize, usize)> =
        (0..ensembles).flat_map(|e| (0..chains).map(move |c| (e, c))).collect();
    let each = || places.iter().flat_map(|&(e, c)| draws.iter().map(move |draw| (e, c, draw)));
    let mut labels: Vec<u32> = Vec::with_capacity(places.len() * draws.len() * n);
    let mut buffer = Vec::new();
    for (e, c, (_, rows)) in each() {
        rows[e][c].unpack(&mut buffer);
        labels.extend_from_slice(&buffer);
    }
    // One type for the whole run: sixteen bits are enough unless there are more items than that.
    let values: ArrayRef = if n <= 1 << 16 {
        Arc::new(UInt16Array::from_iter_values(labels.iter().map(|&l| l as u16)))
    } else {
        Arc::new(UInt32Array::from(labels))
    };
    let item = Arc::new(Field::new("item", values.data_type().clone(), false));
    let list = FixedSizeListArray::new(Arc::clone(&item), n as i32, values, None);
    let schema = Arc::new(Schema::new(vec![
        Field::new("ensemble", DataType::UInt32, false),
        Field::new("chain", DataType::UInt32, false),
        Field::new("iteration", DataType::UInt64, false),
        Field::new("labels", list.data_type().clone(), false),
    ]));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(UInt32Array::from_iter_values(each().map(|(e, _, _)| e as u32 + 1))),
        Arc::new(UInt32Array::from_iter_values(each().map(|(_, c, _)| c as u32 + 1))),
        Arc::new(UInt64Array::from_iter_values(each().map(|(_, _, draw)| draw.0 as u64))),
        Arc::new(list),
    ];
    let failed = |error| Error::new(format!("cannot encode the draws: {error}"));
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns).map_err(failed)?;
    let options = IpcWriteOptions::default()
        .try_with_compression(Some(CompressionType::ZSTD))
        .map_err(failed)?;
    let mut writer =
        FileWriter::try_new_with_options(Vec::new(), &schema, options).map_err(failed)?;
    writer.write(&batch).map_err(failed)?;
    writer.finish().map_err(failed)?;
    writer.into_inner().map_err(failed)
}

/// Reads a part.
pub(super) fn decode(bytes: Vec<u8>) -> Result<Vec<SavedDraw>> {
    let damaged = || Error::new("this part of the draws is damaged");
    let reader = FileReader::try_new(Cursor::new(bytes), None).map_err(|_| damaged())?;
    let mut draws = Vec::new();
    for batch in reader {
        let batch = batch.map_err(|_| damaged())?;
        let column = |name: &str| batch.column_by_name(name).cloned().ok_or_else(damaged);
        let (ensemble, chain) = (column("ensemble")?, column("chain")?);
        let (iteration, labels) = (column("iteration")?, column("labels")?);
        let small = |array: &ArrayRef| {
            array.as_any().downcast_ref::<UInt32Array>().cloned().ok_or_else(damaged)
        };
        let (ensemble, chain) = (small(&ensemble)?, small(&chain)?);
        let iteration =
            iteration.as_any().downcast_ref::<UInt64Array>().cloned().ok_or_else(damaged)?;
        let labels =
            labels.as_any().downcast_ref::<FixedSizeListArray>().cloned().ok_or_else(damaged)?;
        for at in 0..batch.num_rows() {
            let row = labels.value(at);
            let labels = match row.as_any().downcast_ref::<UInt16Array>() {
                Some(row) => row.values().iter().map(|&l| u32::from(l)).collect(),
                None => small(&row)?.values().to_vec(),
            };
            draws.push(SavedDraw {
                ensemble: ensemble.value(at),
                chain: chain.value(at),
                iteration: iteration.value(at),
                labels,
            });
        }
    }
    Ok(draws)
}
