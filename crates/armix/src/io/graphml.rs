//! GraphML (`.graphml`): nodes and edges in XML, with data for names and weights.
//!
//! The format: U. Brandes et al. (2002), GraphML progress report.

use super::fields::{unique_or, unwritable, weight};
use super::ids::Names;
use super::raw::{Lines, RawNetwork};
use crate::error::{Error, Result};
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion, escape};
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};

/// What a key of the file stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Weight,
    Label,
    Name,
}

/// The element that data belong to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Key,
    Node,
    Edge,
}

#[derive(Default)]
struct Node {
    id: u32,
    label: Option<String>,
    name: Option<String>,
}

struct Edge {
    ends: (u32, u32),
    directed: Option<bool>,
    weight: Option<f64>,
    line: usize,
}

#[derive(Default)]
struct Document {
    keys: HashMap<String, Role>,
    default_weight: Option<f64>,
    /// The default direction, once the graph has begun.
    directed: Option<bool>,
    /// Ids as they occur, in nodes or in edges, and the node of each.
    ids: Names,
    node_of: Vec<Option<u32>>,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// With its depth.
    owner: Option<(Owner, usize)>,
    /// Text that is being read, with its role, if that is known, and the depth of its element.
    text: Option<(Option<Role>, usize, String)>,
    key: Option<Role>,
    depth: usize,
}

/// Reads the graph. Names are the nodes' data called label or name, where there are any, or the ids
/// if two of those are equal. Edges of either kind may be mixed: those without direction then count
/// in both. External entities are not resolved.
pub(super) fn parse(text: &str) -> Result<RawNetwork> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    let mut document = Document::default();
    let (mut at, mut line) = (0, 1);
    loop {
        let start = (reader.buffer_position() as usize).min(text.len());
        line += text.as_bytes()[at..start.max(at)].iter().filter(|&&b| b == b'\n').count();
        at = start.max(at);
        let event = reader
            .read_event()
            .map_err(|error| Error::new(format!("this is not valid XML: {error}")).at_line(line))?;
        let done = matches!(event, Event::Eof);
        document.event(event, line).map_err(|error| error.at_line(line))?;
        if done {
            return document.finish();
        }
    }
}

impl Document {
    fn event(&mut self, event: Event, line: usize) -> Result<()> {
        match event {
            Event::Start(element) => {
                self.depth += 1;
                self.start(&element, line)?;
            }
            Event::End(_) => {
                if self.text.as_ref().is_some_and(|&(_, depth, _)| depth == self.depth) {
                    self.end_of_text()?;
                }
                self.owner = self.owner.filter(|&(_, depth)| depth != self.depth);
                self.depth = self.depth.saturating_sub(1);
            }
            Event::Text(text) => self.push(&text.xml10_content()),
            Event::CData(text) => self.push(&text.xml10_content()),
            Event::GeneralRef(entity) => {
                if let Some(c) = entity.resolve_char_ref().map_err(bad_xml)? {
                    self.push(c.encode_utf8(&mut [0; 4]));
                } else if let Some(text) = escape::resolve_xml_entity(&entity) {
                    self.push(text);
                } else if self
                    .text
                    .as_ref()
                    .is_some_and(|(role, depth, _)| role.is_some() && *depth == self.depth)
                {
                    return Err(Error::new(format!(
                        "the entity &{}; is not known: write the character itself",
                        entity.as_ref()
                    )));
                }
            }
            Event::Eof if self.depth > 0 => {
                return Err(Error::new("the file ends inside an element: it is not complete"));
            }
            _ => {}
        }
        Ok(())
    }

    /// Text counts only directly inside the element that is read.
    fn push(&mut self, more: &str) {
        if let Some((_, depth, text)) = &mut self.text
            && *depth == self.depth
        {
            text.push_str(more);
        }
    }

    fn start(&mut self, element: &BytesStart, line: usize) -> Result<()> {
        if self.text.is_some() {
            return Ok(()); // what data contain beside text is for others
        }
        let local = element.local_name();
        let name = local.as_ref();
        if matches!(name, "node" | "edge") && (self.directed.is_none() || self.owner.is_some()) {
            return Err(Error::new(format!("a {name} must stand in the graph, not here: move it")));
        }
        match name {
            "graph" if self.directed.is_some() => {
                return Err(Error::new(
                    "there is a second or a nested graph: only files with one graph can be read",
                ));
            }
            "graph" => {
                self.directed = Some(match attribute(element, "edgedefault")?.as_deref() {
                    Some("directed") => true,
                    Some("undirected") | None => false,
                    Some(other) => {
                        return Err(Error::new(format!(
                            "edgedefault must be directed or undirected, not '{other}'"
                        )));
                    }
                });
            }
            "hyperedge" => {
                return Err(Error::new("hyperedges cannot be read: an edge links two nodes"));
            }
            "key" => {
                self.owner = Some((Owner::Key, self.depth));
                self.key = role(element)?;
                if let (Some(role), Some(id)) = (self.key, attribute(element, "id")?) {
                    self.keys.insert(id, role);
                }
            }
            "node" => {
                self.owner = Some((Owner::Node, self.depth));
                let id = required(element, "id")?;
                let number = self.id(&id)?;
                let node = self.nodes.len() as u32;
                if self.node_of[number as usize].replace(node).is_some() {
                    return Err(Error::new(format!(
                        "there is a second node with the id '{id}': ids must differ"
                    )));
                }
                self.nodes.push(Node { id: number, ..Node::default() });
            }
            "edge" => {
                self.owner = Some((Owner::Edge, self.depth));
                let (source, target) = (required(element, "source")?, required(element, "target")?);
                let ends = (self.id(&source)?, self.id(&target)?);
                let directed = match attribute(element, "directed")?.as_deref() {
                    Some("true" | "1") => Some(true),
                    Some("false" | "0") => Some(false),
                    Some(other) => {
                        return Err(Error::new(format!(
                            "directed must be true or false, not '{other}'"
                        )));
                    }
                    None => None,
                };
                self.edges.push(Edge { ends, directed, weight: None, line });
            }
            "data" => {
                let role = self.keys.get(&required(element, "key")?).copied();
                self.text = Some((role, self.depth, String::new()));
            }
            "default" => self.text = Some((self.key, self.depth, String::new())),
            _ => {}
        }
        Ok(())
    }

    fn id(&mut self, id: &str) -> Result<u32> {
        let number = self.ids.number(id)?;
        self.node_of.resize(self.ids.len(), None);
        Ok(number)
    }

    /// Data count directly inside their owner, not inside a port.
    fn end_of_text(&mut self) -> Result<()> {
        let (Some((Some(role), depth, text)), Some((owner, above))) =
            (self.text.take(), self.owner)
        else {
            return Ok(());
        };
        let (node, edge) = (self.nodes.last_mut(), self.edges.last_mut());
        match (owner, role, node, edge) {
            _ if depth != above + 1 => {}
            (Owner::Key, Role::Weight, ..) => self.default_weight = Some(weight(text.trim())?),
            (Owner::Edge, Role::Weight, _, Some(edge)) => edge.weight = Some(weight(text.trim())?),
            (Owner::Node, Role::Label, Some(node), _) => node.label = Some(text),
            (Owner::Node, Role::Name, Some(node), _) => node.name = Some(text),
            _ => {}
        }
        Ok(())
    }

    fn finish(self) -> Result<RawNetwork> {
        let Some(default) = self.directed else {
            return Err(Error::new("there is no graph in this file: is this GraphML?"));
        };
        let ids = self.ids.into_vec();
        let directed = self.edges.iter().any(|edge| edge.directed.unwrap_or(default))
            || (default && self.edges.is_empty());
        let weighted = self.edges.iter().any(|edge| edge.weight.is_some());
        let (mut edges, mut weights, mut lines) = (Vec::new(), Vec::new(), Lines::default());
        for edge in &self.edges {
            let vertex = |id: u32| {
                self.node_of[id as usize].ok_or_else(|| {
                    let id = &ids[id as usize];
                    Error::new(format!("this edge links node '{id}', which does not exist: add the node, or remove the edge"))
                        .at_line(edge.line)
                })
            };
            let (u, v) = (vertex(edge.ends.0)?, vertex(edge.ends.1)?);
            let Some(value) = edge.weight.or(self.default_weight).or((!weighted).then_some(1.0))
            else {
                return Err(Error::new(
                    "this edge has no weight, unlike others: either every edge has one or none",
                )
                .at_line(edge.line));
            };
            let both = directed && !edge.directed.unwrap_or(default) && u != v;
            for end in [(u, v), (v, u)].into_iter().take(1 + usize::from(both)) {
                edges.push(end);
                weights.push(value);
                lines.push(edge.line);
            }
        }
        let id = |node: &Node| ids[node.id as usize].clone();
        let own_ids: Vec<String> = self.nodes.iter().map(id).collect();
        let names = (self.nodes.into_iter())
            .map(|node| node.label.or(node.name).unwrap_or_else(|| ids[node.id as usize].clone()))
            .collect();
        let weighted = weighted || (self.default_weight.is_some() && !edges.is_empty());
        let weights = weighted.then_some(weights);
        Ok(RawNetwork {
            names: unique_or(names, || own_ids),
            edges,
            weights,
            directed,
            both_ways: !directed,
            lines,
            ..RawNetwork::default()
        })
    }
}

/// What a key stands for, if it is one that is read.
fn role(key: &BytesStart) -> Result<Option<Role>> {
    let name = attribute(key, "attr.name")?.unwrap_or_default().to_ascii_lowercase();
    let domain = attribute(key, "for")?.unwrap_or_else(|| "all".to_string());
    Ok(match (name.as_str(), domain.as_str()) {
        ("weight", "edge" | "all") => Some(Role::Weight),
        ("label", "node" | "all") => Some(Role::Label),
        ("name", "node" | "all") => Some(Role::Name),
        _ => None,
    })
}

fn attribute(element: &BytesStart, name: &str) -> Result<Option<String>> {
    let attribute = element.try_get_attribute(name).map_err(bad_xml)?;
    let value = attribute
        .map(|attribute| attribute.normalized_value(XmlVersion::Implicit1_0).map(Cow::into_owned));
    value.transpose().map_err(bad_xml)
}

fn required(element: &BytesStart, name: &str) -> Result<String> {
    attribute(element, name)?.ok_or_else(|| {
        let local = element.local_name();
        Error::new(format!("this {} has no {name}: add it", local.as_ref()))
    })
}

fn bad_xml(error: impl std::fmt::Display) -> Error {
    Error::new(format!("this is not valid XML: {error}"))
}

/// Writes everything that a network has; names are data called name, and the ids are n0, n1, ….
pub(super) fn write(network: &RawNetwork, out: &mut dyn Write) -> io::Result<()> {
    let default = if network.directed { "directed" } else { "undirected" };
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(out, r#"<graphml xmlns="http://graphml.graphdrawing.org/xmlns">"#)?;
    writeln!(out, r#"  <key id="name" for="node" attr.name="name" attr.type="string"/>"#)?;
    if network.weights.is_some() {
        writeln!(out, r#"  <key id="weight" for="edge" attr.name="weight" attr.type="double"/>"#)?;
    }
    writeln!(out, r#"  <graph edgedefault="{default}">"#)?;
    for (v, name) in network.names.iter().enumerate() {
        let forbidden = |c: char| {
            matches!(c, '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}') && !"\t\n\r".contains(c)
        };
        if name.contains(forbidden) {
            return Err(unwritable("a name has a control character"));
        }
        let name = escape::partial_escape(name.as_str());
        writeln!(out, r#"    <node id="n{v}"><data key="name">{name}</data></node>"#)?;
    }
    for (e, (u, v)) in network.edges.iter().enumerate() {
        write!(out, r#"    <edge source="n{u}" target="n{v}""#)?;
        match &network.weights {
            Some(weights) => writeln!(out, r#"><data key="weight">{}</data></edge>"#, weights[e])?,
            None => writeln!(out, "/>")?,
        }
    }
    writeln!(out, "  </graph>\n</graphml>")
}

#[cfg(test)]
mod tests {
    use super::super::nasty::{self, refused, written};
    use super::*;
    use proptest::prelude::*;

    fn graph(inside: &str) -> Result<RawNetwork> {
        let keys =
            "<key id='w' for='edge' attr.name='weight'/><key id='l' for='node' attr.name='label'/>";
        parse(&format!(
            "<graphml>{keys}<graph edgedefault='undirected'>\n{inside}\n</graph></graphml>"
        ))
    }

    #[test]
    fn graphs() {
        let text = "<?xml version=\"1.0\"?>\r\n<!DOCTYPE graphml [<!ENTITY x SYSTEM \"file:///etc/passwd\">]>\r\n<g:graphml xmlns:g='u'><!-- <node/> -->\n<key id='k' for='edge' attr.name='Weight'><default>2</default></key><key id='n' for='node' attr.name='name'/><g:graph edgedefault='directed'><edge source='b&amp;' target='a'><data key='k'> 0.5 </data></edge><node id='a'><port name='p'><data key='n'>port</data></port><data key='n'>A&lt;&#66;<![CDATA[<&]]><y:x>no &x;<node/></y:x></data><data key='z'>q &x;</data></node><node id='b&amp;'/><edge source='a' target='a'/><edge directed='false' source='a' target='b&amp;'/></g:graph></g:graphml>";
        let network = parse(text).unwrap();
        assert_eq!(network.names, ["A<B<&", "b&"]);
        assert_eq!(network.edges, [(1, 0), (0, 0), (0, 1), (1, 0)]);
        assert_eq!((network.weights, network.directed), (Some(vec![0.5, 2.0, 2.0, 2.0]), true));
        let twins = graph("<node id='a'><data key='l'>x</data></node><node id='x'/>").unwrap();
        assert_eq!(twins.names, ["a", "x"]);
        assert!(!twins.directed && twins.weights.is_none());
    }

    #[test]
    fn refusals() {
        let two = "<node id='a'/><node id='b'/>";
        refused(graph("<node/>"), 2, "no id");
        refused(graph("<node id='a'/>\n<node id='a'/>"), 3, "second node");
        refused(graph("<node id='a'/>\n\n<edge source='a' target='c'/>"), 4, "'c'");
        refused(graph("<edge source='a'/>"), 2, "no target");
        refused(graph("<hyperedge/>"), 2, "hyperedges");
        refused(graph("<node id='a'><graph/></node>"), 2, "nested");
        refused(graph("<node id='a'><node id='b'/></node>"), 2, "move it");
        refused(graph("<node id='a'>\n<data key='l'>&x;</data></node>"), 3, "&x;");
        refused(graph("<node id='a'>\n</nod>"), 3, "XML");
        refused(graph("<node id='a' id='&x;'/><edge source='&x;' target='a'/>"), 2, "XML");
        refused(
            graph(&format!("{two}<edge source='a' target='b'>\n<data key='w'>x</data></edge>")),
            3,
            "not a number",
        );
        refused(
            graph(&format!(
                "{two}<edge source='a' target='b'><data key='w'>1</data></edge>\n<edge source='a' target='b'/>"
            )),
            3,
            "no weight",
        );
        refused(graph("<edge source='a' target='b' directed='x'/>"), 2, "true or false");
        refused(parse("<graphml>\n<graph edgedefault='x'/></graphml>"), 2, "edgedefault");
        refused(parse("<graphml>\n<graph>"), 2, "not complete");
        refused(parse("<graphml>\n<node id='a'/></graphml>"), 2, "in the graph");
        assert!(parse("").is_err() && parse("<a/>").is_err());
    }

    proptest! {
        #![proptest_config(nasty::config())]

        #[test]
        fn round_trip(network in nasty::network()) {
            let text = written(&network, write);
            prop_assert_eq!(parse(&text).unwrap(), network, "{}", text);
        }

        #[test]
        fn anything(text in nasty::soup(&["<graphml>", "<graph>", "<node id='a'>", "<node id='b'/>", "</node>", "<edge source='a' target='b'>", "</edge>", "</graph>", "</graphml>", "<data key='w'>", "</data>", "<key id='w' attr.name='weight'>", "</key>", "<default>", "</default>", "&amp;", "<![CDATA["])) {
            let _ = parse(&text);
        }

        #[test]
        fn damaged(network in nasty::network(), damage in nasty::damage()) {
            let bytes = nasty::damaged(&written(&network, write), &damage);
            let _ = parse(&String::from_utf8_lossy(&bytes));
        }
    }
}
