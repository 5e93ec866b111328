//! `armix verify`: the exact kernels of every move and model, and the controls that must be caught.

use crate::output::{emit, emit_json};
use armix::error::Result;
use armix::verify::{Line, TOLERANCE, verify_all};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
For every move and model all paths of the proposal are enumerated on 4 items (every background)
and 5 items (a fixed sample of backgrounds). With the other priors, at a higher temperature (hot) and with the
strategies that choose backgrounds (arm:cells and so on) it is a sample on 4 items. Exchanges between the rungs of a
ladder are those of all pairs of states. The columns are the largest errors found:
  row sum     the probabilities of all outcomes sum to 1
  replay      the way back is given its true probability
  paths       outcomes that more than one path leads to
  balance     detailed balance with the exact posterior
  invariance  |πP − π|, the exact posterior after one application of the move
Negative controls are moves with a known mistake; each of them must be caught.")]
pub(crate) struct Args {
    /// Print a JSON list
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let mut lines = Vec::new();
    let mut failed = None;
    let mut show = |text: &str| failed = failed.take().or(emit(text).err());
    if !args.json {
        show(&format!(
            "{:15} {:36} {} {:>8} {:>8} {:>6} {:>8} {:>10}\n",
            "model", "move", "n", "row sum", "replay", "paths", "balance", "invariance"
        ));
    }
    verify_all(&mut |line| {
        if !args.json {
            show(&row(&line));
        }
        lines.push(line);
    });
    if let Some(error) = failed {
        return Err(error);
    }
    let faults = lines.iter().filter(|l| !l.passed).count();
    if args.json {
        emit_json(&lines)?;
    } else {
        let paths: u64 = lines.iter().map(|l| l.errors.paths).sum();
        let controls = lines.iter().filter(|l| l.control).count();
        emit(&match faults {
            0 => format!(
                "All {} kernels are exact to {TOLERANCE:e}, and all {controls} negative controls were caught ({paths} paths walked).\n",
                lines.len() - controls
            ),
            _ => format!("{faults} of {} checks FAILED.\n", lines.len()),
        })?;
    }
    Ok(if faults == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn row(line: &Line) -> String {
    let error = |value: Option<f64>| value.map_or("–".into(), |v| format!("{v:.1e}"));
    let e = &line.errors;
    let result = match (line.control, line.passed) {
        (false, true) => "exact",
        (false, false) => "WRONG",
        (true, true) => "caught",
        (true, false) => "NOT CAUGHT",
    };
    format!(
        "{:15} {:36} {} {:>8} {:>8} {:>6} {:>8} {:>10}  {result}\n",
        line.model,
        line.name,
        line.n,
        error(Some(e.row_sum)),
        error(e.replay),
        e.multiple_paths.map_or("–".into(), |p| p.to_string()),
        error(e.balance),
        error(Some(e.invariance)),
    )
}
