//! The verdict on a run, in plain words, with its reasons and the next step.

use super::{Distances, Motion, Pairs, Quantity, mean_sd};
use crate::run::Run;
use serde::{Deserialize, Serialize};

/// R̂ up to this is taken as agreement.
pub const RHAT_LIMIT: f64 = 1.1;

/// With fewer recorded iterations than this nothing can be said.
pub const TOO_SHORT: usize = 100;

/// With fewer effective draws than this (one chain of each ensemble taken together) nothing can be said.
pub const LEAST_ESS: f64 = 50.0;

/// Partitions of two ensembles may be farther apart than those of one ensemble by this factor:
/// chains of one ensemble know each other, and neighbouring draws of a chain are alike.
const APART: f64 = 1.15;
/// Of single pairs of items some may well be unlucky: up to this share of them may have a larger R̂.
const UNLUCKY: f64 = 0.1;
/// Distances below this (in bits) are no disagreement, whatever their ratio.
const CLOSE: f64 = 0.05;

/// A reason to look at the schedule.
const NOTHING_MOVED: &str = "no move changed anything: the chains are where they began";

/// Whether to believe a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The ensembles agree.
    Converged,
    /// The ensembles disagree.
    NotConverged,
    /// Too few iterations or ensembles to tell.
    TooShort,
}

impl Verdict {
    /// The verdict in words.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Converged => "Converged",
            Verdict::NotConverged => "Not converged",
            Verdict::TooShort => "Too short to tell",
        }
    }
}

/// A verdict with its reasons and what to do next.
pub(super) struct Judgement {
    pub(super) verdict: Verdict,
    pub(super) reasons: Vec<String>,
    pub(super) next: Vec<String>,
}

impl Judgement {
    fn new(verdict: Verdict, reasons: Vec<String>, next: &[&str]) -> Self {
        Judgement { verdict, reasons, next: next.iter().map(ToString::to_string).collect() }
    }
}

/// Judges a run; also tells which ensembles (counted from 1) sit in the same mode.
pub(super) fn judge(
    run: &Run,
    burn_in: usize,
    quantities: &[Quantity],
    pairs: Option<Pairs>,
    distances: Option<&Distances>,
) -> (Judgement, Vec<Vec<usize>>) {
    let modes = distances.map_or_else(|| vec![(1..=run.ensembles.len()).collect()], modes);
    let too_little = too_little(run, burn_in);
    if !too_little.reasons.is_empty() {
        return (too_little, modes);
    }
    let mut reasons = Vec::new();
    if modes.len() > 1 {
        reasons.push(describe_modes(run, burn_in, &modes));
    }
    reasons.extend(disagreements(quantities, pairs));
    let mut counters = run.traces().flat_map(|t| &t.counters).peekable();
    let still = counters.peek().is_some() && counters.all(|c| c.accepted == 0);
    if still && !reasons.is_empty() {
        reasons.insert(0, NOTHING_MOVED.into());
    }
    if !reasons.is_empty() {
        let other = match run.settings.ladder.is_none() {
            true => {
                "or with hot copies of the chains, which do not get stuck: --chains 1 --ladder 24, and what is usual with it for --moves"
            }
            false => "or with a longer ladder (--ladder 32) or more chains (--chains)",
        };
        let next = [
            longer(run),
            other,
            "do not report one of the answers as the answer: the modes above are what is known so far",
        ];
        let next = match (run.has_log_joint(), modes.len() > 1) {
            (true, true) => &next[..],
            (true, false) => &next[..2],
            (false, _) => &next[..1],
        };
        return (Judgement::new(Verdict::NotConverged, reasons, next), modes);
    }
    if still {
        let next = ["use gibbs among the moves"];
        return (Judgement::new(Verdict::TooShort, vec![NOTHING_MOVED.into()], &next), modes);
    }
    if let Some(reason) = too_few_effective_draws(quantities) {
        return (Judgement::new(Verdict::TooShort, vec![reason], &[longer(run)]), modes);
    }
    (Judgement::new(Verdict::Converged, agreements(run, quantities, pairs, distances), &[]), modes)
}

/// What to do about too few draws.
fn longer(run: &Run) -> &'static str {
    match run.has_log_joint() {
        true => "run longer: armix resume RUN --iterations +N",
        false => "let the chains run longer",
    }
}

/// The numbers that every iteration has.
fn traced(quantities: &[Quantity]) -> impl Iterator<Item = &Quantity> {
    quantities.iter().filter(|q| !q.name.starts_with("co_assignment"))
}

fn too_few_effective_draws(quantities: &[Quantity]) -> Option<String> {
    let moving = || traced(quantities).filter(|q| q.motion == Motion::Moving);
    if let Some(unknown) = moving().find(|q| q.ess_bulk.is_none()) {
        return Some(format!(
            "there are too few iterations after burn-in to know the effective draws of the {}",
            unknown.label
        ));
    }
    let least = moving().filter_map(|q| Some((q.ess_bulk?, q))).min_by(|a, b| a.0.total_cmp(&b.0));
    let (ess, quantity) = least.filter(|(ess, _)| *ess < LEAST_ESS)?;
    Some(format!(
        "the ensembles agree, but the {} has only {ess:.1} effective draws; {LEAST_ESS} are needed",
        quantity.label
    ))
}

/// Why a run is believed.
fn agreements(
    run: &Run,
    quantities: &[Quantity],
    pairs: Option<Pairs>,
    distances: Option<&Distances>,
) -> Vec<String> {
    let rhats = traced(quantities).flat_map(|q| [q.rhat, q.rhat_rank]).flatten();
    let worst = rhats.fold(1.0, f64::max);
    let log_joint = if run.has_log_joint() { "log joint, " } else { "" };
    let mut reasons = vec![format!(
        "the ensembles agree: R̂ of {log_joint}number of blocks and block sizes is at most {worst:.3}"
    )];
    if let Some(Pairs { count, above }) = pairs {
        let few = if above == 0 { "none".into() } else { above.to_string() };
        reasons.push(format!(
            "how often two items are together: {few} of {count} pairs {} an R̂ above {RHAT_LIMIT}",
            if above > 1 { "have" } else { "has" }
        ));
    }
    if let Some((within, between)) = distances.and_then(|d| Some((d.vi_within(), d.vi_between()?)))
    {
        reasons.push(format!(
            "partitions of different ensembles are as close as those of one ensemble ({between:.2} and {within:.2} bits)"
        ));
    }
    if distances.is_none() && pairs.is_none() {
        reasons
            .push("there are no partitions to compare, so that only numbers were looked at".into());
    }
    reasons
}

/// Whether there is enough to judge at all.
fn too_little(run: &Run, burn_in: usize) -> Judgement {
    let (mut reasons, mut next) = (Vec::new(), Vec::new());
    let kept = run.iterations - burn_in;
    if run.iterations < TOO_SHORT {
        reasons.push(format!(
            "{} iterations were recorded; at least {TOO_SHORT} are needed to say anything",
            run.iterations
        ));
        next.push(longer(run));
    } else if kept < TOO_SHORT / 2 {
        reasons.push(format!(
            "{kept} iterations are left after burn-in; at least {} are needed to say anything",
            TOO_SHORT / 2
        ));
        next.push("leave out less (--burn-in), or run longer");
    }
    if run.ensembles.len() < 2 && run.has_log_joint() {
        reasons.push("there is one ensemble, so that there is no R̂: chains of one ensemble depend on each other".into());
        next.push("use at least 2 ensembles (--ensembles), better 4");
    } else if run.ensembles.len() < 2 {
        reasons.push("there is one chain, so that there is nothing to compare it with".into());
        next.push("give the draws of at least 2 independent chains, better 4");
    }
    Judgement::new(Verdict::TooShort, reasons, &next)
}

/// On what the ensembles disagree.
fn disagreements(quantities: &[Quantity], pairs: Option<Pairs>) -> Vec<String> {
    let (mut above, mut stuck, mut reasons) = (Vec::new(), Vec::new(), Vec::new());
    for q in traced(quantities) {
        let worst = q.rhat.into_iter().chain(q.rhat_rank).fold(1.0, f64::max);
        match (q.motion, worst) {
            (Motion::Stuck, _) => stuck.push(q.label.clone()),
            (_, worst) if worst.is_infinite() => above.push(format!("{} ∞", q.label)),
            (_, worst) if worst > RHAT_LIMIT => above.push(format!("{} {worst:.3}", q.label)),
            _ => {}
        }
    }
    if !stuck.is_empty() {
        reasons.push(format!(
            "chains do not move: each stays at a value of its own ({})",
            stuck.join(", ")
        ));
    }
    if !above.is_empty() {
        reasons.push(format!("R̂ between ensembles is above {RHAT_LIMIT} ({})", above.join(", ")));
    }
    if let Some(Pairs { count, above }) =
        pairs.filter(|p| p.above as f64 > UNLUCKY * p.count as f64)
    {
        reasons.push(format!(
            "for {above} of {count} pairs of items ensembles disagree on how often they are together (R̂ above {RHAT_LIMIT})"
        ));
    }
    reasons
}

/// Ensembles (counted from 1) in groups: two belong together if partitions of the one and the other
/// are about as far apart as two of the same ensemble.
fn modes(distances: &Distances) -> Vec<Vec<usize>> {
    let vi = &distances.vi;
    let within = |e: usize, f: usize| (vi[e][e] + vi[f][f]) / 2.0;
    let together = |e: usize, f: usize| vi[e][f] <= (APART * within(e, f)).max(CLOSE);
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for e in 0..vi.len() {
        let (joined, mut rest): (Vec<_>, Vec<_>) = (groups.into_iter())
            .partition(|group: &Vec<usize>| group.iter().any(|&f| together(e, f - 1)));
        let mut group: Vec<usize> = joined.into_iter().flatten().collect();
        group.push(e + 1);
        group.sort_unstable();
        rest.push(group);
        groups = rest;
    }
    groups.sort();
    groups
}

/// "ensembles 1, 3 sit in one mode, 2, 4 in another, 37 nats apart".
fn describe_modes(run: &Run, burn_in: usize, modes: &[Vec<usize>]) -> String {
    let list =
        |group: &[usize]| group.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    if modes.iter().all(|group| group.len() == 1) {
        return match modes.len() {
            2 => format!("the two ensembles sit in different modes{}", nats(run, burn_in, modes)),
            _ => format!(
                "each of the {} ensembles sits in a mode of its own{}",
                modes.len(),
                nats(run, burn_in, modes)
            ),
        };
    }
    let mut parts = Vec::new();
    for (at, group) in modes.iter().enumerate() {
        let (noun, verb) =
            if group.len() > 1 { ("ensembles", "sit") } else { ("ensemble", "sits") };
        parts.push(match at {
            0 => format!("{noun} {} {verb} in one mode", list(group)),
            1 => format!("{} in another", list(group)),
            _ => format!("{} in yet another", list(group)),
        });
    }
    parts.join(", ") + &nats(run, burn_in, modes)
}

/// How far the mean log joints of the modes are apart.
fn nats(run: &Run, burn_in: usize, modes: &[Vec<usize>]) -> String {
    let mean = |group: &Vec<usize>| {
        let kept = group.iter().flat_map(|e| &run.ensembles[e - 1]);
        let values: Vec<f64> =
            kept.flat_map(|t| t.log_joint.get(burn_in..).unwrap_or(&[])).copied().collect();
        mean_sd(&values).0
    };
    let means: Vec<f64> = modes.iter().map(mean).collect();
    let gap = means.iter().copied().fold(f64::MIN, f64::max)
        - means.iter().copied().fold(f64::MAX, f64::min);
    match gap.is_finite() {
        true if gap >= 10.0 => format!(", {gap:.0} nats apart in log joint"),
        true => format!(", {gap:.1} nats apart in log joint"),
        false => String::new(),
    }
}
