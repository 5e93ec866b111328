//! What the text formats share: their lines, numbers and entities, and what is said of bad ones.

use super::raw::check_count;
use crate::error::{Error, Result};
use std::collections::HashSet;

/// Room that is made for a list before it is known how long it will be, whatever a header promises.
pub(super) const RESERVE: u64 = 1 << 20;

/// The lines that carry data, with their numbers: blank lines and comments (# or %) do not.
pub(super) fn data_lines(text: &str) -> impl Iterator<Item = (usize, &str)> + Clone {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    (1..).zip(text.lines()).filter(|(_, line)| {
        let line = line.trim_start();
        !line.is_empty() && !line.starts_with(['#', '%'])
    })
}

/// A weight: any finite number.
pub(super) fn weight(field: &str) -> Result<f64> {
    match field.parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(x),
        Ok(_) => Err(Error::new(format!(
            "{field} is not finite; a weight is a finite number: correct or remove this edge"
        ))),
        Err(_) => Err(Error::new(format!("'{field}' is not a number; a weight is one, like 2.5"))),
    }
}

/// A number that a header promises.
pub(super) fn count(field: &str, what: &str) -> Result<u64> {
    if field.is_empty() || !field.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Error::new(format!("'{field}' is not a number of {what}: 0, 1, 2, …")));
    }
    let Ok(count) = field.parse() else {
        return Err(Error::new(format!(
            "the file promises {field} {what}, which is beyond all numbers"
        )));
    };
    check_count(count, what)?;
    Ok(count)
}

/// A vertex of n, numbered from `first`; the result is numbered from 0.
pub(super) fn vertex(field: &str, first: u64, n: u64) -> Result<u32> {
    let Ok(id) = field.parse::<u64>() else {
        return Err(Error::new(match field.parse::<f64>() {
            Ok(x) if x < 0.0 => format!("{field} is negative; vertices are numbered from {first}"),
            _ => format!("'{field}' is no vertex; vertices are numbered {first}, {}, …", first + 1),
        }));
    };
    match id.checked_sub(first).filter(|&v| v < n).and_then(|v| u32::try_from(v).ok()) {
        Some(vertex) => Ok(vertex),
        None if id < first => {
            Err(Error::new(format!("vertex {id} does not exist: they are numbered from {first}")))
        }
        None => Err(Error::new(format!(
            "vertex {id} does not exist: the file says that there are {n} vertices, numbered from {first}; correct that number or this line"
        ))),
    }
}

/// Refuses a number of vertices that the file does nothing to back up: their names take room.
pub(super) fn check_vertices(n: u64, edges: usize) -> Result<()> {
    check_count(n, "vertices")?;
    if n > RESERVE && n / 64 > edges as u64 {
        return Err(Error::new(format!(
            "the file promises {n} vertices but has only {edges} edges: correct the number of vertices, or leave out those without edges"
        )));
    }
    Ok(())
}

/// Refuses matrices that are not square.
pub(super) fn check_square(rows: u64, columns: u64) -> Result<()> {
    if rows != columns {
        return Err(Error::new(format!(
            "this matrix has {rows} rows and {columns} columns; the matrix of a network is square (that of a bipartite network need not be: save it as Matrix Market, general)"
        )));
    }
    Ok(())
}

/// The labels as names, unless two are equal: names tell vertices apart, so the ids then serve.
pub(super) fn unique_or(labels: Vec<String>, ids: impl FnOnce() -> Vec<String>) -> Vec<String> {
    if all_differ(&labels) { labels } else { ids() }
}

/// Whether no name occurs twice.
pub(super) fn all_differ(names: &[String]) -> bool {
    let mut seen = HashSet::with_capacity(names.len());
    names.iter().all(|name| seen.insert(name.as_str()))
}

/// Said when a format cannot express a network.
pub(super) fn unwritable(why: &str) -> std::io::Error {
    let message = format!("{why}, which this format cannot express: write GML instead");
    std::io::Error::new(std::io::ErrorKind::InvalidInput, message)
}

/// Replaces `&name;` wherever `resolve` knows the name, and leaves everything else as it is.
pub(super) fn unescape(text: &str, resolve: impl Fn(&str) -> Option<char>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        let from = &rest[at + 1..];
        // No entity is longer than this, so long texts without semicolons cost no time.
        let end = from.bytes().take(12).position(|b| b == b';');
        match end.and_then(|end| Some((resolve(&from[..end])?, end))) {
            Some((c, end)) => {
                out.push(c);
                rest = &from[end + 1..];
            }
            None => {
                out.push('&');
                rest = from;
            }
        }
    }
    out.push_str(rest);
    out
}

/// The character of `#34` or `#x22`.
pub(super) fn character(entity: &str) -> Option<char> {
    let number = entity.strip_prefix('#')?;
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => number.parse(),
    };
    char::from_u32(code.ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities() {
        let known = |e: &str| if e == "amp" { Some('&') } else { character(e) };
        assert_eq!(unescape("a&amp;b&#34;&#x22;", known), "a&b\"\"");
        assert_eq!(
            unescape("&amp&;&#;&#xzz;&#1114112;&#55296;&", known),
            "&amp&;&#;&#xzz;&#1114112;&#55296;&"
        );
        assert_eq!(unescape("&öööööööööööööö;", known), "&öööööööööööööö;");
    }

    #[test]
    fn vertices_and_counts() {
        assert_eq!(vertex("3", 1, 3), Ok(2));
        for (field, word) in [
            ("0", "from 1"),
            ("4", "3 vertices"),
            ("-1", "negative"),
            ("x", "'x'"),
            ("99999999999999999999", "no vertex"),
        ] {
            assert!(vertex(field, 1, 3).unwrap_err().to_string().contains(word), "{field}");
        }
        assert_eq!(count("7", "rows"), Ok(7));
        for field in ["1000000000000", "99999999999999999999999", "-1", "", "1.5"] {
            assert!(count(field, "rows").is_err(), "{field}");
        }
        assert!(check_vertices(1 << 27, 1000).is_err() && check_vertices(1 << 20, 0).is_ok());
        assert!(weight("nan").is_err() && weight("1e999").is_err() && weight("").is_err());
    }
}
