//! Log joints along the chains on the full networks, against normalised iterations.

use super::item::Made;
use super::lab::Lab;
use super::networks::Network;
use super::report::Report;
use super::sampler::{self, Sampler};
use super::table::{Cell, Table};
use super::unit::{Done, Found, Keep, Length, Problem, Unit};
use armix::diagnose::mean_sd;
use armix::error::{Error, Result};
use armix::plot::{CM, Chart, ChartPanel, Mark, Style, chart};

const SAMPLERS: [Sampler; 3] = [sampler::GIBBS, sampler::SM, sampler::ARM];
/// Points of a line.
const POINTS: usize = 1000;

/// All three begin with the same Gibbs iterations: the same seed makes the same chains.
fn unit(lab: &Lab, network: &Network, sampler: Sampler) -> Unit {
    let (all, first, arm) = lab.size.traces;
    let (warmup, iterations) = match sampler {
        sampler::GIBBS => (0, all),
        sampler::ARM => (first, arm),
        _ => (first, all - first),
    };
    Unit {
        family: "network-traces".into(),
        problem: Problem::Network { name: network.name.into(), scale: 1.0 },
        schedule: sampler.schedule(),
        ensembles: 1,
        chains: lab.size.chains,
        start: lab.start.clone(),
        warmup,
        length: Length::Iterations(iterations),
        restart: 1,
        seed: lab.seed,
        keep: Keep::LogJoint(POINTS),
    }
}

pub(crate) fn units(lab: &Lab) -> Vec<Unit> {
    lab.networks.found().flat_map(|n| SAMPLERS.map(|s| unit(lab, n, s))).collect()
}

/// Log joints of each chain at normalised iterations.
struct Lines {
    chains: Vec<Vec<f64>>,
    /// The place of the first value, and the step to the next.
    first: f64,
    step: f64,
}

impl Lines {
    fn new(done: &Done) -> Result<Self> {
        let Found::LogJoint { every, chains } = &done.found else {
            return Err(Error::new(format!("the unit {} is damaged; remove it", done.unit.key())));
        };
        let ratio = done.effort.map_or(1.0, |effort| effort.0);
        let first = done.unit.warmup as f64 + ratio;
        Ok(Lines { chains: chains.clone(), first, step: *every as f64 * ratio })
    }

    fn place(&self, at: usize) -> f64 {
        self.first + self.step * at as f64
    }

    fn end(&self) -> f64 {
        self.place(self.chains.first().map_or(0, Vec::len).saturating_sub(1))
    }

    /// Mean and spread over chains at some place, or at the last before it.
    fn at(&self, place: f64) -> Option<(f64, f64)> {
        let at = ((place - self.first) / self.step).floor().max(0.0) as usize;
        let value = |chain: &Vec<f64>| chain.get(at).or(chain.last()).copied();
        let values: Vec<f64> = self.chains.iter().filter_map(value).collect();
        (!values.is_empty()).then(|| mean_sd(&values))
    }
}

pub(crate) fn report(lab: &Lab) -> Result<Made> {
    let mut table = Table::new(
        "",
        "Log joint: mean ± sd over chains",
        &[
            "network",
            "sampler",
            "iterations",
            "normalised (time)",
            "normalised (work)",
            "at the end of ARM",
            "at the end",
            "best",
        ],
    );
    let (all, first, arm) = lab.size.traces;
    let (mut panels, mut seconds) = (Vec::new(), 0.0);
    for network in lab.networks.found() {
        let done = SAMPLERS.map(|s| lab.done(&unit(lab, network, s)));
        let mut lines = Vec::new();
        for done in &done {
            lines.push(Lines::new(done.as_ref().map_err(Clone::clone)?)?);
        }
        let [gibbs, _, by_arm] = &lines[..] else { continue };
        let end_of_arm = by_arm.end();
        // What the first iterations climb would flatten all the rest.
        let settled = gibbs.at(first as f64 / 5.0).map_or(0.0, |(mean, _)| mean);
        let highest = lines.iter().flat_map(|l| l.chains.iter().flatten());
        let highest = highest.copied().fold(settled, f64::max);
        let range = (settled, highest + 0.03 * (highest - settled));
        for ((sampler, lines), done) in SAMPLERS.iter().zip(&lines).zip(&done) {
            let Ok(done) = done else { continue };
            seconds += done.seconds;
            let normalised = done.normalised();
            let best = lines.chains.iter().flatten().copied().reduce(f64::max);
            let warmup = done.unit.warmup as f64;
            table.rows.push(vec![
                Cell::Text(network.label.into()),
                Cell::Text(sampler.label.into()),
                Cell::number(Some((done.unit.warmup + done.iterations) as f64), 0),
                Cell::number(normalised.map(|n| warmup + n.0), 0),
                Cell::number(normalised.map(|n| warmup + n.1), 0),
                Cell::spread(lines.at(end_of_arm), 1),
                Cell::spread(lines.at(lines.end()), 1),
                Cell::number(best, 1),
            ]);
            let mut marks = Vec::new();
            for (group, chain) in lines.chains.iter().enumerate() {
                let points = (0..).map(|at| lines.place(at)).zip(chain.iter().copied());
                marks.push(Mark::Line { group, points: points.collect() });
            }
            // The beginning is the same for all.
            if *sampler != sampler::GIBBS {
                for (group, chain) in gibbs.chains.iter().enumerate() {
                    let points = (0..).map(|at| gibbs.place(at)).zip(chain.iter().copied());
                    let points = points.take_while(|p| p.0 <= first as f64).collect();
                    marks.push(Mark::Line { group, points });
                }
            }
            marks.extend([Mark::Vertical(first as f64), Mark::Vertical(end_of_arm)]);
            panels.push(ChartPanel {
                title: format!("{}, {}", network.label, sampler.label),
                marks,
                x_range: Some((0.0, lines.end().max(end_of_arm))),
                y_range: Some(range),
                ..ChartPanel::default()
            });
        }
    }
    let rows = panels.len().div_ceil(SAMPLERS.len()).max(1) as f64;
    let input = Chart {
        panels,
        across: SAMPLERS.len(),
        x_name: "normalised iterations".into(),
        y_name: "log joint".into(),
        groups: Vec::new(),
        description:
            "log joint of each chain against normalised iterations, by network and sampler".into(),
    };
    let style = Style { width: 18.0 * CM, height: Some((1.0 + 5.0 * rows) * CM), title: None };
    let report = Report {
        item: "network-traces".into(),
        title: "Log joint on the full networks (the paper's figure of traces on networks)".into(),
        about: format!(
            "S = {}: Gibbs for {all} iterations; from its states after {first} iterations SM for {} more, and ARM for {arm} more. Between the vertical lines all have the same effort.",
            lab.size.chains,
            all - first
        ),
        tables: vec![table],
        notes: lab.networks.missing(),
        seconds,
    };
    Ok(Made { report, drawing: chart(&input, &style)? })
}
