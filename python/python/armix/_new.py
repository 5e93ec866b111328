"""Predictions: entries that were not observed, and new items."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from ._data import columns_of_text, text_of
from ._labels import burn_in_text

if TYPE_CHECKING:
    from ._fit import Fit


def _places(known: list, wanted: list, what: str) -> list[int]:
    index = {item: at for at, item in enumerate(known)}
    texts = {str(item): at for at, item in enumerate(known)}
    found = []
    for item in wanted:
        at = index.get(item, texts.get(str(item)))
        if at is None:
            raise ValueError(f"there is no {what} {item!r} in this run: name it as in Fit.items")
        found.append(at)
    return found


def predict_entries(fit: Fit, entries: Any, kind: str, burn_in: Any) -> np.ndarray:
    """The probabilities of links or ones, and what other cells are expected to be."""
    return fit._run.predict_entries(fit.data, _pairs(fit, entries, kind), burn_in_text(burn_in))


def predict_levels(fit: Fit, entries: Any, burn_in: Any) -> list[dict[str, float]]:
    """The probabilities of the levels of cells."""
    pairs = _pairs(fit, entries, "table")
    names = fit.data.levels
    if entries is None:
        pairs = pairs[[bool(names and names[column]) for column in pairs[:, 1]]]
    for column in pairs[:, 1]:
        if not names or not names[column]:
            kind = fit.data.types[column]
            raise ValueError(f"column {column} is {kind} and has no levels: use predict_cells")
    each = fit._run.predict_levels(fit.data, pairs, burn_in_text(burn_in))
    return [dict(zip(names[column], p)) for column, p in zip(pairs[:, 1], each)]


def _pairs(fit: Fit, entries: Any, kind: str) -> np.ndarray:
    """Entries by their numbers; without any, those that were not observed."""
    data = fit.data
    if data.kind != kind:
        other = {"network": "predict_links", "table": "predict_cells"}[data.kind]
        raise TypeError(f"the data of this run are a {data.kind}: use {other}")
    if entries is None:
        pairs = data.hidden()
        if len(pairs) == 0:
            raise ValueError("nothing is missing in these data: say what to predict, or fit with hold_out=0.1")
    else:
        entries = [tuple(entry) for entry in entries]
        if any(len(entry) != 2 for entry in entries):
            raise ValueError("give pairs, as in [(0, 1), (0, 2)]")
        first = _places(fit.items, [a for a, _ in entries], "item")
        if kind == "network":
            second = _places(fit.items, [b for _, b in entries], "item")
            if any(a == b for a, b in zip(first, second)):
                raise ValueError("a vertex has no link to itself: leave such pairs out")
        else:
            second = _columns(data, [b for _, b in entries])
        pairs = np.array([first, second], dtype=np.uint32).T.reshape(-1, 2)
    return np.ascontiguousarray(pairs)


def _columns(data, wanted: list) -> list[int]:
    width = data.cells().shape[1]
    by_name = {name: at for at, name in enumerate(data.columns)}
    found = []
    for column in wanted:
        at = by_name.get(column, column if isinstance(column, (int, np.integer)) else None)
        if at is None or not 0 <= at < width:
            raise ValueError(f"there is no column {column!r}: use a name, or a number from 0 to {width - 1}")
        found.append(int(at))
    return found


def assign(fit: Fit, new: Any, burn_in: str, threads: int) -> tuple[list[str], np.ndarray]:
    """Where new items belong."""
    data = fit.data
    if isinstance(new, (str, os.PathLike)):
        if not os.path.exists(os.fspath(new)):
            raise FileNotFoundError(f"there is no file {os.fspath(new)!r}")
        given: Any = os.fspath(new)
    elif data.kind == "network":
        given = _links(fit, new)
    else:
        given = _rows(data, new)
    return fit._run.assign(data, given, burn_in, threads)


def _links(fit: Fit, new: Any) -> tuple[list[str], list[tuple[int, int]]]:
    n = len(fit.items)
    if isinstance(new, dict):
        names = [str(vertex) for vertex in new]
        known = {str(item) for item in fit.items}
        for vertex in names:
            if vertex in known:
                raise ValueError(f"vertex {vertex!r} is in the run already: give new ones another name")
        links = [(at, v) for at, others in enumerate(new.values()) for v in _places(fit.items, list(others), "item")]
        return names, links
    matrix = new.toarray() if hasattr(new, "toarray") else np.asarray(new)
    if matrix.ndim != 2 or matrix.shape[1] != n:
        raise ValueError(
            f"links of new vertices are a matrix of shape (new, {n}) or a dict from new vertices to known ones, "
            f"not an array of shape {matrix.shape}"
        )
    names = [f"new {at + 1}" for at in range(len(matrix))]
    return names, [(int(u), int(v)) for u, v in zip(*np.nonzero(matrix))]


def _rows(data, new: Any) -> list[tuple[str, list[str | None]]]:
    if hasattr(new, "columns"):
        return columns_of_text(new)
    matrix = new.toarray() if hasattr(new, "toarray") else np.asarray(new)
    width = data.cells().shape[1]
    if matrix.ndim != 2 or matrix.shape[1] != width:
        raise ValueError(f"new rows are an array of shape (new, {width}), not {matrix.shape}")
    names = data.columns or [f"x{at + 1}" for at in range(width)]
    return [(name, [text_of(cell) for cell in matrix[:, at].tolist()]) for at, name in enumerate(names)]
