"""What a fit says: shapes, agreement of its parts, saving, resuming and predicting."""

import json

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import armix


def test_shapes_and_types(fit):
    assert fit.draws.shape == (4, 8, 300, 34) and fit.draws.dtype == np.uint8
    assert fit.log_joint.shape == fit.blocks.shape == (4, 8, 300)
    assert len(fit.trace) == 4 * 8 * 300 and "arm_accepted" in fit.trace
    assert sum(fit.k_posterior.values()) == pytest.approx(1)
    assert fit.verdict in ("converged", "not-converged", "too-short")
    assert fit.rhat["log_joint"] < 1.2 and fit.ess["blocks"] > 10
    assert fit.accept_rates["gibbs"] == 1 and 0.1 < fit.accept_rates["arm"] < 0.3
    assert not fit.interrupted and fit.model == "irm" and fit.iterations == 300


def test_draws_and_traces_are_of_the_same_states(fit, karate):
    assert np.array_equal(fit.draws.max(axis=-1) + 1, fit.blocks)
    for chain, iteration in [(0, 0), (3, 150), (7, 299)]:
        value = armix.log_joint(karate, fit.draws[1, chain, iteration])
        assert value == pytest.approx(fit.log_joint[1, chain, iteration], abs=1e-9)
    trace = fit.trace.set_index(["ensemble", "chain", "iteration"])
    assert trace.loc[(2, 4, 151), "log_joint"] == fit.log_joint[1, 3, 150]


def test_estimates(fit):
    for loss in ("vi", "binder", "ari", "map"):
        labels = fit.labels(loss)
        assert labels.shape == (34,) and np.bincount(labels)[0] == np.bincount(labels).max()
    assert fit.labels("map").tolist() == fit.answer("map")["labels"]
    assert fit.labels().tolist() == fit.answer()["labels"]
    assert sum(map(len, fit.groups())) == 34 and fit.groups()[0] == [v for v, z in zip(fit.items, fit.labels()) if z == 0]
    similarity = fit.similarity()
    assert similarity.shape == (34, 34) and np.array_equal(similarity, similarity.T) and np.all(np.diag(similarity) == 1)
    assert 0 < fit.certainty().min() <= fit.certainty().max() <= 1
    assert fit.modes()[0].weight > 0.1 and fit.credible_ball().radius > 0
    assert fit.credible_ball(0.5).radius <= fit.credible_ball(0.99).radius


def test_estimates_are_those_of_the_label_functions(fit):
    burnt = fit.draws[:, :, 150:].reshape(-1, 34)
    some = burnt[np.arange(1000) * len(burnt) // 1000]
    assert armix.salso(some).tolist() == fit.labels().tolist()
    assert np.array_equal(armix.similarity(some), fit.similarity())


def test_burn_in_of_all_kinds(fit):
    assert fit.labels(burn_in=0.5).tolist() == fit.labels(burn_in="50%").tolist() == fit.labels(burn_in=150).tolist()
    assert fit.summary(burn_in=0)["log_joint"]["mean"] != fit.summary()["log_joint"]["mean"]
    with pytest.raises(ValueError, match="burn-in"):
        fit.labels(burn_in="much")
    with pytest.raises(TypeError, match="fraction"):
        fit.labels(burn_in=None)
    with pytest.raises(ValueError, match="vi, binder"):
        fit.labels("l2")


def test_summary_is_text_and_numbers(fit):
    summary = fit.summary()
    assert "log joint" in str(summary) and summary["n"] == 34
    html = fit._repr_html_()
    assert html.startswith("<div>") and "log joint" in html


def test_the_html_of_hostile_names_is_inert(small):
    fit = armix.fit(nx.Graph([("<script>", "b"), ("b", "c")]), name="<img src=x>", **small)
    assert "<img" not in fit._repr_html_() and "<script" not in fit._repr_html_()
    assert "<img" not in fit.summary()._repr_html_()


def test_saving_and_loading(fit, tmp_path, karate):
    saved = armix.fit(karate, iterations=60, ensembles=2, chains=2).save(tmp_path / "deep" / "run")
    loaded = armix.load(tmp_path / "deep" / "run")
    assert np.array_equal(loaded.draws, saved.draws) and loaded.labels().tolist() == saved.labels().tolist()
    assert json.loads((tmp_path / "deep" / "run" / "run.json").read_text())["data"]["path"].endswith("deep/run/data.graphml")
    assert loaded.predict_links([(0, 1)]) == saved.predict_links([(0, 1)])
    with pytest.raises(FileExistsError):
        fit.save(tmp_path / "deep" / "run")
    with pytest.raises(ValueError, match="holds a run already"):
        armix.fit(karate, iterations=5, out=tmp_path / "deep" / "run")
    with pytest.raises(FileNotFoundError):
        armix.load(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="no run in this folder"):
        armix.load(tmp_path)


def test_resuming_gives_the_same_bytes(karate, tmp_path):
    whole = armix.fit(karate, iterations=90, ensembles=2, chains=3, out=tmp_path / "whole")
    parts = armix.fit(karate, iterations=40, ensembles=2, chains=3, out=tmp_path / "parts")
    before = parts.labels()
    assert parts.resume(50) is parts and parts.iterations == 90 and len(before) == 34
    assert np.array_equal(parts.draws, whole.draws)
    assert (tmp_path / "parts/trace.csv").read_bytes() == (tmp_path / "whole/trace.csv").read_bytes()
    for part in (tmp_path / "whole/draws").iterdir():
        assert part.read_bytes() == (tmp_path / "parts/draws" / part.name).read_bytes()


def test_a_fit_without_partitions(karate, small):
    fit = armix.fit(karate, save_partitions=False, **small)
    assert fit.draws.shape == (2, 2, 0, 34) and fit.k_posterior
    with pytest.raises(ValueError, match="save_partitions"):
        fit.labels()
    thin = armix.fit(karate, thin=10, **small)
    assert thin.draws.shape == (2, 2, 4, 34) and thin.draw_iterations.tolist() == [0, 10, 20, 30]


def test_report(fit, tmp_path):
    page = fit.report(tmp_path / "report.html", truth=["a"] * 17 + ["b"] * 17)
    assert page.startswith("<!") and (tmp_path / "report.html").read_text(encoding="utf-8") == page
    with pytest.raises(ValueError, match="do not fit"):
        fit.report(truth=[0, 1])


def test_links(fit, karate, small):
    p = fit.predict_links([(0, 1), (0, 9)])
    assert p[0] > p[1]
    with pytest.raises(ValueError, match="Fit.items"):
        fit.predict_links([(0, 99)])
    with pytest.raises(ValueError, match="itself"):
        fit.predict_links([(1, 1)])
    with pytest.raises(ValueError, match="hold_out"):
        fit.predict_links()
    with pytest.raises(TypeError, match="predict_links"):
        fit.predict_cells([(0, 0)])
    held = armix.fit(karate, hold_out=0.1, **small)
    assert held.predict_links().shape == (len(held.data.hidden()),)
    assert held.held_out_score()["entries"] == len(held.data.held_out()[1])


def test_new_vertices(fit):
    ones = np.zeros((2, 34))
    ones[0, [0, 1, 2, 3]] = 1
    ones[1, [32, 33]] = 1
    p = fit.predict_proba(ones)
    assert p.shape == (2, fit.labels().max() + 2) and p.sum(axis=1) == pytest.approx([1, 1])
    assert np.array_equal(fit.predict_proba({"a": [0, 1, 2, 3], "b": [32, 33]}), p)
    assert fit.predict(ones)[0] == fit.labels()[4] and fit.predict(ones)[1] == fit.labels()[14]
    with pytest.raises(ValueError, match="shape"):
        fit.predict(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="already"):
        fit.predict({0: [1]})


def test_new_rows(small, tmp_path):
    X = np.repeat([[1, 1, 1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1, 1, 1]], 15, axis=0)
    words = pd.DataFrame(np.where(X, "yes", "no"), columns=list("abcdefgh"))
    words.to_csv(tmp_path / "w.csv", index=False)
    new = pd.DataFrame([["yes"] * 4 + ["no"] * 4, ["no"] * 4 + [None] * 4], columns=list("abcdefgh"))
    new.to_csv(tmp_path / "new.csv", index=False)
    array = armix.fit(X, **small)
    p = array.predict_proba([[1, 1, 1, 1, 0, 0, 0, 0], [0, 0, 0, 0, np.nan, np.nan, np.nan, np.nan]])
    assert p.argmax(axis=1).tolist() == array.labels()[[0, 20]].tolist()
    for fit in (armix.fit(words, **small), armix.fit(tmp_path / "w.csv", **small)):
        assert fit.predict_proba(new) == pytest.approx(p)
        assert fit.predict_proba(tmp_path / "new.csv") == pytest.approx(p)
    one = array.predict_cells([(0, 0), (0, 7), (29, 7)])
    assert one[0] > 0.9 > 0.1 > one[1] and one[2] > 0.9
    with pytest.raises(ValueError, match="column"):
        array.predict_cells([(0, "z")])
    with pytest.raises(ValueError, match="shape"):
        array.predict([[1, 0]])


def test_what_is_known_beforehand(karate):
    known = {0: "instructor", 1: "instructor", 33: "officer"}
    fit = armix.fit(
        karate, ensembles=2, chains=2, iterations=30, known=known, together=[[4, 5, 6]], max_blocks=3, progress=False
    )
    draws = fit.draws.reshape(-1, 34)
    assert (draws[:, 0] == draws[:, 1]).all() and (draws[:, 0] != draws[:, 33]).all()
    assert (draws[:, 4:7] == draws[:, [4]]).all() and draws.max() < 3
    with pytest.raises(ValueError, match="no item 'nobody' in the data"):
        armix.fit(karate, known={"nobody": "x"}, progress=False)


def test_sampled_hyper_parameters(small):
    fit = armix.fit("karate", prior="mfm", sample_hyper=True, hold_out=0.1, **small)
    assert list(fit.hypers) == ["gamma", "beta_plus", "beta_minus"]
    for name, values in fit.hypers.items():
        assert values.shape == fit.log_joint.shape and (values > 0).all() and values.std() > 0
        assert name in fit.rhat and name in fit.ess and name in fit.trace.columns
        assert np.array_equal(fit.trace[name], values.transpose(2, 0, 1).ravel())
    assert "beta_plus" in str(fit.summary()) and fit.summary()["hypers"]["gamma"]["mean"] > 0
    assert 0 < fit.held_out_score()["auc"] <= 1
    fixed = armix.fit("karate", **small)
    assert fixed.hypers == {} and "hypers" not in fixed.summary()


def test_ladders(small):
    given = {**small, "chains": 1}
    fit = armix.fit("karate", ladder=4, **given)
    ladder = fit.summary()["ladder"]
    assert len(ladder["coldness"][0]) == 4 and ladder["coldness"][0][0] == 1 and ladder["log_evidence"] is None
    assert fit.draws.shape[:2] == (given["ensembles"], 1)
    listed = armix.fit("karate", ladder=[1, 0.5], **given)
    assert listed.summary()["ladder"]["coldness"][0] == [1, 0.5]
    assert np.array_equal(listed.log_joint, armix.fit("karate", ladder="1,0.5", **given).log_joint)
    for ladder in (0, "4:2", [0.5]):
        with pytest.raises(ValueError, match="ladder|inverse"):
            armix.fit("karate", ladder=ladder, **given)


def test_until_converged():
    fit = armix.fit("karate", ensembles=4, chains=2, iterations=25, seed=3, until_converged=True, progress=False)
    assert fit.verdict == "converged" and fit.iterations > 25 and not fit.interrupted
    plain = armix.fit("karate", ensembles=4, chains=2, iterations=fit.iterations, seed=3, progress=False)
    assert np.array_equal(fit.log_joint, plain.log_joint)
    with pytest.raises(ValueError, match="at least two"):
        armix.fit("karate", ensembles=1, until_converged=True, progress=False)


def test_hyper_parameters_by_name(small, tmp_path):
    X = np.random.default_rng(1).normal(np.repeat([0.0, 4.0], 20)[:, None], 1.0, (40, 2))
    plain, fit = armix.fit(X, **small), armix.fit(X, hyper={"kappa": 2, "scale": 0.05}, **small)
    assert not np.array_equal(plain.log_joint, fit.log_joint)
    fit.save(tmp_path / "run")
    resumed = armix.load(tmp_path / "run").resume(10, progress=False)
    whole = armix.fit(X, hyper={"kappa": 2, "scale": 0.05}, **{**small, "iterations": small["iterations"] + 10})
    assert np.array_equal(resumed.log_joint, whole.log_joint)
    sampled = armix.fit(X, "niw", hyper={"freedom": 9}, sample_hyper=True, **small)
    assert list(sampled.hypers) == ["alpha", "kappa", "freedom", "psi"]
    for options, words in [
        ({"hyper": {"kapa": 1}}, "'kapa' to set in the model gaussian, which has kappa, shape, scale"),
        ({"hyper": {"kappa": 0}}, "kappa=0 is not possible: use a number from 1e-8 to 1e8"),
        ({"hyper": {"kappa": float("nan")}}, "kappa"),
        ({"model": "student-t", "hyper": {"kappa": 1}}, "none of its own"),
    ]:
        with pytest.raises(ValueError, match=words):
            armix.fit(X, **options, **small)


def test_student_t(small):
    rng = np.random.default_rng(2)
    truth = np.repeat([0, 1], 30)
    X = rng.normal(8.0 * truth[:, None], 1.0, (60, 2))
    X[[5, 40]] += 25  # outliers
    fit = armix.fit(X, "student-t", degrees_of_freedom=2, menu=6, seed=3, ensembles=2, chains=4, iterations=200, progress=False)
    assert fit.data.model == "student-t"
    assert armix.adjusted_rand(fit.labels(), truth) > 0.8
    with pytest.raises(ValueError, match="degrees of freedom"):
        armix.fit(X, "student-t", degrees_of_freedom=0, **small)
    assert list(armix.fit(X, "student-t", sample_hyper=True, **small).hypers) == ["alpha"]


def test_priors_that_are_refused(small):
    for options, words in [
        ({"prior": "dp"}, "no prior 'dp'"),
        ({"discount": 0.1}, "belongs to prior='pitman-yor'"),
        ({"prior": "pitman-yor", "discount": 2}, "discount = 2"),
        ({"prior": "mfm", "components": "many"}, "geometric:0.1"),
        ({"prior": "mfm", "components": "poisson:-1"}, "components poisson:-1"),
    ]:
        with pytest.raises(ValueError, match=words):
            armix.fit("karate", **options, **small)


def test_a_ladder_by_default_and_strategies(karate):
    fit = armix.fit(karate, ensembles=2, iterations=20, warmup=8, progress=False)
    assert fit.draws.shape == (2, 1, 20, 34) and "1 chain ×" in repr(fit)
    rungs = int(fit.settings["ladder"].split(":")[0])
    assert 6 <= rungs <= 32 and fit.settings["schedule"] == "(arm:near*2,arm,gibbs)*4"
    given = dict(ensembles=2, chains=2, iterations=20, warmup=8, progress=False)
    for strategy in armix.strategies():
        assert armix.fit(karate, moves=f"arm:{strategy},gibbs", **given).accept_rates.keys() == {f"arm:{strategy}", "gibbs"}
    assert "auto" in armix.fit(karate, moves="auto", **given).settings["schedule"]
    with pytest.raises(ValueError, match="there is no strategy"):
        armix.fit(karate, moves="arm:nonsense", **given)
