//! `trace.csv`: one line for each ensemble, chain and iteration; opens in pandas and R as it is.

use crate::ensemble::View;
use crate::error::{Error, Result};
use crate::run::{Settings, TOP, Trace};
use std::fmt::Write;

/// The moves that have columns of their own: all but Gibbs scans, which are always accepted.
fn proposals(settings: &Settings) -> impl Iterator<Item = (usize, String)> + '_ {
    let moves = settings.schedule.moves();
    (moves.iter().enumerate()).filter(|(_, (name, _))| name != "gibbs").map(
        move |(at, (name, _))| {
            // A move that stands in the schedule twice has columns for each place.
            let before = moves[..at].iter().filter(|(other, _)| other == name).count();
            let column = name.replace('-', "_");
            (at, if before == 0 { column } else { format!("{column}_{}", before + 1) })
        },
    )
}

/// The first line, with the names of the hyper-parameters that are sampled.
pub(super) fn header(settings: &Settings, hypers: &[String]) -> String {
    let mut line = String::from("ensemble,chain,iteration,log_joint,blocks");
    (1..=TOP).for_each(|k| line += &format!(",fraction_{k}"));
    for (_, name) in proposals(settings) {
        line += &format!(",{name}_accepted,{name}_idle");
    }
    hypers.iter().for_each(|name| line += &format!(",{name}"));
    line + "\n"
}

/// Appends the lines of the last iteration of all chains. Everything is counted from 1;
/// `fraction_k` is the share of items in the k largest blocks.
pub(super) fn append(out: &mut String, settings: &Settings, view: &dyn View, n: usize) {
    let iteration = view.t() - settings.warmup;
    let proposals: Vec<usize> = proposals(settings).map(|(at, _)| at).collect();
    for ensemble in 0..settings.ensembles {
        for chain in 0..settings.chains {
            let record = view.record(ensemble, chain);
            // Writing to a String cannot fail. Numbers are written so that they read back exactly.
            let _ = write!(
                out,
                "{},{},{iteration},{},{}",
                ensemble + 1,
                chain + 1,
                record.log_joint,
                record.blocks
            );
            let mut items = 0;
            for size in record.largest {
                items += size;
                let _ = write!(out, ",{}", f64::from(items) / n as f64);
            }
            for &at in &proposals {
                let counter = &record.moves[at];
                let _ = write!(out, ",{},{}", counter.accepted, counter.idle);
            }
            for value in record.hypers {
                let _ = write!(out, ",{value}");
            }
            out.push('\n');
        }
    }
}

/// Traces by ensemble and chain, and the names of the hyper-parameters.
pub(super) type Traces = (Vec<Vec<Trace>>, Vec<String>);

/// Reads what [`append`] wrote, which is all but draws, counters and best.
pub(super) fn parse(text: &str, settings: &Settings, n: usize) -> Result<Traces> {
    let mut traces = vec![vec![Trace::default(); settings.chains]; settings.ensembles];
    let mut lines = text.lines().enumerate();
    let first = lines.next().map_or("", |(_, line)| line);
    let own = first.strip_prefix(header(settings, &[]).trim_end());
    let hypers: Vec<String> = match own {
        Some("") if !settings.sample_hyper => Vec::new(),
        Some(names) if settings.sample_hyper && names.starts_with(',') => {
            names[1..].split(',').map(str::to_string).collect()
        }
        _ => {
            let message =
                "this is not the trace of this run: its first line does not name the right columns";
            return Err(Error::new(message).at_line(1));
        }
    };
    let proposals = proposals(settings).count();
    for (at, line) in lines {
        let damaged = || {
            Error::new("this line is damaged: it does not hold the numbers of a trace")
                .at_line(at + 1)
        };
        let mut fields = line.split(',');
        let mut next = || fields.next().ok_or_else(damaged);
        let mut count = || -> Result<usize> { next()?.parse().map_err(|_| damaged()) };
        let (ensemble, chain, iteration) = (count()?, count()?, count()?);
        let trace = ensemble.checked_sub(1).and_then(|e| traces.get_mut(e));
        let trace =
            trace.and_then(|chains| chains.get_mut(chain.checked_sub(1)?)).ok_or_else(damaged)?;
        if iteration != trace.log_joint.len() + 1 {
            return Err(damaged());
        }
        trace.log_joint.push(next()?.parse().map_err(|_| damaged())?);
        trace.blocks.push(next()?.parse().map_err(|_| damaged())?);
        let (mut largest, mut before) = ([0; TOP], 0);
        for size in &mut largest {
            let fraction: f64 = next()?.parse().map_err(|_| damaged())?;
            let items = (fraction * n as f64).round() as u32;
            *size = items.checked_sub(before).ok_or_else(damaged)?;
            before = items;
        }
        trace.largest.push(largest);
        for _ in 0..2 * proposals {
            next()?;
        }
        trace.hypers.resize(hypers.len(), Vec::new());
        for values in &mut trace.hypers {
            values.push(next()?.parse().map_err(|_| damaged())?);
        }
    }
    Ok((traces, hypers))
}
