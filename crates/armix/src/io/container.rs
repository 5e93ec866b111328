//! Opens files, unpacks gzip and zip on the way, and says what is wrong with a file.

use super::zip;
use crate::error::{Error, Result};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

/// Unpacked data beyond this are taken for a decompression bomb.
pub(super) const LIMIT: u64 = 4 << 30;

/// As many bytes of the beginning are there at the first `fill_buf`, if the file has them.
const HEAD: u64 = 1 << 16;

/// A file that is being read.
pub(super) struct Opened {
    /// The unpacked content.
    pub(super) reader: Box<dyn BufRead>,
    /// The file's name without folder and `.gz`, or the name of the member of a zip archive.
    pub(super) name: String,
    /// What follows the colon in `FILE:CHOICE`, unless it is the member of a zip archive.
    pub(super) choice: Option<String>,
}

/// Opens a file. gzip and zip are recognised by their first bytes. `ARCHIVE.zip:MEMBER` chooses a
/// member, and `FILE:CHOICE` a part of another file (the variable of a `.mat` or `.npz` file, which
/// is left packed).
pub(super) fn open(path: &Path) -> Result<Opened> {
    let (path, choice) = split(path);
    open_file(&path, choice).map_err(|error| error.in_file(&path))
}

/// Reads to the end. More than `limit` bytes are an error.
pub(super) fn read_all(reader: &mut dyn Read, limit: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > limit {
        return Err(too_much(limit));
    }
    Ok(bytes)
}

pub(super) fn too_much(limit: u64) -> Error {
    let limit = match limit {
        0..1048576 => format!("{limit} bytes"),
        _ => format!("{} MiB", limit >> 20),
    };
    Error::new(format!(
        "there are more than {limit} here once unpacked, which is taken for a mistake: split or shrink the file"
    ))
}

/// What went wrong while reading or writing.
pub(super) fn failed(error: io::Error) -> Error {
    Error::new(match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_string(),
        io::ErrorKind::PermissionDenied => {
            "this file may not be read: check its permissions".to_string()
        }
        io::ErrorKind::IsADirectory => "this is a folder, not a file".to_string(),
        io::ErrorKind::UnexpectedEof => {
            "the file ends in the middle of its data: it is truncated; fetch or write it again"
                .to_string()
        }
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
            format!("the compressed data are damaged ({error}): fetch or write the file again")
        }
        io::ErrorKind::OutOfMemory => "there is not enough memory for this file".to_string(),
        _ => format!("cannot be read or written: {error}"),
    })
}

/// The file and what follows the last colon that leaves the name of a file.
fn split(path: &Path) -> (PathBuf, Option<String>) {
    if let Some(text) = path.to_str().filter(|_| !path.exists()) {
        let colons = text.rmatch_indices(':').map(|(at, _)| at);
        for at in colons {
            if Path::new(&text[..at]).is_file() && at + 1 < text.len() {
                return (PathBuf::from(&text[..at]), Some(text[at + 1..].to_string()));
            }
        }
    }
    (path.to_path_buf(), None)
}

fn open_file(path: &Path, choice: Option<String>) -> Result<Opened> {
    let file = File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.is_dir() {
        return Err(Error::new("this is a folder, not a file"));
    }
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    open_reader(file, name, choice)
}

/// Opens what can be read as if it were a file of this name.
pub(super) fn open_reader(
    mut file: impl Read + 'static,
    name: String,
    choice: Option<String>,
) -> Result<Opened> {
    let mut head = Vec::new();
    (&mut file).take(HEAD).read_to_end(&mut head).map_err(failed)?;
    let packed_by_design = has_ending(&name, ".npz");
    if head.starts_with(zip::MAGIC) && !packed_by_design {
        let archive = read_all(&mut Cursor::new(head).chain(file), LIMIT)?;
        let (name, content, choice) = from_zip(&archive, choice)?;
        drop(archive);
        return unpack(content, Cursor::new(Vec::new()), name, choice);
    }
    unpack(head, file, name, choice)
}

/// A file of which the beginning is read already: unpacked if it is gzip.
fn unpack(
    head: Vec<u8>,
    rest: impl Read + 'static,
    name: String,
    choice: Option<String>,
) -> Result<Opened> {
    refuse_tar(&head)?;
    let packed_with = match &head[..] {
        [0x1f, 0x8b, ..] => {
            let packed = Cursor::new(head).chain(BufReader::with_capacity(HEAD as usize, rest));
            let mut unpacked = flate2::bufread::MultiGzDecoder::new(packed);
            let mut head = Vec::new();
            (&mut unpacked).take(HEAD).read_to_end(&mut head).map_err(failed)?;
            refuse_tar(&head)?;
            let name = if has_ending(&name, ".gz") { &name[..name.len() - 3] } else { &name[..] };
            return Ok(Opened { reader: chained(head, unpacked), name: name.to_string(), choice });
        }
        [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, ..] => "bzip2",
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => "xz",
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "zstd",
        [b'7', b'z', 0xbc, 0xaf, ..] => "7z",
        _ => return Ok(Opened { reader: chained(head, rest), name, choice }),
    };
    Err(Error::new(format!(
        "this file is compressed with {packed_with}, which is not read (gzip and zip are): unpack it first"
    )))
}

fn refuse_tar(head: &[u8]) -> Result<()> {
    match head.get(257..262) {
        Some(b"ustar") => Err(Error::new("this is a tar archive: unpack it first")),
        _ => Ok(()),
    }
}

fn chained(head: Vec<u8>, rest: impl Read + 'static) -> Box<dyn BufRead> {
    Box::new(Cursor::new(head).chain(BufReader::with_capacity(HEAD as usize, rest)))
}

fn has_ending(name: &str, ending: &str) -> bool {
    name.len()
        .checked_sub(ending.len())
        .and_then(|at| name.get(at..))
        .is_some_and(|e| e.eq_ignore_ascii_case(ending))
}

/// Name and content of the chosen or only member, and what of the choice is left.
fn from_zip(archive: &[u8], choice: Option<String>) -> Result<(String, Vec<u8>, Option<String>)> {
    let members = zip::members(archive)?;
    let list = || {
        let mut names: Vec<&str> = members.iter().take(20).map(|m| &*m.name).collect();
        if members.len() > 20 {
            names.push("…");
        }
        names.join(", ")
    };
    let named = |name: &str| members.iter().find(|m| m.name == name);
    let (member, left) = match (&choice, &members[..]) {
        (_, []) => return Err(Error::new("this zip archive has no files in it")),
        (None, [only]) => (only, None),
        (None, _) => {
            return Err(Error::new(format!(
                "this zip archive has {} files; ARCHIVE.zip:MEMBER chooses one of: {}",
                members.len(),
                list()
            )));
        }
        (Some(choice), _) => {
            let inner = choice.rsplit_once(':');
            let inner = inner.and_then(|(name, left)| Some((named(name)?, Some(left.to_string()))));
            named(choice).map(|member| (member, None)).or(inner).ok_or_else(|| {
                Error::new(format!(
                    "there is no '{choice}' in this zip archive, which holds: {}",
                    list()
                ))
            })?
        }
    };
    let name = member.name.rsplit('/').next().unwrap_or_default().to_string();
    Ok((name, zip::extract(archive, member, LIMIT)?, left))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn folder() -> PathBuf {
        let folder = std::env::temp_dir().join(format!("armix-container-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn gz(content: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    /// Name, content and choice of a file with these bytes.
    fn opened(file: &str, bytes: &[u8], choice: &str) -> Result<(String, Vec<u8>, Option<String>)> {
        let path = folder().join(file);
        std::fs::write(&path, bytes).unwrap();
        let asked = format!("{}{choice}", path.to_str().unwrap());
        let opened = open(Path::new(&asked)).map(|mut opened| {
            let peeked = opened.reader.fill_buf().unwrap().len();
            let content = read_all(&mut opened.reader, LIMIT).unwrap();
            assert!(peeked >= content.len().min(HEAD as usize));
            (opened.name, content, opened.choice)
        });
        std::fs::remove_file(path).unwrap();
        opened
    }

    fn message(file: &str, bytes: &[u8], choice: &str) -> String {
        let message = opened(file, bytes, choice).unwrap_err().to_string();
        assert!(message.contains(file), "{message} names {file}");
        message
    }

    #[test]
    fn plain_and_gzip() {
        let long = b"0 1\n".repeat(50_000);
        assert_eq!(opened("a.txt", &long, "").unwrap(), ("a.txt".into(), long.clone(), None));
        assert_eq!(
            opened("b.txt.GZ", &gz(&long), "").unwrap(),
            ("b.txt".into(), long.clone(), None)
        );
        let two = [gz(b"0 1\n"), gz(&long)].concat();
        assert_eq!(opened("c.dat", &two, "").unwrap().1, [b"0 1\n", &long[..]].concat());
        assert_eq!(
            opened("d.mat.gz", &gz(b""), ":A").unwrap(),
            ("d.mat".into(), vec![], Some("A".into()))
        );
    }

    #[test]
    fn archives() {
        let zip_of = |members: &[(&str, Vec<u8>)]| {
            let mut out = Vec::new();
            zip::write(members, &mut out).unwrap();
            out
        };
        let one = zip_of(&[("x/y.edges.gz", gz(b"0 1"))]);
        assert_eq!(opened("one.zip", &one, "").unwrap(), ("y.edges".into(), b"0 1".to_vec(), None));
        let two = zip_of(&[("a.txt", b"1".to_vec()), ("b.mat", b"2".to_vec())]);
        let message_two = message("two.zip", &two, "");
        assert!(message_two.contains("a.txt, b.mat") && message_two.contains(".zip:MEMBER"));
        assert_eq!(opened("two.zip", &two, ":a.txt").unwrap().1, b"1");
        assert_eq!(
            opened("two.zip", &two, ":b.mat:A").unwrap(),
            ("b.mat".into(), b"2".to_vec(), Some("A".into()))
        );
        assert!(message("two.zip", &two, ":c.txt").contains("no 'c.txt'"));
        assert!(message("none.zip", &zip_of(&[("x/", vec![])]), "").contains("no files"));
        assert!(message("cut.zip", &two[..two.len() - 9], "").contains("damaged"));
        assert_eq!(opened("s.npz", &two, ":b").unwrap(), ("s.npz".into(), two, Some("b".into())));
    }

    #[test]
    fn what_cannot_be_opened() {
        let text = |path: &Path| open(path).err().unwrap().to_string();
        assert!(text(&folder().join("missing.txt")).contains("missing.txt: there is no such file"));
        assert!(text(&folder()).contains("folder"));
        let packed = gz(&b"0 1\n".repeat(50));
        assert!(message("cut.gz", &packed[..packed.len() - 12], "").contains("truncated"));
        let mut wrong = packed;
        let last = wrong.len() - 8;
        wrong[last] ^= 1;
        assert!(message("sum.gz", &wrong, "").contains("damaged"));
        assert!(message("a.xz", b"\xfd7zXZ\0\0", "").contains("xz"));
        let mut tar = vec![b'x'; 512];
        tar[257..262].copy_from_slice(b"ustar");
        assert!(message("a.tgz", &gz(&tar), "").contains("tar"));
        assert!(
            read_all(&mut &[0; 9][..], 8).unwrap_err().to_string().contains("more than 8 bytes")
        );
        assert_eq!(read_all(&mut &[0; 8][..], 8).unwrap().len(), 8);
    }
}
