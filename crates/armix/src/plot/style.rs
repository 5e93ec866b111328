//! The paper that a picture is drawn on: its size, its title and the room they leave.

use super::drawing::{Anchor, Area, Drawing};
use super::panel::NORMAL;
use super::text::fitting;
use crate::error::{Error, Result};

/// A centimetre in points.
pub const CM: f64 = 72.0 / 2.54;
/// An inch in points.
pub const INCH: f64 = 72.0;

/// Around everything.
pub(super) const MARGIN: f64 = 4.0;
const LEAST: f64 = 100.0;
pub(super) const LARGEST: f64 = 1500.0;

/// Size and title of a picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Style {
    /// The width in points.
    pub width: f64,
    /// The height in points, or what suits the picture.
    pub height: Option<f64>,
    /// What is written above the picture.
    pub title: Option<String>,
}

impl Default for Style {
    /// One column of a journal, 8.6 cm wide.
    fn default() -> Self {
        Style { width: 8.6 * CM, height: None, title: None }
    }
}

impl Style {
    /// An empty picture with its title, and the area that is left for the rest.
    pub(super) fn begin(&self, usual_height: f64, description: &str) -> Result<(Drawing, Area)> {
        let height = self.height.unwrap_or(usual_height);
        for (name, value) in [("width", self.width), ("height", height)] {
            if !(LEAST..=LARGEST).contains(&value) {
                return Err(Error::new(format!(
                    "a picture cannot have a {name} of {value} points; choose {LEAST} to {LARGEST} points ({:.1} to {:.0} cm)",
                    LEAST / CM,
                    LARGEST / CM
                )));
            }
        }
        let described = match &self.title {
            Some(title) => format!("{title}: {description}"),
            None => description.to_string(),
        };
        let mut drawing = Drawing::new(self.width, height, described);
        let mut area =
            Area { left: MARGIN, top: MARGIN, right: self.width - MARGIN, bottom: height - MARGIN };
        if let Some(title) = self.title.as_deref().filter(|title| !title.trim().is_empty()) {
            let size = NORMAL + 1.0;
            let title = fitting(title.trim(), size, area.width());
            let middle = self.width / 2.0;
            drawing.text((middle, area.top + size * 0.8), size, Anchor::Middle, &title);
            area.top += size + 4.0;
        }
        Ok((drawing, area))
    }
}

/// An error if axes and legend leave no room for what they are about.
pub(super) fn check_room(area: &Area) -> Result<()> {
    if area.width() < 24.0 || area.height() < 18.0 {
        return Err(Error::new(
            "the picture is too small for its axes and its legend; choose a larger width or height",
        ));
    }
    Ok(())
}
