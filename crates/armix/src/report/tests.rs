//! What must hold for every report, whatever the data are called.

use super::*;
use crate::diagnose::Verdict;

const HOSTILE: [&str; 6] = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "\"><img src=x onerror=alert(1)>",
    "{{data}} {{script}}",
    "\u{2028}\u{2029}\\\"\u{0}&lt;&",
    "]]></title><svg onload=alert(1)>",
];

fn hostile_page() -> Page {
    let names: Vec<String> = HOSTILE.iter().map(ToString::to_string).collect();
    let everything = HOSTILE.concat();
    Page {
        title: everything.clone(),
        verdict: Verdict::NotConverged,
        headline: everything.clone(),
        reasons: names.clone(),
        next: names.clone(),
        notes: names.clone(),
        shape: Shape {
            n: names.len(),
            item_word: "row".into(),
            ensembles: 1,
            chains: 1,
            iterations: 2,
            burn_in: 1,
            seed: u64::MAX,
            model: everything.clone(),
        },
        trace: TracePlots {
            iterations: Packed::u32(&[1, 2]),
            log_joint_offset: 0.0,
            chains: vec![ChainTrace {
                ensemble: 0,
                chain: 0,
                log_joint: None,
                blocks: Packed::f32(&[1.0, 1.0]),
                fractions: vec![],
            }],
        },
        quantities: vec![],
        limits: Limits::default(),
        ranks: vec![],
        autocorrelation: vec![],
        moves: vec![],
        blocks_posterior: vec![(1, 1.0)],
        estimate: Estimate {
            loss: "vi".into(),
            expected_loss: 0.0,
            block_of_item: vec![1; names.len()],
            order: Packed::u32(&[0, 1, 2, 3, 4, 5]),
            borders: vec![6],
            certainty: Packed::f32(&[1.0; 6]),
        },
        names,
        similarity: None,
        adjacency: None,
        network: None,
        block_table: vec![],
        density_between: None,
        modes: vec![],
        distances: None,
        truth: None,
        provenance: vec![(everything.clone(), everything.clone())],
        command: everything.clone(),
        citation: everything.clone(),
        bibtex: everything,
    }
}

fn occurrences(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

/// What stands in the data element.
fn data_element(html: &str) -> &str {
    let (_, rest) = html.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    rest.split_once("</script>").unwrap().0
}

#[test]
fn the_data_come_back_out_of_the_file() {
    let page = hostile_page();
    let data: serde_json::Value = serde_json::from_str(data_element(&html(&page))).unwrap();
    assert_eq!(data, serde_json::to_value(&page).unwrap());
    for (name, hostile) in data["names"].as_array().unwrap().iter().zip(HOSTILE) {
        assert_eq!(name, hostile);
    }
    assert_eq!(data["shape"]["seed"], "18446744073709551615");
    assert_eq!(data["verdict"], "not-converged");
}

#[test]
fn hostile_names_stay_inert() {
    let html = html(&hostile_page());
    let data = data_element(&html);
    for forbidden in ['<', '>', '&', '\u{2028}', '\u{2029}'] {
        assert!(!data.contains(forbidden), "{forbidden:?}");
    }
    // The same elements as in a page with a harmless name, and no more.
    let harmless = super::html(&Page { title: "karate".into(), ..hostile_page() });
    for part in ["<script", "</script", "<!--", "</title", "<img", "<svg"] {
        assert_eq!(occurrences(&html, part), occurrences(&harmless, part), "{part}");
    }
    assert_eq!(occurrences(&html, "<script"), 2);
    assert_eq!(occurrences(&html, "</title"), 1);
}

#[test]
fn escaping_is_needed_at_all() {
    let plain = serde_json::to_string(&hostile_page()).unwrap();
    assert!(plain.contains("</script>"), "the control: JSON alone would end the element");
}

#[test]
fn the_page_needs_nothing_else() {
    let parts = SCRIPTS.concat() + STYLE + TEMPLATE;
    for forbidden in ["http:", "https:", "//cdn", "@import", "url(", "src=", "href=\"/", "fetch("] {
        assert!(!parts.contains(forbidden), "{forbidden}");
    }
    for forbidden in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("] {
        assert!(!parts.contains(forbidden), "{forbidden}");
    }
    let script = SCRIPTS.concat();
    assert!(!script.contains("</script") && !script.contains("<!--"));
    assert!(!STYLE.contains("</style"));
    assert!(TEMPLATE.contains("default-src 'none'"));
    for mark in ["{{title}}", "{{style}}", "{{data}}", "{{script}}"] {
        assert_eq!(occurrences(TEMPLATE, mark), 1, "{mark}");
    }
}
