//! The four-vertex graph: what every sampler finds on its own, beside the exact posterior.

use super::item::Made;
use super::lab::Lab;
use super::report::Report;
use super::table::{Cell, Table};
use super::unit::{Found, Keep, Length, Problem, Unit};
use armix::builtin;
use armix::data::{Data, Dataset};
use armix::error::Result;
use armix::plot::{CM, Chart, ChartPanel, Mark, Scale, Style, chart};
use armix::problem::{self, Choice};
use armix::run::Start;

/// Not interlaced with Gibbs scans. (Cells alone cannot reach every partition.)
const SAMPLERS: [&str; 8] = ["gibbs", "sm", "sams", "bsm", "srm", "sarm", "arm-inner", "arm"];
/// Those in the picture, with the colours of their places; the exact posterior is black.
const DRAWN: [&str; 7] = ["gibbs", "sm", "bsm", "sarm", "exact", "arm", "arm-inner"];
/// Ensembles and chains of each.
const SHAPE: (usize, usize) = (4, 4);
/// The probability of a worse fit that is worth a remark; there are eight tests.
const SUSPICIOUS: f64 = 0.001;

pub(crate) fn units(lab: &Lab) -> Vec<Unit> {
    let unit = |sampler: &&str| Unit {
        family: "sampler-test".into(),
        problem: Problem::FourVertex,
        schedule: (*sampler).into(),
        ensembles: SHAPE.0,
        chains: SHAPE.1,
        start: Start::Prior,
        warmup: 50,
        length: Length::Iterations(lab.size.sampler_test),
        restart: 1,
        seed: lab.seed,
        keep: Keep::Fit,
    };
    SAMPLERS.iter().map(unit).collect()
}

pub(crate) fn report(lab: &Lab) -> Result<Made> {
    let dataset = Dataset::new(Data::Network(builtin::four_vertex()));
    let exact = problem::target(&dataset, &Choice::default())?.posterior()?;
    let iterations = SHAPE.0 * SHAPE.1 * lab.size.sampler_test;
    let columns: Vec<&str> = ["partition", "exact"].into_iter().chain(SAMPLERS).collect();
    let mut frequencies = Table::new("", "Frequencies of the 15 partitions", &columns);
    let mut tests = Table::new(
        "fit.",
        "Goodness of fit: Pearson's X², corrected by effective sample sizes (Rao and Scott)",
        &["sampler", "iterations", "least ESS", "X²", "degrees of freedom", "p"],
    );
    let mut fits = Vec::new();
    let mut notes = Vec::new();
    let mut seconds = 0.0;
    for unit in units(lab) {
        let done = lab.done(&unit)?;
        seconds += done.seconds;
        let fit = match &done.found {
            Found::Fit(fit) => fit.clone(),
            _ => None,
        };
        let least = fit.as_ref().map(|f| f.ess.iter().copied().fold(f64::INFINITY, f64::min));
        tests.rows.push(vec![
            Cell::Text(unit.schedule.clone()),
            Cell::number(Some(iterations as f64), 0),
            Cell::number(least, 0),
            Cell::number(fit.as_ref().map(|f| f.statistic), 1),
            Cell::number(fit.as_ref().map(|f| f.freedom as f64), 0),
            Cell::number(fit.as_ref().map(|f| f.p_value), 3),
        ]);
        if fit.as_ref().is_some_and(|f| f.p_value < SUSPICIOUS) {
            notes.push(format!("{} does not fit the exact posterior", unit.schedule));
        }
        fits.push(fit);
    }
    for (at, row) in exact.iter().enumerate() {
        let mut cells = vec![Cell::Text(name(&row.labels)), Cell::number(Some(row.probability), 4)];
        let found = fits.iter().map(|fit| fit.as_ref().map(|fit| fit.frequencies[at]));
        cells.extend(found.map(|frequency| Cell::number(frequency, 4)));
        frequencies.rows.push(cells);
    }
    if notes.is_empty() {
        notes
            .push(format!("no sampler has p < {SUSPICIOUS}: all of them find the exact posterior"));
    }
    let mut bars = vec![("exact", exact.iter().map(|row| row.probability).collect())];
    for (sampler, fit) in SAMPLERS.iter().zip(&fits).filter(|(s, _)| DRAWN.contains(s)) {
        bars.extend(fit.iter().map(|fit| (*sampler, fit.frequencies.clone())));
    }
    let names = exact.iter().map(|row| name(&row.labels)).collect();
    let style = Style { width: 17.0 * CM, height: Some(7.0 * CM), title: None };
    let drawing = chart(&bar_chart(&bars, names), &style)?;
    let report = Report {
        item: "sampler-test".into(),
        title: "Samplers against the exact posterior (the paper's figure of the sampler test)"
            .into(),
        about: format!(
            "The graph A12 = A13 = A14 = A34 = 1 with the relational model; {iterations} iterations of each sampler, not interlaced with Gibbs scans, in {} chains. The paper shows that Gibbs, SM and ARM agree with the exact frequencies by eye; here each sampler is tested.",
            SHAPE.0 * SHAPE.1
        ),
        tables: vec![frequencies, tests],
        notes,
        seconds,
    };
    Ok(Made { report, drawing })
}

/// The blocks of a partition, with the paper's vertices from 1 on.
fn name(labels: &[u32]) -> String {
    let count = labels.iter().max().map_or(0, |&m| m + 1);
    let block = |block: u32| {
        let members = labels.iter().enumerate().filter(move |(_, label)| **label == block);
        members.map(|(item, _)| (item + 1).to_string()).collect::<String>()
    };
    (0..count).map(block).collect::<Vec<_>>().join("|")
}

/// Bars side by side for every name.
fn bar_chart(bars: &[(&str, Vec<f64>)], names: Vec<String>) -> Chart {
    let width = 0.8 / bars.len() as f64;
    let mut marks = Vec::new();
    for (place, (name, heights)) in bars.iter().enumerate() {
        let group = DRAWN.iter().position(|drawn| drawn == name).unwrap_or(0);
        for (at, &height) in heights.iter().enumerate() {
            let left = at as f64 - 0.4 + width * place as f64;
            marks.push(Mark::Bar { group, sides: (left, left + width), height });
        }
    }
    let highest = bars.iter().flat_map(|b| &b.1).copied().fold(0.0, f64::max);
    let panel = ChartPanel {
        marks,
        x: Scale::Names(names),
        y_range: Some((0.0, 1.05 * highest)),
        ..ChartPanel::default()
    };
    Chart {
        panels: vec![panel],
        across: 1,
        x_name: String::new(),
        y_name: "frequency".into(),
        groups: DRAWN.map(String::from).to_vec(),
        description: "frequencies of the 15 partitions of four vertices, exact and sampled".into(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn partitions_are_written_as_blocks() {
        assert_eq!(super::name(&[0, 1, 0, 2]), "13|2|4");
        assert_eq!(super::name(&[0, 0, 0, 0]), "1234");
    }
}
