//! Edge lists: two vertex numbers a line, separated by blanks, tabs or a comma; lines that begin with
//! `#` or `%` are comments, one of which may say `# nodes N`.

use super::is_comment;
use crate::data::{Data, Dataset, Graph};
use crate::error::{Error, Result};

/// More vertices than this are taken for a mistake in the header.
const MAX_NODES: u64 = 1 << 28;

pub(super) fn parse(text: &str) -> Result<Dataset> {
    let mut nodes: Option<u64> = None;
    let mut edges: Vec<(u64, u64, usize)> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let number = at + 1;
        if is_comment(line) {
            if let Some(promised) = header(line) {
                nodes = Some(promised.map_err(|e| e.at_line(number))?);
            }
            continue;
        }
        let mut fields =
            line.split(|c: char| c.is_whitespace() || c == ',').filter(|f| !f.is_empty());
        let (Some(u), Some(v), None) = (fields.next(), fields.next(), fields.next()) else {
            let count = line
                .split(|c: char| c.is_whitespace() || c == ',')
                .filter(|f| !f.is_empty())
                .count();
            return Err(Error::new(format!(
                "this line has {count} column{}; an edge list has two, the numbers of the linked vertices (weights are not read: remove the third column)",
                if count == 1 { "" } else { "s" }
            ))
            .at_line(number));
        };
        edges.push((
            vertex(u).map_err(|e| e.at_line(number))?,
            vertex(v).map_err(|e| e.at_line(number))?,
            number,
        ));
    }
    if edges.is_empty() {
        return Err(Error::new(
            "there are no edges in this file: nothing tells the vertices apart",
        ));
    }
    let (n, names, ends) = match nodes {
        Some(n) => number_by_header(n, &edges)?,
        None => number_by_appearance(&edges)?,
    };
    let graph = Graph::new(n, &ends)?;
    if graph.edges() == 0 {
        return Err(Error::new(
            "this network has self-loops only, which are dropped: no edges are left",
        ));
    }
    let mut data = Dataset::new(Data::Network(graph));
    if let Data::Network(graph) = &data.data {
        if graph.loops_dropped > 0 {
            data.notes.push(format!("{} self-loops were dropped", graph.loops_dropped));
        }
        if graph.duplicates_dropped > 0 {
            data.notes
                .push(format!("{} repeated edges were counted once", graph.duplicates_dropped));
        }
        if graph.isolated() > 0 {
            data.notes.push(format!("{} vertices have no edge", graph.isolated()));
        }
    }
    data.names = names;
    Ok(data)
}

/// `# nodes 34 edges 78`, also `# Nodes: 34`.
fn header(line: &str) -> Option<Result<u64>> {
    let mut words =
        line.split(|c: char| c.is_whitespace() || "#%:=,".contains(c)).filter(|w| !w.is_empty());
    if !words.next()?.eq_ignore_ascii_case("nodes") {
        return None;
    }
    let word = words.next()?;
    Some(match word.parse::<u64>() {
        Ok(n) if n <= MAX_NODES => Ok(n),
        Ok(n) => Err(Error::new(format!(
            "the header promises {n} vertices; at most {MAX_NODES} can be read"
        ))),
        Err(_) if word.parse::<f64>().is_ok() => Err(Error::new(format!(
            "{word} is no possible number of vertices; write for example # nodes 34"
        ))),
        Err(_) => return None, // prose that happens to begin with this word
    })
}

fn vertex(field: &str) -> Result<u64> {
    field.parse().map_err(|_| {
        Error::new(match field.parse::<f64>() {
            Ok(x) if x < 0.0 => format!("{field} is negative; vertices are numbered from 0 (or from 1)"),
            Ok(_) => format!("{field} is not a whole number; vertices are numbered 0, 1, 2, …"),
            Err(_) => format!("'{field}' is not a number; vertices are numbered 0, 1, 2, … (for a table, give --model bernoulli)"),
        })
    })
}

type Numbered = (usize, Vec<String>, Vec<(u32, u32)>);

/// With a header, vertices without edges exist; they are numbered from 0, or from 1 if N occurs.
fn number_by_header(n: u64, edges: &[(u64, u64, usize)]) -> Result<Numbered> {
    let smallest = edges.iter().map(|e| e.0.min(e.1)).min().unwrap_or(0);
    let largest = edges.iter().map(|e| e.0.max(e.1)).max().unwrap_or(0);
    let first = u64::from(smallest >= 1 && largest == n);
    if let Some(&(u, v, line)) = edges.iter().find(|e| e.0.max(e.1) >= n + first) {
        return Err(Error::new(format!(
            "vertex {} does not exist: the header says nodes {n}, so they are numbered 0 to {}; correct the header or the edge",
            u.max(v),
            n.saturating_sub(1)
        ))
        .at_line(line));
    }
    let ends = edges.iter().map(|e| ((e.0 - first) as u32, (e.1 - first) as u32)).collect();
    Ok((n as usize, (first..n + first).map(|v| v.to_string()).collect(), ends))
}

/// Without a header the vertices are those that occur, in ascending order.
fn number_by_appearance(edges: &[(u64, u64, usize)]) -> Result<Numbered> {
    let mut ids: Vec<u64> = edges.iter().flat_map(|e| [e.0, e.1]).collect();
    ids.sort_unstable();
    ids.dedup();
    let rank = |id: u64| ids.partition_point(|&known| known < id) as u32;
    let ends = edges.iter().map(|e| (rank(e.0), rank(e.1))).collect();
    Ok((ids.len(), ids.iter().map(u64::to_string).collect(), ends))
}
