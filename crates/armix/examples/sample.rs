//! Samples built-in data and nothing else, for counting instructions: `sample karate 300`.

use armix::builtin;
use armix::error::{Error, Result};
use armix::problem::{self, Choice};
use armix::run::Settings;

fn main() -> Result<()> {
    let usage = || Error::new("write the name of built-in data and the number of iterations");
    let mut words = std::env::args().skip(1);
    let loaded = words.next().and_then(|name| builtin::load(&name, 1)).ok_or_else(usage)??;
    let iterations = words.next().and_then(|count| count.parse().ok()).ok_or_else(usage)?;
    let target = problem::target(&loaded, &Choice::default())?;
    let settings =
        Settings { ensembles: 1, chains: 4, iterations, threads: 1, ..Settings::default() };
    let run = target.sample(&settings, &mut ())?;
    let best = run.best().map_or(f64::NAN, |(log_joint, _)| *log_joint);
    println!("best log joint {best:.3}");
    Ok(())
}
