//! The account of a run: the page that tells everything about it, its settings, and the command that gives it
//! again.

use crate::answer::{self, Answer, Truth};
use crate::constraints::Beforehand;
use crate::data::Dataset;
use crate::diagnose::Diagnosis;
use crate::error::Result;
use crate::prior::PriorChoice;
use crate::problem::Choice;
use crate::report::{Contents, Page, html};
use crate::run::Run;
use crate::store::Manifest;

/// A run with what is known about where it came from.
pub struct Told<'a> {
    /// What the data are called.
    pub title: &'a str,
    /// The run.
    pub run: &'a Run,
    /// The items' names.
    pub names: &'a [String],
    /// For a run of armix.
    pub manifest: Option<&'a Manifest>,
    /// The data, if they are there.
    pub data: Option<&'a (Choice, Dataset)>,
    /// Known labels and what they are called.
    pub truth: Option<(&'a str, &'a [u32])>,
}

/// The report as one HTML text.
pub fn page(told: &Told<'_>, diagnosis: &Diagnosis, options: &answer::Options) -> Result<String> {
    let mut notes = told.data.map_or(Vec::new(), |(_, dataset)| dataset.notes.clone());
    let burn_in = options.burn_in.of(told.run.iterations);
    let with_bests;
    let run = if told.run.drawn.iter().any(|&iteration| iteration >= burn_in) {
        told.run
    } else {
        notes.push(
            "No partitions were saved after burn-in: the estimate is made of the best partition of each chain."
                .into(),
        );
        with_bests = told.run.with_bests_as_draws();
        &with_bests
    };
    let answer = Answer::new(run, options)?;
    if answer.draws < run.traces().map(|t| run.draws_after(t, diagnosis.burn_in).len()).sum() {
        notes.push(format!(
            "The estimate is made of {} draws, evenly spread over all chains.",
            answer.draws
        ));
    }
    let truth = told.truth.map(|(name, known)| (name, Truth::new(&answer.labels, known)));
    let page = Page::new(Contents {
        title: told.title,
        run,
        diagnosis,
        answer: &answer,
        names: told.names,
        data: told.data.map(|(choice, dataset)| (dataset, choice.beta)),
        truth: truth.as_ref().map(|(name, truth)| (*name, truth)),
        notes,
        provenance: match told.manifest {
            Some(manifest) => provenance(manifest, told.run.seconds),
            None => vec![("data".into(), told.title.to_string())],
        },
        command: match (told.manifest, told.data) {
            (Some(manifest), Some((choice, _))) => to_repeat(manifest, choice),
            _ => String::new(),
        },
    })?;
    Ok(html(&page))
}

/// The command that gives the same run again; what is as usual is left out.
pub fn to_repeat(manifest: &Manifest, args: &Choice) -> String {
    let (s, usual) = (&manifest.settings, crate::run::Settings::default());
    let mut words = vec!["armix".to_string(), "fit".to_string(), quoted(&manifest.data.source)];
    let mut option = |name: &str, value: String, differs: bool| {
        if differs {
            words.push(format!("--{name}"));
            words.push(quoted(&value));
        }
    };
    let number = |x: f64| x.to_string();
    let text = |x: &Option<String>| x.clone().unwrap_or_default();
    option("model", text(&args.model), args.model.is_some());
    option("alpha", number(args.alpha), args.alpha != 1.0);
    let types: Vec<String> =
        args.types.iter().map(|(name, kind)| format!("{name}={kind}")).collect();
    option("types", types.join(","), !types.is_empty());
    option("prior", args.prior.name().into(), !args.prior.is_crp());
    match args.prior {
        PriorChoice::Crp => {}
        PriorChoice::PitmanYor { discount } => option("discount", number(discount), true),
        PriorChoice::Mfm { gamma, components } => {
            option("gamma", number(gamma), true);
            option("components", components.to_string(), true);
        }
    }
    option("beta", format!("{},{}", args.beta.0, args.beta.1), args.beta != (1.0, 1.0));
    option("hyper", by_name(&args.hypers), !args.hypers.is_empty());
    let plain = Choice::default();
    let degrees = args.degrees_of_freedom;
    option("degrees-of-freedom", number(degrees), degrees != plain.degrees_of_freedom);
    option("menu", args.menu.to_string(), args.menu != plain.menu);
    option("data-seed", args.data_seed.to_string(), args.data_seed != 1);
    option("threshold", number(args.threshold), args.threshold != 0.0);
    option("downsample", number(args.downsample.unwrap_or(1.0)), args.downsample.is_some());
    option("columns", args.columns.clone().unwrap_or_default().join(","), args.columns.is_some());
    option("id-column", text(&args.id_column), args.id_column.is_some());
    option("label-column", text(&args.label_column), args.label_column.is_some());
    option("hold-out", number(args.hold_out.unwrap_or(0.0)), args.hold_out.is_some());
    option(
        "hold-out-seed",
        args.hold_out_seed.to_string(),
        args.hold_out.is_some() && args.hold_out_seed != 1,
    );
    let Beforehand { together, known, max_blocks } = &args.beforehand;
    option("known", "KNOWN-FILE".into(), !known.is_empty());
    option("together", "TOGETHER-FILE".into(), !together.is_empty());
    option("max-blocks", max_blocks.unwrap_or(0).to_string(), max_blocks.is_some());
    let weights: Vec<String> = args.weights.iter().map(ToString::to_string).collect();
    option("weights", weights.join(","), !weights.is_empty());
    let path = |path: &std::path::Path| path.to_string_lossy().into_owned();
    option("mask", args.mask.as_deref().map_or(String::new(), path), args.mask.is_some());
    for relation in &args.relations {
        option("relation", path(relation), true);
    }
    // What these are if nothing is said depends on the model and on each other.
    option("moves", s.schedule.to_string(), true);
    option("ensembles", s.ensembles.to_string(), s.ensembles != usual.ensembles);
    option("chains", s.chains.to_string(), true);
    option("ladder", s.ladder.to_string(), true);
    option("iterations", s.iterations.to_string(), s.iterations != usual.iterations);
    option("warmup", s.warmup.to_string(), s.warmup != usual.warmup);
    option("seed", s.seed.to_string(), true);
    let start = match &s.start {
        crate::run::Start::Labels(_) => "LABELS-FILE".to_string(),
        start => start.to_string(),
    };
    option("start", start, s.start != usual.start);
    option("launch-scans", s.moves.launch_scans.to_string(), s.moves != usual.moves);
    option("freeze-after", s.freeze_after.unwrap_or(0).to_string(), s.freeze_after.is_some());
    option("history-memory", s.history_bytes.to_string(), s.history_bytes != usual.history_bytes);
    option("thin", manifest.saving.thin.to_string(), manifest.saving.thin != 1);
    let flags = [
        ("sample-hyper", s.sample_hyper),
        ("largest-component", args.largest_component),
        ("directed", args.directed),
        ("self-loops", args.self_loops),
        ("bipartite", args.bipartite),
    ];
    words.extend(flags.iter().filter(|flag| flag.1).map(|flag| format!("--{}", flag.0)));
    words.join(" ")
}

/// Hyper-parameters as the option `--hyper` has them.
fn by_name(hypers: &[(String, f64)]) -> String {
    hypers.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(",")
}

/// A word as a shell wants it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,+=@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_string()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Settings, data and versions by name.
pub fn provenance(manifest: &Manifest, seconds: f64) -> Vec<(String, String)> {
    let s = &manifest.settings;
    let pairs = [
        ("data", manifest.data.source.clone()),
        ("fingerprint of the data", manifest.data.fingerprint.clone()),
        ("model", manifest.model.name.clone()),
        ("prior over partitions", manifest.model.prior.describe(manifest.model.alpha)),
        ("β⁺, β⁻", format!("{}, {}", manifest.model.beta.0, manifest.model.beta.1)),
        (
            "hyper-parameters",
            match (s.sample_hyper, &manifest.model.hypers[..]) {
                (true, []) => "sampled; these values are where they begin".into(),
                (true, hypers) => format!("sampled, beginning there and at {}", by_name(hypers)),
                (false, []) => "fixed".into(),
                (false, hypers) => format!("fixed; {}", by_name(hypers)),
            },
        ),
        ("moves of an iteration", s.schedule.to_string()),
        ("ensembles × chains", format!("{} × {}", s.ensembles, s.chains)),
        (
            "ladder",
            match s.ladder.is_none() {
                true => "none".into(),
                false => {
                    format!("{}: chains at {} temperatures for each", s.ladder, s.ladder.rungs())
                }
            },
        ),
        ("iterations", format!("{} after {} of warm-up", s.iterations, s.warmup)),
        ("start", s.start.to_string()),
        ("seed", s.seed.to_string()),
        (
            "saved partitions",
            match (manifest.saving.partitions, manifest.saving.thin) {
                (false, _) => "none".into(),
                (true, 1) => "every iteration".into(),
                (true, thin) => format!("every {thin} iterations"),
            },
        ),
        ("seconds", format!("{seconds:.1}")),
        ("armix", manifest.armix.clone()),
    ];
    pairs.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_are_quoted_for_the_shell() {
        assert_eq!(quoted("data/karate.edges"), "data/karate.edges");
        assert_eq!(quoted("my file.csv"), "'my file.csv'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted("$(rm)"), "'$(rm)'");
        assert_eq!(quoted(""), "''");
    }
}
