//! Label files: one label a line in input order, or an item and its label on each line.

use super::is_comment;
use crate::constraints::Index;
use crate::error::{Error, Result};
use std::collections::HashMap;

/// Reads one label for each item. A label is any text; equal texts share a block.
///
/// ```
/// let names = ["a".to_string(), "b".to_string(), "c".to_string()];
/// let labels = armix::io::parse_labels("red\nblue\nred\n", &names).unwrap();
/// assert_eq!(labels, [0, 1, 0]);
/// let labels = armix::io::parse_labels("c\tred\nb\tblue\na\tred\n", &names).unwrap();
/// assert_eq!(labels, [0, 1, 0]);
/// ```
pub fn parse_labels(text: &str, names: &[String]) -> Result<Vec<u32>> {
    let lines: Vec<(usize, &str)> = (text.lines().enumerate())
        .map(|(at, line)| (at + 1, line.trim_end_matches(['\r', ' '])))
        .filter(|(_, line)| !is_comment(line))
        .collect();
    // What `armix export labels` and `armix summary --labels` write.
    if let Some(&(_, head)) = lines.first()
        && ["item,label", "item,label,certainty"].contains(&head)
        && !names.iter().any(|name| name == "item")
    {
        return from_csv(text, names);
    }
    let mut known: HashMap<&str, u32> = HashMap::new();
    let mut number = |label| {
        let next = known.len() as u32;
        *known.entry(label).or_insert(next)
    };
    let at_tab = |line: &str| line.find('\t').or_else(|| line.find(','));
    // Blanks part item and label only if what stands before them is an item on every line.
    let index: HashMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
    let at_blank = |line: &str| line.find(' ').filter(|&at| index.contains_key(&line[..at]));
    let blanks = lines.iter().all(|(_, line)| at_blank(line).is_some());
    let split = |line: &str| {
        let at = if blanks { at_blank(line) } else { at_tab(line) };
        at.map(|at| (line[..at].to_string(), at + 1))
    };
    // A tab always parts item and label, so that either every line has one or none.
    let tabs = lines.iter().any(|(_, line)| line.contains('\t'));
    if let Some((at, _)) = lines.iter().find(|(_, line)| tabs && !line.contains('\t')) {
        let message = "this line has no tab, others have: write an item, a tab and its label on every line, or labels only";
        return Err(Error::new(message).at_line(*at));
    }
    if lines.is_empty() || !lines.iter().all(|(_, line)| split(line).is_some()) {
        if lines.len() != names.len() {
            return Err(Error::new(format!(
                "there are {} labels for {} items: there must be one line for each item, in input order",
                lines.len(),
                names.len()
            )));
        }
        return Ok(lines.iter().map(|(_, line)| number(line.trim())).collect());
    }
    let mut labels = vec![None; names.len()];
    for (at, line) in lines {
        let Some((item, rest)) = split(line) else {
            continue;
        };
        let Some(&item) = index.get(item.trim()) else {
            return Err(
                Error::new(format!("there is no item '{}' in the data", item.trim())).at_line(at)
            );
        };
        if labels[item].replace(number(line[rest..].trim())).is_some() {
            return Err(
                Error::new(format!("item '{}' has a label already", names[item])).at_line(at)
            );
        }
    }
    complete(labels, names)
}

/// A first line that is left out.
const HEADER: [&str; 2] = ["item", "label"];

/// Reads items whose groups are known: an item and its group on each line, with a tab, a comma or a blank
/// between them. A first line `item,label` is left out.
///
/// ```
/// let known = armix::io::parse_known("anna\tlibrarians\nbert\tpirates\n").unwrap();
/// assert_eq!(known[1], ("bert".to_string(), "pirates".to_string()));
/// ```
pub fn parse_known(text: &str) -> Result<Vec<(String, String)>> {
    let mut known: Vec<(String, String)> = Vec::new();
    let mut seen = HashMap::new();
    for (at, line) in lists(text).filter(|(_, line)| line != &HEADER) {
        let wrong = |message: String| Err(Error::new(message).at_line(at));
        let (item, group) = match line[..] {
            [item, group] if !item.is_empty() && !group.is_empty() => (item, group),
            _ => return wrong("write an item, a tab and its group on each line".into()),
        };
        if seen.insert(item, group).is_some_and(|before| before != group) {
            return wrong(format!("item '{item}' has two groups: give it one"));
        }
        known.push((item.to_string(), group.to_string()));
    }
    Ok(known)
}

/// Reads items that belong together: on each line two or more, with tabs, commas or blanks between them.
///
/// ```
/// let together = armix::io::parse_together("a,b,c\nd,e\n").unwrap();
/// assert_eq!(together[1], ["d", "e"]);
/// ```
pub fn parse_together(text: &str) -> Result<Vec<Vec<String>>> {
    let list = |(at, line): (usize, Vec<&str>)| match line.len() {
        0 | 1 => {
            Err(Error::new("write two items or more on each line, with tabs between them")
                .at_line(at))
        }
        _ => Ok(line.into_iter().map(str::to_string).collect()),
    };
    lists(text).map(list).collect()
}

/// Fails at the first line of a file for [`parse_known`] whose item is not one of these, or the name of several.
pub fn check_known(text: &str, names: &[String]) -> Result<()> {
    check_items(names, lists(text).filter(|(_, line)| line != &HEADER), 1)
}

/// Fails at the first line of a file for [`parse_together`] with an item that is not one of these, or the name of several.
pub fn check_together(text: &str, names: &[String]) -> Result<()> {
    check_items(names, lists(text), usize::MAX)
}

/// Looks for so many words of each line, each of which must be the name of one item.
fn check_items<'a>(
    names: &[String],
    lines: impl Iterator<Item = (usize, Vec<&'a str>)>,
    words: usize,
) -> Result<()> {
    let index = Index::new(names);
    for (at, line) in lines {
        for item in line.into_iter().take(words) {
            index.find(item).map_err(|error| error.at_line(at))?;
        }
    }
    Ok(())
}

/// The words of each line: parted by tabs if it has any, else by commas, else by blanks.
fn lists(text: &str) -> impl Iterator<Item = (usize, Vec<&str>)> {
    // Some editors begin a file with an invisible byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.lines().zip(1..).filter(|(line, _)| !is_comment(line));
    lines.map(|(line, at)| {
        let between = ['\t', ',', ' '].into_iter().find(|&c| line.trim().contains(c));
        (at, line.trim().split(between.unwrap_or('\t')).map(str::trim).collect())
    })
}

/// Items and labels below a line of names.
fn from_csv(text: &str, names: &[String]) -> Result<Vec<u32>> {
    let index: HashMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
    let mut known: HashMap<String, u32> = HashMap::new();
    let mut labels = vec![None; names.len()];
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
    for (row, record) in reader.records().enumerate() {
        let record = record.map_err(|error| Error::new(format!("this is no CSV: {error}")))?;
        let at = record.position().map_or(row + 2, |place| place.line() as usize);
        let (item, label) = (record.get(0).unwrap_or(""), record.get(1).unwrap_or(""));
        let Some(&item) = index.get(item) else {
            return Err(Error::new(format!("there is no item '{item}' in the data")).at_line(at));
        };
        let next = known.len() as u32;
        labels[item] = Some(*known.entry(label.to_string()).or_insert(next));
    }
    complete(labels, names)
}

/// One label for each item.
fn complete(labels: Vec<Option<u32>>, names: &[String]) -> Result<Vec<u32>> {
    let missing = labels.iter().position(Option::is_none);
    match missing {
        Some(item) => {
            Err(Error::new(format!("item '{}' has no label: every item needs one", names[item])))
        }
        None => Ok(crate::partition::canonical(&labels.into_iter().flatten().collect::<Vec<_>>())),
    }
}
