//! The schedule: which moves make an iteration.

use super::{Move, Options, registry};
use crate::error::{Error, Result};
use crate::model::Model;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A list of moves with repeats, written `arm-cells*5,arm,gibbs`.
///
/// ```
/// let schedule: armix::moves::Schedule = "arm-cells*5, gibbs".parse().unwrap();
/// assert_eq!(schedule.to_string(), "arm-cells*5,gibbs");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Schedule(Vec<(String, usize)>);

impl Schedule {
    /// The moves' names with how often each is repeated.
    pub fn moves(&self) -> &[(String, usize)] {
        &self.0
    }

    /// One instance of every entry, for one chain.
    pub fn build<M: Model>(&self, options: &Options) -> Result<Vec<Box<dyn Move<M>>>> {
        let registry = registry::<M>();
        (self.0.iter())
            .map(|(name, _)| match registry.iter().find(|e| e.name == name) {
                Some(entry) => Ok(entry.build(options)),
                None => {
                    let names: Vec<&str> = registry.iter().map(|e| e.name).collect();
                    Err(Error::new(format!(
                        "there is no move '{name}'; the moves are {}",
                        names.join(", ")
                    )))
                }
            })
            .collect()
    }
}

impl Default for Schedule {
    fn default() -> Self {
        Schedule(vec![("arm".into(), 1), ("gibbs".into(), 1)])
    }
}

impl FromStr for Schedule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = |why: &str| {
            Error::new(format!(
                "moves '{text}': {why}; write for example arm,gibbs or arm-cells*5,arm,gibbs"
            ))
        };
        let mut moves = Vec::new();
        for part in text.split(',') {
            let (name, times) = match part.split_once('*') {
                None => (part.trim(), 1),
                Some((name, times)) => {
                    let times = times.trim().parse::<u16>().ok().filter(|&t| t > 0);
                    let times =
                        times.ok_or_else(|| wrong("after * comes a number from 1 to 65535"))?;
                    (name.trim(), usize::from(times))
                }
            };
            if name.is_empty() {
                return Err(wrong("a move is missing"));
            }
            moves.push((name.to_string(), times));
        }
        Ok(Schedule(moves))
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, times)) in self.0.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            match times {
                1 => write!(f, "{comma}{name}")?,
                _ => write!(f, "{comma}{name}*{times}")?,
            }
        }
        Ok(())
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
