//! Charts: panels of points, lines and bars, each with axes of its own, to compare results.

use super::axis::Axis;
use super::colour::{BLACK, GREY, WHITE, of_group};
use super::drawing::{Anchor, Area, Drawing, Stroke};
use super::legend::{Legend, Sample};
use super::panel::{Marks, NORMAL, Panel, SMALL, room_below, room_left, room_right};
use super::style::{Style, check_room};
use super::text::{fitting, width};
use super::trace::group_stroke;
use crate::error::{Error, Result};

/// More panels than this have no room on a page.
const MOST_PANELS: usize = 24;
/// The height of a panel that suits most charts, in points.
const PANEL_HEIGHT: f64 = 130.0;
/// Half the side of a point.
const POINT: f64 = 1.6;

/// Something in a panel. Groups give colours; what is not finite is not drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    /// A line through points.
    Line {
        /// The group.
        group: usize,
        /// Its points.
        points: Vec<(f64, f64)>,
    },
    /// A full point, with a line as far as its spread up and down.
    Point {
        /// The group.
        group: usize,
        /// Its place.
        at: (f64, f64),
        /// The spread; 0 for none.
        spread: f64,
    },
    /// The same as a hollow point: what the full one is compared with.
    Ring {
        /// The group.
        group: usize,
        /// Its place.
        at: (f64, f64),
        /// The spread; 0 for none.
        spread: f64,
    },
    /// A bar that stands on zero.
    Bar {
        /// The group.
        group: usize,
        /// Its left and its right side.
        sides: (f64, f64),
        /// Its height.
        height: f64,
    },
    /// A dashed line across the panel.
    Level {
        /// The group.
        group: usize,
        /// Where it is.
        value: f64,
    },
    /// A black line from bottom to top.
    Vertical(f64),
    /// A thin line where both coordinates are equal.
    Diagonal,
}

/// What an axis of a panel is like.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Scale {
    /// Numbers.
    #[default]
    Linear,
    /// Numbers above zero, by their logarithms.
    Logarithmic,
    /// Names at 0, 1, 2, …
    Names(Vec<String>),
}

/// One panel.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ChartPanel {
    /// What is written above it.
    pub title: String,
    /// What is in it.
    pub marks: Vec<Mark>,
    /// The horizontal axis.
    pub x: Scale,
    /// The vertical axis: numbers or their logarithms.
    pub y: Scale,
    /// The range of the horizontal axis, if it is not that of the marks.
    pub x_range: Option<(f64, f64)>,
    /// The range of the vertical axis, if it is not that of the marks.
    pub y_range: Option<(f64, f64)>,
}

/// What a chart shows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Chart {
    /// The panels, row after row.
    pub panels: Vec<ChartPanel>,
    /// Panels beside each other.
    pub across: usize,
    /// What the horizontal axes are called.
    pub x_name: String,
    /// What the vertical axes are called.
    pub y_name: String,
    /// What the groups are called.
    pub groups: Vec<String>,
    /// What is to be seen, for those who cannot see it.
    pub description: String,
}

/// Panels of points, lines and bars in rows.
///
/// ```
/// use armix::plot::{Chart, ChartPanel, Mark, Style, chart};
/// let marks = vec![Mark::Point { group: 0, at: (1.0, 2.0), spread: 0.5 }, Mark::Diagonal];
/// let panels = vec![ChartPanel { title: "one".into(), marks, ..ChartPanel::default() }];
/// let input = Chart { panels, groups: vec!["ours".into()], ..Chart::default() };
/// assert!(chart(&input, &Style::default())?.svg().contains("ours"));
/// # Ok::<(), armix::error::Error>(())
/// ```
pub fn chart(input: &Chart, style: &Style) -> Result<Drawing> {
    if input.panels.len() > MOST_PANELS {
        return Err(Error::new(format!(
            "{} panels are too many for one picture: at most {MOST_PANELS} have room",
            input.panels.len()
        )));
    }
    let across = input.across.clamp(1, input.panels.len().max(1));
    let down = input.panels.len().div_ceil(across).max(1);
    let (mut drawing, mut area) =
        style.begin(30.0 + PANEL_HEIGHT * down as f64, &input.description)?;
    let entries = (input.groups.iter().enumerate())
        .map(|(group, name)| (Sample::Box(of_group(group)), name.clone()))
        .collect();
    let legend = Legend::new(entries, area.width());
    legend.draw(&mut drawing, area.left, area.top);
    area.top += legend.height();

    let framed: Vec<Framed> = input.panels.iter().map(Framed::new).collect();
    let y_marks = named(&input.y_name);
    let left = framed.iter().map(|f| room_left(&f.y, y_marks)).fold(0.0, f64::max);
    let right = framed.iter().map(Framed::room_right).fold(4.0, f64::max);
    let below = framed.iter().map(|f| f.room_below(&input.x_name)).fold(0.0, f64::max);
    let above = NORMAL + 6.0;
    let cell = (area.width() / across as f64, area.height() / down as f64);
    for (at, framed) in framed.iter().enumerate() {
        let (row, column) = (at / across, at % across);
        let (x, y) = (area.left + column as f64 * cell.0, area.top + row as f64 * cell.1);
        let inner = Area {
            left: x + left,
            top: y + above,
            right: x + cell.0 - right,
            bottom: y + cell.1 - below - 2.0,
        };
        check_room(&inner)?;
        framed.draw(&mut drawing, inner, &input.x_name, y_marks);
    }
    Ok(drawing)
}

fn named(name: &str) -> Marks<'_> {
    if name.is_empty() { Marks::Numbers } else { Marks::Named(name) }
}

/// A panel with its axes. On a logarithmic axis all places are logarithms.
struct Framed<'a> {
    content: &'a ChartPanel,
    x: Axis,
    y: Axis,
}

impl<'a> Framed<'a> {
    fn new(content: &'a ChartPanel) -> Self {
        let places: Vec<(f64, f64)> = content.marks.iter().flat_map(Mark::places).collect();
        let axis = |scale: &Scale, range: Option<(f64, f64)>, values: Vec<f64>| match scale {
            Scale::Names(names) => {
                Axis { low: -0.5, high: names.len() as f64 - 0.5, ticks: Vec::new() }
            }
            Scale::Linear => match range {
                Some((low, high)) => Axis::exact(low, high),
                None => Axis::of_values(values),
            },
            Scale::Logarithmic => match range {
                Some((low, high)) => Axis::logarithmic([low, high]),
                None => Axis::logarithmic(values),
            },
        };
        let x = axis(&content.x, content.x_range, places.iter().map(|p| p.0).collect());
        let y = axis(&content.y, content.y_range, places.iter().map(|p| p.1).collect());
        Framed { content, x, y }
    }

    fn names(&self) -> &[String] {
        match &self.content.x {
            Scale::Names(names) => names,
            _ => &[],
        }
    }

    fn room_right(&self) -> f64 {
        if self.names().is_empty() { room_right(&self.x) + 2.0 } else { 2.0 }
    }

    fn room_below(&self, name: &str) -> f64 {
        match self.names() {
            [] => room_below(named(name)),
            // Names stand upright.
            names => names.iter().map(|n| width(n, SMALL)).fold(0.0, f64::max) + 4.0,
        }
    }

    fn draw(&self, drawing: &mut Drawing, area: Area, x_name: &str, y_marks: Marks) {
        let panel = Panel { area, x: &self.x, y: &self.y };
        for mark in &self.content.marks {
            self.mark(drawing, &panel, mark);
        }
        let x_marks = if self.names().is_empty() { named(x_name) } else { Marks::Bare };
        panel.frame(drawing, x_marks, y_marks);
        for (at, name) in self.names().iter().enumerate() {
            let middle = area.bottom + 3.0 + width(name, SMALL) / 2.0;
            drawing.text_up((panel.x_at(at as f64) + SMALL * 0.36, middle), SMALL, name);
        }
        let title = fitting(&self.content.title, NORMAL, area.width());
        let middle = (area.left + area.right) / 2.0;
        drawing.text((middle, area.top - 3.0), NORMAL, Anchor::Middle, &title);
    }

    /// A place on the paper; `None` if there is none.
    fn place(&self, panel: &Panel, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        let at = |scale: &Scale, value: f64| match scale {
            Scale::Logarithmic if value <= 0.0 => f64::NAN,
            Scale::Logarithmic => libm::log10(value),
            _ => value,
        };
        let (x, y) = (at(&self.content.x, x), at(&self.content.y, y));
        (x.is_finite() && y.is_finite()).then(|| (panel.x_at(x), panel.y_at(y)))
    }

    fn mark(&self, drawing: &mut Drawing, panel: &Panel, mark: &Mark) {
        let place = |at| self.place(panel, at);
        let area = panel.area;
        match mark {
            Mark::Line { group, points } => {
                let points = points.iter().filter_map(|&at| place(at)).collect();
                drawing.line(points, Stroke { dashes: &[], ..group_stroke(*group, 0.6) });
            }
            Mark::Point { group, at, spread } | Mark::Ring { group, at, spread } => {
                let Some((x, y)) = place(*at) else { return };
                let ends = [at.1 - spread, at.1 + spread].map(|end| place((at.0, end)));
                let stroke = Stroke { dashes: &[], ..group_stroke(*group, 0.6) };
                if *spread > 0.0 {
                    let low = ends[0].map_or(area.bottom, |end| end.1);
                    let high = ends[1].map_or(area.top, |end| end.1);
                    drawing.line(vec![(x, low), (x, high)], stroke);
                }
                let square =
                    Area { left: x - POINT, top: y - POINT, right: x + POINT, bottom: y + POINT };
                let full = matches!(mark, Mark::Point { .. });
                drawing.fill(square, if full { stroke.colour } else { WHITE });
                drawing.line(square.outline(), stroke);
            }
            Mark::Bar { group, sides, height } => {
                let corners = (place((sides.0, *height)), place((sides.1, *height)));
                if let (Some((left, top)), Some((right, _))) = corners {
                    drawing.fill(Area { left, top, right, bottom: area.bottom }, of_group(*group));
                }
            }
            Mark::Level { group, value } => {
                let y = self.place(panel, (1.0, *value)).map(|at| at.1);
                let stroke = Stroke { dashes: &[4.0, 1.2], ..group_stroke(*group, 0.7) };
                if let Some(y) = y {
                    drawing.line(vec![(area.left, y), (area.right, y)], stroke);
                }
            }
            Mark::Vertical(value) => {
                let x = panel.x_at(*value);
                drawing.line(vec![(x, area.top), (x, area.bottom)], Stroke::plain(BLACK, 0.4));
            }
            Mark::Diagonal => {
                let (low, high) = (self.x.low.max(self.y.low), self.x.high.min(self.y.high));
                let ends = [low, high].map(|v| (panel.x_at(v), panel.y_at(v)));
                drawing.line(ends.to_vec(), Stroke::plain(GREY, 0.5));
            }
        }
    }
}

impl Mark {
    /// The places that the axes have to reach.
    fn places(&self) -> Vec<(f64, f64)> {
        match self {
            Mark::Line { points, .. } => points.clone(),
            Mark::Point { at, spread, .. } | Mark::Ring { at, spread, .. } => {
                vec![(at.0, at.1 - spread), (at.0, at.1 + spread), *at]
            }
            Mark::Bar { sides, height, .. } => vec![(sides.0, 0.0), (sides.1, *height)],
            Mark::Level { value, .. } => vec![(f64::NAN, *value)],
            Mark::Vertical(_) | Mark::Diagonal => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(marks: Vec<Mark>, y: Scale) -> ChartPanel {
        ChartPanel { title: "panel".into(), marks, y, ..ChartPanel::default() }
    }

    #[test]
    fn every_mark_is_drawn() {
        let marks = vec![
            Mark::Line { group: 0, points: vec![(1.0, 1.0), (2.0, 30.0)] },
            Mark::Point { group: 1, at: (1.5, 3.0), spread: 4.0 },
            Mark::Ring { group: 2, at: (1.5, 5.0), spread: 0.0 },
            Mark::Level { group: 0, value: 2.0 },
            Mark::Vertical(1.2),
            Mark::Diagonal,
        ];
        let bars = vec![Mark::Bar { group: 0, sides: (-0.3, 0.3), height: 0.5 }];
        let names = ChartPanel {
            x: Scale::Names(vec!["first".into()]),
            y_range: Some((0.0, 1.0)),
            ..panel(bars, Scale::Linear)
        };
        let panels = vec![panel(marks, Scale::Logarithmic), names];
        let groups = vec!["a".into(), "b".into(), "c".into()];
        let input = Chart { panels, across: 2, groups, ..Chart::default() };
        let svg = chart(&input, &Style::default()).unwrap().svg();
        for text in ["first", "panel", ">a<", ">10<"] {
            assert!(svg.contains(text), "{text} in {svg}");
        }
    }

    #[test]
    fn odd_numbers_are_left_out() {
        let marks = vec![
            Mark::Point { group: 0, at: (f64::NAN, 1.0), spread: 0.0 },
            Mark::Point { group: 0, at: (1.0, -1.0), spread: f64::INFINITY },
            Mark::Line { group: 0, points: vec![(1.0, f64::INFINITY)] },
        ];
        for y in [Scale::Linear, Scale::Logarithmic] {
            let input = Chart { panels: vec![panel(marks.clone(), y)], ..Chart::default() };
            assert!(!chart(&input, &Style::default()).unwrap().svg().contains("NaN"));
        }
        let many = Chart { panels: vec![ChartPanel::default(); 25], ..Chart::default() };
        assert!(chart(&many, &Style::default()).is_err());
    }
}
