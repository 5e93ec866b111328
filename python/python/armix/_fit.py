"""`armix.fit` and the `Fit` that comes out of it: what a run says, asked when it is needed."""

from __future__ import annotations

import html
import json
import os
import time
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

import numpy as np

from . import _armix, _export, _new, _plots
from ._data import Converted, convert
from ._folder import Folder
from ._labels import Ball, Mode, _codes, ball_of, burn_in_text, numbers
from ._optional import need
from ._progress import Display, Progress

if TYPE_CHECKING:
    import pandas
    from numpy.typing import ArrayLike

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_HALF = "50%"


def _count(name: str, value: Any, least: int = 0) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name}={value!r}: give a whole number")
    if not least <= value < 1 << 64:
        raise ValueError(f"{name}={value}: give a number from {least} on")
    return int(value)


def _bytes(size: int | str) -> int:
    if isinstance(size, str):
        text = size.strip().upper().removesuffix("IB").removesuffix("B")
        digits = text.rstrip("KMGT")
        unit = text[len(digits) :]
        if not digits.strip().isdigit() or unit not in _UNITS:
            raise ValueError(f"history_memory={size!r}: write a number with K, M, G or T, for example '500M'")
        return int(digits) * _UNITS[unit]
    return _count("history_memory", size, 1)


def _threads(threads: int | None) -> int:
    return 0 if threads is None else _count("threads", threads)


def _seconds(max_time: Any) -> float | None:
    if max_time is None:
        return None
    seconds = float(max_time.total_seconds() if hasattr(max_time, "total_seconds") else max_time)
    if not 0 <= seconds < float("inf"):
        raise ValueError(f"max_time={max_time!r}: give a number of seconds")
    return seconds


def _check_interrupt(on_interrupt: str) -> None:
    if on_interrupt not in ("return", "raise"):
        raise ValueError(f"on_interrupt={on_interrupt!r}: use 'return' or 'raise'")


def fit(
    data: Any,
    model: str | None = None,
    moves: str | Sequence[str] | None = None,
    ensembles: int = 4,
    chains: int | None = None,
    iterations: int = 1000,
    *,
    seed: int = 1,
    warmup: int = 50,
    alpha: float = 1.0,
    beta: tuple[float, float] = (1.0, 1.0),
    hyper: Mapping[str, float] | None = None,
    degrees_of_freedom: float = 4.0,
    menu: int = 4,
    prior: str = "crp",
    discount: float | None = None,
    gamma: float | None = None,
    components: str | None = None,
    sample_hyper: bool = False,
    ladder: int | str | Sequence[float] | None = None,
    until_converged: bool = False,
    start: str | ArrayLike = "prior",
    threads: int | None = None,
    max_time: Any = None,
    out: str | os.PathLike | None = None,
    thin: int = 1,
    save_partitions: bool = True,
    hold_out: float | None = None,
    hold_out_seed: int = 1,
    threshold: float = 0.0,
    downsample: float | None = None,
    largest_component: bool = False,
    columns: Sequence[str] | None = None,
    id_column: str | None = None,
    label_column: str | None = None,
    types: dict[Any, str] | None = None,
    data_seed: int = 1,
    known: Mapping[Any, Any] | None = None,
    together: Sequence[Sequence[Any]] | None = None,
    max_blocks: int | None = None,
    weight: str | None = "weight",
    directed: bool = False,
    self_loops: bool = False,
    weights: str | Sequence[str] | None = None,
    bipartite: bool = False,
    mask: str | os.PathLike | None = None,
    relations: Sequence[str | os.PathLike] = (),
    names: Sequence[Any] | None = None,
    name: str | None = None,
    launch_scans: int = 5,
    freeze_after: int | None = None,
    history_memory: int | str = "1G",
    progress: bool | None = None,
    callback: Callable[[Progress], Any] | None = None,
    on_interrupt: str = "return",
) -> Fit:
    """Samples partitions of the vertices of a network or the rows of a table.

    Parameters
    ----------
    data
        A networkx or igraph graph; a square scipy sparse or NumPy matrix (a network); a NumPy matrix, pandas or polars
        DataFrame of zeros and ones, words, counts or numbers, in which NaN is missing (a table); an integer array of edges of shape (m, 2), or
        pairs of names; the path of a file in any format of the command line; or the name of built-in data such as
        "karate". Names of vertices and rows are kept.
    model
        "irm" (networks); for tables "bernoulli" (zeros and ones), "categorical", "poisson" (counts), "gaussian" (reals),
        "niw" (reals, with correlations), "student-t" (reals with outliers) or "mixed" (any columns); by default what the
        data are. Needed where data may be a network or a table.
    moves
        The moves of an iteration, with repeats, as "arm-cells*5,arm:sizes,gibbs"; `armix.moves()` and `armix.strategies()` list
        them. An iteration can have several laps, as "(arm,gibbs)*4": the rungs of a ladder exchange states before each.
        "auto" or "auto:LIST" tunes in warm-up how often each is made. By default "(arm:near*2,arm,gibbs)*4" with a ladder and
        "arm,gibbs" without.
    ensembles, chains
        Independent ensembles, between which convergence is judged, of chains that learn from each other's past; by default
        one with a ladder, or 8 without.
    iterations, warmup
        Iterations that are recorded, and iterations before them: Gibbs scans, or all moves if there is a ladder.
    seed
        The same data, settings and seed give the same bytes, here and on the command line, with any number of threads.
    alpha, beta
        The concentration of the prior over partitions, and the Beta prior of link or cell probabilities.
    hyper
        Other hyper-parameters of the model by name, as {"kappa": 0.5, "scale": 0.1}: beta (categorical); shape, rate (poisson);
        kappa, shape, scale (gaussian); kappa, freedom, psi (niw); in mixed tables with the type in front, as "real_kappa".
    degrees_of_freedom, menu
        Of "student-t": its tails, and how many parameters each row holds ready for a block.
    prior, discount, gamma, components
        The prior over partitions: "crp"; "pitman-yor" with its discount (0.25 by default); or "mfm", a mixture of finite
        mixtures with the Dirichlet parameter gamma (1) and a prior of the number of components, "geometric:P" ("geometric:0.1")
        or "poisson:MEAN".
    sample_hyper
        Sample the hyper-parameters, too: see `Fit.hypers`. They begin at the values given here, and the log joint
        includes their priors; docs/PRIORS.md has these. Those of "student-t" are fixed.
    ladder
        Hot copies of every chain, which exchange states with it so that it does not get stuck: the number of rungs, as 16; with
        the lowest inverse temperature, as "16:0.25"; or all inverse temperatures, as [1, 0.9, 0.8]. With 0 as the lowest the
        summary has an estimate of the evidence. Hot copies make all scans of `moves`, and fewer proposals. By default as many as a short trial suggests; none (1) if `chains` is given or the model cannot be heated.
    until_converged
        Go on until the run has converged: it is asked after these iterations, and each time it is twice as long as the last
        time, unless `max_time` is up before.
    start
        Where chains begin: "prior" (a draw), "one", "singletons", "uniform:K", or a label for each item.
    threads
        Threads; by default one per core.
    max_time
        Stop after so many seconds (or a `timedelta`); `Fit.resume()` goes on.
    out
        The folder for the run, as the command line writes it. By default it is a temporary one; see `Fit.save`.
    thin, save_partitions
        Keep the partitions of every so-manieth iteration, or none at all.
    hold_out, hold_out_seed
        Hide this fraction of pairs or cells, to see how well they are predicted: `Fit.held_out_score()`.
    threshold, downsample, largest_component, weight
        For networks: links have a weight above the threshold; keep this fraction of the vertices, those of highest degree;
        keep the largest component; the edge attribute with weights (None: weights are ignored).
    directed, self_loops, weights, bipartite, mask, relations
        For networks: edges have a direction; vertices may be linked to themselves; weights are "counts", "real" (on links),
        "real-all" (on all pairs, 0 without a link), "category" or "ignore" (compared with the threshold); there are two sides, and
        no block has both (networkx's attribute "bipartite" or igraph's "type" says which, else the links do; of a table, rows and columns
        are the sides); a file of pairs that were not observed (NaN in a matrix says the same); files with further relations.
    columns, id_column, label_column
        For tables: columns to cluster by, that names the rows, and with known groups, which is left out.
    known, together, max_blocks
        What is known beforehand: the groups of some items, as {item: group} (the same group is one block, other groups are
        other blocks, all other items may join them); lists of items that belong together; the largest number of blocks.
    types
        For tables: what columns are, if not what they seem: a dict from names to "binary", "categorical", "count" or "real".
    names, name
        Names of the items of an array, and what the data are called.
    launch_scans, freeze_after, history_memory, data_seed
        As on the command line.
    progress
        True for a bar (tqdm), False for none; by default there is one in terminals and notebooks, if tqdm is there.
    callback
        Called about ten times a second with a `Progress`; an exception that it raises stops the run and is raised here.
    on_interrupt
        What Ctrl-C does: "return" the draws so far, or "raise" KeyboardInterrupt.

    Examples
    --------
    >>> import armix
    >>> fit = armix.fit([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)], iterations=100, progress=False)
    >>> fit.draws.shape
    (4, 1, 100, 6)
    """
    _check_interrupt(on_interrupt)
    converted = convert(
        data,
        model,
        alpha=alpha,
        beta=beta,
        hyper=hyper,
        degrees_of_freedom=degrees_of_freedom,
        menu=menu,
        prior=prior,
        discount=discount,
        gamma=gamma,
        components=components,
        threshold=threshold,
        downsample=downsample,
        largest_component=largest_component,
        columns=columns,
        id_column=id_column,
        label_column=label_column,
        types=types,
        hold_out=hold_out,
        hold_out_seed=hold_out_seed,
        data_seed=data_seed,
        known=known,
        together=together,
        max_blocks=max_blocks,
        weight=weight,
        directed=directed,
        self_loops=self_loops,
        weights=weights,
        bipartite=bipartite,
        mask=mask,
        relations=relations,
        names=names,
        name=name,
    )
    begin = start if isinstance(start, str) else _codes(start, 1, "start").tolist()
    settings: dict[str, Any] = dict(
        moves=moves if moves is None or isinstance(moves, str) else ",".join(moves),
        ensembles=_count("ensembles", ensembles, 1),
        chains=None if chains is None else _count("chains", chains, 1),
        ladder=_ladder(ladder),
        iterations=_count("iterations", iterations, 1),
        warmup=_count("warmup", warmup),
        seed=_count("seed", seed),
        start=begin,
        sample_hyper=bool(sample_hyper),
        launch_scans=_count("launch_scans", launch_scans),
        freeze_after=None if freeze_after is None else _count("freeze_after", freeze_after),
        history_memory=_bytes(history_memory),
        thin=_count("thin", thin, 1),
        save_partitions=bool(save_partitions),
        threads=_threads(threads),
        max_time=_seconds(max_time),
    )
    if until_converged and settings["ensembles"] < 2:
        raise ValueError("until_converged=True compares ensembles: use at least two")
    display = Display(progress, callback, iterations)
    folder = Folder(out)
    began = time.monotonic()
    try:
        stopped = _armix.fit(converted.data, folder.path, **settings, callback=display.hook())
    finally:
        display.close()
    fitted = _finished(Fit(folder, converted), stopped, on_interrupt)
    while until_converged and stopped is None and not fitted.interrupted and fitted.verdict != "converged":
        left = None if settings["max_time"] is None else settings["max_time"] - (time.monotonic() - began)
        if left is not None and left <= 0:
            break
        fitted.resume(
            fitted.iterations,
            threads=threads,
            max_time=left,
            progress=progress,
            callback=callback,
            on_interrupt=on_interrupt,
        )
    return fitted


def _ladder(ladder: int | str | Sequence[float] | None) -> str | None:
    """A ladder as the command line writes it."""
    if ladder is None or isinstance(ladder, str):
        return ladder
    if np.ndim(ladder) > 0:
        return ",".join(repr(float(b)) for b in np.asarray(ladder))
    return str(_count("ladder", ladder, 1))


def _finished(fitted: Fit, stopped: BaseException | None, on_interrupt: str) -> Fit:
    """A run that is over, or the exception that stopped it."""
    interrupted = isinstance(stopped, KeyboardInterrupt) and on_interrupt == "return" and fitted.iterations > 0
    if stopped is not None and not interrupted:
        raise stopped
    return fitted


def load(folder: str | os.PathLike, data: str | os.PathLike | None = None) -> Fit:
    """A run from its folder, made here or on the command line; `data` says where its data are, if they were moved.

    >>> import armix, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> _ = armix.fit("karate", iterations=100, progress=False).save(folder)
    >>> armix.load(folder).iterations
    100
    """
    if not os.path.isdir(os.path.expanduser(os.fspath(folder))):
        raise FileNotFoundError(f"there is no folder {os.fspath(folder)!r}")
    fitted = Fit(Folder(folder))
    if data is not None:
        fitted._converted = Converted(_armix.reload(fitted._folder.path, os.fspath(data)))
    return fitted


class Summary(dict):
    """A run in numbers: the object of `armix fit --json`, which prints as text."""

    def __repr__(self) -> str:
        return self["text"]

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self['text'])}</pre>"


class Fit:
    """A run: labels, similarities, diagnostics, predictions, plots. Made by `armix.fit` and `armix.load`.

    Labels are numbered from 0 for the largest block on. By default the first half of every chain does not count
    (`burn_in="50%"`); a fraction, a percentage or a number of iterations can be given. Estimates look at up to 1000
    draws, evenly spread.

    >>> import armix
    >>> fit = armix.fit("karate", iterations=200, progress=False)
    >>> fit.verdict
    'converged'
    >>> max(fit.k_posterior, key=fit.k_posterior.get)
    5
    >>> fit.predict_links([(0, 1)]).shape
    (1,)
    """

    def __init__(self, folder: Folder, converted: Converted | None = None):
        self._folder = folder
        self._converted = converted
        self._names_of_items = None if converted is None else converted.items
        self._read()

    def _read(self) -> None:
        self._run = _armix.Run(self._folder.path)
        self._known: dict[Any, Any] = {}

    def _need_iterations(self) -> None:
        if self.iterations == 0:
            raise ValueError("nothing was recorded in this run: it was stopped during warm-up; go on with resume()")

    def _once(self, key: Any, make: Callable[[], Any]) -> Any:
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]

    # ---- what it is

    @property
    def data(self) -> _armix.Data:
        """The data as the engine has them: `kind`, `names`, `columns`, `notes`, `edges()`, `cells()`."""
        if self._converted is None:
            self._converted = Converted(_armix.reload(self._folder.path), self._names_of_items)
        return self._converted.data

    @property
    def items(self) -> list:
        """The vertices or rows, in the order of labels: as they were in the data."""
        return list(self._run.names if self._names_of_items is None else self._names_of_items)

    @property
    def folder(self):
        """The folder of the run."""
        return self._folder.path

    @property
    def settings(self) -> dict:
        """All that the result depends on besides data and model."""
        return json.loads(self._run.manifest())["settings"]

    @property
    def model(self) -> str:
        """The model's name."""
        return self._run.model

    @property
    def iterations(self) -> int:
        """Recorded iterations."""
        return self._run.iterations

    @property
    def interrupted(self) -> bool:
        """Whether the run was stopped before all iterations were done; `resume()` goes on."""
        return self._run.interrupted

    # ---- can it be believed?

    def diagnosis(self, burn_in: float | int | str = _HALF) -> dict:
        """Verdict, reasons, what to do next, and R̂, effective sample sizes and more of every quantity."""
        key = burn_in_text(burn_in)
        self._need_iterations()
        return self._once(("diagnosis", key), lambda: numbers(json.loads(self._run.diagnosis(key))))

    @property
    def verdict(self) -> str:
        """"converged", "not-converged" or "too-short"; `diagnosis()` has the reasons."""
        return self.diagnosis()["verdict"]

    def _quantity(self, what: str) -> dict[str, float]:
        found = {name: about[what] for name, about in self.diagnosis()["quantities"].items()}
        return {name: float("nan") if value is None else value for name, value in found.items()}

    @property
    def rhat(self) -> dict[str, float]:
        """R̂ between ensembles of the log joint, blocks, the largest blocks, hyper-parameters, and co-assignments."""
        return self._quantity("rhat")

    @property
    def ess(self) -> dict[str, float]:
        """The effective sample size (bulk) of the same quantities, of one chain of each ensemble."""
        return self._quantity("ess_bulk")

    @property
    def accept_rates(self) -> dict[str, float]:
        """The share of accepted proposals of each move; NaN if nothing was proposed."""
        rates = {name: about["accept_rate"] for name, about in self.summary()["moves"].items()}
        return {name: float("nan") if rate is None else rate for name, rate in rates.items()}

    @property
    def log_joint(self) -> np.ndarray:
        """ln p(data, partition), and hyper-parameters if sampled, of every iteration: (ensemble, chain, iteration)."""
        return self._once("log_joint", self._run.log_joint)

    @property
    def hypers(self) -> dict[str, np.ndarray]:
        """The sampled hyper-parameters by name: (ensemble, chain, iteration). Empty if they were fixed."""
        names = self._run.hypers()
        return self._once("hypers", lambda: {name: self._run.hyper(at) for at, name in enumerate(names)})

    @property
    def blocks(self) -> np.ndarray:
        """The number of blocks in every iteration: (ensemble, chain, iteration)."""
        return self._once("blocks", lambda: self._run.blocks().astype(np.int64))

    @property
    def draws(self) -> np.ndarray:
        """The sampled partitions: (ensemble, chain, draw, item). Of long runs they are thinned to 256 MiB."""
        return self._once("draws", self._run.draws)

    @property
    def draw_iterations(self) -> np.ndarray:
        """The iterations, counted from 0, of the draws."""
        return self._run.drawn()

    @property
    def trace(self) -> pandas.DataFrame:
        """`trace.csv` as a DataFrame: log joint, blocks, shares of the largest blocks and outcomes of moves."""
        pandas = need("pandas", "Fit.trace")

        def read():
            frame = pandas.read_csv(self._folder.path / "trace.csv")
            return frame[frame["iteration"] <= self.iterations]

        return self._once("trace", read)

    def summary(self, burn_in: float | int | str = _HALF) -> Summary:
        """The run in numbers, which prints as text."""
        key = burn_in_text(burn_in)
        self._need_iterations()

        def make() -> Summary:
            summary = Summary(numbers(json.loads(self._run.summary(key))))
            summary["items"] = self.items
            summary["text"] = _text(summary, self._run.source, self.items)
            return summary

        return self._once(("summary", key), make)

    # ---- which groups, how sure?

    def labels(
        self, loss: str = "vi", *, burn_in: float | int | str = _HALF, runs: int = 16, threads: int | None = None
    ) -> np.ndarray:
        """The partition with the least expected loss: "vi", "binder" or "ari"; or "map", that of the highest log joint."""
        key = ("labels", loss, burn_in_text(burn_in), runs)
        make = lambda: self._run.labels(loss, key[2], _count("runs", runs, 1), _threads(threads))  # noqa: E731
        return self._once(key, lambda: make().astype(np.int64)).copy()

    def groups(self, loss: str = "vi", **options: Any) -> list[list]:
        """The items of each block of the estimate, the largest block first."""
        labels = self.labels(loss, **options)
        members: list[list] = [[] for _ in range(int(labels.max()) + 1)]
        for item, label in zip(self.items, labels):
            members[label].append(item)
        return members

    def answer(
        self,
        loss: str = "vi",
        *,
        burn_in: float | int | str = _HALF,
        runs: int = 16,
        level: float = 0.95,
        threads: int | None = None,
    ) -> dict:
        """All that `armix summary --json` says about the estimate."""
        key = ("answer", loss, burn_in_text(burn_in), runs, float(level))
        ask = lambda: self._run.answer(loss, key[2], _count("runs", runs, 1), key[4], _threads(threads))  # noqa: E731
        return self._once(key, lambda: numbers(json.loads(ask())))

    def certainty(self, loss: str = "vi", **options: Any) -> np.ndarray:
        """The mean probability of each item to share a block with its fellows in the estimate."""
        return np.array(self.answer(loss, **options)["certainty"])

    def similarity(self, *, burn_in: float | int | str = _HALF, threads: int | None = None) -> np.ndarray:
        """The posterior probability of each two items to share a block, (item, item), for up to 16 384 items."""
        key = burn_in_text(burn_in)
        return self._once(("similarity", key), lambda: self._run.similarity(key, _threads(threads)))

    @property
    def k_posterior(self) -> dict[int, float]:
        """The posterior of the number of blocks."""
        return dict(self._run.k_posterior(_HALF))

    def modes(self, loss: str = "vi", **options: Any) -> list[Mode]:
        """The modes of the posterior, the heaviest first."""
        return [
            Mode(
                mode["weight"],
                np.array(mode["labels"], dtype=np.int64),
                mode["blocks"],
                mode["distance"],
                mode["log_joint"],
                tuple(mode["ensembles"]),
            )
            for mode in self.answer(loss, **options)["modes"]
        ]

    def credible_ball(self, level: float = 0.95, loss: str = "vi", **options: Any) -> Ball:
        """The credible ball around the estimate, with its bounds."""
        return ball_of(self.answer(loss, level=level, **options)["ball"])

    # ---- what is not there

    def predict_links(self, pairs: Any = None, *, burn_in: float | int | str = _HALF) -> np.ndarray:
        """The posterior probability of a link between pairs of vertices, which are named as in `items`.

        Without `pairs`: those that were held out or not observed, in the order of `data.hidden()`.
        """
        return _new.predict_entries(self, pairs, "network", burn_in)

    def predict_cells(self, cells: Any = None, *, burn_in: float | int | str = _HALF) -> np.ndarray:
        """What cells of a table are expected to be: the probability of a one, the mean of counts and numbers, and of levels the
        number of the most probable one in `data.levels[column]`, as `data.cells()` has them; `predict_levels` has their probabilities.

        `cells` are pairs of a row (as in `items`) and a column, by name or number from 0. Without them: those that are missing or
        were held out, in the order of `data.hidden()`.
        """
        return _new.predict_entries(self, cells, "table", burn_in)

    def predict_levels(self, cells: Any = None, *, burn_in: float | int | str = _HALF) -> list[dict[str, float]]:
        """The posterior probability of each level, by name, in cells of categorical columns, which are given as to `predict_cells`.

        Without `cells`: those of `data.hidden()` that are in such columns.
        """
        return _new.predict_levels(self, cells, burn_in)

    def held_out_score(self, *, burn_in: float | int | str = _HALF) -> dict:
        """How well entries that were hidden by `hold_out` are predicted: AUC and log score, or the log score alone."""
        return numbers(json.loads(self._run.held_out_score(self.data, burn_in_text(burn_in))))

    def predict_proba(
        self, new: Any, *, burn_in: float | int | str = _HALF, threads: int | None = None
    ) -> np.ndarray:
        """Where new items belong: a probability for each block of `labels()`, and in the last column for a new block.

        For a table `new` is a matrix or DataFrame with the same columns, or a file. For a network it is a matrix (new
        vertex, known vertex) of links, a dict from new vertices to the known ones they are linked to, or a file of edges.
        """
        return _new.assign(self, new, burn_in_text(burn_in), _threads(threads))[1]

    def predict(self, new: Any, *, burn_in: float | int | str = _HALF, threads: int | None = None) -> np.ndarray:
        """The most probable block of each new item, -1 if that is a block of its own; see `predict_proba`."""
        probability = self.predict_proba(new, burn_in=burn_in, threads=threads)
        best = probability.argmax(axis=1)
        return np.where(best == probability.shape[1] - 1, -1, best)

    # ---- keeping it

    def save(self, folder: str | os.PathLike) -> Fit:
        """Saves the run in a folder, as the command line writes it; it stays there. Returns the run."""
        self._folder = self._folder.copy_to(folder)
        return self

    def resume(
        self,
        iterations: int | None = None,
        *,
        threads: int | None = None,
        max_time: Any = None,
        progress: bool | None = None,
        callback: Callable[[Progress], Any] | None = None,
        on_interrupt: str = "return",
    ) -> Fit:
        """Goes on, for so many iterations more; without a number, with those that an interruption has left undone.

        The result is the same as that of one long run. Returns the run, which has changed, and so has its folder.
        """
        _check_interrupt(on_interrupt)
        more = 0 if iterations is None else _count("iterations", iterations)
        total = self.settings["iterations"] + more
        display = Display(progress, callback, total)
        settings: dict[str, Any] = dict(more=more, threads=_threads(threads), max_time=_seconds(max_time))
        data = self.data
        try:
            stopped = _armix.resume(data, self._folder.path, **settings, callback=display.hook())
        finally:
            display.close()
            self._read()
        return _finished(self, stopped, on_interrupt)

    def report(
        self,
        path: str | os.PathLike | None = None,
        *,
        loss: str = "vi",
        burn_in: float | int | str = _HALF,
        truth: ArrayLike | None = None,
        threads: int | None = None,
    ) -> str:
        """Everything about the run on one HTML page that needs nothing else. Writes it to a path, and returns the text."""
        self._need_iterations()
        known = None if truth is None else ("known labels", _dense(truth))
        try:
            data = self.data
        except ValueError:  # the data are no longer there: there is less to show
            data = None
        page = self._run.report(data, loss, burn_in_text(burn_in), known, _threads(threads))
        if path is not None:
            with open(os.path.expanduser(os.fspath(path)), "w", encoding="utf-8") as file:
                file.write(page)
        return page

    def __getstate__(self) -> dict:
        return {"run": self._folder.pack(), "items": self._names_of_items}

    def __setstate__(self, state: dict) -> None:
        self._folder = Folder.unpack(state["run"])
        self._converted = None
        self._names_of_items = state["items"]
        self._read()

    # ---- pictures and other programs

    def plot_trace(self, ax: Any = None, *, quantity: str = "log_joint") -> Any:
        """The log joint, "blocks", "fraction_1" …, or a hyper-parameter of all chains, a colour for each ensemble."""
        return _plots.trace(self, ax, quantity)

    def plot_similarity(self, ax: Any = None, *, loss: str = "vi", burn_in: float | int | str = _HALF) -> Any:
        """The similarities of all items, sorted by the blocks of the estimate. Returns the axes."""
        return _plots.similarity(self, ax, loss, burn_in)

    def plot_network(self, ax: Any = None, *, loss: str = "vi", labels: ArrayLike | None = None, **options: Any) -> Any:
        """The network, its vertices coloured by block; with `kind="matrix"` its sorted adjacency matrix. Returns the axes."""
        return _plots.network(self, ax, self.labels(loss) if labels is None else np.asarray(labels), **options)

    def to_xarray(self, *, burn_in: float | int | str = _HALF, labels: bool = False) -> Any:
        """An xarray Dataset with dimensions chain and draw; ensembles are flattened, and a coordinate of the chains."""
        return _export.to_xarray(self, self._run.burn_in(burn_in_text(burn_in)), labels)

    def to_arviz(self, *, burn_in: float | int | str = _HALF, labels: bool = False) -> Any:
        """The same for ArviZ, so that `az.summary` and `az.plot_trace` work. With `labels` the draws are in it, too."""
        return _export.to_arviz(self.to_xarray(burn_in=burn_in, labels=labels))

    def __repr__(self) -> str:
        done = f"{self.iterations} iterations"
        ensembles = f"{self.settings['ensembles']} ensembles × {_chains(self.settings['chains'])}"
        return f"<armix.Fit of {self._run.source}: {len(self.items)} items, {self.model}, {ensembles} × {done}>"

    def _repr_html_(self) -> str:
        return _page(self)


def _dense(truth: ArrayLike) -> list[int]:
    _, codes = np.unique(np.asarray(truth), return_inverse=True)
    return codes.ravel().tolist()


_WORDS = {"converged": "Converged", "not-converged": "Not converged", "too-short": "Too short to tell"}


def _chains(count: int) -> str:
    return "1 chain" if count == 1 else f"{count} chains"


def _text(summary: dict, source: str, items: list) -> str:
    """A summary for people."""
    shape = f"{summary['ensembles']} ensembles × {_chains(summary['chains'])} × {summary['iterations']} iterations"
    lines = [
        f"{source}, model {summary['model']}: {shape} in {summary['seconds']:.1f} s (seed {summary['seed']})",
        "",
        _WORDS.get(summary["verdict"], summary["verdict"]) + ":",
    ]
    lines += [f"  - {reason}" for reason in summary["reasons"]]
    lines += [f"  → {step}" for step in summary["next"]]
    log_joint, blocks = summary["log_joint"], summary["blocks"]
    rhat = "" if log_joint["rhat"] is None else f", R̂ {log_joint['rhat']:.3f} between ensembles"
    lines += [
        "",
        f"log joint  mean {log_joint['mean']:.2f}, sd {log_joint['sd']:.2f}, best {log_joint['best']:.2f}{rhat}",
        f"blocks     mean {blocks['mean']:.2f}, mode {blocks['mode']}",
    ]
    for k, probability in blocks["distribution"].items():
        if probability >= 0.005:
            lines.append(f"   {k:>6} {100 * probability:6.1f} % {'█' * round(30 * probability)}")
    for name, about in summary.get("hypers", {}).items():
        low, _, high = about["quantiles"]
        lines.append(f"{name:10} mean {about['mean']:.3f}, sd {about['sd']:.3f}, 95 % {low:.3f} to {high:.3f}")
    lines += ["", "move      proposed accept %"]
    for name, about in summary["moves"].items():
        rate = "" if about["accept_rate"] is None else f"{100 * about['accept_rate']:8.2f}"
        lines.append(f"{name:10}{about['proposed']:8} {rate}")
    return "\n".join(lines)


def _page(fitted: Fit) -> str:
    """A few lines and a table for notebooks."""
    escape = html.escape
    if fitted.iterations == 0:
        return f"<p>{escape(repr(fitted))}</p>"
    summary = fitted.summary()
    good = {"converged": "#1a7f37", "not-converged": "#b42318"}.get(summary["verdict"], "#946200")
    reasons = "".join(f"<li>{escape(reason)}</li>" for reason in summary["reasons"])
    rows = [
        ("log joint", f"{summary['log_joint']['mean']:.2f} ± {summary['log_joint']['sd']:.2f}"),
        ("blocks", f"{summary['blocks']['mean']:.2f} (mode {summary['blocks']['mode']})"),
        ("accepted", ", ".join(f"{escape(m)} {100 * r:.1f} %" for m, r in fitted.accept_rates.items() if r == r)),
        ("time", f"{summary['seconds']:.1f} s"),
    ]
    table = "".join(f"<tr><th style='text-align:left'>{name}</th><td>{value}</td></tr>" for name, value in rows)
    verdict = escape(_WORDS.get(summary["verdict"], summary["verdict"]))
    return (
        f"<div><code>{escape(repr(fitted))}</code><br><b style='color:{good}'>{verdict}</b>"
        f"<ul>{reasons}</ul><table>{table}</table></div>"
    )
