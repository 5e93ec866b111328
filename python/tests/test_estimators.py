"""The estimators behave as scikit-learn's do."""

import pickle

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer
from sklearn.utils.estimator_checks import parametrize_with_checks

import armix

FAST = dict(iterations=20, warmup=5, ensembles=2, chains=2)


def not_for(estimator):
    """Checks that do not apply: the data of one estimator are links, not features."""
    if isinstance(estimator, armix.BernoulliMixture):
        return {}
    classes = "it takes estimators with predict_proba for classifiers"
    return {
        "check_clustering": "it gives features, not links",
        "check_estimator_sparse_array": classes,
        "check_estimator_sparse_matrix": classes,
    }


ESTIMATORS = [armix.BernoulliMixture(**FAST), armix.RelationalModel(**FAST)]


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=not_for)
def test_scikit_learn_has_no_objections(estimator, check):
    check(estimator)


def groups(rng, n=40):
    truth = np.repeat([0, 1, 2], n)
    patterns = np.array([np.r_[[1] * 4, [0] * 8], np.r_[[0] * 4, [1] * 4, [0] * 4], np.r_[[0] * 8, [1] * 4]])
    return truth, (rng.random((3 * n, 12)) < np.where(patterns, 0.9, 0.1)[truth]).astype(int)


def test_mixtures():
    truth, X = groups(np.random.default_rng(3))
    model = armix.BernoulliMixture(iterations=100)
    assert adjusted_rand_score(truth, model.fit_predict(X)) > 0.9
    assert model.n_clusters_ == model.labels_.max() + 1 and model.labels_.tolist() == model.fit_.labels().tolist()
    p = model.predict_proba(X[:5])
    assert p.shape == (5, model.n_clusters_ + 1) and p.sum(axis=1) == pytest.approx(np.ones(5))
    assert adjusted_rand_score(model.predict(X), model.labels_) > 0.95
    assert np.array_equal(model.labels_, pickle.loads(pickle.dumps(model)).labels_)
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(ValueError, match="neither 0 nor 1"):
        armix.BernoulliMixture(binarize=None, **FAST).fit(X * 2)
    holes = X.astype(float)
    holes[0, 0] = np.nan
    assert len(armix.BernoulliMixture(**FAST).fit(holes).fit_.data.hidden()) == 1
    assert make_pipeline(Binarizer(), armix.BernoulliMixture(**FAST)).fit_predict(X).shape == (120,)


def test_seeds():
    _, X = groups(np.random.default_rng(4))
    same = [armix.BernoulliMixture(random_state=np.random.RandomState(7), **FAST).fit(X).fit_.draws for _ in range(2)]
    assert np.array_equal(*same)
    other = armix.BernoulliMixture(random_state=8, **FAST).fit(X).fit_.draws
    assert not np.array_equal(other, same[0])


def test_networks():
    graph = nx.planted_partition_graph(3, 20, 0.7, 0.05, seed=1)
    truth = np.repeat([0, 1, 2], 20)
    matrix = nx.to_numpy_array(graph)
    model = armix.RelationalModel(iterations=100)
    for data in (graph, matrix, sp.csr_array(matrix), matrix.tolist()):
        assert adjusted_rand_score(truth, clone(model).fit_predict(data)) > 0.95
    model.fit(matrix)
    assert np.array_equal(model.predict(matrix), model.labels_)
    assert model.predict_proba(matrix[:2]).shape == (2, model.n_clusters_ + 1)
    assert pickle.loads(pickle.dumps(model)).predict(matrix[:3]).tolist() == model.labels_[:3].tolist()
    with pytest.raises(ValueError, match="square"):
        model.fit(matrix[:5])
