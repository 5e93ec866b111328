//! The trace picture: log joint and number of blocks of every chain over the iterations.

use super::axis::Axis;
use super::colour::{SHADE, dashes, of_group};
use super::drawing::{Area, Drawing, Stroke};
use super::legend::{Legend, Sample};
use super::panel::{Marks, Panel, room_below, room_left, room_right};
use super::style::{Style, check_room};
use super::{Iterations, Series};
use crate::error::{Error, Result};

/// More lines than this in a panel are only a smear.
const MOST_LINES: usize = 256;

/// What the trace picture shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// The log joint of each chain.
    pub ln_joint: Vec<Series>,
    /// The number of blocks of each chain.
    pub blocks: Vec<Series>,
    /// What the groups are called in the legend.
    pub groups: Vec<String>,
    /// Which iterations the values belong to.
    pub iterations: Iterations,
}

/// Two panels over each other: the log joint and the number of blocks over the iterations, one
/// thin line for each chain, coloured by its group. What was far away during the burn-in is cut
/// off at the frame. Long traces are thinned to the smallest and
/// largest value of each half point of the paper.
pub fn trace(input: &Trace, style: &Style) -> Result<Drawing> {
    check_lines(&input.ln_joint)?;
    check_lines(&input.blocks)?;
    let (mut drawing, mut area) =
        style.begin(215.0, "log joint and number of blocks over the iterations")?;
    let legend = group_legend(&input.groups, input.iterations.burn_in, area.width());
    legend.draw(&mut drawing, area.left, area.top);
    area.top += legend.height();

    let x = input.iterations.axis(longest(input.ln_joint.iter().chain(&input.blocks)));
    let ln_joint = Axis::of_values(shown(&input.ln_joint, input.iterations));
    let blocks = Axis::of_counts(shown(&input.blocks, input.iterations));
    let (upper, lower) = (Marks::Named("log joint"), Marks::Named("blocks"));
    area.left += room_left(&ln_joint, upper).max(room_left(&blocks, lower));
    area.right -= room_right(&x);
    area.bottom -= room_below(Marks::Named("iteration"));
    let between = 7.0;
    let middle = area.top + (area.height() - between) * 0.58;
    let above = Area { bottom: middle, ..area };
    let below = Area { top: middle + between, ..area };
    check_room(&above)?;
    check_room(&below)?;

    for (area, series, y, x_marks, y_marks) in [
        (above, &input.ln_joint, &ln_joint, Marks::Bare, upper),
        (below, &input.blocks, &blocks, Marks::Named("iteration"), lower),
    ] {
        let panel = Panel { area, x: &x, y };
        shade_burn_in(&panel, &mut drawing, input.iterations);
        for line in series {
            let stroke = group_stroke(line.group, 0.5);
            let columns = columns(&area, series.len());
            panel.series(&mut drawing, input.iterations.places(), &line.values, columns, stroke);
        }
        panel.frame(&mut drawing, x_marks, y_marks);
    }
    Ok(drawing)
}

pub(super) fn check_lines(series: &[Series]) -> Result<()> {
    if series.len() > MOST_LINES {
        return Err(Error::new(format!(
            "{} chains are too many for one picture: at most {MOST_LINES} can be drawn; choose some of them",
            series.len()
        )));
    }
    Ok(())
}

/// Two stretches a point, fewer if there are many lines.
pub(super) fn columns(area: &Area, lines: usize) -> usize {
    let fine = (2.0 * area.width()) as usize;
    fine.min(60_000 / lines.max(1)).max(50)
}

pub(super) fn longest<'a>(series: impl Iterator<Item = &'a Series>) -> usize {
    series.map(|s| s.values.len()).max().unwrap_or(0)
}

/// The range that a panel shows. The way down from a bad start would flatten all the rest, so
/// that of the burn-in only as much is shown as lies near the values after it.
fn shown(series: &[Series], iterations: Iterations) -> [f64; 2] {
    let after = match iterations.burn_in {
        Some(end) => end.saturating_sub(iterations.first).div_ceil(iterations.every.max(1)),
        None => 0,
    };
    let all = ends(series, 0);
    let after = ends(series, usize::try_from(after).unwrap_or(usize::MAX));
    let room = after[1] - after[0];
    if room > 0.0 { [all[0].max(after[0] - room), all[1].min(after[1] + room)] } else { all }
}

/// The smallest and the largest finite value from a position on; infinities if there are none.
fn ends(series: &[Series], from: usize) -> [f64; 2] {
    let values = series.iter().flat_map(|s| s.values.iter().skip(from));
    let finite = values.copied().filter(|v| v.is_finite());
    finite.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| [low.min(v), high.max(v)])
}

pub(super) fn group_stroke(group: usize, width: f64) -> Stroke {
    Stroke { colour: of_group(group), width, dashes: dashes(group) }
}

/// A legend with an entry for each group and for the burn-in.
pub(super) fn group_legend(groups: &[String], burn_in: Option<u64>, room: f64) -> Legend {
    let lines = groups.iter().enumerate();
    let mut entries: Vec<(Sample, String)> =
        lines.map(|(group, name)| (Sample::Line(group_stroke(group, 1.0)), name.clone())).collect();
    if burn_in.is_some() {
        entries.push((Sample::Box(SHADE), "burn-in".into()));
    }
    Legend::new(entries, room)
}

pub(super) fn shade_burn_in(panel: &Panel, drawing: &mut Drawing, iterations: Iterations) {
    if let Some(end) = iterations.burn_in {
        panel.shade(drawing, panel.x.low, end as f64, SHADE);
    }
}
