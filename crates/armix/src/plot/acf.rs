//! The autocorrelation picture: how long chains remember, for each quantity.

use super::Series;
use super::axis::Axis;
use super::colour::SHADE;
use super::drawing::{Anchor, Area, Drawing};
use super::panel::{Marks, NORMAL, Panel, room_below, room_left, room_right};
use super::style::{Style, check_room};
use super::text::fitting;
use super::trace::{check_lines, columns, group_legend, group_stroke, longest};
use crate::error::{Error, Result};

const MOST_PANELS: usize = 8;

/// One panel.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantity {
    /// What is written above the panel, such as "log joint".
    pub name: String,
    /// The autocorrelations of each chain from lag 0 on.
    pub chains: Vec<Series>,
    /// How many values of a chain they were computed from; the band is ±1.96/√n.
    pub n: usize,
}

/// What the autocorrelation picture shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Acf {
    /// Up to eight quantities.
    pub quantities: Vec<Quantity>,
    /// What the groups are called in the legend.
    pub groups: Vec<String>,
    /// Iterations from one value to the next: lags are counted in iterations.
    pub every: u64,
}

/// A panel for each quantity: autocorrelation over the lag, one line for each chain, and the band
/// in which the autocorrelations of independent draws lie 19 times out of 20.
pub fn acf(input: &Acf, style: &Style) -> Result<Drawing> {
    if input.quantities.len() > MOST_PANELS {
        return Err(Error::new(format!(
            "{} quantities are too many for one picture: at most {MOST_PANELS} have room",
            input.quantities.len()
        )));
    }
    input.quantities.iter().try_for_each(|q| check_lines(&q.chains))?;
    let down = input.quantities.len().max(1);
    let (mut drawing, mut area) =
        style.begin(60.0 + 82.0 * down as f64, "autocorrelation of the chains by lag")?;
    let legend = group_legend(&input.groups, None, area.width());
    legend.draw(&mut drawing, area.left, area.top);
    area.top += legend.height();

    let chains = || input.quantities.iter().flat_map(|q| &q.chains);
    let every = input.every.max(1) as f64;
    let x = Axis::whole(0.0, (every * longest(chains()).saturating_sub(1) as f64).max(2.5));
    let y = vertical(input);
    let (x_name, y_name) = (Marks::Named("lag"), Marks::Named("autocorrelation"));
    area.left += room_left(&y, y_name);
    area.right -= room_right(&x);
    area.bottom -= room_below(x_name);
    let gap = NORMAL + 6.0;
    let height = area.height() / down as f64 - gap;
    for (at, quantity) in input.quantities.iter().enumerate() {
        let top = area.top + at as f64 * (height + gap) + gap;
        let area = Area { top, bottom: top + height, ..area };
        check_room(&area)?;
        let panel = Panel { area, x: &x, y: &y };
        let band = band(quantity);
        drawing.fill(Area { top: panel.y_at(band), bottom: panel.y_at(-band), ..area }, SHADE);
        panel.level(&mut drawing, 0.0);
        for chain in &quantity.chains {
            let columns = columns(&area, chains().count());
            let stroke = group_stroke(chain.group, 0.6);
            panel.series(&mut drawing, (0.0, every), &chain.values, columns, stroke);
        }
        let lowest = at + 1 == input.quantities.len();
        panel.frame(&mut drawing, if lowest { x_name } else { Marks::Bare }, Marks::Numbers);
        let title = fitting(&quantity.name, NORMAL, area.width());
        let middle = (area.left + area.right) / 2.0;
        drawing.text((middle, top - 3.0), NORMAL, Anchor::Middle, &title);
    }
    let middle = (area.top + gap + area.bottom) / 2.0;
    let left = area.left - room_left(&y, y_name) + NORMAL;
    let name = fitting("autocorrelation", NORMAL, area.height());
    drawing.text_up((left, middle), NORMAL, &name);
    Ok(drawing)
}

fn band(quantity: &Quantity) -> f64 {
    1.96 / (quantity.n.max(1) as f64).sqrt()
}

/// From the smallest autocorrelation, or the lower end of the band, to a little above 1.
fn vertical(input: &Acf) -> Axis {
    let values = input.quantities.iter().flat_map(|q| q.chains.iter().flat_map(|c| &c.values));
    let least = values.copied().filter(|v| v.is_finite()).fold(0.0, f64::min);
    let lower = input.quantities.iter().map(|q| -band(q)).fold(least, f64::min);
    Axis::exact((lower * 1.1).max(-1.05), 1.05)
}
