//! R̂ on networks of several scales, after two numbers of iterations.

use super::item::Made;
use super::lab::Lab;
use super::published;
use super::relational::{Place, best, draw, effort_cells, rhat, rhat_panel, seconds};
use super::report::Report;
use super::sampler::{self, Sampler};
use super::table::{Cell, Table};
use super::unit::Unit;
use super::{compare, outside};
use armix::error::Result;

const COMPARED: [Sampler; 4] = [sampler::GIBBS, sampler::SM, sampler::ARM_INNER, sampler::ARM];

fn places(lab: &Lab) -> Vec<Place<'_>> {
    let iterations = lab.size.downsampling;
    let place =
        |(network, scale)| Place { lab, family: "downsampling", network, scale, iterations };
    lab.networks.found().flat_map(|n| n.scales.map(|scale| (n, scale))).map(place).collect()
}

pub(crate) fn units(lab: &Lab) -> Vec<Unit> {
    let places = places(lab);
    let all = places.iter().flat_map(|p| COMPARED.map(|s| p.restarts(s, lab.size.chains)));
    all.flatten().collect()
}

pub(crate) fn report(lab: &Lab) -> Result<Made> {
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
    for place in places(lab) {
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
        "S = {}, {} restarts, half of the iterations left out; all samplers are given the time of {long} iterations of ARM, in units of their own Gibbs scans; T = {short} is the first half. Preparation and downsampling are the paper's. In the picture full points are ours, hollow ones printed.",
        lab.size.chains, lab.size.restarts
    );
    let report = Report {
        item: "downsampling".into(),
        title: "R̂ on downsampled networks (the paper's table of downsampling)".into(),
        about,
        tables: vec![table],
        notes,
        seconds: spent,
    };
    draw(report, panels, 3)
}
