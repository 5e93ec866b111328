//! `armix fit`: samples, shows progress, and ends with a summary.

use crate::cluster::{self, Team};
use crate::data::{self, DataArgs};
use crate::output::{emit, emit_json, say};
use crate::source::Source;
use crate::watch::{Until, Watch};
use crate::{memory, predict, print, report};
use armix::data::Dataset;
use armix::diagnose::Diagnosis;
use armix::ensemble::{Observer, Share, View};
use armix::error::{Error, Result};
use armix::ladder::Ladder;
use armix::moves::{Options, Schedule, strategies};
use armix::predict::HeldOutScore;
use armix::problem::{self, Choice};
use armix::run::{MAX_ITERATIONS, Run, Settings, Start, Wishes};
use armix::store::{DataInfo, Folder, Manifest, Recorder, Saved, Saving};
use armix::summary::Summary;
use armix::{answer, diagnose, ensemble, io};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// So many draws of each chain are kept in memory if the run is not saved, to judge them.
const KEPT_DRAWS: usize = 200;

/// … but not more labels than this in all.
const KEPT_LABELS: usize = 1 << 28;

/// The exit code of a run that was stopped by Ctrl-C.
const INTERRUPTED: u8 = 130;

#[derive(Debug, clap::Args)]
#[command(after_long_help = after_help())]
pub(crate) struct Args {
    /// Built-in data or a file with a network or a table (--help lists both)
    #[arg(default_value = "karate")]
    data: String,

    #[command(flatten)]
    model: DataArgs,

    /// The moves of an iteration, with repeats, as arm-cells*5,arm:sizes,gibbs; in several laps, before each of which the rungs of
    /// a ladder exchange states, as '(arm,gibbs)*4'; or auto, which tunes them in warm-up, or auto:LIST
    /// [default: '(arm:near*2,arm,gibbs)*4' with a ladder, else arm,gibbs]
    #[arg(long, value_name = "LIST", help_heading = "Sampling")]
    moves: Option<Schedule>,

    /// Independent ensembles; convergence is judged between them
    #[arg(long, default_value_t = 4, value_name = "R", help_heading = "Sampling")]
    ensembles: usize,

    /// Chains of an ensemble; they learn from each other's past [default: 1 with a ladder, else 8]
    #[arg(long, value_name = "S", help_heading = "Sampling")]
    chains: Option<usize>,

    /// Iterations after warm-up
    #[arg(short = 'n', long, default_value_t = 1000, value_name = "N", help_heading = "Sampling")]
    iterations: usize,

    /// Hot copies of every chain, which exchange states with it: the number of rungs, 16, with the lowest inverse
    /// temperature, 16:0.25, or all of them, 1,0.9,0.8. With 0 as the lowest the evidence is estimated, too. 1 is none.
    /// Hot copies make all scans of --moves, and fewer proposals
    /// [default: what a short trial suggests; none with --chains, and for models that cannot be heated]
    #[arg(long, value_name = "RUNGS", help_heading = "Sampling")]
    ladder: Option<Ladder>,

    /// Iterations before them, which fill the history: Gibbs scans, or all moves with a ladder or --moves auto
    #[arg(long, default_value_t = 50, value_name = "N", help_heading = "Sampling")]
    warmup: usize,

    /// The same seed, data and settings give the same result
    #[arg(long, default_value_t = 1, help_heading = "Sampling")]
    seed: u64,

    /// Where chains begin: prior (a draw), one, singletons, uniform:K, or a file of labels
    #[arg(long, default_value = "prior", help_heading = "Sampling")]
    start: String,

    /// Sample the hyper-parameters, too: each has a weakly informative prior, and begins at its option
    #[arg(long, help_heading = "Sampling")]
    sample_hyper: bool,

    /// Restricted scans that improve the launch state of sm and bsm
    #[arg(long, default_value_t = 5, value_name = "L", help_heading = "Sampling")]
    launch_scans: usize,

    /// Stop adapting after this many iterations: the history stays as it is then
    #[arg(long, value_name = "N", help_heading = "Sampling")]
    freeze_after: Option<usize>,

    /// Memory for the history, for example 500M or 2G; beyond it the history is thinned evenly
    #[arg(long, default_value = "1G", value_name = "SIZE", value_parser = parse_bytes, help_heading = "Sampling")]
    history_memory: u64,

    /// Let the history receive the states of so many iterations at once; processes that share an ensemble
    /// talk to each other that often
    #[arg(long, default_value_t = 1, value_name = "K", help_heading = "Sampling")]
    exchange_every: usize,

    /// The folder for the run [default: armix-runs/DATA-TIME]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: Option<PathBuf>,

    /// Do not save the run
    #[arg(long, conflicts_with = "out", help_heading = "Output")]
    no_save: bool,

    /// Save the partitions of every N-th iteration
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Output")]
    thin: u32,

    /// Which partitions to save
    #[arg(long, value_enum, default_value = "all", value_name = "WHICH", help_heading = "Output")]
    save_partitions: Partitions,

    #[command(flatten)]
    going: Going,
}

/// Which partitions are saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Partitions {
    /// Those of every iteration, or every N-th with --thin
    All,
    /// None: only the trace
    None,
}

/// Options of a run that is going on, new or resumed. They do not change its result.
#[derive(Debug, clap::Args)]
pub(crate) struct Going {
    /// Stop after this time, for example 90s, 30m or 8h; armix resume goes on from there
    #[arg(long, value_name = "TIME", value_parser = parse_time, help_heading = "Output")]
    max_time: Option<Duration>,

    /// Go on until the run has converged: it is asked after --iterations, and each time it is twice as long as the last
    /// time, unless --max-time is up before
    #[arg(long, help_heading = "Sampling")]
    pub(crate) until_converged: bool,

    /// Save a checkpoint this often
    #[arg(long, default_value = "10s", value_name = "TIME", value_parser = parse_time, help_heading = "Output")]
    checkpoint_every: Duration,

    /// Threads [default: one per core]
    #[arg(long, value_name = "N", help_heading = "Sampling")]
    pub(crate) threads: Option<usize>,

    /// Show no progress
    #[arg(short, long, help_heading = "Output")]
    pub(crate) quiet: bool,

    /// Print the summary as one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,

    /// Do not write report.html into the folder of the run
    #[arg(long, help_heading = "Output")]
    no_report: bool,
}

fn after_help() -> String {
    let moves: Vec<String> =
        (problem::moves().iter()).map(|(name, about)| format!("  {name:10} {about}\n")).collect();
    let strategies: Vec<String> =
        (strategies::registry().iter()).map(|s| format!("  {:10} {}\n", s.name, s.about)).collect();
    format!(
        "Moves:\n{}\nHow the moves that use the past (bsm, sarm, arm…) choose what to part or join, as in arm:cells:\n{}\n{HYPERS}\n{}\nExamples:\n  armix fit\n  armix fit friends.edges --iterations 5000 --seed 7\n  \
         armix fit bernoulli-1 --moves sm,gibbs --json\n  armix fit grid:10x10 --moves arm-cells*5,arm,gibbs --chains 16\n  \
         armix fit karate --prior mfm --sample-hyper\n  \
         armix fit iris.csv --hyper kappa=0.05,scale=0.1\n  armix fit letters.edges --directed --weights counts\n  \
         armix fit southern-women --bipartite\n  armix fit advice.edges --relation friends.edges --mask unknown.txt\n  \
         mpirun -n 4 armix fit friends.edges --chains 64      (docs/CLUSTER.md)",
        moves.concat(),
        strategies.concat(),
        data::data_help()
    )
}

const HYPERS: &str = "\
Hyper-parameters, with the priors that they have with --sample-hyper:
  alpha                  Gamma(1, 1), of crp and pitman-yor (--alpha)
  discount               Beta(1, 1), of pitman-yor (--discount)
  gamma                  Gamma(1, 1), of mfm (--gamma)
  beta_plus, beta_minus  Gamma(1, 1) each, of zeros and ones (--beta)
  beta                   Gamma(1, 1), of categorical
  shape, rate            Gamma(1, 1) each, of poisson
  degree_evenness        Gamma(1, 1), of irm-degree-corrected; large: degrees are alike in a block
  kappa, shape, scale    Gamma(1, 1), Gamma(4, 2), Gamma(1, 1), of gaussian
  kappa, freedom, psi    Gamma(1, 1), Gamma(8, 2), Gamma(1, 1), of niw
  Gamma(shape, rate). Those without an option of their own are set by --hyper NAME=VALUE. In mixed tables
  the type of the columns stands in front (real_kappa), with several relations the number of the
  relation behind (kappa_2). They are sampled after the moves of every lap, and the log joint
  includes their priors then. Trace, diagnosis, summary and report have them by these names.
";

fn parse_bytes(text: &str) -> std::result::Result<u64, String> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = match text[digits.len()..]
        .trim()
        .to_ascii_uppercase()
        .trim_end_matches("IB")
        .trim_end_matches('B')
    {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        "T" => 1u64 << 40,
        _ => return Err("write a number with K, M, G or T, for example 500M".into()),
    };
    let number: u64 =
        digits.parse().map_err(|_| "write a number with K, M, G or T, for example 500M")?;
    number.checked_mul(unit).ok_or_else(|| "this is too large".into())
}

/// The start: a name, or else a file of labels.
pub(crate) fn start(text: &str, names: &[String]) -> Result<Start> {
    let named = text.parse();
    if named.is_err() && !text.starts_with("uniform:") && Path::new(text).exists() {
        return Ok(Start::Labels(io::read_labels(Path::new(text), names)?));
    }
    named.map_err(|error: Error| match Path::new(text).extension() {
        Some(_) => Error::new(format!("--start {text}: there is no such file; use a file of labels, prior, one, singletons or uniform:K")),
        None => error,
    })
}

fn parse_time(text: &str) -> std::result::Result<Duration, String> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86400.0,
        _ => return Err("write a number with s, m, h or d, for example 30m".into()),
    };
    let number: f64 =
        digits.parse().map_err(|_| "write a number with s, m, h or d, for example 30m")?;
    Duration::try_from_secs_f64(number * unit).map_err(|_| "this is no possible time".into())
}

/// Data with the options that chose them, and how to find them again.
pub(crate) struct Loaded {
    pub(crate) info: DataInfo,
    /// Where the data are now, if they were moved.
    pub(crate) elsewhere: Option<String>,
    pub(crate) choice: Choice,
    pub(crate) dataset: Dataset,
}

pub(crate) fn run(args: Args, team: &mut Team) -> Result<ExitCode> {
    if team.rank() > 0 {
        return team.follow(args.going.threads);
    }
    let choice = args.model.choice()?;
    let dataset = args.model.load(&args.data)?;
    let wishes = Wishes { chains: args.chains, ladder: args.ladder, schedule: args.moves };
    let rest = Settings {
        ensembles: args.ensembles,
        iterations: args.iterations,
        warmup: args.warmup,
        moves: Options { launch_scans: args.launch_scans },
        start: start(&args.start, &dataset.names)?,
        seed: args.seed,
        sample_hyper: args.sample_hyper,
        freeze_after: args.freeze_after,
        history_bytes: args.history_memory,
        exchange_every: args.exchange_every,
        threads: args.going.threads.unwrap_or(team.threads()),
        ..Settings::default()
    };
    check_until(&args.going, &rest, args.no_save)?;
    let folder = args.out.map(Folder::new);
    folder.iter().filter(|_| !args.no_save).try_for_each(Folder::check_free)?;
    let open = wishes.ladder.is_none();
    let mut patience = Patience { began: Instant::now(), asked: args.going.quiet };
    let target = data::target(&dataset, &choice)?;
    let settings = target.settle(wishes, rest, &mut patience)?;
    let keep_draws = args.no_save.then(|| kept_every(&settings, dataset.data.n()));
    let settings = Settings { keep_draws, threads: 0, ..settings };
    let chains = Share::new(&settings, team.ranks()).most();
    target.check(&settings, chains)?; // before anything is written
    let own_hypers = target.model_hypers();
    drop(target); // the run has its own
    if !args.going.quiet {
        say(&data::describe(&args.data, &dataset));
        dataset.notes.iter().for_each(|note| say(&format!("  {note}")));
        if open && !settings.ladder.is_none() {
            let ladder = &settings.ladder;
            say(&format!(
                "  a short trial suggests a ladder of {} rungs for every chain (--ladder {ladder})",
                ladder.rungs()
            ));
        }
        let chains = settings.ensembles * settings.members();
        let hint = idle_threads(args.going.threads, ensemble::cores(), chains);
        hint.iter().filter(|_| team.ranks() == 1).for_each(|hint| say(&format!("  {hint}")));
        if settings.sample_hyper && own_hypers == 0 {
            let model = data::model_info(&choice, &dataset).name;
            say(&format!(
                "  hint: the hyper-parameters of {model} are fixed (docs/NONCONJUGATE.md); --sample-hyper samples those of the prior over partitions"
            ));
        }
    }
    let info = data::info(&args.data, &choice, &dataset)?;
    let recorder = if args.no_save {
        None
    } else {
        let folder = folder.unwrap_or_else(|| Folder::new(default_folder(&args.data)));
        let saving = Saving {
            partitions: args.save_partitions == Partitions::All,
            thin: args.thin as usize,
        };
        let model = data::model_info(&choice, &dataset);
        let manifest = Manifest::new(info.clone(), model, settings.clone(), saving);
        Some(Recorder::create(folder, manifest)?)
    };
    let loaded = Loaded { info, elsewhere: None, choice, dataset };
    carry_out(&loaded, settings, recorder, None, &args.going, team)
}

/// Asks for patience, once, if the trial before a run takes a while. Nothing is said before it begins: by then it is clear that
/// data and settings go together.
struct Patience {
    began: Instant,
    asked: bool,
}

impl Observer for Patience {
    fn after_round(&mut self, _view: &dyn View) -> Result<ControlFlow<()>> {
        if !self.asked && self.began.elapsed() > Duration::from_secs(2) {
            say("a short trial finds out what ladder is needed (--ladder 16 does without it)");
            self.asked = true;
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Whether one can tell that a run has converged.
pub(crate) fn check_until(going: &Going, settings: &Settings, unsaved: bool) -> Result<()> {
    match going.until_converged {
        true if settings.ensembles < 2 => Err(Error::new(
            "--until-converged compares ensembles: use at least two, --ensembles 4 for example",
        )),
        true if unsaved => Err(Error::new(
            "--until-converged looks at the partitions that were saved: leave out --no-save",
        )),
        _ => Ok(()),
    }
}

/// What to say if some threads will have nothing to do: a chain is never shared between threads.
fn idle_threads(asked: Option<usize>, cores: usize, chains: usize) -> Option<String> {
    let are =
        if chains == 1 { "is only 1 chain".into() } else { format!("are only {chains} chains") };
    // 0 leaves it open.
    match asked.filter(|&threads| threads > 0) {
        Some(threads) if threads > chains => Some(format!(
            "hint: there {are} for {threads} threads; use --threads {chains}, or more --ensembles or --chains"
        )),
        None if cores > chains => Some(format!(
            "hint: there {are} for {cores} cores; more --ensembles or --chains use the others, too"
        )),
        _ => None,
    }
}

/// Of a run that is not saved, the draws of every so-manieth iteration are kept in memory.
fn kept_every(settings: &Settings, n: usize) -> usize {
    let chains = settings.ensembles.saturating_mul(settings.chains).saturating_mul(n).max(1);
    let most = (KEPT_LABELS / chains).clamp(1, KEPT_DRAWS);
    settings.iterations.div_ceil(most).max(1)
}

/// Runs, new or resumed, to the end or until it is stopped, and prints the summary.
pub(crate) fn carry_out(
    loaded: &Loaded,
    settings: Settings,
    recorder: Option<Recorder>,
    from: Option<Saved>,
    going: &Going,
    team: &mut Team,
) -> Result<ExitCode> {
    let Loaded { info, elsewhere, choice, dataset } = loaded;
    let settings = Settings { threads: going.threads.unwrap_or(team.threads()), ..settings };
    let until = going.until_converged.then(|| Until::new(&settings, going.quiet));
    let (max_time, every) = (going.max_time, going.checkpoint_every);
    let mut watch = Watch::new(&settings, recorder, max_time, every, until, going.quiet)?;
    // How long it becomes is decided on the way.
    let iterations = if going.until_converged { MAX_ITERATIONS } else { settings.iterations };
    let settings = Settings { iterations, ..settings };
    team.listen(watch.stop())?;
    if team.ranks() > 1 && !going.quiet {
        team.describe(&settings).iter().for_each(|line| say(&format!("  {line}")));
    }
    team.begin(|| cluster::Job {
        data: info.clone(),
        elsewhere: elsewhere.clone(),
        settings: settings.clone(),
    })?;
    let (target, exchange) = (data::target(dataset, choice)?, team.exchange());
    let run = match from {
        None => target.run(&settings, None, &mut watch, exchange),
        Some(saved) => saved.with(|from| target.run(&settings, Some(from), &mut watch, exchange)),
    }?;
    team.over();
    if let Some(line) = team.report().filter(|_| !going.quiet) {
        say(&line);
    }
    let interrupted = run.interrupted() && !watch.timed_out() && !watch.converged();
    watch.finish(going.quiet);
    if going.until_converged && !going.quiet {
        let words = if watch.converged() { "converged" } else { "not known to have converged" };
        say(&format!("{words} after {} iterations", run.iterations));
    }
    if run.iterations == 0 {
        say("armix: stopped during warm-up: nothing was recorded");
    } else {
        conclude(run, &info.source, choice, dataset, &watch, going)?;
    }
    // Running out of --max-time is what was asked for; Ctrl-C is not.
    Ok(if interrupted { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
}

/// Prints the summary of a run that is over, and writes its report if it was saved.
fn conclude(
    run: Run,
    name: &str,
    model: &Choice,
    dataset: &Dataset,
    watch: &Watch,
    going: &Going,
) -> Result<()> {
    let saved = watch.folder().map(Source::folder).transpose()?;
    let run = saved.as_ref().map_or(&run, |source| &source.run);
    let diagnosis = Diagnosis::new(run, &diagnose::Options::default());
    let draws = run.some_draws_with_hypers(diagnosis.burn_in, 1000);
    let held_out = predict::held_out_score(model, dataset, &draws)?;
    let taken = Some(Taken { peak_memory_bytes: memory::peak_bytes() });
    print_summary(run, &diagnosis, name, &dataset.names, held_out.as_ref(), taken, going.json)?;
    // After Ctrl-C people want their prompt back.
    let unfinished = run.interrupted() && !watch.timed_out();
    let Some(source) = saved.filter(|_| !going.no_report && !unfinished) else {
        return Ok(());
    };
    let folder = watch.folder().unwrap_or(Path::new("."));
    let path = folder.join(report::FILE);
    let data = (model.clone(), dataset.clone());
    let options = answer::Options::default();
    let written = report::write_page(&source, &diagnosis, &options, Some(&data), None, &path);
    if let Err(error) = written {
        // The run itself is safe, and that is what counts.
        say(&format!("armix: there is no report: {error}"));
    } else if !going.quiet {
        say(&format!("report: {}", path.display()));
        say(&format!("which groups, and how sure: armix summary {}", folder.display()));
    }
    Ok(())
}

/// A summary with the names of the items, in the order of the labels.
#[derive(serde::Serialize)]
struct Named<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    items: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    held_out: Option<&'a HeldOutScore>,
    #[serde(flatten)]
    taken: Option<Taken>,
}

/// What a run that is just over has taken of this machine.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub(crate) struct Taken {
    /// `null` where the system does not tell.
    peak_memory_bytes: Option<u64>,
}

/// Prints the summary of a run.
pub(crate) fn print_summary(
    run: &Run,
    diagnosis: &Diagnosis,
    name: &str,
    names: &[String],
    held_out: Option<&HeldOutScore>,
    taken: Option<Taken>,
    json: bool,
) -> Result<()> {
    let summary = Summary::with(run, diagnosis);
    if json {
        return emit_json(&Named { summary: &summary, items: names, held_out, taken });
    }
    let peak = taken.and_then(|taken| taken.peak_memory_bytes);
    let mut text = print::summary(&summary, name, &run.settings, names, peak);
    if let Some(score) = held_out {
        text += &format!("\n{}\n", predict::describe_score(score));
    }
    emit(&text)
}

/// armix-runs/karate-20260131-120000, made unique by a number if need be.
fn default_folder(data: &str) -> PathBuf {
    let stem =
        Path::new(data).file_stem().map_or(data.into(), |s| s.to_string_lossy().into_owned());
    let plain: String = (stem.chars())
        .map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' })
        .collect();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let time = utc(now.map_or(0, |d| d.as_secs()));
    let name = format!("{plain}-{time}");
    // Made here, so that two runs that begin in the same second do not share a folder.
    let folder = |suffix: String| Path::new("armix-runs").join(format!("{name}{suffix}"));
    let candidates = std::iter::once(String::new()).chain((2..100).map(|k| format!("-{k}")));
    let _ = std::fs::create_dir_all("armix-runs");
    (candidates.map(folder))
        .find(|folder| std::fs::create_dir(folder).is_ok())
        .unwrap_or_else(|| folder(format!("-{}", std::process::id())))
}

/// Seconds since 1970 as YYYYMMDD-HHMMSS.
fn utc(seconds: u64) -> String {
    let (days, rest) = (seconds / 86400, seconds % 86400);
    // Count in years that begin in March, so that leap days come last.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    format!("{year:04}{month:02}{day:02}-{:02}{:02}{:02}", rest / 3600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    use super::{idle_threads, parse_bytes, parse_time, utc};
    use std::time::Duration;

    #[test]
    fn times_of_day() {
        assert_eq!(utc(0), "19700101-000000");
        assert_eq!(utc(951_782_399), "20000228-235959");
        assert_eq!(utc(951_782_400), "20000229-000000");
        assert_eq!(utc(1_798_761_599), "20261231-235959");
    }

    #[test]
    fn threads_that_would_be_idle() {
        for (asked, cores, chains) in
            [(None, 8, 8), (None, 2, 32), (Some(2), 8, 2), (Some(0), 4, 4)]
        {
            assert_eq!(idle_threads(asked, cores, chains), None);
        }
        let hint = |asked, cores, chains| idle_threads(asked, cores, chains).expect("a hint");
        assert!(hint(None, 8, 1).contains("there is only 1 chain for 8 cores; more --ensembles"));
        assert!(hint(Some(0), 8, 4).contains("4 chains for 8 cores"));
        assert!(hint(Some(6), 2, 4).contains("4 chains for 6 threads; use --threads 4, or more"));
    }

    #[test]
    fn sizes_and_times() {
        assert_eq!(parse_bytes("2G"), Ok(2 << 30));
        assert_eq!(parse_bytes("500 MiB"), Ok(500 << 20));
        assert!(
            parse_bytes("x").is_err()
                && parse_bytes("1X").is_err()
                && parse_bytes("99999999T").is_err()
        );
        assert_eq!(parse_time("30m"), Ok(Duration::from_secs(1800)));
        assert_eq!(parse_time("1.5h"), Ok(Duration::from_secs(5400)));
        assert!(
            parse_time("-1s").is_err() && parse_time("soon").is_err() && parse_time("1y").is_err()
        );
    }
}
