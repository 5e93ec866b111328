//! The summary of a run for people.

use armix::diagnose::Verdict;
use armix::run::Settings;
use armix::summary::Summary;
use std::fmt::Write;

/// Blocks beyond this many are only counted.
const MAX_BLOCKS: usize = 60;
/// Names of a block beyond this many are only counted.
const MAX_NAMES: usize = 60;

/// The whole summary, wrapped to the terminal.
pub(crate) fn summary(s: &Summary, data: &str, settings: &Settings, names: &[String]) -> String {
    let width = match console::Term::stdout().size_checked() {
        Some((_, columns)) => (columns as usize).clamp(40, 120),
        None => 100,
    };
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write_summary(&mut out, s, data, settings, names, width);
    out
}

fn write_summary(
    out: &mut String,
    s: &Summary,
    data: &str,
    settings: &Settings,
    names: &[String],
    width: usize,
) -> std::fmt::Result {
    let head = format!(
        "{data}, model {}: {} ensembles × {} chains × {} iterations of {} in {:.1} s (seed {}){}",
        s.model,
        s.ensembles,
        s.chains,
        s.iterations,
        settings.schedule,
        s.seconds,
        s.seed,
        if s.interrupted {
            format!("; stopped early, {} were asked for", settings.iterations)
        } else {
            String::new()
        },
    );
    wrap(out, "", &head, width)?;
    writeln!(out)?;
    let verdict = match s.verdict {
        Verdict::Converged => "Converged",
        Verdict::NotConverged => "Not converged",
        Verdict::TooShort => "Too short to tell",
    };
    wrap(out, "", &format!("{verdict}: {}.", s.reasons.join("; ")), width)?;
    writeln!(out)?;
    let rhat = match (s.log_joint.rhat, s.log_joint.rhat_sd) {
        (Some(rhat), Some(sd)) => format!("R̂ {rhat:.3} ± {sd:.3} between ensembles"),
        _ if s.ensembles < 2 => "no R̂ (one ensemble)".into(),
        _ if s.iterations < 4 => "no R̂ (too few iterations)".into(),
        _ => "no R̂ (all chains stay at one value)".into(),
    };
    let best = format!("{:.2}", s.log_joint.best);
    wrap(
        out,
        "log joint  ",
        &format!("mean {:.2}, sd {:.2}, best {best}, {rhat}", s.log_joint.mean, s.log_joint.sd),
        width,
    )?;
    writeln!(out)?;
    writeln!(out, "blocks     mean {:.2}, mode {}", s.blocks.mean, s.blocks.mode)?;
    let shown = s.blocks.distribution.iter().filter(|(_, p)| **p >= 0.005);
    for (k, p) in shown {
        let bar = "█".repeat((p * 30.0).round() as usize);
        let line = format!("{k:>9}  {:>5.1} % {bar}", 100.0 * p);
        writeln!(out, "{}", line.trim_end())?;
    }
    writeln!(out)?;
    write_moves(out, s, width)?;
    writeln!(out)?;
    let blocks = s.best_blocks();
    writeln!(out, "best partition: {} blocks, log joint {best}", blocks.len())?;
    for (number, block) in blocks.iter().enumerate().take(MAX_BLOCKS) {
        let mut members: Vec<&str> =
            block.iter().take(MAX_NAMES).map(|&i| names[i].as_str()).collect();
        let spaced = members.iter().any(|n| n.contains(' '));
        let more = format!("and {} more", block.len().saturating_sub(MAX_NAMES));
        if block.len() > MAX_NAMES {
            members.push(&more);
        }
        let list = members.join(if spaced { ", " } else { " " });
        wrap(out, &format!("{:>4} ({})  ", number + 1, block.len()), &list, width)?;
    }
    if blocks.len() > MAX_BLOCKS {
        writeln!(
            out,
            "     and {} smaller blocks; --json lists all labels",
            blocks.len() - MAX_BLOCKS
        )?;
    }
    Ok(())
}

fn write_moves(out: &mut String, s: &Summary, width: usize) -> std::fmt::Result {
    writeln!(out, "move      proposed accept %   idle  seconds    work")?;
    for (name, m) in &s.moves {
        let accept = m.accept_rate.map_or("–".into(), |rate| format!("{:.2}", 100.0 * rate));
        writeln!(
            out,
            "{name:9} {:>8} {accept:>8} {:>6} {:>8.2} {:>7}",
            short(m.proposed),
            short(m.idle),
            m.seconds,
            short(m.work)
        )?;
    }
    for (name, m) in &s.moves {
        if m.idle > 0 && m.proposed == 0 {
            wrap(
                out,
                "",
                &format!("{name} had nothing to do: the past states of the chains agree"),
                width,
            )?;
        }
    }
    let known: Vec<f64> = s.normalised_iterations.iter().flatten().copied().collect();
    if !known.is_empty() {
        let mean = known.iter().sum::<f64>() / known.len() as f64;
        let text =
            format!("{mean:.0} Gibbs scans' worth of time per chain (normalised iterations)");
        wrap(out, "effort    ", &text, width)?;
    }
    Ok(())
}

/// 1234567 as 1.23M.
fn short(count: u64) -> String {
    let x = count as f64;
    match count {
        0..1_000_000 => count.to_string(),
        1_000_000..1_000_000_000 => format!("{:.2}M", x / 1e6),
        _ => format!("{:.2}G", x / 1e9),
    }
}

/// Writes words after a label, with the following lines indented to the same column.
fn wrap(out: &mut String, label: &str, text: &str, width: usize) -> std::fmt::Result {
    let indent = console::measure_text_width(label);
    let mut column = indent;
    write!(out, "{label}")?;
    for (at, word) in text.split(' ').enumerate() {
        let length = console::measure_text_width(word);
        if at > 0 && column + 1 + length > width {
            write!(out, "\n{:indent$}", "")?;
            column = indent;
        } else if at > 0 {
            write!(out, " ")?;
            column += 1;
        }
        write!(out, "{word}")?;
        column += length;
    }
    writeln!(out)
}
