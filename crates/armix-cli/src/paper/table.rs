//! Tables of results, written as text, CSV, Markdown and HTML.

use crate::write::quoted;
use serde::{Deserialize, Serialize};

/// What stands in a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Cell {
    /// Words.
    Text(String),
    /// A number with its spread; infinite numbers are the text "Infinity" in JSON.
    Number {
        #[serde(with = "any_number")]
        mean: f64,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        sd: Option<f64>,
        digits: usize,
    },
    /// There is no such number.
    Nothing,
}

/// JSON has no infinite numbers.
mod any_number {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        if value.is_finite() {
            serializer.serialize_f64(*value)
        } else {
            serializer.serialize_str("Infinity")
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Any {
            Number(f64),
            #[allow(dead_code)]
            Text(String),
        }
        Ok(match Any::deserialize(from)? {
            Any::Number(number) => number,
            Any::Text(_) => f64::INFINITY,
        })
    }
}

impl Cell {
    /// A number, if there is one.
    pub(crate) fn number(value: Option<f64>, digits: usize) -> Cell {
        value.map_or(Cell::Nothing, |mean| Cell::Number { mean, sd: None, digits })
    }

    /// A mean with its spread, if there is one.
    pub(crate) fn spread(value: Option<(f64, f64)>, digits: usize) -> Cell {
        value.map_or(Cell::Nothing, |(mean, sd)| Cell::Number {
            mean,
            sd: Some(sd).filter(|sd| sd.is_finite()),
            digits,
        })
    }

    fn text(&self) -> String {
        match self {
            Cell::Text(text) => text.clone(),
            Cell::Number { mean, .. } if mean.is_infinite() => "∞".into(),
            Cell::Number { mean, sd: None, digits } => format!("{mean:.digits$}"),
            Cell::Number { mean, sd: Some(sd), digits } => {
                format!("{mean:.digits$} ± {sd:.digits$}")
            }
            Cell::Nothing => "–".into(),
        }
    }
}

/// Rows under named columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Table {
    /// What is added to the item's name for the name of its CSV file; empty for the first table.
    pub name: String,
    /// What is in it.
    pub title: String,
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(crate) fn new(name: &str, title: &str, columns: &[&str]) -> Self {
        let columns = columns.iter().map(|c| (*c).to_string()).collect();
        Table { name: name.into(), title: title.into(), columns, rows: Vec::new() }
    }

    /// Columns of equal width, numbers at the right.
    pub(crate) fn text(&self) -> String {
        let cells: Vec<Vec<String>> =
            self.rows.iter().map(|row| row.iter().map(Cell::text).collect()).collect();
        let width = |column: usize| {
            let all = cells.iter().map(|row| row[column].as_str());
            let widths = all.chain([self.columns[column].as_str()]).map(wide);
            widths.max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let line = |row: &[String]| {
            let cell = |(at, text): (usize, &String)| {
                let room = " ".repeat(widths[at] - wide(text));
                if self.is_text(at) { format!("{text}{room}") } else { format!("{room}{text}") }
            };
            row.iter().enumerate().map(cell).collect::<Vec<_>>().join("  ").trim_end().to_string()
        };
        let mut out = format!("{}\n{}\n", self.title, line(&self.columns));
        cells.iter().for_each(|row| out += &(line(row) + "\n"));
        out
    }

    fn is_text(&self, column: usize) -> bool {
        self.rows.iter().any(|row| matches!(row[column], Cell::Text(_)))
    }

    fn has_spread(&self, column: usize) -> bool {
        self.rows.iter().any(|row| matches!(row[column], Cell::Number { sd: Some(_), .. }))
    }

    /// Full numbers, spreads in columns of their own.
    pub(crate) fn csv(&self) -> String {
        let mut header = Vec::new();
        for (at, name) in self.columns.iter().enumerate() {
            header.push(quoted(name));
            if self.has_spread(at) {
                header.push(quoted(&format!("{name} sd")));
            }
        }
        let mut out = header.join(",") + "\n";
        for row in &self.rows {
            let mut fields = Vec::new();
            for (at, cell) in row.iter().enumerate() {
                let (value, spread) = match cell {
                    Cell::Text(text) => (quoted(text), String::new()),
                    Cell::Number { mean, sd, .. } => {
                        (mean.to_string(), sd.map_or(String::new(), |sd| sd.to_string()))
                    }
                    Cell::Nothing => (String::new(), String::new()),
                };
                fields.push(value);
                if self.has_spread(at) {
                    fields.push(spread);
                }
            }
            out += &(fields.join(",") + "\n");
        }
        out
    }

    pub(crate) fn markdown(&self) -> String {
        let marks = (0..self.columns.len()).map(|at| if self.is_text(at) { "---" } else { "---:" });
        let mut out = format!("{}\n\n| {} |\n", self.title, self.columns.join(" | "));
        out += &format!("|{}|\n", marks.collect::<Vec<_>>().join("|"));
        for row in &self.rows {
            // A bar would begin the next cell.
            let cells: Vec<String> =
                row.iter().map(|cell| cell.text().replace('|', "\\|")).collect();
            out += &format!("| {} |\n", cells.join(" | "));
        }
        out
    }

    pub(crate) fn html(&self) -> String {
        let class = |at: usize| if self.is_text(at) { "" } else { " class=\"number\"" };
        let mut out =
            format!("<h3>{}</h3>\n<div class=\"scroll\"><table><thead><tr>", escaped(&self.title));
        for (at, name) in self.columns.iter().enumerate() {
            out += &format!("<th scope=\"col\"{}>{}</th>", class(at), escaped(name));
        }
        out += "</tr></thead>\n<tbody>\n";
        for row in &self.rows {
            out += "<tr>";
            for (at, cell) in row.iter().enumerate() {
                out += &format!("<td{}>{}</td>", class(at), escaped(&cell.text()));
            }
            out += "</tr>\n";
        }
        out + "</tbody></table></div>\n"
    }
}

fn wide(text: &str) -> usize {
    console::measure_text_width(text)
}

/// Text as text of HTML.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new("", "A <title>", &["data", "ours", "printed"]);
        let text = |t: &str| Cell::Text(t.into());
        table.rows.push(vec![
            text("a, b"),
            Cell::spread(Some((1.234, 0.5)), 1),
            Cell::number(Some(2.0), 0),
        ]);
        table.rows.push(vec![
            text("c|d"),
            Cell::spread(Some((f64::INFINITY, f64::NAN)), 1),
            Cell::Nothing,
        ]);
        table
    }

    #[test]
    fn all_formats() {
        let table = table();
        assert_eq!(
            table.text(),
            "A <title>\ndata       ours  printed\na, b  1.2 ± 0.5        2\nc|d           ∞        –\n"
        );
        assert_eq!(table.csv(), "data,ours,ours sd,printed\n\"a, b\",1.234,0.5,2\nc|d,inf,,\n");
        assert!(table.markdown().contains("| a, b | 1.2 ± 0.5 | 2 |"));
        assert!(table.markdown().contains("| c\\|d | ∞ |"));
        assert!(table.html().contains("A &lt;title&gt;"));
    }

    #[test]
    fn json_keeps_everything() {
        let json = serde_json::to_string(&table()).unwrap();
        assert_eq!(serde_json::from_str::<Table>(&json).unwrap(), table());
    }
}
