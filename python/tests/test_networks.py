"""Networks with directions, weights, two sides and unknown pairs."""

import numpy as np
import pytest

import armix

nx = pytest.importorskip("networkx")

SMALL = dict(iterations=20, warmup=5, ensembles=2, chains=2, seed=1)


def letters():
    graph = nx.DiGraph()
    for u in range(3):
        for v in range(3, 6):
            graph.add_edge(u, v, weight=3 + (u + v) % 3)
    graph.add_edge(0, 1, weight=1)
    return graph


@pytest.mark.parametrize(
    "options, model",
    [
        (dict(directed=True, weights="counts"), "irm-poisson"),
        (dict(directed=True), "irm-bernoulli"),
        (dict(weights="real"), "irm-gaussian"),
        (dict(weights="real-all"), "irm-gaussian"),
        (dict(weights="category"), "irm-categorical"),
        (dict(model="irm-degree-corrected"), "irm-degree-corrected"),
        ({}, "irm"),
    ],
)
def test_networkx(options, model, tmp_path):
    fit = armix.fit(letters(), **options, **SMALL)
    assert fit.model == model
    assert len(fit.labels()) == 6
    fit.save(tmp_path / "run")
    again = armix.load(tmp_path / "run")
    assert np.array_equal(again.labels(), fit.labels())
    again.resume(iterations=5)


def test_sides_of_networkx():
    graph = nx.davis_southern_women_graph()
    fit = armix.fit(graph, bipartite=True, **SMALL)
    side = np.array([graph.nodes[v]["bipartite"] for v in graph])
    for block in np.unique(fit.labels()):
        assert len(set(side[fit.labels() == block])) == 1


def test_tables_are_bipartite_networks():
    table = np.array([[1, 1, 0, 0], [1, 1, 0, np.nan], [0, 0, 1, 1]])
    fit = armix.fit(table, bipartite=True, **SMALL)
    assert len(fit.labels()) == 7


def test_unknown_pairs_of_a_matrix():
    matrix = np.zeros((5, 5))
    matrix[0, 1] = matrix[1, 0] = matrix[2, 3] = matrix[3, 2] = 1
    matrix[0, 4] = matrix[4, 0] = np.nan
    fit = armix.fit(matrix, model="irm", **SMALL)
    assert len(fit.data.hidden()) == 1
