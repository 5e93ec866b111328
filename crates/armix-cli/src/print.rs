//! The summary of a run for people.

use crate::memory;
use crate::summary::Full;
use armix::blocks::Blocks;
use armix::diagnose::{Diagnosis, Motion, Quantity};
use armix::run::Settings;
use armix::summary::Summary;
use std::fmt::Write;

/// Blocks beyond this many are only counted.
const MAX_BLOCKS: usize = 60;
/// Names of a block beyond this many are only counted.
const MAX_NAMES: usize = 60;

/// The columns of the terminal, within reason.
pub(crate) fn terminal_width() -> usize {
    match console::Term::stdout().size_checked() {
        Some((_, columns)) => (columns as usize).clamp(40, 120),
        None => 100,
    }
}

/// The whole summary, wrapped to the terminal; with the peak memory of a run that is just over.
pub(crate) fn summary(
    s: &Summary,
    data: &str,
    settings: &Settings,
    names: &[String],
    peak: Option<u64>,
) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write_summary(&mut out, s, data, settings, names, peak, terminal_width());
    out
}

/// The verdict, why, and what to do.
fn write_verdict(
    out: &mut String,
    verdict: &str,
    reasons: &[String],
    next: &[String],
    width: usize,
) -> std::fmt::Result {
    match reasons {
        [reason] => wrap(out, "", &format!("{verdict}: {reason}."), width)?,
        _ => {
            writeln!(out, "{verdict}:")?;
            reasons.iter().try_for_each(|reason| wrap(out, "  - ", reason, width))?;
        }
    }
    if !next.is_empty() {
        wrap(out, "Next: ", &format!("{}.", next.join("; ")), width)?;
    }
    Ok(())
}

fn chains(count: usize) -> String {
    if count == 1 { "1 chain".into() } else { format!("{count} chains") }
}

/// The verdict and the tables of a diagnosis.
pub(crate) fn diagnosis(d: &Diagnosis, title: &str) -> String {
    let mut out = String::new();
    let _ = write_diagnosis(&mut out, d, title, terminal_width());
    out
}

fn write_diagnosis(out: &mut String, d: &Diagnosis, title: &str, width: usize) -> std::fmt::Result {
    let head = format!(
        "{title}: {} ensembles × {} × {} iterations, the first {} of them left out as burn-in",
        d.ensembles,
        chains(d.chains),
        d.iterations,
        d.burn_in
    );
    wrap(out, "", &head, width)?;
    writeln!(out)?;
    write_verdict(out, d.verdict.words(), &d.reasons, &d.next, width)?;
    writeln!(out)?;
    // R̂ is two characters wide for the formatter, but one on the screen.
    writeln!(out, "{:21}{:>8}{:>8}{:>7}{:>7}{:>8}", "", "R̂", "rank R̂", "ESS", "tail", "ACT")?;
    for q in &d.quantities {
        writeln!(out, "{}", quantity_line(q).trim_end())?;
    }
    let note = "R̂ and ESS are between ensembles, chain by chain; ACT is the autocorrelation time in recorded draws";
    wrap(out, "", note, width)?;
    if let Some(distances) = &d.distances {
        writeln!(out)?;
        let title =
            "distance of partitions (variation of information, bits) within and between ensembles";
        wrap(out, "", title, width)?;
        for (e, row) in distances.vi.iter().enumerate().take(12) {
            let cells: Vec<String> = row.iter().take(12).map(|v| format!("{v:>7.3}")).collect();
            writeln!(out, "{:>4} {}", e + 1, cells.concat())?;
        }
    } else if d.partitions == 0 {
        wrap(out, "", "No partitions were saved, so that only numbers could be compared.", width)?;
    }
    Ok(())
}

fn quantity_line(q: &Quantity) -> String {
    let name = format!("{:21}", q.label);
    match q.motion {
        Motion::Constant => format!("{name}  stays at {} in all chains", number(q.mean)),
        Motion::Stuck => format!("{name}      ∞  stays at different values"),
        Motion::Moving => {
            let rhat = |value: Option<f64>| match value {
                Some(value) if value < 1000.0 => format!("{value:>7.3}"),
                Some(value) if value.is_finite() => format!("{value:>7.0}"),
                Some(_) => format!("{:>7}", "∞"),
                None => format!("{:>7}", "–"),
            };
            let count = |value: Option<f64>| value.map_or("–".into(), |v| format!("{v:.0}"));
            let act = q.act.map_or("–".into(), |v| format!("{v:.1}"));
            format!(
                "{name}{}{}{:>7}{:>7}{act:>8}",
                rhat(q.rhat),
                rhat(q.rhat_rank),
                count(q.ess_bulk),
                count(q.ess_tail)
            )
        }
    }
}

/// A number with a sensible number of digits.
fn number(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.3}") }
}

fn write_summary(
    out: &mut String,
    s: &Summary,
    data: &str,
    settings: &Settings,
    names: &[String],
    peak: Option<u64>,
    width: usize,
) -> std::fmt::Result {
    let memory = peak.map_or(String::new(), |bytes| format!(" and {}", memory::in_mib(bytes)));
    let head = format!(
        "{data}, model {}: {} ensembles × {} × {} iterations of {} in {:.1} s{memory} (seed {}){}",
        s.model,
        s.ensembles,
        chains(s.chains),
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
    write_verdict(out, s.verdict.words(), &s.reasons, &s.next, width)?;
    writeln!(out)?;
    let rhat = match (s.log_joint.rhat, s.log_joint.rhat_sd) {
        (Some(rhat), Some(sd)) => format!("R̂ {rhat:.3} ± {sd:.3} between ensembles"),
        (Some(rhat), None) => format!("R̂ {rhat:.3} between ensembles"),
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
    if let Some(first) = s.proposals.first() {
        let mean =
            |at: usize| s.proposals.iter().map(|p| p[at].1).sum::<f64>() / s.proposals.len() as f64;
        let often: Vec<String> = (first.iter().enumerate())
            .map(|(at, (name, _))| format!("{name} {:.1}", mean(at)))
            .collect();
        let text = format!("{} times in an iteration, as tuned in warm-up", often.join(", "));
        wrap(out, "proposals  ", &text, width)?;
    }
    if let Some(ladder) = &s.ladder {
        let hottest =
            ladder.coldness.iter().filter_map(|b| b.last()).fold(1.0_f64, |a, &b| a.min(b));
        let rungs = ladder.coldness.first().map_or(0, Vec::len);
        let rates = ladder.swap_rate().map_or(String::new(), |(lowest, mean)| {
            format!(
                ", {:.0} % of exchanges accepted (at least {:.0} %)",
                100.0 * mean,
                100.0 * lowest
            )
        });
        let text = format!("{rungs} rungs down to inverse temperature {hottest:.2}{rates}");
        wrap(out, "ladder     ", &text, width)?;
        if let Some(evidence) = &ladder.log_evidence {
            writeln!(out, "evidence   ln p(data) = {:.2} ± {:.2}", evidence.value, evidence.error)?;
        }
    }
    for (name, h) in &s.hypers {
        let [low, _, high] = h.quantiles;
        let rhat = h.rhat.map_or(String::new(), |rhat| format!(", R̂ {rhat:.3}"));
        let values =
            format!("mean {:.3}, sd {:.3}, 95 % {low:.3} to {high:.3}{rhat}", h.mean, h.sd);
        wrap(out, &format!("{name:10} "), &values, width)?;
    }
    writeln!(out)?;
    write_moves(out, s, width)?;
    writeln!(out)?;
    let blocks = s.best_blocks();
    writeln!(out, "best partition: {} blocks, log joint {best}", blocks.len())?;
    for (number, block) in blocks.iter().enumerate().take(MAX_BLOCKS) {
        let list = listed(block, names);
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

/// The answer of a run, wrapped to the terminal.
pub(crate) fn answer(full: &Full<'_>, title: &str) -> String {
    let mut out = String::new();
    let _ = write_answer(&mut out, full, title, terminal_width());
    out
}

fn write_answer(out: &mut String, full: &Full<'_>, title: &str, width: usize) -> std::fmt::Result {
    let a = full.answer;
    let what = match a.loss.as_str() {
        "vi" => "least expected variation of information",
        "binder" => "least expected Binder loss",
        "ari" => "least expected 1 − adjusted Rand index",
        _ => "highest log joint",
    };
    let unit = if a.loss == "vi" || a.loss == "map" { " bits" } else { "" };
    let head = format!(
        "{title}: {} blocks, the partition with the {what} ({:.3}{unit} from a draw on average; {} draws, {} of them different)",
        a.blocks(),
        a.expected_loss,
        a.draws,
        a.distinct_draws
    );
    wrap(out, "", &head, width)?;
    writeln!(out)?;
    write_verdict(out, full.verdict.words(), full.reasons, full.next, width)?;
    writeln!(out)?;
    let members = a.members();
    let mut order: Vec<usize> = (0..members.len()).collect();
    order.sort_by_key(|&k| std::cmp::Reverse(members[k].len()));
    for &k in order.iter().take(MAX_BLOCKS) {
        let mean =
            members[k].iter().map(|&i| a.certainty[i]).sum::<f64>() / members[k].len() as f64;
        let mut about = format!("{} items, certainty {mean:.2}", members[k].len());
        match full.blocks {
            Some(Blocks::Densities(table)) => {
                if let Some(d) = table.get(k).and_then(|row| row[k]) {
                    about += &format!(", density {:.3} [{:.3}, {:.3}]", d.mean, d.lower, d.upper);
                }
            }
            Some(Blocks::Features(table)) => {
                let telling = table[k].iter().take(4).map(|f| {
                    format!(
                        "{} {:.2} (overall {:.2})",
                        f.name(full.columns),
                        f.probability.mean,
                        f.overall.unwrap_or(f64::NAN)
                    )
                });
                about += &format!("; {}", telling.collect::<Vec<_>>().join(", "));
            }
            None => {}
        }
        wrap(out, &format!("{:>4}  ", k + 1), &about, width)?;
        wrap(out, "      ", &listed(&members[k], full.items), width)?;
    }
    if members.len() > MAX_BLOCKS {
        let left = members.len() - MAX_BLOCKS;
        writeln!(out, "      and {left} smaller blocks; --labels FILE lists all items")?;
    }
    writeln!(out)?;
    if let Some(items) = &a.sure {
        let text = format!(
            "{} of {} items are sure: any two of them are together, or apart, with probability {} as they are here",
            items.iter().flatten().count(),
            items.len(),
            a.ball.level
        );
        wrap(out, "certain   ", &text, width)?;
    }
    let ball = format!(
        "{:.0} % of the draws are within {:.3} bits; of these the farthest has {} blocks, the coarsest {}, the finest {}",
        100.0 * a.ball.level,
        a.ball.radius,
        a.ball.horizontal.blocks,
        a.ball.upper.blocks,
        a.ball.lower.blocks
    );
    wrap(out, "ball      ", &ball, width)?;
    let likely = a.blocks_posterior.iter().filter(|(_, p)| **p >= 0.005);
    let list: Vec<String> = likely.map(|(k, p)| format!("{k}: {:.1} %", 100.0 * p)).collect();
    wrap(out, "blocks    ", &list.join(", "), width)?;
    if a.modes.len() > 1 {
        for (at, mode) in a.modes.iter().enumerate() {
            let log_joint = mode.log_joint.map_or(String::new(), |l| format!(", log joint {l:.1}"));
            let shares: Vec<String> =
                mode.ensembles.iter().map(|s| format!("{:.0} %", 100.0 * s)).collect();
            let text = format!(
                "{:.0} % of the draws, {} blocks, {:.2} bits from the estimate{log_joint}; by ensemble {}",
                100.0 * mode.weight,
                mode.blocks,
                mode.distance,
                shares.join(", ")
            );
            wrap(out, &format!("mode {:<5}", at + 1), &text, width)?;
        }
    } else {
        wrap(out, "modes     ", "one: the estimate says it all", width)?;
    }
    if let Some(truth) = &full.truth {
        let text = format!("ARI {:.3}, NMI {:.3}, VI {:.3} bits", truth.ari, truth.nmi, truth.vi);
        wrap(out, "truth     ", &text, width)?;
        write_confusion(out, &truth.confusion)?;
    }
    if let Some(score) = &full.held_out {
        wrap(out, "held out  ", &crate::predict::describe_score(score), width)?;
    }
    Ok(())
}

/// How many items of each block have each known label, if that fits a screen.
fn write_confusion(out: &mut String, confusion: &[Vec<u32>]) -> std::fmt::Result {
    let labels = confusion.first().map_or(0, Vec::len);
    if labels > 12 || confusion.len() > 40 {
        return writeln!(out, "          the table of blocks and known labels is in --json");
    }
    let heads: Vec<String> = (1..=labels).map(|l| format!("{l:>6}")).collect();
    writeln!(out, "          block \\ label{}", heads.concat())?;
    for (block, row) in confusion.iter().enumerate() {
        let cells: Vec<String> = row.iter().map(|count| format!("{count:>6}")).collect();
        writeln!(out, "          {:>13}{}", block + 1, cells.concat())?;
    }
    Ok(())
}

/// The names of some items, as many as fit.
fn listed(items: &[usize], names: &[String]) -> String {
    let mut listed: Vec<&str> = items.iter().take(MAX_NAMES).map(|&i| names[i].as_str()).collect();
    let spaced = listed.iter().any(|n| n.contains(' '));
    let more = format!("and {} more", items.len().saturating_sub(MAX_NAMES));
    if items.len() > MAX_NAMES {
        listed.push(&more);
    }
    listed.join(if spaced { ", " } else { " " })
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
pub(crate) fn wrap(out: &mut String, label: &str, text: &str, width: usize) -> std::fmt::Result {
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
