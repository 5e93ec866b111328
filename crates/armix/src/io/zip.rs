//! Zip archives, as far as data come in them: stored and deflated members, read from memory.

use super::bytes::Bytes;
use super::container::{failed, read_all, too_much};
use crate::error::{Error, Result};
use std::io::{Read, Write};

/// What every zip archive with members begins with.
pub(super) const MAGIC: &[u8] = b"PK\x03\x04";

/// A file in an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) name: String,
    encrypted: bool,
    method: u16,
    crc: u32,
    packed: u64,
    size: u64,
    offset: u64,
}

/// The files in an archive, without folders and what file managers add, in the archive's order.
pub(super) fn members(archive: &[u8]) -> Result<Vec<Member>> {
    let (count, offset) = directory(archive).ok_or_else(damaged)?;
    let start = usize::try_from(offset).ok().and_then(|at| archive.get(at..));
    let mut bytes = Bytes::little(start.ok_or_else(damaged)?);
    let mut members = Vec::new();
    for _ in 0..count {
        let member = entry(&mut bytes).map_err(|_| damaged())?;
        let added = member.name.starts_with("__MACOSX/") || member.name.ends_with(".DS_Store");
        if !member.name.ends_with('/') && !added {
            members.push(member);
        }
    }
    Ok(members)
}

/// The content of a member, with its check sum verified; at most `limit` bytes.
pub(super) fn extract(archive: &[u8], member: &Member, limit: u64) -> Result<Vec<u8>> {
    let name = &member.name;
    if member.encrypted {
        return Err(Error::new(format!("'{name}' is encrypted: unpack the archive first")));
    }
    if member.size > limit {
        return Err(too_much(limit));
    }
    let packed = packed(archive, member).ok_or_else(damaged)?;
    // One byte more than promised is enough to see that a promise is broken.
    let mut unpacked: Box<dyn Read> = match member.method {
        0 => Box::new(packed),
        8 => Box::new(flate2::read::DeflateDecoder::new(packed)),
        method => {
            return Err(Error::new(format!(
                "'{name}' is compressed in a way (method {method}) that is not read: unpack the archive first"
            )));
        }
    };
    let content = read_all(&mut (&mut unpacked).take(member.size + 1), limit.saturating_add(1))?;
    let mut crc = flate2::Crc::new();
    crc.update(&content);
    if content.len() as u64 != member.size || crc.sum() != member.crc {
        return Err(Error::new(format!(
            "'{name}' is damaged: its check sum is wrong; fetch the archive again"
        )));
    }
    Ok(content)
}

/// Writes an archive with these deflated members; the same members give the same bytes.
pub(super) fn write(members: &[(&str, Vec<u8>)], out: &mut dyn Write) -> Result<()> {
    let mut archive = Vec::new();
    let mut directory = Vec::new();
    for (name, content) in members {
        let mut crc = flate2::Crc::new();
        crc.update(content);
        let mut encoder =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(content).map_err(failed)?;
        let packed = encoder.finish().map_err(failed)?;
        let offset = small(archive.len())?;
        let mut common = Vec::new();
        // Version 2.0, no flags, deflated, midnight of 1 January 1980.
        for field in [20u16, 0, 8, 0, 0x21] {
            common.extend(field.to_le_bytes());
        }
        for field in [crc.sum(), small(packed.len())?, small(content.len())?] {
            common.extend(field.to_le_bytes());
        }
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0; 2]); // no extra fields
        archive.extend(MAGIC);
        archive.extend(&common);
        archive.extend(name.as_bytes());
        archive.extend(packed);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&common);
        directory.extend([0; 10]); // no comment, disk 0, no attributes
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let (offset, size) = (small(archive.len())?, small(directory.len())?);
    archive.extend(directory);
    archive.extend(b"PK\x05\x06\0\0\0\0");
    archive.extend((members.len() as u16).to_le_bytes());
    archive.extend((members.len() as u16).to_le_bytes());
    archive.extend(size.to_le_bytes());
    archive.extend(offset.to_le_bytes());
    archive.extend([0; 2]);
    out.write_all(&archive).map_err(failed)
}

fn small(length: usize) -> Result<u32> {
    u32::try_from(length).map_err(|_| {
        Error::new("this is more than the 4 GiB that fit a zip archive: write another format")
    })
}

fn damaged() -> Error {
    Error::new("this zip archive is truncated or damaged: fetch it again, or unpack it first")
}

/// The number of members and where their directory begins, from the end of the archive.
fn directory(archive: &[u8]) -> Option<(u64, u64)> {
    let first = archive.len().saturating_sub(22 + usize::from(u16::MAX));
    let end = (first..=archive.len().checked_sub(22)?).rev().find(|&at| {
        let length =
            |at: usize| usize::from(u16::from_le_bytes([archive[at + 20], archive[at + 21]]));
        archive[at..].starts_with(b"PK\x05\x06") && at + 22 + length(at) == archive.len()
    })?;
    let mut bytes = Bytes::little(&archive[end + 10..]);
    let (count, _size, offset) = (bytes.u16().ok()?, bytes.u32().ok()?, bytes.u32().ok()?);
    if count != u16::MAX && offset != u32::MAX {
        return Some((u64::from(count), u64::from(offset)));
    }
    let locator = archive.get(end.checked_sub(20)?..end)?.strip_prefix(b"PK\x06\x07")?;
    let at = usize::try_from(Bytes::little(&locator[4..]).u64().ok()?).ok()?;
    let mut bytes = Bytes::little(archive.get(at..)?.strip_prefix(b"PK\x06\x06")?);
    bytes.take(28).ok()?;
    let (count, _size, offset) = (bytes.u64().ok()?, bytes.u64().ok()?, bytes.u64().ok()?);
    Some((count, offset))
}

/// The next member of the directory.
fn entry(bytes: &mut Bytes) -> Result<Member> {
    if bytes.take(4)? != b"PK\x01\x02" {
        return Err(damaged());
    }
    bytes.take(4)?; // versions
    let (flags, method) = (bytes.u16()?, bytes.u16()?);
    bytes.take(4)?; // time
    let crc = bytes.u32()?;
    let (mut packed, mut size) = (u64::from(bytes.u32()?), u64::from(bytes.u32()?));
    let (name, extra, comment) = (bytes.u16()?, bytes.u16()?, bytes.u16()?);
    bytes.take(8)?; // disk and attributes
    let mut offset = u64::from(bytes.u32()?);
    let name = String::from_utf8_lossy(bytes.take(u64::from(name))?).into_owned();
    let mut extra = Bytes::little(bytes.take(u64::from(extra))?);
    bytes.take(u64::from(comment))?;
    // What does not fit 32 bits stands in an extra field, in this order.
    while extra.rest.len() >= 4 {
        let (kind, length) = (extra.u16()?, extra.u16()?);
        let mut field = Bytes::little(extra.take(u64::from(length))?);
        if kind == 1 {
            for value in [&mut size, &mut packed, &mut offset] {
                if *value == u64::from(u32::MAX) {
                    *value = field.u64()?;
                }
            }
        }
    }
    Ok(Member { name, encrypted: flags & 1 == 1, method, crc, packed, size, offset })
}

/// The packed bytes of a member, which follow a header of its own.
fn packed<'a>(archive: &'a [u8], member: &Member) -> Option<&'a [u8]> {
    let header = archive.get(usize::try_from(member.offset).ok()?..)?.strip_prefix(MAGIC)?;
    let mut bytes = Bytes::little(header);
    bytes.take(22).ok()?;
    let (name, extra) = (bytes.u16().ok()?, bytes.u16().ok()?);
    bytes.take(u64::from(name) + u64::from(extra)).ok()?;
    bytes.take(member.packed).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn archive() -> Vec<u8> {
        let mut out = Vec::new();
        write(
            &[("a.txt", b"0 1\n".repeat(50)), ("folder/", vec![]), ("b/c.txt", vec![])],
            &mut out,
        )
        .unwrap();
        out
    }

    #[test]
    fn what_is_written_is_read() {
        let archive = archive();
        let members = members(&archive).unwrap();
        let names: Vec<_> = members.iter().map(|m| &*m.name).collect();
        assert_eq!(names, ["a.txt", "b/c.txt"]);
        assert_eq!(extract(&archive, &members[0], 1000).unwrap(), b"0 1\n".repeat(50));
        assert!(archive.len() < 400, "{}", archive.len());
    }

    #[test]
    fn refusals() {
        let archive = archive();
        let mut member = members(&archive).unwrap().remove(0);
        let refused = |member: &Member, word: &str| {
            let error = extract(&archive, member, 1000).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        };
        assert!(extract(&archive, &member, 10).unwrap_err().to_string().contains("more than"));
        member.crc ^= 1;
        refused(&member, "check sum");
        member.size -= 1;
        refused(&member, "check sum");
        member.method = 12;
        refused(&member, "method 12");
        member.encrypted = true;
        refused(&member, "encrypted");
        for length in 0..archive.len() {
            assert!(members(&archive[..length]).is_err());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, rng_seed: prop::test_runner::RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn nothing_panics(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6)) {
            let mut archive = archive();
            for (at, byte) in changes {
                *at.get_mut(&mut archive) = byte;
            }
            for member in members(&archive).unwrap_or_default() {
                let _ = extract(&archive, &member, 1 << 20);
            }
        }
    }
}
