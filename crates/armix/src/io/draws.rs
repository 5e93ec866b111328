//! Draws of partitions that any program made: a line or row for each draw, a label for each item.

use super::container::{self, LIMIT, read_all};
use super::npy::{Array, MAGIC};
use crate::error::{Error, Result};
use crate::partition::canonical;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Draws by ensemble, chain and iteration.
pub type Draws = Vec<Vec<Vec<Vec<u32>>>>;

/// Reads draws from a file: items' names (numbers if there are none) and the draws.
///
/// Text has a line for each draw, labels parted by commas, tabs or blanks, perhaps below a line of
/// names. Columns `ensemble`, `chain` and `iteration` say where a draw belongs, as in
/// `armix export draws`; with `chain` alone, chains are taken to be independent. A `.npy` array has the
/// dimensions (draw, item), (chain, draw, item) or (ensemble, chain, draw, item).
pub fn read_draws(path: &Path) -> Result<(Vec<String>, Draws)> {
    let mut opened = container::open(path)?;
    let bytes = read_all(&mut opened.reader, LIMIT).map_err(|error| error.in_file(path))?;
    let draws = if bytes.starts_with(MAGIC) {
        from_array(&bytes)
    } else {
        super::text(bytes).and_then(|text| from_text(&text))
    };
    draws.map_err(|error| error.in_file(path))
}

fn from_array(bytes: &[u8]) -> Result<(Vec<String>, Draws)> {
    let array = Array::parse(bytes)?;
    let shape: Vec<usize> = array.shape.iter().map(|&x| x as usize).collect();
    let (ensembles, chains, draws, n) = match shape[..] {
        [draws, n] => (1, 1, draws, n),
        // Other programs' chains know nothing of each other.
        [chains, draws, n] => (chains, 1, draws, n),
        [ensembles, chains, draws, n] => (ensembles, chains, draws, n),
        _ => {
            return Err(Error::new(format!(
                "this array has {} dimensions; draws have (draw, item), (chain, draw, item) or (ensemble, chain, draw, item)",
                shape.len()
            )));
        }
    };
    if array.is_fortran() {
        return Err(Error::new(
            "this array is in Fortran order: save it with numpy.save(file, numpy.ascontiguousarray(array))",
        ));
    }
    let mut known = HashMap::new();
    let mut row = |first: usize| -> Result<Vec<u32>> {
        known.clear();
        (first..first + n)
            .map(|at| {
                let value = array.value(at);
                if value.fract() != 0.0 || !value.is_finite() {
                    return Err(Error::new(format!(
                        "a label is {value}; labels are whole numbers"
                    )));
                }
                let next = known.len() as u32;
                Ok(*known.entry(value as i64).or_insert(next))
            })
            .collect()
    };
    let mut all = Vec::with_capacity(ensembles);
    for e in 0..ensembles {
        let mut ensemble = Vec::with_capacity(chains);
        for c in 0..chains {
            let first = (e * chains + c) * draws;
            let chain: Result<Vec<_>> = (first..first + draws).map(|d| row(d * n)).collect();
            ensemble.push(chain?);
        }
        all.push(ensemble);
    }
    check((numbers(n), all))
}

/// The columns that say where a draw belongs, and those that hold labels.
struct Columns {
    ensemble: Option<usize>,
    chain: Option<usize>,
    iteration: Option<usize>,
    items: Vec<usize>,
}

impl Columns {
    /// Of a first line that has names.
    fn named(header: &[String]) -> Self {
        let find = |name: &str| {
            header.iter().position(|h| h.trim_start_matches('.').eq_ignore_ascii_case(name))
        };
        let (ensemble, chain) = (find("ensemble"), find("chain"));
        let iteration = find("iteration").or_else(|| find("draw"));
        // R writes the numbers of rows into a first column without a name.
        let unnamed = header.first().filter(|first| first.is_empty()).map(|_| 0);
        let others = [ensemble, chain, iteration, unnamed];
        let items = (0..header.len()).filter(|&at| !others.contains(&Some(at))).collect();
        Columns { ensemble, chain, iteration, items }
    }

    /// Of a first line that is a draw.
    fn plain(count: usize) -> Self {
        Columns { ensemble: None, chain: None, iteration: None, items: (0..count).collect() }
    }

    /// The ensemble and chain of a draw, and its iteration, if these are told.
    fn place(&self, fields: &[String]) -> Result<((u64, u64), Option<f64>)> {
        let number = |column: Option<usize>, what: &str| match column {
            None => Ok(1.0),
            Some(column) => fields[column]
                .parse::<f64>()
                .map_err(|_| Error::new(format!("'{}' is no number of {what}", fields[column]))),
        };
        let chain = number(self.chain, "a chain")? as u64;
        let place = match self.ensemble {
            Some(_) => (number(self.ensemble, "an ensemble")? as u64, chain),
            None => (chain, 1), // other programs' chains are independent
        };
        let iteration = number(self.iteration, "an iteration")?;
        Ok((place, self.iteration.map(|_| iteration)))
    }
}

/// Texts that stand for nothing.
const NOTHING: [&str; 5] = ["", "NA", "NaN", "nan", "?"];

/// The labels of one draw. Numbers are compared as numbers: 1, 1.0 and 1e0 are one label.
fn labels(fields: &[String], items: &[usize]) -> Result<Vec<u32>> {
    let mut known: HashMap<String, u32> = HashMap::new();
    let mut label = |&item: &usize| {
        let field = &fields[item];
        if NOTHING.contains(&field.as_str()) {
            return Err(Error::new("a label is missing: every draw has a label for each item"));
        }
        let key = match field.parse::<f64>() {
            Ok(number) if number.fract() != 0.0 || !number.is_finite() => {
                return Err(Error::new(format!("the label {field} is no whole number")));
            }
            Ok(number) => format!("{number:.0}"),
            Err(_) => field.clone(),
        };
        let next = known.len() as u32;
        Ok(*known.entry(key).or_insert(next))
    };
    items.iter().map(&mut label).collect()
}

fn from_text(text: &str) -> Result<(Vec<String>, Draws)> {
    let mut lines = super::fields::data_lines(text).peekable();
    let Some(&(_, first)) = lines.peek() else {
        return Err(Error::new("this file has no draws: write a line of labels for each draw"));
    };
    let delimiter = ['\t', ',', ';'].into_iter().find(|d| first.contains(*d));
    let header = split(first, delimiter);
    // Missing labels are no names: they are refused below.
    let is_name =
        |field: &String| field.parse::<f64>().is_err() && !NOTHING[1..].contains(&field.as_str());
    let (columns, names) = match header.iter().any(is_name) {
        true => {
            lines.next();
            let columns = Columns::named(&header);
            let names = columns.items.iter().map(|&at| header[at].clone()).collect();
            (columns, names)
        }
        false => (Columns::plain(header.len()), numbers(header.len())),
    };
    type Chain = Vec<(Option<f64>, Vec<u32>)>;
    let mut chains: BTreeMap<(u64, u64), Chain> = BTreeMap::new();
    for (at, line) in lines {
        let fields = split(line, delimiter);
        if fields.len() != header.len() {
            return Err(Error::new(format!(
                "there are {} fields here and {} in the first line: every draw has a label for each item",
                fields.len(),
                header.len()
            ))
            .at_line(at));
        }
        let (place, iteration) = columns.place(&fields).map_err(|error| error.at_line(at))?;
        let labels = labels(&fields, &columns.items).map_err(|error| error.at_line(at))?;
        chains.entry(place).or_default().push((iteration, canonical(&labels)));
    }
    let mut ensembles: BTreeMap<u64, Vec<Vec<Vec<u32>>>> = BTreeMap::new();
    for ((ensemble, _), mut chain) in chains {
        // In the order of their iterations, if these are told; else as they stand.
        if columns.iteration.is_some() {
            chain.sort_by(|a, b| a.0.unwrap_or(0.0).total_cmp(&b.0.unwrap_or(0.0)));
        }
        let draws = chain.into_iter().map(|(_, labels)| labels).collect();
        ensembles.entry(ensemble).or_default().push(draws);
    }
    check((names, ensembles.into_values().collect()))
}

/// The fields of a line, which may be quoted.
fn split(line: &str, delimiter: Option<char>) -> Vec<String> {
    let Some(delimiter) = delimiter else {
        return line.split_whitespace().map(|field| field.trim_matches('"').to_string()).collect();
    };
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .delimiter(delimiter as u8)
        .trim(csv::Trim::All)
        .from_reader(line.as_bytes());
    let record = reader.records().next().and_then(std::result::Result::ok).unwrap_or_default();
    record.iter().map(str::to_string).collect()
}

fn check(found: (Vec<String>, Draws)) -> Result<(Vec<String>, Draws)> {
    if found.1.iter().flatten().flatten().next().is_none_or(Vec::is_empty) {
        return Err(Error::new("this file has no draws: write a line of labels for each draw"));
    }
    Ok(found)
}

fn numbers(n: usize) -> Vec<String> {
    (0..n).map(|i| i.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_with_and_without_names_and_places() {
        let (names, draws) = from_text("1 1 2\n7 8 7\n").unwrap();
        assert_eq!(names, ["0", "1", "2"]);
        assert_eq!(draws, [[[[0, 0, 1], [0, 1, 0]]]]);
        let (names, draws) = from_text("a,b\nx,x\nx,y\n").unwrap();
        assert_eq!((names.len(), draws), (2, vec![vec![vec![vec![0, 0], vec![0, 1]]]]));
        let text = "ensemble,chain,iteration,a,b\n1,1,1,0,0\n1,2,1,0,1\n2,1,1,0,0\n2,2,1,0,0\n";
        let (_, draws) = from_text(text).unwrap();
        assert_eq!(draws, [[[[0, 0]], [[0, 1]]], [[[0, 0]], [[0, 0]]]]);
        // Chains of other programs are independent: each is an ensemble.
        let (_, draws) = from_text(".chain,a,b\n1,0,0\n2,0,1\n").unwrap();
        assert_eq!(draws, [[[[0, 0]]], [[[0, 1]]]]);
    }

    #[test]
    fn mistakes_are_named() {
        let error = |text: &str| from_text(text).unwrap_err().to_string();
        assert!(error("").contains("no draws"));
        assert!(error("a,b\n").contains("no draws"));
        assert!(error("1,2\n1,2,3\n").contains("line 2: there are 3 fields here and 2"));
        assert!(error("chain,a,b\nx,1,1\n").contains("line 2: 'x' is no number"));
        assert!(error("1,2\n1,NA\n").contains("line 2: a label is missing"));
        assert!(error("NA,2\n").contains("line 1: a label is missing"));
        assert!(error("1,1.5\n").contains("line 1: the label 1.5 is no whole number"));
        // What numpy.savetxt and R write.
        assert_eq!(from_text("1.0 2.000e+00\n1 1\n").unwrap().1, [[[[0, 1], [0, 0]]]]);
        let (names, draws) = from_text("\"\",\"a,b\",\"c\"\n\"1\",5,5\n\"2\",5,6\n").unwrap();
        assert_eq!(
            (names, draws),
            (vec!["a,b".into(), "c".into()], vec![vec![vec![vec![0, 0], vec![0, 1]]]])
        );
        // Iterations in any order.
        let (_, draws) = from_text("iteration,a,b\n2,0,1\n1,0,0\n").unwrap();
        assert_eq!(draws, [[[[0, 0], [0, 1]]]]);
    }

    #[test]
    fn arrays_of_two_three_and_four_dimensions() {
        let array = |shape: &[usize]| {
            let mut bytes = super::super::npy::header("|u1", shape);
            bytes.extend([5, 5, 6, 5, 6, 6, 5, 6].iter().take(shape.iter().product()));
            from_array(&bytes)
        };
        let two = array(&[4, 2]).unwrap().1;
        assert_eq!(two, [[[[0, 0], [0, 1], [0, 0], [0, 1]]]]);
        assert_eq!(array(&[2, 2, 2]).unwrap().1, [[[[0, 0], [0, 1]]], [[[0, 0], [0, 1]]]]);
        assert_eq!(array(&[2, 2, 1, 2]).unwrap().1, [[[[0, 0]], [[0, 1]]], [[[0, 0]], [[0, 1]]]]);
        assert!(array(&[8]).unwrap_err().to_string().contains("dimensions"));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, rng_seed: prop::test_runner::RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn nothing_panics(text in "((chain|ensemble|x|-?[0-9]{1,3}|\"a\")[,\t ]){0,4}\n(([0-9]{1,2}|x)[,\t ]){0,4}\n", shape in prop::collection::vec(0usize..5, 0..5), cells in prop::collection::vec(any::<u8>(), 0..20)) {
            let _ = from_text(&text);
            let mut bytes = super::super::npy::header("|u1", &shape);
            bytes.extend(cells);
            let _ = from_array(&bytes);
        }
    }
}
