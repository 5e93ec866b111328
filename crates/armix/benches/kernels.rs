//! What the kernels take for each item, on four standard problems: `cargo bench -p armix`.

use armix::bench::{CLOCK, Place, measure};
use armix::builtin;
use armix::data::Data;
use armix::error::Result;
use armix::model::Model;
use armix::models::{Bernoulli, Irm};
use armix::run::Start;
use armix::state::Target;

/// CPU seconds for each kernel.
const SECONDS: f64 = 0.5;
/// Iterations that give a state and a past.
const WARMUP: usize = 100;

fn main() -> Result<()> {
    println!("{:26}{:10}{:>12}{:>10}{:>8}", "problem", "move", "ns per item", "×gibbs", "blocks");
    for name in ["karate", "planted:10,100,0.1,0.01", "bernoulli-1", "mixture:10,100,50,0.1"] {
        let loaded = builtin::load(name, 1).expect("built in")?;
        match loaded.data {
            Data::Network(graph) => print(name, Target::new(Irm::new(graph, 1.0, 1.0)?, 1.0)?)?,
            Data::Table(table) => print(name, Target::new(Bernoulli::new(table, 1.0, 1.0)?, 1.0)?)?,
        }
    }
    println!("{CLOCK} time, one thread");
    Ok(())
}

fn print<M: Model>(name: &str, target: Target<M>) -> Result<()> {
    let place = Place::reach(&target, &Start::Crp, WARMUP, 1)?;
    let moves = ["gibbs", "arm", "arm-cells"].map(String::from);
    for cost in measure(&target, &place, &moves, SECONDS, 1, &mut |_| ())? {
        let ns = cost.ns_per(target.model.n());
        println!("{name:26}{:10}{ns:>12.0}{:>10.2}{:>8.1}", cost.name, cost.to_gibbs, cost.blocks);
    }
    Ok(())
}
