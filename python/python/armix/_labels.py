"""Estimates and diagnostics of label matrices from anywhere, and exact values of small problems."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _armix
from ._data import convert

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def _codes(labels: ArrayLike, ndim: int, what: str) -> np.ndarray:
    """Labels of any kind as numbers."""
    array = np.asarray(labels)
    if array.ndim != ndim:
        raise ValueError(f"{what} of shape {array.shape}: {ndim} dimensions are needed")
    if array.size == 0:
        raise ValueError(f"{what} of shape {array.shape}: there is nothing in it")
    if array.dtype.kind == "f":
        if not np.array_equal(array, np.floor(array)):
            raise TypeError(f"{what} must be whole numbers or names, not fractions or NaN")
        array = array.astype(np.int64)
    if array.dtype.kind in "iub" and array.min() >= 0 and array.max() < 1 << 31:
        return np.ascontiguousarray(array, dtype=np.uint32)
    if array.dtype.kind not in "iubUSO":
        raise TypeError(f"{what} of {array.dtype}: use whole numbers or names")
    _, codes = np.unique(array.astype(str) if array.dtype.kind == "O" else array, return_inverse=True)
    return np.ascontiguousarray(codes.reshape(array.shape), dtype=np.uint32)


def _matrix(draws: ArrayLike) -> np.ndarray:
    """Draws of any shape (…, item) as (draw, item)."""
    array = np.asarray(draws)
    if array.ndim < 2:
        raise ValueError(f"draws of shape {array.shape}: the last dimension is the item, those before are draws")
    return _codes(array.reshape(-1, array.shape[-1]), 2, "draws")


@dataclass(frozen=True)
class Bound:
    """A draw on the edge of a credible ball."""

    distance: float
    """The distance from the centre in bits."""
    blocks: int
    """The number of blocks."""
    labels: np.ndarray
    """Labels, 0 for the largest block."""


@dataclass(frozen=True)
class Ball:
    """The partitions around an estimate that have a given probability."""

    level: float
    """The probability."""
    radius: float
    """The radius in bits."""
    horizontal: Bound
    """The draw in it that is farthest away."""
    upper: Bound
    """The draw in it with the fewest blocks."""
    lower: Bound
    """The draw in it with the most blocks."""


@dataclass(frozen=True)
class Mode:
    """A mode of the posterior."""

    weight: float
    """Its share of the draws."""
    labels: np.ndarray
    """Labels, 0 for the largest block."""
    blocks: int
    """The number of its blocks."""
    distance: float | None = None
    """How far it is from the estimate, in bits."""
    log_joint: float | None = None
    """The mean log joint of its draws."""
    ensembles: tuple[float, ...] = ()
    """For each ensemble, the share of its draws that belong to this mode."""


def ball_of(found: dict) -> Ball:
    """A ball from what the engine says."""

    def bound(about: dict) -> Bound:
        return Bound(about["distance"], about["blocks"], np.array(about["labels"], dtype=np.int64))

    return Ball(
        found["level"], found["radius"], bound(found["horizontal"]), bound(found["upper"]), bound(found["lower"])
    )


def salso(
    draws: ArrayLike,
    loss: str = "vi",
    *,
    runs: int = 16,
    seed: int = 1,
    max_blocks: int | None = None,
    threads: int | None = None,
    return_loss: bool = False,
) -> Any:
    """The partition with the least expected loss over draws of partitions, by a SALSO-type search.

    `draws` is an array (draw, item), or with more dimensions before the last; `loss` is "vi", "binder" or "ari".
    With `return_loss` the expected loss is returned, too.

    >>> import armix
    >>> armix.salso([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 2, 2]]).tolist()
    [0, 0, 1, 1]
    """
    labels, expected = _armix.salso(_matrix(draws), loss, int(runs), int(seed), max_blocks, int(threads or 0))
    labels = labels.astype(np.int64)
    return (labels, expected) if return_loss else labels


def similarity(draws: ArrayLike, *, threads: int | None = None) -> np.ndarray:
    """How often each two items share a block in draws (draw, item).

    >>> import armix
    >>> armix.similarity([[0, 0, 1], [0, 1, 1]])[0].tolist()
    [1.0, 0.5, 0.0]
    """
    return _armix.similarity(_matrix(draws), int(threads or 0))


def credible_ball(draws: ArrayLike, labels: ArrayLike, level: float = 0.95, *, threads: int | None = None) -> Ball:
    """The credible ball around a partition (Wade and Ghahramani 2018), from draws (draw, item).

    >>> import armix
    >>> armix.credible_ball([[0, 0, 1], [0, 1, 1]], [0, 0, 1]).lower.blocks
    2
    """
    codes = _codes(labels, 1, "labels")
    return ball_of(json.loads(_armix.ball(_matrix(draws), codes, float(level), int(threads or 0))))


def modes(draws: ArrayLike, *, threads: int | None = None) -> list[Mode]:
    """The modes of draws (draw, item), the heaviest first.

    >>> import armix
    >>> [mode.weight for mode in armix.modes([[0, 0, 1, 1]] * 3)]
    [1.0]
    """
    found = _armix.modes(_matrix(draws), int(threads or 0))
    return [Mode(weight, labels.astype(np.int64), int(labels.max()) + 1) for weight, labels in found]


def _compare(a: ArrayLike, b: ArrayLike, by: str) -> float:
    return _armix.compare(_codes(a, 1, "labels"), _codes(b, 1, "labels"), by)


def vi(a: ArrayLike, b: ArrayLike) -> float:
    """The variation of information of two partitions, in bits.

    >>> import armix
    >>> armix.vi([0, 0, 0, 0], [0, 1, 2, 3])
    2.0
    """
    return _compare(a, b, "vi")


def binder(a: ArrayLike, b: ArrayLike) -> float:
    """Binder's loss between two partitions: pairs that only one of them puts together, times 2/n².

    >>> import armix
    >>> armix.binder([0, 0, 1, 1], [0, 0, 0, 1])
    0.375
    """
    return _compare(a, b, "binder")


def adjusted_rand(a: ArrayLike, b: ArrayLike) -> float:
    """The adjusted Rand index of two partitions.

    >>> import armix
    >>> armix.adjusted_rand(["x", "x", "y"], [1, 1, 0])
    1.0
    """
    return _compare(a, b, "ari")


def nmi(a: ArrayLike, b: ArrayLike) -> float:
    """The normalised mutual information of two partitions.

    >>> import armix
    >>> armix.nmi([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    return _compare(a, b, "nmi")


def _chains(values: ArrayLike) -> np.ndarray:
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"chains of {array.dtype}: use numbers")
    if array.ndim == 1:
        array = array[np.newaxis]
    if array.ndim != 2:
        raise ValueError(f"chains of shape {array.shape}: give (chain, draw)")
    return np.ascontiguousarray(array, dtype=np.float64)


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def rhat(values: ArrayLike, method: str = "rank") -> float:
    """R̂ of chains (chain, draw) of a number: "rank" (rank-normalised split), "split" or "plain". NaN if not defined.

    >>> import armix, numpy as np
    >>> armix.rhat(np.random.default_rng(1).normal(size=(4, 1000))) < 1.01
    True
    """
    return _number(_armix.rhat(_chains(values), method))


def ess(values: ArrayLike, method: str = "bulk") -> float:
    """The effective sample size of chains (chain, draw) of a number: "bulk", "tail" or "mean".

    >>> import armix, numpy as np
    >>> armix.ess(np.random.default_rng(1).normal(size=(4, 1000))) > 3000
    True
    """
    chains = _chains(values)
    if method == "mean":  # of half chains, as in the other two
        half = chains.shape[1] // 2
        chains = np.ascontiguousarray(np.vstack([chains[:, :half], chains[:, chains.shape[1] - half :]]))
    return _number(_armix.ess(chains, method))


def mcse(values: ArrayLike, method: str = "mean") -> float:
    """The Monte-Carlo standard error of the "mean" or "sd" of chains (chain, draw) of a number."""
    return _number(_armix.mcse(_chains(values), method))


def diagnose(draws: ArrayLike, burn_in: float | int | str = 0) -> dict:
    """Can draws of another program be believed? A verdict with reasons, R̂ and effective sample sizes.

    `draws` are labels (chain, draw, item), each chain taken as independent, or (ensemble, chain, draw, item).

    >>> import armix, numpy as np
    >>> draws = np.random.default_rng(1).integers(0, 3, size=(4, 400, 10))
    >>> armix.diagnose(draws)["verdict"]
    'converged'
    """
    array = np.asarray(draws)
    if array.ndim == 3:
        array = array[:, np.newaxis]
    return numbers(json.loads(_armix.diagnose(_codes(array, 4, "draws"), burn_in_text(burn_in))))


def numbers(value: Any) -> Any:
    """JSON has no infinity; the engine tells it as text."""
    if isinstance(value, dict):
        return {key: numbers(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [numbers(inner) for inner in value]
    return float(value) if value in ("Infinity", "-Infinity", "NaN") else value


def burn_in_text(burn_in: float | int | str) -> str:
    """What does not count: a fraction, a number of iterations, or a text like "50%"."""
    if isinstance(burn_in, bool) or not isinstance(burn_in, (str, int, float, np.integer, np.floating)):
        raise TypeError(f"burn_in={burn_in!r}: give a fraction like 0.5, a number of iterations, or a text like '50%'")
    if isinstance(burn_in, (float, np.floating)):
        return repr(float(burn_in))
    return str(burn_in)


def log_joint(data: Any, labels: ArrayLike, model: str | None = None, **options: Any) -> float:
    """ln p(data, partition) of given labels; data and options as in `armix.fit`.

    >>> import armix
    >>> round(armix.log_joint("four-vertex", [0, 0, 0, 0]), 6)
    -6.040255
    """
    return _armix.log_joint(convert(data, model, **options).data, _codes(labels, 1, "labels"))


def exact(data: Any, model: str | None = None, **options: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The exact posterior of up to 10 items, by enumeration: labels (partition, item), probabilities and log joints.

    >>> import armix
    >>> labels, probability, log_joint = armix.exact("four-vertex")
    >>> labels.shape, round(float(probability.sum()), 12)
    ((15, 4), 1.0)
    """
    rows = json.loads(_armix.exact(convert(data, model, **options).data))
    return (
        np.array([row["labels"] for row in rows], dtype=np.int64),
        np.array([row["probability"] for row in rows]),
        np.array([row["log_joint"] for row in rows]),
    )


def moves() -> dict[str, str]:
    """The moves that a schedule can be made of, with a word about each.

    >>> import armix
    >>> "arm" in armix.moves()
    True
    """
    return dict(_armix.moves())


def strategies() -> dict[str, str]:
    """How the moves that use the past can choose what to part or join, as in "arm:cells", with a word about each.

    >>> import armix
    >>> "cells" in armix.strategies()
    True
    """
    return dict(_armix.strategies())
