//! Estimates and diagnostics of label matrices and numbers from anywhere.

use crate::errors::{json, value_error, wrong};
use armix::compare as distances;
use armix::diagnose::{self as diagnostics, BurnIn, Diagnosis, Options};
use armix::error::Result;
use armix::estimate::{self, Loss, ModeOptions, Sample, SearchOptions};
use armix::partition::by_size;
use armix::run;
use numpy::{
    PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray4,
};
use pyo3::prelude::*;

/// Does work on threads of its own: those of a global pool do not survive a fork.
pub(crate) fn with_threads<T: Send>(
    threads: usize,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    Ok(pool.map_err(|error| wrong(format!("cannot start threads: {error}")))?.install(work))
}

fn sample(draws: &PyReadonlyArray2<'_, u32>) -> PyResult<Sample> {
    let rows = draws.as_array();
    Sample::new(rows.rows().into_iter().map(|row| row.to_vec())).map_err(value_error)
}

/// The partition with the least expected loss, and that loss.
#[pyfunction]
#[pyo3(signature = (draws, loss, runs, seed, max_blocks, threads))]
pub(crate) fn salso<'py>(
    py: Python<'py>,
    draws: PyReadonlyArray2<'py, u32>,
    loss: &str,
    runs: usize,
    seed: u64,
    max_blocks: Option<usize>,
    threads: usize,
) -> PyResult<(Bound<'py, PyArray1<u32>>, f64)> {
    let loss: Loss = loss.parse().map_err(value_error)?;
    let sample = sample(&draws)?;
    let options = SearchOptions { runs, seed, max_blocks, ..SearchOptions::default() };
    let found =
        py.detach(|| with_threads(threads, || estimate::minimise(&sample, loss, &options)))?;
    Ok((PyArray1::from_vec(py, by_size(&found.labels)), found.expected_loss))
}

/// How often items share a block.
#[pyfunction]
pub(crate) fn similarity<'py>(
    py: Python<'py>,
    draws: PyReadonlyArray2<'py, u32>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let sample = sample(&draws)?;
    let n = sample.n();
    let square = py.detach(|| with_threads(threads, || square(&sample)))?.map_err(value_error)?;
    PyArray1::from_vec(py, square).reshape([n, n])
}

/// The similarities of all pairs, row after row.
pub(crate) fn square(sample: &Sample) -> Result<Vec<f32>> {
    let similarity = estimate::similarity(sample)?;
    let n = sample.n();
    let mut square = vec![1.0; n * n];
    for row in 0..n {
        for (at, &value) in similarity.after(row).iter().enumerate() {
            let column = row + 1 + at;
            square[row * n + column] = value;
            square[column * n + row] = value;
        }
    }
    Ok(square)
}

/// Distance, bounds and radius of the credible ball, as JSON.
#[pyfunction]
pub(crate) fn ball(
    py: Python<'_>,
    draws: PyReadonlyArray2<'_, u32>,
    labels: PyReadonlyArray1<'_, u32>,
    level: f64,
    threads: usize,
) -> PyResult<String> {
    let sample = sample(&draws)?;
    let labels = labels.as_array().to_vec();
    if labels.len() != sample.n() {
        return Err(wrong(format!("{} labels do not fit {} items", labels.len(), sample.n())));
    }
    let found = py.detach(|| {
        with_threads(threads, || {
            let ball = estimate::ball(&sample, &labels, level)?;
            let bound = |b: &estimate::Bound| {
                serde_json::json!({ "distance": b.distance, "blocks": b.blocks, "labels": by_size(&b.labels) })
            };
            Ok(serde_json::json!({
                "level": ball.level, "radius": ball.radius, "horizontal": bound(&ball.horizontal),
                "upper": bound(&ball.upper), "lower": bound(&ball.lower),
            })
            .to_string())
        })
    })?;
    found.map_err(value_error)
}

/// The modes: weight and labels of each.
#[pyfunction]
pub(crate) fn modes<'py>(
    py: Python<'py>,
    draws: PyReadonlyArray2<'py, u32>,
    threads: usize,
) -> PyResult<Vec<(f64, Bound<'py, PyArray1<u32>>)>> {
    let sample = sample(&draws)?;
    let found =
        py.detach(|| with_threads(threads, || estimate::modes(&sample, &ModeOptions::default())))?;
    Ok((found.into_iter())
        .map(|mode| (mode.weight, PyArray1::from_vec(py, by_size(&mode.labels))))
        .collect())
}

/// A distance or likeness of two partitions: vi, binder, ari or nmi.
#[pyfunction]
pub(crate) fn compare(
    a: PyReadonlyArray1<'_, u32>,
    b: PyReadonlyArray1<'_, u32>,
    by: &str,
) -> PyResult<f64> {
    let (a, b) = (a.as_array().to_vec(), b.as_array().to_vec());
    if a.len() != b.len() {
        return Err(wrong(format!(
            "partitions of {} and {} items cannot be compared: give labels of the same items",
            a.len(),
            b.len()
        )));
    }
    match by {
        "vi" => Ok(distances::variation_of_information(&a, &b)),
        "binder" => Ok(distances::binder(&a, &b)),
        "ari" => Ok(distances::adjusted_rand(&a, &b)),
        "nmi" => Ok(distances::normalised_mutual_information(&a, &b)),
        _ => Err(wrong(format!("there is no comparison {by:?}: use vi, binder, ari or nmi"))),
    }
}

fn with_chains<T>(chains: &PyReadonlyArray2<'_, f64>, f: impl FnOnce(&[&[f64]]) -> T) -> T {
    let rows: Vec<Vec<f64>> =
        chains.as_array().rows().into_iter().map(|row| row.to_vec()).collect();
    let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
    f(&rows)
}

/// R̂ of chains (rows): plain, split or rank.
#[pyfunction]
pub(crate) fn rhat(chains: PyReadonlyArray2<'_, f64>, method: &str) -> PyResult<Option<f64>> {
    let of = match method {
        "plain" => diagnostics::gelman_rubin,
        "split" => diagnostics::rhat_split,
        "rank" => diagnostics::rhat_rank,
        _ => return Err(wrong(format!("there is no R̂ {method:?}: use plain, split or rank"))),
    };
    Ok(with_chains(&chains, of))
}

/// The effective sample size of chains (rows): bulk, tail or mean.
#[pyfunction]
pub(crate) fn ess(chains: PyReadonlyArray2<'_, f64>, method: &str) -> PyResult<Option<f64>> {
    let of = match method {
        "bulk" => diagnostics::ess_bulk,
        "tail" => diagnostics::ess_tail,
        "mean" => diagnostics::ess,
        _ => return Err(wrong(format!("there is no ESS {method:?}: use bulk, tail or mean"))),
    };
    Ok(with_chains(&chains, of))
}

/// The Monte-Carlo error of chains (rows): mean or sd.
#[pyfunction]
pub(crate) fn mcse(chains: PyReadonlyArray2<'_, f64>, method: &str) -> PyResult<Option<f64>> {
    let of = match method {
        "mean" => diagnostics::mcse_mean,
        "sd" => diagnostics::mcse_sd,
        _ => return Err(wrong(format!("there is no error of {method:?}: use mean or sd"))),
    };
    Ok(with_chains(&chains, of))
}

/// The diagnosis of draws of another program, as JSON.
#[pyfunction]
pub(crate) fn diagnose(
    py: Python<'_>,
    draws: PyReadonlyArray4<'_, u32>,
    burn_in: &str,
) -> PyResult<String> {
    let burn_in: BurnIn = burn_in.parse().map_err(value_error)?;
    let draws: Vec<Vec<Vec<Vec<u32>>>> = (draws.as_array().outer_iter())
        .map(|chains| {
            let draws = |chain: numpy::ndarray::ArrayView2<'_, u32>| {
                chain.rows().into_iter().map(|row| row.to_vec()).collect()
            };
            chains.outer_iter().map(draws).collect()
        })
        .collect();
    py.detach(|| {
        let run = run::Run::from_labels(draws)?;
        json(&Diagnosis::new(&run, &Options { burn_in }))
    })
    .map_err(value_error)
}
