"""Functions of label matrices and numbers from anywhere, against other packages and by hand."""

import arviz as az
import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import armix

RNG = np.random.default_rng(1)


def test_comparisons_against_scikit_learn():
    for _ in range(20):
        a, b = RNG.integers(0, 4, size=(2, 30))
        assert armix.adjusted_rand(a, b) == pytest.approx(adjusted_rand_score(a, b))
        assert armix.nmi(a, b) == pytest.approx(normalized_mutual_info_score(a, b))
        assert armix.vi(a, b) == pytest.approx(armix.vi(b, a)) and armix.vi(a, a) == 0
        together = lambda z: z[:, None] == z[None, :]  # noqa: E731
        assert armix.binder(a, b) == pytest.approx((together(a) != together(b)).mean())


def test_labels_of_any_type():
    assert armix.vi(["a", "a", "b"], [7, 7, -2]) == 0
    assert armix.vi([0.0, 0.0, 1.0], np.array([True, True, False])) == 0
    for wrong, error in (([0.5, 1], TypeError), ([[0, 1]], ValueError), ([np.nan, 1], TypeError), ([], ValueError)):
        with pytest.raises(error):
            armix.vi(wrong, [0, 1])
    with pytest.raises(ValueError, match="same items"):
        armix.vi([0, 1], [0, 1, 2])


def test_salso_finds_the_best_of_all_partitions():
    labels, _, _ = armix.exact("four-vertex")
    draws = RNG.integers(0, 3, size=(50, 4))
    found, expected = armix.salso(draws, return_loss=True)
    all_losses = [np.mean([armix.vi(draw, z) for draw in draws]) for z in labels]
    assert expected == pytest.approx(min(all_losses))
    assert np.mean([armix.vi(draw, found) for draw in draws]) == pytest.approx(expected)
    assert armix.salso(draws, max_blocks=1).tolist() == [0, 0, 0, 0]
    with pytest.raises(ValueError, match="vi, binder or ari"):
        armix.salso(draws, "l2")
    with pytest.raises(ValueError, match="item"):
        armix.salso([0, 1, 2])


def test_similarity_ball_and_modes():
    draws = np.array([[0, 0, 1, 1]] * 6 + [[0, 1, 0, 1]] * 4)
    expected = (draws[:, :, None] == draws[:, None, :]).mean(axis=0)
    assert armix.similarity(draws) == pytest.approx(expected)
    assert armix.similarity(draws.reshape(2, 5, 4)) == pytest.approx(expected)
    ball = armix.credible_ball(draws, [0, 0, 1, 1])
    assert ball.radius == armix.vi([0, 0, 1, 1], [0, 1, 0, 1]) == ball.horizontal.distance
    assert sum(mode.weight for mode in armix.modes(draws)) == pytest.approx(1)
    with pytest.raises(ValueError, match="do not fit"):
        armix.credible_ball(draws, [0, 1])


def test_diagnostics_against_arviz():
    chains = RNG.normal(size=(4, 500)).cumsum(axis=1) * 0.05 + RNG.normal(size=(4, 500))
    assert armix.rhat(chains) == pytest.approx(float(az.rhat(chains)), rel=1e-10)
    assert armix.rhat(chains, "split") == pytest.approx(float(az.rhat(chains, method="split")), rel=1e-10)
    for method, options in {"bulk": {}, "tail": {"prob": (0.05, 0.95)}, "mean": {}}.items():
        assert armix.ess(chains, method) == pytest.approx(float(az.ess(chains, method=method, **options)), rel=1e-8)
    assert armix.mcse(chains) == pytest.approx(float(az.mcse(chains)), rel=1e-8)
    assert np.isnan(armix.rhat(np.ones((4, 100))))
    for wrong, error in ((np.zeros((2, 2, 2)), ValueError), (["a", "b"], TypeError)):
        with pytest.raises(error):
            armix.rhat(wrong)
    with pytest.raises(ValueError, match="plain"):
        armix.rhat(chains, "best")


def test_diagnosis_of_draws_from_elsewhere():
    mixed = RNG.integers(0, 3, size=(4, 300, 12))
    assert armix.diagnose(mixed)["verdict"] == "converged"
    stuck = np.repeat(RNG.integers(0, 3, size=(4, 1, 12)), 300, axis=1)
    assert armix.diagnose(stuck)["verdict"] != "converged"
    with pytest.raises(ValueError, match="dimensions"):
        armix.diagnose(mixed[0, 0])


def test_log_joint_by_the_formula():
    """Two vertices and a link, α = 1: p(together) = 1/2 · B(2, 1) / B(1, 1), and the same apart."""
    assert armix.log_joint([("a", "b")], [0, 0]) == pytest.approx(np.log(0.25))
    assert armix.log_joint([("a", "b")], [0, 1], alpha=3.0) == pytest.approx(np.log(0.75 * 0.5))
    with pytest.raises(ValueError, match="one for each"):
        armix.log_joint([("a", "b")], [0])


def test_exact_posterior_and_samples_agree():
    labels, probability, log_joint = armix.exact("four-vertex")
    assert probability == pytest.approx(np.exp(log_joint) / np.exp(log_joint).sum())
    draws = armix.fit("four-vertex", iterations=2000).draws.reshape(-1, 4)
    codes = {tuple(z): k for k, z in enumerate(labels.tolist())}
    counts = np.bincount([codes[canonical(z)] for z in draws.tolist()], minlength=15)
    # 64 000 draws of little autocorrelation and a fixed seed: errors are below 0.005.
    assert counts / len(draws) == pytest.approx(probability, abs=0.01)
    with pytest.raises(ValueError, match="at most 10"):
        armix.exact("karate")


def canonical(labels):
    seen = {}
    return tuple(seen.setdefault(z, len(seen)) for z in labels)


def test_moves_are_listed():
    assert {"arm", "gibbs", "sm"} <= set(armix.moves())
