//! Networks of every kind as JSON (`.json`): nothing is lost, neither sides nor unknown pairs.

use crate::data::{Data, Dataset, Graph};
use crate::error::{Error, Result};
use crate::relations::{Relation, Relations, Shape, Values};
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::sync::Arc;

#[derive(Serialize, Deserialize)]
struct File {
    /// What this is.
    format: String,
    names: Vec<String>,
    /// A simple network: links without direction and self-loops.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    simple: bool,
    /// For each vertex whether it is on the second side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sides: Option<Vec<bool>>,
    relations: Vec<Part>,
}

#[derive(Serialize, Deserialize)]
struct Part {
    name: String,
    directed: bool,
    self_loops: bool,
    values: Values,
    /// From, to and value, by the numbers of the vertices.
    entries: Vec<(u32, u32, f64)>,
    #[serde(default)]
    unknown: Vec<(u32, u32)>,
}

const FORMAT: &str = "armix network 1";

pub(super) fn parse(text: &str) -> Result<Dataset> {
    let file: File = serde_json::from_str(text).map_err(|error| {
        Error::new(format!("this is no network that armix wrote as JSON: {error}"))
            .at_line(error.line().max(1))
    })?;
    if file.format != FORMAT || file.relations.is_empty() {
        return Err(Error::new(format!("this JSON file does not say \"format\": \"{FORMAT}\"")));
    }
    let n = file.names.len();
    if file.sides.as_ref().is_some_and(|sides| sides.len() != n) {
        return Err(Error::new("there must be a side for every name"));
    }
    let sides: Option<Arc<[bool]>> = file.sides.map(Into::into);
    let relation = |part: Part| {
        let Part { name, directed, self_loops: loops, values, entries, unknown } = part;
        let shape = Shape { name, directed, loops, values };
        Relation::new(shape, n, sides.clone(), entries, &unknown)
    };
    let mut relations = file.relations.into_iter().map(relation).collect::<Result<Vec<_>>>()?;
    let data = match file.simple {
        true => {
            let relation = relations.remove(0);
            let links = relation.entries().map(|(u, v, _)| (u, v)).collect();
            let hidden: Vec<(u32, u32)> = relation.hidden_pairs().collect();
            Data::Network(Graph::from_edges(n, links)?.hiding(&hidden))
        }
        false => Data::Relations(Relations::new(relations)?),
    };
    Ok(Dataset { names: file.names, ..Dataset::new(data) })
}

pub(super) fn write(dataset: &Dataset, relations: &Relations, out: &mut dyn Write) -> Result<()> {
    let part = |relation: &Relation| Part {
        name: relation.shape.name.clone(),
        directed: relation.shape.directed,
        self_loops: relation.shape.loops,
        values: relation.shape.values.clone(),
        entries: relation.entries().collect(),
        unknown: relation.hidden_pairs().collect(),
    };
    let file = File {
        format: FORMAT.into(),
        names: dataset.names.clone(),
        simple: false,
        sides: relations.sides().map(<[bool]>::to_vec),
        relations: relations.list().iter().map(part).collect(),
    };
    save(&file, out)
}

/// Writes a simple network, of which pairs may be unknown.
pub(super) fn write_simple(dataset: &Dataset, graph: &Graph, out: &mut dyn Write) -> Result<()> {
    let links = Part {
        name: "links".into(),
        directed: false,
        self_loops: false,
        values: Values::Binary,
        entries: graph.links().map(|(u, v)| (u, v, 1.0)).collect(),
        unknown: graph.hidden_pairs().collect(),
    };
    let (format, names) = (FORMAT.into(), dataset.names.clone());
    save(&File { format, names, simple: true, sides: None, relations: vec![links] }, out)
}

fn save(file: &File, out: &mut dyn Write) -> Result<()> {
    serde_json::to_writer(out, file).map_err(|e| Error::new(format!("cannot be written: {e}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let sides: Arc<[bool]> = [false, true, true].into();
        let kinds = Values::Categories(vec!["no link".into(), "a".into(), "b".into()]);
        let relation = |values: Values, value: f64| {
            let shape = Shape { name: "x".into(), directed: false, loops: false, values };
            Relation::new(shape, 3, Some(sides.clone()), vec![(0, 1, value)], &[(0, 2)]).unwrap()
        };
        let relations = vec![relation(kinds, 2.0), relation(Values::RealsOnLinks, 0.1 + 0.2)];
        let data = Data::Relations(Relations::new(relations).unwrap());
        let dataset =
            Dataset { names: vec!["p".into(), "q".into(), "ü".into()], ..Dataset::new(data) };
        let Data::Relations(relations) = &dataset.data else { panic!("relations") };
        let mut bytes = Vec::new();
        write(&dataset, relations, &mut bytes).unwrap();
        assert_eq!(parse(std::str::from_utf8(&bytes).unwrap()).unwrap(), dataset);
        let graph = Graph::new(3, &[(0, 1)]).unwrap().hiding(&[(1, 2)]);
        let simple = Dataset::new(Data::Network(graph.clone()));
        bytes.clear();
        write_simple(&simple, &graph, &mut bytes).unwrap();
        assert_eq!(parse(std::str::from_utf8(&bytes).unwrap()).unwrap(), simple);
    }

    #[test]
    fn refusals() {
        for text in [
            "",
            "{}",
            "[1]",
            r#"{"format":"x","names":[],"relations":[]}"#,
            r#"{"format":"armix network 1","names":["a"],"relations":[]}"#,
            r#"{"format":"armix network 1","names":["a","b"],"sides":[true],"relations":[{"name":"r","directed":false,"self_loops":false,"values":"binary","entries":[]}]}"#,
            r#"{"format":"armix network 1","names":["a","b"],"relations":[{"name":"r","directed":false,"self_loops":false,"values":"binary","entries":[[0,7,1.0]]}]}"#,
            r#"{"format":"armix network 1","names":["a","b"],"relations":[{"name":"r","directed":false,"self_loops":false,"values":{"categories":[]},"entries":[]}]}"#,
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
