//! R̂ and accept rates of the samplers and their variants.

use super::item::Made;
use super::lab::Lab;
use super::published;
use super::relational::{
    best, draw, effort_cells, over, rhat, rhat_panel, seconds, variant_places,
};
use super::report::Report;
use super::sampler::{self, Sampler};
use super::table::{Cell, Table};
use super::unit::Unit;
use super::{compare, outside};
use armix::error::Result;

const VARIANTS: [Sampler; 6] =
    [sampler::GIBBS, sampler::SM, sampler::BSM, sampler::SARM, sampler::ARM_INNER, sampler::ARM];

pub(crate) fn units(lab: &Lab) -> Vec<Unit> {
    let places = variant_places(lab, "variants");
    let all = places.iter().flat_map(|p| VARIANTS.map(|s| p.restarts(s, lab.size.chains)));
    all.flatten().collect()
}

pub(crate) fn report(lab: &Lab) -> Result<Made> {
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
        "S = {}, {} restarts, half left out; in the picture full points are ours, hollow ones printed; all samplers are given the time of {} iterations of ARM, in units of their own Gibbs scans.",
        lab.size.chains, lab.size.restarts, lab.size.variants
    );
    let report = Report {
        item: "variants".into(),
        title: "Variants of the samplers (the paper's tables of variants and of accept rates)"
            .into(),
        about,
        tables: vec![table],
        notes,
        seconds: spent,
    };
    draw(report, panels, 2)
}
