//! Vertices as edge lists write them: ids that are ranked, and names that are numbered as they occur.

use super::fields::unwritable;
use super::raw::check_count;
use crate::error::{Error, Result};
use std::borrow::Cow;
use std::collections::HashMap;

/// Longer names are not written, so that lines stay within what is read.
const MAX_NAME: usize = 1 << 17;

/// Names with their numbers. Short names, the usual ones, lie in their table: that saves a trip to
/// memory whenever one is looked up.
#[derive(Default)]
pub(super) struct Names {
    short: HashMap<u128, u32>,
    long: HashMap<String, u32>,
}

impl Names {
    pub(super) fn len(&self) -> usize {
        self.short.len() + self.long.len()
    }

    /// The number of a name; a new name gets the next one.
    pub(super) fn number(&mut self, name: &str) -> Result<u32> {
        let packed = pack(name);
        let known = match packed {
            Some(packed) => self.short.get(&packed),
            None => self.long.get(name),
        };
        if let Some(&vertex) = known {
            return Ok(vertex);
        }
        check_count(self.len() as u64 + 1, "vertices")?;
        let vertex = self.len() as u32;
        match packed {
            Some(packed) => self.short.insert(packed, vertex),
            None => self.long.insert(name.to_string(), vertex),
        };
        Ok(vertex)
    }

    /// The names in the order of their numbers.
    pub(super) fn into_vec(self) -> Vec<String> {
        let mut names = vec![String::new(); self.len()];
        for (packed, vertex) in self.short {
            let bytes = packed.to_le_bytes();
            let text = &bytes[..usize::from(bytes[15])];
            names[vertex as usize] = String::from_utf8_lossy(text).into_owned();
        }
        self.long.into_iter().for_each(|(name, vertex)| names[vertex as usize] = name);
        names
    }
}

/// Up to 15 bytes and their number.
fn pack(name: &str) -> Option<u128> {
    let mut bytes = [0; 16];
    bytes[15] = u8::try_from(name.len()).ok()?;
    bytes[..15].get_mut(..name.len())?.copy_from_slice(name.as_bytes());
    Some(u128::from_le_bytes(bytes))
}

/// A number as an id has it: without sign and leading zeros, and not too large.
pub(super) fn id(text: &[u8]) -> Option<u32> {
    if text.is_empty() || text.len() > 10 || (text[0] == b'0' && text.len() > 1) {
        return None;
    }
    let mut id = 0u64;
    for &byte in text {
        if !byte.is_ascii_digit() {
            return None;
        }
        id = 10 * id + u64::from(byte - b'0');
    }
    u32::try_from(id).ok()
}

/// A field of a line, without its quotation marks.
#[derive(Clone, Copy, Default)]
pub(super) struct Field<'a> {
    pub(super) text: &'a [u8],
    pub(super) quoted: bool,
}

fn is_separator(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r' | b',' | b';')
}

/// What parts the fields of a file, judged by its first line: a tab, a semicolon or a comma, so that names may have blanks (and
/// commas, if tabs part them); none means any of them and blanks. Between quotation marks nothing is parted.
pub(super) fn separator(line: &[u8]) -> Option<u8> {
    let outside = |c: u8| line.split(|&b| b == b'"').step_by(2).any(|text| text.contains(&c));
    [b'\t', b';', b','].into_iter().find(|&c| outside(c))
}

/// The first three fields of a line and the number of all, if fields are parted by this. A line without it is parted by
/// blanks, as in a file without separators, and so is one whose first two words are numbers, which have no blanks.
pub(super) fn split_at(text: &[u8], separator: Option<u8>) -> Result<([Field<'_>; 3], usize)> {
    let Some(separator) = separator.filter(|separator| text.contains(separator)) else {
        return split(text);
    };
    let found = split_where(text, |byte| byte == separator);
    if let Ok((fields, columns)) = &found
        && *columns >= 2
        && !fields.iter().any(|f| !f.quoted && f.text.iter().any(|&b| is_separator(b)))
    {
        return found;
    }
    match split(text) {
        Ok((fields, columns))
            if found.as_ref().is_ok_and(|found| found.1 < 2)
                || (columns <= 3 && fields[..2].iter().all(|f| !f.quoted && is_number(f.text))) =>
        {
            Ok((fields, columns))
        }
        _ => found,
    }
}

/// The first three fields of a line, which any separator parts, and the number of all.
pub(super) fn split(text: &[u8]) -> Result<([Field<'_>; 3], usize)> {
    split_where(text, is_separator)
}

/// The same for a choice of separators; blanks around fields are none of them.
fn split_where(text: &[u8], parts: impl Fn(u8) -> bool) -> Result<([Field<'_>; 3], usize)> {
    let (mut fields, mut columns, mut at) = ([Field::default(); 3], 0, 0);
    loop {
        while text.get(at).is_some_and(|&b| parts(b) || matches!(b, b' ' | b'\t'..=b'\r')) {
            at += 1;
        }
        let Some(&byte) = text.get(at) else { return Ok((fields, columns)) };
        let quoted = byte == b'"';
        at += usize::from(quoted);
        let start = at;
        while let Some(&byte) = text.get(at) {
            match byte {
                b'"' if quoted && text.get(at + 1) == Some(&b'"') => at += 2,
                b'"' if quoted => break,
                _ if !quoted && parts(byte) => break,
                _ => at += 1,
            }
        }
        if let Some(field) = fields.get_mut(columns) {
            let text = &text[start..at];
            *field = Field { text: if quoted { text } else { text.trim_ascii_end() }, quoted };
        }
        if quoted {
            if at >= text.len() || text.get(at + 1).is_some_and(|&b| !is_separator(b)) {
                return Err(Error::new(
                    "a name in quotation marks does not end: close it, and write a mark inside it twice",
                ));
            }
            at += 1;
        }
        columns += 1;
    }
}

/// The id that a field is, if it is one.
pub(super) fn plain_id(field: Field) -> Result<Option<u32>> {
    if field.quoted {
        return Ok(None);
    }
    let id = id(field.text);
    if id.is_none() && is_negative(field.text) {
        return Err(Error::new(format!(
            "{} is negative; vertices are numbered from 0 (or from 1), or have names",
            String::from_utf8_lossy(field.text)
        )));
    }
    Ok(id)
}

fn is_negative(text: &[u8]) -> bool {
    matches!(text, [b'-', digits @ ..] if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit))
}

pub(super) fn is_number(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| text.parse::<f64>().is_ok())
}

/// Words that head the columns of edge lists whose vertices have names.
pub(super) fn is_title(text: &[u8]) -> bool {
    ["source", "target", "from", "to", "src", "dst"]
        .iter()
        .any(|title| text.eq_ignore_ascii_case(title.as_bytes()))
}

pub(super) fn utf8(text: &[u8]) -> Result<&str> {
    std::str::from_utf8(text)
        .map_err(|_| Error::new("this is not a text file (no valid UTF-8): save it as UTF-8"))
}

/// A name, in quotation marks where it could be taken for something else.
pub(super) fn quote(name: &str) -> std::io::Result<Cow<'_, str>> {
    let text = name.as_bytes();
    if text.contains(&b'\n') || text.len() > MAX_NAME {
        return Err(unwritable("a name is too long or has a line break"));
    }
    let mistakable = text.is_empty()
        || name.starts_with(['#', '%', '\u{feff}'])
        || text.iter().any(|&b| is_separator(b) || b == b'"')
        || is_number(text)
        || is_title(text);
    Ok(if mistakable { format!("\"{}\"", name.replace('"', "\"\"")).into() } else { name.into() })
}

/// Replaces the ids of the edges by their ranks among all ids that occur, and returns those ids in
/// ascending order, as names.
pub(super) fn rank(edges: &mut [(u32, u32)], isolated: &[u32]) -> Result<Vec<String>> {
    let ends = edges.iter().flat_map(|&(u, v)| [u, v]);
    let ids = ends.chain(isolated.iter().copied());
    let Some(largest) = ids.clone().max() else {
        return Ok(Vec::new());
    };
    if largest as usize / 32 > edges.len() + (1 << 15) {
        // Few of the ids up to the largest can occur.
        let mut known = Vec::with_capacity(2 * edges.len() + isolated.len());
        known.extend(ids);
        known.sort_unstable();
        known.dedup();
        check_count(known.len() as u64, "vertices")?;
        let rank = |id: u32| known.partition_point(|&other| other < id) as u32;
        edges.iter_mut().for_each(|e| *e = (rank(e.0), rank(e.1)));
        return Ok(known.iter().map(u32::to_string).collect());
    }
    // One bit for each id, and the number of ids before each word of bits.
    let mut bits = vec![0u64; largest as usize / 64 + 1];
    ids.for_each(|id| bits[id as usize / 64] |= 1 << (id % 64));
    let mut n = 0;
    let mut take = |word: &u64| {
        n += word.count_ones();
        n - word.count_ones()
    };
    let before: Vec<u32> = bits.iter().map(&mut take).collect();
    check_count(u64::from(n), "vertices")?;
    let rank = |id: u32| {
        let below = bits[id as usize / 64] & ((1 << (id % 64)) - 1);
        before[id as usize / 64] + below.count_ones()
    };
    edges.iter_mut().for_each(|e| *e = (rank(e.0), rank(e.1)));
    let occurs = |id: &u32| bits[*id as usize / 64] >> (id % 64) & 1 == 1;
    let mut names = Vec::with_capacity(n as usize);
    names.extend((0..=largest).filter(occurs).map(|id| id.to_string()));
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_plain_numbers() {
        assert_eq!([id(b"0"), id(b"17"), id(b"4294967295")], [Some(0), Some(17), Some(u32::MAX)]);
        for text in ["", "00", "01", "+1", "-1", "1.0", "4294967296", "99999999999", "x"] {
            assert_eq!(id(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn names_keep_their_numbers() {
        let texts =
            ["", "a", "\0", "fifteen letters", "sixteen  letters", "ö日🦀", &"x".repeat(300)];
        let mut names = Names::default();
        for _ in 0..2 {
            for (number, text) in texts.iter().enumerate() {
                assert_eq!(names.number(text), Ok(number as u32));
            }
        }
        assert_eq!((names.len(), names.into_vec()), (7, texts.map(str::to_string).to_vec()));
    }

    #[test]
    fn fields_are_parted_by_what_the_first_line_has() {
        let texts = |line: &'static str, separator: Option<u8>| -> Vec<&'static str> {
            let (fields, columns) = split_at(line.as_bytes(), separator).unwrap();
            fields[..columns].iter().map(|f| std::str::from_utf8(f.text).unwrap()).collect()
        };
        for (line, fields) in [
            ("Ann Lee\tBob", vec!["Ann Lee", "Bob"]),
            ("Lee, Ann\tMay, Bob\t2", vec!["Lee, Ann", "May, Bob", "2"]),
            ("Lee, Ann ; May, Bob", vec!["Lee, Ann", "May, Bob"]),
            ("Ann Lee, Bob May , a friend", vec!["Ann Lee", "Bob May", "a friend"]),
            ("\"Lee, Ann\",Bob May", vec!["Lee, Ann", "Bob May"]),
            ("\"Lee, Ann\" Bob", vec!["Lee, Ann", "Bob"]),
            ("1 2\t0.5", vec!["1", "2", "0.5"]),
            ("1, 2", vec!["1", "2"]),
            ("a,,b,", vec!["a", "b"]),
            ("ann bob", vec!["ann", "bob"]),
        ] {
            assert_eq!(texts(line, separator(line.as_bytes())), fields, "{line}");
        }
        // Lines unlike the first one.
        assert_eq!(texts("ann bob", Some(b'\t')), ["ann", "bob"]);
        assert_eq!(texts("2;1;-3e2", Some(b'\t')), ["2", "1", "-3e2"]);
    }

    /// The table and the sorted list against the plainest ranks.
    #[test]
    fn ranks() {
        for large in [63, 64, 70_000, 1 << 21, u32::MAX] {
            let ids = [5, large, 0, 64, 5, large - 1, 130, 63];
            let mut edges: Vec<(u32, u32)> = ids.chunks(2).map(|pair| (pair[0], pair[1])).collect();
            let isolated = [7, 0, 9];
            let known: std::collections::BTreeSet<u32> =
                ids.iter().chain(&isolated).copied().collect();
            let rank_of = |id: u32| known.range(..id).count() as u32;
            let expected: Vec<_> = edges.iter().map(|e| (rank_of(e.0), rank_of(e.1))).collect();
            let names = rank(&mut edges, &isolated).unwrap();
            assert_eq!(names, known.iter().map(u32::to_string).collect::<Vec<_>>());
            assert_eq!(edges, expected);
        }
        assert_eq!(rank(&mut [], &[]).unwrap(), Vec::<String>::new());
    }
}
