//! Every picture, with usual and with odd data: well-formed, within its borders, nothing written
//! over anything else, and never too large.

use super::*;
use crate::error::Result;
use proptest::prelude::*;
use quick_xml::events::Event;
use text::width;

fn series(group: usize, values: Vec<f64>) -> Series {
    Series { label: format!("chain {group}"), group, values }
}

/// Numbers that look random and are the same every time.
fn noise(seed: u32, length: usize) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 24)
    };
    (0..length).map(|_| next()).collect()
}

/// The names of all elements, and all text; fails if the SVG is not well-formed.
fn read(svg: &str) -> (Vec<String>, Vec<String>) {
    let mut reader = quick_xml::Reader::from_str(svg);
    reader.config_mut().check_end_names = true;
    let (mut names, mut texts, mut depth) = (Vec::new(), Vec::new(), 0);
    let mut text = String::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Start(start) => {
                depth += 1;
                check_attributes(&start);
                names.push(start.name().as_ref().to_string());
                text.clear();
            }
            Event::Empty(start) => {
                check_attributes(&start);
                names.push(start.name().as_ref().to_string());
            }
            Event::Text(part) => text += &part,
            Event::GeneralRef(part) => text += &format!("&{};", &*part),
            Event::End(_) => {
                depth -= 1;
                texts.push(quick_xml::escape::unescape(&text).unwrap().into_owned());
            }
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0);
    (names, texts)
}

fn check_attributes(start: &quick_xml::events::BytesStart) {
    for attribute in start.attributes() {
        let value = attribute.unwrap().value;
        assert!(!value.contains("NaN") && !value.contains("inf"), "{value}");
    }
}

/// Left, top, right and bottom of a text.
fn bounds(text: &Text) -> Area {
    let (x, y) = text.at;
    let long = width(&text.content, text.size);
    let begin = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => -long / 2.0,
        Anchor::End => -long,
    };
    let (up, down) = (0.72 * text.size, 0.2 * text.size);
    match text.direction {
        Direction::Right => {
            Area { left: x + begin, top: y - up, right: x + begin + long, bottom: y + down }
        }
        Direction::Up => {
            Area { left: x - up, top: y - begin - long, right: x + down, bottom: y - begin }
        }
    }
}

/// Everything is on the paper, and no text touches another.
fn check(drawing: &Drawing) {
    let (names, _) = read(&drawing.svg());
    assert!(names.len() < 3000, "{} elements", names.len());
    let mut texts: Vec<(Area, &str)> = Vec::new();
    let inside = |x: f64, y: f64| {
        (-0.01..=drawing.width + 0.01).contains(&x) && (-0.01..=drawing.height + 0.01).contains(&y)
    };
    for shape in &drawing.shapes {
        match shape {
            Shape::Line(points, _) => {
                assert!(points.len() > 1 && points.iter().all(|p| inside(p.0, p.1)));
            }
            Shape::Box(a, _) | Shape::Image(a, _) => {
                assert!(inside(a.left, a.top) && inside(a.right, a.bottom), "{a:?}");
                assert!(a.left <= a.right && a.top <= a.bottom, "{a:?}");
            }
            Shape::Text(text) => {
                let a = bounds(text);
                let place = format!("{text:?} in {} × {}", drawing.width, drawing.height);
                assert!(inside(a.left, a.top) && inside(a.right, a.bottom), "{place}");
                for (b, other) in &texts {
                    let apart = a.right <= b.left
                        || b.right <= a.left
                        || a.bottom <= b.top
                        || b.bottom <= a.top;
                    assert!(apart, "{place} touches {other:?}");
                }
                texts.push((a, &text.content));
            }
        }
    }
}

fn two_texts(x: f64) -> Drawing {
    let mut drawing = Drawing::new(100.0, 100.0, String::new());
    drawing.text((50.0, 50.0), 8.0, Anchor::Middle, "1000");
    drawing.text((x, 50.0), 8.0, Anchor::Middle, "2000");
    drawing
}

#[test]
fn texts_beside_each_other_are_fine() {
    check(&two_texts(72.0));
}

#[test]
#[should_panic(expected = "touches")]
fn texts_over_each_other_are_noticed() {
    check(&two_texts(65.0));
}

#[test]
#[should_panic(expected = "in 100 × 100")]
fn texts_beyond_the_border_are_noticed() {
    check(&two_texts(95.0));
}

fn simple_trace(ln_joint: Vec<Series>, blocks: Vec<Series>, iterations: Iterations) -> Trace {
    let groups = (0..3).map(|g| format!("ensemble {g}")).collect();
    Trace { ln_joint, blocks, groups, iterations }
}

fn styles() -> Vec<Style> {
    let style = |width: f64, height: Option<f64>, title: Option<&str>| Style {
        width,
        height,
        title: title.map(Into::into),
    };
    vec![
        Style::default(),
        style(17.8 * CM, None, Some("A title")),
        style(
            3.0 * INCH,
            Some(5.0 * INCH),
            Some(
                "A very long title that has no room at all in one column of a journal, whatever one tries",
            ),
        ),
        style(700.0, Some(300.0), None),
    ]
}

#[test]
fn traces_of_all_kinds() {
    let burn_in = Iterations { first: 1, every: 1, burn_in: Some(500) };
    for values in [
        noise(1, 1000),
        noise(1, 1),
        noise(1, 2),
        Vec::new(),
        vec![3.0; 50],
        vec![f64::NAN; 50],
        vec![f64::NEG_INFINITY, 1e300, -1e300, 5.0],
        noise(2, 700).iter().map(|v| 1e12 * v).collect(),
        noise(2, 700).iter().map(|v| 1e-12 * v).collect(),
        noise(3, 9).iter().map(|v| 123_456_789.0 + v).collect(),
    ] {
        for iterations in [
            Iterations::default(),
            burn_in,
            Iterations { first: 1_000_000, every: 1000, burn_in: None },
            Iterations { first: 0, every: 0, burn_in: Some(u64::MAX) },
            Iterations { first: u64::MAX, every: u64::MAX, burn_in: Some(0) },
        ] {
            for style in styles() {
                let lines = vec![series(0, values.clone()), series(9, values.clone())];
                let input = simple_trace(lines.clone(), lines, iterations);
                check(&trace(&input, &style).unwrap());
            }
        }
    }
    check(&trace(&simple_trace(vec![], vec![], burn_in), &Style::default()).unwrap());
}

#[test]
fn a_million_points_make_a_small_file() {
    let lines: Vec<Series> = (0..4).map(|g| series(g, noise(g as u32, 1_000_000))).collect();
    let drawing =
        trace(&simple_trace(lines.clone(), lines, Iterations::default()), &Style::default())
            .unwrap();
    check(&drawing);
    let svg = drawing.svg();
    let (names, _) = read(&svg);
    assert!(names.len() < 100, "{} elements", names.len());
    assert!(svg.len() < 120_000, "{} bytes", svg.len());
}

#[test]
fn many_chains_and_groups() {
    let lines: Vec<Series> = (0..64).map(|g| series(g, noise(g as u32, 3000))).collect();
    let mut input = simple_trace(lines.clone(), lines.clone(), Iterations::default());
    input.groups = (0..64).map(|g| format!("ensemble number {g}")).collect();
    let drawing = trace(&input, &Style::default()).unwrap();
    check(&drawing);
    assert!(drawing.svg().contains("and 49 more"));
    input.ln_joint = (0..257).map(|g| series(g, vec![1.0])).collect();
    assert!(trace(&input, &Style::default()).unwrap_err().to_string().contains("at most 256"));
}

#[test]
fn the_burn_in_does_not_flatten_the_rest() {
    let mut values = noise(5, 1000);
    values[0] = -1e6;
    let line = vec![series(0, values)];
    let burn_in = |burn_in| Iterations { burn_in, ..Iterations::default() };
    let svg = |iterations| {
        trace(&simple_trace(line.clone(), line.clone(), iterations), &Style::default())
            .unwrap()
            .svg()
    };
    assert!(svg(burn_in(None)).contains("−1000000"));
    assert!(!svg(burn_in(Some(500))).contains("−1000000"));
    assert!(svg(burn_in(Some(500))).contains("burn-in"));
}

#[test]
fn names_are_text_and_never_markup() {
    let nasty = "</text><script>alert(\"1\" & '2')</script>]]><!--";
    let mut input = simple_trace(vec![series(0, noise(1, 9))], vec![], Iterations::default());
    input.groups = vec![nasty.into()];
    let style = Style { width: 17.8 * CM, title: Some(nasty.into()), ..Style::default() };
    let drawing = trace(&input, &style).unwrap();
    check(&drawing);
    let (names, texts) = read(&drawing.svg());
    assert!(
        names.iter().all(|name| ["svg", "title", "rect", "path", "text"].contains(&name.as_str()))
    );
    assert_eq!(texts.iter().filter(|text| *text == nasty).count(), 2, "title and legend");
}

#[test]
fn one_to_eight_panels_of_fractions() {
    let panel = |at: usize| FractionPanel {
        title: format!("ensemble {at}, which has a rather long name"),
        cumulative: (1..=5).map(|k| vec![0.2 * k as f64; 50_000]).collect(),
    };
    for count in 0..=8 {
        let panels = (0..count).map(panel).collect();
        let iterations = Iterations { first: 1, every: 20, burn_in: Some(500_000) };
        let drawing = fractions(&Fractions { panels, iterations }, &Style::default()).unwrap();
        check(&drawing);
    }
    let refused = |panels| {
        let input = Fractions { panels, iterations: Iterations::default() };
        fractions(&input, &Style::default()).unwrap_err().to_string()
    };
    assert!(refused((0..9).map(panel).collect()).contains("at most 8"));
    let six = FractionPanel { title: String::new(), cumulative: vec![vec![]; 6] };
    assert!(refused(vec![six]).contains("largest 5"));
}

fn the_image(drawing: &Drawing) -> (Area, Image) {
    let image = |shape: &Shape| match shape {
        Shape::Image(area, image) => Some((*area, image.clone())),
        _ => None,
    };
    drawing.shapes.iter().find_map(image).unwrap()
}

#[test]
fn similarities_of_few_and_of_many_items() {
    for n in [1, 2, 3, 7, 8, 50, 999, 1000, 1001, 2500] {
        let order: Vec<usize> = (0..n).rev().collect();
        let value = |i: usize, j: usize| if i / 10 == j / 10 { 1.0 } else { f64::NAN };
        let blocks = [n / 2, n - n / 2];
        for style in styles() {
            let input = Similarity { value: &value, order: &order, blocks: &blocks, items: "item" };
            let drawing = similarity(&input, &style).unwrap();
            check(&drawing);
            let (area, image) = the_image(&drawing);
            assert!((area.width() - area.height()).abs() < 0.02, "a square");
            assert_eq!((image.columns, image.rows), (n.min(1000), n.min(1000)));
            if n <= 1000 {
                assert_eq!(image.cells[0], 255, "the diagonal is bright");
            }
            if n == 1000 {
                assert!(drawing.svg().len() < 100_000);
            }
        }
    }
}

#[test]
fn cells_are_averages() {
    let order: Vec<usize> = (0..2000).collect();
    let value = |i: usize, j: usize| if (i + j).is_multiple_of(2) { 1.0 } else { 0.0 };
    let input = Similarity { value: &value, order: &order, blocks: &[], items: "item" };
    let (_, image) = the_image(&similarity(&input, &Style::default()).unwrap());
    assert!(image.cells.iter().all(|&cell| cell == 128), "half of each cell");
}

#[test]
fn orders_and_blocks_are_checked() {
    let message = |order: &[usize], blocks: &[usize]| {
        let input = Adjacency { edges: &[], order, blocks };
        adjacency(&input, &Style::default()).unwrap_err().to_string()
    };
    assert!(message(&[], &[]).contains("without items"));
    assert!(message(&[0, 0], &[]).contains("not once"));
    assert!(message(&[0, 2], &[]).contains("not once"));
    assert!(message(&[0, 1], &[1]).contains("but there are 2"));
    let input = Adjacency { edges: &[(0, 5)], order: &[0, 1], blocks: &[] };
    assert!(adjacency(&input, &Style::default()).unwrap_err().to_string().contains("vertex 5"));
}

#[test]
fn links_are_where_the_order_puts_them() {
    let input = Adjacency { edges: &[(0, 1), (2, 2)], order: &[2, 0, 1], blocks: &[1, 2] };
    let (_, image) = the_image(&adjacency(&input, &Style::default()).unwrap());
    assert_eq!(image.cells, [255, 0, 0, 0, 0, 255, 0, 255, 0]);
    assert_eq!(image.palette[255], Colour(0, 0, 0));
    assert_eq!(image.palette[0], Colour(255, 255, 255));
}

#[test]
fn networks_of_many_vertices() {
    let n = 5000u32;
    let edges: Vec<(u32, u32)> = (0..100_000u32).map(|e| (e % n, (e * 31 + 7) % n)).collect();
    let order: Vec<usize> = (0..n as usize).collect();
    let blocks = vec![10; 500];
    for style in styles() {
        check(
            &adjacency(&Adjacency { edges: &edges, order: &order, blocks: &blocks }, &style)
                .unwrap(),
        );
    }
    let single = Adjacency { edges: &[(0, 4999)], order: &order, blocks: &[] };
    let (_, image) = the_image(&adjacency(&single, &Style::default()).unwrap());
    assert_eq!(image.cells.iter().filter(|&&cell| cell > 0).count(), 2, "one link is seen");
}

#[test]
fn autocorrelations_of_all_kinds() {
    let chain = |group: usize, lags: usize| {
        let falling = |lag: usize| (0.9 - 0.1 * group as f64).powi(lag as i32);
        series(group, (0..=lags).map(falling).collect())
    };
    for (lags, n) in [(0, 0), (1, 1), (10, 1000), (900, 1000)] {
        for count in [0, 1, 2, 4] {
            let quantity = |at: usize| Quantity {
                name: format!("quantity {at}"),
                chains: vec![chain(0, lags), chain(1, lags), series(2, vec![f64::NAN; 5])],
                n,
            };
            let quantities = (0..count).map(quantity).collect();
            let groups = vec!["one".into(), "two".into(), "three".into()];
            let input = Acf { quantities, groups, every: 10 };
            check(&acf(&input, &Style::default()).unwrap());
        }
    }
}

/// The picture that fails first when there is no room.
fn tiny(width: f64, height: f64) -> Result<Drawing> {
    let lines = vec![series(0, noise(1, 100))];
    let style = Style { width, height: Some(height), title: Some("Title".into()) };
    trace(&simple_trace(lines.clone(), lines, Iterations::default()), &style)
}

#[test]
fn impossible_sizes_are_errors() {
    for (width, height) in
        [(0.0, 100.0), (f64::NAN, 100.0), (100.0, -5.0), (f64::INFINITY, 100.0), (1e9, 1e9)]
    {
        assert!(tiny(width, height).unwrap_err().to_string().contains("points; choose"));
    }
    assert!(tiny(100.0, 100.0).unwrap_err().to_string().contains("too small"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_numbers_and_sizes(
        values in prop::collection::vec(any::<f64>(), 0..200),
        width in 100.0f64..1500.0,
        height in 100.0f64..1500.0,
        name in "\\PC{0,40}",
        burn_in in prop::option::of(0u64..300),
    ) {
        let lines = vec![series(3, values)];
        let mut input = simple_trace(lines.clone(), lines, Iterations { burn_in, ..Iterations::default() });
        input.groups = vec![name.clone()];
        let style = Style { width, height: Some(height), title: Some(name) };
        if let Ok(drawing) = trace(&input, &style) {
            check(&drawing);
        }
    }
}
