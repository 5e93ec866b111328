//! What a run was made with, for people: its settings, and the command that gives it again.

use crate::data::DataArgs;
use armix::store::Manifest;

/// The command that gives the same run again; what is as usual is left out.
pub(crate) fn to_repeat(manifest: &Manifest, args: &DataArgs) -> String {
    let (s, usual) = (&manifest.settings, armix::run::Settings::default());
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
    option("beta", format!("{},{}", args.beta.0, args.beta.1), args.beta != (1.0, 1.0));
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
    option("moves", s.schedule.to_string(), s.schedule != usual.schedule);
    option("ensembles", s.ensembles.to_string(), s.ensembles != usual.ensembles);
    option("chains", s.chains.to_string(), s.chains != usual.chains);
    option("iterations", s.iterations.to_string(), s.iterations != usual.iterations);
    option("warmup", s.warmup.to_string(), s.warmup != usual.warmup);
    option("seed", s.seed.to_string(), true);
    let start = match &s.start {
        armix::run::Start::Labels(_) => "LABELS-FILE".to_string(),
        start => start.to_string(),
    };
    option("start", start, s.start != usual.start);
    option("launch-scans", s.moves.launch_scans.to_string(), s.moves != usual.moves);
    option("freeze-after", s.freeze_after.unwrap_or(0).to_string(), s.freeze_after.is_some());
    option("history-memory", s.history_bytes.to_string(), s.history_bytes != usual.history_bytes);
    option("thin", manifest.saving.thin.to_string(), manifest.saving.thin != 1);
    if args.largest_component {
        words.push("--largest-component".into());
    }
    words.join(" ")
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
pub(crate) fn provenance(manifest: &Manifest, seconds: f64) -> Vec<(String, String)> {
    let s = &manifest.settings;
    let pairs = [
        ("data", manifest.data.source.clone()),
        ("fingerprint of the data", manifest.data.fingerprint.clone()),
        ("model", manifest.model.name.clone()),
        ("α", manifest.model.alpha.to_string()),
        ("β⁺, β⁻", format!("{}, {}", manifest.model.beta.0, manifest.model.beta.1)),
        ("moves of an iteration", s.schedule.to_string()),
        ("ensembles × chains", format!("{} × {}", s.ensembles, s.chains)),
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
