//! Pictures for papers: of how chains move, and of the blocks they find.
//!
//! Each picture takes plain numbers and gives a [`Drawing`]: a list of lines, boxes, texts and
//! images. [`Drawing::svg`] writes it as SVG; other formats draw the same shapes. The same input
//! gives the same bytes.
//!
//! ```
//! use armix::plot::{Iterations, Series, Style, Trace, trace};
//!
//! let chain = |values: Vec<f64>| vec![Series { label: "chain 1".into(), group: 0, values }];
//! let input = Trace {
//!     ln_joint: chain(vec![-12.0, -9.5, -9.0]),
//!     blocks: chain(vec![5.0, 3.0, 2.0]),
//!     groups: vec!["ensemble 1".into()],
//!     iterations: Iterations::default(),
//! };
//! let svg = trace(&input, &Style::default())?.svg();
//! assert!(svg.contains("log joint"));
//! # Ok::<(), armix::error::Error>(())
//! ```

mod acf;
mod adjacency;
mod axis;
mod chart;
mod colour;
mod drawing;
mod fractions;
mod legend;
mod matrix;
mod panel;
pub mod png;
mod similarity;
mod style;
mod svg;
mod text;
mod thin;
mod trace;
mod weights;

pub use acf::{Acf, Quantity, acf};
pub use adjacency::{Adjacency, adjacency};
pub use chart::{Chart, ChartPanel, Mark, Scale, chart};
pub use colour::Colour;
pub use drawing::{Anchor, Area, Direction, Drawing, Image, Shape, Stroke, Text};
pub use fractions::{FractionPanel, Fractions, fractions};
pub use similarity::{Similarity, similarity};
pub use style::{CM, INCH, Style};
pub use trace::{Trace, trace};
pub use weights::{Weights, weights};

/// One line of a picture: a quantity of a chain over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What the line is called.
    pub label: String,
    /// The group that the chain belongs to (its ensemble), from 0; it gives colour and dashes.
    pub group: usize,
    /// The values. A line has a gap where a value is not finite.
    pub values: Vec<f64>,
}

/// Which iterations the values belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Iterations {
    /// The iteration of the first value.
    pub first: u64,
    /// Iterations from one value to the next.
    pub every: u64,
    /// The first iteration after the burn-in; what comes before is shaded.
    pub burn_in: Option<u64>,
}

impl Default for Iterations {
    fn default() -> Self {
        Iterations { first: 1, every: 1, burn_in: None }
    }
}

impl Iterations {
    /// The first place and the step, for lines.
    fn places(&self) -> (f64, f64) {
        (self.first as f64, self.every.max(1) as f64)
    }

    /// An axis for as many values.
    fn axis(&self, values: usize) -> axis::Axis {
        let (first, step) = self.places();
        // Counting begins at 0, so that the first mark is at the border.
        let begin = if first <= step { 0.0 } else { first };
        axis::Axis::whole(begin, (first + step * values.saturating_sub(1) as f64).max(begin + 2.5))
    }
}

#[cfg(test)]
mod tests;
