//! Every picture in every format. To look at them, set `ARMIX_PICTURES` to a folder.

use super::*;
use armix::builtin;
use armix::plot::{
    Acf, Adjacency, FractionPanel, Fractions, Iterations, Quantity, Series, Similarity, Style, acf,
    adjacency, fractions, similarity, trace,
};
use std::collections::HashSet;

/// A chain that comes down to a level and stays there.
fn chain(seed: u32, length: usize, start: f64, level: f64, noise: f64) -> Vec<f64> {
    let mut state = seed;
    let mut value = start;
    let mut step = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let uniform = f64::from(state >> 8) / f64::from(1 << 24);
        value += 0.02 * (level - value) + noise * (uniform - 0.5);
        value
    };
    (0..length).map(|_| step()).collect()
}

fn chains(length: usize, start: f64, level: f64, noise: f64) -> Vec<Series> {
    let one = |at: usize| Series {
        label: format!("chain {at}"),
        group: at / 2,
        values: chain(at as u32 + 1, length, start * (1.0 + 0.1 * at as f64), level, noise),
    };
    (0..8).map(one).collect()
}

fn groups() -> Vec<String> {
    (1..=4).map(|r| format!("ensemble {r}")).collect()
}

fn trace_picture() -> Drawing {
    let rounded = |series: Vec<Series>| -> Vec<Series> {
        let whole =
            |s: Series| Series { values: s.values.iter().map(|v| v.round()).collect(), ..s };
        series.into_iter().map(whole).collect()
    };
    let input = armix::plot::Trace {
        ln_joint: chains(20_000, -900.0, -612.0, 8.0),
        blocks: rounded(chains(20_000, 25.0, 7.0, 1.2)),
        groups: groups(),
        iterations: Iterations { first: 1, every: 1, burn_in: Some(10_000) },
    };
    let title = Some("Zachary <karate> & friends".to_string());
    trace(&input, &Style { title, ..Style::default() }).unwrap()
}

fn fractions_picture() -> Drawing {
    let panel = |at: u32| FractionPanel {
        title: format!("ensemble {}, chain 1", at + 1),
        cumulative: (0..5u32)
            .map(|k| {
                let level = 1.0 - 0.6f64.powi(k as i32 + 1);
                let line = chain(at * 7 + k, 2000, 0.2 * f64::from(k + 1), level, 0.01);
                line.iter().map(|v| v.clamp(0.0, 1.0)).collect()
            })
            .collect(),
    };
    let iterations = Iterations { first: 10, every: 10, burn_in: Some(10_000) };
    let input = Fractions { panels: (0..8).map(panel).collect(), iterations };
    fractions(&input, &Style::default()).unwrap()
}

fn similarity_picture() -> Drawing {
    let sizes = [40, 30, 15, 10, 5];
    let block = |item: usize| {
        let mut end = 0;
        sizes.iter().position(|size| {
            end += size;
            item < end
        })
    };
    let value = |i: usize, j: usize| match (block(i), block(j)) {
        _ if i == j => 1.0,
        (a, b) if a == b => 0.75 + 0.2 * ((i * 7 + j * 7) % 10) as f64 / 10.0,
        (a, b) => 0.3 * ((a.unwrap() * b.unwrap()) % 3) as f64 / 2.0,
    };
    let order: Vec<usize> = (0..100).collect();
    let input = Similarity { value: &value, order: &order, blocks: &sizes, items: "item" };
    similarity(&input, &Style::default()).unwrap()
}

fn adjacency_picture() -> Drawing {
    let data = builtin::karate();
    let n = data.n();
    let edges: Vec<(u32, u32)> =
        (0..n).flat_map(|u| data.neighbours(u).iter().map(move |&v| (u as u32, v))).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|&v| std::cmp::Reverse(data.neighbours(v).len()));
    let input = Adjacency { edges: &edges, order: &order, blocks: &[5, 12, 17] };
    adjacency(&input, &Style::default()).unwrap()
}

/// More vertices than cells.
fn large_adjacency_picture() -> Drawing {
    let n = 2400;
    let draws = chain(5, 60_000, 0.0, 0.0, 1000.0);
    let vertex = |value: f64, block: usize| block * 400 + value.abs() as usize * 7 % 400;
    let edge = |(at, pair): (usize, &[f64])| {
        let home = at % 6;
        let other = if at.is_multiple_of(5) { (at / 7) % 6 } else { home };
        (vertex(pair[0], home) as u32, vertex(pair[1] * 31.0, other) as u32)
    };
    let edges: Vec<(u32, u32)> = draws.chunks(2).enumerate().map(edge).collect();
    let order: Vec<usize> = (0..n).collect();
    let input = Adjacency { edges: &edges, order: &order, blocks: &[400; 6] };
    let title = Some("2400 vertices".to_string());
    adjacency(&input, &Style { title, ..Style::default() }).unwrap()
}

fn acf_picture() -> Drawing {
    let quantity = |name: &str, noise: f64| Quantity {
        name: name.into(),
        chains: chains(4000, 5.0, 5.0, noise)
            .into_iter()
            .map(|s| Series {
                values: armix::diagnose::autocorrelation(&s.values[2000..])[..=300].to_vec(),
                ..s
            })
            .collect(),
        n: 2000,
    };
    let quantities = vec![quantity("log joint", 3.0), quantity("number of blocks", 1.0)];
    acf(&Acf { quantities, groups: groups(), every: 1 }, &Style::default()).unwrap()
}

fn pictures() -> [(&'static str, Drawing); 6] {
    [
        ("trace", trace_picture()),
        ("fractions", fractions_picture()),
        ("similarity", similarity_picture()),
        ("adjacency", adjacency_picture()),
        ("large", large_adjacency_picture()),
        ("acf", acf_picture()),
    ]
}

/// Writes a picture and gives its bytes.
fn bytes(folder: &Path, name: &str, drawing: &Drawing) -> Vec<u8> {
    let path = folder.join(name);
    write(drawing, &path).unwrap();
    std::fs::read(path).unwrap()
}

#[test]
fn every_picture_in_every_format() {
    let temporary = tempfile::tempdir().unwrap();
    let wanted = std::env::var_os("ARMIX_PICTURES").map(std::path::PathBuf::from);
    let folder = wanted.as_deref().unwrap_or(temporary.path());
    for (name, drawing) in pictures() {
        let svg = bytes(folder, &format!("{name}.svg"), &drawing);
        assert!(svg.starts_with(b"<?xml") && svg.ends_with(b"</svg>\n"));
        check_png(&bytes(folder, &format!("{name}.PNG"), &drawing), &drawing);
        check_pdf(&bytes(folder, &format!("{name}.pdf"), &drawing));
    }
    assert_eq!(temporaries(folder), 0);
}

fn temporaries(folder: &Path) -> usize {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    names.filter(|path| path.extension().is_some_and(|e| e == "tmp")).count()
}

fn check_png(png: &[u8], drawing: &Drawing) {
    let mut reader = ::png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    let expected = |points: f64| (points * 300.0 / 72.0).round() as u32;
    assert_eq!((info.width, info.height), (expected(drawing.width), expected(drawing.height)));
    let density = reader.info().pixel_dims.unwrap();
    assert_eq!((density.xppu, density.yppu), (11811, 11811));
    let colours: HashSet<&[u8]> = pixels.chunks(3).collect();
    assert!(colours.len() > 5 && colours.contains(&[255u8, 255, 255][..]), "{}", colours.len());
    let white = pixels.chunks(3).filter(|&p| p == [255, 255, 255]).count();
    assert!(white * 50 < pixels.len() / 3 * 49, "the page is not empty");
    assert!(png.len() < 1_000_000, "{}", png.len());
}

fn check_pdf(pdf: &[u8]) {
    assert!(pdf.starts_with(b"%PDF-"));
    assert!(pdf.trim_ascii_end().ends_with(b"%%EOF"));
    let holds = |word: &[u8]| pdf.windows(word.len()).any(|w| w == word);
    assert!(
        holds(b"/FontFile2") && holds(b"/ToUnicode"),
        "the font is inside, and its text is text"
    );
    assert!(pdf.len() < 1_000_000, "{}", pdf.len());
}

#[test]
fn the_same_bytes_every_time() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.svg", "a.png", "a.pdf"] {
        let first = bytes(folder.path(), name, &similarity_picture());
        assert_eq!(first, bytes(folder.path(), name, &similarity_picture()), "{name}");
    }
}

#[test]
fn other_endings_are_refused_with_those_that_are_known() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["picture.jpg", "picture"] {
        let path = folder.path().join(name);
        let message = write(&adjacency_picture(), &path).unwrap_err().to_string();
        assert!(message.contains(".svg, .png or .pdf"), "{message}");
        assert!(message.contains(name), "{message}");
        assert!(!path.exists());
    }
}

#[test]
fn a_folder_that_is_not_there_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing").join("picture.svg");
    let message = write(&adjacency_picture(), &path).unwrap_err().to_string();
    assert!(message.contains("picture.svg"), "{message}");
}

#[test]
fn odd_titles_and_sizes_can_be_drawn() {
    let folder = tempfile::tempdir().unwrap();
    for title in ["漢字 🙂", "שלום", "a\0b\u{1b}[31m\n", "(un)balanced \\ (", "", "e\u{301}"]
    {
        for (n, width) in [(1, 150.0), (3, 500.0)] {
            let order: Vec<usize> = (0..n).collect();
            let value = |_: usize, _: usize| 1.0;
            let input = Similarity { value: &value, order: &order, blocks: &[], items: "item" };
            let style = Style { width, title: Some(title.into()), ..Style::default() };
            let drawing = similarity(&input, &style).unwrap();
            for name in ["odd.svg", "odd.png", "odd.pdf"] {
                assert!(bytes(folder.path(), name, &drawing).len() > 1000, "{title} as {name}");
            }
        }
    }
}
