//! Samples built-in data and nothing else, for counting instructions: `sample karate 300`.

use armix::data::Data;
use armix::error::{Error, Result};
use armix::model::Model;
use armix::models::{Bernoulli, Irm};
use armix::run::Settings;
use armix::state::Target;
use armix::{builtin, ensemble};

fn main() -> Result<()> {
    let usage = || Error::new("write the name of built-in data and the number of iterations");
    let mut words = std::env::args().skip(1);
    let loaded = words.next().and_then(|name| builtin::load(&name, 1)).ok_or_else(usage)??;
    let iterations = words.next().and_then(|count| count.parse().ok()).ok_or_else(usage)?;
    match loaded.data {
        Data::Network(graph) => sample(Target::new(Irm::new(graph, 1.0, 1.0)?, 1.0)?, iterations),
        Data::Table(table) => {
            sample(Target::new(Bernoulli::new(table, 1.0, 1.0)?, 1.0)?, iterations)
        }
        _ => Err(usage()),
    }
}

fn sample<M: Model>(target: Target<M>, iterations: usize) -> Result<()> {
    let settings =
        Settings { ensembles: 1, chains: 4, iterations, threads: 1, ..Settings::default() };
    let run = ensemble::sample(&target, &settings, &mut ())?;
    let best = run.best().map_or(f64::NAN, |(log_joint, _)| *log_joint);
    println!("best log joint {best:.3}");
    Ok(())
}
