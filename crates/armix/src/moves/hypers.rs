//! Hyper-parameters given the partition: one after another by slice sampling.

use super::Chain;
use crate::hyper::HyperPrior;
use crate::model::Model;
use crate::rng::Rng;
use crate::slice;

/// Draws new hyper-parameters of the prior and of the model, each from its distribution given all others,
/// the partition and the data, and makes the chain sample with them.
pub fn sample_hypers<M: Model>(chain: &mut Chain<M>, rng: &mut Rng) {
    sample_hypers_by(chain, rng, HyperPrior::ln_slope);
}

/// The same with the slope of the scale, whose neglect is a negative control.
pub(crate) fn sample_hypers_by<M: Model>(
    chain: &mut Chain<M>,
    rng: &mut Rng,
    ln_slope: fn(&HyperPrior, f64) -> f64,
) {
    let state = chain.state();
    let target = state.target();
    let hypers = target.hypers();
    let of_prior = target.prior.rules().hypers().len();
    let mut values: Vec<f64> = hypers.iter().map(|h| h.value).collect();
    let mut tried = values.clone();
    for (at, hyper) in hypers.iter().enumerate() {
        let prior = &hyper.prior;
        let ln_f = |u: f64| {
            tried[at] = prior.at(u);
            let ln_prior = prior.ln_density(tried[at]);
            if ln_prior == f64::NEG_INFINITY {
                return ln_prior;
            }
            let (of_prior, of_model) = tried.split_at(of_prior);
            let ln_likelihood = match at < of_prior.len() {
                true => target.prior.rules().ln_p_with(of_prior, state.z()),
                false => state.ln_evidence_with(of_model),
            };
            ln_prior + ln_slope(prior, u) + target.coldness * ln_likelihood
        };
        let u = slice::step(prior.place(values[at]), prior.width(), ln_f, rng);
        values[at] = prior.at(u);
        tried[at] = values[at];
    }
    let target = target.with_hypers(&values);
    chain.retarget(&target);
}
