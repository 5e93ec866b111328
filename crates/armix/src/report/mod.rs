//! A report of a run as one HTML file that needs nothing else: no network, no other files.
//!
//! [`Page`] says what is shown and [`html`] makes the file. The script in it draws everything from
//! the JSON object that it carries. Names from data are text there, never markup, and a content
//! security policy forbids the page to load or to send anything.

mod build;
mod matrix;
mod packed;
mod page;

pub use build::Contents;
pub use matrix::{LARGEST_SIDE, Matrix};
pub use packed::{Kind, Packed};
pub use page::{
    Autocorrelation, Block, ChainTrace, Distances, Estimate, Feature, Interval, Limits, Mode, Move,
    Network, Page, Quantity, Ranks, Shape, TracePlots, Truth,
};

const TEMPLATE: &str = include_str!("page.html");
/// How pages look.
pub const STYLE: &str = include_str!("page.css");

/// The script of the page: these files one after the other, as one module.
const SCRIPTS: [&str; 10] = [
    include_str!("js/data.js"),
    include_str!("js/elements.js"),
    include_str!("js/canvas.js"),
    include_str!("js/view.js"),
    include_str!("js/traces.js"),
    include_str!("js/charts.js"),
    include_str!("js/matrix.js"),
    include_str!("js/network.js"),
    include_str!("js/tables.js"),
    include_str!("js/page.js"),
];

/// The report as the text of an HTML file.
pub fn html(page: &Page) -> String {
    let script = SCRIPTS.join("\n");
    let data = inert_json(page);
    let title = escaped(&page.title);
    // One pass over the template: what is filled in is never searched for marks again.
    let mut out = String::with_capacity(TEMPLATE.len() + STYLE.len() + script.len() + data.len());
    for (at, piece) in TEMPLATE.split("{{").enumerate() {
        let Some((mark, rest)) = piece.split_once("}}").filter(|_| at > 0) else {
            out.push_str(piece);
            continue;
        };
        out.push_str(match mark {
            "title" => &title,
            "style" => STYLE,
            "data" => &data,
            "script" => &script,
            other => unreachable!("the template has no mark {other}"),
        });
        out.push_str(rest);
    }
    out
}

/// JSON that cannot end the script element it stands in, whatever the names are.
fn inert_json(page: &Page) -> String {
    let json = serde_json::to_string(page).expect("plain data with text keys");
    let mut inert = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter {
            // Outside of strings JSON has none of these, and inside an escape means the same.
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                inert.push_str(&format!("\\u{:04x}", letter as u32));
            }
            other => inert.push(other),
        }
    }
    inert
}

/// Text as text of HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests;
