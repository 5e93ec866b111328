"""Data of all kinds give the same as a file with the same content, names are kept, and mistakes are explained."""

import pickle

import igraph
import networkx as nx

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import armix

NAMED = [("ann", "bob"), ("bob", "cy"), ("ann", "cy"), ("dan", "eve"), ("eve", "fay"), ("dan", "fay"), ("cy", "dan")]


def same(a, b):
    return np.array_equal(a.draws, b.draws) and np.array_equal(a.log_joint, b.log_joint)


@pytest.fixture(scope="module")
def reference():
    return armix.fit("karate", iterations=40, warmup=5, ensembles=2, chains=2)


def networks(karate):
    dense = nx.to_numpy_array(karate, weight=None)
    edges = np.array(karate.edges)
    yield "networkx", karate
    yield "directed", karate.to_directed()
    yield "igraph", igraph.Graph(n=34, edges=edges.tolist())
    yield "dense", dense
    yield "bool", dense.astype(bool)
    yield "csr", sp.csr_array(dense)
    yield "coo matrix", sp.coo_matrix(dense)
    yield "edges", edges
    yield "edges int16, reversed", edges.astype(np.int16)[::-1, ::-1]
    yield "list of pairs", [tuple(map(int, edge)) for edge in edges]
    yield "pandas adjacency", pd.DataFrame(dense, index=range(34), columns=range(34)).rename(index=int)
    yield "fortran order", np.asfortranarray(dense)


def test_networks_of_all_kinds_are_the_same(karate, reference, small):
    for kind, data in networks(karate):
        model = "irm" if kind == "pandas adjacency" else None
        fit = armix.fit(data, model, **small)
        assert same(fit, reference), kind
        assert [str(item) for item in fit.items] == [str(v) for v in range(34)], kind


def test_names_are_kept(small):
    graph = nx.Graph(NAMED)
    fit = armix.fit(graph, **small)
    assert fit.items == list(graph.nodes)
    assert sorted(sum(fit.groups(), [])) == ["ann", "bob", "cy", "dan", "eve", "fay"]
    lists = armix.fit(NAMED, **small)
    frame = armix.fit(pd.DataFrame(NAMED, columns=["source", "target"]), **small)
    g = igraph.Graph.TupleList(NAMED)
    for other in (lists, frame, armix.fit(pl.DataFrame(NAMED, schema=["from", "to"], orient="row"), **small), armix.fit(g, **small)):
        assert same(fit, other) and other.items == fit.items
    tuples = nx.grid_2d_graph(3, 3)
    assert armix.fit(tuples, **small).items == list(tuples.nodes)
    matrix = armix.fit(nx.to_numpy_array(graph), names=list("abcdef"), **small)
    assert matrix.items == list("abcdef") and same(matrix, fit)


def test_isolated_vertices_weights_and_options(small):
    graph = nx.Graph(NAMED)
    graph.add_node("lonely")
    assert len(armix.fit(graph, **small).items) == 7
    kept = armix.fit(graph, largest_component=True, **small)
    assert "lonely" not in kept.items and len(kept.items) == 6
    nx.set_edge_attributes(graph, 1.0, "weight")
    graph["cy"]["dan"]["weight"] = 0.2
    assert len(armix.fit(graph, threshold=0.5, **small).data.edges()) == 6
    assert len(armix.fit(graph, threshold=0.5, weight=None, **small).data.edges()) == 7


X = np.random.default_rng(5).integers(0, 2, size=(12, 7))


def test_tables_of_all_kinds_are_the_same(small, tmp_path):
    columns = list("pqrstuv")
    frame = pd.DataFrame(X, columns=columns)
    frame.to_csv(tmp_path / "table.csv", index=False)
    reference = armix.fit(tmp_path / "table.csv", **small)
    words = frame.replace({0: "no", 1: "yes"}).astype(object)
    for kind, data in {
        "int": X,
        "bool": X.astype(bool),
        "float": X.astype(np.float32),
        "pandas": frame,
        "pandas bool": frame.astype(bool),
        "pandas nullable": frame.astype("Int64"),
        "pandas words": words,
        "polars": pl.DataFrame(X, schema=columns),
        "sparse": sp.csc_array(X),
    }.items():
        fit = armix.fit(data, **small)
        assert same(fit, reference), kind
        assert fit.model == "bernoulli"
        assert armix.load(fit.folder).data.cells().tolist() == X.tolist(), kind


def test_missing_cells(small, tmp_path):
    holes = X.astype(float)
    holes[[0, 3], [1, 2]] = np.nan
    frame = pd.DataFrame(holes, columns=list("pqrstuv"))
    frame.to_csv(tmp_path / "holes.csv", index=False)
    fits = [
        armix.fit(holes, **small),
        armix.fit(frame, **small),
        armix.fit(np.ma.masked_invalid(holes), **small),
        armix.fit(pl.DataFrame(holes, schema=list("pqrstuv")).fill_nan(None), **small),
    ]
    reference = armix.fit(str(tmp_path / "holes.csv"), **small)
    assert all(same(fit, reference) for fit in fits)
    assert fits[0].data.hidden().tolist() == [[0, 1], [3, 2]]
    assert fits[0].predict_cells().shape == (2,)


def test_rows_are_named_by_index_or_column(small):
    names = [f"row {k}" for k in range(12)]
    frame = pd.DataFrame(X, index=names, columns=list("pqrstuv"))
    assert armix.fit(frame, **small).items == names
    polars = pl.DataFrame({"who": names} | {c: X[:, k] for k, c in enumerate("pqrstuv")})
    fit = armix.fit(polars, id_column="who", **small)
    assert fit.items == names and fit.data.columns == list("pqrstuv")
    chosen = armix.fit(polars, id_column="who", columns=["p", "q"], **small)
    assert chosen.data.columns == ["p", "q"]


def test_data_come_back_from_the_folder(small, tmp_path):
    graph = nx.Graph([("<a>", 'b"&'), ('b"&', "ü c"), ("ü c", "<a>"), ("d,e", "<a>")])
    graph.add_node("alone")
    fit = armix.fit(graph, out=tmp_path / "run", **small)
    loaded = armix.load(tmp_path / "run")
    assert loaded.items == list(graph.nodes)
    assert np.array_equal(loaded.data.edges(), fit.data.edges())
    held = armix.fit(graph, hold_out=0.3, out=tmp_path / "held", **small)
    again = armix.load(tmp_path / "held")
    assert np.array_equal(again.data.hidden(), held.data.hidden()) and len(held.data.hidden()) > 0
    assert again.held_out_score() == held.held_out_score()


def test_odd_names_survive_saving(small):
    for names in ([1] * 6 + list("abcdef"), list(range(100, 112)), [f"r,{k}\n" for k in range(12)], ["", "NA", "?"] * 4):
        fit = armix.fit(X, names=names, **small)
        assert np.array_equal(armix.load(fit.folder).data.cells(), X), names
    for columns in (list("1234567"), list("7654321"), ["class", "type", "id", "a,b", "x 1", "", "é"], ["item", *"pqrstu"]):
        fit = armix.fit(pd.DataFrame(X, columns=columns), **small)
        again = armix.load(fit.folder)
        assert np.array_equal(again.data.cells(), X) and again.data.columns == columns
        assert np.array_equal(again.predict_proba(X[:3]), fit.predict_proba(X[:3]))
        assert np.array_equal(again.predict_proba(pd.DataFrame(X[:3], columns=columns)), fit.predict_proba(X[:3]))
    constant = X.copy()
    constant[:, 2] = 0
    constant[:, 3] = 1
    assert np.array_equal(armix.load(armix.fit(constant, **small).folder).data.cells(), constant)
    with pytest.raises(ValueError, match="rename"):
        armix.fit(pd.DataFrame(X, columns=["item", *"pqrstu"], index=list("abcdefghijkl")), **small)


@pytest.mark.parametrize(
    "data, options, error, says",
    [
        (3, {}, TypeError, "networkx"),
        (None, {}, TypeError, "networkx"),
        (np.zeros(5), {}, ValueError, "shape"),
        (np.array([[0.5, 2.0], [1.0, 0.0], [1.0, 1.0]]), {"model": "bernoulli"}, ValueError, "neither 0 nor 1"),
        (np.array([[0.0, 1.0], [1.0, 2.0], [0.0, 2.0]]), {"model": "irm"}, TypeError, "astype"),
        (np.array([[0, -1], [1, 2]] * 2), {}, ValueError, "from 0 on"),
        (np.array([[0, 1], [1, 0], [1, 1]]), {}, ValueError, "model="),
        (np.array([[0, 1, 1], [0, 0, 1], [1, 0, 0]]), {}, ValueError, "model="),
        (np.ones((3, 4)), {"model": "irm"}, ValueError, "square"),
        (np.array([[1j, 2], [3, 4]]), {}, TypeError, "complex"),
        (np.zeros((4, 4)), {"model": "irm"}, ValueError, "no edges"),
        ([[0, 1], [2]], {}, ValueError, "equally long"),
        ("karate", {"model": "nope"}, ValueError, "irm"),
        ("karate", {"model": "bernoulli"}, ValueError, "not for networks"),
        ("no-such-data", {}, ValueError, "built in are"),
        ("no/such/file.edges", {}, FileNotFoundError, "no file"),
        ("karate", {"alpha": -1}, ValueError, "positive"),
        ("karate", {"beta": 3}, TypeError, "beta=(1.0, 1.0)"),
        ("karate", {"moves": "jump"}, ValueError, "jump"),
        ("karate", {"iterations": 0}, ValueError, "iterations=0"),
        ("karate", {"iterations": 1.5}, TypeError, "whole number"),
        ("karate", {"seed": -1}, ValueError, "seed=-1"),
        ("karate", {"start": [0, 1]}, ValueError, "34"),
        ("karate", {"start": "middle"}, ValueError, "uniform:K"),
        ("karate", {"history_memory": "much"}, ValueError, "500M"),
        ("karate", {"hold_out": 2.0}, ValueError, "hold_out"),
        ("karate", {"on_interrupt": "ignore"}, ValueError, "raise"),
        ("karate", {"callback": 3}, TypeError, "callback"),
        ("karate", {"max_time": -1}, ValueError, "max_time"),
        (nx.Graph(), {}, ValueError, "no edges"),
    ],
)
def test_mistakes_say_what_to_do(data, options, error, says):
    with pytest.raises(error) as caught:
        armix.fit(data, **{"iterations": 5, **options})
    assert says in str(caught.value), caught.value
    assert "--" not in str(caught.value), "options are called as in Python"


def test_columns_of_any_types():
    rng = np.random.default_rng(1)
    truth = np.repeat([0, 1], 30)
    frame = pd.DataFrame(
        {
            "size": rng.normal(5.0 * truth, 1.0),
            "eggs": rng.poisson(1 + 9 * truth),
            "colour": np.where(rng.random(60) < 0.9, np.array(["red", "blue"])[truth], "green"),
            "fed": rng.random(60) < 0.2 + 0.6 * truth,
            "code": pd.Categorical(truth + rng.integers(0, 2, 60)),
        }
    )
    frame.loc[3, "size"] = np.nan
    small = dict(iterations=60, ensembles=2, chains=2, progress=False)
    fit = armix.fit(frame, hold_out=0.05, **small)
    assert fit.data.model == "mixed" and fit.data.types == ["real", "count", "categorical", "binary", "categorical"]
    assert fit.data.levels[2] == ["blue", "green", "red"]
    assert fit.data.cells().shape == (60, 5) and np.isnan(fit.data.cells()[3, 0])
    assert (fit.labels()[:30] == fit.labels()[0]).mean() > 0.8
    score = fit.held_out_score()
    assert score["log_score"] > score["log_score_of_one_block"]
    assert len(fit.predict_cells()) == len(fit.data.hidden())
    # Levels: the most probable one and the probabilities of all; both agree with what the group mostly has.
    cells = [(0, "colour"), (59, "colour"), (59, "eggs")]
    assert fit.predict_cells(cells)[:2].tolist() == [2.0, 0.0] and fit.predict_cells(cells)[2] > 5
    red, blue = fit.predict_levels(cells[:2])
    assert list(red) == ["blue", "green", "red"] and sum(red.values()) == pytest.approx(1)
    assert red["red"] > 0.6 and blue["blue"] > 0.6
    hidden = fit.data.hidden()
    assert len(fit.predict_levels()) == np.isin(hidden[:, 1], [2, 4]).sum()
    with pytest.raises(ValueError, match="column 1 is count and has no levels: use predict_cells"):
        fit.predict_levels(cells[2:])
    assert fit.predict_proba(frame.iloc[:3]).shape[0] == 3
    # The same from an array, of a chosen model and type, and after pickling.
    array = frame[["size", "eggs"]].fillna(0.0).to_numpy()
    assert armix.fit(array, **small).data.types == ["real", "count"]
    assert armix.fit(array, types={"x2": "real"}, **small).data.model == "gaussian"
    assert armix.fit(array, "niw", **small).data.model == "niw"
    assert pickle.loads(pickle.dumps(fit)).data.types == fit.data.types
    with pytest.raises(ValueError, match="colour"):
        armix.fit(frame, "gaussian", **small)
