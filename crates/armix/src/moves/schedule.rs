//! The schedule: which moves make an iteration.

use super::{Move, Options, registry, strategies};
use crate::error::{Error, Result};
use crate::model::Model;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A list of moves with repeats, written `arm-cells*5,arm,gibbs`; a strategy can follow the name of a move, as in
/// `arm:cells,gibbs`. An iteration can have several *laps*, `(arm,gibbs)*4`: the rungs of a ladder exchange states before
/// each of them. With `auto:` in front proposals are made as often as they turn out to be worth it (see
/// [`crate::tuning`]); `auto` alone has a list of its own.
///
/// ```
/// let schedule: armix::moves::Schedule = "( arm-cells*5, gibbs ) * 2".parse().unwrap();
/// assert_eq!(schedule.to_string(), "(arm-cells*5,gibbs)*2");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Schedule {
    moves: Vec<(String, usize)>,
    laps: usize,
    tuned: bool,
}

/// What `auto` stands for.
const AUTO: &str = "(arm:near,arm,arm-cells,sm,gibbs)*4";

impl Schedule {
    /// The moves' names with how often each is repeated in a lap.
    pub fn moves(&self) -> &[(String, usize)] {
        &self.moves
    }

    /// How often an iteration goes through the list.
    pub fn laps(&self) -> usize {
        self.laps
    }

    /// The moves if nothing is said: more proposals with a ladder, where there is more to learn from the past, most of them
    /// from chains that are not much hotter or colder.
    pub fn usual(with_ladder: bool) -> Self {
        let (entries, laps): (&[(&str, usize)], usize) = match with_ladder {
            true => (&[("arm:near", 2), ("arm", 1), ("gibbs", 1)], 4),
            false => (&[("arm", 1), ("gibbs", 1)], 1),
        };
        let moves = entries.iter().map(|(name, times)| (name.to_string(), *times)).collect();
        Schedule { moves, laps, tuned: false }
    }

    /// Whether how often proposals are made is tuned in warm-up.
    pub fn is_tuned(&self) -> bool {
        self.tuned
    }

    /// One instance of every entry, for one chain.
    pub fn build<M: Model>(&self, options: &Options) -> Result<Vec<Box<dyn Move<M>>>> {
        let registry = registry::<M>();
        let strategies = strategies::registry();
        let find = |(name, _): &(String, usize)| {
            let (name, strategy) = parts(name);
            let entry = registry.iter().find(|e| e.name == name).ok_or_else(|| {
                let names: Vec<&str> = registry.iter().map(|e| e.name).collect();
                Error::new(format!("there is no move '{name}'; the moves are {}", names.join(", ")))
            })?;
            let chosen =
                strategies.iter().find(|s| s.name == strategy.unwrap_or(strategies::DEFAULT));
            match (chosen, strategy) {
                (Some(_), Some(strategy)) if !entry.uses_past() => Err(Error::new(format!(
                    "the move {name} does not use the past: leave out :{strategy}"
                ))),
                (Some(chosen), _) => Ok(entry.build_with(options, (chosen.make)())),
                (None, _) => {
                    let names: Vec<&str> = strategies.iter().map(|e| e.name).collect();
                    Err(Error::new(format!(
                        "moves '{self}': there is no strategy '{}'; behind the name of a move can stand :{}",
                        strategy.unwrap_or_default(),
                        names.join(", :")
                    )))
                }
            }
        };
        self.moves.iter().map(find).collect()
    }

    /// Whether a strategy wants to know how likely past states are.
    pub fn weighs_past(&self) -> bool {
        let strategies = strategies::registry();
        let weighs = |name: &str| strategies.iter().any(|s| s.weighs && s.name == name);
        self.moves.iter().any(|(name, _)| parts(name).1.is_some_and(weighs))
    }
}

/// The move and its strategy.
fn parts(name: &str) -> (&str, Option<&str>) {
    match name.split_once(':') {
        None => (name, None),
        Some((name, strategy)) => (name, Some(strategy)),
    }
}

impl Default for Schedule {
    fn default() -> Self {
        Schedule::usual(false)
    }
}

impl FromStr for Schedule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text.trim() == "auto" {
            return Ok(Schedule { tuned: true, ..AUTO.parse()? });
        }
        if let Some(list) = text.trim().strip_prefix("auto:") {
            return Ok(Schedule { tuned: true, ..list.parse()? });
        }
        let wrong = |why: &str| {
            Error::new(format!(
                "moves '{text}': {why}; write for example arm,gibbs or arm-cells*5,arm,gibbs or (arm,gibbs)*4"
            ))
        };
        let often = |times: &str| {
            let times = times.trim().parse::<u16>().ok().filter(|&t| t > 0);
            times.map(usize::from).ok_or_else(|| wrong("after * comes a number from 1 to 65535"))
        };
        let (list, laps) = match text.trim().strip_prefix('(') {
            None => (text, 1),
            Some(rest) => {
                let (list, times) = rest.split_once(')').ok_or_else(|| wrong("a ) is missing"))?;
                match times.trim().strip_prefix('*') {
                    Some(times) => (list, often(times)?),
                    None if times.trim().is_empty() => (list, 1),
                    None => return Err(wrong("behind ) can only stand how often, as in )*4")),
                }
            }
        };
        let mut moves = Vec::new();
        for part in list.split(',') {
            let (name, times) = match part.split_once('*') {
                None => (part.trim(), 1),
                Some((name, times)) => (name.trim(), often(times)?),
            };
            if name.is_empty() {
                return Err(wrong("a move is missing"));
            }
            if name.contains(['(', ')']) {
                return Err(wrong("brackets can only stand around the whole list"));
            }
            moves.push((name.to_string(), times));
        }
        Ok(Schedule { moves, laps, tuned: false })
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.tuned {
            f.write_str("auto:")?;
        }
        if self.laps > 1 {
            f.write_str("(")?;
        }
        for (at, (name, times)) in self.moves.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            match times {
                1 => write!(f, "{comma}{name}")?,
                _ => write!(f, "{comma}{name}*{times}")?,
            }
        }
        match self.laps {
            1 => Ok(()),
            laps => write!(f, ")*{laps}"),
        }
    }
}

impl TryFrom<String> for Schedule {
    type Error = Error;
    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<Schedule> for String {
    fn from(schedule: Schedule) -> String {
        schedule.to_string()
    }
}
