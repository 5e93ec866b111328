//! GML (`.gml`): nested lists of keys and values, of which `graph`, `node` and `edge` are read.
//!
//! The format: M. Himsolt (1997), GML: a portable graph file format.

use super::fields::{character, unescape, unique_or, weight};
use super::raw::{Lines, RawNetwork, check_count};
use crate::error::{Error, Result};
use std::collections::HashMap;
use std::io::{self, Write};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    Open,
    Close,
    /// Text between quotation marks, entities and all.
    Quoted(&'a str),
    /// A key, or a value without quotation marks.
    Word(&'a str),
    End,
}

/// The text that is left, and the line on which the last token began.
struct Tokens<'a> {
    rest: &'a str,
    line: usize,
    next_line: usize,
}

impl<'a> Tokens<'a> {
    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        self.next_line += taken.bytes().filter(|&b| b == b'\n').count();
        taken
    }

    fn next(&mut self) -> Result<Token<'a>> {
        loop {
            let blanks = self.rest.len() - self.rest.trim_start().len();
            self.take(blanks);
            if !self.rest.starts_with('#') {
                break;
            }
            self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
        }
        self.line = self.next_line;
        Ok(match self.rest.as_bytes().first() {
            None => Token::End,
            Some(b'[') => {
                self.take(1);
                Token::Open
            }
            Some(b']') => {
                self.take(1);
                Token::Close
            }
            Some(b'"') => {
                let Some(length) = self.rest[1..].find('"') else {
                    return Err(self.error("a text in quotation marks does not end: close it"));
                };
                Token::Quoted(&self.take(length + 2)[1..=length])
            }
            Some(_) => {
                let ends = |c: char| c.is_whitespace() || "[]\"".contains(c);
                Token::Word(self.take(self.rest.find(ends).unwrap_or(self.rest.len())))
            }
        })
    }

    fn error(&self, message: impl Into<String>) -> Error {
        Error::new(message).at_line(self.line)
    }

    /// The next key of a list, or nothing at its end.
    fn key(&mut self, inside: &str) -> Result<Option<&'a str>> {
        match self.next()? {
            Token::Word(key) => Ok(Some(key)),
            Token::Close if !inside.is_empty() => Ok(None),
            Token::End if inside.is_empty() => Ok(None),
            Token::End => {
                Err(self.error(format!("the file ends inside a {inside}: a ] is missing")))
            }
            Token::Close => Err(self.error("this ] has no [")),
            Token::Open | Token::Quoted(_) => {
                Err(self.error("a value stands here without its key: write 'key value'"))
            }
        }
    }

    /// A single value as text.
    fn value(&mut self, key: &str) -> Result<String> {
        match self.next()? {
            Token::Word(word) => Ok(word.to_string()),
            Token::Quoted(text) => Ok(unescape(text, entity)),
            _ => Err(self.error(format!("{key} has no value: write '{key} value'"))),
        }
    }

    fn number(&mut self, key: &str) -> Result<i64> {
        let value = self.value(key)?;
        value
            .parse()
            .map_err(|_| self.error(format!("{key} must be a whole number, not '{value}'")))
    }

    fn open(&mut self, key: &str) -> Result<()> {
        match self.next()? {
            Token::Open => Ok(()),
            _ => Err(self.error(format!("{key} must be a list: write '{key} [ … ]'"))),
        }
    }

    /// Leaves out a value, be it a list of lists; their depth costs nothing.
    fn skip(&mut self, key: &str) -> Result<()> {
        let mut depth = 0u64;
        loop {
            match self.next()? {
                Token::Open => depth += 1,
                Token::Close if depth > 0 => depth -= 1,
                Token::Close => return Err(self.error(format!("{key} has no value"))),
                Token::End => {
                    return Err(self.error(format!("the file ends before the value of {key} does")));
                }
                Token::Quoted(_) | Token::Word(_) => {}
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }
}

fn entity(name: &str) -> Option<char> {
    match name {
        "quot" => Some('"'),
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "apos" => Some('\''),
        _ => character(name),
    }
}

struct Edge {
    ends: (i64, i64),
    weight: Option<f64>,
    line: usize,
}

#[derive(Default)]
struct Graph {
    directed: bool,
    ids: Vec<i64>,
    labels: Vec<Option<String>>,
    index: HashMap<i64, u32>,
    edges: Vec<Edge>,
}

/// Reads the graph, with the vertices in the order of the file. Names are the labels, where there
/// are any, or the ids if two labels are equal. The weight of an edge is its `weight` or `value`.
pub(super) fn parse(text: &str) -> Result<RawNetwork> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut tokens = Tokens { rest: text, line: 1, next_line: 1 };
    let mut graph = None;
    while let Some(key) = tokens.key("")? {
        if !key.eq_ignore_ascii_case("graph") {
            tokens.skip(key)?;
        } else if graph.is_some() {
            return Err(
                tokens.error("there is a second graph: a file holds one network; divide it")
            );
        } else {
            graph = Some(read_graph(&mut tokens)?);
        }
    }
    match graph {
        Some(graph) => graph.finish(),
        None => Err(Error::new("there is no graph in this file: is this GML?")),
    }
}

fn read_graph(tokens: &mut Tokens) -> Result<Graph> {
    let mut graph = Graph::default();
    tokens.open("graph")?;
    while let Some(key) = tokens.key("graph")? {
        match key.to_ascii_lowercase().as_str() {
            "directed" => {
                graph.directed = match tokens.number(key)? {
                    0 => false,
                    1 => true,
                    other => {
                        return Err(tokens.error(format!("directed must be 0 or 1, not {other}")));
                    }
                }
            }
            "node" => graph.node(tokens)?,
            "edge" => graph.edge(tokens)?,
            _ => tokens.skip(key)?,
        }
    }
    Ok(graph)
}

impl Graph {
    fn node(&mut self, tokens: &mut Tokens) -> Result<()> {
        let line = tokens.line;
        let (mut id, mut label) = (None, None);
        tokens.open("node")?;
        while let Some(key) = tokens.key("node")? {
            match key.to_ascii_lowercase().as_str() {
                "id" => id = Some(tokens.number(key)?),
                "label" => label = Some(tokens.value(key)?),
                _ => tokens.skip(key)?,
            }
        }
        let Some(id) = id else {
            return Err(Error::new("this node has no id: add one").at_line(line));
        };
        check_count(self.ids.len() as u64 + 1, "nodes")?;
        if self.index.insert(id, self.ids.len() as u32).is_some() {
            return Err(Error::new(format!(
                "there is a second node with the id {id}: ids must differ"
            ))
            .at_line(line));
        }
        self.ids.push(id);
        self.labels.push(label);
        Ok(())
    }

    fn edge(&mut self, tokens: &mut Tokens) -> Result<()> {
        let line = tokens.line;
        let (mut source, mut target, mut value, mut weighed) = (None, None, None, None);
        tokens.open("edge")?;
        while let Some(key) = tokens.key("edge")? {
            match key.to_ascii_lowercase().as_str() {
                "source" => source = Some(tokens.number(key)?),
                "target" => target = Some(tokens.number(key)?),
                lower @ ("weight" | "value") => {
                    let number = weight(&tokens.value(key)?);
                    let number = Some(number.map_err(|error| error.at_line(tokens.line))?);
                    *(if lower == "weight" { &mut weighed } else { &mut value }) = number;
                }
                _ => tokens.skip(key)?,
            }
        }
        let (Some(source), Some(target)) = (source, target) else {
            return Err(
                Error::new("this edge lacks its source or its target: add it").at_line(line)
            );
        };
        self.edges.push(Edge { ends: (source, target), weight: weighed.or(value), line });
        Ok(())
    }

    fn finish(self) -> Result<RawNetwork> {
        let weighted = self.edges.first().is_some_and(|edge| edge.weight.is_some());
        let mut edges = Vec::with_capacity(self.edges.len());
        let mut weights = Vec::new();
        let mut lines = Lines::default();
        for edge in &self.edges {
            let vertex = |id: i64| {
                self.index.get(&id).copied().ok_or_else(|| {
                    Error::new(format!("this edge links node {id}, which does not exist: add the node, or remove the edge"))
                        .at_line(edge.line)
                })
            };
            edges.push((vertex(edge.ends.0)?, vertex(edge.ends.1)?));
            lines.push(edge.line);
            weights.extend(edge.weight);
            if edge.weight.is_some() != weighted {
                return Err(Error::new("some edges have a weight and this one differs: either every edge has one or none")
                    .at_line(edge.line));
            }
        }
        let id = |at: usize| self.ids[at].to_string();
        let names = (self.labels.into_iter().enumerate())
            .map(|(at, label)| label.unwrap_or_else(|| id(at)))
            .collect();
        let names = unique_or(names, || self.ids.iter().map(i64::to_string).collect());
        let weights = weighted.then_some(weights);
        Ok(RawNetwork {
            names,
            edges,
            weights,
            directed: self.directed,
            both_ways: !self.directed,
            lines,
            ..RawNetwork::default()
        })
    }
}

/// Writes everything that a network has; names are labels, and the ids count from 0.
pub(super) fn write(network: &RawNetwork, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "graph [\n  directed {}", u8::from(network.directed))?;
    for (v, name) in network.names.iter().enumerate() {
        write!(out, "  node [\n    id {v}\n    label \"")?;
        for c in name.chars() {
            match c {
                '"' => write!(out, "&quot;")?,
                '&' => write!(out, "&amp;")?,
                ' '..='~' => write!(out, "{c}")?,
                _ => write!(out, "&#{};", c as u32)?, // GML is ASCII
            }
        }
        writeln!(out, "\"\n  ]")?;
    }
    for (e, (u, v)) in network.edges.iter().enumerate() {
        writeln!(out, "  edge [\n    source {u}\n    target {v}")?;
        if let Some(weights) = &network.weights {
            writeln!(out, "    weight {}", weights[e])?;
        }
        writeln!(out, "  ]")?;
    }
    writeln!(out, "]")
}

#[cfg(test)]
mod tests {
    use super::super::nasty::{self, refused, written};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn graphs() {
        let text = "Creator \"x [\"\r\n# graph [\r\ngraph\r\n[\r\n  directed 1 edge [ source -2 target 7 value 3 weight 0.5 ]\r\n node [ id 7 label \"A &quot;B&#34; &amp; &uuml;\r\nC\" g [ a [ ] b 1 ] ]\r\n node [ id -2 ] ]\r\nafter [ x 1 ]";
        let network = parse(text).unwrap();
        assert_eq!(network.names, ["A \"B\" & &uuml;\r\nC", "-2"]);
        assert_eq!((network.edges, network.weights), (vec![(1, 0)], Some(vec![0.5])));
        assert!(network.directed);
        let twins = parse("graph [ node [ id 5 label x ] node [ id 6 label \"x\" ] ]").unwrap();
        assert_eq!((twins.names, twins.directed), (vec!["5".to_string(), "6".to_string()], false));
        let deep = format!("x {}{} graph [ ]", "[ x ".repeat(100_000), "1 ]".repeat(100_000));
        assert_eq!(parse(&deep).unwrap().n(), 0);
    }

    #[test]
    fn refusals() {
        refused(parse("graph [\n node [\n id 1"), 3, "ends inside a node");
        refused(parse("graph [\n node [ id 1 ]\n]\n]"), 4, "no [");
        refused(parse("graph [\n node [ label \"a\" ] ]"), 2, "no id");
        refused(parse("graph [\n node [ id x ] ]"), 2, "whole number");
        refused(parse("graph [\n node [ id 1 ]\n node [ id 1 ] ]"), 3, "second node");
        refused(parse("graph [\n\n edge [ source 1 target 2 ] ]"), 3, "node 1");
        refused(parse("graph [\n edge [ source 1 ] ]"), 2, "target");
        refused(
            parse("graph [ node [ id 1 ] edge [ source 1 target 1\n weight x ] ]"),
            2,
            "not a number",
        );
        refused(
            parse(
                "graph [ node [ id 1 ] edge [ source 1 target 1 weight 1 ]\n edge [ source 1 target 1 ] ]",
            ),
            2,
            "either every",
        );
        refused(parse("graph [ ]\ngraph [ ]"), 2, "second graph");
        refused(parse("graph [\n directed 2 ]"), 2, "0 or 1");
        refused(parse("graph [\n node 1 ]"), 2, "list");
        refused(parse("graph [\n id ] ]"), 2, "no value");
        refused(parse("graph [\n \"a\" 1 ]"), 2, "without its key");
        refused(parse("graph [\n label \"a ]"), 2, "does not end");
        assert!(parse("").is_err() && parse("a b").is_err() && parse("[").is_err());
    }

    proptest! {
        #![proptest_config(nasty::config())]

        #[test]
        fn round_trip(network in nasty::network()) {
            let text = written(&network, write);
            prop_assert!(text.is_ascii());
            prop_assert_eq!(parse(&text).unwrap(), network, "{}", text);
        }

        #[test]
        fn anything(text in nasty::soup(&["graph [", "node [ id", "edge [ source", "target", "]", "]", "label", "\"a\"", "\"", "weight", "directed"])) {
            let _ = parse(&text);
        }

        #[test]
        fn damaged(network in nasty::network(), damage in nasty::damage()) {
            let bytes = nasty::damaged(&written(&network, write), &damage);
            let _ = parse(&String::from_utf8_lossy(&bytes));
        }
    }
}
