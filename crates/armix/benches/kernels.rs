//! What the kernels take for each item, on standard problems of all models: `cargo bench -p armix`.

use armix::any_target::AnyTarget;
use armix::bench::CLOCK;
use armix::builtin;
use armix::error::Result;
use armix::problem::{Choice, target};
use armix::run::Start;

/// CPU seconds for each kernel.
const SECONDS: f64 = 0.5;
/// Iterations that give a state and a past.
const WARMUP: usize = 100;

fn main() -> Result<()> {
    println!("{:26}{:10}{:>12}{:>10}{:>8}", "problem", "move", "ns per item", "×gibbs", "blocks");
    let problems = [
        ("karate", None),
        ("planted:10,100,0.1,0.01", None),
        ("bernoulli-1", None),
        ("mixture:10,100,50,0.1", None),
        ("levels:10,100,50", None),
        ("counts:10,100,50", None),
        ("reals:10,100,50", None),
        ("mixture:10,100,50,0.1", Some("mixed")),
        ("reals:10,100,10", Some("niw")),
    ];
    for (name, model) in problems {
        let loaded = builtin::load(name, 1).expect("built in")?;
        let choice = Choice { model: model.map(String::from), ..Choice::default() };
        print(name, &*target(&loaded, &choice)?)?;
    }
    println!("{CLOCK} time, one thread");
    Ok(())
}

fn print(name: &str, target: &dyn AnyTarget) -> Result<()> {
    let place = target.reach(&Start::Prior, WARMUP, 1)?;
    let moves = ["gibbs", "arm", "arm-cells"].map(String::from);
    for cost in target.measure(&place, &moves, SECONDS, 1, &mut |_| ())? {
        let ns = cost.ns_per(target.n());
        println!("{name:26}{:10}{ns:>12.0}{:>10.2}{:>8.1}", cost.name, cost.to_gibbs, cost.blocks);
    }
    Ok(())
}
