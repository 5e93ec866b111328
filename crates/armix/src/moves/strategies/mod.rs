//! How the background φ is chosen, one file each, and their registry.
//!
//! A proposal for a given φ is in detailed balance by itself. So every way of choosing φ is valid that does not look at the
//! current state, and a strategy cannot: it sees the past alone. The past grows while chains are running, as it does
//! in the paper; `freeze_after` ends that, and from then on φ always has the same distribution.

pub mod cells;
pub mod disagreement;
pub mod likely;
pub mod near;
pub mod other;
pub mod others;
pub mod pair;
pub mod sets;
pub mod several;
pub mod sizes;
pub mod uniform;

pub use disagreement::Disagreement;

use super::Phi;
use crate::history::Past;
use crate::rng::Rng;

/// A way of choosing φ.
pub trait Strategy: Send {
    /// Draws i and j, and where past states agree: i and j are in different cells of that. `false` if there is
    /// nothing to propose, because the past agrees.
    fn draw(&mut self, past: Past<'_>, rng: &mut Rng, phi: &mut Phi) -> bool;
}

/// A registered strategy.
pub struct Entry {
    /// The name: in a schedule it stands behind that of the move, as in `arm:cells`.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// Whether it wants to know how likely past states are.
    pub weighs: bool,
    /// How it is made.
    pub make: fn() -> Box<dyn Strategy>,
}

/// What moves use of which nothing else is said.
pub const DEFAULT: &str = "uniform";

/// All strategies for moves that use the past. One in this list is in the command line, and is verified and tested, like
/// all the others.
pub fn registry() -> Vec<Entry> {
    let entry = |name, about, make| Entry { name, about, weighs: false, make };
    vec![
        entry(
            DEFAULT,
            "any pair on which a state of the chain's past and one of everybody's disagree",
            || Box::new(uniform::Uniform::default()),
        ),
        entry("cells", "any two of the cells on which they disagree, however large", || {
            Box::new(cells::Cells::default())
        }),
        entry("sizes", "two cells, by the root of the product of their sizes", || {
            Box::new(sizes::Sizes::default())
        }),
        Entry {
            weighs: true,
            ..entry("likely", "past states that are likelier than others", || {
                Box::new(likely::Likely::default())
            })
        },
        entry(
            "near",
            "one past state of the chain and one of a chain close to it on the ladder",
            || Box::new(near::Near::default()),
        ),
        entry("other", "one past state of the chain and one of another chain", || {
            Box::new(other::Other::default())
        }),
        entry("others", "both past states from other chains", || {
            Box::new(others::Others::default())
        }),
        entry("several", "the cells of four past states instead of two", || {
            Box::new(several::Several::default())
        }),
        entry("sets", "all items of two cells are parted or joined, not two items alone", || {
            Box::new(sets::Sets::default())
        }),
    ]
}

/// Draws of past states that turn out to be the same partition are repeated this often, then the past is taken to
/// agree.
const TRIES: usize = 32;

/// Repeats a draw until it finds a pair.
fn try_to(phi: &mut Phi, mut draw: impl FnMut(&mut Phi) -> Option<Pair>) -> bool {
    let pair = (0..TRIES).find_map(|_| draw(phi));
    if let Some((i, j)) = pair {
        (phi.i, phi.j) = (i, j);
    }
    pair.is_some()
}

/// i and j.
type Pair = (crate::partition::Item, crate::partition::Item);
