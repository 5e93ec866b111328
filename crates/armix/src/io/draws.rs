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

/// The columns that say where a draw belongs.
#[derive(Default)]
struct Places {
    ensemble: Option<usize>,
    chain: Option<usize>,
    iteration: Option<usize>,
}

fn from_text(text: &str) -> Result<(Vec<String>, Draws)> {
    let mut lines = super::fields::data_lines(text).peekable();
    let Some(&(_, first)) = lines.peek() else {
        return Err(Error::new("this file has no draws: write a line of labels for each draw"));
    };
    let delimiter = ['\t', ',', ';'].into_iter().find(|d| first.contains(*d));
    let split = |line: &str| -> Vec<String> {
        let clean = |field: &str| field.trim().trim_matches('"').to_string();
        match delimiter {
            Some(delimiter) => line.split(delimiter).map(clean).collect(),
            None => line.split_whitespace().map(clean).collect(),
        }
    };
    let header = split(first);
    let named = header.iter().any(|field| field.parse::<i64>().is_err());
    let mut places = Places::default();
    if named {
        lines.next();
        let find = |name: &str| {
            header.iter().position(|h| h.trim_start_matches('.').eq_ignore_ascii_case(name))
        };
        places = Places {
            ensemble: find("ensemble"),
            chain: find("chain"),
            iteration: find("iteration").or_else(|| find("draw")),
        };
    }
    let skipped = [places.ensemble, places.chain, places.iteration];
    let is_item = |at: &usize| !skipped.contains(&Some(*at));
    let items: Vec<usize> = (0..header.len()).filter(is_item).collect();
    let names = match named {
        true => items.iter().map(|&at| header[at].clone()).collect(),
        false => numbers(items.len()),
    };
    let mut chains: BTreeMap<(u64, u64), Vec<Vec<u32>>> = BTreeMap::new();
    for (at, line) in lines {
        let fields = split(line);
        if fields.len() != header.len() {
            return Err(Error::new(format!(
                "there are {} fields here and {} in the first line: every draw has a label for each item",
                fields.len(),
                header.len()
            ))
            .at_line(at));
        }
        let number = |column: Option<usize>| match column {
            None => Ok(1),
            Some(column) => fields[column].parse::<u64>().map_err(|_| {
                let message = format!("'{}' is no number of an ensemble or chain", fields[column]);
                Error::new(message).at_line(at)
            }),
        };
        let mut known: HashMap<&str, u32> = HashMap::new();
        let labels: Vec<u32> = (items.iter())
            .map(|&item| {
                let next = known.len() as u32;
                *known.entry(&fields[item]).or_insert(next)
            })
            .collect();
        let place = match places.ensemble {
            Some(_) => (number(places.ensemble)?, number(places.chain)?),
            None => (number(places.chain)?, 1),
        };
        chains.entry(place).or_default().push(canonical(&labels));
    }
    let mut ensembles: BTreeMap<u64, Vec<Vec<Vec<u32>>>> = BTreeMap::new();
    for ((ensemble, _), chain) in chains {
        ensembles.entry(ensemble).or_default().push(chain);
    }
    check((names, ensembles.into_values().collect()))
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
