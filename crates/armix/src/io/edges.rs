//! Edge lists: two vertices a line, and a weight if every line has one.
//!
//! Fields are separated by tabs, semicolons or commas if the first line has one of these (tabs before semicolons before commas),
//! else by blanks; names with such characters stand in quotation marks. Lines that begin with `#` or `%` are comments. Two of them are understood:
//! `# nodes N` says how many vertices there are, and `# isolated NAME` names one without edges.
//! `# rows R cols C` says that the network is bipartite and that its two sides are numbered apart. If
//! the third column has words, they are kinds of edges.

use super::fields::{all_differ, check_vertices, count, data_lines, unwritable, weight};
use super::ids::{
    Field, Names, id, is_number, is_title, plain_id, quote, rank, separator, split, split_at, utf8,
};
use super::raw::{Lines, RawNetwork};
use crate::error::{Error, Result};
use std::io::{self, BufRead, Read, Write};

/// A longer line is no edge.
const MAX_LINE: u64 = 1 << 20;

/// Reads an edge list line by line. Vertices that are all numbers come in ascending order, names in
/// the order in which they occur.
pub(super) fn parse(input: &mut dyn BufRead) -> Result<RawNetwork> {
    let mut list = List::default();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let error = match Read::take(&mut *input, MAX_LINE).read_until(b'\n', &mut line) {
            Ok(0) => break,
            Ok(_) if line.len() as u64 == MAX_LINE => {
                Err(Error::new("this line is too long for an edge: is this an edge list?"))
            }
            Ok(_) => {
                let bom = if number == 1 { line.strip_prefix(b"\xef\xbb\xbf") } else { None };
                list.line(bom.unwrap_or(&line), number)
            }
            Err(error) => Err(Error::new(format!("cannot be read: {error}"))),
        };
        error.map_err(|error| error.at_line(number))?;
    }
    list.finish()
}

/// What has been read. Until a name occurs, edges and isolated vertices are kept by their ids.
#[derive(Default)]
struct List {
    edges: Vec<(u32, u32)>,
    lines: Lines,
    weights: Vec<f64>,
    isolated: Vec<u32>,
    names: Option<Names>,
    /// The words in the third column, if it has words.
    kinds: Option<Names>,
    /// The line of the first word in place of a weight.
    kinds_from: Option<usize>,
    /// Two, or three with weights.
    columns: Option<usize>,
    /// What parts the fields.
    separator: Option<u8>,
    /// Words on the first line: the next line tells whether they are titles of columns or an edge.
    first: Option<(Vec<u8>, usize)>,
    /// What the header says, and its line.
    nodes: Option<(u64, usize)>,
    /// Rows and columns of a bipartite network, and the line that says so.
    sides: Option<(u64, u64, usize)>,
    has_zero: bool,
    /// With the line on which it first occurs.
    largest: (u32, usize),
}

impl List {
    fn line(&mut self, text: &[u8], number: usize) -> Result<()> {
        let text = text.trim_ascii();
        match text.first() {
            None => return Ok(()),
            Some(b'#' | b'%') => return self.comment(text, number),
            Some(_) => {}
        }
        if self.columns.is_none() {
            self.separator = separator(text);
        }
        let (fields, columns) = split_at(text, self.separator)?;
        if !(2..=3).contains(&columns) {
            return Err(Error::new(format!(
                "this line has {columns} column{}; an edge list has two, the linked vertices, or three, with a weight (names with blanks stand in quotation marks, or tabs are between all columns)",
                if columns == 1 { "" } else { "s" }
            )));
        }
        let fields = &fields[..columns];
        let Some(expected) = self.columns else {
            self.columns = Some(columns);
            if fields.iter().all(|field| !field.quoted && !is_number(field.text)) {
                self.first = Some((text.to_vec(), number));
                return Ok(());
            }
            return self.edge(fields, number);
        };
        if expected != columns {
            return Err(Error::new(format!(
                "this line has {columns} columns, the lines before it {expected}: either every edge has a weight or none"
            )));
        }
        if self.first.is_some() {
            let ids =
                fields[..2].iter().all(|f| !f.quoted && f.text.iter().all(u8::is_ascii_digit));
            let weight = fields.get(2).is_some_and(|field| is_number(field.text));
            self.first_line(ids || weight)?;
        }
        self.edge(fields, number)
    }

    /// Takes the words of the first line for an edge, unless they are titles.
    fn first_line(&mut self, titles: bool) -> Result<()> {
        let Some((text, number)) = self.first.take() else { return Ok(()) };
        let (fields, columns) = split_at(&text, self.separator)?;
        if titles || fields[..2].iter().all(|field| is_title(field.text)) {
            return Ok(());
        }
        self.edge(&fields[..columns], number).map_err(|error| error.at_line(number))
    }

    fn edge(&mut self, fields: &[Field], number: usize) -> Result<()> {
        let ends = match (&self.names, plain_id(fields[0])?, plain_id(fields[1])?) {
            (None, Some(u), Some(v)) => (self.note(u, number), self.note(v, number)),
            _ => (self.name(fields[0])?, self.name(fields[1])?),
        };
        if let Some(field) = fields.get(2) {
            let text = utf8(field.text)?;
            if self.weights.is_empty() && weight(text).is_err() && text.parse::<f64>().is_err() {
                self.kinds = Some(Names::default());
                self.kinds_from = Some(number);
            }
            self.weights.push(match &mut self.kinds {
                Some(kinds) => f64::from(kinds.number(text)?),
                None => weight(text)?,
            });
        }
        self.edges.push(ends);
        self.lines.push(number);
        Ok(())
    }

    fn note(&mut self, id: u32, number: usize) -> u32 {
        self.has_zero |= id == 0;
        if id > self.largest.0 || self.largest.1 == 0 {
            self.largest = (id, number);
        }
        id
    }

    /// The number of a name. With the first name, all ids become names, as they occurred.
    fn name(&mut self, field: Field) -> Result<u32> {
        if self.names.is_none() {
            let mut names = Names::default();
            for (u, v) in &mut self.edges {
                *u = names.number(&u.to_string())?;
                *v = names.number(&v.to_string())?;
            }
            for id in std::mem::take(&mut self.isolated) {
                names.number(&id.to_string())?;
            }
            self.names = Some(names);
        }
        let names = self.names.get_or_insert_default();
        let text = utf8(field.text)?;
        if field.quoted && text.contains('"') {
            names.number(&text.replace("\"\"", "\""))
        } else {
            names.number(text)
        }
    }

    fn comment(&mut self, text: &[u8], number: usize) -> Result<()> {
        let Ok(text) = std::str::from_utf8(text) else { return Ok(()) };
        let is_gap = |c: char| c.is_ascii_whitespace() || ":=,#%".contains(c);
        let text = text.trim_start_matches(is_gap);
        let mut words = text.split(is_gap).filter(|word| !word.is_empty());
        let key = words.next().unwrap_or("");
        let value = words.next().filter(|word| word.parse::<f64>().is_ok());
        if key.eq_ignore_ascii_case("isolated") {
            // More than one word is prose.
            if let Ok((fields, 1)) = split(&text.as_bytes()[key.len()..]) {
                match (&self.names, plain_id(fields[0])?) {
                    (None, Some(id)) => {
                        self.note(id, number);
                        self.isolated.push(id);
                    }
                    _ => drop(self.name(fields[0])?),
                }
            }
        } else if let Some(value) = value {
            if key.eq_ignore_ascii_case("nodes") {
                self.nodes = Some((count(value, "vertices")?, number));
            } else if key.eq_ignore_ascii_case("rows") {
                let columns = words.nth(1).unwrap_or("");
                let sides = (count(value, "rows")?, count(columns, "columns")?, number);
                self.sides = Some(sides);
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<RawNetwork> {
        self.first_line(false)?;
        if let Some((rows, columns, line)) = self.sides {
            return self.two_sided(rows, columns, line);
        }
        let names = match (self.names.take(), self.nodes) {
            (None, None) => rank(&mut self.edges, &self.isolated)?,
            (None, Some((n, line))) => self.number(n, line)?,
            (Some(names), Some((n, line))) if n != names.len() as u64 => {
                return Err(Error::new(format!(
                    "the header says nodes {n}, but there are {} names: correct or remove the header (a line '# isolated NAME' names a vertex without edges)",
                    names.len()
                ))
                .at_line(line));
            }
            (Some(names), _) => names.into_vec(),
        };
        Ok(self.with_names(names))
    }

    fn with_names(self, names: Vec<String>) -> RawNetwork {
        RawNetwork {
            names,
            edges: self.edges,
            weights: (!self.weights.is_empty()).then_some(self.weights),
            kinds: self.kinds.map_or(Vec::new(), Names::into_vec),
            kinds_from: self.kinds_from,
            lines: self.lines,
            ..RawNetwork::default()
        }
    }

    /// Rows and columns are numbered apart, from 0, or from 1 if the last number occurs and 0 does not. A line says so.
    fn two_sided(mut self, rows: u64, columns: u64, line: usize) -> Result<RawNetwork> {
        let here = |error: Error| error.at_line(line);
        if self.names.is_some() {
            return Err(here(Error::new(
                "rows and columns have names: remove this line, and read the file with --bipartite",
            )));
        }
        check_vertices(rows.saturating_add(columns), self.edges.len()).map_err(here)?;
        let largest = |end: fn(&(u32, u32)) -> u32| {
            self.edges.iter().map(end).max().map_or(0, |id| u64::from(id) + 1)
        };
        let (row, column) = (largest(|e| e.0), largest(|e| e.1));
        let first = u32::from(!self.has_zero && (row > rows || column > columns));
        for (at, &(u, v)) in self.edges.iter().enumerate() {
            for (id, count, what) in [(u, rows, "row"), (v, columns, "column")] {
                if u64::from(id) >= count + u64::from(first) {
                    return Err(Error::new(format!(
                        "{what} {id} does not exist: line {line} says that there are {count}, which are numbered {first} to {}; correct that line or this one",
                        (count + u64::from(first)).saturating_sub(1)
                    ))
                    .at_line(self.lines.0.get(at).map_or(line, |&line| line as usize)));
                }
            }
        }
        let names = RawNetwork::two_sided(u64::from(first), rows, columns).map_err(here)?;
        for (u, v) in &mut self.edges {
            (*u, *v) = (*u - first, *v - first + rows as u32);
        }
        Ok(self.with_names(names).with_first_side(rows as usize))
    }

    /// With a header, vertices without edges exist; they are numbered from 0, or from 1 if N occurs
    /// and 0 does not. A header that counts the ids that occur, whatever they are, is right as well.
    fn number(&mut self, n: u64, line: usize) -> Result<Vec<String>> {
        let (largest, at) = self.largest;
        let first = u32::from(!self.has_zero && u64::from(largest) == n);
        if at == 0 || u64::from(largest) < n + u64::from(first) {
            check_vertices(n, self.edges.len()).map_err(|error| error.at_line(line))?;
            self.edges.iter_mut().for_each(|e| *e = (e.0 - first, e.1 - first));
            return RawNetwork::numbered(u64::from(first), n);
        }
        let names = rank(&mut self.edges, &self.isolated)?;
        if names.len() as u64 == n {
            return Ok(names);
        }
        Err(Error::new(format!(
            "vertex {largest} does not exist: the header says nodes {n}, so they are numbered 0 to {}; correct the header or the edge",
            n.saturating_sub(1)
        ))
        .at_line(at))
    }
}

/// The two vertices on each line that carries data, with its number, unless some line has other than two columns.
pub(super) fn pairs(text: &str) -> Option<Vec<(usize, [String; 2])>> {
    let mut separators = None;
    let pair = |(number, line): (usize, &str)| {
        let line = line.trim_ascii().as_bytes();
        let separator = *separators.get_or_insert_with(|| separator(line));
        let (fields, 2) = split_at(line, separator).ok()? else { return None };
        let name = |field: Field| {
            let text = utf8(field.text).ok()?;
            Some(if field.quoted { text.replace("\"\"", "\"") } else { text.to_string() })
        };
        Some((number, [name(fields[0])?, name(fields[1])?]))
    };
    data_lines(text).map(pair).collect()
}

/// The columns of a line that would be the first one of an edge list; from the fourth on they are empty.
pub(super) fn columns(line: &str) -> Option<Vec<String>> {
    let line = line.trim_ascii().as_bytes();
    let (fields, columns) = split_at(line, separator(line)).ok()?;
    let first = fields.iter().take(columns);
    let mut found: Vec<_> =
        first.map(|field| String::from_utf8_lossy(field.text).into_owned()).collect();
    found.resize(columns, String::new());
    Some(found)
}

/// Writes an edge list. Directions are lost, and of vertices that have names and not numbers the
/// order.
pub(super) fn write(network: &RawNetwork, out: &mut dyn Write) -> io::Result<()> {
    let (n, names) = (network.n(), &network.names);
    let ids: Vec<Option<u32>> = names.iter().map(|name| id(name.as_bytes())).collect();
    let counted = (0..).zip(&ids).all(|(v, &id)| id == Some(v));
    let ascending = ids.iter().all(Option::is_some) && ids.is_sorted_by(|a, b| a < b);
    if counted {
        writeln!(out, "# nodes {n} edges {}", network.edges.len())?;
    }
    if !ascending && !all_differ(names) {
        return Err(unwritable("two vertices have the same name"));
    }
    let name = |v: u32| {
        let name = &names[v as usize];
        if ascending { Ok(name.into()) } else { quote(name) }
    };
    let mut linked = vec![false; n];
    for (e, &(u, v)) in network.edges.iter().enumerate() {
        (linked[u as usize], linked[v as usize]) = (true, true);
        write!(out, "{}\t{}", name(u)?, name(v)?)?;
        match &network.weights {
            Some(weights) => writeln!(out, "\t{}", weights[e])?,
            None => writeln!(out)?,
        }
    }
    for v in (0..n as u32).filter(|&v| !counted && !linked[v as usize]) {
        writeln!(out, "# isolated {}", name(v)?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::nasty::{self, refused, written};
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<RawNetwork> {
        parse(&mut text.as_bytes())
    }

    #[track_caller]
    fn expect(text: &str, names: &[&str], edges: &[(u32, u32)], weights: Option<&[f64]>) {
        let network = read(text).unwrap();
        assert_eq!(network.names, names, "{text}");
        assert_eq!(network.edges, edges, "{text}");
        assert_eq!(network.weights.as_deref(), weights, "{text}");
    }

    #[test]
    fn numbers_and_names() {
        expect("\u{feff}# hi\r\n5 3\r\n\r\n3,9\r\n\n", &["3", "5", "9"], &[(1, 0), (0, 2)], None);
        expect("1\t2\t0.5\n2;1;-3e2", &["1", "2"], &[(0, 1), (1, 0)], Some(&[0.5, -300.0]));
        expect("7 7\n7 bob\n01 7", &["7", "bob", "01"], &[(0, 0), (0, 1), (2, 0)], None);
        expect("8 bob\n", &["8", "bob"], &[(0, 1)], None);
        expect(
            "\"a b\" \"\"\"\"\n\"\" 4294967296",
            &["a b", "\"", "", "4294967296"],
            &[(0, 1), (2, 3)],
            None,
        );
        expect("0 4294967295\n", &["0", "4294967295"], &[(0, 1)], None);
        expect("", &[], &[], None);
    }

    #[test]
    fn comments_that_are_understood() {
        expect("% Nodes: 3\n0 1\n", &["0", "1", "2"], &[(0, 1)], None);
        expect("3 1\n#nodes=3 edges 1", &["1", "2", "3"], &[(2, 0)], None);
        expect("# Nodes: 2 Edges: 1\n100\t7", &["7", "100"], &[(1, 0)], None);
        expect(
            "# nodes of the network\n# isolated nodes are left out\n0 1",
            &["0", "1"],
            &[(0, 1)],
            None,
        );
        expect("# isolated 5\n9 2\n# isolated \"a b\"", &["9", "2", "5", "a b"], &[(0, 1)], None);
        expect("# isolated 5\n9 2\n", &["2", "5", "9"], &[(2, 0)], None);
        expect("# nodes 4", &["0", "1", "2", "3"], &[], None);
    }

    #[test]
    fn two_sides_that_are_numbered_apart() {
        let network = read("# women events\n# rows 2 cols 3 edges 2\n0 0\n1 2\n").unwrap();
        assert_eq!(network.names, ["r0", "r1", "c0", "c1", "c2"]);
        assert_eq!(network.edges, [(0, 2), (1, 4)]);
        assert_eq!(network.sides, Some(vec![false, false, true, true, true]));
        let from_one = read("# rows 2 cols 3\n1 1\n2 3\n").unwrap();
        assert_eq!((from_one.edges, &*from_one.names[0]), (vec![(0, 2), (1, 4)], "r1"));
    }

    #[test]
    fn words_are_kinds_of_edges() {
        let network = read("who whom how\nann bob likes\nbob ann hates\nann eve likes\n").unwrap();
        assert_eq!(network.names, ["who", "whom", "ann", "bob", "eve"]);
        assert_eq!(network.kinds, ["how", "likes", "hates"]);
        let network = read("source target kind\nann bob likes\nbob ann hates\n").unwrap();
        assert_eq!((network.weights, network.kinds.len()), (Some(vec![0.0, 1.0]), 2));
    }

    #[test]
    fn names_with_blanks_and_commas() {
        let names = ["Ann Lee", "Bob", "Cid"];
        expect("Ann Lee\tBob\nBob\tCid\n", &names, &[(0, 1), (1, 2)], None);
        expect("source,target\nAnn Lee,Bob\nCid,Ann Lee", &names[..], &[(0, 1), (2, 0)], None);
        expect("Ann Lee,Bob May\n", &["Ann Lee", "Bob May"], &[(0, 1)], None);
        expect("Lee, Ann\tBob\t2\n", &["Lee, Ann", "Bob"], &[(0, 1)], Some(&[2.0]));
        expect("\"Lee, Ann\",Bob May\n", &["Lee, Ann", "Bob May"], &[(0, 1)], None);
        expect("source target\nann bob\n", &["ann", "bob"], &[(0, 1)], None);
        expect("1 2\t0.5\n3\t4\t2\n", &["1", "2", "3", "4"], &[(0, 1), (2, 3)], Some(&[0.5, 2.0]));
        refused(read("Ann Lee\tBob\nBob\tCid\t2\n"), 2, "3 columns, the lines before it 2");
        refused(read("Ann Lee Bob May\n"), 1, "tabs");
    }

    #[test]
    fn titles() {
        expect("source target\n1 2", &["1", "2"], &[(0, 1)], None);
        expect("u,v,w\na,b,3", &["a", "b"], &[(0, 1)], Some(&[3.0]));
        expect("Source;Target\nann;bob", &["ann", "bob"], &[(0, 1)], None);
        expect("ann bob\nbob eve", &["ann", "bob", "eve"], &[(0, 1), (1, 2)], None);
        expect("ann bob", &["ann", "bob"], &[(0, 1)], None);
        expect("from to\n", &[], &[], None);
    }

    #[test]
    fn refusals() {
        refused(read("1 2\n-1 2"), 2, "negative");
        refused(read("1 2\n\n3"), 3, "1 column;");
        refused(read("1 2 3 4"), 1, "4 columns");
        refused(read(",,"), 1, "0 columns");
        refused(read("1 2 3\n1 2"), 2, "either every edge");
        refused(read("1 2 3\n1 2 x"), 2, "not a number");
        refused(read("1 2 nan"), 1, "finite");
        refused(read("# nodes 2\n0 1\n0 2\n"), 3, "vertex 2 does not exist");
        refused(read("# nodes 0\n0 0"), 2, "vertex 0");
        refused(read("# nodes 1000000000000"), 1, "promises");
        refused(read("\n# nodes 99999999999999999999999"), 2, "promises");
        refused(read("# nodes 200000000\n1 2"), 1, "only 1 edges");
        refused(read("# nodes 3\na b"), 1, "2 names");
        refused(read("# rows 2 cols 1 edges 1\n0 1"), 2, "column 1 does not exist: line 1");
        refused(read("# rows 3 cols 3\n0 0\n0 1\n0 7\n0 9\n"), 4, "column 7 does not exist");
        refused(read("\n# rows 1 cols 3\n0 0\n\n1 1\n"), 5, "row 1 does not exist: line 2");
        refused(read("# rows 2 cols\n0 1"), 1, "columns");
        refused(read("# rows 2 cols 2\na b"), 1, "--bipartite");
        refused(read("1 2\n\"a b"), 2, "does not end");
        refused(read("\"a\"b c"), 1, "does not end");
        refused(parse(&mut &b"1 2\n\xff 1"[..]), 2, "UTF-8");
        refused(read(&"1".repeat(1 << 21)), 1, "too long");
    }

    proptest! {
        #![proptest_config(nasty::config())]

        /// By names: the order of named vertices is lost.
        #[test]
        fn round_trip(network in nasty::network()) {
            let text = written(&network, write);
            let read = read(&text).unwrap();
            let named = |network: &RawNetwork| -> Vec<(String, String)> {
                let name = |v: u32| network.names[v as usize].clone();
                network.edges.iter().map(|&(u, v)| (name(u), name(v))).collect()
            };
            prop_assert_eq!(named(&read), named(&network), "{}", text);
            prop_assert_eq!(&read.weights, &network.weights);
            let sorted = |network: &RawNetwork| {
                let mut names = network.names.clone();
                names.sort();
                names
            };
            prop_assert_eq!(sorted(&read), sorted(&network), "{}", text);
            if text.starts_with("# nodes") {
                prop_assert_eq!(&read.names, &network.names);
            }
        }

        #[test]
        fn anything(text in nasty::soup(&["# nodes", "# isolated", "%", "a", "\"b c\"", "\"", "source target"])) {
            let _ = read(&text);
        }

        #[test]
        fn damaged(network in nasty::network(), damage in nasty::damage()) {
            let _ = parse(&mut &nasty::damaged(&written(&network, write), &damage)[..]);
        }
    }
}
