//! The numbers that the paper prints: means with their spreads.

use serde_json::Value;
use std::sync::LazyLock;

/// Our copy of the printed numbers.
const TEXT: &str = include_str!("published.json");

static PRINTED: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(TEXT).expect("our own file is JSON"));

/// A mean with its spread.
pub(crate) type Printed = (f64, f64);

fn pair(value: &Value) -> Option<Printed> {
    Some((value.get(0)?.as_f64()?, value.get(1)?.as_f64()?))
}

/// ARM was described in one way and must have been run in another: what was printed is compared with both.
fn name_of(sampler: &str) -> &str {
    if sampler == "arm-inner" { "arm" } else { sampler }
}

/// Autocorrelation times of trace and indicators, and normalised iterations.
pub(crate) fn bernoulli(columns: usize, sampler: &str) -> [Option<Printed>; 3] {
    let row = &PRINTED["table_bernoulli"][format!("d={columns}")][name_of(sampler)];
    [0, 1, 2].map(|at| pair(&row[at]))
}

/// R̂ on a downsampled network after so many iterations of ARM.
pub(crate) fn downsampling(
    iterations: usize,
    network: &str,
    scale: f64,
    sampler: &str,
) -> Option<Printed> {
    let table = &PRINTED["table_downsampling_rhat"][format!("T={iterations}")][network];
    pair(&table[format!("{scale:.1}")][name_of(sampler)])
}

/// R̂ of a variant of the samplers.
pub(crate) fn variant_rhat(network: &str, scale: f64, sampler: &str) -> Option<Printed> {
    pair(&PRINTED["table_variants_rhat"][place(network, scale)][name_of(sampler)])
}

/// Accept rate of a variant, in per cent.
pub(crate) fn variant_accept(network: &str, scale: f64, sampler: &str) -> Option<Printed> {
    pair(&PRINTED["table_variants_accept_percent"][place(network, scale)][name_of(sampler)])
}

fn place(network: &str, scale: f64) -> String {
    let scale = if scale == 1.0 { "1.0".into() } else { scale.to_string() };
    format!("{network} {scale}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found() {
        assert_eq!(bernoulli(8, "sm")[2], Some((6855.0, 482.0)));
        assert_eq!(bernoulli(8, "arm-inner")[0], Some((8.5, 5.0)));
        assert_eq!(downsampling(1000, "nips234", 1.0, "gibbs"), Some((25.40, 10.90)));
        assert_eq!(downsampling(100, "nips234", 1.0, "gibbs"), None);
        assert_eq!(variant_rhat("hagmann998", 0.25, "bsm"), Some((1.65, 0.40)));
        assert_eq!(variant_rhat("nips234", 1.0, "arm"), Some((1.09, 0.03)));
        assert_eq!(variant_accept("caltech36", 0.7, "sarm"), Some((0.84, 0.09)));
        assert_eq!(variant_accept("caltech36", 0.7, "gibbs"), None);
    }

    #[test]
    fn our_copy_equals_the_numbers_beside_the_project() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/paper/published.json");
        let Ok(text) = std::fs::read_to_string(path) else {
            eprintln!("SKIPPED: ../shared/paper/published.json is not there");
            return;
        };
        let theirs: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(*PRINTED, theirs);
    }
}
