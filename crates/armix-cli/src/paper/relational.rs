//! R̂ on downsampled networks: by scale, by number of chains, and of variants of the samplers.

use super::item::Made;
use super::lab::Lab;
use super::networks::Network;
use super::published::{self, Printed};
use super::report::Report;
use super::sampler::{self, Sampler};
use super::table::{Cell, Table};
use super::unit::{Done, Found, Keep, Length, Problem, Unit};
use super::{compare, outside};
use armix::diagnose::{gelman_rubin, mean_sd};
use armix::error::{Error, Result};
use armix::plot::{CM, Chart, ChartPanel, Mark, Scale, Style, chart};

/// More log joints of a chain than this are thinned.
const MOST: usize = 20_000;
const COMPARED: [Sampler; 4] = [sampler::GIBBS, sampler::SM, sampler::ARM_INNER, sampler::ARM];
const VARIANTS: [Sampler; 6] =
    [sampler::GIBBS, sampler::SM, sampler::BSM, sampler::SARM, sampler::ARM_INNER, sampler::ARM];

/// An experiment on one downsampled network: its restarts have one seed, other experiments others.
struct Place<'a> {
    lab: &'a Lab,
    family: &'static str,
    network: &'static Network,
    scale: f64,
    iterations: usize,
}

impl Place<'_> {
    /// The restarts of a sampler. All but ARM are given the effort of ARM with as many chains.
    fn restarts(&self, sampler: Sampler, chains: usize) -> Vec<Unit> {
        let arm = sampler == sampler::ARM;
        let length = if arm { Length::Iterations } else { Length::SameEffort };
        let unit = |restart| Unit {
            family: self.family.into(),
            problem: Problem::Network { name: self.network.name.into(), scale: self.scale },
            schedule: sampler.schedule(),
            ensembles: 1,
            chains,
            warmup: 50,
            length: length(self.iterations),
            restart,
            seed: self.lab.seed,
            keep: Keep::LogJoint(MOST),
        };
        (1..=self.lab.size.restarts).map(unit).collect()
    }

    fn done(&self, sampler: Sampler, chains: usize) -> Result<Vec<&Done>> {
        self.restarts(sampler, chains).iter().map(|unit| self.lab.done(unit)).collect()
    }

    fn label(&self) -> String {
        format!("{} {}", self.network.label, self.scale)
    }
}

/// R̂ of the log joint between restarts, mean and spread over chain indices, of the first part of
/// the iterations, half of which is left out.
fn rhat(restarts: &[&Done], part: f64) -> Result<Option<Printed>> {
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
fn over(restarts: &[&Done], value: impl Fn(&Done) -> Option<f64>) -> Option<Printed> {
    let values: Vec<f64> = restarts.iter().filter_map(|done| value(done)).collect();
    (!values.is_empty()).then(|| mean_sd(&values))
}

fn best(restarts: &[&Done]) -> Option<f64> {
    let chains = restarts.iter().filter_map(|done| match &done.found {
        Found::LogJoint { chains, .. } => Some(chains),
        _ => None,
    });
    chains.flatten().flatten().copied().reduce(f64::max)
}

fn seconds(restarts: &[&Done]) -> f64 {
    restarts.iter().map(|done| done.seconds).sum()
}

/// Iterations, and normalised iterations by time and by work.
fn effort_cells(restarts: &[&Done]) -> [Cell; 3] {
    [
        Cell::number(over(restarts, |d| Some(d.iterations as f64)).map(|m| m.0), 0),
        Cell::number(over(restarts, |d| d.normalised().map(|n| n.0)).map(|m| m.0), 0),
        Cell::number(over(restarts, |d| d.normalised().map(|n| n.1)).map(|m| m.0), 0),
    ]
}

fn downsampling_places(lab: &Lab) -> Vec<Place<'_>> {
    let iterations = lab.size.downsampling;
    let place =
        |(network, scale)| Place { lab, family: "downsampling", network, scale, iterations };
    lab.networks.found().flat_map(|n| n.scales.map(|scale| (n, scale))).map(place).collect()
}

pub(crate) fn downsampling_units(lab: &Lab) -> Vec<Unit> {
    let places = downsampling_places(lab);
    let all = places.iter().flat_map(|p| COMPARED.map(|s| p.restarts(s, lab.size.chains)));
    all.flatten().collect()
}

pub(crate) fn downsampling(lab: &Lab) -> Result<Made> {
    let (long, short) = (lab.size.downsampling, lab.size.downsampling / 2);
    let (long_name, short_name) = (format!("T = {long}"), format!("T = {short}"));
    let mut table = Table::new(
        "",
        "R̂ of the log joint between restarts: mean ± sd over chains",
        &[
            "network",
            "scale",
            "sampler",
            &long_name,
            "printed",
            &short_name,
            "printed ",
            "iterations",
            "normalised (time)",
            "normalised (work)",
            "best log joint",
        ],
    );
    let (mut panels, mut notes, mut spent) = (Vec::new(), lab.networks.missing(), 0.0);
    for place in downsampling_places(lab) {
        let mut marks = Vec::new();
        for (at, sampler) in COMPARED.into_iter().enumerate() {
            let done = place.done(sampler, lab.size.chains)?;
            spent += seconds(&done);
            let mut cells = vec![
                Cell::Text(place.network.label.into()),
                Cell::number(Some(place.scale), 1),
                Cell::Text(sampler.label.into()),
            ];
            for (which, (part, iterations)) in [(1.0, long), (0.5, short)].into_iter().enumerate() {
                let ours = rhat(&done, part)?;
                let printed = published::downsampling(
                    iterations,
                    place.network.name,
                    place.scale,
                    sampler.name,
                );
                compare(&mut marks, at as f64 + 0.25 * which as f64, at, ours, printed);
                let name = format!("{}, {}, T = {iterations}", place.label(), sampler.label);
                notes.extend(outside(lab, &name, ours, printed, 2));
                cells.extend([Cell::spread(ours, 2), Cell::spread(printed, 2)]);
            }
            cells.extend(effort_cells(&done));
            cells.push(Cell::number(best(&done), 1));
            table.rows.push(cells);
        }
        panels.push(rhat_panel(place.label(), marks, &COMPARED));
    }
    let about = format!(
        "S = {}, {} restarts, half of the iterations left out; all samplers are given the time of {long} iterations of ARM, in units of their own Gibbs scans; T = {short} is the first half. Preparation and downsampling are the paper's.",
        lab.size.chains, lab.size.restarts
    );
    let title = "R̂ on downsampled networks (the paper's table of downsampling)";
    made("downsampling", title, about, vec![table], notes, spent, (panels, 3))
}

fn rhat_panel(title: String, marks: Vec<Mark>, samplers: &[Sampler]) -> ChartPanel {
    let names = samplers.iter().map(|s| s.label.to_string()).collect();
    let (x, y) = (Scale::Names(names), Scale::Logarithmic);
    ChartPanel { title, marks, x, y, ..ChartPanel::default() }
}

fn made(
    item: &str,
    title: &str,
    about: String,
    tables: Vec<Table>,
    notes: Vec<String>,
    seconds: f64,
    (panels, across): (Vec<ChartPanel>, usize),
) -> Result<Made> {
    let height = 1.5 + 5.5 * panels.len().div_ceil(across).max(1) as f64;
    let input = Chart {
        panels,
        across,
        y_name: "R̂".into(),
        description: format!("{title}: full points ours, hollow points printed, with spreads"),
        ..Chart::default()
    };
    let style = Style { width: 17.0 * CM, height: Some(height * CM), title: None };
    let drawing = chart(&input, &style)?;
    let (item, title) = (item.into(), title.into());
    Ok(Made { report: Report { item, title, about, tables, notes, seconds }, drawing })
}

fn variant_places<'a>(lab: &'a Lab, family: &'static str) -> Vec<Place<'a>> {
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

pub(crate) fn variant_units(lab: &Lab) -> Vec<Unit> {
    let places = variant_places(lab, "variants");
    let all = places.iter().flat_map(|p| VARIANTS.map(|s| p.restarts(s, lab.size.chains)));
    all.flatten().collect()
}

pub(crate) fn variants(lab: &Lab) -> Result<Made> {
    let mut table = Table::new(
        "",
        "R̂ of the log joint between restarts (mean ± sd over chains) and accept rates in per cent (over restarts)",
        &[
            "network",
            "scale",
            "sampler",
            "R̂",
            "printed",
            "accept %",
            "printed ",
            "iterations",
            "normalised (time)",
            "normalised (work)",
            "best log joint",
        ],
    );
    let (mut panels, mut notes, mut spent) = (Vec::new(), lab.networks.missing(), 0.0);
    for place in variant_places(lab, "variants") {
        let mut marks = Vec::new();
        for (at, sampler) in VARIANTS.into_iter().enumerate() {
            let done = place.done(sampler, lab.size.chains)?;
            spent += seconds(&done);
            let (name, scale) = (place.network.name, place.scale);
            let ours = rhat(&done, 1.0)?;
            let printed = published::variant_rhat(name, scale, sampler.name);
            let accepted = over(&done, |d| d.accepted.map(|a| 100.0 * a));
            let printed_accept = published::variant_accept(name, scale, sampler.name);
            compare(&mut marks, at as f64, at, ours, printed);
            let row = format!("{}, {}", place.label(), sampler.label);
            notes.extend(outside(lab, &format!("{row}, R̂"), ours, printed, 2));
            notes.extend(outside(lab, &format!("{row}, accept rate"), accepted, printed_accept, 2));
            let mut cells = vec![
                Cell::Text(place.network.label.into()),
                Cell::number(Some(scale), 2),
                Cell::Text(sampler.label.into()),
                Cell::spread(ours, 2),
                Cell::spread(printed, 2),
                Cell::spread(accepted, 2),
                Cell::spread(printed_accept, 2),
            ];
            cells.extend(effort_cells(&done));
            cells.push(Cell::number(best(&done), 1));
            table.rows.push(cells);
        }
        panels.push(rhat_panel(place.label(), marks, &VARIANTS));
    }
    let about = format!(
        "S = {}, {} restarts, half left out; all samplers are given the time of {} iterations of ARM, in units of their own Gibbs scans.",
        lab.size.chains, lab.size.restarts, lab.size.variants
    );
    let title = "Variants of the samplers (the paper's tables of variants and of accept rates)";
    made("variants", title, about, vec![table], notes, spent, (panels, 2))
}

pub(crate) fn chain_units(lab: &Lab) -> Vec<Unit> {
    let mut units = Vec::new();
    for place in variant_places(lab, "chains") {
        for &chains in lab.size.numbers {
            units.extend(place.restarts(sampler::ARM, chains));
        }
        units.extend(place.restarts(sampler::ARM, lab.size.chains));
        units.extend(place.restarts(sampler::SM, lab.size.chains));
    }
    units
}

pub(crate) fn chains(lab: &Lab) -> Result<Made> {
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
        let runs = lab.size.numbers.iter().map(|&s| (sampler::ARM, s));
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
        let (title, y) = (place.label(), Scale::Logarithmic);
        let most = lab.size.numbers.iter().copied().max().unwrap_or(2) as f64;
        panels.push(ChartPanel {
            title,
            marks,
            y,
            x_range: Some((0.0, most + 1.0)),
            ..ChartPanel::default()
        });
    }
    let about = format!(
        "{} restarts, {} iterations of ARM, half left out; SM with S = {} and the same time as ARM is the dashed line. The paper's figure has no numbers to compare with.",
        lab.size.restarts, lab.size.variants, lab.size.chains
    );
    let title = "R̂ against the number of chains (the paper's figure of chains)";
    let mut made = made(
        "chains",
        title,
        about,
        vec![table],
        lab.networks.missing(),
        spent,
        (panels.clone(), 2),
    )?;
    let input = Chart {
        panels,
        across: 2,
        x_name: "chains S".into(),
        y_name: "R̂".into(),
        groups: vec!["ARM".into(), "SM".into()],
        description: "R̂ of ARM against the number of chains, with SM as a line".into(),
    };
    made.drawing =
        chart(&input, &Style { width: 14.0 * CM, height: Some(12.0 * CM), title: None })?;
    Ok(made)
}
