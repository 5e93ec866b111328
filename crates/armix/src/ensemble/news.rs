//! What chains tell other processes: a few numbers and their labels, which travel as they are in memory.

use super::Record;
use crate::error::{Error, Result};
use crate::history::Row;
use crate::run::{Counter, TOP};
use crate::tuning::Achieved;
use serde::{Deserialize, Serialize};

/// One iteration of one chain.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct News {
    pub(super) facts: Facts,
    pub(super) row: Row,
}

/// All but the labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Facts {
    /// The chain is in state t.
    pub(super) t: usize,
    pub(super) ensemble: usize,
    pub(super) chain: usize,
    pub(super) log_joint: f64,
    pub(super) energy: f64,
    pub(super) achieved: Vec<Achieved>,
    pub(super) blocks: usize,
    pub(super) largest: [u32; TOP],
    pub(super) hypers: Vec<f64>,
    pub(super) moves: Vec<Counter>,
    /// Of all iterations so far.
    pub(super) proposals: Counter,
    /// Bytes of a label.
    width: u8,
}

impl News {
    pub(super) fn new(
        t: usize,
        (ensemble, chain): (usize, usize),
        record: &Record<'_>,
        proposals: &Counter,
    ) -> Self {
        let row = record.labels.clone();
        let width = match row {
            Row::Small(_) => 1,
            Row::Medium(_) => 2,
            Row::Large(_) => 4,
        };
        let facts = Facts {
            t,
            ensemble,
            chain,
            log_joint: record.log_joint,
            energy: record.energy,
            achieved: record.achieved.to_vec(),
            blocks: record.blocks,
            largest: record.largest,
            hypers: record.hypers.to_vec(),
            moves: record.moves.to_vec(),
            proposals: proposals.clone(),
            width,
        };
        News { facts, row }
    }

    pub(super) fn record(&self) -> Record<'_> {
        Record {
            log_joint: self.facts.log_joint,
            energy: self.facts.energy,
            achieved: &self.facts.achieved,
            blocks: self.facts.blocks,
            largest: self.facts.largest,
            hypers: &self.facts.hypers,
            moves: &self.facts.moves,
            labels: &self.row,
        }
    }
}

/// Packs a value.
pub(super) fn pack<T: Serialize>(value: &T) -> Result<Vec<u8>> {
    postcard::to_stdvec(value).map_err(|e| Error::new(format!("cannot pack a message: {e}")))
}

/// Unpacks what [`pack`] packed.
pub(super) fn unpack<'b, T: Deserialize<'b>>(bytes: &'b [u8]) -> Result<T> {
    postcard::from_bytes(bytes).map_err(|_| damaged())
}

fn damaged() -> Error {
    Error::new("a message of another rank cannot be read: run the same version of armix everywhere")
}

/// The facts, then all labels.
pub(super) fn encode(news: &[News]) -> Result<Vec<u8>> {
    let facts: Vec<&Facts> = news.iter().map(|n| &n.facts).collect();
    let mut bytes = pack(&facts)?;
    for n in news {
        match &n.row {
            Row::Small(row) => bytes.extend_from_slice(row),
            Row::Medium(row) => bytes.extend(row.iter().flat_map(|l| l.to_le_bytes())),
            Row::Large(row) => bytes.extend(row.iter().flat_map(|l| l.to_le_bytes())),
        }
    }
    Ok(bytes)
}

/// Reads what [`encode`] wrote about n items.
pub(super) fn decode(bytes: &[u8], n: usize) -> Result<Vec<News>> {
    let (facts, mut rest): (Vec<Facts>, &[u8]) =
        postcard::take_from_bytes(bytes).map_err(|_| damaged())?;
    let mut next = |facts: Facts| {
        let (labels, after) =
            rest.split_at_checked(n * usize::from(facts.width)).ok_or_else(damaged)?;
        rest = after;
        let row = match facts.width {
            1 => Row::Small(labels.into()),
            2 => Row::Medium(labels.as_chunks().0.iter().map(|&l| u16::from_le_bytes(l)).collect()),
            4 => Row::Large(labels.as_chunks().0.iter().map(|&l| u32::from_le_bytes(l)).collect()),
            _ => return Err(damaged()),
        };
        Ok(News { facts, row })
    };
    facts.into_iter().map(&mut next).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_arrive_as_they_were_sent() {
        let moves = [Counter { proposed: 3, accepted: 2, idle: 1, seconds: 0.5, work: 9 }];
        let news: Vec<News> = [1, 300, 70_000]
            .into_iter()
            .map(|most| {
                let labels = Row::new(&[0, most, 7]);
                let record = Record {
                    log_joint: -1.5,
                    energy: -2.5,
                    achieved: &[Achieved { tried: 3.0, work: 9.0, jump: 0.25 }],
                    blocks: 3,
                    largest: [1; TOP],
                    hypers: &[0.5, 2.0],
                    moves: &moves,
                    labels: &labels,
                };
                News::new(4, (1, 2), &record, &moves[0])
            })
            .collect();
        let bytes = encode(&news).unwrap();
        assert_eq!(decode(&bytes, 3).unwrap(), news);
        for end in 0..bytes.len() {
            assert!(decode(&bytes[..end], 3).is_err(), "cut at {end}");
        }
    }
}
