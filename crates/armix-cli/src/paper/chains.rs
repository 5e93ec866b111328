//! R̂ against the number of chains.

use super::item::Made;
use super::lab::Lab;
use super::relational::{best, effort_cells, rhat, rhat_range, seconds, variant_places};
use super::report::Report;
use super::sampler;
use super::table::{Cell, Table};
use super::unit::Unit;
use armix::error::Result;
use armix::plot::{CM, Chart, ChartPanel, Mark, Scale, Style, chart};

pub(crate) fn units(lab: &Lab) -> Vec<Unit> {
    let mut units = Vec::new();
    for place in variant_places(lab, "chains") {
        for &chains in &lab.numbers {
            units.extend(place.restarts(sampler::ARM, chains));
        }
        units.extend(place.restarts(sampler::ARM, lab.size.chains));
        units.extend(place.restarts(sampler::SM, lab.size.chains));
    }
    units
}

pub(crate) fn report(lab: &Lab) -> Result<Made> {
    let mut table = Table::new(
        "",
        "R̂ of the log joint between restarts: mean ± sd over chains",
        &[
            "network",
            "scale",
            "sampler",
            "S",
            "R̂",
            "iterations",
            "normalised (time)",
            "normalised (work)",
            "best log joint",
        ],
    );
    let (mut panels, mut spent) = (Vec::new(), 0.0);
    for place in variant_places(lab, "chains") {
        let mut marks = Vec::new();
        let runs = lab.numbers.iter().map(|&s| (sampler::ARM, s));
        for (sampler, chains) in runs.chain([(sampler::SM, lab.size.chains)]) {
            let done = place.done(sampler, chains)?;
            spent += seconds(&done);
            let ours = rhat(&done, 1.0)?;
            if let Some((mean, spread)) = ours.filter(|o| o.0.is_finite()) {
                marks.push(match sampler == sampler::ARM {
                    true => Mark::Point { group: 0, at: (chains as f64, mean), spread },
                    false => Mark::Level { group: 1, value: mean },
                });
            }
            let mut cells = vec![
                Cell::Text(place.network.label.into()),
                Cell::number(Some(place.scale), 2),
                Cell::Text(sampler.label.into()),
                Cell::number(Some(chains as f64), 0),
                Cell::spread(ours, 2),
            ];
            cells.extend(effort_cells(&done));
            cells.push(Cell::number(best(&done), 1));
            table.rows.push(cells);
        }
        let (title, y, y_range) = (place.label(), Scale::Logarithmic, rhat_range(&marks));
        let most = lab.numbers.iter().copied().max().unwrap_or(2) as f64;
        panels.push(ChartPanel {
            title,
            marks,
            y,
            x_range: Some((0.0, most + 1.0)),
            y_range,
            ..ChartPanel::default()
        });
    }
    let about = format!(
        "{} restarts, {} iterations of ARM, half left out; SM with S = {} and the same time as ARM is the dashed line. The paper's figure has no numbers to compare with.",
        lab.size.restarts, lab.size.variants, lab.size.chains
    );
    let report = Report {
        item: "chains".into(),
        title: "R̂ against the number of chains (the paper's figure of chains)".into(),
        about,
        tables: vec![table],
        notes: lab.networks.missing(),
        seconds: spent,
    };
    let input = Chart {
        panels,
        across: 2,
        x_name: "chains S".into(),
        y_name: "R̂".into(),
        groups: vec!["ARM".into(), "SM".into()],
        description: "R̂ of ARM against the number of chains, with SM as a line".into(),
    };
    let style = Style { width: 14.0 * CM, height: Some(12.0 * CM), title: None };
    Ok(Made { report, drawing: chart(&input, &style)? })
}
