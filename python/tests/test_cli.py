"""The same data, settings and seed give the same bytes here and on the command line, and either reads the other's runs."""

import json
import subprocess

import networkx as nx
import numpy as np
import pytest

import armix


def run(cli, *words):
    done = subprocess.run([str(cli), *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def parts(folder):
    return {path.name: path.read_bytes() for path in sorted((folder / "draws").iterdir())}


def same_bytes(a, b):
    assert (a / "trace.csv").read_bytes() == (b / "trace.csv").read_bytes()
    assert parts(a) == parts(b) and parts(a)


def settings_of(folder):
    about = json.loads((folder / "run.json").read_text())
    return {key: about[key] for key in ("format", "armix", "model", "settings", "saving")}


CASES = [
    ("karate", {}, []),
    ("karate", {"seed": 7, "moves": "sm,gibbs", "alpha": 0.5, "beta": (1, 2)}, ["--seed", 7, "--moves", "sm,gibbs", "--alpha", 0.5, "--beta", "1,2"]),
    ("bernoulli-1", {"start": "one", "thin": 5, "hold_out": 0.1}, ["--start", "one", "--thin", 5, "--hold-out", 0.1]),
    ("karate", {"prior": "pitman-yor", "discount": 0.4, "sample_hyper": True}, ["--prior", "pitman-yor", "--discount", 0.4, "--sample-hyper"]),
    ("karate", {"prior": "mfm", "gamma": 2, "components": "poisson:3"}, ["--prior", "mfm", "--gamma", 2, "--components", "poisson:3"]),
    ("planted:3,10,0.6,0.1", {"threads": 1, "warmup": 3}, ["--threads", 2, "--warmup", 3]),
]


@pytest.mark.parametrize("data, options, words", CASES)
def test_same_bytes(cli, tmp_path, data, options, words):
    common = ["--ensembles", 2, "--chains", 3, "-n", 60, "--quiet", "--no-report"]
    run(cli, "fit", data, "--out", tmp_path / "cli", *common, *words)
    armix.fit(data, ensembles=2, chains=3, iterations=60, out=tmp_path / "python", **options)
    same_bytes(tmp_path / "cli", tmp_path / "python")
    assert settings_of(tmp_path / "cli") == settings_of(tmp_path / "python")
    assert (tmp_path / "cli/run.json").read_bytes() == (tmp_path / "python/run.json").read_bytes()


def test_a_graph_in_memory_is_the_file(cli, tmp_path, karate):
    nx.write_edgelist(karate, tmp_path / "k.edges", data=False)
    run(cli, "fit", tmp_path / "k.edges", "--out", tmp_path / "cli", "-n", 50, "--quiet", "--no-report")
    cli_run = armix.load(tmp_path / "cli")
    ordered = nx.Graph()
    ordered.add_nodes_from(cli_run.items)
    ordered.add_edges_from((str(u), str(v)) for u, v in karate.edges)
    armix.fit(ordered, iterations=50, out=tmp_path / "python")
    same_bytes(tmp_path / "cli", tmp_path / "python")


def test_python_reads_and_resumes_runs_of_the_command_line(cli, tmp_path):
    common = ["--ensembles", 2, "--chains", 2, "--quiet", "--no-report"]
    run(cli, "fit", "karate", "--out", tmp_path / "half", "-n", 30, *common)
    run(cli, "fit", "karate", "--out", tmp_path / "whole", "-n", 80, *common)
    fit = armix.load(tmp_path / "half").resume(50)
    same_bytes(tmp_path / "half", tmp_path / "whole")
    said = json.loads(run(cli, "summary", tmp_path / "whole", "--json"))
    assert fit.labels().tolist() == said["labels"]
    assert fit.diagnosis() == json.loads(run(cli, "diagnose", tmp_path / "whole", "--json"))
    assert fit.answer()["ball"] == said["ball"]
    assert fit.summary()["best_partition"] == json.loads(run(cli, "show", tmp_path / "whole", "--json"))["best_partition"]


def test_the_command_line_reads_and_resumes_runs_of_python(cli, tmp_path):
    graph = nx.Graph([("a b", "c"), ("c", "d"), ("d", "a b"), ("e", "f"), ("f", "g"), ("g", "e"), ("d", "e")])
    graph.add_node("alone")
    settings = dict(ensembles=2, chains=2)
    half = armix.fit(graph, iterations=40, **settings).save(tmp_path / "half")
    whole = armix.fit(graph, iterations=100, **settings)
    run(cli, "resume", tmp_path / "half", "--iterations", "+60", "--quiet")
    loaded = armix.load(tmp_path / "half")
    assert np.array_equal(loaded.draws, whole.draws) and half.items == loaded.items
    said = json.loads(run(cli, "summary", tmp_path / "half", "--json"))
    assert said["items"] == list(graph.nodes) and said["blocks"] is not None
    X = np.random.default_rng(1).integers(0, 2, size=(10, 4)).astype(float)
    X[2, 3] = np.nan
    armix.fit(X, names=list("abcdefghij"), iterations=40, out=tmp_path / "table")
    assert len(run(cli, "predict", tmp_path / "table").splitlines()) == 2


def test_predictions_are_the_same(cli, tmp_path):
    run(cli, "fit", "karate", "--hold-out", 0.1, "--out", tmp_path / "cli", "-n", 100, "--quiet", "--no-report")
    fit = armix.load(tmp_path / "cli")
    said = json.loads(run(cli, "predict", tmp_path / "cli", "--json"))
    assert [entry["probability"] for entry in said["entries"]] == fit.predict_links().tolist()
    assert said["score"] == fit.held_out_score()
    (tmp_path / "new.edges").write_text("x 0\nx 1\nx 2\ny 33\n")
    said = json.loads(run(cli, "predict", tmp_path / "cli", "--new", tmp_path / "new.edges", "--json"))
    probabilities = [a["blocks"] + [a["new"]] for a in said["assignments"]]
    assert fit.predict_proba({"x": [0, 1, 2], "y": [33]}).tolist() == probabilities
    assert fit.predict_proba(tmp_path / "new.edges").tolist() == probabilities


def test_exact_is_the_same(cli):
    said = json.loads(run(cli, "exact", "four-vertex", "--json"))
    labels, probability, log_joint = armix.exact("four-vertex")
    assert labels.tolist() == [row["labels"] for row in said]
    assert probability.tolist() == [row["probability"] for row in said]
    assert log_joint.tolist() == [row["log_joint"] for row in said]


def test_real_files_are_read(shared, small):
    small = small | {"iterations": 5}
    assert len(armix.fit(shared / "networks/caltech36.edges", **small).items) == 769
    votes = armix.fit(shared / "tables/house_votes84.csv", **small)
    assert votes.model == "bernoulli" and len(votes.data.hidden()) == 392
