//! R̂ between restarts on a downsampled network: what the items about it have in common.

use super::item::Made;
use super::lab::Lab;
use super::networks::Network;
use super::published::Printed;
use super::report::Report;
use super::sampler::{self, Sampler};
use super::table::Cell;
use super::unit::{Done, Found, Keep, Length, Problem, Unit};
use armix::diagnose::{gelman_rubin, mean_sd};
use armix::error::{Error, Result};
use armix::plot::{CM, Chart, ChartPanel, Mark, Scale, Style, chart};

/// More log joints of a chain than this are thinned.
const MOST: usize = 20_000;

/// An experiment on one downsampled network: its restarts have one seed, other experiments others.
pub(super) struct Place<'a> {
    pub lab: &'a Lab,
    pub family: &'static str,
    pub network: &'static Network,
    pub scale: f64,
    pub iterations: usize,
}

impl Place<'_> {
    /// The restarts of a sampler. All but ARM are given the effort of ARM with as many chains.
    pub(super) fn restarts(&self, sampler: Sampler, chains: usize) -> Vec<Unit> {
        let arm = sampler == sampler::ARM;
        let length = if arm { Length::Iterations } else { Length::SameEffort };
        let unit = |restart| Unit {
            family: self.family.into(),
            problem: Problem::Network { name: self.network.name.into(), scale: self.scale },
            schedule: sampler.schedule(),
            ensembles: 1,
            chains,
            start: self.lab.start.clone(),
            warmup: 50,
            length: length(self.iterations),
            restart,
            seed: self.lab.seed,
            keep: Keep::LogJoint(MOST),
        };
        (1..=self.lab.size.restarts).map(unit).collect()
    }

    pub(super) fn done(&self, sampler: Sampler, chains: usize) -> Result<Vec<&Done>> {
        self.restarts(sampler, chains).iter().map(|unit| self.lab.done(unit)).collect()
    }

    pub(super) fn label(&self) -> String {
        format!("{} {}", self.network.label, self.scale)
    }
}

/// R̂ of the log joint between restarts, mean and spread over chain indices, of the first part of
/// the iterations, half of which is left out.
pub(super) fn rhat(restarts: &[&Done], part: f64) -> Result<Option<Printed>> {
    let chains = |done: &&Done| match &done.found {
        Found::LogJoint { chains, .. } => Ok(chains.clone()),
        _ => Err(Error::new(format!("the unit {} is damaged; remove it", done.unit.key()))),
    };
    let all: Vec<Vec<Vec<f64>>> = restarts.iter().map(chains).collect::<Result<_>>()?;
    let shortest = all.iter().flatten().map(Vec::len).min().unwrap_or(0);
    let end = (shortest as f64 * part) as usize;
    let indices = all.first().map_or(0, Vec::len);
    let values: Vec<f64> = (0..indices)
        .filter_map(|index| {
            let sequences: Vec<&[f64]> = all.iter().map(|r| &r[index][end / 2..end]).collect();
            gelman_rubin(&sequences)
        })
        .collect();
    Ok((!values.is_empty()).then(|| mean_sd(&values)))
}

/// Mean and spread over restarts.
pub(super) fn over(restarts: &[&Done], value: impl Fn(&Done) -> Option<f64>) -> Option<Printed> {
    let values: Vec<f64> = restarts.iter().filter_map(|done| value(done)).collect();
    (!values.is_empty()).then(|| mean_sd(&values))
}

pub(super) fn best(restarts: &[&Done]) -> Option<f64> {
    let chains = restarts.iter().filter_map(|done| match &done.found {
        Found::LogJoint { chains, .. } => Some(chains),
        _ => None,
    });
    chains.flatten().flatten().copied().reduce(f64::max)
}

pub(super) fn seconds(restarts: &[&Done]) -> f64 {
    restarts.iter().map(|done| done.seconds).sum()
}

/// Iterations, and normalised iterations by time and by work.
pub(super) fn effort_cells(restarts: &[&Done]) -> [Cell; 3] {
    [
        Cell::number(over(restarts, |d| Some(d.iterations as f64)).map(|m| m.0), 0),
        Cell::number(over(restarts, |d| d.normalised().map(|n| n.0)).map(|m| m.0), 0),
        Cell::number(over(restarts, |d| d.normalised().map(|n| n.1)).map(|m| m.0), 0),
    ]
}

pub(super) fn rhat_panel(title: String, marks: Vec<Mark>, samplers: &[Sampler]) -> ChartPanel {
    let names = samplers.iter().map(|s| s.label.to_string()).collect();
    let (x, y, y_range) = (Scale::Names(names), Scale::Logarithmic, rhat_range(&marks));
    ChartPanel { title, marks, x, y, y_range, ..ChartPanel::default() }
}

/// From below 1, where R̂ begins, however large spreads are.
pub(super) fn rhat_range(marks: &[Mark]) -> Option<(f64, f64)> {
    let highest = marks.iter().map(|mark| match mark {
        Mark::Point { at, spread, .. } | Mark::Ring { at, spread, .. } => at.1 + spread,
        Mark::Level { value, .. } => *value,
        _ => 1.0,
    });
    Some((0.95, highest.fold(2.0, f64::max)))
}

/// Panels of R̂ beside and below each other.
pub(super) fn draw(report: Report, panels: Vec<ChartPanel>, across: usize) -> Result<Made> {
    let height = 1.5 + 5.5 * panels.len().div_ceil(across).max(1) as f64;
    let input = Chart {
        panels,
        across,
        y_name: "R̂".into(),
        description: format!("{}: full points ours, hollow points printed", report.title),
        ..Chart::default()
    };
    let style = Style { width: 17.0 * CM, height: Some(height * CM), title: None };
    Ok(Made { report, drawing: chart(&input, &style)? })
}

/// The networks at the scale of the table of variants.
pub(super) fn variant_places<'a>(lab: &'a Lab, family: &'static str) -> Vec<Place<'a>> {
    let iterations = lab.size.variants;
    let place = |network: &'static Network| Place {
        lab,
        family,
        network,
        scale: network.variant,
        iterations,
    };
    lab.networks.found().map(place).collect()
}
