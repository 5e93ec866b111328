//! The Bernoulli examples: traces of the largest blocks, autocorrelation times, and their scatter.

use super::item::Made;
use super::lab::Lab;
use super::published;
use super::report::Report;
use super::sampler::{self, Sampler};
use super::table::{Cell, Table};
use super::unit::{Done, Found, Keep, Length, Problem, Unit};
use armix::diagnose::mean_sd;
use armix::error::{Error, Result};
use armix::plot::{
    self, CM, Chart, ChartPanel, FractionPanel, Fractions, Iterations, Mark, Scale, Style, chart,
};
use armix::run::{Start, TOP};

/// Columns of Examples 1 to 3.
const COLUMNS: [usize; 3] = [6, 8, 10];
const ITEMS: f64 = 100.0;
const SAMPLERS: [Sampler; 4] = [sampler::GIBBS, sampler::SM, sampler::ARM_INNER, sampler::ARM];
const SHOWN: [Sampler; 3] = [sampler::GIBBS, sampler::SM, sampler::ARM];

fn unit(lab: &Lab, family: &str, problem: Problem, sampler: Sampler, keep: Keep) -> Unit {
    Unit {
        family: family.into(),
        problem,
        schedule: sampler.schedule(),
        ensembles: 1,
        chains: lab.size.chains,
        start: Start::Prior,
        warmup: 50,
        length: Length::Iterations(lab.size.examples),
        restart: 1,
        seed: lab.seed,
        keep,
    }
}

pub(crate) fn trace_units(lab: &Lab) -> Vec<Unit> {
    let problem = Problem::Example { columns: 6, set: 1 };
    SHOWN
        .iter()
        .map(|s| unit(lab, "bernoulli-traces", problem.clone(), *s, Keep::Largest))
        .collect()
}

pub(crate) fn traces(lab: &Lab) -> Result<Made> {
    let mut table = Table::new(
        "",
        "Fractions of the observations in the largest blocks: mean ± sd over the iterations",
        &[
            "sampler",
            "largest",
            "largest 2",
            "largest 3",
            "largest 4",
            "largest 5",
            "changes of the largest",
        ],
    );
    let (mut panels, mut seconds) = (Vec::new(), 0.0);
    for (sampler, unit) in SHOWN.iter().zip(trace_units(lab)) {
        let done = lab.done(&unit)?;
        seconds += done.seconds;
        let Found::Largest(largest) = &done.found else { return Err(unexpected(done)) };
        let cumulative: Vec<Vec<f64>> = (1..=TOP)
            .map(|count| {
                let sum = |top: &[u32; TOP]| f64::from(top[..count].iter().sum::<u32>()) / ITEMS;
                largest.iter().map(sum).collect()
            })
            .collect();
        let changes = largest.windows(2).filter(|w| w[0][0] != w[1][0]).count();
        let mut cells = vec![Cell::Text(sampler.label.into())];
        cells.extend(cumulative.iter().map(|values| Cell::spread(Some(mean_sd(values)), 3)));
        cells.push(Cell::number(Some(changes as f64), 0));
        table.rows.push(cells);
        panels.push(FractionPanel { title: sampler.label.into(), cumulative });
    }
    let style = Style { width: 17.0 * CM, height: Some(10.0 * CM), title: None };
    let drawing =
        plot::fractions(&Fractions { panels, iterations: Iterations::default() }, &style)?;
    let report = Report {
        item: "bernoulli-traces".into(),
        title: "Traces of the largest blocks, Bernoulli example 1 (the paper's figure of traces)"
            .into(),
        about: format!(
            "One data set (d = 6), the first of {} chains of each sampler, {} iterations. A sampler that mixes well makes a jagged trace.",
            lab.size.chains, lab.size.examples
        ),
        tables: vec![table],
        notes: Vec::new(),
        seconds,
    };
    Ok(Made { report, drawing })
}

fn unexpected(done: &Done) -> Error {
    Error::new(format!("the unit {} is damaged; remove it and run this again", done.unit.key()))
}

pub(crate) fn table_units(lab: &Lab) -> Vec<Unit> {
    let mut units = Vec::new();
    for columns in COLUMNS {
        for sampler in SAMPLERS {
            units.extend(sets(lab, columns, sampler));
        }
    }
    units
}

fn sets(lab: &Lab, columns: usize, sampler: Sampler) -> Vec<Unit> {
    let problem = |set| Problem::Example { columns, set };
    (1..=lab.size.sets)
        .map(|set| unit(lab, "bernoulli", problem(set), sampler, Keep::Times))
        .collect()
}

/// Autocorrelation times of trace and indicators by data set and chain.
fn times(lab: &Lab, columns: usize, sampler: Sampler) -> Result<Vec<[Vec<f64>; 2]>> {
    let of = |unit: &Unit| {
        let done = lab.done(unit)?;
        match &done.found {
            Found::Times { trace, indicator } => Ok([trace.clone(), indicator.clone()]),
            _ => Err(unexpected(done)),
        }
    };
    sets(lab, columns, sampler).iter().map(of).collect()
}

fn average(values: &[f64]) -> Option<(f64, f64)> {
    (!values.is_empty()).then(|| mean_sd(values))
}

pub(crate) fn table(lab: &Lab) -> Result<Made> {
    let mut table = Table::new(
        "",
        "Autocorrelation times in iterations: mean ± sd over data sets and chains; normalised iterations over data sets",
        &[
            "example",
            "sampler",
            "trace",
            "printed",
            "indicator",
            "printed ",
            "normalised (time)",
            "normalised (work)",
            "printed  ",
        ],
    );
    let (mut panels, mut notes, mut seconds) = (Vec::new(), Vec::new(), 0.0);
    for (example, columns) in (1..).zip(COLUMNS) {
        let names = SAMPLERS.iter().map(|s| s.label.to_string()).collect::<Vec<_>>();
        let mut marks = [Vec::new(), Vec::new()];
        for (at, sampler) in SAMPLERS.iter().enumerate() {
            let times = times(lab, columns, *sampler)?;
            let pooled = |which: usize| {
                let all: Vec<f64> = times.iter().flat_map(|t| t[which].clone()).collect();
                average(&all)
            };
            let printed = published::bernoulli(columns, sampler.name);
            let (mut by_time, mut by_work) = (Vec::new(), Vec::new());
            for unit in sets(lab, columns, *sampler) {
                let done = lab.done(&unit)?;
                seconds += done.seconds;
                if let Some((time, work)) = done.normalised() {
                    by_time.push(time);
                    by_work.push(work);
                }
            }
            let row = format!("example {example}, {}", sampler.label);
            let name = format!("{row}, normalised iterations");
            notes.extend(super::outside(lab, &name, average(&by_time), printed[2], 0));
            table.rows.push(vec![
                Cell::Text(format!("{example} (d = {columns})")),
                Cell::Text(sampler.label.into()),
                Cell::spread(pooled(0), 1),
                Cell::spread(printed[0], 1),
                Cell::spread(pooled(1), 1),
                Cell::spread(printed[1], 1),
                Cell::spread(average(&by_time), 0),
                Cell::spread(average(&by_work), 0),
                Cell::spread(printed[2], 0),
            ]);
            for (which, name) in ["trace", "indicator"].into_iter().enumerate() {
                let place = at as f64;
                let ours = pooled(which);
                super::compare(&mut marks[which], place, at, ours, printed[which]);
                notes.extend(super::outside(
                    lab,
                    &format!("{row}, {name}"),
                    ours,
                    printed[which],
                    1,
                ));
            }
        }
        for (marks, name) in marks.into_iter().zip(["trace", "indicator"]) {
            panels.push(ChartPanel {
                title: format!("example {example}, {name}"),
                marks,
                x: Scale::Names(names.clone()),
                y: Scale::Logarithmic,
                ..ChartPanel::default()
            });
        }
    }
    let input = Chart {
        panels,
        across: 2,
        y_name: "autocorrelation time".into(),
        description: "autocorrelation times: full points ours, hollow points printed, with spreads"
            .into(),
        ..Chart::default()
    };
    let style = Style { width: 14.0 * CM, height: Some(21.0 * CM), title: None };
    let drawing = chart(&input, &style)?;
    let size = &lab.size;
    let report = Report {
        item: "bernoulli-table".into(),
        title: "Bernoulli examples: autocorrelation times (the paper's table of artificial data)"
            .into(),
        about: format!(
            "{} data sets of each example, {} chains, {} iterations after 50 of Gibbs; trace: fraction of observations in the largest block; indicator: the largest of the times of the 105 pairs of 15 observations, 3 of each planted block; Geyer's rule ends the sums. In the picture full points are ours, hollow ones printed.",
            size.sets, size.chains, size.examples
        ),
        tables: vec![table],
        notes,
        seconds,
    };
    Ok(Made { report, drawing })
}

pub(crate) fn scatter(lab: &Lab) -> Result<Made> {
    let mut table = Table::new(
        "",
        "Autocorrelation times by data set, mean over chains",
        &["quantity", "example", "data set", "ARM", "SM", "Gibbs"],
    );
    let mut notes = Vec::new();
    let mut panels = Vec::new();
    for (which, quantity) in ["trace", "indicator"].into_iter().enumerate() {
        let mut marks = [vec![Mark::Diagonal], vec![Mark::Diagonal]];
        let mut above = [(0, 0), (0, 0)];
        for (group, columns) in COLUMNS.into_iter().enumerate() {
            let of = |sampler| -> Result<Vec<Option<f64>>> {
                let times = times(lab, columns, sampler)?;
                Ok(times.iter().map(|t| average(&t[which]).map(|m| m.0)).collect())
            };
            let all = [of(sampler::ARM)?, of(sampler::SM)?, of(sampler::GIBBS)?];
            for set in 0..all[0].len() {
                let mut cells = vec![
                    Cell::Text(quantity.into()),
                    Cell::number(Some(group as f64 + 1.0), 0),
                    Cell::number(Some(set as f64 + 1.0), 0),
                ];
                cells.extend(all.iter().map(|times| Cell::number(times[set], 1)));
                table.rows.push(cells);
                for other in [1, 2] {
                    if let (Some(arm), Some(theirs)) = (all[0][set], all[other][set]) {
                        marks[other - 1].push(Mark::Point {
                            group,
                            at: (arm, theirs),
                            spread: 0.0,
                        });
                        above[other - 1].0 += usize::from(theirs > arm);
                        above[other - 1].1 += 1;
                    }
                }
            }
        }
        for ((marks, other), (above, all)) in marks.into_iter().zip(["SM", "Gibbs"]).zip(above) {
            notes.push(format!(
                "{quantity}: ARM has a shorter time than {other} on {above} of {all} data sets"
            ));
            panels.push(square(format!("{quantity}: {other} against ARM"), marks));
        }
    }
    let input = Chart {
        panels,
        across: 2,
        x_name: "autocorrelation time of ARM".into(),
        y_name: "of the other".into(),
        groups: (1..=3).map(|example| format!("example {example}")).collect(),
        description:
            "autocorrelation times of SM and Gibbs against those of ARM, a point for each data set"
                .into(),
    };
    let style = Style { width: 14.0 * CM, height: Some(14.0 * CM), title: None };
    let report = Report {
        item: "bernoulli-scatter".into(),
        title: "Bernoulli examples: ARM against SM and Gibbs (the paper's scatter plots)".into(),
        about: "The runs of bernoulli-table, a point for each data set: the mean over its chains. Above the diagonal ARM is better.".into(),
        tables: vec![table],
        notes,
        // They are counted in bernoulli-table.
        seconds: 0.0,
    };
    Ok(Made { report, drawing: chart(&input, &style)? })
}

/// A panel with the same range on both axes.
fn square(title: String, marks: Vec<Mark>) -> ChartPanel {
    let places = marks.iter().filter_map(|mark| match mark {
        Mark::Point { at, .. } => Some([at.0, at.1]),
        _ => None,
    });
    let ends = places
        .flatten()
        .fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), v| (low.min(v), high.max(v)));
    let range = (ends.1 > 0.0).then_some(ends);
    let (x, y) = (Scale::Logarithmic, Scale::Logarithmic);
    ChartPanel { title, marks, x, y, x_range: range, y_range: range }
}
