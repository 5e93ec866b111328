//! What an item has to say, and the files that it is written to.

use super::folder::{Folder, json};
use super::table::{Table, escaped};
use crate::{picture, write};
use armix::error::{Error, Result};
use armix::plot::Drawing;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The results of an item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Report {
    /// The name of the item.
    pub item: String,
    pub title: String,
    /// How it was run.
    pub about: String,
    pub tables: Vec<Table>,
    /// What stands out, and what was left out.
    pub notes: Vec<String>,
    /// Seconds that its units took, summed up over threads.
    pub seconds: f64,
}

impl Report {
    /// For people.
    pub(crate) fn text(&self) -> String {
        let mut out = format!("{}\n{}\n", self.title, self.about);
        self.tables.iter().for_each(|table| out += &format!("\n{}", table.text()));
        if !self.notes.is_empty() {
            out += "\n";
            self.notes.iter().for_each(|note| out += &format!("- {note}\n"));
        }
        out + "\n"
    }

    pub(crate) fn markdown(&self) -> String {
        let tables: Vec<String> = self.tables.iter().map(Table::markdown).collect();
        let notes: Vec<String> = self.notes.iter().map(|note| format!("- {note}\n")).collect();
        let parts = [self.about.clone() + "\n", tables.join("\n"), notes.concat()];
        let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|p| !p.is_empty()).collect();
        parts.join("\n")
    }

    fn html(&self, svg: &str) -> String {
        let mut out = format!(
            "<section id=\"{0}\">\n<h2>{1}</h2>\n<p class=\"explain\">{2}</p>\n",
            self.item,
            escaped(&self.title),
            escaped(&self.about)
        );
        self.tables.iter().for_each(|table| out += &table.html());
        out += &format!("<figure>\n{svg}</figure>\n");
        if !self.notes.is_empty() {
            let notes = self.notes.iter().map(|note| format!("<li>{}</li>\n", escaped(note)));
            out += &format!("<ul>\n{}</ul>\n", notes.collect::<String>());
        }
        let files = ["txt", "json", "csv", "svg", "png"]
            .map(|ending| format!("<a href=\"{0}.{ending}\">{ending}</a>", self.item));
        out + &format!("<p class=\"explain\">Files: {}</p>\n</section>\n", files.join(", "))
    }

    /// Writes text, JSON, CSV and the picture.
    pub(crate) fn write(&self, folder: &Folder, drawing: &Drawing) -> Result<()> {
        let file = |ending: &str| folder.file(&format!("{}.{ending}", self.item));
        write::text(&file("txt"), &self.text())?;
        write::text(&file("json"), &json(self)?)?;
        for table in &self.tables {
            write::text(&file(&format!("{}csv", table.name)), &table.csv())?;
        }
        picture::write(drawing, &file("svg"))?;
        picture::write(drawing, &file("png"))
    }

    /// An item that was finished in this folder, now or earlier, with its picture.
    pub(crate) fn load(folder: &Folder, item: &str) -> Option<(Report, String)> {
        let read =
            |ending: &str| std::fs::read_to_string(folder.file(&format!("{item}.{ending}"))).ok();
        Some((serde_json::from_str(&read("json")?).ok()?, read("svg")?))
    }
}

/// Writes one page with all items that are finished.
pub(crate) fn write_page(folder: &Folder, items: &[String], settings: &str) -> Result<()> {
    let reports: Vec<(Report, String)> =
        items.iter().filter_map(|item| Report::load(folder, item)).collect();
    let contents: String = (reports.iter())
        .map(|(r, _)| format!("<li><a href=\"#{0}\">{0}</a></li>\n", r.item))
        .collect();
    let sections: String = reports.iter().map(|(r, svg)| r.html(inline(svg))).collect();
    let page = include_str!("page.html");
    let page = page.replacen("{{style}}", armix::report::STYLE, 1);
    let page = page.replacen("{{settings}}", &escaped(settings), 1);
    let page = page.replacen("{{contents}}", &contents, 1);
    write::text(&folder.file("index.html"), &page.replacen("{{sections}}", &sections, 1))
}

/// A picture as part of a page: without what only files begin with.
fn inline(svg: &str) -> &str {
    svg.find("<svg").map_or("", |at| &svg[at..])
}

/// The part of a document between `<!-- paper:ITEM -->` and `<!-- /paper:ITEM -->`.
fn place(text: &str, item: &str) -> Option<std::ops::Range<usize>> {
    let (begin, end) = (format!("<!-- paper:{item} -->\n"), format!("<!-- /paper:{item} -->"));
    let from = text.find(&begin)? + begin.len();
    Some(from..from + text[from..].find(&end)?)
}

/// Refuses a document that cannot be updated, before any work is done.
pub(crate) fn check(path: &Path, items: &[String]) -> Result<()> {
    let text = read(path)?;
    match items.iter().find(|item| place(&text, item).is_none()) {
        None => Ok(()),
        Some(item) => Err(Error::new(format!(
            "there is no place for {item}: write <!-- paper:{item} --> and <!-- /paper:{item} --> on lines of their own"
        ))
        .in_file(path)),
    }
}

/// Puts reports into their places in a document.
pub(crate) fn update(path: &Path, reports: &[Report]) -> Result<()> {
    let mut text = read(path)?;
    for report in reports {
        if let Some(place) = place(&text, &report.item) {
            text.replace_range(place, &format!("\n{}\n", report.markdown()));
        }
    }
    write::text(path, &text)
}

fn read(path: &Path) -> Result<String> {
    let text = std::fs::read_to_string(path);
    text.map_err(|error| Error::new(format!("cannot be read: {error}")).in_file(path))
}
