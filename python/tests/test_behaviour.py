"""Ctrl-C, callbacks, threads, pickling, other processes, and memory."""

import copy
import io
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import joblib
import networkx as nx
import numpy as np
import pytest

import armix

LONG = """
import sys, time, armix
def tell(progress):
    global called
    called = time.perf_counter()
    if progress.iteration > 20:
        print("going", flush=True)
try:
    fit = armix.fit("grid:10x10", iterations=10**9, save_partitions=False, callback=tell, on_interrupt=sys.argv[1], {more})
    waited = time.perf_counter() - called
    complete = fit.log_joint.shape[-1] == fit.iterations
    print("returned", fit.iterations, fit.interrupted, complete, waited, flush=True)
except KeyboardInterrupt:
    print("raised", flush=True)
"""


def interrupted(how, more=""):
    """What a long fit says after Ctrl-C."""
    words = [sys.executable, "-c", LONG.format(more=more), how]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline().strip() == "going"
        process.send_signal(signal.SIGINT)
        said = [line for line in process.stdout if line.strip() != "going"]
        assert process.wait() == 0
    return said[-1].split()


def test_ctrl_c_returns_the_draws_so_far():
    word, iterations, stopped, complete, waited = interrupted("return")
    assert (word, stopped, complete) == ("returned", "True", "True") and int(iterations) > 20
    # Callbacks come ten times a second, so that the last of them was just before Ctrl-C, or just after.
    assert float(waited) < 1


def test_ctrl_c_raises_if_asked_to():
    assert interrupted("raise") == ["raised"]


def test_an_interrupted_run_can_be_resumed(tmp_path, karate):
    whole = armix.fit(karate, iterations=400, ensembles=2, chains=2)

    def stop(progress):
        raise KeyboardInterrupt

    fit = armix.fit(karate, iterations=400, ensembles=2, chains=2, max_time=0.0, warmup=50)
    assert fit.interrupted and fit.iterations < 400
    assert np.array_equal(fit.resume().draws, whole.draws) and not fit.interrupted
    with pytest.raises(KeyboardInterrupt):
        armix.fit(karate, iterations=400, callback=stop, on_interrupt="raise")


def test_a_run_that_was_stopped_during_warm_up_says_so(karate):
    fit = armix.fit(karate, max_time=0.0)
    assert fit.iterations == 0 and "Fit of" in repr(fit) and fit._repr_html_()
    for ask in (fit.summary, fit.diagnosis, fit.report, fit.labels, fit.similarity):
        with pytest.raises(ValueError):
            ask()
    assert fit.resume(max_time=None, threads=2).iterations == 1000


def test_exceptions_in_callbacks_propagate(karate, tmp_path):
    class Mine(Exception):
        pass

    def fail(progress):
        raise Mine(progress.iterations)

    with pytest.raises(Mine, match="30"):
        armix.fit(karate, iterations=30, warmup=0, callback=fail, out=tmp_path / "run")
    # What was done is there all the same.
    assert armix.load(tmp_path / "run").iterations > 0
    with pytest.raises(Mine):
        armix.load(tmp_path / "run").resume(5, callback=fail)


def test_callbacks_are_told_where_the_run_is(karate, small):
    told = []
    armix.fit(karate, callback=told.append, **small)
    last = told[-1]
    assert last.iteration == last.iterations == 40
    assert len(last.log_joint) == len(last.blocks) == len(last.accept_rate) == 2


def test_progress_bars(karate, small, capsys):
    armix.fit(karate, **(small | {"progress": True}))
    assert "40/40" in capsys.readouterr().err
    armix.fit(karate, **(small | {"progress": None}))
    assert capsys.readouterr().err == ""


def test_other_threads_go_on_meanwhile(karate):
    """The GIL is free: another thread of Python works while a fit goes on."""
    done, count = threading.Event(), [0]

    def work():
        while not done.is_set():
            count[0] += 1

    thread = threading.Thread(target=work)
    thread.start()
    before = count[0]
    armix.fit(karate, iterations=300, progress=False, threads=1)
    worked = count[0] - before
    done.set()
    thread.join()
    assert worked > 1000


def test_the_number_of_threads_changes_nothing(karate, small):
    fits = [armix.fit(karate, threads=threads, **small) for threads in (None, 1, 3)]
    assert all(np.array_equal(fits[0].draws, fit.draws) for fit in fits)
    assert all(np.array_equal(fits[0].labels(), fit.labels(threads=t)) for fit, t in zip(fits, (1, 2, 3)))
    with pytest.raises(TypeError, match="threads"):
        armix.fit(karate, threads="many", **small)


def summary_of(seed):
    """Runs in another process."""
    fit = armix.fit("karate", iterations=40, ensembles=2, chains=2, seed=seed, threads=1)
    return fit.labels().tolist(), fit.draws.sum()


def same_again(fit):
    return fit.labels().tolist(), fit.draws.sum()


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_multiprocessing(method):
    here = [summary_of(seed) for seed in range(3)]
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(summary_of, range(3)) == here
        fits = [armix.fit("karate", iterations=40, ensembles=2, chains=2, seed=seed) for seed in range(3)]
        assert pool.map(same_again, fits) == here
    # Children that had copies of the fits have not taken their folders along.
    assert all(fit.folder.exists() for fit in fits)


def test_joblib_and_python_threads():
    here = [summary_of(seed) for seed in range(4)]
    assert joblib.Parallel(n_jobs=2)(joblib.delayed(summary_of)(seed) for seed in range(4)) == here
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(summary_of, range(4))) == here


def test_pickling_and_copying(fit):
    for other in (pickle.loads(pickle.dumps(fit)), copy.deepcopy(fit)):
        assert np.array_equal(other.draws, fit.draws) and other.items == fit.items
        assert other.folder != fit.folder and other.predict_links([(0, 1)]) == fit.predict_links([(0, 1)])
        assert other.resume(5).iterations == 305 and fit.iterations == 300


def test_a_folder_of_ones_own_stays_and_a_temporary_one_goes(karate, small, tmp_path):
    named = armix.fit(karate, out=tmp_path / "run", **small)
    unnamed = armix.fit(karate, **small)
    folder = unnamed.folder
    assert folder.exists()
    del named, unnamed
    assert not folder.exists() and (tmp_path / "run" / "run.json").exists()


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="the system does not tell the memory in use")
def test_a_thousand_fits_leak_nothing(monkeypatch):
    if os.path.isdir("/dev/shm"):
        monkeypatch.setattr("tempfile.tempdir", "/dev/shm")  # no disk has to be waited for

    def megabytes():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

    graph = nx.path_graph(30)
    settings = dict(iterations=10, warmup=2, ensembles=1, chains=2, threads=1)

    def some(count):
        for seed in range(count):
            fit = armix.fit(graph, seed=seed, **settings)
            fit.labels(threads=1), fit.draws, fit.similarity(threads=1)
        return megabytes()

    before, after = some(200), some(800)
    # A leak of the draws alone, or of one state, would be above this; what the allocator keeps is below.
    assert after - before < 8, (before, after)


def test_damaged_runs_are_explained(karate, small, tmp_path):
    armix.fit(karate, out=tmp_path / "run", **small)
    (tmp_path / "run" / "run.json").write_text("{")
    with pytest.raises(ValueError, match="damaged"):
        armix.load(tmp_path / "run")


def test_standard_error_may_be_missing(karate, small, monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    armix.fit(karate, **(small | {"progress": None}))
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    armix.fit(karate, **(small | {"progress": None}))
